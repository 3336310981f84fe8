// SPDX-License-Identifier: MIT
/* Turns plans into scenarios and into words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "decide/plan_split.h"

const char *roof_plan_limit_name(enum roof_plan_limit limit)
{
    static const char *const names[ROOF_PLAN_LIMIT_COUNT] = {
        [ROOF_PLAN_LIMIT_TTFT] = "time to first token",
        [ROOF_PLAN_LIMIT_TPOT] = "time per token",
        [ROOF_PLAN_LIMIT_TOKENS_PER_S] = "tokens/s",
        [ROOF_PLAN_LIMIT_CONCURRENCY] = "concurrency",
        [ROOF_PLAN_LIMIT_COST] = "cost",
        [ROOF_PLAN_LIMIT_POWER] = "power"};
    return names[limit];
}

const char *roof_plan_rejection_name(enum roof_plan_rejection rejection)
{
    static const char *const names[ROOF_REJECTED_COUNT] = {
        [ROOF_REJECTED_FORMATS] = "no engine runs these formats on the device",
        [ROOF_REJECTED_ENGINE] = "no engine runs this split or batch in these formats",
        [ROOF_REJECTED_WIDER] = "not smaller than the published checkpoint",
        [ROOF_REJECTED_LOSS] = "the accuracy loss is above the limit",
        [ROOF_REJECTED_DENSE] = "the format cannot store pruned weights",
        [ROOF_REJECTED_NATIVE] = "the device computes a product in a wider format",
        [ROOF_REJECTED_SPLIT] = "the split does not divide the model",
        [ROOF_REJECTED_FIGURE] = "a link or energy of the device is unknown",
        [ROOF_REJECTED_COPIES] = "copies for prefill and for decode do not fill the devices",
        [ROOF_REJECTED_MEMORY] = "does not fit in memory",
        [ROOF_REJECTED_UNKNOWN] = "an operator has no expected time",
        [ROOF_REJECTED_LIMIT] = "misses a limit"};
    return names[rejection];
}

void roof_plan_halves(struct roof_plan_problem *prefill, struct roof_plan_problem *decode,
                      const struct roof_plan_problem *problem)
{
    const struct roof_scenario *const base = &problem->base;
    *prefill = *decode = *problem;
    prefill->base.generate = 1;
    prefill->base.draft_tokens = 0;
    decode->base.context = base->prompt + base->generate / 2;
    decode->base.prompt = decode->base.generate = decode->base.chunk = 0;
    decode->base.prefix_hit = 0;
    roof_media_encoded(&decode->base.media);
}

int64_t roof_plan_computed(const struct roof_scenario *base)
{
    return roof_uncached(base->generate > 0 ? base->prompt : base->context, base->prefix_hit);
}

int64_t roof_plan_chunk(const struct roof_scenario *base)
{
    return base->generate > 0 && base->chunk > 0 ? base->chunk : roof_plan_computed(base);
}

int64_t roof_plan_local_pass(const struct roof_plan *plan, const struct roof_scenario *base)
{
    const int64_t prompt = roof_plan_computed(base);
    const int64_t step = plan->batch * (base->draft_tokens + 1);
    const int64_t longest = prompt > step ? prompt : step;
    const int64_t chunk = base->chunk > 0 ? base->chunk : ROOF_REQUEST_CHUNK;
    return chunk < longest ? chunk : longest;
}

/* Tells whether an engine multiplies the weights of a published checkpoint by activations with
 * fewer bits than in the checkpoint: gpt-oss stores MXFP4 weights for activations of 16 bits, which
 * some engines round to 8. */
static bool narrows_activations(const struct roof_serving *s)
{
    const double activations = roof_precision_bits(s->activations);
    return roof_precision_bits(s->weights) < activations && activations < 16;
}

double roof_plan_host_s(const struct roof_plan *plan, const struct roof_plan_problem *problem)
{
    return plan->basis == ROOF_PLAN_BOUND ? 0 : problem->base.host_time[plan->stack].request_s;
}

