// SPDX-License-Identifier: MIT
/* Intervals of a simulation: nothing is lost or put elsewhere, however long it lasts. */
#include "support.h"

#include <math.h>

#include "simulate/timeline.h"

/* One request that runs from 0.25 to 10.75 s, and three that wait in the last second of it. */
static void test_by_hand(void **state)
{
    (void)state;
    struct roof_timeline t = {0};
    static const struct roof_moment runs = {.running = 1, .blocks = 7};
    static const struct roof_moment wait = {.waiting = 3};
    assert_int_equal(roof_timeline_count(&t), 0);
    roof_timeline_add(&t, 0.25, 10.5, &runs);
    roof_timeline_add(&t, 9.75, 1, &wait);
    const double width = 0.0512; /* 1e-4 s, doubled until 256 of them are 10.75 s */
    assert_near(t.width_s, width, 1e-12);
    assert_int_equal(roof_timeline_count(&t), (size_t)ceil(10.75 / width));
    for (size_t i = 0; i < roof_timeline_count(&t); i++) {
        const struct roof_moment m = roof_timeline_moment(&t, i);
        const double begin = (double)i * width;
        const double end = fmin(begin + width, 10.75);
        const double ran = fmax(0, end - fmax(begin, 0.25)) / (end - begin);
        const double waited = fmax(0, end - fmax(begin, 9.75)) / (end - begin);
        assert_true(fabs(m.time_s - begin) < 1e-12);
        assert_true(fabs(m.running - ran) < 1e-9);
        assert_true(fabs(m.blocks - 7 * ran) < 1e-9);
        assert_true(fabs(m.waiting - 3 * waited) < 1e-9);
    }
}

/* Steps that follow each other without a gap: one request runs in every interval, wherever the
 * steps begin and end. */
static void test_steps(void **state)
{
    (void)state;
    static const double lengths[] = {1e-4, 3.7e-4, 0.0123, 0.0128, 0.4096, 9.1};
    static const struct roof_moment runs = {.running = 1};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        struct roof_timeline t = {0};
        double clock = 0;
        for (int i = 0; i < 5000; i++) {
            roof_timeline_add(&t, clock, lengths[k], &runs);
            clock += lengths[k];
        }
        const size_t count = roof_timeline_count(&t);
        assert_in_range(count, ROOF_TIMELINE_MOMENTS / 2, ROOF_TIMELINE_MOMENTS);
        for (size_t i = 0; i < count; i++) {
            assert_true(fabs(roof_timeline_moment(&t, i).running - 1) < 1e-6);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand),
                                       cmocka_unit_test(test_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
