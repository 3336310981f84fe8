// SPDX-License-Identifier: MIT
/* Writes the commands that predict and simulate a plan. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/shell.h"
#include "decide/input.h"
#include "report/plan_parts.h"
#include "report/scenario_options.h"

/* Makes the scenario of an empty command line, with the values that plans write out: nothing is
 * split, and phase and context are given even if they are the defaults. */
static struct roof_scenario usual_scenario(const struct roof_scenario *s)
{
    const bool request = s->generate > 0;
    struct roof_scenario usual;
    roof_scenario_init(&usual);
    usual.common.shape.batch = usual.common.shape.ep = usual.tp = usual.pp = usual.dp = 1;
    usual.attention_dp = s->moe_ep > 0 ? 1 : s->attention_dp; /* ep implies it */
    usual.chunk = request ? ROOF_REQUEST_CHUNK : s->chunk;
    usual.phase = request ? s->phase : -1;
    usual.acceptance =
        s->draft_tokens > 0 ? usual.acceptance : s->acceptance; /* irrelevant without drafts */
    return usual;
}

/* Writes the command for a scenario of a plan, without its end of line. */
static void begin_command(struct roof_text *out, const char *name, enum roof_command command,
                          const struct roof_plan_row *row, const struct roof_plan_problem *problem,
                          const struct roof_scenario *s)
{
    const struct roof_model *const model = roof_plan_model(problem, row->plan.serving);
    const char *const hardware = problem->hardware[row->plan.hardware]->reference;
    roof_text_printf(out, "  roofline %s ", name);
    roof_put_reference(out, model->reference, model->id);
    roof_text_put(out, " -H ");
    roof_text_shell_word(out, hardware);
    if (row->layout != NULL) {
        roof_text_put(out, " --layout ");
        roof_text_shell_word(out, row->layout);
    }
    const struct roof_scenario usual = usual_scenario(s);
    roof_put_options(out, s, &usual, command);
}

/* Writes the command that predicts a scenario of a plan. */
static void put_command(struct roof_text *out, const struct roof_plan_row *row,
                        const struct roof_plan_problem *problem, const struct roof_scenario *s)
{
    begin_command(out, "predict model", ROOF_COMMAND_PREDICT, row, problem, s);
    roof_text_put(out, "\n");
}

/* Writes the prefill copies, and their split if it differs. */
static void put_prefills(struct roof_text *out, const struct roof_plan *plan)
{
    const struct roof_split *const s = &plan->prefill.split;
    roof_text_printf(out, " --prefill-copies %" PRId64, plan->prefill.copies);
    if (memcmp(s, &plan->split, sizeof *s) == 0) {
        return;
    }
    roof_text_printf(out, " --prefill-split tp=%" PRId64, s->tp);
    if (s->pp > 1) {
        roof_text_printf(out, ",pp=%" PRId64, s->pp);
    }
    if (s->attention_dp > 1 || s->moe_ep > 1) {
        roof_text_printf(out, ",attention-dp=%" PRId64 ",moe-tp=%" PRId64 ",moe-ep=%" PRId64,
                         s->attention_dp, s->moe_tp, s->moe_ep);
    }
}

void roof_plan_put_simulation(struct roof_text *out, const struct roof_plan *plan,
                              const struct roof_plan_problem *problem,
                              const struct roof_engine *engine)
{
    struct roof_scenario scenario;
    struct roof_plan_row row;
    roof_plan_name(&row, plan, 1, problem);
    roof_plan_scenario(&scenario, plan, problem);
    if (plan->basis == ROOF_PLAN_BOUND) {
        scenario.common.step_scale = 1; /* lower bounds have no scale, and `simulate` refuses one */
    }
    if (engine != NULL) {
        scenario.common.stack = ROOF_STACK_BEST; /* the engine implies its stack */
    }
    begin_command(out, "simulate", ROOF_COMMAND_SIMULATE, &row, problem, &scenario);
    if (engine != NULL) {
        roof_text_printf(out, " --engine %s", engine->id);
    }
    roof_text_put(out, plan->basis == ROOF_PLAN_BOUND ? " --by ideal" : "");
    if (plan->prefill.copies > 0) {
        put_prefills(out, plan);
    }
}

/* Writes the predictions for both kinds of copies of a disaggregated plan. */
static void put_halves(struct roof_text *out, const struct roof_plan *plan,
                       const struct roof_plan_row *row, const struct roof_plan_problem *problem)
{
    struct roof_plan_problem prefill;
    struct roof_plan_problem decode;
    struct roof_scenario scenario[2];
    struct roof_plan half = *plan;
    roof_plan_halves(&prefill, &decode, problem);
    half.prefill.copies = 0;
    half.dp = 1;
    half.split = plan->prefill.split;
    half.batch = plan->prefill.batch;
    roof_plan_scenario(&scenario[0], &half, &prefill);
    put_command(out, row, &prefill, &scenario[0]);
    half.split = plan->split;
    half.batch = plan->batch;
    roof_plan_scenarios(&scenario[0], &scenario[1], &half, &decode);
    put_command(out, row, &decode, &scenario[1]);
    roof_text_put(
        out, "The memory of a decoding copy at the end of its requests (the plan has that of the "
             "copy that\nneeds more):\n");
    decode.base.context = problem->base.prompt + problem->base.generate;
    roof_plan_scenarios(&scenario[0], &scenario[1], &half, &decode);
    put_command(out, row, &decode, &scenario[1]);
}

/* Writes the prediction of the plan, or the two that it combines. */
void roof_plan_put_commands(struct roof_text *out, const struct roof_plan *plan,
                            const struct roof_plan_problem *problem)
{
    struct roof_scenario scenario[2];
    struct roof_plan_row row;
    roof_plan_name(&row, plan, 1, problem);
    const bool halves = plan->prefill.copies > 0;
    roof_text_printf(
        out, "\nReproduce %s(with the same --set and --calibration, if you gave any)%s:\n",
        halves ? "a copy of each kind " : "",
        halves ? ".\nThe tokens/s per user of these commands leave out the first token" : "");
    if (plan->prefill.copies > 0) {
        put_halves(out, plan, &row, problem);
    } else if (problem->base.generate > 0) {
        roof_plan_scenario(&scenario[0], plan, problem);
        put_command(out, &row, problem, &scenario[0]);
    } else {
        roof_plan_scenarios(&scenario[0], &scenario[1], plan, problem);
        put_command(out, &row, problem, &scenario[0]);
        put_command(out, &row, problem, &scenario[1]);
    }
}
