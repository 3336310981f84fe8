// SPDX-License-Identifier: MIT
/* Workloads: defaults, checks, and the parts of composite operators. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/base.h"
#include "catalog/storage.h"
#include "operator/resolve.h"

/* --- sizes --------------------------------------------------------------------------------- */

/* Returns the value of a dimension that was not given; 0: it has no default. */
static int64_t dimension_default(enum roof_dimension dimension, enum roof_operator op,
                                 const struct roof_shape *shape)
{
    switch ((int)dimension) {
    case ROOF_DIM_BATCH:
    case ROOF_DIM_QUERY_LEN:
    case ROOF_DIM_EP:
    case ROOF_DIM_SUBSAMPLE:
        return 1;
    case ROOF_DIM_WITHIN:
        return shape->devices > 0 ? shape->devices : 2;
    case ROOF_DIM_KV_HEADS:
        return shape->heads;
    case ROOF_DIM_KV_LORA_RANK: /* the MLA sizes of DeepSeek-V2 and V3 */
        return 512;
    case ROOF_DIM_QK_NOPE_HEAD_DIM:
    case ROOF_DIM_V_HEAD_DIM:
        return 128;
    case ROOF_DIM_QK_ROPE_HEAD_DIM: /* of rope-append every element of a head */
        return shape->head_dim > 0 ? shape->head_dim : 64;
    case ROOF_DIM_SCAN_CHUNK: /* as in kernels of flash-linear-attention */
        return 64;
    case ROOF_DIM_SELECTED: /* as in DeepSeek-V3.2, and in the paper of NSA */
        return op == ROOF_OPERATOR_COMPRESSED_ATTENTION ? 0 : op == ROOF_OPERATOR_NSA ? 1024 : 2048;
    case ROOF_DIM_COMPRESSION: /* a block of MiniMax-M3, and of flash-linear-attention */
        return op == ROOF_OPERATOR_BLOCK_SCORES ? 128 : op == ROOF_OPERATOR_NSA ? 64 : 0;
    case ROOF_DIM_STREAMS: /* as in DeepSeek-V4 */
        return 4;
    case ROOF_DIM_TAPS: /* 3 x 3, 3 x 3 x 3 */
        return op == ROOF_OPERATOR_CONV2D ? 9 : op == ROOF_OPERATOR_CONV3D ? 27 : 4;
    case ROOF_DIM_STATE_SIZE: /* of Mamba-1 and Mamba-2 */
        return op == ROOF_OPERATOR_SELECTIVE_SCAN ? 16 : 128;
    default:
        return 0;
    }
}

/* Refuses a workload and names every required dimension that is not given. */
static enum roof_status missing_dimensions(const struct roof_workload *w, struct roof_error *error)
{
    const struct roof_operator_row *const row = roof_operator_row(w->op);
    const struct roof_input *missing[ROOF_OPERATOR_DIMS_MAX];
    char list[ROOF_OPERATOR_DIMS_MAX * (ROOF_INPUT_NAME_SIZE + 5)] = "";
    size_t used = 0;
    int count = 0;
    for (int i = 0; i < row->dim_count; i++) {
        const struct roof_input *const input = &roof_dimensions[row->dims[i]];
        if ((row->required >> row->dims[i] & 1U) != 0 && roof_input_get(w, input) == 0) {
            missing[count++] = input;
        }
    }
    for (int i = 0; i < count; i++) {
        char name[ROOF_INPUT_NAME_SIZE];
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0          ? ""
                                 : i < count - 1 ? ", "
                                                 : " and ",
                                 roof_input_marked(name, missing[i]));
    }
    return roof_error_set(error, ROOF_USAGE, "%s needs %s (see: roofline list operators %s)",
                          row->name, list, row->name);
}

