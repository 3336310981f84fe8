// SPDX-License-Identifier: MIT
#include "decide/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/list.h"
#include "catalog/registry.h"
#include "decide/hint.h"
#include "decide/named.h"
#include "model/layout.h"
#include "model/load.h"

/* --- operators and models ------------------------------------------------------------------ */

/* The size of a buffer for names; longer ones are unknown. */
#define NAME_SIZE 4100

/* Refuses a name that belongs neither to an operator nor to a model. */
static enum roof_status unknown_workload(const char *name, const char *const *folders,
                                         struct roof_error *error)
{
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t models = 0;
    enum roof_status status = roof_model_ids(&ids, &models, folders, error);
    const char **const names = calloc(models + ROOF_OPERATOR_COUNT, sizeof *names);
    if (status == ROOF_OK && names == NULL) {
        status = roof_no_memory(error);
    }
    if (status == ROOF_OK) {
        for (int i = 0; i < ROOF_OPERATOR_COUNT; i++) {
            names[i] = roof_operator_name((enum roof_operator)i);
        }
        roof_registry_names(names + ROOF_OPERATOR_COUNT, &ids, models);
        status = roof_unknown_name(error, ROOF_USAGE, "operator or model", name, names,
                                   models + ROOF_OPERATOR_COUNT);
        roof_error_append(error, " (all: roofline list operators, roofline list models; or "
                                 "the path of a model)");
        roof_registry_suggest(error, name, folders);
        roof_hint_vision(error, name, folders);
    }
    free(names);
    roof_text_free(&ids);
    return status;
}

/* Changes the subject from an operator to a model if it is not an operator. */
static enum roof_status resolve_workload(struct roof_question *question, struct roof_loans *loans,
                                         struct roof_error *error)
{
    const char *const *const folders = roof_store_folders(loans->store);
    const char *rest = question->op;
    enum roof_operator op = ROOF_OPERATOR_COUNT;
    struct roof_list_item first;
    char name[NAME_SIZE];
    if (question->op == NULL || roof_operator_find(&op, question->op, NULL) == ROOF_OK) {
        return ROOF_OK;
    }
    bool known = false;
    struct roof_checkpoint checkpoint;
    TRY(roof_model_known(&known, question->op, folders, error));
    if (!known && roof_list_next(&first, &rest) && roof_list_item_copy(name, sizeof name, &first)) {
        TRY(roof_model_known(&known, name, folders, error));
        known = known || roof_checkpoint_find(&checkpoint, name, folders);
    }
    if (!known) {
        return unknown_workload(question->op, folders, error);
    }
    question->model = true;
    question->model_name = question->op;
    question->op = NULL;
    return ROOF_OK;
}

/* --- formats ------------------------------------------------------------------------------- */

/* Sets an input of a question, unless it has a value. */
static void give(struct roof_question *question, size_t input, const char *value)
{
    if (!roof_asked(question, input)) {
        question->value[input] = value;
    }
}

static void give_format(struct roof_question *question, size_t input, enum roof_precision format)
{
    if (format != ROOF_PRECISION_AUTO) {
        give(question, input, roof_format(format)->name);
    }
}

static bool is_list(const char *text)
{
    struct roof_list_item item;
    int count = 0;
    for (const char *rest = text; count < 2 && roof_list_next(&item, &rest);) {
        count++;
    }
    return count == 2;
}

/* Tells whether the readers of models or lists look the precision up, item by item. */
static bool is_looked_up_later(const struct roof_question *question)
{
    const bool records = roof_asked(question, ROOF_INPUT_FROM) || question->files > 0;
    return records ? question->op == NULL
                   : question->model && (is_list(question->model_name) ||
                                         is_list(question->value[ROOF_INPUT_PRECISION_BOTH]));
}

/* Moves the checkpoint of a known model that the model of a question means to its input, and names
 * that model instead. */
static enum roof_status find_checkpoint(struct roof_question *question, struct roof_loans *loans,
                                        struct roof_error *error)
{
    struct roof_checkpoint *const found = &question->checkpoint;
    const struct roof_model *model = NULL;
    found->name = NULL;
    if (!question->model || question->model_name == NULL) {
        return ROOF_OK;
    }
    TRY(roof_loan_checkpoint(found, loans, question->model_name, error));
    if (found->name != NULL) {
        const struct roof_model_wish wish = {.name = found->model};
        TRY(roof_loan_model(&model, loans, &wish, error));
        question->model_name = model->id;
    }
    return ROOF_OK;
}

/* Says which formats plans search. */
static void note_plans(struct roof_error *note, const struct roof_question *question)
{
    const struct roof_checkpoint *const found = &question->checkpoint;
    (void)roof_error_set(note, ROOF_OK, "note: %s is read as %s, in any format; ", found->name,
                         question->model_name);
    if (found->quantization != NULL) {
        roof_error_append(note, ROOF_KEY("formats") " %s chooses this checkpoint", found->formats);
    } else {
        roof_error_append(note, ROOF_KEY("formats") " chooses among them");
    }
}

