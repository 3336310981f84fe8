// SPDX-License-Identifier: MIT
/* The making of a graph, in parts: nodes, attention and MLP. graph.h is the result. */
#ifndef ROOF_MODEL_GRAPH_PARTS_H
#define ROOF_MODEL_GRAPH_PARTS_H

#include "model/graph.h"
#include "model/stage.h"

/* The sequences of a pass that are of one kind. */
struct group {
    const char *attention; /* name of the node */
    int64_t batch;         /* on this device */
    int64_t query_len;
    int64_t kv_len;
    bool expanded; /* MLA: K and V are made for every head */
};

struct builder {
    struct roof_graph *graph;
    const struct roof_model *model;
    const struct roof_scenario *s;
    const struct roof_layer *layer; /* the class that is being built; NULL outside layers */
    int64_t count;                  /* of the layers of that class and place in the stage */
    int64_t times;                  /* nodes outside layers run so often; 0: once */
    bool offloaded;                 /* they are among the first layers, which offload is about */
    enum roof_block block;          /* that of the next node */
    struct group group[2];
    int groups;
    int64_t tokens;     /* of a pass, on this device */
    int64_t moe_tokens; /* of a pass, over all devices of the expert group */
    int64_t rows;       /* tokens whose logits are wanted */
    int64_t heads;      /* of the layer, on this device */
    int64_t kv_heads;
    struct roof_stage stage;
    struct roof_reads from; /* what the next node reads: by itself, the node before it */
    struct roof_formats formats[ROOF_WEIGHT_COUNT]; /* of the classes that are known */
    bool known[ROOF_WEIGHT_COUNT];
    bool full;
    /* The last node waits for the next one, which may join it, where operators are fused. It is two
     * where the first layer of the stage has another form of it. */
    struct roof_node held[2];
    int64_t held_count[2];
    int holds;
    bool chained; /* each layer begins with a norm of the sum that the one before it ends with */
    bool opens;   /* the next norm begins a layer */
    bool begins;  /* the class has the first layer of the stage */
    bool ends;    /* it has the last one */
    struct roof_node tail; /* the sum that ends the last layer */
    bool tailed;
    bool sole; /* all that reads what is quantised reads it in that format */
};

struct mlp_names {
    const char *both, *gate, *up, *activation, *down;
    enum roof_weight weight[3]; /* gate, up, down */
};

int64_t roof_graph_divide_up(int64_t value, int64_t parts);
enum roof_precision roof_graph_wider(enum roof_precision a, enum roof_precision b);
/* Returns the formats of an operator whose weights are of a class, which are found once. */
struct roof_formats roof_graph_formats(struct builder *b, enum roof_weight weight);

/* Returns the flag `sparse` of operators whose weights are of a class: those of linear layers and
 * experts are pruned where their format is stored so. */
int64_t roof_graph_sparse(struct builder *b, enum roof_weight weight);
/* Enters a class of layers; NULL: leaves all. */
void roof_graph_enter(struct builder *b, const struct roof_layer *layer);
/* Vector operators read and write the residual's format. */
struct roof_formats roof_graph_vector_formats(struct builder *b);
/* Adds a node that each layer of the class runs once; equal ones of several classes become one. */
void roof_graph_add(struct builder *b, struct roof_node *node);
/* Adds what still waits for a node to join it. */
void roof_graph_flush(struct builder *b);
/* Each tells that a class of layers, or the model behind its layers, begins; that a layer ends. */
void roof_graph_open_layers(struct builder *b, bool begins, bool ends);
void roof_graph_close_layers(struct builder *b);
void roof_graph_end_layer(struct builder *b);
/* Adds the quantisation of a tensor for the classes of weights that it is multiplied by, where
 * their inputs have fewer bits than the residual: once for each of their formats. Nothing by
 * default. */
void roof_graph_quantize(struct builder *b, const char *name, int64_t tokens, int64_t width,
                         const enum roof_weight *readers, int count);
