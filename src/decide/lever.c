// SPDX-License-Identifier: MIT
#include "decide/lever.h"

#include <math.h>

#include "base/base.h"
#include "predict/predict_sizes.h"
#include "predict/tile.h"

/* Advice that is being made. */
struct adviser {
    struct roof_advice *out;
    const struct roof_prediction *base;
    struct roof_accuracy accuracy;
};

enum roof_precision roof_lever_format(size_t i)
{
    static const enum roof_precision formats[] = {
        ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_INT8,  ROOF_PRECISION_INT4_G128,
        ROOF_PRECISION_MXFP4,    ROOF_PRECISION_NVFP4,
    };
    return i < COUNT(formats) ? formats[i] : ROOF_PRECISION_AUTO;
}

bool roof_lever_format_runs(const struct roof_hardware *hardware, enum roof_precision format)
{
    return hardware->compute[format].native || roof_precision_weight_only(format);
}

double roof_lever_best(double gain, double expected_gain)
{
    return isnan(expected_gain) ? gain : expected_gain;
}

bool roof_lever_precedes(double gain, double expected_gain, double other_gain,
                         double other_expected_gain)
{
    return isnan(expected_gain) != isnan(other_expected_gain)
               ? !isnan(expected_gain)
               : roof_lever_best(gain, expected_gain) >
                     roof_lever_best(other_gain, other_expected_gain);
}

static void add(struct adviser *a, const struct roof_lever *lever)
{
    if (a->out->count < ROOF_LEVERS_MAX) {
        a->out->lever[a->out->count++] = *lever;
    }
}

/* Adds a prediction with a change, which does `work` times the work of the base. */
static void add_changed(struct adviser *a, struct roof_lever lever, const struct roof_prediction *p,
                        double work)
{
    lever.op = p->workload.op;
    lever.formats = p->workload.formats;
    lever.time_s = p->time_s;
    lever.expected_s = p->expected_s;
    lever.gain = work * (a->base->time_s / p->time_s);
    lever.expected_gain = work * (a->base->expected_s / p->expected_s);
    add(a, &lever);
}

/* Predicts the base with another workload; one that is not possible is left out. */
static bool predict(struct roof_prediction *out, const struct adviser *a,
                    const struct roof_workload *w)
{
    return roof_predict(out, w, a->base->hardware, NULL) == ROOF_OK;
}

/* Tells if a product reads weights that do not change. */
static bool has_weights(const struct roof_prediction *p)
{
    return roof_is_product(p->workload.op) && p->role_bytes[ROOF_ROLE_WEIGHTS] > 0;
}

/* Tries narrower weights that the device multiplies, or only stores; other formats stay. */
static void try_formats(struct adviser *a)
{
    const struct roof_formats *const now = &a->base->workload.formats;
    struct roof_prediction p;
    for (size_t i = 0; has_weights(a->base) && roof_lever_format(i) != ROOF_PRECISION_AUTO; i++) {
        const enum roof_precision format = roof_lever_format(i);
        struct roof_workload w = a->base->workload;
        w.formats = (struct roof_formats)ROOF_FORMATS_AUTO;
        w.formats.precision = format;
        w.formats.out = now->out;
        w.formats.kv = now->kv;
        if (roof_precision_bits(format) < roof_precision_bits(now->weights) &&
            roof_lever_format_runs(a->base->hardware, format) && predict(&p, a, &w)) {
            add_changed(a,
                        (struct roof_lever){.kind = ROOF_LEVER_FORMATS,
                                            .loss = a->accuracy.of[format].loss},
                        &p, 1);
        }
    }
}

static void try_kv_format(struct adviser *a)
{
    const struct roof_operator_row *const row = roof_operator_row(a->base->workload.op);
    struct roof_workload w = a->base->workload;
    struct roof_prediction p;
    w.formats.kv = ROOF_PRECISION_FP8_E4M3;
    if (row->other == ROOF_ROLE_KV && !row->stateful && roof_is_product(w.op) &&
        roof_precision_bits(w.formats.kv) < roof_precision_bits(a->base->workload.formats.kv) &&
        predict(&p, a, &w)) {
        add_changed(a, (struct roof_lever){.kind = ROOF_LEVER_KV_FORMAT}, &p, 1);
    }
}

static void try_sparse(struct adviser *a)
{
    struct roof_workload w = a->base->workload;
    struct roof_prediction p;
    w.sparse = 1;
    if (a->base->workload.sparse == 0 && has_weights(a->base) && predict(&p, a, &w)) {
        add_changed(a, (struct roof_lever){.kind = ROOF_LEVER_SPARSE}, &p, 1);
    }
}

#define ROWS_MAX (1 << 20)

/* Finds the fewest rows from which on the bound is compute: the bytes of the weights are shared by
 * all rows, so that intensity never falls. 0: there are none. */
