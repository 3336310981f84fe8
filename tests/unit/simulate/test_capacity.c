// SPDX-License-Identifier: MIT
/* The greatest rate: against a queue whose percentiles are known, and at its ends. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "simulate/capacity.h"

static enum roof_status plane(double *out_s, void *context, const struct roof_step_load *load,
                              struct roof_error *error)
{
    const double *const per_token = context;
    (void)error;
    *out_s = 0.001 + *per_token * (load->tokens + load->decoding);
    return ROOF_OK;
}

/* The rate of requests that generate some tokens. */
static struct roof_capacity find_with(int64_t generate, int64_t sequences, double mean_s,
                                      double percent, uint64_t requests)
{
    struct roof_step_table *table = NULL;
    struct roof_capacity out;
    double per_token = 0.099 / 100;
    struct roof_arrivals arrivals = {.prompt = {.low = 100, .mean = 100},
                                     .generate = {.low = generate, .mean = (double)generate}};
    assert_int_equal(roof_step_table_open(&table, plane, &per_token, NULL), ROOF_OK);
    struct roof_simulation_inputs inputs = {
        .table = table,
        .limits = {.budget = ROOF_BUDGET_WHOLE, .sequences = sequences},
        .arrivals = &arrivals,
        .requests = requests,
        .seed = 1,
        .warm_up = 0.2,
        .limit = {{(double)NAN, 99}, {(double)NAN, 99}, {(double)NAN, 99}}};
    inputs.limit[ROOF_LATENCY_TTFT] = (struct roof_latency_limit){mean_s, percent};
    assert_int_equal(roof_capacity_find(&out, &inputs, NULL), ROOF_OK);
    roof_simulation_free(&out.at);
    roof_step_table_free(table);
    return out;
}

static struct roof_capacity find(int64_t sequences, double mean_s, double percent,
                                 uint64_t requests)
{
    return find_with(1, sequences, mean_s, percent, requests);
}

/* Requests of 500 tokens are in flight for a minute, 70 or more at once. 300 of them end before the
 * engine has filled up: by themselves they give a rate that is a third too high. So as many are
 * simulated as a steady run needs. */
static void test_long_requests(void **state)
{
    (void)state;
    const struct roof_capacity few = find_with(500, 100, 2, 90, 300);
    const struct roof_capacity many = find_with(500, 100, 2, 90, 20000);
    const double flight = few.rate * few.at.latency[ROOF_LATENCY_E2E].mean_s;
    assert_true(flight > 60 && flight < 100);
    assert_true((double)few.at.requests > 0.8 * 20 * flight);
    assert_true((double)few.at.requests < 0.8 * 20 * 100);
    assert_near(few.rate / many.rate, 1, 0.05);
    assert_int_equal(many.at.requests, 16000);
}

/* M/D/1 with S = 0.1 s: the mean time is S (1 + rho / 2 (1 - rho)), 0.15 s at rho = 1/2. */
static void test_queue(void **state)
{
    (void)state;
    const struct roof_capacity c = find(1, 0.15, 0, 60000);
    assert_near(c.rate, 5, 0.03);
    assert_true(c.low < 5.05 && c.high > 4.95 && c.low < c.rate && c.high > c.rate);
    assert_true(c.high - c.low < 1);
    assert_int_equal(c.limit, ROOF_LATENCY_TTFT);
    assert_true(c.at.latency[ROOF_LATENCY_TTFT].mean_s <= 0.15);
    assert_true(c.at.latency[ROOF_LATENCY_TTFT].mean_s > 0.147);
    assert_true(c.runs < 40);
}

/* A limit that no queue of the simulation reaches leaves saturation: 10 per second. Another limit
 * is reached only after a higher rate has let the queue grow, which is no rate for a longer run. */
static void test_saturation(void **state)
{
    (void)state;
    static const double limits[] = {1e6, 8};
    for (int i = 0; i < 2; i++) {
        const struct roof_capacity c = find(1, limits[i], 99, 4000);
        assert_int_equal(c.limit, ROOF_LATENCY_COUNT);
        assert_near(c.rate, 10, 0.005);
        assert_true(c.low > 9.5 && c.low < 10 && c.high > 10 && c.high < 11);
        assert_near(c.at.served_per_s, 10, 0.02);
        assert_int_equal(c.wanted, 0);
    }
}

/* A request that is alone takes 0.1 s. */
static void test_none(void **state)
{
    (void)state;
    const struct roof_capacity c = find(1, 0.0999, 99, 2000);
    assert_true(c.rate == 0 && isnan(c.low) && isnan(c.high));
    assert_near(c.at.latency[ROOF_LATENCY_TTFT].p99_s, 0.1, 1e-5);
    assert_true(find(1, 0.1001, 99, 2000).rate > 0);
}

/* Requests of a trace come closer together by one factor, as random ones do: a trace of these, at
 * half a request per second, has the same greatest rate. */
