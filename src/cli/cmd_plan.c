// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define DEVICES_MAX 64
#define TOP_DEFAULT 12
#define SERVINGS_SHOWN 64 /* names of formats in a message */
#define COUNT_MAX 4096    /* devices of a plan */

/* What a search needs and gives. */
struct work {
    struct roof_hardware *hardware[DEVICES_MAX];
    double price[DEVICES_MAX];
    size_t hardware_count;
    struct roof_model *model;
    struct roof_model *published; /* with the formats of its file, where that has them */
    struct roof_engines *engines;
    unsigned measured; /* engines by number: those whose kernels were measured */
    size_t engine;     /* whose words --emit wants */
    struct cli_directories directories;
    struct roof_accuracy accuracy;
    struct roof_values batches;
    struct roof_values counts;
    int64_t *batch;
    int64_t *devices;
    struct roof_plan_query query;
    struct roof_plans plans;
    struct roof_plans others;    /* of all measured engines, where --emit searched one */
    char side[2][CLI_SIDE_SIZE]; /* of --explain; "" without it */
    bool *serving;               /* combinations of formats that it names */
    bool explained;              /* there is something to say in `why` */
    struct roof_plan_why why;
};

/* The plans of a device that is there twice would be, too. */
static enum roof_status check_device(const struct work *w, struct roof_error *error)
{
    const size_t last = w->hardware_count - 1;
    for (size_t h = 0; h < last; h++) {
        if (strcmp(w->hardware[h]->id, w->hardware[last]->id) == 0) {
            return roof_error_set(error, ROOF_USAGE, "'%s' twice", w->hardware[h]->id);
        }
    }
    return ROOF_OK;
}

static enum roof_status load_devices(struct work *w, const struct cli_options *options,
                                     struct roof_error *error)
{
    const char *const given = options->value[ROOF_INPUT_HARDWARE];
    const char *item = given == NULL ? ROOF_DEFAULT_HARDWARE : given;
    enum roof_status status = ROOF_OK;
    while (status == ROOF_OK && item != NULL) {
        const size_t length = strcspn(item, ",");
        char *const name = strndup(item, length);
        if (name == NULL) {
            return roof_no_memory(error);
        }
        if (length == 0 || w->hardware_count == DEVICES_MAX) {
            status =
                roof_error_set(error, ROOF_USAGE, "--hardware takes 1 to %d names", DEVICES_MAX);
        } else {
            status = cli_hardware(&w->hardware[w->hardware_count], name, options, error);
            w->price[w->hardware_count] = ROOF_UNKNOWN;
            w->hardware_count += status == ROOF_OK;
            status = status == ROOF_OK ? check_device(w, error) : status;
        }
        free(name);
        item = item[length] == '\0' ? NULL : item + length + 1;
    }
    return status;
}

/* The next name of a list "a,b,c", cut to what fits; false at its end. */
static bool next_name(char name[CLI_SIDE_SIZE], const char **list)
{
    if (*list == NULL) {
        return false;
    }
    const size_t length = strcspn(*list, ",");
    (void)snprintf(name, CLI_SIDE_SIZE, "%.*s", (int)(length < CLI_SIDE_SIZE ? length : 0), *list);
    *list = (*list)[length] == '\0' ? NULL : *list + length + 1;
    return true;
}

/* "h100-sxm=2.5" */
static enum roof_status put_price(struct work *w, const char *text, struct roof_error *error)
{
    const char *const equals = strchr(text, '=');
    bool found = false;
    double price = 0;
    if (equals == NULL) {
        return roof_error_set(error, ROOF_USAGE, "--price-per-hour is ID=PRICE,..., not '%s'",
                              text);
    }
    enum roof_status status =
        roof_parse_number(&price, equals + 1, "--price-per-hour", 0, 1e9, error);
    for (size_t h = 0; h < w->hardware_count && status == ROOF_OK; h++) {
        const char *const id = w->hardware[h]->id;
        if (strlen(id) == (size_t)(equals - text) && strncmp(id, text, strlen(id)) == 0) {
            if (!isnan(w->price[h])) {
                return roof_error_set(error, ROOF_USAGE,
                                      "--price-per-hour %s: %s has a price already", text, id);
            }
            w->price[h] = price;
            found = true;
        }
    }
    if (status == ROOF_OK && !found) {
        status = roof_error_set(error, ROOF_USAGE,
                                "--price-per-hour %s: the device is not among --hardware", text);
    }
    return status;
}

