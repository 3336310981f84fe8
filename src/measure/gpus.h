// SPDX-License-Identifier: MIT
/* Power, clocks, temperature and use of GPUs, as their drivers report them. */
#ifndef ROOF_MEASURE_GPUS_H
#define ROOF_MEASURE_GPUS_H

#include "base/error.h"
#include "measure/sample.h"

/* The GPUs of one driver, numbered from 0 as the driver numbers them. */
struct roof_gpus {
    const char *source; /* the interface of the driver: "nvml", "rocm_smi", "amd_smi" */
    int count;
    void (*name)(struct roof_gpus *gpus, char out[ROOF_GPU_NAME_SIZE], int device);
    /* Reads everything but the time. A value that the device does not have is unknown; any other
     * failure is ROOF_IO with one line. */
    enum roof_status (*read)(struct roof_gpus *gpus, struct roof_sample *out, int device,
                             struct roof_error *error);
    /* The last two are asked of the one GPU that is opened by its bus. */
    /* Returns what its energy counter says, in joules; NAN: it has none. */
    double (*energy)(struct roof_gpus *gpus);
    /* Refuses a GPU that is divided or that another process computes on. */
    enum roof_status (*check_free)(struct roof_gpus *gpus, struct roof_error *error);
    void (*close)(struct roof_gpus *gpus);
};

/* Opens the GPUs of the first driver that has any: NVIDIA's, else AMD's. The caller closes *out
 * with roof_gpus_close. ROOF_IO says in one line what is missing. */
enum roof_status roof_gpus_open(struct roof_gpus **out, struct roof_error *error);
/* Closes GPUs. Accepts NULL. */
void roof_gpus_close(struct roof_gpus *gpus);

/* Open the GPUs of one driver. */
enum roof_status roof_nvml_open(struct roof_gpus **out, struct roof_error *error);
/* Opens the one GPU with a PCI bus id; its number is 0. */
enum roof_status roof_nvml_open_at(struct roof_gpus **out, const char *bus,
                                   struct roof_error *error);
/* Open the GPUs of AMD's driver, or the one with a PCI bus id where `bus` is not NULL: by one of
 * AMD's two libraries, and by the first of them that can. */
enum roof_status roof_rocm_smi_open(struct roof_gpus **out, const char *bus,
                                    struct roof_error *error);
enum roof_status roof_amd_smi_open(struct roof_gpus **out, const char *bus,
                                   struct roof_error *error);
enum roof_status roof_amd_open(struct roof_gpus **out, const char *bus, struct roof_error *error);

#endif
