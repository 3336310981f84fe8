// SPDX-License-Identifier: MIT
/* Goes on with the rows of a sweep that was interrupted. */
#ifndef ROOF_ASK_RESUME_H
#define ROOF_ASK_RESUME_H

#include "ask/asking.h"
#include "decide/sweep.h"

/* Counts what the part of an interrupted sweep contains. */
struct roof_resumed {
    uint64_t rows;
    uint64_t points;  /* that were asked for them */
    uint64_t refused; /* points left out */
    struct roof_error first_refused;
};

/* Finds where the rows of the listener's part end among count points from `first` on, and tells the
 * listener how much of the part stays; without whole rows nothing does. ROOF_INVALID, and nothing
 * is changed, when the part is not of this sweep. */
enum roof_status roof_resume(struct roof_resumed *out, struct roof_asking *a,
                             const struct roof_sweep *sweep, const struct roof_table *table,
                             uint64_t first, uint64_t count, int64_t threads,
                             struct roof_error *error);

#endif
