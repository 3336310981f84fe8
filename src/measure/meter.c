// SPDX-License-Identifier: MIT
#include "measure/meter.h"

#include <string.h>

#include "base/base.h"
#include "base/quantity.h"

/* This is the order in which a device is searched if none is named. */
static const struct roof_meter *const meters[] = {&roof_meter_cuda, &roof_meter_hip,
                                                  &roof_meter_cpu};

const struct roof_meter *const *roof_meters(size_t *count)
{
    *count = COUNT(meters);
    return meters;
}

enum roof_status roof_meter_find(const struct roof_meter **out, int64_t *index, const char *text,
                                 struct roof_error *error)
{
    const char *names[COUNT(meters)];
    *out = NULL;
    *index = 0;
    if (text == NULL) {
        return ROOF_OK;
    }
    const size_t length = strcspn(text, ":");
    for (size_t i = 0; i < COUNT(meters); i++) {
        names[i] = meters[i]->name;
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0) {
            *out = meters[i];
        }
    }
    if (*out == NULL) {
        return roof_unknown_name(error, ROOF_USAGE, "device to measure", text, names,
                                 COUNT(meters));
    }
    return text[length] == '\0'
               ? ROOF_OK
               : roof_parse_integer(index, text + length + 1, ROOF_KEY("device"), 0, 1023, error);
}
