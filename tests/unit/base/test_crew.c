// SPDX-License-Identifier: MIT
/* Work in threads: every part is done once, and the first failure is that of one thread. */
#include "support.h"

#include <time.h>

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

/* Parts that wait until so many are under way at once, or some seconds have passed. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t wanted;
    size_t present;
    size_t most;
    bool met;
    int done;
};

static enum roof_status meet(void *context, size_t number, struct roof_error *error)
{
    struct meeting *const m = context;
    struct timespec until;
    (void)number;
    (void)error;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    pthread_mutex_lock(&m->lock);
    m->present++;
    m->most = m->present > m->most ? m->present : m->most;
    m->met = m->met || m->present >= m->wanted;
    pthread_cond_broadcast(&m->changed);
    int late = 0;
    while (!m->met && late == 0) {
        late = pthread_cond_timedwait(&m->changed, &m->lock, &until);
    }
    m->present--;
    pthread_mutex_unlock(&m->lock);
    /* Long enough for the first thread to be done, if it did not wait for the others. */
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    pthread_mutex_lock(&m->lock);
    m->done++;
    pthread_mutex_unlock(&m->lock);
    return ROOF_OK;
}

/* As many parts are under way at once as there are threads, or parts if they are fewer, and never
 * more. All are done when the crew is. */
static void test_threads(void **state)
{
    static const struct {
        size_t count;
        int64_t threads;
        size_t at_once;
    } cases[] = {{3, 0, 1}, {3, 1, 1}, {1, 5, 1}, {2, 2, 2},  {3, 2, 2},
                 {2, 3, 2}, {3, 3, 3}, {4, 3, 3}, {5, 200, 5}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct meeting m = {.wanted = cases[i].at_once};
        struct roof_error error = {.line = 7};
        pthread_mutex_init(&m.lock, NULL);
        pthread_cond_init(&m.changed, NULL);
        assert_int_equal(roof_crew_run(cases[i].count, cases[i].threads, meet, &m, &error),
                         ROOF_OK);
        assert_true(m.met);
        assert_int_equal(m.most, cases[i].at_once);
        assert_int_equal(m.done, cases[i].count);
        assert_int_equal(error.line, 7); /* as it was */
        pthread_cond_destroy(&m.changed);
        pthread_mutex_destroy(&m.lock);
    }
}

/* Two parts are under way at once, and `first` says which of them fails first. */
struct quarrel {
    struct meeting meeting;
    size_t first;
};

static enum roof_status fail_in_turn(void *context, size_t number, struct roof_error *error)
{
    struct quarrel *const q = context;
    (void)meet(&q->meeting, number, error);
    if (number != q->first) {
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    }
    return roof_error_set(error, ROOF_INVALID, "part %zu", number);
}

/* The failure of the first part counts, whichever comes first. */
static void test_order(void **state)
{
    (void)state;
    for (size_t first = 0; first < 2; first++) {
        struct quarrel q = {.meeting = {.wanted = 2}, .first = first};
        struct roof_error error = {0};
        pthread_mutex_init(&q.meeting.lock, NULL);
        pthread_cond_init(&q.meeting.changed, NULL);
        assert_int_equal(roof_crew_run(2, 2, fail_in_turn, &q, &error), ROOF_INVALID);
        assert_string_equal(error.message, "part 0");
        pthread_cond_destroy(&q.meeting.changed);
        pthread_mutex_destroy(&q.meeting.lock);
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
                                       cmocka_unit_test(test_threads), cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_halt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
