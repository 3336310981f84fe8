// SPDX-License-Identifier: MIT
#include "chart/chart_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "catalog/data.h"
#include "chart/page_figures.h"
#include "report/model_report.h"

/* The table for readers without scripts has at most this many rows. */
#define PLAIN_ROWS_MAX 1000

/* A dot and its line of the table, which many points of the grid share. */
struct row {
    size_t roof;
    int64_t count;
    char name[ROOF_CHART_NAME_SIZE];
    struct roof_workload workload;
    double time_s, expected_s, measured_s;
    size_t next; /* index + 1 of the next row of the same hash; 0: none */
};

#define HEADS 4096

struct page {
    struct roof_chart chart; /* a copy that shows expected times, so that all can be asked for */
    bool expected;           /* expected times are shown at first */
    const struct roof_page_sizes *sizes;
    struct roof_values batch, context;
    int64_t asked_batch, asked_context;
    double devices;                 /* the model is split over so many */
    size_t group[ROOF_PHASE_COUNT]; /* the phases that are shown */
    size_t groups;
    struct row *row;
    size_t rows, room;
    size_t head[HEADS];
    struct roof_text row_text; /* JSON */
    struct roof_text series;   /* JSON */
    struct roof_text plain;    /* HTML: the table without scripts */
    struct roof_text about;    /* the formats of a model, and how it is split */
    size_t plain_rows;
    bool used[ROOF_PRECISION_COUNT]; /* formats that dots are computed in */
    struct roof_model_prediction model_prediction;
};

/* --- HTML ---------------------------------------------------------------------------------- */

/* Writes text between tags or in an attribute. Bytes that are not UTF-8 become U+FFFD, as in JSON.
 */
static void put_html(struct roof_text *out, const char *text)
{
    struct roof_text json = ROOF_TEXT_INIT;
    roof_json_quote(&json, text);
    for (size_t i = 1; !json.failed && i + 1 < json.length; i++) {
        const char c = json.data[i];
        const char *const escape = c == '&'    ? "&amp;"
                                   : c == '<'  ? "&lt;"
                                   : c == '>'  ? "&gt;"
                                   : c == '\'' ? "&#39;"
                                               : NULL;
        if (escape != NULL) {
            roof_text_put(out, escape);
        } else if (c == '\\' && json.data[i + 1] == 'u') { /* a byte or a control character */
            roof_text_put(out, "\xef\xbf\xbd");
            i += 5;
        } else if (c == '\\') { /* a quote or a backslash */
            roof_text_put(out, json.data[++i] == '"' ? "&quot;" : "\\");
        } else {
            roof_text_add(out, &c, 1);
        }
    }
    out->failed = out->failed || json.failed;
    roof_text_free(&json);
}

/* Writes JSON into a script element, where "<" could begin "</script" or "<!--". It occurs only in
 * strings, which may have it escaped. */
static void put_script_json(struct roof_text *out, const struct roof_text *json)
{
    const char *from = json->data;
    const char *const end = json->data + json->length;
    for (const char *p = from; p < end; p++) {
        if (*p == '<') {
            roof_text_add(out, from, (size_t)(p - from));
            roof_text_put(out, "\\u003c");
            from = p + 1;
        }
    }
    roof_text_add(out, from, (size_t)(end - from));
}

static void put_cell(struct roof_text *out, const char *text, bool number)
{
    roof_text_put(out, number ? "<td class=\"n\">" : "<td>");
    put_html(out, text);
    roof_text_put(out, "</td>");
}

static void put_plain_row(struct page *page, const struct roof_chart_dot *dot)
{
    const struct roof_prediction *const p = &dot->node.prediction;
    const double count = (double)dot->node.node.count;
    struct roof_text *const out = &page->plain;
    struct roof_text made = ROOF_TEXT_INIT;
    char text[ROOF_QUANTITY_SIZE];
    if (++page->plain_rows > PLAIN_ROWS_MAX) {
        return;
    }
    roof_text_put(out, "<tr>");
    put_cell(out, dot->node.node.name, false);
    put_cell(out, page->chart.group[dot->group], false);
    put_cell(out, page->chart.roof[dot->roof].hardware->id, false);
    roof_text_printf(out, "<td class=\"n\">%" PRId64 "</td>", dot->node.node.count);
    put_cell(out, roof_format_quantity(text, count * p->time_s, ROOF_UNIT_MICROSECONDS), true);
    put_cell(out, roof_format_quantity(text, count * p->expected_s, ROOF_UNIT_MICROSECONDS), true);
    roof_text_put(&made, "");
    if (!isnan(dot->share)) {
        roof_text_printf(&made, "%.1f%%", 100 * dot->share);
    }
    put_cell(out, made.length == 0 ? "" : made.data, true);
    put_cell(out, roof_bottleneck_name(p->bottleneck), false);
    put_cell(out, roof_format_quantity(text, p->intensity, ROOF_UNIT_FLOP_PER_BYTE), true);
    put_cell(out, roof_format_quantity(text, p->attainable_flops_per_s, ROOF_UNIT_TFLOPS), true);
    roof_text_clear(&made);
    roof_page_put_shape(&made, p);
    put_cell(out, made.length == 0 ? "" : made.data, false);
    out->failed = out->failed || made.failed;
    roof_text_free(&made);
    roof_text_put(out, "</tr>\n");
}

