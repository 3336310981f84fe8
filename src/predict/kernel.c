// SPDX-License-Identifier: MIT
/* Finds the kernel that a workload runs, the fit for it, and its expected time. */
#include "predict/kernel.h"
#include "predict/conversion.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "predict/kernel_task.h"
#include "predict/power.h"

/* --- limits -------------------------------------------------------------------------------- */

const char *roof_kernel_limit_name(enum roof_kernel_limit limit)
{
    static const char *const names[ROOF_KERNEL_LIMIT_COUNT] = {
#define NAME(constant, name, bottleneck) [ROOF_KERNEL_LIMIT_##constant] = name,
        ROOF_KERNEL_LIMITS(NAME)
#undef NAME
    };
    return names[limit];
}

enum roof_bottleneck roof_kernel_limit_bottleneck(enum roof_kernel_limit limit)
{
    static const enum roof_bottleneck bottlenecks[ROOF_KERNEL_LIMIT_COUNT] = {
#define BOTTLENECK(constant, name, bottleneck)                                                     \
    [ROOF_KERNEL_LIMIT_##constant] = ROOF_BOTTLENECK_##bottleneck,
        ROOF_KERNEL_LIMITS(BOTTLENECK)
#undef BOTTLENECK
    };
    return bottlenecks[limit];
}

const char *roof_bottleneck_name(enum roof_bottleneck bottleneck)
{
    static const char *const names[ROOF_BOTTLENECK_COUNT] = {
        [ROOF_BOTTLENECK_MEMORY] = "memory",   [ROOF_BOTTLENECK_COMPUTE] = "compute",
        [ROOF_BOTTLENECK_NETWORK] = "network", [ROOF_BOTTLENECK_OVERHEAD] = "overhead",
        [ROOF_BOTTLENECK_POWER] = "power",
    };
    return names[bottleneck];
}

/* --- kernels ------------------------------------------------------------------------------- */

/* The formula of the expected time of each kernel. */
static void (*const formulas[ROOF_KERNEL_COUNT])(struct roof_expected *out,
                                                 const struct roof_kernel_task *task,
                                                 const double *parameter) = {
    [ROOF_KERNEL_GEMM] = roof_expect_gemm,
    [ROOF_KERNEL_BMM] = roof_expect_gemm,
    [ROOF_KERNEL_DECODE] = roof_expect_decode,
    [ROOF_KERNEL_PREFILL] = roof_expect_prefill,
    [ROOF_KERNEL_MLA_DECODE] = roof_expect_mla_decode,
    [ROOF_KERNEL_MLA_PREFILL] = roof_expect_mla_prefill,
    [ROOF_KERNEL_MOE] = roof_expect_moe,
    [ROOF_KERNEL_NORM] = roof_expect_vector,
    [ROOF_KERNEL_ADD] = roof_expect_vector,
    [ROOF_KERNEL_ACTIVATION] = roof_expect_vector,
    [ROOF_KERNEL_ROPE] = roof_expect_vector,
    [ROOF_KERNEL_QUANTIZE] = roof_expect_vector,
    [ROOF_KERNEL_ALL_REDUCE] = roof_expect_collective,
    [ROOF_KERNEL_ONE_SHOT] = roof_expect_one_shot,
    [ROOF_KERNEL_ALL_GATHER] = roof_expect_collective,
    [ROOF_KERNEL_REDUCE_SCATTER] = roof_expect_collective,
    [ROOF_KERNEL_ALL_TO_ALL] = roof_expect_collective,
    [ROOF_KERNEL_STATE] = roof_expect_vector,
    [ROOF_KERNEL_CONV] = roof_expect_vector,
    [ROOF_KERNEL_CONV_PREFILL] = roof_expect_vector,
    [ROOF_KERNEL_ENCODER] = roof_expect_prefill,
    [ROOF_KERNEL_STATE_PREFILL] = roof_expect_scan,
    [ROOF_KERNEL_KIMI_PREFILL] = roof_expect_scan,
    [ROOF_KERNEL_SSD_PREFILL] = roof_expect_scan,
    [ROOF_KERNEL_INDEX_SCORES] = roof_expect_index_scores,
    [ROOF_KERNEL_TOP_K] = roof_expect_top_k,
    [ROOF_KERNEL_SPARSE_MLA] = roof_expect_sparse_mla,
    [ROOF_KERNEL_COMPRESSED] = roof_expect_compressed,
    [ROOF_KERNEL_COMPRESSED_PREFILL] = roof_expect_compressed_prefill,
    [ROOF_KERNEL_HYPER_COLLAPSE] = roof_expect_vector,
    [ROOF_KERNEL_HYPER_EXPAND] = roof_expect_vector,
};

/* The kernel of each operator, plus one, so that 0 means none. */
static const unsigned char kernels[ROOF_OPERATOR_COUNT] = {
    [ROOF_OPERATOR_GEMM] = ROOF_KERNEL_GEMM + 1,
    [ROOF_OPERATOR_GEMV] = ROOF_KERNEL_GEMM + 1,
    [ROOF_OPERATOR_BMM] = ROOF_KERNEL_BMM + 1,
    [ROOF_OPERATOR_ATTENTION_SCORES] = ROOF_KERNEL_BMM + 1,
    [ROOF_OPERATOR_ATTENTION_VALUES] = ROOF_KERNEL_BMM + 1,
    [ROOF_OPERATOR_SOFTMAX] = ROOF_KERNEL_ACTIVATION + 1,
    [ROOF_OPERATOR_FLASH_ATTENTION] = ROOF_KERNEL_DECODE + 1,
    [ROOF_OPERATOR_MLA_DECODE] = ROOF_KERNEL_MLA_DECODE + 1,
    [ROOF_OPERATOR_MLA_PREFILL] = ROOF_KERNEL_MLA_PREFILL + 1,
    [ROOF_OPERATOR_MOE] = ROOF_KERNEL_MOE + 1,
    [ROOF_OPERATOR_MOE_GATE_UP] = ROOF_KERNEL_MOE + 1,
    [ROOF_OPERATOR_MOE_DOWN] = ROOF_KERNEL_MOE + 1,
    [ROOF_OPERATOR_MOE_UNGATED] = ROOF_KERNEL_MOE + 1,
    [ROOF_OPERATOR_MOE_UP] = ROOF_KERNEL_MOE + 1,
    [ROOF_OPERATOR_RMSNORM] = ROOF_KERNEL_NORM + 1,
    [ROOF_OPERATOR_LAYERNORM] = ROOF_KERNEL_ACTIVATION + 1,
    [ROOF_OPERATOR_ROUTER] = ROOF_KERNEL_ACTIVATION + 1,
    [ROOF_OPERATOR_ADD] = ROOF_KERNEL_ADD + 1,
    [ROOF_OPERATOR_EMBEDDING] = ROOF_KERNEL_ADD + 1,
    [ROOF_OPERATOR_KV_APPEND] = ROOF_KERNEL_ADD + 1,
    [ROOF_OPERATOR_SILU_MUL] = ROOF_KERNEL_ACTIVATION + 1,
    [ROOF_OPERATOR_GELU] = ROOF_KERNEL_ACTIVATION + 1,
    [ROOF_OPERATOR_ROPE] = ROOF_KERNEL_ROPE + 1,
    [ROOF_OPERATOR_QUANTIZE] = ROOF_KERNEL_QUANTIZE + 1,
    [ROOF_OPERATOR_ALL_REDUCE] = ROOF_KERNEL_ALL_REDUCE + 1,
    [ROOF_OPERATOR_ALL_GATHER] = ROOF_KERNEL_ALL_GATHER + 1,
    [ROOF_OPERATOR_REDUCE_SCATTER] = ROOF_KERNEL_REDUCE_SCATTER + 1,
    [ROOF_OPERATOR_ALL_TO_ALL] = ROOF_KERNEL_ALL_TO_ALL + 1,
    [ROOF_OPERATOR_SEND] = ROOF_KERNEL_ALL_TO_ALL + 1,
    [ROOF_OPERATOR_INDEX_SCORES] = ROOF_KERNEL_INDEX_SCORES + 1,
    [ROOF_OPERATOR_BLOCK_SCORES] = ROOF_KERNEL_BMM + 1,
    [ROOF_OPERATOR_INDEX_TOP_K] = ROOF_KERNEL_TOP_K + 1,
    [ROOF_OPERATOR_SPARSE_MLA] = ROOF_KERNEL_SPARSE_MLA + 1,
    [ROOF_OPERATOR_COMPRESSED_ATTENTION] = ROOF_KERNEL_COMPRESSED + 1,
    [ROOF_OPERATOR_HYPER_COLLAPSE] = ROOF_KERNEL_HYPER_COLLAPSE + 1,
    [ROOF_OPERATOR_HYPER_EXPAND] = ROOF_KERNEL_HYPER_EXPAND + 1,
    [ROOF_OPERATOR_SHORT_CONV] = ROOF_KERNEL_CONV + 1,
    [ROOF_OPERATOR_CONV2D] = ROOF_KERNEL_GEMM + 1,
    [ROOF_OPERATOR_CONV3D] = ROOF_KERNEL_GEMM + 1,
    [ROOF_OPERATOR_DEPTH_MIX] = ROOF_KERNEL_ADD + 1,
    [ROOF_OPERATOR_GATED_DELTA] = ROOF_KERNEL_STATE + 1,
    [ROOF_OPERATOR_KIMI_DELTA] = ROOF_KERNEL_STATE + 1,
    [ROOF_OPERATOR_SSD] = ROOF_KERNEL_STATE + 1,
    [ROOF_OPERATOR_LIGHTNING] = ROOF_KERNEL_STATE + 1,
    [ROOF_OPERATOR_SELECTIVE_SCAN] = ROOF_KERNEL_STATE + 1,
    [ROOF_OPERATOR_ADD_RMSNORM] = ROOF_KERNEL_NORM + 1,
    [ROOF_OPERATOR_ADD_LAYERNORM] = ROOF_KERNEL_ACTIVATION + 1,
    [ROOF_OPERATOR_RMSNORM_QUANTIZE] = ROOF_KERNEL_NORM + 1,
    [ROOF_OPERATOR_ADD_RMSNORM_QUANTIZE] = ROOF_KERNEL_NORM + 1,
    [ROOF_OPERATOR_SILU_MUL_QUANTIZE] = ROOF_KERNEL_ACTIVATION + 1,
    [ROOF_OPERATOR_GEMM_SILU_MUL] = ROOF_KERNEL_GEMM + 1,
    [ROOF_OPERATOR_ROPE_APPEND] = ROOF_KERNEL_ROPE + 1,
};

/* Tells whether several queries attend to all keys in 16 bits, as in an encoder. */
static bool is_encoder(const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    return s->query_len > 1 && s->causal == 0 && s->window == 0 &&
           roof_precision_bits(w->formats.kv) == 16;
}

/* Returns the kernel that takes a prompt through the states of an operator, in chunks. The scan of
 * Mamba-1 has no chunks, and none like it was measured. */
static enum roof_kernel of_prompt(enum roof_operator op)
{
    switch ((int)op) {
    case ROOF_OPERATOR_KIMI_DELTA:
        return ROOF_KERNEL_KIMI_PREFILL;
    case ROOF_OPERATOR_SSD:
        return ROOF_KERNEL_SSD_PREFILL;
    case ROOF_OPERATOR_SELECTIVE_SCAN:
        return ROOF_KERNEL_COUNT;
    default:
        return ROOF_KERNEL_STATE_PREFILL;
    }
}

/* Tells whether the new tokens are those of a prompt, which takes more than one of them. */
static bool is_prompt(const struct roof_workload *w)
{
    const int64_t least = w->tokens == ROOF_TOKENS_PROMPT ? 2 : ROOF_PROMPT_QUERIES;
    return w->tokens != ROOF_TOKENS_DECODE && w->shape.query_len >= least;
}

/* The fewest chosen keys for which the measured kernel, which chooses 2048, is used. */
#define TOP_K_LEAST 256

enum roof_kernel roof_kernel_of(const struct roof_workload *workload)
{
    const struct roof_shape *const s = &workload->shape;
    const unsigned char found = kernels[workload->op];
    if (found == 0) {
        return ROOF_KERNEL_COUNT;
    }
    switch (found - 1) {
    case ROOF_KERNEL_DECODE:
        return is_encoder(workload) ? ROOF_KERNEL_ENCODER
               : s->query_len > 1   ? ROOF_KERNEL_PREFILL
                                    : ROOF_KERNEL_DECODE;
    case ROOF_KERNEL_STATE: /* the tokens of a decode step stream the states like a vector */
        return is_prompt(workload) ? of_prompt(workload->op) : ROOF_KERNEL_STATE;
    case ROOF_KERNEL_CONV:
        return s->query_len > 1 ? ROOF_KERNEL_CONV_PREFILL : ROOF_KERNEL_CONV;
    case ROOF_KERNEL_TOP_K: /* a few blocks of keys are chosen without a sort */
        return s->selected < TOP_K_LEAST ? ROOF_KERNEL_ACTIVATION : ROOF_KERNEL_TOP_K;
    case ROOF_KERNEL_SPARSE_MLA: /* for one query, engines have kernels that split its keys */
        return s->query_len > 1 ? ROOF_KERNEL_SPARSE_MLA : ROOF_KERNEL_MLA_DECODE;
    case ROOF_KERNEL_COMPRESSED:
        return is_prompt(workload) ? ROOF_KERNEL_COMPRESSED_PREFILL : ROOF_KERNEL_COMPRESSED;
    case ROOF_KERNEL_ALL_REDUCE:
        return s->algorithm > 0 ? ROOF_KERNEL_ONE_SHOT : ROOF_KERNEL_ALL_REDUCE;
    default:
        return (enum roof_kernel)(found - 1);
    }
}

/* Returns the kernel that stands in for one that was not measured: an addition for those that
 * stream their data like one, attention of prompts for that of encoders, prompts through a state
 * for those of other layers with one, and for the parts of sparse attention a batched product, an
 * activation and latent attention; else the kernel itself. */
static enum roof_kernel like(enum roof_kernel kernel)
{
    static const unsigned char others[ROOF_KERNEL_COUNT] = {
        [ROOF_KERNEL_STATE] = ROOF_KERNEL_ADD,
        [ROOF_KERNEL_CONV] = ROOF_KERNEL_ADD,
        [ROOF_KERNEL_CONV_PREFILL] = ROOF_KERNEL_ADD,
        [ROOF_KERNEL_ENCODER] = ROOF_KERNEL_PREFILL,
        [ROOF_KERNEL_KIMI_PREFILL] = ROOF_KERNEL_STATE_PREFILL,
        [ROOF_KERNEL_SSD_PREFILL] = ROOF_KERNEL_STATE_PREFILL,
        [ROOF_KERNEL_INDEX_SCORES] = ROOF_KERNEL_BMM,
        [ROOF_KERNEL_TOP_K] = ROOF_KERNEL_ACTIVATION,
        [ROOF_KERNEL_SPARSE_MLA] = ROOF_KERNEL_MLA_DECODE,
        [ROOF_KERNEL_HYPER_COLLAPSE] = ROOF_KERNEL_ADD,
        [ROOF_KERNEL_HYPER_EXPAND] = ROOF_KERNEL_ADD,
    };
    return kernel < ROOF_KERNEL_COUNT && others[kernel] > 0 ? (enum roof_kernel)others[kernel]
                                                            : kernel;
}

/* Returns a kernel, or where a calibration lacks it the one that stands in for it. */
static enum roof_kernel measured_like(const struct roof_calibration *calibration,
                                      enum roof_kernel kernel)
{
    return like(kernel) != kernel && !roof_calibration_measures(calibration, kernel) ? like(kernel)
                                                                                     : kernel;
}

enum roof_kernel roof_kernel_in(const struct roof_calibration *calibration,
                                const struct roof_workload *workload)
{
    return measured_like(calibration, roof_kernel_of(workload));
}

unsigned roof_operator_kernels(enum roof_operator op)
{
    const struct roof_operator_row *const row = roof_operator_row(op);
    unsigned needed = kernels[op] == 0 ? 0 : 1U << (kernels[op] - 1);
    if (kernels[op] == ROOF_KERNEL_DECODE + 1) {
        needed |= 1U << ROOF_KERNEL_PREFILL | 1U << ROOF_KERNEL_ENCODER;
    }
    if (kernels[op] == ROOF_KERNEL_ALL_REDUCE + 1) {
        needed |= 1U << ROOF_KERNEL_ONE_SHOT;
    }
    if (kernels[op] == ROOF_KERNEL_COMPRESSED + 1) {
        needed |= 1U << ROOF_KERNEL_COMPRESSED_PREFILL;
    }
    if (kernels[op] == ROOF_KERNEL_CONV + 1) {
        needed |= 1U << ROOF_KERNEL_CONV_PREFILL;
    }
    if (kernels[op] == ROOF_KERNEL_STATE + 1 && of_prompt(op) != ROOF_KERNEL_COUNT) {
        needed |= 1U << of_prompt(op) | 1U << like(of_prompt(op));
    }
    if (kernels[op] > 0) {
        needed |= 1U << like((enum roof_kernel)(kernels[op] - 1));
    }
    for (int i = 0; i < row->fuse_count; i++) {
        needed |= roof_operator_kernels(row->fuses[i]);
    }
    return needed;
}

/* Returns the formats that meet in a workload with a kernel. */
static enum roof_numerics numerics_in(const struct roof_workload *workload, enum roof_kernel kernel)
{
    const struct roof_formats *const f = &workload->formats;
    if (kernel >= ROOF_KERNEL_NORM && kernel != ROOF_KERNEL_ENCODER &&
        kernel != ROOF_KERNEL_SPARSE_MLA) {
        return ROOF_NUMERICS_16BIT; /* their formats are in the bytes, and in the peak of scores */
    }
    if (roof_operator_row(workload->op)->other == ROOF_ROLE_KV) {
        /* Attention: queries that are narrower than the cache are widened. */
        const bool narrow = roof_precision_bits(f->activations) < roof_precision_bits(f->kv);
        return roof_numerics_of(f->kv, narrow ? f->kv : f->activations);
    }
    return roof_numerics_of(f->weights, f->activations);
}

enum roof_numerics roof_workload_numerics(const struct roof_workload *workload)
{
    return numerics_in(workload, roof_kernel_of(workload));
}

/* The formats whose kernels are used for formats without measurements, in this order; COUNT ends a
 * list. */
#define LIST(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__, ROOF_NUMERICS_16BIT, ROOF_NUMERICS_COUNT                                      \
    }
