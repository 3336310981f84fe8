// SPDX-License-Identifier: MIT
/* Kernels of collectives: sends between devices, and waiting for each other. */
#include "predict/kernel_task.h"

enum {
#define ROOF_COLLECTIVE_PARAMETER(id, key, least, most, start, neutral, meaning) C_##id,
#include "predict/kernel_parameters.h"
};

double roof_kernel_members(const struct roof_workload *workload)
{
    return workload->op == ROOF_OPERATOR_SEND ? 2 : (double)workload->shape.devices;
}

double roof_kernel_nodes(const struct roof_workload *workload, const struct roof_hardware *hardware)
{
    const double node = hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
    const double within = (double)workload->shape.within;
    return within > node ? fmin(ceil(within / node), roof_kernel_members(workload)) : 1;
}

#define RING 0.75 /* from two to eight devices: 2 (n - 1) / n */

/*
 * Between two devices all-reduce sends its buffer, the others half of theirs. With more devices the
 * time per byte grows, depending on the layout of the links. Short messages have a flag in every
 * word; long ones go in chunks through a pipeline, with the chunk size that makes its fill the
 * geometric mean of the time of a chunk and of the whole. Steps wait for another device.
 */
void roof_expect_collective(struct roof_expected *out, const struct roof_kernel_task *t,
                            const double *p)
{
    const struct roof_workload *const w = t->workload;
    const enum roof_operator op = w->op;
    const bool send = op == ROOF_OPERATOR_SEND; /* one half of an all-to-all of two devices */
    const double devices = send ? 2 : (double)w->shape.devices;
    const double buffer =
        (double)w->shape.elements * roof_precision_bits(w->formats.activations) / 8;
    const double sent = op == ROOF_OPERATOR_ALL_REDUCE || send ? buffer : buffer / 2;
    const double more = (1 - 2 / devices) / RING; /* 0 for two devices, 1 for eight */
    const double wire = sent / (p[C_LINK] * t->peak);
    const double brief = wire * (1 + p[C_SHORT_GROWTH] * more) / p[C_SHORT];
    /* Without a switch nothing reduces in flight, so the time grows at least as in a ring. */
    const double growth = t->mesh && p[C_GROWTH] < RING ? RING : p[C_GROWTH];
    const double bulk = wire * (1 + growth * more);
    const double chunked = p[C_LONG] * roof_larger(1, t->work->network_steps) / t->clock + bulk +
                           sqrt(p[C_PIPE] / t->clock * bulk);
    /* Libraries keep to the short protocol up to a size, even if the long one would be faster. */
    const double most = brief * p[C_BRIEF] * devices / buffer;
    const double moved = fmin(brief, roof_larger(most, chunked));
    /* Sends that do not wait for data wait for each other, as deep as a tree. */
    const double steps = t->work->network_steps <= 1 ? log2(devices) : t->work->network_steps;
    /* All-reduce goes up and down a tree of nodes. */
    const double hops = (op == ROOF_OPERATOR_ALL_REDUCE ? 2 : 1) * log2(t->nodes);
    const double waits = p[C_STEP] * steps / t->clock + hops * t->hop;
    out->launch_s = p[C_LAUNCH] / t->clock;
    out->time_s = moved + waits;
    out->limit = waits > moved ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_NETWORK;
}

enum {
#define ROOF_ONE_SHOT_PARAMETER(id, key, least, most, start, neutral, meaning) O_##id,
#include "predict/kernel_parameters.h"
};

/* Each device reads the buffers of all others, between two barriers; this runs only inside a node.
 */
void roof_expect_one_shot(struct roof_expected *out, const struct roof_kernel_task *t,
                          const double *p)
{
    const struct roof_workload *const w = t->workload;
    const double devices = (double)w->shape.devices;
    const double buffer =
        (double)w->shape.elements * roof_precision_bits(w->formats.activations) / 8;
    const double moved = (devices - 1) * buffer / (p[O_LINK] * t->peak);
    const double waits = p[O_STEP] * log2(devices) / t->clock;
    out->launch_s = p[O_LAUNCH] / t->clock;
    out->time_s = t->nodes > 1 ? ROOF_UNKNOWN : moved + waits;
    out->limit = waits > moved ? ROOF_KERNEL_LIMIT_LATENCY : ROOF_KERNEL_LIMIT_NETWORK;
}
