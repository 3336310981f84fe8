// SPDX-License-Identifier: MIT
#include "measure/step.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/quantity.h"
#include "measure/judge.h"
#include "measure/timing.h"

/* Samples before those that count. */
#define WARM 1
/* A step is sampled so often. */
#define SAMPLES_MIN 3
#define SAMPLES_MAX 64

/* The least time that is told: what takes less is lost in the looks at the clock, and may come as
 * 0, of which no other time is a multiple. */
#define TICK_S 1e-9

/* Keys that kernels for attention take come in such blocks. */
#define KEYS 32

/* --- which operators ----------------------------------------------------------------------- */

/* Makes the task of an operator. A window over all that one query sees is a shorter cache, and a
 * cache that no kernel takes as it is gets the keys to the end of its last block. */
static bool make_task(struct roof_meter_task *out, const struct roof_meter *meter,
                      const struct roof_bench *bench, const struct roof_node_prediction *node)
{
    struct roof_shape *const s = &out->workload.shape;
    *out = (struct roof_meter_task){.workload = node->prediction.workload};
    if (out->workload.op == ROOF_OPERATOR_FLASH_ATTENTION) {
        const bool cut = s->query_len == 1 && s->window > 0;
        s->kv_len = cut && s->window < s->kv_len ? s->window : s->kv_len;
        s->window = cut ? 0 : s->window;
        s->kv_len = meter->able(bench, out) ? s->kv_len : (s->kv_len + KEYS - 1) / KEYS * KEYS;
    }
    return meter->able(bench, out);
}

/* Returns the predicted time of all instances of an operator: the bound where that is all. */
static double predicted_s(const struct roof_node_prediction *n)
{
    const struct roof_prediction *const p = &n->prediction;
    return (double)n->node.count * (isnan(p->expected_s) ? p->time_s : p->expected_s);
}

void roof_step_list(struct roof_measured_step *out, const struct roof_meter *meter,
                    const struct roof_bench *bench, const struct roof_model_prediction *prediction)
{
    double all_s = 0;
    *out = (struct roof_measured_step){.prediction = prediction};
    meter->describe(&out->device, bench);
    out->count = out->prediction->count;
    for (size_t i = 0; i < out->count; i++) {
        const struct roof_node_prediction *const n = &out->prediction->node[i];
        struct roof_measured_node *const row = &out->row[i];
        *row =
            (struct roof_measured_node){.node = n, .time_s = ROOF_UNKNOWN, .noise = ROOF_UNKNOWN};
        row->runs = make_task(&row->task, meter, bench, n) ? n->node.count : 0;
        all_s += predicted_s(n);
        out->layers = n->node.count > out->layers ? n->node.count : out->layers;
        if (row->runs > 0) {
            out->covered += predicted_s(n);
            out->expected_s += (double)row->runs * n->prediction.expected_s;
            out->bound_s += (double)row->runs * n->prediction.time_s;
        }
    }
    out->covered = all_s > 0 ? out->covered / all_s : 0;
    out->measured = out->layers;
}

/* --- how many layers ----------------------------------------------------------------------- */

/* Returns how often an operator runs when so many of the layers do. */
static int64_t runs_of(const struct roof_measured_step *step, const struct roof_measured_node *row,
                       int64_t layers)
{
    const int64_t runs = row->node->node.count * layers / step->layers;
    return row->runs == 0 ? 0 : runs < 1 ? 1 : runs;
}

void roof_step_run_layers(struct roof_measured_step *step, int64_t layers)
{
    step->measured = layers;
    for (size_t i = 0; i < step->count; i++) {
        step->row[i].runs = runs_of(step, &step->row[i], layers);
    }
}

/* Sums up the bytes of the data that so many layers need, and their predicted seconds. */
static void cost_of(double *bytes, double *seconds, const struct roof_measured_step *step,
                    int64_t layers)
{
    *bytes = *seconds = 0;
    for (size_t i = 0; i < step->count; i++) {
        const struct roof_measured_node *const row = &step->row[i];
        const double runs = (double)runs_of(step, row, layers);
        const double *const role = row->node->prediction.role_bytes;
        if (runs > 0) {
            *bytes += runs * (role[ROOF_ROLE_WEIGHTS] + role[ROOF_ROLE_KV]) +
                      3 * (role[ROOF_ROLE_ACTIVATIONS] + role[ROOF_ROLE_OUT]);
            *seconds += runs * predicted_s(row->node) / (double)row->node->node.count;
        }
    }
}

/* Finds the most layers whose data fits and whose samples end in time. */
static enum roof_status choose_layers(struct roof_measured_step *out, double room, double seconds,
                                      struct roof_error *error)
{
    double bytes = 0;
    double step_s = 0;
    cost_of(&bytes, &step_s, out, out->measured);
    while (out->measured > 1 &&
           (bytes > ROOF_STEP_ROOM * room || (WARM + SAMPLES_MIN) * step_s > seconds)) {
        out->measured--;
        cost_of(&bytes, &step_s, out, out->measured);
    }
    if (bytes > ROOF_STEP_ROOM * room) {
        char needs[ROOF_QUANTITY_SIZE];
        char has[ROOF_QUANTITY_SIZE];
        return roof_error_set(error, ROOF_IO, "one layer of %s needs %s, and %s of memory are free",
                              out->prediction->model->id,
                              roof_format_quantity(needs, bytes, ROOF_UNIT_CAPACITY),
                              roof_format_quantity(has, room, ROOF_UNIT_CAPACITY));
    }
    roof_step_run_layers(out, out->measured);
    return ROOF_OK;
}

/* --- order --------------------------------------------------------------------------------- */

