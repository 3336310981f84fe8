// SPDX-License-Identifier: MIT
/* A comparison of measured times with predictions as Markdown. */
#include "base/base.h"
#include "report/report.h"

/* Writes the values of the columns that make a group into one cell. */
static void put_group(struct roof_markdown_table *table, const struct roof_comparison *c,
                      const struct roof_compare_group *group)
{
    struct roof_text name = ROOF_TEXT_INIT;
    for (size_t i = 0; i < c->columns; i++) {
        roof_text_put(&name, i == 0 ? "" : ", ");
        roof_text_put(&name, *group->value[i] == '\0' ? "-" : group->value[i]);
    }
    roof_markdown_put_made(&table->text, &name);
    roof_markdown_end_cell(table);
}

static void put_statistics(struct roof_markdown_table *table,
                           const struct roof_compare_group *group)
{
    for (size_t i = 0; roof_report_statistic_label(i) != NULL; i++) {
        char value[ROOF_QUANTITY_SIZE];
        roof_markdown_cell(table, roof_report_statistic(value, group, i));
    }
}

/* Writes a line of statistics for each group, and for all rows. */
static void put_groups(struct roof_text *out, const struct roof_comparison *c)
{
    struct roof_text names = ROOF_TEXT_INIT;
    struct roof_text heading = ROOF_TEXT_INIT;
    for (size_t i = 0; i < c->columns; i++) {
        roof_text_printf(&names, "%s%s", i == 0 ? "" : ", ", c->column[i]);
    }
    roof_markdown_put_made(&heading, &names);
    const char *title[ROOF_GRID_COLUMNS_MAX] = {heading.length == 0 ? "group" : heading.data};
    size_t columns = 1;
    for (; roof_report_statistic_label(columns - 1) != NULL; columns++) {
        title[columns] = roof_report_statistic_label(columns - 1);
    }
    struct roof_markdown_table table;
    roof_markdown_begin(&table, title, columns);
    table.right = ~1U; /* all but the groups are numbers */
    out->failed |= heading.failed;
    roof_text_free(&heading);
    for (size_t i = 0; i < c->groups && c->columns > 0; i++) {
        put_group(&table, c, &c->group[i]);
        put_statistics(&table, &c->group[i]);
    }
    roof_markdown_cell(&table, "all");
    put_statistics(&table, &c->overall);
    roof_markdown_put(out, &table);
}

void roof_report_comparison_markdown(struct roof_text *out, struct roof_markdown_table *values,
                                     const struct roof_comparison *comparison,
                                     const struct roof_reported_fit *fit,
                                     const struct roof_reported_waits *waits)
{
    struct roof_text notes = ROOF_TEXT_INIT;
    struct roof_text legend = ROOF_TEXT_INIT;
    roof_text_put(out, "# Measured times against predictions\n\n");
    put_groups(out, comparison);
    if (values != NULL) {
        roof_text_put(out, "\n");
        roof_markdown_put(out, values);
    }
    roof_report_comparison_notes(&notes, comparison, fit, waits);
    if (notes.length > 0) {
        roof_text_put(out, "\n");
        roof_markdown_put_block(out, "text", notes.data + 1); /* an empty line comes first */
    }
    out->failed |= notes.failed;
    roof_text_free(&notes);
    roof_report_statistics_legend(&legend);
    roof_markdown_put_report(out, "What the columns mean", &legend);
}
