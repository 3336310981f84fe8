// SPDX-License-Identifier: MIT
/**
 * The number-format catalog: one row per format. Sizes are never typed in: bits per element follow
 * from the layout of a block, and the layout is asserted when the library is compiled.
 *
 * The catalog is const data: any number of threads may read it.
 */
#ifndef ROOF_CATALOG_PRECISION_H
#define ROOF_CATALOG_PRECISION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "roofline/device.h"

enum roof_family {
    ROOF_FAMILY_FLOAT,
    ROOF_FAMILY_INTEGER,
    ROOF_FAMILY_BLOCK_FLOAT,
    ROOF_FAMILY_CODE_BOOK
};

#define ROOF_FALLBACKS_MAX 6

/** One row of the catalog. Strings are static and never NULL unless said. */
struct roof_format {
    const char *name;  /**< as in options and keys, lower case */
    const char *alias; /**< a second name, or NULL */
    const char *label; /**< for people */
    enum roof_family family;
    int element_bits;        /**< bits of one element without its scales */
    int exponent_bits;       /**< 0 for integers and code books */
    int mantissa_bits;       /**< explicit mantissa bits; 0 for integers and code books */
    int significant_bits;    /**< bits that carry information: 19 for tf32, else element_bits */
    int64_t block_elements;  /**< elements that share a scale; 1 when there is none */
    int64_t block_bytes;     /**< bytes of such a block, scales included */
    int tensor_bytes;        /**< bytes once per tensor (the FP32 scale of nvfp4) */
    int channel_bytes;       /**< bytes once per output channel or token (int8_channel) */
    const char *scale;       /**< kind of scale, "none" when there is none */
    double lowest;           /**< most negative value of an element */
    double highest;          /**< largest finite value of an element */
    const double *code_book; /**< the values an element can take (E2M1: magnitudes), or NULL */
    int code_count;
    enum roof_precision activations; /**< the activations that -p chooses for such weights; itself
                                          unless the format stores weights only */
    enum roof_precision unit;        /**< the format whose hardware peak its multiplications use */
    const char *native_method;       /**< the name of its method in recommend, if the unit exists */
    const char *weight_method;       /**< the name if only weights are stored in it; NULL: never */
    const char *use;                 /**< usual use, a few words */
    const char *remark;              /**< how other published figures differ, or NULL */
    enum roof_precision fallback[ROOF_FALLBACKS_MAX]; /**< tried in order on a device without the
                                                           unit; ends with ROOF_PRECISION_AUTO */
};

/** Returns the row of a format; never NULL for 0 <= precision < ROOF_PRECISION_COUNT. */
const struct roof_format *roof_format(enum roof_precision precision);

/** Returns true for a format in which only weights (and some KV caches) are stored. */
bool roof_precision_weight_only(enum roof_precision precision);

/**
 * Returns the bytes of tensors in a format: elements * block_bytes / block_elements + tensors *
 * tensor_bytes + channels * channel_bytes. Blocks are not padded.
 */
double roof_tensor_bytes(enum roof_precision precision, double elements, double tensors,
                         double channels);

/** Tells whether pruned weights (2:4) in a format are stored compressed: formats of 16 and 8 bits
 * that a unit multiplies directly, but not the MX formats. */
bool roof_precision_prunable(enum roof_precision precision);

/** Returns the bits per element of such weights, including scales: half the values, and 2 bits for
 * the place of each in its group of four. */
double roof_pruned_bits(enum roof_precision precision);

/** Returns the bytes of tensors as roof_tensor_bytes does, pruned and compressed. */
double roof_pruned_bytes(enum roof_precision precision, double elements, double tensors,
                         double channels);

/**
 * Returns the format in which a product of the two is computed when every unit exists: a
 * weight-only format computes at the activations', else the wider of the two, and at equal width
 * the activations'.
 */
enum roof_precision roof_precision_product(enum roof_precision weights,
                                           enum roof_precision activations);

/** Tells whether a format exists only in GGUF files, which only llama.cpp and related programs run.
 */
bool roof_precision_gguf(enum roof_precision precision);

const char *roof_family_name(enum roof_family family);

/** Classes of the typical loss compared with the 16-bit original, smallest first
 * (data/accuracy.json). */
enum roof_accuracy_class {
    ROOF_ACCURACY_NONE,
    ROOF_ACCURACY_MINIMAL,
    ROOF_ACCURACY_BELOW_1,
    ROOF_ACCURACY_1_TO_2,
    ROOF_ACCURACY_2_TO_5,
    ROOF_ACCURACY_SEVERE,
    ROOF_ACCURACY_CLASS_COUNT
};

/** Names a class as in data/accuracy.json, and finds one by that name, in upper or lower case. An
 * unknown name is ROOF_USAGE, and the message lists the names. */
const char *roof_accuracy_name(enum roof_accuracy_class accuracy);
enum roof_status roof_accuracy_find(enum roof_accuracy_class *out, const char *name,
                                    struct roof_error *error);

/** The accuracy table. Strings belong to it. */
struct roof_accuracy {
    struct {
        enum roof_accuracy_class loss;
        const char *figure; /**< a loss that was measured; NULL when none was found */
        const char *source;
    } of[ROOF_PRECISION_COUNT];
    void *document; /**< private */
};

/** Reads the embedded data/accuracy.json. On success the caller owns *out: roof_accuracy_free. */
enum roof_status roof_accuracy_load(struct roof_accuracy *out, struct roof_error *error);
void roof_accuracy_free(struct roof_accuracy *accuracy);

/** A format with the table of accuracies: a row of the table of formats. */
struct roof_precision_entry {
    enum roof_precision precision;
    const struct roof_accuracy *accuracy;
};

#endif
