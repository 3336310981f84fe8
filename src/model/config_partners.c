// SPDX-License-Identifier: MIT
/*
 * Keys of a config.json that have an effect only together with another one. The class has a default
 * for the other, which is not known here, or the config was cut: without it the key would be
 * ignored, so the config is refused. A partner that is 0 or null turns the feature off.
 */
#include <string.h>

#include "base/base.h"
#include "base/nearest.h"
#include "model/config_parts.h"

static const char chosen[] = "each query attends to the keys that an indexer chooses";
static const char experts[] = "layers have experts";
static const char windows[] = "layers have a window";

/* Each key is the first of its spellings. */
static const struct pair {
    const char *key;
    const char *partner;
    const char *what;
} pairs[] = {{"index_n_heads", "index_topk", chosen},
             {"index_head_dim", "index_topk", chosen},
             {"qk_rope_head_dim", "kv_lora_rank", "attention is latent"},
             {"moe_intermediate_size", "num_local_experts", experts},
             {"n_shared_experts", "num_local_experts", experts},
             {"shared_expert_intermediate_size", "num_local_experts", experts},
             {"first_k_dense_replace", "num_local_experts", experts},
             {"interleave_moe_layer_step", "num_local_experts", experts},
             {"mlp_only_layers", "num_local_experts", experts},
             {"n_group", "topk_group", "experts are chosen from some of their groups"},
             {"sliding_window_pattern", "sliding_window", windows},
             {"use_sliding_window", "sliding_window", windows}};

/* Tells whether a key has an effect alone in this family, or none in this model. */
static bool is_alone(const struct reading *r, const struct config *c, const char *key,
                     const roof_json_value *value)
{
    return roof_config_says_nothing(value) ||
           (strcmp(key, "n_group") == 0 && (r->model.expert_groups <= 1 || r->model.experts < 2)) ||
           /* roof_config_compressed checks these. */
           ((c->family->flags & COMPRESSED) != 0 && strstr(key, "_head") != NULL) ||
           /* Granite without experts: the MLP that all tokens share is the only one. */
           (strcmp(key, "shared_expert_intermediate_size") == 0 &&
            c->family->mixer == ROOF_MIXER_SSD);
}

/* Finds a misspelt key; NULL: there is none. */
static const char *misspelt(const struct config *c, const char *key)
{
    for (const roof_json_value *at = roof_json_first(c->text); at != NULL;
         at = roof_json_next(at)) {
        const char *const name = roof_json_key(at);
        if (strncmp(name, key, strlen(key)) != 0 && roof_near_name(name, &key, 1) != NULL) {
            return name;
        }
    }
    return NULL;
}

enum roof_status roof_config_partners(const struct reading *r, const struct config *c)
{
    for (size_t i = 0; i < COUNT(pairs); i++) {
        const roof_json_value *const value = roof_config_any_spelling(c, pairs[i].key);
        if (value != NULL && !is_alone(r, c, pairs[i].key, value) &&
            !roof_config_has_value(r, c, pairs[i].partner)) {
            const char *const near = misspelt(c, pairs[i].partner);
            return roof_json_error(c->json, value, c->error, "%s needs %s, which is missing%s%s%s",
                                   roof_json_key(value), pairs[i].partner,
                                   near == NULL ? ": " : "; is it misspelt as ",
                                   near == NULL ? pairs[i].what : near, near == NULL ? "" : "?");
        }
    }
    return ROOF_OK;
}
