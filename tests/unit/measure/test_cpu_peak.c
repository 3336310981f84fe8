// SPDX-License-Identifier: MIT
/* The kernels of a processor's peaks: what they count as operations. */
#include "support.h"

#include "measure/cpu_job.h"

#if defined(__x86_64__)
/* A register of so many bits has two operations, a product and a sum, for each number in it. Dot
 * products have so, too: each number of their operands is multiplied and added once. */
static double operations(double bits, enum roof_precision format)
{
    return 2 * bits / roof_precision_bits(format);
}

static double amount_of(enum roof_precision format, const struct roof_cpu_features *features,
                        size_t threads)
{
    struct roof_cpu_job job = {
        .task = {.probe = ROOF_PROBE_MULTIPLY,
                 .format = format,
                 .unit = features->amx ? ROOF_COMPUTE_MATRIX : ROOF_COMPUTE_VECTOR},
        .features = *features};
    assert_true(roof_cpu_peak_able(features, &job.task));
    assert_int_equal(roof_cpu_peak_begin(&job, threads, NULL), ROOF_OK);
    if (features->isa <= roof_cpu_features().isa && !features->vnni && !features->bf16 &&
        !features->amx) {
        job.share(&job, 0, threads, 0);
    }
    return job.amount;
}

static void test_operations_are_those_of_the_registers(void **state)
{
    static const struct {
        enum roof_precision format;
        struct roof_cpu_features features;
        double bits; /* of the registers */
    } cases[] = {
        {ROOF_PRECISION_FP32, {.isa = ROOF_ISA_BASE}, 128},
        {ROOF_PRECISION_FP64, {.isa = ROOF_ISA_BASE}, 128},
        {ROOF_PRECISION_FP32, {.isa = ROOF_ISA_AVX2}, 256},
        {ROOF_PRECISION_FP64, {.isa = ROOF_ISA_AVX2}, 256},
        {ROOF_PRECISION_INT8, {.isa = ROOF_ISA_AVX2}, 256},
        {ROOF_PRECISION_FP32, {.isa = ROOF_ISA_AVX512}, 512},
        {ROOF_PRECISION_FP64, {.isa = ROOF_ISA_AVX512}, 512},
        {ROOF_PRECISION_INT8, {.isa = ROOF_ISA_AVX512}, 256}, /* without VNNI */
        {ROOF_PRECISION_INT8, {.isa = ROOF_ISA_AVX512, .vnni = true}, 512},
        {ROOF_PRECISION_BF16, {.isa = ROOF_ISA_AVX512, .bf16 = true}, 512},
#if defined(__linux__)
        /* 16 sums for each number of a tile of 16 rows of 512 bits */
        {ROOF_PRECISION_BF16, {.isa = ROOF_ISA_AVX512, .amx = true}, 16 * 16 * 512},
        {ROOF_PRECISION_INT8, {.isa = ROOF_ISA_AVX512, .amx = true}, 16 * 16 * 512},
#endif
    };
    const struct roof_cpu_features base = {.isa = ROOF_ISA_BASE};
    const double one =
        amount_of(ROOF_PRECISION_FP32, &base, 1) / operations(128, ROOF_PRECISION_FP32);
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const double amount = amount_of(cases[i].format, &cases[i].features, 3);
        assert_around(amount, 3 * one * operations(cases[i].bits, cases[i].format), 0);
    }
}

static void test_formats_without_a_unit_have_no_peak(void **state)
{
    static const struct {
        enum roof_precision format;
        enum roof_compute_unit unit;
        struct roof_cpu_features features;
    } cases[] = {
        {ROOF_PRECISION_INT8, ROOF_COMPUTE_VECTOR, {.isa = ROOF_ISA_BASE}},
        {ROOF_PRECISION_BF16, ROOF_COMPUTE_VECTOR, {.isa = ROOF_ISA_AVX512}},
        {ROOF_PRECISION_FP16, ROOF_COMPUTE_VECTOR, {.isa = ROOF_ISA_AVX512}},
        {ROOF_PRECISION_FP32, ROOF_COMPUTE_MATRIX, {.isa = ROOF_ISA_AVX512, .amx = true}},
        {ROOF_PRECISION_BF16, ROOF_COMPUTE_MATRIX, {.isa = ROOF_ISA_AVX512, .bf16 = true}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_meter_task task = {
            .probe = ROOF_PROBE_MULTIPLY, .format = cases[i].format, .unit = cases[i].unit};
        assert_false(roof_cpu_peak_able(&cases[i].features, &task));
    }
}
#endif

int main(void)
{
#if defined(__x86_64__)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations_are_those_of_the_registers),
        cmocka_unit_test(test_formats_without_a_unit_have_no_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    return 0; /* other processors have one kernel for each format */
#endif
}
