// SPDX-License-Identifier: MIT
#include "roofline/predict.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "operator/resolve.h"
#include "predict/conversion.h"
#include "predict/kernel.h"
#include "predict/power.h"
#include "predict/predict_sizes.h"

enum roof_peak_table roof_part_peaks(const struct roof_part *part)
{
    return part->unit == ROOF_COMPUTE_VECTOR ? ROOF_PEAK_VECTOR
           : part->sparse                    ? ROOF_PEAK_SPARSE
                                             : ROOF_PEAK_MATRIX;
}

/* The rates that a part runs at, which are the same for all of its shapes. */
struct limits {
    struct roof_compute compute;
    enum roof_precision wanted;
    bool matrix;
    bool sparse;
    double peak;
    double bandwidth;
};

static struct limits limits_of(const struct roof_workload *part,
                               const struct roof_hardware *hardware)
{
    const struct roof_operator_row *const row = roof_operator_row(part->op);
    const struct roof_formats *const f = &part->formats;
    struct limits out = {.matrix = row->kind == ROOF_KIND_MATRIX,
                         .bandwidth = hardware->figure[ROOF_FIGURE_BANDWIDTH].value};
    if (out.matrix) {
        out.wanted = roof_product_format(hardware, f, row->other);
        out.compute = hardware->compute[out.wanted];
    } else {
        out.wanted = ROOF_PRECISION_FP32;
        out.compute = (struct roof_compute){
            .precision = ROOF_PRECISION_FP32,
            .unit = ROOF_COMPUTE_VECTOR,
            .native = !isnan(hardware->vector_flops_per_s),
            .peak_flops_per_s = hardware->vector_flops_per_s,
            .sparse_flops_per_s = ROOF_UNKNOWN,
        };
    }
    /* Pruned weights run at the dense peak if there is no sparse one. */
    out.sparse = part->sparse > 0 && !isnan(out.compute.sparse_flops_per_s);
    out.peak = out.sparse ? out.compute.sparse_flops_per_s : out.compute.peak_flops_per_s;
    return out;
}

/* --- the bound ----------------------------------------------------------------------------- */

/* Fills in the times of a part and its bound from its work. */
static void bound_part(struct roof_part *out, double bandwidth, const struct roof_link *link)
{
    const struct roof_work *const work = &out->work;
    out->bytes = roof_work_bytes(work);
    out->intensity = work->flops / out->bytes;
    out->ridge = out->peak_flops_per_s / bandwidth;
    out->memory_time_s = out->bytes / bandwidth;
    /* No FLOPs take no time, even at an unknown peak. */
    out->compute_time_s = work->flops > 0 ? work->flops / out->peak_flops_per_s : 0;
    /* A group of one sends nothing, over any link; NAN: not a collective. */
    out->network_time_s = work->network_bytes > 0 ? work->network_bytes / link->bytes_per_s +
                                                        work->network_steps * link->latency_s
                                                  : work->network_bytes;
    /* Comparisons with NAN are false; equality of memory and compute counts as compute. */
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
}

enum roof_bottleneck roof_largest_share(const double share[ROOF_BOTTLENECK_COUNT])
{
    int most = 0;
    double largest = share[0];
    for (int b = 1; b < ROOF_BOTTLENECK_COUNT; b++) {
        if (share[b] > largest) {
            largest = share[b];
            most = b;
        }
    }
    return (enum roof_bottleneck)most;
}

/* Adds a part to the sums over all parts. */
static void add_part(struct roof_prediction *whole, const struct roof_part *part)
{
    whole->flops += part->work.flops;
    whole->bytes += part->bytes;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        whole->role_bytes[role] += part->work.bytes[role];
    }
    whole->memory_time_s += part->memory_time_s;
    whole->compute_time_s += part->compute_time_s;
    whole->time_s += part->time_s;
}

/* Returns the rate that limits the kernel of a part: its peak, or bytes/s of a link. */
static double rate_of(const struct roof_prediction *whole, const struct roof_part *part)
{
    const bool collective = roof_operator_row(part->op)->kind == ROOF_KIND_COLLECTIVE;
    return collective ? whole->link.bytes_per_s : part->peak_flops_per_s;
}

/* Works out the expected time of a part whose bound is known, and adds it to that of the whole. */
static void expect_part(struct roof_prediction *whole, int number, const struct roof_workload *part)
{
    struct roof_part *const out = &whole->part[number];
    roof_kernel_expect(&out->expected, part, whole->hardware, &out->work, rate_of(whole, out),
                       out->time_s);
    whole->expected_s += out->expected.time_s;
    whole->expected_low_s += out->expected.low_s;
    whole->expected_high_s += out->expected.high_s;
    whole->expected_near = whole->expected_near || out->expected.near;
}

