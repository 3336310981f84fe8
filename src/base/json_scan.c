// SPDX-License-Identifier: MIT
#include "base/json_scan.h"
#include "base/character.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* cJSON reads at most 63 characters of a number. */
#define NUMBER_LENGTH_MAX 60

struct roof_json_scan roof_json_scan_of(const char *text, size_t length, const char *source,
                                        struct roof_error *error)
{
    return (struct roof_json_scan){.text = text,
                                   .p = text,
                                   .end = text + length,
                                   .source = source,
                                   .error = error,
                                   .wanted = SIZE_MAX};
}

void roof_json_locate(const char *text, const char *p, int *line, int *column)
{
    *line = 1;
    const char *start = text;
    for (const char *q = text; q < p; q++) {
        if (*q == '\n') {
            ++*line;
            start = q + 1;
        }
    }
    *column = (int)(p - start) + 1;
}

static enum roof_status fail(struct roof_json_scan *s, const char *at, const char *message)
{
    int line = 0;
    int column = 0;
    roof_json_locate(s->text, at, &line, &column);
    line += s->line > 0 ? s->line - 1 : 0;
    return roof_error_at(s->error, ROOF_INVALID, s->source, line, column, "%s", message);
}

static void skip_blanks(struct roof_json_scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r')) {
        s->p++;
    }
}

/* --- numbers ------------------------------------------------------------------------------- */

static bool at_digit(const struct roof_json_scan *s)
{
    return s->p < s->end && *s->p >= '0' && *s->p <= '9';
}

/* Reads one digit or more; message is the error if there is none. */
static enum roof_status digits(struct roof_json_scan *s, const char *message)
{
    if (!at_digit(s)) {
        return fail(s, s->p, message);
    }
    while (at_digit(s)) {
        s->p++;
    }
    return ROOF_OK;
}

static enum roof_status number(struct roof_json_scan *s)
{
    const char *const start = s->p;
    s->p += *s->p == '-';
    const char *const first = s->p;
    TRY(digits(s, "a digit must follow '-'"));
    if (*first == '0' && s->p - first > 1) {
        return fail(s, start, "a number may not begin with 0");
    }
    if (s->p < s->end && *s->p == '.') {
        s->p++;
        TRY(digits(s, "a digit must follow the decimal point"));
    }
    if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
        s->p++;
        s->p += s->p < s->end && (*s->p == '+' || *s->p == '-');
        TRY(digits(s, "a digit must follow the exponent"));
    }
    return s->p - start > NUMBER_LENGTH_MAX
               ? fail(s, start, "a number may have at most 60 characters")
               : ROOF_OK;
}

bool roof_json_is_number(const char *text)
{
    struct roof_json_scan s = roof_json_scan_of(text, strlen(text), "", NULL);
    return (*text == '-' || at_digit(&s)) && number(&s) == ROOF_OK && s.p == s.end;
}

/* --- strings ------------------------------------------------------------------------------- */

/* Returns the value of the four hexadecimal digits after \u, or -1 when they are not four. */
static long hex4(const char *p, const char *end)
{
    if (end - p < 4 || strspn(p, "0123456789abcdefABCDEF") < 4) {
        return -1;
    }
    const char four[5] = {p[0], p[1], p[2], p[3], '\0'};
    return strtol(four, NULL, 16);
}

