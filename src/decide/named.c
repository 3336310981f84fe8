// SPDX-License-Identifier: MIT
#include "decide/named.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/list.h"
#include "base/nearest.h"
#include "catalog/registry.h"
#include "decide/engine.h"
#include "decide/hint.h"
#include "model/layout.h"

/* Tells if a model (NULL: unknown) is published in the formats of an engine. */
static enum roof_status is_published(bool *out, const char *name,
                                     const struct roof_serving *serving, struct roof_loans *loans,
                                     struct roof_error *error)
{
    const struct roof_model *model = NULL;
    *out = false;
    if (!roof_serving_published(serving) || name == NULL) {
        return ROOF_OK;
    }
    const struct roof_model_wish wish = {.name = name};
    TRY(roof_loan_model(&model, loans, &wish, error));
    *out = roof_serving_own(serving, model);
    return ROOF_OK;
}

/* Takes the formats of an engine. Notes where these are of published models, and the model is not
 * among them. */
static enum roof_status take_serving(struct roof_named *out, struct roof_error *note,
                                     const char *name, const char *model,
                                     const struct roof_serving *serving, struct roof_loans *loans,
                                     struct roof_error *error)
{
    bool published = false;
    TRY(is_published(&published, model, serving, loans, error));
    out->kv = serving->kv;
    if (published) {
        out->layout = "checkpoint";
    } else if (serving->layout != NULL && strcasecmp(serving->layout, name) == 0) {
        out->layout = name;
    } else {
        out->weights = serving->weights;
        out->activations = serving->activations;
        if (roof_serving_published(serving) && model != NULL) {
            (void)roof_error_set(
                note, ROOF_OK,
                "note: %s means a published checkpoint, which %s is not; it is read as " ROOF_KEY(
                    "weights") " %s " ROOF_KEY("activations") " %s",
                name, model, roof_format(serving->weights)->name,
                roof_format(serving->activations)->name);
        }
    }
    return ROOF_OK;
}

/* Says what else a precision could mean. */
static void note_other(struct roof_error *note, const char *name, enum roof_precision precision,
                       const struct roof_serving *serving, const char *const *folders)
{
    if (roof_layout_known(name, folders)) {
        (void)roof_error_set(
            note, ROOF_OK,
            "note: %s is read as the precision of linear layers; " ROOF_KEY(
                "layout") " %s also sets the embedding and the output, as GGUF files do",
            name, name);
    } else if (serving != NULL && serving->layout == NULL && serving->weights != precision) {
        (void)roof_error_set(
            note, ROOF_OK,
            "note: %s is read as the precision %s; engines that run %s use " ROOF_KEY(
                "weights") " %s " ROOF_KEY("activations") " %s",
            name, roof_format(precision)->name, name, roof_format(serving->weights)->name,
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
               : roof_unknown_near(error, ROOF_USAGE, "precision, layout or engine format", name,
                                   names, nearness, count);
}

/* Lists the names of precisions, of layouts and of the formats of engines, each once, in this
 * order; returns how many there are. */
static size_t list_names(const char **names, const struct roof_text *ids, size_t layouts,
                         const struct roof_engines *engines)
{
    size_t count = ROOF_PRECISION_COUNT + layouts;
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        names[p] = roof_precision_name((enum roof_precision)p);
    }
    roof_registry_names(names + ROOF_PRECISION_COUNT, ids, layouts);
    for (size_t i = 0; i < engines->servings; i++) {
        size_t k = 0;
        while (k < count && strcmp(names[k], engines->serving[i].id) != 0) {
            k++;
        }
        names[k] = engines->serving[i].id;
        count += k == count;
    }
    return count;
}

/* Refuses an unknown name of formats, if it resembles that of a layout or of an engine's formats.
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
        const size_t count = list_names(names, &ids, layouts, engines);
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

static enum roof_status find(struct roof_named *out, struct roof_error *note, const char *name,
                             const char *model, const struct roof_engines *engines,
                             struct roof_loans *loans, struct roof_error *error)
{
    const char *const *const folders = roof_store_folders(loans->store);
    const struct roof_serving *const serving = roof_serving_find(engines, name);
    if (roof_precision_find(&out->precision, name, NULL) == ROOF_OK) {
        note_other(note, name, out->precision, serving, folders);
        return ROOF_OK;
    }
    out->precision = ROOF_PRECISION_AUTO;
    if (serving != NULL) {
        return take_serving(out, note, name, model, serving, loans, error);
    }
    if (roof_layout_known(name, folders)) {
        out->layout = name;
        return ROOF_OK;
    }
    TRY(unknown_formats(name, engines, folders, error));
    return roof_precision_find(&out->precision, name, error);
}

enum roof_status roof_named_find(struct roof_named *out, struct roof_error *note, const char *name,
                                 const char *model, struct roof_loans *loans,
                                 struct roof_error *error)
{
    const struct roof_engines *engines = NULL;
    *out = ROOF_NAMED_NONE;
    *note = (struct roof_error){.status = ROOF_OK};
    TRY(roof_loan_engines(&engines, loans, error));
    return find(out, note, name, model, engines, loans, error);
}

bool roof_named_plain(const char *list)
{
    struct roof_list_item item;
    enum roof_precision precision = ROOF_PRECISION_AUTO;
    for (const char *rest = list; roof_list_next(&item, &rest);) {
        char name[ROOF_NAMED_SIZE];
        if (!roof_list_item_copy(name, sizeof name, &item) ||
            roof_precision_find(&precision, name, NULL) != ROOF_OK) {
            return false;
        }
    }
    return true;
}
