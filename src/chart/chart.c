// SPDX-License-Identifier: MIT
#include "chart/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/list.h"
#include "predict/power.h"
#include "predict/tile.h"
#include "report/model_report.h"

/* The sizes of products that are large enough to show the attainable rate of a kernel. */
#define ATTAINABLE_GEMM 8192
#define ATTAINABLE_GEMV 16384

void roof_chart_init(struct roof_chart *chart)
{
    *chart = (struct roof_chart){.dot = NULL};
}

void roof_chart_free(struct roof_chart *chart)
{
    for (size_t i = 0; i < chart->dots; i++) {
        free(chart->dot[i].name);
    }
    free(chart->dot);
    roof_chart_init(chart);
}

void roof_chart_name(char out[ROOF_CHART_NAME_SIZE], const char *text)
{
    size_t length = 0;
    for (; text[length] != '\0' && length + 1 < ROOF_CHART_NAME_SIZE; length++) {
        const unsigned char c = (unsigned char)text[length];
        out[length] = (char)(c < 0x20 || c == 0x7f ? ' ' : c);
    }
    if (text[length] != '\0') { /* not inside a character */
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    out[length] = '\0';
}

/* --- roofs --------------------------------------------------------------------------------- */

static double peak_of(const struct roof_hardware *hardware, enum roof_compute_unit unit,
                      enum roof_precision precision, bool sparse)
{
    if (unit == ROOF_COMPUTE_VECTOR) {
        return hardware->peak[ROOF_PEAK_VECTOR][precision].value;
    }
    const double with_zeros = hardware->peak[ROOF_PEAK_SPARSE][precision].value;
    return sparse && !isnan(with_zeros) ? with_zeros
                                        : hardware->peak[ROOF_PEAK_MATRIX][precision].value;
}

/* Finds the ceiling of a unit at a peak, and adds a new one in the order of peaks. */
static struct roof_chart_ceiling *ceiling_of(struct roof_chart_roof *roof,
                                             enum roof_compute_unit unit, double flops_per_s)
{
    size_t at = 0;
    while (at < roof->ceilings && roof->ceiling[at].flops_per_s > flops_per_s) {
        at++;
    }
    for (size_t i = at; i < roof->ceilings && roof->ceiling[i].flops_per_s == flops_per_s; i++) {
        if (roof->ceiling[i].unit == unit) {
            return &roof->ceiling[i];
        }
    }
    memmove(&roof->ceiling[at + 1], &roof->ceiling[at],
            (roof->ceilings++ - at) * sizeof *roof->ceiling);
    roof->ceiling[at] = (struct roof_chart_ceiling){
        .unit = unit, .flops_per_s = flops_per_s, .ridge = flops_per_s / roof->bytes_per_s};
    return &roof->ceiling[at];
}

static enum roof_status parse_unit(enum roof_compute_unit *out, const char *name,
                                   struct roof_error *error)
{
    for (int unit = ROOF_COMPUTE_MATRIX; unit <= ROOF_COMPUTE_VECTOR; unit++) {
        if (strcmp(roof_compute_unit_name((enum roof_compute_unit)unit), name) == 0) {
            *out = (enum roof_compute_unit)unit;
            return ROOF_OK;
        }
    }
    return roof_error_set(
        error, ROOF_USAGE,
        "the unit must be matrix or vector, not '%s' (" ROOF_KEY("ceilings") " fp16,fp64:vector)",
        name);
}

enum roof_status roof_chart_parse_ceilings(struct roof_chart_ceilings *out, const char *text,
                                           struct roof_error *error)
{
    *out = (struct roof_chart_ceilings){.product = {false}};
    struct roof_list_item item;
    for (const char *rest = text; roof_list_next(&item, &rest);) {
        char name[ROOF_CHART_NAME_SIZE];
        enum roof_precision precision = ROOF_PRECISION_AUTO;
        bool *wanted = out->product;
        (void)roof_list_item_copy(name, sizeof name,
                                  &item); /* a name that is too long becomes "", which is unknown */
        char *const colon = strchr(name, ':');
        if (colon != NULL) {
            enum roof_compute_unit unit = ROOF_COMPUTE_MATRIX;
            *colon = '\0';
            TRY(parse_unit(&unit, colon + 1, error));
            wanted = out->unit[unit];
        }
        TRY(roof_precision_find(&precision, name, error));
        wanted[precision] = true;
    }
    return ROOF_OK;
}

/* Tells whether the peak of a unit is requested. */
static bool is_wanted(const struct roof_chart_ceilings *wanted,
                      const struct roof_hardware *hardware, enum roof_compute_unit unit,
                      enum roof_precision precision)
{
    if (wanted == NULL || wanted->unit[unit][precision]) {
        return true;
    }
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const struct roof_compute *const compute = &hardware->compute[p];
        if (wanted->product[p] && compute->precision == precision && compute->unit == unit) {
            return true;
        }
    }
    return false;
}

