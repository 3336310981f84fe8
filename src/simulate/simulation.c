// SPDX-License-Identifier: MIT
#include "simulate/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"

/* The number of batches of requests whose percentiles give a confidence interval; pairs of them
 * give that of the mean. The 97.5 % quantiles of Student's t have one degree of freedom less. */
#define BATCHES 20
#define PAIRS (BATCHES / 2)
#define STUDENT_19 2.093024
#define STUDENT_9 2.262157
/* The least number of requests in a batch, or in a pair. */
#define BATCH_LEAST 5
/* A system is saturated if its queue grows by this many standard deviations of the work that
 * arrives during the measurement, and by at least this number of requests. */
#define SATURATED_DEVIATIONS 1.5
#define SATURATED_LEAST 10
/* The least coefficient of variation of arrivals: even regular ones come in waves, because requests
 * that begin together end together. */
#define CV_LEAST 0.5
/* Less waiting than this, in requests, may be an error of rounding. */
#define WAITED_LEAST 1e-9

const char *roof_latency_key(enum roof_latency latency)
{
    static const char *const keys[ROOF_LATENCY_COUNT] = {
        [ROOF_LATENCY_TTFT] = "ttft", [ROOF_LATENCY_TPOT] = "tpot", [ROOF_LATENCY_E2E] = "e2e"};
    return keys[latency];
}

bool roof_latency_is_unsure(const struct roof_latency_result *result,
                            const struct roof_latency_limit *limit)
{
    return fabs(result->limited_s - limit->time_s) < result->limited_ci_s;
}

enum roof_status roof_latency_limit_read(struct roof_latency_limit *out, const char *key,
                                         const char *text, struct roof_error *error)
{
    const char *const colon = strchr(text, ':');
    char what[64];
    char which[96];
    char percent[16];
    (void)snprintf(what, sizeof what, ROOF_KEY("%s"), key);
    *out = (struct roof_latency_limit){.time_s = ROOF_UNKNOWN, .percent = 99};
    if (colon == NULL && *text != 'p' && *text != 'm') {
        return roof_parse_time(&out->time_s, text, what, error);
    }
    const size_t length = colon == NULL ? 0 : (size_t)(colon - text);
    if (length == 4 && strncmp(text, "mean", 4) == 0) {
        out->percent = 0;
    } else if (*text == 'p' && length > 1 && length < sizeof percent) {
        (void)snprintf(percent, sizeof percent, "%.*s", (int)length - 1, text + 1);
        (void)snprintf(which, sizeof which, "the percentile of %s", what);
        TRY(roof_parse_number(&out->percent, percent, which, 1, 100, error));
    } else {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("%s") " must be a time, pNN:TIME or mean:TIME, such as p99:500ms, not '%s'",
            key, text);
    }
    return roof_parse_time(&out->time_s, colon + 1, what, error);
}

double roof_served_latency(const struct roof_served *served, enum roof_latency latency)
{
    switch (latency) {
    case ROOF_LATENCY_TTFT:
        return served->first_s - served->arrival_s;
    case ROOF_LATENCY_TPOT:
        return served->generate > 1
                   ? (served->last_s - served->first_s) / (double)(served->generate - 1)
                   : ROOF_UNKNOWN;
    case ROOF_LATENCY_E2E:
    case ROOF_LATENCY_COUNT:
        break;
    }
    return served->last_s - served->arrival_s;
}

/* --- the run ------------------------------------------------------------------------------- */

static uint64_t copies_of(const struct roof_simulation_inputs *inputs)
{
    return inputs->copies == 0 ? 1 : inputs->copies;
}

/* The state of the engine at the start or the end of the measurement. */
struct mark {
    struct roof_scheduler_sums sums;
    struct roof_prefill_sums prefills;
    double time_s;
    size_t waiting;
    uint64_t taken; /* requests that were accepted so far */
    uint64_t ended;
};

/* The sums of some numbers and of their squares. */
struct moments {
    double count;
    double sum;
    double squares;
};

static void add_moment(struct moments *m, double value)
{
    m->count++;
    m->sum += value;
    m->squares += value * value;
}

