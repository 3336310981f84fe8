// SPDX-License-Identifier: MIT
/*
 * A trace of requests, CSV or lines of JSON, or the rates over time of the same file.
 * Words: src/simulate/trace_reader.c src/simulate/rate_trace.c
 */
#include "fuzz.h"

static void check_rates(const char *path)
{
    struct roof_rate_trace rates;
    struct roof_error error = {0};
    const enum roof_status status = roof_rate_trace_read(&rates, path, &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    }
    for (size_t i = 0; status == ROOF_OK && i < rates.count; i++) {
        CHECK(rates.interval[i].duration_s > 0 && rates.interval[i].place <= rates.rates);
    }
    for (size_t i = 0; status == ROOF_OK && i < rates.rates; i++) {
        CHECK(rates.weight[i] > 0 && rates.rate[i] > (i == 0 ? 0 : rates.rate[i - 1]));
    }
    roof_rate_trace_free(&rates);
}

/* Looks at the requests of a file, in memory or as they are read. */
static void check_requests(const struct roof_request_trace *trace, bool named)
{
    double last = 0;
    for (uint64_t i = 0; i < trace->count; i++) {
        struct roof_arrival a;
        struct roof_error error = {0};
        if (trace->arrival != NULL) {
            a = trace->arrival[i];
        } else {
            CHECK(trace->source.next(&a, i, trace->source.context, &error) == ROOF_OK);
        }
        CHECK(isfinite(a.time_s) && a.time_s >= last);
        CHECK(a.prompt >= 1 && a.prompt <= ROOF_LENGTH_MAX);
        CHECK(a.generate >= 1 && a.generate <= ROOF_LENGTH_MAX);
        CHECK((a.ids != NULL) == named);
        last = a.time_s;
        if (trace->arrival == NULL && named) {
            trace->source.end_ids(trace->source.context, a.ids);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    static bool open;
    struct roof_request_trace trace;
    struct roof_error error = {0};
    if (!open) {
        fuzz_open(&file, "trace");
        open = true;
    }
    fuzz_fill(&file, data, size, 0);
    const enum roof_status status =
        roof_request_trace_read(&trace, file.path, 1000, (int64_t)(size % 2) * 512, &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    }
    if (status == ROOF_OK) {
        check_requests(&trace, size % 2 == 1);
    }
    roof_request_trace_free(&trace);
    check_rates(file.path);
    return 0;
}
