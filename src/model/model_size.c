// SPDX-License-Identifier: MIT
/* The weights of a model, counted over the operators of its graph: elements and bytes. */
#include "base/base.h"
#include "model/graph.h"

/* Builds the graph of the whole model on one device. */
static enum roof_status build_whole(struct roof_graph *graph, const struct roof_model *model,
                                    struct roof_error *error)
{
    struct roof_scenario s;
    roof_scenario_init(&s);
    TRY(roof_scenario_resolve(&s, model, error));
    return roof_graph_build(graph, model, &s, 0, (struct roof_places){0}, error);
}

double roof_model_bytes(const struct roof_model *model)
{
    struct roof_graph graph;
    double bytes = 0; /* without the encoder, which is not in the files that are read */
    if (build_whole(&graph, model, NULL) != ROOF_OK) {
        return ROOF_UNKNOWN;
    }
    for (size_t i = 0; i < graph.count; i++) {
        bytes += roof_node_bytes(&graph.node[i]);
    }
    return bytes;
}

/* Returns the elements of the matrices of all instances of a node; a tied head is the embedding. */
static double matrices(const struct roof_model *model, const struct roof_node *node)
{
    const bool tied = model->tied && node->weight == ROOF_WEIGHT_LM_HEAD;
    return (double)node->count * (tied ? 0 : node->elements);
}

double roof_model_matrices(const struct roof_model *model)
{
    struct roof_graph graph;
    double elements = 0;
    if (build_whole(&graph, model, NULL) != ROOF_OK) {
        return ROOF_UNKNOWN;
    }
    for (size_t i = 0; i < graph.count; i++) {
        elements += matrices(model, &graph.node[i]);
    }
    return elements;
}

enum roof_status roof_model_parameters(double *total, double *active,
                                       const struct roof_model *model, struct roof_error *error)
{
    struct roof_graph graph;
    TRY(build_whole(&graph, model, error));
    *total = graph.idle_parameters; /* of an encoder, which no token of text uses */
    *active = 0;
    for (size_t i = 0; i < graph.count; i++) {
        const struct roof_node *const node = &graph.node[i];
        const double all = matrices(model, node) + (double)node->count * node->vectors;
        *total += all;
        *active += node->routed ? all / (double)model->experts * (double)model->top_k : all;
    }
    return ROOF_OK;
}
