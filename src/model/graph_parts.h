// SPDX-License-Identifier: MIT
/* The parts of the construction of a graph (graph.h): nodes, attention and MLP. */
#ifndef ROOF_MODEL_GRAPH_PARTS_H
#define ROOF_MODEL_GRAPH_PARTS_H

#include "model/graph.h"
#include "model/stage.h"

/* The tensors of a layer that products quantise are noted, up to this many. */
enum { QUANTIZED_MAX = 16 };

/* The sequences of one kind in a pass. */
struct group {
    const char *attention; /* name of the node */
    int64_t batch;         /* on this device */
    int64_t query_len;
    int64_t kv_len;
    int64_t longest; /* the longest context; 0: all are equal */
    bool expanded;   /* MLA: K and V are made for every head */
};

struct builder {
    struct roof_graph *graph;
    const struct roof_model *model;
    const struct roof_scenario *s;
    const struct roof_layer *layer; /* the class that is being built; NULL outside layers */
    int64_t count;                  /* of the layers of that class and place in the stage */
    int64_t times;                  /* number of times that nodes outside layers run; 0: once */
    bool offloaded;                 /* they are among the first layers, to which offload applies */
    enum roof_block block;          /* the block of the next node */
    struct group group[2];
    int groups;
    int64_t tokens;     /* of a pass, on this device */
    int64_t moe_tokens; /* of a pass, over all devices of the expert group */
    int64_t rows;       /* tokens whose logits are wanted */
    int64_t heads;      /* of the layer, on this device */
    int64_t kv_heads;
    struct roof_stage stage;
    struct roof_reads from; /* the inputs of the next node; by default the node before it */
    struct roof_formats formats[ROOF_WEIGHT_COUNT]; /* of the classes that are known */
    bool known[ROOF_WEIGHT_COUNT];
    bool full;
    /* If operators are fused, the last node waits for the next one, which may join it. It is two
     * nodes if it has another form in the first layer of the stage. */
    struct roof_node held[2];
    int64_t held_count[2];
    int holds;
    bool chained; /* each layer begins with a norm of the sum that the one before it ends with */
    bool opens;   /* the next norm begins a layer */
    bool begins;  /* the class has the first layer of the stage */
    bool ends;    /* it has the last one */
    struct roof_node tail; /* the sum that ends the last layer */
    bool tailed;
    /* The tensors that products of the layer have quantised, with the formats. */
    struct quantized {
        struct roof_reads of;
        enum roof_precision format;
    } quantized[QUANTIZED_MAX];
    int quantized_count;
    bool sole; /* all readers of the quantised tensor read it in this format */
};

struct mlp_names {
    const char *both, *gate, *up, *activation, *down;
    enum roof_weight weight[3]; /* gate, up, down */
};

enum roof_precision roof_graph_wider(enum roof_precision a, enum roof_precision b);
/* Returns the formats of an operator with weights of a class, which are computed once. */
struct roof_formats roof_graph_formats(struct builder *b, enum roof_weight weight);

/* Returns the flag `sparse` of operators with weights of a class: linear layers and experts are
 * pruned if their format has a pruned form. */
int64_t roof_graph_sparse(struct builder *b, enum roof_weight weight);
/* Begins a class of layers; NULL ends the layers. */
void roof_graph_enter(struct builder *b, const struct roof_layer *layer);
/* Vector operators read and write the residual's format. */
struct roof_formats roof_graph_vector_formats(struct builder *b);
/* Adds a node that each layer of the class runs once; equal ones of several classes become one. */
void roof_graph_add(struct builder *b, struct roof_node *node);
/* Adds the node that still waits for the next one. */
void roof_graph_flush(struct builder *b);
/* These mark the beginning of a class of layers, the beginning of the model after its layers, and
 * the end of a layer. */
void roof_graph_open_layers(struct builder *b, bool begins, bool ends);
void roof_graph_close_layers(struct builder *b);
void roof_graph_end_layer(struct builder *b);
/* Adds the quantisation of a tensor for the classes of weights by which it is multiplied, if their
 * inputs have fewer bits than the residual: once for each of their formats. By default it adds
 * nothing. */
void roof_graph_quantize(struct builder *b, const char *name, int64_t tokens, int64_t width,
                         const enum roof_weight *readers, int count);
/* Adds the rotation of `rotated` elements of some heads of each token. The operator counts heads of
 * Q and of K, which are here the two halves of the rotated pairs. */
void roof_graph_rotate(struct builder *b, const char *name, int64_t heads, int64_t rotated);
void roof_graph_vector(struct builder *b, const char *name, enum roof_operator op,
                       struct roof_shape shape, double vectors);
void roof_graph_norm(struct builder *b, const char *name, int64_t tokens, int64_t hidden);
/* Makes the node of C = A B: rows tokens, n features out, k in, in the formats of a class. */
struct roof_node roof_graph_make_product(struct builder *b, const char *name,
                                         enum roof_weight weight, int64_t rows, int64_t n,
                                         int64_t k, bool bias);
void roof_graph_product(struct builder *b, const char *name, enum roof_weight weight, int64_t rows,
                        int64_t n, int64_t k, bool bias);
void roof_graph_collective(struct builder *b, const char *name, enum roof_operator op,
                           enum roof_precision sent, int64_t elements, int64_t devices,
                           int64_t within);
