// SPDX-License-Identifier: MIT
/*
 * Keys of a config.json that no part reads. A key that is known to change the architecture is an
 * error, which describes its effect; one that is known to change no shape is ignored. An unknown
 * key is an error if its name contains a word for layers, sizes or parts and its value is more than
 * a word, because an answer without it may be wrong by a large factor; otherwise a note names it.
 */
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "model/config_parts.h"
#include "model/model_make.h"

/* Keys that other parts read, in addition to the sizes. */
static const char *const read_keys[] = {"attention_bias",
                                        "attn_output_gate",
                                        "enable_bias",
                                        "hidden_act",
                                        "is_encoder_decoder",
                                        "language_config",
                                        "layer_norm_elementwise_affine",
                                        "layer_types",
                                        "lm_head_bias",
                                        "llm_config",
                                        "mlp_bias",
                                        "mlp_only_layers",
                                        "model_type",
                                        "moe_layer_freq",
                                        "multi_query",
                                        "num_query_groups",
                                        "partial_rotary_factor",
                                        "quantization_config",
                                        "roofline",
                                        "rope_scaling",
                                        "rotary_pct",
                                        "text_config",
                                        "thinker_config",
                                        "tie_word_embeddings",
                                        "use_bias",
                                        "use_mixed_mlp_moe",
                                        "use_parallel_residual",
                                        "use_qk_norm",
                                        "use_sliding_window",
                                        "vision_config"};

/* Keys that change no operator's shape: training, sampling, numerics, names, positions and towers
 * that are not counted. A star stands for any characters. */
