// SPDX-License-Identifier: MIT
/* The copies that serve a rate: the fewest, by each objective, at several rates, and none. */
#include "models.h"

#include "decide/plan_split.h"
#include "decide/rate.h"
#include "decide/rate_copies.h"
#include "simulate/deployment.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const ids[] = {"h100-sxm", "l40s"};

static struct {
    struct roof_hardware *hardware[COUNT(ids)];
    struct roof_model *model;
    struct roof_engines *engines;
    struct roof_plan_inputs inputs;
    struct roof_plan_answer *answer;
    struct roof_arrivals arrivals;
    struct roof_simulation_inputs load;
    struct roof_rate_plans found;
    struct roof_error error;
} world;

static int set_up(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(ids); i++) {
        world.hardware[i] = load_calibrated(ids[i]);
    }
    world.model = load("llama-3-8b");
    return roof_engines_load(&world.engines, NULL) == ROOF_OK ? 0 : -1;
}

static int tear_down(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(ids); i++) {
        free_calibrated(world.hardware[i]);
    }
    roof_model_free(world.model);
    roof_engines_free(world.engines);
    return 0;
}

/* Prompts of 1000 tokens and 100 generated, of which 99 in 100 begin within 200 ms. */
static int begin(void **unused)
{
    (void)unused;
    static const int64_t devices[] = {1, 2};
    roof_plan_inputs_init(&world.inputs);
    world.inputs.model = world.model;
    world.inputs.hardware = (const struct roof_hardware *const *)world.hardware;
    world.inputs.hardware_count = COUNT(ids);
    world.inputs.engines = world.engines;
    world.inputs.base.prompt = 1000;
    world.inputs.base.generate = 100;
    world.inputs.base.dp = 1;
    world.inputs.kind = ROOF_PLAN_AGGREGATED;
    world.inputs.devices = devices;
    world.inputs.device_counts = COUNT(devices);
    world.inputs.formats = "fp8";
    world.inputs.limit[ROOF_PLAN_LIMIT_TTFT] = 0.2;
    world.arrivals = (struct roof_arrivals){
        .prompt = {.low = 1000, .mean = 1000}, .generate = {.low = 100, .mean = 100}, .rate = 30};
    (void)roof_arrivals_read(&world.arrivals.process, "poisson", NULL);
    world.load = (struct roof_simulation_inputs){
        .limits = {.budget = 8192, .sequences = 256},
        .arrivals = &world.arrivals,
        .requests = 2500,
        .seed = 1,
        .warm_up = 0.2,
        .limit = {{0.2, 99}, {ROOF_UNKNOWN, 99}, {ROOF_UNKNOWN, 99}}};
    return 0;
}

static void search_over(const double *other, const double *weight, size_t others, size_t wanted)
{
    assert_int_equal(roof_plan_answer_open(&world.answer, &world.inputs, &world.error), ROOF_OK);
    const struct roof_rate_problem problem = {.answer = world.answer,
                                              .load = &world.load,
                                              .other = other,
                                              .others = others,
                                              .weight = weight,
                                              .wanted = wanted};
    assert_int_equal(roof_rate_search(&world.found, &problem, &world.error), ROOF_OK);
}

static void search(const double *other, size_t others, size_t wanted)
{
    search_over(other, NULL, others, wanted);
}

static int end(void **unused)
{
    (void)unused;
    roof_rate_plans_free(&world.found);
    roof_plan_answer_free(world.answer);
    world.answer = NULL;
    return 0;
}

/* Without what is not wanted, the best plan is the same; its greatest rate is searched only where
 * plans need the same. */
static void test_only_best(void **unused)
{
    (void)unused;
    static const double rates[] = {1, 30};
    static const double weights[] = {3, 1};
    for (int timed = 0; timed < 2; timed++) {
        const double *const weight = timed == 1 ? weights : NULL;
        search_over(rates, weight, COUNT(rates), 5);
        const struct roof_rate_plan all = world.found.way[0];
        const struct roof_rate_problem problem = {.answer = world.answer,
                                                  .load = &world.load,
                                                  .other = rates,
                                                  .others = COUNT(rates),
                                                  .weight = weight,
                                                  .wanted = 5,
                                                  .only_best = true};
        const double need = roof_rate_need(&world.found, &problem);
        assert_true(all.max_rate > 0 && all.headroom >= 0);
        roof_rate_plans_free(&world.found);
        assert_int_equal(roof_rate_search(&world.found, &problem, &world.error), ROOF_OK);
        const struct roof_rate_plan *const best = &world.found.way[0];
        const struct roof_rate_plan *const second = &world.found.way[1];
        assert_memory_equal(&best->plan, &all.plan, sizeof all.plan);
        assert_int_equal(world.found.others, timed == 1 ? COUNT(rates) : 0);
        assert_true(isnan(best->headroom) && best->fewer.steps == 0);
        assert_true(timed == 1 || isnan(best->max_rate) ||
                    best->plan.devices == second->plan.devices);
        assert_true(roof_rate_need(&world.found, &problem) == need);
        if (timed == 0) {
            end(NULL);
        }
    }
}

