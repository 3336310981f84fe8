// SPDX-License-Identifier: MIT
/*
 * The audio encoder of a multimodal config. Sources: huggingface/transformers,
 * modeling_qwen2_audio.py, modeling_voxtral.py (both like Whisper's), modular_gemma4.py and
 * modular_gemma3n.py with the configuration_, processing_ and feature_extraction_ files beside
 * them.
 */
#include <string.h>

#include "base/base.h"
#include "model/audio.h"
#include "model/config_parts.h"
#include "model/model_make.h"

/* Keys of audio_config that are read, or change no shape. A star stands for any characters. */
static const char *const known_keys[] = {"*_act",
                                         "*_eps",
                                         "*activation_function",
                                         "*drop*",
                                         "*dtype",
                                         "*attention_chunk_size", /* its window counts */
                                         "*attention_context_left",
                                         "*attention_context_right",
                                         "*attention_invalid_logits_value",
                                         "*attention_logit_cap",
                                         "*conv_kernel_size",
                                         "*init*",
                                         "*num_attention_heads",
                                         "*num_hidden_layers",
                                         "*residual_weight",
                                         "attn_implementation",
                                         "conf_reduction_factor",
                                         "d_model",
                                         "encoder_attention_heads",
                                         "encoder_ffn_dim",
                                         "encoder_layers",
                                         "gradient_clipping",
                                         "hidden_size",
                                         "id2label",
                                         "input_feat_size",
                                         "intermediate_size",
                                         "label2id",
                                         "length_penalty", /* what a class writes for all models */
                                         "max_length",
                                         "max_source_positions",
                                         "model_type",
                                         "num_beams",
                                         "num_mel_bins",
                                         "num_return_sequences",
                                         "output_proj_dims",
                                         "repetition_penalty",
                                         "return_dict",
                                         "scale_embedding",
                                         "sscp_conv_channel_size",
                                         "sscp_conv_stride_size",
                                         "subsampling_conv_channels",
                                         "temperature",
                                         "top_k",
                                         "top_p",
                                         "typical_p",
                                         "use_cache",
                                         "use_clipped_linears",
                                         "vocab_*"};

#define SIZE_MAX_VALUE 1000000
#define NAMES_MAX 2

/* An encoder that is being read. */
struct audio_reading {
    const struct config *config;
    const roof_json_value *json; /* audio_config */
    struct roof_audio audio;
    bool contradicts; /* its sizes do not fit together */
};

/* A size, in the first of its spellings, and what the class takes if the config leaves it out. */
struct size {
    const char *names[NAMES_MAX];
    int64_t *out;
    int64_t otherwise;
    int64_t min;
};

static enum roof_status read_sizes(struct audio_reading *r, const struct size *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct size *const s = &sizes[i];
        const roof_json_value *const value = roof_config_spelled(r->json, s->names, NAMES_MAX);
        *s->out = s->otherwise;
        if (value != NULL) {
            TRY(roof_config_integer(s->out, r->config, value, roof_json_key(value), s->min,
                                    SIZE_MAX_VALUE));
        }
    }
    return ROOF_OK;
}

/* Reads an encoder like Whisper's. */
static enum roof_status read_whisper(struct audio_reading *r)
{
    struct roof_audio *const a = &r->audio;
    const struct size sizes[] = {
        {{"d_model", "hidden_size"}, &a->hidden, 1280, 1},
        {{"encoder_layers", "num_hidden_layers"}, &a->layers, 32, 1},
        {{"encoder_attention_heads", "num_attention_heads"}, &a->heads, 20, 1},
        {{"encoder_ffn_dim", "intermediate_size"}, &a->intermediate, 5120, 1},
        {{"num_mel_bins", NULL}, &a->mels, 128, 1},
        {{"max_source_positions", NULL}, &a->positions, 1500, 1}};
    a->pooled = a->joined = 1;
    return read_sizes(r, sizes, COUNT(sizes));
}

/* Reads Qwen2-Audio: a product makes tokens of the mean of two rows. A clip is one window. */
static enum roof_status read_qwen2_audio(struct audio_reading *r)
{
    TRY(read_whisper(r));
    r->audio.pooled = 2;
    r->contradicts = r->audio.positions < r->audio.pooled;
    r->audio.most_s = ROOF_AUDIO_WINDOW_S;
    r->audio.project[0] = (struct roof_projection){
        .in = r->audio.hidden, .out = r->config->model->hidden, .bias = true};
    return ROOF_OK;
}

/* Reads Voxtral: two products, the first over as many rows as the MLP is wide. */
static enum roof_status read_voxtral(struct audio_reading *r)
{
    struct roof_audio *const a = &r->audio;
    const int64_t hidden = r->config->model->hidden;
    TRY(read_whisper(r));
    a->windows = true;
    a->joined = a->intermediate / a->hidden;
    r->contradicts = a->intermediate % a->hidden != 0 || a->positions % a->joined != 0;
    a->project[0] =
        (struct roof_projection){.in = a->intermediate, .out = hidden, .act = ROOF_PROJECTION_GELU};
    a->project[1] = (struct roof_projection){.in = hidden, .out = hidden};
    return ROOF_OK;
}

