// SPDX-License-Identifier: MIT
/* The backends that measure a GPU of NVIDIA or AMD: our kernels for bandwidth, launch, vector units
 * and operators, and the kernels of cuBLASLt or hipBLASLt for products. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "measure/cpu_half.h"
#include "measure/cpu_job.h"
#include "measure/gpu_attention.h"
#include "measure/gpu_backend.h"
#include "measure/gpu_group.h"
#include "measure/gpu_transfer.h"

/* A sample takes about as long as this, in seconds. */
#define SAMPLE_S 5e-3
/* A graph has at most so many kernels. */
#define CALLS_MAX 4096
/* The sides of the product that the peak of a matrix unit is measured with: 4096^3 FLOPs fill any
 * GPU, and take 0.1 to 20 ms. */
#define PEAK_SIDE ((int64_t)4096)
/* Data is made on the host in pieces of this size, and copied on the device. */
#define PIECE_BYTES ((int64_t)1 << 20)

enum job_kind { JOB_PROBE, JOB_TRANSFER, JOB_PRODUCT, JOB_VECTOR, JOB_ATTENTION, JOB_COLLECTIVE };

/* A task that is begun; zeroed, none is. */
struct job {
    enum job_kind kind;
    enum roof_gpu_kernel kernel;   /* of a probe */
    struct roof_workload workload; /* of a vector kernel */
    struct roof_gpu_product product;
    struct roof_gpu_attention attention;
    struct roof_gpu_transfer transfer;
    uint64_t data;  /* memory of the device: the copies, one after another */
    int64_t stride; /* bytes from one copy to the next */
    int64_t copies; /* calls use them in turn, so that a cold one finds nothing in the cache */
    int64_t bytes;  /* that a probe touches */
    int64_t weights_bytes;
    int64_t inputs_bytes;
    int64_t calls; /* of the graph; 0: unknown yet */
    struct gpu_graph_run *graph;
};

struct roof_bench {
    const struct roof_gpu_backend *backend;
    struct roof_gpu gpu;
    int64_t l3_bytes; /* of the cache behind the L2; 0: there is none */
    struct roof_gpu_kernels kernels;
    struct roof_gpu_vectors vectors;
    struct roof_gpu_products products; /* its handle is NULL if the library is missing */
    struct roof_error lacks;           /* says why */
    struct roof_cudnn cudnn;           /* in the same way */
    struct roof_error no_prefill;
    struct roof_gpu_group group;
    struct roof_error alone;   /* why several GPUs have no collectives; "": they do */
    struct roof_gpus *sensors; /* NULL where their library is missing */
    struct roof_error blind;   /* says why */
    enum roof_status free;     /* ROOF_OK: no other process computes on the device */
    struct roof_error others;
    struct job job; /* the task */
    /* A step. */
    struct roof_meter_step step;
    struct job *part; /* owned; NULL: no step is begun */
    int64_t *next;    /* owned: the number of the next run of each part, while they are queued */
    struct gpu_graph_run *graph; /* all runs in their order */
    struct job *queued;          /* the job whose calls are queued */
    double busy_s;               /* of the last sample */
};

/* --- the device ---------------------------------------------------------------------------- */

/* Releases what a job holds. */
static void release(struct job *job, struct roof_bench *bench)
{
    roof_gpu_release(&bench->gpu, &job->graph);
    roof_gpu_product_end(&job->product);
    roof_gpu_attention_end(&job->attention);
    roof_gpu_transfer_end(&job->transfer, &bench->gpu);
    if (job->kind == JOB_COLLECTIVE) {
        roof_gpu_group_end(&bench->group, &bench->gpu);
    }
    if (job->data != 0) {
        (void)bench->gpu.call.release(job->data);
    }
    *job = (struct job){.data = 0};
}

static void gpu_step_end(struct roof_bench *bench)
{
    for (size_t i = 0; i < bench->step.count && bench->part != NULL; i++) {
        release(&bench->part[i], bench);
    }
    roof_gpu_release(&bench->gpu, &bench->graph);
    free(bench->part);
    free(bench->next);
    bench->part = NULL;
    bench->next = NULL;
    bench->graph = NULL;
}

static void gpu_close(struct roof_bench *bench)
{
    if (bench != NULL) {
        gpu_step_end(bench);
        roof_gpu_group_close(&bench->group, &bench->gpu);
        roof_gpus_close(bench->sensors);
        roof_cudnn_close(&bench->cudnn);
        roof_gpu_products_close(&bench->products);
        roof_gpu_vectors_close(&bench->vectors, &bench->gpu);
        roof_gpu_kernels_close(&bench->kernels, &bench->gpu);
        roof_gpu_close(&bench->gpu);
        free(bench);
    }
}

