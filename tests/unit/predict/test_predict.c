// SPDX-License-Identifier: MIT
/*
 * The roofline: times, bottleneck, peaks and units on a device for mental arithmetic, the figures
 * that the embedded devices must give, and laws that hold for every operator on every device.
 */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define EXACT 0
#define TIGHT 1e-12
#define SHAPE(...) ((struct roof_shape){__VA_ARGS__})
#define P(id) ROOF_PRECISION_##id

/* No vector unit, no link. */
#define NO_VECTOR "{\"id\": \"plain\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 1}}"

/* -p */
static struct roof_workload in(struct roof_workload w, enum roof_precision precision)
{
    w.formats.precision = precision;
    return w;
}

static struct roof_prediction predict(struct roof_workload w, const struct roof_hardware *hardware)
{
    struct roof_prediction p;
    struct roof_error error = {0};
    if (roof_predict(&p, &w, hardware, &error) != ROOF_OK) {
        fail_msg("%s on %s: %s", roof_operator_row(w.op)->name, hardware->id, error.message);
    }
    return p;
}

/* From 1 to 2^14, small ones as often as large ones. */
static int64_t size(void)
{
    const int64_t high = (int64_t)1 << pick(0, 14);
    return pick(1, high);
}

static struct roof_shape random_shape(enum roof_operator op)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    for (int d = 0; d < ROOF_DIM_COUNT; d++) {
        const struct roof_input *const input = &roof_dimensions[d];
        if (roof_operator_has(op, (enum roof_dimension)d)) {
            roof_input_put(&w, input,
                           input->kind == ROOF_INPUT_INTEGER ? size() : pick(0, input->max));
        }
    }
    struct roof_shape *const s = &w.shape;
    if (s->kv_heads > 0) {
        s->heads = s->kv_heads * pick(1, 8);
    }
    if (s->causal > 0) {
        s->kv_len += s->query_len;
    }
    if (s->top_k > 0) {
        s->experts += s->top_k;
        if (s->ep > 0) { /* the router has none */
            s->ep = 1 + s->ep % 8;
            s->experts *= s->ep;
        }
    }
    if (s->within > 0) {
        s->within += s->devices;
    }
    if (s->qk_rope_head_dim > 0 && s->head_dim > 0) { /* also when it is doubled */
        s->head_dim += 2 * s->qk_rope_head_dim;
    }
    return w.shape;
}

/* Activations and outputs are not stored in formats for weights only. */
static enum roof_precision random_format(bool stored)
{
    enum roof_precision p = P(AUTO);
    do {
        p = (enum roof_precision)pick(-1, ROOF_PRECISION_COUNT - 1);
    } while (!stored && p != P(AUTO) && roof_precision_weight_only(p));
    return p;
}

static struct roof_workload random_workload(enum roof_operator op)
{
    struct roof_workload w = workload(op, random_shape(op));
    w.formats.precision = random_format(true);
    w.formats.weights = random_format(true);
    w.formats.kv = random_format(true);
    w.formats.activations = random_format(false);
    w.formats.out = random_format(false);
    const enum roof_operator_kind kind = roof_operator_row(op)->kind;
    if (kind == ROOF_KIND_MATRIX || kind == ROOF_KIND_COMPOSITE) {
        w.formats.compute = pick(0, 3) == 0 ? random_format(false) : P(AUTO);
    }
    const bool pruned = roof_has_weights(op) && w.formats.weights != P(AUTO) &&
                        roof_precision_prunable(w.formats.weights);
    w.sparse = pruned ? pick(0, 1) : 0;
    return w;
}

/* --- the roofline on a synthetic device ---------------------------------------------------- */

/*
 * n x n x n at fp16 has n / 3 FLOP/byte; the ridge point is 1 TFLOP/s over 100 GB/s = 10. At n = 30
 * both times are 54 ns, and equality counts as compute.
 */
static void test_both_sides_of_the_ridge(void **unused)
{
    (void)unused;
    static const struct {
        int64_t n;
        enum roof_bottleneck bottleneck;
    } cases[] = {{1, ROOF_BOTTLENECK_MEMORY},
                 {29, ROOF_BOTTLENECK_MEMORY},
                 {30, ROOF_BOTTLENECK_COMPUTE},
                 {31, ROOF_BOTTLENECK_COMPUTE},
                 {4096, ROOF_BOTTLENECK_COMPUTE}};
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const double n = (double)cases[i].n;
        const struct roof_prediction p = predict(
            workload(ROOF_OPERATOR_GEMM, SHAPE(.m = cases[i].n, .n = cases[i].n, .k = cases[i].n)),
            device);
        assert_near(p.flops, 2 * n * n * n, EXACT);
        assert_near(p.bytes, 6 * n * n, EXACT);
        assert_near(p.memory_time_s, 6 * n * n / 100e9, TIGHT);
        assert_near(p.compute_time_s, 2 * n * n * n / 1e12, TIGHT);
        assert_near(p.time_s, fmax(p.memory_time_s, p.compute_time_s), EXACT);
        assert_int_equal(p.bottleneck, cases[i].bottleneck);
        assert_near(p.intensity, n / 3, TIGHT);
        assert_near(p.part[0].intensity, n / 3, TIGHT);
        assert_near(p.ridge, 10, EXACT);
        assert_near(p.attainable_flops_per_s, fmin(1e12, n / 3 * 100e9), TIGHT);
        assert_near(p.fraction_of_peak, fmin(1, n / 30), TIGHT);
        assert_near(p.peak_flops_per_s, 1e12, EXACT);
        assert_near(p.bandwidth_bytes_per_s, 100e9, EXACT);
        assert_true(p.native);
        assert_int_equal(p.unit, ROOF_COMPUTE_MATRIX);
        assert_int_equal(p.part_count, 1);
        assert_true(isnan(p.network_bytes) && isnan(p.network_time_s) && isnan(p.link.bytes_per_s));
        assert_null(p.link.figure);
        if (cases[i].bottleneck == ROOF_BOTTLENECK_COMPUTE) {
            assert_near(p.fraction_of_peak, 1, EXACT);
            assert_near(p.attainable_flops_per_s, 1e12, EXACT);
        }
    }
    const struct roof_prediction at =
        predict(workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 30, .n = 30, .k = 30)), device);
    assert_near(at.memory_time_s, at.compute_time_s, EXACT);
    roof_hardware_free(device);
}

/* Sums over the roles are the bytes; the prediction keeps the resolved workload and its device. */
static void test_prediction_holds_together(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    random_state = 11;
    for (int i = 0; i < 500; i++) {
        const enum roof_operator op = (enum roof_operator)(i % ROOF_OPERATOR_COUNT);
        const struct roof_workload w = random_workload(op);
        const struct roof_prediction p = predict(w, device);
        struct roof_workload resolved = w;
        assert_int_equal(roof_workload_resolve(&resolved, NULL), ROOF_OK);
        assert_memory_equal(&p.workload.shape, &resolved.shape, sizeof resolved.shape);
        assert_memory_equal(&p.workload.formats, &resolved.formats, sizeof resolved.formats);
        assert_ptr_equal(p.hardware, device);
        double bytes = 0;
        double flops = 0;
        double role_bytes[ROOF_ROLE_COUNT] = {0};
        for (int part = 0; part < p.part_count; part++) {
            double part_bytes = 0;
            for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
                part_bytes += p.part[part].work.bytes[role];
                role_bytes[role] += p.part[part].work.bytes[role];
            }
            assert_near(p.part[part].bytes, part_bytes, EXACT);
            bytes += part_bytes;
            flops += p.part[part].work.flops;
        }
        assert_near(p.bytes, bytes, EXACT);
        assert_near(p.flops, flops, EXACT);
        for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
            assert_near(p.role_bytes[role], role_bytes[role], EXACT);
        }
        assert_near(p.intensity, p.flops / p.bytes, EXACT);
        assert_true(isnan(p.measured_s) && isnan(p.fraction_of_bound));
    }
    roof_hardware_free(device);
}

