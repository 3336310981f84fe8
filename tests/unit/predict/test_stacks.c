// SPDX-License-Identifier: MIT
/* The fastest stack: on random operators no stack that is named is faster than the best, and one of
 * them has its time. */
#include "models.h"
#include "properties.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SHAPES 3000

static const enum roof_operator operators[] = {
    ROOF_OPERATOR_GEMM,       ROOF_OPERATOR_BMM,        ROOF_OPERATOR_FLASH_ATTENTION,
    ROOF_OPERATOR_ATTENTION,  ROOF_OPERATOR_MLA_DECODE, ROOF_OPERATOR_MLA_PREFILL,
    ROOF_OPERATOR_MOE,        ROOF_OPERATOR_RMSNORM,    ROOF_OPERATOR_QUANTIZE,
    ROOF_OPERATOR_ALL_REDUCE, ROOF_OPERATOR_ALL_TO_ALL};

/* Draws all sizes that any of the operators has, and the formats. */
static void draw_workload(struct roof_workload *w, enum roof_operator op)
{
    static const enum roof_precision formats[] = {ROOF_PRECISION_FP16, ROOF_PRECISION_FP8_E4M3,
                                                  ROOF_PRECISION_INT8, ROOF_PRECISION_INT4,
                                                  ROOF_PRECISION_NVFP4};
    static const enum roof_precision inputs[] = {ROOF_PRECISION_FP16, ROOF_PRECISION_FP8_E4M3,
                                                 ROOF_PRECISION_INT8, ROOF_PRECISION_NVFP4};
    *w = (struct roof_workload)ROOF_WORKLOAD_INIT;
    w->op = op;
    int64_t *const size = (int64_t *)(void *)&w->shape;
    const struct roof_operator_row *const row = roof_operator_row(op);
    for (int i = 0; i < row->dim_count; i++) {
        if ((row->required & (1U << row->dims[i])) != 0) {
            size[row->dims[i]] = draw_size(9);
        }
    }
    if (row->kind == ROOF_KIND_COLLECTIVE) {
        w->shape.devices = 8; /* in one node */
    }
    w->shape.batch = op == ROOF_OPERATOR_GEMM ? 0 : w->shape.batch;
    w->shape.query_len = op == ROOF_OPERATOR_FLASH_ATTENTION ? draw_size(2) : w->shape.query_len;
    w->formats.weights = formats[draw() % COUNT(formats)];
    w->formats.activations = inputs[draw() % COUNT(inputs)];
    w->formats.kv = draw() % 2 == 0 ? ROOF_PRECISION_FP8_E4M3 : ROOF_PRECISION_FP16;
    w->quantize_input = (int64_t)(draw() % 3);
}

/* Predicts a workload in a stack and returns the expected time; NAN where there is none. */
static double expect_in(struct roof_prediction *out, const struct roof_workload *workload,
                        const struct roof_hardware *device, enum roof_stack stack)
{
    struct roof_workload w = *workload;
    w.stack = stack;
    return roof_predict(out, &w, device, NULL) == ROOF_OK ? out->expected_s : ROOF_UNKNOWN;
}

static double expected_in(const struct roof_workload *workload, const struct roof_hardware *device,
                          enum roof_stack stack)
{
    struct roof_prediction prediction;
    return expect_in(&prediction, workload, device, stack);
}

/* Checks that the interval of the fastest stack reaches to the next one, or becomes a quarter
 * longer. */
static void check_interval(const struct roof_prediction *best, double next)
{
    const struct roof_expected *const e = &best->part[0].expected;
    const struct roof_widening wider = roof_kernel_widening(e, &best->workload, best->hardware);
    const double high = e->time_s * e->fit->high * wider.factor;
    const double end = isinf(next) ? high : fmax(high, fmin(next, 1.25 * high));
    if (!(fabs(e->high_s - end) <= 1e-12 * end)) {
        fail_msg("%s: the interval ends at %.17g s, not at %.17g s", best->hardware->id, e->high_s,
                 end);
    }
}

