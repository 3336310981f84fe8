// SPDX-License-Identifier: MIT
#include "decide/plan_inputs.h"
#include "decide/hint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/list.h"
#include "decide/emit.h"
#include "decide/input.h"
#include "decide/plan_split.h"
#include "model/layout.h"
#include "model/load.h"
#include "predict/unexpected.h"

#define NAME_SIZE 128
#define SERVINGS_SHOWN 64 /* the most names of formats in a message */
#define LIMIT_MAX 1e15
#define PRICE_MAX 1e9

static const int64_t usual_batches[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
static const int64_t usual_devices[] = {1, 2, 4, 8};

void roof_plan_inputs_init(struct roof_plan_inputs *out)
{
    *out = (struct roof_plan_inputs){.ranking = ROOF_RANKING_EXPECTED};
    roof_scenario_init(&out->base);
    for (size_t i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        out->limit[i] = ROOF_UNKNOWN;
    }
}

/* --- values from text ---------------------------------------------------------------------- */

/* Takes the next name from a list "a,b,c"; false at its end. A name that is too long becomes empty,
 * which is never valid. */
static bool next_name(char name[NAME_SIZE], const char **list)
{
    struct roof_list_item item;
    if (!roof_list_next(&item, list)) {
        return false;
    }
    (void)roof_list_item_copy(name, NAME_SIZE, &item);
    return true;
}

size_t roof_plan_limit_input(enum roof_plan_limit limit)
{
    static const size_t input_of[ROOF_PLAN_LIMIT_COUNT] = {
        [ROOF_PLAN_LIMIT_TTFT] = ROOF_INPUT_MAX_TTFT,
        [ROOF_PLAN_LIMIT_TPOT] = ROOF_INPUT_MAX_TPOT,
        [ROOF_PLAN_LIMIT_TOKENS_PER_S] = ROOF_INPUT_MIN_TOKENS_PER_S,
        [ROOF_PLAN_LIMIT_CONCURRENCY] = ROOF_INPUT_CONCURRENCY,
        [ROOF_PLAN_LIMIT_COST] = ROOF_INPUT_MAX_COST,
        [ROOF_PLAN_LIMIT_POWER] = ROOF_INPUT_MAX_POWER};
    return input_of[limit];
}

enum roof_status roof_plan_read_limit(double *out, enum roof_plan_limit limit, const char *text,
                                      struct roof_error *error)
{
    const struct roof_input *const input = roof_input(roof_plan_limit_input(limit));
    char name[ROOF_INPUT_NAME_SIZE];
    int64_t sequences = 0;
    (void)roof_input_marked(name, input);
    if (limit == ROOF_PLAN_LIMIT_TTFT || limit == ROOF_PLAN_LIMIT_TPOT) {
        if (text[0] == 'p' && strchr(text, ':') != NULL) {
            return roof_error_set(
                error, ROOF_USAGE,
                "%s must be a time such as 300ms, not '%s'; percentiles need " ROOF_KEY("rate"),
                name, text);
        }
        return roof_parse_time(out, text, name, error);
    }
    if (limit != ROOF_PLAN_LIMIT_CONCURRENCY) {
        return roof_parse_quantity(
            out, text, name, limit == ROOF_PLAN_LIMIT_POWER ? ROOF_UNIT_WATTS : ROOF_UNIT_NONE, 0,
            LIMIT_MAX, error);
    }
    TRY(roof_input_parse(&sequences, input, text, error));
    *out = (double)sequences;
    return ROOF_OK;
}

/* Tells whether a text of some length is a name of a device. */
static bool is_called(const struct roof_hardware *hardware, const char *text, size_t length)
{
    const char *const *alias = hardware->aliases;
    bool called = strlen(hardware->id) == length && strncasecmp(hardware->id, text, length) == 0;
    called = called || (strlen(hardware->reference) == length &&
                        strncmp(hardware->reference, text, length) == 0);
    for (; alias != NULL && *alias != NULL && !called; alias++) {
        called = strlen(*alias) == length && strncasecmp(*alias, text, length) == 0;
    }
    return called;
}

/* Refuses the price of a device that is not asked for; one whose name begins alike is suggested. */
static enum roof_status no_device(const struct roof_hardware *const *hardware,
                                  size_t hardware_count, const char *text, struct roof_error *error)
{
    const size_t length = strcspn(text, "-=");
    (void)roof_error_set(error, ROOF_USAGE,
                         ROOF_KEY("%s") " %s: the device is not among " ROOF_KEY("%s"),
                         "price_per_hour", text, "hardware");
    for (size_t h = 0; h < hardware_count; h++) {
        const char *const id = hardware[h]->id;
        if (strcspn(id, "-") == length && strncasecmp(id, text, length) == 0) {
            roof_error_append(error, "; did you mean %s%s?", id, strchr(text, '='));
            break;
        }
    }
    return ROOF_USAGE;
}

/* Reads "h100-sxm=2.5", or "2.5" if there is only one device. */
static enum roof_status read_price(double *price, const struct roof_hardware *const *hardware,
                                   size_t hardware_count, const char *text,
                                   struct roof_error *error)
{
    const char *const equals = strchr(text, '=');
    const bool bare = equals == NULL && hardware_count == 1;
    bool found = false;
    double value = 0;
    if (equals == NULL && !bare) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("price_per_hour") " %s: name each device, %s=PRICE,%s=PRICE%s", text,
            hardware[0]->id, hardware[1]->id, hardware_count > 2 ? ",..." : "");
    }
    TRY(roof_parse_number(&value, bare ? text : equals + 1, ROOF_KEY("price_per_hour"), 0,
                          PRICE_MAX, error));
    if (!(value > 0)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("price_per_hour") " %s: a price must be above 0", text);
    }
    for (size_t h = 0; h < hardware_count; h++) {
        const char *const id = hardware[h]->id;
        if (bare || is_called(hardware[h], text, (size_t)(equals - text))) {
            if (!isnan(price[h])) {
                return roof_error_set(error, ROOF_USAGE,
                                      ROOF_KEY("price_per_hour") " %s: %s already has a price",
                                      text, id);
            }
            price[h] = value;
            found = true;
        }
    }
    return found ? ROOF_OK : no_device(hardware, hardware_count, text, error);
}