static int64_t compute_bound_rows(const struct roof_prediction *base, struct roof_workload *w,
                                  const struct roof_input *along)
{
    struct roof_prediction p;
    int64_t no = roof_input_get(w, along);
    int64_t yes = no;
    bool found = false;
    while (!found && yes < ROWS_MAX) {
        yes *= 2;
        roof_input_put(w, along, yes);
        if (roof_predict_bound(&p, w, base->hardware, NULL) != ROOF_OK) {
            return 0;
        }
        found = p.bottleneck == ROOF_BOTTLENECK_COMPUTE;
        no = found ? no : yes;
    }
    while (found && yes - no > 1) {
        const int64_t middle = no + (yes - no) / 2;
        roof_input_put(w, along, middle);
        if (roof_predict_bound(&p, w, base->hardware, NULL) != ROOF_OK) {
            return 0;
        }
        *(p.bottleneck == ROOF_BOTTLENECK_COMPUTE ? &yes : &no) = middle;
    }
    return found ? yes : 0;
}

/* Tries as many rows as turn a product with weights compute-bound. */
static void try_rows(struct adviser *a)
{
    struct roof_workload w = a->base->workload;
    struct roof_prediction p;
    if (w.op == ROOF_OPERATOR_GEMV) {
        w.op = ROOF_OPERATOR_GEMM;
        w.shape.m = 1;
    }
    const enum roof_dimension along =
        roof_operator_has(w.op, ROOF_DIM_M) ? ROOF_DIM_M : ROOF_DIM_TOKENS;
    if (!has_weights(a->base) || !roof_operator_has(w.op, along) ||
        a->base->bottleneck != ROOF_BOTTLENECK_MEMORY) {
        return;
    }
    const int64_t rows = compute_bound_rows(a->base, &w, &roof_dimensions[along]);
    roof_input_put(&w, &roof_dimensions[along], rows);
    if (rows > 0 && predict(&p, a, &w)) {
        add_changed(a, (struct roof_lever){.kind = ROOF_LEVER_ROWS, .along = along, .size = rows},
                    &p, p.flops / a->base->flops);
    }
}

/* Tries one operator that does the work of this one and of its neighbours, at the same sizes. */
static void try_fused(struct adviser *a, enum roof_operator fused)
{
    const struct roof_operator_row *const row = roof_operator_row(fused);
    struct roof_workload w = a->base->workload;
    struct roof_prediction p;
    struct roof_prediction apart;
    bool takes = false;
    for (int i = 0; i < row->fuse_count; i++) {
        takes = takes || row->fuses[i] == w.op;
    }
    w.op = fused;
    if (row->quantizes) {
        w.formats.out = ROOF_PRECISION_AUTO;
    }
    if (!takes || !predict(&p, a, &w) || roof_predict_apart(&apart, &p, NULL) != ROOF_OK) {
        return;
    }
    const struct roof_lever lever = {.kind = ROOF_LEVER_FUSE,
                                     .op = fused,
                                     .formats = p.workload.formats,
                                     .time_s = p.time_s,
                                     .expected_s = p.expected_s,
                                     .gain = apart.time_s / p.time_s,
                                     .expected_gain = apart.expected_s / p.expected_s};
    add(a, &lever);
}

/* Tries flash attention in place of attention that stores its scores. */
static void try_flash(struct adviser *a)
{
    struct roof_workload w = a->base->workload;
    struct roof_prediction p;
    w.op = ROOF_OPERATOR_FLASH_ATTENTION;
    if (a->base->workload.op == ROOF_OPERATOR_ATTENTION && predict(&p, a, &w)) {
        add_changed(a, (struct roof_lever){.kind = ROOF_LEVER_FUSE}, &p, 1);
    }
}

/* Adds the best other number of parts of K. By default the estimate uses the fastest, so if that
 * splits K, the lever shows the saving of the split. */
static void try_split_k(struct adviser *a)
{
    static const int64_t splits[] = {1, 2, 4, 8, 16, 32};
    const struct roof_prediction *const base = a->base;
    const struct roof_expected *const e = &base->part[0].expected;
    struct roof_workload w = base->workload;
    struct roof_prediction p;
    struct roof_prediction best = {.expected_s = ROOF_UNKNOWN};
    if (base->part_count > 1 || isnan(base->expected_s) || !e->tiled) {
        return;
    }
    const bool undo = w.split_k == 0 && e->tiling.split_k > 1;
    for (size_t i = 0; i < (undo ? 1 : COUNT(splits)); i++) {
        w.split_k = splits[i];
        if (splits[i] != e->tiling.split_k && predict(&p, a, &w) &&
            !(p.expected_s >= best.expected_s)) {
            best = p;
        }
    }
    if (!isnan(best.expected_s)) {
        add_changed(a,
                    (struct roof_lever){.kind = ROOF_LEVER_SPLIT_K,
                                        .size = best.workload.split_k,
                                        .was = e->tiling.split_k},
                    &best, 1);
    }
}