/* Ignores a missing library, but not a lack of memory. */
static enum roof_status unless_memory(enum roof_status status, struct roof_error *error)
{
    return status == ROOF_MEMORY ? roof_no_memory(error) : ROOF_OK;
}

/* Refuses a GPU of the group that is divided or that others compute on, if its sensors say so. */
static enum roof_status check_member(const struct roof_bench *bench, int place,
                                     struct roof_error *error)
{
    const struct roof_gpu *const gpu = &bench->gpu;
    int number = 0;
    char bus[ROOF_GPU_NAME_MAX];
    struct roof_gpus *sensors = NULL;
    TRY(roof_gpu_group_device(&number, &bench->group, gpu, place, error));
    ROOF_GPU_CALL(gpu, device_bus, bus, ROOF_GPU_NAME_MAX, number);
    if (bench->backend->sensors(&sensors, bus, NULL) != ROOF_OK) {
        return ROOF_OK;
    }
    const enum roof_status status = roof_gpus_check_free(sensors, error);
    roof_gpus_close(sensors);
    return status == ROOF_IO
               ? roof_error_set(error, ROOF_IO, "GPU %d is divided, or other processes use it",
                                number)
               : status;
}

/* Opens the library of collectives; without it, or free GPUs, there are none. */
static enum roof_status open_group(struct roof_bench *bench, struct roof_error *error)
{
    const struct roof_gpu_backend *const backend = bench->backend;
    bench->alone.message[0] = '\0';
    enum roof_status status = roof_gpu_group_open(&bench->group, &bench->gpu, backend->collectives,
                                                  backend->collectives_come_with, &bench->alone);
    for (int i = 1; i < bench->group.present && status == ROOF_OK; i++) {
        status = check_member(bench, i, &bench->alone);
    }
    if (status != ROOF_OK) {
        roof_gpu_group_close(&bench->group, &bench->gpu);
    }
    return unless_memory(status, error);
}

/* Makes the group of all devices, once the measured one is started. */
static enum roof_status join_group(struct roof_bench *bench, struct roof_error *error)
{
    struct roof_gpu_group *const group = &bench->group;
    const enum roof_status status =
        group->present < 2 ? ROOF_OK
                           : roof_gpu_group_join(group, &bench->gpu, group->present, &bench->alone);
    if (status != ROOF_OK) {
        roof_gpu_group_close(group, &bench->gpu);
    }
    return unless_memory(status, error);
}

/* Opens the library of attention; without it a prefill has none. */
static enum roof_status open_attention(struct roof_bench *bench, struct roof_error *error)
{
    if (!bench->backend->has_cudnn) {
        return ROOF_OK;
    }
    const enum roof_status status = roof_cudnn_open(&bench->cudnn, &bench->gpu, &bench->no_prefill);
    if (status != ROOF_OK) {
        roof_cudnn_close(&bench->cudnn);
    }
    return unless_memory(status, error);
}

/* Fills in an opened device, which gpu_close releases also where this fails. */
static enum roof_status fill(struct roof_bench *bench, const struct roof_meter_options *options,
                             struct roof_error *error)
{
    const struct roof_gpu_backend *const backend = bench->backend;
    TRY(roof_gpu_find(&bench->gpu, backend->driver, options->index, error));
    bench->l3_bytes = backend->l3_bytes(&bench->gpu);
    /* Bandwidths need no sensors and no products. */
    TRY(unless_memory(backend->sensors(&bench->sensors, bench->gpu.bus, &bench->blind), error));
    /* The driver also counts this process, once it has a context. */
    bench->free = bench->sensors == NULL || options->shared
                      ? ROOF_OK
                      : roof_gpus_check_free(bench->sensors, &bench->others);
    TRY(open_group(bench, error));
    TRY(roof_gpu_start(&bench->gpu, error));
    TRY(join_group(bench, error));
    TRY(open_attention(bench, error));
    TRY(backend->load(&bench->kernels, &bench->vectors, &bench->gpu, error));
    const enum roof_status status =
        roof_gpu_products_open(&bench->products, backend->products, &bench->lacks);
    if (status != ROOF_OK) {
        roof_gpu_products_close(&bench->products);
    }
    return unless_memory(status, error);
}

