// SPDX-License-Identifier: MIT
/* The endpoints of the service. */
#ifndef ROOF_SERVE_ROUTES_H
#define ROOF_SERVE_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#include "roofline/question.h"

struct roof_route {
    const char *method; /* GET stands for HEAD, too */
    const char *path;   /* with '/' at its end: more follows */
    const char *summary;
    enum roof_command command;      /* 0: the description of the endpoints */
    enum roof_answer_format format; /* where Accept names none that the command writes */
    bool slow;                      /* the answer may take long */
    bool streams;                   /* it goes out in pieces */
    bool events;                    /* Accept may ask for its rows as server-sent events */
    bool endless;                   /* it ends when its reader leaves */
};

/* A type of media by which Accept names a format. */
struct roof_media {
    enum roof_answer_format format;
    const char *name; /* of the format */
    const char *type;
};

/* The type of server-sent events. */
#define ROOF_EVENTS "text/event-stream"

/* Returns the table of all endpoints. */
const struct roof_route *roof_routes(size_t *count);

/* Returns the types of media of all formats; where Accept names several, the first of them counts.
 */
const struct roof_media *roof_media(size_t *count);

/* Tells if a route can answer with a type of media. */
bool roof_route_writes(const struct roof_route *route, const struct roof_media *media);

/* Tells if an input may come by the network: none that names a file, or is the program's own. */
bool roof_input_remote(size_t input, enum roof_command command);

#endif
