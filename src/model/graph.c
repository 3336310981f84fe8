// SPDX-License-Identifier: MIT
/* Graphs: from a resolved scenario to the operators that one device runs. */
#include "model/graph_parts.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

const char *roof_block_name(enum roof_block block)
{
    static const char *const names[ROOF_BLOCK_COUNT] = {[ROOF_BLOCK_ENDS] = "ends",
                                                        [ROOF_BLOCK_ENCODER] = "encoder",
                                                        [ROOF_BLOCK_ATTENTION] = "attention",
                                                        [ROOF_BLOCK_MLP] = "mlp"};
    return names[block];
}

int64_t roof_block_layers(const struct roof_model *model, enum roof_block block)
{
    int64_t layers = block == ROOF_BLOCK_ENDS ? 1 : 0;
    if (block == ROOF_BLOCK_ENCODER) {
        return model->tower.layers;
    }
    for (int64_t i = 0; i < model->layers; i++) {
        const struct roof_layer *const layer = &model->layer[model->layer_class[i]];
        layers += (block == ROOF_BLOCK_ATTENTION && (!layer->no_attention || layer->stateful)) ||
                  (block == ROOF_BLOCK_MLP && !layer->no_mlp);
    }
    return layers;
}

/* Names the sum at the end of a layer that has its own embedding. */
#define LAYER_ADD "embedding_out_add"

/* Adds the quantisation of the input of the operators that mix the tokens of a layer; if the MLP
 * reads the same norm, for both. */
static void quantize_mixed(struct builder *b)
{
    const struct roof_model *const m = b->model;
    enum roof_weight readers[8];
    int count = 0;
    if (m->key_is_value) {
        readers[count++] = ROOF_WEIGHT_Q_A;
        readers[count++] = ROOF_WEIGHT_KV_A;
        if (b->layer->ratio > 0) {
            readers[count++] = ROOF_WEIGHT_COMPRESS;
        }
    } else if (!b->layer->no_attention && m->kv_lora_rank > 0) {
        readers[count++] = m->q_lora_rank > 0 ? ROOF_WEIGHT_Q_A : ROOF_WEIGHT_Q;
        readers[count++] = ROOF_WEIGHT_KV_A;
        if (roof_chooses_keys(m, b->layer)) {
            readers[count++] = ROOF_WEIGHT_INDEX;
        }
    } else if (!b->layer->no_attention) {
        readers[count++] = ROOF_WEIGHT_Q;
        if (!b->layer->keyless && !b->layer->crossed) {
            readers[count++] = ROOF_WEIGHT_K;
            readers[count++] = ROOF_WEIGHT_V;
        }
        if (b->layer->blocks) {
            readers[count++] = ROOF_WEIGHT_INDEX;
        }
    }
    if (b->layer->stateful) {
        readers[count++] = ROOF_WEIGHT_MIXER_IN;
    }
    if (m->parallel && !m->own_norms && !b->layer->no_mlp) {
        readers[count++] = b->layer->moe ? ROOF_WEIGHT_ROUTER : ROOF_WEIGHT_UP;
        if (m->gated && !b->layer->moe) {
            readers[count++] = ROOF_WEIGHT_GATE;
        }
    }
    roof_graph_quantize(b, "attn_quantize", b->tokens, m->hidden, readers, count);
}

/* Adds the operators that mix the tokens of a layer: attention, a state, or both in parallel.
 * Returns their input. */