static const char *const harmless[] = {
    /* tokens and text */
    "*_token", "*_token_id", "*_token_ids", "*_token_index", "*_token_indices", "*tokenizer*",
    "bos_*", "eos_*", "pad_*", "*_tokens_per_image", "*_seq_length_padding",
    "org_vocab_size", /* the vocabulary without added tokens (Hunyuan); vocab_size is read */
    /* training */
    "*dropout*", "*_pdrop", "*_drop", "initializer_*", "*_initializer_*", "init_*", "*_init_std",
    "*_loss*", "*_jitter*", "*aux_alpha*", "seq_aux", "ep_size", "pretraining_tp", "*_lr_*",
    "gradient_*", "use_reentrant", "mup_*", "*_gradient_checkpointing", "embd_pdrop",
    "rescale_prenorm_residual", "residual_in_fp32", "moe_router_bias_update_speed",
    "first_k_dense_replace_aux",
    /* numerics and scales */
    "*_eps", "*_epsilon", "*epsilon", "*dtype*", "*softcap*", "attention_multiplier",
    "attn_output_multiplier", "embedding_multiplier", "key_multiplier", "lm_head_multiplier",
    "logits_multiplier", "mlp_multipliers", "residual_multiplier", "ssm_*_multiplier",
    "ssm_multipliers", "attention_*_multiplier", "*logit*scal*", "*_scale", "scale_*",
    "*scaling_factor*", "query_pre_attn_scalar", "swiglu_limit*", "swiglu_alpha", "*clip*",
    "*_alpha", "*_beta", "attn_temperature_tuning", "floor_scale", "attn_scale",
    "attention_value_scale", "*softmax_in_fp32", "*_in_fp32", "*activation_function",
    "hidden_activation", "activation", "mlp_hidden_act", "activation_type", "norm_type",
    "normalization_function", "qkv_clip", "clip_qkv", "use_flash_attn*", "*flash_attn*",
    "*_attn_implementation", "fused_*", "*_kernels", "normalize_*", "normalization_type",
    /* positions */
    "rope_*", "*rope_theta*", "*rope_base*", "rotary_emb*", "rotary_base", "*_theta",
    "original_max_position_embeddings", "initial_context_length", "max_window_size",
    "interpolate_factor", "model_max_length", "max_length", "max_seq_length", "no_rope_layer*",
    "mrope_*", "*yarn*", "use_rope*", "layer_rope_*", "position_embedding_type",
    "*_rope_parameters", "n_ctx_orig", "*rope_interleave", "layer_switch",
    "order_of_interleaved_layers", "use_embedding_sharing", "use_gated_activation",
    "use_parallel_block", "moe_capacity", "moe_gate", "moe_use_aux_free", "moe_norm_min",
    "mtp_transformer_layers", "use_mtp", "use_routing_bias", "qk_norm_type", "use_rotary_pos_emb",
    "do_layer_norm_before", /* norms before or after a layer cost the same */
    /* routing: which experts are chosen, not how many */
    "norm_topk_prob", "scoring_func", "topk_method", "topk_group", "n_group", "num_expert_group",
    "expert_group", "router_z_*", "router_bias_*", "router_logit*", "router_sigmoid*",
    "*router_activation*", "*router_score*", "moe_router_use_*", "moe_router_enable_expert_bias",
    "moe_router_pre_softmax", "moe_router_load_*", "moe_router_force_*", "moe_router_group*",
    "routing_method", "routing_type", "moe_renormalize", "route_scale", "route_norm", "score_func*",
    "score_correction*", "score_mode", "use_grouped_topk", "expert_dtype", "moe_layer_index_offset",
    "routed_scaling_factor",
    /* names and serving */
    "architectures", "auto_map", "transformers_version", "*_version", "_name_or_path", "*_name",
    "model_name", "use_cache", "output_*", "return_dict*", "torchscript", "id2label", "label2id",
    "problem_type", "task_specific_params", "finetuning_task", "classifier_*", "summary_*",
    "use_bfloat16", "pruned_heads", "is_decoder", "add_cross_attention", "tie_encoder_decoder",
    "chunk_size_feed_forward", "do_sample", "temperature", "top_p", "typical_p", "top_k",
    "num_beams", "num_beam_groups", "num_return_sequences", "min_length", "early_stopping",
    "repetition_penalty", "length_penalty", "diversity_penalty", "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size", "bad_words_ids", "remove_invalid_values", "suppress_tokens",
    "begin_suppress_tokens", "forced_*", "exponential_decay_length_penalty", "prefix",
    "sep_token_id", "decoder_start_token_id", "cross_attention_hidden_size", "unsloth_*",
    "pipeline_tag", "license", "use_mamba_kernels", "ignore_keys_at_inference",
    "keys_to_ignore_at_inference", "base_model_*_plan", "tf_legacy_loss", "cache_implementation",
    /* towers of other modalities, which config_tower.c reads or which are not counted */
    "vision_*", "image_*", "video_*", "audio_*", "speech_*", "mm_*", "projector_*", "vit_*",
    "visual*", "multimodal_*", "multi_modal_*", "boi_*", "eoi_*", "boa_*", "eoa_*", "talker_config",
    "code2wav_config", "*_audio_output", "spatial_merge_size", "img_*", "media_*",
    "downsample_ratio", "downsample_factor", "alignment_intermediate_size", "dynamic_image_size",
    "force_image_size", "*_dynamic_patch", "pad2square", "ps_version", "select_layer", "template",
    "system_message", "use_*_lora", "use_thumbnail", "embd_layer", "projection_*", "ignore_index",
    "use_unified_vision_chunk", "anyres_*", "num_media_embeds" /* Hunyuan */};

