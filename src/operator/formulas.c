// SPDX-License-Identifier: MIT
/* The formulas of products, attention, vector operators, experts and collectives. */
#include "operator/formula.h"

const char *roof_role_name(enum roof_role role)
{
    static const char *const names[ROOF_ROLE_COUNT] = {
        [ROOF_ROLE_WEIGHTS] = "weights",
        [ROOF_ROLE_ACTIVATIONS] = "activations",
        [ROOF_ROLE_OUT] = "out",
        [ROOF_ROLE_KV] = "kv",
    };
    return names[role];
}

/* Computes C[m,n] = A[m,k] B[k,n], batch times: a multiplication and an addition per m, n, k. */
FORMULA(gemm)
{
    DIM(m);
    DIM(n);
    DIM(k);
    DIM(batch);
    FLOPS(2 * batch * m * n * k);
    TENSOR(WEIGHTS, batch * n * k, 1, batch * n);
    BIAS(batch * n);
    TENSOR(ACTIVATIONS, batch * m * k, 1, batch * m);
    TENSOR(OUT, batch * m * n, 1, batch * m);
}

/* Multiplies one row: the linear layer of one token. */
FORMULA(gemv)
{
    DIM(n);
    DIM(k);
    FLOPS(2 * n * k);
    TENSOR(WEIGHTS, n * k, 1, n);
    TENSOR(ACTIVATIONS, k, 1, 1);
    TENSOR(OUT, n, 1, 1);
}

/*
 * A convolution is a product over k channels at `taps` positions around each of m positions of the
 * output. It reads each input position that it touches once: `subsample` for each output, but at
 * most its taps. Positions beyond the edge are zeros, which are also multiplied.
 */
FORMULA(conv)
{
    DIM(batch);
    DIM(m);
    DIM(n);
    DIM(k);
    DIM(taps);
    DIM(subsample);
    FLOPS(2 * batch * m * n * k * taps);
    LET(positions, batch * m * fmin(subsample, taps));
    TENSOR(WEIGHTS, n * k * taps, 1, n);
    TENSOR(ACTIVATIONS, positions * k, 1, positions);
    TENSOR(OUT, batch * m * n, 1, batch * m);
}

/* Computes S = Q K^T: head_dim multiply-adds per pair; all T x S scores are stored, masked ones
 * too. */
FORMULA(attention_scores)
{
    ATTENTION_PAIRS;
    ATTENTION_KEYS;
    DIM(kv_heads);
    DIM(head_dim);
    FLOPS(2 * batch * heads * head_dim * pairs);
    TENSOR(ACTIVATIONS, batch * query_len * heads * head_dim, 1, batch * query_len);
    TENSOR(KV, batch * keys * kv_heads * head_dim, 1, batch * keys * kv_heads);
    TENSOR(OUT, batch * heads * query_len * kv_len, 1, batch * heads * query_len);
}

/* Computes O = P V: one multiply-add per pair and element of V; all T x S probabilities are read.
 */
FORMULA(attention_values)
{
    ATTENTION_PAIRS;
    ATTENTION_KEYS;
    DIM(kv_heads);
    DIM(head_dim);
    FLOPS(2 * batch * heads * head_dim * pairs);
    TENSOR(ACTIVATIONS, batch * heads * query_len * kv_len, 1, batch * heads * query_len);
    TENSOR(KV, batch * keys * kv_heads * head_dim, 1, batch * keys * kv_heads);
    TENSOR(OUT, batch * query_len * heads * head_dim, 1, batch * query_len);
}

/* Each score takes a maximum, a subtraction, an exponential, a sum and a division. */
FORMULA(softmax)
{
    ATTENTION_PAIRS;
    FLOPS(5 * batch * heads * pairs);
    TENSOR(ACTIVATIONS, batch * heads * query_len * kv_len, 1, batch * heads * query_len);
    TENSOR(OUT, batch * heads * query_len * kv_len, 1, batch * heads * query_len);
}

