// SPDX-License-Identifier: MIT
/* The places of labels of marks and slopes. The layouts are made by hand: 100 pixels are a factor
 * of ten on both axes, a character is 10 pixels wide, and a line is 20 pixels high. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chart/place.h"

#define MARKS_MAX 100
#define RADIUS 5.0

static struct roof_mark marks[MARKS_MAX];
static const struct roof_mark *by_size[MARKS_MAX];
static struct roof_chart_layout layout;

static int set_up(void **unused)
{
    (void)unused;
    memset(marks, 0, sizeof marks);
    memset(&layout, 0, sizeof layout);
    layout.canvas = (struct roof_canvas){.width = 1200,
                                         .height = 1000,
                                         .plot = {0, 0, 1000, 1000},
                                         .char_width = 10,
                                         .line_height = 20};
    layout.x_min = layout.y_min = 1;
    layout.x_max = layout.y_max = 1e10;
    layout.mark = marks;
    layout.by_size = by_size;
    return 0;
}

static struct roof_mark *add_mark(double x, double y, const char *label)
{
    struct roof_mark *const mark = &marks[layout.marks];
    by_size[layout.marks++] = mark;
    *mark = (struct roof_mark){.x = x,
                               .y = y,
                               .reached_y = ROOF_UNKNOWN,
                               .whisker_x = x,
                               .radius = RADIUS,
                               .share = ROOF_UNKNOWN,
                               .dots = 1};
    (void)snprintf(mark->label, sizeof mark->label, "%s", label);
    mark->named = strlen(label);
    return mark;
}

/* Adds a ceiling at a height that begins at a column. */
static struct roof_side *add_side(double x, double y)
{
    struct roof_side *const side = &layout.side[layout.sides++];
    *side = (struct roof_side){.rate = pow(10, (1000 - y) / 100), .from = pow(10, x / 100)};
    side->at = roof_chart_y(&layout, side->rate);
    return side;
}

/* Adds a slope from the lower left corner, up to a column. */
static struct roof_slope *add_slope(double to, const char *label)
{
    struct roof_slope *const slope = &layout.slope[layout.slopes++];
    *slope = (struct roof_slope){.rate = 1, .to = pow(10, to / 100)};
    (void)snprintf(slope->label, sizeof slope->label, "%s", label);
    return slope;
}

/* Places all labels, from the beginning. */
static void place(void)
{
    layout.unlabelled = 0;
    for (size_t i = 0; i < layout.marks; i++) {
        marks[i].labelled = false;
    }
    roof_chart_place_labels(&layout);
}

static void assert_box(const struct roof_box *box, double left, double top, double right,
                       double bottom)
{
    assert_near(box->left, left, 1e-9);
    assert_near(box->top, top, 1e-9);
    assert_near(box->right, right, 1e-9);
    assert_near(box->bottom, bottom, 1e-9);
}

static bool apart(const struct roof_box *a, const struct roof_box *b)
{
    return a->left >= b->right || b->left >= a->right || a->top >= b->bottom || b->top >= a->bottom;
}

static struct roof_box box_of(const struct roof_mark *mark)
{
    return (struct roof_box){mark->x - RADIUS, mark->y - RADIUS, mark->x + RADIUS,
                             mark->y + RADIUS};
}

/* A label is to the right of its mark, 0.3 lines away; at the right edge it is to the left. Its box
 * is as wide as its three characters and two more. */
static void test_beside(void **unused)
{
    (void)unused;
    struct roof_mark *const middle = add_mark(500, 500, "abc");
    struct roof_mark *const edge = add_mark(960, 200, "abc");
    place();
    assert_true(middle->labelled && !middle->leader);
    assert_box(&middle->box, 511, 490, 561, 510);
    assert_true(edge->labelled && !edge->leader);
    assert_box(&edge->box, 899, 190, 949, 210);
    assert_int_equal(layout.unlabelled, 0);
}

/* A label that has an edge of the plot on both sides of its mark is above or below; one that is
 * wider than the plot has no place. */
static void test_edges(void **unused)
{
    (void)unused;
    layout.canvas.plot = (struct roof_box){440, 440, 560, 560};
    struct roof_mark *const fits = add_mark(500, 500, "abcdefg"); /* 90 of 120 pixels */
    place();
    assert_true(fits->labelled);
    assert_true(fits->box.bottom <= 495 || fits->box.top >= 505);
    assert_true(fits->box.left >= 440 && fits->box.right <= 560);
    assert_true(fits->box.top >= 440 && fits->box.bottom <= 560);
    (void)snprintf(fits->label, sizeof fits->label, "%s", "twelve chars");
    place();
    assert_false(fits->labelled);
    assert_int_equal(layout.unlabelled, 1);
}

