// SPDX-License-Identifier: MIT
#include "base/list.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* Room for an item "name=value". */
#define PAIR_SIZE 64

/* Returns the length of the JSON object at the beginning of a text, by its braces outside strings.
 * An object without an end takes the whole text. */
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

const char *roof_list_separator(size_t i, size_t count)
{
    return i == 0 ? "" : i + 1 == count ? " and " : ", ";
}

/* Finds the name in front of the '='; `count`: it is none of the names. */
static size_t find_name(const char *pair, size_t length, const char *const *names, size_t count)
{
    size_t i = 0;
    while (i < count && (strlen(names[i]) != length || strncmp(names[i], pair, length) != 0)) {
        i++;
    }
    return i;
}

/* Refuses an item; the message has the form that is allowed. */
static enum roof_status refuse_pair(const struct roof_list_item *item, const char *key,
                                    const char *const *names, size_t count,
                                    struct roof_error *error)
{
    char known[ROOF_ERROR_MESSAGE_SIZE] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof known; i++) {
        used += (size_t)snprintf(known + used, sizeof known - used,
                                 "%s%s=", roof_list_separator(i, count), names[i]);
    }
    return roof_error_set(error, ROOF_USAGE, "%s has no '%.*s'; known: %s", key,
                          (int)strcspn(item->text, "=,"), item->text, known);
}

enum roof_status roof_list_pairs(const char *list, const char *key, const char *const *names,
                                 size_t count, roof_list_take *take, void *context,
                                 struct roof_error *error)
{
    struct roof_list_item item;
    uint64_t seen = 0;
    for (const char *rest = list; roof_list_next(&item, &rest);) {
        char pair[PAIR_SIZE];
        if (!roof_list_item_copy(pair, sizeof pair, &item)) {
            return roof_error_set(error, ROOF_USAGE, "%s has an item that is too long", key);
        }
        const size_t length = strcspn(pair, "=");
        const size_t name = pair[length] == '=' ? find_name(pair, length, names, count) : count;
        if (name == count) {
            return refuse_pair(&item, key, names, count, error);
        }
        if ((seen >> name & 1) != 0) {
            return roof_error_set(error, ROOF_USAGE, "%s has %s= twice", key, names[name]);
        }
        seen |= UINT64_C(1) << name;
        TRY(take(context, name, pair + length + 1, error));
    }
    return ROOF_OK;
}
