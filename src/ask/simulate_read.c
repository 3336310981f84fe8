// SPDX-License-Identifier: MIT
#include "ask/simulate_read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ask/draw.h"
#include "base/base.h"
#include "base/list.h"
#include "decide/engine.h"

#define REQUESTS_DEFAULT 4000
#define REQUESTS_PER_USER 20
#define REQUESTS_MAX 100000000
#define SEQUENCES_DEFAULT 256
#define COPIES_MAX 1024
#define HASH_TOKENS_DEFAULT 512
#define WARM_UP_DEFAULT 0.2
#define SPLIT_MAX 1000000

/* Returns true if the question has a limit on a latency. */
static bool has_limit(const struct roof_asking *a)
{
    return roof_asking_has(a, ROOF_INPUT_MAX_TTFT) || roof_asking_has(a, ROOF_INPUT_MAX_TPOT) ||
           roof_asking_has(a, ROOF_INPUT_MAX_E2E);
}

/* Returns true if the question asks for the greatest rate. */
static bool asks_greatest(const struct roof_asking *a)
{
    const char *const rate = a->question->value[ROOF_INPUT_RATE];
    return rate != NULL && strcmp(rate, "max") == 0;
}

/* Names the limits that a search for the greatest rate needs. */
static enum roof_status check_limits(const struct roof_asking *a, struct roof_error *error)
{
    return has_limit(a) || !asks_greatest(a)
               ? ROOF_OK
               : roof_error_set(
                     error, ROOF_USAGE,
                     ROOF_KEY("rate") " max needs a limit such as " ROOF_KEY("max_ttft") " p99:1s");
}

/* Refuses inputs of another load beside a trace. */
static enum roof_status check_trace(const struct roof_asking *a, struct roof_error *error)
{
    static const size_t others[] = {ROOF_INPUT_CONCURRENCY, ROOF_INPUT_ARRIVALS, ROOF_INPUT_PROMPT,
                                    ROOF_INPUT_GENERATE};
    return roof_asking_refuse(a, others, COUNT(others), ROOF_KEY("trace"), error);
}

/* Reads the one rate of a simulation. */
static enum roof_status read_rate(double *out, const char *text, struct roof_error *error)
{
    if (strchr(text, ',') != NULL) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("rate") " of simulate is one rate, not the list '%s'; for "
                             "several: for r in 0.5 1; do roofline simulate ... " ROOF_KEY(
                                 "rate") " $r; done",
            text);
    }
    const enum roof_status status = roof_rate_read(out, text, error);
    if (status != ROOF_OK) {
        roof_error_append(error, "; max finds the greatest rate");
    }
    return status;
}

/* Names the inputs that a question without a load needs. */
static enum roof_status no_load(struct roof_error *error)
{
    (void)roof_error_set(error, ROOF_USAGE,
                         "the load is missing: give " ROOF_KEY("rate") " R (requests/s), ");
    roof_error_append(error,
                      ROOF_KEY("concurrency") " N (in flight) or " ROOF_KEY("trace") " FILE");
    roof_error_append(error, "; with a limit such as " ROOF_KEY("max_ttft") " p99:1s, ");
    roof_error_append(error, "simulate searches for the greatest rate; a rate that is too high, "
                             "such as " ROOF_KEY("rate") " 1000, shows the most that it completes");
    return ROOF_USAGE;
}

/* Refuses a question that does not define the arrivals of requests, or defines them twice. */
static enum roof_status check_load(const struct roof_asking *a, struct roof_error *error)
{
    const bool rate = roof_asking_has(a, ROOF_INPUT_RATE) && !asks_greatest(a);
    const bool users = roof_asking_has(a, ROOF_INPUT_CONCURRENCY);
    if (roof_asking_has(a, ROOF_INPUT_FIT)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("fit") " needs a measured " ROOF_KEY("trace"));
    }
    TRY(check_limits(a, error));
    if (roof_asking_has(a, ROOF_INPUT_RATE) && users) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("rate") " and " ROOF_KEY("concurrency") " are two kinds of load: give one");
    }
    if (!rate && !users && !has_limit(a)) {
        return no_load(error);
    }
    if (users && roof_asking_has(a, ROOF_INPUT_ARRIVALS)) {
        return roof_error_set(error, ROOF_USAGE, ROOF_KEY("arrivals") " needs " ROOF_KEY("rate"));
    }
    if (!roof_asking_has(a, ROOF_INPUT_PROMPT) || !roof_asking_has(a, ROOF_INPUT_GENERATE)) {
        return roof_error_set(error, ROOF_USAGE,
                              "the lengths of the requests are missing: give " ROOF_KEY(
                                  "prompt") " and " ROOF_KEY("generate") ", in tokens");
    }
    return ROOF_OK;
}

