// SPDX-License-Identifier: MIT
/* Pages: what is asked of a model, with sliders for its sizes. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

#define EXTENSION ".html"

bool cli_page_name(const char *path)
{
    const char *const dot = path == NULL ? NULL : strrchr(path, '.');
    return dot != NULL && strcasecmp(dot, EXTENSION) == 0;
}

/* What a page shows where the command line does not choose phases. */
static void show_phases(struct roof_page_sizes *sizes)
{
    const bool mixed = sizes->scenario.phase == ROOF_PHASE_MIXED;
    sizes->phase[ROOF_PHASE_MIXED] = mixed;
    sizes->phase[ROOF_PHASE_DECODE] = sizes->phase[ROOF_PHASE_PREFILL] = !mixed;
}

bool cli_page_grid(struct roof_page_sizes *out, const struct cli_grid *grid,
                   const struct cli_options *options)
{
    const struct roof_input *const phase = roof_input(ROOF_INPUT_PHASE);
    *out = (struct roof_page_sizes){.model = grid->model[0], .scenario = grid->sweep.base};
    if (options->value[ROOF_INPUT_FROM] != NULL || grid->models != 1) {
        return false;
    }
    for (size_t i = 0; i < grid->sweep.axis_count; i++) {
        const struct roof_axis *const axis = &grid->sweep.axis[i];
        if (axis->values.count > 1 && axis->input != phase) {
            return false;
        }
        for (int64_t k = axis->values.count; k > 0; k--) { /* the first value stays */
            const int64_t value = roof_values_at(&axis->values, k - 1);
            roof_input_put(&out->scenario, axis->input, value);
            if (axis->input == phase) {
                out->phase[value] = true;
            }
        }
    }
    if (options->value[ROOF_INPUT_PHASE] == NULL) {
        show_phases(out);
    }
    return true;
}

struct work {
    struct roof_page_sizes sizes;
    struct roof_model *model;
    struct roof_model *draft;
    struct roof_hardware *hardware;
    struct roof_chart chart;
};

/* What no page has. */
static enum roof_status check(const struct cli_options *options, struct roof_error *error)
{
    static const size_t refused[] = {ROOF_INPUT_FROM, ROOF_INPUT_EXPLAIN, ROOF_INPUT_WHY,
                                     ROOF_INPUT_TOP, ROOF_INPUT_COLUMNS};
    if (!cli_is_model(options)) {
        return roof_error_set(error, ROOF_USAGE,
                              "html is a format of models; a page of operators is roofline plot "
                              "OPERATOR ... --format html");
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (options->value[refused[i]] != NULL) {
            return roof_error_set(error, ROOF_USAGE, "--%s does not go with html",
                                  roof_input(refused[i])->option);
        }
    }
    return options->operand_count < 2 ? cli_which_model(error) : ROOF_OK;
}

static enum roof_status load(struct work *w, const struct cli_options *options,
                             struct roof_error *error)
{
    struct roof_scenario *const scenario = &w->sizes.scenario;
    enum roof_status status = check(options, error);
    if (status == ROOF_OK) {
        status = cli_scenario(scenario, options, error);
    }
    if (status == ROOF_OK && (scenario->prompt > 0 || scenario->generate > 0)) {
        status = roof_error_set(error, ROOF_USAGE,
                                "a page shows one pass: give --batch and --context, not --prompt "
                                "and --generate");
    }
    if (status == ROOF_OK) {
        status = cli_hardware(&w->hardware, options->value[ROOF_INPUT_HARDWARE], options, error);
    }
    if (status == ROOF_OK) {
        status = cli_model(&w->model, options->operand[1], options, error);
    }
    if (status == ROOF_OK) {
        status = cli_draft(&w->draft, scenario, options, error);
    }
    if (status == ROOF_OK) {
        status = roof_chart_add_roof(&w->chart, w->hardware, NULL, scenario->common.sparse, error);
    }
    w->sizes.model = w->model;
    show_phases(&w->sizes);
    return status;
}

enum roof_status cli_page_model(struct roof_text *out, const struct cli_options *options,
                                struct roof_error *error)
{
    struct roof_text title = ROOF_TEXT_INIT;
    struct work *const w = calloc(1, sizeof *w);
    if (w == NULL) {
        return roof_no_memory(error);
    }
    roof_chart_init(&w->chart);
    w->chart.expected = true;
    enum roof_status status = load(w, options, error);
    if (status == ROOF_OK) {
        roof_text_printf(&title, "%s on %s", w->model->name, w->hardware->name);
        status = title.failed ? roof_no_memory(error) : ROOF_OK;
    }
    if (status == ROOF_OK) {
        roof_chart_name(w->chart.title, title.data);
        status = roof_chart_page(out, &w->chart, &w->sizes, error);
    }
    roof_text_free(&title);
    roof_chart_free(&w->chart);
    roof_model_free(w->model);
    roof_model_free(w->draft);
    cli_hardware_free(w->hardware);
    free(w);
    return status;
}
