// SPDX-License-Identifier: MIT
/* Charts: ceilings and ridge points by hand, where dots stand, labels that do not overlap, and text
 * that means nothing to what draws it. */
#include "models.h"

#include <stdio.h>
#include <stdlib.h>

#include "chart/note.h"
#include "chart/page.h"
#include "chart/pdf.h"
#include "chart/place.h"
#include "chart/script.h"
#include "chart/svg.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define P(id) ROOF_PRECISION_##id

static struct roof_chart chart;
static struct roof_error error;

static int set_up(void **unused)
{
    (void)unused;
    roof_chart_init(&chart);
    error = (struct roof_error){0};
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    roof_chart_free(&chart);
    return 0;
}

static void add_roof(const struct roof_hardware *hardware)
{
    assert_int_equal(roof_chart_add_roof(&chart, hardware, NULL, false, &error), ROOF_OK);
}

static void add_line(const char *text)
{
    if (roof_chart_add_line(&chart, text, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
}

/* A GEMM in fp16 with m = n = k. */
static void add_gemm(const struct roof_hardware *hardware, int64_t size, const char *name,
                     double measured_s)
{
    struct roof_prediction p;
    const struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = size, .n = size, .k = size});
    assert_int_equal(roof_predict(&p, &w, hardware, &error), ROOF_OK);
    if (measured_s > 0) {
        roof_predict_measured(&p, measured_s);
    }
    assert_int_equal(roof_chart_add(&chart, &p, name, "gemm", 1, ROOF_UNKNOWN, &error), ROOF_OK);
}

static void add_model(const struct roof_model *m, const struct roof_hardware *hardware,
                      enum roof_phase phase, int64_t batch, const char *group)
{
    const struct roof_model_prediction *const i = infer(m, asked(phase, batch, 4096), hardware);
    assert_int_equal(roof_chart_add_model(&chart, i, group, ROOF_GRAPH_MAX, &error), ROOF_OK);
}

/* --- roofs --------------------------------------------------------------------------------- */

/* An A100 with the 2 TB/s of the course page: 1248, 624, 312, 156, 78, 39, 19.5 and 9.7 TFLOP/s. */
static void test_ceilings(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_compute_unit unit;
        enum roof_precision format[2];
        size_t formats;
        double tflops, ridge;
    } expected[] = {{ROOF_COMPUTE_MATRIX, {P(INT4)}, 1, 1248, 624},
                    {ROOF_COMPUTE_MATRIX, {P(INT8)}, 1, 624, 312},
                    {ROOF_COMPUTE_MATRIX, {P(BF16), P(FP16)}, 2, 312, 156},
                    {ROOF_COMPUTE_MATRIX, {P(TF32)}, 1, 156, 78},
                    {ROOF_COMPUTE_VECTOR, {P(FP16)}, 1, 78, 39},
                    {ROOF_COMPUTE_VECTOR, {P(BF16)}, 1, 39, 19.5},
                    {ROOF_COMPUTE_VECTOR, {P(FP32)}, 1, 19.5, 9.75},
                    {ROOF_COMPUTE_MATRIX, {P(FP64)}, 1, 19.5, 9.75},
                    {ROOF_COMPUTE_VECTOR, {P(FP64)}, 1, 9.7, 4.85}};
    struct roof_hardware *const a100 = load_device("a100-sxm-80gb");
    assert_int_equal(roof_hardware_set(a100, "bandwidth_gb_s=2000", &error), ROOF_OK);
    add_roof(a100);
    assert_int_equal(chart.roof[0].ceilings, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct roof_chart_ceiling *const c = &chart.roof[0].ceiling[i];
        assert_int_equal(c->unit, expected[i].unit);
        assert_int_equal(c->formats, expected[i].formats);
        assert_memory_equal(c->format, expected[i].format, c->formats * sizeof *c->format);
        assert_near(c->flops_per_s, expected[i].tflops * 1e12, 1e-15);
        assert_near(c->ridge, expected[i].ridge, 1e-15);
    }
    roof_hardware_free(a100);
}

static void test_ceilings_asked_for(void **unused)
{
    (void)unused;
    struct roof_chart_ceilings wanted;
    struct roof_hardware *const a100 = load_device("a100-sxm-80gb");
    assert_int_equal(roof_chart_parse_ceilings(&wanted, "int8,fp16,tf32,fp32,fp64:vector", &error),
                     ROOF_OK);
    assert_int_equal(roof_chart_add_roof(&chart, a100, &wanted, false, &error), ROOF_OK);
    static const double tflops[] = {624, 312, 156, 19.5, 9.7};
    assert_int_equal(chart.roof[0].ceilings, COUNT(tflops));
    for (size_t i = 0; i < COUNT(tflops); i++) {
        assert_near(chart.roof[0].ceiling[i].flops_per_s, tflops[i] * 1e12, 1e-15);
    }
    /* Only fp16 was asked for, whose ceiling is that of bf16, too. */
    assert_int_equal(chart.roof[0].ceiling[1].formats, 1);
    assert_int_equal(chart.roof[0].ceiling[1].format[0], P(FP16));
    roof_chart_free(&chart);

    /* FP8 is computed in bf16 there; with 2:4 sparsity at twice the rate. */
    assert_int_equal(roof_chart_parse_ceilings(&wanted, "fp8", &error), ROOF_OK);
    assert_int_equal(roof_chart_add_roof(&chart, a100, &wanted, true, &error), ROOF_OK);
    assert_int_equal(chart.roof[0].ceilings, 1);
    assert_int_equal(chart.roof[0].ceiling[0].format[0], P(BF16));
    assert_near(chart.roof[0].ceiling[0].flops_per_s, 624e12, 1e-15);
    roof_chart_free(&chart);

    assert_int_equal(roof_chart_parse_ceilings(&wanted, "fp8:vector", &error), ROOF_OK);
    assert_int_equal(roof_chart_add_roof(&chart, a100, &wanted, false, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "a100-sxm-80gb has no peak for these formats"));
    static const char *const bad[] = {"fp16,nope", "fp16:", "fp16:scalar", "", "fp16,,fp8"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(roof_chart_parse_ceilings(&wanted, bad[i], &error), ROOF_USAGE);
    }
    roof_hardware_free(a100);
}

static void test_refused_roofs(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    add_roof(device);
    assert_int_equal(roof_chart_add_roof(&chart, device, NULL, false, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "'synthetic' twice"));
    static const char *const more[] = {"h100-sxm", "a100-sxm-80gb", "l40s", "t4", "l4", "v100"};
    struct roof_hardware *loaded[COUNT(more)];
    for (size_t i = 0; i < COUNT(more); i++) {
        loaded[i] = load_device(more[i]);
        assert_int_equal(roof_chart_add_roof(&chart, loaded[i], NULL, false, &error),
                         i + 1 < ROOF_CHART_ROOFS_MAX ? ROOF_OK : ROOF_USAGE);
    }
    assert_non_null(strstr(error.message, "at most 6 devices"));
    for (size_t i = 0; i < COUNT(more); i++) {
        roof_hardware_free(loaded[i]);
    }
    roof_hardware_free(device);
}

/* --- lines --------------------------------------------------------------------------------- */

