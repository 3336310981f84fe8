// SPDX-License-Identifier: MIT
/* The lines in the report on a model about the host, about changes that make room, about energy,
 * and about the longest context. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "model/layout.h"
#include "predict/kernel.h"
#include "report/model_report.h"
#include "report/report.h"

/* Tells whether a pass copies weights of the host to the device, or with `plain`, whether these
 * are others than experts that tokens choose. */
static bool copies(const struct roof_model_prediction *r, bool plain)
{
    bool copied = false;
    for (size_t i = 0; i < r->count; i++) {
        const struct roof_node *const node = &r->node[i].node;
        copied = copied || (node->upload.share > 0 && !(plain && node->routed));
    }
    return copied;
}

/* Writes the expected rate of these copies, and which end of the range they are near. */
static void put_upload(struct roof_text *out, const struct roof_model_prediction *r)
{
    const double share = r->scenario.upload.share;
    const double link = r->total.hardware->figure[ROOF_FIGURE_HOST_LINK].value;
    char rate[ROOF_QUANTITY_SIZE];
    char detail[256];
    if (!copies(r, false) || isnan(link) || isnan(r->expected_step_s)) {
        return;
    }
    (void)snprintf(detail, sizeof detail,
                   "expected rate of copying weights mapped from the file to the device, %.0f%% of "
                   "the link's; with --no-mmap the time is near the low end of its range%s",
                   100 * share,
                   copies(r, true) ? ", where only routed experts can arrive faster than the link"
                                   : "");
    roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "    upload",
                     roof_format_quantity(rate, share * link, ROOF_UNIT_GB_PER_S), detail);
}

/* Writes the host's part of a step. */
static void put_offloaded(struct roof_text *out, const struct roof_model_prediction *r)
{
    const struct roof_scenario *const s = &r->scenario;
    const bool experts = roof_offload_part(s->offload) == ROOF_OFFLOAD_EXPERTS;
    char value[ROOF_QUANTITY_SIZE];
    char rate[ROOF_QUANTITY_SIZE];
    char detail[256];
    if (s->offload == ROOF_OFFLOAD_NONE) {
        return;
    }
    const bool timed = !isnan(r->offloaded_s); /* a whole request has no single time */
    snprintf(detail, sizeof detail, "%s%sthe first %" PRId64 " layers, at %s",
             timed ? "lower bound of " : "", experts ? "the experts of " : "",
             roof_offload_layers(s->offload),
             roof_format_quantity(rate, s->host->figure[ROOF_FIGURE_BANDWIDTH].value,
                                  ROOF_UNIT_GB_PER_S));
    roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "  on the host",
                     timed ? roof_format_quantity(value, r->offloaded_s, ROOF_UNIT_MILLISECONDS)
                           : detail,
                     timed ? detail : "");
    put_upload(out, r);
}

/* Writes what the host of the engine needs to launch the kernels of prompts. */
static void put_launches(struct roof_text *out, const struct roof_model_prediction *r,
                         enum roof_stack stack)
{
    const double launch_s = roof_scenario_launch_s(&r->scenario, stack, r->model);
    char value[ROOF_QUANTITY_SIZE];
    char sum[ROOF_QUANTITY_SIZE];
    char detail[160];
    if (launch_s <= 0) {
        return;
    }
    const bool known = !isnan(r->engine_launches_s); /* a request has no single sum */
    (void)snprintf(detail, sizeof detail,
                   "to launch a kernel; a pass with prompts takes at least as long as all its "
                   "launches%s%s, in "
                   "expected times only",
                   known ? ", " : "",
                   known ? roof_format_quantity(sum, r->engine_launches_s, ROOF_UNIT_MILLISECONDS)
                         : "");
    roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "engine",
                     roof_format_quantity(value, launch_s, ROOF_UNIT_MICROSECONDS), detail);
}

/* Writes what expected times have beside the measured kernels: a factor of these (--step-scale),
 * and the host work of the engine. */
