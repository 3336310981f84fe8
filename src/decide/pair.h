// SPDX-License-Identifier: MIT
/**
 * Two sides of one question, predicted and compared: two devices, two formats, or two devices with
 * a format each.
 */
#ifndef ROOF_DECIDE_PAIR_H
#define ROOF_DECIDE_PAIR_H

#include "decide/recommend.h"
#include "decide/speedup.h"
#include "predict/model_prediction.h"

#define ROOF_PAIR_NAME_SIZE 128

/** Cuts "A,B" in two; ROOF_USAGE when it is not two names. */
enum roof_status roof_pair_split(char side[2][ROOF_PAIR_NAME_SIZE], const char *text,
                                 struct roof_error *error);

/** Refuses a list of devices that names others than the two sides, which `text` names. */
enum roof_status roof_pair_check_devices(char side[2][ROOF_PAIR_NAME_SIZE], const char *list,
                                         const char *text, struct roof_error *error);

/** The names of two sides, which both have a device, or both a format, or both of them both. */
struct roof_pair_names {
    char device[2][ROOF_PAIR_NAME_SIZE]; /**< "": no device is named */
    enum roof_precision format[2];       /**< ROOF_PRECISION_AUTO: no format is named */
    bool devices;                        /**< devices are named */
    bool formats;                        /**< formats are named */
};

/** Reads "A,B", each of which is DEVICE, FORMAT or DEVICE:FORMAT. */
enum roof_status roof_pair_read(struct roof_pair_names *out, const char *text,
                                struct roof_error *error);

/** All pointers are borrowed; the pair needs them too. */
struct roof_pair_request {
    const struct roof_model *model;     /**< NULL: the scenario is that of an operator */
    const struct roof_scenario *shared; /**< the question that both sides get */
    const struct roof_hardware *hardware[2];
    bool devices;                  /**< the names of the sides begin with their devices */
    enum roof_precision format[2]; /**< that of weights and activations; ROOF_PRECISION_AUTO: as the
                                        scenario says, or as it is recommended */
    const struct roof_recommend_options *recommend; /**< an operator's formats are recommended, with
                                                         these options; NULL: they are not */
};

struct roof_pair_side {
    char name[2 * ROOF_PAIR_NAME_SIZE]; /**< "h100-sxm", "fp8" or "h100-sxm:fp8" */
    const struct roof_hardware *hardware;
    enum roof_precision format;
    struct roof_scenario scenario;
    struct roof_model *model;                      /**< owned; NULL: an operator */
    struct roof_prediction prediction;             /**< holds for an operator */
    struct roof_model_prediction model_prediction; /**< holds for a model */
};

struct roof_pair {
    struct roof_pair_side side[2];
    struct roof_speedup speedup; /**< how much faster the second side is, and why */
};

/** Predicts and compares both sides. ROOF_UNSATISFIED when the only format that is allowed on one
 * of them is rejected. On success the caller owns *out: roof_pair_free. It is large. */
enum roof_status roof_pair_open(struct roof_pair **out, const struct roof_pair_request *request,
                                struct roof_error *error);
void roof_pair_free(struct roof_pair *pair);

#endif
