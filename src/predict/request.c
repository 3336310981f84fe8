// SPDX-License-Identifier: MIT
/* A request: its steps are passes, and the closed loop says how many there are of each. */
#include "predict/request.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "predict/predict_sizes.h"

/* Chunks of a prompt are looked at one by one up to this many, and beyond it in so many groups. */
#define CHUNK_GROUPS 32
#define COSTS_REMEMBERED 61

/* --- steps --------------------------------------------------------------------------------- */

/* Makes a step from a pass of its microbatches and the drafts before it. What bounds a pass bounds
 * the whole step. */
static struct roof_step_times step_of(const struct roof_pass *pass, const struct roof_pass *draft,
                                      const struct roof_scenario *s)
{
    const double parts = (double)roof_microbatches(s);
    const double bound = fmax(pass->bound.path_s, parts * pass->bound.slowest_s);
    const struct roof_pass_times *const times = &pass->expected.times;
    const struct roof_expected_step expected =
        roof_expected_step(pass, draft, fmax(times->path_s, parts * times->slowest_s));
    struct roof_step_times out = {.value = {0}};
    double *const v = out.value;
    v[ROOF_STEP_BOUND] = bound + draft->bound.path_s;
    v[ROOF_STEP_EXPECTED] = expected.time_s;
    v[ROOF_STEP_PATH] = pass->bound.path_s + draft->bound.path_s;
    v[ROOF_STEP_EXPECTED_PATH] = times->path_s + draft->expected.times.path_s;
    v[ROOF_STEP_TURN] = pass->bound.slowest_s;
    v[ROOF_STEP_EXPECTED_TURN] = times->slowest_s;
    v[ROOF_STEP_LOW] = expected.low_s;
    v[ROOF_STEP_HIGH] = expected.high_s;
    v[ROOF_STEP_NEAR] = expected.near_s;
    for (int b = 0; b < ROOF_BOTTLENECK_COUNT; b++) {
        v[ROOF_STEP_SHARE + b] = pass->share_s[b];
        v[ROOF_STEP_EXPECTED_SHARE + b] = pass->expected.share_s[b];
    }
    return out;
}

/* Runs a step in each stack: a resolved scenario, and the drafts of the sequences that decode in
 * it. */
static enum roof_status run_step(struct roof_step_times out[ROOF_STACK_COUNT],
                                 struct roof_request *r, const struct roof_scenario *s,
                                 int64_t decoding, struct roof_error *error)
{
    struct roof_pass pass[ROOF_STACK_COUNT];
    TRY(roof_pass_recall(pass, r->model, s, r->hardware, r->memo, &r->stacks, error));
    for (size_t n = 0; n < r->stacks.count; n++) {
        struct roof_pass draft = {0};
        if (decoding > 0 && r->decode.draft_tokens > 0) {
            struct roof_scenario alone = r->decode;
            alone.common.shape.batch = decoding;
            alone.common.stack = r->stacks.stack[n];
            TRY(roof_pass_draft(&draft, &alone, r->hardware, error));
        }
        out[n] = step_of(&pass[n], &draft, s);
    }
    r->native = r->native && pass->native;
    r->fallbacks |= pass->fallbacks;
    r->as_stored = r->as_stored && pass->as_stored;
    return ROOF_OK;
}

/* Makes the step in which `decoding` sequences decode and `count` prompts are prefilled by some new
 * tokens up to a context. */
static struct roof_scenario make_step(const struct roof_request *r, int64_t decoding, int64_t count,
                                      int64_t tokens, int64_t context)
{
    struct roof_scenario s = decoding > 0 ? r->decode : r->prefill;
    if (decoding == 0) {
        s.common.shape.batch = count;
        s.chunk = tokens;
        s.context = context;
        return s;
    }
    s.common.shape.batch = decoding;
    if (count > 0) {
        s.phase = ROOF_PHASE_MIXED;
        s.prefill_batch = count;
        s.chunk = tokens;
        s.prefill_context = context;
    }
    return s;
}

/* Returns how many tokens of a prompt are prefilled before a chunk. */
static int64_t chunk_begin(const struct roof_request *r, int64_t chunk)
{
    return r->uncached * chunk / r->chunks;
}

