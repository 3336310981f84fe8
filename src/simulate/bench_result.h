// SPDX-License-Identifier: MIT
/* Reads what `bench serve` of vLLM and SGLang measured of each request. */
#ifndef ROOF_SIMULATE_BENCH_RESULT_H
#define ROOF_SIMULATE_BENCH_RESULT_H

#include "base/csv.h"
#include "simulate/trace_reader.h"

struct roof_bench_result {
    struct roof_traced *request; /* those that ended, in their order */
    size_t count;
    size_t failed;
    int64_t users; /* requests in flight, each followed by another; 0: each comes at its time */
};

/* Tells from its beginning whether a file is such a result. */
bool roof_bench_result_is(struct roof_csv *csv);

/* Reads the rest of a file, a JSON object with the arrays input_lens, output_lens, ttfts and itls.
 * Requests come at their start_times, or by max_concurrency where request_rate is without end. The
 * caller releases *out by roof_bench_result_free, also after a failure. */
enum roof_status roof_bench_result_read(struct roof_bench_result *out, struct roof_csv *csv,
                                        struct roof_error *error);
void roof_bench_result_free(struct roof_bench_result *result);

#endif