/* Returns true if a workload has expected times, which are compared. */
static bool check(const struct roof_workload *w, const struct roof_hardware *device)
{
    const bool parts = roof_operator_row(w->op)->part_count > 0;
    struct roof_prediction prediction;
    const double best = expect_in(&prediction, w, device, ROOF_STACK_BEST);
    double least = (double)INFINITY;
    double next = (double)INFINITY;
    if (isnan(best)) {
        return false;
    }
    for (int s = ROOF_STACK_BEST + 1; s < ROOF_STACK_COUNT; s++) {
        const double one = expected_in(w, device, (enum roof_stack)s);
        least = fmin(least, one);
        if (one > best && s != ROOF_STACK_LLAMA_CPP) {
            next = fmin(next, one);
        }
    }
    if (!(best <= least) || (!parts && best != least)) {
        fail_msg("%s %s: best %.17g s, least of the stacks %.17g s", device->id,
                 roof_operator_row(w->op)->name, best, least);
    }
    if (!parts) {
        check_interval(&prediction, next);
    }
    return true;
}

static void test_best_is_least(void **unused)
{
    (void)unused;
    static const char *const devices[] = {"h100-sxm", "hgx-b200",  "a100-sxm-80gb", "l40s",
                                          "rtx-4090", "dgx-spark", "m1-max",        "mi300x"};
    size_t known_by_operator[COUNT(operators)] = {0};
    for (size_t d = 0; d < COUNT(devices); d++) {
        struct roof_hardware *const device = load_calibrated(devices[d]);
        for (size_t i = 0; i < SHAPES; i++) {
            const size_t op = i % COUNT(operators);
            struct roof_workload w;
            draw_workload(&w, operators[op]);
            known_by_operator[op] += check(&w, device);
        }
        free_calibrated(device);
    }
    for (size_t i = 0; i < COUNT(operators); i++) { /* the test looks at each */
        if (known_by_operator[i] == 0) {
            fail_msg("%s was never expected", roof_operator_row(operators[i])->name);
        }
    }
}

/* Stacks whose clusters of thread blocks have different numbers of rows pad the same product
 * differently. They are tried after each other. */
static void test_best_is_least_with_padded_rows(void **unused)
{
    (void)unused;
    static const char *const devices[] = {"l40s", "hgx-b200"};
    for (size_t d = 0; d < COUNT(devices); d++) {
        struct roof_hardware *const device = load_calibrated(devices[d]);
        for (int64_t i = 0; i < 2000; i++) {
            struct roof_workload w = ROOF_WORKLOAD_INIT;
            w.op = ROOF_OPERATOR_GEMM;
            w.shape.m = 1 + i / 4;
            w.shape.n = INT64_C(128) << i % 4 * 2;
            w.shape.k = 4096;
            assert_true(check(&w, device));
        }
        free_calibrated(device);
    }
}

/* The pairs in which a stack that lacks the formats was faster than the best. */
static void test_pairs_of_the_past(void **unused)
{
    (void)unused;
    static const struct {
        const char *device;
        int64_t m;
        int64_t n;
        int64_t k;
        enum roof_precision activations;
    } cases[] = {{"hgx-b200", 1484, 83, 954, ROOF_PRECISION_INT8},
                 {"a100-sxm-80gb", 180, 3, 14, ROOF_PRECISION_FP16}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const device = load_calibrated(cases[i].device);
        struct roof_workload w = ROOF_WORKLOAD_INIT;
        w.op = ROOF_OPERATOR_GEMM;
        w.shape.m = cases[i].m;
        w.shape.n = cases[i].n;
        w.shape.k = cases[i].k;
        w.formats.weights = ROOF_PRECISION_INT4;
        w.formats.activations = cases[i].activations;
        assert_true(check(&w, device));
        free_calibrated(device);
    }
}

/* Only llama.cpp runs weights and caches in formats of GGUF, so all stacks have its kernels. It
 * does not run FP8, so these weights have the fastest kernel of the others. Weights of 16 bits are
 * run by all of them: where llama.cpp has a fit of the device, it may be the fastest, and where it
 * borrows one, it is not expected to be faster than the others. */
