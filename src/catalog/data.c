// SPDX-License-Identifier: MIT
#include "catalog/data.h"

#include <string.h>

const struct roof_data_file *roof_data_file(const char *path)
{
    for (size_t i = 0; i < roof_data_file_count; i++) {
        if (strcmp(roof_data_files[i].path, path) == 0) {
            return &roof_data_files[i];
        }
    }
    return NULL;
}

enum roof_status roof_data_json(struct roof_json **out, const char *path, struct roof_error *error)
{
    const struct roof_data_file *const file = roof_data_file(path);
    *out = NULL;
    return file == NULL ? roof_error_set(error, ROOF_INVALID, "no embedded file %s", path)
                        : roof_json_parse_own(out, file->text, file->length, path, error);
}
