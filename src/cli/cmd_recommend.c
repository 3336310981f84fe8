// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum roof_status cli_formats(enum roof_precision out[ROOF_PRECISION_COUNT], size_t *count,
                             const char *text, struct roof_error *error)
{
    *count = 0;
    if (strcmp(text, "all") == 0) {
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            out[(*count)++] = (enum roof_precision)p;
        }
        return ROOF_OK;
    }
    struct roof_values values;
    struct roof_input input = *roof_input(ROOF_INPUT_FORMATS);
    input.kind = ROOF_INPUT_PRECISION; /* a list of them, under this option's name */
    enum roof_status status = roof_input_parse_list(&values, &input, text, error);
    if (status == ROOF_OK && values.count > ROOF_PRECISION_COUNT) {
        status = roof_error_set(error, ROOF_USAGE, "--formats names a format more than once");
    }
    for (int64_t i = 0; status == ROOF_OK && i < values.count; i++) {
        out[(*count)++] = (enum roof_precision)roof_values_at(&values, i);
    }
    roof_values_free(&values);
    return status;
}

static enum roof_status write_recommendation(struct roof_text *out,
                                             const struct cli_options *options,
                                             const struct roof_recommendation *recommendation,
                                             const struct roof_reasons *reasons,
                                             const struct roof_workload *workload,
                                             const struct roof_hardware *hardware,
                                             enum roof_ranking ranking, struct roof_error *error)
{
    struct roof_table table;
    struct roof_hardware *product = NULL;
    enum roof_status status =
        roof_table_open(&table, options->output, ROOF_TABLE_RECOMMENDATIONS, workload->op,
                        options->value[ROOF_INPUT_COLUMNS], error);
    if (status != ROOF_OK) {
        return status;
    }
    switch (options->output) {
    case ROOF_OUTPUT_TEXT:
        status = cli_product(&product, hardware, error);
        if (status == ROOF_OK) {
            roof_report_recommendation_text(out, recommendation, reasons, workload, product,
                                            ranking);
        }
        roof_hardware_free(product);
        break;
    case ROOF_OUTPUT_JSON:
        roof_report_recommendation_json(out, recommendation, reasons, workload->op);
        break;
    case ROOF_OUTPUT_NDJSON:
    case ROOF_OUTPUT_CSV:
    case ROOF_OUTPUT_MARKDOWN:
        roof_table_begin(&table, out);
        for (size_t i = 0; i < recommendation->count + recommendation->rejected; i++) {
            roof_table_candidate(&table, out, &recommendation->candidate[i]);
        }
        roof_table_end(&table, out);
        break;
    }
    return status;
}

enum roof_status cli_recommend_options(struct roof_recommend_options *out,
                                       enum roof_precision formats[ROOF_PRECISION_COUNT],
                                       const struct cli_options *options, struct roof_error *error)
{
    const char *const loss = options->value[ROOF_INPUT_MAX_ACCURACY_LOSS];
    const char *const list = options->value[ROOF_INPUT_FORMATS];
    int64_t objective = ROOF_OBJECTIVE_BALANCED;
    int64_t ranking = ROOF_RANKING_IDEAL;
    *out = (struct roof_recommend_options)ROOF_RECOMMEND_INIT;
    enum roof_status status = cli_choice(&objective, options, ROOF_INPUT_OBJECTIVE, error);
    if (status == ROOF_OK && objective > ROOF_OBJECTIVE_TIME) {
        status =
            roof_error_set(error, ROOF_USAGE, "--objective of an operator is balanced or time");
    }
    if (status == ROOF_OK) {
        status = cli_choice(&ranking, options, ROOF_INPUT_BY, error);
    }
    if (status == ROOF_OK && loss != NULL) {
        status = roof_accuracy_find(&out->max_loss, loss, error);
    }
    if (status == ROOF_OK && list != NULL) {
        status = cli_formats(formats, &out->format_count, list, error);
        out->formats = formats;
    }
    out->objective = (enum roof_objective)objective;
    out->ranking = (enum roof_ranking)ranking;
    out->native_only = options->value[ROOF_INPUT_NATIVE_ONLY] != NULL;
    return status;
}

