// SPDX-License-Identifier: MIT
/* The interval of an expected time: the band of its fit, or a wider one where the fit stands in. */
#include "predict/kernel_task.h"

/* Factors by which bands are wider on either side, so that 80% of the rows that were left out lie
 * in them: docs/accuracy.md ("The band"); tests/left_out.py judges them. A kernel of another stack,
 * or of an operator that was not measured; of experts with uneven loads; of other formats; of
 * another device with the same SM; between nodes, of which nothing was measured. */
#define NEAR_BAND 1.25
#define UNEVEN_BAND 1.12
#define FORMAT_BAND 1.5
#define SAME_SM_BAND 1.15
#define NODES_BAND 2.0

/* A kernel of a device with another SM, in 16 bits and in fewer. */
static const double lent_bands[ROOF_KERNEL_COUNT][2] = {
    [ROOF_KERNEL_GEMM] = {1.2, 1.65},
    [ROOF_KERNEL_BMM] = {1.2, 1.65},
    [ROOF_KERNEL_DECODE] = {1.4, 1.4},
    [ROOF_KERNEL_PREFILL] = {1.25, 1.6},
    [ROOF_KERNEL_MLA_DECODE] = {2.2, 2.4},
    [ROOF_KERNEL_MLA_PREFILL] = {1.2, 1.4},
    [ROOF_KERNEL_MOE] = {1.2, 1.55},
    [ROOF_KERNEL_NORM] = {1.7, 1.7},
    [ROOF_KERNEL_ADD] = {1.7, 1.7},
    [ROOF_KERNEL_ACTIVATION] = {1.7, 1.7},
    [ROOF_KERNEL_ROPE] = {1.7, 1.7},
    [ROOF_KERNEL_QUANTIZE] = {1.7, 1.7},
    [ROOF_KERNEL_ALL_REDUCE] = {1.9, 1.9},
    [ROOF_KERNEL_ONE_SHOT] = {1.9, 1.9},
    [ROOF_KERNEL_ALL_GATHER] = {1.9, 1.9},
    [ROOF_KERNEL_REDUCE_SCATTER] = {1.9, 1.9},
    [ROOF_KERNEL_ALL_TO_ALL] = {1.9, 1.9},
    [ROOF_KERNEL_STATE] = {1.7, 1.7},
    [ROOF_KERNEL_CONV] = {1.7, 1.7},
    [ROOF_KERNEL_CONV_PREFILL] = {1.7, 1.7},
    [ROOF_KERNEL_ENCODER] = {1.25, 1.6},
    [ROOF_KERNEL_STATE_PREFILL] = {1.7, 1.7},
    [ROOF_KERNEL_KIMI_PREFILL] = {1.7, 1.7},
    [ROOF_KERNEL_SSD_PREFILL] = {1.7, 1.7},
    [ROOF_KERNEL_INDEX_SCORES] = {1.7, 1.7},
    [ROOF_KERNEL_TOP_K] = {1.7, 1.7},
    [ROOF_KERNEL_SPARSE_MLA] = {2.2, 2.4},
    [ROOF_KERNEL_COMPRESSED] = {2.2, 2.2},
    [ROOF_KERNEL_COMPRESSED_PREFILL] = {2.2, 2.2},
    [ROOF_KERNEL_HYPER_COLLAPSE] = {1.7, 1.7},
    [ROOF_KERNEL_HYPER_EXPAND] = {1.7, 1.7},
};

bool roof_fit_is_lent(const struct roof_calibration *calibration, const struct roof_kernel_fit *fit)
{
    return (calibration->inherited && !fit->own) || fit->lent != NULL;
}

bool roof_fit_is_uneven(const struct roof_kernel_fit *fit, const struct roof_workload *workload)
{
    return fit->kernel == ROOF_KERNEL_MOE && fit->stack != ROOF_STACK_BEST &&
           fit->stack != ROOF_STACK_LLAMA_CPP && workload->shape.routing != ROOF_ROUTING_BALANCED;
}

/* Returns the larger of two factors, each with its reason. */
static struct roof_widening widest(struct roof_widening a, struct roof_widening b)
{
    return b.factor > a.factor ? b : a;
}

struct roof_widening roof_fit_widening(const struct roof_kernel_fit *fit,
                                       const struct roof_doubts *doubts)
{
    const bool narrow = doubts->numerics != ROOF_NUMERICS_16BIT;
    struct roof_widening w = {1, NULL};
    if (doubts->otherwise) {
        w = widest(w, (struct roof_widening){
                          NEAR_BAND, "another stack, operator or quantisation, or sizes unlike the "
                                     "measured ones"});
    }
    if (doubts->uneven) {
        w = widest(w, (struct roof_widening){UNEVEN_BAND,
                                             "uneven loads of experts, of which no fit saw any"});
    }
    if (doubts->lent && fit->same_sm) {
        w = widest(w, (struct roof_widening){SAME_SM_BAND, "another device with the same SM"});
    } else if (doubts->lent) {
        w = widest(
            w, (struct roof_widening){lent_bands[fit->kernel][narrow], "a device with another SM"});
    }
    if (fit->numerics != doubts->numerics) {
        w = widest(w, (struct roof_widening){FORMAT_BAND, "other formats"});
    }
    return doubts->nodes > 1 ? widest(w, (struct roof_widening){NODES_BAND, "several nodes"}) : w;
}

void roof_kernel_set_band(struct roof_expected *out, const struct roof_kernel_task *task,
                          enum roof_stack asked, double second_s)
{
    const struct roof_kernel_fit *const fit = out->fit;
    const bool other =
        asked != ROOF_STACK_BEST && fit->stack != ROOF_STACK_BEST && fit->stack != asked;
    out->otherwise = out->otherwise || other;
    out->near = out->near || other;
    const struct roof_doubts doubts = {.otherwise = out->otherwise,
                                       .lent = roof_fit_is_lent(task->calibration, fit),
                                       .uneven = roof_fit_is_uneven(fit, task->workload),
                                       .numerics = task->numerics,
                                       .nodes = task->nodes};
    const double wider = roof_fit_widening(fit, &doubts).factor;
    out->low_s = out->time_s * fit->low / wider;
    out->high_s = out->time_s * fit->high * wider;
    if (asked == ROOF_STACK_BEST && second_s > out->high_s) {
        out->high_s = fmin(second_s, ROOF_SECOND_BAND * out->high_s);
    }
    if (task->cold && out->low_s < task->bound) {
        out->low_s = task->bound;
    }
}
