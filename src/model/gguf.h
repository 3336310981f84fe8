// SPDX-License-Identifier: MIT
/* The header of a GGUF file: sizes and formats of a model, without its weights. */
#ifndef ROOF_GGUF_H
#define ROOF_GGUF_H

#include "roofline/model.h"

/* Fills an empty model. A file that is not what it should be: ROOF_INVALID; one that cannot be
 * read: ROOF_IO. */
enum roof_status roof_gguf_read(struct roof_model *out, const char *path, struct roof_error *error);

#endif