/* Adds the sum over the tensor-parallel group after a product that was cut along its inputs. */
void roof_graph_tp_sum(struct builder *b, const char *name);
void roof_graph_residual(struct builder *b, const char *name);
/* Returns true if two products over the same input have one format and so can be one product. */
bool roof_graph_fuses(struct builder *b, enum roof_weight first, enum roof_weight second);
/* Attention reads Q in the residual's format and K, V as they are cached. */
struct roof_node roof_graph_attention_node(struct builder *b, const struct group *g,
                                           enum roof_operator op);
/* Adds the choice among a number of keys by an indexer, for one kind of sequences; neighbouring
 * queries that are scored together count as heads of one. */
void roof_graph_index(struct builder *b, const struct group *g, int64_t keys, int64_t together);
void roof_graph_gqa(struct builder *b);
/* Adds the operators that make the index queries and keys for the choice of blocks, from the hidden
 * states. Returns the inputs of the scores. */
struct roof_reads roof_graph_block_index(struct builder *b, const struct roof_reads *hidden);
/* Adds the choice of blocks for one kind of sequences that have more keys than are chosen. */
void roof_graph_choose_blocks(struct builder *b, const struct group *g);
/* Tells whether a group has more keys than the chosen blocks of its layer. */
bool roof_graph_has_choice(const struct builder *b, const struct group *g);
/* Attention over compressed keys, from the hidden states to the output. */
void roof_graph_compressed(struct builder *b);
/* Adds the operators that combine the streams of the residual into one, if it has several. */
void roof_graph_collapse(struct builder *b, const char *name);
/* Adds the mix of the current sum of some tokens with the sums of earlier blocks of layers. */
void roof_graph_mix_sums(struct builder *b, const char *name, int64_t tokens, int64_t sums);
/* Returns the number of sums in the residual of a token after the first `layers` layers: all that
 * are kept and the current one. */
int64_t roof_graph_sums(const struct roof_model *model, int64_t layers);
/* Each adds a part of the alternating updates of Gemma 3n, if a model has them: the operators that
 * make the streams of the residual, predict them before a layer, correct them after it, and join
 * them at the end. */
void roof_graph_altup_streams(struct builder *b);
void roof_graph_altup_predict(struct builder *b);
void roof_graph_altup_correct(struct builder *b);
void roof_graph_altup_join(struct builder *b);
/* Adds the low-rank residual in parallel to attention, from the input of attention. */
void roof_graph_laurel(struct builder *b, const struct roof_reads *normed);
/* Tells whether the layers that are being built are on the host. */
bool roof_graph_on_host(const struct builder *b);
/* Adds the cache of these layers to that of the graph. */
void roof_graph_cache(struct builder *b);
/* Adds what makes keys and values of images for the layers of the stage that attend to them, where
 * the pass encodes images; else counts its weights as idle. */
void roof_graph_image_keys(struct builder *b);
/* Adds attention to images, from the hidden states to its output. */
void roof_graph_crossed(struct builder *b);
/* Counts the weights of layers that attend to images where there are none: but for those that make
 * keys and values. */
void roof_graph_skip_crossed(struct builder *b);
/* Adds the vision encoder, or what its weights take where the phase does not run it. */
void roof_graph_encoder(struct builder *b);
/* Adds the audio encoder in the same way. */
void roof_graph_audio(struct builder *b);
/* Parts of both encoders: norms, sums, activations and products of class vision; what
 * ends an encoder that was added from a node on: where the pass does not run it, its weights alone
 * stay. */
void roof_encoder_norm(struct builder *b, const char *name, int64_t tokens, int64_t hidden,
                       bool layernorm);
void roof_encoder_bare_norm(struct builder *b, const char *name, int64_t tokens, int64_t hidden);
void roof_encoder_add(struct builder *b, const char *name, int64_t tokens, int64_t hidden,
                      double vectors);
void roof_encoder_activate(struct builder *b, const char *name, int64_t rows, int64_t width,
                           bool gated);
struct roof_node roof_encoder_make_product(struct builder *b, const char *name, int64_t rows,
                                           int64_t n, int64_t k, bool bias);
void roof_encoder_product(struct builder *b, const char *name, int64_t rows, int64_t n, int64_t k,
                          bool bias);
void roof_encoder_attend(struct builder *b, const char *name, const struct roof_shape *shape);
/* Counts the elements of vectors that no row passes. */
void roof_encoder_unused(struct builder *b, int64_t elements);
/* Counts the hidden states of an encoder that runs in a pass of its own. */
void roof_encoder_residual(struct builder *b, int64_t rows, int64_t hidden, bool runs);
void roof_encoder_end(struct builder *b, size_t first, bool runs);
/* Latent attention, from the hidden states to the output. */
void roof_graph_mla(struct builder *b);
/* A layer with a state, from the hidden states to the output. */
void roof_graph_mixer(struct builder *b);
/* An MLP. Like all parts above, its operators read b->from, and its result becomes b->from. */
void roof_graph_mlp(struct builder *b, const struct mlp_names *names, int64_t intermediate);
/* Experts; the router reads *router, or if that is NULL, the input of the experts. */
void roof_graph_moe(struct builder *b, const struct roof_reads *router);

#endif
