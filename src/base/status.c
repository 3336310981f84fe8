// SPDX-License-Identifier: MIT
#include "roofline/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
