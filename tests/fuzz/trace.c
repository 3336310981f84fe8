// SPDX-License-Identifier: MIT
/*
 * A trace of requests, CSV or lines of JSON.
 * Words: src/simulate/trace.c
 */
#include "fuzz.h"

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
    for (uint64_t i = 0; status == ROOF_OK && i < trace.count; i++) {
        const struct roof_arrival *const a = &trace.arrival[i];
        CHECK(isfinite(a->time_s) && a->time_s >= (i == 0 ? 0 : a[-1].time_s));
        CHECK(a->prompt >= 1 && a->prompt <= ROOF_LENGTH_MAX);
        CHECK(a->generate >= 1 && a->generate <= ROOF_LENGTH_MAX);
        CHECK((a->ids != NULL) == (size % 2 == 1));
    }
    roof_request_trace_free(&trace);
    return 0;
}
