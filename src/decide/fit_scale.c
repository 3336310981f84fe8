// SPDX-License-Identifier: MIT
#include "decide/fit_scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "decide/read.h"

/*
 * A value m is taken as c + s (x - c) + h p, with x expected, c its host time of the engine and p
 * passes. The relative errors s u + h v - t have the least sum of squares, where u = (x - c) / m,
 * v = p / m and t = 1 - c / m, for
 *
 *     s Suu + h Suv = Sut
 *     s Suv + h Svv = Svt
 *
 * The sums without one run are those of all rows less the terms of its rows.
 */
struct sums {
    double ut, vt, uu, uv, vv;
};

/* Adds a row, or takes it away (-1). */
static void add(struct sums *s, const struct roof_scale_row *row, double times)
{
    const double u = (row->expected_s - row->host_s) / row->measured_s;
    const double v = row->passes / row->measured_s;
    const double t = 1 - row->host_s / row->measured_s;
    s->ut += times * u * t;
    s->vt += times * v * t;
    s->uu += times * u * u;
    s->uv += times * u * v;
    s->vv += times * v * v;
}

/* A shorter host time is none. */
#define LEAST_S 1e-9

/* The two numbers of a fit. */
struct numbers {
    double scale;
    double host_s;
};

static bool is_scale(double scale)
{
    return scale >= ROOF_STEP_SCALE_MIN && scale <= ROOF_STEP_SCALE_MAX;
}

/* A fit with a host time that is negative, or cannot be told from the factor, is one without. If no
 * option has its factor, there is no fit. */
static struct numbers solve(const struct sums *s, bool host)
{
    const double determinant = s->uu * s->vv - s->uv * s->uv;
    const double host_s = (s->uu * s->vt - s->uv * s->ut) / determinant;
    const double scale = (s->ut * s->vv - s->vt * s->uv) / determinant;
    const bool told = determinant > 1e-9 * s->uu * s->vv && host_s >= LEAST_S && is_scale(scale);
    if (host && told) {
        return (struct numbers){scale, host_s};
    }
    const double alone = s->ut / s->uu;
    return (struct numbers){is_scale(alone) ? alone : 1, 0};
}

static double time_of(const struct numbers *n, const struct roof_scale_row *row)
{
    return row->host_s + n->scale * (row->expected_s - row->host_s) + n->host_s * row->passes;
}

static double error_of(double time_s, const struct roof_scale_row *row)
{
    return fabs(time_s / row->measured_s - 1);
}

/* Returns the end of the rows of a run. */
static size_t run_end(const struct roof_scale_row *row, size_t count, size_t from)
{
    size_t end = from + 1;
    while (end < count && row[from].line > 0 && row[end].line == row[from].line) {
        end++;
    }
    return end;
}

static size_t count_runs(const struct roof_scale_row *row, size_t count)
{
    size_t runs = 0;
    for (size_t i = 0; i < count; i = run_end(row, count, i)) {
        runs++;
    }
    return runs;
}

/* Returns the mean error of the rows, those of each run by the fit of all others. */
static double left_out(const struct roof_scale_row *row, size_t count, const struct sums *all,
                       bool host)
{
    double error = 0;
    for (size_t from = 0; from < count;) {
        const size_t end = run_end(row, count, from);
        struct sums others = *all;
        for (size_t i = from; i < end; i++) {
            add(&others, &row[i], -1);
        }
        const struct numbers n = solve(&others, host);
        for (; from < end; from++) {
            error += error_of(time_of(&n, &row[from]), &row[from]);
        }
    }
    return error / (double)count;
}

/* Predicts a model once more. */
static enum roof_status predict(double *out_s, const struct roof_scaled *of,
                                const struct roof_scenario *scenario,
                                struct roof_model_prediction *room, struct roof_error *error)
{
    TRY(roof_predict_model(room, of->model, scenario, of->hardware, error));
    *out_s = roof_compared_expected(room, of->which);
    return ROOF_OK;
}

static enum roof_status predict_operator(double *out_s, const struct roof_scaled_operator *of,
                                         double scale, struct roof_error *error)
{
    struct roof_prediction prediction;
    struct roof_workload workload = of->workload;
    workload.step_scale = scale;
    TRY(roof_predict(&prediction, &workload, of->hardware, error));
    *out_s = prediction.expected_s;
    return ROOF_OK;
}

/* Keeps an operator, to predict it again. */
static enum roof_status keep_operator(struct roof_scale_row *out, const struct roof_prediction *p,
                                      struct roof_error *error)
{
    out->op = malloc(sizeof *out->op);
    if (out->op == NULL) {
        return roof_no_memory(error);
    }
    *out->op = (struct roof_scaled_operator){.workload = p->workload, .hardware = p->hardware};
    return ROOF_OK;
}

/* Computes the mean error of the rows when they are predicted with two numbers as options. */
static enum roof_status apply(double *out, const struct numbers *n,
                              const struct roof_scale_row *row, size_t count,
                              struct roof_model_prediction *room, struct roof_error *error)
{
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        const struct roof_scaled *const model = row[i].model;
        double time_s = time_of(n, &row[i]);
        if (model != NULL) {
            struct roof_scenario s = model->scenario;
            s.common.step_scale = n->scale;
            s.serial_s = n->host_s;
            TRY(predict(&time_s, model, &s, room, error));
        } else if (row[i].op != NULL) {
            TRY(predict_operator(&time_s, row[i].op, n->scale, error));
        }
        *out += error_of(time_s, &row[i]) / (double)count;
    }
    return ROOF_OK;
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Finds the passes and the host time of a model. Expected times grow linearly with the host time of
 * a pass, so the number of passes is the growth per second. */
