// SPDX-License-Identifier: MIT
#include "decide/plan_predict.h"

#include <math.h>

#include "base/base.h"
#include "predict/power.h"
#include "predict/unexpected.h"

/* --- engines and their stacks --------------------------------------------------------------- */

/* Tells whether formats are those of a GGUF file. */
static bool is_gguf(const struct roof_plan_problem *problem, size_t serving)
{
    return roof_plan_of_gguf(problem) &&
           roof_serving_published(&problem->engines->serving[serving]);
}

/* Tells whether a combination of formats was named without an engine. */
static bool is_asked(const struct roof_plan_problem *problem, size_t serving)
{
    return problem->by_measured && problem->serving != NULL && problem->serving[serving];
}

unsigned roof_plan_engines(const struct roof_plan_problem *problem, size_t serving, size_t hardware)
{
    const struct roof_hardware *const device = problem->hardware[hardware];
    const bool served =
        roof_expects_times(device) && device->calibration != NULL && !device->calibration->local &&
        roof_engines_reach(problem->engines, roof_engines_measured(problem->engines), device);
    const bool any = problem->by == 0 || (problem->by_measured && !served);
    const unsigned able =
        ~problem->unable &
        (problem->base.offload == ROOF_OFFLOAD_NONE ? ~0U : problem->engines->offload);
    const unsigned run =
        roof_engines_serve(problem->engines, serving, problem->model, device) & able;
    const unsigned chosen = any ? run : run & problem->by;
    if (is_asked(problem, serving) && !roof_engines_reach(problem->engines, ~0U, device)) {
        return roof_engines_units(problem->engines, serving, device) & able;
    }
    const bool asked =
        (problem->serving != NULL && problem->serving[serving]) || is_gguf(problem, serving);
    const bool named = problem->by_measured && problem->own_stacks && asked;
    return chosen == 0 && named ? run & problem->engines->lent : chosen;
}

/* The stacks in which a plan is predicted, with the engines of each. */
struct choice {
    struct roof_stacks stacks;
    unsigned engines[ROOF_STACK_COUNT];
};

static void add_engine(struct choice *out, enum roof_stack stack, unsigned engines)
{
    struct roof_stacks *const s = &out->stacks;
    size_t i = 0;
    while (i < s->count && s->stack[i] != stack) {
        i++;
    }
    out->engines[i] = (i < s->count ? out->engines[i] : 0) | engines;
    s->stack[i] = stack;
    s->count += i == s->count;
}

/* Returns the stack of the question. Expected times of GGUF formats use that of the only engine
 * that runs them; bounds hold for all stacks. */
static enum roof_stack asked_stack(const struct roof_plan *plan, const struct roof_plan_problem *q)
{
    const struct roof_serving *const serving = &q->engines->serving[plan->serving];
    const bool file = is_gguf(q, plan->serving);
    const enum roof_stack given = (enum roof_stack)q->base.common.stack;
    const bool open = given == ROOF_STACK_BEST && plan->basis == ROOF_PLAN_EXPECTED;
    return open && (file || roof_precision_gguf(serving->weights)) ? ROOF_STACK_LLAMA_CPP : given;
}

/* Finds the distinct stacks of the engines that run a plan: that of the question if no engine runs
 * on the device. Engines whose times come with a warning only count if no other engine runs the
 * plan; those without a stack borrow all others'. */
static struct choice stacks_of(const struct roof_plan *plan, const struct roof_plan_problem *q)
{
    struct choice out = {.stacks = {.count = 0}};
    const unsigned measured = plan->engines & ~q->engines->lent;
    const unsigned taken = measured != 0 ? measured : plan->engines;
    if (!q->own_stacks || plan->basis == ROOF_PLAN_BOUND || taken == 0 ||
        !roof_engines_reach(q->engines, ~0U, q->hardware[plan->hardware])) {
        add_engine(&out, asked_stack(plan, q), plan->engines);
        return out;
    }
    for (size_t i = 0; i < q->engines->count; i++) {
        if ((taken >> i & 1U) != 0) {
            add_engine(&out, q->engines->engine[i].stack, 1U << i);
        }
    }
    return out;
}