/* The backend gets the parts and their order, and returns samples. */
struct run {
    struct roof_meter_part part[ROOF_GRAPH_MAX];
    size_t row[ROOF_GRAPH_MAX]; /* of each part */
    size_t count;
    size_t *order; /* owned */
    size_t runs;
    double each[SAMPLES_MAX][ROOF_GRAPH_MAX];
    double whole[SAMPLES_MAX];
    double waited;
    size_t samples;
};

/* Tells if a part is before the layers (0), in them (1) or behind them (2). */
static int place_of(const struct roof_measured_step *step, const struct run *run, size_t part)
{
    int place = 0;
    for (size_t i = 0; i <= run->row[part]; i++) {
        place = step->row[i].node->node.block == ROOF_BLOCK_ENDS ? (place > 0 ? 2 : 0) : 1;
    }
    return place;
}

/* Puts the runs of the parts into their order: layer by layer, each with its part of an operator
 * that not all layers have. */
static void put_order(struct run *run, const struct roof_measured_step *step)
{
    for (int place = 0; place < 3; place++) {
        const int64_t layers = place == 1 ? step->measured : 1;
        for (int64_t layer = 0; layer < layers; layer++) {
            for (size_t i = 0; i < run->count; i++) {
                const int64_t runs = run->part[i].runs;
                const int64_t first = runs * layer / layers;
                const int64_t end = runs * (layer + 1) / layers;
                for (int64_t k = first; k < end && place_of(step, run, i) == place; k++) {
                    run->order[run->runs++] = i;
                }
            }
        }
    }
}

static enum roof_status make_run(struct run *run, const struct roof_measured_step *step,
                                 struct roof_error *error)
{
    size_t runs = 0;
    for (size_t i = 0; i < step->count; i++) {
        if (step->row[i].runs > 0) {
            run->part[run->count] =
                (struct roof_meter_part){.task = step->row[i].task, .runs = step->row[i].runs};
            run->row[run->count++] = i;
            runs += (size_t)step->row[i].runs;
        }
    }
    if (run->count == 0) {
        return roof_error_set(error, ROOF_USAGE, "no operator of %s can be run on this device",
                              step->prediction->model->id);
    }
    run->order = calloc(runs, sizeof *run->order);
    if (run->order == NULL) {
        return roof_no_memory(error);
    }
    put_order(run, step);
    return ROOF_OK;
}

/* --- sampling ------------------------------------------------------------------------------ */

/* Takes samples until the time is over. */
static enum roof_status sample(struct run *run, const struct roof_measured_step *step,
                               const struct roof_meter *meter, struct roof_bench *bench,
                               double seconds, const struct roof_halt *halt,
                               struct roof_error *error)
{
    const double start = roof_seconds();
    for (int i = 0; i < WARM; i++) {
        TRY(meter->step_sample(&run->whole[0], run->each[0], bench, error));
        TRY(roof_halt_check(halt, error));
    }
    while (run->samples < SAMPLES_MAX &&
           (run->samples < SAMPLES_MIN || roof_seconds() - start < seconds)) {
        double *const whole = &run->whole[run->samples];
        double *const each = run->each[run->samples];
        TRY(meter->step_sample(whole, each, bench, error));
        for (size_t i = 0; i < run->count; i++) { /* layers that did not run */
            const struct roof_measured_node *const row = &step->row[run->row[i]];
            *whole += each[i] * (double)(row->node->node.count - row->runs);
        }
        run->waited += meter->waited == NULL ? 0 : meter->waited(bench);
        run->samples++;
        if (run->samples < SAMPLES_MIN) {
            TRY(roof_halt_check(halt, error));
        } else if (roof_halt_check(halt, NULL) != ROOF_OK) {
            break; /* it has what it needs */
        }
    }
    return ROOF_OK;
}

static void summarise(struct roof_measured_step *out, struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        double values[SAMPLES_MAX];
        struct roof_measured_node *const row = &out->row[run->row[i]];
        for (size_t k = 0; k < run->samples; k++) {
            values[k] = run->each[k][i];
        }
        row->time_s = fmax(TICK_S, roof_median_noise(&row->noise, values, run->samples));
    }
    out->samples = run->samples;
    out->time_s = fmax(TICK_S, roof_median_noise(&out->noise, run->whole, run->samples));
    out->noisy =
        out->noise > ROOF_NOISE_MAX || run->waited > ROOF_WAITED_MAX * (double)run->samples;
}

enum roof_status roof_step_measure(struct roof_measured_step *step, const struct roof_meter *meter,
                                   struct roof_bench *bench, double seconds,
                                   const struct roof_halt *halt, struct roof_error *error)
{
    struct run *const run = calloc(1, sizeof *run);
    if (run == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = choose_layers(step, meter->room(bench), seconds, error);
    if (status == ROOF_OK) {
        status = make_run(run, step, error);
    }
    if (status == ROOF_OK) {
        const struct roof_meter_step runs = {run->part, run->count, run->order, run->runs};
        status = meter->step_begin(bench, &runs, error);
        if (status == ROOF_OK) {
            status = sample(run, step, meter, bench, seconds, halt, error);
            meter->step_end(bench);
        }
    }
    if (status == ROOF_OK) {
        summarise(step, run);
    }
    free(run->order);
    free(run);
    return status;
}

double roof_step_error(const struct roof_measured_step *step)
{
    return step->expected_s / step->time_s - 1;
}

double roof_step_row_error(const struct roof_measured_node *row)
{
    return row->node->prediction.expected_s / row->time_s - 1;
}

bool roof_step_agrees(const struct roof_measured_step *step)
{
    return step->covered >= ROOF_STEP_COVERED && fabs(roof_step_error(step)) <= ROOF_AGREES;
}
