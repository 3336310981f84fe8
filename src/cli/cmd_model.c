// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "cli.h"

#define TOP_DEFAULT 12

/* What a prediction of a model needs and gives. */
struct work {
    struct roof_scenario scenario;
    struct roof_model *model;
    struct roof_model *draft;
    struct roof_hardware *hardware;
    struct roof_hardware *product;
    struct roof_inference inference; /* large: the whole is on the heap */
    struct roof_limits limits;
};

enum roof_status cli_which_model(struct roof_error *error)
{
    return roof_error_set(error, ROOF_USAGE,
                          "which model? a name (roofline list models), a config.json, a folder "
                          "with one, a .gguf or a .safetensors file");
}

static enum roof_status load(struct work *w, const struct cli_options *options,
                             struct roof_error *error)
{
    if (options->operand_count < 2) {
        return cli_which_model(error);
    }
    enum roof_status status = cli_scenario(&w->scenario, options, error);
    if (status == ROOF_OK) {
        status = cli_hardware(&w->hardware, options->value[ROOF_INPUT_HARDWARE], options, error);
    }
    if (status == ROOF_OK) {
        status = cli_model(&w->model, options->operand[1], options, error);
    }
    if (status == ROOF_OK) {
        status = cli_draft(&w->draft, &w->scenario, options, error);
    }
    if (status == ROOF_OK) {
        status = cli_product(&w->product, w->hardware, error);
    }
    return status;
}

/* Each step of the operators that the table shows. */
static enum roof_status put_why(struct roof_text *out, const struct work *w, size_t top,
                                struct roof_error *error)
{
    size_t order[ROOF_GRAPH_MAX];
    const size_t count = roof_model_report_order(order, &w->inference);
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < count && i < top && status == ROOF_OK; i++) {
        const struct roof_inference_node *const n = &w->inference.node[order[i]];
        struct roof_explanation explanation = {0};
        status = roof_explain(&explanation, &n->prediction, error);
        if (status == ROOF_OK) {
            roof_text_printf(out, "\n%s: ", n->node.name);
            roof_report_workload(out, &n->prediction.workload);
            roof_text_put(out, "\n");
            roof_report_why(out, &explanation);
        }
        roof_explanation_free(&explanation);
    }
    return status;
}

static enum roof_status write_model(struct roof_text *out, const struct work *w,
                                    const struct cli_options *options, struct roof_error *error)
{
    struct roof_table table;
    int64_t top = TOP_DEFAULT;
    const bool why = options->value[ROOF_INPUT_WHY] != NULL;
    enum roof_status status =
        roof_table_open(&table, options->output, ROOF_TABLE_INFERENCES, ROOF_OPERATOR_GEMM,
                        options->value[ROOF_INPUT_COLUMNS], error);
    if (status == ROOF_OK && options->value[ROOF_INPUT_TOP] != NULL) {
        status = roof_input_parse(&top, roof_input(ROOF_INPUT_TOP), options->value[ROOF_INPUT_TOP],
                                  error);
    }
    if (status == ROOF_OK && why && w->inference.count == 0) {
        status = roof_error_set(error, ROOF_USAGE,
                                "--why of a model goes with --phase, for the "
                                "operators of one pass");
    }
    if (status == ROOF_OK && why && options->output != ROOF_OUTPUT_TEXT) {
        status = roof_error_set(error, ROOF_USAGE, "--why of a model goes with --format text");
    }
    if (status != ROOF_OK) {
        return status;
    }
    switch (options->output) {
    case ROOF_OUTPUT_TEXT:
        roof_model_report_text(out, &w->inference, &w->limits, (size_t)top, w->product);
        status = why ? put_why(out, w, (size_t)top, error) : ROOF_OK;
        break;
    case ROOF_OUTPUT_JSON:
        roof_model_report_json(out, &w->inference, &w->limits);
        break;
    case ROOF_OUTPUT_NDJSON:
    case ROOF_OUTPUT_CSV:
    case ROOF_OUTPUT_MARKDOWN:
        roof_table_begin(&table, out);
        roof_table_row(&table, out, &w->inference);
        roof_table_end(&table, out);
        break;
    }
    return status;
}

enum roof_status cli_predict_model(struct roof_text *out, const struct cli_options *options,
                                   struct roof_error *error)
{
    struct work *const w = calloc(1, sizeof *w);
    if (w == NULL) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    enum roof_status status = load(w, options, error);
    if (status == ROOF_OK) {
        status = roof_infer(&w->inference, w->model, &w->scenario, w->hardware, error);
    }
    const bool document =
        options->output == ROOF_OUTPUT_TEXT || options->output == ROOF_OUTPUT_JSON;
    if (status == ROOF_OK && document) {
        status = roof_infer_limits(&w->limits, &w->inference, &w->scenario, error);
    }
    if (status == ROOF_OK) {
        status = write_model(out, w, options, error);
    }
    roof_model_free(w->model);
    roof_model_free(w->draft);
    cli_hardware_free(w->hardware);
    roof_hardware_free(w->product);
    free(w);
    return status;
}
