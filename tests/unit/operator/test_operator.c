// SPDX-License-Identifier: MIT
/*
 * Operators: FLOPs and bytes by role, defaults, refusals, and the formulas that a trace hands out.
 * Comments that begin with "Mistake:" name an error that other calculators make and that the test
 * would catch.
 */
#include "support.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define EXACT 0
#define TIGHT 1e-12 /* where expm1 or a division rounds */

/* -p, -w, -a, --kv, --out */
#define FORMATS(p, w, a, kv, out)                                                                  \
    {                                                                                              \
        ROOF_PRECISION_##p, ROOF_PRECISION_##w, ROOF_PRECISION_##a, ROOF_PRECISION_##kv,           \
            ROOF_PRECISION_##out, ROOF_PRECISION_AUTO                                              \
    }
#define FP16 FORMATS(AUTO, AUTO, AUTO, AUTO, AUTO)
#define BOTH(p) FORMATS(p, AUTO, AUTO, AUTO, AUTO)
/* The format with a scale per channel or token, and the one with a scale per tensor, everywhere. */
#define CHANNELS FORMATS(INT8_CHANNEL, AUTO, INT8_CHANNEL, INT8_CHANNEL, INT8_CHANNEL)
#define TENSORS FORMATS(NVFP4, AUTO, NVFP4, NVFP4, NVFP4)
#define NONE (-1.0) /* no collective: the network bytes are unknown */

static struct roof_workload resolved(struct roof_workload w)
{
    struct roof_error error = {0};
    if (roof_workload_resolve(&w, &error) != ROOF_OK) {
        fail_msg("%s: %s", roof_operator_row(w.op)->name, error.message);
    }
    return w;
}

static struct roof_work work_of(struct roof_workload w)
{
    struct roof_work work;
    w = resolved(w);
    roof_operator_work(&work, &w, NULL);
    return work;
}

static double all_bytes(const struct roof_work *work)
{
    double sum = 0;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        sum += work->bytes[role];
    }
    return sum;
}

/* --- random shapes ------------------------------------------------------------------------- */

/* Every dimension of the operator from 1 to high (flags and choices 0 or 1), consistent. */
static struct roof_shape random_shape(enum roof_operator op, int64_t high)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    for (int d = 0; d < ROOF_DIM_COUNT; d++) {
        const struct roof_input *const input = &roof_dimensions[d];
        if (roof_operator_has(op, (enum roof_dimension)d)) {
            roof_input_put(&w, input,
                           input->kind == ROOF_INPUT_INTEGER ? pick(1, high) : pick(0, input->max));
        }
    }
    struct roof_shape *const s = &w.shape;
    if (s->kv_heads > 0) {
        s->heads = s->kv_heads * pick(1, 8);
    }
    if (roof_operator_has(op, ROOF_DIM_WINDOW) && pick(0, 2) == 0) {
        s->window = 0;
    }
    if (s->causal > 0) {
        s->kv_len += s->query_len;
    }
    if (s->top_k > 0) {
        s->experts += s->top_k;
    }
    if (s->ep > 0) {
        s->experts *= s->ep;
    }
    if (s->within > 0) {
        s->within += s->devices;
    }
    if (s->qk_rope_head_dim > 0 && s->head_dim > 0) {
        s->head_dim += s->qk_rope_head_dim;
    }
    return w.shape;
}

/* --- hand-derived vectors ------------------------------------------------------------------ */

/*
 * FLOPs, then bytes of weights, activations, out, kv, then network bytes. fp16 has 2 bytes per
 * element, fp8 and int8 1, int4 1/2; mxfp4 17 per 32; nvfp4 9 per 16 and 4 per tensor; int8_channel
 * 1 and 4 per output channel or token. Below 16 bits the output is bf16.
 */
#define ROW(op_, formats_, flops_, weights_, activations_, out_, kv_, network_, ...)               \
    {                                                                                              \
        ROOF_OPERATOR_##op_, {__VA_ARGS__}, formats_, flops_, weights_, activations_, out_, kv_,   \
            network_                                                                               \
    }
