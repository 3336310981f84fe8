// SPDX-License-Identifier: MIT
#include "roofline/predict.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "operator/operator.h"
#include "predict/predict.h"

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

enum roof_peak_table roof_part_peaks(const struct roof_part *part)
{
    return part->unit == ROOF_COMPUTE_VECTOR ? ROOF_PEAK_VECTOR
           : part->sparse                    ? ROOF_PEAK_SPARSE
                                             : ROOF_PEAK_MATRIX;
}

/* What a part runs at: the same for all of its shapes. */
struct limits {
    struct roof_compute compute;
    enum roof_precision wanted;
    bool matrix;
    bool collective;
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
                         .collective = row->kind == ROOF_KIND_COLLECTIVE,
                         .bandwidth = hardware->figure[ROOF_FIGURE_BANDWIDTH].value};
    if (out.matrix) {
        const enum roof_precision other = row->other == ROOF_ROLE_KV ? f->kv : f->weights;
        out.wanted = f->compute != ROOF_PRECISION_AUTO
                         ? f->compute
                         : roof_precision_product(other, f->activations);
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
    /* Where there is no sparse peak, pruned weights run at the dense one. */
    out.sparse = part->sparse > 0 && !isnan(out.compute.sparse_flops_per_s);
    out.peak = out.sparse ? out.compute.sparse_flops_per_s : out.compute.peak_flops_per_s;
    return out;
}

/* --- the bound: of one point, and of lanes of them ---------------------------------------- */

static_assert(ROOF_ROLE_COUNT == 4, "roles are added one by one: no loop inside that over lanes");
static inline double sum_of_roles(const double *bytes, size_t stride)
{
    return bytes[0] + bytes[stride] + bytes[2 * stride] + bytes[3 * stride];
}

/* No FLOPs take no time, even at an unknown peak. */
static inline double compute_time(double flops, double peak)
{
    return flops > 0 ? flops / peak : 0;
}

/* A group of one sends nothing, over any link; NAN: not a collective. */
static inline double network_time(double bytes, double steps, double rate, double latency)
{
    return bytes > 0 ? bytes / rate + steps * latency : bytes;
}

/* Comparisons with NAN are false. */
static inline double bound_of(double memory, double compute, double network)
{
    const double two = compute > memory ? compute : memory;
    return network > two ? network : two;
}

/* Equality of memory and compute counts as compute. */
static inline enum roof_bottleneck bottleneck_of(double memory, double compute, double network)
{
    return network > bound_of(memory, compute, ROOF_UNKNOWN) ? ROOF_BOTTLENECK_NETWORK
           : compute >= memory                               ? ROOF_BOTTLENECK_COMPUTE
                                                             : ROOF_BOTTLENECK_MEMORY;
}

/* The first of those that have the most. */
static inline enum roof_bottleneck largest(const double share[ROOF_BOTTLENECK_COUNT])
{
    int most = 0;
    for (int b = 1; b < ROOF_BOTTLENECK_COUNT; b++) {
        most = share[b] > share[most] ? b : most;
    }
    return (enum roof_bottleneck)most;
}

/* Where the peak is not known, the time is only that of the memory; and what computes at its peak
 * does so exactly, not by way of the time. peak: of an operator of one part, else NAN. */
