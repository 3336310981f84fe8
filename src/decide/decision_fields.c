// SPDX-License-Identifier: MIT
#include "decide/decision_fields.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "predict/prediction_fields.h"

#define DERIVED_TEXT(value) .type = ROOF_TYPE_TEXT, .derived = (value)
#define NUMBER(member, unit_) .unit = ROOF_UNIT_##unit_, AT(member)

/* Ranks count from 1; what has none is 0. */
static double rank_value(int rank)
{
    return rank == 0 ? ROOF_UNKNOWN : (double)rank;
}

/* --- candidates ---------------------------------------------------------------------------- */

enum candidate_part { CANDIDATE, CANDIDATE_PREDICTION };
enum candidate_value { CANDIDATE_RANK = 1, CANDIDATE_LOSS };

#define AT(member) .offset = offsetof(struct roof_candidate, member)

static const struct roof_field candidate_rank = {
    .key = "rank", .derived = CANDIDATE_RANK, .width = 4};

static const struct roof_field candidate_fields[] = {
    {.key = "precision", .type = ROOF_TYPE_PRECISION, AT(format), .width = -12},
    {.key = "method", .type = ROOF_TYPE_TEXT, AT(method), .width = -20},
    {.key = "speedup", NUMBER(speedup, NONE), .width = 8},
    {.key = "expected_speedup", NUMBER(expected_speedup, NONE)},
    {.key = "accuracy_loss", DERIVED_TEXT(CANDIDATE_LOSS), .width = -13},
};

static const struct roof_field candidate_ends[] = {
    {.key = "reason", .type = ROOF_TYPE_CHARS, AT(reason), .width = -40},
    {.key = "engine", .type = ROOF_TYPE_CHARS, AT(engine)},
    {.key = "engine_format", .type = ROOF_TYPE_CHARS, AT(engine_format)},
};

void roof_candidate_fields(struct roof_fields *out, enum roof_operator op, bool for_people)
{
    struct roof_fields prediction = {0};
    roof_prediction_fields(&prediction, op, CANDIDATE_PREDICTION);
    roof_fields_add(out, &candidate_rank, 1, CANDIDATE);
    if (!for_people) {
        roof_fields_add(out, prediction.field, prediction.count, CANDIDATE_PREDICTION);
    }
    roof_fields_add(out, candidate_fields, COUNT(candidate_fields), CANDIDATE);
    if (for_people) {
        roof_fields_add(out, roof_fields_find(&prediction, "time_us"), 1, CANDIDATE_PREDICTION);
    }
    roof_fields_add(out, candidate_ends, COUNT(candidate_ends), CANDIDATE);
}

void roof_candidate_values(struct roof_value *out, const struct roof_fields *fields,
                           const struct roof_candidate *candidate)
{
    roof_fields_read(out, fields, CANDIDATE, (const char *)candidate);
    roof_prediction_values(out, fields, CANDIDATE_PREDICTION, &candidate->prediction);
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].part != CANDIDATE) {
            continue;
        }
        if (fields->field[i].derived == CANDIDATE_RANK) {
            out[i].number = rank_value(candidate->rank);
        } else if (fields->field[i].derived == CANDIDATE_LOSS) {
            out[i].text = roof_accuracy_name(candidate->loss);
        }
    }
}

#undef AT

/* --- plans --------------------------------------------------------------------------------- */

enum plan_value {
    PLAN_SCHEMA = 1,
    PLAN_RANK,
    PLAN_BASIS,
    PLAN_STACK,
    PLAN_KIND,
    PLAN_EP,
    PLAN_PREFILL_EP,
    PLAN_LINK,
    PLAN_LOSS,
    PLAN_PARETO
};

#define AT(member) .offset = offsetof(struct roof_plan_row, member)
#define TEXT(member) .type = ROOF_TYPE_TEXT, AT(member)
#define FORMAT(member) .type = ROOF_TYPE_PRECISION, AT(member)
#define SIZE(member) .type = ROOF_TYPE_INTEGER, AT(plan.member)
#define PART(member) .type = ROOF_TYPE_POSITIVE, AT(plan.member)
#define TIME(member) NUMBER(plan.member, MILLISECONDS)

