// SPDX-License-Identifier: MIT
#include "report/rate_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "report/rate_others.h"
#include "report/render.h"
#include "report/simulation_report.h"

/* Fits a column to its names. */
static void fit_column(struct roof_table *table, const char *key, size_t width)
{
    for (size_t i = 0; i < table->columns.count; i++) {
        if (strcmp(table->columns.field[i].key, key) == 0) {
            table->columns.field[i].width = -(int)width;
        }
    }
}

/* Properties that all rows of the table share, or the largest of their values. */
struct common {
    const struct roof_rate_plan *first;
    bool one_device;
    bool priced;
    bool estimates;  /* some rows have expected times */
    bool bounds;     /* some rows have lower bounds only */
    bool apart;      /* experts have another split than attention */
    bool halves;     /* some copies prefill, and others decode */
    bool engines;    /* rows differ by the engine whose scheduler was simulated */
    bool caches;     /* rows differ by the format of the KV cache */
    bool chunks;     /* rows differ by the most prompt tokens in a step */
    bool only_chunk; /* two rows differ by this alone */
    bool whole;      /* a row has no limit on these */
    int64_t tp;
    int64_t pp;
    int64_t prefill_tp;
    int64_t prefill_pp;
    size_t copies;
    size_t hardware;
    size_t formats; /* widths of the longest names */
};

