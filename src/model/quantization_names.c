// SPDX-License-Identifier: MIT
/* The lists of modules in a quantisation: which weights an entry names, and which entries name
 * none. */
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/pattern.h"
#include "base/text.h"
#include "model/model_make.h"
#include "model/module_names.h"
#include "model/quantization_parts.h"
#include "model/weights.h"

/* --- names of modules ---------------------------------------------------------------------- */

#define MODULE_SIZE 128 /* for "model.layers.61.mlp.experts.down_proj" and the like */
/* Limits of bytes and steps for reading lists of modules, which take some seconds. Each comparison
 * of a name with an entry counts as at least EXCLUSION_WORK_EACH steps. */
#define EXCLUSION_WORK_MAX INT64_C(1000000000)
#define EXCLUSION_WORK_EACH 64
#define NOTE_WORK_MAX (EXCLUSION_WORK_MAX / 20)
#define LAYERS "layers."
#define EXPERTS "experts."

const char *const roof_quantization_lists[] = {
    "exclude_modules", "modules_to_not_convert", "ignore",
    "ignored_layers",  "llm_int8_skip_modules",  NULL};

/* One of these stands before "layers.", in text models and in those with a vision tower. */
static const char *const layer_prefixes[] = {
    "model.",    "language_model.model.",   "model.language_model.", "",
    "backbone.", "language_model.backbone."};

void roof_quantization_list(struct quantization *r)
{
    const enum roof_mixer_kind kind = (enum roof_mixer_kind)r->model->mixer.kind;
    const bool as_attention = kind == ROOF_MIXER_KIMI_DELTA || kind == ROOF_MIXER_LIGHTNING;
    r->modules = 0;
    for (int module = 0; module < roof_module_numbers()->outside; module++) {
        unsigned weights = roof_module_weights(module);
        if (!roof_module_in_layers(module) || !roof_module_fits(module, r->model)) {
            continue;
        }
        /* Such layers with a state name their projections as in attention. */
        if (as_attention && (weights & ROOF_WEIGHT_BIT(Q)) != 0) {
            weights |= ROOF_WEIGHT_BIT(MIXER_IN);
        }
        if (as_attention && (weights & ROOF_WEIGHT_BIT(O)) != 0) {
            weights |= ROOF_WEIGHT_BIT(MIXER_OUT);
        }
        r->module[r->modules] = (int16_t)module;
        r->weights[r->modules++] = weights;
    }
}

/* Returns the weights of a module of the list in a layer; 0 if its format is not its own. */
static unsigned weights_of(const struct quantization *r, int i, const struct roof_layer *layer)
{
    const enum roof_module_trait trait = roof_module_trait(r->module[i]);
    unsigned weights = trait == ROOF_MODULE_SHARE ? 0 : r->weights[i];
    if (trait == ROOF_MODULE_DENSE && !layer->moe) {
        weights |= (weights & ROOF_WEIGHT_BIT(SHARED_GATE)) != 0 ? ROOF_WEIGHT_BIT(GATE) : 0;
        weights |= (weights & ROOF_WEIGHT_BIT(SHARED_UP)) != 0 ? ROOF_WEIGHT_BIT(UP) : 0;
        weights |= (weights & ROOF_WEIGHT_BIT(SHARED_DOWN)) != 0 ? ROOF_WEIGHT_BIT(DOWN) : 0;
    }
    return weights;
}

/* Tells whether module contains name as whole components: "lm_head", "layers.61", "mlp.gate". */
static bool has_components(const char *module, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(module, name); at != NULL; at = strstr(at + 1, name)) {
        if ((at == module || at[-1] == '.') && (at[length] == '\0' || at[length] == '.')) {
            return true;
        }
    }
    return false;
}

/* Tells whether a pattern matches the name, or the name without its last components. */
static bool matches_pattern(const char *pattern, const char *module)
{
    char name[MODULE_SIZE];
    snprintf(name, sizeof name, "%s", module);
    for (char *end = name + strlen(name); end != NULL; end = strrchr(name, '.')) {
        *end = '\0';
        if (fnmatch(pattern, name, 0) == 0) {
            return true;
        }
    }
    return has_components(module, pattern);
}

/* --- entries ------------------------------------------------------------------------------- */

/* An entry of a list of modules. It is a pattern of the whole name, components of it, or with "re:"
 * a regular expression. */