static const struct roof_field plan_fields[] = {
    {.key = "schema", DERIVED_TEXT(PLAN_SCHEMA)},
    {.key = "rank", .derived = PLAN_RANK, .width = 4},
    {.key = "basis", DERIVED_TEXT(PLAN_BASIS)},
    {.key = "model", TEXT(model)},
    {.key = "hardware", TEXT(hardware), .width = -14},
    {.key = "hardware_basis", TEXT(hardware_basis)},
    {.key = "formats", TEXT(formats), .width = -11},
    {.key = "layout", TEXT(layout)},
    {.key = "weights", FORMAT(weights)},
    {.key = "activations", FORMAT(activations)},
    {.key = "kv", FORMAT(kv), .width = -8},
    {.key = "engines", .type = ROOF_TYPE_CHARS, AT(engines)},
    {.key = "stack", DERIVED_TEXT(PLAN_STACK)},
    {.key = "kind", DERIVED_TEXT(PLAN_KIND)},
    {.key = "devices", SIZE(devices), .width = 7},
    {.key = "copies", .type = ROOF_TYPE_CHARS, AT(copies), .width = -9},
    {.key = "dp", SIZE(dp), .width = 2},
    {.key = "tp", SIZE(split.tp), .width = 2},
    {.key = "pp", SIZE(split.pp), .width = 2},
    {.key = "ep", .derived = PLAN_EP, .width = 2},
    {.key = "attention_dp", SIZE(split.attention_dp), .width = 7, .label = "attn dp"},
    {.key = "moe_tp", PART(split.moe_tp)},
    {.key = "moe_ep", PART(split.moe_ep), .width = 6, .label = "moe ep"},
    {.key = "batch", SIZE(batch), .width = 5},
    {.key = "offload", .type = ROOF_TYPE_CHARS, AT(offload)},
    {.key = "ttft_ms", TIME(bound_ttft_s)},
    {.key = "step_ms", TIME(bound_step_s)},
    {.key = "tpot_ms", TIME(bound_tpot_s)},
    {.key = "tokens_per_s", NUMBER(plan.bound_tokens_per_s, NONE)},
    {.key = "tokens_per_s_per_user", NUMBER(plan.bound_tokens_per_s_per_user, NONE)},
    {.key = "tokens_per_s_per_device", NUMBER(plan.bound_tokens_per_s_per_device, NONE)},
    {.key = "expected_ttft_ms", TIME(ttft_s), .width = 7, .label = "TTFT ms"},
    {.key = "expected_ttft_low_ms", TIME(ttft_low_s)},
    {.key = "expected_ttft_high_ms", TIME(ttft_high_s)},
    {.key = "expected_step_ms", TIME(step_s), .width = 7, .label = "step ms"},
    {.key = "expected_step_low_ms", TIME(step_low_s)},
    {.key = "expected_step_high_ms", TIME(step_high_s)},
    {.key = "expected_tpot_ms", TIME(tpot_s), .width = 7, .label = "TPOT ms"},
    {.key = "expected_tokens_per_s", NUMBER(plan.tokens_per_s, NONE), .width = 7, .label = "tok/s"},
    {.key = "expected_tokens_per_s_per_user",
     NUMBER(plan.tokens_per_s_per_user, NONE),
     .width = 10,
     .label = "tok/s/user"},
    {.key = "expected_tokens_per_s_per_device",
     NUMBER(plan.tokens_per_s_per_device, NONE),
     .width = 9,
     .label = "tok/s/dev"},
    {.key = "expected_near_fraction", NUMBER(plan.near, NONE)},
    {.key = "expected_ttft_near_fraction", NUMBER(plan.ttft_near, NONE)},
    {.key = "memory_bytes", NUMBER(plan.memory_bytes, NONE)},
    {.key = "prefill_copies", PART(prefill.copies)},
    {.key = "prefill_tp", PART(prefill.split.tp)},
    {.key = "prefill_pp", PART(prefill.split.pp)},
    {.key = "prefill_ep", .derived = PLAN_PREFILL_EP},
    {.key = "prefill_attention_dp", PART(prefill.split.attention_dp)},
    {.key = "prefill_moe_tp", PART(prefill.split.moe_tp)},
    {.key = "prefill_moe_ep", PART(prefill.split.moe_ep)},
    {.key = "prefill_batch", PART(prefill.batch)},
    {.key = "prefill_memory_bytes", NUMBER(plan.prefill.memory_bytes, NONE)},
    {.key = "decode_memory_bytes", NUMBER(plan.prefill.decode_bytes, NONE)},
    {.key = "prefill_ms", TIME(prefill.bound_s)},
    {.key = "expected_prefill_ms", TIME(prefill.prefill_s)},
    {.key = "transfer_bytes", NUMBER(plan.prefill.kv_bytes, NONE)},
    {.key = "transfer_ms", TIME(prefill.transfer_s)},
    {.key = "transfer_link", DERIVED_TEXT(PLAN_LINK)},
    {.key = "prefill_requests_per_s", NUMBER(plan.prefill.bound_requests, NONE)},
    {.key = "decode_requests_per_s", NUMBER(plan.prefill.bound_served, NONE)},
    {.key = "expected_prefill_requests_per_s", NUMBER(plan.prefill.requests, NONE)},
    {.key = "expected_decode_requests_per_s", NUMBER(plan.prefill.served, NONE)},
    {.key = "accuracy_loss", DERIVED_TEXT(PLAN_LOSS)},
    {.key = "tdp_w", NUMBER(plan.watt, NONE)},
    {.key = "tdp_joule_per_token", NUMBER(plan.joule, NONE)},
    {.key = "cost_per_million_tokens", NUMBER(plan.cost, NONE), .width = 9, .label = "cost/Mtok"},
    {.key = "pareto", .type = ROOF_TYPE_FLAG, .derived = PLAN_PARETO, .width = 6},
};