static struct roof_reads mix(struct builder *b)
{
    const struct roof_model *const m = b->model;
    b->block = ROOF_BLOCK_ATTENTION;
    roof_graph_altup_predict(b);
    const struct roof_reads stream = b->from;
    roof_graph_collapse(b, "attn_collapse");
    roof_graph_mix_sums(b, "attn_mix", b->tokens, b->layer->attention_sums);
    if (!m->no_pre_norms) {
        roof_graph_norm(b, "attn_norm", b->tokens, m->hidden);
    }
    quantize_mixed(b);
    const struct roof_reads input = b->from;
    if (!b->layer->no_attention) {
        if (m->key_is_value) {
            roof_graph_compressed(b);
        } else if (m->kv_lora_rank > 0) {
            roof_graph_mla(b);
        } else if (b->layer->crossed) {
            roof_graph_crossed(b);
        } else {
            roof_graph_gqa(b);
        }
    }
    if (b->layer->stateful) {
        const struct roof_reads attended = b->from;
        b->from = input;
        roof_graph_mixer(b);
        if (!b->layer->no_attention) {
            roof_reads_join(&b->from, &attended);
            roof_graph_residual(b, "mixer_add");
        }
    }
    if (!m->parallel) { /* else both results are summed over the devices at once */
        roof_graph_tp_sum(b, "attn_all_reduce");
    }
    if (m->post_norms) {
        roof_graph_norm(b, "attn_post_norm", b->tokens, m->hidden);
    }
    if (b->layer->attention_sums < b->layer->mlp_sums) { /* the sum begins again */
        return input;
    }
    roof_reads_join(&b->from, &stream);
    roof_graph_residual(b, "attn_add");
    roof_graph_laurel(b, &input);
    return input;
}

/* Adds the dense MLP of a layer; quantizes: its input may have to be quantised first. */
static void dense_mlp(struct builder *b, bool quantizes)
{
    static const struct mlp_names dense = {
        "gate_up_proj", "gate_proj", "up_proj",
        "mlp_act",      "down_proj", {ROOF_WEIGHT_GATE, ROOF_WEIGHT_UP, ROOF_WEIGHT_DOWN}};
    const struct roof_model *const m = b->model;
    if (quantizes) {
        roof_graph_quantize(b, "mlp_quantize", b->tokens, m->hidden,
                            &dense.weight[m->gated ? 0 : 1], m->gated ? 2 : 1);
    }
    roof_graph_mlp(b, &dense, roof_intermediate(m, b->layer));
}

/*
 * Adds the dense MLP in parallel to the experts, both with the hidden states `mixed` as input, each
 * with a norm before and after it (Gemma 4): huggingface/transformers, modeling_gemma4.py
 * (Gemma4TextDecoderLayer). The norm before the MLP is in the graph already. The router has a norm
 * of its own, with a gain.
 */
static void mlp_beside_experts(struct builder *b, const struct roof_reads *mixed)
{
    const struct roof_model *const m = b->model;
    dense_mlp(b, true);
    roof_graph_tp_sum(b, "dense_all_reduce");
    roof_graph_norm(b, "dense_post_norm", b->tokens, m->hidden);
    const struct roof_reads dense = b->from;
    b->from = *mixed;
    roof_graph_norm(b, "router_norm", b->tokens, m->hidden);
    const struct roof_reads router = b->from;
    b->from = *mixed;
    roof_graph_norm(b, "experts_norm", b->tokens, m->hidden);
    roof_graph_moe(b, &router);
    roof_graph_tp_sum(b, "mlp_all_reduce");
    roof_graph_norm(b, "experts_post_norm", b->tokens, m->hidden);
    roof_reads_join(&b->from, &dense);
    roof_graph_residual(b, "dense_add");
}

/*
 * Adds the operators for a layer's own embedding: a gate from the hidden states, the product with
 * the embedding, and the projection back, with a norm. Every device has the two narrow matrices
 * whole, as in engines.
 */