static void test_bottleneck_names(void **unused)
{
    (void)unused;
    assert_string_equal(roof_bottleneck_name(ROOF_BOTTLENECK_MEMORY), "memory");
    assert_string_equal(roof_bottleneck_name(ROOF_BOTTLENECK_COMPUTE), "compute");
    assert_string_equal(roof_bottleneck_name(ROOF_BOTTLENECK_NETWORK), "network");
    assert_string_equal(roof_bottleneck_name(ROOF_BOTTLENECK_OVERHEAD), "overhead");
}

/* A workload that is not valid is refused and the prediction stays. */
static void test_invalid(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_prediction p = {.time_s = 7, .flops = 8};
    struct roof_error error = {0};
    struct roof_workload w = workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 1, .n = 1));
    assert_int_equal(roof_predict(&p, &w, device, &error), ROOF_USAGE);
    assert_int_equal(error.status, ROOF_USAGE);
    assert_non_null(strstr(error.message, "needs k ("));
    assert_near(p.time_s, 7, EXACT);
    assert_near(p.flops, 8, EXACT);
    assert_int_equal(roof_predict(&p, &w, device, NULL), ROOF_USAGE);
    roof_hardware_free(device);
}

/* --- units and peaks ----------------------------------------------------------------------- */

/*
 * Which unit each format runs at: matrix where there is one, else vector, else a fallback, and then
 * native is false. Mistakes this would catch: peaks invented for units that are not there; sparse
 * peaks used as dense; vector work charged to the matrix unit.
 */
static void test_units(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_precision weights, activations, compute; /* compute: --compute */
        enum roof_precision wanted, runs;
        double peak;
        enum roof_compute_unit unit;
        bool native;
    } cases[] = {
#define MATRIX ROOF_COMPUTE_MATRIX
#define VECTOR ROOF_COMPUTE_VECTOR
        {P(FP16), P(FP16), P(AUTO), P(FP16), P(FP16), 1e12, MATRIX, true},
        {P(FP8_E4M3), P(FP8_E4M3), P(AUTO), P(FP8_E4M3), P(FP8_E4M3), 2e12, MATRIX, true},
        {P(FP8_E5M2), P(FP8_E5M2), P(AUTO), P(FP8_E5M2), P(FP8_E5M2), 2e12, MATRIX, true},
        {P(INT8), P(INT8), P(AUTO), P(INT8), P(INT8), 2e12, MATRIX, true},
        {P(NVFP4), P(NVFP4), P(AUTO), P(NVFP4), P(NVFP4), 4e12, MATRIX, true},
        {P(FP32), P(FP32), P(AUTO), P(FP32), P(FP32), 0.1e12, VECTOR, true},
        /* bf16 -> fp32; tf32 -> fp32; int4 -> int8; mxfp8 and mxfp4 -> bf16, which is not there,
         * fp16. */
        {P(BF16), P(BF16), P(AUTO), P(BF16), P(FP32), 0.1e12, VECTOR, false},
        {P(TF32), P(TF32), P(AUTO), P(TF32), P(FP32), 0.1e12, VECTOR, false},
        {P(INT4), P(INT4), P(AUTO), P(INT4), P(INT8), 2e12, MATRIX, false},
        {P(MXFP8_E4M3), P(MXFP8_E4M3), P(AUTO), P(MXFP8_E4M3), P(FP16), 1e12, MATRIX, false},
        {P(MXFP4), P(MXFP4), P(AUTO), P(MXFP4), P(FP16), 1e12, MATRIX, false},
        {P(INT8_CHANNEL), P(INT8_CHANNEL), P(AUTO), P(INT8), P(INT8), 2e12, MATRIX, true},
        {P(FP8_BLOCK128), P(FP8_E4M3), P(AUTO), P(FP8_E4M3), P(FP8_E4M3), 2e12, MATRIX, true},
        /* Weights only: at the activations. */
        {P(NF4), P(FP16), P(AUTO), P(FP16), P(FP16), 1e12, MATRIX, true},
        {P(Q4_K), P(FP8_E4M3), P(AUTO), P(FP8_E4M3), P(FP8_E4M3), 2e12, MATRIX, true},
        /* The wider of two, whichever side it is on. */
        {P(INT4), P(FP16), P(AUTO), P(FP16), P(FP16), 1e12, MATRIX, true},
        {P(FP16), P(FP8_E4M3), P(AUTO), P(FP16), P(FP16), 1e12, MATRIX, true},
        {P(FP32), P(FP16), P(AUTO), P(FP32), P(FP32), 0.1e12, VECTOR, true},
        {P(NVFP4), P(INT8), P(AUTO), P(INT8), P(INT8), 2e12, MATRIX, true},
        /* Equal width: at the activations. */
        {P(INT8), P(FP8_E4M3), P(AUTO), P(FP8_E4M3), P(FP8_E4M3), 2e12, MATRIX, true},
        {P(FP8_E4M3), P(INT8), P(AUTO), P(INT8), P(INT8), 2e12, MATRIX, true},
        {P(BF16), P(FP16), P(AUTO), P(FP16), P(FP16), 1e12, MATRIX, true},
        /* --compute: what the kernel converts to. The bytes stay. */
        {P(INT4), P(FP16), P(NVFP4), P(NVFP4), P(NVFP4), 4e12, MATRIX, true},
        {P(FP8_E4M3), P(FP8_E4M3), P(FP16), P(FP16), P(FP16), 1e12, MATRIX, true},
        {P(FP16), P(FP16), P(BF16), P(BF16), P(FP32), 0.1e12, VECTOR, false},
    };
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_workload w = workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 64, .n = 64, .k = 64));
        w.formats.weights = cases[i].weights;
        w.formats.activations = cases[i].activations;
        const double bytes = predict(w, device).bytes;
        w.formats.compute = cases[i].compute;
        const struct roof_prediction p = predict(w, device);
        if (p.wanted != cases[i].wanted || p.compute != cases[i].runs || p.unit != cases[i].unit ||
            p.native != cases[i].native || p.peak_flops_per_s != cases[i].peak) {
            fail_msg("row %zu: %s wanted, %s run at %g on the %s unit, native %d", i,
                     roof_format(p.wanted)->name, roof_format(p.compute)->name, p.peak_flops_per_s,
                     roof_compute_unit_name(p.unit), p.native);
        }
        assert_near(p.compute_time_s, 2.0 * 64 * 64 * 64 / cases[i].peak, TIGHT);
        assert_near(p.ridge, cases[i].peak / 100e9, TIGHT);
        assert_near(p.bytes, bytes, EXACT);
    }
    roof_hardware_free(device);
}

/* Attention multiplies the activations with the cache; the format of weights is not asked. */
static void test_attention_runs_at_its_cache(void **unused)
{
    (void)unused;
    static const enum roof_operator ops[] = {
        ROOF_OPERATOR_ATTENTION_SCORES, ROOF_OPERATOR_ATTENTION_VALUES, ROOF_OPERATOR_ATTENTION,
        ROOF_OPERATOR_FLASH_ATTENTION,  ROOF_OPERATOR_MLA_DECODE,       ROOF_OPERATOR_MLA_PREFILL};
    static const struct {
        enum roof_precision activations, kv, compute;
    } cases[] = {{P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3)},
                 {P(FP16), P(FP8_E4M3), P(FP16)}, /* the wider */
                 {P(FP8_E4M3), P(FP16), P(FP16)},
                 {P(FP16), P(NF4), P(FP16)}};
    static const enum roof_precision weights[] = {P(AUTO), P(FP32), P(NVFP4)};
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    for (size_t o = 0; o < COUNT(ops); o++) {
        for (size_t c = 0; c < COUNT(cases); c++) {
            for (size_t i = 0; i < COUNT(weights); i++) {
                struct roof_workload w =
                    workload(ops[o], SHAPE(.heads = 4, .query_len = 4, .kv_len = 100));
                w.shape.head_dim = roof_operator_has(ops[o], ROOF_DIM_HEAD_DIM) ? 8 : 0;
                w.formats.weights = weights[i];
                w.formats.activations = cases[c].activations;
                w.formats.kv = cases[c].kv;
                const struct roof_prediction p = predict(w, device);
                assert_int_equal(p.compute, cases[c].compute);
                assert_near(p.part[0].peak_flops_per_s, cases[c].compute == P(FP16) ? 1e12 : 2e12,
                            EXACT);
                assert_true(p.native);
            }
        }
    }
    roof_hardware_free(device);
}

