// SPDX-License-Identifier: MIT
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "report/markdown.h"
#include "report/note_list.h"
#include "report/published_report.h"
#include "report/speedup_report.h"

/* Writes the number of rows as a member; nothing without rows. */
static void json_rows(struct roof_text *out, const char *key, int64_t rows)
{
    if (rows > 0) {
        roof_text_printf(out, ", \"%s\": %" PRId64, key, rows);
    }
}

static void json_gains(struct roof_text *out, const struct roof_crossover *c)
{
    for (size_t i = 0; i < c->gains; i++) {
        roof_text_printf(out, "%s{\"from\": %" PRId32 ", \"to\": %" PRId32 "}",
                         i == 0 ? ", \"gains\": [" : ", ", c->gain[i].from, c->gain[i].to);
    }
    roof_text_put(out, c->gains > 0 ? "]" : "");
}

static void json_crossovers(struct roof_text *out, const struct roof_crossovers *c)
{
    roof_text_printf(out,
                     ",\n\"crossovers\": {\"along\": \"%s\", \"last\": %" PRId64 ",\n\"best\": [",
                     roof_dimensions[c->along].key, c->last);
    for (size_t i = 0; i < c->winners; i++) {
        roof_text_printf(out, "%s{\"from\": %" PRId64, i == 0 ? "" : ", ", c->winner[i].from);
        if (c->winner[i].format != ROOF_PRECISION_AUTO) {
            roof_text_printf(out, ", \"precision\": \"%s\"",
                             roof_format(c->winner[i].format)->name);
        }
        roof_text_put(out, "}");
    }
    roof_text_put(out, "],\n\"formats\": [");
    for (size_t i = 0; i < c->count; i++) {
        roof_text_printf(out, "%s{\"precision\": \"%s\"", i == 0 ? "" : ", ",
                         roof_format(c->of[i].format)->name);
        json_rows(out, "compute_bound_from", c->of[i].compute_bound);
        json_rows(out, "no_gain_from", c->of[i].no_gain);
        json_gains(out, &c->of[i]);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "]}");
}

/* Writes the notes of the text. */
static void json_notes(struct roof_text *out, const struct roof_recommendation *recommendation,
                       const struct roof_hardware *product)
{
    const struct roof_prediction *const first = &recommendation->candidate[0].prediction;
    struct roof_text notes = ROOF_TEXT_INIT;
    if (recommendation->count > 0) {
        roof_report_misaligned(&notes, first);
    }
    roof_report_basis(&notes, first, product);
    roof_report_note_list(out, ",\n", &notes);
    roof_text_free(&notes);
}

void roof_report_recommendation_json(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     const struct roof_reasons *reasons,
                                     const struct roof_hardware *product, enum roof_operator op)
{
    struct roof_table table;
    roof_table_open_members(&table, ROOF_TABLE_RECOMMENDATIONS, op, "");
    const size_t total = recommendation->count + recommendation->rejected;
    roof_text_put(out, "{\n\"schema\": \"roofline/recommendation/1\",\n\"candidates\": [");
    for (size_t i = 0; i < total; i++) {
        if (i == recommendation->count) {
            roof_text_put(out, "\n],\n\"rejected\": [");
        }
        roof_text_put(out, i == 0 || i == recommendation->count ? "\n{" : ",\n{");
        roof_table_candidate(&table, out, &recommendation->candidate[i]);
        roof_text_put(out, "}");
    }
    if (recommendation->rejected == 0) {
        roof_text_put(out, "\n],\n\"rejected\": [");
    }
    roof_text_put(out, "\n]");
    roof_report_published(out, "\n", &recommendation->candidate[0].prediction, product);
    json_notes(out, recommendation, product);
    if (reasons->why != NULL) {
        roof_table_open_members(&table, ROOF_TABLE_SPEEDUPS, op, "");
        roof_text_put(out, ",\n\"why\": {");
        roof_table_speedup(&table, out, reasons->why);
        roof_text_put(out, "}");
    }
    if (reasons->crossovers != NULL) {
        json_crossovers(out, reasons->crossovers);
    }
    roof_text_put(out, "\n}\n");
}

