// SPDX-License-Identifier: MIT
/* The pieces that reading a device and changing one share. */
#ifndef ROOF_CATALOG_HARDWARE_PARTS_H
#define ROOF_CATALOG_HARDWARE_PARTS_H

#include "catalog/hardware.h"

/* A peak is in this range, in TFLOPS, and the energy of a FLOP, in pJ. */
#define ROOF_PEAK_MIN 1e-6
#define ROOF_PEAK_MAX 1e9

/* Gives the device memory to release. If that fails, the memory is released at once, and the result
 * is false. */
bool roof_hardware_adopt(struct roof_hardware *hardware, void *memory);
/* Tells whether a key is one of the two keys of a figure. */
bool roof_figure_named(enum roof_figure_id id, const char *key);
/* Returns the key that a word which is none stands for, such as "vram"; NULL if it is unknown. */
const char *roof_figure_meant(const char *word);
/* Tells whether figures of a unit are whole numbers. */
bool roof_figure_is_count(enum roof_unit unit);
/* Finds the formats that a key of a peak table stands for. Returns their number; 0 if the key is
 * unknown. */
int roof_peak_formats(enum roof_precision format[2], const char *key, struct roof_error *error);
/* Finds the unit and peak of each format: the matrix unit if the device has one for the format,
 * else the vector unit, else those of the first of its fallbacks that has either. */
void roof_hardware_derive(struct roof_hardware *hardware);

#endif
