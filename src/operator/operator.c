// SPDX-License-Identifier: MIT
#include "operator/operator.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/exponential.h"
#include "catalog/storage.h"
#include "operator/resolve.h"

/* --- formulas ------------------------------------------------------------------------------ */

/* Formulas show these names, and have the same bits with every C library. */
#define expm1(x) roof_expm1(x)
#define log1p(x) roof_log1p(x)

/*
 * Derivations, sources and assumptions: docs/formulas.md, under the names used here.
 *
 * Each formula is an expression over the dimensions, written once: it is computed, and its text is
 * what --why shows and what docs/formulas.md derives. One FLOP is one multiplication or addition.
 * A tensor is given by its role and its elements; its bytes follow from the format of the role.
 */
struct context {
    const double *dimension;            /* by enum roof_dimension */
    const struct roof_storage *storage; /* by enum roof_role */
    bool bias;                          /* vectors are added */
    struct roof_work *work;
    const struct roof_steps *trace;
};

static inline void trace_step(const struct context *c, const char *name, const char *text,
                              double value, enum roof_role role, double bytes)
{
    if (c->trace != NULL) {
        c->trace->step(c->trace->context, name, text, value, role, bytes);
    }
}

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

static inline void tensor(const struct context *c, enum roof_role role, const char *text,
                          double elements, double tensors, double channels)
{
    const double bytes = roof_storage_bytes(&c->storage[role], elements, tensors, channels);
    c->work->bytes[role] += bytes;
    trace_step(c, roof_role_name(role), text, elements, role, bytes);
}

/* The index of a dimension by the name that it has in formulas. */
enum {
#define INDEX(name, field, ...) index_##field = ROOF_DIM_##name,
    ROOF_DIMENSIONS(INDEX)
#undef INDEX
};

