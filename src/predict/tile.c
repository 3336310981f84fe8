// SPDX-License-Identifier: MIT
/* Analyses tiles. The names and the order of the formulas are those of docs/formulas.md ("Tiles").
 */
#include "predict/tile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "catalog/hardware.h"
#include "predict/power.h"

/* Tensor memory has this many lanes, of columns of 32 bits; a block has at least so many columns.
 */
#define TENSOR_LANES 128
#define TENSOR_COLUMNS_MIN 32
#define WORD_BYTES 4
#define WARP_THREADS 32
#define BLOCK_THREADS_MAX 1024
/* Blocks have whole warpgroups. */
#define WARPGROUP_THREADS 128
#define THREAD_REGISTERS_MAX 255
/* A warp gets registers in units of 256: of 8 for each thread. */
#define REGISTER_UNIT 8
/* A thread has at most so many accumulators, and so many registers beside them. */
#define ACCUMULATORS_MAX 128
#define OTHER_REGISTERS 32
/* Shared memory has 32 banks of 4 bytes, each of which takes a word per clock. */
#define BANK_BYTES 128
#define SECTOR_BITS 256
#define STAGES_DEFAULT 4
#define BYTE_BITS 8
#define LOAD_BITS (BYTE_BITS * ROOF_ALIGNED_BYTES)
/* A line of K that a kernel loads at once, and the unit of the sizes of tiles. */
#define LINE_BITS 1024
#define SIZE_UNIT 8

static const int64_t candidate_m[] = {64, 128, 256};
static const int64_t candidate_n[] = {16, 32, 64, 128, 256};
static const int64_t candidate_k[] = {32, 64, 128};

int64_t roof_tile_candidate(size_t number)
{
    const size_t of_n = COUNT(candidate_k);
    const size_t of_m = of_n * COUNT(candidate_n);
    if (number >= of_m * COUNT(candidate_m)) {
        return 0;
    }
    return roof_sizes_pack(
        &(struct roof_sizes){{candidate_m[number / of_m], candidate_n[number % of_m / of_n],
                              candidate_k[number % of_n]}});
}

const char *roof_tile_resource_name(enum roof_tile_resource resource)
{
    static const char *const names[ROOF_TILE_RESOURCE_COUNT] = {
        [ROOF_TILE_SHARED] = "shared",
        [ROOF_TILE_REGISTERS] = "registers",
        [ROOF_TILE_TENSOR_MEMORY] = "tensor-memory",
        [ROOF_TILE_THREADS] = "threads",
        [ROOF_TILE_BLOCKS] = "blocks",
    };
    return names[resource];
}

const char *roof_tile_order_name(enum roof_tile_order order)
{
    static const char *const names[ROOF_TILE_ORDER_COUNT] = {
        [ROOF_TILE_ALONG_N] = "n", [ROOF_TILE_ALONG_M] = "m", [ROOF_TILE_GROUPED] = "grouped"};
    return names[order];
}

const char *roof_tile_level_name(enum roof_tile_level level)
{
    static const char *const names[ROOF_TILE_LEVEL_COUNT] = {[ROOF_TILE_COMPUTE] = "compute",
                                                             [ROOF_TILE_MEMORY] = "memory",
                                                             [ROOF_TILE_L2] = "l2",
                                                             [ROOF_TILE_SHARED_MEMORY] = "shared"};
    return names[level];
}

/* --- the product --------------------------------------------------------------------------- */

/* One operand or the output: rows of a format, one after the other. */
struct tensor {
    double bytes;      /* of one product, with scales */
    double row_bits;   /* of a row's elements */
    double step_bits;  /* of the part of a row that a thread block takes at once */
    double tile_bytes; /* that a thread block takes in a k step, or writes at its end */
};

/* The task: a product, a tile and a device. */
struct task {
    const struct roof_prediction *p;
    const struct roof_hardware *device;
    double m;
    double n;
    double k;
    double batch;
    struct tensor a; /* activations, m x k */
    struct tensor b; /* weights, n x k: linear layers store them so */
    struct tensor c; /* the output, m x n */
    double rows;     /* of tiles of one product */
    double columns;
    double steps; /* of k */
};

