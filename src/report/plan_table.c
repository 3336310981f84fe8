// SPDX-License-Identifier: MIT
/* The tables in the report on plans: the best ones, and the Pareto front of both rates. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "predict/unexpected.h"
#include "report/plan_parts.h"
#include "report/render.h"
#include "report/rows.h"

size_t roof_plan_first_on(const struct roof_plans *plans, size_t hardware)
{
    size_t i = 0;
    while (i < plans->count && plans->plan[i].hardware != hardware) {
        i++;
    }
    return i;
}

/* The order of the tables. */
static const enum roof_plan_basis bases[] = {ROOF_PLAN_EXPECTED, ROOF_PLAN_BOUND};

/* --- rows ---------------------------------------------------------------------------------- */

/* The rows of a table, in order. */
struct rows {
    const struct roof_plans *plans;
    enum roof_plan_basis basis;
    bool pareto; /* plans on the Pareto front; otherwise the best */
    bool firsts; /* the best plan on each device instead */
    size_t top;
    size_t next;  /* the next index to examine */
    size_t shown; /* number of rows so far */
};

/* Tells whether two plans have as many prefill copies for each decode copy, of the same kind and
 * with the same transfer. */
static bool same_prefills(const struct roof_plan *a, const struct roof_plan *b)
{
    const struct roof_plan_prefill *const x = &a->prefill;
    const struct roof_plan_prefill *const y = &b->prefill;
    return (x->copies == 0 && y->copies == 0) ||
           (x->copies * b->dp == y->copies * a->dp && x->batch == y->batch &&
            memcmp(&x->split, &y->split, sizeof x->split) == 0 && x->network == y->network);
}

static bool same_copies(const struct roof_plan *a, const struct roof_plan *b)
{
    return a->hardware == b->hardware && a->serving == b->serving &&
           memcmp(&a->split, &b->split, sizeof a->split) == 0 && a->batch == b->batch &&
           same_prefills(a, b);
}

/* Tells whether a plan is one of the rows. */
static bool is_row(const struct rows *r, size_t i)
{
    const struct roof_plan *const plan = r->plans->plan;
    if (r->firsts || r->pareto) {
        return r->firsts ? roof_plan_first_on(r->plans, plan[i].hardware) == i : plan[i].pareto;
    }
    /* More copies of the previous plan are redundant. */
    return i == 0 || !same_copies(&plan[i - 1], &plan[i]);
}

/* Finds the index of the next row, by rank; false at the end. */
static bool next_row(size_t *out, struct rows *r)
{
    while (r->next < r->plans->count && r->shown < r->top) {
        const size_t i = r->next++;
        if (r->plans->plan[i].basis == r->basis && is_row(r, i)) {
            r->shown++;
            *out = i;
            return true;
        }
    }
    return false;
}

static struct rows rows_of(const struct roof_plans *plans, const struct roof_plan_problem *problem,
                           enum roof_plan_basis basis, size_t top, bool pareto)
{
    return (struct rows){.plans = plans,
                         .basis = basis,
                         .pareto = pareto,
                         .firsts = top == 0 && !pareto,
                         .top = pareto    ? plans->count
                                : top > 0 ? top
                                          : problem->hardware_count};
}

/* Tells whether two tables have the same rows. */
static bool same_rows(struct rows a, struct rows b)
{
    bool same = true;
    for (bool more = true; more && same;) {
        size_t x = 0;
        size_t y = 0;
        more = next_row(&x, &a);
        same = next_row(&y, &b) == more && x == y;
    }
    return same;
}

/* --- columns ------------------------------------------------------------------------------- */

