// SPDX-License-Identifier: MIT
/* The scheduler, with steps whose times are a plane: one counts every step by hand. */
#include "support.h"

#include <math.h>

#include "simulate/scheduler.h"

/* A step takes 1 s, 1/4 s per sequence that decodes and 1/8 s per token of a prompt. */
static enum roof_status plane(double *out_s, void *context, const struct roof_step_load *load,
                              struct roof_error *error)
{
    (void)context;
    (void)error;
    *out_s = 1 + load->decoding / 4 + load->tokens / 8;
    return ROOF_OK;
}

/* A step that is alone in a pipeline: three quarters of it. */
static enum roof_status short_path(double *out_s, void *context, const struct roof_step_load *load,
                                   struct roof_error *error)
{
    (void)plane(out_s, context, load, error);
    *out_s *= 0.75;
    return ROOF_OK;
}

#define MOST 64
struct served {
    struct roof_served request[MOST]; /* by number */
    size_t count;
    uint64_t order[MOST]; /* in which they ended */
};

static enum roof_status keep(void *context, const struct roof_served *served,
                             struct roof_error *error)
{
    struct served *const all = context;
    (void)error;
    all->order[all->count++] = served->number;
    all->request[served->number] = *served;
    return ROOF_OK;
}

struct given {
    double arrival_s;
    int64_t prompt;
    int64_t generate;
};

static struct roof_scheduler_limits wide(void)
{
    return (struct roof_scheduler_limits){
        .budget = ROOF_BUDGET_WHOLE, .sequences = 64, .blocks = 0};
}

/* Runs requests with ids of their prompts to their ends; returns the sums. */
static struct roof_scheduler_sums run_named(struct served *out, struct roof_scheduler_limits limits,
                                            const struct given *given, const uint64_t *const *ids,
                                            size_t count)
{
    struct roof_step_table *table = NULL;
    struct roof_step_table *shorter = NULL;
    struct roof_scheduler *s = NULL;
    *out = (struct served){.count = 0};
    assert_int_equal(roof_step_table_open(&table, plane, NULL, NULL), ROOF_OK);
    assert_int_equal(roof_step_table_open(&shorter, short_path, NULL, NULL), ROOF_OK);
    limits.path = limits.stages == 3 ? shorter : table;
    assert_int_equal(roof_scheduler_open(&s, &limits, table, keep, out, NULL), ROOF_OK);
    for (size_t i = 0; i < count; i++) {
        const struct roof_arrival request = {given[i].arrival_s, given[i].prompt, given[i].generate,
                                             ids == NULL ? NULL : ids[i], 0};
        assert_true(roof_scheduler_fits(s, given[i].prompt, given[i].generate));
        assert_int_equal(roof_scheduler_run(s, given[i].arrival_s, NULL), ROOF_OK);
        assert_int_equal(roof_scheduler_push(s, i, &request, NULL), ROOF_OK);
    }
    assert_int_equal(roof_scheduler_run(s, (double)INFINITY, NULL), ROOF_OK);
    assert_int_equal(out->count, count);
    assert_int_equal(roof_scheduler_present(s), 0);
    assert_true(limits.blocks == 0 || roof_scheduler_use(s) == 0);
    const struct roof_scheduler_sums sums = *roof_scheduler_sums(s);
    roof_scheduler_free(s);
    roof_step_table_free(table);
    roof_step_table_free(shorter);
    return sums;
}

static struct roof_scheduler_sums run(struct served *out, struct roof_scheduler_limits limits,
                                      const struct given *given, size_t count)
{
    return run_named(out, limits, given, NULL, count);
}

static void check(const struct roof_served *r, double scheduled, double first, double last)
{
    assert_near(r->scheduled_s, scheduled, 1e-12);
    assert_near(r->first_s, first, 1e-12);
    assert_near(r->last_s, last, 1e-12);
}

/* 16 tokens take 3 s, and each of the other two tokens 1.25 s. */
static void test_one(void **state)
{
    (void)state;
    struct served out;
    const struct given one = {5, 16, 3};
    const struct roof_scheduler_sums sums = run(&out, wide(), &one, 1);
    check(&out.request[0], 5, 8, 10.5);
    assert_int_equal(sums.steps, 3);
    assert_near(sums.busy_s, 5.5, 1e-12);
    assert_near(sums.running_s, 5.5, 1e-12);
    assert_true(sums.waiting_s == 0);
}

/* A prompt of 20 in chunks of 8, 8 and 4: 2 + 2 + 1.5 s. */
static void test_chunks(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given one = {0, 20, 1};
    limits.budget = 8;
    const struct roof_scheduler_sums sums = run(&out, limits, &one, 1);
    check(&out.request[0], 0, 5.5, 5.5);
    assert_near(sums.budget.time_s, 4, 1e-12); /* of two steps that left tokens */
}

/*
 * Two groups of the attention with a budget of 8 each. The first step has 8 tokens of the prompts
 * of 12 and 20 (3 s); the second has 4 and 8 of them, and 4 of the third prompt (3 s); the third
 * has the last 4 of the second prompt, and 4 of the third one (2 s). A lone group needs five steps.
 */
