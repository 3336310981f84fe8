// SPDX-License-Identifier: MIT
#include "base/list.h"

#include <string.h>

/* Returns the length of a JSON object at the beginning of a text, whose braces match: those in its
 * strings do not count. An object without an end is all of the text. */
static size_t object_length(const char *text)
{
    size_t depth = 0;
    bool quoted = false;
    size_t i = 0;
    do {
        const char c = text[i];
        depth += !quoted && c == '{';
        depth -= !quoted && c == '}';
        if (quoted && c == '\\' && text[i + 1] != '\0') {
            i++; /* what follows is no end of the string */
        } else if (c == '"') {
            quoted = !quoted;
        }
        i++;
    } while (depth > 0 && text[i] != '\0');
    return i;
}

static size_t item_length(const char *text)
{
    const size_t object = *text == '{' ? object_length(text) : 0;
    return object + strcspn(text + object, ",");
}

bool roof_list_next(struct roof_list_item *item, const char **rest)
{
    const char *const text = *rest;
    if (text == NULL) {
        return false;
    }
    const size_t length = item_length(text);
    *item = (struct roof_list_item){.text = text, .length = length};
    *rest = text[length] == '\0' ? NULL : text + length + 1;
    return true;
}

bool roof_list_item_copy(char *out, size_t size, const struct roof_list_item *item)
{
    const bool fits = item->length < size;
    const size_t length = fits ? item->length : 0;
    memcpy(out, item->text, length);
    out[length] = '\0';
    return fits;
}
