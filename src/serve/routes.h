// SPDX-License-Identifier: MIT
/* The endpoints of the service. */
#ifndef ROOF_SERVE_ROUTES_H
#define ROOF_SERVE_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#include "roofline/question.h"

struct roof_route {
    const char *method; /* GET includes HEAD */
    const char *path;   /* a final '/' means that more follows */
    const char *summary;
    enum roof_command command;      /* 0: the description of the endpoints */
    enum roof_answer_format format; /* the format if Accept names none that the command writes */
    bool slow;                      /* the answer may take long */
    bool streams;                   /* the answer is sent in pieces */
    bool events;                    /* Accept may request its rows as server-sent events */
    bool endless;                   /* the answer ends when the client leaves */
};

/* A media type by which Accept selects a format. */
struct roof_media {
    enum roof_answer_format format;
    const char *name; /* of the media type */
    const char *type;
};

/* The media type of server-sent events. */
#define ROOF_EVENTS "text/event-stream"

/* Returns the table of all endpoints. */
const struct roof_route *roof_routes(size_t *count);

/* Returns the media types of all formats, in the order of preference. */
const struct roof_media *roof_media(size_t *count);

/* Tells whether a route can answer with a media type. */
bool roof_route_writes(const struct roof_route *route, const struct roof_media *media);

/* Tells whether a remote client may set an input. Inputs that name files, and those of the program
 * itself, are not allowed. */
bool roof_input_remote(size_t input, enum roof_command command);

#endif
