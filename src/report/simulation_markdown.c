// SPDX-License-Identifier: MIT
#include <math.h>

#include "base/base.h"
#include "report/markdown.h"
#include "report/simulation_parts.h"

/* Begins a row with its name; the value is written into the text of the table. */
static struct roof_text *begin_row(struct roof_markdown_table *g, const char *name)
{
    roof_markdown_cell(g, name);
    return &g->text;
}

static void put_number(struct roof_markdown_table *g, const char *name, double value)
{
    if (!isnan(value)) {
        (void)begin_row(g, name);
        roof_markdown_number(g, value);
    }
}

/* Writes the greatest rate, or that there is none. */
static void put_greatest(struct roof_markdown_table *g, const struct roof_simulation_row *row)
{
    if (!row->open && isnan(row->max_rate)) {
        return;
    }
    struct roof_text *const out = begin_row(g, "greatest rate within the limits");
    if (row->open) {
        roof_text_put(out, "unknown: too few requests");
    } else if (row->max_rate <= 0) {
        roof_text_put(out, "none: a request misses a limit even without load");
    } else {
        roof_simulation_put_greatest(out, row);
    }
    roof_markdown_end_cell(g);
}

/* Writes the rates, and whether each limit is met. */
static void put_rates(struct roof_text *out, const struct roof_simulation_row *row,
                      const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    const struct roof_simulation *const s = &row->result;
    bool limited = false;
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        limited = limited || !isnan(limit[i].time_s);
    }
    struct roof_markdown_table g;
    ROOF_GRID_BEGIN(&g, "figure", "value");
    put_greatest(&g, row);
    put_number(&g, "requests/s completed", s->completed_per_s);
    if (limited) {
        put_number(&g, "requests/s that keep all limits", s->goodput_per_s);
    }
    put_number(&g, "tokens/s generated", s->tokens_per_s);
    if (s->saturated) {
        roof_text_put(begin_row(&g, "saturated"), "yes: more requests come than it completes");
        roof_markdown_end_cell(&g);
        put_number(&g, "requests/s offered in this run", s->offered_per_s);
        put_number(&g, "growth of the queue, requests/s", s->growth_per_s);
    }
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        if (!isnan(limit[i].time_s)) {
            struct roof_text *const text = begin_row(&g, "limit");
            roof_text_printf(text, "%s: ", roof_simulation_verdict(&s->latency[i]));
            roof_simulation_put_limit(text, s, (enum roof_latency)i, &limit[i]);
            roof_markdown_end_cell(&g);
        }
    }
    roof_markdown_put(out, &g);
}

static void put_latencies(struct roof_text *out, const struct roof_simulation_row *row)
{
    struct roof_markdown_table g;
    ROOF_GRID_BEGIN(&g, row->deployment->bound ? "latency (steps: lower bounds)" : "latency",
                    ">mean", ">p50", ">p90", ">p99");
    for (int i = 0; i < ROOF_LATENCY_COUNT; i++) {
        const struct roof_latency_result *const r = &row->result.latency[i];
        const double value[] = {r->mean_s, r->p50_s, r->p90_s, r->p99_s};
        roof_markdown_cell(&g, roof_report_latency((enum roof_latency)i));
        for (size_t k = 0; k < COUNT(value); k++) {
            char time[ROOF_QUANTITY_SIZE];
            roof_markdown_cell(&g, roof_simulation_time(time, value[k], r));
        }
    }
    roof_markdown_put(out, &g);
}

void roof_simulation_report_markdown(struct roof_text *out, const struct roof_simulation_row *row,
                                     const struct roof_latency_limit limit[ROOF_LATENCY_COUNT])
{
    struct roof_text report = ROOF_TEXT_INIT;
    struct roof_text asked = ROOF_TEXT_INIT;
    roof_text_put(out, "# Simulation of ");
    roof_text_markdown(out, row->deployment->model->id);
    roof_text_put(out, " on ");
    roof_text_markdown(out, row->deployment->hardware->id);
    roof_text_put(out, "\n\n");
    roof_simulation_put_asked(&asked, row);
    roof_markdown_put_made(out, &asked);
    roof_text_put(out, ".\n\n");
    put_rates(out, row, limit);
    roof_text_put(out, "\n");
    put_latencies(out, row);
    roof_simulation_report_text(&report, row, limit);
    roof_markdown_put_report(out, "The whole report", &report);
}