static void test_groups_have_budgets(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given three[] = {{0, 12, 1}, {0, 20, 1}, {0, 8, 1}};
    limits.budget = 8;
    limits.ranks = 2;
    struct roof_scheduler_sums sums = run(&out, limits, three, COUNT(three));
    check(&out.request[0], 0, 6, 6);
    check(&out.request[1], 0, 8, 8);
    check(&out.request[2], 3, 8, 8);
    assert_int_equal(sums.steps, 3);
    limits.ranks = 1;
    sums = run(&out, limits, three, COUNT(three));
    check(&out.request[2], 8, 10, 10);
    assert_int_equal(sums.steps, 5);
}

/*
 * If the budget counts tokens that decode, it has those of the largest group. Three sequences
 * decode beside a prompt of 7: two in one of 2 groups, which leave 6 tokens (2.5 s) and then the
 * last one (1.875 s); in each of 4 groups at most one, which leaves 7 (2.625 s).
 */
static void test_groups_share_decoding(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given four[] = {{0, 1, 9}, {0, 1, 9}, {0, 1, 9}, {1.1, 7, 1}};
    limits.budget = 8;
    limits.budget_has_decode = true;
    limits.ranks = 2;
    (void)run(&out, limits, four, COUNT(four));
    check(&out.request[3], 1.375, 5.75, 5.75);
    limits.ranks = 4;
    (void)run(&out, limits, four, COUNT(four));
    check(&out.request[3], 1.375, 4, 4);
}

/*
 * The engine compiles for 10 s in its first step with a full budget: a prompt of 20 takes 2 + 10, 2
 * and 1.5 s in chunks of 8. A step of 7 tokens leaves a token, and without a budget no step is
 * full.
 */
static void test_compiles_once(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given one = {0, 20, 2};
    limits.compile_s = 10;
    (void)run(&out, limits, &one, 1);
    check(&out.request[0], 0, 3.5, 4.75);
    limits.budget = 8;
    assert_near(run(&out, limits, &one, 1).busy_s, 16.75, 1e-12);
    check(&out.request[0], 0, 15.5, 16.75);

    const struct given three[] = {{0, 7, 1}, {20, 8, 1}, {40, 8, 1}};
    (void)run(&out, limits, three, 3);
    check(&out.request[0], 0, 1.875, 1.875);
    check(&out.request[1], 20, 32, 32);
    check(&out.request[2], 40, 42, 42);

    /* Only if sequences that decode count, one of them and 7 tokens fill a step. */
    const struct given two[] = {{0, 7, 3}, {1, 7, 1}};
    (void)run(&out, limits, two, 2);
    check(&out.request[0], 0, 1.875, 5.25);
    limits.budget_has_decode = true;
    (void)run(&out, limits, two, 2);
    check(&out.request[0], 0, 1.875, 15.25);
    check(&out.request[1], 1.875, 14, 14);

    /* In the first of two stages: chunks enter at 0, 11 and 12 s, and leave at 12, 13 and 13.75. */
    limits.stages = 2;
    (void)run(&out, limits, &one, 1);
    check(&out.request[0], 0, 13.75, 15);
}

/*
 * The second request comes in the first's prefill, and waits for its end at 3 s. Its own prompt
 * shares a step with the first's second token (1 + 1/4 + 1 s), and then both decode (1.5 s).
 */
static void test_mixed(void **state)
{
    (void)state;
    struct served out;
    const struct given two[] = {{0, 16, 3}, {1, 8, 3}};
    const struct roof_scheduler_sums sums = run(&out, wide(), two, 2);
    check(&out.request[0], 0, 3, 6.75);
    check(&out.request[1], 3, 5.25, 8);
    assert_near(sums.waiting_s, 2, 1e-12);
    assert_near(sums.running_s, 3 + 2 * 2.25 + 2 * 1.5 + 1.25, 1e-12);
}

/* The next prompt gets the rest of a budget: 12 tokens are 8 and 4, of 6 each. */
static void test_budget_is_shared(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given two[] = {{0, 6, 1}, {0, 6, 1}};
    limits.budget = 8;
    const struct roof_scheduler_sums sums = run(&out, limits, two, 2);
    check(&out.request[0], 0, 2, 2);
    check(&out.request[1], 0, 3.5, 3.5);
    assert_int_equal(sums.steps, 2);

    /* The sequence that decodes takes one token of the budget, so the prompts have 7 a step. */
    const struct given three[] = {{0, 8, 3}, {0, 14, 1}};
    limits.budget_has_decode = true;
    (void)run(&out, limits, three, 2);
    check(&out.request[0], 0, 2, 2 + 2 * 2.125);
    check(&out.request[1], 2, 2 + 2 * 2.125, 2 + 2 * 2.125);
}

/* With one sequence at a time requests are served one after the other. */
static void test_sequences(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given two[] = {{0, 8, 2}, {0, 8, 2}};
    limits.sequences = 1;
    const struct roof_scheduler_sums sums = run(&out, limits, two, 2);
    check(&out.request[0], 0, 2, 3.25);
    check(&out.request[1], 3.25, 5.25, 6.5);
    assert_near(sums.sequences.time_s, 3.25, 1e-12);
    assert_near(sums.sequences.waiting_s, 3.25, 1e-12);
    assert_near(sums.waiting_s, 3.25, 1e-12);
}