/* Q of 192 elements for 6 tokens, 120 scores in 24 rows, K and V of 160 for 20 tokens and heads. */
#define PREFILL .batch = 2, .heads = 4, .kv_heads = 2, .head_dim = 8, .query_len = 3, .kv_len = 5
static const struct {
    enum roof_operator op;
    struct roof_shape shape;
    struct roof_formats formats;
    double flops, weights, activations, out, kv, network;
} vectors[] = {
    /* C[2,3] = A[2,4] B[4,3], five times: 24 multiply-adds each. Mistake: a MAC as one FLOP. */
    ROW(GEMM, FP16, 5 * 24 * 2, 5 * 12 * 2, 5 * 8 * 2, 5 * 6 * 2, 0, NONE, .m = 2, .n = 3, .k = 4,
        .batch = 5),
    /* W4A16. Mistake: one width for all tensors, activations at half a byte. */
    ROW(GEMM, FORMATS(AUTO, INT4, FP16, AUTO, AUTO), 1024, 64, 64 * 2, 32 * 2, 0, NONE, .m = 4,
        .n = 8, .k = 16),
    /* Mistake: the output of an FP8 product at one byte. */
    ROW(GEMM, BOTH(FP8_E4M3), 48, 12, 8, 6 * 2, 0, NONE, .m = 2, .n = 3, .k = 4),
    ROW(GEMM, FORMATS(FP8_E4M3, AUTO, AUTO, AUTO, FP8_E4M3), 48, 12, 8, 6, 0, NONE, .m = 2, .n = 3,
        .k = 4),
    /* Mistake: scale bytes forgotten. 8 blocks of 9 and 4; 4 blocks of 9 and 4. */
    ROW(GEMM, BOTH(NVFP4), 1024, 8 * 9 + 4, 4 * 9 + 4, 32 * 2, 0, NONE, .m = 4, .n = 8, .k = 16),
    /* The tensor's scale is counted once for all products of a batch: 2 x 8 x 9 + 4. */
    ROW(GEMM, FORMATS(NVFP4, AUTO, AUTO, AUTO, NVFP4), 2048, 2 * 8 * 9 + 4, 2 * 4 * 9 + 4,
        2 * 2 * 9 + 4, 0, NONE, .m = 4, .n = 8, .k = 16, .batch = 2),
    /* 8 and 4 blocks of 17. */
    ROW(GEMM, BOTH(MXFP4), 2048, 8 * 17, 4 * 17, 32 * 2, 0, NONE, .m = 4, .n = 8, .k = 32),
    /* 4 bytes for each of 2 x 8 output channels, and for each of 2 x 4 tokens. */
    ROW(GEMM, BOTH(INT8_CHANNEL), 2048, 2 * 128 + 16 * 4, 2 * 64 + 8 * 4, 2 * 32 * 2, 0, NONE,
        .m = 4, .n = 8, .k = 16, .batch = 2),
    ROW(GEMM, FORMATS(AUTO, AUTO, AUTO, AUTO, INT8_CHANNEL), 2048, 2 * 128 * 2, 2 * 64 * 2,
        2 * 32 + 8 * 4, 0, NONE, .m = 4, .n = 8, .k = 16, .batch = 2),

    ROW(GEMV, FP16, 256, 128 * 2, 16 * 2, 8 * 2, 0, NONE, .n = 8, .k = 16),
    ROW(GEMV, FORMATS(INT4, AUTO, FP16, AUTO, AUTO), 256, 64, 32, 16, 0, NONE, .n = 8, .k = 16),
    ROW(GEMV, BOTH(INT8_CHANNEL), 256, 128 + 8 * 4, 16 + 4, 8 * 2, 0, NONE, .n = 8, .k = 16),

    ROW(BMM, FP16, 2 * 2 * 60, 2 * 20 * 2, 2 * 15 * 2, 2 * 12 * 2, 0, NONE, .batch = 2, .m = 3,
        .n = 4, .k = 5),
    ROW(BMM, FORMATS(FP8_E4M3, AUTO, AUTO, AUTO, FP8_E4M3), 2 * 2 * 60, 40, 30, 24, 0, NONE,
        .batch = 2, .m = 3, .n = 4, .k = 5),

    /* 3 queries and 5 keys are 15 pairs of 8 multiply-adds for each of 2 x 4 heads; K has 2 heads.
     * Mistakes: KV by query heads; the batch forgotten in the KV cache. */
    ROW(ATTENTION_SCORES, FP16, 2 * 8 * 15 * 8, 0, 2 * 3 * 4 * 8 * 2, 2 * 4 * 15 * 2,
        2 * 5 * 2 * 8 * 2, NONE, .batch = 2, .heads = 4, .kv_heads = 2, .head_dim = 8,
        .query_len = 3, .kv_len = 5),
    /* Causal: the queries see 3, 4 and 5 keys, 12 pairs. The scores are stored in full. */
    ROW(ATTENTION_SCORES, FORMATS(AUTO, AUTO, FP16, INT8_CHANNEL, AUTO), 2 * 8 * 12 * 8, 0,
        2 * 3 * 4 * 8 * 2, 2 * 4 * 15 * 2, 2 * 5 * 2 * 8 + 2 * 5 * 2 * 4, NONE, .batch = 2,
        .heads = 4, .kv_heads = 2, .head_dim = 8, .query_len = 3, .kv_len = 5, .causal = 1),

    ROW(ATTENTION_VALUES, FP16, 2 * 8 * 15 * 8, 0, 2 * 4 * 15 * 2, 2 * 3 * 4 * 8 * 2,
        2 * 5 * 2 * 8 * 2, NONE, .batch = 2, .heads = 4, .kv_heads = 2, .head_dim = 8,
        .query_len = 3, .kv_len = 5),
    /* V of 8 tokens with one head of 16 elements: 8 blocks of 9 and 4. */
    ROW(ATTENTION_VALUES, FORMATS(AUTO, AUTO, FP16, NVFP4, AUTO), 2 * 2 * 8 * 16, 0, 2 * 8 * 2,
        2 * 16 * 2, 8 * 9 + 4, NONE, .heads = 2, .kv_heads = 1, .head_dim = 16, .kv_len = 8),

    /* 5 per score that is not masked; all are read and written. */
    ROW(SOFTMAX, FP16, 5 * 8 * 12, 0, 8 * 15 * 2, 8 * 15 * 2, 0, NONE, .batch = 2, .heads = 4,
        .query_len = 3, .kv_len = 5, .causal = 1),
    ROW(SOFTMAX, FORMATS(AUTO, AUTO, FP16, AUTO, FP8_E4M3), 5 * 16, 0, 32, 16, 0, NONE, .heads = 2,
        .kv_len = 8),

    /* Both products: 4 FLOPs per pair and element. K and V. Mistake: scores written by the fused
     * kernel; what it writes is 3 queries of 4 x 8 elements. */
    ROW(FLASH_ATTENTION, FP16, 4 * 8 * 15 * 8, 0, 2 * 3 * 4 * 8 * 2, 2 * 3 * 4 * 8 * 2,
        2 * 2 * 5 * 2 * 8 * 2, NONE, .batch = 2, .heads = 4, .kv_heads = 2, .head_dim = 8,
        .query_len = 3, .kv_len = 5),
    /* 320 elements of K and V are 20 blocks of 9, and two tensors' scales. */
    ROW(FLASH_ATTENTION, FORMATS(AUTO, AUTO, FP16, NVFP4, AUTO), 4 * 8 * 15 * 8, 0, 384, 384,
        20 * 9 + 2 * 4, NONE, .batch = 2, .heads = 4, .kv_heads = 2, .head_dim = 8, .query_len = 3,
        .kv_len = 5),
    /* Mistake: the sliding window ignored. One query of a window of 10 reads 10 of 100 keys. */
    ROW(FLASH_ATTENTION, FP16, 4 * 10 * 8, 0, 16, 16, 2 * 10 * 8 * 2, NONE, .heads = 1,
        .head_dim = 8, .kv_len = 100, .causal = 1, .window = 10),

    /* 2 x 4 heads, 10 keys: 24 multiply-adds for the score, 16 for the value. The latent is shared
     * by the heads, and read once for both. */
    ROW(MLA_DECODE, FP16, 2 * 8 * 10 * (24 + 16), 0, 2 * 4 * 24 * 2, 2 * 4 * 16 * 2,
        2 * 10 * 24 * 2, NONE, .batch = 2, .heads = 4, .kv_lora_rank = 16, .qk_rope_head_dim = 8,
        .kv_len = 10),
    ROW(MLA_DECODE, FORMATS(AUTO, AUTO, FP16, INT8_CHANNEL, AUTO), 2 * 8 * 10 * (24 + 16), 0, 384,
        256, 2 * 10 * 24 + 2 * 10 * 4, NONE, .batch = 2, .heads = 4, .kv_lora_rank = 16,
        .qk_rope_head_dim = 8, .kv_len = 10),

    /* 3 causal queries are 6 pairs; K has 4 + 2 elements per head, V 6. */
    ROW(MLA_PREFILL, FP16, 2 * 2 * 6 * (6 + 6), 0, 3 * 2 * 6 * 2, 3 * 2 * 6 * 2, 3 * 2 * 12 * 2,
        NONE, .heads = 2, .qk_nope_head_dim = 4, .qk_rope_head_dim = 2, .v_head_dim = 6,
        .query_len = 3, .kv_len = 3, .causal = 1),
    ROW(MLA_PREFILL, FORMATS(AUTO, AUTO, FP16, INT8_CHANNEL, AUTO), 2 * 2 * 9 * (6 + 6), 0, 72, 72,
        3 * 2 * 12 + 2 * 3 * 2 * 4, NONE, .heads = 2, .qk_nope_head_dim = 4, .qk_rope_head_dim = 2,
        .v_head_dim = 6, .query_len = 3, .kv_len = 3),

    ROW(RMSNORM, FP16, 5 * 32, 0, 64, 64, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(RMSNORM, FP16, 160, 16, 64, 64, 0, NONE, .tokens = 4, .hidden = 8, .gain = 1),
    ROW(RMSNORM, FORMATS(AUTO, AUTO, FP16, AUTO, FP8_E4M3), 5 * 32, 0, 64, 32, 0, NONE, .tokens = 4,
        .hidden = 8),
    /* 32 elements are a block of mxfp4; the gain and the bias are two vectors. */
    ROW(LAYERNORM, FP16, 7 * 32, 0, 64, 64, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(LAYERNORM, FORMATS(AUTO, AUTO, FP16, AUTO, MXFP4), 7 * 128, 2 * 32 * 2, 256, 4 * 17, 0,
        NONE, .tokens = 4, .hidden = 32, .gain = 1),
    ROW(ADD, FP16, 32, 0, 2 * 64, 64, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(ADD, FORMATS(AUTO, AUTO, FP16, AUTO, NVFP4), 32, 0, 128, 2 * 9 + 4, 0, NONE, .tokens = 4,
        .hidden = 8),
    ROW(SILU_MUL, FP16, 4 * 32, 0, 2 * 64, 64, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(SILU_MUL, BOTH(INT8_CHANNEL), 4 * 32, 0, 2 * (32 + 4 * 4), 64, 0, NONE, .tokens = 4,
        .hidden = 8),
    ROW(GELU, FP16, 10 * 32, 0, 64, 64, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(GELU, FORMATS(AUTO, AUTO, FP16, AUTO, INT8_CHANNEL), 10 * 32, 0, 64, 32 + 4 * 4, 0, NONE,
        .tokens = 4, .hidden = 8),
    /* From bf16 to fp8_e4m3 when nothing is said, to -p when it is given. */
    ROW(QUANTIZE, FP16, 4 * 32, 0, 64, 32, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(QUANTIZE, FORMATS(AUTO, AUTO, AUTO, AUTO, NVFP4), 4 * 32, 0, 64, 2 * 9 + 4, 0, NONE,
        .tokens = 4, .hidden = 8),
    ROW(QUANTIZE, FORMATS(AUTO, AUTO, AUTO, AUTO, INT8_CHANNEL), 4 * 32, 0, 64, 32 + 4 * 4, 0, NONE,
        .tokens = 4, .hidden = 8),
    /* 4 tokens of 4 + 2 heads of 8 elements: 192 elements, 3 FLOPs each. */
    ROW(ROPE, FP16, 3 * 192, 0, 384, 384, 0, NONE, .tokens = 4, .heads = 4, .kv_heads = 2,
        .head_dim = 8),
    ROW(ROPE, FORMATS(AUTO, AUTO, FP16, AUTO, FP8_E4M3), 3 * 192, 0, 384, 192, 0, NONE, .tokens = 4,
        .heads = 4, .kv_heads = 2, .head_dim = 8),
    /* Mistake: the cache read and written as a whole. K and V of 4 tokens, 128 elements. */
    ROW(KV_APPEND, FP16, 0, 0, 256, 0, 256, NONE, .tokens = 4, .kv_heads = 2, .head_dim = 8),
    ROW(KV_APPEND, FORMATS(AUTO, AUTO, FP16, NVFP4, AUTO), 0, 0, 256, 0, 8 * 9 + 2 * 4, NONE,
        .tokens = 4, .kv_heads = 2, .head_dim = 8),
    /* Mistake: the look-up as a product with V x H weights. It reads one row per token. */
    ROW(EMBEDDING, FP16, 0, 64, 0, 64, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(EMBEDDING, FORMATS(AUTO, INT4, FP16, AUTO, AUTO), 0, 16, 0, 64, 0, NONE, .tokens = 4,
        .hidden = 8),

    /* E = 4, k = 1, T = 2: 4 (1 - (3/4)^2) = 1.75 experts. Gate, up and down are 3 x 8 x 16
     * weights, 2 FLOPs each per token and expert. In: 2 x 8; between: 2 x 16, stored and read.
     * Mistakes: two matrices; activations by hidden; k or all experts; FLOPs without top-k. */
    ROW(MOE, FP16, 2 * 1 * 3 * 8 * 16 * 2, 1.75 * 3 * 8 * 16 * 2, (16 + 2 * 32) * 2, 16 * 2, 0,
        NONE, .tokens = 2, .hidden = 8, .intermediate = 16, .experts = 4, .top_k = 1),
    ROW(MOE, FP16, 2 * 2 * 3 * 8 * 16 * 2, 4 * 3 * 8 * 16 * 2, (16 + 2 * 64) * 2, 16 * 2, 0, NONE,
        .tokens = 2, .hidden = 8, .intermediate = 16, .experts = 4, .top_k = 2,
        .routing = ROOF_ROUTING_BALANCED),
    /* 1.75 x 384 = 672 weights are 42 blocks of 9; 1.75 x 3 matrices have 4 bytes each. */
    ROW(MOE, FORMATS(AUTO, NVFP4, FP16, AUTO, AUTO), 1536, 42 * 9 + 5.25 * 4, 160, 32, 0, NONE,
        .tokens = 2, .hidden = 8, .intermediate = 16, .experts = 4, .top_k = 1),
    /* 2 experts with 16 + 16 + 8 output channels; 2 tokens in, 2 rows stored, 2 read. */
    ROW(MOE, BOTH(INT8_CHANNEL), 1536, 2 * 384 + 2 * 40 * 4, 80 + 6 * 4, 32, 0, NONE, .tokens = 2,
        .hidden = 8, .intermediate = 16, .experts = 4, .top_k = 1,
        .routing = ROOF_ROUTING_BALANCED),
    /* 5 per score, 2 per chosen one; out: 4 x 2 weights and 4 x 2 indices of 4 bytes. */
    ROW(ROUTER, FP16, 5 * 32 + 2 * 8, 0, 64, 8 * 2 + 8 * 4, 0, NONE, .tokens = 4, .experts = 8,
        .top_k = 2),
    ROW(ROUTER, FORMATS(AUTO, AUTO, FP32, AUTO, AUTO), 176, 0, 128, 8 * 4 + 8 * 4, 0, NONE,
        .tokens = 4, .experts = 8, .top_k = 2),

    /* 2 sequences of 2 queries over 5 keys: the last sees 5, the one before 4. Heads are summed. */
    ROW(INDEX_SCORES, FP16, 2 * 2 * 3 * 4 * 9, 0, 2 * 2 * 3 * 4 * 2, 2 * 2 * 5 * 2, 2 * 5 * 4 * 2,
        NONE, .batch = 2, .heads = 3, .head_dim = 4, .query_len = 2, .kv_len = 5, .causal = 1),
    ROW(INDEX_SCORES, FORMATS(AUTO, AUTO, FP8_E4M3, MXFP8_E4M3, FP32), 2 * 64 * 128 * 9, 0,
        64 * 128, 9 * 4, 9 * (128 + 4), NONE, .heads = 64, .head_dim = 128, .kv_len = 9),
    /* As these, but each head keeps a score of each block: 5 keys are 3 blocks of 2. */
    ROW(BLOCK_SCORES, FP16, 2 * 2 * 3 * 4 * 9, 0, 2 * 2 * 3 * 4 * 2, 2 * 2 * 3 * 3 * 2,
        2 * 5 * 4 * 2, NONE, .batch = 2, .heads = 3, .head_dim = 4, .query_len = 2, .kv_len = 5,
        .causal = 1, .compression = 2),
    /* By default a block has 128 keys. */
    ROW(BLOCK_SCORES, FORMATS(AUTO, AUTO, FP16, FP8_E4M3, FP32), 2 * 4 * 8 * 300, 0, 4 * 8 * 2,
        4 * 3 * 4, 300 * 8 * 1, NONE, .heads = 4, .head_dim = 8, .kv_len = 300),
    /* A comparison per score; 3 indices of 4 bytes for each of 4 queries. */
    ROW(INDEX_TOP_K, FP16, 20, 0, 20 * 2, 4 * 3 * 4, 0, NONE, .batch = 2, .query_len = 2,
        .kv_len = 5, .selected = 3),
    ROW(INDEX_TOP_K, FORMATS(AUTO, AUTO, FP32, AUTO, AUTO), 5, 0, 20, 5 * 4, 0, NONE, .kv_len = 5,
        .selected = 9),
    /* Mistake: all keys attended to. 4 of 10 are; fewer where there are not as many. */
    ROW(SPARSE_MLA, FP16, 2 * 8 * 4 * (24 + 16), 0, 384, 256, 2 * 4 * 24 * 2, NONE, .batch = 2,
        .heads = 4, .kv_lora_rank = 16, .qk_rope_head_dim = 8, .kv_len = 10, .selected = 4),
    ROW(SPARSE_MLA, FP16, 2 * (3 + 4 + 4) * (4 + 2), 0, 3 * 4 * 2, 3 * 2 * 2, 5 * 4 * 2, NONE,
        .heads = 1, .kv_lora_rank = 2, .qk_rope_head_dim = 2, .query_len = 3, .kv_len = 5,
        .causal = 1, .selected = 4),
    ROW(SPARSE_MLA, FORMATS(AUTO, AUTO, FP16, INT8_CHANNEL, AUTO), 2 * 8 * 4 * (24 + 16), 0, 384,
        256, 2 * 4 * 24 + 2 * 4 * 4, NONE, .batch = 2, .heads = 4, .kv_lora_rank = 16,
        .qk_rope_head_dim = 8, .kv_len = 10, .selected = 4),
    /* The queries 8, 9 and 10 see 4 tokens and, of 4, 4 and 5 compressed keys, 3 each: 21 pairs.
     * They read 6 tokens and 3 compressed keys, which are values, too. */
    ROW(COMPRESSED_ATTENTION, FP16, 4 * 2 * 4 * 21, 0, 48, 48, 9 * 4 * 2, NONE, .heads = 2,
        .head_dim = 4, .query_len = 3, .kv_len = 10, .window = 4, .compression = 2, .selected = 3),
    /* All 10 queries see 1 + 2 + 8 * 3 tokens, and 4 * 1 + 3 * 2 compressed keys. */
    ROW(COMPRESSED_ATTENTION, FP16, 4 * 2 * (27 + 10), 0, 40, 40, (10 + 2) * 2 * 2, NONE,
        .heads = 1, .head_dim = 2, .query_len = 10, .kv_len = 10, .window = 3, .compression = 4),
    /* The queries 4 to 9 see 2, 2, 3, 3, 3 and 3 compressed keys. */
    ROW(COMPRESSED_ATTENTION, FP16, 4 * (6 + 16), 0, 12, 12, (6 + 3) * 2, NONE, .heads = 1,
        .head_dim = 1, .query_len = 6, .kv_len = 9, .window = 1, .compression = 2, .selected = 3),
    /* Without compressed keys a query sees the tokens. */
    ROW(COMPRESSED_ATTENTION, FP16, 4 * 3 * 5, 0, 6, 6, 5 * 3 * 2, NONE, .heads = 1, .head_dim = 3,
        .kv_len = 5, .selected = 2),
    ROW(COMPRESSED_ATTENTION, FORMATS(AUTO, AUTO, FP16, INT8_CHANNEL, AUTO), 4 * 3 * (2 + 1), 0, 6,
        6, 3 * 3 + 3 * 4, NONE, .heads = 1, .head_dim = 3, .kv_len = 9, .window = 2,
        .compression = 5),
    /* The queries 8, 9 and 10 see 4 tokens, 3 chosen ones and 4, 4 and 5 blocks of 2: 34 pairs.
     * They read 6 tokens for the window, 5 that are chosen, and 5 compressed keys: 16, of one of
     * two heads. A query has three gates. */
    ROW(NSA, FP16, 4 * 2 * 4 * 34, 0, 3 * 2 * 7 * 2, 3 * 2 * 4 * 2, 2 * 16 * 4 * 2, NONE,
        .heads = 2, .kv_heads = 1, .head_dim = 4, .query_len = 3, .kv_len = 10, .window = 4,
        .compression = 2, .selected = 3),
    /* All 10 queries: 1 + 2 + 8 * 3 tokens, 1 + 9 * 2 chosen ones, 4 * 1 + 3 * 2 blocks. */
    ROW(NSA, FP16, 4 * 2 * (27 + 19 + 10), 0, 10 * 5 * 2, 40, 2 * (10 + 10 + 2) * 2 * 2, NONE,
        .heads = 1, .head_dim = 2, .query_len = 10, .kv_len = 10, .window = 3, .compression = 4,
        .selected = 2),
    /* INT8_CHANNEL: 4 bytes of scale for each head of each key and value. */
    ROW(NSA, FORMATS(AUTO, AUTO, FP16, INT8_CHANNEL, AUTO), 4 * 3 * (2 + 4 + 1), 0, 12, 6,
        2 * 7 * 3 + 2 * 7 * 4, NONE, .heads = 1, .head_dim = 3, .kv_len = 9, .window = 2,
        .compression = 5, .selected = 4),
    /* By default 1024 of 4096 keys are chosen beside 64 blocks of 64; all are in the window. */
    ROW(NSA, FP16, 4 * (4096 + 1024 + 64), 0, 8, 2, 2 * (4096 + 1024 + 64) * 2, NONE, .heads = 1,
        .head_dim = 1, .kv_len = 4096),
    /* Two streams make 2 + 2 + 4 weights from 8 elements, and one stream; then two from three. */
    ROW(HYPER_COLLAPSE, FP16, 2 * 2 * 8 * (8 + 1), 8 * 8 * 2, 2 * 8 * 2, 2 * 4 * 2, 0, NONE,
        .tokens = 2, .hidden = 4, .streams = 2),
    ROW(HYPER_EXPAND, FP16, 2 * 2 * 4 * 2 * 3, 0, 2 * 4 * 3 * 2, 2 * 4 * 2 * 2, 0, NONE,
        .tokens = 2, .hidden = 4, .streams = 2),
    ROW(HYPER_EXPAND, FORMATS(AUTO, AUTO, FP16, AUTO, FP32), 2 * 3 * 4 * 5, 0, 3 * 5 * 2, 3 * 4 * 4,
        0, NONE, .tokens = 1, .hidden = 3),
    ROW(HYPER_COLLAPSE, FORMATS(AUTO, FP32, FP16, AUTO, AUTO), 2 * 3 * 4 * (24 + 1), 24 * 12 * 4,
        12 * 2, 3 * 2, 0, NONE, .tokens = 1, .hidden = 3),
    /* Three vectors of each token are squared, scored and summed. */
    ROW(DEPTH_MIX, FP16, 6 * 2 * 4 * 3, 2 * 4 * 2, 2 * 3 * 4 * 2, 2 * 4 * 2, 0, NONE, .tokens = 2,
        .hidden = 4, .streams = 3),
    ROW(DEPTH_MIX, FORMATS(AUTO, FP32, FP16, AUTO, FP32), 6 * 3 * 4, 2 * 3 * 4, 4 * 3 * 2, 3 * 4, 0,
        NONE, .tokens = 1, .hidden = 3),
    /* 32 outputs of 4 taps; the 3 tokens before of 2 sequences are read and written, too. */
    ROW(SHORT_CONV, FP16, 2 * 32 * 4, 32 * 2, (32 + 2 * 3 * 8) * 2, (32 + 2 * 3 * 8) * 2, 0, NONE,
        .batch = 2, .query_len = 2, .hidden = 8),
    ROW(SHORT_CONV, FORMATS(AUTO, FP32, FP16, AUTO, AUTO), 2 * 8 * 2, 16 * 4, 2 * 8 * 2, 2 * 8 * 2,
        0, NONE, .hidden = 8, .taps = 2),
    /* 2 x 2 pixels of 4 channels from 3, 9 taps: inputs are read once, not once for each tap. With
     * stride 2 in two dimensions a pixel has 4 inputs, of which one tap meets but one. */
    ROW(CONV2D, FP16, 2 * 4 * 4 * 3 * 9, 108 * 2, 4 * 3 * 2, 4 * 4 * 2, 0, NONE, .m = 4, .n = 4,
        .k = 3),
    ROW(CONV2D, FP16, 2 * 2 * 4 * 3 * 9, 108 * 2, 2 * 4 * 3 * 2, 2 * 4 * 2, 0, NONE, .batch = 2,
        .m = 1, .n = 4, .k = 3, .subsample = 4),
    ROW(CONV2D, FP16, 2 * 4 * 3, 12 * 2, 3 * 2, 4 * 2, 0, NONE, .m = 1, .n = 4, .k = 3, .taps = 1,
        .subsample = 4),
    ROW(CONV2D, FORMATS(AUTO, FP32, FP16, AUTO, AUTO), 2 * 4 * 4 * 3 * 9, 108 * 4, 4 * 3 * 2,
        4 * 4 * 2, 0, NONE, .m = 4, .n = 4, .k = 3),
    ROW(GROUPNORM, CHANNELS, 224, 2 * (8 + 4), 48, 48, 0, NONE, .tokens = 4, .hidden = 8,
        .gain = 1),
    ROW(CONV3D, FP16, 2 * 4 * 4 * 3 * 27, 324 * 2, 4 * 3 * 2, 4 * 4 * 2, 0, NONE, .m = 4, .n = 4,
        .k = 3),
    ROW(CONV3D, CHANNELS, 2 * 4 * 4 * 3 * 27, 324 + 4 * 4, 4 * 3 + 4 * 4, 4 * 4 + 4 * 4, 0, NONE,
        .m = 4, .n = 4, .k = 3),
    ROW(GROUPNORM, FP16, 7 * 32, 2 * 16, 64, 64, 0, NONE, .tokens = 4, .hidden = 8, .gain = 1),
    /* Mistakes: the state read alone, or grown with the context. 4 heads of 8 x 16 in fp32. A token
     * meets itself: its key, triangle and query are 2 (3 x 8 + 2 x 16) FLOPs. */
    ROW(GATED_DELTA, FP16, 4 * (6 * 128 + 2 * 56), 0, (2 * 2 * 8 + 4 * 16 + 2 * 4) * 2, 4 * 16 * 2,
        2 * 4 * 128 * 4, NONE, .heads = 4, .kv_heads = 2, .head_dim = 8, .v_head_dim = 16),
    /* 6 tokens in chunks of 4: one and a half, with 10 pairs in a whole one. */
    ROW(GATED_DELTA, FP16, 4 * (6 * 6 * 128 + 2 * 15 * 56), 0, 104 * 6 * 2, 4 * 16 * 6 * 2,
        2 * 4 * 128 * 4, NONE, .heads = 4, .kv_heads = 2, .head_dim = 8, .v_head_dim = 16,
        .query_len = 6, .scan_chunk = 4),
    ROW(GATED_DELTA, FORMATS(AUTO, AUTO, AUTO, BF16, AUTO), 3520, 0, 208, 128, 2 * 4 * 128 * 2,
        NONE, .heads = 4, .kv_heads = 2, .head_dim = 8, .v_head_dim = 16),
    /* A gate for each of the 8 elements of a key, and one for the head. */
    ROW(KIMI_DELTA, FP16, 3520, 0, 4 * (3 * 8 + 16 + 1) * 2, 4 * 16 * 2, 2 * 4 * 128 * 4, NONE,
        .heads = 4, .head_dim = 8, .v_head_dim = 16),
    ROW(KIMI_DELTA, FORMATS(AUTO, AUTO, FP32, AUTO, BF16), 3520, 0, 656, 128, 4096, NONE,
        .heads = 4, .head_dim = 8, .v_head_dim = 16),
    /* 4 heads of 8 x 16; B and C of 2 groups have 16 elements each, a head one step. */
    ROW(SSD, FP16, 4 * (4 * 128 + 2 * 8) + 2 * 2 * 16, 0, (4 * 8 + 2 * 2 * 16 + 4) * 2, 4 * 8 * 2,
        2 * 4 * 128 * 4, NONE, .heads = 4, .kv_heads = 2, .head_dim = 8, .state_size = 16),
    ROW(SSD, FORMATS(AUTO, AUTO, AUTO, BF16, AUTO),
        4 * (4 * 6 * 128 + 2 * 15 * 8) + 2 * 2 * 15 * 16, 0, 1200, 384, 2048, NONE, .heads = 4,
        .kv_heads = 2, .head_dim = 8, .state_size = 16, .query_len = 6, .scan_chunk = 4),
    /* 4 heads of 8 x 16, which bring no gates. A token meets itself: 2 (8 + 16) FLOPs. */
    ROW(LIGHTNING, FP16, 4 * (4 * 128 + 2 * 24), 0, 4 * (2 * 8 + 16) * 2, 4 * 16 * 2,
        2 * 4 * 128 * 4, NONE, .heads = 4, .head_dim = 8, .v_head_dim = 16),
    ROW(LIGHTNING, FORMATS(AUTO, AUTO, AUTO, BF16, AUTO), 4 * (4 * 6 * 128 + 2 * 15 * 24), 0,
        6 * 128 * 2, 6 * 64 * 2, 2 * 4 * 128 * 2, NONE, .heads = 4, .head_dim = 8, .v_head_dim = 16,
        .query_len = 6, .scan_chunk = 4),
    /* 8 channels of 4 elements: 6 FLOPs for each, 3 for a channel; decays and D are weights. B and
     * C have 4 elements each, inputs and steps 8. */
    ROW(SELECTIVE_SCAN, FP16, 8 * (6 * 4 + 3), 8 * (4 + 1) * 2, (2 * 8 + 2 * 4) * 2, 8 * 2,
        2 * 8 * 4 * 4, NONE, .hidden = 8, .state_size = 4),
    ROW(SELECTIVE_SCAN, FORMATS(AUTO, FP32, FP16, BF16, AUTO), 2 * 3 * 8 * (6 * 16 + 3), 8 * 17 * 4,
        2 * 3 * 48 * 2, 2 * 3 * 8 * 2, 2 * 2 * 8 * 16 * 2, NONE, .batch = 2, .query_len = 3,
        .hidden = 8),

    /* Scales of 4 bytes. nvfp4 has one for each tensor; a state is two, one read and one written.
     * int8_channel has one for each row; a head of a state, or a channel, is a row. Sequences of 2
     * tokens have 3 pairs. */
    ROW(GATED_DELTA, TENSORS, 8 * (6 * 256 + 2 * 80), 0, 13 * 9 + 5 * 4, 8 * 9 + 4, 256 * 9 + 2 * 4,
        NONE, .heads = 8, .kv_heads = 2, .head_dim = 16, .v_head_dim = 16),
    ROW(GATED_DELTA, CHANNELS, 8 * (2 * 6 * 128 + 2 * 3 * 56), 0, 4 * (104 + 5 * 4), 4 * (64 + 4),
        2 * (1024 + 8 * 4), NONE, .batch = 2, .query_len = 2, .heads = 4, .kv_heads = 2,
        .head_dim = 8, .v_head_dim = 16),
    ROW(KIMI_DELTA, TENSORS, 16 * (6 * 256 + 2 * 80), 0, 65 * 9 + 5 * 4, 16 * 9 + 4,
        512 * 9 + 2 * 4, NONE, .heads = 16, .head_dim = 16, .v_head_dim = 16),
    ROW(KIMI_DELTA, CHANNELS, 8 * (2 * 6 * 128 + 2 * 3 * 56), 0, 4 * (164 + 5 * 4), 4 * (64 + 4),
        2 * (1024 + 8 * 4), NONE, .batch = 2, .query_len = 2, .heads = 4, .head_dim = 8,
        .v_head_dim = 16),
    ROW(SSD, TENSORS, 16 * (4 * 256 + 2 * 16) + 2 * 16, 0, 19 * 9 + 4 * 4, 16 * 9 + 4,
        512 * 9 + 2 * 4, NONE, .heads = 16, .kv_heads = 1, .head_dim = 16, .state_size = 16),
    ROW(SSD, CHANNELS, 2 * (4 * (2 * 4 * 128 + 2 * 3 * 8) + 2 * 2 * 3 * 16), 0, 4 * (100 + 4 * 4),
        4 * (32 + 4), 2 * (1024 + 8 * 4), NONE, .batch = 2, .query_len = 2, .heads = 4,
        .kv_heads = 2, .head_dim = 8, .state_size = 16),
    ROW(LIGHTNING, TENSORS, 4 * (4 * 256 + 2 * 32), 0, 12 * 9 + 3 * 4, 4 * 9 + 4, 128 * 9 + 2 * 4,
        NONE, .heads = 4, .head_dim = 16, .v_head_dim = 16),
    ROW(LIGHTNING, CHANNELS, 8 * (2 * 4 * 128 + 2 * 3 * 24), 0, 4 * (128 + 3 * 4), 4 * (64 + 4),
        2 * (1024 + 8 * 4), NONE, .batch = 2, .query_len = 2, .heads = 4, .head_dim = 8,
        .v_head_dim = 16),
    ROW(SELECTIVE_SCAN, TENSORS, 16 * (6 * 16 + 3), 17 * 9 + 2 * 4, 4 * 9 + 4 * 4, 9 + 4,
        32 * 9 + 2 * 4, NONE, .hidden = 16, .state_size = 16),
    ROW(SELECTIVE_SCAN, CHANNELS, 4 * 16 * (6 * 16 + 3), 272 + 32 * 4, 4 * (64 + 4 * 4),
        4 * (16 + 4), 2 * (512 + 32 * 4), NONE, .batch = 2, .query_len = 2, .hidden = 16,
        .state_size = 16),

    /* Ring of 4: each sends 3 quarters twice, and adds 3 quarters. */
    ROW(ALL_REDUCE, FP16, 750, 0, 2000, 2000, 0, 2 * 750 * 2, .elements = 1000, .devices = 4),
    /* One-shot: each sends all of it to 3 others, and adds 3 tensors. */
    ROW(ALL_REDUCE, FP16, 3000, 0, 2000, 2000, 0, 3000 * 2, .elements = 1000, .devices = 4,
        .algorithm = ROOF_ALGORITHM_ONE_SHOT),
    ROW(ALL_REDUCE, BOTH(FP8_E4M3), 750, 0, 1000, 2000, 0, 2 * 750, .elements = 1000, .devices = 4),
    ROW(ALL_GATHER, FP16, 0, 0, 250 * 2, 2000, 0, 750 * 2, .elements = 1000, .devices = 4),
    /* 256 elements are 8 blocks, 768 are 24. */
    ROW(ALL_GATHER, BOTH(MXFP4), 0, 0, 8 * 17, 2048, 0, 24 * 17, .elements = 1024, .devices = 4),
    ROW(REDUCE_SCATTER, FP16, 750, 0, 2000, 250 * 2, 0, 750 * 2, .elements = 1000, .devices = 4),
    ROW(REDUCE_SCATTER, BOTH(FP8_E4M3), 750, 0, 1000, 500, 0, 750, .elements = 1000, .devices = 4),
    ROW(ALL_TO_ALL, FP16, 0, 0, 2000, 2000, 0, 750 * 2, .elements = 1000, .devices = 4),
    ROW(ALL_TO_ALL, BOTH(INT4), 0, 0, 800, 3200, 0, 600, .elements = 1600, .devices = 4),
    ROW(SEND, FP16, 0, 0, 2000, 0, 0, 2000, .elements = 1000),
    ROW(SEND, BOTH(INT4), 0, 0, 800, 0, 0, 800, .elements = 1600, .within = 9),
    /* A bias: n elements in the format of the output (bf16 below 16 bits), once per product. */
    ROW(GEMM, FP16, 240, 2 * 4 * 5 * 2 + 2 * 4 * 2, 2 * 3 * 5 * 2, 2 * 3 * 4 * 2, 0, NONE, .m = 3,
        .n = 4, .k = 5, .batch = 2, .bias = 1),
    ROW(GEMM, BOTH(INT4), 120, 20 / 2.0 + 4 * 2, 15 / 2.0, 12 * 2, 0, NONE, .m = 3, .n = 4, .k = 5,
        .bias = 1),
    /* It has no scales, of the tensor or of channels. */
    ROW(GEMM, TENSORS, 1024, 16 * 9 + 4 + 9, 2 * 9 + 4, 2 * 9 + 4, 0, NONE, .m = 2, .n = 16,
        .k = 16, .bias = 1),
    ROW(GEMM, CHANNELS, 1024, 256 + 16 * 4 + 16, 32 + 2 * 4, 32 + 2 * 4, 0, NONE, .m = 2, .n = 16,
        .k = 16, .bias = 1),
    /* Experts over two devices: 8 tokens with 2 of 4 experts are 16 rows, 8 on each device; all
     * four experts are touched when balanced, two on each; per expert 3 x 10 x 6 elements and
     * biases of 2 x 6 + 10. */
    ROW(MOE, FP16, 6 * 8 * 10 * 6, 2 * (180 + 22) * 2, (8 * 10 + 2 * 8 * 6) * 2, 8 * 10 * 2, 0,
        NONE, .tokens = 8, .hidden = 10, .intermediate = 6, .experts = 4, .top_k = 2, .routing = 1,
        .ep = 2, .bias = 1),
    /* Halves add up to it: gate and up write 8 x 6 elements, which down reads. */
    ROW(MOE_GATE_UP, FP16, 4 * 8 * 10 * 6, 2 * (120 + 12) * 2, 8 * 10 * 2, 8 * 6 * 2, 0, NONE,
        .tokens = 8, .hidden = 10, .intermediate = 6, .experts = 4, .top_k = 2, .routing = 1,
        .ep = 2, .bias = 1),
    ROW(MOE_DOWN, FP16, 2 * 8 * 10 * 6, 2 * (60 + 10) * 2, 8 * 6 * 2, 8 * 10 * 2, 0, NONE,
        .tokens = 8, .hidden = 10, .intermediate = 6, .experts = 4, .top_k = 2, .routing = 1,
        .ep = 2, .bias = 1),
    /* nvfp4: 9 bytes per 16 elements and 4 per tensor, two tensors an expert in gate and up. */
    ROW(MOE_GATE_UP, TENSORS, 1024, 1.75 * 2 * (72 + 4), 9 + 4, 18 + 4, 0, NONE, .tokens = 2,
        .hidden = 8, .intermediate = 16, .experts = 4, .top_k = 1),
    /* Two matrices of 10 x 6 for each of 2 experts that 4 tokens share; 8 results of 6, which are
     * written and read. */
    ROW(MOE_UNGATED, FP16, 4 * 8 * 10 * 6, 2 * 2 * 60 * 2, (4 * 10 + 2 * 8 * 6) * 2, 4 * 10 * 2, 0,
        NONE, .tokens = 4, .hidden = 10, .intermediate = 6, .experts = 2, .top_k = 2),
    ROW(MOE_UNGATED, FP16, 4 * 8 * 10 * 6, 2 * (2 * 60 + 6 + 10) * 2, (4 * 10 + 2 * 8 * 6) * 2,
        4 * 10 * 2, 0, NONE, .tokens = 4, .hidden = 10, .intermediate = 6, .experts = 2, .top_k = 2,
        .bias = 1),
    ROW(MOE_UNGATED, FORMATS(AUTO, FP32, FP16, AUTO, AUTO), 4 * 8 * 10 * 6, 2 * 2 * 60 * 4,
        (4 * 10 + 2 * 8 * 6) * 2, 4 * 10 * 2, 0, NONE, .tokens = 4, .hidden = 10, .intermediate = 6,
        .experts = 2, .top_k = 2),
    ROW(MOE_UP, FORMATS(AUTO, FP32, FP16, AUTO, AUTO), 2 * 8 * 10 * 6, 2 * 60 * 4, 4 * 10 * 2,
        8 * 6 * 2, 0, NONE, .tokens = 4, .hidden = 10, .intermediate = 6, .experts = 2, .top_k = 2),
    ROW(MOE_UP, FP16, 2 * 8 * 10 * 6, 2 * (60 + 6) * 2, 4 * 10 * 2, 8 * 6 * 2, 0, NONE, .tokens = 4,
        .hidden = 10, .intermediate = 6, .experts = 2, .top_k = 2, .bias = 1),
    ROW(MOE_DOWN, TENSORS, 512, 1.75 * (72 + 4), 18 + 4, 9 + 4, 0, NONE, .tokens = 2, .hidden = 8,
        .intermediate = 16, .experts = 4, .top_k = 1),
    /* 4 bytes for each output channel of an expert, 6 of up, 6 of gate and 10 of down; and for each
     * row: 4 tokens in, 8 rows between. */
    ROW(MOE_UNGATED, BOTH(INT8_CHANNEL), 4 * 8 * 10 * 6, 2 * (2 * 60 + (6 + 10) * 4),
        4 * 10 + 2 * 8 * 6 + (4 + 2 * 8) * 4, 4 * 10 * 2, 0, NONE, .tokens = 4, .hidden = 10,
        .intermediate = 6, .experts = 2, .top_k = 2),
    ROW(MOE_UP, BOTH(INT8_CHANNEL), 2 * 8 * 10 * 6, 2 * (60 + 6 * 4), 4 * 10 + 4 * 4, 8 * 6 * 2, 0,
        NONE, .tokens = 4, .hidden = 10, .intermediate = 6, .experts = 2, .top_k = 2),
    ROW(MOE_GATE_UP, BOTH(INT8_CHANNEL), 4 * 8 * 10 * 6, 2 * (2 * 60 + (6 + 6) * 4), 4 * 10 + 4 * 4,
        8 * 6 * 2, 0, NONE, .tokens = 4, .hidden = 10, .intermediate = 6, .experts = 2, .top_k = 2),
    ROW(MOE_DOWN, BOTH(INT8_CHANNEL), 2 * 8 * 10 * 6, 2 * (60 + 10 * 4), 8 * 6 + 8 * 4, 4 * 10 * 2,
        0, NONE, .tokens = 4, .hidden = 10, .intermediate = 6, .experts = 2, .top_k = 2),
    /* One token with one expert: half a row on each of two devices. */
    ROW(MOE, FP16, 6 * 0.5 * 10 * 6, 0.5 * 180 * 2, (0.5 * 10 + 2 * 0.5 * 6) * 2, 0.5 * 10 * 2, 0,
        NONE, .tokens = 1, .hidden = 10, .intermediate = 6, .experts = 4, .top_k = 1, .ep = 2),

    /* Elements are sent; the few bytes of a scale for the whole tensor are not counted. */
    ROW(ALL_REDUCE, TENSORS, 768, 0, 576 + 4, 576 + 4, 0, 864, .elements = 1024, .devices = 4),
    ROW(ALL_REDUCE, CHANNELS, 750, 0, 1004, 1004, 0, 1500, .elements = 1000, .devices = 4),
    ROW(ALL_GATHER, TENSORS, 0, 0, 144 + 4, 576 + 4, 0, 432, .elements = 1024, .devices = 4),
    ROW(ALL_GATHER, CHANNELS, 0, 0, 254, 1004, 0, 750, .elements = 1000, .devices = 4),
    ROW(REDUCE_SCATTER, TENSORS, 768, 0, 576 + 4, 144 + 4, 0, 432, .elements = 1024, .devices = 4),
    ROW(REDUCE_SCATTER, CHANNELS, 750, 0, 1004, 254, 0, 750, .elements = 1000, .devices = 4),
    ROW(ALL_TO_ALL, TENSORS, 0, 0, 576 + 4, 576 + 4, 0, 432, .elements = 1024, .devices = 4),
    ROW(SEND, TENSORS, 0, 0, 576 + 4, 0, 0, 576, .elements = 1024),
    ROW(SEND, CHANNELS, 0, 0, 1004, 0, 0, 1000, .elements = 1000),
    ROW(ALL_TO_ALL, CHANNELS, 0, 0, 1004, 1004, 0, 750, .elements = 1000, .devices = 4),

    /* Scales of int8_channel: 4 bytes for each output channel of the weights, token of a tensor,
     * row of the scores, token and head of the cache. Of a gemm they are above. */
    ROW(GEMV, CHANNELS, 256, 128 + 8 * 4, 16 + 4, 8 + 4, 0, NONE, .n = 8, .k = 16),
    ROW(BMM, CHANNELS, 240, 40 + 8 * 4, 30 + 6 * 4, 24 + 6 * 4, 0, NONE, .batch = 2, .m = 3, .n = 4,
        .k = 5),
    ROW(ATTENTION_SCORES, CHANNELS, 1920, 0, 192 + 6 * 4, 120 + 24 * 4, 160 + 20 * 4, NONE,
        PREFILL),
    ROW(ATTENTION_VALUES, CHANNELS, 1920, 0, 120 + 24 * 4, 192 + 6 * 4, 160 + 20 * 4, NONE,
        PREFILL),
    ROW(SOFTMAX, CHANNELS, 600, 0, 120 + 24 * 4, 120 + 24 * 4, 0, NONE, PREFILL),
    ROW(FLASH_ATTENTION, CHANNELS, 3840, 0, 192 + 6 * 4, 192 + 6 * 4, 320 + 40 * 4, NONE, PREFILL),
    ROW(MLA_DECODE, CHANNELS, 6400, 0, 192 + 2 * 4, 128 + 2 * 4, 480 + 20 * 4, NONE, .batch = 2,
        .heads = 4, .kv_lora_rank = 16, .qk_rope_head_dim = 8, .kv_len = 10),
    ROW(MLA_PREFILL, CHANNELS, 432, 0, 36 + 3 * 4, 36 + 3 * 4, 72 + 12 * 4, NONE, .heads = 2,
        .qk_nope_head_dim = 4, .qk_rope_head_dim = 2, .v_head_dim = 6, .query_len = 3, .kv_len = 3),
    /* Three queries and two sequences. */
    ROW(MLA_DECODE, CHANNELS, 19200, 0, 576 + 6 * 4, 384 + 6 * 4, 480 + 20 * 4, NONE, .batch = 2,
        .heads = 4, .kv_lora_rank = 16, .qk_rope_head_dim = 8, .query_len = 3, .kv_len = 10),
    ROW(MLA_PREFILL, CHANNELS, 1440, 0, 72 + 6 * 4, 72 + 6 * 4, 240 + 40 * 4, NONE, .batch = 2,
        .heads = 2, .qk_nope_head_dim = 4, .qk_rope_head_dim = 2, .v_head_dim = 6, .query_len = 3,
        .kv_len = 5),
    ROW(RMSNORM, CHANNELS, 160, 8 + 4, 48, 48, 0, NONE, .tokens = 4, .hidden = 8, .gain = 1),
    ROW(LAYERNORM, CHANNELS, 224, 2 * (8 + 4), 48, 48, 0, NONE, .tokens = 4, .hidden = 8,
        .gain = 1),
    ROW(ADD, CHANNELS, 32, 0, 2 * 48, 48, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(SILU_MUL, CHANNELS, 128, 0, 2 * 48, 48, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(GELU, CHANNELS, 320, 0, 48, 48, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(QUANTIZE, CHANNELS, 128, 0, 48, 48, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(ROPE, CHANNELS, 576, 0, 192 + 2 * 4 * 4, 192 + 2 * 4 * 4, 0, NONE, .tokens = 4, .heads = 4,
        .kv_heads = 2, .head_dim = 8),
    ROW(KV_APPEND, CHANNELS, 0, 0, 128 + 2 * 4 * 4, 0, 128 + 2 * 4 * 2 * 4, NONE, .tokens = 4,
        .kv_heads = 2, .head_dim = 8),
    ROW(EMBEDDING, CHANNELS, 0, 48, 0, 48, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(MOE, CHANNELS, 1536, 1.75 * (384 + 40 * 4), 80 + 6 * 4, 16 + 2 * 4, 0, NONE, .tokens = 2,
        .hidden = 8, .intermediate = 16, .experts = 4, .top_k = 1),
    /* 3 tokens of 2 experts: 3 rows in, 6 stored and 6 read. 6 of 8 experts. */
    ROW(MOE, CHANNELS, 4608, 6 * (384 + 40 * 4), 24 + 12 * 16 + 15 * 4, 24 + 3 * 4, 0, NONE,
        .tokens = 3, .hidden = 8, .intermediate = 16, .experts = 8, .top_k = 2,
        .routing = ROOF_ROUTING_BALANCED),
    /* The two halves share it. */
    ROW(MOE_GATE_UP, CHANNELS, 3072, 6 * (256 + 32 * 4), 24 + 3 * 4, 96 + 6 * 4, 0, NONE,
        .tokens = 3, .hidden = 8, .intermediate = 16, .experts = 8, .top_k = 2,
        .routing = ROOF_ROUTING_BALANCED),
    ROW(MOE_DOWN, CHANNELS, 1536, 6 * (128 + 8 * 4), 96 + 6 * 4, 24 + 3 * 4, 0, NONE, .tokens = 3,
        .hidden = 8, .intermediate = 16, .experts = 8, .top_k = 2,
        .routing = ROOF_ROUTING_BALANCED),
    ROW(ROUTER, CHANNELS, 176, 0, 32 + 4 * 4, 8 + 4 * 4 + 8 * 4, 0, NONE, .tokens = 4, .experts = 8,
        .top_k = 2),

    /* Scales of nvfp4: 9 bytes per 16 elements, and 4 for each tensor: K and V are two, Q and K
     * are, gate and up are, what an expert's products read and what they store. */
    ROW(GEMV, TENSORS, 512, 16 * 9 + 4, 9 + 4, 9 + 4, 0, NONE, .n = 16, .k = 16),
    ROW(BMM, TENSORS, 240, 22.5 + 4, 16.875 + 4, 13.5 + 4, 0, NONE, .batch = 2, .m = 3, .n = 4,
        .k = 5),
    ROW(ATTENTION_SCORES, TENSORS, 1920, 0, 108 + 4, 67.5 + 4, 90 + 4, NONE, PREFILL),
    ROW(ATTENTION_VALUES, TENSORS, 1920, 0, 67.5 + 4, 108 + 4, 90 + 4, NONE, PREFILL),
    ROW(SOFTMAX, TENSORS, 600, 0, 67.5 + 4, 67.5 + 4, 0, NONE, PREFILL),
    ROW(FLASH_ATTENTION, TENSORS, 3840, 0, 108 + 4, 108 + 4, 180 + 2 * 4, NONE, PREFILL),
    ROW(MLA_DECODE, TENSORS, 6400, 0, 108 + 4, 72 + 4, 270 + 4, NONE, .batch = 2, .heads = 4,
        .kv_lora_rank = 16, .qk_rope_head_dim = 8, .kv_len = 10),
    ROW(MLA_PREFILL, TENSORS, 432, 0, 20.25 + 4, 20.25 + 4, 40.5 + 2 * 4, NONE, .heads = 2,
        .qk_nope_head_dim = 4, .qk_rope_head_dim = 2, .v_head_dim = 6, .query_len = 3, .kv_len = 3),
    ROW(RMSNORM, TENSORS, 160, 4.5 + 4, 22, 22, 0, NONE, .tokens = 4, .hidden = 8, .gain = 1),
    ROW(LAYERNORM, TENSORS, 224, 2 * (4.5 + 4), 22, 22, 0, NONE, .tokens = 4, .hidden = 8,
        .gain = 1),
    ROW(ADD, TENSORS, 32, 0, 2 * 22, 22, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(SILU_MUL, TENSORS, 128, 0, 2 * 22, 22, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(GELU, TENSORS, 320, 0, 22, 22, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(QUANTIZE, TENSORS, 128, 0, 22, 22, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(ROPE, TENSORS, 576, 0, 108 + 2 * 4, 108 + 2 * 4, 0, NONE, .tokens = 4, .heads = 4,
        .kv_heads = 2, .head_dim = 8),
    ROW(KV_APPEND, TENSORS, 0, 0, 72 + 2 * 4, 0, 72 + 2 * 4, NONE, .tokens = 4, .kv_heads = 2,
        .head_dim = 8),
    ROW(EMBEDDING, TENSORS, 0, 22, 0, 22, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(MOE, TENSORS, 1536, 1.75 * 3 * (72 + 4), 45 + 3 * 4, 9 + 4, 0, NONE, .tokens = 2,
        .hidden = 8, .intermediate = 16, .experts = 4, .top_k = 1),
    ROW(ROUTER, TENSORS, 176, 0, 22, 4.5 + 4 + 8 * 4, 0, NONE, .tokens = 4, .experts = 8,
        .top_k = 2),
    /* Fused: both inputs and the sum are activations; the norm of the sum is the output. */
    ROW(ADD_RMSNORM, FP16, 6 * 32, 0, 3 * 64, 64, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(ADD_RMSNORM, CHANNELS, 192, 8 + 4, 3 * 48, 48, 0, NONE, .tokens = 4, .hidden = 8,
        .gain = 1),
    ROW(ADD_LAYERNORM, FP16, 8 * 32, 2 * 16, 3 * 64, 64, 0, NONE, .tokens = 4, .hidden = 8,
        .gain = 1),
    ROW(ADD_LAYERNORM, CHANNELS, 256, 2 * (8 + 4), 3 * 48, 48, 0, NONE, .tokens = 4, .hidden = 8,
        .gain = 1),
    /* From bf16 to fp8_e4m3 when nothing is said. */
    ROW(RMSNORM_QUANTIZE, FP16, 9 * 32, 0, 64, 32, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(RMSNORM_QUANTIZE, TENSORS, 288, 4.5 + 4, 22, 22, 0, NONE, .tokens = 4, .hidden = 8,
        .gain = 1),
    ROW(ADD_RMSNORM_QUANTIZE, FP16, 10 * 32, 0, 3 * 64, 32, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(ADD_RMSNORM_QUANTIZE, TENSORS, 320, 4.5 + 4, 3 * 22, 22, 0, NONE, .tokens = 4, .hidden = 8,
        .gain = 1),
    ROW(SILU_MUL_QUANTIZE, FP16, 8 * 32, 0, 2 * 64, 32, 0, NONE, .tokens = 4, .hidden = 8),
    ROW(SILU_MUL_QUANTIZE, CHANNELS, 256, 0, 2 * 48, 48, 0, NONE, .tokens = 4, .hidden = 8),
    /* Gate and up of 20 weights each, one result of 12. */
    ROW(GEMM_SILU_MUL, FP16, 240, 80, 30, 24, 0, NONE, .m = 3, .n = 4, .k = 5),
    ROW(GEMM_SILU_MUL, FP16, 240, 80 + 16, 30, 24, 0, NONE, .m = 3, .n = 4, .k = 5, .bias = 1),
    ROW(GEMM_SILU_MUL, CHANNELS, 240, 40 + 8 * 4, 15 + 3 * 4, 12 + 3 * 4, 0, NONE, .m = 3, .n = 4,
        .k = 5),
    /* Four of eight elements are rotated: 64 of Q, 32 of K; K and V have 64 each. */
    ROW(ROPE_APPEND, FP16, 3 * 96, 0, 2 * (64 + 128), 128, 256, NONE, .tokens = 4, .heads = 4,
        .kv_heads = 2, .head_dim = 8, .qk_rope_head_dim = 4),
    ROW(ROPE_APPEND, FP16, 3 * 192, 0, 2 * (128 + 128), 256, 256, NONE, .tokens = 4, .heads = 4,
        .kv_heads = 2, .head_dim = 8),
    ROW(ROPE_APPEND, CHANNELS, 288, 0, 192 + 3 * 4 * 4, 64 + 4 * 4, 128 + 16 * 4, NONE, .tokens = 4,
        .heads = 4, .kv_heads = 2, .head_dim = 8, .qk_rope_head_dim = 4),

    /* Other operators have the same scales: 9 bytes for 16 elements and 4 for each tensor with
     * nvfp4, an element and 4 for each row with int8_channel. */
    ROW(INDEX_SCORES, TENSORS, 512, 0, 2 * 9 + 4, 9 + 4, 8 * 9 + 4, NONE, .batch = 2, .heads = 2,
        .head_dim = 8, .kv_len = 8),
    ROW(INDEX_SCORES, CHANNELS, 512, 0, 32 + 2 * 4, 16 + 2 * 4, 128 + 16 * 4, NONE, .batch = 2,
        .heads = 2, .head_dim = 8, .kv_len = 8),
    ROW(BLOCK_SCORES, TENSORS, 1024, 0, 4 * 9 + 4, 2 * 9 + 4, 8 * 9 + 4, NONE, .batch = 2,
        .heads = 4, .head_dim = 8, .kv_len = 8, .compression = 2),
    ROW(BLOCK_SCORES, CHANNELS, 1024, 0, 64 + 2 * 4, 32 + 2 * 4, 128 + 16 * 4, NONE, .batch = 2,
        .heads = 4, .head_dim = 8, .kv_len = 8, .compression = 2),
    ROW(INDEX_TOP_K, TENSORS, 16, 0, 9 + 4, 6 * 4, 0, NONE, .batch = 2, .kv_len = 8, .selected = 3),
    ROW(INDEX_TOP_K, CHANNELS, 16, 0, 16 + 2 * 4, 6 * 4, 0, NONE, .batch = 2, .kv_len = 8,
        .selected = 3),
    ROW(SPARSE_MLA, TENSORS, 2560, 0, 12 * 9 + 4, 8 * 9 + 4, 12 * 9 + 4, NONE, .batch = 2,
        .heads = 4, .kv_lora_rank = 16, .qk_rope_head_dim = 8, .kv_len = 10, .selected = 4),
    ROW(COMPRESSED_ATTENTION, TENSORS, 4 * 2 * 8 * 8, 0, 9 + 4, 9 + 4, 4 * 9 + 4, NONE, .heads = 2,
        .head_dim = 8, .kv_len = 10, .window = 4, .compression = 2, .selected = 4),
    ROW(NSA, TENSORS, 4 * 16 * 8 * 12, 0, 11 * 9 + 4, 8 * 9 + 4, 24 * 9 + 2 * 4, NONE, .heads = 16,
        .kv_heads = 2, .head_dim = 8, .kv_len = 16, .window = 4, .compression = 4, .selected = 4),
    ROW(HYPER_COLLAPSE, TENSORS, 1152, 8 * 9 + 4, 4 * 9 + 4, 2 * 9 + 4, 0, NONE, .tokens = 4,
        .hidden = 8, .streams = 2),
    ROW(HYPER_COLLAPSE, CHANNELS, 1152, 128 + 8 * 4, 64 + 8 * 4, 32 + 4 * 4, 0, NONE, .tokens = 4,
        .hidden = 8, .streams = 2),
    ROW(HYPER_EXPAND, TENSORS, 384, 0, 6 * 9 + 2 * 4, 4 * 9 + 4, 0, NONE, .tokens = 4, .hidden = 8,
        .streams = 2),
    ROW(HYPER_EXPAND, CHANNELS, 384, 0, 96 + 12 * 4, 64 + 8 * 4, 0, NONE, .tokens = 4, .hidden = 8,
        .streams = 2),
    ROW(DEPTH_MIX, TENSORS, 384, 9 + 2 * 4, 4 * 9 + 4, 2 * 9 + 4, 0, NONE, .tokens = 4, .hidden = 8,
        .streams = 2),
    ROW(DEPTH_MIX, CHANNELS, 384, 16 + 2 * 4, 64 + 8 * 4, 32 + 4 * 4, 0, NONE, .tokens = 4,
        .hidden = 8, .streams = 2),
    ROW(SHORT_CONV, TENSORS, 256, 2 * 9 + 4, 5 * 9 + 2 * 4, 5 * 9 + 2 * 4, 0, NONE, .batch = 2,
        .query_len = 2, .hidden = 8),
    ROW(SHORT_CONV, CHANNELS, 256, 32 + 8 * 4, 80 + 10 * 4, 80 + 10 * 4, 0, NONE, .batch = 2,
        .query_len = 2, .hidden = 8),
    ROW(CONV2D, TENSORS, 1152, 9 * 9 + 4, 9 + 4, 9 + 4, 0, NONE, .m = 4, .n = 4, .k = 4),
    ROW(CONV2D, CHANNELS, 1152, 144 + 4 * 4, 16 + 4 * 4, 16 + 4 * 4, 0, NONE, .m = 4, .n = 4,
        .k = 4),
    ROW(CONV3D, TENSORS, 3456, 27 * 9 + 4, 9 + 4, 9 + 4, 0, NONE, .m = 4, .n = 4, .k = 4),
    ROW(GROUPNORM, TENSORS, 224, 9 + 2 * 4, 2 * 9 + 4, 2 * 9 + 4, 0, NONE, .tokens = 4, .hidden = 8,
        .gain = 1),
    ROW(MOE_UNGATED, TENSORS, 1024, 1.75 * 2 * (72 + 4), 5 * 9 + 3 * 4, 9 + 4, 0, NONE, .tokens = 2,
        .hidden = 8, .intermediate = 16, .experts = 4, .top_k = 1),
    ROW(MOE_UP, TENSORS, 512, 1.75 * (72 + 4), 9 + 4, 2 * 9 + 4, 0, NONE, .tokens = 2, .hidden = 8,
        .intermediate = 16, .experts = 4, .top_k = 1),
    ROW(ADD_RMSNORM, TENSORS, 384, 9 + 4, 12 * 9 + 3 * 4, 4 * 9 + 4, 0, NONE, .tokens = 4,
        .hidden = 16, .gain = 1),
    ROW(ADD_LAYERNORM, TENSORS, 512, 2 * 9 + 2 * 4, 12 * 9 + 3 * 4, 4 * 9 + 4, 0, NONE, .tokens = 4,
        .hidden = 16, .gain = 1),
    ROW(SILU_MUL_QUANTIZE, TENSORS, 256, 0, 4 * 9 + 2 * 4, 2 * 9 + 4, 0, NONE, .tokens = 4,
        .hidden = 8),
    ROW(GEMM_SILU_MUL, TENSORS, 256, 2 * 9 + 4, 9 + 4, 9 + 4, 0, NONE, .m = 4, .n = 4, .k = 4),
    ROW(ROPE_APPEND, TENSORS, 288, 0, 12 * 9 + 3 * 4, 4 * 9 + 4, 8 * 9 + 2 * 4, NONE, .tokens = 4,
        .heads = 4, .kv_heads = 2, .head_dim = 8, .qk_rope_head_dim = 4),
    ROW(RMSNORM_QUANTIZE, CHANNELS, 288, 8 + 4, 32 + 4 * 4, 32 + 4 * 4, 0, NONE, .tokens = 4,
        .hidden = 8, .gain = 1),
    ROW(ADD_RMSNORM_QUANTIZE, CHANNELS, 320, 8 + 4, 3 * 48, 48, 0, NONE, .tokens = 4, .hidden = 8,
        .gain = 1),
};

/* An operator has the dimensions that its row lists, and no others. */
static void test_dimensions_of_rows(void **state)
{
    (void)state;
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const struct roof_operator_row *const row = roof_operator_row((enum roof_operator)op);
        for (int d = 0; d < ROOF_DIM_COUNT; d++) {
            bool listed = false;
            for (int i = 0; i < row->dim_count; i++) {
                listed = listed || (int)row->dims[i] == d;
            }
            assert_int_equal(roof_operator_has((enum roof_operator)op, (enum roof_dimension)d),
                             listed);
        }
    }
}

static void test_vectors(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(vectors); i++) {
        struct roof_workload w = workload(vectors[i].op, vectors[i].shape);
        w.formats = vectors[i].formats;
        const struct roof_work work = work_of(w);
        const double expected[] = {vectors[i].flops, vectors[i].weights, vectors[i].activations,
                                   vectors[i].out,   vectors[i].kv,      vectors[i].network};
        const double got[] = {work.flops,
                              work.bytes[ROOF_ROLE_WEIGHTS],
                              work.bytes[ROOF_ROLE_ACTIVATIONS],
                              work.bytes[ROOF_ROLE_OUT],
                              work.bytes[ROOF_ROLE_KV],
                              isnan(work.network_bytes) ? NONE : work.network_bytes};
        static const char *const what[] = {"flops", "weights", "activations",
                                           "out",   "kv",      "network"};
        for (size_t j = 0; j < COUNT(expected); j++) {
            if (fabs(got[j] - expected[j]) > TIGHT * fabs(expected[j])) {
                fail_msg("row %zu, %s: %s is %.17g, expected %.17g", i,
                         roof_operator_row(w.op)->name, what[j], got[j], expected[j]);
            }
        }
    }
}

/* A new operator needs a row at fp16 and one with other formats. */
static void test_vectors_cover_every_operator(void **unused)
{
    (void)unused;
    int plain[ROOF_OPERATOR_COUNT] = {0};
    int mixed[ROOF_OPERATOR_COUNT] = {0};
    const struct roof_formats none = FP16;
    for (size_t i = 0; i < COUNT(vectors); i++) {
        if (memcmp(&vectors[i].formats, &none, sizeof none) == 0) {
            plain[vectors[i].op]++;
        } else {
            mixed[vectors[i].op]++;
        }
    }
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const struct roof_operator_row *const row = roof_operator_row((enum roof_operator)op);
        if (row->kind != ROOF_KIND_COMPOSITE && (plain[op] == 0 || mixed[op] == 0)) {
            fail_msg("%s has no hand-derived vector", row->name);
        }
    }
}

/* --- without fusion ------------------------------------------------------------------------ */

/*
 * Without fusion the same FLOPs are made, but for an activation that a product does not count, and
 * each element that stayed on the chip is written and read.
 */
static void test_apart(void **unused)
{
    (void)unused;
#define ROWS .tokens = 4, .hidden = 8
    static const struct {
        enum roof_operator op;
        struct roof_shape shape;
        const char *parts;
        double flops; /* that are not counted where it is fused */
        double bytes; /* that it saves: twice those of what is passed on */
    } cases[] = {
        {ROOF_OPERATOR_ADD_RMSNORM, {ROWS, .gain = 1}, "add rmsnorm ", 0, 64},
        {ROOF_OPERATOR_ADD_LAYERNORM, {ROWS, .gain = 1}, "add layernorm ", 0, 64},
        {ROOF_OPERATOR_RMSNORM_QUANTIZE, {ROWS, .gain = 1}, "rmsnorm quantize ", 0, 128},
        {ROOF_OPERATOR_ADD_RMSNORM_QUANTIZE, {ROWS}, "add rmsnorm quantize ", 0, 64 + 128},
        {ROOF_OPERATOR_SILU_MUL_QUANTIZE, {ROWS}, "silu-mul quantize ", 0, 128},
        {ROOF_OPERATOR_GEMM_SILU_MUL, {.m = 3, .n = 4, .k = 5}, "gemm silu-mul ", 4 * 12, 96},
        {ROOF_OPERATOR_ROPE_APPEND, /* K, of which half is rotated */
         {.tokens = 4, .heads = 4, .kv_heads = 2, .head_dim = 8, .qk_rope_head_dim = 4},
         "rope kv-append ",
         0,
         128},
        {ROOF_OPERATOR_FLASH_ATTENTION, /* 120 scores, written and read twice, and the softmax */
         {PREFILL},
         "attention-scores softmax attention-values ",
         600,
         4 * 240},
    };
#undef ROWS
    int fused = 0;
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        fused += roof_operator_row((enum roof_operator)op)->fuse_count > 0;
    }
    assert_int_equal(fused, COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_workload whole = resolved(workload(cases[i].op, cases[i].shape));
        const struct roof_work one = work_of(whole);
        struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
        char names[100] = "";
        double flops = 0;
        double bytes = 0;
        const int count = roof_workload_apart(parts, &whole);
        for (int k = 0; k < count; k++) {
            struct roof_work work;
            roof_operator_work(&work, &parts[k], NULL);
            flops += work.flops;
            bytes += all_bytes(&work);
            strcat(strcat(names, roof_operator_name(parts[k].op)), " ");
        }
        assert_string_equal(names, cases[i].parts);
        assert_true(flops - one.flops == cases[i].flops);
        assert_true(bytes - all_bytes(&one) == cases[i].bytes);
    }
    struct roof_workload none[ROOF_OPERATOR_PARTS_MAX];
    const struct roof_workload add =
        resolved(workload(ROOF_OPERATOR_ADD, (struct roof_shape){.tokens = 1, .hidden = 1}));
    assert_int_equal(roof_workload_apart(none, &add), 0);
}

/* An operator passes on the residual's format, and no scale is lost on the way. */
static void test_apart_formats(void **unused)
{
    (void)unused;
    struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
    struct roof_workload w = workload(ROOF_OPERATOR_ADD_RMSNORM_QUANTIZE,
                                      (struct roof_shape){.tokens = 4, .hidden = 32});
    w.formats = (struct roof_formats)FORMATS(AUTO, AUTO, FP32, AUTO, MXFP4);
    w = resolved(w);
    assert_int_equal(roof_workload_apart(parts, &w), 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(parts[i].formats.activations, ROOF_PRECISION_FP32);
        assert_int_equal(parts[i].formats.out, i == 2 ? ROOF_PRECISION_MXFP4 : ROOF_PRECISION_FP32);
    }
    w = workload(ROOF_OPERATOR_GEMM_SILU_MUL, (struct roof_shape){.m = 3, .n = 4, .k = 5});
    w.formats = (struct roof_formats)FORMATS(FP8_E4M3, AUTO, AUTO, AUTO, FP8_E4M3);
    w.sparse = 1;
    w = resolved(w);
    assert_int_equal(roof_workload_apart(parts, &w), 2);
    assert_int_equal(parts[0].shape.n, 8);
    assert_int_equal(parts[0].sparse, 1);
    assert_int_equal(parts[0].formats.out, ROOF_PRECISION_BF16);
    assert_int_equal(parts[1].sparse, 0);
    assert_int_equal(parts[1].shape.tokens, 3);
    assert_int_equal(parts[1].shape.hidden, 4);
    assert_int_equal(parts[1].formats.activations, ROOF_PRECISION_BF16);
    assert_int_equal(parts[1].formats.out, ROOF_PRECISION_FP8_E4M3);
    w = workload(ROOF_OPERATOR_ROPE_APPEND,
                 (struct roof_shape){.tokens = 4, .heads = 4, .head_dim = 8});
    w.formats = (struct roof_formats)FORMATS(AUTO, AUTO, FP32, FP8_E4M3, BF16);
    w = resolved(w);
    assert_int_equal(roof_workload_apart(parts, &w), 2);
    assert_int_equal(parts[0].formats.out, ROOF_PRECISION_BF16);
    assert_int_equal(parts[1].formats.activations, ROOF_PRECISION_BF16);
    assert_int_equal(parts[1].formats.kv, ROOF_PRECISION_FP8_E4M3);
}

static void test_rotated(void **unused)
{
    (void)unused;
    struct roof_error error = {0};
    struct roof_workload w = workload(ROOF_OPERATOR_ROPE_APPEND, (struct roof_shape){
                                                                     .tokens = 4,
                                                                     .heads = 4,
                                                                     .head_dim = 8,
                                                                     .qk_rope_head_dim = 9,
                                                                 });
    assert_int_equal(roof_workload_resolve(&w, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "9 must be at most"));
    w.shape.qk_rope_head_dim = 0;
    w = resolved(w);
    assert_int_equal(w.shape.qk_rope_head_dim, 8);
}

/* --- the table ----------------------------------------------------------------------------- */

static void test_table(void **unused)
{
    (void)unused;
    int most = 0;
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const struct roof_operator_row *const row = roof_operator_row((enum roof_operator)op);
        enum roof_operator found = ROOF_OPERATOR_COUNT;
        assert_non_null(row->name);
        assert_true(row->name[0] != '\0' && row->summary[0] != '\0');
        assert_int_equal(roof_operator_find(&found, row->name, NULL), ROOF_OK);
        assert_int_equal(found, op); /* so the names are unique */
        assert_in_range(row->dim_count, 1, ROOF_OPERATOR_DIMS_MAX);
        most = row->dim_count > most ? row->dim_count : most;
        uint64_t own = 0;
        for (int i = 0; i < row->dim_count; i++) {
            assert_int_equal(own & (UINT64_C(1) << row->dims[i]), 0); /* each once */
            own |= UINT64_C(1) << row->dims[i];
            assert_true(roof_operator_has((enum roof_operator)op, row->dims[i]));
        }
        assert_int_equal(row->required & ~own, 0);
        assert_int_equal(row->kind == ROOF_KIND_COMPOSITE, row->part_count > 0);
    }
    assert_int_equal(most, ROOF_OPERATOR_DIMS_MAX); /* so that a step too far is trapped */
    struct roof_error error = {0};
    enum roof_operator found = ROOF_OPERATOR_MOE;
    assert_int_equal(roof_operator_find(&found, "gemmm", &error), ROOF_USAGE);
    assert_int_equal(found, ROOF_OPERATOR_MOE);
    assert_non_null(strstr(error.message, "did you mean gemm"));
    assert_int_equal(roof_operator_find(&found, "GEMM", NULL), ROOF_USAGE);
    assert_int_equal(roof_operator_find(&found, "", NULL), ROOF_USAGE);
}

/* The operators and their dimensions that scripts rely on; more may be added. */
static void test_promised_dimensions(void **unused)
{
    (void)unused;
#define ATTENTION "batch heads kv-heads head-dim query-len kv-len causal window"
#define MLA "batch heads kv-lora-rank qk-nope-head-dim qk-rope-head-dim v-head-dim query-len kv-len"
    static const struct {
        const char *name;
        const char *options;
    } cases[] = {
        {"gemm", "m n k batch"},
        {"gemv", "n k"},
        {"bmm", "batch m n k"},
        {"attention-scores", ATTENTION},
        {"attention-values", ATTENTION},
        {"softmax", ATTENTION},
        {"attention", ATTENTION},
        {"flash-attention", ATTENTION},
        {"mla-decode", MLA},
        {"mla-prefill", MLA},
        {"rmsnorm", "tokens hidden"},
        {"layernorm", "tokens hidden"},
        {"add", "tokens hidden"},
        {"silu-mul", "tokens hidden"},
        {"gelu", "tokens hidden"},
        {"quantize", "tokens hidden"},
        {"rope", "tokens heads kv-heads head-dim"},
        {"kv-append", "tokens heads kv-heads head-dim"},
        {"embedding", "tokens hidden"},
        {"moe", "tokens hidden intermediate experts top-k routing"},
        {"router", "tokens experts top-k"},
        {"all-reduce", "elements devices"},
        {"all-gather", "elements devices"},
        {"reduce-scatter", "elements devices"},
        {"all-to-all", "elements devices"},
        {"index-scores", "batch heads head-dim query-len kv-len"},
        {"block-scores", "batch heads head-dim query-len kv-len"},
        {"index-top-k", "batch query-len kv-len selected"},
        {"sparse-mla", "batch heads kv-lora-rank qk-rope-head-dim query-len kv-len"},
        {"short-conv", "batch query-len hidden taps"},
        {"gated-delta", "batch heads kv-heads head-dim v-head-dim query-len scan-chunk"},
        {"kimi-delta", "batch heads head-dim v-head-dim query-len scan-chunk"},
        {"ssd", "batch heads kv-heads head-dim state-size query-len scan-chunk"},
        {"conv2d", "batch m n k taps subsample"},
        {"conv3d", "batch m n k taps subsample"},
        {"groupnorm", "tokens hidden"},
        {"moe-ungated", "tokens hidden intermediate experts top-k routing"},
        {"moe-up", "tokens hidden intermediate experts top-k routing"},
        {"lightning", "batch heads head-dim v-head-dim query-len scan-chunk"},
        {"selective-scan", "batch query-len hidden state-size"},
    };
    assert_true(COUNT(cases) <= ROOF_OPERATOR_COUNT);
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum roof_operator op = ROOF_OPERATOR_COUNT;
        assert_int_equal(roof_operator_find(&op, cases[i].name, NULL), ROOF_OK);
        const struct roof_operator_row *const row = roof_operator_row(op);
        /* The promised ones come first, in their order. */
        char options[200] = "";
        size_t used = 0;
        for (int d = 0; d < row->dim_count; d++) {
            used += (size_t)snprintf(options + used, sizeof options - used, "%s ",
                                     roof_dimensions[row->dims[d]].option);
            assert_true(used < sizeof options);
        }
        const size_t length = strlen(cases[i].options);
        if (strncmp(options, cases[i].options, length) != 0 || options[length] != ' ') {
            fail_msg("%s takes '%s', expected '%s'", cases[i].name, options, cases[i].options);
        }
    }
}

static void test_role_names(void **unused)
{
    (void)unused;
    assert_string_equal(roof_role_name(ROOF_ROLE_WEIGHTS), "weights");
    assert_string_equal(roof_role_name(ROOF_ROLE_ACTIVATIONS), "activations");
    assert_string_equal(roof_role_name(ROOF_ROLE_OUT), "out");
    assert_string_equal(roof_role_name(ROOF_ROLE_KV), "kv");
}

/* --- attention ----------------------------------------------------------------------------- */

/* Pairs and different keys by counting: query i of T stands at position S - T + i. */
static void count_pairs(const struct roof_shape *s, int64_t *pairs, int64_t *keys)
{
    bool read[64] = {false};
    *pairs = 0;
    *keys = 0;
    for (int64_t i = 0; i < s->query_len; i++) {
        const int64_t position = s->kv_len - s->query_len + i;
        const int64_t last = s->causal > 0 ? position : s->kv_len - 1;
        int64_t seen = 0;
        for (int64_t key = last; key >= 0 && (s->window == 0 || seen < s->window); key--) {
            seen++;
            read[key] = true;
        }
        *pairs += seen;
    }
    for (int64_t key = 0; key < s->kv_len; key++) {
        *keys += read[key];
    }
}

/* Mistakes: causal masking that does not halve the FLOPs; the window ignored. */
static void test_attention_against_counting(void **unused)
{
    (void)unused;
    int cases = 0;
    for (int64_t t = 1; t <= 7; t++) {
        for (int64_t s = 1; s <= 9; s++) {
            for (int64_t window = 0; window <= 10; window++) {
                for (int64_t causal = 0; causal <= 1; causal++) {
                    if (causal > 0 && t > s) {
                        continue;
                    }
                    const struct roof_shape shape = {.heads = 1,
                                                     .head_dim = 1,
                                                     .query_len = t,
                                                     .kv_len = s,
                                                     .causal = causal,
                                                     .window = window};
                    int64_t pairs = 0;
                    int64_t keys = 0;
                    count_pairs(&shape, &pairs, &keys);
                    const double expected = (double)pairs;
                    const struct roof_work flash =
                        work_of(workload(ROOF_OPERATOR_FLASH_ATTENTION, shape));
                    const struct roof_work scores =
                        work_of(workload(ROOF_OPERATOR_ATTENTION_SCORES, shape));
                    const struct roof_work values =
                        work_of(workload(ROOF_OPERATOR_ATTENTION_VALUES, shape));
                    const struct roof_work softmax =
                        work_of(workload(ROOF_OPERATOR_SOFTMAX, shape));
                    if (flash.flops != 4 * expected || scores.flops != 2 * expected ||
                        values.flops != 2 * expected || softmax.flops != 5 * expected) {
                        fail_msg("T=%d S=%d causal=%d window=%d: %.17g pairs, expected %d", (int)t,
                                 (int)s, (int)causal, (int)window, flash.flops / 4, (int)pairs);
                    }
                    if (causal > 0 || window == 0) { /* one key of 2 bytes; K and V in flash */
                        assert_near(flash.bytes[ROOF_ROLE_KV], 4.0 * (double)keys, EXACT);
                        assert_near(scores.bytes[ROOF_ROLE_KV], 2.0 * (double)keys, EXACT);
                        assert_near(values.bytes[ROOF_ROLE_KV], 2.0 * (double)keys, EXACT);
                    }
                    /* Unfused: stored and read in full, whatever is masked. */
                    assert_near(scores.bytes[ROOF_ROLE_OUT], 2.0 * (double)(t * s), EXACT);
                    assert_near(softmax.bytes[ROOF_ROLE_ACTIVATIONS], 2.0 * (double)(t * s), EXACT);
                    assert_near(softmax.bytes[ROOF_ROLE_OUT], 2.0 * (double)(t * s), EXACT);
                    assert_near(values.bytes[ROOF_ROLE_ACTIVATIONS], 2.0 * (double)(t * s), EXACT);
                    cases++;
                }
            }
        }
    }
    assert_true(cases > 500);
}

/* MLA counts the same pairs; it has no window. */
static void test_mla_against_counting(void **unused)
{
    (void)unused;
    for (int64_t t = 1; t <= 7; t++) {
        for (int64_t s = 1; s <= 9; s++) {
            for (int64_t causal = 0; causal <= (t > s ? 0 : 1); causal++) {
                const struct roof_shape shape = {
                    .heads = 1, .query_len = t, .kv_len = s, .causal = causal};
                int64_t pairs = 0;
                int64_t keys = 0;
                count_pairs(&shape, &pairs, &keys);
                const struct roof_work decode = work_of(workload(ROOF_OPERATOR_MLA_DECODE, shape));
                const struct roof_work prefill =
                    work_of(workload(ROOF_OPERATOR_MLA_PREFILL, shape));
                /* 576 multiply-adds for the score, 512 for the value; 192 and 128 expanded. */
                assert_near(decode.flops, 2.0 * 1088 * (double)pairs, EXACT);
                assert_near(prefill.flops, 2.0 * 320 * (double)pairs, EXACT);
                assert_near(decode.bytes[ROOF_ROLE_KV], 576 * 2.0 * (double)keys, EXACT);
                assert_near(prefill.bytes[ROOF_ROLE_KV], 320 * 2.0 * (double)keys, EXACT);
            }
        }
    }
}

/* T = S: T (T + 1) / 2 of T^2 pairs. Also far beyond what can be counted one by one. */
static void test_causal_share(void **unused)
{
    (void)unused;
    static const int64_t lengths[] = {1, 2, 3, 100, 2048, 1000000};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        struct roof_shape shape = {
            .heads = 4, .head_dim = 8, .query_len = lengths[i], .kv_len = lengths[i]};
        const struct roof_work full = work_of(workload(ROOF_OPERATOR_FLASH_ATTENTION, shape));
        shape.causal = 1;
        const struct roof_work masked = work_of(workload(ROOF_OPERATOR_FLASH_ATTENTION, shape));
        const double t = (double)lengths[i];
        assert_near(masked.flops, full.flops * (t + 1) / (2 * t), TIGHT);
        assert_near(all_bytes(&masked), all_bytes(&full), EXACT); /* each key is seen by one */
    }
}

/* Mistake: the cache read by query heads instead of KV heads. */
static void test_grouped_queries(void **unused)
{
    (void)unused;
    static const enum roof_operator ops[] = {ROOF_OPERATOR_ATTENTION_SCORES,
                                             ROOF_OPERATOR_ATTENTION_VALUES,
                                             ROOF_OPERATOR_FLASH_ATTENTION};
    for (size_t i = 0; i < COUNT(ops); i++) {
        const struct roof_shape mha = {.batch = 3, .heads = 32, .head_dim = 128, .kv_len = 1000};
        struct roof_shape gqa = mha;
        struct roof_shape mqa = mha;
        struct roof_shape fewer = mha;
        gqa.kv_heads = 8;
        mqa.kv_heads = 1;
        fewer.heads = 16; /* and the KV heads stay 8 */
        fewer.kv_heads = 8;
        const struct roof_work of_mha = work_of(workload(ops[i], mha));
        const struct roof_work of_gqa = work_of(workload(ops[i], gqa));
        const struct roof_work of_mqa = work_of(workload(ops[i], mqa));
        const struct roof_work of_fewer = work_of(workload(ops[i], fewer));
        assert_near(of_gqa.bytes[ROOF_ROLE_KV], of_mha.bytes[ROOF_ROLE_KV] / 4, EXACT);
        assert_near(of_mqa.bytes[ROOF_ROLE_KV], of_mha.bytes[ROOF_ROLE_KV] / 32, EXACT);
        assert_near(of_fewer.bytes[ROOF_ROLE_KV], of_gqa.bytes[ROOF_ROLE_KV], EXACT);
        assert_near(of_gqa.flops, of_mha.flops, EXACT);
        assert_near(of_mqa.flops, of_mha.flops, EXACT);
        assert_near(of_fewer.flops, of_mha.flops / 2, EXACT);
    }
}

/* The batch multiplies every tensor and the FLOPs. Mistake: the batch forgotten in the cache. */
static void test_batch(void **unused)
{
    (void)unused;
    random_state = 1;
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const enum roof_operator id = (enum roof_operator)op;
        if (!roof_operator_has(id, ROOF_DIM_BATCH) ||
            roof_operator_row(id)->kind == ROOF_KIND_COMPOSITE) {
            continue;
        }
        struct roof_shape shape = random_shape(id, 20);
        shape.batch = 1;
        const struct roof_work one = work_of(workload(id, shape));
        shape.batch = 7;
        const struct roof_work seven = work_of(workload(id, shape));
        assert_near(seven.flops, 7 * one.flops, EXACT);
        for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
            /* Convolutions and scans have weights, which all sequences share. */
            const bool shared =
                roof_operator_has(id, ROOF_DIM_TAPS) || id == ROOF_OPERATOR_SELECTIVE_SCAN;
            const double times = shared && role == ROOF_ROLE_WEIGHTS ? 1 : 7;
            assert_near(seven.bytes[role], times * one.bytes[role], EXACT);
        }
    }
}

/* KV of Llama-2-7B at 4096 tokens: 32 layers of 2 x 4096 x 32 x 128 x 2 bytes are 2 GiB. */
static void test_known_cache_sizes(void **unused)
{
    (void)unused;
    const struct roof_work layer =
        work_of(workload(ROOF_OPERATOR_FLASH_ATTENTION,
                         (struct roof_shape){.heads = 32, .head_dim = 128, .kv_len = 4096}));
    assert_near(32 * layer.bytes[ROOF_ROLE_KV], 2.0 * 1024 * 1024 * 1024, EXACT);
    const struct roof_work appended =
        work_of(workload(ROOF_OPERATOR_KV_APPEND,
                         (struct roof_shape){.tokens = 1, .kv_heads = 32, .head_dim = 128}));
    assert_near(4096 * appended.bytes[ROOF_ROLE_KV], layer.bytes[ROOF_ROLE_KV], EXACT);

    /* Mistake: MLA sized as MHA. DeepSeek-V3 caches 576 elements per token, not 128 x 320. */
    const struct roof_shape shape = {.heads = 128, .query_len = 1, .kv_len = 1000};
    const struct roof_work latent = work_of(workload(ROOF_OPERATOR_MLA_DECODE, shape));
    const struct roof_work expanded = work_of(workload(ROOF_OPERATOR_MLA_PREFILL, shape));
    assert_near(latent.bytes[ROOF_ROLE_KV], 1000 * 576 * 2, EXACT);
    assert_near(expanded.bytes[ROOF_ROLE_KV], 1000 * 128 * 320 * 2, EXACT);
    /* Mistake: head_dim taken as hidden / heads. It is what is given: 64 heads of 128. */
    const struct roof_work given =
        work_of(workload(ROOF_OPERATOR_FLASH_ATTENTION,
                         (struct roof_shape){.heads = 64, .head_dim = 128, .kv_len = 10}));
    assert_near(given.bytes[ROOF_ROLE_ACTIVATIONS], 64 * 128 * 2, EXACT);
}

/* Mistake: flash attention that writes scores. Its bytes grow with T + S, not with T x S. */
static void test_flash_stores_no_scores(void **unused)
{
    (void)unused;
    struct roof_shape shape = {
        .batch = 2, .heads = 8, .kv_heads = 2, .head_dim = 64, .query_len = 100, .kv_len = 1000};
    const struct roof_work at_1000 = work_of(workload(ROOF_OPERATOR_FLASH_ATTENTION, shape));
    assert_near(at_1000.bytes[ROOF_ROLE_OUT], 2 * 100 * 8 * 64 * 2, EXACT);
    shape.kv_len = 2000;
    const struct roof_work at_2000 = work_of(workload(ROOF_OPERATOR_FLASH_ATTENTION, shape));
    assert_near(at_2000.bytes[ROOF_ROLE_OUT], at_1000.bytes[ROOF_ROLE_OUT], EXACT);
    assert_near(all_bytes(&at_2000) - all_bytes(&at_1000), 2.0 * 2 * 1000 * 2 * 64 * 2, EXACT);
}

/* scores (out) -> softmax (activations, out) -> values (activations): one tensor, one format. */
static void test_composite_parts(void **unused)
{
    (void)unused;
    struct roof_workload w = workload(
        ROOF_OPERATOR_ATTENTION,
        (struct roof_shape){.heads = 4, .kv_heads = 2, .head_dim = 8, .query_len = 3, .kv_len = 5});
    w.formats.precision = ROOF_PRECISION_FP8_E4M3;
    w.formats.out = ROOF_PRECISION_FP32;
    w = resolved(w);
    struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
    assert_int_equal(roof_workload_parts(parts, &w), 3);
    assert_int_equal(parts[0].op, ROOF_OPERATOR_ATTENTION_SCORES);
    assert_int_equal(parts[1].op, ROOF_OPERATOR_SOFTMAX);
    assert_int_equal(parts[2].op, ROOF_OPERATOR_ATTENTION_VALUES);
    struct roof_work work[3];
    for (int i = 0; i < 3; i++) {
        assert_memory_equal(&parts[i].shape, &w.shape, sizeof w.shape);
        roof_operator_work(&work[i], &parts[i], NULL);
    }
    /* 4 x 3 x 5 = 60 scores: fp32 to the softmax, fp8 to the values. Q: 3 x 4 x 8 fp8, O fp32. */
    assert_near(work[0].bytes[ROOF_ROLE_ACTIVATIONS], 96, EXACT);
    assert_near(work[0].bytes[ROOF_ROLE_OUT], 60 * 4, EXACT);
    assert_near(work[1].bytes[ROOF_ROLE_ACTIVATIONS], 60 * 4, EXACT);
    assert_near(work[1].bytes[ROOF_ROLE_OUT], 60, EXACT);
    assert_near(work[2].bytes[ROOF_ROLE_ACTIVATIONS], 60, EXACT);
    assert_near(work[2].bytes[ROOF_ROLE_OUT], 96 * 4, EXACT);

    /* An operator that is no composite is its own only part. */
    struct roof_workload single =
        resolved(workload(ROOF_OPERATOR_GEMV, (struct roof_shape){.n = 3, .k = 4}));
    assert_int_equal(roof_workload_parts(parts, &single), 1);
    assert_int_equal(parts[0].op, ROOF_OPERATOR_GEMV);
}

/* --- mixture of experts -------------------------------------------------------------------- */

/* Experts touched: with hidden = intermediate = 1 each is 3 weights of 2 bytes. */
static double touched(int64_t experts, int64_t top_k, int64_t tokens, enum roof_routing routing)
{
    const struct roof_work work =
        work_of(workload(ROOF_OPERATOR_MOE, (struct roof_shape){.tokens = tokens,
                                                                .hidden = 1,
                                                                .intermediate = 1,
                                                                .experts = experts,
                                                                .top_k = top_k,
                                                                .routing = routing}));
    return work.bytes[ROOF_ROLE_WEIGHTS] / 6;
}

/* Mistake: weight bytes of MoE decode that do not grow with the batch. */
static void test_touched_experts(void **unused)
{
    (void)unused;
    static const struct {
        int64_t experts, top_k, tokens;
        enum roof_routing routing;
        double expected;
    } cases[] = {
        {4, 1, 1, ROOF_ROUTING_UNIFORM, 1},               /* one token touches its k */
        {4, 1, 2, ROOF_ROUTING_UNIFORM, 1.75},            /* 4 (1 - 9/16) */
        {4, 2, 2, ROOF_ROUTING_UNIFORM, 3},               /* 4 (1 - 1/4) */
        {4, 2, 3, ROOF_ROUTING_UNIFORM, 3.5},             /* 4 (1 - 1/8) */
        {2, 1, 10, ROOF_ROUTING_UNIFORM, 2 - 2 / 1024.0}, /* 2 (1 - 1/1024) */
        {8, 8, 1, ROOF_ROUTING_UNIFORM, 8},               /* k = E: all, without a logarithm of 0 */
        {8, 8, 100, ROOF_ROUTING_UNIFORM, 8},
        {1, 1, 1, ROOF_ROUTING_UNIFORM, 1},
        {256, 8, 1, ROOF_ROUTING_UNIFORM, 8},
        {256, 8, 1000000, ROOF_ROUTING_UNIFORM, 256}, /* many: all */
        /* 10^12 experts do not cancel: E T/E - E T(T-1)/2 / E^2. */
        {1000000000000, 1, 1, ROOF_ROUTING_UNIFORM, 1},
        {1000000000000, 1, 1000, ROOF_ROUTING_UNIFORM, 1000 - 499500e-12},
        {4, 1, 2, ROOF_ROUTING_BALANCED, 2},
        {4, 2, 2, ROOF_ROUTING_BALANCED, 4},
        {4, 2, 3, ROOF_ROUTING_BALANCED, 4}, /* 6, but there are 4 */
        {256, 8, 1, ROOF_ROUTING_BALANCED, 8},
        {256, 8, 32, ROOF_ROUTING_BALANCED, 256},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const double got =
            touched(cases[i].experts, cases[i].top_k, cases[i].tokens, cases[i].routing);
        if (fabs(got - cases[i].expected) > TIGHT * cases[i].expected) {
            fail_msg("row %zu: %.17g experts, expected %.17g", i, got, cases[i].expected);
        }
    }
}

static void test_touched_experts_grow(void **unused)
{
    (void)unused;
    static const int64_t experts[] = {1, 2, 8, 60, 256};
    for (size_t e = 0; e < COUNT(experts); e++) {
        for (int64_t k = 1; k <= experts[e]; k += 1 + k / 2) {
            for (int routing = 0; routing <= 1; routing++) {
                double previous = 0;
                for (int64_t t = 1; t <= 5000; t += 1 + t / 4) {
                    const double now = touched(experts[e], k, t, (enum roof_routing)routing);
                    assert_true(now >= previous);
                    assert_true(now <= (double)experts[e]);
                    assert_true(now >= (double)k * (1 - TIGHT));
                    assert_true(now <= (double)(k * t) * (1 + TIGHT));
                    previous = now;
                }
            }
        }
    }
}

/* Expectation by listing: every way that 3 tokens can choose 1 of 3 experts. */
static void test_touched_experts_against_listing(void **unused)
{
    (void)unused;
    int sum = 0;
    for (int way = 0; way < 27; way++) {
        const int chosen[3] = {way % 3, way / 3 % 3, way / 9};
        bool hit[3] = {false};
        for (int i = 0; i < 3; i++) {
            hit[chosen[i]] = true;
        }
        sum += hit[0] + hit[1] + hit[2];
    }
    assert_near(touched(3, 1, 3, ROOF_ROUTING_UNIFORM), sum / 27.0, TIGHT);
}

/* --- collectives --------------------------------------------------------------------------- */

static void test_collectives(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {1, 2, 3, 8, 72};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const double p = (double)sizes[i];
        struct roof_shape shape = {.elements = 720, .devices = sizes[i]};
        const struct roof_work reduce = work_of(workload(ROOF_OPERATOR_ALL_REDUCE, shape));
        const struct roof_work gathers = work_of(workload(ROOF_OPERATOR_ALL_GATHER, shape));
        const struct roof_work scatters = work_of(workload(ROOF_OPERATOR_REDUCE_SCATTER, shape));
        const struct roof_work swaps = work_of(workload(ROOF_OPERATOR_ALL_TO_ALL, shape));
        shape.algorithm = ROOF_ALGORITHM_ONE_SHOT;
        const struct roof_work at_once = work_of(workload(ROOF_OPERATOR_ALL_REDUCE, shape));
        const double ring = reduce.network_bytes;
        const double gather = gathers.network_bytes;
        const double scatter = scatters.network_bytes;
        const double exchange = swaps.network_bytes;
        const double shot = at_once.network_bytes;
        assert_near(ring, 2 * (p - 1) / p * 720 * 2, TIGHT);
        assert_near(shot, (p - 1) * 720 * 2, TIGHT);
        assert_near(gather, (p - 1) / p * 720 * 2, TIGHT);
        assert_near(scatter, gather, EXACT);
        assert_near(gather + scatter, ring, TIGHT); /* the ring is the two in sequence */
        assert_near(exchange, gather, EXACT);
        if (sizes[i] == 1) {
            assert_near(ring, 0, EXACT);
            assert_near(shot, 0, EXACT);
        }
        /* A ring waits for its neighbour at each step; what goes to all others at once does not,
         * and one alone sends no message. */
        assert_near(reduce.network_steps, 2 * (p - 1), EXACT);
        assert_near(gathers.network_steps, p - 1, EXACT);
        assert_near(scatters.network_steps, p - 1, EXACT);
        assert_near(swaps.network_steps, sizes[i] > 1 ? 1 : 0, EXACT);
        assert_near(at_once.network_steps, sizes[i] > 1 ? 1 : 0, EXACT);
    }
    assert_near(
        work_of(workload(ROOF_OPERATOR_SEND, (struct roof_shape){.elements = 9})).network_steps, 1,
        EXACT);
    /* Only collectives have network bytes. */
    random_state = 2;
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const enum roof_operator_kind kind = roof_operator_row((enum roof_operator)op)->kind;
        if (kind != ROOF_KIND_COMPOSITE) {
            const struct roof_work work =
                work_of(workload((enum roof_operator)op, random_shape((enum roof_operator)op, 9)));
            assert_int_equal(isnan(work.network_bytes) == 0, kind == ROOF_KIND_COLLECTIVE);
        }
    }
}

/* --- defaults ------------------------------------------------------------------------------ */

static void test_default_dimensions(void **unused)
{
    (void)unused;
    struct roof_workload w =
        resolved(workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = 1, .n = 2, .k = 3}));
    assert_int_equal(w.shape.batch, 1);
    w = resolved(workload(ROOF_OPERATOR_FLASH_ATTENTION,
                          (struct roof_shape){.heads = 6, .head_dim = 4, .kv_len = 10}));
    assert_int_equal(w.shape.batch, 1);
    assert_int_equal(w.shape.kv_heads, 6);
    assert_int_equal(w.shape.query_len, 1);
    assert_int_equal(w.shape.causal, 0);
    assert_int_equal(w.shape.window, 0);
    w = resolved(
        workload(ROOF_OPERATOR_ROPE, (struct roof_shape){.tokens = 1, .heads = 6, .head_dim = 4}));
    assert_int_equal(w.shape.kv_heads, 6);
    /* The sizes of DeepSeek-V2 and V3. */
    w = resolved(
        workload(ROOF_OPERATOR_MLA_DECODE, (struct roof_shape){.heads = 128, .kv_len = 10}));
    assert_int_equal(w.shape.kv_lora_rank, 512);
    assert_int_equal(w.shape.qk_nope_head_dim, 128);
    assert_int_equal(w.shape.qk_rope_head_dim, 64);
    assert_int_equal(w.shape.v_head_dim, 128);
    assert_int_equal(w.shape.query_len, 1);
    w = resolved(
        workload(ROOF_OPERATOR_MOE,
                 (struct roof_shape){
                     .tokens = 1, .hidden = 1, .intermediate = 1, .experts = 1, .top_k = 1}));
    assert_int_equal(w.shape.routing, ROOF_ROUTING_UNIFORM);
    /* The group; of a send, which has no group, its two ends. */
    w = resolved(workload(ROOF_OPERATOR_SEND, (struct roof_shape){.elements = 1}));
    assert_int_equal(w.shape.within, 2);
    for (int64_t devices = 1; devices <= 3; devices++) {
        w = resolved(workload(ROOF_OPERATOR_ALL_REDUCE,
                              (struct roof_shape){.elements = 1, .devices = devices}));
        assert_int_equal(w.shape.within, devices);
    }
    /* A given value stays. */
    w = resolved(workload(ROOF_OPERATOR_MLA_DECODE,
                          (struct roof_shape){.heads = 2, .kv_len = 10, .kv_lora_rank = 7}));
    assert_int_equal(w.shape.kv_lora_rank, 7);
}

/* A gemm with one row and a gemv are the same work, in every format. */
static void test_gemv_is_a_gemm(void **unused)
{
    (void)unused;
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        struct roof_workload gemv =
            workload(ROOF_OPERATOR_GEMV, (struct roof_shape){.n = 96, .k = 512});
        struct roof_workload gemm =
            workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = 1, .n = 96, .k = 512});
        gemv.formats.precision = (enum roof_precision)p;
        gemm.formats.precision = (enum roof_precision)p;
        const struct roof_work a = work_of(gemv);
        const struct roof_work b = work_of(gemm);
        assert_near(a.flops, b.flops, EXACT);
        assert_memory_equal(a.bytes, b.bytes, sizeof a.bytes);
    }
}

static void test_default_formats(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_operator op;
        struct roof_formats given;
        struct roof_formats expected; /* the first and the last are as given */
    } cases[] = {
#define GEMM ROOF_OPERATOR_GEMM
#define QUANTIZE ROOF_OPERATOR_QUANTIZE
        {GEMM, FP16, FORMATS(AUTO, FP16, FP16, FP16, FP16)},
        {GEMM, BOTH(BF16), FORMATS(BF16, BF16, BF16, BF16, BF16)},
        {GEMM, BOTH(FP32), FORMATS(FP32, FP32, FP32, FP32, FP32)},
        {GEMM, BOTH(FP64), FORMATS(FP64, FP64, FP64, FP64, FP64)},
        {GEMM, BOTH(TF32), FORMATS(TF32, TF32, TF32, TF32, TF32)},
        /* Below 16 bits kernels write bf16, and the cache is kept at bf16. */
        {GEMM, BOTH(FP8_E4M3), FORMATS(FP8_E4M3, FP8_E4M3, FP8_E4M3, BF16, BF16)},
        {GEMM, BOTH(INT8), FORMATS(INT8, INT8, INT8, BF16, BF16)},
        {GEMM, BOTH(INT4), FORMATS(INT4, INT4, INT4, BF16, BF16)},
        {GEMM, BOTH(MXFP8_E4M3), FORMATS(MXFP8_E4M3, MXFP8_E4M3, MXFP8_E4M3, BF16, BF16)},
        {GEMM, BOTH(NVFP4), FORMATS(NVFP4, NVFP4, NVFP4, BF16, BF16)},
        {GEMM, BOTH(INT8_CHANNEL), FORMATS(INT8_CHANNEL, INT8_CHANNEL, INT8_CHANNEL, BF16, BF16)},
        /* Formats for weights only pair with fp16, and the FP8 one with fp8_e4m3. */
        {GEMM, BOTH(NF4), FORMATS(NF4, NF4, FP16, FP16, FP16)},
        {GEMM, BOTH(Q4_K), FORMATS(Q4_K, Q4_K, FP16, FP16, FP16)},
        {GEMM, BOTH(INT4_G128), FORMATS(INT4_G128, INT4_G128, FP16, FP16, FP16)},
        {GEMM, BOTH(FP8_BLOCK128), FORMATS(FP8_BLOCK128, FP8_BLOCK128, FP8_E4M3, BF16, BF16)},
        /* Each role on its own. */
        {GEMM, FORMATS(AUTO, INT4, AUTO, AUTO, AUTO), FORMATS(AUTO, INT4, FP16, FP16, FP16)},
        {GEMM, FORMATS(FP8_E4M3, AUTO, BF16, AUTO, AUTO),
         FORMATS(FP8_E4M3, FP8_E4M3, BF16, BF16, BF16)},
        {GEMM, FORMATS(AUTO, AUTO, FP8_E4M3, FP16, FP8_E4M3),
         FORMATS(AUTO, FP16, FP8_E4M3, FP16, FP8_E4M3)},
        {GEMM, FORMATS(NVFP4, FP8_E4M3, INT8, NF4, FP32),
         FORMATS(NVFP4, FP8_E4M3, INT8, NF4, FP32)},
        /* quantize: -p names the result, the input is what the layer before wrote. */
        {QUANTIZE, FP16, FORMATS(AUTO, FP16, BF16, BF16, FP8_E4M3)},
        /* -p is the input, as everywhere; --out is what it quantises to. */
        {QUANTIZE, BOTH(NVFP4), FORMATS(NVFP4, NVFP4, NVFP4, BF16, FP8_E4M3)},
        {QUANTIZE, FORMATS(NVFP4, AUTO, FP16, AUTO, AUTO),
         FORMATS(NVFP4, NVFP4, FP16, FP16, FP8_E4M3)},
        {QUANTIZE, FORMATS(NVFP4, AUTO, AUTO, AUTO, MXFP4),
         FORMATS(NVFP4, NVFP4, NVFP4, BF16, MXFP4)},
        {QUANTIZE, BOTH(FP8_BLOCK128),
         FORMATS(FP8_BLOCK128, FP8_BLOCK128, FP8_E4M3, BF16, FP8_E4M3)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_workload w =
            cases[i].op == GEMM ? workload(GEMM, (struct roof_shape){.m = 1, .n = 1, .k = 1})
                                : workload(QUANTIZE, (struct roof_shape){.tokens = 1, .hidden = 1});
        w.formats = cases[i].given;
        const struct roof_formats got = resolved(w).formats;
        const struct roof_formats *const expected = &cases[i].expected;
        if (got.weights != expected->weights || got.activations != expected->activations ||
            got.kv != expected->kv || got.out != expected->out) {
            fail_msg("row %zu: weights %d, activations %d, kv %d, out %d", i, (int)got.weights,
                     (int)got.activations, (int)got.kv, (int)got.out);
        }
        assert_int_equal(got.compute, ROOF_PRECISION_AUTO);
    }
}

static void test_resolve_is_idempotent(void **unused)
{
    (void)unused;
    random_state = 3;
    for (int i = 0; i < 500; i++) {
        const enum roof_operator op = (enum roof_operator)pick(0, ROOF_OPERATOR_COUNT - 1);
        struct roof_workload w = workload(op, random_shape(op, 50));
        w.formats.precision = (enum roof_precision)pick(-1, ROOF_PRECISION_COUNT - 1);
        w.formats.kv = (enum roof_precision)pick(-1, ROOF_PRECISION_COUNT - 1);
        const struct roof_workload once = resolved(w);
        const struct roof_workload twice = resolved(once);
        assert_memory_equal(&once.shape, &twice.shape, sizeof once.shape);
        assert_memory_equal(&once.formats, &twice.formats, sizeof once.formats);
        assert_true(once.formats.weights >= 0 && once.formats.activations >= 0 &&
                    once.formats.out >= 0 && once.formats.kv >= 0);
    }
}

/* --- refusals ------------------------------------------------------------------------------ */

static void assert_refused(const struct roof_workload *w, const char *first, const char *second)
{
    struct roof_workload copy;
    struct roof_workload before;
    struct roof_error error = {0};
    memcpy(&copy, w, sizeof copy);
    memcpy(&before, &copy, sizeof before);
    const enum roof_status status = roof_workload_resolve(&copy, &error);
    if (status != ROOF_USAGE || error.status != ROOF_USAGE ||
        strstr(error.message, first) == NULL || strstr(error.message, second) == NULL) {
        fail_msg("%s: status %d, message '%s'; expected '%s' and '%s'",
                 roof_operator_row(w->op)->name, (int)status, error.message, first, second);
    }
    assert_null(strchr(error.message, '\n'));
    assert_memory_equal(&copy, &before, sizeof copy); /* as it was */
    assert_int_equal(roof_workload_resolve(&copy, NULL), ROOF_USAGE);
}

/* Every operator, every dimension: missing, not taken, below, above. */
static void test_refused_dimensions(void **unused)
{
    (void)unused;
    random_state = 4;
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const enum roof_operator id = (enum roof_operator)op;
        const struct roof_operator_row *const row = roof_operator_row(id);
        for (int d = 0; d < ROOF_DIM_COUNT; d++) {
            const struct roof_input *const input = &roof_dimensions[d];
            const struct roof_workload valid = workload(id, random_shape(id, 9));
            struct roof_workload w = valid;
            char key[ROOF_INPUT_NAME_SIZE];
            char taking[64];
            char range[64];
            char needed[64];
            roof_input_key(key, input);
            snprintf(taking, sizeof taking, "does not take %s", key);
            snprintf(range, sizeof range, "%s must be an integer from", key);
            snprintf(needed, sizeof needed, " %s", key);
            const bool taken = roof_operator_has(id, (enum roof_dimension)d);
            assert_int_equal(roof_operator_takes(id, (enum roof_dimension)d, NULL),
                             taken ? ROOF_OK : ROOF_USAGE);
            if (!taken) {
                roof_input_put(&w, input, 1);
                assert_refused(&w, row->name, taking);
                continue;
            }
            roof_input_put(&w, input, input->max + 1);
            assert_refused(&w, range, "not ");
            roof_input_put(&w, input, -1);
            assert_refused(&w, range, "not ");
            roof_input_put(&w, input, INT64_MIN);
            assert_refused(&w, range, "not ");
            roof_input_put(&w, input, INT64_MAX);
            assert_refused(&w, range, "not ");
            roof_input_put(&w, input, 0);
            if ((row->required & (UINT64_C(1) << d)) != 0) {
                assert_refused(&w, needed, "needs");
                assert_refused(&w, row->name, "needs");
            } else {
                struct roof_error error = {0};
                assert_int_equal(roof_workload_resolve(&w, &error), ROOF_OK);
            }
        }
    }
}

/* All that is missing is named at once, in the order of the table. */
static void test_missing_dimensions(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_operator op;
        struct roof_shape shape;
        const char *message; /* its beginning */
    } cases[] = {
        {ROOF_OPERATOR_GEMM, {.n = 1}, "gemm needs m and k ("},
        {ROOF_OPERATOR_GEMM, {.m = 1, .n = 1}, "gemm needs k ("},
        {ROOF_OPERATOR_FLASH_ATTENTION,
         {.heads = 1},
         "flash-attention needs head_dim and kv_len ("},
        {ROOF_OPERATOR_MOE, {.hidden = 1}, "moe needs tokens, intermediate, experts and top_k ("},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_workload w = workload(cases[i].op, cases[i].shape);
        assert_refused(&w, cases[i].message, roof_operator_row(w.op)->name);
    }
}

static void test_refused_combinations(void **unused)
{
    (void)unused;
#define OP(id) ROOF_OPERATOR_##id
#define ATTENTION_OF(h, kv)                                                                        \
    {                                                                                              \
        .heads = (h), .kv_heads = (kv), .head_dim = 8, .kv_len = 10                                \
    }
#define CAUSAL_OF(t, s)                                                                            \
    {                                                                                              \
        .heads = 1, .head_dim = 8, .query_len = (t), .kv_len = (s), .causal = 1                    \
    }
#define MOE_OF(e, k)                                                                               \
    {                                                                                              \
        .tokens = 1, .hidden = 1, .intermediate = 1, .experts = (e), .top_k = (k)                  \
    }
    static const struct {
        enum roof_operator op;
        struct roof_shape shape;
        const char *first, *second;
    } cases[] = {
        {OP(FLASH_ATTENTION), ATTENTION_OF(6, 4), "heads 6", "multiple of kv_heads 4"},
        {OP(ATTENTION), ATTENTION_OF(6, 4), "heads 6", "kv_heads 4"},
        {OP(ATTENTION_SCORES), ATTENTION_OF(4, 8), "heads 4", "kv_heads 8"},
        {OP(ATTENTION_VALUES), ATTENTION_OF(4, 3), "heads 4", "kv_heads 3"},
        {OP(ROPE),
         {.tokens = 1, .heads = 6, .kv_heads = 4, .head_dim = 8},
         "heads 6",
         "kv_heads 4"},
        {OP(FLASH_ATTENTION), CAUSAL_OF(11, 10), "query_len 11", "kv_len 10"},
        {OP(ATTENTION), CAUSAL_OF(2, 1), "query_len 2", "with causal, "},
        {OP(MLA_PREFILL),
         {.heads = 1, .query_len = 3, .kv_len = 2, .causal = 1},
         "query_len 3",
         "kv_len 2"},
        {OP(MOE), MOE_OF(4, 5), "top_k 5", "experts 4"},
        {OP(ROUTER), {.tokens = 1, .experts = 1, .top_k = 2}, "top_k 2", "experts 1"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_workload w = workload(cases[i].op, cases[i].shape);
        assert_refused(&w, cases[i].first, cases[i].second);
    }
    /* The edges are fine: T = S, k = E, more queries than keys without a mask. */
    resolved(workload(OP(FLASH_ATTENTION), (struct roof_shape)CAUSAL_OF(10, 10)));
    resolved(workload(OP(MOE), (struct roof_shape)MOE_OF(4, 4)));
    resolved(workload(OP(FLASH_ATTENTION),
                      (struct roof_shape){.heads = 1, .head_dim = 1, .query_len = 9, .kv_len = 2}));
    resolved(workload(OP(FLASH_ATTENTION), (struct roof_shape)ATTENTION_OF(6, 3)));
}

static void test_refused_formats(void **unused)
{
    (void)unused;
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const enum roof_precision precision = (enum roof_precision)p;
        const char *const name = roof_format(precision)->name;
        const struct roof_workload gemm =
            workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = 1, .n = 1, .k = 1});
        struct roof_workload input = gemm;
        struct roof_workload output = gemm;
        struct roof_workload weights = gemm;
        struct roof_workload cache = gemm;
        input.formats.activations = precision;
        output.formats.out = precision;
        weights.formats.weights = precision;
        cache.formats.kv = precision;
        if (roof_precision_weight_only(precision)) {
            assert_refused(&input, name, "; activations takes");
            assert_refused(&output, name, "; out takes");
            assert_refused(&output, name, "weights only");
        } else {
            resolved(input);
            resolved(output);
        }
        resolved(weights);
        resolved(cache); /* some caches are stored in such formats */

        /* Formats for weights only can still be the result of quantising. */
        struct roof_workload quantize =
            workload(ROOF_OPERATOR_QUANTIZE, (struct roof_shape){.tokens = 1, .hidden = 1});
        quantize.formats.out = precision;
        resolved(quantize);
    }
    /* --compute where no product is computed: the fp32 vector peak it is. */
    random_state = 5;
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const enum roof_operator id = (enum roof_operator)op;
        const enum roof_operator_kind kind = roof_operator_row(id)->kind;
        struct roof_workload w = workload(id, random_shape(id, 9));
        w.formats.compute = ROOF_PRECISION_FP16;
        if (kind == ROOF_KIND_VECTOR || kind == ROOF_KIND_COLLECTIVE) {
            assert_refused(&w, "does not take compute", roof_operator_row(id)->name);
        } else {
            resolved(w);
        }
    }
}

