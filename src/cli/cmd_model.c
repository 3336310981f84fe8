// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define TOP_DEFAULT 12

/* What a prediction of a model needs and gives. */
struct work {
    struct roof_scenario scenario;
    struct roof_model *model;
    struct roof_model *draft;
    struct roof_hardware *hardware;
    struct roof_hardware *product;
    struct roof_model_prediction inference; /* large: the whole is on the heap */
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
        const struct roof_node_prediction *const n = &w->inference.node[order[i]];
        struct roof_trace explanation = {0};
        status = roof_trace_prediction(&explanation, &n->prediction, error);
        if (status == ROOF_OK) {
            roof_text_printf(out, "\n%s: ", n->node.name);
            roof_report_workload(out, &n->prediction.workload);
            roof_text_put(out, "\n");
            roof_report_why(out, &explanation);
        }
        roof_trace_free(&explanation);
    }
    return status;
}

/* A word of a command line for sh. */
static void put_word(struct roof_text *out, const char *word)
{
    roof_text_put(out, " ");
    if (*word != '\0' && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789-_./,:=+@%")] == '\0') {
        roof_text_put(out, word);
        return;
    }
    roof_text_put(out, "'");
    for (const char *p = word; *p != '\0'; p++) {
        if (*p == '\'') {
            roof_text_put(out, "'\\''");
        } else {
            roof_text_add(out, p, 1);
        }
    }
    roof_text_put(out, "'");
}

/* The command line that asks the same, in the order of the table; where it goes is left out. */
static void put_command(struct roof_text *out, const struct cli_options *options)
{
    roof_text_put(out, "roofline predict");
    for (int i = 0; i < options->operand_count; i++) {
        put_word(out, options->operand[i]);
    }
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const struct cli_many one = {.value = {options->value[i]}, .count = 1};
        const struct cli_many *const many = i == ROOF_INPUT_SET     ? &options->set
                                            : i == ROOF_INPUT_CLASS ? &options->classes
                                            : options->value[i] == NULL || i == ROOF_INPUT_OUTPUT
                                                ? NULL
                                                : &one;
        for (int k = 0; many != NULL && k < many->count; k++) {
            char name[ROOF_INPUT_NAME_SIZE];
            roof_text_printf(out, " %s", roof_input_name(name, roof_input(i)));
            if (roof_input(i)->kind != ROOF_INPUT_FLAG) {
                put_word(out, many->value[k]);
            }
        }
    }
}

/* The whole report, in Markdown. */
static enum roof_status write_report(struct roof_text *out, const struct work *w,
                                     const struct cli_options *options, size_t top,
                                     struct roof_error *error)
{
    struct roof_survey *study = NULL;
    struct roof_text command = ROOF_TEXT_INIT;
    char version[64];
    const bool both = options->value[ROOF_INPUT_PHASE] == NULL;
    put_command(&command, options);
    enum roof_status status =
        roof_survey_run(&study, w->model, &w->scenario, both, w->hardware, error);
    if (status == ROOF_OK) {
        (void)snprintf(version, sizeof version, "%d.%d.%d", ROOF_VERSION_MAJOR, ROOF_VERSION_MINOR,
                       ROOF_VERSION_PATCH);
        const struct roof_survey_about about = {.product = w->product,
                                                .command = command.data == NULL ? "" : command.data,
                                                .version = version,
                                                .top = top};
        roof_survey_report(out, study, &about);
        out->failed = out->failed || command.failed;
    }
    roof_text_free(&command);
    roof_survey_free(study);
    return status;
}

static enum roof_status write_model(struct roof_text *out, const struct work *w,
                                    const struct cli_options *options, struct roof_error *error)
{
    struct roof_table table;
    int64_t top = TOP_DEFAULT;
    const bool why = options->value[ROOF_INPUT_WHY] != NULL;
    enum roof_status status =
        roof_table_open(&table, options->output, ROOF_TABLE_MODEL_PREDICTIONS, ROOF_OPERATOR_GEMM,
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
    /* Tables and JSON have all operators, or none. */
    if (status == ROOF_OK && options->value[ROOF_INPUT_TOP] != NULL &&
        options->output != ROOF_OUTPUT_TEXT &&
        (options->output != ROOF_OUTPUT_MARKDOWN || options->value[ROOF_INPUT_COLUMNS] != NULL)) {
        status = roof_error_set(error, ROOF_USAGE,
                                "--top of a model goes with --format text or md, without "
                                "--columns");
    }
    if (status != ROOF_OK) {
        return status;
    }
    if (options->output == ROOF_OUTPUT_MARKDOWN && options->value[ROOF_INPUT_COLUMNS] == NULL) {
        const bool all = options->value[ROOF_INPUT_TOP] == NULL;
        return write_report(out, w, options, all ? ROOF_GRAPH_MAX : (size_t)top, error);
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
    case ROOF_OUTPUT_MARKDOWN: /* with columns, a table */
        roof_table_begin(&table, out);
        roof_table_model_prediction(&table, out, &w->inference);
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
        return roof_no_memory(error);
    }
    enum roof_status status = load(w, options, error);
    if (status == ROOF_OK) {
        status = roof_predict_model(&w->inference, w->model, &w->scenario, w->hardware, error);
    }
    const bool document =
        options->output == ROOF_OUTPUT_TEXT || options->output == ROOF_OUTPUT_JSON;
    if (status == ROOF_OK && document) {
        status = roof_model_limits(&w->limits, &w->inference, &w->scenario, error);
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
