// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* pthread_setaffinity_np */
#include "measure/cpu_team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/base.h"
#include "measure/timing.h"

/* The number of times that a thread checks a barrier before it sleeps. If other processes use the
 * processors, the thread that it waits for may then run. */
#define SPINS 20000

struct member {
    struct roof_cpu_team *team;
    size_t index;
    int cpu;
    pthread_t thread;
    double ran_s[2]; /* the time that it ran in a call with an even or odd number */
};

struct roof_cpu_team {
    struct member *member;
    size_t threads; /* that were started */
    /* The work under way: the lock guards it, and a new turn begins it. */
    pthread_mutex_t lock;
    pthread_cond_t begun;
    pthread_cond_t finished;
    uint64_t turn;
    size_t working;
    bool over;
    roof_cpu_share *share;
    void *context;
    int64_t first;
    int64_t calls;
    struct roof_cpu_call *each; /* NULL: calls are not timed one by one */
    bool ran;                   /* time in which a thread waits for its processor does not count */
    double seconds;
    double wall_s; /* by the clock on the wall */
    /* The barrier between calls. */
    atomic_size_t arrived;
    atomic_uint_fast64_t phase;
    atomic_size_t sleepers;
    pthread_cond_t over_now; /* with the lock */
};

/* Sleeps until the phase is over. The last thread to arrive ends the phase, then checks for
 * sleepers; a sleeper registers, then checks the phase. So one of the two sees the other. */
static void sleep_until_over(struct roof_cpu_team *team, uint_fast64_t phase)
{
    (void)pthread_mutex_lock(&team->lock);
    (void)atomic_fetch_add(&team->sleepers, 1);
    while (atomic_load(&team->phase) == phase) {
        (void)pthread_cond_wait(&team->over_now, &team->lock);
    }
    (void)atomic_fetch_sub(&team->sleepers, 1);
    (void)pthread_mutex_unlock(&team->lock);
}

/* Waits until all threads of the team are here. */
static void barrier(struct roof_cpu_team *team)
{
    const uint_fast64_t phase = atomic_load(&team->phase);
    if (atomic_fetch_add(&team->arrived, 1) + 1 == team->threads) {
        atomic_store(&team->arrived, 0);
        atomic_store(&team->phase, phase + 1);
        if (atomic_load(&team->sleepers) > 0) {
            (void)pthread_mutex_lock(&team->lock);
            (void)pthread_cond_broadcast(&team->over_now);
            (void)pthread_mutex_unlock(&team->lock);
        }
        return;
    }
    for (int spins = 0; spins < SPINS; spins++) {
        if (atomic_load(&team->phase) != phase) {
            return;
        }
    }
    sleep_until_over(team, phase);
}

/* Returns the longest time that a thread ran in a call, which all have finished. */
static double longest(const struct roof_cpu_team *team, int64_t call)
{
    double most = 0;
    for (size_t i = 0; i < team->threads; i++) {
        const double ran = team->member[i].ran_s[call % 2];
        most = ran > most ? ran : most;
    }
    return most;
}

/* Runs the calls by the clock on the wall; returns the seconds. */
static double run_calls(struct roof_cpu_team *team, size_t index)
{
    const double start = roof_seconds();
    for (int64_t call = 0; call < team->calls; call++) {
        team->share(team->context, index, team->threads, team->first + call);
        barrier(team);
    }
    return roof_seconds() - start;
}

/* Runs the calls by the clocks of the threads. No thread begins the call after the next before all
 * have reached the barrier between the two, so two places for times are enough. */
static double run_calls_ran(struct roof_cpu_team *team, size_t index)
{
    double seconds = 0;
    for (int64_t call = 0; call < team->calls; call++) {
        const double start = roof_thread_seconds();
        team->share(team->context, index, team->threads, team->first + call);
        team->member[index].ran_s[call % 2] = roof_thread_seconds() - start;
        barrier(team);
        seconds += index == 0 ? longest(team, call) : 0;
    }
    return seconds;
}

/* Runs the calls and times each of them. */
static double run_each(struct roof_cpu_team *team, size_t index)
{
    const double begin = roof_seconds();
    double wall = begin;
    for (int64_t call = 0; call < team->calls; call++) {
        const double start = roof_thread_seconds();
        team->share(team->context, index, team->threads, call);
        team->member[index].ran_s[call % 2] = roof_thread_seconds() - start;
        barrier(team);
        if (index == 0) {
            const double now = roof_seconds();
            team->each[call] = (struct roof_cpu_call){longest(team, call), now - wall};
            wall = now;
        }
    }
    return wall - begin;
}