/* --- the formulas that --why shows --------------------------------------------------------- */

/*
 * Evaluates the text of a formula: the C expressions that src/operator/formulas.c is made of, over
 * the dimensions and the named steps before. What is shown must be what was computed, to the last
 * bit.
 */
struct evaluator {
    struct {
        const char *name;
        double value;
    } known[64];
    size_t count;
    const char *text;
    const char *p;
    struct roof_work sum; /* of the traced tensors */
    bool flops;
    const char *op;
};

static double conditional(struct evaluator *e);

static void know(struct evaluator *e, const char *name, double value)
{
    assert_true(e->count < COUNT(e->known));
    e->known[e->count].name = name;
    e->known[e->count].value = value;
    e->count++;
}

static bool take(struct evaluator *e, char wanted)
{
    while (*e->p == ' ') {
        e->p++;
    }
    if (*e->p != wanted) {
        return false;
    }
    e->p++;
    return true;
}

static void expect(struct evaluator *e, char wanted)
{
    if (!take(e, wanted)) {
        fail_msg("%s: '%c' expected in '%s' before '%s'", e->op, wanted, e->text, e->p);
    }
}

static double function(struct evaluator *e, const char *name, size_t length)
{
    static const struct {
        const char *name;
        double (*one)(double);
        double (*two)(double, double);
    } functions[] = {{"fmin", NULL, fmin},
                     {"fmax", NULL, fmax},
                     {"expm1", expm1, NULL},
                     {"log1p", log1p, NULL},
                     {"ceil", ceil, NULL}};
    const double first = conditional(e);
    for (size_t i = 0; i < COUNT(functions); i++) {
        if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0) {
            if (functions[i].one != NULL) {
                expect(e, ')');
                return functions[i].one(first);
            }
            expect(e, ',');
            const double second = conditional(e);
            expect(e, ')');
            return functions[i].two(first, second);
        }
    }
    fail_msg("%s: unknown function in '%s'", e->op, e->text);
    return 0;
}

