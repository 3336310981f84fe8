// SPDX-License-Identifier: MIT
/**
 * Questions and answers: everything that the program can do, for any front end.
 *
 * A question is keys and texts, as on a command line, in a check file or in the body of
 * a request: {"model": "llama-3-8b", "hardware": "h100-sxm", "batch": "16"}. A store keeps the
 * devices, models and calibrations that were loaded. An answer is a document in an output format.
 *
 *     struct roof_store *store = NULL;
 *     struct roof_question *question = NULL;
 *     char *text = NULL;
 *     struct roof_error error;
 *     if (roof_store_new(&store, &error) == ROOF_OK &&
 *         roof_question_new(&question, &error) == ROOF_OK &&
 *         roof_question_put(question, "model", "llama-3-8b", &error) == ROOF_OK &&
 *         roof_question_put(question, "hardware", "h100-sxm", &error) == ROOF_OK &&
 *         roof_answer(store, question, ROOF_COMMAND_PREDICT, ROOF_JSON, &text, NULL, &error) ==
 *             ROOF_OK) {
 *         puts(text);
 *     } else {
 *         fprintf(stderr, "%s\n", error.message);
 *     }
 *     roof_answer_free(text);
 *     roof_question_free(question);
 *     roof_store_free(store);
 *
 * The keys are the options of the program with "_" for "-" (docs/formats.md, "Options"), and
 *
 *   operator   the operator: gemm, flash-attention, ...
 *   model      in its place, a model: a name, config.json, folder, GGUF or safetensors file; "" if
 *              each record of `from` names its own
 *   graph      in its place, a graph file (predict only; docs/formats.md, "Graph files")
 *   list, id   the kind of entries to list (hardware, models, ...), and one entry of it
 *   file       the file of compare, or a file of check; put each file separately. Rows of compare
 *              that name no model have that of the key model
 *   folder     the folder that `measure` writes: the option -o of that command
 *
 * A value of hardware, layout, model, draft_model or graph that begins with '{' is the JSON
 * document itself instead of a name (docs/formats.md, "Hardware files", "Model files", "Layouts",
 * "Graph files"):
 *
 *     roof_question_put(question, "hardware",
 *                       "{\"id\": \"mine\", \"memory_gb\": 96, \"bandwidth_gb_s\": 4000, "
 *                       "\"peak_tflops\": {\"bf16\": 1000}}", &error);
 *
 * `format`, `output` and `resume` are not keys: the format is a parameter, and the caller gets the
 * text. The settings of the service (`listen`, `token`, ...) are not keys either. A value cannot be
 * replaced: make another question, or give a list to a sweep.
 */
#ifndef ROOFLINE_QUESTION_H
#define ROOFLINE_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "roofline/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of questions: the commands of the program. Pinned; bits, so that an input can name the
 * set of commands that take it. */
enum roof_command {
    ROOF_COMMAND_PREDICT = 1,
    ROOF_COMMAND_SWEEP = 2,
    ROOF_COMMAND_RECOMMEND = 4,
    ROOF_COMMAND_LIST = 8,
    ROOF_COMMAND_COMPARE = 16,
    ROOF_COMMAND_PLOT = 32,
    ROOF_COMMAND_CHECK = 64,
    ROOF_COMMAND_MEASURE =
        256, /**< times kernels of this machine, for the time of the key seconds */
    ROOF_COMMAND_SIMULATE = 512,
    ROOF_COMMAND_MONITOR =
        1024,                /**< roof_answer takes one sample, or reads a log (the key `from`) */
    ROOF_COMMAND_PAGE = 2048 /**< the explorer with nothing chosen, in html */
};

/** Output formats. Pinned. Each command writes some of them; roof_answer_format_find checks which.
 */
enum roof_answer_format {
    ROOF_TEXT,
    ROOF_JSON,
    ROOF_NDJSON,
    ROOF_CSV,
    ROOF_MARKDOWN,
    ROOF_HTML,
    ROOF_SVG,
    ROOF_PNG,
    ROOF_PDF,
    ROOF_GNUPLOT,
    ROOF_TAP,
    ROOF_JUNIT,
    ROOF_ANSWER_FORMAT_COUNT
};

/** Finds the format with a name ("json"). ROOF_USAGE if the command does not write it; the message
 * lists the formats that it writes. */
enum roof_status roof_answer_format_find(enum roof_answer_format *out, enum roof_command command,
                                         const char *name, struct roof_error *error);

/* --- questions ----------------------------------------------------------------------------- */

struct roof_question;

/** Makes an empty question, which the caller owns: roof_question_free. One thread at a time may
 * change it. */
