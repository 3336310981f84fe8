// SPDX-License-Identifier: MIT
/* What work costs in energy: the fit, and the runs on a planted device. */
#include "support.h"

#include <math.h>

#include "measure/power.h"

#define FP32 ROOF_PRECISION_FP32
#define BF16 ROOF_PRECISION_BF16

/* The example of docs/formulas.md: 100 W, 40 pJ per byte and 0.8 pJ per FLOP. */
static const struct roof_power_row hand[] = {
    {2e12, 0, FP32, 180}, {0, 50e12, FP32, 140}, {2e12, 50e12, FP32, 220}};

static struct roof_power_term fit(const struct roof_power_row *row, size_t count)
{
    struct roof_power_term term = {.idle_w = 7};
    roof_power_fit(&term, row, count);
    assert_around(term.idle_w, 7, 0);
    return term;
}

static void test_figures_come_back(void **state)
{
    const struct roof_power_row formats[] = {
        hand[0], hand[1], {1e12, 100e12, BF16, 160}, {2e12, 100e12, BF16, 200}};
    const struct roof_power_term one = fit(hand, COUNT(hand));
    const struct roof_power_term two = fit(formats, COUNT(formats));
    (void)state;
    assert_around(one.constant_w, 100, 1e-9);
    assert_around(one.byte_j, 40e-12, 1e-9);
    assert_around(one.flop_j[FP32], 0.8e-12, 1e-9);
    assert_true(isnan(one.flop_j[BF16]));
    assert_true(one.error < 1e-9);
    assert_around(two.constant_w, 100, 1e-9);
    assert_around(two.flop_j[FP32], 0.8e-12, 1e-9);
    assert_around(two.flop_j[BF16], 0.2e-12, 1e-9);
}

/* Two readings of the same work that differ by half are no fit; by a twentieth, they are. The
 * others leave (1/140 + 1/147) / (1/140^2 + 1/147^2) = 143.4 W between them, and so 180 + 143.4 -
 * 220 W. */
static void test_fits_that_are_off_are_none(void **state)
{
    const struct roof_power_row apart[] = {hand[0], hand[1], hand[2], {0, 50e12, FP32, 280}};
    const struct roof_power_row near[] = {hand[0], hand[1], hand[2], {0, 50e12, FP32, 147}};
    (void)state;
    assert_true(isnan(fit(apart, COUNT(apart)).constant_w));
    const struct roof_power_term term = fit(near, COUNT(near));
    assert_around(term.constant_w,
                  (1.0 / 140 + 1.0 / 147) / (1.0 / 140 / 140 + 1.0 / 147 / 147) - 40, 1e-9);
    assert_around(term.flop_j[FP32], 0.8e-12, 1e-9);
    assert_around(term.error, 0.0122, 0.01);
}

static void test_rows_that_tell_nothing_apart(void **state)
{
    const struct roof_power_row same[] = {
        hand[0], {4e12, 0, FP32, 260}, {1e12, 1e12, BF16, 150}, {2e12, 2e12, BF16, 200}};
    const struct roof_power_row falling[] = {hand[0], {2e12, 50e12, FP32, 170}, hand[1]};
    (void)state;
    assert_true(isnan(fit(hand, 2).constant_w));
    assert_true(isnan(fit(hand, 2).flop_j[FP32]));
    assert_true(isnan(fit(falling, COUNT(falling)).byte_j)); /* a FLOP would give energy */
    assert_true(isnan(fit(hand, 0).error));
    /* A byte that costs nothing is no figure: device files have none of 0. */
    const struct roof_power_row costless[] = {
        {2e12, 0, FP32, 100}, hand[1], {2e12, 50e12, FP32, 140}};
    assert_true(isnan(fit(costless, COUNT(costless)).constant_w));
    assert_around(fit(same, COUNT(same)).constant_w, 100, 1e-9);
}

/* From 180 = c + 2 b and 362 = c + 4 b follows c = -2, which no device draws. An idle one draws 100
 * W, and least squares of (100 + 2 b) / 180 and (100 + 4 b) / 362 are left: b = (80 2/180^2 + 262
 * 4/362^2) / (4/180^2 + 16/362^2) = 52.7 pJ, which is 14% off for both. */
static void test_constant_is_that_of_the_idle_device(void **state)
{
    const struct roof_power_row bent[] = {hand[0], {4e12, 0, FP32, 362}, {0, 50e12, FP32, 140}};
    struct roof_power_term term = {.idle_w = 100};
    (void)state;
    roof_power_fit(&term, bent, COUNT(bent));
    assert_around(term.constant_w, 100, 1e-9);
    assert_around(term.byte_j,
                  (80 * 2 / 180.0 / 180 + 262 * 4 / 362.0 / 362) /
                      (4 / 180.0 / 180 + 16 / 362.0 / 362) * 1e-12,
                  1e-9);
    assert_around(term.flop_j[FP32], 0.8e-12, 1e-9);
    assert_int_equal(term.rows, COUNT(bent));
    term.idle_w = ROOF_UNKNOWN;
    roof_power_fit(&term, bent, COUNT(bent));
    assert_true(isnan(term.constant_w));
    assert_true(isnan(term.error));
    assert_int_equal(term.rows, COUNT(bent));
}

