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

#define ROOF_GGUF_PART_WORDS 2

struct roof_gguf_block {
    uint64_t tensors;                     /* those that are there, as bits */
    uint64_t parts[ROOF_GGUF_PART_WORDS]; /* those that only mixed architectures have */
    bool predicts;                        /* it is a block for multi-token prediction */
    unsigned weights;                     /* those that are there, as bits */
    uint64_t bytes;
    uint64_t kv_b_bytes;
    /* Mixed architectures: the elements of the matrices of each weight, those of the largest of
     * them, whose format counts, and the bytes. */
    uint64_t elements[ROOF_WEIGHT_COUNT];
    int64_t largest[ROOF_WEIGHT_COUNT];
    uint64_t weight_bytes[ROOF_WEIGHT_COUNT];
    uint64_t kv_b_elements;
};

/* How many of the tensors that are not known are named. */
#define ROOF_GGUF_UNKNOWN_MAX 3

/* A model that is being read. */
struct roof_gguf {
    struct roof_gguf_stream stream;
    struct roof_model *model;
    struct roof_gguf_metadata metadata;
    uint64_t outside;     /* the tensors outside the blocks that are there, as bits */
    uint64_t bytes;       /* of the tensors outside the blocks */
    uint64_t elements;    /* of the matrices outside the blocks */
    uint64_t layer_table; /* elements of the table of the layers' own embeddings */
    uint64_t tensors;     /* how many all files have */
    /* The first tensors that are not known, and how many there are. */
    char unknown[ROOF_GGUF_UNKNOWN_MAX][ROOF_GGUF_NAME_MAX + 1];
    size_t unknown_count;
    struct roof_gguf_block block[ROOF_LAYERS_MAX];
    struct roof_layer layer[ROOF_LAYERS_MAX];
};

/* Reads the descriptions of `count` tensors of a file and adds them to the model. */
enum roof_status roof_gguf_take_tensors(struct roof_gguf *g, uint64_t count, int64_t alignment);

/* Tells whether a block has a tensor of this name below that of the block. */
bool roof_gguf_holds(const struct roof_gguf_block *block, const char *name);
bool roof_gguf_has(const struct roof_gguf_block *block, enum roof_gguf_tensor tensor);
/* The name, below that of its block, of the tensor that holds a weight alone. */
const char *roof_gguf_weight_name(enum roof_weight weight);

#endif
