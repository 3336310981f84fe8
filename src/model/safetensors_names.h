// SPDX-License-Identifier: MIT
/* The names of tensors in checkpoints: in which layer a tensor is, of which module, and what it is
 * there. */
#ifndef ROOF_MODEL_SAFETENSORS_NAMES_H
#define ROOF_MODEL_SAFETENSORS_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* A module has tensors of several kinds. */
enum roof_part_kind {
    ROOF_PART_WEIGHT,
    ROOF_PART_BIAS,
    ROOF_PART_QWEIGHT,
    ROOF_PART_PACKED,
    ROOF_PART_BLOCKS,
    ROOF_PART_SCALE,
    ROOF_PART_SCALE_INV,
    ROOF_PART_SCALES,
    ROOF_PART_BLOCK_SCALES,
    ROOF_PART_ZEROS,
    ROOF_PART_ZERO_POINT,
    ROOF_PART_ABSMAX,
    ROOF_PART_NESTED_ABSMAX,
    ROOF_PART_STATE_NF4,
    ROOF_PART_STATE_FP4,
    ROOF_PART_SCB,
    /* Those that follow add bytes and say nothing. */
    ROOF_PART_SCALE_2,
    ROOF_PART_GLOBAL_SCALE,
    ROOF_PART_INPUT_SCALE,
    ROOF_PART_INPUT_GLOBAL_SCALE,
    ROOF_PART_OUTPUT_SCALE,
    ROOF_PART_SHAPE,
    ROOF_PART_G_IDX,
    ROOF_PART_WEIGHT_G_IDX,
    ROOF_PART_QUANT_MAP,
    ROOF_PART_NESTED_QUANT_MAP,
    ROOF_PART_WEIGHT_FORMAT,
    ROOF_PART_KINDS
};

enum roof_tensor_role {
    ROOF_TENSOR_KNOWN,   /* all of the place is known */
    ROOF_TENSOR_UNKNOWN, /* the layer is known at most */
    ROOF_TENSOR_IGNORED  /* it belongs to an encoder of images or audio, or is a buffer */
};

struct roof_tensor_place {
    int32_t layer;  /* -1: outside the layers */
    int32_t expert; /* -1: none */
    int16_t module;
    int8_t kind; /* enum roof_part_kind */
};

#define ROOF_TENSOR_LABEL_SIZE 160

/* Finds the place of a tensor by its name in a model of so many layers. A mixed model also has
 * parts other than attention and MLP. Beyond the last layer the answer is ROOF_TENSOR_UNKNOWN. */
enum roof_tensor_role roof_tensor_find(struct roof_tensor_place *out, const char *name,
                                       int64_t layers, bool mixed);

/* Tells whether a module has all experts in one tensor. */
bool roof_tensor_is_stacked(int module);
/* Tells whether a module stores its columns first. */
bool roof_tensor_is_transposed(int module);
/* Tells whether a module is a product that makes the weights of streams of the residual. */
bool roof_tensor_makes_streams(int module);
/* Tells whether a module is a table of learned positions. */
bool roof_tensor_is_positions(int module);

/* Writes the name of a weight: "layers.3.mlp.experts.7.up_proj". */
const char *roof_tensor_label(char out[ROOF_TENSOR_LABEL_SIZE],
                              const struct roof_tensor_place *place);

#endif
