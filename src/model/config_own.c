// SPDX-License-Identifier: MIT
/*
 * Layers that differ in their sizes: heads, the elements of a head, keys and values that later
 * layers use again, MLPs. Sources: huggingface/transformers, configuration_ and modeling_gemma4.py
 * and _laguna.py.
 */
#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "model/config_parts.h"
#include "model/model_make.h"
#include "operator/operator.h"

#define SIZE_MAX_VALUE 1000000000

/* Keys that are read for families whose layers differ in size, or that change no shape in them. */
static const struct {
    unsigned flag;
    const char *key;
} own_keys[] = {{GEMMA4, "global_head_dim"},
                {GEMMA4, "num_global_key_value_heads"},
                {GEMMA4, "attention_k_eq_v"},
                {GEMMA4, "num_kv_shared_layers"},
                {GEMMA4, "use_double_wide_mlp"},
                {GEMMA4, "hidden_size_per_layer_input"},
                {GEMMA4, "vocab_size_per_layer_input"},
                {GEMMA4, "enable_moe_block"},
                {GEMMA4, "use_bidirectional_attention"}, /* of the tokens of an image */
                {GEMMA4, "audio_config"},
                {BLOCKS, "sparse_attention_config"},
                {BLOCKS, "dense_intermediate_size"},
                {BLOCKS, "use_gemma_norm"}, /* a gain of 1 + w: as many elements */
                {BLOCKS, "img_token_compression_config"},
                {COMPRESSED, "compress_ratios"},
                {COMPRESSED, "compress_rope_theta"},
                {COMPRESSED, "hc_mult"},
                {COMPRESSED, "hc_sinkhorn_iters"},
                {COMPRESSED, "num_hash_layers"}, /* experts by a table: the products stay */
                {COMPRESSED, "o_groups"},
                {COMPRESSED, "o_lora_rank"},
                {HEAD_LISTS, "gating"},
                {HEAD_LISTS, "gating_types"},
                {HEAD_LISTS, "mlp_layer_types"},
                {HEAD_LISTS, "num_attention_heads_per_layer"},
                {HEAD_LISTS, "moe_routed_scaling_factor"},
                {HEAD_LISTS, "moe_apply_router_weight_on_input"},
                {HEAD_LISTS, "use_bidirectional_attention"}};

bool roof_config_own_key(const struct config *c, const char *key)
{
    size_t i = 0;
    while (i < COUNT(own_keys) &&
           ((own_keys[i].flag & c->family->flags) == 0 || strcmp(own_keys[i].key, key) != 0)) {
        i++;
    }
    return i < COUNT(own_keys);
}

/* Reads a size that may be absent. */
static enum roof_status read_size(int64_t *out, const struct config *c, const char *key,
                                  int64_t otherwise, int64_t min)
{
    const roof_json_value *const value = roof_config_member(c, key);
    *out = otherwise;
    return value == NULL ? ROOF_OK : roof_config_integer(out, c, value, key, min, SIZE_MAX_VALUE);
}

/* Returns a list with an item for each layer; NULL for any other value. */
static const roof_json_value *list_of_layers(const struct config *c, const char *key,
                                             int64_t layers)
{
    const roof_json_value *const list = roof_config_member(c, key);
    return roof_json_is_array(list) && roof_json_count(list) == (size_t)layers ? list : NULL;
}

static enum roof_status refuse_list(const struct config *c, const char *key, int64_t layers,
                                    const char *items)
{
    const roof_json_value *const list = roof_config_member(c, key);
    return roof_json_error(c->json, list == NULL ? c->text : list, c->error,
                           "%s must be an array with %s for each of the %" PRId64 " layers", key,
                           items, layers);
}

/* --- Gemma 4 ------------------------------------------------------------------------------- */

