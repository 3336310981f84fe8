// SPDX-License-Identifier: MIT
/**
 * Workloads: one operator, its shape, the formats of its tensors, and how its kernel runs.
 *
 *     struct roof_workload workload = ROOF_WORKLOAD_INIT;
 *     struct roof_error error;
 *     workload.op = ROOF_OPERATOR_FLASH_ATTENTION;
 *     workload.shape.batch = 16;
 *     workload.shape.heads = 32;
 *     workload.shape.kv_heads = 8;
 *     workload.shape.head_dim = 128;
 *     workload.shape.kv_len = 8192;
 *     workload.formats.precision = ROOF_PRECISION_BF16;
 *     if (roof_workload_resolve(&workload, &error) != ROOF_OK) {
 *         puts(error.message);
 *     }
 *
 * Sizes are elements, tokens or devices as docs/formulas.md has them for each operator, from 1 to
 * 10^12; 0 and ROOF_PRECISION_AUTO mean that the default is taken, as for a key that is not given.
 * Workloads are plain data of the caller. All functions may run in any number of threads, and none
 * allocates.
 */
#ifndef ROOFLINE_WORKLOAD_H
#define ROOFLINE_WORKLOAD_H

#include <stdint.h>

#include "roofline/device.h"
#include "roofline/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The operators. Append only. */
enum roof_operator {
    ROOF_OPERATOR_GEMM,
    ROOF_OPERATOR_GEMV,
    ROOF_OPERATOR_BMM,
    ROOF_OPERATOR_ATTENTION_SCORES,
    ROOF_OPERATOR_ATTENTION_VALUES,
    ROOF_OPERATOR_SOFTMAX,
    ROOF_OPERATOR_ATTENTION,
    ROOF_OPERATOR_FLASH_ATTENTION,
    ROOF_OPERATOR_MLA_DECODE,
    ROOF_OPERATOR_MLA_PREFILL,
    ROOF_OPERATOR_RMSNORM,
    ROOF_OPERATOR_LAYERNORM,
    ROOF_OPERATOR_ADD,
    ROOF_OPERATOR_SILU_MUL,
    ROOF_OPERATOR_GELU,
    ROOF_OPERATOR_QUANTIZE,
    ROOF_OPERATOR_ROPE,
    ROOF_OPERATOR_KV_APPEND,
    ROOF_OPERATOR_EMBEDDING,
    ROOF_OPERATOR_MOE,
    ROOF_OPERATOR_ROUTER,
    ROOF_OPERATOR_ALL_REDUCE,
    ROOF_OPERATOR_ALL_GATHER,
    ROOF_OPERATOR_REDUCE_SCATTER,
    ROOF_OPERATOR_ALL_TO_ALL,
    ROOF_OPERATOR_SEND,
    ROOF_OPERATOR_MOE_GATE_UP,
    ROOF_OPERATOR_MOE_DOWN,
    ROOF_OPERATOR_INDEX_SCORES,
    ROOF_OPERATOR_INDEX_TOP_K,
    ROOF_OPERATOR_SPARSE_MLA,
    ROOF_OPERATOR_SHORT_CONV,
    ROOF_OPERATOR_GATED_DELTA,
    ROOF_OPERATOR_KIMI_DELTA,
    ROOF_OPERATOR_SSD,
    ROOF_OPERATOR_ADD_RMSNORM,
    ROOF_OPERATOR_ADD_LAYERNORM,
    ROOF_OPERATOR_RMSNORM_QUANTIZE,
    ROOF_OPERATOR_ADD_RMSNORM_QUANTIZE,
    ROOF_OPERATOR_SILU_MUL_QUANTIZE,
    ROOF_OPERATOR_GEMM_SILU_MUL,
    ROOF_OPERATOR_ROPE_APPEND,
    ROOF_OPERATOR_CONV2D,
    ROOF_OPERATOR_CONV3D,
    ROOF_OPERATOR_GROUPNORM,
    ROOF_OPERATOR_COUNT
};

/**
 * The dimensions of all operators, which stand here alone: X(constant, field and key, option,
 * letter or 0, values, workloads that take it (enum roof_taker), help). The fields of struct
 * roof_shape, enum roof_dimension and the rows of roof_dimensions are made from this list, in its
 * order.
 */
