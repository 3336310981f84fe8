// SPDX-License-Identifier: MIT
/* Parts of scripts for gnuplot that all kinds of charts share. */
#ifndef ROOF_CHART_SCRIPT_H
#define ROOF_CHART_SCRIPT_H

#include "base/text.h"
#include "chart/chart_text.h"

/* Writes text in double quotes. Characters that could mean something to gnuplot are octal numbers
 * there; in single quotes no text may begin with a quote. */
void roof_script_quote(struct roof_text *out, const char *text);
/* Writes a number with the few digits that a layout needs, alike in every locale. */
void roof_script_number(struct roof_text *out, double value);
/* Returns the font size that makes text so many pixels high. */
double roof_script_text_size(enum roof_chart_image image, double pixels);
/* Returns the pixels that a text takes in a font so many pixels high, to a hundredth of the font
 * for ASCII. Other characters count as wide as a digit. */
double roof_script_text_width(const char *text, double font);
/* Returns how many pixels stand for one of the layout: more than one in an image that is larger
 * than a screen, where a font of a few pixels could not be read. */
double roof_script_scale(double width, double height);
/* Returns by how much the sizes of points grow for a scale: in an SVG they follow the font. */
double roof_script_points(enum roof_chart_image image, double scale);
/* Chooses the kind of image, its size and its font, all in pixels, and their scale. */
void roof_script_terminal(struct roof_text *out, enum roof_chart_image image, double width,
                          double height, double font, double scale);
/* Places the axes, in shares of the screen from its left and its bottom. */
void roof_script_margins(struct roof_text *out, double left, double right, double top,
                         double bottom);

#endif