/* fp64 has no unit and nothing to fall back to. */
static void test_missing_peak(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_prediction p = predict(
        in(workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 100, .n = 100, .k = 100)), P(FP64)), device);
    assert_true(isnan(p.compute_time_s) && isnan(p.peak_flops_per_s) && isnan(p.ridge) &&
                isnan(p.fraction_of_peak));
    assert_false(p.native);
    assert_near(p.memory_time_s, 240000 / 100e9, TIGHT); /* 3 x 10^4 x 8 bytes */
    assert_near(p.time_s, p.memory_time_s, EXACT);
    assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_MEMORY);
    assert_true(isnan(p.attainable_flops_per_s)); /* the memory alone says nothing of FLOPs */
    roof_hardware_free(device);

    /* Vector operators without a vector peak: their bytes still take time. */
    struct roof_hardware *const plain = parse_device(NO_VECTOR);
    static const enum roof_operator ops[] = {ROOF_OPERATOR_RMSNORM, ROOF_OPERATOR_LAYERNORM,
                                             ROOF_OPERATOR_ADD,     ROOF_OPERATOR_SILU_MUL,
                                             ROOF_OPERATOR_GELU,    ROOF_OPERATOR_QUANTIZE};
    for (size_t i = 0; i < COUNT(ops); i++) {
        const struct roof_prediction v =
            predict(workload(ops[i], SHAPE(.tokens = 10, .hidden = 100)), plain);
        assert_true(isnan(v.compute_time_s) && isnan(v.peak_flops_per_s) && isnan(v.ridge));
        assert_near(v.time_s, v.bytes / 100e9, EXACT);
        assert_int_equal(v.bottleneck, ROOF_BOTTLENECK_MEMORY);
    }
    /* A composite with such a part has no compute time either. */
    const struct roof_prediction attention = predict(
        workload(ROOF_OPERATOR_ATTENTION, SHAPE(.heads = 2, .head_dim = 8, .kv_len = 9)), plain);
    assert_true(isnan(attention.compute_time_s));
    assert_true(isfinite(attention.time_s));
    /* No FLOPs take no time, even at an unknown peak. */
    const struct roof_prediction look_up =
        predict(workload(ROOF_OPERATOR_EMBEDDING, SHAPE(.tokens = 1, .hidden = 8)), plain);
    assert_near(look_up.compute_time_s, 0, EXACT);
    roof_hardware_free(plain);
}

/* Mistake: norms, activations and softmax at the tensor-core peak. They run at fp32, 0.1 TFLOP/s,
 * whatever their formats are. */
static void test_vector_operators(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    random_state = 12;
    int seen = 0;
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const enum roof_operator id = (enum roof_operator)op;
        if (roof_operator_row(id)->kind != ROOF_KIND_VECTOR) {
            continue;
        }
        static const enum roof_precision formats[] = {P(FP16), P(FP8_E4M3), P(NVFP4), P(BF16)};
        for (size_t i = 0; i < COUNT(formats); i++) {
            const struct roof_workload w = in(workload(id, random_shape(id)), formats[i]);
            const struct roof_prediction p = predict(w, device);
            assert_int_equal(p.unit, ROOF_COMPUTE_VECTOR);
            assert_int_equal(p.compute, P(FP32));
            assert_near(p.peak_flops_per_s, 0.1e12, EXACT);
            assert_near(p.compute_time_s, p.flops / 0.1e12, EXACT);
            assert_near(p.ridge, 1, EXACT);
            assert_true(p.native);
        }
        seen++;
    }
    assert_true(seen >= 11);
    /* 1.25 FLOP/byte is above the ridge point of 1, and below the matrix unit's 10. */
    const struct roof_prediction norm =
        predict(workload(ROOF_OPERATOR_RMSNORM, SHAPE(.tokens = 100, .hidden = 100)), device);
    assert_int_equal(norm.bottleneck, ROOF_BOTTLENECK_COMPUTE);
    assert_near(norm.time_s, 5e4 / 0.1e12, TIGHT);
    roof_hardware_free(device);
}

/* fp16 has a sparse peak of 2 TFLOP/s; fp8 stays at its dense one. Of 100 weights 50 are kept, with
 * 2 bits each: 12.5 bytes beside 100 in fp16 and 50 in fp8. Weights in other formats are refused.
 */
static void test_sparse(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_precision precision;
        double dense, sparse;
        double weights; /* bytes of pruned ones; 0: refused */
        bool used;      /* whether there is a sparse peak */
    } cases[] = {{P(FP16), 1e12, 2e12, 112.5, true},
                 {P(FP8_E4M3), 2e12, 2e12, 62.5, false},
                 {P(MXFP4), 1e12, 2e12, 0, false},
                 {P(NVFP4), 4e12, 4e12, 0, false},
                 {P(FP32), 0.1e12, 0.1e12, 0, false}};
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_workload w =
            in(workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 10, .n = 10, .k = 10)), cases[i].precision);
        const struct roof_prediction dense = predict(w, device);
        w.sparse = 1;
        if (cases[i].weights == 0) {
            struct roof_prediction refused;
            assert_int_equal(roof_predict(&refused, &w, device, NULL), ROOF_USAGE);
            continue;
        }
        const struct roof_prediction sparse = predict(w, device);
        assert_near(dense.peak_flops_per_s, cases[i].dense, EXACT);
        assert_near(sparse.peak_flops_per_s, cases[i].sparse, EXACT);
        assert_near(sparse.compute_time_s, 2000 / cases[i].sparse, TIGHT);
        assert_near(sparse.role_bytes[ROOF_ROLE_WEIGHTS], cases[i].weights, EXACT);
        assert_near(sparse.bytes - cases[i].weights,
                    dense.bytes - dense.role_bytes[ROOF_ROLE_WEIGHTS], EXACT);
        assert_false(dense.sparse);
        assert_int_equal(sparse.sparse, cases[i].used);
    }
    roof_hardware_free(device);
}

/* --- composites ---------------------------------------------------------------------------- */

static void test_composite_is_the_sum_of_its_parts(void **unused)
{
    (void)unused;
    static const enum roof_operator ops[] = {ROOF_OPERATOR_ATTENTION_SCORES, ROOF_OPERATOR_SOFTMAX,
                                             ROOF_OPERATOR_ATTENTION_VALUES};
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    random_state = 13;
    for (int i = 0; i < 300; i++) {
        const struct roof_workload w =
            in(workload(ROOF_OPERATOR_ATTENTION, random_shape(ROOF_OPERATOR_ATTENTION)),
               i % 2 == 0 ? P(FP16) : P(FP32)); /* all tensors alike: the parts are themselves */
        const struct roof_prediction whole = predict(w, device);
        double time = 0;
        double flops = 0;
        double bytes = 0;
        double memory = 0;
        double compute = 0;
        double share[ROOF_BOTTLENECK_COUNT] = {0};
        assert_int_equal(whole.part_count, 3);
        for (int part = 0; part < 3; part++) {
            struct roof_workload alone = w;
            alone.op = ops[part];
            const struct roof_prediction p = predict(alone, device);
            assert_int_equal(whole.part[part].op, ops[part]);
            assert_near(whole.part[part].time_s, p.time_s, EXACT);
            assert_near(whole.part[part].peak_flops_per_s, p.peak_flops_per_s, EXACT);
            assert_int_equal(whole.part[part].bottleneck, p.bottleneck);
            time += p.time_s;
            flops += p.flops;
            bytes += p.bytes;
            memory += p.memory_time_s;
            compute += p.compute_time_s;
            share[p.bottleneck] += p.time_s;
        }
        assert_near(whole.time_s, time, EXACT);
        assert_near(whole.flops, flops, EXACT);
        assert_near(whole.bytes, bytes, EXACT);
        assert_near(whole.memory_time_s, memory, EXACT);
        assert_near(whole.compute_time_s, compute, EXACT);
        assert_near(whole.attainable_flops_per_s, flops / time, EXACT);
        assert_true(isnan(whole.peak_flops_per_s) && isnan(whole.ridge) &&
                    isnan(whole.fraction_of_peak));
        assert_int_equal(whole.bottleneck,
                         share[ROOF_BOTTLENECK_COMPUTE] > share[ROOF_BOTTLENECK_MEMORY]
                             ? ROOF_BOTTLENECK_COMPUTE
                             : ROOF_BOTTLENECK_MEMORY);
    }
    roof_hardware_free(device);
}

