// SPDX-License-Identifier: MIT
/* Records of operators, which several threads read, predict and write. */
#ifndef ROOF_ASK_RECORD_BATCH_H
#define ROOF_ASK_RECORD_BATCH_H

#include "ask/asking.h"
#include "decide/record_part.h"
#include "report/rows.h"

/* Predicts the current record of a part, and stops the part if threads cannot do that. Every
 * failure except ROOF_MEMORY is an error of the record. */
typedef enum roof_status roof_record_predictor(void *context, const struct roof_prediction **out,
                                               struct roof_record_part *part,
                                               struct roof_error *error);

/* The caller sets the first members and zeroes the rest. */
struct roof_record_batch {
    struct roof_asking *asking;
    struct roof_records *records; /* records about operators */
    struct roof_table *table;
    struct roof_text *text; /* rows that have not been written */
    roof_record_predictor *predict;
    void *context;
    int64_t threads; /* 0: not known yet */
    size_t parts;
    struct roof_batch_part *part;
    uint64_t alone; /* records that the caller must answer before the next batch */
    uint64_t wait;  /* the value of `alone` after the next part that stops */
};

/* Answers the records that can be read without waiting, with the same results as singly. If there
 * are none (*some is false), the caller answers the next record. */
enum roof_status roof_record_batch_answer(struct roof_record_batch *batch, bool *some,
                                          struct roof_error *error);
void roof_record_batch_free(struct roof_record_batch *batch);

#endif
