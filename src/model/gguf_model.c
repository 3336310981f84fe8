// SPDX-License-Identifier: MIT
#include "model/gguf_model.h"

#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "base/character.h"
#include "base/text.h"
#include "model/gguf_architecture.h"
#include "model/gguf_family.h"
#include "model/model_make.h"
#include "model/weights.h"

#define BAD ROOF_GGUF_BAD
#define BIT ROOF_WEIGHT_BIT

/* --- from metadata ------------------------------------------------------------------------- */

static enum roof_status check_metadata(struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    if (m->architecture[0] == '\0' || !roof_gguf_ascii(m->architecture)) {
        return BAD(&g->stream, "not the GGUF of a model: general.architecture is missing");
    }
    const struct {
        const char *name;
        int64_t value;
    } required[] = {{"block_count", m->layers},
                    {"embedding_length", m->hidden},
                    {"attention.head_count", m->heads}};
    for (size_t i = 0; i < COUNT(required); i++) {
        if (required[i].value == 0) {
            return BAD(&g->stream, "not the GGUF of a decoder: %s.%s is missing, or 0",
                       m->architecture, required[i].name);
        }
    }
    if (m->extra_layers >= m->layers) {
        return BAD(&g->stream,
                   "nextn_predict_layers must be below the %" PRId64
                   " of block_count, which has them in it, not %" PRId64,
                   m->layers, m->extra_layers);
    }
    if (m->key_length == 0 && m->hidden % m->heads != 0 && !m->mixed) {
        return BAD(&g->stream,
                   "attention.key_length is missing, and embedding_length %" PRId64
                   " is no multiple of attention.head_count %" PRId64,
                   m->hidden, m->heads);
    }
    return ROOF_OK;
}

static enum roof_status put_latent_heads(struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    struct roof_model *const to = g->model;
    const int64_t per_head = m->hidden / m->heads;
    const int64_t key = m->key_length_mla > 0 ? m->key_length_mla
                        : m->key_length > 0   ? m->key_length
                                              : per_head;
    const int64_t value = m->value_length_mla > 0 ? m->value_length_mla
                          : m->value_length > 0   ? m->value_length
                                                  : per_head;
    if (m->rotary_dim == 0 || m->rotary_dim >= key) {
        return BAD(&g->stream,
                   "rope.dimension_count must be 1 to %" PRId64 " in a model with "
                   "attention.kv_lora_rank, not %" PRId64,
                   key - 1, m->rotary_dim);
    }
    to->head_dim = key;
    to->kv_heads = m->heads;
    to->qk_rope_head_dim = m->rotary_dim;
    to->qk_nope_head_dim = key - m->rotary_dim;
    to->v_head_dim = value;
    return ROOF_OK;
}

static enum roof_status put_heads(struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    struct roof_model *const to = g->model;
    to->kv_heads = m->kv_heads > 0 ? m->kv_heads : m->heads;
    to->head_dim = m->key_length > 0 ? m->key_length : m->hidden / m->heads;
    to->rotary_dim = m->rotary_dim > 0 ? m->rotary_dim : to->head_dim;
    if (m->value_length > 0 && m->value_length != to->head_dim) {
        return BAD(&g->stream,
                   "attention.value_length is %" PRId64 " and attention.key_length %" PRId64
                   "; they must be equal",
                   m->value_length, to->head_dim);
    }
    if (to->rotary_dim > to->head_dim) {
        return BAD(&g->stream,
                   "rope.dimension_count must be at most the head's %" PRId64 ", not %" PRId64,
                   to->head_dim, to->rotary_dim);
    }
    return ROOF_OK;
}

enum roof_status roof_gguf_begin_model(struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    struct roof_model *const to = g->model;
    TRY(check_metadata(g));
    TRY(roof_gguf_check_architecture(g));
    to->hidden = m->hidden;
    to->vocab = m->vocab;
    to->layers = m->layers;
    to->heads = m->heads;
    to->intermediate = m->intermediate;
    to->positions = m->positions;
    to->window = m->window;
    to->q_lora_rank = m->q_lora_rank;
    to->kv_lora_rank = m->kv_lora_rank;
    to->experts = m->experts;
    to->top_k = m->top_k;
    to->expert_intermediate = m->expert_intermediate;
    roof_layers_clear(g->layer, ROOF_LAYERS_MAX);
    if (m->mixed) {
        return ROOF_OK;
    }
    return m->kv_lora_rank > 0 ? put_latent_heads(g) : put_heads(g);
}

