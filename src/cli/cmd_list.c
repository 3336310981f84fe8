// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Everything one list needs. */
struct list {
    const struct cli_options *options;
    const char *id; /* NULL: all */
    struct roof_table table;
    struct roof_text *text;
};

/* One entry is shown in full to people and as JSON; in the other formats it is a row. */
static bool in_full(const struct list *list)
{
    return list->id != NULL &&
           (list->options->output == ROOF_OUTPUT_TEXT || list->options->output == ROOF_OUTPUT_JSON);
}

static enum roof_status one_hardware(struct list *list, const char *id, struct roof_error *error)
{
    struct roof_hardware *hardware = NULL;
    struct roof_hardware *product = NULL;
    enum roof_status status = cli_hardware(&hardware, id, list->options, error);
    if (status == ROOF_OK && in_full(list)) {
        status = cli_product(&product, hardware, error);
        if (status == ROOF_OK) {
            roof_report_hardware(list->text, list->options->output == ROOF_OUTPUT_JSON, hardware,
                                 product);
        }
    } else if (status == ROOF_OK) {
        roof_table_hardware(&list->table, list->text, hardware);
    }
    cli_hardware_free(hardware);
    roof_hardware_free(product);
    return status;
}

static enum roof_status all_hardware(struct list *list, struct roof_error *error)
{
    struct roof_text ids = ROOF_TEXT_INIT;
    struct cli_directories directories;
    size_t count = 0;
    enum roof_status status = cli_directories(&directories, error);
    if (status == ROOF_OK) {
        status = roof_hardware_ids(&ids, &count, directories.path, error);
    }
    const char *id = ids.data;
    for (size_t i = 0; i < count && status == ROOF_OK; i++) {
        status = one_hardware(list, id, error);
        id += strlen(id) + 1;
    }
    if (list->options->output == ROOF_OUTPUT_TEXT) {
        roof_text_put(list->text, "\nPeaks are dense, in TFLOPS; - is no unit for it. "
                                  "Sources: roofline list hardware ID\n");
    }
    roof_text_free(&ids);
    free(directories.owned);
    return status;
}

static enum roof_status list_hardware(struct list *list, struct roof_error *error)
{
    return list->id == NULL ? all_hardware(list, error) : one_hardware(list, list->id, error);
}

static enum roof_status list_precisions(struct list *list, struct roof_error *error)
{
    struct roof_accuracy accuracy = {0};
    enum roof_precision only = ROOF_PRECISION_AUTO;
    enum roof_status status = ROOF_OK;
    if (list->id != NULL) {
        status = roof_precision_find(&only, list->id, error);
    }
    if (status == ROOF_OK) {
        status = roof_accuracy_load(&accuracy, error);
    }
    if (status == ROOF_OK && in_full(list)) {
        roof_report_precision(list->text, list->options->output == ROOF_OUTPUT_JSON, only,
                              &accuracy);
    }
    for (int p = 0; p < ROOF_PRECISION_COUNT && status == ROOF_OK && !in_full(list); p++) {
        const struct roof_precision_entry entry = {(enum roof_precision)p, &accuracy};
        if (list->id == NULL || p == (int)only) {
            roof_table_precision(&list->table, list->text, &entry);
        }
    }
    roof_accuracy_free(&accuracy);
    return status;
}

static enum roof_status list_operators(struct list *list, struct roof_error *error)
{
    enum roof_operator only = ROOF_OPERATOR_COUNT;
    enum roof_status status = ROOF_OK;
    if (list->id != NULL) {
        status = roof_operator_find(&only, list->id, error);
    }
    if (status == ROOF_OK && in_full(list)) {
        roof_report_operator(list->text, list->options->output == ROOF_OUTPUT_JSON, only);
    }
    for (int i = 0; i < ROOF_OPERATOR_COUNT && status == ROOF_OK && !in_full(list); i++) {
        if (list->id == NULL || i == (int)only) {
            roof_table_operator(&list->table, list->text, roof_operator_row((enum roof_operator)i));
        }
    }
    return status;
}

static enum roof_status one_model(struct list *list, const char *name,
                                  const struct cli_directories *directories,
                                  struct roof_error *error)
{
    struct roof_model *model = NULL;
    struct roof_model_entry entry = {.model = NULL};
    struct roof_scenario scenario;
    enum roof_status status = roof_model_load(&model, name, directories->path, error);
    if (status == ROOF_OK) {
        status = roof_model_parameters(&entry.parameters, &entry.active_parameters, model, error);
    }
    roof_scenario_init(&scenario);
    if (status == ROOF_OK) {
        status = roof_scenario_resolve(&scenario, model, error);
    }
    if (status == ROOF_OK) {
        cli_remark(model);
        entry.model = model;
        entry.kv_bytes_per_token = roof_kv_bytes_per_token(model, &scenario);
        if (in_full(list)) {
            roof_model_report_about(list->text, list->options->output == ROOF_OUTPUT_JSON, &entry);
        } else {
            roof_table_model(&list->table, list->text, &entry);
        }
    }
    roof_model_free(model);
    return status;
}

