// SPDX-License-Identifier: MIT
/* Copies behind a router: what each of them gets, and what they have in common with one copy. */
#include "support.h"

#include <math.h>

#include "simulate/simulation.h"

/* All steps take as long. */
static enum roof_status steady(double *out_s, void *context, const struct roof_step_load *load,
                               struct roof_error *error)
{
    (void)load;
    (void)error;
    *out_s = *(const double *)context;
    return ROOF_OK;
}

/* A step of two sequences takes longer than one of one. */
static enum roof_status growing(double *out_s, void *context, const struct roof_step_load *load,
                                struct roof_error *error)
{
    (void)error;
    *out_s = *(const double *)context * (1 + 0.1 * load->decoding + 0.001 * load->tokens);
    return ROOF_OK;
}

static struct roof_simulation run(struct roof_simulation_inputs *inputs, roof_step_source *steps,
                                  double step_s)
{
    struct roof_simulation out;
    struct roof_step_table *table = NULL;
    assert_int_equal(roof_step_table_open(&table, steps, &step_s, NULL), ROOF_OK);
    inputs->table = table;
    assert_int_equal(roof_simulate(&out, inputs, NULL), ROOF_OK);
    roof_step_table_free(table);
    return out;
}

static struct roof_simulation_inputs inputs_of(uint64_t copies, enum roof_router router)
{
    return (struct roof_simulation_inputs){
        .limits = {.budget = ROOF_BUDGET_WHOLE, .sequences = 1},
        .copies = copies,
        .router = router,
        .seed = 1,
        .limit = {{(double)NAN, 99}, {(double)NAN, 99}, {(double)NAN, 99}}};
}

/* A request of 10 s, and two of 1 s. In turn the last one waits for the first one, to 10 s; the
 * copy with fewer requests has none when it comes. */
static void test_routers(void **state)
{
    (void)state;
    const struct roof_arrival trace[] = {
        {0, 16, 10, NULL, 0}, {0.5, 16, 1, NULL, 0}, {2, 16, 1, NULL, 0}};
    static const double third[] = {[ROOF_ROUTER_ROUND_ROBIN] = 11,
                                   [ROOF_ROUTER_LEAST_LOADED] = 3,
                                   [ROOF_ROUTER_PREFIX_AWARE] = 3};
    for (int router = 0; router < ROOF_ROUTER_COUNT; router++) {
        struct roof_simulation_inputs in = inputs_of(2, (enum roof_router)router);
        in.trace = trace;
        in.requests = 3;
        in.keep = true;
        struct roof_simulation s = run(&in, steady, 1);
        assert_near(s.served[0].last_s, 10, 1e-12);
        assert_near(s.served[1].last_s, 1.5, 1e-12);
        assert_near(s.served[2].last_s, third[router], 1e-12);
        /* 12 steps of 1 s, on two copies, until the last request ends. */
        const double end = fmax(10, third[router]);
        assert_near(s.duration_s, end, 1e-12);
        assert_near(s.busy, 12 / (2 * end), 1e-12);
        assert_near(s.running, 12 / end, 1e-12);
        assert_near(s.waiting, (third[router] - 3) / end, 1e-9);
        assert_int_equal(s.steps, 12);
        roof_simulation_free(&s);
    }
}

/* The load of a copy is what prompts have still to compute there, and its requests; of equal ones
 * the next copy in turn is taken. */
static void test_load(void **state)
{
    (void)state;
    const struct roof_arrival trace[] = {
        {0, 16, 100, NULL, 0},   /* copy 0, whose steps begin at whole seconds */
        {0.5, 16, 100, NULL, 0}, /* copy 1, at the halves: copy 0 computes a prompt */
        {10.2, 16, 1, NULL, 0},  /* one request each, and in turn copy 0 comes */
        {20.2, 16, 1, NULL, 0},  /* the same, and it is the turn of copy 1 */
        {30.2, 16, 60, NULL, 0}, /* copy 0 again, which has two from here on */
        {40.2, 999, 1, NULL, 0}, /* so copy 1 gets the long prompt */
        {41, 16, 1, NULL, 0},    /* which it computes up to 41.5: 2 requests are less */
        {41.2, 16, 1, NULL, 0},  /* so are 3, and the 16 tokens that copy 0 computes now */
        {42.2, 16, 1, NULL, 0}}; /* copy 1 has one request and no prompt */
    static const double first[] = {1, 1.5, 12, 21.5, 32, 41.5, 42, 43, 43.5};
    struct roof_simulation_inputs in = inputs_of(2, ROOF_ROUTER_LEAST_LOADED);
    in.limits.sequences = 16;
    in.trace = trace;
    in.requests = COUNT(first);
    in.keep = true;
    struct roof_simulation s = run(&in, steady, 1);
    for (size_t i = 0; i < COUNT(first); i++) {
        assert_near(s.served[i].first_s, first[i], 1e-12);
    }
    roof_simulation_free(&s);
}

