// SPDX-License-Identifier: MIT
#include "decide/pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/list.h"
#include "decide/input.h"

/* --- names --------------------------------------------------------------------------------- */

enum roof_status roof_pair_split(char side[2][ROOF_PAIR_NAME_SIZE], const char *text,
                                 struct roof_error *error)
{
    const char *const comma = strchr(text, ',');
    if (comma == NULL || comma == text || comma[1] == '\0' || strchr(comma + 1, ',') != NULL ||
        strlen(text) >= ROOF_PAIR_NAME_SIZE) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("%s") " must be A,B: two devices, two formats or two DEVICE:FORMAT, not '%s'",
            "explain", text);
    }
    (void)snprintf(side[0], ROOF_PAIR_NAME_SIZE, "%.*s", (int)(comma - text), text);
    (void)snprintf(side[1], ROOF_PAIR_NAME_SIZE, "%s", comma + 1);
    return ROOF_OK;
}

/* Cuts DEVICE, FORMAT or DEVICE:FORMAT down to the device. */
static void read_side(char *device, enum roof_precision *format)
{
    char *const colon = strrchr(device, ':');
    *format = ROOF_PRECISION_AUTO;
    if (roof_precision_find(format, device, NULL) == ROOF_OK) {
        *device = '\0';
    } else if (colon != NULL && roof_precision_find(format, colon + 1, NULL) == ROOF_OK) {
        *colon = '\0';
    }
}

enum roof_status roof_pair_check_devices(char side[2][ROOF_PAIR_NAME_SIZE], const char *list,
                                         const char *text, struct roof_error *error)
{
    struct roof_list_item item;
    for (const char *rest = list; roof_list_next(&item, &rest);) {
        bool named = false;
        for (int i = 0; i < 2; i++) {
            named = named || (strlen(side[i]) == item.length &&
                              memcmp(side[i], item.text, item.length) == 0);
        }
        if (!named) {
            return roof_error_set(
                error, ROOF_USAGE,
                ROOF_KEY("explain") " %s names the devices: leave out " ROOF_KEY("hardware"), text);
        }
    }
    return ROOF_OK;
}

/* Refuses a side that gives an input, such as "tp=2". */
static enum roof_status refuse_input(const char *side, struct roof_error *error)
{
    char key[ROOF_INPUT_NAME_SIZE];
    const size_t length = strcspn(side, "=");
    if (side[length] == '\0' || length >= sizeof key) {
        return ROOF_OK;
    }
    (void)snprintf(key, sizeof key, "%.*s", (int)length, side);
    return roof_input_find(key) == NULL
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("explain") " compares two devices or two formats, and "
                                                    "'%s' is neither: run predict once for each "
                                                    "side, here with " ROOF_KEY("%s") " %s",
                                side, key, side + length + 1);
}

enum roof_status roof_pair_read(struct roof_pair_names *out, const char *text,
                                struct roof_error *error)
{
    TRY(roof_pair_split(out->device, text, error));
    TRY(refuse_input(out->device[0], error));
    TRY(refuse_input(out->device[1], error));
    bool device[2];
    bool format[2];
    for (int i = 0; i < 2; i++) {
        read_side(out->device[i], &out->format[i]);
        format[i] = out->format[i] != ROOF_PRECISION_AUTO;
        device[i] = out->device[i][0] != '\0' || !format[i];
    }
    for (int i = 0; i < 2; i++) {
        const char *const colon = strrchr(out->device[i], ':');
        if (format[1 - i] && !format[i] && colon != NULL) {
            return roof_precision_find(&out->format[i], colon + 1, error);
        }
    }
    if (device[0] != device[1] || format[0] != format[1]) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("%s") " %s: give two devices, two formats, or two DEVICE:FORMAT (roofline "
                           "list hardware, roofline list precisions)",
            "explain", text);
    }
    out->devices = device[0];
    out->formats = format[0];
    return ROOF_OK;
}

/* --- predictions --------------------------------------------------------------------------- */

/* Predicts what would be recommended on the device or, where the side names a format, how that one
 * would run there. */
