// SPDX-License-Identifier: MIT
/* The closed loop with steps whose times are a plane: 10 s, 2 s per sequence that decodes, and 50 s
 * per chunk of a prompt. */
#include "support.h"

#include "predict/closed_loop.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static enum roof_status plane(struct roof_step_times *out, void *context, double decoding,
                              double chunks, struct roof_error *error)
{
    int *const calls = context;
    (void)error;
    ++*calls;
    *out = (struct roof_step_times){.value = {10 + 2 * decoding + 50 * chunks}};
    out->value[ROOF_STEP_EXPECTED] = 2 * out->value[ROOF_STEP_BOUND];
    out->value[ROOF_STEP_PATH] = 0.75 * out->value[ROOF_STEP_BOUND];
    out->value[ROOF_STEP_EXPECTED_PATH] = 1.5 * out->value[ROOF_STEP_BOUND];
    out->value[ROOF_STEP_TURN] = out->value[ROOF_STEP_BOUND] / 4;
    out->value[ROOF_STEP_EXPECTED_TURN] = out->value[ROOF_STEP_BOUND];
    return ROOF_OK;
}

/* Fails after as many steps as the context says. */
static enum roof_status fails(struct roof_step_times *out, void *context, double decoding,
                              double chunks, struct roof_error *error)
{
    int calls = 0;
    int *const left = context;
    return (*left)-- > 0 ? plane(out, &calls, decoding, chunks, error) : ROOF_USAGE;
}

/* Groups of the attention share a step: a chunk beside that of another takes 1 s more. */
static enum roof_status grouped(struct roof_step_times *out, void *context, double decoding,
                                double chunks, struct roof_error *error)
{
    return plane(out, context, decoding, chunks < 1 ? chunks : 0.98 + 0.02 * chunks, error);
}

static struct roof_loop_times run_with(struct roof_loop loop, roof_step_function *step)
{
    struct roof_loop_times out;
    int calls = 0;
    assert_int_equal(roof_closed_loop(&out, &loop, step, &calls, NULL), ROOF_OK);
    assert_true(calls > 0);
    return out;
}

static struct roof_loop_times run(struct roof_loop loop)
{
    return run_with(loop, plane);
}

/* Checks the bounds of a request and of its parts, and the expected times, which are those of
 * chunks that are spread: twice as long. */
struct by_hand {
    struct roof_loop loop; /* users, steps, chunks, room, lanes, pipeline, groups */
    double ttft, step;     /* spread */
    double bound_ttft, bound_step, bound_whole;
};
static void check_by_hand(const struct by_hand *c, roof_step_function *step)
{
    const struct roof_loop_times t = run_with(c->loop, step);
    assert_near(t.ttft.value[ROOF_STEP_BOUND], c->bound_ttft, 1e-12);
    assert_near(t.step.value[ROOF_STEP_BOUND], c->bound_step, 1e-12);
    assert_near(t.whole.value[ROOF_STEP_BOUND], c->bound_whole, 1e-12);
    assert_near(t.ttft.value[ROOF_STEP_EXPECTED], 2 * c->ttft, 1e-12);
    assert_near(t.step.value[ROOF_STEP_EXPECTED], 2 * c->step, 1e-12);
    assert_near(t.whole.value[ROOF_STEP_EXPECTED], 2 * (c->ttft + c->loop.steps * c->step), 1e-12);
    assert_near(t.step.value[ROOF_STEP_PATH], 0.75 * c->bound_step, 1e-12);
}

/* Numbers that one works out by hand. No schedule of a plane has less work than another, so the
 * bound of the whole is that of each. */
static void test_by_hand(void **state)
{
    (void)state;
    static const struct by_hand cases[] = {
        /* One user: its chunks alone, then its steps alone. */
        {{1, 99, 2, 1, 1, false, 1}, 120, 12, 120, 12, 1308},
        {{1, 0, 3, 1, 1, false, 1}, 180, 0, 180, 0, 180},
        {{1, 99, 1, 8, 1, false, 1}, 60, 12, 60, 12, 1248},
        /* 100 steps, in which 4.9 decode; 8 of the 98 steps of a user have a chunk of another. One
         * prompt at a time has four sequences beside it, and five decode in the other steps, which
         * take 20 s: a shorter first token, and longer steps. */
        {{5, 98, 2, 1, 1, false, 1}, 139.6, 19.8 + 50 * 8. / 98, 136, 19.8 + 50 * 8. / 98, 2480},
        /* All 8 steps of a user have the 8 chunks of the others: 4 users decode. */
        {{5, 8, 2, 1, 1, false, 1}, 136, 68, 136, 68, 680},
        /* 60 chunks in 10 steps, 6 in each, beside 24 sequences; or eight in 7.5 steps, 5.5 of them
         * among the 8 in which a user decodes: beside 22 they take 454 s, and the others 70 s. */
        {{30, 8, 2, 8, 1, false, 1}, 716, 358, 716, 70 + 384 * 5.5 / 8, 3580},
        /* A step takes no more than one: 60 steps, in which 30 x 8 / 60 decode. */
        {{30, 8, 2, 1, 1, false, 1}, 52 * 68, 68, 52 * 68, 68, 60 * 68},
        /* One token: nobody decodes, and four prompts share a step, or two do. */
        {{4, 0, 1, 8, 1, false, 1}, 210, 0, 210, 0, 210},
        {{4, 0, 1, 2, 1, false, 1}, 2 * 110, 0, 2 * 110, 0, 2 * 110},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_by_hand(&cases[i], plane);
    }
}