/* Reads the channels of the two convolutions. */
static enum roof_status read_channels(struct audio_reading *r, const char *key)
{
    const roof_json_value *item = roof_json_first(roof_json_get(r->json, key));
    r->audio.channels[0] = 128;
    r->audio.channels[1] = 32;
    for (size_t i = 0; i < COUNT(r->audio.channels) && item != NULL; i++) {
        TRY(roof_config_integer(&r->audio.channels[i], r->config, item, key, 1, SIZE_MAX_VALUE));
        item = roof_json_next(item);
    }
    return ROOF_OK;
}

/* Reads what the conformers of Gemma have in common: each layer has two MLPs of four times its
 * width, attention within a window, and a convolution of each element. */
static enum roof_status read_conformer(struct audio_reading *r, int64_t hidden,
                                       const char *channels)
{
    struct roof_audio *const a = &r->audio;
    int64_t right = 0; /* keys that follow a query */
    const struct size sizes[] = {
        {{"hidden_size", NULL}, &a->hidden, hidden, 1},
        {{"num_hidden_layers", "conf_num_hidden_layers"}, &a->layers, 12, 1},
        {{"num_attention_heads", "conf_num_attention_heads"}, &a->heads, 8, 1},
        {{"conv_kernel_size", "conf_conv_kernel_size"}, &a->taps, 5, 1},
        {{"attention_context_left", "conf_attention_context_left"}, &a->window, 13, 1},
        {{"attention_context_right", "conf_attention_context_right"}, &right, 0, 0},
        {{"input_feat_size", NULL}, &a->mels, 128, 1},
        {{"conf_reduction_factor", NULL}, &a->stride, 4, 1}};
    TRY(read_sizes(r, sizes, COUNT(sizes)));
    a->intermediate = 4 * a->hidden;
    a->window += right;
    a->most_s = ROOF_AUDIO_WINDOW_S;
    return read_channels(r, channels);
}

static enum roof_status read_gemma4(struct audio_reading *r)
{
    struct roof_audio *const a = &r->audio;
    int64_t out = 0;
    const struct size size = {{"output_proj_dims", NULL}, &out, 1536, 1};
    TRY(read_conformer(r, 1024, "subsampling_conv_channels"));
    TRY(read_sizes(r, &size, 1));
    a->stride = 1;
    a->inputs = a->channels[0] / 4 * a->channels[1];
    r->contradicts = a->inputs == 0;
    a->lead = 161; /* half of a frame of 320 samples is zeros, and one sample follows it */
    a->norm = ROOF_AUDIO_BARE_NORM;
    a->project[0] = (struct roof_projection){.in = a->hidden, .out = out, .bias = true};
    a->project[1] = (struct roof_projection){.in = out, .out = r->config->model->hidden};
    return ROOF_OK;
}

static enum roof_status read_gemma3n(struct audio_reading *r)
{
    struct roof_audio *const a = &r->audio;
    int64_t vocab = 0;
    const struct size size = {{"vocab_size", NULL}, &vocab, 128, 1};
    TRY(read_conformer(r, 1536, "sscp_conv_channel_size"));
    TRY(read_sizes(r, &size, 1));
    a->inputs = roof_audio_quarter(a->mels) * a->channels[1];
    a->lead = 513; /* a frame of 512 samples, and one that follows it */
    a->norm = ROOF_AUDIO_NORM_POST;
    a->tokens = 188; /* audio_seq_length of the processor: shorter clips are filled up */
    a->project[0] = (struct roof_projection){.in = a->hidden, .out = r->config->model->hidden};
    a->unused = (vocab + 1) * a->hidden; /* a table for tokens of other kinds, and its norm */
    return ROOF_OK;
}

/* The model_type of the whole model says which class encodes its audio. */
static const struct {
    const char *type;
    enum roof_status (*read)(struct audio_reading *r);
} types[] = {{"qwen2_audio", read_qwen2_audio},
             {"voxtral", read_voxtral},
             {"gemma4", read_gemma4},
             {"gemma3n", read_gemma3n}};

enum roof_status roof_config_audio(const struct config *c)
{
    const char *const type = roof_json_string(roof_json_get(c->root, "model_type"));
    struct audio_reading r = {.config = c, .json = roof_json_get(c->root, "audio_config")};
    size_t i = 0;
    if (!roof_json_is_object(r.json)) {
        return ROOF_OK;
    }
    while (i < COUNT(types) && (type == NULL || strcmp(types[i].type, type) != 0)) {
        i++;
    }
    if (i < COUNT(types)) {
        TRY(types[i].read(&r));
    }
    r.contradicts = i < COUNT(types) && (r.contradicts || r.audio.hidden % r.audio.heads != 0);
    if (i < COUNT(types) && !r.contradicts) {
        c->model->audio = r.audio;
        return roof_config_note_members(c, r.json, "audio_config", known_keys, COUNT(known_keys));
    }
    if (*c->model->notes == NULL) { /* else the registry says it in its own words */
        roof_model_note(c->model, r.contradicts
                                      ? "the audio encoder is not counted, because sizes in "
                                        "audio_config contradict each other"
                                      : "the audio encoder is not counted");
    }
    return ROOF_OK;
}
