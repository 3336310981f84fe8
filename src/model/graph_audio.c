// SPDX-License-Identifier: MIT
/* The audio encoder: from a spectrogram to tokens of the prompt. docs/formulas.md ("Audio"). */
#include "model/audio.h"
#include "model/graph_parts.h"
#include "operator/operator.h"

#define TAPS 3 /* of the convolutions before the layers, over each dimension */

/* The encoder of a pass. Each device has it whole. */
struct encoder {
    const struct roof_audio *audio;
    struct roof_clip clip;
    int64_t clips;
    int64_t rows;    /* of all clips, in the layers */
    int64_t results; /* of all clips, that are mapped to tokens */
};

/* A convolution: m positions of n channels from k, each over so many taps. */
struct convolution {
    const char *name;
    int64_t batch, m, n, k, taps, subsample;
    bool bias;
};

static void convolve(struct builder *b, const struct convolution *c)
{
    struct roof_node node =
        roof_encoder_make_product(b, c->name, c->m, c->n, c->k * c->taps, c->bias);
    node.workload.op = ROOF_OPERATOR_CONV2D;
    node.workload.shape = (struct roof_shape){.batch = c->batch,
                                              .m = c->m,
                                              .n = c->n,
                                              .k = c->k,
                                              .taps = c->taps,
                                              .subsample = c->subsample};
    roof_graph_add(b, &node);
}

/* Adds the product that makes Q, K and V, and as many elements of vectors. */
static void qkv(struct builder *b, const struct encoder *e, bool bias, int64_t vectors)
{
    const int64_t h = e->audio->hidden;
    struct roof_node node = roof_encoder_make_product(b, "audio_qkv_proj", e->rows, 3 * h, h, bias);
    node.vectors = (double)vectors;
    roof_graph_add(b, &node);
}

/* --- Whisper ------------------------------------------------------------------------------- */

static void whisper_embed(struct builder *b, const struct encoder *e)
{
    const struct roof_audio *const a = e->audio;
    const int64_t windows = e->clips * e->clip.windows;
    const struct convolution first = {.name = "audio_conv_0",
                                      .batch = windows,
                                      .m = 2 * a->positions,
                                      .n = a->hidden,
                                      .k = a->mels,
                                      .taps = TAPS,
                                      .subsample = 1,
                                      .bias = true};
    const struct convolution second = {.name = "audio_conv_1",
                                       .batch = windows,
                                       .m = a->positions,
                                       .n = a->hidden,
                                       .k = a->hidden,
                                       .taps = TAPS,
                                       .subsample = 2,
                                       .bias = true};
    convolve(b, &first);
    roof_encoder_activate(b, "audio_conv_act_0", 2 * e->rows, a->hidden, false);
    convolve(b, &second);
    roof_encoder_activate(b, "audio_conv_act_1", e->rows, a->hidden, false);
    roof_encoder_add(b, "audio_positions", e->rows, a->hidden,
                     (double)a->positions * (double)a->hidden);
}

static void whisper_layers(struct builder *b, const struct encoder *e)
{
    const struct roof_audio *const a = e->audio;
    const int64_t h = a->hidden;
    const struct roof_shape shape = {.batch = e->clips * e->clip.windows,
                                     .heads = a->heads,
                                     .kv_heads = a->heads,
                                     .head_dim = h / a->heads,
                                     .query_len = a->positions,
                                     .kv_len = a->positions};
    struct roof_reads stream = b->from;
    b->times = a->layers;
    roof_encoder_norm(b, "audio_attn_norm", e->rows, h, true);
    qkv(b, e, true, 2 * h); /* K has no bias: engines add zeros */
    roof_encoder_attend(b, "audio_attention", &shape);
    roof_encoder_product(b, "audio_o_proj", e->rows, h, h, true);
    roof_reads_join(&b->from, &stream);
    roof_encoder_add(b, "audio_attn_add", e->rows, h, 0);
    stream = b->from;
    roof_encoder_norm(b, "audio_mlp_norm", e->rows, h, true);
    roof_encoder_product(b, "audio_up_proj", e->rows, a->intermediate, h, true);
    roof_encoder_activate(b, "audio_mlp_act", e->rows, a->intermediate, false);
    roof_encoder_product(b, "audio_down_proj", e->rows, h, a->intermediate, true);
    roof_reads_join(&b->from, &stream);
    roof_encoder_add(b, "audio_mlp_add", e->rows, h, 0);
    b->times = 1;
    const int64_t rows = e->clips * (e->clip.rows / a->pooled);
    if (a->pooled > 1) { /* the mean of two rows reads and writes what their sum does */
        roof_encoder_add(b, "audio_pool", rows, h, 0);
    }
    roof_encoder_norm(b, "audio_final_norm", rows, h, true);
}

