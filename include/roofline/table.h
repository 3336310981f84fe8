// SPDX-License-Identifier: MIT
/**
 * Rows of results as text, JSON, NDJSON, CSV and Markdown. One table of fields says which value of
 * a result stands under which key, in which unit; nothing is computed here.
 */
#ifndef ROOFLINE_TABLE_H
#define ROOFLINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roofline/engine.h"
#include "roofline/layout.h"
#include "roofline/model_prediction.h"
#include "roofline/operator.h"
#include "roofline/precision.h"
#include "roofline/question.h"
#include "roofline/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The formats of rows; the same numbers as those of enum roof_answer_format. */
enum roof_output {
    ROOF_OUTPUT_TEXT = ROOF_TEXT,
    ROOF_OUTPUT_JSON = ROOF_JSON,
    ROOF_OUTPUT_NDJSON = ROOF_NDJSON,
    ROOF_OUTPUT_CSV = ROOF_CSV,
    ROOF_OUTPUT_MARKDOWN = ROOF_MARKDOWN
};

#define ROOF_COLUMNS_MAX 80

struct roof_field; /* a row of the field table */

#define ROOF_CELL_SIZE 40
#define ROOF_LEAD_SIZE 40

/** A column: a field, and for a field of dimensions which one. */
struct roof_column {
    const struct roof_field *field;
    enum roof_dimension dimension;
    bool steady;       /**< what it is made of is state_size bytes at state in a result */
    size_t state_size; /**< 8, 4, 1 or 0 */
    size_t state;
    size_t lead_length;        /**< 0: not made yet */
    char lead[ROOF_LEAD_SIZE]; /**< "key": as an object has it */
};

/** What a steady column had last: neighbours in a table often have the same. */
struct roof_cell {
    uint64_t state;
    bool known;
    bool absent;
    size_t length;
    char text[ROOF_CELL_SIZE]; /**< as the output has it */
};

/** A column that comes from elsewhere and stands before the table's own: what its caller carries
 * through, row by row. */
struct roof_carried {
    const char *name;
    const char *text; /**< of the row at hand; "": none */
    const char *json; /**< the same as it stood in JSON, without quotes; NULL: only text is known */
    bool quoted;      /**< json is a string */
};

/** Rows of results in one format. Fill with roof_table_open; one thread at a time writes rows. */
struct roof_table {
    enum roof_output output;
    struct roof_cell last[ROOF_COLUMNS_MAX];
    struct roof_column column[ROOF_COLUMNS_MAX];
    size_t count;
    uint64_t rows;                      /**< written so far */
    bool inferences;                    /**< rows are struct roof_model_prediction */
    bool any;                           /**< rows are predictions of any operator */
    const struct roof_carried *carried; /**< borrowed */
    size_t carried_count;
};

/** What the rows of a table are. */
enum roof_table_kind {
    ROOF_TABLE_PREDICTIONS,       /**< rows are predictions */
    ROOF_TABLE_RECOMMENDATIONS,   /**< rows are candidates */
    ROOF_TABLE_HARDWARE,          /**< rows are devices */
    ROOF_TABLE_PRECISIONS,        /**< rows are struct roof_precision_entry */
    ROOF_TABLE_OPERATORS,         /**< rows are struct roof_operator_row */
    ROOF_TABLE_MODEL_PREDICTIONS, /**< rows are struct roof_model_prediction */
    ROOF_TABLE_NODES,             /**< rows are struct roof_node_prediction */
    ROOF_TABLE_MODELS,            /**< rows are struct roof_model_entry */
    ROOF_TABLE_LAYOUTS,           /**< rows are struct roof_layout_about */
    ROOF_TABLE_PLANS,             /**< rows are struct roof_plan_row */
    ROOF_TABLE_SPEEDUPS,          /**< rows are struct roof_speedup_row */
    ROOF_TABLE_ENGINES            /**< rows are struct roof_engine_entry */
};

/** A row of the table of formats. */
struct roof_precision_entry {
    enum roof_precision precision;
    const struct roof_accuracy *accuracy;
};

/** A row of the table of engines (engine_report.h). */
struct roof_engine_entry {
    const char *id;
    const char *name;
    char formats[256]; /**< as it calls them, by blanks */
    const struct roof_engine *engine;
};

/** A row of the table of models. */
struct roof_model_entry {
    const struct roof_model *model;
    double parameters;
    double active_parameters;
    double kv_bytes_per_token; /**< at 16 bits */
};

/**
 * Chooses the columns: all keys, or for text and Markdown a readable selection; columns
 * ("key,key", NULL: the default) chooses others for csv, ndjson and md. op is the operator of all
 * rows, for tables of predictions and recommendations; of predictions ROOF_OPERATOR_COUNT: of any,
 * the dimensions of all operators are columns, and a row has those of its own.
 */
enum roof_status roof_table_open(struct roof_table *out, enum roof_output output,
                                 enum roof_table_kind kind, enum roof_operator op,
                                 const char *columns, struct roof_error *error);
/** Shows a key of model predictions too, if it is not among the columns. */
void roof_table_show(struct roof_table *table, const char *key);
/** Of the dimensions keeps those of a set of bits (1 << dimension). */
void roof_table_keep_dimensions(struct roof_table *table, uint32_t dimensions);
/** Columns before the table's own, for its header and for the rows that follow: the caller sets
 * their texts before each row. */
void roof_table_carry(struct roof_table *table, const struct roof_carried *carried, size_t count);
/** Whether rows of predictions, or of model predictions, have a key; of the dimensions any. */
bool roof_table_has(enum roof_table_kind kind, const char *key);
/** Header; rows; footer. result points to what the kind of the table says. */
void roof_table_begin(struct roof_table *table, struct roof_text *out);
void roof_table_row(struct roof_table *table, struct roof_text *out, const void *result);
void roof_table_end(struct roof_table *table, struct roof_text *out);

/** The fields of one result as the members of a JSON object, each after separator, without the
 * braces; and as lines "key value" for people. */
void roof_table_object(struct roof_table *table, struct roof_text *out, const void *result,
                       const char *separator);
void roof_table_record(const struct roof_table *table, struct roof_text *out, const void *result);

#ifdef __cplusplus
}
#endif

#endif
