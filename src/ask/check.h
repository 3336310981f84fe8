// SPDX-License-Identifier: MIT
/**
 * Check files say which values predictions, recommendations and simulations should have.
 * docs/formats.md ("Check files") has the keys. A check asks one question, by the texts of options,
 * and expects values in the JSON document of the answer, so it compares printed values.
 */
#ifndef ROOF_ASK_CHECK_H
#define ROOF_ASK_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "decide/input.h"

/** An option that is given. */
struct roof_check_input {
    size_t input;     /**< number of its row */
    const char *text; /**< its value; "" for a flag */
};

/** A question of a check, to be answered as JSON. */
struct roof_check_asked {
    enum roof_command command;            /**< ROOF_COMMAND_PREDICT, _RECOMMEND or _SIMULATE */
    const char *workload;                 /**< an operator, "model" or "graph" */
    const char *named;                    /**< the model or the graph file; NULL for an operator */
    const struct roof_check_input *input; /**< those that may be given several times in order */
    size_t count;
};

/** The document or the refusal that answered a request. */
struct roof_check_answer {
    enum roof_status status; /**< ROOF_OK: text has the document; else refusal says what is wrong */
    char *text;
    size_t length;
    struct roof_error refusal;
};

/** A number is as expected if it is within one of the two; each is 0 if it is not given. */
struct roof_tolerance {
    double relative; /**< of the expected value */
    double absolute;
};
/** The tolerance that holds when a file gives none. */
#define ROOF_TOLERANCE_RELATIVE 1e-9

/** One expected value. */
struct roof_expectation {
    const char *key;      /**< path in the document: "operators.attention.time_us"; "error" of a
                               refusal */
    bool refusal;         /**< the request should be refused */
    const char *expected; /**< as JSON; "null": absent. Of an error a part of the message */
    int line;
    int column;
    bool range; /**< a number from min to max, in place of a value; expected is "MIN to MAX" */
    double min; /**< -infinity: there is none */
    double max;
    bool number; /**< with a tolerance */
    struct roof_tolerance tolerance;
    /** After roof_check_take: */
    const char *got;   /**< as JSON, as printed; "null": absent */
    bool nowhere;      /**< the operator or candidate in the key does not exist */
    double difference; /**< got - expected; NAN where one of them is no number */
    bool passed;
};

struct roof_check {
    const char *name;
    int line;
    struct roof_check_asked asked;
    struct roof_expectation *expectation;
    size_t count;
    size_t deviations; /**< of the expectations, after roof_check_take */
};

/** The checks of one file. Only read its fields. */
struct roof_checks {
    const char *name; /**< of the file */
    struct roof_check *check;
    size_t count;
    size_t values;     /**< expectations of all checks */
    size_t deviations; /**< after roof_check_take, of these */
    size_t failed;     /**< checks with a deviation */
    struct roof_checks_private *private_data;
};

/**
 * Reads a check file, or for "-" standard input. ROOF_INVALID with the place for inputs without an
 * option, keys that the document cannot have, and values of another type. The caller owns *out:
 * roof_checks_free, also after a failure.
 */
enum roof_status roof_checks_read(struct roof_checks *out, const char *path,
                                  struct roof_error *error);
/** Compares the answer of one request with what is expected. Deviations are not failures. Returns
 * ROOF_INVALID (or ROOF_IO) with the place if a question fails that expects values, or ROOF_MEMORY.
 */
enum roof_status roof_check_take(struct roof_checks *checks, size_t i,
                                 const struct roof_check_answer *answer, struct roof_error *error);
/** Tells if the value of the answer can be written into the file. It cannot for a range, if an
 * expected error did not occur, or if the key names an operator or candidate that does not exist,
 * which is probably a typing error. */
bool roof_expectation_updates(const struct roof_expectation *expectation);
/** Writes the text of the file with each deviating value replaced by that of the answer, and
 * nothing else changed. Returns the number of replacements. */
size_t roof_checks_updated(struct roof_text *out, const struct roof_checks *checks);
void roof_checks_free(struct roof_checks *checks);

#endif
