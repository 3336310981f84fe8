// SPDX-License-Identifier: MIT
/* JSON itself, under all that is read from it; the scanner of records against the reader. */
#include "mutate_json.h"

#define ROOM 64

/* Visits everything and returns how deep it goes. */
static int depth(const roof_json_value *node)
{
    int deepest = 0;
    size_t count = 0;
    double number = 0;
    bool truth = false;
    if (roof_json_number(&number, node)) {
        CHECK(isfinite(number));
    }
    (void)roof_json_boolean(&truth, node);
    if (roof_json_line(node) != NULL) {
        fuzz_one_line(roof_json_line(node));
    }
    const bool object = roof_json_is_object(node);
    if (!object && !roof_json_is_array(node)) {
        return 0;
    }
    for (const roof_json_value *item = roof_json_first(node); item != NULL;
         item = roof_json_next(item)) {
        const int below = depth(item);
        deepest = below > deepest ? below : deepest;
        count++;
        if (object) {
            CHECK(roof_json_get(node, roof_json_key(item)) == item); /* no key stands twice */
        }
    }
    CHECK(count == roof_json_count(node));
    return deepest + 1;
}

/* The place of the last value that is reached by last children. */
static void place(const struct roof_json *json, const char *text, size_t size)
{
    const roof_json_value *node = roof_json_root(json);
    while (roof_json_first(node) != NULL) {
        const roof_json_value *item = roof_json_first(node);
        while (roof_json_next(item) != NULL) {
            item = roof_json_next(item);
        }
        node = item;
    }
    struct roof_error error = {0};
    CHECK(roof_json_error(json, node, &error, "%s", "here") == ROOF_INVALID);
    CHECK(error.line > 0 && error.column > 0);
    size_t at = 0;
    for (int line = 1; line < error.line; line++) {
        const char *const newline = memchr(text + at, '\n', size - at);
        CHECK(newline != NULL);
        at = (size_t)(newline - text) + 1;
    }
    at += (size_t)error.column - 1;
    CHECK(at < size);
    /* A value begins there. */
    CHECK(strchr("{[\"-0123456789tfn", text[at]) != NULL && text[at] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    char *const whole = fuzz_text(data, size);
    const enum roof_status status = roof_json_parse(&json, whole, size, "input.json", &error);
    /* The reader passes a byte order mark over. */
    const bool marked = size >= 3 && memcmp(whole, "\xef\xbb\xbf", 3) == 0;
    const char *const text = whole + (marked ? 3 : 0);
    size -= marked ? 3 : 0;
    FUZZ_EMPTY(status, &error, json);
    struct roof_json_member members[ROOM];
    size_t count = 0;
    struct roof_error line_error = {0};
    const enum roof_status scanned =
        roof_json_members(members, &count, ROOM, text, size, "input.json", 1, &line_error);
    if (scanned != ROOF_OK) {
        fuzz_refused(scanned, &line_error);
    }
    if (status == ROOF_OK) {
        const roof_json_value *const root = roof_json_root(json);
        CHECK(depth(root) <= ROOF_JSON_DEPTH_MAX);
        place(json, text, size);
        const bool small = roof_json_is_object(root) && roof_json_count(root) <= ROOM;
        CHECK((scanned == ROOF_OK) == small);
        CHECK(!small || count == roof_json_count(root));
        for (size_t i = 0; i < count && small; i++) {
            CHECK(members[i].key + members[i].key_length < members[i].value);
            CHECK(members[i].value + members[i].length <= size);
        }
    } else if (scanned == ROOF_OK) {
        /* Records may have the words that Python writes, and numbers are carried as they stand. */
        struct roof_error python = {0};
        const enum roof_status read =
            roof_json_parse_python(&json, text, size, "input.json", &python);
        CHECK(read == ROOF_OK || strstr(python.message, "twice") != NULL ||
              strstr(python.message, "too large") != NULL);
    }
    roof_json_free(json);
    free(whole);
    return 0;
}
