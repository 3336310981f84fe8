// SPDX-License-Identifier: MIT
#include "predict/tile_fields.h"

#include <string.h>

#include "base/base.h"
#include "predict/prediction_fields.h"

/* The parts of a row. */
#define PREDICTION 0
#define TILE 1

/* The values that are names. */
enum tile_value { RESOURCE = 1, ORDER, LIMIT };

#define AT(member) .offset = offsetof(struct roof_tile, member)
#define NUMBER(member, unit_) .unit = ROOF_UNIT_##unit_, AT(member)
#define DERIVED_TEXT(value) .type = ROOF_TYPE_TEXT, .derived = (value)

static const struct roof_field tile_fields[] = {
    {.key = "tile", .type = ROOF_TYPE_CHARS, AT(name), .width = -11},
    {.key = "stages", .type = ROOF_TYPE_INTEGER, AT(stages), .width = 6},
    {.key = "cluster", .type = ROOF_TYPE_CHARS, AT(cluster_name), .width = -7},
    {.key = "tile_shared_bytes", NUMBER(shared_bytes, CAPACITY)},
    {.key = "tile_threads", NUMBER(threads, NONE)},
    {.key = "tile_registers", NUMBER(registers, NONE)},
    {.key = "tile_blocks_per_sm", NUMBER(blocks_per_sm, NONE), .width = 9, .label = "blocks/SM"},
    {.key = "tile_residency_limit", DERIVED_TEXT(RESOURCE)},
    {.key = "tile_grid", NUMBER(grid, NONE), .width = 7, .label = "grid"},
    {.key = "tile_waves", NUMBER(waves, NONE), .width = 6, .label = "waves"},
    {.key = "tile_wave_efficiency", NUMBER(wave_efficiency, NONE), .width = 8, .label = "wave_eff"},
    {.key = "tile_utilisation", NUMBER(busy, NONE)},
    {.key = "tile_order", DERIVED_TEXT(ORDER), .width = -7, .label = "order"},
    {.key = "tile_group", NUMBER(group, NONE)},
    {.key = "tile_dram_bytes_n", NUMBER(order_bytes[ROOF_TILE_ALONG_N], BYTES)},
    {.key = "tile_dram_bytes_m", NUMBER(order_bytes[ROOF_TILE_ALONG_M], BYTES)},
    {.key = "tile_dram_bytes_grouped", NUMBER(order_bytes[ROOF_TILE_GROUPED], BYTES)},
    {.key = "tile_dram_bytes", NUMBER(bytes[ROOF_TILE_MEMORY], BYTES)},
    {.key = "tile_l2_bytes", NUMBER(bytes[ROOF_TILE_L2], BYTES)},
    {.key = "tile_shared_traffic_bytes", NUMBER(bytes[ROOF_TILE_SHARED_MEMORY], BYTES)},
    {.key = "tile_sector_bytes", NUMBER(sector_bytes, BYTES)},
    {.key = "tile_k_alignment_bytes", NUMBER(k_alignment, BYTES)},
    {.key = "tile_n_alignment_bytes", NUMBER(n_alignment, BYTES)},
    {.key = "tile_bytes_in_flight", NUMBER(bytes_in_flight, BYTES)},
    {.key = "tile_hidden_latency_us", NUMBER(hidden_s, MICROSECONDS)},
    {.key = "tile_dram_intensity",
     NUMBER(intensity[ROOF_TILE_MEMORY], FLOP_PER_BYTE),
     .width = 8,
     .label = "DRAM_int"},
    {.key = "tile_l2_intensity",
     NUMBER(intensity[ROOF_TILE_L2], FLOP_PER_BYTE),
     .width = 7,
     .label = "L2_int"},
    {.key = "tile_shared_intensity", NUMBER(intensity[ROOF_TILE_SHARED_MEMORY], FLOP_PER_BYTE)},
    {.key = "tile_compute_time_us", NUMBER(time_s[ROOF_TILE_COMPUTE], MICROSECONDS)},
    {.key = "tile_memory_time_us", NUMBER(time_s[ROOF_TILE_MEMORY], MICROSECONDS)},
    {.key = "tile_l2_time_us", NUMBER(time_s[ROOF_TILE_L2], MICROSECONDS)},
    {.key = "tile_shared_time_us", NUMBER(time_s[ROOF_TILE_SHARED_MEMORY], MICROSECONDS)},
    {.key = "tile_time_us", NUMBER(total_s, MICROSECONDS), .width = 12},
    {.key = "tile_limit", DERIVED_TEXT(LIMIT), .width = -7, .label = "limit"},
};

/* The columns of predictions that people read beside those of a tile. */
static bool beside_tile(const char *key)
{
    static const char *const keys[] = {"hardware", "m", "n", "k", "weights", "time_us"};
    for (size_t i = 0; i < COUNT(keys); i++) {
        if (strcmp(keys[i], key) == 0) {
            return true;
        }
    }
    return false;
}

void roof_tile_fields(struct roof_fields *out, enum roof_operator op)
{
    roof_prediction_fields(out, op, PREDICTION);
    for (size_t i = 0; i < out->count; i++) {
        out->field[i].hidden = out->field[i].hidden || !beside_tile(out->field[i].key);
    }
    roof_fields_add(out, tile_fields, COUNT(tile_fields), TILE);
}

void roof_tile_values(struct roof_value *out, const struct roof_fields *fields,
                      const struct roof_prediction *prediction, const struct roof_tile *tile)
{
    roof_prediction_values(out, fields, PREDICTION, prediction);
    for (size_t i = 0; i < fields->count; i++) {
        const struct roof_field *const field = &fields->field[i];
        if (field->part != TILE) {
            continue;
        }
        roof_field_read(&out[i], field, (const char *)tile);
        switch ((enum tile_value)field->derived) {
        case RESOURCE:
            out[i].text = roof_tile_resource_name(tile->resource);
            break;
        case ORDER:
            out[i].text = roof_tile_order_name(tile->order);
            break;
        case LIMIT:
            out[i].text = roof_tile_level_name(tile->limit);
            break;
        }
    }
}
