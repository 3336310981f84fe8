// SPDX-License-Identifier: MIT
/* Records of operators, which are read, predicted and written in several threads. */
#ifndef ROOF_ASK_RECORD_BATCH_H
#define ROOF_ASK_RECORD_BATCH_H

#include "ask/asking.h"
#include "decide/record_part.h"
#include "report/rows.h"

/* Predicts the record at hand of a part, which it stops where that cannot be done in any thread.
 * Every failure except ROOF_MEMORY is a fault of the record. */
typedef enum roof_status roof_record_predictor(void *context, const struct roof_prediction **out,
                                               struct roof_record_part *part,
                                               struct roof_error *error);

/* Fill in the first members; zero is the rest. */
struct roof_record_batch {
    struct roof_asking *asking;
    struct roof_records *records; /* of operators */
    struct roof_table *table;
    struct roof_text *text; /* rows that are not written yet */
    roof_record_predictor *predict;
    void *context;
    int64_t threads; /* 0: not known yet */
    size_t parts;
    struct roof_batch_part *part;
    uint64_t alone; /* records that the caller has to answer before the next batch */
    uint64_t wait;  /* as many after the next part that stops */
};

/* Answers the records that can be read without a wait, as if they were answered one by one. There
 * may be none (*some is false): then the caller answers the next record. */
enum roof_status roof_record_batch_answer(struct roof_record_batch *batch, bool *some,
                                          struct roof_error *error);
void roof_record_batch_free(struct roof_record_batch *batch);

#endif
