// SPDX-License-Identifier: MIT
#include "chart/page_figures.h"

#include <inttypes.h>
#include <math.h>

#include "base/base.h"
#include "base/json.h"
#include "report/model_report.h"

/* A figure: a number that is drawn and sorted by, or the text that people read. */
struct figure {
    double value; /* SI */
    bool number;
    enum roof_unit unit; /* of the text; NONE: four digits */
};

static void put_figures(struct roof_text *out, const struct figure *figure, size_t count)
{
    char text[ROOF_QUANTITY_SIZE];
    for (size_t i = 0; i < count; i++) {
        const struct figure *const f = &figure[i];
        roof_text_put(out, i == 0 ? "" : ",");
        if (!isfinite(f->value)) {
            roof_text_put(out, "null");
        } else if (f->number) {
            roof_text_number(out, f->value);
        } else {
            roof_text_printf(out, "\"%s\"",
                             f->unit == ROOF_UNIT_NONE
                                 ? roof_model_report_rate(text, f->value)
                                 : roof_format_quantity(text, f->value, f->unit));
        }
    }
}

const char roof_page_row_keys[] =
    "[\"name\",\"count\",\"shape\",\"unit\",\"bound\",\"expected_bound\",\"near\",\"x\",\"y\","
    "\"reached\",\"total_s\",\"expected_total_s\",\"intensity\",\"attainable\",\"time\","
    "\"total\",\"expected\",\"low\",\"high\",\"expected_total\",\"measured\",\"of_bound\","
    "\"reached_rate\"]";
const char roof_page_summary_keys[] =
    "[\"label\",\"bound\",\"expected_bound\",\"why\",\"fits\",\"weights_b\",\"kv_b\","
    "\"activations_b\",\"capacity_b\",\"reserve_b\",\"rate\",\"time\",\"expected\",\"low\","
    "\"high\",\"tokens\",\"user\",\"expected_tokens\",\"expected_user\",\"needed\",\"weights\","
    "\"kv\",\"activations\",\"capacity\",\"reserve\"]";

/* Writes the format and the unit that a prediction is computed in, "fp16 vector"; nothing when it
 * has no FLOPs. */
static void put_unit(struct roof_text *out, const struct roof_prediction *p)
{
    if (p->flops > 0) {
        roof_text_printf(out, "%s %s%s", roof_format(p->compute)->name,
                         roof_compute_unit_name(p->unit), p->sparse ? ", sparse" : "");
    }
}

void roof_page_put_shape(struct roof_text *out, const struct roof_prediction *p)
{
    roof_report_workload(out, &p->workload);
    if (p->role_bytes[ROOF_ROLE_WEIGHTS] > 0) {
        roof_text_printf(out, " (%s)", roof_format(p->workload.formats.weights)->name);
    }
}

/* Writes a text as JSON, and empties it. */
static void quote_made(struct roof_text *out, struct roof_text *made)
{
    roof_json_quote(out, made->length == 0 ? "" : made->data);
    out->failed = out->failed || made->failed;
    roof_text_clear(made);
}

void roof_page_put_row(struct roof_text *out, const struct roof_chart *chart,
                       const struct roof_chart_dot *dot)
{
    const struct roof_prediction *const p = &dot->node.prediction;
    const double count = (double)dot->node.node.count;
    const bool placed = p->flops > 0 && p->bytes > 0;
    struct roof_text made = ROOF_TEXT_INIT;
    roof_text_put(out, "[");
    roof_json_quote(out, dot->node.node.name);
    roof_text_printf(out, ",%" PRId64 ",", dot->node.node.count);
    roof_page_put_shape(&made, p);
    quote_made(out, &made);
    roof_text_put(out, ",");
    put_unit(&made, p);
    quote_made(out, &made);
    roof_text_free(&made);
    roof_text_printf(out, ",\"%s\",", roof_bottleneck_name(p->bottleneck));
    roof_text_printf(out, isnan(p->expected_s) ? "null" : "\"%s\"",
                     roof_bottleneck_name(p->expected_bottleneck));
    roof_text_printf(out, ",%d,", p->expected_near);
    const double reached = placed ? roof_chart_reached(chart, dot) : ROOF_UNKNOWN;
    const struct figure figures[] = {
        {placed ? p->intensity : ROOF_UNKNOWN, true, ROOF_UNIT_NONE},
        {placed ? p->attainable_flops_per_s : ROOF_UNKNOWN, true, ROOF_UNIT_NONE},
        {reached, true, ROOF_UNIT_NONE},
        {count * p->time_s, true, ROOF_UNIT_NONE},
        {count * p->expected_s, true, ROOF_UNIT_NONE},
        {p->intensity, false, ROOF_UNIT_FLOP_PER_BYTE},
        {p->attainable_flops_per_s, false, ROOF_UNIT_TFLOPS},
        {p->time_s, false, ROOF_UNIT_MICROSECONDS},
        {count * p->time_s, false, ROOF_UNIT_MICROSECONDS},
        {p->expected_s, false, ROOF_UNIT_MICROSECONDS},
        {p->expected_low_s, false, ROOF_UNIT_MICROSECONDS},
        {p->expected_high_s, false, ROOF_UNIT_MICROSECONDS},
        {count * p->expected_s, false, ROOF_UNIT_MICROSECONDS},
        {p->measured_s, false, ROOF_UNIT_MICROSECONDS},
        {p->fraction_of_bound, false, ROOF_UNIT_FRACTION},
        {reached, false, ROOF_UNIT_TFLOPS}};
    put_figures(out, figures, COUNT(figures));
    roof_text_put(out, "]");
}

