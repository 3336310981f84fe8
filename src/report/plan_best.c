// SPDX-License-Identifier: MIT
/* Reports the figures of the best plan, and notes on them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "predict/pass.h"
#include "predict/power.h"
#include "predict/unexpected.h"
#include "report/caveat_report.h"
#include "report/cells.h"
#include "report/media_report.h"
#include "report/model_report.h"
#include "report/note_list.h"
#include "report/plan_parts.h"
#include "report/published_report.h"

/* --- its figures --------------------------------------------------------------------------- */

/* Writes a time with its range: "385.2 ms (356 to 421 ms)". */
static void put_band(struct roof_text *out, double value, double low, double high)
{
    char text[ROOF_QUANTITY_SIZE];
    char range[ROOF_RANGE_SIZE];
    roof_text_printf(out, "%s (%s)", roof_format_quantity(text, value, ROOF_UNIT_MILLISECONDS),
                     roof_format_range(range, low, high, ROOF_UNIT_MILLISECONDS));
}

static void put_near(struct roof_text *out, double part, const char *what)
{
    if (part > ROOF_PLAN_NEAR) {
        roof_text_printf(out,
                         "  note:        %.0f%% of the %s is estimated from other devices, "
                         "libraries or formats\n",
                         100 * part, what);
    }
}

static void put_rates(struct roof_text *out, const struct roof_plan *plan)
{
    char all[ROOF_QUANTITY_SIZE];
    char user[ROOF_QUANTITY_SIZE];
    char device[ROOF_QUANTITY_SIZE];
    /* With prefill copies, the tokens/s of all users are not those of one times the batch. */
    roof_text_printf(out, "               %s%s tokens/s generated (%s per user%s %s per device)\n",
                     plan->basis == ROOF_PLAN_BOUND ? "at most " : "",
                     roof_format_short(all, plan->tokens_per_s),
                     roof_format_short(user, plan->tokens_per_s_per_user),
                     plan->prefill.copies > 0 ? ", first token included;" : ",",
                     roof_format_short(device, plan->tokens_per_s_per_device));
}

/* Writes the times of the best plan: expected ones with their ranges, and the bounds. */
static void put_expected(struct roof_text *out, const struct roof_plan *plan, const char *note)
{
    char ttft[ROOF_QUANTITY_SIZE];
    char tpot[ROOF_QUANTITY_SIZE];
    roof_text_put(out, "  expected:    first token ");
    put_band(out, plan->ttft_s, plan->ttft_low_s, plan->ttft_high_s);
    roof_text_put(out, ", decode step ");
    put_band(out, plan->step_s, plan->step_low_s, plan->step_high_s);
    roof_text_printf(out, "\n               %s per token%s\n",
                     roof_format_quantity(tpot, plan->tpot_s, ROOF_UNIT_MILLISECONDS), note);
    put_rates(out, plan);
    roof_text_printf(out, "  lower bound: first token %s%s, %s per token\n",
                     roof_format_quantity(ttft, plan->bound_ttft_s, ROOF_UNIT_MILLISECONDS),
                     plan->prefill.again_s > 0 ? " (without a decode step)" : "",
                     roof_format_quantity(tpot, plan->bound_tpot_s, ROOF_UNIT_MILLISECONDS));
}

/* Returns the prediction of a scenario of the best plan, or NULL. */
static struct roof_model_prediction *predict_scenario(const struct roof_scenario *s,
                                                      const struct roof_plans *plans,
                                                      const struct roof_plan_problem *problem)
{
    const struct roof_plan *const plan = &plans->plan[0];
    const struct roof_model *const model = plans->model[plan->serving];
    struct roof_model_prediction *out = malloc(sizeof *out);
    const struct roof_hardware *const device = problem->given[plan->hardware];
    if (out != NULL && roof_predict_model(out, model, s, device, NULL) != ROOF_OK) {
        free(out);
        out = NULL;
    }
    return out;
}

