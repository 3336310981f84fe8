// SPDX-License-Identifier: MIT
/* Parts that questions about measurements share: the measured device, and the duration. */
#ifndef ROOF_ASK_MEASURING_H
#define ROOF_ASK_MEASURING_H

#include "ask/asking.h"
#include "measure/meter.h"

/* Reads which device to measure; *meter becomes NULL for the first one that is found. */
enum roof_status roof_measuring_device(const struct roof_meter **meter,
                                       struct roof_meter_options *options,
                                       const struct roof_asking *a, struct roof_error *error);

/* Reads the duration in seconds. */
enum roof_status roof_measuring_seconds(double *out, const struct roof_asking *a, double otherwise,
                                        struct roof_error *error);

/* Tells the caller how much of the time is over, and returns whether it wants the run to end. */
bool roof_measuring_stopped(const struct roof_asking *a, double began_s, double seconds);

/* Opens the device, or if *meter is NULL the first one that is found, GPUs first. A CPU then comes
 * with a remark on what is missing for GPUs, because there may be one. */
enum roof_status roof_measuring_open(struct roof_bench **out, const struct roof_meter **meter,
                                     const struct roof_meter_options *options,
                                     const struct roof_asking *a, struct roof_error *error);

/* Reads the lines of a file from an earlier run; a missing file has none. A file whose first line
 * is not the one that `columns` writes is an error: its rows could not be found, and the new ones
 * would replace them. */
enum roof_status roof_measuring_read(struct roof_text *out, const char *folder, const char *name,
                                     void (*columns)(struct roof_text *out),
                                     struct roof_error *error);
/* Tells if lines that were read so have rows, and not only the names of columns. */
bool roof_measuring_has_rows(const struct roof_text *lines);
/* Writes to FOLDER/NAME which device was opened: its name, for a CPU with the number of threads,
 * and its architecture. If the folder has rows of an earlier run, another device is refused. */
enum roof_status roof_measuring_claim(const struct roof_asking *a, const char *folder,
                                      const char *name, const struct roof_meter_device *device,
                                      bool has_rows, struct roof_error *error);
/* Writes a file FOLDER/NAME through the caller, who has access to files. */
enum roof_status roof_measuring_write(const struct roof_asking *a, const char *folder,
                                      const char *name, const struct roof_text *text,
                                      struct roof_error *error);

/* Answers `measure model`. */
enum roof_status roof_ask_measure_model(struct roof_asking *a, struct roof_error *error);

#endif
