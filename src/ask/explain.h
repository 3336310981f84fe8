// SPDX-License-Identifier: MIT
/* The two sides of a comparison, `explain` A,B. */
#ifndef ROOF_ASK_EXPLAIN_H
#define ROOF_ASK_EXPLAIN_H

#include "ask/asking.h"

#define ROOF_SIDE_SIZE 128

/* Reads the two sides as they were typed; `top` with them is of text alone. */
enum roof_status roof_read_pair(char side[2][ROOF_SIDE_SIZE], const struct roof_asking *a,
                                struct roof_error *error);

#endif
