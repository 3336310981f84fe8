// SPDX-License-Identifier: MIT
/* Energy of operators, and the roof that a power cap puts over them. */
#ifndef ROOF_PREDICT_POWER_H
#define ROOF_PREDICT_POWER_H

#include "roofline/predict.h"

/* Raises the time of a part, whose times are known, to what a power cap of the device demands; it
 * stays where there is none. ROOF_USAGE where the device has
 * a cap but not the energies, or its constant power leaves nothing of the cap. */
enum roof_status roof_power_part(struct roof_part *part, const struct roof_hardware *hardware,
                                 struct roof_error *error);

/* The energy of a part or of an operator at its bound; NAN where figures are unknown. */
struct roof_power {
    double dynamic_j;    /* of its FLOPs and bytes */
    double power_time_s; /* what a power cap demands; NAN: no cap */
    double energy_j;     /* with the constant power */
    double power_w;      /* energy over time */
};
/* Works out the energy of the only operator of a part, and of all parts of a prediction. */
struct roof_power roof_power_of_part(const struct roof_part *part,
                                     const struct roof_hardware *hardware);
struct roof_power roof_power_of(const struct roof_prediction *prediction);

/* Returns the most watts that a device draws: its TDP, or a lower power cap; NAN: unknown. */
double roof_power_most(const struct roof_hardware *hardware);

/* Tells whether a device has a power cap. */
bool roof_power_capped(const struct roof_hardware *hardware);

#endif
