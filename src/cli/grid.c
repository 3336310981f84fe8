// SPDX-License-Identifier: MIT
/* The grid of points that a command line with lists and ranges asks for. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Loads one item of a list. */
typedef enum roof_status (*loader)(struct cli_grid *out, const char *name,
                                   const struct cli_options *options, struct roof_error *error);

static enum roof_status load_device(struct cli_grid *out, const char *name,
                                    const struct cli_options *options, struct roof_error *error)
{
    const enum roof_status status = cli_hardware(&out->device[out->devices], name, options, error);
    out->devices += status == ROOF_OK;
    return status;
}

static enum roof_status load_model(struct cli_grid *out, const char *name,
                                   const struct cli_options *options, struct roof_error *error)
{
    const enum roof_status status = cli_model(&out->model[out->models], name, options, error);
    out->models += status == ROOF_OK;
    return status;
}

static enum roof_status load_list(struct cli_grid *out, const char *list, const char *what,
                                  loader load, const struct cli_options *options,
                                  struct roof_error *error)
{
    const char *item = list;
    enum roof_status status = ROOF_OK;
    for (int count = 0; status == ROOF_OK && item != NULL; count++) {
        const size_t length = strcspn(item, ",");
        char *const name = strndup(item, length);
        if (name == NULL) {
            return roof_no_memory(error);
        }
        if (length == 0) {
            status = roof_error_set(error, ROOF_USAGE, "%s: the list '%s' has an empty element",
                                    what, list);
        } else if (count == CLI_LIST_MAX) {
            status =
                roof_error_set(error, ROOF_USAGE, "%s takes at most %d names", what, CLI_LIST_MAX);
        } else {
            status = load(out, name, options, error);
        }
        free(name);
        item = item[length] == '\0' ? NULL : item + length + 1;
    }
    return status;
}

static enum roof_status add_axis(struct roof_sweep *sweep, size_t id,
                                 const struct cli_options *options, struct roof_error *error)
{
    const struct roof_input *const input = roof_input(id);
    if (options->value[id] == NULL) {
        return ROOF_OK;
    }
    if (input->kind == ROOF_INPUT_NUMBER) {
        return roof_input_parse_number(&sweep->base, input, options->value[id], error);
    }
    if (input->kind == ROOF_INPUT_FLAG) {
        roof_input_put(&sweep->base, input, 1);
        return ROOF_OK;
    }
    struct roof_values values;
    const enum roof_status status =
        roof_input_parse_list(&values, input, options->value[id], error);
    return status == ROOF_OK ? roof_sweep_add(sweep, input, &values, error) : status;
}

/* Dimensions in the operator's order, or the sizes of a model, then the formats: the last varies
 * fastest. */
