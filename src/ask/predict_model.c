// SPDX-License-Identifier: MIT
/* Answers `predict` for a model. */
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "chart/chart_text.h"
#include "report/advice_report.h"
#include "report/model_report.h"
#include "report/operator_table.h"
#include "report/report.h"
#include "report/survey_report.h"
#include "roofline/version.h"

/* The question about a model. */
struct model_input {
    struct roof_subject subject;
    const struct roof_hardware *hardware;
    const struct roof_hardware *product; /* for a device that follows the source documents */
    int64_t top;                         /* number of operators to show; 0: not given */
    struct roof_form form;
    struct roof_text command; /* for a report in Markdown; owned */
    bool markdown;            /* the answer is a report in Markdown */
    bool why;
    bool phase; /* the question has a phase */
    bool blocks;
    bool advise;
    bool fuse;
    bool wide;
};

/* The results; large. */
struct model_answer {
    struct roof_model_prediction prediction;
    struct roof_model_prediction other;
    struct roof_limits limits;
    struct roof_survey *advice; /* NULL: not requested */
    struct roof_table table;
};

static enum roof_status read_input(struct model_input *out, struct roof_asking *a,
                                   struct roof_error *error)
{
    static const char *const own[] = {NULL};
    *out =
        (struct model_input){.why = roof_asking_has(a, ROOF_INPUT_WHY),
                             .phase = roof_asking_has(a, ROOF_INPUT_PHASE),
                             .blocks = roof_asking_has(a, ROOF_INPUT_BLOCKS),
                             .advise = roof_asking_has(a, ROOF_INPUT_ADVISE),
                             .fuse = roof_asking_has(a, ROOF_INPUT_FUSE),
                             .wide = roof_asking_has(a, ROOF_INPUT_WIDE),
                             .markdown = a->form.format == ROOF_MARKDOWN && a->form.columns == NULL,
                             .form = a->form};
    if (out->markdown) {
        roof_asking_command(&out->command, "predict", a->question);
        roof_text_put(&out->command, " -f md");
    }
    TRY(roof_asking_subject(&out->subject, &out->hardware, own, 1, a, error));
    TRY(roof_read_integer(&out->top, a->question, ROOF_INPUT_TOP, error));
    return roof_read_product(&out->product, &a->loans, out->hardware, error);
}

/* Tells whether the question is about a whole request, which has no operators of a single pass. */
static enum roof_status check_request(bool *out, const struct model_input *in,
                                      struct roof_error *error)
{
    struct roof_scenario resolved = in->subject.scenario;
    TRY(roof_scenario_resolve(&resolved, in->subject.model, error));
    *out = resolved.phase == ROOF_PHASE_REQUEST;
    return ROOF_OK;
}

/* Refuses results that the format cannot show. */
static enum roof_status check_output(const struct model_input *in, struct model_answer *m,
                                     struct roof_error *error)
{
    bool request = false;
    if (in->why || in->blocks) {
        TRY(check_request(&request, in, error));
    }
    TRY(roof_table_open(&m->table, in->form.rows, ROOF_TABLE_MODEL_PREDICTIONS, ROOF_OPERATOR_GEMM,
                        in->form.columns, error));
    if (in->why && request) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("why") " of a model shows the operators of one phase: give " ROOF_KEY(
                "phase") " decode or prefill in place of " ROOF_KEY("prompt") " and " ROOF_KEY("gen"
                                                                                               "era"
                                                                                               "t"
                                                                                               "e"));
    }
    if (in->why && !in->form.report) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("why") " of a model needs " ROOF_KEY("format") " text");
    }
    if (in->blocks && request) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("blocks") " shows the operators of one phase: give " ROOF_KEY(
                "phase") " decode or prefill in place of " ROOF_KEY("prompt") " and " ROOF_KEY("gen"
                                                                                               "era"
                                                                                               "t"
                                                                                               "e"));
    }
    if (in->blocks && !in->form.document) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("blocks") " needs " ROOF_KEY("format") " text or json");
    }
    if (in->advise && !in->form.document) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("advise") " needs " ROOF_KEY(
                                  "format") " text or json; the md report always includes it");
    }
    /* Tables and JSON have all operators, or none. */
    if (in->top > 0 && !in->form.report && !in->markdown) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("top") " of a model needs " ROOF_KEY(
                                  "format") " text or md, without " ROOF_KEY("columns"));
    }
    return ROOF_OK;
}

/* Writes the calculation steps of an operator. */
static enum roof_status put_trace(struct roof_text *out, const struct roof_node_prediction *n,
                                  const struct roof_hardware *device, struct roof_error *error)
{
    struct roof_trace trace = {0};
    const enum roof_status status =
        roof_trace_node(&trace, &n->node, &n->prediction, device, error);
    if (status == ROOF_OK) {
        const size_t from = out->length + 1;
        roof_text_printf(out, "\n%s: ", n->node.name);
        roof_report_workload(out, &n->prediction.workload);
        roof_text_fold(out, from, 4);
        roof_text_put(out, "\n");
        roof_report_why(out, &trace);
    }
    roof_trace_free(&trace);
    return status;
}

