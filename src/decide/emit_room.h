// SPDX-License-Identifier: MIT
/* The longest request that an engine accepts in a script: longer than those of the question. */
#ifndef ROOF_DECIDE_EMIT_ROOM_H
#define ROOF_DECIDE_EMIT_ROOM_H

#include <stdint.h>

#include "base/text.h"
#include "decide/engine.h"

/* Returns the tokens of the longest request that the engine should accept: one with some room, as
 * long as one of the cache's sequences can have it. Engines refuse more than the model supports
 * (`positions`; 0: unknown). The cache of the plan holds `sequences` of the question's, each with
 * `context` tokens. */
int64_t roof_emit_served(int64_t context, int64_t sequences, int64_t positions);

/* Writes a remark on that room if a step of the engine has an option for it. */
void roof_emit_room_note(struct roof_text *out, const struct roof_engine *engine, int64_t served,
                         int64_t context);

#endif
