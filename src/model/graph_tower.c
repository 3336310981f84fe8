// SPDX-License-Identifier: MIT
/* The vision encoder: from patches to tokens of the prompt. docs/formulas.md ("Images"). */
#include <math.h>

#include "base/base.h"
#include "model/graph_parts.h"
#include "model/tower.h"
#include "operator/operator.h"

/* The encoder of a pass, as one device runs it. */
struct encoder {
    const struct roof_tower *tower;
    struct roof_image image;
    int64_t images;   /* on this device */
    int64_t patches;  /* of all images */
    int64_t embedded; /* of all images: patches and class tokens */
    int64_t rows;     /* these in the layers, where squares may be filled up */
    int64_t tokens;   /* of all images */
    int64_t tp;       /* devices that share heads and widths; 1: each has the encoder whole */
};

void roof_encoder_norm(struct builder *b, const char *name, int64_t tokens, int64_t hidden,
                       bool layernorm)
{
    roof_graph_vector(b, name, layernorm ? ROOF_OPERATOR_LAYERNORM : ROOF_OPERATOR_RMSNORM,
                      (struct roof_shape){.tokens = tokens, .hidden = hidden, .gain = 1},
                      (double)hidden * (layernorm ? 2 : 1));
}

void roof_encoder_bare_norm(struct builder *b, const char *name, int64_t tokens, int64_t hidden)
{
    roof_graph_vector(b, name, ROOF_OPERATOR_RMSNORM,
                      (struct roof_shape){.tokens = tokens, .hidden = hidden}, 0);
}

void roof_encoder_add(struct builder *b, const char *name, int64_t tokens, int64_t hidden,
                      double vectors)
{
    roof_graph_vector(b, name, ROOF_OPERATOR_ADD,
                      (struct roof_shape){.tokens = tokens, .hidden = hidden}, vectors);
}

void roof_encoder_activate(struct builder *b, const char *name, int64_t rows, int64_t width,
                           bool gated)
{
    roof_graph_vector(b, name, gated ? ROOF_OPERATOR_SILU_MUL : ROOF_OPERATOR_GELU,
                      (struct roof_shape){.tokens = rows, .hidden = width}, 0);
}

struct roof_node roof_encoder_make_product(struct builder *b, const char *name, int64_t rows,
                                           int64_t n, int64_t k, bool bias)
{
    struct roof_node node = roof_graph_make_product(b, name, ROOF_WEIGHT_VISION, rows, n, k, bias);
    node.workload.formats.compute = ROOF_PRECISION_AUTO;
    return node;
}

void roof_encoder_product(struct builder *b, const char *name, int64_t rows, int64_t n, int64_t k,
                          bool bias)
{
    struct roof_node node = roof_encoder_make_product(b, name, rows, n, k, bias);
    roof_graph_add(b, &node);
}

static void sum_over_devices(struct builder *b, const struct encoder *e, const char *name)
{
    if (e->tp > 1) {
        roof_graph_collective(b, name, ROOF_OPERATOR_ALL_REDUCE, b->s->common.formats.out,
                              e->rows * e->tower->hidden, e->tp, b->stage.tp_within);
    }
}

void roof_encoder_attend(struct builder *b, const char *name, const struct roof_shape *shape)
{
    struct roof_formats f = b->s->common.formats;
    f.activations = f.kv = f.out; /* K and V are not cached */
    f.compute = ROOF_PRECISION_AUTO;
    struct roof_node node = {.name = name,
                             .weight = ROOF_WEIGHT_COUNT,
                             .workload = {.op = b->s->unfused_attention > 0
                                                    ? ROOF_OPERATOR_ATTENTION
                                                    : ROOF_OPERATOR_FLASH_ATTENTION,
                                          .shape = *shape,
                                          .formats = f},
                             .vector_format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights};
    roof_graph_add(b, &node);
}

/* Adds attention among so many patches, in so many places at once. */
static void attend(struct builder *b, const struct encoder *e, const char *name, int64_t places,
                   int64_t patches)
{
    const struct roof_tower *const t = e->tower;
    const struct roof_shape shape = {.batch = places,
                                     .heads = t->heads / e->tp,
                                     .kv_heads = t->heads / e->tp,
                                     .head_dim = t->head_dim,
                                     .query_len = patches,
                                     .kv_len = patches};
    roof_encoder_attend(b, name, &shape);
}