/* --- rows ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *const b = bytes;
    for (size_t i = 0; i < size; i++) { /* FNV-1a */
        hash = (hash ^ b[i]) * 1099511628211U;
    }
    return hash;
}

static bool same_time(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Finds the number of the row of a dot. The row is made if there is none like it. */
static enum roof_status row_of(size_t *out, struct page *page, const struct roof_chart_dot *dot,
                               struct roof_error *error)
{
    const struct roof_prediction *const p = &dot->node.prediction;
    const char *const name = dot->node.node.name;
    uint64_t hash = mix(14695981039346656037U, &p->time_s, sizeof p->time_s);
    hash = mix(hash, name, strlen(name));
    size_t *const head = &page->head[(hash ^ hash >> 32) % HEADS];
    for (size_t at = *head; at != 0; at = page->row[at - 1].next) {
        const struct row *const row = &page->row[at - 1];
        if (row->roof == dot->roof && row->count == dot->node.node.count &&
            strcmp(row->name, name) == 0 && same_time(row->time_s, p->time_s) &&
            same_time(row->expected_s, p->expected_s) &&
            same_time(row->measured_s, p->measured_s) &&
            roof_same_workload(&row->workload, &p->workload)) {
            *out = at - 1;
            return ROOF_OK;
        }
    }
    if (page->rows == page->room) {
        const size_t room = page->room == 0 ? 256 : 2 * page->room;
        struct row *const grown = realloc(page->row, room * sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(error);
        }
        page->row = grown;
        page->room = room;
    }
    struct row *const row = &page->row[page->rows];
    *row = (struct row){.roof = dot->roof,
                        .count = dot->node.node.count,
                        .workload = p->workload,
                        .time_s = p->time_s,
                        .expected_s = p->expected_s,
                        .measured_s = p->measured_s,
                        .next = *head};
    roof_chart_name(row->name, name);
    roof_text_put(&page->row_text, page->rows == 0 ? "\n" : ",\n");
    roof_page_put_row(&page->row_text, &page->chart, dot);
    if (p->flops > 0 && p->compute < ROOF_PRECISION_COUNT) {
        page->used[p->compute] = true;
    }
    *out = page->rows++;
    *head = *out + 1;
    return ROOF_OK;
}

/* Adds a dot to the arrays of rows and of shares of a point. */
static enum roof_status add_dot(struct page *page, struct roof_text *shares, bool first, bool plain,
                                const struct roof_chart_dot *dot, struct roof_error *error)
{
    size_t row = 0;
    const enum roof_status status = row_of(&row, page, dot, error);
    roof_text_printf(&page->series, "%s%zu", first ? "" : ",", row);
    roof_text_put(shares, first ? "" : ",");
    if (isnan(dot->share)) {
        roof_text_put(shares, "null");
    } else {
        roof_text_printf(shares, "%.1f", 100 * dot->share);
    }
    if (plain) {
        put_plain_row(page, dot);
    }
    return status;
}

static void begin_series(struct page *page, size_t group, size_t roof)
{
    roof_text_printf(&page->series, "%s{\"group\":%zu,\"roof\":%zu,\"points\":[",
                     page->series.length == 0 ? "\n" : ",\n", group, roof);
}

/* --- the dots of a chart ------------------------------------------------------------------- */

static enum roof_status add_chart(struct page *page, struct roof_error *error)
{
    const struct roof_chart *const chart = &page->chart;
    struct roof_text shares = ROOF_TEXT_INIT;
    enum roof_status status = ROOF_OK;
    for (size_t of = 0; of < chart->groups * chart->roofs && status == ROOF_OK; of++) {
        const size_t group = of / chart->roofs;
        const size_t roof = of % chart->roofs;
        bool first = true;
        roof_text_clear(&shares);
        for (size_t i = 0; i < chart->dots && status == ROOF_OK; i++) {
            const struct roof_chart_dot *const dot = &chart->dot[i];
            if (dot->group != group || dot->roof != roof) {
                continue;
            }
            if (first) {
                begin_series(page, group, roof);
                roof_text_put(&page->series, "[[");
            }
            status = add_dot(page, &shares, first, true, dot, error);
            first = false;
        }
        if (!first) {
            roof_text_printf(&page->series, "],[%s]]]}", shares.length == 0 ? "" : shares.data);
        }
    }
    page->series.failed = page->series.failed || shares.failed;
    roof_text_free(&shares);
    return status;
}

/* --- the grid of a model ------------------------------------------------------------------- */

/* Predicts the pass at a size; ROOF_USAGE when the model cannot run it. */
static enum roof_status infer_at(struct page *page, size_t phase, size_t roof, int64_t batch,
                                 int64_t context, struct roof_error *error)
{
    struct roof_scenario scenario = page->sizes->scenario;
    scenario.phase = (int64_t)phase;
    scenario.common.shape.batch = batch;
    scenario.context = context;
    return roof_predict_model(&page->model_prediction, page->sizes->model, &scenario,
                              page->chart.roof[roof].hardware, error);
}

static enum roof_status add_value(struct roof_values *values, int64_t value,
                                  struct roof_error *error)
{
    return roof_values_append(values, (struct roof_run){value, 0, 1}, error);
}

/* Adds least, twice that and so on up to most, with the marks that are not below least, in order.
 */
static enum roof_status double_up(struct roof_values *out, int64_t least, int64_t most,
                                  const int64_t mark[2], struct roof_error *error)
{
    int64_t last = 0;
    int64_t next = least;
    enum roof_status status = ROOF_OK;
    while (status == ROOF_OK) {
        int64_t value = next <= most ? next : INT64_MAX;
        for (size_t i = 0; i < 2; i++) {
            value = mark[i] > last && mark[i] < value ? mark[i] : value;
        }
        if (value == INT64_MAX) {
            return ROOF_OK;
        }
        status = add_value(out, value, error);
        next = value == next ? 2 * next : next;
        last = value;
    }
    return status;
}

/* Writes the formats of a model, and how it is split. */
static void put_about(struct roof_text *out, const struct roof_model_prediction *r)
{
    const struct roof_scenario *const s = &r->scenario;
    roof_model_report_formats(out, r);
    const struct {
        const char *label;
        int64_t value;
        int64_t plain;
    } sizes[] = {{"tp", s->tp, 1},
                 {"pp", s->pp, 1},
                 {"ep", s->common.shape.ep, 1},
                 {"attention dp", roof_splits_apart(s) ? s->attention_dp : 0, 0},
                 {"moe tp", roof_splits_apart(s) ? s->moe_tp : 0, 0},
                 {"moe ep", roof_splits_apart(s) ? s->moe_ep : 0, 0},
                 {"devices", (int64_t)r->devices, 1},
                 {"draft tokens", s->draft_tokens, 0}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        if (sizes[i].value > sizes[i].plain) {
            roof_text_printf(out, ", %s %" PRId64, sizes[i].label, sizes[i].value);
        }
    }
}

/* Finds the sizes that the sliders stop at, around the sizes asked for as the first device of the
 * chart resolves them, and the phases that the model can run. */
static enum roof_status find_sizes(struct page *page, struct roof_error *error)
{
    const struct roof_page_sizes *const sizes = page->sizes;
    enum roof_status status = ROOF_OK;
    for (size_t phase = 0; phase < ROOF_PHASE_COUNT; phase++) {
        if (!sizes->phase[phase]) {
            continue;
        }
        status = infer_at(page, phase, 0, sizes->scenario.common.shape.batch,
                          sizes->scenario.context, error);
        if (status != ROOF_OK &&
            (status != ROOF_USAGE || (int64_t)phase == sizes->scenario.phase)) {
            return status; /* the phase that was asked for cannot be left out */
        }
        if (status == ROOF_OK) {
            page->asked_batch = page->model_prediction.scenario.common.shape.batch;
            page->asked_context = page->model_prediction.scenario.context;
            page->devices = page->model_prediction.devices;
            roof_text_clear(&page->about);
            put_about(&page->about, &page->model_prediction);
            roof_chart_name(page->chart.group[page->groups], page->model_prediction.phase);
            page->group[page->groups++] = phase;
        }
    }
    if (page->groups == 0) {
        return status != ROOF_OK
                   ? status
                   : roof_error_set(error, ROOF_USAGE, "a page shows decode, prefill or mixed");
    }
    const int64_t limit = sizes->model->positions;
    const int64_t batches[] = {page->asked_batch, 1};
    const int64_t contexts[] = {page->asked_context, limit > 0 ? limit : page->asked_context};
    const int64_t most = limit > 0 ? limit : ROOF_PAGE_CONTEXT_MAX;
    status =
        double_up(&page->batch, 1,
                  page->asked_batch > ROOF_PAGE_BATCH_MAX ? page->asked_batch : ROOF_PAGE_BATCH_MAX,
                  batches, error);
    return status == ROOF_OK
               ? double_up(&page->context, ROOF_PAGE_CONTEXT_MIN,
                           page->asked_context > most ? page->asked_context : most, contexts, error)
               : status;
}

/* Adds the prediction in page->model_prediction as the next point of a series. */
static enum roof_status add_point(struct page *page, size_t group, size_t roof, bool plain,
                                  struct roof_text *shares, struct roof_error *error)
{
    size_t order[ROOF_GRAPH_MAX];
    const struct roof_model_prediction *const r = &page->model_prediction;
    const size_t count = roof_model_report_order(order, r);
    enum roof_status status = ROOF_OK;
    roof_text_clear(shares);
    roof_text_put(&page->series, "[[");
    for (size_t i = 0; i < count && status == ROOF_OK; i++) {
        const struct roof_chart_dot dot = {.node = r->node[order[i]],
                                           .roof = roof,
                                           .group = group,
                                           .share = roof_model_share(r, order[i])};
        status = add_dot(page, shares, i == 0, plain, &dot, error);
    }
    roof_text_printf(&page->series, "],[%s],", shares->length == 0 ? "" : shares->data);
    roof_page_put_summary(&page->series, r);
    roof_text_put(&page->series, "]");
    return status;
}

static enum roof_status add_grid(struct page *page, struct roof_error *error)
{
    struct roof_text shares = ROOF_TEXT_INIT;
    enum roof_status status = find_sizes(page, error);
    page->chart.groups = page->groups;
    for (size_t of = 0; of < page->groups * page->chart.roofs && status == ROOF_OK; of++) {
        const size_t group = of / page->chart.roofs;
        const size_t roof = of % page->chart.roofs;
        begin_series(page, group, roof);
        for (int64_t i = 0; i < page->batch.count && status == ROOF_OK; i++) {
            const int64_t batch = roof_values_at(&page->batch, i);
            for (int64_t k = 0; k < page->context.count && status == ROOF_OK; k++) {
                const int64_t context = roof_values_at(&page->context, k);
                const bool asked = batch == page->asked_batch && context == page->asked_context;
                roof_text_put(&page->series, i + k == 0 ? "" : ",");
                struct roof_error here = {0};
                status = infer_at(page, page->group[group], roof, batch, context, &here);
                if (status == ROOF_OK) {
                    status = add_point(page, group, roof, asked, &shares, error);
                } else if (status == ROOF_USAGE && !asked) { /* the model cannot run it */
                    roof_text_put(&page->series, "null");
                    status = ROOF_OK;
                } else if (error != NULL) {
                    *error = here;
                }
            }
        }
        roof_text_put(&page->series, "]}");
    }
    page->series.failed = page->series.failed || shares.failed;
    roof_text_free(&shares);
    return status;
}

/* --- the data of the page ------------------------------------------------------------------ */

static void put_formats(struct roof_text *out, const struct roof_chart_ceiling *c)
{
    for (size_t i = 0; i < c->formats; i++) {
        roof_text_printf(out, "%s\"%s\"", i == 0 ? "" : ",", roof_format(c->format[i])->name);
    }
}

static void put_roof(struct roof_text *out, const struct roof_chart_roof *roof)
{
    char text[ROOF_QUANTITY_SIZE];
    roof_text_put(out, "\n{\"id\":");
    roof_json_quote(out, roof->hardware->id);
    roof_text_put(out, ",\"name\":");
    roof_json_quote(out, roof->hardware->name);
    roof_text_put(out, ",\"rate\":");
    roof_text_number(out, roof->bytes_per_s);
    roof_text_printf(out, ",\"bandwidth\":\"%s\",\"ceilings\":[",
                     roof_format_quantity(text, roof->bytes_per_s, ROOF_UNIT_GB_PER_S));
    for (size_t i = 0; i < roof->ceilings; i++) {
        const struct roof_chart_ceiling *const c = &roof->ceiling[i];
        roof_text_printf(out, "%s{\"unit\":\"%s\",\"formats\":[", i == 0 ? "" : ",",
                         roof_compute_unit_name(c->unit));
        put_formats(out, c);
        roof_text_put(out, "],\"rate\":");
        roof_text_number(out, c->flops_per_s);
        roof_text_put(out, ",\"x\":");
        roof_text_number(out, c->ridge);
        roof_text_printf(out, ",\"peak\":\"%s\"",
                         roof_format_quantity(text, c->flops_per_s, ROOF_UNIT_TFLOPS));
        roof_text_printf(out, ",\"ridge\":\"%s\"}",
                         roof_format_quantity(text, c->ridge, ROOF_UNIT_FLOP_PER_BYTE));
    }
    roof_text_put(out, "]}");
}

static void put_line(struct roof_text *out, const struct roof_chart *chart,
                     const struct roof_chart_line *line)
{
    char text[ROOF_QUANTITY_SIZE];
    roof_text_put(out, "\n{\"name\":");
    roof_json_quote(out, line->name);
    roof_text_printf(out, ",\"slope\":%s,\"roof\":", line->slope ? "true" : "false");
    if (line->roof < chart->roofs) {
        roof_text_printf(out, "%zu", line->roof);
    } else {
        roof_text_put(out, "null");
    }
    roof_text_put(out, ",\"rate\":");
    roof_text_number(out, line->rate);
    roof_text_printf(out, ",\"text\":\"%s\"}",
                     roof_format_quantity(text, line->rate,
                                          line->slope ? ROOF_UNIT_GB_PER_S : ROOF_UNIT_TFLOPS));
}

static void put_values(struct roof_text *out, const char *key, const struct roof_values *values,
                       int64_t asked)
{
    int64_t at = 0;
    roof_text_printf(out, ",\n\"%s\":{\"values\":[", key);
    for (int64_t i = 0; i < values->count; i++) {
        const int64_t value = roof_values_at(values, i);
        at = value == asked ? i : at;
        roof_text_printf(out, "%s%" PRId64, i == 0 ? "" : ",", value);
    }
    roof_text_printf(out, "],\"at\":%" PRId64 "}", at);
}

/* Writes the formats whose ceilings are shown at first: those in use. [] means all; it is written
 * for a chart without dots, and when ceilings were chosen. */
static void put_used(struct roof_text *out, const struct page *page)
{
    bool first = true;
    roof_text_put(out, ",\n\"used\":[");
    for (int p = 0; p < ROOF_PRECISION_COUNT && !page->chart.chosen; p++) {
        if (page->used[p]) {
            roof_text_printf(out, "%s\"%s\"", first ? "" : ",",
                             roof_format((enum roof_precision)p)->name);
            first = false;
        }
    }
    roof_text_put(out, "]");
}

static void put_notes(struct roof_text *out, const struct page *page)
{
    roof_text_put(out, ",\n\"notes\":[");
    bool first = true;
    for (const char *const *note = page->sizes == NULL ? NULL : page->sizes->model->remarks;
         note != NULL && *note != NULL; note++) {
        roof_text_put(out, first ? "" : ",");
        roof_json_quote(out, *note);
        first = false;
    }
    roof_text_put(out, "]");
}

static void put_json(struct roof_text *out, const struct page *page)
{
    const struct roof_chart *const chart = &page->chart;
    roof_text_put(out, "{\"schema\":\"roofline/page/1\",\n\"title\":");
    roof_json_quote(out, chart->title);
    roof_text_printf(out, ",\n\"expected\":%s,\n\"left_out\":%zu",
                     page->expected ? "true" : "false", page->sizes == NULL ? chart->left_out : 0);
    put_notes(out, page);
    roof_text_put(out, ",\n\"roofs\":[");
    for (size_t i = 0; i < chart->roofs; i++) {
        roof_text_put(out, i == 0 ? "" : ",");
        put_roof(out, &chart->roof[i]);
    }
    roof_text_put(out, "],\n\"lines\":[");
    for (size_t i = 0; i < chart->lines; i++) {
        roof_text_put(out, i == 0 ? "" : ",");
        put_line(out, chart, &chart->line[i]);
    }
    roof_text_put(out, "],\n\"groups\":[");
    for (size_t i = 0; i < chart->groups; i++) {
        roof_text_put(out, i == 0 ? "" : ",");
        roof_json_quote(out, chart->group[i]);
    }
    roof_text_put(out, "]");
    put_used(out, page);
    if (page->sizes != NULL) {
        put_values(out, "batch", &page->batch, page->asked_batch);
        put_values(out, "context", &page->context, page->asked_context);
        roof_text_printf(out, ",\n\"limit\":%" PRId64 ",\"devices\":%.0f",
                         page->sizes->model->positions, page->devices);
    }
    roof_text_printf(out, ",\n\"row_keys\":%s,\n\"summary_keys\":%s", roof_page_row_keys,
                     roof_page_summary_keys);
    roof_text_printf(out, ",\n\"rows\":[%s]", page->rows == 0 ? "" : page->row_text.data);
    roof_text_printf(out, ",\n\"series\":[%s]}\n",
                     page->series.length == 0 ? "" : page->series.data);
}

/* --- the page ------------------------------------------------------------------------------ */

static void put_title(struct roof_text *out, const struct page *page)
{
    put_html(out, page->chart.title);
}

static void put_subtitle(struct roof_text *out, const struct page *page)
{
    put_html(out, page->about.length == 0 ? "" : page->about.data);
}

static void put_data(struct roof_text *out, const struct page *page)
{
    struct roof_text json = ROOF_TEXT_INIT;
    put_json(&json, page);
    if (!json.failed) {
        put_script_json(out, &json);
    }
    out->failed = out->failed || json.failed;
    roof_text_free(&json);
}

static void put_plain(struct roof_text *out, const struct page *page)
{
    roof_text_put(out, page->plain.length == 0 ? "" : page->plain.data);
    if (page->plain_rows > PLAIN_ROWS_MAX) {
        roof_text_printf(out, "<tr><td colspan=\"11\">and %zu more</td></tr>\n",
                         page->plain_rows - PLAIN_ROWS_MAX);
    }
}

/* The parts of the page that replace {{NAME}} in data/web/page.html; other names are those of
 * embedded files. */
static const struct {
    const char *name;
    void (*put)(struct roof_text *out, const struct page *page);
} parts[] = {
    {"title", put_title}, {"subtitle", put_subtitle}, {"data", put_data}, {"operators", put_plain}};

static void put_part(struct roof_text *out, const struct page *page, const char *name,
                     size_t length)
{
    char path[64];
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (strlen(parts[i].name) == length && memcmp(parts[i].name, name, length) == 0) {
            parts[i].put(out, page);
            return;
        }
    }
    snprintf(path, sizeof path, "web/%.*s", (int)length, name);
    const struct roof_data_file *const file = roof_data_file(path);
    roof_text_add(out, file->text, file->length);
}