/* Gives a question the formats of its checkpoint. One with a quantization_config is loaded by its
 * own name. */
static void put_formats(struct roof_question *question)
{
    const struct roof_checkpoint *const found = &question->checkpoint;
    if (found->quantization != NULL) {
        question->model_name = found->name;
        question->value[ROOF_INPUT_LAYOUT] = ROOF_CHECKPOINT;
    } else {
        question->value[found->layout ? ROOF_INPUT_LAYOUT : ROOF_INPUT_PRECISION_BOTH] =
            found->formats;
    }
}

/* Changes the name of a quantised checkpoint of a known model to that model, with its formats
 * unless the question has others. *note then says so. */
static enum roof_status resolve_checkpoint(struct roof_question *question, struct roof_error *note,
                                           struct roof_loans *loans, enum roof_command command,
                                           struct roof_error *error)
{
    const struct roof_checkpoint *const found = &question->checkpoint;
    TRY(find_checkpoint(question, loans, error));
    if (found->name == NULL) {
        return ROOF_OK;
    }
    const char *const layout = question->value[ROOF_INPUT_LAYOUT];
    const bool others = roof_asked_formats(question);
    const bool plans = command == ROOF_COMMAND_RECOMMEND;
    const bool published =
        found->quantization != NULL && layout != NULL && strcmp(layout, ROOF_CHECKPOINT) == 0;
    if (plans && !others) {
        note_plans(note, question);
        return ROOF_OK;
    }
    const bool own = !plans && (!others || published);
    TRY(roof_checkpoint_note(note, found, question->model_name, own, error));
    if (own) {
        put_formats(question);
    }
    return ROOF_OK;
}

/* Sets the formats of a question about a model by the name in its precision. */
static enum roof_status resolve_formats(struct roof_question *question, struct roof_error *note,
                                        struct roof_loans *loans, struct roof_error *error)
{
    const char *const name = question->value[ROOF_INPUT_PRECISION_BOTH];
    struct roof_named named;
    struct roof_error other;
    if (!question->model || name == NULL || roof_asked(question, ROOF_INPUT_LAYOUT) ||
        is_looked_up_later(question)) {
        return ROOF_OK;
    }
    TRY(roof_named_find(&named, note->message[0] == '\0' ? note : &other, name,
                        question->model_name, loans, error));
    if (named.precision != ROOF_PRECISION_AUTO) {
        return ROOF_OK;
    }
    question->value[ROOF_INPUT_PRECISION_BOTH] = NULL;
    if (named.layout != NULL) {
        give(question, ROOF_INPUT_LAYOUT, named.layout);
    }
    give_format(question, ROOF_INPUT_WEIGHTS, named.weights);
    give_format(question, ROOF_INPUT_ACTIVATIONS, named.activations);
    give_format(question, ROOF_INPUT_KV, named.kv);
    return ROOF_OK;
}

/* Refuses a layout in place of a format, including the user's own. */
static enum roof_status check_formats(const struct roof_question *question,
                                      const struct roof_loans *loans, struct roof_error *error)
{
    static const size_t formats[] = {ROOF_INPUT_PRECISION_BOTH, ROOF_INPUT_WEIGHTS,
                                     ROOF_INPUT_ACTIVATIONS, ROOF_INPUT_KV, ROOF_INPUT_OUT};
    const char *const *const folders = roof_store_folders(loans->store);
    for (size_t i = 0; i < COUNT(formats); i++) {
        const char *const name = question->value[formats[i]];
        enum roof_precision precision = ROOF_PRECISION_AUTO;
        const bool later = formats[i] == ROOF_INPUT_PRECISION_BOTH && is_looked_up_later(question);
        if (name != NULL && !later && roof_precision_find(&precision, name, NULL) != ROOF_OK &&
            roof_layout_known(name, folders)) {
            const enum roof_status status = roof_precision_find(&precision, name, error);
            roof_hint_format(error, name, false, folders);
            return status;
        }
    }
    return ROOF_OK;
}

enum roof_status roof_question_resolve(struct roof_question *out, struct roof_error *note,
                                       const struct roof_question *question,
                                       struct roof_loans *loans, enum roof_command command,
                                       struct roof_error *error)
{
    *note = (struct roof_error){.status = ROOF_OK};
    roof_question_borrow(out, question);
    TRY(roof_loan_name(&out->op, loans, error));
    TRY(roof_loan_name(&out->model_name, loans, error));
    TRY(resolve_workload(out, loans, error));
    TRY(resolve_checkpoint(out, note, loans, command, error));
    TRY(resolve_formats(out, note, loans, error));
    return check_formats(out, loans, error);
}