static enum roof_status predict_part(struct roof_prediction *whole, int number,
                                     const struct roof_workload *part, struct roof_error *error)
{
    const struct roof_hardware *const hardware = whole->hardware;
    const struct limits limits = limits_of(part, hardware);
    struct roof_part *const out = &whole->part[number];
    out->op = part->op;
    out->compute = limits.compute.precision;
    out->unit = limits.compute.unit;
    out->sparse = limits.sparse;
    out->peak_flops_per_s = limits.peak;
    roof_operator_work(&out->work, part, NULL);
    if (out->work.network_bytes > 0) {
        const bool send = part->op == ROOF_OPERATOR_SEND;
        TRY(roof_hardware_link(&whole->link, hardware, (double)part->shape.within,
                               send ? 2 : (double)part->shape.devices, error));
    }
    bound_part(out, limits.bandwidth, &whole->link);
    TRY(roof_power_part(out, hardware, error));
    if (limits.matrix || whole->part_count == 1) {
        whole->compute = limits.compute.precision;
        whole->wanted = limits.wanted;
        whole->unit = limits.compute.unit;
        whole->sparse = limits.sparse;
        whole->peak_flops_per_s = limits.peak;
    }
    whole->native = whole->native && (limits.compute.native || out->work.flops == 0);
    add_part(whole, out);
    return ROOF_OK;
}

/* Clears all but the workload and the parts, which are written anyway. */
static void clear_prediction(struct roof_prediction *out, const struct roof_hardware *hardware)
{
    char *const from = (char *)&out->hardware;
    memset(from, 0, (size_t)((char *)out->part - from));
    out->hardware = hardware;
    out->native = true;
    out->ridge = ROOF_UNKNOWN;
    out->peak_flops_per_s = ROOF_UNKNOWN;
    out->fraction_of_peak = ROOF_UNKNOWN;
    out->bandwidth_bytes_per_s = hardware->figure[ROOF_FIGURE_BANDWIDTH].value;
    out->link.bytes_per_s = ROOF_UNKNOWN;
    out->measured_s = ROOF_UNKNOWN;
    out->achieved_flops_per_s = ROOF_UNKNOWN;
    out->achieved_bytes_per_s = ROOF_UNKNOWN;
    out->fraction_of_bound = ROOF_UNKNOWN;
}

/* Fills in what follows from the sums of the expected times. */
static void finish_expected(struct roof_prediction *p)
{
    double share[ROOF_BOTTLENECK_COUNT] = {0};
    for (int i = 0; i < p->part_count && !isnan(p->expected_s); i++) {
        share[roof_kernel_limit_bottleneck(p->part[i].expected.limit)] +=
            p->part[i].expected.time_s;
    }
    p->expected_bottleneck = roof_largest_share(share);
    if (isnan(p->expected_s)) {
        p->expected_low_s = p->expected_high_s = ROOF_UNKNOWN;
    }
}

/* Fills in what follows from the sums over the parts, but for what is expected. */
static void finish_prediction(struct roof_prediction *p)
{
    double share[ROOF_BOTTLENECK_COUNT] = {0};
    for (int i = 0; i < p->part_count; i++) {
        share[p->part[i].bottleneck] += p->part[i].time_s;
    }
    p->bottleneck = roof_largest_share(share);
    p->network_bytes = p->part[0].work.network_bytes; /* collectives have one part */
    p->network_time_s = p->part[0].network_time_s;
    p->intensity = p->flops / p->bytes;
    if (p->part_count == 1) {
        p->ridge = p->part[0].ridge;
    } else {
        p->peak_flops_per_s = ROOF_UNKNOWN; /* parts run at different peaks */
    }
    /* The time is only that of the memory if the peak is not known; and an operator of one part
     * that computes at its peak does so exactly, not by way of the time. */
    const bool at_peak = p->bottleneck == ROOF_BOTTLENECK_COMPUTE && !isnan(p->peak_flops_per_s);
    p->attainable_flops_per_s = isnan(p->compute_time_s) ? ROOF_UNKNOWN
                                : at_peak                ? p->peak_flops_per_s
                                                         : p->flops / p->time_s;
    p->fraction_of_peak = p->attainable_flops_per_s / p->peak_flops_per_s;
}

/* Predicts the parts of the workload in *out, which are resolved; without `expect` their bounds
 * alone. */
static enum roof_status predict_parts(struct roof_prediction *out,
                                      const struct roof_hardware *hardware,
                                      const struct roof_workload *part, int count, bool expect,
                                      struct roof_error *error)
{
    clear_prediction(out, hardware);
    out->part_count = count;
    for (int i = 0; i < count; i++) {
        TRY(predict_part(out, i, &part[i], error));
        if (expect) {
            expect_part(out, i, &part[i]);
        }
    }
    finish_prediction(out);
    if (expect) {
        finish_expected(out);
    }
    return ROOF_OK;
}

/* Predicts the workload in *out, which is resolved; without `expect` its bound alone. */
static enum roof_status predict_resolved(struct roof_prediction *out,
                                         const struct roof_hardware *hardware, bool expect,
                                         struct roof_error *error)
{
    struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
    if (roof_operator_row(out->workload.op)->part_count == 0) {
        return predict_parts(out, hardware, &out->workload, 1, expect, error);
    }
    const int count = roof_workload_parts(parts, &out->workload);
    return predict_parts(out, hardware, parts, count, expect, error);
}

