// SPDX-License-Identifier: MIT
/* A measured device as a document that every command reads: hardware.json. */
#ifndef ROOF_MEASURE_DEVICE_H
#define ROOF_MEASURE_DEVICE_H

#include "base/text.h"
#include "measure/suite.h"

/* Writes the document. like is the device whose kernels are used for those that were not measured;
 * NULL: none. */
void roof_device_write(struct roof_text *out, const struct roof_measured *measured, const char *id,
                       const char *like);

/* Returns the fastest multiplication of a format on one of the units, in FLOP/s: on the matrix unit
 * of a GPU its fastest product; NAN if its probe was not measured. */
double roof_measured_peak(const struct roof_measured *measured, enum roof_compute_unit unit,
                          enum roof_precision format);

#endif