/* --price-per-hour ID=PRICE,...; where costs matter, every device needs one. */
static enum roof_status put_prices(struct work *w, const struct cli_options *options,
                                   struct roof_error *error)
{
    const bool costs =
        w->query.objective == ROOF_PLAN_COST || !isnan(w->query.limit[ROOF_LIMIT_COST]);
    enum roof_status status = ROOF_OK;
    for (int i = 0; i < options->prices.count; i++) {
        const char *list = options->prices.value[i];
        char text[CLI_SIDE_SIZE];
        while (status == ROOF_OK && next_name(text, &list)) {
            status = put_price(w, text, error);
        }
    }
    for (size_t h = 0; h < w->hardware_count && costs && status == ROOF_OK; h++) {
        if (isnan(w->price[h])) {
            status = roof_error_set(error, ROOF_USAGE,
                                    "a cost needs the price of %s: --price-per-hour %s=PRICE",
                                    w->hardware[h]->id, w->hardware[h]->id);
        }
    }
    return status;
}

static enum roof_status put_limits(struct work *w, const struct cli_options *options,
                                   struct roof_error *error)
{
    static const struct {
        size_t input;
        enum roof_plan_limit limit;
        bool time;
    } limits[] = {{ROOF_INPUT_MAX_TTFT, ROOF_LIMIT_TTFT, true},
                  {ROOF_INPUT_MAX_TPOT, ROOF_LIMIT_TPOT, true},
                  {ROOF_INPUT_MIN_TOKENS_PER_S, ROOF_LIMIT_TOKENS_PER_S, false},
                  {ROOF_INPUT_MAX_COST, ROOF_LIMIT_COST, false},
                  {ROOF_INPUT_MAX_POWER, ROOF_LIMIT_POWER, false}};
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < ROOF_LIMIT_COUNT; i++) {
        w->query.limit[i] = ROOF_UNKNOWN;
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits && status == ROOF_OK; i++) {
        const char *const text = options->value[limits[i].input];
        char name[ROOF_INPUT_NAME_SIZE];
        if (text == NULL) {
            continue;
        }
        double *const out = &w->query.limit[limits[i].limit];
        (void)roof_input_name(name, roof_input(limits[i].input));
        status = limits[i].time ? roof_parse_time(out, text, name, error)
                                : roof_parse_number(out, text, name, 0, 1e15, error);
    }
    return status;
}

/* The values of a list, or the default ones. */
static enum roof_status read_list(int64_t **out, size_t *count, struct roof_values *values,
                                  size_t input, const char *usual,
                                  const struct cli_options *options, struct roof_error *error)
{
    const char *const text = options->value[input] == NULL ? usual : options->value[input];
    const enum roof_status status = roof_input_parse_list(values, roof_input(input), text, error);
    if (status != ROOF_OK) {
        return status;
    }
    if (values->count > 4096) {
        return roof_error_set(error, ROOF_USAGE, "'%s' has more than 4096 values", text);
    }
    *count = (size_t)values->count;
    *out = malloc((*count + 1) * sizeof **out);
    if (*out == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < *count; i++) {
        (*out)[i] = roof_values_at(values, (int64_t)i);
    }
    return ROOF_OK;
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* In order, each once; returns how many. */
static size_t in_order(int64_t *value, size_t count)
{
    size_t kept = 0;
    qsort(value, count, sizeof *value, by_size);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || value[i] != value[kept - 1]) {
            value[kept++] = value[i];
        }
    }
    return kept;
}

