// SPDX-License-Identifier: MIT
#include "simulate/request_queue.h"

#include <stdlib.h>

#include "base/base.h"

#define ROOM_FIRST 64

static enum roof_status grow(struct roof_request_queue *q, struct roof_error *error)
{
    const size_t room = q->room == 0 ? ROOM_FIRST : 2 * q->room;
    struct roof_served *const more = malloc(room * sizeof *more);
    if (more == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < q->count; i++) {
        more[i] = q->request[(q->first + i) & (q->room - 1)];
    }
    free(q->request);
    q->request = more;
    q->room = room;
    q->first = 0;
    return ROOF_OK;
}

enum roof_status roof_request_queue_put_last(struct roof_request_queue *q,
                                             const struct roof_served *request,
                                             struct roof_error *error)
{
    if (q->count == q->room) {
        TRY(grow(q, error));
    }
    q->request[(q->first + q->count++) & (q->room - 1)] = *request;
    return ROOF_OK;
}

enum roof_status roof_request_queue_put_first(struct roof_request_queue *q,
                                              const struct roof_served *request,
                                              struct roof_error *error)
{
    if (q->count == q->room) {
        TRY(grow(q, error));
    }
    q->first = (q->first - 1) & (q->room - 1);
    q->request[q->first] = *request;
    q->count++;
    return ROOF_OK;
}

enum roof_status roof_request_queue_put_known(struct roof_request_queue *q,
                                              const struct roof_served *request, double until_s,
                                              struct roof_error *error)
{
    TRY(roof_request_queue_put_last(q, request, error));
    for (size_t i = q->count - 1; i > 0; i--) {
        struct roof_served *const here = &q->request[(q->first + i) & (q->room - 1)];
        struct roof_served *const before = &q->request[(q->first + i - 1) & (q->room - 1)];
        if (before->ready_s <= until_s) {
            break;
        }
        *here = *before;
        *before = *request;
    }
    return ROOF_OK;
}

void roof_request_queue_take(struct roof_served *out, struct roof_request_queue *q)
{
    *out = q->request[q->first];
    q->first = (q->first + 1) & (q->room - 1);
    q->count--;
}