/* Reads by what a prefix cache identifies prompts. */
static enum roof_status read_prefix_cache(struct simulate_input *in, const struct roof_asking *a,
                                          struct roof_error *error)
{
    int64_t tokens = HASH_TOKENS_DEFAULT;
    TRY(roof_read_integer(&tokens, a->question, ROOF_INPUT_HASH_TOKENS, error));
    if (!roof_asking_has(a, ROOF_INPUT_PREFIX_CACHE)) {
        return roof_asking_has(a, ROOF_INPUT_HASH_TOKENS)
                   ? roof_error_set(error, ROOF_USAGE,
                                    ROOF_KEY("hash_tokens") " needs " ROOF_KEY("prefix_cache"))
                   : ROOF_OK;
    }
    if (!roof_asking_has(a, ROOF_INPUT_TRACE)) {
        return roof_error_set(error, ROOF_USAGE, ROOF_PREFIX_CACHE_NEEDS);
    }
    if (roof_asking_has(a, ROOF_INPUT_PREFIX_HIT)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("prefix_hit") " cannot be combined with " ROOF_KEY(
                                  "prefix_cache") ": the trace decides what is cached");
    }
    if (roof_asking_has(a, ROOF_INPUT_IMAGES) || roof_asking_has(a, ROOF_INPUT_AUDIO)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("%s") " cannot be combined with " ROOF_KEY(
                                  "prefix_cache") ": a trace does not tell which of them are equal",
                              roof_asking_has(a, ROOF_INPUT_IMAGES) ? "images" : "audio");
    }
    if (tokens % ROOF_BLOCK_TOKENS != 0) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY(
                "hash_tokens") " must be a multiple of %d, the tokens of a block, not %" PRId64,
            ROOF_BLOCK_TOKENS, tokens);
    }
    in->inputs.limits.part_blocks = tokens / ROOF_BLOCK_TOKENS;
    return ROOF_OK;
}

/* Reads the rate to which the times of a trace are scaled, or which is searched. */
static enum roof_status read_trace_rate(struct simulate_input *in, const struct roof_asking *a,
                                        struct roof_error *error)
{
    const char *const rate = a->question->value[ROOF_INPUT_RATE];
    double asked = 0;
    if (rate == NULL) {
        return ROOF_OK;
    }
    if (roof_asking_has(a, ROOF_INPUT_FIT)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("fit") " needs the times of the trace: leave out " ROOF_KEY("rate"));
    }
    if (in->trace.users > 0 || in->trace.span_s <= 0) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("rate") " needs requests that come at different times; those of "
                             "%s do not",
            in->row.trace);
    }
    TRY(check_limits(a, error));
    in->inputs.trace_rate = (double)(in->trace.count - 1) / in->trace.span_s;
    in->capacity = asks_greatest(a);
    if (!in->capacity) {
        TRY(read_rate(&asked, rate, error));
        roof_simulation_set_rate(&in->inputs, NULL, asked);
    }
    return ROOF_OK;
}

/* Tells the listener what was left out of a trace, and that its requests were sorted. */
static void note_trace(const struct roof_request_trace *trace, const struct roof_asking *a)
{
    const char *const file = a->question->value[ROOF_INPUT_TRACE];
    struct roof_error note;
    if (trace->empty > 0 && a->listener->remark != NULL) {
        (void)roof_error_set(&note, ROOF_OK, "note: %s: skipped %zu request%s without tokens", file,
                             trace->empty, trace->empty == 1 ? "" : "s");
        a->listener->remark(a->listener->context, &note);
    }
    if (trace->unordered > 0 && a->listener->remark != NULL) {
        (void)roof_error_set(&note, ROOF_OK,
                             "note: %s: sorted %zu requests by arrival time: that of line %d is "
                             "before that of the line above",
                             file, trace->count, trace->unordered);
        a->listener->remark(a->listener->context, &note);
    }
}

