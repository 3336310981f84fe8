// SPDX-License-Identifier: MIT
/* The laws of queues, and what a simulation has in common with `predict`: docs/simulation.md. */
#include "models.h"

#include <math.h>
#include <stdlib.h>

#include "simulate/deployment.h"
#include "simulate/simulation.h"

/* --- steps that are planes ----------------------------------------------------------------- */

struct plane {
    double step; /* seconds */
    double sequence;
    double token;
};

static enum roof_status plane(double *out_s, void *context, const struct roof_step_load *load,
                              struct roof_error *error)
{
    const struct plane *const p = context;
    (void)error;
    *out_s = p->step + p->sequence * load->decoding + p->token * load->tokens;
    return ROOF_OK;
}

struct lab {
    struct plane plane;
    struct roof_arrivals arrivals;
    struct roof_simulation_inputs inputs;
};

static struct lab lab_of(struct plane plane, const char *process, const char *prompt,
                         const char *generate)
{
    struct lab lab = {.plane = plane};
    assert_int_equal(roof_arrivals_read(&lab.arrivals.process, process, NULL), ROOF_OK);
    assert_int_equal(roof_length_read(&lab.arrivals.prompt, "prompt", prompt, NULL), ROOF_OK);
    assert_int_equal(roof_length_read(&lab.arrivals.generate, "generate", generate, NULL), ROOF_OK);
    lab.inputs = (struct roof_simulation_inputs){
        .limits = {.budget = ROOF_BUDGET_WHOLE, .sequences = 256},
        .requests = 20000,
        .seed = 1,
        .warm_up = 0.2,
        .limit = {{(double)NAN, 99}, {(double)NAN, 99}, {(double)NAN, 99}}};
    return lab;
}

static struct roof_simulation run(struct lab *lab, double rate)
{
    struct roof_simulation out;
    struct roof_step_table *table = NULL;
    assert_int_equal(roof_step_table_open(&table, plane, &lab->plane, NULL), ROOF_OK);
    lab->arrivals.rate = rate;
    lab->inputs.arrivals = &lab->arrivals;
    lab->inputs.table = table;
    assert_int_equal(roof_simulate(&out, &lab->inputs, NULL), ROOF_OK);
    roof_simulation_free(&out);
    roof_step_table_free(table);
    return out;
}

/* --- laws ---------------------------------------------------------------------------------- */

/* Requests in the system = their rate x their time in it. */
static void test_little(void **state)
{
    (void)state;
    static const char *const processes[] = {"poisson", "constant", "gamma:3"};
    for (size_t i = 0; i < sizeof processes / sizeof *processes; i++) {
        struct lab lab = lab_of((struct plane){0.01, 0.0005, 1e-5}, processes[i],
                                "lognormal:1000:1", "lognormal:200:1");
        lab.inputs.limits.sequences = 40;
        lab.inputs.requests = 60000;
        const struct roof_simulation s = run(&lab, 4);
        const double present = s.running + s.waiting;
        assert_false(s.saturated);
        assert_near(present, s.completed_per_s * s.latency[ROOF_LATENCY_E2E].mean_s, 0.01);
    }
}

/* All that comes in goes out: steps do the work of the requests, and no more. */
static void test_work(void **state)
{
    (void)state;
    struct lab lab = lab_of((struct plane){0.001, 0.0005, 1e-5}, "poisson", "500", "21");
    lab.inputs.warm_up = 0;
    const struct roof_simulation s = run(&lab, 20);
    const double work = (double)s.steps * 0.001 + 20000 * (20 * 0.0005 + 500 * 1e-5);
    /* Requests that are still running when the last one arrives are left out. */
    assert_near(s.busy * s.duration_s, work, 0.001);
    assert_near(s.tokens_per_s, 20 * 21, 0.02);
    assert_int_equal(s.requests, 20000);
}

#define SEEDS 20
/* The least number of 20 confidence intervals of 95 % that hold: 19 are expected, and fewer than 17
 * hold once in 60 times. */
#define SEEDS_LEAST 17
#define STUDENT_19 2.093024

/* One sequence at a time, and one token: a queue with one server. W = rate E[S^2] / 2 (1 - rho).
 * The mean of all seeds is within its confidence interval. */
static void check_queue(const char *prompt, double mean, double square, double load)
{
    struct lab lab = lab_of((struct plane){0.02, 0, 1e-4}, "poisson", prompt, "1");
    const double rate = load / mean;
    const double right = mean + rate * square / (2 * (1 - load));
    double sum = 0;
    double squares = 0;
    int within = 0;
    lab.inputs.limits.sequences = 1;
    lab.inputs.requests = 50000;
    for (lab.inputs.seed = 1; lab.inputs.seed <= SEEDS; lab.inputs.seed++) {
        const struct roof_simulation s = run(&lab, rate);
        const struct roof_latency_result *const ttft = &s.latency[ROOF_LATENCY_TTFT];
        const double off = ttft->mean_s - right;
        sum += off;
        squares += off * off;
        within += fabs(off) <= ttft->mean_ci_s ? 1 : 0;
        assert_true(ttft->mean_ci_s > 0 && ttft->mean_ci_s < 0.1 * right);
        assert_near(s.busy, load, 0.02);
        assert_true(isnan(s.latency[ROOF_LATENCY_TPOT].mean_s));
    }
    const double off = sum / SEEDS;
    const double interval = STUDENT_19 * sqrt((squares / SEEDS - off * off) / (SEEDS - 1));
    if (within < SEEDS_LEAST || fabs(off) > interval || interval > 0.02 * right) {
        fail_msg("prompt %s: %.5f off %.5f, interval %.5f; %d of %d within theirs", prompt, off,
                 right, interval, within, SEEDS);
    }
}

