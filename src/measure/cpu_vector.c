// SPDX-License-Identifier: MIT
/* Vector operators and attention of one call: rows of fp32, as engines on CPUs keep activations,
 * and a cache of keys and values in fp16. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "measure/cpu_dot.h"

/* --- vector operators ---------------------------------------------------------------------- */

/* One register of AVX-512, two of AVX2, four of SSE2 and NEON. */
#define LANES 16
typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t whole __attribute__((vector_size(4 * LANES)));
typedef uint32_t bits __attribute__((vector_size(4 * LANES)));

/*
 * e^x = 2^n e^r with n = x / ln 2 rounded, whose bits make the exponent, and r in +-0.35, of which
 * the first terms of the series are within 1e-5. x is below 87; under -87 the result is 0.
 */
#define EXPONENTIAL(out, x)                                                                        \
    do {                                                                                           \
        const lanes exp_x = (x);                                                                   \
        const lanes exp_shifted = exp_x * 1.44269504F + 0x1.8p23F;                                 \
        const lanes r = exp_x - (exp_shifted - 0x1.8p23F) * 0.693147181F;                          \
        const bits exp_bits = ((bits)exp_shifted << 23) + (127U << 23);                            \
        const lanes exp_series =                                                                   \
            1 + r * (1 + r * (1 / 2.F + r * (1 / 6.F + r * (1 / 24.F + r * (1 / 120.F)))));        \
        (out) = (lanes)((whole)(exp_series * (lanes)exp_bits) & (exp_x > -87));                    \
    } while (0)

/* The kernels of one row of k elements, a multiple of LANES: out from a and b. */
#define ROWS_OF(isa, target)                                                                       \
    target static void norm_##isa(lanes *out, const lanes *a, const lanes *b, int64_t k)           \
    {                                                                                              \
        lanes squares = {0};                                                                       \
        float sum = 0;                                                                             \
        for (int64_t i = 0; i < k / LANES; i++) {                                                  \
            squares += a[i] * a[i];                                                                \
        }                                                                                          \
        for (int i = 0; i < LANES; i++) {                                                          \
            sum += squares[i];                                                                     \
        }                                                                                          \
        const float scale = 1 / sqrtf(sum / (float)k + 1e-6F);                                     \
        for (int64_t i = 0; i < k / LANES; i++) {                                                  \
            out[i] = a[i] * scale * b[i];                                                          \
        }                                                                                          \
    }                                                                                              \
    target static void add_##isa(lanes *out, const lanes *a, const lanes *b, int64_t k)            \
    {                                                                                              \
        for (int64_t i = 0; i < k / LANES; i++) {                                                  \
            out[i] = a[i] + b[i];                                                                  \
        }                                                                                          \
    }                                                                                              \
    target static void gate_##isa(lanes *out, const lanes *a, const lanes *b, int64_t k)           \
    {                                                                                              \
        for (int64_t i = 0; i < k / LANES; i++) {                                                  \
            lanes exponential = {0};                                                               \
            EXPONENTIAL(exponential, -a[i]);                                                       \
            out[i] = (lanes)((whole)(a[i] / (1 + exponential) * b[i]) & (a[i] > -87));             \
        }                                                                                          \
    }                                                                                              \
    target static void rotate_##isa(lanes *out, const lanes *a, const lanes *b, int64_t k)         \
    {                                                                                              \
        const int64_t half = k / LANES / 2;                                                        \
        for (int64_t i = 0; i < half; i++) {                                                       \
            out[i] = a[i] * b[i] - a[i + half] * b[i + half];                                      \
            out[i + half] = a[i] * b[i + half] + a[i + half] * b[i];                               \
        }                                                                                          \
    }                                                                                              \
    /* Turns scores into weights, e^(score - most); returns their sum. */                          \
    target static float soften_##isa(float *score, int64_t count)                                  \
    {                                                                                              \
        float most = score[0];                                                                     \
        for (int64_t i = 1; i < count; i++) {                                                      \
            most = score[i] > most ? score[i] : most;                                              \
        }                                                                                          \
        lanes sums = {0};                                                                          \
        float sum = 0;                                                                             \
        for (int64_t i = count; i % LANES != 0; i++) {                                             \
            score[i] = -1e30F;                                                                     \
        }                                                                                          \
        for (int64_t i = 0; i < count; i += LANES) {                                               \
            lanes *const at = (lanes *)(void *)(score + i);                                        \
            EXPONENTIAL(*at, *at - most);                                                          \
            sums += *at;                                                                           \
        }                                                                                          \
        for (int i = 0; i < LANES; i++) {                                                          \
            sum += sums[i];                                                                        \
        }                                                                                          \
        return sum;                                                                                \
    }

ROWS_OF(base, )
#if defined(__x86_64__)
ROWS_OF(avx2, ROOF_TARGET_AVX2)
ROWS_OF(avx512, ROOF_TARGET_AVX512)
#endif

