// SPDX-License-Identifier: MIT
#include "decide/known.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"

void roof_read_known(struct roof_known *known, struct roof_loans *loans, struct roof_question *rest,
                     const struct roof_question *question)
{
    const char *const precision = question->value[ROOF_INPUT_PRECISION_BOTH];
    roof_question_borrow(rest, question);
    known->named = NULL;
    known->last = NULL;
    if (precision != NULL && question->op == NULL && !roof_asked(question, ROOF_INPUT_LAYOUT) &&
        !roof_named_plain(precision)) {
        known->named = precision;
        rest->value[ROOF_INPUT_PRECISION_BOTH] = NULL;
    }
    known->loans = loans;
    known->device = roof_read_device_wish(question, false);
    known->model = roof_read_model_wish(rest);
    known->weights =
        roof_asked(question, ROOF_INPUT_WEIGHTS) ? ROOF_INPUT_WEIGHTS : ROOF_INPUT_PRECISION_BOTH;
    known->devices.count = known->models.count = 0;
    known->own = NULL;
}

/* Finds the entry of a name; *fresh is true if it is new and must be loaded. */
static enum roof_status look_up(struct roof_known_name **out, bool *fresh,
                                struct roof_known_names *names, const char *name,
                                struct roof_error *error)
{
    *fresh = false;
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->entry[i].name, name) == 0) {
            *out = &names->entry[i];
            return ROOF_OK;
        }
    }
    if (names->count == ROOF_KNOWN_MAX) {
        return roof_error_set(error, ROOF_USAGE, "the file names more than %d devices or models",
                              ROOF_KNOWN_MAX);
    }
    *out = &names->entry[names->count];
    (*out)->object = NULL;
    (*out)->name = strdup(name);
    if ((*out)->name == NULL) {
        return roof_no_memory(error);
    }
    names->count++;
    *fresh = true;
    return ROOF_OK;
}

/* Drops the unknown name that was just added if it would take the room of known ones. */
static void forget_unknown(struct roof_known_names *names)
{
    if (names->count > ROOF_KNOWN_MAX / 2) {
        free(names->entry[--names->count].name);
    }
}

/* Loads a device. A name counts as unknown only if it also fails without `set` and `calibration`.
 */
static enum roof_status load_hardware(struct roof_known *known, const struct roof_hardware **out,
                                      const char *name, struct roof_error *error)
{
    struct roof_device_wish wish = known->device;
    struct roof_device_wish bare = {.name = name, .power_cap = wish.power_cap};
    const enum roof_status status = roof_borrow_hardware(out, known->loans, &bare, error);
    if (status != ROOF_OK) {
        return status == ROOF_USAGE ? ROOF_UNSATISFIED : status;
    }
    wish.name = name;
    return roof_borrow_hardware(out, known->loans, &wish, error);
}

enum roof_status roof_known_hardware(struct roof_known *known, const struct roof_hardware **out,
                                     const char *name, struct roof_error *error)
{
    struct roof_known_name *entry = NULL;
    bool fresh = false;
    *out = NULL;
    if (known->own != NULL && strcmp(known->own->id, name) == 0) {
        *out = known->own;
        return ROOF_OK;
    }
    TRY(look_up(&entry, &fresh, &known->devices, name, error));
    if (!fresh) {
        *out = entry->object;
        return *out != NULL
                   ? ROOF_OK
                   : roof_error_set(error, ROOF_UNSATISFIED,
                                    "unknown hardware '%s' (roofline list hardware)", name);
    }
    const enum roof_status status = load_hardware(known, out, name, error);
    if (status != ROOF_OK) {
        *out = NULL;
        forget_unknown(&known->devices);
        return status;
    }
    entry->object = *out;
    return ROOF_OK;
}

const struct roof_hardware *roof_known_before(const struct roof_known *known, const char *name)
{
    if (known->own != NULL && strcmp(known->own->id, name) == 0) {
        return known->own;
    }
    for (size_t i = 0; i < known->devices.count; i++) {
        if (strcmp(known->devices.entry[i].name, name) == 0) {
            return known->devices.entry[i].object;
        }
    }
    return NULL;
}

const char *roof_known_own_name(const struct roof_known *known)
{
    return known->device.name == NULL ? ROOF_DEFAULT_HARDWARE : known->device.name;
}

enum roof_status roof_known_own(struct roof_known *known, struct roof_error *error)
{
    return roof_known_hardware(known, &known->own, roof_known_own_name(known), error);
}

