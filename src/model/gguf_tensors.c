// SPDX-License-Identifier: MIT
#include "model/gguf_tensors.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "model/gguf_architecture.h"
#include "model/weights.h"

#define DIMENSIONS_MAX 4

#define BAD ROOF_GGUF_BAD
#define BIT ROOF_WEIGHT_BIT

/* --- tables -------------------------------------------------------------------------------- */

#define TYPE(id, precision) [id] = ROOF_PRECISION_##precision + 1

/* The formats of enum ggml_type (ggml.h), plus 1; 0 stands for none. */
static const int8_t tensor_types[] = {
    TYPE(0, FP32),    TYPE(1, FP16),     TYPE(2, Q4_0),   TYPE(3, Q4_1),    TYPE(6, Q5_0),
    TYPE(7, Q5_1),    TYPE(8, Q8_0),     TYPE(9, Q8_1),   TYPE(10, Q2_K),   TYPE(11, Q3_K),
    TYPE(12, Q4_K),   TYPE(13, Q5_K),    TYPE(14, Q6_K),  TYPE(15, Q8_K),   TYPE(16, IQ2_XXS),
    TYPE(17, IQ2_XS), TYPE(18, IQ3_XXS), TYPE(19, IQ1_S), TYPE(20, IQ4_NL), TYPE(21, IQ3_S),
    TYPE(22, IQ2_S),  TYPE(23, IQ4_XS),  TYPE(24, INT8),  TYPE(28, FP64),   TYPE(29, IQ1_M),
    TYPE(30, BF16),   TYPE(34, TQ1_0),   TYPE(35, TQ2_0), TYPE(39, MXFP4),  TYPE(40, NVFP4),
    TYPE(41, Q1_0),   TYPE(42, Q2_0),
};
#define TENSOR_TYPES "0 to 3, 6 to 24, 28 to 30, 34, 35 and 39 to 42"

struct tensor {
    char name[ROOF_GGUF_NAME_MAX + 1];
    int rank;
    int64_t size[DIMENSIONS_MAX]; /* the first varies fastest: columns, rows, experts */
    int64_t elements;
    enum roof_precision format;
    uint64_t bytes;
    uint64_t offset;
};

/* How the shape of a tensor is checked. */
enum kind {
    VECTOR, /* norms and biases: not at all */
    MATRIX, /* rows and columns of its weights together */
    STACK,  /* a matrix for each expert */
    KEYS,   /* the half of kv_b that makes keys */
    VALUES, /* the half that makes values */
    POSITIONS
};

#define F(field) offsetof(struct roof_model, field)

struct slot {
    const char *name;
    unsigned weights; /* bits; fused projections have several */
    enum kind kind;
    size_t flag; /* the field of the model that it sets when it is there, or 0 */
};

