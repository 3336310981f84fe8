// SPDX-License-Identifier: MIT
/* The internals of a question, for the functions that read typed inputs from it. */
#ifndef ROOF_DECIDE_QUESTION_H
#define ROOF_DECIDE_QUESTION_H

#include "decide/checkpoint.h"
#include "decide/input.h"
#include "roofline/question.h"

#define ROOF_TEXTS_MAX 32
#define ROOF_FILES_MAX 64

/* The values of a key that may be repeated, in order. */
struct roof_texts {
    const char *value[ROOF_TEXTS_MAX];
    int count;
};

/* A text that lives as long as the question. */
struct roof_kept_text {
    struct roof_kept_text *next;
    char text[];
};

struct roof_question {
    const char *op; /* NULL: no operator is named */
    bool model;     /* the question is about a model */
    const char *model_name;
    struct roof_checkpoint checkpoint; /* the one that became model_name, for plans; its name is
                                          NULL: none did */
    const char *graph; /* the question is about a graph file: a path, "-" or the document; NULL: it
                          is not */
    const char *list;
    const char *id;
    const char *file[ROOF_FILES_MAX];
    int files;
    const char *value[ROOF_INPUT_COUNT]; /* NULL: not given; "" for a given flag */
    struct roof_texts set;
    struct roof_texts classes;
    struct roof_texts prices;
    struct roof_texts lines;
    struct roof_kept_text *kept;
};

/* Returns true if an input is given. */
static inline bool roof_asked(const struct roof_question *question, size_t input)
{
    return question->value[input] != NULL;
}

/* Tells whether a question has formats of weights or activations. */
bool roof_asked_formats(const struct roof_question *question);

/* Copies a question into an empty one that borrows its texts, so that single values can be changed.
 * The copy is not freed, and must not outlive the question. */
void roof_question_borrow(struct roof_question *out, const struct roof_question *question);

/* Refuses an input that is not for this workload, an operator or a model. `--host-time none` is for
 * both. */
enum roof_status roof_question_taken(const struct roof_question *question, size_t id,
                                     struct roof_error *error);

/* Refuses inputs that the command does not accept, and a phase beside a whole request. */
enum roof_status roof_question_check(const struct roof_question *question,
                                     enum roof_command command, struct roof_error *error);

#endif
