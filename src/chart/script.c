// SPDX-License-Identifier: MIT
#include "chart/script.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/character.h"

static const char *const terminals[] = {
    [ROOF_CHART_SVG] = "svg", [ROOF_CHART_PNG] = "pngcairo", [ROOF_CHART_PDF] = "pdfcairo"};
/* The font size, by terminal, that makes text a pixel high. */
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
        if (c >= 0x80) { /* bytes that are no character would spoil an SVG */
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

void roof_script_terminal(struct roof_text *out, enum roof_chart_image image, double width,
                          double height, double font)
{
    const double scale = image == ROOF_CHART_PDF ? 0.01 : 1;
    const char *const unit = image == ROOF_CHART_PDF ? "in" : "";
    roof_text_put(out, "set encoding utf8\nset decimalsign '.'\n");
    roof_text_printf(out, "set terminal %s noenhanced size ", terminals[image]);
    roof_text_number(out, width * scale);
    roof_text_printf(out, "%s,", unit);
    roof_text_number(out, height * scale);
    roof_text_printf(out, "%s background rgb '#ffffff' fontscale 1 font 'DejaVu Sans,", unit);
    roof_script_number(out, roof_script_text_size(image, font));
    roof_text_put(out, "'\n");
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
