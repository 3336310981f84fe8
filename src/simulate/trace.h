// SPDX-License-Identifier: MIT
/* Traces: requests of a file, with their times, and what a real engine took for them. */
#ifndef ROOF_SIMULATE_TRACE_H
#define ROOF_SIMULATE_TRACE_H

#include "simulate/simulation.h"

/* The requests of a file, in the order of their times; the first one comes at 0 s. */
struct roof_request_trace {
    struct roof_arrival *arrival;
    /* The measured times of each request, by enum roof_latency; NULL: none are in the file. */
    double (*measured)[ROOF_LATENCY_COUNT];
    uint64_t *ids; /* of the parts of all prompts, as they stand in the file; NULL: none are read */
    size_t id_count;
    size_t count;
    size_t empty; /* lines without tokens, which are left out */
    int64_t longest_prompt;
    int64_t longest_generate;
    double mean_prompt;
    double mean_generate;
};

/*
 * Reads a file: CSV with a header, or lines of JSON, with the columns of one of the formats in
 * docs/simulation.md. At most `most` requests are read. With part_tokens above 0 each line has ids,
 * one for each part of so many tokens of its prompt. ROOF_INVALID for a line that has no time,
 * lengths or ids. The caller releases *out by roof_request_trace_free, also after a failure.
 */
enum roof_status roof_request_trace_read(struct roof_request_trace *out, const char *path,
                                         uint64_t most, int64_t part_tokens,
                                         struct roof_error *error);
void roof_request_trace_free(struct roof_request_trace *trace);

#endif