static double primary(struct evaluator *e)
{
    if (take(e, '-')) {
        return -primary(e);
    }
    if (take(e, '(')) {
        const double value = conditional(e);
        expect(e, ')');
        return value;
    }
    const char *const name = e->p;
    if (isdigit((unsigned char)*name)) {
        char *end = NULL;
        const double value = strtod(name, &end);
        e->p = end;
        return value;
    }
    while (isalnum((unsigned char)*e->p) || *e->p == '_') {
        e->p++;
    }
    const size_t length = (size_t)(e->p - name);
    if (length > 0 && take(e, '(')) {
        return function(e, name, length);
    }
    for (size_t i = 0; i < e->count; i++) {
        if (strlen(e->known[i].name) == length && memcmp(e->known[i].name, name, length) == 0) {
            return e->known[i].value;
        }
    }
    fail_msg("%s: unknown name in '%s' before '%s'", e->op, e->text, name);
    return 0;
}

static double product(struct evaluator *e)
{
    double value = primary(e);
    for (;;) {
        if (take(e, '*')) {
            value *= primary(e);
        } else if (take(e, '/')) {
            value /= primary(e);
        } else {
            return value;
        }
    }
}

static double sum(struct evaluator *e)
{
    double value = product(e);
    for (;;) {
        if (take(e, '+')) {
            value += product(e);
        } else if (take(e, '-')) {
            value -= product(e);
        } else {
            return value;
        }
    }
}

