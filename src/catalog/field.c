// SPDX-License-Identifier: MIT
#include "catalog/field.h"

#include <stdint.h>
#include <string.h>

#include "catalog/precision.h"

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

/* Reads the value that lies at an address. */
static void read_value(struct roof_value *out, enum roof_type type, const void *at)
{
    switch (type) {
    case ROOF_TYPE_NUMBER:
    case ROOF_TYPE_GIVEN:
        out->number = *(const double *)at;
        break;
    case ROOF_TYPE_INTEGER:
        out->number = (double)*(const int64_t *)at;
        break;
    case ROOF_TYPE_POSITIVE:
        out->number = *(const int64_t *)at == 0 ? ROOF_UNKNOWN : (double)*(const int64_t *)at;
        break;
    case ROOF_TYPE_INT:
        out->number = *(const int *)at;
        break;
    case ROOF_TYPE_FLAG:
        out->number = *(const bool *)at ? 1 : 0;
        break;
    case ROOF_TYPE_TEXT:
    case ROOF_TYPE_WORDS:
    case ROOF_TYPE_NUMBERS:
        out->text = *(const char *const *)at;
        break;
    case ROOF_TYPE_CHARS:
        out->text = at;
        break;
    case ROOF_TYPE_PRECISION:
        out->text = roof_format(*(const enum roof_precision *)at)->name;
        break;
    }
}

void roof_fields_read(struct roof_value *out, const struct roof_fields *fields, int part,
                      const char *result)
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct roof_field *const field = &fields->field[i];
        if (field->derived == 0 && field->part == part) {
            out[i] = (struct roof_value){.number = ROOF_UNKNOWN};
            read_value(&out[i], field->type, result + field->offset);
        }
    }
}