struct entry {
    const char *text;
    size_t length;
    size_t plain;      /* bytes before the first pattern character */
    bool literal;      /* it has none, like most entries */
    int64_t layer;     /* the only one that it may name; -1: any */
    const char *below; /* literal, of a layer: what follows its number; else NULL */
    bool elsewhere;    /* such an entry with something before "layers." that no model has */
    const struct roof_pattern *expression; /* NULL: it is not a regular expression */
};

/* Tells whether components of a name end so. */
static bool ends_components(const char *name, const char *end, size_t length)
{
    const size_t all = strlen(name);
    return all >= length && memcmp(name + all - length, end, length) == 0 &&
           (all == length || name[all - length - 1] == '.');
}

/* Finds the layer of an entry that has its number before any pattern character. */
static void find_layer(struct entry *entry)
{
    const char *const text = entry->text;
    const char *at = entry->expression == NULL ? strstr(text, LAYERS) : NULL;
    int64_t layer = 0;
    entry->layer = -1;
    if (at == NULL || (at != text && at[-1] != '.')) {
        return;
    }
    const size_t before = (size_t)(at - text);
    const char *const digits = at + strlen(LAYERS);
    for (at = digits; *at >= '0' && *at <= '9' && layer < ROOF_LAYERS_MAX; at++) {
        layer = 10 * layer + (*at - '0');
    }
    if (at == digits || (*at != '.' && *at != '\0') || (size_t)(at - text) > entry->plain) {
        return;
    }
    entry->layer = layer;
    if (entry->literal) {
        bool known = before == 0;
        for (size_t p = 0; p < COUNT(layer_prefixes) && !known; p++) {
            known = ends_components(layer_prefixes[p], text, before);
        }
        entry->elsewhere = !known;
        entry->below = *at == '.' ? at + 1 : at;
    }
}

/* Reads the text of an entry. Returns NULL, or the part of a regular expression that is not read.
 * room is for a copy of the text. */
static const char *read_entry(struct entry *out, struct roof_pattern *pattern,
                              char room[MODULE_SIZE], const char *text)
{
    const bool expression = strncmp(text, "re:", 3) == 0;
    const char *const problem = expression ? roof_pattern_read(pattern, text + 3) : NULL;
    if (problem != NULL) {
        return problem;
    }
    size_t length = strlen(text);
    if (!expression && length > 1 && length < MODULE_SIZE && text[length - 1] == '.') {
        length--;
        (void)snprintf(room, MODULE_SIZE, "%.*s", (int)length, text);
        text = room; /* "model.layers.0." means the layer */
    }
    const size_t plain = strcspn(text, "*?[\\");
    *out = (struct entry){.text = text,
                          .length = length,
                          .plain = plain,
                          .literal = plain == length,
                          .expression = expression ? pattern : NULL};
    find_layer(out);
    return NULL;
}

static bool matches_module(const struct entry *entry, const char *module, int64_t *work)
{
    return entry->expression != NULL ? roof_pattern_matches(entry->expression, module, work)
           : entry->literal          ? has_components(module, entry->text)
                                     : matches_pattern(entry->text, module);
}

/* If several weights share a name, and there are others for each of them ("gate_up_proj"), an entry
 * means it only if it contains its word, because an entry for one of them is not for all. */
static bool may_mean(const struct entry *entry, int module)
{
    static const char end[] = "_proj";
    const char *const name = roof_module_name(module);
    const char *const dot = strrchr(name, '.');
    const char *const last = dot == NULL ? name : dot + 1;
    const size_t length = strlen(last);
    const size_t tail = strlen(end);
    char word[MODULE_SIZE];
    if (roof_weight_width(roof_module_weights(module)) < 2 || length <= tail ||
        strcmp(last + length - tail, end) != 0) {
        return true;
    }
    snprintf(word, sizeof word, "%.*s", (int)(length - tail), last);
    return strstr(entry->text, word) != NULL;
}

/* Tells whether an entry is a pattern of names that begin in another way. */
static bool begins_otherwise(const struct entry *entry, const char *prefix)
{
    const size_t length = strlen(prefix);
    return entry->expression == NULL && !entry->literal &&
           memcmp(entry->text, prefix, entry->plain < length ? entry->plain : length) != 0;
}

