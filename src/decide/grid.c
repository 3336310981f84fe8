// SPDX-License-Identifier: MIT
#include "decide/grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/list.h"
#include "decide/named.h"

/* The arguments that loading the items of a list shares. */
struct loading {
    struct roof_grid *grid;
    struct roof_loans *loans;
    const struct roof_question *question;
    bool bounds_only;
};

/* Loads one item of a list. */
typedef enum roof_status (*loader)(const struct loading *l, const char *name,
                                   struct roof_error *error);

static enum roof_status load_device(const struct loading *l, const char *name,
                                    struct roof_error *error)
{
    TRY(roof_read_hardware(&l->grid->device[l->grid->devices], l->loans, l->question, name,
                           l->bounds_only, error));
    l->grid->devices++;
    return ROOF_OK;
}

/* Finds the formats of a checkpoint that the name of a model means, if they are no layout: the
 * store loads those itself. *model becomes the name of its model. */
static enum roof_status name_checkpoint(struct roof_named *out, const struct loading *l,
                                        const char **model, struct roof_error *error)
{
    struct roof_checkpoint checkpoint;
    struct roof_error note;
    const struct roof_model *base = NULL;
    *out = ROOF_NAMED_NONE;
    TRY(roof_loan_checkpoint(&checkpoint, l->loans, *model, error));
    if (checkpoint.name == NULL || checkpoint.layout || checkpoint.quantization != NULL) {
        return ROOF_OK;
    }
    const struct roof_model_wish wish = {.name = checkpoint.model};
    TRY(roof_loan_model(&base, l->loans, &wish, error));
    *model = base->id;
    TRY(roof_checkpoint_note(&l->grid->note, &checkpoint, base->id, true, error));
    return roof_named_find(out, &note, checkpoint.formats, base->id, l->loans, error);
}

/* Loads a model in the formats that a name stands for (NULL: those of the checkpoint that the name
 * of the model means). */
static enum roof_status load_variant(struct roof_variant *out, const struct loading *l,
                                     const char *model, const char *name, struct roof_error *error)
{
    struct roof_named named;
    struct roof_error note = {.status = ROOF_OK};
    TRY(name == NULL ? name_checkpoint(&named, l, &model, error)
                     : roof_named_find(&named, &note, name, model, l->loans, error));
    if (note.message[0] != '\0' && l->grid->note.message[0] == '\0') {
        l->grid->note = note;
    }
    const int64_t value[ROOF_NAMED_INPUTS] = {named.precision, named.weights, named.activations,
                                              named.kv};
    struct roof_question own;
    roof_question_borrow(&own, l->question);
    for (size_t i = 0; i < ROOF_NAMED_INPUTS; i++) {
        const size_t input = roof_named_inputs[i];
        const bool kept = input != ROOF_INPUT_PRECISION_BOTH && roof_asked(l->question, input);
        out->value[i] = kept ? ROOF_NAMED_KEPT : value[i];
        if (!kept) {
            own.value[input] = value[i] == ROOF_PRECISION_AUTO
                                   ? NULL
                                   : roof_format((enum roof_precision)value[i])->name;
        }
    }
    own.value[ROOF_INPUT_LAYOUT] = named.layout;
    out->name = name;
    struct roof_scenario scenario;
    roof_scenario_init(&scenario);
    TRY(roof_read_classes(&scenario, &own, error)); /* refuses weights beside a layout */
    return roof_read_model(&out->model, l->loans, &own, model, error);
}

/* Loads a model once for each name in the list of precisions. */
static enum roof_status load_variants(const struct loading *l, const char *model,
                                      struct roof_error *error)
{
    struct roof_grid *const grid = l->grid;
    const size_t each = grid->sweep.variants;
    struct roof_variant *const grown =
        realloc(grid->variant, (grid->models + 1) * each * sizeof *grown);
    if (grown == NULL) {
        return roof_no_memory(error);
    }
    grid->variant = grown;
    const char *name = grid->names;
    for (size_t i = 0; i < each; i++) {
        TRY(load_variant(&grown[grid->models * each + i], l, model, name, error));
        name = name == NULL ? NULL : name + strlen(name) + 1;
    }
    grid->model[grid->models] = grown[grid->models * each].model;
    grid->models++;
    return ROOF_OK;
}

