// SPDX-License-Identifier: MIT
#include "decide/fit_scale.h"

#include <math.h>

#include "base/base.h"

/*
 * A value m is taken as s x + h p, with x expected and p passes. The relative errors
 * s x / m + h p / m - 1 have the least sum of squares where, with u = x / m and v = p / m,
 *
 *     s Suu + h Suv = Su
 *     s Suv + h Svv = Sv
 *
 * The sums without one row are those of all rows less its own terms.
 */
struct sums {
    double u, v, uu, uv, vv;
};

/* Adds a row, or takes it away (-1). */
static void add(struct sums *s, const struct roof_scale_row *row, double times)
{
    const double u = row->expected_s / row->measured_s;
    const double v = row->passes / row->measured_s;
    s->u += times * u;
    s->v += times * v;
    s->uu += times * u * u;
    s->uv += times * u * v;
    s->vv += times * v * v;
}

/* The two numbers of a fit. */
struct numbers {
    double scale;
    double host_s;
};

/* A fit with a host time that is negative, or cannot be told from the factor, is one without. */
static struct numbers solve(const struct sums *s, bool host)
{
    const double determinant = s->uu * s->vv - s->uv * s->uv;
    const double host_s = (s->uu * s->v - s->uv * s->u) / determinant;
    const double scale = (s->u * s->vv - s->v * s->uv) / determinant;
    const bool told = determinant > 1e-9 * s->uu * s->vv && host_s > 0 && scale > 0;
    return host && told ? (struct numbers){scale, host_s} : (struct numbers){s->u / s->uu, 0};
}

static double error_of(const struct numbers *n, const struct roof_scale_row *row)
{
    return fabs((n->scale * row->expected_s + n->host_s * row->passes) / row->measured_s - 1);
}

/* Returns the mean error of the rows, each by the fit of all others. */
static double left_out(const struct roof_scale_row *row, size_t count, const struct sums *all,
                       bool host)
{
    double error = 0;
    for (size_t i = 0; i < count; i++) {
        struct sums others = *all;
        add(&others, &row[i], -1);
        const struct numbers n = solve(&others, host);
        error += error_of(&n, &row[i]);
    }
    return error / (double)count;
}

/* Expected times grow linearly with the host time of a pass, so the number of passes is the growth
 * per second. */
enum roof_status roof_scale_row_of(struct roof_scale_row *out, const struct roof_compared *row,
                                   struct roof_model_prediction *room, struct roof_error *error)
{
    *out = (struct roof_scale_row){.expected_s = row->expected_s, .measured_s = row->measured_s};
    if (row->model_prediction == NULL) {
        return ROOF_OK;
    }
    struct roof_scenario s = row->model_prediction->scenario;
    if (s.serial_s > 0 || s.host_gap_s > 0 || s.common.step_scale != 1) {
        return roof_error_set(error, ROOF_INVALID,
                              "line %d: a fit finds the factor and the host time itself: leave out "
                              "step_scale, serial_ms and host_gap_us",
                              row->line);
    }
    s.serial_s = 1;
    if (s.phase == ROOF_PHASE_REQUEST) {
        s.context = 0; /* its lengths imply it */
    }
    TRY(roof_predict_model(room, row->model_prediction->model, &s,
                           row->model_prediction->total.hardware, error));
    out->passes = roof_compared_expected(room, row->which) - row->expected_s;
    return ROOF_OK;
}

enum roof_status roof_scale_fit(struct roof_scale_fit *out, const struct roof_scale_row *row,
                                size_t count, struct roof_error *error)
{
    struct sums all = {0};
    const struct numbers none = {1, 0};
    *out = (struct roof_scale_fit){.rows = count, .scale = none.scale, .host_s = none.host_s};
    if (count < ROOF_SCALE_ROWS) {
        return roof_error_set(
            error, ROOF_UNSATISFIED,
            "a fit needs at least %d values with expected times; the file has %zu", ROOF_SCALE_ROWS,
            count);
    }
    for (size_t i = 0; i < count; i++) {
        add(&all, &row[i], 1);
        out->mape += error_of(&none, &row[i]) / (double)count;
    }
    out->fitted_mape = out->mape;
    for (int host = 0; host <= 1; host++) {
        const double error_left = left_out(row, count, &all, host != 0);
        if (error_left < out->fitted_mape) {
            const struct numbers n = solve(&all, host != 0);
            out->fitted_mape = error_left;
            out->scale = n.scale;
            out->host_s = n.host_s;
        }
    }
    return ROOF_OK;
}
