// SPDX-License-Identifier: MIT
#include "measure/gpus.h"

#include "base/base.h"

enum roof_status roof_gpus_open(struct roof_gpus **out, struct roof_error *error)
{
    struct roof_error nvidia = {.status = ROOF_OK};
    struct roof_error amd = {.status = ROOF_OK};
    enum roof_status status = roof_nvml_open(out, &nvidia);
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
    enum roof_status status = roof_rocm_smi_open(out, bus, error);
    if (status == ROOF_IO) {
        status = roof_amd_smi_open(out, bus, &newer);
    }
    if (status == ROOF_MEMORY) {
        return roof_no_memory(error);
    }
    if (status != ROOF_OK) {
        roof_error_append(error, "; %s", newer.message);
    }
    return status;
}

void roof_gpus_close(struct roof_gpus *gpus)
{
    if (gpus != NULL) {
        gpus->close(gpus);
    }
}
