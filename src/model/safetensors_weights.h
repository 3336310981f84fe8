// SPDX-License-Identifier: MIT
/* Tensors of safetensors files become the weights of a model. They are gathered first, from all
 * files, because the tensors of a weight need not be in the same. */
#ifndef ROOF_MODEL_SAFETENSORS_WEIGHTS_H
#define ROOF_MODEL_SAFETENSORS_WEIGHTS_H

#include "model/safetensors_formats.h"

#define ROOF_SAFETENSORS_RANK_MAX 8

struct roof_stored_tensor {
    const char *name;
    enum roof_dtype dtype;
    int rank;
    int64_t size[ROOF_SAFETENSORS_RANK_MAX];
    int64_t elements;
    uint64_t bytes;
};

/* A model whose weights are being read. Begin with 0 in all but the first fields. */
struct roof_safetensors {
    struct roof_model *model; /* its config.json was read */
    const char *path;         /* the file that messages name */
    struct roof_error *error;
    int64_t extra_layers; /* layers for multi-token prediction that may follow the last */
    bool extra_assumed;   /* the number is not that of config.json */
    bool extra_seen;      /* one of these layers is there */
    bool unknown;         /* some tensors are not known */
    bool zeroless;        /* some weights are in groups that are only known with zero points */
    struct roof_stored_part *part;
    size_t parts;
    size_t capacity;
    uint64_t bytes;
    struct roof_layer layer[ROOF_LAYERS_MAX];
    unsigned found[ROOF_LAYERS_MAX];      /* the weights of each layer, as bits */
    unsigned outside;                     /* the weights outside the layers, as bits */
    int32_t experts[ROOF_LAYERS_MAX][3];  /* how many gates, ups and downs each layer has */
    int64_t largest[ROOF_LAYERS_MAX + 1]; /* elements of the largest vector of each layer, and of
                                             those outside */
};

/* Refuses the file. */
#define ROOF_SAFETENSORS_BAD(reading, ...)                                                         \
    roof_error_at((reading)->error, ROOF_INVALID, (reading)->path, 0, 0, __VA_ARGS__)

enum roof_status roof_safetensors_add(struct roof_safetensors *r,
                                      const struct roof_stored_tensor *tensor);
/* Puts formats and bytes into the model when all tensors were added. */
enum roof_status roof_safetensors_finish(struct roof_safetensors *r);
void roof_safetensors_release(struct roof_safetensors *r);

#endif
