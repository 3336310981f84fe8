// SPDX-License-Identifier: MIT
#include "measure/gpus.h"

#include <stdlib.h>
#include <time.h>

#include "base/base.h"

static enum roof_status open_driver(struct roof_gpus **out, const struct roof_gpus_driver *driver,
                                    const char *bus, struct roof_error *error)
{
    struct roof_gpus *const gpus = calloc(1, driver->size);
    *out = NULL;
    if (gpus == NULL) {
        return roof_no_memory(error);
    }
    gpus->driver = driver;
    const enum roof_status status = driver->open(gpus, bus, error);
    if (status != ROOF_OK) {
        roof_gpus_close(gpus);
        return status;
    }
    *out = gpus;
    return ROOF_OK;
}

enum roof_status roof_nvidia_open(struct roof_gpus **out, const char *bus, struct roof_error *error)
{
    return open_driver(out, &roof_nvml, bus, error);
}

enum roof_status roof_gpus_open(struct roof_gpus **out, struct roof_error *error)
{
    struct roof_error nvidia = {.status = ROOF_OK};
    struct roof_error amd = {.status = ROOF_OK};
    enum roof_status status = roof_nvidia_open(out, NULL, &nvidia);
    if (status == ROOF_IO) {
        status = roof_amd_open(out, NULL, &amd);
    }
    if (status == ROOF_MEMORY) {
        return roof_no_memory(error);
    }
    return status == ROOF_OK ? ROOF_OK
                             : roof_error_set(error, ROOF_IO, "no GPU can be read: %s; %s",
                                              nvidia.message, amd.message);
}

enum roof_status roof_amd_open(struct roof_gpus **out, const char *bus, struct roof_error *error)
{
    struct roof_error newer = {.status = ROOF_OK};
    enum roof_status status = open_driver(out, &roof_rocm_smi, bus, error);
    if (status == ROOF_IO) {
        status = open_driver(out, &roof_amd_smi, bus, &newer);
    }
    if (status == ROOF_MEMORY) {
        return roof_no_memory(error);
    }
    if (status != ROOF_OK) {
        roof_error_append(error, "; %s", newer.message);
    }
    return status;
}

enum roof_status roof_gpus_read(struct roof_gpus *gpus, struct roof_sample *out, int device,
                                struct roof_error *error)
{
    roof_sample_clear(out);
    out->device = device;
    return gpus->driver->read(gpus, out, device, error);
}

double roof_gpus_energy(struct roof_gpus *gpus)
{
    struct roof_sample sample;
    roof_sample_clear(&sample);
    return gpus->driver->count(gpus, &sample, 0, NULL) == ROOF_OK ? sample.counter_j : ROOF_UNKNOWN;
}

enum roof_status roof_gpus_check_free(struct roof_gpus *gpus, struct roof_error *error)
{
    enum { LOOKS = 16 }; /* over 3 s */
    const struct timespec pause = {.tv_nsec = 200000000};
    unsigned count = 0;
    if (gpus->driver->divided != NULL && gpus->driver->divided(gpus)) {
        return roof_error_set(
            error, ROOF_IO,
            "the GPU is divided (MIG), so other parts would disturb the measurement; " ROOF_KEY(
                "shared") " measures anyway");
    }
    for (int look = 0; look < LOOKS; look++) {
        (void)(look > 0 ? nanosleep(&pause, NULL) : 0);
        TRY(gpus->driver->others(gpus, &count, error));
        if (count == 0) {
            return ROOF_OK;
        }
    }
    return roof_error_set(error, ROOF_IO,
                          "%u process%s on the GPU; " ROOF_KEY("shared") " measures anyway", count,
                          count == 1 ? " computes" : "es compute");
}

void roof_gpus_close(struct roof_gpus *gpus)
{
    if (gpus != NULL) {
        gpus->driver->close(gpus);
        free(gpus);
    }
}
