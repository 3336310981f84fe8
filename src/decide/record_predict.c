// SPDX-License-Identifier: MIT
/* Predicts records. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "decide/record_measured.h"

/* The largest range of integers that doubles represent exactly. */
#define EXACT_MAX 9007199254740992.0

/* Rewrites a whole number as an integer: 4096 for 4.096e3 or 4096.0. */
static void plain_integer(char text[ROOF_WORD_SIZE])
{
    double value = 0;
    if (text[strcspn(text, ".eE")] != '\0' &&
        roof_parse_number(&value, text, "", -EXACT_MAX, EXACT_MAX, NULL) == ROOF_OK &&
        value == floor(value)) {
        snprintf(text, ROOF_WORD_SIZE, "%.0f", value);
    }
}

/* Replaces the flags true and false of some programs by 1 and 0. */
static void plain_flag(char text[ROOF_WORD_SIZE])
{
    if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0) {
        snprintf(text, ROOF_WORD_SIZE, "%d", *text == 't' || *text == 'T');
    }
}

/* Tells whether a text equals the previous one in the column. Models and operators have different
 * inputs. */
static inline bool as_before(const struct roof_record_column *column, const char *text, bool model)
{
    return column->known && column->model == model && strcmp(column->last, text) == 0;
}

static void remember(struct roof_record_column *column, const char *text, bool model, int64_t value)
{
    const size_t length = strlen(text);
    column->model = model;
    column->known = length < ROOF_LAST_CELL_SIZE;
    if (column->known) {
        memcpy(column->last, text, length + 1);
        column->value = value;
    }
}

/* Reports a wrong cell. */
static enum roof_status bad_cell(const struct roof_records *r, size_t column,
                                 struct roof_error *error)
{
    return r->json ? roof_error_prefix(error, ROOF_INVALID, "%s: ", r->column[column])
                   : roof_error_prefix(error, ROOF_INVALID, "cell %zu: ", column + 1);
}

static bool is_request(const char *phase)
{
    return strcmp(phase, roof_phase_name(ROOF_PHASE_REQUEST)) == 0;
}

/* Tells whether a word is a library of kernels that no stack is named after. Rows of its kernels
 * are compared with the fastest of the stacks. */