static size_t longer(size_t width, const char *text)
{
    const size_t own = roof_text_width(text);
    return own > width ? own : width;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool roof_rate_is_shown(const struct roof_rate_plans *found, size_t number, size_t top)
{
    size_t first = 0;
    while (found->way[first].plan.hardware != found->way[number].plan.hardware) {
        first++;
    }
    return number < top || number == first;
}

static void add_row(struct common *c, const struct roof_rate_plan *way,
                    const struct roof_plan_problem *problem)
{
    const struct roof_plan *const plan = &way->plan;
    struct roof_plan_row row;
    struct roof_plan_row first;
    c->first = c->first == NULL ? way : c->first;
    roof_plan_name(&row, plan, 0, problem);
    roof_plan_name(&first, &c->first->plan, 0, problem);
    c->one_device = c->one_device && plan->hardware == c->first->plan.hardware;
    c->estimates = c->estimates || plan->basis == ROOF_PLAN_EXPECTED;
    c->bounds = c->bounds || plan->basis == ROOF_PLAN_BOUND;
    c->priced = c->priced || !isnan(way->price);
    c->apart = c->apart || plan->split.attention_dp > 1 || plan->split.moe_ep > 1;
    c->engines = c->engines || way->engine != c->first->engine;
    c->caches = c->caches || row.kv != first.kv;
    c->chunks = c->chunks || way->chunk != c->first->chunk;
    c->whole = c->whole || way->chunk == ROOF_BUDGET_WHOLE;
    c->tp = larger(c->tp, plan->split.tp);
    c->pp = larger(c->pp, plan->split.pp);
    if (plan->prefill.copies > 0) {
        c->halves = true;
        c->prefill_tp = larger(c->prefill_tp, plan->prefill.split.tp);
        c->prefill_pp = larger(c->prefill_pp, plan->prefill.split.pp);
    }
    c->copies = longer(c->copies, row.copies);
    c->hardware = longer(c->hardware, row.hardware);
    c->formats = longer(c->formats, row.formats);
}

/* Tells whether two plans have the same devices, formats and splits. */
static bool are_alike(const struct roof_plan *a, const struct roof_plan *b)
{
    return a->hardware == b->hardware && a->serving == b->serving && a->dp == b->dp &&
           memcmp(&a->split, &b->split, sizeof a->split) == 0 &&
           a->prefill.copies == b->prefill.copies &&
           (a->prefill.copies == 0 ||
            memcmp(&a->prefill.split, &b->prefill.split, sizeof a->prefill.split) == 0);
}

/* Tells whether another row differs from one by the token budget alone. */
static bool has_twin(const struct roof_rate_plans *found, size_t number, size_t top)
{
    const struct roof_rate_plan *const way = &found->way[number];
    bool twin = false;
    for (size_t i = 0; i < number; i++) {
        twin = twin || (roof_rate_is_shown(found, i, top) && found->way[i].chunk != way->chunk &&
                        are_alike(&found->way[i].plan, &way->plan));
    }
    return twin;
}

static struct common common_of(const struct roof_rate_answer *a, size_t top)
{
    struct common c = {.one_device = true};
    for (size_t i = 0; i < a->found->count; i++) {
        if (roof_rate_is_shown(a->found, i, top)) {
            add_row(&c, &a->found->way[i], &a->problem->answer->problem);
            c.only_chunk = c.only_chunk || has_twin(a->found, i, top);
        }
    }
    return c;
}

bool roof_rate_bases_differ(const struct roof_rate_answer *a, size_t top)
{
    const struct common c = common_of(a, top);
    return c.estimates && c.bounds;
}

/* Adds the columns of the objective, and of a rate that changes. */
static void add_columns(struct roof_table *table, const struct roof_rate_answer *a)
{
    if (a->problem->answer->problem.objective == ROOF_PLAN_ENERGY) {
        roof_table_append(table, ROOF_TABLE_RATES, "tdp_w", "TDP W");
        roof_table_append(table, ROOF_TABLE_RATES, "tdp_joule_per_token", "J/token");
    }
    if (a->found->compared > 0) {
        roof_table_append(table, ROOF_TABLE_RATES, "device_hours", "dev-hours");
    }
}

/* Removes redundant columns, and fits the others to their names. */
static void hide_columns(struct roof_table *table, const struct common *c,
                         const struct roof_rate_answer *a)
{
    const struct {
        const char *key;
        bool hidden;
    } columns[] = {{"hardware", c->one_device},
                   {"basis", !(c->estimates && c->bounds)},
                   {"price_per_hour", !c->priced},
                   {"cost_per_million_tokens", !c->priced},
                   {"copies", !c->halves},
                   {"dp", c->halves},
                   {"tp", c->halves && c->tp == 1},
                   {"pp", c->pp == 1},
                   {"prefill_tp", c->prefill_tp <= 1},
                   {"prefill_pp", c->prefill_pp <= 1},
                   {"attention_dp", !c->apart},
                   {"moe_ep", !c->apart},
                   {"ep", true},
                   {"scheduler", !c->engines},
                   {"chunk", !c->chunks},
                   {"e2e_ms_p99", isnan(a->problem->load->limit[ROOF_LATENCY_E2E].time_s)}};
    for (size_t i = 0; i < COUNT(columns); i++) {
        if (columns[i].hidden) {
            roof_table_hide(table, columns[i].key);
        }
    }
    fit_column(table, "hardware", c->hardware);
    fit_column(table, "copies", c->copies > strlen("copies") ? c->copies : strlen("copies"));
    fit_column(table, "formats", c->formats);
}

/* Makes room for the columns in which the splits, caches and token budgets of rows differ. Copies
 * have their devices. */
static void make_room(struct roof_table *table, const struct common *c,
                      const struct roof_rate_answer *a)
{
    const struct roof_latency_limit *const limit = a->problem->load->limit;
    const struct {
        const char *key;
        bool spare;
    } columns[] = {{"kv", !c->caches && !a->kept->input[ROOF_INPUT_KV]},
                   {"cost_per_million_tokens", true},
                   {"chunk", !c->only_chunk},
                   {"e2e_ms_p99", true},
                   {"ttft_ms_p99", roof_rate_is_other(&limit[ROOF_LATENCY_TTFT])},
                   {"tpot_ms_p99", roof_rate_is_other(&limit[ROOF_LATENCY_TPOT])},
                   {"devices", c->halves},
                   {"price_per_hour", a->problem->answer->problem.objective != ROOF_PLAN_COST},
                   {"tdp_w", true},
                   {"scheduler", true},
                   {"moe_ep", true}};
    for (size_t i = 0; i < COUNT(columns); i++) {
        if (columns[i].spare && roof_table_is_too_wide(table)) {
            roof_table_hide(table, columns[i].key);
        }
    }
}

/* Explains the columns of the split and of the token budget. */
static void put_split(struct roof_text *out, const struct roof_table *table, const struct common *c)
{
    static const char *const keys[] = {"tp", "pp", "prefill_tp", "prefill_pp"};
    const struct roof_fields *const columns = &table->columns;
    const char *separator = "";
    for (size_t i = 0; i < COUNT(keys) && c->halves; i++) {
        const struct roof_field *const column = roof_fields_find(columns, keys[i]);
        const char *const of = i < 2 ? ": of the copies that decode" : ": of those that prefill";
        if (column != NULL) {
            roof_text_printf(out, "%s%s", separator,
                             column->label == NULL ? column->key : column->label);
            const bool last = i % 2 == 1 || roof_fields_find(columns, keys[i + 1]) == NULL;
            roof_text_put(out, last ? of : "");
            separator = last ? "; " : ", ";
        }
    }
    roof_text_put(out, *separator == '\0' ? "" : "\n");
    if (roof_fields_find(columns, "chunk") != NULL) {
        roof_text_printf(out, "chunk: the most tokens in a step (--chunk)%s\n",
                         c->whole ? "; 0: whole prompts" : "");
    }
}

/* The percentiles of the limits, as headings: "TTFT p90". */
struct headings {
    char text[ROOF_LATENCY_COUNT][ROOF_QUANTITY_SIZE + 8];
};

/* Adds the percentiles that the limits are on, beside those that the table has. */
static void add_limited(struct roof_table *table, struct headings *headings,
                        const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    static const struct {
        const char *beside;
        const char *key;
        const char *name;
        size_t offset;
    } columns[ROOF_LATENCY_COUNT] = {
        [ROOF_LATENCY_TTFT] = {"ttft_ms_p99", "ttft_limited", "TTFT",
                               offsetof(struct roof_rate_plan,
                                        at.latency[ROOF_LATENCY_TTFT].limited_s)},
        [ROOF_LATENCY_TPOT] = {"tpot_ms_p99", "tpot_limited", "TPOT",
                               offsetof(struct roof_rate_plan,
                                        at.latency[ROOF_LATENCY_TPOT].limited_s)},
        [ROOF_LATENCY_E2E] = {
            "e2e_ms_p99", "e2e_limited", "E2E",
            offsetof(struct roof_rate_plan, at.latency[ROOF_LATENCY_E2E].limited_s)}};
    struct roof_fields *const all = &table->columns;
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const struct roof_field *const beside = roof_fields_find(all, columns[i].beside);
        char percent[ROOF_QUANTITY_SIZE];
        if (beside == NULL || !roof_rate_is_other(&limit[i]) || all->count == ROOF_FIELDS_MAX) {
            continue;
        }
        const size_t at = (size_t)(beside - all->field);
        struct roof_field column = *beside;
        (void)snprintf(headings->text[i], sizeof headings->text[i], "%s %s", columns[i].name,
                       roof_format_percentile(percent, limit[i].percent));
        column.key = columns[i].key;
        column.offset = columns[i].offset;
        column.label = headings->text[i];
        column.width = (int)longer((size_t)column.width, column.label);
        memmove(&all->field[at + 1], &all->field[at], (all->count - at) * sizeof *all->field);
        all->field[at] = column;
        all->count++;
    }
}