/* batch and devices are lists here, and no part of the scenario. */
static enum roof_status read_query(struct work *w, const struct cli_options *options,
                                   struct roof_error *error)
{
    struct cli_options single = *options;
    struct roof_plan_query *const q = &w->query;
    const char *const in_flight = options->value[ROOF_INPUT_CONCURRENCY];
    char batches[64] = "1:2048:x2";
    int64_t objective = 0;
    int64_t concurrency = 0;
    single.value[ROOF_DIM_BATCH] = single.value[ROOF_DIM_DEVICES] = NULL;
    enum roof_status status = cli_scenario(&q->base, &single, error);
    if (status == ROOF_OK && options->value[ROOF_INPUT_EMIT] != NULL &&
        options->output != ROOF_OUTPUT_TEXT) {
        status = roof_error_set(error, ROOF_USAGE, "--emit writes a script, which has no --format");
    }
    if (status == ROOF_OK && options->value[ROOF_INPUT_EMIT] != NULL &&
        options->value[ROOF_INPUT_TOP] != NULL) {
        status = roof_error_set(error, ROOF_USAGE, "--emit writes one plan: leave out --top");
    }
    if (status == ROOF_OK && options->operand_count < 2) {
        status = roof_error_set(error, ROOF_USAGE, "which model? see roofline list models");
    }
    if (status == ROOF_OK && options->value[ROOF_DIM_EP] != NULL) {
        status = roof_error_set(error, ROOF_USAGE, "the search chooses the split, --ep too");
    }
    if (status == ROOF_OK && options->value[ROOF_INPUT_BY] != NULL &&
        strcmp(options->value[ROOF_INPUT_BY], "expected") != 0) {
        status = roof_error_set(error, ROOF_USAGE, "plans of models rank by expected times");
    }
    if (status == ROOF_OK && (q->base.prompt > 0) != (q->base.generate > 0)) {
        status = roof_error_set(error, ROOF_USAGE, "--prompt and --generate go together");
    }
    if (status == ROOF_OK && q->base.prompt > 0 && q->base.context > 0) {
        status =
            roof_error_set(error, ROOF_USAGE, "--context, or --prompt and --generate, not both");
    }
    if (status == ROOF_OK && in_flight != NULL) {
        status =
            roof_input_parse(&concurrency, roof_input(ROOF_INPUT_CONCURRENCY), in_flight, error);
        (void)snprintf(batches, sizeof batches, "1:2048:x2,%" PRId64, concurrency);
    }
    if (status == ROOF_OK) {
        status =
            read_list(&w->batch, &q->batches, &w->batches, ROOF_DIM_BATCH, batches, options, error);
    }
    if (status == ROOF_OK) {
        status = read_list(&w->devices, &q->device_counts, &w->counts, ROOF_DIM_DEVICES, "1:8:x2",
                           options, error);
    }
    if (status == ROOF_OK) {
        status = cli_choice(&objective, options, ROOF_INPUT_OBJECTIVE, error);
    }
    if (status == ROOF_OK && options->value[ROOF_INPUT_OBJECTIVE] != NULL && objective < 2) {
        status = roof_error_set(error, ROOF_USAGE,
                                "--objective of a model is throughput, latency, cost or energy");
    }
    if (status != ROOF_OK) {
        return status;
    }
    for (size_t i = 0; i < q->device_counts; i++) {
        if (w->devices[i] > COUNT_MAX) {
            return roof_error_set(error, ROOF_USAGE, "--devices goes up to %d here", COUNT_MAX);
        }
    }
    q->batches = in_order(w->batch, q->batches); /* the search stops where it is full */
    q->device_counts = in_order(w->devices, q->device_counts);
    q->batch = w->batch;
    q->devices = w->devices;
    q->objective = (enum roof_plan_objective)(objective < 2 ? 0 : objective - 2);
    q->max_loss = ROOF_ACCURACY_2_TO_5;
    q->native_only = options->value[ROOF_INPUT_NATIVE_ONLY] != NULL;
    if (options->value[ROOF_INPUT_MAX_ACCURACY_LOSS] != NULL) {
        status =
            roof_accuracy_find(&q->max_loss, options->value[ROOF_INPUT_MAX_ACCURACY_LOSS], error);
    }
    if (status == ROOF_OK) {
        status = put_limits(w, options, error);
    }
    q->limit[ROOF_LIMIT_CONCURRENCY] = in_flight == NULL ? ROOF_UNKNOWN : (double)concurrency;
    return status;
}

/* The kernels of an engine, where they were measured apart; else ROOF_STACK_BEST. */
static int64_t stack_of(const struct work *w, size_t engine)
{
    const char *const *const stacks = roof_input(ROOF_INPUT_STACK)->choices;
    int64_t k = 0;
    while (stacks[k] != NULL && strcmp(stacks[k], w->engines->engine[engine].id) != 0) {
        k++;
    }
    return stacks[k] == NULL ? ROOF_STACK_BEST : k;
}

/* One engine alone: its own kernels. */
static void take_stack(struct work *w)
{
    for (size_t i = 0; i < w->engines->count; i++) {
        if (w->query.by == 1U << i) {
            w->query.base.common.stack = stack_of(w, i);
        }
    }
}

