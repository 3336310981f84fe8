// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "base/json.h"
#include "report/model_report.h"
#include "report/published_report.h"
#include "report/render.h"
#include "report/report.h"
#include "report/rows.h"

/* Writes a figure, and the published one if it differs. */
static void put_figure(struct roof_text *out, const char *label, const struct roof_figure *figure,
                       const struct roof_figure *published, const char *product,
                       enum roof_unit unit)
{
    const bool differs = published != NULL && !(published->value == figure->value) &&
                         !(isnan(published->value) && isnan(figure->value));
    if (isnan(figure->value) && !differs) {
        return;
    }
    char value[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "  %-26s %s\n", label, roof_format_quantity(value, figure->value, unit));
    if (!isnan(figure->value)) {
        size_t from = out->length;
        if (figure->note != NULL) {
            roof_text_printf(out, "      %s\n", figure->note);
            roof_text_fold(out, from, 8);
        }
        from = out->length;
        roof_text_printf(out, "      source%s%s: %s\n",
                         figure->confidence == ROOF_CONFIDENCE_UNKNOWN ? "" : ", confidence ",
                         figure->confidence == ROOF_CONFIDENCE_UNKNOWN
                             ? ""
                             : roof_confidence_name(figure->confidence),
                         figure->source == NULL ? "none given" : figure->source);
        roof_text_fold(out, from, 8);
    }
    if (differs) {
        roof_text_printf(
            out, "      published (%s): %s\n", product,
            isnan(published->value) ? "none" : roof_format_quantity(value, published->value, unit));
    }
}

static void hardware_text(struct roof_text *out, const struct roof_hardware *h,
                          const struct roof_hardware *product)
{
    roof_text_printf(out, "%s: %s\n", h->id, h->name);
    roof_text_printf(out, "  %-26s %s\n", "vendor", *h->vendor == '\0' ? "-" : h->vendor);
    roof_text_printf(out, "  %-26s %s\n", "architecture",
                     *h->architecture == '\0' ? "-" : h->architecture);
    roof_text_printf(out, "  %-26s %s\n", "basis",
                     h->basis == ROOF_BASIS_DOCUMENTS   ? "reference device, " ROOF_REPORT_DOCUMENTS
                     : h->basis == ROOF_BASIS_PUBLISHED ? "published figures"
                                                        : "a user's file");
    if (h->like != NULL) {
        roof_text_printf(out, "  %-26s %s\n", "expected times from", h->like);
    }
    for (const char *const *alias = h->aliases; *alias != NULL; alias++) {
        roof_text_printf(out, "  %-26s %s\n", "alias", *alias);
    }
    roof_text_put(out, "\n");
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        const struct roof_figure_key *const key = roof_figure_key((enum roof_figure_id)i);
        put_figure(out, key->label, &h->figure[i], product == NULL ? NULL : &product->figure[i],
                   product == NULL ? "" : product->id, key->unit);
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            char label[80];
            snprintf(label, sizeof label, "%s, %s", roof_format((enum roof_precision)p)->name,
                     roof_peak_table_label((enum roof_peak_table)t));
            put_figure(out, label, &h->peak[t][p], product == NULL ? NULL : &product->peak[t][p],
                       product == NULL ? "" : product->id,
                       roof_peak_table_unit((enum roof_peak_table)t));
        }
    }
    roof_text_put(out, "\nRidge points (FLOP/byte)\n");
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const struct roof_compute *const c = &h->compute[p];
        const struct roof_format *const format = roof_format((enum roof_precision)p);
        if (c->native && format->unit == (enum roof_precision)p) {
            char value[ROOF_QUANTITY_SIZE];
            roof_text_printf(out, "  %-26s %-10s %s unit\n", format->name,
                             roof_format_short(value, c->peak_flops_per_s /
                                                          h->figure[ROOF_FIGURE_BANDWIDTH].value),
                             roof_compute_unit_name(c->unit));
        }
    }
    for (const char *const *note = h->notes; *note != NULL; note++) {
        const size_t from = out->length + (note == h->notes);
        roof_text_printf(out, "%s%s\n", note == h->notes ? "\n" : "", *note);
        roof_text_fold(out, from, 2);
    }
}

static void json_figure(struct roof_text *out, const char *key, const struct roof_figure *figure,
                        const struct roof_figure *published, enum roof_unit unit)
{
    roof_text_printf(out, "\"%s\": {\"value\": ", key);
    roof_text_number(out, roof_given(figure->value, unit));
    const struct {
        const char *key;
        const char *value;
    } members[] = {{"source", figure->source},
                   {"confidence", figure->confidence == ROOF_CONFIDENCE_UNKNOWN
                                      ? NULL
                                      : roof_confidence_name(figure->confidence)},
                   {"note", figure->note}};
    for (size_t i = 0; i < COUNT(members); i++) {
        if (members[i].value != NULL) {
            roof_text_printf(out, ", \"%s\": ", members[i].key);
            roof_json_quote(out, members[i].value);
        }
    }
    if (published != NULL && !isnan(published->value) && published->value != figure->value) {
        roof_text_put(out, ", \"published\": ");
        roof_text_number(out, roof_given(published->value, unit));
    }
    roof_text_put(out, "}");
}

static void json_strings(struct roof_text *out, const char *key, const char *const *strings)
{
    roof_text_printf(out, ",\n%s: [", key);
    for (const char *const *s = strings; *s != NULL; s++) {
        roof_text_put(out, s == strings ? "" : ", ");
        roof_json_quote(out, *s);
    }
    roof_text_put(out, "]");
}

