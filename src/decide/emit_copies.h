// SPDX-License-Identifier: MIT
/* The copies of a plan in a script: how many a node starts, and on which devices. */
#ifndef ROOF_DECIDE_EMIT_COPIES_H
#define ROOF_DECIDE_EMIT_COPIES_H

#include "base/text.h"
#include "decide/plan.h"

/* Returns how many copies one node has; 0: a copy does not fit into a node. */
int64_t roof_emit_copies_per_node(const struct roof_plan *plan,
                                  const struct roof_hardware *hardware);

/* Writes a remark on the nodes of the copies, of which one has `per_node`
 * (roof_emit_copies_per_node). */
void roof_emit_copies_note(struct roof_text *out, const struct roof_plan *plan, int64_t per_node);

/* Begins a loop over the copies of a node: "for devices in 0,1 2,3; do", with the variable that
 * shows a copy its devices only. */
void roof_emit_copies_begin(struct roof_text *out, const struct roof_plan *plan,
                            const struct roof_hardware *hardware, int64_t per_node);

#endif
