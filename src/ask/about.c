// SPDX-License-Identifier: MIT
#include "ask/about.h"

#include <string.h>

#include "base/base.h"
#include "report/model_report.h"

#define NOTE_SEPARATOR "; " /* of scenarios, formats and remarks */

/* Tells whether an input is in a list. */
static bool is_among(size_t input, const size_t *list, size_t count)
{
    bool among = false;
    for (size_t i = 0; i < count; i++) {
        among = among || input == list[i];
    }
    return among;
}

/* Tells whether a sweep has several values of an input of a scenario, or of those that it follows
 * from. */
static bool varies(const struct roof_sweep *sweep, size_t input)
{
    static const size_t splits[] = {ROOF_INPUT_TP,           ROOF_INPUT_PP,     ROOF_INPUT_DP,
                                    ROOF_INPUT_ATTENTION_DP, ROOF_INPUT_MOE_TP, ROOF_INPUT_MOE_EP};
    static const size_t follow[] = {ROOF_DIM_DEVICES, ROOF_INPUT_ATTENTION_DP, ROOF_INPUT_MOE_TP,
                                    ROOF_INPUT_MOE_EP};
    bool split = false;
    for (size_t i = 0; sweep != NULL && i < sweep->axis_count; i++) {
        const struct roof_axis *const axis = &sweep->axis[i];
        if (axis->input == roof_input(input)) {
            return axis->values.count > 1;
        }
        for (size_t k = 0; k < COUNT(splits); k++) {
            split = split || (axis->values.count > 1 && axis->input == roof_input(splits[k]));
        }
    }
    return split && is_among(input, follow, COUNT(follow));
}

/* Writes a scenario without the inputs that vary; its phase stays. */
static void put_scenario(struct roof_about_scenario *out, const struct roof_model_prediction *model,
                         const struct roof_sweep *sweep)
{
    struct roof_text whole = ROOF_TEXT_INIT;
    struct roof_scenario_part part[ROOF_SCENARIO_PARTS];
    const size_t count = roof_report_scenario_parts(&whole, part, model);
    roof_text_clear(&out->text);
    out->parts = 0;
    for (size_t i = 0; i < count && !whole.failed; i++) {
        if (i == 0 || !varies(sweep, part[i].input)) {
            roof_text_put(&out->text, i == 0 ? "" : ROOF_SCENARIO_SEPARATOR);
            const size_t begin = out->text.length;
            roof_text_add(&out->text, whole.data + part[i].begin, part[i].end - part[i].begin);
            out->part[out->parts++] =
                (struct roof_scenario_part){.input = part[i].input,
                                            .begin = begin,
                                            .value = begin + part[i].value - part[i].begin,
                                            .end = out->text.length};
        }
    }
    out->text.failed |= whole.failed;
    roof_text_free(&whole);
}

/* Writes two scenarios in one: "decode and prefill, batch 1". Those with different inputs follow
 * each other. */
static void put_both(struct roof_text *out, const struct roof_about_scenario *a,
                     const struct roof_about_scenario *b)
{
    bool alike = a->parts == b->parts;
    for (size_t i = 0; i < a->parts && alike; i++) {
        alike = a->part[i].input == b->part[i].input;
    }
    if (!alike) {
        roof_text_printf(out, "%s" NOTE_SEPARATOR "%s", a->text.data, b->text.data);
        return;
    }
    for (size_t i = 0; i < a->parts; i++) {
        const struct roof_scenario_part *const of_a = &a->part[i];
        const struct roof_scenario_part *const of_b = &b->part[i];
        const char *const text = a->text.data + of_a->begin;
        const size_t length = of_a->end - of_a->begin;
        roof_text_put(out, i == 0 ? "" : ROOF_SCENARIO_SEPARATOR);
        roof_text_add(out, text, length);
        if (length != of_b->end - of_b->begin ||
            memcmp(text, b->text.data + of_b->begin, length) != 0) {
            roof_text_put(out, " and ");
            roof_text_add(out, b->text.data + of_b->value, of_b->end - of_b->value);
        }
    }
}

