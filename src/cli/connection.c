// SPDX-License-Identifier: MIT
/* A connection of the service: reads requests in sequence, and writes replies. */
#include "server.h"
#ifdef ROOF_EVENT
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/json.h"

/* Time limits in seconds: between requests, for a head, for a body, for accepting bytes, and for
 * closing. */
enum { IDLE_S = 60, HEAD_S = 10, BODY_S = 20, WRITE_S = 30, LINGER_S = 2 };
/* The answer pauses while this many bytes wait for the client. */
#define OUTPUT_MAX 1048576
/* Bodies of at least this size are passed on without a copy. */
#define LARGE 16384

enum state {
    READING,   /* waits for a request */
    ANSWERING, /* a job runs */
    CLOSING,   /* writes the rest of the reply */
    LINGERING  /* discards further input, so that the client can read the reply */
};

struct cli_connection {
    struct cli_loop *loop;
    struct cli_connection *next;
    struct cli_connection *previous;
    struct bufferevent *buffer;
    struct event *timer;
    enum state state;
    size_t wanted; /* length of the request whose head has been read; 0: none has */
    bool begun;    /* part of a head has arrived */
    bool ended;    /* the client has closed its side */
    struct cli_job *job;
    const char *type; /* media type of the job's reply */
    bool endless;     /* the job ends when the client leaves */
    bool streaming;   /* the head of its reply has been written */
    /* The current request. */
    bool keep;
    bool minor;
    bool bodiless; /* the method is HEAD */
    struct timespec start;
    uint64_t sent;
    char asked[128]; /* method and target, truncated */
    char client[64];
};

/* A job whose connection is closed, until its thread ends. */
struct cli_left {
    struct cli_left *next;
    struct cli_job *job;
};

static void arm(struct cli_connection *c, int seconds)
{
    const struct timeval time = {.tv_sec = seconds};
    (void)event_add(c->timer, &time);
}

/* Returns the formatted time of a second. */
static const struct cli_clock *clock_at(struct cli_loop *loop, time_t second)
{
    struct cli_clock *const clock = &loop->clock;
    if (clock->second != second || clock->date[0] == '\0') {
        struct tm utc = {0};
        clock->second = second;
        (void)gmtime_r(&second, &utc);
        (void)strftime(clock->date, sizeof clock->date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
        (void)strftime(clock->time, sizeof clock->time, "%Y-%m-%dT%H:%M:%S", &utc);
    }
    return clock;
}

/* --- the log ------------------------------------------------------------------------------- */

static double since_ms(const struct timespec *start)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) * 1e3 +
           (double)(now.tv_nsec - start->tv_nsec) * 1e-6;
}

/* Logs a reply to standard error; status 0: the client left before it. */
static void write_log(const struct cli_connection *c, int status)
{
    struct roof_text line = ROOF_TEXT_INIT;
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    roof_text_printf(&line, "{\"time\":\"%s.%03ldZ\",\"client\":\"%s\",\"request\":",
                     clock_at(c->loop, now.tv_sec)->time, now.tv_nsec / 1000000, c->client);
    roof_json_quote(&line, c->asked);
    roof_text_printf(&line, ",\"status\":%d,\"bytes\":%" PRIu64 ",\"ms\":%.3f}\n", status, c->sent,
                     since_ms(&c->start));
    if (!line.failed) {
        (void)fwrite(line.data, 1, line.length, stderr);
    }
    roof_text_free(&line);
}

/* Keeps the text of a request for the log. Unprintable bytes become '?'. */
static void note_request(struct cli_connection *c, struct roof_span method, struct roof_span path)
{
    (void)snprintf(c->asked, sizeof c->asked, "%.*s %.*s", (int)method.length,
                   method.text == NULL ? "" : method.text,
                   (int)(path.length < sizeof c->asked ? path.length : sizeof c->asked),
                   path.text == NULL ? "" : path.text);
    for (char *p = c->asked; *p != '\0'; p++) {
        *p = *p < ' ' || *p > '~' ? '?' : *p;
    }
    c->sent = 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &c->start);
}

