// SPDX-License-Identifier: MIT
/* Compares the experts of a mixture on a CPU with products of each token and each of its experts,
 * and what is read of memory with the formula for experts that are drawn at random. */
#include "measure/cpu_experts.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>

#include "measure/cpu_dot.h"

#define HIDDEN 256
#define INNER 512
#define TOKENS 21 /* so many that an expert has more inputs than a block */
#define EXPERTS 5
#define TOP_K 3

static struct roof_workload make(enum roof_operator op, enum roof_precision weights)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = op;
    w.formats.weights = weights;
    w.formats.activations = ROOF_PRECISION_FP16;
    w.shape.tokens = TOKENS;
    w.shape.hidden = HIDDEN;
    w.shape.intermediate = INNER;
    w.shape.experts = EXPERTS;
    w.shape.top_k = TOP_K;
    assert_int_equal(roof_workload_resolve(&w, NULL), ROOF_OK);
    return w;
}

static void begin(struct roof_cpu_job *job, const struct roof_workload *w,
                  const struct roof_cpu_features *features)
{
    *job = (struct roof_cpu_job){
        .task = {.probe = ROOF_PROBE_OPERATOR, .workload = *w}, .features = *features, .phases = 1};
    assert_true(roof_cpu_experts_able(features, &job->task));
    assert_int_equal(roof_cpu_experts_begin(job, 0, NULL), ROOF_OK);
}

/* Makes one call of a task by some threads. */
static void call(struct roof_cpu_job *job, size_t threads)
{
    for (int64_t phase = 0; phase < job->phases; phase++) {
        for (size_t thread = 0; thread < threads; thread++) {
            job->share(job, thread, threads, phase);
        }
    }
}

/* Multiplies a row of k numbers by all n rows of a matrix. */
static void product(float *out, const struct roof_cpu_job *job, const unsigned char *weights,
                    const float *in, int64_t n, int64_t k)
{
    struct roof_dot_kernels kernels;
    assert_true(roof_dot_find(&kernels, job->task.workload.formats.weights, false, &job->features));
    unsigned char *const converted = malloc((size_t)k * sizeof *in + 64);
    assert_non_null(converted);
    roof_dot_convert(converted, kernels.inputs, in, k, &job->features);
    const struct roof_dot dot = {.weights = weights,
                                 .inputs = converted,
                                 .out = out,
                                 .row_bytes =
                                     roof_cpu_row_bytes(job->task.workload.formats.weights, k),
                                 .input_bytes = roof_cpu_row_bytes(kernels.inputs, k),
                                 .stride = n,
                                 .k = k};
    roof_dot_multiply(&kernels, &dot, n, 1);
    free(converted);
}

static void assert_row(const float *row, const double *wanted, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        most = fmax(most, fabs(wanted[i]));
    }
    assert_true(most > 0);
    for (int64_t i = 0; i < count; i++) {
        assert_true(fabs((double)row[i] - wanted[i]) < 1e-4 * most);
    }
}

/* Adds the result of one expert to the sum of a token. gate_in is gate as it was before the call,
 * for the half that begins with it. */
static void add_expert(double *sum, const struct roof_cpu_job *job,
                       const struct roof_cpu_experts *e, int64_t expert, int64_t pair)
{
    static float gate[INNER];
    static float up[INNER];
    static float down[HIDDEN];
    const enum roof_operator op = job->task.workload.op;
    const unsigned char *const weights = job->data + expert * e->expert_bytes;
    const float *const in = e->inputs + pair / TOP_K * HIDDEN;
    if (op != ROOF_OPERATOR_MOE_DOWN) {
        double gated[INNER];
        product(gate, job, weights, in, INNER, HIDDEN);
        product(up, job, weights + e->in_bytes, in, INNER, HIDDEN);
        for (int i = 0; i < INNER; i++) {
            gated[i] = (double)gate[i] / (1 + exp(-(double)gate[i])) * (double)up[i];
        }
        assert_row(e->gate + pair * INNER, gated, INNER);
    }
    if (op != ROOF_OPERATOR_MOE_GATE_UP) {
        product(down, job, weights + 2 * e->in_bytes, e->gate + pair * INNER, HIDDEN, INNER);
        for (int i = 0; i < HIDDEN; i++) {
            sum[i] += (double)down[i] / TOP_K;
        }
    }
}