/*
 * One query, 64 heads of 1 element over one KV head, 1000 keys: the products take 128000 + 2000 +
 * 128 bytes each, 1.30128 us, both memory-bound. The softmax takes 5 x 64000 FLOPs at 0.1 TFLOP/s,
 * 3.2 us: one part of three, but the largest share of time.
 */
static void test_composite_bottleneck_is_the_largest_share(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_shape shape = {.heads = 64, .kv_heads = 1, .head_dim = 1, .kv_len = 1000};
    struct roof_prediction p = predict(workload(ROOF_OPERATOR_ATTENTION, shape), device);
    assert_int_equal(p.part[0].bottleneck, ROOF_BOTTLENECK_MEMORY);
    assert_int_equal(p.part[1].bottleneck, ROOF_BOTTLENECK_COMPUTE);
    assert_int_equal(p.part[2].bottleneck, ROOF_BOTTLENECK_MEMORY);
    assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_COMPUTE);
    assert_near(p.time_s, 2 * 1.30128e-6 + 3.2e-6, TIGHT);
    /* A time is a sum of maxima, not the maximum of sums. */
    assert_true(p.time_s > fmax(p.memory_time_s, p.compute_time_s));

    shape.kv_heads = 64; /* K and V of 128 elements outweigh it */
    shape.head_dim = 128;
    p = predict(workload(ROOF_OPERATOR_ATTENTION, shape), device);
    assert_int_equal(p.part[1].bottleneck, ROOF_BOTTLENECK_COMPUTE);
    assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_MEMORY);
    roof_hardware_free(device);
}

/*
 * Four queries over four keys, one head of one element: each product moves 8 + 8 + 32 bytes, half a
 * nanosecond at 96 GB/s, and the softmax has 5 x 16 FLOPs, a nanosecond at 80 GFLOP/s. Of equal
 * shares the first counts, which is that of memory.
 */
static void test_composite_with_equal_shares(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    assert_int_equal(roof_hardware_set(device, "bandwidth_gb_s=96", NULL), ROOF_OK);
    assert_int_equal(roof_hardware_set(device, "vector_tflops.fp32=0.08", NULL), ROOF_OK);
    const struct roof_prediction p =
        predict(workload(ROOF_OPERATOR_ATTENTION,
                         SHAPE(.heads = 1, .head_dim = 1, .query_len = 4, .kv_len = 4)),
                device);
    assert_int_equal(p.part[1].bottleneck, ROOF_BOTTLENECK_COMPUTE);
    assert_near(p.part[1].time_s, 1e-9, TIGHT);
    assert_near(p.part[0].time_s + p.part[2].time_s, p.part[1].time_s, EXACT);
    assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_MEMORY);
    roof_hardware_free(device);
}

/* --- collectives --------------------------------------------------------------------------- */

static void test_network(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    static const struct {
        int64_t devices;
        double network_bytes, link;
        enum roof_figure_id figure;
    } cases[] = {
        /* 10^6 elements of 2 bytes; 2 (p - 1) / p of them; 10 GB/s inside a node of 2, 1 across. */
        {2, 2e6, 10e9, ROOF_FIGURE_LINK},
        {3, 8e6 / 3, 1e9, ROOF_FIGURE_NETWORK},
        {4, 3e6, 1e9, ROOF_FIGURE_NETWORK},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_prediction p =
            predict(workload(ROOF_OPERATOR_ALL_REDUCE,
                             SHAPE(.elements = 1000000, .devices = cases[i].devices)),
                    device);
        assert_near(p.network_bytes, cases[i].network_bytes, TIGHT);
        assert_near(p.link.bytes_per_s, cases[i].link, EXACT);
        assert_ptr_equal(p.link.figure, &device->figure[cases[i].figure]);
        assert_near(p.network_time_s, cases[i].network_bytes / cases[i].link, TIGHT);
        assert_near(p.memory_time_s, 4e6 / 100e9, TIGHT);
        assert_near(p.time_s, p.network_time_s, EXACT);
        assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_NETWORK);
    }
    /* A group of one sends nothing. */
    const struct roof_prediction alone = predict(
        workload(ROOF_OPERATOR_ALL_REDUCE, SHAPE(.elements = 1000000, .devices = 1)), device);
    assert_near(alone.network_bytes, 0, EXACT);
    assert_near(alone.network_time_s, 0, EXACT);
    assert_near(alone.time_s, alone.memory_time_s, EXACT);
    assert_int_equal(alone.bottleneck, ROOF_BOTTLENECK_MEMORY);
    /* One element of one byte among 2: half a FLOP, and one byte sent. */
    const struct roof_prediction least = predict(
        in(workload(ROOF_OPERATOR_ALL_REDUCE, SHAPE(.elements = 1, .devices = 2)), P(FP8_E4M3)),
        device);
    assert_near(least.compute_time_s, 0.5 / 0.1e12, TIGHT);
    assert_near(least.network_time_s, 1 / 10e9, TIGHT);
    assert_near(least.time_s, 1 / 10e9, TIGHT);
    /* One-shot among 2: the whole tensor once, as many bytes as the ring. */
    struct roof_workload w =
        workload(ROOF_OPERATOR_ALL_REDUCE,
                 SHAPE(.elements = 1000000, .devices = 2, .algorithm = ROOF_ALGORITHM_ONE_SHOT));
    assert_near(predict(w, device).network_time_s, 2e6 / 10e9, TIGHT);
    roof_hardware_free(device);
}

/*
 * The largest of all three. One-shot among 2 devices at fp16: n FLOPs at 0.1 TFLOP/s, 4n bytes at
 * 100 GB/s, 2n bytes over the link: compute is 10 ps per element, memory 40, network 2n / link.
 */
static void test_network_only_when_it_is_the_largest(void **unused)
{
    (void)unused;
    static const struct {
        const char *set;
        double time;
        enum roof_bottleneck bottleneck;
    } cases[] = {{"link_gb_s=10", 200e-9, ROOF_BOTTLENECK_NETWORK},
                 {"link_gb_s=51", 40e-9, ROOF_BOTTLENECK_MEMORY},
                 {"link_gb_s=50", 40e-9, ROOF_BOTTLENECK_MEMORY}, /* equal: not more */
                 {"vector_tflops.fp32=0.001", 1000e-9, ROOF_BOTTLENECK_COMPUTE}};
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_workload w =
        workload(ROOF_OPERATOR_ALL_REDUCE,
                 SHAPE(.elements = 1000, .devices = 2, .algorithm = ROOF_ALGORITHM_ONE_SHOT));
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(roof_hardware_set(device, cases[i].set, NULL), ROOF_OK);
        const struct roof_prediction p = predict(w, device);
        assert_near(p.time_s, cases[i].time, TIGHT);
        assert_int_equal(p.bottleneck, cases[i].bottleneck);
    }
    roof_hardware_free(device);
}

#define DEVICE(more)                                                                               \
    "{\"id\": \"d\", \"bandwidth_gb_s\": 100, \"vector_tflops\": {\"fp32\": 1}" more "}"