static void put_engine(struct roof_text *out, const struct roof_model_prediction *r)
{
    const enum roof_stack stack = (enum roof_stack)r->scenario.common.stack;
    const double step_s = roof_scenario_host_s(&r->scenario, stack);
    const bool request = r->scenario.phase == ROOF_PHASE_REQUEST;
    const double request_s = request ? r->scenario.host_time[stack].request_s : 0;
    char value[ROOF_QUANTITY_SIZE];
    if (isnan(r->expected_step_s)) {
        return;
    }
    if (r->scenario.common.step_scale != 1) {
        char factor[ROOF_QUANTITY_SIZE];
        (void)snprintf(value, sizeof value, "x %s",
                       roof_format_short(factor, r->scenario.common.step_scale));
        roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "step scale", value,
                         "factor of kernels in expected times (--step-scale)");
    }
    if (step_s > 0) {
        roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "engine",
                         roof_format_quantity(value, step_s, ROOF_UNIT_MILLISECONDS),
                         "host time of a step, in expected times only");
    }
    const double overlap_s = r->scenario.host_time[stack].overlap_s;
    if (overlap_s > 0 && roof_overlaps_kernels(r->total.hardware)) {
        roof_report_line(
            out, ROOF_MODEL_REPORT_LABEL, "engine",
            roof_format_quantity(value, overlap_s, ROOF_UNIT_MICROSECONDS),
            "by which each kernel starts before the one before it ends, in expected times "
            "only");
    }
    put_launches(out, r, stack);
    if (request_s > 0) {
        roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "engine",
                         roof_format_quantity(value, request_s, ROOF_UNIT_MILLISECONDS),
                         "host time before the first token, in expected times only");
    }
}

/* Writes the energy of a token if it is known. */
static void put_energy(struct roof_text *out, const struct roof_model_prediction *r)
{
    char value[ROOF_QUANTITY_SIZE];
    char detail[128];
    if (!isnan(r->joule_per_token)) {
        snprintf(detail, sizeof detail,
                 "per token at the bound; %.4g W a device; hosts not included", r->power_w);
        roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "energy",
                         roof_format_quantity(value, r->joule_per_token, ROOF_UNIT_JOULES), detail);
    }
}

void roof_model_report_below(struct roof_text *out, const struct roof_model_prediction *r)
{
    put_offloaded(out, r);
    put_engine(out, r);
    put_energy(out, r);
}

void roof_model_report_host_memory(struct roof_text *out, const struct roof_model_prediction *r)
{
    char need[ROOF_QUANTITY_SIZE];
    char room[ROOF_QUANTITY_SIZE];
    char detail[128] = "its capacity is unknown (--host-memory)";
    if (isnan(r->host_memory_bytes)) {
        return;
    }
    if (!isnan(r->host_capacity_bytes)) {
        snprintf(detail, sizeof detail, "%s: %s",
                 r->host_memory_bytes <= r->host_capacity_bytes ? "fits" : "does not fit",
                 roof_format_quantity(room, r->host_capacity_bytes, ROOF_UNIT_CAPACITY));
    }
    roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "host memory",
                     roof_format_quantity(need, r->host_memory_bytes, ROOF_UNIT_CAPACITY), detail);
}

const char *roof_model_report_operator(char out[ROOF_MODEL_REPORT_NAME],
                                       const struct roof_node *node)
{
    snprintf(out, ROOF_MODEL_REPORT_NAME, "%s%s", node->name, node->host == NULL ? "" : " (host)");
    return out;
}

static void put_more(struct roof_text *out, const struct roof_model_prediction *present,
                     double devices)
{
    roof_text_printf(out, " (%.0f -> %.0f devices)", present->devices, devices);
}

