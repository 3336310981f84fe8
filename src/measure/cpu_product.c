// SPDX-License-Identifier: MIT
/* Products of inputs and weights, as engines on CPUs run them: each call converts its inputs to the
 * format in which the weights are multiplied, then multiplies tile by tile. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "measure/cpu_dot.h"
#include "measure/cpu_dot_k.h"

/* The rows of weights that a thread gets at a time. */
#define ROWS 16

/* The inputs of a block of tokens stay in the nearest caches while rows of weights go by. */
#define TOKENS 64

static struct roof_dot_kernels kernels_of(const struct roof_cpu_job *job)
{
    struct roof_dot_kernels kernels = {.inputs = ROOF_PRECISION_FP32};
    (void)roof_dot_find(&kernels, job->task.workload.formats.weights,
                        job->task.workload.shape.m > 1, &job->features);
    return kernels;
}

/* The parts of the scratch memory of a product. */
struct parts {
    float *inputs;
    unsigned char *converted;
    float *out;
    int64_t input_bytes; /* of a converted row */
};

static int64_t row_bytes(enum roof_precision format, int64_t k)
{
    return (int64_t)roof_tensor_bytes(format, (double)k, 0, 0);
}

static struct parts parts_of(const struct roof_cpu_job *job, enum roof_precision inputs)
{
    const struct roof_shape *const s = &job->task.workload.shape;
    struct parts out = {.inputs = (float *)(void *)job->scratch,
                        .input_bytes = row_bytes(inputs, s->k)};
    out.converted = job->scratch + s->m * s->k * (int64_t)sizeof(float);
    out.out = (float *)(void *)(out.converted + (s->m * out.input_bytes + 63) / 64 * 64);
    return out;
}

static void share_product(void *context, size_t thread, size_t threads, int64_t call)
{
    const struct roof_cpu_job *const job = context;
    const struct roof_shape *const s = &job->task.workload.shape;
    const struct roof_dot_kernels kernels = kernels_of(job);
    const struct parts parts = parts_of(job, kernels.inputs);
    if (call % job->phases == 0) {
        const int64_t end = roof_cpu_part(s->m, 1, thread + 1, threads);
        for (int64_t row = roof_cpu_part(s->m, 1, thread, threads); row < end; row++) {
            roof_dot_convert(parts.converted + row * parts.input_bytes, kernels.inputs,
                             parts.inputs + row * s->k, s->k, &job->features);
        }
        return;
    }
    const unsigned char *const weights = job->data + call / job->phases % job->copies * job->stride;
    const int64_t bytes = row_bytes(job->task.workload.formats.weights, s->k);
    const int64_t first = roof_cpu_part(s->n, ROWS, thread, threads);
    const int64_t end = roof_cpu_part(s->n, ROWS, thread + 1, threads);
    for (int64_t row = first; row < end; row += ROWS) {
        for (int64_t token = 0; token < s->m; token += TOKENS) {
            const struct roof_dot dot = {.weights = weights + row * bytes,
                                         .inputs = parts.converted + token * parts.input_bytes,
                                         .out = parts.out + token * s->n + row,
                                         .row_bytes = bytes,
                                         .input_bytes = parts.input_bytes,
                                         .stride = s->n,
                                         .k = s->k};
            roof_dot_multiply(&kernels, &dot, end - row < ROWS ? end - row : ROWS,
                              s->m - token < TOKENS ? s->m - token : TOKENS);
        }
    }
}

/* Fills memory with numbers of bf16 near 2^-7. */
static void fill_upper_halves(uint16_t *out, int64_t count, uint64_t *state)
{
    roof_cpu_noise((unsigned char *)out, count * 2, state);
    for (int64_t i = 0; i < count; i++) {
        out[i] = (uint16_t)((out[i] & 0x807f) | 0x3c00);
    }
}

/* Fills weights with random values: floats unchanged, blocks with small scales, of which a given
 * number is stored together. */
static void fill_weights(unsigned char *out, enum roof_precision format, int64_t bytes,
                         int64_t scales, uint64_t *state)
{
    const int64_t block = roof_format(format)->block_bytes;
    const uint16_t small = roof_float_to_half(1.F / 128);
    if (format == ROOF_PRECISION_FP32) {
        roof_cpu_random((float *)(void *)out, bytes / 4, state);
        return;
    }
    if (format == ROOF_PRECISION_FP16) {
        roof_cpu_halves((uint16_t *)(void *)out, bytes / 2, state);
        return;
    }
    if (format == ROOF_PRECISION_BF16) {
        fill_upper_halves((uint16_t *)(void *)out, bytes / 2, state);
        return;
    }
    const bool two = format == ROOF_PRECISION_Q4_K || format == ROOF_PRECISION_Q5_K;
    const int64_t first =
        format == ROOF_PRECISION_Q6_K ? (int64_t)offsetof(struct roof_block_q6_k, scale) : 0;
    roof_cpu_noise(out, bytes, state);
    for (int64_t at = first; at < bytes; at += block * scales) {
        for (int64_t i = 0; i < (two ? 2 : 1) * scales; i++) {
            memcpy(out + at + i * (int64_t)sizeof small, &small, sizeof small);
        }
    }
}

bool roof_cpu_product_able(const struct roof_cpu_features *features,
                           const struct roof_meter_task *task)
{
    const struct roof_workload *const w = &task->workload;
    const int64_t own = roof_format(w->formats.weights)->block_elements;
    const int64_t block = own > ROOF_BLOCK ? own : ROOF_BLOCK;
    struct roof_dot_kernels kernels;
    return (w->op == ROOF_OPERATOR_GEMM || w->op == ROOF_OPERATOR_GEMV) && w->shape.batch == 1 &&
           w->shape.k % block == 0 && w->shape.n % ROOF_PACKED_ROWS == 0 &&
           roof_dot_find(&kernels, w->formats.weights, w->shape.m > 1, features);
}

enum roof_status roof_cpu_product_begin(struct roof_cpu_job *job, int64_t cache_bytes,
                                        struct roof_error *error)
{
    const struct roof_shape *const s = &job->task.workload.shape;
    const enum roof_precision format = job->task.workload.formats.weights;
    const struct roof_dot_kernels kernels = kernels_of(job);
    const int64_t weights = s->n * row_bytes(format, s->k);
    job->phases = 2;
    job->share = share_product;
    job->stride = (weights + 63) / 64 * 64;
    job->copies = roof_cpu_copies(job, job->stride, cache_bytes);
    const int64_t scratch =
        s->m * (s->k + s->n) * (int64_t)sizeof(float) + s->m * row_bytes(kernels.inputs, s->k) + 64;
    TRY(roof_cpu_allocate(job, job->copies * job->stride + scratch, error));
    job->scratch = job->data + job->copies * job->stride;
    uint64_t state = 1;
    fill_weights(job->data, format, weights, kernels.packed ? ROOF_PACKED_ROWS : 1, &state);
    roof_cpu_repeat(job);
    roof_cpu_random((float *)(void *)job->scratch, s->m * s->k, &state);
    return ROOF_OK;
}
