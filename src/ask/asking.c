// SPDX-License-Identifier: MIT
/* The functions that all answers share: they borrow devices and models, write, and tell the
 * listener. */
#include "ask/asking.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/character.h"
#include "catalog/registry.h"

bool roof_form_is_markdown(const struct roof_form *form)
{
    return form->format == ROOF_MARKDOWN && form->columns == NULL;
}

/* More threads than this only wait for each other. */
#define THREADS_MAX 64

bool roof_asking_has(const struct roof_asking *a, size_t input)
{
    return roof_asked(a->question, input);
}

struct roof_form roof_read_form(const struct roof_question *question,
                                enum roof_answer_format format)
{
    const char *const columns = question->value[ROOF_INPUT_COLUMNS];
    const bool report = format == ROOF_TEXT && columns == NULL;
    return (struct roof_form){.format = format,
                              .columns = columns,
                              .title = question->value[ROOF_INPUT_TITLE],
                              .report = report,
                              .document = report || format == ROOF_JSON,
                              .rows = (enum roof_output)format};
}

bool roof_asking_bounds_only(const struct roof_asking *a)
{
    const char *const columns = a->form.columns;
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

void roof_asking_remark_grid(const struct roof_asking *a, const struct roof_grid *grid)
{
    for (size_t i = 0; i < grid->models; i++) {
        roof_asking_remark(a, grid->model[i]);
    }
    if (grid->draft != NULL) {
        roof_asking_remark(a, grid->draft);
    }
    if (grid->note.message[0] != '\0' && a->listener->remark != NULL) {
        a->listener->remark(a->listener->context, &grid->note);
    }
}

enum roof_status roof_asking_known_formats(const struct roof_asking *a, struct roof_known *known,
                                           const struct roof_named **out, const char *name,
                                           const char *model, struct roof_error *error)
{
    struct roof_error note;
    TRY(roof_known_formats(known, out, &note, name, model, error));
    if (note.message[0] != '\0' && a->listener->remark != NULL) {
        a->listener->remark(a->listener->context, &note);
    }
    return ROOF_OK;
}

enum roof_status roof_asking_known_model(const struct roof_asking *a, struct roof_known *known,
                                         const struct roof_model **out, const char *name,
                                         const char *layout, struct roof_error *error)
{
    bool fresh = false;
    TRY(roof_known_model(known, out, &fresh, name, layout, error));
    if (fresh) {
        roof_asking_remark(a, *out);
    }
    return ROOF_OK;
}

bool roof_check_sides(const struct roof_asking *a)
{
    const char *const text = a->question->value[ROOF_INPUT_HARDWARE];
    if (text == NULL || strchr(text, ',') == NULL || roof_registry_document(text)) {
        return false;
    }
    /* The name of a file may have a comma in it. */
    return strchr(text, '/') == NULL || access(text, F_OK) != 0;
}

/* True if the document itself has the assumptions; that of several devices has not. */
static bool is_report(const struct roof_asking *a)
{
    return a->command == ROOF_COMMAND_PREDICT &&
           (a->form.format == ROOF_TEXT || a->form.format == ROOF_HTML) &&
           !roof_asking_has(a, ROOF_INPUT_FROM) && !roof_asking_has(a, ROOF_INPUT_EXPLAIN) &&
           !roof_check_sides(a);
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
    TRY(roof_read_host_time(scenario, &a->loans, a->question, records, error));
    TRY(roof_read_host(scenario, &a->loans, a->question, records, error));
    if (*out != NULL) {
        roof_asking_remark(a, *out);
    }
    return ROOF_OK;
}

enum roof_status roof_asking_subject(struct roof_subject *out,
                                     const struct roof_hardware **hardware, const char *const *name,
                                     size_t count, struct roof_asking *a, struct roof_error *error)
{
    const enum roof_status status = roof_read_subject(
        out, hardware, name, count, &a->loans, a->question, roof_asking_bounds_only(a), error);
    if (out->model != NULL && !is_report(a)) {
        roof_asking_remark(a, out->model);
    }
    if (status == ROOF_OK && out->draft != NULL) {
        roof_asking_remark(a, out->draft);
    }
    return status;
}

enum roof_status roof_asking_refuse(const struct roof_asking *a, const size_t *inputs, size_t count,
                                    const char *with, struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    for (size_t i = 0; i < count; i++) {
        if (roof_asking_has(a, inputs[i])) {
            return roof_error_set(error, ROOF_USAGE, "%s cannot be combined with %s",
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
    enum roof_status status = ROOF_OK;
    if (a->collected != NULL && text->length > 0) {
        roof_text_add(a->collected, text->data, text->length);
    } else if (text->length > 0) {
        status = a->listener->write(a->listener->context, text->data, text->length, error);
    }
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

struct roof_halt roof_asking_halt(const struct roof_asking *a)
{
    return (struct roof_halt){a->listener->stop, a->listener->context};
}

enum roof_status roof_asking_threads(int64_t *out, const struct roof_asking *a,
                                     struct roof_error *error)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    *out = online < 1 ? 1 : online < THREADS_MAX ? online : THREADS_MAX;
    return roof_read_integer(out, a->question, ROOF_INPUT_THREADS, error);
}

void roof_asking_progress(const struct roof_asking *a, const char *what, const char *unit,
                          uint64_t done, uint64_t of)
{
    if (a->listener->progress != NULL) {
        a->listener->progress(a->listener->context, what, unit, done, of);
    }
}

/* --- records ------------------------------------------------------------------------------- */

/* The most unread columns that are named; more are only counted. */
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
    if (records->bad <= ROOF_RECORDS_BAD_SHOWN) {
        complain(a, error);
    }
}

void roof_asking_bad_records(const struct roof_asking *a, const struct roof_records *records)
{
    struct roof_error sum;
    if (records->bad > 0) {
        (void)roof_error_set(&sum, ROOF_INVALID,
                             "skipped lines with errors: %" PRIu64 " of %" PRIu64, records->bad,
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

/* Adds an unread column to a list, with the one that it may mean: "weigths (weights?)". */
static void put_column(struct roof_text *out, const struct roof_records *records, const char *name)
{
    const char *const meant = roof_records_meant(records, name);
    put_name(out, name);
    if (meant != NULL) {
        const char *const unit = roof_records_unit(name, meant);
        roof_text_printf(out, " (%s%s%s?)", meant, unit == NULL ? "" : ", in ",
                         unit == NULL ? "" : unit);
    }
}

/* Names unread columns. */
static enum roof_status tell_columns(const struct roof_asking *a, const char *what,
                                     const struct roof_records *records, const char *const *used,
                                     bool misspelt, struct roof_error *error)
{
    struct roof_text names = ROOF_TEXT_INIT;
    struct roof_error told;
    size_t shown = 0;
    size_t more = 0;
    for (size_t i = 0; i < records->carried_count; i++) {
        const char *const name = records->carried[i].name;
        if (is_among(used, name) || (misspelt && roof_records_meant(records, name) == NULL)) {
            continue;
        }
        if (shown == CARRIED_SHOWN) {
            more++;
            continue;
        }
        roof_text_put(&names, shown == 0 ? "" : ", ");
        put_column(&names, records, name);
        shown++;
    }
    if (more > 0) {
        roof_text_printf(&names, ", and %zu more", more);
    }
    if (shown > 0 && !names.failed) {
        (void)roof_error_set(&told, ROOF_OK, "%s%s", what, names.data);
        complain(a, &told);
    }
    const enum roof_status status = names.failed ? roof_no_memory(error) : ROOF_OK;
    roof_text_free(&names);
    return status;
}

enum roof_status roof_asking_carried(const struct roof_asking *a, const char *what,
                                     const struct roof_records *records, const char *const *used,
                                     struct roof_error *error)
{
    return tell_columns(a, what, records, used, false, error);
}

enum roof_status roof_asking_misspelt(const struct roof_asking *a,
                                      const struct roof_records *records, const char *const *used,
                                      struct roof_error *error)
{
    return tell_columns(a, "columns not used: ", records, used, true, error);
}