/* Keys that are read for families with layers that keep a state. */
static const char *const state_keys[] = {"chunk_size",
                                         "conv_kernel",
                                         "expand",
                                         "full_attention_interval",
                                         "hybrid_override_pattern",
                                         "layers_block_type",
                                         "linear_attn_config",
                                         "linear_conv_kernel_dim",
                                         "linear_key_head_dim",
                                         "linear_num_key_heads",
                                         "linear_num_value_heads",
                                         "linear_value_head_dim",
                                         "mamba_chunk_size",
                                         "mamba_conv_bias",
                                         "mamba_d_conv",
                                         "mamba_d_head",
                                         "mamba_d_ssm",
                                         "mamba_d_state",
                                         "mamba_expand",
                                         "mamba_head_dim",
                                         "mamba_hidden_act",
                                         "mamba_inner_layernorms",
                                         "mamba_n_groups",
                                         "mamba_n_heads",
                                         "mamba_norm_before_gate",
                                         "mamba_num_heads",
                                         "mamba_proj_bias",
                                         "mamba_rms_norm",
                                         "mamba_ssm_*dtype",
                                         "mamba_use_mlp",
                                         "n_groups",
                                         "ssm_state_size",
                                         "time_step_*",
                                         "use_conv_bias",
                                         "mla_use_nope",
                                         "use_mamba_kernels",
                                         "projectors_bias",
                                         "num_logits_to_keep",
                                         "moe_shared_expert_overlap",
                                         "mtp_use_dedicated_embeddings",
                                         "mtp_hybrid_override_pattern",
                                         "mtp_layers_block_type",
                                         "attn_layer_indices",
                                         "mlp_expansion_factor"};

/* Keys that are read for families with only one kind of state. */
static const struct {
    enum roof_mixer_kind mixer;
    const char *key;
} mixer_keys[] = {{ROOF_MIXER_LIGHTNING, "attn_type_list"},
                  {ROOF_MIXER_LIGHTNING, "block_size"},
                  {ROOF_MIXER_LIGHTNING, "postnorm"}, /* the residual is the normed input */
                  {ROOF_MIXER_LIGHTNING, "shared_moe_mode"},
                  {ROOF_MIXER_LIGHTNING, "*_alpha_factor"},
                  {ROOF_MIXER_LIGHTNING, "*_beta_factor"},
                  {ROOF_MIXER_SELECTIVE, "attn_layer_period"},
                  {ROOF_MIXER_SELECTIVE, "attn_layer_offset"},
                  {ROOF_MIXER_SELECTIVE, "expert_layer_period"},
                  {ROOF_MIXER_SELECTIVE, "expert_layer_offset"},
                  {ROOF_MIXER_SELECTIVE, "mamba_dt_rank"},
                  {ROOF_MIXER_KIMI_DELTA, "routed_expert_hidden_size"},
                  {ROOF_MIXER_KIMI_DELTA, "latent_moe_use_norm"},
                  {ROOF_MIXER_KIMI_DELTA, "attn_res_block_size"},
                  {ROOF_MIXER_KIMI_DELTA, "mla_use_output_gate"},
                  {ROOF_MIXER_SSD, "moe_latent_size"}};

/* Keys that are read for families whose windowed layers have their own number of KV heads, or that
 * change no shape in them. */
static const char *const window_keys[] = {"hybrid_layer_pattern",
                                          "swa_num_key_value_heads",
                                          "swa_num_attention_heads",
                                          "swa_head_dim",
                                          "swa_v_head_dim",
                                          "sliding_window_size",
                                          "add_full_attention_sink_bias",
                                          "add_swa_attention_sink_bias",
                                          "attention_chunk_size",
                                          "attention_projection_layout"};

/* Keys that are read for families with layers that attend within chunks. */
static const char *const chunk_keys[] = {"attention_chunk_size", "intermediate_size_mlp",
                                         "moe_layers", "no_rope_layers", "no_rope_layer_interval"};

/* Keys that are read for families in which a layer of the config is two, or that change no shape in
 * them. */
static const char *const doubled_keys[] = {"zero_expert_num", "zero_expert_type", "mla_scale_*",
                                           "attention_method", "qk_head_dim"};

/* Keys that are read for families whose residual has streams that layers predict, or that change no
 * shape in them: zero activations of an MLP do not make its product smaller. */
static const char *const altup_keys[] = {"altup_active_idx",
                                         "altup_coef_clip",
                                         "altup_correct_scale",
                                         "altup_num_inputs",
                                         "laurel_rank",
                                         "activation_sparsity_pattern",
                                         "num_kv_shared_layers",
                                         "hidden_size_per_layer_input",
                                         "vocab_size_per_layer_input"};