enum roof_status roof_plan_read_prices(double *price, const struct roof_hardware *const *hardware,
                                       size_t hardware_count, const char *list,
                                       struct roof_error *error)
{
    char text[NAME_SIZE];
    while (next_name(text, &list)) {
        TRY(read_price(price, hardware, hardware_count, text, error));
    }
    return ROOF_OK;
}

enum roof_status roof_plan_read_objective(enum roof_plan_objective *out, int64_t choice,
                                          struct roof_error *error)
{
    const int64_t first = ROOF_OBJECTIVE_TIME + 1; /* the objectives of operators come first */
    if (choice < first) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("%s") " of a model must be throughput, latency, cost or energy", "objective");
    }
    *out = (enum roof_plan_objective)(choice - first);
    return ROOF_OK;
}

/* --- checks -------------------------------------------------------------------------------- */

/* Refuses a host whose memory is unknown, because no plan would be known to fit. */
static enum roof_status check_host(const struct roof_scenario *base, struct roof_error *error)
{
    const bool known = base->offload == ROOF_OFFLOAD_NONE || base->host == NULL ||
                       !isnan(base->host->figure[ROOF_FIGURE_MEMORY_NOMINAL].value) ||
                       !isnan(base->host->figure[ROOF_FIGURE_MEMORY_CAPACITY].value);
    return known ? ROOF_OK
                 : roof_error_set(
                       error, ROOF_USAGE,
                       ROOF_KEY("offload") " of plans needs " ROOF_KEY("host_memory") ", in GB");
}

