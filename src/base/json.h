// SPDX-License-Identifier: MIT
/*
 * Strict JSON: RFC 8259 and nothing else (except Python's NaN and Infinity, if asked for), with the
 * place of every mistake. json.c and json_tree.c alone include cJSON.h; others see values as opaque
 * pointers that belong to their document.
 *
 * cJSON builds the tree; the checks it does not make (numbers such as 01 or 1e400, duplicate keys,
 * \u0000, invalid UTF-8, trailing text, depth) are made on the text before, and the place of a
 * value is found by counting values in the text.
 */
#ifndef ROOF_BASE_JSON_H
#define ROOF_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

struct roof_json; /* a document: text, tree, name */
typedef struct cJSON roof_json_value;

/* Most bytes of a file that is read as JSON, and most levels of nesting. */
#define ROOF_JSON_SIZE_MAX (16U * 1024 * 1024)
#define ROOF_JSON_DEPTH_MAX 64

/* Parses length bytes; source is the name for messages. The caller owns *out: roof_json_free. */
enum roof_status roof_json_parse(struct roof_json **out, const char *text, size_t length,
                                 const char *source, struct roof_error *error);
/* Parses a file of data/ or docs/schema. A test checks that these are well-formed, so it is not
 * checked again (json_tree.h). The terminated text must outlive *out. */
enum roof_status roof_json_parse_own(struct roof_json **out, const char *text, size_t length,
                                     const char *source, struct roof_error *error);

/* Selects the items of an array of objects that are wanted; the others are skipped. */
struct roof_json_filter {
    const char *array;                                /* the key of the array */
    bool (*wants)(const char *item, unsigned wanted); /* sees the text from an item on */
    unsigned wanted;
};
/* Like roof_json_parse_own, but leaves out items that a filter does not want. A text that only
 * cJSON can read (json_tree.h) is read whole. */
enum roof_status roof_json_parse_some(struct roof_json **out, const char *text, size_t length,
                                      const char *source, const struct roof_json_filter *filter,
                                      struct roof_error *error);
/* Parses text of length bytes and a terminator. It takes the text over, even if it fails. */
enum roof_status roof_json_take(struct roof_json **out, char *text, size_t length,
                                const char *source, struct roof_error *error);
/* Reads and parses a regular file of at most ROOF_JSON_SIZE_MAX bytes. */
enum roof_status roof_json_read(struct roof_json **out, const char *path, struct roof_error *error);
/* These also accept NaN, Infinity and -Infinity, which Python writes, and read them as null. */
enum roof_status roof_json_parse_python(struct roof_json **out, const char *text, size_t length,
                                        const char *source, struct roof_error *error);
enum roof_status roof_json_take_python(struct roof_json **out, char *text, size_t length,
                                       const char *source, struct roof_error *error);
enum roof_status roof_json_read_python(struct roof_json **out, const char *path,
                                       struct roof_error *error);
/* Reads and parses anything that can be read to its end: a pipe, or for "-" standard input. */
enum roof_status roof_json_read_stream(struct roof_json **out, const char *path,
                                       struct roof_error *error);
void roof_json_free(struct roof_json *json);

/* A member of an object, as offsets into its text. */
struct roof_json_member {
    size_t key; /* behind the quote; escapes are as they stand */
    size_t key_length;
    size_t value; /* its first byte: a quote for a string */
    size_t length;
};
/* Finds the members of an object in a text, without a tree and without allocation; line is that of
 * the text in its source. Duplicate keys are not checked. More than `room` members are
 * ROOF_INVALID. */
enum roof_status roof_json_members(struct roof_json_member *members, size_t *count, size_t room,
                                   const char *text, size_t length, const char *source, int line,
                                   struct roof_error *error);

/* Notes the places of all values, which makes the two functions below fast. It may be called once.
 */
enum roof_status roof_json_index(struct roof_json *json, struct roof_error *error);
/* Returns the text of a value as it was written, length bytes that no terminator ends. */
const char *roof_json_span(const struct roof_json *json, const roof_json_value *node,
                           size_t *length);
/* The line and the column, in bytes, where a value begins; both count from 1. */
void roof_json_place(const struct roof_json *json, const roof_json_value *node, int *line,
                     int *column);
/* Returns the whole text, terminated. */
const char *roof_json_text(const struct roof_json *json, size_t *length);

const roof_json_value *roof_json_root(const struct roof_json *json);
const char *roof_json_source(const struct roof_json *json);

/* These tell the kind of a value; all accept NULL and answer false. */
bool roof_json_is_object(const roof_json_value *node);
bool roof_json_is_array(const roof_json_value *node);
/* Returns the text of a string, NULL for other values. */
const char *roof_json_string(const roof_json_value *node);
/* Reads a number; false, and *out as it was, for other values. */
bool roof_json_number(double *out, const roof_json_value *node);
/* Reads a boolean; false, and *out as it was, for other values. */
bool roof_json_boolean(bool *out, const roof_json_value *node);
bool roof_json_is_null(const roof_json_value *node);
/* Tells whether a null is NaN or an infinity in the text. */
bool roof_json_is_python_word(const roof_json_value *node);
/* Returns a string that can be printed as it is: NULL for other values and for one with control
 * characters. */
const char *roof_json_line(const roof_json_value *node);

/* Finds a member by its exact name; NULL when it is absent. */
const roof_json_value *roof_json_get(const roof_json_value *object, const char *key);
/* These walk the children of an array or object; NULL at the end. */
const roof_json_value *roof_json_first(const roof_json_value *parent);
const roof_json_value *roof_json_next(const roof_json_value *node);
/* Counts the children of an array or object. */
size_t roof_json_count(const roof_json_value *parent);
/* Returns the key under which a value stands in its object. */
const char *roof_json_key(const roof_json_value *node);

/* Reads an array of strings without control characters as a NULL-terminated list, which the caller
 * frees; the strings belong to json. ROOF_INVALID for any other value. */
enum roof_status roof_json_lines(const char ***out, const struct roof_json *json,
                                 const roof_json_value *node, struct roof_error *error);

/* Sets an error at the line and column of node, which belongs to json. Returns ROOF_INVALID. */
enum roof_status roof_json_error(const struct roof_json *json, const roof_json_value *node,
                                 struct roof_error *error, const char *format, ...)
    ROOF_PRINTF(4, 5);

/* Gives an error the place of node, and puts "prefix: " before its message unless prefix is "".
 * Returns ROOF_INVALID; a lack of memory (status) stays as it is, without a place. error may be
 * NULL. */
enum roof_status roof_json_place_error(const struct roof_json *json, const roof_json_value *node,
                                       const char *prefix, struct roof_error *error,
                                       enum roof_status status);
/* Refuses an object with an unknown member: ROOF_INVALID. */
enum roof_status roof_json_only(const struct roof_json *json, const roof_json_value *object,
                                const char *const *known, size_t count, struct roof_error *error);

/* Writes a JSON string with its quotes. */
void roof_json_quote(struct roof_text *out, const char *text);
/* Writes a note as the next element of "notes": [...], and empties it; an empty note is left out.
 * `begin` goes before the list, *count has the notes in it: 0 before the first. The caller closes
 * the list if *count is not 0. */
void roof_json_note(struct roof_text *out, const char *begin, struct roof_text *note,
                    size_t *count);
/* Writes a cell of a table: unchanged if it is a number of JSON, else as a string. */
void roof_json_cell(struct roof_text *out, const char *text);

#endif