/* Which link, and which figure is missing: unknown is refused, not guessed. */
static void test_links(void **unused)
{
    (void)unused;
    static const struct {
        const char *device;
        int64_t devices;
        double link;         /* 0: refused; NAN: any */
        const char *missing; /* the key that the message names */
    } cases[] = {
        {DEVICE(", \"link_gb_s\": 10"), 8, 10e9, NULL}, /* the size of a node is unknown */
        {DEVICE(", \"link_gb_s\": 10, \"devices_per_node\": 4"), 4, 10e9, NULL},
        {DEVICE(", \"link_gb_s\": 10, \"devices_per_node\": 4"), 5, 0, "network_gb_s"},
        {DEVICE(", \"network_gb_s\": 1, \"devices_per_node\": 4"), 4, 0, "link_gb_s"},
        {DEVICE(", \"network_gb_s\": 1, \"devices_per_node\": 1"), 2, 1e9, NULL},
        {DEVICE(""), 2, 0, "link_gb_s"},
        {DEVICE(""), 1, ROOF_UNKNOWN, NULL}, /* nothing to send: no link is needed */
        /* The slower of the two across nodes. */
        {DEVICE(", \"link_gb_s\": 10, \"network_gb_s\": 1, \"devices_per_node\": 2"), 3, 1e9, NULL},
        {DEVICE(", \"link_gb_s\": 1, \"network_gb_s\": 10, \"devices_per_node\": 2"), 3, 1e9, NULL},
        {DEVICE(", \"link_gb_s\": 1, \"network_gb_s\": 10, \"devices_per_node\": 2"), 2, 1e9, NULL},
    };
    static const enum roof_operator ops[] = {ROOF_OPERATOR_ALL_REDUCE, ROOF_OPERATOR_ALL_GATHER,
                                             ROOF_OPERATOR_REDUCE_SCATTER,
                                             ROOF_OPERATOR_ALL_TO_ALL};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const device = parse_device(cases[i].device);
        for (size_t o = 0; o < COUNT(ops); o++) {
            const struct roof_workload w =
                workload(ops[o], SHAPE(.elements = 1000, .devices = cases[i].devices));
            struct roof_prediction p;
            struct roof_error error = {0};
            const enum roof_status status = roof_predict(&p, &w, device, &error);
            if (cases[i].missing == NULL) {
                assert_int_equal(status, ROOF_OK);
                assert_true(p.link.bytes_per_s == cases[i].link || isnan(cases[i].link));
            } else {
                assert_int_equal(status, ROOF_USAGE);
                assert_non_null(strstr(error.message, cases[i].missing));
                assert_non_null(strstr(error.message, "with set "));
            }
        }
        roof_hardware_free(device);
    }
}

/* --- measured times ------------------------------------------------------------------------ */

/* 100 x 100 x 100 on 100 GB/s and 1 TFLOP/s: 2e6 FLOPs, 2 us, and 60000 bytes, 0.6 us. */
static void test_measured(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_prediction p =
        predict(workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 100, .n = 100, .k = 100)), device);
    assert_near(p.time_s, 2e-6, TIGHT);
    roof_predict_measured(&p, 8e-6);
    assert_near(p.measured_s, 8e-6, EXACT);
    assert_near(p.achieved_flops_per_s, 0.25e12, TIGHT);
    assert_near(p.achieved_bytes_per_s, 7.5e9, TIGHT);
    assert_near(p.fraction_of_bound, 0.25, TIGHT);
    assert_near(p.time_s, 2e-6, TIGHT); /* the bound stays what it was */
    roof_predict_measured(&p, 1e-6);
    assert_near(p.fraction_of_bound, 2, TIGHT);
    roof_hardware_free(device);
}

/* --- laws ---------------------------------------------------------------------------------- */

/* Every figure doubled: every time is halved, to the last bit. */
#define SYNTHETIC_TWICE                                                                            \
    "{\"id\": \"twice\", \"bandwidth_gb_s\": 200,"                                                 \
    " \"peak_tflops\": {\"fp16\": 2, \"fp8\": 4, \"int8\": 4, \"nvfp4\": 8},"                      \
    " \"sparse_tflops\": {\"fp16\": 4},"                                                           \
    " \"vector_tflops\": {\"fp32\": 0.2},"                                                         \
    " \"devices_per_node\": 2, \"link_gb_s\": 20, \"network_gb_s\": 2}"

static void test_twice_the_device_takes_half_the_time(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_hardware *const twice = parse_device(SYNTHETIC_TWICE);
    random_state = 14;
    for (int i = 0; i < 1000; i++) {
        const struct roof_workload w =
            random_workload((enum roof_operator)(i % ROOF_OPERATOR_COUNT));
        const struct roof_prediction slow = predict(w, device);
        const struct roof_prediction fast = predict(w, twice);
        assert_near(fast.time_s, slow.time_s / 2, EXACT);
        assert_near(fast.memory_time_s, slow.memory_time_s / 2, EXACT);
        assert_int_equal(fast.bottleneck, slow.bottleneck);
        assert_int_equal(isnan(fast.ridge), isnan(slow.ridge));
        if (!isnan(slow.ridge)) {
            assert_near(fast.ridge, slow.ridge, EXACT);
        }
    }
    roof_hardware_free(device);
    roof_hardware_free(twice);
}

/* The other laws, on every embedded device. */
struct devices {
    struct roof_hardware *device[100];
    size_t count;
};

static void load_all(struct devices *all)
{
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 0;
    assert_int_equal(roof_hardware_ids(&ids, &count, NULL, NULL), ROOF_OK);
    assert_non_null(ids.data);
    assert_in_range(count, 40, COUNT(all->device));
    const char *id = ids.data;
    all->count = 0;
    for (size_t i = 0; i < count; i++) {
        all->device[all->count++] = load_device(id);
        id += strlen(id) + 1;
    }
    roof_text_free(&ids);
}

static void free_all(struct devices *all)
{
    for (size_t i = 0; i < all->count; i++) {
        roof_hardware_free(all->device[i]);
    }
}

/* Doubling the devices of a group shrinks each one's share: those bytes may fall. */
static bool grows_with(enum roof_operator op, enum roof_dimension dimension)
{
    return dimension != ROOF_DIM_EP && dimension != ROOF_DIM_COMPRESSION &&
           roof_dimensions[dimension].kind == ROOF_INPUT_INTEGER &&
           !(dimension == ROOF_DIM_DEVICES &&
             (op == ROOF_OPERATOR_ALL_GATHER || op == ROOF_OPERATOR_REDUCE_SCATTER));
}

/* Mistakes: predictions faster than light; times that fall when work grows. */
static void test_bounds_and_growth(void **unused)
{
    (void)unused;
    const uint64_t seed = 0x5eed0001;
    static struct devices all;
    load_all(&all);
    random_state = seed;
    int doubled = 0;
    for (int i = 0; i < 2000; i++) {
        const struct roof_hardware *const device = all.device[pick(0, (int64_t)all.count - 1)];
        const enum roof_operator op = (enum roof_operator)(i % ROOF_OPERATOR_COUNT);
        const struct roof_operator_row *const row = roof_operator_row(op);
        const struct roof_workload w = random_workload(op);
        const double bandwidth = device->figure[ROOF_FIGURE_BANDWIDTH].value;
        struct roof_prediction p;
        struct roof_error error = {0};
        const enum roof_status status = roof_predict(&p, &w, device, &error);
        char here[200];
        snprintf(here, sizeof here, "seed %#llx, case %d, %s on %s", (unsigned long long)seed, i,
                 row->name, device->id);
        if (status != ROOF_OK) {
            if (row->kind != ROOF_KIND_COLLECTIVE || strstr(error.message, "with set ") == NULL) {
                fail_msg("%s: %s", here, error.message);
            }
            continue;
        }
        if (!isfinite(p.time_s) || !(p.time_s > 0) || !isfinite(p.flops) || !(p.bytes > 0) ||
            p.flops < 0) {
            fail_msg("%s: %g FLOPs, %g bytes, %g s", here, p.flops, p.bytes, p.time_s);
        }
        if (p.time_s < p.bytes / bandwidth * (p.part_count > 1 ? 1 - TIGHT : 1)) {
            fail_msg("%s: %.17g s is faster than %.17g bytes at %g byte/s", here, p.time_s, p.bytes,
                     bandwidth);
        }
        if (p.compute_time_s > p.time_s || p.network_time_s > p.time_s ||
            p.attainable_flops_per_s > p.peak_flops_per_s ||
            p.fraction_of_peak > 1) { /* comparisons with NAN are false */
            fail_msg("%s: faster than a part of it", here);
        }
        for (int d = 0; d < row->dim_count; d++) {
            const struct roof_input *const input = &roof_dimensions[row->dims[d]];
            struct roof_workload more = p.workload;
            roof_input_put(&more, input, 2 * roof_input_get(&more, input));
            struct roof_prediction q;
            if (!grows_with(op, row->dims[d]) || roof_predict(&q, &more, device, NULL) != ROOF_OK) {
                continue; /* such as more KV heads than heads, or more queries than keys */
            }
            if (!(q.time_s >= p.time_s * (1 - TIGHT)) || !(q.flops >= p.flops * (1 - TIGHT)) ||
                !(q.bytes >= p.bytes * (1 - TIGHT))) {
                fail_msg("%s: with twice the --%s %.17g s after %.17g s", here, input->option,
                         q.time_s, p.time_s);
            }
            doubled++;
        }
    }
    assert_true(doubled > 3000);
    free_all(&all);
}

