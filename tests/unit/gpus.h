// SPDX-License-Identifier: MIT
/* What tests of the backends of GPUs share: fake drivers, tasks, and what the planted GPU takes for
 * them. A test defines METER, the backend, and FOLDER and LIBRARIES, those of the fakes below
 * build/tests/fake, the driver first. */
#ifndef ROOF_TEST_GPUS_H
#define ROOF_TEST_GPUS_H

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

#define DRIVERS_MAX 5
static const char *const driver_names[] = {LIBRARIES};
static void *drivers[DRIVERS_MAX];

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
    snprintf(folder, 64, "/fake/" FOLDER "/%s", name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static int open_drivers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(driver_names); i++) {
        drivers[i] = open_fake(driver_names[i]);
    }
    return 0;
}

static int close_drivers(void **state)
{
    static const char *const variables[] = {"FAKE_GPUS",       "FAKE_FAIL",     "FAKE_NO_MEMORY",
                                            "FAKE_BUSY",       "FAKE_MIG",      "FAKE_NOISE",
                                            "FAKE_CAPABILITY", "FAKE_THROTTLE", "FAKE_NO_WAITS",
                                            "FAKE_ENERGY",     "FAKE_NAME"};
    (void)state;
    for (size_t i = 0; i < COUNT(driver_names); i++) {
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
    for (size_t i = 0; i < COUNT(driver_names); i++) {
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
    if (METER.open(&bench, &options, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return bench;
}

static enum roof_status take(void *context, double *seconds, struct roof_error *error)
{
    return METER.sample(seconds, context, error);
}

/* Times a task: seconds of a call, and its amount. */
static double time_task(double *amount, struct roof_bench *bench,
                        const struct roof_meter_task *task)
{
    const struct roof_timing_rules rules = {.warm = 1, .least = 5, .window_s = 0, .rounds = 1};
    struct roof_timing timing = {0};
    struct roof_error error = {0};
    assert_true(METER.able(bench, task));
    if (METER.begin(amount, bench, task, &error) != ROOF_OK ||
        roof_time(&timing, take, bench, &rules, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    METER.end(bench);
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

static inline struct roof_meter_task attention(int64_t batch, int64_t keys, int64_t head_dim)
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
    METER.close(bench);
}

/* Copies over the link to the host, whose directions differ. */
#define TO_DEVICE 50e9
#define FROM_DEVICE 40e9
static void test_the_link_to_the_host_comes_back(void **state)
{
    (void)state;
    struct roof_bench *const bench = open_bench();
    struct roof_meter_task task = {.probe = ROOF_PROBE_TO_DEVICE, .bytes = (int64_t)64 << 20};
    assert_true(METER.able(bench, &task));
    comes_back("to the device", rate_of(bench, &task), TO_DEVICE);
    task.probe = ROOF_PROBE_FROM_DEVICE;
    comes_back("from the device", rate_of(bench, &task), FROM_DEVICE);
    METER.close(bench);
    assert_int_equal(held(), 0);
}

static void test_launch_comes_back(void **state)
{
    double amount = 0;
    (void)state;
    struct roof_bench *const bench = open_bench();
    const struct roof_meter_task task = {.probe = ROOF_PROBE_LAUNCH};
    comes_back("launch", time_task(&amount, bench, &task), LAUNCH_S);
    assert_true(amount == 0);
    METER.close(bench);
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
    METER.close(bench);
}

static struct roof_meter_task collective(enum roof_operator op, int64_t elements, int64_t devices)
{
    struct roof_meter_task task = {.workload = ROOF_WORKLOAD_INIT};
    task.workload.op = op;
    task.workload.formats.precision = ROOF_PRECISION_BF16;
    task.workload.shape.elements = elements;
    task.workload.shape.devices = devices;
    assert_int_equal(roof_workload_resolve(&task.workload, NULL), ROOF_OK);
    return task;
}

/* Rings over the link of the fake, of two and of four devices. */
#define LINK 400e9
#define COLLECTIVE_S 12e-6
static void test_collectives_come_back(void **state)
{
    static const int64_t devices[] = {2, 4};
    struct roof_meter_device device;
    (void)state;
    (void)setenv("FAKE_GPUS", "4", 1);
    struct roof_bench *const bench = open_bench();
    METER.describe(&device, bench);
    assert_int_equal(device.devices, 4);
    assert_string_equal(device.alone, "");
    for (size_t i = 0; i < COUNT(devices); i++) {
        double amount = 0;
        const double share = (double)(devices[i] - 1) / (double)devices[i];
        const struct roof_meter_task sum =
            collective(ROOF_OPERATOR_ALL_REDUCE, 1 << 25, devices[i]);
        comes_back("sum", time_task(&amount, bench, &sum),
                   COLLECTIVE_S + 2 * share * (1 << 26) / LINK);
        const struct roof_meter_task gather =
            collective(ROOF_OPERATOR_ALL_GATHER, 1 << 20, devices[i]);
        comes_back("gathering", time_task(&amount, bench, &gather),
                   COLLECTIVE_S + share * (1 << 21) / LINK);
    }
    /* The device that is measured is the current one again. */
    const struct roof_meter_task read = {.probe = ROOF_PROBE_READ, .bytes = (int64_t)1 << 30};
    comes_back("memory", rate_of(bench, &read), BANDWIDTH);
    const struct roof_meter_task more = collective(ROOF_OPERATOR_ALL_REDUCE, 1 << 20, 8);
    assert_false(METER.able(bench, &more));
    METER.close(bench);
    assert_int_equal(held(), 0);
    (void)unsetenv("FAKE_GPUS");
}

#define LAYERS 3

/* A norm, a product and another operator in each of three layers. */
static struct roof_meter_step make_step(struct roof_meter_part part[3], size_t order[3 * LAYERS],
                                        const struct roof_meter_task *other)
{
    part[0] = (struct roof_meter_part){vector(ROOF_OPERATOR_RMSNORM, 1), LAYERS};
    part[1] = (struct roof_meter_part){
        product(ROOF_PRECISION_BF16, 1, 1, 8192, 8192, ROOF_CACHE_COLD), LAYERS};
    part[2] = (struct roof_meter_part){*other, LAYERS};
    for (size_t i = 0; i < 3 * (size_t)LAYERS; i++) {
        order[i] = i % 3;
    }
    return (struct roof_meter_step){part, 3, order, 3 * (size_t)LAYERS};
}

/* Begins a step, takes two samples and ends; returns the first status that is not ROOF_OK. */
static enum roof_status try_step(const struct roof_meter_task *other, struct roof_error *error)
{
    const struct roof_meter_options options = {.index = 0};
    struct roof_meter_part part[3];
    size_t order[3 * LAYERS];
    const struct roof_meter_step step = make_step(part, order, other);
    struct roof_bench *bench = NULL;
    double each[3];
    double seconds = 0;
    TRY(METER.open(&bench, &options, error));
    enum roof_status status = METER.step_begin(bench, &step, error);
    const bool begun = status == ROOF_OK;
    for (int i = 0; i < 2 && status == ROOF_OK; i++) {
        status = METER.step_sample(&seconds, each, bench, error);
    }
    if (begun) {
        METER.step_end(bench);
    }
    METER.close(bench);
    return status;
}

/* Opens a device, times one task and closes; returns the first status that is not ROOF_OK. */
static enum roof_status try_device(int64_t index, const struct roof_meter_task *task,
                                   struct roof_error *error)
{
    const struct roof_meter_options options = {.index = index};
    struct roof_bench *bench = NULL;
    double amount = 0;
    double seconds = 0;
    TRY(METER.open(&bench, &options, error));
    enum roof_status status = METER.check(bench, error);
    status = status == ROOF_OK ? METER.begin(&amount, bench, task, error) : status;
    for (int i = 0; i < 3 && status == ROOF_OK; i++) {
        status = METER.sample(&seconds, bench, error);
    }
    METER.end(bench);
    METER.close(bench);
    return status;
}

static enum roof_status try_task(const struct roof_meter_task *task, struct roof_error *error)
{
    return try_device(0, task, error);
}

/* A variable of the fakes, and how a task ends with it. */
struct fault {
    const char *variable;
    const char *value;
    const char *message;
};

/* Each fault is ROOF_IO with its one line, and all is released. */
static void
check_faults(const struct fault *fault, size_t count, const struct roof_meter_task *task,
             enum roof_status (*try)(const struct roof_meter_task *task, struct roof_error *error))
{
    need_drivers();
    for (size_t i = 0; i < count; i++) {
        struct roof_error error = {0};
        (void)setenv(fault[i].variable, fault[i].value, 1);
        const enum roof_status status = try(task, &error);
        (void)unsetenv(fault[i].variable);
        assert_int_equal(held(), 0);
        if (status != ROOF_IO || strcmp(error.message, fault[i].message) != 0) {
            fail_msg("%s=%s: %d, %s", fault[i].variable, fault[i].value, (int)status,
                     error.message);
        }
    }
}

static void test_faults_of_collectives(void **state)
{
    struct roof_meter_device device;
    struct roof_bench *bench = NULL;
    static const struct {
        const char *value;
        const char *message;
    } cases[] = {
        {"ncclAllReduce:2:3:1", "ncclAllReduce: unhandled system error"},
        {"ncclGroupEnd:2:4", "ncclGroupEnd: unhandled system error"},
    };
    const struct roof_meter_options options = {.index = 1};
    const struct roof_meter_task task = collective(ROOF_OPERATOR_ALL_REDUCE, 1 << 20, 2);
    struct roof_error error = {0};
    (void)state;
    need_drivers();
    (void)setenv("FAKE_GPUS", "2", 1);
    (void)setenv("FAKE_FAIL", "ncclCommInitAll:2:0", 1); /* then all else is measured */
    assert_int_equal(METER.open(&bench, &options, &error), ROOF_OK);
    METER.describe(&device, bench);
    assert_string_equal(device.alone, "ncclCommInitAll: unhandled system error");
    assert_true(device.devices < 2);
    METER.close(bench);
    assert_int_equal(held(), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        (void)setenv("FAKE_FAIL", cases[i].value, 1);
        assert_int_equal(try_device(1, &task, &error), ROOF_IO);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(held(), 0);
    }
    (void)unsetenv("FAKE_FAIL");
    for (int k = 1; k <= 2; k++) { /* the two devices */
        char number[16];
        snprintf(number, sizeof number, "%d", k);
        (void)setenv("FAKE_NO_MEMORY", number, 1);
        assert_int_equal(try_device(1, &task, &error), ROOF_IO);
        assert_non_null(strstr(error.message, "(4194304 bytes)"));
        assert_int_equal(held(), 0);
    }
    (void)unsetenv("FAKE_NO_MEMORY");
    (void)unsetenv("FAKE_GPUS");
}

/* Runs a task of each kind, of those that the device can run, and a step; returns the first status
 * that is not ROOF_OK. */
static enum roof_status try_all(struct roof_error *error)
{
    const struct roof_meter_options options = {.index = 0};
    struct roof_meter_task tasks[] = {
        {.probe = ROOF_PROBE_READ, .bytes = (int64_t)1 << 30},
        {.probe = ROOF_PROBE_TO_DEVICE, .bytes = (int64_t)4 << 20},
        {.probe = ROOF_PROBE_FROM_DEVICE, .bytes = (int64_t)4 << 20},
        product(ROOF_PRECISION_BF16, 2, 8192, 8192, 4096, ROOF_CACHE_WARM),
        vector(ROOF_OPERATOR_ADD, 65536),
        attention(64, 32768, 128),
        attention(1, 8192, 128),
        collective(ROOF_OPERATOR_ALL_REDUCE, 1 << 25, 2)};
    struct roof_meter_clocks clocks;
    struct roof_bench *bench = NULL;
    double amount = 0;
    double seconds = 0;
    tasks[6].workload.shape.query_len = 8192; /* a prefill */
    TRY(METER.open(&bench, &options, error));
    METER.clocks(&clocks, bench);
    (void)METER.energy(bench);
    (void)METER.room(bench);
    enum roof_status status = METER.check(bench, error);
    for (size_t i = 0; i < COUNT(tasks) && status == ROOF_OK; i++) {
        if (METER.able(bench, &tasks[i])) {
            status = METER.begin(&amount, bench, &tasks[i], error);
            status = status == ROOF_OK ? METER.sample(&seconds, bench, error) : status;
            METER.end(bench);
        }
    }
    METER.close(bench);
    return status;
}

/* Tells if the tasks may come to their end though this call failed: it releases something, or
 * sensors, collectives, products or the attention of a prefill are left out, or a kernel of
 * several, or the gate. */
static bool is_spared(const char *call)
{
    static const char *const parts[] = {"Destroy",
                                        "Free",
                                        "Release",
                                        "Unload",
                                        "Shutdown",
                                        "shut_down",
                                        "nvml",
                                        "rsmi_",
                                        "ncclComm",
                                        "DeviceCount",
                                        "DeviceGet",
                                        "SetDevice",
                                        "Ctx",
                                        "MemGetInfo",
                                        "StreamCreate",
                                        "StreamWait",
                                        "LtCreate",
                                        "LtMatmul",
                                        "cudnnCreate",
                                        "cudnnSet",
                                        "cudnnBackendCreate",
                                        "cudnnBackendSet",
                                        "cudnnBackendFinalize"};
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (strstr(call, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Lets a call fail, counted from 1; false: there are not so many. */
static bool try_turn(long turn)
{
    struct roof_error error = {0};
    char number[24];
    snprintf(number, sizeof number, "%ld", turn);
    (void)unsetenv("FAKE_TURN_CALL");
    (void)setenv("FAKE_TURN", number, 1);
    const enum roof_status status = try_all(&error);
    (void)unsetenv("FAKE_TURN");
    const char *const call = getenv("FAKE_TURN_CALL");
    if (call == NULL) {
        assert_int_equal(status, ROOF_OK);
        return false;
    }
    const bool told = status == ROOF_IO && strchr(error.message, '\n') == NULL &&
                      strncmp(error.message, call, strlen(call)) == 0;
    if (held() != 0 || !(told || (status == ROOF_OK && is_spared(call)))) {
        fail_msg("call %ld, %s: %d, %s, %ld held", turn, call, (int)status, error.message, held());
    }
    return true;
}

/* Calls fail in turn, those at the beginning and at the end each: that is one line which names the
 * call, and all is released. */
static void test_any_call_may_fail(void **state)
{
    long turn = 1;
    (void)state;
    need_drivers();
    (void)setenv("FAKE_GPUS", "2", 1);
    while (try_turn(turn)) {
        turn += 1 + turn / 30;
    }
    for (const long last = turn - 30; turn > last; turn--) {
        (void)try_turn(turn);
    }
    (void)unsetenv("FAKE_GPUS");
}

/* A group that could not be made is made again for the next task. */
static void test_failed_group_is_made_again(void **state)
{
    const struct roof_meter_task task = collective(ROOF_OPERATOR_ALL_REDUCE, 1 << 25, 2);
    struct roof_error error = {0};
    double amount = 0;
    (void)state;
    (void)setenv("FAKE_GPUS", "4", 1);
    struct roof_bench *const bench = open_bench();
    (void)setenv("FAKE_FAIL", "ncclCommInitAll:2:0", 1);
    assert_int_equal(METER.begin(&amount, bench, &task, &error), ROOF_IO);
    assert_string_equal(error.message, "ncclCommInitAll: unhandled system error");
    (void)unsetenv("FAKE_FAIL");
    comes_back("sum", time_task(&amount, bench, &task), COLLECTIVE_S + (1 << 26) / LINK);
    METER.close(bench);
    assert_int_equal(held(), 0);
    (void)unsetenv("FAKE_GPUS");
}

#endif