static double conditional(struct evaluator *e)
{
    double value = sum(e);
    if (take(e, '>')) {
        value = value > sum(e) ? 1 : 0;
    }
    if (take(e, '?')) {
        const double yes = conditional(e);
        expect(e, ':');
        const double no = conditional(e);
        return value != 0 ? yes : no;
    }
    return value;
}

static double evaluate(struct evaluator *e, const char *text)
{
    e->text = text;
    e->p = text;
    const double value = conditional(e);
    expect(e, '\0');
    return value;
}

static void on_step(void *context, const char *name, const char *expression, double value,
                    enum roof_role role, double bytes)
{
    struct evaluator *const e = context;
    const double shown = evaluate(e, expression);
    if (!(shown == value)) {
        fail_msg("%s: %s = %s is %.17g, but %.17g was computed", e->op, name, expression, shown,
                 value);
    }
    if (role == ROOF_ROLE_COUNT) {
        know(e, name, value);
        if (strcmp(name, "flops") == 0) {
            e->sum.flops = value;
            e->flops = true;
        }
    } else if (strcmp(name, "network_bytes") == 0) {
        e->sum.network_bytes = bytes;
    } else {
        e->sum.bytes[role] += bytes;
        if (strcmp(name, "indices") == 0) {
            assert_near(bytes, 4 * value, EXACT);
        } else if (strcmp(name, "bias") == 0) {
            assert_int_equal(role, ROOF_ROLE_WEIGHTS);
        } else {
            assert_string_equal(name, roof_role_name(role));
        }
    }
}

