// SPDX-License-Identifier: MIT
/* Answers `compare`: measured times against predictions. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "base/grow.h"
#include "base/list.h"
#include "base/shell.h"
#include "decide/compare.h"
#include "decide/engine.h"
#include "decide/fit_scale.h"
#include "model/layout.h"
#include "report/report.h"
#include "report/scenario_options.h"

/* The question. */
struct compare_input {
    const char *file;
    struct roof_scenario base; /* what a row does not say */
    const struct roof_model *draft;
    const char *model_name; /* NULL: rows name their own */
    const char *layout;     /* NULL: none */
    const char *group_by;   /* NULL: no groups */
    double below;           /* NAN: not asked */
    bool rows;              /* rows are written, not statistics */
    bool markdown;          /* a report is written as Markdown */
    bool report;            /* a report is written, for people */
    bool summary;           /* print statistics without rows */
    bool fits;              /* a factor is asked for */
    bool device;            /* the question names one */
    bool stack;             /* the question names one */
    /* The host times of the engines that rows name. */
    struct roof_host_time host_time[ROOF_STACK_COUNT];
    const char *host_time_said; /* NULL: the question has none */
    /* The device of the question, as it is written; NULL: the question does not say. */
    const char *power_cap;
    const char *calibration;
    const struct roof_texts *set;
};

/* The question, and the state while rows are read. */
struct comparing {
    struct roof_asking *asking;
    struct compare_input in;
    struct roof_known known;
    struct roof_model_prediction *again; /* room of the fit */
    const struct roof_engines *engines;  /* NULL: a fit does not need them */
    struct roof_scale_row *value;        /* those with expected times, for the fit */
    size_t values;
    size_t value_room;
    struct roof_lost_row *row; /* rows below that share */
    size_t count;
    size_t room;
    struct roof_text lost;            /* their texts, or those of the first rows of a summary */
    size_t told;                      /* values of a summary */
    struct roof_markdown_table table; /* the first ones of a summary in Markdown */
    bool backend;                     /* the note on the engine of the rows is printed */
    bool engine;                      /* a column "engine" is read */
    struct roof_text renamed;         /* the name in the last note on the model of a row */
    /* The requests that may have waited for others. */
    bool waited; /* the fit left some out */
    struct roof_reported_waits waits;
    struct roof_text simulation; /* the command that simulates the first of them */
    struct roof_text text;
};

static enum roof_status on_hardware(void *context, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error)
{
    struct comparing *const c = context;
    return roof_known_hardware(&c->known, out, name, error);
}

/* Finds whether a row is about the model of the question because its own name, with which something
 * failed, names none. */
static enum roof_status find_own(bool *own, struct comparing *c, enum roof_status failed,
                                 const char *name, struct roof_error *error)
{
    const struct roof_listener *const listener = c->asking->listener;
    const char *const model = c->in.model_name;
    const struct roof_model *found = NULL;
    struct roof_error remark;
    *own = false;
    if (failed == ROOF_OK || failed == ROOF_MEMORY) {
        return failed;
    }
    const enum roof_status status =
        roof_asking_known_model(c->asking, &c->known, &found, name, "", &remark);
    if (status == ROOF_MEMORY) {
        return roof_no_memory(error);
    }
    if (status == ROOF_OK) {
        return failed; /* something else is wrong */
    }
    if (model == NULL && strchr(name, '/') != NULL) {
        roof_error_append(error, "; name the model with: roofline compare FILE MODEL");
    }
    const bool told = c->renamed.data != NULL && strcmp(c->renamed.data, name) == 0;
    if (model != NULL && !told && listener->remark != NULL) {
        (void)roof_error_set(&remark, ROOF_OK, "%s: '%s' names no model here, so %s is predicted",
                             c->in.file, name, model);
        listener->remark(listener->context, &remark);
        c->renamed.length = 0;
        roof_text_put(&c->renamed, name);
    }
    *own = model != NULL;
    return failed;
}

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    struct comparing *const c = context;
    bool own = false;
    enum roof_status status =
        roof_asking_known_model(c->asking, &c->known, out, name, layout, error);
    status = find_own(&own, c, status, name, error);
    return own ? roof_asking_known_model(c->asking, &c->known, out, c->in.model_name, layout, error)
               : status;
}