static enum roof_status check_question(const struct roof_plan_inputs *inputs,
                                       struct roof_error *error)
{
    const struct roof_scenario *const base = &inputs->base;
    TRY(check_host(base, error));
    if ((base->prompt > 0) != (base->generate > 0)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("prompt") " and " ROOF_KEY("generate") " need each other: give both");
    }
    if (base->prompt > 0 && base->context > 0) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("%s") ", or " ROOF_KEY("%s") " and " ROOF_KEY("%s") ", not both", "context",
            "prompt", "generate");
    }
    if (inputs->kind == ROOF_PLAN_DISAGGREGATED && base->generate < 2) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("%s") " disaggregated needs " ROOF_KEY(
                                  "prompt") " and " ROOF_KEY("generate") ", of 2 tokens or more",
                              "kind");
    }
    if (inputs->kind == ROOF_PLAN_DISAGGREGATED && base->dp > 0 && !inputs->one_copy) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("%s") " disaggregated finds the numbers of copies itself: leave out " ROOF_KEY(
                "dp"),
            "kind");
    }
    return ROOF_OK;
}

/* Refuses too many devices, and several of which only one can offload. */
static enum roof_status check_devices(const struct roof_plan_inputs *inputs,
                                      struct roof_error *error)
{
    int64_t least = ROOF_PLAN_DEVICES_MAX;
    for (size_t i = 0; inputs->devices != NULL && i < inputs->device_counts; i++) {
        if (inputs->devices[i] > ROOF_PLAN_DEVICES_MAX) {
            return roof_error_set(error, ROOF_USAGE, ROOF_KEY("devices") " must be at most %d here",
                                  ROOF_PLAN_DEVICES_MAX);
        }
        least = inputs->devices[i] < least ? inputs->devices[i] : least;
    }
    return inputs->devices == NULL || least == 1 || inputs->base.offload == ROOF_OFFLOAD_NONE
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("offload") " needs one device: " ROOF_KEY("devices") " 1");
}

/* Refuses repeated devices, which would repeat their plans. */
static enum roof_status check_hardware(const struct roof_plan_inputs *inputs,
                                       struct roof_error *error)
{
    const struct roof_hardware *const *const hardware = inputs->hardware;
    if (inputs->hardware_count == 0 || inputs->hardware_count > ROOF_PLAN_HARDWARE_MAX) {
        return roof_error_set(error, ROOF_USAGE, ROOF_KEY("hardware") " may list 1 to %d names",
                              ROOF_PLAN_HARDWARE_MAX);
    }
    for (size_t i = 1; i < inputs->hardware_count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(hardware[k]->id, hardware[i]->id) == 0) {
                return roof_error_set(error, ROOF_USAGE, "'%s' twice", hardware[i]->id);
            }
        }
    }
    return ROOF_OK;
}

/* Checks that every device has a price if costs matter. */
static enum roof_status check_prices(const struct roof_plan_inputs *inputs,
                                     struct roof_error *error)
{
    const bool costs =
        inputs->objective == ROOF_PLAN_COST || !isnan(inputs->limit[ROOF_PLAN_LIMIT_COST]);
    for (size_t h = 0; h < inputs->hardware_count && costs; h++) {
        if (inputs->price == NULL || isnan(inputs->price[h])) {
            const char *const id = inputs->hardware[h]->id;
            return roof_error_set(error, ROOF_USAGE,
                                  "a cost needs the price of %s: " ROOF_KEY("%s") " %s=PRICE", id,
                                  "price_per_hour", id);
        }
    }
    return ROOF_OK;
}

/* --- lists --------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Copies distinct values in ascending order, with one additional value unless that is 0. The search
 * stops at the first batch that is too large. */
static enum roof_status copy_ascending(int64_t **out, size_t *count, const int64_t *values,
                                       size_t value_count, int64_t more, struct roof_error *error)
{
    int64_t *const copy = malloc((value_count + 1) * sizeof *copy);
    *out = copy;
    if (copy == NULL) {
        return roof_no_memory(error);
    }
    memcpy(copy, values, value_count * sizeof *copy);
    copy[value_count] = more;
    value_count += more != 0;
    qsort(copy, value_count, sizeof *copy, by_size);
    *count = 0;
    for (size_t i = 0; i < value_count; i++) {
        if (i == 0 || copy[i] != copy[*count - 1]) {
            copy[(*count)++] = copy[i];
        }
    }
    return ROOF_OK;
}