static enum roof_status gpu_open(struct roof_bench **out, const struct roof_gpu_backend *backend,
                                 const struct roof_meter_options *options, struct roof_error *error)
{
    struct roof_bench *const bench = calloc(1, sizeof *bench);
    if (bench == NULL) {
        return roof_no_memory(error);
    }
    bench->backend = backend;
    const enum roof_status status = fill(bench, options, error);
    if (status != ROOF_OK) {
        gpu_close(bench);
        return status;
    }
    *out = bench;
    return ROOF_OK;
}

static enum roof_status cuda_open(struct roof_bench **out, const struct roof_meter_options *options,
                                  struct roof_error *error)
{
    return gpu_open(out, &roof_cuda_backend, options, error);
}

static enum roof_status hip_open(struct roof_bench **out, const struct roof_meter_options *options,
                                 struct roof_error *error)
{
    return gpu_open(out, &roof_hip_backend, options, error);
}

static enum roof_status gpu_check(const struct roof_bench *bench, struct roof_error *error)
{
    if (bench->free != ROOF_OK && error != NULL) {
        *error = bench->others;
    }
    return bench->free;
}

static void gpu_describe(struct roof_meter_device *out, const struct roof_bench *bench)
{
    const struct roof_gpu *const gpu = &bench->gpu;
    const struct roof_gpu_backend *const backend = bench->backend;
    *out = (struct roof_meter_device){.units = gpu->units,
                                      .clock_hz = gpu->clock_hz,
                                      .memory_bytes = gpu->memory_bytes,
                                      .tdp_w = ROOF_UNKNOWN,
                                      .devices = bench->group.present};
    (void)snprintf(out->vendor, sizeof out->vendor, "%s", backend->driver->vendor);
    (void)snprintf(out->name, sizeof out->name, "%s", gpu->name);
    backend->architecture(out->architecture, gpu);
    (void)snprintf(out->software, sizeof out->software, "%s driver %d.%d", backend->driver->name,
                   gpu->driver_version / backend->version_major,
                   gpu->driver_version % backend->version_major / backend->version_minor);
    if (bench->products.handle == NULL) {
        (void)snprintf(out->lacks, sizeof out->lacks, "%.*s", ROOF_METER_LACKS - 1,
                       bench->lacks.message);
    } else {
        const size_t used = strlen(out->software);
        (void)snprintf(out->software + used, sizeof out->software - used, ", %s %zu",
                       bench->products.library.name, roof_gpu_products_version(&bench->products));
    }
    (void)snprintf(out->alone, sizeof out->alone, "%.*s", ROOF_METER_LACKS - 1,
                   bench->alone.message);
    (void)snprintf(out->no_sensors, sizeof out->no_sensors, "%.*s", ROOF_METER_LACKS - 1,
                   bench->sensors == NULL ? bench->blind.message : "");
    if (bench->cudnn.handle == NULL) {
        (void)snprintf(out->no_prefill, sizeof out->no_prefill, "%.*s", ROOF_METER_LACKS - 1,
                       bench->no_prefill.message);
    } else {
        const size_t used = strlen(out->software);
        const size_t version = bench->cudnn.call.cudnnGetVersion();
        (void)snprintf(out->software + used, sizeof out->software - used, ", cuDNN %zu.%zu.%zu",
                       version / 10000, version / 100 % 100, version % 100);
    }
    if (gpu->l2_bytes > 0) {
        out->level[out->level_count++] =
            (struct roof_meter_level){.name = "L2", .bytes = gpu->l2_bytes};
    }
    if (bench->l3_bytes > 0) {
        out->level[out->level_count++] =
            (struct roof_meter_level){.name = "L3", .bytes = bench->l3_bytes};
    }
    out->level[out->level_count++] = (struct roof_meter_level){.name = "memory"};
}

/* --- which tasks --------------------------------------------------------------------------- */

