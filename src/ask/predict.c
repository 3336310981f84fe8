// SPDX-License-Identifier: MIT
/* Answers `predict` of an operator, and sends everything else on. */
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "base/quantity.h"
#include "predict/predict_sizes.h"
#include "report/report.h"

/* The question about one operator. */
struct operator_input {
    struct roof_scenario scenario;
    const struct roof_hardware *hardware;
    const struct roof_hardware *product; /* of a device as the documents specify it */
    double measured_s;                   /* 0: not given */
    bool why;
    bool tiling;
};

static enum roof_status read_input(struct operator_input *out, struct roof_asking *a,
                                   struct roof_error *error)
{
    const char *const measured = a->question->value[ROOF_INPUT_MEASURED];
    *out = (struct operator_input){.why = roof_asking_has(a, ROOF_INPUT_WHY),
                                   .tiling = roof_asking_has(a, ROOF_INPUT_TILING)};
    TRY(roof_read_scenario(&out->scenario, a->question, error));
    if (measured != NULL) {
        TRY(roof_parse_time(&out->measured_s, measured, ROOF_KEY("measured_us"), error));
    }
    return roof_asking_hardware(&out->hardware, a, NULL, error);
}

/* Opens the table, which checks the columns, and refuses what rows cannot show. */
static enum roof_status check_output(struct roof_table *table, const struct operator_input *in,
                                     const struct roof_prediction *prediction,
                                     const struct roof_asking *a, struct roof_error *error)
{
    TRY(roof_table_open(table, roof_asking_rows(a), ROOF_TABLE_PREDICTIONS, prediction->workload.op,
                        a->question->value[ROOF_INPUT_COLUMNS], error));
    if ((in->why || in->tiling) && !roof_asking_document(a)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("%s") " goes with " ROOF_KEY("format") " text or json",
                              in->why ? "why" : "tiling");
    }
    return ROOF_OK;
}

static void write_prediction(struct roof_text *out, struct roof_table *table,
                             const struct operator_input *in,
                             const struct roof_prediction *prediction,
                             const struct roof_prediction *apart, const struct roof_trace *trace,
                             const struct roof_asking *a)
{
    if (roof_asking_report(a)) {
        roof_report_text(out, prediction, in->product, trace, in->tiling, apart);
    } else if (a->format == ROOF_JSON) {
        roof_report_json(out, prediction, in->product, trace, in->tiling, apart);
    } else {
        roof_table_begin(table, out);
        roof_table_prediction(table, out, prediction);
        roof_table_end(table, out);
    }
}

static enum roof_status predict_operator(struct roof_text *out, struct roof_asking *a,
                                         struct roof_error *error)
{
    struct operator_input in;
    struct roof_prediction prediction;
    struct roof_prediction apart;
    struct roof_table table;
    TRY(read_input(&in, a, error));
    TRY(roof_predict(&prediction, &in.scenario.common, in.hardware, error));
    if (in.measured_s > 0) {
        roof_predict_measured(&prediction, in.measured_s);
    }
    TRY(check_output(&table, &in, &prediction, a, error));
    if (roof_asking_document(a)) {
        TRY(roof_read_product(&in.product, &a->loans, in.hardware, error));
    }
    const bool fused = roof_operator_row(prediction.workload.op)->fuse_count > 0;
    if (fused) {
        TRY(roof_predict_apart(&apart, &prediction, error));
    }
    struct roof_trace trace = {0};
    const enum roof_status status =
        in.why ? roof_trace_prediction(&trace, &prediction, error) : ROOF_OK;
    if (status == ROOF_OK) {
        write_prediction(out, &table, &in, &prediction, fused ? &apart : NULL,
                         in.why ? &trace : NULL, a);
    }
    roof_trace_free(&trace);
    return status;
}

static enum roof_status predict(struct roof_text *out, struct roof_asking *a,
                                struct roof_error *error)
{
    return roof_asking_has(a, ROOF_INPUT_EXPLAIN) ? roof_ask_explain(out, a, false, error)
           : roof_asking_sides(a)                 ? roof_ask_sides(out, a, error)
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
    enum roof_status status = predict(&text, a, error);
    if (status == ROOF_OK) {
        status = roof_asking_write(a, &text, error);
    }
    roof_text_free(&text);
    return status;
}
