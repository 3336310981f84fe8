// SPDX-License-Identifier: MIT
/** Rows of results as text, JSON, NDJSON, CSV and Markdown. The fields of each kind of result
 * define the keys, values and units (field.h); nothing is computed here. */
#ifndef ROOF_REPORT_TABLE_H
#define ROOF_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "catalog/field.h"
#include "operator/operator.h"
#include "roofline/question.h"

/** The formats of rows; the numbers equal those of enum roof_answer_format. */
enum roof_output {
    ROOF_OUTPUT_TEXT = ROOF_TEXT,
    ROOF_OUTPUT_JSON = ROOF_JSON,
    ROOF_OUTPUT_NDJSON = ROOF_NDJSON,
    ROOF_OUTPUT_CSV = ROOF_CSV,
    ROOF_OUTPUT_MARKDOWN = ROOF_MARKDOWN
};

/** The kinds of results in tables. */
enum roof_table_kind {
    ROOF_TABLE_PREDICTIONS,
    ROOF_TABLE_TILES,           /**< predictions for products with a tile */
    ROOF_TABLE_RECOMMENDATIONS, /**< candidates */
    ROOF_TABLE_HARDWARE,
    ROOF_TABLE_PRECISIONS,
    ROOF_TABLE_OPERATORS,
    ROOF_TABLE_MODEL_PREDICTIONS,
    ROOF_TABLE_NODES, /**< operators of a model's prediction */
    ROOF_TABLE_MODELS,
    ROOF_TABLE_LAYOUTS,
    ROOF_TABLE_PLANS,
    ROOF_TABLE_RATES, /**< plans that serve a request rate */
    ROOF_TABLE_SPEEDUPS,
    ROOF_TABLE_ENGINES,
    ROOF_TABLE_SIMULATIONS,
    ROOF_TABLE_SERVED,  /**< requests of a simulation */
    ROOF_TABLE_MOMENTS, /**< intervals of a simulation */
    ROOF_TABLE_SAMPLES, /**< samples of GPUs over time */
    ROOF_TABLE_ENERGIES /**< energies of GPUs over a run */
};

/** The form in which a row is written. */
enum roof_table_form {
    ROOF_FORM_ROW,     /**< a row in the output format */
    ROOF_FORM_MEMBERS, /**< the members of a JSON object, without its braces */
    ROOF_FORM_LINES    /**< a line "key value" for people per value */
};

#define ROOF_CELL_SIZE 40

/** The cell of a column in the previous row: most cells of a long table repeat a value, and are
 * copied. */
struct roof_cell {
    bool known;                  /**< the other fields are valid */
    double number;               /**< the value, if it is a number */
    size_t length;               /**< length of `text` */
    char text[ROOF_CELL_SIZE];   /**< the cell as written to the output */
    char source[ROOF_CELL_SIZE]; /**< the value, if it is a text */
    size_t lead_length;          /**< length of `lead`; 0: it is not made yet */
    char lead[ROOF_CELL_SIZE];   /**< the text "key": before the value in an object */
};

/** Rows of results in one format. Open with roof_table_open; only one thread at a time may write
 * rows. A copy that is made before the first row is an independent table. */
struct roof_table {
    enum roof_output output;
    enum roof_table_form form;
    enum roof_table_kind kind;
    enum roof_operator op;
    const char *separator; /**< ROOF_FORM_MEMBERS: text before each member */
    struct roof_fields columns;
    struct roof_cell cell[ROOF_FIELDS_MAX];
    uint64_t rows;                      /**< number of rows so far */
    const struct roof_carried *carried; /**< borrowed */
    size_t carried_count;
};

/** Chooses the columns: all keys, or for text and Markdown a readable selection; `columns`
 * ("key,key", NULL: the default) chooses others, except for json. `op` is the operator of all
 * rows, for tables of predictions, recommendations and nodes. For predictions ROOF_OPERATOR_COUNT
 * means any operator: the dimensions of all operators are columns, and each row has its own.
 * ROOF_USAGE for columns that do not exist or that the format does not support. */
enum roof_status roof_table_open(struct roof_table *out, enum roof_output output,
                                 enum roof_table_kind kind, enum roof_operator op,
                                 const char *columns, struct roof_error *error);
/** Opens a table whose rows are the members of a JSON object, without its braces, each after the
 * separator. All keys are columns. */
void roof_table_open_members(struct roof_table *out, enum roof_table_kind kind,
                             enum roof_operator op, const char *separator);
/** Opens a table whose rows are lines "key value" for people. All keys are columns. */
void roof_table_open_lines(struct roof_table *out, enum roof_table_kind kind);

/** Returns the path in the JSON of a prediction for a name of text reports that is no column; NULL:
 * there is none. */
const char *roof_table_document_key(const char *name);

/** Sets columns before the table's own, in its header and in the rows that follow. The caller sets
 * their texts before each row. */
void roof_table_carry(struct roof_table *table, const struct roof_carried *carried, size_t count);

/** Writes the header before the rows. */
void roof_table_begin(struct roof_table *table, struct roof_text *out);
/** Writes the end after the rows. */
void roof_table_end(struct roof_table *table, struct roof_text *out);

#endif
