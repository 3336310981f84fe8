// SPDX-License-Identifier: MIT
#include "model/model_fields.h"

#include "base/base.h"

/* --- models -------------------------------------------------------------------------------- */

enum model_part { MODEL, ENTRY };
#define ATTENTION 1 /* the only derived value of a model */

#define AT(member) .offset = offsetof(struct roof_model, member)
#define TEXT(member) .type = ROOF_TYPE_TEXT, AT(member)
#define SIZE(member) .type = ROOF_TYPE_POSITIVE, AT(member)
#define ENTRY_COUNT(member)                                                                        \
    .unit = ROOF_UNIT_COUNTS, .offset = offsetof(struct roof_model_entry, member), .part = ENTRY

static const struct roof_field model_fields[] = {
    {.key = "id", TEXT(id), .width = -26},
    {.key = "name", TEXT(name)},
    {.key = "parameters", ENTRY_COUNT(parameters), .width = 7, .label = "params"},
    {.key = "active_parameters", ENTRY_COUNT(active_parameters), .width = 7, .label = "active"},
    {.key = "layers", SIZE(layers), .width = 6},
    {.key = "hidden", SIZE(hidden), .width = 6},
    {.key = "intermediate", SIZE(intermediate)},
    {.key = "attention", .type = ROOF_TYPE_TEXT, .derived = ATTENTION, .width = -9},
    {.key = "heads", SIZE(heads), .width = 5},
    {.key = "kv_heads", SIZE(kv_heads), .width = 3, .label = "kv"},
    {.key = "head_dim", SIZE(head_dim), .width = 8},
    {.key = "window", SIZE(window), .width = 6},
    {.key = "kv_lora_rank", SIZE(kv_lora_rank)},
    {.key = "q_lora_rank", SIZE(q_lora_rank)},
    {.key = "experts", SIZE(experts), .width = 7},
    {.key = "top_k", SIZE(top_k), .width = 5},
    {.key = "expert_intermediate", SIZE(expert_intermediate)},
    {.key = "shared_intermediate", SIZE(shared_intermediate)},
    {.key = "vocab", SIZE(vocab), .width = 6},
    {.key = "positions", SIZE(positions), .width = 9},
    {.key = "kv_bytes_per_token", ENTRY_COUNT(kv_bytes_per_token)},
    {.key = "confidence", TEXT(confidence)},
    {.key = "vision_layers", SIZE(tower.layers), .width = 6, .label = "vision"},
    {.key = "audio_layers", SIZE(audio.layers)},
};

void roof_model_fields(struct roof_fields *out)
{
    for (size_t i = 0; i < COUNT(model_fields); i++) {
        roof_fields_add(out, &model_fields[i], 1, model_fields[i].part);
    }
}

void roof_model_values(struct roof_value *out, const struct roof_fields *fields,
                       const struct roof_model_entry *entry)
{
    roof_fields_read(out, fields, MODEL, (const char *)entry->model);
    roof_fields_read(out, fields, ENTRY, (const char *)entry);
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].derived == ATTENTION) {
            out[i].text = roof_attention_name(entry->model);
        }
    }
}

/* --- layouts ------------------------------------------------------------------------------- */

static const struct roof_field layout_fields[] = {
    {.key = "id",
     .type = ROOF_TYPE_TEXT,
     .offset = offsetof(struct roof_layout_about, id),
     .width = -22},
    {.key = "name",
     .type = ROOF_TYPE_TEXT,
     .offset = offsetof(struct roof_layout_about, name),
     .width = -40},
};

void roof_layout_fields(struct roof_fields *out)
{
    roof_fields_add(out, layout_fields, COUNT(layout_fields), 0);
}

void roof_layout_values(struct roof_value *out, const struct roof_fields *fields,
                        const struct roof_layout_about *layout)
{
    roof_fields_read(out, fields, 0, (const char *)layout);
}
