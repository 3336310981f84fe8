// SPDX-License-Identifier: MIT
/* The formulas of fused operators: intermediate results stay on the chip. FLOPs are the sum over
 * the operators that are fused. */
#include "operator/formula.h"

/* Two tensors are read, and their sum is written for the next addition, all in the format of the
 * residual; the norm of the sum is the output. */
FORMULA(add_rmsnorm)
{
    DIM(tokens);
    DIM(hidden);
    DIM(gain);
    FLOPS(6 * tokens * hidden);
    TENSOR(WEIGHTS, gain * hidden, gain, gain);
    TENSOR(ACTIVATIONS, 3 * tokens * hidden, 3, 3 * tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

FORMULA(add_layernorm)
{
    DIM(tokens);
    DIM(hidden);
    DIM(gain);
    FLOPS(8 * tokens * hidden);
    TENSOR(WEIGHTS, 2 * gain * hidden, 2 * gain, 2 * gain);
    TENSOR(ACTIVATIONS, 3 * tokens * hidden, 3, 3 * tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

FORMULA(add_rmsnorm_quantize)
{
    DIM(tokens);
    DIM(hidden);
    DIM(gain);
    FLOPS(10 * tokens * hidden);
    TENSOR(WEIGHTS, gain * hidden, gain, gain);
    TENSOR(ACTIVATIONS, 3 * tokens * hidden, 3, 3 * tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

FORMULA(rmsnorm_quantize)
{
    DIM(tokens);
    DIM(hidden);
    DIM(gain);
    FLOPS(9 * tokens * hidden);
    TENSOR(WEIGHTS, gain * hidden, gain, gain);
    TENSOR(ACTIVATIONS, tokens * hidden, 1, tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

FORMULA(silu_mul_quantize)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(8 * tokens * hidden);
    TENSOR(ACTIVATIONS, 2 * tokens * hidden, 2, 2 * tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* Multiplies by gate and up, whose n columns each alternate, so that a thread block has both halves
 * of its results. The activation runs on other units meanwhile and is not counted, as the softmax
 * of flash-attention. */
FORMULA(gemm_silu_mul)
{
    DIM(m);
    DIM(n);
    DIM(k);
    FLOPS(4 * m * n * k);
    TENSOR(WEIGHTS, 2 * n * k, 1, 2 * n);
    BIAS(2 * n);
    TENSOR(ACTIVATIONS, m * k, 1, m);
    TENSOR(OUT, m * n, 1, m);
}

/* Q is rotated in place. K is rotated and written into the cache with V. Elements of Q that are not
 * rotated are not touched. */
FORMULA(rope_append)
{
    DIM(tokens);
    DIM(heads);
    DIM(kv_heads);
    DIM(head_dim);
    DIM(qk_rope_head_dim);
    FLOPS(3 * tokens * (heads + kv_heads) * qk_rope_head_dim);
    TENSOR(ACTIVATIONS, tokens * (heads * qk_rope_head_dim + 2 * kv_heads * head_dim), 3,
           3 * tokens);
    TENSOR(OUT, tokens * heads * qk_rope_head_dim, 1, tokens);
    TENSOR(KV, 2 * tokens * kv_heads * head_dim, 2, 2 * tokens * kv_heads);
}
