// SPDX-License-Identifier: MIT
/**
 * Status codes and the error object.
 *
 * Every function that can fail returns an enum roof_status and takes, as its last parameter, a
 * struct roof_error that it fills when it fails. The pointer may be NULL. The library never prints,
 * never exits and keeps no error state of its own.
 */
#ifndef ROOFLINE_STATUS_H
#define ROOFLINE_STATUS_H

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
    ROOF_INVALID = 3,     /**< an input file is not what it should be */
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

/** Marks a key in the format of an error, or in a text that becomes part of one: ROOF_KEY("heads")
 * or ROOF_KEY("%s"). A key has lower-case letters, digits and '_'. The marks are not part of the
 * message; without a key between them they are control characters like others. */
#define ROOF_KEY(key) "\016" key "\017"

#if defined(__GNUC__)
#define ROOF_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ROOF_PRINTF(text, first)
#endif

/** Names a status in a word or two; never NULL. */
const char *roof_status_text(enum roof_status status);

/** Returns how many bytes the control character takes that a text begins with; 0 when it begins
 * with none. Those of two bytes are U+0080 to U+009F in UTF-8, which terminals obey too. */
size_t roof_control(const char *text);

/** Returns how many bytes the first character of a text takes in UTF-8; 0 when it begins with none
 * (overlong, surrogate, too large, cut off). length is that of the text, 1 or more; 4 will do for a
 * text that ends with a NUL. */
size_t roof_utf8(const char *text, size_t length);

/** Does what roof_utf8 does for a text that ends with a NUL, but returns 0 also for characters that
 * XML must not have. */
size_t roof_xml(const char *text);

/**
 * Fills error (which may be NULL) without a place and returns status, so that a caller can write
 * `return roof_error_set(error, ROOF_USAGE, "...")`. Control characters that come in through user
 * text are replaced by '?', so that the message stays one line.
 */
enum roof_status roof_error_set(struct roof_error *error, enum roof_status status,
                                const char *format, ...) ROOF_PRINTF(3, 4);

/** Fills error as roof_error_set does, with a place in a text: source:line:column. */
enum roof_status roof_error_at(struct roof_error *error, enum roof_status status,
                               const char *source, int line, int column, const char *format, ...)
    ROOF_PRINTF(6, 7);

/** Reports that memory ran out; returns ROOF_MEMORY. */
enum roof_status roof_no_memory(struct roof_error *error);

/** Puts text, which may have keys, before the message of an error that is there and gives the error
 * another status, which it returns. The place and the keys of the error stay. A lack of memory
 * stays what it is: the message is left alone, and ROOF_MEMORY is returned. error may be NULL. */
enum roof_status roof_error_prefix(struct roof_error *error, enum roof_status status,
                                   const char *format, ...) ROOF_PRINTF(3, 4);

/** Puts text, which may have keys, behind the message of an error that is there. error may be NULL.
 */
void roof_error_append(struct roof_error *error, const char *format, ...) ROOF_PRINTF(2, 3);

/** Gives an error that is there another place; the place that it had becomes part of its message.
 * Returns status, which becomes the error's. error may be NULL. */
enum roof_status roof_error_move(struct roof_error *error, enum roof_status status,
                                 const char *source, int line, int column);

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