/* Adds the attention of all layers: over whole grids in some of them, within windows in others. */
static void attention(struct builder *b, const struct encoder *e)
{
    static const char *const names[ROOF_WINDOW_KINDS] = {
        "image_attention_window", "image_attention_right", "image_attention_low",
        "image_attention_corner"};
    const struct roof_tower *const t = e->tower;
    const struct roof_reads input = b->from;
    struct roof_reads attended = {.count = 0};
    struct roof_windows windows[ROOF_WINDOW_KINDS];
    b->times = t->window > 0 ? t->full : t->layers;
    if (b->times > 0) {
        const int64_t grids = t->crossed ? e->images : e->images * e->image.squares;
        attend(b, e, "image_attention", grids, e->rows / grids);
        attended = b->from;
    }
    if (t->window > 0 && t->full < t->layers) {
        roof_tower_windows(windows, t, &e->image);
        b->times = t->layers - t->full;
        for (int i = 0; i < ROOF_WINDOW_KINDS; i++) {
            if (windows[i].count > 0) {
                b->from = input;
                attend(b, e, names[i], e->images * windows[i].count, windows[i].patches);
                roof_reads_join(&attended, &b->from);
            }
        }
    }
    b->times = t->layers;
    b->from = attended;
}

static void mlp(struct builder *b, const struct encoder *e)
{
    const struct roof_tower *const t = e->tower;
    const int64_t width = roof_divide_up(t->intermediate, e->tp);
    roof_encoder_product(b, t->gated ? "image_gate_up_proj" : "image_up_proj", e->rows,
                         t->gated ? 2 * width : width, t->hidden, t->bias);
    roof_encoder_activate(b, "image_mlp_act", e->rows, width, t->gated);
    roof_encoder_product(b, "image_down_proj", e->rows, t->hidden, width, t->bias);
    sum_over_devices(b, e, "image_mlp_all_reduce");
}

/* Adds the norms of Q, K and V, of all heads at once or of each. */
static void norm_qkv(struct builder *b, const struct encoder *e, int64_t heads)
{
    const struct roof_tower *const t = e->tower;
    const int64_t rows = t->wide_norm ? 1 : heads; /* parts with separate norms */
    const int64_t width = heads / rows * t->head_dim;
    const struct roof_reads made = b->from;
    struct roof_reads normed;
    if (!t->wide_norm && !t->head_norms) {
        return;
    }
    roof_encoder_norm(b, "image_q_norm", e->rows * rows, width, false);
    normed = b->from;
    b->from = made;
    roof_encoder_norm(b, "image_k_norm", e->rows * rows, width, false);
    roof_reads_join(&normed, &b->from);
    b->from = made;
    if (t->head_norms) {
        roof_encoder_bare_norm(b, "image_v_norm", e->rows * heads, t->head_dim);
    }
    roof_reads_join(&normed, &b->from);
    b->from = normed;
}

/* Adds the end of attention or an MLP: a norm in some classes, and the sum with the stream. */
static void end_part(struct builder *b, const struct encoder *e, const char *name,
                     const char *norm_name, struct roof_reads *stream)
{
    const struct roof_tower *const t = e->tower;
    if (t->layer_posts) {
        roof_encoder_norm(b, norm_name, e->rows, t->hidden, t->layernorm);
    }
    roof_reads_join(&b->from, stream);
    roof_encoder_add(b, name, e->rows, t->hidden, t->layer_scales ? (double)t->hidden : 0);
    *stream = b->from;
}

