// SPDX-License-Identifier: MIT
/* Answers questions: the only place that knows every kind of them. */
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "base/character.h"
#include "decide/resolve.h"

/* --- formats ------------------------------------------------------------------------------- */

static const char *const format_names[ROOF_ANSWER_FORMAT_COUNT] = {
    [ROOF_TEXT] = "text",       [ROOF_JSON] = "json",   [ROOF_NDJSON] = "ndjson",
    [ROOF_CSV] = "csv",         [ROOF_MARKDOWN] = "md", [ROOF_HTML] = "html",
    [ROOF_SVG] = "svg",         [ROOF_PNG] = "png",     [ROOF_PDF] = "pdf",
    [ROOF_GNUPLOT] = "gnuplot", [ROOF_TAP] = "tap",     [ROOF_JUNIT] = "junit"};

/* Returns the row of the input table that has the formats of a command. */
static size_t format_input(enum roof_command command)
{
    static const size_t rows[] = {ROOF_INPUT_PREDICT_FORMAT, ROOF_INPUT_CHART_FORMAT,
                                  ROOF_INPUT_CHECK_FORMAT,   ROOF_INPUT_MEASURE_FORMAT,
                                  ROOF_INPUT_MONITOR_FORMAT, ROOF_INPUT_PAGE_FORMAT};
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (roof_input_allowed(rows[i], command)) {
            return rows[i];
        }
    }
    return ROOF_INPUT_FORMAT;
}

enum roof_status roof_answer_format_find(enum roof_answer_format *out, enum roof_command command,
                                         const char *name, struct roof_error *error)
{
    int64_t choice = 0;
    TRY(roof_input_parse(&choice, roof_input(format_input(command)), name, error));
    for (int i = 0; i < ROOF_ANSWER_FORMAT_COUNT; i++) {
        if (strcmp(format_names[i], name) == 0) {
            *out = (enum roof_answer_format)i;
        }
    }
    return ROOF_OK;
}

void roof_answer_formats(struct roof_text *out, enum roof_command command)
{
    const char *const *const choices = roof_input(format_input(command))->choices;
    for (size_t i = 0; choices[i] != NULL; i++) {
        roof_text_put(out, i == 0 ? "" : choices[i + 1] == NULL ? " and " : ", ");
        roof_text_put(out, choices[i]);
    }
}

/* --- answers ------------------------------------------------------------------------------- */

static const struct {
    enum roof_command command;
    enum roof_status (*answer)(struct roof_asking *a, struct roof_error *error);
} kinds[] = {{ROOF_COMMAND_PREDICT, roof_ask_predict},
             {ROOF_COMMAND_SWEEP, roof_ask_sweep},
             {ROOF_COMMAND_RECOMMEND, roof_ask_recommend},
             {ROOF_COMMAND_LIST, roof_ask_list},
             {ROOF_COMMAND_COMPARE, roof_ask_compare},
             {ROOF_COMMAND_PLOT, roof_ask_plot},
             {ROOF_COMMAND_CHECK, roof_ask_check},
             {ROOF_COMMAND_SIMULATE, roof_ask_simulate},
             {ROOF_COMMAND_MEASURE, roof_ask_measure},
             {ROOF_COMMAND_MONITOR, roof_ask_monitor},
             {ROOF_COMMAND_PAGE, roof_ask_page}};

/* Refuses a format that the command does not write. */
static enum roof_status check_format(enum roof_command command, enum roof_answer_format format,
                                     struct roof_error *error)
{
    enum roof_answer_format found = ROOF_TEXT;
    if (format < 0 || format >= ROOF_ANSWER_FORMAT_COUNT) {
        return roof_error_set(error, ROOF_USAGE, "there is no output format %d", (int)format);
    }
    return roof_answer_format_find(&found, command, format_names[format], error);
}

/* Answers the question that names in their places make of what is asked. */
static enum roof_status resolve_and_answer(struct roof_asking *a,
                                           enum roof_status (*answer)(struct roof_asking *,
                                                                      struct roof_error *),
                                           struct roof_error *error)
{
    const struct roof_question *const asked = a->question;
    struct roof_question resolved;
    struct roof_error note;
    TRY(roof_question_resolve(&resolved, &note, asked, &a->loans, error));
    a->question = &resolved;
    if (note.message[0] != '\0' && a->listener->remark != NULL) {
        a->listener->remark(a->listener->context, &note);
    }
    const enum roof_status status = answer(a, error);
    a->question = asked;
    return status;
}

enum roof_status roof_answer_watched(struct roof_store *store, const struct roof_question *question,
                                     enum roof_command command, enum roof_answer_format format,
                                     const struct roof_listener *listener,
                                     const struct roof_watcher *watcher, struct roof_error *error)
{
    struct roof_asking asking = {.loans = {.store = store},
                                 .question = question,
                                 .command = command,
                                 .format = format,
                                 .listener = listener,
                                 .watcher = watcher};
    struct roof_error own = {.status = ROOF_OK};
    struct roof_error *const told = error == NULL ? &own : error;
    size_t kind = 0;
    while (kind < COUNT(kinds) && kinds[kind].command != command) {
        kind++;
    }
    *told = (struct roof_error){.status = ROOF_OK};
    if (kind == COUNT(kinds)) {
        return roof_error_set(told, ROOF_USAGE, "this command answers no question");
    }
    TRY(roof_question_check(question, command, told));
    TRY(check_format(command, format, told));
    const enum roof_status status =
        resolve_and_answer(&asking, format == ROOF_HTML ? roof_ask_page : kinds[kind].answer, told);
    roof_loans_return(&asking.loans);
    if (status == ROOF_OK) {
        *told = (struct roof_error){.status = ROOF_OK}; /* a plan that was refused is no error */
    }
    return status;
}

enum roof_status roof_answer_to(struct roof_store *store, const struct roof_question *question,
                                enum roof_command command, enum roof_answer_format format,
                                const struct roof_listener *listener, struct roof_error *error)
{
    return roof_answer_watched(store, question, command, format, listener, NULL, error);
}

static enum roof_status collect(void *context, const char *bytes, size_t length,
                                struct roof_error *error)
{
    struct roof_text *const text = context;
    roof_text_add(text, bytes, length);
    return text->failed ? roof_no_memory(error) : ROOF_OK;
}

enum roof_status roof_answer(struct roof_store *store, const struct roof_question *question,
                             enum roof_command command, enum roof_answer_format format, char **text,
                             size_t *length, struct roof_error *error)
{
    struct roof_text whole = ROOF_TEXT_INIT;
    const struct roof_listener listener = {.context = &whole, .write = collect};
    const enum roof_status status =
        roof_answer_to(store, question, command, format, &listener, error);
    *text = whole.data;
    if (length != NULL) {
        *length = whole.length;
    }
    return status;
}

void roof_answer_free(char *text)
{
    free(text);
}
