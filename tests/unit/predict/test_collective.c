// SPDX-License-Identifier: MIT
/* The expected time of collectives: each term alone on devices that make mental arithmetic, then
 * what holds for all shapes. */
#include "properties.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
#define ROOF_COLLECTIVE_PARAMETER(id, key, least, most, start, neutral, meaning) C_##id,
#include "predict/kernel_parameters.h"
};
enum {
#define ROOF_ONE_SHOT_PARAMETER(id, key, least, most, start, neutral, meaning) O_##id,
#include "predict/kernel_parameters.h"
};

/* Eight devices in a node, 10 bytes per nanosecond, which is a clock, between two of them; memory
 * and sums take next to no time. */
#define DEVICE                                                                                     \
    "{\"id\": \"ten\", \"bandwidth_gb_s\": 1000, \"sm_count\": 10, \"boost_clock_mhz\": 1000,"     \
    " \"l2_bytes\": 400000, \"peak_tflops\": {\"fp16\": 1}, \"vector_tflops\": {\"fp32\": 10},"    \
    " \"devices_per_node\": 8, \"link_gb_s\": 10, \"network_gb_s\": 1}"

static const enum roof_kernel kernels[] = {ROOF_KERNEL_ALL_REDUCE, ROOF_KERNEL_ALL_GATHER,
                                           ROOF_KERNEL_REDUCE_SCATTER, ROOF_KERNEL_ALL_TO_ALL,
                                           ROOF_KERNEL_ONE_SHOT};

struct fixture {
    struct roof_hardware *device;
    struct roof_kernel_fit fit[COUNT(kernels)];
    double *parameter; /* of the fit that is looked at */
    double *one_shot;
    struct roof_calibration calibration;
    struct roof_workload workload;
    struct roof_prediction prediction;
};

/* No term shows, but for the link's own and a ring's growth; one fit for each kernel, but that of a
 * one-shot all-reduce is left out. */
static void begin(struct fixture *f, enum roof_operator op)
{
    static const char *const none[] = {NULL};
    *f = (struct fixture){.device = parse_device(DEVICE),
                          .workload = {.formats = ROOF_FORMATS_AUTO, .op = op}};
    for (size_t i = 0; i < COUNT(kernels); i++) {
        f->fit[i] = empty_fit(kernels[i], ROOF_STACK_BEST);
        double *const p = f->fit[i].parameter;
        if (kernels[i] == ROOF_KERNEL_ONE_SHOT) {
            f->one_shot = p;
            p[O_LINK] = 1;
        } else {
            p[C_LINK] = p[C_SHORT] = 1;
            p[C_GROWTH] = p[C_SHORT_GROWTH] = 0.75;
        }
    }
    f->parameter = f->fit[0].parameter;
    f->calibration = (struct roof_calibration){
        .id = "ten", .attributions = none, .fit = f->fit, .count = COUNT(kernels) - 1};
    f->device->calibration = &f->calibration;
    f->workload.formats.precision = ROOF_PRECISION_FP16;
    f->workload.shape.elements = 50000; /* 100 kB: 10 us */
    f->workload.shape.devices = op == ROOF_OPERATOR_SEND ? 0 : 2;
}

static void check(struct fixture *f, double us, enum roof_kernel_limit bound)
{
    check_time(&f->prediction, &f->workload, f->device, us, bound, 0, 1);
    assert_ptr_equal(f->prediction.part[0].expected.fit->parameter, f->parameter);
}

static void check_absent(struct fixture *f)
{
    struct roof_error error = {0};
    if (roof_predict(&f->prediction, &f->workload, f->device, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    assert_true(isnan(f->prediction.expected_s));
    assert_true(isnan(f->prediction.expected_low_s));
    assert_true(isnan(f->prediction.expected_high_s));
    assert_true(f->prediction.time_s > 0);
}

static void test_long_messages(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_ALL_REDUCE);
    double *const p = f.parameter;
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_SHORT] = 0.01; /* its protocol is out of the question */
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_LINK] = 2; /* never below the bound */
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.cache = ROOF_CACHE_WARM; /* no cache makes a link faster */
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.cache = ROOF_CACHE_COLD;
    p[C_LINK] = 0.5;
    check(&f, 20, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_LINK] = 1;
    p[C_GROWTH] = 3; /* none of it for two devices, 2/3 for four, all for eight */
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.shape.devices = 4;
    check(&f, 30, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.shape.devices = 8;
    check(&f, 40, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_PIPE] = 10000; /* the geometric mean of 10 and 40 us */
    check(&f, 60, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_LONG] = 500; /* for each of 14 steps */
    check(&f, 67, ROOF_KERNEL_LIMIT_NETWORK);
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=250", NULL), ROOF_OK);
    check(&f, 28 + 40 + 40, ROOF_KERNEL_LIMIT_NETWORK);
    roof_hardware_free(f.device);
}

