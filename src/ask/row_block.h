// SPDX-License-Identifier: MIT
/* Rows of many predictions, which are written in several threads. */
#ifndef ROOF_ASK_ROW_BLOCK_H
#define ROOF_ASK_ROW_BLOCK_H

#include "report/rows.h"

/* Predictions of operators whose rows are not written yet, with the cells that are carried through.
 * Zero is one without room. */
struct roof_row_block {
    struct roof_prediction *prediction;
    size_t count;
    struct roof_text carried; /* the cells of all rows, each ended by NUL */
    struct roof_row_part *part;
    int64_t threads;
};

/* Makes room. Without memory, or on one processor, there is none, and rows are written one by one.
 */
void roof_row_block_open(struct roof_row_block *out);
bool roof_row_block_full(const struct roof_row_block *block);
/* Adds a prediction, which is copied, and the cells that the table carries now. */
void roof_row_block_add(struct roof_row_block *block, const struct roof_prediction *prediction,
                        const struct roof_table *table);
/* Writes the rows of all predictions as the table would write them one by one, and empties the
 * block. */
enum roof_status roof_row_block_write(struct roof_row_block *block, struct roof_table *table,
                                      struct roof_text *out, struct roof_error *error);
void roof_row_block_free(struct roof_row_block *block);

#endif
