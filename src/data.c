// SPDX-License-Identifier: MIT
#include "data.h"

#include <string.h>

enum roof_status roof_data_json(struct roof_json **out, const char *path, struct roof_error *error)
{
    *out = NULL;
    for (size_t i = 0; i < roof_data_file_count; i++) {
        if (strcmp(roof_data_files[i].path, path) == 0) {
            return roof_json_parse(out, roof_data_files[i].text, roof_data_files[i].length, path,
                                   error);
        }
    }
    return roof_error_set(error, ROOF_INVALID, "no embedded file %s", path);
}