static void test_queues(void **state)
{
    (void)state;
    check_queue("800", 0.1, 0.01, 0.5); /* M/D/1 */
    check_queue("800", 0.1, 0.01, 0.8);
    /* M/G/1: 20 ms + U(1..1600) 0.1 ms; the variance of the prompt is (1600^2 - 1) / 12. */
    check_queue("uniform:1:1600", 0.10005, 0.10005 * 0.10005 + (1600. * 1600 - 1) / 12 * 1e-8, 0.7);
}

/* With more sequences prompts share steps, which is shorter where most of a step is shared. */
static void test_shared_steps(void **state)
{
    (void)state;
    struct lab lab = lab_of((struct plane){0.09, 0, 1.25e-5}, "poisson", "800", "1");
    lab.inputs.limits.sequences = 1;
    const double alone = run(&lab, 7).latency[ROOF_LATENCY_TTFT].mean_s;
    lab.inputs.limits.sequences = 64;
    assert_true(run(&lab, 7).latency[ROOF_LATENCY_TTFT].mean_s < 0.8 * alone);
}

/* Latencies do not fall when the rate rises, since the requests are the same. */
static void test_monotone(void **state)
{
    (void)state;
    struct lab lab = lab_of((struct plane){0.01, 0.0005, 1e-5}, "poisson", "lognormal:1000:1",
                            "lognormal:200:1");
    struct roof_simulation before = {0};
    lab.inputs.requests = 8000;
    for (int step = 0; step < 15; step++) {
        const struct roof_simulation s = run(&lab, pow(1.3, step));
        for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
            const struct roof_latency_result *const a = &before.latency[i];
            const struct roof_latency_result *const b = &s.latency[i];
            /* Once all sequences run, a higher rate changes no step. */
            const double same = 1 - 1e-3;
            assert_true(b->mean_s >= same * a->mean_s && b->p50_s >= same * a->p50_s);
            assert_true(b->p90_s >= same * a->p90_s && b->p99_s >= same * a->p99_s);
            assert_true(b->p99_s >= b->p90_s && b->p90_s >= b->p50_s);
        }
        before = s;
    }
}

/* Beyond what the engine can do the requests that wait grow by the difference. */
static void test_saturation(void **state)
{
    (void)state;
    struct lab lab = lab_of((struct plane){0.05, 0, 0}, "poisson", "10", "1");
    lab.inputs.limits.sequences = 1; /* 20 per second */
    const struct roof_simulation s = run(&lab, 30);
    assert_true(s.saturated);
    assert_near(s.growth_per_s, 10, 0.05);
    assert_near(s.completed_per_s, 20, 0.01);
    assert_near(s.busy, 1, 0.001);
    assert_true(s.full_sequences > 0.9);
    assert_false(run(&lab, 19).saturated);
    /* The longer it runs, the smaller is an overload that it notices; bursts are none. */
    lab.inputs.requests = 200000;
    assert_true(run(&lab, 20.3).saturated);
    assert_false(run(&lab, 19.8).saturated);
    int bursts = 0;
    lab.inputs.requests = 2000;
    lab.arrivals.process = (struct roof_arrival_process){.kind = ROOF_ARRIVALS_GAMMA, .cv = 5};
    for (lab.inputs.seed = 1; lab.inputs.seed < 20; lab.inputs.seed++) {
        bursts += run(&lab, 17).saturated ? 1 : 0;
    }
    assert_true(bursts <= 1);
}

/* A crowd in one of 20 batches has the longest latencies, 1 to 100 steps, so the percentile is that
 * of a run that might have had none: 2.093 times the deviation of the batches. */
static void test_crowd(void **state)
{
    (void)state;
    enum { REQUESTS = 4000, BATCH = 200, CROWD = 100 };
    static struct roof_arrival trace[REQUESTS];
    struct lab lab = lab_of((struct plane){1, 0, 0}, "constant", "1", "1");
    for (int i = 0; i < REQUESTS; i++) {
        const bool crowd = i >= BATCH && i < BATCH + CROWD;
        trace[i] = (struct roof_arrival){
            .time_s = 1000. * (crowd ? BATCH : i), .prompt = 1, .generate = 1};
    }
    lab.inputs.trace = trace;
    lab.inputs.requests = REQUESTS;
    lab.inputs.warm_up = 0;
    lab.inputs.limits.sequences = 1;
    lab.inputs.limit[ROOF_LATENCY_TTFT] = (struct roof_latency_limit){1000, 99};
    const struct roof_simulation s = run(&lab, 1);
    const struct roof_latency_result *const r = &s.latency[ROOF_LATENCY_TTFT];
    assert_near(r->p99_s, 60, 1e-9); /* 40 are above it */
    assert_near(r->p99_ci_s, 2.093024 * 97 / sqrt(20), 1e-6);
    assert_true(r->limited_ci_s == r->p99_ci_s);
    lab.inputs.requests = 20 * 99; /* the percentile of a batch would be its maximum */
    assert_true(isnan(run(&lab, 1).latency[ROOF_LATENCY_TTFT].p99_ci_s));
}