/* The number of requests below which the errors of a fit are noted as uncertain: it looks at fewer
 * than four of them. */
#define FIT_REQUESTS_FEW 20

/* Checks that a trace has measured times for a fit, and a request that the fit does not look at. */
static enum roof_status check_fit(const struct roof_request_trace *trace,
                                  const struct roof_asking *a, struct roof_error *error)
{
    const char *const file = a->question->value[ROOF_INPUT_TRACE];
    struct roof_error note;
    if (trace->measured == NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s has no measured times for " ROOF_KEY(
                                  "fit") ": it needs columns ttft_ms and e2e_ms or tpot_ms, or "
                                         "queued_ts, first_token_ts and last_token_ts, or must be "
                                         "a result of bench serve",
                              file);
    }
    if (roof_fit_part(trace->count) == trace->count) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("fit") " needs 2 requests or more, because it is tested on "
                                              "those that it does not look at; %s has %zu",
                              file, trace->count);
    }
    if (trace->count < FIT_REQUESTS_FEW && a->listener->remark != NULL) {
        (void)roof_error_set(&note, ROOF_OK,
                             "note: %s: a fit to fewer than %d requests is uncertain, and so are "
                             "its errors",
                             file, FIT_REQUESTS_FEW);
        a->listener->remark(a->listener->context, &note);
    }
    return ROOF_OK;
}

/* Reads the requests of a file. */
static enum roof_status read_trace(struct simulate_input *in, const struct roof_asking *a,
                                   struct roof_error *error)
{
    int64_t most = REQUESTS_MAX;
    TRY(check_trace(a, error));
    TRY(roof_read_integer(&most, a->question, ROOF_INPUT_REQUESTS, error));
    in->row.trace = a->question->value[ROOF_INPUT_TRACE];
    TRY(roof_request_trace_read(&in->trace, in->row.trace, (uint64_t)most,
                                in->inputs.limits.part_blocks * ROOF_BLOCK_TOKENS, error));
    in->inputs.trace = in->trace.arrival;
    in->inputs.concurrency = (uint64_t)in->trace.users;
    in->row.trace_users = in->trace.users;
    in->inputs.source = in->trace.arrival == NULL ? &in->trace.source : NULL;
    in->arrivals.prompt.mean = in->trace.mean_prompt;
    in->arrivals.generate.mean = in->trace.mean_generate;
    note_trace(&in->trace, a);
    TRY(read_trace_rate(in, a, error));
    in->fits = roof_asking_has(a, ROOF_INPUT_FIT);
    return in->fits ? check_fit(&in->trace, a, error) : ROOF_OK;
}

/* Reads random requests: arrivals and lengths. */
static enum roof_status read_arrivals(struct simulate_input *in, const struct roof_asking *a,
                                      struct roof_error *error)
{
    const char *const *const value = a->question->value;
    const char *const process = value[ROOF_INPUT_ARRIVALS];
    struct roof_simulation_row *const row = &in->row;
    TRY(check_load(a, error));
    TRY(roof_arrivals_read(&in->arrivals.process, process == NULL ? "poisson" : process, error));
    TRY(roof_length_read(&in->arrivals.prompt, "prompt", value[ROOF_INPUT_PROMPT], error));
    TRY(roof_length_read(&in->arrivals.generate, "generate", value[ROOF_INPUT_GENERATE], error));
    in->capacity = value[ROOF_INPUT_CONCURRENCY] == NULL &&
                   (value[ROOF_INPUT_RATE] == NULL || asks_greatest(a));
    if (value[ROOF_INPUT_RATE] != NULL && !in->capacity) {
        TRY(read_rate(&in->arrivals.rate, value[ROOF_INPUT_RATE], error));
    }
    if (value[ROOF_INPUT_CONCURRENCY] == NULL) {
        row->arrivals = process == NULL ? "poisson" : process;
    }
    TRY(roof_read_integer(&row->concurrency, a->question, ROOF_INPUT_CONCURRENCY, error));
    row->prompt = value[ROOF_INPUT_PROMPT];
    row->generate = value[ROOF_INPUT_GENERATE];
    in->inputs.arrivals = &in->arrivals;
    in->inputs.concurrency = (uint64_t)row->concurrency;
    return ROOF_OK;
}

