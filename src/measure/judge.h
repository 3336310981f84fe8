// SPDX-License-Identifier: MIT
/* Compares measured rows with predictions, by kernel. */
#ifndef ROOF_MEASURE_JUDGE_H
#define ROOF_MEASURE_JUDGE_H

#include "measure/suite.h"
#include "predict/calibration.h"

/* A kernel and pair of formats that was measured. Errors are fractions of the measured times; NAN
 * where nothing is expected. */
struct roof_judged {
    enum roof_kernel kernel;
    enum roof_numerics numerics;
    int64_t rows;
    int64_t noisy;   /* rows with noisy medians */
    double error;    /* mean of |expected / measured - 1| */
    double of_bound; /* median of the bound over the measured time: 1 is at the roofline */
};

#define ROOF_JUDGED_MAX 64
struct roof_judgement {
    struct roof_judged kernel[ROOF_JUDGED_MAX];
    size_t count;
    double error; /* of all rows */
};

/* A prediction agrees with a measurement that is within this share of it. */
#define ROOF_AGREES 0.15

/* Predicts all rows of operators on a device. */
enum roof_status roof_judge(struct roof_judgement *out, const struct roof_measured *measured,
                            const struct roof_hardware *hardware, struct roof_error *error);

/* Tells if each kernel, and all rows together, are within ROOF_AGREES. */
bool roof_agrees(const struct roof_judgement *judgement);

#endif
