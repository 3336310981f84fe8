// SPDX-License-Identifier: MIT
/*
 * The time of any step of an engine, from a few hundred steps that are predicted.
 *
 * A step of D sequences that decode at the mean context c, and of h tokens of prompts at the mean
 * context k, takes s(D, c, h, k) = decode(D, c) + prefill(h, k) + shared(D, h): products work on
 * all tokens together, each kind of sequence has its own attention, and `shared` is what D and h
 * save because they share the weights. Where sequences that decode are attended to in another way
 * beside prompts, beside(D, c) is added to steps of both. Each of these is a table over two axes,
 * whose cells are predicted when they are first asked for, and a line between them:
 * docs/simulation.md. A step that encodes the images of p prompts takes encode(p) more.
 */
#ifndef ROOF_SIMULATE_STEP_TABLE_H
#define ROOF_SIMULATE_STEP_TABLE_H

#include "predict/request.h"

/* The work of an engine in one step. */
struct roof_step_load {
    double decoding;
    double context;        /* mean of those that decode, the new token included */
    double tokens;         /* of prompts */
    double prompt_context; /* mean of the tokens before and at each of these */
    double encoded;        /* prompts whose images are encoded */
};

/* Works out the times of a step of whole numbers; the table is a mean over its calls. */
typedef enum roof_status roof_step_source(double *out_s, void *context,
                                          const struct roof_step_load *load,
                                          struct roof_error *error);

struct roof_step_table;

/* Opens a table of steps that `source` works out. The caller owns *out: roof_step_table_free. */
enum roof_status roof_step_table_open(struct roof_step_table **out, roof_step_source *source,
                                      void *context, struct roof_error *error);
void roof_step_table_free(struct roof_step_table *table);

/* Makes steps with exactly so many tokens of prompts as precise as those at a point of the table;
 * for lengths that come again and again. At most four have an effect. */
void roof_step_table_pin(struct roof_step_table *table, int64_t tokens);

/* Lets the contexts of sequences that decode take another time in steps that have tokens of
 * prompts, too. */
enum roof_status roof_step_table_beside(struct roof_step_table *table, struct roof_error *error);

/* Lets steps take the time of the images that they encode; without it these take none. */
enum roof_status roof_step_table_encode(struct roof_step_table *table, struct roof_error *error);

/* Works out the time of a step with at least one sequence or token, each of at most
 * ROOF_STEP_TABLE_MAX. */
#define ROOF_STEP_TABLE_MAX (1 << 27)
enum roof_status roof_step_time(double *out_s, struct roof_step_table *table,
                                const struct roof_step_load *load, struct roof_error *error);

/* The times of steps of some sequences that decode, without prompts, at contexts between two points
 * of the table. */
struct roof_step_line {
    double low; /* the contexts, this one included */
    double high;
    double per_context; /* the part of the way that a context adds */
    double row_part;
    double cell[4];
};

/* Finds the line of a step; false where its times were not all asked for before, or where it has
 * too few contexts to be worth it. */
bool roof_step_line_find(struct roof_step_line *out, const struct roof_step_table *table,
                         double decoding, double context);

/* Returns what roof_step_time does, to the last bit, for a context of the line. */
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

/* Returns how many steps were predicted so far. */
size_t roof_step_table_cells(const struct roof_step_table *table);

/* The steps of a request that is open (request.h): lower bounds, or expected times. With S pipeline
 * stages a step is one microbatch of S that are alike, and its time S times the slowest stage. */
struct roof_request_steps {
    struct roof_request *request;
    enum roof_step_value value; /* ROOF_STEP_BOUND or ROOF_STEP_EXPECTED, or that of the path */
};
roof_step_source roof_request_steps;

#endif
