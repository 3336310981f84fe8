// SPDX-License-Identifier: MIT
/* The kernels of q4_0 in packed rows. */
#ifndef ROOF_MEASURE_CPU_DOT_Q4_H
#define ROOF_MEASURE_CPU_DOT_Q4_H

#include "measure/cpu_dot.h"

/* Finds the kernels of the widest unit of an x86 processor, like roof_dot_find; false if weights
 * are not q4_0, or no unit has any. */
bool roof_dot_q4_find(struct roof_dot_kernels *out, enum roof_precision weights, bool many,
                      const struct roof_cpu_features *features);

#endif