static inline double attainable_of(double flops, double time, double compute, double peak,
                                   enum roof_bottleneck bottleneck)
{
    const bool at_peak = bottleneck == ROOF_BOTTLENECK_COMPUTE && !isnan(peak);
    return isnan(compute) ? ROOF_UNKNOWN : at_peak ? peak : flops / time;
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
        const enum roof_status status =
            roof_hardware_link(&whole->link, hardware, (double)part->shape.within, error);
        if (status != ROOF_OK) {
            return status;
        }
    }
    out->bytes = sum_of_roles(out->work.bytes, 1);
    out->intensity = out->work.flops / out->bytes;
    out->ridge = limits.peak / limits.bandwidth;
    out->memory_time_s = out->bytes / limits.bandwidth;
    out->compute_time_s = compute_time(out->work.flops, limits.peak);
    out->network_time_s = network_time(out->work.network_bytes, out->work.network_steps,
                                       whole->link.bytes_per_s, whole->link.latency_s);
    out->time_s = bound_of(out->memory_time_s, out->compute_time_s, out->network_time_s);
    out->bottleneck = bottleneck_of(out->memory_time_s, out->compute_time_s, out->network_time_s);
    roof_kernel_expect(&out->expected, part, hardware, &out->work,
                       limits.collective ? whole->link.bytes_per_s : limits.peak, out->time_s);

    if (limits.matrix || whole->part_count == 1) {
        whole->compute = limits.compute.precision;
        whole->wanted = limits.wanted;
        whole->unit = limits.compute.unit;
        whole->sparse = limits.sparse;
        whole->peak_flops_per_s = limits.peak;
    }
    whole->native = whole->native && (limits.compute.native || out->work.flops == 0);
    whole->flops += out->work.flops;
    whole->bytes += out->bytes;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        whole->role_bytes[role] += out->work.bytes[role];
    }
    whole->memory_time_s += out->memory_time_s;
    whole->compute_time_s += out->compute_time_s;
    whole->time_s += out->time_s;
    whole->expected_s += out->expected.time_s;
    whole->expected_low_s += out->expected.low_s;
    whole->expected_high_s += out->expected.high_s;
    whole->expected_near = whole->expected_near || out->expected.near;
    return ROOF_OK;
}

/* What bounds an expected time, in the terms of the roofline. */
static enum roof_bottleneck expected_bottleneck(const struct roof_expected *expected)
{
    static const enum roof_bottleneck of[ROOF_KERNEL_LIMIT_COUNT] = {
        [ROOF_KERNEL_LIMIT_LAUNCH] = ROOF_BOTTLENECK_OVERHEAD,
        [ROOF_KERNEL_LIMIT_MEMORY] = ROOF_BOTTLENECK_MEMORY,
        [ROOF_KERNEL_LIMIT_COMPUTE] = ROOF_BOTTLENECK_COMPUTE,
        [ROOF_KERNEL_LIMIT_OPERANDS] = ROOF_BOTTLENECK_MEMORY,
        [ROOF_KERNEL_LIMIT_LATENCY] = ROOF_BOTTLENECK_OVERHEAD,
        [ROOF_KERNEL_LIMIT_QUANTIZE] = ROOF_BOTTLENECK_MEMORY,
        [ROOF_KERNEL_LIMIT_NETWORK] = ROOF_BOTTLENECK_NETWORK,
    };
    return of[expected->bound];
}

/* All but the workload and the parts, which are some hundred bytes and written anyway. */
static void begin(struct roof_prediction *out, const struct roof_hardware *hardware)
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

/* What follows from the sums over the parts. */
static void finish(struct roof_prediction *p)
{
    double share[ROOF_BOTTLENECK_COUNT] = {0};
    double expected[ROOF_BOTTLENECK_COUNT] = {0};
    for (int i = 0; i < p->part_count; i++) {
        share[p->part[i].bottleneck] += p->part[i].time_s;
        if (!isnan(p->expected_s)) {
            expected[expected_bottleneck(&p->part[i].expected)] += p->part[i].expected.time_s;
        }
    }
    p->bottleneck = largest(share);
    p->expected_bottleneck = largest(expected);
    if (isnan(p->expected_s)) {
        p->expected_low_s = p->expected_high_s = ROOF_UNKNOWN;
    }
    p->network_bytes = p->part[0].work.network_bytes; /* collectives have one part */
    p->network_time_s = p->part[0].network_time_s;
    p->intensity = p->flops / p->bytes;
    if (p->part_count == 1) {
        p->ridge = p->part[0].ridge;
    } else {
        p->peak_flops_per_s = ROOF_UNKNOWN; /* parts run at different peaks */
    }
    p->attainable_flops_per_s =
        attainable_of(p->flops, p->time_s, p->compute_time_s, p->peak_flops_per_s, p->bottleneck);
    p->fraction_of_peak = p->attainable_flops_per_s / p->peak_flops_per_s;
}

