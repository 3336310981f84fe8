// SPDX-License-Identifier: MIT
/* Answers whose duration the caller decides: those of `monitor`. */
#ifndef ROOF_ASK_WATCH_H
#define ROOF_ASK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "roofline/question.h"

/* The calls of such an answer to its caller, beside those of its listener. */
struct roof_watcher {
    void *context;
    /* Waits until due_s seconds after the first call, which does not wait, and returns the current
     * time. *more becomes false, possibly before that time, if the watched command has ended; for
     * an infinite due_s also if there is nothing to wait for. */
    enum roof_status (*clock)(void *context, double *now_s, bool *more, double due_s,
                              struct roof_error *error);
    /* Returns the number of tokens that the watched command has made; 0: unknown. */
    int64_t (*tokens)(void *context);
};

/* Does the work of roof_answer_to. Without a watcher (NULL) there is one sample. */
enum roof_status roof_answer_watched(struct roof_store *store, const struct roof_question *question,
                                     enum roof_command command, enum roof_answer_format format,
                                     const struct roof_listener *listener,
                                     const struct roof_watcher *watcher, struct roof_error *error);

#endif
