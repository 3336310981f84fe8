// SPDX-License-Identifier: MIT
/* Writes strings, cells and notes as JSON. */
#include <string.h>

#include "base/character.h"
#include "base/json_scan.h"

void roof_json_cell(struct roof_text *out, const char *text)
{
    if (roof_json_is_number(text)) {
        roof_text_put(out, text);
    } else {
        roof_json_quote(out, text);
    }
}

void roof_json_quote(struct roof_text *out, const char *text)
{
    roof_text_put(out, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') {
            const char pair[2] = {'\\', *p};
            roof_text_add(out, pair, 2);
        } else if (c < 0x20) {
            roof_text_printf(out, "\\u%04x", (unsigned)c);
        } else if (c < 0x80) { /* as many as need no escape, at once */
            const char *end = p + 1;
            while (roof_json_is_plain(*end)) {
                end++;
            }
            roof_text_add(out, p, (size_t)(end - p));
            p = end - 1;
        } else { /* JSON is UTF-8, but a file name may hold any bytes */
            const size_t length = roof_utf8(p, 4);
            roof_text_add(out, length > 0 ? p : "\\ufffd", length > 0 ? length : 6);
            p += length > 0 ? length - 1 : 0;
        }
    }
    roof_text_put(out, "\"");
}

void roof_json_note(struct roof_text *out, const char *begin, struct roof_text *note, size_t *count)
{
    if (note->length > 0 && !note->failed) {
        roof_text_printf(out, *count == 0 ? "%s\"notes\": [" : ", ", begin);
        roof_json_quote(out, note->data);
        (*count)++;
    }
    out->failed |= note->failed;
    roof_text_clear(note);
}
