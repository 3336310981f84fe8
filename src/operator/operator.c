// SPDX-License-Identifier: MIT
#include "roofline/operator.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/precision.h"
#include "operator/operator.h"

/* --- dimensions ---------------------------------------------------------------------------- */

#define AT(field) offsetof(struct roof_workload, shape.field)
#define SIZE_OF(key_, option_, letter_, help_, of_)                                                \
    {                                                                                              \
        .key = #key_, .option = (option_), .letter = (letter_), .kind = ROOF_INPUT_INTEGER,        \
        .min = 1, .max = ROOF_DIMENSION_MAX, .value = "N", .help = (help_), .offset = AT(key_),    \
        .field = true, .of = (of_), .group = ROOF_GROUP_WORKLOAD                                   \
    }
#define SIZE(key_, option_, letter_, help_)                                                        \
    SIZE_OF(key_, option_, letter_, help_, ROOF_OF_OPERATORS)

static const char *const routings[] = {
    [ROOF_ROUTING_UNIFORM] = "uniform", [ROOF_ROUTING_BALANCED] = "balanced", NULL};
static const char *const algorithms[] = {
    [ROOF_ALGORITHM_RING] = "ring", [ROOF_ALGORITHM_ONE_SHOT] = "one-shot", NULL};

const struct roof_input roof_dimensions[ROOF_DIM_COUNT] = {
    [ROOF_DIM_M] = SIZE(m, "m", 'm', "rows of the output (tokens)"),
    [ROOF_DIM_N] = SIZE(n, "n", 'n', "columns of the output (output features)"),
    [ROOF_DIM_K] = SIZE(k, "k", 'k', "summed dimension (input features)"),
    [ROOF_DIM_BATCH] =
        SIZE_OF(batch, "batch", 0, "independent products or sequences (default 1)", ROOF_OF_ALL),
    [ROOF_DIM_HEADS] = SIZE(heads, "heads", 0, "query heads"),
    [ROOF_DIM_KV_HEADS] = SIZE(kv_heads, "kv-heads", 0, "key and value heads (default: --heads)"),
    [ROOF_DIM_HEAD_DIM] = SIZE(head_dim, "head-dim", 0, "elements per head"),
    [ROOF_DIM_QUERY_LEN] = SIZE(query_len, "query-len", 0, "tokens that ask (default 1: decode)"),
    [ROOF_DIM_KV_LEN] = SIZE(kv_len, "kv-len", 0, "tokens attended to, the new ones included"),
    [ROOF_DIM_CAUSAL] = {.key = "causal",
                         .option = "causal",
                         .kind = ROOF_INPUT_FLAG,
                         .max = 1,
                         .help = "a query sees only the keys up to its own position",
                         .offset = AT(causal),
                         .field = true,
                         .of = ROOF_OF_OPERATORS,
                         .group = ROOF_GROUP_WORKLOAD},
    [ROOF_DIM_WINDOW] = {.key = "window",
                         .option = "window",
                         .kind = ROOF_INPUT_INTEGER,
                         .max = ROOF_DIMENSION_MAX,
                         .value = "N",
                         .help = "keys a query sees at most (default 0: all)",
                         .offset = AT(window),
                         .field = true,
                         .of = ROOF_OF_OPERATORS,
                         .group = ROOF_GROUP_WORKLOAD},
    [ROOF_DIM_KV_LORA_RANK] =
        SIZE(kv_lora_rank, "kv-lora-rank", 0, "elements of the MLA latent (default 512)"),
    [ROOF_DIM_QK_NOPE_HEAD_DIM] = SIZE(qk_nope_head_dim, "qk-nope-head-dim", 0,
                                       "elements of Q and K without position (default 128)"),
    [ROOF_DIM_QK_ROPE_HEAD_DIM] = SIZE(qk_rope_head_dim, "qk-rope-head-dim", 0,
                                       "elements of Q and K with position (default 64)"),
    [ROOF_DIM_V_HEAD_DIM] = SIZE(v_head_dim, "v-head-dim", 0, "elements of V (default 128)"),
    [ROOF_DIM_TOKENS] = SIZE(tokens, "tokens", 0, "tokens (rows)"),
    [ROOF_DIM_HIDDEN] = SIZE(hidden, "hidden", 0, "elements per token (of the output)"),
    [ROOF_DIM_GAIN] = {.key = "gain",
                       .option = "gain",
                       .kind = ROOF_INPUT_FLAG,
                       .max = 1,
                       .help = "count the read of the norm's gain (and bias) vector as weights",
                       .offset = AT(gain),
                       .field = true,
                       .of = ROOF_OF_OPERATORS,
                       .group = ROOF_GROUP_WORKLOAD},
    [ROOF_DIM_INTERMEDIATE] =
        SIZE(intermediate, "intermediate", 0, "elements between the two products of an expert"),
    [ROOF_DIM_EXPERTS] = SIZE(experts, "experts", 0, "routed experts"),
    [ROOF_DIM_TOP_K] = SIZE(top_k, "top-k", 0, "experts per token"),
    [ROOF_DIM_ROUTING] = {.key = "routing",
                          .option = "routing",
                          .kind = ROOF_INPUT_CHOICE,
                          .max = 1,
                          .choices = routings,
                          .value = "uniform|balanced",
                          .help = "how tokens meet experts (default uniform, at random)",
                          .offset = AT(routing),
                          .field = true,
                          .group = ROOF_GROUP_WORKLOAD},
    [ROOF_DIM_EP] =
        SIZE_OF(ep, "ep", 0,
                "devices the experts are spread over; a model runs on tp x pp x ep (default 1)",
                ROOF_OF_ALL),
    [ROOF_DIM_ELEMENTS] =
        SIZE(elements, "elements", 0, "elements of the whole tensor (all-to-all: per device)"),
    [ROOF_DIM_DEVICES] = SIZE(devices, "devices", 0, "devices in the group"),
    [ROOF_DIM_WITHIN] = SIZE(within, "within", 0,
                             "consecutive devices that the group lies within (default: the group)"),
    [ROOF_DIM_ALGORITHM] = {.key = "algorithm",
                            .option = "algorithm",
                            .kind = ROOF_INPUT_CHOICE,
                            .max = 1,
                            .choices = algorithms,
                            .value = "ring|one-shot",
                            .help = "how the collective sends (default ring)",
                            .offset = AT(algorithm),
                            .field = true,
                            .of = ROOF_OF_OPERATORS,
                            .group = ROOF_GROUP_WORKLOAD},
};

