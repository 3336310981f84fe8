// SPDX-License-Identifier: MIT
#include "model/weights.h"

#include <string.h>

#include "base/base.h"
#include "base/text.h"

/* --- names --------------------------------------------------------------------------------- */

#define BIT ROOF_WEIGHT_BIT
#define ATTENTION                                                                                  \
    (BIT(Q) | BIT(K) | BIT(V) | BIT(O) | BIT(Q_A) | BIT(Q_B) | BIT(KV_A) | BIT(KV_B) |             \
     BIT(INDEX) | BIT(MIXER_IN) | BIT(MIXER_OUT))
#define MLP (BIT(GATE) | BIT(UP) | BIT(DOWN))
#define EXPERTS (BIT(EXPERT_GATE) | BIT(EXPERT_UP) | BIT(EXPERT_DOWN))
#define SHARED (BIT(SHARED_GATE) | BIT(SHARED_UP) | BIT(SHARED_DOWN))
#define LINEAR (ATTENTION | MLP | EXPERTS | SHARED)

static const struct {
    const char *name;
    const char *module; /* in Hugging Face checkpoints */
} kinds[ROOF_WEIGHT_COUNT] = {
    [ROOF_WEIGHT_EMBEDDING] = {"embedding", "model.embed_tokens"},
    [ROOF_WEIGHT_NORM] = {"norm", "model.norm"},
    [ROOF_WEIGHT_Q] = {"q", "self_attn.q_proj"},
    [ROOF_WEIGHT_K] = {"k", "self_attn.k_proj"},
    [ROOF_WEIGHT_V] = {"v", "self_attn.v_proj"},
    [ROOF_WEIGHT_O] = {"o", "self_attn.o_proj"},
    [ROOF_WEIGHT_Q_A] = {"q_a", "self_attn.q_a_proj"},
    [ROOF_WEIGHT_Q_B] = {"q_b", "self_attn.q_b_proj"},
    [ROOF_WEIGHT_KV_A] = {"kv_a", "self_attn.kv_a_proj_with_mqa"},
    [ROOF_WEIGHT_KV_B] = {"kv_b", "self_attn.kv_b_proj"},
    [ROOF_WEIGHT_GATE] = {"gate", "mlp.gate_proj"},
    [ROOF_WEIGHT_UP] = {"up", "mlp.up_proj"},
    [ROOF_WEIGHT_DOWN] = {"down", "mlp.down_proj"},
    [ROOF_WEIGHT_ROUTER] = {"router", "mlp.gate"},
    [ROOF_WEIGHT_EXPERT_GATE] = {"expert_gate", "mlp.experts.0.gate_proj"},
    [ROOF_WEIGHT_EXPERT_UP] = {"expert_up", "mlp.experts.0.up_proj"},
    [ROOF_WEIGHT_EXPERT_DOWN] = {"expert_down", "mlp.experts.0.down_proj"},
    [ROOF_WEIGHT_SHARED_GATE] = {"shared_gate", "mlp.shared_experts.gate_proj"},
    [ROOF_WEIGHT_SHARED_UP] = {"shared_up", "mlp.shared_experts.up_proj"},
    [ROOF_WEIGHT_SHARED_DOWN] = {"shared_down", "mlp.shared_experts.down_proj"},
    [ROOF_WEIGHT_LM_HEAD] = {"lm_head", "lm_head"},
    [ROOF_WEIGHT_INDEX] = {"index", "self_attn.indexer.wq_b"},
    [ROOF_WEIGHT_COMPRESS] = {"compress", "self_attn.compressor"},
    [ROOF_WEIGHT_MIXER_IN] = {"mixer_in", "linear_attn.in_proj_qkvz"},
    [ROOF_WEIGHT_MIXER_OUT] = {"mixer_out", "linear_attn.out_proj"},
    [ROOF_WEIGHT_MIXER_LOW] = {"mixer_low", "mamba.x_proj"},
    [ROOF_WEIGHT_LATENT_IN] = {"latent_in", "mixer.fc1_latent_proj"},
    [ROOF_WEIGHT_LATENT_OUT] = {"latent_out", "mixer.fc2_latent_proj"},
    [ROOF_WEIGHT_PER_LAYER_IN] = {"per_layer_in", "per_layer_input_gate"},
    [ROOF_WEIGHT_PER_LAYER_OUT] = {"per_layer_out", "per_layer_projection"},
    [ROOF_WEIGHT_VISION] = {"vision", "visual"},
};

/* The larger weights whose formats small ones have, unless these are named. */
#define PARTNER(small, larger) [ROOF_WEIGHT_##small] = ROOF_WEIGHT_##larger + 1
static const int partners[ROOF_WEIGHT_COUNT] = {
    /* 0: there is none */
    PARTNER(MIXER_LOW, MIXER_IN), PARTNER(LATENT_IN, SHARED_UP), PARTNER(LATENT_OUT, SHARED_DOWN),
    PARTNER(PER_LAYER_IN, UP), PARTNER(PER_LAYER_OUT, DOWN)};

