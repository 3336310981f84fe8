// SPDX-License-Identifier: MIT
/* The kernels of plans: each plan is that of one stack, the best of those whose engines run it.
 * Each stack is asked for alone, and the plans of all questions are compared. */
#include "models.h"

#include "decide/plan_inputs.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const ids[] = {"h100-sxm", "l40s", "mi300x"};

static struct {
    struct roof_hardware *hardware[COUNT(ids)];
    struct roof_model *model;
    struct roof_engines *engines;
    struct roof_plan_inputs inputs;
} world;

static int set_up(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(ids); i++) {
        if (roof_hardware_load(&world.hardware[i], ids[i], NULL, NULL) != ROOF_OK ||
            roof_hardware_calibrate(world.hardware[i], NULL, NULL, NULL) != ROOF_OK) {
            return -1;
        }
    }
    world.model = load("llama-3.1-8b");
    return roof_engines_load(&world.engines, NULL) == ROOF_OK ? 0 : -1;
}

static int tear_down(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(ids); i++) {
        roof_hardware_free(world.hardware[i]);
    }
    roof_model_free(world.model);
    roof_engines_free(world.engines);
    return 0;
}

static int begin(void **unused)
{
    (void)unused;
    static const int64_t counts[] = {1, 2, 4};
    static const int64_t batches[] = {1, 7, 100, 400};
    roof_plan_inputs_init(&world.inputs);
    world.inputs.kind = ROOF_PLAN_AGGREGATED;
    world.inputs.model = world.model;
    world.inputs.hardware = (const struct roof_hardware *const *)world.hardware;
    world.inputs.hardware_count = COUNT(ids);
    world.inputs.engines = world.engines;
    world.inputs.base.context = 2048;
    world.inputs.batch = batches;
    world.inputs.batches = COUNT(batches);
    world.inputs.devices = counts;
    world.inputs.device_counts = COUNT(counts);
    return 0;
}

