// SPDX-License-Identifier: MIT
#include "measure/power.h"

#include <math.h>

#include "base/base.h"
#include "base/quantity.h"
#include "catalog/hardware.h"
#include "measure/timing.h"

/* --- from rows to figures ------------------------------------------------------------------ */

/* The unknowns: constant power, joules per byte, and joules per FLOP of each format. */
enum { CONSTANT, BYTE, FLOP };
#define UNKNOWNS_MAX (FLOP + ROOF_PRECISION_COUNT)

/* The normal equations of a linear fit: sum[i][unknowns] is the right side. */
struct equations {
    double sum[UNKNOWNS_MAX][UNKNOWNS_MAX + 1];
    int count;
    int of_format[ROOF_PRECISION_COUNT]; /* the unknown of a format; 0: it has none */
};

/* Gives the FLOPs of a format an unknown, if they have none yet. */
static void give_unknown(struct equations *e, enum roof_precision format)
{
    if (e->of_format[format] == 0) {
        e->of_format[format] = e->count++;
    }
}

/* Adds up a row. All terms are divided by the power, so that the errors are relative ones. */
static void add_row(struct equations *e, const struct roof_power_row *row)
{
    double term[UNKNOWNS_MAX] = {[CONSTANT] = 1 / row->power_w, [BYTE] = row->bytes / row->power_w};
    if (row->flops > 0) {
        term[e->of_format[row->format]] = row->flops / row->power_w;
    }
    for (int i = 0; i < e->count; i++) {
        for (int j = 0; j < e->count; j++) {
            e->sum[i][j] += term[i] * term[j];
        }
        e->sum[i][e->count] += term[i];
    }
}

/* A pivot below this share of its value before the elimination is treated as zero. */
#define PIVOT_MIN 1e-9

/* Solves the equations by Gauss and Jordan. They are those of a sum of squares, so that the pivots
 * stand on the diagonal. Returns false where the rows do not tell the unknowns apart. */
