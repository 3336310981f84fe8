// SPDX-License-Identifier: MIT
/* Writes a row for each kind of result in tables. */
#include "report/rows.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "catalog/catalog_fields.h"
#include "decide/decision_fields.h"
#include "model/model_fields.h"
#include "operator/operator_fields.h"
#include "predict/prediction_fields.h"
#include "predict/tile_fields.h"
#include "report/render.h"

void roof_table_show(struct roof_table *table, const char *key)
{
    struct roof_fields all;
    roof_table_fields(&all, table->kind, table->op, false);
    const struct roof_field *const field = roof_fields_find(&all, key);
    if (table->kind == ROOF_TABLE_MODEL_PREDICTIONS && field != NULL &&
        roof_fields_find(&table->columns, key) == NULL) {
        roof_fields_add(&table->columns, field, 1, field->part);
    }
}

/* Returns the bit of the dimension with a key; 0: unknown. */
static uint64_t dimension_bit(const char *key)
{
    for (size_t i = 0; i < ROOF_DIM_COUNT; i++) {
        if (strcmp(roof_dimensions[i].key, key) == 0) {
            return UINT64_C(1) << i;
        }
    }
    return 0;
}

void roof_table_keep_dimensions(struct roof_table *table, uint64_t dimensions)
{
    struct roof_fields *const columns = &table->columns;
    if (table->kind != ROOF_TABLE_PREDICTIONS || table->op != ROOF_OPERATOR_COUNT) {
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < columns->count; i++) {
        const uint64_t bit = dimension_bit(columns->field[i].key);
        if (bit == 0 || (dimensions & bit) != 0) {
            columns->field[kept++] = columns->field[i];
        }
    }
    columns->count = kept;
}

void roof_table_prediction(struct roof_table *table, struct roof_text *out,
                           const struct roof_prediction *prediction)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_prediction_values(values, &table->columns, 0, prediction);
    roof_table_row(table, out, values);
}

void roof_table_tile(struct roof_table *table, struct roof_text *out,
                     const struct roof_prediction *prediction, const struct roof_tile *tile)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_tile_values(values, &table->columns, prediction, tile);
    roof_table_row(table, out, values);
}

void roof_table_candidate(struct roof_table *table, struct roof_text *out,
                          const struct roof_candidate *candidate)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_candidate_values(values, &table->columns, candidate);
    roof_table_row(table, out, values);
}

void roof_table_hardware(struct roof_table *table, struct roof_text *out,
                         const struct roof_hardware *hardware)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_hardware_values(values, &table->columns, hardware);
    roof_table_row(table, out, values);
}

void roof_table_precision(struct roof_table *table, struct roof_text *out,
                          const struct roof_precision_entry *precision)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    struct roof_precision_lists lists;
    roof_precision_values(values, &lists, &table->columns, precision);
    roof_table_row(table, out, values);
}

void roof_table_operator(struct roof_table *table, struct roof_text *out,
                         const struct roof_operator_row *row)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    char dimensions[ROOF_DIMENSION_LIST_SIZE];
    roof_operator_values(values, dimensions, &table->columns, row);
    roof_table_row(table, out, values);
}

void roof_table_model_prediction(struct roof_table *table, struct roof_text *out,
                                 const struct roof_model_prediction *prediction)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_model_prediction_values(values, &table->columns, prediction);
    roof_table_row(table, out, values);
}

void roof_table_node(struct roof_table *table, struct roof_text *out,
                     const struct roof_node_prediction *node)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_node_values(values, &table->columns, node);
    roof_table_row(table, out, values);
}

void roof_table_model(struct roof_table *table, struct roof_text *out,
                      const struct roof_model_entry *model)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_model_values(values, &table->columns, model);
    roof_table_row(table, out, values);
}

void roof_table_layout(struct roof_table *table, struct roof_text *out,
                       const struct roof_layout_about *layout)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_layout_values(values, &table->columns, layout);
    roof_table_row(table, out, values);
}

void roof_table_plan(struct roof_table *table, struct roof_text *out,
                     const struct roof_plan_row *plan)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_plan_values(values, &table->columns, plan);
    roof_table_row(table, out, values);
}

void roof_table_rate(struct roof_table *table, struct roof_text *out,
                     const struct roof_rate_row *rate)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_rate_values(values, &table->columns, rate);
    roof_table_row(table, out, values);
}

void roof_table_speedup(struct roof_table *table, struct roof_text *out,
                        const struct roof_speedup_row *speedup)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_speedup_values(values, &table->columns, speedup);
    roof_table_row(table, out, values);
}

/* The formats are the last column, where text that exceeds the page is folded. */
void roof_table_engine(struct roof_table *table, struct roof_text *out,
                       const struct roof_engine_entry *engine)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    const struct roof_field *const last = &table->columns.field[table->columns.count - 1];
    const size_t from = out->length;
    roof_engine_values(values, &table->columns, engine);
    roof_table_row(table, out, values);
    if (table->output == ROOF_OUTPUT_TEXT && table->form == ROOF_FORM_ROW &&
        strcmp(last->key, "formats") == 0) {
        roof_text_fold(out, from, (size_t)(roof_table_width(table) - abs(last->width)));
    }
}

void roof_table_sample(struct roof_table *table, struct roof_text *out,
                       const struct roof_sample *sample)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_sample_values(values, &table->columns, sample);
    roof_table_row(table, out, values);
}

void roof_table_energy(struct roof_table *table, struct roof_text *out,
                       const struct roof_energy_sum *sum)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_energy_values(values, &table->columns, sum);
    roof_table_row(table, out, values);
}

void roof_table_simulation(struct roof_table *table, struct roof_text *out,
                           const struct roof_simulation_row *simulation)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_simulation_values(values, &table->columns, simulation);
    roof_table_row(table, out, values);
}

void roof_table_served(struct roof_table *table, struct roof_text *out,
                       const struct roof_served *served)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_served_values(values, &table->columns, served);
    roof_table_row(table, out, values);
}

void roof_table_moment(struct roof_table *table, struct roof_text *out,
                       const struct roof_moment_row *moment)
{
    struct roof_value values[ROOF_FIELDS_MAX];
    roof_moment_values(values, &table->columns, moment);
    roof_table_row(table, out, values);
}
