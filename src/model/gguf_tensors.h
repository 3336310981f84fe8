// SPDX-License-Identifier: MIT
/* The tensors of a GGUF file: their names, shapes, types and places, and the properties of the
 * model that follow from them. */
#ifndef ROOF_MODEL_GGUF_TENSORS_H
#define ROOF_MODEL_GGUF_TENSORS_H

#include "model/gguf_metadata.h"
#include "model/model.h"

/* The tensors of a block that are asked for by name. */
enum roof_gguf_tensor {
    ROOF_GGUF_ATTN_NORM,
    ROOF_GGUF_FFN_NORM,
    ROOF_GGUF_POST_ATTENTION_NORM,
    ROOF_GGUF_POST_FFW_NORM,
    ROOF_GGUF_KV_B,
    ROOF_GGUF_K_B,
    ROOF_GGUF_V_B
};

struct roof_gguf_block {
    uint64_t tensors; /* those that are there, as bits */
    bool predicts;    /* it is a block for multi-token prediction */
    unsigned weights; /* those that are there, as bits */
    uint64_t bytes;
    uint64_t kv_b_bytes;
};

/* A model that is being read. */
struct roof_gguf {
    struct roof_gguf_stream stream;
    struct roof_model *model;
    struct roof_gguf_metadata metadata;
    uint64_t outside; /* the tensors outside the blocks that are there, as bits */
    uint64_t bytes;   /* of the tensors outside the blocks */
    uint64_t tensors; /* how many all files have */
    bool unknown;     /* some tensors are not known */
    struct roof_gguf_block block[ROOF_LAYERS_MAX];
    struct roof_layer layer[ROOF_LAYERS_MAX];
};

/* Reads the descriptions of `count` tensors of a file and adds them to the model. */
enum roof_status roof_gguf_take_tensors(struct roof_gguf *g, uint64_t count, int64_t alignment);

bool roof_gguf_has(const struct roof_gguf_block *block, enum roof_gguf_tensor tensor);
/* The name, below that of its block, of the tensor that holds a weight alone. */
const char *roof_gguf_weight_name(enum roof_weight weight);

#endif
