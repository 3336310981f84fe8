// SPDX-License-Identifier: MIT
#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/character.h"

/* ROOF_KEY puts these bytes around a key. */
#define BEGIN "\016"
#define END "\017"
static_assert(sizeof ROOF_KEY("") == 3, "ROOF_KEY has a mark of one byte at each end");

const char *roof_status_text(enum roof_status status)
{
    switch (status) { /* no default: the compiler names a status without a text */
    case ROOF_OK:
        return "ok";
    case ROOF_UNSATISFIED:
        return "not satisfied";
    case ROOF_USAGE:
        return "usage error";
    case ROOF_INVALID:
        return "invalid input";
    case ROOF_IO:
        return "input or output failed";
    case ROOF_MEMORY:
        return "out of memory";
    }
    return "unknown status";
}

/* Replaces each byte of a control character, and each that is not UTF-8, by '?', so that the text
 * is one line that any terminal shows, even if it was cut inside a character. */
static void replace_controls(char *text)
{
    while (*text != '\0') {
        const size_t control = roof_control(text);
        const size_t whole = roof_utf8(text, 4);
        if (control > 0 || whole == 0) {
            memset(text, '?', control > 0 ? control : 1);
        }
        text += control > 0 ? control : whole > 0 ? whole : 1;
    }
}

/* A longer word or quoted text of a message is cut to its beginning. */
#define WORD_MAX 200
#define WORD_KEPT 120

/* Returns the length of the word, or the quoted text, that a text begins with. */
static size_t word_length(const char *text)
{
    const char *end = text;
    if (*text == '\'') {
        end = strchr(text + 1, '\'');
        end = end == NULL ? text + strlen(text) - 1 : end;
        end++;
    }
    return (size_t)(end - text) + strcspn(end, " ");
}

/* Cuts long words, which are names and values that came from outside, so that a line of a message
 * can be read. */
static void cut_words(char *text)
{
    static const char dots[] = "...";
    while (*text != '\0') {
        size_t length = word_length(text);
        if (length > WORD_MAX) {
            char *const cut = text + WORD_KEPT;
            const char *const rest = text + length;
            memcpy(cut, dots, sizeof dots - 1);
            memmove(cut + sizeof dots - 1, rest, strlen(rest) + 1);
            length = WORD_KEPT + sizeof dots - 1;
        }
        text += length;
        text += strspn(text, " ");
    }
}

/* Returns the length of the key that a text begins with; 0 when it begins with none. */
static size_t key_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
}

static void add_key(struct roof_error *error, size_t at, size_t length)
{
    if (error->key_count < ROOF_ERROR_KEYS_MAX) {
        error->key[error->key_count++] =
            (struct roof_error_key){(unsigned short)at, (unsigned short)length};
    }
}

/*
 * Removes the marks of ROOF_KEY from the message from an offset on, and notes the places of the
 * keys. A mark that is not part of a pair around a key came in through user text: it is replaced
 * like other control characters. If the message was cut, the last key may lack its end.
 */
static void take_keys(struct roof_error *error, size_t from)
{
    const bool was_cut = strlen(error->message) == sizeof error->message - 1;
    cut_words(error->message + from);
    char *out = error->message + from;
    for (const char *in = out; *in != '\0';) {
        const bool begins = *in == BEGIN[0];
        const size_t length = begins ? key_length(in + 1) : 0;
        const char *const end = in + 1 + length;
        const bool is_key = length > 0 && *end == END[0];
        if (is_key) {
            add_key(error, (size_t)(out - error->message), length);
        }
        if (is_key || (begins && *end == '\0' && was_cut)) {
            memmove(out, in + 1, length);
            out += length;
            in = end + (is_key ? 1 : 0);
        } else {
            *out++ = *in++;
        }
    }
    *out = '\0';
    replace_controls(error->message + from);
}

static void fill(struct roof_error *error, enum roof_status status, const char *source, int line,
                 int column, const char *format, va_list arguments) ROOF_PRINTF(6, 0);

static void fill(struct roof_error *error, enum roof_status status, const char *source, int line,
                 int column, const char *format, va_list arguments)
{
    error->status = status;
    error->line = line;
    error->column = column;
    (void)snprintf(error->source, sizeof error->source, "%s", source);
    (void)vsnprintf(error->message, sizeof error->message, format, arguments);
    error->key_count = 0;
    take_keys(error, 0);
    replace_controls(error->source);
}