/* Returns the squared coefficient of variation; 0 if all values are 0. */
static double cv_squared(const struct moments *m)
{
    const double mean = m->sum / m->count;
    return mean > 0 ? fmax(0, m->squares / m->count / (mean * mean) - 1) : 0;
}

struct run {
    const struct roof_simulation_inputs *inputs;
    struct roof_fleet *fleet;
    struct roof_arrivals arrivals;
    struct roof_distribution times[ROOF_LATENCY_COUNT][BATCHES];
    struct mark begin;
    struct mark end;
    size_t half_waiting; /* requests that wait in the middle of the measurement */
    double last_arrival_s;
    struct moments gaps; /* between the measured requests */
    struct moments prompt_lengths;
    struct moments output_lengths;
    bool measures;   /* ended requests are counted */
    bool whole;      /* the measurement lasts until the last request */
    uint64_t issued; /* number of requests that arrived */
    uint64_t ended;
    uint64_t turned; /* measured requests that were rejected */
    uint64_t warm;   /* the first of them, which are not measured */
    double first_s;
    double completed;
    double good;
    double tokens;
    double prompts;                         /* prompt tokens of the measured requests */
    double cached;                          /* those of them that needed no prefill */
    uint64_t slow[ROOF_LATENCY_COUNT];      /* measured requests that exceed the limit */
    uint64_t most_slow[ROOF_LATENCY_COUNT]; /* of a run that may stop: more than these miss it */
    bool missed;                            /* a limit is missed, so that the run stops */
    struct roof_simulation *out;
};

static void set_mark(struct mark *mark, const struct run *run, double time_s)
{
    roof_fleet_sums(&mark->sums, run->fleet);
    roof_fleet_prefill_sums(&mark->prefills, run->fleet);
    mark->time_s = time_s;
    mark->waiting = roof_fleet_waiting(run->fleet);
    mark->taken = run->issued - run->out->rejected;
    mark->ended = run->ended;
}

/* Shortens the outputs of the first requests of a closed loop, so that their ends are spread evenly
 * and the users do not stay in step for ever. Measured requests keep their lengths. */
static void shorten(struct roof_arrival *arrival, const struct run *run)
{
    const uint64_t users = run->inputs->concurrency;
    if (users > 1 && run->issued < users && run->warm >= users) {
        const double part = (double)(run->issued + 1) / (double)users;
        arrival->generate = (int64_t)ceil(part * (double)arrival->generate);
    }
}

void roof_simulation_set_rate(struct roof_simulation_inputs *inputs, struct roof_arrivals *arrivals,
                              double rate)
{
    if (inputs->arrivals == NULL) {
        inputs->trace_scale = inputs->trace_rate / rate;
        return;
    }
    *arrivals = *inputs->arrivals;
    arrivals->rate = rate;
    inputs->arrivals = arrivals;
}

/* Draws or reads the next request; a closed loop ignores its time. */
static enum roof_status take_arrival(struct roof_arrival *out, struct run *run,
                                     struct roof_error *error)
{
    const struct roof_request_source *const source = run->inputs->source;
    if (source != NULL) {
        return source->next(out, run->issued, source->context, error);
    }
    if (run->inputs->trace != NULL) {
        *out = run->inputs->trace[run->issued];
    } else if (run->inputs->concurrency > 0) {
        roof_arrivals_lengths(out, &run->arrivals);
        shorten(out, run);
    } else {
        roof_arrivals_next(out, &run->arrivals);
    }
    return ROOF_OK;
}

/* Takes the next request, and raises its prompt to the tokens of its images. */
static enum roof_status next_arrival(struct roof_arrival *out, struct run *run,
                                     struct roof_error *error)
{
    const int64_t least = run->inputs->least_prompt;
    TRY(take_arrival(out, run, error));
    out->time_s *= run->inputs->trace_scale > 0 ? run->inputs->trace_scale : 1;
    out->prompt = out->prompt > least ? out->prompt : least;
    const int64_t most = run->inputs->positions;
    run->out->longer += most > 0 && out->prompt + out->generate > most ? 1 : 0;
    return ROOF_OK;
}

