// SPDX-License-Identifier: MIT
/* The attention of a prefill on NVIDIA GPUs by cuDNN, as its graph of products and a softmax, which
 * it runs as one kernel. */
#ifndef ROOF_MEASURE_GPU_ATTENTION_H
#define ROOF_MEASURE_GPU_ATTENTION_H

#include <stdbool.h>

#include "measure/gpu_driver.h"
#include "operator/operator.h"

/* Opaque: cudnnHandle_t and cudnnBackendDescriptor_t point to them. */
struct cudnn_handle;
struct cudnn_descriptor;

/* The functions by the names in cudnn_graph.h 9.19. Each but the version and the name returns a
 * status, of which 0 is success. */
struct roof_cudnn_calls {
    size_t (*cudnnGetVersion)(void);
    const char *(*cudnnGetErrorString)(int status);
    int (*cudnnCreate)(struct cudnn_handle **handle);
    int (*cudnnDestroy)(struct cudnn_handle *handle);
    int (*cudnnSetStream)(struct cudnn_handle *handle, struct gpu_stream *stream);
    int (*cudnnBackendCreateDescriptor)(int type, struct cudnn_descriptor **out);
    int (*cudnnBackendDestroyDescriptor)(struct cudnn_descriptor *descriptor);
    int (*cudnnBackendFinalize)(struct cudnn_descriptor *descriptor);
    int (*cudnnBackendSetAttribute)(struct cudnn_descriptor *descriptor, int attribute, int type,
                                    int64_t count, const void *values);
    int (*cudnnBackendGetAttribute)(struct cudnn_descriptor *descriptor, int attribute, int type,
                                    int64_t wanted, int64_t *found, void *values);
    int (*cudnnBackendExecute)(struct cudnn_handle *handle, struct cudnn_descriptor *plan,
                               struct cudnn_descriptor *data);
};

/* cuDNN; zeroed, it is closed. */
struct roof_cudnn {
    struct roof_library library;
    struct roof_cudnn_calls call;
    struct cudnn_handle *handle;
};

/* Opens cuDNN for the stream of a started GPU. The message of ROOF_IO names what is missing; the
 * caller closes *out, even then. */
enum roof_status roof_cudnn_open(struct roof_cudnn *out, const struct roof_gpu *gpu,
                                 struct roof_error *error);
void roof_cudnn_close(struct roof_cudnn *library);

/* Tells if an open library can run an operator on a GPU: attention of several queries in 16 bits
 * without a window, on compute capability 8.0 or newer. */
bool roof_gpu_attention_able(const struct roof_cudnn *library, const struct roof_gpu *gpu,
                             const struct roof_workload *workload);

#define ROOF_CUDNN_DESCRIPTORS 80
/* An attention that is prepared; zeroed, it is not. */
struct roof_gpu_attention {
    const struct roof_cudnn *library;
    const struct roof_gpu *gpu;
    struct roof_shape shape;
    float scale; /* of the products of queries and keys */
    int32_t queries;
    int32_t keys;
    struct cudnn_descriptor *plan;
    uint64_t workspace; /* memory of the device; 0: none is needed */
    /* All descriptors, to be released. */
    struct cudnn_descriptor *made[ROOF_CUDNN_DESCRIPTORS];
    int count;
};

/* Returns the bytes of the data of a call: queries, keys, values and results, one after another. */
int64_t roof_gpu_attention_bytes(const struct roof_workload *workload);

/* Prepares an attention with the first kernel that cuDNN proposes and can build. The caller ends
 * *out, also after a failure. */
enum roof_status roof_gpu_attention_begin(struct roof_gpu_attention *out,
                                          const struct roof_cudnn *library,
                                          const struct roof_gpu *gpu,
                                          const struct roof_workload *workload,
                                          struct roof_error *error);
/* Queues the attention whose data is at an address. */
enum roof_status roof_gpu_attention_run(const struct roof_gpu_attention *attention, uint64_t data,
                                        struct roof_error *error);
void roof_gpu_attention_end(struct roof_gpu_attention *attention);

#endif