/* Reads the sizes of layers without a window. A quarter of their heads is rotated. */
static enum roof_status read_global(struct roof_layer *layer, const struct roof_model *m,
                                    struct config *c)
{
    const bool same = roof_config_flag(c, "attention_k_eq_v", false);
    int64_t head_dim = 0;
    int64_t kv_heads = 0;
    TRY(read_size(&head_dim, c, "global_head_dim", 512, 1));
    TRY(read_size(&kv_heads, c, "num_global_key_value_heads", m->kv_heads, 1));
    for (int64_t i = 0; i < m->layers; i++) {
        if (!layer[i].windowed) {
            layer[i].head_dim = (int32_t)head_dim;
            layer[i].rotary_dim = (int32_t)(head_dim / 4);
            layer[i].kv_heads = same ? (int32_t)kv_heads : 0;
            layer[i].value_is_key = same;
        }
    }
    return ROOF_OK;
}

enum roof_status roof_config_gemma4(struct roof_layer *layer, struct reading *r, struct config *c)
{
    struct roof_model *const m = &r->model;
    const bool wide = roof_config_flag(c, "use_double_wide_mlp", false);
    int64_t shared = 0; /* the last layers use keys and values of earlier ones */
    if (m->head_dim == 0 || m->window == 0 || m->intermediate == 0) {
        return roof_json_error(c->json, c->text, c->error,
                               "head_dim, sliding_window or intermediate_size missing, or 0");
    }
    TRY(read_global(layer, m, c));
    TRY(read_size(&shared, c, "num_kv_shared_layers", 0, 0));
    if (shared >= m->layers) {
        return roof_json_error(c->json, roof_config_member(c, "num_kv_shared_layers"), c->error,
                               "num_kv_shared_layers must be less than the %" PRId64 " layers",
                               m->layers);
    }
    for (int64_t i = m->layers - shared; i < m->layers; i++) {
        layer[i].keyless = true;
        layer[i].intermediate = wide ? (int32_t)(2 * m->intermediate) : 0;
    }
    TRY(read_size(&m->layer_embedding, c, "hidden_size_per_layer_input",
                  roof_config_has(c, "hidden_size_per_layer_input") ? 0 : 256, 0));
    TRY(read_size(&m->layer_vocab, c, "vocab_size_per_layer_input", 262144, 1));
    m->value_norm = true;
    m->mlp_beside = roof_config_flag(c, "enable_moe_block", false);
    if (!m->mlp_beside) {
        m->experts = m->top_k = m->expert_intermediate = 0;
    }
    return ROOF_OK;
}

/* --- Gemma 3n ------------------------------------------------------------------------------ */

enum roof_status roof_config_gemma3n(struct roof_layer *layer, struct reading *r,
                                     const struct config *c)
{
    struct roof_model *const m = &r->model;
    int64_t shared = 0; /* the last layers use keys and values of earlier ones */
    TRY(read_size(&shared, c, "num_kv_shared_layers", 15, 0));
    TRY(read_size(&m->altup_streams, c, "altup_num_inputs", 4, 2));
    TRY(read_size(&m->laurel_rank, c, "laurel_rank", 64, 1));
    TRY(read_size(&m->layer_embedding, c, "hidden_size_per_layer_input", 256, 1));
    TRY(read_size(&m->layer_vocab, c, "vocab_size_per_layer_input", 262144, 1));
    if (shared >= m->layers || m->head_dim == 0 || m->window == 0 || m->intermediate == 0) {
        return roof_json_error(c->json, c->text, c->error,
                               "num_kv_shared_layers must be less than the %" PRId64
                               " layers, and head_dim, sliding_window and intermediate_size above "
                               "0",
                               m->layers);
    }
    for (int64_t i = m->layers - shared; i < m->layers; i++) {
        layer[i].keyless = true;
    }
    m->value_norm = true;
    if (shared > 0 && *c->model->notes == NULL) {
        roof_model_note(c->model, "K and V weights of layers that reuse the keys and values of "
                                  "others are not counted: they are never read");
    }
    return ROOF_OK;
}

