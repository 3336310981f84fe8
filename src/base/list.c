// SPDX-License-Identifier: MIT
#include "base/list.h"

#include <string.h>

bool roof_list_next(struct roof_list_item *item, const char **rest)
{
    const char *const text = *rest;
    if (text == NULL) {
        return false;
    }
    const size_t length = strcspn(text, ",");
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