/* --- replies ------------------------------------------------------------------------------- */

/* Writes a head. It ends with `length`, the field that delimits the body, and an empty line. */
static void put_head(struct cli_connection *c, const struct roof_exchange *x, const char *length)
{
    struct evbuffer *const out = bufferevent_get_output(c->buffer);
    char head[512];
    const int size = snprintf(head, sizeof head,
                              "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\n"
                              "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                              "Content-Security-Policy: frame-ancestors 'none'\r\n",
                              x->status, roof_http_reason(x->status),
                              clock_at(c->loop, time(NULL))->date, x->type);
    (void)evbuffer_add(out, head, (size_t)size);
    if (x->status == 401) {
        (void)evbuffer_add_printf(out, "WWW-Authenticate: Bearer\r\n");
    } else if (x->status == 405) {
        (void)evbuffer_add_printf(out, "Allow: %s\r\n", x->allow);
    } else if (x->status == 503) {
        (void)evbuffer_add_printf(out, "Retry-After: 1\r\n");
    }
    if (!c->keep) {
        (void)evbuffer_add_printf(out, "Connection: close\r\n");
    } else if (!c->minor) {
        (void)evbuffer_add_printf(out, "Connection: keep-alive\r\n");
    }
    (void)evbuffer_add(out, length, strlen(length));
}

static void free_body(const void *data, size_t length, void *extra)
{
    (void)data;
    (void)length;
    free(extra);
}