/* Chunks of several prompts in the same steps lower the bounds, and leave the expected times as
 * they are. */
static void test_together(void **state)
{
    (void)state;
    static const struct by_hand cases[] = {
        /* Spread, 7.84 decode, and 14 of 98 steps have a chunk. Or four decode beside four chunks
         * in 4 of 98 x 2 steps, 10 + 8 + 53 s each, and eight decode in the others. */
        {{8, 98, 2, 4, 1, false, 4},
         151.36,
         25.68 + 50 * 14. / 98,
         142,
         26 + 45. * 4 / 196,
         142 + 98 * 26 + 45. * 2},
        /* No groups, and four users: all four prefill together, in 10 + 53 s. */
        {{4, 98, 2, 4, 1, false, 1}, 135.68, 17.84 + 50 * 6. / 98, 126, 18, 126 + 98 * 18},
        /* Room for six changes nothing. With room for three and a half: three beside one, in 65
         * s, are the longer way to the first token, and fewer steps have chunks: 2 / 3. */
        {{4, 98, 2, 6, 1, false, 1}, 135.68, 17.84 + 50 * 6. / 98, 126, 18, 126 + 98 * 18},
        {{4, 98, 2, 3.5, 1, false, 1},
         135.68,
         17.84 + 50 * 6. / 98,
         128,
         18 + 46 * 2. / 294,
         128 + 98 * 18 + 46 * 2. / 3},
        /* Fewer users than groups: none has a chunk beside its steps. */
        {{3, 98, 2, 4, 1, false, 4}, 131.76, 15.88 + 50 * 4. / 98, 124, 16, 124 + 98 * 16},
        /* Two chunks beside eight sequences in each step; or four beside six in 12 of 32. */
        {{10, 8, 2, 4, 1, false, 4}, 154, 77, 150, 30 + 45 * 0.375, 150 + 240 + 135},
        /* Prompts wait for steps that are full: 60 chunks in 15 steps, beside 16 sequences. */
        {{30, 8, 2, 4, 1, false, 4}, 7 * 95, 95, 7 * 95, 95, 15 * 95},
        /* Six chunks beside 24 sequences in each step, 55 s for the chunks; or eight beside 22 in
         * 5.5 of 8, in 111 s instead of 70 s. */
        {{30, 8, 2, 8, 1, false, 4}, 226, 113, 222, 70 + 41 * 5.5 / 8, 222 + 560 + 41 * 5.5},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_by_hand(&cases[i], grouped);
    }
}

/*
 * Lanes of a pipeline wait for each other's chunks: 5 users of 100 steps have 10 chunks, so each
 * other lane has one in a tenth of its steps. Of a user's own steps 90/98 have none, and of these
 * 1 - 0.9^2 have one in two other lanes: they take 50 s more, twice that of expected time.
 */
static void test_lanes(void **state)
{
    (void)state;
    const struct roof_loop_times alone = run((struct roof_loop){5, 98, 2, 1, 1, false, 1});
    const struct roof_loop_times three = run((struct roof_loop){5, 98, 2, 1, 3, false, 1});
    const double more = 90. / 98 * (1 - 0.81) * 50;
    assert_near(three.step.value[ROOF_STEP_BOUND], alone.step.value[ROOF_STEP_BOUND], 0);
    assert_near(three.step.value[ROOF_STEP_EXPECTED],
                alone.step.value[ROOF_STEP_EXPECTED] + 2 * more, 1e-12);
    assert_near(three.ttft.value[ROOF_STEP_EXPECTED], alone.ttft.value[ROOF_STEP_EXPECTED], 0);
    /* No lane waits where each step has chunks. One user alone has steps of 12 s, or of 60 s. */
    assert_near(run((struct roof_loop){30, 8, 2, 8, 4, false, 1}).step.value[ROOF_STEP_EXPECTED],
                2 * 358, 1e-12);
    assert_near(run((struct roof_loop){1, 99, 1, 1, 2, false, 1}).step.value[ROOF_STEP_EXPECTED],
                2 * (12 + 0.01 * (60 - 12)), 1e-12);
}

