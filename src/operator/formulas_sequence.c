// SPDX-License-Identifier: MIT
/* The formulas of attention over chosen keys, and of layers that keep a state instead of a cache.
 */
#include "operator/formula.h"

/* --- chosen keys --------------------------------------------------------------------------- */

/* Multiplies the index queries of all heads with the one index key of each token. The weighted sum
 * over the heads is fused, so a pair of query and key has one score. */
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

/* Multiplies the index queries with the one index key of each token; of a block of `compression`
 * keys each head keeps the largest score. */
FORMULA(block_scores)
{
    ATTENTION_PAIRS;
    ATTENTION_KEYS;
    DIM(head_dim);
    DIM(compression);
    LET(blocks, ceil(kv_len / compression));
    FLOPS(2 * batch * heads * head_dim * pairs);
    TENSOR(ACTIVATIONS, batch * query_len * heads * head_dim, 1, batch * query_len);
    TENSOR(KV, batch * keys * head_dim, 1, batch * keys);
    TENSOR(OUT, batch * query_len * heads * blocks, 1, batch * query_len);
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

/* A query attends to at most `selected` of its keys, as with a window. Neighbours can share all
 * keys except the newest, so at least the keys of a window are read. */
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

/* --- compressed keys ----------------------------------------------------------------------- */

/* Counts the pairs of queries with the keys in their windows. The queries are the last tokens; if
 * there are more queries than tokens, the others see nothing. */
#define WINDOW_PAIRS                                                                               \
    LET(queries, fmin(query_len, kv_len));                                                         \
    LET(before, kv_len - queries);                                                                 \
    LET(span, window > 0 ? fmin(window, kv_len) : kv_len);                                         \
    LET(ramp, fmax(0, span - (before + 1)));                                                       \
    LET(near, (queries * span) - ramp * (ramp + 1) / 2)

/*
 * A query attends to the last `window` tokens, and to compressed keys, each of which stands for
 * `compression` tokens before it: to all of these, or at most to `selected`. A key is also its
 * value. Queries up to position `reach` see floor(p / compression) compressed keys, those beyond it
 * `chosen`; the sum of the former over p = 1 to n is compression q (q - 1) / 2 + q (n - q
 * compression + 1), with q = floor(n / compression).
 */
FORMULA(compressed_attention)
{
    DIM(batch);
    DIM(heads);
    DIM(head_dim);
    DIM(query_len);
    DIM(kv_len);
    DIM(window);
    DIM(compression);
    DIM(selected);
    WINDOW_PAIRS;
    LET(chosen, compression > 0 ? selected : 0);
    LET(reach, chosen > 0 ? fmin(kv_len, chosen * compression) : kv_len);
    LET(start, fmin(before, reach));
    LET(all, compression > 0 ? ceil((kv_len + 1) / compression) - 1 : 0);
    LET(last, compression > 0 ? ceil((reach + 1) / compression) - 1 : 0);
    LET(first, compression > 0 ? ceil((start + 1) / compression) - 1 : 0);
    LET(upto, compression * last * (last - 1) / 2 + last * (reach - last * compression + 1));
    LET(without, compression * first * (first - 1) / 2 + first * (start - first * compression + 1));
    LET(far, upto - without + chosen * (queries - (reach - start)));
    LET(keys, fmin(kv_len, span + queries - 1) + (chosen > 0 ? fmin(chosen, all) : all));
    FLOPS(4 * batch * heads * head_dim * (near + far));
    TENSOR(ACTIVATIONS, batch * query_len * heads * head_dim, 1, batch * query_len);
    TENSOR(KV, batch * keys * head_dim, 1, batch * keys);
    TENSOR(OUT, batch * query_len * heads * head_dim, 1, batch * query_len);
}

/*
 * A query attends to what stands for each whole block of `compression` tokens up to it, to at most
 * `selected` of its keys, and to the last `window` of them; a gate for each head weighs the three
 * results. All heads of a KV head choose the same keys. Each branch reads its keys once.
 */
FORMULA(nsa)
{
    DIM(batch);
    DIM(heads);
    DIM(kv_heads);
    DIM(head_dim);
    DIM(query_len);
    DIM(kv_len);
    DIM(window);
    DIM(compression);
    DIM(selected);
    WINDOW_PAIRS;
    LET(few, fmin(selected, kv_len));
    LET(rise, fmax(0, few - (before + 1)));
    LET(chosen, queries * few - rise * (rise + 1) / 2);
    LET(last, ceil((kv_len + 1) / compression) - 1);
    LET(first, ceil((before + 1) / compression) - 1);
    LET(upto, compression * last * (last - 1) / 2 + last * (kv_len - last * compression + 1));
    LET(without,
        compression * first * (first - 1) / 2 + first * (before - first * compression + 1));
    LET(far, upto - without);
    LET(keys, fmin(kv_len, span + queries - 1) + fmin(kv_len, few + queries - 1) + last);
    FLOPS(4 * batch * heads * head_dim * (near + chosen + far));
    TENSOR(ACTIVATIONS, batch * query_len * heads * (head_dim + 3), 1, batch * query_len);
    TENSOR(KV, 2 * batch * keys * kv_heads * head_dim, 2, 2 * batch * keys * kv_heads);
    TENSOR(OUT, batch * query_len * heads * head_dim, 1, batch * query_len);
}

/* All streams of a token determine the weights that combine them into one, that mix them, and that
 * add a result: one, one and `streams` for each stream. */
FORMULA(hyper_collapse)
{
    DIM(tokens);
    DIM(hidden);
    DIM(streams);
    LET(mixes, streams * (streams + 2));
    FLOPS(2 * tokens * hidden * streams * (mixes + 1));
    TENSOR(WEIGHTS, mixes * streams * hidden, 1, mixes);
    TENSOR(ACTIVATIONS, tokens * streams * hidden, 1, tokens * streams);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

/* Each new stream is a sum of all streams and of the result, each with a weight. */
FORMULA(hyper_expand)
{
    DIM(tokens);
    DIM(hidden);
    DIM(streams);
    FLOPS(2 * tokens * hidden * streams * (streams + 1));
    TENSOR(ACTIVATIONS, tokens * hidden * (streams + 1), 2, tokens * (streams + 1));
    TENSOR(OUT, tokens * hidden * streams, 1, tokens * streams);
}

/* A token attends over the depth of a model: each of its `streams` vectors is normed, scored by a
 * vector of weights, and takes part in their sum by its share. */
FORMULA(depth_mix)
{
    DIM(tokens);
    DIM(hidden);
    DIM(streams);
    FLOPS(6 * tokens * hidden * streams);
    TENSOR(WEIGHTS, 2 * hidden, 2, 2);
    TENSOR(ACTIVATIONS, tokens * streams * hidden, 1, tokens * streams);
    TENSOR(OUT, tokens * hidden, 1, tokens);
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
 * Counts pairs of tokens within chunks, including a token with itself: the tokens of a sequence
 * pass through the state in chunks, and only tokens of the same chunk are paired. A chunk is never
 * longer than the sequence, whose last chunk counts as a part of a whole one.
 */
#define CHUNK_PAIRS                                                                                \
    LET(length, fmin(scan_chunk, query_len));                                                      \
    LET(pairs, (length + 1) * query_len / 2)

/*
 * The delta rule subtracts the value that the state already holds for the key of a token, and
 * writes the rest. With states, three products per token (keys and queries into the state, keys and
 * new values into it) of head_dim x v_head_dim; within a chunk five products per pair (keys with
 * keys, the triangular system for keys and for values, queries with keys, scores with values). The
 * decay is not counted, as the softmax of attention is not.
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

/*
 * Linear attention with a fixed decay per head: per token and head two products of head_dim x
 * v_head_dim (keys and values into the state, queries with the state), and per pair of a chunk
 * queries with keys, and scores with values.
 */
FORMULA(lightning)
{
    DIM(batch);
    DIM(heads);
    DIM(head_dim);
    DIM(v_head_dim);
    DIM(query_len);
    DIM(scan_chunk);
    CHUNK_PAIRS;
    FLOPS(batch * heads *
          (4 * query_len * head_dim * v_head_dim + 2 * pairs * (head_dim + v_head_dim)));
    TENSOR(ACTIVATIONS, batch * query_len * heads * (2 * head_dim + v_head_dim), 3,
           3 * batch * query_len);
    TENSOR(KV, 2 * batch * heads * head_dim * v_head_dim, 2, 2 * batch * heads);
    TENSOR(OUT, batch * query_len * heads * v_head_dim, 1, batch * query_len);
}

/*
 * The selective scan of Mamba-1. Each channel has state_size elements with decays of their own, so
 * tokens pass one after another and no product of matrices takes their place. Per element: the step
 * times A, the decayed state, the input times B, the sum of both, and the product with C with its
 * sum. Per channel: the step times the input, and D times the input with its sum. Exponentials are
 * not counted.
 */
FORMULA(selective_scan)
{
    DIM(batch);
    DIM(query_len);
    DIM(hidden);
    DIM(state_size);
    FLOPS(batch * query_len * hidden * (6 * state_size + 3));
    TENSOR(WEIGHTS, hidden * (state_size + 1), 2, 2 * hidden);
    TENSOR(ACTIVATIONS, 2 * batch * query_len * (hidden + state_size), 4, 4 * batch * query_len);
    TENSOR(KV, 2 * batch * hidden * state_size, 2, 2 * batch * hidden);
    TENSOR(OUT, batch * query_len * hidden, 1, batch * query_len);
}
