// SPDX-License-Identifier: MIT
#include "decide/crossover.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/* A question that is asked for several numbers of rows. */
struct scan {
    struct roof_workload workload;
    const struct roof_hardware *hardware;
    const struct roof_accuracy *accuracy;
    const struct roof_recommend_options *options;
    const struct roof_input *along;
    struct roof_recommendation *at; /* the answer for the last number of rows */
    struct roof_error *error;
};

static enum roof_status ask(struct scan *s, int64_t rows)
{
    roof_input_put(&s->workload, s->along, rows);
    const enum roof_status status =
        roof_recommend(s->at, &s->workload, s->hardware, s->accuracy, s->options, s->error);
    return status == ROOF_UNSATISFIED ? ROOF_OK : status;
}

static enum roof_precision winner(const struct roof_recommendation *r)
{
    return r->count == 0 ? ROOF_PRECISION_AUTO : r->candidate[0].format;
}

static const struct roof_candidate *find(const struct roof_recommendation *r,
                                         enum roof_precision format)
{
    const struct roof_candidate *c = r->candidate;
    while (c->format != format) {
        c++;
    }
    return c;
}

/* A question about a format whose answer changes with the rows. */
enum question { IS_COMPUTE_BOUND, GAINS, IS_NOT_BEST };

/* Returns the fraction by which a format must be faster. */
static double least_gain(const struct roof_recommend_options *options)
{
    return options->ranking == ROOF_RANKING_EXPECTED ? ROOF_CROSSOVER_GAIN_EXPECTED
                                                     : ROOF_CROSSOVER_GAIN;
}

static bool holds(const struct scan *s, enum question question, enum roof_precision format)
{
    if (question == IS_NOT_BEST) {
        return winner(s->at) != format;
    }
    const struct roof_candidate *const c = find(s->at, format);
    const bool expected = s->options->ranking == ROOF_RANKING_EXPECTED;
    if (question == IS_COMPUTE_BOUND) {
        return c->prediction.bottleneck == ROOF_BOTTLENECK_COMPUTE;
    }
    return (expected ? c->expected_speedup : c->speedup) > 1 + least_gain(s->options);
}

/* Finds the fewest rows in (from, to] with an answer that is given at `to` and not at `from`. */
static enum roof_status bisect(int64_t *out, struct scan *s, enum question question, bool answer,
                               enum roof_precision format, int64_t from, int64_t to)
{
    while (to - from > 1) {
        const int64_t middle = from + (to - from) / 2;
        TRY(ask(s, middle));
        if (holds(s, question, format) == answer) {
            to = middle;
        } else {
            from = middle;
        }
    }
    *out = to;
    return ROOF_OK;
}

/* Returns the next point to look at: it lies an eighth of an octave on. */
static int64_t after(int64_t rows, int64_t last)
{
    const int64_t next = (int64_t)ceil((double)rows * 1.0905077326652577); /* 2^(1/8) */
    return next > last ? last : next;
}

/* Adds the changes of the winner between two points, of which the first is known. */
static enum roof_status add_winners(struct roof_crossovers *out, struct scan *s, int64_t from,
                                    int64_t to, enum roof_precision last)
{
    while (out->winner[out->winners - 1].format != last) {
        int64_t change = 0;
        if (out->winners == ROOF_CROSSOVER_WINNERS) {
            out->more = true;
            return ROOF_OK;
        }
        TRY(bisect(&change, s, IS_NOT_BEST, true, out->winner[out->winners - 1].format, from, to));
        TRY(ask(s, change));
        out->winner[out->winners].from = change;
        out->winner[out->winners++].format = winner(s->at);
        from = change;
    }
    return ROOF_OK;
}

/* Two points between which the answer becomes yes and stays so. */
struct edge {
    int64_t no;  /* the last point whose answer is no */
    int64_t yes; /* the first point after that; 0: there is none */
};

static void note(struct edge *edge, bool yes, int64_t rows)
{
    if (!yes) {
        *edge = (struct edge){.no = rows};
    } else if (edge->yes == 0) {
        edge->yes = rows;
    }
}

/* Notes that a format gains something from some rows on, or nothing. */
static void add_gain(struct roof_crossover *c, bool gains, int64_t from, int64_t last)
{
    c->no_gain = gains ? 0 : from;
    if (gains) {
        c->gain[c->gains].from = (int32_t)from;
        c->gain[c->gains++].to = (int32_t)last;
    } else if (c->gains > 0) {
        c->gain[c->gains - 1].to = (int32_t)(from - 1);
    }
}

