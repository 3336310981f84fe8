// SPDX-License-Identifier: MIT
#include "ask/rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/draw.h"
#include "base/base.h"
#include "base/list.h"
#include "base/text.h"
#include "decide/emit.h"
#include "decide/rate.h"

#define RATES_MAX 64
#define RATE_TEXT_MAX 64

/* --- the question -------------------------------------------------------------------------- */

/* Refuses inputs that do not affect a search for copies. */
static enum roof_status check_inputs(const struct roof_plan_inputs *inputs,
                                     const struct roof_asking *a, struct roof_error *error)
{
    static const size_t others[] = {
        ROOF_INPUT_EXPLAIN,  ROOF_INPUT_CONCURRENCY, ROOF_INPUT_MIN_TOKENS_PER_S,
        ROOF_INPUT_MAX_COST, ROOF_INPUT_MAX_POWER,   ROOF_INPUT_DP,
        ROOF_DIM_BATCH,      ROOF_INPUT_OFFLOADED};
    static const size_t scaled[] = {ROOF_INPUT_STEP_SCALE};
    TRY(roof_asking_refuse(a, others, COUNT(others), ROOF_KEY("rate"), error));
    if (inputs->ranking == ROOF_RANKING_IDEAL) { /* lower bounds have no scale */
        TRY(roof_asking_refuse(a, scaled, COUNT(scaled), ROOF_KEY("by") " ideal", error));
    }
    if (roof_asking_has(a, ROOF_INPUT_RATE) && roof_asking_has(a, ROOF_INPUT_RATE_TRACE)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("rate") " and " ROOF_KEY(
                                  "rate_trace") " both give the rate of requests: use one of them");
    }
    if (roof_asking_drawn(a)) {
        return roof_error_set(error, ROOF_USAGE,
                              "a chart of plans cannot be combined with " ROOF_KEY(
                                  "rate") "; simulate draws latency over the rate");
    }
    if (inputs->objective == ROOF_PLAN_LATENCY) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("rate") " needs " ROOF_KEY(
                                  "objective") " throughput (fewest devices), cost or energy");
    }
    return ROOF_OK;
}

bool roof_ask_has_rates(const struct roof_asking *a)
{
    return roof_asking_has(a, ROOF_INPUT_RATE) || roof_asking_has(a, ROOF_INPUT_RATE_TRACE);
}

enum roof_status roof_refuse_load(const struct roof_asking *a, struct roof_error *error)
{
    static const size_t load[] = {ROOF_INPUT_ARRIVALS,   ROOF_INPUT_REQUESTS,
                                  ROOF_INPUT_SEED,       ROOF_INPUT_WARM_UP,
                                  ROOF_INPUT_ROUTER,     ROOF_INPUT_MAX_E2E,
                                  ROOF_INPUT_STEP_SCALE, ROOF_INPUT_REQUEST_OVERHEAD};
    for (size_t i = 0; i < COUNT(load); i++) {
        char name[ROOF_INPUT_NAME_SIZE];
        if (roof_asking_has(a, load[i])) {
            return roof_error_set(error, ROOF_USAGE, "%s of plans needs " ROOF_KEY("rate"),
                                  roof_input_marked(name, roof_input(load[i])));
        }
    }
    return ROOF_OK;
}

/* Reads the rates of a list; the simulated question has the greatest one. */
static enum roof_status read_rates(struct rates_input *out, const struct roof_asking *a,
                                   char text[RATE_TEXT_MAX], struct roof_error *error)
{
    const char *const list = a->question->value[ROOF_INPUT_RATE];
    struct roof_list_item item;
    double greatest = 0;
    size_t count = 0;
    if (strcmp(list, "max") == 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("rate") " max is an option of simulate, for the split that "
                                               "you give (" ROOF_KEY("tp") ", " ROOF_KEY("dp") ")");
    }
    out->other = calloc(RATES_MAX, sizeof *out->other);
    if (out->other == NULL) {
        return roof_no_memory(error);
    }
    for (const char *rest = list; roof_list_next(&item, &rest); count++) {
        char one[RATE_TEXT_MAX];
        if (count == RATES_MAX || !roof_list_item_copy(one, sizeof one, &item)) {
            return roof_error_set(error, ROOF_USAGE, ROOF_KEY("rate") " may list 1 to %d numbers",
                                  RATES_MAX);
        }
        TRY(roof_rate_read(&out->other[count], one, error));
        if (out->other[count] > greatest) {
            greatest = out->other[count];
            (void)roof_list_item_copy(text, RATE_TEXT_MAX, &item);
        }
    }
    out->others = count > 1 ? count : 0;
    return ROOF_OK;
}

