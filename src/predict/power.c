// SPDX-License-Identifier: MIT
/* The energy of work, and the time that it takes under a power cap (docs/formulas.md, Power). */
#include "predict/power.h"

#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "catalog/hardware.h"
#include "operator/operator.h"

bool roof_power_capped(const struct roof_hardware *hardware)
{
    return !isnan(hardware->figure[ROOF_FIGURE_POWER_CAP].value);
}

double roof_power_most(const struct roof_hardware *hardware)
{
    const struct roof_figure *const figure = hardware->figure; /* fmin leaves out what is unknown */
    return fmin(figure[ROOF_FIGURE_TDP].value, figure[ROOF_FIGURE_POWER_CAP].value);
}

/* Returns the energy of the FLOPs of a part; no measurement is of 2:4 sparse products. */
static double flop_energy(const struct roof_part *part, const struct roof_hardware *hardware)
{
    const double per_flop = hardware->peak[ROOF_FLOP_ENERGY][part->compute].value;
    return part->work.flops == 0 ? 0 : part->sparse ? ROOF_UNKNOWN : part->work.flops * per_flop;
}

/* Says which figures are missing for the roof of a cap. */
static enum roof_status refuse(const struct roof_part *part, const struct roof_hardware *hardware,
                               struct roof_error *error)
{
    const struct roof_figure *const figure = hardware->figure;
    if (part->sparse) {
        return roof_error_set(
            error, ROOF_USAGE,
            "%s: the energy of a FLOP with 2:4 sparsity is unknown, and a power cap needs it",
            hardware->id);
    }
    const bool constant = isnan(figure[ROOF_FIGURE_CONSTANT_POWER].value);
    const bool byte = isnan(figure[ROOF_FIGURE_BYTE_ENERGY].value);
    const bool flop = isnan(hardware->peak[ROOF_FLOP_ENERGY][part->compute].value);
    char names[160];
    (void)snprintf(names, sizeof names, "%s%s%s%s%s%s%s",
                   constant ? "constant_w (W, drawn at any load)" : "",
                   constant && byte ? ", " : "", byte ? "byte_pj (pJ per byte)" : "",
                   (constant || byte) && flop ? ", " : "", flop ? "flop_pj." : "",
                   flop ? roof_format(part->compute)->name : "", flop ? " (pJ per FLOP)" : "");
    const char *const known = hardware->energy_known;
    return roof_error_set(
        error, ROOF_USAGE,
        "%s: a power cap needs energy figures that are unknown: %s; 'roofline measure' finds those "
        "of a GPU, and " ROOF_KEY("set") " KEY=VALUE gives them%s%s",
        hardware->id, names,
        known == NULL ? "" : "; devices that have some: ", known == NULL ? "" : known);
}

struct roof_power roof_power_of_part(const struct roof_part *part,
                                     const struct roof_hardware *hardware)
{
    const struct roof_figure *const figure = hardware->figure;
    const double constant = figure[ROOF_FIGURE_CONSTANT_POWER].value;
    struct roof_power out = {.dynamic_j = flop_energy(part, hardware) +
                                          part->bytes * figure[ROOF_FIGURE_BYTE_ENERGY].value};
    out.power_time_s = out.dynamic_j / (figure[ROOF_FIGURE_POWER_CAP].value - constant);
    out.energy_j = out.dynamic_j + constant * part->time_s;
    out.power_w = out.energy_j / part->time_s;
    return out;
}

struct roof_power roof_power_of(const struct roof_prediction *prediction)
{
    const struct roof_hardware *const hardware = prediction->hardware;
    struct roof_power sum = {.dynamic_j = 0};
    if (isnan(hardware->figure[ROOF_FIGURE_BYTE_ENERGY].value)) { /* of most devices */
        return (struct roof_power){ROOF_UNKNOWN, ROOF_UNKNOWN, ROOF_UNKNOWN, ROOF_UNKNOWN};
    }
    for (int i = 0; i < prediction->part_count; i++) {
        const struct roof_power one = roof_power_of_part(&prediction->part[i], hardware);
        sum.dynamic_j += one.dynamic_j;
        sum.power_time_s += one.power_time_s;
        sum.energy_j += one.energy_j;
    }
    sum.power_w = sum.energy_j / prediction->time_s;
    return sum;
}

enum roof_status roof_power_part(struct roof_part *part, const struct roof_hardware *hardware,
                                 struct roof_error *error)
{
    const struct roof_figure *const figure = hardware->figure;
    const double cap = figure[ROOF_FIGURE_POWER_CAP].value;
    if (isnan(cap)) {
        return ROOF_OK;
    }
    const struct roof_power power = roof_power_of_part(part, hardware);
    if (isnan(power.power_time_s)) {
        return refuse(part, hardware, error);
    }
    if (cap <= figure[ROOF_FIGURE_CONSTANT_POWER].value) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: a power cap of %g W is not above the constant power of %g W",
                              hardware->id, cap, figure[ROOF_FIGURE_CONSTANT_POWER].value);
    }
    if (power.power_time_s > part->time_s) {
        part->time_s = power.power_time_s;
        part->bottleneck = ROOF_BOTTLENECK_POWER;
    }
    return ROOF_OK;
}
