// SPDX-License-Identifier: MIT
/**
 * Results as text, JSON, NDJSON, CSV and Markdown. Reports compute nothing: one table says which
 * field of a result stands under which key, in which unit.
 */
#ifndef ROOFLINE_REPORT_H
#define ROOFLINE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roofline/explain.h"
#include "roofline/predict.h"
#include "roofline/recommend.h"
#include "roofline/text.h"

/** Same numbers as the choices of the input "format". */
enum roof_output {
    ROOF_OUTPUT_TEXT,
    ROOF_OUTPUT_JSON,
    ROOF_OUTPUT_NDJSON,
    ROOF_OUTPUT_CSV,
    ROOF_OUTPUT_MARKDOWN
};

#define ROOF_COLUMNS_MAX 64

struct roof_field; /* a row of the field table */

/** Rows of results in one format. Fill with roof_table_open. */
struct roof_table {
    enum roof_output output;
    const struct roof_field *field[ROOF_COLUMNS_MAX];
    size_t count;
    uint64_t rows; /**< written so far */
};

/** What the rows of a table are. */
enum roof_table_kind {
    ROOF_TABLE_PREDICTIONS,     /**< rows are predictions */
    ROOF_TABLE_RECOMMENDATIONS, /**< rows are candidates */
    ROOF_TABLE_HARDWARE,        /**< rows are devices */
    ROOF_TABLE_PRECISIONS,      /**< rows are struct roof_precision_entry */
    ROOF_TABLE_OPERATORS        /**< rows are struct roof_operator_row */
};

/** A row of the table of formats. */
struct roof_precision_entry {
    enum roof_precision precision;
    const struct roof_accuracy *accuracy;
};

/**
 * Chooses the columns: all keys, or for text and Markdown a readable selection; columns
 * ("key,key", NULL: the default) chooses others for csv, ndjson and md. op is the operator of all
 * rows, for tables of predictions and recommendations.
 */
enum roof_status roof_table_open(struct roof_table *out, enum roof_output output,
                                 enum roof_table_kind kind, enum roof_operator op,
                                 const char *columns, struct roof_error *error);
/** Header; rows; footer. result points to what the kind of the table says. */
void roof_table_begin(struct roof_table *table, struct roof_text *out);
void roof_table_row(struct roof_table *table, struct roof_text *out, const void *result);
void roof_table_end(struct roof_table *table, struct roof_text *out);

/** One prediction as a JSON object (with its parts, and the explanation when it is not NULL). */
void roof_report_json(struct roof_text *out, const struct roof_prediction *prediction,
                      const struct roof_explanation *explanation);
/**
 * One prediction for people. product is the device with the published figures, for a device that
 * is as the documents specify it, else NULL; explanation may be NULL.
 */
void roof_report_text(struct roof_text *out, const struct roof_prediction *prediction,
                      const struct roof_hardware *product,
                      const struct roof_explanation *explanation);

/** A recommendation: {"candidates": [...], "rejected": [...]}, or for people. */
void roof_report_recommendation_json(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     enum roof_operator op);
void roof_report_recommendation_text(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     const struct roof_workload *workload,
                                     const struct roof_hardware *hardware,
                                     const struct roof_hardware *product);

/** Everything known of one device, format or operator. product as above. */
void roof_report_hardware(struct roof_text *out, enum roof_output output,
                          const struct roof_hardware *hardware,
                          const struct roof_hardware *product);
void roof_report_precision(struct roof_text *out, enum roof_output output,
                           enum roof_precision precision, const struct roof_accuracy *accuracy);
void roof_report_operator(struct roof_text *out, enum roof_output output, enum roof_operator op);

#endif
