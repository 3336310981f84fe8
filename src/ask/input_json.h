// SPDX-License-Identifier: MIT
/** Reads inputs from members of a JSON object, in check files and in requests of pages and
 * services: {"model": "llama-3-8b", "batch": 16, "set": {"bandwidth_gb_s": 500}, "why": true}. */
#ifndef ROOF_ASK_INPUT_JSON_H
#define ROOF_ASK_INPUT_JSON_H

#include "base/json.h"
#include "base/text.h"
#include "decide/input.h"

/** The function that receives the text of each input, in the form of an option. */
struct roof_input_taker {
    void *context;
    /** The text is freed after the call. */
    enum roof_status (*take)(void *context, size_t input, const char *text, size_t length,
                             struct roof_error *error);
};

/** Tells whether the value of an input may be a document instead of its name. */
bool roof_input_is_document(size_t input);

/** Reads the value of an input: a string, a number, a list of these, true or false for a flag, an
 * object of keys for a repeatable input, and an object for an input that names a document, which
 * then becomes the text. Null means that the input is not given. */
enum roof_status roof_input_from_json(const struct roof_json *json, size_t input,
                                      const roof_json_value *node,
                                      const struct roof_input_taker *taker,
                                      struct roof_error *error);

/** Puts the members of an object into a question. A member that is not an input of the command is
 * refused with its place; those in `own`, which ends with NULL, belong to the caller. `own` may be
 * NULL. */
enum roof_status roof_question_from_json(struct roof_question *question,
                                         const struct roof_json *json,
                                         const roof_json_value *inputs, enum roof_command command,
                                         const char *const *own, struct roof_error *error);

#endif
