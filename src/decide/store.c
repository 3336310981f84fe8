// SPDX-License-Identifier: MIT
#include "decide/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "catalog/hardware_check.h"
#include "catalog/registry.h"
#include "decide/checkpoint.h"
#include "decide/hint.h"
#include "model/layout.h"
#include "model/load.h"
#include "model/model_make.h"
#include "predict/calibration.h"
#include "roofline/predict.h"

#define FOLDERS_MAX 4

struct roof_stored {
    struct roof_stored *next;
    char *key;                      /* identifies the object with all its settings */
    struct roof_hardware *hardware; /* either a device */
    struct roof_model *model;       /* or a model */
    size_t lent;                    /* number of answers that use it */
    bool stays;                     /* it is kept while no answer uses it */
    bool renamed;                   /* a name of a checkpoint means it; there are many such names */
};

struct roof_store {
    pthread_mutex_t lock;
    struct roof_stored *first;
    struct roof_engines *engines;       /* NULL: no answer has needed them yet */
    double overlap_s[ROOF_STACK_COUNT]; /* by which engines start kernels early */
    bool overlaps_read;
    bool reused;                   /* an answer has returned its loans, so that others may follow */
    char *folder[FOLDERS_MAX + 2]; /* the seal, if any, then folders; ends with NULL */
};

enum roof_status roof_store_new(struct roof_store **out, struct roof_error *error)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return roof_no_memory(error);
    }
    (void)pthread_mutex_init(&(*out)->lock, NULL);
    return ROOF_OK;
}

enum roof_status roof_store_folder(struct roof_store *store, const char *path,
                                   struct roof_error *error)
{
    size_t count = 0;
    while (store->folder[count] != NULL) {
        count++;
    }
    if (count == FOLDERS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "a store has at most %d folders", FOLDERS_MAX);
    }
    store->folder[count] = strdup(path);
    return store->folder[count] == NULL ? roof_no_memory(error) : ROOF_OK;
}

enum roof_status roof_store_seal(struct roof_store *store, struct roof_error *error)
{
    char *const seal = strdup(ROOF_REGISTRY_SEAL);
    if (seal == NULL) {
        return roof_no_memory(error);
    }
    memmove(&store->folder[1], &store->folder[0], FOLDERS_MAX * sizeof store->folder[0]);
    store->folder[0] = seal;
    return ROOF_OK;
}

const char *const *roof_store_folders(const struct roof_store *store)
{
    return (const char *const *)store->folder;
}

static void free_stored(struct roof_stored *stored)
{
    free(stored->key);
    roof_hardware_free(stored->hardware);
    roof_model_free(stored->model);
    free(stored);
}

void roof_store_free(struct roof_store *store)
{
    if (store == NULL) {
        return;
    }
    while (store->first != NULL) {
        struct roof_stored *const first = store->first;
        store->first = first->next;
        free_stored(first);
    }
    roof_engines_free(store->engines);
    for (size_t i = 0; i < COUNT(store->folder); i++) {
        free(store->folder[i]);
    }
    (void)pthread_mutex_destroy(&store->lock);
    free(store);
}

/* --- loading ------------------------------------------------------------------------------- */

/* Refuses inconsistent figures, like the reader of device files. */
static enum roof_status check_set(const struct roof_hardware *hardware,
                                  const struct roof_device_wish *wish, struct roof_error *error)
{
    const bool set = wish->set != NULL && wish->set->count > 0;
    const enum roof_status status = set ? roof_hardware_check(hardware, "", error) : ROOF_OK;
    return status == ROOF_INVALID ? roof_error_prefix(error, ROOF_USAGE, ROOF_KEY("set") ": ")
                                  : status;
}

static enum roof_status load_hardware(struct roof_stored *out, const char *const *folders,
                                      const struct roof_device_wish *wish, struct roof_error *error)
{
    const bool by_default = wish->name == NULL && !wish->host;
    const char *const name = by_default ? ROOF_DEFAULT_HARDWARE : wish->name;
    TRY(name == NULL ? roof_hardware_blank(&out->hardware, ROOF_HOST_ID, error)
                     : roof_hardware_load(&out->hardware, name, folders, error));
    out->hardware->by_default = by_default;
    out->hardware->by_path = name != NULL && roof_registry_path(name);
    out->hardware->bounds_only = wish->bounds_only;
    if (wish->host) {
        roof_hardware_forget_peaks(out->hardware);
    }
    for (int i = 0; wish->set != NULL && i < wish->set->count; i++) {
        TRY(roof_hardware_set(out->hardware, wish->set->value[i], error));
    }
    TRY(check_set(out->hardware, wish, error));
    if (wish->host && wish->name == NULL) {
        out->hardware->figure[ROOF_FIGURE_BANDWIDTH].source = "given for the host";
    }
    TRY(roof_hardware_cap(out->hardware, wish->power_cap, error));
    return wish->bounds_only
               ? ROOF_OK
               : roof_hardware_calibrate_some(out->hardware, wish->calibration, folders,
                                              wish->kernels == 0 ? ROOF_KERNELS_ALL : wish->kernels,
                                              error);
}

