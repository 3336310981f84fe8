// SPDX-License-Identifier: MIT
/*
 * The weights of the audio encoder of a multimodal config. Sources: huggingface/transformers,
 * modeling_qwen2_audio.py, modeling_voxtral.py (both like Whisper's) and modular_gemma4.py.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/config_parts.h"
#include "model/model_make.h"

#define SIZE_MAX_VALUE 1000000
#define NAMES_MAX 2

/* An audio encoder that is being read. */
struct sound_reading {
    const struct config *config;
    const roof_json_value *audio; /* audio_config */
    struct roof_sound sound;
    bool missing; /* a size */
};

/* Reads a size in the first of its spellings; 0: the class has none, and it is missing. */
static enum roof_status read_size(double *out, struct sound_reading *r,
                                  const char *const names[NAMES_MAX], int64_t otherwise)
{
    const roof_json_value *value = NULL;
    int64_t size = otherwise;
    for (int i = 0; i < NAMES_MAX && names[i] != NULL && value == NULL; i++) {
        value = roof_json_get(r->audio, names[i]);
    }
    if (value != NULL && !roof_json_is_null(value)) {
        TRY(roof_config_integer(&size, r->config, value, roof_json_key(value), 1, SIZE_MAX_VALUE));
    }
    *out = (double)size;
    r->missing = r->missing || size == 0;
    return ROOF_OK;
}

static void matrix(struct sound_reading *r, double count, double n, double k)
{
    r->sound.elements += count * n * k;
    r->sound.channels += count * n;
}

/* Counts an encoder like Whisper's: two convolutions over time, positions, and layers whose K has
 * no bias. */
static enum roof_status read_whisper(struct sound_reading *r, double *out)
{
    const struct {
        const char *names[NAMES_MAX];
        int64_t otherwise;
    } sizes[] = {{{"d_model", "hidden_size"}, 0},
                 {{"encoder_layers", "num_hidden_layers"}, 0},
                 {{"encoder_ffn_dim", "intermediate_size"}, 0},
                 {{"num_mel_bins", NULL}, 128},
                 {{"max_source_positions", NULL}, 1500}};
    double size[COUNT(sizes)];
    for (size_t i = 0; i < COUNT(sizes); i++) {
        TRY(read_size(&size[i], r, sizes[i].names, sizes[i].otherwise));
    }
    const double h = size[0];
    const double layers = size[1];
    const double inner = size[2];
    matrix(r, 1, h, 3 * size[3]);
    matrix(r, 1, h, 3 * h);
    matrix(r, 4 * layers, h, h);
    matrix(r, layers, inner, h);
    matrix(r, layers, h, inner);
    r->sound.vectors += 2 * h + size[4] * h + layers * (3 * h + inner + h + 4 * h) + 2 * h;
    out[0] = h;
    out[1] = inner;
    return ROOF_OK;
}

/* Reads Qwen2-Audio: a product makes tokens of the mean of two frames. */
static enum roof_status read_qwen2_audio(struct sound_reading *r)
{
    const double hidden = (double)r->config->model->hidden;
    double wide[2];
    TRY(read_whisper(r, wide));
    matrix(r, 1, hidden, wide[0]);
    r->sound.vectors += hidden;
    return ROOF_OK;
}

/* Reads Voxtral: two products without bias, the first over as many frames as the MLP is wide. */
static enum roof_status read_voxtral(struct sound_reading *r)
{
    const double hidden = (double)r->config->model->hidden;
    double wide[2];
    TRY(read_whisper(r, wide));
    matrix(r, 1, hidden, wide[1]);
    matrix(r, 1, hidden, hidden);
    return ROOF_OK;
}

/* Returns an item of the list of channels of the convolutions. */
static double channels(const struct sound_reading *r, size_t index, double otherwise)
{
    const roof_json_value *const list = roof_json_get(r->audio, "subsampling_conv_channels");
    const roof_json_value *item = roof_json_first(list);
    double number = otherwise;
    for (size_t i = 0; i < index && item != NULL; i++) {
        item = roof_json_next(item);
    }
    (void)roof_json_number(&number, item);
    return number >= 1 && number <= SIZE_MAX_VALUE ? number : otherwise;
}

/* Reads Gemma 4: convolutions over time and frequency, then layers of two MLPs, attention within
 * chunks whose positions have a projection of their own, and a convolution of each element. */
static enum roof_status read_gemma4(struct sound_reading *r)
{
    const struct {
        const char *names[NAMES_MAX];
        int64_t otherwise;
    } sizes[] = {{{"hidden_size", NULL}, 1024},
                 {{"num_hidden_layers", NULL}, 12},
                 {{"num_attention_heads", NULL}, 8},
                 {{"conv_kernel_size", NULL}, 5},
                 {{"output_proj_dims", NULL}, 1536}};
    double size[COUNT(sizes)];
    for (size_t i = 0; i < COUNT(sizes); i++) {
        TRY(read_size(&size[i], r, sizes[i].names, sizes[i].otherwise));
    }
    const double h = size[0];
    const double layers = size[1];
    const double first = channels(r, 0, 128);
    const double second = channels(r, 1, 32);
    matrix(r, 1, first, 9);
    matrix(r, 1, second, 9 * first);
    matrix(r, 1, h, floor(first / 4) * second);
    matrix(r, 2 * layers, 4 * h, h);
    matrix(r, 2 * layers, h, 4 * h);
    matrix(r, 5 * layers, h, h); /* Q, K, V, O, positions */
    matrix(r, layers, 2 * h, h);
    matrix(r, layers, h, h);
    matrix(r, 1, size[4], h);
    matrix(r, 1, (double)r->config->model->hidden, size[4]);
    /* Norms of the convolutions; of each layer two for each MLP, two of its convolution, three
     * more, a scale for each element of a head, and the convolution itself. */
    r->sound.vectors += first + second + size[4] + layers * ((9 + size[3]) * h + h / size[2]);
    return ROOF_OK;
}

/* The model_type of the whole model says which class encodes its sound. */
static const struct {
    const char *type;
    enum roof_status (*read)(struct sound_reading *r);
} types[] = {{"qwen2_audio", read_qwen2_audio}, {"voxtral", read_voxtral}, {"gemma4", read_gemma4}};

enum roof_status roof_config_sound(const struct config *c)
{
    const char *const type = roof_json_string(roof_json_get(c->root, "model_type"));
    struct sound_reading r = {.config = c, .audio = roof_json_get(c->root, "audio_config")};
    size_t i = 0;
    if (!roof_json_is_object(r.audio)) {
        return ROOF_OK;
    }
    while (i < COUNT(types) && (type == NULL || strcmp(types[i].type, type) != 0)) {
        i++;
    }
    if (i < COUNT(types)) {
        TRY(types[i].read(&r));
    }
    const bool known = i < COUNT(types) && !r.missing;
    if (known) {
        c->model->sound = r.sound;
    }
    if (*c->model->notes == NULL) { /* else the registry has its own notes */
        roof_model_note(c->model, known ? "the encoder of sound counts in memory alone"
                                        : "the encoder of sound is not counted");
    }
    return ROOF_OK;
}
