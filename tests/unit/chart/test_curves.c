// SPDX-License-Identifier: MIT
/* Charts of curves: fronts, axes and ticks by hand, and text that means nothing to what draws it.
 */
#include "support.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "chart/curves.h"

static struct roof_curves curves;
static struct roof_error error;

static int set_up(void **unused)
{
    (void)unused;
    roof_curves_init(&curves);
    error = (struct roof_error){0};
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    roof_curves_free(&curves);
    return 0;
}

static size_t find(const char *name, bool bound)
{
    size_t curve = 0;
    assert_int_equal(roof_curves_find(&curve, &curves, name, bound, &error), ROOF_OK);
    return curve;
}

static void add(const char *name, double x, double y, const char *label)
{
    assert_int_equal(roof_curves_add(&curves, find(name, false), x, y, label, &error), ROOF_OK);
}

/* Tells if the point with a label lies on the front of its curve. */
static bool on_front(const char *label)
{
    for (size_t i = 0; i < curves.points; i++) {
        if (strcmp(curves.point[i].label, label) == 0) {
            return !curves.point[i].behind;
        }
    }
    fail_msg("there is no point %s", label);
    return false;
}

/* More of both is better: a point is on the front unless another of its curve has as much of one
 * and more of the other. */
static void test_front(void **unused)
{
    (void)unused;
    curves.front = true;
    add("one", 3, 1, "right");
    add("one", 1, 3, "left");
    add("one", 2, 2, "middle");
    add("one", 1.5, 1.9, "below");
    add("one", 2, 1.5, "same x");
    add("two", 0.4, 9, "far above"); /* no better than a point of another curve */
    add("one", 1.2, 2, "same y");
    add("two", 0.5, 0.5, "another curve");
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_true(on_front("right") && on_front("left") && on_front("middle"));
    assert_false(on_front("below") || on_front("same x") || on_front("same y"));
    assert_true(on_front("another curve"));
    /* The points of a curve follow each other to the right. */
    for (size_t i = 1; i < curves.points; i++) {
        assert_true(curves.point[i].curve != curves.point[i - 1].curve ||
                    curves.point[i].x >= curves.point[i - 1].x);
    }
}

/* Without a front no point is behind another. */
static void test_no_front(void **unused)
{
    (void)unused;
    add("one", 1, 1, "low");
    add("one", 2, 2, "high");
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_true(on_front("low") && on_front("high"));
}

static void assert_ticks(const struct roof_curve_axis *axis, const double *ticks, size_t count)
{
    assert_int_equal(axis->ticks, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(fabs(axis->tick[i] - ticks[i]) < 1e-9 * ticks[count - 1]);
    }
}

/* 1 to 64 are powers of two, all of which have a tick; 3 to 250 have 5 to 200. */
static void test_logarithmic(void **unused)
{
    (void)unused;
    curves.x.scale = ROOF_SCALE_TWO;
    curves.y.scale = ROOF_SCALE_TEN;
    add("one", 1, 3.5, "");
    add("one", 64, 250, "");
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_ticks(&curves.x, (const double[]){1, 2, 4, 8, 16, 32, 64}, 7);
    assert_ticks(&curves.y, (const double[]){3, 5, 10, 20, 50, 100, 200, 300}, 8);
    assert_true(curves.y.min == 3 && curves.y.max == 300);
    /* 8 is in the middle between 1 and 64 in logarithms. */
    assert_true(fabs(roof_curve_place(&curves.x, 8) - 0.5) < 1e-9);
    assert_true(fabs(roof_curve_place(&curves.y, 30) - 0.5) < 1e-9);
}

/* Up to four decades have ticks at 1, 2 and 5. An end has one, too, unless the next one is near:
 * 90000 is 1.8 times 50000, but 50 only 1.25 times 40. More decades have ticks at powers of ten. */
static void test_decades(void **unused)
{
    (void)unused;
    curves.x.scale = curves.y.scale = ROOF_SCALE_TEN;
    add("one", 45, 2, "");
    add("one", 81000, 400000, "");
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_true(curves.x.min == 40 && curves.x.max == 90000);
    assert_ticks(&curves.x,
                 (const double[]){50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 90000},
                 11);
    assert_true(curves.y.min == 2 && curves.y.max == 500000);
    assert_ticks(&curves.y, (const double[]){2, 10, 100, 1000, 10000, 100000, 500000}, 7);
}