static void layer_embedding(struct builder *b)
{
    static const enum roof_weight weight[] = {ROOF_WEIGHT_PER_LAYER_IN, ROOF_WEIGHT_PER_LAYER_OUT};
    const struct roof_model *const m = b->model;
    const struct roof_reads stream = b->from;
    if (m->layer_embedding == 0) {
        return;
    }
    roof_graph_quantize(b, "embedding_gate_quantize", b->tokens, m->hidden, &weight[0], 1);
    roof_graph_product(b, "embedding_gate_proj", weight[0], b->tokens, m->layer_embedding,
                       m->hidden, false);
    const struct roof_reads own = {.count = 1,
                                   .name = {b->stage.begin == 0 ? "layer_embedding_add" : "send"},
                                   .before = {b->stage.begin > 0}};
    roof_reads_join(&b->from, &own);
    roof_graph_vector(b, "embedding_gate", ROOF_OPERATOR_SILU_MUL,
                      (struct roof_shape){.tokens = b->tokens, .hidden = m->layer_embedding}, 0);
    roof_graph_quantize(b, "embedding_out_quantize", b->tokens, m->layer_embedding, &weight[1], 1);
    roof_graph_product(b, "embedding_out_proj", weight[1], b->tokens, m->hidden, m->layer_embedding,
                       false);
    roof_graph_norm(b, "embedding_out_norm", b->tokens, m->hidden);
    roof_reads_join(&b->from, &stream);
    if (m->altup_streams > 0) { /* to all streams but the one that layers work on */
        roof_graph_vector(b, LAYER_ADD, ROOF_OPERATOR_HYPER_EXPAND,
                          (struct roof_shape){.tokens = b->tokens,
                                              .hidden = m->hidden,
                                              .streams = m->altup_streams - 1},
                          0);
    } else {
        roof_graph_residual(b, LAYER_ADD);
    }
}

static void layers(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const struct roof_reads stream = b->from;
    struct roof_reads input = stream;
    if (!b->layer->no_attention || b->layer->stateful) {
        input = mix(b);
    }
    if (b->layer->no_mlp) {
        roof_graph_end_layer(b);
        return;
    }
    const struct roof_reads mixed = b->from;
    b->block = ROOF_BLOCK_MLP;
    if (m->parallel) { /* the MLP does not read the result of attention */
        roof_graph_flush(b);
        b->from = m->own_norms ? stream : input;
    }
    roof_graph_collapse(b, "mlp_collapse");
    roof_graph_mix_sums(b, "mlp_mix", b->tokens, b->layer->mlp_sums);
    if ((!m->parallel || m->own_norms) && !m->no_pre_norms) {
        roof_graph_norm(b, "mlp_norm", b->tokens, m->hidden);
    }
    const bool beside = b->layer->moe && m->mlp_beside;
    if (beside) {
        mlp_beside_experts(b, &mixed);
    } else if (b->layer->moe) {
        roof_graph_moe(b, NULL);
    } else {
        dense_mlp(b, !m->parallel || m->own_norms);
    }
    if (!m->parallel && !beside) {
        roof_graph_tp_sum(b, "mlp_all_reduce");
    }
    if (m->post_norms) {
        roof_graph_norm(b, "mlp_post_norm", b->tokens, m->hidden);
    }
    roof_reads_join(&b->from, &mixed);
    roof_graph_residual(b, "mlp_add");
    if (m->parallel) { /* one of the devices has added the residual */
        roof_graph_tp_sum(b, "mlp_all_reduce");
    }
    roof_graph_altup_correct(b);
    layer_embedding(b);
    roof_graph_end_layer(b);
}

static void embedding_node(struct builder *b, const char *name, int64_t table_rows, int64_t hidden)
{
    struct roof_formats f = roof_graph_formats(b, ROOF_WEIGHT_EMBEDDING);
    f.activations = f.out;
    f.compute = ROOF_PRECISION_AUTO;
    struct roof_node node = {.name = name,
                             .weight = ROOF_WEIGHT_EMBEDDING,
                             .workload = {.op = ROOF_OPERATOR_EMBEDDING,
                                          .shape = {.tokens = b->tokens, .hidden = hidden},
                                          .formats = f},
                             .elements = (double)table_rows * (double)hidden,
                             .tensors = 1,
                             .channels = (double)table_rows};
    roof_graph_add(b, &node);
}

static void token_embedding(struct builder *b)
{
    const int64_t rows = b->model->vocab + b->model->extra_rows;
    embedding_node(b, "embedding", roof_divide_up(rows, b->s->tp), b->model->hidden);
    roof_graph_tp_sum(b, "embedding_all_reduce");
}

/* Returns the elements of the embeddings of some layers. */
static int64_t embedded(const struct builder *b, int64_t layers)
{
    return b->tokens * b->model->layer_embedding * layers;
}

