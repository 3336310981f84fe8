// SPDX-License-Identifier: MIT
/* Copies that prefill, the link, and copies that decode: docs/simulation.md. Steps are planes, so
 * that every time can be worked out by hand. */
#include "models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/deployment.h"
#include "simulate/simulation_fields.h"

/* A step takes 1 s, 0.1 s for each sequence that decodes and 0.125 s for each token of a prompt. */
static enum roof_status plane(double *out_s, void *context, const struct roof_step_load *load,
                              struct roof_error *error)
{
    const double scale = context == NULL ? 1 : *(const double *)context;
    (void)error;
    *out_s = scale * (1 + 0.1 * load->decoding + 0.125 * load->tokens);
    return ROOF_OK;
}

struct lab {
    struct roof_prefills prefills;
    struct roof_arrivals arrivals;
    struct roof_simulation_inputs inputs;
    double scale;
    double prefill_scale;
};

static struct lab lab_of(double send_s, double receive_s)
{
    const struct roof_scheduler_limits wide = {.budget = ROOF_BUDGET_WHOLE, .sequences = 64};
    return (struct lab){
        .prefills = {.copies = 1,
                     .limits = wide,
                     .transfer = {.send_s = send_s,
                                  .receive_s = receive_s,
                                  .senders = 1,
                                  .receivers = 1,
                                  .again = true}},
        .inputs = {.limits = wide,
                   .copies = 1,
                   .seed = 1,
                   .keep = true,
                   .limit = {{(double)NAN, 99}, {(double)NAN, 99}, {(double)NAN, 99}}},
        .scale = 1,
        .prefill_scale = 1};
}

/* The caller releases the simulation. */
static struct roof_simulation run(struct lab *lab)
{
    struct roof_simulation out;
    double prefill = lab->scale * lab->prefill_scale;
    assert_int_equal(roof_step_table_open(&lab->inputs.table, plane, &lab->scale, NULL), ROOF_OK);
    assert_int_equal(roof_step_table_open(&lab->prefills.table, plane, &prefill, NULL), ROOF_OK);
    lab->inputs.prefills = &lab->prefills;
    assert_int_equal(roof_simulate(&out, &lab->inputs, NULL), ROOF_OK);
    roof_step_table_free(lab->inputs.table);
    roof_step_table_free(lab->prefills.table);
    return out;
}

static struct roof_simulation run_trace(struct lab *lab, const struct roof_arrival *trace,
                                        uint64_t count)
{
    lab->inputs.trace = trace;
    lab->inputs.requests = count;
    return run(lab);
}

static void check(const struct roof_served *r, double prefilled, double moved, double first,
                  double last)
{
    assert_near(r->prefilled_s, prefilled, 1e-12);
    assert_near(r->moved_s, moved, 1e-12);
    assert_near(r->first_s, first, 1e-12);
    assert_near(r->last_s, last, 1e-12);
}

/* 16 tokens are prefilled in 3 s and moved in 4 s, then there are three steps of 1.1 s. */
static void test_one(void **state)
{
    (void)state;
    static const struct roof_arrival one[] = {{5, 16, 3, NULL, 0}};
    struct lab lab = lab_of(0.25, 0.25);
    struct roof_simulation s = run_trace(&lab, one, 1);
    check(&s.served[0], 8, 12, 13.1, 15.3);
    assert_near(s.served[0].scheduled_s, 5, 1e-12);
    assert_near(s.transfer_s, 4, 1e-12);
    assert_near(s.prefill_busy, 3 / 10.3, 1e-12);
    assert_near(s.link_busy, 4 / 10.3, 1e-12);
    assert_near(s.busy, 3.3 / 10.3, 1e-12);
    assert_near(s.running + s.waiting, 1, 1e-12); /* it was somewhere all the time */
    roof_simulation_free(&s);
    /* There are two steps where the first token is handed over. */
    lab.prefills.transfer.again = false;
    s = run_trace(&lab, one, 1);
    check(&s.served[0], 8, 12, 12, 14.2);
    roof_simulation_free(&s);
}

