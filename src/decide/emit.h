// SPDX-License-Identifier: MIT
/**
 * A script that runs a plan on an engine: shell commands with comments, from the words of
 * data/engines. docs/formats.md ("Engine files") has the placeholders in them.
 */
#ifndef ROOF_DECIDE_EMIT_H
#define ROOF_DECIDE_EMIT_H

#include "base/text.h"
#include "decide/plan.h"

/** Returns the engine that serves what `emit` names: the engine itself, or for "dynamo" vLLM. */
const char *roof_emit_engine(const char *emit);

/** Begins a script, unless it is a manifest: an interactive zsh into which it is pasted then skips
 * comments, and runs nothing in them. */
void roof_emit_begin(struct roof_text *out, const char *emit);

/**
 * Writes a script for the best of the plans that the engine (its number) runs, with the drafts of
 * the question if it has any. If `out` is empty, it first begins the script. model is the name that
 * the user gave: a file, or a name that stands for the repository that the registry has. others
 * (NULL: none) are plans of the same question for other engines: a comment names the best of them
 * if this engine does not run it, with their gain. emit is the name that was asked for: for
 * "dynamo" the script is a manifest for NVIDIA Dynamo on Kubernetes. ROOF_UNSATISFIED when the
 * engine or the manifest has no words for any: *out then says why, as comments. ROOF_INVALID: a
 * line of the engine has an unknown placeholder.
 */
enum roof_status roof_emit(struct roof_text *out, const char *emit, size_t engine,
                           const struct roof_plans *plans, const struct roof_plans *others,
                           const struct roof_plan_problem *problem, const char *model,
                           struct roof_error *error);

#endif