/* Keys that are read where attention has three branches, or that change no shape there. */
static const char *const branch_keys[] = {"block_size",   "block_counts", "window_size",
                                          "hidden_ratio", "qkv_bias",     "elementwise_affine",
                                          "fuse_*",       "use_l2warp"};

/* Keys that change the architecture, with their effect. */
static const struct architecture {
    const char *key;
    const char *what;
} architecture[] = {
    {"index_topk", "each query attends to the keys that an indexer chooses"},
    {"index_n_heads", "each query attends to the keys that an indexer chooses"},
    {"index_head_dim", "each query attends to the keys that an indexer chooses"},
    {"indexer_types", "some layers use the keys that the indexer of another chose"},
    {"index_topk_freq", "some layers use the keys that the indexer of another chose"},
    {"index_topk_pattern", "some layers use the keys that the indexer of another chose"},
    {"index_skip_topk_offset", "some layers use the keys that the indexer of another chose"},
    {"index_share_for_mtp_iteration", "some layers use the keys that the indexer of another chose"},
    {"linear_attn_config", "some layers have linear attention"},
    {"linear_num_key_heads", "some layers have linear attention"},
    {"sparse_attention_config", "each query attends to chosen blocks of keys"},
    {"hybrid_layer_pattern", "layers differ in their attention"},
    {"hybrid_override_pattern", "layers differ: state-space, attention or MLP"},
    {"layers_block_type", "layers differ: state-space, attention or MLP"},
    {"compress_ratios", "keys and values are compressed by a ratio for each layer"},
    {"routed_expert_hidden_size", "routed experts work on a narrower latent"},
    {"moe_latent_size", "routed experts work on a narrower latent"},
    {"zero_expert_num", "some experts compute nothing"},
    {"attention_chunk_size", "some layers attend within chunks"},
    {"attn_type_list", "some layers have linear attention"},
    {"block_configs", "layers differ in their heads and widths"},
    {"cross_attention_layers", "some layers attend to images"},
    {"hidden_size_per_layer_input", "layers have embeddings of their own"},
    {"num_kv_shared_layers", "some layers use the keys and values of others"},
    {"use_cla", "some layers use the keys and values of others"},
    {"cla_share_factor", "some layers use the keys and values of others"},
    {"global_head_dim", "layers differ in the size of their heads"},
    {"swa_head_dim", "layers differ in the size of their heads"},
    {"o_lora_rank", "the output projection has a low rank"},
    {"hc_mult", "the residual has several streams"},
    {"attn_res_block_size", "blocks of layers have residuals of their own"},
    {"mla_use_output_gate", "latent attention has a gate"},
    {"attn_layer_period", "some layers are state-space layers"},
    {"ssm_cfg", "it has state-space layers"},
    {"mamba_d_state", "it has state-space layers"},
    {"ssm_state_size", "it has state-space layers"},
    {"state_size", "it has state-space layers"},
    {"conv_kernel", "it has state-space layers"},
    {"rnn_width", "it has recurrent layers"},
    {"lru_width", "it has recurrent layers"},
    {"encoder_layers", "it has an encoder"},
    {"num_encoder_layers", "it has an encoder"}};

/* Words in the names of keys for layers, sizes and parts of the work. */
static const char *const words[] = {
    "attention", "attn",   "bias",    "block",  "compress", "conv",     "dim",    "expert",
    "head",      "hidden", "hybrid",  "index",  "interval", "kernel",   "latent", "layer",
    "linear",    "lora",   "mamba",   "memory", "mla",      "moe",      "mtp",    "multiplier",
    "num_",      "n_",     "pattern", "rank",   "recurr",   "residual", "share",  "sharing",
    "size",      "span",   "sparse",  "ssm",    "state",    "topk",     "window"};

