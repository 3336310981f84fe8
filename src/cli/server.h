// SPDX-License-Identifier: MIT
/* The HTTP service: its loops, connections and long answers. */
#ifndef ROOF_CLI_SERVER_H
#define ROOF_CLI_SERVER_H

#include <stdatomic.h>
#include <time.h>

#include "serve/service.h"

/* The settings, as the command line has them. */
struct cli_server {
    struct roof_service service;
    const char *listen;
    int64_t loops;
    int64_t max_connections;
};

/* Takes requests until SIGINT or SIGTERM, and ends after those that are under way. */
enum roof_status cli_server_run(struct cli_server *server, struct roof_error *error);

/* Finds the functions of libevent, before the first of them is called. */
enum roof_status cli_event_load(struct roof_error *error);

/* --- answers that take long ------------------------------------------------------------------ */

/* An answer that is made in a thread of its own. The functions below are called by the thread of
 * its owner. */
struct cli_job;

/* Begins to answer; `wake` is a file to which a byte is written whenever the job has something to
 * take. It takes over the exchange. NULL: there is no thread left, and the exchange is as it was.
 */
struct cli_job *cli_job_begin(struct roof_exchange *x, int wake);
/* Takes the bytes that are there, which the caller frees; true: it is done, and there are no more.
 */
bool cli_job_take(struct cli_job *job, struct roof_text *bytes);
/* Lets the answer end early. */
void cli_job_cancel(struct cli_job *job);
/* Waits for the thread, and hands the exchange back. It frees the job. */
void cli_job_end(struct cli_job *job, struct roof_exchange *x);

/* --- connections ------------------------------------------------------------------------------ */

struct event_base;
struct cli_connection;
struct cli_left;

/* Jobs at a time, of all loops. */
#define CLI_JOBS_MAX 64

/* The state that all loops share. */
struct cli_shared {
    const struct roof_service *service;
    int64_t max_connections;
    atomic_int connections;
    atomic_int jobs;
    atomic_bool stopping; /* no new requests are taken */
    atomic_bool hurried;  /* those under way are ended, too */
};

/* The time of a second in words, which are made once for all replies of it. */
struct cli_clock {
    time_t second;
    char date[40]; /* of a reply: "Mon, 01 Jan 2024 00:00:00 GMT" */
    char time[24]; /* of the log: "2024-01-01T00:00:00" */
};

/* A loop, which one thread runs. */
struct cli_loop {
    struct cli_shared *shared;
    struct event_base *base;
    int wake[2]; /* a pipe */
    struct cli_connection *first;
    struct cli_connection *busy[CLI_JOBS_MAX]; /* those with jobs */
    size_t jobs;
    struct cli_left *left; /* jobs whose connections are gone */
    struct cli_clock clock;
};

/* Takes over an accepted socket. */
void cli_connection_open(struct cli_loop *loop, int socket, const char *client);
/* Looks after connections and jobs when a byte came through the pipe. Returns false when the loop
 * can end: it is stopping, and nothing is left. */
bool cli_connections_wake(struct cli_loop *loop);

#endif
