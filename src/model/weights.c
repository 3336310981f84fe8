// SPDX-License-Identifier: MIT
#include "roofline/model.h"

#include <string.h>

#include "base/base.h"
#include "roofline/text.h"

/* --- weights ------------------------------------------------------------------------------- */

#define BIT(name) (1U << ROOF_WEIGHT_##name)
#define ATTENTION (BIT(Q) | BIT(K) | BIT(V) | BIT(O) | BIT(Q_A) | BIT(Q_B) | BIT(KV_A) | BIT(KV_B))
#define MLP (BIT(GATE) | BIT(UP) | BIT(DOWN))
#define EXPERTS (BIT(EXPERT_GATE) | BIT(EXPERT_UP) | BIT(EXPERT_DOWN))
#define SHARED (BIT(SHARED_GATE) | BIT(SHARED_UP) | BIT(SHARED_DOWN))
#define LINEAR (ATTENTION | MLP | EXPERTS | SHARED)

static const struct {
    const char *name;
    const char *module; /* in Hugging Face checkpoints */
} weights[ROOF_WEIGHT_COUNT] = {
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
};

/* From the widest to the narrowest: a narrower name wins over a wider one. */
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
    return weights[weight].name;
}

const char *roof_weight_module(enum roof_weight weight)
{
    return weights[weight].module;
}

bool roof_weight_linear(enum roof_weight weight)
{
    return (LINEAR & (1U << weight)) != 0;
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
        names[COUNT(groups) + i] = weights[i].name;
        if (strcmp(name, weights[i].name) == 0) {
            *out_bits = 1U << i;
            return ROOF_OK;
        }
    }
    return roof_unknown_name(error, ROOF_USAGE, "class", name, names, COUNT(names));
}

const char *roof_attention_name(const struct roof_model *model)
{
    return model->kv_lora_rank > 0           ? "MLA"
           : model->kv_heads == model->heads ? "MHA"
           : model->kv_heads == 1            ? "MQA"
                                             : "GQA";
}
