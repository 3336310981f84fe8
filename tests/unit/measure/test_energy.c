// SPDX-License-Identifier: MIT
#include "support.h"

#include <math.h>

/* A sample with a power and a counter. */
static struct roof_sample sample(double time_s, double power_w, double counter_j)
{
    struct roof_sample out;
    roof_sample_clear(&out);
    out.time_s = time_s;
    out.power_w = power_w;
    out.counter_j = counter_j;
    return out;
}

static struct roof_energy_sum sum_of(const struct roof_sample *samples, size_t count)
{
    struct roof_energy energy;
    struct roof_energy_sum sum;
    roof_energy_begin(&energy);
    for (size_t i = 0; i < count; i++) {
        roof_energy_add(&energy, &samples[i]);
    }
    roof_energy_sum(&sum, &energy);
    return sum;
}

static void test_energy_is_the_area_of_trapezoids(void **state)
{
    (void)state;
    /* (100 + 200) / 2 * 1 + (200 + 100) / 2 * 2 = 150 + 300, as in docs/formulas.md. */
    const struct roof_sample samples[] = {sample(0, 100, (double)NAN), sample(1, 200, (double)NAN),
                                          sample(3, 100, (double)NAN)};
    const struct roof_energy_sum sum = sum_of(samples, COUNT(samples));
    assert_true(sum.energy_j == 450);
    assert_true(sum.duration_s == 3);
    assert_true(sum.average_w == 150);
    assert_true(sum.peak_w == 200);
    assert_int_equal(sum.samples, 3);
    assert_string_equal(sum.basis, "trapezoid");
}

static void test_sample_without_power_is_bridged(void **state)
{
    (void)state;
    /* From 100 W at 1 s to 300 W at 5 s: 200 W for 4 s. */
    const struct roof_sample samples[] = {
        sample(0, (double)NAN, (double)NAN), sample(1, 100, (double)NAN),
        sample(2, (double)NAN, (double)NAN), sample(5, 300, (double)NAN),
        sample(9, (double)NAN, (double)NAN)};
    const struct roof_energy_sum sum = sum_of(samples, COUNT(samples));
    assert_true(sum.energy_j == 800);
    assert_true(sum.duration_s == 4);
    assert_int_equal(sum.samples, 5);
}

static void test_counter_wins_over_trapezoids(void **state)
{
    (void)state;
    const struct roof_sample samples[] = {sample(0, 100, 1000), sample(1, 100, 1200),
                                          sample(2, 100, 1500)};
    const struct roof_energy_sum sum = sum_of(samples, COUNT(samples));
    assert_true(sum.energy_j == 500);
    assert_true(sum.average_w == 250);
    assert_true(sum.peak_w == 100);
    assert_string_equal(sum.basis, "counter");
}

static void test_counter_that_begins_anew_does_not_count(void **state)
{
    (void)state;
    const struct roof_sample samples[] = {sample(0, 100, 1000), sample(2, 100, 10)};
    const struct roof_energy_sum sum = sum_of(samples, COUNT(samples));
    assert_true(sum.energy_j == 200);
    assert_string_equal(sum.basis, "trapezoid");
}

static void test_one_sample_has_its_power(void **state)
{
    (void)state;
    const struct roof_sample samples[] = {sample(0, 70, (double)NAN)};
    const struct roof_energy_sum sum = sum_of(samples, 1);
    assert_true(sum.energy_j == 0);
    assert_true(sum.average_w == 70);
    assert_true(sum.peak_w == 70);
}

static void test_no_power_is_unknown(void **state)
{
    (void)state;
    const struct roof_sample samples[] = {sample(0, (double)NAN, (double)NAN),
                                          sample(1, (double)NAN, (double)NAN)};
    const struct roof_energy_sum sum = sum_of(samples, COUNT(samples));
    assert_true(isnan(sum.energy_j));
    assert_true(isnan(sum.average_w));
    assert_true(isnan(sum.peak_w));
    assert_true(isnan(sum.duration_s));
    assert_null(sum.basis);
}

