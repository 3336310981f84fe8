// SPDX-License-Identifier: MIT
/* Reads the head of an HTTP/1.x request strictly: it refuses anything that two readers could
 * interpret differently. The caller owns the sockets. */
#ifndef ROOF_SERVE_HTTP_H
#define ROOF_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>

/* The most bytes of a head, of its target, and of a body. */
#define ROOF_HTTP_HEAD_MAX 16384
#define ROOF_HTTP_TARGET_MAX 2048
#define ROOF_HTTP_BODY_MAX 1048576

/* A part of the bytes of a request; NULL: it is missing. */
struct roof_span {
    const char *text;
    size_t length;
};

struct roof_http_request {
    struct roof_span method;
    struct roof_span path;  /* as written, up to '?' */
    struct roof_span query; /* after '?' */
    struct roof_span host;
    struct roof_span origin;
    struct roof_span authorization;
    struct roof_span accept;
    size_t head_length; /* including the empty line at its end */
    size_t body_length; /* length of the body that follows */
    bool minor;         /* HTTP/1.1, not 1.0 */
    bool keep;          /* the connection stays open for another request */
    bool expects;       /* the client waits for "100 Continue" before it sends the body */
};

/* Reads the head at the start of the bytes. Returns 0 if it is complete and valid; 100 if more
 * bytes are needed; otherwise the status to refuse it with (400, 411, 413, 414, 431 or 505), after
 * which nothing more of the connection can be read. The spans point into the bytes. */
int roof_http_read(struct roof_http_request *out, const char *bytes, size_t length);

/* Returns the reason phrase of a status. */
const char *roof_http_reason(int status);

bool roof_span_is(struct roof_span span, const char *text);
/* Compares a span with a text, regardless of case. */
bool roof_span_like(struct roof_span span, const char *text);

/* Decodes %XX, and terminates the text. False if it is too long, malformed, or has a control
 * character. */
bool roof_http_decode(char *out, size_t size, struct roof_span span);

#endif
