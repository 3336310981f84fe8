// SPDX-License-Identifier: MIT
/* Lets a signal end work in an orderly way: rows that have begun are completed. */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "cli.h"

/* A second signal ends the program only after this number of milliseconds. An earlier one is a
 * duplicate, because some programs signal a process and then its group. */
#define AGAIN_MS 500

static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2 &&
                  ATOMIC_POINTER_LOCK_FREE == 2,
              "a signal handler may write to them");
static atomic_int caught; /* not sig_atomic_t, because the handler may run in any thread */
static atomic_llong caught_ms;
static _Atomic(const char *) unfinished; /* removed when the program ends at once */
static bool watched;

static long long now_ms(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void end_by(int number)
{
    const char *const path = atomic_exchange(&unfinished, NULL);
    if (path != NULL) {
        (void)unlink(path);
    }
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void on_signal(int number)
{
    const int reason = errno;
    const long long now = now_ms();
    if (atomic_load(&caught) == 0) {
        atomic_store(&caught_ms, now);
        atomic_store(&caught, number);
    } else if (now - atomic_load(&caught_ms) >= AGAIN_MS) {
        end_by(number);
    }
    errno = reason;
}

static const int signals[] = {SIGINT, SIGTERM};

static void handle_with(void (*handler)(int))
{
    for (size_t i = 0; i < COUNT(signals); i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN) {
            continue; /* as nohup, or a shell for background jobs, requires */
        }
        action = (struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART};
        (void)sigemptyset(&action.sa_mask);
        (void)sigaction(signals[i], &action, NULL);
    }
}

void cli_interrupt_watch(void)
{
    watched = true;
    handle_with(on_signal);
}

void cli_interrupt_rest(void)
{
    /* A handler is needed only if there is a file to remove. */
    handle_with(atomic_load(&unfinished) == NULL ? SIG_DFL : end_by);
    const int number = atomic_load(&caught);
    if (number != 0) { /* it arrived just before */
        end_by(number);
    }
}

void cli_interrupt_hold(bool on)
{
    static sigset_t before;
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < COUNT(signals); i++) {
        (void)sigaddset(&set, signals[i]);
    }
    (void)(on ? pthread_sigmask(SIG_BLOCK, &set, &before)
              : pthread_sigmask(SIG_SETMASK, &before, NULL));
}

void cli_interrupt_remove(const char *path)
{
    atomic_store(&unfinished, path);
    if (path != NULL && !watched) {
        handle_with(end_by);
    }
}

void cli_interrupt_reader_left(void)
{
    int none = 0; /* an earlier signal counts */
    (void)atomic_compare_exchange_strong(&caught, &none, SIGPIPE);
}

void cli_interrupt_end(void)
{
    if (atomic_load(&caught) == SIGPIPE) {
        end_by(SIGPIPE);
    }
}

int cli_interrupted(void)
{
    const int number = atomic_load(&caught);
    return number == 0 ? 0 : 128 + number;
}
