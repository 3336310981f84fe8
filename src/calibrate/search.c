// SPDX-License-Identifier: MIT
#include "calibrate/search.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

/* The number of the best random points from which searches start, beside the named start. */
#define STARTS 2
#define DRAWS 300

/* Kernels with fewer rows are searched longer, at no more than the cost of a search with many rows.
 */
#define MANY_ROWS 1000
#define MORE_EVALUATIONS 3

/* Parameters with only a few values in libraries. A short search over the other parameters for each
 * value selects one. */
#define CHOICES 3
#define CHOICE_EVALUATIONS 100
static const struct {
    const char *key;
    double value[CHOICES];
} choices[] = {{"row_granule", {64, 128, 256}},
               {"vector_rows", {4, 8, 16}},
               {"sequence_sms", {1, 2, 4}},
               {"lone_rows", {16, 64, 128}},
               {"short_bytes", {16384, 32768, 65536}},
               {"column_granule", {64, 128, 256}}};

/* Returns the possible values of a parameter; NULL: any. */
static const double *choices_of(const struct roof_parameter *p)
{
    for (size_t c = 0; c < COUNT(choices); c++) {
        if (strcmp(p->key, choices[c].key) == 0) {
            return choices[c].value;
        }
    }
    return NULL;
}

/* The bounds of a search, on its scale. */
struct limits {
    double low[ROOF_FIT_PARAMETERS_MAX];
    double high[ROOF_FIT_PARAMETERS_MAX];
};

/* --- bounds -------------------------------------------------------------------------------- */

/* Returns true if a few rows do not determine a parameter: any except bandwidth and peak, and also
 * those if no row comes near them. */
static bool is_held(const struct search *s, const struct roof_parameter *p)
{
    const bool told =
        strcmp(p->key, "peak") == 0 ? s->near_peak : strcmp(p->key, "dram") == 0 && s->uncached;
    return s->held && !told;
}

/* Returns the value of a parameter that no fit may change: a chosen or a common value, a figure of
 * the device, a lent one, or the launch of quantised products. NAN: the parameter is free. */
static double pinned(const struct search *s, size_t place, double start)
{
    const struct roof_parameter *const p = &s->parameter[place];
    if (!isnan(s->chosen[place])) {
        return s->chosen[place];
    }
    if (is_held(s, p) || (s->without && !isnan(p->neutral))) {
        return from_scale(p, start);
    }
    if (!isnan(s->launch) && strcmp(p->key, "launch_clocks") == 0) {
        return s->launch;
    }
    if (roof_kernel_has_tiles(s->known[0].kernel) && strcmp(p->key, "tile_rows") == 0) {
        return roof_matrix_rows(s->fitter->hardware->architecture, s->known[0].stack);
    }
    return p->min == p->max ? p->min : ROOF_UNKNOWN;
}

/* Sets the bounds of a search. A pinned parameter has equal bounds, and z and the start are set to
 * it. */
static void set_limits(struct search *s, double *z, struct limits *limits)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_parameter *const p = &s->parameter[i];
        limits->low[i] = to_scale(p, p->min);
        limits->high[i] = to_scale(p, is_share(p) ? 0.995 : p->max);
        const double fixed = pinned(s, i, s->start[i]);
        if (!isnan(fixed)) {
            limits->low[i] = limits->high[i] = z[i] = s->start[i] = to_scale(p, fixed);
        }
    }
}

/* --- searches ------------------------------------------------------------------------------ */

/* Runs a subplex search from z with an initial step. Leaves the best point in z, and returns its
 * objective. */
static double search_round(struct search *s, double *z, const struct limits *limits, double first,
                           int evaluations)
{
    double value = HUGE_VAL;
    double step[ROOF_FIT_PARAMETERS_MAX] = {0};
    nlopt_opt opt = nlopt_create(NLOPT_LN_SBPLX, (unsigned)s->count);
    for (size_t i = 0; i < s->count; i++) {
        step[i] = first;
        z[i] = clamp(z[i], limits->low[i], limits->high[i]);
    }
    nlopt_set_lower_bounds(opt, limits->low);
    nlopt_set_upper_bounds(opt, limits->high);
    nlopt_set_min_objective(opt, objective, s);
    nlopt_set_maxeval(opt, evaluations);
    nlopt_set_ftol_rel(opt, 1e-5);
    nlopt_set_initial_step(opt, step);
    (void)nlopt_optimize(opt, z, &value);
    nlopt_destroy(opt);
    return value;
}