/* An engine that is asked for does not run in the time of another one's kernels. */
static enum roof_status check_stack(const struct work *w, const struct cli_options *options,
                                    struct roof_error *error)
{
    const bool emit = options->value[ROOF_INPUT_EMIT] != NULL;
    const unsigned asked = emit                                        ? 1U << w->engine
                           : options->value[ROOF_INPUT_ENGINE] != NULL ? w->query.by
                                                                       : 0;
    const int64_t given = w->query.base.common.stack;
    const char *other = NULL;
    for (size_t i = 0; i < w->engines->count && given != ROOF_STACK_BEST; i++) {
        const int64_t own = (asked >> i & 1U) == 0 ? ROOF_STACK_BEST : stack_of(w, i);
        if (own == given) {
            return ROOF_OK;
        }
        other = own == ROOF_STACK_BEST || other != NULL ? other : w->engines->engine[i].id;
    }
    return other == NULL
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                "--stack %s with --%s %s: these are not its kernels; leave out "
                                "--stack",
                                roof_input(ROOF_INPUT_STACK)->choices[given],
                                emit ? "emit" : "engine", other);
}

/* --engine ID,..., or the one whose words --emit wants; else those whose kernels were measured: the
 * times of the others are only lent. */
static enum roof_status read_engines(struct work *w, const struct cli_options *options,
                                     struct roof_error *error)
{
    const char *const emit = options->value[ROOF_INPUT_EMIT];
    const char *const given = options->value[ROOF_INPUT_ENGINE];
    const char *list = given == NULL ? emit : given;
    char name[CLI_SIDE_SIZE];
    enum roof_status status =
        emit == NULL ? ROOF_OK : roof_engine_find(&w->engine, w->engines, emit, error);
    for (size_t i = 0; i < w->engines->count; i++) {
        w->measured |= w->engines->engine[i].beware == NULL ? 1U << i : 0;
    }
    if (given != NULL && strcmp(given, "all") == 0) {
        return status == ROOF_OK ? check_stack(w, options, error) : status;
    }
    while (status == ROOF_OK && next_name(name, &list)) {
        size_t number = 0;
        status = roof_engine_find(&number, w->engines, name, error);
        w->query.by |= 1U << number;
    }
    w->query.by = w->query.by == 0 ? w->measured : w->query.by;
    if (options->value[ROOF_INPUT_STACK] == NULL) {
        take_stack(w);
    }
    if (status == ROOF_OK && emit != NULL && (w->query.by >> w->engine & 1U) == 0) {
        status = roof_error_set(error, ROOF_USAGE, "--emit %s: it is not among --engine", emit);
    }
    return status == ROOF_OK ? check_stack(w, options, error) : status;
}

/* Whether a name is of a combination of formats: as engines call it, or the format of its weights.
 * What engines call so is meant, if they do. */
static bool is_called(const struct work *w, size_t serving, const char *name)
{
    const struct roof_engines *const engines = w->engines;
    enum roof_precision weights = ROOF_PRECISION_AUTO;
    for (size_t i = 0; i < engines->servings; i++) {
        if (strcmp(engines->serving[i].id, name) == 0) {
            return strcmp(engines->serving[serving].id, name) == 0;
        }
    }
    return roof_precision_find(&weights, name, NULL) == ROOF_OK &&
           engines->serving[serving].weights == weights;
}

static enum roof_status unknown_formats(const struct work *w, const char *name,
                                        struct roof_error *error)
{
    const char *known[ROOF_PRECISION_COUNT + SERVINGS_SHOWN];
    size_t count = 0;
    for (size_t i = 0; i < w->engines->servings && count < SERVINGS_SHOWN; i++) {
        size_t k = 0;
        while (k < count && strcmp(known[k], w->engines->serving[i].id) != 0) {
            k++;
        }
        known[count] = w->engines->serving[i].id;
        count += k == count;
    }
    return roof_unknown_name(error, ROOF_USAGE, "formats of engines", name, known, count);
}