static void *work(void *argument)
{
    const struct member *const member = argument;
    struct roof_cpu_team *const team = member->team;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET((size_t)member->cpu, &own);
    (void)pthread_setaffinity_np(pthread_self(), sizeof own, &own); /* unpinned is only noisier */
    uint64_t done = 0;
    (void)pthread_mutex_lock(&team->lock);
    for (;;) {
        while (team->turn == done && !team->over) {
            (void)pthread_cond_wait(&team->begun, &team->lock);
        }
        if (team->over) {
            break;
        }
        done = team->turn;
        (void)pthread_mutex_unlock(&team->lock);
        barrier(team);
        const double start = roof_seconds();
        const double seconds = team->each != NULL ? run_each(team, member->index)
                               : team->ran        ? run_calls_ran(team, member->index)
                                                  : run_calls(team, member->index);
        const double wall_s = roof_seconds() - start;
        (void)pthread_mutex_lock(&team->lock);
        team->seconds = member->index == 0 ? seconds : team->seconds;
        team->wall_s = member->index == 0 ? wall_s : team->wall_s;
        if (--team->working == 0) {
            (void)pthread_cond_signal(&team->finished);
        }
    }
    (void)pthread_mutex_unlock(&team->lock);
    return NULL;
}

void roof_cpu_team_time(struct roof_cpu_team *team, roof_cpu_share *share, void *context,
                        struct roof_cpu_call *call, int64_t calls)
{
    team->each = call; /* all threads sleep */
    (void)roof_cpu_team_run(team, share, context, 0, calls, false);
    team->each = NULL;
}

double roof_cpu_team_run(struct roof_cpu_team *team, roof_cpu_share *share, void *context,
                         int64_t first, int64_t calls, bool ran)
{
    (void)pthread_mutex_lock(&team->lock);
    team->share = share;
    team->context = context;
    team->first = first;
    team->calls = calls;
    team->ran = ran;
    team->working = team->threads;
    team->turn++;
    (void)pthread_cond_broadcast(&team->begun);
    while (team->working > 0) {
        (void)pthread_cond_wait(&team->finished, &team->lock);
    }
    const double seconds = team->seconds;
    (void)pthread_mutex_unlock(&team->lock);
    return seconds;
}

double roof_cpu_team_wall(const struct roof_cpu_team *team)
{
    return team->wall_s;
}

/* Starts the threads of a team, and counts those that were started even if one fails. */
static enum roof_status start(struct roof_cpu_team *team, const struct roof_cpu_topology *topology,
                              size_t threads, struct roof_error *error)
{
    for (size_t i = 0; i < threads; i++) {
        struct member *const m = &team->member[i];
        *m = (struct member){
            .team = team, .index = i, .cpu = topology->cpu[i % topology->cpu_count].number};
        if (pthread_create(&m->thread, NULL, work, m) != 0) {
            return roof_error_set(error, ROOF_IO, "cannot start thread %zu of %zu", i + 1, threads);
        }
        team->threads++;
    }
    return ROOF_OK;
}

enum roof_status roof_cpu_team_new(struct roof_cpu_team **out,
                                   const struct roof_cpu_topology *topology, size_t threads,
                                   struct roof_error *error)
{
    struct roof_cpu_team *const team = calloc(1, sizeof *team);
    struct member *const member = calloc(threads, sizeof *member);
    if (team == NULL || member == NULL) {
        free(team);
        free(member);
        return roof_no_memory(error);
    }
    team->member = member;
    (void)pthread_mutex_init(&team->lock, NULL);
    (void)pthread_cond_init(&team->begun, NULL);
    (void)pthread_cond_init(&team->finished, NULL);
    (void)pthread_cond_init(&team->over_now, NULL);
    const enum roof_status status = start(team, topology, threads, error);
    if (status != ROOF_OK) {
        roof_cpu_team_free(team);
        return status;
    }
    *out = team;
    return ROOF_OK;
}

void roof_cpu_team_free(struct roof_cpu_team *team)
{
    if (team == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&team->lock);
    team->over = true;
    (void)pthread_cond_broadcast(&team->begun);
    (void)pthread_mutex_unlock(&team->lock);
    for (size_t i = 0; i < team->threads; i++) {
        (void)pthread_join(team->member[i].thread, NULL);
    }
    (void)pthread_cond_destroy(&team->begun);
    (void)pthread_cond_destroy(&team->finished);
    (void)pthread_cond_destroy(&team->over_now);
    (void)pthread_mutex_destroy(&team->lock);
    free(team->member);
    free(team);
}