static double figure(const struct task *t, enum roof_figure_id id)
{
    return t->device->figure[id].value;
}

/* Returns the bits that an element takes in memory, without its scales: 32 of tf32. */
static double stored_bits(enum roof_precision precision)
{
    const struct roof_format *const format = roof_format(precision);
    return format->block_elements == 1 ? (double)format->block_bytes * BYTE_BITS
                                       : format->element_bits;
}

static struct tensor tensor_of(const struct task *t, enum roof_role role,
                               enum roof_precision precision, double row, double step, double lines)
{
    const double bits = stored_bits(precision);
    return (struct tensor){.bytes = t->p->role_bytes[role] / t->batch,
                           .row_bits = row * bits,
                           .step_bits = step * bits,
                           .tile_bytes = roof_tensor_bytes(precision, lines * step, 0, 0)};
}

static void open_task(struct task *t, const struct roof_tile *tile, const struct roof_prediction *p)
{
    const struct roof_shape *const shape = &p->workload.shape;
    const struct roof_formats *const formats = &p->workload.formats;
    *t = (struct task){.p = p, .device = p->hardware};
    t->m = p->workload.op == ROOF_OPERATOR_GEMV ? 1 : (double)shape->m;
    t->n = (double)shape->n;
    t->k = (double)shape->k;
    t->batch = p->workload.op == ROOF_OPERATOR_GEMV ? 1 : (double)shape->batch;
    t->a = tensor_of(t, ROOF_ROLE_ACTIVATIONS, formats->activations, t->k, (double)tile->k,
                     (double)tile->m);
    t->b =
        tensor_of(t, ROOF_ROLE_WEIGHTS, formats->weights, t->k, (double)tile->k, (double)tile->n);
    t->c = tensor_of(t, ROOF_ROLE_OUT, formats->out, t->n, (double)tile->n, (double)tile->m);
    t->rows = ceil(t->m / (double)tile->m);
    t->columns = ceil(t->n / (double)tile->n);
    t->steps = ceil(t->k / (double)tile->k);
}

/* --- what may be asked --------------------------------------------------------------------- */

static enum roof_status check_product(const struct roof_prediction *p, struct roof_error *error)
{
    const enum roof_operator op = p->workload.op;
    if (op != ROOF_OPERATOR_GEMM && op != ROOF_OPERATOR_GEMV && op != ROOF_OPERATOR_BMM) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("tile") " works with gemm, gemv and bmm, not with %s",
                              roof_operator_row(op)->name);
    }
    if (p->workload.sparse != 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("tile") " cannot be combined with " ROOF_KEY(
                                  "sparse") ": it analyses dense tiles only");
    }
    return isnan(p->peak_flops_per_s)
               ? roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("tile") " needs the rate of the multiplications: %s has "
                                                 "no peak for %s",
                                p->hardware->id, roof_format(p->compute)->name)
               : ROOF_OK;
}

/* Refuses formats whose rows are no row of elements, or end inside a byte. */
static enum roof_status check_rows(const struct task *t, struct roof_error *error)
{
    const struct roof_formats *const formats = &t->p->workload.formats;
    const struct {
        enum roof_precision precision;
        const struct tensor *tensor;
        const char *dimension;
    } sides[] = {{formats->activations, &t->a, "k"},
                 {formats->weights, &t->b, "k"},
                 {formats->out, &t->c, "n"}};
    for (size_t i = 0; i < COUNT(sides); i++) {
        const struct roof_format *const format = roof_format(sides[i].precision);
        if (format->weight_method != NULL && strcmp(format->weight_method, "gguf") == 0) {
            return roof_error_set(
                error, ROOF_USAGE,
                ROOF_KEY("tile") " cannot analyse %s, whose scales lie between the elements",
                format->name);
        }
        if (fmod(sides[i].tensor->row_bits, BYTE_BITS) != 0) {
            return roof_error_set(
                error, ROOF_USAGE,
                ROOF_KEY("tile") ": a row of %.0f %s elements ends inside a byte; "
                                 "pad %s",
                sides[i].tensor->row_bits / stored_bits(sides[i].precision), format->name,
                sides[i].dimension);
        }
    }
    return ROOF_OK;
}