static const struct slot block_slots[] = {
    [ROOF_GGUF_ATTN_NORM] = {"attn_norm.weight", BIT(NORM), VECTOR, 0},
    [ROOF_GGUF_FFN_NORM] = {"ffn_norm.weight", BIT(NORM), VECTOR, 0},
    [ROOF_GGUF_POST_ATTENTION_NORM] = {"post_attention_norm.weight", BIT(NORM), VECTOR, 0},
    [ROOF_GGUF_POST_FFW_NORM] = {"post_ffw_norm.weight", BIT(NORM), VECTOR, 0},
    [ROOF_GGUF_KV_B] = {"attn_kv_b.weight", BIT(KV_B), MATRIX, 0},
    [ROOF_GGUF_K_B] = {"attn_k_b.weight", BIT(KV_B), KEYS, 0},
    [ROOF_GGUF_V_B] = {"attn_v_b.weight", BIT(KV_B), VALUES, 0},
    {"attn_norm.bias", BIT(NORM), VECTOR, F(layernorm)},
    {"attn_norm_2.weight", BIT(NORM), VECTOR, 0},
    {"attn_norm_2.bias", BIT(NORM), VECTOR, 0},
    {"ffn_norm.bias", BIT(NORM), VECTOR, 0},
    {"attn_q.weight", BIT(Q), MATRIX, 0},
    {"attn_k.weight", BIT(K), MATRIX, 0},
    {"attn_v.weight", BIT(V), MATRIX, 0},
    {"attn_qkv.weight", BIT(Q) | BIT(K) | BIT(V), MATRIX, 0},
    {"attn_output.weight", BIT(O), MATRIX, 0},
    {"attn_q.bias", BIT(NORM), VECTOR, F(qkv_bias)},
    {"attn_k.bias", BIT(NORM), VECTOR, 0},
    {"attn_v.bias", BIT(NORM), VECTOR, 0},
    {"attn_qkv.bias", BIT(NORM), VECTOR, F(qkv_bias)},
    {"attn_output.bias", BIT(NORM), VECTOR, F(o_bias)},
    {"attn_q_norm.weight", BIT(NORM), VECTOR, F(qk_norm)},
    {"attn_k_norm.weight", BIT(NORM), VECTOR, 0},
    {"attn_q_norm.bias", BIT(NORM), VECTOR, 0},
    {"attn_k_norm.bias", BIT(NORM), VECTOR, 0},
    {"attn_sinks.weight", BIT(NORM), VECTOR, F(sinks)},
    {"attn_q_a.weight", BIT(Q_A), MATRIX, 0},
    {"attn_q_a_norm.weight", BIT(NORM), VECTOR, 0},
    {"attn_q_b.weight", BIT(Q_B), MATRIX, 0},
    {"attn_kv_a_mqa.weight", BIT(KV_A), MATRIX, 0},
    {"attn_kv_a_norm.weight", BIT(NORM), VECTOR, 0},
    {"ffn_gate.weight", BIT(GATE), MATRIX, F(gated)},
    {"ffn_up.weight", BIT(UP), MATRIX, 0},
    {"ffn_down.weight", BIT(DOWN), MATRIX, 0},
    {"ffn_gate.bias", BIT(NORM), VECTOR, 0},
    {"ffn_up.bias", BIT(NORM), VECTOR, F(mlp_bias)},
    {"ffn_down.bias", BIT(NORM), VECTOR, 0},
    {"ffn_gate_inp.weight", BIT(ROUTER), MATRIX, 0},
    {"ffn_gate_inp.bias", BIT(NORM), VECTOR, F(router_bias)},
    {"exp_probs_b.bias", BIT(NORM), VECTOR, F(router_bias)},
    {"ffn_gate_exps.weight", BIT(EXPERT_GATE), STACK, F(gated)},
    {"ffn_up_exps.weight", BIT(EXPERT_UP), STACK, 0},
    {"ffn_down_exps.weight", BIT(EXPERT_DOWN), STACK, 0},
    {"ffn_gate_up_exps.weight", BIT(EXPERT_GATE) | BIT(EXPERT_UP), STACK, F(gated)},
    {"ffn_gate_exps.bias", BIT(NORM), VECTOR, F(expert_bias)},
    {"ffn_up_exps.bias", BIT(NORM), VECTOR, F(expert_bias)},
    {"ffn_down_exps.bias", BIT(NORM), VECTOR, F(expert_bias)},
    {"ffn_gate_up_exps.bias", BIT(NORM), VECTOR, F(expert_bias)},
    {"ffn_gate_shexp.weight", BIT(SHARED_GATE), MATRIX, F(gated)},
    {"ffn_up_shexp.weight", BIT(SHARED_UP), MATRIX, 0},
    {"ffn_down_shexp.weight", BIT(SHARED_DOWN), MATRIX, 0},
    {"ffn_gate_inp_shexp.weight", BIT(NORM), VECTOR, F(shared_gate)},
    {"post_attention_norm.bias", BIT(NORM), VECTOR, 0},
};

static_assert(COUNT(block_slots) <= 64, "their presence is kept as bits");

/* A table of integers of 32 bits, which says the experts of each token. */
#define EXPERT_TABLE "ffn_gate_tid2eid.weight"
#define TABLE_TYPE 26

/* The tensors of blocks that only mixed architectures have. Source of all names:
 * ggml-org/llama.cpp, gguf-py/gguf/constants.py (TENSOR_NAMES). */
