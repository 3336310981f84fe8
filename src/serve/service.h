// SPDX-License-Identifier: MIT
/*
 * Requests of HTTP become questions, and answers become replies. Sockets, threads and the clock of
 * connections are the caller's.
 */
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

/* The state that all requests share; nothing changes it while they are answered. */
struct roof_service {
    struct roof_store *store; /* sealed (roof_store_seal) */
    const char *hosts;        /* names in a list that Host may have; NULL: none beside localhost */
    const char *token;        /* what Authorization must have; NULL: nothing */
    int64_t max_rows;         /* of a sweep */
    double max_time_s;        /* of an answer */
};

/* The calls that an answer makes while it goes out in pieces. */
struct roof_outlet {
    void *context;
    /* Takes the next bytes; false: nobody reads them any more. */
    bool (*put)(void *context, const char *bytes, size_t length);
    /* Tells if the answer is to end. */
    bool (*stop)(void *context);
    /* Waits so many seconds, or until the answer is to end. */
    void (*wait)(void *context, double seconds);
};

/* A request while it is answered. */
struct roof_exchange {
    const struct roof_service *service;
    const struct roof_route *route;
    struct roof_question *question;
    enum roof_answer_format format;
    bool events;           /* the rows go out as server-sent events */
    bool streams;          /* the answer goes out in pieces */
    bool slow;             /* the answer may take long: it is to be made by a thread of its own */
    bool endless;          /* the answer ends when its reader leaves */
    int status;            /* of HTTP; 0 before the answer */
    const char *type;      /* of the body */
    const char *allow;     /* the methods that the path has, with the status 405 */
    struct roof_text body; /* what did not go out by the outlet */
    const struct roof_outlet *outlet;
    bool begun;           /* bytes went out by the outlet */
    struct roof_text row; /* the beginning of an event */
    uint64_t points;      /* of a sweep */
    double began_s;
    double ends_s; /* INFINITY: when its reader leaves */
};

/* Checks a request and makes a question of it. body has request->body_length bytes. x->status is
 * not 0 then where the request is refused, or its answer is there already. Release with
 * roof_exchange_end. */
void roof_exchange_begin(struct roof_exchange *x, const struct roof_service *service,
                         const struct roof_http_request *request, const char *body);

/* Answers the question. Where x->streams, the bytes go to the outlet, unless it fails before there
 * are any; x->begun says that some went out. */
void roof_exchange_run(struct roof_exchange *x, const struct roof_outlet *outlet);

/* Refuses a request that cannot be read, or that the caller has no room for. */
void roof_exchange_refuse(struct roof_exchange *x, int status, const char *message);

void roof_exchange_end(struct roof_exchange *x);

#endif
