// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define NAMES_MAX 256
#define FLUSH_AT 65536

/* Devices and models that the file names, loaded once; those that are not known are remembered. */
struct known {
    char *name[NAMES_MAX];
    void *object[NAMES_MAX]; /* NULL: not known */
    size_t count;
};

struct work {
    const struct cli_options *options;
    struct known devices;
    struct known models;
    struct roof_text text;
    struct cli_output output;
};

/* The object of a name; *fresh says that it is new and must be loaded. */
static enum roof_status look_up(void ***out, bool *fresh, struct known *known, const char *name,
                                struct roof_error *error)
{
    *fresh = false;
    for (size_t i = 0; i < known->count; i++) {
        if (strcmp(known->name[i], name) == 0) {
            *out = &known->object[i];
            return ROOF_OK;
        }
    }
    if (known->count == NAMES_MAX) {
        return roof_error_set(error, ROOF_USAGE, "the file names more than %d devices or models",
                              NAMES_MAX);
    }
    known->name[known->count] = strdup(name);
    if (known->name[known->count] == NULL) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    *fresh = true;
    *out = &known->object[known->count++];
    return ROOF_OK;
}

static enum roof_status on_hardware(void *context, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error)
{
    struct work *const w = context;
    void **object = NULL;
    bool fresh = false;
    enum roof_status status = look_up(&object, &fresh, &w->devices, name, error);
    if (status == ROOF_OK && fresh) {
        /* Only a name that nothing knows is skipped: without --set and --calibration it fails too.
         */
        struct cli_options bare = *w->options;
        struct roof_hardware *loaded = NULL;
        bare.set.count = 0;
        bare.value[ROOF_INPUT_CALIBRATION] = NULL;
        status = cli_hardware(&loaded, name, &bare, error);
        if (status == ROOF_OK) {
            cli_hardware_free(loaded);
            status = cli_hardware(&loaded, name, w->options, error);
        } else if (status == ROOF_USAGE) {
            status = ROOF_OK;
        }
        *object = loaded;
    }
    *out = status == ROOF_OK ? *object : NULL;
    return status == ROOF_OK && *out == NULL ? ROOF_UNSATISFIED : status;
}

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    struct work *const w = context;
    struct roof_text key = ROOF_TEXT_INIT;
    void *unknown = NULL;
    void **object = &unknown;
    bool fresh = false;
    roof_text_printf(&key, *layout == '\0' ? "%s" : "%s as %s", name, layout);
    enum roof_status status = key.failed ? roof_error_set(error, ROOF_MEMORY, "out of memory")
                                         : look_up(&object, &fresh, &w->models, key.data, error);
    if (status == ROOF_OK && fresh) {
        struct cli_options options = *w->options;
        struct roof_model *loaded = NULL;
        if (*layout != '\0') {
            options.value[ROOF_INPUT_LAYOUT] = layout;
        }
        status = cli_model(&loaded, name, &options, error);
        *object = loaded;
    } else if (status == ROOF_OK && *object == NULL) {
        status = roof_error_set(error, ROOF_USAGE, "unknown model '%s'", key.data);
    }
    *out = status == ROOF_OK ? *object : NULL;
    roof_text_free(&key);
    return status;
}

static void on_bad(void *context, const struct roof_error *error)
{
    (void)context;
    (void)cli_fail("compare", error);
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
    return w->text.length < FLUSH_AT && !w->text.failed
               ? ROOF_OK
               : cli_output_write(&w->output, &w->text, error);
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
    struct roof_scenario base;
    struct roof_comparison comparison = {.bad = 0};
    const char *const device = options->value[ROOF_INPUT_HARDWARE];
    if (!rows && options->output != ROOF_OUTPUT_TEXT && options->output != ROOF_OUTPUT_JSON) {
        return roof_error_set(error, ROOF_USAGE,
                              "compare writes rows as csv or ndjson and a summary as text or json");
    }
    roof_scenario_init(&base);
    enum roof_status status = cli_fields(&base, options, error);
    if (status == ROOF_OK) {
        status = cli_output_open(&w->output, options->value[ROOF_INPUT_OUTPUT], error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    status = roof_compare(&comparison, options->operand[0], &base,
                          device == NULL ? ROOF_DEFAULT_HARDWARE : device,
                          options->value[ROOF_INPUT_GROUP_BY], &calls, error);
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
    struct work w = {.options = &options, .text = ROOF_TEXT_INIT};
    bool bad = false;
    enum roof_status status = cli_options(&options, command, argc, argv, &error);
    if (status == ROOF_OK && options.help) {
        return 0;
    }
    if (status == ROOF_OK && options.operand_count != 1) {
        status = roof_error_set(&error, ROOF_USAGE, "which file? a CSV with measured times");
    }
    if (status == ROOF_OK) {
        status = run(&w, &bad, &error);
    }
    roof_text_free(&w.text);
    for (size_t i = 0; i < w.devices.count; i++) {
        free(w.devices.name[i]);
        cli_hardware_free(w.devices.object[i]);
    }
    for (size_t i = 0; i < w.models.count; i++) {
        free(w.models.name[i]);
        roof_model_free(w.models.object[i]);
    }
    if (status != ROOF_OK) {
        return cli_fail(command->name, &error);
    }
    return bad ? cli_exit_code(ROOF_INVALID) : 0;
}
