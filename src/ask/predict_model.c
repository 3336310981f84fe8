// SPDX-License-Identifier: MIT
/* Answers `predict` of a model. */
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "report/advice_report.h"
#include "report/model_report.h"
#include "report/report.h"
#include "report/survey_report.h"
#include "roofline/version.h"

/* The question about one model. */
struct model_input {
    struct roof_scenario scenario;
    const struct roof_model *model;
    const struct roof_model *draft;
    const struct roof_hardware *hardware;
    const struct roof_hardware *product; /* of a device as the documents specify it */
    int64_t top;                         /* operators to show; 0: not given */
    bool why;
    bool phase;   /* one is given */
    bool columns; /* they are chosen */
};

/* The results; large. */
struct model_answer {
    struct roof_model_prediction prediction;
    struct roof_model_prediction other;
    struct roof_limits limits;
    struct roof_survey *advice; /* NULL: it is not asked */
    struct roof_table table;
};

static enum roof_status read_input(struct model_input *out, struct roof_asking *a,
                                   struct roof_error *error)
{
    const struct roof_question *const q = a->question;
    *out = (struct model_input){.why = roof_asking_has(a, ROOF_INPUT_WHY),
                                .phase = roof_asking_has(a, ROOF_INPUT_PHASE),
                                .columns = roof_asking_has(a, ROOF_INPUT_COLUMNS)};
    if (q->model_name == NULL) {
        return roof_which_model(error);
    }
    TRY(roof_read_scenario(&out->scenario, q, error));
    TRY(roof_asking_hardware(&out->hardware, a, NULL, error));
    TRY(roof_asking_model(&out->model, a, q, q->model_name, error));
    TRY(roof_asking_draft(&out->draft, &out->scenario, a, error));
    return roof_read_product(&out->product, &a->loans, out->hardware, error);
}

/* Reads how many operators are shown, and refuses what the format cannot show. */
static enum roof_status check_output(struct model_input *in, struct model_answer *m,
                                     struct roof_asking *a, struct roof_error *error)
{
    TRY(roof_table_open(&m->table, roof_asking_rows(a), ROOF_TABLE_MODEL_PREDICTIONS,
                        ROOF_OPERATOR_GEMM, a->question->value[ROOF_INPUT_COLUMNS], error));
    TRY(roof_read_integer(&in->top, a->question, ROOF_INPUT_TOP, error));
    if (in->why && m->prediction.count == 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("why") " of a model goes with " ROOF_KEY(
                                  "phase") ", for the operators of one pass");
    }
    if (in->why && !roof_asking_report(a)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("why") " of a model goes with " ROOF_KEY("format") " text");
    }
    if (roof_asking_has(a, ROOF_INPUT_BLOCKS) && m->prediction.count == 0) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("blocks") " goes with " ROOF_KEY("phase") ", for the operators of one pass");
    }
    if (roof_asking_has(a, ROOF_INPUT_BLOCKS) && !roof_asking_document(a)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("blocks") " goes with " ROOF_KEY("format") " text or json");
    }
    if (roof_asking_has(a, ROOF_INPUT_ADVISE) && !roof_asking_document(a)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("advise") " goes with " ROOF_KEY(
                                  "format") " text or json; the report in md has it always");
    }
    /* Tables and JSON have all operators, or none. */
    if (in->top > 0 && !roof_asking_report(a) && (a->format != ROOF_MARKDOWN || in->columns)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("top") " of a model goes with " ROOF_KEY(
                                  "format") " text or md, without " ROOF_KEY("columns"));
    }
    return ROOF_OK;
}

/* Writes each step of one operator. */
static enum roof_status put_trace(struct roof_text *out, const struct roof_node_prediction *n,
                                  struct roof_error *error)
{
    struct roof_trace trace = {0};
    const enum roof_status status = roof_trace_prediction(&trace, &n->prediction, error);
    if (status == ROOF_OK) {
        roof_text_printf(out, "\n%s: ", n->node.name);
        roof_report_workload(out, &n->prediction.workload);
        roof_text_put(out, "\n");
        roof_report_why(out, &trace);
    }
    roof_trace_free(&trace);
    return status;
}