/* Returns the ids of a request to their source. */
static void end_ids(const struct run *run, const uint64_t *ids)
{
    const struct roof_request_source *const source = run->inputs->source;
    if (source != NULL && ids != NULL) {
        source->end_ids(source->context, ids);
    }
}

/* Counts a request for the noise of the load. */
static void add_request(struct run *run, uint64_t number, const struct roof_arrival *arrival)
{
    if (number > run->warm) {
        add_moment(&run->gaps, arrival->time_s - run->last_arrival_s);
        add_moment(&run->prompt_lengths, (double)arrival->prompt);
        add_moment(&run->output_lengths, (double)arrival->generate);
    }
    run->last_arrival_s = arrival->time_s;
}

/* Lets the next request arrive at a time. A request that never fits is rejected. */
static enum roof_status issue(struct run *run, const struct roof_arrival *arrival, bool *taken,
                              struct roof_error *error)
{
    const uint64_t number = run->issued;
    if (number == run->warm) {
        set_mark(&run->begin, run, arrival->time_s);
        run->measures = true;
    }
    if (number == run->warm + (run->inputs->requests - run->warm) / 2) {
        run->half_waiting = roof_fleet_waiting(run->fleet);
    }
    add_request(run, number, arrival);
    run->issued++;
    *taken = roof_fleet_fits(run->fleet, arrival->prompt, arrival->generate);
    if (!*taken) {
        run->out->rejected++;
        run->turned += number >= run->warm ? 1 : 0;
        end_ids(run, arrival->ids);
        return ROOF_OK;
    }
    return roof_fleet_push(run->fleet, number, arrival, error);
}

/* Lets requests arrive until one is accepted, because a closed loop keeps their number constant. */
static enum roof_status issue_one(struct run *run, double time_s, struct roof_error *error)
{
    bool taken = false;
    while (!taken && run->issued < run->inputs->requests) {
        struct roof_arrival arrival = {0};
        TRY(next_arrival(&arrival, run, error));
        arrival.time_s = time_s;
        TRY(issue(run, &arrival, &taken, error));
    }
    return ROOF_OK;
}

static bool keeps_limits(const struct run *run, const struct roof_served *served)
{
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        if (roof_served_latency(served, (enum roof_latency)i) > run->inputs->limit[i].time_s) {
            return false;
        }
    }
    return true;
}

/* Sets how many slow requests a run may have before it stops. A percentile exceeds its limit if
 * more requests are slow than there are ranks above it. Some requests may have no time per token,
 * but fewer times do not have more ranks above. */
static void set_most_slow(struct run *run)
{
    const struct roof_simulation_inputs *const in = run->inputs;
    const uint64_t count = in->requests - run->warm;
    const bool stops = in->verdict && in->source == NULL && count <= ROOF_DISTRIBUTION_EXACT;
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const double percent = in->limit[i].percent;
        run->most_slow[i] = stops && percent > 0
                                ? count - roof_distribution_rank((size_t)count, percent)
                                : UINT64_MAX;
    }
}

/* Counts a time that exceeds its limit. The quotient is compared, as the callers do. */
static void count_slow(struct run *run, int latency, double time)
{
    if (time / run->inputs->limit[latency].time_s > 1) {
        run->missed = ++run->slow[latency] > run->most_slow[latency] || run->missed;
    }
}

/* Adds the times of a request to the batch of its number. */
static enum roof_status measure(struct run *run, const struct roof_served *served,
                                struct roof_error *error)
{
    const uint64_t of = run->inputs->requests - run->warm;
    const uint64_t batch = (served->number - run->warm) * BATCHES / of;
    run->out->requests++;
    run->prompts += (double)served->prompt;
    run->cached += (double)served->cached;
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const double time = roof_served_latency(served, (enum roof_latency)i);
        if (!isnan(time)) {
            count_slow(run, i, time);
            TRY(roof_distribution_add(&run->times[i][batch], time, error));
        }
    }
    return ROOF_OK;
}

