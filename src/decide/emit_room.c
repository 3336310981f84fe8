// SPDX-License-Identifier: MIT
#include "decide/emit_room.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Real prompts vary, and chat templates add tokens: requests may be longer than the question's by
 * this fraction, rounded up to a multiple of the granule. */
#define SERVED_ROOM 0.25
#define SERVED_GRANULE 1024

int64_t roof_emit_served(int64_t context, int64_t sequences, int64_t positions)
{
    const double room = ceil((double)context * (1 + SERVED_ROOM) / SERVED_GRANULE) * SERVED_GRANULE;
    const double held = (double)context * (double)sequences;
    const double most = positions > 0 ? (double)positions : room;
    return (int64_t)fmin(fmin(room, held), most);
}

/* Tells whether the engine is told how long requests may be. */
static bool limits_requests(const struct roof_engine *engine)
{
    for (size_t i = 0; i < engine->steps; i++) {
        for (const char *const *line = engine->step[i].line; *line != NULL; line++) {
            if (strstr(*line, "{context}") != NULL) {
                return true;
            }
        }
    }
    return false;
}

void roof_emit_room_note(struct roof_text *out, const struct roof_engine *engine, int64_t served,
                         int64_t context)
{
    if (served > context && limits_requests(engine)) {
        roof_text_printf(out,
                         "accepts requests up to %" PRId64 " tokens, as real prompts vary (the "
                         "plan has %" PRId64 ")",
                         served, context);
    } else if (served > context) {
        roof_text_printf(out,
                         "each slot holds %" PRId64 " tokens, the length of the plan: real prompts "
                         "vary, so plan for the longest request",
                         context);
    }
}