static const enum roof_numerics stand_ins[ROOF_NUMERICS_COUNT][6] = {
    [ROOF_NUMERICS_16BIT] = {ROOF_NUMERICS_16BIT, ROOF_NUMERICS_COUNT},
    [ROOF_NUMERICS_FP8] = LIST(ROOF_NUMERICS_FP8, ROOF_NUMERICS_W8A16, ROOF_NUMERICS_INT8),
    [ROOF_NUMERICS_INT8] = LIST(ROOF_NUMERICS_INT8, ROOF_NUMERICS_FP8, ROOF_NUMERICS_W8A16),
    [ROOF_NUMERICS_FP4] = LIST(ROOF_NUMERICS_FP4, ROOF_NUMERICS_MX4A16, ROOF_NUMERICS_W4A16),
    [ROOF_NUMERICS_W8A16] = LIST(ROOF_NUMERICS_W8A16, ROOF_NUMERICS_FP8, ROOF_NUMERICS_W4A16),
    [ROOF_NUMERICS_W4A16] = LIST(ROOF_NUMERICS_W4A16, ROOF_NUMERICS_MX4A16, ROOF_NUMERICS_W8A16),
    [ROOF_NUMERICS_W4A8] =
        LIST(ROOF_NUMERICS_W4A8, ROOF_NUMERICS_MX4A16, ROOF_NUMERICS_W4A16, ROOF_NUMERICS_FP8),
    [ROOF_NUMERICS_32BIT] = LIST(ROOF_NUMERICS_32BIT),
    [ROOF_NUMERICS_MX4A16] = LIST(ROOF_NUMERICS_MX4A16, ROOF_NUMERICS_W4A16, ROOF_NUMERICS_W8A16),
};
#undef LIST