static enum roof_status on_served(void *context, const struct roof_served *served,
                                  struct roof_error *error)
{
    struct run *const run = context;
    run->ended++;
    if (run->measures) {
        run->completed++;
        run->tokens += (double)served->generate;
        run->good += keeps_limits(run, served) ? 1 : 0;
    }
    if (served->number >= run->warm) {
        TRY(measure(run, served, error));
    }
    if (run->out->served != NULL) {
        run->out->served[served->number] = *served;
        run->out->served[served->number].ids = NULL;
    }
    end_ids(run, served->ids);
    if (run->missed) {
        return ROOF_UNSATISFIED; /* nobody sees it: run_all stops */
    }
    if (run->inputs->concurrency == 0 || run->issued == run->inputs->requests) {
        return ROOF_OK;
    }
    TRY(issue_one(run, served->last_s, error));
    if (run->issued == run->inputs->requests) {
        set_mark(&run->end, run, served->last_s);
        run->measures = false;
    }
    return ROOF_OK;
}

/* Returns the growth of the queue during the measurement. */
static double backlog(const struct run *run)
{
    return (double)run->end.waiting - (double)run->begin.waiting;
}

/* Returns the number of requests that the measurement has. */
static double measured(const struct run *run)
{
    return (double)(run->inputs->requests - run->warm);
}

/* Returns the growth of the queue per second between the first and the last arrival; NAN if there
 * are so few requests that not even SATURATED_LEAST can wait, because one of them runs. */
static double growth(const struct run *run, double seconds)
{
    return measured(run) <= SATURATED_LEAST ? ROOF_UNKNOWN : backlog(run) / seconds;
}

/* Returns the standard deviation of the work that arrives during the measurement, in requests: what
 * the queue of an engine at its limit varies by. */
static double noise(const struct run *run)
{
    const double lengths = fmax(cv_squared(&run->prompt_lengths), cv_squared(&run->output_lengths));
    const double cv = sqrt(cv_squared(&run->gaps) + lengths);
    return fmax(cv, CV_LEAST) * sqrt(measured(run));
}

/* A queue that grows at the end only is a burst, not saturation. */
static bool is_saturated(const struct run *run)
{
    return backlog(run) >= SATURATED_LEAST && backlog(run) >= SATURATED_DEVIATIONS * noise(run) &&
           run->half_waiting > run->begin.waiting && run->end.waiting > run->half_waiting;
}

static enum roof_status run_open_loop(struct run *run, struct roof_error *error)
{
    double last_s = 0;
    while (run->issued < run->inputs->requests) {
        struct roof_arrival arrival = {0};
        bool taken = false;
        TRY(next_arrival(&arrival, run, error));
        TRY(roof_fleet_run(run->fleet, arrival.time_s, error));
        run->first_s = run->issued == 0 ? arrival.time_s : run->first_s;
        TRY(issue(run, &arrival, &taken, error));
        last_s = arrival.time_s;
    }
    set_mark(&run->end, run, last_s);
    run->out->last_arrival_s = last_s;
    /* Traces and growing queues are measured to their ends. */
    run->out->saturated = is_saturated(run);
    const bool traced = run->inputs->trace != NULL || run->inputs->source != NULL;
    run->whole = run->out->saturated || traced;
    run->measures = run->whole;
    return roof_fleet_run(run->fleet, HUGE_VAL, error);
}

static enum roof_status run_closed_loop(struct run *run, struct roof_error *error)
{
    for (uint64_t i = 0; i < run->inputs->concurrency; i++) {
        TRY(issue_one(run, 0, error));
    }
    return roof_fleet_run(run->fleet, HUGE_VAL, error);
}

/* --- results ------------------------------------------------------------------------------- */

/* Returns the standard deviation of some values. */
static double deviation(const double *value, size_t count)
{
    double mean = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        mean += value[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        squares += (value[i] - mean) * (value[i] - mean);
    }
    return sqrt(squares / (double)(count - 1));
}

/* Returns a percentile of values; percent 0 means the mean. */
static double statistic(struct roof_distribution *values, double percent)
{
    return percent > 0 ? roof_distribution_percentile(values, percent)
                       : roof_distribution_mean(values);
}

