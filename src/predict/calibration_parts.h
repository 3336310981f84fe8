// SPDX-License-Identifier: MIT
/* Functions of calibration.c, which reads calibrations, for borrow.c, which chooses one for a
 * device. */
#ifndef ROOF_PREDICT_CALIBRATION_PARTS_H
#define ROOF_PREDICT_CALIBRATION_PARTS_H

#include "catalog/registry.h"
#include "predict/calibration.h"

/* The folders of calibrations, and the kernels that are wanted, a bit for each. */
struct roof_calibration_source {
    const char *const *directories;
    unsigned wanted;
};

extern const struct roof_registry roof_calibration_registry;

/* Reads a calibration by its id or path. The caller owns *out: roof_calibration_free. */
enum roof_status roof_calibration_read(struct roof_calibration **out, const char *id,
                                       const struct roof_calibration_source *source,
                                       struct roof_error *error);

/* Adds the fits of another calibration, which it takes over also when it fails, to those of the
 * device `id`. */
enum roof_status roof_calibration_join(struct roof_calibration *c, struct roof_calibration *other,
                                       const char *id, struct roof_error *error);

/* Keeps a copy of the reason why a device takes a calibration. */
enum roof_status roof_calibration_explain(struct roof_calibration *c, const char *reason,
                                          struct roof_error *error);

/* Keeps a copy of the reason why times of collectives of more than some devices may be far off. */
enum roof_status roof_calibration_warn(struct roof_calibration *c, const char *reason,
                                       int64_t devices, struct roof_error *error);

/* Returns the versions of the libraries of a stack, from the attributions; NULL: they have none. */
const char *roof_calibration_libraries(const struct roof_calibration *c, enum roof_stack stack);

/* Returns the parameter of a fit that has a key; NULL: it has none. */
double *roof_fit_parameter(struct roof_kernel_fit *fit, const char *key);

/* Adapts borrowed fits to a product whose matrix units run at a lower rate than those of another
 * product with the same SM. */
void roof_calibration_limit_rate(struct roof_calibration *c, const struct roof_hardware *hardware,
                                 const struct roof_hardware *full);

/* Adapts the kernels of llama.cpp that `lender` lends to products with other matrix rates; each
 * full one (NULL: the device itself) has the SMs of a device at their full rate. */
void roof_calibration_move_rate(struct roof_calibration *c, const struct roof_hardware *hardware,
                                const struct roof_hardware *full,
                                const struct roof_hardware *lender,
                                const struct roof_hardware *full_lender);

/* Adapts borrowed fits to a product with less power for each SM than the measured device. */
void roof_calibration_limit_power(struct roof_calibration *c, const struct roof_hardware *hardware,
                                  const struct roof_hardware *measured);

/* The fits of a calibration, writable as long as it is not shared. */
struct roof_kernel_fit *roof_calibration_fits(const struct roof_calibration *calibration);

#endif
