// SPDX-License-Identifier: MIT
/* A sweep in chunks: threads write their rows, the caller takes them in order. */
#ifndef ROOF_ASK_CHUNKS_H
#define ROOF_ASK_CHUNKS_H

#include "base/text.h"
#include "decide/sweep.h"
#include "report/rows.h"

/* Writes the row of a prediction, of a model's where model is not NULL; a table of tiles shows the
 * tile, others do not read it. */
void roof_table_point(struct roof_table *table, struct roof_text *out,
                      const struct roof_prediction *prediction,
                      const struct roof_model_prediction *model, const struct roof_tile *tile);

/* Some rows of a sweep, as they are written. */
struct roof_chunk {
    struct roof_table table;
    struct roof_text text;
    struct roof_tile tile; /* of the point at hand */
    uint64_t number;       /* from 0 */
    uint64_t rows;         /* points that are possible */
    uint64_t refused;      /* points left out */
    struct roof_error first_refused;
    enum roof_status status; /* other than ROOF_OK: text has the rows before */
    struct roof_error error;
    bool done; /* between threads */
};

/* Takes one chunk after the other, in order, in the calling thread. */
typedef enum roof_status (*roof_chunk_taker)(void *context, struct roof_chunk *chunk,
                                             struct roof_error *error);

/* True for the rows of a chunk that belong to the samples: all of the first chunk, then one of
 * several at changing places, so that every value of an inner axis occurs. */
bool roof_chunk_sampled(uint64_t number, uint64_t row);

/* Predicts count points from `first` on in threads (1: in this one) and writes their rows as the
 * table has them. With `sampled` only samples are written, of JSON each as the first of an array.
 * Ends with the first status other than ROOF_OK of the taker or, after its chunk was taken, of a
 * point. */
enum roof_status roof_sweep_chunks(const struct roof_sweep *sweep, const struct roof_table *table,
                                   bool sampled, uint64_t first, uint64_t count, int64_t threads,
                                   roof_chunk_taker taker, void *context, struct roof_error *error);

#endif