/* --- the figures that must hold ------------------------------------------------------------ */

/* GB10 as the documents specify it: 287 GB/s. Each figure by its own formula. */
static void test_gemv_on_gb10(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_precision precision;
        double bytes; /* 4096 x 4096 weights, 4096 inputs, 4096 outputs of 2 bytes */
        double time_us;
    } cases[] = {
        {P(FP16), 33570816, 116.97},                               /* 33554432 + 8192 + 8192 */
        {P(FP8_E4M3), 16789504, 58.50},                            /* 16777216 + 4096 + 8192 */
        {P(INT8), 16789504, 58.50},     {P(INT4), 8398848, 29.26}, /* 8388608 + 2048 + 8192 */
        {P(NVFP4), 9447688, 32.92},                                /* 9437184 + 4, 2304 + 4, 8192 */
    };
    struct roof_hardware *const gb10 = load_device("gb10");
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_prediction p = predict(
            in(workload(ROOF_OPERATOR_GEMV, SHAPE(.n = 4096, .k = 4096)), cases[i].precision),
            gb10);
        assert_near(p.flops, 33554432, EXACT);
        assert_near(p.bytes, cases[i].bytes, EXACT);
        assert_near(p.time_s, cases[i].bytes / 287e9, TIGHT);
        assert_true(fabs(1e6 * p.time_s - cases[i].time_us) < 0.005);
        assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_MEMORY);
        assert_true(p.native);
    }
    const struct roof_prediction p =
        predict(workload(ROOF_OPERATOR_GEMV, SHAPE(.n = 4096, .k = 4096)), gb10);
    assert_true(fabs(p.intensity - 0.9995) < 0.00005);
    roof_hardware_free(gb10);
}

static void test_ridge_points(void **unused)
{
    (void)unused;
    static const struct {
        const char *device;
        const char *set; /* or NULL */
        enum roof_precision precision;
        double ridge; /* TFLOP/s over TB/s */
        double within;
    } cases[] = {
        {"gb10", NULL, P(FP32), 108.0, 0.05},       /* 31 / 0.287 */
        {"gb10", NULL, P(FP16), 216.0, 0.05},       /* 62 / 0.287 */
        {"gb10", NULL, P(FP8_E4M3), 432.1, 0.05},   /* 124 / 0.287 */
        {"gb10", NULL, P(INT4), 864.1, 0.05},       /* 248 / 0.287 */
        {"gb10", NULL, P(NVFP4), 3484.3, 0.05},     /* 1000 / 0.287 */
        {"gb200", NULL, P(FP16), 281.25, TIGHT},    /* 2250 / 8 */
        {"gb200", NULL, P(FP8_E4M3), 562.5, TIGHT}, /* 4500 / 8 */
        {"gb200", NULL, P(NVFP4), 1125, TIGHT},     /* 9000 / 8 */
        {"a100", "bandwidth_gb_s=2000", P(INT8), 312, TIGHT},
        {"a100", "bandwidth_gb_s=2000", P(FP16), 156, TIGHT},
        {"a100", "bandwidth_gb_s=2000", P(FP32), 9.75, TIGHT}, /* the vector unit: 19.5 / 2 */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const device = load_device(cases[i].device);
        if (cases[i].set != NULL) {
            assert_int_equal(roof_hardware_set(device, cases[i].set, NULL), ROOF_OK);
        }
        const struct roof_prediction p = predict(
            in(workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 8, .n = 8, .k = 8)), cases[i].precision),
            device);
        if (!(fabs(p.ridge - cases[i].ridge) <=
              cases[i].within * (cases[i].within < 1e-6 ? cases[i].ridge : 1))) {
            fail_msg("row %zu: %s has ridge point %.17g, expected %g", i, device->id, p.ridge,
                     cases[i].ridge);
        }
        assert_true(p.native);
        roof_hardware_free(device);
    }
    /* fp64: a gemm has the matrix unit, 19.5 / 2; the vector unit's point is 9.7 / 2. */
    struct roof_hardware *const a100 = load_device("a100");
    assert_int_equal(roof_hardware_set(a100, "bandwidth_gb_s=2000", NULL), ROOF_OK);
    const double bandwidth = a100->figure[ROOF_FIGURE_BANDWIDTH].value;
    assert_near(a100->peak[ROOF_PEAK_VECTOR][P(FP64)].value / bandwidth, 4.85, TIGHT);
    assert_near(a100->peak[ROOF_PEAK_VECTOR][P(FP32)].value / bandwidth, 9.75, TIGHT);
    assert_near(
        predict(in(workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 8, .n = 8, .k = 8)), P(FP64)), a100)
            .ridge,
        9.75, TIGHT);
    roof_hardware_free(a100);
}

/* 2 n^3 / (3 n^2 x 2 bytes) = n / 3. */
static void test_square_gemm(void **unused)
{
    (void)unused;
    struct roof_hardware *const gb10 = load_device("gb10");
    const struct roof_prediction p =
        predict(workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 4096, .n = 4096, .k = 4096)), gb10);
    assert_true(fabs(p.intensity - 1365.3) < 0.05);
    assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_COMPUTE);
    assert_near(p.time_s, 2.0 * 4096 * 4096 * 4096 / 62e12, TIGHT);
    roof_hardware_free(gb10);
}

/*
 * q_b_proj of DeepSeek-R1 at 128 tokens: weights 24576 x 1536 / 2 = 18874368 bytes, inputs 393216,
 * outputs 6291456. Converted to FP4 in the kernel it is memory-bound, at fp16 compute-bound.
 */
static void test_fp4_gemm_on_gb200(void **unused)
{
    (void)unused;
    struct roof_hardware *const gb200 = load_device("gb200");
    struct roof_workload w = workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 128, .n = 24576, .k = 1536));
    w.formats.weights = P(INT4);
    w.formats.activations = P(FP16);
    w.formats.compute = P(NVFP4);
    struct roof_prediction p = predict(w, gb200);
    assert_near(p.bytes, 25559040, EXACT);
    assert_near(p.flops, 9663676416, EXACT);
    assert_true(fabs(p.intensity - 378.1) < 0.05);
    assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_MEMORY);
    assert_true(fabs(p.attainable_flops_per_s / 1e12 - 3024.7) < 0.05);
    assert_near(p.peak_flops_per_s, 9000e12, EXACT);
    w.formats.compute = P(AUTO);
    p = predict(w, gb200);
    assert_near(p.bytes, 25559040, EXACT);
    assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_COMPUTE);
    assert_near(p.attainable_flops_per_s, 2250e12, EXACT);
    assert_int_equal(p.compute, P(FP16));

    /* The limits that more rows tend to: 2 n k / (2 (n + k)) FLOPs per byte. */
    w.shape.m = 1000000000;
    assert_near(predict(w, gb200).intensity, 24576.0 * 1536 / (24576 + 1536), 1e-4);
    roof_hardware_free(gb200);
}

/* 128 x (64 x 128, 512 x 128): 8388608 + 1048576 bytes of FP8, and 4194304 outputs. */
static void test_fp8_bmm_on_gb200(void **unused)
{
    (void)unused;
    struct roof_hardware *const gb200 = load_device("gb200");
    struct roof_workload w = in(
        workload(ROOF_OPERATOR_BMM, SHAPE(.batch = 128, .m = 64, .n = 512, .k = 128)), P(FP8_E4M3));
    struct roof_prediction p = predict(w, gb200);
    assert_near(p.bytes, 8388608 + 1048576 + 2 * 4194304, EXACT);
    assert_true(fabs(p.intensity - 60.2) < 0.05);
    assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_MEMORY);
    w.formats.out = P(FP8_E4M3);
    p = predict(w, gb200);
    assert_near(p.bytes, 8388608 + 1048576 + 4194304, EXACT);
    assert_true(fabs(p.intensity - 78.8) < 0.05);
    assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_MEMORY);
    roof_hardware_free(gb200);
}