/* Ends a reply: the next request follows, or the connection closes. */
static void end_reply(struct cli_connection *c, int status)
{
    write_log(c, status);
    c->keep = c->keep && !atomic_load(&c->loop->shared->stopping);
    c->state = c->keep ? READING : CLOSING;
    c->begun = false;
    c->wanted = 0;
    arm(c, c->keep ? IDLE_S : WRITE_S);
    /* Without bytes left to write, no callback reports the end. */
    if (evbuffer_get_length(bufferevent_get_output(c->buffer)) == 0) {
        bufferevent_trigger(c->buffer, EV_WRITE,
                            BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
    }
}

/* Writes a whole reply. */
static void reply(struct cli_connection *c, struct roof_exchange *x)
{
    struct evbuffer *const out = bufferevent_get_output(c->buffer);
    char length[64];
    (void)snprintf(length, sizeof length, "Content-Length: %zu\r\n\r\n", x->body.length);
    put_head(c, x, length);
    if (!c->bodiless && x->body.length >= LARGE &&
        evbuffer_add_reference(out, x->body.data, x->body.length, free_body, x->body.data) == 0) {
        c->sent = x->body.length;
        x->body = (struct roof_text)ROOF_TEXT_INIT;
    } else if (!c->bodiless && x->body.length > 0) {
        (void)evbuffer_add(out, x->body.data, x->body.length);
        c->sent = x->body.length;
    }
    end_reply(c, x->status);
}

/* Refuses an unreadable request; later input is ignored. */
static void refuse(struct cli_connection *c, int status, const char *message)
{
    struct roof_exchange x = {.status = 0};
    c->keep = false;
    c->minor = true;
    roof_exchange_refuse(&x, status, message);
    reply(c, &x);
    roof_exchange_end(&x);
}

/* --- jobs ---------------------------------------------------------------------------------- */

static void forget_job(struct cli_connection *c)
{
    size_t i = 0;
    while (c->loop->busy[i] != c) {
        i++;
    }
    c->loop->busy[i] = c->loop->busy[--c->loop->jobs];
    c->job = NULL;
}

static void put_piece(struct cli_connection *c, const struct roof_text *bytes)
{
    struct evbuffer *const out = bufferevent_get_output(c->buffer);
    if (!c->streaming) {
        const struct roof_exchange head = {.status = 200, .type = c->type};
        c->keep = c->keep && c->minor;
        put_head(c, &head, c->minor ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
        c->streaming = true;
    }
    if (c->minor) {
        (void)evbuffer_add_printf(out, "%zx\r\n", bytes->length);
    }
    (void)evbuffer_add(out, bytes->data, bytes->length);
    (void)evbuffer_add(out, "\r\n", c->minor ? 2 : 0);
    c->sent += bytes->length;
}

/* Ends the reply of a job. A failed answer is not terminated properly, so that no client takes it
 * for complete; event streams have reported the failure. */
static void end_job(struct cli_connection *c)
{
    struct roof_exchange x;
    cli_job_end(c->job, &x);
    forget_job(c);
    atomic_fetch_sub(&c->loop->shared->jobs, 1);
    if (!c->streaming && !x.begun) {
        reply(c, &x);
    } else {
        const bool whole = x.status == 200 || x.events;
        if (whole && c->minor) {
            (void)evbuffer_add(bufferevent_get_output(c->buffer), "0\r\n\r\n", 5);
        }
        c->keep = c->keep && whole;
        end_reply(c, x.status);
    }
    c->streaming = false;
    roof_exchange_end(&x);
}

/* Takes the output of a job, unless enough bytes wait for the client. */
static void pump(struct cli_connection *c)
{
    struct roof_text bytes;
    if (c->job == NULL || evbuffer_get_length(bufferevent_get_output(c->buffer)) > OUTPUT_MAX) {
        return;
    }
    const bool done = cli_job_take(c->job, &bytes);
    if (bytes.length > 0) {
        put_piece(c, &bytes);
    }
    roof_text_free(&bytes);
    if (done) {
        end_job(c);
    }
}

/* Begins a job for a slow answer. */
static void begin_job(struct cli_connection *c, struct roof_exchange *x)
{
    struct cli_shared *const shared = c->loop->shared;
    c->type = x->type;
    c->endless = x->endless;
    if (atomic_fetch_add(&shared->jobs, 1) < CLI_JOBS_MAX) {
        c->job = cli_job_begin(x, c->loop->wake[1]);
    }
    if (c->job != NULL) {
        c->state = ANSWERING;
        c->loop->busy[c->loop->jobs++] = c;
        (void)event_del(c->timer);
        return;
    }
    atomic_fetch_sub(&shared->jobs, 1);
    roof_exchange_refuse(x, 503, "too many long answers are being computed; ask again later");
    reply(c, x);
    roof_exchange_end(x);
}

/* --- requests ------------------------------------------------------------------------------ */

static void answer(struct cli_connection *c, const struct roof_http_request *request,
                   const char *body)
{
    struct roof_exchange x;
    c->keep = request->keep && !atomic_load(&c->loop->shared->stopping);
    c->minor = request->minor;
    c->bodiless = roof_span_is(request->method, "HEAD");
    roof_exchange_begin(&x, c->loop->shared->service, request, body);
    if (x.status == 0 && x.slow) {
        begin_job(c, &x);
        return;
    }
    if (x.status == 0) {
        roof_exchange_run(&x, NULL);
    }
    reply(c, &x);
    roof_exchange_end(&x);
}

static const char *why_refused(int status)
{
    switch (status) {
    case 411:
        return "a request with a body needs Content-Length";
    case 413:
        return "the body is longer than 1 MiB";
    case 414:
        return "the address is longer than 2048 bytes";
    case 431:
        return "the head is longer than 16 KiB";
    case 505:
        return "the protocol must be HTTP/1.1 or HTTP/1.0";
    default:
        return "this is not an HTTP/1.1 request";
    }
}

/* Waits for the rest of a body, and sends 100 Continue if the client expects it. */
static void await_body(struct cli_connection *c, const struct roof_http_request *request)
{
    if (c->wanted == 0) {
        c->wanted = request->head_length + request->body_length;
        arm(c, BODY_S);
        if (request->expects && request->minor) {
            (void)bufferevent_write(c->buffer, "HTTP/1.1 100 Continue\r\n\r\n", 25);
        }
    }
}

/* Answers the next request; false: it has not arrived completely. */
static bool take_request(struct cli_connection *c)
{
    struct evbuffer *const in = bufferevent_get_input(c->buffer);
    const size_t there = evbuffer_get_length(in);
    struct roof_http_request request = {.head_length = 0};
    if (there == 0 || there < c->wanted) {
        return false;
    }
    const size_t looked = there < ROOF_HTTP_HEAD_MAX ? there : ROOF_HTTP_HEAD_MAX;
    const char *bytes = (const char *)evbuffer_pullup(in, (ev_ssize_t)looked);
    const int status = bytes == NULL ? 503 : roof_http_read(&request, bytes, looked);
    if (status == 100) {
        if (!c->begun) {
            c->begun = true;
            arm(c, HEAD_S);
        }
        return false;
    }
    note_request(c, request.method, request.path);
    if (status != 0) {
        refuse(c, status, why_refused(status));
        return true;
    }
    const size_t whole = request.head_length + request.body_length;
    if (there < whole) {
        await_body(c, &request);
        return false;
    }
    bytes = (const char *)evbuffer_pullup(in, (ev_ssize_t)whole);
    if (bytes == NULL || roof_http_read(&request, bytes, whole) != 0) {
        refuse(c, 503, "out of memory");
        return true;
    }
    answer(c, &request, bytes + request.head_length);
    (void)evbuffer_drain(in, whole);
    return true;
}

/* Answers the requests that have arrived, as long as the client reads the replies. */
static void take_requests(struct cli_connection *c)
{
    struct evbuffer *const out = bufferevent_get_output(c->buffer);
    while (c->state == READING && evbuffer_get_length(out) <= OUTPUT_MAX && take_request(c)) {
    }
}

/* --- events -------------------------------------------------------------------------------- */

static void close_connection(struct cli_connection *c)
{
    struct cli_loop *const loop = c->loop;
    if (c->job != NULL) {
        struct cli_left *const left = malloc(sizeof *left);
        cli_job_cancel(c->job);
        write_log(c, 0);
        if (left != NULL) {
            *left = (struct cli_left){loop->left, c->job};
            loop->left = left;
        } else { /* the loop then waits for the connection */
            struct roof_exchange x;
            cli_job_end(c->job, &x);
            roof_exchange_end(&x);
            atomic_fetch_sub(&loop->shared->jobs, 1);
        }
        forget_job(c);
    }
    *(c->previous == NULL ? &loop->first : &c->previous->next) = c->next;
    if (c->next != NULL) {
        c->next->previous = c->previous;
    }
    bufferevent_free(c->buffer);
    event_free(c->timer);
    atomic_fetch_sub(&loop->shared->connections, 1);
    free(c);
    if (atomic_load(&loop->shared->stopping)) { /* this may have been the last connection */
        (void)!write(loop->wake[1], "", 1);
    }
}

/* Tells whether a connection has no request or reply in progress. */
static bool is_idle(const struct cli_connection *c)
{
    return c->state == READING && !c->begun && c->wanted == 0 &&
           evbuffer_get_length(bufferevent_get_output(c->buffer)) == 0;
}

static void on_read(struct bufferevent *buffer, void *context)
{
    struct cli_connection *const c = context;
    if (c->state == CLOSING || c->state == LINGERING) {
        struct evbuffer *const in = bufferevent_get_input(buffer);
        (void)evbuffer_drain(in, evbuffer_get_length(in));
        return;
    }
    take_requests(c);
}

static void on_write(struct bufferevent *buffer, void *context)
{
    struct cli_connection *const c = context;
    if (c->state == CLOSING && c->ended) {
        close_connection(c);
        return;
    }
    if (c->state == CLOSING) {
        (void)shutdown(bufferevent_getfd(buffer), SHUT_WR);
        c->state = LINGERING;
        arm(c, LINGER_S);
        on_read(buffer, c);
        return;
    }
    pump(c);
    take_requests(c);
    if (is_idle(c) && atomic_load(&c->loop->shared->stopping)) {
        close_connection(c);
    }
}

static void on_event(struct bufferevent *buffer, short what, void *context)
{
    struct cli_connection *const c = context;
    const bool waits = evbuffer_get_length(bufferevent_get_output(buffer)) > 0;
    if ((what & BEV_EVENT_EOF) != 0 && waits && c->job == NULL && c->state != LINGERING) {
        c->ended = true; /* the client may still read */
        c->state = CLOSING;
        arm(c, WRITE_S);
        return;
    }
    close_connection(c);
}

static void on_timer(evutil_socket_t socket, short what, void *context)
{
    struct cli_connection *const c = context;
    (void)socket;
    (void)what;
    if (c->state == READING && (c->begun || c->wanted > 0)) {
        if (c->wanted == 0) {
            note_request(c, (struct roof_span){0}, (struct roof_span){0});
        }
        refuse(c, 408, "the request did not arrive in time");
        return;
    }
    close_connection(c);
}

void cli_connection_open(struct cli_loop *loop, int socket, const char *client)
{
    const struct timeval write_time = {.tv_sec = WRITE_S};
    struct cli_connection *const c = calloc(1, sizeof *c);
    struct bufferevent *const buffer =
        c == NULL ? NULL : bufferevent_socket_new(loop->base, socket, BEV_OPT_CLOSE_ON_FREE);
    struct event *const timer = buffer == NULL ? NULL : evtimer_new(loop->base, on_timer, c);
    if (timer == NULL) {
        if (buffer != NULL) {
            bufferevent_free(buffer);
        } else {
            (void)evutil_closesocket(socket);
        }
        free(c);
        return;
    }
    *c = (struct cli_connection){
        .loop = loop, .next = loop->first, .buffer = buffer, .timer = timer, .state = READING};
    (void)snprintf(c->client, sizeof c->client, "%s", client);
    if (loop->first != NULL) {
        loop->first->previous = c;
    }
    loop->first = c;
    atomic_fetch_add(&loop->shared->connections, 1);
    bufferevent_setcb(buffer, on_read, on_write, on_event, c);
    bufferevent_setwatermark(buffer, EV_READ, 0, ROOF_HTTP_HEAD_MAX + ROOF_HTTP_BODY_MAX);
    bufferevent_set_timeouts(buffer, NULL, &write_time);
    (void)bufferevent_enable(buffer, EV_READ | EV_WRITE);
    arm(c, IDLE_S);
}

/* --- the loop ------------------------------------------------------------------------------ */

/* Releases jobs that ended after their connections. */
static void end_left(struct cli_loop *loop)
{
    for (struct cli_left **at = &loop->left; *at != NULL;) {
        struct cli_left *const left = *at;
        struct roof_text bytes;
        const bool done = cli_job_take(left->job, &bytes);
        roof_text_free(&bytes);
        if (done) {
            struct roof_exchange x;
            cli_job_end(left->job, &x);
            roof_exchange_end(&x);
            atomic_fetch_sub(&loop->shared->jobs, 1);
            *at = left->next;
            free(left);
        } else {
            at = &left->next;
        }
    }
}

/* Closes idle connections, and ends answers that have no end. */
static void stop(struct cli_loop *loop, bool hurried)
{
    struct cli_connection *next = NULL;
    for (struct cli_connection *c = loop->first; c != NULL; c = next) {
        next = c->next;
        if (hurried || is_idle(c) || c->state == LINGERING) {
            close_connection(c);
        } else if (c->job != NULL && c->endless) {
            cli_job_cancel(c->job);
        }
    }
}

bool cli_connections_wake(struct cli_loop *loop)
{
    for (size_t i = loop->jobs; i > 0; i--) { /* a closed one is replaced by the last */
        struct cli_connection *const c = loop->busy[i - 1];
        pump(c);
        take_requests(c);
    }
    end_left(loop);
    if (!atomic_load(&loop->shared->stopping)) {
        return true;
    }
    stop(loop, atomic_load(&loop->shared->hurried));
    return loop->first != NULL || loop->left != NULL;
}
#endif
