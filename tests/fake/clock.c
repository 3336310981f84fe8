// SPDX-License-Identifier: MIT
/* A clock of the day that goes back by an hour each time it is read, for LD_PRELOAD. The clock that
 * only counts on (CLOCK_MONOTONIC) stays as it is. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_long reads;

int clock_gettime(clockid_t clock, struct timespec *out)
{
    const long status = syscall(SYS_clock_gettime, clock, out);
    if (status == 0 && clock == CLOCK_REALTIME) {
        out->tv_sec -= 3600 * atomic_fetch_add(&reads, 1);
    }
    return (int)status;
}

time_t time(time_t *out)
{
    struct timespec now = {.tv_sec = 0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now = {.tv_sec = 0};
    (void)zone;
    const int status = clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return status;
}