static enum roof_status escape(struct roof_json_scan *s)
{
    const char *const start = s->p++; /* the backslash */
    if (s->p >= s->end || strchr("\"\\/bfnrtu", *s->p) == NULL || *s->p == '\0') {
        return fail(s, start,
                    "unknown escape; allowed are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    }
    if (*s->p++ != 'u') {
        return ROOF_OK;
    }
    const long code = hex4(s->p, s->end);
    if (code < 0) {
        return fail(s, start, "\\u needs four hexadecimal digits");
    }
    s->p += 4;
    if (code == 0) {
        return fail(s, start, "\\u0000 is not allowed in a string");
    }
    if (code >= 0xDC00 && code <= 0xDFFF) {
        return fail(s, start, "a low surrogate without a high surrogate before it");
    }
    if (code >= 0xD800 && code <= 0xDBFF) {
        const long low =
            s->end - s->p >= 6 && s->p[0] == '\\' && s->p[1] == 'u' ? hex4(s->p + 2, s->end) : -1;
        if (low < 0xDC00 || low > 0xDFFF) {
            return fail(s, start, "a high surrogate without a low surrogate after it");
        }
        s->p += 6;
    }
    return ROOF_OK;
}

bool roof_json_is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

static enum roof_status string(struct roof_json_scan *s)
{
    const char *const start = s->p++;
    while (s->p < s->end && *s->p != '"') {
        if (*s->p == '\\') {
            TRY(escape(s));
        } else if (roof_json_is_plain(*s->p)) {
            s->p++;
        } else if ((unsigned char)*s->p < 0x20) {
            return fail(s, s->p, "a control character in a string must be escaped");
        } else {
            const size_t length = roof_utf8(s->p, (size_t)(s->end - s->p));
            if (length == 0) {
                return fail(s, s->p, "invalid UTF-8");
            }
            s->p += length;
        }
    }
    if (s->p >= s->end) {
        return fail(s, start, "the string does not end");
    }
    s->p++;
    return ROOF_OK;
}

/* --- values -------------------------------------------------------------------------------- */

/* Notes a member of the outermost object, whose value ends here. */
static enum roof_status note_member(struct roof_json_scan *s, const char *key, const char *key_end,
                                    const char *begin)
{
    if (s->count == s->room) {
        return fail(s, key, "the object has too many members");
    }
    s->members[s->count++] = (struct roof_json_member){.key = (size_t)(key + 1 - s->text),
                                                       .key_length = (size_t)(key_end - key) - 2,
                                                       .value = (size_t)(begin - s->text),
                                                       .length = (size_t)(s->p - begin)};
    return ROOF_OK;
}

/* Reads a key and the colon behind it; the key, with its quotes, ends at *end. */
static enum roof_status read_key(struct roof_json_scan *s, const char **end)
{
    if (s->p >= s->end || *s->p != '"') {
        return fail(s, s->p, "expected a key in double quotes");
    }
    TRY(string(s));
    *end = s->p;
    skip_blanks(s);
    if (s->p >= s->end || *s->p != ':') {
        return fail(s, s->p, "expected ':' after the key");
    }
    s->p++;
    return ROOF_OK;
}

/* Reads an element of an array, or a key with its value; close is the end of the container. */
static enum roof_status read_child(struct roof_json_scan *s, char close)
{
    skip_blanks(s);
    const char *const key = s->p;
    const char *key_end = s->p;
    if (close == '}') {
        TRY(read_key(s, &key_end));
    }
    skip_blanks(s);
    const char *const begin = s->p;
    TRY(roof_json_scan_value(s));
    return s->members != NULL && s->depth == 1 ? note_member(s, key, key_end, begin) : ROOF_OK;
}

/* Reads '[' value, ... ']' or '{' "key": value, ... '}'. */
static enum roof_status container(struct roof_json_scan *s, char close)
{
    const char *const start = s->p++;
    if (++s->depth > ROOF_JSON_DEPTH_MAX) {
        return fail(s, start, "nested too deeply; at most 64 levels are allowed");
    }
    skip_blanks(s);
    if (s->p < s->end && *s->p == close) {
        s->p++;
        s->depth--;
        return ROOF_OK;
    }
    for (;;) {
        TRY(read_child(s, close));
        if (s->found != NULL) {
            return ROOF_OK;
        }
        skip_blanks(s);
        const bool more = s->p < s->end && *s->p == ',';
        const bool ends = s->p < s->end && *s->p == close;
        if (!more && !ends) {
            return fail(s, s->p, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
        }
        s->p++;
        if (ends) {
            s->depth--;
            return ROOF_OK;
        }
    }
}

/* Returns the length of the first of some words with which a text begins; 0: none. */
static size_t begins_with(const char *p, const char *end, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(words[i]);
        if ((size_t)(end - p) >= length && memcmp(p, words[i], length) == 0) {
            return length;
        }
    }
    return 0;
}

size_t roof_json_python_word(const char *p, const char *end)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    return begins_with(p, end, words, COUNT(words));
}

/* Reads true, false or null. */
static enum roof_status word(struct roof_json_scan *s)
{
    static const char *const words[] = {"true", "false", "null"};
    const size_t length = begins_with(s->p, s->end, words, COUNT(words));
    if (length == 0) {
        return fail(s, s->p, "expected a JSON value");
    }
    s->p += length;
    return ROOF_OK;
}

/* Reads the value that begins here. */
static enum roof_status value(struct roof_json_scan *s)
{
    if (s->p >= s->end) {
        return fail(s, s->p, "expected a JSON value, found the end of the text");
    }
    if (*s->p == '{') {
        return container(s, '}');
    }
    if (*s->p == '[') {
        return container(s, ']');
    }
    if (*s->p == '"') {
        return string(s);
    }
    const bool reads = s->python || s->members != NULL; /* records are often of Python */
    const size_t python = reads ? roof_json_python_word(s->p, s->end) : 0;
    if (python > 0) {
        s->p += python;
        return ROOF_OK;
    }
    return *s->p == '-' || at_digit(s) ? number(s) : word(s);
}

enum roof_status roof_json_scan_value(struct roof_json_scan *s)
{
    skip_blanks(s);
    const char *const begin = s->p;
    const size_t index = s->values++;
    if (index == s->wanted) {
        s->found = begin;
        return ROOF_OK;
    }
    TRY(value(s));
    if (s->spans != NULL) {
        s->spans[index].begin = (size_t)(begin - s->text);
        s->spans[index].length = (size_t)(s->p - begin);
    }
    return ROOF_OK;
}

/* Tells if a text is UTF-16: it has the byte order mark, or every other byte is NUL, because the
 * first characters of JSON are ASCII. */
static bool is_utf16(const struct roof_json_scan *s)
{
    const char *const t = s->text;
    const size_t length = (size_t)(s->end - t);
    return (length >= 2 && (memcmp(t, "\xff\xfe", 2) == 0 || memcmp(t, "\xfe\xff", 2) == 0)) ||
           (length >= 4 && (t[0] == '\0') != (t[1] == '\0') && (t[0] == '\0') == (t[2] == '\0') &&
            (t[1] == '\0') == (t[3] == '\0'));
}

enum roof_status roof_json_scan_all(struct roof_json_scan *s)
{
    if (is_utf16(s)) {
        return fail(s, s->p, "UTF-16 is not read: save the text as UTF-8");
    }
    TRY(roof_json_scan_value(s));
    skip_blanks(s);
    return s->p == s->end ? ROOF_OK : fail(s, s->p, "unexpected text after the value");
}

enum roof_status roof_json_members(struct roof_json_member *members, size_t *count, size_t room,
                                   const char *text, size_t length, const char *source, int line,
                                   struct roof_error *error)
{
    struct roof_json_scan s = roof_json_scan_of(text, length, source, error);
    s.line = line;
    s.members = members;
    s.room = room;
    skip_blanks(&s);
    if (s.p == s.end || *s.p != '{') {
        return fail(&s, s.p, "expected an object");
    }
    const enum roof_status status = roof_json_scan_all(&s);
    *count = s.count;
    return status;
}