/* Returns the longer of the expected time of a product and its least time with a tile of these
 * sizes. */
static double tiled_s(const struct roof_prediction *p, const struct roof_tile *tile)
{
    const struct roof_sizes sizes = {{tile->m, tile->n, tile->k}};
    const struct roof_tile_choice choice = {.tile = roof_sizes_pack(&sizes)};
    struct roof_tile own;
    return roof_tile_predict(&own, p, &choice, NULL) == ROOF_OK && own.total_s > p->expected_s
               ? own.total_s
               : p->expected_s;
}

/* Pads K and N so that all rows begin at multiples of 16 bytes. The estimate does not include the
 * cost of misaligned rows, so both products take at least the time of the same tile. */
static void try_padded(struct adviser *a)
{
    const struct roof_prediction *const base = a->base;
    struct roof_misaligned misaligned;
    struct roof_workload w = base->workload;
    struct roof_prediction p;
    if (!roof_tile_misaligned(&misaligned, base)) {
        return;
    }
    roof_tile_pad(&w);
    if (!predict(&p, a, &w)) {
        return;
    }
    const size_t before = a->out->count;
    const int64_t k = w.shape.k == base->workload.shape.k ? 0 : w.shape.k;
    const int64_t n = w.shape.n == base->workload.shape.n ? 0 : w.shape.n;
    add_changed(a,
                (struct roof_lever){.kind = ROOF_LEVER_PAD,
                                    .padded_k = k,
                                    .padded_n = n,
                                    .more_flops = p.flops / base->flops - 1,
                                    .more_bytes = p.bytes / base->bytes - 1},
                &p, 1);
    if (misaligned.bounded && a->out->count > before) {
        a->out->lever[before].expected_gain =
            tiled_s(base, &misaligned.tile) / tiled_s(&p, &misaligned.tile);
    }
}

/* Adds the gain of better kernels, if real ones were measured. */
static void try_kernels(struct adviser *a)
{
    const struct roof_prediction *const base = a->base;
    struct roof_workload w = base->workload;
    struct roof_prediction p;
    if (isnan(base->expected_s)) {
        return;
    }
    w.no_launch_overhead = 1;
    if (base->workload.no_launch_overhead == 0 && predict(&p, a, &w)) {
        add_changed(a, (struct roof_lever){.kind = ROOF_LEVER_LAUNCH}, &p, 1);
    }
    p = *base;
    p.expected_s = base->time_s;
    add_changed(a, (struct roof_lever){.kind = ROOF_LEVER_KERNEL}, &p, 1);
}

/* Tries devices that have twice as much of something. */
static void try_devices(struct adviser *a)
{
    static const enum roof_lever_kind kinds[ROOF_RAISED_COUNT] = {
        [ROOF_RAISED_BANDWIDTH] = ROOF_LEVER_BANDWIDTH,
        [ROOF_RAISED_PEAKS] = ROOF_LEVER_PEAKS,
        [ROOF_RAISED_LINKS] = ROOF_LEVER_LINKS};
    struct roof_hardware raised;
    struct roof_prediction p;
    for (int i = 0; i < ROOF_RAISED_COUNT; i++) {
        const bool idle = (i == ROOF_RAISED_PEAKS && a->base->flops == 0) ||
                          (i == ROOF_RAISED_LINKS && isnan(a->base->network_time_s));
        roof_hardware_raise(&raised, a->base->hardware, (enum roof_raised)i, 2);
        if (!idle && roof_predict(&p, &a->base->workload, &raised, NULL) == ROOF_OK) {
            add_changed(a, (struct roof_lever){.kind = kinds[i]}, &p, 1);
        }
    }
}

/* Sorts the levers; those of equal gain keep their order. */
static void sort(struct roof_advice *advice)
{
    for (size_t i = 1; i < advice->count; i++) {
        const struct roof_lever moved = advice->lever[i];
        size_t at = i;
        while (at > 0 &&
               roof_lever_precedes(moved.gain, moved.expected_gain, advice->lever[at - 1].gain,
                                   advice->lever[at - 1].expected_gain)) {
            advice->lever[at] = advice->lever[at - 1];
            at--;
        }
        advice->lever[at] = moved;
    }
}

enum roof_status roof_advise(struct roof_advice *out, const struct roof_prediction *base,
                             struct roof_error *error)
{
    struct adviser a = {.out = out, .base = base};
    *out = (struct roof_advice){.count = 0};
    TRY(roof_accuracy_load(&a.accuracy, error));
    try_formats(&a);
    try_kv_format(&a);
    try_sparse(&a);
    try_rows(&a);
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        try_fused(&a, (enum roof_operator)op);
    }
    try_flash(&a);
    try_split_k(&a);
    try_padded(&a);
    try_kernels(&a);
    try_devices(&a);
    roof_accuracy_free(&a.accuracy);
    sort(out);
    return ROOF_OK;
}