size_t roof_chart_find_roof(const struct roof_chart *chart, const char *id)
{
    size_t roof = 0;
    while (roof < chart->roofs && strcmp(chart->roof[roof].hardware->id, id) != 0) {
        roof++;
    }
    return roof;
}

enum roof_status roof_chart_add_roof(struct roof_chart *chart, const struct roof_hardware *hardware,
                                     const struct roof_chart_ceilings *wanted, bool sparse,
                                     struct roof_error *error)
{
    if (chart->roofs == ROOF_CHART_ROOFS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "a chart has at most %d devices",
                              ROOF_CHART_ROOFS_MAX);
    }
    if (roof_chart_find_roof(chart, hardware->id) < chart->roofs) {
        return roof_error_set(error, ROOF_USAGE, "'%s' twice", hardware->id);
    }
    const double bandwidth = hardware->figure[ROOF_FIGURE_BANDWIDTH].value;
    if (isnan(bandwidth)) {
        return roof_error_set(error, ROOF_USAGE, "the bandwidth of %s is not known", hardware->id);
    }
    struct roof_chart_roof *const roof = &chart->roof[chart->roofs];
    *roof = (struct roof_chart_roof){.hardware = hardware, .bytes_per_s = bandwidth};
    static const enum roof_compute_unit units[] = {ROOF_COMPUTE_MATRIX, ROOF_COMPUTE_VECTOR};
    for (size_t u = 0; u < 2; u++) {
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            const double peak = peak_of(hardware, units[u], (enum roof_precision)p, sparse);
            if (!isnan(peak) && is_wanted(wanted, hardware, units[u], (enum roof_precision)p)) {
                struct roof_chart_ceiling *const ceiling = ceiling_of(roof, units[u], peak);
                ceiling->format[ceiling->formats++] = (enum roof_precision)p;
            }
        }
    }
    if (roof->ceilings == 0) {
        return roof_error_set(error, ROOF_USAGE, "%s has no peak for %s", hardware->id,
                              wanted == NULL ? "any format" : "these formats");
    }
    chart->chosen = chart->chosen || wanted != NULL;
    chart->roofs++;
    return ROOF_OK;
}

/* --- lines --------------------------------------------------------------------------------- */

static enum roof_status new_line(struct roof_chart *chart, const struct roof_chart_line *line,
                                 struct roof_error *error)
{
    if (chart->lines == ROOF_CHART_LINES_MAX) {
        return roof_error_set(error, ROOF_USAGE, "a chart has at most %d lines",
                              ROOF_CHART_LINES_MAX);
    }
    chart->line[chart->lines++] = *line;
    return ROOF_OK;
}