/* --- from tensors -------------------------------------------------------------------------- */

/* Refuses a layer without one of its matrices: it belongs to a model that is not described here. */
static enum roof_status check_block(struct roof_gguf *g, int64_t number)
{
    const struct roof_model *const m = g->model;
    const struct roof_gguf_block *const block = &g->block[number];
    const bool moe = (block->weights & BIT(ROUTER)) != 0;
    const unsigned missing = roof_weights_needed(m, moe) & ~block->weights;
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((missing & (1U << w)) != 0) {
            return BAD(&g->stream,
                       "blk.%" PRId64 ".%s is missing: the file is not complete, or its layers "
                       "are not of attention and MLP alone",
                       number, roof_gguf_weight_name((enum roof_weight)w));
        }
    }
    if (moe && (block->weights & (BIT(UP) | BIT(DOWN))) != 0) {
        return roof_gguf_refuse(g, "an MLP parallel to the experts of a block");
    }
    if (m->kv_lora_rank > 0 && !roof_gguf_has(block, ROOF_GGUF_KV_B) &&
        roof_gguf_has(block, ROOF_GGUF_K_B) != roof_gguf_has(block, ROOF_GGUF_V_B)) {
        return BAD(&g->stream, "blk.%" PRId64 " has only one of attn_k_b and attn_v_b", number);
    }
    return ROOF_OK;
}

/* Every n-th layer sees all keys, the others the last `window`; 0: every layer is windowed. This is
 * what llama.cpp assumes for each architecture when the file has no pattern of its own. */
static const struct {
    const char *architecture;
    int64_t pattern;
} patterns[] = {
    {"gemma2", 2}, {"gemma3", 6},  {"gpt-oss", 2},  {"cohere2", 4}, {"exaone4", 4},    {"olmo2", 4},
    {"llama", 0},  {"mistral", 0}, {"mistral3", 0}, {"phi3", 0},    {"starcoder2", 0},
};

static enum roof_status put_windows(struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    if (m->window == 0) {
        return ROOF_OK;
    }
    if (m->windows > 0 && m->windows != m->layers) {
        return BAD(&g->stream,
                   "attention.sliding_window_pattern has %" PRId64 " entries for %" PRId64
                   " layers",
                   m->windows, m->layers);
    }
    int64_t pattern = m->window_pattern;
    bool known = pattern > 0 || m->windows > 0;
    for (size_t i = 0; i < COUNT(patterns) && !known; i++) {
        if (strcmp(patterns[i].architecture, m->architecture) == 0) {
            pattern = patterns[i].pattern;
            known = true;
        }
    }
    if (!known) {
        return roof_gguf_refuse(
            g, "attention.sliding_window without a pattern of the layers that have it");
    }
    for (int64_t i = 0; i < g->model->layers; i++) {
        g->layer[i].windowed =
            m->windows > 0 ? m->windowed[i] : pattern == 0 || (i + 1) % pattern != 0;
    }
    return ROOF_OK;
}

static void put_norms(struct roof_gguf *g)
{
    const struct roof_gguf_block *const first = &g->block[0];
    struct roof_model *const m = g->model;
    const bool before_attention = roof_gguf_has(first, ROOF_GGUF_ATTN_NORM);
    const bool after_attention = roof_gguf_has(first, ROOF_GGUF_POST_ATTENTION_NORM);
    const bool before_mlp = roof_gguf_has(first, ROOF_GGUF_FFN_NORM);
    const bool after_mlp = roof_gguf_has(first, ROOF_GGUF_POST_FFW_NORM);
    m->norm_gain = before_attention || before_mlp || after_mlp;
    m->layernorm = m->layernorm || (!m->norm_gain && g->metadata.layer_norm != 0);
    /* Some architectures call the norm before the MLP post_attention_norm. */
    m->post_norms = before_mlp && after_attention && after_mlp;
    m->parallel =
        g->metadata.parallel != 0 || (before_attention && !before_mlp && !after_attention);
    m->own_norms = m->parallel && before_mlp;
}