/* Takes the numbers of devices, or the default ones that fit the given sizes. */
static enum roof_status make_devices(struct roof_plan_answer *out,
                                     const struct roof_plan_inputs *inputs,
                                     struct roof_error *error)
{
    struct roof_plan_problem *const problem = &out->problem;
    const int64_t needed = roof_plan_devices_needed(problem);
    problem->one_cpu = inputs->devices == NULL;
    int64_t usual[COUNT(usual_devices)] = {needed};
    size_t count = 0;
    if (inputs->devices != NULL) {
        return copy_ascending(&out->devices, &problem->device_counts, inputs->devices,
                              inputs->device_counts, 0, error);
    }
    if (needed > ROOF_PLAN_DEVICES_MAX) {
        return roof_error_set(error, ROOF_USAGE,
                              "the split needs %" PRId64
                              " devices: " ROOF_KEY("%s") " must be at most %d here",
                              needed, "devices", ROOF_PLAN_DEVICES_MAX);
    }
    for (size_t i = 0; i < COUNT(usual_devices); i++) {
        if (usual_devices[i] % needed == 0) {
            usual[count++] = usual_devices[i];
        }
    }
    return copy_ascending(&out->devices, &problem->device_counts, usual, count == 0 ? 1 : count, 0,
                          error);
}

/* Chooses whether the largest batch that fits is searched: beyond the default ones if it is
 * requested, or if more requests are. */
static enum roof_plan_batches choose_largest(const struct roof_plan_inputs *inputs)
{
    const int64_t last = usual_batches[COUNT(usual_batches) - 1];
    if (inputs->largest) {
        return inputs->batch == NULL ? ROOF_BATCHES_LARGEST : ROOF_BATCHES_BEYOND;
    }
    return inputs->batch != NULL                                       ? ROOF_BATCHES_GIVEN
           : inputs->limit[ROOF_PLAN_LIMIT_CONCURRENCY] > (double)last ? ROOF_BATCHES_BEYOND
                                                                       : ROOF_BATCHES_WITHIN;
}

/* Makes the lists. The requested concurrency is also a candidate batch, unless batches are given.
 */
static enum roof_status make_lists(struct roof_plan_answer *out,
                                   const struct roof_plan_inputs *inputs, struct roof_error *error)
{
    struct roof_plan_problem *const problem = &out->problem;
    const double concurrency = inputs->limit[ROOF_PLAN_LIMIT_CONCURRENCY];
    if (inputs->batch != NULL) {
        TRY(copy_ascending(&out->batch, &problem->batches, inputs->batch, inputs->batches, 0,
                           error));
    } else if (inputs->largest) {
        TRY(copy_ascending(&out->batch, &problem->batches, usual_batches, 1, 0, error));
    } else {
        TRY(copy_ascending(&out->batch, &problem->batches, usual_batches, COUNT(usual_batches),
                           isnan(concurrency) ? 0 : (int64_t)concurrency, error));
    }
    TRY(make_devices(out, inputs, error));
    problem->batch = out->batch;
    problem->largest = choose_largest(inputs);
    problem->devices = out->devices;
    return ROOF_OK;
}

/* --- engines ------------------------------------------------------------------------------- */

/* Returns the engines that have the kernels of a stack. */
static unsigned engines_of_stack(const struct roof_engines *engines, int64_t stack)
{
    unsigned set = 0;
    for (size_t i = 0; i < engines->count; i++) {
        set |= (unsigned)(engines->engine[i].stack == (enum roof_stack)stack) << i;
    }
    return set;
}

/* Refuses a stack that none of the requested engines has, because an engine does not run at the
 * speed of other kernels. */