/* Writes the calculation steps of the operators in the table. */
static enum roof_status put_why(struct roof_text *out, const struct roof_model_prediction *p,
                                size_t top, struct roof_error *error)
{
    size_t order[ROOF_GRAPH_MAX];
    const size_t listed = roof_model_report_listed(order, p, top);
    for (size_t i = 0; i < listed; i++) {
        TRY(put_trace(out, &p->node[order[i]], p->total.hardware, error));
    }
    return ROOF_OK;
}

/* The width of the chart in a report, which fits on a page of GitHub. */
#define CHART_COLUMNS 90
#define CHART_TOP 5

/* Adds the device and the slowest operators of both phases. */
static enum roof_status fill_chart(struct roof_chart *chart, const struct roof_survey *s,
                                   const struct roof_hardware *hardware, struct roof_error *error)
{
    TRY(roof_chart_add_roof(chart, hardware, NULL, false, error));
    if (s->decode.base != NULL) {
        TRY(roof_chart_add_model(chart, s->decode.base, "decode", CHART_TOP, error));
    }
    return s->prefill.base == NULL
               ? ROOF_OK
               : roof_chart_add_model(chart, s->prefill.base, "prefill", CHART_TOP, error);
}

/* Draws the chart of a report; a device with unknown bandwidth or peaks has none. */
static enum roof_status draw_report(struct roof_text *out, const struct roof_survey *s,
                                    const struct roof_hardware *hardware, struct roof_error *error)
{
    static const struct roof_chart_look look = {.columns = CHART_COLUMNS};
    struct roof_chart *const chart = calloc(1, sizeof *chart);
    if (chart == NULL) {
        return roof_no_memory(error);
    }
    struct roof_error why = {0};
    roof_chart_init(chart);
    enum roof_status status = fill_chart(chart, s, hardware, &why);
    if (status == ROOF_OK) {
        status = roof_chart_text(out, chart, &look, &why);
    }
    roof_chart_free(chart);
    free(chart);
    if (status == ROOF_USAGE) {
        return ROOF_OK;
    }
    if (status != ROOF_OK && error != NULL) {
        *error = why;
    }
    return status;
}

/* Writes the whole report, in Markdown. */
static enum roof_status write_report(struct roof_text *out, const struct model_input *in,
                                     struct roof_error *error)
{
    struct roof_survey *survey = NULL;
    struct roof_text chart = ROOF_TEXT_INIT;
    TRY(roof_survey_run(&survey, in->subject.model, &in->subject.scenario, !in->phase, in->hardware,
                        error));
    const enum roof_status status = draw_report(&chart, survey, in->hardware, error);
    const struct roof_survey_about about = {.product = in->product,
                                            .chart = chart.data,
                                            .command =
                                                in->command.data == NULL ? "" : in->command.data,
                                            .version = roof_version(),
                                            .top = in->top > 0 ? (size_t)in->top : ROOF_GRAPH_MAX};
    roof_survey_report(out, survey, &about);
    out->failed |= in->command.failed;
    out->failed |= chart.failed;
    roof_text_free(&chart);
    roof_survey_free(survey);
    return status;
}

static enum roof_status write_model(struct roof_text *out, const struct model_input *in,
                                    struct model_answer *m, struct roof_error *error)
{
    const size_t top = (size_t)in->top; /* 0: not given */
    if (in->markdown) {
        return write_report(out, in, error);
    }
    if (in->form.report) {
        roof_model_report_text(out, &m->prediction, &m->limits, top, in->wide, in->product);
        if (m->advice != NULL) {
            roof_report_survey_advice(out, false, m->advice);
        }
        return in->why ? put_why(out, &m->prediction, top, error) : ROOF_OK;
    }
    if (in->form.format == ROOF_JSON) {
        roof_model_report_json(out, &m->prediction, &m->limits, in->product, m->advice);
        return ROOF_OK;
    }
    roof_table_begin(&m->table, out);
    roof_table_model_prediction(&m->table, out, &m->prediction);
    roof_table_end(&m->table, out);
    return ROOF_OK;
}

static enum roof_status answer(struct roof_text *out, struct model_answer *m,
                               const struct model_input *in, struct roof_error *error)
{
    const struct roof_subject *const subject = &in->subject;
    TRY(check_output(in, m, error));
    TRY(roof_predict_model(&m->prediction, subject->model, &subject->scenario, in->hardware,
                           error));
    if (in->form.document) {
        TRY(roof_model_limits(&m->limits, &m->prediction, &subject->scenario, error));
        TRY(roof_model_time_room(&m->limits, &m->prediction, &subject->scenario, error));
        if (in->fuse) {
            TRY(roof_model_fusion(&m->limits.fusion, &m->other, subject->model, &subject->scenario,
                                  in->hardware, error));
        }
    }
    if (in->blocks) {
        roof_model_blocks(&m->limits.blocks, &m->prediction);
    }
    if (in->advise) {
        TRY(roof_survey_levers(&m->advice, subject->model, &subject->scenario, in->hardware,
                               error));
    }
    return write_model(out, in, m, error);
}

enum roof_status roof_ask_predict_model(struct roof_text *out, struct roof_asking *a,
                                        struct roof_error *error)
{
    struct model_answer *const m = calloc(1, sizeof *m);
    if (m == NULL) {
        return roof_no_memory(error);
    }
    struct model_input in;
    enum roof_status status = read_input(&in, a, error);
    if (status == ROOF_OK) {
        status = answer(out, m, &in, error);
    }
    roof_text_free(&in.command);
    roof_survey_free(m->advice);
    free(m);
    return status;
}
