// SPDX-License-Identifier: MIT
#include "operator/operator.h"

#include <assert.h>
#include <string.h>

#include "operator/formula.h"
#include "operator/resolve.h"

enum roof_precision roof_role_format(const struct roof_formats *formats, enum roof_role role)
{
    switch (role) {
    case ROOF_ROLE_WEIGHTS:
        return formats->weights;
    case ROOF_ROLE_ACTIVATIONS:
        return formats->activations;
    case ROOF_ROLE_OUT:
        return formats->out;
    case ROOF_ROLE_KV:
    case ROOF_ROLE_COUNT:
        break;
    }
    return formats->kv;
}

/* --- the table ----------------------------------------------------------------------------- */

#define D(name) ROOF_DIM_##name
static_assert(ROOF_DIM_COUNT < 64, "required is a set of 64 bits");
#define BIT(name) (UINT64_C(1) << ROOF_DIM_##name)
/* The bits of up to nine dimensions; an unused place has none. */
#define ONE(dimension) ((dimension) < ROOF_DIM_COUNT ? UINT64_C(1) << (dimension) : 0)
#define NONE ROOF_DIM_COUNT
#define BITS(a, b, c, d, e, f, g, h, i, ...)                                                       \
    (ONE(a) | ONE(b) | ONE(c) | ONE(d) | ONE(e) | ONE(f) | ONE(g) | ONE(h) | ONE(i))
#define DIMS(...)                                                                                  \
    .dims = {__VA_ARGS__}, .dim_count = (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)),   \
    .takes = BITS(__VA_ARGS__, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE)
#define ATTENTION_DIMS                                                                             \
    DIMS(D(BATCH), D(HEADS), D(KV_HEADS), D(HEAD_DIM), D(QUERY_LEN), D(KV_LEN), D(CAUSAL),         \
         D(WINDOW))
#define ATTENTION_REQUIRED .required = BIT(HEADS) | BIT(HEAD_DIM) | BIT(KV_LEN)
#define MLA_DIMS                                                                                   \
    DIMS(D(BATCH), D(HEADS), D(KV_LORA_RANK), D(QK_NOPE_HEAD_DIM), D(QK_ROPE_HEAD_DIM),            \
         D(V_HEAD_DIM), D(QUERY_LEN), D(KV_LEN), D(CAUSAL))
#define ROWS DIMS(D(TOKENS), D(HIDDEN)), .required = BIT(TOKENS) | BIT(HIDDEN)
#define NORM_ROWS DIMS(D(TOKENS), D(HIDDEN), D(GAIN)), .required = BIT(TOKENS) | BIT(HIDDEN)
#define GROUP                                                                                      \
    DIMS(D(ELEMENTS), D(DEVICES), D(WITHIN), D(ALGORITHM)), .required = BIT(ELEMENTS) | BIT(DEVICES)

#define CONV_DIMS                                                                                  \
    DIMS(D(BATCH), D(M), D(N), D(K), D(TAPS), D(SUBSAMPLE)), .required = BIT(M) | BIT(N) | BIT(K)