/* Returns the output tokens per second that the requests of a plan ask for. */
static double asked_tokens(const struct roof_rate_plan *way)
{
    return way->rate * way->at.tokens_per_s / way->at.completed_per_s;
}

/* The copies keep the limit, one less does not, and all figures are those of the copies. */
static void test_fewest(void **unused)
{
    (void)unused;
    search(NULL, 0, 1);
    const struct roof_rate_problem problem = {.answer = world.answer, .load = &world.load};
    assert_true(world.found.count > 1);
    assert_true(world.found.tried <= world.found.ways);
    assert_true(world.found.way[0].plan.dp == 1 || world.found.way[0].fewer.steps > 0);
    for (size_t i = 0; i < world.found.count; i++) {
        const struct roof_rate_plan *const way = &world.found.way[i];
        const struct roof_split *const split = &way->plan.split;
        assert_true(way->serves);
        assert_true(way->at.latency[ROOF_LATENCY_TTFT].p99_s <= 0.2);
        struct roof_rate_plan less = *way;
        assert_int_equal(roof_rate_fewer(&less, &problem, &world.error), ROOF_OK);
        assert_true(less.plan.dp == 1 || less.fewer.latency[ROOF_LATENCY_TTFT].p99_s > 0.2 ||
                    less.fewer.saturated);
        assert_int_equal(way->plan.devices, way->plan.dp * split->tp * split->pp);
        assert_true(i == 0 || way->plan.devices >= way[-1].plan.devices);
        assert_true(isnan(way->cost));
        assert_near(way->joule, way->plan.watt / asked_tokens(way), 1e-12);
        assert_int_equal(isnan(way->max_rate), i > 0);
    }
    const struct roof_rate_plan *const best = &world.found.way[0];
    assert_true(best->max_rate >= 30);
    assert_true(best->max_rate_low < best->max_rate && best->max_rate_high > best->max_rate);
}

/* Returns true if the copies of a plan keep the limits under the scheduler of its engine when all
 * kernels take longer by some percent. */
static bool keeps(const struct roof_rate_plan *way, double percent)
{
    const struct roof_plan *const p = &way->plan;
    struct roof_deployments d;
    struct roof_scenario scenario;
    struct roof_simulation at;
    struct roof_simulation_inputs in = world.load;
    roof_plan_scenario(&scenario, p, &world.answer->problem);
    scenario.common.shape.batch = way->sequences;
    scenario.common.step_scale = 1 + percent / 100;
    assert_int_equal(roof_deployments_open(&d, world.answer->plans.model[p->serving], &scenario,
                                           NULL, world.hardware[p->hardware], false, NULL),
                     ROOF_OK);
    in.copies = (uint64_t)p->dp;
    in.limits.budget = way->chunk;
    in.limits.sequences = way->sequences;
    roof_engine_schedule(&in.limits, way->engine);
    roof_deployments_use(&in, &d);
    assert_int_equal(roof_simulate(&at, &in, NULL), ROOF_OK);
    roof_deployments_close(&d);
    return !at.saturated && roof_simulation_meets(&at);
}

/* Only the best plan has a headroom: kernels that take one percent longer than that miss a limit.
 */
static void test_headroom(void **unused)
{
    (void)unused;
    search(NULL, 0, 2);
    const struct roof_rate_plan *const best = &world.found.way[0];
    assert_true(best->headroom > 0 && best->headroom < ROOF_RATE_HEADROOM_MAX);
    assert_true(keeps(best, best->headroom));
    assert_false(keeps(best, best->headroom + 1));
    assert_true(isnan(best[1].headroom));
    (void)end(NULL);
    world.arrivals.rate = 0.1;
    world.load.limit[ROOF_LATENCY_TTFT].time_s = 10;
    search(NULL, 0, 0);
    assert_true(world.found.way[0].headroom == ROOF_RATE_HEADROOM_MAX);
}

