// SPDX-License-Identifier: MIT
/* A hardware file, and what is made of it.
 * Keys: src/catalog/hardware.c src/catalog/precision.c */
#include "mutate_json.h"

/* Whatever the device says, its numbers make sense. */
static void use(const struct roof_hardware *hardware)
{
    static const enum roof_operator operators[] = {ROOF_OPERATOR_GEMM, ROOF_OPERATOR_RMSNORM,
                                                   ROOF_OPERATOR_ALL_REDUCE};
    struct roof_prediction p;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        struct roof_workload w = ROOF_WORKLOAD_INIT;
        struct roof_error error = {0};
        w.op = operators[i];
        if (w.op == ROOF_OPERATOR_GEMM) {
            w.shape.m = w.shape.n = w.shape.k = 512;
        } else {
            w.shape.tokens = 64;
            w.shape.hidden = 512;
        }
        if (w.op == ROOF_OPERATOR_ALL_REDUCE) {
            w.shape.devices = 4;
        }
        const enum roof_status status = roof_predict(&p, &w, hardware, &error);
        if (status == ROOF_OK) {
            CHECK(p.time_s >= 0); /* infinite, where a peak is tiny, and never NAN */
        } else {
            fuzz_refused(status, &error);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct roof_hardware *hardware = NULL;
    struct roof_hardware *again = NULL;
    struct roof_error error = {0};
    char *const text = fuzz_text(data, size);
    const enum roof_status status = roof_hardware_parse(&hardware, text, size, "in.json", &error);
    FUZZ_EMPTY(status, &error, hardware);
    free(text);
    if (status != ROOF_OK) {
        return 0;
    }
    fuzz_one_line(hardware->id);
    fuzz_one_line(hardware->name);
    CHECK(!roof_hardware_differs(hardware, hardware));
    use(hardware);
    /* The JSON of a device is a hardware file, of the same device. */
    struct roof_text report = ROOF_TEXT_INIT;
    roof_report_hardware(&report, true, hardware, NULL);
    if (roof_hardware_parse(&again, report.data, report.length, "report", &error) != ROOF_OK) {
        fuzz_fail(__FILE__, __LINE__, report.data, error.message);
    }
    CHECK(!roof_hardware_differs(hardware, again));
    roof_text_clear(&report);
    roof_report_hardware(&report, false, hardware, NULL);
    CHECK(!report.failed && report.length > 0);
    roof_text_free(&report);
    roof_hardware_free(again);
    roof_hardware_free(hardware);
    return 0;
}
