// SPDX-License-Identifier: MIT
/* Places the labels of marks and slopes: clear of marks and other labels, close, and over few
 * lines. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "chart/place.h"

/* The most marks with labels, because more would not be legible. */
#define LABELS_MAX 80
/* With more marks, those with a smaller share of the time have no labels; with more labels, only
 * the first distances are tried, because long leaders would cross each other. */
#define CROWDED 24
#define CROWDED_SHARE 0.05
#define SMALL_WIDTH 900.0 /* narrower images, in pixels, label as few marks */
/* The distance in pixels within which marks of several devices seem to be in one column. */
#define SAME_X 10.0
#define AXIS_CLEAR 8.0  /* the least distance in pixels from the left axis to a slope's label */
#define CROSSED 0.7     /* the cost of a line that a leader crosses */
#define UNLABELLED 20.0 /* the cost of a mark without a label */
#define CROWDED_DISTANCES 7
#define DIRECTIONS 24
/* The distance in pixels within which a label seems to belong to a mark. */
#define TOUCHING 5.0
/* The distance in pixels within which a horizontal leader cannot be told from a ceiling. */
#define ALONG 3.0
/* The least distance in pixels from the end of a leader to the top and the bottom of its label. */
#define LEADER_INSIDE 3.0
/* The least distance of another slope from the middle of a slope's label, in heights of a line. */
#define SLOPE_CLEAR 0.4
/* The number of straight pieces that approximate a line that bends. */
#define BENT_PIECES 16
/* The distances to try between a mark and its label, in heights of a line. */
static const double distances[] = {0.3, 0.9, 1.6, 2.4, 3.4, 4.6, 6, 8, 10.5, 13, 16};

/* Tells whether an image has no room for the labels of all marks. */
static bool is_crowded(const struct roof_chart_layout *out)
{
    return out->marks > CROWDED || out->canvas.width < SMALL_WIDTH;
}

