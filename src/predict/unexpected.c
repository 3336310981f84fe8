// SPDX-License-Identifier: MIT
#include "predict/unexpected.h"

#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "catalog/registry.h"
#include "model/graph.h"
#include "predict/calibration.h"
#include "predict/kernel.h"
#include "predict/power.h"

/* The figures that formulas of kernels use. Those of llama.cpp do not need the last. */
static const enum roof_figure_id needed[] = {ROOF_FIGURE_SM_COUNT, ROOF_FIGURE_BOOST_CLOCK,
                                             ROOF_FIGURE_L2};

/* Finds the keys of the first figures in needed[] that a device lacks, and returns their number. */
static size_t find_unknown(const char *key[COUNT(needed)], const struct roof_hardware *hardware,
                           size_t figures)
{
    size_t count = 0;
    for (size_t i = 0; i < figures; i++) {
        if (isnan(hardware->figure[needed[i]].value)) {
            key[count++] = roof_figure_key(needed[i])->key;
        }
    }
    return count;
}

/* Writes "a, b and c" at a place of out, and returns the place behind it. */
static size_t put_list(char out[ROOF_UNEXPECTED_SIZE], size_t at, const char *const *key,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *const before = i == 0 ? "" : i + 1 < count ? ", " : " and ";
        at += (size_t)snprintf(out + at, ROOF_UNEXPECTED_SIZE - at, "%s%s", before, key[i]);
    }
    return at;
}

#define NAME_SHOWN 64 /* leaves room for the keys */

/* Writes that a device has no measured kernels, and what its file may say to borrow some. */
static void put_unmeasured(char out[ROOF_UNEXPECTED_SIZE], const struct roof_hardware *hardware)
{
    const bool told = hardware->like != NULL || !roof_registry_path(hardware->reference);
    const char *unknown[COUNT(needed)] = {""};
    const size_t count = find_unknown(unknown, hardware, COUNT(needed));
    size_t at = (size_t)snprintf(
        out, ROOF_UNEXPECTED_SIZE, "no kernels of a device like %.*s were measured%s", NAME_SHOWN,
        hardware->like != NULL ? hardware->like : hardware->id,
        told ? "" : "; the key \"like\" in its file can name a measured one");
    if (!told && count > 0) {
        at += (size_t)snprintf(out + at, ROOF_UNEXPECTED_SIZE - at, " (also add ");
        at = put_list(out, at, unknown, count);
        (void)snprintf(out + at, ROOF_UNEXPECTED_SIZE - at, ")");
    }
}

const char *roof_unexpected_device(char out[ROOF_UNEXPECTED_SIZE],
                                   const struct roof_hardware *hardware)
{
    if (hardware->unmeasured != NULL) {
        snprintf(out, ROOF_UNEXPECTED_SIZE, "no kernel of %s was measured for %s",
                 hardware->unmeasured, hardware->id);
        return out;
    }
    if (hardware->bounds_only) {
        snprintf(out, ROOF_UNEXPECTED_SIZE, "only lower bounds were requested");
        return out;
    }
    if (hardware->calibration == NULL) {
        put_unmeasured(out, hardware);
        return out;
    }
    if (roof_power_capped(hardware)) {
        snprintf(out, ROOF_UNEXPECTED_SIZE, "no kernel was measured under a power cap");
        return out;
    }
    const char *unknown[COUNT(needed)] = {""};
    const size_t figures = hardware->calibration->local ? COUNT(needed) - 1 : COUNT(needed);
    const size_t count = find_unknown(unknown, hardware, figures);
    if (count == 0) {
        return NULL;
    }
    const size_t at = put_list(out, 0, unknown, count);
    snprintf(out + at, ROOF_UNEXPECTED_SIZE - at, " of %s %s unknown (%s%s--set %s=VALUE)",
             hardware->id, count == 1 ? "is" : "are",
             hardware->basis == ROOF_BASIS_USER ? "add to its file, or " : "",
             count == 1 ? "" : "give each: ", unknown[0]);
    return out;
}

bool roof_expects_times(const struct roof_hardware *hardware)
{
    char why[ROOF_UNEXPECTED_SIZE];
    return roof_unexpected_device(why, hardware) == NULL;
}