/* The overhead passes before the engine sees a request. */
static void test_overhead(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given one = {1, 8, 2};
    limits.overhead_s = 0.5;
    (void)run(&out, limits, &one, 1);
    check(&out.request[0], 1.5, 3.5, 4.75);
}

/* Half of a prompt of 16 is cached: 8 tokens take 2 s. */
static void test_prefix(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given one = {0, 16, 1};
    limits.prefix_hit = 0.5;
    (void)run(&out, limits, &one, 1);
    check(&out.request[0], 0, 2, 2);
}

/*
 * Two prompts of 16 fill two of three blocks. Both need a block for the first token that they
 * decode, and there is one: the second is preempted, and computed again, with the token that it
 * has, when the first has left: 17 tokens in two blocks.
 */
static void test_preemption(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given two[] = {{0, 16, 3}, {0, 16, 3}};
    limits.blocks = 3;
    const struct roof_scheduler_sums sums = run(&out, limits, two, 2);
    assert_int_equal(sums.preemptions, 1);
    check(&out.request[0], 0, 5, 5 + 2 * 1.25);
    /* The prefill of 17 yields the second token, and one step the third. */
    check(&out.request[1], 0, 5, 7.5 + 1 + 17 / 8. + 1.25);
    assert_int_equal(out.request[1].preemptions, 1);
    assert_int_equal(out.request[0].preemptions, 0);
    assert_near(sums.waiting_s, 2.5, 1e-12);
    assert_near(sums.memory.waiting_s, 2.5, 1e-12);
}

/* A request waits until the cache has room for its prompt. */
static void test_cache_keeps_waiting(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given two[] = {{0, 30, 2}, {0, 30, 1}};
    limits.blocks = 3;
    const struct roof_scheduler_sums sums = run(&out, limits, two, 2);
    check(&out.request[0], 0, 4.75, 6);
    check(&out.request[1], 6, 10.75, 10.75);
    assert_int_equal(sums.preemptions, 0);
    assert_near(sums.memory.time_s, 6, 1e-12);
    assert_near(sums.memory.waiting_s, 6, 1e-12);
}

static void test_fits(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    struct roof_scheduler *s = NULL;
    struct roof_scheduler_limits limits = wide();
    limits.blocks = 2;
    assert_int_equal(roof_step_table_open(&table, plane, NULL, NULL), ROOF_OK);
    assert_int_equal(roof_scheduler_open(&s, &limits, table, keep, NULL, NULL), ROOF_OK);
    assert_true(roof_scheduler_fits(s, 32, 1));
    assert_true(roof_scheduler_fits(s, 30, 3)); /* the last token is never stored */
    assert_false(roof_scheduler_fits(s, 30, 4));
    roof_scheduler_free(s);
    roof_scheduler_free(NULL);
    roof_step_table_free(table);
}

/*
 * Two equal stages. The chunks of a prompt follow each other: 8, 8 and 4 tokens take 2, 2 and 1.5
 * s, a half of it in each stage. They enter at 0, 1 and 2 s and leave the second stage at 2, 3 and
 * 3.75 s; the token after that is alone, 1.25 s.
 */
static void test_pipeline_of_chunks(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given one = {0, 20, 2};
    limits.budget = 8;
    limits.stages = 2;
    const struct roof_scheduler_sums sums = run(&out, limits, &one, 1);
    check(&out.request[0], 0, 3.75, 5);
    assert_int_equal(sums.steps, 4);
    assert_near(sums.busy_s, 5, 1e-12);
    assert_near(sums.running_s, 5, 1e-12);
    assert_near(sums.budget.time_s, 2, 1e-12); /* until the last chunk is in */
}

/*
 * Two requests are two groups, which take turns. Prompts of 8 tokens enter at 0 and 1 s, and leave
 * at 2 and 3 s. The next token of each takes 0.625 s in a stage: that of the first one enters at 2
 * s and waits for the second stage until 3 s; that of the second one enters at 3 s, and waits, too.
 */
static void test_pipeline_of_groups(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given two[] = {{0, 8, 2}, {0, 8, 2}};
    limits.stages = 2;
    const struct roof_scheduler_sums sums = run(&out, limits, two, 2);
    check(&out.request[0], 0, 2, 3.625);
    check(&out.request[1], 1, 3, 4.25);
    assert_near(sums.busy_s, 4.25, 1e-12);
    assert_near(sums.running_s, 3.625 + 3.25, 1e-12);
    assert_near(sums.waiting_s, 1, 1e-12);

    /* One that comes while a step is under way enters when the first stage is free, or when it
     * comes, whichever is later. */
    const struct given later[] = {{0, 8, 1}, {0.5, 8, 1}};
    assert_near(run(&out, limits, later, 2).waiting_s, 0.5, 1e-12);
    check(&out.request[1], 1, 3, 3);
    const struct given late[] = {{0, 8, 1}, {1.5, 8, 1}};
    assert_near(run(&out, limits, late, 2).waiting_s, 0, 1e-12);
    check(&out.request[1], 1.5, 3.5, 3.5);
}