/* A label does not hide a ceiling, the line of a power cap, a slope, or a whisker beside its mark,
 * if there is another place; it may hide a tick, which is at the edge. */
static void test_lines_seen(void **unused)
{
    (void)unused;
    struct roof_mark *mark = add_mark(300, 500, "abc");
    struct roof_side *const side = add_side(100, 505);
    place();
    assert_true(mark->labelled);
    assert_true(mark->box.bottom <= 505 || mark->box.top >= 505);
    side->tick = true;
    place();
    assert_box(&mark->box, 311, 490, 361, 510);

    /* Halfway between 1e3 and 1e4, the line is 1 / (1/1e5 + 1/1e3.5), just below 1e3.5. */
    (void)set_up(NULL);
    mark = add_mark(350, 652, "abc");
    struct roof_side *const bent = add_side(0, 500);
    bent->line = true;
    bent->bend = 1;
    place();
    assert_true(mark->labelled);
    for (int i = 0; mark->box.left + i <= mark->box.right; i++) {
        const double rate = pow(10, (mark->box.left + i) / 100);
        const double y = roof_chart_y(&layout, 1 / (1e-5 + 1 / rate));
        assert_true(y <= mark->box.top + 0.5 || y >= mark->box.bottom - 0.5);
    }

    (void)set_up(NULL);
    mark = add_mark(300, 700, "abc");
    (void)add_slope(900, "");
    place();
    assert_true(mark->labelled);
    assert_true(mark->box.right <= 1000 - mark->box.bottom ||
                mark->box.left >= 1000 - mark->box.top);
    layout.slope[0].to = 10; /* it ends at 100, before the label */
    place();
    assert_box(&mark->box, 311, 690, 361, 710);

    (void)set_up(NULL);
    mark = add_mark(300, 500, "abc");
    struct roof_mark *const other = add_mark(330, 300, "abc");
    other->reached_y = 700;
    other->whisker_end = 4;
    place();
    assert_true(mark->labelled && other->labelled);
    assert_true(mark->box.right <= 330 || mark->box.left >= 330);
}

/* A label leaves the ridge point of a ceiling free, by 5 pixels at least and by 10 where it can. A
 * line has none. */
static void test_ridges(void **unused)
{
    (void)unused;
    struct roof_mark *const mark = add_mark(300, 500, "abc");
    struct roof_side *const side = add_side(335, 502);
    const struct roof_box ridge = {325, 492, 345, 512};
    place();
    assert_true(mark->labelled && apart(&mark->box, &ridge));
    side->line = true;
    side->at = 513; /* as a line it does not touch the label, and has no ridge point */
    side->rate = pow(10, 4.87);
    place();
    assert_box(&mark->box, 311, 490, 361, 510);
}

/* If there is no room beside a mark, a leader joins it to a label that is farther away. It does
 * not run along the ceiling, and crosses neither another mark nor another label. */
static void test_leader(void **unused)
{
    (void)unused;
    struct roof_mark *const mark = add_mark(500, 500, "middle");
    (void)add_side(100, 500);
    for (int i = 0; i < 12; i++) { /* a ring of marks around it, with a gap above */
        const double angle = acos(-1) * (i - 4) / 9;
        (void)add_mark(500 + 32 * cos(angle), 500 + 32 * sin(angle), "xx");
    }
    place();
    assert_true(mark->labelled && mark->leader);
    const struct roof_leader leader = roof_leader_to(mark, &mark->box);
    assert_near(leader.x0, 500, 1e-12);
    assert_near(leader.y0, 500, 1e-12);
    assert_true(fabs(leader.y1 - 500) >= 3);
    for (size_t i = 1; i < layout.marks; i++) {
        const struct roof_box other = box_of(&marks[i]);
        assert_true(apart(&mark->box, &other));
        assert_true(!marks[i].labelled || apart(&mark->box, &marks[i].box));
        for (int step = 0; step <= 100; step++) {
            const double x = leader.x0 + (leader.x1 - leader.x0) * step / 100;
            const double y = leader.y0 + (leader.y1 - leader.y0) * step / 100;
            const struct roof_box point = {x, y, x, y};
            assert_true(apart(&point, &other));
        }
    }
}

/* A leader ends inside the height of its label, at the nearest point of its box; it begins at the
 * tick of a mark whose label is at the tick. */
static void test_leader_ends(void **unused)
{
    (void)unused;
    struct roof_mark *const mark = add_mark(500, 500, "abc");
    const struct roof_box right = {600, 480, 640, 500};
    struct roof_leader leader = roof_leader_to(mark, &right);
    assert_near(leader.x1, 600, 0);
    assert_near(leader.y1, 497, 0);
    const struct roof_box above = {480, 400, 520, 420};
    leader = roof_leader_to(mark, &above);
    assert_near(leader.x1, 500, 0);
    assert_near(leader.y1, 417, 0);
    const struct roof_box left = {300, 498, 340, 518};
    leader = roof_leader_to(mark, &left);
    assert_near(leader.x1, 340, 0);
    assert_near(leader.y1, 501, 0);
    mark->beside = true;
    mark->whisker_x = 510;
    mark->reached_y = 700;
    leader = roof_leader_to(mark, &above);
    assert_near(leader.x0, 510, 0);
    assert_near(leader.y0, 700, 0);
}