/* Collectives of more devices have no expected time: eight devices of one node were measured, and
 * with this many the extrapolation would be the whole estimate. */
#define COLLECTIVE_DEVICES_MAX 4096.

/* Default latency between nodes in seconds: NCCL's constant for a step of a tree over the network
 * with short messages (NVIDIA/nccl@b647562 src/graph/tuning.cc, hwLat). */
#define HOP_S 5e-6

/* With more queries, the choice of keys takes up to five times the fitted time. */
#define TOP_K_QUERIES 32768.

/* Returns true for operators that use kernels of others, since theirs were not measured. Kernels
 * were measured for prompts of Mamba-2, prompts with attention to chosen keys, and choices of up to
 * TOP_K_QUERIES queries. `kernel` is that of the operator. */
static bool stands_in(const struct roof_workload *w, enum roof_kernel kernel)
{
    static const bool unmeasured[ROOF_OPERATOR_COUNT] = {
        [ROOF_OPERATOR_ATTENTION_SCORES] = true,
        [ROOF_OPERATOR_ATTENTION_VALUES] = true,
        [ROOF_OPERATOR_SOFTMAX] = true,
        [ROOF_OPERATOR_LAYERNORM] = true,
        [ROOF_OPERATOR_GELU] = true,
        [ROOF_OPERATOR_ROUTER] = true,
        [ROOF_OPERATOR_MOE_GATE_UP] = true,
        [ROOF_OPERATOR_MOE_DOWN] = true,
        [ROOF_OPERATOR_MOE_UNGATED] = true,
        [ROOF_OPERATOR_MOE_UP] = true,
        [ROOF_OPERATOR_BLOCK_SCORES] = true,
        [ROOF_OPERATOR_CONV2D] = true,
        [ROOF_OPERATOR_CONV3D] = true,
        [ROOF_OPERATOR_DEPTH_MIX] = true,
        [ROOF_OPERATOR_LIGHTNING] = true,
        [ROOF_OPERATOR_SELECTIVE_SCAN] = true,
        [ROOF_OPERATOR_ADD_RMSNORM] = true,
        [ROOF_OPERATOR_ADD_LAYERNORM] = true,
        [ROOF_OPERATOR_RMSNORM_QUANTIZE] = true,
        [ROOF_OPERATOR_ADD_RMSNORM_QUANTIZE] = true,
        [ROOF_OPERATOR_SILU_MUL_QUANTIZE] = true,
        [ROOF_OPERATOR_GEMM_SILU_MUL] = true,
        [ROOF_OPERATOR_ROPE_APPEND] = true,
    };
    if (kernel == ROOF_KERNEL_STATE && w->shape.query_len > 1) {
        return true; /* no fit saw several tokens */
    }
    switch ((int)w->op) {
    case ROOF_OPERATOR_SSD:
        return kernel != ROOF_KERNEL_SSD_PREFILL;
    case ROOF_OPERATOR_SPARSE_MLA:
        return kernel != ROOF_KERNEL_SPARSE_MLA;
    case ROOF_OPERATOR_INDEX_TOP_K:
        return kernel != ROOF_KERNEL_TOP_K ||
               (double)w->shape.batch * (double)w->shape.query_len > TOP_K_QUERIES;
    default:
        return unmeasured[w->op];
    }
}

