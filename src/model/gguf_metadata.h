// SPDX-License-Identifier: MIT
/* The metadata of a GGUF file: keys and values. */
#ifndef ROOF_MODEL_GGUF_METADATA_H
#define ROOF_MODEL_GGUF_METADATA_H

#include "model/gguf_stream.h"
#include "model/model.h"

/* The largest size that metadata may give, and most tensors of a model. Both are far above what
 * real files have. */
#define ROOF_GGUF_SIZE_MAX 1000000000
#define ROOF_GGUF_TENSORS_MAX 200000

/* The metadata before it becomes a model; a number that is not given is 0. */
struct roof_gguf_metadata {
    char architecture[64];
    char name[ROOF_GGUF_NAME_MAX];
    int64_t alignment;    /* a power of two */
    int64_t part;         /* the number of this file, from 0, in a model of several files */
    int64_t parts;        /* how many files the model has */
    int64_t part_tensors; /* how many tensors all files have together */
    int64_t layers;
    int64_t
        extra_layers; /* how many of the layers, the last ones, are for multi-token prediction */
    int64_t hidden;
    int64_t intermediate;
    int64_t heads;
    int64_t kv_heads;
    int64_t key_length;
    int64_t value_length;
    int64_t key_length_mla;
    int64_t value_length_mla;
    int64_t q_lora_rank;
    int64_t kv_lora_rank;
    int64_t rotary_dim;
    int64_t positions;
    int64_t window;
    int64_t window_pattern;
    int64_t windows; /* entries of a pattern that is a list */
    bool windowed[ROOF_LAYERS_MAX];
    int64_t experts;
    int64_t top_k;
    int64_t expert_intermediate;
    int64_t vocab;
    int64_t parallel;
    int64_t alibi;
    int64_t layer_norm;
    /* Parts that only some architectures have (gguf_family.c). */
    int64_t expert_groups;
    int64_t group_topk;
    int64_t expert_latent;
    int64_t conv_taps;
    int64_t state_inner; /* elements of all heads with a state */
    int64_t state_size;
    int64_t state_rank; /* Mamba-1: the rank of steps; else the heads with a state */
    int64_t state_groups;
    int64_t delta_head; /* elements of a head with Kimi's delta attention */
    int64_t index_heads;
    int64_t index_head_dim;
    int64_t index_topk;
    int64_t index_block; /* keys of a block, if an indexer chooses blocks */
    int64_t index_types; /* layers that reuse the keys that others chose */
    int64_t altup_streams;
    int64_t layer_embedding;
    int64_t keyless; /* the last layers, which use keys and values of earlier ones */
    int64_t window_key_length;
    int64_t streams;    /* of the residual */
    int64_t out_groups; /* groups of heads that are projected apart first */
    int64_t out_rank;
    int64_t ratios; /* entries of the list of tokens of a compressed key */
    uint8_t ratio[ROOF_LAYERS_MAX];
    int64_t ignored; /* what the tensors say, too */
    bool mixed; /* layers differ in their parts, so lists may have zeros and different numbers */
    int64_t not_causal;                  /* tokens also see those behind them */
    char other_part[ROOF_GGUF_NAME_MAX]; /* the first key of a part that only some architectures
                                           have; "": there is none */
};

/* Reads the given number of entries. *out must be all 0. */
enum roof_status roof_gguf_take_metadata(struct roof_gguf_stream *in,
                                         struct roof_gguf_metadata *out, uint64_t entries);

#endif
