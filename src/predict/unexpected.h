// SPDX-License-Identifier: MIT
/** Why a prediction has no expected time. */
#ifndef ROOF_PREDICT_UNEXPECTED_H
#define ROOF_PREDICT_UNEXPECTED_H

#include <stdbool.h>

#include "catalog/hardware.h"
#include "model/model.h"
#include "model/scenario.h"
#include "roofline/predict.h"

/** The reasons fit into this; a long name of a device is cut. */
#define ROOF_UNEXPECTED_SIZE 256

/** Writes what a device lacks that all expected times need: measured kernels, or a figure.
 * Returns NULL when it lacks neither, else out. */
const char *roof_unexpected_device(char out[ROOF_UNEXPECTED_SIZE],
                                   const struct roof_hardware *hardware);

/** Tells whether kernels like those of a device were measured, and it has the figures that all
 * expected times need. */
bool roof_expects_times(const struct roof_hardware *hardware);

/** Writes why a prediction has no expected time: "boost_clock_mhz of my-gpu is unknown (--set
 * boost_clock_mhz=VALUE)". Returns out. */
const char *roof_unexpected(char out[ROOF_UNEXPECTED_SIZE],
                            const struct roof_prediction *prediction);

/** Returns an operator, in the prefill or the decode steps of a model, for which a device has no
 * kernels that were measured, so that the model has no expected time on it. NULL: it has all, or
 * none for any model. */
const char *roof_unexpected_operator(const struct roof_model *model,
                                     const struct roof_hardware *hardware);

/** Copies a device without its calibration, so that predictions there are lower bounds. `lacks` is
 * that operator, whose name stands in the reason; NULL: no expected time was asked for. */
void roof_forget_expected(struct roof_hardware *out, const struct roof_hardware *given,
                          const char *lacks);

/** Writes why the part of a model on the host has no expected time: no kernels of the host, or in
 * passes that copy its weights, an unknown link. Returns out. */
const char *roof_unexpected_host(char out[ROOF_UNEXPECTED_SIZE],
                                 const struct roof_scenario *scenario,
                                 const struct roof_hardware *hardware, bool copied);

#endif