static void test_text_is_what_is_computed(void **unused)
{
    (void)unused;
    const uint64_t seed = 20240229;
    random_state = seed;
    for (int i = 0; i < 4000; i++) {
        const enum roof_operator op = (enum roof_operator)(i % ROOF_OPERATOR_COUNT);
        if (roof_operator_row(op)->kind == ROOF_KIND_COMPOSITE) {
            continue;
        }
        struct roof_workload w = workload(op, random_shape(op, i % 3 == 0 ? 6 : 5000));
        w.formats.precision = (enum roof_precision)pick(0, ROOF_PRECISION_COUNT - 1);
        w = resolved(w);
        struct evaluator e = {.op = roof_operator_row(op)->name, .sum.network_bytes = ROOF_UNKNOWN};
        for (int d = 0; d < ROOF_DIM_COUNT; d++) { /* 0 where the operator does not have it */
            know(&e, roof_dimensions[d].key, (double)roof_input_get(&w, &roof_dimensions[d]));
        }
        const struct roof_steps trace = {.step = on_step, .context = &e};
        struct roof_work traced;
        struct roof_work untraced;
        roof_operator_work(&traced, &w, &trace);
        roof_operator_work(&untraced, &w, NULL);
        assert_true(e.flops);
        assert_near(traced.flops, untraced.flops, EXACT);
        assert_near(e.sum.flops, untraced.flops, EXACT);
        for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
            assert_near(traced.bytes[role], untraced.bytes[role], EXACT);
            assert_near(e.sum.bytes[role], untraced.bytes[role], EXACT);
        }
        if (isnan(untraced.network_bytes)) {
            assert_true(isnan(e.sum.network_bytes));
        } else {
            assert_near(e.sum.network_bytes, untraced.network_bytes, EXACT);
        }
    }
}

