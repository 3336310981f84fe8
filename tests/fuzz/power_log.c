// SPDX-License-Identifier: MIT
/*
 * A log of nvidia-smi, or of our own monitor.
 * Words: src/measure/power_log.c
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    static struct roof_power_log log;
    struct roof_energy energy[ROOF_GPUS_MAX];
    struct roof_error error = {0};
    bool more = true;
    if (file.path[0] == '\0') {
        fuzz_open(&file, "log.csv");
    }
    for (int i = 0; i < ROOF_GPUS_MAX; i++) {
        roof_energy_begin(&energy[i]);
    }
    fuzz_fill(&file, data, size, 0);
    enum roof_status status = roof_power_log_open(&log, file.path, &error);
    while (status == ROOF_OK && more) {
        struct roof_sample sample;
        struct roof_energy_sum sum;
        status = roof_power_log_read(&log, &sample, &more, &error);
        if (status == ROOF_INVALID) { /* the next row may be good */
            fuzz_refused(status, &error);
            status = ROOF_OK;
        } else if (status == ROOF_OK && more) {
            CHECK(sample.device >= 0 && sample.device < ROOF_GPUS_MAX);
            CHECK(!isnan(sample.time_s));
            roof_energy_add(&energy[sample.device], &sample);
            roof_energy_sum(&sum, &energy[sample.device]);
            CHECK(!(sum.energy_j < 0));
        }
    }
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    }
    roof_power_log_close(&log);
    return 0;
}