/* Writes the expected times of a best plan with a part on the host: of a request, or of a first
 * token and a step. */
static void put_predicted(struct roof_text *out, struct roof_model_prediction *const predicted[2],
                          bool request)
{
    const struct roof_model_prediction *const last = predicted[request ? 0 : 1];
    char text[ROOF_QUANTITY_SIZE];
    roof_text_printf(
        out, "first token %s",
        roof_format_quantity(text, predicted[0]->expected_ttft_s, ROOF_UNIT_MILLISECONDS));
    roof_text_printf(out, ", %s %s", request ? "per token" : "decode step",
                     roof_format_quantity(text,
                                          request ? last->expected_tpot_s : last->expected_step_s,
                                          ROOF_UNIT_MILLISECONDS));
    roof_text_printf(
        out,
        ", %s tokens/s; plans with a part on the host are ranked by lower bounds, because the "
        "ranges of their expected times are wide",
        roof_format_short(text, last->expected_tokens_per_s));
}

/* Writes the expected times of a best plan with a part on the host, or why it has none. */
static void put_unranked(struct roof_text *out, const struct roof_plans *plans,
                         const struct roof_plan_problem *problem)
{
    const struct roof_plan *const plan = &plans->plan[0];
    struct roof_scenario scenario[2];
    struct roof_model_prediction *predicted[2] = {NULL, NULL};
    const bool request = problem->base.generate > 0;
    const size_t count = request ? 1 : COUNT(scenario);
    bool known = true;
    if (request) {
        roof_plan_scenario(&scenario[0], plan, problem);
    } else {
        roof_plan_scenarios(&scenario[0], &scenario[1], plan, problem);
    }
    for (size_t i = 0; i < count && known; i++) {
        predicted[i] = predict_scenario(&scenario[i], plans, problem);
        known = predicted[i] != NULL && !isnan(predicted[i]->expected_step_s);
        if (predicted[i] == NULL) {
            out->failed = true; /* for lack of memory: the plan itself was predicted */
        } else if (!known) {
            roof_text_put(out, "-, ");
            roof_model_report_unexpected(out, predicted[i]);
        }
    }
    if (known) {
        put_predicted(out, predicted, request);
    }
    free(predicted[0]);
    free(predicted[1]);
}

/* Writes the times of the best plan if they are bounds, and why. */
static void put_bounds(struct roof_text *out, const struct roof_plans *plans,
                       const struct roof_plan_problem *problem, const char *note)
{
    const struct roof_plan *const plan = &plans->plan[0];
    char text[ROOF_UNEXPECTED_SIZE];
    const size_t line = out->length;
    const bool offloads = plan->offload != ROOF_OFFLOAD_NONE;
    const char *const why =
        offloads ? "" : roof_unexpected_device(text, problem->hardware[plan->hardware]);
    if (why != NULL) {
        roof_text_printf(out, "  expected:    %s%s", offloads ? "" : "-, ", why);
        if (offloads) {
            put_unranked(out, plans, problem);
        }
        roof_text_fold(out, line, 15);
        roof_text_put(out, "\n");
    }
    char ttft[ROOF_QUANTITY_SIZE];
    char step[ROOF_QUANTITY_SIZE];
    char tpot[ROOF_QUANTITY_SIZE];
    roof_text_printf(
        out, "  lower bound: first token %s, decode step %s\n               %s per token%s\n",
        roof_format_quantity(ttft, plan->ttft_s, ROOF_UNIT_MILLISECONDS),
        roof_format_quantity(step, plan->step_s, ROOF_UNIT_MILLISECONDS),
        roof_format_quantity(tpot, plan->tpot_s, ROOF_UNIT_MILLISECONDS), note);
    put_rates(out, plan);
}

/* Returns the most sequences that run in the decode copies of a disaggregated plan. */
static double running_of(const struct roof_plan *plan)
{
    const struct roof_plan_prefill *const way = &plan->prefill;
    const double batch = (double)plan->batch;
    return fmin(batch, ceil(batch * way->requests / way->served));
}

