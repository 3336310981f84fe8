// SPDX-License-Identifier: MIT
/* Quantised checkpoints of known models, by their names at Hugging Face. */
#ifndef ROOF_DECIDE_CHECKPOINT_H
#define ROOF_DECIDE_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "model/layout.h"
#include "model/model.h"

/* A known model, and the formats in which a checkpoint of it is published. */
struct roof_checkpoint {
    const char *name; /* the name of the checkpoint, borrowed; NULL: there is none */
    char model[128];
    const char *formats;      /* a value of `layout` or `precision`; it may be a part of the name */
    bool layout;              /* it is one of `layout` */
    bool tagged;              /* the formats stand behind a colon in the name */
    const char *quantization; /* the quantization_config of the checkpoint; NULL: not known here */
};

/* Finds the checkpoint that a name means by its ending, such as Qwen/Qwen3-32B-FP8; false: none, or
 * the name is a path. The ending -GGUF means the file of the layout behind a colon (-GGUF:Q4_K_M),
 * or else q4_k_m, which most people download. The model is searched in the folders, too (NULL: only
 * the built-in ones). */
bool roof_checkpoint_find(struct roof_checkpoint *out, const char *name,
                          const char *const *folders);

/* Refuses the tag of a checkpoint (-GGUF:TAG) that is the name of no formats. */
enum roof_status roof_checkpoint_check(const struct roof_checkpoint *checkpoint,
                                       const char *const *folders, struct roof_error *error);

/* Changes a model of which a checkpoint was found, and whose `quantization` is not NULL, into that
 * checkpoint. */
enum roof_status roof_checkpoint_make(struct roof_model *model,
                                      const struct roof_checkpoint *checkpoint,
                                      struct roof_error *error);

/* Writes that the name of a checkpoint is read as the model with this id, and in which formats: its
 * own or those of the question. */
void roof_checkpoint_say(struct roof_text *out, const char *name,
                         const struct roof_checkpoint *checkpoint, const char *id, bool own);

/* Adds that to a note, behind what it has. */
enum roof_status roof_checkpoint_note(struct roof_error *note,
                                      const struct roof_checkpoint *checkpoint, const char *id,
                                      bool own, struct roof_error *error);

/* Finds ORGANISATION/NAME in an address of Hugging Face, such as
 * https://huggingface.co/ORGANISATION/NAME/tree/main, and its length; other texts, among them lists
 * and the addresses of GGUF files, are names themselves. NULL: NULL. */
const char *roof_hub_name(size_t *length, const char *name);

#endif
