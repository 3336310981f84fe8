// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Everything one list needs. */
struct list {
    const struct cli_options *options;
    const char *id; /* NULL: all */
    struct roof_text *text;
};

static enum roof_status all_hardware(const struct list *list, struct roof_error *error)
{
    struct roof_table table;
    struct roof_text ids = ROOF_TEXT_INIT;
    struct cli_directories directories;
    size_t count = 0;
    enum roof_status status =
        roof_table_open(&table, list->options->output, ROOF_TABLE_HARDWARE, ROOF_OPERATOR_GEMM,
                        list->options->value[ROOF_INPUT_COLUMNS], error);
    if (status != ROOF_OK) {
        return status;
    }
    status = cli_directories(&directories, error);
    if (status == ROOF_OK) {
        status = roof_hardware_ids(&ids, &count, directories.path, error);
    }
    roof_table_begin(&table, list->text);
    const char *id = ids.data;
    for (size_t i = 0; i < count && status == ROOF_OK; i++) {
        struct roof_hardware *hardware = NULL;
        status = cli_hardware(&hardware, id, list->options, error);
        if (status == ROOF_OK) {
            roof_table_row(&table, list->text, hardware);
        }
        roof_hardware_free(hardware);
        id += strlen(id) + 1;
    }
    roof_table_end(&table, list->text);
    if (list->options->output == ROOF_OUTPUT_TEXT) {
        roof_text_put(list->text, "\nPeaks are dense, in TFLOPS; - is no unit for it. "
                                  "Sources: roofline list hardware ID\n");
    }
    roof_text_free(&ids);
    free(directories.owned);
    return status;
}

static enum roof_status list_hardware(const struct list *list, struct roof_error *error)
{
    if (list->id == NULL) {
        return all_hardware(list, error);
    }
    struct roof_hardware *hardware = NULL;
    struct roof_hardware *product = NULL;
    enum roof_status status = cli_hardware(&hardware, list->id, list->options, error);
    if (status == ROOF_OK) {
        status = cli_product(&product, hardware, error);
    }
    if (status == ROOF_OK) {
        roof_report_hardware(list->text, list->options->output, hardware, product);
    }
    roof_hardware_free(hardware);
    roof_hardware_free(product);
    return status;
}

static enum roof_status list_precisions(const struct list *list, struct roof_error *error)
{
    struct roof_accuracy accuracy = {0};
    struct roof_table table;
    enum roof_precision precision = ROOF_PRECISION_AUTO;
    enum roof_status status =
        roof_table_open(&table, list->options->output, ROOF_TABLE_PRECISIONS, ROOF_OPERATOR_GEMM,
                        list->options->value[ROOF_INPUT_COLUMNS], error);
    if (status == ROOF_OK && list->id != NULL) {
        status = roof_precision_find(&precision, list->id, error);
    }
    if (status == ROOF_OK) {
        status = roof_accuracy_load(&accuracy, error);
    }
    if (status == ROOF_OK && list->id != NULL) {
        roof_report_precision(list->text, list->options->output, precision, &accuracy);
    } else if (status == ROOF_OK) {
        roof_table_begin(&table, list->text);
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            const struct roof_precision_entry entry = {(enum roof_precision)p, &accuracy};
            roof_table_row(&table, list->text, &entry);
        }
        roof_table_end(&table, list->text);
    }
    roof_accuracy_free(&accuracy);
    return status;
}

static enum roof_status list_operators(const struct list *list, struct roof_error *error)
{
    struct roof_table table;
    enum roof_operator op = ROOF_OPERATOR_GEMM;
    enum roof_status status = roof_table_open(&table, list->options->output, ROOF_TABLE_OPERATORS,
                                              op, list->options->value[ROOF_INPUT_COLUMNS], error);
    if (status == ROOF_OK && list->id != NULL) {
        status = roof_operator_find(&op, list->id, error);
        if (status == ROOF_OK) {
            roof_report_operator(list->text, list->options->output, op);
        }
    } else if (status == ROOF_OK) {
        roof_table_begin(&table, list->text);
        for (int i = 0; i < ROOF_OPERATOR_COUNT; i++) {
            roof_table_row(&table, list->text, roof_operator_row((enum roof_operator)i));
        }
        roof_table_end(&table, list->text);
    }
    return status;
}

int cli_list(const struct cli_command *command, int argc, char **argv)
{
    static const struct {
        const char *name;
        enum roof_status (*list)(const struct list *list, struct roof_error *error);
    } lists[] = {{"hardware", list_hardware},
                 {"precisions", list_precisions},
                 {"operators", list_operators}};
    enum { LISTS = sizeof lists / sizeof *lists };

    struct roof_error error = {0};
    struct cli_options options;
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status status = cli_options(&options, command, argc, argv, &error);
    if (status == ROOF_OK && options.help) {
        return 0;
    }
    if (status == ROOF_OK && options.operand_count == 0) {
        status = roof_error_set(&error, ROOF_USAGE, "list what? hardware, precisions or operators");
    }
    if (status == ROOF_OK) {
        const char *names[LISTS];
        size_t i = 0;
        for (; i < LISTS; i++) {
            names[i] = lists[i].name;
        }
        for (i = 0; i < LISTS && strcmp(options.operand[0], names[i]) != 0; i++) {
        }
        const struct list list = {.options = &options,
                                  .id = options.operand_count > 1 ? options.operand[1] : NULL,
                                  .text = &text};
        status = i == LISTS ? roof_unknown_name(&error, ROOF_USAGE, "list", options.operand[0],
                                                names, LISTS)
                            : lists[i].list(&list, &error);
    }
    if (status == ROOF_OK) {
        status = cli_output_all(options.value[ROOF_INPUT_OUTPUT], &text, &error);
    }
    roof_text_free(&text);
    return status == ROOF_OK ? 0 : cli_fail(command->name, &error);
}