/* Reads a number that is a text in the table of inputs. */
static enum roof_status read_number(double *out, const struct roof_asking *a, size_t input,
                                    double low, double high, struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    return !roof_asking_has(a, input)
               ? ROOF_OK
               : roof_parse_number(out, a->question->value[input],
                                   roof_input_marked(name, roof_input(input)), low, high, error);
}

/* Reads the number of requests, and of those that are not measured. */
static enum roof_status read_extent(struct simulate_input *in, const struct roof_asking *a,
                                    struct roof_error *error)
{
    int64_t requests = in->row.concurrency * REQUESTS_PER_USER;
    requests = requests > REQUESTS_DEFAULT ? requests : REQUESTS_DEFAULT;
    if (requests > REQUESTS_MAX) {
        requests = REQUESTS_MAX;
    }
    in->row.seed = 1;
    in->inputs.warm_up = in->row.trace == NULL ? WARM_UP_DEFAULT : 0;
    TRY(roof_read_integer(&requests, a->question, ROOF_INPUT_REQUESTS, error));
    TRY(roof_read_integer(&in->row.seed, a->question, ROOF_INPUT_SEED, error));
    TRY(read_number(&in->inputs.warm_up, a, ROOF_INPUT_WARM_UP, 0, 0.99, error));
    in->inputs.requests = in->row.trace == NULL ? (uint64_t)requests : in->trace.count;
    in->inputs.seed = (uint64_t)in->row.seed;
    return in->row.concurrency < requests
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("requests") " must be more than " ROOF_KEY("concurrency"));
}

/* Reads the limits of the scheduler; the size of the cache depends on the model. */
static enum roof_status read_scheduler(struct simulate_input *in, const struct roof_asking *a,
                                       struct roof_error *error)
{
    struct roof_scheduler_limits *const limits = &in->inputs.limits;
    const char *const overhead = a->question->value[ROOF_INPUT_REQUEST_OVERHEAD];
    in->row.max_num_seqs = SEQUENCES_DEFAULT;
    limits->engine_overhead = overhead == NULL;
    limits->halt = roof_asking_halt(a);
    TRY(roof_read_integer(&in->row.max_num_seqs, a->question, ROOF_INPUT_MAX_NUM_SEQS, error));
    if (overhead != NULL) {
        TRY(roof_parse_time_or_none(&limits->overhead_s, overhead, ROOF_KEY("request_overhead"),
                                    error));
    }
    TRY(roof_read_integer(&limits->interval, a->question, ROOF_INPUT_RECV_INTERVAL, error));
    limits->sequences = in->row.max_num_seqs;
    limits->whole_prompts = true; /* as all engines do; prompts in part would preempt each other */
    limits->prefix_hit = in->scenario.prefix_hit;
    in->row.chunk = in->scenario.chunk == 0 ? ROOF_REQUEST_CHUNK : in->scenario.chunk;
    limits->budget = in->row.chunk == ROOF_CHUNK_WHOLE ? ROOF_BUDGET_WHOLE : in->row.chunk;
    return ROOF_OK;
}

/* Reads the router. */
static enum roof_status read_router(struct simulate_input *in, const struct roof_asking *a,
                                    struct roof_error *error)
{
    int64_t router = ROOF_ROUTER_ROUND_ROBIN;
    TRY(roof_read_choice(&router, a->question, ROOF_INPUT_ROUTER, error));
    in->inputs.router = (enum roof_router)router;
    if (router == ROOF_ROUTER_PREFIX_AWARE && in->inputs.limits.part_blocks == 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("router") " prefix-aware needs %s" ROOF_KEY("prefix_cache"),
                              a->command == ROOF_COMMAND_SIMULATE ? "" : "simulate with ");
    }
    return ROOF_OK;
}