static enum roof_status on_formats(void *context, const struct roof_named **out, const char *name,
                                   const char *model, struct roof_error *error)
{
    struct comparing *const c = context;
    bool own = false;
    enum roof_status status =
        roof_asking_known_formats(c->asking, &c->known, out, name, model, error);
    status = find_own(&own, c, status, model, error);
    return own ? roof_asking_known_formats(c->asking, &c->known, out, name, c->in.model_name, error)
               : status;
}

static void on_bad(void *context, const struct roof_error *error)
{
    const struct comparing *const c = context;
    const struct roof_listener *const listener = c->asking->listener;
    if (listener->complain != NULL) {
        listener->complain(listener->context, error);
    }
}

static enum roof_status on_header(void *context, const char *const *column, size_t columns,
                                  bool metrics, struct roof_error *error)
{
    struct comparing *const c = context;
    const char *const chosen = c->asking->form.columns;
    if (chosen != NULL) {
        return roof_report_chosen_header(&c->text, c->asking->form.format == ROOF_CSV, chosen,
                                         column, columns, metrics, error);
    }
    if (c->asking->form.format == ROOF_CSV) {
        roof_report_compared_header(&c->text, column, columns, metrics, !isnan(c->in.below));
    }
    return ROOF_OK;
}

/* Keeps a row that loses time. */
static enum roof_status keep_row(struct comparing *c, const struct roof_compared *row,
                                 struct roof_error *error)
{
    struct roof_loss loss;
    if (c->count == c->room) {
        struct roof_lost_row *const grown = roof_grow(c->row, &c->room, 64, sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(error);
        }
        c->row = grown;
    }
    TRY(roof_loss_of(&loss, row, error));
    const size_t at = c->lost.length;
    roof_report_lost(&c->lost, c->in.report ? ROOF_OUTPUT_TEXT : c->asking->form.rows, row, &loss);
    c->row[c->count++] = (struct roof_lost_row){loss.lost_s, at, c->lost.length - at};
    return c->lost.failed ? roof_no_memory(error) : ROOF_OK;
}

/* Keeps a measured value for the fit, unless the model of the row does not cover it or the row has
 * it twice. */
static enum roof_status keep_value(struct comparing *c, const struct roof_compared *row,
                                   struct roof_error *error)
{
    c->waited = c->waited || row->shared;
    if (isnan(row->expected_s) || row->shared || row->repeated) {
        return ROOF_OK;
    }
    if (c->values == c->value_room) {
        struct roof_scale_row *const grown = roof_grow(c->value, &c->value_room, 64, sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(error);
        }
        c->value = grown;
    }
    return roof_scale_row_of(&c->value[c->values++], row, c->again, error);
}

/* Returns the stack of the engine that a benchmark names as its backend, such as vllm or
 * sglang-oai; ROOF_STACK_BEST if it is none. */
static enum roof_stack stack_of(const char *backend)
{
    /* The names of TensorRT-LLM in the clients of vLLM and SGLang
     * (vllm/benchmarks/lib/endpoint_request_func.py, sglang/bench_serving.py). */
    static const struct {
        const char *name;
        enum roof_stack stack;
    } others[] = {{"tensorrt-llm", ROOF_STACK_TRTLLM}, {"trt", ROOF_STACK_TRTLLM}};
    for (size_t i = 0; i < COUNT(others); i++) {
        if (strcmp(backend, others[i].name) == 0) {
            return others[i].stack;
        }
    }
    int stack = ROOF_STACK_BEST + 1;
    while (stack < ROOF_STACK_COUNT) {
        const char *const name = roof_stack_name((enum roof_stack)stack);
        const size_t length = strlen(name);
        if (strncmp(backend, name, length) == 0 && strchr("-", backend[length]) != NULL) {
            return (enum roof_stack)stack;
        }
        stack++;
    }
    return ROOF_STACK_BEST;
}