/* Makes the pass that encodes the media of some prompts. The host is not waited for once more. */
static struct roof_scenario make_encoding(const struct roof_request *r, int64_t prompts)
{
    struct roof_scenario s = r->prefill;
    s.phase = ROOF_PHASE_ENCODE;
    s.media = r->asked.media;
    s.common.shape.batch = prompts;
    s.context = s.chunk = 0;
    s.prefix_hit = 0;
    s.serial_s = 0;
    s.launches = 0;
    for (int stack = 0; stack < ROOF_STACK_COUNT; stack++) {
        struct roof_host_time *const host =
            &s.host_time[stack]; /* the step with the prompt has it */
        host->step_s = host->sequence_s = host->request_s = 0;
    }
    return s;
}

/* Adds the media of `count` prompts to the mean of the steps with their chunks, one of which
 * encodes them. */
static enum roof_status add_media(struct roof_step_times out[ROOF_STACK_COUNT],
                                  struct roof_request *r, int64_t count, struct roof_error *error)
{
    struct roof_step_times one[ROOF_STACK_COUNT];
    const struct roof_scenario s = make_encoding(r, count);
    if (!roof_has_media(&r->asked)) {
        return ROOF_OK;
    }
    TRY(run_step(one, r, &s, 0, error));
    for (size_t n = 0; n < r->stacks.count; n++) {
        roof_step_add(&out[n], 1 / (double)r->chunks, &one[n]);
    }
    return ROOF_OK;
}

/* Adds the mean of the steps that have `count` chunks, over all chunks of a prompt, each at its own
 * context. A group of chunks is as many of its mean size, at its mean context. */
static enum roof_status add_chunks(struct roof_step_times out[ROOF_STACK_COUNT],
                                   struct roof_request *r, int64_t decoding, int64_t count,
                                   struct roof_error *error)
{
    const int64_t groups = r->chunks < CHUNK_GROUPS ? r->chunks : CHUNK_GROUPS;
    for (int64_t g = 0; g < groups; g++) {
        const int64_t first = r->chunks * g / groups;
        const int64_t after = r->chunks * (g + 1) / groups;
        const int64_t begin = chunk_begin(r, first);
        const int64_t end = chunk_begin(r, after);
        const int64_t tokens = (end - begin) / (after - first);
        const int64_t context = r->cached + (begin + tokens + end) / 2;
        const struct roof_scenario s = make_step(r, decoding, count, tokens, context);
        struct roof_step_times one[ROOF_STACK_COUNT];
        TRY(run_step(one, r, &s, decoding, error));
        for (size_t n = 0; n < r->stacks.count; n++) {
            roof_step_add(&out[n], (double)(after - first) / (double)r->chunks, &one[n]);
        }
    }
    return add_media(out, r, count, error);
}

/* Returns the largest of some parts that a number is dealt into. */
static int64_t largest_part(int64_t value, int64_t parts)
{
    return (value + parts - 1) / parts;
}

/* Returns what tells the times of a step from those of others of the request. A draft is for all
 * sequences at once. */
static struct roof_step_key key_of(const struct roof_request *r, int64_t decoding, int64_t chunks)
{
    const struct roof_scenario s = make_step(r, decoding, chunks, 1, 1);
    const int64_t parts = roof_microbatches(&s);
    return (struct roof_step_key){
        .parts = parts,
        .decoding = r->asked.draft_tokens > 0 ? decoding : largest_part(decoding, parts),
        .chunks = largest_part(chunks, parts)};
}

/* Works out a step of whole numbers, once. */
static enum roof_status whole_step(struct roof_step_times *out, struct roof_request *r,
                                   int64_t decoding, int64_t chunks, struct roof_error *error)
{
    const struct roof_step_key key = key_of(r, decoding, chunks);
    for (size_t i = 0; i < r->count; i++) {
        if (memcmp(&r->known[i].key, &key, sizeof key) == 0) {
            *out = r->known[i].times[r->stack];
            return ROOF_OK;
        }
    }
    struct roof_whole_step step;
    step.key = key;
    if (chunks > 0) {
        memset(step.times, 0, r->stacks.count * sizeof *step.times);
        TRY(add_chunks(step.times, r, decoding, chunks, error));
    } else {
        const struct roof_scenario s = make_step(r, decoding, 0, 0, 0);
        TRY(run_step(step.times, r, &s, decoding, error));
    }
    *out = step.times[r->stack];
    if (r->count < ROOF_STEPS_REMEMBERED) {
        r->known[r->count++] = step;
    }
    return ROOF_OK;
}

