// SPDX-License-Identifier: MIT
#include "chart/pdf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/character.h"

/* The bytes to read from the end of a file. Its trailer is shorter, and so is the stream of a chart
 * that replaces it: a few bytes for each of some dozen objects. */
#define END 2000

/* Reads the number after a word in a text; returns false if it is missing. */
static bool number_after(long *out, const char *text, const char *word)
{
    const char *const at = strstr(text, word);
    char *end = NULL;
    *out = at == NULL ? 0 : strtol(at + strlen(word), &end, 10);
    return at != NULL && end != at + strlen(word) && *out > 0;
}

/* Writes a text as a hexadecimal string of UTF-16, which every reader supports. */
static void put_string(struct roof_text *out, const char *text)
{
    roof_text_put(out, "<FEFF");
    while (*text != '\0') {
        const size_t length = roof_utf8(text, 4);
        unsigned long code = 0xfffd;
        if (length == 1) {
            code = (unsigned char)*text;
        } else if (length > 1) {
            code = (unsigned char)*text & (0xffU >> (length + 1));
            for (size_t i = 1; i < length; i++) {
                code = code << 6 | ((unsigned char)text[i] & 0x3fU);
            }
        }
        if (code > 0xffff) {
            roof_text_printf(out, "%04lX%04lX", 0xd800 + ((code - 0x10000) >> 10),
                             0xdc00 + ((code - 0x10000) & 0x3ff));
        } else {
            roof_text_printf(out, "%04lX", code);
        }
        text += length == 0 ? 1 : length;
    }
    roof_text_put(out, ">");
}

/* The end of a file: a trailer, or the dictionary of a stream that replaces it. */
struct ending {
    long objects; /* their number */
    long root;    /* the number of the catalog */
    long table;   /* where the table of objects begins, or its stream */
    bool stream;
};

/* Finds the ending of a file; returns false if it has neither kind. */
static bool find_ending(struct ending *out, const char *pdf, size_t length)
{
    char end[END + 1];
    const size_t size = length < END ? length : END;
    memcpy(end, pdf + length - size, size);
    for (size_t i = 0; i < size; i++) { /* a null byte would end the text */
        if (end[i] == '\0') {
            end[i] = ' ';
        }
    }
    end[size] = '\0';
    const char *at = strstr(end, "trailer");
    out->stream = at == NULL;
    at = at == NULL ? strstr(end, "/Type /XRef") : at;
    return at != NULL && number_after(&out->objects, at, "/Size ") &&
           number_after(&out->root, at, "/Root ") && number_after(&out->table, at, "startxref\n");
}

/* Writes a number with four bytes, and the two of a generation that is 0. */
static void put_entry(struct roof_text *out, size_t offset)
{
    const char bytes[7] = {1,
                           (char)(offset >> 24 & 0xff),
                           (char)(offset >> 16 & 0xff),
                           (char)(offset >> 8 & 0xff),
                           (char)(offset & 0xff),
                           0,
                           0};
    roof_text_add(out, bytes, sizeof bytes);
}

/* Writes the table of one more object, which is at `info`. A file with a stream for a table gets
 * another stream (7.5.8), which is an object itself. */
static void put_table(struct roof_text *out, const struct ending *e, size_t info, size_t begin)
{
    const size_t update = out->length - begin;
    if (e->stream) {
        roof_text_printf(out,
                         "%ld 0 obj\n<< /Type /XRef\n   /Length 14\n   /Size %ld\n"
                         "   /Index [%ld 2]\n   /W [1 4 2]\n",
                         e->objects + 1, e->objects + 2, e->objects);
    } else {
        roof_text_printf(out, "xref\n%ld 1\n%010zu 00000 n \ntrailer\n<< /Size %ld\n", e->objects,
                         info, e->objects + 1);
    }
    roof_text_printf(out, "   /Root %ld 0 R\n   /Info %ld 0 R\n   /Prev %ld\n>>\n", e->root,
                     e->objects, e->table);
    if (e->stream) {
        roof_text_put(out, "stream\n");
        put_entry(out, info);
        put_entry(out, update);
        roof_text_put(out, "\nendstream\nendobj\n");
    }
    roof_text_printf(out, "startxref\n%zu\n%%%%EOF\n", update);
}

void roof_pdf_entitle(struct roof_text *out, const char *pdf, size_t length, const char *title,
                      const char *summary)
{
    struct ending ending = {0};
    roof_text_add(out, pdf, length);
    if (!find_ending(&ending, pdf, length) || out->length < length) {
        return;
    }
    const size_t begin = out->length - length;
    if (out->data[out->length - 1] != '\n') {
        roof_text_put(out, "\n");
    }
    const size_t info = out->length - begin;
    roof_text_printf(out, "%ld 0 obj\n<< /Title ", ending.objects);
    put_string(out, title);
    roof_text_put(out, "\n   /Subject ");
    put_string(out, summary);
    roof_text_put(out, "\n>>\nendobj\n");
    put_table(out, &ending, info, begin);
}