enum roof_status roof_error_set(struct roof_error *error, enum roof_status status,
                                const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, status, "", 0, 0, format, arguments);
        va_end(arguments);
    }
    return status;
}

enum roof_status roof_error_at(struct roof_error *error, enum roof_status status,
                               const char *source, int line, int column, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, status, source, line, column, format, arguments);
        va_end(arguments);
    }
    return status;
}

/* Appends the message of an error, with its keys, to that of another. Keys that are cut off are
 * forgotten. */
static void join(struct roof_error *out, const struct roof_error *error)
{
    const size_t before = strlen(out->message);
    (void)snprintf(out->message + before, sizeof out->message - before, "%s", error->message);
    const size_t length = strlen(out->message);
    for (int i = 0; i < error->key_count; i++) {
        const size_t at = before + error->key[i].at;
        if (at + error->key[i].length <= length) {
            add_key(out, at, error->key[i].length);
        }
    }
}

enum roof_status roof_error_prefix(struct roof_error *error, enum roof_status status,
                                   const char *format, ...)
{
    if (error == NULL || error->status == ROOF_MEMORY) {
        return error == NULL ? status : ROOF_MEMORY;
    }
    struct roof_error whole;
    va_list arguments;
    va_start(arguments, format);
    fill(&whole, status, error->source, error->line, error->column, format, arguments);
    va_end(arguments);
    join(&whole, error);
    *error = whole;
    return status;
}

void roof_error_append(struct roof_error *error, const char *format, ...)
{
    if (error != NULL && error->status != ROOF_MEMORY) {
        const size_t length = strlen(error->message);
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(error->message + length, sizeof error->message - length, format, arguments);
        va_end(arguments);
        take_keys(error, length);
    }
}

/* Writes the place of an error as it stands before a message: "source:line:column: ", without the
 * parts that are unknown. */
static void put_place(char *out, size_t size, const struct roof_error *error)
{
    if (error->source[0] == '\0') {
        (void)snprintf(out, size, "%s", "");
    } else if (error->line == 0) {
        (void)snprintf(out, size, "%s: ", error->source);
    } else if (error->column == 0) {
        (void)snprintf(out, size, "%s:%d: ", error->source, error->line);
    } else {
        (void)snprintf(out, size, "%s:%d:%d: ", error->source, error->line, error->column);
    }
}

/* Room for a place, terminated. */
#define PLACE_SIZE (ROOF_ERROR_SOURCE_SIZE + 32)

enum roof_status roof_error_move(struct roof_error *error, enum roof_status status,
                                 const char *source, int line, int column)
{
    if (error == NULL) {
        return status;
    }
    if (error->source[0] != '\0') {
        char place[PLACE_SIZE];
        put_place(place, sizeof place, error);
        (void)roof_error_prefix(error, error->status, "%s", place);
    }
    (void)snprintf(error->source, sizeof error->source, "%s", source);
    replace_controls(error->source);
    error->line = line;
    error->column = column;
    error->status = status;
    return status;
}

const char *roof_error_line(char *out, size_t size, const struct roof_error *error)
{
    char place[PLACE_SIZE];
    put_place(place, sizeof place, error);
    (void)snprintf(out, size, "%s%s", place, error->message);
    return out;
}

/* Copies the message of an error into another's, each key as the caller spells it; what does not
 * fit is cut off. */
static void spell_message(struct roof_error *out, const struct roof_error *error,
                          roof_speller spell)
{
    const size_t size = sizeof out->message;
    size_t used = 0; /* at most size - 1 */
    size_t from = 0;
    for (int i = 0; i < error->key_count; i++) {
        const struct roof_error_key *const key = &error->key[i];
        char name[64] = "";
        char spelled[64] = "";
        if (key->length >= sizeof name) {
            continue; /* no front end knows it */
        }
        memcpy(name, error->message + key->at, key->length);
        spell(spelled, sizeof spelled, name);
        (void)snprintf(out->message + used, size - used, "%.*s%s", (int)(key->at - from),
                       error->message + from, spelled);
        used += strlen(out->message + used);
        from = (size_t)key->at + key->length;
    }
    (void)snprintf(out->message + used, size - used, "%s", error->message + from);
}

const char *roof_error_spelled(char *out, size_t size, const struct roof_error *error,
                               roof_speller spell)
{
    struct roof_error spelled = *error;
    spell_message(&spelled, error, spell);
    return roof_error_line(out, size, &spelled);
}