/* Three stages, of which the last is the slowest: 16 tokens are 3 s, 1 s in it, and their path is
 * 2.25 s. The second of two leaves the last stage 1 s after the first. */
static void test_uneven_stages(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given two[] = {{0, 16, 1}, {0, 16, 1}};
    limits.stages = 3;
    (void)run(&out, limits, two, 2);
    check(&out.request[0], 0, 2.25, 2.25);
    check(&out.request[1], 0.625, 3.25, 3.25);
}

/* A step is put together while the one before it runs: a request that comes meanwhile waits for the
 * step after that. Steps end at 2, 3.25, 4.5, 6.75 and 8.25 s. */
static void test_ahead(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given two[] = {{0, 8, 5}, {2.5, 8, 2}};
    (void)run(&out, limits, two, 2);
    check(&out.request[1], 3.25, 5.5, 7);
    limits.ahead = true;
    (void)run(&out, limits, two, 2);
    check(&out.request[0], 0, 2, 8.25);
    check(&out.request[1], 4.5, 6.75, 8.25);
    /* An engine that has nothing else to do takes it at once. */
    const struct given idle[] = {{0, 8, 1}, {1, 8, 1}, {9, 8, 1}};
    (void)run(&out, limits, idle, 3);
    check(&out.request[1], 2, 4, 4);
    check(&out.request[2], 9, 11, 11);
    /* A pipeline has other steps under way. */
    limits.stages = 2;
    limits.interval = 3;
    (void)run(&out, limits, two, 2);
    const double scheduled = out.request[1].scheduled_s;
    limits.interval = 0;
    limits.ahead = false;
    (void)run(&out, limits, two, 2);
    assert_near(out.request[1].scheduled_s, scheduled, 0);
}

/* Every third step without prompts looks for requests, and each that follows prompts. */
static void test_interval(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    struct given two[] = {{0, 8, 9}, {2.5, 8, 1}};
    limits.interval = 3; /* steps begin at 0, 2, 3.25, 4.5 and 5.75 s */
    (void)run(&out, limits, two, 2);
    check(&out.request[0], 0, 2, 13);
    check(&out.request[1], 5.75, 8, 8);
    limits.ahead = true;
    (void)run(&out, limits, two, 2);
    check(&out.request[1], 5.75, 8, 8);
    /* The step at 5.75 s was put together at 4.5 s, and the next look is three steps later. */
    two[1].arrival_s = 5;
    (void)run(&out, limits, two, 2);
    check(&out.request[0], 0, 2, 13);
    check(&out.request[1], 9.5, 11.75, 11.75);
    limits.ahead = false;
    (void)run(&out, limits, two, 2);
    check(&out.request[1], 5.75, 8, 8);
}

/* A full engine also looks for requests. Steps begin at 0, 3, 4.5, ... 19.5 and 20.75 s, and those
 * at 3, 7.5, 12, 16.5 and 20.75 s look. The first request ends at 19.5 s, so the step that begins
 * then can admit what the one at 16.5 s has seen; an engine that works ahead put that together at
 * 15 s.
 */
static void test_looks_while_full(void **state)
{
    (void)state;
    static const struct {
        double arrival_s;
        bool ahead;
        double scheduled_s;
    } cases[] = {{8, false, 19.5},
                 {16.5, false, 19.5},
                 {17, false, 20.75},
                 {15, true, 19.5},
                 {15.5, true, 20.75}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct served out;
        struct roof_scheduler_limits limits = wide();
        const struct given three[] = {{0, 8, 12}, {0, 8, 30}, {cases[i].arrival_s, 8, 1}};
        limits.sequences = 2;
        limits.interval = 3;
        limits.ahead = cases[i].ahead;
        (void)run(&out, limits, three, 3);
        assert_near(out.request[2].scheduled_s, cases[i].scheduled_s, 1e-12);
    }
}

/* A step takes half a second for each token by which its longest context exceeds the mean. */
static enum roof_status waits(double *out_s, void *context, const struct roof_step_load *load,
                              struct roof_error *error)
{
    (void)plane(out_s, context, load, error);
    *out_s += load->longest > 0 ? (load->longest - load->context) / 2 : 0;
    return ROOF_OK;
}

/* Two prompts share a step. Then their contexts are 5 and 21, 6 and 22, until the longer one ends.
 * A third request has the longest context from the step after its prompt on. */