static void test_short_messages(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_ALL_REDUCE);
    double *const p = f.parameter;
    p[C_LONG] = 1e6; /* the other protocol is out of the question */
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_SHORT] = 0.5;
    check(&f, 20, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_LINK] = 0.5;
    check(&f, 40, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_LINK] = 1;
    p[C_SHORT_GROWTH] = 3;
    check(&f, 20, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.shape.devices = 4;
    check(&f, 60, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.shape.devices = 8;
    check(&f, 80, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_LONG] = 60000.0 / 14; /* the faster of the two: 60 + 17.5 us */
    check(&f, 77.5, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.shape.devices = 2; /* two steps: 8.6 + 10 us */
    check(&f, 10 + 60.0 / 7, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_LONG] = 60000;
    check(&f, 20, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.formats.precision = ROOF_PRECISION_FP8_E4M3; /* half of the bytes, the same kernel */
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    roof_hardware_free(f.device);
}

/* Up to a size the protocol is that of short messages, and larger messages take no less time. */
static void test_short_sizes(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_ALL_REDUCE);
    double *const p = f.parameter;
    p[C_SHORT] = 0.25;
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_BRIEF] = 50000; /* half of the buffer, which is that of a device */
    check(&f, 40, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_BRIEF] = 25000; /* of half as much, 20 us */
    check(&f, 20, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_BRIEF] = 10000;
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    roof_hardware_free(f.device);
}

static void test_latency(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_ALL_REDUCE);
    double *const p = f.parameter;
    p[C_LAUNCH] = 8000;
    check(&f, 18, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_LAUNCH] = 12000;
    check(&f, 22, ROOF_KERNEL_LIMIT_LAUNCH);
    assert_near(f.prediction.part[0].expected.launch_s, 12e-6, 1e-12);
    f.workload.cache = ROOF_CACHE_WARM;
    check(&f, 22, ROOF_KERNEL_LIMIT_LAUNCH);
    f.workload.no_launch_overhead = 1;
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    assert_true(f.prediction.part[0].expected.launch_s == 0);
    f.workload.no_launch_overhead = 0;
    f.workload.cache = ROOF_CACHE_COLD;
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=500", NULL), ROOF_OK);
    check(&f, 34, ROOF_KERNEL_LIMIT_LAUNCH);
    p[C_LAUNCH] = 0;
    p[C_STEP] = 1000; /* 2 us, to reduce and to spread */
    check(&f, 14, ROOF_KERNEL_LIMIT_NETWORK);
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=1000", NULL), ROOF_OK);
    check(&f, 12, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_STEP] = 6000;
    check(&f, 22, ROOF_KERNEL_LIMIT_LATENCY);
    roof_hardware_free(f.device);
}

/* Two and eight devices send these elements, in these steps that wait. */
static void test_operators(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_operator op;
        size_t fit; /* of kernels */
        double two_us;
        double two_steps;
        double four_steps;
        double eight_steps;
    } cases[] = {
        {ROOF_OPERATOR_ALL_REDUCE, 0, 10, 2, 6, 14},   /* twice n-1 */
        {ROOF_OPERATOR_ALL_GATHER, 1, 5, 1, 3, 7},     /* n-1, one half is there already */
        {ROOF_OPERATOR_REDUCE_SCATTER, 2, 5, 1, 3, 7}, /* likewise */
        {ROOF_OPERATOR_ALL_TO_ALL, 3, 5, 1, 2, 3},     /* as deep as a tree */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f;
        begin(&f, cases[i].op);
        f.parameter = f.fit[cases[i].fit].parameter;
        double *const p = f.parameter;
        const double us = cases[i].two_us;
        check(&f, us, ROOF_KERNEL_LIMIT_NETWORK);
        p[C_LAUNCH] = 3000;
        check(&f, us + 3, ROOF_KERNEL_LIMIT_NETWORK);
        p[C_LAUNCH] = 0;
        p[C_STEP] = 100;
        check(&f, us + 0.1 * cases[i].two_steps, ROOF_KERNEL_LIMIT_NETWORK);
        f.workload.shape.devices = 4;
        check(&f, us * 1.5 + 0.1 * cases[i].four_steps, ROOF_KERNEL_LIMIT_NETWORK);
        f.workload.shape.devices = 8;
        check(&f, us * 1.75 + 0.1 * cases[i].eight_steps, ROOF_KERNEL_LIMIT_NETWORK);
        f.fit[cases[i].fit].kernel = ROOF_KERNEL_GEMM; /* no other stands in */
        check_absent(&f);
        roof_hardware_free(f.device);
    }
}