/* Returns the percentile of the served requests that is one of all requests, of which those that
 * were turned away take for ever; 0 means the mean. Above 100, or a mean with such requests, it is
 * unbounded. */
static double percent_of_served(double percent, const struct roof_distribution *served,
                                uint64_t turned)
{
    const double count = (double)served->count;
    return turned > 0 && percent <= 0 ? HUGE_VAL : percent * (count + (double)turned) / count;
}

/* Returns half the 95 % confidence interval of the mean. */
static double mean_interval(const struct roof_distribution batch[BATCHES])
{
    const size_t pairs = PAIRS;
    double value[PAIRS];
    for (size_t i = 0; i < pairs; i++) {
        const struct roof_distribution *const pair = &batch[2 * i];
        const size_t count = pair[0].count + pair[1].count;
        if (count < BATCH_LEAST) {
            return ROOF_UNKNOWN;
        }
        value[i] = (pair[0].sum + pair[1].sum) / (double)count;
    }
    return STUDENT_9 * deviation(value, pairs) / sqrt((double)pairs);
}

/* Returns half the 95 % confidence interval of a percentile. Batches without a value beyond it give
 * no interval, because their percentile would be a maximum.
 *
 * Long latencies come together. If a few batches have most of those at or above the percentile of
 * all requests, a run has little more to say than one of its batches. So the deviation of the
 * batches is divided by the root of the number of batches that have them (Kish's effective number),
 * less one, because a run in which one batch has them all may have missed others. */
static double percentile_interval(struct roof_distribution batch[BATCHES], double percent,
                                  double value_of_all)
{
    const double least = fmax(BATCH_LEAST, 100 / (100 - percent));
    double value[BATCHES];
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < BATCHES; i++) {
        if ((double)batch[i].count < least) {
            return ROOF_UNKNOWN;
        }
        value[i] = roof_distribution_percentile(&batch[i], percent);
        const double beyond = (double)roof_distribution_from(&batch[i], value_of_all);
        sum += beyond;
        squares += beyond * beyond;
    }
    const double effective = fmax(1, sum * sum / squares - 1);
    return STUDENT_19 * deviation(value, BATCHES) / sqrt(effective);
}

static double interval(struct roof_distribution batch[BATCHES], double percent, double value_of_all)
{
    return percent > 0 ? percentile_interval(batch, percent, value_of_all) : mean_interval(batch);
}

static enum roof_status put_latency(struct roof_latency_result *out,
                                    struct roof_distribution batch[BATCHES],
                                    const struct roof_latency_limit *limit, uint64_t turned,
                                    struct roof_distribution *all, struct roof_error *error)
{
    roof_distribution_clear(all);
    for (int i = 0; i < BATCHES; i++) {
        TRY(roof_distribution_merge(all, &batch[i], error));
    }
    out->mean_s = roof_distribution_mean(all);
    out->p50_s = roof_distribution_percentile(all, 50);
    out->p90_s = roof_distribution_percentile(all, 90);
    out->p99_s = roof_distribution_percentile(all, 99);
    out->mean_ci_s = mean_interval(batch);
    out->p99_ci_s = percentile_interval(batch, 99, out->p99_s);
    const bool is_limited = !isnan(limit->time_s);
    const double percent = percent_of_served(limit->percent, all, turned);
    out->limited_s = !is_limited     ? ROOF_UNKNOWN
                     : percent > 100 ? HUGE_VAL
                                     : statistic(all, percent);
    out->limited_ci_s =
        is_limited && percent <= 100 ? interval(batch, percent, out->limited_s) : ROOF_UNKNOWN;
    out->met = !(out->limited_s > limit->time_s);
    return ROOF_OK;
}

