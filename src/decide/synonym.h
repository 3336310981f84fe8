// SPDX-License-Identifier: MIT
/* Other words for options: those that serving engines and benchmarks use for them. */
#ifndef ROOF_DECIDE_SYNONYM_H
#define ROOF_DECIDE_SYNONYM_H

#include "base/text.h"
#include "decide/input.h"

/* The table has at most as many rows. */
#define ROOF_SYNONYMS_MAX 32

/* One word for an option. */
struct roof_synonym {
    const char *option; /* as it is spelled after "--" */
    size_t input;       /* the option that it stands for */
    unsigned commands;  /* those where it stands for it, of the ones that take the option */
    bool complement;    /* its value is a fraction, and the option's is what is left of 1 */
};

/* Returns the table and its length. */
const struct roof_synonym *roof_synonyms(size_t *count);

/* Finds the option that a word stands for in a command that takes that option; NULL: the word is
 * none there. */
const struct roof_synonym *roof_synonym_of(const char *option, enum roof_command command);

/* Finds the row of a key of questions ("input_len"), where it stands for one option in all
 * commands; NULL: there is none. */
const struct roof_synonym *roof_synonym_of_key(const char *key);

/* Returns the option that a word which no command takes may mean in a command; ROOF_INPUT_COUNT:
 * none. */
size_t roof_word_meant(const char *word, enum roof_command command);

/* Writes the value of the option that a synonym with this value gives. */
enum roof_status roof_synonym_value(struct roof_text *out, const struct roof_synonym *synonym,
                                    const char *value, struct roof_error *error);

#endif