/* Plans run with the defaults of their engine on the device; a given budget stays. */
static void test_scheduler(void **unused)
{
    (void)unused;
    search(NULL, 0, 0);
    for (size_t i = 0; i < world.found.count; i++) {
        const struct roof_rate_plan *const way = &world.found.way[i];
        assert_non_null(way->engine);
        assert_int_equal(way->engine->stack, way->plan.stack);
        const struct roof_engine_defaults *const d =
            roof_engine_defaults(way->engine, world.hardware[way->plan.hardware]);
        assert_int_equal(way->sequences, d->max_num_seqs);
        assert_int_equal(way->usual_chunk, d->chunk);
    }
    roof_rate_plans_free(&world.found);
    world.load.limits.budget = 1024;
    const struct roof_rate_problem given = {
        .answer = world.answer, .load = &world.load, .chunk_given = true};
    assert_int_equal(roof_rate_search(&world.found, &given, &world.error), ROOF_OK);
    assert_int_equal(world.found.way[0].chunk, 1024);
}

/* So few requests end before the copies are full, and seem to need fewer of them, that more are
 * simulated; a number that is given stays. */
static void test_requests(void **unused)
{
    (void)unused;
    world.load.requests = 100;
    world.arrivals.rate = 60;
    search(NULL, 0, 0);
    const struct roof_rate_plan *const best = &world.found.way[0];
    const double flight = 60 * best->at.latency[ROOF_LATENCY_E2E].mean_s;
    assert_true(world.found.requests > 100 && (double)world.found.requests >= 5 * flight);
    roof_rate_plans_free(&world.found);
    const struct roof_rate_problem given = {
        .answer = world.answer, .load = &world.load, .requests_given = true};
    assert_int_equal(roof_rate_search(&world.found, &given, &world.error), ROOF_OK);
    assert_int_equal(world.found.requests, 100);
}

/* A price turns the order round: H100 needs fewer devices, L40S is cheaper here. */
static void test_cost(void **unused)
{
    (void)unused;
    static const double price[] = {8, 1};
    search(NULL, 0, 0);
    assert_int_equal(world.found.way[0].plan.hardware, 0);
    (void)end(NULL);
    world.inputs.price = price;
    world.inputs.objective = ROOF_PLAN_COST;
    search(NULL, 0, 0);
    const struct roof_rate_plan *const best = &world.found.way[0];
    assert_int_equal(best->plan.hardware, 1);
    assert_near(best->price, (double)best->plan.devices, 1e-12);
    assert_near(best->cost, best->price / 3600 / asked_tokens(best) * 1e6, 1e-12);
}

static void test_energy(void **unused)
{
    (void)unused;
    world.inputs.objective = ROOF_PLAN_ENERGY;
    search(NULL, 0, 0);
    for (size_t i = 1; i < world.found.count; i++) {
        const struct roof_rate_plan *const way = &world.found.way[i];
        assert_true(way->plan.watt >= way[-1].plan.watt);
        assert_true(way->plan.watt != way[-1].plan.watt || !way->serves || !way[-1].serves ||
                    fabs(way->joule / way[-1].joule - 1) < 1e-9);
    }
}

/* More requests need more copies; those of the searched rate are those of the way. */
static void test_rates(void **unused)
{
    (void)unused;
    static const double rates[] = {1, 30, 300};
    world.inputs.hardware_count = 1;
    search(rates, COUNT(rates), 0);
    assert_int_equal(world.found.others, COUNT(rates));
    assert_int_equal(world.found.other[0].plan.dp, 1);
    assert_int_equal(world.found.other[1].plan.dp, world.found.way[0].plan.dp);
    assert_true(world.found.other[2].plan.dp > world.found.other[1].plan.dp);
    for (size_t i = 0; i < COUNT(rates); i++) {
        const struct roof_rate_plan *const way = &world.found.other[i];
        assert_true(way->at.rate == rates[i] || way->rate == rates[i]);
        assert_int_equal(way->plan.devices, way->plan.dp * way->plan.split.tp * way->plan.split.pp);
        assert_true(way->at.latency[ROOF_LATENCY_TTFT].p99_s <= 0.2);
    }
}