/* --- a conformer --------------------------------------------------------------------------- */

static void conformer_embed(struct builder *b, const struct encoder *e)
{
    const struct roof_audio *const a = e->audio;
    const int64_t frames = roof_audio_half(e->clip.frames);
    const int64_t bins = roof_audio_half(a->mels);
    const struct convolution first = {.name = "audio_conv_0",
                                      .batch = e->clips,
                                      .m = frames * bins,
                                      .n = a->channels[0],
                                      .k = 1,
                                      .taps = (int64_t)TAPS * TAPS,
                                      .subsample = 4};
    const struct convolution second = {.name = "audio_conv_1",
                                       .batch = e->clips,
                                       .m = e->clip.rows * roof_audio_quarter(a->mels),
                                       .n = a->channels[1],
                                       .k = a->channels[0],
                                       .taps = (int64_t)TAPS * TAPS,
                                       .subsample = 4};
    convolve(b, &first);
    roof_encoder_norm(b, "audio_conv_norm_0", e->clips * first.m, first.n, false);
    roof_encoder_activate(b, "audio_conv_act_0", e->clips * first.m, first.n, false);
    convolve(b, &second);
    roof_encoder_norm(b, "audio_conv_norm_1", e->clips * second.m, second.n, false);
    roof_encoder_activate(b, "audio_conv_act_1", e->clips * second.m, second.n, false);
    roof_encoder_product(b, "audio_in_proj", e->rows, a->hidden, a->inputs, false);
}

/* Adds one of the two MLPs of a layer. */
static void conformer_mlp(struct builder *b, const struct encoder *e, int which)
{
    static const char *const names[2][6] = {
        {"audio_mlp_norm_0", "audio_up_proj_0", "audio_mlp_act_0", "audio_down_proj_0",
         "audio_mlp_post_norm_0", "audio_mlp_add_0"},
        {"audio_mlp_norm_1", "audio_up_proj_1", "audio_mlp_act_1", "audio_down_proj_1",
         "audio_mlp_post_norm_1", "audio_mlp_add_1"}};
    const char *const *const name = names[which];
    const struct roof_audio *const a = e->audio;
    const struct roof_reads stream = b->from;
    roof_encoder_norm(b, name[0], e->rows, a->hidden, false);
    roof_encoder_product(b, name[1], e->rows, a->intermediate, a->hidden, false);
    roof_encoder_activate(b, name[2], e->rows, a->intermediate, false);
    roof_encoder_product(b, name[3], e->rows, a->hidden, a->intermediate, false);
    roof_encoder_norm(b, name[4], e->rows, a->hidden, false);
    roof_reads_join(&b->from, &stream);
    roof_encoder_add(b, name[5], e->rows, a->hidden, 0);
}

/* Adds the scores of the positions of the keys of a window, of which each layer has a product. */
static struct roof_reads position_scores(struct builder *b, const struct encoder *e,
                                         const struct roof_reads *queries)
{
    const struct roof_audio *const a = e->audio;
    struct roof_node node = roof_encoder_make_product(b, "audio_position_scores", e->rows,
                                                      a->window, a->hidden / a->heads, false);
    struct roof_formats f = b->s->common.formats;
    f.weights = f.activations = f.out;
    f.compute = ROOF_PRECISION_AUTO;
    node.workload.op = ROOF_OPERATOR_BMM;
    node.workload.shape.batch = a->heads;
    node.workload.formats = f;
    node.elements = node.channels = 0;
    node.tensors = 0;
    node.weight = ROOF_WEIGHT_COUNT;
    b->from.count = 0;
    roof_encoder_product(b, "audio_position_proj", a->window, a->hidden, a->hidden, false);
    roof_reads_join(&b->from, queries);
    roof_graph_add(b, &node);
    return b->from;
}

static void conformer_attention(struct builder *b, const struct encoder *e)
{
    const struct roof_audio *const a = e->audio;
    const int64_t h = a->hidden;
    const struct roof_reads stream = b->from;
    const struct roof_shape shape = {.batch = e->clips,
                                     .heads = a->heads,
                                     .kv_heads = a->heads,
                                     .head_dim = h / a->heads,
                                     .query_len = e->clip.rows,
                                     .kv_len = e->clip.rows,
                                     .causal = 1,
                                     .window = a->window};
    roof_encoder_norm(b, "audio_attn_norm", e->rows, h, false);
    qkv(b, e, false, h / a->heads); /* a scale of each element of a head */
    struct roof_reads queries = b->from;
    const struct roof_reads scores = position_scores(b, e, &queries);
    roof_reads_join(&queries, &scores);
    b->from = queries;
    roof_encoder_attend(b, "audio_attention", &shape);
    roof_encoder_product(b, "audio_o_proj", e->rows, h, h, false);
    roof_encoder_norm(b, "audio_attn_post_norm", e->rows, h, false);
    roof_reads_join(&b->from, &stream);
    roof_encoder_add(b, "audio_attn_add", e->rows, h, 0);
}