static void put_row(struct roof_text *out, struct roof_table *table,
                    const struct roof_rate_answer *a, size_t number)
{
    struct roof_rate_row row = {.way = &a->found->way[number]};
    roof_plan_name(&row.row, &row.way->plan, (int)number + 1, &a->problem->answer->problem);
    roof_table_rate(table, out, &row);
}

void roof_rate_report_rows(struct roof_text *out, struct roof_table *table,
                           const struct roof_rate_answer *answer, size_t top)
{
    roof_table_begin(table, out);
    for (size_t i = 0; i < answer->found->count && i < top; i++) {
        put_row(out, table, answer, i);
    }
    roof_table_end(table, out);
}

void roof_rate_put_table(struct roof_text *out, enum roof_output output,
                         const struct roof_rate_answer *a, size_t top, struct roof_text *legend)
{
    const struct common c = common_of(a, top);
    struct roof_table table;
    (void)roof_table_open(&table, output, ROOF_TABLE_RATES, ROOF_OPERATOR_GEMM, NULL,
                          NULL); /* only columns can make it fail */
    struct headings headings;
    add_columns(&table, a);
    add_limited(&table, &headings, a->problem->load->limit);
    if (!a->kept->all) {
        hide_columns(&table, &c, a);
    }
    const struct roof_variety all = {.columns = table.columns}; /* only the names are written */
    if (!a->kept->all) {
        make_room(&table, &c, a);
    }
    roof_table_narrow(&table, a->kept, NULL);
    roof_table_begin(&table, out);
    for (size_t i = 0; i < a->found->count; i++) {
        if (roof_rate_is_shown(a->found, i, top)) {
            put_row(out, &table, a, i);
        }
    }
    roof_table_end(&table, out);
    roof_table_left_out(&table, &all, out);
    roof_rate_put_others(legend, &table.columns, a->problem->load->limit);
    put_split(legend, &table, &c);
}
