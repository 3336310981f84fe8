// SPDX-License-Identifier: MIT
#include "roofline/predict.h"

#include <math.h>

const char *roof_bottleneck_name(enum roof_bottleneck bottleneck)
{
    static const char *const names[ROOF_BOTTLENECK_COUNT] = {
        [ROOF_BOTTLENECK_MEMORY] = "memory",
        [ROOF_BOTTLENECK_COMPUTE] = "compute",
        [ROOF_BOTTLENECK_NETWORK] = "network",
        [ROOF_BOTTLENECK_OVERHEAD] = "overhead",
    };
    return names[bottleneck];
}

/* The unit and peak of one part; the whole takes those of its matrix part. */
static struct roof_compute part_compute(const struct roof_workload *part,
                                        const struct roof_hardware *hardware,
                                        enum roof_precision *wanted)
{
    const struct roof_operator_row *const row = roof_operator_row(part->op);
    const struct roof_formats *const f = &part->formats;
    if (row->kind != ROOF_KIND_MATRIX) {
        *wanted = ROOF_PRECISION_FP32;
        return (struct roof_compute){
            .precision = ROOF_PRECISION_FP32,
            .unit = ROOF_COMPUTE_VECTOR,
            .native = !isnan(hardware->vector_flops_per_s),
            .peak_flops_per_s = hardware->vector_flops_per_s,
            .sparse_flops_per_s = ROOF_UNKNOWN,
        };
    }
    const enum roof_precision other = row->other == ROOF_ROLE_KV ? f->kv : f->weights;
    *wanted = f->compute != ROOF_PRECISION_AUTO ? f->compute
                                                : roof_precision_product(other, f->activations);
    return hardware->compute[*wanted];
}

/* No FLOPs take no time, even at an unknown peak. */
static double compute_time(double flops, double peak)
{
    return flops > 0 ? flops / peak : 0;
}

static enum roof_status predict_part(struct roof_part *out, struct roof_prediction *whole,
                                     const struct roof_workload *part, struct roof_error *error)
{
    const struct roof_hardware *const hardware = whole->hardware;
    enum roof_precision wanted = ROOF_PRECISION_AUTO;
    const struct roof_compute compute = part_compute(part, hardware, &wanted);
    /* Where there is no sparse peak, pruned weights run at the dense one. */
    const bool sparse = part->sparse > 0 && !isnan(compute.sparse_flops_per_s);
    const double peak = sparse ? compute.sparse_flops_per_s : compute.peak_flops_per_s;

    *out = (struct roof_part){.op = part->op,
                              .compute = compute.precision,
                              .unit = compute.unit,
                              .sparse = sparse,
                              .peak_flops_per_s = peak,
                              .network_time_s = ROOF_UNKNOWN};
    roof_operator_work(&out->work, part, NULL);
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        out->bytes += out->work.bytes[role];
    }
    out->intensity = out->work.flops / out->bytes;
    out->ridge = peak / whole->bandwidth_bytes_per_s;
    out->memory_time_s = out->bytes / whole->bandwidth_bytes_per_s;
    out->compute_time_s = compute_time(out->work.flops, peak);
    if (out->work.network_bytes > 0) {
        const enum roof_status status =
            roof_hardware_link(&whole->link, hardware, (double)part->shape.within, error);
        if (status != ROOF_OK) {
            return status;
        }
        out->network_time_s = out->work.network_bytes / whole->link.bytes_per_s +
                              out->work.network_steps * whole->link.latency_s;
    } else if (out->work.network_bytes == 0) { /* a group of one sends nothing, over any link */
        out->network_time_s = 0;
    }
    /* Equality of memory and compute counts as compute; comparisons with NAN are false. */
    out->time_s = out->memory_time_s;
    out->bottleneck = ROOF_BOTTLENECK_MEMORY;
    if (out->compute_time_s >= out->time_s) {
        out->time_s = out->compute_time_s;
        out->bottleneck = ROOF_BOTTLENECK_COMPUTE;
    }
    if (out->network_time_s > out->time_s) {
        out->time_s = out->network_time_s;
        out->bottleneck = ROOF_BOTTLENECK_NETWORK;
    }

    const bool collective = roof_operator_row(part->op)->kind == ROOF_KIND_COLLECTIVE;
    roof_kernel_expect(&out->expected, part, hardware, &out->work,
                       collective ? whole->link.bytes_per_s : peak, out->time_s);
    whole->expected_s += out->expected.time_s;
    whole->expected_low_s += out->expected.low_s;
    whole->expected_high_s += out->expected.high_s;
    whole->expected_near = whole->expected_near || out->expected.near;

    const bool matrix = roof_operator_row(part->op)->kind == ROOF_KIND_MATRIX;
    if (matrix || whole->part_count == 1) {
        whole->compute = compute.precision;
        whole->wanted = wanted;
        whole->unit = compute.unit;
        whole->sparse = sparse;
        whole->peak_flops_per_s = peak;
    }
    whole->native = whole->native && (compute.native || out->work.flops == 0);
    whole->flops += out->work.flops;
    whole->bytes += out->bytes;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        whole->role_bytes[role] += out->work.bytes[role];
    }
    whole->memory_time_s += out->memory_time_s;
    whole->compute_time_s += out->compute_time_s;
    whole->time_s += out->time_s;
    return ROOF_OK;
}

