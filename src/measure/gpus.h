// SPDX-License-Identifier: MIT
/* Power, clocks, temperature and use of GPUs, as their drivers report them. */
#ifndef ROOF_MEASURE_GPUS_H
#define ROOF_MEASURE_GPUS_H

#include "base/error.h"
#include "measure/sample.h"

struct roof_gpus;

/* The functions of one driver. */
struct roof_gpus_driver {
    const char *source; /* the interface of the driver: "nvml", "rocm_smi", "amd_smi" */
    size_t size;        /* of the struct of this driver, which starts with a struct roof_gpus */
    /* Opens the GPU at a PCI bus id, or all where `bus` is NULL, in a zeroed struct of that size;
     * `close` ends it, also after a failure. */
    enum roof_status (*open)(struct roof_gpus *gpus, const char *bus, struct roof_error *error);
    void (*close)(struct roof_gpus *gpus);
    void (*name)(struct roof_gpus *gpus, char out[ROOF_GPU_NAME_SIZE], int device);
    /* Reads everything but the time into a cleared sample. A value that the device does not have
     * is unknown; any other failure is ROOF_IO with one line. */
    enum roof_status (*read)(struct roof_gpus *gpus, struct roof_sample *out, int device,
                             struct roof_error *error);
    /* Reads the energy counter alone, in the same way. */
    enum roof_status (*count)(struct roof_gpus *gpus, struct roof_sample *out, int device,
                              struct roof_error *error);
    /* Both of the one GPU that is opened by its bus. Tells if it is divided; NULL: the driver does
     * not divide GPUs. */
    bool (*divided)(struct roof_gpus *gpus);
    /* Counts the processes that compute on it, without this one if the driver has process numbers;
     * 0 if it does not list them. */
    enum roof_status (*others)(struct roof_gpus *gpus, unsigned *out, struct roof_error *error);
};
extern const struct roof_gpus_driver roof_nvml;
extern const struct roof_gpus_driver roof_rocm_smi;
extern const struct roof_gpus_driver roof_amd_smi;

/* The GPUs of one driver, numbered from 0 as the driver numbers them. */
struct roof_gpus {
    const struct roof_gpus_driver *driver;
    int count;
};

/* Opens the GPUs of the first driver that has any: NVIDIA's, else AMD's. The caller closes *out
 * with roof_gpus_close. ROOF_IO says in one line what is missing. */
enum roof_status roof_gpus_open(struct roof_gpus **out, struct roof_error *error);
/* Closes GPUs. Accepts NULL. */
void roof_gpus_close(struct roof_gpus *gpus);

/* Open the GPUs of one vendor's driver, or the one with a PCI bus id, whose number is 0, where
 * `bus` is not NULL. AMD has two libraries: the first of them that can is used. */
enum roof_status roof_nvidia_open(struct roof_gpus **out, const char *bus,
                                  struct roof_error *error);
enum roof_status roof_amd_open(struct roof_gpus **out, const char *bus, struct roof_error *error);

/* Reads everything but the time, as `read` above. */
enum roof_status roof_gpus_read(struct roof_gpus *gpus, struct roof_sample *out, int device,
                                struct roof_error *error);

/* Returns the energy counter of the GPU that was opened by its bus, in joules; NAN: it has none, or
 * it cannot be read. */
double roof_gpus_energy(struct roof_gpus *gpus);

/* Refuses, with ROOF_IO, the GPU that was opened by its bus if it is divided or if another process
 * computes on it. Drivers list a process for a moment after its end, so the check is repeated for
 * up to 3 s. */
enum roof_status roof_gpus_check_free(struct roof_gpus *gpus, struct roof_error *error);

#endif