/* A lower rate for which no copies are found has those of a greater one, with its own latencies. */
static void test_lower(void **unused)
{
    (void)unused;
    world.inputs.hardware_count = 1;
    search(NULL, 0, 0);
    const struct roof_rate_problem problem = {.answer = world.answer, .load = &world.load};
    const struct roof_rate_plan *const best = &world.found.way[0];
    struct roof_rate_plan lower = *best;
    assert_int_equal(roof_rate_lower(&lower, &problem, 5, &world.error), ROOF_OK);
    assert_true(lower.rate == 5 && lower.serves);
    assert_int_equal(lower.plan.devices, best->plan.devices);
    assert_near(lower.at.completed_per_s, 5, 0.05);
    assert_true(lower.at.latency[ROOF_LATENCY_TTFT].p99_s <
                best->at.latency[ROOF_LATENCY_TTFT].p99_s);
    assert_true(lower.excess < best->excess);
}

#define RATES 60

/* Returns the device-seconds that rates over time take, with the first of so many ways. */
static double taken_over(const double *rates, const double *weights, size_t ways)
{
    double sum = 0;
    search_over(rates, weights, RATES, ways);
    assert_int_equal(world.found.others, RATES);
    for (size_t i = 0; i < RATES; i++) {
        const struct roof_rate_plan *const way = &world.found.other[i];
        assert_true(way->rate == rates[i]);
        assert_true(i == 0 || way->plan.dp >= way[-1].plan.dp);
        sum += weights[i] * (double)way->plan.devices;
    }
    assert_int_equal(world.found.other[RATES - 1].plan.dp, world.found.way[0].plan.dp);
    return sum;
}

/* Over time each rate has the copies that it has alone, although few of the rates are simulated,
 * and of several ways one is chosen that takes no more than the first. */
static void test_over_time(void **unused)
{
    (void)unused;
    static double rates[RATES];
    static double weights[RATES];
    int64_t copies[RATES];
    for (size_t i = 0; i < RATES; i++) {
        rates[i] = 5 * (double)(i + 1);
        weights[i] = i < 10 ? 50 : 1;
    }
    world.arrivals.rate = rates[RATES - 1];
    const double first = taken_over(rates, weights, 1);
    for (size_t i = 0; i < RATES; i++) {
        copies[i] = world.found.other[i].plan.dp;
    }
    assert_true(copies[0] < copies[RATES - 1]);
    (void)end(NULL);
    search(rates, RATES, 0);
    for (size_t i = 0; i < RATES; i++) {
        assert_int_equal(world.found.other[i].plan.dp, copies[i]);
    }
    (void)end(NULL);
    assert_true(taken_over(rates, weights, 4) <= first);
}

/* A limit on a percentile below what a lone prompt takes is kept by no number of copies. */
static void test_none(void **unused)
{
    (void)unused;
    world.load.limit[ROOF_LATENCY_TTFT].time_s = 1e-3;
    search(NULL, 0, 1);
    assert_int_equal(world.found.count, 0);
    assert_int_equal(world.found.others, 0);
    assert_true(world.found.nearest.at.steps > 0 && !world.found.nearest.serves);
    assert_true(world.found.nearest.excess > 1);
    assert_near(world.found.nearest.excess,
                world.found.nearest.at.latency[ROOF_LATENCY_TTFT].p99_s / 1e-3, 1e-9);
    (void)end(NULL);
    (void)begin(NULL);
    world.arrivals.rate = 1e8; /* beyond what so many copies serve */
    search(NULL, 0, 1);
    assert_int_equal(world.found.count, 0);
    assert_int_equal(world.found.nearest.at.steps, 0);
}

