// SPDX-License-Identifier: MIT
/* The grid of points that a question with lists and ranges asks for. */
#ifndef ROOF_DECIDE_GRID_H
#define ROOF_DECIDE_GRID_H

#include "decide/read.h"
#include "decide/sweep.h"

#define ROOF_GRID_LIST_MAX 256

struct roof_grid {
    struct roof_sweep sweep;
    const struct roof_hardware *device[ROOF_GRID_LIST_MAX]; /* borrowed, like the models */
    size_t devices;
    const struct roof_model *model[ROOF_GRID_LIST_MAX];
    size_t models;
    const struct roof_model *draft;
    struct roof_variant *variant; /* owned; NULL: the list of precisions names no other formats */
    char *names;                  /* those of variants, one behind the other; owned */
    struct roof_error note;       /* what else a name may mean, or the message is "" */
};

/* Reads a grid; release with roof_grid_close, also after a failure. bounds_only says that the
 * answer has no expected times. */
enum roof_status roof_grid_open(struct roof_grid *out, struct roof_loans *loans,
                                const struct roof_question *question, bool bounds_only,
                                struct roof_error *error);

/* Reads the devices of a question alone, or takes the default one. */
enum roof_status roof_grid_devices(struct roof_grid *out, struct roof_loans *loans,
                                   const struct roof_question *question, bool bounds_only,
                                   struct roof_error *error);

void roof_grid_close(struct roof_grid *grid);

#endif