static enum roof_status check_stack(const struct roof_plan_problem *problem, unsigned asked,
                                    const char *key, struct roof_error *error)
{
    const struct roof_engines *const engines = problem->engines;
    const int64_t given = problem->base.common.stack;
    const unsigned measured = asked & ~engines->lent;
    size_t other = 0;
    if (given == ROOF_STACK_BEST || measured == 0 ||
        (asked & engines_of_stack(engines, given)) != 0) {
        return ROOF_OK;
    }
    while ((measured >> other & 1U) == 0) {
        other++;
    }
    return roof_error_set(
        error, ROOF_USAGE,
        ROOF_KEY("%s") " %s with " ROOF_KEY(
            "%s") " %s: the engine does not use these kernels; leave out " ROOF_KEY("%s"),
        "stack", roof_input(ROOF_INPUT_STACK)->choices[given], key, engines->engine[other].id,
        "stack");
}

/* Takes the engines of a list. */
static enum roof_status take_engines(unsigned *out, const struct roof_engines *engines,
                                     const char *list, struct roof_error *error)
{
    char name[NAME_SIZE];
    while (next_name(name, &list)) {
        size_t number = 0;
        TRY(roof_engine_find(&number, engines, name, error));
        *out |= 1U << number;
    }
    return ROOF_OK;
}

/* Takes the named engines, or those with measured kernels, because the times of the others are only
 * borrowed. On a device without calibration all are taken, and with a layout too, because few have
 * arguments for it, or if none with measured kernels runs the model. With a given stack, engines
 * with other kernels are left out. */
static enum roof_status choose_wide(struct roof_plan_answer *out,
                                    const struct roof_plan_inputs *inputs, struct roof_error *error)
{
    const struct roof_engines *const engines = inputs->engines;
    const int64_t given = out->problem.base.common.stack;
    if (inputs->engine == NULL && inputs->layout == NULL) {
        out->wide = roof_engines_measured(engines) & ~out->problem.unable;
        out->wide_measured = true;
    } else if (inputs->engine != NULL && strcmp(inputs->engine, "all") != 0) {
        TRY(take_engines(&out->wide, engines, inputs->engine, error));
        TRY(roof_engines_check_model(engines, out->wide, inputs->model, "engine", error));
        TRY(check_stack(&out->problem, out->wide, "engine", error));
    }
    if (given != ROOF_STACK_BEST) {
        out->wide =
            (out->wide == 0 ? ~0U : out->wide) & (engines_of_stack(engines, given) | engines->lent);
    }
    return ROOF_OK;
}

/* Chooses the engines for the search: the one whose arguments are requested, or all that may run a
 * plan. */
static enum roof_status choose_engines(struct roof_plan_answer *out,
                                       const struct roof_plan_inputs *inputs,
                                       struct roof_error *error)
{
    struct roof_plan_problem *const problem = &out->problem;
    problem->own_stacks = !inputs->stack_given;
    problem->unable = ~roof_engines_model(inputs->engines, inputs->model);
    if (inputs->emit != NULL) {
        const char *const id = roof_emit_engine(inputs->emit);
        const enum roof_status status = roof_engine_find(&out->engine, inputs->engines, id, error);
        if (status != ROOF_OK) {
            roof_error_append(error, "; " ROOF_KEY("emit") " dynamo writes a Kubernetes manifest");
            return status;
        }
        TRY(check_stack(problem, 1U << out->engine, "emit", error));
        TRY(roof_engines_check_model(inputs->engines, 1U << out->engine, inputs->model, "emit",
                                     error));
    }
    TRY(choose_wide(out, inputs, error));
    problem->by = out->wide;
    problem->by_measured = out->wide_measured;
    if (inputs->emit != NULL) {
        problem->by = 1U << out->engine;
        problem->by_measured = false;
    }
    return inputs->emit == NULL || inputs->engine == NULL || out->wide == 0 ||
                   (out->wide & problem->by) != 0
               ? ROOF_OK
               : roof_error_set(
                     error, ROOF_USAGE,
                     ROOF_KEY("emit") " %s: this engine is not among those of " ROOF_KEY("engine"),
                     inputs->emit);
}

/* --- formats ------------------------------------------------------------------------------- */