static void test_lines(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *name;
        bool slope;
        double rate;
    } good[] = {{"cuBLAS=271.2TFLOPS", "cuBLAS", false, 271.2e12},
                {"a = b=1.8TB/s", "a = b", true, 1.8e12},
                {"x=2PFLOP/s", "x", false, 2e15},
                {"x=500GOPS", "x", false, 5e11},
                {"x=900GB/s", "x", true, 9e11},
                {"x=3FLOPS", "x", false, 3},
                {"x=800 TFLOPS", "x", false, 8e14}};
    static const char *const bad[] = {
        "x",     "=1TFLOPS",  "x=",         "x=1",        "x=TFLOPS",    "x=0TFLOPS",   "x=-1TB/s",
        "x=1TB", "x=1mFLOPS", "x=1e999B/s", "x=0.9FLOPS", "x=1.1e24B/s", "x=1e10PFLOPS"};
    for (size_t i = 0; i < COUNT(good); i++) {
        add_line(good[i].text);
        assert_string_equal(chart.line[i].name, good[i].name);
        assert_int_equal(chart.line[i].slope, good[i].slope);
        assert_near(chart.line[i].rate, good[i].rate, 1e-15);
        assert_int_equal(chart.line[i].roof, ROOF_CHART_ROOFS_MAX);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(roof_chart_add_line(&chart, bad[i], &error), ROOF_USAGE);
    }
    assert_int_equal(chart.lines, COUNT(good));
}

/* Attainable marks are predictions: below the roof, and none for a device without kernels. */
static void test_attainable(void **unused)
{
    (void)unused;
    struct roof_hardware *const h100 = load_calibrated("h100-sxm");
    struct roof_hardware *const bare = parse_device(SYNTHETIC);
    struct roof_prediction p;
    struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = 8192, .n = 8192, .k = 8192});
    add_roof(bare);
    add_roof(h100);
    assert_int_equal(roof_chart_add_attainable(&chart, &error), ROOF_OK);
    assert_true(chart.lines > 2);
    bool found = false;
    w.formats.precision = P(BF16);
    assert_int_equal(roof_predict(&p, &w, h100, &error), ROOF_OK);
    for (size_t i = 0; i < chart.lines; i++) {
        const struct roof_chart_line *const line = &chart.line[i];
        assert_int_equal(line->roof, 1);
        assert_true(line->rate > 0);
        assert_true(line->rate < (line->slope ? chart.roof[1].bytes_per_s
                                              : chart.roof[1].ceiling[0].flops_per_s));
        if (strcmp(line->name, "bf16 GEMM 8192 expected") == 0) {
            found = true;
            /* 2 x 8192^3 FLOP */
            assert_near(line->rate, 1099511627776.0 / p.expected_s, 1e-14);
        }
    }
    assert_true(found);
    free_calibrated(h100);
    roof_hardware_free(bare);
}

/* 70 W leave 30 W: 300 GB/s at 100 pJ per byte, 6 TFLOPS at 5 pJ. At 333 FLOP/byte both together
 * leave 2e9 FLOP in 0.0106 J / 30 W. */
static void test_power_roof(void **unused)
{
    (void)unused;
    struct roof_hardware *const hot =
        parse_device("{\"id\": \"hot\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 10}, "
                     "\"constant_w\": 40, \"byte_pj\": 100, \"flop_pj\": {\"fp16\": 5}, "
                     "\"power_cap_w\": 70}");
    struct roof_hardware *const bare = parse_device(SYNTHETIC);
    add_roof(hot);
    add_roof(bare);
    assert_int_equal(roof_chart_add_power(&chart, &error), ROOF_OK);
    assert_int_equal(chart.lines, 1);
    assert_string_equal(chart.line[0].name, "70 W, fp16");
    assert_false(chart.line[0].slope);
    assert_near(chart.line[0].rate, 6e12, 1e-14);
    assert_near(chart.line[0].bend, 3e11, 1e-14);
    const struct roof_side side = {.rate = chart.line[0].rate, .bend = chart.line[0].bend};
    assert_near(roof_chart_side_rate(&side, 1000.0 / 3), 2e9 / (0.0106 / 30), 1e-14);
    assert_int_equal(roof_hardware_set(hot, "power_cap_w=30", &error), ROOF_OK);
    assert_int_equal(roof_chart_add_power(&chart, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "a cap above constant_w"));
    roof_hardware_free(bare);
    roof_hardware_free(hot);
}

/* --- dots ---------------------------------------------------------------------------------- */

static void test_dots(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_hardware *const other = load_device("h100-sxm");
    struct roof_prediction p;
    add_roof(device);
    /* 2 x 30^3 = 54000 FLOP over 3 x 900 x 2 = 5400 bytes: 10 FLOP/byte, the ridge point. */
    add_gemm(device, 30, "ridge", 0);
    assert_near(chart.dot[0].node.prediction.intensity, 10, 1e-15);
    assert_near(chart.dot[0].node.prediction.attainable_flops_per_s, 1e12, 1e-15);
    assert_true(isnan(roof_chart_reached(&chart, &chart.dot[0])));
    /* 54000 FLOP in 108 ns: 0.5 TFLOP/s. */
    add_gemm(device, 30, "measured", 108e-9);
    assert_near(roof_chart_reached(&chart, &chart.dot[1]), 0.5e12, 1e-14);
    chart.expected = true; /* but there is no expected time */
    assert_true(isnan(roof_chart_reached(&chart, &chart.dot[0])));
    assert_int_equal(chart.groups, 1);
    assert_string_equal(chart.group[0], "gemm");

    /* A table look-up has bytes and no FLOPs: it has no place. */
    const struct roof_workload w =
        workload(ROOF_OPERATOR_EMBEDDING, (struct roof_shape){.tokens = 1, .hidden = 64});
    assert_int_equal(roof_predict(&p, &w, device, &error), ROOF_OK);
    assert_int_equal(roof_chart_add(&chart, &p, "embedding", "x", 1, 0.25, &error), ROOF_OK);
    assert_int_equal(chart.dots, 2);
    assert_int_equal(chart.groups, 1);
    assert_int_equal(chart.left_out, 1);
    assert_near(chart.left_out_share, 0, 0); /* it is of no pass */

    p = chart.dot[0].node.prediction;
    p.hardware = other;
    assert_int_equal(roof_chart_add(&chart, &p, "x", "x", 1, 1, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "h100-sxm is not among"));
    p.hardware = device;
    for (int i = 1; i < ROOF_CHART_GROUPS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(roof_chart_add(&chart, &p, "x", name, 1, 1, &error), ROOF_OK);
    }
    assert_int_equal(roof_chart_add(&chart, &p, "x", "one more", 1, 1, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "24 groups"));
    roof_hardware_free(other);
    roof_hardware_free(device);
}

/* Dots of a model are its operators by their time, with what is left out the whole of it. */
static void test_model(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = load_device("h100-sxm");
    struct roof_model *const m = load("llama-3-8b");
    const struct roof_model_prediction *const i =
        infer(m, asked(ROOF_PHASE_DECODE, 4, 4096), device);
    double sum = 0;
    add_roof(device);
    assert_int_equal(roof_chart_add_model(&chart, i, "decode", ROOF_GRAPH_MAX, &error), ROOF_OK);
    assert_int_equal(chart.dots + chart.left_out, i->count);
    for (size_t k = 0; k < chart.dots; k++) {
        sum += chart.dot[k].share;
        assert_true(k == 0 || chart.dot[k].share <= chart.dot[k - 1].share);
    }
    assert_string_equal(chart.dot[0].node.node.name, "gate_up_proj");
    assert_int_equal(chart.dot[0].node.node.count, 32);
    assert_true(chart.left_out > 1 && sum < 1);
    assert_near(chart.left_out_share, 1 - sum, 1e-9);
    /* A second pass gives the larger of the two, not more. */
    const double share = chart.left_out_share;
    assert_int_equal(roof_chart_add_model(&chart, i, "again", ROOF_GRAPH_MAX, &error), ROOF_OK);
    assert_near(chart.left_out_share, share, 0);
    roof_chart_free(&chart);
    add_roof(device);
    assert_int_equal(roof_chart_add_model(&chart, i, "decode", 3, &error), ROOF_OK);
    assert_int_equal(chart.dots, 3);
    roof_model_free(m);
    roof_hardware_free(device);
}