static enum roof_status load_model(const struct loading *l, const char *name,
                                   struct roof_error *error)
{
    if (l->grid->sweep.variants > 0) {
        return load_variants(l, name, error);
    }
    TRY(roof_read_model(&l->grid->model[l->grid->models], l->loans, l->question, name, error));
    l->grid->models++;
    return ROOF_OK;
}

static enum roof_status load_item(const struct loading *l, const char *list, size_t length,
                                  loader load, struct roof_error *error)
{
    char *const name = strndup(list, length);
    if (name == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = load(l, name, error);
    free(name);
    return status;
}

/* Loads each item of "a,b,c"; what names the list in messages. */
static enum roof_status load_list(const struct loading *l, const char *list, const char *what,
                                  loader load, struct roof_error *error)
{
    struct roof_list_item item;
    int count = 0;
    for (const char *rest = list; roof_list_next(&item, &rest); count++) {
        if (item.length == 0) {
            return roof_error_set(error, ROOF_USAGE, "%s: the list '%s' has an empty element", what,
                                  list);
        }
        if (count == ROOF_GRID_LIST_MAX) {
            return roof_error_set(error, ROOF_USAGE, "%s may list at most %d names", what,
                                  ROOF_GRID_LIST_MAX);
        }
        TRY(load_item(l, item.text, item.length, load, error));
    }
    return ROOF_OK;
}

static enum roof_status add_axis(struct roof_sweep *sweep, size_t number,
                                 const struct roof_question *question, struct roof_error *error)
{
    const struct roof_input *const input = roof_input(number);
    const char *const text = question->value[number];
    if (text == NULL) {
        return ROOF_OK;
    }
    if (input->kind == ROOF_INPUT_NUMBER) {
        return roof_input_parse_number(&sweep->base, input, text, error);
    }
    if (input->kind == ROOF_INPUT_FLAG) {
        roof_input_put(&sweep->base, input, 1);
        return ROOF_OK;
    }
    struct roof_values values;
    TRY(roof_input_parse_list(&values, input, text, error));
    return roof_sweep_add(sweep, input, &values, error);
}

static enum roof_status add_axes(struct roof_sweep *sweep, const size_t *numbers, size_t count,
                                 const struct roof_question *question, struct roof_error *error)
{
    for (size_t i = 0; i < count; i++) {
        TRY(add_axis(sweep, numbers[i], question, error));
    }
    return ROOF_OK;
}

/* Keeps the names of formats in the list of precisions, so that each model looks them up; the
 * values of the axis are their numbers. */
static enum roof_status add_names(struct roof_grid *grid, const char *list,
                                  struct roof_error *error)
{
    struct roof_values values = {0};
    struct roof_list_item item;
    char *const names = malloc(strlen(list) + 1); /* a zero takes the place of each comma */
    if (names == NULL) {
        return roof_no_memory(error);
    }
    grid->names = names;
    size_t length = 0;
    size_t count = 0;
    for (const char *rest = list; roof_list_next(&item, &rest); count++) {
        if (item.length == 0) {
            return roof_error_set(error, ROOF_USAGE, "%s: the list '%s' has an empty element",
                                  ROOF_KEY("precision"), list);
        }
        memcpy(names + length, item.text, item.length);
        names[length + item.length] = '\0';
        length += item.length + 1;
    }
    grid->sweep.variants = count;
    TRY(roof_values_append(&values, (struct roof_run){0, 1, (int64_t)count}, error));
    return roof_sweep_add(&grid->sweep, roof_input(ROOF_INPUT_PRECISION_BOTH), &values, error);
}

/* Refuses inputs that the workload does not take. */
static enum roof_status check_taken(enum roof_operator op, const struct roof_question *question,
                                    struct roof_error *error)
{
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        if (!roof_asked(question, i)) {
            continue;
        }
        TRY(roof_question_taken(question, i, error));
        if (i < ROOF_DIM_COUNT && !question->model) {
            TRY(roof_operator_takes(op, (enum roof_dimension)i, error));
        }
    }
    return ROOF_OK;
}