/* Refuses dimensions that the operator does not have. */
static enum roof_status check_dimensions(const struct roof_workload *w, struct roof_error *error)
{
    const struct roof_operator_row *const row = roof_operator_row(w->op);
    const int64_t *const size = roof_sizes(&w->shape);
    int given = 0;
    int own = 0;
#pragma GCC unroll 8 /* every prediction counts them */
    for (int i = 0; i < ROOF_DIM_COUNT; i++) {
        given += size[i] != 0;
    }
    for (int i = 0; i < row->dim_count; i++) {
        own += size[row->dims[i]] != 0;
    }
    for (int i = 0; i < ROOF_DIM_COUNT && given != own; i++) {
        if (size[i] != 0) {
            TRY(roof_operator_takes(w->op, (enum roof_dimension)i, error));
        }
    }
    return ROOF_OK;
}

/* Checks that sizes are consistent; those that the operator does not have are 0. */
static enum roof_status check_pairs(const struct roof_workload *w, struct roof_error *error)
{
    const struct roof_shape *const shape = &w->shape;
    if (shape->kv_heads > 0 && shape->heads % shape->kv_heads != 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("heads") " %" PRId64 " must be a multiple of " ROOF_KEY(
                                  "kv_heads") " %" PRId64,
                              shape->heads, shape->kv_heads);
    }
    if (shape->head_dim > 0 && shape->qk_rope_head_dim > shape->head_dim) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("qk_rope_head_dim") " %" PRId64 " must be at most " ROOF_KEY(
                                  "head_dim") " %" PRId64,
                              shape->qk_rope_head_dim, shape->head_dim);
    }
    if (shape->causal > 0 && shape->query_len > shape->kv_len) {
        return roof_error_set(error, ROOF_USAGE,
                              "with " ROOF_KEY("causal") ", " ROOF_KEY(
                                  "query_len") " %" PRId64
                                               " must be at most " ROOF_KEY("kv_len") " %" PRId64,
                              shape->query_len, shape->kv_len);
    }
    if (shape->ep > 0 && shape->experts % shape->ep != 0) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("experts") " %" PRId64 " must be a multiple of " ROOF_KEY("ep") " %" PRId64,
            shape->experts, shape->ep);
    }
    if (shape->within < shape->devices) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("within") " %" PRId64 " must be at least " ROOF_KEY("devices") " %" PRId64,
            shape->within, shape->devices);
    }
    if (shape->top_k > shape->experts) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("top_k") " %" PRId64
                                                " must be at most " ROOF_KEY("experts") " %" PRId64,
                              shape->top_k, shape->experts);
    }
    return ROOF_OK;
}

enum roof_status roof_sizes_resolve(struct roof_workload *workload, struct roof_error *error)
{
    const struct roof_operator_row *const row = roof_operator_row(workload->op);
    int64_t *const size = (int64_t *)(void *)&workload->shape;
    for (int i = 0; i < row->dim_count; i++) {
        const enum roof_dimension dimension = row->dims[i];
        const struct roof_input *const input = &roof_dimensions[dimension];
        const int64_t value = size[dimension];
        if (value == 0 && input->min > 0) {
            if ((row->required >> dimension & 1U) != 0) {
                return missing_dimensions(workload, error);
            }
            size[dimension] = dimension_default(dimension, workload->op, &workload->shape);
        } else if (value < input->min || value > input->max) {
            char name[ROOF_INPUT_NAME_SIZE];
            return roof_error_set(error, ROOF_USAGE,
                                  "%s must be an integer from %" PRId64 " to %" PRId64
                                  ", not %" PRId64,
                                  roof_input_marked(name, input), input->min, input->max, value);
        }
    }
    return check_pairs(workload, error);
}

/* --- formats ------------------------------------------------------------------------------- */

static enum roof_precision given_or(enum roof_precision given, enum roof_precision otherwise)
{
    return given == ROOF_PRECISION_AUTO ? otherwise : given;
}

/* Returns the format that kernels write by default: the activations' format, or bf16 below 16 bits.
 */