/* People read the text: a blank on both sides of every '*'. */
static void on_tidy_step(void *context, const char *name, const char *expression, double value,
                         enum roof_role role, double bytes)
{
    (void)value;
    (void)role;
    (void)bytes;
    for (const char *p = strchr(expression, '*'); p != NULL; p = strchr(p + 1, '*')) {
        if (p == expression || p[-1] != ' ' || p[1] != ' ') {
            fail_msg("%s: %s = %s", (const char *)context, name, expression);
        }
    }
}

static void test_text_is_tidy(void **unused)
{
    (void)unused;
    random_state = 6;
    for (int i = 0; i < ROOF_OPERATOR_COUNT; i++) {
        const enum roof_operator op = (enum roof_operator)i;
        char name[40];
        snprintf(name, sizeof name, "%s", roof_operator_row(op)->name);
        if (roof_operator_row(op)->kind != ROOF_KIND_COMPOSITE) {
            const struct roof_workload w = resolved(workload(op, random_shape(op, 9)));
            const struct roof_steps trace = {.step = on_tidy_step, .context = name};
            struct roof_work work;
            roof_operator_work(&work, &w, &trace);
        }
    }
}

/* The largest dimensions that are allowed: no overflow, nothing lost to an integer. */
static void test_largest(void **unused)
{
    (void)unused;
    const int64_t most = roof_dimensions[ROOF_DIM_M].max;
    const double d = (double)most;
    const struct roof_work work = work_of(workload(
        ROOF_OPERATOR_GEMM, (struct roof_shape){.m = most, .n = most, .k = most, .batch = most}));
    assert_near(work.flops, 2 * d * d * d * d, TIGHT);
    assert_near(all_bytes(&work), 3 * d * d * d * 2, TIGHT);
    const struct roof_work flash = work_of(workload(
        ROOF_OPERATOR_FLASH_ATTENTION,
        (struct roof_shape){
            .heads = most, .head_dim = most, .query_len = most, .kv_len = most, .causal = 1}));
    assert_near(flash.flops, 4 * d * d * (d * (d + 1) / 2), TIGHT);
}