/* Reads the inputs without columns; a list of them would give rows that look alike. */
static enum roof_status add_single(struct roof_sweep *sweep, const struct roof_question *question,
                                   struct roof_error *error)
{
    static const size_t single[] = {ROOF_INPUT_STACK,
                                    ROOF_INPUT_CACHE,
                                    ROOF_INPUT_QUANTIZE_INPUT,
                                    ROOF_INPUT_WORKING_SET,
                                    ROOF_INPUT_NO_LAUNCH_OVERHEAD,
                                    ROOF_INPUT_SPLIT_K};
    char name[ROOF_INPUT_NAME_SIZE];
    for (size_t i = 0; i < COUNT(single); i++) {
        const size_t axes = sweep->axis_count;
        TRY(add_axis(sweep, single[i], question, error));
        if (sweep->axis_count > axes && sweep->axis[axes].values.count > 1) {
            return roof_error_set(error, ROOF_USAGE, "%s must be one value",
                                  roof_input_marked(name, roof_input(single[i])));
        }
    }
    return ROOF_OK;
}

/* Tells if the precision of models has names that are looked up for each model. */
static bool is_named(const struct roof_question *question)
{
    const char *const names = question->value[ROOF_INPUT_PRECISION_BOTH];
    return question->model && names != NULL && !roof_named_plain(names);
}

/* Adds the dimensions in the operator's order, or the sizes of a model, then the formats: the last
 * varies fastest. */
static enum roof_status build(struct roof_grid *grid, const struct roof_question *question,
                              struct roof_error *error)
{
    struct roof_sweep *const sweep = &grid->sweep;
    static const size_t of_models[] = {ROOF_INPUT_PHASE,
                                       ROOF_DIM_BATCH,
                                       ROOF_INPUT_CONTEXT,
                                       ROOF_INPUT_CHUNK,
                                       ROOF_INPUT_PREFILL_BATCH,
                                       ROOF_INPUT_PREFILL_CONTEXT,
                                       ROOF_INPUT_PROMPT,
                                       ROOF_INPUT_GENERATE,
                                       ROOF_INPUT_STATIC,
                                       ROOF_INPUT_DRAFT_TOKENS,
                                       ROOF_INPUT_OFFLOADED,
                                       ROOF_INPUT_TP,
                                       ROOF_INPUT_PP,
                                       ROOF_DIM_EP,
                                       ROOF_INPUT_ATTENTION_DP,
                                       ROOF_INPUT_MOE_TP,
                                       ROOF_INPUT_MOE_EP,
                                       ROOF_INPUT_DP,
                                       ROOF_DIM_ROUTING,
                                       ROOF_INPUT_ACCEPTANCE,
                                       ROOF_INPUT_PREFIX_HIT,
                                       ROOF_INPUT_IMAGES,
                                       ROOF_INPUT_IMAGE_SIZE,
                                       ROOF_INPUT_RESERVE,
                                       ROOF_INPUT_HOST_GAP,
                                       ROOF_INPUT_LAUNCHES,
                                       ROOF_INPUT_SERIAL,
                                       ROOF_INPUT_STEP_SCALE,
                                       ROOF_INPUT_SPLIT_PROJECTIONS,
                                       ROOF_INPUT_UNFUSED_ATTENTION,
                                       ROOF_INPUT_FUSE};
    static const size_t formats[] = {ROOF_INPUT_WEIGHTS, ROOF_INPUT_ACTIVATIONS, ROOF_INPUT_KV,
                                     ROOF_INPUT_OUT,     ROOF_INPUT_COMPUTE,     ROOF_INPUT_SPARSE};
    static const size_t of_tiles[] = {ROOF_INPUT_TILE, ROOF_INPUT_STAGES, ROOF_INPUT_CLUSTER};
    const struct roof_operator_row *const row = roof_operator_row(sweep->base.common.op);
    TRY(roof_read_tile(question, error));
    TRY(check_taken(sweep->base.common.op, question, error));
    TRY(roof_read_split(question, error));
    if (question->model) {
        TRY(add_axes(sweep, of_models, COUNT(of_models), question, error));
    }
    for (int i = 0; i < row->dim_count && !question->model; i++) {
        TRY(add_axis(sweep, row->dims[i], question, error));
    }
    TRY(is_named(question) ? add_names(grid, question->value[ROOF_INPUT_PRECISION_BOTH], error)
                           : add_axis(sweep, ROOF_INPUT_PRECISION_BOTH, question, error));
    TRY(add_axes(sweep, formats, COUNT(formats), question, error));
    TRY(add_axes(sweep, of_tiles, COUNT(of_tiles), question, error));
    return add_single(sweep, question, error);
}