/* Reads the rates of a file; the simulated question has the greatest one. */
static enum roof_status read_rate_trace(struct rates_input *out, const char *path,
                                        char text[RATE_TEXT_MAX], struct roof_error *error)
{
    struct roof_text number = ROOF_TEXT_INIT;
    TRY(roof_rate_trace_read(&out->trace, path, error));
    roof_text_number(&number, out->trace.rate[out->trace.rates - 1]);
    if (!number.failed) {
        (void)snprintf(text, RATE_TEXT_MAX, "%s", number.data);
    }
    const enum roof_status status = number.failed ? roof_no_memory(error) : ROOF_OK;
    roof_text_free(&number);
    return status;
}

/* Applies the limits on percentiles to the search for plans, as limits on expected means. */
static void limit_plans(struct roof_plan_inputs *inputs, const struct simulate_input *load)
{
    inputs->limit[ROOF_PLAN_LIMIT_TTFT] = load->inputs.limit[ROOF_LATENCY_TTFT].time_s;
    inputs->limit[ROOF_PLAN_LIMIT_TPOT] = load->inputs.limit[ROOF_LATENCY_TPOT].time_s;
    inputs->percent[ROOF_PLAN_LIMIT_TTFT] = load->inputs.limit[ROOF_LATENCY_TTFT].percent;
    inputs->percent[ROOF_PLAN_LIMIT_TPOT] = load->inputs.limit[ROOF_LATENCY_TPOT].percent;
}

/* Keeps the load as given in the question, for the command that simulates it. Inputs of the plan,
 * such as its step scale, are already in that command. */
static void read_said(struct rates_input *out, const struct roof_asking *a)
{
    static const size_t load[] = {
        ROOF_INPUT_PROMPT,   ROOF_INPUT_GENERATE, ROOF_INPUT_ARRIVALS, ROOF_INPUT_REQUESTS,
        ROOF_INPUT_SEED,     ROOF_INPUT_WARM_UP,  ROOF_INPUT_ROUTER,   ROOF_INPUT_REQUEST_OVERHEAD,
        ROOF_INPUT_MAX_TTFT, ROOF_INPUT_MAX_TPOT, ROOF_INPUT_MAX_E2E};
    _Static_assert(COUNT(load) <= ROOF_RATE_SAID_MAX, "each has a place");
    for (size_t i = 0; i < COUNT(load); i++) {
        if (roof_asking_has(a, load[i])) {
            out->said[out->said_count++] =
                (struct roof_rate_said){load[i], a->question->value[load[i]]};
        }
    }
    out->requests_given = roof_asking_has(a, ROOF_INPUT_REQUESTS);
    out->chunk_given = roof_asking_has(a, ROOF_INPUT_CHUNK);
}

/* Finds the text of a load input in the question. */
static const char *said(const struct rates_input *in, size_t input)
{
    size_t i = 0;
    while (i < in->said_count && in->said[i].input != input) {
        i++;
    }
    return i < in->said_count ? in->said[i].text : NULL;
}