/* --formats NAME,...: as engines call them, or the formats of their weights. */
static enum roof_status read_formats(struct work *w, const struct cli_options *options,
                                     struct roof_error *error)
{
    const char *list = options->value[ROOF_INPUT_FORMATS];
    char name[CLI_SIDE_SIZE];
    w->serving = calloc(w->engines->servings + 1, sizeof *w->serving);
    if (w->serving == NULL) {
        return roof_no_memory(error);
    }
    if (list == NULL || strcmp(list, "all") == 0) {
        return ROOF_OK;
    }
    w->query.serving = w->serving;
    while (next_name(name, &list)) {
        bool found = false;
        for (size_t i = 0; i < w->engines->servings; i++) {
            if (is_called(w, i, name)) {
                found = w->serving[i] = true;
            }
        }
        if (!found) {
            return unknown_formats(w, name, error);
        }
    }
    return ROOF_OK;
}

/* --explain A,B: two devices, which are then all there are, or two formats likewise. */
static enum roof_status read_explain(struct work *w, struct cli_options *options,
                                     struct roof_error *error)
{
    const char *const text = options->value[ROOF_INPUT_EXPLAIN];
    bool format[2] = {false, false};
    if (text == NULL) {
        return ROOF_OK;
    }
    const enum roof_status status = cli_explain_pair(w->side, options, error);
    if (status != ROOF_OK) {
        return status;
    }
    if (options->value[ROOF_INPUT_EMIT] != NULL || options->value[ROOF_INPUT_FORMATS] != NULL) {
        return roof_error_set(error, ROOF_USAGE, "--explain goes without --emit and --formats");
    }
    for (size_t i = 0; i < w->engines->servings; i++) {
        for (int k = 0; k < 2; k++) {
            if (is_called(w, i, w->side[k])) {
                format[k] = w->serving[i] = true;
            }
        }
    }
    if (format[0] != format[1]) {
        return roof_error_set(error, ROOF_USAGE,
                              "--explain %s: both are devices, or both formats that engines run",
                              text);
    }
    if (format[0]) {
        w->query.serving = w->serving;
    } else if (options->value[ROOF_INPUT_HARDWARE] != NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "--explain %s names the devices: leave out --hardware", text);
    } else {
        options->value[ROOF_INPUT_HARDWARE] = text;
    }
    return ROOF_OK;
}

static enum roof_status load(struct work *w, const struct cli_options *given,
                             struct roof_error *error)
{
    struct cli_options own = *given;
    const struct cli_options *const options = &own;
    enum roof_status status = read_query(w, options, error);
    if (status == ROOF_OK) {
        status = roof_engines_load(&w->engines, error);
    }
    if (status == ROOF_OK) {
        status = read_engines(w, options, error);
    }
    if (status == ROOF_OK) {
        status = read_formats(w, options, error);
    }
    if (status == ROOF_OK) {
        status = read_explain(w, &own, error);
    }
    if (status == ROOF_OK) {
        status = load_devices(w, options, error);
    }
    if (status == ROOF_OK) {
        status = put_prices(w, options, error);
    }
    if (status == ROOF_OK) {
        status = cli_model(&w->model, options->operand[1], options, error);
    }
    if (status == ROOF_OK && w->model->stored) {
        w->published = roof_model_copy(w->model);
        status = w->published == NULL ? roof_no_memory(error) : ROOF_OK;
    }
    if (status == ROOF_OK) {
        roof_model_forget_formats(w->model); /* the plans say them */
    }
    if (status == ROOF_OK) {
        status = cli_directories(&w->directories, error);
    }
    if (status == ROOF_OK) {
        status = roof_accuracy_load(&w->accuracy, error);
    }
    /* The default context, and whether the lengths are ones that the model takes. */
    struct roof_scenario resolved = w->query.base;
    if (status == ROOF_OK && w->query.base.generate > 0) {
        resolved.context = w->query.base.prompt + w->query.base.generate;
        resolved.prompt = resolved.generate = 0;
    }
    if (status == ROOF_OK) {
        status = roof_scenario_resolve(&resolved, w->model, error);
    }
    if (status == ROOF_OK && w->query.base.generate == 0) {
        w->query.base.context = resolved.context;
    }
    w->query.model = w->model;
    w->query.published = w->published;
    w->query.hardware = (const struct roof_hardware *const *)w->hardware;
    w->query.hardware_count = w->hardware_count;
    w->query.price = w->price;
    w->query.engines = w->engines;
    w->query.directories = w->directories.path;
    w->query.accuracy = &w->accuracy;
    return status;
}