/* A token that is handed over may be all: nothing is left to decode. */
static void test_one_token(void **state)
{
    (void)state;
    static const struct roof_arrival one[] = {{0, 16, 1, NULL, 0}};
    struct lab lab = lab_of(0.25, 0.25);
    lab.prefills.transfer.again = false;
    struct roof_simulation s = run_trace(&lab, one, 1);
    check(&s.served[0], 3, 7, 7, 7);
    assert_int_equal(s.steps, 0);
    roof_simulation_free(&s);
    lab.prefills.transfer.again = true;
    s = run_trace(&lab, one, 1);
    check(&s.served[0], 3, 7, 8.1, 8.1);
    roof_simulation_free(&s);
}

/* Two prompts of one step leave it together; the second one waits for the lane that is taken. */
static void test_lanes(void **state)
{
    (void)state;
    static const struct roof_arrival two[] = {{0, 8, 1, NULL, 0}, {0, 8, 1, NULL, 0}};
    struct lab lab = lab_of(1, 0.5); /* the sender takes 8 s for each, the receiver 4 s */
    struct roof_simulation s = run_trace(&lab, two, 2);
    check(&s.served[0], 3, 11, 12.1, 12.1);
    check(&s.served[1], 3, 19, 20.1, 20.1);
    assert_near(s.transfer_s, 12, 1e-12);
    roof_simulation_free(&s);
    lab.prefills.transfer.senders = 2; /* then the receiver has one lane */
    s = run_trace(&lab, two, 2);
    check(&s.served[1], 3, 15, 16.1, 16.1);
    roof_simulation_free(&s);
    lab.prefills.transfer.receivers = 2;
    s = run_trace(&lab, two, 2);
    check(&s.served[1], 3, 11, 12.2, 12.2);
    roof_simulation_free(&s);
    lab.prefills.transfer.receivers = 1;
    lab.inputs.copies = 2; /* or another copy gets it */
    s = run_trace(&lab, two, 2);
    check(&s.served[1], 3, 11, 12.1, 12.1);
    roof_simulation_free(&s);
}

#define SEND 0.2

/* Two caches arrive at 3 + 16 SEND s, the second one in two parts whose rounding errors make it the
 * first. They are decoded in the order of their numbers all the same. */
static void test_tie(void **state)
{
    (void)state;
    static const struct roof_arrival two[] = {{0, 16, 1, NULL, 0}, {1, 8, 1, NULL, 0}};
    struct lab lab = lab_of(SEND, SEND / 2);
    lab.prefills.copies = 2;
    lab.inputs.limits.sequences = 1;
    assert_true(3 + 16 * (SEND / 2) + 8 * SEND < 3 + 16 * SEND);
    struct roof_simulation s = run_trace(&lab, two, 2);
    check(&s.served[0], 3, 3 + 16 * SEND, 3 + 16 * SEND + 1.1, 3 + 16 * SEND + 1.1);
    check(&s.served[1], 3, 3 + 16 * SEND, 3 + 16 * SEND + 2.2, 3 + 16 * SEND + 2.2);
    assert_true(s.served[0].moved_s == s.served[1].moved_s);
    roof_simulation_free(&s);
}

/* A request on its way to a copy counts as its load. */
static void test_least_loaded(void **state)
{
    (void)state;
    static const struct roof_arrival three[] = {
        {0, 8, 9, NULL, 0}, {10, 8, 1, NULL, 0}, {20, 8, 1, NULL, 0}};
    struct lab lab = lab_of(2.5, 0);
    lab.inputs.copies = 2;
    lab.prefills.transfer.senders = 9;
    lab.inputs.router = ROOF_ROUTER_LEAST_LOADED;
    struct roof_simulation s = run_trace(&lab, three, 3);
    /* The first decodes from 22 to 31.9 at copy 0; the second comes to copy 1 at 32, when the first
     * one has ended there. The third is sent at 22, when each copy has one, and joins the first. */
    check(&s.served[0], 2, 22, 23.1, 31.9);
    check(&s.served[1], 12, 32, 33.1, 33.1);
    check(&s.served[2], 22, 42, 43.1, 43.1);
    roof_simulation_free(&s);
}

#define MANY 100
#define APART 0.001

