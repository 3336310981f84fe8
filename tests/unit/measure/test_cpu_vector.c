// SPDX-License-Identifier: MIT
/* Compares the kernels of vector operators and attention on a CPU, for each set of instructions
 * that it has, with the formulas of these operators in double precision. */
#include "support.h"

#include <math.h>
#include <stdlib.h>

#include "measure/cpu_dot.h"

#define TOKENS 5
#define THREADS 2

static struct roof_workload make(enum roof_operator op)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = op;
    w.shape.tokens = TOKENS;
    if (op == ROOF_OPERATOR_ROPE) {
        w.shape.heads = 3;
        w.shape.kv_heads = 1;
        w.shape.head_dim = 64;
    } else {
        w.shape.hidden = 96;
    }
    assert_int_equal(roof_workload_resolve(&w, NULL), ROOF_OK);
    return w;
}

/* Prepares a task and makes one call of it. */
static void call(struct roof_cpu_job *job, const struct roof_workload *w, int isa)
{
    *job = (struct roof_cpu_job){.task = {.probe = ROOF_PROBE_OPERATOR, .workload = *w},
                                 .features = {.isa = (enum roof_cpu_isa)isa}};
    assert_true(roof_cpu_vector_able(&job->task));
    assert_int_equal(roof_cpu_vector_begin(job, THREADS, 0, NULL), ROOF_OK);
    for (size_t thread = 0; thread < THREADS; thread++) {
        job->share(job, thread, THREADS, 0);
    }
}

/* The element of a row of length k of one of the operators, from rows a and b. */
static double element(enum roof_operator op, const float *a, const float *b, int64_t k, int64_t i)
{
    double squares = 0;
    switch (op) {
    case ROOF_OPERATOR_ADD:
        return (double)a[i] + (double)b[i];
    case ROOF_OPERATOR_SILU_MUL:
        return (double)a[i] / (1 + exp(-(double)a[i])) * (double)b[i];
    case ROOF_OPERATOR_RMSNORM:
        for (int64_t n = 0; n < k; n++) {
            squares += (double)a[n] * (double)a[n];
        }
        return (double)a[i] / sqrt(squares / (double)k + 1e-6) * (double)b[i];
    default: /* a rotation of each number of the first half with one of the second */
        return i < k / 2
                   ? (double)a[i] * (double)b[i] - (double)a[i + k / 2] * (double)b[i + k / 2]
                   : (double)a[i - k / 2] * (double)b[i] + (double)a[i] * (double)b[i - k / 2];
    }
}

static void test_rows_are_computed(void **state)
{
    static const enum roof_operator ops[] = {ROOF_OPERATOR_RMSNORM, ROOF_OPERATOR_ADD,
                                             ROOF_OPERATOR_SILU_MUL, ROOF_OPERATOR_ROPE};
    (void)state;
    for (int isa = 0; isa <= (int)roof_cpu_features().isa; isa++) {
        for (size_t o = 0; o < COUNT(ops); o++) {
            const struct roof_workload w = make(ops[o]);
            const bool rope = ops[o] == ROOF_OPERATOR_ROPE;
            const bool common = rope || ops[o] == ROOF_OPERATOR_RMSNORM;
            const int64_t length = rope ? 4 * 64 : 96;
            const int64_t piece = rope ? 64 : 96;
            struct roof_cpu_job job;
            call(&job, &w, isa);
            const float *const a = (const float *)(const void *)job.data;
            const float *const b = a + TOKENS * length;
            const float *const out = b + (common ? 1 : TOKENS) * length;
            for (int64_t i = 0; i < TOKENS * length; i++) {
                const double expected =
                    element(ops[o], a + i / piece * piece, b + (common ? 0 : i / piece * piece),
                            piece, i % piece);
                assert_true(fabs((double)out[i] - expected) < 2e-5);
            }
            free(job.data);
        }
    }
}

