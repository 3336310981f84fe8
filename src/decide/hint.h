// SPDX-License-Identifier: MIT
/* Finds the input to which a misplaced name belongs. */
#ifndef ROOF_DECIDE_HINT_H
#define ROOF_DECIDE_HINT_H

#include <stdbool.h>

#include "base/error.h"
#include "model/model.h"

/* Replaces the message of an error about an unknown precision or layout, if the name is one of the
 * other or an engine's format, by one with the right input. precision_given: the name was the value
 * of `precision`. Layouts are searched in the folders (NULL: only the built-in ones). */
void roof_hint_format(struct roof_error *error, const char *name, bool precision_given,
                      const char *const *folders);

/* A known model, and the formats in which a checkpoint of it is published. */
struct roof_checkpoint {
    char model[128];
    const char *formats;      /* a value of `layout` or `precision`; it may be a part of the name */
    bool layout;              /* it is one of `layout` */
    const char *quantization; /* the quantization_config of the checkpoint; NULL: not known here */
};

/* Finds the checkpoint that a name means by its ending, such as Qwen/Qwen3-32B-FP8; false: none, or
 * the name is a path. The ending -GGUF means the file of the layout behind a colon (-GGUF:Q4_K_M),
 * or else q4_k_m, which most people download. The model is searched in the folders, too (NULL: only
 * the built-in ones). */
bool roof_checkpoint_find(struct roof_checkpoint *out, const char *name,
                          const char *const *folders);

/* Changes a model of which a checkpoint was found under a name, and whose `quantization` is not
 * NULL, into that checkpoint. */
enum roof_status roof_checkpoint_make(struct roof_model *model,
                                      const struct roof_checkpoint *checkpoint, const char *name,
                                      struct roof_error *error);

/* Returns the part of a name behind the address of Hugging Face (https://huggingface.co/ or
 * hf.co/); other names as they are. NULL: NULL. */
const char *roof_hub_name(const char *name);

/* Replaces the message of an error about an unknown model by one that names the model and its
 * formats, if the name is that of a quantised checkpoint of a known model: Qwen/Qwen3-32B-FP8. */
void roof_hint_model(struct roof_error *error, const char *name, const char *const *folders);

#endif
