// SPDX-License-Identifier: MIT
#include "report/markdown.h"

#include <inttypes.h>
#include <string.h>

void roof_markdown_put_made(struct roof_text *out, struct roof_text *made)
{
    roof_text_markdown(out, made->data == NULL ? "" : made->data);
    out->failed |= made->failed;
    roof_text_free(made);
}

void roof_markdown_end_cell(struct roof_markdown_table *g)
{
    roof_text_add(&g->text, "", 1);
    g->cells++;
}

void roof_markdown_cell(struct roof_markdown_table *g, const char *text)
{
    roof_text_put(&g->text, text);
    roof_markdown_end_cell(g);
}

void roof_markdown_begin(struct roof_markdown_table *g, const char *const *title, size_t columns)
{
    *g = (struct roof_markdown_table){.columns = columns};
    for (size_t i = 0; i < columns; i++) {
        const bool right = *title[i] == '>';
        g->right |= right ? 1U << i : 0;
        roof_markdown_cell(g, title[i] + (right ? 1 : 0));
    }
}

static void put_rule(struct roof_text *out, const struct roof_markdown_table *g,
                     const size_t *width)
{
    roof_text_put(out, "|");
    for (size_t i = 0; i < g->columns; i++) {
        const bool right = (g->right >> i & 1U) != 0;
        roof_text_put(out, " ");
        roof_text_fill(out, '-', width[i] - (right ? 1 : 0));
        roof_text_put(out, right ? ": |" : " |");
    }
    roof_text_put(out, "\n");
}

void roof_markdown_put(struct roof_text *out, struct roof_markdown_table *g)
{
    size_t width[ROOF_GRID_COLUMNS_MAX] = {0};
    const char *at = g->text.data;
    out->failed |= g->text.failed;
    for (size_t i = 0; i < g->cells && !g->text.failed; i++, at += strlen(at) + 1) {
        const size_t wide = roof_text_width(at);
        size_t *const widest = &width[i % g->columns];
        *widest = wide > *widest ? wide : *widest;
        *widest = *widest < 3 ? 3 : *widest; /* the rule of a table needs three */
    }
    at = g->text.data;
    for (size_t i = 0; i < g->cells && !g->text.failed; i++, at += strlen(at) + 1) {
        const size_t column = i % g->columns;
        const size_t blanks = width[column] - roof_text_width(at);
        const bool right = (g->right >> column & 1U) != 0;
        roof_text_put(out, column == 0 ? "| " : " ");
        roof_text_fill(out, ' ', right ? blanks : 0);
        roof_text_put(out, at);
        roof_text_fill(out, ' ', right ? 0 : blanks);
        roof_text_put(out, column + 1 == g->columns ? " |\n" : " |");
        if (i + 1 == g->columns) {
            put_rule(out, g, width);
        }
    }
    roof_text_free(&g->text);
}

void roof_markdown_put_block(struct roof_text *out, const char *kind, const char *lines)
{
    size_t longest = 2;
    size_t run = 0;
    for (const char *p = lines; *p != '\0'; p++) {
        run = *p == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    roof_text_fill(out, '`', longest + 1);
    roof_text_printf(out, "%s\n%s", kind, lines);
    roof_text_fill(out, '`', longest + 1);
    roof_text_put(out, "\n");
}

void roof_markdown_put_quantity(struct roof_text *out, double value, enum roof_unit unit)
{
    char text[ROOF_QUANTITY_SIZE];
    roof_text_put(out, roof_format_quantity(text, value, unit));
}

void roof_markdown_quantity(struct roof_markdown_table *g, double value, enum roof_unit unit)
{
    roof_markdown_put_quantity(&g->text, value, unit);
    roof_markdown_end_cell(g);
}

void roof_markdown_integer(struct roof_markdown_table *g, int64_t value)
{
    roof_text_printf(&g->text, "%" PRId64, value);
    roof_markdown_end_cell(g);
}

void roof_markdown_time(struct roof_markdown_table *g, double seconds)
{
    roof_markdown_quantity(g, seconds, ROOF_UNIT_MICROSECONDS);
}

void roof_markdown_share(struct roof_markdown_table *g, double fraction)
{
    roof_text_printf(&g->text, "%.1f%%", 100 * fraction);
    roof_markdown_end_cell(g);
}

void roof_markdown_number(struct roof_markdown_table *g, double value)
{
    char text[ROOF_QUANTITY_SIZE];
    roof_markdown_cell(g, roof_format_short(text, value));
}

void roof_markdown_put_rate(struct roof_text *out, double flops_per_s)
{
    roof_markdown_put_quantity(out, flops_per_s > 0 ? flops_per_s : ROOF_UNKNOWN, ROOF_UNIT_TFLOPS);
}

/* Returns the length of the start of a text that has no special meaning in a Markdown link. */
static size_t plain_length(const char *text, bool slashes)
{
    return strspn(text, slashes
                            ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/"
                            : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
}

/* Writes the link at the start of a source, and returns the bytes that it replaces; 0: there is
 * none. */
static size_t put_link(struct roof_text *out, const char *source)
{
    const size_t owner = plain_length(source, false);
    const size_t name = source[owner] == '/' ? plain_length(source + owner + 1, false) : 0;
    const char *const at = source + owner + 1 + name;
    if (owner == 0 || name == 0 || *at != '@') {
        return 0;
    }
    const size_t commit = strspn(at + 1, "0123456789abcdef");
    const char *const end = at + 1 + commit;
    if (commit < 7 || strchr(" ;,", *end) == NULL) {
        return 0;
    }
    const size_t path = *end == ' ' ? plain_length(end + 1, true) : 0;
    const bool file = path > 0 && strchr(" ;,", end[1 + path]) != NULL;
    const size_t length = (size_t)(end - source) + (file ? 1 + path : 0);
    struct roof_text label = ROOF_TEXT_INIT;
    roof_text_add(&label, source, length);
    roof_text_put(out, "[");
    roof_markdown_put_made(out, &label);
    roof_text_printf(out, "](https://github.com/%.*s/%s/%.*s%s%.*s)", (int)(owner + 1 + name),
                     source, file ? "blob" : "tree", (int)commit, at + 1, file ? "/" : "",
                     file ? (int)path : 0, end + 1);
    return length;
}

void roof_markdown_put_sources(struct roof_text *out, const char *sources)
{
    while (*sources != '\0') {
        sources += put_link(out, sources);
        const char *const next = strstr(sources, "; ");
        const size_t length = next == NULL ? strlen(sources) : (size_t)(next - sources) + 2;
        if (length > 0) {
            struct roof_text rest = ROOF_TEXT_INIT;
            roof_text_add(&rest, sources, length);
            roof_markdown_put_made(out, &rest);
        }
        sources += length;
    }
}

void roof_markdown_fold(struct roof_text *out, const char *line)
{
    roof_text_printf(out, "\n<details>\n<summary>%s</summary>\n", line);
}

void roof_markdown_unfold(struct roof_text *out)
{
    roof_text_put(out, "\n</details>\n");
}

void roof_markdown_put_report(struct roof_text *out, const char *line, struct roof_text *report)
{
    roof_markdown_fold(out, line);
    roof_text_put(out, "\n");
    roof_markdown_put_block(out, "text", report->failed ? "" : report->data);
    roof_markdown_unfold(out);
    out->failed |= report->failed;
    roof_text_free(report);
}
