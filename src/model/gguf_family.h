// SPDX-License-Identifier: MIT
/*
 * GGUF files of architectures whose layers differ in their parts. Their metadata and tensors become
 * the config.json of the same model, so that only the reader of configs knows the family; the
 * formats are those of the tensors.
 */
#ifndef ROOF_MODEL_GGUF_FAMILY_H
#define ROOF_MODEL_GGUF_FAMILY_H

#include "model/gguf_tensors.h"

/* Tells whether an architecture is read in this way. */
bool roof_gguf_is_mixed(const char *architecture);

/* Makes the model when all tensors were read, and leaves its layers in g->layer. */
enum roof_status roof_gguf_put_mixed(struct roof_gguf *g, struct roof_error *error);

#endif
