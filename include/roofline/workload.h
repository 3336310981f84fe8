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
 * Sizes are elements, tokens or devices, as in docs/formulas.md for each operator, from 1 to
 * 10^12; 0 and ROOF_PRECISION_AUTO mean the default, as for a key that is not given.
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
    ROOF_OPERATOR_LIGHTNING,
    ROOF_OPERATOR_SELECTIVE_SCAN,
    ROOF_OPERATOR_MOE_UNGATED,
    ROOF_OPERATOR_MOE_UP,
    ROOF_OPERATOR_COMPRESSED_ATTENTION,
    ROOF_OPERATOR_HYPER_COLLAPSE,
    ROOF_OPERATOR_HYPER_EXPAND,
    ROOF_OPERATOR_BLOCK_SCORES,
    ROOF_OPERATOR_DEPTH_MIX,
    ROOF_OPERATOR_NSA,
    ROOF_OPERATOR_COUNT
};

/**
 * The dimensions of all operators: X(constant, field). The fields of struct roof_shape are made
 * from this list, in its order. The values that each takes are those of the input table (`roofline
 * OPERATOR --help`).
 */
#define ROOF_DIMENSIONS(X)                                                                         \
    X(M, m)                                                                                        \
    X(N, n)                                                                                        \
    X(K, k)                                                                                        \
    X(BATCH, batch)                                                                                \
    X(HEADS, heads)                                                                                \
    X(KV_HEADS, kv_heads)                                                                          \
    X(HEAD_DIM, head_dim)                                                                          \
    X(QUERY_LEN, query_len)                                                                        \
    X(KV_LEN, kv_len)                                                                              \
    X(CAUSAL, causal)                                                                              \
    X(WINDOW, window)                                                                              \
    X(KV_LORA_RANK, kv_lora_rank)                                                                  \
    X(QK_NOPE_HEAD_DIM, qk_nope_head_dim)                                                          \
    X(QK_ROPE_HEAD_DIM, qk_rope_head_dim)                                                          \
    X(V_HEAD_DIM, v_head_dim)                                                                      \
    X(TOKENS, tokens)                                                                              \
    X(HIDDEN, hidden)                                                                              \
    X(GAIN, gain)                                                                                  \
    X(INTERMEDIATE, intermediate)                                                                  \
    X(EXPERTS, experts)                                                                            \
    X(TOP_K, top_k)                                                                                \
    X(ROUTING, routing)                                                                            \
    X(EP, ep)                                                                                      \
    X(ELEMENTS, elements)                                                                          \
    X(DEVICES, devices)                                                                            \
    X(WITHIN, within)                                                                              \
    X(ALGORITHM, algorithm)                                                                        \
    X(SELECTED, selected)                                                                          \
    X(TAPS, taps)                                                                                  \
    X(STATE_SIZE, state_size)                                                                      \
    X(SCAN_CHUNK, scan_chunk)                                                                      \
    X(SUBSAMPLE, subsample)                                                                        \
    X(COMPRESSION, compression)                                                                    \
    X(STREAMS, streams)

/** All dimensions of all operators; one struct, so that a sweep can address each by its offset. 0
 * means not given, and for flags and choices the default. */
struct roof_shape {
#define ROOF_SHAPE_FIELD(name, field) int64_t field;
    ROOF_DIMENSIONS(ROOF_SHAPE_FIELD)
#undef ROOF_SHAPE_FIELD
    int64_t bias; /**< flag: bias vectors are added; set by models, not an input */
};

/** How tokens choose experts: at random, evenly, or the same ones for all tokens, as few as
 * possible. */
enum roof_routing { ROOF_ROUTING_UNIFORM, ROOF_ROUTING_BALANCED, ROOF_ROUTING_FEWEST };
/** How a collective sends. */
enum roof_algorithm { ROOF_ALGORITHM_RING, ROOF_ALGORITHM_ONE_SHOT };

/** Formats as given; ROOF_PRECISION_AUTO asks for the default rule. */
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

/** The serving stack whose kernels run. ROOF_STACK_BEST is the fastest of them for the shape.
 * llama.cpp is apart: its kernels are those of all stacks for weights and caches in GGUF formats.
 * For other formats BEST uses a borrowed fit of them only if no other stack has a kernel. */
enum roof_stack {
    ROOF_STACK_BEST,
    ROOF_STACK_TRTLLM,
    ROOF_STACK_VLLM,
    ROOF_STACK_SGLANG,
    ROOF_STACK_AITER,     /**< AMD's library, as its tuner chooses among its kernels */
    ROOF_STACK_LLAMA_CPP, /**< fitted to times of whole models */
    ROOF_STACK_COUNT
};
/** The state of the cache when a kernel begins: without or with its data. */
enum roof_cache { ROOF_CACHE_COLD, ROOF_CACHE_WARM };
/** The way in which the input of a quantised product is quantised, if its expected time includes
 * that. */
enum roof_quantize {
    ROOF_QUANTIZE_NONE,
    ROOF_QUANTIZE_STATIC,
    ROOF_QUANTIZE_DYNAMIC,
    ROOF_QUANTIZE_BLOCK,
    ROOF_QUANTIZE_COUNT
};
/** Whose new tokens go through a state, or attend to compressed keys. Engines have one kernel for
 * the tokens of a decode step (one of each sequence and its drafts) and another one for prompts. */
enum roof_tokens {
    ROOF_TOKENS_BY_NUMBER, /**< up to 15 of a sequence are of a decode step, more are a prompt's */
    ROOF_TOKENS_DECODE,    /**< all are of a decode step */
    ROOF_TOKENS_PROMPT,    /**< all are of a prompt; one token of a sequence counts as a decode step
                              all the same */
};

/** One operator to predict. Start with ROOF_WORKLOAD_INIT. */
struct roof_workload {
    enum roof_operator op;
    enum roof_tokens tokens; /**< whose they are; matters to the expected time only */
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
    int64_t split_k;            /**< parts that K of a product is cut into; 0: the fastest */
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
/** Names an operator as roof_operator_find takes it; NULL for a number that is not an operator. */
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
