// SPDX-License-Identifier: MIT
/* Markdown that also reads well as plain text: tables with padded cells, code blocks, and values.
 */
#ifndef ROOF_REPORT_MARKDOWN_H
#define ROOF_REPORT_MARKDOWN_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/quantity.h"
#include "base/text.h"

#define ROOF_GRID_COLUMNS_MAX 16

/* A table. Its cells are written into `text` one by one, each ended by roof_markdown_end_cell; the
 * column widths are known after the last one. */
struct roof_markdown_table {
    struct roof_text text;
    size_t cells;
    size_t columns;
    unsigned right; /* a bit per column: its cells are numbers, aligned to the right */
};

/* Begins a table with the titles of its columns; a '>' before a title marks a column of numbers. */
void roof_markdown_begin(struct roof_markdown_table *g, const char *const *title, size_t columns);
#define ROOF_GRID_BEGIN(g, ...)                                                                    \
    roof_markdown_begin(g, (const char *const[]){__VA_ARGS__},                                     \
                        COUNT(((const char *const[]){__VA_ARGS__})))
/* Writes the table and releases it. */
void roof_markdown_put(struct roof_text *out, struct roof_markdown_table *g);

/* Ends a cell that was written into g->text. */
void roof_markdown_end_cell(struct roof_markdown_table *g);
/* Each of these writes a whole cell. */
void roof_markdown_cell(struct roof_markdown_table *g, const char *text);
void roof_markdown_quantity(struct roof_markdown_table *g, double value, enum roof_unit unit);
void roof_markdown_integer(struct roof_markdown_table *g, int64_t value);
void roof_markdown_time(struct roof_markdown_table *g, double seconds);
void roof_markdown_share(struct roof_markdown_table *g, double fraction);
void roof_markdown_number(struct roof_markdown_table *g, double value);

/* Writes arbitrary text, escaped, and releases it. */
void roof_markdown_put_made(struct roof_text *out, struct roof_text *made);
/* Writes lines unchanged in a code block; its fence is longer than any in the lines. */
void roof_markdown_put_block(struct roof_text *out, const char *kind, const char *lines);
/* Writes sources as their authors give them, separated by "; "; those like "owner/repository@commit
 * path" become links to GitHub. */
void roof_markdown_put_sources(struct roof_text *out, const char *sources);
/* Begins a section that GitHub folds under a line of text, which must not need escapes. */
void roof_markdown_fold(struct roof_text *out, const char *line);
void roof_markdown_unfold(struct roof_text *out);
/* Writes a text report, folded under a line, and releases it. */
void roof_markdown_put_report(struct roof_text *out, const char *line, struct roof_text *report);
void roof_markdown_put_quantity(struct roof_text *out, double value, enum roof_unit unit);
/* Writes FLOP/s with a prefix; "-" if there are none. */
void roof_markdown_put_rate(struct roof_text *out, double flops_per_s);

#endif
