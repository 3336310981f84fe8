// SPDX-License-Identifier: MIT
#include "report/advice_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "base/quantity.h"
#include "report/change_words.h"
#include "report/survey.h"

/* A line of advice: its texts are filled, written and cleared. The lists belong to the table and
 * follow it; they have the changes without a gain. */
struct line {
    struct roof_text change;
    struct roof_text note;
    const char *phase; /* NULL for an operator */
    bool expects;      /* some lines have expected times, which are shown instead of bounds */
    enum roof_unit unit;
    double time_s;
    double expected_s;
    double gain;
    double expected_gain;
    bool makes_room;          /* with the change a model fits that does not fit now */
    size_t shown;             /* number of lines in the table */
    struct roof_text no_gain; /* changes without a gain */
    struct roof_text slower;
};

#define LINE_INIT(unit_)                                                                           \
    {                                                                                              \
        .change = ROOF_TEXT_INIT, .note = ROOF_TEXT_INIT, .no_gain = ROOF_TEXT_INIT,               \
        .slower = ROOF_TEXT_INIT, .unit = (unit_)                                                  \
    }

static const char *text_of(const struct roof_text *text)
{
    return text->length == 0 ? "" : text->data;
}

static void json_line(struct roof_text *out, const struct line *l, bool first)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"time_us", roof_to_unit(l->time_s, ROOF_UNIT_MICROSECONDS)},
                   {"expected_time_us", roof_to_unit(l->expected_s, ROOF_UNIT_MICROSECONDS)},
                   {"speedup", l->gain},
                   {"expected_speedup", l->expected_gain}};
    roof_text_put(out, first ? "\n    {" : ",\n    {");
    if (l->phase != NULL) {
        roof_text_printf(out, "\"phase\": \"%s\", ", l->phase);
    }
    roof_text_put(out, "\"change\": ");
    roof_json_quote(out, text_of(&l->change));
    for (size_t i = 0; i < COUNT(numbers); i++) {
        if (isfinite(numbers[i].value)) {
            roof_text_printf(out, ", \"%s\": ", numbers[i].key);
            roof_text_number(out, numbers[i].value);
        }
    }
    if (l->note.length > 0) {
        roof_text_put(out, ", \"note\": ");
        roof_json_quote(out, text_of(&l->note));
    }
    roof_text_put(out, "}");
}

static void put_gain(struct roof_text *out, double gain)
{
    char value[ROOF_QUANTITY_SIZE] = "-";
    if (!isnan(gain)) {
        roof_format_short(value, gain);
    }
    roof_text_printf(out, "  %7s%s", value, isnan(gain) ? " " : "x");
}

static void text_heading(struct roof_text *out, const char *phase, bool expects)
{
    roof_text_printf(out, "\nAdvice%s%s: one change at a time%s\n", phase == NULL ? "" : " for ",
                     phase == NULL ? "" : phase,
                     phase == NULL ? "" : " (factors are those of tokens/s)");
    roof_text_printf(out, "  %-38s  %8s%s  %10s\n", "change", "bound", expects ? "  expected" : "",
                     phase != NULL && strcmp(phase, "decode") == 0 ? "new step" : "new time");
}

static void text_line(struct roof_text *out, const struct line *l)
{
    char time[ROOF_QUANTITY_SIZE];
    const size_t from = out->length;
    roof_text_printf(out, "  %-38s", text_of(&l->change));
    put_gain(out, l->gain);
    if (l->expects) {
        put_gain(out, l->expected_gain);
    }
    roof_text_printf(out, "  %10s%s%s\n",
                     roof_format_quantity(time, l->expects ? l->expected_s : l->time_s, l->unit),
                     l->note.length > 0 ? "  " : "", text_of(&l->note));
    roof_text_fold(out, from, l->expects ? 74 : 64);
}

/* Adds a change to the list of those without a gain, or with its factor to the slower ones. */
static void list_line(struct line *l, double best)
{
    const bool slower = best * ROOF_LEVER_NO_GAIN < 1;
    struct roof_text *const list = slower ? &l->slower : &l->no_gain;
    char value[ROOF_QUANTITY_SIZE];
    roof_text_printf(list, "%s%s", list->length > 0 ? "; " : "", text_of(&l->change));
    if (slower) {
        roof_text_printf(list, " (%sx)", roof_format_short(value, best));
    }
}