static void test_longest(void **state)
{
    (void)state;
    struct served out = {.count = 0};
    struct roof_step_table *table = NULL;
    struct roof_scheduler *s = NULL;
    const struct roof_scheduler_limits limits = wide();
    assert_int_equal(roof_step_table_open(&table, waits, NULL, NULL), ROOF_OK);
    assert_int_equal(roof_step_table_longest(table, NULL), ROOF_OK);
    assert_int_equal(roof_scheduler_open(&s, &limits, table, keep, &out, NULL), ROOF_OK);
    static const struct roof_arrival requests[] = {
        {.prompt = 4, .generate = 7}, {.prompt = 20, .generate = 3}, {16, 40, 3, NULL, 0}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(roof_scheduler_run(s, requests[i].time_s, NULL), ROOF_OK);
        assert_int_equal(roof_scheduler_push(s, i, &requests[i], NULL), ROOF_OK);
    }
    assert_int_equal(roof_scheduler_run(s, (double)INFINITY, NULL), ROOF_OK);
    check(&out.request[1], 0, 4, 4 + 5.5 + 5.5);
    /* Context 7 alone; context 8 beside 40 tokens of a prompt; then 9 and 41, 10 and 42. */
    check(&out.request[2], 16.25, 16.25 + 6.25, 22.5 + 9.5 + 9.5);
    check(&out.request[0], 0, 4, 41.5);
    roof_scheduler_free(s);
    roof_step_table_free(table);
}

/* Random requests in a small cache: every token is computed, and none twice but for preemptions. */
static void test_random(void **state)
{
    (void)state;
    random_state = 3;
    for (int round = 0; round < 500; round++) {
        struct served out;
        struct given given[MOST];
        struct roof_scheduler_limits limits = wide();
        const size_t count = (size_t)pick(1, MOST);
        double time = 0;
        double tokens = 0;
        limits.sequences = pick(1, 8);
        limits.budget = pick(1, 40);
        limits.blocks = pick(8, 20);
        limits.ahead = pick(0, 1) == 1;
        limits.interval = pick(0, 4);
        for (size_t i = 0; i < count; i++) {
            time += (double)pick(0, 20);
            given[i] = (struct given){time, pick(1, 60), pick(1, 40)};
            tokens += (double)given[i].prompt + (double)given[i].generate - 1;
        }
        const struct roof_scheduler_sums sums = run(&out, limits, given, count);
        const double work = 8 * (sums.busy_s - (double)sums.steps); /* per token of a prompt */
        double least = 0;
        for (size_t i = 0; i < count; i++) {
            const struct roof_served *const r = &out.request[i];
            assert_true(r->scheduled_s >= r->arrival_s && r->first_s > r->scheduled_s);
            assert_true(r->generate == 1 ? r->last_s == r->first_s : r->last_s > r->first_s);
            assert_int_equal(r->done, r->generate);
            least += (double)given[i].prompt + 2 * (double)(given[i].generate - 1);
        }
        assert_true(tokens > 0);
        /* A token that is computed again costs half of what it did when it was decoded. */
        assert_true(sums.preemptions > 0 ? work > least - tokens : fabs(work - least) < 1e-6);
    }
}

/* Random requests through a pipeline: none is faster than alone, and the slowest stage serves all
 * steps one by one. */
static void test_pipelines(void **state)
{
    (void)state;
    random_state = 5;
    for (int round = 0; round < 500; round++) {
        struct served out;
        struct given given[MOST];
        struct roof_scheduler_limits limits = wide();
        const size_t count = (size_t)pick(1, MOST);
        double time = 0;
        double last = 0;
        double work = 0;
        limits.sequences = pick(1, 32);
        limits.budget = pick(1, 40);
        limits.blocks = pick(0, 1) == 0 ? 0 : pick(8, 20);
        limits.stages = pick(2, 4);
        for (size_t i = 0; i < count; i++) {
            time += (double)pick(0, 20);
            given[i] = (struct given){time, pick(1, 60), pick(1, 40)};
            work += (double)given[i].prompt / 8 + (double)(given[i].generate - 1) / 4;
        }
        const double path = limits.stages == 3 ? 0.75 : 1;
        const struct roof_scheduler_sums sums = run(&out, limits, given, count);
        for (size_t i = 0; i < count; i++) {
            const struct roof_served *const r = &out.request[i];
            assert_true(r->scheduled_s >= r->arrival_s && r->done == r->generate);
            assert_true(r->first_s - r->scheduled_s > path * (1 + 1. / 8) - 1e-9);
            assert_true(r->last_s - r->first_s > path * 1.25 * (double)(r->generate - 1) - 1e-9);
            last = fmax(last, r->last_s);
        }
        if (sums.preemptions == 0) {
            assert_true(sums.busy_s >= ((double)sums.steps + work) / (double)limits.stages - 1e-6);
        }
        assert_true(sums.busy_s <= last - given[0].arrival_s + 1e-6);
    }
}

/* Ids 1 and 2 are a prompt of 32; 1 and 3 begin alike. */
static const uint64_t one_two[] = {1, 2};
static const uint64_t one_three[] = {1, 3};
static const uint64_t others[] = {7, 8, 9};

/* The first prompt takes 1 + 32/8 = 5 s. The second one finds block 1, and computes 16 tokens in 3
 * s. The third one has both blocks, but its last token is always computed, in whole blocks: 3 s. */
