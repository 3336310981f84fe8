// SPDX-License-Identifier: MIT
/* The keys that a check names: paths such as "operators.attention.time_us" in the document that
 * answers it. */
#ifndef ROOF_ASK_CHECK_KEY_H
#define ROOF_ASK_CHECK_KEY_H

#include "ask/check.h"
#include "base/json.h"
#include "catalog/schema.h"

/* The documents that answer. */
enum roof_check_document {
    ROOF_CHECK_PREDICTION,
    ROOF_CHECK_MODEL_PREDICTION,
    ROOF_CHECK_RECOMMENDATION,
    ROOF_CHECK_PLANS,
    ROOF_CHECK_SPEEDUP,
    ROOF_CHECK_PLAN_SPEEDUP,
    ROOF_CHECK_GRAPH_PREDICTION,
    ROOF_CHECK_RATES,
    ROOF_CHECK_SIMULATION,
    ROOF_CHECK_DOCUMENTS
};

/* Returns the document that answers a request, and the name of its schema. */
enum roof_check_document roof_check_document(const struct roof_check_asked *asked);
const char *roof_check_schema(enum roof_check_document document);

/* Finds the type that a schema gives the key of a member of a check file. ROOF_INVALID with the
 * place of the member when the document has no such key, or when it is an array or an object. */
enum roof_status roof_check_key_type(const char **type, const struct roof_schema *schema,
                                     const struct roof_json *file, const roof_json_value *member,
                                     struct roof_error *error);

/* Finds the value of a key in a document; NULL when it is absent. *nowhere says whether an operator
 * or a candidate on the way to it is absent, too. */
const roof_json_value *roof_check_key_value(bool *nowhere, const struct roof_json *document,
                                            const char *key);

#endif