/* In a pipeline the chunks of a prompt follow each other: the first is 45 s on its way through the
 * stages, and two more are out a turn of 15 s later each; expected times are 90 s and 60 s. Prompts
 * alone fill all lanes, with steps of 60 s. */
static void test_chunks_follow(void **state)
{
    (void)state;
    const struct roof_loop_times t = run((struct roof_loop){1, 99, 3, 1, 1, true, 1});
    assert_near(t.ttft.value[ROOF_STEP_BOUND], 45 + 2 * 15, 1e-12);
    assert_near(t.ttft.value[ROOF_STEP_EXPECTED], 90 + 2 * 60, 1e-12);
    assert_near(run((struct roof_loop){1, 0, 3, 1, 1, true, 1}).ttft.value[ROOF_STEP_BOUND], 75,
                1e-12);
    assert_near(run((struct roof_loop){1, 0, 3, 1, 4, true, 1}).ttft.value[ROOF_STEP_BOUND], 180,
                1e-12);
}

/* A cycle takes what its steps and all chunks in it take, whatever the regime: no work is lost, and
 * none is done twice. */
static void test_work(void **state)
{
    (void)state;
    for (int b = 2; b < 60; b++) {
        for (int s = 1; s < 200; s += 7) {
            for (int k = 1; k < 6; k++) {
                for (int room = 1; room < 9; room += 3) {
                    const struct roof_loop loop = {b, s, k, room, 1, false, 1};
                    const struct roof_loop_times t = run(loop);
                    const double chunks = (double)b * k;
                    const double n = chunks / room > s + k ? chunks / room : s + k;
                    const double work = n * (10 + 2. * b * s / n) + 50 * chunks;
                    assert_near(t.whole.value[ROOF_STEP_BOUND] / work, 1, 1e-12);
                    assert_near(t.whole.value[ROOF_STEP_EXPECTED] / work, 2, 1e-12);
                    assert_true(t.ttft.value[0] + s * t.step.value[0] <= work * (1 + 1e-12));
                }
            }
        }
    }
}

/* More users make nothing faster, and the times have no jumps where the regime changes. */
static void test_users(void **state)
{
    (void)state;
    for (int room = 1; room < 9; room++) {
        const int groups = room < 4 ? 1 : 2 + room / 8;
        struct roof_loop loop = {1.001, 50, 3, room, 1, false, groups};
        struct roof_loop_times before = run_with(loop, grouped);
        loop.users = 1.01;
        while (loop.users < 300) {
            loop.users *= 1.001;
            const struct roof_loop_times t = run_with(loop, grouped);
            const double ttft = t.ttft.value[0] / before.ttft.value[0];
            const double step = t.step.value[0] / before.step.value[0];
            const double whole = t.whole.value[0] / before.whole.value[0];
            assert_true(ttft >= 1 - 1e-12 && ttft < 1.1);
            assert_true(step >= 1 - 1e-12 && step < 1.1);
            assert_true(whole >= 1 - 1e-12 && whole < 1.1);
            before = t;
        }
    }
}

/* Each step can fail. */
static void test_failure(void **state)
{
    (void)state;
    static const struct {
        struct roof_loop loop;
        int steps;
    } cases[] = {{{1, 9, 1, 1, 1, false, 1}, 2},   /* the chunk alone, and a step */
                 {{5, 98, 2, 1, 2, true, 1}, 4},   /* two spread, and two of one prompt at a time */
                 {{8, 98, 2, 6, 1, false, 4}, 6},  /* one, four and six at a time */
                 {{30, 8, 2, 8, 1, false, 1}, 3}}; /* full ones, and two with eight at a time */
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int steps = 0; steps <= cases[i].steps; steps++) {
            struct roof_loop_times out;
            int left = steps;
            const enum roof_status status =
                roof_closed_loop(&out, &cases[i].loop, fails, &left, NULL);
            assert_int_equal(status, steps < cases[i].steps ? ROOF_USAGE : ROOF_OK);
            assert_int_equal(left, steps < cases[i].steps ? -1 : 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_together),
        cmocka_unit_test(test_lanes),   cmocka_unit_test(test_chunks_follow),
        cmocka_unit_test(test_work),    cmocka_unit_test(test_users),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