/* Returns true for norms of short rows that take longer than a launch: only long rows were
 * measured. */
static bool is_short(const struct roof_kernel_task *task, const struct roof_expected *expected)
{
    return task->own == ROOF_KERNEL_NORM && task->workload->shape.hidden < ROOF_ROW_ELEMENTS &&
           expected->limit != ROOF_KERNEL_LIMIT_LAUNCH;
}

/* Computes the time of a kernel with one fit, without its band; `near` is true if it is less
 * certain for every stack. */
static void expect_by_fit(struct roof_expected *out, const struct roof_kernel_task *task,
                          enum roof_kernel kernel, const struct roof_kernel_fit *fit)
{
    const struct roof_workload *const w = task->workload;
    const bool collective = roof_operator_row(w->op)->kind == ROOF_KIND_COLLECTIVE;
    *out = (struct roof_expected){.time_s = ROOF_UNKNOWN};
    struct roof_kernel_task plain;
    if (task->plain_peak < task->peak && fit->stack != ROOF_STACK_LLAMA_CPP) {
        plain = *task;
        plain.peak = plain.plain_peak;
        task = &plain;
    }
    (fit->plain ? roof_expect_plain : formulas[kernel])(out, task, fit->parameter);
    if (w->no_launch_overhead > 0) {
        out->launch_s = 0;
    }
    if (w->step_scale > 0) {
        out->time_s *= w->step_scale;
        out->launch_s *= w->step_scale;
    }
    /* A cold kernel takes at least the bound, and any kernel at least the time of its link; the
     * launch is added. */
    if (task->cold && out->time_s < task->bound) {
        out->time_s = task->bound;
        out->limit = collective                                      ? ROOF_KERNEL_LIMIT_NETWORK
                     : task->work->flops / task->peak >= task->bound ? ROOF_KERNEL_LIMIT_COMPUTE
                                                                     : ROOF_KERNEL_LIMIT_MEMORY;
    }
    if (out->launch_s > out->time_s) {
        out->limit = ROOF_KERNEL_LIMIT_LAUNCH;
    }
    /* All measured times of experts include their quantisation; those of products do not. */
    const bool other_quantize = fit->quantize != task->quantize &&
                                (task->quantize != ROOF_QUANTIZE_NONE || kernel == ROOF_KERNEL_MOE);
    out->otherwise = task->nodes > 1 || task->stands_in ||
                     (kernel != task->own && kernel == like(task->own)) || w->split_k > 0 ||
                     is_short(task, out) || fit->numerics != task->numerics || other_quantize;
    out->near = out->otherwise || roof_fit_is_lent(task->calibration, fit);
    out->time_s += out->launch_s;
    out->fit = fit;
}

