// SPDX-License-Identifier: MIT
/* Continues an interrupted sweep after its existing rows. */
#ifndef ROOF_ASK_RESUME_H
#define ROOF_ASK_RESUME_H

#include "ask/asking.h"
#include "decide/sweep.h"

/* The contents of an interrupted sweep's part. */
struct roof_resumed {
    uint64_t rows;
    uint64_t points;  /* number of points up to its last row */
    uint64_t refused; /* number of skipped points */
    struct roof_error first_refused;
};

/* Finds where the rows of the listener's part end among `count` points from `first` on, and tells
 * the listener how much of the part is kept, which is nothing without whole rows. ROOF_INVALID,
 * without any change, if the part does not belong to this sweep. */
enum roof_status roof_resume(struct roof_resumed *out, struct roof_asking *a,
                             const struct roof_sweep *sweep, const struct roof_table *table,
                             uint64_t first, uint64_t count, int64_t threads,
                             struct roof_error *error);

#endif
