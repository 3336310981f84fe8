// SPDX-License-Identifier: MIT
/* What questions about measuring share: the device that is measured, and for how long. */
#ifndef ROOF_ASK_MEASURING_H
#define ROOF_ASK_MEASURING_H

#include "ask/asking.h"
#include "measure/meter.h"

/* Reads which device is measured; *meter becomes NULL for the first one that is found. */
enum roof_status roof_measuring_device(const struct roof_meter **meter,
                                       struct roof_meter_options *options,
                                       const struct roof_asking *a, struct roof_error *error);

/* Reads for how long, in seconds. */
enum roof_status roof_measuring_seconds(double *out, const struct roof_asking *a, double otherwise,
                                        struct roof_error *error);

/* Opens the device, or where *meter is NULL the first one that is found, GPUs first: a CPU then
 * comes with a remark on what GPUs lack, which may be there. */
enum roof_status roof_measuring_open(struct roof_bench **out, const struct roof_meter **meter,
                                     const struct roof_meter_options *options,
                                     const struct roof_asking *a, struct roof_error *error);

/* Tells if a backend measures the device that the program itself runs on. */
bool roof_measuring_host(const struct roof_meter *meter);

/* Reads the lines of a file that an earlier run left; one that is absent has none. */
enum roof_status roof_measuring_read(struct roof_text *out, const char *folder, const char *name,
                                     struct roof_error *error);
/* Writes a file FOLDER/NAME by the caller, who can write files. */
enum roof_status roof_measuring_write(const struct roof_asking *a, const char *folder,
                                      const char *name, const struct roof_text *text,
                                      struct roof_error *error);

/* Answers `measure model`. */
enum roof_status roof_ask_measure_model(struct roof_asking *a, struct roof_error *error);

#endif