/* Adds the rotation of some heads of each token, of which `rotated` elements are rotated. The
 * operator counts heads of Q and of K: here the two halves of the pairs that a rotation is of. */
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
/* Adds the choice among so many keys by an indexer, for one kind of sequences, of which as many
 * neighbouring queries are scored together as heads of one. */
void roof_graph_index(struct builder *b, const struct group *g, int64_t keys, int64_t together);
void roof_graph_gqa(struct builder *b);
/* Adds what makes the index queries and keys by which blocks of keys are chosen, from the hidden
 * states. Returns what the scores read. */
struct roof_reads roof_graph_block_index(struct builder *b, const struct roof_reads *hidden);
/* Adds the choice of blocks for one kind of sequences, which have more keys than are chosen. */
void roof_graph_choose_blocks(struct builder *b, const struct group *g);
/* Tells whether a group has more keys than the chosen blocks of its layer. */
bool roof_graph_has_choice(const struct builder *b, const struct group *g);
/* Attention over compressed keys, from the hidden states to the output. */
void roof_graph_compressed(struct builder *b);
/* Adds what makes one of the streams of the residual, where it has several. */
void roof_graph_collapse(struct builder *b, const char *name);
/* Adds the mix of the present sum of some tokens with that of earlier blocks of layers. */
void roof_graph_mix_sums(struct builder *b, const char *name, int64_t tokens, int64_t sums);
/* Returns how many sums the residual of a token has behind the first `layers` layers, all that are
 * kept and the present one. */
int64_t roof_graph_sums(const struct roof_model *model, int64_t layers);
/* Each adds a part of the alternating updates of Gemma 3n, where a model has them: what makes the
 * streams of the residual, what predicts them before a layer and corrects them behind it, and what
 * joins them in the end. */
void roof_graph_altup_streams(struct builder *b);
void roof_graph_altup_predict(struct builder *b);
void roof_graph_altup_correct(struct builder *b);
void roof_graph_altup_join(struct builder *b);
/* Adds the residual of low rank beside attention, from what attention has read. */
void roof_graph_laurel(struct builder *b, const struct roof_reads *normed);
/* Adds the vision encoder, or what its weights take where the phase does not run it. */
void roof_graph_encoder(struct builder *b);
/* Adds the audio encoder in the same way. */
void roof_graph_audio(struct builder *b);
/* Parts of both encoders: norms, sums and products whose weights are those of class vision; what
 * ends an encoder that was added from a node on: where the pass does not run it, its weights alone
 * stay. */
void roof_encoder_norm(struct builder *b, const char *name, int64_t tokens, int64_t hidden,
                       bool layernorm);
void roof_encoder_bare_norm(struct builder *b, const char *name, int64_t tokens, int64_t hidden);
void roof_encoder_add(struct builder *b, const char *name, int64_t tokens, int64_t hidden,
                      double vectors);
void roof_encoder_product(struct builder *b, const char *name, int64_t rows, int64_t n, int64_t k,
                          bool bias);
void roof_encoder_attend(struct builder *b, const char *name, const struct roof_shape *shape);
/* Counts the hidden states of an encoder that runs in a pass of its own. */
void roof_encoder_residual(struct builder *b, int64_t rows, int64_t hidden, bool runs);
void roof_encoder_end(struct builder *b, size_t first, bool runs);
/* Latent attention, from the hidden states to the output. */
void roof_graph_mla(struct builder *b);
/* A layer with a state, from the hidden states to the output. */
void roof_graph_mixer(struct builder *b);
/* An MLP; its operators read b->from, and its result is b->from then, as of all parts above. */
void roof_graph_mlp(struct builder *b, const struct mlp_names *names, int64_t intermediate);
/* Experts; the router reads *router, or with NULL what they read. */
void roof_graph_moe(struct builder *b, const struct roof_reads *router);

#endif
