// SPDX-License-Identifier: MIT
#include "decide/workflow.h"

#include <math.h>
#include <stdlib.h>

#include "predict/predict_sizes.h"

/* Returns how often an operator runs in a whole run. */
static double runs_of(const struct roof_workflow *w, const struct roof_workflow_operator *op)
{
    return (double)op->count * (double)w->stage[op->stage].repeat;
}

double roof_workflow_time(const struct roof_workflow *workflow,
                          const struct roof_workflow_operator *op)
{
    return runs_of(workflow, op) * op->prediction.time_s;
}

double roof_workflow_expected(const struct roof_workflow *workflow,
                              const struct roof_workflow_operator *op)
{
    return runs_of(workflow, op) * op->prediction.expected_s;
}

static void add(struct roof_workflow_sum *sum, const struct roof_workflow_sum *part)
{
    sum->time_s += part->time_s;
    sum->expected_s += part->expected_s;
    sum->low_s += part->low_s;
    sum->high_s += part->high_s;
    sum->mixed_s += part->mixed_s;
    sum->host_s += part->host_s;
    sum->whole_s += part->whole_s;
    sum->launches += part->launches;
    sum->flops += part->flops;
    sum->bytes += part->bytes;
    for (int i = 0; i < ROOF_BOTTLENECK_COUNT; i++) {
        sum->share[i] += part->share[i];
    }
}

/* Sums all runs of an operator. */
static void sum_operator(struct roof_workflow_sum *out, const struct roof_workflow *w,
                         const struct roof_workflow_operator *op)
{
    const struct roof_prediction *const p = &op->prediction;
    const double runs = runs_of(w, op);
    const double time_s = roof_workflow_time(w, op);
    const double expected_s = roof_workflow_expected(w, op);
    *out = (struct roof_workflow_sum){.time_s = time_s,
                                      .expected_s = expected_s,
                                      .low_s = runs * p->expected_low_s,
                                      .high_s = runs * p->expected_high_s,
                                      .mixed_s = isnan(expected_s) ? time_s : expected_s,
                                      .whole_s = op->split ? 0 : time_s,
                                      .launches = runs,
                                      .flops = runs * p->flops,
                                      .bytes = runs * p->bytes};
    out->share[p->bottleneck] = time_s;
}

static void sum_stage(struct roof_workflow_stage *s, const struct roof_workflow *w)
{
    s->sum = (struct roof_workflow_sum){.time_s = 0};
    for (size_t i = 0; i < s->count; i++) {
        struct roof_workflow_sum part;
        sum_operator(&part, w, &w->operators[s->first + i]);
        add(&s->sum, &part);
    }
    if (s->launches > 0) {
        s->sum.launches = (double)s->launches * (double)s->repeat;
    }
    const double host_s = (double)s->repeat * s->serial_s + s->sum.launches * s->gap_s;
    const struct roof_workflow_sum host = {.time_s = host_s,
                                           .expected_s = host_s,
                                           .low_s = host_s,
                                           .high_s = host_s,
                                           .mixed_s = host_s,
                                           .host_s = host_s,
                                           .whole_s = host_s,
                                           .share[ROOF_BOTTLENECK_OVERHEAD] = host_s};
    add(&s->sum, &host);
    s->sum.bottleneck = roof_largest_share(s->sum.share);
}

void roof_workflow_sum(struct roof_workflow *workflow)
{
    workflow->total = (struct roof_workflow_sum){.time_s = 0};
    for (size_t i = 0; i < workflow->stages; i++) {
        sum_stage(&workflow->stage[i], workflow);
        add(&workflow->total, &workflow->stage[i].sum);
    }
    workflow->total.bottleneck = roof_largest_share(workflow->total.share);
}

void roof_workflow_free(struct roof_workflow *workflow)
{
    free(workflow->stage);
    free(workflow->operators);
    roof_json_free(workflow->json);
    *workflow = (struct roof_workflow){.json = NULL};
}
