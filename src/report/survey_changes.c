// SPDX-License-Identifier: MIT
#include "report/survey.h"

#include <inttypes.h>
#include <math.h>

#include "report/change_words.h"
#include "report/markdown.h"

static const char *phase_name(const struct roof_survey_phase *phase)
{
    return phase->base->scenario.phase == ROOF_PHASE_PREFILL ? "Prefill" : "Decode";
}

/* The kinds of changes with fixed names, and what they mean. */
static const struct roof_change_words fixed[ROOF_SURVEY_CHANGE_KIND_COUNT] = {
    [ROOF_SURVEY_LAUNCH] = ROOF_WORDS_LAUNCH("kernels "),
    [ROOF_SURVEY_FUSE] = {"all operators fused", "norms, RoPE and activations join other kernels"},
    [ROOF_SURVEY_SPARSE] = ROOF_WORDS_SPARSE,
    [ROOF_SURVEY_HOST] = {"no host gap", "the device never waits for the host"},
    [ROOF_SURVEY_BANDWIDTH] = ROOF_WORDS_BANDWIDTH,
    [ROOF_SURVEY_PEAKS] = ROOF_WORDS_PEAKS,
    [ROOF_SURVEY_LINKS] = ROOF_WORDS_LINKS,
};

void roof_survey_put_change(struct roof_text *out, const struct roof_survey_phase *phase,
                            const struct roof_survey_change *c)
{
    const struct roof_model_prediction *const base = phase->base;
    const struct roof_model_prediction *const r = c->model_prediction;
    switch (c->kind) {
    case ROOF_SURVEY_FORMATS:
        if (r != NULL) {
            const struct roof_formats *const f = &r->scenario.common.formats;
            roof_text_printf(out, "weights %s, activations %s", roof_format(f->weights)->name,
                             roof_format(f->activations)->name);
        } else {
            roof_text_put(out, "narrower weights");
        }
        break;
    case ROOF_SURVEY_KV_FORMAT:
        roof_text_printf(out, "KV cache %s",
                         r == NULL ? "narrower" : roof_format(r->scenario.common.formats.kv)->name);
        break;
    case ROOF_SURVEY_BATCH_COMPUTE:
    case ROOF_SURVEY_BATCH_MEMORY:
        roof_text_printf(out, "batch %" PRId64, c->size);
        break;
    case ROOF_SURVEY_ATTENTION:
        roof_text_put(out, base->scenario.unfused_attention != 0 ? "fused attention"
                                                                 : "unfused attention");
        break;
    case ROOF_SURVEY_PROJECTIONS:
        roof_text_put(out, base->scenario.split_projections != 0 ? "joined projections"
                                                                 : "split projections");
        break;
    case ROOF_SURVEY_TP:
        roof_text_printf(out, "tensor parallelism %" PRId64, c->size);
        break;
    case ROOF_SURVEY_KERNEL:
        roof_text_printf(out, "%s at its bound", base->node[c->node].node.name);
        break;
    default:
        roof_text_put(out, fixed[c->kind].change);
        break;
    }
}

bool roof_survey_makes_room(const struct roof_survey_phase *phase,
                            const struct roof_survey_change *change)
{
    const struct roof_model_prediction *const changed = change->model_prediction;
    return phase->base->fits == ROOF_FIT_NO && changed != NULL && changed->fits == ROOF_FIT_YES;
}

/* Writes what a change means, and whether the model would fit. */
static void put_meaning(struct roof_text *out, const struct roof_survey_phase *phase,
                        const struct roof_survey_change *c)
{
    const struct roof_model_prediction *const base = phase->base;
    const struct roof_node_prediction *const node = &base->node[c->node];
    const double best = roof_lever_best(c->gain, c->expected_gain);
    char text[ROOF_QUANTITY_SIZE];
    switch (c->kind) {
    case ROOF_SURVEY_FORMATS:
        roof_text_printf(out, "typical accuracy loss %s", roof_accuracy_name(c->loss));
        break;
    case ROOF_SURVEY_KV_FORMAT:
        roof_text_put(out, "cache of ");
        roof_markdown_put_quantity(out, c->model_prediction->kv_cache_bytes, ROOF_UNIT_CAPACITY);
        roof_text_put(out, ", now ");
        roof_markdown_put_quantity(out, base->kv_cache_bytes, ROOF_UNIT_CAPACITY);
        break;
    case ROOF_SURVEY_BATCH_COMPUTE:
        roof_text_printf(out, "%s becomes compute-bound; users wait longer", node->node.name);
        break;
    case ROOF_SURVEY_BATCH_MEMORY:
        roof_text_put(out, "the largest that fits; users wait longer");
        break;
    case ROOF_SURVEY_ATTENTION:
        roof_text_put(out, base->scenario.unfused_attention != 0 ? "scores stay on the chip"
                                                                 : "scores are stored and read");
        break;
    case ROOF_SURVEY_PROJECTIONS:
        roof_text_put(out, base->scenario.split_projections != 0
                               ? "one product reads the input once"
                               : "each product reads the input again");
        break;
    case ROOF_SURVEY_TP:
        roof_text_printf(out, "on %.0f devices, %.2fx per device", c->model_prediction->devices,
                         best * base->devices / c->model_prediction->devices);
        break;
    case ROOF_SURVEY_KERNEL:
        roof_text_printf(
            out, "now %sx its bound",
            roof_format_short(text, node->prediction.expected_s / node->prediction.time_s));
        break;
    default:
        roof_text_put(out, fixed[c->kind].note);
        break;
    }
    if (c->model_prediction != NULL && c->model_prediction->fits != base->fits) {
        roof_text_put(out, c->model_prediction->fits == ROOF_FIT_YES ? "; fits" : "; does not fit");
    }
}