void roof_plan_scenario(struct roof_scenario *out, const struct roof_plan *plan,
                        const struct roof_plan_problem *problem)
{
    const struct roof_serving *const s = &problem->engines->serving[plan->serving];
    *out = problem->base;
    if (s->layout == NULL) {
        out->common.formats.weights = s->weights;
    }
    if (s->layout == NULL || narrows_activations(s)) {
        out->common.formats.activations = s->activations;
    }
    out->common.formats.kv = s->kv;
    out->common.stack = plan->stack;
    out->common.shape.batch = plan->batch;
    out->offload = plan->offload;
    out->dp = plan->dp;
    roof_split_put(out, &plan->split);
}

void roof_plan_scenarios(struct roof_scenario *prefill, struct roof_scenario *decode,
                         const struct roof_plan *plan, const struct roof_plan_problem *problem)
{
    struct roof_scenario both;
    roof_plan_scenario(&both, plan, problem);
    roof_scenario_phases(prefill, decode, &both);
    prefill->common.shape.batch = 1;
    if (both.generate > 0) { /* the decode step of a closed loop */
        decode->context = both.prompt + both.generate / 2;
    }
    if (plan->prefill.copies > 0) {
        roof_split_put(prefill, &plan->prefill.split);
    }
}

const struct roof_model *roof_plan_model(const struct roof_plan_problem *problem, size_t serving)
{
    const struct roof_serving *const s = &problem->engines->serving[serving];
    const struct roof_model *found = roof_serving_suits(s, problem->model) ? problem->model : NULL;
    for (size_t i = 0; i < problem->checkpoints && found == NULL; i++) {
        found = roof_serving_suits(s, problem->checkpoint[i]) ? problem->checkpoint[i] : NULL;
    }
    return found;
}

enum roof_precision roof_plan_main_format(const struct roof_model *model)
{
    const struct roof_layer *const last = &model->layer[model->layer_classes - 1];
    const enum roof_weight up = last->moe ? ROOF_WEIGHT_EXPERT_UP : ROOF_WEIGHT_UP;
    return (enum roof_precision)last->format[up];
}

enum roof_precision roof_plan_weights(const struct roof_plan_problem *q, size_t serving)
{
    const struct roof_serving *const s = &q->engines->serving[serving];
    const bool own = roof_serving_own(s, q->model);
    if (own && roof_plan_of_gguf(q)) {
        return roof_plan_main_format(q->published);
    }
    const bool known = s->weights != ROOF_PRECISION_AUTO && q->stored != ROOF_PRECISION_AUTO;
    return own && known && /* other bits: a serving with a mixed layout */
                   roof_format(s->weights)->element_bits == roof_format(q->stored)->element_bits
               ? q->stored
               : s->weights;
}

void roof_plan_name(struct roof_plan_row *out, const struct roof_plan *plan, int rank,
                    const struct roof_plan_problem *problem)
{
    const struct roof_serving *const s = &problem->engines->serving[plan->serving];
    *out = (struct roof_plan_row){
        .plan = *plan,
        .rank = rank,
        .model = roof_plan_model(problem, plan->serving)->id,
        .hardware = problem->hardware[plan->hardware]->id,
        .hardware_basis = roof_basis_name(problem->hardware[plan->hardware]->basis),
        .formats = s->id,
        .layout = s->layout,
        .weights = roof_plan_weights(problem, plan->serving),
        .activations = s->activations,
        .kv = s->kv,
        .context = problem->base.generate > 0 ? problem->base.prompt + problem->base.generate
                                              : problem->base.context};
    const int64_t each = roof_split_devices(&plan->split);
    const int64_t other = roof_split_devices(&plan->prefill.split);
    if (plan->prefill.copies > 0) {
        (void)snprintf(out->copies, sizeof out->copies,
                       "%" PRId64 "x%" PRId64 "+%" PRId64 "x%" PRId64, plan->prefill.copies, other,
                       plan->dp, each);
    } else {
        struct roof_plan_prefill *const none = &out->plan.prefill;
        (void)snprintf(out->copies, sizeof out->copies, "%" PRId64 "x%" PRId64, plan->dp, each);
        none->prefill_s = none->bound_s = none->kv_bytes = none->transfer_s = ROOF_UNKNOWN;
        none->memory_bytes = none->decode_bytes = ROOF_UNKNOWN;
        none->requests = none->served = ROOF_UNKNOWN;
        none->bound_requests = none->bound_served = ROOF_UNKNOWN;
    }
    if (plan->offload != ROOF_OFFLOAD_NONE) {
        roof_offload_name(out->offload, plan->offload);
    }
    size_t used = 0;
    const bool reach = roof_engines_reach(problem->engines, ~0U, problem->hardware[plan->hardware]);
    for (size_t i = 0; i < problem->engines->count && reach; i++) {
        const char *const id = problem->engines->engine[i].id;
        if ((plan->engines >> i & 1) != 0 && used + strlen(id) + 2 < sizeof out->engines) {
            used += (size_t)snprintf(out->engines + used, sizeof out->engines - used, "%s%s",
                                     used == 0 ? "" : " ", id);
        }
    }
}