/* Copies of two kinds keep the limits; without one of either kind they do not. */
static void test_halves(void **unused)
{
    (void)unused;
    world.inputs.kind = ROOF_PLAN_DISAGGREGATED;
    world.inputs.one_copy = true;
    world.inputs.hardware_count = 1;
    world.load.limit[ROOF_LATENCY_TPOT].time_s = 0.012;
    search(NULL, 0, 1);
    assert_true(world.found.count > 0);
    const struct roof_rate_plan *const best = &world.found.way[0];
    const struct roof_plan *const p = &best->plan;
    assert_true(best->serves && best->max_rate >= 30);
    assert_true(best->at.latency[ROOF_LATENCY_TTFT].p99_s <= 0.2);
    assert_true(best->at.latency[ROOF_LATENCY_TPOT].p99_s <= 0.012);
    assert_int_equal(p->devices, p->prefill.copies * roof_split_devices(&p->prefill.split) +
                                     p->dp * roof_split_devices(&p->split));
    for (int i = 0; i < 2; i++) {
        struct roof_deployments d;
        struct roof_scenario decode;
        struct roof_plan half = *p;
        struct roof_simulation less;
        half.dp -= i == 0;
        half.prefill.copies -= i == 1;
        if (half.dp == 0 || half.prefill.copies == 0) {
            continue;
        }
        roof_plan_scenario(&decode, &half, &world.answer->problem);
        decode.common.shape.batch = best->sequences;
        struct roof_scenario prefill = decode;
        roof_split_put(&prefill, &p->prefill.split);
        prefill.dp = half.prefill.copies;
        assert_int_equal(roof_deployments_open(&d, world.answer->plans.model[p->serving], &decode,
                                               &prefill, world.hardware[0], false, NULL),
                         ROOF_OK);
        struct roof_simulation_inputs in = world.load;
        in.copies = (uint64_t)half.dp;
        in.limits.sequences = best->sequences;
        roof_engine_schedule(&in.limits, best->engine);
        roof_deployments_use(&in, &d);
        assert_int_equal(roof_simulate(&less, &in, NULL), ROOF_OK);
        assert_true(less.saturated || !roof_simulation_meets(&less));
        roof_deployments_close(&d);
    }
    (void)end(NULL); /* no number of copies keeps a limit below a step */
    (void)begin(NULL);
    world.inputs.kind = ROOF_PLAN_DISAGGREGATED;
    world.inputs.one_copy = true;
    world.load.limit[ROOF_LATENCY_TPOT].time_s = 1e-4;
    search(NULL, 0, 1);
    assert_int_equal(world.found.count, 0);
    (void)end(NULL);
    (void)begin(NULL);
    world.inputs.kind = ROOF_PLAN_DISAGGREGATED;
    world.inputs.one_copy = true;
    world.arrivals.rate = 1e8; /* beyond what so many copies serve */
    search(NULL, 0, 1);
    assert_int_equal(world.found.count, 0);
}

/* Plans with pipeline stages serve where a copy without them does not fit, and are otherwise listed
 * only if they need fewer devices. */
static void test_stages(void **unused)
{
    (void)unused;
    static const int64_t devices[] = {1, 2, 4};
    struct roof_model *const large = load("llama-3.3-70b");
    world.inputs.model = large;
    world.inputs.devices = devices;
    world.inputs.device_counts = COUNT(devices);
    world.inputs.limit[ROOF_PLAN_LIMIT_TTFT] = 2;
    world.load.limit[ROOF_LATENCY_TTFT].time_s = 2;
    world.arrivals.rate = 2;
    world.inputs.base.tp = 1;
    search(NULL, 0, 0);
    size_t on[COUNT(ids)] = {0};
    int64_t least[COUNT(ids)] = {0};
    for (size_t i = 0; i < world.found.count; i++) {
        const struct roof_plan *const plan = &world.found.way[i].plan;
        const bool staged = roof_rate_staged(plan);
        assert_int_equal(staged, plan->split.pp > 1);
        on[plan->hardware] += staged ? 1 : 0;
        if (!staged && (least[plan->hardware] == 0 || plan->devices < least[plan->hardware])) {
            least[plan->hardware] = plan->devices;
        }
    }
    for (size_t i = 0; i < world.found.count; i++) {
        const struct roof_plan *const plan = &world.found.way[i].plan;
        assert_true(!roof_rate_staged(plan) || least[plan->hardware] == 0 ||
                    plan->devices < least[plan->hardware]);
    }
    assert_true(on[1] > 0 && least[1] == 0); /* 70 GB do not fit one L40S */
    roof_model_free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fewest, begin, end),
        cmocka_unit_test_setup_teardown(test_only_best, begin, end),
        cmocka_unit_test_setup_teardown(test_stages, begin, end),
        cmocka_unit_test_setup_teardown(test_headroom, begin, end),
        cmocka_unit_test_setup_teardown(test_scheduler, begin, end),
        cmocka_unit_test_setup_teardown(test_requests, begin, end),
        cmocka_unit_test_setup_teardown(test_cost, begin, end),
        cmocka_unit_test_setup_teardown(test_energy, begin, end),
        cmocka_unit_test_setup_teardown(test_rates, begin, end),
        cmocka_unit_test_setup_teardown(test_lower, begin, end),
        cmocka_unit_test_setup_teardown(test_over_time, begin, end),
        cmocka_unit_test_setup_teardown(test_none, begin, end),
        cmocka_unit_test_setup_teardown(test_halves, begin, end),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