/* Declares a variable with the name and the value of a dimension. */
#define DIM(name) const double name = c->dimension[index_##name]
#define LET(name, expression)                                                                      \
    const double name = (expression);                                                              \
    trace_step(c, #name, #expression, name, ROOF_ROLE_COUNT, ROOF_UNKNOWN)
#define FLOPS(expression)                                                                          \
    c->work->flops = (expression);                                                                 \
    trace_step(c, "flops", #expression, c->work->flops, ROOF_ROLE_COUNT, ROOF_UNKNOWN)
/* Adds a tensor of a role; tensors and channels say how many scales per tensor and per channel it
 * has. */
#define TENSOR(role, elements, tensors, channels)                                                  \
    tensor(c, ROOF_ROLE_##role, #elements, elements, tensors, channels)
/* States how many elements each device sends in one direction, in the activations' format. */
#define NETWORK(elements)                                                                          \
    c->work->network_bytes =                                                                       \
        roof_storage_bytes(&c->storage[ROOF_ROLE_ACTIVATIONS], elements, 0, 0);                    \
    trace_step(c, "network_bytes", #elements, elements, ROOF_ROLE_ACTIVATIONS,                     \
               c->work->network_bytes)
/* States how many messages wait for each other. */
#define STEPS(expression)                                                                          \
    c->work->network_steps = (expression);                                                         \
    trace_step(c, "network_steps", #expression, c->work->network_steps, ROOF_ROLE_COUNT,           \
               ROOF_UNKNOWN)

/* Bias vectors are weights in the format of the output; the additions happen on the way out and are
 * not counted. */
static inline void bias_vectors(const struct context *c, const char *text, double elements)
{
    if (c->bias) {
        const double bytes = roof_storage_bytes(&c->storage[ROOF_ROLE_OUT], elements, 0, 0);
        c->work->bytes[ROOF_ROLE_WEIGHTS] += bytes;
        trace_step(c, "bias", text, elements, ROOF_ROLE_WEIGHTS, bytes);
    }
}
#define BIAS(elements) bias_vectors(c, #elements, elements)

/* Begins the function of an operator: its formulas. */
#define FORMULA(name) static void name(const struct context *c)

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
 * Counts pairs of query and key. Query i of T = query_len sees the keys up to its own position
 * (causal), of them at most the last window. Without a window the causal count is T*S - T(T-1)/2:
 * the last query sees all S keys, each one before it one fewer. With a window the queries whose
 * position is below the window ("ramp" of them) see fewer than "span". keys is how many different
 * keys are read: the union of T windows.
 */
#define ATTENTION_PAIRS                                                                            \
    DIM(batch);                                                                                    \
    DIM(heads);                                                                                    \
    DIM(query_len);                                                                                \
    DIM(kv_len);                                                                                   \
    DIM(causal);                                                                                   \
    DIM(window);                                                                                   \
    LET(span, window > 0 ? fmin(window, kv_len) : kv_len);                                         \
    LET(ramp, causal > 0 ? fmax(0, span - (kv_len - query_len + 1)) : 0);                          \
    LET(pairs, (query_len * span) - ramp * (ramp + 1) / 2)
#define ATTENTION_KEYS LET(keys, fmin(kv_len, span + query_len - 1))

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

/* A look-up reads one row of the table per token; it is no GEMM over the vocabulary. */
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
 * devices, each has its share of the experts and, in expectation, of the routed tokens.
 */
#define MOE_ROWS                                                                                   \
    DIM(tokens);                                                                                   \
    DIM(hidden);                                                                                   \
    DIM(intermediate);                                                                             \
    DIM(experts);                                                                                  \
    DIM(top_k);                                                                                    \
    DIM(routing);                                                                                  \
    DIM(ep);                                                                                       \
    LET(touched, (routing > 0  ? fmin(experts, tokens * top_k)                                     \
                  : tokens > 1 ? experts * -expm1(tokens * log1p(-top_k / experts))                \
                               : top_k) /                                                          \
                     ep);                                                                          \
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

/* Each device ends with all elements and begins with its share; either way it sends as much as
 * p-1 shares, one to each or one onward per step. */
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

/* --- the table ----------------------------------------------------------------------------- */

#define D(name) ROOF_DIM_##name
static_assert(ROOF_DIM_COUNT <= 32, "required is a set of 32 bits");
#define BIT(name) (1U << ROOF_DIM_##name)
#define DIMS(...)                                                                                  \
    .dims = {__VA_ARGS__}, .dim_count = (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int))
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

#define EXPERT_DIMS                                                                                \
    DIMS(D(TOKENS), D(HIDDEN), D(INTERMEDIATE), D(EXPERTS), D(TOP_K), D(ROUTING), D(EP)),          \
        .required = BIT(TOKENS) | BIT(HIDDEN) | BIT(INTERMEDIATE) | BIT(EXPERTS) | BIT(TOP_K)

struct row {
    struct roof_operator_row row;
    void (*formula)(const struct context *context); /* NULL for a composite */
};

static const struct row rows[ROOF_OPERATOR_COUNT] = {
    [ROOF_OPERATOR_GEMM] = {{.name = "gemm",
                             .summary = "C = A B, the linear layer",
                             DIMS(D(M), D(N), D(K), D(BATCH)),
                             .required = BIT(M) | BIT(N) | BIT(K)},
                            gemm},
    [ROOF_OPERATOR_GEMV] = {{.name = "gemv",
                             .summary = "a gemm with one row, the linear layer of one token",
                             DIMS(D(N), D(K)),
                             .required = BIT(N) | BIT(K)},
                            gemv},
    [ROOF_OPERATOR_BMM] = {{.name = "bmm",
                            .summary = "batched gemm; A has the activations' role, B the weights'",
                            DIMS(D(BATCH), D(M), D(N), D(K)),
                            .required = BIT(BATCH) | BIT(M) | BIT(N) | BIT(K)},
                           gemm},
    [ROOF_OPERATOR_ATTENTION_SCORES] = {{.name = "attention-scores",
                                         .summary = "Q K^T, scores stored in full",
                                         ATTENTION_DIMS,
                                         ATTENTION_REQUIRED,
                                         .other = ROOF_ROLE_KV},
                                        attention_scores},
    [ROOF_OPERATOR_ATTENTION_VALUES] = {{.name = "attention-values",
                                         .summary = "scores x V",
                                         ATTENTION_DIMS,
                                         ATTENTION_REQUIRED,
                                         .other = ROOF_ROLE_KV},
                                        attention_values},
    [ROOF_OPERATOR_SOFTMAX] = {{.name = "softmax",
                                .summary = "softmax of stored scores",
                                .kind = ROOF_KIND_VECTOR,
                                ATTENTION_DIMS,
                                .required = BIT(HEADS) | BIT(KV_LEN)},
                               softmax},
    [ROOF_OPERATOR_ATTENTION] = {{.name = "attention",
                                  .summary = "scores, softmax and values, unfused",
                                  .kind = ROOF_KIND_COMPOSITE,
                                  ATTENTION_DIMS,
                                  ATTENTION_REQUIRED,
                                  .other = ROOF_ROLE_KV,
                                  .parts = {ROOF_OPERATOR_ATTENTION_SCORES, ROOF_OPERATOR_SOFTMAX,
                                            ROOF_OPERATOR_ATTENTION_VALUES},
                                  .part_count = 3},
                                 NULL},
    [ROOF_OPERATOR_FLASH_ATTENTION] = {{.name = "flash-attention",
                                        .summary = "fused attention; scores stay on the chip",
                                        ATTENTION_DIMS,
                                        ATTENTION_REQUIRED,
                                        .other = ROOF_ROLE_KV},
                                       flash_attention},
    [ROOF_OPERATOR_MLA_DECODE] = {{.name = "mla-decode",
                                   .summary = "absorbed latent attention over the cached latent",
                                   MLA_DIMS,
                                   .required = BIT(HEADS) | BIT(KV_LEN),
                                   .other = ROOF_ROLE_KV},
                                  mla_decode},
    [ROOF_OPERATOR_MLA_PREFILL] = {{.name = "mla-prefill",
                                    .summary = "latent attention with K and V expanded per head",
                                    MLA_DIMS,
                                    .required = BIT(HEADS) | BIT(QUERY_LEN) | BIT(KV_LEN),
                                    .other = ROOF_ROLE_KV},
                                   mla_prefill},
    [ROOF_OPERATOR_RMSNORM] = {{.name = "rmsnorm",
                                .summary = "root-mean-square norm",
                                .kind = ROOF_KIND_VECTOR,
                                NORM_ROWS},
                               rmsnorm},
    [ROOF_OPERATOR_LAYERNORM] =
        {{.name = "layernorm", .summary = "layer norm", .kind = ROOF_KIND_VECTOR, NORM_ROWS},
         layernorm},
    [ROOF_OPERATOR_ADD] =
        {{.name = "add", .summary = "residual addition", .kind = ROOF_KIND_VECTOR, ROWS}, add},
    [ROOF_OPERATOR_SILU_MUL] = {{.name = "silu-mul",
                                 .summary = "silu(gate) * up of a gated MLP",
                                 .kind = ROOF_KIND_VECTOR,
                                 ROWS},
                                silu_mul},
    [ROOF_OPERATOR_GELU] =
        {{.name = "gelu", .summary = "GELU activation", .kind = ROOF_KIND_VECTOR, ROWS}, gelu},
    [ROOF_OPERATOR_QUANTIZE] = {{.name = "quantize",
                                 .summary = "from -a (default bf16) to --out (default fp8_e4m3)",
                                 .kind = ROOF_KIND_VECTOR,
                                 ROWS},
                                quantize},
    [ROOF_OPERATOR_ROPE] = {{.name = "rope",
                             .summary = "rotary position embedding of Q and K",
                             .kind = ROOF_KIND_VECTOR,
                             DIMS(D(TOKENS), D(HEADS), D(KV_HEADS), D(HEAD_DIM)),
                             .required = BIT(TOKENS) | BIT(HEADS) | BIT(HEAD_DIM)},
                            rope},
    [ROOF_OPERATOR_KV_APPEND] = {{.name = "kv-append",
                                  .summary = "new K and V into the cache",
                                  .kind = ROOF_KIND_VECTOR,
                                  DIMS(D(TOKENS), D(HEADS), D(KV_HEADS), D(HEAD_DIM)),
                                  .required = BIT(TOKENS) | BIT(KV_HEADS) | BIT(HEAD_DIM),
                                  .other = ROOF_ROLE_KV},
                                 kv_append},
    [ROOF_OPERATOR_EMBEDDING] = {{.name = "embedding",
                                  .summary = "look-up of one row per token",
                                  .kind = ROOF_KIND_VECTOR,
                                  ROWS},
                                 embedding},
    [ROOF_OPERATOR_MOE] = {{.name = "moe", .summary = "routed experts of a gated MLP", EXPERT_DIMS},
                           moe},
    [ROOF_OPERATOR_MOE_GATE_UP] = {{.name = "moe-gate-up",
                                    .summary = "the gate and up products of routed experts",
                                    EXPERT_DIMS},
                                   moe_gate_up},
    [ROOF_OPERATOR_MOE_DOWN] = {{.name = "moe-down",
                                 .summary = "the down product of routed experts",
                                 EXPERT_DIMS},
                                moe_down},
    [ROOF_OPERATOR_ROUTER] = {{.name = "router",
                               .summary = "top-k softmax over the experts",
                               .kind = ROOF_KIND_VECTOR,
                               DIMS(D(TOKENS), D(EXPERTS), D(TOP_K)),
                               .required = BIT(TOKENS) | BIT(EXPERTS) | BIT(TOP_K)},
                              router},
    [ROOF_OPERATOR_ALL_REDUCE] = {{.name = "all-reduce",
                                   .summary = "sum over the devices, to every device",
                                   .kind = ROOF_KIND_COLLECTIVE,
                                   GROUP},
                                  all_reduce},
    [ROOF_OPERATOR_ALL_GATHER] = {{.name = "all-gather",
                                   .summary = "every device's share, to every device",
                                   .kind = ROOF_KIND_COLLECTIVE,
                                   GROUP},
                                  all_gather},
    [ROOF_OPERATOR_REDUCE_SCATTER] = {{.name = "reduce-scatter",
                                       .summary = "sum over the devices, a share to each",
                                       .kind = ROOF_KIND_COLLECTIVE,
                                       GROUP},
                                      reduce_scatter},
    [ROOF_OPERATOR_ALL_TO_ALL] = {{.name = "all-to-all",
                                   .summary = "a share of each device's elements to each other",
                                   .kind = ROOF_KIND_COLLECTIVE,
                                   GROUP},
                                  all_to_all},
    [ROOF_OPERATOR_SEND] = {{.name = "send",
                             .summary = "a tensor from one device to another",
                             .kind = ROOF_KIND_COLLECTIVE,
                             DIMS(D(ELEMENTS), D(WITHIN)),
                             .required = BIT(ELEMENTS)},
                            send},
};

const struct roof_operator_row *roof_operator_row(enum roof_operator op)
{
    assert((unsigned)op < ROOF_OPERATOR_COUNT);
    return &rows[op].row;
}

const char *roof_operator_name(enum roof_operator op)
{
    return (int)op < 0 || op >= ROOF_OPERATOR_COUNT ? NULL : roof_operator_row(op)->name;
}

enum roof_status roof_operator_find(enum roof_operator *out, const char *name,
                                    struct roof_error *error)
{
    const char *names[ROOF_OPERATOR_COUNT];
    for (int i = 0; i < ROOF_OPERATOR_COUNT; i++) {
        names[i] = rows[i].row.name;
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
    return rows[op].row.kind == ROOF_KIND_MATRIX || rows[op].row.kind == ROOF_KIND_COMPOSITE;
}

bool roof_operator_has(enum roof_operator op, enum roof_dimension dimension)
{
    const struct roof_operator_row *const row = &rows[op].row;
    for (int i = 0; i < row->dim_count; i++) {
        if (row->dims[i] == dimension) {
            return true;
        }
    }
    return false;
}

enum roof_status roof_operator_takes(enum roof_operator op, enum roof_dimension dimension,
                                     struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    return roof_operator_has(op, dimension)
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE, "%s does not take %s", rows[op].row.name,
                                roof_input_marked(name, &roof_dimensions[dimension]));
}

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

/* Looks up how the format of each role stores its elements; the workload is resolved. */
static void fill_storage(struct roof_storage out[ROOF_ROLE_COUNT],
                         const struct roof_formats *formats)
{
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        out[role] = roof_storage_of(roof_format(roof_role_format(formats, (enum roof_role)role)));
    }
}

void roof_operator_work(struct roof_work *out, const struct roof_workload *workload,
                        const struct roof_steps *trace)
{
    const struct row *const row = &rows[workload->op];
    const int64_t *const size = roof_sizes(&workload->shape);
    struct roof_storage storage[ROOF_ROLE_COUNT];
    /* Formulas may look at dimensions that their operator does not have. */
    double dimension[ROOF_DIM_COUNT] = {0};
    fill_storage(storage, &workload->formats);
    for (int i = 0; i < row->row.dim_count; i++) {
        dimension[row->row.dims[i]] = (double)size[row->row.dims[i]];
    }
    *out = (struct roof_work){.network_bytes = ROOF_UNKNOWN};
    row->formula(&(struct context){dimension, storage, workload->shape.bias > 0, out, trace});
}
