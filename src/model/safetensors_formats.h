// SPDX-License-Identifier: MIT
/* The formats of weights. A weight may consist of several tensors (values, scales, zero points),
 * which tell its format together. */
#ifndef ROOF_MODEL_SAFETENSORS_FORMATS_H
#define ROOF_MODEL_SAFETENSORS_FORMATS_H

#include "model/safetensors_names.h"
#include "model/weights.h"

/* The types of elements that the format has. */
enum roof_dtype {
    ROOF_DTYPE_F64,
    ROOF_DTYPE_F32,
    ROOF_DTYPE_F16,
    ROOF_DTYPE_BF16,
    ROOF_DTYPE_F8_E4M3,
    ROOF_DTYPE_F8_E5M2,
    ROOF_DTYPE_I8,
    ROOF_DTYPE_U8,
    ROOF_DTYPE_BOOL,
    ROOF_DTYPE_F8_E8M0,
    ROOF_DTYPE_I16,
    ROOF_DTYPE_U16,
    ROOF_DTYPE_I32,
    ROOF_DTYPE_U32,
    ROOF_DTYPE_I64,
    ROOF_DTYPE_U64,
    ROOF_DTYPE_C64,
    ROOF_DTYPE_F4,
    ROOF_DTYPE_F6_E2M3,
    ROOF_DTYPE_F6_E3M2
};
const char *roof_dtype_name(enum roof_dtype dtype);
int roof_dtype_bits(enum roof_dtype dtype);
/* Finds a type by its name; false when it is not known. */
bool roof_dtype_find(enum roof_dtype *out, const char *name);
/* Gives the format of a weight that is a tensor of this type and nothing else; false for a type
 * that no weight is. */
bool roof_dtype_format(enum roof_precision *out, enum roof_dtype dtype);
/* Tells whether a type holds floating-point numbers that need no scale. */
bool roof_dtype_is_real(enum roof_dtype dtype);

/* A tensor that belongs to a weight. */
struct roof_stored_part {
    struct roof_tensor_place place;
    enum roof_dtype dtype;
    int rank;
    int64_t size[4];
    int64_t elements;
    uint64_t bytes;
};

/* The tensors of one weight, at most one of each kind, and what it must be. */
struct roof_stored_weight {
    const struct roof_stored_part *first;
    const struct roof_stored_part *part[ROOF_PART_KINDS];
    struct roof_matrix shape;
    int64_t stack; /* how many matrices of that shape there are */
    int64_t elements;
};

/* Finds the format of a weight. Returns NULL, or what is wrong with the weight. */
const char *roof_stored_format(enum roof_precision *out, const struct roof_stored_weight *weight);
/* Finds the format of a weight whose shape is not known: it gets one that its tensors can have. */
const char *roof_stored_infer(enum roof_precision *out, struct roof_stored_weight *weight);

#endif
