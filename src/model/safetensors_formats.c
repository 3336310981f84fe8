// SPDX-License-Identifier: MIT
#include "model/safetensors_formats.h"

#include <string.h>

#include "base/base.h"

/* --- types --------------------------------------------------------------------------------- */

static const struct dtype {
    const char *name;
    int bits;
    int precision; /* the format of a weight that has nothing else, or -1 */
    bool real;     /* it can be a scale */
} dtypes[] = {
    [ROOF_DTYPE_F64] = {"F64", 64, ROOF_PRECISION_FP64, true},
    [ROOF_DTYPE_F32] = {"F32", 32, ROOF_PRECISION_FP32, true},
    [ROOF_DTYPE_F16] = {"F16", 16, ROOF_PRECISION_FP16, true},
    [ROOF_DTYPE_BF16] = {"BF16", 16, ROOF_PRECISION_BF16, true},
    [ROOF_DTYPE_F8_E4M3] = {"F8_E4M3", 8, ROOF_PRECISION_FP8_E4M3, false},
    [ROOF_DTYPE_F8_E5M2] = {"F8_E5M2", 8, ROOF_PRECISION_FP8_E5M2, false},
    [ROOF_DTYPE_I8] = {"I8", 8, ROOF_PRECISION_INT8, false},
    [ROOF_DTYPE_U8] = {"U8", 8, -1, false},
    [ROOF_DTYPE_BOOL] = {"BOOL", 8, -1, false},
    [ROOF_DTYPE_F8_E8M0] = {"F8_E8M0", 8, -1, false},
    [ROOF_DTYPE_I16] = {"I16", 16, -1, false},
    [ROOF_DTYPE_U16] = {"U16", 16, -1, false},
    [ROOF_DTYPE_I32] = {"I32", 32, -1, false},
    [ROOF_DTYPE_U32] = {"U32", 32, -1, false},
    [ROOF_DTYPE_I64] = {"I64", 64, -1, false},
    [ROOF_DTYPE_U64] = {"U64", 64, -1, false},
    [ROOF_DTYPE_C64] = {"C64", 64, -1, false},
    [ROOF_DTYPE_F4] = {"F4", 4, -1, false},
    [ROOF_DTYPE_F6_E2M3] = {"F6_E2M3", 6, -1, false},
    [ROOF_DTYPE_F6_E3M2] = {"F6_E3M2", 6, -1, false},
};

const char *roof_dtype_name(enum roof_dtype dtype)
{
    return dtypes[dtype].name;
}

int roof_dtype_bits(enum roof_dtype dtype)
{
    return dtypes[dtype].bits;
}

bool roof_dtype_find(enum roof_dtype *out, const char *name)
{
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            *out = (enum roof_dtype)i;
            return true;
        }
    }
    return false;
}

bool roof_dtype_format(enum roof_precision *out, enum roof_dtype dtype)
{
    if (dtypes[dtype].precision < 0) {
        return false;
    }
    *out = (enum roof_precision)dtypes[dtype].precision;
    return true;
}

bool roof_dtype_is_real(enum roof_dtype dtype)
{
    return dtypes[dtype].real;
}

/* --- formats ------------------------------------------------------------------------------- */

static bool has_size(const struct roof_stored_part *p, int64_t rows, int64_t columns)
{
    return p->rank == 2 && p->size[0] == rows && p->size[1] == columns;
}

/* Tells whether values that are stored one by one have the shape of the weight. */
static bool plain_fits(const struct roof_stored_weight *w)
{
    const struct roof_stored_part *const p = w->part[ROOF_PART_WEIGHT];
    const int module = p->place.module;
    if (roof_tensor_is_stacked(module)) {
        return p->rank == 3 && p->size[0] == w->stack && p->elements == w->elements;
    }
    return has_size(p, w->shape.rows, w->shape.columns) ||
           (roof_tensor_is_transposed(module) && has_size(p, w->shape.columns, w->shape.rows));
}

/* Tells whether scales are powers of two, each for 32 values of so many bits (OCP MX). */
static bool is_mx(const struct roof_stored_weight *w, const struct roof_stored_part *values,
                  const struct roof_stored_part *scale, int64_t bits)
{
    return scale != NULL && (scale->dtype == ROOF_DTYPE_U8 || scale->dtype == ROOF_DTYPE_F8_E8M0) &&
           (scale->rank == 2 || scale->rank == 3) &&
           roof_times((int64_t)values->bytes, 8) == roof_times(w->elements, bits) &&
           roof_times(scale->elements, 32) == w->elements &&
           roof_times(scale->size[scale->rank - 1], 32) == w->shape.columns;
}

/* Each function that follows returns the format of a weight, or -1. */