/* Finds the expert of each pair; every pair has one, and those of a token differ. */
static void find_experts(int64_t expert[TOKENS * TOP_K], const struct roof_cpu_experts *e)
{
    assert_int_equal(e->routed, TOKENS * TOP_K);
    assert_int_equal(e->first[0], 0);
    for (int64_t i = 0; i < e->routed; i++) {
        expert[i] = -1;
    }
    for (int64_t i = 0; i < e->chosen; i++) {
        assert_true(e->first[i] < e->first[i + 1]);
        for (int64_t at = e->first[i]; at < e->first[i + 1]; at++) {
            assert_true(e->pair[at] >= 0 && e->pair[at] < e->routed);
            assert_int_equal(expert[e->pair[at]], -1);
            expert[e->pair[at]] = i;
        }
    }
    for (int64_t i = 0; i < e->routed; i++) {
        assert_true(expert[i] >= 0);
        for (int64_t other = i - i % TOP_K; other < i; other++) {
            assert_int_not_equal(expert[other], expert[i]);
        }
    }
}

static void check(enum roof_operator op, enum roof_precision format,
                  const struct roof_cpu_features *features, size_t threads)
{
    const struct roof_workload w = make(op, format);
    int64_t expert[TOKENS * TOP_K] = {0};
    struct roof_cpu_experts e;
    struct roof_cpu_job job;
    begin(&job, &w, features);
    roof_cpu_experts_find(&e, &job);
    find_experts(expert, &e);
    call(&job, threads);
    for (int64_t token = 0; token < TOKENS; token++) {
        double sum[HIDDEN] = {0};
        for (int64_t i = 0; i < TOP_K; i++) {
            add_expert(sum, &job, &e, expert[token * TOP_K + i], token * TOP_K + i);
        }
        if (op != ROOF_OPERATOR_MOE_GATE_UP) {
            assert_row(e.out + token * HIDDEN, sum, HIDDEN);
        }
    }
    free(job.data);
}

static void test_experts_are_computed(void **state)
{
    static const enum roof_operator ops[] = {ROOF_OPERATOR_MOE, ROOF_OPERATOR_MOE_GATE_UP,
                                             ROOF_OPERATOR_MOE_DOWN};
    static const enum roof_precision formats[] = {ROOF_PRECISION_Q4_0, ROOF_PRECISION_Q8_0,
                                                  ROOF_PRECISION_Q4_K, ROOF_PRECISION_Q6_K,
                                                  ROOF_PRECISION_FP16, ROOF_PRECISION_FP32};
    (void)state;
    const struct roof_cpu_features own = roof_cpu_features();
    for (int isa = 0; isa <= (int)own.isa; isa++) {
        struct roof_cpu_features features = {.isa = (enum roof_cpu_isa)isa};
        features = isa == (int)own.isa ? own : features;
        features.amx = false;
        for (size_t i = 0; i < COUNT(ops) * COUNT(formats); i++) {
            check(ops[i % COUNT(ops)], formats[i / COUNT(ops)], &features, 1 + i % 3);
        }
    }
}

/* A product of fp32 is that of plain loops, so that the weights of the test above are those of the
 * right rows. */
static void test_against_plain_loops(void **state)
{
    static const struct roof_cpu_features base = {.isa = ROOF_ISA_BASE};
    const struct roof_workload w = make(ROOF_OPERATOR_MOE_GATE_UP, ROOF_PRECISION_FP32);
    struct roof_cpu_experts e;
    struct roof_cpu_job job;
    (void)state;
    begin(&job, &w, &base);
    roof_cpu_experts_find(&e, &job);
    call(&job, 2);
    assert_int_equal(e.expert_bytes, 2 * INNER * HIDDEN * 4);
    const int64_t last = e.chosen - 1;
    const int64_t pair = e.pair[e.first[last]];
    const float *const gate = (const float *)(const void *)(job.data + last * e.expert_bytes);
    const float *const up = gate + (ptrdiff_t)INNER * HIDDEN;
    double wanted[INNER];
    for (ptrdiff_t row = 0; row < INNER; row++) {
        double sums[2] = {0};
        for (ptrdiff_t i = 0; i < HIDDEN; i++) {
            const double x = (double)e.inputs[pair / TOP_K * HIDDEN + i];
            sums[0] += (double)gate[row * HIDDEN + i] * x;
            sums[1] += (double)up[row * HIDDEN + i] * x;
        }
        wanted[row] = sums[0] / (1 + exp(-sums[0])) * sums[1];
    }
    assert_row(e.gate + pair * INNER, wanted, INNER);
    free(job.data);
}