#define ROOF_DIMENSIONS(X)                                                                         \
    X(M, m, "m", 'm', SIZE, OPERATORS, "rows of the output (tokens)")                              \
    X(N, n, "n", 'n', SIZE, OPERATORS, "columns of the output (output features)")                  \
    X(K, k, "k", 'k', SIZE, OPERATORS, "summed dimension (input features)")                        \
    X(BATCH, batch, "batch", 0, SIZE, ALL,                                                         \
      "independent products, or sequences of a model (default 1)")                                 \
    X(HEADS, heads, "heads", 0, SIZE, OPERATORS, "query heads")                                    \
    X(KV_HEADS, kv_heads, "kv-heads", 0, SIZE, OPERATORS,                                          \
      "key and value heads (default: --heads)")                                                    \
    X(HEAD_DIM, head_dim, "head-dim", 0, SIZE, OPERATORS, "elements per head")                     \
    X(QUERY_LEN, query_len, "query-len", 0, SIZE, OPERATORS, "query tokens (default 1: decode)")   \
    X(KV_LEN, kv_len, "kv-len", 0, SIZE, OPERATORS, "key and value tokens, the new ones included") \
    X(CAUSAL, causal, "causal", 0, FLAG, OPERATORS, "mask keys behind a query's own position")     \
    X(WINDOW, window, "window", 0, SIZE_OR_0, OPERATORS,                                           \
      "sliding window: keys per query at most (default 0: all)")                                   \
    X(KV_LORA_RANK, kv_lora_rank, "kv-lora-rank", 0, SIZE, OPERATORS,                              \
      "elements of the MLA latent (default 512)")                                                  \
    X(QK_NOPE_HEAD_DIM, qk_nope_head_dim, "qk-nope-head-dim", 0, SIZE, OPERATORS,                  \
      "elements of Q and K without RoPE (default 128)")                                            \
    X(QK_ROPE_HEAD_DIM, qk_rope_head_dim, "qk-rope-head-dim", 0, SIZE, OPERATORS,                  \
      "elements of Q and K with RoPE (default 64; of rope-append: --head-dim)")                    \
    X(V_HEAD_DIM, v_head_dim, "v-head-dim", 0, SIZE, OPERATORS, "elements of V (default 128)")     \
    X(TOKENS, tokens, "tokens", 0, SIZE, OPERATORS, "tokens (rows)")                               \
    X(HIDDEN, hidden, "hidden", 0, SIZE, OPERATORS, "elements per token (of the output)")          \
    X(GAIN, gain, "gain", 0, FLAG, OPERATORS,                                                      \
      "count the read of the norm's gain (and bias) vector as weights")                            \
    X(INTERMEDIATE, intermediate, "intermediate", 0, SIZE, OPERATORS,                              \
      "intermediate size of an expert")                                                            \
    X(EXPERTS, experts, "experts", 0, SIZE, OPERATORS, "routed experts")                           \
    X(TOP_K, top_k, "top-k", 0, SIZE, OPERATORS, "experts per token")                              \
    X(ROUTING, routing, "routing", 0, ROUTING, ALL,                                                \
      "distribution of tokens over experts (default uniform: at random)")                          \
    X(EP, ep, "ep", 0, SIZE, ALL,                                                                  \
      "expert-parallel size (default 1); of a model short for attention-dp and moe-ep")            \
    X(ELEMENTS, elements, "elements", 0, SIZE, OPERATORS,                                          \
      "elements of the whole tensor (all-to-all: per device)")                                     \
    X(DEVICES, devices, "devices", 0, SIZE, OPERATORS, "devices in the group")                     \
    X(WITHIN, within, "within", 0, SIZE, OPERATORS,                                                \
      "consecutive devices that the group lies within (default: the group)")                       \
    X(ALGORITHM, algorithm, "algorithm", 0, ALGORITHM, OPERATORS,                                  \
      "algorithm of the collective (default ring)")                                                \
    X(SELECTED, selected, "selected", 0, SIZE, OPERATORS,                                          \
      "keys that each query attends to at most (default 2048)")                                    \
    X(TAPS, taps, "taps", 0, SIZE, OPERATORS,                                                      \
      "positions that a convolution spans (default 4 tokens; conv2d 9, conv3d 27)")                \
    X(STATE_SIZE, state_size, "state-size", 0, SIZE, OPERATORS,                                    \
      "elements of the state per element of a head (default 128)")                                 \
    X(SCAN_CHUNK, scan_chunk, "scan-chunk", 0, SIZE, OPERATORS,                                    \
      "tokens that pass through a state at once (default 64)")                                     \
    X(SUBSAMPLE, subsample, "subsample", 0, SIZE, OPERATORS,                                       \
      "input positions per output position (default 1; stride 2: 4, in 3D 8)")

