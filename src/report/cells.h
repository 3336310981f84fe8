// SPDX-License-Identifier: MIT
/* The cells of a row for programs, as CSV and as members of a JSON object. */
#ifndef ROOF_REPORT_CELLS_H
#define ROOF_REPORT_CELLS_H

#include "report/rows.h"

/* A value as printed: numbers are in the unit of their field. */
struct roof_value roof_printed(const struct roof_field *field, const struct roof_value *value);
/* Tells whether a printed value is absent. */
bool roof_absent(const struct roof_field *field, const struct roof_value *printed);

/* Writes the values of a row, separated by commas; absent ones are empty cells. */
void roof_cells_csv(struct roof_table *table, struct roof_text *out,
                    const struct roof_value *values);
/* Writes the present values as members of an object, each after the separator; `begun` tells
 * whether members precede them. */
void roof_cells_json(struct roof_table *table, struct roof_text *out,
                     const struct roof_value *values, const char *separator, bool begun);

/* The format of the times in a table, which share one unit. */
struct roof_time_look {
    enum roof_unit unit;
    int decimals;
};

/* Chooses the decimals so that the longest time has five digits. */
struct roof_time_look roof_time_look(double longest_s, enum roof_unit unit);
/* Writes a time without its unit, or "-" if unknown; returns the text. */
const char *roof_time_text(char out[ROOF_QUANTITY_SIZE], double s,
                           const struct roof_time_look *look);

#endif