/* The kernels that were tried for a pair of formats, by their fits. A stack tries at most two, and
 * llama.cpp also those of substitute formats. */
struct tries {
    size_t count;
    struct roof_expected kernel[2 * (size_t)ROOF_STACK_COUNT + COUNT(*stand_ins)];
};

/* Computes the time of a kernel with a fit, once. */
static const struct roof_expected *try_fit(struct tries *tries, const struct roof_kernel_task *task,
                                           enum roof_kernel kernel,
                                           const struct roof_kernel_fit *fit)
{
    for (size_t i = 0; i < tries->count; i++) {
        if (tries->kernel[i].fit == fit) {
            return &tries->kernel[i];
        }
    }
    struct roof_expected *const out = &tries->kernel[tries->count++];
    expect_by_fit(out, task, kernel, fit);
    return out;
}

/* Computes the time of a kernel of one stack for a pair of formats; NULL if the stack has none. If
 * the wanted way to quantise the input was not measured, the kernel without quantisation is used.
 */
static const struct roof_expected *try_stack(struct tries *tries,
                                             const struct roof_kernel_task *task,
                                             enum roof_kernel kernel, enum roof_stack stack,
                                             enum roof_numerics numerics)
{
    const int attempts = task->quantize == ROOF_QUANTIZE_NONE ? 1 : 2;
    for (int attempt = 0; attempt < attempts; attempt++) {
        const enum roof_quantize quantize = attempt == 0 ? task->quantize : ROOF_QUANTIZE_NONE;
        const struct roof_kernel_fit *const fit =
            roof_calibration_find_for(task->calibration, kernel, stack, numerics, quantize,
                                      task->workload->formats.weights, &task->workload->shape);
        const struct roof_expected *const tried =
            fit == NULL ? NULL : try_fit(tries, task, kernel, fit);
        if (tried != NULL && !isnan(tried->time_s)) {
            return tried;
        }
    }
    return NULL;
}