/* Computes the results of the prefill copies, and of the link. */
static void put_prefills(struct roof_simulation *out, const struct run *run, double time)
{
    const struct roof_prefills *const p = run->inputs->prefills;
    const struct roof_prefill_sums *const a = &run->begin.prefills;
    struct roof_prefill_sums b = run->end.prefills;
    out->prefill_busy = out->prefill_full_budget = out->link_busy = out->transfer_s = ROOF_UNKNOWN;
    if (p == NULL) {
        return;
    }
    if (run->whole) {
        roof_fleet_prefill_sums(&b, run->fleet);
    }
    const double copy_time = time * (double)p->copies;
    const double sends = (b.sends_s - a->sends_s) / copy_time / (double)p->transfer.senders;
    const double receives = (b.receives_s - a->receives_s) / time / (double)copies_of(run->inputs) /
                            (double)p->transfer.receivers;
    out->prefill_busy = fmin(1, (b.busy_s - a->busy_s) / copy_time);
    out->prefill_full_budget = (b.budget_s - a->budget_s) / copy_time;
    out->link_busy = fmin(1, fmax(sends, receives));
    out->transfer_s = (b.transfer_s - a->transfer_s) / (double)(b.transfers - a->transfers);
}

/* Computes the rates and the means over the measured time. Requests are those of all copies; busy
 * times are means per copy. */
static void put_rates(struct roof_simulation *out, const struct run *run)
{
    const struct roof_simulation_inputs *const in = run->inputs;
    const struct roof_scheduler_sums *const a = &run->begin.sums;
    struct roof_scheduler_sums b = run->end.sums;
    double end = run->end.time_s;
    if (run->whole) {
        roof_fleet_sums(&b, run->fleet);
        end = fmax(end, roof_fleet_clock(run->fleet));
    }
    const double time = end - run->begin.time_s;
    const double copy_time = time * (double)copies_of(in);
    const double issued = (double)(in->requests - run->warm);
    const double waited = run->end.time_s - run->begin.time_s;
    out->duration_s = time;
    out->rate = out->offered_per_s = (issued - 1) / waited;
    out->completed_per_s = run->completed / time;
    out->goodput_per_s = run->good / time;
    out->tokens_per_s = run->tokens / time;
    out->running = (b.running_s - a->running_s) / time;
    out->waiting = (b.waiting_s - a->waiting_s) / time;
    out->kv_use = in->limits.blocks > 0
                      ? (b.blocks_s - a->blocks_s) / copy_time / (double)in->limits.blocks
                      : ROOF_UNKNOWN;
    /* The last steps end after the measured time. */
    out->busy = fmin(1, (b.busy_s - a->busy_s) / copy_time);
    out->steps = b.steps - a->steps;
    out->step_s = (b.busy_s - a->busy_s) / (double)out->steps;
    out->prompts = (b.tokens_s - a->tokens_s) / (b.busy_s - a->busy_s);
    out->tokens_per_step = in->limits.drafts.tokens > 0
                               ? (b.decoded - a->decoded) / (b.decodes - a->decodes)
                               : ROOF_UNKNOWN;
    out->preemptions = b.preemptions - a->preemptions;
    const double waiting = out->waiting > WAITED_LEAST ? out->waiting * time : (double)INFINITY;
    out->full_budget = (b.budget.time_s - a->budget.time_s) / copy_time;
    out->full_memory = (b.memory.time_s - a->memory.time_s) / copy_time;
    out->full_sequences = (b.sequences.time_s - a->sequences.time_s) / copy_time;
    out->waited_memory = (b.memory.waiting_s - a->memory.waiting_s) / waiting;
    out->waited_sequences = (b.sequences.waiting_s - a->sequences.waiting_s) / waiting;
    out->growth_per_s = growth(run, waited);
    /* A request that began and did not end counts half. */
    const double ended = (double)(run->end.ended - run->begin.ended);
    const double lag = (double)(run->end.taken - run->begin.taken) - ended;
    const double begun = lag - backlog(run);
    out->served_per_s = (ended + begun / 2) / waited;
    out->filling = begun / 2 / (ended + begun / 2);
    out->noise = noise(run) / measured(run);
    put_prefills(out, run, time);
    const struct roof_scheduler_limits *const first =
        in->prefills == NULL ? &in->limits : &in->prefills->limits;
    const double copies = (double)(in->prefills == NULL ? copies_of(in) : in->prefills->copies);
    const bool caches = first->part_blocks > 0 || first->prefix_hit > 0;
    out->front_busy = out->completed_per_s * first->front_s / copies;
    out->prefix_hit = caches ? run->cached / run->prompts : ROOF_UNKNOWN;
}

