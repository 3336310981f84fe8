// SPDX-License-Identifier: MIT
/* Products of inputs and weights, as engines on CPUs run them: each call converts its inputs to the
 * format in which the weights are multiplied, then multiplies tile by tile. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "measure/cpu_amx.h"
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

int64_t roof_cpu_row_bytes(enum roof_precision format, int64_t k)
{
    return (int64_t)roof_tensor_bytes(format, (double)k, 0, 0);
}

static struct parts parts_of(const struct roof_cpu_job *job, enum roof_precision inputs)
{
    const struct roof_shape *const s = &job->task.workload.shape;
    struct parts out = {.inputs = (float *)(void *)job->scratch,
                        .input_bytes = roof_cpu_row_bytes(inputs, s->k)};
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
    const int64_t bytes = roof_cpu_row_bytes(job->task.workload.formats.weights, s->k);
    const int64_t first = roof_cpu_part(s->n, ROWS, thread, threads);
    const int64_t end = roof_cpu_part(s->n, ROWS, thread + 1, threads);
    if (kernels.enter != NULL) {
        kernels.enter();
    }
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
    if (kernels.leave != NULL) {
        kernels.leave();
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

void roof_cpu_fill_weights(unsigned char *out, enum roof_precision format, int64_t bytes,
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
    const int64_t rows =
        kernels.packed ? roof_divide_up(s->n, kernels.tile_rows) * kernels.tile_rows : s->n;
    const int64_t weights = rows * roof_cpu_row_bytes(format, s->k);
    job->phases = 2;
    job->share = share_product;
    job->stride = (weights + 63) / 64 * 64;
    job->copies = roof_cpu_copies(job, job->stride, cache_bytes);
    const int64_t scratch = s->m * (s->k + s->n) * (int64_t)sizeof(float) +
                            s->m * roof_cpu_row_bytes(kernels.inputs, s->k) + 64;
    TRY(roof_cpu_allocate(job, job->copies * job->stride + scratch, error));
    job->scratch = job->data + job->copies * job->stride;
    uint64_t state = 1;
    roof_cpu_fill_weights(job->data, format, weights, kernels.packed ? kernels.tile_rows : 1,
                          &state);
    roof_cpu_repeat(job);
    roof_cpu_random((float *)(void *)job->scratch, s->m * s->k, &state);
    return ROOF_OK;
}

/* --- the check of AMX ---------------------------------------------------------------------- */

#define CHECK_K ((int64_t)3 * ROOF_BLOCK)
#define CHECK_ROWS (ROOF_AMX_ROWS + ROOF_PACKED_ROWS)
#define CHECK_INPUTS (ROOF_AMX_INPUTS + ROOF_AMX_ROWS + 3)
#define CHECK_ERROR 1e-4 /* of sums of up to 96 products in [-1, 1], in another order */

bool roof_cpu_amx_right(const struct roof_dot_kernels *kernels, enum roof_precision weights)
{
    static const struct roof_cpu_features base = {.isa = ROOF_ISA_BASE};
    _Alignas(64) unsigned char rows[CHECK_ROWS * CHECK_K * 2];
    _Alignas(64) unsigned char packed[CHECK_K * 2 * 2 * ROOF_AMX_ROWS];
    _Alignas(64) unsigned char inputs[CHECK_INPUTS * CHECK_K * 2];
    float value[CHECK_K];
    float out[CHECK_INPUTS * CHECK_ROWS] = {0};
    float wanted[CHECK_INPUTS * CHECK_ROWS] = {0};
    uint64_t state = 1;
    struct roof_dot_kernels plain;
    struct roof_dot dot = {.weights = rows,
                           .inputs = inputs,
                           .out = wanted,
                           .row_bytes = roof_cpu_row_bytes(weights, CHECK_K),
                           .input_bytes = roof_cpu_row_bytes(kernels->inputs, CHECK_K),
                           .stride = CHECK_ROWS,
                           .k = CHECK_K};
    (void)roof_dot_find(&plain, weights, true, &base);
    roof_cpu_fill_weights(rows, weights, CHECK_ROWS * dot.row_bytes, 1, &state);
    roof_amx_pack(packed, rows, weights, CHECK_ROWS, CHECK_K);
    for (int i = 0; i < CHECK_INPUTS; i++) {
        roof_cpu_random(value, CHECK_K, &state);
        roof_dot_convert(inputs + i * dot.input_bytes, kernels->inputs, value, CHECK_K, &base);
    }
    roof_dot_multiply(&plain, &dot, CHECK_ROWS, CHECK_INPUTS);
    dot.weights = packed;
    dot.out = out;
    kernels->enter();
    roof_dot_multiply(kernels, &dot, CHECK_ROWS, CHECK_INPUTS);
    kernels->leave();
    double off = 0;
    for (size_t i = 0; i < COUNT(out); i++) {
        off = fmax(off,
                   isfinite(out[i]) ? fabs((double)out[i] - (double)wanted[i]) : (double)INFINITY);
    }
    return off <= CHECK_ERROR;
}

const char *roof_cpu_amx_open(struct roof_cpu_features *features)
{
    static const enum roof_precision formats[] = {ROOF_PRECISION_BF16, ROOF_PRECISION_Q8_0,
                                                  ROOF_PRECISION_Q4_0};
    const char *why = "";
    if (features->amx && !roof_amx_permitted()) {
        why = "the system refuses its registers (ARCH_REQ_XCOMP_PERM)";
    }
    for (size_t i = 0; i < COUNT(formats) && features->amx && *why == '\0'; i++) {
        struct roof_dot_kernels kernels;
        if (!roof_amx_find(&kernels, formats[i], true, features) ||
            !roof_cpu_amx_right(&kernels, formats[i])) {
            why = "its products differ from those of plain loops";
        }
    }
    features->amx = features->amx && *why == '\0';
    return why;
}
