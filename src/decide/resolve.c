// SPDX-License-Identifier: MIT
#include "decide/resolve.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/list.h"
#include "base/nearest.h"
#include "decide/engine.h"
#include "decide/hint.h"
#include "model/layout.h"
#include "model/load.h"

/* --- operators and models ------------------------------------------------------------------ */

/* Names longer than this are none of ours. */
#define NAME_SIZE 4100

/* Puts ids that stand one behind the other into a list of names. */
static void list_ids(const char **names, const struct roof_text *ids, size_t count)
{
    const char *id = ids->data;
    for (size_t i = 0; i < count; i++, id += strlen(id) + 1) {
        names[i] = id;
    }
}

/* Refuses a name that is neither an operator's nor a model's. */
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
        list_ids(names + ROOF_OPERATOR_COUNT, &ids, models);
        status = roof_unknown_name(error, ROOF_USAGE, "operator or model", name, names,
                                   models + ROOF_OPERATOR_COUNT);
        roof_error_append(error, " (all: roofline list operators, roofline list models)");
    }
    free(names);
    roof_text_free(&ids);
    return status;
}

/* Makes a model of what is asked as an operator and is none. */
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
    TRY(roof_model_known(&known, question->op, folders, error));
    if (!known && roof_list_next(&first, &rest) && roof_list_item_copy(name, sizeof name, &first)) {
        TRY(roof_model_known(&known, name, folders, error));
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

/* Gives an input of a question a value, unless it has one. */
static void give(struct roof_question *question, size_t input, const char *value)
{
    if (!roof_asked(question, input)) {
        question->value[input] = value;
    }
}

/* Tells if a model is published in the formats of an engine. */
static enum roof_status is_published(bool *out, const struct roof_question *question,
                                     const struct roof_serving *serving, struct roof_loans *loans,
                                     struct roof_error *error)
{
    const struct roof_model *model = NULL;
    *out = false;
    if (!roof_serving_published(serving) || question->model_name == NULL ||
        strchr(question->model_name, ',') != NULL) {
        return ROOF_OK;
    }
    const struct roof_model_wish wish = {.name = question->model_name};
    TRY(roof_loan_model(&model, loans, &wish, error));
    *out = roof_serving_suits(serving, model);
    return ROOF_OK;
}

/* Gives a question the formats of an engine, and copies their texts: the engines are freed. Notes
 * where these are of published models, and the model is not among them. */
static enum roof_status take_serving(struct roof_question *question, struct roof_error *note,
                                     const struct roof_serving *serving, struct roof_loans *loans,
                                     struct roof_error *error)
{
    const char *const name = question->value[ROOF_INPUT_PRECISION_BOTH];
    bool published = false;
    TRY(is_published(&published, question, serving, loans, error));
    question->value[ROOF_INPUT_PRECISION_BOTH] = NULL;
    if (published) {
        give(question, ROOF_INPUT_LAYOUT, "checkpoint");
    } else if (serving->layout != NULL && strcasecmp(serving->layout, name) == 0) {
        give(question, ROOF_INPUT_LAYOUT, name);
    } else {
        give(question, ROOF_INPUT_WEIGHTS, roof_format(serving->weights)->name);
        give(question, ROOF_INPUT_ACTIVATIONS, roof_format(serving->activations)->name);
        if (roof_serving_published(serving)) {
            (void)roof_error_set(
                note, ROOF_OK,
                "note: %s stands for published checkpoints; %s is none of them and is "
                "taken as " ROOF_KEY("weights") " %s " ROOF_KEY("activations") " %s",
                name, question->model_name, roof_format(serving->weights)->name,
                roof_format(serving->activations)->name);
        }
    }
    give(question, ROOF_INPUT_KV, roof_format(serving->kv)->name);
    return ROOF_OK;
}

/* Says what else a precision could mean. */
static void note_other(struct roof_error *note, const char *name, enum roof_precision precision,
                       const struct roof_serving *serving, const char *const *folders)
{
    if (roof_layout_known(name, folders)) {
        (void)roof_error_set(note, ROOF_OK,
                             "note: %s is read as the precision; " ROOF_KEY(
                                 "layout") " %s is the layout of that name",
                             name, name);
    } else if (serving != NULL && serving->layout == NULL && serving->weights != precision) {
        (void)roof_error_set(note, ROOF_OK,
                             "note: %s is read as the precision; engines call " ROOF_KEY(
                                 "weights") " %s " ROOF_KEY("activations") " %s by that name",
                             name, roof_format(serving->weights)->name,
                             roof_format(serving->activations)->name);
    }
}

/* Refuses a name that resembles a layout or an engine's formats more than any precision. */
static enum roof_status refuse_near(const char *const *names, const unsigned *nearness,
                                    size_t count, const char *name, struct roof_error *error)
{
    size_t nearest = 0;
    for (size_t i = 1; i < count; i++) {
        nearest = nearness[i] < nearness[nearest] ? i : nearest;
    }
    return nearest < ROOF_PRECISION_COUNT
               ? ROOF_OK /* whoever reads the precision says what is wrong */
               : roof_unknown_near(error, ROOF_USAGE, "precision, layout or format of engines",
                                   name, names, nearness, count);
}

/* Refuses the name of formats that is none of ours, where it resembles a layout's or an engine's.
 */
static enum roof_status unknown_formats(const char *name, const struct roof_engines *engines,
                                        const char *const *folders, struct roof_error *error)
{
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t layouts = 0;
    enum roof_status status = roof_layout_ids(&ids, &layouts, folders, error);
    const size_t most = ROOF_PRECISION_COUNT + layouts + engines->servings;
    const char **const names = calloc(most, sizeof *names);
    unsigned *const nearness = calloc(most, sizeof *nearness);
    if (status == ROOF_OK && (names == NULL || nearness == NULL)) {
        status = roof_no_memory(error);
    }
    if (status == ROOF_OK) {
        size_t count = ROOF_PRECISION_COUNT + layouts;
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            names[p] = roof_precision_name((enum roof_precision)p);
        }
        list_ids(names + ROOF_PRECISION_COUNT, &ids, layouts);
        for (size_t i = 0; i < engines->servings; i++) {
            const char *const id = engines->serving[i].id;
            size_t k = 0;
            while (k < count && strcmp(names[k], id) != 0) {
                k++;
            }
            names[k] = id;
            count += k == count;
        }
        for (size_t i = 0; i < count; i++) {
            nearness[i] = roof_nearness(name, names[i]);
        }
        status = refuse_near(names, nearness, count, name, error);
    }
    free(nearness);
    free(names);
    roof_text_free(&ids);
    return status;
}

