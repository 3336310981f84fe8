// SPDX-License-Identifier: MIT
/* Draws charts of all kinds: their size, and the images that the caller makes of scripts. */
#ifndef ROOF_ASK_DRAW_H
#define ROOF_ASK_DRAW_H

#include "ask/asking.h"
#include "chart/chart_text.h"

/* The size of a chart: columns of text, or pixels. */
struct roof_drawing_size {
    int64_t width;
    int64_t height; /* 0 of text */
    bool ascii;
    bool coloured;
};

/* How a chart of characters of a size looks. */
struct roof_chart_look roof_drawing_look(const struct roof_drawing_size *size);

/* True where the answer is an image, or the script that makes one. */
bool roof_asking_drawn(const struct roof_asking *a);
/* Refuses an image of an operator, with the formats that the command has for operators. */
enum roof_status roof_refuse_operator(const struct roof_asking *a, struct roof_error *error);
/* Reads WIDTH[xHEIGHT], the characters and the colours; what is not given has its default. */
enum roof_status roof_read_drawing_size(struct roof_drawing_size *out, const struct roof_asking *a,
                                        struct roof_error *error);
/* The kind of image that is asked for; a script makes an SVG. */
enum roof_chart_image roof_asking_image(const struct roof_asking *a);
/* Writes a script, or the image that the caller draws of it, with a title and a summary. */
enum roof_status roof_asking_draw(struct roof_text *out, const struct roof_asking *a,
                                  const struct roof_text *script, const char *title,
                                  const struct roof_text *summary, struct roof_error *error);

/* The kinds of charts, which have the numbers of the choices of the input "chart". */
enum roof_chart_kind {
    ROOF_CHART_ROOFLINE,
    ROOF_CHART_LATENCY,
    ROOF_CHART_PARETO,
    ROOF_CHART_RATE, /* this and those that follow are of simulations */
    ROOF_CHART_TIME,
    ROOF_CHART_DISTRIBUTION
};

/* Reads the kind of a chart that plot draws, or one of a load, which simulate draws. The first of
 * them is the default. */
enum roof_status roof_read_chart(int64_t *out, const struct roof_question *question, bool of_load,
                                 struct roof_error *error);

#endif