/* Tells whether an operator reads weights or a cache in a format of GGUF: only kernels of llama.cpp
 * were measured with these. */
static bool reads_gguf(const struct roof_workload *w)
{
    const bool table = w->op == ROOF_OPERATOR_EMBEDDING;
    return ((roof_has_weights(w->op) || table) && roof_precision_gguf(w->formats.weights)) ||
           (roof_operator_row(w->op)->other == ROOF_ROLE_KV && roof_precision_gguf(w->formats.kv));
}

/* Tells whether llama.cpp runs the formats of an operator. */
static bool runs_in_llama_cpp(const struct roof_kernel_task *task)
{
    return task->numerics == ROOF_NUMERICS_16BIT || task->numerics == ROOF_NUMERICS_32BIT ||
           task->numerics == ROOF_NUMERICS_MX4A16 || reads_gguf(task->workload);
}

/* Computes the time of a kernel of llama.cpp; its kernels for substitute formats are preferred to
 * those of other stacks for the very formats. */
static const struct roof_expected *
try_local(struct tries *tries, const struct roof_kernel_task *task, enum roof_kernel kernel)
{
    const struct roof_expected *one = NULL;
    for (const enum roof_numerics *n = stand_ins[task->numerics];
         one == NULL && *n != ROOF_NUMERICS_COUNT; n++) {
        one = try_stack(tries, task, kernel, ROOF_STACK_LLAMA_CPP, *n);
    }
    return one;
}

/* Tells whether the device has a fit of its own for the kernel of llama.cpp. */
static bool has_own_local(const struct roof_kernel_task *task, enum roof_kernel kernel)
{
    const struct roof_kernel_fit *fit = NULL;
    for (const enum roof_numerics *n = stand_ins[task->numerics];
         fit == NULL && *n != ROOF_NUMERICS_COUNT; n++) {
        fit = roof_calibration_find_for(task->calibration, kernel, ROOF_STACK_LLAMA_CPP, *n,
                                        ROOF_QUANTIZE_NONE, task->workload->formats.weights,
                                        &task->workload->shape);
    }
    return fit != NULL && !roof_fit_is_lent(task->calibration, fit);
}

/* Chooses the fastest of all stacks for a pair of formats. A kernel of llama.cpp is one of them if
 * the device has a fit of its own for it; a borrowed one only serves if no other stack has a
 * kernel. second_s is the time of the next fastest kernel, or 0; that of llama.cpp, which was
 * fitted to whole passes, is none. */
static const struct roof_expected *try_all(struct tries *tries, const struct roof_kernel_task *task,
                                           enum roof_kernel kernel, enum roof_numerics numerics,
                                           double *second_s)
{
    const struct roof_expected *fastest = NULL;
    *second_s = 0;
    const unsigned stacks = roof_calibration_stacks(task->calibration, kernel, numerics);
    for (int stack = ROOF_STACK_BEST + 1; stack < ROOF_STACK_COUNT && stacks >> stack != 0;
         stack++) {
        const bool local = stack == ROOF_STACK_LLAMA_CPP;
        if ((stacks >> stack & 1) == 0 ||
            (local &&
             (!runs_in_llama_cpp(task) || (fastest != NULL && !has_own_local(task, kernel))))) {
            continue;
        }
        const struct roof_expected *const one =
            local ? try_local(tries, task, kernel)
                  : try_stack(tries, task, kernel, (enum roof_stack)stack, numerics);
        if (one == NULL || one == fastest) {
            continue;
        }
        if (fastest == NULL || one->time_s < fastest->time_s) {
            *second_s = fastest == NULL ? 0 : fastest->time_s;
            fastest = one;
        } else if (!local) {
            *second_s = *second_s > 0 ? fmin(*second_s, one->time_s) : one->time_s;
        }
    }
    return fastest != NULL ? fastest
                           : try_stack(tries, task, kernel, ROOF_STACK_LLAMA_CPP, numerics);
}

/* Computes the time of a kernel for one stack: its kernel for these formats, else the fastest one
 * of other stacks for them; NULL if there is none. For formats of GGUF, every stack has the kernels
 * of llama.cpp first. A borrowed fit of llama.cpp is no reason to expect a shorter time than that
 * of the other stacks, if need be with substitute formats. */
