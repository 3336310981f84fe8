// SPDX-License-Identifier: MIT
/* The devices of a split, and the engines that run it. */
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