static enum roof_status unknown_formats(const struct roof_engines *engines, const char *name,
                                        struct roof_error *error)
{
    const char *known[SERVINGS_SHOWN];
    size_t count = 0;
    for (size_t i = 0; i < engines->servings && count < SERVINGS_SHOWN; i++) {
        size_t k = 0;
        while (k < count && strcmp(known[k], engines->serving[i].id) != 0) {
            k++;
        }
        known[count] = engines->serving[i].id;
        count += k == count;
    }
    return roof_unknown_name(error, ROOF_USAGE, "engine format", name, known, count);
}

/* Marks the combinations of formats that a name covers, and tells whether there are any. */
static bool mark_servings(bool *serving, const struct roof_engines *engines, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < engines->servings; i++) {
        if (roof_serving_called(engines, i, name)) {
            found = serving[i] = true;
        }
    }
    return found;
}

static bool are_formats(const struct roof_engines *engines, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < engines->servings && !found; i++) {
        found = roof_serving_called(engines, i, name);
    }
    return found;
}

enum roof_status roof_plan_sides_are_formats(bool *out, const struct roof_engines *engines,
                                             const char *const side[2], struct roof_error *error)
{
    *out = are_formats(engines, side[0]);
    return *out == are_formats(engines, side[1])
               ? ROOF_OK
               : roof_error_set(
                     error, ROOF_USAGE,
                     ROOF_KEY("%s") " %s,%s: give two devices, or two formats that engines run",
                     "explain", side[0], side[1]);
}

/* Takes the combinations of formats with the requested layout. */
static enum roof_status choose_layout(struct roof_plan_answer *out,
                                      const struct roof_plan_inputs *inputs,
                                      struct roof_error *error)
{
    const struct roof_engines *const engines = inputs->engines;
    const char *known[SERVINGS_SHOWN];
    size_t count = 0;
    bool found = false;
    if (inputs->formats != NULL || inputs->side[0] != NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("layout") " cannot be combined with " ROOF_KEY("%s"),
                              inputs->formats != NULL ? "formats" : "explain");
    }
    out->problem.serving = out->serving;
    for (size_t i = 0; i < engines->servings; i++) {
        const char *const layout = engines->serving[i].layout;
        out->serving[i] = layout != NULL && strcmp(layout, inputs->layout) == 0;
        found = found || out->serving[i];
        size_t k = 0;
        while (layout != NULL && k < count && strcmp(known[k], layout) != 0) {
            k++;
        }
        if (layout != NULL && k == count && count < SERVINGS_SHOWN) {
            known[count++] = layout;
        }
    }
    return found ? ROOF_OK
                 : roof_unknown_name(error, ROOF_USAGE, "layout of engines", inputs->layout, known,
                                     count);
}

/* Takes the named combinations of formats, and those to explain. */
static enum roof_status choose_formats(struct roof_plan_answer *out,
                                       const struct roof_plan_inputs *inputs,
                                       struct roof_error *error)
{
    const struct roof_engines *const engines = inputs->engines;
    const char *list = inputs->formats;
    char name[NAME_SIZE];
    bool formats = false;
    out->serving = calloc(engines->servings + 1, sizeof *out->serving);
    if (out->serving == NULL) {
        return roof_no_memory(error);
    }
    if (inputs->layout != NULL) {
        return choose_layout(out, inputs, error);
    }
    if (list != NULL && strcmp(list, "all") != 0) {
        out->problem.serving = out->serving;
        while (next_name(name, &list)) {
            if (!mark_servings(out->serving, engines, name)) {
                return unknown_formats(engines, name, error);
            }
        }
    }
    if (inputs->side[0] == NULL) {
        return ROOF_OK;
    }
    TRY(roof_plan_sides_are_formats(&formats, engines, inputs->side, error));
    if (inputs->emit != NULL || (formats && inputs->formats != NULL)) {
        return roof_error_set(
            error, ROOF_USAGE, ROOF_KEY("%s") " %s,%s cannot be combined with " ROOF_KEY("%s"),
            "explain", inputs->side[0], inputs->side[1], inputs->emit != NULL ? "emit" : "formats");
    }
    for (int i = 0; i < 2 && formats; i++) {
        (void)mark_servings(out->serving, engines, inputs->side[i]);
        out->problem.serving = out->serving;
    }
    return ROOF_OK;
}