static enum roof_status check_figures(const struct roof_hardware *device, struct roof_error *error)
{
    static const enum roof_figure_id needed[] = {ROOF_FIGURE_SM_SHARED,    ROOF_FIGURE_BLOCK_SHARED,
                                                 ROOF_FIGURE_SM_REGISTERS, ROOF_FIGURE_SM_THREADS,
                                                 ROOF_FIGURE_SM_BLOCKS,    ROOF_FIGURE_CLUSTER,
                                                 ROOF_FIGURE_SM_COUNT,     ROOF_FIGURE_L2};
    for (size_t i = 0; i < COUNT(needed); i++) {
        if (isnan(device->figure[needed[i]].value)) {
            const char *const key = roof_figure_key(needed[i])->key;
            return roof_error_set(
                error, ROOF_USAGE,
                ROOF_KEY("tile") ": %s of %s is unknown; give it with " ROOF_KEY("set") " %s=VALUE",
                key, device->id, key);
        }
    }
    return ROOF_OK;
}

static enum roof_status read_choice(struct roof_tile *out, const struct roof_tile_choice *asked,
                                    const struct roof_hardware *device, struct roof_error *error)
{
    const struct roof_sizes tile = roof_sizes_unpack(asked->tile);
    const struct roof_sizes cluster = roof_sizes_unpack(asked->cluster);
    const bool clustered = asked->cluster != 0;
    *out = (struct roof_tile){.m = tile.size[0],
                              .n = tile.size[1],
                              .k = tile.size[2],
                              .stages = asked->stages,
                              .cluster_m = clustered ? cluster.size[0] : 1,
                              .cluster_n = clustered ? cluster.size[1] : 1};
    snprintf(out->name, sizeof out->name, "%" PRId64 "x%" PRId64 "x%" PRId64, out->m, out->n,
             out->k);
    snprintf(out->cluster_name, sizeof out->cluster_name, "%" PRId64 "x%" PRId64, out->cluster_m,
             out->cluster_n);
    if (out->m % SIZE_UNIT != 0 || out->n % SIZE_UNIT != 0 || out->k % SIZE_UNIT != 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("tile") " %s: each size must be a multiple of 8", out->name);
    }
    const double most = device->figure[ROOF_FIGURE_CLUSTER].value;
    if ((double)(out->cluster_m * out->cluster_n) > most) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("cluster") " %s: a cluster of %s has at most %.0f thread "
                                                  "block%s that share loads",
                              out->cluster_name, device->id, most, most > 1 ? "s" : "");
    }
    return ROOF_OK;
}

/* --- what a thread block needs ------------------------------------------------------------- */

/* Tells if the accumulators lie in the tensor memory. */
static bool in_tensor_memory(const struct task *t)
{
    return t->p->unit == ROOF_COMPUTE_MATRIX && !isnan(figure(t, ROOF_FIGURE_TENSOR_MEMORY));
}

/* Returns the bytes of tensor memory of a block: columns come as a power of two. */
static double tensor_memory(const struct roof_tile *tile)
{
    const double wanted = ceil((double)tile->m / TENSOR_LANES) * (double)tile->n;
    double columns = TENSOR_COLUMNS_MIN;
    while (columns < wanted) {
        columns *= 2;
    }
    return columns * TENSOR_LANES * WORD_BYTES;
}

static void find_needs(struct roof_tile *tile, const struct task *t)
{
    const double stage = t->a.tile_bytes + t->b.tile_bytes;
    const double results = (double)tile->m * (double)tile->n;
    const bool apart = in_tensor_memory(t);
    if (tile->stages == 0) {
        const double fit = floor(figure(t, ROOF_FIGURE_BLOCK_SHARED) / stage);
        tile->stages = fit < 1 ? 1 : fit > STAGES_DEFAULT ? STAGES_DEFAULT : (int64_t)fit;
    }
    tile->shared_bytes = (double)tile->stages * stage;
    tile->threads = WARPGROUP_THREADS;
    while (!apart && tile->threads * ACCUMULATORS_MAX < results) {
        tile->threads *= 2;
    }
    const double wanted = (apart ? 0 : ceil(results / tile->threads)) + OTHER_REGISTERS;
    tile->registers = ceil(wanted / REGISTER_UNIT) * REGISTER_UNIT;
}