void roof_model_report_levers(struct roof_text *out,
                              const struct roof_model_prediction *model_prediction,
                              const struct roof_limits *limits)
{
    const struct {
        double most;
        const char *option;
    } formats[] = {{limits->max_batch_checkpoint, "--layout " ROOF_CHECKPOINT},
                   {limits->max_batch_fp8, "-p fp8"},
                   {limits->max_batch_kv_fp8, "--kv fp8"},
                   {limits->max_batch_kv_q8_0, "--kv q8_0"}};
    const char *separator = "; ";
    const char *verb = " would";
    for (size_t i = 0; i < COUNT(formats); i++) {
        if (!isnan(formats[i].most)) {
            roof_text_printf(out, "%s%.0f%s with %s", separator, formats[i].most, verb,
                             formats[i].option);
            separator = ", ";
            verb = "";
        }
    }
    const struct roof_scenario *const s = &model_prediction->scenario;
    if (!isnan(limits->max_batch_ep)) {
        roof_text_printf(out, "%s%.0f%s with --ep %" PRId64 " instead of --tp %" PRId64, separator,
                         limits->max_batch_ep, verb, s->tp, s->tp);
        separator = ", ";
        verb = "";
    }
    const double copies = (double)s->dp;
    if (!isnan(limits->max_batch_nearest)) {
        const double devices = copies * limits->nearest_tp * limits->nearest_pp;
        roof_text_printf(out, "%s%.0f%s with", separator, limits->max_batch_nearest, verb);
        if (limits->nearest_tp != (double)s->tp) {
            roof_text_printf(out, " --tp %.0f", limits->nearest_tp);
        }
        if (limits->nearest_pp != (double)s->pp) {
            roof_text_printf(out, " --pp %.0f", limits->nearest_pp);
        }
        put_more(out, model_prediction, devices);
        separator = ", ";
        verb = "";
    }
    if (!isnan(limits->max_batch_next_tp)) {
        roof_text_printf(out, "%s%.0f%s with --tp %.0f", separator, limits->max_batch_next_tp, verb,
                         limits->next_tp);
        put_more(out, model_prediction,
                 model_prediction->devices * limits->next_tp / (double)s->tp);
    }
}

/* Writes the time with what is offloaded, if it is known. */
static void put_room_time(char *out, size_t size, const struct roof_model_prediction *r,
                          const struct roof_limits *limits)
{
    char time[ROOF_QUANTITY_SIZE];
    *out = '\0';
    if (!isnan(limits->fit_offload_s)) {
        (void)snprintf(out, size, ", which takes at least %s%s",
                       roof_format_quantity(time, limits->fit_offload_s, ROOF_UNIT_MILLISECONDS),
                       r->scenario.phase == ROOF_PHASE_REQUEST   ? " per request"
                       : r->scenario.phase == ROOF_PHASE_PREFILL ? ""
                                                                 : " per token");
    }
}

void roof_model_report_room(struct roof_text *out, bool json,
                            const struct roof_model_prediction *prediction,
                            const struct roof_limits *limits)
{
    const char *const head[] = {json ? ",\"fit_reserve\":" : "with --reserve ",
                                json ? ",\"fit_offload\":\"" : "with --offload "};
    char name[ROOF_OFFLOAD_NAME_SIZE];
    char need[ROOF_QUANTITY_SIZE];
    char line[256] = "";
    char time[96];
    int used = 0;
    if (!isnan(limits->fit_reserve)) {
        used = snprintf(line, sizeof line, "%s%.2f", head[0], limits->fit_reserve);
    }
    if (limits->fit_offload != ROOF_OFFLOAD_NONE) {
        used += snprintf(line + used, sizeof line - (size_t)used, "%s%s%s%s",
                         used > 0 && !json ? ", or " : "", head[1],
                         roof_offload_name(name, limits->fit_offload), json ? "\"" : "");
        if (!json) {
            char bandwidth[64] = "";
            put_room_time(time, sizeof time, prediction, limits);
            if (!limits->fit_offload_more) {
                (void)snprintf(bandwidth, sizeof bandwidth,
                               " --host-bandwidth " ROOF_HOST_USUAL_GB_PER_S);
            }
            (void)snprintf(
                line + used, sizeof line - (size_t)used, "%s (%s%s on the host)%s", bandwidth,
                *bandwidth == '\0' ? "" : "put your host's GB/s; ",
                roof_format_quantity(need, limits->fit_offload_host_bytes, ROOF_UNIT_CAPACITY),
                time);
        }
    }
    if (json) {
        roof_text_put(out, line);
    } else if (*line != '\0') {
        roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "would fit", line, "");
    }
}

double roof_model_report_longest(const struct roof_model_prediction *model_prediction,
                                 const struct roof_limits *limits)
{
    const double most = model_prediction->model->positions > 0
                            ? (double)model_prediction->model->positions
                            : (double)INFINITY;
    return limits->max_context > 0 ? fmin(most, limits->max_context) : most;
}

bool roof_model_report_crosses(const struct roof_model_prediction *model_prediction,
                               const struct roof_limits *limits)
{
    return limits->kv_crossover_context <= roof_model_report_longest(model_prediction, limits);
}