/* Requests that are turned away take for ever: three of five do. */
static void test_turned_away(void **state)
{
    (void)state;
    const struct roof_arrival trace[] = {{0, 16, 2, NULL, 0},
                                         {1, 999, 1, NULL, 0},
                                         {2, 999, 1, NULL, 0},
                                         {3, 999, 1, NULL, 0},
                                         {100, 16, 2, NULL, 0}};
    static const double percents[] = {40, 41, 99, 0};
    struct lab lab = lab_of((struct plane){1, 0, 0}, "constant", "1", "1");
    lab.inputs.trace = trace;
    lab.inputs.requests = 5;
    lab.inputs.warm_up = 0;
    lab.inputs.limits.blocks = 4;
    for (int i = 0; i < 4; i++) {
        lab.inputs.limit[ROOF_LATENCY_TTFT] = (struct roof_latency_limit){10, percents[i]};
        const struct roof_simulation s = run(&lab, 1);
        assert_int_equal(s.rejected, 3);
        assert_int_equal(roof_simulation_meets(&s), i == 0);
        assert_near(s.latency[ROOF_LATENCY_TTFT].p99_s, 1, 1e-12); /* of those that were served */
    }
}

/* Goodput counts the requests that keep the limits themselves. */
static void test_limits(void **state)
{
    (void)state;
    struct lab lab = lab_of((struct plane){0.05, 0, 0}, "poisson", "10", "1");
    struct roof_latency_limit *const limit = &lab.inputs.limit[ROOF_LATENCY_TTFT];
    lab.inputs.limits.sequences = 1;
    struct roof_simulation s = run(&lab, 15);
    const struct roof_latency_result free = s.latency[ROOF_LATENCY_TTFT];
    assert_true(roof_simulation_meets(&s) && isnan(free.limited_s));
    assert_near(s.goodput_per_s, s.completed_per_s, 1e-12);

    *limit = (struct roof_latency_limit){free.p90_s, 90};
    s = run(&lab, 15);
    assert_true(roof_simulation_meets(&s));
    assert_true(s.latency[ROOF_LATENCY_TTFT].limited_s == free.p90_s);
    assert_near(s.goodput_per_s, 0.9 * s.completed_per_s, 0.01);

    limit->percent = 91;
    s = run(&lab, 15);
    assert_false(roof_simulation_meets(&s));
    *limit = (struct roof_latency_limit){free.mean_s * 1.0001, 0};
    s = run(&lab, 15);
    assert_true(roof_simulation_meets(&s));
    assert_true(s.latency[ROOF_LATENCY_TTFT].limited_s == free.mean_s);
    /* One request in a hundred, and more, waits for nothing but its own step. */
    *limit = (struct roof_latency_limit){1, 1};
    s = run(&lab, 15);
    assert_near(s.latency[ROOF_LATENCY_TTFT].limited_s, 0.05, 1e-9);
}

static void test_limit_texts(void **state)
{
    (void)state;
    struct roof_latency_limit limit;
    struct roof_error e = {0};
    assert_int_equal(roof_latency_limit_read(&limit, "max_ttft", "1s", &e), ROOF_OK);
    assert_true(limit.time_s == 1 && limit.percent == 99);
    assert_int_equal(roof_latency_limit_read(&limit, "max_ttft", "p99.9:20ms", &e), ROOF_OK);
    assert_true(limit.time_s == 0.02 && limit.percent == 99.9);
    assert_int_equal(roof_latency_limit_read(&limit, "max_ttft", "mean:20ms", &e), ROOF_OK);
    assert_true(limit.percent == 0);
    assert_int_equal(roof_latency_limit_read(&limit, "max_ttft", "p0:20ms", &e), ROOF_USAGE);
    assert_int_equal(roof_latency_limit_read(&limit, "max_ttft", "p101:20ms", &e), ROOF_USAGE);
    assert_int_equal(roof_latency_limit_read(&limit, "max_ttft", "p99:20", &e), ROOF_USAGE);
    assert_int_equal(roof_latency_limit_read(&limit, "max_ttft", "median:1s", &e), ROOF_USAGE);
    assert_string_equal(
        e.message,
        "max_ttft must be a time, pNN:TIME or mean:TIME, such as p99:500ms, not 'median:1s'");
}