/* Writes "Why nvfp4: 7.2 us less than fp16 (10 us); time saved: memory 100.0%; still memory-bound."
 */
static void put_why(struct roof_text *out, const struct roof_speedup_row *speedup, bool by_expected)
{
    const struct roof_gain *const gain = by_expected ? &speedup->expected : &speedup->bound;
    const enum roof_bottleneck from =
        by_expected ? speedup->expected_from_bottleneck : speedup->from_bottleneck;
    const enum roof_bottleneck to =
        by_expected ? speedup->expected_to_bottleneck : speedup->to_bottleneck;
    const double saved = gain->from_s - gain->to_s;
    char time[ROOF_QUANTITY_SIZE];
    if (isnan(saved) ||
        fabs(saved) < 0.02 * gain->from_s) { /* shares of almost nothing are noise */
        return;
    }
    const size_t begin = out->length + 1;
    roof_text_printf(out, "\nWhy %s: %s %s than %s", speedup->to,
                     roof_format_quantity(time, fabs(saved), ROOF_UNIT_MICROSECONDS),
                     saved > 0 ? "less" : "more", speedup->from);
    roof_text_printf(out, " (%s), %s %s-bound",
                     roof_format_quantity(time, gain->from_s, ROOF_UNIT_MICROSECONDS),
                     from == to ? "still" : "now", roof_bottleneck_name(to));
    if (from != to) {
        roof_text_printf(out, " instead of %s-bound", roof_bottleneck_name(from));
    }
    roof_text_printf(out, "; time %s:", saved > 0 ? "saved" : "lost");
    roof_speedup_report_shares(out, gain, " ");
    roof_text_put(out, ".");
    roof_text_fold(out, begin, 2);
    roof_text_put(out, "\n");
}

static const char *rows_text(char out[ROOF_QUANTITY_SIZE], int64_t rows)
{
    (void)snprintf(out, ROOF_QUANTITY_SIZE, "%" PRId64, rows);
    return rows > 0 ? out : "never";
}

/* The changes of the best format, and the ranges of a format, that are listed. */
#define WINNERS_SHOWN 5
#define GAINS_SHOWN 6

/* Writes the rows for which a format is faster than fp16: "1 to 14, 524289 and more". */
static void put_gains(struct roof_text *out, const struct roof_crossover *c, int64_t last)
{
    if (c->format == ROOF_PRECISION_FP16 || c->gains == 0) {
        roof_text_put(out, c->format == ROOF_PRECISION_FP16 ? "-" : "none");
        return;
    }
    for (size_t i = 0; i < c->gains && i < GAINS_SHOWN; i++) {
        const int64_t from = c->gain[i].from;
        const int64_t to = c->gain[i].to;
        roof_text_put(out, i == 0 ? "" : ", ");
        if (from == 1 && to == last) {
            roof_text_put(out, "all");
        } else if (to == last) {
            roof_text_printf(out, "%" PRId64 " and more", from);
        } else if (from == to) {
            roof_text_printf(out, "%" PRId64, from);
        } else {
            roof_text_printf(out, "%" PRId64 " to %" PRId64, from, to);
        }
    }
    roof_text_put(out, c->gains > GAINS_SHOWN ? ", and others (-f json)" : "");
}