/* Ends the table of a phase with the lists of changes that do not help. */
static void end_table(struct roof_text *out, struct line *l)
{
    const struct {
        const char *name;
        struct roof_text *list;
    } lists[] = {{"no gain", &l->no_gain}, {"slower", &l->slower}};
    if (l->shown == 0) {
        roof_text_printf(out, "\nAdvice%s%s: no change makes it faster\n",
                         l->phase == NULL ? "" : " for ", l->phase == NULL ? "" : l->phase);
    }
    for (size_t i = 0; i < COUNT(lists); i++) {
        const size_t from = out->length;
        if (lists[i].list->length > 0) {
            roof_text_printf(out, "  %-9s%s\n", lists[i].name, text_of(lists[i].list));
            roof_text_fold(out, from, 11);
        }
        out->failed |= lists[i].list->failed;
        roof_text_clear(lists[i].list);
    }
    l->shown = 0;
}

/* Writes a line, and clears its texts. */
static void put_line(struct roof_text *out, bool json, struct line *l, bool first)
{
    const double best = roof_lever_best(l->gain, l->expected_gain);
    if (json) {
        json_line(out, l, first);
    } else if (!(best >= ROOF_LEVER_NO_GAIN) && !l->makes_room) {
        list_line(l, best);
    } else {
        if (l->shown++ == 0) {
            text_heading(out, l->phase, l->expects);
        }
        text_line(out, l);
    }
    out->failed |= l->change.failed;
    out->failed |= l->note.failed;
    roof_text_clear(&l->change);
    roof_text_clear(&l->note);
}

static void free_line(struct line *l)
{
    roof_text_free(&l->change);
    roof_text_free(&l->note);
    roof_text_free(&l->no_gain);
    roof_text_free(&l->slower);
}

/* --- operators ----------------------------------------------------------------------------- */

/* The kinds of levers with fixed names, and what they mean. */
static const struct roof_change_words fixed[ROOF_LEVER_KIND_COUNT] = {
    [ROOF_LEVER_SPARSE] = ROOF_WORDS_SPARSE,
    [ROOF_LEVER_LAUNCH] = ROOF_WORDS_LAUNCH(""),
    [ROOF_LEVER_KERNEL] = {"a kernel at its bound", "no kernel is faster"},
    [ROOF_LEVER_BANDWIDTH] = ROOF_WORDS_BANDWIDTH,
    [ROOF_LEVER_PEAKS] = ROOF_WORDS_PEAKS,
    [ROOF_LEVER_LINKS] = ROOF_WORDS_LINKS,
};

/* Names the sizes that padding raises. */
static void put_padded(struct roof_text *out, const struct roof_lever *lever)
{
    if (lever->padded_k > 0) {
        roof_text_printf(out, "K padded to %" PRId64, lever->padded_k);
    }
    if (lever->padded_n > 0) {
        roof_text_printf(out, "%s %" PRId64, lever->padded_k > 0 ? ", N to" : "N padded to",
                         lever->padded_n);
    }
}

void roof_report_lever(struct roof_text *out, const struct roof_lever *lever)
{
    switch (lever->kind) {
    case ROOF_LEVER_FORMATS:
        roof_text_printf(out, "weights %s, activations %s",
                         roof_format(lever->formats.weights)->name,
                         roof_format(lever->formats.activations)->name);
        break;
    case ROOF_LEVER_KV_FORMAT:
        roof_text_printf(out, "KV cache %s", roof_format(lever->formats.kv)->name);
        break;
    case ROOF_LEVER_ROWS:
        roof_text_printf(out, "%s %" PRId64, roof_dimensions[lever->along].option, lever->size);
        break;
    case ROOF_LEVER_SPLIT_K:
        roof_text_printf(out, "split-K %" PRId64, lever->size);
        break;
    case ROOF_LEVER_PAD:
        put_padded(out, lever);
        break;
    case ROOF_LEVER_FUSE:
        roof_text_printf(out, "fused into %s", roof_operator_row(lever->op)->name);
        break;
    default:
        roof_text_put(out, fixed[lever->kind].change);
        break;
    }
}