/* One seed gives the same numbers, another one others that are close. */
static void test_seed(void **state)
{
    (void)state;
    struct lab lab = lab_of((struct plane){0.01, 0.0005, 1e-5}, "gamma:1.5", "lognormal:1000:1",
                            "uniform:1:400");
    const struct roof_simulation a = run(&lab, 6);
    const struct roof_simulation b = run(&lab, 6);
    assert_memory_equal(&a.latency, &b.latency, sizeof a.latency);
    assert_true(a.steps == b.steps && a.running == b.running);
    lab.inputs.seed = 2;
    const struct roof_simulation c = run(&lab, 6);
    const struct roof_latency_result *const ttft = &a.latency[ROOF_LATENCY_TTFT];
    assert_true(c.latency[ROOF_LATENCY_TTFT].mean_s != ttft->mean_s);
    assert_near(c.latency[ROOF_LATENCY_TTFT].mean_s, ttft->mean_s, 0.1);
}

/* A trace is served as it is, to its end, and what never fits is turned away. */
static void test_trace(void **state)
{
    (void)state;
    const struct roof_arrival trace[] = {
        {0, 16, 2, NULL, 0}, {0.5, 999, 1, NULL, 0}, {10, 16, 2, NULL, 0}};
    struct lab lab = lab_of((struct plane){1, 0, 0}, "constant", "1", "1");
    lab.inputs.trace = trace;
    lab.inputs.requests = 3;
    lab.inputs.warm_up = 0;
    lab.inputs.limits.blocks = 4;
    const struct roof_simulation s = run(&lab, 1);
    assert_int_equal(s.requests, 2);
    assert_int_equal(s.rejected, 1);
    assert_near(s.duration_s, 12, 1e-12);
    assert_near(s.busy, 4. / 12, 1e-12);
    assert_near(s.completed_per_s, 2. / 12, 1e-12);
    assert_near(s.latency[ROOF_LATENCY_E2E].mean_s, 2, 1e-12);
    assert_true(isnan(s.latency[ROOF_LATENCY_E2E].mean_ci_s));
}

/* --- what `predict` says ------------------------------------------------------------------- */

struct plan {
    struct roof_model *model;
    struct roof_model *draft; /* NULL: none */
    struct roof_hardware *hardware;
    struct roof_deployment deployment;
    struct roof_model_prediction *predicted;
};

static void open_scenario(struct plan *out, const struct roof_scenario *s)
{
    out->model = load(s->attention_dp > 1 ? "mixtral-8x7b" : "llama-3-8b");
    out->hardware = load_calibrated("h100-sxm");
    out->predicted = calloc(1, sizeof *out->predicted);
    assert_non_null(out->predicted);
    assert_int_equal(roof_predict_model(out->predicted, out->model, s, out->hardware, NULL),
                     ROOF_OK);
    assert_int_equal(
        roof_deployment_open(&out->deployment, out->model, s, out->hardware, false, NULL), ROOF_OK);
}

static void open_plan(struct plan *out, int64_t prompt, int64_t generate, int64_t batch,
                      int64_t chunk, int64_t pp)
{
    struct roof_scenario s;
    out->draft = NULL;
    roof_scenario_init(&s);
    s.prompt = prompt;
    s.generate = generate;
    s.common.shape.batch = batch;
    s.chunk = chunk;
    s.pp = pp;
    open_scenario(out, &s);
}

/* A plan with experts, and with groups of the attention. */
static void open_groups(struct plan *out, int64_t groups, int64_t tp, int64_t batch, int64_t chunk)
{
    struct roof_scenario s;
    out->draft = NULL;
    roof_scenario_init(&s);
    s.prompt = 1000;
    s.generate = 300;
    s.common.shape.batch = batch;
    s.chunk = chunk;
    s.tp = tp;
    s.attention_dp = groups;
    s.moe_ep = groups * tp;
    open_scenario(out, &s);
}

/* A plan with short prompts, and drafts of a small model. */
static void open_drafting(struct plan *out, int64_t batch, int64_t drafts, double acceptance)
{
    struct roof_scenario s;
    roof_scenario_init(&s);
    out->draft = load("llama-3.2-1b");
    s.prompt = 100;
    s.generate = 2001;
    s.common.shape.batch = batch;
    s.chunk = 8192;
    s.draft_tokens = drafts;
    s.acceptance = acceptance;
    s.draft = out->draft;
    open_scenario(out, &s);
}

static void close_plan(struct plan *plan)
{
    roof_deployment_close(&plan->deployment);
    free(plan->predicted);
    free_calibrated(plan->hardware);
    roof_model_free(plan->model);
    roof_model_free(plan->draft);
}

/* Runs a closed loop of as many requests as the plan has in flight. */
static struct roof_simulation loop(const struct plan *plan, int64_t requests)
{
    const struct roof_scenario *const s = &plan->deployment.scenario;
    struct roof_simulation out;
    const struct roof_arrivals arrivals = {
        .prompt = {.low = s->prompt}, .generate = {.low = s->generate}, .rate = 1};
    struct roof_simulation_inputs inputs = {
        .table = plan->deployment.table,
        .limits = {.budget = s->chunk, .sequences = s->common.shape.batch},
        .arrivals = &arrivals,
        .requests = (uint64_t)requests,
        .concurrency = (uint64_t)s->common.shape.batch,
        .warm_up = 0.2,
        .limit = {{(double)NAN, 0}, {(double)NAN, 0}, {(double)NAN, 0}}};
    roof_deployment_limit(&inputs.limits, &plan->deployment);
    assert_int_equal(roof_simulate(&out, &inputs, NULL), ROOF_OK);
    roof_simulation_free(&out);
    return out;
}