static const struct roof_expected *try_asked(struct tries *tries,
                                             const struct roof_kernel_task *task,
                                             enum roof_kernel kernel, enum roof_stack stack,
                                             enum roof_numerics numerics, double *second_s)
{
    const bool gguf = reads_gguf(task->workload);
    const bool local = stack == ROOF_STACK_LLAMA_CPP && runs_in_llama_cpp(task);
    const struct roof_expected *const one =
        gguf || local ? try_local(tries, task, kernel)
        : stack == ROOF_STACK_BEST || stack == ROOF_STACK_LLAMA_CPP
            ? NULL
            : try_stack(tries, task, kernel, stack, numerics);
    *second_s = 0;
    if (one != NULL && (gguf || !local || !roof_fit_is_lent(task->calibration, one->fit))) {
        return one;
    }
    const struct roof_expected *const fastest = try_all(tries, task, kernel, numerics, second_s);
    return one == NULL || fastest == NULL || fastest->time_s > one->time_s ? fastest : one;
}

/*
 * For each requested stack it uses the stack's kernel for these formats, else the fastest kernel of
 * other stacks for them, and only then tries the substitute formats. So `best` is never slower than
 * a named stack: either the named stack has a kernel, of which `best` is the minimum, or both use
 * the same one.
 */
static void expect_asked(struct roof_expected out[ROOF_STACK_COUNT],
                         const struct roof_kernel_task *task, enum roof_kernel kernel,
                         const struct roof_stacks *asked)
{
    struct tries tries; /* not cleared: that would take as long as a kernel */
    size_t found = 0;
    for (size_t i = 0; i < asked->count; i++) {
        out[i].time_s = ROOF_UNKNOWN;
    }
    for (const enum roof_numerics *numerics = stand_ins[task->numerics];
         found == 0 && *numerics != ROOF_NUMERICS_COUNT; numerics++) {
        tries.count = 0;
        for (size_t i = 0; i < asked->count; i++) {
            double second = 0;
            const struct roof_expected *const one =
                try_asked(&tries, task, kernel, asked->stack[i], *numerics, &second);
            if (one != NULL) {
                out[i] = *one;
                roof_kernel_set_band(&out[i], task, asked->stack[i], second);
                found++;
            }
        }
    }
}

bool roof_kernel_is_vector(enum roof_kernel kernel)
{
    return formulas[kernel] == roof_expect_vector;
}

/* Returns the kernel for one token that a kernel for several takes at least as long as; COUNT:
 * there is none. */
static enum roof_kernel of_one_token(enum roof_kernel kernel)
{
    return kernel == ROOF_KERNEL_PREFILL || kernel == ROOF_KERNEL_ENCODER ? ROOF_KERNEL_DECODE
           : kernel == ROOF_KERNEL_CONV_PREFILL                           ? ROOF_KERNEL_CONV
           : formulas[kernel] == roof_expect_scan                         ? ROOF_KERNEL_STATE
           : kernel == ROOF_KERNEL_SPARSE_MLA                             ? ROOF_KERNEL_MLA_DECODE
           : kernel == ROOF_KERNEL_COMPRESSED_PREFILL                     ? ROOF_KERNEL_COMPRESSED
                                                                          : ROOF_KERNEL_COUNT;
}

/* Raises the times of a kernel to those of the kernel for one token. That is attention of one query
 * to the same cache or to chosen keys, or one token of each sequence through a convolution or a
 * state. */
static void raise_to(struct roof_expected out[ROOF_STACK_COUNT], enum roof_kernel least,
                     const struct roof_kernel_task *task, const struct roof_stacks *asked)
{
    struct roof_expected one[ROOF_STACK_COUNT];
    struct roof_workload workload = *task->workload;
    struct roof_work work = *task->work;
    struct roof_kernel_task single = *task;
    if (least != ROOF_KERNEL_DECODE) {
        workload.shape.query_len = 1;
        roof_operator_work(&work, &workload, NULL);
    }
    single.own = roof_kernel_of(&workload);
    single.stands_in = stands_in(&workload, single.own);
    single.kernel = least;
    single.workload = &workload;
    single.work = &work;
    expect_asked(one, &single, least, asked);
    for (size_t i = 0; i < asked->count; i++) {
        if (one[i].time_s > out[i].time_s) {
            out[i] = one[i];
        }
    }
}

/* Tells whether a sequence has several tokens, but fewer than the prompts for which kernels of
 * prompts were fitted. */
static bool has_few_tokens(const struct roof_workload *w)
{
    return w->shape.query_len > 1 && w->shape.query_len < ROOF_PROMPT_QUERIES;
}

/* Makes the shortest prompt for which kernels were fitted. */
static void lengthen(struct roof_workload *out, struct roof_work *work,
                     const struct roof_workload *prompt)
{
    *out = *prompt;
    out->shape.query_len = ROOF_PROMPT_QUERIES;
    if (out->shape.kv_len > 0 && out->shape.kv_len < ROOF_PROMPT_QUERIES) {
        out->shape.kv_len = ROOF_PROMPT_QUERIES;
    }
    roof_operator_work(work, out, NULL);
}

/* Lowers the times of a few tokens to those of the shortest prompt, which has more tokens. */
static void lower_to(struct roof_expected out[ROOF_STACK_COUNT],
                     const struct roof_expected prompt[ROOF_STACK_COUNT],
                     const struct roof_stacks *asked)
{
    for (size_t i = 0; i < asked->count; i++) {
        if (prompt[i].time_s < out[i].time_s) {
            out[i] = prompt[i];
        }
    }
}