/* Reads the number of copies, and the router. */
static enum roof_status read_copies(struct simulate_input *in, const struct roof_asking *a,
                                    struct roof_error *error)
{
    const int64_t copies = in->scenario.dp > 1 ? in->scenario.dp : 1;
    if (copies > COPIES_MAX) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("dp") " must be at most %d in a simulation, not %" PRId64,
                              COPIES_MAX, copies);
    }
    int64_t prefills = 1;
    TRY(roof_read_integer(&prefills, a->question, ROOF_INPUT_PREFILL_COPIES, error));
    const bool several = copies > 1 || prefills > 1;
    if (!several && roof_asking_has(a, ROOF_INPUT_ROUTER)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("router") " needs " ROOF_KEY("dp") " of 2 or more");
    }
    in->inputs.copies = (uint64_t)copies;
    in->row.router = several ? roof_router_names[in->inputs.router] : NULL;
    in->prefill.dp = prefills;
    return ROOF_OK;
}

/* Stores a size of a split. */
static enum roof_status take_size(void *context, size_t name, const char *value,
                                  struct roof_error *error)
{
    int64_t *const *const sizes = context;
    return roof_parse_integer(sizes[name], value, ROOF_KEY("prefill_split"), 1, SPLIT_MAX, error);
}

/* Reads a split, "tp=4,pp=2"; missing sizes are 0. */
static enum roof_status read_split(struct roof_scenario *s, const char *text,
                                   struct roof_error *error)
{
    static const char *const names[] = {"tp", "pp", "attention-dp", "moe-tp", "moe-ep"};
    int64_t *sizes[] = {&s->tp, &s->pp, &s->attention_dp, &s->moe_tp, &s->moe_ep};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        *sizes[i] = 0;
    }
    s->common.shape.ep = 1;
    return roof_list_pairs(text, ROOF_KEY("prefill_split"), names, COUNT(names), take_size, sizes,
                           error);
}

/* Finds whether the engine whose kernels run passes the first token of a prefill copy on. If an
 * engine was named, its rules are already known. */
static enum roof_status read_first_token(struct simulate_input *in, const struct roof_asking *a,
                                         struct roof_error *error)
{
    const struct roof_engines *engines = NULL;
    if (in->row.engine != NULL || in->scenario.common.stack == ROOF_STACK_BEST) {
        return ROOF_OK;
    }
    TRY(roof_loan_engines(&engines, &a->loans, error));
    in->inputs.limits.passes_first_token =
        (engines->passing >> in->scenario.common.stack & 1U) != 0;
    return ROOF_OK;
}

/* Reads the prefill copies: they have the split of the others, or a separate one. */
static enum roof_status read_prefills(struct simulate_input *in, const struct roof_asking *a,
                                      struct roof_error *error)
{
    const char *const split = a->question->value[ROOF_INPUT_PREFILL_SPLIT];
    const int64_t copies = in->prefill.dp;
    in->apart = roof_asking_has(a, ROOF_INPUT_PREFILL_COPIES);
    if (!in->apart) {
        return split == NULL
                   ? ROOF_OK
                   : roof_error_set(error, ROOF_USAGE,
                                    ROOF_KEY("prefill_split") " needs " ROOF_KEY("prefill_copies"));
    }
    if (roof_asking_has(a, ROOF_INPUT_FIT)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("fit") " needs copies of one kind: leave out " ROOF_KEY("prefill_copies"));
    }
    in->prefill = in->scenario;
    in->prefill.dp = copies;
    TRY(read_first_token(in, a, error));
    return split == NULL ? ROOF_OK : read_split(&in->prefill, split, error);
}

static enum roof_status read_limits(struct simulate_input *in, const struct roof_asking *a,
                                    struct roof_error *error)
{
    static const struct {
        size_t input;
        const char *key;
    } limits[ROOF_LATENCY_COUNT] = {[ROOF_LATENCY_TTFT] = {ROOF_INPUT_MAX_TTFT, "max_ttft"},
                                    [ROOF_LATENCY_TPOT] = {ROOF_INPUT_MAX_TPOT, "max_tpot"},
                                    [ROOF_LATENCY_E2E] = {ROOF_INPUT_MAX_E2E, "max_e2e"}};
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const char *const text = a->question->value[limits[i].input];
        in->inputs.limit[i] = (struct roof_latency_limit){.time_s = ROOF_UNKNOWN, .percent = 99};
        if (text != NULL) {
            TRY(roof_latency_limit_read(&in->inputs.limit[i], limits[i].key, text, error));
        }
    }
    return ROOF_OK;
}