#define FUSES(...)                                                                                 \
    .fuses = {__VA_ARGS__}, .fuse_count = (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

#define EXPERT_DIMS                                                                                \
    DIMS(D(TOKENS), D(HIDDEN), D(INTERMEDIATE), D(EXPERTS), D(TOP_K), D(ROUTING), D(EP)),          \
        .required = BIT(TOKENS) | BIT(HIDDEN) | BIT(INTERMEDIATE) | BIT(EXPERTS) | BIT(TOP_K)

const struct roof_operator_row roof_operator_rows[ROOF_OPERATOR_COUNT] = {
    [ROOF_OPERATOR_GEMM] = {.name = "gemm",
                            .summary = "C = A B, the linear layer",
                            DIMS(D(M), D(N), D(K), D(BATCH)),
                            .required = BIT(M) | BIT(N) | BIT(K),
                            .formula = roof_formula_gemm},
    [ROOF_OPERATOR_GEMV] = {.name = "gemv",
                            .summary = "a gemm with one row, the linear layer of one token",
                            DIMS(D(N), D(K)),
                            .required = BIT(N) | BIT(K),
                            .formula = roof_formula_gemv},
    [ROOF_OPERATOR_BMM] = {.name = "bmm",
                           .summary = "batched gemm; A has the activations' role, B the weights'",
                           DIMS(D(BATCH), D(M), D(N), D(K)),
                           .required = BIT(BATCH) | BIT(M) | BIT(N) | BIT(K),
                           .formula = roof_formula_gemm},
    [ROOF_OPERATOR_ATTENTION_SCORES] = {.name = "attention-scores",
                                        .summary = "Q K^T, scores stored in full",
                                        ATTENTION_DIMS,
                                        ATTENTION_REQUIRED,
                                        .other = ROOF_ROLE_KV,
                                        .formula = roof_formula_attention_scores},
    [ROOF_OPERATOR_ATTENTION_VALUES] = {.name = "attention-values",
                                        .summary = "scores x V",
                                        ATTENTION_DIMS,
                                        ATTENTION_REQUIRED,
                                        .other = ROOF_ROLE_KV,
                                        .formula = roof_formula_attention_values},
    [ROOF_OPERATOR_SOFTMAX] = {.name = "softmax",
                               .summary = "softmax of stored scores",
                               .kind = ROOF_KIND_VECTOR,
                               ATTENTION_DIMS,
                               .required = BIT(HEADS) | BIT(KV_LEN),
                               .formula = roof_formula_softmax},
    [ROOF_OPERATOR_ATTENTION] = {.name = "attention",
                                 .summary = "scores, softmax and values, unfused",
                                 .kind = ROOF_KIND_COMPOSITE,
                                 ATTENTION_DIMS,
                                 ATTENTION_REQUIRED,
                                 .other = ROOF_ROLE_KV,
                                 .parts = {ROOF_OPERATOR_ATTENTION_SCORES, ROOF_OPERATOR_SOFTMAX,
                                           ROOF_OPERATOR_ATTENTION_VALUES},
                                 .part_count = 3},
    [ROOF_OPERATOR_FLASH_ATTENTION] = {.name = "flash-attention",
                                       .summary = "fused attention; scores stay on the chip",
                                       ATTENTION_DIMS,
                                       ATTENTION_REQUIRED,
                                       .other = ROOF_ROLE_KV,
                                       FUSES(ROOF_OPERATOR_ATTENTION_SCORES, ROOF_OPERATOR_SOFTMAX,
                                             ROOF_OPERATOR_ATTENTION_VALUES),
                                       .formula = roof_formula_flash_attention},
    [ROOF_OPERATOR_MLA_DECODE] = {.name = "mla-decode",
                                  .summary = "absorbed latent attention over the cached latent",
                                  MLA_DIMS,
                                  .required = BIT(HEADS) | BIT(KV_LEN),
                                  .other = ROOF_ROLE_KV,
                                  .formula = roof_formula_mla_decode},
    [ROOF_OPERATOR_MLA_PREFILL] = {.name = "mla-prefill",
                                   .summary = "latent attention with K and V expanded per head",
                                   MLA_DIMS,
                                   .required = BIT(HEADS) | BIT(QUERY_LEN) | BIT(KV_LEN),
                                   .other = ROOF_ROLE_KV,
                                   .formula = roof_formula_mla_prefill},
    [ROOF_OPERATOR_RMSNORM] = {.name = "rmsnorm",
                               .summary = "root-mean-square norm",
                               .kind = ROOF_KIND_VECTOR,
                               NORM_ROWS,
                               .formula = roof_formula_rmsnorm},
    [ROOF_OPERATOR_LAYERNORM] = {.name = "layernorm",
                                 .summary = "layer norm",
                                 .kind = ROOF_KIND_VECTOR,
                                 NORM_ROWS,
                                 .formula = roof_formula_layernorm},
    [ROOF_OPERATOR_ADD] = {.name = "add",
                           .summary = "residual addition",
                           .kind = ROOF_KIND_VECTOR,
                           ROWS,
                           .formula = roof_formula_add},
    [ROOF_OPERATOR_SILU_MUL] = {.name = "silu-mul",
                                .summary = "silu(gate) * up of a gated MLP",
                                .kind = ROOF_KIND_VECTOR,
                                ROWS,
                                .formula = roof_formula_silu_mul},
    [ROOF_OPERATOR_GELU] = {.name = "gelu",
                            .summary = "GELU activation",
                            .kind = ROOF_KIND_VECTOR,
                            ROWS,
                            .formula = roof_formula_gelu},
    [ROOF_OPERATOR_QUANTIZE] = {.name = "quantize",
                                .summary = "from -a (default bf16) to --out (default fp8_e4m3)",
                                .kind = ROOF_KIND_VECTOR,
                                ROWS,
                                .quantizes = true,
                                .formula = roof_formula_quantize},
    [ROOF_OPERATOR_ROPE] = {.name = "rope",
                            .summary = "rotary position embedding of Q and K",
                            .kind = ROOF_KIND_VECTOR,
                            DIMS(D(TOKENS), D(HEADS), D(KV_HEADS), D(HEAD_DIM)),
                            .required = BIT(TOKENS) | BIT(HEADS) | BIT(HEAD_DIM),
                            .formula = roof_formula_rope},
    [ROOF_OPERATOR_KV_APPEND] = {.name = "kv-append",
                                 .summary = "new K and V into the cache",
                                 .kind = ROOF_KIND_VECTOR,
                                 DIMS(D(TOKENS), D(HEADS), D(KV_HEADS), D(HEAD_DIM)),
                                 .required = BIT(TOKENS) | BIT(KV_HEADS) | BIT(HEAD_DIM),
                                 .other = ROOF_ROLE_KV,
                                 .formula = roof_formula_kv_append},
    [ROOF_OPERATOR_EMBEDDING] = {.name = "embedding",
                                 .summary = "look-up of one row per token",
                                 .kind = ROOF_KIND_VECTOR,
                                 ROWS,
                                 .formula = roof_formula_embedding},
    [ROOF_OPERATOR_MOE] = {.name = "moe",
                           .summary = "routed experts of a gated MLP",
                           EXPERT_DIMS,
                           .formula = roof_formula_moe},
    [ROOF_OPERATOR_MOE_GATE_UP] = {.name = "moe-gate-up",
                                   .summary = "the gate and up products of routed experts",
                                   EXPERT_DIMS,
                                   .formula = roof_formula_moe_gate_up},
    [ROOF_OPERATOR_MOE_DOWN] = {.name = "moe-down",
                                .summary = "the down product of routed experts",
                                EXPERT_DIMS,
                                .formula = roof_formula_moe_down},
    [ROOF_OPERATOR_MOE_UNGATED] = {.name = "moe-ungated",
                                   .summary = "routed experts of an MLP without a gate",
                                   EXPERT_DIMS,
                                   .formula = roof_formula_moe_ungated},
    [ROOF_OPERATOR_MOE_UP] = {.name = "moe-up",
                              .summary = "the up product of routed experts without a gate",
                              EXPERT_DIMS,
                              .formula = roof_formula_moe_up},
    [ROOF_OPERATOR_ROUTER] = {.name = "router",
                              .summary = "top-k softmax over the experts",
                              .kind = ROOF_KIND_VECTOR,
                              DIMS(D(TOKENS), D(EXPERTS), D(TOP_K)),
                              .required = BIT(TOKENS) | BIT(EXPERTS) | BIT(TOP_K),
                              .formula = roof_formula_router},
    [ROOF_OPERATOR_ALL_REDUCE] = {.name = "all-reduce",
                                  .summary = "sum over the devices, to every device",
                                  .kind = ROOF_KIND_COLLECTIVE,
                                  GROUP,
                                  .formula = roof_formula_all_reduce},
    [ROOF_OPERATOR_ALL_GATHER] = {.name = "all-gather",
                                  .summary = "every device's share, to every device",
                                  .kind = ROOF_KIND_COLLECTIVE,
                                  GROUP,
                                  .formula = roof_formula_all_gather},
    [ROOF_OPERATOR_REDUCE_SCATTER] = {.name = "reduce-scatter",
                                      .summary = "sum over the devices, a share to each",
                                      .kind = ROOF_KIND_COLLECTIVE,
                                      GROUP,
                                      .formula = roof_formula_reduce_scatter},
    [ROOF_OPERATOR_ALL_TO_ALL] = {.name = "all-to-all",
                                  .summary = "a share of each device's elements to each other",
                                  .kind = ROOF_KIND_COLLECTIVE,
                                  GROUP,
                                  .formula = roof_formula_all_to_all},
    [ROOF_OPERATOR_SEND] = {.name = "send",
                            .summary = "a tensor from one device to another",
                            .kind = ROOF_KIND_COLLECTIVE,
                            DIMS(D(ELEMENTS), D(WITHIN)),
                            .required = BIT(ELEMENTS),
                            .formula = roof_formula_send},
    [ROOF_OPERATOR_INDEX_SCORES] = {.name = "index-scores",
                                    .summary = "scores by which an indexer chooses keys",
                                    DIMS(D(BATCH), D(HEADS), D(HEAD_DIM), D(QUERY_LEN), D(KV_LEN),
                                         D(CAUSAL)),
                                    .required = BIT(HEADS) | BIT(HEAD_DIM) | BIT(KV_LEN),
                                    .other = ROOF_ROLE_KV,
                                    .formula = roof_formula_index_scores},
    [ROOF_OPERATOR_BLOCK_SCORES] = {.name = "block-scores",
                                    .summary = "scores by which an indexer chooses blocks of keys",
                                    DIMS(D(BATCH), D(HEADS), D(HEAD_DIM), D(QUERY_LEN), D(KV_LEN),
                                         D(CAUSAL), D(COMPRESSION)),
                                    .required = BIT(HEADS) | BIT(HEAD_DIM) | BIT(KV_LEN),
                                    .other = ROOF_ROLE_KV,
                                    .formula = roof_formula_block_scores},
    [ROOF_OPERATOR_INDEX_TOP_K] = {.name = "index-top-k",
                                   .summary = "the keys with the highest scores",
                                   .kind = ROOF_KIND_VECTOR,
                                   DIMS(D(BATCH), D(QUERY_LEN), D(KV_LEN), D(SELECTED)),
                                   .required = BIT(KV_LEN),
                                   .formula = roof_formula_index_top_k},
    [ROOF_OPERATOR_SPARSE_MLA] = {.name = "sparse-mla",
                                  .summary = "absorbed latent attention over chosen keys",
                                  DIMS(D(BATCH), D(HEADS), D(KV_LORA_RANK), D(QK_ROPE_HEAD_DIM),
                                       D(QUERY_LEN), D(KV_LEN), D(CAUSAL), D(SELECTED)),
                                  .required = BIT(HEADS) | BIT(KV_LEN),
                                  .other = ROOF_ROLE_KV,
                                  .formula = roof_formula_sparse_mla},
    [ROOF_OPERATOR_COMPRESSED_ATTENTION] =
        {.name = "compressed-attention",
         .summary = "attention over a window and compressed keys (keys are values)",
         DIMS(D(BATCH), D(HEADS), D(HEAD_DIM), D(QUERY_LEN), D(KV_LEN), D(WINDOW), D(COMPRESSION),
              D(SELECTED)),
         .required = BIT(HEADS) | BIT(HEAD_DIM) | BIT(KV_LEN),
         .other = ROOF_ROLE_KV,
         .formula = roof_formula_compressed_attention},
    [ROOF_OPERATOR_NSA] = {.name = "nsa",
                           .summary = "native sparse attention: compressed, chosen and last keys",
                           DIMS(D(BATCH), D(HEADS), D(KV_HEADS), D(HEAD_DIM), D(QUERY_LEN),
                                D(KV_LEN), D(WINDOW), D(COMPRESSION), D(SELECTED)),
                           .required = BIT(HEADS) | BIT(HEAD_DIM) | BIT(KV_LEN),
                           .other = ROOF_ROLE_KV,
                           .formula = roof_formula_nsa},
    [ROOF_OPERATOR_HYPER_COLLAPSE] = {.name = "hyper-collapse",
                                      .summary = "weighted sum of the streams of the residual",
                                      DIMS(D(TOKENS), D(HIDDEN), D(STREAMS)),
                                      .required = BIT(TOKENS) | BIT(HIDDEN),
                                      .formula = roof_formula_hyper_collapse},
    [ROOF_OPERATOR_HYPER_EXPAND] = {.name = "hyper-expand",
                                    .summary = "mix the residual streams and add a result",
                                    .kind = ROOF_KIND_VECTOR,
                                    DIMS(D(TOKENS), D(HIDDEN), D(STREAMS)),
                                    .required = BIT(TOKENS) | BIT(HIDDEN),
                                    .formula = roof_formula_hyper_expand},
    [ROOF_OPERATOR_DEPTH_MIX] = {.name = "depth-mix",
                                 .summary =
                                     "attention over the outputs of earlier blocks of layers",
                                 .kind = ROOF_KIND_VECTOR,
                                 DIMS(D(TOKENS), D(HIDDEN), D(STREAMS)),
                                 .required = BIT(TOKENS) | BIT(HIDDEN),
                                 .formula = roof_formula_depth_mix},
    [ROOF_OPERATOR_SHORT_CONV] = {.name = "short-conv",
                                  .summary = "causal convolution of each channel over a few tokens",
                                  .kind = ROOF_KIND_VECTOR,
                                  DIMS(D(BATCH), D(QUERY_LEN), D(HIDDEN), D(TAPS)),
                                  .required = BIT(HIDDEN),
                                  .formula = roof_formula_short_conv},
    [ROOF_OPERATOR_GATED_DELTA] = {.name = "gated-delta",
                                   .summary = "gated delta rule, a state per head",
                                   DIMS(D(BATCH), D(HEADS), D(KV_HEADS), D(HEAD_DIM), D(V_HEAD_DIM),
                                        D(QUERY_LEN), D(SCAN_CHUNK)),
                                   .required = BIT(HEADS) | BIT(HEAD_DIM),
                                   .other = ROOF_ROLE_ACTIVATIONS,
                                   .stateful = true,
                                   .formula = roof_formula_gated_delta},
    [ROOF_OPERATOR_KIMI_DELTA] = {.name = "kimi-delta",
                                  .summary = "delta rule with a gate for each element of a key",
                                  DIMS(D(BATCH), D(HEADS), D(HEAD_DIM), D(V_HEAD_DIM), D(QUERY_LEN),
                                       D(SCAN_CHUNK)),
                                  .required = BIT(HEADS) | BIT(HEAD_DIM),
                                  .other = ROOF_ROLE_ACTIVATIONS,
                                  .stateful = true,
                                  .formula = roof_formula_kimi_delta},
    [ROOF_OPERATOR_SSD] = {.name = "ssd",
                           .summary = "state-space layer of Mamba-2, a state per head",
                           DIMS(D(BATCH), D(HEADS), D(KV_HEADS), D(HEAD_DIM), D(STATE_SIZE),
                                D(QUERY_LEN), D(SCAN_CHUNK)),
                           .required = BIT(HEADS) | BIT(HEAD_DIM),
                           .other = ROOF_ROLE_ACTIVATIONS,
                           .stateful = true,
                           .formula = roof_formula_ssd},
    [ROOF_OPERATOR_ADD_RMSNORM] = {.name = "add-rmsnorm",
                                   .summary = "residual addition and norm of the sum, fused",
                                   .kind = ROOF_KIND_VECTOR,
                                   NORM_ROWS,
                                   FUSES(ROOF_OPERATOR_ADD, ROOF_OPERATOR_RMSNORM),
                                   .formula = roof_formula_add_rmsnorm},
    [ROOF_OPERATOR_ADD_LAYERNORM] = {.name = "add-layernorm",
                                     .summary = "residual addition and layer norm, fused",
                                     .kind = ROOF_KIND_VECTOR,
                                     NORM_ROWS,
                                     FUSES(ROOF_OPERATOR_ADD, ROOF_OPERATOR_LAYERNORM),
                                     .formula = roof_formula_add_layernorm},
    [ROOF_OPERATOR_RMSNORM_QUANTIZE] = {.name = "rmsnorm-quantize",
                                        .summary = "norm that writes quantised, fused",
                                        .kind = ROOF_KIND_VECTOR,
                                        NORM_ROWS,
                                        FUSES(ROOF_OPERATOR_RMSNORM, ROOF_OPERATOR_QUANTIZE),
                                        .quantizes = true,
                                        .formula = roof_formula_rmsnorm_quantize},
    [ROOF_OPERATOR_ADD_RMSNORM_QUANTIZE] = {.name = "add-rmsnorm-quantize",
                                            .summary = "addition, norm and quantisation, fused",
                                            .kind = ROOF_KIND_VECTOR,
                                            NORM_ROWS,
                                            FUSES(ROOF_OPERATOR_ADD, ROOF_OPERATOR_RMSNORM,
                                                  ROOF_OPERATOR_QUANTIZE),
                                            .quantizes = true,
                                            .formula = roof_formula_add_rmsnorm_quantize},
    [ROOF_OPERATOR_SILU_MUL_QUANTIZE] = {.name = "silu-mul-quantize",
                                         .summary = "silu(gate) * up, written quantised, fused",
                                         .kind = ROOF_KIND_VECTOR,
                                         ROWS,
                                         FUSES(ROOF_OPERATOR_SILU_MUL, ROOF_OPERATOR_QUANTIZE),
                                         .quantizes = true,
                                         .formula = roof_formula_silu_mul_quantize},
    [ROOF_OPERATOR_GEMM_SILU_MUL] = {.name = "gemm-silu-mul",
                                     .summary = "gate and up products with silu-mul, fused",
                                     DIMS(D(M), D(N), D(K)),
                                     .required = BIT(M) | BIT(N) | BIT(K),
                                     FUSES(ROOF_OPERATOR_GEMM, ROOF_OPERATOR_SILU_MUL),
                                     .formula = roof_formula_gemm_silu_mul},
    [ROOF_OPERATOR_ROPE_APPEND] = {.name = "rope-append",
                                   .summary = "rotary embedding, K and V into the cache, fused",
                                   .kind = ROOF_KIND_VECTOR,
                                   DIMS(D(TOKENS), D(HEADS), D(KV_HEADS), D(HEAD_DIM),
                                        D(QK_ROPE_HEAD_DIM)),
                                   .required = BIT(TOKENS) | BIT(HEADS) | BIT(HEAD_DIM),
                                   .other = ROOF_ROLE_KV,
                                   FUSES(ROOF_OPERATOR_ROPE, ROOF_OPERATOR_KV_APPEND),
                                   .formula = roof_formula_rope_append},
    [ROOF_OPERATOR_CONV2D] = {.name = "conv2d",
                              .summary =
                                  "convolution to m pixels of n channels, from k (implicit GEMM)",
                              CONV_DIMS,
                              .formula = roof_formula_conv},
    [ROOF_OPERATOR_CONV3D] = {.name = "conv3d",
                              .summary =
                                  "convolution to m voxels of n channels, from k (implicit GEMM)",
                              CONV_DIMS,
                              .formula = roof_formula_conv},
    [ROOF_OPERATOR_GROUPNORM] = {.name = "groupnorm",
                                 .summary = "norm over groups of channels and all positions",
                                 .kind = ROOF_KIND_VECTOR,
                                 NORM_ROWS,
                                 .formula = roof_formula_layernorm},
    [ROOF_OPERATOR_LIGHTNING] = {.name = "lightning",
                                 .summary = "linear attention with a decay and state per head",
                                 DIMS(D(BATCH), D(HEADS), D(HEAD_DIM), D(V_HEAD_DIM), D(QUERY_LEN),
                                      D(SCAN_CHUNK)),
                                 .required = BIT(HEADS) | BIT(HEAD_DIM),
                                 .other = ROOF_ROLE_ACTIVATIONS,
                                 .stateful = true,
                                 .formula = roof_formula_lightning},
    [ROOF_OPERATOR_SELECTIVE_SCAN] = {.name = "selective-scan",
                                      .summary = "Mamba-1 scan with a state per channel",
                                      .kind = ROOF_KIND_VECTOR,
                                      DIMS(D(BATCH), D(QUERY_LEN), D(HIDDEN), D(STATE_SIZE)),
                                      .required = BIT(HIDDEN),
                                      .stateful = true,
                                      .formula = roof_formula_selective_scan},
};

const char *roof_operator_name(enum roof_operator op)
{
    return (int)op < 0 || op >= ROOF_OPERATOR_COUNT ? NULL : roof_operator_row(op)->name;
}

enum roof_status roof_operator_find(enum roof_operator *out, const char *name,
                                    struct roof_error *error)
{
    const char *names[ROOF_OPERATOR_COUNT];
    for (int i = 0; i < ROOF_OPERATOR_COUNT; i++) {
        names[i] = roof_operator_rows[i].name;
        if (strcmp(name, names[i]) == 0) {
            *out = (enum roof_operator)i;
            return ROOF_OK;
        }
    }
    const enum roof_status status =
        roof_unknown_name(error, ROOF_USAGE, "operator", name, names, ROOF_OPERATOR_COUNT);
    roof_error_append(error, " (all: roofline list operators)");
    return status;
}

bool roof_is_product(enum roof_operator op)
{
    return roof_operator_rows[op].kind == ROOF_KIND_MATRIX ||
           roof_operator_rows[op].kind == ROOF_KIND_COMPOSITE;
}

bool roof_has_weights(enum roof_operator op)
{
    return roof_operator_rows[op].kind == ROOF_KIND_MATRIX &&
           roof_operator_rows[op].other == ROOF_ROLE_WEIGHTS;
}

enum roof_status roof_operator_takes(enum roof_operator op, enum roof_dimension dimension,
                                     struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    return roof_operator_has(op, dimension)
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE, "%s does not take %s",
                                roof_operator_rows[op].name,
                                roof_input_marked(name, &roof_dimensions[dimension]));
}

