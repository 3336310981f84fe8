// SPDX-License-Identifier: MIT
/* A queue of waiting requests, in a ring; preempted requests return to its front. */
#ifndef ROOF_SIMULATE_REQUEST_QUEUE_H
#define ROOF_SIMULATE_REQUEST_QUEUE_H

#include <stddef.h>

#include "base/error.h"
#include "simulate/served.h"

/* An empty queue is zeroed; free releases its ring. */
struct roof_request_queue {
    struct roof_served *request;
    size_t room; /* a power of two */
    size_t first;
    size_t count;
};

enum roof_status roof_request_queue_put_last(struct roof_request_queue *queue,
                                             const struct roof_served *request,
                                             struct roof_error *error);
enum roof_status roof_request_queue_put_first(struct roof_request_queue *queue,
                                              const struct roof_served *request,
                                              struct roof_error *error);
/* Puts a request behind those that are ready until a time, and before all others. */
enum roof_status roof_request_queue_put_known(struct roof_request_queue *queue,
                                              const struct roof_served *request, double until_s,
                                              struct roof_error *error);
/* Takes the first request out of a queue that has one. */
void roof_request_queue_take(struct roof_served *out, struct roof_request_queue *queue);

#endif
