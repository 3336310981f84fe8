// SPDX-License-Identifier: MIT
/* Conversions of half precision, for the scales of blocks. */
#ifndef ROOF_MEASURE_CPU_HALF_H
#define ROOF_MEASURE_CPU_HALF_H

#include <stdint.h>

float roof_half_to_float(uint16_t half);
uint16_t roof_float_to_half(float value);

#endif
