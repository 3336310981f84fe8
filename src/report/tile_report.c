// SPDX-License-Identifier: MIT
#include "report/tile_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "base/quantity.h"
#include "catalog/hardware.h"
#include "report/report.h"

static void line(struct roof_text *out, const char *label, const char *value, const char *detail)
{
    roof_text_printf(out, "  %-13s %-13s %s\n", label, value, detail);
}

/* Writes the resources of a thread block, and the number of blocks per SM. */
static void put_block(struct roof_text *out, const struct roof_tile *t)
{
    char value[ROOF_QUANTITY_SIZE];
    char detail[160];
    snprintf(detail, sizeof detail, "of shared memory; %.0f threads, at least %.0f registers each",
             t->threads, t->registers);
    line(out, "block", roof_format_quantity(value, t->shared_bytes, ROOF_UNIT_CAPACITY), detail);
    snprintf(value, sizeof value, "%.0f", t->blocks_per_sm);
    snprintf(detail, sizeof detail, "at most; limited by %s", roof_tile_resource_name(t->resource));
    line(out, "blocks per SM", value, detail);
}

static void put_waves(struct roof_text *out, const struct roof_tile *t)
{
    char value[ROOF_QUANTITY_SIZE];
    char full[ROOF_QUANTITY_SIZE];
    char busy[ROOF_QUANTITY_SIZE];
    char detail[200];
    snprintf(detail, sizeof detail,
             "of %.0f thread blocks; %s of slots used, at most %s of the peak", t->grid,
             roof_format_quantity(full, t->wave_efficiency, ROOF_UNIT_FRACTION),
             roof_format_quantity(busy, t->busy, ROOF_UNIT_FRACTION));
    line(out, "waves", roof_format_short(value, t->waves), detail);
}

/* Writes the bytes for each order of tiles. */
static void put_orders(struct roof_text *out, const struct roof_tile *t)
{
    for (int i = 0; i < ROOF_TILE_ORDER_COUNT; i++) {
        char label[32];
        char value[ROOF_QUANTITY_SIZE];
        char detail[80];
        const bool grouped = i == ROOF_TILE_GROUPED;
        if (isnan(t->order_bytes[i])) {
            continue;
        }
        snprintf(label, sizeof label, "order %s", roof_tile_order_name((enum roof_tile_order)i));
        if (grouped) {
            snprintf(detail, sizeof detail, "from DRAM, in bands of %.0f rows of tiles%s", t->group,
                     i == (int)t->order ? "; the best" : "");
        } else {
            snprintf(detail, sizeof detail, "from DRAM, %s of tiles after the other%s",
                     i == ROOF_TILE_ALONG_N ? "one row" : "one column",
                     i == (int)t->order ? "; the best" : "");
        }
        line(out, label, roof_format_quantity(value, t->order_bytes[i], ROOF_UNIT_BYTES), detail);
    }
}

/* Writes bytes, intensity and time per memory level. */
static void put_levels(struct roof_text *out, const struct roof_tile *t)
{
    static const char *const labels[ROOF_TILE_LEVEL_COUNT] = {[ROOF_TILE_COMPUTE] = "compute",
                                                              [ROOF_TILE_MEMORY] = "DRAM",
                                                              [ROOF_TILE_L2] = "L2",
                                                              [ROOF_TILE_SHARED_MEMORY] =
                                                                  "shared memory"};
    for (int i = 0; i < ROOF_TILE_LEVEL_COUNT; i++) {
        char value[ROOF_QUANTITY_SIZE];
        char bytes[ROOF_QUANTITY_SIZE];
        char intensity[ROOF_QUANTITY_SIZE];
        char detail[160] = "time of the SM with the most tiles";
        if (!isnan(t->bytes[i])) {
            snprintf(detail, sizeof detail, "%s, %s FLOP/byte%s",
                     roof_format_quantity(bytes, t->bytes[i], ROOF_UNIT_BYTES),
                     roof_format_short(intensity, t->intensity[i]),
                     isnan(t->time_s[i]) ? "; its bandwidth is unknown" : "");
        }
        line(out, labels[i], roof_format_quantity(value, t->time_s[i], ROOF_UNIT_MICROSECONDS),
             detail);
    }
}

