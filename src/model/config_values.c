// SPDX-License-Identifier: MIT
/* Values of a config.json. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/config_parts.h"
#include "model/model_make.h"

const roof_json_value *roof_config_member(const struct config *c, const char *key)
{
    const roof_json_value *value = roof_json_get(c->text, key);
    if (value == NULL || roof_json_is_null(value)) {
        value = roof_json_get(c->root, key);
    }
    return value == NULL || roof_json_is_null(value) ? NULL : value;
}

const roof_json_value *roof_config_spelled(const roof_json_value *object, const char *const *names,
                                           size_t count)
{
    const roof_json_value *value = NULL;
    for (size_t i = 0; i < count && names[i] != NULL && value == NULL; i++) {
        value = roof_json_get(object, names[i]);
    }
    return roof_json_is_null(value) ? NULL : value;
}

bool roof_config_has(const struct config *c, const char *key)
{
    return roof_json_get(c->text, key) != NULL || roof_json_get(c->root, key) != NULL;
}

enum roof_status roof_config_integer(int64_t *out, const struct config *c,
                                     const roof_json_value *value, const char *name, int64_t min,
                                     int64_t max)
{
    double number = 0;
    if (!roof_json_number(&number, value) || number != floor(number) || number < (double)min ||
        number > (double)max) {
        return roof_json_error(c->json, value, c->error,
                               "%s must be an integer from %" PRId64 " to %" PRId64, name, min,
                               max);
    }
    *out = (int64_t)number;
    return ROOF_OK;
}

bool roof_config_flag(struct config *c, const char *key, bool otherwise)
{
    const roof_json_value *const value = roof_config_member(c, key);
    if (value != NULL && !roof_json_boolean(&otherwise, value) && c->no_flag == NULL) {
        c->no_flag = value;
    }
    return otherwise;
}
