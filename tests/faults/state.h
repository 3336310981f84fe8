// SPDX-License-Identifier: MIT
/* The driver and the preloaded library share this memory: what one asks, and what the other saw. */
#ifndef ROOF_FAULTS_STATE_H
#define ROOF_FAULTS_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The environment variable with the name of the file that is the memory. */
#define FAULTS_FILE "ROOFLINE_TEST_FAULTS"

/* Kinds of calls that can fail. */
enum faults_kind {
    FAULTS_ALLOCATE,
    FAULTS_OPEN,
    FAULTS_STAT,
    FAULTS_READ,
    FAULTS_WRITE,
    FAULTS_SEEK,
    FAULTS_CLOSE,
    FAULTS_RENAME,
    FAULTS_TRUNCATE,
    FAULTS_LIST, /* the names in a folder */
    FAULTS_LOCK,
    FAULTS_THREAD,
    FAULTS_PIPE, /* pipe, fcntl of its ends */
    FAULTS_POLL,
    FAULTS_SPAWN,
    FAULTS_WAIT,
    FAULTS_KINDS
};

#define FAULTS_STACKS_MAX (1 << 20)

struct faults {
    /* Asked: the call `at`, from 1 on, of `kind` fails with `error`; with `on` all later ones, too.
     */
    enum faults_kind kind;
    long at; /* 0: none */
    int error;
    bool on;
    size_t piece;   /* reads and writes move no more bytes than this; 0: all */
    bool interrupt; /* each read, poll and wait is interrupted once before it succeeds */
    bool record;    /* stacks of allocations */
    /* Seen. */
    bool attached;
    bool ended; /* in order */
    atomic_long calls[FAULTS_KINDS];
    atomic_long failed;
    atomic_long strays; /* files outside its folder that it wrote, renamed or removed */
    long kept_own;  /* allocations that are not freed: of the program and its other libraries, */
    long kept_libc; /* and of the C library */
    uint64_t stack[FAULTS_STACKS_MAX]; /* a hash of who asked for an allocation, and who for that */
};

#endif