enum roof_status roof_read_rates(struct rates_input *out, struct roof_plan_inputs *inputs,
                                 const struct roof_asking *a, struct roof_error *error)
{
    TRY(check_inputs(inputs, a, error));
    const char *const file = a->question->value[ROOF_INPUT_RATE_TRACE];
    TRY(file == NULL ? read_rates(out, a, out->text, error)
                     : read_rate_trace(out, file, out->text, error));
    struct roof_asking single = *a;
    roof_question_borrow(&out->single, a->question);
    out->single.value[ROOF_INPUT_RATE] = out->text;
    single.question = &out->single;
    out->load.scenario = inputs->base;
    TRY(roof_read_load(&out->load, &single, error));
    limit_plans(inputs, &out->load);
    TRY(roof_asking_threads(&out->threads, a, error));
    out->emit = inputs->emit;
    out->model_name = a->question->model_name;
    if (out->emit != NULL && (out->load.arrivals.prompt.kind == ROOF_LENGTH_LOGNORMAL ||
                              out->load.arrivals.generate.kind == ROOF_LENGTH_LOGNORMAL)) {
        return roof_error_set(error, ROOF_USAGE,
                              "a script needs the longest request: with " ROOF_KEY(
                                  "emit") ", lengths must be a number or uniform:A:B");
    }
    inputs->base.prompt = (int64_t)ceil(out->load.arrivals.prompt.mean);
    inputs->base.generate = (int64_t)ceil(out->load.arrivals.generate.mean);
    inputs->base.dp = 1;
    inputs->one_copy = true;
    inputs->explain = false;
    read_said(out, a);
    return ROOF_OK;
}

void roof_rates_close(struct rates_input *in)
{
    roof_simulate_close(&in->load);
    roof_rate_trace_free(&in->trace);
    free(in->other);
    in->other = NULL;
}

/* --- scripts ------------------------------------------------------------------------------- */

/* Returns the largest length of a request, which a script allows. */
static int64_t longest(const struct roof_length *length)
{
    return length->kind == ROOF_LENGTH_UNIFORM ? length->high : length->low;
}

/* Sets the rates of a plan to those of its simulation, and its batch to the limit of the scheduler.
 */
static struct roof_plan simulated(const struct roof_rate_plan *way)
{
    struct roof_plan plan = way->plan;
    plan.fills = plan.batch;
    plan.batch = way->sequences;
    plan.ttft_s = way->at.latency[ROOF_LATENCY_TTFT].mean_s;
    plan.tpot_s = way->at.latency[ROOF_LATENCY_TPOT].mean_s;
    plan.tokens_per_s = way->at.tokens_per_s;
    return plan;
}

/* Finds the best plan for the rate among those that a script of the engine cannot start, too: the
 * one that the report recommends. *better tells whether it is better, and `gain` why. */
static enum roof_status find_of_all(struct roof_plan *out, bool *better, struct roof_text *gain,
                                    const struct roof_rate_answer *answer, struct roof_error *error)
{
    const struct roof_rate_problem *const problem = answer->problem;
    struct roof_plan_answer *const all = malloc(sizeof *all);
    struct roof_rate_plans *const plans = calloc(1, sizeof *plans);
    enum roof_status status = ROOF_OK;
    *better = false;
    if (all == NULL || plans == NULL) {
        status = roof_no_memory(error);
    } else {
        struct roof_rate_problem wide = *problem;
        *all = *problem->answer;
        all->plans = all->others;
        wide.answer = all;
        wide.only_best = true;
        status = roof_rate_search(plans, &wide, error);
        if (status == ROOF_OK && plans->count > 0) {
            *out = simulated(&plans->way[0]);
            *better = roof_rate_report_gain(gain, answer, plans);
            status = gain->failed ? roof_no_memory(error) : ROOF_OK;
        }
        roof_rate_plans_free(plans);
    }
    free(plans);
    free(all);
    return status;
}

/* Says that no plan serves the rate, and how near the closest one comes. */
static enum roof_status no_deployment(const struct roof_rate_answer *answer,
                                      struct roof_error *error)
{
    struct roof_text nearest = ROOF_TEXT_INIT;
    roof_rate_report_nearest(&nearest, answer);
    (void)roof_error_set(error, ROOF_UNSATISFIED, "no deployment keeps these limits at this rate");
    if (nearest.length > 0 && !nearest.failed) {
        roof_error_append(error, "; %s", nearest.data);
    }
    roof_text_free(&nearest);
    roof_error_append(error, "; without " ROOF_KEY("emit") " the answer has the reasons");
    return ROOF_UNSATISFIED;
}

