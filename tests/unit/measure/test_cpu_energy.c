// SPDX-License-Identifier: MIT
/* The energy counters of a planted system. */
#define _GNU_SOURCE
#include "measure/cpu_energy.h"

#include <math.h>

#include "tree.h"

#define FOLDER "/sys/class/powercap/intel-rapl:"

static char root[] = "/tmp/roofline-energy-XXXXXX";

/* Writes a file of a counter below the root. */
static void put(const char *counter, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, FOLDER "%s/%s", counter, file);
    plant(root, path, text);
}

static void put_counter(const char *counter, const char *name, const char *range, const char *now)
{
    put(counter, "name", name);
    put(counter, "max_energy_range_uj", range);
    put(counter, "energy_uj", now);
}

/* Two packages, memory beside the first, and parts that the packages count. */
static int make(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(root));
    put_counter("0", "package-0\n", "1000000000\n", "5000000\n");
    put_counter("0:0", "core\n", "1000000000\n", "3000000\n");
    put_counter("0:1", "dram\n", "1000000000\n", "999000000\n");
    put_counter("1", "package-1\n", "1000000000\n", "7000000\n");
    put_counter("2", "psys\n", "1000000000\n", "1000000\n");
    return 0;
}

static int clean(void **state)
{
    (void)state;
    return uproot(root);
}

static void test_packages_and_memory_are_counted(void **state)
{
    struct roof_cpu_energy energy;
    (void)state;
    roof_cpu_energy_open(&energy, root);
    assert_int_equal(energy.count, 3);
    assert_around(roof_cpu_energy_read(&energy), 0, 0);
    put("0", "energy_uj", "7500000\n");   /* 2.5 J */
    put("0:0", "energy_uj", "9000000\n"); /* of those */
    put("0:1", "energy_uj", "500000\n");  /* 1 J to the range, and 0.5 J */
    put("1", "energy_uj", "8000000\n");   /* 1 J */
    put("2", "energy_uj", "9000000\n");   /* all of them, and more */
    assert_around(roof_cpu_energy_read(&energy), 5, 1e-9);
    put("1", "energy_uj", "8250000\n");
    assert_around(roof_cpu_energy_read(&energy), 5.25, 1e-9);
    put("1", "energy_uj", "none\n");
    assert_true(isnan(roof_cpu_energy_read(&energy)));
}

static void test_system_without_counters(void **state)
{
    struct roof_cpu_energy energy;
    (void)state;
    roof_cpu_energy_open(&energy, "/nowhere");
    assert_int_equal(energy.count, 0);
    assert_true(isnan(roof_cpu_energy_read(&energy)));
    /* The system may keep a counter from this user, which is not one that does not move. */
    put("1", "energy_uj", "");
    roof_cpu_energy_open(&energy, root);
    assert_int_equal(energy.count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packages_and_memory_are_counted),
        cmocka_unit_test(test_system_without_counters),
    };
    return cmocka_run_group_tests(tests, make, clean);
}