/* Tells whether an entry names a module of a layer. */
static bool names_module(struct quantization *r, const struct entry *entry, int module,
                         int64_t layer)
{
    const char *const name = roof_module_name(module);
    char whole[MODULE_SIZE];
    bool found = false;
    if (!may_mean(entry, module) || (entry->layer >= 0 && entry->layer != layer)) {
        return false;
    }
    if (entry->below != NULL) {
        const char *const rest = roof_text_after(name, entry->below);
        return !entry->elsewhere &&
               (*entry->below == '\0' || (rest != NULL && (*rest == '\0' || *rest == '.')));
    }
    if (entry->expression == NULL && entry->literal && entry->length >= MODULE_SIZE) {
        return false; /* it is longer than any name */
    }
    for (size_t p = 0; p < COUNT(layer_prefixes) && !found; p++) {
        if (begins_otherwise(entry, layer_prefixes[p])) {
            continue;
        }
        snprintf(whole, sizeof whole, "%s" LAYERS "%" PRId64 ".%s", layer_prefixes[p], layer, name);
        found = matches_module(entry, whole, &r->work);
    }
    return found;
}

/* --- formats ------------------------------------------------------------------------------- */

/* Sets the format of the head if an entry names it. */
static void put_head(struct quantization *r, const struct entry *entry, enum roof_precision to,
                     unsigned *claimed)
{
    const unsigned head = ROOF_WEIGHT_BIT(LM_HEAD); /* among the claims of the first layer */
    const bool taken = claimed != NULL && (claimed[0] & head) != 0;
    if (!taken && matches_module(entry, roof_weight_module(ROOF_WEIGHT_LM_HEAD), &r->work)) {
        r->model->format[ROOF_WEIGHT_LM_HEAD] = (int8_t)to;
        if (claimed != NULL) {
            claimed[0] |= head;
        }
    }
}

/* Returns the weights of a layer whose format an entry may set, and counts the steps that it takes
 * to see whether it does. */
static unsigned find_open(struct quantization *r, const struct entry *entry, int64_t i,
                          enum roof_precision to, const unsigned *claimed)
{
    const int64_t steps = (int64_t)(entry->literal ? 1 : COUNT(layer_prefixes)) *
                          ((int64_t)entry->length + EXCLUSION_WORK_EACH);
    const unsigned lacking = roof_weights_lacking(r->model);
    unsigned open = 0;
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((lacking & (1U << w)) != 0) {
            continue;
        }
        const bool taken = claimed == NULL ? r->layer[i].format[w] == (int8_t)to
                                           : (claimed[i] & (1U << w)) != 0 ||
                                                 !roof_weight_linear((enum roof_weight)w);
        r->work += taken ? 1 : steps;
        open |= taken ? 0 : 1U << w;
    }
    return open;
}

/* Sets the formats that an entry gives to a layer. */
static void put_layer(struct quantization *r, const struct entry *entry, int64_t i,
                      enum roof_precision to, unsigned *claimed, unsigned open)
{
    const bool all = claimed != NULL && strcmp(entry->text, LINEAR_CLASS) == 0;
    unsigned named = all ? open : 0;
    for (int k = 0; k < r->modules && (open & ~named) != 0; k++) {
        const unsigned weights = weights_of(r, k, &r->layer[i]) & open & ~named;
        named |= weights != 0 && names_module(r, entry, r->module[k], i) ? weights : 0;
    }
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((named & (1U << w)) != 0) {
            r->layer[i].format[w] = (int8_t)to;
        }
    }
    if (claimed != NULL) {
        claimed[i] |= named;
    }
}

enum roof_status roof_quantization_put(struct quantization *r, const roof_json_value *item,
                                       const char *text, enum roof_precision to, unsigned *claimed)
{
    struct roof_pattern pattern;
    struct entry entry;
    char room[MODULE_SIZE];
    if (text == NULL) {
        return roof_json_error(r->json, item, r->error, "a list of modules must be of strings");
    }
    if (*text == '\0') {
        return ROOF_OK;
    }
    const char *const problem = read_entry(&entry, &pattern, room, text);
    if (problem != NULL) {
        return roof_json_error(r->json, item, r->error,
                               "regular expression '%.100s': %s" GIVE_FORMATS, text + 3, problem);
    }
    const int64_t only = entry.layer;
    const int64_t begin = only < 0 ? 0 : only;
    const int64_t end = only < 0 || only >= r->model->layers ? r->model->layers : only + 1;
    put_head(r, &entry, to, claimed);
    for (int64_t i = begin; i < end; i++) {
        const unsigned open = find_open(r, &entry, i, to, claimed);
        if (r->work > EXCLUSION_WORK_MAX) {
            return roof_json_error(r->json, item, r->error,
                                   "matching these lists of modules takes too long" GIVE_FORMATS);
        }
        put_layer(r, &entry, i, to, claimed, open);
    }
    return ROOF_OK;
}

/* --- entries without a module -------------------------------------------------------------- */

