// SPDX-License-Identifier: MIT
#include "chart/script.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/character.h"

static const char *const terminals[] = {
    [ROOF_CHART_SVG] = "svg", [ROOF_CHART_PNG] = "pngcairo", [ROOF_CHART_PDF] = "pdfcairo"};
/* The largest width of images that are shown unscaled. */
#define SCREEN_WIDTH 1600
#define SCREEN_HEIGHT 1000
#define SMALLEST 9.0 /* the smallest legible font */

/* The font size that makes text one pixel high, by terminal. */
static const double text_unit[] = {
    [ROOF_CHART_SVG] = 1, [ROOF_CHART_PNG] = 0.75, [ROOF_CHART_PDF] = 0.54};

void roof_script_quote(struct roof_text *out, const char *text)
{
    static const char plain[] = " _.,:=/+()-*%<>";
    roof_text_put(out, "\"");
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        const size_t length = roof_xml(text);
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c >= 0x80) { /* invalid bytes would make an SVG malformed */
            roof_text_add(out, length == 0 ? "\xef\xbf\xbd" : text, length == 0 ? 3 : length);
            text += length == 0 ? 0 : length - 1;
        } else if (letter || (c >= '0' && c <= '9') || strchr(plain, c) != NULL) {
            roof_text_add(out, text, 1);
        } else {
            roof_text_printf(out, "\\%03o", c);
        }
    }
    roof_text_put(out, "\"");
}

void roof_script_number(struct roof_text *out, double value)
{
    roof_text_number(out, round(value * 1e5) / 1e5);
}

double roof_script_text_size(enum roof_chart_image image, double pixels)
{
    return pixels * text_unit[image];
}

double roof_script_text_width(const char *text, double font)
{
    /* The widths of printable ASCII in DejaVu Sans, in hundredths of its height. */
    static const unsigned char widths[] = {
        32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36,  32, 34, 64, 64, 64,
        64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
        58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,  61, 73, 68, 99, 69,
        61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,  63, 63, 28, 28, 58,
        28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,  52, 64, 34, 64, 84};
    unsigned hundredths = 0;
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        if ((c & 0xc0U) != 0x80) { /* the first byte of a character */
            hundredths += c >= ' ' && c <= '~' ? widths[c - ' '] : widths['0' - ' '];
        }
    }
    return font * hundredths / 100;
}

double roof_script_fitting(const char *text, double width, double font)
{
    const double one = fmax(roof_script_text_width(text, 1), 1);
    return fmax(fmin(font, width / one), SMALLEST);
}

/* Returns the length of the longest start of a text that ends with `end` and fits a width without
 * its last character; 0: there is none. */
static size_t last_fitting(const char *text, const char *end, double width, double font)
{
    char line[ROOF_CHART_NAME_SIZE];
    size_t found = 0;
    for (const char *at = strstr(text, end); at != NULL; at = strstr(at + 1, end)) {
        const size_t length = (size_t)(at - text) + strlen(end);
        (void)snprintf(line, sizeof line, "%.*s", (int)length - 1, text);
        found = roof_script_text_width(line, font) <= width ? length : found;
    }
    return found;
}

struct roof_script_title roof_script_title(const char *text, double width, double font,
                                           double least)
{
    struct roof_script_title out = {.font = roof_script_fitting(text, width, font),
                                    .lines = text[0] == '\0' ? 0 : 1};
    const size_t comma = last_fitting(text, ", ", width, least);
    const size_t split = comma > 0 ? comma : last_fitting(text, " ", width, least);
    if (out.font >= least || split == 0) {
        (void)snprintf(out.line[0], sizeof out.line[0], "%s", text);
        return out;
    }
    (void)snprintf(out.line[0], sizeof out.line[0], "%.*s", (int)split - 1, text);
    (void)snprintf(out.line[1], sizeof out.line[1], "%s", text + split);
    out.font = roof_script_fitting(out.line[1], width, least);
    out.lines = 2;
    return out;
}

double roof_script_points(enum roof_chart_image image, double scale)
{
    return image == ROOF_CHART_SVG ? 1 : scale;
}

double roof_script_scale(double width, double height)
{
    return fmax(fmin(width / SCREEN_WIDTH, height / SCREEN_HEIGHT), 1);
}

void roof_script_terminal(struct roof_text *out, enum roof_chart_image image, double width,
                          double height, double font, double scale)
{
    const double per_unit = image == ROOF_CHART_PDF ? 0.01 : 1;
    const char *const unit = image == ROOF_CHART_PDF ? "in" : "";
    roof_text_put(out, "set encoding utf8\nset decimalsign '.'\n");
    roof_text_printf(out, "set terminal %s noenhanced size ", terminals[image]);
    roof_text_number(out, width * per_unit);
    roof_text_printf(out, "%s,", unit);
    roof_text_number(out, height * per_unit);
    roof_text_printf(out, "%s background rgb '#ffffff' fontscale 1 font 'DejaVu Sans,", unit);
    roof_script_number(out, roof_script_text_size(image, font * scale));
    roof_text_put(out, "'");
    if (scale > 1) {
        roof_text_put(out, " linewidth ");
        roof_script_number(out, scale);
    }
    roof_text_put(out, "\n");
}

void roof_script_margins(struct roof_text *out, double left, double right, double top,
                         double bottom)
{
    const struct {
        const char *name;
        double at;
    } margins[] = {{"lmargin", left}, {"rmargin", right}, {"tmargin", top}, {"bmargin", bottom}};
    for (size_t i = 0; i < COUNT(margins); i++) {
        roof_text_printf(out, "set %s at screen ", margins[i].name);
        roof_script_number(out, margins[i].at);
        roof_text_put(out, "\n");
    }
}

/* The relative luminance L of text whose contrast with white, 1.05 / (L + 0.05), is 4.5. */
#define INK_LUMINANCE (1.05 / 4.5 - 0.05)
/* The luminance of white is the sum of these, of red, green and blue (WCAG 2.2, "relative
 * luminance"). */
static const double luminance[3] = {0.2126, 0.7152, 0.0722};

/* Returns the light of a channel of sRGB, from 0 to 1. */
static double light_of(unsigned channel)
{
    const double value = channel / 255.;
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

/* Returns the channel of sRGB with at most that light. */
static unsigned channel_of(double light)
{
    const double value = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
    return (unsigned)floor(255 * value);
}

const char *roof_script_ink(char out[ROOF_INK_SIZE], const char *colour)
{
    const unsigned long all = strtoul(colour, NULL, 16);
    double light[3];
    double sum = 0;
    for (unsigned i = 0; i < 3; i++) {
        light[i] = light_of((unsigned)(all >> (16 - 8 * i)) & 255U);
        sum += luminance[i] * light[i];
    }
    if (sum <= INK_LUMINANCE) {
        (void)snprintf(out, ROOF_INK_SIZE, "%.6s", colour);
        return out;
    }
    /* An equal fraction of the light of each channel keeps the hue. */
    const double darker = INK_LUMINANCE / sum;
    (void)snprintf(out, ROOF_INK_SIZE, "%02X%02X%02X", channel_of(darker * light[0]),
                   channel_of(darker * light[1]), channel_of(darker * light[2]));
    return out;
}