/* What bounds an expected time, in the terms of the roofline. */
static enum roof_bottleneck expected_bottleneck(const struct roof_part *part)
{
    static const enum roof_bottleneck of[ROOF_BOUND_COUNT] = {
        [ROOF_BOUND_LAUNCH] = ROOF_BOTTLENECK_OVERHEAD,
        [ROOF_BOUND_MEMORY] = ROOF_BOTTLENECK_MEMORY,
        [ROOF_BOUND_COMPUTE] = ROOF_BOTTLENECK_COMPUTE,
        [ROOF_BOUND_OPERANDS] = ROOF_BOTTLENECK_MEMORY,
        [ROOF_BOUND_LATENCY] = ROOF_BOTTLENECK_OVERHEAD,
        [ROOF_BOUND_QUANTIZE] = ROOF_BOTTLENECK_MEMORY,
        [ROOF_BOUND_NETWORK] = ROOF_BOTTLENECK_NETWORK,
    };
    return of[part->expected.bound];
}

enum roof_status roof_predict(struct roof_prediction *out, const struct roof_workload *workload,
                              const struct roof_hardware *hardware, struct roof_error *error)
{
    struct roof_workload resolved = *workload;
    enum roof_status status = roof_workload_resolve(&resolved, error);
    if (status != ROOF_OK) {
        return status;
    }
    struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
    struct roof_prediction p = {
        .workload = resolved,
        .hardware = hardware,
        .native = true,
        .ridge = ROOF_UNKNOWN,
        .peak_flops_per_s = ROOF_UNKNOWN,
        .fraction_of_peak = ROOF_UNKNOWN,
        .bandwidth_bytes_per_s = hardware->figure[ROOF_FIGURE_BANDWIDTH].value,
        .link = {.bytes_per_s = ROOF_UNKNOWN},
        .measured_s = ROOF_UNKNOWN,
        .achieved_flops_per_s = ROOF_UNKNOWN,
        .achieved_bytes_per_s = ROOF_UNKNOWN,
        .fraction_of_bound = ROOF_UNKNOWN,
    };
    p.part_count = roof_workload_parts(parts, &resolved);
    double share[ROOF_BOTTLENECK_COUNT] = {0};
    for (int i = 0; i < p.part_count; i++) {
        status = predict_part(&p.part[i], &p, &parts[i], error);
        if (status != ROOF_OK) {
            return status;
        }
        share[p.part[i].bottleneck] += p.part[i].time_s;
    }
    for (int b = 0; b < ROOF_BOTTLENECK_COUNT; b++) {
        if (share[b] > share[p.bottleneck]) {
            p.bottleneck = (enum roof_bottleneck)b;
        }
    }
    if (isnan(p.expected_s)) {
        p.expected_low_s = p.expected_high_s = ROOF_UNKNOWN;
    } else {
        double expected[ROOF_BOTTLENECK_COUNT] = {0};
        for (int i = 0; i < p.part_count; i++) {
            expected[expected_bottleneck(&p.part[i])] += p.part[i].expected.time_s;
        }
        for (int b = 0; b < ROOF_BOTTLENECK_COUNT; b++) {
            if (expected[b] > expected[p.expected_bottleneck]) {
                p.expected_bottleneck = (enum roof_bottleneck)b;
            }
        }
    }
    p.network_bytes = p.part[0].work.network_bytes; /* collectives have one part */
    p.network_time_s = p.part[0].network_time_s;
    p.intensity = p.flops / p.bytes;
    p.attainable_flops_per_s = p.flops / p.time_s;
    if (isnan(p.compute_time_s)) {
        p.attainable_flops_per_s = ROOF_UNKNOWN; /* the time is only that of the memory */
    }
    if (p.part_count == 1) {
        if (p.bottleneck == ROOF_BOTTLENECK_COMPUTE && p.flops > 0) {
            p.attainable_flops_per_s = p.peak_flops_per_s; /* exactly, not by way of the time */
        }
        p.ridge = p.part[0].ridge;
        p.fraction_of_peak = p.attainable_flops_per_s / p.peak_flops_per_s;
    } else {
        p.peak_flops_per_s = ROOF_UNKNOWN; /* parts run at different peaks */
    }
    *out = p;
    return ROOF_OK;
}

void roof_predict_measured(struct roof_prediction *prediction, double measured_s)
{
    prediction->measured_s = measured_s;
    prediction->achieved_flops_per_s = prediction->flops / measured_s;
    prediction->achieved_bytes_per_s = prediction->bytes / measured_s;
    prediction->fraction_of_bound = prediction->time_s / measured_s;
}
