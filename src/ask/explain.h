// SPDX-License-Identifier: MIT
/* Comparisons of two sides, `explain` A,B, share these. */
#ifndef ROOF_ASK_EXPLAIN_H
#define ROOF_ASK_EXPLAIN_H

#include "ask/asking.h"

/* Refuses a number of operators beside `explain` where they are not listed for a reader. */
enum roof_status roof_check_explain_top(const struct roof_asking *a, struct roof_error *error);

#endif
