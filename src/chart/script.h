// SPDX-License-Identifier: MIT
/* Parts of gnuplot scripts that all kinds of charts share. */
#ifndef ROOF_CHART_SCRIPT_H
#define ROOF_CHART_SCRIPT_H

#include "base/text.h"
#include "chart/chart_text.h"

/* Writes text in double quotes. Characters with a meaning for gnuplot become octal escapes; single
 * quotes do not support a leading quote. */
void roof_script_quote(struct roof_text *out, const char *text);
/* Writes a number with few digits, independent of the locale. */
void roof_script_number(struct roof_text *out, double value);
/* Returns the font size that makes text `pixels` high. */
double roof_script_text_size(enum roof_chart_image image, double pixels);
/* Returns the width of a text in pixels for a font `font` pixels high, to a hundredth of the font
 * for ASCII. Other characters count as wide as a digit. */
double roof_script_text_width(const char *text, double font);
/* Returns the pixels of the image per pixel of the layout: above 1 for an image larger than a
 * screen, where a font of a few pixels would not be legible. */
double roof_script_scale(double width, double height);
/* Returns the factor of point sizes for a scale: in an SVG they follow the font. */
double roof_script_points(enum roof_chart_image image, double scale);
/* Room for a colour, "RRGGBB". */
#define ROOF_INK_SIZE 7
/* Returns the colour for text that belongs to something of a colour, both "RRGGBB": as dark as its
 * contrast with white needs, which is 4.5 (WCAG 2.2, success criterion 1.4.3). */
const char *roof_script_ink(char out[ROOF_INK_SIZE], const char *colour);
/* Selects the kind of image, its size and its font, in pixels, and their scale. */
void roof_script_terminal(struct roof_text *out, enum roof_chart_image image, double width,
                          double height, double font, double scale);
/* Sets the position of the axes, as fractions of the screen from its left and its bottom. */
void roof_script_margins(struct roof_text *out, double left, double right, double top,
                         double bottom);

/* A title in one line, or in two if it would be too small in one. */
struct roof_script_title {
    char line[2][ROOF_CHART_NAME_SIZE];
    double font;
    size_t lines;
};
/* Lays out a title within a width: in a font that fits, from `font` down to `least`; if that is too
 * wide, in two lines, the second of which begins after a comma or a blank. */
struct roof_script_title roof_script_title(const char *text, double width, double font,
                                           double least);
/* Returns the font size, at most `font`, at which a text fits a width, if that is legible. */
double roof_script_fitting(const char *text, double width, double font);

#endif
