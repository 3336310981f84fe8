// SPDX-License-Identifier: MIT
/* Makes answers in separate threads, so that a loop never waits for them. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "server.h"

/* A job pauses while this many bytes have not been taken. */
#define WAITING_MAX 262144

struct cli_job {
    struct roof_exchange exchange;
    int wake;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct roof_text bytes;
    bool done;
    bool cancelled;
};

static void tell(const struct cli_job *job)
{
    /* A full pipe wakes its reader anyway. */
    ssize_t written = 0;
    do {
        written = write(job->wake, "", 1);
    } while (written < 0 && errno == EINTR);
}

/* --- the thread of the job ------------------------------------------------------------------- */

static bool on_put(void *context, const char *bytes, size_t length)
{
    struct cli_job *const job = context;
    (void)pthread_mutex_lock(&job->lock);
    while (job->bytes.length > WAITING_MAX && !job->cancelled) {
        (void)pthread_cond_wait(&job->changed, &job->lock);
    }
    roof_text_add(&job->bytes, bytes, length);
    const bool good = !job->cancelled && !job->bytes.failed;
    (void)pthread_mutex_unlock(&job->lock);
    tell(job);
    return good;
}

static bool on_stop(void *context)
{
    struct cli_job *const job = context;
    (void)pthread_mutex_lock(&job->lock);
    const bool cancelled = job->cancelled;
    (void)pthread_mutex_unlock(&job->lock);
    return cancelled;
}

static void on_wait(void *context, double seconds)
{
    struct cli_job *const job = context;
    struct timespec due = {0};
    int status = 0;
    const double bounded = fmin(seconds, 1e6);
    (void)clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_sec += (time_t)bounded;
    due.tv_nsec += (long)(1e9 * (bounded - floor(bounded)));
    if (due.tv_nsec >= 1000000000) {
        due.tv_sec++;
        due.tv_nsec -= 1000000000;
    }
    (void)pthread_mutex_lock(&job->lock);
    while (!job->cancelled && status == 0) {
        status = pthread_cond_timedwait(&job->changed, &job->lock, &due);
    }
    (void)pthread_mutex_unlock(&job->lock);
}

static void *work(void *context)
{
    struct cli_job *const job = context;
    const struct roof_outlet outlet = {
        .context = job, .put = on_put, .stop = on_stop, .wait = on_wait};
    roof_exchange_run(&job->exchange, &outlet);
    (void)pthread_mutex_lock(&job->lock);
    job->done = true;
    (void)pthread_mutex_unlock(&job->lock);
    tell(job);
    return NULL;
}

/* --- the thread of the loop ------------------------------------------------------------------ */

/* Makes the lock, and the condition, which uses the monotonic clock. */
static bool prepare(struct cli_job *job)
{
    pthread_condattr_t attributes;
    if (pthread_mutex_init(&job->lock, NULL) != 0) {
        return false;
    }
    bool good = pthread_condattr_init(&attributes) == 0;
    if (good) {
        good = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
               pthread_cond_init(&job->changed, &attributes) == 0;
        (void)pthread_condattr_destroy(&attributes);
    }
    if (!good) {
        (void)pthread_mutex_destroy(&job->lock);
    }
    return good;
}

static void release(struct cli_job *job)
{
    (void)pthread_cond_destroy(&job->changed);
    (void)pthread_mutex_destroy(&job->lock);
    roof_text_free(&job->bytes);
    free(job);
}

struct cli_job *cli_job_begin(struct roof_exchange *x, int wake)
{
    struct cli_job *const job = calloc(1, sizeof *job);
    if (job == NULL) {
        return NULL;
    }
    job->wake = wake;
    job->exchange = *x;
    if (!prepare(job)) {
        free(job);
        return NULL;
    }
    if (pthread_create(&job->thread, NULL, work, job) != 0) {
        release(job);
        return NULL;
    }
    return job;
}

bool cli_job_take(struct cli_job *job, struct roof_text *bytes)
{
    (void)pthread_mutex_lock(&job->lock);
    *bytes = job->bytes;
    job->bytes = (struct roof_text)ROOF_TEXT_INIT;
    const bool done = job->done;
    (void)pthread_cond_broadcast(&job->changed);
    (void)pthread_mutex_unlock(&job->lock);
    return done;
}

void cli_job_cancel(struct cli_job *job)
{
    (void)pthread_mutex_lock(&job->lock);
    job->cancelled = true;
    (void)pthread_cond_broadcast(&job->changed);
    (void)pthread_mutex_unlock(&job->lock);
}

void cli_job_end(struct cli_job *job, struct roof_exchange *x)
{
    (void)pthread_join(job->thread, NULL);
    *x = job->exchange;
    release(job);
}