/* These figures of the source documents are right, as corrected for two bytes per element. */
static void test_intensities(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_operator op;
        struct roof_shape shape;
        double intensity;
        double within;
    } cases[] = {
        {ROOF_OPERATOR_RMSNORM, {.tokens = 64, .hidden = 512}, 5 / 4.0, TIGHT},
        {ROOF_OPERATOR_SILU_MUL, {.tokens = 64, .hidden = 512}, 4 / 6.0, TIGHT},
        {ROOF_OPERATOR_ADD, {.tokens = 64, .hidden = 512}, 1 / 6.0, TIGHT},
        {ROOF_OPERATOR_ROPE,
         {.tokens = 64, .heads = 32, .kv_heads = 8, .head_dim = 128},
         3 / 4.0,
         TIGHT},
        {ROOF_OPERATOR_SOFTMAX, {.heads = 8, .query_len = 64, .kv_len = 64}, 5 / 4.0, TIGHT},
        /* Decode: 4 d FLOPs per key and head, 4 d bytes per key and KV head. */
        {ROOF_OPERATOR_FLASH_ATTENTION, {.heads = 32, .head_dim = 128, .kv_len = 100000}, 1, 1e-4},
        {ROOF_OPERATOR_FLASH_ATTENTION,
         {.heads = 32, .kv_heads = 8, .head_dim = 128, .kv_len = 100000},
         4,
         1e-4},
        /* Prefill of P: P / (1 + 1), and half of the FLOPs with the mask. */
        {ROOF_OPERATOR_FLASH_ATTENTION,
         {.heads = 32, .head_dim = 128, .query_len = 2048, .kv_len = 2048},
         1024,
         TIGHT},
        {ROOF_OPERATOR_FLASH_ATTENTION,
         {.heads = 32, .head_dim = 128, .query_len = 2048, .kv_len = 2048, .causal = 1},
         512.25, /* 2049 / 4 */
         TIGHT},
        /* Q K^T at 2048: 2 x 2048 x 128 FLOPs over 2 x 2 x 128 + 2 x 2048 bytes per query. */
        {ROOF_OPERATOR_ATTENTION_SCORES,
         {.heads = 32, .head_dim = 128, .query_len = 2048, .kv_len = 2048},
         524288 / 4608.0, /* 113.8 */
         TIGHT},
        /* Feed-forward of 2048 tokens, d = 4096: 2 P d 4d over (P d + 4 d^2 + 4 P d) x 2 bytes. */
        {ROOF_OPERATOR_GEMM, {.m = 2048, .n = 16384, .k = 4096}, 16384 / 13.0, TIGHT}, /* 1260 */
    };
    struct roof_hardware *const gb10 = load_device("gb10");
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_prediction p = predict(workload(cases[i].op, cases[i].shape), gb10);
        if (fabs(p.intensity - cases[i].intensity) > cases[i].within * cases[i].intensity) {
            fail_msg("row %zu: %s has %.17g FLOP/byte, expected %g", i,
                     roof_operator_row(cases[i].op)->name, p.intensity, cases[i].intensity);
        }
    }
    roof_hardware_free(gb10);

    /* GB200, 8000 GB/s: 5/4 and 4/6 FLOP/byte are 10 and 5.33 TFLOPS of the 80 of its vector unit.
     */
    struct roof_hardware *const gb200 = load_device("gb200");
    const struct roof_prediction norm =
        predict(workload(ROOF_OPERATOR_RMSNORM, SHAPE(.tokens = 1, .hidden = 7168)), gb200);
    assert_near(norm.attainable_flops_per_s, 10e12, TIGHT);
    assert_near(norm.peak_flops_per_s, 80e12, EXACT);
    assert_int_equal(norm.bottleneck, ROOF_BOTTLENECK_MEMORY);
    const struct roof_prediction silu =
        predict(workload(ROOF_OPERATOR_SILU_MUL, SHAPE(.tokens = 1, .hidden = 7168)), gb200);
    assert_near(silu.attainable_flops_per_s, 16e12 / 3, TIGHT);
    roof_hardware_free(gb200);
}

/* Mistakes: sparse peaks as dense; peaks invented for units that a device does not have. */
static void test_dense_and_missing_units(void **unused)
{
    (void)unused;
    static const struct {
        const char *device;
        enum roof_precision precision;
        double peak; /* TFLOP/s, dense */
        bool native;
    } cases[] = {
        {"l40s", P(FP8_E4M3), 733, true},     /* 1466 with sparsity */
        {"h200-sxm", P(BF16), 989.4, true},   /* 1979 */
        {"gh200", P(BF16), 989.4, true},      /* 1979 */
        {"a100", P(FP8_E4M3), 312, false},    /* no FP8 unit: bf16 */
        {"a100", P(NVFP4), 312, false},       /* nor FP4 */
        {"h100", P(INT4), 1978.9, false},     /* INT8 */
        {"gb200", P(INT4), 5000, false},      /* INT8 */
        {"v100", P(BF16), 15.7, false},       /* fp32 on the vector unit */
        {"m4-max", P(FP8_E4M3), 18.4, false}, /* bf16 on the vector unit */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const device = load_device(cases[i].device);
        const struct roof_prediction p = predict(
            in(workload(ROOF_OPERATOR_GEMM, SHAPE(.m = 8, .n = 8, .k = 8)), cases[i].precision),
            device);
        if (fabs(p.peak_flops_per_s / 1e12 - cases[i].peak) > 1e-6 || p.native != cases[i].native) {
            fail_msg("%s at %s: %g TFLOP/s, native %d", cases[i].device,
                     roof_format(cases[i].precision)->name, p.peak_flops_per_s / 1e12, p.native);
        }
        roof_hardware_free(device);
    }
}

/* A look-up needs no unit, so none is missing; a format that only stores multiplies nothing. */
static void test_no_flops_and_no_products(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(NO_VECTOR);
    const struct roof_prediction p =
        predict(workload(ROOF_OPERATOR_EMBEDDING, SHAPE(.tokens = 1, .hidden = 1)), device);
    assert_true(p.native);
    assert_near(p.compute_time_s, 0, 0);
    struct roof_workload w = workload(ROOF_OPERATOR_GEMV, SHAPE(.n = 1, .k = 1));
    w.formats.compute = P(Q4_K);
    struct roof_prediction refused;
    struct roof_error error = {0};
    assert_int_equal(roof_predict(&refused, &w, device, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "compute: no unit"));
    roof_hardware_free(device);
}

/* --- what kernels are expected to take ----------------------------------------------------- */

#define EXPECTING                                                                                  \
    "{\"id\": \"e\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 1},"                     \
    " \"vector_tflops\": {\"fp32\": 0.1}, \"sm_count\": 10, \"boost_clock_mhz\": 1000,"            \
    " \"l2_bytes\": 1000000, \"devices_per_node\": 4, \"link_gb_s\": 10, \"network_gb_s\": 1}"

static void put(struct roof_kernel_fit *fit, const char *key, double value)
{
    size_t count = 0;
    const struct roof_parameter *const row = roof_kernel_parameters(fit->kernel, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(row[i].key, key) == 0) {
            fit->parameter[i] = value;
            return;
        }
    }
    fail_msg("%s has no %s", roof_kernel_name(fit->kernel), key);
}

/*
 * Collectives run over the link of the node: 2,000,000 bytes at half of 10 GB/s are 400 us, beside
 * 5 us of a launch. Between nodes nothing is known. At best they take as long as the whole link
 * needs: 200 us.
 */