static const struct slot part_slots[] = {
    /* an indexer */
    {"indexer.attn_q_b.weight", BIT(INDEX), MATRIX, 0},
    {"indexer.attn_k.weight", BIT(INDEX), MATRIX, 0},
    {"indexer.proj.weight", BIT(INDEX), MATRIX, 0},
    {"indexer.q_proj.weight", BIT(INDEX), MATRIX, 0}, /* of blocks */
    {"indexer.k_proj.weight", BIT(INDEX), MATRIX, 0},
    {"indexer.q_norm.weight", BIT(NORM), VECTOR, 0},
    {"indexer.k_norm.weight", BIT(NORM), VECTOR, 0},
    {"indexer.k_norm.bias", BIT(NORM), VECTOR, 0},
    /* compressed keys, and streams of the residual (DeepSeek-V4) */
    {"attn_kv.weight", BIT(KV_A), MATRIX, 0},
    {"attn_output_a.weight", BIT(O), MATRIX, 0},
    {"attn_output_b.weight", BIT(O), MATRIX, 0},
    {"attn_compressor_kv.weight", BIT(COMPRESS), MATRIX, 0},
    {"attn_compressor_gate.weight", BIT(COMPRESS), MATRIX, 0},
    {"attn_compressor_ape.weight", BIT(NORM), VECTOR, 0},
    {"attn_compressor_norm.weight", BIT(NORM), VECTOR, 0},
    {"indexer_compressor_kv.weight", BIT(COMPRESS), MATRIX, 0},
    {"indexer_compressor_gate.weight", BIT(COMPRESS), MATRIX, 0},
    {"indexer_compressor_ape.weight", BIT(NORM), VECTOR, 0},
    {"indexer_compressor_norm.weight", BIT(NORM), VECTOR, 0},
    {"hc_attn_fn.weight", BIT(NORM), MATRIX, 0},
    {"hc_attn_base.weight", BIT(NORM), VECTOR, 0},
    {"hc_attn_scale.weight", BIT(NORM), VECTOR, 0},
    {"hc_ffn_fn.weight", BIT(NORM), MATRIX, 0},
    {"hc_ffn_base.weight", BIT(NORM), VECTOR, 0},
    {"hc_ffn_scale.weight", BIT(NORM), VECTOR, 0},
    {EXPERT_TABLE, BIT(NORM), VECTOR, 0},
    /* a state; Mamba has ssm_x and ssm_dt, gated delta nets attn_gate, ssm_ba, ssm_alpha and
       ssm_beta, Kimi's those of low rank */
    {"ssm_in.weight", BIT(MIXER_IN), MATRIX, 0},
    {"ssm_x.weight", BIT(MIXER_LOW), MATRIX, 0},
    {"ssm_dt.weight", BIT(MIXER_LOW), MATRIX, 0},
    {"attn_gate.weight", BIT(MIXER_IN), MATRIX, 0},
    {"ssm_ba.weight", BIT(MIXER_IN), MATRIX, 0},
    {"ssm_alpha.weight", BIT(MIXER_IN), MATRIX, 0},
    {"ssm_beta.weight", BIT(MIXER_IN), MATRIX, 0},
    {"ssm_f_a.weight", BIT(MIXER_IN), MATRIX, 0},
    {"ssm_f_b.weight", BIT(MIXER_LOW), MATRIX, 0},
    {"ssm_g_a.weight", BIT(MIXER_IN), MATRIX, 0},
    {"ssm_g_b.weight", BIT(MIXER_LOW), MATRIX, 0},
    {"ssm_out.weight", BIT(MIXER_OUT), MATRIX, 0},
    {"ssm_a", BIT(NORM), VECTOR, 0},
    {"ssm_d", BIT(NORM), VECTOR, 0},
    {"ssm_dt.bias", BIT(NORM), VECTOR, 0},
    {"ssm_conv1d.weight", BIT(NORM), VECTOR, 0},
    {"ssm_conv1d.bias", BIT(NORM), VECTOR, 0},
    {"ssm_conv1d_q.weight", BIT(NORM), VECTOR, 0},
    {"ssm_conv1d_k.weight", BIT(NORM), VECTOR, 0},
    {"ssm_conv1d_v.weight", BIT(NORM), VECTOR, 0},
    {"ssm_norm.weight", BIT(NORM), VECTOR, 0},
    {"ssm_dt_norm.weight", BIT(NORM), VECTOR, 0},
    {"ssm_b_norm.weight", BIT(NORM), VECTOR, 0},
    {"ssm_c_norm.weight", BIT(NORM), VECTOR, 0},
    {"ffn_norm", BIT(NORM), VECTOR, 0}, /* Falcon-H1 */
    /* experts that work on a latent */
    {"ffn_latent_down.weight", BIT(LATENT_IN), MATRIX, 0},
    {"ffn_latent_up.weight", BIT(LATENT_OUT), MATRIX, 0},
    /* the layers of Gemma 3n and 4 */
    {"altup_router.weight", BIT(ROUTER), MATRIX, 0},
    {"altup_router_norm.weight", BIT(NORM), VECTOR, 0},
    {"altup_correct_coef.weight", BIT(NORM), VECTOR, 0},
    {"altup_correct_scale.weight", BIT(NORM), VECTOR, 0},
    {"altup_predict_coef.weight", BIT(NORM), VECTOR, 0},
    {"laurel_l.weight", BIT(UP), MATRIX, 0},
    {"laurel_r.weight", BIT(DOWN), MATRIX, 0},
    {"laurel_post_norm.weight", BIT(NORM), VECTOR, 0},
    {"inp_gate.weight", BIT(PER_LAYER_IN), MATRIX, 0},
    {"proj.weight", BIT(PER_LAYER_OUT), MATRIX, 0},
    {"post_norm.weight", BIT(NORM), VECTOR, 0},
    {"layer_output_scale.weight", BIT(NORM), VECTOR, 0},
    {"pre_ffw_norm_2.weight", BIT(NORM), VECTOR, 0},
    {"post_ffw_norm_1.weight", BIT(NORM), VECTOR, 0},
    {"post_ffw_norm_2.weight", BIT(NORM), VECTOR, 0},
};

