// SPDX-License-Identifier: MIT
/* Pipeline stages: the layers and the places of the devices of each. */
#ifndef ROOF_MODEL_STAGE_H
#define ROOF_MODEL_STAGE_H

#include "model/scenario.h"

/* How many consecutive devices share a bridge or a node; 0: there is no bridge, or the node is
 * unknown and large enough. */
struct roof_places {
    int64_t bridge;
    int64_t node;
};

/* All that tells the graphs of stages apart, but for the ends of the model in the first and last.
 * Groups of devices lie within so many consecutive devices: a bridge, a node or more. */
struct roof_stage {
    int64_t begin; /* the first layer */
    int64_t end;   /* the layer behind the last one */
    int64_t tp_within;
    int64_t within;      /* of all devices of the stage */
    int64_t send_within; /* of a pair that sends to the next stage; 0: there is none */
};

/* Finds stage `number` (from 0) of a resolved scenario. */
struct roof_stage roof_stage_of(const struct roof_scenario *scenario, int64_t layers,
                                int64_t number, struct roof_places places);

/* Tells whether a stage surely has the graph of the stage before it. */
bool roof_stage_repeats(const struct roof_model *model, const struct roof_scenario *scenario,
                        int64_t number, struct roof_places places);

#endif