enum roof_status roof_chart_add_line(struct roof_chart *chart, const char *text,
                                     struct roof_error *error)
{
    const char *const equals = strrchr(text, '=');
    struct roof_chart_line line = {.roof = ROOF_CHART_ROOFS_MAX};
    enum roof_unit unit = ROOF_UNIT_TFLOPS;
    char name[ROOF_CHART_NAME_SIZE];
    if (equals == NULL || equals == text || (size_t)(equals - text) >= sizeof name) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("line") " must be NAME=RATE, such as cuBLAS=271TFLOPS, not '%s'", text);
    }
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    roof_chart_name(line.name, name);
    TRY(roof_parse_rate(&line.rate, &unit, equals + 1, "a line", error));
    line.slope = unit == ROOF_UNIT_GB_PER_S;
    return new_line(chart, &line, error);
}

/* Adds the expected rate of a large product: byte/s of a GEMV for a slope, otherwise FLOP/s of a
 * GEMM. */
static enum roof_status add_expected(struct roof_chart *chart, size_t roof, bool slope,
                                     enum roof_precision precision, struct roof_error *error)
{
    const int64_t size = slope ? ATTAINABLE_GEMV : ATTAINABLE_GEMM;
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    struct roof_prediction p;
    w.op = slope ? ROOF_OPERATOR_GEMV : ROOF_OPERATOR_GEMM;
    w.shape.m = slope ? w.shape.m : size;
    w.shape.n = w.shape.k = size;
    w.formats.precision = precision;
    TRY(roof_predict(&p, &w, chart->roof[roof].hardware, error));
    if (isnan(p.expected_s)) {
        return ROOF_OK;
    }
    struct roof_chart_line line = {
        .slope = slope, .rate = (slope ? p.bytes : p.flops) / p.expected_s, .roof = roof};
    snprintf(line.name, sizeof line.name, "%s %s %d expected%s", roof_format(precision)->name,
             slope ? "GEMV" : "GEMM", (int)size, p.expected_near ? " (nearest)" : "");
    return new_line(chart, &line, error);
}

enum roof_status roof_chart_add_attainable(struct roof_chart *chart, struct roof_error *error)
{
    for (size_t r = 0; r < chart->roofs; r++) {
        const struct roof_chart_roof *const roof = &chart->roof[r];
        TRY(add_expected(chart, r, true, ROOF_PRECISION_BF16, error));
        for (size_t i = 0; i < roof->ceilings; i++) {
            if (roof->ceiling[i].unit == ROOF_COMPUTE_MATRIX) {
                TRY(add_expected(chart, r, false, roof->ceiling[i].format[0], error));
            }
        }
    }
    return ROOF_OK;
}

/* --- dots ---------------------------------------------------------------------------------- */

size_t roof_chart_find_group(const struct roof_chart *chart, const char *text)
{
    char name[ROOF_CHART_NAME_SIZE];
    size_t group = 0;
    roof_chart_name(name, text);
    while (group < chart->groups && strcmp(chart->group[group], name) != 0) {
        group++;
    }
    return group;
}

/* Finds the group with a name, and adds it if needed. */
static enum roof_status group_of(size_t *out, struct roof_chart *chart, const char *text,
                                 struct roof_error *error)
{
    char name[ROOF_CHART_NAME_SIZE];
    roof_chart_name(name, text);
    *out = roof_chart_find_group(chart, text);
    if (*out < chart->groups) {
        return ROOF_OK;
    }
    if (chart->groups == ROOF_CHART_GROUPS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "a chart has at most %d groups of dots",
                              ROOF_CHART_GROUPS_MAX);
    }
    memcpy(chart->group[chart->groups++], name, sizeof name);
    return ROOF_OK;
}

static enum roof_status room_for_dot(struct roof_chart *chart, struct roof_error *error)
{
    if (chart->dots == ROOF_CHART_DOTS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "a chart has at most %d dots",
                              ROOF_CHART_DOTS_MAX);
    }
    if (chart->dots < chart->room) {
        return ROOF_OK;
    }
    const size_t room = chart->room == 0 ? 64 : 2 * chart->room;
    struct roof_chart_dot *const dot = realloc(chart->dot, room * sizeof *dot);
    if (dot == NULL) {
        return roof_no_memory(error);
    }
    chart->dot = dot;
    chart->room = room;
    return ROOF_OK;
}