/* Many copies that get the same requests, one shortly after the other, do what one of them does. */
static void test_many(void **state)
{
    (void)state;
    static const struct roof_arrival own[] = {{0, 16, 9, NULL, 0},
                                              {4, 8, 3, NULL, 0},
                                              {7, 24, 1, NULL, 0},
                                              {50, 8, 5, NULL, 0},
                                              {54, 16, 2, NULL, 0}};
    static struct roof_arrival trace[COUNT(own) * MANY];
    for (size_t i = 0; i < COUNT(trace); i++) {
        trace[i] = own[i / MANY];
        trace[i].time_s += (double)(i % MANY) * APART;
    }
    struct lab lab = lab_of(0.23, 0.115);
    lab.inputs.router = ROOF_ROUTER_LEAST_LOADED;
    struct roof_simulation one = run_trace(&lab, own, COUNT(own));
    lab.prefills.copies = lab.inputs.copies = MANY;
    struct roof_simulation all = run_trace(&lab, trace, COUNT(trace));
    for (size_t i = 0; i < COUNT(trace); i++) {
        const struct roof_served *const r = &one.served[i / MANY];
        const double later = (double)(i % MANY) * APART;
        check(&all.served[i], r->prefilled_s + later, r->moved_s + later, r->first_s + later,
              r->last_s + later);
    }
    roof_simulation_free(&one);
    roof_simulation_free(&all);
}

/* A request that comes with its cache decodes at once, in steps of the others, with blocks. A
 * sequence that loses them is prefilled where it decodes. */
static void test_memory(void **state)
{
    (void)state;
    static const struct roof_arrival two[] = {{0, 16, 18, NULL, 0}, {0, 16, 18, NULL, 0}};
    struct lab lab = lab_of(0, 0);
    lab.inputs.limits.blocks = 3;
    struct roof_simulation s = run_trace(&lab, two, 2);
    /* Both get their first token in one step of 1.2 s; in the second each of them needs a block, of
     * which one is left: the other one waits for the 17 steps of 1.1 s, prefills its 17 tokens in
     * 3.125 s, and has 16 tokens to go. */
    check(&s.served[0], 5, 5, 6.2, 6.2 + 17 * 1.1);
    check(&s.served[1], 5, 5, 6.2, 6.2 + 17 * 1.1 + 3.125 + 16 * 1.1);
    assert_int_equal(s.served[1].preemptions, 1);
    roof_simulation_free(&s);
    /* A request that one of the two caches never holds is turned away. */
    lab.prefills.limits.blocks = 1;
    lab.inputs.limits.blocks = 2;
    static const struct roof_arrival long_ones[] = {
        {0, 17, 1, NULL, 0}, {0, 16, 18, NULL, 0}, {0, 16, 17, NULL, 0}};
    s = run_trace(&lab, long_ones, 3);
    assert_int_equal(s.rejected, 2);
    assert_int_equal(s.requests, 1);
    roof_simulation_free(&s);
}

static struct roof_simulation run_random(struct lab *lab, double rate)
{
    assert_int_equal(roof_arrivals_read(&lab->arrivals.process, "poisson", NULL), ROOF_OK);
    assert_int_equal(roof_length_read(&lab->arrivals.prompt, "prompt", "uniform:8:24", NULL),
                     ROOF_OK);
    assert_int_equal(roof_length_read(&lab->arrivals.generate, "generate", "uniform:2:30", NULL),
                     ROOF_OK);
    lab->arrivals.rate = rate;
    lab->inputs.arrivals = &lab->arrivals;
    lab->inputs.requests = 40000;
    lab->inputs.warm_up = 0.2;
    lab->inputs.keep = false;
    return run(lab);
}

/* Requests in the system, wherever they are, = their rate x their time in it; and what the link and
 * the prefills do is the work of the requests. */
static void test_little(void **state)
{
    (void)state;
    struct lab lab = lab_of(0.0625, 0.03125);
    lab.prefills.copies = 2;
    lab.inputs.copies = 3;
    lab.scale = 0.1;
    const struct roof_simulation s = run_random(&lab, 1);
    assert_false(s.saturated);
    assert_near(s.running + s.waiting, s.completed_per_s * s.latency[ROOF_LATENCY_E2E].mean_s,
                0.01);
    /* 16 tokens in the mean: 1 s of one of two lanes for each of 1 request/s. */
    assert_near(s.link_busy, 0.5, 0.02);
    assert_true(s.latency[ROOF_LATENCY_TTFT].mean_s > s.transfer_s + 0.3);
    /* Half a second of the lane of one decode copy, and a quarter of those of 4 prefill copies. */
    lab.prefills.copies = 4;
    lab.inputs.copies = 1;
    assert_near(run_random(&lab, 1).link_busy, 0.5, 0.02);
}

