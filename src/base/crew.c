// SPDX-License-Identifier: MIT
#include "base/crew.h"

#include <stdlib.h>

#include "base/base.h"

/* A simulation needs less than a tenth of it; sanitizers need several times as much. */
#define STACK_SIZE ((size_t)2 * 1024 * 1024)

struct crew {
    roof_crew_task *task;
    void *context;
    size_t count;
    pthread_mutex_t lock;
    size_t next;             /* the part that is begun next */
    size_t failed;           /* the first one that failed; count: none did */
    enum roof_status status; /* of that part */
    struct roof_error error;
};

/* Begins parts in their order until none is left, or one has failed. So all parts before the first
 * failed one are done, and which part that is does not depend on the threads. */
static void *work(void *context)
{
    struct crew *const c = context;
    (void)pthread_mutex_lock(&c->lock);
    while (c->next < c->count && c->failed == c->count) {
        const size_t number = c->next++;
        struct roof_error error = {.status = ROOF_OK};
        (void)pthread_mutex_unlock(&c->lock);
        const enum roof_status status = c->task(c->context, number, &error);
        (void)pthread_mutex_lock(&c->lock);
        if (status != ROOF_OK && number < c->failed) {
            c->failed = number;
            c->status = status;
            c->error = error;
        }
    }
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Starts threads, and returns how many; fewer than asked for are enough. */
static size_t start(struct crew *c, pthread_t *thread, size_t threads)
{
    pthread_attr_t attributes;
    size_t started = 0;
    if (pthread_attr_init(&attributes) != 0) {
        return 0;
    }
    (void)pthread_attr_setstacksize(&attributes, STACK_SIZE); /* else the default size */
    while (started < threads && pthread_create(&thread[started], &attributes, work, c) == 0) {
        started++;
    }
    (void)pthread_attr_destroy(&attributes);
    return started;
}

enum roof_status roof_crew_run(size_t count, int64_t threads, roof_crew_task *task, void *context,
                               struct roof_error *error)
{
    struct crew c = {.task = task, .context = context, .count = count, .failed = count};
    const size_t others = threads < 2 || count < 2    ? 0
                          : (uint64_t)threads > count ? count - 1
                                                      : (size_t)threads - 1;
    pthread_t *const thread = others == 0 ? NULL : calloc(others, sizeof *thread);
    (void)pthread_mutex_init(&c.lock, NULL);
    const size_t started = thread == NULL ? 0 : start(&c, thread, others);
    (void)work(&c);
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(thread[i], NULL);
    }
    (void)pthread_mutex_destroy(&c.lock);
    free(thread);
    if (c.failed < count && error != NULL) {
        *error = c.error;
    }
    return c.failed < count ? c.status : ROOF_OK;
}

/* --- halts --------------------------------------------------------------------------------- */

static bool ask(void *context)
{
    struct roof_halt_guard *const g = context;
    const bool now = pthread_equal(pthread_self(), g->owner) != 0 && g->halt.asked(g->halt.context);
    (void)pthread_mutex_lock(&g->lock);
    g->stopped = g->stopped || now;
    const bool stopped = g->stopped;
    (void)pthread_mutex_unlock(&g->lock);
    return stopped;
}

void roof_halt_guard_open(struct roof_halt_guard *out, const struct roof_halt *halt)
{
    out->halt = *halt;
    out->owner = pthread_self();
    out->stopped = false;
    (void)pthread_mutex_init(&out->lock, NULL);
}

struct roof_halt roof_halt_guarded(struct roof_halt_guard *guard)
{
    return guard->halt.asked == NULL ? guard->halt : (struct roof_halt){ask, guard};
}

void roof_halt_guard_close(struct roof_halt_guard *guard)
{
    (void)pthread_mutex_destroy(&guard->lock);
}