/* Writes JSON in the form of a hardware file, so that the output can be edited and read again. */
static void hardware_json(struct roof_text *out, const struct roof_hardware *h,
                          const struct roof_hardware *product)
{
    const struct {
        const char *key;
        const char *value;
    } strings[] = {{"id", h->id},
                   {"name", h->name},
                   {"vendor", *h->vendor == '\0' ? NULL : h->vendor},
                   {"architecture", *h->architecture == '\0' ? NULL : h->architecture},
                   {"basis", roof_basis_name(h->basis)},
                   {"product", product == NULL ? NULL : product->id},
                   {"like", h->like},
                   {"weight_only_compute", roof_precision_name(h->weight_only_compute)}};
    roof_text_put(out, "{\n\"schema\": \"roofline/hardware/1\"");
    for (size_t i = 0; i < COUNT(strings); i++) {
        if (strings[i].value != NULL) {
            roof_text_printf(out, ",\n\"%s\": ", strings[i].key);
            roof_json_quote(out, strings[i].value);
        }
    }
    json_strings(out, "\"aliases\"", h->aliases);
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        const struct roof_figure_key *const key = roof_figure_key((enum roof_figure_id)i);
        if (!isnan(h->figure[i].value)) {
            roof_text_put(out, ",\n");
            json_figure(out, key->key, &h->figure[i], product == NULL ? NULL : &product->figure[i],
                        key->unit);
        }
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        bool begun = false;
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            if (!isnan(h->peak[t][p].value)) {
                if (!begun) {
                    roof_text_printf(out, ",\n\"%s\": {",
                                     roof_peak_table_key((enum roof_peak_table)t));
                }
                roof_text_put(out, begun ? ",\n  " : "\n  ");
                json_figure(out, roof_format((enum roof_precision)p)->name, &h->peak[t][p],
                            product == NULL ? NULL : &product->peak[t][p],
                            roof_peak_table_unit((enum roof_peak_table)t));
                begun = true;
            }
        }
        roof_text_put(out, begun ? "\n}" : "");
    }
    json_strings(out, "\"notes\"", h->notes);
    roof_text_put(out, "\n}\n");
}

void roof_report_hardware(struct roof_text *out, bool json, const struct roof_hardware *hardware,
                          const struct roof_hardware *product)
{
    if (json) {
        hardware_json(out, hardware, product);
    } else {
        hardware_text(out, hardware, product);
    }
}

void roof_report_precision(struct roof_text *out, bool json, enum roof_precision precision,
                           const struct roof_accuracy *accuracy)
{
    const struct roof_precision_entry entry = {precision, accuracy};
    struct roof_table table;
    roof_table_begin_entry(&table, out, json, ROOF_TABLE_PRECISIONS);
    roof_table_precision(&table, out, &entry);
    roof_table_end_entry(out, json);
}

void roof_report_operator(struct roof_text *out, bool json, enum roof_operator op)
{
    const struct roof_operator_row *const row = roof_operator_row(op);
    struct roof_table table;
    roof_table_begin_entry(&table, out, json, ROOF_TABLE_OPERATORS);
    roof_table_operator(&table, out, row);
    roof_table_end_entry(out, json);
    if (json) {
        return;
    }
    roof_text_put(out, "\n");
    for (int i = 0; i < row->dim_count; i++) {
        const struct roof_input *const input = &roof_dimensions[row->dims[i]];
        char name[ROOF_INPUT_NAME_SIZE];
        roof_text_printf(out, "  %-20s %s\n", roof_input_name(name, input),
                         roof_dimension_help(op, row->dims[i]));
    }
}

/* --- models -------------------------------------------------------------------------------- */

/* Writes the notes and sources of an entry, as members of its object or as paragraphs. */
static void put_origins(struct roof_text *out, bool json, const char *const *notes,
                        const char *const *sources)
{
    const struct {
        const char *key;
        const char *const *list;
    } lists[] = {{"notes", notes}, {"sources", sources}};
    for (size_t i = 0; i < COUNT(lists); i++) {
        if (json) {
            roof_text_printf(out, ",\n  \"%s\": [", lists[i].key);
        } else if (*lists[i].list != NULL) {
            roof_text_printf(out, "\n%s\n", lists[i].key);
        }
        for (const char *const *item = lists[i].list; *item != NULL; item++) {
            if (json) {
                roof_text_put(out, item == lists[i].list ? "" : ", ");
                roof_json_quote(out, *item);
            } else {
                const size_t from = out->length;
                roof_text_printf(out, "  %s", *item);
                roof_text_fold(out, from, 4);
                roof_text_put(out, "\n");
            }
        }
        roof_text_put(out, json ? "]" : "");
    }
}

void roof_model_report_about(struct roof_text *out, bool json, const struct roof_model_entry *entry)
{
    struct roof_table table;
    roof_table_begin_entry(&table, out, json, ROOF_TABLE_MODELS);
    roof_table_model(&table, out, entry);
    put_origins(out, json, entry->model->notes, entry->model->sources);
    roof_table_end_entry(out, json);
}

void roof_model_report_layout(struct roof_text *out, bool json,
                              const struct roof_layout_about *about)
{
    struct roof_table table;
    roof_table_begin_entry(&table, out, json, ROOF_TABLE_LAYOUTS);
    roof_table_layout(&table, out, about);
    put_origins(out, json, about->notes, about->sources);
    roof_table_end_entry(out, json);
}
