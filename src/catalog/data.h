// SPDX-License-Identifier: MIT
/* The files of data/ and docs/schema/, which are embedded when the library is built: embed.sh
 * writes the table. */
#ifndef ROOF_CATALOG_DATA_H
#define ROOF_CATALOG_DATA_H

#include <stddef.h>

#include "base/json.h"

struct roof_data_file {
    const char *path; /* "hardware/gb10.json", "schema/prediction.json" */
    const char *text; /* terminated */
    size_t length;
};

/* Sorted by path. */
extern const struct roof_data_file roof_data_files[];
extern const size_t roof_data_file_count;

/* Returns the explorer, a page of HTML with places for the version and the question; NULL when it
 * was not built (make page). */
const char *roof_data_explorer(void);

/* Finds an embedded file by its path; NULL when there is none. */
const struct roof_data_file *roof_data_file(const char *path);
/* Parses an embedded file. The caller owns *out: roof_json_free. */
enum roof_status roof_data_json(struct roof_json **out, const char *path, struct roof_error *error);

#endif