/* Finds our kernel of a probe; false: there is none. */
static bool kernel_of(enum roof_gpu_kernel *out, const struct roof_meter_task *task)
{
    switch (task->probe) {
    case ROOF_PROBE_READ:
        *out = ROOF_GPU_READ;
        return true;
    case ROOF_PROBE_COPY:
        *out = ROOF_GPU_COPY;
        return true;
    case ROOF_PROBE_TRIAD:
        *out = ROOF_GPU_TRIAD;
        return true;
    case ROOF_PROBE_LAUNCH:
        *out = ROOF_GPU_NOTHING;
        return true;
    case ROOF_PROBE_MULTIPLY:
        *out = task->format == ROOF_PRECISION_FP16   ? ROOF_GPU_MULTIPLY_FP16
               : task->format == ROOF_PRECISION_FP64 ? ROOF_GPU_MULTIPLY_FP64
                                                     : ROOF_GPU_MULTIPLY_FP32;
        return task->unit == ROOF_COMPUTE_VECTOR &&
               (*out != ROOF_GPU_MULTIPLY_FP32 || task->format == ROOF_PRECISION_FP32);
    case ROOF_PROBE_TO_DEVICE:
    case ROOF_PROBE_FROM_DEVICE:
    case ROOF_PROBE_OPERATOR:
    case ROOF_PROBE_COUNT:
        break;
    }
    return false;
}

/* Finds the product of a task: an operator, or the peak of a matrix unit; false: it has none. */
static bool product_of(struct roof_gpu_shape *out, const struct roof_meter_task *task)
{
    const struct roof_workload *const w = &task->workload;
    if (task->probe == ROOF_PROBE_MULTIPLY) {
        /* Formats of 4 bits are so fast that the launch would matter. */
        const int64_t side = roof_precision_bits(task->format) < 8 ? 2 * PEAK_SIDE : PEAK_SIDE;
        *out = (struct roof_gpu_shape){task->format, 1, side, side, side};
        /* A product of fp32 runs on the vector unit. */
        return task->unit == ROOF_COMPUTE_MATRIX && task->format != ROOF_PRECISION_FP32;
    }
    *out = (struct roof_gpu_shape){w->formats.weights, w->shape.batch, w->shape.m, w->shape.n,
                                   w->shape.k};
    return task->probe == ROOF_PROBE_OPERATOR &&
           (w->op == ROOF_OPERATOR_GEMM || w->op == ROOF_OPERATOR_GEMV ||
            w->op == ROOF_OPERATOR_BMM) &&
           w->formats.weights == w->formats.activations;
}

static bool is_vector(const struct roof_bench *bench, const struct roof_meter_task *task)
{
    return task->probe == ROOF_PROBE_OPERATOR &&
           roof_gpu_vector_able(&bench->vectors, &task->workload);
}

static bool is_attention(const struct roof_bench *bench, const struct roof_meter_task *task)
{
    return task->probe == ROOF_PROBE_OPERATOR &&
           roof_gpu_attention_able(&bench->cudnn, &bench->gpu, &task->workload);
}

static bool is_collective(const struct roof_bench *bench, const struct roof_meter_task *task)
{
    return task->probe == ROOF_PROBE_OPERATOR &&
           roof_gpu_group_able(&bench->group, &task->workload);
}

static bool gpu_able(const struct roof_bench *bench, const struct roof_meter_task *task)
{
    enum roof_gpu_kernel kernel = ROOF_GPU_NOTHING;
    struct roof_gpu_shape shape;
    return kernel_of(&kernel, task) || roof_gpu_is_transfer(task) || is_vector(bench, task) ||
           is_attention(bench, task) || is_collective(bench, task) ||
           (bench->products.handle != NULL && product_of(&shape, task) &&
            roof_gpu_product_able(bench->backend->products, &bench->gpu, &shape));
}

/* --- data ---------------------------------------------------------------------------------- */

/* Fills a piece with numbers in [-1, 1] of a format: zeros would raise the clock. */
static void fill_piece(unsigned char *out, enum roof_precision format)
{
    static const int64_t step = 4096;
    float values[4096];
    uint64_t state = 1;
    const bool fp8 = format == ROOF_PRECISION_FP8_E4M3 || format == ROOF_PRECISION_MXFP8_E4M3;
    /* All bits of int8 and of the elements of nvfp4 are numbers. */
    if (fp8 || format == ROOF_PRECISION_INT8 || format == ROOF_PRECISION_NVFP4) {
        roof_cpu_noise(out, PIECE_BYTES, &state);
        for (int64_t i = 0; i < PIECE_BYTES && fp8; i++) {
            const int size = (out[i] & 0x7f) % 0x39; /* up to 1 */
            /* A zero has no sign: AMD's older fp8 has no number there. */
            out[i] = (unsigned char)(size == 0 ? 0 : (out[i] & 0x80) | size);
        }
        return;
    }
    if (format != ROOF_PRECISION_FP16 && format != ROOF_PRECISION_BF16) {
        roof_cpu_random((float *)(void *)out, PIECE_BYTES / 4, &state);
        return;
    }
    for (int64_t at = 0; at < PIECE_BYTES / 2; at += step) {
        roof_cpu_random(values, step, &state);
        for (int64_t i = 0; i < step; i++) {
            uint32_t bits = 0;
            memcpy(&bits, &values[i], sizeof bits);
            const uint16_t half = format == ROOF_PRECISION_FP16 ? roof_float_to_half(values[i])
                                                                : (uint16_t)(bits >> 16);
            memcpy(out + 2 * (at + i), &half, sizeof half);
        }
    }
}