/* Returns the factor for the number of evaluations of a group. */
static int effort(const struct search *s)
{
    return s->fitter->group[s->group].rows < MANY_ROWS ? MORE_EVALUATIONS : 1;
}

/* Searches from z in rounds with decreasing steps. Leaves the best point in z, and returns its
 * objective. */
static double search_from(struct search *s, double *z, const struct limits *limits)
{
    static const double steps[] = {0.3, 0.2, 0.1};
    double value = HUGE_VAL;
    for (size_t round = 0; round < COUNT(steps); round++) {
        value =
            search_round(s, z, limits, steps[round], s->fitter->options->evaluations * effort(s));
    }
    return value;
}

/* Selects a value of a parameter, including the neutral one, by a short search from z for each, and
 * leaves the best point in z. */
static void choose_value(struct search *s, double *z, size_t place, const double *value)
{
    struct limits limits = {.low = {0}};
    double best = HUGE_VAL;
    double best_z[ROOF_FIT_PARAMETERS_MAX];
    double chosen = s->parameter[place].neutral;
    for (int k = -1; k < CHOICES; k++) {
        double there[ROOF_FIT_PARAMETERS_MAX];
        memcpy(there, z, sizeof there);
        s->chosen[place] = k < 0 ? s->parameter[place].neutral : value[k];
        set_limits(s, there, &limits);
        const double found = search_round(s, there, &limits, 0.2, CHOICE_EVALUATIONS * effort(s));
        if (found < best) {
            best = found;
            chosen = s->chosen[place];
            memcpy(best_z, there, sizeof best_z);
        }
    }
    s->chosen[place] = chosen;
    memcpy(z, best_z, sizeof best_z);
}

/* Selects the values of all parameters that have only a few, in sequence. */
static void choose_values(struct search *s, double *z)
{
    for (size_t i = 0; i < s->count; i++) {
        s->chosen[i] =
            choices_of(&s->parameter[i]) != NULL ? s->parameter[i].neutral : ROOF_UNKNOWN;
    }
    for (size_t i = 0; i < s->count; i++) {
        if (choices_of(&s->parameter[i]) != NULL) {
            choose_value(s, z, i, choices_of(&s->parameter[i]));
        }
    }
}

/* Finds out what the rows of a search tell about bandwidth and peak. */
static void look_at_rows(struct search *s)
{
    const struct fitter *const f = s->fitter;
    s->near_peak = s->uncached = false;
    const struct group *const g = &f->group[s->group];
    for (size_t i = g->first; i < g->first + g->rows; i++) {
        const struct row *const row = &f->row[i];
        const double l2 = f->measured[row->device]->figure[ROOF_FIGURE_L2].value;
        double bytes = 0;
        for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
            bytes += row->work.bytes[role];
        }
        if (is_fitted(s, row)) {
            s->near_peak = s->near_peak || row->work.flops / row->rate > row->bound_s / 2;
            s->uncached = s->uncached || bytes > 1.5 * l2;
        }
    }
}

/* Searches from the parameters that a device lends, and leaves the best point in z if it is below
 * `best`. Returns the lower objective. */
static double search_lender(struct search *s, double *z, const struct roof_calibration *lender,
                            double best)
{
    const struct group *const g = &s->fitter->group[s->group];
    struct limits limits = {.low = {0}};
    for (size_t n = 0; n < lender->count; n++) {
        const struct roof_kernel_fit *const fit = &lender->fit[n];
        double there[ROOF_FIT_PARAMETERS_MAX] = {0};
        if (fit->kernel != g->kernel || fit->numerics != g->numerics) {
            continue;
        }
        for (size_t i = 0; i < s->count; i++) {
            const struct roof_parameter *const p = &s->parameter[i];
            s->start[i] = there[i] = to_scale(p, fit->parameter[i]);
            s->chosen[i] = choices_of(p) != NULL ? fit->parameter[i] : ROOF_UNKNOWN;
        }
        set_limits(s, there, &limits);
        const double found = search_from(s, there, &limits);
        if (found < best) {
            best = found;
            memcpy(z, there, sizeof there);
        }
    }
    return best;
}