/* Finds how many blocks an SM holds, and which resource sets the limit: the first of equals. */
static void find_residents(struct roof_tile *tile, const struct task *t)
{
    const double shared = figure(t, ROOF_FIGURE_SM_SHARED);
    const double system = shared - figure(t, ROOF_FIGURE_BLOCK_SHARED); /* per block */
    const double fit[ROOF_TILE_RESOURCE_COUNT] = {
        [ROOF_TILE_SHARED] = tile->shared_bytes > figure(t, ROOF_FIGURE_BLOCK_SHARED)
                                 ? 0
                                 : floor(shared / (tile->shared_bytes + system)),
        [ROOF_TILE_REGISTERS] =
            tile->registers > THREAD_REGISTERS_MAX
                ? 0
                : floor(figure(t, ROOF_FIGURE_SM_REGISTERS) / (tile->threads * tile->registers)),
        [ROOF_TILE_TENSOR_MEMORY] =
            in_tensor_memory(t) ? floor(figure(t, ROOF_FIGURE_TENSOR_MEMORY) / tensor_memory(tile))
                                : HUGE_VAL,
        [ROOF_TILE_THREADS] = tile->threads > BLOCK_THREADS_MAX
                                  ? 0
                                  : floor(figure(t, ROOF_FIGURE_SM_THREADS) / tile->threads),
        [ROOF_TILE_BLOCKS] = figure(t, ROOF_FIGURE_SM_BLOCKS)};
    tile->resource = ROOF_TILE_SHARED;
    for (int i = 0; i < ROOF_TILE_RESOURCE_COUNT; i++) {
        if (fit[i] < fit[tile->resource]) {
            tile->resource = (enum roof_tile_resource)i;
        }
    }
    tile->blocks_per_sm = fit[tile->resource];
}

static enum roof_status check_fits(const struct roof_tile *tile, const struct task *t,
                                   struct roof_error *error)
{
    char needs[ROOF_QUANTITY_SIZE];
    char has[ROOF_QUANTITY_SIZE];
    if (tile->blocks_per_sm >= 1) {
        return ROOF_OK;
    }
    if (tile->resource == ROOF_TILE_SHARED) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("tile") " %s with " ROOF_KEY(
                "stages") " %" PRId64 " needs %s of shared memory; a thread block of %s has %s",
            tile->name, tile->stages,
            roof_format_quantity(needs, tile->shared_bytes, ROOF_UNIT_CAPACITY), t->device->id,
            roof_format_quantity(has, figure(t, ROOF_FIGURE_BLOCK_SHARED), ROOF_UNIT_CAPACITY));
    }
    return roof_error_set(error, ROOF_USAGE,
                          ROOF_KEY("tile") " %s needs more %s than an SM of %s has", tile->name,
                          roof_tile_resource_name(tile->resource), t->device->id);
}

/* --- how the blocks run -------------------------------------------------------------------- */

/* Rounds up to a multiple. */
static double filled(double count, int64_t unit)
{
    return ceil(count / (double)unit) * (double)unit;
}

/* Returns how many tiles the busiest SM computes. */
static double rounds(const struct task *t)
{
    return ceil(t->rows * t->columns * t->batch / figure(t, ROOF_FIGURE_SM_COUNT));
}

static void find_waves(struct roof_tile *tile, const struct task *t)
{
    const double sms = figure(t, ROOF_FIGURE_SM_COUNT);
    const double tile_flops = 2 * (double)tile->m * (double)tile->n * t->steps * (double)tile->k;
    tile->grid = filled(t->rows, tile->cluster_m) * filled(t->columns, tile->cluster_n) * t->batch;
    tile->waves = tile->grid / (sms * tile->blocks_per_sm);
    tile->wave_efficiency = tile->waves / ceil(tile->waves);
    tile->busy = t->p->flops / (rounds(t) * sms * tile_flops);
    tile->time_s[ROOF_TILE_COMPUTE] = rounds(t) * sms * tile_flops / t->p->peak_flops_per_s;
}

