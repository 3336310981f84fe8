// SPDX-License-Identifier: MIT
/*
 * Layers that reuse the keys that the indexer of an earlier layer chose (GLM-5.2), and so have no
 * indexer. Source: huggingface/transformers, modular_glm_moe_dsa.py (GlmMoeDsaConfig,
 * GlmMoeDsaAttention); Bai et al., "IndexCache", arXiv 2603.12201.
 */
#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "model/config_parts.h"
#include "model/model_make.h"

/* The keys, in the order in which the first one that a config has decides. */
static const char types_key[] = "indexer_types";
static const char pattern_key[] = "index_topk_pattern";
static const char every_key[] = "index_topk_freq";
static const char offset_key[] = "index_skip_topk_offset";

bool roof_config_choice_key(const char *key)
{
    /* The last one decides whether the draft steps of a module reuse the choice of the first. */
    static const char *const keys[] = {types_key, pattern_key, every_key, offset_key,
                                       "index_share_for_mtp_iteration"};
    size_t i = 0;
    while (i < COUNT(keys) && strcmp(keys[i], key) != 0) {
        i++;
    }
    return i < COUNT(keys);
}

/* Reads a word of a list; false for an unknown one. */
static bool take_word(bool *reuses, const char *word)
{
    *reuses = word != NULL && (strcmp(word, "shared") == 0 || strcmp(word, "S") == 0);
    return *reuses || (word != NULL && (strcmp(word, "full") == 0 || strcmp(word, "F") == 0));
}

static enum roof_status refuse(const struct config *c, const roof_json_value *at, const char *key,
                               int64_t layers)
{
    return roof_json_error(c->json, at, c->error,
                           "%s must have full (F) or shared (S) for each of the %" PRId64 " layers",
                           key, layers);
}

/* Reads an array of words, or a text of letters, into *count flags. */
static enum roof_status read_list(bool reuses[ROOF_LAYERS_MAX], int64_t *count,
                                  const struct roof_model *m, const struct config *c,
                                  const char *key)
{
    const roof_json_value *const list = roof_config_member(c, key);
    const char *const letters = roof_json_string(list);
    const roof_json_value *item = roof_json_first(list);
    const size_t items = letters != NULL            ? strlen(letters)
                         : roof_json_is_array(list) ? roof_json_count(list)
                                                    : 0;
    const bool repeated = roof_config_member(c, every_key) != NULL; /* by the period */
    if (items == 0 || items > (size_t)m->layers || (items < (size_t)m->layers && !repeated)) {
        return refuse(c, list, key, m->layers);
    }
    *count = (int64_t)items;
    for (int64_t i = 0; i < *count; i++) {
        char letter[2] = "";
        if (letters != NULL) {
            letter[0] = letters[i];
        }
        if (!take_word(&reuses[i], letters == NULL ? roof_json_string(item) : letter)) {
            return refuse(c, letters == NULL ? item : list, key, m->layers);
        }
        item = letters == NULL ? roof_json_next(item) : item;
    }
    return ROOF_OK;
}

/* Reads which layers reuse a choice from a period and an offset. */
static enum roof_status read_period(bool reuses[ROOF_LAYERS_MAX], const struct roof_model *m,
                                    const struct config *c)
{
    const roof_json_value *const every = roof_config_member(c, every_key);
    const roof_json_value *const offset = roof_config_member(c, offset_key);
    int64_t period = 1;
    int64_t skipped = 2;
    if (every != NULL) {
        TRY(roof_config_integer(&period, c, every, every_key, 1, ROOF_LAYERS_MAX));
    }
    if (offset != NULL) {
        TRY(roof_config_integer(&skipped, c, offset, offset_key, 0, ROOF_LAYERS_MAX));
    }
    for (int64_t i = 0; i < m->layers; i++) {
        reuses[i] = i >= skipped && (i - skipped + 1) % period != 0;
    }
    return ROOF_OK;
}

/* Takes the layers behind a list from the period, with a note, because engines read it instead of
 * the list; refuses a list that says something else. */
static enum roof_status join_period(bool reuses[ROOF_LAYERS_MAX], int64_t count,
                                    const struct roof_model *m, const struct config *c,
                                    const char *key)
{
    bool periodic[ROOF_LAYERS_MAX] = {false};
    if (roof_config_member(c, every_key) == NULL) {
        return ROOF_OK;
    }
    TRY(read_period(periodic, m, c));
    for (int64_t i = 0; i < m->layers; i++) {
        if (i < count && reuses[i] != periodic[i]) {
            return roof_json_error(c->json, roof_config_member(c, key), c->error,
                                   "%s and %s disagree on layer %" PRId64
                                   "; remove the one that is wrong",
                                   key, every_key, i);
        }
        reuses[i] = periodic[i];
    }
    if (count == m->layers) {
        return ROOF_OK;
    }
    struct roof_text note = ROOF_TEXT_INIT;
    roof_text_printf(&note, "%s has %" PRId64 " of %" PRId64 " layers; the others follow %s", key,
                     count, m->layers, every_key);
    return roof_model_note_text(c->model, &note, c->error);
}

enum roof_status roof_config_choices(struct roof_layer *layer, const struct roof_model *m,
                                     const struct config *c)
{
    bool reuses[ROOF_LAYERS_MAX] = {false};
    const char *const key = roof_config_member(c, types_key) != NULL     ? types_key
                            : roof_config_member(c, pattern_key) != NULL ? pattern_key
                                                                         : NULL;
    int64_t count = 0;
    if (key != NULL) {
        TRY(read_list(reuses, &count, m, c, key));
        TRY(join_period(reuses, count, m, c, key));
    } else {
        TRY(read_period(reuses, m, c));
    }
    if (reuses[0]) {
        return roof_json_error(c->json, roof_config_member(c, key == NULL ? every_key : key),
                               c->error, "the first layer must choose its own keys");
    }
    for (int64_t i = 0; i < m->layers; i++) {
        layer[i].reuses_choice = reuses[i] && m->index_topk > 0;
    }
    return ROOF_OK;
}
