// SPDX-License-Identifier: MIT
/* The prediction of an operator of a graph. */
#include <math.h>

#include "base/base.h"
#include "predict/kernel_task.h"
#include "predict/pass.h"

const struct roof_hardware *roof_node_hardware(const struct roof_node *node,
                                               const struct roof_hardware *device)
{
    return node->host != NULL ? node->host : device;
}

void roof_take_expected_sum(struct roof_prediction *out, const struct roof_expected_sum *sum)
{
    out->expected_s = sum->time_s;
    out->expected_low_s = sum->low_s;
    out->expected_high_s = sum->high_s;
    out->expected_bottleneck = sum->bottleneck;
    out->expected_near = sum->near;
}

/* Gives a prediction the expected times of another of the same operator. */
static void take_expected(struct roof_prediction *out, const struct roof_prediction *other)
{
    out->expected_s = other->expected_s;
    out->expected_low_s = other->expected_low_s;
    out->expected_high_s = other->expected_high_s;
    out->expected_bottleneck = other->expected_bottleneck;
    out->expected_near = other->expected_near;
    for (int i = 0; i < out->part_count; i++) {
        out->part[i].expected = other->part[i].expected;
    }
}

/* Predicts an operator with the kernels that were measured on the host. */
static enum roof_status predict_on_host(struct roof_prediction *out, const struct roof_node *node,
                                        struct roof_error *error)
{
    struct roof_workload workload = node->workload;
    workload.stack = ROOF_STACK_BEST; /* the only one that is measured on a host */
    return roof_predict_formatted(out, &workload, node->host_kernels, error);
}

/* Returns the larger time, or the first one if that is unknown. */
static double at_least(double time_s, double least_s)
{
    return time_s < least_s ? least_s : time_s;
}

/* The low end assumes page-locked weights. If a pass uses only a part of the routed experts, their
 * copy is shorter than the link needs for all of them. Other weights are always copied in full. */
struct roof_copy roof_copy_of(const struct roof_node *node, const struct roof_prediction *bound,
                              const struct roof_hardware *device)
{
    const struct roof_upload *const c = &node->upload;
    const double link = device->figure[ROOF_FIGURE_HOST_LINK].value;
    const double weights = bound->role_bytes[ROOF_ROLE_WEIGHTS];
    const double time_s = weights / (c->share * link);
    return (struct roof_copy){
        .time_s = time_s,
        .low_s = at_least(c->low * time_s, node->routed ? 0 : weights / (ROOF_UPLOAD_MOST * link)),
        .high_s = c->high * time_s,
        .least_s = weights / node->host->figure[ROOF_FIGURE_BANDWIDTH].value};
}

/* Adds the copy of the weights to the expected time of an operator that the device runs when they
 * have arrived: llama.cpp overlaps no copy with a kernel. The host's memory has no other part in it
 * than to give the weights. */
static void add_copy(struct roof_expected_sum *sum, const struct roof_prediction *bound,
                     const struct roof_node *node, const struct roof_hardware *device)
{
    const struct roof_copy copy = roof_copy_of(node, bound, device);
    sum->bottleneck = copy.time_s > sum->time_s ? ROOF_BOTTLENECK_NETWORK : sum->bottleneck;
    sum->time_s = at_least(sum->time_s + copy.time_s, copy.least_s);
    sum->low_s = at_least(sum->low_s + copy.low_s, copy.least_s);
    sum->high_s = at_least(sum->high_s + copy.high_s, copy.least_s);
    sum->near = true;
}

double roof_copy_arrives_s(const struct roof_node *node, const struct roof_prediction *bound,
                           const struct roof_hardware *device)
{
    const double memory = node->host->figure[ROOF_FIGURE_BANDWIDTH].value;
    const double link = device->figure[ROOF_FIGURE_HOST_LINK].value;
    return bound->role_bytes[ROOF_ROLE_WEIGHTS] / (link < memory ? link : memory);
}

/* Lowers the bound of an operator that the host or the device may compute to that of the device, if
 * this is lower. There, it waits for its weights and takes at least the time of its bound. */
