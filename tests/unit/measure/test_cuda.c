// SPDX-License-Identifier: MIT
/* The CUDA backend on the planted GPU of tests/fake/cuda.c: what is measured must come back within
 * 3%, and each fault must be one line. */
#define METER roof_meter_cuda
#define FOLDER "nvidia"
#define LIBRARIES                                                                                  \
    "libcuda.so.1", "libcublasLt.so.13", "libcudnn.so.9", "libnvidia-ml.so.1", "libnccl.so.2"
#include "gpus.h"

#define ATTENTION 600e12 /* FLOP/s of the fake */

/* --- what is measured ---------------------------------------------------------------------- */

static void test_device_is_described(void **state)
{
    struct roof_meter_device device;
    (void)state;
    struct roof_bench *const bench = open_bench();
    METER.describe(&device, bench);
    assert_string_equal(device.name, "Fake GPU 0");
    assert_string_equal(device.vendor, "NVIDIA");
    assert_string_equal(device.architecture, "Hopper");
    assert_string_equal(device.software,
                        "CUDA driver 13.0, libcublasLt.so.13 130000, cuDNN 9.19.0");
    assert_true(device.units == 100);
    assert_true(device.clock_hz == 1.5e9);
    assert_true(device.memory_bytes == 85899345920.0);
    assert_int_equal(device.level_count, 2);
    assert_string_equal(device.level[0].name, "L2");
    assert_int_equal(device.level[0].bytes, L2_BYTES);
    assert_string_equal(device.level[1].name, "memory");
    assert_false(device.host);
    METER.close(bench);
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
        METER.describe(&device, bench);
        assert_string_equal(device.architecture, cases[i].name);
        METER.close(bench);
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
    METER.close(bench);
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
    METER.close(bench);
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
        assert_false(METER.able(bench, &task)); /* 80 is no multiple of 32 */
    }
    METER.close(bench);
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
    METER.close(bench);
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
    assert_false(METER.able(bench, &task));
    task = attention(1, 64, 64);
    assert_true(METER.able(bench, &task));
    task.workload.shape.window = 32;
    assert_false(METER.able(bench, &task));
    task = vector(ROOF_OPERATOR_ADD, 1);
    task.workload.formats.activations = ROOF_PRECISION_FP32;
    assert_false(METER.able(bench, &task));
    METER.close(bench);
}

/* A kernel that does nothing, and one that multiplies queries with the keys that they see, and the
 * shares of these with their values. */
static void test_attention_of_a_prefill_comes_back(void **state)
{
    static const struct {
        int64_t queries;
        int64_t keys;
        bool causal;
        double pairs; /* of a query and a key */
    } cases[] = {{4, 4, true, 10},
                 {2048, 2048, true, 2048.0 * 2049 / 2},
                 {1024, 4096, true, 1024.0 * 3072 + 1024.0 * 1025 / 2},
                 {2048, 2048, false, 2048.0 * 2048}};
    (void)state;
    struct roof_bench *const bench = open_bench();
    for (size_t i = 0; i < COUNT(cases); i++) {
        double amount = 0;
        struct roof_meter_task task = attention(4, cases[i].keys, 128);
        struct roof_shape *const s = &task.workload.shape;
        s->query_len = cases[i].queries;
        s->causal = cases[i].causal;
        const double heads = 4.0 * (double)s->heads;
        const double bytes =
            2.0 * 128 * 2 *
            (heads * (double)s->query_len + 4.0 * (double)s->kv_heads * (double)s->kv_len);
        const double computing = 4 * 128 * heads * cases[i].pairs / ATTENTION;
        comes_back("attention of a prefill", time_task(&amount, bench, &task),
                   2 * LAUNCH_S + fmax(bytes / BANDWIDTH, computing));
    }
    struct roof_meter_task task = attention(1, 2048, 128);
    task.workload.shape.query_len = 4096; /* more queries than keys */
    assert_false(METER.able(bench, &task));
    task.workload.shape.query_len = 2048;
    assert_true(METER.able(bench, &task));
    task.workload.shape.window = 512;
    assert_false(METER.able(bench, &task));
    METER.close(bench);
    assert_int_equal(held(), 0);
}

/* The fake computes small graphs of attention, and refuses other graphs. Queries attend to all
 * keys, or to those up to the query, also with keys before the first query. A KV head serves one or
 * two query heads. */