/* --- bytes --------------------------------------------------------------------------------- */

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/*
 * Returns the bytes between DRAM and L2 of one product whose blocks go over bands of some rows of
 * tiles, column by column. slots blocks run at once.
 */
static double band_bytes(const struct roof_tile *tile, const struct task *t, double band,
                         double slots)
{
    const double room = figure(t, ROOF_FIGURE_L2);
    const double bands = ceil(t->rows / band);
    const double at_once = smaller(floor(slots / band) < 1 ? 1 : floor(slots / band), t->columns);
    const double panel = t->a.bytes * smaller(band * (double)tile->m / t->m, 1);
    const double strip = t->b.bytes * smaller(at_once * (double)tile->n / t->n, 1);
    const double high = t->a.bytes * smaller(slots * (double)tile->m / t->m, 1);
    const double a_reads = panel + strip <= room ? 1 : ceil(t->columns / at_once);
    const double b_reads = t->b.bytes + 2 * panel <= room ? 1 : bands;
    const double pieces = band <= slots || high + strip <= room ? 1 : ceil(band / slots);
    return t->a.bytes * a_reads + t->b.bytes * b_reads * pieces + t->c.bytes;
}

static void find_memory(struct roof_tile *tile, const struct task *t)
{
    const double slots = figure(t, ROOF_FIGURE_SM_COUNT) * tile->blocks_per_sm;
    double *const bytes = tile->order_bytes;
    tile->group = ROOF_UNKNOWN;
    bytes[ROOF_TILE_ALONG_N] = t->batch * band_bytes(tile, t, 1, slots);
    bytes[ROOF_TILE_ALONG_M] = t->batch * band_bytes(tile, t, t->rows, slots);
    bytes[ROOF_TILE_GROUPED] = ROOF_UNKNOWN;
    for (int band = 2; band <= 64 && band < t->rows; band *= 2) {
        const double grouped = t->batch * band_bytes(tile, t, band, slots);
        if (isnan(tile->group) || grouped < bytes[ROOF_TILE_GROUPED]) {
            tile->group = band;
            bytes[ROOF_TILE_GROUPED] = grouped;
        }
    }
    tile->order = ROOF_TILE_ALONG_N;
    for (int i = 0; i < ROOF_TILE_ORDER_COUNT; i++) {
        if (bytes[i] < bytes[tile->order]) {
            tile->order = (enum roof_tile_order)i;
        }
    }
    tile->bytes[ROOF_TILE_MEMORY] = bytes[tile->order];
}

/* Returns the largest power of two, of most bits at most, that divides both. */
static double common_bits(double a, double b, double most)
{
    double bits = most;
    while (fmod(a, bits) != 0 || fmod(b, bits) != 0) {
        bits /= 2;
    }
    return bits;
}

/* Returns what the sectors that a part of a row touches have beside it, on average, as a multiple
 * of its own bits. */
static double sector_excess(const struct tensor *x)
{
    const double aligned = common_bits(x->row_bits, x->step_bits, SECTOR_BITS);
    return (SECTOR_BITS - aligned) / x->step_bits;
}

static void find_l2(struct roof_tile *tile, const struct task *t)
{
    const double a = t->a.bytes * ceil(t->columns / (double)tile->cluster_n);
    const double b = t->b.bytes * ceil(t->rows / (double)tile->cluster_m);
    const double excess =
        a * sector_excess(&t->a) + b * sector_excess(&t->b) + t->c.bytes * sector_excess(&t->c);
    tile->bytes[ROOF_TILE_L2] = t->batch * (a + b + t->c.bytes + excess);
    tile->sector_bytes = t->batch * excess;
}

/* Returns the clocks in which an SM puts an operand's part of a k step into shared memory: a warp
 * loads 32 words, which are as wide as the rows are aligned. */