/* Writes the utilization of the decode copies if prefill copies are slower. */
static void put_partly(struct roof_text *out, const struct roof_plan *plan)
{
    const double running = running_of(plan);
    if (running < (double)plan->batch) {
        roof_text_printf(out,
                         "  decode:      prefill keeps at most %.0f of %" PRId64
                         " sequences running, so real steps are shorter\n",
                         running, plan->batch);
    }
}

/* Writes the parts of the time to first token of a disaggregated plan, and the utilization of its
 * copies. */
static void put_way(struct roof_text *out, const struct roof_plan *plan,
                    const struct roof_plan_problem *problem)
{
    const struct roof_plan_prefill *const way = &plan->prefill;
    const int64_t generate = problem->base.generate;
    const double host_s = roof_plan_host_s(plan, problem);
    const size_t line = out->length;
    char prefill[ROOF_QUANTITY_SIZE];
    char together[48] = "";
    char host[ROOF_QUANTITY_SIZE];
    char transfer[ROOF_QUANTITY_SIZE];
    char bytes[ROOF_QUANTITY_SIZE];
    char link[ROOF_QUANTITY_SIZE];
    char requests[ROOF_QUANTITY_SIZE];
    char served[ROOF_QUANTITY_SIZE];
    char ttft[ROOF_QUANTITY_SIZE];
    char tpot[ROOF_QUANTITY_SIZE];
    if (way->copies == 0) {
        return;
    }
    if (way->batch > 1) {
        (void)snprintf(together, sizeof together, " (%" PRId64 " prompts)", way->batch);
    }
    roof_text_printf(out, "  first token: prefill %s%s",
                     roof_format_quantity(prefill, way->prefill_s - host_s, ROOF_UNIT_MILLISECONDS),
                     together);
    if (host_s > 0) {
        roof_text_printf(out, ", host %s",
                         roof_format_quantity(host, host_s, ROOF_UNIT_MILLISECONDS));
    }
    roof_text_printf(out, ", %s of KV cache sent in %s%s",
                     roof_format_quantity(bytes, way->kv_bytes, ROOF_UNIT_BYTES),
                     roof_format_quantity(transfer, way->transfer_s, ROOF_UNIT_MILLISECONDS),
                     way->again_s > 0 ? ", one decode step" : "");
    roof_text_fold(out, line, 15);
    roof_text_printf(
        out,
        "\n  link:        %s per "
        "device "
        "%s\n  capacity:    %s requests/s in prefill, %s in decode, if all copies are busy\n  per "
        "user:    %" PRId64 " tokens in %s + %" PRId64 " x %s\n",
        roof_format_quantity(link, way->link, ROOF_UNIT_GB_PER_S),
        way->network  ? "between nodes (network_gb_s), as the plan needs several"
        : way->bridge ? "over a bridge between the cards (bridge_gb_s)"
                      : "inside one node (link_gb_s)",
        roof_format_short(requests, way->requests), roof_format_short(served, way->served),
        generate, roof_format_quantity(ttft, plan->ttft_s, ROOF_UNIT_MILLISECONDS), generate - 1,
        roof_format_quantity(tpot, plan->tpot_s, ROOF_UNIT_MILLISECONDS));
    put_partly(out, plan);
}

/* Writes the times of a plan at the requested number of requests, if it serves more than that. */
static void put_asked(struct roof_text *out, const struct roof_plan *plan,
                      const struct roof_plan *asked)
{
    char ttft[ROOF_QUANTITY_SIZE];
    char tpot[ROOF_QUANTITY_SIZE];
    char all[ROOF_QUANTITY_SIZE];
    if (asked->batch > 0) {
        roof_text_printf(out,
                         "  concurrency: %" PRId64 "; with %" PRId64
                         ": first token %s, %s per token, %s tokens/s\n",
                         plan->dp * plan->batch, asked->dp * asked->batch,
                         roof_format_quantity(ttft, asked->ttft_s, ROOF_UNIT_MILLISECONDS),
                         roof_format_quantity(tpot, asked->tpot_s, ROOF_UNIT_MILLISECONDS),
                         roof_format_short(all, asked->tokens_per_s));
    }
}