/* The dimensions as an array; bias follows them. */
static const int64_t *sizes_of(const struct roof_workload *workload)
{
    return (const int64_t *)(const void *)&workload->shape;
}

/* What a dimension is when it is not given; 0: it stays away. */
static int64_t dimension_default(enum roof_dimension dimension, const struct roof_shape *shape)
{
    switch ((int)dimension) {
    case ROOF_DIM_BATCH:
    case ROOF_DIM_QUERY_LEN:
    case ROOF_DIM_EP:
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
    case ROOF_DIM_QK_ROPE_HEAD_DIM:
        return 64;
    default:
        return 0;
    }
}

/* --- formulas ------------------------------------------------------------------------------ */

/*
 * Derivations, sources and assumptions: docs/formulas.md, under the names used here.
 *
 * Each formula is an expression over the dimensions, written once: it is computed, and its text is
 * what --why shows and what docs/formulas.md derives. One FLOP is one multiplication or addition.
 * A tensor is given by its role and its elements; its bytes follow from the format of the role.
 * Each runs on a point, where it may be traced, and in a loop over the lanes of many points.
 */
#define FIELD(name) (offsetof(struct roof_shape, name) / sizeof(int64_t))
static_assert(FIELD(m) == ROOF_DIM_M && FIELD(heads) == ROOF_DIM_HEADS &&
                  FIELD(window) == ROOF_DIM_WINDOW && FIELD(tokens) == ROOF_DIM_TOKENS &&
                  FIELD(routing) == ROOF_DIM_ROUTING && FIELD(bias) == ROOF_DIM_COUNT,
              "struct roof_shape has the dimensions in the order of their enum");

