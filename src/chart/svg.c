// SPDX-License-Identifier: MIT
#include "chart/svg.h"

#include <string.h>

#include "base/base.h"
#include "base/character.h"
#include "chart/note.h"

/* Writes the text of an element: characters that XML does not allow become U+FFFD. */
static void put_escaped(struct roof_text *out, const char *text)
{
    while (*text != '\0') {
        const size_t length = roof_xml(text);
        if (*text == '&' || *text == '<' || *text == '>') {
            roof_text_put(out, *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : "&gt;");
        } else {
            roof_text_add(out, length == 0 ? "\xef\xbf\xbd" : text, length == 0 ? 3 : length);
        }
        text += length == 0 ? 1 : length;
    }
}

/* Lists the ceilings of a device that are in use, or those that are ticks. Only a single device has
 * ticks. */
static void put_ceilings(struct roof_text *out, const struct roof_chart *chart, size_t roof,
                         bool in_use)
{
    char number[ROOF_QUANTITY_SIZE];
    bool first = true;
    for (size_t i = 0; i < chart->roof[roof].ceilings && (in_use || chart->roofs == 1); i++) {
        const struct roof_chart_ceiling *const c = &chart->roof[roof].ceiling[i];
        if (roof_chart_in_use(chart, roof, i) == in_use) {
            roof_text_put(out, first && !in_use ? "; formats that no dot uses: " : ", ");
            (void)roof_chart_put_formats(out, chart, c, true);
            roof_text_printf(out, " %s",
                             roof_format_quantity(number, c->flops_per_s, ROOF_UNIT_TFLOPS));
            first = false;
        }
    }
}

/* Describes the devices with their bandwidths and their ceilings, the number of dots in each group,
 * and the notes. */
void roof_chart_summary(struct roof_text *out, const struct roof_chart *chart)
{
    char number[ROOF_QUANTITY_SIZE];
    roof_text_put(out, "Roofline chart: TFLOPS over arithmetic intensity in FLOP/byte.");
    for (size_t r = 0; r < chart->roofs; r++) {
        const struct roof_chart_roof *const roof = &chart->roof[r];
        roof_text_printf(out, " %s: %s", roof->hardware->id,
                         roof_format_quantity(number, roof->bytes_per_s, ROOF_UNIT_GB_PER_S));
        put_ceilings(out, chart, r, true);
        put_ceilings(out, chart, r, false);
        roof_text_put(out, ".");
    }
    for (size_t g = 0; g < chart->groups; g++) {
        size_t dots = 0;
        for (size_t i = 0; i < chart->dots; i++) {
            dots += chart->dot[i].group == g && !chart->dot[i].folded;
        }
        roof_text_printf(out, " %s: %zu dot%s.", chart->group[g], dots, dots == 1 ? "" : "s");
    }
    for (int note = 0; note < ROOF_NOTES; note++) {
        const size_t length = out->length;
        roof_text_put(out, " ");
        roof_chart_note(out, chart, (enum roof_chart_note)note);
        if (out->length == length + 1) { /* the note does not apply */
            out->data[--out->length] = '\0';
        } else {
            roof_text_put(out, ".");
        }
    }
}

/* Finds a text in the first bytes of an image; NULL: it is missing. */
static const char *find(const char *image, size_t length, const char *text)
{
    const size_t size = strlen(text);
    const size_t most = length < 2000 ? length : 2000; /* gnuplot writes these elements first */
    for (size_t i = 0; i + size <= most; i++) {
        if (memcmp(image + i, text, size) == 0) {
            return image + i;
        }
    }
    return NULL;
}

/* Copies the rest of an image without the titles of its parts, which are names of data blocks. */
static void put_untitled(struct roof_text *out, const char *image, size_t length)
{
    static const char begin[] = "<title>";
    static const char end[] = "</title>";
    const char *from = image;
    for (const char *at = image; at < image + length; at++) {
        const size_t left = (size_t)(image + length - at);
        if (left < sizeof begin || memcmp(at, begin, sizeof begin - 1) != 0) {
            continue;
        }
        const char *to = at;
        while (to < image + length && ((size_t)(image + length - to) < sizeof end ||
                                       memcmp(to, end, sizeof end - 1) != 0)) {
            to++;
        }
        if (to < image + length) {
            roof_text_add(out, from, (size_t)(at - from));
            from = to + sizeof end - 1;
            at = from - 1;
        }
    }
    roof_text_add(out, from, (size_t)(image + length - from));
}

void roof_svg_entitle(struct roof_text *out, const char *svg, size_t length, const char *title_text,
                      const char *summary)
{
    static const char end[] = "</desc>";
    const char *const root = find(svg, length, "<svg");
    const char *const title = find(svg, length, "<title>");
    const char *const after = find(svg, length, end);
    if (root == NULL || title == NULL || after == NULL || !(root < title && title < after)) {
        roof_text_add(out, svg, length);
        return;
    }
    roof_text_add(out, svg, (size_t)(root - svg) + strlen("<svg"));
    roof_text_put(out, " role=\"img\" aria-labelledby=\"title desc\"");
    roof_text_add(out, root + strlen("<svg"), (size_t)(title - root) - strlen("<svg"));
    roof_text_put(out, "<title id=\"title\">");
    put_escaped(out, title_text);
    roof_text_put(out, "</title>\n<desc id=\"desc\">");
    put_escaped(out, summary);
    put_untitled(out, after, length - (size_t)(after - svg));
}
