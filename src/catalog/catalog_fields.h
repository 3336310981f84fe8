// SPDX-License-Identifier: MIT
/* The fields of devices and formats, as `list hardware` and `list precisions` print them. */
#ifndef ROOF_CATALOG_CATALOG_FIELDS_H
#define ROOF_CATALOG_CATALOG_FIELDS_H

#include "catalog/field.h"
#include "catalog/hardware.h"
#include "catalog/precision.h"

void roof_hardware_fields(struct roof_fields *out);
void roof_hardware_values(struct roof_value *out, const struct roof_fields *fields,
                          const struct roof_hardware *hardware);

/* The texts of a format's values that are lists. */
struct roof_precision_lists {
    char fallbacks[200];
    char code_book[400];
};

void roof_precision_fields(struct roof_fields *out);
/* Some values are texts in *lists. */
void roof_precision_values(struct roof_value *out, struct roof_precision_lists *lists,
                           const struct roof_fields *fields,
                           const struct roof_precision_entry *entry);

#endif