static enum roof_status one_layout(struct list *list, const char *name,
                                   const struct cli_directories *directories,
                                   struct roof_error *error)
{
    struct roof_layout_about about;
    const enum roof_status status = roof_layout_load(&about, name, directories->path, error);
    if (status == ROOF_OK && in_full(list)) {
        roof_model_report_layout(list->text, list->options->output == ROOF_OUTPUT_JSON, &about);
    } else if (status == ROOF_OK) {
        roof_table_layout(&list->table, list->text, &about);
    }
    if (status == ROOF_OK) {
        roof_layout_about_free(&about);
    }
    return status;
}

/* The named one, or all of a registry. */
static enum roof_status list_named(
    struct list *list,
    enum roof_status (*one)(struct list *, const char *, const struct cli_directories *,
                            struct roof_error *),
    enum roof_status (*all)(struct roof_text *, size_t *, const char *const *, struct roof_error *),
    struct roof_error *error)
{
    struct roof_text ids = ROOF_TEXT_INIT;
    struct cli_directories directories;
    size_t count = 0;
    enum roof_status status = cli_directories(&directories, error);
    if (status == ROOF_OK && list->id != NULL) {
        status = one(list, list->id, &directories, error);
    } else if (status == ROOF_OK) {
        status = all(&ids, &count, directories.path, error);
    }
    const char *id = ids.data;
    for (size_t i = 0; i < count && status == ROOF_OK; i++) {
        status = one(list, id, &directories, error);
        id += strlen(id) + 1;
    }
    roof_text_free(&ids);
    free(directories.owned);
    return status;
}

static enum roof_status list_models(struct list *list, struct roof_error *error)
{
    return list_named(list, one_model, roof_model_ids, error);
}

static enum roof_status list_layouts(struct list *list, struct roof_error *error)
{
    return list_named(list, one_layout, roof_layout_ids, error);
}

static enum roof_status list_engines(struct list *list, struct roof_error *error)
{
    struct roof_engines *engines = NULL;
    size_t only = 0;
    enum roof_status status = roof_engines_load(&engines, error);
    if (status == ROOF_OK && list->id != NULL) {
        status = roof_engine_find(&only, engines, list->id, error);
    }
    for (size_t i = 0; status == ROOF_OK && i < engines->count; i++) {
        struct roof_engine_entry entry;
        roof_engine_entry_make(&entry, &engines->engine[i]);
        if (list->id != NULL && i != only) {
            continue;
        }
        if (in_full(list)) {
            roof_engine_report(list->text, list->options->output == ROOF_OUTPUT_JSON, &entry);
        } else {
            roof_table_engine(&list->table, list->text, &entry);
        }
    }
    roof_engines_free(engines);
    return status;
}

static const struct {
    const char *name;
    enum roof_table_kind kind;
    enum roof_status (*run)(struct list *list, struct roof_error *error);
} lists[] = {{"hardware", ROOF_TABLE_HARDWARE, list_hardware},
             {"precisions", ROOF_TABLE_PRECISIONS, list_precisions},
             {"operators", ROOF_TABLE_OPERATORS, list_operators},
             {"models", ROOF_TABLE_MODELS, list_models},
             {"layouts", ROOF_TABLE_LAYOUTS, list_layouts},
             {"engines", ROOF_TABLE_ENGINES, list_engines}};
enum { LISTS = sizeof lists / sizeof *lists };

static enum roof_status run(struct list *list, const char *name, struct roof_error *error)
{
    const char *names[LISTS];
    for (size_t i = 0; i < LISTS; i++) {
        names[i] = lists[i].name;
        if (strcmp(name, names[i]) != 0) {
            continue;
        }
        if (list->options->set.count > 0 && lists[i].kind != ROOF_TABLE_HARDWARE) {
            return roof_error_set(error, ROOF_USAGE, "--set goes with list hardware");
        }
        enum roof_status status =
            roof_table_open(&list->table, list->options->output, lists[i].kind, ROOF_OPERATOR_GEMM,
                            list->options->value[ROOF_INPUT_COLUMNS], error);
        if (status != ROOF_OK) {
            return status;
        }
        if (!in_full(list)) {
            roof_table_begin(&list->table, list->text);
        }
        status = lists[i].run(list, error);
        if (!in_full(list)) {
            roof_table_end(&list->table, list->text);
        }
        return status;
    }
    return roof_unknown_name(error, ROOF_USAGE, "list", name, names, LISTS);
}

int cli_list(const struct cli_command *command, int argc, char **argv)
{
    struct roof_error error = {0};
    struct cli_options options;
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status status = cli_options(&options, command, argc, argv, &error);
    if (status == ROOF_OK && options.help) {
        return 0;
    }
    if (status == ROOF_OK && options.operand_count == 0) {
        status = roof_error_set(
            &error, ROOF_USAGE,
            "list what? hardware, precisions, operators, models, layouts or engines");
    }
    if (status == ROOF_OK) {
        struct list list = {.options = &options,
                            .id = options.operand_count > 1 ? options.operand[1] : NULL,
                            .text = &text};
        status = run(&list, options.operand[0], &error);
    }
    if (status == ROOF_OK) {
        status = cli_output_all(options.value[ROOF_INPUT_OUTPUT], &text, &error);
    }
    roof_text_free(&text);
    return status == ROOF_OK ? 0 : cli_fail(command->name, &error);
}
