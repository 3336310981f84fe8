// SPDX-License-Identifier: MIT
/* The HTTP service: listens, and runs one loop per thread until a signal ends it. */
#include "server.h"

#include "base/base.h"

#ifndef ROOF_EVENT
enum roof_status cli_server_run(struct cli_server *server, struct roof_error *error)
{
    (void)server;
    return roof_error_set(
        error, ROOF_IO,
        "this program was built without libevent: run 'sh .ci/deps build', then 'make'");
}
#else
#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/util.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* The most connections that wait in the system to be accepted. */
#define BACKLOG 1024
/* The number of files that are open beside connections. */
#define FILES_BESIDE 128
/* The most connections that a loop accepts in a row, so that other loops get some. */
#define ACCEPTED_MAX 64
/* The seconds that requests in progress may take when the service ends. */
#define GRACE_S 10
#define LOOPS_MAX 64

struct running;

/* A thread with its loop. */
struct worker {
    struct running *running;
    struct cli_loop loop;
    struct event *waker;
    struct event *acceptor;
    pthread_t thread;
    bool started;
};

struct running {
    const struct cli_server *server;
    struct cli_shared shared;
    int socket;
    struct worker worker[LOOPS_MAX];
    size_t workers;
    struct event *signal[2];
    struct event *grace;
};

/* --- listening ------------------------------------------------------------------------------ */

/* Reads "ADDRESS:PORT"; localhost stands for 127.0.0.1. */
static enum roof_status read_address(struct sockaddr_storage *out, int *length, const char *text,
                                     struct roof_error *error)
{
    char numeric[64];
    const char *const name = "localhost:";
    const bool local = strncmp(text, name, strlen(name)) == 0;
    const char *const colon = strrchr(text, ':');
    (void)snprintf(numeric, sizeof numeric, "%s%s", local ? "127.0.0.1:" : "",
                   local ? text + strlen(name) : text);
    *out = (struct sockaddr_storage){0};
    *length = (int)sizeof *out;
    if (colon == NULL || strspn(colon + 1, "0123456789") != strlen(colon + 1) || colon[1] == '\0' ||
        (strcmp(colon, ":0") != 0 &&
         evutil_parse_sockaddr_port(numeric, (struct sockaddr *)out, length) != 0)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY(
                "listen") " must be ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080, not '%s'",
            text);
    }
    if (strcmp(colon, ":0") == 0) { /* libevent does not accept port 0 */
        numeric[strlen(numeric) - 1] = '1';
        if (evutil_parse_sockaddr_port(numeric, (struct sockaddr *)out, length) != 0) {
            return roof_error_set(error, ROOF_USAGE, ROOF_KEY("listen") ": '%s' is not an address",
                                  text);
        }
        if (out->ss_family == AF_INET6) {
            ((struct sockaddr_in6 *)out)->sin6_port = 0;
        } else {
            ((struct sockaddr_in *)out)->sin_port = 0;
        }
    }
    return ROOF_OK;
}

static bool is_loopback(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6) {
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
    }
    return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
}

/* Writes "127.0.0.1:8080". */
static void show_address(char *out, size_t size, const struct sockaddr_storage *address)
{
    char text[INET6_ADDRSTRLEN] = "?";
    if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *const in = (const struct sockaddr_in6 *)address;
        (void)inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text);
        (void)snprintf(out, size, "[%s]:%u", text, ntohs(in->sin6_port));
    } else {
        const struct sockaddr_in *const in = (const struct sockaddr_in *)address;
        (void)inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
        (void)snprintf(out, size, "%s:%u", text, ntohs(in->sin_port));
    }
}

static enum roof_status listen_at(struct running *r, const struct sockaddr_storage *address,
                                  int length, struct roof_error *error)
{
    const char *const text = r->server->listen;
    r->socket = socket(address->ss_family, SOCK_STREAM, 0);
    if (r->socket < 0 || evutil_make_listen_socket_reuseable(r->socket) != 0 ||
        evutil_make_socket_nonblocking(r->socket) != 0 ||
        evutil_make_socket_closeonexec(r->socket) != 0 ||
        bind(r->socket, (const struct sockaddr *)address, (socklen_t)length) != 0 ||
        listen(r->socket, BACKLOG) != 0) {
        return roof_error_set(error, ROOF_IO, "cannot listen at %s: %s", text, strerror(errno));
    }
    return ROOF_OK;
}