/* What is recommended; for documents also why the first is first, and where that changes. */
struct found {
    struct roof_recommendation recommendation;
    struct roof_speedup speedup;
    struct roof_crossovers crossovers;
};

static enum roof_status find_reasons(struct roof_reasons *out, struct found *found,
                                     const struct roof_workload *workload,
                                     const struct roof_accuracy *accuracy,
                                     const struct roof_recommend_options *how,
                                     struct roof_error *error)
{
    const struct roof_recommendation *const recommendation = &found->recommendation;
    const struct roof_candidate *const best = &recommendation->candidate[0];
    const struct roof_prediction *const fp16 = &recommendation->baseline;
    enum roof_status status =
        roof_crossovers(&found->crossovers, workload, fp16->hardware, accuracy, how, error);
    if (status == ROOF_OK && found->crossovers.along != ROOF_DIM_COUNT) {
        out->crossovers = &found->crossovers;
    }
    if (status == ROOF_OK && recommendation->count > 0 && best->format != ROOF_PRECISION_FP16) {
        const struct roof_speedup_side from = {roof_format(ROOF_PRECISION_FP16)->name, fp16, NULL};
        const struct roof_speedup_side to = {roof_format(best->format)->name, &best->prediction,
                                             NULL};
        status = roof_speedup(&found->speedup, &from, &to, error);
        out->why = &found->speedup.total;
    }
    return status;
}

static enum roof_status recommend_operator(struct roof_text *out, const struct cli_options *options,
                                           enum roof_status *answer, struct roof_error *error)
{
    struct roof_scenario scenario;
    struct roof_hardware *hardware = NULL;
    struct roof_accuracy accuracy = {0};
    struct roof_recommend_options how;
    enum roof_precision formats[ROOF_PRECISION_COUNT];
    struct roof_reasons reasons = {NULL, NULL};
    struct found *const found = malloc(sizeof *found);
    if (found == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = cli_recommend_options(&how, formats, options, error);
    if (status == ROOF_OK) {
        status = cli_scenario(&scenario, options, error);
    }
    if (status == ROOF_OK) {
        status = cli_hardware(&hardware, options->value[ROOF_INPUT_HARDWARE], options, error);
    }
    if (status == ROOF_OK) {
        status = roof_accuracy_load(&accuracy, error);
    }
    if (status == ROOF_OK) {
        *answer = roof_recommend(&found->recommendation, &scenario.common, hardware, &accuracy,
                                 &how, error);
        status = *answer == ROOF_UNSATISFIED ? ROOF_OK : *answer;
    }
    const bool document =
        options->output == ROOF_OUTPUT_TEXT || options->output == ROOF_OUTPUT_JSON;
    if (status == ROOF_OK && document) {
        status = find_reasons(&reasons, found, &scenario.common, &accuracy, &how, error);
    }
    if (status == ROOF_OK) {
        status = write_recommendation(out, options, &found->recommendation, &reasons,
                                      &scenario.common, hardware, how.ranking, error);
    }
    roof_accuracy_free(&accuracy);
    cli_hardware_free(hardware);
    free(found);
    return status;
}

enum roof_status cli_recommend_answer(struct roof_text *out, const struct cli_options *options,
                                      enum roof_status *answer, struct roof_error *error)
{
    *answer = ROOF_OK;
    if (cli_is_model(options)) {
        return cli_recommend_model(out, options, answer, error);
    }
    return options->value[ROOF_INPUT_EXPLAIN] != NULL
               ? cli_explain(out, options, true, error)
               : recommend_operator(out, options, answer, error);
}

int cli_recommend(const struct cli_command *command, int argc, char **argv)
{
    struct roof_error error = {0};
    struct cli_options options;
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status answer = ROOF_OK;
    enum roof_status status = cli_options(&options, command, argc, argv, &error);
    if (status == ROOF_OK && options.help) {
        return 0;
    }
    if (status == ROOF_OK) {
        status = cli_recommend_answer(&text, &options, &answer, &error);
    }
    if (status == ROOF_OK) {
        status = cli_output_all(options.value[ROOF_INPUT_OUTPUT], &text, &error);
    }
    roof_text_free(&text);
    return status == ROOF_OK ? cli_exit_code(answer) : cli_fail(command->name, &error);
}