struct roof_widening roof_kernel_widening(const struct roof_expected *expected,
                                          const struct roof_workload *workload,
                                          const struct roof_hardware *hardware)
{
    const struct roof_doubts doubts = {.otherwise = expected->otherwise,
                                       .lent = roof_kernel_is_lent(hardware, expected->fit),
                                       .uneven = roof_fit_is_uneven(expected->fit, workload),
                                       .numerics = roof_workload_numerics(workload),
                                       .nodes = roof_kernel_nodes(workload, hardware)};
    return roof_fit_widening(expected->fit, &doubts);
}

bool roof_kernel_is_lent(const struct roof_hardware *hardware, const struct roof_kernel_fit *fit)
{
    return roof_fit_is_lent(hardware->calibration, fit);
}

void roof_kernel_expect(struct roof_expected *out, const struct roof_workload *workload,
                        const struct roof_hardware *hardware, const struct roof_work *work,
                        double rate, double bound_s)
{
    const struct roof_stacks asked = {.count = 1, .stack = {(enum roof_stack)workload->stack}};
    roof_kernel_expect_in(out, &asked, workload, hardware, work, rate, bound_s);
}

/* Estimates a workload without regard to short prompts. */
static void expect_in(struct roof_expected out[ROOF_STACK_COUNT], const struct roof_stacks *asked,
                      const struct roof_workload *workload, const struct roof_hardware *hardware,
                      const struct roof_work *work, double rate, double bound_s)
{
    for (size_t i = 0; i < asked->count; i++) {
        out[i] = (struct roof_expected){.time_s = ROOF_UNKNOWN};
    }
    if (hardware->calibration == NULL || workload->sparse > 0 ||
        roof_power_capped(hardware)) { /* no kernel was measured with pruned weights or a cap */
        return;
    }
    const enum roof_kernel own = roof_kernel_of(workload);
    const enum roof_kernel kernel = measured_like(hardware->calibration, own);
    const bool quantized =
        roof_precision_bits(workload->formats.activations) < 16 &&
        (kernel == ROOF_KERNEL_GEMM || kernel == ROOF_KERNEL_BMM || kernel == ROOF_KERNEL_MOE);
    const double latency = hardware->figure[ROOF_FIGURE_NETWORK_LATENCY].value;
    struct roof_product product;
    product.known = false; /* the rest is not cleared: that would take its time */
    const struct roof_kernel_task task = {
        .product = &product,
        .nodes = roof_kernel_nodes(workload, hardware),
        .hop = isnan(latency) ? HOP_S : latency,
        .mesh = !isnan(hardware->figure[ROOF_FIGURE_PEER_LINK].value),
        .own = own,
        .stands_in = stands_in(workload, own),
        .kernel = kernel,
        .workload = workload,
        .work = work,
        .peak = rate,
        .plain_peak = roof_plain_rate(workload, hardware, rate),
        .bound = bound_s,
        .bandwidth = hardware->figure[ROOF_FIGURE_BANDWIDTH].value,
        .sms = hardware->figure[ROOF_FIGURE_SM_COUNT].value,
        .clock = hardware->figure[ROOF_FIGURE_BOOST_CLOCK].value,
        .l2 = hardware->figure[ROOF_FIGURE_L2].value,
        .last_cache = roof_hardware_last_cache(hardware),
        .calibration = hardware->calibration,
        .quantize = quantized ? (enum roof_quantize)workload->quantize_input : ROOF_QUANTIZE_NONE,
        .cold = roof_operator_row(workload->op)->kind == ROOF_KIND_COLLECTIVE ||
                (workload->working_set == 0 && workload->cache == ROOF_CACHE_COLD),
        .numerics = kernel == ROOF_KERNEL_COUNT ? ROOF_NUMERICS_COUNT : numerics_in(workload, own),
    };
    if (fmax(roof_kernel_members(workload), (double)workload->shape.within) >
            COLLECTIVE_DEVICES_MAX ||
        task.numerics == ROOF_NUMERICS_COUNT ||
        (isnan(task.peak) && !roof_kernel_is_vector(kernel)) || isnan(task.sms) ||
        isnan(task.clock) || (isnan(task.l2) && !task.calibration->local)) {
        return;
    }
    expect_asked(out, &task, kernel, asked);
    if (of_one_token(kernel) != ROOF_KERNEL_COUNT) {
        raise_to(out, of_one_token(kernel), &task, asked);
    }
}

void roof_kernel_expect_in(struct roof_expected out[ROOF_STACK_COUNT],
                           const struct roof_stacks *asked, const struct roof_workload *workload,
                           const struct roof_hardware *hardware, const struct roof_work *work,
                           double rate, double bound_s)
{
    struct roof_workload longer;
    struct roof_work more;
    if (has_few_tokens(workload) && workload->tokens == ROOF_TOKENS_PROMPT) {
        /* Kernels of a state work on whole chunks, so shorter prompts take as long. */
        lengthen(&longer, &more, workload);
        expect_in(out, asked, &longer, hardware, &more, rate, bound_s);
        return;
    }
    expect_in(out, asked, workload, hardware, work, rate, bound_s);
    if (has_few_tokens(workload) && workload->tokens == ROOF_TOKENS_BY_NUMBER &&
        workload->op == ROOF_OPERATOR_COMPRESSED_ATTENTION) {
        struct roof_expected prompt[ROOF_STACK_COUNT];
        lengthen(&longer, &more, workload);
        expect_in(prompt, asked, &longer, hardware, &more, rate, bound_s);
        lower_to(out, prompt, asked);
    }
}