static void bound_both_ways(struct roof_prediction *out, const struct roof_node *node,
                            const struct roof_prediction *there)
{
    const double arrives_s = roof_copy_arrives_s(node, out, there->hardware);
    if (out->time_s <= arrives_s || out->time_s <= there->time_s) {
        return;
    }
    if (there->time_s >= arrives_s) {
        *out = *there;
        return;
    }
    out->memory_time_s = out->time_s = arrives_s;
    out->attainable_flops_per_s =
        isnan(out->compute_time_s) ? ROOF_UNKNOWN : out->flops / arrives_s;
    out->fraction_of_peak = out->attainable_flops_per_s / out->peak_flops_per_s;
}

/* Predicts an operator whose weights are copied to the device: a bound for both ways to run it, and
 * the expected time of its copy and its kernels. *out is its prediction on the host. */
static enum roof_status predict_copied(struct roof_prediction *out, const struct roof_node *node,
                                       const struct roof_hardware *device, struct roof_error *error)
{
    struct roof_prediction there;
    TRY(roof_predict_formatted(&there, &node->workload, device, error));
    struct roof_expected_sum sum = {.time_s = there.expected_s,
                                    .low_s = there.expected_low_s,
                                    .high_s = there.expected_high_s,
                                    .bottleneck = there.expected_bottleneck};
    add_copy(&sum, out, node, device);
    bound_both_ways(out, node, &there);
    take_expected(out, &there);
    roof_take_expected_sum(out, &sum);
    return ROOF_OK;
}

/* Tells whether attention of decoding sequences may take longer in its step than alone. */
static bool is_raised(const struct roof_step_part *part)
{
    return part->beside_prompts || part->longest > 0;
}

/* Raises the expected time of such attention, with kernels of vLLM. */
static void raise_expected(struct roof_prediction *out, const struct roof_step_part *part)
{
    struct roof_expected *const e = &out->part[0].expected;
    const double factor = roof_step_factor(&e->limit, &out->workload, part, out->hardware,
                                           out->part[0].peak_flops_per_s, out->expected_s);
    if (factor > 1) {
        e->time_s *= factor;
        e->low_s *= factor;
        e->high_s *= factor;
        out->expected_s *= factor;
        out->expected_low_s *= factor;
        out->expected_high_s *= factor;
        out->expected_bottleneck = roof_kernel_limit_bottleneck(e->limit);
    }
}

/* Does this for the sum of one of several stacks. */
static void raise_sum(struct roof_expected_sum *sum, const struct roof_prediction *bound,
                      const struct roof_step_part *part)
{
    enum roof_kernel_limit limit = ROOF_KERNEL_LIMIT_MEMORY;
    const double factor = roof_step_factor(&limit, &bound->workload, part, bound->hardware,
                                           bound->part[0].peak_flops_per_s, sum->time_s);
    if (factor > 1) {
        sum->time_s *= factor;
        sum->low_s *= factor;
        sum->high_s *= factor;
        sum->bottleneck = roof_kernel_limit_bottleneck(limit);
    }
}

/* Finds another kernel for the work of a node, of which engines take the faster one; false: there
 * is none. An all-reduce has another algorithm. Several tokens that attend to all keys of a short
 * latent cache also have the kernel for chosen keys. */
static bool find_other(struct roof_workload *other, const struct roof_node *node)
{
    const struct roof_workload *const w = &node->workload;
    if (w->op == ROOF_OPERATOR_ALL_REDUCE) {
        *other = *w;
        other->shape.algorithm = ROOF_ALGORITHM_ONE_SHOT;
        return true;
    }
    if (w->op != ROOF_OPERATOR_MLA_DECODE || node->part.chosen == 0 || w->shape.query_len == 1) {
        return false;
    }
    *other = *w;
    other->op = ROOF_OPERATOR_SPARSE_MLA;
    other->shape.selected = node->part.chosen;
    other->shape.qk_nope_head_dim = 0;
    other->shape.v_head_dim = 0;
    return true;
}

/* An all-reduce has the faster bound of its two algorithms, which without a latency is that of the
 * ring, and the faster expected time. */
