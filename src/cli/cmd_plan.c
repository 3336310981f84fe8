// SPDX-License-Identifier: MIT
/* Answers `recommend model NAME`: reads a request for plans, and writes the answer. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli.h"
#include "decide/plan_query.h"

#define TOP_DEFAULT 12

/* A request with all that was loaded for it. */
struct asked {
    struct roof_plan_request request;
    struct roof_engines *engines;
    struct roof_model *model;
    struct roof_hardware *hardware[ROOF_PLAN_HARDWARE_MAX];
    size_t hardware_count;
    double price[ROOF_PLAN_HARDWARE_MAX];
    struct cli_directories directories;
    int64_t *batch;
    int64_t *devices;
    char side[2][CLI_SIDE_SIZE]; /* the two of --explain; "" without it */
};

static bool has(const struct cli_options *options, size_t input)
{
    return options->value[input] != NULL;
}

/* Loads the devices of a list "a,b,c". */
static enum roof_status load_hardware(struct asked *asked, const char *list,
                                      const struct cli_options *options, struct roof_error *error)
{
    while (list != NULL) {
        const size_t length = strcspn(list, ",");
        if (length == 0 || asked->hardware_count == ROOF_PLAN_HARDWARE_MAX) {
            return roof_error_set(error, ROOF_USAGE, "--hardware takes 1 to %d names",
                                  ROOF_PLAN_HARDWARE_MAX);
        }
        char *const name = strndup(list, length);
        if (name == NULL) {
            return roof_no_memory(error);
        }
        const enum roof_status status =
            cli_hardware(&asked->hardware[asked->hardware_count], name, options, error);
        free(name);
        TRY(status);
        asked->price[asked->hardware_count++] = ROOF_UNKNOWN;
        list = list[length] == '\0' ? NULL : list + length + 1;
    }
    return ROOF_OK;
}

/* Reads the values of a list or range; without one *out stays NULL. */
static enum roof_status read_list(int64_t **out, size_t *count, size_t input,
                                  const struct cli_options *options, struct roof_error *error)
{
    const char *const text = options->value[input];
    struct roof_values values = {0};
    if (text == NULL) {
        return ROOF_OK;
    }
    enum roof_status status = roof_input_parse_list(&values, roof_input(input), text, error);
    if (status == ROOF_OK && values.count > ROOF_PLAN_VALUES_MAX) {
        status = roof_error_set(error, ROOF_USAGE, "'%s' has more than %d values", text,
                                ROOF_PLAN_VALUES_MAX);
    }
    if (status == ROOF_OK) {
        *count = (size_t)values.count;
        *out = malloc((*count + 1) * sizeof **out);
        status = *out == NULL ? roof_no_memory(error) : ROOF_OK;
    }
    for (size_t i = 0; status == ROOF_OK && i < *count; i++) {
        (*out)[i] = roof_values_at(&values, (int64_t)i);
    }
    roof_values_free(&values);
    return status;
}

static enum roof_status check_options(const struct cli_options *options, struct roof_error *error)
{
    if (has(options, ROOF_INPUT_EMIT) && options->output != ROOF_OUTPUT_TEXT) {
        return roof_error_set(error, ROOF_USAGE, "--emit writes a script, which has no --format");
    }
    if (has(options, ROOF_INPUT_EMIT) && has(options, ROOF_INPUT_TOP)) {
        return roof_error_set(error, ROOF_USAGE, "--emit writes one plan: leave out --top");
    }
    if (options->operand_count < 2) {
        return roof_error_set(error, ROOF_USAGE, "which model? see roofline list models");
    }
    if (has(options, ROOF_DIM_EP)) {
        return roof_error_set(error, ROOF_USAGE, "the search chooses the split, --ep too");
    }
    return ROOF_OK;
}