static int fp8_format(const struct roof_stored_weight *w)
{
    const struct roof_stored_part *const p = w->part[ROOF_PART_WEIGHT];
    const struct roof_stored_part *const scale = w->part[ROOF_PART_SCALE_INV] != NULL
                                                     ? w->part[ROOF_PART_SCALE_INV]
                                                     : w->part[ROOF_PART_SCALE];
    if (scale == NULL) {
        return dtypes[p->dtype].precision;
    }
    if (is_mx(w, p, scale, 8)) {
        return p->dtype == ROOF_DTYPE_F8_E4M3 ? ROOF_PRECISION_MXFP8_E4M3
                                              : ROOF_PRECISION_MXFP8_E5M2;
    }
    const bool powers = scale->dtype == ROOF_DTYPE_F8_E8M0;
    if (p->dtype == ROOF_DTYPE_F8_E4M3 && p->rank == 2 && (dtypes[scale->dtype].real || powers) &&
        (powers || w->part[ROOF_PART_SCALE_INV] != NULL || scale->elements > 1) &&
        has_size(scale, roof_divide_up(p->size[0], 128), roof_divide_up(p->size[1], 128))) {
        return ROOF_PRECISION_FP8_BLOCK128; /* the scales of some are powers of two */
    }
    if (!dtypes[scale->dtype].real) {
        return -1;
    }
    /* There is one scale for the tensor, or one for each of its rows. */
    return scale->elements == 1 || scale->elements == w->shape.rows ? dtypes[p->dtype].precision
                                                                    : -1;
}

/* Tells whether bytes hold two values of 4 bits each, with an E4M3 scale for 16 values. */
static bool is_nvfp4(const struct roof_stored_weight *w, const struct roof_stored_part *values)
{
    const struct roof_stored_part *const scale = w->part[ROOF_PART_SCALE];
    return scale != NULL && scale->dtype == ROOF_DTYPE_F8_E4M3 &&
           roof_times(values->elements, 2) == w->elements &&
           roof_times(scale->elements, 16) == w->elements;
}

/* Handles bytes that hold two values. */
static int fp4_format(const struct roof_stored_weight *w, const struct roof_stored_part *values)
{
    return is_nvfp4(w, values)                             ? ROOF_PRECISION_NVFP4
           : is_mx(w, values, w->part[ROOF_PART_SCALE], 4) ? ROOF_PRECISION_MXFP4
                                                           : -1;
}

/* Returns the format of integers of 4 bits by the scales, which are for groups of inputs. */
static int groups_format(const struct roof_stored_weight *w, const struct roof_stored_part *scales,
                         bool zeros)
{
    static const int64_t groups[] = {128, 64, 32};
    enum roof_precision format = ROOF_PRECISION_AUTO;
    for (size_t i = 0; i < COUNT(groups); i++) {
        if (scales->elements ==
                roof_times(roof_divide_up(w->shape.columns, groups[i]), w->shape.rows) &&
            roof_int4_format(&format, (double)groups[i], zeros)) {
            return (int)format;
        }
    }
    return -1;
}

/* Tells whether bytes hold integers of two rows each, as NVIDIA ModelOpt packs AWQ. */
static bool is_byte_pair(const struct roof_stored_weight *w, const struct roof_stored_part *values)
{
    const struct roof_stored_part *const scale = w->part[ROOF_PART_SCALE];
    return values->dtype == ROOF_DTYPE_U8 && scale != NULL && dtypes[scale->dtype].real &&
           has_size(values, roof_divide_up(w->shape.rows, 2), w->shape.columns);
}

static int byte_format(const struct roof_stored_weight *w)
{
    const struct roof_stored_part *const p = w->part[ROOF_PART_WEIGHT];
    const int fp4 = fp4_format(w, p);
    if (fp4 >= 0) {
        return fp4;
    }
    if (is_byte_pair(w, p)) {
        return groups_format(w, w->part[ROOF_PART_SCALE], false);
    }
    if (p->dtype == ROOF_DTYPE_I8 && plain_fits(w)) {
        const struct roof_stored_part *const scale =
            w->part[ROOF_PART_SCALE] != NULL ? w->part[ROOF_PART_SCALE] : w->part[ROOF_PART_SCB];
        return scale == NULL                      ? ROOF_PRECISION_INT8
               : !dtypes[scale->dtype].real       ? -1
               : scale->elements == 1             ? ROOF_PRECISION_INT8
               : scale->elements == w->shape.rows ? ROOF_PRECISION_INT8_CHANNEL
                                                  : -1;
    }
    if (w->part[ROOF_PART_ABSMAX] != NULL && roof_times(p->elements, 2) == w->elements) {
        const bool nested = w->part[ROOF_PART_NESTED_ABSMAX] != NULL;
        return w->part[ROOF_PART_STATE_FP4] != NULL ? (nested ? -1 : ROOF_PRECISION_FP4_BNB)
               : nested                             ? ROOF_PRECISION_NF4_DQ
                                                    : ROOF_PRECISION_NF4_FP32;
    }
    return -1;
}