/* Looks up how the format of each role stores its elements; the workload is resolved. */
static void fill_storage(struct roof_storage out[ROOF_ROLE_COUNT],
                         const struct roof_workload *workload)
{
    const struct roof_formats *const f = &workload->formats;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        out[role] = roof_storage_of(roof_format(roof_role_format(f, (enum roof_role)role)));
    }
    if (workload->sparse > 0) {
        out[ROOF_ROLE_WEIGHTS] = roof_storage_pruned(roof_format(f->weights));
    }
}

void roof_operator_work(struct roof_work *out, const struct roof_workload *workload,
                        const struct roof_steps *trace)
{
    const struct roof_operator_row *const row = roof_operator_row(workload->op);
    const int64_t *const size = roof_sizes(&workload->shape);
    struct roof_storage storage[ROOF_ROLE_COUNT];
    /* Formulas may read dimensions that their operator does not have. */
    double dimension[ROOF_DIM_COUNT] = {0};
    fill_storage(storage, workload);
    for (int i = 0; i < row->dim_count; i++) {
        dimension[row->dims[i]] = (double)size[row->dims[i]];
    }
    *out = (struct roof_work){.network_bytes = ROOF_UNKNOWN};
    row->formula(&(struct roof_formula){dimension, storage, workload->shape.bias > 0, out, trace});
}
