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

/* A prompt of fewer than ROOF_PROMPT_QUERIES tokens takes as long in the kernels of a state as one
 * of so many: engines choose these kernels by phase, not by length, and they work on whole chunks.
 * This predicts that longer prompt; *shorter is false if the prompt is long enough. */
static enum roof_status predict_longer(struct roof_prediction *out, bool *shorter,
                                       const struct roof_node *node,
                                       const struct roof_hardware *hardware,
                                       struct roof_error *error)
{
    struct roof_workload longer = node->workload;
    const int64_t tokens = longer.shape.query_len;
    *shorter = node->part.prompt && tokens > 1 && tokens < ROOF_PROMPT_QUERIES;
    longer.shape.query_len = ROOF_PROMPT_QUERIES;
    return *shorter ? roof_predict_formatted(out, &longer, hardware, error) : ROOF_OK;
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

/* An all-reduce has the faster bound of its two algorithms, which without a latency is that of the
 * ring, and the faster expected time. */
enum roof_status roof_predict_node(struct roof_prediction *out, const struct roof_node *node,
                                   const struct roof_hardware *hardware, struct roof_error *error)
{
    hardware = roof_node_hardware(node, hardware);
    TRY(roof_predict_formatted(out, &node->workload, hardware, error));
    if (node->host_kernels != NULL) {
        struct roof_prediction measured;
        TRY(predict_on_host(&measured, node, error));
        take_expected(out, &measured);
        return ROOF_OK;
    }
    struct roof_prediction longer;
    bool shorter = false;
    TRY(predict_longer(&longer, &shorter, node, hardware, error));
    if (shorter) {
        take_expected(out, &longer);
        return ROOF_OK;
    }
    if (is_raised(&node->part) && node->workload.stack == ROOF_STACK_VLLM) {
        raise_expected(out, &node->part);
    }
    if (node->workload.op != ROOF_OPERATOR_ALL_REDUCE) {
        return ROOF_OK;
    }
    struct roof_workload other = node->workload;
    struct roof_prediction at_once;
    other.shape.algorithm = ROOF_ALGORITHM_ONE_SHOT;
    TRY(roof_predict_formatted(&at_once, &other, hardware, error));
    const bool bound = at_once.time_s < out->time_s;
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

enum roof_status roof_predict_node_in(struct roof_prediction *out,
                                      struct roof_expected_sum expected[ROOF_STACK_COUNT],
                                      const struct roof_node *node,
                                      const struct roof_hardware *hardware,
                                      const struct roof_stacks *stacks, struct roof_error *error)
{
    hardware = roof_node_hardware(node, hardware);
    TRY(roof_predict_bound(out, &node->workload, hardware, error));
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
    struct roof_prediction longer;
    bool shorter = false;
    TRY(predict_longer(&longer, &shorter, node, hardware, error));
    roof_expect_in(expected, shorter ? &longer : out, stacks);
    for (size_t i = 0; i < stacks->count && is_raised(&node->part); i++) {
        if (stacks->stack[i] == ROOF_STACK_VLLM) {
            raise_sum(&expected[i], out, &node->part);
        }
    }
    if (node->workload.op != ROOF_OPERATOR_ALL_REDUCE) {
        return ROOF_OK;
    }
    struct roof_workload other = node->workload;
    struct roof_prediction at_once;
    struct roof_expected_sum sooner[ROOF_STACK_COUNT];
    other.shape.algorithm = ROOF_ALGORITHM_ONE_SHOT;
    TRY(roof_predict_bound(&at_once, &other, hardware, error));
    roof_expect_in(sooner, &at_once, stacks);
    for (size_t i = 0; i < stacks->count; i++) {
        if (sooner[i].time_s < expected[i].time_s || isnan(expected[i].time_s)) {
            expected[i] = sooner[i];
        }
    }
    if (at_once.time_s < out->time_s) {
        *out = at_once;
    }
    return ROOF_OK;
}
