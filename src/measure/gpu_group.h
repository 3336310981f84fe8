// SPDX-License-Identifier: MIT
/* Collectives over GPUs of one machine, by NCCL or RCCL, which has the same functions. */
#ifndef ROOF_MEASURE_GPU_GROUP_H
#define ROOF_MEASURE_GPU_GROUP_H

#include <stdbool.h>

#include "measure/gpu_driver.h"
#include "measure/library.h"
#include "operator/operator.h"

struct nccl_comm; /* opaque: ncclComm_t points to it */

/* The functions by the names in nccl.h 2.28.9 (CUDA 13.0). Each but the name returns a number, of
 * which 0 is success. */
struct roof_nccl_calls {
    int (*ncclCommInitAll)(struct nccl_comm **comm, int count, const int *devices);
    int (*ncclCommDestroy)(struct nccl_comm *comm);
    int (*ncclGroupStart)(void);
    int (*ncclGroupEnd)(void);
    int (*ncclAllReduce)(uint64_t from, uint64_t to, size_t count, int type, int sum,
                         struct nccl_comm *comm, struct gpu_stream *stream);
    int (*ncclAllGather)(uint64_t from, uint64_t to, size_t count, int type, struct nccl_comm *comm,
                         struct gpu_stream *stream);
    const char *(*ncclGetErrorString)(int status);
};

#define ROOF_GROUP_MAX 16
/* A library that is open, and the group whose collective is begun. */
struct roof_gpu_group {
    struct roof_library library;
    struct roof_nccl_calls call;
    int devices; /* that the driver has */
    int present; /* number of GPUs that can take part; less than 2: no collectives */
    int count;   /* of the group that is there; 0: none is */
    struct roof_gpu member[ROOF_GROUP_MAX]; /* the first is a copy of the one that is measured */
    struct nccl_comm *comm[ROOF_GROUP_MAX];
    uint64_t data[ROOF_GROUP_MAX]; /* the data to send, followed by the received data */
    struct roof_workload workload;
    int64_t bytes; /* of the tensor */
    int64_t calls; /* of a sample; 0: unknown yet */
};

/* Opens the library where there are several GPUs. ROOF_IO says what is missing; the caller closes
 * *out (roof_gpu_group_close), also then. */
enum roof_status roof_gpu_group_open(struct roof_gpu_group *out, const struct roof_gpu *gpu,
                                     const char *const *libraries, const char *comes_with,
                                     struct roof_error *error);
/* Releases all; the GPU that is measured is the current one again. */
void roof_gpu_group_close(struct roof_gpu_group *group, const struct roof_gpu *gpu);

/* Finds the GPU at a place in a group: the measured one is at 0, and the following numbers come
 * next, cyclically. */
enum roof_status roof_gpu_group_device(int *out, const struct roof_gpu_group *group,
                                       const struct roof_gpu *gpu, int place,
                                       struct roof_error *error);

/* Makes a group of so many GPUs, of which the one that is measured has been started. An older group
 * ends. After a failure there is none. */
enum roof_status roof_gpu_group_join(struct roof_gpu_group *group, const struct roof_gpu *gpu,
                                     int count, struct roof_error *error);

/* Tells if the group can run an operator. */
bool roof_gpu_group_able(const struct roof_gpu_group *group, const struct roof_workload *workload);
/* Prepares a collective: communicators and memory of each GPU. The caller ends it, also after a
 * failure. */
enum roof_status roof_gpu_group_begin(struct roof_gpu_group *group, struct roof_gpu *gpu,
                                      const struct roof_workload *workload,
                                      struct roof_error *error);
/* Times a collective: seconds of one, and of all that the sample ran. */
enum roof_status roof_gpu_group_sample(double *seconds, double *busy_s,
                                       struct roof_gpu_group *group, struct roof_gpu *gpu,
                                       struct roof_error *error);
/* Releases the memory of a collective; the communicators stay for the next one. */
void roof_gpu_group_end(struct roof_gpu_group *group, struct roof_gpu *gpu);

#endif
