// SPDX-License-Identifier: MIT
/* The names of models and checkpoints in a script. */
#ifndef ROOF_DECIDE_EMIT_NAME_H
#define ROOF_DECIDE_EMIT_NAME_H

#include <stdbool.h>

#include "base/text.h"

/* The destination of a line decides how names are quoted. */
enum roof_emit_place {
    ROOF_EMIT_COMMAND, /* as a word of the shell */
    ROOF_EMIT_JSON,    /* as a string of JSON, in a word of the shell in single quotes */
    ROOF_EMIT_FILE,    /* as a string of JSON, which is also one of YAML */
    ROOF_EMIT_COMMENT  /* without characters that could end the comment */
};
void roof_emit_name(struct roof_text *out, const char *text, enum roof_emit_place place);

/* Writes the name of a model for an engine, which is a repository, a folder or a GGUF file, and its
 * last part, for file names. Files in folders (config.json) stand for their folders. */
void roof_emit_names(struct roof_text *model, struct roof_text *last, const char *name);

bool roof_emit_ends_with(const char *text, const char *with);

#endif
