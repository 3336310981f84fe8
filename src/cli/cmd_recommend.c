// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli.h"
#include "decide/recommend_answer.h"

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
            roof_report_recommendation_text(out, recommendation, reasons, workload, hardware,
                                            product, ranking);
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
            roof_table_row(&table, out, &recommendation->candidate[i]);
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

/* Recommends, writes that, and says in *found whether anything is left. */
static enum roof_status answer_operator(struct roof_text *out, const struct roof_hardware *hardware,
                                        const struct roof_scenario *scenario,
                                        const struct roof_recommend_options *how,
                                        const struct cli_options *options, enum roof_status *found,
                                        struct roof_error *error)
{
    struct roof_recommend_answer *answer = NULL;
    const bool document =
        options->output == ROOF_OUTPUT_TEXT || options->output == ROOF_OUTPUT_JSON;
    TRY(roof_recommend_answer_open(&answer, &scenario->common, hardware, how, document, error));
    const struct roof_reasons reasons = {.why = answer->gains ? &answer->speedup.total : NULL,
                                         .crossovers =
                                             answer->crosses ? &answer->crossovers : NULL};
    *found = answer->recommendation.count == 0 ? ROOF_UNSATISFIED : ROOF_OK;
    const enum roof_status status =
        write_recommendation(out, options, &answer->recommendation, &reasons, &scenario->common,
                             hardware, how->ranking, error);
    roof_recommend_answer_free(answer);
    return status;
}

static enum roof_status recommend_operator(struct roof_text *out, const struct cli_options *options,
                                           enum roof_status *found, struct roof_error *error)
{
    struct roof_scenario scenario;
    struct roof_hardware *hardware = NULL;
    struct roof_recommend_options how;
    enum roof_precision formats[ROOF_PRECISION_COUNT];
    TRY(cli_recommend_options(&how, formats, options, error));
    TRY(cli_scenario(&scenario, options, error));
    TRY(cli_hardware(&hardware, options->value[ROOF_INPUT_HARDWARE], options, error));
    const enum roof_status status =
        answer_operator(out, hardware, &scenario, &how, options, found, error);
    cli_hardware_free(hardware);
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
