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
 * Devices are numbered tp first, then attention_dp, then pp. A group of consecutive devices that
 * has devices of two nodes counts as one that lies within more than a node, and so for bridges.
 */
static int64_t group_within(int64_t first, int64_t devices, struct roof_places places)
{
    const int64_t sizes[] = {places.bridge, places.node};
    int64_t within = devices;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const int64_t size = sizes[i];
        const bool crosses = size > 0 && first / size != (first + devices - 1) / size;
        within = crosses && within <= size ? size + 1 : within;
    }
    return within;
}

/* Each device sends the hidden states to the same place in the next stage, as many devices further
 * as a stage has. The pair that is furthest apart counts, because the stage waits for it. */
static int64_t send_within(int64_t first, int64_t devices, struct roof_places places)
{
    int64_t within = 0;
    for (int64_t i = first; i < first + devices; i++) {
        const int64_t pair = group_within(i, devices + 1, places);
        within = pair > within ? pair : within;
    }
    return within;
}

struct roof_stage roof_stage_of(const struct roof_scenario *s, int64_t layers, int64_t number,
                                struct roof_places places)
{
    const int64_t devices = roof_stage_devices(s);
    const int64_t first = number * devices;
    struct roof_stage out = {.begin = stage_begin(s, layers, number),
                             .end = stage_begin(s, layers, number + 1),
                             .tp_within = s->tp,
                             .within = group_within(first, devices, places),
                             .send_within =
                                 number + 1 < s->pp ? send_within(first, devices, places) : 0};
    /* The tensor-parallel groups of a stage lie side by side: the slowest counts. */
    for (int64_t i = 0; i < s->attention_dp; i++) {
        const int64_t within = group_within(first + i * s->tp, s->tp, places);
        out.tp_within = within > out.tp_within ? within : out.tp_within;
    }
    return out;
}

bool roof_stage_repeats(const struct roof_model *model, const struct roof_scenario *s,
                        int64_t number, struct roof_places places)
{
    if (number < 2 || number + 1 >= s->pp || model->layer_embedding > 0) {
        return false; /* each stage hands on the embeddings of the layers behind it */
    }
    const struct roof_stage a = roof_stage_of(s, model->layers, number - 1, places);
    const struct roof_stage b = roof_stage_of(s, model->layers, number, places);
    return a.end - a.begin == b.end - b.begin &&
           memcmp(&model->layer_class[a.begin], &model->layer_class[b.begin],
                  (size_t)(b.end - b.begin) * sizeof *model->layer_class) == 0 &&
           a.tp_within == b.tp_within && a.within == b.within && a.send_within == b.send_within;
}
