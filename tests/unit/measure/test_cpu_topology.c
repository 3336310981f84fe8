// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "measure/cpu_topology.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "tree.h"

static char root[] = "/tmp/roofline-topology-XXXXXX";

static void put(const char *path, const char *text)
{
    plant(root, path, text);
}

/* Two cores with two threads each: 0 and 2 share one, 1 and 3 the other. */
static int make(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(root));
    put("/sys/devices/system/cpu/online", "0-3\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000\n");
    put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: Some CPU 9000\n"
                         "cpu MHz\t\t: 2000.5\n");
    put("/proc/meminfo", "MemTotal:       1024 kB\nMemFree: 1 kB\n");
    for (int cpu = 0; cpu < 4; cpu++) {
        static const char *const files[][4] = {{"1", "Data", "32K", ""},
                                               {"1", "Instruction", "64K", ""},
                                               {"2", "Unified", "1M", ""},
                                               {"3", "Unified", "16384K", "0-3"}};
        char path[128];
        char pair[16];
        snprintf(pair, sizeof pair, "%d,%d\n", cpu % 2, cpu % 2 + 2);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 cpu);
        put(path, pair);
        for (int index = 0; index < 4; index++) {
            static const char *const names[] = {"level", "type", "size", "shared_cpu_list"};
            for (int i = 0; i < 4; i++) {
                const char *const text = files[index][i];
                snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu,
                         index, names[i]);
                put(path, *text == '\0' ? pair : text);
            }
        }
    }
    return 0;
}

static int clean(void **state)
{
    (void)state;
    return uproot(root);
}

static void test_list(void **state)
{
    int number[8];
    (void)state;
    assert_int_equal(roof_cpu_list(number, 8, "0-2,5,7-8\n"), 6);
    assert_int_equal(number[3], 5);
    assert_int_equal(number[5], 8);
    assert_int_equal(roof_cpu_list(number, 2, "0-7"), 2);
    assert_int_equal(roof_cpu_list(number, 8, ""), 0);
    assert_int_equal(roof_cpu_list(number, 8, "none"), 0);
}

/* Returns the number that the next file is opened with. */
static int next_file(void)
{
    const int file = open("/dev/null", O_RDONLY);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    return file;
}

static void test_topology(void **state)
{
    struct roof_cpu_topology t;
    (void)state;
    const int before = next_file();
    assert_int_equal(roof_cpu_topology_read(&t, root, NULL), ROOF_OK);
    assert_int_equal(next_file(), before); /* no file is left open */
    assert_string_equal(t.name, "Some CPU 9000");
    assert_string_equal(t.vendor, "AMD");
    assert_around(t.clock_hz, 3.7e9, 1);
    assert_around(t.memory_bytes, 1048576, 0);
    assert_int_equal(t.cpu_count, 4);
    assert_int_equal(t.core_count, 2);
    for (int i = 0; i < 4; i++) { /* one of each core comes first */
        assert_int_equal(t.cpu[i].number, i);
        assert_int_equal(t.cpu[i].core, i % 2);
    }
    assert_int_equal(t.cache_count, 3);
    assert_int_equal(t.cache[0].bytes, 32 << 10);
    assert_int_equal(t.cache[1].bytes, 1 << 20);
    assert_int_equal(t.cache[2].level, 3);
    /* Two threads have two of the near caches, and four threads no more; all share the last. */
    assert_int_equal(roof_cpu_cache_total(&t, 0, 1), 32 << 10);
    assert_int_equal(roof_cpu_cache_total(&t, 0, 2), 64 << 10);
    assert_int_equal(roof_cpu_cache_total(&t, 0, 4), 64 << 10);
    assert_int_equal(roof_cpu_cache_total(&t, 2, 4), 16 << 20);
    roof_cpu_topology_free(&t);
}

/* The second core moves up if siblings come one after another. */
static void test_order(void **state)
{
    struct roof_cpu_topology t;
    (void)state;
    for (int cpu = 0; cpu < 4; cpu++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 cpu);
        put(path, cpu < 2 ? "0-1" : "2-3");
    }
    assert_int_equal(roof_cpu_topology_read(&t, root, NULL), ROOF_OK);
    assert_int_equal(t.cpu[0].number, 0);
    assert_int_equal(t.cpu[1].number, 2);
    assert_int_equal(t.cpu[2].number, 1);
    assert_int_equal(t.cpu[3].number, 3);
    roof_cpu_topology_free(&t);
}

static void test_nothing(void **state)
{
    struct roof_cpu_topology t;
    struct roof_error error = {0};
    (void)state;
    assert_int_equal(roof_cpu_topology_read(&t, "/nowhere", &error), ROOF_IO);
    assert_non_null(strstr(error.message, "processors"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_topology),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, make, clean);
}
