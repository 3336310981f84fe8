// SPDX-License-Identifier: MIT
#include "report/published_report.h"
#include "report/survey.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "predict/predict_sizes.h"
#include "report/markdown.h"
#include "report/report.h"

/* Counts the operators that run at each peak. */
static void count_uses(int uses[ROOF_PEAK_TABLE_COUNT][ROOF_PRECISION_COUNT],
                       const struct roof_model_prediction *r)
{
    for (size_t i = 0; r != NULL && i < r->count; i++) {
        const struct roof_prediction *const p = &r->node[i].prediction;
        for (int k = 0; k < p->part_count; k++) {
            uses[roof_part_peaks(&p->part[k])][p->part[k].compute] += p->part[k].work.flops > 0;
        }
    }
}

/* Returns true for peaks that are always shown if the device has them. */
static bool usual(enum roof_peak_table table, int format)
{
    static const enum roof_precision formats[] = {ROOF_PRECISION_FP16,     ROOF_PRECISION_BF16,
                                                  ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_INT8,
                                                  ROOF_PRECISION_INT4,     ROOF_PRECISION_NVFP4};
    for (size_t i = 0; i < COUNT(formats) && table == ROOF_PEAK_MATRIX; i++) {
        if ((int)formats[i] == format) {
            return true;
        }
    }
    return table == ROOF_PEAK_VECTOR && format == ROOF_PRECISION_FP32;
}

static void put_source(struct roof_text *out, const char *what, const struct roof_figure *figure)
{
    roof_text_printf(out, "- %s: ", what);
    roof_markdown_put_sources(out, figure->source == NULL ? "no source given" : figure->source);
    if (figure->confidence != ROOF_CONFIDENCE_UNKNOWN) {
        roof_text_printf(out, "; %s confidence", roof_confidence_name(figure->confidence));
    }
    if (figure->note != NULL) {
        roof_text_put(out, "; ");
        roof_text_markdown(out, figure->note);
    }
    roof_text_put(out, "\n");
}

static void limit_row(struct roof_markdown_table *g, const char *what, double value,
                      enum roof_unit unit)
{
    roof_markdown_cell(g, what);
    roof_markdown_quantity(g, value, unit);
    roof_markdown_cell(g, "");
    roof_markdown_cell(g, "");
}

/* Facts about the rows of peaks, for the lines below the table. */
struct peaks {
    struct roof_text sources;
    bool unknown; /* an operator runs at an unknown peak */
};

/* Writes the peaks that operators run at, and the usual ones. */
static void put_peaks(struct roof_markdown_table *g, struct peaks *peaks,
                      const struct roof_survey *s, const struct roof_hardware *h)
{
    const double bandwidth = h->figure[ROOF_FIGURE_BANDWIDTH].value;
    int uses[ROOF_PEAK_TABLE_COUNT][ROOF_PRECISION_COUNT] = {{0}};
    count_uses(uses, s->decode.base);
    count_uses(uses, s->prefill.base);
    for (int table = 0; table < ROOF_PEAK_TABLE_COUNT; table++) {
        for (int format = 0; format < ROOF_PRECISION_COUNT; format++) {
            const struct roof_figure *const peak = &h->peak[table][format];
            const int count = uses[table][format];
            char name[80];
            peaks->unknown = peaks->unknown || (count > 0 && isnan(peak->value));
            if (count == 0 && (isnan(peak->value) || !usual((enum roof_peak_table)table, format))) {
                continue;
            }
            snprintf(name, sizeof name, "peak %s, %s",
                     roof_format((enum roof_precision)format)->name,
                     roof_peak_table_label((enum roof_peak_table)table));
            roof_markdown_cell(g, name);
            roof_markdown_put_rate(&g->text, peak->value);
            roof_markdown_end_cell(g);
            roof_markdown_number(g, peak->value / bandwidth);
            roof_markdown_integer(g, count);
            if (count > 0 && !isnan(peak->value)) {
                put_source(&peaks->sources, name, peak);
            }
        }
    }
}

/* Names published figures that differ from those of the source documents. */
static void put_difference(struct roof_text *out, const struct roof_model_prediction *r,
                           const struct roof_survey_about *about)
{
    struct roof_text differs = ROOF_TEXT_INIT;
    roof_report_model_basis(&differs, r, about->product);
    for (const char *at = differs.length > 1 ? differs.data + 1 : NULL; at != NULL;) {
        const char *const end = strstr(at, "\n\n");
        struct roof_text paragraph = ROOF_TEXT_INIT;
        roof_text_add(&paragraph, at, end == NULL ? strlen(at) - 1 : (size_t)(end - at));
        roof_text_put(out, "\n");
        roof_markdown_put_made(out, &paragraph);
        roof_text_put(out, "\n");
        at = end == NULL ? NULL : end + 2;
    }
    out->failed |= differs.failed;
    roof_text_free(&differs);
}

void roof_survey_put_device(struct roof_text *out, const struct roof_survey *s,
                            const struct roof_survey_about *about)
{
    static const char *const basis[] = {
        [ROOF_BASIS_DOCUMENTS] = ROOF_REPORT_DOCUMENTS,
        [ROOF_BASIS_PUBLISHED] = "published figures",
        [ROOF_BASIS_USER] = "figures that a user gives",
    };
    const struct roof_model_prediction *const r = roof_survey_first(s);
    const struct roof_hardware *const h = r->total.hardware;
    const struct roof_figure *const bandwidth = &h->figure[ROOF_FIGURE_BANDWIDTH];
    struct peaks peaks = {.sources = ROOF_TEXT_INIT};
    struct roof_markdown_table g;
    roof_text_put(out, "\n## Hardware limits\n\n");
    roof_text_markdown(out, h->name);
    roof_text_printf(out, ", with %s.\n\n", basis[h->basis]);
    ROOF_GRID_BEGIN(&g, "limit", ">value", ">ridge point (FLOP/byte)", ">operators at it");
    put_peaks(&g, &peaks, s, h);
    limit_row(&g, "memory bandwidth", bandwidth->value, ROOF_UNIT_GB_PER_S);
    limit_row(&g, "memory capacity", r->memory_capacity_bytes, ROOF_UNIT_CAPACITY);
    if (r->devices > (double)r->scenario.dp) {
        limit_row(&g, "link, per device and direction", h->figure[ROOF_FIGURE_LINK].value,
                  ROOF_UNIT_GB_PER_S);
        if (!isnan(h->figure[ROOF_FIGURE_BRIDGE].value)) {
            limit_row(&g, "bridge between cards, per device and direction",
                      h->figure[ROOF_FIGURE_BRIDGE].value, ROOF_UNIT_GB_PER_S);
        }
    }
    roof_markdown_put(out, &g);
    if (peaks.unknown) {
        roof_text_put(out, "\n\"-\": the device has no known peak for the format in which these "
                           "operators compute, so their lower bound is the memory time.\n");
    }
    put_difference(out, r, about);
    roof_markdown_fold(out, "Sources of these figures");
    roof_text_put(out, "\n");
    put_source(out, "memory bandwidth", bandwidth);
    roof_text_put(out, peaks.sources.data == NULL ? "" : peaks.sources.data);
    roof_markdown_unfold(out);
    out->failed |= peaks.sources.failed;
    roof_text_free(&peaks.sources);
}