/* A label is not as close to another mark as to its own, nor to the line from that to what it
 * reached. */
static void test_own(void **unused)
{
    (void)unused;
    struct roof_mark *const own = add_mark(500, 500, "own");
    (void)add_mark(562, 500, "other");
    place();
    assert_true(own->labelled);
    assert_true(own->box.right <= 500 || own->box.bottom <= 495 || own->box.top >= 505);

    (void)set_up(NULL);
    struct roof_mark *const beside = add_mark(500, 500, "own");
    struct roof_mark *const whisker = add_mark(556, 300, "other");
    whisker->reached_y = 900;
    place();
    assert_true(beside->labelled && beside->box.right <= 546);
}

/* The label of a mark whose whisker shares its column is at the tick. */
static void test_tick(void **unused)
{
    (void)unused;
    struct roof_mark *const mark = add_mark(500, 300, "abc");
    mark->beside = true;
    mark->whisker_x = 504;
    mark->whisker_end = 4;
    mark->reached_y = 600;
    place();
    assert_box(&mark->box, 514, 590, 564, 610);
}

/* Up to 24 marks all have labels. With more, those with less than 5% of the time have none; and no
 * more than 80 have any. */
static void test_crowded(void **unused)
{
    (void)unused;
    for (int i = 0; i < 24; i++) {
        const int row = i / 8;
        add_mark(100.0 * (i % 8) + 100, 100.0 * row + 100, "x")->share = 0.04;
    }
    place();
    assert_int_equal(layout.unlabelled, 0);
    marks[3].share = 0.05;
    add_mark(100, 900, "x")->share = 0.5;
    place();
    assert_int_equal(layout.unlabelled, 23);
    assert_true(marks[3].labelled && marks[24].labelled);

    (void)set_up(NULL);
    for (int i = 0; i < 90; i++) {
        const int row = i / 9;
        (void)add_mark(100.0 * (i % 9) + 50, 90.0 * row + 50, "x");
    }
    place();
    assert_int_equal(layout.unlabelled, 10);
    assert_true(marks[79].labelled && !marks[80].labelled);
}

/* The highest of several marks of one label, on different devices, has the label; not so for
 * other groups, other columns or the same device. */
static void test_shared(void **unused)
{
    (void)unused;
    static const struct {
        double x;
        size_t group, roof;
        const char *label;
        bool same;
    } lower[] = {{301.5, 0, 1, "same", true},
                 {312, 0, 1, "same", false},
                 {300, 1, 1, "same", false},
                 {300, 0, 0, "same", false},
                 {300, 0, 1, "other", false}};
    for (size_t i = 0; i < sizeof lower / sizeof *lower; i++) {
        (void)set_up(NULL);
        struct roof_mark *const low = add_mark(lower[i].x, 500, lower[i].label);
        struct roof_mark *const high = add_mark(300, 400, "same");
        low->group = lower[i].group;
        low->roof = lower[i].roof;
        place();
        assert_true(high->labelled);
        assert_int_equal(low->labelled, !lower[i].same);
        assert_int_equal(high->shared, lower[i].same);
        assert_int_equal(low->shared, lower[i].same);
    }
}

/* One label for operators on several devices has the range of their shares, and the rest of the
 * label of each mark must be the same. */
static void test_range(void **unused)
{
    (void)unused;
    static const struct {
        const char *label;
        double share;
        const char *high;
    } lower[] = {
        {"same", 0.42, "same, 42-47%"}, {"same", 0.468, "same, 47%"}, {"sane", 0.42, "same, 47%"}};
    for (size_t i = 0; i < sizeof lower / sizeof *lower; i++) {
        (void)set_up(NULL);
        layout.canvas.shares = true;
        struct roof_mark *const low = add_mark(300, 500, lower[i].label);
        struct roof_mark *const high = add_mark(300, 400, "same");
        low->roof = 1;
        low->share = lower[i].share;
        high->share = 0.47;
        (void)snprintf(low->label + 4, sizeof low->label - 4, ", %.0f%%", 100 * low->share);
        (void)snprintf(high->label + 4, sizeof high->label - 4, ", %.0f%%", 100 * high->share);
        place();
        assert_true(high->labelled);
        assert_string_equal(high->label, lower[i].high);
    }
}

/* The label of a slope runs along it, 0.9 lines above that of a device, and below a line; it avoids
 * marks. A slope that is shorter than its label has none. */