/* Adds a gated product, a convolution of each element over the last rows, and a product. */
static void conformer_convolution(struct builder *b, const struct encoder *e)
{
    const struct roof_audio *const a = e->audio;
    const int64_t h = a->hidden;
    const struct roof_reads stream = b->from;
    struct roof_node node = {.name = "audio_short_conv",
                             .weight = ROOF_WEIGHT_NORM,
                             .workload = {.op = ROOF_OPERATOR_SHORT_CONV,
                                          .shape = {.batch = e->clips,
                                                    .query_len = e->clip.rows,
                                                    .hidden = h,
                                                    .taps = a->taps},
                                          .formats = roof_graph_vector_formats(b)},
                             .vectors = (double)h * (double)a->taps,
                             .vector_format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights};
    roof_encoder_norm(b, "audio_conv_norm", e->rows, h, false);
    roof_encoder_product(b, "audio_conv_in_proj", e->rows, 2 * h, h, false);
    roof_encoder_activate(b, "audio_conv_gate", e->rows, h, true);
    roof_graph_add(b, &node);
    roof_encoder_norm(b, "audio_conv_mid_norm", e->rows, h, false);
    roof_encoder_activate(b, "audio_conv_act", e->rows, h, false);
    roof_encoder_product(b, "audio_conv_out_proj", e->rows, h, h, false);
    roof_reads_join(&b->from, &stream);
    roof_encoder_add(b, "audio_conv_add", e->rows, h, 0);
}

static void conformer_layers(struct builder *b, const struct encoder *e)
{
    b->times = e->audio->layers;
    conformer_mlp(b, e, 0);
    conformer_attention(b, e);
    conformer_convolution(b, e);
    conformer_mlp(b, e, 1);
    roof_encoder_norm(b, "audio_layer_norm", e->rows, e->audio->hidden, false);
    b->times = 1;
}

/* --- both ---------------------------------------------------------------------------------- */

/* Adds the products that make tokens, with the norms around the last one. */
static void project(struct builder *b, const struct encoder *e)
{
    static const char *const names[] = {"audio_project_0", "audio_project_1"};
    const struct roof_audio *const a = e->audio;
    const int last = a->project[1].in > 0 ? 1 : 0;
    for (int i = 0; i <= last; i++) {
        const struct roof_projection *const p = &a->project[i];
        if (i == last && a->norm == ROOF_AUDIO_BARE_NORM) {
            roof_encoder_bare_norm(b, "audio_project_norm", e->results, p->in);
        } else if (i == last && a->norm == ROOF_AUDIO_NORM_POST) {
            roof_encoder_norm(b, "audio_project_norm", e->results, p->in, false);
        }
        roof_encoder_product(b, names[i], e->results, p->out, p->in, p->bias);
        if (p->act == ROOF_PROJECTION_GELU) {
            roof_encoder_activate(b, "audio_project_act", e->results, p->out, false);
        }
        if (i == last && a->norm == ROOF_AUDIO_NORM_POST) {
            roof_encoder_bare_norm(b, "audio_project_post_norm", e->results, p->out);
        }
    }
}

static void encode(struct builder *b, const struct encoder *e)
{
    const bool whisper = e->audio->positions > 0;
    b->block = ROOF_BLOCK_ENCODER;
    b->from.count = 0;
    if (whisper) {
        whisper_embed(b, e);
        whisper_layers(b, e);
    } else {
        conformer_embed(b, e);
        conformer_layers(b, e);
    }
    project(b, e);
    roof_graph_flush(b);
    b->block = ROOF_BLOCK_ENDS;
}

void roof_graph_audio(struct builder *b)
{
    const struct roof_scenario *const s = b->s;
    const struct roof_audio *const a = &b->model->audio;
    const bool runs =
        s->media.audio > 0 && (s->phase == ROOF_PHASE_PREFILL || s->phase == ROOF_PHASE_ENCODE);
    const size_t first = b->graph->count;
    struct encoder e = {.audio = a, .clips = runs ? b->group[0].batch * s->media.audio : 1};
    if (a->layers == 0) {
        return;
    }
    e.clip = roof_audio_clip(a, runs ? s->media.audio_length_s : 1);
    e.rows = e.clips * e.clip.rows;
    e.results = e.clips * e.clip.results;
    encode(b, &e);
    roof_encoder_residual(b, e.rows, a->hidden, runs);
    roof_encoder_unused(b, a->unused);
    roof_encoder_end(b, first, runs);
}
