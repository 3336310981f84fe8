// SPDX-License-Identifier: MIT
/*
 * A libnccl.so.2 for the planted GPUs of cuda.c. A collective takes a launch and what a ring sends
 * over the link; it runs when each GPU of its group has it.
 *
 *   FAKE_LINK (400e9 bytes/s per direction) FAKE_COLLECTIVE (12e-6 s)
 *
 * What is not released is told on standard error.
 */
#include <stdint.h>
#include <stdio.h>

#include "fake.h"

#ifdef HIP
#define DRIVER "libamdhip64.so.7"
#else
#define DRIVER "libcuda.so.1"
#endif
#define INVALID_ARGUMENT 4

struct comm {
    int count;
    int rank;
    int device;
};

static long held;
static long calls;
static int open_groups;
static int queued;            /* GPUs that have the collective of the open group */
static double sent;           /* bytes of a GPU */
static const struct comm *of; /* one of the group */

FAKE_TELL_LEFT(held, "fake collectives: %ld communicators are not released")

CALL(ncclCommInitAll, struct comm **out, int count, const int *devices)
{
    const int failed = fake_failure("ncclCommInitAll", 0, 0);
    calls = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < i; k++) {
            if (devices[i] == devices[k] || devices[i] >= fake_gpus()) {
                return INVALID_ARGUMENT;
            }
        }
    }
    for (int i = 0; i < count && failed == 0; i++) {
        out[i] = malloc(sizeof **out);
        *out[i] = (struct comm){count, i, devices[i]};
        held++;
    }
    return failed;
}

CALL(ncclCommDestroy, struct comm *comm)
{
    free(comm);
    held--;
    return fake_failure("ncclCommDestroy", 0, 0);
}

CALL(ncclGroupStart, void)
{
    FAKE_MAY_FAIL("ncclGroupStart");
    open_groups++;
    queued = 0;
    return 0;
}

CALL(ncclGroupEnd, void)
{
    static void (*wait)(double);
    if (wait == NULL) {
        fake_find(&wait, DRIVER, "fake_wait");
    }
    open_groups--;
    const int failed = fake_failure("ncclGroupEnd", calls++, 0);
    if (failed != 0 || queued == 0) {
        return failed;
    }
    if (queued != of->count) { /* a real one would wait for the others */
        return INVALID_ARGUMENT;
    }
    wait(fake_item("FAKE_COLLECTIVE", 0, 12e-6) + sent / fake_item("FAKE_LINK", 0, 400e9));
    return 0;
}

/* Queues a collective of 16-bit numbers on a GPU, which sends so many shares of them. */
static int queue(const char *name, uint64_t from, uint64_t to, double elements, int type,
                 double shares, const struct comm *comm)
{
    /* The number of a device is above its addresses (cuda.c). */
    const int right = open_groups == 1 && (type == 6 || type == 9) && to > from && from != 0 &&
                      from >> 48 == (uint64_t)comm->device;
    of = comm;
    queued++;
    sent = 2 * elements * shares;
    return right ? fake_failure(name, calls, comm->rank) : INVALID_ARGUMENT;
}

CALL(ncclAllReduce, uint64_t from, uint64_t to, size_t count, int type, int sum, struct comm *comm,
     void *stream)
{
    return sum != 0 || stream == NULL ? INVALID_ARGUMENT
                                      : queue("ncclAllReduce", from, to, (double)count, type,
                                              2.0 * (comm->count - 1) / comm->count, comm);
}

CALL(ncclAllGather, uint64_t from, uint64_t to, size_t count, int type, struct comm *comm,
     void *stream)
{
    return stream == NULL ? INVALID_ARGUMENT
                          : queue("ncclAllGather", from, to, (double)count, type,
                                  (double)comm->count - 1, comm);
}

const char *ncclGetErrorString(int status);
const char *ncclGetErrorString(int status)
{
    return status == 4 ? "invalid argument" : "unhandled system error";
}
