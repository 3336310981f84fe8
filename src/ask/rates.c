// SPDX-License-Identifier: MIT
#include "ask/rates.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/list.h"
#include "decide/rate.h"
#include "report/rate_report.h"

#define RATES_MAX 64
#define RATE_TEXT_MAX 64

/* --- what is asked ------------------------------------------------------------------------- */

/* Refuses what a search for copies has no use for. */
static enum roof_status check_inputs(const struct roof_plan_inputs *inputs,
                                     const struct roof_asking *a, struct roof_error *error)
{
    static const size_t others[] = {ROOF_INPUT_EMIT,        ROOF_INPUT_EXPLAIN,
                                    ROOF_INPUT_CONCURRENCY, ROOF_INPUT_MIN_TOKENS_PER_S,
                                    ROOF_INPUT_MAX_COST,    ROOF_INPUT_MAX_POWER,
                                    ROOF_INPUT_DP,          ROOF_INPUT_DRAFT_TOKENS,
                                    ROOF_DIM_BATCH};
    TRY(roof_asking_refuse(a, others, COUNT(others), ROOF_KEY("rate"), error));
    if (inputs->kind == ROOF_PLAN_DISAGGREGATED) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("rate") " goes with " ROOF_KEY("kind") " aggregated");
    }
    if (inputs->objective == ROOF_PLAN_LATENCY) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("rate") " goes with " ROOF_KEY(
                                  "objective") " throughput (fewest devices), cost or energy");
    }
    return ROOF_OK;
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
            return roof_error_set(error, ROOF_USAGE, "%s of plans goes with " ROOF_KEY("rate"),
                                  roof_input_marked(name, roof_input(load[i])));
        }
    }
    return ROOF_OK;
}

/* Reads the rates of a list; the question that is simulated has the greatest of them. */
static enum roof_status read_rates(struct rates_input *out, const struct roof_asking *a,
                                   char text[RATE_TEXT_MAX], struct roof_error *error)
{
    const char *const list = a->question->value[ROOF_INPUT_RATE];
    struct roof_list_item item;
    double greatest = 0;
    size_t count = 0;
    out->other = calloc(RATES_MAX, sizeof *out->other);
    if (out->other == NULL) {
        return roof_no_memory(error);
    }
    for (const char *rest = list; roof_list_next(&item, &rest); count++) {
        char one[RATE_TEXT_MAX];
        if (count == RATES_MAX || !roof_list_item_copy(one, sizeof one, &item)) {
            return roof_error_set(error, ROOF_USAGE, ROOF_KEY("rate") " takes 1 to %d numbers",
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

/* Takes the limits on percentiles to the search: the mean of what a plan is expected to take is no
 * longer than they are. */
static void limit_plans(struct roof_plan_inputs *inputs, const struct simulate_input *load)
{
    inputs->limit[ROOF_PLAN_LIMIT_TTFT] = load->inputs.limit[ROOF_LATENCY_TTFT].time_s;
    inputs->limit[ROOF_PLAN_LIMIT_TPOT] = load->inputs.limit[ROOF_LATENCY_TPOT].time_s;
}

enum roof_status roof_read_rates(struct rates_input *out, struct roof_plan_inputs *inputs,
                                 const struct roof_asking *a, struct roof_error *error)
{
    TRY(check_inputs(inputs, a, error));
    TRY(read_rates(out, a, out->text, error));
    struct roof_asking single = *a;
    roof_question_borrow(&out->single, a->question);
    out->single.value[ROOF_INPUT_RATE] = out->text;
    single.question = &out->single;
    out->load.scenario = inputs->base;
    TRY(roof_read_load(&out->load, &single, error));
    limit_plans(inputs, &out->load);
    inputs->base.prompt = (int64_t)ceil(out->load.arrivals.prompt.mean);
    inputs->base.generate = (int64_t)ceil(out->load.arrivals.generate.mean);
    inputs->base.dp = 1;
    inputs->kind = ROOF_PLAN_AGGREGATED;
    inputs->explain = false;
    return ROOF_OK;
}

void roof_rates_close(struct rates_input *in)
{
    roof_simulate_close(&in->load);
    free(in->other);
    in->other = NULL;
}

/* --- documents ----------------------------------------------------------------------------- */

/* Ways of which the greatest rate is searched. */
#define GREATEST 5

static enum roof_status write_answer(struct roof_text *out, const struct roof_rate_answer *answer,
                                     int64_t top, const struct roof_asking *a,
                                     struct roof_error *error)
{
    struct roof_table table;
    TRY(roof_table_open(&table, roof_asking_rows(a), ROOF_TABLE_RATES, ROOF_OPERATOR_GEMM,
                        a->question->value[ROOF_INPUT_COLUMNS], error));
    if (roof_asking_report(a)) {
        roof_rate_report_text(out, answer, (size_t)top);
    } else if (a->format == ROOF_JSON) {
        roof_rate_report_json(out, answer, (size_t)top);
    } else {
        roof_rate_report_rows(out, &table, answer, (size_t)top);
    }
    return ROOF_OK;
}

enum roof_status roof_ask_rates(struct roof_text *out, const struct rates_input *in,
                                const struct roof_plan_answer *answer, int64_t top,
                                struct roof_asking *a, enum roof_status *found,
                                struct roof_error *error)
{
    const struct roof_rate_problem problem = {.answer = answer,
                                              .load = &in->load.inputs,
                                              .other = in->other,
                                              .others = in->others,
                                              .wanted = GREATEST};
    struct roof_rate_plans *const plans = calloc(1, sizeof *plans);
    if (plans == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = roof_rate_search(plans, &problem, error);
    if (status == ROOF_OK) {
        const struct roof_rate_answer result = {.problem = &problem,
                                                .found = plans,
                                                .question = a->question,
                                                .arrivals = in->load.row.arrivals};
        *found = plans->count == 0 ? ROOF_UNSATISFIED : ROOF_OK;
        status = write_answer(out, &result, top, a, error);
    }
    roof_rate_plans_free(plans);
    free(plans);
    return status;
}