/* All of a prediction whose workload is there, resolved. */
static enum roof_status predict_resolved(struct roof_prediction *out,
                                         const struct roof_hardware *hardware,
                                         struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    begin(out, hardware);
    if (roof_operator_row(out->workload.op)->part_count == 0) {
        out->part_count = 1;
        status = predict_part(out, 0, &out->workload, error);
    } else {
        struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
        out->part_count = roof_workload_parts(parts, &out->workload);
        for (int i = 0; i < out->part_count && status == ROOF_OK; i++) {
            status = predict_part(out, i, &parts[i], error);
        }
    }
    if (status == ROOF_OK) {
        finish(out);
    }
    return status;
}

enum roof_status roof_predict(struct roof_prediction *out, const struct roof_workload *workload,
                              const struct roof_hardware *hardware, struct roof_error *error)
{
    out->workload = *workload;
    const enum roof_status status = roof_resolve(&out->workload, error);
    return status == ROOF_OK ? predict_resolved(out, hardware, error) : status;
}

enum roof_status roof_predict_sizes(struct roof_prediction *prediction,
                                    const struct roof_shape *shape, struct roof_error *error)
{
    prediction->workload.shape = *shape;
    const enum roof_status status = roof_sizes_resolve(&prediction->workload, error);
    return status == ROOF_OK ? predict_resolved(prediction, prediction->hardware, error) : status;
}

/* --- many points ----------------------------------------------------------------------------- */

/* A part in all lanes. */
struct part_lanes {
    struct roof_workload workload; /* its sizes are those of the point in hand */
    struct limits limits;
    struct roof_work_lanes work;
    double bytes[ROOF_LANES];
    double memory_s[ROOF_LANES];
    double compute_s[ROOF_LANES];
    double network_s[ROOF_LANES];
    double time_s[ROOF_LANES];
    double rate[ROOF_LANES]; /* what kernels run at: the peak, or a link */
};

struct whole_lanes {
    double flops[ROOF_LANES];
    double bytes[ROOF_LANES];
    double intensity[ROOF_LANES];
    double memory_s[ROOF_LANES];
    double compute_s[ROOF_LANES];
    double network_s[ROOF_LANES];
    double time_s[ROOF_LANES];
    double attainable[ROOF_LANES];
    double expected_s[ROOF_LANES];
    double low_s[ROOF_LANES];
    double high_s[ROOF_LANES];
};

struct block {
    const struct roof_batch *batch;
    struct {
        int64_t *size; /* in point */
        const int64_t *column;
        int64_t common;
    } own[ROOF_OPERATOR_DIMS_MAX];
    int owns;
    struct roof_workload point;
    size_t first;
    size_t count;
    int part_count;
    struct roof_lanes lanes;
    struct part_lanes part[ROOF_OPERATOR_PARTS_MAX];
    struct whole_lanes whole;
    unsigned char bottleneck[ROOF_LANES];
};

/* The sizes of point number i, with their defaults. */
static enum roof_status put_point(struct block *b, size_t i, struct roof_error *error)
{
    for (int k = 0; k < b->owns; k++) {
        *b->own[k].size = b->own[k].column != NULL ? b->own[k].column[i] : b->own[k].common;
    }
    return roof_sizes_resolve(&b->point, error);
}

/* Loads a block up to its end or to a point that is not valid. Lanes behind it keep what they had:
 * nobody reads their results. */
static enum roof_status load_lanes(struct block *b, struct roof_error *error)
{
    const size_t left = b->batch->count - b->first;
    const size_t wanted = left < ROOF_LANES ? left : ROOF_LANES;
    for (b->count = 0; b->count < wanted; b->count++) {
        const enum roof_status status = put_point(b, b->first + b->count, error);
        if (status != ROOF_OK) {
            return status;
        }
        roof_lanes_put(&b->lanes, b->count, &b->point);
    }
    return ROOF_OK;
}