enum roof_stack roof_plan_stack(const struct roof_plan_problem *problem, size_t serving,
                                size_t hardware, enum roof_stack preferred)
{
    const bool expects = roof_expects_times(problem->hardware[hardware]);
    const struct roof_plan plan = {.basis = expects ? ROOF_PLAN_EXPECTED : ROOF_PLAN_BOUND,
                                   .serving = serving,
                                   .hardware = hardware,
                                   .engines = roof_plan_engines(problem, serving, hardware)};
    const struct choice choice = stacks_of(&plan, problem);
    for (size_t i = 0; i < choice.stacks.count; i++) {
        if (choice.stacks.stack[i] == preferred) {
            return preferred;
        }
    }
    return choice.stacks.stack[0];
}

/* Makes a plan for each stack, without times. */
static void open_options(struct roof_plan_options *out, const struct choice *choice,
                         const struct roof_plan *plan)
{
    out->count = choice->stacks.count;
    for (size_t i = 0; i < out->count; i++) {
        out->plan[i] = *plan;
        out->plan[i].stack = choice->stacks.stack[i];
        out->plan[i].engines = choice->engines[i];
    }
}

/* --- memory -------------------------------------------------------------------------------- */

static double bytes_of(const struct roof_memory *m)
{
    return m->weights + m->kv + m->activations;
}

enum roof_status roof_plan_memory(struct roof_memory *out, struct roof_plan_predictor *p,
                                  const struct roof_plan *plan)
{
    const struct roof_model *const model = p->model[plan->serving];
    struct roof_scenario scenario;
    if (p->problem->base.generate > 0) {
        roof_plan_scenario(&scenario, plan, p->problem);
    } else {
        struct roof_scenario prefill;
        roof_plan_scenarios(&prefill, &scenario, plan, p->problem);
    }
    TRY(roof_scenario_resolve(&scenario, model, p->error));
    return roof_memory_needed(out, model, &scenario, &p->unmeasured, p->error);
}

enum roof_status roof_plan_room(double *out, struct roof_plan_predictor *p,
                                const struct roof_plan *plan)
{
    struct roof_memory memory;
    TRY(roof_plan_memory(&memory, p, plan));
    *out = roof_memory_room(&memory);
    return ROOF_OK;
}

/* --- times --------------------------------------------------------------------------------- */

/* Sets the times of a plan at bounds, without expected ones. */
static void take_bounds(struct roof_plan *plan)
{
    if (plan->basis == ROOF_PLAN_BOUND) {
        plan->ttft_s = plan->bound_ttft_s;
        plan->step_s = plan->bound_step_s;
        plan->tpot_s = plan->bound_tpot_s;
        plan->e2e_s = plan->bound_e2e_s;
        plan->near = plan->ttft_near = ROOF_UNKNOWN;
    }
}

/* Sets the times of the first token and of a step. If only engines without measured kernels run a
 * plan, all of it is estimated from other kernels. */
static void set_steps(struct roof_plan *plan, const struct roof_step_times *ttft,
                      const struct roof_step_times *decode, const struct roof_plan_problem *q)
{
    const double *const first = ttft->value;
    const double *const step = decode->value;
    const bool lent = (plan->engines & ~q->engines->lent) == 0 && plan->stack == ROOF_STACK_BEST;
    plan->ttft_s = first[ROOF_STEP_EXPECTED];
    plan->bound_ttft_s = first[ROOF_STEP_BOUND];
    plan->ttft_low_s = first[ROOF_STEP_LOW];
    plan->ttft_high_s = first[ROOF_STEP_HIGH];
    plan->ttft_near = lent ? 1 : first[ROOF_STEP_NEAR] / first[ROOF_STEP_EXPECTED];
    plan->step_s = step[ROOF_STEP_EXPECTED];
    plan->bound_step_s = step[ROOF_STEP_BOUND];
    plan->step_low_s = step[ROOF_STEP_LOW];
    plan->step_high_s = step[ROOF_STEP_HIGH];
    plan->near = lent ? 1 : step[ROOF_STEP_NEAR] / step[ROOF_STEP_EXPECTED];
}

/* Sets the times of a request in a closed loop. The expressions equal those of predictions. */
static void set_request(struct roof_plan *plan, const struct roof_request_times *t,
                        const struct roof_plan_problem *q)
{
    const double *const next = t->tpot.value;
    const bool later = q->base.generate > 1;
    set_steps(plan, &t->ttft, &t->step, q);
    plan->waits = t->waits;
    plan->tpot_s = later ? next[ROOF_STEP_EXPECTED] : ROOF_UNKNOWN;
    plan->bound_tpot_s = later ? next[ROOF_STEP_BOUND] : ROOF_UNKNOWN;
    plan->e2e_s = t->whole.value[ROOF_STEP_EXPECTED];
    plan->bound_e2e_s = t->whole.value[ROOF_STEP_BOUND];
    take_bounds(plan);
}