static enum roof_status put_results(struct roof_simulation *out, struct run *run,
                                    struct roof_error *error)
{
    struct roof_distribution all;
    enum roof_status status = ROOF_OK;
    roof_distribution_open(&all, ROOF_DISTRIBUTION_EXACT);
    for (int i = 0; i < ROOF_LATENCY_COUNT && status == ROOF_OK; i++) {
        status = put_latency(&out->latency[i], run->times[i], &run->inputs->limit[i], run->turned,
                             &all, error);
    }
    roof_distribution_free(&all);
    put_rates(out, run);
    return status;
}

/* --- the whole ----------------------------------------------------------------------------- */

static enum roof_status run_all(struct run *run, struct roof_error *error)
{
    const struct roof_simulation_inputs *const in = run->inputs;
    if (in->keep) {
        run->out->served = calloc((size_t)in->requests, sizeof *run->out->served);
        run->out->served_count = in->requests;
        if (run->out->served == NULL) {
            return roof_no_memory(error);
        }
    }
    struct roof_scheduler_limits limits = in->limits;
    limits.drafts.seed = in->seed;
    const struct roof_fleet_inputs fleet = {.copies = (size_t)copies_of(in),
                                            .router = in->router,
                                            .limits = &limits,
                                            .table = in->table,
                                            .prefills = in->prefills,
                                            .closed = in->concurrency > 0};
    TRY(roof_fleet_open(&run->fleet, &fleet, on_served, run, error));
    set_most_slow(run);
    const enum roof_status status =
        in->concurrency > 0 ? run_closed_loop(run, error) : run_open_loop(run, error);
    run->out->stopped = run->missed;
    return run->missed ? ROOF_OK : status == ROOF_OK ? put_results(run->out, run, error) : status;
}

enum roof_status roof_simulate(struct roof_simulation *out,
                               const struct roof_simulation_inputs *inputs,
                               struct roof_error *error)
{
    struct run *const run = calloc(1, sizeof *run);
    *out = (struct roof_simulation){0};
    if (run == NULL) {
        return roof_no_memory(error);
    }
    run->inputs = inputs;
    run->out = out;
    run->warm = (uint64_t)floor(inputs->warm_up * (double)inputs->requests);
    if (inputs->arrivals != NULL) {
        run->arrivals = *inputs->arrivals;
        roof_arrivals_seed(&run->arrivals, inputs->seed);
    }
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        for (int b = 0; b < BATCHES; b++) {
            roof_distribution_open(&run->times[i][b], ROOF_DISTRIBUTION_EXACT / BATCHES);
        }
    }
    const enum roof_status status = run_all(run, error);
    roof_fleet_free(run->fleet);
    for (int i = 0; i < ROOF_LATENCY_COUNT * BATCHES; i++) {
        roof_distribution_free(&run->times[i / BATCHES][i % BATCHES]);
    }
    free(run);
    return status;
}

void roof_simulation_free(struct roof_simulation *simulation)
{
    free(simulation->served);
    simulation->served = NULL;
}

void roof_simulation_forget_load(struct roof_simulation *s)
{
    s->rate = s->completed_per_s = s->goodput_per_s = s->tokens_per_s = ROOF_UNKNOWN;
    s->running = s->waiting = s->kv_use = s->busy = s->growth_per_s = ROOF_UNKNOWN;
    s->prefill_busy = s->link_busy = s->transfer_s = s->duration_s = ROOF_UNKNOWN;
    s->prefill_full_budget = s->front_busy = s->step_s = s->prompts = ROOF_UNKNOWN;
    s->full_budget = s->full_memory = s->full_sequences = ROOF_UNKNOWN;
    s->waited_memory = s->waited_sequences = ROOF_UNKNOWN;
    s->without_load = true;
}

bool roof_simulation_meets(const struct roof_simulation *simulation)
{
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        if (!simulation->latency[i].met) {
            return false;
        }
    }
    return true;
}