void roof_plan_fields(struct roof_fields *out)
{
    roof_fields_add(out, plan_fields, COUNT(plan_fields), 0);
}

static void derive_plan(struct roof_value *out, enum plan_value wanted,
                        const struct roof_plan_row *row)
{
    const struct roof_plan_prefill *const prefill = &row->plan.prefill;
    const bool alone = prefill->copies > 0;
    switch (wanted) {
    case PLAN_SCHEMA:
        out->text = "roofline/plan/2";
        break;
    case PLAN_RANK:
        out->number = rank_value(row->rank);
        break;
    case PLAN_BASIS:
        out->text = row->plan.basis == ROOF_PLAN_BOUND ? "bound" : "expected";
        break;
    case PLAN_KIND:
        out->text = alone ? "disaggregated" : "aggregated";
        break;
    case PLAN_PREFILL_EP:
        out->number = alone ? (double)roof_split_ep(&prefill->split) : ROOF_UNKNOWN;
        break;
    case PLAN_LINK:
        out->text = !alone             ? NULL
                    : prefill->network ? "network_gb_s"
                    : prefill->bridge  ? "bridge_gb_s"
                                       : "link_gb_s";
        break;
    case PLAN_EP:
        out->number = (double)roof_split_ep(&row->plan.split);
        break;
    case PLAN_STACK: /* bounds are those of all stacks */
        out->text = row->plan.basis == ROOF_PLAN_BOUND ? NULL : roof_stack_name(row->plan.stack);
        break;
    case PLAN_LOSS:
        out->text = roof_accuracy_name(row->plan.loss);
        break;
    case PLAN_PARETO: /* plans without a rank were not compared */
        out->number = row->rank == 0 ? ROOF_UNKNOWN : row->plan.pareto ? 1 : 0;
        break;
    }
}

void roof_plan_values(struct roof_value *out, const struct roof_fields *fields,
                      const struct roof_plan_row *plan)
{
    roof_fields_read(out, fields, 0, (const char *)plan);
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].part != 0) {
            continue;
        }
        if (fields->field[i].derived != 0) {
            derive_plan(&out[i], (enum plan_value)fields->field[i].derived, plan);
        } else if (plan->plan.basis == ROOF_PLAN_BOUND &&
                   strncmp(fields->field[i].key, "expected_", strlen("expected_")) == 0) {
            out[i].number = ROOF_UNKNOWN;
        }
    }
}

#undef AT

/* --- speedups ------------------------------------------------------------------------------ */

