// SPDX-License-Identifier: MIT
/* Answers `recommend` for a model: how to serve it. */
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "ask/curves.h"
#include "ask/draw.h"
#include "ask/explain.h"
#include "ask/rates.h"
#include "base/base.h"
#include "base/list.h"
#include "decide/emit.h"
#include "decide/pair.h"
#include "decide/plan_inputs.h"
#include "report/plan_report.h"

/* The question, and the objects loaded for it. */
struct plans_input {
    struct roof_plan_inputs inputs;
    const struct roof_engines *engines;
    int64_t *batch; /* owned, like the other list */
    int64_t *devices;
    const struct roof_hardware *hardware[ROOF_PLAN_HARDWARE_MAX];
    const struct roof_hardware *product[ROOF_PLAN_HARDWARE_MAX];
    size_t hardware_count;
    double price[ROOF_PLAN_HARDWARE_MAX];
    char side[2][ROOF_PAIR_NAME_SIZE]; /* sides of `explain`; "" without it */
    struct rates_input rates;          /* inputs of `rate` */
    int64_t top;                       /* number of plans to show */
    struct roof_kept_columns kept;
    struct roof_drawing_size size; /* of a chart, if one is drawn */
    bool rated;                    /* the question has `rate` */
    const char *model_name;
};

/* --- the question -------------------------------------------------------------------------- */

static enum roof_status load_device(struct plans_input *in, const char *list, size_t length,
                                    struct roof_asking *a, struct roof_error *error)
{
    if (length == 0 || in->hardware_count == ROOF_PLAN_HARDWARE_MAX) {
        return roof_error_set(error, ROOF_USAGE, ROOF_KEY("hardware") " may list 1 to %d names",
                              ROOF_PLAN_HARDWARE_MAX);
    }
    char *const name = strndup(list, length);
    if (name == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status =
        roof_asking_hardware(&in->hardware[in->hardware_count], a, name, error);
    free(name);
    in->price[in->hardware_count] = ROOF_UNKNOWN;
    in->hardware_count += status == ROOF_OK;
    return status;
}

static enum roof_status load_default(struct plans_input *in, struct roof_asking *a,
                                     struct roof_error *error)
{
    in->price[0] = ROOF_UNKNOWN;
    in->hardware_count = 1;
    return roof_asking_hardware(&in->hardware[0], a, NULL, error);
}

/* Loads the devices of a list "a,b,c". */
static enum roof_status load_hardware(struct plans_input *in, const char *list,
                                      struct roof_asking *a, struct roof_error *error)
{
    struct roof_list_item item;
    for (const char *rest = list; roof_list_next(&item, &rest);) {
        TRY(load_device(in, item.text, item.length, a, error));
    }
    return ROOF_OK;
}

static enum roof_status copy_values(int64_t **out, size_t *count, const struct roof_values *values,
                                    const char *text, struct roof_error *error)
{
    if (values->count > ROOF_PLAN_VALUES_MAX) {
        return roof_error_set(error, ROOF_USAGE, "'%s' has more than %d values", text,
                              ROOF_PLAN_VALUES_MAX);
    }
    *count = (size_t)values->count;
    *out = malloc((*count + 1) * sizeof **out);
    if (*out == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < *count; i++) {
        (*out)[i] = roof_values_at(values, (int64_t)i);
    }
    return ROOF_OK;
}

/* Reads the values of a list or range; without one *out stays NULL. */
static enum roof_status read_list(int64_t **out, size_t *count, const char *text, size_t input,
                                  struct roof_error *error)
{
    struct roof_values values;
    if (text == NULL) {
        return ROOF_OK;
    }
    TRY(roof_input_parse_list(&values, roof_input(input), text, error));
    const enum roof_status status = copy_values(out, count, &values, text, error);
    roof_values_free(&values);
    return status;
}

/* Reads the batches: numbers, and "max" for the largest that fits. */
static enum roof_status read_batches(struct plans_input *in, const struct roof_asking *a,
                                     struct roof_error *error)
{
    const char *const text = a->question->value[ROOF_DIM_BATCH];
    struct roof_text numbers = ROOF_TEXT_INIT;
    struct roof_list_item item;
    size_t count = 0;
    for (const char *rest = text; roof_list_next(&item, &rest);) {
        const bool max = item.length == 3 && strncmp(item.text, "max", item.length) == 0;
        in->inputs.largest = in->inputs.largest || max;
        if (!max) {
            roof_text_put(&numbers, count++ == 0 ? "" : ",");
            roof_text_add(&numbers, item.text, item.length);
        }
    }
    const char *const list = numbers.length == 0 ? "" : numbers.data;
    const enum roof_status status =
        numbers.failed ? roof_no_memory(error)
                       : read_list(&in->batch, &in->inputs.batches, count == 0 ? NULL : list,
                                   ROOF_DIM_BATCH, error);
    roof_text_free(&numbers);
    return status;
}

/* Refuses inputs that do not affect a search for plans. */
static enum roof_status check_inputs(const struct roof_asking *a, struct roof_error *error)
{
    static const size_t unsaid[] = {ROOF_INPUT_CLASS, ROOF_INPUT_SPARSE};
    const bool emit = roof_asking_has(a, ROOF_INPUT_EMIT);
    const bool classes = a->question->classes.count > 0;
    if (emit && a->form.format != ROOF_TEXT) {
        return roof_error_set(error, ROOF_USAGE, ROOF_KEY("emit") " writes a script: leave out %s",
                              ROOF_KEY("format"));
    }
    if (emit && a->form.columns != NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("emit") " writes a script: leave out " ROOF_KEY("columns"));
    }
    if (emit && roof_asking_has(a, ROOF_INPUT_TOP)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("emit") " writes one plan only: leave out " ROOF_KEY("top"));
    }
    if (a->question->model_name == NULL) {
        return roof_which_model(error);
    }
    for (size_t i = 0; i < COUNT(unsaid) && emit; i++) {
        if (roof_asking_has(a, unsaid[i]) || (unsaid[i] == ROOF_INPUT_CLASS && classes)) {
            char name[ROOF_INPUT_NAME_SIZE];
            return roof_error_set(error, ROOF_USAGE,
                                  ROOF_KEY("emit") " writes no engine options for %s: leave it out",
                                  roof_input_marked(name, roof_input(unsaid[i])));
        }
    }
    return ROOF_OK;
}

