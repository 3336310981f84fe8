// SPDX-License-Identifier: MIT
#include "report/note_list.h"

#include <string.h>

#include "base/base.h"
#include "base/json.h"

/* The words that introduce a note, which its JSON leaves out. */
static const char *const words[] = {"Note: ", "note: ", "note  "};

/* Tells whether a line without its indent begins with one of these words, and skips it. */
static bool skip_word(const char **line)
{
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strncmp(*line, words[i], strlen(words[i])) == 0) {
            *line += strlen(words[i]);
            *line += strspn(*line, " ");
            return true;
        }
    }
    return false;
}

void roof_report_note_list(struct roof_text *out, const char *begin, const struct roof_text *notes)
{
    struct roof_text note = ROOF_TEXT_INIT;
    size_t count = 0;
    for (const char *line = notes->length == 0 ? NULL : notes->data; line != NULL;) {
        const char *const end = strchr(line, '\n');
        const char *word = line + strspn(line, " ");
        if (skip_word(&word) || word == end || *word == '\0') { /* a blank line ends a paragraph */
            roof_json_note(out, begin, &note, &count);
        }
        const size_t length = end == NULL ? strlen(word) : (size_t)(end - word);
        if (length > 0) {
            roof_text_printf(&note, "%s%.*s", note.length > 0 ? " " : "", (int)length, word);
        }
        line = end == NULL ? NULL : end + 1;
    }
    roof_json_note(out, begin, &note, &count);
    roof_text_put(out, count > 0 ? "]" : "");
    out->failed |= notes->failed;
    roof_text_free(&note);
}
