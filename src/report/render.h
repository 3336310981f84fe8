// SPDX-License-Identifier: MIT
/* The renderer of tables: it writes values under the columns of a table of any kind. */
#ifndef ROOF_REPORT_RENDER_H
#define ROOF_REPORT_RENDER_H

#include "report/table.h"

/* The fields of a kind of result. The selection for people may have another order. */
void roof_table_fields(struct roof_fields *out, enum roof_table_kind kind, enum roof_operator op,
                       bool for_people);

/* Returns the width of a row of a text table. */
int roof_table_width(const struct roof_table *table);

/* Formats a value for people: a short number, yes or no. Returns the text, which may be `out`. */
const char *roof_table_readable(char out[ROOF_QUANTITY_SIZE], const struct roof_field *field,
                                const struct roof_value *value);

/* Removes a column, if the table has it. */
void roof_table_hide(struct roof_table *table, const char *key);
/* Appends a column that the text of this kind of table leaves out. */
void roof_table_append(struct roof_table *table, enum roof_table_kind kind, const char *key,
                       const char *label);

/* Writes a row with a value for each column. */
void roof_table_row(struct roof_table *table, struct roof_text *out,
                    const struct roof_value *values);

/* Opens a table for an entry of a list, with all its keys, as a JSON object or as lines. */
void roof_table_begin_entry(struct roof_table *table, struct roof_text *out, bool json,
                            enum roof_table_kind kind);
/* Ends the object of an entry. */
void roof_table_end_entry(struct roof_text *out, bool json);

#endif