static enum roof_status find_parts(struct roof_scale_row *row, struct roof_model_prediction *room,
                                   struct roof_error *error)
{
    struct roof_scenario s = row->model->scenario;
    double longer_s = 0;
    double kernels_s = 0;
    s.serial_s = 1;
    TRY(predict(&longer_s, row->model, &s, room, error));
    s = row->model->scenario;
    memset(s.host_time, 0, sizeof s.host_time);
    memset(s.early_s, 0, sizeof s.early_s);
    TRY(predict(&kernels_s, row->model, &s, room, error));
    row->passes = longer_s - row->expected_s;
    row->host_s = row->expected_s - kernels_s;
    return ROOF_OK;
}

enum roof_status roof_scale_row_of(struct roof_scale_row *out, const struct roof_compared *row,
                                   struct roof_model_prediction *room, struct roof_error *error)
{
    *out = (struct roof_scale_row){
        .expected_s = row->expected_s, .measured_s = row->measured_s, .line = row->line};
    if (row->model_prediction == NULL) {
        return keep_operator(out, row->prediction, error);
    }
    const struct roof_scenario *const s = &row->model_prediction->scenario;
    if (s->serial_s > 0 || s->host_gap_s > 0 || s->common.step_scale != 1) {
        return roof_error_set(error, ROOF_INVALID,
                              "line %d: a fit finds the factor and the host time itself: leave out "
                              "step_scale, serial_ms and host_gap_us",
                              row->line);
    }
    out->model = malloc(sizeof *out->model);
    if (out->model == NULL) {
        return roof_no_memory(error);
    }
    *out->model = (struct roof_scaled){.scenario = *s,
                                       .model = row->model_prediction->model,
                                       .hardware = row->model_prediction->total.hardware,
                                       .which = row->which};
    struct roof_scenario *const kept = &out->model->scenario;
    kept->formats_said = kept->host_time_said = NULL; /* texts of the row */
    if (kept->phase == ROOF_PHASE_REQUEST) {
        kept->context = 0; /* its lengths imply it */
    }
    return find_parts(out, room, error);
}

void roof_scale_row_free(struct roof_scale_row *row)
{
    free(row->model);
    free(row->op);
    row->model = NULL;
    row->op = NULL;
}

/* --- the fit ------------------------------------------------------------------------------- */

/* Gives the numbers the digits that a report prints, so that the errors are those of its options.
 */
static enum roof_status round_numbers(struct numbers *n, struct roof_error *error)
{
    char scale[ROOF_QUANTITY_SIZE];
    char host[ROOF_TIME_OPTION_SIZE];
    roof_format_short(scale, n->scale);
    TRY(roof_parse_number(&n->scale, scale, "", ROOF_STEP_SCALE_MIN, ROOF_STEP_SCALE_MAX, error));
    return roof_parse_time_or_none(&n->host_s, roof_time_option(host, n->host_s), "", error);
}

static enum roof_stack stack_of(const struct roof_scale_row *row)
{
    return row->model != NULL ? (enum roof_stack)row->model->scenario.common.stack
           : row->op != NULL  ? (enum roof_stack)row->op->workload.stack
                              : ROOF_STACK_BEST;
}

/* Counts the models, and finds the host times that all of them have, and the stack that all rows
 * have. */
static void find_engine(struct roof_scale_fit *fit, const struct roof_scale_row *row, size_t count)
{
    fit->one_engine = fit->one_stack = true;
    for (size_t i = 0; i < count; i++) {
        const enum roof_stack stack = stack_of(&row[i]);
        fit->stack = i == 0 ? stack : fit->stack;
        fit->one_stack = fit->one_stack && stack == fit->stack;
        if (row[i].model == NULL) {
            continue;
        }
        const struct roof_scenario *const s = &row[i].model->scenario;
        const struct roof_host_time *const engine = &s->host_time[s->common.stack];
        if (fit->models++ == 0) {
            fit->engine = *engine;
        }
        fit->one_engine = fit->one_engine && roof_host_time_equal(engine, &fit->engine);
    }
}

enum roof_status roof_scale_fit(struct roof_scale_fit *out, const struct roof_scale_row *row,
                                size_t count, struct roof_model_prediction *room,
                                struct roof_error *error)
{
    struct sums all = {0};
    *out = (struct roof_scale_fit){.rows = count, .scale = 1};
    const size_t runs = count_runs(row, count);
    if (runs < ROOF_SCALE_RUNS) {
        return roof_error_set(error, ROOF_UNSATISFIED,
                              "a fit needs at least %d runs with expected times; the file has %zu",
                              ROOF_SCALE_RUNS, runs);
    }
    find_engine(out, row, count);
    for (size_t i = 0; i < count; i++) {
        add(&all, &row[i], 1);
        out->hosted = out->hosted || row[i].host_s != 0;
        out->mape += error_of(row[i].expected_s, &row[i]) / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        out->of[row[i].model == NULL ? ROOF_METRIC_TIME : row[i].model->which]++;
    }
    out->fitted_mape = out->applied_mape = out->mape;
    for (int host = 0; host <= 1; host++) {
        struct numbers n = solve(&all, host != 0);
        double applied = 0;
        TRY(round_numbers(&n, error));
        TRY(apply(&applied, &n, row, count, room, error));
        const double promised = fmax(left_out(row, count, &all, host != 0), applied);
        if (promised < out->fitted_mape) {
            out->fitted_mape = promised;
            out->applied_mape = applied;
            out->scale = n.scale;
            out->host_s = n.host_s;
        }
    }
    out->engine.step_s += out->host_s;
    return ROOF_OK;
}
