// SPDX-License-Identifier: MIT
/* Work in parts that do not depend on each other, in several threads. */
#ifndef ROOF_BASE_CREW_H
#define ROOF_BASE_CREW_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/halt.h"

/* Does part `number` of the work, and writes only to data of this part. */
typedef enum roof_status roof_crew_task(void *context, size_t number, struct roof_error *error);

/* Does all parts, in at most the given number of threads, including this one. Returns the status of
 * the failed part with the lowest number; later parts may not be done. Without memory for threads
 * this one does all. */
enum roof_status roof_crew_run(size_t count, int64_t threads, roof_crew_task *task, void *context,
                               struct roof_error *error);

/* A halt that several threads may ask. Only the thread that opened the guard asks the caller's
 * halt; the others see the answer. */
struct roof_halt_guard {
    struct roof_halt halt;
    pthread_t owner;
    pthread_mutex_t lock;
    bool stopped;
};
void roof_halt_guard_open(struct roof_halt_guard *out, const struct roof_halt *halt);
/* Returns the halt, which borrows the guard. */
struct roof_halt roof_halt_guarded(struct roof_halt_guard *guard);
void roof_halt_guard_close(struct roof_halt_guard *guard);

#endif
