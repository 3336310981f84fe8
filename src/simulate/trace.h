// SPDX-License-Identifier: MIT
/* Traces: requests of a file, with their times, and what a real engine took for them. */
#ifndef ROOF_SIMULATE_TRACE_H
#define ROOF_SIMULATE_TRACE_H

#include "simulate/trace_reader.h"

/* So many requests may be out of the order of their times. */
#define ROOF_TRACE_SORTED_MAX 1000000

/* The requests of a file, in the order of their times; the first one comes at 0 s. They are in
 * memory when they had to be sorted, or were measured. Otherwise the file is read once more while
 * they are served, so that its length does not matter. */
struct roof_request_trace {
    struct roof_arrival *arrival; /* NULL: `source` has them */
    struct roof_request_source source;
    /* The measured times of each request, by enum roof_latency; NULL: none are in the file. */
    double (*measured)[ROOF_LATENCY_COUNT];
    size_t count;
    size_t empty;  /* requests without tokens, which are left out */
    int64_t users; /* in flight all the time, so that times do not count; 0: they do */
    double mean_prompt;
    double mean_generate;
    /* Private: */
    struct roof_trace_reader *reader;
    struct roof_trace_ids *given; /* ids of requests that are not served yet */
    struct roof_trace_ids *ended; /* ids that nothing needs when the next request is read */
    uint64_t *ids;                /* of the parts of all prompts in memory */
    size_t id_count;
    double first_s;
    double last_s; /* of the request that was read last */
};

/*
 * Reads a file: CSV with a header, lines of JSON, or a result of `bench serve`, in one of the
 * formats of docs/simulation.md. At most `most` requests are read. With part_tokens above 0 each
 * line has ids, one for each part of so many tokens of its prompt. ROOF_INVALID for a line that has
 * no time, lengths or ids, and for a time before that of the line above among more than
 * ROOF_TRACE_SORTED_MAX. *out must not move, and `path` is used until the caller releases it by
 * roof_request_trace_free, also after a failure.
 */
enum roof_status roof_request_trace_read(struct roof_request_trace *out, const char *path,
                                         uint64_t most, int64_t part_tokens,
                                         struct roof_error *error);
void roof_request_trace_free(struct roof_request_trace *trace);

#endif