enum roof_status roof_question_new(struct roof_question **out, struct roof_error *error);

/**
 * Gives an input a value; both texts are copied. A flag has the value "", "1" or "true"; "0" and
 * "false" leave it out. Keys that may be given several times (set, class, price_per_hour, line,
 * file) add a value each time.
 *
 * ROOF_USAGE for an unknown key, and for a second value of a key that takes one. The values that a
 * key may have depend on the rest of the question: roof_answer checks them.
 */
enum roof_status roof_question_put(struct roof_question *question, const char *key,
                                   const char *value, struct roof_error *error);

/** Releases a question. Accepts NULL. */
void roof_question_free(struct roof_question *question);

/* --- stores -------------------------------------------------------------------------------- */

struct roof_store;

/** Makes an empty store of devices, models and calibrations, which the caller owns:
 * roof_store_free. After its folders are added, any number of threads may ask with it. */
enum roof_status roof_store_new(struct roof_store **out, struct roof_error *error);

/** Adds a folder that is searched for devices (hardware/ID.json), models and layouts before the
 * built-in ones; those added first are searched first. At most four. */
enum roof_status roof_store_folder(struct roof_store *store, const char *path,
                                   struct roof_error *error);

/** Releases a store. Accepts NULL. No answer that uses it may be under way. */
void roof_store_free(struct roof_store *store);

/* --- answers ------------------------------------------------------------------------------- */

/** The functions that an answer calls while it is made, all of them in the thread that asks. Every
 * function except write may be NULL. Texts and errors that are passed are borrowed until the
 * function returns. */
struct roof_listener {
    /** The first argument of every function below; the library does not look at it. */
    void *context;
    /** Takes the next bytes of the document, in order and not terminated. A piece may be a part of
     * a row or many rows. To end the answer with a status and a message, fill error with
     * roof_error_set and return its status. */
    enum roof_status (*write)(void *context, const char *bytes, size_t length,
                              struct roof_error *error);
    /** Takes a remark that is not part of the document, such as an assumption about a model. The
     * same remark may come twice. */
    void (*remark)(void *context, const struct roof_error *remark);
    /** Takes the reason why a record is left out, or a summary of such records. */
    void (*complain)(void *context, const struct roof_error *complaint);
    /** Takes the progress of long work: `done` of `of` units. `of` does not change while `what` is
     * the same. */
    void (*progress)(void *context, const char *what, const char *unit, uint64_t done, uint64_t of);
    /** Is called between parts of long work; if it returns true, the answer ends with ROOF_IO. */
    bool (*stop)(void *context);
    /** Is called with true before the answer reads more of the file `from`, which may take long,
     * and with false after it. */
    void (*wait)(void *context, bool begins);
    /** Draws a script of gnuplot into *image, which it allocates and the library frees with free.
     * NULL: the formats svg, png and pdf are errors. */
    enum roof_status (*draw)(void *context, char **image, size_t *length, const char *script,
                             struct roof_error *error);
    /** Takes the text of a file that the question asks for in addition to the document: a check
     * file (the key `update`), or a file that `measure` writes (`folder`, `save`). Its folders may
     * not exist yet. NULL: such keys are errors. */
    enum roof_status (*replace)(void *context, const char *name, const char *text, size_t length,
                                struct roof_error *error);
    /** The output of an earlier answer to the same sweep, which was ended early; NULL: none.
     * The answer continues after its last complete row. */
    FILE *part;
    /** The name of part in messages. */
    const char *part_name;
    /** Is called with the number of bytes of part that stay; the next write follows them. */
    enum roof_status (*keep)(void *context, uint64_t length, struct roof_error *error);
};

/**
 * Answers a question as a document, in pieces.
 *
 * Returns ROOF_OK; ROOF_UNSATISFIED with an empty message if the document answers no;
 * ROOF_INVALID with an empty message if records were left out and the rest is written; ROOF_IO with
 * an empty message if a monitored device was lost and the rest is written. For any other
 * failure the message explains it, and names inputs by their keys (roof_error_spelled).
 */
enum roof_status roof_answer_to(struct roof_store *store, const struct roof_question *question,
                                enum roof_command command, enum roof_answer_format format,
                                const struct roof_listener *listener, struct roof_error *error);

/** Answers a question as one text, which is terminated; the caller owns it: roof_answer_free. It is
 * NULL if nothing was written. length may be NULL. Returns a status as roof_answer_to does. */
enum roof_status roof_answer(struct roof_store *store, const struct roof_question *question,
                             enum roof_command command, enum roof_answer_format format, char **text,
                             size_t *length, struct roof_error *error);

/** Releases the text of an answer. Accepts NULL. */
void roof_answer_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