void roof_page_put_summary(struct roof_text *out, const struct roof_model_prediction *r)
{
    const bool prefill = r->scenario.phase == ROOF_PHASE_PREFILL;
    const double expected_s = prefill ? r->expected_step_s : r->expected_tpot_s;
    double low_s = ROOF_UNKNOWN;
    double high_s = ROOF_UNKNOWN;
    if (!isnan(expected_s)) {
        roof_model_band(&low_s, &high_s, r, expected_s);
    }
    roof_text_printf(out, "[\"%s\",\"%s\",",
                     !prefill           ? "time per token"
                     : isnan(r->ttft_s) ? "time of the chunk"
                                        : "time to first token",
                     roof_bottleneck_name(r->total.bottleneck));
    if (isnan(expected_s)) {
        struct roof_text why = ROOF_TEXT_INIT;
        roof_model_report_unexpected(&why, r);
        roof_text_put(out, "null,");
        quote_made(out, &why);
        roof_text_free(&why);
    } else {
        roof_text_printf(out, "\"%s\",null", roof_bottleneck_name(r->total.expected_bottleneck));
    }
    roof_text_put(out, ",");
    roof_text_put(out, r->fits == ROOF_FIT_UNKNOWN ? "null,"
                       : r->fits == ROOF_FIT_YES   ? "true,"
                                                   : "false,");
    const double needed = r->weights_memory_bytes + r->kv_cache_bytes + r->activation_memory_bytes;
    const struct figure figures[] = {
        {r->weights_memory_bytes, true, ROOF_UNIT_NONE},
        {r->kv_cache_bytes, true, ROOF_UNIT_NONE},
        {r->activation_memory_bytes, true, ROOF_UNIT_NONE},
        {r->memory_capacity_bytes, true, ROOF_UNIT_NONE},
        {r->memory_reserve_bytes, true, ROOF_UNIT_NONE},
        {isnan(r->expected_tokens_per_s) ? r->tokens_per_s : r->expected_tokens_per_s, true,
         ROOF_UNIT_NONE},
        {prefill ? r->step_s : r->tpot_s, false, ROOF_UNIT_MILLISECONDS},
        {expected_s, false, ROOF_UNIT_MILLISECONDS},
        {low_s, false, ROOF_UNIT_MILLISECONDS},
        {high_s, false, ROOF_UNIT_MILLISECONDS},
        {r->tokens_per_s, false, ROOF_UNIT_NONE},
        {r->tokens_per_s_per_user, false, ROOF_UNIT_NONE},
        {r->expected_tokens_per_s, false, ROOF_UNIT_NONE},
        {r->expected_tokens_per_s_per_user, false, ROOF_UNIT_NONE},
        {needed, false, ROOF_UNIT_CAPACITY},
        {r->weights_memory_bytes, false, ROOF_UNIT_CAPACITY},
        {r->kv_cache_bytes, false, ROOF_UNIT_CAPACITY},
        {r->activation_memory_bytes, false, ROOF_UNIT_CAPACITY},
        {r->memory_capacity_bytes, false, ROOF_UNIT_CAPACITY},
        {r->scenario.reserve, false, ROOF_UNIT_FRACTION}};
    put_figures(out, figures, COUNT(figures));
    roof_text_put(out, "]");
}
