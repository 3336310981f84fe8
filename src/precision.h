// SPDX-License-Identifier: MIT
/* The bytes of tensors in a format, ready for arithmetic on many tensors. */
#ifndef ROOF_PRECISION_PRIVATE_H
#define ROOF_PRECISION_PRIVATE_H

#include "roofline/precision.h"

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

/* The formula of roof_tensor_bytes. */
static inline double roof_storage_bytes(const struct roof_storage *s, double elements,
                                        double tensors, double channels)
{
    return elements * s->block_bytes / s->block_elements + tensors * s->tensor_bytes +
           channels * s->channel_bytes;
}

#endif
