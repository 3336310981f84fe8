// SPDX-License-Identifier: MIT
/**
 * A growing byte buffer. The library writes all output here, and the caller decides where the bytes
 * go. The buffer remembers that memory ran out, so that callers check once, at the end.
 */
#ifndef ROOF_BASE_TEXT_H
#define ROOF_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/** Start with ROOF_TEXT_INIT; release with roof_text_free. data is always terminated once anything
 * was added. Not thread safe: one buffer, one thread. */
struct roof_text {
    char *data; /**< NULL while nothing was added */
    size_t length;
    size_t capacity;
    bool failed; /**< an allocation failed: the content is not complete */
};
#define ROOF_TEXT_INIT                                                                             \
    {                                                                                              \
        0                                                                                          \
    }

/** Text for people has lines of at most this many columns, unless the user asks for all columns. */
#define ROOF_PAGE_WIDTH 100

/** Adds length bytes. */
void roof_text_add(struct roof_text *text, const char *bytes, size_t length);
/** Adds a terminated string. */
void roof_text_put(struct roof_text *text, const char *string);
/** Adds a text from outside for people to read: a blank stands for each control character. */
void roof_text_plain(struct roof_text *text, const char *string);
/** Adds such a text to Markdown: characters that have a meaning there are escaped. */
void roof_text_markdown(struct roof_text *text, const char *string);
/** Adds formatted text; for words and integers. Numbers that others read back go through
 * roof_text_number, which no locale changes. */
void roof_text_printf(struct roof_text *text, const char *format, ...) ROOF_PRINTF(2, 3);
/** Adds count copies of a byte. */
void roof_text_fill(struct roof_text *text, char byte, size_t count);
/** Folds the last line, which begins at byte from, at blanks (after a semicolon if there is one),
 * so that no line has more than ROOF_PAGE_WIDTH columns unless a word is longer. The other lines
 * begin with indent blanks. */
void roof_text_fold(struct roof_text *text, size_t from, size_t indent);
/** Folds such a line to another number of columns. */
void roof_text_fold_at(struct roof_text *text, size_t from, size_t indent, size_t columns);
/** Makes room for more bytes after the text and returns it; NULL if memory runs out. The caller
 * writes there and adds to length; the next addition terminates the text. */
char *roof_text_room(struct roof_text *text, size_t bytes);
/** Adds the shortest decimal text that reads back to the same double (roof_format_number). */
void roof_text_number(struct roof_text *text, double value);
/** Forgets the content and keeps the memory. */
void roof_text_clear(struct roof_text *text);
/** Releases the memory; NULL and an empty buffer are fine. */
void roof_text_free(struct roof_text *text);

/** Returns the display width of UTF-8 text in code points, which is good enough to align columns of
 * our own text. */
size_t roof_text_width(const char *string);

#endif