static enum roof_status write_plans(struct roof_text *out, const struct work *w,
                                    const struct cli_options *options, enum roof_status *answer,
                                    struct roof_error *error)
{
    struct roof_table table;
    int64_t top = options->output == ROOF_OUTPUT_TEXT ? TOP_DEFAULT : INT64_MAX;
    enum roof_status status =
        roof_table_open(&table, options->output, ROOF_TABLE_PLANS, ROOF_OPERATOR_GEMM,
                        options->value[ROOF_INPUT_COLUMNS], error);
    if (status == ROOF_OK && options->value[ROOF_INPUT_TOP] != NULL) {
        status = roof_input_parse(&top, roof_input(ROOF_INPUT_TOP), options->value[ROOF_INPUT_TOP],
                                  error);
    }
    if (status == ROOF_OK && options->value[ROOF_INPUT_EXPLAIN] != NULL &&
        options->output != ROOF_OUTPUT_TEXT && options->output != ROOF_OUTPUT_JSON) {
        status =
            roof_error_set(error, ROOF_USAGE, "--explain of plans goes with --format text or json");
    }
    if (status != ROOF_OK) {
        return status;
    }
    if (w->side[0][0] != '\0' && w->plans.count > 0) {
        if (options->output == ROOF_OUTPUT_TEXT) {
            roof_plan_report_why_text(out, &w->why, &w->plans.plan[0], &w->query, (size_t)top);
        } else {
            roof_plan_report_why_json(out, &w->why, &w->plans.plan[0], &w->query);
        }
        return ROOF_OK;
    }
    if (options->value[ROOF_INPUT_EMIT] != NULL) {
        *answer = roof_emit(out, w->engine, &w->plans, w->others.count == 0 ? NULL : &w->others,
                            &w->query, options->operand[1], error);
        return *answer == ROOF_UNSATISFIED ? ROOF_OK : *answer;
    }
    switch (options->output) {
    case ROOF_OUTPUT_TEXT:
        roof_plan_report_text(out, &w->plans, &w->query, w->explained ? &w->why : NULL,
                              (size_t)top);
        break;
    case ROOF_OUTPUT_JSON:
        roof_plan_report_json(out, &w->plans, &w->query, w->explained ? &w->why : NULL,
                              (size_t)top);
        break;
    case ROOF_OUTPUT_NDJSON:
    case ROOF_OUTPUT_CSV:
    case ROOF_OUTPUT_MARKDOWN:
        roof_table_begin(&table, out);
        for (size_t i = 0; i < w->plans.count && (int64_t)i < top; i++) {
            struct roof_plan_row row;
            roof_plan_name(&row, &w->plans.plan[i], (int)i + 1, &w->query);
            roof_table_plan(&table, out, &row);
        }
        roof_table_end(&table, out);
        break;
    }
    return status;
}

/* The best plan with the formats of a side: its own, or some of that name with its KV cache. */
static enum roof_status with_formats(struct roof_plan *out, const struct work *w, const char *name,
                                     struct roof_error *error)
{
    const struct roof_plan *const best = &w->plans.plan[0];
    const struct roof_serving *const s = w->engines->serving;
    const struct roof_hardware *const hardware = w->hardware[best->hardware];
    *out = *best;
    out->serving = w->engines->servings;
    for (size_t i = 0; i < w->engines->servings; i++) {
        const bool found = out->serving < w->engines->servings;
        const bool nearer =
            !found || (s[out->serving].kv != s[best->serving].kv && s[i].kv == s[best->serving].kv);
        if (w->plans.model[i] != NULL && is_called(w, i, name) &&
            roof_plan_engines(&w->query, i, best->hardware) != 0 &&
            (nearer || i == best->serving)) {
            out->serving = i;
        }
    }
    return out->serving < w->engines->servings
               ? ROOF_OK
               : roof_error_set(error, ROOF_UNSATISFIED, "no engine runs %s on %s", name,
                                hardware->id);
}

/* The best plan on a device: with its formats, or else those of the best plan there. */
static void on_device(struct roof_plan *out, const struct work *w, size_t hardware)
{
    *out = w->plans.plan[0];
    out->hardware = hardware;
    if (roof_plan_engines(&w->query, out->serving, hardware) == 0) {
        out->serving = roof_plan_least_loss(&w->plans, &w->query, hardware);
        for (size_t i = w->plans.count; i > 0; i--) {
            if (w->plans.plan[i - 1].hardware == hardware) {
                out->serving = w->plans.plan[i - 1].serving; /* the best comes last */
            }
        }
    }
}