/* Writes each step of the operators that the table shows. */
static enum roof_status put_why(struct roof_text *out, const struct roof_model_prediction *p,
                                size_t top, struct roof_error *error)
{
    size_t order[ROOF_GRAPH_MAX];
    const size_t count = roof_model_report_order(order, p);
    for (size_t i = 0; i < count && i < top; i++) {
        TRY(put_trace(out, &p->node[order[i]], error));
    }
    return ROOF_OK;
}

/* Writes the whole report, in Markdown. */
static enum roof_status write_report(struct roof_text *out, const struct model_input *in,
                                     const struct roof_question *question, struct roof_error *error)
{
    struct roof_survey *survey = NULL;
    struct roof_text command = ROOF_TEXT_INIT;
    TRY(roof_survey_run(&survey, in->model, &in->scenario, !in->phase, in->hardware, error));
    roof_asking_command(&command, question);
    const struct roof_survey_about about = {.product = in->product,
                                            .command = command.data == NULL ? "" : command.data,
                                            .version = roof_version(),
                                            .top = in->top > 0 ? (size_t)in->top : ROOF_GRAPH_MAX};
    roof_survey_report(out, survey, &about);
    out->failed = out->failed || command.failed;
    roof_text_free(&command);
    roof_survey_free(survey);
    return ROOF_OK;
}

static enum roof_status write_model(struct roof_text *out, const struct model_input *in,
                                    struct model_answer *m, const struct roof_asking *a,
                                    struct roof_error *error)
{
    const size_t top = in->top > 0 ? (size_t)in->top : ROOF_TOP_DEFAULT;
    if (a->format == ROOF_MARKDOWN && !in->columns) {
        return write_report(out, in, a->question, error);
    }
    if (roof_asking_report(a)) {
        roof_model_report_text(out, &m->prediction, &m->limits, top,
                               roof_asking_has(a, ROOF_INPUT_WIDE), in->product);
        if (m->advice != NULL) {
            roof_report_survey_advice(out, false, m->advice);
        }
        return in->why ? put_why(out, &m->prediction, top, error) : ROOF_OK;
    }
    if (a->format == ROOF_JSON) {
        roof_model_report_json(out, &m->prediction, &m->limits, in->product, m->advice);
        return ROOF_OK;
    }
    roof_table_begin(&m->table, out);
    roof_table_model_prediction(&m->table, out, &m->prediction);
    roof_table_end(&m->table, out);
    return ROOF_OK;
}

static enum roof_status answer(struct roof_text *out, struct model_answer *m, struct roof_asking *a,
                               struct roof_error *error)
{
    struct model_input in;
    TRY(read_input(&in, a, error));
    TRY(roof_predict_model(&m->prediction, in.model, &in.scenario, in.hardware, error));
    if (roof_asking_document(a)) {
        TRY(roof_model_limits(&m->limits, &m->prediction, &in.scenario, error));
        if (roof_asking_has(a, ROOF_INPUT_FUSE)) {
            TRY(roof_model_fusion(&m->limits.fusion, &m->other, in.model, &in.scenario, in.hardware,
                                  error));
        }
    }
    TRY(check_output(&in, m, a, error));
    if (roof_asking_has(a, ROOF_INPUT_BLOCKS)) {
        roof_model_blocks(&m->limits.blocks, &m->prediction);
    }
    if (roof_asking_has(a, ROOF_INPUT_ADVISE)) {
        TRY(roof_survey_levers(&m->advice, in.model, &in.scenario, in.hardware, error));
    }
    return write_model(out, &in, m, a, error);
}

enum roof_status roof_ask_predict_model(struct roof_text *out, struct roof_asking *a,
                                        struct roof_error *error)
{
    struct model_answer *const m = calloc(1, sizeof *m);
    if (m == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = answer(out, m, a, error);
    roof_survey_free(m->advice);
    free(m);
    return status;
}
