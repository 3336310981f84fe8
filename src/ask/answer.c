// SPDX-License-Identifier: MIT
/* Answers questions. This is the only place that knows every kind of question. */
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "ask/draw.h"
#include "ask/each.h"
#include "base/base.h"
#include "base/character.h"
#include "base/list.h"
#include "decide/resolve.h"

static const char *const format_names[ROOF_ANSWER_FORMAT_COUNT] = {
    [ROOF_TEXT] = "text",       [ROOF_JSON] = "json",   [ROOF_NDJSON] = "ndjson",
    [ROOF_CSV] = "csv",         [ROOF_MARKDOWN] = "md", [ROOF_HTML] = "html",
    [ROOF_SVG] = "svg",         [ROOF_PNG] = "png",     [ROOF_PDF] = "pdf",
    [ROOF_GNUPLOT] = "gnuplot", [ROOF_TAP] = "tap",     [ROOF_JUNIT] = "junit"};

#define ROWS ROOF_TEXT, ROOF_JSON, ROOF_NDJSON, ROOF_CSV, ROOF_MARKDOWN
#define IMAGES ROOF_SVG, ROOF_PNG, ROOF_PDF, ROOF_GNUPLOT

/* The kinds of questions, with the formats of their answers in the order of messages. */
static const struct {
    enum roof_command command;
    enum roof_status (*answer)(struct roof_asking *a, struct roof_error *error);
    enum roof_answer_format format[ROOF_ANSWER_FORMAT_COUNT];
    size_t formats;
} kinds[] = {
    {ROOF_COMMAND_LIST, roof_ask_list, {ROWS}, 5},
    {ROOF_COMMAND_COMPARE, roof_ask_compare, {ROWS}, 5},
    {ROOF_COMMAND_PREDICT, roof_ask_predict, {ROWS, ROOF_HTML}, 6},
    {ROOF_COMMAND_SWEEP, roof_ask_sweep, {ROWS, ROOF_HTML, IMAGES}, 10},
    {ROOF_COMMAND_RECOMMEND, roof_ask_recommend, {ROWS, ROOF_HTML, IMAGES}, 10},
    {ROOF_COMMAND_SIMULATE, roof_ask_simulate, {ROWS, ROOF_HTML, IMAGES}, 10},
    {ROOF_COMMAND_PLOT, roof_ask_plot, {ROOF_TEXT, IMAGES, ROOF_JSON, ROOF_HTML}, 7},
    {ROOF_COMMAND_CHECK, roof_ask_check, {ROOF_TEXT, ROOF_JSON, ROOF_TAP, ROOF_JUNIT}, 4},
    {ROOF_COMMAND_MEASURE, roof_ask_measure, {ROOF_TEXT, ROOF_JSON, ROOF_CSV, ROOF_MARKDOWN}, 4},
    {ROOF_COMMAND_MONITOR, roof_ask_monitor, {ROOF_TEXT, ROOF_JSON, ROOF_NDJSON, ROOF_CSV}, 4},
    {ROOF_COMMAND_PAGE, roof_ask_page, {ROOF_HTML}, 1}};

/* Finds the row of a command; COUNT(kinds) for one that answers no question. */
static size_t find_kind(enum roof_command command)
{
    size_t kind = 0;
    while (kind < COUNT(kinds) && kinds[kind].command != command) {
        kind++;
    }
    return kind;
}

/* --- formats ------------------------------------------------------------------------------- */

size_t roof_answer_format_names(const char *out[ROOF_ANSWER_FORMAT_COUNT],
                                enum roof_command command)
{
    const size_t kind = find_kind(command);
    const size_t count = kind == COUNT(kinds) ? 0 : kinds[kind].formats;
    for (size_t i = 0; i < count; i++) {
        out[i] = format_names[kinds[kind].format[i]];
    }
    return count;
}

enum roof_status roof_answer_format_find(enum roof_answer_format *out, enum roof_command command,
                                         const char *name, struct roof_error *error)
{
    const char *names[ROOF_ANSWER_FORMAT_COUNT];
    const size_t count = roof_answer_format_names(names, command);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = kinds[find_kind(command)].format[i];
            return ROOF_OK;
        }
    }
    return roof_unknown_name(error, ROOF_USAGE, roof_input(ROOF_INPUT_FORMAT)->option, name, names,
                             count);
}

void roof_answer_formats(struct roof_text *out, enum roof_command command)
{
    const char *names[ROOF_ANSWER_FORMAT_COUNT];
    const size_t count = roof_answer_format_names(names, command);
    for (size_t i = 0; i < count; i++) {
        roof_text_put(out, roof_list_separator(i, count));
        roof_text_put(out, names[i]);
    }
}

/* --- answers ------------------------------------------------------------------------------- */

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

/* Refuses inputs of a chart if the answer is not a chart. */
static enum roof_status check_chart(const struct roof_asking *a, struct roof_error *error)
{
    static const size_t inputs[] = {ROOF_INPUT_SIZE, ROOF_INPUT_TITLE};
    return a->command == ROOF_COMMAND_PLOT || roof_asking_drawn(a) ||
                   roof_asking_has(a, ROOF_INPUT_CHART)
               ? ROOF_OK
               : roof_asking_refuse(
                     a, inputs, COUNT(inputs),
                     "an answer without a chart; " ROOF_KEY("output") " FILE.svg draws the chart",
                     error);
}

/* Answers the question after names were moved to the inputs where they belong. */
static enum roof_status resolve_and_answer(struct roof_asking *a,
                                           enum roof_status (*answer)(struct roof_asking *,
                                                                      struct roof_error *),
                                           struct roof_error *error)
{
    const struct roof_question *const asked = a->question;
    struct roof_question resolved;
    struct roof_error note;
    TRY(roof_question_resolve(&resolved, &note, asked, &a->loans, a->command, error));
    a->question = &resolved;
    if (note.message[0] != '\0' && a->listener->remark != NULL) {
        a->listener->remark(a->listener->context, &note);
    }
    const bool each = a->form.format != ROOF_HTML && roof_check_each(a);
    const enum roof_status status = each ? roof_ask_each(a, answer, error) : answer(a, error);
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
                                 .form = roof_read_form(question, format),
                                 .listener = listener,
                                 .watcher = watcher,
                                 .answer = roof_answer};
    struct roof_error own = {.status = ROOF_OK};
    struct roof_error *const told = error == NULL ? &own : error;
    const size_t kind = find_kind(command);
    *told = (struct roof_error){.status = ROOF_OK};
    if (kind == COUNT(kinds)) {
        return roof_error_set(told, ROOF_USAGE, "this command answers no question");
    }
    TRY(roof_question_check(question, command, told));
    TRY(check_format(command, format, told));
    TRY(check_chart(&asking, told));
    const enum roof_status status =
        resolve_and_answer(&asking, format == ROOF_HTML ? roof_ask_page : kinds[kind].answer, told);
    roof_loans_return(&asking.loans);
    if (status == ROOF_OK) {
        /* Searches leave the reasons of rejected plans in the error. */
        *told = (struct roof_error){.status = ROOF_OK};
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