/* The two sides of --explain, at the split and batch of the best plan of both. */
static enum roof_status explain_sides(struct work *w, struct roof_error *error)
{
    struct roof_plan side[2];
    enum roof_status status = ROOF_OK;
    for (int i = 0; i < 2 && status == ROOF_OK; i++) {
        if (w->query.serving != NULL) {
            status = with_formats(&side[i], w, w->side[i], error);
        } else {
            on_device(&side[i], w, (size_t)i);
            if (side[i].serving == w->engines->servings) {
                status =
                    roof_error_set(error, ROOF_UNSATISFIED, "no engine runs on %s", w->side[i]);
            }
        }
    }
    if (status == ROOF_OK) {
        status = roof_plan_why(&w->why, &side[0], &side[1], &w->plans, &w->query, error);
    }
    if (status == ROOF_USAGE) { /* it was well asked */
        status = error->status = ROOF_UNSATISFIED;
    }
    return status;
}

/* What the engines that were measured would do, where only one was searched. */
static enum roof_status search_others(struct work *w, const struct cli_options *options,
                                      struct roof_error *error)
{
    if (options->value[ROOF_INPUT_EMIT] == NULL || options->value[ROOF_INPUT_ENGINE] != NULL) {
        return ROOF_OK;
    }
    struct roof_plan_query query = w->query;
    query.by = w->measured;
    if (options->value[ROOF_INPUT_STACK] == NULL) {
        query.base.common.stack = ROOF_STACK_BEST;
    }
    const enum roof_status status = roof_plan_search(&w->others, &query, error);
    return status == ROOF_UNSATISFIED ? ROOF_OK : status;
}

/* Why the best plan has its formats: against those with the least loss on the device. Where it has
 * them, why its device: against the next one that has a plan. */
static enum roof_status explain_best(struct work *w, const struct cli_options *options,
                                     struct roof_error *error)
{
    const bool document =
        options->output == ROOF_OUTPUT_TEXT || options->output == ROOF_OUTPUT_JSON;
    if (!document || w->plans.count == 0 || options->value[ROOF_INPUT_EMIT] != NULL) {
        return ROOF_OK;
    }
    if (w->side[0][0] != '\0') {
        return explain_sides(w, error);
    }
    const struct roof_plan *const best = &w->plans.plan[0];
    struct roof_plan from = *best;
    from.serving = roof_plan_least_loss(&w->plans, &w->query, best->hardware);
    w->explained = from.serving != best->serving;
    for (size_t i = 1; i < w->plans.count && !w->explained; i++) {
        w->explained = w->plans.plan[i].hardware != best->hardware;
        from.hardware = w->plans.plan[i].hardware;
        from.serving = w->plans.plan[i].serving;
    }
    const enum roof_status status =
        w->explained ? roof_plan_why(&w->why, &from, best, &w->plans, &w->query, error) : ROOF_OK;
    w->explained = w->explained && status == ROOF_OK;
    return status == ROOF_USAGE ? ROOF_OK : status; /* no plan is worse for lack of a comparison */
}

enum roof_status cli_recommend_model(struct roof_text *out, const struct cli_options *options,
                                     enum roof_status *answer, struct roof_error *error)
{
    struct work *const w = calloc(1, sizeof *w);
    if (w == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = load(w, options, error);
    if (status == ROOF_OK) {
        status = search_others(w, options, error);
    }
    if (status == ROOF_OK) {
        *answer = roof_plan_search(&w->plans, &w->query, error);
        status = *answer == ROOF_UNSATISFIED ? ROOF_OK : *answer;
    }
    if (status == ROOF_OK) {
        status = explain_best(w, options, error);
    }
    if (status == ROOF_OK) {
        status = write_plans(out, w, options, answer, error);
    }
    roof_plans_free(&w->plans);
    roof_plans_free(&w->others);
    roof_engines_free(w->engines);
    roof_accuracy_free(&w->accuracy);
    roof_model_free(w->published);
    roof_model_free(w->model);
    for (size_t i = 0; i < w->hardware_count; i++) {
        cli_hardware_free(w->hardware[i]);
    }
    roof_values_free(&w->batches);
    roof_values_free(&w->counts);
    free(w->serving);
    free(w->batch);
    free(w->devices);
    free(w->directories.owned);
    free(w);
    return status;
}