static enum roof_status choose(struct roof_pair_side *side, struct roof_recommendation *room,
                               const struct roof_accuracy *accuracy,
                               const struct roof_recommend_options *options,
                               struct roof_error *error)
{
    struct roof_recommend_options own = *options;
    if (side->format != ROOF_PRECISION_AUTO) {
        own.formats = &side->format;
        own.format_count = 1;
        own.max_loss = ROOF_ACCURACY_SEVERE;
        own.engines = NULL;
    }
    const enum roof_status status =
        roof_recommend(room, &side->scenario.common, side->hardware, accuracy, &own, error);
    if (status == ROOF_UNSATISFIED) {
        return roof_error_set(error, status, "%s", room->candidate[0].reason);
    }
    TRY(status);
    side->prediction = room->candidate[0].prediction;
    side->format = room->candidate[0].format;
    return ROOF_OK;
}

static enum roof_status recommend_side(struct roof_pair_side *side,
                                       const struct roof_recommend_options *options,
                                       struct roof_error *error)
{
    struct roof_recommend_tables tables;
    struct roof_recommend_options own = *options;
    struct roof_recommendation *const room = malloc(sizeof *room);
    if (room == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = roof_recommend_tables_load(&tables, &own, error);
    if (status == ROOF_OK) {
        status = choose(side, room, &tables.accuracy, &own, error);
    }
    roof_recommend_tables_free(&tables);
    free(room);
    return status;
}

/* A requested format replaces the formats of a file. */
static enum roof_status predict_model(struct roof_pair_side *side, const struct roof_model *model,
                                      struct roof_error *error)
{
    side->model = roof_model_copy(model);
    if (side->model == NULL) {
        return roof_no_memory(error);
    }
    if (side->format != ROOF_PRECISION_AUTO) {
        roof_model_forget_formats(side->model);
    }
    return roof_predict_model(&side->model_prediction, side->model, &side->scenario, side->hardware,
                              error);
}

static enum roof_status predict_side(struct roof_pair_side *side,
                                     const struct roof_pair_request *request,
                                     struct roof_error *error)
{
    side->scenario = *request->shared;
    if (side->format != ROOF_PRECISION_AUTO && request->recommend == NULL) {
        side->scenario.common.formats.precision = side->format;
    }
    if (request->model != NULL) {
        return predict_model(side, request->model, error);
    }
    return request->recommend != NULL
               ? recommend_side(side, request->recommend, error)
               : roof_predict(&side->prediction, &side->scenario.common, side->hardware, error);
}

static void name_side(struct roof_pair_side *side, bool devices)
{
    const bool format = side->format != ROOF_PRECISION_AUTO;
    const bool device = devices || !format;
    (void)snprintf(side->name, sizeof side->name, "%s%s%s", device ? side->hardware->id : "",
                   device && format ? ":" : "", format ? roof_format(side->format)->name : "");
}

static enum roof_status fill_pair(struct roof_pair *out, const struct roof_pair_request *request,
                                  struct roof_error *error)
{
    struct roof_speedup_side side[2];
    for (int i = 0; i < 2; i++) {
        struct roof_pair_side *const s = &out->side[i];
        s->hardware = request->hardware[i];
        s->format = request->format[i];
        TRY(predict_side(s, request, error));
        name_side(s, request->devices);
        side[i] = (struct roof_speedup_side){s->name, &s->prediction,
                                             request->model == NULL ? NULL : &s->model_prediction};
    }
    return roof_speedup(&out->speedup, &side[0], &side[1], error);
}

enum roof_status roof_pair_open(struct roof_pair **out, const struct roof_pair_request *request,
                                struct roof_error *error)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = fill_pair(*out, request, error);
    if (status != ROOF_OK) {
        roof_pair_free(*out);
        *out = NULL;
    }
    return status;
}

void roof_pair_free(struct roof_pair *pair)
{
    for (int i = 0; pair != NULL && i < 2; i++) {
        roof_model_free(pair->side[i].model);
    }
    free(pair);
}
