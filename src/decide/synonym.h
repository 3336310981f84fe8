// SPDX-License-Identifier: MIT
/* Synonyms of options, as serving engines and benchmarks use them. */
#ifndef ROOF_DECIDE_SYNONYM_H
#define ROOF_DECIDE_SYNONYM_H

#include "base/text.h"
#include "decide/input.h"

/* The most rows of the table. */
#define ROOF_SYNONYMS_MAX 32

/* A synonym of an option. */
struct roof_synonym {
    const char *option; /* as spelled after "--", or one letter after "-" */
    size_t input;       /* the option that it stands for */
    unsigned commands;  /* the commands in which it has this meaning, among those that accept the
                           option */
    bool complement;    /* its value is a fraction f, and that of the option is 1 - f */
};

/* Returns the table and its length. */
const struct roof_synonym *roof_synonyms(size_t *count);

/* Finds the option for a word in a command that accepts that option; NULL: the word has no meaning
 * there. */
const struct roof_synonym *roof_synonym_of(const char *option, enum roof_command command);

/* Finds the row for a key of questions ("input_len") that means one option in all commands; NULL:
 * there is none. */
const struct roof_synonym *roof_synonym_of_key(const char *key);

/* An ambiguous word, which commands refuse, and the option that it may mean. */
struct roof_word {
    const char *word;  /* as spelled after "--" */
    size_t input;      /* the option */
    const char *value; /* its value, after a blank; NULL: the user chooses one */
};

/* Returns the likely meaning of an ambiguous word in a command; NULL: none. */
const struct roof_word *roof_word_meant(const char *word, enum roof_command command);

/* Writes the value of the option for a value of the synonym. */
enum roof_status roof_synonym_value(struct roof_text *out, const struct roof_synonym *synonym,
                                    const char *value, struct roof_error *error);

#endif
