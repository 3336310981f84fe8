// SPDX-License-Identifier: MIT
#include <string.h>

#include "cli.h"

/* A request as the options of a command line, and its answer as that would print it. */
static enum roof_status answer(void *context, struct roof_text *out,
                               const struct roof_check_request *request, struct roof_error *error)
{
    enum roof_status found = ROOF_OK;
    struct cli_options options = {.command = request->command, .output = ROOF_OUTPUT_JSON};
    (void)context;
    options.operand[options.operand_count++] = request->workload;
    if (request->model != NULL) {
        options.operand[options.operand_count++] = request->model;
    }
    for (size_t i = 0; i < request->count; i++) {
        const enum roof_status status =
            cli_options_add(&options, request->input[i].input, request->input[i].text, error);
        if (status != ROOF_OK) {
            return status;
        }
    }
    return request->command == ROOF_COMMAND_PREDICT
               ? cli_predict_answer(out, &options, error)
               : cli_recommend_answer(out, &options, &found, error);
}

/* Writes what was found into the files where it deviates; *changed are those that could be. */
static enum roof_status update(const struct roof_checks *files, size_t count, size_t *changed,
                               struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < count && status == ROOF_OK; i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        const size_t replaced = roof_checks_updated(&text, &files[i]);
        if (replaced > 0) {
            status = cli_output_all(files[i].name, &text, error);
        }
        *changed += replaced;
        roof_text_free(&text);
    }
    return status;
}

static enum roof_status read_files(struct roof_checks *files, const struct cli_options *options,
                                   struct roof_error *error)
{
    const bool updated = options->value[ROOF_INPUT_UPDATE] != NULL;
    enum roof_status status = ROOF_OK;
    for (int i = 0; i < options->operand_count && status == ROOF_OK; i++) {
        const char *const path = options->operand[i];
        if (strcmp(path, "-") == 0 && updated) {
            return roof_error_set(error, ROOF_USAGE,
                                  "--update writes into files, not standard input");
        }
        for (int k = 0; k < options->operand_count && updated; k++) {
            if (cli_output_spoils(options->operand[k], path)) {
                return roof_error_set(error, ROOF_USAGE,
                                      "%s is written while %s is made; rename it", path,
                                      options->operand[k]);
            }
        }
        status = roof_checks_read(&files[i], path, error);
    }
    for (int i = 0; i < options->operand_count && status == ROOF_OK; i++) {
        status = roof_checks_run(&files[i], answer, NULL, error);
    }
    return status;
}

/* All files are read and run before anything is written. */
static enum roof_status run(const struct cli_options *options, bool *deviates,
                            struct roof_error *error)
{
    struct roof_checks files[CLI_OPERANDS_MAX] = {{.private_data = NULL}};
    struct roof_text text = ROOF_TEXT_INIT;
    const size_t count = (size_t)options->operand_count;
    const bool updated = options->value[ROOF_INPUT_UPDATE] != NULL;
    int64_t output = ROOF_CHECK_TEXT;
    size_t left = 0;
    size_t changed = 0;
    enum roof_status status = cli_choice(&output, options, ROOF_INPUT_CHECK_FORMAT, error);
    if (status == ROOF_OK && count == 0) {
        status = roof_error_set(error, ROOF_USAGE,
                                "which file of checks? for example: roofline check checks.json");
    }
    if (status == ROOF_OK) {
        status = read_files(files, options, error);
    }
    if (status == ROOF_OK && updated) {
        status = update(files, count, &changed, error);
    }
    if (status == ROOF_OK) {
        roof_check_report(&text, (enum roof_check_output)output, files, count, updated);
        status = cli_output_all(options->value[ROOF_INPUT_OUTPUT], &text, error);
    }
    for (size_t i = 0; i < count; i++) {
        left += files[i].deviations;
        roof_checks_free(&files[i]);
    }
    *deviates = left > changed;
    roof_text_free(&text);
    return status;
}

int cli_check(const struct cli_command *command, int argc, char **argv)
{
    struct roof_error error = {0};
    struct cli_options options;
    bool deviates = false;
    enum roof_status status = cli_options(&options, command, argc, argv, &error);
    if (status == ROOF_OK && options.help) {
        return 0;
    }
    if (status == ROOF_OK) {
        status = run(&options, &deviates, &error);
    }
    return status != ROOF_OK ? cli_fail(command->name, &error)
                             : cli_exit_code(deviates ? ROOF_UNSATISFIED : ROOF_OK);
}
