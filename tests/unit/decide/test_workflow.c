// SPDX-License-Identifier: MIT
/* Sums of stages, by hand. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "decide/workflow.h"

static struct roof_workflow_operator make(size_t stage, int64_t count, bool split, double time_s,
                                          double expected_s)
{
    struct roof_workflow_operator op = {.stage = stage, .count = count, .split = split};
    op.prediction.time_s = time_s;
    op.prediction.expected_s = expected_s;
    op.prediction.expected_low_s = 0.5 * expected_s;
    op.prediction.expected_high_s = 2 * expected_s;
    op.prediction.flops = 10;
    op.prediction.bytes = 4;
    op.prediction.bottleneck = split ? ROOF_BOTTLENECK_COMPUTE : ROOF_BOTTLENECK_MEMORY;
    return op;
}

static void test_sum(void **unused)
{
    (void)unused;
    struct roof_workflow_operator op[] = {make(0, 4, true, 1, 2), make(0, 1, false, 3, 4),
                                          make(1, 2, false, 5, (double)NAN)};
    struct roof_workflow_stage stage[] = {
        {.name = "a", .repeat = 10, .first = 0, .count = 2, .serial_s = 1, .gap_s = 0.5},
        {.name = "b", .repeat = 1, .first = 2, .count = 1, .gap_s = 0.5, .launches = 8}};
    struct roof_workflow w = {
        .stage = stage, .stages = 2, .operators = op, .operator_count = 3, .devices = 2};
    roof_workflow_sum(&w);
    /* a: 10 (4 x 1 + 1 x 3) = 70, serial 10, 50 launches of 0.5: 25. */
    assert_true(stage[0].sum.launches == 50);
    assert_true(stage[0].sum.host_s == 35);
    assert_true(stage[0].sum.time_s == 105);
    assert_true(stage[0].sum.expected_s == 10 * (4 * 2 + 4) + 35);
    assert_true(stage[0].sum.low_s == 5 * (4 * 2 + 4) + 35);
    assert_true(stage[0].sum.high_s == 20 * (4 * 2 + 4) + 35);
    assert_true(stage[0].sum.whole_s == 30 + 35);
    assert_true(stage[0].sum.flops == 500 && stage[0].sum.bytes == 200);
    assert_int_equal(stage[0].sum.bottleneck, ROOF_BOTTLENECK_COMPUTE); /* 40, 30, 35 */
    /* b: 2 x 5 = 10, and 8 waits of 0.5. */
    assert_true(stage[1].sum.time_s == 14 && isnan(stage[1].sum.expected_s));
    assert_true(stage[1].sum.mixed_s == 14 && stage[1].sum.launches == 8);
    assert_true(w.total.time_s == 119 && isnan(w.total.expected_s));
    assert_true(w.total.mixed_s == 155 + 14);
    assert_true(w.total.whole_s == 65 + 14);
    assert_int_equal(w.total.bottleneck, ROOF_BOTTLENECK_MEMORY); /* 40, 40, 39: the first */
    assert_true(roof_workflow_time(&w, &op[0]) == 40);
    assert_true(roof_workflow_expected(&w, &op[1]) == 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
