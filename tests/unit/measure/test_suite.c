// SPDX-License-Identifier: MIT
/* The suite on a planted device, which others disturb. */
#include "support.h"

#include <math.h>
#include <time.h>

#include "measure/suite.h"
#include "measure/timing.h"
#include "predict/kernel.h"

#define BYTES 1e9
#define FLOPS 1e12

/* A device whose reads take planted times, one for each look. */
struct roof_bench {
    enum roof_probe probe;
    double read_s[2];
    int looks;
    bool slow;      /* a sample takes 2 ms */
    bool operators; /* it runs all of them */
    int samples;
    double waited;
    double counted_w; /* the power of its energy counter; 0: it has none */
    double told_w;    /* the power that it tells; 0: it tells none */
};

static void describe(struct roof_meter_device *out, const struct roof_bench *bench)
{
    (void)bench;
    *out = (struct roof_meter_device){
        .name = "planted", .units = 1, .clock_hz = 1e9, .level_count = 1, .host = true};
    snprintf(out->level[0].name, sizeof out->level[0].name, "memory");
}

static bool able(const struct roof_bench *bench, const struct roof_meter_task *task)
{
    return task->probe == ROOF_PROBE_READ ||
           (bench->operators && task->probe == ROOF_PROBE_OPERATOR) ||
           (task->probe == ROOF_PROBE_MULTIPLY && task->format == ROOF_PRECISION_FP32 &&
            task->unit == ROOF_COMPUTE_VECTOR);
}

static enum roof_status begin(double *amount, struct roof_bench *bench,
                              const struct roof_meter_task *task, struct roof_error *error)
{
    (void)error;
    bench->probe = task->probe;
    bench->looks += task->probe == ROOF_PROBE_READ ? 1 : 0;
    *amount = task->probe == ROOF_PROBE_READ ? BYTES : FLOPS;
    return ROOF_OK;
}

static enum roof_status sample(double *seconds, struct roof_bench *bench, struct roof_error *error)
{
    (void)error;
    bench->samples++;
    if (bench->slow) {
        assert_int_equal(nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL), 0);
    }
    *seconds = bench->probe == ROOF_PROBE_READ ? bench->read_s[bench->looks - 1] : 1;
    return ROOF_OK;
}

static double waited(const struct roof_bench *bench)
{
    return bench->probe == ROOF_PROBE_READ ? bench->waited : 0;
}

static void end(struct roof_bench *bench)
{
    (void)bench;
}

static void clocks(struct roof_meter_clocks *out, struct roof_bench *bench)
{
    *out = (struct roof_meter_clocks){.sm_hz = 1e9,
                                      .power_w = bench->told_w > 0 ? bench->told_w : ROOF_UNKNOWN};
}

static double energy(struct roof_bench *bench)
{
    return bench->counted_w > 0 ? bench->counted_w * roof_seconds() : ROOF_UNKNOWN;
}

static void describe_gpu(struct roof_meter_device *out, const struct roof_bench *bench)
{
    describe(out, bench);
    out->host = false;
}

static const struct roof_meter planted = {.name = "planted",
                                          .describe = describe,
                                          .able = able,
                                          .begin = begin,
                                          .sample = sample,
                                          .waited = waited,
                                          .end = end,
                                          .clocks = clocks,
                                          .energy = energy};