/* Reads the objective and the constraints of the search. */
static enum roof_status read_constraints(struct roof_plan_inputs *out, const struct roof_asking *a,
                                         struct roof_error *error)
{
    const struct roof_question *const q = a->question;
    const char *const loss = q->value[ROOF_INPUT_MAX_ACCURACY_LOSS];
    int64_t choice = 0;
    if (roof_asking_has(a, ROOF_INPUT_BY)) {
        TRY(roof_read_choice(&choice, q, ROOF_INPUT_BY, error));
        out->ranking = (enum roof_ranking)choice;
    }
    if (roof_asking_has(a, ROOF_INPUT_OBJECTIVE)) {
        if (roof_read_choice(&choice, q, ROOF_INPUT_OBJECTIVE, NULL) != ROOF_OK) {
            choice = -1; /* unknown: refused like an objective of operators */
        }
        TRY(roof_plan_read_objective(&out->objective, choice, error));
    }
    out->loss_given = loss != NULL;
    TRY(roof_read_choice(&choice, q, ROOF_INPUT_KIND, error));
    out->kind = (enum roof_plan_kind)choice;
    if (out->kind == ROOF_PLAN_DISAGGREGATED && roof_asking_has(a, ROOF_INPUT_EMIT)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("emit") " writes aggregated plans only: leave out " ROOF_KEY("kind"));
    }
    if (loss != NULL) {
        TRY(roof_accuracy_find(&out->max_loss, loss, error));
    }
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        const enum roof_plan_limit limit = (enum roof_plan_limit)i;
        const char *const text = q->value[roof_plan_limit_input(limit)];
        const bool percentile = limit == ROOF_PLAN_LIMIT_TTFT || limit == ROOF_PLAN_LIMIT_TPOT;
        if (text != NULL && !(percentile && roof_ask_has_rates(a))) {
            TRY(roof_plan_read_limit(&out->limit[limit], limit, text, error));
        }
    }
    return ROOF_OK;
}

/* Reads the scenario that all plans share. The batches and the numbers of devices are lists outside
 * it. */
