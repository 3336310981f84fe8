// SPDX-License-Identifier: MIT
/* The devices of a split, and the engines that run it or draft over it. */
#include "decide/engine.h"

int64_t roof_split_devices(const struct roof_split *split)
{
    return split->tp * split->pp * split->attention_dp;
}

bool roof_split_apart(const struct roof_split *split)
{
    return split->moe_ep > 0 && split->moe_ep != split->attention_dp;
}

int64_t roof_split_ep(const struct roof_split *split)
{
    return roof_split_apart(split) ? 1 : split->attention_dp;
}

bool roof_several_nodes(const struct roof_hardware *hardware, int64_t devices)
{
    return (double)devices > hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
}

const char *const roof_engine_drafting[ROOF_DRAFTING_MODEL + 1] = {
    [ROOF_DRAFTING_FREE] = "none", [ROOF_DRAFTING_OWN] = "mtp", [ROOF_DRAFTING_MODEL] = "model"};

static bool is_within(const struct roof_split *split, int64_t batch,
                      const int64_t most[ROOF_SPLIT_LIMITS])
{
    const int64_t size[ROOF_SPLIT_LIMITS] = {[ROOF_SPLIT_TP] = split->tp,
                                             [ROOF_SPLIT_PP] = split->pp,
                                             [ROOF_SPLIT_ATTENTION_DP] = split->attention_dp,
                                             [ROOF_SPLIT_MOE_TP] = split->moe_tp,
                                             [ROOF_SPLIT_MOE_EP] = split->moe_ep,
                                             [ROOF_SPLIT_BATCH] = batch};
    int k = 0;
    while (k < ROOF_SPLIT_LIMITS && size[k] <= most[k]) {
        k++;
    }
    return k == ROOF_SPLIT_LIMITS;
}

const struct roof_engine_split *roof_engine_split(const struct roof_engine *engine,
                                                  const struct roof_split *split, int64_t batch)
{
    size_t i = 0;
    while (i < engine->splits && !is_within(split, batch, engine->split[i].most)) {
        i++;
    }
    return i < engine->splits ? &engine->split[i] : NULL;
}

const struct roof_engine_drafts *roof_engine_drafts(const struct roof_engine *engine,
                                                    enum roof_drafting by,
                                                    const struct roof_split *split, int64_t batch)
{
    const struct roof_engine_drafts *const d = &engine->drafts[by];
    return d->make != NULL && is_within(split, batch, d->over.most) ? d : NULL;
}

unsigned roof_engines_split(const struct roof_engines *engines,
                            const struct roof_hardware *hardware, const struct roof_split *split,
                            int64_t batch)
{
    const bool several = roof_several_nodes(hardware, roof_split_devices(split));
    unsigned set = 0;
    for (size_t i = 0; i < engines->count; i++) {
        const struct roof_engine *const e = &engines->engine[i];
        if ((!several || e->nodes != NULL) && roof_engine_split(e, split, batch) != NULL) {
            set |= 1U << i;
        }
    }
    return set;
}
