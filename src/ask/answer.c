// SPDX-License-Identifier: MIT
/* Answers questions: the only place that knows every kind of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "decide/input.h"
#include "model/layout.h"

/* --- formats ------------------------------------------------------------------------------- */

static const char *const format_names[ROOF_ANSWER_FORMAT_COUNT] = {
    [ROOF_TEXT] = "text",       [ROOF_JSON] = "json",   [ROOF_NDJSON] = "ndjson",
    [ROOF_CSV] = "csv",         [ROOF_MARKDOWN] = "md", [ROOF_HTML] = "html",
    [ROOF_SVG] = "svg",         [ROOF_PNG] = "png",     [ROOF_PDF] = "pdf",
    [ROOF_GNUPLOT] = "gnuplot", [ROOF_TAP] = "tap",     [ROOF_JUNIT] = "junit"};

/* The row of the input table that has the formats of a command. */
static size_t format_input(enum roof_command command)
{
    return command == ROOF_COMMAND_PREDICT ? ROOF_INPUT_PREDICT_FORMAT
           : command == ROOF_COMMAND_PLOT  ? ROOF_INPUT_CHART_FORMAT
           : command == ROOF_COMMAND_CHECK ? ROOF_INPUT_CHECK_FORMAT
                                           : ROOF_INPUT_FORMAT;
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

/* --- what answers share -------------------------------------------------------------------- */

bool roof_asking_has(const struct roof_asking *a, size_t input)
{
    return roof_asked(a->question, input);
}

bool roof_asking_document(const struct roof_asking *a)
{
    return a->format == ROOF_TEXT || a->format == ROOF_JSON;
}

enum roof_output roof_asking_rows(const struct roof_asking *a)
{
    return (enum roof_output)a->format;
}

bool roof_asking_bounds_only(const struct roof_asking *a)
{
    const char *const columns = a->question->value[ROOF_INPUT_COLUMNS];
    return (a->command == ROOF_COMMAND_PREDICT || a->command == ROOF_COMMAND_SWEEP) &&
           !a->question->model && columns != NULL && strstr(columns, "expected") == NULL &&
           !roof_asking_has(a, ROOF_INPUT_CALIBRATION);
}

enum roof_status roof_asking_hardware(const struct roof_hardware **out, struct roof_asking *a,
                                      const char *name, struct roof_error *error)
{
    return roof_read_hardware(out, &a->loans, a->question,
                              name == NULL ? a->question->value[ROOF_INPUT_HARDWARE] : name,
                              roof_asking_bounds_only(a), error);
}

void roof_asking_remark(const struct roof_asking *a, const struct roof_model *model)
{
    for (const char *const *note = model->remarks; *note != NULL; note++) {
        struct roof_error remark; /* keeps it one line */
        (void)roof_error_set(&remark, ROOF_OK, "note: %s: %s", model->id, *note);
        if (a->listener->remark != NULL) {
            a->listener->remark(a->listener->context, &remark);
        }
    }
}

/* True where the document itself says what was assumed. */
static bool is_report(const struct roof_asking *a)
{
    return a->command == ROOF_COMMAND_PREDICT &&
           (a->format == ROOF_TEXT || a->format == ROOF_HTML) &&
           !roof_asking_has(a, ROOF_INPUT_FROM) && !roof_asking_has(a, ROOF_INPUT_EXPLAIN);
}

enum roof_status roof_asking_model(const struct roof_model **out, struct roof_asking *a,
                                   const struct roof_question *question, const char *name,
                                   struct roof_error *error)
{
    TRY(roof_read_model(out, &a->loans, question, name, error));
    if (!is_report(a)) {
        roof_asking_remark(a, *out);
    }
    return ROOF_OK;
}

enum roof_status roof_asking_draft(const struct roof_model **out, struct roof_scenario *scenario,
                                   struct roof_asking *a, struct roof_error *error)
{
    const bool records = roof_asking_has(a, ROOF_INPUT_FROM) || a->command == ROOF_COMMAND_COMPARE;
    TRY(roof_read_draft(out, scenario, &a->loans, a->question, records, error));
    if (*out != NULL) {
        roof_asking_remark(a, *out);
    }
    return ROOF_OK;
}

enum roof_status roof_asking_refuse(const struct roof_asking *a, const size_t *inputs, size_t count,
                                    const char *with, struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    for (size_t i = 0; i < count; i++) {
        if (roof_asking_has(a, inputs[i])) {
            return roof_error_set(error, ROOF_USAGE, "%s does not go with %s",
                                  roof_input_marked(name, roof_input(inputs[i])), with);
        }
    }
    return ROOF_OK;
}

/* --- output -------------------------------------------------------------------------------- */

enum roof_status roof_asking_write(struct roof_asking *a, struct roof_text *text,
                                   struct roof_error *error)
{
    if (text->failed) {
        return roof_no_memory(error);
    }
    const enum roof_status status =
        text->length == 0
            ? ROOF_OK
            : a->listener->write(a->listener->context, text->data, text->length, error);
    roof_text_clear(text); /* also after a failure: nothing is written twice */
    return status;
}

enum roof_status roof_asking_put(struct roof_asking *a, struct roof_text *text,
                                 struct roof_error *error)
{
    return text->length < ROOF_ASKING_ENOUGH && !text->failed ? ROOF_OK
                                                              : roof_asking_write(a, text, error);
}

bool roof_asking_stopped(const struct roof_asking *a)
{
    return a->listener->stop != NULL && a->listener->stop(a->listener->context);
}

void roof_asking_progress(const struct roof_asking *a, const char *what, const char *unit,
                          uint64_t done, uint64_t of)
{
    if (a->listener->progress != NULL) {
        a->listener->progress(a->listener->context, what, unit, done, of);
    }
}

/* --- records ------------------------------------------------------------------------------- */

/* More bad records, or columns that nothing reads, than these are only counted. */
#define BAD_SHOWN 20
#define CARRIED_SHOWN 10

static void complain(const struct roof_asking *a, const struct roof_error *complaint)
{
    if (a->listener->complain != NULL) {
        a->listener->complain(a->listener->context, complaint);
    }
}

void roof_asking_bad_record(const struct roof_asking *a, const struct roof_records *records,
                            const struct roof_error *error)
{
    if (records->bad <= BAD_SHOWN) {
        complain(a, error);
    }
}

void roof_asking_bad_records(const struct roof_asking *a, const struct roof_records *records)
{
    struct roof_error sum;
    if (records->bad > 0) {
        (void)roof_error_set(&sum, ROOF_INVALID,
                             "%" PRIu64 " of %" PRIu64 " lines are bad and left out", records->bad,
                             records->count);
        complain(a, &sum);
    }
}

static bool is_among(const char *const *names, const char *name)
{
    while (*names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

/* Puts a name from a file on the line of a complaint. */
static void put_name(struct roof_text *out, const char *name)
{
    for (const char *p = *name == '\0' ? "''" : name; *p != '\0';) {
        const size_t control = roof_control(p);
        roof_text_add(out, control > 0 ? " " : p, 1);
        p += control > 0 ? control : 1;
    }
}

void roof_asking_carried(const struct roof_asking *a, const char *what,
                         const struct roof_records *records, const char *const *used)
{
    struct roof_text names = ROOF_TEXT_INIT;
    struct roof_error told;
    size_t shown = 0;
    size_t more = 0;
    for (size_t i = 0; i < records->carried_count; i++) {
        const char *const name = records->carried[i].name;
        if (is_among(used, name)) {
            continue;
        }
        if (shown == CARRIED_SHOWN) {
            more++;
            continue;
        }
        roof_text_put(&names, shown == 0 ? "" : ", ");
        put_name(&names, name);
        shown++;
    }
    if (more > 0) {
        roof_text_printf(&names, ", and %zu more", more);
    }
    if (shown > 0 && !names.failed) {
        (void)roof_error_set(&told, ROOF_OK, "%s%s", what, names.data);
        complain(a, &told);
    }
    roof_text_free(&names);
}

/* --- answers ------------------------------------------------------------------------------- */

static const struct {
    enum roof_command command;
    enum roof_status (*answer)(struct roof_asking *a, struct roof_error *error);
} kinds[] = {{ROOF_COMMAND_PREDICT, roof_ask_predict},     {ROOF_COMMAND_SWEEP, roof_ask_sweep},
             {ROOF_COMMAND_RECOMMEND, roof_ask_recommend}, {ROOF_COMMAND_LIST, roof_ask_list},
             {ROOF_COMMAND_COMPARE, roof_ask_compare},     {ROOF_COMMAND_PLOT, roof_ask_plot},
             {ROOF_COMMAND_CHECK, roof_ask_check}};

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

enum roof_status roof_answer_to(struct roof_store *store, const struct roof_question *question,
                                enum roof_command command, enum roof_answer_format format,
                                const struct roof_listener *listener, struct roof_error *error)
{
    struct roof_asking asking = {.loans = {.store = store},
                                 .question = question,
                                 .command = command,
                                 .format = format,
                                 .listener = listener};
    struct roof_error own;
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
    const enum roof_status status = kinds[kind].answer(&asking, told);
    roof_loans_return(&asking.loans);
    if (status == ROOF_OK) {
        *told = (struct roof_error){.status = ROOF_OK}; /* a plan that was refused is no error */
    }
    return status;
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