/* Tells whether a name means a checkpoint that was found for it: nothing else has the name, or it
 * is another name of the model of that checkpoint. */
static bool is_meant(const struct roof_checkpoint *checkpoint, enum roof_status loaded,
                     const struct roof_model *model)
{
    return loaded == ROOF_IO || loaded == ROOF_USAGE ||
           (loaded == ROOF_OK && strcmp(checkpoint->model, model->id) == 0 &&
            strcmp(checkpoint->name, model->id) != 0);
}

/* Loads the model of a checkpoint; *layout becomes that of the checkpoint if the wish has no
 * formats. */
static enum roof_status load_checkpoint(struct roof_stored *out, const char **layout,
                                        const struct roof_checkpoint *checkpoint,
                                        const char *const *folders,
                                        const struct roof_model_wish *wish,
                                        struct roof_error *error)
{
    const bool own = *layout == NULL && !wish->forget_formats;
    const bool published = own || (*layout != NULL && strcmp(*layout, ROOF_CHECKPOINT) == 0);
    const bool config = published && checkpoint->quantization != NULL;
    struct roof_text remark = ROOF_TEXT_INIT;
    TRY(roof_checkpoint_check(checkpoint, folders, error));
    if (out->model == NULL) {
        TRY(roof_model_load(&out->model, checkpoint->model, folders, error));
    }
    out->renamed = true;
    if (own || !published) { /* otherwise the question has named them */
        roof_checkpoint_say(&remark, config ? "it" : checkpoint->name, checkpoint, out->model->id,
                            own && (config || checkpoint->layout));
    }
    TRY(roof_model_note_text(out->model, &remark, error));
    if (own && checkpoint->layout) {
        *layout = checkpoint->formats;
    }
    if (config) {
        *layout = ROOF_CHECKPOINT;
        return roof_checkpoint_make(out->model, checkpoint, error);
    }
    return ROOF_OK;
}

/* Puts a layout in place of the formats of a model. */
static enum roof_status apply_layout(struct roof_model *model, const char *layout,
                                     const char *const *folders, struct roof_error *error)
{
    const enum roof_status status = roof_layout_apply(model, layout, folders, error);
    if (status == ROOF_USAGE && !roof_layout_known(layout, folders)) {
        roof_hint_format(error, layout, false, folders);
    }
    return status;
}

static enum roof_status load_model(struct roof_stored *out, const char *const *folders,
                                   const struct roof_model_wish *wish, struct roof_error *error)
{
    /* cppcheck-suppress ctunullpointer ; one of the two wishes of obtain is there */
    const char *layout = wish->layout;
    struct roof_checkpoint checkpoint;
    struct roof_error problem;
    const enum roof_status found = roof_model_load(&out->model, wish->name, folders, &problem);
    if (!wish->exact && roof_checkpoint_find(&checkpoint, wish->name, folders) &&
        is_meant(&checkpoint, found, out->model)) {
        TRY(load_checkpoint(out, &layout, &checkpoint, folders, wish, error));
    } else if (found != ROOF_OK) {
        roof_hint_vision(&problem, wish->name, folders);
        if (error != NULL) {
            *error = problem;
        }
        return found;
    }
    const bool as_stored =
        layout != NULL && strcmp(layout, ROOF_CHECKPOINT) == 0 && out->model->stored;
    if (layout != NULL && !as_stored) {
        TRY(apply_layout(out->model, layout, folders, error));
    }
    if (wish->forget_formats) {
        roof_model_forget_formats(out->model);
    }
    return ROOF_OK;
}

/* Tells whether a loaded device is kept: a file may change, and a document may not be used again.
 */
static bool stays_device(const struct roof_device_wish *wish, const struct roof_hardware *loaded)
{
    return !wish->once && wish->kernels == 0 && wish->power_cap == NULL &&
           (wish->set == NULL || wish->set->count == 0) && wish->calibration == NULL &&
           !roof_registry_document(loaded->reference) && !roof_registry_path(loaded->reference);
}

/* Tells whether a loaded model is kept: built-in ones, and others with a name that is not a path.
 */
static bool stays_model(const struct roof_model_wish *wish, const struct roof_model *loaded)
{
    return !wish->once &&
           (loaded->reference == NULL ||
            (!roof_registry_document(wish->name) && strpbrk(wish->name, "/.") == NULL)) &&
           (wish->layout == NULL ||
            (!roof_registry_document(wish->layout) && !roof_registry_path(wish->layout)));
}

