// SPDX-License-Identifier: MIT
/* Measured rows as files: rows.csv with the columns that compare reads, probes.csv with the rest.
 */
#ifndef ROOF_MEASURE_ROWS_H
#define ROOF_MEASURE_ROWS_H

#include "base/text.h"
#include "measure/suite.h"

/* Names a probe as in probes.csv: "read". */
const char *roof_probe_name(enum roof_probe probe);

/* Write the files, header and rows. */
void roof_rows_write(struct roof_text *out, const struct roof_measured *measured);
void roof_probes_write(struct roof_text *out, const struct roof_measured *measured);

/* Write the first lines of these files. */
void roof_rows_columns(struct roof_text *out);
void roof_probes_columns(struct roof_text *out);

/* Finds the row of a task in the text of such a file; false if it has none. */
bool roof_rows_find(struct roof_meter_row *out, const struct roof_meter_task *task,
                    const char *text);

/* Writes what an operator is, as the columns of rows.csv before the measured ones, with a comma
 * behind each; and the names of these columns. */
void roof_rows_operator(struct roof_text *out, const struct roof_workload *workload);
void roof_rows_operator_columns(struct roof_text *out);

/* Finds the line of a text that begins so; returns what is behind that, or NULL. */
const char *roof_rows_line(const char *text, const char *begin);

#endif