/* Times on the links; a link that is unknown ends the block there. */
static enum roof_status link_lanes(struct block *b, struct part_lanes *p, struct roof_error *error)
{
    for (size_t i = 0; i < b->count; i++) {
        struct roof_link link = {.bytes_per_s = ROOF_UNKNOWN};
        if (p->work.network_bytes[i] > 0) {
            const enum roof_status status = roof_hardware_link(
                &link, b->batch->hardware, b->lanes.dim[ROOF_DIM_WITHIN][i], error);
            if (status != ROOF_OK) {
                b->count = i;
                return status;
            }
        }
        p->network_s[i] = network_time(p->work.network_bytes[i], p->work.network_steps[i],
                                       link.bytes_per_s, link.latency_s);
        p->rate[i] = link.bytes_per_s;
    }
    return ROOF_OK;
}

static void bound_lanes(struct part_lanes *restrict p)
{
    const double bandwidth = p->limits.bandwidth;
    const double peak = p->limits.peak;
    for (size_t i = 0; i < ROOF_LANES; i++) {
        p->bytes[i] = sum_of_roles(&p->work.bytes[0][i], ROOF_LANES);
        p->memory_s[i] = p->bytes[i] / bandwidth;
        p->compute_s[i] = compute_time(p->work.flops[i], peak);
        p->time_s[i] = bound_of(p->memory_s[i], p->compute_s[i], p->network_s[i]);
    }
}

static void add_lanes(struct whole_lanes *restrict w, const struct part_lanes *restrict p)
{
    for (size_t i = 0; i < ROOF_LANES; i++) {
        w->flops[i] += p->work.flops[i];
        w->bytes[i] += p->bytes[i];
        w->memory_s[i] += p->memory_s[i];
        w->compute_s[i] += p->compute_s[i];
        w->time_s[i] += p->time_s[i];
        w->network_s[i] = p->network_s[i]; /* collectives have one part */
        w->intensity[i] = w->flops[i] / w->bytes[i];
    }
}

/* What follows from the sums, as in finish(). */
static void finish_lanes(struct block *b)
{
    const double peak = b->part_count == 1 ? b->part[0].limits.peak : ROOF_UNKNOWN;
    struct whole_lanes *const w = &b->whole;
    for (size_t i = 0; i < b->count; i++) {
        double share[ROOF_BOTTLENECK_COUNT] = {0};
        for (int k = 0; k < b->part_count; k++) {
            const struct part_lanes *const p = &b->part[k];
            share[bottleneck_of(p->memory_s[i], p->compute_s[i], p->network_s[i])] += p->time_s[i];
        }
        const enum roof_bottleneck bottleneck = largest(share);
        b->bottleneck[i] = (unsigned char)bottleneck;
        w->attainable[i] =
            attainable_of(w->flops[i], w->time_s[i], w->compute_s[i], peak, bottleneck);
    }
}

static void expect_lanes(struct block *b)
{
    struct whole_lanes *const w = &b->whole;
    for (size_t i = 0; i < b->count; i++) {
        (void)put_point(b, b->first + i, NULL); /* it was valid before */
        for (int k = 0; k < b->part_count; k++) {
            struct part_lanes *const p = &b->part[k];
            struct roof_expected expected;
            struct roof_work work = {.flops = p->work.flops[i],
                                     .network_bytes = p->work.network_bytes[i],
                                     .network_steps = p->work.network_steps[i]};
            for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
                work.bytes[role] = p->work.bytes[role][i];
            }
            p->workload.shape = b->point.shape;
            roof_kernel_expect(&expected, &p->workload, b->batch->hardware, &work, p->rate[i],
                               p->time_s[i]);
            w->expected_s[i] += expected.time_s;
            w->low_s[i] += expected.low_s;
            w->high_s[i] += expected.high_s;
        }
        if (isnan(w->expected_s[i])) {
            w->low_s[i] = w->high_s[i] = ROOF_UNKNOWN;
        }
    }
}

static void store_lanes(const struct roof_batch_results *out, const struct block *b)
{
    const struct {
        double *column;
        const double *lanes;
    } columns[] = {{out->flops, b->whole.flops},
                   {out->bytes, b->whole.bytes},
                   {out->intensity, b->whole.intensity},
                   {out->memory_time_s, b->whole.memory_s},
                   {out->compute_time_s, b->whole.compute_s},
                   {out->network_time_s, b->whole.network_s},
                   {out->time_s, b->whole.time_s},
                   {out->attainable_flops_per_s, b->whole.attainable},
                   {out->expected_s, b->whole.expected_s},
                   {out->expected_low_s, b->whole.low_s},
                   {out->expected_high_s, b->whole.high_s}};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        if (columns[c].column != NULL) {
            memcpy(columns[c].column + b->first, columns[c].lanes,
                   b->count * sizeof *columns[c].lanes);
        }
    }
    if (out->bottleneck != NULL) {
        memcpy(out->bottleneck + b->first, b->bottleneck, b->count);
    }
}