/*
 * Adds the layers' own embeddings: rows of a second table, plus a projection of the usual embedding
 * with a norm for each layer. As in engines, the table is cut by rows and the projection by
 * columns: vLLM, model_executor/models/gemma4.py.
 */
static void layer_embeddings(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const struct roof_reads tokens = b->from;
    const int64_t width = m->layer_embedding * m->layers;
    if (width == 0) {
        return;
    }
    b->from.count = 0;
    embedding_node(b, "layer_embedding", roof_divide_up(m->layer_vocab, b->s->tp), width);
    if (b->s->tp > 1) {
        roof_graph_collective(b, "layer_embedding_all_reduce", ROOF_OPERATOR_ALL_REDUCE,
                              b->s->common.formats.out, embedded(b, m->layers), b->s->tp,
                              b->stage.tp_within);
    }
    const struct roof_reads rows = b->from;
    b->from = tokens;
    roof_graph_product(b, "layer_embedding_proj", ROOF_WEIGHT_EMBEDDING, b->tokens,
                       roof_divide_up(width, b->s->tp), m->hidden, false);
    if (b->s->tp > 1) {
        roof_graph_collective(b, "layer_embedding_all_gather", ROOF_OPERATOR_ALL_GATHER,
                              b->s->common.formats.out, embedded(b, m->layers), b->s->tp,
                              b->stage.tp_within);
    }
    roof_graph_norm(b, "layer_embedding_norm", b->tokens * m->layers, m->layer_embedding);
    roof_reads_join(&b->from, &rows);
    roof_graph_vector(b, "layer_embedding_add", ROOF_OPERATOR_ADD,
                      (struct roof_shape){.tokens = b->tokens, .hidden = width}, 0);
    b->from = tokens;
}

static void first_stage(struct builder *b)
{
    const struct roof_model *const m = b->model;
    token_embedding(b);
    layer_embeddings(b);
    roof_graph_altup_streams(b);
    if (m->position_rows > 0) {
        const struct roof_reads tokens = b->from;
        b->from.count = 0;
        embedding_node(b, "position", m->position_rows, m->hidden);
        roof_reads_join(&b->from, &tokens);
        roof_graph_residual(b, "position_add");
    }
}

static void last_stage(struct builder *b)
{
    const struct roof_model *const m = b->model;
    const int64_t vocab = roof_divide_up(m->vocab, b->s->tp);
    static const enum roof_weight readers[] = {ROOF_WEIGHT_LM_HEAD};
    if (m->streams > 0) { /* makes the weights of their sum */
        roof_graph_product(b, "final_collapse", ROOF_WEIGHT_NORM, b->rows, m->streams,
                           m->streams * m->hidden, true);
    }
    roof_graph_altup_join(b);
    if (m->block_layers > 0) {
        roof_graph_mix_sums(b, "final_mix", b->rows, roof_graph_sums(m, m->layers) - 1);
    }
    roof_graph_norm(b, "final_norm", b->rows, m->hidden);
    roof_graph_quantize(b, "head_quantize", b->rows, m->hidden, readers, 1);
    struct roof_node head = roof_graph_make_product(b, "lm_head", ROOF_WEIGHT_LM_HEAD, b->rows,
                                                    vocab, m->hidden, m->head_bias);
    /* A tied head is a copy when it has another format, or lies on another device. */
    head.borrowed =
        m->tied && b->s->pp == 1 &&
        head.workload.formats.weights == roof_graph_formats(b, ROOF_WEIGHT_EMBEDDING).weights;
    roof_graph_add(b, &head);
    if (b->s->tp > 1) {
        roof_graph_collective(b, "logits_all_gather", ROOF_OPERATOR_ALL_GATHER,
                              b->s->common.formats.out, b->rows * m->vocab, b->s->tp,
                              b->stage.tp_within);
    }
}

