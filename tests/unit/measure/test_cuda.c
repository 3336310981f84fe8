// SPDX-License-Identifier: MIT
/* The CUDA backend on the planted GPU of tests/fake/cuda.c: what is measured must come back within
 * 3%, and each fault must be one line. */
#include "support.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure/meter.h"
#include "measure/timing.h"

/* The figures of the fake, which it has where its variables say nothing else. */
#define BANDWIDTH 3e12
#define L2_BANDWIDTH 8e12
#define L2_BYTES 50000000
#define LAUNCH_S 1.2e-6
#define FP32 60e12
#define TENSOR 900e12

static void *drivers[3];

/* Opens a fake beside this program; the backend then finds it by its name. */
static void *open_fake(const char *name)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    if (length <= 0) {
        return NULL;
    }
    path[length] = '\0';
    *strrchr(path, '/') = '\0'; /* tests/unit */
    char *const folder = strrchr(path, '/');
    snprintf(folder, 64, "/fake/nvidia/%s", name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static int open_drivers(void **state)
{
    static const char *const names[] = {"libcuda.so.1", "libcublasLt.so.13", "libnvidia-ml.so.1"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        drivers[i] = open_fake(names[i]);
    }
    return 0;
}

static int close_drivers(void **state)
{
    static const char *const variables[] = {"FAKE_GPUS",       "FAKE_FAIL",     "FAKE_NO_MEMORY",
                                            "FAKE_BUSY",       "FAKE_MIG",      "FAKE_NOISE",
                                            "FAKE_CAPABILITY", "FAKE_THROTTLE", "FAKE_NO_WAITS"};
    (void)state;
    for (size_t i = 0; i < COUNT(drivers); i++) {
        if (drivers[i] != NULL) {
            (void)dlclose(drivers[i]);
        }
    }
    for (size_t i = 0; i < COUNT(variables); i++) {
        (void)unsetenv(variables[i]);
    }
    return 0;
}

/* Returns how many things of the driver are not released. */
static long held(void)
{
    long (*count)(void) = NULL;
    void *const found = dlsym(drivers[0], "fake_held");
    assert_non_null(found);
    memcpy(&count, &found, sizeof found);
    return count();
}

static void need_drivers(void)
{
    for (size_t i = 0; i < COUNT(drivers); i++) {
        if (drivers[i] == NULL) {
            skip(); /* this system has no /proc, or the fakes are not built */
        }
    }
}

static struct roof_bench *open_bench(void)
{
    const struct roof_meter_options options = {.index = 0};
    struct roof_bench *bench = NULL;
    struct roof_error error = {0};
    need_drivers();
    if (roof_meter_cuda.open(&bench, &options, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return bench;
}

static enum roof_status take(void *context, double *seconds, struct roof_error *error)
{
    return roof_meter_cuda.sample(seconds, context, error);
}

/* Times a task: seconds of a call, and its amount. */
static double time_task(double *amount, struct roof_bench *bench,
                        const struct roof_meter_task *task)
{
    const struct roof_timing_rules rules = {.warm = 1, .least = 5, .window_s = 0, .rounds = 1};
    struct roof_timing timing = {0};
    struct roof_error error = {0};
    assert_true(roof_meter_cuda.able(bench, task));
    if (roof_meter_cuda.begin(amount, bench, task, &error) != ROOF_OK ||
        roof_time(&timing, take, bench, &rules, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    roof_meter_cuda.end(bench);
    return timing.median_s;
}

static void comes_back(const char *what, double measured, double planted)
{
    if (!(fabs(measured / planted - 1) <= 0.03)) {
        fail_msg("%s: measured %g, planted %g", what, measured, planted);
    }
}

static double rate_of(struct roof_bench *bench, const struct roof_meter_task *task)
{
    double amount = 0;
    const double seconds = time_task(&amount, bench, task);
    return amount / seconds;
}

/* --- what is measured ---------------------------------------------------------------------- */

static void test_device_is_described(void **state)
{
    struct roof_meter_device device;
    (void)state;
    struct roof_bench *const bench = open_bench();
    roof_meter_cuda.describe(&device, bench);
    assert_string_equal(device.name, "Fake GPU 0");
    assert_string_equal(device.vendor, "NVIDIA");
    assert_string_equal(device.architecture, "Hopper");
    assert_string_equal(device.software, "CUDA driver 13.0, libcublasLt.so.13 130000");
    assert_true(device.units == 100);
    assert_true(device.clock_hz == 1.5e9);
    assert_true(device.memory_bytes == 85899345920.0);
    assert_int_equal(device.level_count, 2);
    assert_string_equal(device.level[0].name, "L2");
    assert_int_equal(device.level[0].bytes, L2_BYTES);
    assert_string_equal(device.level[1].name, "memory");
    assert_false(device.host);
    roof_meter_cuda.close(bench);
}

static void test_architectures_have_the_names_of_devices(void **state)
{
    static const struct {
        const char *capability;
        const char *name;
    } cases[] = {{"70", "Volta (SM70)"},        {"80", "Ampere (SM80)"},
                 {"89", "Ada Lovelace (SM89)"}, {"100", "Blackwell (SM100)"},
                 {"121", "Blackwell (SM121)"},  {"103", "Blackwell Ultra (SM103)"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_meter_device device;
        (void)setenv("FAKE_CAPABILITY", cases[i].capability, 1);
        struct roof_bench *const bench = open_bench();
        roof_meter_cuda.describe(&device, bench);
        assert_string_equal(device.architecture, cases[i].name);
        roof_meter_cuda.close(bench);
    }
    (void)unsetenv("FAKE_CAPABILITY");
}

static void test_bandwidths_come_back(void **state)
{
    (void)state;
    struct roof_bench *const bench = open_bench();
    for (int probe = ROOF_PROBE_READ; probe <= ROOF_PROBE_TRIAD; probe++) {
        struct roof_meter_task task = {.probe = (enum roof_probe)probe, .bytes = 4 * L2_BYTES};
        comes_back("memory", rate_of(bench, &task), BANDWIDTH);
        task.bytes = L2_BYTES / 2;
        comes_back("L2", rate_of(bench, &task), L2_BANDWIDTH);
    }
    roof_meter_cuda.close(bench);
}

static void test_peaks_come_back(void **state)
{
    static const struct {
        enum roof_precision format;
        enum roof_compute_unit unit;
        double peak;
    } cases[] = {{ROOF_PRECISION_FP32, ROOF_COMPUTE_VECTOR, FP32},
                 {ROOF_PRECISION_FP16, ROOF_COMPUTE_VECTOR, 2 * FP32},
                 {ROOF_PRECISION_FP64, ROOF_COMPUTE_VECTOR, FP32 / 2},
                 {ROOF_PRECISION_BF16, ROOF_COMPUTE_MATRIX, TENSOR},
                 {ROOF_PRECISION_FP16, ROOF_COMPUTE_MATRIX, TENSOR},
                 {ROOF_PRECISION_TF32, ROOF_COMPUTE_MATRIX, TENSOR / 2},
                 {ROOF_PRECISION_FP8_E4M3, ROOF_COMPUTE_MATRIX, 2 * TENSOR},
                 {ROOF_PRECISION_INT8, ROOF_COMPUTE_MATRIX, 2 * TENSOR}};
    (void)state;
    struct roof_bench *const bench = open_bench();
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_meter_task task = {
            .probe = ROOF_PROBE_MULTIPLY, .format = cases[i].format, .unit = cases[i].unit};
        comes_back(roof_format(cases[i].format)->name, rate_of(bench, &task), cases[i].peak);
    }
    roof_meter_cuda.close(bench);
}

static void test_launch_comes_back(void **state)
{
    double amount = 0;
    (void)state;
    struct roof_bench *const bench = open_bench();
    const struct roof_meter_task task = {.probe = ROOF_PROBE_LAUNCH};
    comes_back("launch", time_task(&amount, bench, &task), LAUNCH_S);
    assert_true(amount == 0);
    roof_meter_cuda.close(bench);
}

static struct roof_meter_task product(enum roof_precision format, int64_t batch, int64_t m,
                                      int64_t n, int64_t k, enum roof_cache cache)
{
    struct roof_meter_task task = {.workload = ROOF_WORKLOAD_INIT};
    task.workload.op = batch == 1 ? ROOF_OPERATOR_GEMM : ROOF_OPERATOR_BMM;
    task.workload.formats.weights = format;
    task.workload.formats.activations = format;
    task.workload.shape.batch = batch;
    task.workload.shape.m = m;
    task.workload.shape.n = n;
    task.workload.shape.k = k;
    task.workload.cache = cache;
    assert_int_equal(roof_workload_resolve(&task.workload, NULL), ROOF_OK);
    return task;
}

/* The time of the third kernel of the fake, the fastest: tiles of 128 rows and 256 columns. */
static double planted_s(const struct roof_meter_task *task, double width, double out_width,
                        double peak, double bandwidth)
{
    const struct roof_shape *const s = &task->workload.shape;
    const double m = (double)s->m;
    const double n = (double)s->n;
    const double k = (double)s->k;
    const double bytes = (double)s->batch * (width * (m * k + n * k) + out_width * m * n);
    const double flops = (double)s->batch * 2 * ceil(m / 128) * 128 * ceil(n / 256) * 256 * k;
    return LAUNCH_S + fmax(bytes / bandwidth, flops / peak);
}

static void test_products_come_back(void **state)
{
    static const struct {
        enum roof_precision format;
        double width;
        double out_width;
        double peak;
    } formats[] = {{ROOF_PRECISION_FP32, 4, 4, FP32},
                   {ROOF_PRECISION_BF16, 2, 2, TENSOR},
                   {ROOF_PRECISION_FP8_E4M3, 1, 2, 2 * TENSOR},
                   {ROOF_PRECISION_INT8, 1, 4, 2 * TENSOR}};
    static const int64_t tokens[] = {1, 16, 128, 129, 2048}; /* on both sides of an edge */
    (void)state;
    struct roof_bench *const bench = open_bench();
    for (size_t i = 0; i < COUNT(formats); i++) {
        for (size_t k = 0; k < COUNT(tokens); k++) {
            double amount = 0;
            const struct roof_meter_task task =
                product(formats[i].format, 1, tokens[k], 4096, 4096, ROOF_CACHE_COLD);
            comes_back(roof_format(formats[i].format)->name, time_task(&amount, bench, &task),
                       planted_s(&task, formats[i].width, formats[i].out_width, formats[i].peak,
                                 BANDWIDTH));
        }
    }
    roof_meter_cuda.close(bench);
}

/* Formats with blocks have a byte of scale for 32 or 16 elements, which a product reads, too. */
static void test_scaled_products_come_back(void **state)
{
    static const struct {
        enum roof_precision format;
        double width;
        double peak;
    } formats[] = {{ROOF_PRECISION_MXFP8_E4M3, 1 + 1 / 32., 2 * TENSOR},
                   {ROOF_PRECISION_NVFP4, 0.5 + 1 / 16., 4 * TENSOR}};
    static const int64_t tokens[] = {1, 129, 4096};
    (void)state;
    (void)setenv("FAKE_CAPABILITY", "100", 1);
    struct roof_bench *const bench = open_bench();
    for (size_t i = 0; i < COUNT(formats); i++) {
        const char *const name = roof_format(formats[i].format)->name;
        const struct roof_meter_task peak = {
            .probe = ROOF_PROBE_MULTIPLY, .format = formats[i].format, .unit = ROOF_COMPUTE_MATRIX};
        struct roof_meter_task task = {.bytes = 0};
        for (size_t k = 0; k < COUNT(tokens); k++) {
            double amount = 0;
            task = product(formats[i].format, 1, tokens[k], 8192, 8192, ROOF_CACHE_COLD);
            comes_back(name, time_task(&amount, bench, &task),
                       planted_s(&task, formats[i].width, 2, formats[i].peak, BANDWIDTH));
        }
        comes_back(name, rate_of(bench, &peak), formats[i].peak);
        task = product(formats[i].format, 1, 1, 64, 80, ROOF_CACHE_COLD);
        assert_false(roof_meter_cuda.able(bench, &task)); /* 80 is no multiple of 32 */
    }
    roof_meter_cuda.close(bench);
    (void)unsetenv("FAKE_CAPABILITY");
    assert_int_equal(held(), 0);
}

static void test_warm_products_are_in_the_cache(void **state)
{
    double amount = 0;
    (void)state;
    struct roof_bench *const bench = open_bench();
    /* 33.6 MB of weights fit into 50 MB. */
    struct roof_meter_task task = product(ROOF_PRECISION_BF16, 1, 1, 4096, 4096, ROOF_CACHE_WARM);
    comes_back("warm", time_task(&amount, bench, &task),
               planted_s(&task, 2, 2, TENSOR, L2_BANDWIDTH));
    task = product(ROOF_PRECISION_BF16, 8, 16, 512, 512, ROOF_CACHE_COLD);
    comes_back("batch", time_task(&amount, bench, &task),
               planted_s(&task, 2, 2, TENSOR, BANDWIDTH));
    roof_meter_cuda.close(bench);
}

static struct roof_meter_task vector(enum roof_operator op, int64_t tokens)
{
    struct roof_meter_task task = {.workload = ROOF_WORKLOAD_INIT};
    struct roof_shape *const s = &task.workload.shape;
    task.workload.op = op;
    task.workload.formats.precision = ROOF_PRECISION_BF16;
    s->tokens = tokens;
    if (op == ROOF_OPERATOR_QUANTIZE) {
        task.workload.formats.out = ROOF_PRECISION_INT8;
    }
    if (op == ROOF_OPERATOR_ROPE) {
        s->heads = 24;
        s->kv_heads = 8;
        s->head_dim = 128;
    } else {
        s->hidden = 4096;
    }
    assert_int_equal(roof_workload_resolve(&task.workload, NULL), ROOF_OK);
    return task;
}

static struct roof_meter_task attention(int64_t batch, int64_t keys, int64_t head_dim)
{
    struct roof_meter_task task = {.workload = ROOF_WORKLOAD_INIT};
    task.workload.op = ROOF_OPERATOR_FLASH_ATTENTION;
    task.workload.formats.precision = ROOF_PRECISION_FP16;
    task.workload.shape = (struct roof_shape){.batch = batch,
                                              .heads = 32,
                                              .kv_heads = 8,
                                              .head_dim = head_dim,
                                              .query_len = 1,
                                              .kv_len = keys};
    assert_int_equal(roof_workload_resolve(&task.workload, NULL), ROOF_OK);
    return task;
}

/* Rows of 4096 halves: a norm and a rotation read one array and write one, quantisation writes half
 * of one, and the others read two. */
static void test_vectors_come_back(void **state)
{
    static const struct {
        enum roof_operator op;
        double arrays;
    } cases[] = {{ROOF_OPERATOR_RMSNORM, 2},
                 {ROOF_OPERATOR_ADD, 3},
                 {ROOF_OPERATOR_SILU_MUL, 3},
                 {ROOF_OPERATOR_ROPE, 2},
                 {ROOF_OPERATOR_QUANTIZE, 1.5}};
    static const int64_t tokens[] = {1, 512, 8192};
    (void)state;
    struct roof_bench *const bench = open_bench();
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t k = 0; k < COUNT(tokens); k++) {
            double amount = 0;
            const struct roof_meter_task task = vector(cases[i].op, tokens[k]);
            comes_back("vector", time_task(&amount, bench, &task),
                       LAUNCH_S + cases[i].arrays * 2 * 4096 * (double)tokens[k] / BANDWIDTH);
        }
    }
    roof_meter_cuda.close(bench);
}

/* Two kernels: one reads keys and values, and one puts the parts together where there are several.
 */
static void test_attention_comes_back(void **state)
{
    static const int64_t keys[] = {1, 1000, 65536};
    (void)state;
    struct roof_bench *const bench = open_bench();
    for (size_t i = 0; i < COUNT(keys); i++) {
        double amount = 0;
        const struct roof_meter_task task = attention(4, keys[i], 128);
        comes_back("attention", time_task(&amount, bench, &task),
                   (i == 0 ? 1 : 2) * LAUNCH_S + 4.0 * 4 * 8 * 128 * (double)keys[i] / BANDWIDTH);
    }
    struct roof_meter_task task = attention(1, 64, 96);
    assert_false(roof_meter_cuda.able(bench, &task));
    task = attention(1, 64, 64);
    assert_true(roof_meter_cuda.able(bench, &task));
    task.workload.shape.window = 32;
    assert_false(roof_meter_cuda.able(bench, &task));
    task = vector(ROOF_OPERATOR_ADD, 1);
    task.workload.formats.activations = ROOF_PRECISION_FP32;
    assert_false(roof_meter_cuda.able(bench, &task));
    roof_meter_cuda.close(bench);
}

/* The kernels of operators need the matrix units of Turing; probes do not. */
static void test_older_devices_have_probes_alone(void **state)
{
    (void)state;
    (void)setenv("FAKE_CAPABILITY", "70", 1);
    struct roof_bench *const bench = open_bench();
    const struct roof_meter_task norm = vector(ROOF_OPERATOR_RMSNORM, 1);
    const struct roof_meter_task read = {.probe = ROOF_PROBE_READ, .bytes = 4 * L2_BYTES};
    assert_false(roof_meter_cuda.able(bench, &norm));
    comes_back("memory", rate_of(bench, &read), BANDWIDTH);
    roof_meter_cuda.close(bench);
    (void)unsetenv("FAKE_CAPABILITY");
}

/* --- steps --------------------------------------------------------------------------------- */

#define LAYERS 3

/* A norm, a product and attention in each of three layers. */
static struct roof_meter_step make_step(struct roof_meter_part part[3], size_t order[3 * LAYERS])
{
    part[0] = (struct roof_meter_part){vector(ROOF_OPERATOR_RMSNORM, 1), LAYERS};
    part[1] = (struct roof_meter_part){
        product(ROOF_PRECISION_BF16, 1, 1, 8192, 8192, ROOF_CACHE_COLD), LAYERS};
    part[2] = (struct roof_meter_part){attention(1, 4096, 128), LAYERS};
    for (size_t i = 0; i < 3 * (size_t)LAYERS; i++) {
        order[i] = i % 3;
    }
    return (struct roof_meter_step){part, 3, order, 3 * (size_t)LAYERS};
}

static void test_steps_come_back(void **state)
{
    struct roof_meter_part part[3];
    size_t order[3 * LAYERS];
    const struct roof_meter_step step = make_step(part, order);
    const double planted[] = {
        LAUNCH_S + 2.0 * 2 * 4096 / BANDWIDTH,
        planted_s(&part[1].task, 2, 2, TENSOR, BANDWIDTH),
        2 * LAUNCH_S + 4.0 * 8 * 128 * 4096 / BANDWIDTH,
    };
    struct roof_error error = {0};
    double each[3];
    double seconds = 0;
    (void)state;
    struct roof_bench *const bench = open_bench();
    assert_around(roof_meter_cuda.room(bench), 85899345920.0, 0);
    if (roof_meter_cuda.step_begin(bench, &step, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(roof_meter_cuda.step_sample(&seconds, each, bench, &error), ROOF_OK);
    }
    for (size_t i = 0; i < 3; i++) {
        comes_back("part", each[i], planted[i]);
    }
    comes_back("step", seconds, LAYERS * (planted[0] + planted[1] + planted[2]));
    roof_meter_cuda.step_end(bench);
    /* A task comes back after a step. */
    const struct roof_meter_task task = {.probe = ROOF_PROBE_READ, .bytes = 4 * L2_BYTES};
    comes_back("memory", rate_of(bench, &task), BANDWIDTH);
    roof_meter_cuda.close(bench);
    assert_int_equal(held(), 0);
}

/* Begins a step, takes two samples and ends; returns the first status that is not ROOF_OK. */
static enum roof_status try_step(struct roof_error *error)
{
    const struct roof_meter_options options = {.index = 0};
    struct roof_meter_part part[3];
    size_t order[3 * LAYERS];
    const struct roof_meter_step step = make_step(part, order);
    struct roof_bench *bench = NULL;
    double each[3];
    double seconds = 0;
    TRY(roof_meter_cuda.open(&bench, &options, error));
    enum roof_status status = roof_meter_cuda.step_begin(bench, &step, error);
    const bool begun = status == ROOF_OK;
    for (int i = 0; i < 2 && status == ROOF_OK; i++) {
        status = roof_meter_cuda.step_sample(&seconds, each, bench, error);
    }
    if (begun) {
        roof_meter_cuda.step_end(bench);
    }
    roof_meter_cuda.close(bench);
    return status;
}

static void test_faults_of_steps_are_one_line(void **state)
{
    static const struct {
        const char *variable;
        const char *value;
        const char *message;
    } cases[] = {
        {"FAKE_NO_MEMORY", "1", "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (24576 bytes)"},
        {"FAKE_NO_MEMORY", "2", "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (402751488 bytes)"},
        {"FAKE_NO_MEMORY", "3", "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (33554432 bytes)"},
        {"FAKE_FAIL", "cuLaunchKernel:719:0", "cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED"},
        {"FAKE_FAIL", "cuLaunchKernel:719:12", "cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED"},
        {"FAKE_FAIL", "cublasLtMatmul:14:30", "cublasLtMatmul: CUBLAS_STATUS_INTERNAL_ERROR"},
        {"FAKE_FAIL", "cuStreamEndCapture:719:0", "cuStreamEndCapture: CUDA_ERROR_LAUNCH_FAILED"},
        {"FAKE_FAIL", "cuGraphInstantiateWithFlags:2:0",
         "cuGraphInstantiateWithFlags: CUDA_ERROR_OUT_OF_MEMORY"},
        {"FAKE_FAIL", "cuGraphLaunch:719:0", "cuGraphLaunch: CUDA_ERROR_LAUNCH_FAILED"},
        {"FAKE_FAIL", "cuGraphLaunch:719:3", "cuGraphLaunch: CUDA_ERROR_LAUNCH_FAILED"},
    };
    (void)state;
    need_drivers();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        (void)setenv(cases[i].variable, cases[i].value, 1);
        const enum roof_status status = try_step(&error);
        (void)unsetenv(cases[i].variable);
        assert_int_equal(held(), 0);
        if (status != ROOF_IO || strcmp(error.message, cases[i].message) != 0) {
            fail_msg("%s=%s: %d, %s", cases[i].variable, cases[i].value, (int)status,
                     error.message);
        }
    }
}

static void test_noise_is_averaged(void **state)
{
    (void)state;
    (void)setenv("FAKE_NOISE", "0.015", 1);
    struct roof_bench *const bench = open_bench();
    const struct roof_meter_task task = {.probe = ROOF_PROBE_READ, .bytes = 4 * L2_BYTES};
    comes_back("memory", rate_of(bench, &task), BANDWIDTH);
    roof_meter_cuda.close(bench);
    (void)unsetenv("FAKE_NOISE");
}

static void test_sensors_are_read(void **state)
{
    struct roof_meter_clocks clocks;
    (void)state;
    (void)setenv("FAKE_THROTTLE", "4,0,64", 1);
    struct roof_bench *const bench = open_bench();
    roof_meter_cuda.clocks(&clocks, bench);
    assert_true(clocks.sm_hz == 1.5e9);
    assert_true(clocks.power_w == 250);
    assert_true(clocks.temperature_c == 40);
    assert_true(clocks.throttled); /* for power */
    roof_meter_cuda.clocks(&clocks, bench);
    assert_false(clocks.throttled);
    roof_meter_cuda.clocks(&clocks, bench);
    assert_true(clocks.throttled); /* for heat */
    assert_true(isnan(roof_meter_cuda.energy(bench)));
    roof_meter_cuda.close(bench);
    (void)unsetenv("FAKE_THROTTLE");
}

static void test_gate_is_not_needed(void **state)
{
    (void)state;
    (void)setenv("FAKE_NO_WAITS", "1", 1);
    struct roof_bench *const bench = open_bench();
    const struct roof_meter_task task = {.probe = ROOF_PROBE_READ, .bytes = 4 * L2_BYTES};
    comes_back("memory", rate_of(bench, &task), BANDWIDTH);
    roof_meter_cuda.close(bench);
    (void)unsetenv("FAKE_NO_WAITS");
    assert_int_equal(held(), 0);
}

/* --- which tasks --------------------------------------------------------------------------- */

static void test_tasks_that_cannot_be_run_are_left_out(void **state)
{
    (void)state;
    (void)setenv("FAKE_CAPABILITY", "75", 1);
    struct roof_bench *const bench = open_bench();
    struct roof_meter_task task = product(ROOF_PRECISION_BF16, 1, 8, 64, 64, ROOF_CACHE_COLD);
    assert_false(roof_meter_cuda.able(bench, &task)); /* Turing has no bf16 */
    task = product(ROOF_PRECISION_FP16, 1, 8, 64, 64, ROOF_CACHE_COLD);
    assert_true(roof_meter_cuda.able(bench, &task));
    roof_meter_cuda.close(bench);
    (void)unsetenv("FAKE_CAPABILITY");

    struct roof_bench *const hopper = open_bench();
    task = product(ROOF_PRECISION_FP8_E4M3, 1, 8, 64, 72, ROOF_CACHE_COLD);
    assert_false(roof_meter_cuda.able(hopper, &task)); /* 72 is no multiple of 16 */
    task = product(ROOF_PRECISION_NVFP4, 1, 8, 64, 64, ROOF_CACHE_COLD);
    assert_false(roof_meter_cuda.able(hopper, &task));
    task = product(ROOF_PRECISION_FP16, 1, 8, 64, 64, ROOF_CACHE_COLD);
    task.workload.formats.weights = ROOF_PRECISION_INT4;
    assert_false(roof_meter_cuda.able(hopper, &task));
    task = (struct roof_meter_task){
        .probe = ROOF_PROBE_MULTIPLY, .format = ROOF_PRECISION_BF16, .unit = ROOF_COMPUTE_VECTOR};
    assert_false(roof_meter_cuda.able(hopper, &task));
    roof_meter_cuda.close(hopper);
}

/* --- faults -------------------------------------------------------------------------------- */

/* Opens, times one task and closes; returns the first status that is not ROOF_OK. */
static enum roof_status try_all(const struct roof_meter_options *options,
                                const struct roof_meter_task *task, struct roof_error *error)
{
    struct roof_bench *bench = NULL;
    double amount = 0;
    double seconds = 0;
    TRY(roof_meter_cuda.open(&bench, options, error));
    enum roof_status status = roof_meter_cuda.check(bench, error);
    status = status == ROOF_OK ? roof_meter_cuda.begin(&amount, bench, task, error) : status;
    for (int i = 0; i < 3 && status == ROOF_OK; i++) {
        status = roof_meter_cuda.sample(&seconds, bench, error);
    }
    roof_meter_cuda.end(bench);
    roof_meter_cuda.close(bench);
    return status;
}

static void test_faults_are_one_line(void **state)
{
    static const struct {
        const char *variable;
        const char *value;
        enum roof_status status;
        const char *message;
    } cases[] = {
        {"FAKE_GPUS", "0", ROOF_IO, "there is no CUDA device 0: the driver has 0"},
        {"FAKE_FAIL", "cuInit:100:0", ROOF_IO, "cuInit: CUDA_ERROR_NO_DEVICE"},
        {"FAKE_FAIL", "cuDevicePrimaryCtxRetain:2:0", ROOF_IO,
         "cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY"},
        {"FAKE_FAIL", "cuInit:803:0", ROOF_IO, "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
        {"FAKE_FAIL", "cuStreamCreate:2:0", ROOF_IO, "cuStreamCreate: CUDA_ERROR_OUT_OF_MEMORY"},
        {"FAKE_FAIL", "cuModuleLoadDataEx:222:0", ROOF_IO,
         "cuModuleLoadDataEx: CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {"FAKE_FAIL", "cuStreamSynchronize:214:0", ROOF_IO,
         "cuStreamSynchronize: CUDA_ERROR_ECC_UNCORRECTABLE"},
        {"FAKE_FAIL", "cuMemcpyHtoD_v2:719:0", ROOF_IO,
         "cuMemcpyHtoD_v2: CUDA_ERROR_LAUNCH_FAILED"},
        {"FAKE_FAIL", "cuStreamEndCapture:719:0", ROOF_IO,
         "cuStreamEndCapture: CUDA_ERROR_LAUNCH_FAILED"},
        {"FAKE_FAIL", "cuGraphInstantiateWithFlags:2:0", ROOF_IO,
         "cuGraphInstantiateWithFlags: CUDA_ERROR_OUT_OF_MEMORY"},
        {"FAKE_FAIL", "cuGraphLaunch:719:1", ROOF_IO, "cuGraphLaunch: CUDA_ERROR_LAUNCH_FAILED"},
        {"FAKE_FAIL", "cublasLtMatmul:14:30", ROOF_IO,
         "cublasLtMatmul: CUBLAS_STATUS_INTERNAL_ERROR"},
        {"FAKE_FAIL", "cublasLtMatmulAlgoGetHeuristic:15:0", ROOF_IO,
         "cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED"},
        {"FAKE_NO_MEMORY", "1", ROOF_IO, "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2162688 bytes)"},
        {"FAKE_NO_MEMORY", "2", ROOF_IO,
         "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (33554432 bytes)"},
        {"FAKE_BUSY", "2", ROOF_IO, "2 processes compute on the GPU; shared measures nevertheless"},
        {"FAKE_MIG", "1", ROOF_IO,
         "the GPU is divided (MIG), so its parts share what is measured; shared measures "
         "nevertheless"},
    };
    const struct roof_meter_options options = {.index = 0};
    (void)state;
    need_drivers();
    const struct roof_meter_task task =
        product(ROOF_PRECISION_BF16, 1, 16, 1024, 1024, ROOF_CACHE_WARM);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        (void)setenv(cases[i].variable, cases[i].value, 1);
        const enum roof_status status = try_all(&options, &task, &error);
        (void)unsetenv(cases[i].variable);
        assert_int_equal(held(), 0);
        if (status != cases[i].status || strcmp(error.message, cases[i].message) != 0) {
            fail_msg("%s=%s: %d, %s", cases[i].variable, cases[i].value, (int)status,
                     error.message);
        }
    }
}

static void test_busy_device_is_measured_when_shared(void **state)
{
    const struct roof_meter_options options = {.index = 0};
    const struct roof_meter_task task = {.probe = ROOF_PROBE_LAUNCH};
    struct roof_bench *bench = NULL;
    double amount = 0;
    struct roof_error error = {0};
    (void)state;
    need_drivers();
    (void)setenv("FAKE_BUSY", "1", 1);
    assert_int_equal(try_all(&options, &task, &error), ROOF_IO);
    assert_string_equal(error.message,
                        "1 process computes on the GPU; shared measures nevertheless");
    /* The caller may leave the check out. */
    assert_int_equal(roof_meter_cuda.open(&bench, &options, &error), ROOF_OK);
    assert_true(time_task(&amount, bench, &task) > 0);
    roof_meter_cuda.close(bench);
    (void)unsetenv("FAKE_BUSY");
}

static void test_second_device_must_be_there(void **state)
{
    const struct roof_meter_options options = {.index = 1};
    const struct roof_meter_task task = {.probe = ROOF_PROBE_LAUNCH};
    struct roof_error error = {0};
    (void)state;
    need_drivers();
    assert_int_equal(try_all(&options, &task, &error), ROOF_USAGE);
    assert_string_equal(error.message, "there is no CUDA device 1: the driver has 1");
    (void)setenv("FAKE_GPUS", "2", 1);
    assert_int_equal(try_all(&options, &task, &error), ROOF_OK);
    (void)unsetenv("FAKE_GPUS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_is_described),
        cmocka_unit_test(test_architectures_have_the_names_of_devices),
        cmocka_unit_test(test_bandwidths_come_back),
        cmocka_unit_test(test_peaks_come_back),
        cmocka_unit_test(test_launch_comes_back),
        cmocka_unit_test(test_products_come_back),
        cmocka_unit_test(test_scaled_products_come_back),
        cmocka_unit_test(test_warm_products_are_in_the_cache),
        cmocka_unit_test(test_vectors_come_back),
        cmocka_unit_test(test_attention_comes_back),
        cmocka_unit_test(test_older_devices_have_probes_alone),
        cmocka_unit_test(test_steps_come_back),
        cmocka_unit_test(test_faults_of_steps_are_one_line),
        cmocka_unit_test(test_noise_is_averaged),
        cmocka_unit_test(test_gate_is_not_needed),
        cmocka_unit_test(test_sensors_are_read),
        cmocka_unit_test(test_tasks_that_cannot_be_run_are_left_out),
        cmocka_unit_test(test_faults_are_one_line),
        cmocka_unit_test(test_busy_device_is_measured_when_shared),
        cmocka_unit_test(test_second_device_must_be_there),
    };
    return cmocka_run_group_tests(tests, open_drivers, close_drivers);
}