static enum roof_status build(struct roof_sweep *sweep, const struct cli_options *options,
                              struct roof_error *error)
{
    static const size_t of_models[] = {ROOF_INPUT_PHASE,
                                       ROOF_DIM_BATCH,
                                       ROOF_INPUT_CONTEXT,
                                       ROOF_INPUT_CHUNK,
                                       ROOF_INPUT_PREFILL_BATCH,
                                       ROOF_INPUT_PREFILL_CONTEXT,
                                       ROOF_INPUT_PROMPT,
                                       ROOF_INPUT_GENERATE,
                                       ROOF_INPUT_DRAFT_TOKENS,
                                       ROOF_INPUT_TP,
                                       ROOF_INPUT_PP,
                                       ROOF_DIM_EP,
                                       ROOF_DIM_ROUTING,
                                       ROOF_INPUT_ACCEPTANCE,
                                       ROOF_INPUT_PREFIX_HIT,
                                       ROOF_INPUT_RESERVE,
                                       ROOF_INPUT_SPLIT_PROJECTIONS,
                                       ROOF_INPUT_UNFUSED_ATTENTION};
    static const size_t formats[] = {ROOF_INPUT_PRECISION_BOTH,
                                     ROOF_INPUT_WEIGHTS,
                                     ROOF_INPUT_ACTIVATIONS,
                                     ROOF_INPUT_KV,
                                     ROOF_INPUT_OUT,
                                     ROOF_INPUT_COMPUTE,
                                     ROOF_INPUT_SPARSE};
    /* Not among the columns, so a list would give rows that look alike. */
    static const size_t single[] = {ROOF_INPUT_STACK, ROOF_INPUT_CACHE, ROOF_INPUT_QUANTIZE_INPUT,
                                    ROOF_INPUT_WORKING_SET, ROOF_INPUT_NO_LAUNCH_OVERHEAD};
    const bool model = cli_is_model(options);
    const enum roof_operator op = sweep->base.common.op;
    const struct roof_operator_row *const row = roof_operator_row(op);
    enum roof_status status = ROOF_OK;
    for (size_t id = 0; id < ROOF_INPUT_COUNT && status == ROOF_OK; id++) {
        if (options->value[id] != NULL) {
            status = roof_input_taken(roof_input(id), model, error);
        }
        if (status == ROOF_OK && options->value[id] != NULL && id < ROOF_DIM_COUNT && !model) {
            status = roof_operator_takes(op, (enum roof_dimension)id, error);
        }
    }
    for (int i = 0; i < row->dim_count && status == ROOF_OK && !model; i++) {
        status = add_axis(sweep, row->dims[i], options, error);
    }
    for (size_t i = 0; i < sizeof of_models / sizeof *of_models && status == ROOF_OK && model;
         i++) {
        status = add_axis(sweep, of_models[i], options, error);
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats && status == ROOF_OK; i++) {
        status = add_axis(sweep, formats[i], options, error);
    }
    for (size_t i = 0; i < sizeof single / sizeof *single && status == ROOF_OK; i++) {
        const size_t axes = sweep->axis_count;
        status = add_axis(sweep, single[i], options, error);
        if (status == ROOF_OK && sweep->axis_count > axes && sweep->axis[axes].values.count > 1) {
            status = roof_error_set(error, ROOF_USAGE, "--%s takes one value",
                                    roof_input(single[i])->option);
        }
    }
    return status;
}

enum roof_status cli_grid_devices(struct cli_grid *out, const struct cli_options *options,
                                  struct roof_error *error)
{
    const char *const devices = options->value[ROOF_INPUT_HARDWARE];
    return load_list(out, devices == NULL ? ROOF_DEFAULT_HARDWARE : devices, "-H", load_device,
                     options, error);
}

/* Everything that the command line names. */
static enum roof_status load(struct cli_grid *out, const struct cli_options *options,
                             struct roof_error *error)
{
    struct roof_sweep *const sweep = &out->sweep;
    enum roof_status status = cli_grid_devices(out, options, error);
    if (status == ROOF_OK && cli_is_model(options)) {
        status = options->operand_count < 2
                     ? roof_error_set(error, ROOF_USAGE, "which model? see roofline list models")
                     : load_list(out, options->operand[1], "model", load_model, options, error);
        if (status == ROOF_OK) {
            status = cli_draft(&out->draft, &sweep->base, options, error);
        }
        sweep->model = (const struct roof_model *const *)out->model;
        sweep->model_count = out->models;
    }
    sweep->hardware = (const struct roof_hardware *const *)out->device;
    sweep->hardware_count = out->devices;
    return status;
}

enum roof_status cli_grid_open(struct cli_grid *out, const struct cli_options *options,
                               struct roof_error *error)
{
    struct roof_sweep *const sweep = &out->sweep;
    *out = (struct cli_grid){.devices = 0};
    roof_scenario_init(&sweep->base);
    enum roof_status status = cli_is_model(options)
                                  ? cli_model_options(&sweep->base, options, error)
                                  : cli_operator(&sweep->base.common.op, options, error);
    if (status == ROOF_OK) {
        status = build(sweep, options, error);
    }
    return status == ROOF_OK ? load(out, options, error) : status;
}

void cli_grid_close(struct cli_grid *grid)
{
    roof_sweep_free(&grid->sweep);
    for (size_t i = 0; i < grid->devices; i++) {
        cli_hardware_free(grid->device[i]);
    }
    for (size_t i = 0; i < grid->models; i++) {
        roof_model_free(grid->model[i]);
    }
    roof_model_free(grid->draft);
}
