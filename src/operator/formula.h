// SPDX-License-Identifier: MIT
/* How formulas of operators are written, and their names. */
#ifndef ROOF_OPERATOR_FORMULA_H
#define ROOF_OPERATOR_FORMULA_H

#include <math.h>
#include <stdbool.h>

#include "base/exponential.h"
#include "catalog/storage.h"
#include "operator/operator.h"

/* Formulas show these names; the functions have the same bits with every C library. */
#define expm1(x) roof_expm1(x)
#define log1p(x) roof_log1p(x)

/*
 * Derivations, sources and assumptions: docs/formulas.md, under the names used here.
 *
 * Each formula is an expression over the dimensions, written once: it is computed, the key `why`
 * shows its text, and docs/formulas.md derives it. One FLOP is one multiplication or addition. A
 * tensor is given by its role and its elements; its bytes follow from the format of the role.
 */
struct roof_formula {
    const double *dimension;            /* by enum roof_dimension */
    const struct roof_storage *storage; /* by enum roof_role */
    bool bias;                          /* vectors are added */
    struct roof_work *work;
    const struct roof_steps *trace;
};

static inline void trace_step(const struct roof_formula *c, const char *name, const char *text,
                              double value, enum roof_role role, double bytes)
{
    if (c->trace != NULL) {
        c->trace->step(c->trace->context, name, text, value, role, bytes);
    }
}

static inline void tensor(const struct roof_formula *c, enum roof_role role, const char *text,
                          double elements, double tensors, double channels)
{
    const double bytes = roof_storage_bytes(&c->storage[role], elements, tensors, channels);
    c->work->bytes[role] += bytes;
    trace_step(c, roof_role_name(role), text, elements, role, bytes);
}

/* The index of a dimension by the name that it has in formulas. */
enum {
#define INDEX(name, field) index_##field = ROOF_DIM_##name,
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
/* Sets the number of elements that each device sends in one direction, in the activations' format.
 */
#define NETWORK(elements)                                                                          \
    c->work->network_bytes =                                                                       \
        roof_storage_bytes(&c->storage[ROOF_ROLE_ACTIVATIONS], elements, 0, 0);                    \
    trace_step(c, "network_bytes", #elements, elements, ROOF_ROLE_ACTIVATIONS,                     \
               c->work->network_bytes)
/* Sets the number of messages that wait for each other. */
#define STEPS(expression)                                                                          \
    c->work->network_steps = (expression);                                                         \
    trace_step(c, "network_steps", #expression, c->work->network_steps, ROOF_ROLE_COUNT,           \
               ROOF_UNKNOWN)

/* Bias vectors are weights in the format of the output; the additions are fused and not counted. */
static inline void bias_vectors(const struct roof_formula *c, const char *text, double elements)
{
    if (c->bias) {
        const double bytes = roof_storage_bytes(&c->storage[ROOF_ROLE_OUT], elements, 0, 0);
        c->work->bytes[ROOF_ROLE_WEIGHTS] += bytes;
        trace_step(c, "bias", text, elements, ROOF_ROLE_WEIGHTS, bytes);
    }
}
#define BIAS(elements) bias_vectors(c, #elements, elements)

/* Begins the function of an operator: its formulas. */
#define FORMULA(name) void roof_formula_##name(const struct roof_formula *c)

/*
 * Counts pairs of query and key. Query i of T = query_len sees the keys up to its own position
 * (causal), of them at most the last window. Without a window the causal count is T*S - T(T-1)/2:
 * the last query sees all S keys, each one before it one fewer. With a window the queries whose
 * position is below the window ("ramp" of them) see fewer than "span". keys is the number of
 * different keys that are read: the union of T windows.
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

/* The formulas: X(name). */
#define ROOF_FORMULAS(X)                                                                           \
    X(gemm)                                                                                        \
    X(gemv)                                                                                        \
    X(attention_scores)                                                                            \
    X(attention_values)                                                                            \
    X(softmax)                                                                                     \
    X(flash_attention)                                                                             \
    X(mla_decode)                                                                                  \
    X(mla_prefill)                                                                                 \
    X(rmsnorm)                                                                                     \
    X(layernorm)                                                                                   \
    X(add)                                                                                         \
    X(silu_mul)                                                                                    \
    X(gelu)                                                                                        \
    X(quantize)                                                                                    \
    X(rope)                                                                                        \
    X(kv_append)                                                                                   \
    X(embedding)                                                                                   \
    X(moe)                                                                                         \
    X(moe_gate_up)                                                                                 \
    X(moe_down)                                                                                    \
    X(moe_ungated)                                                                                 \
    X(moe_up)                                                                                      \
    X(router)                                                                                      \
    X(all_reduce)                                                                                  \
    X(all_gather)                                                                                  \
    X(reduce_scatter)                                                                              \
    X(all_to_all)                                                                                  \
    X(send)                                                                                        \
    X(index_scores)                                                                                \
    X(block_scores)                                                                                \
    X(index_top_k)                                                                                 \
    X(sparse_mla)                                                                                  \
    X(compressed_attention)                                                                        \
    X(nsa)                                                                                         \
    X(hyper_collapse)                                                                              \
    X(hyper_expand)                                                                                \
    X(depth_mix)                                                                                   \
    X(short_conv)                                                                                  \
    X(gated_delta)                                                                                 \
    X(kimi_delta)                                                                                  \
    X(ssd)                                                                                         \
    X(lightning)                                                                                   \
    X(selective_scan)                                                                              \
    X(add_rmsnorm)                                                                                 \
    X(add_layernorm)                                                                               \
    X(rmsnorm_quantize)                                                                            \
    X(add_rmsnorm_quantize)                                                                        \
    X(silu_mul_quantize)                                                                           \
    X(gemm_silu_mul)                                                                               \
    X(rope_append)                                                                                 \
    X(conv)
#define ROOF_FORMULA_DECLARATION(name) FORMULA(name);
ROOF_FORMULAS(ROOF_FORMULA_DECLARATION)
#undef ROOF_FORMULA_DECLARATION

#endif