/* One prompt at a time: those that are alike end in the order in which they come, so that turns are
 * the best way, which the least load finds too. Of those that are not, fewer wait for a long one.
 */
static void test_order(void **state)
{
    (void)state;
    static const char *const prompts[] = {"2000", "uniform:1:4000"};
    for (size_t i = 0; i < COUNT(prompts); i++) {
        struct roof_arrivals arrivals = {.generate = {.low = 1}, .rate = 5};
        double wait_s[2];
        assert_int_equal(roof_arrivals_read(&arrivals.process, "poisson", NULL), ROOF_OK);
        assert_int_equal(roof_length_read(&arrivals.prompt, "prompt", prompts[i], NULL), ROOF_OK);
        for (int router = ROOF_ROUTER_ROUND_ROBIN; router <= ROOF_ROUTER_LEAST_LOADED; router++) {
            struct roof_simulation_inputs in = inputs_of(4, (enum roof_router)router);
            in.arrivals = &arrivals;
            in.requests = 20000;
            in.warm_up = 0.2;
            struct roof_simulation s = run(&in, growing, 0.2);
            assert_false(s.saturated);
            wait_s[router] = s.latency[ROOF_LATENCY_TTFT].mean_s - 0.6; /* of a mean prompt */
            roof_simulation_free(&s);
        }
        if (i == 0) {
            assert_near(wait_s[1], wait_s[0], 1e-9);
        } else {
            assert_true(wait_s[1] < 0.95 * wait_s[0]);
        }
    }
}

/* Requests that come in even steps are those of one copy, when all copies get them in turn. */
static void test_in_turn(void **state)
{
    (void)state;
    struct roof_arrivals arrivals = {.prompt = {.low = 100}, .generate = {.low = 20}, .rate = 4};
    struct roof_simulation_inputs in = inputs_of(1, ROOF_ROUTER_ROUND_ROBIN);
    assert_int_equal(roof_arrivals_read(&arrivals.process, "constant", NULL), ROOF_OK);
    in.arrivals = &arrivals;
    in.requests = 300;
    in.limits.sequences = 16;
    in.limits.blocks = 100;
    struct roof_simulation one = run(&in, growing, 0.01);
    in.copies = 3;
    in.requests = 900;
    arrivals.rate = 12;
    struct roof_simulation three = run(&in, growing, 0.01);
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        assert_near(three.latency[i].mean_s, one.latency[i].mean_s, 1e-9);
        assert_near(three.latency[i].p99_s, one.latency[i].p99_s, 1e-9);
    }
    assert_near(three.busy, one.busy, 0.02);
    assert_near(three.kv_use, one.kv_use, 0.02);
    assert_near(three.running, 3 * one.running, 0.02);
    roof_simulation_free(&one);
    roof_simulation_free(&three);
}

#define MANY 150

/* In turn, each of many copies serves its requests as one copy does that gets no others. Some
 * copies are without work while others queue. */
static void test_many(void **state)
{
    (void)state;
    enum { TURNS = 6 };
    static struct roof_arrival trace[TURNS * MANY];
    static struct roof_arrival own[TURNS];
    uint32_t random = 1;
    double time_s = 0;
    for (size_t i = 0; i < COUNT(trace); i++) {
        random = random * 1664525 + 1013904223;
        time_s += (random >> 16) % 16 / 512.;
        trace[i] = (struct roof_arrival){time_s, 16 + (random >> 20) % 2000,
                                         1 + (random >> 12) % 90, NULL, 0};
    }
    struct roof_simulation_inputs in = inputs_of(MANY, ROOF_ROUTER_ROUND_ROBIN);
    in.limits.sequences = 2;
    in.trace = trace;
    in.requests = COUNT(trace);
    in.keep = true;
    struct roof_simulation all = run(&in, growing, 0.1);
    in.copies = 1;
    in.trace = own;
    in.requests = TURNS;
    for (size_t copy = 0; copy < MANY; copy++) {
        for (size_t turn = 0; turn < TURNS; turn++) {
            own[turn] = trace[turn * MANY + copy];
        }
        struct roof_simulation one = run(&in, growing, 0.1);
        for (size_t turn = 0; turn < TURNS; turn++) {
            const struct roof_served *const served = &all.served[turn * MANY + copy];
            assert_near(served->first_s, one.served[turn].first_s, 1e-12);
            assert_near(served->last_s, one.served[turn].last_s, 1e-12);
        }
        roof_simulation_free(&one);
    }
    roof_simulation_free(&all);
}

