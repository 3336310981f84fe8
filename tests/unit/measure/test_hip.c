// SPDX-License-Identifier: MIT
/* The HIP backend on the planted GPU of tests/fake/hip.c: what is measured must come back within
 * 3%, and each fault must be one line. It shares its code with the CUDA backend (test_cuda). */
#define METER roof_meter_hip
#define FOLDER "amd"
#define LIBRARIES                                                                                  \
    "libamdhip64.so.7", "libhipblaslt.so.1", "librocm_smi64.so.7", "libhiprtc.so.7", "librccl.so.1"
#include "gpus.h"
#include "measure/gpus.h"

/* The cache behind the L2. */
#define L3_BANDWIDTH 5e12
#define L3_BYTES ((int64_t)256 << 20)

static void test_device_is_described(void **state)
{
    struct roof_meter_device device;
    (void)state;
    struct roof_bench *const bench = open_bench();
    METER.describe(&device, bench);
    assert_string_equal(device.name, "Fake GPU 0");
    assert_string_equal(device.vendor, "AMD");
    assert_string_equal(device.architecture, "CDNA3 (gfx942)");
    assert_string_equal(device.software, "HIP driver 7.0, libhipblaslt.so.1 100000");
    assert_true(device.units == 100);
    assert_true(device.clock_hz == 1.5e9);
    assert_true(device.memory_bytes == 85899345920.0);
    assert_int_equal(device.level_count, 3);
    assert_string_equal(device.level[0].name, "L2");
    assert_int_equal(device.level[0].bytes, L2_BYTES);
    assert_string_equal(device.level[1].name, "L3");
    assert_int_equal(device.level[1].bytes, L3_BYTES);
    assert_string_equal(device.level[2].name, "memory");
    METER.close(bench);
    assert_int_equal(held(), 0);
}

static void test_architectures_have_the_names_of_devices(void **state)
{
    static const struct {
        const char *product;
        const char *capability;
        const char *name;
        int64_t l3_mib;
    } cases[] = {{"AMD Instinct MI210", "90", "CDNA2 (gfx90a)", 0},
                 {"AMD Instinct MI100", "90", "CDNA (gfx908)", 0},
                 {"AMD Radeon VII", "90", "AMD GPU (9.0)", 0}, /* its name tells no more */
                 {"AMD Instinct MI300X", "94", "CDNA3 (gfx942)", 256},
                 {"AMD Instinct MI355X", "95", "CDNA4 (gfx950)", 256},
                 {"AMD Radeon RX 6900 XT", "103", "RDNA 2", 128},
                 {"AMD Radeon RX 7900 XTX", "110", "RDNA 3 (gfx1100)", 96},
                 {"AMD Radeon 8060S", "115", "RDNA 3.5 (gfx1151)", 32},
                 {"AMD Radeon RX 9070 XT", "120", "RDNA 4 (gfx1201)", 64},
                 {"AMD", "106", "AMD GPU (10.6)", 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_meter_device device;
        (void)setenv("FAKE_NAME", cases[i].product, 1);
        (void)setenv("FAKE_CAPABILITY", cases[i].capability, 1);
        struct roof_bench *const bench = open_bench();
        METER.describe(&device, bench);
        assert_string_equal(device.architecture, cases[i].name);
        assert_int_equal(device.level_count, cases[i].l3_mib > 0 ? 3 : 2);
        assert_int_equal(device.level[1].bytes, cases[i].l3_mib << 20);
        METER.close(bench);
    }
    (void)unsetenv("FAKE_NAME");
    (void)unsetenv("FAKE_CAPABILITY");
}

static void test_bandwidths_come_back(void **state)
{
    (void)state;
    struct roof_bench *const bench = open_bench();
    for (int probe = ROOF_PROBE_READ; probe <= ROOF_PROBE_TRIAD; probe++) {
        struct roof_meter_task task = {.probe = (enum roof_probe)probe, .bytes = 4 * L3_BYTES};
        comes_back("memory", rate_of(bench, &task), BANDWIDTH);
        task.bytes = L3_BYTES / 2;
        comes_back("L3", rate_of(bench, &task), L3_BANDWIDTH);
        task.bytes = L2_BYTES / 2;
        comes_back("L2", rate_of(bench, &task), L2_BANDWIDTH);
    }
    METER.close(bench);
}

/* Cold operands are in neither of the two caches. */
static void test_products_come_back(void **state)
{
    static const struct {
        const char *capability;
        enum roof_precision format;
        double width;
        double out_width;
        double peak;
    } formats[] = {{"94", ROOF_PRECISION_FP32, 4, 4, FP32},
                   {"94", ROOF_PRECISION_BF16, 2, 2, TENSOR},
                   {"94", ROOF_PRECISION_FP8_E4M3, 1, 2, 2 * TENSOR},
                   {"95", ROOF_PRECISION_FP8_E4M3, 1, 2, 2 * TENSOR},
                   {"120", ROOF_PRECISION_FP8_E4M3, 1, 2, 2 * TENSOR},
                   {"94", ROOF_PRECISION_INT8, 1, 4, 2 * TENSOR},
                   {"95", ROOF_PRECISION_MXFP8_E4M3, 1 + 1 / 32., 2, 2 * TENSOR}};
    static const int64_t tokens[] = {1, 128, 129, 2048}; /* on both sides of an edge */
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        (void)setenv("FAKE_CAPABILITY", formats[i].capability, 1);
        struct roof_bench *const bench = open_bench();
        for (size_t k = 0; k < COUNT(tokens); k++) {
            double amount = 0;
            const struct roof_meter_task task =
                product(formats[i].format, 1, tokens[k], 4096, 8192, ROOF_CACHE_COLD);
            comes_back(roof_format(formats[i].format)->name, time_task(&amount, bench, &task),
                       planted_s(&task, formats[i].width, formats[i].out_width, formats[i].peak,
                                 BANDWIDTH));
        }
        METER.close(bench);
    }
    (void)unsetenv("FAKE_CAPABILITY");
    assert_int_equal(held(), 0);
}