static bool is_library(const char *word)
{
    static const char *const libraries[] = {"cublas",  "cublaslt",  "cudnn",
                                            "hipblas", "hipblaslt", "rocblas"};
    for (size_t i = 0; i < COUNT(libraries); i++) {
        if (strcmp(word, libraries[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Parses the word in a cell and stores its value in the scenario. */
static enum roof_status read_word(int64_t *value, struct roof_scenario *asked,
                                  const struct roof_input *input, const char *word,
                                  struct roof_error *error)
{
    if (input->kind == ROOF_INPUT_NUMBER) {
        return roof_input_parse_number(asked, input, word, error);
    }
    if (input == roof_input(ROOF_INPUT_STACK) && is_library(word)) {
        *value = ROOF_STACK_BEST;
    } else {
        TRY(roof_input_parse(value, input, word, error));
    }
    roof_input_put(asked, input, *value);
    return ROOF_OK;
}

/* Tells whether a precision must be looked up as a name of formats. */
static bool is_named(const struct roof_records_private *p, const struct roof_input *input,
                     bool model, const char *word)
{
    enum roof_precision precision = ROOF_PRECISION_AUTO;
    return model && p->options.formats != NULL && input == roof_input(ROOF_INPUT_PRECISION_BOTH) &&
           roof_precision_find(&precision, word, NULL) != ROOF_OK;
}

/* Reads a cell whose text differs from the previous one in its column. */
static enum roof_status read_cell(struct roof_records_private *p, struct roof_record_column *column,
                                  const char *text, bool model, struct roof_error *error)
{
    const struct roof_input *const input = column->input;
    char word[ROOF_WORD_SIZE];
    const bool trimmed = roof_word_trim(word, text);
    if (trimmed && *word == '\0') {
        return ROOF_OK;
    }
    const bool devices = model && input == roof_input(ROOF_DIM_DEVICES);
    if (!devices) {
        TRY(roof_input_taken(input, model, error));
    }
    if (model && input == roof_input(ROOF_INPUT_PHASE) && trimmed && is_request(word)) {
        p->request = true; /* prompt and generate imply it */
        return ROOF_OK;
    }
    if (trimmed && input->kind == ROOF_INPUT_FLAG) {
        plain_flag(word);
    }
    if (trimmed && (input->kind == ROOF_INPUT_FLAG || input->kind == ROOF_INPUT_INTEGER)) {
        plain_integer(word);
    }
    if (devices) { /* predictions print it, and it follows from the split */
        return roof_input_parse(&p->devices, input, trimmed ? word : text, error);
    }
    if (trimmed && is_named(p, input, model, word)) {
        memcpy(p->named, word, sizeof p->named);
        p->named_column = (size_t)(column - p->column);
        return ROOF_OK;
    }
    int64_t value = 0;
    TRY(read_word(&value, &p->asked, input, trimmed ? word : text, error));
    if (input->kind != ROOF_INPUT_NUMBER) {
        remember(column, text, model, value);
    }
    return ROOF_OK;
}

/* Reads the inputs of a record; an empty cell leaves the default of `base`. */
static enum roof_status read_cells(struct roof_records *r, bool model, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    for (size_t k = 0; k < p->inputs; k++) {
        struct roof_record_column *const column = &p->column[p->input[k]];
        const char *const text = r->cell[p->input[k]];
        if (*text == '\0') {
            continue;
        }
        if (as_before(column, text, model)) {
            roof_input_put(&p->asked, column->input, column->value);
        } else if (read_cell(p, column, text, model, error) != ROOF_OK) {
            return bad_cell(r, p->input[k], error);
        }
    }
    return ROOF_OK;
}

/* Finds an operator by its name in any case. */
static enum roof_status find_operator(enum roof_operator *out, const char *name,
                                      struct roof_error *error)
{
    char word[ROOF_WORD_SIZE];
    if (roof_word_trim(word, name)) {
        roof_word_lower(word);
        if (roof_operator_find(out, word, NULL) == ROOF_OK) {
            return ROOF_OK;
        }
    }
    return roof_operator_find(out, name, error);
}

/* Reads the operator of the record, or that it is about a model. */
static enum roof_status read_operator(bool *model, struct roof_records *r, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const enum roof_records_kind kind = p->options.kind;
    const char *const name = roof_column_text(r, ROOF_COLUMN_OPERATOR);
    /* A record that may be about either, and only names a model, is about that model. */
    const bool only = kind == ROOF_RECORDS_BOTH &&
                      (*roof_column_text(r, ROOF_COLUMN_MODEL) != '\0' || p->options.model != NULL);
    *model = *name == '\0' ? kind == ROOF_RECORDS_MODELS || only : strcasecmp(name, "model") == 0;
    if (*model && kind == ROOF_RECORDS_OPERATORS) {
        return roof_error_set(
            error, ROOF_INVALID,
            "operator model: use predict model NAME " ROOF_KEY("from") " FILE for such records");
    }
    if (!*model && kind == ROOF_RECORDS_MODELS) {
        return roof_error_set(error, ROOF_INVALID,
                              "operator %s: use predict " ROOF_KEY("from") " FILE for operators",
                              name);
    }
    if (*model) {
        return ROOF_OK;
    }
    if (*name == '\0' && p->options.op != ROOF_OPERATOR_COUNT) {
        p->asked.common.op = p->options.op;
        return ROOF_OK;
    }
    const size_t at = p->of_role[ROOF_COLUMN_OPERATOR];
    struct roof_record_column *const column = at == ROOF_NO_COLUMN ? NULL : &p->column[at];
    if (column != NULL && as_before(column, name, false)) {
        p->asked.common.op = (enum roof_operator)column->value;
        return ROOF_OK;
    }
    TRY(find_operator(&p->asked.common.op, name, error));
    if (column != NULL) {
        remember(column, name, false, p->asked.common.op);
    }
    return ROOF_OK;
}

/* Refuses one of the two lengths of a request without the other. */
static enum roof_status check_lengths(const struct roof_records *r, struct roof_error *error)
{
    const struct roof_scenario *const asked = &r->private_data->asked;
    const bool said =
        roof_record_says(r, ROOF_INPUT_PROMPT) || roof_record_says(r, ROOF_INPUT_GENERATE);
    return !said || (asked->prompt > 0) == (asked->generate > 0)
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                "the %s prompt and generate need each other: give both",
                                r->json ? "keys" : "columns");
}

/* Derives inputs from printed values. Predictions also print lengths that follow from others, which
 * as inputs would conflict: the derived ones are removed, and checked if possible. */
static enum roof_status infer_record(const struct roof_records *r, const struct roof_model *model,
                                     const struct roof_hardware *hardware, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const struct roof_scenario *const base = p->options.base;
    struct roof_scenario *const asked = &p->asked;
    const int64_t context = asked->context == base->context ? 0 : asked->context;
    if (p->request && asked->prompt == 0 && asked->generate == 0) {
        return roof_error_set(error, ROOF_USAGE, "phase request needs prompt and generate");
    }
    if (!p->request && roof_record_says(r, ROOF_INPUT_PHASE)) {
        if (roof_record_says(r, ROOF_INPUT_PROMPT) || roof_record_says(r, ROOF_INPUT_GENERATE)) {
            return roof_error_set(error, ROOF_USAGE, "prompt and generate need phase request");
        }
        /* Inputs of requests on the command line are for other records. */
        asked->chunk =
            base->prompt > 0 && !roof_record_says(r, ROOF_INPUT_CHUNK) ? 0 : asked->chunk;
        asked->prompt = asked->generate = asked->static_batch = 0;
    }
    TRY(check_lengths(r, error));
    if (asked->draft_tokens == 0 && roof_record_says(r, ROOF_INPUT_ACCEPTANCE)) {
        return roof_error_set(error, ROOF_USAGE, "acceptance needs draft_tokens");
    }
    /* The chunk of a pass is the part of the prompt that is not cached, but that of a request is a
     * budget. */
    const int64_t chunk = asked->prefix_hit > 0 && asked->prompt == 0 ? asked->chunk : 0;
    if (p->request) { /* its lengths are prompt and generate */
        asked->context = base->context;
    } else if (chunk > 0) {
        asked->chunk = 0;
    }
    TRY(roof_predict_model(p->model_prediction, model, asked, hardware, error));
    const int64_t devices = roof_scenario_devices(&p->model_prediction->scenario);
    if (p->devices > 0 && p->devices != devices) {
        return roof_error_set(error, ROOF_USAGE,
                              "the split has %" PRId64 " device%s, not %" PRId64
                              ": give tp, pp, dp, attention_dp or moe_ep",
                              devices, devices == 1 ? "" : "s", p->devices);
    }
    if (chunk > 0 && p->model_prediction->scenario.chunk != chunk) {
        return roof_error_set(error, ROOF_USAGE,
                              "prefix_hit leaves a chunk of %" PRId64 ", not %" PRId64,
                              p->model_prediction->scenario.chunk, chunk);
    }
    if (p->request && context > 0 && p->model_prediction->scenario.context != context) {
        return roof_error_set(error, ROOF_USAGE,
                              "prompt and generate give a context of %" PRId64 ", not %" PRId64,
                              p->model_prediction->scenario.context, context);
    }
    return ROOF_OK;
}

/* Returns the drafter on the command line; NULL: none. */
static const char *drafter_of(const struct roof_scenario *base)
{
    return base->draft != NULL                       ? base->draft->id
           : base->drafting == ROOF_DRAFTING_OWN     ? "mtp"
           : base->drafting == ROOF_DRAFTING_DEFAULT ? NULL
                                                     : "none";
}

/* Reads the drafter: "mtp" and "none" are inputs, and only the command line loads a model. */
static enum roof_status read_drafter(const struct roof_records *r, struct roof_error *error)
{
    struct roof_scenario *const asked = &r->private_data->asked;
    const char *const said = roof_column_text(r, ROOF_COLUMN_DRAFT);
    const char *const given = drafter_of(r->private_data->options.base);
    if (*said != '\0' && given != NULL && strcmp(said, given) != 0) {
        return roof_error_set(error, ROOF_USAGE,
                              "draft_model is %s, " ROOF_KEY("draft_model") " gives %s", said,
                              given);
    }
    if (*said != '\0' && given == NULL && !roof_drafter_find(asked, said)) {
        return roof_error_set(error, ROOF_USAGE,
                              "a row cannot set draft_model: give " ROOF_KEY("draft_model"));
    }
    return (asked->drafting != ROOF_DRAFTING_DEFAULT || asked->draft != NULL) &&
                   asked->draft_tokens == 0
               ? roof_error_set(error, ROOF_USAGE, ROOF_KEY("draft_model") " needs draft_tokens")
               : ROOF_OK;
}

/* Returns the name of formats for a record, NULL if there is none: its own, or that of the command
 * line if the record has no other formats. */
static const char *name_of_formats(const struct roof_records *r, const char *layout)
{
    const struct roof_records_private *const p = r->private_data;
    return *p->named != '\0' ? p->named
           : *layout != '\0' || roof_record_says(r, ROOF_INPUT_PRECISION_BOTH)
               ? NULL
               : p->options.base->formats_said;
}

/* Sets the formats that a name denotes, unless the record has its own. */
static void put_formats(const char **layout, struct roof_scenario *asked,
                        const struct roof_named *found)
{
    const struct {
        size_t input;
        enum roof_precision format;
    } given[] = {{ROOF_INPUT_PRECISION_BOTH, found->precision},
                 {ROOF_INPUT_WEIGHTS, found->weights},
                 {ROOF_INPUT_ACTIVATIONS, found->activations},
                 {ROOF_INPUT_KV, found->kv}};
    for (size_t i = 0; i < COUNT(given); i++) {
        const struct roof_input *const input = roof_input(given[i].input);
        if (given[i].format != ROOF_PRECISION_AUTO &&
            roof_input_get(asked, input) == ROOF_PRECISION_AUTO) {
            roof_input_put(asked, input, given[i].format);
        }
    }
    *layout = found->layout == NULL ? *layout : found->layout;
}

/* Sets the formats of the checkpoint that the name of the model means, unless the record has
 * others. *model becomes the name of its model, if the store does not make the checkpoint. */
static enum roof_status take_checkpoint(const char **layout, const char **model,
                                        struct roof_records *r, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const struct roof_formats *const own = &p->asked.common.formats;
    const struct roof_named *found = NULL;
    if (**layout != '\0' || p->options.formats == NULL) {
        return ROOF_OK;
    }
    TRY(p->options.formats(p->options.context, &found, NULL, *model, error));
    if (found->model == NULL) {
        return ROOF_OK;
    }
    if (own->precision == ROOF_PRECISION_AUTO && own->weights == ROOF_PRECISION_AUTO &&
        own->activations == ROOF_PRECISION_AUTO) {
        put_formats(layout, &p->asked, found);
    }
    if (strcmp(*layout, ROOF_CHECKPOINT) != 0) {
        *model = found->model;
    }
    return ROOF_OK;
}

/* Sets the formats that a name denotes for the model of the record. */
static enum roof_status take_formats(const char **layout, const char **model,
                                     struct roof_records *r, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const char *const name = name_of_formats(r, *layout);
    const struct roof_named *found = NULL;
    if (name == NULL) {
        return take_checkpoint(layout, model, r, error);
    }
    if (**layout != '\0') {
        return roof_error_set(error, ROOF_USAGE,
                              "layout %s sets the formats of the weights: leave out precision %s",
                              *layout, name);
    }
    const enum roof_status status =
        p->options.formats(p->options.context, &found, name, *model, error);
    if (status != ROOF_OK) {
        return name == p->named && status != ROOF_MEMORY ? bad_cell(r, p->named_column, error)
                                                         : status;
    }
    put_formats(layout, &p->asked, found);
    return ROOF_OK;
}

/* Refuses the name of model formats for an operator, with the message of the input. */
static enum roof_status check_formats(const struct roof_records *r, struct roof_error *error)
{
    const char *const name = r->private_data->options.base->formats_said;
    int64_t value = 0;
    return name == NULL || roof_record_says(r, ROOF_INPUT_PRECISION_BOTH)
               ? ROOF_OK
               : roof_input_parse(&value, roof_input(ROOF_INPUT_PRECISION_BOTH), name, error);
}

static enum roof_status predict_model(struct roof_records *r, const struct roof_hardware *hardware,
                                      struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const struct roof_records_options *const options = &p->options;
    const char *const named = roof_column_text(r, ROOF_COLUMN_MODEL);
    const char *name = *named == '\0' ? options->model : named;
    const char *layout = roof_column_text(r, ROOF_COLUMN_LAYOUT);
    const struct roof_model *model = NULL;
    if (name == NULL) {
        return roof_error_set(error, ROOF_USAGE, "a row with operator model needs a model");
    }
    TRY(roof_record_request(&p->asked, r, error));
    TRY(read_drafter(r, error));
    if (p->model_prediction == NULL) {
        p->model_prediction = malloc(sizeof *p->model_prediction);
    }
    if (p->model_prediction == NULL) {
        return roof_no_memory(error);
    }
    if (strcmp(layout, "file") == 0) { /* the printed value for the formats of the model's file */
        layout = "";
    }
    TRY(take_formats(&layout, &name, r, error));
    p->asked.formats_said = NULL; /* the name is not kept */
    TRY(options->load_model(options->context, &model, name, layout, error));
    const struct roof_formats *const formats = &p->asked.common.formats;
    const bool precision = formats->precision != options->base->common.formats.precision;
    if (model->layout != NULL && (precision || formats->weights != ROOF_PRECISION_AUTO)) {
        return roof_error_set(
            error, ROOF_USAGE,
            "%s cannot change the formats of a layout or a file: leave out the column",
            precision ? "precision" : "weights");
    }
    return infer_record(r, model, hardware, error);
}

static enum roof_status predict_record(const struct roof_prediction **out,
                                       struct roof_records *records,
                                       const struct roof_hardware *hardware,
                                       struct roof_error *error)
{
    struct roof_records_private *const p = records->private_data;
    bool model = false;
    p->asked = *p->options.base;
    p->request = false;
    p->named[0] = '\0';
    p->devices = 0;
    records->model_prediction = NULL;
    records->asked = &p->asked;
    TRY(read_operator(&model, records, error));
    TRY(roof_record_measured(records, model, error));
    TRY(read_cells(records, model, error));
    if (model) {
        TRY(predict_model(records, hardware, error));
        records->model_prediction = p->model_prediction;
        *out = &p->model_prediction->total;
        return ROOF_OK;
    }
    *out = &p->prediction;
    TRY(check_formats(records, error));
    TRY(roof_predict(&p->prediction, &p->asked.common, hardware, error));
    if (!isnan(records->measured_s[ROOF_METRIC_TIME])) {
        roof_predict_measured(&p->prediction, records->measured_s[ROOF_METRIC_TIME]);
    }
    return ROOF_OK;
}

enum roof_status roof_records_predict(const struct roof_prediction **out,
                                      struct roof_records *records,
                                      const struct roof_hardware *hardware,
                                      struct roof_error *error)
{
    return roof_records_with_memory(records, predict_record(out, records, hardware, error), error);
}