/* The ends of requests: the last one, and the least that may still come. */
struct ends {
    double last_s;
    double least_s;
    size_t count;
};

static enum roof_status note_end(void *context, const struct roof_served *served,
                                 struct roof_error *error)
{
    struct ends *const ends = context;
    (void)error;
    assert_true(served->last_s >= ends->least_s);
    ends->last_s = served->last_s;
    ends->count++;
    return ROOF_OK;
}

static enum roof_status note_in_order(void *context, const struct roof_served *served,
                                      struct roof_error *error)
{
    ((struct ends *)context)->least_s = ((struct ends *)context)->last_s;
    return note_end(context, served, error);
}

static struct roof_copies *open_many(struct roof_step_table *table, roof_on_served *on_served,
                                     struct ends *ends)
{
    static const struct roof_scheduler_limits limits = {.budget = ROOF_BUDGET_WHOLE,
                                                        .sequences = 2};
    struct roof_copies *copies = NULL;
    uint32_t random = 1;
    double time_s = 0;
    assert_int_equal(roof_copies_open(&copies, MANY, ROOF_ROUTER_ROUND_ROBIN, &limits, table,
                                      on_served, ends, NULL),
                     ROOF_OK);
    for (uint64_t i = 0; i < 4 * MANY; i++) {
        random = random * 1664525 + 1013904223;
        time_s += (random >> 16) % 16 / 64.;
        const struct roof_arrival request = {time_s, 16, 1 + (random >> 12) % 40, NULL, 0};
        assert_int_equal(roof_copies_push(copies, i, &request, NULL), ROOF_OK);
    }
    return copies;
}

/* Steps of all copies take 1 s: requests end in the order of their times, and until a time those
 * end whose last step begins before it. */
static void test_time(void **state)
{
    (void)state;
    double step_s = 1;
    struct roof_step_table *table = NULL;
    assert_int_equal(roof_step_table_open(&table, steady, &step_s, NULL), ROOF_OK);
    struct ends ends = {0};
    struct roof_copies *copies = open_many(table, note_in_order, &ends);
    assert_int_equal(roof_copies_run(copies, (double)INFINITY, NULL), ROOF_OK);
    assert_int_equal(ends.count, 4 * MANY);
    assert_true(isinf(roof_copies_wakes(copies)));
    const double end_s = ends.last_s;
    roof_copies_free(copies);
    ends = (struct ends){0};
    copies = open_many(table, note_end, &ends);
    for (int i = 0; 0.7 * i < end_s + 1; i++) {
        const double until_s = 0.7 * i;
        assert_int_equal(roof_copies_run(copies, until_s, NULL), ROOF_OK);
        assert_true(roof_copies_wakes(copies) >= until_s);
        ends.least_s = until_s + step_s;
    }
    assert_int_equal(ends.count, 4 * MANY);
    roof_copies_free(copies);
    roof_step_table_free(table);
}

/* A closed loop over copies is that of one copy with its part of the requests. */
static void test_closed_loop(void **state)
{
    (void)state;
    struct roof_arrivals arrivals = {.prompt = {.low = 100}, .generate = {.low = 50}, .rate = 1};
    for (int router = 0; router < ROOF_ROUTER_COUNT; router++) {
        struct roof_simulation_inputs in = inputs_of(1, (enum roof_router)router);
        in.arrivals = &arrivals;
        in.limits.sequences = 16;
        in.concurrency = 8;
        in.requests = 1600;
        in.warm_up = 0.2;
        struct roof_simulation one = run(&in, growing, 0.01);
        in.copies = 4;
        in.concurrency = 32;
        in.requests = 6400;
        struct roof_simulation four = run(&in, growing, 0.01);
        assert_near(four.tokens_per_s, 4 * one.tokens_per_s, 0.01);
        assert_near(four.latency[ROOF_LATENCY_TPOT].mean_s, one.latency[ROOF_LATENCY_TPOT].mean_s,
                    0.01);
        assert_near(four.running, 32, 0.01);
        assert_near(four.busy, 1, 0.01);
        roof_simulation_free(&one);
        roof_simulation_free(&four);
    }
}

/* Two documents of 4 blocks, asked again after they were read by one copy each. The router that
 * knows the caches finds them: 3 of 4 blocks of the first one (the last token is always computed).
 * In turn, the second round goes to the wrong copies. */