static struct roof_plan_answer *answer(void)
{
    struct roof_plan_answer *out = NULL;
    struct roof_error error;
    if (roof_plan_answer_open(&out, &world.inputs, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return out;
}

/* Asks for the kernels of one stack. */
static struct roof_plan_answer *answer_in(enum roof_stack stack)
{
    world.inputs.stack_given = true;
    world.inputs.base.common.stack = stack;
    struct roof_plan_answer *const out = answer();
    world.inputs.stack_given = false;
    world.inputs.base.common.stack = ROOF_STACK_BEST;
    return out;
}

/* Finds the plan of the same place; NULL: there is none. */
static const struct roof_plan *find(const struct roof_plan_answer *in, const struct roof_plan *p)
{
    for (size_t i = 0; i < in->plans.count; i++) {
        const struct roof_plan *const other = &in->plans.plan[i];
        if (other->hardware == p->hardware && other->serving == p->serving &&
            memcmp(&other->split, &p->split, sizeof p->split) == 0 &&
            other->devices == p->devices && other->batch == p->batch) {
            return other;
        }
    }
    return NULL;
}

/* All that a plan of the stack itself has; the engines of it are those of its stack. */
static void assert_same_plan(const struct roof_plan *got, const struct roof_plan *alone)
{
    assert_true(got->ttft_s == alone->ttft_s && got->step_s == alone->step_s);
    assert_true(got->step_low_s == alone->step_low_s && got->step_high_s == alone->step_high_s);
    assert_true(got->tokens_per_s == alone->tokens_per_s);
    assert_true(got->near == alone->near && got->ttft_near == alone->ttft_near);
    assert_true(got->memory_bytes == alone->memory_bytes);
    assert_int_equal(got->engines, alone->engines);
    for (size_t i = 0; i < world.engines->count; i++) {
        if ((got->engines >> i & 1U) != 0) {
            assert_int_equal(world.engines->engine[i].stack, got->stack);
        }
    }
}

/* Compares the plans of all stacks with those of each alone. Returns how many different stacks the
 * plans have, as bits. */
static unsigned check(void)
{
    struct roof_plan_answer *alone[ROOF_STACK_COUNT] = {NULL};
    struct roof_plan_answer *const all = answer();
    unsigned met = 0;
    for (int s = ROOF_STACK_BEST + 1; s < ROOF_STACK_AITER; s++) {
        alone[s] = answer_in((enum roof_stack)s);
    }
    for (size_t i = 0; i < all->plans.count; i++) {
        const struct roof_plan *const p = &all->plans.plan[i];
        if (p->basis == ROOF_PLAN_BOUND) {
            assert_int_equal(p->stack, ROOF_STACK_BEST);
            continue;
        }
        met |= 1U << p->stack;
        const struct roof_plan *const same = find(alone[p->stack], p);
        assert_non_null(same);
        assert_same_plan(p, same);
        for (int s = ROOF_STACK_BEST + 1; s < ROOF_STACK_AITER; s++) {
            const struct roof_plan *const other = find(alone[s], p);
            assert_true(other == NULL || roof_plan_score(p, world.inputs.objective) <=
                                             roof_plan_score(other, world.inputs.objective));
        }
    }
    for (int s = ROOF_STACK_BEST + 1; s < ROOF_STACK_AITER; s++) { /* nor is a plan missing */
        for (size_t i = 0; i < alone[s]->plans.count; i++) {
            assert_non_null(find(all, &alone[s]->plans.plan[i]));
        }
        roof_plan_answer_free(alone[s]);
    }
    roof_plan_answer_free(all);
    return met;
}

static void test_each_alone(void **unused)
{
    (void)unused;
    unsigned met = 0;
    for (int requests = 0; requests < 2; requests++) {
        world.inputs.base.context = requests == 0 ? 2048 : 0;
        world.inputs.base.prompt = requests == 0 ? 0 : 1500;
        world.inputs.base.generate = requests == 0 ? 0 : 100;
        world.inputs.objective = ROOF_PLAN_THROUGHPUT;
        met |= check();
        world.inputs.objective = ROOF_PLAN_LATENCY;
        met |= check();
    }
    assert_true((met & 1U << ROOF_STACK_BEST) == 0);
    assert_true((met & (met - 1)) != 0); /* not all plans are of one stack */
}

/* A stack that keeps a limit which the fastest one misses is taken. */
static void test_limit(void **unused)
{
    (void)unused;
    world.inputs.base.context = 0;
    world.inputs.base.prompt = 1500;
    world.inputs.base.generate = 100;
    struct roof_plan_answer *alone[ROOF_STACK_COUNT] = {NULL};
    struct roof_plan_answer *const all = answer();
    size_t kept = 0;
    for (int s = ROOF_STACK_BEST + 1; s < ROOF_STACK_AITER; s++) {
        alone[s] = answer_in((enum roof_stack)s);
    }
    for (size_t i = 0; i < all->plans.count && kept < 5; i++) {
        const struct roof_plan *const p = &all->plans.plan[i];
        const struct roof_plan *sooner = NULL;
        for (int s = ROOF_STACK_BEST + 1; s < ROOF_STACK_AITER && p->basis != ROOF_PLAN_BOUND;
             s++) {
            const struct roof_plan *const other = find(alone[s], p);
            sooner = other != NULL && other->ttft_s < p->ttft_s ? other : sooner;
        }
        if (sooner != NULL) {
            world.inputs.limit[ROOF_PLAN_LIMIT_TTFT] = (sooner->ttft_s + p->ttft_s) / 2;
            struct roof_plan_answer *const limited = answer();
            const struct roof_plan *const other = find(limited, p);
            assert_non_null(other);
            assert_true(other->ttft_s <= world.inputs.limit[ROOF_PLAN_LIMIT_TTFT]);
            assert_int_not_equal(other->stack, p->stack);
            roof_plan_answer_free(limited);
            kept++;
        }
    }
    assert_true(kept > 0);
    for (int s = ROOF_STACK_BEST + 1; s < ROOF_STACK_AITER; s++) {
        roof_plan_answer_free(alone[s]);
    }
    roof_plan_answer_free(all);
}

/* Engines without measured kernels count where no other engine runs the plan, and then take the
 * fastest of all kernels, or their own; a stack that is asked for as the best is that of all
 * engines. */
static void test_lent(void **unused)
{
    (void)unused;
    world.inputs.engine = "all";
    struct roof_plan_answer *a = answer();
    size_t lent = 0;
    for (size_t i = 0; i < a->plans.count; i++) {
        const struct roof_plan *const p = &a->plans.plan[i];
        if (p->basis == ROOF_PLAN_EXPECTED) {
            const unsigned borrowed = p->engines & world.engines->lent;
            assert_true(borrowed == 0 || borrowed == p->engines);
            assert_int_equal(p->stack == ROOF_STACK_BEST || p->stack == ROOF_STACK_LLAMA_CPP,
                             borrowed != 0);
            assert_true(p->stack != ROOF_STACK_BEST || (p->near == 1 && p->ttft_near == 1));
            lent += borrowed != 0;
        }
    }
    assert_true(lent > 0);
    roof_plan_answer_free(a);
    world.inputs.engine = NULL;
    a = answer_in(ROOF_STACK_BEST);
    for (size_t i = 0; i < a->plans.count; i++) {
        assert_int_equal(a->plans.plan[i].stack, ROOF_STACK_BEST);
    }
    roof_plan_answer_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_each_alone, begin),
                                       cmocka_unit_test_setup(test_limit, begin),
                                       cmocka_unit_test_setup(test_lent, begin)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