/* Sets the times of both phases of a plan without prompts. */
static void set_phases(struct roof_plan *plan, const struct roof_step_times *prefill,
                       const struct roof_step_times *decode, const struct roof_plan_problem *q)
{
    const double tokens = roof_tokens_per_step(&q->base);
    set_steps(plan, prefill, decode, q);
    plan->tpot_s = plan->step_s / tokens;
    plan->bound_tpot_s = plan->bound_step_s / tokens;
    plan->e2e_s = plan->bound_e2e_s = ROOF_UNKNOWN;
    take_bounds(plan);
}

/* Removes the plans with unknown times. */
static void drop_unknown(struct roof_plan_options *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct roof_plan *const plan = &out->plan[i];
        const bool request = !isnan(plan->bound_e2e_s);
        if (!isnan(plan->step_s + plan->ttft_s + (request ? plan->e2e_s : 0))) {
            out->plan[kept++] = *plan;
        }
    }
    out->count = kept;
    out->against = kept == 0 ? ROOF_REJECTED_UNKNOWN : ROOF_REJECTED_COUNT;
}

/* Returns why a plan has no prediction, if it has none although its sizes are valid: a link of its
 * devices is unknown, or energies that a power cap needs. */
static enum roof_plan_rejection against_known(const struct roof_plan *plan,
                                              const struct roof_plan_problem *q)
{
    const struct roof_hardware *const hardware = q->hardware[plan->hardware];
    const double devices = (double)roof_split_devices(&plan->split);
    struct roof_link link;
    return roof_power_capped(hardware) ||
                   (devices > 1 &&
                    roof_hardware_link(&link, hardware, devices, devices, NULL) != ROOF_OK)
               ? ROOF_REJECTED_FIGURE
               : ROOF_REJECTED_SPLIT;
}

/* Predicts requests in a closed loop. */
static enum roof_status predict_requests(struct roof_plan_options *out,
                                         struct roof_plan_predictor *p,
                                         const struct roof_plan *plan, const struct choice *choice)
{
    const struct roof_plan_problem *const q = p->problem;
    const struct roof_model *const model = p->model[plan->serving];
    struct roof_scenario asked;
    struct roof_request request;
    struct roof_memory memory;
    struct roof_request_times times = {.as_stored = true};
    roof_plan_scenario(&asked, plan, q);
    enum roof_status status = roof_scenario_resolve(&asked, model, p->error);
    if (status == ROOF_OK) {
        out->against = against_known(plan, q);
        status = roof_request_open(&request, model, &asked, q->hardware[plan->hardware], &p->memo,
                                   &choice->stacks, p->error);
    }
    if (status == ROOF_OK) {
        status = roof_request_memory(&memory, &request, p->error);
    }
    if (status != ROOF_OK) {
        return status == ROOF_USAGE ? ROOF_OK : status;
    }
    out->room = roof_memory_room(&memory);
    out->against = ROOF_REJECTED_MEMORY;
    if (memory.fits != ROOF_FIT_YES && !q->native_only) { /* a larger batch would not fit either */
        return ROOF_OK;
    }
    for (size_t i = 0; i < out->count; i++) {
        TRY(roof_request_run(&times, &request, i, p->error));
        set_request(&out->plan[i], &times, q);
        out->plan[i].memory_bytes = bytes_of(&memory);
    }
    if (q->native_only && !times.as_stored) {
        out->against = ROOF_REJECTED_NATIVE;
    } else if (memory.fits == ROOF_FIT_YES) {
        drop_unknown(out);
    }
    return ROOF_OK;
}

/* Predicts the prefill of a split without prompts; *fits tells whether it fits in memory. */
static enum roof_status predict_prefill(bool *fits, struct roof_plan_predictor *p,
                                        const struct roof_plan *plan, struct roof_scenario *prefill,
                                        const struct choice *choice)
{
    const struct roof_model *const model = p->model[plan->serving];
    p->prefilled = choice->stacks;
    TRY(roof_scenario_resolve(prefill, model, p->error));
    TRY(roof_phase_run(&p->prefill, model, prefill, p->problem->hardware[plan->hardware], &p->memo,
                       &choice->stacks, p->error));
    *fits = p->prefill.memory.fits == ROOF_FIT_YES;
    return ROOF_OK;
}