/* Tells whether a format is an integer of so few bits that only weights usually have it. */
static bool is_narrow(enum roof_precision precision)
{
    const struct roof_format *const format = roof_format(precision);
    return format->family == ROOF_FAMILY_INTEGER && format->element_bits < 8;
}

const char *roof_unexpected(char out[ROOF_UNEXPECTED_SIZE],
                            const struct roof_prediction *prediction)
{
    const struct roof_hardware *const hardware = prediction->hardware;
    if (roof_unexpected_device(out, hardware) != NULL) {
        return out;
    }
    if (prediction->workload.sparse > 0) {
        snprintf(out, ROOF_UNEXPECTED_SIZE, "no kernel with pruned weights was measured");
        return out;
    }
    for (int i = 0; i < prediction->part_count; i++) {
        const struct roof_part *const part = &prediction->part[i];
        const bool product = roof_operator_row(part->op)->kind == ROOF_KIND_MATRIX;
        if (product && isnan(part->expected.time_s) && isnan(part->peak_flops_per_s)) {
            snprintf(out, ROOF_UNEXPECTED_SIZE, "the peak of %s on %s is unknown",
                     roof_format(part->compute)->name, hardware->id);
            return out;
        }
    }
    const struct roof_formats *const formats = &prediction->workload.formats;
    const enum roof_operator op = prediction->workload.op;
    if (roof_operator_row(op)->kind == ROOF_KIND_MATRIX && is_narrow(formats->activations)) {
        snprintf(out, ROOF_UNEXPECTED_SIZE,
                 "no kernel with %s activations was measured; weights only: -w %s -a fp16",
                 roof_format(formats->activations)->name, roof_format(formats->weights)->name);
        return out;
    }
    snprintf(out, ROOF_UNEXPECTED_SIZE, "no similar kernel was measured");
    return out;
}

const char *roof_unexpected_host(char out[ROOF_UNEXPECTED_SIZE],
                                 const struct roof_scenario *scenario,
                                 const struct roof_hardware *hardware, bool copied)
{
    if (!copied && scenario->host_kernels == NULL) {
        snprintf(out, ROOF_UNEXPECTED_SIZE,
                 "no kernels of the host were measured (run roofline measure --device cpu there, "
                 "then --host FOLDER)");
    } else if (isnan(hardware->figure[ROOF_FIGURE_HOST_LINK].value)) {
        snprintf(out, ROOF_UNEXPECTED_SIZE,
                 "a pass of %d tokens or more copies the host's weights over a link whose speed is "
                 "unknown (--set %s=GB/s)",
                 ROOF_OFFLOAD_COPY_TOKENS, roof_figure_key(ROOF_FIGURE_HOST_LINK)->key);
    } else {
        snprintf(out, ROOF_UNEXPECTED_SIZE, "one of its operators was not measured");
    }
    return out;
}

const char *roof_unexpected_operator(const struct roof_model *model,
                                     const struct roof_hardware *hardware)
{
    static const enum roof_phase phases[] = {ROOF_PHASE_PREFILL, ROOF_PHASE_DECODE};
    struct roof_graph graph = {.count = 0};
    for (size_t p = 0; p < COUNT(phases) && hardware->calibration != NULL; p++) {
        struct roof_scenario s;
        roof_scenario_init(&s);
        s.phase = phases[p];
        if (roof_scenario_resolve(&s, model, NULL) != ROOF_OK ||
            roof_graph_build(&graph, model, &s, 0, (struct roof_places){0}, NULL) != ROOF_OK) {
            return NULL; /* the search refuses it, too */
        }
        for (size_t i = 0; i < graph.count; i++) {
            const struct roof_workload *const w = &graph.node[i].workload;
            if (!roof_calibration_measures(hardware->calibration,
                                           roof_kernel_in(hardware->calibration, w))) {
                return roof_operator_row(w->op)->name;
            }
        }
    }
    return NULL;
}

void roof_forget_expected(struct roof_hardware *out, const struct roof_hardware *given,
                          const char *lacks)
{
    *out = *given;
    out->calibration = NULL;
    out->bounds_only = lacks == NULL;
    out->unmeasured = lacks;
}
