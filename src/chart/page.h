// SPDX-License-Identifier: MIT
/* A page of characters, on which the charts of a terminal are drawn. */
#ifndef ROOF_CHART_PAGE_H
#define ROOF_CHART_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* The first of the characters of Braille, with which lines are drawn. */
#define ROOF_BRAILLE 0x2800

/* The code point of a cell; the bits above it are its colour. */
#define ROOF_CODE(cell) ((cell)&0x1fffffU)

/* Colours, of which 0 is that of the terminal. */
#define ROOF_INKS 7

/* Code points with colours, row by row; 0 stands for a cell that is still empty. */
struct roof_page {
    size_t columns, rows;
    uint32_t *cell;
    bool unicode;  /* lines are of Braille; else of ASCII */
    bool coloured; /* colours are written, as terminals read them */
    uint32_t ink;  /* what is drawn gets this colour: roof_page_colour */
};

/* Draws in a colour from now on; 0 is that of the terminal, and those behind the last repeat. */
void roof_page_colour(struct roof_page *page, size_t colour);
/* Writes what makes a terminal write in a colour. */
void roof_page_put_colour(struct roof_text *out, const struct roof_page *page, uint32_t ink);

/* Returns the cell at a place; NULL: it is beside the page. */
uint32_t *roof_page_cell(const struct roof_page *page, double x, double y);
/* Draws a point of a line; other lines and points stay. */
void roof_page_ink(const struct roof_page *page, double x, double y, char ascii);
/* Writes text from a column on, in the row of y. */
void roof_page_write(const struct roof_page *page, double x, double y, const char *text);
/* Adds the rows to a text, without the blanks at their ends. */
void roof_page_put(struct roof_text *out, const struct roof_page *page);

#endif