enum roof_status roof_predict_node(struct roof_prediction *out, const struct roof_node *node,
                                   const struct roof_hardware *hardware, struct roof_error *error)
{
    const struct roof_hardware *const device = hardware;
    hardware = roof_node_hardware(node, hardware);
    TRY(roof_predict_formatted(out, &node->workload, hardware, error));
    if (node->upload.share > 0) {
        return predict_copied(out, node, device, error);
    }
    if (node->host_kernels != NULL) {
        struct roof_prediction measured;
        TRY(predict_on_host(&measured, node, error));
        take_expected(out, &measured);
        return ROOF_OK;
    }
    if (is_raised(&node->part) && node->workload.stack == ROOF_STACK_VLLM) {
        raise_expected(out, &node->part);
    }
    struct roof_workload other;
    struct roof_prediction at_once;
    if (!find_other(&other, node)) {
        return ROOF_OK;
    }
    TRY(roof_predict_formatted(&at_once, &other, hardware, error));
    const bool bound = other.op == node->workload.op && at_once.time_s < out->time_s;
    const bool expected = at_once.expected_s < out->expected_s || isnan(out->expected_s);
    if (bound && expected) {
        *out = at_once;
    } else if (bound) {
        take_expected(&at_once, out);
        *out = at_once;
    } else if (expected) {
        take_expected(out, &at_once);
    }
    return ROOF_OK;
}

/* Does this for each of several stacks. */
static enum roof_status
predict_copied_in(struct roof_prediction *out, struct roof_expected_sum expected[ROOF_STACK_COUNT],
                  const struct roof_node *node, const struct roof_hardware *device,
                  const struct roof_stacks *stacks, struct roof_error *error)
{
    struct roof_prediction there;
    TRY(roof_predict_bound(&there, &node->workload, device, error));
    roof_expect_in(expected, &there, stacks);
    for (size_t i = 0; i < stacks->count; i++) {
        add_copy(&expected[i], out, node, device);
    }
    bound_both_ways(out, node, &there);
    return ROOF_OK;
}

enum roof_status roof_predict_node_in(struct roof_prediction *out,
                                      struct roof_expected_sum expected[ROOF_STACK_COUNT],
                                      const struct roof_node *node,
                                      const struct roof_hardware *hardware,
                                      const struct roof_stacks *stacks, struct roof_error *error)
{
    const struct roof_hardware *const device = hardware;
    hardware = roof_node_hardware(node, hardware);
    TRY(roof_predict_bound(out, &node->workload, hardware, error));
    if (node->upload.share > 0) {
        return predict_copied_in(out, expected, node, device, stacks, error);
    }
    if (node->host_kernels != NULL) {
        struct roof_prediction measured;
        TRY(predict_on_host(&measured, node, error));
        for (size_t i = 0; i < stacks->count; i++) {
            expected[i] = (struct roof_expected_sum){.time_s = measured.expected_s,
                                                     .low_s = measured.expected_low_s,
                                                     .high_s = measured.expected_high_s,
                                                     .bottleneck = measured.expected_bottleneck,
                                                     .near = measured.expected_near};
        }
        return ROOF_OK;
    }
    roof_expect_in(expected, out, stacks);
    for (size_t i = 0; i < stacks->count && is_raised(&node->part); i++) {
        if (stacks->stack[i] == ROOF_STACK_VLLM) {
            raise_sum(&expected[i], out, &node->part);
        }
    }
    struct roof_workload other;
    struct roof_prediction at_once;
    struct roof_expected_sum sooner[ROOF_STACK_COUNT];
    if (!find_other(&other, node)) {
        return ROOF_OK;
    }
    TRY(roof_predict_bound(&at_once, &other, hardware, error));
    roof_expect_in(sooner, &at_once, stacks);
    for (size_t i = 0; i < stacks->count; i++) {
        if (sooner[i].time_s < expected[i].time_s || isnan(expected[i].time_s)) {
            expected[i] = sooner[i];
        }
    }
    if (other.op == node->workload.op && at_once.time_s < out->time_s) {
        *out = at_once;
    }
    return ROOF_OK;
}
