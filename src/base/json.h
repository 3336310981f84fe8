// SPDX-License-Identifier: MIT
/*
 * Strict JSON: RFC 8259 and nothing else, with the place of every mistake. json.c is the only file
 * that includes cJSON.h; others see values as opaque pointers that belong to their document.
 *
 * cJSON builds the tree; the checks it does not make (numbers such as 01 or 1e400, duplicate keys,
 * \u0000, invalid UTF-8, trailing text, depth) are made on the text before, and the place of a
 * value is found by counting values in the text.
 */
#ifndef ROOF_JSON_H
#define ROOF_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "roofline/status.h"
#include "roofline/text.h"

struct roof_json; /* a document: text, tree, name */
typedef struct cJSON roof_json_value;

/* Most bytes of a file that is read as JSON, and most levels of nesting. */
#define ROOF_JSON_SIZE_MAX (16U * 1024 * 1024)
#define ROOF_JSON_DEPTH_MAX 64

/* Parses length bytes; source is the name for messages. Owned by the caller: roof_json_free. */
enum roof_status roof_json_parse(struct roof_json **out, const char *text, size_t length,
                                 const char *source, struct roof_error *error);
/* Reads and parses a regular file of at most ROOF_JSON_SIZE_MAX bytes. */
enum roof_status roof_json_read(struct roof_json **out, const char *path, struct roof_error *error);
/* The same of anything that can be read to its end: a pipe, or for "-" standard input. */
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
/* The members of the object that a text is, without a tree and without allocation; line is that of
 * the text in its source. Keys are not checked for standing twice. ROOF_INVALID also when there are
 * more than `room`. */
enum roof_status roof_json_members(struct roof_json_member *members, size_t *count, size_t room,
                                   const char *text, size_t length, const char *source, int line,
                                   struct roof_error *error);

/* Notes where all values stand, for those who ask for many of them below; once. */
enum roof_status roof_json_index(struct roof_json *json, struct roof_error *error);
/* The text of a value as it stands, which is not terminated there. */
const char *roof_json_span(const struct roof_json *json, const roof_json_value *node,
                           size_t *length);
void roof_json_place(const struct roof_json *json, const roof_json_value *node, int *line,
                     int *column);
/* The whole text, terminated. */
const char *roof_json_text(const struct roof_json *json, size_t *length);

const roof_json_value *roof_json_root(const struct roof_json *json);
const char *roof_json_source(const struct roof_json *json);

/* Kinds; all accept NULL and answer false. */
bool roof_json_is_object(const roof_json_value *node);
bool roof_json_is_array(const roof_json_value *node);
/* NULL unless it is a string; a double unless it is a number (then false). */
const char *roof_json_string(const roof_json_value *node);
bool roof_json_number(double *out, const roof_json_value *node);
/* A boolean; false (and *out as it was) for other values. */
bool roof_json_boolean(bool *out, const roof_json_value *node);
bool roof_json_is_null(const roof_json_value *node);
/* A string that can be printed as it is: NULL for other values and for control characters. */
const char *roof_json_line(const roof_json_value *node);

/* A member by its exact name, NULL when it is absent. */
const roof_json_value *roof_json_get(const roof_json_value *object, const char *key);
/* First child and next sibling of an array or object; NULL at the end. */
const roof_json_value *roof_json_first(const roof_json_value *parent);
const roof_json_value *roof_json_next(const roof_json_value *node);
/* How many children an array or object has. */
size_t roof_json_count(const roof_json_value *parent);
/* The key under which a value stands in its object. */
const char *roof_json_key(const roof_json_value *node);

/* An array of such strings as a NULL-terminated list, which the caller frees; the strings belong to
 * json. ROOF_INVALID for any other value. */
enum roof_status roof_json_lines(const char ***out, const struct roof_json *json,
                                 const roof_json_value *node, struct roof_error *error);

/* ROOF_INVALID with the line and column of node, which belongs to json. */
enum roof_status roof_json_error(const struct roof_json *json, const roof_json_value *node,
                                 struct roof_error *error, const char *format, ...)
    ROOF_PRINTF(4, 5);

/* An error that has no place, in its words, at that of node, behind "prefix: " unless that is "".
 * ROOF_INVALID, but for lack of memory, which is in no place; error may be NULL. */
enum roof_status roof_json_place_error(const struct roof_json *json, const roof_json_value *node,
                                       const char *prefix, struct roof_error *error,
                                       enum roof_status status);
/* ROOF_INVALID at the first member of an object that is none of the known ones. */
enum roof_status roof_json_only(const struct roof_json *json, const roof_json_value *object,
                                const char *const *known, size_t count, struct roof_error *error);

/* Writes a JSON string with its quotes. */
void roof_json_quote(struct roof_text *out, const char *text);
/* Writes a cell of a file: as it is where it is a number of JSON, else as a string. */
void roof_json_cell(struct roof_text *out, const char *text);

#endif
