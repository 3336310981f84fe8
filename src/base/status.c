// SPDX-License-Identifier: MIT
#include "roofline/status.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What ROOF_KEY puts around a key. */
#define BEGIN "\016"
#define END "\017"
static_assert(sizeof ROOF_KEY("") == sizeof BEGIN END, "the marks are those of ROOF_KEY");

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

size_t roof_control(const char *text)
{
    const unsigned char c = (unsigned char)*text;
    if (c == 0xc2) {
        const unsigned char next = (unsigned char)text[1];
        return next >= 0x80 && next < 0xa0 ? 2 : 0;
    }
    return c != '\0' && (c < 0x20 || c == 0x7f) ? 1 : 0;
}

size_t roof_utf8(const char *text, size_t length)
{
    const unsigned char *const p = (const unsigned char *)text;
    if (p[0] < 0x80) {
        return 1;
    }
    if (p[0] >= 0xC2 && p[0] <= 0xDF && length >= 2 && (p[1] & 0xC0U) == 0x80) {
        return 2;
    }
    if (p[0] >= 0xE0 && p[0] <= 0xEF && length >= 3 && (p[1] & 0xC0U) == 0x80 &&
        (p[2] & 0xC0U) == 0x80 && !(p[0] == 0xE0 && p[1] < 0xA0) &&
        !(p[0] == 0xED && p[1] > 0x9F)) {
        return 3;
    }
    if (p[0] >= 0xF0 && p[0] <= 0xF4 && length >= 4 && (p[1] & 0xC0U) == 0x80 &&
        (p[2] & 0xC0U) == 0x80 && (p[3] & 0xC0U) == 0x80 && !(p[0] == 0xF0 && p[1] < 0x90) &&
        !(p[0] == 0xF4 && p[1] > 0x8F)) {
        return 4;
    }
    return 0;
}

size_t roof_xml(const char *text)
{
    const size_t length = roof_utf8(text, 4);
    const bool other = strncmp(text, "\xEF\xBF\xBE", 3) == 0 ||
                       strncmp(text, "\xEF\xBF\xBF", 3) == 0; /* U+FFFE and U+FFFF */
    return roof_control(text) > 0 || other ? 0 : length;
}

static void keep_one_line(char *text)
{
    for (; *text != '\0'; text++) {
        for (size_t left = roof_control(text); left > 0; left--) {
            text[left - 1] = '?';
        }
    }
}

/* Takes the marks of ROOF_KEY out of the message from a place on, and notes where the keys are. */
static void take_keys(struct roof_error *error, size_t from)
{
    char *out = error->message + from;
    for (const char *p = out; *p != '\0'; p++) {
        struct roof_error_key *const key = &error->key[error->key_count];
        const bool room = error->key_count < ROOF_ERROR_KEYS_MAX;
        if (*p == BEGIN[0]) {
            if (room) {
                key->at = (unsigned short)(out - error->message);
            }
        } else if (*p == END[0]) {
            if (room) {
                key->length = (unsigned short)(out - error->message - key->at);
                error->key_count++;
            }
        } else {
            *out++ = *p;
        }
    }
    *out = '\0';
}

static enum roof_status fill(struct roof_error *error, enum roof_status status, const char *source,
                             int line, int column, const char *format, va_list arguments)
    ROOF_PRINTF(6, 0);

static enum roof_status fill(struct roof_error *error, enum roof_status status, const char *source,
                             int line, int column, const char *format, va_list arguments)
{
    if (error != NULL) {
        error->status = status;
        error->line = line;
        error->column = column;
        snprintf(error->source, sizeof error->source, "%s", source);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        error->key_count = 0;
        take_keys(error, 0);
        keep_one_line(error->source);
        keep_one_line(error->message);
    }
    return status;
}

enum roof_status roof_error_set(struct roof_error *error, enum roof_status status,
                                const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, "", 0, 0, format, arguments);
    va_end(arguments);
    return status;
}

enum roof_status roof_error_at(struct roof_error *error, enum roof_status status,
                               const char *source, int line, int column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, source, line, column, format, arguments);
    va_end(arguments);
    return status;
}

const char *roof_error_line(char *out, size_t size, const struct roof_error *error)
{
    if (error->source[0] == '\0') {
        snprintf(out, size, "%s", error->message);
    } else if (error->line == 0) {
        snprintf(out, size, "%s: %s", error->source, error->message);
    } else if (error->column == 0) {
        snprintf(out, size, "%s:%d: %s", error->source, error->line, error->message);
    } else {
        snprintf(out, size, "%s:%d:%d: %s", error->source, error->line, error->column,
                 error->message);
    }
    return out;
}

enum roof_status roof_no_memory(struct roof_error *error)
{
    return roof_error_set(error, ROOF_MEMORY, "out of memory");
}

enum roof_status roof_error_prefix(struct roof_error *error, enum roof_status status,
                                   const char *format, ...)
{
    if (error == NULL || error->status == ROOF_MEMORY) {
        return error == NULL ? status : ROOF_MEMORY;
    }
    char before[ROOF_ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(before, sizeof before, format, arguments);
    va_end(arguments);
    keep_one_line(before);
    const size_t length = strlen(before);
    memmove(error->message + length, error->message, sizeof error->message - length);
    memcpy(error->message, before, length);
    error->message[sizeof error->message - 1] = '\0';
    for (int i = 0; i < error->key_count; i++) {
        error->key[i].at = (unsigned short)(error->key[i].at + length);
    }
    error->status = status;
    return status;
}

void roof_error_append(struct roof_error *error, const char *format, ...)
{
    if (error != NULL) {
        const size_t length = strlen(error->message);
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(error->message + length, sizeof error->message - length, format, arguments);
        va_end(arguments);
        take_keys(error, length);
        keep_one_line(error->message + length);
    }
}

enum roof_status roof_error_move(struct roof_error *error, enum roof_status status,
                                 const char *source, int line, int column)
{
    if (error == NULL) {
        return status;
    }
    if (error->source[0] != '\0') {
        char place[ROOF_ERROR_SOURCE_SIZE + 32];
        struct roof_error bare = *error;
        bare.message[0] = '\0';
        (void)roof_error_prefix(error, error->status, "%s",
                                roof_error_line(place, sizeof place, &bare));
    }
    (void)snprintf(error->source, sizeof error->source, "%s", source);
    keep_one_line(error->source);
    error->line = line;
    error->column = column;
    error->status = status;
    return status;
}

const char *roof_error_spelled(char *out, size_t size, const struct roof_error *error,
                               roof_speller spell)
{
    struct roof_error spelled = *error;
    size_t used = 0;
    size_t from = 0;
    for (int i = 0; i < error->key_count; i++) {
        const struct roof_error_key *const at = &error->key[i];
        char key[64] = "";
        char name[64] = "";
        if (at->length >= sizeof key || (size_t)at->at + at->length > strlen(error->message)) {
            continue; /* cut off */
        }
        memcpy(key, error->message + at->at, at->length);
        spell(name, sizeof name, key);
        used += (size_t)snprintf(spelled.message + used, sizeof spelled.message - used, "%.*s%s",
                                 (int)(at->at - from), error->message + from, name);
        from = (size_t)at->at + at->length;
        if (used >= sizeof spelled.message) {
            return roof_error_line(out, size, &spelled);
        }
    }
    (void)snprintf(spelled.message + used, sizeof spelled.message - used, "%s",
                   error->message + from);
    return roof_error_line(out, size, &spelled);
}