static void test_llama_cpp_is_apart(void **unused)
{
    (void)unused;
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_GEMM;
    w.shape.m = 16;
    w.shape.n = w.shape.k = 4096;
    w.formats.weights = ROOF_PRECISION_FP8_E4M3;
    w.formats.activations = ROOF_PRECISION_BF16;
    struct roof_hardware *device = load_calibrated("l40s");
    double best = expected_in(&w, device, ROOF_STACK_BEST);
    assert_true(expected_in(&w, device, ROOF_STACK_LLAMA_CPP) == best);
    assert_true(check(&w, device));
    w.formats.weights = ROOF_PRECISION_BF16;
    best = expected_in(&w, device, ROOF_STACK_BEST);
    assert_true(expected_in(&w, device, ROOF_STACK_LLAMA_CPP) == best);
    w.shape.m = 2048;
    best = expected_in(&w, device, ROOF_STACK_BEST);
    assert_true(expected_in(&w, device, ROOF_STACK_LLAMA_CPP) > 1.2 * best);
    struct roof_hardware *const fitted = load_calibrated("dgx-spark");
    w.shape.m = 1;
    best = expected_in(&w, fitted, ROOF_STACK_BEST);
    assert_true(expected_in(&w, fitted, ROOF_STACK_LLAMA_CPP) == best);
    assert_true(expected_in(&w, fitted, ROOF_STACK_VLLM) > best);
    free_calibrated(fitted);
    struct roof_workload cache = ROOF_WORKLOAD_INIT;
    cache.op = ROOF_OPERATOR_FLASH_ATTENTION;
    cache.shape.heads = 32;
    cache.shape.kv_heads = 8;
    cache.shape.head_dim = 128;
    cache.shape.query_len = 1;
    cache.shape.kv_len = 4096;
    cache.formats.kv = ROOF_PRECISION_Q8_0;
    w.formats.weights = ROOF_PRECISION_Q4_K;
    for (int s = 0; s < ROOF_STACK_COUNT; s++) {
        struct roof_prediction p;
        assert_true(expect_in(&p, &w, device, (enum roof_stack)s) > 0);
        assert_int_equal(p.part[0].expected.fit->stack, ROOF_STACK_LLAMA_CPP);
        assert_true(expect_in(&p, &cache, device, (enum roof_stack)s) > 0);
        assert_int_equal(p.part[0].expected.fit->stack, ROOF_STACK_LLAMA_CPP);
    }
    free_calibrated(device);
    w.formats.weights = ROOF_PRECISION_FP8_E4M3; /* no other stack has kernels for T4 */
    device = load_calibrated("t4");
    best = expected_in(&w, device, ROOF_STACK_BEST);
    assert_true(best > 0);
    assert_true(best == expected_in(&w, device, ROOF_STACK_LLAMA_CPP));
    free_calibrated(device);
}