/* Adds the changes of all formats between two points; the answer is that for the second. gained[]
 * tells which gained at the first, and then which gain at the second. */
static enum roof_status add_gains(struct roof_crossovers *out, struct scan *s, int64_t before,
                                  int64_t rows, bool gained[ROOF_PRECISION_COUNT])
{
    bool gains[ROOF_PRECISION_COUNT];
    for (size_t i = 0; i < out->count; i++) {
        gains[i] = holds(s, GAINS, out->of[i].format);
    }
    for (size_t i = 0; i < out->count; i++) {
        struct roof_crossover *const c = &out->of[i];
        int64_t change = rows;
        if (c->format == ROOF_PRECISION_FP16 || (before > 0 && gains[i] == gained[i])) {
            continue;
        }
        if (before > 0) {
            TRY(bisect(&change, s, GAINS, gains[i], c->format, before, rows));
        }
        add_gain(c, gains[i], change, out->last);
        gained[i] = gains[i];
    }
    return ROOF_OK;
}

/* Takes the formats and the winner of the answer for one row. */
static void begin(struct roof_crossovers *out, const struct roof_recommendation *answer)
{
    out->count = answer->count + answer->rejected;
    for (size_t i = 0; i < out->count; i++) {
        out->of[i].format = answer->candidate[i].format;
    }
    out->winners = 1;
    out->winner[0].from = 1;
    out->winner[0].format = winner(answer);
}

static enum roof_status scan_all(struct roof_crossovers *out, struct scan *s)
{
    struct edge compute[ROOF_PRECISION_COUNT] = {{0}};
    bool gained[ROOF_PRECISION_COUNT] = {false};
    int64_t before = 0;
    for (int64_t rows = 1; before < out->last; rows = after(rows, out->last)) {
        TRY(ask(s, rows));
        if (rows == 1) {
            begin(out, s->at);
        }
        for (size_t i = 0; i < out->count; i++) {
            const enum roof_precision format = out->of[i].format;
            note(&compute[i], holds(s, IS_COMPUTE_BOUND, format), rows);
        }
        const enum roof_precision best = winner(s->at);
        TRY(add_gains(out, s, before, rows, gained));
        if (!out->more) {
            TRY(add_winners(out, s, before, rows, best));
        }
        before = rows;
    }
    for (size_t i = 0; i < out->count; i++) {
        struct roof_crossover *const c = &out->of[i];
        if (compute[i].yes > 0) {
            TRY(bisect(&c->compute_bound, s, IS_COMPUTE_BOUND, true, c->format, compute[i].no,
                       compute[i].yes));
        }
    }
    return ROOF_OK;
}

enum roof_status roof_crossovers(struct roof_crossovers *out, const struct roof_workload *workload,
                                 const struct roof_hardware *hardware,
                                 const struct roof_accuracy *accuracy,
                                 const struct roof_recommend_options *options,
                                 struct roof_error *error)
{
    static const enum roof_dimension rows[] = {ROOF_DIM_M, ROOF_DIM_QUERY_LEN, ROOF_DIM_TOKENS};
    struct scan s = {.workload = *workload,
                     .hardware = hardware,
                     .accuracy = accuracy,
                     .options = options,
                     .error = error};
    struct roof_workload resolved = *workload;
    *out = (struct roof_crossovers){.along = ROOF_DIM_COUNT,
                                    .last = ROOF_CROSSOVER_MAX,
                                    .gain = least_gain(options),
                                    .balanced = options->objective == ROOF_OBJECTIVE_BALANCED};
    TRY(roof_workload_resolve(&resolved, error));
    if (s.workload.op == ROOF_OPERATOR_GEMV) {
        s.workload.op = ROOF_OPERATOR_GEMM;
    }
    for (size_t i = 0; i < COUNT(rows) && out->along == ROOF_DIM_COUNT; i++) {
        if (roof_operator_has(s.workload.op, rows[i])) {
            out->along = rows[i];
        }
    }
    if (out->along == ROOF_DIM_COUNT) {
        return ROOF_OK;
    }
    if (out->along == ROOF_DIM_QUERY_LEN && roof_operator_has(s.workload.op, ROOF_DIM_KV_LEN) &&
        resolved.shape.kv_len < out->last) {
        out->last = resolved.shape.kv_len; /* a chunk is no longer than its context */
    }
    s.along = &roof_dimensions[out->along];
    s.at = malloc(sizeof *s.at);
    if (s.at == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = scan_all(out, &s);
    free(s.at);
    return status;
}
