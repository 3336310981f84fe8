// SPDX-License-Identifier: MIT
/* The headers of the files of a GGUF model: its sizes and formats, without its weights. */
#ifndef ROOF_MODEL_GGUF_H
#define ROOF_MODEL_GGUF_H

#include "model/model.h"

/* Fills an empty model. path names the file, or the first of several. An invalid file is
 * ROOF_INVALID, one that cannot be read ROOF_IO. */
enum roof_status roof_gguf_read(struct roof_model *out, const char *path, struct roof_error *error);

#endif