static struct roof_stored *find(const struct roof_store *store, const char *key)
{
    struct roof_stored *stored = store->first;
    while (stored != NULL && strcmp(stored->key, key) != 0) {
        stored = stored->next;
    }
    return stored;
}

/* Loads the object of a wish without the lock, because a file may be slow. One of the wishes is
 * NULL. */
static enum roof_status load(struct roof_stored **out, const struct roof_store *store,
                             const char *key, const struct roof_device_wish *device,
                             const struct roof_model_wish *model, struct roof_error *error)
{
    struct roof_stored *const loaded = calloc(1, sizeof *loaded);
    if (loaded == NULL) {
        return roof_no_memory(error);
    }
    const char *const *const folders = roof_store_folders(store);
    enum roof_status status = device != NULL ? load_hardware(loaded, folders, device, error)
                                             : load_model(loaded, folders, model, error);
    if (status == ROOF_OK) {
        loaded->key = strdup(key);
        status = loaded->key == NULL ? roof_no_memory(error) : ROOF_OK;
    }
    if (status != ROOF_OK) {
        free_stored(loaded);
        return status;
    }
    loaded->stays = device != NULL ? stays_device(device, loaded->hardware)
                                   : !loaded->renamed && stays_model(model, loaded->model);
    *out = loaded;
    return ROOF_OK;
}

/* --- lending ------------------------------------------------------------------------------- */

/* Lends the object with a key; NULL: there is none. An object that was loaded meanwhile for the key
 * (NULL: none) joins the store, unless another answer was faster; then it is returned to the
 * caller. */
static struct roof_stored *take(struct roof_store *store, const char *key,
                                struct roof_stored *loaded)
{
    (void)pthread_mutex_lock(&store->lock);
    struct roof_stored *found = find(store, key);
    struct roof_stored *const twin = found != NULL ? loaded : NULL;
    if (found == NULL && loaded != NULL) {
        loaded->next = store->first;
        store->first = loaded;
        found = loaded;
    }
    if (found != NULL) {
        found->lent++;
    }
    (void)pthread_mutex_unlock(&store->lock);
    if (twin != NULL) {
        free_stored(twin);
    }
    return found;
}

static enum roof_status lend(const struct roof_stored **out, struct roof_loans *loans,
                             const struct roof_text *key, const struct roof_device_wish *device,
                             const struct roof_model_wish *model, struct roof_error *error)
{
    struct roof_loan *const loan = key->failed ? NULL : calloc(1, sizeof *loan);
    if (loan == NULL) {
        return roof_no_memory(error);
    }
    struct roof_stored *stored = take(loans->store, key->data, NULL);
    if (stored == NULL) {
        struct roof_stored *loaded = NULL;
        const enum roof_status status =
            load(&loaded, loans->store, key->data, device, model, error);
        if (status != ROOF_OK) {
            free(loan);
            return status;
        }
        stored = take(loans->store, key->data, loaded);
    }
    *loan = (struct roof_loan){.stored = stored, .next = loans->first};
    loans->first = loan;
    *out = stored;
    return ROOF_OK;
}

/* Adds a text to a key, with its length, so that different lists of texts have different keys. */
static void add_part(struct roof_text *key, const char *text)
{
    roof_text_printf(key, "\n%zu %s", text == NULL ? 0 : strlen(text), text == NULL ? "" : text);
}

/* Tells whether an answer has returned anything to a store. */
static bool reused(struct roof_store *store)
{
    (void)pthread_mutex_lock(&store->lock);
    const bool so = store->reused;
    (void)pthread_mutex_unlock(&store->lock);
    return so;
}

enum roof_status roof_loan_hardware(const struct roof_hardware **out, struct roof_loans *loans,
                                    const struct roof_device_wish *wish, struct roof_error *error)
{
    struct roof_device_wish wanted = *wish;
    struct roof_text key = ROOF_TEXT_INIT;
    if (wanted.kernels != 0 && reused(loans->store)) {
        wanted.kernels = 0; /* the next question may need other kernels */
    }
    roof_text_printf(&key, "%s %d %u", wish->host ? "host" : "hardware", wish->bounds_only,
                     wanted.kernels);
    add_part(&key, wish->name);
    add_part(&key, wish->calibration);
    for (int i = 0; wish->set != NULL && i < wish->set->count; i++) {
        add_part(&key, wish->set->value[i]);
    }
    if (wish->power_cap != NULL) {
        roof_text_printf(&key, "\ncap %s", wish->power_cap);
    }
    const struct roof_stored *stored = NULL;
    const enum roof_status status = lend(&stored, loans, &key, &wanted, NULL, error);
    *out = stored == NULL ? NULL : stored->hardware;
    roof_text_free(&key);
    return status;
}