static_assert(COUNT(part_slots) <= (size_t)64 * ROOF_GGUF_PART_WORDS,
              "their presence is kept as bits");

/* The tensors outside blocks of these layers. */
static const struct slot model_part_slots[] = {
    {"per_layer_token_embd.weight", BIT(EMBEDDING), MATRIX, 0},
    {"per_layer_model_proj.weight", BIT(EMBEDDING), MATRIX, 0},
    {"per_layer_proj_norm.weight", BIT(NORM), VECTOR, 0},
    {"altup_proj.weight", BIT(EMBEDDING), MATRIX, 0},
    {"altup_unembd_proj.weight", BIT(EMBEDDING), MATRIX, 0},
    {"output_hc_fn.weight", BIT(NORM), MATRIX, 0},
    {"output_hc_base.weight", BIT(NORM), VECTOR, 0},
    {"output_hc_scale.weight", BIT(NORM), VECTOR, 0},
};

static const struct slot model_slots[] = {
    {"token_embd.weight", BIT(EMBEDDING), MATRIX, 0},
    {"output.weight", BIT(LM_HEAD), MATRIX, 0},
    {"output.bias", BIT(NORM), VECTOR, F(head_bias)},
    {"output_norm.weight", BIT(NORM), VECTOR, 0},
    {"output_norm.bias", BIT(NORM), VECTOR, 0},
    {"position_embd.weight", BIT(EMBEDDING), POSITIONS, 0},
};

/* Tensors with these prefixes are not weights of the language model; the first two are tables of
 * angles. */
static const char *const ignored[] = {"rope_freqs", "rope_factors_", "attn_rot_embd", "v.", "mm.",
                                      "a.",         "mtp.",          "nextn."};
/* Tensors with these prefixes read the last hidden states for another purpose than the next token.
 */
static const char *const heads[] = {"cls.", "cls_", "dense_2.", "dense_3."};
/* Tensors with these prefixes belong to layers with more than attention and MLP, even if they are
 * no matrices. */
static const char *const refused[] = {"ssm_",     "time_mix_", "channel_mix_", "shortconv.",
                                      "indexer.", "hc_",       "altup_",       "laurel_",
                                      "enc.",     "dec.",      "cross_attn_",  "per_layer_"};

/* --- shapes -------------------------------------------------------------------------------- */