static enum roof_status read_scenario(struct plans_input *in, const struct roof_asking *a,
                                      struct roof_error *error)
{
    struct roof_plan_inputs *const inputs = &in->inputs;
    struct roof_question single;
    roof_question_borrow(&single, a->question);
    single.value[ROOF_DIM_BATCH] = single.value[ROOF_DIM_DEVICES] = NULL;
    in->rated = roof_ask_has_rates(a);
    if (in->rated) { /* lengths may be distributions */
        single.value[ROOF_INPUT_PROMPT] = single.value[ROOF_INPUT_GENERATE] = NULL;
    }
    TRY(roof_read_scenario(&inputs->base, &single, error));
    TRY(check_inputs(a, error));
    TRY(read_constraints(inputs, a, error));
    TRY(read_batches(in, a, error));
    TRY(read_list(&in->devices, &inputs->device_counts, a->question->value[ROOF_DIM_DEVICES],
                  ROOF_DIM_DEVICES, error));
    inputs->batch = in->batch;
    inputs->devices = in->devices;
    inputs->formats = single.value[ROOF_INPUT_FORMATS];
    inputs->engine = single.value[ROOF_INPUT_ENGINE];
    inputs->emit = single.value[ROOF_INPUT_EMIT];
    inputs->layout = single.value[ROOF_INPUT_LAYOUT];
    inputs->stack_given = roof_asking_has(a, ROOF_INPUT_STACK);
    inputs->native_only = roof_asking_has(a, ROOF_INPUT_NATIVE_ONLY);
    inputs->explain = a->form.document || roof_form_is_markdown(&a->form);
    return in->rated ? roof_read_rates(&in->rates, inputs, a, error) : roof_refuse_load(a, error);
}

/* Reads `explain` A,B; if these are devices, *devices becomes its text, because there are no
 * others. */
static enum roof_status read_sides(struct plans_input *in, const char **devices,
                                   const struct roof_asking *a, struct roof_error *error)
{
    const char *const text = a->question->value[ROOF_INPUT_EXPLAIN];
    bool formats = false;
    if (text == NULL) {
        return ROOF_OK;
    }
    TRY(roof_pair_split(in->side, text, error));
    TRY(roof_check_explain_top(a, error));
    in->inputs.side[0] = in->side[0];
    in->inputs.side[1] = in->side[1];
    TRY(roof_plan_sides_are_formats(&formats, in->engines, in->inputs.side, error));
    if (!formats) {
        TRY(roof_pair_check_devices(in->side, *devices, text, error));
    }
    *devices = formats ? *devices : text;
    return a->form.document ? ROOF_OK
                            : roof_error_set(error, ROOF_USAGE,
                                             ROOF_KEY("explain") " of plans needs " ROOF_KEY(
                                                 "format") " text or json");
}

/* Borrows the model as in its file, and the draft model. The layout belongs to the plans. */
static enum roof_status read_models(struct plans_input *in, struct roof_asking *a,
                                    struct roof_error *error)
{
    struct roof_question plain;
    const struct roof_model *draft = NULL;
    roof_question_borrow(&plain, a->question);
    plain.value[ROOF_INPUT_LAYOUT] = NULL;
    TRY(roof_asking_model(&in->inputs.model, a, &plain, plain.model_name, error));
    TRY(roof_read_draft(&draft, &in->inputs.base, &a->loans, a->question, false, error));
    if (draft != NULL) {
        roof_asking_remark(a, draft);
    }
    TRY(roof_read_host_time(&in->inputs.base, &a->loans, a->question, true, error));
    return roof_read_host(&in->inputs.base, &a->loans, a->question, false, error);
}

static enum roof_status read_input(struct plans_input *in, struct roof_asking *a,
                                   struct roof_error *error)
{
    struct roof_plan_inputs *const inputs = &in->inputs;
    const struct roof_question *const q = a->question;
    const char *devices = q->value[ROOF_INPUT_HARDWARE];
    roof_plan_inputs_init(inputs);
    TRY(read_scenario(in, a, error));
    TRY(roof_loan_engines(&in->engines, &a->loans, error));
    TRY(read_sides(in, &devices, a, error));
    TRY(devices == NULL ? load_default(in, a, error) : load_hardware(in, devices, a, error));
    inputs->engines = in->engines;
    for (size_t h = 0; h < in->hardware_count; h++) {
        TRY(roof_read_product(&in->product[h], &a->loans, in->hardware[h], error));
    }
    inputs->hardware = in->hardware;
    inputs->product = in->product;
    inputs->hardware_count = in->hardware_count;
    for (int i = 0; i < q->prices.count; i++) {
        TRY(roof_plan_read_prices(in->price, inputs->hardware, inputs->hardware_count,
                                  q->prices.value[i], error));
    }
    inputs->price = in->price;
    inputs->checkpoint = &q->checkpoint;
    TRY(read_models(in, a, error));
    inputs->directories = roof_store_folders(a->loans.store);
    inputs->halt = roof_asking_halt(a);
    TRY(roof_asking_threads(&inputs->threads, a, error));
    roof_read_kept_columns(&in->kept, q);
    if (roof_asking_drawn(a)) {
        TRY(roof_read_drawing_size(&in->size, a, error));
    }
    in->model_name = q->model_name;
    in->top = a->form.format == ROOF_TEXT || roof_form_is_markdown(&a->form) ? ROOF_TOP_DEFAULT
                                                                             : INT64_MAX;
    return roof_read_integer(&in->top, q, ROOF_INPUT_TOP, error);
}