/* Remarks on the engine that a column of a row names, the first one that is not empty. */
static void remark_backend(struct comparing *c, const struct roof_records *records,
                           const char *column, const char *backend, enum roof_stack stack)
{
    const struct roof_listener *const listener = c->asking->listener;
    const char *const name = roof_stack_name(stack);
    struct roof_error remark;
    if (c->backend || listener->remark == NULL || *backend == '\0') {
        return;
    }
    c->backend = true;
    if (stack == ROOF_STACK_BEST) {
        (void)roof_error_set(&remark, ROOF_OK,
                             "%s: %s %s names no engine; " ROOF_KEY("stack") " does", records->name,
                             column, backend);
    } else {
        (void)roof_error_set(&remark, ROOF_OK,
                             "%s: its %s is %s, so times are expected for that engine, as "
                             "with " ROOF_KEY("stack") " %s",
                             records->name, column, name, name);
    }
    listener->remark(listener->context, &remark);
}

/* Takes the stack from the result of a serving benchmark, unless the question has one. A column
 * "engine" goes before one "backend". */
static void on_begin(void *context, const struct roof_records *records)
{
    static const char *const columns[] = {"engine", "backend"};
    struct comparing *const c = context;
    struct roof_scenario *const base = &c->in.base;
    c->engine = true;
    if (c->in.stack || roof_records_has(records, "stack")) {
        return;
    }
    const char *backend = "";
    const char *column = columns[0];
    for (size_t k = 0; k < COUNT(columns) && *backend == '\0'; k++) {
        for (size_t i = 0; i < records->columns; i++) {
            if (strcmp(records->column[i], columns[k]) == 0) {
                column = columns[k];
                backend = records->cell[i];
            }
        }
    }
    const enum roof_stack stack = stack_of(backend);
    base->common.stack = stack;
    if (stack != ROOF_STACK_BEST) {
        base->host_time[stack] = c->in.host_time[stack];
    }
    remark_backend(c, records, column, backend, stack);
}

/* --- waits for other requests -------------------------------------------------------------- */

/* Finds an engine with a stack whose scheduler `simulate` knows, among the given ones; NULL: none.
 */
static const char *engine_of(const struct roof_engines *engines, enum roof_stack stack,
                             unsigned among)
{
    for (size_t i = 0; i < engines->count; i++) {
        const struct roof_engine *const e = &engines->engine[i];
        if (e->stack == stack && e->scheduler.known && (among >> i & 1U) != 0) {
            return e->id;
        }
    }
    return NULL;
}

/* Writes the options of the question that are about the device. */
static void put_device_options(struct roof_text *out, const struct compare_input *in)
{
    const struct {
        size_t input;
        const char *value;
    } said[] = {{ROOF_INPUT_POWER_CAP, in->power_cap}, {ROOF_INPUT_CALIBRATION, in->calibration}};
    char name[ROOF_INPUT_NAME_SIZE];
    for (size_t i = 0; i < COUNT(said); i++) {
        if (said[i].value != NULL) {
            roof_text_printf(out, " %s ", roof_input_name(name, roof_input(said[i].input)));
            roof_text_shell_word(out, said[i].value);
        }
    }
    for (int i = 0; i < in->set->count; i++) {
        roof_text_printf(out, " %s ", roof_input_name(name, roof_input(ROOF_INPUT_SET)));
        roof_text_shell_word(out, in->set->value[i]);
    }
}

/* A rate at which the requests of a benchmark come at once. */
#define AT_ONCE "1000000"

/* Writes the load of a run: its requests, and how they came. Requests come at once if nothing
 * limits them, or if the limit is not below their number. */
