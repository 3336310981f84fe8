// SPDX-License-Identifier: MIT
/* Answers `predict` for an operator, and forwards other subjects. */
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "base/quantity.h"
#include "predict/kernel.h"
#include "predict/predict_sizes.h"
#include "report/report.h"

/* The question about an operator. */
struct operator_input {
    struct roof_scenario scenario;
    const struct roof_hardware *hardware;
    const struct roof_hardware *product; /* for a device that follows the source documents */
    double measured_s;                   /* 0: not given */
    struct roof_form form;
    bool why;
    bool tiling;
    bool advise;
};

/* The results. */
struct operator_answer {
    struct roof_prediction prediction;
    struct roof_prediction apart;
    struct roof_advice advice;
    struct roof_trace trace;
};

static enum roof_status read_input(struct operator_input *out, struct roof_asking *a,
                                   struct roof_error *error)
{
    const char *const measured = a->question->value[ROOF_INPUT_MEASURED];
    *out = (struct operator_input){.why = roof_asking_has(a, ROOF_INPUT_WHY),
                                   .tiling = roof_asking_has(a, ROOF_INPUT_TILING),
                                   .advise = roof_asking_has(a, ROOF_INPUT_ADVISE),
                                   .form = a->form};
    TRY(roof_read_scenario(&out->scenario, a->question, error));
    if (measured != NULL) {
        TRY(roof_parse_time(&out->measured_s, measured, ROOF_KEY("measured_us"), error));
    }
    struct roof_device_wish wish = roof_read_device_wish(a->question, roof_asking_bounds_only(a));
    wish.kernels = out->advise ? 0 : roof_operator_kernels(out->scenario.common.op);
    return roof_borrow_hardware(&out->hardware, &a->loans, &wish, error);
}

/* Opens the table of rows, which checks the columns, and refuses results that rows cannot show. */
static enum roof_status check_output(struct roof_table *table, const struct operator_input *in,
                                     const struct roof_question *question, struct roof_error *error)
{
    struct roof_kept_columns kept;
    if (in->form.document && in->form.columns == NULL) {
        return ROOF_OK;
    }
    TRY(roof_table_open(table, in->form.rows, ROOF_TABLE_PREDICTIONS, in->scenario.common.op,
                        in->form.columns, error));
    roof_read_kept_columns(&kept, question);
    roof_table_narrow(table, &kept, NULL);
    if ((in->why || in->tiling || in->advise) && !in->form.document) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("%s") " needs " ROOF_KEY("format") " text or json",
                              in->why      ? "why"
                              : in->tiling ? "tiling"
                                           : "advise");
    }
    return ROOF_OK;
}

static void write_prediction(struct roof_text *out, struct roof_table *table,
                             const struct operator_input *in, const struct operator_answer *answer)
{
    const struct roof_prediction *const p = &answer->prediction;
    const bool fused = roof_operator_row(p->workload.op)->fuse_count > 0;
    const struct roof_report_beside beside = {.product = in->product,
                                              .explanation = in->why ? &answer->trace : NULL,
                                              .apart = fused ? &answer->apart : NULL,
                                              .advice = in->advise ? &answer->advice : NULL,
                                              .tiling = in->tiling};
    if (in->form.report) {
        roof_report_text(out, p, &beside);
    } else if (in->form.format == ROOF_JSON) {
        roof_report_json(out, p, &beside);
    } else {
        roof_table_begin(table, out);
        roof_table_prediction(table, out, p);
        roof_table_end(table, out);
    }
}

/* Predicts the operator, with the further results beside it. */
static enum roof_status predict_all(struct operator_answer *answer, const struct operator_input *in,
                                    struct roof_error *error)
{
    struct roof_prediction *const p = &answer->prediction;
    TRY(roof_predict(p, &in->scenario.common, in->hardware, error));
    if (in->measured_s > 0) {
        roof_predict_measured(p, in->measured_s);
    }
    if (roof_operator_row(p->workload.op)->fuse_count > 0) {
        TRY(roof_predict_apart(&answer->apart, p, error));
    }
    if (in->advise) {
        TRY(roof_advise(&answer->advice, p, error));
    }
    return in->why ? roof_trace_prediction(&answer->trace, p, error) : ROOF_OK;
}

static enum roof_status predict_operator(struct roof_text *out, struct roof_asking *a,
                                         struct roof_error *error)
{
    struct operator_input in;
    struct operator_answer answer = {.trace = {0}};
    struct roof_table table;
    TRY(read_input(&in, a, error));
    TRY(check_output(&table, &in, a->question, error));
    enum roof_status status = predict_all(&answer, &in, error);
    if (status == ROOF_OK && in.form.document) {
        status = roof_read_product(&in.product, &a->loans, in.hardware, error);
    }
    if (status == ROOF_OK) {
        write_prediction(out, &table, &in, &answer);
    }
    roof_trace_free(&answer.trace);
    return status;
}

static enum roof_status ask(struct roof_text *out, struct roof_asking *a, struct roof_error *error)
{
    return roof_asking_has(a, ROOF_INPUT_EXPLAIN) ? roof_ask_explain(out, a, false, error)
           : roof_check_sides(a)                  ? roof_ask_sides(out, a, error)
           : a->question->graph != NULL           ? roof_ask_predict_graph(out, a, error)
           : a->question->model                   ? roof_ask_predict_model(out, a, error)
           : roof_asking_has(a, ROOF_INPUT_TILE)  ? roof_ask_tiles(out, a, error)
                                                  : predict_operator(out, a, error);
}

enum roof_status roof_ask_predict(struct roof_asking *a, struct roof_error *error)
{
    if (roof_asking_has(a, ROOF_INPUT_FROM)) {
        return roof_ask_records(a, error);
    }
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status status = ask(&text, a, error);
    if (status == ROOF_OK) {
        status = roof_asking_write(a, &text, error);
    }
    roof_text_free(&text);
    return status;
}