/* --- MiniMax-M3 ---------------------------------------------------------------------------- */

/* Reads a list of 0 and 1 in sparse_attention_config into flags of the layers. */
static enum roof_status read_flags(bool flags[ROOF_LAYERS_MAX], const struct roof_model *m,
                                   const struct config *c, const roof_json_value *sparse,
                                   const char *key)
{
    const roof_json_value *const list = roof_json_get(sparse, key);
    int64_t i = 0;
    if (!roof_json_is_array(list) || roof_json_count(list) != (size_t)m->layers) {
        return roof_json_error(c->json, list == NULL ? sparse : list, c->error,
                               "%s must be an array with 0 or 1 for each of the %" PRId64 " layers",
                               key, m->layers);
    }
    for (const roof_json_value *item = roof_json_first(list); item != NULL;
         item = roof_json_next(item), i++) {
        int64_t flag = 0;
        TRY(roof_config_integer(&flag, c, item, key, 0, 1));
        flags[i] = flag > 0;
    }
    return ROOF_OK;
}

/* Reads the sizes of the indexer that chooses blocks. */
static enum roof_status read_indexer(struct roof_model *m, const struct config *c,
                                     const roof_json_value *sparse)
{
    const struct {
        const char *key;
        int64_t *out;
    } sizes[] = {{"sparse_num_index_heads", &m->index_heads},
                 {"sparse_index_dim", &m->index_head_dim},
                 {"sparse_topk_blocks", &m->block_topk},
                 {"sparse_block_size", &m->block_keys}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const roof_json_value *const value = roof_json_get(sparse, sizes[i].key);
        if (value == NULL) {
            return roof_json_error(c->json, sparse, c->error, "%s is missing", sizes[i].key);
        }
        TRY(roof_config_integer(sizes[i].out, c, value, sizes[i].key, 1, 1000000));
    }
    return m->index_head_dim % 2 == 0
               ? ROOF_OK
               : roof_json_error(c->json, sparse, c->error, "sparse_index_dim must be even");
}

/* Refuses layers whose indexer has values, too: no published model has them. */
static enum roof_status check_values(const struct roof_layer *layer, const struct roof_model *m,
                                     const struct config *c, const roof_json_value *sparse)
{
    static const char key[] = "sparse_disable_index_value";
    bool disabled[ROOF_LAYERS_MAX] = {false};
    if (roof_json_get(sparse, key) != NULL) {
        TRY(read_flags(disabled, m, c, sparse, key));
    }
    for (int64_t i = 0; i < m->layers; i++) {
        if (layer[i].blocks && !disabled[i]) {
            return roof_json_error(c->json, sparse, c->error,
                                   "an indexer with values (%s 0) is not known", key);
        }
    }
    return ROOF_OK;
}

enum roof_status roof_config_blocks(struct roof_layer *layer, struct reading *r, struct config *c)
{
    static const char *const known[] = {
        "use_sparse_attention",
        "sparse_block_size",
        "sparse_topk_blocks",
        "sparse_num_index_heads",
        "sparse_index_dim",
        "sparse_attention_freq",
        "sparse_disable_index_value",
        "sparse_score_type",
        /* these blocks are among the chosen ones: */ "sparse_init_block",
        "sparse_local_block"};
    struct roof_model *const m = &r->model;
    const roof_json_value *const sparse = roof_config_member(c, "sparse_attention_config");
    bool chosen[ROOF_LAYERS_MAX] = {false};
    bool used = true;
    (void)roof_json_boolean(&used, roof_json_get(sparse, "use_sparse_attention"));
    /* `intermediate_size` is that of an expert. */
    m->expert_intermediate = m->expert_intermediate > 0 ? m->expert_intermediate : m->intermediate;
    TRY(read_size(&m->intermediate, c, "dense_intermediate_size", m->intermediate, 1));
    roof_config_drop_predictors(r, c);
    if (sparse == NULL || !used) {
        return ROOF_OK;
    }
    TRY(roof_json_only(c->json, sparse, known, COUNT(known), c->error));
    TRY(read_indexer(m, c, sparse));
    TRY(read_flags(chosen, m, c, sparse, "sparse_attention_freq"));
    for (int64_t i = 0; i < m->layers; i++) {
        layer[i].blocks = chosen[i];
    }
    return check_values(layer, m, c, sparse);
}