static void put_load(struct roof_text *out, const struct roof_compared *row)
{
    const struct roof_scenario *const s = &row->model_prediction->scenario;
    const int64_t batch = s->common.shape.batch;
    const bool unlimited = isnan(row->request_rate) && row->requests <= (double)batch;
    if (unlimited || isinf(row->request_rate)) {
        roof_text_put(out, " --rate " AT_ONCE);
    } else if (isnan(row->request_rate)) {
        roof_text_printf(out, " --concurrency %" PRId64, batch);
    } else {
        roof_text_put(out, " --rate ");
        roof_text_number(out, row->request_rate);
    }
    if (row->requests > 0) {
        roof_text_printf(out, " --requests %.0f --warm-up 0", row->requests);
    }
    roof_text_printf(out, " --prompt %" PRId64 " --generate %" PRId64, s->prompt, s->generate);
}

/* Writes the command that simulates the run of a row. */
static enum roof_status put_simulation(struct comparing *c, const struct roof_compared *row,
                                       struct roof_error *error)
{
    struct roof_text *const out = &c->simulation;
    const struct roof_model *const model = row->model_prediction->model;
    struct roof_scenario asked = *row->asked;
    struct roof_scenario usual;
    const char *engine = NULL;
    const enum roof_stack stack = (enum roof_stack)asked.common.stack;
    if (stack != ROOF_STACK_BEST) {
        TRY(roof_loan_engines(&c->engines, &c->asking->loans, error));
        engine = engine_of(c->engines, stack, roof_engines_model(c->engines, model));
    }
    roof_scenario_init(&usual);
    usual.common.shape.batch = asked.common.shape.batch; /* part of the load */
    usual.common.stack = engine == NULL ? usual.common.stack : stack;
    usual.tp = asked.tp == 1 ? 1 : usual.tp; /* files of rows say so */
    usual.pp = asked.pp == 1 ? 1 : usual.pp;
    usual.dp = asked.dp == 1 ? 1 : usual.dp;
    asked.host_time_said = c->in.host_time_said;
    roof_text_put(out, "roofline simulate ");
    roof_put_reference(out, model->reference, model->id);
    roof_text_put(out, " -H ");
    roof_text_shell_word(out, row->hardware->reference);
    put_device_options(out, &c->in);
    if (model->layout != NULL && strcmp(model->layout, "file") != 0) {
        roof_text_put(out, " --layout ");
        roof_text_shell_word(out, model->layout);
    }
    roof_put_options(out, &asked, &usual, ROOF_COMMAND_SIMULATE);
    if (engine != NULL) {
        roof_text_printf(out, " --engine %s", engine);
    }
    roof_text_put(out, isnan(row->expected_s) ? " --by ideal" : "");
    put_load(out, row);
    return out->failed ? roof_no_memory(error) : ROOF_OK;
}

/* Notes a row whose request may have waited for others. */
static enum roof_status note_wait(struct comparing *c, const struct roof_compared *row,
                                  struct roof_error *error)
{
    const bool again = c->waits.rows > 0 && row->line == c->waits.line; /* of the same run */
    if (!row->shared || again) {
        return ROOF_OK;
    }
    c->waits.unhosted = c->waits.unhosted || row->asked->common.stack == ROOF_STACK_BEST;
    if (c->waits.rows++ > 0) {
        return ROOF_OK;
    }
    c->waits.line = row->line;
    return put_simulation(c, row, error);
}

/* A summary has a line for each value where there are so few. */
#define LINES_MAX 20