/* One request at a time and a budget without end: predict's own times. */
static void test_one_request(void **state)
{
    (void)state;
    static const int64_t prompts[] = {1000, 2048, 7777};
    for (size_t i = 0; i < 3; i++) {
        struct plan plan;
        open_plan(&plan, prompts[i], 200, 1, ROOF_CHUNK_WHOLE, 1);
        const struct roof_simulation s = loop(&plan, 10);
        const struct roof_model_prediction *const p = plan.predicted;
        assert_near(s.latency[ROOF_LATENCY_TTFT].mean_s, p->expected_ttft_s, 0.005);
        assert_near(s.latency[ROOF_LATENCY_TPOT].mean_s, p->expected_tpot_s, 0.002);
        assert_near(s.latency[ROOF_LATENCY_E2E].mean_s, p->expected_e2e_s, 0.002);
        close_plan(&plan);
    }
}

/* A closed loop tends to the formulas of `predict` and `recommend`: tpot and tokens/s. */
static void test_closed_loop(void **state)
{
    (void)state;
    static const struct {
        int64_t prompt, generate, batch, chunk;
    } cases[] = {{2000, 1000, 4, 8192},
                 {2000, 1000, 32, 8192},
                 {500, 2000, 128, 8192},
                 {8000, 500, 8, 2048},
                 {4000, 100, 16, 2000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan;
        open_plan(&plan, cases[i].prompt, cases[i].generate, cases[i].batch, cases[i].chunk, 1);
        const struct roof_simulation s = loop(&plan, 40 * cases[i].batch);
        const struct roof_model_prediction *const p = plan.predicted;
        assert_near(s.latency[ROOF_LATENCY_TPOT].mean_s, p->expected_tpot_s, 0.03);
        assert_near(s.tokens_per_s, p->expected_tokens_per_s, 0.03);
        assert_near(s.latency[ROOF_LATENCY_TTFT].mean_s, p->expected_ttft_s, 0.3);
        close_plan(&plan);
    }
}

/* With groups of the attention, each of which has a budget. If all shared one, 1024 requests would
 * have a third of the tokens per second. */
static void test_closed_loop_of_groups(void **state)
{
    (void)state;
    static const struct {
        int64_t groups, tp, batch, chunk;
    } cases[] = {{4, 1, 64, 1000}, {4, 1, 1024, 1000}, {8, 1, 256, 512}, {2, 2, 256, 2048}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan;
        open_groups(&plan, cases[i].groups, cases[i].tp, cases[i].batch, cases[i].chunk);
        const struct roof_simulation s = loop(&plan, 40 * cases[i].batch);
        assert_near(s.latency[ROOF_LATENCY_TPOT].mean_s, plan.predicted->expected_tpot_s, 0.1);
        assert_near(s.tokens_per_s, plan.predicted->expected_tokens_per_s, 0.1);
        close_plan(&plan);
    }
}

/* Drafts: a closed loop of long requests has the time per token of `predict`. */
static void test_drafts(void **state)
{
    (void)state;
    static const struct {
        int64_t batch, drafts;
        double acceptance;
    } cases[] = {{1, 3, 0.7}, {8, 1, 0.5}, {32, 4, 0.8}, {64, 2, 0.9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan;
        open_drafting(&plan, cases[i].batch, cases[i].drafts, cases[i].acceptance);
        const struct roof_simulation s = loop(&plan, 40 * cases[i].batch);
        assert_near(s.latency[ROOF_LATENCY_TPOT].mean_s, plan.predicted->expected_tpot_s, 0.01);
        assert_near(s.tokens_per_s, plan.predicted->expected_tokens_per_s, 0.03);
        assert_near(s.tokens_per_step, plan.predicted->tokens_per_step, 0.01);
        close_plan(&plan);
    }
}

/* Drafts of which none is accepted cost time and bring nothing; of those that are all accepted a
 * step brings one token more than there are. */
static void test_acceptance(void **state)
{
    (void)state;
    struct plan plain;
    struct plan none;
    struct plan all;
    open_drafting(&plain, 4, 0, 0.7);
    open_drafting(&none, 4, 3, 0);
    open_drafting(&all, 4, 3, 1);
    const struct roof_simulation a = loop(&plain, 40);
    const struct roof_simulation b = loop(&none, 40);
    const struct roof_simulation c = loop(&all, 40);
    assert_true(isnan(a.tokens_per_step));
    assert_true(b.tokens_per_step == 1);
    assert_true(c.tokens_per_step == 4); /* 2000 tokens are 500 steps */
    assert_true(b.step_s > 1.2 * a.step_s);
    assert_near(c.step_s, b.step_s, 0.01);
    assert_near(b.tokens_per_s / a.tokens_per_s, a.step_s / b.step_s, 0.01);
    assert_near(c.tokens_per_s / b.tokens_per_s, 4, 0.01);
    close_plan(&plain);
    close_plan(&none);
    close_plan(&all);
}

/* A pipeline: one request takes what `predict` says, unless its chunks follow each other; a closed
 * loop of steps that are alike tends to the formulas of `predict`, and none is faster. With large
 * chunks among short steps the stages wait for each other. */
static void test_pipeline(void **state)
{
    (void)state;
    static const struct {
        int64_t prompt, generate, batch, chunk, pp;
        double least; /* of the tokens per second of `predict` */
    } cases[] = {{1000, 200, 8, 8192, 2, 0.97},
                 {1000, 200, 64, 8192, 2, 0.95},
                 {1000, 200, 8, 8192, 4, 0.97},
                 {1000, 200, 64, 8192, 4, 0.95},
                 {2000, 200, 1, ROOF_CHUNK_WHOLE, 2, 0.995},
                 {2000, 200, 1, ROOF_CHUNK_WHOLE, 4, 0.995},
                 {100, 2000, 2, 8192, 2, 0.97},
                 {100, 2000, 64, 8192, 2, 0.97},
                 {100, 2000, 32, 8192, 4, 0.97},
                 {4000, 20, 64, 512, 4, 0.9},
                 {4000, 20, 64, 8192, 4, 0.59}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan;
        open_plan(&plan, cases[i].prompt, cases[i].generate, cases[i].batch, cases[i].chunk,
                  cases[i].pp);
        const struct roof_simulation s = loop(&plan, 20 * cases[i].batch);
        const double part = s.tokens_per_s / plan.predicted->expected_tokens_per_s;
        assert_true(part > cases[i].least && part < 1.02);
        close_plan(&plan);
    }
    /* Four chunks are out after 4 + 3 turns, of which each takes a stage. */
    struct plan plan;
    open_plan(&plan, 8192, 2, 1, 2048, 4);
    const struct roof_simulation s = loop(&plan, 10);
    assert_near(s.latency[ROOF_LATENCY_TTFT].mean_s, plan.predicted->expected_ttft_s, 0.05);
    close_plan(&plan);
}

/* The cache has the blocks that the memory leaves: 80 GiB less a tenth, weights and activations. */
static void test_blocks(void **state)
{
    (void)state;
    struct plan plan;
    open_plan(&plan, 1000, 24, 8, 8192, 1);
    const struct roof_deployment *const d = &plan.deployment;
    assert_near(d->kv_bytes_per_token, 131072, 1e-12);
    assert_near(d->memory.weights, 16060522496., 1e-12);
    const double rest = 0.9 * 80 * 1024. * 1024 * 1024 - 16060522496. - d->memory.activations;
    assert_int_equal(d->blocks, (int64_t)(rest / 131072 / 16));
    close_plan(&plan);
}

/* Requests with ids; each third has a prompt that never fits. */
struct named {
    uint64_t ids[8];
    uint64_t given;
    uint64_t ended;
};

static enum roof_status next_named(struct roof_arrival *out, uint64_t number, void *context,
                                   struct roof_error *error)
{
    struct named *const named = context;
    (void)error;
    named->given++;
    *out = (struct roof_arrival){.time_s = (double)number,
                                 .prompt = number % 3 == 2 ? 10000 : 100,
                                 .generate = 2,
                                 .ids = named->ids};
    return ROOF_OK;
}

static void end_named(void *context, const uint64_t *ids)
{
    struct named *const named = context;
    assert_ptr_equal(ids, named->ids);
    named->ended++;
}

/* The ids of every request go back to their source once, also those of a rejected one. */
static void test_ids_return(void **state)
{
    (void)state;
    struct named named = {.given = 0};
    const struct roof_request_source source = {
        .next = next_named, .end_ids = end_named, .context = &named};
    struct lab lab = lab_of((struct plane){.step = 1e-3}, "constant", "100", "2");
    lab.inputs.source = &source;
    lab.inputs.requests = 30;
    lab.inputs.warm_up = 0;
    lab.inputs.limits.blocks = 100; /* of 16 tokens */
    const struct roof_simulation s = run(&lab, 1);
    assert_int_equal(s.rejected, 10);
    assert_int_equal(named.given, 30);
    assert_int_equal(named.ended, 30);
}

static void test_no_room(void **state)
{
    (void)state;
    struct roof_model *const model = load("llama-3-70b");
    struct roof_hardware *const hardware = load_calibrated("h100-sxm");
    struct roof_deployment d;
    struct roof_scenario s;
    struct roof_error e = {0};
    roof_scenario_init(&s);
    s.prompt = 100;
    s.generate = 10;
    assert_int_equal(roof_deployment_open(&d, model, &s, hardware, false, &e), ROOF_UNSATISFIED);
    assert_non_null(strstr(e.message, "leaves no memory for a KV cache"));
    roof_deployment_close(&d);
    roof_model_free(model);
    free_calibrated(hardware);
}

/* The intervals of a simulation have its means: all that ran and waited is in them. */
static void test_timeline(void **state)
{
    (void)state;
    static const int64_t stages[] = {1, 3};
    for (size_t k = 0; k < 2; k++) {
        struct plan plan;
        struct roof_timeline t = {0};
        struct roof_moment sum = {0};
        struct roof_simulation s;
        open_plan(&plan, 1000, 100, 8, 8192, stages[k]);
        const struct roof_arrivals arrivals = {
            .prompt = {.low = 1000}, .generate = {.low = 100}, .rate = 12};
        struct roof_simulation_inputs inputs = {
            .table = plan.deployment.table,
            .limits = {.budget = 8192, .sequences = 4, .timeline = &t},
            .copies = 2,
            .arrivals = &arrivals,
            .requests = 500,
            .seed = 1,
            .keep = true,
            .limit = {{(double)NAN, 0}, {(double)NAN, 0}, {(double)NAN, 0}}};
        roof_deployment_limit(&inputs.limits, &plan.deployment);
        assert_int_equal(roof_simulate(&s, &inputs, NULL), ROOF_OK);
        for (size_t i = 0; i < roof_timeline_count(&t); i++) {
            const struct roof_moment m = roof_timeline_moment(&t, i);
            const double time = fmin(t.width_s, t.end_s - m.time_s);
            sum.running += time * m.running;
            sum.waiting += time * m.waiting;
            assert_true(m.running >= 0 && m.running < 8.001 && m.waiting > -1e-6);
            assert_true(m.blocks >= 0 && m.blocks <= 2 * (double)inputs.limits.blocks);
        }
        double there = 0; /* each request is there from its arrival to its last token */
        for (uint64_t i = 0; i < s.served_count; i++) {
            there += s.served[i].last_s - s.served[i].arrival_s;
        }
        assert_near(sum.running + sum.waiting, there, 1e-6);
        assert_true(sum.waiting > 0.01 * there);
        roof_simulation_free(&s);
        close_plan(&plan);
    }
}

/* The time of a step bends, so that the table is exact at few contexts. */
static enum roof_status curve(double *out_s, void *context, const struct roof_step_load *load,
                              struct roof_error *error)
{
    (void)context;
    (void)error;
    *out_s = 1e-3 * (1 + 0.07 * load->decoding * (1 + load->context / 900) + 0.013 * load->tokens) +
             1e-4 * load->decoding * sqrt(load->context) + 1e-5 * sqrt(load->longest);
    return ROOF_OK;
}

static struct roof_simulation run_curve(struct lab *lab, struct roof_timeline *timeline, bool waits)
{
    struct roof_simulation out;
    struct roof_step_table *table = NULL;
    assert_int_equal(roof_step_table_open(&table, curve, NULL, NULL), ROOF_OK);
    assert_int_equal(waits ? roof_step_table_longest(table, NULL) : ROOF_OK, ROOF_OK);
    lab->inputs.arrivals = lab->inputs.trace == NULL ? &lab->arrivals : NULL;
    lab->inputs.table = table;
    lab->inputs.limits.timeline = timeline;
    lab->inputs.keep = true;
    assert_int_equal(roof_simulate(&out, &lab->inputs, NULL), ROOF_OK);
    roof_step_table_free(table);
    return out;
}

/* Steps that differ only in their contexts are run together, unless a timeline looks at each: the
 * answer is the same to the last bit. */
static void check_alike(struct lab *lab, bool waits)
{
    struct roof_timeline timeline = {0};
    struct roof_simulation one = run_curve(lab, &timeline, waits);
    struct roof_simulation many = run_curve(lab, NULL, waits);
    for (uint64_t i = 0; i < one.served_count; i++) {
        assert_true(one.served[i].last_s == many.served[i].last_s);
        assert_true(one.served[i].first_s == many.served[i].first_s);
        assert_int_equal(one.served[i].preemptions, many.served[i].preemptions);
        assert_int_equal(one.served[i].cached, many.served[i].cached);
    }
    roof_simulation_free(&one);
    roof_simulation_free(&many);
    assert_int_equal(one.steps, many.steps);
    assert_true(one.busy == many.busy && one.running == many.running);
    assert_true(one.waiting == many.waiting && one.step_s == many.step_s);
    assert_true(one.full_budget == many.full_budget && one.full_memory == many.full_memory);
    assert_true(one.full_sequences == many.full_sequences);
    assert_near(one.waited_memory, many.waited_memory, 1e-9);
    assert_near(one.waited_sequences, many.waited_sequences, 1e-9);
    assert_true(lab->inputs.limits.blocks == 0 || one.kv_use == many.kv_use);
}

static void test_alike(void **state)
{
    (void)state;
    static const struct roof_scheduler_limits engines[] = {
        {.budget = 300},
        {.budget = 300, .budget_has_decode = true},
        {.budget = 5, .budget_has_decode = true},
        {.budget = 300, .separates = true},
        {.budget = 5, .budget_has_decode = true, .separates = true},
        {.budget = 300, .reserves = true},
        {.budget = ROOF_BUDGET_WHOLE, .overhead_s = 0.05},
    };
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        for (int c = 0; c < 16; c++) {
            struct lab lab = lab_of((struct plane){0, 0, 0}, "gamma:2", "uniform:1:300",
                                    c % 2 == 0 ? "uniform:1:200" : "uniform:1:3");
            lab.inputs.limits = engines[i];
            lab.inputs.limits.sequences = c / 2 % 2 == 0 ? 100 : 4;
            lab.inputs.limits.blocks = c / 4 % 2 == 0 ? 0 : 150;
            lab.inputs.concurrency = c / 8 % 2 == 0 ? 0 : 30;
            lab.inputs.requests = 400;
            lab.arrivals.rate = 20;
            check_alike(&lab, i % 2 == 1);
            check_alike(&lab, i % 2 == 0);
        }
    }
}

/* A caller that asks only for the verdict gets it sooner if a limit is missed, and otherwise the
 * same result. */
static void test_verdict(void **state)
{
    (void)state;
    static const double limits[] = {0.02, 0.05, 0.1, 0.2, 0.5, 2};
    size_t stops = 0;
    for (size_t i = 0; i < 2 * sizeof limits / sizeof *limits; i++) {
        struct lab lab =
            lab_of((struct plane){0.01, 0.0001, 1e-5}, "gamma:2", "uniform:1:300", "uniform:1:20");
        lab.inputs.requests = 400;
        lab.inputs.limit[ROOF_LATENCY_TTFT] =
            (struct roof_latency_limit){limits[i / 2], i % 2 == 0 ? 50 : 99};
        const struct roof_simulation whole = run(&lab, 30);
        lab.inputs.verdict = true;
        const struct roof_simulation asked = run(&lab, 30);
        assert_int_equal(asked.stopped, !whole.latency[ROOF_LATENCY_TTFT].met);
        stops += asked.stopped ? 1 : 0;
        assert_true(asked.stopped || asked.steps == whole.steps);
        assert_true(asked.stopped ||
                    asked.latency[ROOF_LATENCY_E2E].p99_s == whole.latency[ROOF_LATENCY_E2E].p99_s);
    }
    assert_true(stops > 0 && stops < 2 * sizeof limits / sizeof *limits);
}

/* Prompts that have steps alone in a pipeline end although the cache has room for a chunk of the
 * next one but not for all of it. */
static void test_stages_end(void **state)
{
    (void)state;
    struct roof_simulation out;
    struct roof_step_table *table = NULL;
    struct lab lab = lab_of((struct plane){0.01, 0.0001, 0}, "poisson", "200", "40");
    assert_int_equal(roof_step_table_open(&table, plane, &lab.plane, NULL), ROOF_OK);
    lab.inputs.table = table;
    lab.inputs.arrivals = &lab.arrivals;
    lab.inputs.limits = (struct roof_scheduler_limits){
        .budget = 50, .sequences = 50, .blocks = 40, .stages = 2, .path = table, .separates = true};
    lab.inputs.requests = 200;
    lab.arrivals.rate = 50;
    assert_int_equal(roof_simulate(&out, &lab.inputs, NULL), ROOF_OK);
    assert_true(out.preemptions > 0);
    roof_step_table_free(table);
}

/* A prefix cache gives up blocks that no sequence uses when a step needs them. */
static void test_alike_prefixes(void **state)
{
    (void)state;
    enum { COUNT_OF = 300, PARTS = 12 };
    static struct roof_arrival trace[COUNT_OF];
    static uint64_t ids[COUNT_OF][PARTS];
    for (uint64_t i = 0; i < COUNT_OF; i++) {
        for (uint64_t p = 0; p < PARTS; p++) {
            ids[i][p] = p < 1 + i % 5 ? 1000 * (i % 7) + p : 10000 + i * PARTS + p;
        }
        trace[i] = (struct roof_arrival){.time_s = (double)i * 0.07,
                                         .prompt = ROOF_BLOCK_TOKENS * PARTS - (int64_t)(i % 20),
                                         .generate = 1 + (int64_t)(i * 37 % 90),
                                         .ids = ids[i]};
    }
    for (int c = 0; c < 4; c++) {
        struct lab lab = lab_of((struct plane){0, 0, 0}, "poisson", "1", "1");
        lab.inputs.trace = trace;
        lab.inputs.requests = COUNT_OF;
        lab.inputs.limits.budget = 100;
        lab.inputs.limits.part_blocks = 1;
        lab.inputs.limits.reserves = c / 2 == 1;
        lab.inputs.limits.blocks = c % 2 == 0 ? 60 : 400;
        check_alike(&lab, c < 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_little),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_verdict),
        cmocka_unit_test(test_stages_end),
        cmocka_unit_test(test_queues),
        cmocka_unit_test(test_shared_steps),
        cmocka_unit_test(test_monotone),
        cmocka_unit_test(test_saturation),
        cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_turned_away),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limit_texts),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_alike_prefixes),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_one_request),
        cmocka_unit_test(test_closed_loop),
        cmocka_unit_test(test_closed_loop_of_groups),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_ids_return),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_drafts),
        cmocka_unit_test(test_acceptance),
        cmocka_unit_test(test_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