/* Searches from the parameters of the first lender with such kernels; false if there is none. */
static bool search_lent(struct search *s, double *z)
{
    const struct fitter *const f = s->fitter;
    double best = HUGE_VAL;
    s->held = true;
    s->without = false;
    look_at_rows(s);
    for (int k = 0; k < f->lenders && best == HUGE_VAL; k++) {
        best = search_lender(s, z, f->lender[k], best);
    }
    s->held = best < HUGE_VAL;
    return s->held;
}

/* Draws uniformly from -1 to 1, with the same sequence in every run. */
static double draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* Finds the best of random points around the start, sorted by their objective. */
static void draw_starts(double out[STARTS][ROOF_FIT_PARAMETERS_MAX], struct search *s,
                        const struct limits *limits)
{
    double value[STARTS];
    uint64_t state = 88172645463325252U;
    for (int k = 0; k < STARTS; k++) {
        value[k] = HUGE_VAL;
    }
    for (int n = 0; n < DRAWS; n++) {
        double point[ROOF_FIT_PARAMETERS_MAX] = {0};
        for (size_t i = 0; i < s->count; i++) {
            const bool off = s->without && !isnan(s->parameter[i].neutral);
            const double moved =
                off ? s->start[i] : s->start[i] + 2 * (draw(&state) + draw(&state));
            point[i] = clamp(moved, limits->low[i], limits->high[i]);
        }
        const double here = objective((unsigned)s->count, point, NULL, s);
        int at = STARTS;
        while (at > 0 && here < value[at - 1]) {
            at--;
        }
        if (at < STARTS) {
            memmove(&value[at + 1], &value[at], (size_t)(STARTS - 1 - at) * sizeof *value);
            memmove(&out[at + 1], &out[at], (size_t)(STARTS - 1 - at) * sizeof *out);
            value[at] = here;
            memcpy(out[at], point, sizeof point);
        }
    }
}

/* Searches from the named start, and from the best of random points around it. */
static void search_all(struct search *s, double *z)
{
    struct limits limits = {.low = {0}};
    double other[STARTS][ROOF_FIT_PARAMETERS_MAX] = {{0}};
    for (size_t i = 0; i < s->count; i++) {
        z[i] = s->start[i] = to_scale(&s->parameter[i], s->parameter[i].start);
    }
    set_limits(s, z, &limits);
    draw_starts(other, s, &limits);
    double best = search_from(s, z, &limits);
    for (int k = 0; k < STARTS; k++) {
        const double found = search_from(s, other[k], &limits);
        if (found < best) {
            best = found;
            memcpy(z, other[k], sizeof other[k]);
        }
    }
}

void run_search(struct search *s)
{
    double z[ROOF_FIT_PARAMETERS_MAX] = {0};
    s->without = true;
    for (size_t i = 0; i < s->count; i++) {
        s->chosen[i] = ROOF_UNKNOWN;
    }
    const size_t rows = s->fitter->group[s->group].rows;
    if (rows >= FEW_ROWS || rows >= 2 * s->count || !search_lent(s, z)) {
        search_all(s, z);
    }
    try_parameters(s, z);
}

bool is_extensible(const struct search *s)
{
    bool found = false;
    for (size_t i = 0; i < s->count; i++) {
        found = found || !isnan(s->parameter[i].neutral);
    }
    return found && s->fitter->group[s->group].rows >= FEW_ROWS;
}

void extend_search(struct search *s)
{
    double z[ROOF_FIT_PARAMETERS_MAX] = {0};
    double other[ROOF_FIT_PARAMETERS_MAX] = {0};
    struct limits limits = {.low = {0}};
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_parameter *const p = &s->parameter[i];
        const bool added = !isnan(p->neutral);
        other[i] = to_scale(p, p->start);
        z[i] = added ? other[i] : to_scale(p, s->known[0].parameter[i]);
    }
    s->without = false;
    choose_values(s, z);
    set_limits(s, z, &limits);
    set_limits(s, other, &limits);
    const double near = search_from(s, z, &limits);
    const double far = search_from(s, other, &limits);
    try_parameters(s, far < near ? other : z);
}