static void test_names(void **unused)
{
    (void)unused;
    char name[ROOF_CHART_NAME_SIZE];
    char many[3 * ROOF_CHART_NAME_SIZE];
    roof_chart_name(name, "a\nb\tc\x7f\x1b[0m");
    assert_string_equal(name, "a b c  [0m");
    /* 95 bytes are 31 characters of 3. */
    for (size_t i = 0; i + 3 < sizeof many; i += 3) {
        memcpy(many + i, "\u20ac", 4);
    }
    roof_chart_name(name, many);
    assert_int_equal(strlen(name), 93);
    memset(many, 'x', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    roof_chart_name(name, many);
    assert_int_equal(strlen(name), 95);
}

/* --- layout -------------------------------------------------------------------------------- */

static bool apart(const struct roof_box *a, const struct roof_box *b)
{
    return a->left >= b->right || b->left >= a->right || a->top >= b->bottom || b->top >= a->bottom;
}

/* The label of a mark leaves ridge points to be seen, and no leader runs along a ceiling. */
static void check_sides_seen(const struct roof_chart_layout *l, const struct roof_mark *m)
{
    const struct roof_leader leader = roof_leader_to(m, &m->box);
    for (size_t i = 0; i < l->sides; i++) {
        const struct roof_side *const side = &l->side[i];
        if (side->tick) {
            continue;
        }
        const double x = roof_chart_x(l, side->from);
        const struct roof_box ridge = {x - 5, side->at - 5, x + 5, side->at + 5};
        assert_true(side->line || apart(&m->box, &ridge));
        assert_false(m->leader && side->bend == 0 && fabs(leader.y0 - side->at) < 3 &&
                     fabs(leader.y1 - side->at) < 3 && fmax(leader.x0, leader.x1) > x);
    }
}

/* No label lies on another, on a mark, or outside. */
static void check_layout(const struct roof_chart_layout *l)
{
    const struct roof_box *const plot = &l->canvas.plot;
    for (size_t i = 0; i < l->marks; i++) {
        const struct roof_mark *const m = &l->mark[i];
        assert_true(m->x >= plot->left && m->x <= plot->right);
        assert_true(m->y >= plot->top && m->y <= plot->bottom);
        if (!m->labelled) {
            continue;
        }
        assert_true(m->box.left >= plot->left && m->box.right <= plot->right);
        assert_true(m->box.top >= plot->top && m->box.bottom <= plot->bottom);
        assert_true(m->label[0] != '\0');
        for (size_t k = 0; k < l->marks; k++) {
            const struct roof_mark *const other = &l->mark[k];
            const struct roof_box at = {other->x - other->radius, other->y - other->radius,
                                        other->x + other->radius, other->y + other->radius};
            assert_true(apart(&m->box, &at));
            assert_true(k == i || !other->labelled || apart(&m->box, &other->box));
        }
        for (size_t s = 0; s < l->slopes; s++) {
            for (size_t k = 0; k < l->slope[s].boxes; k++) {
                assert_true(apart(&m->box, &l->slope[s].box[k]));
            }
        }
        check_sides_seen(l, m);
    }
    const struct roof_side *above = NULL;
    for (size_t i = 0; i < l->sides; i++) {
        const struct roof_side *const side = &l->side[i];
        if (side->label[0] == '\0' && side->tick) {
            continue; /* there was no room for it */
        }
        if (side->tick) { /* it stands at its line */
            assert_near(side->y, side->at, 1e-12);
        }
        if (side->label[0] == '\0') { /* one at the same height has its name */
            assert_true((i > 0 && l->side[i - 1].at == side->at) ||
                        (i + 1 < l->sides && l->side[i + 1].at == side->at));
            continue;
        }
        assert_true(above == NULL || side->y - above->y >= l->canvas.line_height - 1e-9);
        above = side;
        assert_true(plot->right + l->canvas.beside +
                        (double)strlen(side->label) * l->canvas.char_width <=
                    l->canvas.width + 1e-9);
    }
}

static struct roof_chart_layout *lay_out(double width, double height)
{
    const struct roof_canvas canvas = {.width = width,
                                       .height = height,
                                       .plot = {78, 64, width, height - 58},
                                       .beside = 22,
                                       .char_width = 7.3,
                                       .line_height = 18,
                                       .radius_min = 3,
                                       .radius_max = 16,
                                       .side_share = 0.32,
                                       .leaders = true,
                                       .shares = true};
    struct roof_chart_layout *layout = NULL;
    assert_int_equal(roof_chart_lay_out(&layout, &chart, &canvas, 4, &error), ROOF_OK);
    roof_chart_place_labels(layout);
    check_layout(layout);
    return layout;
}

/* Dots stand on a slope below the ridge point and on the ceiling beyond it, as far apart as their
 * logarithms. */
static void test_places(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    add_roof(device);
    add_gemm(device, 3, "1 FLOP/byte", 0);
    add_gemm(device, 30, "10 FLOP/byte", 108e-9);
    add_gemm(device, 300, "100 FLOP/byte", 0);
    struct roof_chart_layout *const l = lay_out(1200, 800);
    assert_int_equal(l->marks, 3);
    assert_int_equal(l->unlabelled, 0);
    assert_near(l->mark[2].x - l->mark[1].x, l->mark[1].x - l->mark[0].x, 1e-9);
    assert_near(l->mark[2].y, l->mark[1].y, 1e-12);
    /* 0.1 TFLOP/s, 1 TFLOP/s, and half of that measured. */
    const double decade = l->mark[0].y - l->mark[1].y;
    assert_near(l->mark[1].reached_y - l->mark[1].y, decade * log10(2), 1e-9);
    assert_true(isnan(l->mark[0].reached_y));
    for (size_t i = 0; i < l->sides; i++) {
        if (l->side[i].rate == 1e12) {
            assert_near(l->side[i].at, l->mark[1].y, 1e-12);
            assert_near(roof_chart_x(l, l->side[i].from), l->mark[1].x, 1e-12);
        }
    }
    roof_chart_layout_free(l);
    roof_hardware_free(device);
}

/* Dots that lie upon each other are one mark, which names them and has the share of all. */
static void test_marks_merge(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    add_roof(device);
    add_gemm(device, 3000, "large", 0);
    add_gemm(device, 3001, "larger", 0);
    add_gemm(device, 3000, "slow", 1);
    struct roof_chart_layout *const l = lay_out(1200, 800);
    assert_int_equal(l->marks, 2);
    assert_string_equal(l->mark[0].label, "large, larger");
    assert_int_equal(l->mark[0].dots, 2);
    assert_string_equal(l->mark[1].label, "slow, 5%"); /* 54 GFLOP in 1 s, of 1 TFLOPS */
    roof_chart_layout_free(l);
    roof_hardware_free(device);
}

/* Lines from dots at the same place to what they reached stand side by side, and each label is at
 * the tick of its own. */
static void test_whiskers_apart(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    add_roof(device);
    add_gemm(device, 300, "half", 108e-6); /* 54 MFLOP at 1 TFLOPS take 54 us */
    add_gemm(device, 3000, "slow", 0.1);
    add_gemm(device, 3000, "slower", 1);
    struct roof_chart_layout *const l = lay_out(1200, 800);
    assert_int_equal(l->marks, 3);
    assert_false(l->mark[0].beside);
    assert_near(l->mark[0].whisker_x, l->mark[0].x, 1e-12);
    assert_true(l->mark[1].beside && l->mark[2].beside);
    assert_near(l->mark[1].whisker_x + l->mark[2].whisker_x, 2 * l->mark[1].x, 1e-9);
    /* The longer is on the left, so that the label of the shorter crosses none on the right. */
    assert_true(l->mark[1].whisker_x - l->mark[2].whisker_x >= 2 * l->mark[1].whisker_end);
    for (size_t i = 1; i < 3; i++) { /* the label is nearer to its own tick than to the other */
        const double y = (l->mark[i].box.top + l->mark[i].box.bottom) / 2;
        assert_true(fabs(y - l->mark[i].reached_y) < fabs(y - l->mark[3 - i].reached_y));
    }
    roof_chart_layout_free(l);
    roof_hardware_free(device);
}

/* The highest dot alone is named of those that have the same label on several devices. */
static void test_shared_labels(void **unused)
{
    (void)unused;
    struct roof_hardware *const slow = parse_device(SYNTHETIC);
    struct roof_hardware *const h100 = load_device("h100-sxm");
    add_roof(slow);
    add_roof(h100);
    add_gemm(slow, 300, "same", 0);
    add_gemm(h100, 300, "same", 0);
    add_gemm(slow, 3, "here", 0);
    add_gemm(h100, 3, "there", 0);
    for (size_t i = 0; i < chart.dots; i++) {
        chart.dot[i].roof = i % 2;
    }
    struct roof_chart_layout *const l = lay_out(1200, 800);
    assert_int_equal(l->marks, 4);
    assert_true(l->mark[0].y > l->mark[1].y); /* y grows downwards */
    assert_false(l->mark[0].labelled);
    assert_true(l->mark[1].labelled && l->mark[1].shared);
    assert_true(l->mark[2].labelled && !l->mark[2].shared);
    assert_true(l->mark[3].labelled && !l->mark[3].shared);
    roof_chart_layout_free(l);
    roof_hardware_free(slow);
    roof_hardware_free(h100);
}

/* Two devices that do the same have their dots at one place; the label is not lost. */
static void test_equal_devices(void **unused)
{
    (void)unused;
    struct roof_hardware *const one = parse_device(SYNTHETIC);
    struct roof_hardware *const two = parse_device("{\"id\": \"two\", \"bandwidth_gb_s\": 100,"
                                                   " \"peak_tflops\": {\"fp16\": 1}}");
    add_roof(one);
    add_roof(two);
    add_gemm(one, 300, "same", 0);
    add_gemm(two, 300, "same", 0);
    struct roof_chart_layout *const l = lay_out(1200, 800);
    assert_int_equal(l->marks, 2);
    assert_near(l->mark[0].y, l->mark[1].y, 1e-12);
    assert_true(l->mark[0].labelled && l->mark[0].shared);
    roof_chart_layout_free(l);
    roof_hardware_free(one);
    roof_hardware_free(two);
}

/* The charts in the documentation, and harder ones: every label has its place. */
static void test_labels(void **unused)
{
    (void)unused;
    struct roof_hardware *const a100 = load_calibrated("a100-sxm-80gb");
    struct roof_hardware *const gb200 = load_device("gb200");
    struct roof_hardware *const h100 = load_calibrated("h100-sxm");
    struct roof_model *const llama = load("llama-2-7b");
    struct roof_model *const deepseek = load("deepseek-r1-0528-nvfp4-v2");
    for (int with_expected = 0; with_expected < 2; with_expected++) {
        chart.expected = with_expected == 1;
        add_roof(a100);
        add_model(llama, a100, ROOF_PHASE_DECODE, 1, "decode");
        add_model(llama, a100, ROOF_PHASE_DECODE, 16, "decode, batch 16");
        add_model(llama, a100, ROOF_PHASE_PREFILL, 1, "prefill");
        add_line("measured GEMM=271.2TFLOPS");
        assert_int_equal(roof_chart_add_attainable(&chart, &error), ROOF_OK);
        struct roof_chart_layout *const l = lay_out(1200, 800);
        assert_true(l->marks > 10);
        assert_int_equal(l->unlabelled, 0);
        assert_string_not_equal(l->slope[0].label, "");
        roof_chart_layout_free(l);
        roof_chart_free(&chart);
    }
    add_roof(gb200);
    add_model(deepseek, gb200, ROOF_PHASE_DECODE, 1, "decode");
    add_model(deepseek, gb200, ROOF_PHASE_DECODE, 128, "decode, batch 128");
    add_model(deepseek, gb200, ROOF_PHASE_PREFILL, 1, "prefill");
    struct roof_chart_layout *l = lay_out(1200, 800);
    /* More than 24 marks: those below 5% of the time have no label. */
    size_t small = 0;
    for (size_t k = 0; k < l->marks; k++) {
        assert_int_equal(l->mark[k].labelled, l->mark[k].share >= 0.05);
        small += l->mark[k].share < 0.05;
    }
    assert_true(l->marks > 24);
    assert_int_equal(l->unlabelled, small);
    roof_chart_layout_free(l);

    /* Three devices in a small image: what finds no place has no label. */
    add_roof(a100);
    add_roof(h100);
    add_model(llama, a100, ROOF_PHASE_DECODE, 1, "decode");
    add_model(llama, h100, ROOF_PHASE_DECODE, 1, "decode");
    l = lay_out(900, 900);
    roof_chart_layout_free(l);
    roof_model_free(llama);
    roof_model_free(deepseek);
    free_calibrated(a100);
    free_calibrated(h100);
    roof_hardware_free(gb200);
}

/* Only ceilings that dots run at are drawn in full: fp16 of four, and all where there are no dots.
 */
static void test_in_use(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    add_roof(device);
    struct roof_chart_layout *l = lay_out(1200, 800);
    const size_t all = l->sides;
    for (size_t i = 0; i < l->sides; i++) {
        assert_false(l->side[i].tick);
    }
    assert_true(all > 1);
    roof_chart_layout_free(l);
    add_gemm(device, 300, "compute", 0);
    l = lay_out(1200, 800);
    size_t full = 0;
    for (size_t i = 0; i < l->sides; i++) {
        full += !l->side[i].tick;
        assert_true(l->side[i].tick || l->side[i].rate == 1e12);
    }
    assert_int_equal(full, 1);
    assert_near(l->slope[0].to, 10, 1e-15); /* the roof ends at its ridge point */
    roof_chart_layout_free(l);
    roof_hardware_free(device);
}

/* A label has the whole rate, or none if its name leaves no room for it; a name that is too long
 * alone ends with dots. */
static void test_whole_rates(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    add_roof(device);
    add_line("fits=0.7TFLOPS");
    add_line("a name of 22 characters=0.5TFLOPS");
    add_line("a name that is much longer than the room that labels have beside the plot=0.3TFLOPS");
    struct roof_chart_layout *const l = lay_out(640, 480);
    size_t found = 0;
    for (size_t i = 0; i < l->sides; i++) {
        const char *const label = l->side[i].label;
        if (l->side[i].line && label[0] == 'f') {
            assert_string_equal(label, "fits 0.7 TFLOPS");
            found++;
        } else if (l->side[i].line && l->side[i].rate > 0.4e12) {
            assert_string_equal(label, "a name of 22 characters");
            found++;
        } else if (l->side[i].line) {
            assert_memory_equal(label, "a name that is much", 19);
            assert_string_equal(label + strlen(label) - 2, "..");
            found++;
        }
    }
    assert_int_equal(found, 3);
    roof_chart_layout_free(l);
    roof_hardware_free(device);
}

/* Operators below 1% of the time are not drawn and do not widen the axes, but stay in the data; the
 * note has their number. */
static void test_folded(void **unused)
{
    (void)unused;
    struct roof_hardware *const a100 = load_calibrated("a100-sxm-80gb");
    struct roof_model *const llama = load("llama-2-7b");
    struct roof_text text = ROOF_TEXT_INIT;
    chart.fold_below = 0.01;
    add_roof(a100);
    add_model(llama, a100, ROOF_PHASE_DECODE, 1, "decode");
    size_t folded = 0;
    for (size_t i = 0; i < chart.dots; i++) {
        assert_int_equal(chart.dot[i].folded, chart.dot[i].share < 0.01);
        folded += chart.dot[i].folded;
    }
    assert_true(folded > 0 && folded < chart.dots);
    struct roof_chart_layout *const l = lay_out(1200, 800);
    size_t drawn = 0;
    for (size_t i = 0; i < l->marks; i++) {
        drawn += l->mark[i].dots;
    }
    assert_int_equal(drawn, chart.dots - folded);
    roof_chart_note(&text, &chart, ROOF_NOTE_FOLDED);
    assert_int_equal(strtoul(text.data, NULL, 10), folded);
    roof_chart_layout_free(l);
    roof_text_free(&text);
    roof_model_free(llama);
    free_calibrated(a100);
}

/* A scenario that does not fit is named with what it needs and what there is. */
static void test_unfit(void **unused)
{
    (void)unused;
    struct roof_hardware *const t4 = load_device("t4");
    struct roof_model *const llama = load("llama-3-70b");
    struct roof_text text = ROOF_TEXT_INIT;
    add_roof(t4);
    add_model(llama, t4, ROOF_PHASE_DECODE, 1, "decode");
    add_model(llama, t4, ROOF_PHASE_DECODE, 2, "decode, batch 2");
    roof_chart_note(&text, &chart, ROOF_NOTE_UNFIT);
    assert_int_equal(chart.unfits, 2);
    assert_int_equal(strncmp(text.data, "decode does not fit: it needs ", 30), 0);
    assert_non_null(strstr(text.data, ", and t4 has "));
    assert_non_null(strstr(text.data, "; 1 more does not fit"));
    roof_text_free(&text);
    roof_model_free(llama);
    roof_hardware_free(t4);
}

/* Gives a dot shares of its pass, below the limit of those that are drawn. */
static void fold(size_t dot, size_t roof, size_t group, double share, double expected_share)
{
    chart.dot[dot].folded = true;
    chart.dot[dot].roof = roof;
    chart.dot[dot].group = group;
    chart.dot[dot].share = share;
    chart.dot[dot].expected_share = expected_share;
}

static void expect_note(enum roof_chart_note note, const char *expected)
{
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_put(&text, "");
    roof_chart_note(&text, &chart, note);
    assert_string_equal(text.length > 0 ? text.data : "", expected);
    roof_text_free(&text);
}

/* Shares are added up within one pass on one device, and rounded up. */
static void test_note_of_folded(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_hardware *const h100 = load_device("h100-sxm");
    add_roof(device);
    add_roof(h100);
    expect_note(ROOF_NOTE_FOLDED, "");
    for (int i = 0; i < 5; i++) {
        add_gemm(device, 30, "small", 0);
    }
    chart.fold_below = 0.02;
    chart.dot[4].share = 0.9;
    fold(0, 0, 0, 0.0111, 0.0131);
    expect_note(ROOF_NOTE_FOLDED, "1 operator below 2% of the time (together at most 1.2% of the "
                                  "bound) is not drawn");
    fold(1, 0, 0, 0.0112, 0.0132);
    fold(2, 1, 0, 0.015, 0.016);
    fold(3, 0, 1, 0.017, 0.018);
    expect_note(ROOF_NOTE_FOLDED, "4 operators below 2% of the time (together at most 2.3% of the "
                                  "bound) are not drawn");
    chart.expected = true;
    expect_note(ROOF_NOTE_FOLDED, "4 operators below 2% of the bound and of the expected time "
                                  "(together at most 2.3% of the bound, 2.7% of the expected "
                                  "time) are not drawn");
    fold(3, 0, ROOF_CHART_GROUPS_MAX - 1, 0.5, 0.6);
    expect_note(ROOF_NOTE_FOLDED, "4 operators below 2% of the bound and of the expected time "
                                  "(together at most 50.0% of the bound, 60.0% of the expected "
                                  "time) are not drawn");
    for (size_t i = 0; i < 4; i++) { /* no expected time is known */
        chart.dot[i].expected_share = ROOF_UNKNOWN;
    }
    expect_note(ROOF_NOTE_FOLDED, "4 operators below 2% of the time (together at most 50.0% of the "
                                  "bound) are not drawn");
    roof_hardware_free(device);
    roof_hardware_free(h100);
}

static void test_notes(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_hardware *const h100 = load_device("h100-sxm");
    add_roof(device);
    add_roof(h100);
    expect_note(ROOF_NOTE_UNFIT, "");
    expect_note(ROOF_NOTE_LEFT_OUT, "");
    expect_note(ROOF_NOTE_UNKNOWN, "");
    (void)snprintf(chart.unfit, sizeof chart.unfit, "decode does not fit");
    chart.unfits = 1;
    expect_note(ROOF_NOTE_UNFIT, "decode does not fit");
    chart.unfits = 2;
    expect_note(ROOF_NOTE_UNFIT, "decode does not fit; 1 more does not fit");
    chart.unfits = 3;
    expect_note(ROOF_NOTE_UNFIT, "decode does not fit; 2 more do not fit");
    chart.left_out = 1;
    expect_note(ROOF_NOTE_LEFT_OUT, "1 operator without FLOPs or a known peak is not drawn");
    chart.left_out = 2;
    chart.left_out_share = 0.0123;
    expect_note(ROOF_NOTE_LEFT_OUT, "2 operators without FLOPs or a known peak, at most 1.3% of "
                                    "the time, are not drawn");
    for (int i = 0; i < 4; i++) {
        add_gemm(device, 30, "dot", i == 0 ? 108e-9 : 0); /* of the first the time is measured */
    }
    expect_note(ROOF_NOTE_UNKNOWN, ""); /* expected times were not asked for */
    chart.expected = true;
    chart.dot[2].folded = chart.dot[3].folded = true;
    chart.dot[1].roof = 1;
    expect_note(ROOF_NOTE_UNKNOWN, "no expected time is known for 1 dot (h100-sxm)");
    chart.dot[2].folded = chart.dot[3].folded = false;
    expect_note(ROOF_NOTE_UNKNOWN, "no expected time is known for 3 dots (h100-sxm)");
    roof_hardware_free(device);
    roof_hardware_free(h100);
}

static void expect_formats(const struct roof_chart_ceiling *ceiling, bool all, const char *expected)
{
    struct roof_text text = ROOF_TEXT_INIT;
    roof_chart_put_formats(&text, &chart, ceiling, all);
    assert_string_equal(text.data, expected);
    roof_text_free(&text);
}

/* A label names two formats, or one and how many more there are; those that dots use, if any. */
static void test_formats_of_ceilings(void **unused)
{
    (void)unused;
    struct roof_chart_ceiling c = {
        .unit = ROOF_COMPUTE_MATRIX, .format = {P(FP32), P(BF16), P(FP16)}, .formats = 2};
    expect_formats(&c, false, "fp32, bf16");
    c.formats = 3;
    expect_formats(&c, false, "fp32 +2 more");
    expect_formats(&c, true, "fp32, bf16, fp16");
    c.in_use = true;
    c.used[1] = c.used[2] = true;
    c.unit = ROOF_COMPUTE_VECTOR;
    expect_formats(&c, false, "bf16, fp16 vector");
    c.used[1] = false;
    expect_formats(&c, false, "fp16 vector");
    chart.chosen = true;
    expect_formats(&c, false, "fp32 +2 more vector");
}

/* The width of ASCII letters and digits in DejaVu Sans at 100 pixels, as its file has them; others
 * are as wide as a digit. */
static void test_text_width(void **unused)
{
    (void)unused;
    assert_near(roof_script_text_width("0123456789", 100), 640, 1e-12);
    assert_near(roof_script_text_width("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 100), 1748, 1e-12);
    assert_near(roof_script_text_width("abcdefghijklmnopqrstuvwxyz", 50), 730, 1e-12);
    assert_near(roof_script_text_width(" !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", 100), 1827, 1e-12);
    assert_near(roof_script_text_width("\u20ac\u00e9", 100), 128, 1e-12);
}

/* An SVG has the title of the chart, escaped, and none of gnuplot's. */
static void test_svg(void **unused)
{
    (void)unused;
    static const char svg[] = "<?xml?><svg width=\"9\"><title>Gnuplot</title><desc>Produced</desc>"
                              "<g><title>gnuplot_plot_1</title><path/></g></svg>";
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_text summary = ROOF_TEXT_INIT;
    struct roof_text text = ROOF_TEXT_INIT;
    add_roof(device);
    add_gemm(device, 300, "compute", 0);
    roof_chart_name(chart.title, "a < b & c");
    roof_chart_summary(&summary, &chart);
    roof_svg_entitle(&text, svg, sizeof svg - 1, chart.title, summary.data);
    assert_non_null(strstr(text.data, "<title id=\"title\">a &lt; b &amp; c</title>"));
    assert_non_null(strstr(text.data, "role=\"img\" aria-labelledby=\"title desc\" width=\"9\">"));
    assert_non_null(strstr(
        text.data, "synthetic: 100 GB/s, fp16 1 TFLOPS; formats that no dot uses: nvfp4 4 TFLOPS, "
                   "fp8_e4m3, fp8_e5m2, int8 2 TFLOPS, fp32 vector 0.1 TFLOPS. gemm: 1 dot.</desc>"
                   "<g><path/></g></svg>"));
    roof_text_clear(&text);
    roof_svg_entitle(&text, "<svg/>", 6, chart.title, summary.data);
    roof_text_free(&summary);
    assert_string_equal(text.data, "<svg/>");
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* A PDF gets an update at its end: an object with the title, and a table that says where that is.
 */
static void test_pdf(void **unused)
{
    (void)unused;
    static const char pdf[] = "%PDF-1.5\n1 0 obj\n<< >>\nendobj\nxref\n0 2\n"
                              "trailer\n<< /Size 2\n   /Root 1 0 R\n   /Info 1 0 R\n>>\n"
                              "startxref\n32\n%%EOF";
    struct roof_text text = ROOF_TEXT_INIT;
    roof_pdf_entitle(&text, pdf, sizeof pdf - 1, "A\xc3\xa9\xf0\x9f\x98\x80\xff", "B");
    assert_memory_equal(text.data, pdf, sizeof pdf - 1);
    const char *const object = strstr(text.data, "2 0 obj\n");
    assert_non_null(object);
    assert_non_null(strstr(object, "/Title <FEFF004100E9D83DDE00FFFD>\n   /Subject <FEFF0042>"));
    const char *const table = strstr(object, "xref\n2 1\n");
    assert_non_null(table);
    assert_int_equal(strtoul(table + 9, NULL, 10), object - text.data);
    assert_non_null(strstr(table, "/Size 3\n   /Root 1 0 R\n   /Info 2 0 R\n   /Prev 32\n"));
    assert_int_equal(strtoul(strstr(table, "startxref\n") + 10, NULL, 10), table - text.data);
    static const char *const others[] = {"no PDF", "trailer\n<< /Size 2 >>",
                                         "trailer\n<< /Size 2 /Root 1 0 R >>",
                                         "trailer\n<< /Size x /Root 1 0 R >>\nstartxref\n32"};
    for (size_t i = 0; i < COUNT(others); i++) {
        roof_text_clear(&text);
        roof_pdf_entitle(&text, others[i], strlen(others[i]), "A", "B");
        assert_string_equal(text.data, others[i]);
    }
    roof_text_free(&text);
}

/* Later versions of cairo have a stream in place of the table; so has the update: an entry for the
 * title and one for the stream itself, each with a type, an offset and a generation. */
static void test_pdf_stream(void **unused)
{
    (void)unused;
    static const char pdf[] =
        "%PDF-1.5\n2 0 obj\n<< /Type /XRef\n   /Size 3\n   /W [1 2 2]\n"
        "   /Root 1 0 R\n   /Info 1 0 R\n>>\nstream\na\0b\nendstream\nendobj\n"
        "startxref\n9\n%%EOF\n";
    const size_t length = sizeof pdf - 1;
    struct roof_text text = ROOF_TEXT_INIT;
    roof_pdf_entitle(&text, pdf, length, "A", "B");
    assert_memory_equal(text.data, pdf, length);
    const char *const update = text.data + length;
    assert_memory_equal(update, "3 0 obj\n<< /Title <FEFF0041>", 28);
    const char *const table = strstr(update, "4 0 obj\n<< /Type /XRef\n   /Length 14\n   /Size 5\n"
                                             "   /Index [3 2]\n   /W [1 4 2]\n   /Root 1 0 R\n"
                                             "   /Info 3 0 R\n   /Prev 9\n>>\nstream\n");
    assert_non_null(table);
    const char entries[14] = {
        1, 0, 0, 0, (char)length, 0, 0, 1, 0, 0, 0, (char)(table - text.data)};
    const char *const stream = strstr(table, "stream\n") + 7;
    assert_memory_equal(stream, entries, sizeof entries);
    const char *const end = stream + sizeof entries;
    assert_memory_equal(end, "\nendstream\nendobj\nstartxref\n", 28);
    assert_int_equal(strtoul(end + 28, NULL, 10), table - text.data);
    roof_text_free(&text);
}

/* --- drawings ------------------------------------------------------------------------------ */

/* The number of the line of text that has a word; -1: none. */
static int line_of(const char *text, const char *word)
{
    const char *const at = strstr(text, word);
    int line = at == NULL ? -1 : 0;
    for (const char *c = text; at != NULL && c < at; c++) {
        line += *c == '\n';
    }
    return line;
}

static void test_text(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_text text = ROOF_TEXT_INIT;
    add_roof(device);
    add_gemm(device, 300, "compute", 0);
    roof_chart_name(chart.title, "Title");
    for (int unicode = 0; unicode < 2; unicode++) {
        roof_text_clear(&text);
        assert_int_equal(roof_chart_text(&text, &chart,
                                         &(struct roof_chart_look){80, unicode == 1, false},
                                         &error),
                         ROOF_OK);
        assert_int_equal(line_of(text.data, "Title"), 0);
        /* The mark is in the line of its ceiling, 1 TFLOP/s, which has a tick. */
        const int row = line_of(text.data, " fp16 1 TFLOPS, ridge 10");
        assert_true(row > 0);
        const char *line = text.data;
        for (int i = 0; i < row; i++) {
            line = strchr(line, '\n') + 1;
        }
        const char *const mark = strchr(line + 7, 'A');
        assert_true(mark != NULL && mark < strstr(line, "fp16"));
        assert_memory_equal(line, "    1 ", 6);
        assert_non_null(strstr(text.data, "gemm          FLOP/byte    TFLOPS  bound\n"
                                          "  A  compute        100      1.00  compute\n"));
        size_t width = 0;
        for (const char *c = text.data; *c != '\0'; c++) {
            assert_true(unicode == 1 || (unsigned char)*c < 0x80);
            width = *c == '\n' ? 0 : width + (((unsigned char)*c & 0xc0) != 0x80);
            assert_true(width <= 80);
        }
    }
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* In colours, each device has its own, which ends with the line; without escapes it is the same. */
static void test_colours(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_hardware *const h100 = load_device("h100-sxm");
    struct roof_text plain = ROOF_TEXT_INIT;
    struct roof_text text = ROOF_TEXT_INIT;
    const struct roof_chart_look looks[] = {{80, true, false}, {80, true, true}};
    add_roof(device);
    add_roof(h100);
    add_gemm(h100, 300, "compute", 108e-6);
    chart.dot[0].roof = 1;
    assert_int_equal(roof_chart_text(&plain, &chart, &looks[0], &error), ROOF_OK);
    assert_int_equal(roof_chart_text(&text, &chart, &looks[1], &error), ROOF_OK);
    assert_null(strchr(plain.data, '\033'));
    assert_non_null(strstr(text.data, "  \033[38;5;32mA\033[0m  compute"));
    char *to = text.data;
    bool coloured = false;
    for (const char *from = text.data; *from != '\0'; from++) {
        assert_false(*from == '\n' && coloured);
        if (*from == '\033') {
            coloured = strncmp(from, "\033[38;5;32m", 10) == 0;
            assert_true(coloured || strncmp(from, "\033[0m", 4) == 0);
            from = strchr(from, 'm');
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    assert_string_equal(text.data, plain.data);
    roof_text_free(&text);
    roof_text_free(&plain);
    roof_hardware_free(device);
    roof_hardware_free(h100);
}

/* A name is a single text in quotes, whatever is in it: what could end it is an octal number. */
static void test_gnuplot_quotes(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_text text = ROOF_TEXT_INIT;
    add_roof(device);
    add_gemm(device, 300, "x'; system 'touch bad'\n!touch bad", 0);
    add_line("`id` \"$(id)\" @m \\ %s=1TFLOPS");
    assert_int_equal(roof_chart_gnuplot(&text, &chart, ROOF_CHART_SVG, 1200, 800, &error), ROOF_OK);
    assert_non_null(
        strstr(text.data, "set label \"x\\047\\073 system \\047touch bad\\047 \\041touch bad\""));
    assert_non_null(strstr(text.data, "set label \"\\140id\\140 \\042\\044(id)\\042 \\100m \\134 "
                                      "%s 1 TFLOPS\""));
    /* On each line quotes are paired, so none of the text is outside of them. */
    bool quoted = false;
    for (const char *c = text.data; *c != '\0'; c++) {
        assert_false(*c == '\n' && quoted);
        quoted = *c == '"' ? !quoted : quoted;
        assert_true(*c != '`' && *c != '@');
    }
    roof_text_free(&text);
    roof_hardware_free(device);
}

static void test_gnuplot_data(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_text text = ROOF_TEXT_INIT;
    add_roof(device);
    add_gemm(device, 30, "measured", 108e-9);
    static const char *const terminals[] = {"set terminal svg ", "set terminal pngcairo ",
                                            "set terminal pdfcairo "};
    for (int i = 0; i < 3; i++) {
        roof_text_clear(&text);
        assert_int_equal(
            roof_chart_gnuplot(&text, &chart, (enum roof_chart_image)i, 1000, 500, &error),
            ROOF_OK);
        assert_non_null(strstr(text.data, terminals[i]));
        assert_non_null(strstr(text.data, i == 2 ? "size 10in,5in " : "size 1000,500 "));
        /* The ridge point of fp16, the only format in use; and from the bound to the measurement.
         */
        assert_non_null(strstr(text.data, "$ridge_1 << EOD\n10 1\nEOD\n"));
        assert_non_null(strstr(text.data, "$whiskers << EOD\n10 1 0x0072B2\n10 0.5 0x0072B2\n\n"));
        assert_non_null(strstr(text.data, "$whiskers using"));
    }
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* An image that is larger than a screen is the same chart in larger characters, lines and points.
 */
static void test_gnuplot_poster(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_text screen = ROOF_TEXT_INIT;
    struct roof_text poster = ROOF_TEXT_INIT;
    add_roof(device);
    add_gemm(device, 30, "a dot", 108e-9);
    assert_int_equal(roof_chart_gnuplot(&screen, &chart, ROOF_CHART_SVG, 1600, 1000, &error),
                     ROOF_OK);
    assert_int_equal(roof_chart_gnuplot(&poster, &chart, ROOF_CHART_SVG, 4800, 3000, &error),
                     ROOF_OK);
    assert_non_null(strstr(screen.data, "font 'DejaVu Sans,13'\n"));
    assert_non_null(strstr(poster.data, "font 'DejaVu Sans,39' linewidth 3\n"));
    assert_non_null(strstr(screen.data, "set label \"a dot, 50%\" at "));
    /* Each label is at the same place. */
    const char *at = screen.data;
    size_t labels = 0;
    while ((at = strstr(at, "set label ")) != NULL) {
        char place[256];
        (void)snprintf(place, sizeof place, "%.*s", (int)strcspn(at, "f"), at);
        assert_non_null(strstr(poster.data, place));
        at++;
        labels++;
    }
    assert_true(labels > 5);
    /* Points of an SVG grow with its font, those of a PNG do not. */
    assert_non_null(strstr(poster.data, "pointsize 0.55556, \\\n"));
    roof_text_clear(&poster);
    assert_int_equal(roof_chart_gnuplot(&poster, &chart, ROOF_CHART_PNG, 4800, 3000, &error),
                     ROOF_OK);
    assert_non_null(strstr(poster.data, "pointsize 2.67857, \\\n"));
    roof_text_free(&screen);
    roof_text_free(&poster);
    roof_hardware_free(device);
}

/* The legend stands above the plot, in as many lines as it needs; with no room left there is no
 * chart. */
static void test_gnuplot_legend(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_prediction p;
    const struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = 30, .n = 30, .k = 30});
    add_roof(device);
    assert_int_equal(roof_predict(&p, &w, device, &error), ROOF_OK);
    for (int i = 0; i < ROOF_CHART_GROUPS_MAX; i++) {
        char name[ROOF_CHART_NAME_SIZE];
        memset(name, 'x', sizeof name - 1); /* as long as a name can be */
        name[sizeof name - 1] = '\0';
        name[0] = (char)('a' + i);
        assert_int_equal(roof_chart_add(&chart, &p, "x", name, 1, ROOF_UNKNOWN, &error), ROOF_OK);
    }
    /* A line of 18 pixels each, below the title's 46: 46 + 24 x 18 of 1000. */
    assert_int_equal(roof_chart_gnuplot(&text, &chart, ROOF_CHART_SVG, 1000, 1000, &error),
                     ROOF_OK);
    assert_non_null(strstr(text.data, "set tmargin at screen 0.522\n"));
    roof_text_clear(&text);
    /* The meaning of filled and hollow is one more item. */
    roof_predict_measured(&p, 108e-9);
    assert_int_equal(roof_chart_add(&chart, &p, "x", chart.group[0], 1, ROOF_UNKNOWN, &error),
                     ROOF_OK);
    assert_int_equal(roof_chart_gnuplot(&text, &chart, ROOF_CHART_SVG, 1000, 1000, &error),
                     ROOF_OK);
    assert_non_null(strstr(text.data, "set tmargin at screen 0.504\n"));
    assert_non_null(strstr(text.data, "set label \"dot: bound\\073 tick: measured"));
    assert_int_equal(roof_chart_gnuplot(&text, &chart, ROOF_CHART_SVG, 1000, 600, &error),
                     ROOF_USAGE);
    assert_non_null(strstr(error.message, "1000x600 is too small for the names of 24 groups"));
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* A note that is longer than the image is wide is split between words, in lines of their own. */
static void test_gnuplot_notes(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_text text = ROOF_TEXT_INIT;
    add_roof(device);
    chart.fold_below = 0.02;
    chart.expected = true;
    for (size_t i = 0; i < 2; i++) {
        add_gemm(device, 30, "small", 0);
        fold(i, 0, 0, 0.01, 0.01);
    }
    chart.left_out = 3;
    /* 562 pixels right of 78 hold 90 characters of 7.3 x 11/13 pixels. */
    assert_int_equal(roof_chart_gnuplot(&text, &chart, ROOF_CHART_SVG, 640, 480, &error), ROOF_OK);
    assert_non_null(strstr(text.data,
                           "\"2 operators below 2% of the bound and of the expected time "
                           "(together at most 2.0% of the\" at "));
    assert_non_null(strstr(text.data, "\"bound, 2.0% of the expected time) are not drawn\" at "));
    assert_non_null(
        strstr(text.data, "\"3 operators without FLOPs or a known peak are not drawn\" at "));
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* The zone of memory-bound intensities ends where that of compute-bound ones begins if one ceiling
 * is in use, also at a ridge point below 1 FLOP/byte. */
static void test_gnuplot_zones(void **unused)
{
    (void)unused;
    static const char *const devices[] = {
        SYNTHETIC, "{\"id\": \"low\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 0.05}}"};
    struct roof_text text = ROOF_TEXT_INIT;
    for (size_t i = 0; i < COUNT(devices); i++) {
        struct roof_hardware *const device = parse_device(devices[i]);
        roof_text_clear(&text);
        add_roof(device);
        add_gemm(device, 30, "a", 0);
        assert_int_equal(roof_chart_gnuplot(&text, &chart, ROOF_CHART_SVG, 1000, 500, &error),
                         ROOF_OK);
        double memory[4];
        double compute[4];
        const char *const first = strstr(text.data, "set object 1 ");
        const char *const second = strstr(text.data, "set object 2 ");
        assert_true(first != NULL && second != NULL);
        assert_int_equal(sscanf(first,
                                "set object 1 rectangle from screen %lf,%lf to screen %lf,%lf",
                                &memory[0], &memory[1], &memory[2], &memory[3]),
                         4);
        assert_int_equal(sscanf(second,
                                "set object 2 rectangle from screen %lf,%lf to screen %lf,%lf",
                                &compute[0], &compute[1], &compute[2], &compute[3]),
                         4);
        assert_true(memory[0] < memory[2] && compute[0] < compute[2]);
        assert_near(memory[2], compute[0], 0);
        roof_chart_free(&chart);
        roof_hardware_free(device);
    }
    roof_text_free(&text);
}

/* Returns the column behind a text in its line. */
static size_t end_of(const char *text, const char *word)
{
    const char *const at = strstr(text, word);
    assert_non_null(at);
    size_t column = strlen(word);
    for (const char *c = at; c > text && c[-1] != '\n'; c--) {
        column++;
    }
    return column;
}

/* Numbers stand below the headings of their columns if the name of the group has up to 40
 * characters. */
static void test_text_headings(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_prediction p;
    const struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = 300, .n = 300, .k = 300});
    char group[41];
    add_roof(device);
    assert_int_equal(roof_predict(&p, &w, device, &error), ROOF_OK);
    memset(group, 'x', sizeof group - 1);
    group[sizeof group - 1] = '\0';
    assert_int_equal(roof_chart_add(&chart, &p, "dot", group, 1, ROOF_UNKNOWN, &error), ROOF_OK);
    assert_int_equal(
        roof_chart_text(&text, &chart, &(struct roof_chart_look){100, false, false}, &error),
        ROOF_OK);
    const char *const table = strstr(text.data, group);
    assert_non_null(table);
    assert_int_equal(end_of(table, "TFLOPS"), end_of(table, " 1.00"));
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* A page prints the characters that it was given, of one to four bytes. */
static void test_characters(void **unused)
{
    (void)unused;
    uint32_t cells[5] = {0};
    const struct roof_page page = {.columns = 5, .rows = 1, .cell = cells, .unicode = true};
    struct roof_text text = ROOF_TEXT_INIT;
    roof_page_write(&page, 0, 0, "a\u00e9\u20ac\U0001f600");
    roof_page_put(&text, &page);
    assert_string_equal(text.data, "a\u00e9\u20ac\U0001f600\n");
    roof_text_free(&text);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {CASE(test_ceilings),
                                       CASE(test_ceilings_asked_for),
                                       CASE(test_refused_roofs),
                                       CASE(test_lines),
                                       CASE(test_attainable),
                                       CASE(test_power_roof),
                                       CASE(test_dots),
                                       CASE(test_model),
                                       CASE(test_names),
                                       CASE(test_places),
                                       CASE(test_marks_merge),
                                       CASE(test_whiskers_apart),
                                       CASE(test_shared_labels),
                                       CASE(test_equal_devices),
                                       CASE(test_labels),
                                       CASE(test_text),
                                       CASE(test_colours),
                                       CASE(test_gnuplot_quotes),
                                       CASE(test_gnuplot_data),
                                       CASE(test_gnuplot_poster),
                                       CASE(test_gnuplot_legend),
                                       CASE(test_gnuplot_notes),
                                       CASE(test_gnuplot_zones),
                                       CASE(test_text_headings),
                                       CASE(test_characters),
                                       CASE(test_in_use),
                                       CASE(test_whole_rates),
                                       CASE(test_folded),
                                       CASE(test_unfit),
                                       CASE(test_note_of_folded),
                                       CASE(test_notes),
                                       CASE(test_formats_of_ceilings),
                                       CASE(test_text_width),
                                       CASE(test_svg),
                                       CASE(test_pdf),
                                       CASE(test_pdf_stream)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