/* Returns a note on what else the time per token includes; "": nothing, as with batch 1. */
static const char *note_of(const struct roof_plan *plan, bool requests)
{
    const bool apart = plan->prefill.copies > 0;
    return apart && running_of(plan) < (double)plan->batch
               ? " at full batch; other copies prefill the prompts"
           : apart                        ? "; other copies prefill the prompts"
           : requests && plan->batch == 1 ? ""
           : !requests                    ? "; prompts are not counted (--prompt and --generate)"
           : plan->waits                  ? "; most steps also prefill other prompts, which queue"
                                          : "; some steps also prefill other prompts";
}

void roof_plan_put_assumed(struct roof_text *out, const struct roof_plan_problem *problem)
{
    const struct roof_scenario *const s = &problem->base;
    char share[ROOF_QUANTITY_SIZE];
    char tokens[ROOF_QUANTITY_SIZE];
    if (s->draft_tokens > 0) {
        const bool own = s->drafting != ROOF_DRAFTING_FREE && problem->model->predict_layers > 0;
        roof_text_printf(
            out, "  drafts:      %" PRId64 " a step, %s accepted each: %s tokens a step\n",
            s->draft_tokens, roof_format_quantity(share, s->acceptance, ROOF_UNIT_FRACTION),
            roof_format_short(tokens, roof_tokens_per_step(s)));
        roof_text_put(
            out, s->draft != NULL || own
                     ? ""
                     : "               drafting takes no time here; --draft-model MODEL adds it\n");
    }
    roof_report_media_lines(out, s, problem->model);
    if (s->prefix_hit > 0 && s->generate > 0) {
        roof_text_printf(out, "  prefix hit:  %s of each prompt is cached\n",
                         roof_format_quantity(share, s->prefix_hit, ROOF_UNIT_FRACTION));
    }
}

void roof_plan_put_prompts_json(struct roof_text *out, const struct roof_plan_problem *problem)
{
    const struct roof_scenario *const s = &problem->base;
    roof_report_media_json(out, s, problem->model);
    if (s->prefix_hit > 0) {
        roof_text_put(out, ", \"prefix_hit\": ");
        roof_text_number(out, s->prefix_hit);
    }
}

/* Names the largest power of a device, if known. */
static const char *most_drawn(const struct roof_hardware *hardware)
{
    return roof_power_most(hardware) == hardware->figure[ROOF_FIGURE_TDP].value ? "TDP"
                                                                                : "power cap";
}

/* Writes the energy per token. The product of an upper bound of the power and a lower bound of the
 * time is neither an upper nor a lower bound. */
static void put_energy(struct roof_text *out, const struct roof_plan *plan,
                       const struct roof_plan_problem *problem)
{
    const bool bound = plan->basis == ROOF_PLAN_BOUND;
    const char *const power = most_drawn(problem->hardware[plan->hardware]);
    const size_t from = out->length;
    char number[ROOF_QUANTITY_SIZE];
    if (isnan(plan->joule)) {
        return;
    }
    roof_text_printf(out, "  energy:      %s%s J per token of the devices, ",
                     bound ? "" : "at most ", roof_format_short(number, plan->joule));
    if (bound) {
        roof_text_printf(out, "at their %s and the lower bound of the time; more if it is longer",
                         power);
    } else {
        roof_text_printf(out, "if each draws its %s", power);
    }
    roof_text_put(out, "; hosts not included");
    roof_text_fold(out, from, 15);
    roof_text_put(out, "\n");
}

/* The time per token that the note on a missing limit suggests: most people read no faster. */
#define USUAL_TPOT_MS 30