enum roof_status roof_predict_apart(struct roof_prediction *out,
                                    const struct roof_prediction *fused, struct roof_error *error)
{
    struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
    out->workload = fused->workload;
    const int count = roof_workload_apart(parts, &fused->workload);
    return predict_parts(out, fused->hardware, parts, count, true, error);
}

enum roof_status roof_predict(struct roof_prediction *out, const struct roof_workload *workload,
                              const struct roof_hardware *hardware, struct roof_error *error)
{
    out->workload = *workload;
    TRY(roof_resolve(&out->workload, error));
    return predict_resolved(out, hardware, true, error);
}

enum roof_status roof_predict_sizes(struct roof_prediction *prediction,
                                    const struct roof_shape *shape, struct roof_error *error)
{
    prediction->workload.shape = *shape;
    TRY(roof_sizes_resolve(&prediction->workload, error));
    return predict_resolved(prediction, prediction->hardware, true, error);
}

enum roof_status roof_predict_formatted(struct roof_prediction *out,
                                        const struct roof_workload *workload,
                                        const struct roof_hardware *hardware,
                                        struct roof_error *error)
{
    out->workload = *workload;
    TRY(roof_sizes_resolve(&out->workload, error));
    return predict_resolved(out, hardware, true, error);
}

enum roof_status roof_predict_bound(struct roof_prediction *out,
                                    const struct roof_workload *workload,
                                    const struct roof_hardware *hardware, struct roof_error *error)
{
    out->workload = *workload;
    TRY(roof_sizes_resolve(&out->workload, error));
    return predict_resolved(out, hardware, false, error);
}

double roof_least_time(const struct roof_prediction *prediction)
{
    const struct roof_workload *const asked = &prediction->workload;
    if (!roof_operator_has(asked->op, ROOF_DIM_ROUTING) ||
        asked->shape.routing == ROOF_ROUTING_FEWEST) {
        return ROOF_UNKNOWN;
    }
    struct roof_prediction least;
    struct roof_workload workload = *asked;
    workload.shape.routing = ROOF_ROUTING_FEWEST;
    return roof_predict_bound(&least, &workload, prediction->hardware, NULL) == ROOF_OK
               ? least.time_s
               : ROOF_UNKNOWN;
}

double roof_sequence_state_bytes(const struct roof_prediction *prediction)
{
    const struct roof_workload *const w = &prediction->workload;
    const double moved = prediction->role_bytes[ROOF_ROLE_KV]; /* read and written */
    return roof_operator_row(w->op)->stateful ? moved / (2 * (double)w->shape.batch) : ROOF_UNKNOWN;
}

/* Adds what is expected of a part in each of some stacks; share is that of each bottleneck. */
static void add_expected(struct roof_expected_sum *sum, double (*share)[ROOF_BOTTLENECK_COUNT],
                         const struct roof_prediction *bound, int number,
                         const struct roof_workload *workload, const struct roof_stacks *stacks)
{
    const struct roof_part *const part = &bound->part[number];
    struct roof_expected expected[ROOF_STACK_COUNT];
    roof_kernel_expect_in(expected, stacks, workload, bound->hardware, &part->work,
                          rate_of(bound, part), part->time_s);
    for (size_t i = 0; i < stacks->count; i++) {
        const struct roof_expected *const e = &expected[i];
        sum[i].time_s += e->time_s;
        sum[i].low_s += e->low_s;
        sum[i].high_s += e->high_s;
        sum[i].near = sum[i].near || e->near;
        share[i][roof_kernel_limit_bottleneck(e->limit)] += e->time_s;
    }
}

void roof_expect_in(struct roof_expected_sum out[ROOF_STACK_COUNT],
                    const struct roof_prediction *bound, const struct roof_stacks *stacks)
{
    struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
    double share[ROOF_STACK_COUNT][ROOF_BOTTLENECK_COUNT] = {{0}};
    const bool composite = roof_operator_row(bound->workload.op)->part_count > 0;
    for (size_t i = 0; i < stacks->count; i++) {
        out[i] = (struct roof_expected_sum){0};
    }
    if (composite) {
        (void)roof_workload_parts(parts, &bound->workload);
    }
    for (int i = 0; i < bound->part_count; i++) {
        add_expected(out, share, bound, i, composite ? &parts[i] : &bound->workload, stacks);
    }
    for (size_t i = 0; i < stacks->count; i++) {
        static const double none[ROOF_BOTTLENECK_COUNT];
        const bool known = !isnan(out[i].time_s);
        out[i].bottleneck = roof_largest_share(known ? share[i] : none);
        out[i].low_s = known ? out[i].low_s : ROOF_UNKNOWN;
        out[i].high_s = known ? out[i].high_s : ROOF_UNKNOWN;
    }
}

void roof_predict_measured(struct roof_prediction *prediction, double measured_s)
{
    prediction->measured_s = measured_s;
    prediction->achieved_flops_per_s = prediction->flops / measured_s;
    prediction->achieved_bytes_per_s = prediction->bytes / measured_s;
    prediction->fraction_of_bound = prediction->time_s / measured_s;
}