/* The code takes the sizes of a shape for an array in the order of the dimensions. */
static void test_order_of_dimensions(void **unused)
{
    (void)unused;
    for (size_t d = 0; d < ROOF_DIM_COUNT; d++) {
        assert_int_equal(roof_dimensions[d].offset,
                         offsetof(struct roof_workload, shape) + d * sizeof(int64_t));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dimensions_of_rows),
        cmocka_unit_test(test_order_of_dimensions),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_vectors_cover_every_operator),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_apart_formats),
        cmocka_unit_test(test_rotated),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_promised_dimensions),
        cmocka_unit_test(test_role_names),
        cmocka_unit_test(test_attention_against_counting),
        cmocka_unit_test(test_mla_against_counting),
        cmocka_unit_test(test_causal_share),
        cmocka_unit_test(test_grouped_queries),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_known_cache_sizes),
        cmocka_unit_test(test_flash_stores_no_scores),
        cmocka_unit_test(test_composite_parts),
        cmocka_unit_test(test_touched_experts),
        cmocka_unit_test(test_touched_experts_grow),
        cmocka_unit_test(test_touched_experts_against_listing),
        cmocka_unit_test(test_collectives),
        cmocka_unit_test(test_default_dimensions),
        cmocka_unit_test(test_gemv_is_a_gemm),
        cmocka_unit_test(test_default_formats),
        cmocka_unit_test(test_resolve_is_idempotent),
        cmocka_unit_test(test_refused_dimensions),
        cmocka_unit_test(test_missing_dimensions),
        cmocka_unit_test(test_refused_combinations),
        cmocka_unit_test(test_refused_formats),
        cmocka_unit_test(test_text_is_what_is_computed),
        cmocka_unit_test(test_text_is_tidy),
        cmocka_unit_test(test_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
