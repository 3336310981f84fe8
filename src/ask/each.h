// SPDX-License-Identifier: MIT
/* Questions about several devices whose answers do not stand side by side. */
#ifndef ROOF_ASK_EACH_H
#define ROOF_ASK_EACH_H

#include "ask/asking.h"

/* Tells whether a question is answered for each of its devices in turn: `predict` of a graph file
 * or with an input that is about one answer, such as `why`; `simulate`; `recommend` of an operator.
 */
bool roof_check_each(const struct roof_asking *a);

/* Calls `answer` for each device. JSON becomes an array, other formats follow each other. */
enum roof_status roof_ask_each(struct roof_asking *a,
                               enum roof_status (*answer)(struct roof_asking *,
                                                          struct roof_error *),
                               struct roof_error *error);

#endif
