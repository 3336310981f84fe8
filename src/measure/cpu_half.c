// SPDX-License-Identifier: MIT
#include "measure/cpu_half.h"

#include <math.h>
#include <string.h>

float roof_half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t exponent = half >> 10 & 0x1f;
    const uint32_t mantissa = half & 0x3ff;
    const uint32_t bits = sign | (exponent + 112) << 23 | mantissa << 13;
    float out = 0;
    if (exponent == 0) {
        out = (float)mantissa * 0x1p-24F;
        return sign != 0 ? -out : out;
    }
    memcpy(&out, &bits, sizeof out);
    return out;
}

uint16_t roof_float_to_half(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    const int exponent = (int)(bits >> 23 & 0xff) - 112;
    if (exponent <= 0) { /* subnormal */
        return (uint16_t)(sign | (uint16_t)lrintf(fabsf(value) * 0x1p24F));
    }
    if (exponent >= 31) {
        return (uint16_t)(sign | 0x7bff); /* the largest finite value */
    }
    const uint32_t rounded = (bits & 0x7fffff) + 0xfff + (bits >> 13 & 1);
    return (uint16_t)(sign | (((uint32_t)exponent << 10) + (rounded >> 13)));
}