#define NAMED_MAX 3

struct unmatched {
    struct quantization r;
    unsigned has; /* weights that layers of the model have */
    struct roof_text text;
    size_t count;
    unsigned own; /* the weights of listed modules with a format of their own */
    const char *share[ROOF_WEIGHT_COUNT]; /* a listed module without one, by its weight */
};

/* Returns the weights that layers of a model may have. */
static unsigned weights_in(const struct roof_model *m)
{
    unsigned has = ~roof_weights_lacking(m);
    if (m->kv_lora_rank == 0 && m->out_rank == 0) {
        has &= ~(ROOF_WEIGHT_BIT(Q_A) | ROOF_WEIGHT_BIT(Q_B) | ROOF_WEIGHT_BIT(KV_A) |
                 ROOF_WEIGHT_BIT(KV_B));
    }
    if (m->experts == 0) {
        has &= ~(ROOF_WEIGHT_BIT(EXPERT_GATE) | ROOF_WEIGHT_BIT(EXPERT_UP) |
                 ROOF_WEIGHT_BIT(EXPERT_DOWN) | ROOF_WEIGHT_BIT(ROUTER));
    }
    if (m->shared_intermediate == 0 && m->mixer.kind == ROOF_MIXER_NONE) {
        has &= ~(ROOF_WEIGHT_BIT(SHARED_GATE) | ROOF_WEIGHT_BIT(SHARED_UP) |
                 ROOF_WEIGHT_BIT(SHARED_DOWN));
    }
    if (m->mixer.kind == ROOF_MIXER_NONE) {
        has &= ~(ROOF_WEIGHT_BIT(MIXER_IN) | ROOF_WEIGHT_BIT(MIXER_OUT));
    }
    return m->index_heads == 0 ? has & ~ROOF_WEIGHT_BIT(INDEX) : has;
}

/* Tells whether a name is of the layer that drafts tokens, which SGLang calls "decoder". */
static bool drafts(const char *name)
{
    return roof_text_after(name, "decoder.") != NULL && strstr(name, LAYERS) == NULL;
}

/* Tells whether a text names what is no product of a layer: norms and convolutions, tables, parts
 * other than the language model, layers that draft tokens. */
static bool is_no_product(const struct roof_model *m, const char *text)
{
    static const char *const anywhere[] = {"norm", "conv", "embed", "bias", "rotary", "wte", "wpe"};
    for (size_t i = 0; i < COUNT(anywhere); i++) {
        if (strstr(text, anywhere[i]) != NULL) {
            return true;
        }
    }
    for (const char *at = text; *at != '\0'; at++) {
        const bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && (roof_module_is_other(at) || roof_text_after(at, "visual") != NULL ||
                       roof_text_after(at, "vision") != NULL ||
                       roof_text_after(at, "mtp") != NULL || drafts(at))) {
            return true;
        }
    }
    const char *const at = strstr(text, LAYERS);
    const long layer = at == NULL ? -1 : strtol(at + strlen(LAYERS), NULL, 10);
    return layer >= m->layers &&
           layer < m->layers + (m->predict_layers > 0 ? m->predict_layers : 1);
}

/* Tells whether an entry names a module outside the layers. */
static bool names_outside(struct quantization *r, const struct entry *entry)
{
    static const char *const before[] = {"", "model.", "language_model.", "language_model.model.",
                                         "backbone."};
    char whole[MODULE_SIZE];
    for (int module = roof_module_numbers()->outside; module < roof_module_numbers()->end;
         module++) {
        for (size_t p = 0; p < COUNT(before); p++) {
            snprintf(whole, sizeof whole, "%s%s", before[p], roof_module_name(module));
            if (matches_module(entry, whole, &r->work)) {
                return true;
            }
        }
    }
    return false;
}

/* Returns the weights of the module of a layer that an entry names; 0: there is none. *share is set
 * if all such modules have the format of a larger one. */
static unsigned find_inside(struct unmatched *u, const struct entry *entry, bool *share)
{
    struct quantization *const r = &u->r;
    const int64_t only = entry->layer;
    const int64_t end = only < 0 || only >= r->model->layers ? r->model->layers : only + 1;
    unsigned found = 0;
    *share = true;
    for (int64_t i = only < 0 ? 0 : only; i < end && *share && r->work <= NOTE_WORK_MAX; i++) {
        for (int k = 0; k < r->modules && *share; k++) {
            const unsigned weights = r->weights[k] & u->has;
            r->work += (int64_t)entry->length + EXCLUSION_WORK_EACH;
            if (weights != 0 && names_module(r, entry, r->module[k], i)) {
                *share = roof_module_trait(r->module[k]) == ROOF_MODULE_SHARE;
                found = weights;
            }
        }
        if (found != 0) {
            break;
        }
    }
    *share = *share && found != 0;
    return found;
}

