// SPDX-License-Identifier: MIT
#include "simulate/simulation_fields.h"

#include <math.h>

#include "base/base.h"

#define DERIVED_TEXT(value) .type = ROOF_TYPE_TEXT, .derived = (value)
#define NUMBER(member, unit_) .unit = ROOF_UNIT_##unit_, AT(member)
#define COUNT_OF(value) .derived = (value)

/* --- simulations --------------------------------------------------------------------------- */

enum simulation_value {
    SCHEMA = 1,
    MODEL,
    HARDWARE,
    HARDWARE_BASIS,
    BASIS,
    DEVICES,
    TP,
    PP,
    DP,
    ATTENTION_DP,
    PREFILL_COPIES,
    PREFILL_TP,
    PREFILL_PP,
    PREFILL_ATTENTION_DP,
    PREFILL_MOE_EP,
    PREFILL_KV_TOKENS,
    LAYOUT,
    WEIGHTS,
    ACTIVATIONS,
    KV,
    KV_TOKENS,
    IMAGES,
    IMAGE_SIZE,
    IMAGE_TOKENS,
    AUDIO,
    AUDIO_LENGTH,
    AUDIO_TOKENS,
    CHUNK,
    DRAFT_TOKENS,
    DRAFT_MODEL,
    ACCEPTANCE,
    REQUESTS,
    REJECTED,
    STEPS,
    PREEMPTIONS
};