/* --- DeepSeek-V4 --------------------------------------------------------------------------- */

/* Reads the number of tokens of a compressed key in each layer; the layers for multi-token
 * prediction may also have numbers. */
static enum roof_status read_ratios(struct roof_layer *layer, const struct roof_model *m,
                                    const struct config *c, int64_t predictors)
{
    static const char key[] = "compress_ratios";
    static const char items[] = "0, 4 or 128";
    const roof_json_value *const list = roof_config_member(c, key);
    const size_t count = roof_json_is_array(list) ? roof_json_count(list) : 0;
    int64_t i = 0;
    if (count < (size_t)m->layers || count > (size_t)(m->layers + predictors)) {
        return refuse_list(c, key, m->layers, items);
    }
    for (const roof_json_value *item = roof_json_first(list); item != NULL;
         item = roof_json_next(item), i++) {
        int64_t ratio = 0;
        TRY(roof_config_integer(&ratio, c, item, key, 0, 128));
        if (ratio != 0 && ratio != 4 && ratio != 128) {
            return refuse_list(c, key, m->layers, items);
        }
        if (i < m->layers) {
            layer[i].ratio = (int32_t)ratio;
            layer[i].windowed = true;
        }
    }
    return ROOF_OK;
}

enum roof_status roof_config_compressed(struct roof_layer *layer, struct reading *r,
                                        struct config *c)
{
    struct roof_model *const m = &r->model;
    TRY(read_size(&m->streams, c, "hc_mult", 4, 1));
    TRY(read_size(&m->out_groups, c, "o_groups", 8, 1));
    TRY(read_size(&m->out_rank, c, "o_lora_rank", 1024, 1));
    const roof_json_value *const format = roof_config_member(c, "expert_dtype");
    const char *const experts = roof_json_string(format);
    if (format != NULL &&
        (experts == NULL || (strcmp(experts, "fp4") != 0 && strcmp(experts, "fp8") != 0))) {
        return roof_json_error(c->json, format, c->error,
                               "expert_dtype: only fp4 and fp8 are known");
    }
    m->fp4_experts = experts != NULL && strcmp(experts, "fp4") == 0;
    if (m->head_dim == 0 || m->window == 0 || m->q_lora_rank == 0 || m->kv_heads != 1 ||
        m->qk_rope_head_dim == 0 || m->head_dim % 2 != 0 || m->index_heads == 0 ||
        m->index_head_dim == 0 || m->index_topk == 0 || m->heads % m->out_groups != 0) {
        return roof_json_error(c->json, c->text, c->error,
                               "compressed attention needs head_dim (even), sliding_window, "
                               "q_lora_rank, qk_rope_head_dim, index_n_heads, index_head_dim, "
                               "index_topk, num_key_value_heads 1, and o_groups that divide "
                               "num_attention_heads");
    }
    m->key_is_value = true;
    /* The class has one module unless the config says otherwise. */
    const int64_t predictors = roof_config_has_size(c, M(predict_layers)) ? m->predict_layers : 1;
    roof_config_drop_predictors(r, c);
    return read_ratios(layer, m, c, predictors);
}

/* --- LongCat-Flash ------------------------------------------------------------------------- */

/* Reads the number of experts that compute nothing: a token chooses among all experts, and the
 * share of the others determines how many compute. Source: huggingface/transformers,
 * modular_longcat_flash.py. */