/* Groups go from the widest to the narrowest: a narrower name wins over a wider one. */
static const struct {
    const char *name;
    unsigned bits;
} groups[] = {{"linear", LINEAR},
              {"attention", ATTENTION},
              {"mlp", MLP},
              {"experts", EXPERTS},
              {"shared", SHARED}};

const char *roof_weight_name(enum roof_weight weight)
{
    return kinds[weight].name;
}

const char *roof_weight_module(enum roof_weight weight)
{
    return kinds[weight].module;
}

enum roof_weight roof_weight_partner(enum roof_weight weight)
{
    const int partner = partners[weight];
    return partner == 0 ? weight : (enum roof_weight)(partner - 1);
}

bool roof_weight_linear(enum roof_weight weight)
{
    return (LINEAR & (1U << roof_weight_partner(weight))) != 0;
}

int roof_weight_width(unsigned bits)
{
    int count = 0;
    for (; bits != 0; bits &= bits - 1) {
        count++;
    }
    return count;
}

enum roof_status roof_weight_find(unsigned *out_bits, const char *name, struct roof_error *error)
{
    const char *names[COUNT(groups) + ROOF_WEIGHT_COUNT];
    for (size_t i = 0; i < COUNT(groups); i++) {
        names[i] = groups[i].name;
        if (strcmp(name, names[i]) == 0) {
            *out_bits = groups[i].bits;
            return ROOF_OK;
        }
    }
    for (size_t i = 0; i < ROOF_WEIGHT_COUNT; i++) {
        names[COUNT(groups) + i] = kinds[i].name;
        if (strcmp(name, kinds[i].name) == 0) {
            *out_bits = 1U << i;
            return ROOF_OK;
        }
    }
    return roof_unknown_name(error, ROOF_USAGE, "class", name, names, COUNT(names));
}

bool roof_weight_outside(enum roof_weight weight)
{
    return ((BIT(EMBEDDING) | BIT(NORM) | BIT(LM_HEAD) | BIT(VISION)) & (1U << weight)) != 0;
}

/* --- shapes -------------------------------------------------------------------------------- */

int64_t roof_times(int64_t a, int64_t b)
{
    return a != 0 && b > INT64_MAX / a ? INT64_MAX : a * b;
}

static struct roof_matrix shape_of(const struct roof_model *m, enum roof_weight weight)
{
    const int64_t h = m->hidden;
    const int64_t e = roof_expert_hidden(m);
    const int64_t q = roof_times(m->heads, m->head_dim);
    const int64_t kv = roof_times(m->kv_heads, m->head_dim);
    const int64_t o = m->kv_lora_rank > 0 ? roof_times(m->heads, m->v_head_dim) : q;
    const int64_t kv_b = roof_times(m->heads, m->qk_nope_head_dim + m->v_head_dim);
    const struct roof_matrix shapes[ROOF_WEIGHT_COUNT] = {
        [ROOF_WEIGHT_EMBEDDING] = {m->vocab, h},
        [ROOF_WEIGHT_NORM] = {1, h},
        [ROOF_WEIGHT_Q] = {q, h},
        [ROOF_WEIGHT_K] = {kv, h},
        [ROOF_WEIGHT_V] = {kv, h},
        [ROOF_WEIGHT_O] = {h, o},
        [ROOF_WEIGHT_Q_A] = {m->q_lora_rank, h},
        [ROOF_WEIGHT_Q_B] = {q, m->q_lora_rank},
        [ROOF_WEIGHT_KV_A] = {m->kv_lora_rank + m->qk_rope_head_dim, h},
        [ROOF_WEIGHT_KV_B] = {kv_b, m->kv_lora_rank},
        [ROOF_WEIGHT_GATE] = {m->intermediate, h},
        [ROOF_WEIGHT_UP] = {m->intermediate, h},
        [ROOF_WEIGHT_DOWN] = {h, m->intermediate},
        [ROOF_WEIGHT_ROUTER] = {m->experts, h},
        [ROOF_WEIGHT_EXPERT_GATE] = {m->expert_intermediate, e},
        [ROOF_WEIGHT_EXPERT_UP] = {m->expert_intermediate, e},
        [ROOF_WEIGHT_EXPERT_DOWN] = {e, m->expert_intermediate},
        [ROOF_WEIGHT_SHARED_GATE] = {m->shared_intermediate, h},
        [ROOF_WEIGHT_SHARED_UP] = {m->shared_intermediate, h},
        [ROOF_WEIGHT_SHARED_DOWN] = {h, m->shared_intermediate},
        [ROOF_WEIGHT_LM_HEAD] = {m->vocab, h},
        [ROOF_WEIGHT_INDEX] = {roof_times(m->index_heads, m->index_head_dim), m->q_lora_rank},
    };
    return shapes[weight];
}