/* A number of chunks between two at which steps are worked out. */
struct between {
    int64_t below;
    int64_t above;
    double part; /* of the way from one to the other */
};

/* Returns the whole numbers about one of chunks in a lane. Up to one for each group of the
 * attention they are in different groups, and more of them fill all groups alike: the largest group
 * of any number between would have as many as that of the multiple above. */
static struct between chunks_about(double chunks, int64_t groups)
{
    const int64_t unit = chunks < (double)groups ? 1 : groups;
    const int64_t below = (int64_t)floor(chunks / (double)unit) * unit;
    return (struct between){
        .below = below, .above = below + unit, .part = (chunks - (double)below) / (double)unit};
}

/* Works out s(D, h) of all lanes: between whole numbers it is a line in each of the two, as is the
 * mean of steps that have one more sequence, or more chunks in each lane, or fewer. */
static enum roof_status any_step(struct roof_step_times *out, void *context, double decoding,
                                 double chunks, struct roof_error *error)
{
    struct roof_request *const r = context;
    const double sequences = decoding * (double)r->lanes;
    const double less = floor(sequences);
    const double part = sequences - less;
    const struct between h = chunks_about(chunks, r->asked.attention_dp);
    *out = (struct roof_step_times){0};
    for (int i = 0; i < 4; i++) {
        const int more = i & 1;
        const bool above = (i & 2) != 0;
        const double weight = (more == 1 ? part : 1 - part) * (above ? h.part : 1 - h.part);
        struct roof_step_times one;
        if (weight > 0) {
            TRY(whole_step(&one, r, (int64_t)less + more, (above ? h.above : h.below) * r->lanes,
                           error));
            roof_step_add(out, weight, &one);
        }
    }
    return ROOF_OK;
}

/* --- the request --------------------------------------------------------------------------- */

struct roof_stacks roof_one_stack(const struct roof_scenario *s)
{
    return (struct roof_stacks){.count = 1, .stack = {(enum roof_stack)s->common.stack}};
}

enum roof_status roof_request_open(struct roof_request *out, const struct roof_model *model,
                                   const struct roof_scenario *asked,
                                   const struct roof_hardware *hardware,
                                   struct roof_pass_memo *memo, const struct roof_stacks *stacks,
                                   struct roof_error *error)
{
    const int64_t batch = asked->common.shape.batch;
    struct roof_request *const r = out;
    r->model = model;
    r->hardware = hardware;
    r->memo = memo;
    r->stacks = *stacks;
    r->stack = 0;
    r->asked = *asked;
    r->native = r->as_stored = true;
    r->fallbacks = 0;
    r->count = 0;
    /* The two kinds of steps, at the mean context of the sequences that decode. */
    roof_scenario_phases(&r->prefill, &r->decode, asked);
    r->decode.context = asked->prompt + asked->generate / 2;
    roof_media_encoded(&r->prefill.media); /* by a pass of its own */
    r->uncached = roof_uncached(asked->prompt, asked->prefix_hit);
    r->prefill.chunk = asked->chunk < r->uncached ? asked->chunk : r->uncached;
    r->prefill.prefix_hit = 0; /* a chunk may have any context */
    TRY(roof_scenario_resolve(&r->prefill, model, error));
    TRY(roof_scenario_resolve(&r->decode, model, error));
    r->decode.held = asked->prompt + asked->generate;
    r->cached = asked->prompt - r->uncached;
    r->chunks = (r->uncached + asked->chunk - 1) / asked->chunk;
    r->lanes = asked->pp < batch ? asked->pp : batch;
    return ROOF_OK;
}

/* Adds what an engine does on the host before the first step of a request. */
static void add_host(struct roof_step_times *ttft, double host_s)
{
    static const size_t values[] = {ROOF_STEP_EXPECTED, ROOF_STEP_LOW, ROOF_STEP_HIGH,
                                    ROOF_STEP_EXPECTED_SHARE + (int)ROOF_BOTTLENECK_OVERHEAD};
    for (size_t i = 0; i < COUNT(values); i++) {
        ttft->value[values[i]] += host_s;
    }
}