/* Writes the text of an entry with 0 for the number of an expert. */
static void without_expert(char out[MODULE_SIZE], const char *text)
{
    const char *const at = strstr(text, EXPERTS);
    const char *const digits = at == NULL ? NULL : at + strlen(EXPERTS);
    const size_t count = digits == NULL ? 0 : strspn(digits, "0123456789");
    if (count == 0) {
        snprintf(out, MODULE_SIZE, "%s", text);
    } else {
        snprintf(out, MODULE_SIZE, "%.*s0%s", (int)(digits - text), text, digits + count);
    }
}

/* Adds an entry that names no module of the model. */
static void add_unmatched(struct unmatched *u, const char *text)
{
    if (u->count < NAMED_MAX) {
        roof_text_put(&u->text, u->count == 0 ? "its quantisation lists modules that this model "
                                                "does not have: "
                                              : ", ");
        roof_text_plain(&u->text, text);
    }
    u->count++;
}

static void note_entry(struct unmatched *u, const char *text)
{
    struct roof_pattern pattern;
    struct entry entry;
    char room[MODULE_SIZE];
    char plain[MODULE_SIZE] = "";
    bool share = false;
    if (text == NULL || *text == '\0' || u->count > NAMED_MAX || u->r.work > NOTE_WORK_MAX ||
        strcmp(text, LINEAR_CLASS) == 0 || is_no_product(u->r.model, text)) {
        return;
    }
    const bool name = strncmp(text, "re:", 3) != 0 && strlen(text) < MODULE_SIZE;
    if (name) {
        without_expert(plain, text);
    }
    if (read_entry(&entry, &pattern, room, name ? plain : text) != NULL ||
        names_outside(&u->r, &entry)) {
        return; /* an expression that is not read is refused when the formats are */
    }
    const unsigned found = find_inside(u, &entry, &share);
    if (u->r.work > NOTE_WORK_MAX) {
        return;
    }
    if (found == 0) {
        add_unmatched(u, text);
    } else if (!share) {
        u->own |= found;
    } else {
        for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
            u->share[w] = (found & (1U << w)) != 0 ? text : u->share[w];
        }
    }
}

static void note_list(struct unmatched *u, const roof_json_value *list)
{
    for (const roof_json_value *item = roof_json_first(list); item != NULL;
         item = roof_json_next(item)) {
        note_entry(u, roof_json_string(item));
    }
}

/* Notes a module that a list names, although not the larger one whose format it has here. */
static enum roof_status note_share(struct roof_model *model, const struct unmatched *u,
                                   struct roof_error *error)
{
    struct roof_text note = ROOF_TEXT_INIT;
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if (u->share[w] != NULL && roof_weight_linear((enum roof_weight)w) &&
            (u->own & (1U << w)) == 0) {
            roof_text_plain(&note, u->share[w]);
            roof_text_put(&note, " has the format of a larger product here, not its own");
            break;
        }
    }
    return roof_model_note_text(model, &note, error);
}

enum roof_status roof_quantization_note(struct roof_model *model, const roof_json_value *q,
                                        struct roof_error *error)
{
    struct unmatched u = {
        .r = {.model = model}, .has = weights_in(model), .text = ROOF_TEXT_INIT, .count = 0};
    roof_quantization_list(&u.r);
    for (size_t i = 0; roof_quantization_lists[i] != NULL; i++) {
        note_list(&u, roof_quantization_member(q, roof_quantization_lists[i]));
    }
    const roof_json_value *const groups = roof_json_get(q, "config_groups");
    for (const roof_json_value *group = roof_json_first(groups); group != NULL;
         group = roof_json_next(group)) {
        if (roof_quantization_has_weights(group)) {
            note_list(&u, roof_json_get(group, "targets"));
        }
    }
    const roof_json_value *const modules = roof_json_get(q, "quantized_layers");
    for (const roof_json_value *item = roof_json_first(modules); item != NULL;
         item = roof_json_next(item)) {
        note_entry(&u, roof_json_key(item));
    }
    roof_text_put(&u.text, u.count > NAMED_MAX ? " and more" : "");
    TRY(roof_model_note_text(model, &u.text, error));
    return note_share(model, &u, error);
}