static void set_groups(struct builder *b)
{
    const struct roof_scenario *const s = b->s;
    const int64_t parts = roof_microbatches(s);
    const int64_t batch = roof_divide_up(s->common.shape.batch, parts);
    const bool mixed = s->phase == ROOF_PHASE_MIXED;
    const int64_t query = roof_query_len(s);
    b->group[b->groups++] = (struct group){
        .attention = mixed ? "attention_decode" : "attention",
        .batch = roof_divide_up(batch, s->attention_dp),
        .query_len = query,
        .kv_len = s->context + (s->phase == ROOF_PHASE_PREFILL ? 0 : s->draft_tokens),
        .longest = s->longest > 0 ? s->longest + s->draft_tokens : 0,
        .expanded = s->phase == ROOF_PHASE_PREFILL};
    b->moe_tokens = batch * query;
    if (mixed) {
        const int64_t prefill = roof_divide_up(s->prefill_batch, parts);
        b->group[b->groups++] = (struct group){.attention = "attention_prefill",
                                               .batch = roof_divide_up(prefill, s->attention_dp),
                                               .query_len = s->chunk,
                                               .kv_len = s->prefill_context,
                                               .expanded = true};
        b->moe_tokens += prefill * s->chunk;
    }
    for (int i = 0; i < b->groups; i++) {
        b->tokens += b->group[i].batch * b->group[i].query_len;
    }
    /* The last token of each sequence; a draft is verified at each of its tokens. */
    b->rows = b->group[0].batch * (s->phase == ROOF_PHASE_PREFILL ? 1 : query) +
              (mixed ? b->group[1].batch : 0);
}

/* Returns how many vectors the residual of a token has behind the first `layers` layers. */
static int64_t stream_count(const struct roof_model *model, int64_t layers)
{
    return model->streams > 0         ? model->streams
           : model->altup_streams > 0 ? model->altup_streams
                                      : roof_graph_sums(model, layers);
}

/* The bits of a number that tells which key was chosen. */
#define CHOICE_BITS 32

/* Returns the elements that the chosen keys of all tokens take, if the next stage begins with a
 * layer that reuses them: sgl-project/sglang#28532. */
static int64_t sent_choices(const struct builder *b)
{
    const struct roof_model *const m = b->model;
    int64_t keys = 0;
    for (int i = 0; i < b->groups && m->layer[m->layer_class[b->stage.end]].reuses_choice; i++) {
        const struct group *const g = &b->group[i];
        keys += g->kv_len > m->index_topk ? g->batch * g->query_len * m->index_topk : 0;
    }
    return (int64_t)((double)keys * CHOICE_BITS / roof_precision_bits(b->s->common.formats.out));
}

/* Adds the send of the hidden states, and of what later layers need besides, to the next stage. */
static void send_node(struct builder *b)
{
    roof_graph_collective(b, "send", ROOF_OPERATOR_SEND, b->s->common.formats.out,
                          b->tokens * b->model->hidden * stream_count(b->model, b->stage.end) +
                              embedded(b, b->model->layers - b->stage.end) + sent_choices(b),
                          0, b->stage.send_within);
}

enum roof_status roof_graph_full(const struct roof_model *model, struct roof_error *error)
{
    return roof_error_set(error, ROOF_USAGE,
                          "the layers of %s differ in too many ways: more than %d operators",
                          model->id, ROOF_GRAPH_MAX);
}

/* Returns a builder of an empty graph. */
static struct builder begin(struct roof_graph *out, const struct roof_model *model,
                            const struct roof_scenario *scenario, int64_t stage,
                            struct roof_places places)
{
    struct builder b = {.graph = out, .model = model, .s = scenario};
    out->count = 0;
    out->kv_bytes = out->state_bytes = out->host_kv_bytes = 0;
    out->idle_bytes = out->idle_host_bytes = out->idle_parameters = 0;
    set_groups(&b);
    b.stage = roof_stage_of(scenario, model->layers, stage, places);
    out->residual_bytes = roof_tensor_bytes(scenario->common.formats.out,
                                            (double)(b.tokens * stream_count(model, b.stage.end)) *
                                                (double)model->hidden,
                                            1, (double)b.tokens);
    return b;
}

