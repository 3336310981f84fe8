// SPDX-License-Identifier: MIT
#include "report/scenario_report.h"

#include <inttypes.h>

#include "base/base.h"
#include "base/quantity.h"
#include "decide/input.h"
#include "report/media_report.h"

/* A text, and its parts so far. */
struct parts {
    struct roof_text *out;
    struct roof_scenario_part *part;
    size_t count;
};

/* Begins a part with its name, if it has one; its value follows. */
static struct roof_text *begin(struct parts *p, size_t input, const char *name)
{
    struct roof_scenario_part *const part = &p->part[p->count];
    roof_text_put(p->out, p->count == 0 ? "" : ROOF_SCENARIO_SEPARATOR);
    p->count++;
    part->input = input;
    part->begin = p->out->length;
    roof_text_printf(p->out, "%s%s", name, *name == '\0' ? "" : " ");
    part->value = p->out->length;
    return p->out;
}

static void end(struct parts *p)
{
    p->part[p->count - 1].end = p->out->length;
}

/* A size of a scenario, which may be left out. */
struct size {
    size_t input;
    const char *name;
    int64_t value;
    bool shown;
};

static void put_sizes(struct parts *p, const struct size *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (sizes[i].shown) {
            roof_text_printf(begin(p, sizes[i].input, sizes[i].name), "%" PRId64, sizes[i].value);
            end(p);
        }
    }
}

/* Writes the number of draft tokens, and the drafter. */
static void put_drafts(struct parts *p, const struct roof_model_prediction *r)
{
    const char *const name = roof_drafter_name(&r->scenario, r->model);
    if (r->scenario.draft_tokens == 0) {
        return;
    }
    struct roof_text *const out = begin(p, ROOF_INPUT_DRAFT_TOKENS, "draft tokens");
    roof_text_printf(out, "%" PRId64, r->scenario.draft_tokens);
    if (name != NULL && r->scenario.drafting == ROOF_DRAFTING_OWN) {
        roof_text_put(out, " of its own layers (mtp)");
    } else if (name != NULL && r->scenario.drafting == ROOF_DRAFTING_FREE) {
        roof_text_put(out, " at no cost");
    } else if (name != NULL) {
        roof_text_printf(out, " of %s", name);
    }
    end(p);
}

static void put_media(struct parts *p, const struct roof_model_prediction *r)
{
    const struct roof_scenario *const s = &r->scenario;
    if (s->media.images > 0) {
        roof_report_images(begin(p, ROOF_INPUT_IMAGES, "images"), s, r->model);
        end(p);
    }
    if (s->media.audio > 0) {
        roof_report_audio(begin(p, ROOF_INPUT_AUDIO, "audio"), s, r->model);
        end(p);
    }
}

static void put_rest(struct parts *p, const struct roof_model_prediction *r)
{
    const struct roof_scenario *const s = &r->scenario;
    char hit[ROOF_QUANTITY_SIZE];
    if (s->offload != ROOF_OFFLOAD_NONE) {
        roof_text_put(begin(p, ROOF_INPUT_OFFLOADED, "offload"), r->offload);
        end(p);
    }
    if (s->fuse != ROOF_FUSE_DEFAULT) {
        roof_text_put(begin(p, ROOF_INPUT_FUSE, "fuse"), roof_fuse_names[s->fuse]);
        end(p);
    }
    if (s->prefix_hit > 0) {
        roof_text_printf(begin(p, ROOF_INPUT_PREFIX_HIT, ""), "%s of the prompt cached",
                         roof_format_quantity(hit, s->prefix_hit, ROOF_UNIT_FRACTION));
        end(p);
    }
}

size_t roof_report_scenario_parts(struct roof_text *out, struct roof_scenario_part *part,
                                  const struct roof_model_prediction *model_prediction)
{
    const struct roof_model_prediction *const r = model_prediction;
    const struct roof_scenario *const s = &r->scenario;
    struct parts p = {.out = out, .part = part};
    const struct size sizes[] = {
        {ROOF_DIM_BATCH, s->static_batch > 0 ? "static batch" : "batch", s->common.shape.batch,
         true},
        {ROOF_INPUT_CONTEXT, "context", s->context,
         s->context > 0 && s->phase != ROOF_PHASE_REQUEST},
        {ROOF_INPUT_PROMPT, "prompt", s->prompt, s->prompt > 0},
        {ROOF_INPUT_GENERATE, "generate", s->generate, s->generate > 0},
        {ROOF_INPUT_CHUNK, "chunk", s->chunk, s->phase == ROOF_PHASE_REQUEST && s->chunk > 0},
        {ROOF_INPUT_CHUNK, "new tokens", s->chunk,
         s->phase == ROOF_PHASE_PREFILL && s->chunk != s->context},
        {ROOF_INPUT_PREFILL_BATCH, "prefilling sequences", s->prefill_batch,
         s->phase == ROOF_PHASE_MIXED},
        {ROOF_INPUT_CHUNK, "new tokens of each", s->chunk, s->phase == ROOF_PHASE_MIXED},
        {ROOF_INPUT_PREFILL_CONTEXT, "their context", s->prefill_context,
         s->phase == ROOF_PHASE_MIXED},
    };
    const struct size splits[] = {
        {ROOF_INPUT_TP, "tp", s->tp, s->tp > 1},
        {ROOF_INPUT_PP, "pp", s->pp, s->pp > 1},
        {ROOF_DIM_EP, "ep", s->common.shape.ep, s->common.shape.ep > 1},
        {ROOF_INPUT_ATTENTION_DP, "attention dp", s->attention_dp, roof_splits_apart(s)},
        {ROOF_INPUT_MOE_TP, "moe tp", s->moe_tp, roof_splits_apart(s)},
        {ROOF_INPUT_MOE_EP, "moe ep", s->moe_ep, roof_splits_apart(s)},
        {ROOF_INPUT_DP, "dp", s->dp, s->dp > 1},
        {ROOF_DIM_DEVICES, "devices", (int64_t)r->devices, r->devices > 1},
    };
    roof_text_put(begin(&p, ROOF_INPUT_PHASE, ""), r->phase);
    end(&p);
    put_sizes(&p, sizes, COUNT(sizes));
    put_drafts(&p, r);
    put_media(&p, r);
    put_sizes(&p, splits, COUNT(splits));
    put_rest(&p, r);
    return p.count;
}

void roof_report_scenario(struct roof_text *out,
                          const struct roof_model_prediction *model_prediction)
{
    struct roof_scenario_part part[ROOF_SCENARIO_PARTS];
    (void)roof_report_scenario_parts(out, part, model_prediction);
}