static bool overlap(const struct roof_box *a, const struct roof_box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static struct roof_box around(double x, double y, double half_width, double half_height)
{
    return (struct roof_box){x - half_width, y - half_height, x + half_width, y + half_height};
}

static bool is_inside(const struct roof_box *box, const struct roof_box *outer)
{
    return box->left >= outer->left && box->right <= outer->right && box->top >= outer->top &&
           box->bottom <= outer->bottom;
}

/* Tells whether a straight line from (x0, y0) to (x1, y1) crosses a box. It does not if all corners
 * lie on one side of it, or if the bounding box of the line is apart from the box. */
static bool crosses(double x0, double y0, double x1, double y1, const struct roof_box *box)
{
    const struct roof_box line = {fmin(x0, x1), fmin(y0, y1), fmax(x0, x1) + 1e-9,
                                  fmax(y0, y1) + 1e-9};
    if (!overlap(&line, box)) {
        return false;
    }
    const double corner[4][2] = {{box->left, box->top},
                                 {box->right, box->top},
                                 {box->left, box->bottom},
                                 {box->right, box->bottom}};
    int above = 0;
    int below = 0;
    for (int i = 0; i < 4; i++) {
        const double side = (x1 - x0) * (corner[i][1] - y0) - (y1 - y0) * (corner[i][0] - x0);
        above += side > 0;
        below += side < 0;
    }
    return above > 0 && below > 0;
}

/* Finds the boxes of a mark, one at its bound and one at its reached rate. Returns their number. */
static size_t boxes_of(struct roof_box box[2], const struct roof_mark *mark)
{
    box[0] = around(mark->x, mark->y, mark->radius, mark->radius);
    if (isnan(mark->reached_y)) {
        return 1;
    }
    box[1] =
        around(mark->whisker_x, mark->reached_y, mark->beside ? mark->whisker_end : mark->radius,
               mark->beside ? mark->whisker_end : mark->radius);
    return 2;
}

/* Returns the distance of two boxes; 0 if they overlap. */
static double apart(const struct roof_box *a, const struct roof_box *b)
{
    return hypot(fmax(fmax(a->left - b->right, b->left - a->right), 0),
                 fmax(fmax(a->top - b->bottom, b->top - a->bottom), 0));
}

/* Returns the distance of a box from a mark, including its whisker and the end of that. */
static double distance_of(const struct roof_mark *mark, const struct roof_box *box)
{
    struct roof_box covered[3];
    const size_t count = boxes_of(covered, mark);
    double least = apart(box, &covered[0]);
    if (count == 2) {
        covered[2] = (struct roof_box){mark->whisker_x, fmin(mark->y, mark->reached_y),
                                       mark->whisker_x, fmax(mark->y, mark->reached_y)};
        least = fmin(least, fmin(apart(box, &covered[1]), apart(box, &covered[2])));
    }
    return least;
}

/* Counts the other marks that a label seems to belong to: those as close as its own or, with a
 * leader to its own, those that it nearly touches. */
static int mistaken(const struct roof_chart_layout *out, const struct roof_mark *own,
                    const struct roof_box *box, bool leader)
{
    const double close = leader ? TOUCHING : distance_of(own, box) + TOUCHING;
    int count = 0;
    for (size_t i = 0; i < out->marks; i++) {
        const struct roof_mark *const mark = &out->mark[i];
        const bool same = mark == own || (mark->x == own->x && mark->y == own->y);
        count += !same && distance_of(mark, box) < close;
    }
    return count;
}

/* Finds the box around the ridge point of a ceiling; returns whether it has one that is drawn. */
static bool ridge_of(struct roof_box *box, const struct roof_chart_layout *out,
                     const struct roof_side *side, double half)
{
    *box = around(roof_chart_x(out, side->from), side->at, half, half);
    return !side->line && !side->tick;
}

/* Tells whether a box is clear of marks, ridge points, and labels of marks and slopes. */
static bool is_free(const struct roof_chart_layout *out, const struct roof_box *box)
{
    if (!is_inside(box, &out->canvas.plot)) {
        return false;
    }
    for (size_t i = 0; i < out->slopes; i++) {
        for (size_t k = 0; k < out->slope[i].boxes; k++) {
            if (overlap(box, &out->slope[i].box[k])) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < out->sides; i++) {
        struct roof_box ridge;
        if (ridge_of(&ridge, out, &out->side[i], TOUCHING) && overlap(box, &ridge)) {
            return false;
        }
    }
    for (size_t i = 0; i < out->marks; i++) {
        struct roof_box covered[2];
        const size_t count = boxes_of(covered, &out->mark[i]);
        for (size_t k = 0; k < count; k++) {
            if (overlap(box, &covered[k])) {
                return false;
            }
        }
        if (out->mark[i].labelled && overlap(box, &out->mark[i].box)) {
            return false;
        }
    }
    return true;
}

/* Counts the whiskers that a box would hide. */
static int hides_joins(const struct roof_chart_layout *out, const struct roof_box *box)
{
    int sum = 0;
    for (size_t i = 0; i < out->marks; i++) {
        const struct roof_mark *const mark = &out->mark[i];
        sum += !isnan(mark->reached_y) &&
               crosses(mark->whisker_x, mark->y, mark->whisker_x, mark->reached_y, box);
    }
    return sum;
}

/* Counts the lines between the reached rates of a group that a box would hide. */
static int hides_paths(const struct roof_chart_layout *out, const struct roof_box *box)
{
    int sum = 0;
    for (size_t i = 1; i < out->marks && out->joined; i++) {
        const struct roof_mark *const a = &out->mark[i - 1];
        const struct roof_mark *const b = &out->mark[i];
        sum += a->group == b->group && a->roof == b->roof && !isnan(a->reached_y) &&
               !isnan(b->reached_y) && crosses(a->x, a->reached_y, b->x, b->reached_y, box);
    }
    return sum;
}

/* Tells whether a box would hide a part of a ceiling or line; one that bends is approximated by
 * pieces. */
static bool hides_side(const struct roof_chart_layout *out, const struct roof_side *side,
                       const struct roof_box *box)
{
    const int pieces = side->bend > 0 ? BENT_PIECES : 1;
    double x = side->from;
    bool hides = false;
    for (int i = 1; i <= pieces && !hides; i++) {
        const double next = side->from * pow(out->x_max / side->from, (double)i / pieces);
        hides = crosses(roof_chart_x(out, x), roof_chart_y(out, roof_chart_side_rate(side, x)),
                        roof_chart_x(out, next),
                        roof_chart_y(out, roof_chart_side_rate(side, next)), box);
        x = next;
    }
    return hides;
}

static bool leads_through(const struct roof_leader *leader, const struct roof_box *box)
{
    return crosses(leader->x0, leader->y0, leader->x1, leader->y1, box);
}

struct roof_leader roof_leader_to(const struct roof_mark *mark, const struct roof_box *box)
{
    const double x = mark->beside ? mark->whisker_x : mark->x;
    const double y = mark->beside ? mark->reached_y : mark->y;
    return (struct roof_leader){
        x, y, fmin(fmax(x, box->left), box->right),
        fmin(fmax(y, box->top + LEADER_INSIDE), box->bottom - LEADER_INSIDE)};
}

/* Tells whether a box would lie on the leader of a placed label. */
static bool hides_leader(const struct roof_chart_layout *out, const struct roof_box *box)
{
    bool hides = false;
    for (size_t i = 0; i < out->marks && !hides; i++) {
        const struct roof_mark *const mark = &out->mark[i];
        if (mark->labelled && mark->leader) {
            const struct roof_leader leader = roof_leader_to(mark, &mark->box);
            hides = leads_through(&leader, box);
        }
    }
    return hides;
}

/* Counts the ridge points that a box or a leader nearly touches, and that the label would seem to
 * belong to. */
static int touches_ridges(const struct roof_chart_layout *out, const struct roof_box *box,
                          const struct roof_leader *leader)
{
    int count = 0;
    for (size_t i = 0; i < out->sides; i++) {
        struct roof_box ridge;
        count += ridge_of(&ridge, out, &out->side[i], 2 * TOUCHING) &&
                 (overlap(box, &ridge) || leads_through(leader, &ridge));
    }
    return count;
}

/* Tells whether a leader would run along a ceiling or a level line, where it would be invisible. */
static bool runs_along(const struct roof_chart_layout *out, const struct roof_leader *leader)
{
    bool along = false;
    for (size_t i = 0; i < out->sides && !along; i++) {
        const struct roof_side *const side = &out->side[i];
        along = !side->tick && side->bend == 0 && fabs(leader->y0 - side->at) < ALONG &&
                fabs(leader->y1 - side->at) < ALONG &&
                fmax(leader->x0, leader->x1) > roof_chart_x(out, side->from);
    }
    return along;
}

/* Counts the ceilings, lines and slopes that a leader crosses, apart from that of its mark. */
static int crosses_lines(const struct roof_chart_layout *out, const struct roof_leader *leader)
{
    const double x[] = {leader->x0, leader->x1};
    const double y[] = {leader->y0, leader->y1};
    int count = 0;
    for (size_t i = 0; i < out->sides; i++) {
        const struct roof_side *const side = &out->side[i];
        const double off = side->at - y[0];
        count += !side->tick && side->bend == 0 && fabs(off) > 1 && off * (side->at - y[1]) < 0 &&
                 fmin(x[0], x[1]) > roof_chart_x(out, side->from);
    }
    for (size_t i = 0; i < out->slopes; i++) {
        const struct roof_slope *const slope = &out->slope[i];
        const double steep = (out->canvas.plot.bottom - out->canvas.plot.top) /
                             log(out->y_max / out->y_min) * log(out->x_max / out->x_min) /
                             (out->canvas.plot.right - out->canvas.plot.left);
        const double from = roof_chart_y(out, slope->rate * out->x_min);
        double off[2];
        for (int k = 0; k < 2; k++) {
            off[k] = from - steep * (x[k] - out->canvas.plot.left) - y[k];
        }
        count += fabs(off[0]) > 1 && off[0] * off[1] < 0 &&
                 fmax(x[0], x[1]) < roof_chart_x(out, slope->to);
    }
    return count;
}

/* Returns the cost of a label's position: the lines of the chart that its box would hide, and the
 * marks and labels that its leader would cross. */
static double disturbed(const struct roof_chart_layout *out, const struct roof_box *box,
                        const struct roof_leader *leader)
{
    double sum = 3 * hides_joins(out, box) + hides_paths(out, box) +
                 2 * touches_ridges(out, box, leader) + (hides_leader(out, box) ? 4 : 0) +
                 CROSSED * crosses_lines(out, leader);
    for (size_t i = 0; i < out->sides; i++) {
        const struct roof_side *const side = &out->side[i];
        sum += !side->tick && hides_side(out, side, box) ? 2 : 0;
    }
    for (size_t i = 0; i < out->slopes; i++) {
        const struct roof_slope *const slope = &out->slope[i];
        sum +=
            crosses(roof_chart_x(out, out->x_min), roof_chart_y(out, slope->rate * out->x_min),
                    roof_chart_x(out, slope->to), roof_chart_y(out, slope->rate * slope->to), box)
                ? 2
                : 0;
        bool through = false;
        for (size_t k = 0; k < slope->boxes; k++) {
            through = through || leads_through(leader, &slope->box[k]);
        }
        sum += through ? 6 : 0;
    }
    for (size_t i = 0; i < out->marks; i++) {
        const struct roof_mark *const mark = &out->mark[i];
        if (mark->x != leader->x0 ||
            mark->y != leader->y0) { /* the label would seem to belong to this mark */
            const struct roof_box bound = around(mark->x, mark->y, mark->radius, mark->radius);
            sum += leads_through(leader, &bound) ? 8 : 0;
        }
        if (mark->labelled) {
            sum += leads_through(leader, &mark->box) ? 6 : 0;
        }
    }
    return sum;
}

/* Finds a position for the label of a mark that is close, free, and over few lines, among
 * the first `tried` distances. Returns its cost. */
static double place_label(struct roof_chart_layout *out, struct roof_mark *mark, size_t tried)
{
    const struct roof_canvas *const canvas = &out->canvas;
    /* Extra characters keep adjacent labels apart. */
    const double half_width = (double)(roof_text_width(mark->label) + 2) * canvas->char_width / 2;
    const double half_height = canvas->line_height / 2;
    const double x0 = mark->beside ? mark->whisker_x : mark->x;
    const double y0 = mark->beside ? mark->reached_y : mark->y;
    double best = HUGE_VAL;
    for (size_t d = 0; d < tried; d++) {
        const double distance =
            (mark->beside ? mark->whisker_end : mark->radius) + distances[d] * canvas->line_height;
        for (int a = 0; a < DIRECTIONS; a++) {
            const double angle = 2 * acos(-1) * a / DIRECTIONS;
            const double x = x0 + distance * cos(angle);
            const double y = y0 - distance * sin(angle);
            /* The side of the box that faces the mark touches the point. */
            const struct roof_box box = around(
                x + cos(angle) * half_width, y - sin(angle) * half_height, half_width, half_height);
            const struct roof_leader leader = roof_leader_to(mark, &box);
            const double least = distances[d] * 0.7 + (a == 0 || a == DIRECTIONS / 2 ? 0 : 0.2);
            if (!(least < best && is_free(out, &box)) || (d > 0 && runs_along(out, &leader))) {
                continue;
            }
            const double harm = disturbed(out, &box, &leader) +
                                (d > 0 ? 1 : 1.5) * mistaken(out, mark, &box, d > 0);
            if (least + harm < best) {
                best = least + harm;
                mark->box = box;
                mark->leader = d > 0;
            }
        }
    }
    mark->labelled = best < HUGE_VAL;
    return mark->labelled ? best : UNLABELLED;
}

/* Puts the label of a slope along it: its middle is at a fraction of the slope's length, with an
 * offset of `beside`. Returns false if marks or other labels are in the way, or, with `clear`, a
 * leader or a path. */
static bool put_along(struct roof_chart_layout *out, struct roof_slope *slope, double at,
                      double beside, bool clear)
{
    const double x0 = roof_chart_x(out, out->x_min);
    const double y0 = roof_chart_y(out, slope->rate * out->x_min);
    const double x1 = roof_chart_x(out, slope->to);
    const double y1 = roof_chart_y(out, slope->rate * slope->to);
    const double length = hypot(x1 - x0, y1 - y0);
    const double along_x = (x1 - x0) / length;
    const double along_y = (y1 - y0) / length;
    const double text = (double)roof_text_width(slope->label) * out->canvas.char_width;
    const size_t pieces = COUNT(slope->box);
    bool fits = text < length;
    slope->rise = -along_y / along_x;
    slope->x = x0 + along_x * length * at + along_y * beside;
    slope->y = y0 + along_y * length * at - along_x * beside;
    slope->boxes = 0;
    for (size_t i = 0; i < pieces && fits; i++) {
        const double off = text * (((double)i + 0.5) / (double)pieces - 0.5);
        slope->box[i] = around(slope->x + along_x * off, slope->y + along_y * off,
                               text / (double)pieces / 2, out->canvas.line_height / 2);
        fits =
            slope->box[i].left > out->canvas.plot.left + AXIS_CLEAR &&
            is_free(out, &slope->box[i]) && hides_joins(out, &slope->box[i]) == 0 &&
            !(clear && (hides_paths(out, &slope->box[i]) > 0 || hides_leader(out, &slope->box[i])));
    }
    slope->boxes = fits ? pieces : 0;
    return fits;
}

/* Tells whether another slope runs through a label with this offset from its own slope. With
 * `near`, it must not run between the slope and its label either. Slopes are parallel. */
static bool is_struck(const struct roof_chart_layout *out, const struct roof_slope *slope,
                      double beside, bool near)
{
    const double along_x = 1 / hypot(1, slope->rise);
    const double half = (double)roof_text_width(slope->label) * out->canvas.char_width / 2;
    for (size_t i = 0; i < out->slopes; i++) {
        const struct roof_slope *const other = &out->slope[i];
        const double above = (roof_chart_y(out, slope->rate) - roof_chart_y(out, other->rate)) *
                             along_x; /* the distance of the slopes */
        if (other != slope && roof_chart_x(out, other->to) > slope->x - half * along_x &&
            (fabs(above - beside) < SLOPE_CLEAR * out->canvas.line_height ||
             (near && above * beside > 0 && fabs(above) < fabs(beside)))) {
            return true;
        }
    }
    return false;
}

/* Finds a position for the label of a slope; without room it has no boxes. The label is above a
 * device's bandwidth and below an attainable line, and between two slopes rather than on one. */
static void place_slope(struct roof_chart_layout *out, struct roof_slope *slope)
{
    static const double away[] = {0.9, 0.5, -0.5, -0.9, 1.7, -1.7, 2.6, -2.6};
    const double height = slope->line ? -out->canvas.line_height : out->canvas.line_height;
    for (int way = 0; way < 3; way++) { /* beside its slope, beyond others, on others */
        for (size_t i = 0; i < COUNT(away); i++) {
            for (int step = 2; step <= 36; step++) {
                if (put_along(out, slope, step / 40.0, away[i] * height, way < 2) &&
                    (way == 2 || !is_struck(out, slope, away[i] * height, way == 0))) {
                    return;
                }
            }
        }
    }
    slope->boxes = 0;
}

/* Tells whether two marks are the same operators on several devices, one above the other, so that
 * one label suffices. */
static bool same_operators(const struct roof_mark *a, const struct roof_mark *b)
{
    return a->group == b->group && a->roof != b->roof && fabs(a->x - b->x) < SAME_X &&
           (isnan(a->share) ? strcmp(a->label, b->label) == 0
                            : a->named == b->named && memcmp(a->label, b->label, a->named) == 0);
}

/* Finds the largest share of a mark and those that it shares its label with, and ends the label of
 * operators on several devices with the range of their shares. */
static void share_label(const struct roof_chart_layout *layout, struct roof_mark *mark)
{
    double least = mark->share;
    double most = least;
    for (size_t i = 0; i < layout->marks; i++) {
        const struct roof_mark *const other = &layout->mark[i];
        if (same_operators(mark, other)) {
            mark->shared = true;
            least = fmin(least, other->share);
            most = fmax(most, other->share);
        }
    }
    char *const end = mark->label + mark->named;
    const size_t room = sizeof mark->label - mark->named;
    if (layout->canvas.shares && mark->shared && round(100 * least) < round(100 * most)) {
        (void)snprintf(end, room, ", %.0f-%.0f%%", 100 * least, 100 * most);
    }
    mark->most = most;
}

/* Decides whether a mark needs a label: it must be the highest one of its operators, and unless the
 * image has room for all labels, they must take some time. */
static bool needs_label(const struct roof_chart_layout *layout, const struct roof_mark *mark)
{
    bool highest = true;
    for (size_t i = 0; i < layout->marks; i++) {
        const struct roof_mark *const other = &layout->mark[i];
        highest = highest && !(same_operators(mark, other) && other->y < mark->y);
    }
    return highest && !(is_crowded(layout) && mark->most < CROWDED_SHARE);
}

/* Places the labels of marks in their order or backwards, and of a crowded image those of the
 * largest marks first. Returns the sum of their costs. */
static double place_in_order(struct roof_chart_layout *layout, bool backwards)
{
    double sum = 0;
    for (size_t i = 0; i < layout->marks; i++) {
        layout->mark[i].labelled = false;
    }
    size_t labels = 0;
    for (size_t i = 0; i < layout->marks; i++) {
        labels += needs_label(layout, &layout->mark[i]);
    }
    const size_t tried = labels > CROWDED ? CROWDED_DISTANCES : COUNT(distances);
    for (size_t i = 0; i < layout->marks; i++) {
        const size_t at = is_crowded(layout) ? (size_t)(layout->by_size[i] - layout->mark)
                          : backwards        ? layout->marks - 1 - i
                                             : i;
        struct roof_mark *const mark = &layout->mark[at];
        if (i < LABELS_MAX && needs_label(layout, mark)) {
            sum += place_label(layout, mark, tried);
        }
    }
    return sum;
}

/* Places the labels of marks in the order of the lower cost. */
static void place_marks(struct roof_chart_layout *layout)
{
    for (size_t i = 0; i < layout->marks; i++) {
        share_label(layout, &layout->mark[i]);
    }
    const double forwards = place_in_order(layout, false);
    if (!is_crowded(layout) && place_in_order(layout, true) >= forwards) {
        (void)place_in_order(layout, false);
    }
}

/* Places the labels of the slopes that have none. Returns whether there was room for all. */
static bool place_slopes(struct roof_chart_layout *layout)
{
    bool all = true;
    for (size_t i = 0; i < layout->slopes; i++) {
        if (layout->slope[i].boxes == 0) {
            place_slope(layout, &layout->slope[i]);
        }
        all = all && layout->slope[i].boxes > 0;
    }
    return all;
}

/* Makes room for the slopes without a label, which need one more than marks need the closest place:
 * they come first, then marks, then the other slopes. */
static void place_again(struct roof_chart_layout *layout)
{
    bool first[ROOF_SLOPES_MAX] = {false};
    for (size_t i = 0; i < layout->slopes; i++) {
        first[i] = layout->slope[i].boxes == 0;
        layout->slope[i].boxes = 0;
    }
    for (size_t i = 0; i < layout->marks; i++) {
        layout->mark[i].labelled = false;
    }
    for (size_t i = 0; i < layout->slopes; i++) {
        if (first[i]) {
            place_slope(layout, &layout->slope[i]);
        }
    }
    place_marks(layout);
    (void)place_slopes(layout);
}

void roof_chart_place_labels(struct roof_chart_layout *layout)
{
    place_marks(layout);
    if (!place_slopes(layout)) {
        place_again(layout);
    }
    for (size_t i = 0; i < layout->marks; i++) {
        layout->unlabelled += !layout->mark[i].labelled;
    }
    for (size_t i = 0; i < layout->slopes; i++) {
        if (layout->slope[i].boxes == 0) {
            layout->slope[i].label[0] = '\0';
        }
    }
}