/* --- runs ---------------------------------------------------------------------------------- */

/* A device whose calls take a millisecond, of which a sample has ten; its counter moves by what
 * the rows above say. */
struct roof_bench {
    struct roof_meter_task task;
    double amount;
    double joules;
    double step_w; /* NAN: it does not count; 0: the counter stands still */
    int begun;
    bool host;
};

static void describe(struct roof_meter_device *out, const struct roof_bench *bench)
{
    *out = (struct roof_meter_device){.name = "planted", .level_count = 1, .host = bench->host};
}

static bool able(const struct roof_bench *bench, const struct roof_meter_task *task)
{
    (void)bench;
    return task->workload.formats.weights != ROOF_PRECISION_NVFP4;
}

static enum roof_status begin(double *amount, struct roof_bench *bench,
                              const struct roof_meter_task *task, struct roof_error *error)
{
    (void)error;
    bench->task = *task;
    bench->begun++;
    *amount = bench->amount = task->probe == ROOF_PROBE_OPERATOR ? 0 : 1e9;
    return ROOF_OK;
}

static enum roof_status sample(double *seconds, struct roof_bench *bench, struct roof_error *error)
{
    struct roof_work work = {0};
    double bytes = bench->task.probe == ROOF_PROBE_READ ? 1e9 : 0;
    double flops = bench->task.probe == ROOF_PROBE_MULTIPLY ? 1e9 : 0;
    (void)error;
    if (bench->task.probe == ROOF_PROBE_OPERATOR) {
        roof_operator_work(&work, &bench->task.workload, NULL);
        flops = work.flops;
        for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
            bytes += work.bytes[role];
        }
    }
    *seconds = 1e-3;
    bench->joules += bench->step_w * 10 * (0.1 + bytes * 40e-12 + flops * 0.8e-12);
    return ROOF_OK;
}

static double busy(const struct roof_bench *bench)
{
    (void)bench;
    return 1e-2;
}

static double energy(struct roof_bench *bench)
{
    return bench->step_w + bench->joules;
}

static void end(struct roof_bench *bench)
{
    bench->begun--;
}

static const struct roof_meter planted = {.name = "planted",
                                          .describe = describe,
                                          .able = able,
                                          .begin = begin,
                                          .sample = sample,
                                          .busy = busy,
                                          .energy = energy,
                                          .end = end};

static struct roof_power_term run(struct roof_bench *bench, double seconds,
                                  const struct roof_suite_calls *calls)
{
    const struct roof_suite_formats formats = {.format = {ROOF_PRECISION_NVFP4, BF16}, .count = 2};
    struct roof_power_term term = {.idle_w = 50};
    struct roof_error error = {0};
    if (roof_power_run(&term, &planted, bench, &formats, seconds, calls, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(bench->begun, 0);
    return term;
}

static bool stop(void *context)
{
    (void)context;
    return true;
}

static void test_runs_find_what_is_planted(void **state)
{
    static const struct roof_suite_calls none;
    static const struct roof_suite_calls stopped = {.stop = stop};
    (void)state;
    struct roof_bench bench = {.step_w = 1};
    const struct roof_power_term term = run(&bench, 4, &none);
    assert_around(term.constant_w, 100, 1e-6);
    assert_around(term.byte_j, 40e-12, 1e-6);
    assert_around(term.flop_j[FP32], 0.8e-12, 1e-6);
    assert_around(term.flop_j[BF16], 0.8e-12, 1e-6);
    assert_true(isnan(term.flop_j[ROOF_PRECISION_NVFP4]));
    assert_around(term.idle_w, 50, 0);
    assert_true(isnan(run(&bench, 2.4, &none).constant_w)); /* five rows take 2.5 s */
    assert_true(isnan(run(&bench, 4, &stopped).constant_w));
    bench = (struct roof_bench){.step_w = 1, .host = true};
    assert_true(isnan(run(&bench, 4, &none).constant_w));
    bench = (struct roof_bench){.step_w = ROOF_UNKNOWN};
    assert_true(isnan(run(&bench, 4, &none).constant_w));
}

/* A fifth of the time, where that is five rows of half a second at least. */
static void test_share_of_the_time(void **state)
{
    (void)state;
    struct roof_bench bench = {.step_w = 1};
    assert_around(roof_power_share(&planted, &bench, 13), 2.6, 1e-12);
    assert_around(roof_power_share(&planted, &bench, 12.4), 0, 0);
    bench.step_w = ROOF_UNKNOWN;
    assert_around(roof_power_share(&planted, &bench, 60), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_come_back),
        cmocka_unit_test(test_fits_that_are_off_are_none),
        cmocka_unit_test(test_rows_that_tell_nothing_apart),
        cmocka_unit_test(test_constant_is_that_of_the_idle_device),
        cmocka_unit_test(test_runs_find_what_is_planted),
        cmocka_unit_test(test_share_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