static void test_prefix_aware(void **state)
{
    (void)state;
    static const uint64_t first[] = {1, 2, 3, 4};
    static const uint64_t second[] = {5, 6, 7, 8};
    const struct roof_arrival trace[] = {
        {0, 64, 1, first, 0}, {0, 64, 1, second, 0}, {10, 64, 1, second, 0}, {20, 64, 1, first, 0}};
    for (int aware = 0; aware < 2; aware++) {
        struct roof_simulation_inputs in =
            inputs_of(2, aware ? ROOF_ROUTER_PREFIX_AWARE : ROOF_ROUTER_ROUND_ROBIN);
        in.limits.part_blocks = 1;
        in.limits.blocks = 8;
        in.trace = trace;
        in.requests = 4;
        in.keep = true;
        struct roof_simulation s = run(&in, steady, 1);
        assert_int_equal(s.served[2].cached, aware ? 48 : 0);
        assert_int_equal(s.served[3].cached, aware ? 48 : 0);
        assert_near(s.prefix_hit, aware ? 96. / 256 : 0, 1e-12);
        roof_simulation_free(&s);
    }
}

/* In a closed loop each copy keeps its number of users: the one with short requests serves more. */
static void test_users_stay(void **state)
{
    (void)state;
    const struct roof_arrival trace[] = {
        {0, 16, 10, NULL, 0}, {0, 16, 1, NULL, 0}, {0, 16, 1, NULL, 0}, {0, 16, 1, NULL, 0}};
    struct roof_simulation_inputs in = inputs_of(2, ROOF_ROUTER_ROUND_ROBIN);
    in.trace = trace;
    in.concurrency = 2;
    in.requests = 4;
    in.keep = true;
    struct roof_simulation s = run(&in, steady, 1);
    assert_near(s.served[0].last_s, 10, 1e-12);
    for (int i = 1; i < 4; i++) {
        assert_near(s.served[i].last_s, i, 1e-12);
    }
    roof_simulation_free(&s);
}

/* Requests in all copies = their rate x their time in them. */
static void test_little(void **state)
{
    (void)state;
    struct roof_arrivals arrivals = {.rate = 20};
    assert_int_equal(roof_arrivals_read(&arrivals.process, "gamma:2", NULL), ROOF_OK);
    assert_int_equal(roof_length_read(&arrivals.prompt, "prompt", "uniform:10:900", NULL), ROOF_OK);
    assert_int_equal(roof_length_read(&arrivals.generate, "generate", "uniform:1:80", NULL),
                     ROOF_OK);
    for (int router = 0; router < ROOF_ROUTER_COUNT; router++) {
        struct roof_simulation_inputs in = inputs_of(5, (enum roof_router)router);
        in.arrivals = &arrivals;
        in.limits.sequences = 4;
        in.requests = 60000;
        in.warm_up = 0.2;
        struct roof_simulation s = run(&in, growing, 0.01);
        assert_false(s.saturated);
        assert_true(s.waiting > 0.01);
        assert_near(s.running + s.waiting, s.completed_per_s * s.latency[ROOF_LATENCY_E2E].mean_s,
                    0.01);
        roof_simulation_free(&s);
    }
}

/* The first users generate 1/4, 2/4, ... of 6 tokens where they are not measured, and else all. */
static void test_first_users(void **state)
{
    (void)state;
    static const int64_t spread[] = {2, 3, 5, 6};
    const struct roof_arrivals arrivals = {
        .prompt = {.low = 10}, .generate = {.low = 6}, .rate = 1};
    for (int warm = 0; warm < 2; warm++) {
        struct roof_simulation_inputs in = inputs_of(1, ROOF_ROUTER_ROUND_ROBIN);
        in.arrivals = &arrivals;
        in.limits.sequences = 4;
        in.concurrency = 4;
        in.requests = 8;
        in.warm_up = warm * 0.5;
        in.keep = true;
        struct roof_simulation s = run(&in, steady, 1);
        for (int i = 0; i < 8; i++) {
            assert_int_equal(s.served[i].generate, warm && i < 4 ? spread[i] : 6);
        }
        assert_near(s.served[0].last_s, warm ? 2 : 6, 1e-12);
        assert_near(s.served[4].arrival_s, warm ? 2 : 6, 1e-12);
        roof_simulation_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefix_aware), cmocka_unit_test(test_routers),
        cmocka_unit_test(test_in_turn),      cmocka_unit_test(test_closed_loop),
        cmocka_unit_test(test_little),       cmocka_unit_test(test_users_stay),
        cmocka_unit_test(test_first_users),  cmocka_unit_test(test_load),
        cmocka_unit_test(test_order),        cmocka_unit_test(test_many),
        cmocka_unit_test(test_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
