// SPDX-License-Identifier: MIT
/* The files that read and compare checks share these. */
#ifndef ROOF_ASK_CHECK_PRIVATE_H
#define ROOF_ASK_CHECK_PRIVATE_H

#include "ask/check.h"
#include "ask/check_key.h"
#include "base/json.h"
#include "catalog/schema.h"

struct roof_kept_text;

struct roof_checks_private {
    struct roof_json *json;
    struct roof_schema *schema[ROOF_CHECK_DOCUMENTS]; /* NULL: not needed yet */
    struct roof_kept_text *texts;
    const roof_json_value **place; /* of the expected value of each expectation */
    const roof_json_value **inputs;
    struct roof_expectation *expectation; /* of all checks */
    struct roof_check_input *input;
    size_t given; /* inputs so far */
};

/* Copies a text, which lives as long as the checks; NULL when memory is out. */
const char *roof_checks_keep(struct roof_checks_private *p, const char *text, size_t length);

/* Copies a built text, which then lives as long as the checks, and frees the original. */
enum roof_status roof_checks_keep_text(const char **out, struct roof_checks_private *p,
                                       struct roof_text *text, struct roof_error *error);

#endif