/* Leaves out the last layers if they are for multi-token prediction. */
static void drop_extra_layers(struct roof_gguf *g)
{
    struct roof_model *const m = g->model;
    m->layers -= g->metadata.extra_layers;
    while (m->layers > 1 && g->block[m->layers - 1].predicts) {
        m->layers--; /* the metadata may lack it */
    }
    m->predict_layers = g->metadata.layers - m->layers;
    if (m->predict_layers > 0) {
        roof_model_note_predictors(m);
    }
}

static enum roof_status put_layers(struct roof_gguf *g)
{
    struct roof_model *const m = g->model;
    drop_extra_layers(g);
    uint64_t bytes = g->bytes;
    bool moe = false;
    for (int64_t i = 0; i < m->layers; i++) {
        const struct roof_gguf_block *const block = &g->block[i];
        TRY(check_block(g, i));
        /* A block with both halves of kv_b has it as a copy. */
        const bool halves =
            roof_gguf_has(block, ROOF_GGUF_K_B) && roof_gguf_has(block, ROOF_GGUF_V_B);
        bytes += block->bytes + (halves ? 0 : block->kv_b_bytes);
        g->layer[i].moe = (block->weights & BIT(ROUTER)) != 0;
        moe = moe || g->layer[i].moe;
    }
    if (!moe && m->experts > 0) {
        return BAD(&g->stream,
                   "expert_count is %" PRId64 ", but no block has experts (ffn_gate_inp.weight)",
                   m->experts);
    }
    if (!moe) {
        m->top_k = m->expert_intermediate = 0;
    }
    m->file_bytes = (double)bytes;
    return put_windows(g);
}

static void put_outside(struct roof_gguf *g)
{
    struct roof_model *const m = g->model;
    m->tied = m->format[ROOF_WEIGHT_LM_HEAD] == ROOF_PRECISION_AUTO;
    if (m->tied) {
        m->format[ROOF_WEIGHT_LM_HEAD] = m->format[ROOF_WEIGHT_EMBEDDING];
    }
    if (m->position_rows > 0 || g->metadata.alibi != 0) {
        m->rotary_dim = 0;
    }
    m->stored = true;
}

/* Names the vectors that are not counted. */
static enum roof_status note_unknown(struct roof_gguf *g, struct roof_error *error)
{
    struct roof_text remark = ROOF_TEXT_INIT;
    const size_t count = g->unknown_count;
    for (size_t i = 0; i < count && i < ROOF_GGUF_UNKNOWN_MAX; i++) {
        roof_text_printf(&remark, "%s%s",
                         i == 0 ? "unknown vectors of the file are not counted: " : ", ",
                         g->unknown[i]);
    }
    if (count > ROOF_GGUF_UNKNOWN_MAX) {
        roof_text_put(&remark, " and others");
    }
    return roof_model_note_text(g->model, &remark, error);
}

/* Keeps valid UTF-8; other bytes and control characters become question marks. */
static void make_printable(char *text)
{
    for (size_t length = 0; *text != '\0'; text += length) {
        length = roof_control(text) > 0 ? 0 : roof_utf8(text, 4);
        if (length == 0) {
            *text = '?';
            length = 1;
        }
    }
}

static enum roof_status put_names(struct roof_gguf *g, const char *path, struct roof_error *error)
{
    struct roof_model *const m = g->model;
    m->id = roof_model_own(m, strdup(path));
    make_printable(g->metadata.name);
    m->name = g->metadata.name[0] == '\0' ? m->id : roof_model_own(m, strdup(g->metadata.name));
    return m->id == NULL || m->name == NULL ? roof_no_memory(error) : ROOF_OK;
}

static enum roof_status put_plain(struct roof_gguf *g)
{
    put_norms(g);
    put_outside(g);
    return put_layers(g);
}

enum roof_status roof_gguf_finish_model(struct roof_gguf *g, const char *path,
                                        struct roof_error *error)
{
    if (g->model->format[ROOF_WEIGHT_EMBEDDING] == ROOF_PRECISION_AUTO) {
        return BAD(&g->stream, "token_embd.weight is missing: not the GGUF of a whole model");
    }
    TRY(g->metadata.mixed ? roof_gguf_put_mixed(g, error) : put_plain(g));
    roof_gguf_note_architecture(g);
    TRY(note_unknown(g, error));
    TRY(put_names(g, path, error));
    return roof_model_finish(g->model, g->layer, path, error);
}