static void test_attention_is_computed(void **state)
{
    static const struct {
        int64_t queries;
        int64_t keys;
        int64_t kv_heads;
        bool causal;
    } cases[] = {{3, 5, 2, false}, {4, 4, 2, true}, {3, 5, 2, true}, {3, 5, 4, true}};
    (void)state;
    struct roof_bench *const bench = open_bench();
    for (size_t i = 0; i < COUNT(cases); i++) {
        double amount = 0;
        struct roof_meter_task task = attention(2, cases[i].keys, 8);
        task.workload.formats.kv = i % 2 == 0 ? ROOF_PRECISION_FP16 : ROOF_PRECISION_BF16;
        task.workload.shape.heads = 4;
        task.workload.shape.kv_heads = cases[i].kv_heads;
        task.workload.shape.query_len = cases[i].queries;
        task.workload.shape.causal = cases[i].causal;
        assert_true(time_task(&amount, bench, &task) > 0);
    }
    METER.close(bench);
    assert_int_equal(held(), 0);
}

/* Without cuDNN the others are measured. */
static void test_faults_of_attention_are_one_line(void **state)
{
    static const struct fault cases[] = {
        {"FAKE_NO_ATTENTION", "1", "cuDNN has no kernel for this attention"},
        {"FAKE_FAIL", "cudnnBackendFinalize:2000:0",
         "cudnnBackendFinalize: CUDNN_STATUS_BAD_PARAM"},
        /* the second kernel cannot be built, nor the third */
        {"FAKE_FAIL", "plan:2000:1", "cudnnBackendFinalize: CUDNN_STATUS_BAD_PARAM"},
        {"FAKE_FAIL", "pack:2000:0", "cudnnBackendFinalize: CUDNN_STATUS_BAD_PARAM"},
        {"FAKE_FAIL", "cudnnBackendExecute:5000:0",
         "cudnnBackendExecute: CUDNN_STATUS_EXECUTION_FAILED"},
        {"FAKE_FAIL", "cudnnBackendExecute:5000:7",
         "cudnnBackendExecute: CUDNN_STATUS_EXECUTION_FAILED"},
        {"FAKE_NO_MEMORY", "2", "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (4096 bytes)"},
    };
    struct roof_meter_device device;
    struct roof_meter_task task = attention(1, 2048, 128);
    (void)state;
    task.workload.shape.query_len = 1024;
    task.workload.shape.causal = true;
    check_faults(cases, COUNT(cases), &task, try_task);
    (void)setenv("FAKE_FAIL", "cudnnCreate:5000", 1);
    struct roof_bench *const bench = open_bench();
    METER.describe(&device, bench);
    assert_string_equal(device.no_prefill, "cudnnCreate: CUDNN_STATUS_EXECUTION_FAILED");
    assert_false(METER.able(bench, &task));
    METER.close(bench);
    (void)unsetenv("FAKE_FAIL");
}

/* The kernels of operators need the matrix units of Turing; probes do not. */
static void test_older_devices_have_probes_alone(void **state)
{
    (void)state;
    (void)setenv("FAKE_CAPABILITY", "70", 1);
    struct roof_bench *const bench = open_bench();
    const struct roof_meter_task norm = vector(ROOF_OPERATOR_RMSNORM, 1);
    const struct roof_meter_task read = {.probe = ROOF_PROBE_READ, .bytes = 4 * L2_BYTES};
    assert_false(METER.able(bench, &norm));
    comes_back("memory", rate_of(bench, &read), BANDWIDTH);
    METER.close(bench);
    (void)unsetenv("FAKE_CAPABILITY");
}

/* --- steps --------------------------------------------------------------------------------- */

