// SPDX-License-Identifier: MIT
/* Answers `compare`: measured times against predictions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "base/grow.h"
#include "base/list.h"
#include "decide/compare.h"
#include "decide/fit_scale.h"
#include "model/layout.h"
#include "report/report.h"

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
    bool summary;           /* print statistics without rows */
    bool fits;              /* a factor is asked for */
    bool device;            /* the question names one */
    bool stack;             /* the question names one */
    /* The host times of the engines that rows name. */
    struct roof_host_time host_time[ROOF_STACK_COUNT];
};

/* The question, and the state while rows are read. */
struct comparing {
    struct roof_asking *asking;
    struct compare_input in;
    struct roof_known known;
    struct roof_model_prediction *again; /* room of the fit */
    struct roof_scale_row *value;        /* those with expected times, for the fit */
    size_t values;
    size_t value_room;
    struct roof_lost_row *row; /* rows below that share */
    size_t count;
    size_t room;
    struct roof_text lost; /* their texts, or those of the first rows of a summary */
    size_t told;           /* values of a summary */
    bool backend;          /* the note on the engine of the rows is printed */
    struct roof_text text;
};

static enum roof_status on_hardware(void *context, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error)
{
    struct comparing *const c = context;
    return roof_known_hardware(&c->known, out, name, error);
}

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    struct comparing *const c = context;
    return roof_asking_known_model(c->asking, &c->known, out, name, layout, error);
}

static enum roof_status on_formats(void *context, const struct roof_named **out, const char *name,
                                   const char *model, struct roof_error *error)
{
    struct comparing *const c = context;
    return roof_asking_known_formats(c->asking, &c->known, out, name, model, error);
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
    roof_report_lost(&c->lost, c->asking->form.rows, row, &loss);
    c->row[c->count++] = (struct roof_lost_row){loss.lost_s, at, c->lost.length - at};
    return c->lost.failed ? roof_no_memory(error) : ROOF_OK;
}

/* Keeps a measured value for the fit. */
static enum roof_status keep_value(struct comparing *c, const struct roof_compared *row,
                                   struct roof_error *error)
{
    if (isnan(row->expected_s)) {
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

static void remark_backend(struct comparing *c, const struct roof_records *records,
                           const char *stack)
{
    const struct roof_listener *const listener = c->asking->listener;
    struct roof_error remark;
    if (c->backend || listener->remark == NULL) {
        return;
    }
    c->backend = true;
    (void)roof_error_set(&remark, ROOF_OK,
                         "%s: its backend is %s, so times are expected for that engine, as "
                         "with " ROOF_KEY("stack") " %s",
                         records->name, stack, stack);
    listener->remark(listener->context, &remark);
}

/* Takes the stack from the result of a serving benchmark, unless the question has one. */
static void on_begin(void *context, const struct roof_records *records)
{
    struct comparing *const c = context;
    struct roof_scenario *const base = &c->in.base;
    if (c->in.stack || roof_records_has(records, "stack")) {
        return;
    }
    enum roof_stack stack = ROOF_STACK_BEST;
    for (size_t i = 0; i < records->columns; i++) {
        if (strcmp(records->column[i], "backend") == 0) {
            stack = stack_of(records->cell[i]);
        }
    }
    base->common.stack = stack;
    if (stack != ROOF_STACK_BEST) {
        base->host_time[stack] = c->in.host_time[stack];
        remark_backend(c, records, roof_stack_name(stack));
    }
}

/* A summary has a line for each value where there are so few. */
#define LINES_MAX 20

static enum roof_status on_row(void *context, const struct roof_compared *row,
                               struct roof_error *error)
{
    struct comparing *const c = context;
    if (c->in.fits) {
        return keep_value(c, row, error);
    }
    if (!isnan(c->in.below)) {
        return row->time_s < c->in.below * row->measured_s ? keep_row(c, row, error) : ROOF_OK;
    }
    if (!c->in.rows) {
        if (!c->in.summary && c->told++ < LINES_MAX) {
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
        "%s has no column hardware: its rows are predicted for the default, " ROOF_DEFAULT_HARDWARE,
        records->name);
    listener->remark(listener->context, &remark);
}

static enum roof_status on_end(void *context, const struct roof_records *records,
                               struct roof_error *error)
{
    const struct comparing *const c = context;
    remark_default(c, records);
    return roof_asking_misspelt(c->asking, records, error);
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
    return name == NULL ? ROOF_OK : on_model(c, &model, name, "", error);
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
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("compare_fit") " needs a summary: give " ROOF_KEY("format") " text or json");
    }
    if (!in->rows && !a->form.document) {
        return roof_error_set(error, ROOF_USAGE,
                              "compare writes rows as csv or ndjson and a summary as text or json");
    }
    if (in->rows && in->group_by != NULL) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("group_by") " needs a summary: give " ROOF_KEY("format") " text or json");
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
    in->device = roof_asking_has(a, ROOF_INPUT_HARDWARE);
    in->summary = roof_asking_has(a, ROOF_INPUT_SUMMARY);
    in->rows = !in->summary && (a->form.format == ROOF_CSV || a->form.format == ROOF_NDJSON);
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
    TRY(roof_read_host_time(&engines, q, true, error));
    memcpy(in->host_time, engines.host_time, sizeof in->host_time);
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
    } else if (c->asking->form.report && c->count > 0) {
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
    } else if (c->asking->form.report) {
        roof_report_losses(&c->text, false, c->in.below, comparison->overall.rows, c->count,
                           lost_s);
    }
}

static enum roof_status finish(struct comparing *c, const struct roof_comparison *comparison,
                               struct roof_error *error)
{
    if (comparison->overall.rows + comparison->overall.skipped == 0) {
        return roof_error_at(error, ROOF_INVALID, c->in.file, 0, 0, "no records");
    }
    if (!isnan(c->in.below)) {
        put_lost(c, comparison);
    } else if (!c->in.rows) {
        struct roof_scale_fit fit;
        if (c->in.fits) {
            TRY(roof_scale_fit(&fit, c->value, c->values, c->again, error));
        }
        if (c->told > 0 && c->told <= LINES_MAX) {
            roof_report_compared_heading(&c->text);
            roof_text_add(&c->text, c->lost.data, c->lost.length);
            roof_text_put(&c->text, "\n");
        }
        roof_report_comparison(&c->text, c->asking->form.format == ROOF_JSON, comparison,
                               c->in.fits ? &fit : NULL);
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
    const bool each = in->rows || in->fits || lost || c->asking->form.report;
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
    struct comparing c = {
        .asking = a, .in = {.below = ROOF_UNKNOWN}, .lost = ROOF_TEXT_INIT, .text = ROOF_TEXT_INIT};
    const enum roof_status status = answer(&c, error);
    roof_text_free(&c.text);
    roof_text_free(&c.lost);
    free(c.row);
    for (size_t i = 0; i < c.values; i++) {
        roof_scale_row_free(&c.value[i]);
    }
    free(c.value);
    free(c.again);
    roof_known_free(&c.known);
    return status;
}