static enum roof_status on_row(void *context, const struct roof_compared *row,
                               struct roof_error *error)
{
    struct comparing *const c = context;
    if (c->in.report) {
        TRY(note_wait(c, row, error));
    }
    if (c->in.fits) {
        return keep_value(c, row, error);
    }
    if (!isnan(c->in.below)) {
        return row->time_s < c->in.below * row->measured_s ? keep_row(c, row, error) : ROOF_OK;
    }
    if (!c->in.rows) {
        if (c->in.summary || c->told++ >= LINES_MAX) {
            return ROOF_OK;
        }
        if (c->in.markdown) {
            roof_report_compared_cells(&c->table, row);
        } else {
            roof_report_compared_line(&c->lost, row);
        }
        return ROOF_OK;
    }
    if (c->asking->form.columns != NULL) {
        roof_report_chosen(&c->text, c->asking->form.format == ROOF_CSV, c->asking->form.columns,
                           row);
    } else {
        roof_report_compared(&c->text, c->asking->form.format == ROOF_CSV, row);
    }
    return roof_asking_put(c->asking, &c->text, error);
}

/* Remarks that neither rows nor question name a device. */
static void remark_default(const struct comparing *c, const struct roof_records *records)
{
    const struct roof_listener *const listener = c->asking->listener;
    struct roof_error remark;
    if (listener->remark == NULL || roof_records_has(records, "hardware") || c->in.device) {
        return;
    }
    (void)roof_error_set(
        &remark, ROOF_OK,
        "%s has no column hardware: its rows are predicted for the default, " ROOF_DEFAULT_HARDWARE
        "; " ROOF_KEY("hardware") " names another device",
        records->name);
    listener->remark(listener->context, &remark);
}

/* Remarks that a number of requests in flight was computed. */
static void remark_derived(const struct comparing *c, const struct roof_records *records)
{
    const struct roof_listener *const listener = c->asking->listener;
    struct roof_error remark;
    if (listener->remark == NULL || records->derived_line == 0) {
        return;
    }
    (void)roof_error_set(&remark, ROOF_OK,
                         "%s:%d: the mean number of requests in flight is %.4g by Little's law: "
                         "requests/s x mean time of a request",
                         records->name, records->derived_line, records->derived);
    listener->remark(listener->context, &remark);
}

static enum roof_status on_end(void *context, const struct roof_records *records,
                               struct roof_error *error)
{
    static const char *const none[] = {NULL};
    static const char *const engine[] = {"engine", NULL};
    const struct comparing *const c = context;
    remark_default(c, records);
    remark_derived(c, records);
    return roof_asking_misspelt(c->asking, records, c->engine ? engine : none, error);
}

/* --- what is asked ------------------------------------------------------------------------- */

/* Checks that a layout is known. It applies to the models of rows, so with a file of operators a
 * wrong name would go unnoticed. */
static enum roof_status check_layout(const char *name, const struct roof_store *store,
                                     struct roof_error *error)
{
    struct roof_layout_about about;
    if (name != NULL && strcmp(name, "checkpoint") != 0) {
        TRY(roof_layout_load(&about, name, roof_store_folders(store), error));
        roof_layout_about_free(&about);
    }
    return ROOF_OK;
}

/* Loads the model of the question, so that a wrong name is refused before any row is read. */
static enum roof_status check_model(struct comparing *c, struct roof_error *error)
{
    const struct roof_model *model = NULL;
    const char *const name = c->in.model_name;
    if (name == NULL) {
        return ROOF_OK;
    }
    const enum roof_status status =
        roof_asking_known_model(c->asking, &c->known, &model, name, "", error);
    return status == ROOF_INVALID && roof_compare_is_result(name)
               ? roof_compare_refuse_second(c->in.file, name, error)
               : status;
}