static void encoder_layers(struct builder *b, const struct encoder *e)
{
    const struct roof_tower *const t = e->tower;
    const int64_t heads = t->heads / e->tp;
    const int64_t width = heads * t->head_dim;
    struct roof_reads stream = b->from;
    b->times = t->layers;
    roof_encoder_norm(b, "image_attn_norm", e->rows, t->hidden, t->layernorm);
    roof_encoder_product(b, "image_qkv_proj", e->rows, 3 * width, t->hidden, t->qkv_bias);
    norm_qkv(b, e, heads);
    if (t->rotary) {
        roof_graph_vector(
            b, "image_rope", ROOF_OPERATOR_ROPE,
            (struct roof_shape){
                .tokens = e->rows, .heads = heads, .kv_heads = heads, .head_dim = t->head_dim},
            0);
    }
    attention(b, e);
    roof_encoder_product(b, "image_o_proj", e->rows, t->hidden, width, t->bias && !t->plain_out);
    sum_over_devices(b, e, "image_attn_all_reduce");
    end_part(b, e, "image_attn_add", "image_attn_post_norm", &stream);
    roof_encoder_norm(b, "image_mlp_norm", e->rows, t->hidden, t->layernorm);
    mlp(b, e);
    end_part(b, e, "image_mlp_add", "image_mlp_post_norm", &stream);
    b->times = 1;
}

/* Adds the norm before the products that make tokens. */
static void project_norm(struct builder *b, const struct encoder *e)
{
    static const char name[] = "image_project_norm";
    const struct roof_tower *const t = e->tower;
    const bool of_tokens = t->project_norm == ROOF_PROJECTION_TOKEN_NORM;
    const int64_t rows = of_tokens ? e->tokens : e->patches;
    const int64_t width = of_tokens ? t->project[0].in : t->hidden;
    if (t->project_norm == ROOF_PROJECTION_NO_NORM) {
        return;
    }
    if (t->project_no_gain) {
        roof_encoder_bare_norm(b, name, rows, width);
    } else {
        roof_encoder_norm(b, name, rows, width, t->project_layer);
    }
}

/* Adds the products that make tokens of the output of a layer, in `times` places. */
static void project(struct builder *b, const struct encoder *e, bool tap, int64_t times)
{
    static const char *const names[2][3][ROOF_PROJECTIONS_MAX] = {
        {{"image_project_0", "image_project_1", "image_project_2", "image_project_3"},
         {"image_project_act_0", "image_project_act_1", "image_project_act_2",
          "image_project_act_3"},
         {"image_project_norm_0", "image_project_norm_1", "image_project_norm_2",
          "image_project_norm_3"}},
        {{"image_tap_0", "image_tap_1", "image_tap_2", "image_tap_3"},
         {"image_tap_act_0", "image_tap_act_1", "image_tap_act_2", "image_tap_act_3"},
         {"image_tap_norm_0", "image_tap_norm_1", "image_tap_norm_2", "image_tap_norm_3"}}};
    const struct roof_tower *const t = e->tower;
    b->times = times;
    if (tap) {
        roof_encoder_norm(b, "image_tap_norm", e->tokens, t->project[0].in, t->layernorm);
    } else {
        project_norm(b, e);
    }
    for (int i = 0; i < ROOF_PROJECTIONS_MAX && t->project[i].in > 0; i++) {
        const struct roof_projection *const p = &t->project[i];
        const bool gated = p->act == ROOF_PROJECTION_GATED;
        const int64_t rows = p->of_patches ? e->patches : e->tokens;
        roof_encoder_product(b, names[tap][0][i], rows, gated ? 2 * p->out : p->out, p->in,
                             p->bias);
        if (p->norm) {
            roof_encoder_norm(b, names[tap][2][i], rows, p->out, true);
        }
        if (p->act != ROOF_PROJECTION_PLAIN) {
            roof_encoder_activate(b, names[tap][1][i], rows, p->out, gated);
        }
    }
    if (t->project_post && !tap) {
        roof_encoder_norm(b, "image_project_post_norm", e->tokens, b->model->hidden, false);
    }
    b->times = 1;
}

/* Adds the operators that make the hidden states of the first layer: each patch is a row of its
 * elements. */
static void embed(struct builder *b, const struct encoder *e)
{
    const struct roof_tower *const t = e->tower;
    const double table = (double)(t->position_rows + (t->class_token ? 1 : 0)) * (double)t->hidden;
    b->from.count = 0;
    roof_encoder_product(b, "image_patches", e->patches, t->hidden, t->inputs, t->patch_bias);
    if (t->position_rows > 0) {
        roof_encoder_add(b, "image_positions", e->embedded, t->hidden, table);
    }
    if (t->tile_rows > 0) {
        roof_encoder_add(b, "image_tiles", e->embedded, t->hidden,
                         (double)t->tile_rows * (double)t->hidden + (double)t->scalars);
    }
    if (t->pre_norm) {
        roof_encoder_norm(b, "image_norm", e->embedded, t->hidden, t->layernorm);
    }
}

