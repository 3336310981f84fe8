// SPDX-License-Identifier: MIT
/**
 * Status codes and the error object.
 *
 * Every function that can fail returns an enum roof_status and takes, as its last parameter, a
 * struct roof_error that it fills when it fails. The pointer may be NULL. The library never prints,
 * never exits and keeps no error state of its own.
 *
 *     static void spell(char *out, size_t size, const char *key)
 *     {
 *         (void)snprintf(out, size, "\"%s\"", key);
 *     }
 *
 *     struct roof_store *store = NULL;
 *     struct roof_error error;
 *     char line[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE + 32];
 *     if (roof_store_new(&store, &error) != ROOF_OK) {
 *         fprintf(stderr, "%s: %s\n", roof_status_text(error.status),
 *                 roof_error_spelled(line, sizeof line, &error, spell));
 *     }
 *     roof_store_free(store);
 *
 * An error is plain data of the caller; one thread at a time may have it filled. The functions
 * below allocate nothing and may run in any number of threads.
 */
#ifndef ROOFLINE_ERROR_H
#define ROOFLINE_ERROR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Pinned: values are never changed or used again. The program's exit codes are derived from them.
 */
enum roof_status {
    ROOF_OK = 0,
    ROOF_UNSATISFIED = 1, /**< a valid question whose answer is no */
    ROOF_USAGE = 2,       /**< an argument is unknown, missing or out of range */
    ROOF_INVALID = 3,     /**< an input file is not valid */
    ROOF_IO = 4,          /**< reading or writing failed */
    ROOF_MEMORY = 5       /**< out of memory */
};

#define ROOF_ERROR_SOURCE_SIZE 512
#define ROOF_ERROR_MESSAGE_SIZE 2048
#define ROOF_ERROR_KEYS_MAX 12

/** A place where a message names an input by its key. */
struct roof_error_key {
    unsigned short at; /**< bytes of the message before the key */
    unsigned short length;
};

/** An error: what went wrong, where, and what is allowed; one line without a newline. */
struct roof_error {
    enum roof_status status;
    int line;                            /**< from 1; 0 when the place is not in a text */
    int column;                          /**< in bytes, from 1; 0 when unknown */
    char source[ROOF_ERROR_SOURCE_SIZE]; /**< file name; "" when there is none */
    char message[ROOF_ERROR_MESSAGE_SIZE];
    int key_count; /**< names of inputs in the message, which a front end may spell its own way */
    struct roof_error_key key[ROOF_ERROR_KEYS_MAX];
};

#if defined(__GNUC__)
#define ROOF_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ROOF_PRINTF(text, first)
#endif

/** Names a status in a word or two; never NULL. */
const char *roof_status_text(enum roof_status status);

/**
 * Fills error (which may be NULL) without a place and returns status, so that a caller can write
 * `return roof_error_set(error, ROOF_USAGE, "...")`. Control characters that come in through user
 * text are replaced by '?', so that the message stays one line.
 */
enum roof_status roof_error_set(struct roof_error *error, enum roof_status status,
                                const char *format, ...) ROOF_PRINTF(3, 4);

/** Writes a key the way a front end spells it, for example "--kv-heads" for "kv_heads". */
typedef void (*roof_speller)(char *out, size_t size, const char *key);

/** Writes the line of roof_error_line with each key spelled by the caller. Returns out. */
const char *roof_error_spelled(char *out, size_t size, const struct roof_error *error,
                               roof_speller spell);

/** Writes "source:line:column: message", without the parts that are unknown, into out, truncated to
 * size and terminated. Returns out. */
const char *roof_error_line(char *out, size_t size, const struct roof_error *error);

#ifdef __cplusplus
}
#endif

#endif
