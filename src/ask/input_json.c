// SPDX-License-Identifier: MIT
#include "ask/input_json.h"

#include <string.h>

#include "base/base.h"

/* The current input, and the function that takes its text. */
struct reading {
    const struct roof_json *json;
    size_t input;
    const struct roof_input_taker *taker;
    struct roof_error *error;
};

bool roof_input_is_document(size_t input)
{
    return input == ROOF_INPUT_HARDWARE || input == ROOF_INPUT_HOST ||
           input == ROOF_INPUT_CALIBRATION || input == ROOF_INPUT_LAYOUT ||
           input == ROOF_INPUT_DRAFT_MODEL;
}

static void put_span(struct roof_text *out, const struct roof_json *json,
                     const roof_json_value *node)
{
    size_t length = 0;
    const char *const span = roof_json_span(json, node, &length);
    roof_text_add(out, span, length);
}

/* Writes the text of an option for a string, number or document. */
static enum roof_status put_scalar(struct roof_text *out, const struct reading *r,
                                   const roof_json_value *node)
{
    double number = 0;
    const char *const text = roof_json_line(node);
    if (text != NULL && *text != '\0') {
        roof_text_put(out, text);
        return ROOF_OK;
    }
    if (roof_json_number(&number, node)) {
        roof_text_number(out, number);
        roof_text_put(out, r->input == ROOF_INPUT_MEASURED ? "us" : ""); /* the unit of the key */
        return ROOF_OK;
    }
    if (roof_input_is_document(r->input) && roof_json_is_object(node)) {
        put_span(out, r->json, node);
        return ROOF_OK;
    }
    char key[ROOF_INPUT_NAME_SIZE];
    return roof_json_error(r->json, node, r->error, "%s must be a string or a number%s",
                           roof_input_key(key, roof_input(r->input)),
                           roof_input_is_document(r->input) ? ", or an object" : "");
}

/* Passes a text to the taker, unless it could not be built, and frees it. */
static enum roof_status hand_over(const struct reading *r, struct roof_text *text,
                                  enum roof_status built)
{
    enum roof_status status = built != ROOF_OK ? built
                              : text->failed   ? roof_no_memory(r->error)
                                               : ROOF_OK;
    if (status == ROOF_OK) {
        status = r->taker->take(r->taker->context, r->input, text->length == 0 ? "" : text->data,
                                text->length, r->error);
    }
    roof_text_free(text);
    return status;
}

/* Reads a repeatable input: an array of its values, or {"KEY": VALUE}. */
static enum roof_status read_many(const struct reading *r, const roof_json_value *node)
{
    for (const roof_json_value *m = roof_json_first(node); m != NULL; m = roof_json_next(m)) {
        struct roof_text text = ROOF_TEXT_INIT;
        if (roof_json_is_object(node)) {
            roof_text_printf(&text, "%s=", roof_json_key(m));
        }
        const enum roof_status built = put_scalar(&text, r, m);
        TRY(hand_over(r, &text, built));
    }
    return ROOF_OK;
}

/* Writes the text of an option for a value or a list of values. */
static enum roof_status put_value(struct roof_text *out, const struct reading *r,
                                  const roof_json_value *node)
{
    if (!roof_json_is_array(node)) {
        return put_scalar(out, r, node);
    }
    if (roof_json_first(node) == NULL) {
        return roof_json_error(r->json, node, r->error, "an empty list");
    }
    for (const roof_json_value *m = roof_json_first(node); m != NULL; m = roof_json_next(m)) {
        roof_text_put(out, out->length == 0 ? "" : ",");
        TRY(put_scalar(out, r, m));
    }
    return ROOF_OK;
}

static enum roof_status read_flag(const struct reading *r, const roof_json_value *node)
{
    bool flag = false;
    if (!roof_json_boolean(&flag, node)) {
        return roof_json_error(r->json, node, r->error, "%s must be true or false",
                               roof_json_key(node));
    }
    return flag ? r->taker->take(r->taker->context, r->input, "", 0, r->error) : ROOF_OK;
}

