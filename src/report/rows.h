// SPDX-License-Identifier: MIT
/** The rows of each kind of result in a table, and the choice of columns that fit on a page. */
#ifndef ROOF_REPORT_ROWS_H
#define ROOF_REPORT_ROWS_H

#include "catalog/precision.h"
#include "decide/engine.h"
#include "decide/plan.h"
#include "decide/rate_fields.h"
#include "decide/read.h"
#include "decide/recommend.h"
#include "decide/speedup.h"
#include "measure/energy.h"
#include "model/layout.h"
#include "predict/model_prediction.h"
#include "predict/tile.h"
#include "report/table.h"
#include "simulate/simulation_fields.h"

/** Adds a key of model predictions to the columns, if it is missing. */
void roof_table_show(struct roof_table *table, const char *key);
/** Tells which values the rows of a table share; all 0 at first. */
struct roof_variety {
    uint64_t rows;
    struct roof_fields columns; /**< all columns of the table, before any is left out */
    struct roof_value first[ROOF_FIELDS_MAX]; /**< values of the first row; texts are borrowed */
    bool varies[ROOF_FIELDS_MAX];             /**< the rows have different values */
    bool differs[ROOF_FIELDS_MAX];            /**< from formats in earlier columns */
    bool present[ROOF_FIELDS_MAX];            /**< at least one row has a value */
    struct roof_tile tile;                    /**< tile of the first row, in tables of tiles */
};
/** Adds a row; `model` is NULL in tables of operators, and `tile` in all tables but those of tiles.
 */
void roof_variety_add(struct roof_variety *variety, const struct roof_table *table,
                      const struct roof_prediction *prediction,
                      const struct roof_model_prediction *model, const struct roof_tile *tile);
/** Tells whether a table for people is wider than its page. */
bool roof_table_is_too_wide(const struct roof_table *table);
/** Removes columns from a text table that is wider than a page: empty ones, then those with equal
 * values in all rows, then the least important. Kept columns stay. `variety` may be NULL. */
void roof_table_narrow(struct roof_table *table, const struct roof_kept_columns *kept,
                       const struct roof_variety *variety);
/** Names the columns of the variety that a table lacks, if any. */
void roof_table_left_out(const struct roof_table *table, const struct roof_variety *variety,
                         struct roof_text *out);
/** Removes the dimensions outside a set of bits (1 << dimension) from a table of any operator. */
void roof_table_keep_dimensions(struct roof_table *table, uint64_t dimensions);

/* Each function writes one row to a table of its kind. */

void roof_table_prediction(struct roof_table *table, struct roof_text *out,
                           const struct roof_prediction *prediction);
void roof_table_tile(struct roof_table *table, struct roof_text *out,
                     const struct roof_prediction *prediction, const struct roof_tile *tile);
void roof_table_candidate(struct roof_table *table, struct roof_text *out,
                          const struct roof_candidate *candidate);
void roof_table_hardware(struct roof_table *table, struct roof_text *out,
                         const struct roof_hardware *hardware);
void roof_table_precision(struct roof_table *table, struct roof_text *out,
                          const struct roof_precision_entry *precision);
void roof_table_operator(struct roof_table *table, struct roof_text *out,
                         const struct roof_operator_row *row);
void roof_table_model_prediction(struct roof_table *table, struct roof_text *out,
                                 const struct roof_model_prediction *prediction);
void roof_table_node(struct roof_table *table, struct roof_text *out,
                     const struct roof_node_prediction *node);
void roof_table_model(struct roof_table *table, struct roof_text *out,
                      const struct roof_model_entry *model);
void roof_table_layout(struct roof_table *table, struct roof_text *out,
                       const struct roof_layout_about *layout);
void roof_table_plan(struct roof_table *table, struct roof_text *out,
                     const struct roof_plan_row *plan);
void roof_table_rate(struct roof_table *table, struct roof_text *out,
                     const struct roof_rate_row *rate);
void roof_table_speedup(struct roof_table *table, struct roof_text *out,
                        const struct roof_speedup_row *speedup);
void roof_table_engine(struct roof_table *table, struct roof_text *out,
                       const struct roof_engine_entry *engine);
void roof_table_simulation(struct roof_table *table, struct roof_text *out,
                           const struct roof_simulation_row *simulation);
void roof_table_served(struct roof_table *table, struct roof_text *out,
                       const struct roof_served *served);
/** Writes a row for an interval of a simulation. */
void roof_table_moment(struct roof_table *table, struct roof_text *out,
                       const struct roof_moment_row *moment);
void roof_table_sample(struct roof_table *table, struct roof_text *out,
                       const struct roof_sample *sample);
void roof_table_energy(struct roof_table *table, struct roof_text *out,
                       const struct roof_energy_sum *sum);

#endif