typedef void row_kernel(lanes *out, const lanes *a, const lanes *b, int64_t k);

static const struct {
    enum roof_operator op;
    row_kernel *run[ROOF_ISA_COUNT];
} rows[] = {{ROOF_OPERATOR_RMSNORM, ROOF_EACH_ISA(norm)},
            {ROOF_OPERATOR_ADD, ROOF_EACH_ISA(add)},
            {ROOF_OPERATOR_SILU_MUL, ROOF_EACH_ISA(gate)},
            {ROOF_OPERATOR_ROPE, ROOF_EACH_ISA(rotate)}};

static row_kernel *find_row(enum roof_operator op, enum roof_cpu_isa isa)
{
    row_kernel *found = NULL;
    for (size_t i = 0; i < COUNT(rows) && found == NULL; i++) {
        found = rows[i].op == op ? rows[i].run[isa] : NULL;
    }
    return found;
}

void roof_cpu_gate(float *gate, const float *up, int64_t k, enum roof_cpu_isa isa)
{
    find_row(ROOF_OPERATOR_SILU_MUL, isa)((lanes *)(void *)gate, (const lanes *)(const void *)gate,
                                          (const lanes *)(const void *)up, k);
}

/* Returns the elements of a row: all heads of one token for RoPE. */
static int64_t row_length(const struct roof_workload *w)
{
    return w->op == ROOF_OPERATOR_ROPE ? (w->shape.heads + w->shape.kv_heads) * w->shape.head_dim
                                       : w->shape.hidden;
}

/* Rows of a and of the result lie in a copy of the data; b is one row for all (gain, angles) or one
 * for each. */
static void share_rows(void *context, size_t thread, size_t threads, int64_t call)
{
    const struct roof_cpu_job *const job = context;
    const struct roof_workload *const w = &job->task.workload;
    const bool rope = w->op == ROOF_OPERATOR_ROPE;
    const bool common = rope || w->op == ROOF_OPERATOR_RMSNORM;
    const int64_t length = row_length(w);
    const int64_t piece = rope ? w->shape.head_dim : length;
    const int64_t tokens = w->shape.tokens;
    row_kernel *const run = find_row(w->op, job->features.isa);
    float *const a = (float *)(void *)(job->data + call % job->copies * job->stride);
    float *const b = a + tokens * length;
    float *const out = b + (common ? 1 : tokens) * length;
    const int64_t end = roof_cpu_part(tokens, 1, thread + 1, threads);
    for (int64_t token = roof_cpu_part(tokens, 1, thread, threads); token < end; token++) {
        for (int64_t at = 0; at < length; at += piece) {
            const float *const with = b + (common ? 0 : token * length);
            run((lanes *)(void *)(out + token * length + at),
                (const lanes *)(const void *)(a + token * length + at),
                (const lanes *)(const void *)with, piece);
        }
    }
}

static enum roof_status begin_rows(struct roof_cpu_job *job, int64_t cache_bytes,
                                   struct roof_error *error)
{
    const struct roof_workload *const w = &job->task.workload;
    uint64_t state = 1;
    job->share = share_rows;
    job->stride = 3 * w->shape.tokens * row_length(w) * (int64_t)sizeof(float);
    /* In a step the operator before has just written the activations. */
    job->copies = job->runs > 0 ? 1 : roof_cpu_copies(job, job->stride, cache_bytes);
    TRY(roof_cpu_allocate(job, job->copies * job->stride, error));
    roof_cpu_random((float *)(void *)job->data, job->stride / (int64_t)sizeof(float), &state);
    roof_cpu_repeat(job);
    return ROOF_OK;
}

/* --- attention ----------------------------------------------------------------------------- */

/* Queries of a head that are processed together. */
#define QUERIES 64

static float (*const softens[ROOF_ISA_COUNT])(float *, int64_t) = ROOF_EACH_ISA(soften);

/* The memory in which a thread keeps the scores of a block of queries. */
struct scores {
    float *score;
    unsigned char *weight; /* the same, in fp16 */
};

static int64_t scores_bytes(int64_t keys)
{
    return QUERIES * keys * (int64_t)(sizeof(float) + sizeof(uint16_t));
}

/* Attends from a block of queries of one head: scores, softmax, sum of values. A copy of the data
 * has K by key and V by element of the head, as the rows that both products read. */