static void put_crossovers(struct roof_text *out, const struct roof_crossovers *c)
{
    char bound[ROOF_QUANTITY_SIZE];
    char name[ROOF_INPUT_NAME_SIZE];
    (void)roof_input_name(name, &roof_dimensions[c->along]);
    roof_text_printf(out, "\nBest format by %s up to %" PRId64, name, c->last);
    if (c->balanced) {
        roof_text_printf(out, " (least accuracy loss within %.0f%% of the fastest)",
                         100 * ROOF_BALANCED_SLACK);
    }
    roof_text_put(out, ":\n ");
    const size_t begin = out->length - 1;
    for (size_t i = 0; i < c->winners && i < WINNERS_SHOWN; i++) {
        const enum roof_precision format = c->winner[i].format;
        roof_text_printf(out, "%s %s from %" PRId64, i == 0 ? "" : ",",
                         format == ROOF_PRECISION_AUTO ? "none" : roof_format(format)->name,
                         c->winner[i].from);
    }
    roof_text_put(out, c->winners > WINNERS_SHOWN ? ", and then others (-f json)" : "");
    roof_text_fold(out, begin, 2);
    char gain[ROOF_QUANTITY_SIZE] = "";
    if (c->gain > ROOF_CROSSOVER_GAIN) {
        (void)snprintf(gain, sizeof gain, "%.0f%% ", 100 * c->gain);
    }
    roof_text_printf(out, "\n\n  %-12s  %18s  %sfaster than fp16 for %s\n", "precision",
                     "compute-bound from", gain, name);
    for (size_t i = 0; i < c->count; i++) {
        const size_t line = out->length;
        roof_text_printf(out, "  %-12s  %18s  ", roof_format(c->of[i].format)->name,
                         rows_text(bound, c->of[i].compute_bound));
        put_gains(out, &c->of[i], c->last);
        roof_text_fold(out, line, 36);
        roof_text_put(out, "\n");
    }
}

/* Returns the format with the shortest expected time if another one has the least lower bound;
 * NULL: there is none, or the ranking is not by speed. */
static const struct roof_candidate *expected_best(const struct roof_recommendation *r)
{
    const struct roof_candidate *best = &r->candidate[0];
    bool by_speed = true;
    for (size_t i = 0; i < r->count; i++) {
        const struct roof_candidate *const c = &r->candidate[i];
        by_speed = by_speed && !(c->ranked_s < r->candidate[0].ranked_s);
        if (!(best->prediction.expected_s <= c->prediction.expected_s) &&
            !isnan(c->prediction.expected_s)) {
            best = c;
        }
    }
    return by_speed && best != &r->candidate[0] ? best : NULL;
}

/* Writes the speedup of a format over fp16; nothing for fp16 itself. */
static void put_over(struct roof_text *out, enum roof_precision format, double speedup)
{
    if (format != ROOF_PRECISION_FP16 && fabs(speedup - 1) < 0.005) { /* 1.00x */
        roof_text_put(out, "as fast as fp16, ");
    } else if (format != ROOF_PRECISION_FP16) {
        roof_text_printf(out, "%.2fx over fp16, ", speedup);
    }
}

/* Names the best format, and in the same sentence the one that is faster by expected times. */
static void put_best(struct roof_text *out, const struct roof_recommendation *r, bool by_expected)
{
    const struct roof_candidate *const best = &r->candidate[0];
    const struct roof_candidate *const other = expected_best(r);
    const char *const name = roof_format(best->format)->name;
    const size_t from = out->length;
    char time[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "Use %s (%s)%s: %s%s, ", name, best->method,
                     other == NULL ? "" : " by lower bounds",
                     roof_format_quantity(time, best->ranked_s, ROOF_UNIT_MICROSECONDS),
                     by_expected ? " expected" : " at least");
    put_over(out, best->format, by_expected ? best->expected_speedup : best->speedup);
    roof_text_printf(out, "accuracy loss %s%s", roof_accuracy_name(best->loss),
                     other == NULL ? "." : ",");
    roof_text_fold(out, from, 4);
    if (other != NULL) {
        roof_text_printf(
            out, "\n  or %s by expected times: %s, ", roof_format(other->format)->name,
            roof_format_quantity(time, other->prediction.expected_s, ROOF_UNIT_MICROSECONDS));
        put_over(out, other->format, other->expected_speedup);
        roof_text_printf(out, "accuracy loss %s.", roof_accuracy_name(other->loss));
    }
    roof_text_put(out, "\n");
    if (*best->engine_format != '\0') {
        roof_text_printf(out, "%s calls %s %s (options: roofline list engines %s).\n", best->engine,
                         other == NULL ? "it" : name, best->engine_format, best->engine);
    }
}

