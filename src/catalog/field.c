// SPDX-License-Identifier: MIT
#include "catalog/field.h"

#include <string.h>

void roof_fields_add(struct roof_fields *fields, const struct roof_field *field, size_t count,
                     int part)
{
    for (size_t i = 0; i < count && fields->count < ROOF_FIELDS_MAX; i++) {
        fields->field[fields->count] = field[i];
        fields->field[fields->count].part = part;
        fields->count++;
    }
}

const struct roof_field *roof_fields_find(const struct roof_fields *fields, const char *key)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (strcmp(fields->field[i].key, key) == 0) {
            return &fields->field[i];
        }
    }
    return NULL;
}

void roof_fields_read(struct roof_value *out, const struct roof_fields *fields, int part,
                      const char *result)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].part == part) {
            roof_field_read(&out[i], &fields->field[i], result);
        }
    }
}
