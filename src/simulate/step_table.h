// SPDX-License-Identifier: MIT
/* The time of any step of an engine, interpolated between a few hundred predicted steps.
 *
 * A step of D decoding sequences with the mean context c, and of h prompt tokens with the mean
 * context k, takes s(D, c, h, k) = decode(D, c) + prefill(h, k) + shared(D, h): products work on
 * all tokens together, each kind of sequence has a separate attention, and `shared` is the saving
 * of D and h from shared weights. If attention of decoding sequences differs in steps with prompts,
 * beside(D, c) is added to steps of both kinds. Each of these is a table over two axes with linear
 * interpolation, whose cells are predicted at first use: docs/simulation.md. A step that encodes
 * the images of p prompts takes encode(p) more. */
#ifndef ROOF_SIMULATE_STEP_TABLE_H
#define ROOF_SIMULATE_STEP_TABLE_H

#include "predict/request.h"

/* The work of an engine in one step. */
struct roof_step_load {
    double decoding;
    double context;        /* mean of the decoding sequences, including the new token */
    double tokens;         /* prompt tokens */
    double prompt_context; /* mean number of tokens up to and including each of these */
    double encoded;        /* prompts whose images are encoded */
};

/* Computes the time of a step with whole numbers; the table has the mean of its calls. */
typedef enum roof_status roof_step_source(double *out_s, void *context,
                                          const struct roof_step_load *load,
                                          struct roof_error *error);

struct roof_step_table;

/* Opens a table of steps whose times `source` computes. The caller owns *out: roof_step_table_free.
 */
enum roof_status roof_step_table_open(struct roof_step_table **out, roof_step_source *source,
                                      void *context, struct roof_error *error);
void roof_step_table_free(struct roof_step_table *table);

/* Makes steps with exactly this number of prompt tokens as precise as those at a point of the
 * table, for lengths that recur. At most four pins have an effect. */
void roof_step_table_pin(struct roof_step_table *table, int64_t tokens);

/* Sets another time for decode contexts in steps that also have prompt tokens. */
enum roof_status roof_step_table_beside(struct roof_step_table *table, struct roof_error *error);

/* Sets the time that steps take to encode images; otherwise it is 0. */
enum roof_status roof_step_table_encode(struct roof_step_table *table, struct roof_error *error);

/* Computes the time of a step with at least one sequence or token, each number at most
 * ROOF_STEP_TABLE_MAX. */
#define ROOF_STEP_TABLE_MAX (1 << 27)
enum roof_status roof_step_time(double *out_s, struct roof_step_table *table,
                                const struct roof_step_load *load, struct roof_error *error);

/* The times of decode steps with a fixed number of sequences, at contexts between two points of the
 * table. */
struct roof_step_line {
    double low; /* the least and the greatest context */
    double high;
    double per_context; /* the fraction of the distance that one more context token adds */
    double row_part;
    double cell[4];
};

/* Finds the line of a step; false if its cells are not all predicted, or if it has too few contexts
 * to pay off. */
bool roof_step_line_find(struct roof_step_line *out, const struct roof_step_table *table,
                         double decoding, double context);

/* Returns the result of roof_step_time, to the last bit, for a context of the line. */
static inline double roof_step_line_time(const struct roof_step_line *line, double context)
{
    const double right = (context - line->low) * line->per_context;
    const double left = 1 - right;
    const double up = 1 - line->row_part;
    double sum = up * left * line->cell[0];
    sum += up * right * line->cell[1];
    sum += line->row_part * left * line->cell[2];
    return sum + line->row_part * right * line->cell[3];
}

/* Returns the number of predicted steps so far. */
size_t roof_step_table_cells(const struct roof_step_table *table);

/* The steps of an open request (request.h): lower bounds, or expected times. With S pipeline stages
 * a step is one of S equal microbatches, and its time is S times that of the slowest stage. */
struct roof_request_steps {
    struct roof_request *request;
    enum roof_step_value
        value; /* ROOF_STEP_BOUND or ROOF_STEP_EXPECTED, or the value of the path */
};
roof_step_source roof_request_steps;

#endif
