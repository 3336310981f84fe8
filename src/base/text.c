// SPDX-License-Identifier: MIT
#include "base/text.h"
#include "base/character.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/quantity.h"

/* Makes room for extra more bytes and a terminator; false when memory is out. */
static bool reserve(struct roof_text *text, size_t extra)
{
    if (text->failed || extra >= (size_t)-1 / 2 - text->length) {
        text->failed = true;
        return false;
    }
    const size_t needed = text->length + extra + 1;
    if (needed > text->capacity) {
        size_t capacity = text->capacity == 0 ? 256 : text->capacity;
        while (capacity < needed) {
            capacity *= 2;
        }
        char *const data = realloc(text->data, capacity);
        if (data == NULL) {
            text->failed = true;
            return false;
        }
        text->data = data;
        text->capacity = capacity;
    }
    return true;
}

void roof_text_add(struct roof_text *text, const char *bytes, size_t length)
{
    if (reserve(text, length)) {
        memcpy(text->data + text->length, bytes, length);
        text->length += length;
        text->data[text->length] = '\0';
    }
}

void roof_text_put(struct roof_text *text, const char *string)
{
    roof_text_add(text, string, strlen(string));
}

void roof_text_plain(struct roof_text *text, const char *string)
{
    const char *from = string;
    while (*from != '\0') {
        const char *to = from;
        while (*to != '\0' && roof_control(to) == 0) {
            to++;
        }
        roof_text_add(text, from, (size_t)(to - from));
        from = to + roof_control(to);
        roof_text_add(text, " ", from > to ? 1 : 0);
    }
}

void roof_text_markdown(struct roof_text *text, const char *string)
{
    for (const char *p = string; *p != '\0'; p++) {
        const size_t control = roof_control(p);
        const bool inside = p > string && isalnum((unsigned char)p[-1]) != 0 &&
                            isalnum((unsigned char)p[1]) != 0; /* a word: "fp8_e4m3" */
        if (strchr("\\`*[]<>|&~", *p) != NULL || (*p == '_' && !inside)) {
            roof_text_put(text, "\\");
        }
        roof_text_add(text, control > 0 ? " " : p, 1);
        p += control > 0 ? control - 1 : 0;
    }
}

void roof_text_printf(struct roof_text *text, const char *format, ...)
{
    char small[256];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof small) {
        roof_text_add(text, small, (size_t)length);
    } else if (length >= 0 && reserve(text, (size_t)length)) {
        va_start(arguments, format);
        vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
        va_end(arguments);
        text->length += (size_t)length;
    } else {
        text->failed = true;
    }
}

void roof_text_fill(struct roof_text *text, char byte, size_t count)
{
    if (reserve(text, count)) {
        memset(text->data + text->length, byte, count);
        text->length += count;
        text->data[text->length] = '\0';
    }
}

char *roof_text_room(struct roof_text *text, size_t bytes)
{
    return reserve(text, bytes) ? text->data + text->length : NULL;
}

void roof_text_number(struct roof_text *text, double value)
{
    char *const number = roof_text_room(text, ROOF_NUMBER_SIZE);
    if (number != NULL) {
        text->length += roof_format_number(number, value);
    }
}

void roof_text_clear(struct roof_text *text)
{
    text->length = 0;
    if (text->data != NULL) {
        text->data[0] = '\0';
    }
}

void roof_text_free(struct roof_text *text)
{
    if (text != NULL) {
        free(text->data);
        *text = (struct roof_text)ROOF_TEXT_INIT;
    }
}

size_t roof_text_width(const char *string)
{
    size_t width = 0;
    for (; *string != '\0'; string++) {
        width += ((unsigned char)*string & 0xC0U) != 0x80U;
    }
    return width;
}

/* Returns the Levenshtein distance of two words; only the first 63 bytes of each are compared. */
static unsigned distance(const char *a, const char *b)
{
    enum { LIMIT = 63 };
    const size_t rows = strnlen(a, LIMIT);
    const size_t columns = strnlen(b, LIMIT);
    unsigned row[LIMIT + 1];
    for (size_t j = 0; j <= columns; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= rows; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= columns; j++) {
            const unsigned replaced =
                diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            diagonal = row[j];
            unsigned best = row[j - 1] < row[j] ? row[j - 1] + 1 : row[j] + 1;
            best = replaced < best ? replaced : best;
            row[j] = best;
        }
    }
    return row[columns];
}

/* Returns how far a name is from the wanted one; a name that begins with it is the nearest. */
static unsigned nearness(const char *wanted, const char *name)
{
    const bool begins = *wanted != '\0' && strncasecmp(name, wanted, strlen(wanted)) == 0;
    return begins ? 0 : distance(wanted, name);
}

const char *roof_near_name(const char *wanted, const char *const *names, size_t count)
{
    const size_t length = strlen(wanted);
    const char *found = NULL;
    unsigned least = length < 4 ? 0 : length < 6 ? 1 : 2;
    for (size_t i = 0; i < count; i++) {
        const unsigned far = distance(wanted, names[i]);
        if (far < least + (found == NULL)) {
            least = far;
            found = names[i];
        }
    }
    return found;
}

enum roof_status roof_unknown_name(struct roof_error *error, enum roof_status status,
                                   const char *kind, const char *wanted, const char *const *names,
                                   size_t count)
{
    struct roof_text list = ROOF_TEXT_INIT;
    size_t listed = 0;
    unsigned char *const distances = calloc(count + 1, 1);
    if (distances == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        distances[i] = (unsigned char)nearness(wanted, names[i]);
    }
    for (unsigned d = 0; listed < count; d++) {
        for (size_t i = 0; i < count; i++) {
            if (distances[i] == d) {
                roof_text_put(&list, listed++ == 0 ? "" : ", ");
                roof_text_put(&list, names[i]);
            }
        }
    }
    free(distances);
    const enum roof_status result =
        list.failed ? roof_no_memory(error)
                    : roof_error_set(error, status, "unknown %s '%.60s'; known, nearest first: %s",
                                     kind, wanted, list.data == NULL ? "none" : list.data);
    roof_text_free(&list);
    return result;
}