/* Measures a planted device: the rows of its reads and of its multiplications. */
static void measure(struct roof_meter_row out[2], struct roof_bench *bench,
                    const struct roof_suite_calls *calls)
{
    const struct roof_suite_formats formats = {.count = 0};
    struct roof_measured measured;
    struct roof_error error = {0};
    if (roof_suite_run(&measured, &planted, bench, &formats, 0.01, calls, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(measured.count, 2);
    out[0] = measured.row[0];
    out[1] = measured.row[1];
    assert_int_equal(out[0].task.probe, ROOF_PROBE_READ);
    assert_around(roof_measured_rate(&measured, ROOF_PROBE_READ, 0, ROOF_PRECISION_AUTO),
                  BYTES / out[0].time_s, 0);
    roof_measured_free(&measured);
}

static const struct roof_suite_calls no_calls;

/* The faster look counts; looks that differ by more than 5% are not sure. */
static void test_rates_are_looked_at_twice(void **state)
{
    static const struct {
        double read_s[2];
        double time_s;
        bool noisy;
    } cases[] = {{{1, 1}, 1, false},         {{1, 1.04}, 1, false}, {{1.04, 1}, 1, false},
                 {{1, 1.06}, 1, true},       {{1.06, 1}, 1, true},  {{2, 1}, 1, true},
                 {{0.25, 0.25}, 0.25, false}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_bench bench = {.read_s = {cases[i].read_s[0], cases[i].read_s[1]}};
        struct roof_meter_row row[2];
        measure(row, &bench, &no_calls);
        assert_int_equal(bench.looks, 2);
        assert_around(row[0].time_s, cases[i].time_s, 0);
        assert_int_equal(row[0].noisy, cases[i].noisy);
        assert_false(row[1].noisy);
    }
}

/* A row whose threads waited for processors for more than a tenth of the time is not sure. */
static void test_waiting_is_noise(void **state)
{
    struct roof_bench bench = {.read_s = {1, 1}, .waited = 0.09};
    struct roof_meter_row row[2];
    (void)state;
    measure(row, &bench, &no_calls);
    assert_false(row[0].noisy);
    bench = (struct roof_bench){.read_s = {1, 1}, .waited = 0.11};
    measure(row, &bench, &no_calls);
    assert_true(row[0].noisy);
    assert_false(row[1].noisy);
}

/* The power of a row is what the device tells, else that of its energy counter. */
static void test_power_of_rows(void **state)
{
    struct roof_bench bench = {.read_s = {1, 1}};
    struct roof_meter_row row[2];
    (void)state;
    measure(row, &bench, &no_calls);
    assert_true(isnan(row[0].clocks.power_w));
    /* The counter and the clock are not read at the same moment: others may run between them. */
    bool near = false;
    for (int i = 0; i < 20 && !near; i++) {
        bench = (struct roof_bench){.read_s = {1, 1}, .counted_w = 120};
        measure(row, &bench, &no_calls);
        near = row[0].clocks.power_w > 60 && row[0].clocks.power_w < 240;
    }
    assert_true(near);
    bench = (struct roof_bench){.read_s = {1, 1}, .counted_w = 120, .told_w = 300};
    measure(row, &bench, &no_calls);
    assert_around(row[0].clocks.power_w, 300, 0);
}

static bool know_reads(void *context, struct roof_meter_row *row,
                       const struct roof_meter_task *task)
{
    (void)context;
    *row = (struct roof_meter_row){.task = *task, .time_s = 3, .amount = BYTES};
    return task->probe == ROOF_PROBE_READ;
}

/* Rows of an earlier run stay as they are. */
static void test_known_rates_are_not_looked_at(void **state)
{
    const struct roof_suite_calls calls = {.known = know_reads};
    struct roof_bench bench = {.read_s = {1, 1}};
    struct roof_meter_row row[2];
    (void)state;
    measure(row, &bench, &calls);
    assert_int_equal(bench.looks, 0);
    assert_around(row[0].time_s, 3, 0);
    assert_around(row[1].time_s, 1, 0);
}

/* If the time is short, each of the three measurements here has at least three samples after the
 * first, and no more than end in the 10 ms of all. */
static void test_short_time_has_few_samples(void **state)
{
    struct roof_bench bench = {.read_s = {1, 1}, .slow = true};
    struct roof_meter_row row[2];
    (void)state;
    measure(row, &bench, &no_calls);
    assert_in_range(bench.samples, 3 * 3, 3 * 4 + 5);
}

/* If the time is over after the probes, the first two rounds of sizes are still measured, because
 * only then every kernel occurs but that of experts: with one token a product, four operators that
 * stream rows and attention of one query, and with 128 tokens also attention of a prompt. */
static void test_no_time_leaves_every_kernel(void **state)
{
    static const enum roof_kernel kernels[] = {
        ROOF_KERNEL_GEMM, ROOF_KERNEL_NORM,   ROOF_KERNEL_ADD,    ROOF_KERNEL_ACTIVATION,
        ROOF_KERNEL_ROPE, ROOF_KERNEL_DECODE, ROOF_KERNEL_PREFILL};
    const struct roof_suite_formats formats = {.count = 1, .format = {ROOF_PRECISION_FP16}};
    struct roof_bench bench = {.read_s = {1, 1}, .operators = true};
    struct roof_measured measured;
    size_t rows[ROOF_KERNEL_COUNT] = {0};
    struct roof_error error = {0};
    (void)state;
    assert_int_equal(roof_suite_run(&measured, &planted, &bench, &formats, 1e-9, &no_calls, &error),
                     ROOF_OK);
    for (size_t i = 2; i < measured.count; i++) { /* after two probes */
        assert_int_equal(measured.row[i].task.probe, ROOF_PROBE_OPERATOR);
        rows[roof_kernel_of(&measured.row[i].task.workload)]++;
    }
    for (size_t i = 0; i < COUNT(kernels); i++) {
        assert_int_equal(rows[kernels[i]], kernels[i] == ROOF_KERNEL_PREFILL ? 1 : 2);
    }
    assert_int_equal(measured.count, 2 + 6 + 7);
    roof_measured_free(&measured);
}

/* GPUs also have products of heads: of one token in the first round, and none of the 4096 tokens of
 * the second. */
static void test_gpus_have_products_of_heads(void **state)
{
    const struct roof_suite_formats formats = {.count = 1, .format = {ROOF_PRECISION_FP16}};
    struct roof_bench bench = {.read_s = {1, 1}, .operators = true};
    struct roof_meter gpu = planted;
    struct roof_measured measured;
    struct roof_error error = {0};
    size_t found = 0;
    (void)state;
    gpu.describe = describe_gpu;
    assert_int_equal(roof_suite_run(&measured, &gpu, &bench, &formats, 1e-9, &no_calls, &error),
                     ROOF_OK);
    for (size_t i = 2; i < measured.count; i++) {
        const struct roof_workload *const w = &measured.row[i].task.workload;
        if (w->op == ROOF_OPERATOR_BMM) {
            assert_int_equal(w->shape.batch, 128);
            assert_int_equal(w->shape.m, 1);
            assert_int_equal(w->shape.n, 512);
            assert_int_equal(w->shape.k, 128);
            found++;
        }
    }
    assert_int_equal(found, 1);
    roof_measured_free(&measured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates_are_looked_at_twice),
        cmocka_unit_test(test_waiting_is_noise),
        cmocka_unit_test(test_power_of_rows),
        cmocka_unit_test(test_known_rates_are_not_looked_at),
        cmocka_unit_test(test_short_time_has_few_samples),
        cmocka_unit_test(test_no_time_leaves_every_kernel),
        cmocka_unit_test(test_gpus_have_products_of_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