/* Fuses both products: scores never leave the chip; the softmax is not counted. */
FORMULA(flash_attention)
{
    ATTENTION_PAIRS;
    ATTENTION_KEYS;
    DIM(kv_heads);
    DIM(head_dim);
    FLOPS(4 * batch * heads * head_dim * pairs);
    TENSOR(ACTIVATIONS, batch * query_len * heads * head_dim, 1, batch * query_len);
    TENSOR(KV, 2 * batch * keys * kv_heads * head_dim, 2, 2 * batch * keys * kv_heads);
    TENSOR(OUT, batch * query_len * heads * head_dim, 1, batch * query_len);
}

/*
 * MLA decodes absorbed: every head attends over the one latent of kv_lora_rank + qk_rope_head_dim
 * elements per token, which is the cache; its first kv_lora_rank elements are also the values. The
 * products that map Q into the latent and the result out of it are BMMs of their own.
 */
FORMULA(mla_decode)
{
    ATTENTION_PAIRS;
    ATTENTION_KEYS;
    DIM(kv_lora_rank);
    DIM(qk_rope_head_dim);
    FLOPS(2 * batch * heads * pairs * (2 * kv_lora_rank + qk_rope_head_dim));
    TENSOR(ACTIVATIONS, batch * query_len * heads * (kv_lora_rank + qk_rope_head_dim), 1,
           batch * query_len);
    TENSOR(KV, batch * keys * (kv_lora_rank + qk_rope_head_dim), 1, batch * keys);
    TENSOR(OUT, batch * query_len * heads * kv_lora_rank, 1, batch * query_len);
}

/* MLA prefills expanded: K and V have been made from the latent for every head (by a GEMM of its
 * own). */
FORMULA(mla_prefill)
{
    ATTENTION_PAIRS;
    ATTENTION_KEYS;
    DIM(qk_nope_head_dim);
    DIM(qk_rope_head_dim);
    DIM(v_head_dim);
    FLOPS(2 * batch * heads * pairs * (qk_nope_head_dim + qk_rope_head_dim + v_head_dim));
    TENSOR(ACTIVATIONS, batch * query_len * heads * (qk_nope_head_dim + qk_rope_head_dim), 1,
           batch * query_len);
    TENSOR(KV, batch * keys * heads * (qk_nope_head_dim + qk_rope_head_dim + v_head_dim), 2,
           2 * batch * keys * heads);
    TENSOR(OUT, batch * query_len * heads * v_head_dim, 1, batch * query_len);
}

/* Each element is squared, added, scaled by the reciprocal root, and multiplied by the gain; the
 * fifth operation is its share of the mean. */