static void test_prefix_cache(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given all[] = {{0, 32, 1}, {5, 32, 1}, {8, 32, 1}};
    static const uint64_t *const ids[] = {one_two, one_three, one_two};
    limits.part_blocks = 1;
    limits.blocks = 10;
    const struct roof_scheduler_sums sums = run_named(&out, limits, all, ids, 3);
    check(&out.request[0], 0, 5, 5);
    check(&out.request[1], 5, 8, 8);
    check(&out.request[2], 8, 11, 11);
    assert_int_equal(out.request[0].cached, 0);
    assert_int_equal(out.request[1].cached, 16);
    assert_int_equal(out.request[2].cached, 16);
    assert_near(sums.blocks_s, 11 * 2, 1e-12); /* each has two blocks */
}

/* A cache of 4 blocks: the third prompt needs 3, so two of the idle ones go. Block 2 is idle since
 * the first prompt, which used 1 as well, as the second one did after it. Of that one 3 became idle
 * before 1. So 2 and 3 go, and 1 is found. */
static void test_eviction(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given all[] = {{0, 32, 1}, {10, 32, 1}, {20, 48, 1}, {30, 48, 1}, {40, 32, 1}};
    static const uint64_t *const ids[] = {one_two, one_three, others, others, one_three};
    limits.part_blocks = 1;
    limits.blocks = 4;
    (void)run_named(&out, limits, all, ids, 5);
    assert_int_equal(out.request[1].cached, 16);
    assert_int_equal(out.request[2].cached, 0);
    assert_int_equal(out.request[3].cached, 32);
    assert_int_equal(out.request[4].cached, 16);
}

/* Two requests share two blocks: a cache of 4 has room for both, with one block of their own each.
 * They are prefilled in one step, of which the second one takes the blocks at once: 33 tokens and
 * 1. Without ids it has no room before the first one ends. */
static void test_shared_blocks(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given all[] = {{0, 33, 2}, {0, 33, 2}};
    static const uint64_t *const ids[] = {others, others};
    static const uint64_t *const none[] = {others, NULL};
    limits.part_blocks = 1;
    limits.blocks = 4;
    (void)run_named(&out, limits, all, ids, 2);
    assert_int_equal(out.request[1].cached, 32);
    check(&out.request[0], 0, 1 + 34. / 8, 1 + 34. / 8 + 1.5);
    check(&out.request[1], 0, 1 + 34. / 8, 1 + 34. / 8 + 1.5);
    (void)run_named(&out, limits, all, none, 2);
    assert_near(out.request[1].scheduled_s, 1 + 33. / 8 + 1.25, 1e-12);
}

/* Three drafts that are all accepted: 9 tokens after the first are 4, 4 and 1, in a step each. None
 * that is accepted: 9 steps. */
static void test_drafts(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given one = {0, 16, 10};
    limits.drafts = (struct roof_drafts){.tokens = 3, .acceptance = 1, .seed = 1};
    struct roof_scheduler_sums sums = run(&out, limits, &one, 1);
    check(&out.request[0], 0, 3, 3 + 3 * 1.25);
    assert_near(sums.decodes, 3, 1e-12);
    assert_near(sums.decoded, 9, 1e-12);
    limits.drafts.acceptance = 0;
    sums = run(&out, limits, &one, 1);
    check(&out.request[0], 0, 3, 3 + 9 * 1.25);
    assert_near(sums.decodes, 9, 1e-12);
    assert_near(sums.decoded, 9, 1e-12);
}

/* A sequence with three drafts takes 4 of a budget of 8, so that a prompt of 7 has two chunks: a
 * step more than where the budget is of prompts alone, or counts one token of the sequence. */
static void test_drafts_in_budget(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given two[] = {{0, 8, 20}, {0.5, 7, 1}};
    limits.budget = 8;
    limits.drafts = (struct roof_drafts){.tokens = 3, .acceptance = 0, .seed = 1};
    (void)run(&out, limits, two, 2);
    check(&out.request[1], 2, 4.125, 4.125);
    limits.budget_has_decode = true;
    (void)run(&out, limits, two, 2);
    check(&out.request[1], 2, 5.375, 5.375);
}

/* A step has places for its drafts: 14 tokens, the new one and three drafts take two blocks, so a
 * cache of three has no room for two such requests, and the second one is put back. */
static void test_drafts_in_cache(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given two[] = {{0, 14, 3}, {0, 14, 3}};
    limits.blocks = 3;
    assert_int_equal(run(&out, limits, two, 2).preemptions, 0);
    limits.drafts = (struct roof_drafts){.tokens = 3, .acceptance = 0, .seed = 1};
    assert_int_equal(run(&out, limits, two, 2).preemptions, 1);
    assert_int_equal(out.request[1].preemptions, 1);
    limits.reserves = true;
    assert_int_equal(run(&out, limits, two, 2).preemptions, 0);
    assert_near(out.request[1].scheduled_s, out.request[0].last_s, 1e-12);
}