static void test_steps_come_back(void **state)
{
    struct roof_meter_part part[3];
    size_t order[3 * LAYERS];
    const struct roof_meter_task other = attention(1, 4096, 128);
    const struct roof_meter_step step = make_step(part, order, &other);
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
    assert_around(METER.room(bench), 85899345920.0, 0);
    if (METER.step_begin(bench, &step, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(METER.step_sample(&seconds, each, bench, &error), ROOF_OK);
    }
    for (size_t i = 0; i < 3; i++) {
        comes_back("part", each[i], planted[i]);
    }
    comes_back("step", seconds, LAYERS * (planted[0] + planted[1] + planted[2]));
    METER.step_end(bench);
    /* A task comes back after a step. */
    const struct roof_meter_task task = {.probe = ROOF_PROBE_READ, .bytes = 4 * L2_BYTES};
    comes_back("memory", rate_of(bench, &task), BANDWIDTH);
    METER.close(bench);
    assert_int_equal(held(), 0);
}

static void test_faults_of_steps_are_one_line(void **state)
{
    static const struct fault cases[] = {
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
    const struct roof_meter_task other = attention(1, 4096, 128);
    (void)state;
    check_faults(cases, COUNT(cases), &other, try_step);
}

static void test_noise_is_averaged(void **state)
{
    (void)state;
    (void)setenv("FAKE_NOISE", "0.015", 1);
    struct roof_bench *const bench = open_bench();
    const struct roof_meter_task task = {.probe = ROOF_PROBE_READ, .bytes = 4 * L2_BYTES};
    comes_back("memory", rate_of(bench, &task), BANDWIDTH);
    METER.close(bench);
    (void)unsetenv("FAKE_NOISE");
}

static void test_sensors_are_read(void **state)
{
    struct roof_meter_clocks clocks;
    (void)state;
    (void)setenv("FAKE_THROTTLE", "4,0,64", 1);
    struct roof_bench *const bench = open_bench();
    METER.clocks(&clocks, bench);
    assert_true(clocks.sm_hz == 1.5e9);
    assert_true(clocks.power_w == 250);
    assert_true(clocks.temperature_c == 40);
    assert_true(clocks.throttled); /* for power */
    METER.clocks(&clocks, bench);
    assert_false(clocks.throttled);
    METER.clocks(&clocks, bench);
    assert_true(clocks.throttled); /* for heat */
    assert_true(isnan(METER.energy(bench)));
    METER.close(bench);
    (void)unsetenv("FAKE_THROTTLE");
}

static void test_gate_is_not_needed(void **state)
{
    (void)state;
    (void)setenv("FAKE_NO_WAITS", "1", 1);
    struct roof_bench *const bench = open_bench();
    const struct roof_meter_task task = {.probe = ROOF_PROBE_READ, .bytes = 4 * L2_BYTES};
    comes_back("memory", rate_of(bench, &task), BANDWIDTH);
    METER.close(bench);
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
    assert_false(METER.able(bench, &task)); /* Turing has no bf16 */
    task = product(ROOF_PRECISION_FP16, 1, 8, 64, 64, ROOF_CACHE_COLD);
    assert_true(METER.able(bench, &task));
    METER.close(bench);
    (void)unsetenv("FAKE_CAPABILITY");

    struct roof_bench *const hopper = open_bench();
    task = product(ROOF_PRECISION_FP8_E4M3, 1, 8, 64, 72, ROOF_CACHE_COLD);
    assert_false(METER.able(hopper, &task)); /* 72 is no multiple of 16 */
    task = product(ROOF_PRECISION_NVFP4, 1, 8, 64, 64, ROOF_CACHE_COLD);
    assert_false(METER.able(hopper, &task));
    task = product(ROOF_PRECISION_FP16, 1, 8, 64, 64, ROOF_CACHE_COLD);
    task.workload.formats.weights = ROOF_PRECISION_INT4;
    assert_false(METER.able(hopper, &task));
    task = (struct roof_meter_task){
        .probe = ROOF_PROBE_MULTIPLY, .format = ROOF_PRECISION_BF16, .unit = ROOF_COMPUTE_VECTOR};
    assert_false(METER.able(hopper, &task));
    METER.close(hopper);
}

/* --- faults -------------------------------------------------------------------------------- */

static void test_faults_are_one_line(void **state)
{
    static const struct fault cases[] = {
        {"FAKE_GPUS", "0", "there is no CUDA device 0: the driver has 0"},
        {"FAKE_FAIL", "cuInit:100:0", "cuInit: CUDA_ERROR_NO_DEVICE"},
        {"FAKE_FAIL", "cuDevicePrimaryCtxRetain:2:0",
         "cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY"},
        {"FAKE_FAIL", "cuInit:803:0", "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
        {"FAKE_FAIL", "cuStreamCreate:2:0", "cuStreamCreate: CUDA_ERROR_OUT_OF_MEMORY"},
        {"FAKE_FAIL", "cuModuleLoadDataEx:222:0",
         "cuModuleLoadDataEx: CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {"FAKE_FAIL", "cuStreamSynchronize:214:0",
         "cuStreamSynchronize: CUDA_ERROR_ECC_UNCORRECTABLE"},
        {"FAKE_FAIL", "cuMemcpyHtoD_v2:719:0", "cuMemcpyHtoD_v2: CUDA_ERROR_LAUNCH_FAILED"},
        {"FAKE_FAIL", "cuStreamEndCapture:719:0", "cuStreamEndCapture: CUDA_ERROR_LAUNCH_FAILED"},
        {"FAKE_FAIL", "cuGraphInstantiateWithFlags:2:0",
         "cuGraphInstantiateWithFlags: CUDA_ERROR_OUT_OF_MEMORY"},
        {"FAKE_FAIL", "cuGraphLaunch:719:1", "cuGraphLaunch: CUDA_ERROR_LAUNCH_FAILED"},
        {"FAKE_FAIL", "cublasLtMatmul:14:30", "cublasLtMatmul: CUBLAS_STATUS_INTERNAL_ERROR"},
        {"FAKE_FAIL", "cublasLtMatmulAlgoGetHeuristic:15:0",
         "cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED"},
        {"FAKE_NO_MEMORY", "1", "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2162688 bytes)"},
        {"FAKE_NO_MEMORY", "2", "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (33554432 bytes)"},
        {"FAKE_BUSY", "2", "2 processes compute on the GPU; shared measures anyway"},
        {"FAKE_MIG", "1",
         "the GPU is divided (MIG), so other parts would disturb the measurement; shared measures "
         "anyway"},
    };
    (void)state;
    const struct roof_meter_task task =
        product(ROOF_PRECISION_BF16, 1, 16, 1024, 1024, ROOF_CACHE_WARM);
    check_faults(cases, COUNT(cases), &task, try_task);
}

static void test_busy_device_is_measured_when_shared(void **state)
{
    const struct roof_meter_options options = {.index = 0, .shared = true};
    const struct roof_meter_task task = {.probe = ROOF_PROBE_LAUNCH};
    struct roof_bench *bench = NULL;
    double amount = 0;
    struct roof_error error = {0};
    (void)state;
    need_drivers();
    (void)setenv("FAKE_BUSY", "1", 1);
    assert_int_equal(try_task(&task, &error), ROOF_IO);
    assert_string_equal(error.message, "1 process computes on the GPU; shared measures anyway");
    assert_int_equal(METER.open(&bench, &options, &error), ROOF_OK);
    assert_int_equal(METER.check(bench, &error), ROOF_OK);
    assert_true(time_task(&amount, bench, &task) > 0);
    METER.close(bench);
    /* A process that has just ended is listed for a moment. */
    (void)setenv("FAKE_LEAVE", "2", 1);
    assert_int_equal(try_task(&task, &error), ROOF_OK);
    (void)unsetenv("FAKE_LEAVE");
    (void)unsetenv("FAKE_BUSY");
}

static void test_second_device_must_be_there(void **state)
{
    const struct roof_meter_task task = {.probe = ROOF_PROBE_LAUNCH};
    struct roof_error error = {0};
    (void)state;
    need_drivers();
    assert_int_equal(try_device(1, &task, &error), ROOF_USAGE);
    assert_string_equal(error.message, "there is no CUDA device 1: the driver has 1");
    (void)setenv("FAKE_GPUS", "2", 1);
    assert_int_equal(try_device(1, &task, &error), ROOF_OK);
    (void)unsetenv("FAKE_GPUS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_is_described),
        cmocka_unit_test(test_architectures_have_the_names_of_devices),
        cmocka_unit_test(test_bandwidths_come_back),
        cmocka_unit_test(test_peaks_come_back),
        cmocka_unit_test(test_the_link_to_the_host_comes_back),
        cmocka_unit_test(test_launch_comes_back),
        cmocka_unit_test(test_products_come_back),
        cmocka_unit_test(test_scaled_products_come_back),
        cmocka_unit_test(test_warm_products_are_in_the_cache),
        cmocka_unit_test(test_vectors_come_back),
        cmocka_unit_test(test_attention_comes_back),
        cmocka_unit_test(test_attention_of_a_prefill_comes_back),
        cmocka_unit_test(test_attention_is_computed),
        cmocka_unit_test(test_faults_of_attention_are_one_line),
        cmocka_unit_test(test_older_devices_have_probes_alone),
        cmocka_unit_test(test_steps_come_back),
        cmocka_unit_test(test_faults_of_steps_are_one_line),
        cmocka_unit_test(test_collectives_come_back),
        cmocka_unit_test(test_faults_of_collectives),
        cmocka_unit_test(test_failed_group_is_made_again),
        cmocka_unit_test(test_any_call_may_fail),
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