/* Writes "tp 4, pp 2" in the words of the tables; false if nothing is split. */
static bool put_sizes(struct roof_text *out, const char *begin, int64_t copies,
                      const struct roof_split *split)
{
    const struct {
        const char *label;
        int64_t value;
    } sizes[] = {{"dp", copies},
                 {"tp", split->tp},
                 {"pp", split->pp},
                 {"attention dp", split->attention_dp},
                 {"moe ep", split->moe_ep},
                 {"moe tp", split->moe_ep > 1 || split->attention_dp > 1 ? split->moe_tp : 1}};
    const char *separator = begin;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        if (sizes[i].value > 1) {
            roof_text_printf(out, "%s%s %" PRId64, separator, sizes[i].label, sizes[i].value);
            separator = ", ";
        }
    }
    return separator != begin;
}

/* Writes "prefill on 2 x 4 (tp 4)": copies, and the devices of each. */
static void put_half(struct roof_text *out, const char *what, int64_t copies,
                     const struct roof_split *split)
{
    roof_text_printf(out, "%s on %" PRId64 " x %" PRId64, what, copies, roof_split_devices(split));
    if (put_sizes(out, " (", 1, split)) {
        roof_text_put(out, ")");
    }
}

void roof_plan_describe_place(struct roof_text *out, const struct roof_plan *plan,
                              const struct roof_plan_problem *problem)
{
    const struct roof_hardware *const hardware = problem->hardware[plan->hardware];
    if (roof_hardware_is_gpu(hardware)) {
        roof_text_printf(out, "%" PRId64 " %s GPU%s", plan->devices, hardware->id,
                         plan->devices == 1 ? "" : "s");
    } else {
        roof_text_printf(out, "%" PRId64 " x %s", plan->devices, hardware->id);
    }
    if (plan->prefill.copies > 0) {
        put_half(out, ", prefill", plan->prefill.copies, &plan->prefill.split);
        put_half(out, ", decode", plan->dp, &plan->split);
    } else if (put_sizes(out, " (", plan->dp, &plan->split)) {
        roof_text_put(out, ")");
    }
    if (plan->offload != ROOF_OFFLOAD_NONE) {
        char name[ROOF_OFFLOAD_NAME_SIZE];
        roof_text_printf(out, ", offload %s", roof_offload_name(name, plan->offload));
    }
}

void roof_plan_describe_load(struct roof_text *out, const struct roof_plan *plan,
                             const struct roof_plan_problem *problem)
{
    const struct roof_serving *const s = &problem->engines->serving[plan->serving];
    const struct roof_model *const model = roof_plan_model(problem, plan->serving);
    roof_text_put(out, s->id);
    if (model != problem->model) {
        roof_text_printf(out, " (%s)", model->id);
    }
    roof_text_printf(out, ", KV cache %s, %s %" PRId64 "%s%s", roof_format(s->kv)->name,
                     plan->fills > 0 ? "at most" : "batch", plan->batch,
                     plan->fills > 0 ? " sequences" : "", plan->dp > 1 ? " per copy" : "");
}

void roof_plan_describe(struct roof_text *out, const struct roof_plan *plan,
                        const struct roof_plan_problem *problem)
{
    roof_plan_describe_place(out, plan, problem);
    roof_text_put(out, ", ");
    roof_plan_describe_load(out, plan, problem);
}