static enum roof_status read_zero_experts(struct roof_model *m, const struct config *c)
{
    const roof_json_value *const type = roof_config_member(c, "zero_expert_type");
    const char *const word = roof_json_string(type);
    TRY(read_size(&m->zero_experts, c, "zero_expert_num", 256, 0));
    if (type != NULL && (word == NULL || strcmp(word, "identity") != 0)) {
        return roof_json_error(c->json, type, c->error, "zero_expert_type: only identity is known");
    }
    const int64_t all = m->experts + m->zero_experts;
    if (m->top_k > all || m->top_k * m->experts % all != 0) {
        return roof_json_error(c->json, c->text, c->error,
                               "moe_topk x n_routed_experts / (n_routed_experts + "
                               "zero_expert_num), the experts that compute for a token, must be a "
                               "whole number");
    }
    m->top_k = m->top_k * m->experts / all;
    if (m->zero_experts > 0 && *c->model->notes == NULL) {
        roof_model_note(
            c->model, "the experts per token are an average, because a token also chooses experts "
                      "that compute nothing");
    }
    return ROOF_OK;
}

enum roof_status roof_config_doubled(struct roof_layer *layer, struct reading *r,
                                     const struct config *c)
{
    struct roof_model *const m = &r->model;
    for (int64_t i = 1; i < m->layers; i += 2) {
        layer[i].moe = false;
    }
    m->shared_intermediate = m->intermediate; /* the dense MLP parallel to the experts */
    return read_zero_experts(m, c);
}

/* --- lists of heads (Laguna) --------------------------------------------------------------- */

/* Reads the heads of each layer. */
static enum roof_status read_heads(struct roof_layer *layer, const struct roof_model *m,
                                   const struct config *c)
{
    static const char key[] = "num_attention_heads_per_layer";
    const roof_json_value *const list = list_of_layers(c, key, m->layers);
    int64_t i = 0;
    if (list == NULL) {
        return roof_config_member(c, key) == NULL ? ROOF_OK
                                                  : refuse_list(c, key, m->layers, "a number");
    }
    for (const roof_json_value *item = roof_json_first(list); item != NULL;
         item = roof_json_next(item), i++) {
        int64_t heads = 0;
        TRY(roof_config_integer(&heads, c, item, key, 1, 1000000));
        layer[i].heads = heads == m->heads ? 0 : (int32_t)heads;
    }
    return ROOF_OK;
}

/* Reads which layers have experts. */
static enum roof_status read_mlp_types(struct roof_layer *layer, const struct roof_model *m,
                                       const struct config *c)
{
    static const char key[] = "mlp_layer_types";
    const roof_json_value *const list = list_of_layers(c, key, m->layers);
    int64_t i = 0;
    if (list == NULL) {
        return roof_config_member(c, key) == NULL
                   ? ROOF_OK
                   : refuse_list(c, key, m->layers, "dense or sparse");
    }
    for (const roof_json_value *item = roof_json_first(list); item != NULL;
         item = roof_json_next(item), i++) {
        const char *const word = roof_json_string(item);
        if (word == NULL || (strcmp(word, "dense") != 0 && strcmp(word, "sparse") != 0)) {
            return refuse_list(c, key, m->layers, "dense or sparse");
        }
        layer[i].moe = layer[i].moe && strcmp(word, "sparse") == 0;
    }
    return ROOF_OK;
}

/* --- native sparse attention --------------------------------------------------------------- */

/* The class rounds the width of an MLP that it finds itself up to a multiple of this. */
#define WIDTH_UNIT 256

/* The defaults are those of fla-org/flash-linear-attention, configuration_nsa.py, and the width of
 * the MLP that of modules/mlp.py (GatedMLP). */
