// SPDX-License-Identifier: MIT
#include "chart/page.h"

#include <math.h>

/* The dots of a Braille character. */
#define BRAILLE_COLUMNS 2
#define BRAILLE_ROWS 4

/* The 256-colour codes of terminals that are closest to the colours of images. */
static const unsigned char terminal_colours[ROOF_INKS] = {0, 32, 166, 35, 175, 178, 74};
#define INK_SHIFT 24

void roof_page_colour(struct roof_page *page, size_t colour)
{
    page->ink = colour == 0 ? 0 : (uint32_t)((colour - 1) % (ROOF_INKS - 1) + 1) << INK_SHIFT;
}

void roof_page_put_colour(struct roof_text *out, const struct roof_page *page, uint32_t ink)
{
    if (!page->coloured) {
        return;
    }
    if (ink == 0) {
        roof_text_put(out, "\033[0m");
    } else {
        roof_text_printf(out, "\033[38;5;%um", terminal_colours[ink >> INK_SHIFT]);
    }
}

int roof_page_decimals(double least)
{
    return least >= 100 ? 0 : least < 0.1 ? 4 : 2 - (int)floor(log10(least));
}

uint32_t *roof_page_cell(const struct roof_page *page, double x, double y)
{
    const double column = floor(x);
    const double row = floor(y);
    return column >= 0 && row >= 0 && column < (double)page->columns && row < (double)page->rows
               ? &page->cell[(size_t)row * page->columns + (size_t)column]
               : NULL;
}

void roof_page_ink(const struct roof_page *page, double x, double y, char ascii)
{
    uint32_t *const cell = roof_page_cell(page, x, y);
    if (cell == NULL) {
        return;
    }
    if (!page->unicode) {
        *cell = *cell == 0 ? (uint32_t)(unsigned char)ascii | page->ink : *cell;
        return;
    }
    static const unsigned bits[BRAILLE_ROWS][BRAILLE_COLUMNS] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (*cell == 0 || (ROOF_CODE(*cell) & ~0xffU) == ROOF_BRAILLE) {
        const size_t column = (size_t)((x - floor(x)) * BRAILLE_COLUMNS);
        const size_t row = (size_t)((y - floor(y)) * BRAILLE_ROWS);
        *cell = ROOF_CODE(*cell) | ROOF_BRAILLE | bits[row][column] | page->ink;
    }
}

void roof_page_write(const struct roof_page *page, double x, double y, const char *text)
{
    for (int column = 0; *text != '\0'; column++) {
        const unsigned char first = (unsigned char)*text++;
        uint32_t code = first < 0x80   ? first
                        : first < 0xe0 ? first & 0x1fU
                        : first < 0xf0 ? first & 0x0fU
                                       : first & 0x07U;
        while (((unsigned char)*text & 0xc0) == 0x80) {
            code = code << 6 | ((unsigned char)*text++ & 0x3fU);
        }
        uint32_t *const cell = roof_page_cell(page, x + column, y);
        if (cell != NULL) {
            *cell = code | page->ink;
        }
    }
}

static void put_character(struct roof_text *out, uint32_t code)
{
    char bytes[4];
    size_t length = 0;
    if (code < 0x80) {
        bytes[length++] = (char)code;
    } else if (code < 0x800) {
        bytes[length++] = (char)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        bytes[length++] = (char)(0xe0 | code >> 12);
        bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
    } else {
        bytes[length++] = (char)(0xf0 | code >> 18);
        bytes[length++] = (char)(0x80 | (code >> 12 & 0x3f));
        bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
    }
    if (code >= 0x80) {
        bytes[length++] = (char)(0x80 | (code & 0x3f));
    }
    roof_text_add(out, bytes, length);
}

void roof_page_put(struct roof_text *out, const struct roof_page *page)
{
    for (size_t row = 0; row < page->rows; row++) {
        const uint32_t *const cell = &page->cell[row * page->columns];
        size_t last = page->columns;
        uint32_t ink = 0;
        while (last > 0 && (cell[last - 1] == 0 || ROOF_CODE(cell[last - 1]) == ' ')) {
            last--;
        }
        for (size_t i = 0; i < last; i++) {
            const uint32_t code = ROOF_CODE(cell[i]);
            if (code != 0 && code != ' ' && ink != cell[i] - code) {
                ink = cell[i] - code;
                roof_page_put_colour(out, page, ink);
            }
            put_character(out, code == 0 ? ' ' : code);
        }
        if (ink != 0) {
            roof_page_put_colour(out, page, 0);
        }
        roof_text_put(out, "\n");
    }
}