/* A line for an event is in the text, the script and the summary. */
static void test_event(void **unused)
{
    const struct roof_chart_look look = {.columns = 60};
    struct roof_text text = ROOF_TEXT_INIT;
    (void)unused;
    curves.dense = true;
    curves.x.end = 100;
    add("one", 0, 0, "");
    add("one", 100, 50, "");
    (void)strcpy(curves.event.name, "the end");
    curves.event.x = 40;
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_true(curves.x.max == 100);
    assert_int_equal(roof_curves_text(&text, &curves, &look, &error), ROOF_OK);
    assert_non_null(strstr(text.data, ": the end"));
    roof_text_clear(&text);
    assert_int_equal(roof_curves_gnuplot(&text, &curves, ROOF_CHART_SVG, 800, 500, &error),
                     ROOF_OK);
    assert_non_null(strstr(text.data, "set label \"the end\""));
    roof_text_clear(&text);
    roof_curves_summary(&text, &curves);
    assert_non_null(strstr(text.data, "the end: 40."));
    roof_text_free(&text);
}

/* Values that are near each other are on a linear axis, which begins at 0: to 100 with steps of 20,
 * as 87 / 4 is above 20. */
static void test_linear(void **unused)
{
    (void)unused;
    curves.x.scale = ROOF_SCALE_TWO;
    curves.y.scale = ROOF_SCALE_TEN;
    add("one", 2, 87, "");
    add("one", 3, 50, "");
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_ticks(&curves.y, (const double[]){0, 20, 40, 60, 80, 100}, 6);
    assert_true(fabs(roof_curve_place(&curves.y, 25) - 0.25) < 1e-9);
    assert_true(curves.x.min == 0 && curves.x.max >= 3);
}

/* An axis of nothing but zeros ends above 1: 1.2 with steps of 0.2, as 1 / 4 is above 0.2. */
static void test_zeros(void **unused)
{
    (void)unused;
    curves.dense = true;
    add("one", -1, 5, ""); /* it has no place */
    add("one", 1, -5, "");
    add("one", 0, 0, "");
    add("one", 10, 0, "");
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_ticks(&curves.y, (const double[]){0, 0.2, 0.4, 0.6, 0.8, 1, 1.2}, 7);
    assert_true(curves.y.min == 0 && fabs(curves.y.max - 1.2) < 1e-12);
}

/* An axis of values below 1 ends just above them: 0.6 with steps of 0.1, as 0.5 / 4 is above 0.1.
 */
static void test_small(void **unused)
{
    (void)unused;
    add("one", 1, 0.4, "");
    add("one", 2, 0.5, "");
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_ticks(&curves.y, (const double[]){0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, 7);
}

/* A limit is within the axis, and one that is unknown is none. */
static void test_limits(void **unused)
{
    (void)unused;
    curves.y.scale = ROOF_SCALE_TEN;
    add("one", 1, 20, "");
    roof_curves_add_limit(&curves, "limit", 900);
    roof_curves_add_limit(&curves, "none", ROOF_UNKNOWN);
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_int_equal(curves.limits, 1);
    assert_true(curves.y.max >= 900);
}

/* A value that is unknown has no point; a chart without points is refused. */
static void test_refused(void **unused)
{
    (void)unused;
    add("one", 1, ROOF_UNKNOWN, "");
    add("one", 1, HUGE_VAL, "");
    add("one", 0, 1, "");
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_USAGE);
    curves.unfit = 2;
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_UNSATISFIED);
    for (int i = 1; i < ROOF_CURVES_MAX; i++) {
        char name[12];
        (void)snprintf(name, sizeof name, "%d", i);
        (void)find(name, false);
    }
    size_t curve = 0;
    assert_int_equal(roof_curves_find(&curve, &curves, "too many", false, &error), ROOF_USAGE);
}

/* A lower bound has the colour and letter of its curve, which others count without it. */
static void test_bounds(void **unused)
{
    (void)unused;
    const size_t one = find("one", false);
    const size_t bound = find("one", true);
    const size_t two = find("two", false);
    assert_int_equal(find("one", false), one);
    assert_int_equal(find("one", true), bound);
    assert_int_equal(curves.curve[bound].of, one);
    assert_int_equal(roof_curve_number(&curves, one), 0);
    assert_int_equal(roof_curve_number(&curves, bound), 0);
    assert_int_equal(roof_curve_number(&curves, two), 1);
}

/* Returns the column of a character of a text. */
static size_t column_of(const char *at)
{
    size_t column = 0;
    while (at[-1 - (ptrdiff_t)column] != '\n') {
        column++;
    }
    return column;
}