/* The drafts of the last step have places, too, but a request of one token has no such step. */
static void test_drafts_that_fit(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    struct roof_scheduler *s = NULL;
    struct roof_scheduler_limits limits = wide();
    limits.blocks = 2;
    limits.drafts = (struct roof_drafts){.tokens = 3, .acceptance = 1, .seed = 1};
    assert_int_equal(roof_step_table_open(&table, plane, NULL, NULL), ROOF_OK);
    assert_int_equal(roof_scheduler_open(&s, &limits, table, keep, NULL, NULL), ROOF_OK);
    assert_true(roof_scheduler_fits(s, 20, 10)); /* 20 + 9 + 3 tokens are two blocks */
    assert_false(roof_scheduler_fits(s, 20, 11));
    assert_true(roof_scheduler_fits(s, 32, 1));
    assert_false(roof_scheduler_fits(s, 31, 2));
    roof_scheduler_free(s);
    roof_step_table_free(table);
}

/* A request accepts what it does whatever else runs: alone and beside others it takes as many
 * steps. */
static void test_drafts_alone(void **state)
{
    (void)state;
    struct served alone;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    struct given all[8];
    limits.drafts = (struct roof_drafts){.tokens = 4, .acceptance = 0.6, .seed = 9};
    const struct given one = {0, 16, 60};
    const struct roof_scheduler_sums sums = run(&alone, limits, &one, 1);
    for (size_t i = 0; i < 8; i++) {
        all[i] = one;
    }
    (void)run(&out, limits, all, 8);
    /* All begin to decode at the same time; the slower ones go on with fewer beside them. */
    assert_near((alone.request[0].last_s - alone.request[0].first_s) / 1.25, sums.decodes, 1e-12);
    size_t ended = 0;
    while (out.order[ended] != 0) {
        ended++;
    }
    double time = out.request[0].first_s;
    double last = time;
    double steps = 0;
    for (size_t i = 0; i <= ended; i++) { /* 8 - i sequences decode until the next one ends */
        const double end = out.request[out.order[i]].last_s;
        steps += (end - last) / (1 + (8 - (double)i) / 4);
        last = end;
    }
    assert_near(steps, sums.decodes, 1e-9);
}

/* At 3 s the first request takes its second block of 4, so the second one has room for its first
 * chunk, but not for its prompt of three blocks before 8 s. */
static void test_whole_prompts(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given two[] = {{0, 16, 5}, {1, 48, 2}};
    limits.blocks = 4;
    limits.budget = 16;
    assert_int_equal(run(&out, limits, two, 2).preemptions, 1);
    assert_near(out.request[1].scheduled_s, 3, 1e-12);
    limits.whole_prompts = true;
    assert_int_equal(run(&out, limits, two, 2).preemptions, 0);
    check(&out.request[0], 0, 3, 8);
    assert_near(out.request[1].scheduled_s, 8, 1e-12);
}

/*
 * If a request is admitted for its first chunk alone, the second one has computed two of its three
 * chunks beside the first one (3.25 s each) when the cache is full at 9.5 s. It loses them in a
 * step of 1.25 s, and computes all three again: one beside the last token of the first request
 * (3.25 s), two alone (3 s each). The budget kept it waiting before that, and the memory does so
 * since.
 */
static void test_computed_again(void **state)
{
    (void)state;
    struct served out;
    struct roof_scheduler_limits limits = wide();
    const struct given two[] = {{0, 16, 5}, {1, 48, 2}};
    limits.blocks = 4;
    limits.budget = 16;
    const struct roof_scheduler_sums sums = run(&out, limits, two, 2);
    check(&out.request[0], 0, 3, 14);
    check(&out.request[1], 3, 20, 21.25);
    assert_near(sums.budget.time_s, 2 * 3.25, 1e-12);
    assert_near(sums.memory.time_s, 1.25 + 3.25 + 2 * 3, 1e-12);
}

/* Prompts have steps alone, and room is kept for half of the new tokens of running sequences. */
static struct roof_scheduler_limits keeps_room(int64_t blocks)
{
    struct roof_scheduler_limits limits = wide();
    limits.blocks = blocks;
    limits.separates = true;
    limits.ratio = (struct roof_new_token_ratio){
        .first = 0.5, .least = 0.5, .decay_steps = 1, .most_tokens = 4096, .retract_steps = 20};
    return limits;
}

/* At 5.5 s the first request has 3 of its 17 tokens and 2 of 6 blocks. The second one needs 48 + 10
 * + 16 tokens, which are more than 64 - 0.5 x 14. So it waits, and with it the third one, for which
 * there is room: no request is tried before the sequence has ended. At 23 s the second one keeps 10
 * + 16 tokens in its own step, and 0.5 x 9 after it. */
static void test_room_for_new_tokens(void **state)
{
    (void)state;
    struct served out;
    const struct given all[] = {{0, 16, 17}, {5, 40, 10}, {5, 1, 2}};
    (void)run(&out, keeps_room(6), all, 3);
    check(&out.request[0], 0, 3, 23);
    assert_near(out.request[1].scheduled_s, 23, 1e-12);
    assert_near(out.request[1].first_s, 29, 1e-12);
    assert_near(out.request[2].scheduled_s, 29, 1e-12);
    assert_near(out.request[2].first_s, 30.125, 1e-12);
}