static void put_candidate(struct roof_text *out, const struct roof_candidate *c, bool expected)
{
    char time[ROOF_QUANTITY_SIZE];
    roof_text_printf(
        out, "  %4d  %-12s  %-22s  %10s  %6.2fx", c->rank, roof_format(c->format)->name, c->method,
        roof_format_quantity(time, c->prediction.time_s, ROOF_UNIT_MICROSECONDS), c->speedup);
    if (expected && isnan(c->expected_speedup)) {
        roof_text_printf(out, "  %10s  %7s", "-", "-");
    } else if (expected) {
        roof_text_printf(
            out, "  %10s  %6.2fx",
            roof_format_quantity(time, c->prediction.expected_s, ROOF_UNIT_MICROSECONDS),
            c->expected_speedup);
    }
    roof_text_printf(out, "  %s\n", roof_accuracy_name(c->loss));
    const size_t from = out->length;
    roof_text_put(out, "        ");
    if (*c->engine_format != '\0') {
        roof_text_printf(out, "%s of %s; ", c->engine_format, c->engine);
    }
    roof_text_printf(out, "%s%s", c->reason,
                     expected && c->prediction.expected_near ? "; borrowed estimate" : "");
    roof_text_fold(out, from, 8);
    roof_text_put(out, "\n");
}

static bool any_expected(const struct roof_recommendation *recommendation)
{
    bool expected = false;
    for (size_t i = 0; i < recommendation->count; i++) {
        expected = expected || !isnan(recommendation->candidate[i].prediction.expected_s);
    }
    return expected;
}

/* Writes the ranked candidates, with a column of expected times if any is known. */
static void put_ranked(struct roof_text *out, const struct roof_recommendation *recommendation,
                       bool by_expected)
{
    const bool expected = any_expected(recommendation);
    char by[ROOF_INPUT_NAME_SIZE];
    (void)roof_input_name(by, roof_input(ROOF_INPUT_BY));
    roof_text_put(out, by_expected ? "\nRanked by expected times" : "\nRanked by lower bounds");
    if (expected) {
        roof_text_printf(
            out, by_expected ? " (%s ideal: by lower bounds)" : " (%s expected: by expected times)",
            by);
    }
    roof_text_printf(out, "\n\n  %4s  %-12s  %-22s  %10s  %7s", "rank", "precision", "method",
                     "time", "speedup");
    if (expected) {
        roof_text_printf(out, "  %10s  %7s", "expected", "speedup");
    }
    roof_text_put(out, "  accuracy\n"); /* reasons are on separate lines */
    for (size_t i = 0; i < recommendation->count; i++) {
        put_candidate(out, &recommendation->candidate[i], expected);
    }
}

static void put_rejected(struct roof_text *out, const struct roof_recommendation *recommendation)
{
    for (size_t i = 0; i < recommendation->rejected; i++) {
        const struct roof_candidate *const c =
            &recommendation->candidate[recommendation->count + i];
        roof_text_printf(out, "%s  %-12s  %6.2fx  %s\n",
                         i == 0 ? "\nRejected (speedups by lower bounds)\n" : "",
                         roof_format(c->format)->name, c->speedup, c->reason);
    }
}

