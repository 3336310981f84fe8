// SPDX-License-Identifier: MIT
#include "chart/pdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/character.h"

/* The bytes to read from the end of a file; its trailer is shorter. */
#define END 400

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

void roof_pdf_entitle(struct roof_text *out, const char *pdf, size_t length, const char *title,
                      const char *summary)
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
    long objects = 0;
    long root = 0;
    long table = 0;
    const char *const trailer = strstr(end, "trailer");
    roof_text_add(out, pdf, length);
    if (trailer == NULL || !number_after(&objects, trailer, "/Size ") ||
        !number_after(&root, trailer, "/Root ") || !number_after(&table, trailer, "startxref\n") ||
        out->length < length) {
        return;
    }
    const size_t begin = out->length - length;
    if (out->data[out->length - 1] != '\n') {
        roof_text_put(out, "\n");
    }
    const size_t info = out->length - begin;
    roof_text_printf(out, "%ld 0 obj\n<< /Title ", objects);
    put_string(out, title);
    roof_text_put(out, "\n   /Subject ");
    put_string(out, summary);
    roof_text_put(out, "\n>>\nendobj\n");
    const size_t update = out->length - begin;
    roof_text_printf(out,
                     "xref\n%ld 1\n%010zu 00000 n \ntrailer\n<< /Size %ld\n   /Root %ld 0 R\n"
                     "   /Info %ld 0 R\n   /Prev %ld\n>>\nstartxref\n%zu\n%%%%EOF\n",
                     objects, info, objects + 1, root, objects, table, update);
}