static double fill_clocks(const struct tensor *x)
{
    const double load = common_bits(x->row_bits, x->step_bits, LOAD_BITS) / BYTE_BITS;
    return x->tile_bytes / smaller(WARP_THREADS * load, BANK_BYTES);
}

/* Returns the bytes, 16 at most, at whose multiples rows of so many bits begin. */
static double alignment(double row_bits)
{
    return common_bits(row_bits, row_bits, LOAD_BITS) / BYTE_BITS;
}

/* Returns the alignment of the rows of both operands, and that of the rows of the output. */
static double k_alignment(const struct roof_workload *workload)
{
    const double k = (double)workload->shape.k;
    return smaller(alignment(k * stored_bits(workload->formats.activations)),
                   alignment(k * stored_bits(workload->formats.weights)));
}

static double n_alignment(const struct roof_workload *workload)
{
    return alignment((double)workload->shape.n * stored_bits(workload->formats.out));
}

static void find_shared(struct roof_tile *tile, const struct task *t)
{
    const double clock = figure(t, ROOF_FIGURE_BOOST_CLOCK);
    const double step = t->a.tile_bytes + t->b.tile_bytes;
    const double tiles = t->rows * t->columns * t->batch;
    const double active = smaller(tiles, figure(t, ROOF_FIGURE_SM_COUNT));
    tile->bytes[ROOF_TILE_SHARED_MEMORY] = tiles * t->steps * step;
    tile->time_s[ROOF_TILE_SHARED_MEMORY] =
        rounds(t) * t->steps * (fill_clocks(&t->a) + fill_clocks(&t->b)) / clock;
    tile->k_alignment = k_alignment(&t->p->workload);
    tile->n_alignment = n_alignment(&t->p->workload);
    tile->bytes_in_flight =
        smaller(tiles, active * tile->blocks_per_sm) * (double)(tile->stages - 1) * step;
    tile->hidden_s = tile->bytes_in_flight / t->p->bandwidth_bytes_per_s;
}

/* Finds the times of the levels, and which of them is longest: the first of equals. */
static void find_time(struct roof_tile *tile, const struct task *t)
{
    tile->time_s[ROOF_TILE_MEMORY] = tile->bytes[ROOF_TILE_MEMORY] / t->p->bandwidth_bytes_per_s;
    tile->time_s[ROOF_TILE_L2] = tile->bytes[ROOF_TILE_L2] / figure(t, ROOF_FIGURE_L2_BANDWIDTH);
    tile->bytes[ROOF_TILE_COMPUTE] = ROOF_UNKNOWN;
    tile->limit = ROOF_TILE_COMPUTE;
    for (int i = 0; i < ROOF_TILE_LEVEL_COUNT; i++) {
        tile->intensity[i] = t->p->flops / tile->bytes[i];
        if (tile->time_s[i] > tile->time_s[tile->limit]) {
            tile->limit = (enum roof_tile_level)i;
        }
    }
    tile->total_s = tile->time_s[tile->limit];
}

enum roof_status roof_tile_predict(struct roof_tile *out, const struct roof_prediction *prediction,
                                   const struct roof_tile_choice *choice, struct roof_error *error)
{
    struct task task;
    TRY(check_product(prediction, error));
    if (roof_power_capped(prediction->hardware)) {
        return roof_error_set(error, ROOF_USAGE, "a tile's analysis does not support a power cap");
    }
    TRY(check_figures(prediction->hardware, error));
    TRY(read_choice(out, choice, prediction->hardware, error));
    open_task(&task, out, prediction);
    TRY(check_rows(&task, error));
    find_needs(out, &task);
    find_residents(out, &task);
    TRY(check_fits(out, &task, error));
    find_waves(out, &task);
    find_memory(out, &task);
    find_l2(out, &task);
    find_shared(out, &task);
    find_time(out, &task);
    return ROOF_OK;
}