void roof_report_recommendation_text(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     const struct roof_reasons *reasons,
                                     const struct roof_workload *workload,
                                     const struct roof_hardware *product, enum roof_ranking ranking)
{
    const bool by_expected = ranking == ROOF_RANKING_EXPECTED;
    const struct roof_prediction *const first = &recommendation->candidate[0].prediction;
    const size_t title = out->length;
    roof_report_workload(out, workload);
    roof_text_put(out, " on ");
    roof_report_device(out, first->hardware);
    roof_text_fold(out, title, 4);
    roof_text_put(out, "\n\n");
    if (recommendation->count > 0) {
        put_best(out, recommendation, by_expected);
        if (recommendation->lent) {
            roof_text_printf(
                out,
                "Expected times come from other stacks, since no kernels of %s were measured.\n",
                recommendation->candidate[0].engine);
        }
        put_ranked(out, recommendation, by_expected);
    } else {
        roof_text_put(out, "No format satisfies the constraints.\n");
    }
    put_rejected(out, recommendation);
    if (reasons->why != NULL) {
        put_why(out, reasons->why, by_expected);
    }
    if (reasons->crossovers != NULL) {
        put_crossovers(out, reasons->crossovers);
    }
    if (recommendation->count > 0) {
        roof_report_misaligned(out, first);
    }
    roof_report_accuracy_classes(out);
    roof_report_basis(out, first, product);
}

/* --- as Markdown --------------------------------------------------------------------------- */

/* Writes the sentences of put_best in bold, without their line breaks and indents. */
static void put_best_markdown(struct roof_text *out, const struct roof_recommendation *r,
                              bool by_expected)
{
    struct roof_text best = ROOF_TEXT_INIT;
    size_t length = 0;
    put_best(&best, r, by_expected);
    for (size_t i = 0; !best.failed && i + 1 < best.length; i++) { /* the last byte ends a line */
        const char c = (char)(best.data[i] == '\n' ? ' ' : best.data[i]);
        if (c != ' ' || (best.data[i + 1] != ' ' && best.data[i + 1] != '\n')) {
            best.data[length++] = c;
        }
    }
    if (!best.failed) {
        best.data[length] = '\0';
    }
    roof_text_put(out, "**");
    roof_text_markdown(out, best.failed ? "" : best.data);
    roof_text_put(out, "**\n\n");
    out->failed |= best.failed;
    roof_text_free(&best);
}

void roof_report_recommendation_markdown(struct roof_text *out,
                                         const struct roof_recommendation *recommendation,
                                         const struct roof_reasons *reasons,
                                         const struct roof_workload *workload,
                                         const struct roof_hardware *product,
                                         enum roof_ranking ranking)
{
    static const char columns[] = "rank,precision,method,time_us,speedup,expected_time_us,"
                                  "expected_speedup,accuracy_loss,reason";
    const bool by_expected = ranking == ROOF_RANKING_EXPECTED;
    struct roof_text title = ROOF_TEXT_INIT;
    struct roof_text report = ROOF_TEXT_INIT;
    struct roof_table table;
    roof_report_workload(&title, workload);
    roof_text_put(out, "# Number formats for ");
    roof_text_markdown(out, title.failed ? "" : title.data);
    roof_text_put(out, " on ");
    roof_text_markdown(out, recommendation->candidate[0].prediction.hardware->id);
    roof_text_put(out, "\n\n");
    if (recommendation->count > 0) {
        put_best_markdown(out, recommendation, by_expected);
    } else {
        roof_text_put(out, "No format satisfies the constraints.\n\n");
    }
    (void)roof_table_open(&table, ROOF_OUTPUT_MARKDOWN, ROOF_TABLE_RECOMMENDATIONS, workload->op,
                          any_expected(recommendation) ? columns : NULL,
                          NULL); /* these columns exist */
    roof_table_begin(&table, out);
    for (size_t i = 0; i < recommendation->count + recommendation->rejected; i++) {
        roof_table_candidate(&table, out, &recommendation->candidate[i]);
    }
    roof_table_end(&table, out);
    roof_report_recommendation_text(&report, recommendation, reasons, workload, product, ranking);
    roof_markdown_put_report(out, "The whole report: why, and the best format by size", &report);
    out->failed |= title.failed;
    roof_text_free(&title);
}
