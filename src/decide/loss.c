// SPDX-License-Identifier: MIT
#include "decide/loss.h"

#include <math.h>

#include "base/base.h"
#include "decide/survey.h"

/* Uses the largest gain of a change to the kernels, and assumes the same relative gain for the
 * measured time as for the expected one. */
static enum roof_status find_lever(struct roof_loss *out, const struct roof_compared *row,
                                   struct roof_error *error)
{
    struct roof_advice advice;
    TRY(roof_advise(&advice, row->prediction, error));
    for (size_t i = 0; i < advice.count; i++) {
        const struct roof_lever *const lever = &advice.lever[i];
        const bool flash =
            lever->kind == ROOF_LEVER_FUSE && lever->op == ROOF_OPERATOR_FLASH_ATTENTION;
        const bool kernels =
            flash || lever->kind == ROOF_LEVER_SPLIT_K || lever->kind == ROOF_LEVER_LAUNCH;
        if (kernels && lever->expected_gain >= ROOF_LEVER_NO_GAIN) {
            out->cure = ROOF_CURE_LEVER;
            out->lever = *lever;
            out->gain = lever->expected_gain;
            return ROOF_OK; /* the largest comes first */
        }
    }
    return ROOF_OK;
}

/* Suggests aligned rows for a product that is slower than expected, because the expected time does
 * not include the cost of misaligned rows. */
static enum roof_status find_padding(struct roof_loss *out, const struct roof_compared *row,
                                     struct roof_error *error)
{
    struct roof_advice advice;
    TRY(roof_advise(&advice, row->prediction, error));
    for (size_t i = 0; i < advice.count; i++) {
        if (advice.lever[i].kind == ROOF_LEVER_PAD) {
            out->cure = ROOF_CURE_LEVER;
            out->lever = advice.lever[i];
            out->gain = row->measured_s / out->lever.expected_s;
        }
    }
    return ROOF_OK;
}

/* Takes the operator that loses the most of the expected time. */
static void find_node(struct roof_loss *out, const struct roof_compared *row)
{
    const struct roof_model_prediction *const r = row->model_prediction;
    double lost_s = 0;
    const size_t worst = roof_survey_worst(&lost_s, r, NULL);
    if (worst < r->count) {
        out->cure = ROOF_CURE_NODE;
        out->node = r->node[worst].node.name;
        out->gain = r->total.expected_s / (r->total.expected_s - lost_s);
    }
}

/* Returns what limits the measured part of a request, or all of another row. */
static enum roof_bottleneck regime_of(const struct roof_compared *row, bool expected)
{
    const struct roof_model_prediction *const r = row->model_prediction;
    const bool request = r != NULL && r->scenario.phase == ROOF_PHASE_REQUEST;
    if (request && row->which == ROOF_METRIC_TTFT) {
        return expected ? r->ttft_by.expected : r->ttft_by.bound;
    }
    if (request && row->which == ROOF_METRIC_TPOT) {
        return expected ? r->tpot_by.expected : r->tpot_by.bound;
    }
    return expected ? row->prediction->expected_bottleneck : row->prediction->bottleneck;
}

enum roof_status roof_loss_of(struct roof_loss *out, const struct roof_compared *row,
                              struct roof_error *error)
{
    const bool expected = !isnan(row->expected_s);
    *out = (struct roof_loss){.share = row->time_s / row->measured_s,
                              .lost_s = (double)row->count * (row->measured_s - row->time_s),
                              .regime = regime_of(row, expected),
                              .cure = ROOF_CURE_BOUND,
                              .gain = row->measured_s / row->time_s};
    if (!expected) {
        return ROOF_OK;
    }
    if (row->measured_s > row->high_s) {
        out->cure = ROOF_CURE_EXPECTED;
        out->gain = row->measured_s / row->expected_s;
        return row->model_prediction == NULL ? find_padding(out, row, error) : ROOF_OK;
    }
    if (row->model_prediction != NULL) {
        find_node(out, row);
        return ROOF_OK;
    }
    return find_lever(out, row, error);
}
