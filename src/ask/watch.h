// SPDX-License-Identifier: MIT
/* Answers that go on for a time which their caller decides: those of `monitor`. */
#ifndef ROOF_ASK_WATCH_H
#define ROOF_ASK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "roofline/question.h"

/* The calls that such an answer makes to its caller, beside those of its listener. */
struct roof_watcher {
    void *context;
    /* Waits until due_s seconds after the first call, which does not wait, and tells the time then.
     * *more becomes false, perhaps before that time, if what is watched has ended; so it does for
     * an infinite due_s if there is nothing else to wait for. */
    enum roof_status (*clock)(void *context, double *now_s, bool *more, double due_s,
                              struct roof_error *error);
    /* Returns how many tokens what is watched has made; 0: it does not know. */
    int64_t (*tokens)(void *context);
};

/* Does the work of roof_answer_to. Without a watcher (NULL) there is one sample. */
enum roof_status roof_answer_watched(struct roof_store *store, const struct roof_question *question,
                                     enum roof_command command, enum roof_answer_format format,
                                     const struct roof_listener *listener,
                                     const struct roof_watcher *watcher, struct roof_error *error);

#endif
