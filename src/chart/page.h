// SPDX-License-Identifier: MIT
/* A page of characters for drawing charts in a terminal. */
#ifndef ROOF_CHART_PAGE_H
#define ROOF_CHART_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* The first Braille character, for lines. */
#define ROOF_BRAILLE 0x2800

/* The code point of a cell; the higher bits are its colour. */
#define ROOF_CODE(cell) ((cell)&0x1fffffU)

/* The number of colours; 0 is that of the terminal. */
#define ROOF_INKS 7

/* Coloured code points, row by row; 0 is an empty cell. */
struct roof_page {
    size_t columns, rows;
    uint32_t *cell;
    bool unicode;  /* lines use Braille; otherwise ASCII */
    bool coloured; /* colours are written as terminal escapes */
    uint32_t ink;  /* current colour, set by roof_page_colour */
};

/* Sets the colour of later drawing; 0 is that of the terminal, and higher numbers cycle. */
void roof_page_colour(struct roof_page *page, size_t colour);
/* Writes the terminal escape for a colour. */
void roof_page_put_colour(struct roof_text *out, const struct roof_page *page, uint32_t ink);

/* Returns the cell at a position; NULL: it is outside the page. */
uint32_t *roof_page_cell(const struct roof_page *page, double x, double y);
/* Draws a point of a line; other lines and points remain. */
void roof_page_ink(const struct roof_page *page, double x, double y, char ascii);
/* Writes text from a column on, in the row of y. */
void roof_page_write(const struct roof_page *page, double x, double y, const char *text);
/* Returns the decimals, at most four, that give the smallest of some numbers three digits. */
int roof_page_decimals(double least);
/* Appends the rows to a text, without trailing blanks. */
void roof_page_put(struct roof_text *out, const struct roof_page *page);

#endif
