// SPDX-License-Identifier: MIT
/* Reads the requests of a file one by one: CSV with a header, lines of JSON, or a result of
 * `bench serve`. */
#ifndef ROOF_SIMULATE_TRACE_READER_H
#define ROOF_SIMULATE_TRACE_READER_H

#include "simulate/simulation.h"

/* The error message for a prefix cache without ids of prompts. */
#define ROOF_PREFIX_CACHE_NEEDS                                                                    \
    ROOF_KEY("prefix_cache")                                                                       \
    " needs a " ROOF_KEY("trace") " with hash_ids; for other requests " ROOF_KEY(                  \
        "prefix_hit") " gives the cached fraction"

/* A request, as in its line. */
struct roof_traced {
    double time_s; /* in the clock of the file */
    int64_t prompt;
    int64_t generate;
    double measured[ROOF_LATENCY_COUNT]; /* NAN: not measured */
    const uint64_t *ids; /* ids of the parts of its prompt, valid until the next request */
    size_t id_count;
    int line; /* 0: unknown */
};

struct roof_trace_reader;

/* Opens a file with the columns of one of the formats in docs/simulation.md. With part_tokens above
 * 0 each line has ids, one per part_tokens tokens of its prompt. The caller releases *out by
 * roof_trace_reader_close, even after a failure. */
enum roof_status roof_trace_reader_open(struct roof_trace_reader **out, const char *path,
                                        int64_t part_tokens, struct roof_error *error);
void roof_trace_reader_close(struct roof_trace_reader *reader);
/* Reads the next request with tokens; *more is false at the end. ROOF_INVALID for a line without
 * time, lengths or ids. */
enum roof_status roof_trace_reader_next(struct roof_traced *out, bool *more,
                                        struct roof_trace_reader *reader, struct roof_error *error);
/* Returns to the first request. */
enum roof_status roof_trace_reader_rewind(struct roof_trace_reader *reader,
                                          struct roof_error *error);
/* Returns the constant number of requests in flight in the file; 0: they arrive at their times. */
int64_t roof_trace_reader_users(const struct roof_trace_reader *reader);
/* Returns the number of skipped lines without tokens. */
size_t roof_trace_reader_empty(const struct roof_trace_reader *reader);
/* Returns the name of the file, for messages. */
const char *roof_trace_reader_name(const struct roof_trace_reader *reader);

#endif