/* Handles GPTQ, AWQ and compressed-tensors: integers are packed into words, and scales are for
 * groups of inputs. */
static int packed_format(const struct roof_stored_weight *w, const struct roof_stored_part *values,
                         const struct roof_stored_part *scales, bool zeros)
{
    const int64_t bits = roof_times((int64_t)values->bytes, 8);
    if (scales == NULL || !dtypes[scales->dtype].real || values->dtype != ROOF_DTYPE_I32) {
        return -1;
    }
    if (bits == roof_times(w->elements, 8)) {
        return ROOF_PRECISION_INT8_CHANNEL;
    }
    return bits == roof_times(w->elements, 4) ? groups_format(w, scales, zeros) : -1;
}

static int blocks_format(const struct roof_stored_weight *w)
{
    const struct roof_stored_part *const scales = w->part[ROOF_PART_BLOCK_SCALES];
    const struct roof_stored_part *const blocks = w->part[ROOF_PART_BLOCKS];
    return scales != NULL && blocks->dtype == ROOF_DTYPE_U8 && scales->dtype == ROOF_DTYPE_U8 &&
                   roof_times(blocks->elements, 2) == w->elements &&
                   roof_times(scales->elements, 32) == w->elements
               ? ROOF_PRECISION_MXFP4
               : -1;
}

static int packed_words_format(const struct roof_stored_weight *w, bool zeros)
{
    const struct roof_stored_part *const p = w->part[ROOF_PART_PACKED];
    return p->dtype == ROOF_DTYPE_U8 ? fp4_format(w, p)
                                     : packed_format(w, p, w->part[ROOF_PART_SCALE], zeros);
}

/* The order matters: a weight may have tensors of several methods. */
const char *roof_stored_format(enum roof_precision *out, const struct roof_stored_weight *w)
{
    const struct roof_stored_part *const p = w->part[ROOF_PART_WEIGHT];
    const bool zeros = w->part[ROOF_PART_ZEROS] != NULL || w->part[ROOF_PART_ZERO_POINT] != NULL;
    int format = -1;
    if (w->part[ROOF_PART_QWEIGHT] != NULL) {
        format = packed_format(w, w->part[ROOF_PART_QWEIGHT], w->part[ROOF_PART_SCALES], zeros);
    } else if (w->part[ROOF_PART_PACKED] != NULL) {
        format = packed_words_format(w, zeros);
    } else if (w->part[ROOF_PART_BLOCKS] != NULL) {
        format = blocks_format(w);
    } else if (p == NULL) {
        return "has scales or a bias, but no weight";
    } else if (p->dtype == ROOF_DTYPE_U8 || p->dtype == ROOF_DTYPE_I8) {
        format = byte_format(w);
    } else if (!plain_fits(w)) {
        return "does not have the shape of the model";
    } else if (p->dtype == ROOF_DTYPE_F8_E4M3 || p->dtype == ROOF_DTYPE_F8_E5M2) {
        format = fp8_format(w);
    } else {
        format = dtypes[p->dtype].precision;
    }
    if (format < 0) {
        return "is in a format that is not known, or does not have the shape of the model";
    }
    *out = (enum roof_precision)format;
    return NULL;
}

/* --- shapes -------------------------------------------------------------------------------- */

/* Gives a weight the shape of its values, of which each element holds so many rows and columns. */
static void unpack(struct roof_stored_weight *w, const struct roof_stored_part *p, int64_t rows,
                   int64_t columns)
{
    const int last = p->rank < 4 ? p->rank - 1 : 3;
    w->stack = p->rank > 2 ? p->size[0] : 1;
    w->shape.rows = roof_times(last > 0 ? p->size[last - 1] : 1, rows);
    w->shape.columns = roof_times(last >= 0 ? p->size[last] : 1, columns);
    w->elements = roof_times(p->elements, rows * columns);
}

const char *roof_stored_infer(enum roof_precision *out, struct roof_stored_weight *weight)
{
    static const enum roof_part_kind values[] = {ROOF_PART_QWEIGHT, ROOF_PART_PACKED,
                                                 ROOF_PART_BLOCKS, ROOF_PART_WEIGHT};
    static const int packed[][2] = {{1, 1}, {1, 2}, {2, 1}, {1, 8}, {8, 1}, {1, 4}, {4, 1}};
    const struct roof_stored_part *part = NULL;
    const char *problem = NULL;
    for (size_t i = 0; i < COUNT(values) && part == NULL; i++) {
        part = weight->part[values[i]];
    }
    if (part == NULL) {
        return roof_stored_format(out, weight); /* which says that there is no weight */
    }
    for (size_t i = 0; i < COUNT(packed); i++) {
        unpack(weight, part, packed[i][0], packed[i][1]);
        problem = roof_stored_format(out, weight);
        if (problem == NULL) {
            break;
        }
    }
    return problem;
}