/* Returns a limit on the time per token, in whole ms, that one of the plans keeps: the usual one,
 * or else the least. */
static double usual_tpot_ms(const struct roof_plans *plans)
{
    double least_s = plans->plan[0].tpot_s;
    for (size_t i = 1; i < plans->count; i++) {
        const struct roof_plan *const p = &plans->plan[i];
        least_s = p->basis == plans->plan[0].basis ? fmin(least_s, p->tpot_s) : least_s;
    }
    return fmax(USUAL_TPOT_MS, ceil(roof_to_unit(least_s, ROOF_UNIT_MILLISECONDS)));
}

/* Notes that the time per token has no limit, if the batch was chosen, the time is long, and
 * another plan has a shorter one. */
static void put_unlimited(struct roof_text *out, const struct roof_plans *plans,
                          const struct roof_plan_problem *problem)
{
    const struct roof_plan *const plan = &plans->plan[0];
    const double limit_ms = usual_tpot_ms(plans);
    if (problem->largest != ROOF_BATCHES_GIVEN && plan->batch > 1 &&
        problem->objective != ROOF_PLAN_LATENCY && isnan(problem->limit[ROOF_PLAN_LIMIT_TPOT]) &&
        roof_to_unit(plan->tpot_s, ROOF_UNIT_MILLISECONDS) > limit_ms) {
        roof_text_printf(
            out,
            "  note:        no time limit per token was given; add --max-tpot %.0fms for "
            "a smaller, faster batch\n",
            limit_ms);
    }
}

/* Notes that the plan serves more requests than were asked for, and how to ask for fewer: with a
 * smaller batch in each of its copies. */
static void put_more(struct roof_text *out, const struct roof_plan *plan,
                     const struct roof_plan_problem *problem)
{
    const double asked = problem->limit[ROOF_PLAN_LIMIT_CONCURRENCY];
    const double batch = ceil(asked / (double)plan->dp);
    const bool copies = problem->base.dp > 0; /* their number was given */
    if (problem->largest != ROOF_BATCHES_GIVEN && (double)plan->batch > batch) {
        roof_text_printf(
            out,
            "  note:        this plan serves more than the %.0f requests asked for; for "
            "%.0f add --batch %.0f",
            asked, batch * (double)plan->dp, batch);
        if (!copies) {
            roof_text_printf(out, " --dp %" PRId64, plan->dp);
        }
        roof_text_put(out, "\n");
    }
}

/* Writes the part of the expected times that the engine spends on the host. */
static void put_host_time(struct roof_text *out, const struct roof_plan *plan,
                          const struct roof_plan_problem *problem)
{
    struct roof_scenario s;
    char step[ROOF_QUANTITY_SIZE];
    char request[ROOF_QUANTITY_SIZE];
    roof_plan_scenario(&s, plan, problem);
    (void)roof_scenario_resolve(&s, problem->model, NULL); /* as in the search */
    const double step_s = roof_scenario_host_s(&s, plan->stack);
    const double request_s = roof_plan_host_s(plan, problem);
    const bool steps = step_s > 0;
    const bool requests = request_s > 0 && s.generate > 0;
    if (plan->basis == ROOF_PLAN_EXPECTED && (steps || requests)) {
        roof_format_quantity(step, step_s, ROOF_UNIT_MILLISECONDS);
        roof_format_quantity(request, request_s, ROOF_UNIT_MILLISECONDS);
        roof_text_printf(
            out, "  host time:   %s%s%s%s%s, spent by the engine (in expected times only)\n",
            steps ? step : "", steps ? " in a step" : "", steps && requests ? ", " : "",
            requests ? request : "", requests ? " before the first token" : "");
    }
}