static void test_trace(void **state)
{
    (void)state;
    enum { REQUESTS = 3000 };
    static struct roof_arrival request[REQUESTS];
    struct roof_arrivals arrivals = {
        .rate = 0.5, .prompt = {.low = 100, .mean = 100}, .generate = {.low = 1, .mean = 1}};
    struct roof_step_table *table = NULL;
    double per_token = 0.099 / 100;
    struct roof_capacity out;
    roof_arrivals_seed(&arrivals, 1);
    for (int i = 0; i < REQUESTS; i++) {
        roof_arrivals_next(&request[i], &arrivals);
    }
    assert_int_equal(roof_step_table_open(&table, plane, &per_token, NULL), ROOF_OK);
    struct roof_simulation_inputs inputs = {
        .table = table,
        .limits = {.budget = ROOF_BUDGET_WHOLE, .sequences = 1},
        .trace = request,
        .trace_rate = 0.5,
        .requests = REQUESTS,
        .warm_up = 0.2,
        .limit = {{0.3, 90}, {(double)NAN, 99}, {(double)NAN, 99}}};
    assert_int_equal(roof_capacity_find(&out, &inputs, NULL), ROOF_OK);
    const struct roof_capacity random = find(1, 0.3, 90, REQUESTS);
    assert_near(out.rate, random.rate, 1e-9);
    assert_near(out.low, random.low, 1e-9);
    assert_near(out.high, random.high, 1e-9);
    assert_near(out.at.latency[ROOF_LATENCY_TTFT].p90_s, random.at.latency[ROOF_LATENCY_TTFT].p90_s,
                1e-9);
    assert_int_equal(out.limit, ROOF_LATENCY_TTFT);
    roof_simulation_free(&out.at);
    roof_step_table_free(table);
}

static enum roof_status unknown(double *out_s, void *context, const struct roof_step_load *load,
                                struct roof_error *error)
{
    (void)context;
    (void)load;
    (void)error;
    *out_s = (double)NAN;
    return ROOF_OK;
}

/* A step without a time ends the simulation, whose results would have no value. */
static void test_unknown(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    struct roof_capacity out;
    struct roof_error error = {0};
    struct roof_arrivals arrivals = {.prompt = {.low = 100, .mean = 100},
                                     .generate = {.low = 1, .mean = 1}};
    assert_int_equal(roof_step_table_open(&table, unknown, NULL, NULL), ROOF_OK);
    const struct roof_simulation_inputs inputs = {
        .table = table,
        .limits = {.budget = ROOF_BUDGET_WHOLE, .sequences = 1},
        .arrivals = &arrivals,
        .requests = 9,
        .limit = {{1, 99}, {(double)NAN, 99}, {(double)NAN, 99}}};
    assert_int_equal(roof_capacity_find(&out, &inputs, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "has no expected time"));
    roof_simulation_free(&out.at);
    roof_step_table_free(table);
}

/* A looser limit allows a higher rate. */
static void test_monotone(void **state)
{
    (void)state;
    double before = 0;
    for (int i = 0; i < 9; i++) {
        const double rate = find(1, 0.11 * pow(1.4, i), 90, 4000).rate;
        assert_true(rate > before);
        before = rate;
    }
}

/* Few requests never miss a loose limit: there is no greatest rate. */
static void test_open(void **state)
{
    (void)state;
    const struct roof_capacity c = find(1, 1e6, 99, 2);
    assert_true(c.open && isnan(c.rate) && isnan(c.low) && isnan(c.high));
    assert_int_equal(c.wanted, 20);
    assert_false(find(1, 0.15, 0, 2000).open);
    /* 12 requests of 0.1 s keep the limit if they come within 50 ms, so that all are in flight. */
    const struct roof_capacity crowd = find(1, 1.15, 99, 12);
    assert_true(crowd.open && isnan(crowd.rate));
    assert_near(crowd.at.latency[ROOF_LATENCY_TTFT].p99_s, 1.2, 1e-3); /* all at once */
}

/* The intervals of few requests are unknown, or wide. */
static void test_wanted(void **state)
{
    (void)state;
    const struct roof_capacity few = find(1, 0.5, 99, 1000);
    assert_true(few.rate > 5 && isnan(few.low) && isnan(few.high) && !few.open);
    assert_int_equal(few.wanted, 10000);
    const struct roof_capacity more = find(1, 0.5, 99, 40000);
    assert_true(more.low < more.rate && more.rate < more.high && more.high < 2 * more.low);
    assert_int_equal(more.wanted, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue),      cmocka_unit_test(test_long_requests),
        cmocka_unit_test(test_saturation), cmocka_unit_test(test_none),
        cmocka_unit_test(test_monotone),   cmocka_unit_test(test_trace),
        cmocka_unit_test(test_open),       cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