/* Allocates the copies of a task and fills them: the first piece from the host, and then repeatedly
 * as much again from the filled part. */
static enum roof_status make_data(struct job *job, struct roof_bench *bench,
                                  enum roof_precision format, struct roof_error *error)
{
    const int64_t bytes = job->stride * job->copies;
    unsigned char *const piece = malloc(PIECE_BYTES);
    if (piece == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = roof_gpu_allocate(&job->data, &bench->gpu, bytes, error);
    int64_t done = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
    if (status == ROOF_OK) {
        fill_piece(piece, format);
        status = ROOF_GPU_STATUS(&bench->gpu, copy_in, job->data, piece, (size_t)done);
    }
    free(piece);
    while (status == ROOF_OK && done < bytes) {
        const int64_t more = bytes - done < done ? bytes - done : done;
        status = ROOF_GPU_STATUS(&bench->gpu, copy_within, job->data + (uint64_t)done, job->data,
                                 (size_t)more);
        done += more;
    }
    /* Copies on the device are asynchronous, in a stream for which ours does not wait. */
    return status == ROOF_OK ? ROOF_GPU_STATUS(&bench->gpu, stream_synchronize, NULL) : status;
}

/* Makes all scales of an operand 1. */
static enum roof_status fill_scales(const struct roof_bench *bench, uint64_t operand,
                                    const struct roof_gpu_operand *parts, struct roof_error *error)
{
    unsigned char ones[4096];
    memset(ones, parts->one, sizeof ones);
    for (int64_t done = 0; done < parts->scales; done += (int64_t)sizeof ones) {
        const int64_t left = parts->scales - done;
        ROOF_GPU_CALL(&bench->gpu, copy_in, operand + (uint64_t)(parts->scales_at + done), ones,
                      left < (int64_t)sizeof ones ? (size_t)left : sizeof ones);
    }
    return ROOF_OK;
}

/* Returns the number of copies that a task needs so that a cold call finds nothing in the cache,
 * and so that each run of a step (0: not a step) has its own. In a step the operators before have
 * just written the activations, and the keys and values of a whole prompt. */
static int64_t copies_of(const struct roof_bench *bench, const struct roof_meter_task *task,
                         int64_t bytes, int64_t runs)
{
    const bool warm = task->probe != ROOF_PROBE_OPERATOR || task->workload.cache == ROOF_CACHE_WARM;
    const struct roof_shape *const s = &task->workload.shape;
    const bool written = runs > 0 && (task->workload.op == ROOF_OPERATOR_FLASH_ATTENTION
                                          ? is_attention(bench, task) && s->kv_len == s->query_len
                                          : is_vector(bench, task));
    const int64_t caches = bench->gpu.l2_bytes + bench->l3_bytes;
    const int64_t cold = bytes <= 0 ? 1 : 1 + 3 * caches / bytes;
    return warm || written ? 1 : cold > runs ? cold : runs;
}

/* --- tasks --------------------------------------------------------------------------------- */

static void gpu_end(struct roof_bench *bench)
{
    release(&bench->job, bench);
}

/* Returns the address of the data of a call. */
static uint64_t data_of(const struct job *job, int64_t call)
{
    return job->data + (uint64_t)(call % job->copies * job->stride);
}

/* Points a product to the operands of a call. */
static void point(struct job *job, int64_t call)
{
    const uint64_t at = data_of(job, call);
    job->product.weights_at = at;
    job->product.inputs_at = at + (uint64_t)job->weights_bytes;
    job->product.out_at = job->product.inputs_at + (uint64_t)job->inputs_bytes;
}

static enum roof_status begin_product(struct job *job, double *amount, struct roof_bench *bench,
                                      const struct roof_meter_task *task,
                                      const struct roof_gpu_shape *s, int64_t runs,
                                      struct roof_error *error)
{
    const struct roof_gpu_product_type *const type =
        roof_gpu_product_type(bench->backend->products, &bench->gpu, s->format);
    const struct roof_gpu_operand weights = roof_gpu_operand(type, s, s->n);
    const struct roof_gpu_operand inputs = roof_gpu_operand(type, s, s->m);
    job->kind = JOB_PRODUCT;
    job->weights_bytes = weights.bytes;
    job->inputs_bytes = inputs.bytes;
    job->stride = job->weights_bytes + job->inputs_bytes +
                  roof_gpu_aligned(type->out_bytes * s->batch * s->m * s->n);
    job->copies = copies_of(bench, task, job->stride, runs);
    *amount =
        task->probe == ROOF_PROBE_MULTIPLY ? 2.0 * (double)s->m * (double)s->n * (double)s->k : 0;
    TRY(make_data(job, bench, s->format, error));
    for (int64_t copy = 0; copy < job->copies; copy++) {
        const uint64_t at = data_of(job, copy);
        TRY(fill_scales(bench, at, &weights, error));
        TRY(fill_scales(bench, at + (uint64_t)job->weights_bytes, &inputs, error));
    }
    point(job, 0);
    return roof_gpu_product_begin(&job->product, &bench->products, &bench->gpu, s, error);
}

static enum roof_status begin_vector(struct job *job, struct roof_bench *bench,
                                     const struct roof_meter_task *task, int64_t runs,
                                     struct roof_error *error)
{
    job->kind = JOB_VECTOR;
    job->workload = task->workload;
    job->stride = roof_gpu_vector_bytes(&bench->gpu, &task->workload);
    job->copies = copies_of(bench, task, job->stride, runs);
    return make_data(job, bench, ROOF_PRECISION_FP16, error);
}

static enum roof_status begin_attention(struct job *job, struct roof_bench *bench,
                                        const struct roof_meter_task *task, int64_t runs,
                                        struct roof_error *error)
{
    const struct roof_workload *const w = &task->workload;
    job->kind = JOB_ATTENTION;
    job->stride = roof_gpu_attention_bytes(w);
    job->copies = copies_of(bench, task, job->stride, runs);
    TRY(make_data(job, bench, w->formats.kv, error));
    return roof_gpu_attention_begin(&job->attention, &bench->cudnn, &bench->gpu, w, error);
}

static enum roof_status begin_collective(struct job *job, struct roof_bench *bench,
                                         const struct roof_meter_task *task,
                                         struct roof_error *error)
{
    job->kind = JOB_COLLECTIVE;
    return roof_gpu_group_begin(&bench->group, &bench->gpu, &task->workload, error);
}

static enum roof_status begin_transfer(struct job *job, double *amount, struct roof_bench *bench,
                                       const struct roof_meter_task *task, struct roof_error *error)
{
    job->kind = JOB_TRANSFER;
    job->stride = roof_gpu_aligned(task->bytes);
    job->copies = 1;
    *amount = (double)task->bytes;
    TRY(make_data(job, bench, ROOF_PRECISION_FP32, error));
    return roof_gpu_transfer_begin(&job->transfer, &bench->gpu, task, error);
}

static enum roof_status begin_kernel(struct job *job, double *amount, struct roof_bench *bench,
                                     const struct roof_meter_task *task, struct roof_error *error)
{
    (void)kernel_of(&job->kernel, task);
    job->bytes = task->bytes;
    job->stride = roof_gpu_aligned(task->bytes > 0 ? task->bytes : 1);
    job->copies = 1;
    *amount = roof_gpu_kernel_amount(&bench->gpu, job->kernel, task->bytes);
    return make_data(job, bench, ROOF_PRECISION_FP32, error);
}

/* Prepares a task; runs is the number of times that a step runs it, or 0 outside a step. */
static enum roof_status begin(struct job *job, double *amount, struct roof_bench *bench,
                              const struct roof_meter_task *task, int64_t runs,
                              struct roof_error *error)
{
    struct roof_gpu_shape shape;
    *job = (struct job){.data = 0};
    *amount = 0;
    const enum roof_status status =
        product_of(&shape, task)     ? begin_product(job, amount, bench, task, &shape, runs, error)
        : is_vector(bench, task)     ? begin_vector(job, bench, task, runs, error)
        : is_attention(bench, task)  ? begin_attention(job, bench, task, runs, error)
        : is_collective(bench, task) ? begin_collective(job, bench, task, error)
        : roof_gpu_is_transfer(task) ? begin_transfer(job, amount, bench, task, error)
                                     : begin_kernel(job, amount, bench, task, error);
    if (status != ROOF_OK) {
        release(job, bench);
    }
    return status;
}

static enum roof_status gpu_begin(double *amount, struct roof_bench *bench,
                                  const struct roof_meter_task *task, struct roof_error *error)
{
    return begin(&bench->job, amount, bench, task, 0, error);
}

/* --- samples ------------------------------------------------------------------------------- */

/* Queues one call of a job; collectives queue their own (measure/gpu_group.h). */
static enum roof_status queue_call(struct job *job, const struct roof_bench *bench, int64_t call,
                                   struct roof_error *error)
{
    if (job->kind == JOB_PRODUCT) {
        point(job, call);
        return roof_gpu_product_run(&job->product, error);
    }
    if (job->kind == JOB_ATTENTION) {
        return roof_gpu_attention_run(&job->attention, data_of(job, call), error);
    }
    if (job->kind == JOB_TRANSFER) {
        return roof_gpu_transfer_run(&job->transfer, &bench->gpu, data_of(job, call), error);
    }
    return job->kind == JOB_VECTOR ? roof_gpu_vector_run(&bench->gpu, &bench->vectors,
                                                         &job->workload, data_of(job, call), error)
                                   : roof_gpu_launch(&bench->gpu, &bench->kernels, job->kernel,
                                                     data_of(job, call), job->bytes, error);
}

/* Queues all calls of a sample. */
static enum roof_status queue_calls(void *context, struct roof_error *error)
{
    const struct roof_bench *const bench = context;
    for (int64_t call = 0; call < bench->queued->calls; call++) {
        TRY(queue_call(bench->queued, bench, call, error));
    }
    return ROOF_OK;
}

/* cuDNN's kernels do not start behind a gate: the host then waits while it queues them. */
static enum roof_gpu_start start_of(const struct job *job)
{
    return job->kind == JOB_ATTENTION ? ROOF_GPU_TWICE : ROOF_GPU_GATED;
}

/* Estimates the time of the queued calls. */
static enum roof_status time_calls(double *seconds, struct roof_bench *bench,
                                   struct roof_error *error)
{
    struct gpu_graph_run *graph = NULL;
    TRY(roof_gpu_run(&bench->gpu, queue_calls, bench, error));
    enum roof_status status = roof_gpu_capture(&graph, &bench->gpu, queue_calls, bench, error);
    if (status == ROOF_OK) {
        status = roof_gpu_time(seconds, &bench->gpu, graph, start_of(bench->queued), error);
    }
    roof_gpu_release(&bench->gpu, &graph);
    return status;
}

/* Makes the graph with the calls of a sample, in which each copy has the same number of calls. */
static enum roof_status make_graph(struct job *job, struct roof_bench *bench,
                                   struct roof_error *error)
{
    double took = 0;
    job->calls = 2;
    TRY(time_calls(&took, bench, error));
    const double wanted = 2 * SAMPLE_S / (took > 1e-7 ? took : 1e-7);
    job->calls = wanted < 1 ? 1 : wanted > CALLS_MAX ? CALLS_MAX : (int64_t)wanted;
    job->calls = (job->calls + job->copies - 1) / job->copies * job->copies;
    job->calls = job->calls > CALLS_MAX ? CALLS_MAX : job->calls;
    return roof_gpu_capture(&job->graph, &bench->gpu, queue_calls, bench, error);
}

/* Times a job: the seconds of one call. */
static enum roof_status time_job(double *seconds, struct job *job, struct roof_bench *bench,
                                 struct roof_error *error)
{
    if (job->kind == JOB_COLLECTIVE) {
        return roof_gpu_group_sample(seconds, &bench->busy_s, &bench->group, &bench->gpu, error);
    }
    bench->queued = job;
    if (job->graph == NULL) {
        TRY(make_graph(job, bench, error));
    }
    TRY(roof_gpu_time(seconds, &bench->gpu, job->graph, start_of(job), error));
    bench->busy_s = *seconds * roof_gpu_runs(&bench->gpu, start_of(job));
    *seconds /= (double)job->calls;
    return ROOF_OK;
}

static enum roof_status gpu_sample(double *seconds, struct roof_bench *bench,
                                   struct roof_error *error)
{
    return time_job(seconds, &bench->job, bench, error);
}

/* --- steps --------------------------------------------------------------------------------- */

/* Returns the free memory, or if the driver does not report it, the whole memory. */
static double gpu_room(const struct roof_bench *bench)
{
    size_t available = 0;
    size_t all = 0;
    return bench->gpu.call.memory_info(&available, &all) == 0 ? (double)available
                                                              : bench->gpu.memory_bytes;
}

/* Queues all runs of a step in their order. */
static enum roof_status queue_step(void *context, struct roof_error *error)
{
    const struct roof_bench *const bench = context;
    for (size_t i = 0; i < bench->step.count; i++) {
        bench->next[i] = 0;
    }
    for (size_t i = 0; i < bench->step.runs; i++) {
        const size_t part = bench->step.order[i];
        TRY(queue_call(&bench->part[part], bench, bench->next[part]++, error));
    }
    return ROOF_OK;
}

static enum roof_status begin_parts(struct roof_bench *bench, struct roof_error *error)
{
    const struct roof_meter_step *const step = &bench->step;
    bench->part = calloc(step->count, sizeof *bench->part);
    bench->next = calloc(step->count, sizeof *bench->next);
    if (bench->part == NULL || bench->next == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < step->count; i++) {
        double amount = 0;
        TRY(begin(&bench->part[i], &amount, bench, &step->part[i].task, step->part[i].runs, error));
    }
    TRY(roof_gpu_run(&bench->gpu, queue_step, bench, error)); /* kernels are loaded now */
    return roof_gpu_capture(&bench->graph, &bench->gpu, queue_step, bench, error);
}

static enum roof_status gpu_step_begin(struct roof_bench *bench, const struct roof_meter_step *step,
                                       struct roof_error *error)
{
    bench->step = *step;
    const enum roof_status status = begin_parts(bench, error);
    if (status != ROOF_OK) {
        gpu_step_end(bench);
    }
    return status;
}

/* The step is one graph. Each part also has its own graph, because events within a graph would take
 * as long as short kernels. */
static enum roof_status gpu_step_sample(double *seconds, double *each, struct roof_bench *bench,
                                        struct roof_error *error)
{
    enum roof_gpu_start start = ROOF_GPU_GATED;
    for (size_t i = 0; i < bench->step.count; i++) {
        TRY(time_job(&each[i], &bench->part[i], bench, error));
        start = start_of(&bench->part[i]) == ROOF_GPU_TWICE ? ROOF_GPU_TWICE : start;
    }
    return roof_gpu_time(seconds, &bench->gpu, bench->graph, start, error);
}

/* --- sensors ------------------------------------------------------------------------------- */

/* Reads the sensors; the values are unknown if they are missing or fail. */
static void read_sensors(struct roof_sample *out, const struct roof_bench *bench)
{
    if (bench->sensors == NULL || roof_gpus_read(bench->sensors, out, 0, NULL) != ROOF_OK) {
        roof_sample_clear(out);
    }
}

static void gpu_clocks(struct roof_meter_clocks *out, struct roof_bench *bench)
{
    struct roof_sample sample;
    read_sensors(&sample, bench);
    *out = (struct roof_meter_clocks){.sm_hz = sample.sm_hz,
                                      .power_w = sample.power_w,
                                      .temperature_c = sample.temperature_c,
                                      .throttled = strstr(sample.throttle, "slowdown") != NULL ||
                                                   strstr(sample.throttle, "power_cap") != NULL};
}

static double gpu_busy(const struct roof_bench *bench)
{
    return bench->busy_s;
}

static double gpu_energy(struct roof_bench *bench)
{
    return bench->sensors == NULL ? ROOF_UNKNOWN : roof_gpus_energy(bench->sensors);
}

/* Both backends have these functions. */
#define GPU_METER                                                                                  \
    .check = gpu_check, .describe = gpu_describe, .able = gpu_able, .begin = gpu_begin,            \
    .sample = gpu_sample, .end = gpu_end, .room = gpu_room, .step_begin = gpu_step_begin,          \
    .step_sample = gpu_step_sample, .step_end = gpu_step_end, .clocks = gpu_clocks,                \
    .busy = gpu_busy, .energy = gpu_energy, .close = gpu_close

const struct roof_meter roof_meter_cuda = {.name = "cuda",
                                           .formats = "bf16,fp16,fp8_e4m3,int8,mxfp8_e4m3,nvfp4",
                                           .open = cuda_open,
                                           GPU_METER};
const struct roof_meter roof_meter_hip = {
    .name = "hip", .formats = "bf16,fp16,fp8_e4m3,int8,mxfp8_e4m3", .open = hip_open, GPU_METER};