FORMULA(rmsnorm)
{
    DIM(tokens);
    DIM(hidden);
    DIM(gain);
    FLOPS(5 * tokens * hidden);
    TENSOR(WEIGHTS, gain * hidden, gain, gain);
    TENSOR(ACTIVATIONS, tokens * hidden, 1, tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* Each element takes part in the mean, is subtracted from, squared, added, scaled, multiplied by
 * the gain and added to the bias. */
FORMULA(layernorm)
{
    DIM(tokens);
    DIM(hidden);
    DIM(gain);
    FLOPS(7 * tokens * hidden);
    TENSOR(WEIGHTS, 2 * gain * hidden, 2 * gain, 2 * gain);
    TENSOR(ACTIVATIONS, tokens * hidden, 1, tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* The residual reads two tensors and writes one. */
FORMULA(add)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(tokens * hidden);
    TENSOR(ACTIVATIONS, 2 * tokens * hidden, 2, 2 * tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* Computes gate * sigmoid(gate) * up, where the sigmoid counts as two; hidden is the width of the
 * output. */
FORMULA(silu_mul)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(4 * tokens * hidden);
    TENSOR(ACTIVATIONS, 2 * tokens * hidden, 2, 2 * tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* Computes x/2 (1 + tanh(a (x + b x^3))): eight multiplications and additions, and the tanh, which
 * counts as two. */
FORMULA(gelu)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(10 * tokens * hidden);
    TENSOR(ACTIVATIONS, tokens * hidden, 1, tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* Each element takes its magnitude, a maximum, a product with the reciprocal scale, and rounding.
 */
FORMULA(quantize)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(4 * tokens * hidden);
    TENSOR(ACTIVATIONS, tokens * hidden, 1, tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* Each rotated element of Q and K takes two multiplications and an addition; the table of sines is
 * small and shared by all heads, and is not counted. */
FORMULA(rope)
{
    DIM(tokens);
    DIM(heads);
    DIM(kv_heads);
    DIM(head_dim);
    FLOPS(3 * tokens * (heads + kv_heads) * head_dim);
    TENSOR(ACTIVATIONS, tokens * (heads + kv_heads) * head_dim, 2, 2 * tokens);
    TENSOR(OUT, tokens * (heads + kv_heads) * head_dim, 2, 2 * tokens);
}

/* K and V of the new tokens are read and stored in the cache. */
FORMULA(kv_append)
{
    DIM(tokens);
    DIM(kv_heads);
    DIM(head_dim);
    FLOPS(0);
    TENSOR(ACTIVATIONS, 2 * tokens * kv_heads * head_dim, 2, 2 * tokens);
    TENSOR(KV, 2 * tokens * kv_heads * head_dim, 2, 2 * tokens * kv_heads);
}

/* A look-up reads one row of the table per token; it is not a GEMM over the vocabulary. */
FORMULA(embedding)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(0);
    TENSOR(WEIGHTS, tokens * hidden, 1, tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/*
 * The routed experts of a gated MLP multiply by gate, up and down: 3 hidden x intermediate products
 * per token and expert. A token leaves an expert untouched with probability 1 - k/E, so T tokens
 * routed at random touch E (1 - (1 - k/E)^T) of them in expectation, written so that it does not
 * cancel. The gated activation is stored and read once per token and expert. Spread over ep
 * devices, each has its share of the experts and, in expectation, of the routed tokens. A batch
 * touches top_k experts at least, of which ceil(top_k / ep) are on one of the devices.
 */
#define MOE_ROWS                                                                                   \
    DIM(tokens);                                                                                   \
    DIM(hidden);                                                                                   \
    DIM(intermediate);                                                                             \
    DIM(experts);                                                                                  \
    DIM(top_k);                                                                                    \
    DIM(routing);                                                                                  \
    DIM(ep);                                                                                       \
    LET(touched, routing > 1 ? ceil(top_k / ep)                                                    \
                             : (routing > 0  ? fmin(experts, tokens * top_k)                       \
                                : tokens > 1 ? experts * -expm1(tokens * log1p(-top_k / experts))  \
                                             : top_k) /                                            \
                                   ep);                                                            \
    LET(routed, (tokens * top_k) / ep);                                                            \
    LET(rows, fmin(tokens, routed))

FORMULA(moe)
{
    MOE_ROWS;
    FLOPS(6 * routed * hidden * intermediate);
    TENSOR(WEIGHTS, 3 * touched * hidden * intermediate, 3 * touched,
           touched * (2 * intermediate + hidden));
    BIAS(touched * (2 * intermediate + hidden));
    TENSOR(ACTIVATIONS, rows * hidden + 2 * routed * intermediate, 3, rows + 2 * routed);
    TENSOR(OUT, rows * hidden, 1, rows);
}

/* The two halves of moe are operators of their own for experts whose matrices have different
 * formats. */
FORMULA(moe_gate_up)
{
    MOE_ROWS;
    FLOPS(4 * routed * hidden * intermediate);
    TENSOR(WEIGHTS, 2 * touched * hidden * intermediate, 2 * touched, touched * 2 * intermediate);
    BIAS(touched * 2 * intermediate);
    TENSOR(ACTIVATIONS, rows * hidden, 1, rows);
    TENSOR(OUT, routed * intermediate, 1, routed);
}

FORMULA(moe_down)
{
    MOE_ROWS;
    FLOPS(2 * routed * hidden * intermediate);
    TENSOR(WEIGHTS, touched * hidden * intermediate, touched, touched * hidden);
    BIAS(touched * hidden);
    TENSOR(ACTIVATIONS, routed * intermediate, 1, routed);
    TENSOR(OUT, rows * hidden, 1, rows);
}

/* Experts of an MLP without a gate have two matrices; moe_up and moe_down are their halves. */
FORMULA(moe_ungated)
{
    MOE_ROWS;
    FLOPS(4 * routed * hidden * intermediate);
    TENSOR(WEIGHTS, 2 * touched * hidden * intermediate, 2 * touched,
           touched * (intermediate + hidden));
    BIAS(touched * (intermediate + hidden));
    TENSOR(ACTIVATIONS, 2 * routed * intermediate + rows * hidden, 3, 2 * routed + rows);
    TENSOR(OUT, rows * hidden, 1, rows);
}

FORMULA(moe_up)
{
    MOE_ROWS;
    FLOPS(2 * routed * hidden * intermediate);
    TENSOR(WEIGHTS, touched * hidden * intermediate, touched, touched * intermediate);
    BIAS(touched * intermediate);
    TENSOR(ACTIVATIONS, rows * hidden, 1, rows);
    TENSOR(OUT, routed * intermediate, 1, routed);
}

/* The router takes the softmax over the experts, then sums and divides the weights of the chosen
 * ones. The result is top_k weights and their 4-byte indices. */
FORMULA(router)
{
    DIM(tokens);
    DIM(experts);
    DIM(top_k);
    FLOPS(5 * tokens * experts + 2 * tokens * top_k);
    TENSOR(ACTIVATIONS, tokens * experts, 1, tokens);
    TENSOR(OUT, tokens * top_k, 1, tokens);
    c->work->bytes[ROOF_ROLE_OUT] += 4 * tokens * top_k;
    trace_step(c, "indices", "tokens * top_k", tokens * top_k, ROOF_ROLE_OUT, 4 * tokens * top_k);
}

/*
 * A ring sends n/p elements to the neighbour in p-1 steps to reduce and p-1 to spread. One-shot
 * sends the whole tensor to each of the others at once, which costs bytes and saves steps.
 */
FORMULA(all_reduce)
{
    DIM(elements);
    DIM(devices);
    DIM(algorithm);
    FLOPS(algorithm > 0 ? (devices - 1) * elements : (devices - 1) / devices * elements);
    TENSOR(ACTIVATIONS, elements, 1, 1);
    TENSOR(OUT, elements, 1, 1);
    NETWORK(algorithm > 0 ? (devices - 1) * elements : 2 * (devices - 1) / devices * elements);
    STEPS(algorithm > 0 ? fmin(1, devices - 1) : 2 * (devices - 1));
}

/* Each device begins with its share and ends with all elements. It sends p-1 shares, either its own
 * to each of the others or one to the next per step. */
FORMULA(all_gather)
{
    DIM(elements);
    DIM(devices);
    FLOPS(0);
    TENSOR(ACTIVATIONS, elements / devices, 1, 1);
    TENSOR(OUT, elements, 1, 1);
    NETWORK((devices - 1) / devices * elements);
    STEPS(devices - 1);
}

/* Each device begins with all elements and ends with the sum of its share. */
FORMULA(reduce_scatter)
{
    DIM(elements);
    DIM(devices);
    FLOPS((devices - 1) / devices * elements);
    TENSOR(ACTIVATIONS, elements, 1, 1);
    TENSOR(OUT, elements / devices, 1, 1);
    NETWORK((devices - 1) / devices * elements);
    STEPS(devices - 1);
}

/* Each device keeps one share of its elements and sends the others. */
FORMULA(all_to_all)
{
    DIM(elements);
    DIM(devices);
    FLOPS(0);
    TENSOR(ACTIVATIONS, elements, 1, 1);
    TENSOR(OUT, elements, 1, 1);
    NETWORK((devices - 1) / devices * elements);
    STEPS(fmin(1, devices - 1));
}

/* One device sends to another, at a boundary of pipeline stages. */
FORMULA(send)
{
    DIM(elements);
    FLOPS(0);
    TENSOR(ACTIVATIONS, elements, 1, 1);
    NETWORK(elements);
    STEPS(1);
}