/* Reads the scenario: a request with the mean lengths, which are texts here. */
static enum roof_status read_scenario(struct simulate_input *in, const struct roof_asking *a,
                                      struct roof_error *error)
{
    struct roof_question single;
    roof_question_borrow(&single, a->question);
    single.value[ROOF_INPUT_PROMPT] = single.value[ROOF_INPUT_GENERATE] = NULL;
    return roof_read_scenario(&in->scenario, &single, error);
}

static enum roof_status read_rows(struct simulate_input *in, const struct roof_asking *a,
                                  struct roof_error *error)
{
    int64_t rows = 0;
    int64_t ideal = 1;
    TRY(roof_read_choice(&rows, a->question, ROOF_INPUT_ROWS, error));
    if (roof_asking_has(a, ROOF_INPUT_BY)) {
        static const size_t scaled[] = {ROOF_INPUT_STEP_SCALE, ROOF_INPUT_FIT};
        TRY(roof_read_choice(&ideal, a->question, ROOF_INPUT_BY, error));
        in->bound = ideal == 0;
        if (in->bound) { /* lower bounds have no scale */
            TRY(roof_asking_refuse(a, scaled, COUNT(scaled), ROOF_KEY("by") " ideal", error));
        }
    }
    in->requests = rows == 1;
    in->moments = rows == 2;
    in->inputs.keep = in->requests || in->trace.measured != NULL;
    if (in->requests && in->capacity) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("rows") " requests needs " ROOF_KEY("rate") " or " ROOF_KEY("concurrency"));
    }
    return rows > 0 && a->form.document ? roof_error_set(error, ROOF_USAGE,
                                                         ROOF_KEY("rows") " %s needs " ROOF_KEY(
                                                             "format") " csv, ndjson or md",
                                                         in->requests ? "requests" : "time")
                                        : ROOF_OK;
}

/* Reads the kind and size of a chart. A chart over rates needs random requests. */
static enum roof_status read_chart(struct simulate_input *in, const struct roof_asking *a,
                                   struct roof_error *error)
{
    const bool named = roof_asking_has(a, ROOF_INPUT_CHART);
    in->chart = 0;
    if (!named && !roof_asking_drawn(a)) {
        return ROOF_OK;
    }
    if (!roof_asking_drawn(a) && !a->form.document) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("chart") " needs " ROOF_KEY("format") " text, json, svg, png, pdf or gnuplot");
    }
    TRY(roof_read_chart(&in->chart, a->question, true, error));
    in->inputs.keep = in->inputs.keep || (in->chart == ROOF_CHART_DISTRIBUTION && !in->capacity);
    if (in->chart == ROOF_CHART_RATE && (in->row.concurrency > 0 || in->row.trace != NULL)) {
        return roof_error_set(error, ROOF_USAGE,
                              "a chart over the rate needs random arrivals: leave out " ROOF_KEY(
                                  "concurrency") " and " ROOF_KEY("trace"));
    }
    return roof_read_drawing_size(&in->size, a, error);
}

/* Takes missing inputs from an engine: the stack, and the rules of its scheduler. */
static enum roof_status read_engine_rules(struct simulate_input *in, const struct roof_asking *a,
                                          const struct roof_engine *engine,
                                          struct roof_error *error)
{
    if (roof_engine_defaults(engine, in->hardware) == NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "the scheduler of %s is not known: give its limits with " ROOF_KEY(
                                  "chunk") " and " ROOF_KEY("max_num_seqs"),
                              engine->id);
    }
    roof_engine_schedule(&in->inputs.limits, engine);
    in->engine = engine;
    if (!roof_asking_has(a, ROOF_INPUT_STACK)) {
        in->scenario.common.stack = engine->stack;
    }
    return ROOF_OK;
}

/* Returns the groups of the attention of a scenario that is not resolved yet. */
static int64_t groups_of(const struct roof_scenario *s)
{
    const int64_t ep = s->common.shape.ep;
    return s->attention_dp > 0 ? s->attention_dp : ep > 0 ? ep : 1;
}

/* Takes missing numbers of the scheduler from the engine. Copies that prefill have a chunk of their
 * groups, copies that decode have the sequences. */