/* Tells whether a scenario has an input with the text of a part of another one. */
static bool has_part(const struct roof_about_scenario *s, const struct roof_about_scenario *other,
                     const struct roof_scenario_part *part)
{
    const size_t length = part->end - part->begin;
    for (size_t i = 0; i < s->parts; i++) {
        if (s->part[i].input == part->input && s->part[i].end - s->part[i].begin == length &&
            memcmp(s->text.data + s->part[i].begin, other->text.data + part->begin, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Leaves those parts of what all scenarios have in common that the next one has, too. */
static void keep_common(struct roof_about_scenario *common, const struct roof_about_scenario *next,
                        bool first)
{
    const struct roof_about_scenario *const from = first ? next : common;
    struct roof_about_scenario kept = {.parts = 0};
    for (size_t i = 0; i < from->parts && !from->text.failed && !next->text.failed; i++) {
        struct roof_scenario_part part = from->part[i];
        if (has_part(next, from, &part)) {
            const size_t begin =
                kept.text.length + (kept.parts == 0 ? 0 : strlen(ROOF_SCENARIO_SEPARATOR));
            roof_text_put(&kept.text, kept.parts == 0 ? "" : ROOF_SCENARIO_SEPARATOR);
            roof_text_add(&kept.text, from->text.data + part.begin, part.end - part.begin);
            part.value = begin + part.value - part.begin;
            part.begin = begin;
            part.end = kept.text.length;
            kept.part[kept.parts++] = part;
        }
    }
    roof_text_free(&common->text);
    *common = kept;
}

/* Notes a scenario, unless it is known. */
static void add_scenario(struct roof_about *about, const struct roof_model_prediction *model,
                         const struct roof_sweep *sweep)
{
    const bool full = about->scenarios > ROOF_ABOUT_MOST;
    struct roof_about_scenario *const next =
        &about->scenario[full ? ROOF_ABOUT_MOST : about->scenarios];
    bool known = full;
    if (full && about->common.parts == 0) {
        return; /* nothing is left to compare */
    }
    put_scenario(next, model, sweep);
    keep_common(&about->common, next, about->scenarios == 0);
    about->formats.failed |= next->text.failed | about->common.text.failed;
    for (size_t i = 0; i < about->scenarios && !known && !about->formats.failed; i++) {
        known = known || strcmp(about->scenario[i].text.data, next->text.data) == 0;
    }
    about->scenarios += known ? 0 : 1;
}

void roof_about_add(struct roof_about *about, const struct roof_model_prediction *model,
                    const struct roof_sweep *sweep)
{
    struct roof_text text = ROOF_TEXT_INIT;
    add_scenario(about, model, sweep);
    roof_model_report_formats(&text, model);
    if (about->formats.length == 0) {
        roof_text_put(&about->formats, text.data == NULL ? "" : text.data);
    } else if (text.data != NULL && strcmp(about->formats.data, text.data) != 0) {
        about->mixed = true;
    }
    about->formats.failed |= text.failed;
    if (roof_model_report_unquantized(model->model, &model->scenario.common.formats)) {
        const bool readable = roof_model_report_readable(&about->formats, model->model);
        about->unquantized |= readable;
        about->unreadable |= !readable;
    }
    roof_text_free(&text);
}

/* Writes a part of a note; separates it from the one before. */
static void put_part(struct roof_text *out, const char **separator, const char *text)
{
    roof_text_printf(out, "%s%s", *separator, text);
    *separator = NOTE_SEPARATOR;
}

void roof_about_put(struct roof_text *out, const struct roof_about *about)
{
    if (about->formats.failed) {
        out->failed = true;
        return;
    }
    const char *separator = "";
    if (about->scenarios == 1) {
        put_part(out, &separator, about->scenario[0].text.data);
    } else if (about->scenarios == 2) {
        put_both(out, &about->scenario[0], &about->scenario[1]);
        separator = NOTE_SEPARATOR;
    } else if (about->common.parts > 0) {
        put_part(out, &separator, about->common.text.data);
    }
    if (!about->mixed && about->formats.length > 0) {
        put_part(out, &separator, about->formats.data);
    }
    if (about->unquantized) {
        put_part(out, &separator,
                 "the checkpoint is quantised: --layout checkpoint draws it as published");
    }
    if (about->unreadable) {
        put_part(out, &separator,
                 "the checkpoint is quantised in a way that is not supported: give its "
                 "formats with --layout NAME or --class");
    }
}

bool roof_about_tells(const struct roof_about *about, const struct roof_input *input)
{
    static const size_t formats[] = {ROOF_INPUT_PRECISION_BOTH, ROOF_INPUT_WEIGHTS,
                                     ROOF_INPUT_ACTIVATIONS, ROOF_INPUT_OUT, ROOF_INPUT_KV};
    const struct roof_about_scenario *const told =
        about->scenarios <= ROOF_ABOUT_MOST ? &about->scenario[0] : &about->common;
    bool tells = false;
    for (size_t i = 0; i < told->parts && about->scenarios > 0; i++) {
        tells = tells || input == roof_input(told->part[i].input);
    }
    for (size_t i = 0; i < COUNT(formats) && !about->mixed; i++) {
        tells = tells || input == roof_input(formats[i]);
    }
    return tells;
}

void roof_about_free(struct roof_about *about)
{
    for (size_t i = 0; i < COUNT(about->scenario); i++) {
        roof_text_free(&about->scenario[i].text);
    }
    roof_text_free(&about->common.text);
    roof_text_free(&about->formats);
}