enum roof_status roof_grid_devices(struct roof_grid *out, struct roof_loans *loans,
                                   const struct roof_question *question, bool bounds_only,
                                   struct roof_error *error)
{
    const struct loading loading = {out, loans, question, bounds_only};
    const char *const devices = question->value[ROOF_INPUT_HARDWARE];
    return load_list(&loading, devices == NULL ? ROOF_DEFAULT_HARDWARE : devices,
                     ROOF_KEY("hardware"), load_device, error);
}

/* Counts a variant of each model if the list of a question without formats has the name of a
 * checkpoint: that one has its own. */
static enum roof_status find_checkpoint(const struct loading *l, const char *name,
                                        struct roof_error *error)
{
    struct roof_checkpoint checkpoint;
    TRY(roof_loan_checkpoint(&checkpoint, l->loans, name, error));
    l->grid->sweep.variants = checkpoint.name != NULL ? 1 : l->grid->sweep.variants;
    return ROOF_OK;
}

/* Loads all devices and models of the question. */
static enum roof_status load(struct roof_grid *out, struct roof_loans *loans,
                             const struct roof_question *question, bool bounds_only,
                             struct roof_error *error)
{
    struct roof_sweep *const sweep = &out->sweep;
    const struct loading loading = {out, loans, question, bounds_only};
    TRY(roof_grid_devices(out, loans, question, bounds_only, error));
    sweep->hardware = out->device;
    sweep->hardware_count = out->devices;
    if (question->model) {
        if (question->model_name == NULL) {
            return roof_which_model(error);
        }
        if (!roof_asked_formats(question)) {
            TRY(load_list(&loading, question->model_name, "model", find_checkpoint, error));
        }
        TRY(load_list(&loading, question->model_name, "model", load_model, error));
        sweep->model = out->model;
        sweep->model_count = out->models;
        sweep->variant = out->variant;
        TRY(roof_read_draft(&out->draft, &sweep->base, loans, question, false, error));
        TRY(roof_read_host_time(&sweep->base, loans, question, false, error));
        TRY(roof_read_host(&sweep->base, loans, question, false, error));
    }
    return ROOF_OK;
}

enum roof_status roof_grid_open(struct roof_grid *out, struct roof_loans *loans,
                                const struct roof_question *question, bool bounds_only,
                                struct roof_error *error)
{
    struct roof_sweep *const sweep = &out->sweep;
    *out = (struct roof_grid){.devices = 0};
    roof_scenario_init(&sweep->base);
    TRY(question->model ? roof_read_classes(&sweep->base, question, error)
                        : roof_read_operator(&sweep->base.common.op, question, error));
    TRY(build(out, question, error));
    return load(out, loans, question, bounds_only, error);
}

void roof_grid_close(struct roof_grid *grid)
{
    free(grid->variant);
    free(grid->names);
    roof_sweep_free(&grid->sweep);
}