static void test_devices_add_up(void **state)
{
    (void)state;
    const struct roof_sample one[] = {sample(0, 100, (double)NAN), sample(4, 100, (double)NAN)};
    const struct roof_sample other[] = {sample(0, 300, (double)NAN),
                                        sample(2, 300, (double)NAN)}; /* lost then */
    const struct roof_sample counted[] = {sample(0, 50, 0), sample(4, 50, 200)};
    const struct roof_energy_sum sums[] = {sum_of(one, 2), sum_of(other, 2), sum_of(counted, 2)};
    struct roof_energy_sum all;
    roof_energy_total(&all, sums, 2);
    assert_true(all.energy_j == 400 + 600);
    assert_true(all.duration_s == 4);
    assert_true(all.average_w == 250);
    assert_string_equal(all.basis, "trapezoid");
    roof_energy_total(&all, sums, 3);
    assert_true(all.energy_j == 1200);
    assert_string_equal(all.basis, "mixed");
}

static void test_unknown_device_makes_the_total_unknown(void **state)
{
    (void)state;
    const struct roof_sample one[] = {sample(0, 100, (double)NAN), sample(4, 100, (double)NAN)};
    const struct roof_sample none[] = {sample(0, (double)NAN, (double)NAN)};
    const struct roof_energy_sum sums[] = {sum_of(one, 2), sum_of(none, 1)};
    struct roof_energy_sum all;
    roof_energy_total(&all, sums, 2);
    assert_true(isnan(all.energy_j));
}

static void test_reasons_have_names(void **state)
{
    (void)state;
    static const struct {
        unsigned long long bits;
        const char *text;
    } cases[] = {{0, "none"},
                 {0x4, "sw_power_cap"},
                 {0x24, "sw_power_cap sw_thermal_slowdown"},
                 {0x80, "hw_power_brake_slowdown"},
                 {0x1000, "0x1000"},
                 {0x1001, "gpu_idle 0x1000"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char out[ROOF_THROTTLE_SIZE];
        roof_throttle_reasons(out, cases[i].bits);
        assert_string_equal(out, cases[i].text);
    }
    char all[ROOF_THROTTLE_SIZE];
    roof_throttle_reasons(all, ~0ULL);
    assert_non_null(strstr(all, " display_clock_setting 0xfffffffffffffe00"));
}

static void test_library_that_is_missing_is_named(void **state)
{
    (void)state;
    static const char *const names[] = {"libnothing.so.2", "libnothing.so.1", NULL};
    struct roof_library library;
    struct roof_error error = {0};
    assert_int_equal(roof_library_open(&library, names, "Nothing 3", &error), ROOF_IO);
    assert_string_equal(error.message, "libnothing.so.2 (Nothing 3) is not installed");
    assert_null(library.handle);
    roof_library_close(&library);
}

static void test_function_that_is_missing_is_named(void **state)
{
    (void)state;
    struct functions {
        double (*cos)(double);
        double (*there_is_none)(double);
    } found = {.cos = NULL};
    static const struct roof_symbol optional[] = {ROOF_SYMBOL(functions, cos),
                                                  ROOF_OPTIONAL(functions, there_is_none)};
    static const struct roof_symbol needed[] = {ROOF_SYMBOL(functions, cos),
                                                ROOF_SYMBOL(functions, there_is_none)};
    static const char *const names[] = {"libnothing.so.1", "libm.so.6", NULL};
    struct roof_library library;
    struct roof_error error = {0};
    if (roof_library_open(&library, names, "the C library", &error) != ROOF_OK) {
        skip(); /* another C library has its functions elsewhere */
    }
    assert_string_equal(library.name, "libm.so.6");
    assert_int_equal(roof_library_find(&library, &found, optional, 2, &error), ROOF_OK);
    assert_true(found.cos(0) == 1);
    assert_true(found.there_is_none == NULL);
    assert_int_equal(roof_library_find(&library, &found, needed, 2, &error), ROOF_IO);
    assert_string_equal(error.message,
                        "libm.so.6 has no function there_is_none: install another version");
    roof_library_close(&library);
    assert_null(library.handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy_is_the_area_of_trapezoids),
        cmocka_unit_test(test_sample_without_power_is_bridged),
        cmocka_unit_test(test_counter_wins_over_trapezoids),
        cmocka_unit_test(test_counter_that_begins_anew_does_not_count),
        cmocka_unit_test(test_one_sample_has_its_power),
        cmocka_unit_test(test_no_power_is_unknown),
        cmocka_unit_test(test_devices_add_up),
        cmocka_unit_test(test_unknown_device_makes_the_total_unknown),
        cmocka_unit_test(test_reasons_have_names),
        cmocka_unit_test(test_library_that_is_missing_is_named),
        cmocka_unit_test(test_function_that_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