/* Loads a model in a layout of a record, or in that of the question. */
static enum roof_status load_model(struct roof_known *known, const struct roof_model **out,
                                   const char *name, const char *layout, struct roof_error *error)
{
    struct roof_model_wish wish = known->model;
    wish.name = name;
    if (*layout != '\0') {
        wish.layout = layout;
    }
    return roof_loan_model(out, known->loans, &wish, error);
}

/* Refuses a layout beside formats of the weights. */
static enum roof_status check_layout(const struct roof_known *known, const char *layout,
                                     struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    return *layout == '\0' || !known->model.forget_formats
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                "layout %s sets the formats of the weights: leave out %s", layout,
                                roof_input_marked(name, roof_input(known->weights)));
}

/* Finds a model by its key, or loads it. */
static enum roof_status find_model(struct roof_known *known, const struct roof_model **out,
                                   bool *fresh, const char *key, const char *name,
                                   const char *layout, struct roof_error *error)
{
    struct roof_known_name *entry = NULL;
    TRY(look_up(&entry, fresh, &known->models, key, error));
    if (!*fresh) {
        *out = entry->object;
        return *out != NULL ? ROOF_OK
                            : roof_error_set(error, ROOF_USAGE, "unknown model '%s'", key);
    }
    const enum roof_status status = load_model(known, out, name, layout, error);
    if (status != ROOF_OK) {
        *out = NULL;
        forget_unknown(&known->models);
        return status;
    }
    entry->object = *out;
    return ROOF_OK;
}

enum roof_status roof_known_model(struct roof_known *known, const struct roof_model **out,
                                  bool *fresh, const char *name, const char *layout,
                                  struct roof_error *error)
{
    *out = NULL;
    *fresh = false;
    TRY(check_layout(known, layout, error));
    struct roof_text key = ROOF_TEXT_INIT;
    roof_text_printf(&key, *layout == '\0' ? "%s" : "%s as %s", name, layout);
    const enum roof_status status =
        key.failed ? roof_no_memory(error)
                   : find_model(known, out, fresh, key.data, name, layout, error);
    roof_text_free(&key);
    return status;
}

/* Finds the formats of the checkpoint that the name of a model means. */
static enum roof_status find_checkpoint(struct roof_known *known, struct roof_error *note,
                                        const char *name, struct roof_error *error)
{
    struct roof_named *const formats = &known->formats;
    struct roof_checkpoint found;
    const struct roof_model *model = NULL;
    struct roof_error other;
    *formats = ROOF_NAMED_NONE;
    if (known->model.layout != NULL || known->model.forget_formats) {
        return ROOF_OK; /* the store says so */
    }
    TRY(roof_loan_checkpoint(&found, known->loans, name, error));
    if (found.name == NULL) {
        return ROOF_OK;
    }
    const struct roof_model_wish wish = {.name = found.model};
    TRY(roof_loan_model(&model, known->loans, &wish, error));
    if (found.layout || found.quantization != NULL) {
        formats->layout = found.layout ? found.formats : ROOF_CHECKPOINT;
    } else {
        TRY(roof_named_find(formats, &other, found.formats, model->id, known->loans, error));
    }
    formats->model = model->id;
    return roof_checkpoint_note(note, &found, model->id, true, error);
}

enum roof_status roof_known_formats(struct roof_known *known, const struct roof_named **out,
                                    struct roof_error *note, const char *name, const char *model,
                                    struct roof_error *error)
{
    const char *const said = name == NULL ? "" : name;
    const size_t length = strlen(said) + 1;
    const size_t size = length + strlen(model) + 1;
    *out = &known->formats;
    *note = (struct roof_error){.status = ROOF_OK};
    if (known->last != NULL && strcmp(known->last, said) == 0 &&
        strcmp(known->last + length, model) == 0) {
        return ROOF_OK;
    }
    char *const last = malloc(size);
    if (last == NULL) {
        return roof_no_memory(error);
    }
    memcpy(last, said, length);
    memcpy(last + length, model, size - length);
    free(known->last);
    known->last = NULL;
    const enum roof_status status =
        name == NULL ? find_checkpoint(known, note, last + length, error)
                     : roof_named_find(&known->formats, note, last, model, known->loans, error);
    if (status != ROOF_OK) {
        free(last);
        return status;
    }
    known->last = last; /* the layout may be the name */
    return ROOF_OK;
}

static void free_names(struct roof_known_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->entry[i].name);
    }
}

void roof_known_free(struct roof_known *known)
{
    free_names(&known->devices);
    free_names(&known->models);
    free(known->last);
}
