// SPDX-License-Identifier: MIT
#include "model/stage.h"

#include <string.h>

#include "base/base.h"

/* Returns the first layer of a stage: layers are spread evenly, and the first stages take the
 * rest. */
static int64_t stage_begin(const struct roof_scenario *s, int64_t layers, int64_t stage)
{
    const int64_t rest = layers % s->pp;
    return layers / s->pp * stage + (stage < rest ? stage : rest);
}

/*
 * Devices are numbered tp first, then attention_dp, then pp. A group of `devices` from `first` on
 * that has devices of two nodes counts as one that lies within more than a node.
 */
static int64_t group_within(int64_t first, int64_t devices, int64_t node_size)
{
    const bool crosses = node_size > 0 && first / node_size != (first + devices - 1) / node_size;
    return crosses && devices <= node_size ? node_size + 1 : devices;
}

/* Each device sends the hidden states to the same place in the next stage, as many devices further
 * as a stage has: all these pairs lie within a node, or not. */
static int64_t send_within(int64_t first, int64_t devices, int64_t node_size)
{
    int64_t within = devices + 1;
    for (int64_t i = first; i < first + devices && node_size > 0; i++) {
        within = i / node_size != (i + devices) / node_size ? node_size + 1 : within;
    }
    return within;
}

struct roof_stage roof_stage_of(const struct roof_scenario *s, int64_t layers, int64_t number,
                                int64_t node_size)
{
    const int64_t devices = roof_stage_devices(s);
    const int64_t first = number * devices;
    struct roof_stage out = {.begin = stage_begin(s, layers, number),
                             .end = stage_begin(s, layers, number + 1),
                             .tp_within = s->tp,
                             .within = group_within(first, devices, node_size),
                             .send_within =
                                 number + 1 < s->pp ? send_within(first, devices, node_size) : 0};
    /* The tensor-parallel groups of a stage lie side by side: the slowest counts. */
    for (int64_t i = 0; i < s->attention_dp; i++) {
        const int64_t within = group_within(first + i * s->tp, s->tp, node_size);
        out.tp_within = within > out.tp_within ? within : out.tp_within;
    }
    return out;
}

bool roof_stage_repeats(const struct roof_model *model, const struct roof_scenario *s,
                        int64_t number, int64_t node_size)
{
    if (number < 2 || number + 1 >= s->pp || model->layer_embedding > 0) {
        return false; /* each stage hands on the embeddings of the layers behind it */
    }
    const struct roof_stage a = roof_stage_of(s, model->layers, number - 1, node_size);
    const struct roof_stage b = roof_stage_of(s, model->layers, number, node_size);
    return a.end - a.begin == b.end - b.begin &&
           memcmp(&model->layer_class[a.begin], &model->layer_class[b.begin],
                  (size_t)(b.end - b.begin) * sizeof *model->layer_class) == 0 &&
           a.tp_within == b.tp_within && a.within == b.within && a.send_within == b.send_within;
}
