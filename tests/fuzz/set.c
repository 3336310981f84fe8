// SPDX-License-Identifier: MIT
/* An override of a figure: KEY=VALUE.
 * Bytes: 64
 * Words: src/catalog/hardware.c src/catalog/precision.c */
#include "fuzz.h"

static const char device[] = "{\"id\": \"d\", \"bandwidth_gb_s\": 100, "
                             "\"peak_tflops\": {\"fp16\": 1}, \"vector_tflops\": {\"fp32\": 0.1}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct roof_hardware *hardware = NULL;
    CHECK(roof_hardware_parse(&hardware, device, sizeof device - 1, "d.json", NULL) == ROOF_OK);
    char *const text = fuzz_text(data, size);
    struct roof_error error = {0};
    const enum roof_status status = roof_hardware_set(hardware, text, &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    } else {
        CHECK(hardware->basis == ROOF_BASIS_USER && strchr(text, '=') != NULL);
    }
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        const double value = hardware->figure[i].value;
        CHECK(isnan(value) || (isfinite(value) && value >= 0));
    }
    for (int i = 0; i < ROOF_PRECISION_COUNT; i++) {
        const struct roof_compute *const compute = &hardware->compute[i];
        CHECK(isnan(compute->peak_flops_per_s) || compute->peak_flops_per_s > 0);
        CHECK(isnan(compute->sparse_flops_per_s) || compute->sparse_flops_per_s > 0);
    }
    free(text);
    roof_hardware_free(hardware);
    return 0;
}