/* Returns the prefill of a split in a stack: the stacks of a larger batch are also those of a
 * smaller one. */
static const struct roof_step_times *prefill_in(const struct roof_plan_predictor *p,
                                                enum roof_stack stack)
{
    size_t i = 0;
    while (i + 1 < p->prefilled.count && p->prefilled.stack[i] != stack) {
        i++;
    }
    return &p->prefill.step[i];
}

/* Predicts a decode step, and for the first batch the prefill of a prompt. */
static enum roof_status predict_phases(struct roof_plan_options *out, struct roof_plan_predictor *p,
                                       const struct roof_plan *plan, const struct choice *choice,
                                       bool first)
{
    const struct roof_plan_problem *const q = p->problem;
    const struct roof_model *const model = p->model[plan->serving];
    struct roof_scenario prefill;
    struct roof_scenario decode;
    struct roof_phase_times step;
    bool fits = true;
    roof_plan_scenarios(&prefill, &decode, plan, q);
    enum roof_status status = roof_scenario_resolve(&decode, model, p->error);
    if (status == ROOF_OK) {
        out->against = against_known(plan, q);
        status = roof_phase_run(&step, model, &decode, q->hardware[plan->hardware], &p->memo,
                                &choice->stacks, p->error);
    }
    if (status != ROOF_OK) {
        return status == ROOF_USAGE ? ROOF_OK : status;
    }
    out->room = roof_memory_room(&step.memory);
    out->against = q->native_only && !(step.native && step.as_stored) ? ROOF_REJECTED_NATIVE
                                                                      : ROOF_REJECTED_MEMORY;
    if (out->against == ROOF_REJECTED_NATIVE || step.memory.fits != ROOF_FIT_YES) {
        return ROOF_OK; /* a larger batch would not fit either */
    }
    if (first) {
        TRY(predict_prefill(&fits, p, plan, &prefill, choice));
    }
    for (size_t i = 0; i < out->count && fits; i++) {
        set_phases(&out->plan[i], prefill_in(p, out->plan[i].stack), &step.step[i], q);
        out->plan[i].memory_bytes = bytes_of(&step.memory);
    }
    if (fits) {
        drop_unknown(out);
    }
    return ROOF_OK;
}

/* Raises the offloaded layers of a plan to those that a scenario needs. */
static enum roof_status raise_offload(struct roof_plan *plan, struct roof_plan_predictor *p,
                                      struct roof_scenario *scenario)
{
    const struct roof_model *const model = p->model[plan->serving];
    TRY(roof_scenario_resolve(scenario, model, p->error));
    TRY(roof_offload_solve(scenario, model, &p->unmeasured, p->error));
    if (roof_offload_layers(scenario->offload) > roof_offload_layers(plan->offload)) {
        plan->offload = scenario->offload;
    }
    return ROOF_OK;
}

/* Finds the fewest layers to offload, if the question leaves that open: for a request, or for both
 * phases. It stays open for models that cannot be split, which are refused later. */
static enum roof_status solve_offload(struct roof_plan *plan, struct roof_plan_predictor *p)
{
    const struct roof_plan_problem *const q = p->problem;
    struct roof_plan open = *plan;
    struct roof_scenario scenario[2];
    if (roof_offload_layers(q->base.offload) != ROOF_OFFLOAD_FIT) {
        return ROOF_OK;
    }
    open.offload = q->base.offload;
    plan->offload = 0;
    if (q->base.generate > 0) {
        roof_plan_scenario(&scenario[0], &open, q);
    } else {
        roof_plan_scenarios(&scenario[0], &scenario[1], &open, q);
    }
    enum roof_status status = raise_offload(plan, p, &scenario[0]);
    if (status == ROOF_OK && q->base.generate == 0) {
        status = raise_offload(plan, p, &scenario[1]);
    }
    return status == ROOF_USAGE ? ROOF_OK : status;
}

enum roof_status roof_plan_predict(struct roof_plan_options *out, struct roof_plan_predictor *p,
                                   const struct roof_plan *plan, bool first)
{
    const struct choice choice = stacks_of(plan, p->problem);
    struct roof_plan solved = *plan;
    out->room = ROOF_UNKNOWN;
    out->against = ROOF_REJECTED_SPLIT;
    TRY(solve_offload(&solved, p));
    plan = &solved;
    open_options(out, &choice, plan);
    return p->problem->base.generate > 0 ? predict_requests(out, p, plan, &choice)
                                         : predict_phases(out, p, plan, &choice, first);
}
