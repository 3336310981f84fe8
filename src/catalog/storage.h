// SPDX-License-Identifier: MIT
/* The bytes of tensors in a format, prepared for many tensors, and phrases of messages about
 * formats. */
#ifndef ROOF_CATALOG_STORAGE_H
#define ROOF_CATALOG_STORAGE_H

#include "catalog/precision.h"

/* The list, in messages, of all formats that activations can have. A test compares it with the
 * catalog. */
#define ROOF_TENSOR_FORMATS "fp64, fp32, tf32, bf16, fp16, the fp8, int and mx formats, and nvfp4"

struct roof_storage {
    double block_bytes;
    double block_elements;
    double tensor_bytes;
    double channel_bytes;
};

static inline struct roof_storage roof_storage_of(const struct roof_format *format)
{
    return (struct roof_storage){(double)format->block_bytes, (double)format->block_elements,
                                 format->tensor_bytes, format->channel_bytes};
}

/* Returns the storage of weights that are pruned 2:4: half of the values are kept, each with 2 bits
 * for its place; scales stay. docs/formulas.md derives it. */
static inline struct roof_storage roof_storage_pruned(const struct roof_format *format)
{
    struct roof_storage s = roof_storage_of(format);
    const double kept = s.block_elements / 2;
    s.block_bytes -= (s.block_elements - kept) * format->element_bits / 8;
    s.block_bytes += kept * 2 / 8;
    return s;
}

/* Computes roof_tensor_bytes. */
static inline double roof_storage_bytes(const struct roof_storage *s, double elements,
                                        double tensors, double channels)
{
    return elements * s->block_bytes / s->block_elements + tensors * s->tensor_bytes +
           channels * s->channel_bytes;
}

#endif