static void take_defaults(struct simulate_input *in, const struct roof_asking *a)
{
    if (in->engine == NULL) {
        return;
    }
    const struct roof_engine_defaults *const d = roof_engine_defaults(in->engine, in->hardware);
    struct roof_scheduler_limits *const limits = &in->inputs.limits;
    if (!roof_asking_has(a, ROOF_INPUT_CHUNK)) {
        limits->budget =
            roof_engine_chunk(in->engine, d, groups_of(in->apart ? &in->prefill : &in->scenario));
        in->scenario.chunk = in->prefill.chunk = in->row.chunk = limits->budget;
    }
    if (!roof_asking_has(a, ROOF_INPUT_MAX_NUM_SEQS)) {
        in->row.max_num_seqs = limits->sequences =
            roof_engine_sequences(in->engine, d, groups_of(&in->scenario));
    }
}

static enum roof_status read_engine(struct simulate_input *in, const struct roof_asking *a,
                                    struct roof_error *error)
{
    const char *const id = a->question->value[ROOF_INPUT_ENGINE];
    const struct roof_engines *engines = NULL;
    size_t engine = 0;
    in->row.engine = id;
    in->row.stack = a->question->value[ROOF_INPUT_STACK];
    if (id == NULL) {
        return ROOF_OK;
    }
    if (strchr(id, ',') != NULL) {
        return roof_error_set(error, ROOF_USAGE, "simulate takes one engine, not the list '%s'",
                              id);
    }
    TRY(roof_loan_engines(&engines, &a->loans, error));
    TRY(roof_engine_find(&engine, engines, id, error));
    TRY(roof_engines_check_model(engines, 1U << engine, in->model, "engine", error));
    return read_engine_rules(in, a, &engines->engine[engine], error);
}

void roof_simulate_close(struct simulate_input *in)
{
    roof_simulation_free(&in->row.result);
    roof_request_trace_free(&in->trace);
    roof_text_free(&in->greatest);
}

enum roof_status roof_read_load(struct simulate_input *in, const struct roof_asking *a,
                                struct roof_error *error)
{
    TRY(read_prefix_cache(in, a, error));
    TRY(roof_asking_has(a, ROOF_INPUT_TRACE) ? read_trace(in, a, error)
                                             : read_arrivals(in, a, error));
    TRY(read_extent(in, a, error));
    TRY(read_scheduler(in, a, error));
    TRY(read_router(in, a, error));
    return read_limits(in, a, error);
}

enum roof_status roof_simulate_refuse_operator(const char *op, struct roof_error *error)
{
    return roof_error_set(error, ROOF_USAGE, "%s is an operator; simulate needs a model", op);
}

enum roof_status roof_read_simulate(struct simulate_input *in, struct roof_asking *a,
                                    struct roof_error *error)
{
    const struct roof_question *const q = a->question;
    const struct roof_model *draft = NULL;
    if (!q->model) {
        return q->op == NULL ? roof_which_model(error)
                             : roof_simulate_refuse_operator(q->op, error);
    }
    if (q->model_name == NULL) {
        return roof_which_model(error);
    }
    TRY(read_scenario(in, a, error));
    TRY(roof_read_load(in, a, error));
    TRY(read_copies(in, a, error));
    TRY(read_rows(in, a, error));
    TRY(read_chart(in, a, error));
    TRY(roof_asking_hardware(&in->hardware, a, NULL, error));
    TRY(roof_asking_model(&in->model, a, q, q->model_name, error));
    TRY(read_engine(in, a, error));
    TRY(roof_asking_draft(&draft, &in->scenario, a, error));
    in->scenario.prompt = (int64_t)ceil(in->arrivals.prompt.mean);
    in->scenario.generate = (int64_t)ceil(in->arrivals.generate.mean);
    in->row.lengths_vary = in->arrivals.prompt.kind != ROOF_LENGTH_FIXED ||
                           in->arrivals.generate.kind != ROOF_LENGTH_FIXED;
    TRY(read_prefills(in, a, error));
    take_defaults(in, a);
    in->scenario.common.shape.batch = in->prefill.common.shape.batch = in->row.max_num_seqs;
    return ROOF_OK;
}
