// SPDX-License-Identifier: MIT
/* The time of any step of an engine, interpolated between a few hundred predicted steps.
 *
 * A step of D decoding sequences with the mean context c, and of h prompt tokens with the mean
 * context k, takes s(D, c, h, k) = decode(D, c) + prefill(h, k) + shared(D, h): products work on
 * all tokens together, each kind of sequence has a separate attention, and `shared` is the saving
 * of D and h from shared weights. If attention of decoding sequences differs in steps with prompts,
 * beside(D, c) is added to steps of both kinds. If it waits for the longest context L, the time
 * wait(D, L) - wait(D, c) is added, with another table in steps with prompts. Each of these is a
 * table over two axes with linear interpolation, whose cells are predicted at first use:
 * docs/simulation.md. A step that encodes the images of p prompts takes encode(p) more.
 *
 * With a groups of the attention, prefill(h, k) is between that of one group, which has all h
 * tokens, and that of all, which have h / a each: it is a line in the tokens of the largest. */
#ifndef ROOF_SIMULATE_STEP_TABLE_H
#define ROOF_SIMULATE_STEP_TABLE_H

#include "predict/request.h"

/* The work of an engine in one step. */
struct roof_step_load {
    double decoding;
    double context;        /* mean of the decoding sequences, including the new token */
    double longest;        /* of these contexts; 0: all are equal */
    double tokens;         /* prompt tokens */
    double widest;         /* those of the group of the attention that has most; 0: all of them */
    double parts;          /* of a source: equal parts in so many groups; 0: one group has all */
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

/* Lets prompt tokens be in several groups of the attention, which wait for the one with most. */
enum roof_status roof_step_table_groups(struct roof_step_table *table, int64_t groups,
                                        struct roof_error *error);

/* Sets another time for decode contexts in steps that also have prompt tokens. */
enum roof_status roof_step_table_beside(struct roof_step_table *table, struct roof_error *error);

/* Adds the time in which steps wait for the longest context. */
enum roof_status roof_step_table_longest(struct roof_step_table *table, struct roof_error *error);
/* Tells whether steps wait for it; otherwise it has no effect. */
bool roof_step_table_waits(const struct roof_step_table *table);

/* Sets the time that steps take to encode images; otherwise it is 0. */
enum roof_status roof_step_table_encode(struct roof_step_table *table, struct roof_error *error);

/* Computes the time of a step with at least one sequence or token, each number at most
 * ROOF_STEP_TABLE_MAX. */
#define ROOF_STEP_TABLE_MAX (1 << 27)
enum roof_status roof_step_time(double *out_s, struct roof_step_table *table,
                                const struct roof_step_load *load, struct roof_error *error);

/* A line of a table: the times of a fixed number of sequences, at contexts between two points. */
struct roof_step_line {
    double low; /* the least and the greatest context */
    double high;
    double per_context; /* the fraction of the distance that one more context token adds */
    double row_part;
    double cell[4];
};

/* The times of decode steps with a fixed number of sequences, whose contexts all grow. */
struct roof_step_lines {
    struct roof_step_line decode;
    struct roof_step_line wait;    /* at the mean context */
    struct roof_step_line longest; /* at the longest one */
    bool waits;                    /* the last two have an effect */
};

/* Makes lines that have no contexts. */
static inline void roof_step_lines_open(struct roof_step_lines *out)
{
    out->decode.high = 0;
    out->waits = false;
}

/* Finds the lines of a step; false if their cells are not all predicted, or if they have too few
 * contexts to pay off. */
bool roof_step_lines_find(struct roof_step_lines *out, const struct roof_step_table *table,
                          const struct roof_step_load *load);

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

/* Tells whether contexts are on lines that were found for lesser ones. */
static inline bool roof_step_lines_have(const struct roof_step_lines *lines, double context,
                                        double longest)
{
    return context < lines->decode.high && (!lines->waits || longest < lines->longest.high);
}

/* Returns the result of roof_step_time, to the last bit, for contexts of the lines. */
static inline double roof_step_lines_time(const struct roof_step_lines *lines, double context,
                                          double longest)
{
    const double time = roof_step_line_time(&lines->decode, context);
    return lines->waits ? time + (roof_step_line_time(&lines->longest, longest) -
                                  roof_step_line_time(&lines->wait, context))
                        : time;
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
