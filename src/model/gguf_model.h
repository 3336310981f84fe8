// SPDX-License-Identifier: MIT
/* Makes a model of the metadata and the tensors of a GGUF file. */
#ifndef ROOF_MODEL_GGUF_MODEL_H
#define ROOF_MODEL_GGUF_MODEL_H

#include "model/gguf_tensors.h"

/* Fills in the sizes that the metadata has; tensors are checked against them. */
enum roof_status roof_gguf_begin_model(struct roof_gguf *g);
/* Fills in the data from the tensors, after all were read, and checks the model. */
enum roof_status roof_gguf_finish_model(struct roof_gguf *g, const char *path,
                                        struct roof_error *error);

#endif