/* Finds sizes that the metadata may lack. */
static void learn_sizes(struct roof_model *m, unsigned weights, const struct tensor *t)
{
    const struct {
        unsigned weights;
        int64_t *size;
        int dimension;
    } rows[] = {
        {BIT(EMBEDDING), &m->vocab, 1},
        {BIT(LM_HEAD), &m->vocab, 1},
        {BIT(UP), &m->intermediate, 1},
        {BIT(DOWN), &m->intermediate, 0},
        {BIT(EXPERT_GATE), &m->expert_intermediate, 1},
        {BIT(EXPERT_UP), &m->expert_intermediate, 1},
        {BIT(EXPERT_DOWN), &m->expert_intermediate, 0},
        {BIT(SHARED_GATE), &m->shared_intermediate, 1},
        {BIT(SHARED_UP), &m->shared_intermediate, 1},
        {BIT(SHARED_DOWN), &m->shared_intermediate, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (weights == rows[i].weights && *rows[i].size == 0 &&
            t->size[rows[i].dimension] <= ROOF_GGUF_SIZE_MAX) {
            *rows[i].size = t->size[rows[i].dimension];
        }
    }
    if (weights == (BIT(EXPERT_GATE) | BIT(EXPERT_UP)) && m->expert_intermediate == 0 &&
        t->size[1] <= ROOF_GGUF_SIZE_MAX) {
        m->expert_intermediate = t->size[1] / 2;
    }
}

static enum roof_status refuse_shape(struct roof_gguf_stream *in, const struct tensor *t,
                                     int64_t columns, int64_t rows, int64_t stack)
{
    return BAD(in,
               "%s is %" PRId64 " x %" PRId64 " x %" PRId64 ", but the metadata says %" PRId64
               " x %" PRId64 " x %" PRId64,
               t->name, t->size[0], t->size[1], roof_times(t->size[2], t->size[3]), columns, rows,
               stack);
}

/* Tells whether one matrix holds gate and up together (phi3, glm4). */
static bool is_fused_up(const struct roof_gguf *g, const struct slot *slot, const struct tensor *t)
{
    return slot->weights == BIT(UP) && g->model->intermediate > 0 &&
           t->size[1] == 2 * g->model->intermediate;
}

static enum roof_status check_positions(struct roof_gguf *g, const struct tensor *t)
{
    struct roof_model *const m = g->model;
    m->position_rows = t->size[1] <= ROOF_GGUF_SIZE_MAX ? t->size[1] : 0;
    return t->size[0] == m->hidden && t->rank == 2 && m->position_rows > 0
               ? ROOF_OK
               : refuse_shape(&g->stream, t, m->hidden, m->positions, 1);
}

/* Checks a half of kv_b. Files differ in how they lay it out, not in what it holds. */
static enum roof_status check_half(struct roof_gguf *g, const struct tensor *t, int64_t head)
{
    const struct roof_model *const m = g->model;
    const int64_t elements = roof_times(roof_times(head, m->kv_lora_rank), m->heads);
    return t->elements == elements && elements > 0
               ? ROOF_OK
               : refuse_shape(&g->stream, t, m->kv_lora_rank, head, m->heads);
}

static enum roof_status check_matrix(struct roof_gguf *g, const struct slot *slot,
                                     const struct tensor *t)
{
    struct roof_model *const m = g->model;
    learn_sizes(m, slot->weights, t);
    const struct roof_matrix shape = roof_weights_shape(m, slot->weights);
    const int64_t stack = slot->kind == STACK ? m->experts : 1;
    const bool fits = t->size[0] == shape.columns && t->size[2] == stack && t->size[3] == 1 &&
                      (t->size[1] == shape.rows || is_fused_up(g, slot, t));
    return fits ? ROOF_OK : refuse_shape(&g->stream, t, shape.columns, shape.rows, stack);
}

static enum roof_status check_shape(struct roof_gguf *g, const struct slot *slot,
                                    const struct tensor *t)
{
    switch (slot->kind) {
    case VECTOR:
        return ROOF_OK;
    case POSITIONS:
        return check_positions(g, t);
    case KEYS:
        return check_half(g, t, g->model->qk_nope_head_dim);
    case VALUES:
        return check_half(g, t, g->model->v_head_dim);
    case MATRIX:
    case STACK:
        break;
    }
    return check_matrix(g, slot, t);
}

/* --- adding -------------------------------------------------------------------------------- */

static const struct slot *find_slot(const struct slot *slots, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(slots[i].name, name) == 0) {
            return &slots[i];
        }
    }
    return NULL;
}