/* --- documents ----------------------------------------------------------------------------- */

static void write_table(struct roof_text *out, struct roof_table *table,
                        const struct roof_plan_answer *answer, int64_t top)
{
    roof_table_begin(table, out);
    for (size_t i = 0; i < answer->plans.count && (int64_t)i < top; i++) {
        struct roof_plan_row row;
        roof_plan_name(&row, &answer->plans.plan[i], (int)i + 1, &answer->problem);
        roof_table_plan(table, out, &row);
    }
    roof_table_end(table, out);
}

/* Writes the results; for two sides to explain only the explanation. */
static void write_plans(struct roof_text *out, struct roof_table *table,
                        const struct roof_plan_answer *answer, const struct plans_input *in,
                        const struct roof_form *form)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    const struct roof_plan_speedup *const speedup = answer->explained ? &answer->speedup : NULL;
    const bool sides = in->inputs.side[0] != NULL && speedup != NULL;
    if (form->report && sides) {
        roof_plan_report_why_text(out, speedup, &answer->plans.plan[0], problem, (size_t)in->top);
    } else if (form->report) {
        roof_plan_report_text(out, answer, (size_t)in->top, &in->kept);
    } else if (roof_form_is_markdown(form)) {
        roof_plan_report_markdown(out, answer, (size_t)in->top, &in->kept);
    } else if (form->format == ROOF_JSON && sides) {
        roof_plan_report_why_json(out, speedup, &answer->plans.plan[0], problem);
    } else if (form->format == ROOF_JSON) {
        roof_plan_report_json(out, answer, (size_t)in->top);
    } else {
        write_table(out, table, answer, in->top);
    }
}

/* Opens the table, which checks the columns; an image has none. */
static enum roof_status check_output(struct roof_table *table, bool rated,
                                     const struct roof_asking *a, struct roof_error *error)
{
    return roof_asking_drawn(a)
               ? ROOF_OK
               : roof_table_open(table, a->form.rows, rated ? ROOF_TABLE_RATES : ROOF_TABLE_PLANS,
                                 ROOF_OPERATOR_GEMM, a->form.columns, error);
}

/* Writes the plans, or the script that runs the best one; *found tells whether there is any. */
static enum roof_status write_answer(struct roof_text *out, struct roof_table *table,
                                     const struct roof_plan_answer *answer,
                                     const struct plans_input *in, struct roof_asking *a,
                                     enum roof_status *found, struct roof_error *error)
{
    if (answer->plans.count > 0 && in->rated) {
        return roof_ask_rates(out, table, &in->rates, answer, in->top, &in->kept, &a->form, found,
                              error);
    }
    *found = answer->plans.count == 0 ? ROOF_UNSATISFIED : ROOF_OK;
    if (roof_asking_drawn(a)) {
        return answer->plans.count == 0
                   ? roof_error_set(error, ROOF_UNSATISFIED,
                                    "there is no plan to draw; text output gives the reason")
                   : roof_ask_plan_curves(out, a, answer, &in->size, error);
    }
    if (in->rated) { /* no copies serve the rate: the report on plans has the reasons */
        TRY(check_output(table, false, a, error));
    }
    if (in->inputs.emit == NULL) {
        write_plans(out, table, answer, in, &a->form);
        return ROOF_OK;
    }
    *found = roof_emit(out, in->inputs.emit, answer->engine, &answer->plans,
                       answer->others.count == 0 ? NULL : &answer->others, &answer->problem,
                       in->model_name, error);
    return *found == ROOF_UNSATISFIED ? ROOF_OK : *found;
}

enum roof_status roof_ask_plans(struct roof_text *out, struct roof_asking *a,
                                enum roof_status *found, struct roof_error *error)
{
    struct roof_plan_answer *answer = NULL;
    struct roof_table table;
    struct plans_input *const in = calloc(1, sizeof *in);
    if (in == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = read_input(in, a, error);
    if (status == ROOF_OK) {
        status = check_output(&table, in->rated, a, error);
    }
    if (status == ROOF_OK) {
        status = roof_plan_answer_open(&answer, &in->inputs, error);
    }
    if (status == ROOF_OK) {
        status = write_answer(out, &table, answer, in, a, found, error);
    }
    roof_plan_answer_free(answer);
    roof_rates_close(&in->rates);
    free(in->batch);
    free(in->devices);
    free(in);
    return status;
}