/* Reads what the search ranks by and what it leaves out. */
static enum roof_status read_constraints(struct roof_plan_request *out,
                                         const struct cli_options *options,
                                         struct roof_error *error)
{
    int64_t choice = 0;
    if (has(options, ROOF_INPUT_BY)) {
        TRY(cli_choice(&choice, options, ROOF_INPUT_BY, error));
        out->ranking = (enum roof_ranking)choice;
    }
    if (has(options, ROOF_INPUT_OBJECTIVE)) {
        TRY(cli_choice(&choice, options, ROOF_INPUT_OBJECTIVE, error));
        TRY(roof_plan_read_objective(&out->objective, choice, error));
    }
    if (has(options, ROOF_INPUT_MAX_ACCURACY_LOSS)) {
        TRY(roof_accuracy_find(&out->max_loss, options->value[ROOF_INPUT_MAX_ACCURACY_LOSS],
                               error));
    }
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        const enum roof_plan_limit limit = (enum roof_plan_limit)i;
        const char *const text = options->value[roof_plan_limit_input(limit)];
        if (text != NULL) {
            TRY(roof_plan_read_limit(&out->limit[limit], limit, text, error));
        }
    }
    return ROOF_OK;
}

/* The batches and the numbers of devices are lists here, and no part of the scenario. */
static enum roof_status read_scenario(struct asked *asked, const struct cli_options *options,
                                      struct roof_error *error)
{
    struct roof_plan_request *const request = &asked->request;
    struct cli_options single = *options;
    single.value[ROOF_DIM_BATCH] = single.value[ROOF_DIM_DEVICES] = NULL;
    TRY(cli_scenario(&request->base, &single, error));
    TRY(check_options(options, error));
    TRY(read_constraints(request, options, error));
    TRY(read_list(&asked->batch, &request->batches, ROOF_DIM_BATCH, options, error));
    TRY(read_list(&asked->devices, &request->device_counts, ROOF_DIM_DEVICES, options, error));
    request->batch = asked->batch;
    request->devices = asked->devices;
    request->formats = options->value[ROOF_INPUT_FORMATS];
    request->engine = options->value[ROOF_INPUT_ENGINE];
    request->emit = options->value[ROOF_INPUT_EMIT];
    request->stack_given = has(options, ROOF_INPUT_STACK);
    request->native_only = has(options, ROOF_INPUT_NATIVE_ONLY);
    request->explain = options->output == ROOF_OUTPUT_TEXT || options->output == ROOF_OUTPUT_JSON;
    return ROOF_OK;
}

/* Reads --explain A,B; *devices is the text, where these are devices, and then all there are. */
static enum roof_status read_sides(struct asked *asked, const char **devices,
                                   const struct cli_options *options, struct roof_error *error)
{
    const char *const text = options->value[ROOF_INPUT_EXPLAIN];
    bool formats = false;
    if (text == NULL) {
        return ROOF_OK;
    }
    TRY(cli_explain_pair(asked->side, options, error));
    asked->request.side[0] = asked->side[0];
    asked->request.side[1] = asked->side[1];
    TRY(roof_plan_sides_are_formats(&formats, asked->engines, asked->request.side, error));
    if (!formats && *devices != NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "--explain %s names the devices: leave out --hardware", text);
    }
    *devices = formats ? *devices : text;
    if (!asked->request.explain) {
        return roof_error_set(error, ROOF_USAGE,
                              "--explain of plans goes with --format text or json");
    }
    return ROOF_OK;
}

static enum roof_status read_request(struct asked *asked, const struct cli_options *options,
                                     struct roof_error *error)
{
    struct roof_plan_request *const request = &asked->request;
    const char *devices = options->value[ROOF_INPUT_HARDWARE];
    roof_plan_request_init(request);
    TRY(read_scenario(asked, options, error));
    TRY(roof_engines_load(&asked->engines, error));
    TRY(read_sides(asked, &devices, options, error));
    TRY(load_hardware(asked, devices == NULL ? ROOF_DEFAULT_HARDWARE : devices, options, error));
    request->engines = asked->engines;
    request->hardware = (const struct roof_hardware *const *)asked->hardware;
    request->hardware_count = asked->hardware_count;
    for (int i = 0; i < options->prices.count; i++) {
        TRY(roof_plan_read_prices(asked->price, request->hardware, request->hardware_count,
                                  options->prices.value[i], error));
    }
    request->price = asked->price;
    TRY(cli_model(&asked->model, options->operand[1], options, error));
    request->model = asked->model;
    TRY(cli_directories(&asked->directories, error));
    request->directories = asked->directories.path;
    return ROOF_OK;
}