static bool begins_with_one(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(name, list[i], strlen(list[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* NVFP4 keeps the scale of a tensor, and that of its inputs, in tensors of their own. */
static bool is_scale(const struct tensor *t, const char *name)
{
    const char *const dot = strrchr(name, '.');
    return dot != NULL && t->rank == 1 &&
           (strcmp(dot, ".scale") == 0 || strcmp(dot, ".input_scale") == 0);
}

/* Tells whether a tensor is more than a row or a column. */
static bool is_matrix(const struct tensor *t)
{
    int wide = 0;
    for (int i = 0; i < DIMENSIONS_MAX; i++) {
        wide += t->size[i] > 1;
    }
    return wide > 1;
}

/* Notes a tensor that is not known: the first of each name that stands below a block. */
static void note_unknown(struct roof_gguf *g, const struct tensor *t, const char *name)
{
    for (size_t i = 0; i < g->unknown_count && i < ROOF_GGUF_UNKNOWN_MAX; i++) {
        const char *const known = g->unknown[i];
        const size_t length = strlen(known);
        if (length >= strlen(name) && strcmp(known + length - strlen(name), name) == 0) {
            return;
        }
    }
    if (g->unknown_count < ROOF_GGUF_UNKNOWN_MAX) {
        memcpy(g->unknown[g->unknown_count], t->name, sizeof t->name);
    }
    g->unknown_count++;
}

/* Adds a tensor that no weight has. A matrix that is not known would make another model: only
 * vectors may be left out. */
static enum roof_status add_without_slot(struct roof_gguf *g, struct roof_gguf_block *block,
                                         const struct tensor *t, const char *name)
{
    const bool ignore = begins_with_one(name, ignored, COUNT(ignored)) ||
                        (block == NULL && begins_with_one(name, heads, COUNT(heads)));
    if (begins_with_one(name, refused, COUNT(refused)) || (!ignore && is_matrix(t))) {
        return roof_gguf_refuse(g, t->name);
    }
    if (block != NULL && strncmp(name, "nextn.", 6) == 0) {
        block->predicts = true;
    } else if (is_scale(t, name)) {
        *(block == NULL ? &g->bytes : &block->bytes) += t->bytes;
    } else if (!ignore) {
        note_unknown(g, t, name);
    }
    return ROOF_OK;
}

/* Marks a tensor as seen, and refuses a duplicate. */
static enum roof_status mark_seen(struct roof_gguf *g, uint64_t *seen, size_t slot,
                                  const struct tensor *t)
{
    const uint64_t bit = UINT64_C(1) << slot;
    if ((*seen & bit) != 0) {
        return BAD(&g->stream, "%s appears twice among the tensors", t->name);
    }
    *seen |= bit;
    return ROOF_OK;
}

static void raise_flag(struct roof_model *m, const struct slot *slot, const struct tensor *t)
{
    bool *const flag = (bool *)(void *)((char *)m + slot->flag);
    if (slot->flag == F(qk_norm)) {
        /* A norm of another size is one over all heads at once. */
        *flag = *flag || t->elements == m->head_dim;
    } else if (slot->flag != 0) {
        *flag = true;
    }
}

/* Gives weights the format of the largest of their matrices, or the widest of several, and counts
 * its elements for the first of them. */
static void add_matrix(int8_t format[ROOF_WEIGHT_COUNT], struct roof_gguf_block *block,
                       const struct slot *slot, const struct tensor *t)
{
    const unsigned weights = slot->weights;
    bool first = true;
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((weights & (1U << w)) == 0) {
            continue;
        }
        if (w == ROOF_WEIGHT_NORM || t->elements == block->largest[w]) {
            roof_weights_widen(format, 1U << w, t->format);
        } else if (t->elements > block->largest[w]) {
            format[w] = (int8_t)t->format;
            block->largest[w] = t->elements;
        }
        block->elements[w] += first && slot->kind != VECTOR ? (uint64_t)t->elements : 0;
        block->weight_bytes[w] += first ? t->bytes : 0;
        first = false;
    }
}

/* Adds a tensor of a block whose shape follows from a config that is made later. */
static enum roof_status add_mixed(struct roof_gguf *g, int64_t number, const struct tensor *t,
                                  const char *name)
{
    struct roof_gguf_block *const block = &g->block[number];
    const struct slot *slot = find_slot(block_slots, COUNT(block_slots), name);
    const bool usual = slot != NULL;
    slot = usual ? slot : find_slot(part_slots, COUNT(part_slots), name);
    if (slot == NULL) {
        return add_without_slot(g, block, t, name);
    }
    const size_t index = (size_t)(slot - (usual ? block_slots : part_slots));
    TRY(mark_seen(g, usual ? &block->tensors : &block->parts[index / 64], index % 64, t));
    if (usual) {
        learn_sizes(g->model, slot->weights, t);
        raise_flag(g->model, slot, t);
    }
    add_matrix(g->layer[number].format, block, slot, t);
    block->weights |= slot->weights;
    if (slot == &block_slots[ROOF_GGUF_KV_B]) {
        block->kv_b_elements = (uint64_t)t->elements;
        block->kv_b_bytes = t->bytes;
    } else {
        block->bytes += t->bytes;
    }
    return ROOF_OK;
}

static enum roof_status add_to_block(struct roof_gguf *g, int64_t number, const struct tensor *t,
                                     const char *name)
{
    struct roof_gguf_block *const block = &g->block[number];
    const struct slot *const slot = find_slot(block_slots, COUNT(block_slots), name);
    if (slot == NULL && number >= g->metadata.layers - g->metadata.extra_layers) {
        block->predicts = true; /* whatever parts it has */
        return ROOF_OK;
    }
    if (g->metadata.mixed) {
        return add_mixed(g, number, t, name);
    }
    if (slot == NULL) {
        return add_without_slot(g, block, t, name);
    }
    const size_t index = (size_t)(slot - block_slots);
    TRY(mark_seen(g, &block->tensors, index, t));
    TRY(check_shape(g, slot, t));
    unsigned weights = slot->weights;
    if (is_fused_up(g, slot, t)) {
        weights |= BIT(GATE);
        g->model->gated = true;
    }
    raise_flag(g->model, slot, t);
    roof_weights_widen(g->layer[number].format, weights, t->format);
    block->weights |= weights;
    *(index == ROOF_GGUF_KV_B ? &block->kv_b_bytes : &block->bytes) += t->bytes;
    return ROOF_OK;
}

/* Adds the embeddings of layers and the projections of streams. The format of all embeddings is
 * that of the table of tokens. */
static enum roof_status add_outside_part(struct roof_gguf *g, const struct slot *slot,
                                         const struct tensor *t)
{
    const size_t index = (size_t)(slot - model_part_slots);
    TRY(mark_seen(g, &g->outside, COUNT(model_slots) + index, t));
    g->layer_table += index == 0 ? (uint64_t)t->elements : 0;
    g->elements += slot->kind == MATRIX ? (uint64_t)t->elements : 0;
    if (slot->kind == VECTOR) {
        roof_weights_widen(g->model->format, slot->weights, t->format);
    }
    g->bytes += t->bytes;
    return ROOF_OK;
}

static enum roof_status add_outside(struct roof_gguf *g, const struct tensor *t)
{
    const struct slot *slot = find_slot(model_slots, COUNT(model_slots), t->name);
    if (slot == NULL && g->metadata.mixed) {
        slot = find_slot(model_part_slots, COUNT(model_part_slots), t->name);
        if (slot != NULL) {
            return add_outside_part(g, slot, t);
        }
    }
    if (slot == NULL) {
        return add_without_slot(g, NULL, t, t->name);
    }
    TRY(mark_seen(g, &g->outside, (size_t)(slot - model_slots), t));
    TRY(check_shape(g, slot, t));
    g->elements += slot->kind == MATRIX ? (uint64_t)t->elements : 0;
    raise_flag(g->model, slot, t);
    if (slot->kind != POSITIONS) {
        roof_weights_widen(g->model->format, slot->weights, t->format);
    }
    g->bytes += t->bytes;
    return ROOF_OK;
}

/* Returns the N of "blk.N.NAME", and NAME in *rest; -1 for all other names. */
static int64_t block_number(const char *name, const char **rest)
{
    if (strncmp(name, "blk.", 4) != 0) {
        return -1;
    }
    int64_t number = 0;
    const char *at = name + 4;
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number > ROOF_LAYERS_MAX ? number : 10 * number + (*at - '0');
    }
    *rest = at + 1;
    return at > name + 4 && *at == '.' ? number : -1;
}

static enum roof_status add_tensor(struct roof_gguf *g, const struct tensor *t)
{
    const char *rest = NULL;
    const int64_t number = block_number(t->name, &rest);
    if (number < 0) {
        return add_outside(g, t);
    }
    return number < g->metadata.layers ? add_to_block(g, number, t, rest)
                                       : BAD(&g->stream, "%s: %s.block_count is %" PRId64, t->name,
                                             g->metadata.architecture, g->metadata.layers);
}

/* --- reading ------------------------------------------------------------------------------- */

static enum roof_status take_sizes(struct roof_gguf_stream *in, struct tensor *t)
{
    uint64_t rank = 0;
    TRY(roof_gguf_take_number(in, &rank, 4));
    if (rank == 0 || rank > DIMENSIONS_MAX) {
        return BAD(in, "%s has %" PRIu64 " dimensions; 1 to %d are allowed", t->name, rank,
                   DIMENSIONS_MAX);
    }
    t->rank = (int)rank;
    t->elements = 1;
    for (int i = 0; i < DIMENSIONS_MAX; i++) {
        uint64_t size = 1;
        if (i < t->rank) {
            TRY(roof_gguf_take_number(in, &size, 8));
        }
        if (size == 0 || size > (uint64_t)(INT64_MAX / t->elements)) {
            return BAD(in,
                       "%s: dimension %d is %" PRIu64 "; it must be 1 or more, and all "
                       "together below 2^63",
                       t->name, i + 1, size);
        }
        t->size[i] = (int64_t)size;
        t->elements *= (int64_t)size;
    }
    return ROOF_OK;
}

static bool is_expert_table(const char *name)
{
    const size_t length = strlen(name);
    const size_t tail = sizeof EXPERT_TABLE - 1;
    return length > tail && strcmp(name + length - tail, EXPERT_TABLE) == 0;
}

/* Sets the format and the bytes of a tensor, and checks that it fits into the file. */
static enum roof_status put_type(const struct roof_gguf_stream *in, struct tensor *t, uint64_t type,
                                 int64_t alignment)
{
    if (type == TABLE_TYPE && is_expert_table(t->name)) {
        type = 0; /* whose values have 32 bits, too */
    }
    if (type >= COUNT(tensor_types) || tensor_types[type] == 0) {
        return BAD(in, "%s has ggml type %" PRIu64 "; known are " TENSOR_TYPES, t->name, type);
    }
    t->format = (enum roof_precision)(tensor_types[type] - 1);
    const struct roof_format *const format = roof_format(t->format);
    if (t->size[0] % format->block_elements != 0) {
        return BAD(in,
                   "%s: its rows of %" PRId64 " elements are no multiple of the %" PRId64
                   " of a %s block",
                   t->name, t->size[0], format->block_elements, format->name);
    }
    const uint64_t blocks = (uint64_t)(t->elements / format->block_elements);
    if (blocks > in->size / (uint64_t)format->block_bytes || t->offset > in->size) {
        return BAD(in, "%s does not fit into the file of %" PRIu64 " bytes", t->name, in->size);
    }
    t->bytes = blocks * (uint64_t)format->block_bytes;
    if (t->offset % (uint64_t)alignment != 0) {
        return BAD(in, "%s: its offset %" PRIu64 " is no multiple of the alignment %" PRId64,
                   t->name, t->offset, alignment);
    }
    return ROOF_OK;
}

static enum roof_status take_tensor(struct roof_gguf_stream *in, struct tensor *t,
                                    int64_t alignment)
{
    uint64_t length = 0;
    uint64_t type = 0;
    TRY(roof_gguf_take_string(in, t->name, sizeof t->name, &length));
    if (t->name[0] == '\0' || !roof_gguf_ascii(t->name)) {
        return BAD(in, "the name of a tensor (%" PRIu64 " bytes) must be 1 to %d ASCII characters",
                   length, ROOF_GGUF_NAME_MAX);
    }
    TRY(take_sizes(in, t));
    TRY(roof_gguf_take_number(in, &type, 4));
    TRY(roof_gguf_take_number(in, &t->offset, 8));
    return put_type(in, t, type, alignment);
}

enum roof_status roof_gguf_take_tensors(struct roof_gguf *g, uint64_t count, int64_t alignment)
{
    struct roof_gguf_stream *const in = &g->stream;
    struct tensor last = {.name = ""}; /* the one that ends last */
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct tensor t = {.name = ""};
        TRY(take_tensor(in, &t, alignment));
        TRY(add_tensor(g, &t));
        sum += t.bytes; /* no overflow: neither is larger than the file */
        if (sum > in->size) {
            return BAD(in, "the tensors up to %s have more bytes than the file", t.name);
        }
        if (t.offset + t.bytes >= last.offset + last.bytes) {
            last = t;
        }
    }
    const uint64_t step = (uint64_t)alignment;
    const uint64_t begin = (in->at + step - 1) / step * step;
    if (count > 0 && (begin > in->size || last.offset + last.bytes > in->size - begin)) {
        return BAD(in,
                   "%s ends behind the end of the file (%" PRIu64 " bytes): the file is cut "
                   "off, or not a model",
                   last.name, in->size);
    }
    return ROOF_OK;
}

/* --- looking up ---------------------------------------------------------------------------- */

bool roof_gguf_holds(const struct roof_gguf_block *block, const char *name)
{
    const struct slot *const usual = find_slot(block_slots, COUNT(block_slots), name);
    const struct slot *const part = find_slot(part_slots, COUNT(part_slots), name);
    return (usual != NULL && (block->tensors >> (usual - block_slots) & 1) != 0) ||
           (part != NULL &&
            (block->parts[(part - part_slots) / 64] >> (part - part_slots) % 64 & 1) != 0);
}

bool roof_gguf_has(const struct roof_gguf_block *block, enum roof_gguf_tensor tensor)
{
    return (block->tensors >> tensor & 1) != 0;
}

const char *roof_gguf_weight_name(enum roof_weight weight)
{
    for (size_t i = 0; i < COUNT(block_slots); i++) {
        if (block_slots[i].weights == 1U << weight) {
            return block_slots[i].name;
        }
    }
    return roof_weight_name(weight);
}
