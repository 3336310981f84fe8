// SPDX-License-Identifier: MIT
/* The headers of safetensors files: what the weights of a model are stored in. */
#ifndef ROOF_MODEL_SAFETENSORS_H
#define ROOF_MODEL_SAFETENSORS_H

#include "model/model.h"

/* Adds formats and bytes to a model whose config.json was read. path is a .safetensors file, or an
 * index (model.safetensors.index.json) that names several. A file that is not what it should be is
 * refused with ROOF_INVALID, one that cannot be read with ROOF_IO. If some matrices of a model with
 * parts other than attention and MLP are not known, the formats are those of its config, and the
 * model does not become `stored`. */
enum roof_status roof_safetensors_read(struct roof_model *model, const char *path,
                                       struct roof_error *error);

#endif