/* A slow link is the bottleneck: it passes one prompt after another, and the rest wait. */
static void test_link(void **state)
{
    (void)state;
    struct lab lab = lab_of(0.125, 0.125);
    lab.scale = 0.1;
    const struct roof_simulation s = run_random(&lab, 1);
    assert_true(s.saturated);
    assert_near(s.completed_per_s, 0.5, 0.01);
    assert_near(s.growth_per_s, 0.5, 0.05);
    assert_string_equal(roof_simulation_bottleneck(&s, false, false, false), "link");
    /* Slow prefills are one, too. */
    lab.prefills.transfer.send_s = lab.prefills.transfer.receive_s = 0;
    lab.inputs.copies = 4;
    lab.prefills.limits.sequences = 1;
    lab.prefill_scale = 8; /* 8 x 0.3 s for a prompt */
    const struct roof_simulation slow = run_random(&lab, 0.5);
    assert_true(slow.saturated);
    assert_near(slow.completed_per_s, 1 / 2.4, 0.01);
    assert_string_equal(roof_simulation_bottleneck(&slow, false, false, false), "prefill");
    /* If their caches wait for a sequence for more of the time, that is the bottleneck. */
    struct roof_simulation full = slow;
    full.full_sequences = full.prefill_busy;
    assert_string_equal(roof_simulation_bottleneck(&full, false, false, false), "prefill");
    full.full_sequences = 1;
    full.prefill_busy = 0.9;
    assert_string_equal(roof_simulation_bottleneck(&full, false, false, false), "sequences");
    /* Copies that decode are always busy at the greatest rate. If its first tokens come too late,
     * they are not the cause, even if the copies before them have time to spare. */
    full.full_sequences = full.full_memory = 0;
    full.busy = 1;
    full.prefill_busy = 0.5;
    full.link_busy = 0.1;
    assert_string_equal(roof_simulation_bottleneck(&full, true, false, true), "prefill");
    assert_string_equal(roof_simulation_bottleneck(&full, true, false, false), "step time");
    full.link_busy = 0.6;
    assert_string_equal(roof_simulation_bottleneck(&full, true, false, true), "link");
}

/* Prompts of one copy, one after the other, and no link: the wait of a queue with one server, of
 * 16 tokens and 0.3 s each. Nothing that decodes is slowed down. */
static void test_queue(void **state)
{
    (void)state;
    struct lab lab = lab_of(0, 0);
    lab.scale = 0.1;
    lab.prefills.limits.sequences = 1;
    lab.prefills.transfer.again = false;
    assert_int_equal(roof_arrivals_read(&lab.arrivals.process, "poisson", NULL), ROOF_OK);
    assert_int_equal(roof_length_read(&lab.arrivals.prompt, "prompt", "16", NULL), ROOF_OK);
    assert_int_equal(roof_length_read(&lab.arrivals.generate, "generate", "5", NULL), ROOF_OK);
    lab.arrivals.rate = 2;
    lab.inputs.arrivals = &lab.arrivals;
    lab.inputs.requests = 60000;
    lab.inputs.warm_up = 0.2;
    lab.inputs.keep = false;
    const struct roof_simulation s = run(&lab);
    const double wait = 2 * 0.3 * 0.3 / (2 * (1 - 0.6));
    const struct roof_latency_result *const ttft = &s.latency[ROOF_LATENCY_TTFT];
    assert_true(fabs(ttft->mean_s - 0.3 - wait) <= ttft->mean_ci_s);
    assert_near(s.prefill_busy, 0.6, 0.02);
}

/* A closed loop keeps its requests in flight, and a long one tends to the time of its steps: with
 * 4 requests that decode 1.4 s are a step of all. */
static void test_closed_loop(void **state)
{
    (void)state;
    struct lab lab = lab_of(0.0625, 0.0625);
    assert_int_equal(roof_length_read(&lab.arrivals.prompt, "prompt", "8", NULL), ROOF_OK);
    assert_int_equal(roof_length_read(&lab.arrivals.generate, "generate", "2000", NULL), ROOF_OK);
    lab.inputs.arrivals = &lab.arrivals;
    lab.inputs.concurrency = 4;
    lab.inputs.requests = 80;
    lab.inputs.warm_up = 0.2;
    lab.inputs.keep = false;
    const struct roof_simulation s = run(&lab);
    assert_near(s.running + s.waiting, 4, 0.01);
    assert_near(s.latency[ROOF_LATENCY_TPOT].mean_s, 1.4, 0.005);
    assert_near(s.tokens_per_s, 4 / 1.4, 0.01);
}

