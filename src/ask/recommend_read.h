// SPDX-License-Identifier: MIT
/* Questions about the format of an operator share these. */
#ifndef ROOF_ASK_RECOMMEND_READ_H
#define ROOF_ASK_RECOMMEND_READ_H

#include "decide/read.h"
#include "decide/recommend.h"

/* Reads how formats of an operator are chosen; formats holds a list that is given. */
enum roof_status roof_read_recommend(struct roof_recommend_options *out,
                                     enum roof_precision formats[ROOF_PRECISION_COUNT],
                                     const struct roof_question *question,
                                     struct roof_error *error);

#endif
