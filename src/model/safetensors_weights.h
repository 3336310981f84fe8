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
    bool mixed;           /* layers have parts other than attention and MLP */
    char unread[ROOF_TENSOR_LABEL_SIZE]; /* the first matrix of a mixed model that is not
                                                 known; "": all are */
    char packed[ROOF_TENSOR_LABEL_SIZE]; /* the first of a type that needs a scale, with it */
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
    /* Elements of the largest matrix of each weight in each layer, and outside. */
    int64_t matrix[ROOF_LAYERS_MAX + 1][ROOF_WEIGHT_COUNT];
    double elements; /* of all matrices of a mixed model that are used */
};

/* Refuses the file. */
#define ROOF_SAFETENSORS_BAD(reading, ...)                                                         \
    roof_error_at((reading)->error, ROOF_INVALID, (reading)->path, 0, 0, __VA_ARGS__)

enum roof_status roof_safetensors_add(struct roof_safetensors *r,
                                      const struct roof_stored_tensor *tensor);
/* Puts formats and bytes into the model when all tensors were added. */
enum roof_status roof_safetensors_finish(struct roof_safetensors *r);
void roof_safetensors_release(struct roof_safetensors *r);

/* The parts of these that mixed models have (safetensors_mixed.c). */

/* Tells whether layers have parts other than attention and MLP of one size. */
bool roof_safetensors_is_mixed(const struct roof_model *model);
/* Notes a matrix whose name or format is not known. */
void roof_safetensors_leave(struct roof_safetensors *r, const char *name, enum roof_dtype dtype);
/* Puts the format of a weight where it is, and counts its elements. */
void roof_safetensors_put_mixed(struct roof_safetensors *r, struct roof_stored_weight *weight,
                                unsigned weights);
/* Checks the elements of all matrices, and gives the layers their formats. */
enum roof_status roof_safetensors_finish_mixed(struct roof_safetensors *r);
/* Leaves the formats to the config if a matrix is not known; the model is then not `stored`. */
enum roof_status roof_safetensors_take_config(struct roof_safetensors *r);

#endif