struct context {
    const double *dim; /* of a point: dim[d * stride] for dimension d */
    size_t stride;
    bool bias;
    const struct roof_storage *storage; /* by role */
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

#define DIM(name) const double name = c->dim[FIELD(name) * c->stride]
#define LET(name, expression)                                                                      \
    const double name = (expression);                                                              \
    trace_step(c, #name, #expression, name, ROOF_ROLE_COUNT, ROOF_UNKNOWN)
#define FLOPS(expression)                                                                          \
    c->work->flops = (expression);                                                                 \
    trace_step(c, "flops", #expression, c->work->flops, ROOF_ROLE_COUNT, ROOF_UNKNOWN)
/* role, elements; tensors and channels say how many per-tensor and per-channel scales there are. */
#define TENSOR(role, elements, tensors, channels)                                                  \
    tensor(c, ROOF_ROLE_##role, #elements, elements, tensors, channels)
/* Elements that each device sends in one direction, in the activations' format. */
#define NETWORK(elements)                                                                          \
    c->work->network_bytes =                                                                       \
        roof_storage_bytes(&c->storage[ROOF_ROLE_ACTIVATIONS], elements, 0, 0);                    \
    trace_step(c, "network_bytes", #elements, elements, ROOF_ROLE_ACTIVATIONS,                     \
               c->work->network_bytes)
/* Messages that wait for each other. */
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

/* A formula on a point, and the same over lanes: a loop without a branch or a call, but for those
 * of the formula itself. */
#define FORMULA(name)                                                                              \
    static inline void name(const struct context *c);                                              \
    static void name##_lanes(struct roof_work_lanes *restrict out,                                 \
                             const struct roof_lanes *restrict in,                                 \
                             const struct roof_storage *restrict storage, bool bias)               \
    {                                                                                              \
        for (size_t i = 0; i < ROOF_LANES; i++) {                                                  \
            struct roof_work work = {.network_bytes = ROOF_UNKNOWN};                               \
            const struct context c = {&in->dim[0][i], ROOF_LANES, bias, storage, &work, NULL};     \
            name(&c);                                                                              \
            out->flops[i] = work.flops;                                                            \
            for (int role = 0; role < ROOF_ROLE_COUNT; role++) {                                   \
                out->bytes[role][i] = work.bytes[role];                                            \
            }                                                                                      \
            out->network_bytes[i] = work.network_bytes;                                            \
            out->network_steps[i] = work.network_steps;                                            \
        }                                                                                          \
    }                                                                                              \
    static inline void name(const struct context *c)

/* C[m,n] = A[m,k] B[k,n], batch times: a multiplication and an addition per m, n, k. */
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

/* One row: the linear layer of one token. */
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
 * Pairs of query and key. Query i of T = query_len sees the keys up to its own position (causal),
 * of them at most the last window. Without a window the causal count is T*S - T(T-1)/2: the last
 * query sees all S keys, each one before it one fewer. With a window the queries whose position is
 * below the window ("ramp" of them) see fewer than "span". keys is how many different keys are
 * read: the union of T windows.
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

/* S = Q K^T: head_dim multiply-adds per pair; all T x S scores are stored, masked ones too. */
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

/* O = P V: one multiply-add per pair and element of V; all T x S probabilities are read. */
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

/* Per score: maximum, subtract, exponential, sum, divide. */
FORMULA(softmax)
{
    ATTENTION_PAIRS;
    FLOPS(5 * batch * heads * pairs);
    TENSOR(ACTIVATIONS, batch * heads * query_len * kv_len, 1, batch * heads * query_len);
    TENSOR(OUT, batch * heads * query_len * kv_len, 1, batch * heads * query_len);
}

/* Both products fused: scores never leave the chip; the softmax is not counted. */
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
 * Absorbed MLA: every head attends over the one latent of kv_lora_rank + qk_rope_head_dim elements
 * per token, which is the cache; its first kv_lora_rank elements are also the values. The products
 * that map Q into the latent and the result out of it are BMMs of their own.
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

/* Expanded MLA: K and V have been made from the latent for every head (by a GEMM of its own). */
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

/* Per element: square, add, scale by the reciprocal root, multiply by the gain, and the mean. */
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

/* Per element: mean, subtract, square, add, scale, gain, bias. */
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

/* Residual: two tensors in, one out. */
FORMULA(add)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(tokens * hidden);
    TENSOR(ACTIVATIONS, 2 * tokens * hidden, 2, 2 * tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* gate * sigmoid(gate) * up, the sigmoid counted as two; hidden is the width of the output. */
FORMULA(silu_mul)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(4 * tokens * hidden);
    TENSOR(ACTIVATIONS, 2 * tokens * hidden, 2, 2 * tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* x/2 (1 + tanh(a (x + b x^3))): eight multiplications and additions, the tanh counted as two. */
FORMULA(gelu)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(10 * tokens * hidden);
    TENSOR(ACTIVATIONS, tokens * hidden, 1, tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* Per element: magnitude, maximum, multiply by the reciprocal scale, round. */
FORMULA(quantize)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(4 * tokens * hidden);
    TENSOR(ACTIVATIONS, tokens * hidden, 1, tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* Two multiplications and an addition per rotated element of Q and K; the table of sines is small
 * and shared by all heads, and is not counted. */
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

/* A look-up: one row of the table per token, not a GEMM over the vocabulary. */
FORMULA(embedding)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(0);
    TENSOR(WEIGHTS, tokens * hidden, 1, tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/*
 * The routed experts of a gated MLP: gate, up and down, 3 hidden x intermediate products per token
 * and expert. A token leaves an expert untouched with probability 1 - k/E, so T tokens routed at
 * random touch E (1 - (1 - k/E)^T) of them in expectation, written so that it does not cancel.
 * The gated activation is stored and read once per token and expert. Spread over ep devices, each
 * has its share of the experts and, in expectation, of the routed tokens.
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

/* The two halves of moe, for experts whose matrices have different formats. */
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

/* Softmax over the experts, then the weights of the chosen ones are summed and divided. The result
 * is top_k weights and their 4-byte indices. */
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
 * Ring: n/p elements to the neighbour, p-1 steps to reduce and p-1 to spread. One-shot: the whole
 * tensor to each of the others at once, which costs bytes and saves steps.
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

/* From one device to another: a boundary of pipeline stages. */
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
    void (*work)(const struct context *context);
    void (*lanes)(struct roof_work_lanes *restrict out, const struct roof_lanes *restrict in,
                  const struct roof_storage *restrict storage, bool bias);
};
#define BOTH(formula) formula, formula##_lanes

static const struct row rows[ROOF_OPERATOR_COUNT] = {
    [ROOF_OPERATOR_GEMM] = {{.name = "gemm",
                             .summary = "C = A B, the linear layer",
                             DIMS(D(M), D(N), D(K), D(BATCH)),
                             .required = BIT(M) | BIT(N) | BIT(K)},
                            BOTH(gemm)},
    [ROOF_OPERATOR_GEMV] = {{.name = "gemv",
                             .summary = "a gemm with one row, the linear layer of one token",
                             DIMS(D(N), D(K)),
                             .required = BIT(N) | BIT(K)},
                            BOTH(gemv)},
    [ROOF_OPERATOR_BMM] = {{.name = "bmm",
                            .summary = "batched gemm; A has the activations' role, B the weights'",
                            DIMS(D(BATCH), D(M), D(N), D(K)),
                            .required = BIT(BATCH) | BIT(M) | BIT(N) | BIT(K)},
                           BOTH(gemm)},
    [ROOF_OPERATOR_ATTENTION_SCORES] = {{.name = "attention-scores",
                                         .summary = "Q K^T, scores stored in full",
                                         ATTENTION_DIMS,
                                         ATTENTION_REQUIRED,
                                         .other = ROOF_ROLE_KV},
                                        BOTH(attention_scores)},
    [ROOF_OPERATOR_ATTENTION_VALUES] = {{.name = "attention-values",
                                         .summary = "scores x V",
                                         ATTENTION_DIMS,
                                         ATTENTION_REQUIRED,
                                         .other = ROOF_ROLE_KV},
                                        BOTH(attention_values)},
    [ROOF_OPERATOR_SOFTMAX] = {{.name = "softmax",
                                .summary = "softmax of stored scores",
                                .kind = ROOF_KIND_VECTOR,
                                ATTENTION_DIMS,
                                .required = BIT(HEADS) | BIT(KV_LEN)},
                               BOTH(softmax)},
    [ROOF_OPERATOR_ATTENTION] = {{.name = "attention",
                                  .summary = "scores, softmax and values, unfused",
                                  .kind = ROOF_KIND_COMPOSITE,
                                  ATTENTION_DIMS,
                                  ATTENTION_REQUIRED,
                                  .other = ROOF_ROLE_KV,
                                  .parts = {ROOF_OPERATOR_ATTENTION_SCORES, ROOF_OPERATOR_SOFTMAX,
                                            ROOF_OPERATOR_ATTENTION_VALUES},
                                  .part_count = 3},
                                 NULL,
                                 NULL},
    [ROOF_OPERATOR_FLASH_ATTENTION] = {{.name = "flash-attention",
                                        .summary = "fused attention; scores stay on the chip",
                                        ATTENTION_DIMS,
                                        ATTENTION_REQUIRED,
                                        .other = ROOF_ROLE_KV},
                                       BOTH(flash_attention)},
    [ROOF_OPERATOR_MLA_DECODE] = {{.name = "mla-decode",
                                   .summary = "absorbed latent attention over the cached latent",
                                   MLA_DIMS,
                                   .required = BIT(HEADS) | BIT(KV_LEN),
                                   .other = ROOF_ROLE_KV},
                                  BOTH(mla_decode)},
    [ROOF_OPERATOR_MLA_PREFILL] = {{.name = "mla-prefill",
                                    .summary = "latent attention with K and V expanded per head",
                                    MLA_DIMS,
                                    .required = BIT(HEADS) | BIT(QUERY_LEN) | BIT(KV_LEN),
                                    .other = ROOF_ROLE_KV},
                                   BOTH(mla_prefill)},
    [ROOF_OPERATOR_RMSNORM] = {{.name = "rmsnorm",
                                .summary = "root-mean-square norm",
                                .kind = ROOF_KIND_VECTOR,
                                NORM_ROWS},
                               BOTH(rmsnorm)},
    [ROOF_OPERATOR_LAYERNORM] =
        {{.name = "layernorm", .summary = "layer norm", .kind = ROOF_KIND_VECTOR, NORM_ROWS},
         BOTH(layernorm)},
    [ROOF_OPERATOR_ADD] =
        {{.name = "add", .summary = "residual addition", .kind = ROOF_KIND_VECTOR, ROWS},
         BOTH(add)},
    [ROOF_OPERATOR_SILU_MUL] = {{.name = "silu-mul",
                                 .summary = "silu(gate) * up of a gated MLP",
                                 .kind = ROOF_KIND_VECTOR,
                                 ROWS},
                                BOTH(silu_mul)},
    [ROOF_OPERATOR_GELU] =
        {{.name = "gelu", .summary = "GELU activation", .kind = ROOF_KIND_VECTOR, ROWS},
         BOTH(gelu)},
    [ROOF_OPERATOR_QUANTIZE] = {{.name = "quantize",
                                 .summary = "from -a (default bf16) to --out (default fp8_e4m3)",
                                 .kind = ROOF_KIND_VECTOR,
                                 ROWS},
                                BOTH(quantize)},
    [ROOF_OPERATOR_ROPE] = {{.name = "rope",
                             .summary = "rotary position embedding of Q and K",
                             .kind = ROOF_KIND_VECTOR,
                             DIMS(D(TOKENS), D(HEADS), D(KV_HEADS), D(HEAD_DIM)),
                             .required = BIT(TOKENS) | BIT(HEADS) | BIT(HEAD_DIM)},
                            BOTH(rope)},
    [ROOF_OPERATOR_KV_APPEND] = {{.name = "kv-append",
                                  .summary = "new K and V into the cache",
                                  .kind = ROOF_KIND_VECTOR,
                                  DIMS(D(TOKENS), D(HEADS), D(KV_HEADS), D(HEAD_DIM)),
                                  .required = BIT(TOKENS) | BIT(KV_HEADS) | BIT(HEAD_DIM),
                                  .other = ROOF_ROLE_KV},
                                 BOTH(kv_append)},
    [ROOF_OPERATOR_EMBEDDING] = {{.name = "embedding",
                                  .summary = "look-up of one row per token",
                                  .kind = ROOF_KIND_VECTOR,
                                  ROWS},
                                 BOTH(embedding)},
    [ROOF_OPERATOR_MOE] = {{.name = "moe", .summary = "routed experts of a gated MLP", EXPERT_DIMS},
                           BOTH(moe)},
    [ROOF_OPERATOR_MOE_GATE_UP] = {{.name = "moe-gate-up",
                                    .summary = "the gate and up products of routed experts",
                                    EXPERT_DIMS},
                                   BOTH(moe_gate_up)},
    [ROOF_OPERATOR_MOE_DOWN] = {{.name = "moe-down",
                                 .summary = "the down product of routed experts",
                                 EXPERT_DIMS},
                                BOTH(moe_down)},
    [ROOF_OPERATOR_ROUTER] = {{.name = "router",
                               .summary = "top-k softmax over the experts",
                               .kind = ROOF_KIND_VECTOR,
                               DIMS(D(TOKENS), D(EXPERTS), D(TOP_K)),
                               .required = BIT(TOKENS) | BIT(EXPERTS) | BIT(TOP_K)},
                              BOTH(router)},
    [ROOF_OPERATOR_ALL_REDUCE] = {{.name = "all-reduce",
                                   .summary = "sum over the devices, to every device",
                                   .kind = ROOF_KIND_COLLECTIVE,
                                   GROUP},
                                  BOTH(all_reduce)},
    [ROOF_OPERATOR_ALL_GATHER] = {{.name = "all-gather",
                                   .summary = "every device's share, to every device",
                                   .kind = ROOF_KIND_COLLECTIVE,
                                   GROUP},
                                  BOTH(all_gather)},
    [ROOF_OPERATOR_REDUCE_SCATTER] = {{.name = "reduce-scatter",
                                       .summary = "sum over the devices, a share to each",
                                       .kind = ROOF_KIND_COLLECTIVE,
                                       GROUP},
                                      BOTH(reduce_scatter)},
    [ROOF_OPERATOR_ALL_TO_ALL] = {{.name = "all-to-all",
                                   .summary = "a share of each device's elements to each other",
                                   .kind = ROOF_KIND_COLLECTIVE,
                                   GROUP},
                                  BOTH(all_to_all)},
    [ROOF_OPERATOR_SEND] = {{.name = "send",
                             .summary = "a tensor from one device to another",
                             .kind = ROOF_KIND_COLLECTIVE,
                             DIMS(D(ELEMENTS), D(WITHIN)),
                             .required = BIT(ELEMENTS)},
                            BOTH(send)},
};

const struct roof_operator_row *roof_operator_row(enum roof_operator op)
{
    assert((unsigned)op < ROOF_OPERATOR_COUNT);
    return &rows[op].row;
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
    return roof_unknown_name(error, ROOF_USAGE, "operator", name, names, ROOF_OPERATOR_COUNT);
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

/* Of a resolved workload. */
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
    const int64_t *const size = sizes_of(workload);
    struct roof_storage storage[ROOF_ROLE_COUNT];
    double dim[ROOF_DIM_COUNT] = {0}; /* formulas may look at what their operator does not have */
    fill_storage(storage, &workload->formats);
    for (int i = 0; i < row->row.dim_count; i++) {
        dim[row->row.dims[i]] = (double)size[row->row.dims[i]];
    }
    *out = (struct roof_work){.network_bytes = ROOF_UNKNOWN};
    row->work(&(struct context){dim, 1, workload->shape.bias > 0, storage, out, trace});
}

void roof_lanes_put(struct roof_lanes *lanes, size_t lane, const struct roof_workload *workload)
{
    const struct roof_operator_row *const row = &rows[workload->op].row;
    const int64_t *const size = sizes_of(workload);
    for (int i = 0; i < row->dim_count; i++) {
        lanes->dim[row->dims[i]][lane] = (double)size[row->dims[i]];
    }
}

void roof_lanes_work(struct roof_work_lanes *restrict out, const struct roof_workload *workload,
                     const struct roof_lanes *restrict in)
{
    struct roof_storage storage[ROOF_ROLE_COUNT];
    fill_storage(storage, &workload->formats);
    rows[workload->op].lanes(out, in, storage, workload->shape.bias > 0);
}

int roof_workload_parts(struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX],
                        const struct roof_workload *workload)
{
    const struct roof_operator_row *const row = &rows[workload->op].row;
    if (row->part_count == 0) {
        parts[0] = *workload;
        return 1;
    }
    for (int i = 0; i < row->part_count; i++) {
        parts[i] = *workload;
        parts[i].op = row->parts[i];
        if (rows[parts[i].op].row.kind == ROOF_KIND_VECTOR) {
            /* The softmax reads what the first product wrote and writes what the second reads. */
            parts[i].formats.activations = workload->formats.out;
            parts[i].formats.out = workload->formats.activations;
        }
    }
    return row->part_count;
}

/* --- inputs -------------------------------------------------------------------------------- */

int64_t roof_input_get(const void *asked, const struct roof_input *input)
{
    const void *const at = (const char *)asked + input->offset;
    return input->kind == ROOF_INPUT_PRECISION ? *(const enum roof_precision *)at
                                               : *(const int64_t *)at;
}

void roof_input_put(void *asked, const struct roof_input *input, int64_t value)
{
    void *const at = (char *)asked + input->offset;
    if (input->kind == ROOF_INPUT_PRECISION) {
        *(enum roof_precision *)at = (enum roof_precision)value;
    } else {
        *(int64_t *)at = value;
    }
}

const char *roof_input_name(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input)
{
    const char letter[2] = {input->letter, '\0'};
    snprintf(out, ROOF_INPUT_NAME_SIZE, "%s%s", input->letter != 0 ? "-" : "--",
             input->letter != 0 ? letter : input->option);
    return out;
}

const char *roof_input_key(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input)
{
    (void)snprintf(out, ROOF_INPUT_NAME_SIZE, "%s",
                   input->key == NULL ? input->option : input->key);
    for (char *p = out; *p != '\0'; p++) {
        *p = *p == '-' ? '_' : *p;
    }
    return out;
}

const char *roof_input_marked(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input)
{
    char key[ROOF_INPUT_NAME_SIZE];
    (void)snprintf(out, ROOF_INPUT_NAME_SIZE, ROOF_KEY("%.36s"), roof_input_key(key, input));
    return out;
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

/* Names every required dimension that is not given. */
static enum roof_status missing_dimensions(const struct roof_workload *w, struct roof_error *error)
{
    const struct roof_operator_row *const row = &rows[w->op].row;
    char list[ROOF_OPERATOR_DIMS_MAX * (ROOF_INPUT_NAME_SIZE + 4)] = "";
    size_t used = 0;
    for (int i = 0; i < row->dim_count; i++) {
        const struct roof_input *const input = &roof_dimensions[row->dims[i]];
        if ((row->required & (1U << row->dims[i])) != 0 && roof_input_get(w, input) == 0) {
            char name[ROOF_INPUT_NAME_SIZE];
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s N",
                                     used == 0 ? "" : ", ", roof_input_marked(name, input));
        }
    }
    return roof_error_set(error, ROOF_USAGE, "%s needs %s (roofline list operators %s)", row->name,
                          list, row->name);
}

/* An operator takes no dimension but its own. */
static enum roof_status check_strangers(const struct roof_workload *w, struct roof_error *error)
{
    const struct roof_operator_row *const row = &rows[w->op].row;
    const int64_t *const size = sizes_of(w);
    unsigned given = 0;
    unsigned own = 0;
    for (int i = 0; i < ROOF_DIM_COUNT; i++) {
        given |= (size[i] != 0 ? 1U : 0U) << i;
    }
    for (int i = 0; i < row->dim_count; i++) {
        own |= 1U << row->dims[i];
    }
    const unsigned strange = given & ~own;
    for (int i = 0; strange >> i != 0; i++) {
        if ((strange >> i & 1) != 0) {
            return roof_operator_takes(w->op, (enum roof_dimension)i, error);
        }
    }
    return ROOF_OK;
}

/* Sizes that must go with each other; those that the operator does not have are 0. */
static enum roof_status check_pairs(const struct roof_workload *w, struct roof_error *error)
{
    const struct roof_shape *const shape = &w->shape;
    if (shape->kv_heads > 0 && shape->heads % shape->kv_heads != 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("heads") " %" PRId64 " must be a multiple of " ROOF_KEY(
                                  "kv_heads") " %" PRId64,
                              shape->heads, shape->kv_heads);
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
    const struct roof_operator_row *const row = &rows[workload->op].row;
    int64_t *const size = (int64_t *)(void *)&workload->shape;
    for (int i = 0; i < row->dim_count; i++) {
        const enum roof_dimension dimension = row->dims[i];
        const struct roof_input *const input = &roof_dimensions[dimension];
        const int64_t value = size[dimension];
        if (value == 0 && input->min > 0) {
            if ((row->required & (1U << dimension)) != 0) {
                return missing_dimensions(workload, error);
            }
            size[dimension] = dimension_default(dimension, &workload->shape);
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

static enum roof_precision given_or(enum roof_precision given, enum roof_precision otherwise)
{
    return given == ROOF_PRECISION_AUTO ? otherwise : given;
}

/* What kernels write when nothing is said: the activations' format, or bf16 below 16 bits. */
static enum roof_precision wide(enum roof_precision activations)
{
    const struct roof_format *const format = roof_format(activations);
    return format->block_bytes >= 2 * format->block_elements ? activations : ROOF_PRECISION_BF16;
}

static enum roof_status check_formats(struct roof_workload *w, struct roof_error *error)
{
    struct roof_formats *const f = &w->formats;
    const enum roof_precision both = given_or(f->precision, ROOF_PRECISION_FP16);
    if (w->op == ROOF_OPERATOR_QUANTIZE) { /* from what the layer before wrote, to FP8 */
        f->activations = f->precision == ROOF_PRECISION_AUTO
                             ? given_or(f->activations, ROOF_PRECISION_BF16)
                             : f->activations;
        f->out = given_or(f->out, ROOF_PRECISION_FP8_E4M3);
    }
    f->weights = given_or(f->weights, both);
    f->activations = given_or(f->activations, roof_format(both)->activations);
    f->out = given_or(f->out, wide(f->activations));
    f->kv = given_or(f->kv, wide(f->activations));
    if (roof_precision_weight_only(f->activations) ||
        (roof_precision_weight_only(f->out) && w->op != ROOF_OPERATOR_QUANTIZE)) {
        const bool input = roof_precision_weight_only(f->activations);
        return roof_error_set(error, ROOF_USAGE,
                              "%s stores weights only; %s takes " ROOF_TENSOR_FORMATS,
                              roof_format(input ? f->activations : f->out)->name,
                              input ? ROOF_KEY("activations") : ROOF_KEY("out"));
    }
    const enum roof_operator_kind kind = rows[w->op].row.kind;
    if (f->compute != ROOF_PRECISION_AUTO && roof_format(f->compute)->unit == ROOF_PRECISION_FP16 &&
        f->compute != ROOF_PRECISION_FP16) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("compute") ": nothing multiplies %s; it is converted to 16 bits",
            roof_format(f->compute)->name);
    }
    if (f->compute != ROOF_PRECISION_AUTO &&
        (kind == ROOF_KIND_VECTOR || kind == ROOF_KIND_COLLECTIVE)) {
        return roof_error_set(
            error, ROOF_USAGE,
            "%s does not take " ROOF_KEY("compute") ": it runs at the fp32 vector peak",
            rows[w->op].row.name);
    }
    return ROOF_OK;
}

enum roof_status roof_resolve(struct roof_workload *workload, struct roof_error *error)
{
    enum roof_status status = check_strangers(workload, error);
    if (status == ROOF_OK) {
        status = roof_sizes_resolve(workload, error);
    }
    return status == ROOF_OK ? check_formats(workload, error) : status;
}

enum roof_status roof_workload_resolve(struct roof_workload *workload, struct roof_error *error)
{
    struct roof_workload resolved = *workload;
    const enum roof_status status = roof_resolve(&resolved, error);
    if (status == ROOF_OK) {
        *workload = resolved;
    }
    return status;
}
