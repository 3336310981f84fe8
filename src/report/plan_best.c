// SPDX-License-Identifier: MIT
/* Reports the best plan: its figures, and the commands that predict it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/shell.h"
#include "decide/input.h"
#include "predict/pass.h"
#include "predict/power.h"
#include "predict/unexpected.h"
#include "report/caveat_report.h"
#include "report/cells.h"
#include "report/media_report.h"
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
    roof_text_printf(out, "               %s%s tokens/s generated (%s per user, %s per device)\n",
                     plan->basis == ROOF_PLAN_BOUND ? "at most " : "",
                     roof_format_short(all, plan->tokens_per_s),
                     roof_format_short(user, plan->tokens_per_s_per_user),
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

/* Writes the times of the best plan if they are bounds, and why. */
static void put_bounds(struct roof_text *out, const struct roof_plan *plan,
                       const struct roof_plan_problem *problem, const char *note)
{
    char text[ROOF_UNEXPECTED_SIZE];
    const size_t line = out->length;
    const char *const why = plan->offload != ROOF_OFFLOAD_NONE
                                ? roof_unexpected_host(&problem->base)
                                : roof_unexpected_device(text, problem->hardware[plan->hardware]);
    if (why != NULL) {
        roof_text_printf(out, "  expected:    -, %s", why);
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

/* Writes the utilization of the decode copies if prefill copies are slower. */
static void put_partly(struct roof_text *out, const struct roof_plan *plan)
{
    const struct roof_plan_prefill *const way = &plan->prefill;
    const double running = ceil((double)plan->batch * way->requests / way->served);
    if (running < (double)plan->batch) {
        roof_text_printf(out,
                         "  decode:      at most %.0f of %" PRId64
                         " sequences run, since prefill is slower; steps are then shorter\n",
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
        (void)snprintf(together, sizeof together, " (%" PRId64 " at once)", way->batch);
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
    return plan->prefill.copies > 0       ? "; other copies prefill the prompts"
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

/* Says that a device has the figures of the source documents, and gives those of the shipping
 * product. */
static void put_shipped(struct roof_text *out, const struct roof_plan_problem *problem, size_t h)
{
    const struct roof_hardware *const hardware = problem->hardware[h];
    const struct roof_hardware *const product =
        problem->product == NULL ? NULL : problem->product[h];
    const size_t from = out->length;
    roof_text_printf(out, "  note:        %s has " ROOF_REPORT_DOCUMENTS "; ", hardware->id);
    if (roof_report_is_other(hardware, product)) {
        roof_text_put(out, "the shipping product has ");
        roof_report_published_words(out, hardware, product);
        roof_text_printf(out, " (-H %s)", hardware->product);
    } else {
        roof_text_printf(out, "the shipping product has " ROOF_REPORT_SAME " (-H %s)",
                         hardware->product);
    }
    roof_text_fold(out, from, 15);
    roof_text_put(out, "\n");
}

/* The time per token that the note on a missing limit suggests: most people read no faster. */
#define USUAL_TPOT_MS 30

/* Notes that the time per token has no limit, if the batch was chosen and the time is long. */
static void put_unlimited(struct roof_text *out, const struct roof_plan *plan,
                          const struct roof_plan_problem *problem)
{
    char tpot[ROOF_QUANTITY_SIZE];
    if (problem->largest != ROOF_BATCHES_GIVEN && plan->batch > 1 &&
        problem->objective != ROOF_PLAN_LATENCY && isnan(problem->limit[ROOF_PLAN_LIMIT_TPOT]) &&
        plan->tpot_s > USUAL_TPOT_MS * 1e-3) {
        roof_text_printf(out,
                         "  note:        no limit on the time per token, so the batch is large "
                         "(%s); try --max-tpot %dms\n",
                         roof_format_quantity(tpot, plan->tpot_s, ROOF_UNIT_MILLISECONDS),
                         USUAL_TPOT_MS);
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

void roof_plan_put_notes(struct roof_text *out, const struct roof_plan *plan,
                         const struct roof_plan_problem *problem)
{
    const struct roof_hardware *const hardware = problem->hardware[plan->hardware];
    struct roof_plan_row row;
    struct roof_scenario s;
    struct roof_used used;
    roof_plan_name(&row, plan, 1, problem);
    put_near(out, plan->ttft_near, "first token");
    put_near(out, plan->near, "step");
    roof_plan_scenario(&s, plan, problem);
    (void)roof_scenario_resolve(&s, problem->model, NULL); /* as in the search */
    roof_used_by_scenario(&used, &s, hardware, plan->basis == ROOF_PLAN_EXPECTED);
    used.rivals = (double)plan->devices;
    roof_plan_put_caveats(out, &used);
    put_unable(out, problem);
    if (*hardware->architecture == '\0') {
        roof_text_printf(
            out,
            "  note:        the file of %s has no architecture: these engines may not run on it\n",
            row.hardware);
    }
    if (hardware->basis == ROOF_BASIS_DOCUMENTS && hardware->product != NULL) {
        put_shipped(out, problem, plan->hardware);
    }
    if (problem->model->positions > 0 && row.context > problem->model->positions) {
        roof_text_printf(out, "  note:        the model supports contexts up to %" PRId64 "\n",
                         problem->model->positions);
    }
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

/* Counts the merits of a plan whose objective is close to that of the best plan: less accuracy
 * loss, and much less time per token. */
static int merits_of(const struct roof_plan *plan, const struct roof_plan *best,
                     const struct roof_plan_problem *problem)
{
    const bool close = plan->basis == best->basis && distance(plan, best, problem) <= CLOSE;
    return !close ? 0 : (plan->loss < best->loss) + (plan->tpot_s <= SHORTER * best->tpot_s);
}

/* Names the plan that nearly equals the best one and has the most merits: "  within 0.3%: rank 3,
 * fp8, batch 32, 13.95 ms per token, accuracy loss <1%". */
static void put_close(struct roof_text *out, const struct roof_plans *plans,
                      const struct roof_plan_problem *problem)
{
    const struct roof_plan *const best = &plans->plan[0];
    size_t found = 0;
    int most = 0;
    for (size_t i = 1; i < plans->count; i++) {
        const int merits = merits_of(&plans->plan[i], best, problem);
        found = merits > most ? i : found;
        most = merits > most ? merits : most;
    }
    if (found > 0) {
        const struct roof_plan *const p = &plans->plan[found];
        struct roof_plan_row row;
        char tpot[ROOF_QUANTITY_SIZE];
        roof_plan_name(&row, p, (int)found + 1, problem);
        roof_text_printf(out, "  within %.1f%%: rank %zu, %s",
                         fmax(0.1, ceil(1000 * distance(p, best, problem)) / 10), found + 1,
                         row.formats);
        if (p->hardware != best->hardware) {
            roof_text_printf(out, " on %s", row.hardware);
        }
        roof_text_printf(out, ", batch %" PRId64, p->batch);
        if (!isnan(p->tpot_s)) {
            roof_text_printf(out, ", %s per token",
                             roof_format_quantity(tpot, p->tpot_s, ROOF_UNIT_MILLISECONDS));
        }
        roof_text_printf(out, ", accuracy loss %s\n", roof_accuracy_name(p->loss));
    }
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
    roof_text_put(out, "Use ");
    roof_plan_describe_place(out, plan, problem);
    roof_text_put(out, plan->prefill.copies > 0 ? ",\n    " : ", ");
    roof_plan_describe_load(out, plan, problem);
    roof_text_put(out, "\n");
    put_close(out, plans, problem);
    put_unlimited(out, plan, problem);
    roof_text_printf(out, "  engines:     %s\n",
                     *row.engines == '\0' ? ROOF_PLAN_NO_ENGINE : row.engines);
    if (bound) {
        put_bounds(out, plan, problem, note);
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
    roof_text_printf(out, "  memory:      %s on each device; accuracy loss %s\n",
                     roof_format_quantity(number, plan->memory_bytes, ROOF_UNIT_CAPACITY),
                     roof_accuracy_name(plan->loss));
    roof_plan_put_notes(out, plan, problem);
    if (!isnan(plan->joule)) {
        roof_text_printf(out, "  energy:      %s%s J per token, if every device draws its %s\n",
                         bound ? "" : "at most ", roof_format_short(number, plan->joule),
                         most_drawn(problem->hardware[plan->hardware]));
    }
    if (!isnan(plan->cost)) {
        const size_t from = out->length;
        roof_text_printf(out, "  cost:        %s%s per million generated tokens%s",
                         bound ? "at least " : "", roof_format_short(number, plan->cost),
                         requests ? ", their prompts included" : ", prompts not counted");
        roof_text_put(out, problem->objective == ROOF_PLAN_COST
                               ? ""
                               : "; the ranks do not depend on it (--objective cost)");
        roof_text_fold(out, from, 15);
        roof_text_put(out, "\n");
    }
}

/* Writes the name of a model for a command line. */
static void put_reference(struct roof_text *out, const char *reference, const char *id)
{
    roof_text_shell_word(out, reference == NULL ? id : reference);
}

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

/* Writes an input that is a field of a scenario, unless it has the default. */
static void put_field(struct roof_text *out, const struct roof_input *input,
                      const struct roof_scenario *s, const struct roof_scenario *usual)
{
    char name[ROOF_INPUT_NAME_SIZE];
    if (input->kind == ROOF_INPUT_NUMBER) {
        const double value = *(const double *)(const void *)((const char *)s + input->offset);
        const double other = *(const double *)(const void *)((const char *)usual + input->offset);
        if (value != other) {
            roof_text_printf(out, " %s ", roof_input_name(name, input));
            roof_text_number(out, value);
        }
        return;
    }
    const int64_t value = roof_input_get(s, input);
    if (value == roof_input_get(usual, input)) {
        return;
    }
    roof_text_printf(out, " %s", roof_input_name(name, input));
    if (input->kind != ROOF_INPUT_FLAG) {
        roof_text_put(out, " ");
        roof_input_show(out, input, value == input->zero ? 0 : value);
    }
}

/* Writes the options for the host. */
static void put_host(struct roof_text *out, const struct roof_hardware *host)
{
    static const struct {
        enum roof_figure_id figure;
        const char *option;
    } given[] = {{ROOF_FIGURE_BANDWIDTH, "host-bandwidth"},
                 {ROOF_FIGURE_MEMORY_NOMINAL, "host-memory"}};
    if (strcmp(host->id, ROOF_HOST_ID) != 0) {
        roof_text_put(out, " --host ");
        roof_text_shell_word(out, host->reference);
    }
    for (size_t i = 0; i < COUNT(given); i++) {
        const double value = host->figure[given[i].figure].value;
        if (!isnan(value)) {
            roof_text_printf(out, " --%s ", given[i].option);
            roof_text_number(out, value / 1e9);
        }
    }
}

/* Writes all inputs of a scenario that a command takes and that are not defaults: fields of the
 * scenario, and two texts. */
static void put_inputs(struct roof_text *out, const struct roof_scenario *s,
                       enum roof_command command)
{
    const struct roof_scenario usual = usual_scenario(s);
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
        const struct roof_input *const input = roof_input(id);
        const bool length = id == ROOF_INPUT_PROMPT || id == ROOF_INPUT_GENERATE;
        if (command == ROOF_COMMAND_SIMULATE && length) {
            continue; /* a text in that command, which may be a distribution */
        }
        if (input->field && input->of != ROOF_OF_OPERATORS && roof_input_allowed(id, command)) {
            put_field(out, input, s, &usual);
        }
    }
    if (s->draft_tokens > 0 && (s->drafting != ROOF_DRAFTING_DEFAULT || s->draft != NULL)) {
        roof_text_put(out, " --draft-model ");
        if (s->draft != NULL) {
            put_reference(out, s->draft->reference, s->draft->id);
        } else {
            roof_text_put(out, s->drafting == ROOF_DRAFTING_OWN ? "mtp" : "none");
        }
    }
    if (s->offload != ROOF_OFFLOAD_NONE) {
        put_host(out, s->host);
    }
    if (s->host_time_said != NULL) {
        roof_text_put(out, " --host-time ");
        roof_text_shell_word(out, s->host_time_said);
    }
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if (s->weight[w] != ROOF_PRECISION_AUTO) {
            roof_text_printf(out, " --class %s=%s", roof_weight_name((enum roof_weight)w),
                             roof_format(s->weight[w])->name);
        }
    }
}

/* Writes the command for a scenario of a plan, without its end of line. */
static void begin_command(struct roof_text *out, const char *name, enum roof_command command,
                          const struct roof_plan_row *row, const struct roof_plan_problem *problem,
                          const struct roof_scenario *s)
{
    const struct roof_model *const model = roof_plan_model(problem, row->plan.serving);
    const char *const hardware = problem->hardware[row->plan.hardware]->reference;
    roof_text_printf(out, "  roofline %s ", name);
    put_reference(out, model->reference, model->id);
    roof_text_put(out, " -H ");
    roof_text_shell_word(out, hardware);
    if (row->layout != NULL) {
        roof_text_put(out, " --layout ");
        roof_text_shell_word(out, row->layout);
    }
    put_inputs(out, s, command);
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
                              const struct roof_plan_problem *problem)
{
    struct roof_scenario scenario;
    struct roof_plan_row row;
    roof_plan_name(&row, plan, 1, problem);
    roof_plan_scenario(&scenario, plan, problem);
    if (plan->basis == ROOF_PLAN_BOUND) {
        scenario.common.step_scale = 1; /* lower bounds have no scale, and `simulate` refuses one */
    }
    begin_command(out, "simulate", ROOF_COMMAND_SIMULATE, &row, problem, &scenario);
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