enum roof_status roof_config_native_sparse(struct reading *r, struct config *c)
{
    struct roof_model *const m = &r->model;
    int64_t ratio = 0;
    TRY(read_size(&m->block_keys, c, "block_size", 64, 1));
    TRY(read_size(&m->block_topk, c, "block_counts", 16, 1));
    TRY(read_size(&m->window, c, "window_size", 512, 1));
    TRY(read_size(&ratio, c, "hidden_ratio", 4, 1));
    if (m->block_topk > ROOF_DIMENSION_MAX / m->block_keys) {
        return roof_json_error(c->json, roof_config_member(c, "block_counts"), c->error,
                               "block_size times block_counts must be at most %.0f",
                               (double)ROOF_DIMENSION_MAX);
    }
    m->native_sparse = true;
    m->qkv_bias = roof_config_flag(c, "qkv_bias", false);
    m->mixer.chunk = 0; /* block_size is that of a scan in other families */
    if (m->intermediate == 0 && ratio <= 1000 && m->hidden <= 1000000000) {
        const int64_t width = m->hidden * ratio * 2 / 3;
        m->intermediate = roof_divide_up(width, WIDTH_UNIT) * WIDTH_UNIT;
    }
    return ROOF_OK;
}

/* --- layers that attend to images (Llama 3.2 Vision) --------------------------------------- */

/* The embedding of its class has so many rows more than the vocabulary, one of which is that of an
 * image: huggingface/transformers, modeling_mllama.py (MllamaTextModel). */
#define CROSSED_ROWS 8

enum roof_status roof_config_crossed(struct roof_layer *layer, struct reading *r,
                                     const struct config *c)
{
    static const char key[] = "cross_attention_layers";
    struct roof_model *const m = &r->model;
    const roof_json_value *const list = roof_config_member(c, key);
    if (!roof_json_is_array(list) || roof_json_count(list) == 0) {
        return roof_json_error(c->json, list == NULL ? c->text : list, c->error,
                               "%s must be an array with the numbers of layers", key);
    }
    for (const roof_json_value *item = roof_json_first(list); item != NULL;
         item = roof_json_next(item)) {
        int64_t i = 0;
        TRY(roof_config_integer(&i, c, item, key, 0, m->layers - 1));
        layer[i].crossed = layer[i].no_rope = true;
    }
    m->extra_rows = CROSSED_ROWS;
    return ROOF_OK;
}

/* --- heads and MLPs by lists (Laguna) ------------------------------------------------------ */

/* Tells whether a value says that there is a gate for each head. */
static bool gates_heads(const roof_json_value *value)
{
    const char *const word = roof_json_string(value);
    bool flag = false;
    return (roof_json_boolean(&flag, value) && flag) ||
           (word != NULL && (strcmp(word, "per-head") == 0 || strcmp(word, "per_head") == 0));
}

enum roof_status roof_config_head_lists(struct roof_layer *layer, struct reading *r,
                                        const struct config *c)
{
    const roof_json_value *const gating = roof_config_member(c, "gating");
    const roof_json_value *const types = roof_config_member(c, "gating_types");
    const roof_json_value *bad = gates_heads(gating) ? NULL : gating;
    for (const roof_json_value *item = roof_json_first(types); item != NULL;
         item = roof_json_next(item)) {
        bad = bad == NULL && !gates_heads(item) ? item : bad;
    }
    if (bad != NULL || gating == NULL) {
        return roof_json_error(c->json, bad == NULL ? c->text : bad, c->error,
                               "gating: only true and per-head are known");
    }
    if (types != NULL && list_of_layers(c, "gating_types", r->model.layers) == NULL) {
        return refuse_list(c, "gating_types", r->model.layers, "per-head");
    }
    r->model.head_gate = true;
    return read_heads(layer, &r->model, c);
}

enum roof_status roof_config_own_experts(struct roof_layer *layer, const struct roof_model *m,
                                         const struct config *c)
{
    return (c->family->flags & HEAD_LISTS) != 0 ? read_mlp_types(layer, m, c) : ROOF_OK;
}