/* Refuses to prune a model that has nothing to prune. */
static enum roof_status check_sparse(const struct roof_graph *graph, const struct builder *b,
                                     struct roof_error *error)
{
    bool found = b->s->common.sparse == 0;
    for (size_t i = 0; i < graph->count && !found; i++) {
        found = graph->node[i].workload.sparse > 0;
    }
    return found ? ROOF_OK
                 : roof_error_set(error, ROOF_USAGE,
                                  ROOF_KEY("sparse") " prunes linear layers and experts in bf16, "
                                                     "fp16, the fp8 formats, int8 and "
                                                     "int8_channel; those of %s have other formats",
                                  b->model->id);
}

/* The kinds of ends of the layers before those of a class, as bits. */
enum { BEHIND_START = 1, BEHIND_MIXER = 2, BEHIND_MLP = 4 };

/* Returns the bit for the end of a layer. */
static unsigned end_of(const struct roof_model *model, int64_t layer)
{
    return model->layer[model->layer_class[layer]].no_mlp ? BEHIND_MIXER : BEHIND_MLP;
}

/* Returns the operators that are read after ends of these kinds; start is the input of the stage.
 * For a layer, the ends are those of the layer before. */
static struct roof_reads behind(const struct builder *b, unsigned kinds,
                                const struct roof_reads *start, bool before)
{
    struct roof_reads reads = {.count = 0};
    if ((kinds & BEHIND_START) != 0) {
        reads = *start;
    }
    if ((kinds & BEHIND_MIXER) != 0) {
        reads.before[reads.count] = before;
        reads.name[reads.count++] = "attn_add";
    }
    if ((kinds & BEHIND_MLP) != 0) {
        const bool summed = b->model->parallel && b->s->tp > 1;
        reads.before[reads.count] = before;
        reads.name[reads.count++] = b->model->layer_embedding > 0 ? LAYER_ADD
                                    : summed                      ? "mlp_all_reduce"
                                                                  : "mlp_add";
    }
    return reads;
}

/* Tells whether a layer is among the first ones, which are offloaded or have offloaded experts. */
static bool is_offloaded(const struct builder *b, int64_t layer)
{
    return layer < roof_offload_layers(b->s->offload);
}

/* Tells whether a layer runs: one that attends to images needs some. */
static bool runs(const struct builder *b, int64_t layer)
{
    return !b->model->layer[b->model->layer_class[layer]].crossed ||
           roof_image_keys(b->s, b->model) > 0;
}

/* Returns the last layer of the stage before another that runs; one before the stage: none does. */
static int64_t last_before(const struct builder *b, int64_t layer)
{
    int64_t last = layer - 1;
    while (last >= b->stage.begin && !runs(b, last)) {
        last--;
    }
    return last;
}

/* Returns what the layers of the stage end with; start is what it begins with. */
static struct roof_reads behind_layers(const struct builder *b, const struct roof_reads *start)
{
    const int64_t last = last_before(b, b->stage.end);
    return last < b->stage.begin ? *start : behind(b, end_of(b->model, last), start, false);
}

/* Adds the layers of a class that are in the stage, and offloaded or not. */
static void layers_of_class(struct builder *b, int64_t number, bool offloaded,
                            const struct roof_reads *start)
{
    const struct roof_model *const m = b->model;
    const int64_t last = last_before(b, b->stage.end);
    unsigned before = 0;
    bool begins = false;
    bool ends = false;
    roof_graph_enter(b, &m->layer[number]);
    b->count = 0;
    b->offloaded = offloaded;
    for (int64_t i = b->stage.begin; i < b->stage.end; i++) {
        if (m->layer_class[i] == number && is_offloaded(b, i) == offloaded) {
            const int64_t previous = last_before(b, i);
            const bool first = previous < b->stage.begin;
            b->count++;
            before |= first ? BEHIND_START : end_of(m, previous);
            begins = begins || first;
            ends = ends || i == last;
        }
    }
    if (b->count > 0 && b->layer->crossed && roof_image_keys(b->s, m) == 0) {
        roof_graph_skip_crossed(b);
    } else if (b->count > 0) {
        b->from = behind(b, before, start, true);
        roof_graph_open_layers(b, begins, ends);
        layers(b);
        roof_graph_flush(b);
        roof_graph_cache(b);
    }
    b->offloaded = false;
}