enum roof_status roof_request_run(struct roof_request_times *out, struct roof_request *r,
                                  size_t stack, struct roof_error *error)
{
    const struct roof_scenario *const asked = &r->asked;
    const double batch = (double)asked->common.shape.batch;
    const double tokens = roof_tokens_per_step(asked);
    const double chunk = (double)r->uncached / (double)r->chunks;
    const double room = (double)asked->chunk / chunk; /* in a group of the attention */
    const struct roof_loop loop = {.users = batch / (double)r->lanes,
                                   .steps = (double)(asked->generate - 1) / tokens,
                                   .chunks = (double)r->chunks,
                                   .room = (double)asked->attention_dp * room,
                                   .groups = (double)asked->attention_dp,
                                   .lanes = r->lanes,
                                   .pipeline = asked->pp > 1};
    struct roof_loop_times times;
    const double host_s = asked->host_time[r->stacks.stack[stack]].request_s;
    r->stack = stack;
    TRY(roof_closed_loop(&times, &loop, any_step, r, error));
    TRY(whole_step(&out->step, r, asked->common.shape.batch, 0, error));
    out->ttft = times.ttft;
    out->whole = times.whole;
    add_host(&out->ttft, host_s);
    add_host(&out->whole, host_s);
    out->tpot = (struct roof_step_times){0};
    if (asked->generate > 1) {
        roof_step_add(&out->tpot, 1 / tokens, &times.step);
    }
    out->waits = times.waits;
    out->native = r->native;
    out->fallbacks = r->fallbacks;
    out->as_stored = r->as_stored;
    return ROOF_OK;
}

enum roof_status roof_request_step(struct roof_step_times *out, struct roof_request *r,
                                   const struct roof_step_shape *shape, struct roof_error *error)
{
    r->decode.context = r->decode.held = shape->context; /* that of the drafts, too */
    r->decode.longest = shape->longest;
    const struct roof_scenario s =
        make_step(r, shape->decoding, shape->prompts, shape->tokens, shape->prompt_context);
    struct roof_step_times times[ROOF_STACK_COUNT];
    TRY(run_step(times, r, &s, shape->decoding, error));
    *out = times[r->stack];
    return ROOF_OK;
}

