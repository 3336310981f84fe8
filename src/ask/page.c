// SPDX-License-Identifier: MIT
/* Writes the explorer with a question filled in: a page that computes its own answers. */
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "base/json.h"
#include "catalog/data.h"
#include "roofline/version.h"

/* Writes a JSON string that is safe inside an HTML script. */
static void put_string(struct roof_text *out, const char *text)
{
    struct roof_text json = ROOF_TEXT_INIT;
    roof_json_quote(&json, text);
    for (size_t i = 0; i < json.length; i++) {
        if (json.data[i] == '<') {
            roof_text_put(out, "\\u003c");
        } else {
            roof_text_add(out, &json.data[i], 1);
        }
    }
    out->failed |= json.failed;
    roof_text_free(&json);
}

static void put_member(struct roof_text *out, const char *key, const char *value)
{
    roof_text_put(out, out->data[out->length - 1] == '{' ? "" : ",");
    put_string(out, key);
    roof_text_put(out, ":");
    put_string(out, value);
}

static void put_values(struct roof_text *out, const char *key, const struct roof_texts *values)
{
    roof_text_put(out, out->data[out->length - 1] == '{' ? "" : ",");
    put_string(out, key);
    roof_text_put(out, ":[");
    for (int i = 0; i < values->count; i++) {
        roof_text_put(out, i == 0 ? "" : ",");
        put_string(out, values->value[i]);
    }
    roof_text_put(out, "]");
}

/* Writes the inputs as members of an object, like in a check file. A question without a device has
 * the default one. */
static void put_inputs(struct roof_text *out, const struct roof_question *q, bool device)
{
    char key[ROOF_INPUT_NAME_SIZE];
    const bool named = roof_asked(q, ROOF_INPUT_HARDWARE) || roof_asked(q, ROOF_INPUT_EXPLAIN);
    if (q->op != NULL) {
        put_member(out, "operator", q->op);
    }
    if (q->model_name != NULL) {
        put_member(out, "model", q->model_name);
    }
    if (device && !named) {
        put_member(out, roof_input_key(key, roof_input(ROOF_INPUT_HARDWARE)),
                   ROOF_DEFAULT_HARDWARE);
    }
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const struct roof_texts *const many = i == ROOF_INPUT_SET     ? &q->set
                                              : i == ROOF_INPUT_CLASS ? &q->classes
                                              : i == ROOF_INPUT_PRICE ? &q->prices
                                                                      : NULL;
        if (q->value[i] != NULL && many != NULL) {
            put_values(out, roof_input_key(key, roof_input(i)), many);
        } else if (q->value[i] != NULL) {
            const bool flag = roof_input(i)->kind == ROOF_INPUT_FLAG;
            put_member(out, roof_input_key(key, roof_input(i)), flag ? "1" : q->value[i]);
        }
    }
}

static const char *command_name(enum roof_command command)
{
    return command == ROOF_COMMAND_RECOMMEND  ? "recommend"
           : command == ROOF_COMMAND_SWEEP    ? "sweep"
           : command == ROOF_COMMAND_PLOT     ? "plot"
           : command == ROOF_COMMAND_SIMULATE ? "simulate"
                                              : "predict";
}

static void put_question(struct roof_text *out, const struct roof_asking *a)
{
    roof_text_put(out, "{");
    put_member(out, "command", command_name(a->command));
    roof_text_put(out, ",\"inputs\":{");
    /* The empty explorer begins with its own example. */
    put_inputs(out, a->question, a->command != ROOF_COMMAND_PAGE);
    roof_text_put(out, "}}");
}

/* Refuses files, because the page is meant to be shared. */
static enum roof_status check(const struct roof_asking *a, struct roof_error *error)
{
    static const size_t refused[] = {ROOF_INPUT_FROM,   ROOF_INPUT_COLUMNS,     ROOF_INPUT_SIZE,
                                     ROOF_INPUT_LINE,   ROOF_INPUT_EMIT,        ROOF_INPUT_SHARD,
                                     ROOF_INPUT_RESUME, ROOF_INPUT_CALIBRATION, ROOF_INPUT_TRACE,
                                     ROOF_INPUT_ROWS};
    return roof_asking_refuse(a, refused, COUNT(refused), "html", error);
}

static enum roof_status write_page(struct roof_text *out, const struct roof_asking *a,
                                   struct roof_error *error)
{
    const char *from = roof_data_explorer();
    TRY(check(a, error));
    if (from == NULL) {
        return roof_error_set(error, ROOF_IO,
                              "this program was built without the explorer: run 'sh .ci/deps "
                              "page', then 'make page'");
    }
    for (const char *open = NULL; (open = strstr(from, "{{")) != NULL;) {
        const char *const close = strstr(open, "}}");
        roof_text_add(out, from, (size_t)(open - from));
        if (strncmp(open, "{{version", 9) == 0) {
            roof_text_put(out, roof_version());
        } else {
            put_question(out, a);
        }
        from = close + 2;
    }
    roof_text_put(out, from);
    return out->failed ? roof_no_memory(error) : ROOF_OK;
}

enum roof_status roof_ask_page(struct roof_asking *a, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    if (a->question->graph != NULL) {
        return roof_error_set(error, ROOF_USAGE, "the explorer cannot show graph files");
    }
    enum roof_status status = write_page(&text, a, error);
    if (status == ROOF_OK) {
        status = roof_asking_write(a, &text, error);
    }
    roof_text_free(&text);
    return status;
}
