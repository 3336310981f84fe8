// SPDX-License-Identifier: MIT
/* The copies that serve a rate: the fewest, by each objective, at several rates, and none. */
#include "models.h"

#include "decide/plan_split.h"
#include "decide/rate.h"
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
        .requests = 2000,
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

/* The copies keep the limit, one less does not, and all figures are those of the copies. */
static void test_fewest(void **unused)
{
    (void)unused;
    search(NULL, 0, 1);
    assert_true(world.found.count > 1);
    assert_true(world.found.tried <= world.found.ways);
    for (size_t i = 0; i < world.found.count; i++) {
        const struct roof_rate_plan *const way = &world.found.way[i];
        const struct roof_split *const split = &way->plan.split;
        assert_true(way->serves);
        assert_true(way->at.latency[ROOF_LATENCY_TTFT].p99_s <= 0.2);
        assert_true(way->plan.dp == 1 || way->fewer.latency[ROOF_LATENCY_TTFT].p99_s > 0.2 ||
                    way->fewer.saturated);
        assert_int_equal(way->plan.devices, way->plan.dp * split->tp * split->pp);
        assert_true(i == 0 || way->plan.devices >= way[-1].plan.devices);
        assert_true(isnan(way->cost));
        assert_near(way->joule, way->plan.watt / way->at.tokens_per_s, 1e-12);
        assert_int_equal(isnan(way->max_rate), i > 0);
    }
    const struct roof_rate_plan *const best = &world.found.way[0];
    assert_true(best->max_rate >= 30);
    assert_true(best->max_rate_low < best->max_rate && best->max_rate_high > best->max_rate);
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
    assert_near(best->cost, best->price / 3600 / best->at.tokens_per_s * 1e6, 1e-12);
}

static void test_energy(void **unused)
{
    (void)unused;
    world.inputs.objective = ROOF_PLAN_ENERGY;
    search(NULL, 0, 0);
    for (size_t i = 1; i < world.found.count; i++) {
        assert_true(world.found.way[i].plan.watt >= world.found.way[i - 1].plan.watt);
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
        decode.common.shape.batch = world.load.limits.sequences;
        struct roof_scenario prefill = decode;
        roof_split_put(&prefill, &p->prefill.split);
        prefill.dp = half.prefill.copies;
        assert_int_equal(roof_deployments_open(&d, world.answer->plans.model[p->serving], &decode,
                                               &prefill, world.hardware[0], false, NULL),
                         ROOF_OK);
        struct roof_simulation_inputs in = world.load;
        in.copies = (uint64_t)half.dp;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fewest, begin, end),
        cmocka_unit_test_setup_teardown(test_requests, begin, end),
        cmocka_unit_test_setup_teardown(test_cost, begin, end),
        cmocka_unit_test_setup_teardown(test_energy, begin, end),
        cmocka_unit_test_setup_teardown(test_rates, begin, end),
        cmocka_unit_test_setup_teardown(test_over_time, begin, end),
        cmocka_unit_test_setup_teardown(test_none, begin, end),
        cmocka_unit_test_setup_teardown(test_halves, begin, end),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