static enum roof_status begin_listening(struct running *r, struct roof_error *error)
{
    struct sockaddr_storage address;
    int length = 0;
    TRY(read_address(&address, &length, r->server->listen, error));
    if (!is_loopback(&address) && r->server->service.token == NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "other machines can reach %s: give " ROOF_KEY(
                                  "token") " FILE, the token that their requests must carry",
                              r->server->listen);
    }
    return listen_at(r, &address, length, error);
}

/* Prints the address of the service on standard output, because the system may have chosen the
 * port. */
static enum roof_status announce(const struct running *r, struct roof_error *error)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    char text[INET6_ADDRSTRLEN + 16];
    (void)getsockname(r->socket, (struct sockaddr *)&address, &length);
    show_address(text, sizeof text, &address);
    (void)printf("http://%s/\n", text);
    return fflush(stdout) == 0 ? ROOF_OK
                               : roof_error_set(error, ROOF_IO, "cannot write standard output");
}

/* Raises the limit of open files as far as the system allows, and returns the possible number of
 * connections. */
static int64_t connections_possible(int64_t wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return wanted;
    }
    const rlim_t needed = (rlim_t)wanted + FILES_BESIDE;
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < needed) {
        limit.rlim_cur =
            limit.rlim_max == RLIM_INFINITY || limit.rlim_max > needed ? needed : limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= needed) {
        return wanted;
    }
    return limit.rlim_cur > 2 * FILES_BESIDE ? (int64_t)limit.rlim_cur - FILES_BESIDE
                                             : (int64_t)limit.rlim_cur / 2;
}

/* --- events --------------------------------------------------------------------------------- */

static void wake_all(struct running *r)
{
    for (size_t i = 0; i < r->workers; i++) {
        ssize_t written = 0;
        do {
            written = write(r->worker[i].loop.wake[1], "", 1);
        } while (written < 0 && errno == EINTR);
    }
}

/* Sends the one reply that needs no connection object, as far as the socket accepts it at once. */
static void turn_away(int socket)
{
    static const char reply[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
                                "Connection: close\r\nContent-Length: 0\r\n\r\n";
    (void)send(socket, reply, sizeof reply - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)evutil_closesocket(socket);
}

/* Accepts a connection; false if there is none. */
static bool accept_one(struct worker *w)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    struct cli_shared *const shared = &w->running->shared;
    char client[INET6_ADDRSTRLEN + 16];
    const int one = 1;
    const int socket = accept(w->running->socket, (struct sockaddr *)&address, &length);
    if (socket < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            const struct timespec pause = {.tv_nsec = 10000000}; /* until a connection is closed */
            (void)nanosleep(&pause, NULL);
        }
        return errno == ECONNABORTED || errno == EINTR;
    }
    if (atomic_load(&shared->connections) >= shared->max_connections ||
        evutil_make_socket_nonblocking(socket) != 0 ||
        evutil_make_socket_closeonexec(socket) != 0) {
        turn_away(socket);
        return true;
    }
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    show_address(client, sizeof client, &address);
    cli_connection_open(&w->loop, socket, client);
    return true;
}

static void on_accept(evutil_socket_t socket, short what, void *context)
{
    (void)socket;
    (void)what;
    for (int i = 0; i < ACCEPTED_MAX && accept_one(context); i++) {
    }
}

static void on_wake(evutil_socket_t socket, short what, void *context)
{
    struct worker *const w = context;
    char bytes[256];
    (void)what;
    while (read(socket, bytes, sizeof bytes) == (ssize_t)sizeof bytes) {
    }
    if (atomic_load(&w->running->shared.stopping)) {
        (void)event_del(w->acceptor);
    }
    if (!cli_connections_wake(&w->loop)) {
        (void)event_base_loopbreak(w->loop.base);
    }
}

static void on_grace(evutil_socket_t socket, short what, void *context)
{
    struct running *const r = context;
    (void)socket;
    (void)what;
    atomic_store(&r->shared.hurried, true);
    wake_all(r);
}

/* Ends the service after the requests in progress; a second signal ends these, too. */
static void on_signal(evutil_socket_t number, short what, void *context)
{
    const struct timeval time = {.tv_sec = GRACE_S};
    struct running *const r = context;
    (void)what;
    if (atomic_exchange(&r->shared.stopping, true)) {
        on_grace(number, 0, r);
        return;
    }
    (void)event_add(r->grace, &time);
    wake_all(r);
}