#define AT(member) .offset = offsetof(struct roof_simulation_row, member)
#define TIMES(name, latency_)                                                                      \
    {.key = #name "_ms_mean", NUMBER(result.latency[latency_].mean_s, MILLISECONDS), .width = 12}, \
        {.key = #name "_ms_p50", NUMBER(result.latency[latency_].p50_s, MILLISECONDS)},            \
        {.key = #name "_ms_p90", NUMBER(result.latency[latency_].p90_s, MILLISECONDS)},            \
        {.key = #name "_ms_p99",                                                                   \
         NUMBER(result.latency[latency_].p99_s, MILLISECONDS),                                     \
         .width = 11},                                                                             \
        {.key = #name "_ms_mean_ci", NUMBER(result.latency[latency_].mean_ci_s, MILLISECONDS)},    \
    {                                                                                              \
        .key = #name "_ms_p99_ci", NUMBER(result.latency[latency_].p99_ci_s, MILLISECONDS)         \
    }

static const struct roof_field simulation_fields[] = {
    {.key = "schema", DERIVED_TEXT(SCHEMA)},
    {.key = "model", DERIVED_TEXT(MODEL), .width = -16},
    {.key = "hardware", DERIVED_TEXT(HARDWARE), .width = -12},
    {.key = "hardware_basis", DERIVED_TEXT(HARDWARE_BASIS)},
    {.key = "basis", DERIVED_TEXT(BASIS)},
    {.key = "devices", COUNT_OF(DEVICES), .width = 7},
    {.key = "tp", COUNT_OF(TP)},
    {.key = "pp", COUNT_OF(PP)},
    {.key = "dp", COUNT_OF(DP)},
    {.key = "attention_dp", COUNT_OF(ATTENTION_DP)},
    {.key = "prefill_copies", COUNT_OF(PREFILL_COPIES)},
    {.key = "prefill_tp", COUNT_OF(PREFILL_TP)},
    {.key = "prefill_pp", COUNT_OF(PREFILL_PP)},
    {.key = "prefill_attention_dp", COUNT_OF(PREFILL_ATTENTION_DP)},
    {.key = "prefill_moe_ep", COUNT_OF(PREFILL_MOE_EP)},
    {.key = "layout", DERIVED_TEXT(LAYOUT)},
    {.key = "weights", DERIVED_TEXT(WEIGHTS)},
    {.key = "activations", DERIVED_TEXT(ACTIVATIONS)},
    {.key = "kv", DERIVED_TEXT(KV)},
    {.key = "arrivals", .type = ROOF_TYPE_TEXT, AT(arrivals)},
    {.key = "trace", .type = ROOF_TYPE_TEXT, AT(trace)},
    {.key = "prompt", .type = ROOF_TYPE_TEXT, AT(prompt)},
    {.key = "generate", .type = ROOF_TYPE_TEXT, AT(generate)},
    {.key = "images", COUNT_OF(IMAGES)},
    {.key = "image_size", DERIVED_TEXT(IMAGE_SIZE)},
    {.key = "image_tokens", COUNT_OF(IMAGE_TOKENS)},
    {.key = "audio", COUNT_OF(AUDIO)},
    {.key = "audio_length_s", COUNT_OF(AUDIO_LENGTH)},
    {.key = "audio_tokens", COUNT_OF(AUDIO_TOKENS)},
    {.key = "concurrency", .type = ROOF_TYPE_POSITIVE, AT(concurrency)},
    {.key = "router", .type = ROOF_TYPE_TEXT, AT(router)},
    {.key = "engine", .type = ROOF_TYPE_TEXT, AT(engine)},
    {.key = "chunk", COUNT_OF(CHUNK)},
    {.key = "max_num_seqs", .type = ROOF_TYPE_INTEGER, AT(max_num_seqs)},
    {.key = "kv_cache_tokens", COUNT_OF(KV_TOKENS)},
    {.key = "prefill_kv_cache_tokens", COUNT_OF(PREFILL_KV_TOKENS)},
    {.key = "draft_tokens", COUNT_OF(DRAFT_TOKENS)},
    {.key = "draft_model", DERIVED_TEXT(DRAFT_MODEL)},
    {.key = "acceptance", COUNT_OF(ACCEPTANCE)},
    {.key = "step_scale", NUMBER(step_scale, NONE)},
    {.key = "request_overhead_ms", NUMBER(request_overhead_s, MILLISECONDS)},
    {.key = "seed", .type = ROOF_TYPE_INTEGER, AT(seed)},
    {.key = "requests", COUNT_OF(REQUESTS)},
    {.key = "rejected", COUNT_OF(REJECTED)},
    {.key = "max_rate_per_s", NUMBER(max_rate, NONE)},
    {.key = "max_rate_low_per_s", NUMBER(max_rate_low, NONE)},
    {.key = "max_rate_high_per_s", NUMBER(max_rate_high, NONE)},
    {.key = "max_rate_factor", NUMBER(max_rate_factor, NONE)},
    {.key = "max_rate_limit", .type = ROOF_TYPE_TEXT, AT(max_rate_limit)},
    {.key = "rate_per_s", NUMBER(result.rate, NONE), .width = 10},
    {.key = "completed_per_s", NUMBER(result.completed_per_s, NONE)},
    {.key = "goodput_per_s", NUMBER(result.goodput_per_s, NONE), .width = 13},
    {.key = "tokens_per_s", NUMBER(result.tokens_per_s, NONE), .width = 12},
    TIMES(ttft, ROOF_LATENCY_TTFT),
    TIMES(tpot, ROOF_LATENCY_TPOT),
    TIMES(e2e, ROOF_LATENCY_E2E),
    {.key = "running", NUMBER(result.running, NONE), .width = 8},
    {.key = "waiting", NUMBER(result.waiting, NONE), .width = 8},
    {.key = "kv_use", NUMBER(result.kv_use, NONE), .width = 8},
    {.key = "prefix_hit", NUMBER(result.prefix_hit, NONE)},
    {.key = "busy", NUMBER(result.busy, NONE)},
    {.key = "prefill_busy", NUMBER(result.prefill_busy, NONE)},
    {.key = "link_busy", NUMBER(result.link_busy, NONE)},
    {.key = "transfer_ms", NUMBER(result.transfer_s, MILLISECONDS)},
    {.key = "step_ms", NUMBER(result.step_s, MILLISECONDS)},
    {.key = "steps", COUNT_OF(STEPS)},
    {.key = "tokens_per_step", NUMBER(result.tokens_per_step, NONE)},
    {.key = "preemptions", COUNT_OF(PREEMPTIONS), .width = 11},
    {.key = "duration_s", NUMBER(result.duration_s, NONE)},
    {.key = "backlog_growth_per_s", NUMBER(result.growth_per_s, NONE)},
    {.key = "saturated", .type = ROOF_TYPE_FLAG, AT(result.saturated), .width = -9},
    {.key = "bottleneck", .type = ROOF_TYPE_TEXT, AT(bottleneck)},
};

void roof_simulation_fields(struct roof_fields *out)
{
    roof_fields_add(out, simulation_fields, COUNT(simulation_fields), 0);
}

static const char *text_of(int value, const struct roof_simulation_row *row)
{
    const struct roof_deployment *const d = row->deployment;
    const struct roof_formats *const formats = &d->scenario.common.formats;
    switch ((enum simulation_value)value) {
    case SCHEMA:
        return ROOF_SIMULATION_SCHEMA;
    case MODEL:
        return d->model->id;
    case HARDWARE:
        return d->hardware->id;
    case HARDWARE_BASIS:
        return roof_basis_name(d->hardware->basis);
    case BASIS:
        return d->bound ? "bound" : "expected";
    case LAYOUT:
        return d->model->layout;
    case WEIGHTS: /* unset if a layout or a file decides */
        return d->model->layout != NULL ? NULL : roof_format(formats->weights)->name;
    case ACTIVATIONS:
        return roof_format(formats->activations)->name;
    case KV:
        return roof_format(formats->kv)->name;
    case IMAGE_SIZE:
        return d->scenario.media.images > 0 ? d->image_size : NULL;
    case DRAFT_MODEL:
        return roof_drafter_name(&d->scenario, d->model);
    default:
        return NULL;
    }
}

bool roof_simulation_without_load(const struct roof_simulation_row *row)
{
    return row->open || row->max_rate <= 0;
}

double roof_simulation_devices(const struct roof_simulation_row *row)
{
    return row->deployment->devices + (row->prefill == NULL ? 0 : row->prefill->devices);
}

/* Returns a split size of the prefill copies, or their number. */
static double prefill_of(enum simulation_value value, const struct roof_deployment *prefill)
{
    const struct roof_scenario *const s = prefill == NULL ? NULL : &prefill->scenario;
    return s == NULL                       ? ROOF_UNKNOWN
           : value == PREFILL_COPIES       ? (double)s->dp
           : value == PREFILL_TP           ? (double)s->tp
           : value == PREFILL_PP           ? (double)s->pp
           : value == PREFILL_ATTENTION_DP ? (double)s->attention_dp
           : s->moe_ep > 0                 ? (double)s->moe_ep
                                           : ROOF_UNKNOWN;
}

/* Returns the tokens that fit in the cache of a copy. */
static double cache_of(const struct roof_deployment *d)
{
    return d->blocks > 0 ? (double)d->blocks * ROOF_BLOCK_TOKENS : ROOF_UNKNOWN;
}

/* Returns the images or sounds of the prompts, or their sizes. */
static double media_of(enum simulation_value value, const struct roof_deployment *d)
{
    const struct roof_prompt_media *const m = &d->scenario.media;
    const bool images = value == IMAGES || value == IMAGE_TOKENS;
    const int64_t number = value == IMAGES         ? m->images
                           : value == IMAGE_TOKENS ? roof_image_tokens(&d->scenario, d->model)
                           : value == AUDIO        ? m->audio
                           : value == AUDIO_LENGTH ? m->audio_length_s
                                                   : roof_audio_tokens(&d->scenario, d->model);
    return (images ? m->images : m->audio) > 0 ? (double)number : ROOF_UNKNOWN;
}

static double number_of(int value, const struct roof_simulation_row *row)
{
    const struct roof_deployment *const d = row->deployment;
    switch ((enum simulation_value)value) {
    case DEVICES:
        return roof_simulation_devices(row);
    case TP:
        return (double)d->scenario.tp;
    case PP:
        return (double)d->scenario.pp;
    case DP:
        return (double)d->scenario.dp;
    case ATTENTION_DP:
        return (double)d->scenario.attention_dp;
    case KV_TOKENS:
        return cache_of(d);
    case PREFILL_KV_TOKENS:
        return row->prefill == NULL ? ROOF_UNKNOWN : cache_of(row->prefill);
    case IMAGES:
    case IMAGE_TOKENS:
    case AUDIO:
    case AUDIO_LENGTH:
    case AUDIO_TOKENS:
        return media_of((enum simulation_value)value, d);
    case CHUNK:
        return row->chunk == ROOF_CHUNK_WHOLE ? 0 : (double)row->chunk;
    case DRAFT_TOKENS:
        return d->scenario.draft_tokens > 0 ? (double)d->scenario.draft_tokens : ROOF_UNKNOWN;
    case ACCEPTANCE:
        return d->scenario.draft_tokens > 0 ? d->scenario.acceptance : ROOF_UNKNOWN;
    case REQUESTS:
        return (double)row->result.requests;
    case REJECTED:
        return (double)row->result.rejected;
    case STEPS:
        return row->result.without_load ? ROOF_UNKNOWN : (double)row->result.steps;
    case PREEMPTIONS:
        return row->result.without_load ? ROOF_UNKNOWN : (double)row->result.preemptions;
    default:
        return prefill_of((enum simulation_value)value, row->prefill);
    }
}

void roof_simulation_values(struct roof_value *out, const struct roof_fields *fields,
                            const struct roof_simulation_row *row)
{
    roof_fields_read(out, fields, 0, (const char *)row);
    for (size_t i = 0; i < fields->count; i++) {
        const int derived = fields->field[i].derived;
        if (derived != 0) {
            out[i].text = text_of(derived, row);
            out[i].number = number_of(derived, row);
        }
    }
}

/* The least time fraction of a full limit that makes it the bottleneck. */
#define FULL 0.25
/* The least fraction of all waiting, each request by its time, that makes a limit the bottleneck at
 * the greatest rate. A limit that is seldom full may cause most of it, because many wait then. */
#define WAITED 0.5
/* The least busy fraction of an engine without room for more steps. */
#define BUSY 0.9
/* The utilization rho at which random requests wait, on average, as long as their service takes:
 * rho / (2 (1 - rho)) = 1. */
#define QUEUED (2. / 3)

const char *roof_simulation_bottleneck(const struct roof_simulation *s, bool greatest, bool waits,
                                       bool first)
{
    const struct {
        const char *name;
        double full;
        double waited;
    } limits[] = {{"kv memory", s->full_memory, s->waited_memory},
                  {"sequences", s->full_sequences, s->waited_sequences}};
    const double shared = fmax(s->link_busy, s->prefill_busy);
    const struct roof_latency_result *const latency = s->latency;
    /* Nothing before the first token makes the time per token longer. */
    const bool decodes = !latency[ROOF_LATENCY_TPOT].met && latency[ROOF_LATENCY_TTFT].met &&
                         latency[ROOF_LATENCY_E2E].met;
    if (s->front_busy >= QUEUED && !decodes) {
        return "front end";
    }
    if (shared >= fmax(QUEUED, fmax(s->full_memory, s->full_sequences)) && !decodes) {
        return shared == s->link_busy ? "link" : "prefill";
    }
    for (size_t i = 0; i < COUNT(limits); i++) {
        if (limits[i].full >= FULL || (waits && limits[i].waited >= WAITED)) {
            return limits[i].name;
        }
    }
    if (first && !isnan(shared)) { /* it needs at most a step of the copies that decode */
        return shared == s->link_busy ? "link" : "prefill";
    }
    if (s->busy < BUSY) {
        return NULL;
    }
    const bool slow = greatest || s->saturated || !roof_simulation_meets(s);
    return s->full_budget >= FULL ? "budget" : slow ? "step time" : NULL;
}

/* --- requests ------------------------------------------------------------------------------ */

enum served_value { NUMBER_OF_REQUEST = 1, TTFT, TPOT, E2E };

#undef AT
#define AT(member) .offset = offsetof(struct roof_served, member)

static const struct roof_field served_fields[] = {
    {.key = "request", COUNT_OF(NUMBER_OF_REQUEST), .width = 8},
    {.key = "arrival_s", NUMBER(arrival_s, NONE), .width = 10},
    {.key = "prompt", .type = ROOF_TYPE_INTEGER, AT(prompt), .width = 7},
    {.key = "generate", .type = ROOF_TYPE_INTEGER, AT(generate), .width = 8},
    {.key = "scheduled_s", NUMBER(scheduled_s, NONE), .width = 11},
    {.key = "prefilled_s", NUMBER(prefilled_s, NONE), .width = 11},
    {.key = "moved_s", NUMBER(moved_s, NONE), .width = 11},
    {.key = "first_token_s", NUMBER(first_s, NONE), .width = 13},
    {.key = "last_token_s", NUMBER(last_s, NONE), .width = 12},
    {.key = "ttft_ms", .unit = ROOF_UNIT_MILLISECONDS, .derived = TTFT, .width = 8},
    {.key = "tpot_ms", .unit = ROOF_UNIT_MILLISECONDS, .derived = TPOT, .width = 8},
    {.key = "e2e_ms", .unit = ROOF_UNIT_MILLISECONDS, .derived = E2E, .width = 8},
    {.key = "preemptions", .type = ROOF_TYPE_INTEGER, AT(preemptions), .width = 11},
    {.key = "cached", .type = ROOF_TYPE_INTEGER, AT(cached), .width = 7},
};

void roof_served_fields(struct roof_fields *out)
{
    roof_fields_add(out, served_fields, COUNT(served_fields), 0);
}

void roof_served_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_served *served)
{
    roof_fields_read(out, fields, 0, (const char *)served);
    for (size_t i = 0; i < fields->count; i++) {
        switch ((enum served_value)fields->field[i].derived) {
        case NUMBER_OF_REQUEST:
            out[i].number = (double)served->number;
            break;
        case TTFT:
            out[i].number = roof_served_latency(served, ROOF_LATENCY_TTFT);
            break;
        case TPOT:
            out[i].number = roof_served_latency(served, ROOF_LATENCY_TPOT);
            break;
        case E2E:
            out[i].number = roof_served_latency(served, ROOF_LATENCY_E2E);
            break;
        default:
            break;
        }
    }
}

/* --- intervals ----------------------------------------------------------------------------- */

#undef AT
#define AT(member) .offset = offsetof(struct roof_moment_row, member)

static const struct roof_field moment_fields[] = {
    {.key = "time_s", NUMBER(moment.time_s, NONE), .width = 10},
    {.key = "running", NUMBER(moment.running, NONE), .width = 8},
    {.key = "waiting", NUMBER(moment.waiting, NONE), .width = 8},
    {.key = "kv_use", NUMBER(kv_use, NONE), .width = 8},
};

struct roof_moment_row roof_moment_row(const struct roof_timeline *timeline, size_t number,
                                       const struct roof_simulation_inputs *inputs)
{
    const double copies = inputs->copies == 0 ? 1 : (double)inputs->copies;
    const double blocks = copies * (double)inputs->limits.blocks;
    struct roof_moment_row row = {.moment = roof_timeline_moment(timeline, number)};
    row.kv_use = blocks > 0 ? row.moment.blocks / blocks : ROOF_UNKNOWN;
    return row;
}

void roof_moment_fields(struct roof_fields *out)
{
    roof_fields_add(out, moment_fields, COUNT(moment_fields), 0);
}

void roof_moment_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_moment_row *row)
{
    roof_fields_read(out, fields, 0, (const char *)row);
}