/* All parts of the points from b->first on; b->count says how many were possible. */
static enum roof_status run_block(const struct roof_batch_results *out, struct block *b,
                                  struct roof_error *error)
{
    enum roof_status status = load_lanes(b, error);
    memset(&b->whole, 0, sizeof b->whole);
    for (int k = 0; k < b->part_count; k++) {
        struct part_lanes *const p = &b->part[k];
        roof_lanes_work(&p->work, &p->workload, &b->lanes);
        if (p->limits.collective) {
            const enum roof_status linked = link_lanes(b, p, error);
            status = linked == ROOF_OK ? status : linked;
        }
        bound_lanes(p);
        add_lanes(&b->whole, p);
    }
    if (out->bottleneck != NULL || out->attainable_flops_per_s != NULL) {
        finish_lanes(b);
    }
    if (out->expected_s != NULL || out->expected_low_s != NULL || out->expected_high_s != NULL) {
        expect_lanes(b);
    }
    store_lanes(out, b);
    return status;
}

/* What all points share; the first is resolved for its formats. */
static enum roof_status begin_batch(struct block *b, struct roof_error *error)
{
    struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX];
    enum roof_status status = ROOF_OK;
    b->point = b->batch->common;
    for (int d = 0; d < ROOF_DIM_COUNT && status == ROOF_OK; d++) {
        const struct roof_input *const input = &roof_dimensions[d];
        const int64_t *const column = b->batch->dimension[d];
        if (column != NULL) {
            status = roof_operator_takes(b->point.op, (enum roof_dimension)d, error);
            roof_input_put(&b->point, input, column[0]);
        }
    }
    if (status == ROOF_OK) {
        status = roof_resolve(&b->point, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    const struct roof_operator_row *const row = roof_operator_row(b->point.op);
    for (b->owns = 0; b->owns < row->dim_count; b->owns++) {
        const enum roof_dimension d = row->dims[b->owns];
        const struct roof_input *const input = &roof_dimensions[d];
        b->own[b->owns].size = (int64_t *)(void *)((char *)&b->point + input->offset);
        b->own[b->owns].column = b->batch->dimension[d];
        b->own[b->owns].common = roof_input_get(&b->batch->common, input);
    }
    b->part_count = roof_workload_parts(parts, &b->point);
    for (int k = 0; k < b->part_count; k++) {
        struct part_lanes *const p = &b->part[k];
        p->workload = parts[k];
        p->limits = limits_of(&parts[k], b->batch->hardware);
        for (size_t i = 0; i < ROOF_LANES; i++) {
            p->network_s[i] = ROOF_UNKNOWN;
            p->rate[i] = p->limits.peak;
        }
    }
    return ROOF_OK;
}

enum roof_status roof_predict_batch(const struct roof_batch_results *out, size_t *predicted,
                                    const struct roof_batch *batch, struct roof_error *error)
{
    struct block b; /* large, and mostly written before it is read */
    b.batch = batch;
    b.first = 0;
    memset(&b.lanes, 0, sizeof b.lanes);
    *predicted = 0;
    enum roof_status status = batch->count == 0 ? ROOF_OK : begin_batch(&b, error);
    while (status == ROOF_OK && b.first < batch->count) {
        status = run_block(out, &b, error);
        b.first += b.count;
        *predicted = b.first;
    }
    return status;
}

void roof_predict_measured(struct roof_prediction *prediction, double measured_s)
{
    prediction->measured_s = measured_s;
    prediction->achieved_flops_per_s = prediction->flops / measured_s;
    prediction->achieved_bytes_per_s = prediction->bytes / measured_s;
    prediction->fraction_of_bound = prediction->time_s / measured_s;
}
