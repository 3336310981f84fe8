// SPDX-License-Identifier: MIT
/* Finds out which input a name stands for: operators and models, precisions and other formats. */
#ifndef ROOF_DECIDE_RESOLVE_H
#define ROOF_DECIDE_RESOLVE_H

#include "decide/question.h"
#include "decide/store.h"

/*
 * Makes *out the question with names in their places; it borrows the texts of `question`, like
 * roof_question_borrow. An operator that is the name or the path of a model becomes a model. The
 * `precision` of one model is looked up (roof_named_find, which has *note); a list of names, and
 * the precision of several models or of records, is left to the code that reads those.
 */
enum roof_status roof_question_resolve(struct roof_question *out, struct roof_error *note,
                                       const struct roof_question *question,
                                       struct roof_loans *loans, struct roof_error *error);

#endif
