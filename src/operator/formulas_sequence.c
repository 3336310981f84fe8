// SPDX-License-Identifier: MIT
/* The formulas of attention over chosen keys, and of layers that keep a state instead of a cache.
 */
#include "operator/formula.h"

/* --- chosen keys --------------------------------------------------------------------------- */

/* Multiplies the index queries of all heads with the one index key of each token; the heads of a
 * pair are weighted and summed on the way out, so a pair of query and key has one score. */
FORMULA(index_scores)
{
    ATTENTION_PAIRS;
    ATTENTION_KEYS;
    DIM(head_dim);
    FLOPS(2 * batch * heads * head_dim * pairs);
    TENSOR(ACTIVATIONS, batch * query_len * heads * head_dim, 1, batch * query_len);
    TENSOR(KV, batch * keys * head_dim, 1, batch * keys);
    TENSOR(OUT, batch * query_len * kv_len, 1, batch * query_len);
}

/* Reads each score and compares it once; the chosen ones are written as indices of 4 bytes. */
FORMULA(index_top_k)
{
    DIM(batch);
    DIM(query_len);
    DIM(kv_len);
    DIM(selected);
    LET(chosen, batch * query_len * fmin(selected, kv_len));
    FLOPS(batch * query_len * kv_len);
    TENSOR(ACTIVATIONS, batch * query_len * kv_len, 1, batch * query_len);
    c->work->bytes[ROOF_ROLE_OUT] += 4 * chosen;
    trace_step(c, "indices", "chosen", chosen, ROOF_ROLE_OUT, 4 * chosen);
}

/* A query attends to at most `selected` of its keys, as with a window; neighbours can share all but
 * the newest, so the keys that are read are at least those of a window. */
FORMULA(sparse_mla)
{
    DIM(batch);
    DIM(heads);
    DIM(kv_lora_rank);
    DIM(qk_rope_head_dim);
    DIM(query_len);
    DIM(kv_len);
    DIM(causal);
    DIM(selected);
    LET(span, fmin(selected, kv_len));
    LET(ramp, causal > 0 ? fmax(0, span - (kv_len - query_len + 1)) : 0);
    LET(pairs, (query_len * span) - ramp * (ramp + 1) / 2);
    ATTENTION_KEYS;
    FLOPS(2 * batch * heads * pairs * (2 * kv_lora_rank + qk_rope_head_dim));
    TENSOR(ACTIVATIONS, batch * query_len * heads * (kv_lora_rank + qk_rope_head_dim), 1,
           batch * query_len);
    TENSOR(KV, batch * keys * (kv_lora_rank + qk_rope_head_dim), 1, batch * keys);
    TENSOR(OUT, batch * query_len * heads * kv_lora_rank, 1, batch * query_len);
}

/* --- states -------------------------------------------------------------------------------- */

/* A depthwise convolution over the last `taps` tokens multiplies and adds once per tap; the inputs
 * of the last taps - 1 tokens of each sequence are kept, read and written. */
FORMULA(short_conv)
{
    DIM(batch);
    DIM(query_len);
    DIM(hidden);
    DIM(taps);
    FLOPS(2 * batch * query_len * hidden * taps);
    TENSOR(WEIGHTS, hidden * taps, 1, hidden);
    TENSOR(ACTIVATIONS, batch * (query_len + taps - 1) * hidden, 2, batch * (query_len + taps - 1));
    TENSOR(OUT, batch * (query_len + taps - 1) * hidden, 2, batch * (query_len + taps - 1));
}

/*
 * Counts pairs of tokens within chunks, a token and itself included: the tokens of a sequence go
 * through the state in chunks, and only those of one chunk meet each other. A chunk is never longer
 * than the sequence, whose last chunk counts as a part of a whole one.
 */
#define CHUNK_PAIRS                                                                                \
    LET(length, fmin(scan_chunk, query_len));                                                      \
    LET(pairs, (length + 1) * query_len / 2)

/*
 * The delta rule: of the value of a token, what the state already has under its key is taken away,
 * and the rest is written. With states, three products per token (keys and queries into the state,
 * keys and new values into it) of head_dim x v_head_dim; within a chunk five products per pair
 * (keys with keys, the triangular system for keys and for values, queries with keys, scores with
 * values). The decay is not counted, as the softmax of attention is not.
 */
#define DELTA_RULE                                                                                 \
    DIM(batch);                                                                                    \
    DIM(heads);                                                                                    \
    DIM(head_dim);                                                                                 \
    DIM(v_head_dim);                                                                               \
    DIM(query_len);                                                                                \
    DIM(scan_chunk);                                                                               \
    CHUNK_PAIRS

FORMULA(gated_delta)
{
    DELTA_RULE;
    DIM(kv_heads);
    FLOPS(batch * heads *
          (6 * query_len * head_dim * v_head_dim + 2 * pairs * (3 * head_dim + 2 * v_head_dim)));
    TENSOR(ACTIVATIONS,
           batch * query_len * (2 * kv_heads * head_dim + heads * v_head_dim + 2 * heads), 5,
           5 * batch * query_len);
    TENSOR(KV, 2 * batch * heads * head_dim * v_head_dim, 2, 2 * batch * heads);
    TENSOR(OUT, batch * query_len * heads * v_head_dim, 1, batch * query_len);
}

/* The decay is a vector over the key, so each head brings head_dim gates per token. */
FORMULA(kimi_delta)
{
    DELTA_RULE;
    FLOPS(batch * heads *
          (6 * query_len * head_dim * v_head_dim + 2 * pairs * (3 * head_dim + 2 * v_head_dim)));
    TENSOR(ACTIVATIONS, batch * query_len * heads * (3 * head_dim + v_head_dim + 1), 5,
           5 * batch * query_len);
    TENSOR(KV, 2 * batch * heads * head_dim * v_head_dim, 2, 2 * batch * heads);
    TENSOR(OUT, batch * query_len * heads * v_head_dim, 1, batch * query_len);
}

/*
 * The state-space dual: per token and head two products of head_dim x state_size (the input into
 * the state, the state into the output), and per pair of a chunk one of state_size for each group
 * of heads (B with C) and one of head_dim for each head. kv_heads are the groups that share B and
 * C.
 */
FORMULA(ssd)
{
    DIM(batch);
    DIM(heads);
    DIM(kv_heads);
    DIM(head_dim);
    DIM(state_size);
    DIM(query_len);
    DIM(scan_chunk);
    CHUNK_PAIRS;
    FLOPS(batch * (heads * (4 * query_len * head_dim * state_size + 2 * pairs * head_dim) +
                   2 * kv_heads * pairs * state_size));
    TENSOR(ACTIVATIONS, batch * query_len * (heads * head_dim + 2 * kv_heads * state_size + heads),
           4, 4 * batch * query_len);
    TENSOR(KV, 2 * batch * heads * head_dim * state_size, 2, 2 * batch * heads);
    TENSOR(OUT, batch * query_len * heads * head_dim, 1, batch * query_len);
}
