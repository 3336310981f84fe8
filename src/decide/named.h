// SPDX-License-Identifier: MIT
/* The meaning of one name of formats in a question about a model: the value of `precision`. */
#ifndef ROOF_DECIDE_NAMED_H
#define ROOF_DECIDE_NAMED_H

#include "decide/store.h"

/* Longer names are paths of layouts. */
#define ROOF_NAMED_SIZE 4100

/* Formats are ROOF_PRECISION_AUTO, and the layout NULL, if the name does not determine them. */
struct roof_named {
    const char *model;  /* the model of the checkpoint that was named as a model; NULL: none was */
    const char *layout; /* the name itself, or "checkpoint" */
    enum roof_precision precision;
    enum roof_precision weights;
    enum roof_precision activations;
    enum roof_precision kv;
};

/* A name that determines nothing. */
#define ROOF_NAMED_NONE                                                                            \
    (struct roof_named)                                                                            \
    {                                                                                              \
        NULL, NULL, ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO,                 \
            ROOF_PRECISION_AUTO                                                                    \
    }

/*
 * Looks a name up among the precisions, then the formats of engines, which give weights,
 * activations and KV cache or the published checkpoint, then the layouts: the first that has it.
 * `model` (NULL: not known) may be published in the formats. For a name that means something else
 * among the others, *note says so; its message is "" otherwise.
 */
enum roof_status roof_named_find(struct roof_named *out, struct roof_error *note, const char *name,
                                 const char *model, struct roof_loans *loans,
                                 struct roof_error *error);

/* Tells if all items of a list are precisions. */
bool roof_named_plain(const char *list);

#endif
