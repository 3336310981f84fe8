// SPDX-License-Identifier: MIT
/* Turns HTTP requests into questions, and answers into replies. The caller owns sockets, threads
 * and the clock of connections. */
#ifndef ROOF_SERVE_SERVICE_H
#define ROOF_SERVE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ask/watch.h"
#include "base/text.h"
#include "roofline/question.h"
#include "serve/http.h"
#include "serve/routes.h"

/* The state that all requests share. It is not modified while they are answered. */
struct roof_service {
    struct roof_store *store; /* sealed (roof_store_seal) */
    const char *hosts;        /* list of names that Host may have; NULL: only localhost */
    const char *token;        /* the token that Authorization must have; NULL: no check */
    int64_t max_rows;         /* limit for a sweep */
    double max_time_s;        /* limit for an answer */
};

/* The calls of an answer that is sent in pieces. */
struct roof_outlet {
    void *context;
    /* Takes the next bytes; false: the client has left. */
    bool (*put)(void *context, const char *bytes, size_t length);
    /* Tells whether the answer must end. */
    bool (*stop)(void *context);
    /* Waits for some seconds, or until the answer must end. */
    void (*wait)(void *context, double seconds);
};

/* A request in progress. */
struct roof_exchange {
    const struct roof_service *service;
    const struct roof_route *route;
    struct roof_question *question;
    enum roof_answer_format format;
    bool events;           /* the rows are sent as server-sent events */
    bool streams;          /* the answer is sent in pieces */
    bool slow;             /* the answer may take long, so that a separate thread must make it */
    bool endless;          /* the answer ends when the client leaves */
    int status;            /* HTTP status; 0 until there is an answer */
    const char *type;      /* media type of the body */
    const char *allow;     /* the methods that the path supports, for the status 405 */
    struct roof_text body; /* the bytes that were not sent through the outlet */
    const struct roof_outlet *outlet;
    bool begun;           /* bytes were sent through the outlet */
    struct roof_text row; /* an incomplete event */
    uint64_t points;      /* number of points in a sweep */
    double began_s;
    double ends_s; /* time limit; INFINITY: the answer ends when the client leaves */
};

/* Checks a request and makes a question of it. `body` has request->body_length bytes. x->status is
 * not 0 afterwards if the request was refused, or if its answer is already complete. Release with
 * roof_exchange_end. */
void roof_exchange_begin(struct roof_exchange *x, const struct roof_service *service,
                         const struct roof_http_request *request, const char *body);

/* Answers the question. If x->streams, the bytes go to the outlet, unless the answer fails before
 * the first one; x->begun tells whether some were sent. */
void roof_exchange_run(struct roof_exchange *x, const struct roof_outlet *outlet);

/* Refuses a request that cannot be read, or that exceeds the capacity of the caller. */
void roof_exchange_refuse(struct roof_exchange *x, int status, const char *message);

void roof_exchange_end(struct roof_exchange *x);

#endif