/* Lends a copy of a text. */
static enum roof_status lend_text(const char **out, struct roof_loans *loans, const char *text,
                                  size_t length, struct roof_error *error)
{
    struct roof_loan *const loan = malloc(sizeof *loan + length + 1);
    if (loan == NULL) {
        return roof_no_memory(error);
    }
    loan->stored = NULL;
    memcpy(loan->text, text, length);
    loan->text[length] = '\0';
    loan->next = loans->first;
    loans->first = loan;
    *out = loan->text;
    return ROOF_OK;
}

enum roof_status roof_loan_name(const char **name, struct roof_loans *loans,
                                struct roof_error *error)
{
    size_t length = 0;
    const char *const own = roof_hub_name(&length, *name);
    if (own == NULL || own[length] == '\0') {
        *name = own;
        return ROOF_OK;
    }
    return lend_text(name, loans, own, length, error);
}

enum roof_status roof_loan_model(const struct roof_model **out, struct roof_loans *loans,
                                 const struct roof_model_wish *wish, struct roof_error *error)
{
    struct roof_model_wish wanted = *wish;
    struct roof_text key = ROOF_TEXT_INIT;
    *out = NULL;
    TRY(roof_loan_name(&wanted.name, loans, error));
    roof_text_printf(&key, "model %d %d", wanted.forget_formats, wanted.exact);
    add_part(&key, wanted.name);
    add_part(&key, wanted.layout);
    const struct roof_stored *stored = NULL;
    const enum roof_status status = lend(&stored, loans, &key, NULL, &wanted, error);
    *out = stored == NULL ? NULL : stored->model;
    roof_text_free(&key);
    return status;
}

enum roof_status roof_loan_checkpoint(struct roof_checkpoint *out, struct roof_loans *loans,
                                      const char *name, struct roof_error *error)
{
    const struct roof_model *model = NULL;
    out->name = NULL;
    TRY(roof_loan_name(&name, loans, error));
    if (name == NULL || !roof_checkpoint_find(out, name, roof_store_folders(loans->store))) {
        return ROOF_OK;
    }
    const struct roof_model_wish wish = {.name = name, .exact = true};
    const enum roof_status loaded = roof_loan_model(&model, loans, &wish, NULL);
    if (loaded == ROOF_MEMORY) {
        return roof_no_memory(error);
    }
    if (!is_meant(out, loaded, model)) {
        out->name = NULL; /* what is there has the name; its reader reports what is wrong */
        return ROOF_OK;
    }
    return roof_checkpoint_check(out, roof_store_folders(loans->store), error);
}

enum roof_status roof_loan_engines(const struct roof_engines **out, const struct roof_loans *loans,
                                   struct roof_error *error)
{
    struct roof_store *const store = loans->store;
    (void)pthread_mutex_lock(&store->lock);
    const enum roof_status status =
        store->engines == NULL ? roof_engines_load(&store->engines, error) : ROOF_OK;
    *out = store->engines;
    (void)pthread_mutex_unlock(&store->lock);
    return status;
}

enum roof_status roof_loan_overlaps(double out_s[ROOF_STACK_COUNT], const struct roof_loans *loans,
                                    struct roof_error *error)
{
    struct roof_store *const store = loans->store;
    (void)pthread_mutex_lock(&store->lock);
    const enum roof_status status =
        store->overlaps_read ? ROOF_OK : roof_engines_overlaps(store->overlap_s, error);
    store->overlaps_read = status == ROOF_OK;
    memcpy(out_s, store->overlap_s, sizeof store->overlap_s);
    (void)pthread_mutex_unlock(&store->lock);
    return status;
}

/* Removes an unused object from the store, unless it is kept; the caller holds the lock. */
static void drop(struct roof_store *store, const struct roof_stored *stored)
{
    if (stored->stays || stored->lent > 0) {
        return;
    }
    for (struct roof_stored **at = &store->first; *at != NULL; at = &(*at)->next) {
        if (*at == stored) {
            struct roof_stored *const found = *at;
            *at = found->next;
            free_stored(found);
            return;
        }
    }
}

void roof_loans_return(struct roof_loans *loans)
{
    (void)pthread_mutex_lock(&loans->store->lock);
    loans->store->reused = true;
    while (loans->first != NULL) {
        struct roof_loan *const loan = loans->first;
        loans->first = loan->next;
        if (loan->stored != NULL) {
            loan->stored->lent--;
            drop(loans->store, loan->stored);
        }
        free(loan);
    }
    (void)pthread_mutex_unlock(&loans->store->lock);
}
