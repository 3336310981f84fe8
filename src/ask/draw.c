// SPDX-License-Identifier: MIT
#include "ask/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "chart/pdf.h"
#include "chart/svg.h"

#define COLUMNS_DEFAULT 100
#define WIDTH_DEFAULT 1200
#define HEIGHT_DEFAULT 800

/* The choices of `charset`; a text chart has characters of Unicode unless ascii is asked for. */
enum charset { AUTO, UNICODE, ASCII };
/* The choices of `color`, of which the first is AUTO, too: a text has none unless it is asked for.
 */
enum { ALWAYS = 1 };

struct roof_chart_look roof_drawing_look(const struct roof_drawing_size *size)
{
    return (struct roof_chart_look){(size_t)size->width, !size->ascii, size->coloured};
}

bool roof_asking_drawn(const struct roof_asking *a)
{
    return a->form.format == ROOF_SVG || a->form.format == ROOF_PNG || a->form.format == ROOF_PDF ||
           a->form.format == ROOF_GNUPLOT;
}

enum roof_status roof_refuse_operator(const struct roof_asking *a, struct roof_error *error)
{
    if (a->command != ROOF_COMMAND_SWEEP && a->command != ROOF_COMMAND_RECOMMEND) {
        return roof_error_set(error, ROOF_USAGE,
                              "only models have charts of curves; use plot for operators");
    }
    return roof_error_set(error, ROOF_USAGE,
                          "%s draws no charts of operators: its formats are text, json, ndjson, "
                          "csv, md and html; use plot",
                          a->command == ROOF_COMMAND_SWEEP ? "sweep" : "recommend");
}

enum roof_chart_image roof_asking_image(const struct roof_asking *a)
{
    return a->form.format == ROOF_PNG   ? ROOF_CHART_PNG
           : a->form.format == ROOF_PDF ? ROOF_CHART_PDF
                                        : ROOF_CHART_SVG;
}

/* Reads the size that the question gives; a text chart has a width alone. */
static enum roof_status read_size(struct roof_drawing_size *out, const char *text, bool columns,
                                  struct roof_error *error)
{
    const int64_t least = columns ? ROOF_CHART_COLUMNS_MIN : ROOF_CHART_WIDTH_MIN;
    const int64_t most = columns ? ROOF_CHART_COLUMNS_MAX : ROOF_CHART_PIXELS_MAX;
    char width[24];
    const size_t length = strcspn(text, "x");
    const char *const times = text[length] == '\0' ? NULL : text + length;
    if (length >= sizeof width) {
        return roof_error_set(error, ROOF_USAGE, ROOF_KEY("size") " must be WIDTHxHEIGHT, not '%s'",
                              text);
    }
    (void)snprintf(width, sizeof width, "%.*s", (int)length, text);
    TRY(roof_parse_integer(&out->width, width,
                           columns ? ROOF_KEY("size") " of a text chart"
                                   : "the width of " ROOF_KEY("size"),
                           least, most, error));
    if (times != NULL && columns) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("size") " of a text chart must be a number of columns, not '%s'", text);
    }
    return times == NULL
               ? ROOF_OK
               : roof_parse_integer(&out->height, times + 1, "the height of " ROOF_KEY("size"),
                                    ROOF_CHART_HEIGHT_MIN, most, error);
}

enum roof_status roof_read_drawing_size(struct roof_drawing_size *out, const struct roof_asking *a,
                                        struct roof_error *error)
{
    const char *const text = a->question->value[ROOF_INPUT_SIZE];
    const bool columns = !roof_asking_drawn(a);
    int64_t charset = AUTO;
    int64_t colour = AUTO;
    *out = (struct roof_drawing_size){.width = columns ? COLUMNS_DEFAULT : WIDTH_DEFAULT};
    TRY(roof_read_choice(&charset, a->question, ROOF_INPUT_CHARSET, error));
    TRY(roof_read_choice(&colour, a->question, ROOF_INPUT_COLOR, error));
    out->ascii = charset == ASCII;
    out->coloured = colour == ALWAYS;
    if (text != NULL && a->form.format != ROOF_JSON) {
        TRY(read_size(out, text, columns, error));
    }
    if (!columns && out->height == 0) {
        out->height = out->width * HEIGHT_DEFAULT / WIDTH_DEFAULT;
    }
    return ROOF_OK;
}

enum roof_status roof_asking_draw(struct roof_text *out, const struct roof_asking *a,
                                  const struct roof_text *script, const char *title,
                                  const struct roof_text *summary, struct roof_error *error)
{
    char *image = NULL;
    size_t length = 0;
    if (script->failed || summary->failed) {
        return roof_no_memory(error);
    }
    if (a->form.format == ROOF_GNUPLOT) {
        roof_text_add(out, script->data, script->length);
        return ROOF_OK;
    }
    if (a->listener->draw == NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "images cannot be drawn here: ask for gnuplot, json or text");
    }
    TRY(a->listener->draw(a->listener->context, &image, &length, script->data, error));
    if (a->form.format == ROOF_SVG) {
        roof_svg_entitle(out, image, length, title, summary->data);
    } else if (a->form.format == ROOF_PDF) {
        roof_pdf_entitle(out, image, length, title, summary->data);
    } else {
        roof_text_add(out, image, length);
    }
    free(image);
    return ROOF_OK;
}

enum roof_status roof_read_chart(int64_t *out, const struct roof_question *question, bool of_load,
                                 struct roof_error *error)
{
    const struct roof_input *const input = roof_input(ROOF_INPUT_CHART);
    const char *const text = question->value[ROOF_INPUT_CHART];
    const int64_t first = of_load ? ROOF_CHART_RATE : ROOF_CHART_ROOFLINE;
    const int64_t last = of_load ? ROOF_CHART_DISTRIBUTION : ROOF_CHART_PARETO;
    *out = first;
    if (text == NULL) {
        return ROOF_OK;
    }
    if (roof_input_parse(out, input, text, NULL) != ROOF_OK) {
        return roof_unknown_name(error, ROOF_USAGE, input->option, text, input->choices + first,
                                 (size_t)(last - first + 1));
    }
    return *out >= first && *out <= last
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("chart") " %s is drawn by %s; %s draws %s, %s and %s",
                                text, of_load ? "plot" : "simulate", of_load ? "simulate" : "plot",
                                input->choices[first], input->choices[first + 1],
                                input->choices[last]);
}