static void test_expected_collectives(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_operator op;
        enum roof_kernel kernel;
        int64_t devices;
        double sent; /* of the buffer, as the parameters count it */
        double steps;
    } cases[] = {
        {ROOF_OPERATOR_ALL_REDUCE, ROOF_KERNEL_ALL_REDUCE, 2, 1, 2},
        {ROOF_OPERATOR_ALL_REDUCE, ROOF_KERNEL_ALL_REDUCE, 4, 1, 6},
        {ROOF_OPERATOR_ALL_GATHER, ROOF_KERNEL_ALL_GATHER, 2, 0.5, 1},
        {ROOF_OPERATOR_REDUCE_SCATTER, ROOF_KERNEL_REDUCE_SCATTER, 4, 0.5, 3},
        {ROOF_OPERATOR_ALL_TO_ALL, ROOF_KERNEL_ALL_TO_ALL, 4, 0.5, 2},
        {ROOF_OPERATOR_SEND, ROOF_KERNEL_ALL_TO_ALL, 0, 1, 1},
    };
    struct roof_hardware *const device = parse_device(EXPECTING);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_kernel_fit fit = {.kernel = cases[i].kernel, .low = 0.75, .high = 1.5};
        struct roof_calibration calibration = {.id = "e", .fit = &fit, .count = 1};
        struct roof_workload w = workload(
            cases[i].op, SHAPE(.elements = 1000000, .devices = cases[i].devices, .within = 0));
        const double moved = cases[i].sent * 400e-6;
        device->calibration = &calibration;
        put(&fit, "launch_clocks", 5000);
        put(&fit, "link", 0.5);
        put(&fit, "short", 1);
        put(&fit, "long_clocks", 1e12);
        struct roof_prediction p = predict(w, device);
        /* No less than the ideal. */
        const double expected = fmax(moved, p.time_s) + 5e-6;
        assert_near(p.expected_s, expected, TIGHT);
        assert_near(p.expected_low_s, fmax(0.75 * expected, p.time_s), TIGHT);
        assert_near(p.expected_high_s, 1.5 * expected, TIGHT);
        assert_int_equal(p.bottleneck, ROOF_BOTTLENECK_NETWORK);
        assert_int_equal(p.expected_bottleneck, ROOF_BOTTLENECK_NETWORK);
        /* Steps that wait for each other. */
        put(&fit, "step_clocks", 1e6);
        p = predict(w, device);
        assert_near(p.expected_s, moved + cases[i].steps * 1e-3 + 5e-6, TIGHT);
        assert_int_equal(p.expected_bottleneck, ROOF_BOTTLENECK_OVERHEAD);
        put(&fit, "step_clocks", 0);
        put(&fit, "launch_clocks", 1e7);
        p = predict(w, device);
        assert_near(p.expected_s, fmax(moved, p.time_s) + 10e-3, TIGHT);
        assert_int_equal(p.expected_bottleneck, ROOF_BOTTLENECK_OVERHEAD);
        /* Beyond the node. */
        w.shape.within = 5;
        w.shape.devices = cases[i].devices > 0 ? 5 : 0;
        p = predict(w, device);
        assert_ptr_equal(p.link.figure, &device->figure[ROOF_FIGURE_NETWORK]);
        /* The bytes take their bandwidth, and 5 us per hop of the two nodes: up and down a tree. */
        const double hops = cases[i].op == ROOF_OPERATOR_ALL_REDUCE ? 2 : 1;
        const double outside = cases[i].sent * 2e6 / (0.5 * p.link.bytes_per_s) + hops * 5e-6;
        assert_near(p.expected_s, fmax(outside, p.time_s) + 10e-3, TIGHT);
        assert_true(p.expected_near); /* it was not measured */
        assert_near(p.expected_low_s, fmax(0.75 / 2 * p.expected_s, p.time_s), TIGHT);
        assert_near(p.expected_high_s, 1.5 * 2 * p.expected_s, TIGHT);
        /* Three nodes take as many hops as the logarithm says, of the latency that is given; the
         * two of a send lie in no more than two. */
        const double spanned = cases[i].devices > 0 ? 3 : 2;
        w.shape.within = 9;
        assert_int_equal(roof_hardware_set(device, "network_latency_us=300", NULL), ROOF_OK);
        p = predict(w, device);
        const double farther = outside + hops * (log2(spanned) * 300e-6 - 5e-6);
        assert_near(p.expected_s, fmax(farther, p.time_s) + 10e-3, TIGHT);
        device->figure[ROOF_FIGURE_NETWORK_LATENCY].value = ROOF_UNKNOWN;
    }
    device->calibration = NULL;
    roof_hardware_free(device);
}

/* Attention in three steps: the sum of the parts, bound by what takes most of it; unknown with one
 * of them. */
static void test_expected_composite(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(EXPECTING);
    struct roof_kernel_fit fit[] = {{.kernel = ROOF_KERNEL_BMM, .low = 0.5, .high = 2},
                                    {.kernel = ROOF_KERNEL_ACTIVATION, .low = 0.8, .high = 1.25}};
    struct roof_calibration calibration = {.id = "e", .fit = fit, .count = COUNT(fit)};
    const struct roof_workload w =
        workload(ROOF_OPERATOR_ATTENTION, SHAPE(.batch = 1, .heads = 4, .kv_heads = 2,
                                                .head_dim = 8, .query_len = 1, .kv_len = 10));
    static const char *const rates[] = {"dram", "feed_bytes_per_clock", "stream", "reduce",
                                        "epilogue"};
    device->calibration = &calibration;
    assert_int_equal(roof_hardware_set(device, "peak_tflops.fp16=100000", NULL), ROOF_OK);
    put(&fit[0], "peak", 1);
    for (size_t i = 0; i < COUNT(rates); i++) {
        put(&fit[0], rates[i], 1e12);
    }
    put(&fit[0], "launch_clocks", 1e6);
    put(&fit[1], "launch_clocks", 1e7);
    put(&fit[1], "dram", 1e12);
    put(&fit[1], "l2_rate", 1);
    struct roof_prediction p = predict(w, device);
    assert_int_equal(p.part_count, 3);
    assert_near(p.expected_s, 12e-3 + p.time_s, TIGHT);
    /* No such kernel was measured: the bands are wider. */
    assert_near(p.expected_low_s, (2 * 0.5e-3 + 8e-3) / 1.25, 1e-3);
    assert_near(p.expected_high_s, (2 * 2e-3 + 12.5e-3) * 1.25, 1e-3);
    assert_int_equal(p.expected_bottleneck, ROOF_BOTTLENECK_OVERHEAD);
    /* Each of the two products moves 464 bytes in 4 ms, beside 10 ms of softmax; then in 6 ms. */
    put(&fit[0], "launch_clocks", 0);
    put(&fit[0], "dram", 464 / (100e9 * 4e-3));
    assert_int_equal(predict(w, device).expected_bottleneck, ROOF_BOTTLENECK_OVERHEAD);
    put(&fit[0], "dram", 464 / (100e9 * 6e-3));
    p = predict(w, device);
    assert_int_equal(p.expected_bottleneck, ROOF_BOTTLENECK_MEMORY);
    assert_true(p.part[0].expected.time_s < p.part[1].expected.time_s);
    assert_true(p.expected_near);
    /* One part without parameters. */
    calibration.count = 1;
    p = predict(w, device);
    assert_true(isnan(p.expected_s) && isnan(p.expected_low_s) && isnan(p.expected_high_s));
    assert_true(p.part[0].expected.time_s > 0 && p.time_s > 0);
    roof_hardware_free(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_sides_of_the_ridge),
        cmocka_unit_test(test_prediction_holds_together),
        cmocka_unit_test(test_bottleneck_names),
        cmocka_unit_test(test_no_flops_and_no_products),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_attention_runs_at_its_cache),
        cmocka_unit_test(test_missing_peak),
        cmocka_unit_test(test_vector_operators),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_composite_is_the_sum_of_its_parts),
        cmocka_unit_test(test_composite_bottleneck_is_the_largest_share),
        cmocka_unit_test(test_composite_with_equal_shares),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_network_only_when_it_is_the_largest),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_twice_the_device_takes_half_the_time),
        cmocka_unit_test(test_bounds_and_growth),
        cmocka_unit_test(test_gemv_on_gb10),
        cmocka_unit_test(test_ridge_points),
        cmocka_unit_test(test_square_gemm),
        cmocka_unit_test(test_fp4_gemm_on_gb200),
        cmocka_unit_test(test_fp8_bmm_on_gb200),
        cmocka_unit_test(test_intensities),
        cmocka_unit_test(test_dense_and_missing_units),
        cmocka_unit_test(test_expected_collectives),
        cmocka_unit_test(test_expected_composite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