/* Tells whether a name matches a pattern in which a star stands for any characters. */
static bool matches(const char *pattern, const char *name)
{
    const char *star = NULL;  /* the last one seen */
    const char *after = NULL; /* the rest of the name after the text that the star matches */
    while (*name != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            after = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star + 1;
            name = ++after;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

bool roof_config_key_in(const char *key, const char *const *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (matches(patterns[i], key)) {
            return true;
        }
    }
    return false;
}

static bool passes(const struct config *c, const char *key)
{
    if (c->family->native_sparse && roof_config_key_in(key, branch_keys, COUNT(branch_keys))) {
        return true;
    }
    for (size_t i = 0; i < COUNT(mixer_keys); i++) {
        if (matches(mixer_keys[i].key, key)) {
            return c->family->mixer == mixer_keys[i].mixer;
        }
    }
    if (roof_config_key_in(key, state_keys, COUNT(state_keys))) {
        return c->family->mixer != ROOF_MIXER_NONE;
    }
    if (roof_config_is_size(key) || roof_config_own_key(c, key) ||
        ((c->family->flags & OWN_WINDOWS) != 0 &&
         roof_config_key_in(key, window_keys, COUNT(window_keys))) ||
        (c->family->crossed && strcmp(key, "cross_attention_layers") == 0) ||
        (c->family->shares_choice && roof_config_choice_key(key)) ||
        (c->family->altup && roof_config_key_in(key, altup_keys, COUNT(altup_keys))) ||
        (c->family->doubled && roof_config_key_in(key, doubled_keys, COUNT(doubled_keys))) ||
        ((c->family->flags & CHUNKS) != 0 &&
         roof_config_key_in(key, chunk_keys, COUNT(chunk_keys)))) {
        return true;
    }
    for (size_t i = 0; i < COUNT(read_keys); i++) {
        if (strcmp(read_keys[i], key) == 0) {
            return true;
        }
    }
    return roof_config_key_in(key, harmless, COUNT(harmless));
}

bool roof_config_says_nothing(const roof_json_value *value)
{
    double number = 1;
    bool flag = true;
    const char *const text = roof_json_string(value);
    if (roof_json_is_null(value) || (text != NULL && *text == '\0')) {
        return true;
    }
    if (roof_json_number(&number, value)) {
        return number == 0;
    }
    if (roof_json_boolean(&flag, value)) {
        return !flag;
    }
    return text == NULL && roof_json_count(value) == 0;
}

/* Tells whether qk_head_dim is the sum of its parts, which are read. */
static bool repeats_head_dim(const struct config *c)
{
    double whole = 0;
    double rope = 0;
    double rest = 0;
    return roof_json_number(&whole, roof_config_member(c, "qk_head_dim")) &&
           roof_json_number(&rope, roof_config_member(c, "qk_rope_head_dim")) &&
           roof_json_number(&rest, roof_config_member(c, "qk_nope_head_dim")) &&
           whole == rope + rest;
}

/* Tells whether mlp_layer_types says what first_k_dense_replace does: dense layers, then others. */
static bool repeats_dense(const struct config *c)
{
    double dense = 0;
    const roof_json_value *item = roof_json_first(roof_config_member(c, "mlp_layer_types"));
    bool same = roof_json_number(&dense, roof_config_member(c, "first_k_dense_replace"));
    for (size_t layer = 0; item != NULL && same; item = roof_json_next(item), layer++) {
        const char *const word = roof_json_string(item);
        same = word != NULL && strcmp(word, (double)layer < dense ? "dense" : "sparse") == 0;
    }
    return same;
}

/* Tells whether a key belongs to a feature that another key of the config, or its own value, turns
 * off. */
static bool turned_off(const struct config *c, const char *key)
{
    bool flag = true;
    double every = 0; /* every n-th layer has full attention (Phi-4-mini) */
    return (strcmp(key, "cla_share_factor") == 0 &&
            roof_json_boolean(&flag, roof_config_member(c, "use_cla")) && !flag) ||
           (strcmp(key, "full_attn_mod") == 0 &&
            roof_json_number(&every, roof_config_member(c, key)) && every == 1);
}

/* Tells whether a key says what other keys say, which are read. */
static bool repeats(const struct config *c, const char *key)
{
    return (strcmp(key, "qk_head_dim") == 0 && repeats_head_dim(c)) ||
           (strcmp(key, "mlp_layer_types") == 0 && repeats_dense(c));
}

/* Tells whether an item of a list is the usual one: attention, or an indexer of its own. */
static bool is_usual(const char *key, const roof_json_value *item)
{
    const char *const word = roof_json_string(item);
    double number = 0;
    return strcmp(key, "attn_type_list") == 0
               ? roof_json_number(&number, item) && number == 1
               : strcmp(key, "indexer_types") == 0 && word != NULL && strcmp(word, "full") == 0;
}

/* Tells whether a list has the usual item for all layers. */
static bool all_usual(const char *key, const roof_json_value *value)
{
    const roof_json_value *item = roof_json_first(value);
    const bool any = item != NULL;
    while (item != NULL && is_usual(key, item)) {
        item = roof_json_next(item);
    }
    return any && item == NULL;
}

/* Refuses a list with the usual items, but not one for each layer. */
static enum roof_status check_length(const struct config *c, const char *key,
                                     const roof_json_value *list)
{
    double layers = 0;
    return !roof_json_number(&layers, roof_config_member(c, "num_hidden_layers")) ||
                   (double)roof_json_count(list) == layers
               ? ROOF_OK
               : roof_json_error(c->json, list, c->error,
                                 "%s must have an item for each of the %.0f layers", key, layers);
}

/* Returns the effect of a key that changes the architecture; NULL: it is not known to do so. */
static const char *changes(const char *key)
{
    for (size_t i = 0; i < COUNT(architecture); i++) {
        if (strcmp(architecture[i].key, key) == 0) {
            return architecture[i].what;
        }
    }
    return NULL;
}

static bool speaks_of_layers(const char *key)
{
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strstr(key, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

void roof_config_add_unknown(struct unknown_keys *out, const roof_json_value *object,
                             const char *const *known, size_t count)
{
    for (const roof_json_value *member = roof_json_first(object); member != NULL;
         member = roof_json_next(member)) {
        const char *const key = roof_json_key(member);
        size_t i = 0;
        if (key == NULL || roof_config_says_nothing(member) ||
            roof_config_key_in(key, known, count)) {
            continue;
        }
        while (i < out->count && strcmp(out->key[i], key) != 0) {
            i++;
        }
        out->more = out->more || i == UNKNOWN_KEYS_MAX;
        if (i == out->count && i < UNKNOWN_KEYS_MAX) {
            out->key[out->count++] = key;
        }
    }
}

enum roof_status roof_config_note_unknown(const struct config *c,
                                          const struct unknown_keys *unknown, const char *name)
{
    struct roof_text text = ROOF_TEXT_INIT;
    for (size_t i = 0; i < unknown->count; i++) {
        roof_text_printf(&text, i == 0 ? "ignored unknown keys of %s: " : ", ", name);
        roof_text_plain(&text, unknown->key[i]);
    }
    roof_text_put(&text, unknown->more ? " and more" : "");
    return roof_model_note_text(c->model, &text, c->error);
}

enum roof_status roof_config_note_members(const struct config *c, const roof_json_value *object,
                                          const char *name, const char *const *known, size_t count)
{
    struct unknown_keys unknown = {.count = 0};
    roof_config_add_unknown(&unknown, object, known, count);
    return roof_config_note_unknown(c, &unknown, name);
}

/* --- NaN and Infinity ---------------------------------------------------------------------- */

/* Sizes of towers that the language model does not have. */
static const char *const tower_sizes[] = {"depth", "image_size", "max_source_positions",
                                          "mlp_ratio", "spatial_merge_size"};

/* Limits of the time step of Mamba, which are infinite in published configs. */
static const char *const time_steps[] = {"time_step_*"};

/* Tells whether a key sets a shape, or may do so. */
static bool sets_shape(const struct config *c, const char *key)
{
    return roof_config_is_size(key) || roof_config_key_in(key, tower_sizes, COUNT(tower_sizes)) ||
           (!roof_config_key_in(key, harmless, COUNT(harmless)) &&
            !roof_config_key_in(key, time_steps, COUNT(time_steps)) &&
            (passes(c, key) || changes(key) != NULL || speaks_of_layers(key)));
}

/* Tells whether the members of an object are read, though they are not of the language model. */
static bool is_part(const char *key)
{
    static const char *const parts[] = {"vision_config", "audio_config"};
    return roof_config_key_in(key, parts, COUNT(parts));
}

/* Refuses NaN and infinities in a value: all if `any`, else those whose key sets a shape. A value
 * in an array has the key of the array. */
static enum roof_status check_finite(const struct config *c, const roof_json_value *value,
                                     const char *key, bool any)
{
    if (roof_json_is_python_word(value) && key != NULL && (any || sets_shape(c, key))) {
        size_t length = 0;
        const char *const text = roof_json_span(c->json, value, &length);
        return roof_json_error(c->json, value, c->error,
                               "%s is %.*s, which is not a value; use null if it has none", key,
                               (int)length, text);
    }
    for (const roof_json_value *item = roof_json_first(value); item != NULL;
         item = roof_json_next(item)) {
        const char *const name = roof_json_is_object(value) ? roof_json_key(item) : key;
        const bool skipped = roof_json_is_object(item) && name != NULL && !is_part(name) &&
                             roof_config_key_in(name, harmless, COUNT(harmless));
        if (!skipped) {
            TRY(check_finite(c, item, name,
                             any || (name != NULL && strcmp(name, "quantization_config") == 0)));
        }
    }
    return ROOF_OK;
}

enum roof_status roof_config_finite(const struct config *c)
{
    return check_finite(c, c->root, NULL, false);
}

/* --- unknown keys -------------------------------------------------------------------------- */

/* Refuses a member, notes it in *unknown, or ignores it. */
static enum roof_status check_member(struct roof_text *unknown, const struct config *c,
                                     const roof_json_value *member)
{
    const char *const key = roof_json_key(member);
    if (roof_config_says_nothing(member) || passes(c, key) || turned_off(c, key) ||
        repeats(c, key)) {
        return ROOF_OK;
    }
    if (all_usual(key, member)) {
        return check_length(c, key, member);
    }
    const char *const changed = changes(key);
    if (changed != NULL) {
        return roof_json_error(c->json, member, c->error, "the key %s is not supported: %s", key,
                               changed);
    }
    if (speaks_of_layers(key) && roof_json_string(member) == NULL) {
        return roof_json_error(
            c->json, member, c->error,
            "the key %s is not known and may change the layers; remove it if it does not", key);
    }
    roof_text_put(unknown, unknown->length == 0 ? "ignored unknown keys: " : ", ");
    roof_text_plain(unknown, key);
    return ROOF_OK;
}

static enum roof_status check_object(struct roof_text *unknown, const struct config *c,
                                     const roof_json_value *object)
{
    for (const roof_json_value *member = roof_json_first(object); member != NULL;
         member = roof_json_next(member)) {
        TRY(check_member(unknown, c, member));
    }
    return ROOF_OK;
}

/* Checks the object of the language model, and the root around it, whose keys also count. */
static enum roof_status check_objects(struct roof_text *unknown, const struct config *c)
{
    TRY(check_object(unknown, c, c->text));
    return c->text == c->root ? ROOF_OK : check_object(unknown, c, c->root);
}

enum roof_status roof_config_keys(const struct config *c)
{
    struct roof_text unknown = ROOF_TEXT_INIT;
    const enum roof_status status = check_objects(&unknown, c);
    if (status != ROOF_OK) {
        roof_text_free(&unknown);
        return status;
    }
    return roof_model_note_text(c->model, &unknown, c->error);
}
