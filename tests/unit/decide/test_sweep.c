// SPDX-License-Identifier: MIT
/* Sweeps: order, slices, counts, and points that are the predictions they claim to be. */
#include "configs.h"
#include "models.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define OTHER                                                                                      \
    "{\"id\": \"other\", \"bandwidth_gb_s\": 50, \"peak_tflops\": {\"bf16\": 3},"                  \
    " \"vector_tflops\": {\"fp32\": 1}}"

/* Adds an axis from text, as the program does. */
static void add(struct roof_sweep *sweep, size_t id, const char *text)
{
    struct roof_values values = {0};
    struct roof_error error = {0};
    if (roof_input_parse_list(&values, roof_input(id), text, &error) != ROOF_OK ||
        roof_sweep_add(sweep, roof_input(id), &values, &error) != ROOF_OK) {
        fail_msg("--%s %s: %s", roof_input(id)->option, text, error.message);
    }
    assert_null(values.run); /* taken over */
}

static uint64_t count_of(const struct roof_sweep *sweep)
{
    uint64_t count = 0;
    struct roof_error error = {0};
    if (roof_sweep_count(&count, sweep, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return count;
}

/* The calls of a sweep, which keep its predictions. */
struct record {
    struct roof_prediction *point;
    size_t count;
    size_t stop_at; /* the call that ends the sweep, from 1; 0: none */
    size_t refused;
};

static enum roof_status keep(void *context, const struct roof_prediction *prediction,
                             const struct roof_model_prediction *model, struct roof_error *error)
{
    assert_true(model == NULL || prediction == &model->total);
    struct record *const record = context;
    struct roof_prediction *const grown =
        realloc(record->point, (record->count + 1) * sizeof *grown);
    assert_non_null(grown);
    record->point = grown;
    record->point[record->count++] = *prediction;
    return record->count == record->stop_at ? roof_error_set(error, ROOF_IO, "the disk is full")
                                            : ROOF_OK;
}

static void run(struct record *record, const struct roof_sweep *sweep, uint64_t first,
                uint64_t count)
{
    struct roof_error error = {0};
    if (roof_sweep_run(sweep, first, count, keep, record, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
}

/* To the last bit; unknown is the same as unknown. */
static void assert_same_number(double a, double b)
{
    if (!(a == b) && !(isnan(a) && isnan(b))) {
        fail_msg("%.17g is not %.17g", a, b);
    }
}

static void assert_same(const struct roof_prediction *a, const struct roof_prediction *b)
{
    assert_int_equal(a->workload.op, b->workload.op);
    assert_memory_equal(&a->workload.shape, &b->workload.shape, sizeof a->workload.shape);
    assert_memory_equal(&a->workload.formats, &b->workload.formats, sizeof a->workload.formats);
    assert_ptr_equal(a->hardware, b->hardware);
    assert_int_equal(a->compute, b->compute);
    assert_int_equal(a->unit, b->unit);
    assert_int_equal(a->native, b->native);
    assert_int_equal(a->bottleneck, b->bottleneck);
    const double *const left[] = {&a->flops,
                                  &a->bytes,
                                  &a->network_bytes,
                                  &a->intensity,
                                  &a->ridge,
                                  &a->memory_time_s,
                                  &a->compute_time_s,
                                  &a->network_time_s,
                                  &a->time_s,
                                  &a->attainable_flops_per_s,
                                  &a->peak_flops_per_s,
                                  &a->bandwidth_bytes_per_s,
                                  &a->fraction_of_peak};
    const double *const right[] = {&b->flops,
                                   &b->bytes,
                                   &b->network_bytes,
                                   &b->intensity,
                                   &b->ridge,
                                   &b->memory_time_s,
                                   &b->compute_time_s,
                                   &b->network_time_s,
                                   &b->time_s,
                                   &b->attainable_flops_per_s,
                                   &b->peak_flops_per_s,
                                   &b->bandwidth_bytes_per_s,
                                   &b->fraction_of_peak};
    for (size_t i = 0; i < COUNT(left); i++) {
        assert_same_number(*left[i], *right[i]);
    }
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        assert_same_number(a->role_bytes[role], b->role_bytes[role]);
    }
}

/* A sweep and the devices that it borrows. */
struct grid {
    struct roof_hardware *device[2];
    const struct roof_hardware *borrowed[2];
    struct roof_sweep sweep;
};

static struct roof_sweep *begin(struct grid *grid, enum roof_operator op, size_t devices)
{
    *grid = (struct grid){.device = {parse_device(SYNTHETIC), parse_device(OTHER)}};
    grid->borrowed[0] = grid->device[0];
    grid->borrowed[1] = grid->device[1];
    grid->sweep = (struct roof_sweep){.base = {.common = ROOF_WORKLOAD_INIT},
                                      .hardware = grid->borrowed,
                                      .hardware_count = devices};
    grid->sweep.base.common.op = op;
    return &grid->sweep;
}

/* 2 devices x 2 m x 3 n x 2 formats; k stays. */
static void make_grid(struct grid *grid)
{
    struct roof_sweep *const sweep = begin(grid, ROOF_OPERATOR_GEMM, 2);
    sweep->base.common.shape.k = 64;
    add(sweep, ROOF_DIM_M, "1,32");
    add(sweep, ROOF_DIM_N, "10:30:10");
    add(sweep, ROOF_INPUT_PRECISION_BOTH, "fp16,nvfp4");
}

static void free_grid(struct grid *grid)
{
    roof_sweep_free(&grid->sweep);
    roof_hardware_free(grid->device[0]);
    roof_hardware_free(grid->device[1]);
}

/* --- order --------------------------------------------------------------------------------- */

static void test_order(void **unused)
{
    (void)unused;
    static const int64_t ms[] = {1, 32};
    static const int64_t ns[] = {10, 20, 30};
    static const enum roof_precision formats[] = {ROOF_PRECISION_FP16, ROOF_PRECISION_NVFP4};
    struct grid grid;
    make_grid(&grid);
    struct record record = {0};
    assert_int_equal(count_of(&grid.sweep), 24);
    run(&record, &grid.sweep, 0, 24);
    assert_int_equal(record.count, 24);
    size_t i = 0;
    for (size_t d = 0; d < 2; d++) {
        for (size_t m = 0; m < COUNT(ms); m++) {
            for (size_t n = 0; n < COUNT(ns); n++) {
                for (size_t f = 0; f < COUNT(formats); f++, i++) {
                    struct roof_workload w = ROOF_WORKLOAD_INIT;
                    w.op = ROOF_OPERATOR_GEMM;
                    w.shape.m = ms[m];
                    w.shape.n = ns[n];
                    w.shape.k = 64;
                    w.formats.precision = formats[f];
                    struct roof_prediction p;
                    assert_int_equal(roof_predict(&p, &w, grid.device[d], NULL), ROOF_OK);
                    assert_same(&record.point[i], &p);
                }
            }
        }
    }
    free(record.point);
    free_grid(&grid);
}

static void count_refused(void *context, const struct roof_error *error)
{
    struct record *const record = context;
    record->refused++;
    assert_int_equal(error->status, ROOF_USAGE);
}

/* Points that differ in sizes alone are what they are by themselves: their defaults, and those
 * after a refused one, too; and when the formats change, they do. */
static void test_sizes_between_formats(void **unused)
{
    (void)unused;
    static const int64_t heads[] = {6, 8, 12};
    static const int64_t kv_heads[] = {0, 4, 3}; /* 0: as many as heads */
    static const enum roof_precision formats[] = {ROOF_PRECISION_FP16, ROOF_PRECISION_FP8_E4M3};
    struct grid grid;
    struct roof_sweep *const sweep = begin(&grid, ROOF_OPERATOR_FLASH_ATTENTION, 2);
    sweep->base.common.shape = (struct roof_shape){.head_dim = 8, .kv_len = 10};
    sweep->refused = count_refused;
    add(sweep, ROOF_INPUT_PRECISION_BOTH, "fp16,fp8");
    add(sweep, ROOF_DIM_HEADS, "6,8,12");
    struct roof_values values = {0};
    for (size_t i = 0; i < COUNT(kv_heads); i++) {
        const struct roof_run one = {kv_heads[i], 0, 1};
        assert_int_equal(roof_values_append(&values, one, NULL), ROOF_OK);
    }
    assert_int_equal(roof_sweep_add(sweep, roof_input(ROOF_DIM_KV_HEADS), &values, NULL), ROOF_OK);
    add(sweep, ROOF_INPUT_KV, "bf16");
    struct record record = {0};
    run(&record, sweep, 0, count_of(sweep));
    size_t i = 0;
    size_t refused = 0;
    for (size_t point = 0; point < count_of(sweep); point++) {
        struct roof_workload w = sweep->base.common;
        struct roof_prediction p;
        w.shape.kv_heads = kv_heads[point % 3];
        w.shape.heads = heads[point / 3 % 3];
        w.formats.precision = formats[point / 9 % 2];
        w.formats.kv = ROOF_PRECISION_BF16;
        if (roof_predict(&p, &w, grid.device[point / 18], NULL) == ROOF_OK) {
            assert_true(i < record.count);
            assert_same(&record.point[i++], &p);
        } else {
            refused++;
        }
    }
    assert_int_equal(i, record.count);
    assert_int_equal(refused, record.refused);
    assert_int_equal(refused, 2 * 2 * 2); /* 6 by 4 and 8 by 3 */
    free(record.point);
    free_grid(&grid);
}

/* Another device resolves anew, also where only sizes are axes. */
static void test_sizes_on_devices(void **unused)
{
    (void)unused;
    struct grid grid;
    struct roof_sweep *const sweep = begin(&grid, ROOF_OPERATOR_GEMV, 2);
    sweep->base.common.shape.k = 8;
    add(sweep, ROOF_DIM_N, "8,16");
    struct record record = {0};
    run(&record, sweep, 0, 4);
    assert_int_equal(record.count, 4);
    for (size_t i = 0; i < record.count; i++) {
        struct roof_workload w = sweep->base.common;
        struct roof_prediction p;
        w.shape.n = i % 2 == 0 ? 8 : 16;
        assert_int_equal(roof_predict(&p, &w, grid.device[i / 2], NULL), ROOF_OK);
        assert_same(&record.point[i], &p);
    }
    free(record.point);
    free_grid(&grid);
}

/* A dimension that the operator does not have is refused at every point that gives it. */
static void test_strange_axis(void **unused)
{
    (void)unused;
    struct grid grid;
    struct roof_sweep *const sweep = begin(&grid, ROOF_OPERATOR_GEMV, 1);
    sweep->base.common.shape = (struct roof_shape){.n = 8, .k = 8};
    sweep->refused = count_refused;
    struct roof_values values = {0};
    assert_int_equal(roof_values_append(&values, (struct roof_run){0, 4, 3}, NULL), ROOF_OK);
    assert_int_equal(roof_sweep_add(sweep, roof_input(ROOF_DIM_HEADS), &values, NULL), ROOF_OK);
    struct record record = {0};
    run(&record, sweep, 0, 3);
    assert_int_equal(record.count, 1); /* 0 is not given */
    assert_int_equal(record.refused, 2);
    free(record.point);
    free_grid(&grid);
}

/* The order in which axes are added is the order in which they nest. */
static void test_order_of_axes(void **unused)
{
    (void)unused;
    struct grid grid;
    struct roof_sweep *const sweep = begin(&grid, ROOF_OPERATOR_GEMV, 1);
    add(sweep, ROOF_DIM_K, "7,5");
    add(sweep, ROOF_DIM_N, "1,2:4,9"); /* several runs in one axis */
    struct record record = {0};
    run(&record, sweep, 0, count_of(sweep));
    static const int64_t expected[][2] = {{7, 1}, {7, 2}, {7, 3}, {7, 4}, {7, 9},
                                          {5, 1}, {5, 2}, {5, 3}, {5, 4}, {5, 9}};
    assert_int_equal(record.count, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(record.point[i].workload.shape.k, expected[i][0]);
        assert_int_equal(record.point[i].workload.shape.n, expected[i][1]);
    }
    free(record.point);
    free_grid(&grid);
}

/* Formats of one role, flags and choices are axes too. */
static void test_kinds_of_axes(void **unused)
{
    (void)unused;
    struct grid grid;
    struct roof_sweep *const sweep = begin(&grid, ROOF_OPERATOR_MOE, 1);
    sweep->base.common.shape =
        (struct roof_shape){.tokens = 3, .hidden = 4, .intermediate = 5, .experts = 6, .top_k = 2};
    add(sweep, ROOF_DIM_ROUTING, "balanced,uniform");
    add(sweep, ROOF_INPUT_WEIGHTS, "int8,fp8");
    add(sweep, ROOF_INPUT_OUT, "fp32,bf16");
    add(sweep, ROOF_INPUT_SPARSE, "0,1");
    struct record record = {0};
    run(&record, sweep, 0, count_of(sweep));
    assert_int_equal(record.count, 16);
    for (size_t i = 0; i < record.count; i++) {
        const struct roof_workload *const w = &record.point[i].workload;
        assert_int_equal(w->shape.routing, i < 8 ? ROOF_ROUTING_BALANCED : ROOF_ROUTING_UNIFORM);
        assert_int_equal(w->formats.weights,
                         i / 4 % 2 == 0 ? ROOF_PRECISION_INT8 : ROOF_PRECISION_FP8_E4M3);
        assert_int_equal(w->formats.out,
                         i / 2 % 2 == 0 ? ROOF_PRECISION_FP32 : ROOF_PRECISION_BF16);
        assert_int_equal(w->sparse, i % 2);
    }
    free(record.point);
    free_grid(&grid);
}

/* --- slices -------------------------------------------------------------------------------- */

static void test_slices_make_the_whole(void **unused)
{
    (void)unused;
    struct grid grid;
    make_grid(&grid);
    struct record whole = {0};
    run(&whole, &grid.sweep, 0, 24);
    for (uint64_t size = 1; size <= 25; size++) {
        struct record parts = {0};
        for (uint64_t first = 0; first < 24; first += size) {
            run(&parts, &grid.sweep, first, first + size > 24 ? 24 - first : size);
        }
        assert_int_equal(parts.count, 24);
        for (size_t i = 0; i < 24; i++) {
            assert_same(&parts.point[i], &whole.point[i]);
        }
        free(parts.point);
    }
    struct record none = {0};
    run(&none, &grid.sweep, 0, 0);
    run(&none, &grid.sweep, 24, 0);
    static const uint64_t beyond[][2] = {{25, 0}, {24, 1}, {0, 25}, {23, 2}, {1, UINT64_MAX}};
    for (size_t i = 0; i < COUNT(beyond); i++) {
        struct roof_error error = {0};
        assert_int_equal(
            roof_sweep_run(&grid.sweep, beyond[i][0], beyond[i][1], keep, &none, &error),
            ROOF_USAGE);
        assert_non_null(strstr(error.message, "24 points"));
    }
    assert_int_equal(none.count, 0);
    free(whole.point);
    free_grid(&grid);
}

/* Far inside a sweep of 10^12 points, without going through those before. */
static void test_far_inside(void **unused)
{
    (void)unused;
    struct grid grid;
    struct roof_sweep *const sweep = begin(&grid, ROOF_OPERATOR_GEMV, 1);
    add(sweep, ROOF_DIM_N, "1:1000000");
    add(sweep, ROOF_DIM_K, "1:1000000");
    assert_int_equal(count_of(sweep), 1000000000000);
    struct record record = {0};
    run(&record, sweep, 123456999999, 2); /* n = 123457, k = 10^6, then the carry */
    assert_int_equal(record.point[0].workload.shape.n, 123457);
    assert_int_equal(record.point[0].workload.shape.k, 1000000);
    assert_int_equal(record.point[1].workload.shape.n, 123458);
    assert_int_equal(record.point[1].workload.shape.k, 1);
    free(record.point);
    free_grid(&grid);
}

/* --- counts and limits --------------------------------------------------------------------- */

static void test_count(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_hardware *const borrowed[] = {device, device, device};
    static const struct {
        const char *axis[3];
        size_t devices;
        uint64_t count; /* 0: refused */
    } cases[] = {
        {{NULL}, 1, 1}, /* no axis: one point per device */
        {{NULL}, 3, 3},
        {{"1,2,3"}, 1, 3},
        {{"1:100"}, 2, 200},
        {{"1:100", "1:10", "5"}, 3, 3000},
        {{"1:100000", "1:100000", "1:100000"}, 1, 1000000000000000}, /* the most */
        {{"1:100000", "1:100000", "1:100000"}, 2, 0},
        {{"1:100000", "1:100000", "1:100001"}, 1, 0},
        /* Products that do not fit 64 bits. */
        {{"1:1000000000000", "1:1000000000000", "1:1000000000000"}, 1, 0},
        {{"1:4294967296", "1:4294967296"}, 1, 0}, /* 2^64 */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_sweep sweep = {.base = {.common = ROOF_WORKLOAD_INIT},
                                   .hardware = borrowed,
                                   .hardware_count = cases[i].devices};
        static const size_t ids[] = {ROOF_DIM_M, ROOF_DIM_N, ROOF_DIM_K};
        for (size_t a = 0; a < 3 && cases[i].axis[a] != NULL; a++) {
            add(&sweep, ids[a], cases[i].axis[a]);
        }
        uint64_t count = 77;
        struct roof_error error = {0};
        const enum roof_status status = roof_sweep_count(&count, &sweep, &error);
        if (cases[i].count == 0) {
            assert_int_equal(status, ROOF_USAGE);
            assert_non_null(strstr(error.message, "more than 1000000000000000 points"));
            assert_int_equal(count, 77);
        } else {
            assert_int_equal(status, ROOF_OK);
            assert_int_equal(count, cases[i].count);
        }
        roof_sweep_free(&sweep);
    }
    roof_hardware_free(device);
}

/* The values belong to the sweep even when there is no room for the axis. */
static void test_too_many_axes(void **unused)
{
    (void)unused;
    struct roof_sweep sweep = {.base = {.common = ROOF_WORKLOAD_INIT}};
    for (int i = 0; i < ROOF_SWEEP_AXES_MAX; i++) {
        add(&sweep, ROOF_DIM_M, "1,2");
    }
    struct roof_values values = {0};
    struct roof_error error = {0};
    assert_int_equal(roof_input_parse_list(&values, roof_input(ROOF_DIM_M), "1,2", NULL), ROOF_OK);
    assert_int_equal(roof_sweep_add(&sweep, roof_input(ROOF_DIM_M), &values, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "axes"));
    assert_null(values.run);
    assert_int_equal(sweep.axis_count, ROOF_SWEEP_AXES_MAX);
    roof_sweep_free(&sweep);
    for (int i = 0; i < ROOF_SWEEP_AXES_MAX; i++) {
        assert_null(sweep.axis[i].values.run);
    }
    assert_int_equal(sweep.axis_count, 0);
    roof_sweep_free(&sweep); /* nothing left */
}

/* --- ends ---------------------------------------------------------------------------------- */

static void test_callback_ends_it(void **unused)
{
    (void)unused;
    struct grid grid;
    make_grid(&grid);
    for (size_t stop = 1; stop <= 24; stop++) {
        struct record record = {.stop_at = stop};
        struct roof_error error = {0};
        assert_int_equal(roof_sweep_run(&grid.sweep, 0, 24, keep, &record, &error), ROOF_IO);
        assert_int_equal(record.count, stop);
        assert_string_equal(error.message, "the disk is full"); /* as the callback said it */
        free(record.point);
    }
    free_grid(&grid);
}

/* 2 x 4 points; 6 heads do not divide by 4 KV heads: the sixth point is the first refused one. */
static void test_error_names_the_point(void **unused)
{
    (void)unused;
    struct grid grid;
    struct roof_sweep *sweep = begin(&grid, ROOF_OPERATOR_FLASH_ATTENTION, 1);
    sweep->base.common.shape = (struct roof_shape){.head_dim = 8, .kv_len = 10};
    add(sweep, ROOF_DIM_HEADS, "8,6");
    add(sweep, ROOF_DIM_KV_HEADS, "2,4");
    add(sweep, ROOF_INPUT_WEIGHTS, "fp16,fp8");
    struct record record = {0};
    struct roof_error error = {0};
    assert_int_equal(roof_sweep_run(sweep, 0, count_of(sweep), keep, &record, &error), ROOF_USAGE);
    assert_int_equal(record.count, 6); /* those before it were delivered */
    assert_int_equal(error.status, ROOF_USAGE);
    assert_non_null(strstr(error.message, "heads 6 must be a multiple of kv_heads 4"));
    assert_non_null(strstr(error.message, "(at hardware synthetic"));
    assert_non_null(strstr(error.message, "heads 6 kv_heads 4 weights fp16)"));
    assert_int_equal(roof_sweep_run(sweep, 6, 1, keep, &record, NULL), ROOF_USAGE);
    free(record.point);
    free_grid(&grid);

    /* A choice by its name; and without axes the message is that of a single prediction. */
    sweep = begin(&grid, ROOF_OPERATOR_MOE, 1);
    sweep->base.common.shape =
        (struct roof_shape){.tokens = 1, .hidden = 1, .intermediate = 1, .experts = 1, .top_k = 2};
    record = (struct record){0};
    assert_int_equal(roof_sweep_run(sweep, 0, 1, keep, &record, &error), ROOF_USAGE);
    assert_string_equal(error.message, "top_k 2 must be at most experts 1");
    add(sweep, ROOF_DIM_ROUTING, "balanced");
    assert_int_equal(roof_sweep_run(sweep, 0, 1, keep, &record, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, " routing balanced)"));
    assert_int_equal(record.count, 0);
    free_grid(&grid);
}

/* Devices, then models, then axes: from each point on as from the first. */
static void test_models(void **unused)
{
    (void)unused;
    static const int64_t batch[] = {1, 3, 4};
    struct grid grid;
    struct roof_model *const model[] = {parse(DENSE), parse(MOE)};
    const struct roof_model *const borrowed[] = {model[0], model[1]};
    struct roof_sweep *const sweep = begin(&grid, ROOF_OPERATOR_GEMM, 2);
    roof_scenario_init(&sweep->base);
    sweep->model = borrowed;
    sweep->model_count = 2;
    add(sweep, ROOF_DIM_BATCH, "1,3,4");
    assert_int_equal(count_of(sweep), 12);
    for (size_t first = 0; first < 12; first++) {
        struct record record = {0};
        run(&record, sweep, first, 12 - first);
        assert_int_equal(record.count, 12 - first);
        for (size_t i = first; i < 12; i++) {
            const struct roof_model_prediction *const alone = infer(
                model[i / 3 % 2], asked(ROOF_PHASE_DECODE, batch[i % 3], 0), grid.device[i / 6]);
            assert_same_number(record.point[i - first].flops, alone->total.flops);
            assert_same_number(record.point[i - first].time_s, alone->total.time_s);
        }
        free(record.point);
    }
    struct record none = {0};
    sweep->model_count = 0; /* no models make no points */
    run(&none, sweep, 0, 0);
    roof_model_free(model[0]);
    roof_model_free(model[1]);
    free_grid(&grid);
}

/* Device and model are named where there are several points. 3 does not divide eight heads. */
static void test_error_names_the_model(void **unused)
{
    (void)unused;
    static const struct {
        size_t devices;
        size_t models;
        bool named;
    } cases[] = {{1, 1, false}, {1, 2, true}, {2, 1, true}, {2, 2, true}};
    struct roof_model *const model = parse(DENSE);
    const struct roof_model *const borrowed[] = {model, model};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct grid grid;
        struct roof_sweep *const sweep = begin(&grid, ROOF_OPERATOR_GEMM, cases[i].devices);
        struct record none = {0};
        struct roof_error error = {0};
        roof_scenario_init(&sweep->base);
        sweep->base.tp = 3;
        sweep->model = borrowed;
        sweep->model_count = cases[i].models;
        assert_int_equal(roof_sweep_run(sweep, 0, 1, keep, &none, &error), ROOF_USAGE);
        const char *const end = strchr(error.message, '(');
        assert_int_equal(end != NULL, cases[i].named);
        if (end != NULL) {
            assert_string_equal(end, "(at hardware synthetic model tiny)");
        }
        free_grid(&grid);
    }
    roof_model_free(model);
}

/* Nothing to take values from, and points behind the last one, are refused. */
static void test_empty_axes_and_far_points(void **unused)
{
    (void)unused;
    struct grid grid;
    struct roof_sweep *const sweep = begin(&grid, ROOF_OPERATOR_GEMV, 1);
    struct roof_values none = {0};
    struct roof_error error = {0};
    assert_int_equal(roof_sweep_add(sweep, roof_input(ROOF_DIM_N), &none, &error), ROOF_USAGE);
    assert_int_equal(sweep->axis_count, 0);
    add(sweep, ROOF_DIM_N, "1,2,3");
    sweep->base.common.shape.k = 1;
    struct record record = {0};
    assert_int_equal(roof_sweep_run(sweep, 2, 2, keep, &record, &error), ROOF_USAGE);
    assert_int_equal(roof_sweep_run(sweep, 4, 0, keep, &record, &error), ROOF_USAGE);
    assert_int_equal(record.count, 0);
    assert_int_equal(roof_sweep_run(sweep, 3, 0, keep, &record, &error), ROOF_OK);
    free_grid(&grid);
}

/* Contiguous, in order, all of it, and as even as can be. */
static void test_shards(void **unused)
{
    (void)unused;
    static const uint64_t counts[] = {0, 1, 2, 7, 1000, 999999, ROOF_SWEEP_POINTS_MAX};
    static const uint64_t shards[] = {1, 2, 3, 7, 1000};
    for (size_t c = 0; c < COUNT(counts); c++) {
        for (size_t s = 0; s < COUNT(shards); s++) {
            uint64_t next = 0;
            for (uint64_t i = 1; i <= shards[s]; i++) {
                uint64_t first = 0;
                uint64_t points = 0;
                roof_sweep_shard(&first, &points, counts[c], i, shards[s]);
                assert_true(first == next);
                assert_in_range(points, counts[c] / shards[s],
                                (counts[c] + shards[s] - 1) / shards[s]);
                next += points;
            }
            assert_true(next == counts[c]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_sizes_between_formats),
        cmocka_unit_test(test_sizes_on_devices),
        cmocka_unit_test(test_strange_axis),
        cmocka_unit_test(test_order_of_axes),
        cmocka_unit_test(test_kinds_of_axes),
        cmocka_unit_test(test_slices_make_the_whole),
        cmocka_unit_test(test_far_inside),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_too_many_axes),
        cmocka_unit_test(test_callback_ends_it),
        cmocka_unit_test(test_error_names_the_point),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_error_names_the_model),
        cmocka_unit_test(test_empty_axes_and_far_points),
        cmocka_unit_test(test_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
