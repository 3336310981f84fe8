// SPDX-License-Identifier: MIT
#include "cli.h"

static enum roof_status write_prediction(struct roof_text *out, const struct cli_options *options,
                                         const struct roof_prediction *prediction,
                                         struct roof_error *error)
{
    const enum roof_output output = options->output;
    struct roof_trace explanation = {0};
    struct roof_hardware *product = NULL;
    struct roof_table table;
    const bool why = options->value[ROOF_INPUT_WHY] != NULL;
    const bool tiling = options->value[ROOF_INPUT_TILING] != NULL;
    enum roof_status status =
        roof_table_open(&table, output, ROOF_TABLE_PREDICTIONS, prediction->workload.op,
                        options->value[ROOF_INPUT_COLUMNS], error);
    if (status == ROOF_OK && (why || tiling) && output != ROOF_OUTPUT_TEXT &&
        output != ROOF_OUTPUT_JSON) {
        status = roof_error_set(error, ROOF_USAGE, "--%s goes with --format text or json",
                                why ? "why" : "tiling");
    }
    if (status == ROOF_OK && why) {
        status = roof_trace_prediction(&explanation, prediction, error);
    }
    if (status == ROOF_OK && output == ROOF_OUTPUT_TEXT) {
        status = cli_product(&product, prediction->hardware, error);
    }
    if (status == ROOF_OK) {
        switch (output) {
        case ROOF_OUTPUT_TEXT:
            roof_report_text(out, prediction, product, why ? &explanation : NULL, tiling);
            break;
        case ROOF_OUTPUT_JSON:
            roof_report_json(out, prediction, why ? &explanation : NULL, tiling);
            break;
        case ROOF_OUTPUT_NDJSON:
        case ROOF_OUTPUT_CSV:
        case ROOF_OUTPUT_MARKDOWN:
            roof_table_begin(&table, out);
            roof_table_prediction(&table, out, prediction);
            roof_table_end(&table, out);
            break;
        }
    }
    roof_trace_free(&explanation);
    roof_hardware_free(product);
    return status;
}

static enum roof_status predict_operator(struct roof_text *out, const struct cli_options *options,
                                         struct roof_error *error)
{
    struct roof_scenario scenario;
    struct roof_hardware *hardware = NULL;
    struct roof_prediction prediction;
    double measured_s = 0;
    enum roof_status status = cli_scenario(&scenario, options, error);
    const char *const measured = status == ROOF_OK ? options->value[ROOF_INPUT_MEASURED] : NULL;
    if (measured != NULL) {
        status = roof_parse_time(&measured_s, measured, "--measured", error);
    }
    if (status == ROOF_OK) {
        status = cli_hardware(&hardware, options->value[ROOF_INPUT_HARDWARE], options, error);
    }
    if (status == ROOF_OK) {
        status = roof_predict(&prediction, &scenario.common, hardware, error);
    }
    if (status == ROOF_OK && measured != NULL) {
        roof_predict_measured(&prediction, measured_s);
    }
    if (status == ROOF_OK) {
        status = write_prediction(out, options, &prediction, error);
    }
    cli_hardware_free(hardware);
    return status;
}

enum roof_status cli_predict_answer(struct roof_text *out, const struct cli_options *options,
                                    struct roof_error *error)
{
    if (options->html) {
        return cli_page_model(out, options, error);
    }
    if (options->value[ROOF_INPUT_EXPLAIN] != NULL) {
        return cli_explain(out, options, false, error);
    }
    return cli_is_model(options) ? cli_predict_model(out, options, error)
                                 : predict_operator(out, options, error);
}

int cli_predict(const struct cli_command *command, int argc, char **argv)
{
    struct roof_error error = {0};
    struct cli_options options;
    struct roof_text text = ROOF_TEXT_INIT;

    enum roof_status status = cli_options(&options, command, argc, argv, &error);
    if (status == ROOF_OK && options.help) {
        return 0;
    }
    if (status == ROOF_OK && options.value[ROOF_INPUT_FROM] != NULL && !options.html) {
        bool bad = false;
        status = cli_predict_from(&options, &bad, &error);
        return status != ROOF_OK ? cli_fail(command->name, &error)
               : bad             ? cli_exit_code(ROOF_INVALID)
                                 : 0;
    }
    if (status == ROOF_OK) {
        status = cli_predict_answer(&text, &options, &error);
    }
    if (status == ROOF_OK) {
        status = cli_output_all(options.value[ROOF_INPUT_OUTPUT], &text, &error);
    }
    roof_text_free(&text);
    return status == ROOF_OK ? 0 : cli_fail(command->name, &error);
}
