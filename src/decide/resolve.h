// SPDX-License-Identifier: MIT
/* Finds the input that a name belongs to: operators and models, precisions and other formats. */
#ifndef ROOF_DECIDE_RESOLVE_H
#define ROOF_DECIDE_RESOLVE_H

#include "decide/question.h"
#include "decide/store.h"

/* Sets *out to the question with names moved to their inputs; it borrows the texts of `question`,
 * like roof_question_borrow. An operator that is the name or path of a model becomes a model. The
 * name of a quantised checkpoint becomes its model and formats (roof_checkpoint_find; *note says
 * so). The `precision` of a single model is looked up (roof_named_find, which sets *note); lists of
 * names, and the precision of several models or of records, are left to their readers. */
enum roof_status roof_question_resolve(struct roof_question *out, struct roof_error *note,
                                       const struct roof_question *question,
                                       struct roof_loans *loans, enum roof_command command,
                                       struct roof_error *error);

#endif