static enum roof_status resolve_with(struct roof_question *question, struct roof_error *note,
                                     const struct roof_engines *engines, struct roof_loans *loans,
                                     struct roof_error *error)
{
    const char *const *const folders = roof_store_folders(loans->store);
    const char *const name = question->value[ROOF_INPUT_PRECISION_BOTH];
    const struct roof_serving *const serving = roof_serving_find(engines, name);
    enum roof_precision precision = ROOF_PRECISION_AUTO;
    if (roof_precision_find(&precision, name, NULL) == ROOF_OK) {
        note_other(note, name, precision, serving, folders);
        return ROOF_OK;
    }
    if (serving != NULL) {
        return take_serving(question, note, serving, loans, error);
    }
    if (roof_layout_known(name, folders)) {
        question->value[ROOF_INPUT_PRECISION_BOTH] = NULL;
        give(question, ROOF_INPUT_LAYOUT, name);
        return ROOF_OK;
    }
    return strchr(name, ',') != NULL ? ROOF_OK /* the names of a list are read one by one */
                                     : unknown_formats(name, engines, folders, error);
}

/* Gives a question about a model the formats that its precision names. */
static enum roof_status resolve_formats(struct roof_question *question, struct roof_error *note,
                                        struct roof_loans *loans, struct roof_error *error)
{
    struct roof_engines *engines = NULL;
    if (!question->model || !roof_asked(question, ROOF_INPUT_PRECISION_BOTH) ||
        roof_asked(question, ROOF_INPUT_LAYOUT)) {
        return ROOF_OK;
    }
    TRY(roof_engines_load(&engines, error));
    const enum roof_status status = resolve_with(question, note, engines, loans, error);
    roof_engines_free(engines);
    return status;
}

/* Refuses a layout in place of a format, also one of the user's own. */
static enum roof_status check_formats(const struct roof_question *question,
                                      const struct roof_loans *loans, struct roof_error *error)
{
    static const size_t formats[] = {ROOF_INPUT_PRECISION_BOTH, ROOF_INPUT_WEIGHTS,
                                     ROOF_INPUT_ACTIVATIONS, ROOF_INPUT_KV, ROOF_INPUT_OUT};
    const char *const *const folders = roof_store_folders(loans->store);
    for (size_t i = 0; i < COUNT(formats); i++) {
        const char *const name = question->value[formats[i]];
        enum roof_precision precision = ROOF_PRECISION_AUTO;
        if (name != NULL && roof_precision_find(&precision, name, NULL) != ROOF_OK &&
            roof_layout_known(name, folders)) {
            const enum roof_status status = roof_precision_find(&precision, name, error);
            roof_hint_format(error, name, folders);
            return status;
        }
    }
    return ROOF_OK;
}

enum roof_status roof_question_resolve(struct roof_question *out, struct roof_error *note,
                                       const struct roof_question *question,
                                       struct roof_loans *loans, struct roof_error *error)
{
    *note = (struct roof_error){.status = ROOF_OK};
    roof_question_borrow(out, question);
    TRY(resolve_workload(out, loans, error));
    TRY(resolve_formats(out, note, loans, error));
    return check_formats(out, loans, error);
}
