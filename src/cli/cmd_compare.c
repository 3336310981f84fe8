// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct work {
    const struct cli_options *options;
    struct cli_known known;
    struct roof_scenario base;
    struct roof_model *draft;
    struct roof_text text;
    struct cli_output output;
};

static enum roof_status on_hardware(void *context, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error)
{
    struct work *const w = context;
    return cli_known_hardware(&w->known, out, name, error);
}

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    struct work *const w = context;
    return cli_known_model(&w->known, out, name, layout, error);
}

static void on_bad(void *context, const struct roof_error *error)
{
    (void)context;
    cli_complain("compare", error);
}

static enum roof_status on_header(void *context, const char *const *column, size_t columns,
                                  struct roof_error *error)
{
    struct work *const w = context;
    (void)error;
    if (w->options->output == ROOF_OUTPUT_CSV) {
        roof_report_compared_header(&w->text, column, columns);
    }
    return ROOF_OK;
}

static enum roof_status on_row(void *context, const struct roof_compared *row,
                               struct roof_error *error)
{
    struct work *const w = context;
    roof_report_compared(&w->text, w->options->output == ROOF_OUTPUT_CSV, row);
    return cli_output_put(&w->output, &w->text, error);
}

/* A layout is applied to the models of rows: of a file of operators nobody would see that nothing
 * knows its name. */
static enum roof_status check_layout(const char *name, struct roof_error *error)
{
    struct cli_directories directories;
    struct roof_layout_about about;
    if (name == NULL || strcmp(name, "checkpoint") == 0) {
        return ROOF_OK;
    }
    enum roof_status status = cli_directories(&directories, error);
    if (status == ROOF_OK) {
        status = roof_layout_load(&about, name, directories.path, error);
    }
    if (status == ROOF_OK) {
        roof_layout_about_free(&about);
    }
    free(directories.owned);
    return status;
}

/* The scenario of the command line; what it names must be known, whatever the rows are of. */
static enum roof_status load(struct work *w, struct roof_error *error)
{
    const struct cli_options *const options = w->options;
    roof_scenario_init(&w->base);
    enum roof_status status = cli_fields(&w->base, options, error);
    if (status == ROOF_OK) {
        status = cli_model_options(&w->base, options, error);
    }
    if (status == ROOF_OK) {
        status = cli_known_own(&w->known, error);
        status = status == ROOF_UNSATISFIED ? ROOF_USAGE : status;
    }
    if (status == ROOF_OK) {
        status = check_layout(options->value[ROOF_INPUT_LAYOUT], error);
    }
    return status == ROOF_OK ? cli_draft(&w->draft, &w->base, options, error) : status;
}

/* Rows and statistics each have formats of their own. */
static enum roof_status check_format(const struct cli_options *options, bool rows,
                                     struct roof_error *error)
{
    if (!rows && options->output != ROOF_OUTPUT_TEXT && options->output != ROOF_OUTPUT_JSON) {
        return roof_error_set(error, ROOF_USAGE,
                              "compare writes rows as csv or ndjson and a summary as text or json");
    }
    if (rows && options->value[ROOF_INPUT_GROUP_BY] != NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "--group-by is of a summary, which goes with --format text or json");
    }
    return ROOF_OK;
}

/* The members of a group are its columns and its statistics: no two have one name. */
static enum roof_status check_groups(const char *names, struct roof_error *error)
{
    const char *name = names;
    while (name != NULL) {
        const size_t length = strcspn(name, ",");
        if (roof_report_is_statistic(name, length)) {
            return roof_error_set(error, ROOF_USAGE,
                                  "--group-by %.*s: a statistic has that name; rename the column",
                                  (int)length, name);
        }
        name = name[length] == '\0' ? NULL : name + length + 1;
    }
    return ROOF_OK;
}

static enum roof_status run(struct work *w, bool *bad, struct roof_error *error)
{
    const struct cli_options *const options = w->options;
    const bool rows = options->value[ROOF_INPUT_SUMMARY] == NULL &&
                      (options->output == ROOF_OUTPUT_CSV || options->output == ROOF_OUTPUT_NDJSON);
    const struct roof_compare_calls calls = {.context = w,
                                             .hardware = on_hardware,
                                             .model = on_model,
                                             .header = rows ? on_header : NULL,
                                             .row = rows ? on_row : NULL,
                                             .bad = on_bad};
    struct roof_comparison comparison = {.bad = 0};
    const char *const device = options->value[ROOF_INPUT_HARDWARE];
    enum roof_status status = check_format(options, rows, error);
    if (status == ROOF_OK) {
        status = check_groups(options->value[ROOF_INPUT_GROUP_BY], error);
    }
    if (status == ROOF_OK) {
        status = load(w, error);
    }
    if (status == ROOF_OK) {
        status = cli_output_open(&w->output, options->value[ROOF_INPUT_OUTPUT], error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    status = roof_compare(&comparison, options->operand[0], &w->base,
                          device == NULL ? ROOF_DEFAULT_HARDWARE : device,
                          options->value[ROOF_INPUT_GROUP_BY], &calls, error);
    if (status == ROOF_OK &&
        comparison.overall.rows + comparison.overall.skipped + comparison.bad == 0) {
        status = roof_error_at(error, ROOF_INVALID, options->operand[0], 0, 0, "no records");
    }
    if (status == ROOF_OK && !rows) {
        roof_report_comparison(&w->text, options->output == ROOF_OUTPUT_JSON, &comparison);
    }
    if (status == ROOF_OK) {
        status = cli_output_write(&w->output, &w->text, error);
    }
    *bad = comparison.bad > 0;
    roof_comparison_free(&comparison);
    return cli_output_close(&w->output, status, error);
}

int cli_compare(const struct cli_command *command, int argc, char **argv)
{
    struct roof_error error = {0};
    struct cli_options options;
    struct work w = {.options = &options, .known = {.options = &options}, .text = ROOF_TEXT_INIT};
    bool bad = false;
    enum roof_status status = cli_options(&options, command, argc, argv, &error);
    if (status == ROOF_OK && options.help) {
        return 0;
    }
    if (status == ROOF_OK && options.operand_count != 1) {
        status =
            roof_error_set(&error, ROOF_USAGE, "which file? CSV or NDJSON with measured times");
    }
    if (status == ROOF_OK) {
        status = run(&w, &bad, &error);
    }
    roof_text_free(&w.text);
    roof_model_free(w.draft);
    cli_known_free(&w.known);
    if (status != ROOF_OK) {
        return cli_fail(command->name, &error);
    }
    return bad ? cli_exit_code(ROOF_INVALID) : 0;
}