struct roof_matrix roof_weights_shape(const struct roof_model *model, unsigned weights)
{
    struct roof_matrix sum = {0, 0};
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((weights & (1U << w)) != 0) {
            const struct roof_matrix shape = shape_of(model, (enum roof_weight)w);
            sum.rows = sum.rows > INT64_MAX - shape.rows ? INT64_MAX : sum.rows + shape.rows;
            sum.columns = shape.columns;
        }
    }
    return sum;
}

/* --- layers -------------------------------------------------------------------------------- */

unsigned roof_weights_needed(const struct roof_model *model, bool moe)
{
    unsigned need = BIT(O);
    need |= model->kv_lora_rank == 0 ? BIT(Q) | BIT(K) | BIT(V) : BIT(KV_A) | BIT(KV_B);
    if (model->kv_lora_rank > 0) {
        need |= model->q_lora_rank > 0 ? BIT(Q_A) | BIT(Q_B) : BIT(Q);
    }
    need |= moe ? BIT(ROUTER) | BIT(EXPERT_UP) | BIT(EXPERT_DOWN) : BIT(UP) | BIT(DOWN);
    if (model->gated) {
        need |= moe ? BIT(EXPERT_GATE) : BIT(GATE);
    }
    if (moe && model->shared_intermediate > 0) {
        need |= BIT(SHARED_UP) | BIT(SHARED_DOWN) | (model->gated ? BIT(SHARED_GATE) : 0);
    }
    return need;
}

unsigned roof_weights_lacking(const struct roof_model *model)
{
    const enum roof_mixer_kind kind = (enum roof_mixer_kind)model->mixer.kind;
    const bool low = kind == ROOF_MIXER_SELECTIVE || kind == ROOF_MIXER_KIMI_DELTA;
    return (low ? 0 : BIT(MIXER_LOW)) |
           (model->expert_latent > 0 ? 0 : BIT(LATENT_IN) | BIT(LATENT_OUT)) |
           (model->layer_embedding > 0 ? 0 : BIT(PER_LAYER_IN) | BIT(PER_LAYER_OUT));
}

void roof_weights_widen(int8_t format[ROOF_WEIGHT_COUNT], unsigned weights,
                        enum roof_precision precision)
{
    const double bits = roof_precision_bits(precision);
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((weights & (1U << w)) != 0 &&
            (format[w] == ROOF_PRECISION_AUTO ||
             roof_precision_bits((enum roof_precision)format[w]) < bits)) {
            format[w] = (int8_t)precision;
        }
    }
}

/* Gives a layer the format of a weight under another name, if that has the larger matrix. */
static void take_format(struct roof_layer *layer, const int64_t largest[ROOF_WEIGHT_COUNT],
                        enum roof_weight to, enum roof_weight from)
{
    if (largest[from] > largest[to]) {
        layer->format[to] = layer->format[from];
    }
    layer->format[from] = ROOF_PRECISION_AUTO;
}

void roof_layer_take_formats(struct roof_layer *layer, const int8_t format[ROOF_WEIGHT_COUNT],
                             const int64_t largest[ROOF_WEIGHT_COUNT])
{
    memcpy(layer->format, format, sizeof layer->format);
    if (layer->stateful && layer->no_attention) {
        take_format(layer, largest, ROOF_WEIGHT_MIXER_IN, ROOF_WEIGHT_Q);
        take_format(layer, largest, ROOF_WEIGHT_MIXER_OUT, ROOF_WEIGHT_O);
        layer->format[ROOF_WEIGHT_K] = layer->format[ROOF_WEIGHT_V] = ROOF_PRECISION_AUTO;
    }
    if (!layer->moe) {
        take_format(layer, largest, ROOF_WEIGHT_GATE, ROOF_WEIGHT_SHARED_GATE);
        take_format(layer, largest, ROOF_WEIGHT_UP, ROOF_WEIGHT_SHARED_UP);
        take_format(layer, largest, ROOF_WEIGHT_DOWN, ROOF_WEIGHT_SHARED_DOWN);
    }
}

/* --- formats ------------------------------------------------------------------------------- */

bool roof_int4_format(enum roof_precision *out, double group, bool zeros)
{
    static const struct {
        double group;
        enum roof_precision zeros;
        enum roof_precision none;
    } rows[] = {{128, ROOF_PRECISION_INT4_G128_ZP, ROOF_PRECISION_INT4_G128},
                {64, ROOF_PRECISION_INT4_G64_ZP, ROOF_PRECISION_INT4_G64},
                {32, ROOF_PRECISION_INT4_G32_ZP, ROOF_PRECISION_INT4_G32}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (group == rows[i].group) {
            *out = zeros ? rows[i].zeros : rows[i].none;
            return true;
        }
    }
    return false;
}
