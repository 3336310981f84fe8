// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define HARDWARE_MAX 256
#define FLUSH_AT 65536

/* The devices of a sweep: "a,b,c". */
struct devices {
    struct roof_hardware *device[HARDWARE_MAX];
    size_t count;
};

static enum roof_status load_devices(struct devices *out, const struct cli_options *options,
                                     struct roof_error *error)
{
    const char *item = options->value[ROOF_INPUT_HARDWARE];
    enum roof_status status = ROOF_OK;
    if (item == NULL) {
        item = ROOF_DEFAULT_HARDWARE;
    }
    while (status == ROOF_OK && item != NULL) {
        const char *const comma = strchr(item, ',');
        const size_t length = comma == NULL ? strlen(item) : (size_t)(comma - item);
        char *const name = strndup(item, length);
        if (name == NULL) {
            return roof_error_set(error, ROOF_MEMORY, "out of memory");
        }
        if (length == 0) {
            status = roof_error_set(error, ROOF_USAGE, "-H: the list '%s' has an empty element",
                                    options->value[ROOF_INPUT_HARDWARE]);
        } else if (out->count == HARDWARE_MAX) {
            status = roof_error_set(error, ROOF_USAGE, "-H takes at most %d devices", HARDWARE_MAX);
        } else {
            status = cli_hardware(&out->device[out->count], name, options, error);
            out->count += status == ROOF_OK;
        }
        free(name);
        item = comma == NULL ? NULL : comma + 1;
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
    if (input->kind == ROOF_INPUT_FLAG) {
        roof_input_put(&sweep->base, input, 1);
        return ROOF_OK;
    }
    struct roof_values values;
    const enum roof_status status =
        roof_input_parse_list(&values, input, options->value[id], error);
    return status == ROOF_OK ? roof_sweep_add(sweep, input, &values, error) : status;
}

/* Dimensions in the operator's order, then the formats: the last varies fastest. */
static enum roof_status build(struct roof_sweep *sweep, const struct cli_options *options,
                              struct roof_error *error)
{
    const struct roof_operator_row *const row = roof_operator_row(sweep->base.op);
    enum roof_status status = ROOF_OK;
    for (size_t id = 0; id < ROOF_DIM_COUNT && status == ROOF_OK; id++) {
        if (options->value[id] != NULL) {
            status = roof_operator_takes(sweep->base.op, (enum roof_dimension)id, error);
        }
    }
    for (int i = 0; i < row->dim_count && status == ROOF_OK; i++) {
        status = add_axis(sweep, row->dims[i], options, error);
    }
    static const size_t formats[] = {ROOF_INPUT_PRECISION_BOTH,
                                     ROOF_INPUT_WEIGHTS,
                                     ROOF_INPUT_ACTIVATIONS,
                                     ROOF_INPUT_KV,
                                     ROOF_INPUT_OUT,
                                     ROOF_INPUT_COMPUTE,
                                     ROOF_INPUT_SPARSE};
    for (size_t i = 0; i < sizeof formats / sizeof *formats && status == ROOF_OK; i++) {
        status = add_axis(sweep, formats[i], options, error);
    }
    return status;
}

struct sink {
    struct roof_table table;
    struct roof_text text;
    struct cli_output output;
};

static enum roof_status on_point(void *context, const struct roof_prediction *prediction,
                                 struct roof_error *error)
{
    struct sink *const sink = context;
    roof_table_row(&sink->table, &sink->text, prediction);
    return sink->text.length < FLUSH_AT && !sink->text.failed
               ? ROOF_OK
               : cli_output_write(&sink->output, &sink->text, error);
}

static enum roof_status run(const struct roof_sweep *sweep, const struct cli_options *options,
                            struct roof_error *error)
{
    struct sink sink = {.text = ROOF_TEXT_INIT};
    uint64_t count = 0;
    enum roof_status status =
        roof_table_open(&sink.table, options->output, ROOF_TABLE_PREDICTIONS, sweep->base.op,
                        options->value[ROOF_INPUT_COLUMNS], error);
    if (status == ROOF_OK) {
        status = roof_sweep_count(&count, sweep, error);
    }
    if (status == ROOF_OK) {
        status = cli_output_open(&sink.output, options->value[ROOF_INPUT_OUTPUT], error);
        if (status == ROOF_OK) {
            /* The header leaves with the first rows: a sweep whose first point is refused prints
             * nothing. */
            roof_table_begin(&sink.table, &sink.text);
            status = roof_sweep_run(sweep, 0, count, on_point, &sink, error);
            if (status == ROOF_OK) {
                roof_table_end(&sink.table, &sink.text);
            }
            if (sink.table.rows > 0) {
                struct roof_error write_error = {0};
                const enum roof_status written =
                    cli_output_write(&sink.output, &sink.text, &write_error);
                if (status == ROOF_OK && written != ROOF_OK) {
                    *error = write_error;
                    status = written;
                }
            }
            status = cli_output_close(&sink.output, status, error);
        }
    }
    roof_text_free(&sink.text);
    return status;
}

int cli_sweep(const struct cli_command *command, int argc, char **argv)
{
    struct roof_error error = {0};
    struct cli_options options;
    struct devices devices = {.count = 0};
    struct roof_sweep sweep = {.base = ROOF_WORKLOAD_INIT};

    enum roof_status status = cli_options(&options, command, argc, argv, &error);
    if (status == ROOF_OK && options.help) {
        return 0;
    }
    if (status == ROOF_OK) {
        status = cli_operator(&sweep.base.op, &options, &error);
    }
    if (status == ROOF_OK) {
        status = build(&sweep, &options, &error);
    }
    if (status == ROOF_OK) {
        status = load_devices(&devices, &options, &error);
    }
    if (status == ROOF_OK) {
        sweep.hardware = (const struct roof_hardware *const *)devices.device;
        sweep.hardware_count = devices.count;
        status = run(&sweep, &options, &error);
    }
    roof_sweep_free(&sweep);
    for (size_t i = 0; i < devices.count; i++) {
        roof_hardware_free(devices.device[i]);
    }
    return status == ROOF_OK ? 0 : cli_fail(command->name, &error);
}