static void attend(const struct roof_cpu_job *job, const struct scores *own,
                   const struct roof_dot_kernels *kernels, const unsigned char *cache, int64_t head,
                   int64_t first, int64_t count)
{
    const struct roof_shape *const s = &job->task.workload.shape;
    const int64_t kv_head = head * s->kv_heads / s->heads; /* batch * heads are numbered together */
    const int64_t keys = s->kv_len;
    const int64_t side = s->head_dim * keys * (int64_t)sizeof(uint16_t);
    const int64_t query_bytes = s->head_dim * (int64_t)sizeof(uint16_t);
    const int64_t at = (head * s->query_len + first) * s->head_dim;
    float *const out =
        (float *)(void *)(job->scratch + s->batch * s->heads * s->query_len * query_bytes) + at;
    const struct roof_dot scores = {.weights = cache + 2 * kv_head * side,
                                    .inputs = job->scratch + at * (int64_t)sizeof(uint16_t),
                                    .out = own->score,
                                    .row_bytes = query_bytes,
                                    .input_bytes = query_bytes,
                                    .stride = keys,
                                    .k = s->head_dim};
    const struct roof_dot values = {.weights = cache + (2 * kv_head + 1) * side,
                                    .inputs = own->weight,
                                    .out = out,
                                    .row_bytes = keys * (int64_t)sizeof(uint16_t),
                                    .input_bytes = keys * (int64_t)sizeof(uint16_t),
                                    .stride = s->head_dim,
                                    .k = keys};
    roof_dot_multiply(kernels, &scores, keys, count);
    for (int64_t i = 0; i < count; i++) {
        roof_cpu_keep((uint64_t)softens[job->features.isa](own->score + i * keys, keys));
        roof_dot_convert(own->weight + i * keys * (int64_t)sizeof(uint16_t), ROOF_PRECISION_FP16,
                         own->score + i * keys, keys, &job->features);
    }
    roof_dot_multiply(kernels, &values, s->head_dim, count);
}

static void share_attention(void *context, size_t thread, size_t threads, int64_t call)
{
    const struct roof_cpu_job *const job = context;
    const struct roof_shape *const s = &job->task.workload.shape;
    const unsigned char *const cache = job->data + call % job->copies * job->stride;
    const int64_t blocks = (s->query_len + QUERIES - 1) / QUERIES;
    const int64_t items = s->batch * s->heads * blocks;
    const int64_t inputs = 6 * s->batch * s->heads * s->query_len * s->head_dim;
    float *const score =
        (float *)(void *)(job->scratch + inputs + (int64_t)thread * scores_bytes(s->kv_len));
    const struct scores own = {score, (unsigned char *)(score + QUERIES * s->kv_len)};
    struct roof_dot_kernels kernels = {.inputs = ROOF_PRECISION_FP16};
    (void)roof_dot_find(&kernels, ROOF_PRECISION_FP16, true, &job->features);
    const int64_t end = roof_cpu_part(items, 1, thread + 1, threads);
    for (int64_t item = roof_cpu_part(items, 1, thread, threads); item < end; item++) {
        const int64_t first = item % blocks * QUERIES;
        const int64_t left = s->query_len - first;
        attend(job, &own, &kernels, cache, item / blocks, first, left < QUERIES ? left : QUERIES);
    }
}

static enum roof_status begin_attention(struct roof_cpu_job *job, size_t threads,
                                        int64_t cache_bytes, struct roof_error *error)
{
    const struct roof_shape *const s = &job->task.workload.shape;
    const int64_t heads = s->batch * s->heads * s->query_len * s->head_dim;
    uint64_t state = 1;
    job->share = share_attention;
    job->stride = s->batch * s->kv_heads * s->kv_len * s->head_dim * 2 * (int64_t)sizeof(uint16_t);
    job->copies = roof_cpu_copies(job, job->stride, cache_bytes);
    const int64_t data = job->copies * job->stride;
    const int64_t queries = heads * (int64_t)(sizeof(uint16_t) + sizeof(float));
    TRY(roof_cpu_allocate(job, data + queries + (int64_t)threads * scores_bytes(s->kv_len), error));
    job->scratch = job->data + data;
    roof_cpu_halves((uint16_t *)(void *)job->data, job->stride / 2, &state);
    roof_cpu_repeat(job);
    roof_cpu_halves((uint16_t *)(void *)job->scratch, queries / 2, &state);
    return ROOF_OK;
}

/* --- both ---------------------------------------------------------------------------------- */

bool roof_cpu_vector_able(const struct roof_meter_task *task)
{
    const struct roof_workload *const w = &task->workload;
    return w->op == ROOF_OPERATOR_FLASH_ATTENTION
               ? w->formats.kv == ROOF_PRECISION_FP16 && w->shape.head_dim % ROOF_BLOCK == 0 &&
                     w->shape.kv_len % ROOF_BLOCK == 0 &&
                     (w->shape.window == 0 || w->shape.window >= w->shape.kv_len)
               : find_row(w->op, ROOF_ISA_BASE) != NULL && row_length(w) % LANES == 0 &&
                     (w->op != ROOF_OPERATOR_ROPE || w->shape.head_dim % ((int64_t)2 * LANES) == 0);
}

enum roof_status roof_cpu_vector_begin(struct roof_cpu_job *job, size_t threads,
                                       int64_t cache_bytes, struct roof_error *error)
{
    return job->task.workload.op == ROOF_OPERATOR_FLASH_ATTENTION
               ? begin_attention(job, threads, cache_bytes, error)
               : begin_rows(job, cache_bytes, error);
}
