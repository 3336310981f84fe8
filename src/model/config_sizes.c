// SPDX-License-Identifier: MIT
/* The sizes of a config.json, in all their spellings. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/config_parts.h"
#include "model/model_make.h"

#define KEYS_MAX 7
#define X(field) (sizeof(struct roof_model) + offsetof(struct extra, field))
#define SIZE_MAX_VALUE 1000000000

static const struct key {
    size_t offset; /* into the model, or if beyond it into struct extra */
    bool required;
    int64_t min;
    int64_t max;
    const char *names[KEYS_MAX]; /* spellings, the first is the one to name */
} keys[] = {
    {M(hidden), true, 0, SIZE_MAX_VALUE, {"hidden_size", "n_embd", "d_model", "n_embed"}},
    {M(layers),
     true,
     0,
     ROOF_LAYERS_MAX,
     {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}},
    {M(heads), true, 0, SIZE_MAX_VALUE, {"num_attention_heads", "n_head", "n_heads", "num_heads"}},
    {M(vocab), true, 2, SIZE_MAX_VALUE, {"vocab_size", "padded_vocab_size"}},
    {M(kv_heads), false, 1, SIZE_MAX_VALUE, {"num_key_value_heads", "num_kv_heads", "n_head_kv"}},
    {M(head_dim), false, 0, SIZE_MAX_VALUE, {"head_dim", "attention_head_dim"}},
    {M(intermediate),
     false,
     0,
     SIZE_MAX_VALUE,
     {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"}},
    {M(positions),
     false,
     0,
     SIZE_MAX_VALUE,
     {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"}},
    {M(window), false, 0, SIZE_MAX_VALUE, {"sliding_window"}},
    {M(q_lora_rank), false, 0, SIZE_MAX_VALUE, {"q_lora_rank"}},
    {M(kv_lora_rank), false, 0, SIZE_MAX_VALUE, {"kv_lora_rank"}},
    {M(qk_nope_head_dim), false, 0, SIZE_MAX_VALUE, {"qk_nope_head_dim"}},
    {M(qk_rope_head_dim), false, 0, SIZE_MAX_VALUE, {"qk_rope_head_dim"}},
    {M(v_head_dim), false, 0, SIZE_MAX_VALUE, {"v_head_dim"}},
    {M(index_topk), false, 0, SIZE_MAX_VALUE, {"index_topk"}},
    {M(index_heads), false, 0, SIZE_MAX_VALUE, {"index_n_heads"}},
    {M(index_head_dim), false, 0, SIZE_MAX_VALUE, {"index_head_dim"}},
    {M(mixer.heads),
     false,
     0,
     SIZE_MAX_VALUE,
     {"linear_num_value_heads", "mamba_num_heads", "mamba_n_heads"}},
    {M(mixer.key_heads),
     false,
     0,
     SIZE_MAX_VALUE,
     {"linear_num_key_heads", "n_groups", "mamba_n_groups"}},
    {M(mixer.key_dim),
     false,
     0,
     SIZE_MAX_VALUE,
     {"linear_key_head_dim", "ssm_state_size", "mamba_d_state"}},
    {M(mixer.value_dim),
     false,
     0,
     SIZE_MAX_VALUE,
     {"linear_value_head_dim", "mamba_head_dim", "mamba_d_head"}},
    {M(mixer.taps), false, 0, 1000, {"linear_conv_kernel_dim", "conv_kernel", "mamba_d_conv"}},
    {M(mixer.chunk), false, 0, SIZE_MAX_VALUE, {"chunk_size", "mamba_chunk_size", "block_size"}},
    {M(mixer.rank), false, 0, SIZE_MAX_VALUE, {"mamba_dt_rank"}},
    {X(attention_period), false, 1, ROOF_LAYERS_MAX, {"attn_layer_period"}},
    {X(attention_offset), false, 0, ROOF_LAYERS_MAX, {"attn_layer_offset"}},
    {X(expert_period), false, 1, ROOF_LAYERS_MAX, {"expert_layer_period"}},
    {X(expert_offset), false, 0, ROOF_LAYERS_MAX, {"expert_layer_offset"}},
    {X(last_moe), false, -1, ROOF_LAYERS_MAX, {"moe_layer_end_index"}},
    {X(rotary_dim), false, 0, SIZE_MAX_VALUE, {"rotary_dim"}},
    {X(state_width), false, 0, SIZE_MAX_VALUE, {"mamba_d_ssm"}},
    {X(state_expand), false, 0, 1000, {"expand", "mamba_expand"}},
    {X(interval), false, 0, ROOF_LAYERS_MAX, {"full_attention_interval"}},
    {M(experts),
     false,
     0,
     SIZE_MAX_VALUE,
     {"num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"}},
    {M(top_k),
     false,
     0,
     SIZE_MAX_VALUE,
     {"num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_topk", "moe_top_k",
      "moe_k", "top_k_experts"}},
    {M(expert_groups), false, 0, SIZE_MAX_VALUE, {"n_group", "num_expert_group"}},
    {M(group_topk), false, 0, SIZE_MAX_VALUE, {"topk_group"}},
    {M(expert_intermediate),
     false,
     0,
     SIZE_MAX_VALUE,
     {"moe_intermediate_size", "expert_ffn_hidden_size"}},
    {M(expert_latent), false, 0, SIZE_MAX_VALUE, {"moe_latent_size", "routed_expert_hidden_size"}},
    {M(shared_intermediate),
     false,
     0,
     SIZE_MAX_VALUE,
     {"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
      "shared_intermediate_size"}},
    {X(shared_experts),
     false,
     0,
     1000,
     {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"}},
    {M(predict_layers),
     false,
     0,
     ROOF_LAYERS_MAX,
     {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}},
    {X(first_dense), false, 0, ROOF_LAYERS_MAX, {"first_k_dense_replace", "moe_layer_start_index"}},
    {X(sparse_step), false, 1, ROOF_LAYERS_MAX, {"decoder_sparse_step", "moe_layer_interval"}},
    {X(interleave), false, 0, ROOF_LAYERS_MAX, {"interleave_moe_layer_step"}},
    {X(window_pattern),
     false,
     0,
     ROOF_LAYERS_MAX,
     {"sliding_window_pattern", "_sliding_window_pattern"}},
    {X(max_window_layers), false, 0, SIZE_MAX_VALUE, {"max_window_layers"}},
    {X(projection), false, 0, SIZE_MAX_VALUE, {"word_embed_proj_dim"}},
};

/* Classes set these values when published configs leave them out: huggingface/transformers,
 * configuration_gemma3.py (Gemma3TextConfig), _gemma3n.py, configuration_qwen2.py and its siblings,
 * configuration_glm_moe_dsa.py, configuration_jamba.py; MiniMax's modeling_minimax_m1.py
 * (BLOCK); deepseek-ai/DeepSeek-V3.2-Exp, inference/model.py (ModelArgs). */
static const struct {
    const char *type;
    size_t offset;
    int64_t value;
} defaults[] = {{"glm_moe_dsa", M(index_topk), 2048},
                {"glm_moe_dsa", M(index_heads), 32},
                {"glm_moe_dsa", M(index_head_dim), 128},
                {"deepseek_v32", M(index_topk), 2048},
                {"deepseek_v32", M(index_heads), 64},
                {"deepseek_v32", M(index_head_dim), 128},
                {"qwen3_next", X(interval), 4},
                {"qwen3_5", X(interval), 4},
                {"qwen3_5_text", X(interval), 4},
                {"qwen3_5_moe", X(interval), 4},
                {"qwen3_5_moe_text", X(interval), 4},
                {"minimax", M(mixer.chunk), 256},
                {"minimax_text_01", M(mixer.chunk), 256},
                {"minimax_m1", M(mixer.chunk), 256},
                {"jamba", X(attention_period), 8},
                {"jamba", X(attention_offset), 4},
                {"jamba", X(expert_period), 2},
                {"jamba", X(expert_offset), 1},
                {"jamba", M(kv_heads), 8},
                {"jamba", M(experts), 16},
                {"jamba", M(top_k), 2},
                {"jamba", M(mixer.key_dim), 16},
                {"jamba", M(mixer.taps), 4},
                {"jamba", X(state_expand), 2},
                {"granitemoehybrid", X(interval), ROOF_LAYERS_MAX + 1},
                {"qwen2", X(max_window_layers), 28},
                {"qwen2_moe", X(max_window_layers), 28},
                {"qwen3", X(max_window_layers), 28},
                {"qwen3_moe", X(max_window_layers), 28},
                {"gemma3n_text", M(vocab), 262400},
                {"gemma3n_text", M(hidden), 2048},
                {"gemma3n_text", M(layers), 35},
                {"gemma3n_text", M(heads), 8},
                {"gemma3n_text", M(kv_heads), 2},
                {"gemma3n_text", M(head_dim), 256},
                {"gemma3n_text", M(intermediate), 16384},
                {"gemma3n_text", M(window), 512},
                {"gemma3", M(vocab), 262208},
                {"gemma3", M(heads), 8},
                {"gemma3", M(kv_heads), 4},
                {"gemma3", M(head_dim), 256},
                {"gemma3_text", M(vocab), 262208},
                {"gemma3_text", M(heads), 8},
                {"gemma3_text", M(kv_heads), 4},
                {"gemma3_text", M(head_dim), 256}};

/* Published configs of LLaVA and Qwen2-Audio leave out what text_config has from its class:
 * configuration_llama.py, configuration_mistral.py, configuration_qwen2.py. */
static const struct {
    const char *type;
    size_t offset;
    int64_t value;
} inner_defaults[] = {{"llama", M(hidden), 4096},   {"llama", M(layers), 32},
                      {"llama", M(heads), 32},      {"llama", M(intermediate), 11008},
                      {"llama", M(vocab), 32000},   {"mistral", M(hidden), 4096},
                      {"mistral", M(layers), 32},   {"mistral", M(heads), 32},
                      {"mistral", M(kv_heads), 8},  {"mistral", M(intermediate), 14336},
                      {"mistral", M(vocab), 32000}, {"qwen2", M(hidden), 4096},
                      {"qwen2", M(layers), 32},     {"qwen2", M(heads), 32},
                      {"qwen2", M(kv_heads), 32},   {"qwen2", M(intermediate), 22016},
                      {"qwen2", M(vocab), 151936}};

/* Returns the value at an offset of a row of keys[] or defaults[]. */
static int64_t *field(struct reading *reading, size_t offset)
{
    return (int64_t *)(void *)((char *)reading + offset);
}

bool roof_config_has_size(const struct config *c, size_t offset)
{
    for (size_t i = 0; i < COUNT(keys); i++) {
        for (size_t k = 0; keys[i].offset == offset && k < KEYS_MAX && keys[i].names[k] != NULL;
             k++) {
            if (roof_config_has(c, keys[i].names[k])) {
                return true;
            }
        }
    }
    return false;
}

/* Returns the row whose first spelling is a name; NULL: none. */
static const struct key *find_key(const char *name)
{
    size_t i = 0;
    while (i < COUNT(keys) && strcmp(keys[i].names[0], name) != 0) {
        i++;
    }
    return i < COUNT(keys) ? &keys[i] : NULL;
}

const roof_json_value *roof_config_any_spelling(const struct config *c, const char *name)
{
    const struct key *const key = find_key(name);
    const roof_json_value *value = roof_config_member(c, name);
    for (size_t k = 1; key != NULL && k < KEYS_MAX && key->names[k] != NULL && value == NULL; k++) {
        value = roof_config_member(c, key->names[k]);
    }
    return value;
}

bool roof_config_has_value(const struct reading *r, const struct config *c, const char *name)
{
    const struct key *const key = find_key(name);
    if (key == NULL) {
        return roof_config_has(c, name);
    }
    return *(const int64_t *)(const void *)((const char *)r + key->offset) > 0 ||
           roof_config_has_size(c, key->offset);
}

/* Puts in the sizes of the class of such a language model, with a note where any is missing. */
static void put_inner_defaults(struct reading *out, const struct config *c)
{
    const char *const type = roof_json_string(roof_json_get(c->root, "model_type"));
    bool missing = false;
    if (c->text == c->root || type == NULL ||
        (strncmp(type, "llava", 5) != 0 && strcmp(type, "qwen2_audio") != 0)) {
        return;
    }
    for (size_t i = 0; i < COUNT(inner_defaults); i++) {
        if (strcmp(inner_defaults[i].type, c->family->type) == 0) {
            *field(out, inner_defaults[i].offset) = inner_defaults[i].value;
            missing = missing || !roof_config_has_size(c, inner_defaults[i].offset);
        }
    }
    if (missing) {
        roof_model_note(c->model, "text_config leaves out sizes, which are those of its class");
    }
}

/* Finds another spelling of a size with another value. Positions and vocabularies may have several
 * meanings, and so have the layers for multi-token prediction of MiniMax-M3 (num_mtp_modules 7,
 * num_nextn_predict_layers 1), which are not counted. */
static const roof_json_value *find_contradiction(const struct config *c, const struct key *key,
                                                 int64_t value)
{
    const bool size = key->offset != M(vocab) && key->offset != M(positions) &&
                      (key->offset != M(predict_layers) || (c->family->flags & BLOCKS) == 0);
    for (size_t k = 0; size && k < KEYS_MAX && key->names[k] != NULL; k++) {
        const roof_json_value *const other = roof_json_get(c->text, key->names[k]);
        double number = 0;
        if (roof_json_number(&number, other) && number != (double)value) {
            return other;
        }
    }
    return NULL;
}

/* Returns the number that all layers have, if a list has the same for each; else NULL. */
static const roof_json_value *of_all_layers(const roof_json_value *list, int64_t layers)
{
    const roof_json_value *const first = roof_json_first(list);
    double wanted = 0;
    double number = 0;
    if (roof_json_count(list) != (size_t)layers || !roof_json_number(&wanted, first)) {
        return NULL;
    }
    for (const roof_json_value *item = first; item != NULL; item = roof_json_next(item)) {
        if (!roof_json_number(&number, item) || number != wanted) {
            return NULL;
        }
    }
    return first;
}

/* Returns the value of a spelling; NULL: none. Configs of Hunyuan may write false where a router
 * has no groups. */
static const roof_json_value *find_spelling(const struct config *c, const struct key *key,
                                            const char *name)
{
    const roof_json_value *const value = roof_config_member(c, name);
    bool flag = true;
    const bool none = (key->offset == M(expert_groups) || key->offset == M(group_topk)) &&
                      roof_json_boolean(&flag, value) && !flag;
    return none ? NULL : value;
}

/* Reads a key in the first of its spellings that the config has. */
static enum roof_status read_key(int64_t *out, const struct config *c, const struct key *key,
                                 int64_t layers)
{
    const roof_json_value *value = NULL;
    const char *name = NULL;
    for (size_t k = 0; k < KEYS_MAX && key->names[k] != NULL && value == NULL; k++) {
        name = key->names[k];
        value = find_spelling(c, key, name);
    }
    const char *const word = roof_json_string(value);
    if (value == NULL || (word != NULL && strcmp(word, "auto") == 0)) {
        return ROOF_OK; /* it follows from others */
    }
    if (roof_json_count(value) > 0 && roof_json_is_array(value) && !key->required) {
        const roof_json_value *const same = of_all_layers(value, layers);
        if (same == NULL) {
            return roof_json_error(c->json, value, c->error,
                                   "%s must be an integer, or a list with the same one for each "
                                   "of the %" PRId64 " layers",
                                   name, layers);
        }
        value = same;
    }
    TRY(roof_config_integer(out, c, value, name, key->min, key->max));
    const roof_json_value *const other = find_contradiction(c, key, *out);
    return other == NULL ? ROOF_OK
                         : roof_json_error(c->json, other, c->error, "%s is not the %s of %" PRId64,
                                           roof_json_key(other), name, *out);
}

/* Reads the number of layers of a family whose num_layers counts pairs; num_hidden_layers counts
 * all. */
static enum roof_status read_doubled(int64_t *out, const struct config *c)
{
    const roof_json_value *const halves = roof_config_member(c, "num_layers");
    const roof_json_value *const all = roof_config_member(c, "num_hidden_layers");
    int64_t count = 0;
    if (halves != NULL) {
        TRY(roof_config_integer(&count, c, halves, "num_layers", 0, ROOF_LAYERS_MAX / 2));
        *out = 2 * count;
    }
    if (all != NULL) {
        TRY(roof_config_integer(&count, c, all, "num_hidden_layers", 0, ROOF_LAYERS_MAX));
        if (count % 2 != 0 || (halves != NULL && count != *out)) {
            return roof_json_error(c->json, all, c->error,
                                   "num_hidden_layers must be twice num_layers");
        }
        *out = count;
    }
    return ROOF_OK;
}

/* Returns the number of layers that a config lists, if the class counts them by its list
 * (Nemotron-H); else 0. */
static int64_t listed_layers(const struct config *c)
{
    const char *const letters = roof_json_string(roof_config_member(c, "hybrid_override_pattern"));
    const roof_json_value *const list = roof_config_member(c, "layers_block_type");
    const size_t count = letters != NULL            ? strlen(letters)
                         : roof_json_is_array(list) ? roof_json_count(list)
                                                    : 0;
    return (c->family->flags & ONE_PART) != 0 && count <= ROOF_LAYERS_MAX ? (int64_t)count : 0;
}

/* Refuses query groups that are not the KV heads. Megatron-LM names KV heads so
 * (megatron/core/transformer/transformer_config.py, num_query_groups), and configs that were
 * converted from it may have both keys. No class reads this one: without num_key_value_heads, each
 * query head has a KV head. */
static enum roof_status check_groups(const struct roof_model *m, const struct config *c)
{
    static const char key[] = "num_query_groups";
    const roof_json_value *const groups = roof_config_member(c, key);
    const int64_t kv_heads = m->kv_heads == 0 ? m->heads : m->kv_heads;
    int64_t count = 0;
    if (groups == NULL) {
        return ROOF_OK;
    }
    TRY(roof_config_integer(&count, c, groups, key, 1, SIZE_MAX_VALUE));
    return count == kv_heads
               ? ROOF_OK
               : roof_json_error(c->json, groups, c->error,
                                 "%s must be num_key_value_heads, which is %" PRId64 "%s", key,
                                 kv_heads, m->kv_heads == 0 ? " (num_attention_heads) here" : "");
}

/* Tells whether the width of the MLP is missing, in a model in which nothing else gives it. */
static bool lacks_width(const struct roof_model *m, const struct family *family)
{
    const bool other = (family->flags & (LEARNED | ONE_PART)) != 0 || family->native_sparse ||
                       family->mixer != ROOF_MIXER_NONE;
    return !other && m->intermediate == 0 && m->experts == 0 && m->top_k == 0 &&
           m->expert_intermediate == 0;
}

enum roof_status roof_config_sizes(struct reading *out, struct config *c)
{
    char missing[256] = "";
    size_t used = 0;
    out->model.layers = listed_layers(c);
    for (size_t i = 0; i < COUNT(defaults); i++) {
        if (strcmp(defaults[i].type, c->family->type) == 0) {
            *field(out, defaults[i].offset) = defaults[i].value;
        }
    }
    put_inner_defaults(out, c);
    for (size_t i = 0; i < COUNT(keys); i++) {
        int64_t *const value = field(out, keys[i].offset);
        TRY(c->family->doubled && keys[i].offset == M(layers)
                ? read_doubled(value, c)
                : read_key(value, c, &keys[i], out->model.layers));
        if (keys[i].required && *value == 0) {
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%s",
                                     used == 0 ? "" : ", ", keys[i].names[0]);
        }
    }
    if (used > 0 && lacks_width(&out->model, c->family)) {
        (void)snprintf(missing + used, sizeof missing - used, ", intermediate_size");
    }
    if (roof_config_flag(c, "multi_query", false)) {
        out->model.kv_heads = 1;
    }
    if (used > 0 && c->stranger != NULL) {
        return roof_config_stranger(c, c->text, missing, " missing or 0");
    }
    return used == 0
               ? check_groups(&out->model, c)
               : roof_json_error(c->json, c->text, c->error,
                                 "not the config.json of a transformer; missing or 0: %s", missing);
}

bool roof_config_is_size(const char *key)
{
    for (size_t i = 0; i < COUNT(keys); i++) {
        for (size_t k = 0; k < KEYS_MAX && keys[i].names[k] != NULL; k++) {
            if (strcmp(keys[i].names[k], key) == 0) {
                return true;
            }
        }
    }
    return false;
}
