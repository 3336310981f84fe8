// SPDX-License-Identifier: MIT
/* The HTTP service: its loops, connections and long answers. */
#ifndef ROOF_CLI_SERVER_H
#define ROOF_CLI_SERVER_H

#include <stdatomic.h>
#include <time.h>

#include "serve/service.h"

/* The settings from the command line. */
struct cli_server {
    struct roof_service service;
    const char *listen;
    int64_t loops;
    int64_t max_connections;
};

/* Serves requests until SIGINT or SIGTERM, and returns after those in progress. */
enum roof_status cli_server_run(struct cli_server *server, struct roof_error *error);

/* Loads the functions of libevent; must be called before any of them. */
enum roof_status cli_event_load(struct roof_error *error);

/* --- answers that take long ------------------------------------------------------------------ */

/* An answer that a separate thread makes. The owner's thread calls the functions below. */
struct cli_job;

/* Begins to answer and takes over the exchange; a byte is written to the file `wake` whenever the
 * job has new output. NULL: no thread could start, and the exchange is unchanged. */
struct cli_job *cli_job_begin(struct roof_exchange *x, int wake);
/* Takes the available bytes, which the caller frees; true: the job is done, and no more follow. */
bool cli_job_take(struct cli_job *job, struct roof_text *bytes);
/* Ends the answer early. */
void cli_job_cancel(struct cli_job *job);
/* Waits for the thread, returns the exchange, and frees the job. */
void cli_job_end(struct cli_job *job, struct roof_exchange *x);

/* --- connections ------------------------------------------------------------------------------ */

struct event_base;
struct cli_connection;
struct cli_left;

/* The most simultaneous jobs of all loops. */
#define CLI_JOBS_MAX 64

/* The state that all loops share. */
struct cli_shared {
    const struct roof_service *service;
    int64_t max_connections;
    atomic_int connections;
    atomic_int jobs;
    atomic_bool stopping; /* no new requests are accepted */
    atomic_bool hurried;  /* requests in progress are ended, too */
};

/* A second as text, formatted once for all replies within it. */
struct cli_clock {
    time_t second;
    char date[40]; /* in replies: "Mon, 01 Jan 2024 00:00:00 GMT" */
    char time[24]; /* in the log: "2024-01-01T00:00:00" */
};

/* A loop, which one thread runs. */
struct cli_loop {
    struct cli_shared *shared;
    struct event_base *base;
    int wake[2]; /* a pipe */
    struct cli_connection *first;
    struct cli_connection *busy[CLI_JOBS_MAX]; /* connections with jobs */
    size_t jobs;
    struct cli_left *left; /* jobs whose connections are closed */
    struct cli_clock clock;
};

/* Takes over an accepted socket. */
void cli_connection_open(struct cli_loop *loop, int socket, const char *client);
/* Handles connections and jobs after a byte came through the pipe. Returns false if the loop can
 * end: it is stopping, and no work is left. */
bool cli_connections_wake(struct cli_loop *loop);

#endif
