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

const char *roof_unexpected_device(char out[ROOF_UNEXPECTED_SIZE],
                                   const struct roof_hardware *hardware)
{
    /* All formulas of kernels use the first two; those of llama.cpp need no L2. */
    static const enum roof_figure_id needed[] = {ROOF_FIGURE_SM_COUNT, ROOF_FIGURE_BOOST_CLOCK,
                                                 ROOF_FIGURE_L2};
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
        const bool told = hardware->like != NULL || !roof_registry_path(hardware->reference);
        snprintf(out, ROOF_UNEXPECTED_SIZE, "no kernels of a device like %s were measured%s",
                 hardware->like != NULL ? hardware->like : hardware->id,
                 told ? "" : "; the key \"like\" in its file can name a measured one");
        return out;
    }
    if (roof_power_capped(hardware)) {
        snprintf(out, ROOF_UNEXPECTED_SIZE, "no kernel was measured under a power cap");
        return out;
    }
    const char *unknown[COUNT(needed)] = {""};
    size_t count = 0;
    const size_t all = hardware->calibration->local ? COUNT(needed) - 1 : COUNT(needed);
    for (size_t i = 0; i < all; i++) {
        if (isnan(hardware->figure[needed[i]].value)) {
            unknown[count++] = roof_figure_key(needed[i])->key;
        }
    }
    if (count == 0) {
        return NULL;
    }
    int length = snprintf(out, ROOF_UNEXPECTED_SIZE, "%s", unknown[0]);
    for (size_t i = 1; i < count; i++) {
        length += snprintf(out + length, ROOF_UNEXPECTED_SIZE - (size_t)length, "%s%s",
                           i + 1 < count ? ", " : " and ", unknown[i]);
    }
    snprintf(out + length, ROOF_UNEXPECTED_SIZE - (size_t)length,
             " of %s %s unknown (%s%s--set %s=VALUE)", hardware->id, count == 1 ? "is" : "are",
             hardware->basis == ROOF_BASIS_USER ? "add to its file, or " : "",
             count == 1 ? "" : "give each: ", unknown[0]);
    return out;
}

bool roof_expects_times(const struct roof_hardware *hardware)
{
    char why[ROOF_UNEXPECTED_SIZE];
    return roof_unexpected_device(why, hardware) == NULL;
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
    snprintf(out, ROOF_UNEXPECTED_SIZE, "no similar kernel was measured");
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
            roof_graph_build(&graph, model, &s, 0, 0, NULL) != ROOF_OK) {
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