/* Points stand where their values are: the least at the lower left, the greatest at the upper
 * right, and the table has all of them. */
static void test_text(void **unused)
{
    (void)unused;
    struct roof_text text = ROOF_TEXT_INIT;
    roof_chart_name(curves.title, "Title");
    roof_chart_name(curves.y.name, "y name");
    add("one", 1, 1, "");
    add("one", 4, 4, "");
    curves.unfit = 1;
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_int_equal(
        roof_curves_text(&text, &curves, &(struct roof_chart_look){60, false, false}, &error),
        ROOF_OK);
    const char *const high = strchr(text.data, 'A');
    const char *const low = strchr(high + 1, 'A');
    assert_true(column_of(high) > column_of(low)); /* and it stands above, as it comes first */
    assert_int_equal(strncmp(text.data, "Title\ny name\n", 13), 0);
    assert_non_null(strstr(text.data, "\n  A  one\n"));
    assert_non_null(strstr(text.data, "\n         4      4.00\n"));
    assert_non_null(strstr(text.data, "not drawn, because the memory is too small: 1 point\n"));
    for (const char *line = text.data; *line != '\0'; line++) {
        const size_t length = strcspn(line, "\n");
        assert_true(length <= 60);
        line += length;
    }
    roof_text_free(&text);
}

/* The numbers of ticks stand apart, and one without room for a blank before it is left out: at 4.4
 * columns per tick, 512 ends in the column before 1024. */
static void test_ticks_apart(void **unused)
{
    (void)unused;
    struct roof_text text = ROOF_TEXT_INIT;
    curves.x.scale = ROOF_SCALE_TWO;
    add("one", 1, 1, "");
    add("one", 2048, 2, "");
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_int_equal(
        roof_curves_text(&text, &curves, &(struct roof_chart_look){60, false, false}, &error),
        ROOF_OK);
    const char *number = strrchr(text.data, '+');
    number = strchr(number, '\n') + 1;
    unsigned long last = 0;
    while (*number != '\n') {
        char *end = NULL;
        const unsigned long tick = strtoul(number, &end, 10);
        assert_true(tick > last && tick <= 2048 && (tick & (tick - 1)) == 0);
        last = tick;
        number = end;
    }
    assert_int_equal(last, 2048);
    roof_text_free(&text);
}

/* Names and labels are data to gnuplot, and an image without room is refused. */
static void test_gnuplot(void **unused)
{
    (void)unused;
    struct roof_text text = ROOF_TEXT_INIT;
    add("it's \"`x`\"", 1, 1, "l'abel");
    add("it's \"`x`\"", 2, 1, "");
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_int_equal(roof_curves_gnuplot(&text, &curves, ROOF_CHART_SVG, 640, 400, &error),
                     ROOF_OK);
    assert_non_null(strstr(text.data, "\"it\\047s \\042\\140x\\140\\042\""));
    assert_non_null(strstr(text.data, "\"l\\047abel\""));
    assert_non_null(strstr(text.data, "$curve_1 << EOD\n1 1\n2 1\nEOD\n"));
    for (int i = 1; i < ROOF_CURVES_MAX; i++) {
        char name[ROOF_CHART_NAME_SIZE];
        (void)snprintf(name, sizeof name, "%090d", i);
        add(name, 1, 1, "");
    }
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    assert_int_equal(roof_curves_gnuplot(&text, &curves, ROOF_CHART_SVG, 640, 400, &error),
                     ROOF_USAGE);
    roof_text_free(&text);
}

/* The summary has the ends of each curve, and the limits. */
static void test_summary(void **unused)
{
    (void)unused;
    struct roof_text text = ROOF_TEXT_INIT;
    roof_chart_name(curves.x.name, "batch");
    roof_chart_name(curves.y.name, "ms");
    add("one", 1, 5, "");
    add("one", 2, 7, "");
    roof_curves_add_limit(&curves, "limit", 6);
    assert_int_equal(roof_curves_finish(&curves, &error), ROOF_OK);
    roof_curves_summary(&text, &curves);
    assert_string_equal(text.data, "Chart of ms over batch. one: 2 points, 5 to 7. limit: 6.");
    roof_text_free(&text);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_front),   CASE(test_no_front), CASE(test_logarithmic), CASE(test_linear),
        CASE(test_zeros),   CASE(test_small),    CASE(test_limits),      CASE(test_refused),
        CASE(test_bounds),  CASE(test_text),     CASE(test_ticks_apart), CASE(test_gnuplot),
        CASE(test_summary), CASE(test_decades),  CASE(test_event)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