enum speedup_value {
    SPEEDUP_SCHEMA = 1,
    FROM_BOTTLENECK,
    TO_BOTTLENECK,
    EXPECTED_FROM_BOTTLENECK,
    EXPECTED_TO_BOTTLENECK
};

#define AT(member) .offset = offsetof(struct roof_speedup_row, member)
#define GAIN(member) NUMBER(member, MICROSECONDS)
#define CAUSE(prefix, gain, name, id)                                                              \
    {.key = prefix name "_saved_us", GAIN(gain.saved_s[ROOF_CAUSE_##id])},                         \
    {                                                                                              \
        .key = prefix name "_alone_us", GAIN(gain.alone_s[ROOF_CAUSE_##id])                        \
    }
/* The bound and the expected time have these fields, under keys with a prefix. */
#define TIMES(prefix, gain)                                                                        \
    {.key = prefix "from_us", GAIN(gain.from_s), .width = 9},                                      \
        {.key = prefix "to_us", GAIN(gain.to_s), .width = 9},                                      \
        {.key = prefix "speedup", NUMBER(gain.speedup, NONE), .width = 7},                         \
        CAUSE(prefix, gain, "memory", MEMORY), CAUSE(prefix, gain, "compute", COMPUTE),            \
        CAUSE(prefix, gain, "network", NETWORK)

static const struct roof_field speedup_fields[] = {
    {.key = "schema", DERIVED_TEXT(SPEEDUP_SCHEMA)},
    {.key = "from", TEXT(from), .width = -14},
    {.key = "to", TEXT(to), .width = -14},
    {.key = "name", TEXT(name), .width = -16},
    {.key = "count", NUMBER(count, NONE), .width = 5},
    TIMES("", bound),
    {.key = "from_bottleneck", DERIVED_TEXT(FROM_BOTTLENECK)},
    {.key = "to_bottleneck", DERIVED_TEXT(TO_BOTTLENECK)},
    TIMES("expected_", expected),
    CAUSE("expected_", expected, "launch", LAUNCH),
    CAUSE("expected_", expected, "kernels", KERNELS),
    {.key = "expected_from_bottleneck", DERIVED_TEXT(EXPECTED_FROM_BOTTLENECK)},
    {.key = "expected_to_bottleneck", DERIVED_TEXT(EXPECTED_TO_BOTTLENECK)},
};

void roof_speedup_fields(struct roof_fields *out)
{
    roof_fields_add(out, speedup_fields, COUNT(speedup_fields), 0);
}

static const char *derive_speedup(enum speedup_value wanted, const struct roof_speedup_row *row)
{
    const bool expected = !isnan(row->expected.from_s);
    switch (wanted) {
    case SPEEDUP_SCHEMA:
        return "roofline/speedup/1";
    case FROM_BOTTLENECK:
        return roof_bottleneck_name(row->from_bottleneck);
    case TO_BOTTLENECK:
        return roof_bottleneck_name(row->to_bottleneck);
    case EXPECTED_FROM_BOTTLENECK:
        return expected ? roof_bottleneck_name(row->expected_from_bottleneck) : NULL;
    case EXPECTED_TO_BOTTLENECK:
        return expected ? roof_bottleneck_name(row->expected_to_bottleneck) : NULL;
    }
    return NULL;
}

void roof_speedup_values(struct roof_value *out, const struct roof_fields *fields,
                         const struct roof_speedup_row *speedup)
{
    roof_fields_read(out, fields, 0, (const char *)speedup);
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].derived != 0) {
            out[i].text = derive_speedup((enum speedup_value)fields->field[i].derived, speedup);
        }
    }
}

#undef AT

/* --- engines ------------------------------------------------------------------------------- */

#define AT(member) .offset = offsetof(struct roof_engine_entry, member)

static const struct roof_field engine_fields[] = {
    {.key = "id", TEXT(id), .width = -10},
    {.key = "name", TEXT(name), .width = -13},
    {.key = "formats", .type = ROOF_TYPE_CHARS, AT(formats), .width = -60},
};

void roof_engine_fields(struct roof_fields *out)
{
    roof_fields_add(out, engine_fields, COUNT(engine_fields), 0);
}

void roof_engine_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_engine_entry *engine)
{
    roof_fields_read(out, fields, 0, (const char *)engine);
}
