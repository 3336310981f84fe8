// SPDX-License-Identifier: MIT
/*
 * Configs of a model_type that no family has. Such a config is read as a decoder like Llama if it
 * has no sign of another architecture: such decoders have all of its keys, the activation is one of
 * gated MLPs, and the norm is RMSNorm. Its class may still have other biases and norms, which are a
 * small part of the weights. Any other config is refused, because an answer may be wrong by a large
 * factor.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "model/config_parts.h"
#include "model/model_make.h"

/* Keys that the configs of Llama, Mistral, Qwen and classes made like them have. A star stands for
 * any characters. */
static const char *const plain_keys[] = {"_name_or_path",
                                         "*_token",
                                         "*_token_id",
                                         "*_token_ids",
                                         "*dropout*",
                                         "*dtype",
                                         "architectures",
                                         "attention_bias",
                                         "auto_map",
                                         "head_dim",
                                         "hidden_act",
                                         "hidden_size",
                                         "id2label",
                                         "initializer_*",
                                         "intermediate_size",
                                         "label2id",
                                         "language_config",
                                         "layer_types",
                                         "llm_config",
                                         "max_position_embeddings",
                                         "max_window_layers",
                                         "mlp_bias",
                                         "model_max_length",
                                         "model_type",
                                         "num_attention_heads",
                                         "num_hidden_layers",
                                         "num_key_value_heads",
                                         "output_*",
                                         "partial_rotary_factor",
                                         "pretraining_tp",
                                         "quantization_config",
                                         "return_dict*",
                                         "rms_norm_eps",
                                         "roofline",
                                         "rope_*",
                                         "sliding_window",
                                         "text_config",
                                         "tie_word_embeddings",
                                         "transformers_version",
                                         "unsloth_*",
                                         "use_cache",
                                         "use_qk_norm",
                                         "use_sliding_window",
                                         "vocab_size"};

/* Refuses a key of the language model that plain decoders do not have. */
static enum roof_status check_keys(const struct config *c)
{
    for (const roof_json_value *member = roof_json_first(c->text); member != NULL;
         member = roof_json_next(member)) {
        const char *const key = roof_json_key(member);
        if (!roof_config_says_nothing(member) &&
            !roof_config_key_in(key, plain_keys, COUNT(plain_keys))) {
            return roof_config_stranger(c, member, key, " is not a key of plain decoders");
        }
    }
    return ROOF_OK;
}

/* Reasons to doubt that the layers are like Llama's, and the place of the first one. */
struct doubts {
    char text[192];
    const roof_json_value *at;
};

static void add_doubt(struct doubts *d, const roof_json_value *at, const char *reason)
{
    const size_t used = strlen(d->text);
    (void)snprintf(d->text + used, sizeof d->text - used, "%s%s", used == 0 ? "" : ", ", reason);
    d->at = d->at == NULL ? at : d->at;
}

/* Checks the signs that the layers are like Llama's. */
static enum roof_status check_layers(const struct reading *r, const struct config *c)
{
    const roof_json_value *const activation = roof_config_member(c, "hidden_act");
    const char *const word = roof_json_string(activation);
    const roof_json_value *const asked = roof_config_member(c, "use_sliding_window");
    struct doubts doubts = {.at = NULL};
    bool windows = true;
    if (r->model.intermediate == 0) {
        add_doubt(&doubts, c->text, "intermediate_size is missing");
    }
    if (activation == NULL) {
        add_doubt(&doubts, c->text, "hidden_act is missing");
    } else if (word == NULL || (strcmp(word, "silu") != 0 && strcmp(word, "swish") != 0)) {
        add_doubt(&doubts, activation, "hidden_act is not silu");
    }
    if (roof_config_member(c, "rms_norm_eps") == NULL) {
        add_doubt(&doubts, c->text, "rms_norm_eps is missing");
    }
    if (asked != NULL && !roof_json_boolean(&windows, asked)) {
        windows = true; /* the reader of layers refuses other values */
    }
    if (windows && r->model.window > 0 && roof_config_member(c, "layer_types") == NULL) {
        add_doubt(&doubts, roof_config_member(c, "sliding_window"),
                  "sliding_window needs layer_types: give layer_types, or set "
                  "sliding_window to null");
    }
    return doubts.at == NULL ? ROOF_OK : roof_config_stranger(c, doubts.at, doubts.text, "");
}

static enum roof_status note(const struct config *c)
{
    struct roof_text remark = ROOF_TEXT_INIT;
    roof_text_put(&remark, "unknown model_type ");
    roof_text_plain(&remark, roof_json_string(c->stranger));
    roof_text_put(&remark, ": read like llama, since it has the keys of a plain decoder; biases "
                           "and norms that llama lacks are not counted");
    return roof_model_note_text(c->model, &remark, c->error);
}

enum roof_status roof_config_plain(const struct reading *r, const struct config *c)
{
    if (c->stranger == NULL) {
        return ROOF_OK;
    }
    TRY(check_keys(c));
    TRY(check_layers(r, c));
    return note(c);
}
