// SPDX-License-Identifier: MIT
/* The fields of operators, as `list operators` prints them, and those of dimensions, which the
 * results of many kinds have. */
#ifndef ROOF_OPERATOR_OPERATOR_FIELDS_H
#define ROOF_OPERATOR_OPERATOR_FIELDS_H

#include "catalog/field.h"
#include "operator/operator.h"

#define ROOF_DIMENSION_LIST_SIZE 400

void roof_operator_fields(struct roof_fields *out);
/* One value is the text that is written to list. */
void roof_operator_values(struct roof_value *out, char list[ROOF_DIMENSION_LIST_SIZE],
                          const struct roof_fields *fields, const struct roof_operator_row *row);

/* A field for a dimension; derived is the number that its module gives to the value. */
struct roof_field roof_dimension_field(enum roof_dimension dimension, int derived);
/* The value of a dimension that the operator has. */
struct roof_value roof_own_dimension_value(const struct roof_workload *workload,
                                           enum roof_dimension dimension);
/* The value of a dimension; absent if the operator does not have it, like most dimensions of any
 * operator. */
static inline struct roof_value roof_dimension_value(const struct roof_workload *workload,
                                                     enum roof_dimension dimension)
{
    return roof_operator_has(workload->op, dimension)
               ? roof_own_dimension_value(workload, dimension)
               : (struct roof_value){.number = ROOF_UNKNOWN};
}

#endif
