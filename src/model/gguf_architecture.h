// SPDX-License-Identifier: MIT
/* The architectures of GGUF files: those whose files say everything, and those that are refused. */
#ifndef ROOF_MODEL_GGUF_ARCHITECTURE_H
#define ROOF_MODEL_GGUF_ARCHITECTURE_H

#include "model/gguf_tensors.h"

/* Refuses an architecture whose files leave out which layers differ, and a model with metadata of
 * parts that are not read. */
enum roof_status roof_gguf_check_architecture(struct roof_gguf *g);
/* Notes that an architecture is not known. */
void roof_gguf_note_architecture(struct roof_gguf *g);
/* Refuses the model because of a part that is not read; `what` names it. */
enum roof_status roof_gguf_refuse(struct roof_gguf *g, const char *what);

#endif