static void write_table(struct roof_text *out, struct roof_table *table,
                        const struct roof_plan_answer *answer, int64_t top)
{
    roof_table_begin(table, out);
    for (size_t i = 0; i < answer->plans.count && (int64_t)i < top; i++) {
        struct roof_plan_row row;
        roof_plan_name(&row, &answer->plans.plan[i], (int)i + 1, &answer->query);
        roof_table_row(table, out, &row);
    }
    roof_table_end(table, out);
}

/* Writes what was found; of two sides that are explained, the explanation alone. */
static void write_plans(struct roof_text *out, struct roof_table *table,
                        const struct roof_plan_answer *answer, const struct cli_options *options,
                        int64_t top)
{
    const struct roof_plan_query *const query = &answer->query;
    const struct roof_plan_speedup *const why = answer->explained ? &answer->why : NULL;
    const bool sides = has(options, ROOF_INPUT_EXPLAIN) && why != NULL;
    if (options->output == ROOF_OUTPUT_TEXT && sides) {
        roof_plan_report_why_text(out, why, &answer->plans.plan[0], query, (size_t)top);
    } else if (options->output == ROOF_OUTPUT_TEXT) {
        roof_plan_report_text(out, &answer->plans, query, why, (size_t)top);
    } else if (options->output == ROOF_OUTPUT_JSON && sides) {
        roof_plan_report_why_json(out, why, &answer->plans.plan[0], query);
    } else if (options->output == ROOF_OUTPUT_JSON) {
        roof_plan_report_json(out, &answer->plans, query, why, (size_t)top);
    } else {
        write_table(out, table, answer, top);
    }
}

static enum roof_status write_answer(struct roof_text *out, const struct roof_plan_answer *answer,
                                     const struct cli_options *options, enum roof_status *found,
                                     struct roof_error *error)
{
    struct roof_table table;
    int64_t top = options->output == ROOF_OUTPUT_TEXT ? TOP_DEFAULT : INT64_MAX;
    *found = answer->plans.count == 0 ? ROOF_UNSATISFIED : ROOF_OK;
    TRY(roof_table_open(&table, options->output, ROOF_TABLE_PLANS, ROOF_OPERATOR_GEMM,
                        options->value[ROOF_INPUT_COLUMNS], error));
    if (has(options, ROOF_INPUT_TOP)) {
        TRY(roof_input_parse(&top, roof_input(ROOF_INPUT_TOP), options->value[ROOF_INPUT_TOP],
                             error));
    }
    if (!has(options, ROOF_INPUT_EMIT)) {
        write_plans(out, &table, answer, options, top);
        return ROOF_OK;
    }
    *found = roof_emit(out, answer->engine, &answer->plans,
                       answer->others.count == 0 ? NULL : &answer->others, &answer->query,
                       options->operand[1], error);
    return *found == ROOF_UNSATISFIED ? ROOF_OK : *found;
}

enum roof_status cli_recommend_model(struct roof_text *out, const struct cli_options *options,
                                     enum roof_status *found, struct roof_error *error)
{
    struct roof_plan_answer *answer = NULL;
    struct asked *const asked = calloc(1, sizeof *asked);
    if (asked == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = read_request(asked, options, error);
    if (status == ROOF_OK) {
        status = roof_plan_answer_open(&answer, &asked->request, error);
    }
    if (status == ROOF_OK) {
        status = write_answer(out, answer, options, found, error);
    }
    roof_plan_answer_free(answer);
    roof_engines_free(asked->engines);
    roof_model_free(asked->model);
    for (size_t i = 0; i < asked->hardware_count; i++) {
        cli_hardware_free(asked->hardware[i]);
    }
    free(asked->directories.owned);
    free(asked->batch);
    free(asked->devices);
    free(asked);
    return status;
}