static void test_slopes(void **unused)
{
    (void)unused;
    for (int line = 0; line < 2; line++) {
        (void)set_up(NULL);
        struct roof_slope *const slope = add_slope(1000, "slope");
        slope->line = line == 1;
        for (int i = 1; i < 5; i++) { /* marks in the way */
            (void)add_mark(50.0 * i, 1000 - 50.0 * i, "x");
        }
        place();
        assert_string_equal(slope->label, "slope");
        assert_near(slope->rise, 1, 1e-12);
        const double above = (1000 - slope->x - slope->y) / sqrt(2);
        assert_near(above, line == 1 ? -18 : 18, 1e-9);
        assert_int_equal(slope->boxes, 8);
        /* The pieces have the length of five characters from end to end. */
        const struct roof_box *const box = slope->box;
        assert_near(hypot(box[7].left - box[0].left, box[7].top - box[0].top), 50 * 7 / 8.0, 1e-9);
        assert_near((box[0].left + box[7].right) / 2, slope->x, 1e-9);
        for (size_t i = 0; i < slope->boxes; i++) {
            assert_near(box[i].right - box[i].left, 50 / 8.0, 1e-9);
            assert_near(box[i].bottom - box[i].top, 20, 1e-9);
            assert_true(box[i].left >= 0 && box[i].bottom <= 1000);
            for (size_t k = 0; k < layout.marks; k++) {
                const struct roof_box mark = box_of(&marks[k]);
                assert_true(apart(&mark, &box[i]));
                assert_true(apart(&marks[k].box, &box[i]));
            }
        }
    }
    (void)set_up(NULL);
    struct roof_slope *const slope = add_slope(35, "slope"); /* 35 x 1.41 is 49.5 */
    layout.canvas.plot.left = -1000;
    layout.canvas.plot.right = 0;
    place();
    assert_string_equal(slope->label, "");
    assert_int_equal(slope->boxes, 0);
}

/* Another slope neither runs through the label of one nor between the two, as far as it reaches.
 */
static void test_two_slopes(void **unused)
{
    (void)unused;
    static const struct {
        double above, to; /* the other slope */
        double label;     /* above its own slope */
        double x;         /* the point of the slope that is nearest to the middle of the label */
    } cases[] = {{7, 1000, -10, 50}, {20, 1000, 10, 50}, {20, 50, 18, 100}, {20, 15, 18, 50}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)set_up(NULL);
        const struct roof_slope *const slope = add_slope(1000, "slope");
        struct roof_slope *const other = add_slope(cases[i].to, "other");
        other->rate = pow(10, cases[i].above * sqrt(2) / 100);
        place();
        assert_string_equal(slope->label, "slope");
        assert_near((1000 - slope->x - slope->y) / sqrt(2), cases[i].label, 1e-9);
        assert_near(slope->x + cases[i].label / sqrt(2), cases[i].x, 1e-9);
    }
}

/* A leader does not run through the label of a slope. */
static void test_leader_and_slope(void **unused)
{
    (void)unused;
    int leaders = 0;
    for (int way = 0; way < 90; way++) {
        (void)set_up(NULL);
        const struct roof_slope *const slope = add_slope(1000, "a long label of a slope");
        const double x = 100 + 10.0 * floor(way / 10.0);
        const double y = 920 - x - 5 * (way % 10);
        const struct roof_mark *const mark = add_mark(x, y, "abc");
        for (int i = 0; i < 12; i++) { /* a ring of marks around it, with a gap to the slope */
            const double angle = acos(-1) * (i + 3.5) / 9;
            (void)add_mark(x + 32 * cos(angle), y + 32 * sin(angle), "");
        }
        place();
        leaders += mark->leader;
        const struct roof_leader leader = roof_leader_to(mark, &mark->box);
        for (int step = 0; step <= 100 && mark->leader; step++) {
            const double at_x = leader.x0 + (leader.x1 - leader.x0) * step / 100;
            const double at_y = leader.y0 + (leader.y1 - leader.y0) * step / 100;
            const struct roof_box point = {at_x, at_y, at_x, at_y};
            for (size_t k = 0; k < slope->boxes; k++) {
                assert_true(apart(&point, &slope->box[k]));
            }
        }
    }
    assert_true(leaders > 0);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup(test, set_up)
    const struct CMUnitTest tests[] = {
        CASE(test_beside),     CASE(test_edges),           CASE(test_lines_seen), CASE(test_ridges),
        CASE(test_leader),     CASE(test_leader_ends),     CASE(test_own),        CASE(test_tick),
        CASE(test_crowded),    CASE(test_shared),          CASE(test_range),      CASE(test_slopes),
        CASE(test_two_slopes), CASE(test_leader_and_slope)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