enum roof_status roof_request_encoding(struct roof_step_times *out, struct roof_request *r,
                                       int64_t prompts, struct roof_error *error)
{
    const struct roof_scenario s = make_encoding(r, prompts);
    struct roof_step_times times[ROOF_STACK_COUNT];
    TRY(run_step(times, r, &s, 0, error));
    *out = times[r->stack];
    return ROOF_OK;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Holds how many requests the widest step of a request may have at once. */
struct widest {
    int64_t places; /* groups of the attention that have a request, in all lanes */
    int64_t each;   /* sequences of a group of a lane */
};

static struct widest widest_of(const struct roof_request *r)
{
    const int64_t batch = r->asked.common.shape.batch;
    const int64_t in_lane = largest_part(batch, r->lanes);
    const int64_t groups = smaller(r->asked.attention_dp, in_lane);
    return (struct widest){.places = smaller(groups * r->lanes, batch),
                           .each = largest_part(in_lane, groups)};
}

/* Makes the widest step of a request: in each lane each group of the attention that has a request
 * prefills as many tokens as a step may have, or all of its prompts if they are fewer, and all
 * other sequences decode. The tokens stand in one prompt, so that a longer one never needs less
 * memory. */
static struct roof_scenario widest_step(const struct roof_request *r)
{
    const struct roof_scenario *const asked = &r->asked;
    const struct widest widest = widest_of(r);
    const int64_t tokens = smaller(asked->chunk, widest.each * r->uncached);
    const int64_t context = asked->prompt > tokens ? asked->prompt : tokens;
    return make_step(r, asked->common.shape.batch - widest.places, widest.places, tokens, context);
}

/* Returns how many prompts may begin in one step, which encodes the images of all of them: as many
 * as share the tokens of a chunk in each group of each lane, the last of them perhaps in part. */
static int64_t begun_at_once(const struct roof_request *r)
{
    const struct widest widest = widest_of(r);
    const int64_t each = smaller(largest_part(r->asked.chunk, r->uncached), widest.each);
    return smaller(each * widest.places, r->asked.common.shape.batch);
}

/* Works out the memory of a request from the pass of its decode step. */
static enum roof_status memory_of(struct roof_memory *out, const struct roof_request *r,
                                  struct roof_pass *pass, struct roof_error *error)
{
    const struct roof_scenario step = widest_step(r);
    struct roof_scenario last = r->decode; /* at the end of all requests */
    struct roof_pass widest;
    struct roof_pass draft;
    last.context = r->decode.held;
    TRY(roof_pass_draft(&draft, &last, r->hardware, error));
    TRY(roof_pass_memory(&widest, r->model, &step, r->hardware, error));
    roof_pass_widen(pass, &widest);
    if (roof_has_media(&r->asked)) {
        const struct roof_scenario encoding = make_encoding(r, begun_at_once(r));
        TRY(roof_pass_memory(&widest, r->model, &encoding, r->hardware, error));
        roof_pass_widen(pass, &widest);
    }
    *out = roof_memory_of(pass, &draft, r->model, &r->asked, r->hardware);
    return ROOF_OK;
}

enum roof_status roof_request_memory(struct roof_memory *out, struct roof_request *r,
                                     struct roof_error *error)
{
    struct roof_pass pass[ROOF_STACK_COUNT];
    TRY(roof_pass_recall(pass, r->model, &r->decode, r->hardware, r->memo, &r->stacks, error));
    if (r->asked.draft_tokens == 0) { /* the times come with the memory */
        const struct roof_pass none = {0};
        struct roof_whole_step *const step = &r->known[r->count++];
        r->native = pass->native;
        r->fallbacks = pass->fallbacks;
        r->as_stored = pass->as_stored;
        step->key = key_of(r, r->asked.common.shape.batch, 0);
        for (size_t n = 0; n < r->stacks.count; n++) {
            step->times[n] = step_of(&pass[n], &none, &r->decode);
        }
    }
    return memory_of(out, r, pass, error);
}

enum roof_status roof_request_memory_alone(struct roof_memory *out, const struct roof_request *r,
                                           struct roof_error *error)
{
    struct roof_pass pass;
    TRY(roof_pass_memory(&pass, r->model, &r->decode, r->hardware, error));
    return memory_of(out, r, &pass, error);
}

enum roof_status roof_phase_run(struct roof_phase_times *out, const struct roof_model *model,
                                const struct roof_scenario *s, const struct roof_hardware *hardware,
                                struct roof_pass_memo *memo, const struct roof_stacks *stacks,
                                struct roof_error *error)
{
    struct roof_pass pass[ROOF_STACK_COUNT];
    struct roof_pass draft;
    TRY(roof_pass_recall(pass, model, s, hardware, memo, stacks, error));
    for (size_t n = 0; n < stacks->count; n++) {
        struct roof_scenario own = *s;
        own.common.stack = stacks->stack[n];
        TRY(roof_pass_draft(&draft, &own, hardware, error));
        out->step[n] = step_of(&pass[n], &draft, s);
    }
    out->memory = roof_memory_of(pass, &draft, model, s, hardware);
    out->native = pass->native;
    out->as_stored = pass->as_stored;
    return ROOF_OK;
}

/* --- predictions --------------------------------------------------------------------------- */

static struct roof_bounded_by bounded_by(const struct roof_step_times *t)
{
    return (struct roof_bounded_by){.bound = roof_largest_share(&t->value[ROOF_STEP_SHARE]),
                                    .expected =
                                        roof_largest_share(&t->value[ROOF_STEP_EXPECTED_SHARE])};
}

/* Fills in the times of a request, and the band and the bottlenecks of the whole of it. */
static void put_times(struct roof_model_prediction *out, const struct roof_request_times *t)
{
    struct roof_prediction *const total = &out->total;
    const double *const v = t->whole.value;
    out->ttft_s = t->ttft.value[ROOF_STEP_BOUND];
    out->expected_ttft_s = t->ttft.value[ROOF_STEP_EXPECTED];
    out->step_s = t->step.value[ROOF_STEP_BOUND];
    out->expected_step_s = t->step.value[ROOF_STEP_EXPECTED];
    out->ttft_by = bounded_by(&t->ttft);
    out->step_by = bounded_by(&t->step);
    if (out->scenario.generate > 1) {
        out->tpot_by = bounded_by(&t->tpot);
        out->tpot_s = t->tpot.value[ROOF_STEP_BOUND];
        out->expected_tpot_s = t->tpot.value[ROOF_STEP_EXPECTED];
    }
    out->e2e_s = total->time_s = v[ROOF_STEP_BOUND];
    out->expected_e2e_s = total->expected_s = v[ROOF_STEP_EXPECTED];
    total->expected_low_s = v[ROOF_STEP_LOW];
    total->expected_high_s = v[ROOF_STEP_HIGH];
    roof_expected_put(out, &(struct roof_expected_step){.time_s = v[ROOF_STEP_EXPECTED],
                                                        .low_s = v[ROOF_STEP_LOW],
                                                        .high_s = v[ROOF_STEP_HIGH],
                                                        .near_s = v[ROOF_STEP_NEAR]});
    const struct roof_bounded_by by = bounded_by(&t->whole);
    total->bottleneck = by.bound;
    total->expected_bottleneck = by.expected;
    total->native = t->native;
    out->fallbacks = t->fallbacks;
    out->as_stored = t->as_stored;
    out->prompts_wait = t->waits;
}

/* Predicts the request of *out, which is resolved and no static batch, with the costs of a memo. */
static enum roof_status predict_loop(struct roof_model_prediction *out, struct roof_pass_memo *memo,
                                     struct roof_error *error)
{
    const struct roof_scenario *const asked = &out->scenario;
    const struct roof_hardware *const hardware = out->total.hardware;
    struct roof_request_times times;
    struct roof_memory memory;
    struct roof_request request;
    const struct roof_stacks stacks = roof_one_stack(asked);
    TRY(roof_request_open(&request, out->model, asked, hardware, memo, &stacks, error));
    TRY(roof_request_memory(&memory, &request, error));
    TRY(roof_request_run(&times, &request, 0, error));
    roof_memory_put(out, &memory);
    out->scenario.context = asked->prompt + asked->generate;
    out->tokens_per_step = roof_tokens_per_step(asked);
    put_times(out, &times);
    roof_request_put_rates(out);
    roof_request_clear_totals(out);
    return ROOF_OK;
}

/* Empties the entries that a memo on the stack has. */
static struct roof_pass_memo empty_memo(struct roof_remembered entry[COSTS_REMEMBERED])
{
    for (size_t i = 0; i < COSTS_REMEMBERED; i++) {
        entry[i].hardware = NULL;
    }
    return (struct roof_pass_memo){.entry = entry, .size = COSTS_REMEMBERED};
}

enum roof_status roof_predict_request(struct roof_model_prediction *out, struct roof_error *error)
{
    struct roof_remembered entry[COSTS_REMEMBERED];
    struct roof_pass_memo memo = empty_memo(entry);
    return out->scenario.static_batch > 0 ? roof_predict_static(out, error)
                                          : predict_loop(out, &memo, error);
}

enum roof_status roof_memory_needed(struct roof_memory *out, const struct roof_model *model,
                                    const struct roof_scenario *asked,
                                    const struct roof_hardware *hardware, struct roof_error *error)
{
    if (asked->phase == ROOF_PHASE_REQUEST && asked->static_batch == 0) {
        struct roof_request request;
        const struct roof_stacks stacks = roof_one_stack(asked);
        TRY(roof_request_open(&request, model, asked, hardware, NULL, &stacks, error));
        return roof_request_memory_alone(out, &request, error);
    }
    if (asked->phase == ROOF_PHASE_REQUEST) {
        return roof_static_memory(out, model, asked, hardware, error);
    }
    struct roof_pass pass;
    struct roof_pass draft;
    TRY(roof_pass_memory(&pass, model, asked, hardware, error));
    TRY(roof_pass_resident(&pass, model, asked, hardware, error));
    TRY(roof_pass_draft(&draft, asked, hardware, error));
    *out = roof_memory_of(&pass, &draft, model, asked, hardware);
    return ROOF_OK;
}
