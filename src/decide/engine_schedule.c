// SPDX-License-Identifier: MIT
#include <string.h>

#include "decide/engine.h"
#include "simulate/scheduler.h"

struct roof_upload roof_engines_upload(const struct roof_engines *engines, unsigned asked)
{
    const unsigned both = asked & engines->offload;
    const unsigned of = both == 0 ? engines->offload : both;
    struct roof_upload upload = {.share = 0};
    for (size_t i = 0; i < engines->count && upload.share == 0; i++) {
        if (((of >> i) & 1U) != 0) {
            upload = engines->engine[i].upload;
        }
    }
    return upload;
}

void roof_engine_schedule(struct roof_scheduler_limits *limits, const struct roof_engine *engine)
{
    limits->budget_has_decode = engine->scheduler.counts_decode;
    limits->separates = !engine->scheduler.mixes;
    limits->whole_prompts = engine->scheduler.whole_prompts;
    limits->reserves = !engine->scheduler.preempts;
    limits->ahead = engine->scheduler.ahead;
    limits->passes_first_token = engine->scheduler.passes_first_token;
    limits->ratio = engine->scheduler.ratio;
}

const struct roof_engine_defaults *roof_engine_defaults(const struct roof_engine *engine,
                                                        const struct roof_hardware *hardware)
{
    const struct roof_engine_scheduler *const s = &engine->scheduler;
    const double memory = hardware->figure[ROOF_FIGURE_MEMORY_CAPACITY].value;
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_engine_defaults *const d = &s->defaults[i];
        const bool left_out =
            d->except != NULL && strncmp(hardware->id, d->except, strlen(d->except)) == 0;
        if (!left_out && (d->memory_from == 0 || memory >= d->memory_from)) {
            return d;
        }
    }
    return NULL;
}

int64_t roof_engine_chunk(const struct roof_engine *engine,
                          const struct roof_engine_defaults *defaults, int64_t groups)
{
    const bool splits = engine->scheduler.splits_limits && groups > 1;
    return !splits ? defaults->chunk : groups < defaults->chunk ? defaults->chunk / groups : 1;
}

int64_t roof_engine_sequences(const struct roof_engine *engine,
                              const struct roof_engine_defaults *defaults, int64_t groups)
{
    return engine->scheduler.splits_limits ? defaults->max_num_seqs
                                           : defaults->max_num_seqs * groups;
}