/* Counts the weights of layers and norms that no token passes; the layers begin at a node. */
static void leave_idle(struct builder *b, const struct roof_tower *t, size_t first)
{
    const double layers = (double)t->skipped;
    roof_encoder_unused(b, t->unused);
    for (size_t i = first; i < b->graph->count; i++) {
        const struct roof_node *const node = &b->graph->node[i];
        b->graph->idle_bytes += layers * (roof_node_bytes(node) / (double)node->count);
        b->graph->idle_parameters += layers * (node->elements + node->vectors);
    }
}

static void encode(struct builder *b, const struct encoder *e)
{
    const struct roof_tower *const t = e->tower;
    b->block = ROOF_BLOCK_ENCODER;
    embed(b, e);
    roof_graph_flush(b);
    const size_t first = b->graph->count;
    encoder_layers(b, e);
    if (t->skipped > 0 || t->unused > 0) {
        roof_graph_flush(b);
        leave_idle(b, t, first);
    }
    const struct roof_reads last = b->from;
    if (t->taps > 0) {
        project(b, e, true, t->taps);
        b->from = last;
    }
    if (t->post_norm) {
        roof_encoder_norm(b, "image_final_norm", e->rows, t->hidden, t->layernorm);
    }
    if (t->late_rows > 0) {
        roof_encoder_add(b, "image_late_tiles", e->rows, t->hidden,
                         (double)t->late_rows * (double)t->hidden);
    }
    project(b, e, false, 1);
    roof_graph_flush(b);
    b->block = ROOF_BLOCK_ENDS;
}

void roof_encoder_unused(struct builder *b, int64_t elements)
{
    const enum roof_precision format = roof_graph_formats(b, ROOF_WEIGHT_NORM).weights;
    b->graph->idle_bytes += roof_tensor_bytes(format, (double)elements, 0, 0);
    b->graph->idle_parameters += (double)elements;
}

void roof_encoder_residual(struct builder *b, int64_t rows, int64_t hidden, bool runs)
{
    const double bytes =
        roof_tensor_bytes(b->s->common.formats.out, (double)rows * (double)hidden, 1, (double)rows);
    if (b->s->phase == ROOF_PHASE_ENCODE && runs) {
        b->graph->residual_bytes = fmax(b->graph->residual_bytes, bytes);
    }
}

void roof_encoder_end(struct builder *b, size_t first, bool runs)
{
    roof_graph_flush(b);
    if (runs) {
        return;
    }
    for (size_t i = first; i < b->graph->count; i++) { /* its weights are there all the same */
        const struct roof_node *const node = &b->graph->node[i];
        b->graph->idle_bytes += roof_node_bytes(node);
        b->graph->idle_parameters += (double)node->count * (node->elements + node->vectors);
    }
    b->graph->count = first;
    b->from.count = 0;
}

void roof_graph_encoder(struct builder *b)
{
    const struct roof_scenario *const s = b->s;
    const struct roof_tower *const t = &b->model->tower;
    const bool runs = roof_encodes_images(s);
    const struct roof_sizes size = roof_sizes_unpack(s->media.image_size);
    struct encoder e = {.tower = t, .tp = t->heads % s->tp == 0 ? s->tp : 1};
    if (t->layers == 0) {
        roof_encoder_unused(b, t->unused);
        return;
    }
    e.image = roof_tower_image(t, runs ? size.size[0] : t->patch * t->merge,
                               runs ? size.size[1] : t->patch * t->merge);
    e.images = runs ? b->group[0].batch * s->media.images : 1;
    e.patches = e.images * e.image.squares * e.image.columns * e.image.rows;
    e.embedded = e.images * roof_tower_embedded(t, &e.image);
    e.rows = e.images * roof_tower_rows(t, &e.image);
    e.tokens = e.images * e.image.tokens;
    encode(b, &e);
    roof_encoder_residual(b, e.rows, t->hidden, runs);
    roof_encoder_end(b, 0, runs);
}