/* Refuses a format that rows, or statistics, do not have. */
static enum roof_status check_format(const struct compare_input *in, const struct roof_asking *a,
                                     struct roof_error *error)
{
    if (a->form.columns != NULL && !in->rows) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("columns") " of compare needs rows: give " ROOF_KEY(
                                  "format") " csv or ndjson");
    }
    if (!isnan(in->below)) {
        static const size_t others[] = {ROOF_INPUT_SUMMARY, ROOF_INPUT_GROUP_BY,
                                        ROOF_INPUT_COMPARE_FIT, ROOF_INPUT_COLUMNS};
        return roof_asking_refuse(a, others, COUNT(others), ROOF_KEY("below"), error);
    }
    if (in->fits && in->rows) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("compare_fit") " needs a summary: give " ROOF_KEY(
                                  "format") " text, md or json");
    }
    if (!in->rows && !a->form.document && !in->markdown) {
        return roof_error_set(
            error, ROOF_USAGE,
            "compare writes rows as csv or ndjson and a summary as text, md or json");
    }
    if (in->rows && in->group_by != NULL) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("group_by") " needs a summary: give " ROOF_KEY("format") " text, md or json");
    }
    return ROOF_OK;
}

/* Refuses columns with the name of a statistic: no two members of a group have one name. */
static enum roof_status check_groups(const char *names, struct roof_error *error)
{
    struct roof_list_item item;
    for (const char *rest = names; roof_list_next(&item, &rest);) {
        if (roof_report_is_statistic(item.text, item.length)) {
            return roof_error_set(
                error, ROOF_USAGE,
                ROOF_KEY("group_by") " %.*s: a statistic already has that name; rename the column",
                (int)item.length, item.text);
        }
    }
    return ROOF_OK;
}

/* Reads the scenario of the question; its names must be known for any kind of rows. */
static enum roof_status read_input(struct comparing *c, struct roof_error *error)
{
    struct roof_asking *const a = c->asking;
    struct compare_input *const in = &c->in;
    const struct roof_question *const q = a->question;
    if (q->files != 1) {
        return roof_error_set(error, ROOF_USAGE,
                              "no file is given: compare needs CSV, NDJSON or the result of a "
                              "serving benchmark, with measured times");
    }
    in->file = q->file[0];
    in->model_name = q->model_name;
    in->layout = q->value[ROOF_INPUT_LAYOUT];
    in->group_by = q->value[ROOF_INPUT_GROUP_BY];
    in->power_cap = q->value[ROOF_INPUT_POWER_CAP];
    in->calibration = q->value[ROOF_INPUT_CALIBRATION];
    in->set = &q->set;
    in->device = roof_asking_has(a, ROOF_INPUT_HARDWARE);
    in->summary = roof_asking_has(a, ROOF_INPUT_SUMMARY);
    in->rows = !in->summary && (a->form.format == ROOF_CSV || a->form.format == ROOF_NDJSON);
    in->markdown = roof_form_is_markdown(&a->form);
    in->report = in->markdown || a->form.report;
    if (roof_asking_has(a, ROOF_INPUT_BELOW)) {
        TRY(roof_parse_share(&in->below, q->value[ROOF_INPUT_BELOW], ROOF_KEY("below"), error));
    }
    static const size_t fitted[] = {ROOF_INPUT_STEP_SCALE, ROOF_INPUT_SERIAL, ROOF_INPUT_HOST_GAP};
    in->fits = roof_asking_has(a, ROOF_INPUT_COMPARE_FIT);
    if (in->fits) {
        int64_t form = 0; /* there is one */
        TRY(roof_read_choice(&form, q, ROOF_INPUT_COMPARE_FIT, error));
        TRY(roof_asking_refuse(a, fitted, COUNT(fitted), ROOF_KEY("compare_fit"), error));
        c->again = malloc(sizeof *c->again);
        if (c->again == NULL) {
            return roof_no_memory(error);
        }
    }
    TRY(check_format(in, a, error));
    TRY(check_groups(in->group_by, error));
    roof_scenario_init(&in->base);
    struct roof_question rest;
    roof_read_known(&c->known, &a->loans, &rest, q);
    TRY(roof_read_fields(&in->base, &rest, error));
    TRY(roof_read_classes(&in->base, &rest, error));
    in->base.formats_said = c->known.named;
    const enum roof_status status = roof_known_own(&c->known, error);
    if (status != ROOF_OK) {
        return status == ROOF_UNSATISFIED ? ROOF_USAGE : status;
    }
    TRY(check_layout(in->layout, a->loans.store, error));
    TRY(check_model(c, error));
    TRY(roof_asking_draft(&in->draft, &in->base, a, error));
    in->stack = roof_asking_has(a, ROOF_INPUT_STACK);
    struct roof_scenario engines = in->base;
    TRY(roof_read_host_time(&engines, &a->loans, q, true, error));
    memcpy(in->host_time, engines.host_time, sizeof in->host_time);
    in->host_time_said = engines.host_time_said;
    return ROOF_OK;
}