/* Says which arrivals of requests the times assume. */
static void put_arrivals(struct roof_text *out, const struct roof_plan *plan)
{
    roof_text_put(
        out, plan->prefill.copies > 0
                 ? "  arrivals:    assumed evenly spaced, so that no prompt waits; random arrivals "
                   "lower the rate:\n               roofline simulate, or recommend --rate\n"
                 : "  arrivals:    a request starts when another ends; for random arrivals: "
                   "roofline simulate\n");
}

/* Names the engines that would have been considered, but do not run the model; or says that it is
 * unknown which do. */
static void put_unable(struct roof_text *out, const struct roof_plan_problem *problem)
{
    const struct roof_engines *const engines = problem->engines;
    const char *const class = problem->model->architecture;
    if (class != NULL && *class != '\0' && problem->unable == 0) {
        roof_text_printf(out, "  note:        no engine lists %s; check that yours runs it\n",
                         class);
    }
    const unsigned unable = roof_engines_measured(engines) & problem->unable;
    for (size_t i = 0; i < engines->count && problem->by_measured; i++) {
        if ((unable >> i & 1U) != 0) {
            roof_text_printf(out, "  note:        %s does not run %s\n", engines->engine[i].name,
                             problem->model->architecture);
        }
    }
}

/* Says that a published checkpoint has two formats. */
static void put_experts(struct roof_text *out, const struct roof_plan *plan,
                        const struct roof_plan_problem *problem)
{
    const struct roof_serving *const s = &problem->engines->serving[plan->serving];
    const char *const experts = roof_plan_experts(problem->model, s);
    if (*experts != '\0') {
        roof_text_printf(out, "  note:        %s is the published checkpoint (%s%s)\n", s->id,
                         roof_format(s->weights)->name, experts);
    }
}

/* The most tokens of a prompt that llama.cpp computes in a pass without its option -ub. */
#define LLAMA_CPP_PASS 512

/* Tells whether llama.cpp runs a plan. */
static bool runs_llama_cpp(const struct roof_plan *plan, const struct roof_engines *engines)
{
    bool runs = false;
    for (size_t i = 0; i < engines->count; i++) {
        runs = runs ||
               ((plan->engines >> i & 1U) != 0 && engines->engine[i].stack == ROOF_STACK_LLAMA_CPP);
    }
    return runs;
}

/* Names the options of llama.cpp that the first token needs if its passes are shorter by default.
 */
static void put_passes(struct roof_text *out, const struct roof_plan *plan,
                       const struct roof_plan_problem *problem)
{
    const int64_t pass = roof_plan_local_pass(plan, &problem->base);
    if (pass > LLAMA_CPP_PASS && roof_plan_computed(&problem->base) > LLAMA_CPP_PASS &&
        runs_llama_cpp(plan, problem->engines)) {
        roof_text_printf(out,
                         "  note:        the first token needs llama.cpp -b %" PRId64
                         " -ub %" PRId64 "; the default -ub %d takes longer\n",
                         pass, pass, LLAMA_CPP_PASS);
    }
}

void roof_plan_put_notes(struct roof_text *out, const struct roof_plan *plan,
                         const struct roof_plan_problem *problem)
{
    const struct roof_hardware *const hardware = problem->hardware[plan->hardware];
    struct roof_plan_row row;
    struct roof_scenario s;
    struct roof_used used;
    roof_plan_name(&row, plan, 1, problem);
    put_experts(out, plan, problem);
    put_near(out, plan->ttft_near, "first token");
    put_near(out, plan->near, "step");
    roof_plan_scenario(&s, plan, problem);
    (void)roof_scenario_resolve(&s, problem->model, NULL); /* as in the search */
    roof_used_by_scenario(&used, &s, hardware, plan->basis == ROOF_PLAN_EXPECTED);
    used.rivals = (double)roof_plan_most_members(problem);
    roof_plan_put_caveats(out, &used);
    put_passes(out, plan, problem);
    put_unable(out, problem);
    if (*hardware->architecture == '\0') {
        roof_text_printf(
            out,
            "  note:        the file of %s has no architecture: these engines may not run on it\n",
            row.hardware);
    }
    if (hardware->basis == ROOF_BASIS_DOCUMENTS && hardware->product != NULL) {
        const size_t from = out->length;
        roof_text_put(out, "  note:        ");
        roof_report_documents(out, hardware,
                              problem->product == NULL ? NULL : problem->product[plan->hardware]);
        roof_text_fold(out, from, 15);
        roof_text_put(out, "\n");
    }
    if (problem->model->positions > 0 && row.context > problem->model->positions) {
        roof_text_printf(out, "  note:        the model supports contexts up to %" PRId64 "\n",
                         problem->model->positions);
    }
}