/* Properties that all rows of tables share, or the largest of their values. */
struct common {
    int formats; /* longest name */
    int hardware;
    bool priced;
    bool one_device; /* all plans use one kind of device */
    int64_t dp;      /* the largest value */
    int64_t tp;
    int64_t pp;
    int64_t ep;
    int copies; /* longest text */
    bool apart; /* some plan has a split that "ep" does not imply */
    bool disaggregated;
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Updates the shared properties by the rows of a table. */
static void add_common(struct common *c, struct rows rows, const struct roof_plan_problem *problem)
{
    c->one_device = problem->hardware_count == 1;
    for (size_t i = 0; next_row(&i, &rows);) {
        const struct roof_plan *const p = &rows.plans->plan[i];
        struct roof_plan_row row;
        roof_plan_name(&row, p, 0, problem);
        c->formats = (int)larger(c->formats, (int64_t)roof_text_width(row.formats));
        c->hardware = (int)larger(c->hardware, (int64_t)roof_text_width(row.hardware));
        c->priced = c->priced || !isnan(p->cost);
        c->dp = larger(c->dp, p->dp);
        c->tp = larger(c->tp, p->split.tp);
        c->pp = larger(c->pp, p->split.pp);
        c->ep = larger(c->ep, roof_split_ep(&p->split));
        c->copies = (int)larger(c->copies, (int64_t)strlen(row.copies));
        c->disaggregated = c->disaggregated || p->prefill.copies > 0;
        c->apart = c->apart || roof_split_apart(&p->split);
    }
}

/* Removes redundant columns, and fits the widths of names. */
static void hide_common(struct roof_table *table, const struct common *c)
{
    const struct {
        const char *key;
        bool hidden;
    } columns[] = {{"pareto", true},
                   {"cost_per_million_tokens", !c->priced},
                   {"hardware", c->one_device},
                   {"copies", !c->disaggregated},
                   {"devices", c->disaggregated},
                   {"dp", c->disaggregated || c->dp == 1},
                   {"tp", c->tp == 1},
                   {"pp", c->pp == 1},
                   {"ep", c->apart || c->ep == 1},
                   {"attention_dp", !c->apart},
                   {"moe_ep", !c->apart}};
    for (size_t i = 0; i < COUNT(columns); i++) {
        if (columns[i].hidden) {
            roof_table_hide(table, columns[i].key);
        }
    }
    const struct {
        const char *key;
        const char *label;
        int width;
    } narrow[] = {{"formats", NULL, -c->formats},
                  {"hardware", NULL, -c->hardware},
                  {"copies", NULL, -c->copies},
                  {"attention_dp", "ad", 2},
                  {"moe_ep", "ep", 2}};
    for (size_t i = 0; i < table->columns.count * COUNT(narrow); i++) {
        struct roof_field *const f = &table->columns.field[i / COUNT(narrow)];
        const size_t n = i % COUNT(narrow);
        if (strcmp(f->key, narrow[n].key) == 0) {
            f->width = narrow[n].width;
            f->label = narrow[n].label;
        }
    }
}

/* Shows bounds in place of expected values in a table of plans, under the same headings. */
static void show_bounds(struct roof_fields *columns)
{
    static const char expected[] = "expected_";
    struct roof_fields all = {0};
    roof_table_fields(&all, ROOF_TABLE_PLANS, ROOF_OPERATOR_GEMM, false);
    for (size_t i = 0; i < columns->count; i++) {
        struct roof_field *const column = &columns->field[i];
        if (strncmp(column->key, expected, strlen(expected)) == 0) {
            struct roof_field bound = *roof_fields_find(&all, column->key + strlen(expected));
            bound.width = column->width;
            bound.label = column->label;
            *column = bound;
        }
    }
}

static void put_rows_as(struct roof_text *out, enum roof_output output, struct rows rows,
                        const struct roof_plan_problem *problem, const struct common *common,
                        const struct roof_kept_columns *kept)
{
    struct roof_table table;
    (void)roof_table_open(&table, output, ROOF_TABLE_PLANS, ROOF_OPERATOR_GEMM, NULL,
                          NULL); /* only columns can make it fail */
    if (rows.basis == ROOF_PLAN_BOUND) {
        show_bounds(&table.columns);
    }
    if (!kept->all) {
        hide_common(&table, common);
    }
    if (problem->objective == ROOF_PLAN_ENERGY) {
        roof_table_append(&table, ROOF_TABLE_PLANS, "tdp_joule_per_token", "J/token");
    }
    roof_table_narrow(&table, kept, NULL);
    roof_table_begin(&table, out);
    for (size_t i = 0; next_row(&i, &rows);) {
        struct roof_plan_row row;
        roof_plan_name(&row, &rows.plans->plan[i], (int)i + 1, problem);
        roof_table_plan(&table, out, &row);
    }
    roof_table_end(&table, out);
}

static void put_rows(struct roof_text *out, struct rows rows,
                     const struct roof_plan_problem *problem, const struct common *common,
                     const struct roof_kept_columns *kept)
{
    put_rows_as(out, ROOF_OUTPUT_TEXT, rows, problem, common, kept);
}

/* --- both tables of a basis ---------------------------------------------------------------- */

static size_t count_basis(const struct roof_plans *plans, enum roof_plan_basis basis)
{
    size_t count = 0;
    for (size_t i = 0; i < plans->count; i++) {
        count += plans->plan[i].basis == basis;
    }
    return count;
}

/* Names the batches that were tried, unless the question has them. */
static void put_batches(struct roof_text *out, const struct roof_plan_problem *problem)
{
    const double asked = problem->limit[ROOF_PLAN_LIMIT_CONCURRENCY];
    char also[64] = "";
    int64_t last = 1;
    for (size_t b = 0; b < problem->batches; b++) {
        last = problem->batch[b] == 2 * last ? problem->batch[b] : last;
        if ((double)problem->batch[b] == asked) {
            (void)snprintf(also, sizeof also, ", the %.0f asked for", asked);
        }
    }
    if (problem->largest == ROOF_BATCHES_WITHIN || problem->largest == ROOF_BATCHES_BEYOND) {
        roof_text_printf(
            out, "(batches tried: powers of 2 up to %" PRId64 "%s, and the largest that fits)\n",
            last, also);
    }
}

static void put_heading(struct roof_text *out, enum roof_plan_basis basis, size_t count,
                        const struct common *common, const struct roof_plan_problem *problem)
{
    if (basis == ROOF_PLAN_EXPECTED) {
        roof_text_printf(out, "\n%zu plan%s, by expected times\n", count, count == 1 ? "" : "s");
    } else {
        roof_text_printf(
            out, "\n%zu plans without expected times, by lower bounds (real kernels are slower)\n",
            count);
    }
    put_batches(out, problem);
    if (common->apart) {
        roof_text_put(out, "(ad: --attention-dp; ep: --moe-ep; tp: of attention)\n");
    }
    if (common->disaggregated) {
        roof_text_put(out,
                      "(copies: 2x4 means 2 copies of 4 devices; 3x1+2x4 means 3 copies of 1 "
                      "device for prefill and\n 2 of 4 for decode, whose tp and pp are shown)\n");
    }
}

/* Says why a plan ranks behind a worse one, if one does. */
static void put_order(struct roof_text *out, struct rows rows,
                      const struct roof_plan_problem *problem)
{
    double least = -HUGE_VAL;
    bool mixed = false;
    for (size_t i = 0; next_row(&i, &rows);) {
        const double score = roof_plan_score(&rows.plans->plan[i], problem->objective);
        mixed = mixed || score < least;
        least = fmax(least, score);
    }
    if (mixed) {
        roof_text_printf(out,
                         "(a plan with a published checkpoint ranks before one that is up to "
                         "%.0f%% better but must be converted)\n",
                         100 * (ROOF_PLAN_PUBLISHED - 1));
    }
}

/* The note on ranks that is_row left out as redundant. */
#define GAPS "a missing rank is the plan above it in more or fewer copies"

static bool has_gaps(struct rows rows)
{
    bool gap = false;
    size_t last = rows.plans->count; /* there is no row yet */
    for (size_t i = 0; next_row(&i, &rows); last = i) {
        for (size_t k = last + 1; k < i; k++) {
            gap = gap || rows.plans->plan[k].basis == rows.basis;
        }
    }
    return gap;
}

/* Names the missing figures or kernels without which there are no expected times, and ends the
 * heading. */
static void put_unexpected(struct roof_text *out, enum roof_plan_basis basis,
                           const struct roof_plan_problem *problem)
{
    for (size_t h = 0; h < problem->hardware_count && basis == ROOF_PLAN_BOUND; h++) {
        char why[ROOF_UNEXPECTED_SIZE];
        const struct roof_hardware *const hardware = problem->hardware[h];
        if ((hardware->unmeasured != NULL || hardware->calibration != NULL) &&
            roof_unexpected_device(why, hardware) != NULL) {
            roof_text_printf(out, "(%s)\n", why);
        }
    }
    roof_text_put(out, "\n");
}

/* Writes the fraction of the best plans' times that is estimated from other devices. */
static void put_near(struct roof_text *out, struct rows rows,
                     const struct roof_plan_problem *problem)
{
    for (size_t i = 0; next_row(&i, &rows);) {
        const struct roof_plan *const p = &rows.plans->plan[i];
        const double most = fmax(p->near, p->ttft_near);
        if (most > ROOF_PLAN_NEAR) {
            roof_text_printf(
                out,
                "(%s: up to %.0f%% of a time is estimated from other devices, libraries "
                "or formats)\n",
                problem->hardware[p->hardware]->id, 100 * most);
        }
    }
}

/* For each device, names the plan that is better than its best one but does not use published
 * weights. */
static void put_published(struct roof_text *out, struct rows rows,
                          const struct roof_plan_problem *problem)
{
    const struct roof_plans *const plans = rows.plans;
    for (size_t i = 0; next_row(&i, &rows);) {
        const struct roof_plan *const best = &plans->plan[i];
        const double score = roof_plan_score(best, problem->objective);
        size_t k = i + 1;
        while (k < plans->count &&
               (plans->plan[k].hardware != best->hardware || plans->plan[k].basis != best->basis ||
                !(roof_plan_score(&plans->plan[k], problem->objective) < score))) {
            k++;
        }
        if (k < plans->count) {
            const double other = roof_plan_score(&plans->plan[k], problem->objective);
            roof_text_printf(
                out,
                "(%s: rank %zu is %.1f%% better, but its checkpoint must be converted first)\n",
                problem->hardware[best->hardware]->id, k + 1,
                100 * (score < 0 ? other / score - 1 : score / other - 1));
        }
    }
}

void roof_plan_put_devices(struct roof_text *out, const struct roof_plans *plans,
                           const struct roof_plan_problem *problem,
                           const struct roof_kept_columns *kept)
{
    struct common common = {0};
    for (size_t b = 0; b < COUNT(bases) && problem->hardware_count > 1; b++) {
        const struct rows rows = rows_of(plans, problem, bases[b], 0, false);
        add_common(&common, rows, problem);
    }
    for (size_t b = 0; b < COUNT(bases) && problem->hardware_count > 1; b++) {
        const struct rows rows = rows_of(plans, problem, bases[b], 0, false);
        size_t i = 0;
        struct rows look = rows;
        if (next_row(&i, &look)) {
            roof_text_printf(
                out, "\nBest plan on each device%s\n",
                bases[b] == ROOF_PLAN_BOUND ? ", by lower bounds (real kernels are slower)" : "");
            if (bases[b] == ROOF_PLAN_EXPECTED) {
                put_near(out, rows, problem);
            }
            put_published(out, rows, problem);
            roof_text_put(out, "\n");
            put_rows(out, rows, problem, &common, kept);
        }
    }
}

void roof_plan_put_tables(struct roof_text *out, const struct roof_plans *plans,
                          const struct roof_plan_problem *problem, size_t top,
                          const struct roof_kept_columns *kept, bool above)
{
    for (size_t b = 0; b < COUNT(bases); b++) {
        const size_t count = count_basis(plans, bases[b]);
        const struct rows best = rows_of(plans, problem, bases[b], top, false);
        const struct rows front = rows_of(plans, problem, bases[b], top, true);
        if (count == 0) {
            continue;
        }
        struct common common = {0};
        add_common(&common, best, problem);
        add_common(&common, front, problem);
        put_heading(out, bases[b], count, &common, problem);
        put_order(out, best, problem);
        roof_text_put(out, has_gaps(best) ? "(" GAPS ")\n" : "");
        put_unexpected(out, bases[b], problem);
        if (above) {
            roof_text_put(out, "(the table above has the best)\n");
        } else {
            put_rows(out, best, problem, &common, kept);
        }
        if (same_rows(best, front)) {
            roof_text_put(out, "\nThese are the Pareto front");
        } else {
            roof_text_put(out, "\nPareto front");
        }
        roof_text_put(out, plans->priced
                               ? ": no plan has both more tokens/s per user and a lower cost\n"
                               : ": no plan has both more tokens/s per user and per device\n");
        if (!same_rows(best, front)) {
            roof_text_put(out, "\n");
            put_rows(out, front, problem, &common, kept);
        }
    }
}

void roof_plan_put_markdown(struct roof_text *out, const struct roof_plans *plans,
                            const struct roof_plan_problem *problem, size_t top,
                            const struct roof_kept_columns *kept)
{
    for (size_t b = 0; b < COUNT(bases); b++) {
        const struct rows best = rows_of(plans, problem, bases[b], top, false);
        struct common common = {0};
        if (count_basis(plans, bases[b]) == 0) {
            continue;
        }
        add_common(&common, best, problem);
        roof_text_printf(out, "\nBy %s; rates are tokens/s per user and per device%s.\n\n",
                         bases[b] == ROOF_PLAN_EXPECTED ? "expected times"
                                                        : "lower bounds (real kernels are slower)",
                         has_gaps(best) ? "; " GAPS : "");
        put_rows_as(out, ROOF_OUTPUT_MARKDOWN, best, problem, &common, kept);
    }
}
