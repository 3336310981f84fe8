// SPDX-License-Identifier: MIT
/* Reads inputs that questions about the format of an operator share. */
#ifndef ROOF_ASK_RECOMMEND_READ_H
#define ROOF_ASK_RECOMMEND_READ_H

#include "decide/read.h"
#include "decide/recommend.h"

/* Reads the selection of an operator's formats; `formats` has the given list. */
enum roof_status roof_read_recommend(struct roof_recommend_options *out,
                                     enum roof_precision formats[ROOF_PRECISION_COUNT],
                                     const struct roof_question *question,
                                     struct roof_error *error);

#endif