void roof_plan_json_notes(struct roof_text *out, const char *begin, const struct roof_plan *plan,
                          const struct roof_plan_problem *problem, const struct roof_plans *plans)
{
    struct roof_text notes = ROOF_TEXT_INIT;
    put_more(&notes, plan, problem);
    put_unlimited(&notes, plans, problem);
    roof_plan_put_notes(&notes, plan, problem);
    roof_plan_put_unpriced(&notes, "", problem);
    roof_report_note_list(out, begin, &notes);
    roof_text_free(&notes);
}

/* Two plans are close if their objectives differ by at most this fraction. A shorter time per token
 * matters if it is at most this fraction of the other. */
#define CLOSE 0.01
#define SHORTER 0.75

/* Returns the fraction by which the objective of a plan differs from that of the best one. */
static double distance(const struct roof_plan *plan, const struct roof_plan *best,
                       const struct roof_plan_problem *problem)
{
    return fabs(
        roof_plan_score(plan, problem->objective) / roof_plan_score(best, problem->objective) - 1);
}

/* Tells whether a plan differs from another one by a wider KV cache. */
static bool has_wider_cache(const struct roof_plan *plan, const struct roof_plan *best,
                            const struct roof_plan_problem *problem)
{
    const struct roof_serving *const s = problem->engines->serving;
    const enum roof_precision kv[] = {s[plan->serving].kv, s[best->serving].kv};
    return strcmp(s[plan->serving].id, s[best->serving].id) == 0 &&
           roof_precision_bits(kv[0]) > roof_precision_bits(kv[1]);
}

/* Counts the merits of a plan whose objective is close to that of the best plan: less accuracy
 * loss, much less time per token, and the same formats with a wider KV cache. */
static int merits_of(const struct roof_plan *plan, const struct roof_plan *best,
                     const struct roof_plan_problem *problem)
{
    const bool close = plan->basis == best->basis && distance(plan, best, problem) <= CLOSE;
    return !close ? 0
                  : (plan->loss < best->loss) + (plan->tpot_s <= SHORTER * best->tpot_s) +
                        has_wider_cache(plan, best, problem);
}

/* Names the plan that nearly equals the best one and has the most merits, and of several of them
 * the one with the shortest time per token: "  close:       rank 3 is within 0.3%: fp8, batch 32,
 * 13.95 ms per token, accuracy loss <1%". */
static void put_close(struct roof_text *out, const struct roof_plans *plans,
                      const struct roof_plan_problem *problem)
{
    const struct roof_plan *const best = &plans->plan[0];
    size_t found = 0;
    int most = 0;
    for (size_t i = 1; i < plans->count; i++) {
        const struct roof_plan *const plan = &plans->plan[i];
        const int merits = merits_of(plan, best, problem);
        const bool shorter =
            merits > 0 && merits == most && plan->tpot_s < plans->plan[found].tpot_s;
        found = merits > most || shorter ? i : found;
        most = merits > most ? merits : most;
    }
    if (found > 0) {
        const struct roof_plan *const p = &plans->plan[found];
        struct roof_plan_row row;
        char tpot[ROOF_QUANTITY_SIZE];
        const size_t from = out->length;
        roof_plan_name(&row, p, (int)found + 1, problem);
        roof_text_printf(out, "  close:       rank %zu is within %.1f%%: %s", found + 1,
                         fmax(0.1, ceil(1000 * distance(p, best, problem)) / 10), row.formats);
        if (p->hardware != best->hardware) {
            roof_text_printf(out, " on %s", row.hardware);
        }
        if (has_wider_cache(p, best, problem)) {
            roof_text_printf(out, ", KV cache %s", roof_format(row.kv)->name);
        }
        roof_text_printf(out, ", batch %" PRId64, p->batch);
        if (!isnan(p->tpot_s)) {
            roof_text_printf(out, ", %s per token",
                             roof_format_quantity(tpot, p->tpot_s, ROOF_UNIT_MILLISECONDS));
        }
        roof_text_printf(out, ", accuracy loss %s\n", roof_accuracy_name(p->loss));
        roof_text_fold(out, from, 15);
    }
}

