// SPDX-License-Identifier: MIT
/* The costs of the operators of a stage of a pass. */
#ifndef ROOF_PREDICT_COSTED_H
#define ROOF_PREDICT_COSTED_H

#include "model/stage.h"
#include "predict/pass.h"

/* The source of the costs of the operators of a pass, and the place where the operators go. */
struct roof_cost_source {
    const struct roof_hardware *hardware;
    struct roof_model_prediction *kept; /* receives the operators; NULL: no operators are kept */
    struct roof_pass_memo *memo;        /* NULL: none */
    const struct roof_stacks *stacks;   /* with a memo; without one, the nodes have the only stack
                                         */
};

/* A stage with the costs of its operators. */
struct roof_costed {
    struct roof_graph graph;
    struct roof_node_cost cost[ROOF_GRAPH_MAX];
    size_t stacks;
    struct roof_expected_sum expected[ROOF_STACK_COUNT][ROOF_GRAPH_MAX];
    size_t index[ROOF_GRAPH_MAX]; /* index of each operator among those that are kept */
};

/* Finds the costs of the operators of a stage, whose graph is there. The fastest stack has the
 * kernels that start early in the scenario where these are then faster than those of all others. */
enum roof_status roof_stage_costs(struct roof_costed *stage, const struct roof_scenario *s,
                                  const struct roof_cost_source *from, struct roof_error *error);

/* Tells whether a product multiplies in its stored format, on a unit for it; true for operators
 * that are not products. */
bool roof_runs_as_stored(const struct roof_prediction *prediction);

/* Finds the live bytes of an operator that is not predicted. A graph has resolved formats. */
enum roof_status roof_node_live_bytes(double *out, const struct roof_node *node,
                                      struct roof_error *error);

/* Returns how many kernels one instance of an operator launches. */
double roof_node_kernels(const struct roof_node *node);

/* Returns the part that remains of an expected time if kernels begin before the previous ones end;
 * the rest is at least the bound. */
double roof_early_rest(const struct roof_node *node, const struct roof_node_cost *cost,
                       double time_s, double overlap_s);

#endif