/* Marks the ceiling that a prediction runs at. A collective waits for links, and has none. */
static void use_ceiling(struct roof_chart_roof *roof, const struct roof_prediction *p)
{
    for (size_t i = 0; i < roof->ceilings; i++) {
        struct roof_chart_ceiling *const c = &roof->ceiling[i];
        for (size_t k = 0; k < c->formats; k++) {
            if (c->unit == p->unit && c->format[k] == p->compute) {
                c->used[k] = c->in_use = roof->in_use = true;
            }
        }
    }
}

bool roof_chart_abridged(const struct roof_chart *chart, size_t roof)
{
    return chart->roofs > 1 && !chart->chosen && !chart->roof[roof].in_use;
}

/* Tells whether a ceiling stands for a device beside others: the highest one, and the highest one
 * of 16 bits. */
static bool stands_for(const struct roof_chart_roof *roof, size_t ceiling)
{
    size_t wide = 0;
    bool found = false;
    for (size_t i = 0; i < roof->ceilings && !found; i++) {
        for (size_t k = 0; k < roof->ceiling[i].formats && !found; k++) {
            const enum roof_precision format = roof->ceiling[i].format[k];
            found = format == ROOF_PRECISION_BF16 || format == ROOF_PRECISION_FP16;
            wide = i;
        }
    }
    return ceiling == 0 || (found && ceiling == wide);
}

bool roof_chart_in_use(const struct roof_chart *chart, size_t roof, size_t ceiling)
{
    const struct roof_chart_roof *const r = &chart->roof[roof];
    return roof_chart_abridged(chart, roof)
               ? stands_for(r, ceiling)
               : chart->chosen || !r->in_use || r->ceiling[ceiling].in_use;
}

/* Adds a dot; a folded one is not drawn. */
static enum roof_status add_dot(struct roof_chart *chart, const struct roof_prediction *prediction,
                                const struct roof_chart_dot *dot, const char *name,
                                const char *group, struct roof_error *error)
{
    const size_t roof = roof_chart_find_roof(chart, prediction->hardware->id);
    if (roof == chart->roofs) {
        return roof_error_set(error, ROOF_USAGE, "%s is not among the devices of the chart",
                              prediction->hardware->id);
    }
    if (!(prediction->attainable_flops_per_s > 0 && prediction->bytes > 0)) {
        chart->left_out++;
        return ROOF_OK;
    }
    size_t in_group = 0;
    char clean[ROOF_CHART_NAME_SIZE];
    roof_chart_name(clean, name);
    TRY(group_of(&in_group, chart, group, error));
    TRY(room_for_dot(chart, error));
    char *const copy = strdup(clean);
    if (copy == NULL) {
        return roof_no_memory(error);
    }
    const int64_t count = dot->node.node.count;
    chart->dot[chart->dots++] = (struct roof_chart_dot){
        .node = {.prediction = *prediction,
                 .node = {.name = copy, .count = count, .workload = prediction->workload},
                 .device_count = count},
        .name = copy,
        .roof = roof,
        .group = in_group,
        .share = dot->share,
        .expected_share = dot->expected_share,
        .folded = dot->folded};
    if (!dot->folded && !(prediction->network_bytes > 0)) {
        use_ceiling(&chart->roof[roof], prediction);
    }
    return ROOF_OK;
}

enum roof_status roof_chart_add(struct roof_chart *chart, const struct roof_prediction *prediction,
                                const char *name, const char *group, int64_t count, double share,
                                struct roof_error *error)
{
    const struct roof_chart_dot dot = {
        .node.node.count = count, .share = share, .expected_share = ROOF_UNKNOWN};
    return add_dot(chart, prediction, &dot, name, group, error);
}

enum roof_status roof_chart_rename(struct roof_chart_dot *dot, const char *name,
                                   struct roof_error *error)
{
    char clean[ROOF_CHART_NAME_SIZE];
    roof_chart_name(clean, name);
    char *const copy = strdup(clean);
    if (copy == NULL) {
        return roof_no_memory(error);
    }
    free(dot->name);
    dot->name = copy;
    dot->node.node.name = copy;
    return ROOF_OK;
}

