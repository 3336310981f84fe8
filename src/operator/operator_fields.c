// SPDX-License-Identifier: MIT
#include "operator/operator_fields.h"

#include <stdio.h>

#include "base/base.h"

/* --- operators ----------------------------------------------------------------------------- */

#define DIMENSION_LIST 1 /* the only derived value */

static const struct roof_field operator_fields[] = {
    {.key = "name",
     .type = ROOF_TYPE_TEXT,
     .offset = offsetof(struct roof_operator_row, name),
     .width = -17},
    {.key = "summary",
     .type = ROOF_TYPE_TEXT,
     .offset = offsetof(struct roof_operator_row, summary),
     .width = -57},
    {.key = "dimensions", .type = ROOF_TYPE_TEXT, .derived = DIMENSION_LIST, .width = -120},
};

void roof_operator_fields(struct roof_fields *out)
{
    roof_fields_add(out, operator_fields, COUNT(operator_fields), 0);
}

/* Writes the dimensions as options, those with a default in brackets. */
static const char *put_dimensions(char list[ROOF_DIMENSION_LIST_SIZE],
                                  const struct roof_operator_row *row)
{
    size_t used = 0;
    list[0] = '\0';
    for (int i = 0; i < row->dim_count; i++) {
        const bool required = (row->required >> row->dims[i] & 1U) != 0;
        char name[ROOF_INPUT_NAME_SIZE];
        used += (size_t)snprintf(list + used, ROOF_DIMENSION_LIST_SIZE - used, "%s%s%s%s",
                                 i == 0 ? "" : " ", required ? "" : "[",
                                 roof_input_name(name, &roof_dimensions[row->dims[i]]),
                                 required ? "" : "]");
    }
    return list;
}

void roof_operator_values(struct roof_value *out, char list[ROOF_DIMENSION_LIST_SIZE],
                          const struct roof_fields *fields, const struct roof_operator_row *row)
{
    roof_fields_read(out, fields, 0, (const char *)row);
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].derived == DIMENSION_LIST) {
            out[i].text = put_dimensions(list, row);
        }
    }
}

/* --- dimensions ---------------------------------------------------------------------------- */

struct roof_field roof_dimension_field(enum roof_dimension dimension, int derived)
{
    const struct roof_input *const input = &roof_dimensions[dimension];
    return (struct roof_field){.key = input->key,
                               .type = input->kind == ROOF_INPUT_CHOICE ? ROOF_TYPE_TEXT
                                       : input->kind == ROOF_INPUT_FLAG ? ROOF_TYPE_FLAG
                                                                        : ROOF_TYPE_INTEGER,
                               .derived = derived,
                               .width = 6};
}

struct roof_value roof_own_dimension_value(const struct roof_workload *workload,
                                           enum roof_dimension dimension)
{
    const struct roof_input *const input = &roof_dimensions[dimension];
    struct roof_value value = {.number = ROOF_UNKNOWN};
    const int64_t size = roof_input_get(workload, input);
    if (input->kind == ROOF_INPUT_CHOICE) {
        value.text = input->choices[size];
    } else if (size != 0 || input->min <= 0) { /* a 0 outside the range means not given */
        value.number = (double)size;
    }
    return value;
}
