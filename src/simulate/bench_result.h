// SPDX-License-Identifier: MIT
/* Reads the measured times of each request from a result of `bench serve` of vLLM or SGLang. */
#ifndef ROOF_SIMULATE_BENCH_RESULT_H
#define ROOF_SIMULATE_BENCH_RESULT_H

#include "base/csv.h"
#include "simulate/trace_reader.h"

struct roof_bench_result {
    struct roof_traced *request; /* the completed requests, in the order of the file */
    size_t count;
    size_t failed;
    int64_t users; /* constant number of requests in flight; 0: each arrives at its own time */
};

/* Tells from the start of a file whether it is such a result. */
bool roof_bench_result_is(struct roof_csv *csv);

/* Reads the rest of a file, a JSON object with the arrays input_lens, output_lens, ttfts and itls.
 * Requests arrive at their start_times, or by max_concurrency if request_rate is infinite. The
 * caller releases *out by roof_bench_result_free, even after a failure. */
enum roof_status roof_bench_result_read(struct roof_bench_result *out, struct roof_csv *csv,
                                        struct roof_error *error);
void roof_bench_result_free(struct roof_bench_result *result);

#endif