enum roof_status roof_graph_build(struct roof_graph *out, const struct roof_model *model,
                                  const struct roof_scenario *scenario, int64_t stage,
                                  struct roof_places places, struct roof_error *error)
{
    struct builder b = begin(out, model, scenario, stage, places);
    if (scenario->phase == ROOF_PHASE_ENCODE) {
        out->residual_bytes = 0;
    }
    if (stage == 0) {
        roof_graph_encoder(&b);
        roof_graph_audio(&b);
    }
    roof_graph_image_keys(&b);
    if (scenario->phase == ROOF_PHASE_ENCODE) {
        return b.full ? roof_graph_full(model, error) : ROOF_OK;
    }
    if (stage == 0) {
        b.from.count = 0;
        first_stage(&b);
    } else {
        b.from = (struct roof_reads){.count = 1, .name = {"send"}, .before = {true}};
    }
    const struct roof_reads start = b.from;
    for (int64_t c = 0; c < model->layer_classes; c++) {
        for (int there = scenario->offload == ROOF_OFFLOAD_NONE ? 0 : 1; there >= 0; there--) {
            layers_of_class(&b, c, there > 0, &start);
        }
    }
    roof_graph_enter(&b, NULL);
    b.from = behind_layers(&b, &start);
    roof_graph_close_layers(&b);
    if (stage + 1 == scenario->pp) {
        last_stage(&b);
    } else {
        send_node(&b);
    }
    roof_graph_flush(&b);
    return b.full ? roof_graph_full(model, error) : check_sparse(out, &b, error);
}

/*
 * A module joins the embedding of the last token and the hidden states from which that token was
 * chosen, each with its own norm, by a product of 2 hidden x hidden, and has one layer after that:
 * DeepSeek-V3, arXiv 2412.19437, section 2.2. Embedding and head are the model's. The layer has an
 * indexer even if the last layer has none: the checkpoint of zai-org/GLM-5.2 has its weights.
 */
enum roof_status roof_graph_predictor(struct roof_graph *out, const struct roof_model *model,
                                      const struct roof_scenario *scenario,
                                      struct roof_places places, struct roof_error *error)
{
    struct builder b = begin(out, model, scenario, scenario->pp - 1, places);
    const int64_t hidden = model->hidden;
    token_embedding(&b);
    roof_graph_flush(&b);
    out->node[0].borrowed = scenario->pp == 1; /* else it is on another device, and here a copy */
    roof_graph_norm(&b, "embedding_norm", b.tokens, hidden);
    const struct roof_reads embedded = b.from;
    b.from.count = 0; /* the model has made the hidden states */
    roof_graph_norm(&b, "hidden_norm", b.tokens, hidden);
    roof_reads_join(&b.from, &embedded);
    static const enum roof_weight readers[] = {ROOF_WEIGHT_LM_HEAD};
    roof_graph_quantize(&b, "join_quantize", b.tokens, 2 * hidden, readers, 1);
    roof_graph_product(&b, "join_proj", ROOF_WEIGHT_LM_HEAD, b.tokens, hidden, 2 * hidden, false);
    struct roof_layer layer = model->layer[model->layer_class[model->layers - 1]];
    layer.reuses_choice = false;
    roof_graph_enter(&b, &layer);
    b.count = 1;
    roof_graph_open_layers(&b, true, true);
    layers(&b);
    roof_graph_flush(&b);
    roof_graph_cache(&b);
    roof_graph_enter(&b, NULL);
    roof_graph_close_layers(&b);
    last_stage(&b);
    roof_graph_flush(&b);
    out->node[out->count - (scenario->tp > 1 ? 2 : 1)].borrowed = true; /* the head */
    return b.full ? roof_graph_full(model, error) : ROOF_OK;
}