/* Writes the script that starts the best plan, with the scheduler limits of the simulation. */
static enum roof_status emit_best(struct roof_text *out, const struct rates_input *in,
                                  const struct roof_rate_answer *result, enum roof_status *found,
                                  struct roof_error *error)
{
    const struct roof_plan_answer *const answer = result->problem->answer;
    const struct roof_rate_plan *const way = &result->found->way[0];
    struct roof_plan_problem problem = answer->problem;
    struct roof_plan plan = simulated(way);
    struct roof_plan best = plan;
    bool better = false;
    struct roof_text gain = ROOF_TEXT_INIT;
    struct roof_plans all = {.plan = &best, .count = 1, .model = answer->others.model};
    const struct roof_plans one = {.plan = &plan, .count = 1, .model = answer->plans.model};
    if (*found == ROOF_UNSATISFIED) {
        return no_deployment(result, error);
    }
    enum roof_status status = ROOF_OK;
    if (answer->others.count > 0) {
        status = find_of_all(&best, &better, &gain, result, error);
    }
    all.gain = gain.data;
    problem.base.prompt = longest(&in->load.arrivals.prompt);
    problem.base.generate = longest(&in->load.arrivals.generate);
    problem.base.chunk = way->chunk == ROOF_BUDGET_WHOLE ? problem.base.chunk : way->chunk;
    if (status == ROOF_OK) {
        roof_emit_begin(out, in->emit);
        roof_text_put(out, "# ");
        roof_rate_report_remark(out, result);
        roof_text_put(out, "\n");
        *found = roof_emit(out, in->emit, answer->engine, &one, better ? &all : NULL, &problem,
                           in->model_name, error);
        status = *found == ROOF_UNSATISFIED ? ROOF_OK : *found;
    }
    roof_text_free(&gain);
    return status;
}

/* --- documents ----------------------------------------------------------------------------- */

/* The number of plans whose greatest rate is searched. */
#define GREATEST 5

static void write_answer(struct roof_text *out, struct roof_table *table,
                         const struct roof_rate_answer *answer, int64_t top,
                         const struct roof_form *form)
{
    if (form->report) {
        roof_rate_report_text(out, answer, (size_t)top);
    } else if (form->format == ROOF_MARKDOWN && form->columns == NULL) {
        roof_rate_report_markdown(out, answer, (size_t)top);
    } else if (form->format == ROOF_JSON) {
        roof_rate_report_json(out, answer, (size_t)top);
    } else {
        roof_rate_report_rows(out, table, answer, (size_t)top);
    }
}

enum roof_status roof_ask_rates(struct roof_text *out, struct roof_table *table,
                                const struct rates_input *in, const struct roof_plan_answer *answer,
                                int64_t top, const struct roof_kept_columns *kept,
                                const struct roof_form *form, enum roof_status *found,
                                struct roof_error *error)
{
    const bool timed = in->trace.count > 0;
    const struct roof_rate_problem problem = {.answer = answer,
                                              .load = &in->load.inputs,
                                              .requests_given = in->requests_given,
                                              .chunk_given = in->chunk_given,
                                              .other = timed ? in->trace.rate : in->other,
                                              .others = timed ? in->trace.rates : in->others,
                                              .weight = in->trace.weight,
                                              .threads = in->threads,
                                              .wanted = GREATEST};
    struct roof_rate_plans *const plans = calloc(1, sizeof *plans);
    if (plans == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = roof_rate_search(plans, &problem, error);
    if (status == ROOF_OK) {
        const struct roof_rate_answer result = {.problem = &problem,
                                                .found = plans,
                                                .prompt = said(in, ROOF_INPUT_PROMPT),
                                                .generate = said(in, ROOF_INPUT_GENERATE),
                                                .said = in->said,
                                                .said_count = in->said_count,
                                                .kept = kept,
                                                .trace = timed ? &in->trace : NULL,
                                                .arrivals = in->load.row.arrivals};
        *found = plans->count == 0 ? ROOF_UNSATISFIED : ROOF_OK;
        if (in->emit != NULL) {
            status = emit_best(out, in, &result, found, error);
        } else {
            write_answer(out, table, &result, top, form);
        }
    }
    roof_rate_plans_free(plans);
    free(plans);
    return status;
}