static enum roof_precision at_least_16_bits(enum roof_precision activations)
{
    const struct roof_format *const format = roof_format(activations);
    return format->block_bytes >= 2 * format->block_elements ? activations : ROOF_PRECISION_BF16;
}

static enum roof_status check_formats(struct roof_workload *w, struct roof_error *error)
{
    struct roof_formats *const f = &w->formats;
    const enum roof_precision both = given_or(f->precision, ROOF_PRECISION_FP16);
    const bool quantizes = roof_operator_row(w->op)->quantizes;
    if (quantizes) { /* reads the result of the layer before, and writes FP8 */
        f->activations = f->precision == ROOF_PRECISION_AUTO
                             ? given_or(f->activations, ROOF_PRECISION_BF16)
                             : f->activations;
        f->out = given_or(f->out, ROOF_PRECISION_FP8_E4M3);
    }
    if (roof_operator_row(w->op)->stateful) { /* sums over a whole sequence are kept in fp32 */
        f->kv = given_or(f->kv, ROOF_PRECISION_FP32);
    }
    f->weights = given_or(f->weights, both);
    f->activations = given_or(f->activations, roof_format(both)->activations);
    f->out = given_or(f->out, at_least_16_bits(f->activations));
    f->kv = given_or(f->kv, at_least_16_bits(f->activations));
    if (roof_precision_weight_only(f->activations) ||
        (roof_precision_weight_only(f->out) && !quantizes)) {
        const bool input = roof_precision_weight_only(f->activations);
        return roof_error_set(error, ROOF_USAGE,
                              "%s stores weights only; %s takes " ROOF_TENSOR_FORMATS,
                              roof_format(input ? f->activations : f->out)->name,
                              input ? ROOF_KEY("activations") : ROOF_KEY("out"));
    }
    const enum roof_operator_kind kind = roof_operator_row(w->op)->kind;
    if (f->compute != ROOF_PRECISION_AUTO && roof_format(f->compute)->unit == ROOF_PRECISION_FP16 &&
        f->compute != ROOF_PRECISION_FP16) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("compute") ": no unit multiplies %s; it is converted to 16 bits",
            roof_format(f->compute)->name);
    }
    if (f->compute != ROOF_PRECISION_AUTO &&
        (kind == ROOF_KIND_VECTOR || kind == ROOF_KIND_COLLECTIVE)) {
        return roof_error_set(
            error, ROOF_USAGE,
            "%s does not take " ROOF_KEY("compute") ": it runs at the fp32 vector peak",
            roof_operator_row(w->op)->name);
    }
    return ROOF_OK;
}

/* Refuses to prune an operator without static weights, or with weights in a format without a pruned
 * form. */
static enum roof_status check_sparse(const struct roof_workload *w, struct roof_error *error)
{
    if (w->sparse == 0) {
        return ROOF_OK;
    }
    if (!roof_has_weights(w->op)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("sparse") " prunes the static weights of gemm, gemv, bmm "
                                                 "and moe, and %s has none",
                              roof_operator_row(w->op)->name);
    }
    return roof_precision_prunable(w->formats.weights)
               ? ROOF_OK
               : roof_error_set(
                     error, ROOF_USAGE,
                     ROOF_KEY("sparse") " prunes weights in bf16, fp16, the fp8 formats, "
                                        "int8 and int8_channel; those in %s stay dense",
                     roof_format(w->formats.weights)->name);
}

/* --- both ---------------------------------------------------------------------------------- */

/* Only products of two matrices are cut along K. */
static enum roof_status check_split_k(const struct roof_workload *w, struct roof_error *error)
{
    return w->split_k == 0 || roof_operator_has(w->op, ROOF_DIM_K)
               ? ROOF_OK
               : roof_error_set(
                     error, ROOF_USAGE,
                     ROOF_KEY("split_k") " is for products such as gemm, and %s has no K",
                     roof_operator_row(w->op)->name);
}

