// SPDX-License-Identifier: MIT
/* Finds out which input a name stands for: operators and models, precisions and other formats. */
#ifndef ROOF_DECIDE_RESOLVE_H
#define ROOF_DECIDE_RESOLVE_H

#include "decide/question.h"
#include "decide/store.h"

/*
 * Makes *out the question with names in their places; it borrows the texts of `question`, like
 * roof_question_borrow. An operator that is the name or the path of a model becomes a model. The
 * `precision` of a model is looked up among the precisions, then the formats of engines, which give
 * weights, activations and KV cache or the published checkpoint, then the layouts: the first that
 * has it. For a precision that means something else among the others, *note says so; its message is
 * "" otherwise.
 */
enum roof_status roof_question_resolve(struct roof_question *out, struct roof_error *note,
                                       const struct roof_question *question,
                                       struct roof_loans *loans, struct roof_error *error);

#endif