/* One request at a time takes what the plan of copies of two kinds says: a prefill, the transfer
 * and steps. 2 x 32 layers x 8 heads x 128 x 1000 tokens of 2 bytes are 131 MB, at 450 GB/s. */
static void test_deployments(void **state)
{
    (void)state;
    struct roof_model *const model = load("llama-3-8b");
    struct roof_hardware *const hardware = load_calibrated("h100-sxm");
    struct roof_deployments d;
    struct roof_scenario s;
    struct roof_scenario first;
    roof_scenario_init(&s);
    s.prompt = 1000;
    s.generate = 50;
    s.common.shape.batch = 8;
    first = s;
    first.dp = 2;
    assert_int_equal(roof_deployments_open(&d, model, &s, &first, hardware, false, NULL), ROOF_OK);
    assert_near(d.prefills.transfer.send_s, 131072 / 450e9, 1e-9);
    assert_near(d.prefills.transfer.receive_s, 131072 / 450e9, 1e-9);
    const struct roof_arrival one = {0, 1000, 50, NULL, 0};
    struct roof_simulation_inputs in = {
        .limits = {.budget = 8192, .sequences = 8, .prefix_hit = 0.5},
        .copies = 1,
        .trace = &one,
        .requests = 1,
        .keep = true,
        .limit = {{(double)NAN, 99}, {(double)NAN, 99}, {(double)NAN, 99}}};
    roof_deployments_use(&in, &d);
    roof_deployments_use(&in, &d); /* once more changes nothing */
    assert_int_equal(in.prefills->copies, 2);
    assert_near(in.prefills->limits.prefix_hit, 0.5, 0);
    assert_near(in.limits.prefix_hit, 0, 0);
    d.prefills.limits.prefix_hit = 0;
    struct roof_simulation out;
    struct roof_step_load prompt = {.tokens = 1000, .prompt_context = 500.5};
    struct roof_step_load decode = {.decoding = 1, .context = 1000};
    double prefill_s = 0;
    double step_s = 0;
    assert_int_equal(roof_step_time(&prefill_s, d.prefill.table, &prompt, NULL), ROOF_OK);
    assert_int_equal(roof_step_time(&step_s, d.copy.table, &decode, NULL), ROOF_OK);
    assert_int_equal(roof_simulate(&out, &in, NULL), ROOF_OK);
    assert_near(out.latency[ROOF_LATENCY_TTFT].mean_s,
                prefill_s + 1000 * d.prefills.transfer.send_s + step_s, 4e-8); /* to 1 ns */
    roof_simulation_free(&out);
    in.limits.passes_first_token = true;
    roof_deployments_use(&in, &d);
    d.prefills.limits.prefix_hit = 0;
    assert_int_equal(roof_simulate(&out, &in, NULL), ROOF_OK);
    assert_near(out.latency[ROOF_LATENCY_TTFT].mean_s,
                prefill_s + 1000 * d.prefills.transfer.send_s, 4e-8);
    roof_simulation_free(&out);
    roof_deployments_close(&d);
    /* Each of 4 devices gets a quarter of the cache; one that sends to 4 takes 4 times as long. */
    s.tp = 4;
    first.dp = 1;
    assert_int_equal(roof_deployments_open(&d, model, &s, &first, hardware, true, NULL), ROOF_OK);
    assert_near(d.prefills.transfer.send_s, 131072 / 450e9, 1e-9);
    assert_near(d.prefills.transfer.receive_s, 131072 / 4. / 450e9, 1e-9);
    in.limits.passes_first_token = false;
    roof_deployments_use(&in, &d);
    assert_false(d.prefills.transfer.again); /* bounds hold for all engines */
    roof_deployments_close(&d);
    free_calibrated(hardware);
    roof_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),          cmocka_unit_test(test_one_token),
        cmocka_unit_test(test_lanes),        cmocka_unit_test(test_tie),
        cmocka_unit_test(test_least_loaded), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_little),       cmocka_unit_test(test_link),
        cmocka_unit_test(test_queue),        cmocka_unit_test(test_closed_loop),
        cmocka_unit_test(test_deployments),  cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
