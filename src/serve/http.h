// SPDX-License-Identifier: MIT
/*
 * Reads the head of an HTTP/1.x request, strictly: whatever two readers could take differently is
 * refused. Sockets are the caller's.
 */
#ifndef ROOF_SERVE_HTTP_H
#define ROOF_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>

/* Most bytes of a head, of the target in it, and of a body. */
#define ROOF_HTTP_HEAD_MAX 16384
#define ROOF_HTTP_TARGET_MAX 2048
#define ROOF_HTTP_BODY_MAX 1048576

/* A part of the bytes of a request; NULL: it is not there. */
struct roof_span {
    const char *text;
    size_t length;
};

struct roof_http_request {
    struct roof_span method;
    struct roof_span path;  /* as it was written, up to '?' */
    struct roof_span query; /* behind '?' */
    struct roof_span host;
    struct roof_span origin;
    struct roof_span authorization;
    struct roof_span accept;
    size_t head_length; /* with the empty line that ends it */
    size_t body_length; /* of the body that follows */
    bool minor;         /* HTTP/1.1, not 1.0 */
    bool keep;          /* the connection stays open for another request */
    bool expects;       /* the client waits for "100 Continue" before it sends the body */
};

/* Reads the head that bytes begin with. Returns 0 when it is whole and good; 100 when more bytes
 * are needed; else the status to refuse it with (400, 411, 413, 414, 431 or 505), after which
 * nothing more of the connection can be read. The spans point into bytes. */
int roof_http_read(struct roof_http_request *out, const char *bytes, size_t length);

/* Returns the reason phrase of a status. */
const char *roof_http_reason(int status);

bool roof_span_is(struct roof_span span, const char *text);
/* Does not look at the case of letters. */
bool roof_span_like(struct roof_span span, const char *text);

/* Replaces %XX by its byte, and writes the text with a terminator. False for one that is too long,
 * not well-formed, or has a control character. */
bool roof_http_decode(char *out, size_t size, struct roof_span span);

#endif
