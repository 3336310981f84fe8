// SPDX-License-Identifier: MIT
/*
 * The scanner of JSON text: it checks what cJSON does not (numbers such as 01 or 1e400, \u0000,
 * invalid UTF-8, text behind the value, depth), finds mistakes with their places, and finds the
 * places of values. It builds no tree and allocates nothing.
 */
#ifndef ROOF_BASE_JSON_SCAN_H
#define ROOF_BASE_JSON_SCAN_H

#include "base/json.h"

/* The place of a value in its text. */
struct roof_json_span {
    const roof_json_value *node;
    size_t begin;
    size_t length;
};

/* A walk through a text, recursive to a bounded depth. */
struct roof_json_scan {
    const char *text;
    const char *p; /* the next byte */
    const char *end;
    const char *source;
    struct roof_error *error;
    int depth;
    size_t values;                    /* values begun so far: the preorder index of the next one */
    size_t wanted;                    /* the scan stops at this value; SIZE_MAX: at the end */
    const char *found;                /* where the wanted value begins */
    int line;                         /* of the beginning of the text; 0: the first */
    struct roof_json_member *members; /* of the outermost object; NULL: they are not noted */
    size_t count;
    size_t room;
    struct roof_json_span *spans; /* of each value in preorder; NULL: they are not noted */
    bool python; /* NaN, Infinity and -Infinity are values, too: Python writes them */
};

/* Starts a scan of length bytes that reads to the end and notes nothing. */
struct roof_json_scan roof_json_scan_of(const char *text, size_t length, const char *source,
                                        struct roof_error *error);

/* Reads one value; roof_json_scan_all also requires that nothing follows it. */
enum roof_status roof_json_scan_value(struct roof_json_scan *s);
enum roof_status roof_json_scan_all(struct roof_json_scan *s);

/* The line and the column, in bytes, of a byte of a text; both count from 1. */
void roof_json_locate(const char *text, const char *p, int *line, int *column);

/* True if a byte of a string stands for itself. */
bool roof_json_is_plain(char c);

/* Returns the length of NaN, Infinity or -Infinity at the beginning of a text; 0: there is none. */
size_t roof_json_python_word(const char *p, const char *end);

/* True if a text is a number as JSON has them. */
bool roof_json_is_number(const char *text);

#endif