enum roof_status roof_input_from_json(const struct roof_json *json, size_t input,
                                      const roof_json_value *node,
                                      const struct roof_input_taker *taker,
                                      struct roof_error *error)
{
    const struct reading r = {json, input, taker, error};
    const struct roof_input *const row = roof_input(input);
    if (roof_json_is_null(node)) {
        return ROOF_OK;
    }
    if (row->kind == ROOF_INPUT_FLAG) {
        return read_flag(&r, node);
    }
    if (row->many && (roof_json_is_array(node) || roof_json_is_object(node))) {
        return read_many(&r, node);
    }
    struct roof_text text = ROOF_TEXT_INIT;
    const enum roof_status built = put_value(&text, &r, node);
    return hand_over(&r, &text, built);
}

/* --- a whole question ---------------------------------------------------------------------- */

/* The keys outside the input table, which name the subject of the question. */
static const char *const subjects[] = {"operator", "model", "list", "id"};

static bool is_subject(const char *key)
{
    for (size_t i = 0; i < COUNT(subjects); i++) {
        if (strcmp(key, subjects[i]) == 0) {
            return true;
        }
    }
    return false;
}

static size_t find_input(const char *key, enum roof_command command)
{
    size_t id = 0;
    while (id < ROOF_INPUT_COUNT &&
           (!roof_input_allowed(id, command) || !roof_input_has_key(roof_input(id), key))) {
        id++;
    }
    return id;
}

/* The most keys of an object that the caller reads itself. */
#define OWN_MAX 8

static bool is_own(const char *const *own, const char *key)
{
    while (own != NULL && *own != NULL && strcmp(*own, key) != 0) {
        own++;
    }
    return own != NULL && *own != NULL;
}

static enum roof_status refuse_key(const struct roof_json *json, const roof_json_value *member,
                                   enum roof_command command, const char *const *own,
                                   struct roof_error *error)
{
    char keys[ROOF_INPUT_COUNT][ROOF_INPUT_NAME_SIZE];
    const char *known[ROOF_INPUT_COUNT + COUNT(subjects) + OWN_MAX];
    size_t count = 0;
    for (; count < COUNT(subjects); count++) {
        known[count] = subjects[count];
    }
    for (size_t i = 0; own != NULL && i < OWN_MAX && own[i] != NULL; i++) {
        known[count++] = own[i];
    }
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
        if (roof_input_allowed(id, command)) {
            known[count] = roof_input_key(keys[id], roof_input(id));
            count++;
        }
    }
    return roof_json_place_error(
        json, member, "", error,
        roof_unknown_name(error, ROOF_INVALID, "input", roof_json_key(member), known, count));
}

static enum roof_status put_subject(struct roof_question *question, const struct roof_json *json,
                                    const roof_json_value *node, struct roof_error *error)
{
    const char *const key = roof_json_key(node);
    const char *const name = roof_json_line(node);
    struct roof_text text = ROOF_TEXT_INIT;
    if (name != NULL) {
        return roof_question_put(question, key, name, error);
    }
    if (strcmp(key, "model") != 0 || !roof_json_is_object(node)) {
        return roof_json_error(json, node, error, "%s must be a string of one line", key);
    }
    put_span(&text, json, node);
    const enum roof_status status =
        text.failed ? roof_no_memory(error) : roof_question_put(question, key, text.data, error);
    roof_text_free(&text);
    return status;
}

static enum roof_status put_input(void *context, size_t input, const char *text, size_t length,
                                  struct roof_error *error)
{
    char key[ROOF_INPUT_NAME_SIZE];
    (void)length;
    return roof_question_put(context, roof_input_key(key, roof_input(input)), text, error);
}

enum roof_status roof_question_from_json(struct roof_question *question,
                                         const struct roof_json *json,
                                         const roof_json_value *inputs, enum roof_command command,
                                         const char *const *own, struct roof_error *error)
{
    const struct roof_input_taker taker = {question, put_input};
    if (!roof_json_is_object(inputs)) {
        return roof_json_error(json, inputs, error, "the inputs must be an object");
    }
    for (const roof_json_value *m = roof_json_first(inputs); m != NULL; m = roof_json_next(m)) {
        const size_t id = find_input(roof_json_key(m), command);
        if (is_own(own, roof_json_key(m))) {
            continue;
        }
        if (is_subject(roof_json_key(m))) {
            TRY(put_subject(question, json, m, error));
        } else if (id == ROOF_INPUT_COUNT) {
            return refuse_key(json, m, command, own, error);
        } else {
            TRY(roof_input_from_json(json, id, m, &taker, error));
        }
    }
    return ROOF_OK;
}