/* So many experts are read as the formula expects of tokens that choose at random. A single draw is
 * up to seven experts away from that. */
static void test_chosen_experts(void **state)
{
    static const struct {
        int64_t tokens, experts, top_k;
    } cases[] = {{1, 128, 8}, {1, 8, 2},   {2, 16, 2},   {16, 128, 8},
                 {4, 64, 6},  {4, 128, 8}, {32, 128, 4}, {512, 16, 2}};
    const struct roof_cpu_features features = {.isa = ROOF_ISA_BASE};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_workload w = make(ROOF_OPERATOR_MOE, ROOF_PRECISION_Q8_0);
        struct roof_cpu_experts e;
        struct roof_cpu_job job;
        w.shape.tokens = cases[i].tokens;
        w.shape.experts = cases[i].experts;
        w.shape.top_k = cases[i].top_k;
        w.shape.hidden = w.shape.intermediate = 32;
        begin(&job, &w, &features);
        roof_cpu_experts_find(&e, &job);
        const double experts = (double)cases[i].experts;
        const double kept = 1 - (double)cases[i].top_k / experts;
        const double wanted = experts * (1 - pow(kept, (double)cases[i].tokens));
        assert_true(fabs((double)e.chosen - wanted) < fmax(0.51, 0.02 * wanted));
        assert_int_equal(e.first[e.chosen], cases[i].tokens * cases[i].top_k);
        assert_int_equal(job.stride, (e.chosen * e.expert_bytes + 63) / 64 * 64);
        assert_int_equal(job.copies, 1);
        free(job.data);
    }
}

/* Cold experts have as many copies as fill all caches three times; each has the same weights. */
static void test_copies(void **state)
{
    const struct roof_cpu_features features = roof_cpu_features();
    const struct roof_workload w = make(ROOF_OPERATOR_MOE, ROOF_PRECISION_Q8_0);
    struct roof_cpu_job job = {.task = {.probe = ROOF_PROBE_OPERATOR, .workload = w},
                               .features = features};
    (void)state;
    assert_int_equal(roof_cpu_experts_begin(&job, 1 << 22, NULL), ROOF_OK);
    assert_int_equal(job.copies, 1 + 3 * (1 << 22) / job.stride);
    assert_true(job.copies > 2);
    assert_memory_equal(job.data, job.data + (job.copies - 1) * job.stride, (size_t)job.stride);
    assert_ptr_equal(job.scratch, job.data + job.copies * job.stride);
    free(job.data);
}

static void test_what_has_no_kernel(void **state)
{
    const struct roof_cpu_features features = roof_cpu_features();
    struct roof_meter_task task = {.probe = ROOF_PROBE_OPERATOR};
    (void)state;
#define ABLE(change)                                                                               \
    (task.workload = make(ROOF_OPERATOR_MOE, ROOF_PRECISION_Q4_K), (change),                       \
     roof_cpu_experts_able(&features, &task))
    assert_true(ABLE((void)0));
    assert_false(ABLE(task.workload.shape.ep = 2));
    assert_false(ABLE(task.workload.shape.routing = ROOF_ROUTING_BALANCED));
    assert_false(ABLE(task.workload.shape.hidden = 128));
    assert_false(ABLE(task.workload.shape.intermediate = 128));
    assert_false(ABLE(task.workload.formats.weights = ROOF_PRECISION_NVFP4));
    assert_false(ABLE(task.workload.op = ROOF_OPERATOR_MOE_UNGATED));
    assert_false(ABLE(task.workload.op = ROOF_OPERATOR_GEMM));
    /* A block lies along the inputs, so the half of gate and up needs whole ones of hidden alone.
     */
    assert_true(ABLE(
        (task.workload.op = ROOF_OPERATOR_MOE_GATE_UP, task.workload.shape.intermediate = 96)));
    assert_false(
        ABLE((task.workload.op = ROOF_OPERATOR_MOE_DOWN, task.workload.shape.intermediate = 96)));
    assert_true(ABLE((task.workload.op = ROOF_OPERATOR_MOE_DOWN, task.workload.shape.hidden = 96)));
#undef ABLE
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_experts_are_computed), cmocka_unit_test(test_against_plain_loops),
        cmocka_unit_test(test_chosen_experts),       cmocka_unit_test(test_copies),
        cmocka_unit_test(test_what_has_no_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