/* Notes a scenario that does not fit: the memory that it needs, and that of the device without the
 * reserve. */
static void note_unfit(struct roof_chart *chart, const struct roof_model_prediction *r,
                       const char *group)
{
    char needed[ROOF_QUANTITY_SIZE];
    char usable[ROOF_QUANTITY_SIZE];
    char capacity[ROOF_QUANTITY_SIZE];
    if (r->fits != ROOF_FIT_NO || chart->unfits++ > 0) {
        return;
    }
    roof_format_quantity(needed,
                         r->weights_memory_bytes + r->kv_cache_bytes + r->activation_memory_bytes,
                         ROOF_UNIT_CAPACITY);
    roof_format_quantity(usable, r->memory_capacity_bytes - r->memory_reserve_bytes,
                         ROOF_UNIT_CAPACITY);
    roof_format_quantity(capacity, r->memory_capacity_bytes, ROOF_UNIT_CAPACITY);
    snprintf(chart->unfit, sizeof chart->unfit,
             "%s does not fit: it needs %s%s, and %s has %s for it, of %s", group, needed,
             r->devices > 1 ? " per device" : "", r->total.hardware->id, usable, capacity);
}

enum roof_status roof_chart_add_model(struct roof_chart *chart,
                                      const struct roof_model_prediction *model_prediction,
                                      const char *group, size_t top, struct roof_error *error)
{
    size_t order[ROOF_GRAPH_MAX];
    const size_t count = roof_model_report_order(order, model_prediction);
    double left_out = 0;
    note_unfit(chart, model_prediction, group);
    for (size_t i = 0; i < count && i < top; i++) {
        const struct roof_node_prediction *const n = &model_prediction->node[order[i]];
        const double share = roof_model_share(model_prediction, order[i]);
        const double expected = roof_model_expected_share(model_prediction, order[i]);
        const size_t dots = chart->dots;
        const struct roof_chart_dot dot = {.node.node.count = n->node.count,
                                           .share = share,
                                           .expected_share = expected,
                                           .folded =
                                               share < chart->fold_below &&
                                               !(chart->expected && expected >= chart->fold_below)};
        TRY(add_dot(chart, &n->prediction, &dot, n->node.name, group, error));
        left_out += chart->dots == dots ? share : 0;
    }
    chart->left_out_share = fmax(chart->left_out_share, left_out);
    return ROOF_OK;
}

/* --- power --------------------------------------------------------------------------------- */

/* Adds the roof of a power cap for products in a format, if their energy is known. */
static enum roof_status add_power_line(struct roof_chart *chart, size_t roof,
                                       enum roof_precision format, struct roof_error *error)
{
    const struct roof_hardware *const h = chart->roof[roof].hardware;
    const double cap = h->figure[ROOF_FIGURE_POWER_CAP].value;
    const double left = cap - h->figure[ROOF_FIGURE_CONSTANT_POWER].value;
    struct roof_chart_line line = {.rate = left / h->peak[ROOF_FLOP_ENERGY][format].value,
                                   .bend = left / h->figure[ROOF_FIGURE_BYTE_ENERGY].value,
                                   .roof = roof};
    snprintf(line.name, sizeof line.name, "%g W, %s", cap, roof_format(format)->name);
    return line.rate > 0 && line.bend > 0 ? new_line(chart, &line, error) : ROOF_OK;
}