/* Says what padding gains at least, and what it costs. */
static void put_padding(struct roof_text *out, const struct roof_lever *lever, bool gains)
{
    char flops[ROOF_QUANTITY_SIZE];
    char bytes[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "%s %s more FLOPs and %s more bytes",
                     gains ? "gains at least that factor, for" : "no gain is counted;",
                     roof_format_quantity(flops, lever->more_flops, ROOF_UNIT_FRACTION),
                     roof_format_quantity(bytes, lever->more_bytes, ROOF_UNIT_FRACTION));
}

static void put_note(struct roof_text *out, const struct roof_lever *lever)
{
    const struct roof_operator_row *const row = roof_operator_row(lever->op);
    const double best = roof_lever_best(lever->gain, lever->expected_gain);
    if (lever->kind == ROOF_LEVER_SPLIT_K) {
        roof_text_printf(out, "the estimate has %" PRId64 "%s", lever->was,
                         best >= ROOF_LEVER_NO_GAIN ? "" : ": ");
    }
    if (lever->kind == ROOF_LEVER_PAD) {
        put_padding(out, lever, best >= ROOF_LEVER_NO_GAIN);
        return;
    }
    if (!(best >= ROOF_LEVER_NO_GAIN)) {
        roof_text_put(out, best * ROOF_LEVER_NO_GAIN < 1 ? "slower" : "does nothing");
        return;
    }
    switch (lever->kind) {
    case ROOF_LEVER_FORMATS:
        roof_text_printf(out, "typical accuracy loss %s", roof_accuracy_name(lever->loss));
        break;
    case ROOF_LEVER_ROWS:
        roof_text_put(out, "becomes compute-bound; the gain is per row");
        break;
    case ROOF_LEVER_FUSE:
        for (int i = 0; i < row->fuse_count; i++) {
            roof_text_printf(out, "%s%s", i == 0 ? "over " : " + ",
                             roof_operator_row(row->fuses[i])->name);
        }
        break;
    case ROOF_LEVER_KV_FORMAT:
    case ROOF_LEVER_SPLIT_K:
        break;
    default:
        roof_text_put(out, fixed[lever->kind].note);
        break;
    }
}

void roof_report_advice(struct roof_text *out, bool json, const struct roof_advice *advice)
{
    struct line l = LINE_INIT(ROOF_UNIT_MICROSECONDS);
    for (size_t i = 0; i < advice->count; i++) {
        l.expects = l.expects || !isnan(advice->lever[i].expected_s);
    }
    if (json) {
        roof_text_put(out, ",\n  \"advice\": [");
    }
    for (size_t i = 0; i < advice->count; i++) {
        const struct roof_lever *const lever = &advice->lever[i];
        roof_report_lever(&l.change, lever);
        put_note(&l.note, lever);
        l.time_s = lever->time_s;
        l.expected_s = lever->expected_s;
        l.gain = lever->gain;
        l.expected_gain = lever->expected_gain;
        put_line(out, json, &l, i == 0);
    }
    if (json) {
        roof_text_put(out, "\n  ]");
    } else {
        end_table(out, &l);
    }
    free_line(&l);
}

/* --- models -------------------------------------------------------------------------------- */

static bool put_phase(struct roof_text *out, bool json, const struct roof_survey_phase *phase,
                      bool first)
{
    struct line l = LINE_INIT(ROOF_UNIT_MILLISECONDS);
    if (phase->base == NULL) {
        return first;
    }
    l.phase = phase->base->phase;
    l.expects = !isnan(phase->base->total.expected_s);
    for (size_t i = 0; i < phase->changes; i++) {
        const struct roof_survey_change *const c = &phase->change[i];
        if (c->refused.status != ROOF_OK) {
            continue; /* an impossible change has no times */
        }
        roof_survey_put_change(&l.change, phase, c);
        roof_survey_put_note(&l.note, phase, c);
        l.time_s = c->time_s;
        l.expected_s = c->expected_s;
        l.gain = c->gain;
        l.expected_gain = c->expected_gain;
        l.makes_room = roof_survey_makes_room(phase, c);
        put_line(out, json, &l, first);
        first = false;
    }
    if (!json) {
        end_table(out, &l);
    }
    free_line(&l);
    return first;
}

void roof_report_survey_advice(struct roof_text *out, bool json, const struct roof_survey *survey)
{
    roof_text_put(out, json ? ",\n  \"advice\": [" : "");
    const bool first = put_phase(out, json, &survey->prefill, true);
    (void)put_phase(out, json, &survey->decode, first);
    roof_text_put(out, json ? "\n  ]" : "");
}