void roof_survey_put_note(struct roof_text *out, const struct roof_survey_phase *phase,
                          const struct roof_survey_change *c)
{
    if (!(roof_lever_best(c->gain, c->expected_gain) >= ROOF_LEVER_NO_GAIN)) {
        roof_text_put(out, roof_survey_makes_room(phase, c) ? "no faster; " : "does not help; ");
    }
    put_meaning(out, phase, c);
}

static void gain_cell(struct roof_markdown_table *g, double gain)
{
    if (isnan(gain)) {
        roof_markdown_cell(g, "-");
    } else {
        roof_text_printf(&g->text, "%.2fx", gain);
        roof_markdown_end_cell(g);
    }
}

/* Writes the gain of each possible change. A row fits on a page. */
static void put_gains(struct roof_text *out, const struct roof_survey_phase *phase)
{
    struct roof_markdown_table g;
    const struct roof_model_prediction *const base = phase->base;
    ROOF_GRID_BEGIN(&g, "change", ">bound", ">expected", "note");
    roof_markdown_cell(&g, "(as it is)");
    gain_cell(&g, 1);
    gain_cell(&g, isnan(base->total.expected_s) ? ROOF_UNKNOWN : 1);
    roof_markdown_cell(&g, base->fits == ROOF_FIT_NO ? "does not fit" : "");
    for (size_t i = 0; i < phase->changes; i++) {
        const struct roof_survey_change *const c = &phase->change[i];
        if (c->refused.status == ROOF_OK) {
            roof_survey_put_change(&g.text, phase, c);
            roof_markdown_end_cell(&g);
            gain_cell(&g, c->gain);
            gain_cell(&g, c->expected_gain);
            put_meaning(&g.text, phase, c);
            roof_markdown_end_cell(&g);
        }
    }
    roof_markdown_put(out, &g);
}

/* Writes the time of each possible change, folded because the gains have the same information. */
static void put_times(struct roof_text *out, const struct roof_survey_phase *phase)
{
    struct roof_markdown_table g;
    roof_markdown_fold(out, phase->base->scenario.phase == ROOF_PHASE_PREFILL
                                ? "Times of the prefill with these changes"
                                : "Times per token with these changes");
    roof_text_put(out, "\n");
    ROOF_GRID_BEGIN(&g, "change", ">bound", ">expected");
    roof_markdown_cell(&g, "(as it is)");
    roof_markdown_quantity(&g, roof_survey_time(phase->base), ROOF_UNIT_MILLISECONDS);
    roof_markdown_quantity(&g, roof_survey_expected(phase->base), ROOF_UNIT_MILLISECONDS);
    for (size_t i = 0; i < phase->changes; i++) {
        const struct roof_survey_change *const c = &phase->change[i];
        if (c->refused.status == ROOF_OK) {
            roof_survey_put_change(&g.text, phase, c);
            roof_markdown_end_cell(&g);
            roof_markdown_quantity(&g, c->time_s, ROOF_UNIT_MILLISECONDS);
            roof_markdown_quantity(&g, c->expected_s, ROOF_UNIT_MILLISECONDS);
        }
    }
    roof_markdown_put(out, &g);
    roof_markdown_unfold(out);
}

static void put_changes(struct roof_text *out, const struct roof_survey_phase *phase)
{
    roof_text_printf(out, "\n### %s\n\n", phase_name(phase));
    put_gains(out, phase);
    for (size_t i = 0; i < phase->changes; i++) {
        if (phase->change[i].refused.status != ROOF_OK) {
            roof_text_put(out, "\nNot possible: ");
            roof_survey_put_change(out, phase, &phase->change[i]);
            roof_text_put(out, " (");
            roof_text_markdown(out, phase->change[i].refused.message);
            roof_text_put(out, ").\n");
        }
    }
    put_times(out, phase);
}

void roof_survey_put_changes(struct roof_text *out, const struct roof_survey *s)
{
    roof_text_put(
        out, "\n## Opportunities\n\nEach row makes one change. The gain is that of tokens/s over "
             "all sequences, whether they fit in memory or not: by lower bounds (bound) and "
             "by estimates (expected). The largest expected gain comes first.\n");
    if (s->decode.base != NULL) {
        put_changes(out, &s->decode);
    }
    if (s->prefill.base != NULL) {
        put_changes(out, &s->prefill);
    }
}
