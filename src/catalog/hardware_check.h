// SPDX-License-Identifier: MIT
/* Refuses devices whose figures contradict each other. */
#ifndef ROOF_CATALOG_HARDWARE_CHECK_H
#define ROOF_CATALOG_HARDWARE_CHECK_H

#include "catalog/hardware.h"

/* Refuses figures that cannot be those of one device, with ROOF_INVALID and the name of the file.
 * Ranges of single figures are in roof_figure_key. */
enum roof_status roof_hardware_check(const struct roof_hardware *hardware, const char *source,
                                     struct roof_error *error);

#endif
