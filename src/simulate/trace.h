// SPDX-License-Identifier: MIT
/* Traces: requests of a file, with their times, and perhaps the measured times of a real engine. */
#ifndef ROOF_SIMULATE_TRACE_H
#define ROOF_SIMULATE_TRACE_H

#include "simulate/trace_reader.h"

/* The most requests that may be out of order in time. */
#define ROOF_TRACE_SORTED_MAX 1000000

/* The requests of a file, in the order of their times; the first one arrives at 0 s. They are in
 * memory if they had to be sorted, or were measured. Otherwise the file is read again during the
 * simulation, so that its length does not matter. */
struct roof_request_trace {
    struct roof_arrival *arrival; /* NULL: the requests come from `source` */
    struct roof_request_source source;
    /* The measured times of each request, by enum roof_latency; NULL: the file has none. */
    double (*measured)[ROOF_LATENCY_COUNT];
    size_t count;
    size_t empty;  /* number of requests without tokens, which are left out */
    int unordered; /* the first line whose time is before that of the line above, so that the
                      requests had to be sorted; 0: there is none */
    int64_t users; /* constant number of requests in flight, so that times are ignored; 0: the times
                      are used */
    double span_s; /* seconds from the first to the last arrival */
    double mean_prompt;
    double mean_generate;
    /* Private: */
    struct roof_trace_reader *reader;
    struct roof_trace_ids *given; /* ids of requests that have not ended */
    struct roof_trace_ids *ended; /* ids that may be reused when the next request is read */
    uint64_t *ids;                /* ids of all prompts in memory */
    size_t id_count;
    double first_s;
    double last_s; /* time of the last request that was read */
};

/* Reads a file: CSV with a header, lines of JSON, or a result of `bench serve`, in one of the
 * formats of docs/simulation.md. At most `most` requests are read. With part_tokens above 0 each
 * line has ids, one per part_tokens tokens of its prompt. ROOF_INVALID for a line without time,
 * lengths or ids, and for times out of order in more than ROOF_TRACE_SORTED_MAX requests. *out must
 * not move, and `path` is used until the caller releases *out by roof_request_trace_free, even
 * after a failure. */
enum roof_status roof_request_trace_read(struct roof_request_trace *out, const char *path,
                                         uint64_t most, int64_t part_tokens,
                                         struct roof_error *error);
void roof_request_trace_free(struct roof_request_trace *trace);

#endif
