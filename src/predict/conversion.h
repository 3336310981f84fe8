// SPDX-License-Identifier: MIT
/* Products whose inputs kernels convert to a faster format. docs/formulas.md ("Formats"). */
#ifndef ROOF_PREDICT_CONVERSION_H
#define ROOF_PREDICT_CONVERSION_H

#include <stdbool.h>

#include "catalog/hardware.h"
#include "operator/operator.h"

/** Returns the format in which a device multiplies the activations by the tensor of a role, if no
 * other is asked for. With GGUF weights it is the fastest of the activations' format, FP16 and
 * INT8, because llama.cpp converts the activations. */
enum roof_precision roof_converted_format(const struct roof_hardware *hardware,
                                          const struct roof_formats *formats, enum roof_role role);

/** Returns the format in which a device multiplies by the tensor of a role: the one that is asked
 * for, or the one that it converts to. */
enum roof_precision roof_product_format(const struct roof_hardware *hardware,
                                        const struct roof_formats *formats, enum roof_role role);

/** Returns the peak, in FLOP/s, to which kernels state their share. `rate` is that of the product's
 * format; with GGUF weights the result is at most that of 16 bits, or of the activations. */
double roof_plain_rate(const struct roof_workload *workload, const struct roof_hardware *hardware,
                       double rate);

#endif