static void test_attention_has_no_kernel(void **state)
{
    const struct roof_meter_task attending = attention(1, 64, 128);
    (void)state;
    struct roof_bench *const bench = open_bench();
    assert_false(METER.able(bench, &attending));
    METER.close(bench);
}

static void test_steps_come_back(void **state)
{
    struct roof_meter_part part[3];
    size_t order[3 * LAYERS];
    const struct roof_meter_task other =
        product(ROOF_PRECISION_FP8_E4M3, 1, 16, 4096, 4096, ROOF_CACHE_COLD);
    const struct roof_meter_step step = make_step(part, order, &other);
    const double planted[] = {LAUNCH_S + 2.0 * 2 * 4096 / BANDWIDTH,
                              planted_s(&part[1].task, 2, 2, TENSOR, BANDWIDTH),
                              planted_s(&other, 1, 2, 2 * TENSOR, BANDWIDTH)};
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
    METER.close(bench);
    assert_int_equal(held(), 0);
}

/* Formats that a device or its library lacks. */
static void test_tasks_that_cannot_be_run_are_left_out(void **state)
{
    static const struct {
        const char *capability;
        enum roof_precision format;
        bool able;
    } cases[] = {
        {"90", ROOF_PRECISION_FP16, true},       {"90", ROOF_PRECISION_FP8_E4M3, false},
        {"94", ROOF_PRECISION_TF32, true},       {"95", ROOF_PRECISION_TF32, false},
        {"110", ROOF_PRECISION_FP8_E4M3, false}, {"94", ROOF_PRECISION_MXFP8_E4M3, false},
        {"95", ROOF_PRECISION_MXFP8_E4M3, true}, {"95", ROOF_PRECISION_NVFP4, false},
        {"120", ROOF_PRECISION_FP8_E4M3, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        (void)setenv("FAKE_CAPABILITY", cases[i].capability, 1);
        struct roof_bench *const bench = open_bench();
        const struct roof_meter_task task =
            product(cases[i].format, 1, 64, 64, 64, ROOF_CACHE_COLD);
        if (METER.able(bench, &task) != cases[i].able) {
            fail_msg("%s on %s", roof_format(cases[i].format)->name, cases[i].capability);
        }
        METER.close(bench);
    }
    (void)unsetenv("FAKE_CAPABILITY");
}

static void test_sensors_are_read(void **state)
{
    struct roof_meter_clocks clocks;
    const struct roof_meter_task task = {.probe = ROOF_PROBE_READ, .bytes = 4 * L3_BYTES};
    (void)state;
    struct roof_bench *const bench = open_bench();
    METER.clocks(&clocks, bench);
    assert_true(clocks.sm_hz == 1.5e9);
    assert_around(clocks.power_w, 250, 1e-3);
    assert_true(clocks.temperature_c == 50);
    assert_true(isnan(METER.energy(bench)));
    /* Work without a gate runs twice, and the energy is that of both. */
    (void)setenv("FAKE_ENERGY", "100,0,0", 1);
    METER.close(bench);
    struct roof_bench *const counting = open_bench();
    const double before = METER.energy(counting);
    double amount = 0;
    double seconds = 0;
    struct roof_error error = {0};
    assert_int_equal(METER.begin(&amount, counting, &task, &error), ROOF_OK);
    assert_int_equal(METER.sample(&seconds, counting, &error), ROOF_OK);
    const double begun = METER.energy(counting);
    assert_int_equal(METER.sample(&seconds, counting, &error), ROOF_OK);
    assert_true(begun > before);
    comes_back("energy", METER.energy(counting) - begun, 100 * METER.busy(counting));
    METER.end(counting);
    METER.close(counting);
    (void)unsetenv("FAKE_ENERGY");
}

/* The second GPU has sensors and processes of its own; those of the first keep it from a group. */
static void test_sensors_are_those_of_the_device(void **state)
{
    const struct roof_meter_options options = {.index = 1};
    struct roof_bench *bench = NULL;
    struct roof_meter_clocks clocks;
    struct roof_meter_device device;
    struct roof_error error = {0};
    (void)state;
    need_drivers();
    (void)setenv("FAKE_GPUS", "2", 1);
    (void)setenv("FAKE_BUSY", "1", 1); /* on the first */
    assert_int_equal(METER.open(&bench, &options, &error), ROOF_OK);
    METER.clocks(&clocks, bench);
    assert_true(clocks.temperature_c == 51);
    assert_int_equal(METER.check(bench, &error), ROOF_OK);
    METER.describe(&device, bench);
    assert_string_equal(device.alone, "GPU 0 is divided, or other processes use it");
    METER.close(bench);
    (void)unsetenv("FAKE_BUSY");
    (void)unsetenv("FAKE_GPUS");
}

/* AMD SMI is used where ROCm SMI fails, and finds the device by its bus. */
static void test_other_library_finds_the_device(void **state)
{
    struct roof_gpus *gpus = NULL;
    struct roof_sample sample;
    struct roof_error error = {0};
    (void)state;
    need_drivers();
    void *const library = open_fake("../amd_smi/libamd_smi.so.26");
    assert_non_null(library);
    (void)setenv("FAKE_GPUS", "2", 1);
    (void)setenv("FAKE_FAIL", "rsmi_init:8", 1);
    assert_int_equal(roof_amd_open(&gpus, "0000:01:00.0", &error), ROOF_OK);
    assert_ptr_equal(gpus->driver, &roof_amd_smi);
    assert_int_equal(gpus->count, 1);
    assert_int_equal(roof_gpus_read(gpus, &sample, 0, &error), ROOF_OK);
    assert_true(sample.temperature_c == 51); /* of the first 50 */
    roof_gpus_close(gpus);
    (void)unsetenv("FAKE_FAIL");
    (void)unsetenv("FAKE_GPUS");
    assert_int_equal(dlclose(library), 0);
}

/* A group has at most 16 of 20 GPUs: the measured GPU and those behind it. The first GPU is no
 * member, so processes on it do not matter. */
static void test_group_has_sixteen_members(void **state)
{
    const struct roof_meter_options options = {.index = 1};
    struct roof_bench *bench = NULL;
    struct roof_meter_device device;
    struct roof_error error = {0};
    (void)state;
    need_drivers();
    (void)setenv("FAKE_GPUS", "20", 1);
    (void)setenv("FAKE_BUSY", "1", 1); /* on the first */
    assert_int_equal(METER.open(&bench, &options, &error), ROOF_OK);
    METER.describe(&device, bench);
    assert_string_equal(device.alone, "");
    assert_int_equal(device.devices, 16);
    METER.close(bench);
    assert_int_equal(held(), 0);
    (void)unsetenv("FAKE_BUSY");
    (void)unsetenv("FAKE_GPUS");
}

static void test_faults_are_one_line(void **state)
{
    static const struct fault cases[] = {
        {"FAKE_GPUS", "0", "there is no HIP device 0: the driver has 0"},
        {"FAKE_FAIL", "hipInit:100:0", "hipInit: hipErrorNoDevice"},
        {"FAKE_FAIL", "hipInit:1234:0", "hipInit: HIP error 1234"},
        {"FAKE_FAIL", "hipSetDevice:100:0", "hipSetDevice: hipErrorNoDevice"},
        {"FAKE_FAIL", "hipStreamCreateWithFlags:2:0",
         "hipStreamCreateWithFlags: hipErrorOutOfMemory"},
        {"FAKE_FAIL", "hiprtcCreateProgram:1:0",
         "hiprtcCreateProgram: HIPRTC_ERROR_INTERNAL_ERROR"},
        {"FAKE_FAIL", "hiprtcCompileProgram:6:0",
         "hiprtcCompileProgram: HIPRTC_ERROR_COMPILATION (roofline.hip:1:1: error: the fake does "
         "not "
         "like it)"},
        {"FAKE_FAIL", "hiprtcGetCodeSize:1:0", "hiprtcGetCodeSize: HIPRTC_ERROR_INTERNAL_ERROR"},
        {"FAKE_FAIL", "hiprtcGetCode:1:0", "hiprtcGetCode: HIPRTC_ERROR_INTERNAL_ERROR"},
        {"FAKE_FAIL", "hipModuleLoadDataEx:200:0", "hipModuleLoadDataEx: hipErrorInvalidImage"},
        {"FAKE_FAIL", "hipStreamSynchronize:214:0",
         "hipStreamSynchronize: hipErrorECCNotCorrectable"},
        {"FAKE_FAIL", "hipMemcpyHtoD:719:0", "hipMemcpyHtoD: hipErrorLaunchFailure"},
        {"FAKE_FAIL", "hipStreamEndCapture:719:0", "hipStreamEndCapture: hipErrorLaunchFailure"},
        {"FAKE_FAIL", "hipGraphInstantiateWithFlags:2:0",
         "hipGraphInstantiateWithFlags: hipErrorOutOfMemory"},
        {"FAKE_FAIL", "hipGraphLaunch:719:1", "hipGraphLaunch: hipErrorLaunchFailure"},
        {"FAKE_FAIL", "hipblasLtMatmul:6:30", "hipblasLtMatmul: HIPBLAS_STATUS_INTERNAL_ERROR"},
        {"FAKE_FAIL", "hipblasLtMatmul:77:30", "hipblasLtMatmul: HIPBLAS_STATUS_UNKNOWN"},
        {"FAKE_FAIL", "hipblasLtMatmulAlgoGetHeuristic:7:0",
         "hipblasLtMatmulAlgoGetHeuristic: HIPBLAS_STATUS_NOT_SUPPORTED"},
        {"FAKE_NO_MEMORY", "1", "hipMalloc: hipErrorOutOfMemory (2162688 bytes)"},
        {"FAKE_NO_MEMORY", "2", "hipMalloc: hipErrorOutOfMemory (33554432 bytes)"},
        {"FAKE_BUSY", "2", "2 processes compute on the GPU; shared measures anyway"},
    };
    (void)state;
    const struct roof_meter_task task =
        product(ROOF_PRECISION_BF16, 1, 16, 1024, 1024, ROOF_CACHE_WARM);
    check_faults(cases, COUNT(cases), &task, try_task);
}

static void test_faults_of_steps_are_one_line(void **state)
{
    static const struct fault cases[] = {
        {"FAKE_NO_MEMORY", "3", "hipMalloc: hipErrorOutOfMemory (33554432 bytes)"},
        {"FAKE_FAIL", "hipModuleLaunchKernel:719:0",
         "hipModuleLaunchKernel: hipErrorLaunchFailure"},
        {"FAKE_FAIL", "hipGraphLaunch:719:3", "hipGraphLaunch: hipErrorLaunchFailure"},
    };
    const struct roof_meter_task other = vector(ROOF_OPERATOR_ADD, 16);
    (void)state;
    check_faults(cases, COUNT(cases), &other, try_step);
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
        cmocka_unit_test(test_vectors_come_back),
        cmocka_unit_test(test_attention_has_no_kernel),
        cmocka_unit_test(test_steps_come_back),
        cmocka_unit_test(test_tasks_that_cannot_be_run_are_left_out),
        cmocka_unit_test(test_collectives_come_back),
        cmocka_unit_test(test_faults_of_collectives),
        cmocka_unit_test(test_failed_group_is_made_again),
        cmocka_unit_test(test_any_call_may_fail),
        cmocka_unit_test(test_sensors_are_read),
        cmocka_unit_test(test_sensors_are_those_of_the_device),
        cmocka_unit_test(test_other_library_finds_the_device),
        cmocka_unit_test(test_group_has_sixteen_members),
        cmocka_unit_test(test_faults_are_one_line),
        cmocka_unit_test(test_faults_of_steps_are_one_line),
    };
    return cmocka_run_group_tests(tests, open_drivers, close_drivers);
}