enum roof_status roof_resolve(struct roof_workload *workload, struct roof_error *error)
{
    TRY(check_dimensions(workload, error));
    TRY(roof_sizes_resolve(workload, error));
    TRY(check_formats(workload, error));
    TRY(check_split_k(workload, error));
    return check_sparse(workload, error);
}

enum roof_status roof_workload_resolve(struct roof_workload *workload, struct roof_error *error)
{
    struct roof_workload resolved = *workload;
    TRY(roof_resolve(&resolved, error));
    *workload = resolved;
    return ROOF_OK;
}

int roof_workload_parts(struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX],
                        const struct roof_workload *workload)
{
    const struct roof_operator_row *const row = roof_operator_row(workload->op);
    if (row->part_count == 0) {
        parts[0] = *workload;
        return 1;
    }
    for (int i = 0; i < row->part_count; i++) {
        parts[i] = *workload;
        parts[i].op = row->parts[i];
        if (roof_operator_row(parts[i].op)->kind == ROOF_KIND_VECTOR) {
            /* The softmax reads the result of the first product and writes the input of the second.
             */
            parts[i].formats.activations = workload->formats.out;
            parts[i].formats.out = workload->formats.activations;
        }
    }
    return row->part_count;
}

/* Gives one of the operators that are fused its sizes: those of the fused one if it has the same.
 */
static void size_apart(struct roof_shape *part, enum roof_operator op,
                       const struct roof_workload *fused)
{
    const struct roof_shape *const whole = &fused->shape;
    if (fused->op == ROOF_OPERATOR_GEMM_SILU_MUL && op == ROOF_OPERATOR_GEMM) {
        part->n = 2 * whole->n; /* gate and up */
        part->batch = 1;
    } else if (op == ROOF_OPERATOR_SILU_MUL && fused->op == ROOF_OPERATOR_GEMM_SILU_MUL) {
        part->tokens = whole->m;
        part->hidden = whole->n;
    } else if (op == ROOF_OPERATOR_ROPE) {
        part->head_dim = whole->qk_rope_head_dim;
    }
}

/*
 * Gives the operators that are fused their formats. The last one writes the output. The others
 * write the format of the residual, which norms and activations read; a product writes at least 16
 * bits, and RoPE the format that is then appended.
 */
static void format_apart(struct roof_formats *part, enum roof_operator op, bool last,
                         const struct roof_workload *fused)
{
    const struct roof_formats *const whole = &fused->formats;
    switch ((int)op) {
    case ROOF_OPERATOR_GEMM:
        part->out = at_least_16_bits(whole->out);
        break;
    case ROOF_OPERATOR_SILU_MUL:
        if (fused->op == ROOF_OPERATOR_GEMM_SILU_MUL) {
            part->activations = at_least_16_bits(whole->out);
        }
        part->out = last ? whole->out : part->activations;
        break;
    case ROOF_OPERATOR_SOFTMAX:
        part->activations = whole->out;
        part->out = whole->activations;
        break;
    case ROOF_OPERATOR_ADD:
    case ROOF_OPERATOR_RMSNORM:
    case ROOF_OPERATOR_LAYERNORM:
        part->out = last ? whole->out : whole->activations;
        break;
    case ROOF_OPERATOR_KV_APPEND:
        part->activations = whole->out;
        break;
    default:
        break;
    }
}

int roof_workload_apart(struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX],
                        const struct roof_workload *workload)
{
    const struct roof_operator_row *const row = roof_operator_row(workload->op);
    for (int i = 0; i < row->fuse_count; i++) {
        const enum roof_operator op = row->fuses[i];
        parts[i] = *workload;
        parts[i].op = op;
        size_apart(&parts[i].shape, op, workload);
        format_apart(&parts[i].formats, op, i + 1 == row->fuse_count, workload);
        if (!roof_has_weights(op)) {
            parts[i].sparse = 0;
        }
        parts[i].split_k = roof_operator_has(op, ROOF_DIM_K) ? workload->split_k : 0;
    }
    return row->fuse_count;
}
