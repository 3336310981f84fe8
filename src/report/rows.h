// SPDX-License-Identifier: MIT
/**
 * The rows of each kind of result in a table, and the columns that a page has room for.
 */
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

/** Shows a key of model predictions too, if it is not among the columns. */
void roof_table_show(struct roof_table *table, const char *key);
/** Tells what the rows of a table have in common; all 0 at first. */
struct roof_variety {
    uint64_t rows;
    struct roof_fields columns;               /**< those of the table before any is left out */
    struct roof_value first[ROOF_FIELDS_MAX]; /**< of the first row; its texts are borrowed */
    bool varies[ROOF_FIELDS_MAX];             /**< not all rows have one value */
    bool differs[ROOF_FIELDS_MAX];            /**< from formats in columns before it */
    bool present[ROOF_FIELDS_MAX];            /**< a row has a value */
    struct roof_tile tile;                    /**< of the first row, in tables of tiles */
};
/** Adds a row; model is NULL in tables of operators, tile elsewhere than in tables of tiles. */
void roof_variety_add(struct roof_variety *variety, const struct roof_table *table,
                      const struct roof_prediction *prediction,
                      const struct roof_model_prediction *model, const struct roof_tile *tile);
/** Leaves out columns of a text table that is wider than a page: empty ones, then those that say
 * the same in all rows, then the least important, but none that is kept. variety may be NULL. */
void roof_table_narrow(struct roof_table *table, const struct roof_kept_columns *kept,
                       const struct roof_variety *variety);
/** Says which columns of the variety a table lacks, if it lacks any. */
void roof_table_left_out(const struct roof_table *table, const struct roof_variety *variety,
                         struct roof_text *out);
/** Removes the dimensions that are not in a set of bits (1 << dimension) from a table of any
 * operator. */
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
/** Writes a row of an interval of a simulation. */
void roof_table_moment(struct roof_table *table, struct roof_text *out,
                       const struct roof_moment_row *moment);
void roof_table_sample(struct roof_table *table, struct roof_text *out,
                       const struct roof_sample *sample);
void roof_table_energy(struct roof_table *table, struct roof_text *out,
                       const struct roof_energy_sum *sum);

#endif
