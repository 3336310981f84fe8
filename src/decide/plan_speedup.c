// SPDX-License-Identifier: MIT
#include "decide/plan_speedup.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

/* Tells whether one combination of formats loses less accuracy than another. Ties go to the
 * published formats, or else to the wider weights. */
static bool loses_less(const struct roof_plan_problem *problem, size_t a, size_t b)
{
    const struct roof_serving *const s = problem->engines->serving;
    const enum roof_accuracy_class x = roof_plan_loss(problem, a);
    const enum roof_accuracy_class y = roof_plan_loss(problem, b);
    const bool published[] = {roof_serving_published(&s[a]), roof_serving_published(&s[b])};
    if (x != y || published[0] != published[1]) {
        return x != y ? x < y : published[0];
    }
    return roof_precision_bits(s[a].weights) > roof_precision_bits(s[b].weights);
}

size_t roof_plan_least_loss(const struct roof_plans *plans, const struct roof_plan_problem *problem,
                            size_t hardware)
{
    const struct roof_engines *const engines = problem->engines;
    size_t best = engines->servings;
    for (size_t i = 0; i < engines->servings; i++) {
        if (plans->model[i] != NULL && roof_plan_engines(problem, i, hardware) != 0 &&
            (best == engines->servings || loses_less(problem, i, best))) {
            best = i;
        }
    }
    return best;
}

/* Names a plan by its differences from the other: the device, the formats, or both. */
static void put_name(char out[ROOF_PLAN_SIDE_SIZE], const struct roof_plan *plan,
                     const struct roof_plan *other, const struct roof_plan_problem *problem)
{
    const bool devices = plan->hardware != other->hardware;
    const bool formats = plan->serving != other->serving;
    const struct roof_serving *const s = &problem->engines->serving[plan->serving];
    const bool caches = s->kv != problem->engines->serving[other->serving].kv;
    (void)snprintf(out, ROOF_PLAN_SIDE_SIZE, "%s%s%s%s%s",
                   devices || !formats ? problem->hardware[plan->hardware]->id : "",
                   devices && formats ? ":" : "", formats ? s->id : "",
                   caches ? " with a KV cache in " : "", caches ? roof_format(s->kv)->name : "");
}

/* Finds the batches at which the operators of the decode step of `to` become compute-bound. */
static void find_bounds(struct roof_plan_speedup *out, const struct roof_model_prediction *decode,
                        const struct roof_scenario *scenario)
{
    double batch[ROOF_GRAPH_MAX];
    roof_predict_model_bounds(batch, decode, scenario);
    for (size_t i = 0; i < out->decode.count; i++) {
        out->compute_bound_batch[i] = batch[out->decode.row[i].to_node];
    }
}

/* Predicts both phases of both plans, one phase at a time, in the memory for two predictions. */
static enum roof_status compare_phases(struct roof_plan_speedup *out,
                                       struct roof_model_prediction *model_prediction,
                                       const struct roof_plans *plans,
                                       const struct roof_plan_problem *problem,
                                       struct roof_error *error)
{
    const struct roof_plan *const plan[] = {&out->from, &out->to};
    enum roof_fit *const fits[] = {&out->from_fits, &out->to_fits};
    const struct roof_speedup_side side[] = {{out->from_name, NULL, &model_prediction[0]},
                                             {out->to_name, NULL, &model_prediction[1]}};
    struct roof_scenario phase[2];
    for (int decode = 0; decode < 2; decode++) {
        for (int i = 0; i < 2; i++) {
            roof_plan_scenarios(&phase[0], &phase[1], plan[i], problem);
            TRY(roof_predict_model(&model_prediction[i], plans->model[plan[i]->serving],
                                   &phase[decode], problem->hardware[plan[i]->hardware], error));
            *fits[i] = model_prediction[i].fits; /* the decode step comes last */
            (decode == 0 ? out->prefill_step_s : out->decode_step_s)[i] =
                model_prediction[i].expected_step_s;
        }
        TRY(roof_speedup(decode == 0 ? &out->prefill : &out->decode, &side[0], &side[1], error));
    }
    find_bounds(out, &model_prediction[1], &phase[1]);
    return ROOF_OK;
}

enum roof_status roof_plan_speedup(struct roof_plan_speedup *out, const struct roof_plan *from,
                                   const struct roof_plan *to, const struct roof_plans *plans,
                                   const struct roof_plan_problem *problem,
                                   struct roof_error *error)
{
    out->to = out->from = *to;
    out->from.hardware = from->hardware;
    out->from.serving = from->serving;
    out->from.stack = roof_plan_stack(problem, from->serving, from->hardware, from->stack);
    out->to.stack = roof_plan_stack(problem, to->serving, to->hardware, to->stack);
    put_name(out->from_name, &out->from, to, problem);
    put_name(out->to_name, to, &out->from, problem);
    struct roof_model_prediction *const model_prediction = malloc(2 * sizeof *model_prediction);
    if (model_prediction == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = compare_phases(out, model_prediction, plans, problem, error);
    free(model_prediction);
    return status;
}