/* The sum over keys of e^(q k - the largest q k) v, which is softmax(q k) v but for a factor. Keys
 * lie one after another, and each element of the values has a row. */
static void test_attention_is_computed(void **state)
{
    enum { BATCH = 2, HEADS = 4, KV_HEADS = 2, SIZE = 64, QUERIES = 70, KEYS = 96 };
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    (void)state;
    w.op = ROOF_OPERATOR_FLASH_ATTENTION;
    w.formats.precision = ROOF_PRECISION_FP16;
    w.shape = (struct roof_shape){.batch = BATCH,
                                  .heads = HEADS,
                                  .kv_heads = KV_HEADS,
                                  .head_dim = SIZE,
                                  .query_len = QUERIES,
                                  .kv_len = KEYS};
    assert_int_equal(roof_workload_resolve(&w, NULL), ROOF_OK);
    for (int isa = 0; isa <= (int)roof_cpu_features().isa; isa++) {
        struct roof_cpu_job job;
        call(&job, &w, isa);
        const uint16_t *const query = (const uint16_t *)(const void *)job.scratch;
        const float *const out =
            (const float *)(const void *)(query + BATCH * HEADS * QUERIES * SIZE);
        for (int64_t row = 0; row < (int64_t)BATCH * HEADS * QUERIES; row += 23) {
            const int64_t kv_head = row / QUERIES * KV_HEADS / HEADS;
            const uint16_t *const keys =
                (const uint16_t *)(const void *)job.data + 2 * kv_head * KEYS * SIZE;
            const uint16_t *const values = keys + KEYS * SIZE;
            double score[KEYS] = {0};
            for (int64_t k = 0; k < KEYS; k++) {
                for (int64_t d = 0; d < SIZE; d++) {
                    score[k] += (double)roof_half_to_float(query[row * SIZE + d]) *
                                (double)roof_half_to_float(keys[k * SIZE + d]);
                }
            }
            double most = score[0];
            for (int64_t k = 1; k < KEYS; k++) {
                most = fmax(most, score[k]);
            }
            for (int64_t d = 0; d < SIZE; d += 9) {
                double expected = 0;
                for (int64_t k = 0; k < KEYS; k++) {
                    expected +=
                        exp(score[k] - most) * (double)roof_half_to_float(values[d * KEYS + k]);
                }
                assert_true(fabs((double)out[row * SIZE + d] - expected) < 2e-2);
            }
        }
        free(job.data);
    }
}

/* Each finite number of half precision is what its bits say, and comes back; between two of them
 * the nearest is taken, the even one of two that are as near, and the largest for what is larger.
 */
static void test_halves(void **state)
{
    static const struct {
        float value;
        uint16_t half;
    } between[] = {{1 + 0x1p-11F, 0x3c00}, {1 + 0x1.8p-11F, 0x3c01},
                   {1 + 0x3p-11F, 0x3c02}, {-1 - 0x1.8p-11F, 0xbc01},
                   {0x1p-25F, 0},          {0x1.8p-25F, 1},
                   {1e6F, 0x7bff},         {-1e6F, 0xfbff},
                   {0x1.ffep-15F, 0x0400}, {0x1p-14F - 0x1p-26F, 0x400}};
    (void)state;
    for (uint32_t half = 0; half <= 0xfbff; half++) {
        const int exponent = (int)(half >> 10 & 31);
        const double mantissa = half & 1023;
        const double size =
            exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);
        if (exponent < 31) {
            const float value = roof_half_to_float((uint16_t)half);
            assert_true((double)value == (half >= 0x8000 ? -size : size));
            assert_int_equal(roof_float_to_half(value), half);
        }
    }
    for (size_t i = 0; i < COUNT(between); i++) {
        assert_int_equal(roof_float_to_half(between[i].value), between[i].half);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_computed),
        cmocka_unit_test(test_attention_is_computed),
        cmocka_unit_test(test_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