static bool solve(double out[UNKNOWNS_MAX], struct equations *e)
{
    const int n = e->count;
    double before[UNKNOWNS_MAX];
    for (int i = 0; i < n; i++) {
        before[i] = e->sum[i][i];
    }
    for (int i = 0; i < n; i++) {
        if (!(e->sum[i][i] > PIVOT_MIN * before[i])) {
            return false;
        }
        for (int row = 0; row < n; row++) {
            const double factor = row == i ? 0 : e->sum[row][i] / e->sum[i][i];
            for (int column = i; column <= n; column++) {
                e->sum[row][column] -= factor * e->sum[i][column];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        out[i] = e->sum[i][n] / e->sum[i][i];
    }
    return true;
}

/* Fixes the constant power: its part of each equation moves to the right side. */
static void fix_constant(struct equations *e, double constant_w)
{
    const int n = e->count;
    for (int i = 0; i < n; i++) {
        e->sum[i][n] -= constant_w * e->sum[i][CONSTANT];
        e->sum[i][CONSTANT] = e->sum[CONSTANT][i] = 0;
    }
    e->sum[CONSTANT][CONSTANT] = 1;
    e->sum[CONSTANT][n] = constant_w;
}

/* Returns the mean of |fitted / measured - 1|. */
static double error_of(const struct roof_power_term *term, const struct roof_power_row *row,
                       size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double flop_w = row[i].flops > 0 ? row[i].flops * term->flop_j[row[i].format] : 0;
        const double fitted = term->constant_w + row[i].bytes * term->byte_j + flop_w;
        sum += fabs(fitted / row[i].power_w - 1);
    }
    return sum / (double)count;
}

static void clear(struct roof_power_term *out)
{
    out->constant_w = out->byte_j = out->error = ROOF_UNKNOWN;
    out->rows = 0;
    for (int format = 0; format < ROOF_PRECISION_COUNT; format++) {
        out->flop_j[format] = ROOF_UNKNOWN;
    }
}

/* Tells if a device file takes a figure that was found: one that is less is negative, or rounding.
 */
static bool is_figure(int unknown, double found)
{
    const struct roof_figure_key *const key =
        roof_figure_key(unknown == CONSTANT ? ROOF_FIGURE_CONSTANT_POWER : ROOF_FIGURE_BYTE_ENERGY);
    return roof_to_unit(found, key->unit) >= key->min;
}

/* Tells if all results are figures. */
static bool are_figures(const double *found, int count)
{
    int i = 0;
    while (i < count && is_figure(i, found[i])) {
        i++;
    }
    return i == count;
}

/* Finds the figures. Near its power limit a device lowers its clock, and with it the energy of all
 * work, so that a free fit may have invalid figures; then the constant is the power of the idle
 * device. */
static bool find_figures(double out[UNKNOWNS_MAX], const struct equations *e, double idle_w)
{
    struct equations work = *e;
    if (!solve(out, &work)) {
        return false;
    }
    if (are_figures(out, e->count)) {
        return true;
    }
    work = *e;
    fix_constant(&work, idle_w);
    return !isnan(idle_w) && solve(out, &work) && are_figures(out, e->count);
}

void roof_power_fit(struct roof_power_term *out, const struct roof_power_row *row, size_t count)
{
    struct equations equations = {.count = FLOP};
    double found[UNKNOWNS_MAX];
    clear(out);
    out->rows = count;
    for (size_t i = 0; i < count; i++) {
        if (row[i].flops > 0) {
            give_unknown(&equations, row[i].format);
        }
    }
    for (size_t i = 0; i < count; i++) {
        add_row(&equations, &row[i]);
    }
    if (!find_figures(found, &equations, out->idle_w)) {
        return;
    }
    out->constant_w = found[CONSTANT];
    out->byte_j = found[BYTE];
    for (int format = 0; format < ROOF_PRECISION_COUNT; format++) {
        const int unknown = equations.of_format[format];
        out->flop_j[format] = unknown > 0 ? found[unknown] : ROOF_UNKNOWN;
    }
    const double off = error_of(out, row, count);
    if (!(off <= ROOF_POWER_ERROR_MAX)) {
        clear(out);
        out->rows = count;
    }
    out->error = off;
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Energy counters move in steps of up to 100 ms, so a run is long; the sizes have rows on both
 * sides of where memory and arithmetic take the same time. */
#define RUN_S 0.5
#define RUN_MAX_S 4.0
/* A run gets so much of its time; the rest warms up, and waits for the counter. */
#define RUN_SHARE 0.7
/* A run is given up if the counter does not move within this multiple of its length. */
#define PATIENCE 3
static const int64_t tokens[] = {256, 4096, 1};
#define ROWS_MIN (2 + COUNT(tokens)) /* reading, fp32 and one format */
#define ROWS_MAX (2 + COUNT(tokens) * ROOF_SUITE_FORMATS_MAX)

struct power {
    const struct roof_meter *meter;
    struct roof_bench *bench;
    double run_s;
    struct roof_power_row row[ROWS_MAX];
    size_t count;
};

/* The sums over samples so far. */
struct spell {
    double busy_s; /* the device worked for so long */
    double calls;
    double began_s;
};

/* Samples the begun task until it was busy for so long, and then until the counter moves; returns
 * that reading. NAN: the counter stands still. Reading the counter makes the device wait, so it is
 * only read at the end. */
static enum roof_status sample_until(double *joules, struct spell *spell, const struct power *p,
                                     double busy_s, struct roof_error *error)
{
    double before = ROOF_UNKNOWN;
    *joules = ROOF_UNKNOWN;
    while (roof_seconds() - spell->began_s < PATIENCE * p->run_s) {
        double seconds = 0;
        TRY(p->meter->sample(&seconds, p->bench, error));
        const double took = p->meter->busy(p->bench);
        spell->busy_s += took;
        spell->calls += seconds > 0 ? took / seconds : 0;
        if (spell->busy_s < busy_s) {
            continue;
        }
        const double now = p->meter->energy(p->bench);
        if (now > before) {
            *joules = now;
            return ROOF_OK;
        }
        before = now;
    }
    return ROOF_OK;
}

/* Runs a begun task, first for a quarter of the time, so that the power settles. */
static enum roof_status run_begun(const struct power *p, struct spell *out, double *joules,
                                  struct roof_error *error)
{
    double from = 0;
    double until = 0;
    struct spell warm = {.began_s = roof_seconds()};
    TRY(sample_until(&from, &warm, p, p->run_s / 4, error));
    *out = (struct spell){.began_s = roof_seconds()};
    TRY(sample_until(&until, out, p, p->run_s, error));
    *joules = until - from;
    return ROOF_OK;
}

/* Runs a task, and adds its row; there is none if the device cannot run it. */
static enum roof_status add_task(struct power *p, const struct roof_meter_task *asked,
                                 struct roof_error *error)
{
    struct roof_meter_task task = *asked;
    struct roof_work work = {0};
    struct spell spell = {0};
    double bytes = 0;
    double joules = 0;
    double amount = 0;
    if (task.probe == ROOF_PROBE_OPERATOR) {
        TRY(roof_workload_resolve(&task.workload, error));
        roof_operator_work(&work, &task.workload, NULL);
    }
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        bytes += work.bytes[role];
    }
    if (!p->meter->able(p->bench, &task)) {
        return ROOF_OK;
    }
    TRY(p->meter->begin(&amount, p->bench, &task, error));
    const enum roof_status status = run_begun(p, &spell, &joules, error);
    p->meter->end(p->bench);
    TRY(status);
    const double rate = spell.calls / spell.busy_s;
    struct roof_power_row *const row = &p->row[p->count];
    *row = (struct roof_power_row){.bytes = bytes * rate,
                                   .flops = work.flops * rate,
                                   .format = task.workload.formats.weights,
                                   .power_w = joules / spell.busy_s};
    if (task.probe == ROOF_PROBE_READ) {
        row->bytes = amount * rate;
    } else if (task.probe == ROOF_PROBE_MULTIPLY) {
        row->flops = amount * rate;
        row->format = task.format;
    }
    p->count += row->power_w > 0 ? 1 : 0;
    return ROOF_OK;
}

/* Long runs get so much of the time. */
#define POWER_SHARE 0.2

double roof_power_share(const struct roof_meter *meter, struct roof_bench *bench, double seconds)
{
    struct roof_meter_device device;
    const size_t rows = ROWS_MIN;
    const double share = POWER_SHARE * seconds;
    meter->describe(&device, bench);
    return device.host || isnan(meter->energy(bench)) || share < (double)rows * RUN_S ? 0 : share;
}

/* Lists what runs: reading, multiplications of fp32, and products of the first formats. */
static size_t list_tasks(struct roof_meter_task *out, const struct roof_meter_device *device,
                         const struct roof_suite_formats *formats, size_t most)
{
    size_t count = 0;
    out[count++] = (struct roof_meter_task){
        .probe = ROOF_PROBE_READ, .bytes = roof_level_bytes(device, device->level_count - 1)};
    out[count++] = (struct roof_meter_task){
        .probe = ROOF_PROBE_MULTIPLY, .format = ROOF_PRECISION_FP32, .unit = ROOF_COMPUTE_VECTOR};
    for (size_t i = 0; i < formats->count && count + COUNT(tokens) <= most; i++) {
        for (size_t t = 0; t < COUNT(tokens); t++) {
            out[count++] = roof_suite_product(device, formats->format[i], tokens[t], 8192, 8192);
        }
    }
    return count;
}

enum roof_status roof_power_run(struct roof_power_term *out, const struct roof_meter *meter,
                                struct roof_bench *bench, const struct roof_suite_formats *formats,
                                double seconds, const struct roof_suite_calls *calls,
                                struct roof_error *error)
{
    struct roof_meter_device device;
    struct roof_meter_task task[ROWS_MAX];
    struct power power = {.meter = meter, .bench = bench};
    clear(out);
    meter->describe(&device, bench);
    /* Inputs of a CPU's products are converted, so that their FLOPs are of no format that is asked
     * for. */
    if (device.host || device.level_count == 0 || isnan(meter->energy(bench))) {
        return ROOF_OK;
    }
    const size_t rows = ROWS_MAX;
    const double runs = seconds / RUN_S;
    const size_t most = runs < (double)rows ? (size_t)runs : rows;
    if (most < ROWS_MIN) {
        return ROOF_OK;
    }
    const size_t count = list_tasks(task, &device, formats, most);
    power.run_s = fmin(RUN_MAX_S, RUN_SHARE * seconds / (double)count);
    for (size_t i = 0; i < count && !(calls->stop != NULL && calls->stop(calls->context)); i++) {
        TRY(add_task(&power, &task[i], error));
    }
    roof_power_fit(out, power.row, power.count);
    return ROOF_OK;
}
