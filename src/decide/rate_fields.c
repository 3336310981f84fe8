// SPDX-License-Identifier: MIT
#include "decide/rate_fields.h"

#include <string.h>

#include "base/base.h"
#include "decide/decision_fields.h"
#include "simulate/simulation_fields.h"

/* The parts of a row: the plan, with the fields of a plan row, and the rate plan. */
enum rate_part { RATE_PLAN, RATE_WAY };
enum rate_value {
    RATE_SCHEMA = 1,
    RATE_BOTTLENECK,
    RATE_CHUNK,
    RATE_SCHEDULER,
    RATE_GREATEST,
    RATE_DEVICE_HOURS
};

/* Columns for people that a table of plans does not have: one that tells estimates from lower
 * bounds, and the split of copies that prefill. */
static const struct {
    const char *key;
    const char *label;
    int width;
} shown[] = {{"basis", NULL, -8}, {"prefill_tp", "ptp", 3}, {"prefill_pp", "ppp", 3}};

#define AT(member) .offset = offsetof(struct roof_rate_plan, member)
#define NUMBER(member, unit_) .unit = ROOF_UNIT_##unit_, AT(member)
#define TIMES(name, latency_, label_)                                                              \
    {.key = #name "_ms_mean", NUMBER(at.latency[latency_].mean_s, MILLISECONDS)},                  \
        {.key = #name "_ms_p50", NUMBER(at.latency[latency_].p50_s, MILLISECONDS)},                \
        {.key = #name "_ms_p90", NUMBER(at.latency[latency_].p90_s, MILLISECONDS)},                \
    {                                                                                              \
        .key = #name "_ms_p99", NUMBER(at.latency[latency_].p99_s, MILLISECONDS), .width = 8,      \
        .label = (label_)                                                                          \
    }

/* The keys of a plan that do not depend on its batch. */
static const char *const plan_keys[] = {"rank",
                                        "basis",
                                        "model",
                                        "hardware",
                                        "formats",
                                        "layout",
                                        "copies",
                                        "weights",
                                        "activations",
                                        "kv",
                                        "engines",
                                        "stack",
                                        "dp",
                                        "tp",
                                        "pp",
                                        "ep",
                                        "attention_dp",
                                        "prefill_copies",
                                        "prefill_tp",
                                        "prefill_pp",
                                        "prefill_ep",
                                        "prefill_attention_dp",
                                        "prefill_moe_tp",
                                        "prefill_moe_ep",
                                        "moe_tp",
                                        "moe_ep",
                                        "devices",
                                        "accuracy_loss",
                                        "tdp_w"};

static const struct roof_field way_fields[] = {
    {.key = "scheduler", .type = ROOF_TYPE_TEXT, .derived = RATE_SCHEDULER, .width = -9},
    {.key = "chunk", .derived = RATE_CHUNK, .width = 5},
    {.key = "max_num_seqs", .type = ROOF_TYPE_INTEGER, AT(sequences)},
    {.key = "rate_per_s", NUMBER(rate, NONE)},
    TIMES(ttft, ROOF_LATENCY_TTFT, "TTFT p99"),
    TIMES(tpot, ROOF_LATENCY_TPOT, "TPOT p99"),
    TIMES(e2e, ROOF_LATENCY_E2E, "E2E p99"),
    {.key = "max_rate_per_s", .derived = RATE_GREATEST, .width = 9, .label = "max req/s"},
    {.key = "max_rate_low_per_s", NUMBER(max_rate_low, NONE)},
    {.key = "max_rate_high_per_s", NUMBER(max_rate_high, NONE)},
    {.key = "headroom_percent", NUMBER(headroom, NONE)},
    {.key = "completed_per_s", NUMBER(at.completed_per_s, NONE)},
    {.key = "goodput_per_s", NUMBER(at.goodput_per_s, NONE)},
    {.key = "tokens_per_s", NUMBER(at.tokens_per_s, NONE)},
    {.key = "tokens_per_step", NUMBER(at.tokens_per_step, NONE)},
    {.key = "running", NUMBER(at.running, NONE)},
    {.key = "kv_use", NUMBER(at.kv_use, NONE)},
    {.key = "busy", NUMBER(at.busy, NONE)},
    {.key = "prefill_busy", NUMBER(at.prefill_busy, NONE)},
    {.key = "link_busy", NUMBER(at.link_busy, NONE)},
    {.key = "bottleneck", .type = ROOF_TYPE_TEXT, .derived = RATE_BOTTLENECK},
    {.key = "price_per_hour", NUMBER(price, NONE), .width = 9, .label = "cost/hour"},
    {.key = "cost_per_million_tokens", NUMBER(cost, NONE), .width = 9, .label = "cost/Mtok"},
    {.key = "tdp_joule_per_token", NUMBER(joule, NONE)},
    {.key = "device_hours", .derived = RATE_DEVICE_HOURS},
};

void roof_rate_fields(struct roof_fields *out)
{
    static const struct roof_field schema = {
        .key = "schema", .type = ROOF_TYPE_TEXT, .derived = RATE_SCHEMA};
    struct roof_fields plan = {0};
    roof_plan_fields(&plan);
    roof_fields_add(out, &schema, 1, RATE_WAY);
    for (size_t i = 0; i < COUNT(plan_keys); i++) {
        struct roof_field field = *roof_fields_find(&plan, plan_keys[i]);
        for (size_t k = 0; k < COUNT(shown); k++) {
            if (strcmp(field.key, shown[k].key) == 0) {
                field.width = shown[k].width;
                field.label = shown[k].label;
            }
        }
        roof_fields_add(out, &field, 1, RATE_PLAN);
    }
    roof_fields_add(out, way_fields, COUNT(way_fields), RATE_WAY);
}

void roof_rate_values(struct roof_value *out, const struct roof_fields *fields,
                      const struct roof_rate_row *row)
{
    roof_plan_values(out, fields, &row->row);
    roof_fields_read(out, fields, RATE_WAY, (const char *)row->way);
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].part != RATE_WAY) {
            continue;
        }
        if (fields->field[i].derived == RATE_SCHEMA) {
            out[i].text = ROOF_RATE_SCHEMA;
        } else if (fields->field[i].derived == RATE_CHUNK) {
            out[i].number = row->way->chunk == ROOF_BUDGET_WHOLE ? 0 : (double)row->way->chunk;
        } else if (fields->field[i].derived == RATE_GREATEST) {
            out[i] = (struct roof_value){row->way->max_rate,
                                         roof_rate_falls_short(row->way) ? ROOF_RATE_SHORT : NULL};
        } else if (fields->field[i].derived == RATE_DEVICE_HOURS) {
            out[i].number = row->way->device_seconds / 3600;
        } else if (fields->field[i].derived == RATE_SCHEDULER) {
            out[i].text = row->way->engine == NULL ? NULL : row->way->engine->id;
        } else if (fields->field[i].derived == RATE_BOTTLENECK) {
            out[i].text = roof_simulation_bottleneck(&row->way->at, false, false, false);
        }
    }
}