enum roof_status roof_chart_add_power(struct roof_chart *chart, struct roof_error *error)
{
    for (size_t r = 0; r < chart->roofs; r++) {
        const struct roof_chart_roof *const roof = &chart->roof[r];
        const size_t lines = chart->lines;
        double last = ROOF_UNKNOWN;
        for (size_t i = 0; i < roof->ceilings; i++) {
            const enum roof_precision format = roof->ceiling[i].format[0];
            const double energy_j = roof->hardware->peak[ROOF_FLOP_ENERGY][format].value;
            if (energy_j != last && roof_chart_in_use(chart, r, i)) {
                TRY(add_power_line(chart, r, format, error));
                last = energy_j;
            }
        }
        if (chart->lines == lines && roof_power_capped(roof->hardware)) {
            const char *const known = roof->hardware->energy_known;
            return roof_error_set(
                error, ROOF_USAGE,
                "%s: the roof of a power cap needs a cap above constant_w (W), byte_pj, and "
                "flop_pj of a format (pJ): 'roofline measure' finds those of a GPU, and " ROOF_KEY(
                    "set") " KEY=VALUE gives them%s%s",
                roof->hardware->id,
                known == NULL ? "" : "; devices that have some: ", known == NULL ? "" : known);
        }
    }
    return ROOF_OK;
}

/* --- caches -------------------------------------------------------------------------------- */

static double l2_bandwidth(const struct roof_chart_roof *roof)
{
    return roof->hardware->figure[ROOF_FIGURE_L2_BANDWIDTH].value;
}

/* Adds the slopes of L2 caches. */
static enum roof_status add_l2_slopes(struct roof_chart *chart, struct roof_error *error)
{
    bool any = false;
    for (size_t r = 0; r < chart->roofs; r++) {
        struct roof_chart_line line = {
            .slope = true, .rate = l2_bandwidth(&chart->roof[r]), .roof = r};
        snprintf(line.name, sizeof line.name, "L2");
        if (!isnan(line.rate)) {
            TRY(new_line(chart, &line, error));
            any = true;
        }
    }
    return any ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                "the L2 bandwidth of %s is not known; give it with " ROOF_KEY(
                                    "set") " l2_bandwidth_gb_s=VALUE",
                                chart->roof[0].hardware->id);
}

/* Adds another dot for a product, by its bytes through the L2. Its shares of a pass belong to its
 * first dot. */
static enum roof_status add_at_l2(struct roof_chart *chart, size_t number, struct roof_error *error)
{
    const struct roof_chart_dot *const of = &chart->dot[number];
    struct roof_prediction p = of->node.prediction;
    struct roof_tile tile;
    char group[ROOF_CHART_NAME_SIZE];
    const double bandwidth = l2_bandwidth(&chart->roof[of->roof]);
    if (isnan(bandwidth) || of->folded || !roof_tile_best(&tile, &p)) {
        return ROOF_OK;
    }
    const struct roof_chart_dot dot = {.node.node.count = of->node.node.count,
                                       .share = ROOF_UNKNOWN,
                                       .expected_share = ROOF_UNKNOWN};
    p.bytes = tile.bytes[ROOF_TILE_L2];
    p.intensity = tile.intensity[ROOF_TILE_L2];
    if (p.intensity * bandwidth < p.attainable_flops_per_s) {
        p.attainable_flops_per_s = p.intensity * bandwidth;
        p.bottleneck = ROOF_BOTTLENECK_MEMORY;
    }
    snprintf(group, sizeof group, "%.*s at the L2", ROOF_CHART_NAME_SIZE - 16,
             chart->group[of->group]);
    return add_dot(chart, &p, &dot, of->node.node.name, group, error);
}

enum roof_status roof_chart_add_l2(struct roof_chart *chart, struct roof_error *error)
{
    const size_t dots = chart->dots;
    TRY(add_l2_slopes(chart, error));
    for (size_t i = 0; i < dots; i++) {
        TRY(add_at_l2(chart, i, error));
    }
    return ROOF_OK;
}

double roof_chart_reached(const struct roof_chart *chart, const struct roof_chart_dot *dot)
{
    const struct roof_prediction *const p = &dot->node.prediction;
    if (!isnan(p->measured_s)) {
        return p->achieved_flops_per_s;
    }
    return chart->expected ? p->flops / p->expected_s : ROOF_UNKNOWN;
}
