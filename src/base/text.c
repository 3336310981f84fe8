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

/* Shorter items of a list are not split when a line is folded. */
#define ITEM_WIDTH 14

/* Tells whether a blank separates an option from its value: "--tp 8". */
static bool is_in_option(const char *word, const char *blank)
{
    const bool value = blank[1] != '-' && blank[1] != '(' && blank[1] != '\0';
    return value && blank - word > 2 && strncmp(word, "--", 2) == 0 &&
           memchr(word, '=', (size_t)(blank - word)) == NULL && isalnum((unsigned char)blank[-1]);
}

/* Tells whether a blank is within the name of a split: "tp 8". */
static bool is_in_split(const char *word, const char *blank)
{
    const char *const name = word + (*word == '(' ? 1 : 0);
    return blank - name == 2 && strchr("tped", name[0]) != NULL && name[1] == 'p' &&
           isdigit((unsigned char)blank[1]);
}

/* Finds the blank at which a line that begins at from is folded. Within most columns and after the
 * indent it is the last one after a semicolon, else after a comma near the end, else the last one,
 * but none within an option or a split. If there is none, it is the first blank beyond. Returns
 * NULL if the line fits or has no blank. */
static char *fold_at(char *from, size_t indent, size_t most)
{
    const char *word = from;
    char *blank = NULL;
    char *clause = NULL;
    char *item = NULL;
    size_t width = 0;
    for (char *p = from; *p != '\0' && *p != '\n'; p++) {
        width += ((unsigned char)*p & 0xC0U) != 0x80U;
        word = p > from && p[-1] == ' ' ? p : word;
        if (*p == ' ' && width > indent && p[1] != ' ' && (width <= most + 1 || blank == NULL) &&
            !is_in_option(word, p) && !is_in_split(word, p)) {
            blank = p;
            clause = p[-1] == ';' ? p : clause;
            item = p[-1] == ',' && width + ITEM_WIDTH > most ? p : item;
        } else if (width > most && blank != NULL) {
            return clause != NULL ? clause : item != NULL ? item : blank;
        }
    }
    return width > most ? blank : NULL;
}

void roof_text_fold(struct roof_text *text, size_t from, size_t indent)
{
    roof_text_fold_at(text, from, indent, ROOF_PAGE_WIDTH);
}

void roof_text_fold_at(struct roof_text *text, size_t from, size_t indent, size_t columns)
{
    while (text->length > from && reserve(text, indent)) {
        char *const blank = fold_at(text->data + from, indent, columns);
        if (blank == NULL) {
            return;
        }
        from = (size_t)(blank - text->data) + 1;
        memmove(blank + 1 + indent, blank + 1, text->length - from + 1);
        *blank = '\n';
        memset(blank + 1, ' ', indent);
        text->length += indent;
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