/* --- the answer ---------------------------------------------------------------------------- */

/* Orders rows by the time that they lose, the most first, equal ones as in the file. */
static int by_loss(const void *a, const void *b)
{
    const struct roof_lost_row *const x = a;
    const struct roof_lost_row *const y = b;
    return x->lost_s > y->lost_s   ? -1
           : x->lost_s < y->lost_s ? 1
                                   : (x->at > y->at) - (x->at < y->at);
}

static void put_lost(struct comparing *c, const struct roof_comparison *comparison)
{
    const bool json = c->asking->form.format == ROOF_JSON;
    double lost_s = 0;
    if (c->count > 1) {
        qsort(c->row, c->count, sizeof *c->row, by_loss);
    }
    if (json) {
        roof_report_losses(&c->text, true, c->in.below, comparison->overall.rows, c->count, 0);
    } else if (c->in.report && c->count > 0) {
        roof_report_lost_heading(&c->text);
    }
    for (size_t i = 0; i < c->count; i++) {
        const struct roof_lost_row *const row = &c->row[i];
        lost_s += row->lost_s;
        roof_text_put(&c->text, !json ? "" : i == 0 ? "\n" : ",\n");
        roof_text_add(&c->text, c->lost.data + row->at, row->length - (json ? 1U : 0U));
    }
    if (json) {
        roof_text_put(&c->text, "]}\n");
    } else if (c->in.report) {
        roof_report_losses(&c->text, false, c->in.below, comparison->overall.rows, c->count,
                           lost_s);
        roof_report_comparison_notes(&c->text, comparison, NULL, &c->waits);
    }
}

/* Fits the rows, and finds what `simulate` needs with the numbers. */
static enum roof_status find_fit(struct roof_reported_fit *out, struct comparing *c,
                                 struct roof_error *error)
{
    const enum roof_status status = roof_scale_fit(&out->fit, c->value, c->values, c->again, error);
    if (status == ROOF_UNSATISFIED && c->values > 0 && c->value[0].model != NULL) {
        roof_error_append(error,
                          "; without a fit, give measured / expected to " ROOF_KEY("step_scale"));
    }
    if (status == ROOF_UNSATISFIED && c->waited) {
        roof_error_append(error, "; one run fits with vllm bench serve --save-detailed and "
                                 "roofline simulate " ROOF_KEY("trace") " FILE " ROOF_KEY("fit"));
    }
    if (status != ROOF_OK) {
        return status;
    }
    out->host_time = c->in.host_time_said;
    out->engine = NULL;
    if (!out->fit.one_stack || out->fit.stack == ROOF_STACK_BEST) {
        return ROOF_OK;
    }
    TRY(roof_loan_engines(&c->engines, &c->asking->loans, error));
    unsigned among = ~0U;
    for (size_t i = 0; i < c->values; i++) {
        const struct roof_scaled *const row = c->value[i].model;
        among &= row == NULL ? ~0U : roof_engines_model(c->engines, row->model);
    }
    out->engine = engine_of(c->engines, out->fit.stack, among);
    return ROOF_OK;
}

