// SPDX-License-Identifier: MIT
/* The fields of a plan to serve a rate. */
#ifndef ROOF_DECIDE_RATE_FIELDS_H
#define ROOF_DECIDE_RATE_FIELDS_H

#include "catalog/field.h"
#include "decide/rate.h"

#define ROOF_RATE_SCHEMA "roofline/rate/1"

/* The mark of a greatest rate that falls short of the rate (roof_rate_falls_short). */
#define ROOF_RATE_SHORT "?"

/* A rate plan with the names of its plan. */
struct roof_rate_row {
    struct roof_plan_row row;
    const struct roof_rate_plan *way;
};

void roof_rate_fields(struct roof_fields *out);
void roof_rate_values(struct roof_value *out, const struct roof_fields *fields,
                      const struct roof_rate_row *row);

#endif