static void *work(void *context)
{
    const struct worker *const w = context;
    (void)event_base_dispatch(w->loop.base);
    return NULL;
}

/* --- threads -------------------------------------------------------------------------------- */

static bool open_worker(struct running *r, struct worker *w)
{
    *w = (struct worker){.running = r, .loop = {.shared = &r->shared, .wake = {-1, -1}}};
    w->loop.base = event_base_new();
    if (w->loop.base == NULL || pipe(w->loop.wake) != 0) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        if (evutil_make_socket_nonblocking(w->loop.wake[i]) != 0 ||
            evutil_make_socket_closeonexec(w->loop.wake[i]) != 0) {
            return false;
        }
    }
    w->waker = event_new(w->loop.base, w->loop.wake[0], EV_READ | EV_PERSIST, on_wake, w);
    w->acceptor = event_new(w->loop.base, r->socket, EV_READ | EV_PERSIST, on_accept, w);
    return w->waker != NULL && w->acceptor != NULL && event_add(w->waker, NULL) == 0 &&
           event_add(w->acceptor, NULL) == 0;
}

static void close_worker(struct worker *w)
{
    if (w->acceptor != NULL) {
        event_free(w->acceptor);
    }
    if (w->waker != NULL) {
        event_free(w->waker);
    }
    if (w->loop.base != NULL) {
        event_base_free(w->loop.base);
    }
    for (size_t i = 0; i < 2 && w->loop.wake[i] >= 0; i++) {
        (void)close(w->loop.wake[i]);
    }
}

static bool watch_signals(struct running *r)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct event_base *const base = r->worker[0].loop.base;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        r->signal[i] = evsignal_new(base, numbers[i], on_signal, r);
        if (r->signal[i] == NULL || event_add(r->signal[i], NULL) != 0) {
            return false;
        }
    }
    r->grace = evtimer_new(base, on_grace, r);
    return r->grace != NULL;
}

static enum roof_status open_workers(struct running *r, struct roof_error *error)
{
    const int64_t loops = r->server->loops < LOOPS_MAX ? r->server->loops : LOOPS_MAX;
    for (int64_t i = 0; i < loops; i++) {
        if (!open_worker(r, &r->worker[r->workers++])) {
            return roof_error_set(error, ROOF_IO, "cannot make an event loop: %s", strerror(errno));
        }
    }
    return watch_signals(r)
               ? ROOF_OK
               : roof_error_set(error, ROOF_IO, "cannot watch for signals: %s", strerror(errno));
}

/* Runs the loops; the first one in this thread. If a thread cannot start, the others serve without
 * it. */
static void run_workers(struct running *r)
{
    for (size_t i = 1; i < r->workers; i++) {
        r->worker[i].started = pthread_create(&r->worker[i].thread, NULL, work, &r->worker[i]) == 0;
    }
    (void)work(&r->worker[0]);
    for (size_t i = 1; i < r->workers; i++) {
        if (r->worker[i].started) {
            (void)pthread_join(r->worker[i].thread, NULL);
        }
    }
}

static void close_all(struct running *r)
{
    for (size_t i = 0; i < COUNT(r->signal); i++) {
        if (r->signal[i] != NULL) {
            event_free(r->signal[i]);
        }
    }
    if (r->grace != NULL) {
        event_free(r->grace);
    }
    for (size_t i = 0; i < r->workers; i++) {
        close_worker(&r->worker[i]);
    }
    if (r->socket >= 0) {
        (void)evutil_closesocket(r->socket);
    }
}

static enum roof_status run(struct running *r, struct roof_error *error)
{
    TRY(cli_event_load(error));
    TRY(begin_listening(r, error));
    TRY(open_workers(r, error));
    TRY(announce(r, error));
    run_workers(r);
    return ROOF_OK;
}

enum roof_status cli_server_run(struct cli_server *server, struct roof_error *error)
{
    struct running *const r = calloc(1, sizeof *r);
    if (r == NULL) {
        return roof_no_memory(error);
    }
    r->server = server;
    r->socket = -1;
    r->shared.service = &server->service;
    r->shared.max_connections = connections_possible(server->max_connections);
    const enum roof_status status = run(r, error);
    close_all(r);
    free(r);
    return status;
}
#endif