/** All dimensions of all operators; one struct, so that a sweep can address each by its offset. 0
 * means not given, and for flags and choices the default. */
struct roof_shape {
#define ROOF_SHAPE_FIELD(name, field, ...) int64_t field;
    ROOF_DIMENSIONS(ROOF_SHAPE_FIELD)
#undef ROOF_SHAPE_FIELD
    int64_t bias; /**< flag: bias vectors are added; set by models, not an input */
};

/** How tokens meet experts. */
enum roof_routing { ROOF_ROUTING_UNIFORM, ROOF_ROUTING_BALANCED };
/** How a collective sends. */
enum roof_algorithm { ROOF_ALGORITHM_RING, ROOF_ALGORITHM_ONE_SHOT };

/** Formats as given; ROOF_PRECISION_AUTO where the default rule is to decide. */
struct roof_formats {
    enum roof_precision precision; /**< weights and activations at once */
    enum roof_precision weights;
    enum roof_precision activations;
    enum roof_precision kv;
    enum roof_precision out;
    enum roof_precision compute;
};
#define ROOF_FORMATS_AUTO                                                                          \
    {                                                                                              \
        ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO,        \
            ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO                                               \
    }

/** The serving stack whose kernels run. ROOF_STACK_BEST is the fastest of them for the shape. */
enum roof_stack {
    ROOF_STACK_BEST,
    ROOF_STACK_TRTLLM,
    ROOF_STACK_VLLM,
    ROOF_STACK_SGLANG,
    ROOF_STACK_COUNT
};
/** The state of the cache when a kernel begins: without or with its data. */
enum roof_cache { ROOF_CACHE_COLD, ROOF_CACHE_WARM };
/** The way in which the input of a quantised product is quantised inside its expected time. */
enum roof_quantize {
    ROOF_QUANTIZE_NONE,
    ROOF_QUANTIZE_STATIC,
    ROOF_QUANTIZE_DYNAMIC,
    ROOF_QUANTIZE_BLOCK,
    ROOF_QUANTIZE_COUNT
};

/** One operator to predict. Start with ROOF_WORKLOAD_INIT. */
struct roof_workload {
    enum roof_operator op;
    struct roof_shape shape;
    struct roof_formats formats;
    int64_t sparse; /**< flag: two of four weights are pruned. They are stored compressed, and
                         multiplied at the peaks with 2:4 structured sparsity */
    /* The members below matter to the expected time only. */
    int64_t stack;              /**< enum roof_stack */
    int64_t cache;              /**< enum roof_cache */
    int64_t quantize_input;     /**< enum roof_quantize */
    int64_t working_set;        /**< bytes touched between two uses of the same data; 0: by cache */
    int64_t no_launch_overhead; /**< flag */
    double step_scale;          /**< expected times are multiplied by it; 0 counts as 1 */
};
#define ROOF_WORKLOAD_INIT                                                                         \
    {                                                                                              \
        .formats = ROOF_FORMATS_AUTO, .step_scale = 1                                              \
    }

/** The roles of the tensors that an operator touches. */
enum roof_role {
    ROOF_ROLE_WEIGHTS,
    ROOF_ROLE_ACTIVATIONS,
    ROOF_ROLE_OUT,
    ROOF_ROLE_KV,
    ROOF_ROLE_COUNT
};

/** The most parts that an operator has. */
#define ROOF_OPERATOR_PARTS_MAX 3

/** The work of one operator that is not a composite. */
struct roof_work {
    double flops;                  /**< 2 per multiply-add */
    double bytes[ROOF_ROLE_COUNT]; /**< between the device's memory and its caches */
    double network_bytes;          /**< sent per device and direction; NAN: not a collective */
    double network_steps;          /**< messages one after another; 0: not a collective */
};

/** Finds an operator by its name ("flash-attention"). An unknown name is ROOF_USAGE, and the
 * message suggests at most three names. */
enum roof_status roof_operator_find(enum roof_operator *out, const char *name,
                                    struct roof_error *error);
/** Names an operator as roof_operator_find takes it; NULL for a number that is none. */
const char *roof_operator_name(enum roof_operator op);

/**
 * Fills in every default of a workload in place and checks it: dimensions in range and consistent,
 * formats by the rules of docs/formulas.md ("Formats"). The workload is unchanged on failure.
 */
enum roof_status roof_workload_resolve(struct roof_workload *workload, struct roof_error *error);

#ifdef __cplusplus
}
#endif

#endif
