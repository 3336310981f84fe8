// SPDX-License-Identifier: MIT
/**
 * Rows of results as text, JSON, NDJSON, CSV and Markdown. The fields of each kind of result say
 * which value stands under which key, in which unit (field.h); nothing is computed here.
 */
#ifndef ROOFLINE_TABLE_H
#define ROOFLINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "catalog/field.h"
#include "catalog/precision.h"
#include "decide/engine.h"
#include "decide/plan.h"
#include "decide/rate_fields.h"
#include "decide/recommend.h"
#include "decide/speedup.h"
#include "measure/energy.h"
#include "model/layout.h"
#include "operator/operator.h"
#include "predict/model_prediction.h"
#include "predict/tile.h"
#include "roofline/question.h"
#include "simulate/simulation_fields.h"

/** The formats of rows; the same numbers as those of enum roof_answer_format. */
enum roof_output {
    ROOF_OUTPUT_TEXT = ROOF_TEXT,
    ROOF_OUTPUT_JSON = ROOF_JSON,
    ROOF_OUTPUT_NDJSON = ROOF_NDJSON,
    ROOF_OUTPUT_CSV = ROOF_CSV,
    ROOF_OUTPUT_MARKDOWN = ROOF_MARKDOWN
};

/** The kinds of results that rows of a table show. */
enum roof_table_kind {
    ROOF_TABLE_PREDICTIONS,
    ROOF_TABLE_TILES,           /**< predictions of products with a tile */
    ROOF_TABLE_RECOMMENDATIONS, /**< candidates */
    ROOF_TABLE_HARDWARE,
    ROOF_TABLE_PRECISIONS,
    ROOF_TABLE_OPERATORS,
    ROOF_TABLE_MODEL_PREDICTIONS,
    ROOF_TABLE_NODES, /**< operators of a model's prediction */
    ROOF_TABLE_MODELS,
    ROOF_TABLE_LAYOUTS,
    ROOF_TABLE_PLANS,
    ROOF_TABLE_RATES, /**< ways to serve a rate of requests */
    ROOF_TABLE_SPEEDUPS,
    ROOF_TABLE_ENGINES,
    ROOF_TABLE_SIMULATIONS,
    ROOF_TABLE_SERVED,  /**< requests of a simulation */
    ROOF_TABLE_SAMPLES, /**< of GPUs over time */
    ROOF_TABLE_ENERGIES /**< of GPUs over a run */
};

/** The form in which a row is written. */
enum roof_table_form {
    ROOF_FORM_ROW,     /**< a row of the output format */
    ROOF_FORM_MEMBERS, /**< the members of a JSON object, without its braces */
    ROOF_FORM_LINES    /**< a line "key value" for people for each value */
};

#define ROOF_CELL_SIZE 40

/** The cell of a column in the row before: most cells of a long table have the same value again,
 * and are copied. */
struct roof_cell {
    bool known;                  /**< the rest holds */
    double number;               /**< the value, when it is a number */
    char source[ROOF_CELL_SIZE]; /**< the value, when it is a text */
    size_t length;               /**< of text */
    char text[ROOF_CELL_SIZE];   /**< as the output has it */
    size_t lead_length;          /**< of lead; 0: it is not made yet */
    char lead[ROOF_CELL_SIZE];   /**< "key": as an object has it before the value */
};

/** Rows of results in one format. Fill in with roof_table_open; one thread at a time writes rows.
 * A copy, made before rows are written, is a table of its own. */
struct roof_table {
    enum roof_output output;
    enum roof_table_form form;
    enum roof_table_kind kind;
    enum roof_operator op;
    const char *separator; /**< of ROOF_FORM_MEMBERS: before each member */
    struct roof_fields columns;
    struct roof_cell cell[ROOF_FIELDS_MAX];
    uint64_t rows;                      /**< written so far */
    const struct roof_carried *carried; /**< borrowed */
    size_t carried_count;
};

/**
 * Chooses the columns: all keys, or for text and Markdown a readable selection; columns
 * ("key,key", NULL: the default) chooses others, not for json. op is the operator of all
 * rows, for tables of predictions, recommendations and nodes. For predictions
 * ROOF_OPERATOR_COUNT stands for any: the dimensions of all operators are columns, and a row has
 * those of its own. ROOF_USAGE for columns that do not exist or that the format does not take.
 */
enum roof_status roof_table_open(struct roof_table *out, enum roof_output output,
                                 enum roof_table_kind kind, enum roof_operator op,
                                 const char *columns, struct roof_error *error);
/** Opens a table whose rows are the members of a JSON object, without its braces, each after the
 * separator. All keys are columns. */
void roof_table_open_members(struct roof_table *out, enum roof_table_kind kind,
                             enum roof_operator op, const char *separator);
/** Opens a table whose rows are lines "key value" for people. All keys are columns. */
void roof_table_open_lines(struct roof_table *out, enum roof_table_kind kind);

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
 * the same in all rows, then the least important, but none that varies because the question has
 * several values for it; not where it asks for columns, or for all (`wide`). variety may be NULL.
 */
void roof_table_narrow(struct roof_table *table, const struct roof_question *question,
                       const struct roof_variety *variety);
/** Says which columns of the variety a table lacks, if it lacks any. */
void roof_table_left_out(const struct roof_table *table, const struct roof_variety *variety,
                         struct roof_text *out);
/** Removes the dimensions that are not in a set of bits (1 << dimension) from a table of any
 * operator. */
void roof_table_keep_dimensions(struct roof_table *table, uint32_t dimensions);
/** Sets columns that stand before the table's own, in its header and in the rows that follow: the
 * caller sets their texts before each row. */
void roof_table_carry(struct roof_table *table, const struct roof_carried *carried, size_t count);

/** Writes the header, which stands before the rows. */
void roof_table_begin(struct roof_table *table, struct roof_text *out);
/** Writes what stands behind the rows. */
void roof_table_end(struct roof_table *table, struct roof_text *out);

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
void roof_table_sample(struct roof_table *table, struct roof_text *out,
                       const struct roof_sample *sample);
void roof_table_energy(struct roof_table *table, struct roof_text *out,
                       const struct roof_energy_sum *sum);

#endif