static void put_total(struct roof_text *out, const struct roof_tile *t)
{
    char value[ROOF_QUANTITY_SIZE];
    char flight[ROOF_QUANTITY_SIZE];
    char detail[160];
    snprintf(detail, sizeof detail, "bound with this tile; %s-bound",
             roof_tile_level_name(t->limit));
    line(out, "tile time", roof_format_quantity(value, t->total_s, ROOF_UNIT_MICROSECONDS), detail);
    snprintf(detail, sizeof detail, "the latency that %s in flight can hide",
             roof_format_quantity(flight, t->bytes_in_flight, ROOF_UNIT_BYTES));
    line(out, "hides", roof_format_quantity(value, t->hidden_s, ROOF_UNIT_MICROSECONDS), detail);
}

/* Writes the cost of rows that do not begin at multiples of 16 bytes. */
static void put_alignment(struct roof_text *out, const struct roof_tile *t)
{
    char more[ROOF_QUANTITY_SIZE];
    const double own = t->bytes[ROOF_TILE_L2] - t->sector_bytes;
    const bool k = t->k_alignment < ROOF_ALIGNED_BYTES;
    const bool n = t->n_alignment < ROOF_ALIGNED_BYTES;
    roof_text_put(out, k || n ? "\n" : "");
    size_t from = out->length;
    if (k) {
        roof_report_misaligned_rows(out, true, t->k_alignment);
        roof_text_printf(out, "No TMA: a thread loads at most %g bytes at once.\n", t->k_alignment);
        roof_text_fold(out, from, 0);
    }
    from = out->length;
    if (n) {
        roof_report_misaligned_rows(out, false, t->n_alignment);
        if (out->length > from) {
            out->data[out->length - 1] = '\n'; /* replaces the blank */
        }
        roof_text_fold(out, from, 0);
    }
    if (t->sector_bytes > 0) {
        roof_text_printf(out, "%sParts of sectors of 32 bytes add %s to the bytes of the L2.\n",
                         k || n ? "" : "\n",
                         roof_format_quantity(more, t->sector_bytes / own, ROOF_UNIT_FRACTION));
    }
}

static void put_text(struct roof_text *out, const struct roof_prediction *p,
                     const struct roof_tile *t)
{
    char value[ROOF_QUANTITY_SIZE];
    roof_report_workload(out, &p->workload);
    roof_text_put(out, " on ");
    roof_report_device(out, p->hardware);
    roof_text_put(out, ": ");
    roof_report_formats(out, p);
    roof_text_printf(out, "\ntile %s, %" PRId64 " stage%s, cluster %s\n\n", t->name, t->stages,
                     t->stages == 1 ? "" : "s", t->cluster_name);
    line(out, "time", roof_format_quantity(value, p->time_s, ROOF_UNIT_MICROSECONDS),
         "lower bound for any tile");
    put_total(out, t);
    put_block(out, t);
    put_waves(out, t);
    put_orders(out, t);
    put_levels(out, t);
    put_alignment(out, t);
}

void roof_report_tile(struct roof_text *out, bool json, const struct roof_prediction *prediction,
                      const struct roof_tile *tile)
{
    if (!json) {
        put_text(out, prediction, tile);
        return;
    }
    struct roof_table table;
    roof_table_open_members(&table, ROOF_TABLE_TILES, prediction->workload.op, "\n  ");
    roof_text_put(out, "{");
    roof_table_tile(&table, out, prediction, tile);
    roof_text_put(out, "\n}\n");
}

void roof_report_tiles_left(struct roof_text *out, size_t left, const struct roof_hardware *device)
{
    if (left > 0 || isnan(device->figure[ROOF_FIGURE_L2_BANDWIDTH].value)) {
        roof_text_put(out, "\n");
    }
    if (left > 0) {
        roof_text_printf(out, "%zu more tiles do not fit an SM of %s.\n", left, device->id);
    }
    if (isnan(device->figure[ROOF_FIGURE_L2_BANDWIDTH].value)) {
        roof_text_printf(out,
                         "The L2 bandwidth of %s is unknown, and the ranking leaves it out. Give "
                         "it with --set l2_bandwidth_gb_s=VALUE.\n",
                         device->id);
    }
}
