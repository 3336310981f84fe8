// SPDX-License-Identifier: MIT
/* Work that a signal ends in an orderly way: what is begun is written whole. */
#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "cli.h"

static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler may write to it");
static atomic_int caught; /* no sig_atomic_t: the handler may run in any thread */

static void on_signal(int number)
{
    atomic_store_explicit(&caught, number, memory_order_relaxed);
}

void cli_interrupt_watch(void)
{
    static const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN) {
            continue; /* as nohup, or a shell for what runs in the background, wants it */
        }
        /* The second one ends the program at once. */
        action = (struct sigaction){.sa_handler = on_signal,
                                    .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
        (void)sigemptyset(&action.sa_mask);
        (void)sigaction(signals[i], &action, NULL);
    }
}

int cli_interrupted(void)
{
    const int number = atomic_load_explicit(&caught, memory_order_relaxed);
    return number == 0 ? 0 : 128 + number;
}