static enum roof_status finish(struct comparing *c, const struct roof_comparison *comparison,
                               struct roof_error *error)
{
    if (comparison->overall.rows + comparison->overall.skipped == 0) {
        return roof_error_at(error, ROOF_INVALID, c->in.file, 0, 0, "no records");
    }
    if (comparison->overall.rows == 0 && comparison->bad > 0 && c->in.report) {
        *error = (struct roof_error){.status = ROOF_INVALID}; /* the rows are reported */
        return ROOF_INVALID;
    }
    c->waits.command = c->simulation.data;
    if (!isnan(c->in.below)) {
        put_lost(c, comparison);
        if (c->in.markdown) {
            struct roof_text lines = c->text;
            c->text = (struct roof_text)ROOF_TEXT_INIT;
            roof_markdown_put_block(&c->text, "text", lines.failed ? "" : lines.data);
            c->text.failed |= lines.failed;
            roof_text_free(&lines);
        }
    } else if (!c->in.rows) {
        struct roof_reported_fit fit;
        if (c->in.fits) {
            TRY(find_fit(&fit, c, error));
        }
        const bool few = c->told > 0 && c->told <= LINES_MAX;
        if (c->in.markdown) {
            roof_report_comparison_markdown(&c->text, few ? &c->table : NULL, comparison,
                                            c->in.fits ? &fit : NULL, &c->waits);
        } else if (few) {
            roof_report_compared_heading(&c->text);
            roof_text_add(&c->text, c->lost.data, c->lost.length);
            roof_text_put(&c->text, "\n");
        }
        if (!c->in.markdown) {
            roof_report_comparison(&c->text, c->asking->form.format == ROOF_JSON, comparison,
                                   c->in.fits ? &fit : NULL, &c->waits);
        }
    }
    c->text.failed |= c->lost.failed;
    TRY(roof_asking_write(c->asking, &c->text, error));
    *error = (struct roof_error){.status = comparison->bad > 0 ? ROOF_INVALID : ROOF_OK};
    return error->status;
}

static enum roof_status answer(struct comparing *c, struct roof_error *error)
{
    TRY(read_input(c, error));
    const struct compare_input *const in = &c->in;
    const bool lost = !isnan(in->below);
    const bool each = in->rows || in->fits || lost || in->report;
    const struct roof_compare_calls calls = {.context = c,
                                             .counts = lost,
                                             .hardware = on_hardware,
                                             .model = on_model,
                                             .formats = on_formats,
                                             .header = in->rows || lost ? on_header : NULL,
                                             .begin = on_begin,
                                             .row = each ? on_row : NULL,
                                             .end = on_end,
                                             .bad = on_bad};
    struct roof_comparison comparison = {.bad = 0};
    /* The output is opened before rows come, which may take long. */
    TRY(c->asking->listener->write(c->asking->listener->context, "", 0, error));
    TRY(roof_compare(&comparison, in->file, &in->base, roof_known_own_name(&c->known),
                     in->model_name, in->group_by, &calls, error));
    const enum roof_status status = finish(c, &comparison, error);
    roof_comparison_free(&comparison);
    return status;
}

enum roof_status roof_ask_compare(struct roof_asking *a, struct roof_error *error)
{
    struct comparing c = {.asking = a,
                          .in = {.below = ROOF_UNKNOWN},
                          .lost = ROOF_TEXT_INIT,
                          .simulation = ROOF_TEXT_INIT,
                          .renamed = ROOF_TEXT_INIT,
                          .text = ROOF_TEXT_INIT};
    ROOF_GRID_BEGIN(&c.table, ">measured", ">expected", ">bound", ">error", "row");
    const enum roof_status status = answer(&c, error);
    roof_text_free(&c.table.text);
    roof_text_free(&c.text);
    roof_text_free(&c.lost);
    roof_text_free(&c.simulation);
    roof_text_free(&c.renamed);
    free(c.row);
    for (size_t i = 0; i < c.values; i++) {
        roof_scale_row_free(&c.value[i]);
    }
    free(c.value);
    free(c.again);
    roof_known_free(&c.known);
    return status;
}
