// SPDX-License-Identifier: MIT
/* Work in threads: every part is done once, and the first failure is that of one thread. */
#include "support.h"

#include "base/crew.h"

#define PARTS 100

struct parts {
    int done[PARTS];
    size_t fails[2]; /* parts that fail; PARTS: none */
    struct roof_halt halt;
};

static enum roof_status do_part(void *context, size_t number, struct roof_error *error)
{
    struct parts *const parts = context;
    parts->done[number]++;
    if (number == parts->fails[0] || number == parts->fails[1]) {
        return roof_error_set(error, ROOF_INVALID, "part %zu", number);
    }
    return roof_halt_check(&parts->halt, error);
}

static const int64_t threads[] = {0, 1, 2, 7, 200};

static void test_all(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct parts parts = {.fails = {PARTS, PARTS}};
        assert_int_equal(roof_crew_run(PARTS, threads[t], do_part, &parts, NULL), ROOF_OK);
        for (size_t i = 0; i < PARTS; i++) {
            assert_int_equal(parts.done[i], 1);
        }
        assert_int_equal(roof_crew_run(0, threads[t], do_part, &parts, NULL), ROOF_OK);
        assert_int_equal(roof_crew_run(1, threads[t], do_part, &parts, NULL), ROOF_OK);
        assert_int_equal(parts.done[0], 2);
    }
}

/* The first of two parts that fail counts, and all before it are done. */
static void test_failures(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct parts parts = {.fails = {60, 41}};
        struct roof_error error = {0};
        assert_int_equal(roof_crew_run(PARTS, threads[t], do_part, &parts, &error), ROOF_INVALID);
        assert_string_equal(error.message, "part 41");
        for (size_t i = 0; i <= 41; i++) {
            assert_int_equal(parts.done[i], 1);
        }
        assert_int_equal(roof_crew_run(PARTS, threads[t], do_part, &parts, NULL), ROOF_INVALID);
    }
}

struct asked {
    pthread_t owner;
    int times;
    int elsewhere; /* in another thread */
    int until;     /* it says yes from so many times on */
};

static bool ask(void *context)
{
    struct asked *const asked = context;
    asked->elsewhere += pthread_equal(pthread_self(), asked->owner) == 0;
    return ++asked->times >= asked->until;
}

/* The halt of the caller is asked in its thread alone, and ends all. */
static void test_halt(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct asked asked = {.owner = pthread_self(), .until = 1};
        struct parts parts = {.fails = {PARTS, PARTS}};
        struct roof_halt_guard guard;
        struct roof_error error = {0};
        roof_halt_guard_open(&guard, &(struct roof_halt){ask, &asked});
        parts.halt = roof_halt_guarded(&guard);
        const enum roof_status status = roof_crew_run(PARTS, threads[t], do_part, &parts, &error);
        assert_true(status == ROOF_IO || (status == ROOF_OK && asked.times == 0));
        assert_int_equal(asked.elsewhere, 0);
        assert_true(threads[t] > 1 || (asked.times == 1 && parts.done[1] == 0));
        roof_halt_guard_close(&guard);
    }
    struct roof_halt_guard none;
    roof_halt_guard_open(&none, &(struct roof_halt){NULL, NULL});
    assert_true(roof_halt_guarded(&none).asked == NULL);
    roof_halt_guard_close(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_halt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
