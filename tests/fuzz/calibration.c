// SPDX-License-Identifier: MIT
/* A file of fitted parameters, and expected times with them.
 * Keys: src/predict/calibration.c src/predict/kernel_parameters.h */
#include "mutate_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    static struct roof_hardware *device;
    struct roof_calibration *calibration = NULL;
    struct roof_error error = {0};
    if (device == NULL) {
        fuzz_open(&file, "calibration.json");
        device = fuzz_device();
    }
    fuzz_fill(&file, data, size, 0);
    const enum roof_status status =
        roof_calibration_load(&calibration, device, file.path, NULL, &error);
    FUZZ_EMPTY(status, &error, calibration);
    if (status != ROOF_OK) {
        return 0;
    }
    device->calibration = calibration;
    static const int64_t sizes[] = {1, 100, 8192};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        static const enum roof_operator operators[] = {
            ROOF_OPERATOR_GEMM, ROOF_OPERATOR_FLASH_ATTENTION, ROOF_OPERATOR_RMSNORM};
        for (size_t k = 0; k < sizeof operators / sizeof *operators; k++) {
            struct roof_workload w = ROOF_WORKLOAD_INIT;
            struct roof_prediction p;
            w.op = operators[k];
            if (w.op == ROOF_OPERATOR_GEMM) {
                w.shape.m = sizes[i];
                w.shape.n = w.shape.k = 4096;
            } else if (w.op == ROOF_OPERATOR_RMSNORM) {
                w.shape.tokens = sizes[i];
                w.shape.hidden = 4096;
            } else {
                w.shape.heads = 32;
                w.shape.kv_heads = 8;
                w.shape.head_dim = 128;
                w.shape.kv_len = sizes[i];
                w.shape.query_len = 1;
            }
            CHECK(roof_predict(&p, &w, device, &error) == ROOF_OK);
            /* In a cold cache nothing is faster than the bound. */
            CHECK(isnan(p.expected_s) || p.expected_s >= p.time_s * (1 - 1e-12));
            CHECK(isnan(p.expected_s) ||
                  (p.expected_low_s <= p.expected_s && p.expected_s <= p.expected_high_s));
        }
    }
    device->calibration = NULL;
    roof_calibration_free(calibration);
    return 0;
}