int roof_tile_compare(const void *a, const void *b)
{
    const struct roof_tile *const x = a;
    const struct roof_tile *const y = b;
    const double ours[] = {x->total_s, x->bytes[ROOF_TILE_L2], x->bytes[ROOF_TILE_SHARED_MEMORY],
                           (double)x->k};
    const double theirs[] = {y->total_s, y->bytes[ROOF_TILE_L2], y->bytes[ROOF_TILE_SHARED_MEMORY],
                             (double)y->k};
    for (size_t i = 0; i < COUNT(ours); i++) {
        if (ours[i] < theirs[i] || ours[i] > theirs[i]) {
            return ours[i] < theirs[i] ? -1 : 1;
        }
    }
    return 0;
}

bool roof_tile_best(struct roof_tile *out, const struct roof_prediction *prediction)
{
    struct roof_tile_choice choice = {0};
    struct roof_tile tile = {0};
    bool found = false;
    for (size_t i = 0; roof_tile_candidate(i) != 0; i++) {
        choice.tile = roof_tile_candidate(i);
        if (roof_tile_predict(&tile, prediction, &choice, NULL) == ROOF_OK &&
            (!found || roof_tile_compare(&tile, out) < 0)) {
            *out = tile;
            found = true;
        }
    }
    return found;
}

/* Analyses the tile of an estimate, which advances a line of the wider operand at a time. */
static bool estimated_tile(struct roof_tile *out, const struct roof_prediction *p)
{
    const struct roof_expected *const e = &p->part[0].expected;
    const struct roof_formats *const formats = &p->workload.formats;
    const double a = stored_bits(formats->activations);
    const double b = stored_bits(formats->weights);
    const double k = floor(LINE_BITS / (a > b ? a : b) / SIZE_UNIT) * SIZE_UNIT;
    const struct roof_sizes sizes = {{e->tiling.tile_m, e->tiling.tile_n, (int64_t)k}};
    const struct roof_tile_choice choice = {.tile = roof_sizes_pack(&sizes)};
    return e->tiled && roof_tile_predict(out, p, &choice, NULL) == ROOF_OK;
}

/* Tells if the output has rows behind the first, whose beginnings matter. */
static bool has_output_rows(const struct roof_workload *workload)
{
    return workload->shape.m > 1 || workload->shape.batch > 1;
}

/* Finds what the rows begin at multiples of, where that matters. */
static bool find_misaligned(struct roof_misaligned *out, const struct roof_prediction *prediction)
{
    const struct roof_workload *const w = &prediction->workload;
    *out = (struct roof_misaligned){.k_bytes = ROOF_ALIGNED_BYTES, .n_bytes = ROOF_ALIGNED_BYTES};
    if ((w->op != ROOF_OPERATOR_GEMM && w->op != ROOF_OPERATOR_GEMV &&
         w->op != ROOF_OPERATOR_BMM) ||
        isnan(prediction->expected_s)) {
        return false;
    }
    out->k_bytes = k_alignment(w);
    if (has_output_rows(w)) {
        out->n_bytes = n_alignment(w);
    }
    return out->k_bytes < ROOF_ALIGNED_BYTES || out->n_bytes < ROOF_ALIGNED_BYTES;
}

bool roof_tile_is_misaligned(const struct roof_prediction *prediction)
{
    struct roof_misaligned found;
    return find_misaligned(&found, prediction);
}

bool roof_tile_misaligned(struct roof_misaligned *out, const struct roof_prediction *prediction)
{
    if (!find_misaligned(out, prediction)) {
        return false;
    }
    out->own = estimated_tile(&out->tile, prediction);
    out->bounded = out->own || roof_tile_best(&out->tile, prediction);
    out->cut = prediction->part[0].expected.tiling.split_k > 1;
    return true;
}

void roof_tile_pad(struct roof_workload *workload)
{
    for (int i = 0; i < LOAD_BITS && k_alignment(workload) < ROOF_ALIGNED_BYTES; i++) {
        workload->shape.k++;
    }
    for (int i = 0;
         i < LOAD_BITS && has_output_rows(workload) && n_alignment(workload) < ROOF_ALIGNED_BYTES;
         i++) {
        workload->shape.n++;
    }
}
