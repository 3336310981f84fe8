// SPDX-License-Identifier: MIT
/* Half precision. */
#ifndef ROOF_MEASURE_CPU_HALF_H
#define ROOF_MEASURE_CPU_HALF_H

#include <stdint.h>

/* Convert half precision, for the scales of blocks and in tests. */
float roof_half_to_float(uint16_t half);
uint16_t roof_float_to_half(float value);

#endif