/* The ends of the interval are the band of the fit, by the factor that --why names. */
static void test_widening_explains_the_interval(void **unused)
{
    (void)unused;
    static const char *const devices[] = {"h100-sxm", "h20",       "gb10",   "rtx-4090",
                                          "mi300x",   "dgx-spark", "m4-max", "t4"};
    size_t with = 0;
    size_t without = 0;
    size_t loads = 0;
    size_t reaching = 0;
    for (size_t i = 0; i < COUNT(devices) * SHAPES / 4; i++) {
        static struct roof_hardware *device;
        if (i % (SHAPES / 4) == 0) {
            device = load_calibrated(devices[i / (SHAPES / 4)]);
        }
        struct roof_workload w;
        struct roof_prediction p;
        struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
        draw_workload(&w, operators[i % COUNT(operators)]);
        w.stack = (int64_t)(draw() % ROOF_STACK_COUNT);
        w.shape.devices = w.shape.devices > 0 && draw() % 2 == 0 ? 64 : w.shape.devices;
        const bool known = roof_predict(&p, &w, device, NULL) == ROOF_OK && !isnan(p.expected_s);
        if (known) {
            (void)roof_workload_parts(parts, &p.workload);
        }
        for (int n = 0; known && n < p.part_count; n++) {
            const struct roof_expected *const e = &p.part[n].expected;
            const struct roof_widening wider = roof_kernel_widening(e, &parts[n], device);
            assert_int_equal(wider.reason != NULL, wider.factor > 1);
            const bool uneven = wider.factor > 1 && strstr(wider.reason, "uneven loads") != NULL;
            assert_int_equal(wider.factor > 1, e->near || uneven);
            loads += uneven;
            const double high = e->time_s * e->fit->high * wider.factor;
            reaching += e->high_s > high * 1.000001;
            assert_true(fabs(e->high_s / high - 1) < 1e-12 || w.stack == ROOF_STACK_BEST);
            assert_true(e->low_s == p.part[n].time_s ||
                        fabs(e->low_s / (e->time_s * e->fit->low / wider.factor) - 1) < 1e-12);
            with += e->near;
            without += !e->near;
        }
        if (i % (SHAPES / 4) == SHAPES / 4 - 1) {
            free_calibrated(device);
        }
    }
    assert_true(with > 100 && without > 100 && loads > 0 && reaching > 0);
}

/* Sums up the operators of a step: the faster one of the fastest kernel and of that of an engine
 * that starts it 1 us before the previous one ends, but in no less than its bound. */
static double sum_with_early(const struct roof_model_prediction *best,
                             const struct roof_model_prediction *early)
{
    double sum = 0;
    for (size_t i = 0; i < best->count; i++) {
        const struct roof_prediction *const p = &best->node[i].prediction;
        const int parts = roof_operator_row(p->workload.op)->part_count;
        const double start = 1e-6 * (parts > 0 ? parts : 1);
        const double soon = early->node[i].prediction.expected_s - start;
        const double least = fmin(p->time_s, early->node[i].prediction.expected_s);
        sum += (double)best->node[i].node.count * fmin(p->expected_s, fmax(soon, least));
    }
    return sum;
}

/* In models, kernels of one engine start early. The fastest stack has these, too. */
static void test_models(void **unused)
{
    (void)unused;
    static struct roof_model_prediction best;
    static struct roof_model_prediction one;
    static const char *const models[] = {"llama-3.1-8b", "gpt-oss-120b", "deepseek-v3"};
    static const char *const devices[] = {"h100-sxm", "hgx-b200"};
    for (size_t i = 0; i < COUNT(models) * COUNT(devices); i++) {
        struct roof_model *const m = load(models[i / COUNT(devices)]);
        struct roof_hardware *const device = load_calibrated(devices[i % COUNT(devices)]);
        for (int phase = ROOF_PHASE_DECODE; phase <= ROOF_PHASE_PREFILL; phase++) {
            struct roof_scenario s = asked((enum roof_phase)phase, 4, 2048);
            infer_into(&best, m, &s, device);
            const double late_s = best.expected_step_s;
            s.host_time[ROOF_STACK_TRTLLM].overlap_s = s.early_s[ROOF_STACK_TRTLLM] = 1e-6;
            infer_into(&best, m, &s, device);
            for (int stack = ROOF_STACK_BEST + 1; stack <= ROOF_STACK_SGLANG; stack++) {
                s.common.stack = stack;
                infer_into(&one, m, &s, device);
                assert_true(best.expected_step_s <= one.expected_step_s);
                if (stack == ROOF_STACK_TRTLLM) {
                    const double sum_s = sum_with_early(&best, &one);
                    assert_true(fabs(best.expected_step_s - sum_s) <= 1e-9 * sum_s);
                    assert_true(sum_s < late_s);
                }
            }
        }
        free_calibrated(device);
        roof_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_best_is_least),
                                       cmocka_unit_test(test_best_is_least_with_padded_rows),
                                       cmocka_unit_test(test_pairs_of_the_past),
                                       cmocka_unit_test(test_llama_cpp_is_apart),
                                       cmocka_unit_test(test_widening_explains_the_interval),
                                       cmocka_unit_test(test_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