/* Writes the memory that the plan needs: that of each kind of copies. */
static void put_memory(struct roof_text *out, const struct roof_plan *plan)
{
    const struct roof_plan_prefill *const way = &plan->prefill;
    char most[ROOF_QUANTITY_SIZE];
    char prefill[ROOF_QUANTITY_SIZE];
    roof_text_put(out, "  memory:      ");
    if (way->copies > 0) {
        roof_text_printf(out, "decode %s, prefill %s",
                         roof_format_quantity(most, way->decode_bytes, ROOF_UNIT_CAPACITY),
                         roof_format_quantity(prefill, way->memory_bytes, ROOF_UNIT_CAPACITY));
    } else {
        roof_text_put(out, roof_format_quantity(most, plan->memory_bytes, ROOF_UNIT_CAPACITY));
    }
    roof_text_printf(out, " on each device; accuracy loss %s\n", roof_accuracy_name(plan->loss));
}

void roof_plan_put_best(struct roof_text *out, const struct roof_plans *plans,
                        const struct roof_plan *asked, const struct roof_plan_problem *problem)
{
    const struct roof_plan *const plan = &plans->plan[0];
    const bool requests = problem->base.generate > 0;
    const bool bound = plan->basis == ROOF_PLAN_BOUND;
    const char *const note = note_of(plan, requests);
    char number[ROOF_QUANTITY_SIZE];
    struct roof_plan_row row;
    roof_plan_name(&row, plan, 1, problem);
    const size_t use = out->length;
    roof_text_put(out, "Use ");
    roof_plan_describe_place(out, plan, problem);
    roof_text_put(out, plan->prefill.copies > 0 ? ",\n    " : ", ");
    roof_plan_describe_load(out, plan, problem);
    roof_text_fold(out, use, 4);
    roof_text_put(out, "\n");
    put_close(out, plans, problem);
    put_more(out, plan, problem);
    put_unlimited(out, plans, problem);
    roof_text_printf(out, "  engines:     %s\n",
                     *row.engines == '\0' ? ROOF_PLAN_NO_ENGINE : row.engines);
    if (bound) {
        put_bounds(out, plans, problem, note);
    } else {
        put_expected(out, plan, note);
    }
    put_asked(out, plan, asked);
    put_way(out, plan, problem);
    put_host_time(out, plan, problem);
    if (requests) {
        put_arrivals(out, plan);
    }
    roof_plan_put_assumed(out, problem);
    put_memory(out, plan);
    roof_plan_put_notes(out, plan, problem);
    put_energy(out, plan, problem);
    if (!isnan(plan->cost)) {
        const size_t from = out->length;
        roof_text_printf(out, "  cost:        %s%s per million generated tokens%s",
                         bound ? "at least " : "", roof_format_short(number, plan->cost),
                         requests ? ", their prompts included" : ", prompts not counted");
        roof_text_put(out, problem->objective == ROOF_PLAN_COST
                               ? ""
                               : "; --objective cost ranks plans by it");
        roof_text_fold(out, from, 15);
        roof_text_put(out, "\n");
    }
}