/* Few new tokens of a request count: 48 + 3 + 16 tokens have room beside 0.5 x 3 of 80. */
static void test_most_new_tokens(void **state)
{
    (void)state;
    struct served out;
    const struct given all[] = {{0, 16, 40}, {1, 40, 10}};
    struct roof_scheduler_limits limits = keeps_room(6);
    limits.ratio.most_tokens = 3;
    (void)run(&out, limits, all, 2);
    assert_near(out.request[1].scheduled_s, 3, 1e-12);
    limits.ratio.most_tokens = 30; /* 48 + 10 + 16, beside 0.5 x 30 */
    (void)run(&out, limits, all, 2);
    assert_near(out.request[1].scheduled_s, out.request[0].last_s, 1e-12);
}

/* The share falls from 1 by a quarter with each decode step. At 3 s it is 1, and 80 - 39 tokens are
 * too few for 16 + 9 + 16; at 5.5 s it is a half, and 64 - 18.5 are enough for 16 + 13 + 16. An
 * engine that was idle begins with 1 again. */
static void test_share_falls(void **state)
{
    (void)state;
    static const struct {
        struct given given[4];
        double scheduled_s;
    } cases[] = {{{{0, 16, 40}, {0.5, 1, 8}}, 3},
                 {{{0, 16, 40}, {0.5, 1, 9}}, 51.75},
                 {{{0, 16, 40}, {4.5, 1, 13}}, 5.5},
                 {{{0, 16, 40}, {4.5, 1, 14}}, 51.75},
                 {{{0, 16, 40}, {0.5, 1, 8}, {100, 16, 40}, {100.5, 1, 9}}, 151.75}};
    struct roof_scheduler_limits limits = keeps_room(6);
    limits.ratio.first = 1;
    limits.ratio.least = 0;
    limits.ratio.decay_steps = 4;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct served out;
        const size_t count = cases[i].given[2].prompt > 0 ? 4 : 2;
        (void)run(&out, limits, cases[i].given, count);
        assert_near(out.request[count - 1].scheduled_s, cases[i].scheduled_s, 1e-12);
    }
}

/* At 10.625 s the third sequence needs a sixth block. All three have 2 tokens, so one of the two
 * longer prompts is put back, the later one, and joins the queue behind the fourth request. The
 * share is then 4 / 31, or 1 if it looks 20 steps ahead: at 33.125 s the sequence, which needs 32 +
 * 13 + 16 tokens, has room beside 14 x 4 / 31 of 64, but not beside 14. */
static void test_fewest_tokens_go_first(void **state)
{
    (void)state;
    const struct given all[] = {{0, 16, 15}, {0, 16, 15}, {3.5, 15, 15}, {9, 16, 15}};
    for (int ahead = 0; ahead < 2; ahead++) {
        struct served out;
        struct roof_scheduler_limits limits = keeps_room(5);
        limits.ratio.first = limits.ratio.least = 0;
        limits.ratio.retract_steps = 20 * ahead;
        assert_int_equal(run(&out, limits, all, 4).preemptions, 1);
        assert_int_equal(out.request[1].preemptions, 1);
        check(&out.request[0], 0, 3, 30.125);
        check(&out.request[1], 3, 6, ahead == 0 ? 54.375 : 68.875);
        check(&out.request[2], 6, 8.875, 30.125);
        check(&out.request[3], 30.125, 33.125, ahead == 0 ? 56.875 : 50.625);
    }
}

/* 20 + 40 tokens, 15 to round blocks up and 16 to spare are fewer than 96. */
static void test_fits_beside_nothing(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    struct roof_scheduler *s = NULL;
    struct roof_scheduler_limits limits = keeps_room(6);
    assert_int_equal(roof_step_table_open(&table, plane, NULL, NULL), ROOF_OK);
    assert_int_equal(roof_scheduler_open(&s, &limits, table, keep, NULL, NULL), ROOF_OK);
    assert_true(roof_scheduler_fits(s, 24, 40));
    assert_false(roof_scheduler_fits(s, 25, 40));
    roof_scheduler_free(s);
    roof_step_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefix_cache),
        cmocka_unit_test(test_eviction),
        cmocka_unit_test(test_shared_blocks),
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_groups_have_budgets),
        cmocka_unit_test(test_groups_share_decoding),
        cmocka_unit_test(test_compiles_once),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_budget_is_shared),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_overhead),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_preemption),
        cmocka_unit_test(test_cache_keeps_waiting),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_pipeline_of_chunks),
        cmocka_unit_test(test_pipeline_of_groups),
        cmocka_unit_test(test_uneven_stages),
        cmocka_unit_test(test_pipelines),
        cmocka_unit_test(test_drafts),
        cmocka_unit_test(test_drafts_in_budget),
        cmocka_unit_test(test_drafts_in_cache),
        cmocka_unit_test(test_drafts_that_fit),
        cmocka_unit_test(test_drafts_alone),
        cmocka_unit_test(test_whole_prompts),
        cmocka_unit_test(test_computed_again),
        cmocka_unit_test(test_room_for_new_tokens),
        cmocka_unit_test(test_most_new_tokens),
        cmocka_unit_test(test_share_falls),
        cmocka_unit_test(test_fewest_tokens_go_first),
        cmocka_unit_test(test_fits_beside_nothing),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_looks_while_full),
        cmocka_unit_test(test_longest),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