/* --- the problem ----------------------------------------------------------------------------- */

/* Adds the checkpoint that the question names, if its quantization_config is known. */
static enum roof_status add_named(struct roof_plan_answer *out,
                                  const struct roof_plan_inputs *inputs, struct roof_error *error)
{
    const struct roof_checkpoint *const named = inputs->checkpoint;
    if (named == NULL || named->name == NULL || named->quantization == NULL ||
        inputs->model->quantization != NULL) {
        return ROOF_OK;
    }
    struct roof_model *const copy = roof_model_copy(inputs->model);
    if (copy == NULL) {
        return roof_no_memory(error);
    }
    out->checkpoint[out->problem.checkpoints++] = copy;
    roof_model_forget_formats(copy);
    return roof_checkpoint_make(copy, named, error);
}

/* Loads the other published checkpoints of the model. */
static enum roof_status load_checkpoints(struct roof_plan_answer *out,
                                         const struct roof_plan_inputs *inputs,
                                         struct roof_error *error)
{
    const char *const *const ids = inputs->model->checkpoints;
    size_t count = 0;
    while (ids != NULL && ids[count] != NULL) {
        count++;
    }
    out->checkpoint = calloc(count + 2, sizeof *out->checkpoint);
    if (out->checkpoint == NULL) {
        return roof_no_memory(error);
    }
    out->problem.checkpoint = out->checkpoint;
    for (size_t i = 0; i < count; i++) {
        TRY(roof_model_load(&out->checkpoint[i], ids[i], inputs->directories, error));
        roof_model_forget_formats(out->checkpoint[i]);
        out->problem.checkpoints++;
    }
    return add_named(out, inputs, error);
}