/* Half of an all-to-all of two devices: it sends all of its elements, that sends half. */
static void test_send(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_SEND);
    f.parameter = f.fit[3].parameter;
    double *const p = f.parameter;
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_STEP] = 3000; /* one step */
    check(&f, 13, ROOF_KERNEL_LIMIT_NETWORK);
    p[C_STEP] = 11000;
    check(&f, 21, ROOF_KERNEL_LIMIT_LATENCY);
    p[C_LAUNCH] = 25000;
    p[C_LONG] = 2000; /* 2 + 10 + 20 us, by the other protocol 40 */
    p[C_PIPE] = 40000;
    p[C_SHORT] = 0.25;
    p[C_GROWTH] = p[C_SHORT_GROWTH] = 50; /* of more than two devices */
    check(&f, 32 + 11 + 25, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.op = ROOF_OPERATOR_ALL_TO_ALL;
    f.workload.shape.elements = 100000;
    f.workload.shape.devices = 2;
    check(&f, 32 + 11 + 25, ROOF_KERNEL_LIMIT_NETWORK);
    roof_hardware_free(f.device);
}

/* An all-reduce in which each device reads the others' buffers. */
static void test_one_shot(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_ALL_REDUCE);
    double *const p = f.one_shot;
    f.workload.shape.algorithm = ROOF_ALGORITHM_ONE_SHOT;
    check_absent(&f); /* a ring does not stand in */
    f.calibration.count = COUNT(kernels);
    f.parameter = p;
    check(&f, 10, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.shape.devices = 4; /* three buffers, although a ring takes 15 us */
    check(&f, 30, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.formats.precision = ROOF_PRECISION_FP8_E4M3;
    check(&f, 15, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.formats.precision = ROOF_PRECISION_FP16;
    p[O_LINK] = 2;
    check(&f, 30, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.cache = ROOF_CACHE_WARM;
    check(&f, 30, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.cache = ROOF_CACHE_COLD;
    p[O_LINK] = 0.5;
    check(&f, 60, ROOF_KERNEL_LIMIT_NETWORK);
    p[O_STEP] = 20000; /* two doublings */
    check(&f, 100, ROOF_KERNEL_LIMIT_NETWORK);
    p[O_STEP] = 40000;
    check(&f, 140, ROOF_KERNEL_LIMIT_LATENCY);
    f.workload.shape.devices = 8; /* seven buffers, three doublings */
    check(&f, 140 + 120, ROOF_KERNEL_LIMIT_NETWORK);
    f.workload.shape.devices = 4;
    p[O_LAUNCH] = 50000;
    check(&f, 190, ROOF_KERNEL_LIMIT_LATENCY);
    p[O_STEP] = 0;
    check(&f, 110, ROOF_KERNEL_LIMIT_NETWORK);
    p[O_LAUNCH] = 70000;
    check(&f, 130, ROOF_KERNEL_LIMIT_LAUNCH);
    assert_near(f.prediction.part[0].expected.launch_s, 70e-6, 1e-12);
    assert_int_equal(roof_hardware_set(f.device, "boost_clock_mhz=500", NULL), ROOF_OK);
    p[O_STEP] = 10000;
    check(&f, 60 + 40 + 140, ROOF_KERNEL_LIMIT_LAUNCH);
    f.workload.no_launch_overhead = 1;
    check(&f, 100, ROOF_KERNEL_LIMIT_NETWORK);
    assert_true(f.prediction.part[0].expected.launch_s == 0);
    roof_hardware_free(f.device);
}

/* A ring is not the other algorithm, however fast that is: models choose. */
static void test_stated(void **unused)
{
    (void)unused;
    struct fixture f;
    begin(&f, ROOF_OPERATOR_ALL_REDUCE);
    f.calibration.count = COUNT(kernels);
    f.fit[0].parameter[C_LAUNCH] = 30000;
    f.workload.shape.devices = 4;
    check(&f, 15 + 30, ROOF_KERNEL_LIMIT_LAUNCH); /* one-shot: 3 x 10 us */
    roof_hardware_free(f.device);
}

/* Between nodes: none with one shot, which needs links to all others; else what stands in. */
static void check_between(struct fixture *f)
{
    if (f->workload.op == ROOF_OPERATOR_ALL_REDUCE && f->workload.shape.algorithm > 0) {
        check_absent(f);
        return;
    }
    assert_int_equal(roof_predict(&f->prediction, &f->workload, f->device, NULL), ROOF_OK);
    assert_true(f->prediction.expected_s >= f->prediction.time_s);
    assert_true(f->prediction.expected_near);
    assert_ptr_equal(f->prediction.link.figure, &f->device->figure[ROOF_FIGURE_NETWORK]);
}

/* Nothing is expected of groups that send nothing. */
static void test_groups(void **unused)
{
    (void)unused;
    static const enum roof_operator ops[] = {ROOF_OPERATOR_ALL_REDUCE, ROOF_OPERATOR_ALL_GATHER,
                                             ROOF_OPERATOR_REDUCE_SCATTER, ROOF_OPERATOR_ALL_TO_ALL,
                                             ROOF_OPERATOR_SEND};
    for (size_t i = 0; i < COUNT(ops); i++) {
        struct fixture f;
        begin(&f, ops[i]);
        f.calibration.count = COUNT(kernels);
        struct roof_shape *const s = &f.workload.shape;
        for (int64_t algorithm = 0; algorithm < 2; algorithm++) {
            const bool send = ops[i] == ROOF_OPERATOR_SEND;
            if (send && algorithm > 0) {
                continue;
            }
            s->algorithm = algorithm;
            if (!send) {
                s->devices = 1;
                check_absent(&f);
                assert_true(f.prediction.network_time_s == 0);
                s->devices = 9;
                check_between(&f);
                s->devices = 2;
            }
            s->within = 8;
            assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
            assert_true(f.prediction.expected_s > 0);
            assert_false(f.prediction.expected_near);
            const double inside = f.prediction.time_s;
            const double expected = f.prediction.expected_s;
            s->within = 9; /* two devices of different nodes */
            check_between(&f);
            assert_true(f.prediction.time_s > 2 * inside);
            /* A network no slower than the links still has hops: 5 us in each direction. */
            assert_int_equal(roof_hardware_set(f.device, "network_gb_s=20", NULL), ROOF_OK);
            assert_int_equal(roof_predict(&f.prediction, &f.workload, f.device, NULL), ROOF_OK);
            if (ops[i] != ROOF_OPERATOR_ALL_REDUCE || algorithm == 0) {
                const double hops = ops[i] == ROOF_OPERATOR_ALL_REDUCE ? 2 : 1;
                assert_true(f.prediction.expected_s >= expected);
                assert_true(f.prediction.expected_s <= expected + hops * 5e-6 * (1 + 1e-9));
            }
            assert_int_equal(roof_hardware_set(f.device, "network_gb_s=1", NULL), ROOF_OK);
            s->within = 0;
        }
        roof_hardware_free(f.device);
    }
}

/* --- what holds for all -------------------------------------------------------------------- */

static bool draw_collective(struct roof_workload *w, const struct roof_calibration *c)
{
    static const enum roof_operator ops[] = {ROOF_OPERATOR_ALL_REDUCE, ROOF_OPERATOR_ALL_GATHER,
                                             ROOF_OPERATOR_REDUCE_SCATTER, ROOF_OPERATOR_ALL_TO_ALL,
                                             ROOF_OPERATOR_SEND};
    static const enum roof_precision formats[] = {ROOF_PRECISION_BF16, ROOF_PRECISION_FP32,
                                                  ROOF_PRECISION_FP8_E4M3};
    (void)c;
    w->op = ops[draw() % COUNT(ops)];
    w->stack = (int64_t)(draw() % ROOF_STACK_COUNT);
    w->formats.precision = formats[draw() % COUNT(formats)];
    w->shape.elements = draw_size(30);
    if (w->op != ROOF_OPERATOR_SEND) {
        w->shape.devices = 2 + (int64_t)(draw() % 7);
    }
    if (w->op == ROOF_OPERATOR_ALL_REDUCE) {
        w->shape.algorithm = (int64_t)(draw() % 2);
    }
    return true;
}

static bool allowed(const struct roof_hardware *device, const struct roof_workload *w,
                    enum roof_dimension grown)
{
    (void)device;
    (void)grown;
    return w->shape.devices <= 8; /* of a node */
}

static void test_properties(void **unused)
{
    (void)unused;
    check_properties(&(struct properties){.draw = draw_collective, .allowed = allowed});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_messages), cmocka_unit_test(test_short_messages),
        cmocka_unit_test(test_short_sizes),   cmocka_unit_test(test_latency),
        cmocka_unit_test(test_operators),     cmocka_unit_test(test_send),
        cmocka_unit_test(test_one_shot),      cmocka_unit_test(test_stated),
        cmocka_unit_test(test_groups),        cmocka_unit_test(test_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