static void put_page(struct roof_text *out, const struct page *page)
{
    const char *from = roof_data_file("web/page.html")->text;
    for (const char *open = NULL; (open = strstr(from, "{{")) != NULL;) {
        const char *const name = open + 2;
        const char *const close = strstr(name, "}}");
        roof_text_add(out, from, (size_t)(open - from));
        put_part(out, page, name, (size_t)(close - name));
        from = close + 2;
    }
    roof_text_put(out, from);
}

enum roof_status roof_chart_page(struct roof_text *out, const struct roof_chart *chart,
                                 const struct roof_page_sizes *sizes, struct roof_error *error)
{
    struct page *const page = calloc(1, sizeof *page); /* large */
    if (page == NULL) {
        return roof_no_memory(error);
    }
    page->chart = *chart;
    page->chart.expected = true;
    page->expected = chart->expected;
    page->sizes = sizes;
    enum roof_status status = sizes == NULL ? add_chart(page, error) : add_grid(page, error);
    if (status == ROOF_OK && (page->row_text.failed || page->series.failed || page->plain.failed ||
                              page->about.failed)) {
        status = roof_no_memory(error);
    }
    if (status == ROOF_OK) {
        put_page(out, page);
        status = out->failed ? roof_no_memory(error) : ROOF_OK;
    }
    roof_values_free(&page->batch);
    roof_values_free(&page->context);
    roof_text_free(&page->row_text);
    roof_text_free(&page->series);
    roof_text_free(&page->plain);
    roof_text_free(&page->about);
    free(page->row);
    free(page);
    return status;
}