/* Finds the format of most weights that the config of a quantised model defines. */
static enum roof_status find_stored(enum roof_precision *out, const struct roof_plan_inputs *inputs,
                                    struct roof_error *error)
{
    struct roof_error unread; /* plans of the checkpoint report it */
    *out = ROOF_PRECISION_AUTO;
    if (inputs->model->stored || inputs->model->quantization == NULL) {
        return ROOF_OK;
    }
    struct roof_model *const copy = roof_model_copy(inputs->model);
    if (copy == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status =
        roof_layout_apply(copy, ROOF_CHECKPOINT, inputs->directories, &unread);
    if (status == ROOF_OK) {
        *out = roof_plan_main_format(copy);
    }
    roof_model_free(copy);
    return status == ROOF_MEMORY ? roof_no_memory(error) : ROOF_OK;
}

/* Copies the model without its formats, which plans set; the published ones remain as the layout
 * "checkpoint". */
static enum roof_status copy_model(struct roof_plan_answer *out,
                                   const struct roof_plan_inputs *inputs, struct roof_error *error)
{
    out->model = roof_model_copy(inputs->model);
    if (out->model == NULL) {
        return roof_no_memory(error);
    }
    roof_model_forget_formats(out->model);
    out->problem.model = out->model;
    out->problem.published = inputs->model->stored ? inputs->model : NULL;
    TRY(find_stored(&out->problem.stored, inputs, error));
    return load_checkpoints(out, inputs, error);
}

/* Removes the calibrations of devices whose plans are ranked by bounds: on request, with
 * offloading, or if no kernels for an operator of the model were measured there. */
static enum roof_status forget_expected(struct roof_plan_answer *out,
                                        const struct roof_plan_inputs *inputs,
                                        struct roof_error *error)
{
    const bool asked = inputs->ranking == ROOF_RANKING_IDEAL ||
                       inputs->base.offload != ROOF_OFFLOAD_NONE; /* ranges are too wide to rank */
    out->bare = calloc(inputs->hardware_count, sizeof *out->bare);
    out->bares = calloc(inputs->hardware_count, sizeof *out->bares);
    if (out->bare == NULL || out->bares == NULL) {
        return roof_no_memory(error);
    }
    for (size_t h = 0; h < inputs->hardware_count; h++) {
        const struct roof_hardware *const given = inputs->hardware[h];
        const char *const lacks = asked ? NULL : roof_unexpected_operator(inputs->model, given);
        out->bares[h] = given;
        if (asked || lacks != NULL) {
            roof_forget_expected(&out->bare[h], given, lacks);
            out->bares[h] = &out->bare[h];
        }
    }
    out->problem.hardware = out->bares;
    out->problem.given = inputs->hardware;
    return ROOF_OK;
}

/* Sets the default context, and checks the lengths against the model. */
static enum roof_status set_context(struct roof_plan_problem *problem, struct roof_error *error)
{
    static const struct roof_split whole = {.tp = 1, .pp = 1, .attention_dp = 1};
    const bool request = problem->base.generate > 0;
    struct roof_scenario resolved = problem->base;
    struct roof_scenario prefill;
    struct roof_scenario decode;
    roof_split_put(&resolved, &whole);
    if (!request) { /* a decode step does not have them */
        resolved.prefix_hit = 0;
        resolved.media = roof_no_media;
    }
    TRY(roof_scenario_resolve(&resolved, problem->model, error));
    problem->base.chunk = resolved.chunk;
    if (request) {
        problem->base.media = resolved.media;
        return ROOF_OK;
    }
    const bool open = roof_has_media(&problem->base) && problem->base.context == 0;
    problem->base.context = resolved.context;
    roof_scenario_phases(&prefill, &decode, &problem->base);
    roof_split_put(&prefill, &whole);
    prefill.context = open ? 0 : prefill.context; /* the default includes images and audio */
    TRY(roof_scenario_resolve(&prefill, problem->model, error));
    problem->base.context = prefill.context;
    problem->base.media = prefill.media;
    return ROOF_OK;
}

/* Sets the allowed loss: the given one, or else the default, raised to the loss that operators may
 * have for named formats, and to that of the formats of classes. */
static void allow_loss(struct roof_plan_answer *out, const struct roof_plan_inputs *inputs)
{
    struct roof_plan_problem *const problem = &out->problem;
    const bool named = out->formats_named || inputs->layout != NULL || problem->serving != NULL;
    if (inputs->loss_given) {
        problem->max_loss = inputs->max_loss;
        return;
    }
    problem->max_loss = named ? ROOF_ACCURACY_2_TO_5 : ROOF_ACCURACY_1_TO_2;
    if (roof_plan_class_loss(problem) > problem->max_loss) {
        problem->max_loss = roof_plan_class_loss(problem);
    }
}

enum roof_status roof_plan_problem_make(struct roof_plan_answer *out,
                                        const struct roof_plan_inputs *inputs,
                                        struct roof_error *error)
{
    struct roof_plan_problem *const problem = &out->problem;
    *problem = (struct roof_plan_problem){.hardware = inputs->hardware,
                                          .product = inputs->product,
                                          .hardware_count = inputs->hardware_count,
                                          .price = inputs->price,
                                          .engines = inputs->engines,
                                          .directories = inputs->directories,
                                          .halt = inputs->halt,
                                          .threads = inputs->threads,
                                          .accuracy = &out->accuracy,
                                          .base = inputs->base,
                                          .objective = inputs->objective,
                                          .one_copy = inputs->one_copy,
                                          .kind = inputs->emit != NULL ? ROOF_PLAN_AGGREGATED
                                                                       : inputs->kind,
                                          .native_only = inputs->native_only};
    memcpy(problem->limit, inputs->limit, sizeof problem->limit);
    memcpy(problem->percent, inputs->percent, sizeof problem->percent);
    out->formats_named = inputs->formats != NULL;
    TRY(check_question(inputs, error));
    TRY(check_devices(inputs, error));
    TRY(make_lists(out, inputs, error));
    TRY(choose_engines(out, inputs, error));
    TRY(choose_formats(out, inputs, error));
    TRY(check_hardware(inputs, error));
    TRY(forget_expected(out, inputs, error));
    TRY(check_prices(inputs, error));
    TRY(copy_model(out, inputs, error));
    TRY(roof_accuracy_load(&out->accuracy, error));
    allow_loss(out, inputs);
    TRY(set_context(problem, error));
    return roof_plan_check_split(problem, error);
}
