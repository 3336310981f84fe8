// SPDX-License-Identifier: MIT
#include "base/json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a value stands in the text. */
struct span {
    const cJSON *node;
    size_t begin;
    size_t length;
};

struct roof_json {
    char *text;
    size_t length;
    char *source;
    cJSON *root;
    struct span *span; /* of all values by their nodes, with roof_json_index; else NULL */
    size_t spans;
    size_t *line; /* where each line begins */
    size_t lines;
};

/* The checker walks the text once, recursively, to a bounded depth. */
struct scan {
    const char *text;
    const char *p;
    const char *end;
    const char *source;
    struct roof_error *error;
    int depth;
    size_t values; /* values begun so far: the preorder index of the next one */
    size_t wanted; /* stop at this value; SIZE_MAX: check everything */
    const char *found;
    int line;                         /* of the text's beginning; 0: the first */
    struct roof_json_member *members; /* of the outermost object; NULL: nobody wants them */
    size_t count;
    size_t room;
    struct span *spans; /* of each value in preorder; NULL: nobody wants them */
};

static void place(const char *text, const char *p, int *line, int *column)
{
    *line = 1;
    const char *start = text;
    for (const char *q = text; q < p; q++) {
        if (*q == '\n') {
            ++*line;
            start = q + 1;
        }
    }
    *column = (int)(p - start) + 1;
}

static enum roof_status fail(struct scan *s, const char *at, const char *message)
{
    int line = 0;
    int column = 0;
    place(s->text, at, &line, &column);
    line += s->line > 0 ? s->line - 1 : 0;
    return roof_error_at(s->error, ROOF_INVALID, s->source, line, column, "%s", message);
}

static void blanks(struct scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r')) {
        s->p++;
    }
}

static bool digit(const struct scan *s)
{
    return s->p < s->end && *s->p >= '0' && *s->p <= '9';
}

static enum roof_status number(struct scan *s)
{
    const char *const start = s->p;
    s->p += *s->p == '-';
    if (!digit(s)) {
        return fail(s, s->p, "a digit must follow '-'");
    }
    const bool zero = *s->p == '0';
    s->p++;
    if (zero && digit(s)) {
        return fail(s, start, "a number may not begin with 0");
    }
    while (digit(s)) {
        s->p++;
    }
    if (s->p < s->end && *s->p == '.') {
        s->p++;
        if (!digit(s)) {
            return fail(s, s->p, "a digit must follow the decimal point");
        }
        while (digit(s)) {
            s->p++;
        }
    }
    if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
        s->p++;
        s->p += s->p < s->end && (*s->p == '+' || *s->p == '-');
        if (!digit(s)) {
            return fail(s, s->p, "a digit must follow the exponent");
        }
        while (digit(s)) {
            s->p++;
        }
    }
    if (s->p - start > 60) { /* cJSON reads at most 63 characters of a number */
        return fail(s, start, "a number may have at most 60 characters");
    }
    return ROOF_OK;
}

/* The four hexadecimal digits after \u, or -1. */
static long hex4(const char *p, const char *end)
{
    if (end - p < 4 || strspn(p, "0123456789abcdefABCDEF") < 4) {
        return -1;
    }
    const char four[5] = {p[0], p[1], p[2], p[3], '\0'};
    return strtol(four, NULL, 16);
}

static enum roof_status escape(struct scan *s)
{
    const char *const start = s->p++; /* the backslash */
    if (s->p >= s->end || strchr("\"\\/bfnrtu", *s->p) == NULL || *s->p == '\0') {
        return fail(s, start,
                    "unknown escape; allowed are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    }
    if (*s->p++ != 'u') {
        return ROOF_OK;
    }
    const long code = hex4(s->p, s->end);
    if (code < 0) {
        return fail(s, start, "\\u needs four hexadecimal digits");
    }
    s->p += 4;
    if (code == 0) {
        return fail(s, start, "\\u0000 is not allowed in a string");
    }
    if (code >= 0xDC00 && code <= 0xDFFF) {
        return fail(s, start, "a low surrogate without a high one");
    }
    if (code >= 0xD800 && code <= 0xDBFF) {
        const long low =
            s->end - s->p >= 6 && s->p[0] == '\\' && s->p[1] == 'u' ? hex4(s->p + 2, s->end) : -1;
        if (low < 0xDC00 || low > 0xDFFF) {
            return fail(s, start, "a high surrogate without a low one");
        }
        s->p += 6;
    }
    return ROOF_OK;
}

/* A byte of a string that stands for itself. */
static bool plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

static enum roof_status string(struct scan *s)
{
    const char *const start = s->p++;
    while (s->p < s->end && *s->p != '"') {
        if (*s->p == '\\') {
            const enum roof_status status = escape(s);
            if (status != ROOF_OK) {
                return status;
            }
            continue;
        }
        if (plain(*s->p)) {
            s->p++;
            continue;
        }
        if ((unsigned char)*s->p < 0x20) {
            return fail(s, s->p, "a control character in a string must be escaped");
        }
        const size_t length = roof_utf8(s->p, (size_t)(s->end - s->p));
        if (length == 0) {
            return fail(s, s->p, "invalid UTF-8");
        }
        s->p += length;
    }
    if (s->p >= s->end) {
        return fail(s, start, "the string does not end");
    }
    s->p++;
    return ROOF_OK;
}

static enum roof_status value(struct scan *s);

/* Notes a member of the outermost object: where its key begins and ends, and its value. */
static enum roof_status keep_member(struct scan *s, const char *key, const char *key_end,
                                    const char *begin)
{
    if (s->count == s->room) {
        return fail(s, key, "the object has too many members");
    }
    s->members[s->count++] = (struct roof_json_member){.key = (size_t)(key + 1 - s->text),
                                                       .key_length = (size_t)(key_end - key) - 2,
                                                       .value = (size_t)(begin - s->text),
                                                       .length = (size_t)(s->p - begin)};
    return ROOF_OK;
}

/* Notes the value that began there and ends here. */
static void keep_span(struct scan *s, size_t number, const char *begin)
{
    s->spans[number].begin = (size_t)(begin - s->text);
    s->spans[number].length = (size_t)(s->p - begin);
}

/* '[' value, ... ']' or '{' "key": value, ... '}' */
static enum roof_status container(struct scan *s, char close)
{
    const char *const start = s->p++;
    if (++s->depth > ROOF_JSON_DEPTH_MAX) {
        return fail(s, start, "nested too deeply; at most 64 levels are allowed");
    }
    blanks(s);
    if (s->p < s->end && *s->p == close) {
        s->p++;
        s->depth--;
        return ROOF_OK;
    }
    for (;;) {
        enum roof_status status = ROOF_OK;
        blanks(s);
        const char *const key = s->p;
        const char *key_end = s->p;
        if (close == '}') {
            if (s->p >= s->end || *s->p != '"') {
                return fail(s, s->p, "expected a key in double quotes");
            }
            status = string(s);
            key_end = s->p;
            blanks(s);
            if (status == ROOF_OK && (s->p >= s->end || *s->p != ':')) {
                return fail(s, s->p, "expected ':' after the key");
            }
            s->p++;
        }
        blanks(s);
        const char *const begin = s->p;
        const size_t number = s->values;
        if (status == ROOF_OK) {
            status = value(s);
        }
        if (s->spans != NULL) {
            keep_span(s, number, begin);
        }
        if (status == ROOF_OK && s->members != NULL && s->depth == 1) {
            status = keep_member(s, key, key_end, begin);
        }
        if (status != ROOF_OK || s->found != NULL) {
            return status;
        }
        blanks(s);
        if (s->p < s->end && *s->p == ',') {
            s->p++;
        } else if (s->p < s->end && *s->p == close) {
            s->p++;
            s->depth--;
            return ROOF_OK;
        } else {
            return fail(s, s->p, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
        }
    }
}

static enum roof_status value(struct scan *s)
{
    blanks(s);
    if (s->values++ == s->wanted) {
        s->found = s->p;
        return ROOF_OK;
    }
    if (s->p >= s->end) {
        return fail(s, s->p, "expected a value, found the end of the text");
    }
    if (*s->p == '{') {
        return container(s, '}');
    }
    if (*s->p == '[') {
        return container(s, ']');
    }
    if (*s->p == '"') {
        return string(s);
    }
    if (*s->p == '-' || digit(s)) {
        return number(s);
    }
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]);
        if ((size_t)(s->end - s->p) >= length && memcmp(s->p, words[i], length) == 0) {
            s->p += length;
            return ROOF_OK;
        }
    }
    return fail(s, s->p, "expected a value");
}

static enum roof_status no_more(struct scan *s)
{
    blanks(s);
    return s->p == s->end ? ROOF_OK : fail(s, s->p, "unexpected text after the value");
}

/* Preorder index of target in the tree below node; *index is how many values came before. */
static bool count_to(const cJSON *node, const cJSON *target, size_t *index)
{
    if (node == target) {
        return true;
    }
    ++*index;
    for (const cJSON *child = node->child; child != NULL; child = child->next) {
        if (count_to(child, target, index)) {
            return true;
        }
    }
    return false;
}

static int by_node(const void *a, const void *b)
{
    const uintptr_t one = (uintptr_t)((const struct span *)a)->node;
    const uintptr_t other = (uintptr_t)((const struct span *)b)->node;
    return (one > other) - (one < other);
}

/* The nodes below one in preorder, with itself. */
static void put_nodes(struct span *spans, size_t *count, const cJSON *node)
{
    spans[(*count)++].node = node;
    for (const cJSON *child = node->child; child != NULL; child = child->next) {
        put_nodes(spans, count, child);
    }
}

enum roof_status roof_json_index(struct roof_json *json, struct roof_error *error)
{
    struct scan s = {.text = json->text,
                     .p = json->text,
                     .end = json->text + json->length,
                     .source = json->source,
                     .wanted = SIZE_MAX};
    size_t lines = 1;
    for (size_t i = 0; i < json->length; i++) {
        lines += json->text[i] == '\n';
    }
    (void)count_to(json->root, NULL, &json->spans); /* all of them */
    json->span = calloc(json->spans, sizeof *json->span);
    json->line = calloc(lines, sizeof *json->line);
    if (json->span == NULL || json->line == NULL) {
        return roof_no_memory(error);
    }
    json->lines = 1;
    for (size_t i = 0; i < json->length; i++) {
        if (json->text[i] == '\n') {
            json->line[json->lines++] = i + 1;
        }
    }
    s.spans = json->span;
    blanks(&s);
    const char *const begin = s.p;
    (void)value(&s); /* the text was checked before */
    keep_span(&s, 0, begin);
    size_t count = 0;
    put_nodes(json->span, &count, json->root);
    qsort(json->span, json->spans, sizeof *json->span, by_node);
    return ROOF_OK;
}

const char *roof_json_span(const struct roof_json *json, const roof_json_value *node,
                           size_t *length)
{
    if (json->span != NULL) {
        const struct span wanted = {.node = node};
        const struct span *const known =
            bsearch(&wanted, json->span, json->spans, sizeof wanted, by_node);
        *length = known == NULL ? 0 : known->length;
        return json->text + (known == NULL ? 0 : known->begin);
    }
    struct scan s = {.text = json->text,
                     .p = json->text,
                     .end = json->text + json->length,
                     .source = json->source};
    count_to(json->root, node, &s.wanted);
    (void)value(&s); /* the text was checked before */
    const char *const begin = s.found == NULL ? json->text : s.found;
    s = (struct scan){
        .text = begin, .p = begin, .end = s.end, .source = json->source, .wanted = SIZE_MAX};
    (void)value(&s);
    *length = (size_t)(s.p - begin);
    return begin;
}

void roof_json_place(const struct roof_json *json, const roof_json_value *node, int *line,
                     int *column)
{
    size_t length = 0;
    const char *const at = roof_json_span(json, node, &length);
    if (json->line == NULL) {
        place(json->text, at, line, column);
        return;
    }
    const size_t offset = (size_t)(at - json->text);
    size_t first = 0; /* it stands in this line, or in one before the last */
    for (size_t last = json->lines; last - first > 1;) {
        const size_t middle = first + (last - first) / 2;
        if (json->line[middle] <= offset) {
            first = middle;
        } else {
            last = middle;
        }
    }
    *line = (int)first + 1;
    *column = (int)(offset - json->line[first]) + 1;
}

const char *roof_json_text(const struct roof_json *json, size_t *length)
{
    *length = json->length;
    return json->text;
}

enum roof_status roof_json_error(const struct roof_json *json, const roof_json_value *node,
                                 struct roof_error *error, const char *format, ...)
{
    int line = 0;
    int column = 0;
    roof_json_place(json, node, &line, &column);
    char message[ROOF_ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return roof_error_at(error, ROOF_INVALID, json->source, line, column, "%s", message);
}

enum roof_status roof_json_place_error(const struct roof_json *json, const roof_json_value *node,
                                       const char *prefix, struct roof_error *error,
                                       enum roof_status status)
{
    int line = 0;
    int column = 0;
    if (status == ROOF_MEMORY) {
        return status;
    }
    roof_json_place(json, node, &line, &column);
    if (error != NULL) {
        error->source[0] = '\0'; /* its message alone counts */
    }
    (void)roof_error_prefix(error, ROOF_INVALID, "%s%s", prefix, *prefix == '\0' ? "" : ": ");
    return roof_error_move(error, ROOF_INVALID, json->source, line, column);
}

enum roof_status roof_json_only(const struct roof_json *json, const roof_json_value *object,
                                const char *const *known, size_t count, struct roof_error *error)
{
    for (const roof_json_value *m = roof_json_first(object); m != NULL; m = roof_json_next(m)) {
        const char *const key = roof_json_key(m);
        size_t i = 0;
        while (i < count && strcmp(key, known[i]) != 0) {
            i++;
        }
        if (i == count) {
            return roof_json_place_error(
                json, m, "", error,
                roof_unknown_name(error, ROOF_INVALID, "key", key, known, count));
        }
    }
    return ROOF_OK;
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

/* Sorted, because a hostile object may have a million keys. */
static enum roof_status check_keys(const struct roof_json *json, const cJSON *object,
                                   struct roof_error *error)
{
    size_t count = 0;
    for (const cJSON *child = object->child; child != NULL; child = child->next) {
        count++;
    }
    if (count < 2) {
        return ROOF_OK;
    }
    const cJSON **const sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL) {
        return roof_no_memory(error);
    }
    size_t i = 0;
    for (const cJSON *child = object->child; child != NULL; child = child->next) {
        sorted[i++] = child;
    }
    qsort(sorted, count, sizeof *sorted, by_key);
    const char *twice = NULL;
    for (i = 1; i < count && twice == NULL; i++) {
        if (by_key(&sorted[i - 1], &sorted[i]) == 0) {
            twice = sorted[i]->string;
        }
    }
    free(sorted);
    if (twice == NULL) {
        return ROOF_OK;
    }
    const cJSON *second = object->child;
    for (bool seen = false; !seen || strcmp(second->string, twice) != 0; second = second->next) {
        seen = seen || strcmp(second->string, twice) == 0;
    }
    return roof_json_error(json, second, error, "the key '%s' stands twice in its object", twice);
}

/* What the text alone does not show: duplicate keys, and numbers that are not finite. */
static enum roof_status check_tree(const struct roof_json *json, const cJSON *node,
                                   struct roof_error *error)
{
    if (cJSON_IsNumber(node) && !isfinite(node->valuedouble)) {
        return roof_json_error(json, node, error, "the number is too large for a double");
    }
    enum roof_status status = ROOF_OK;
    if (cJSON_IsObject(node)) {
        status = check_keys(json, node, error);
    }
    for (const cJSON *child = node->child; child != NULL && status == ROOF_OK;
         child = child->next) {
        status = check_tree(json, child, error);
    }
    return status;
}

/* cJSON reads numbers by the locale's decimal point, of which it knows one byte. */
static cJSON *parse_tree(const char *text, size_t length)
{
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return NULL;
    }
    const locale_t before = uselocale(plain);
    cJSON *const root = cJSON_ParseWithLengthOpts(text, length + 1, NULL, 1);
    (void)uselocale(before);
    freelocale(plain);
    return root;
}

/* Takes text over, whatever happens. */
static enum roof_status parse_owned(struct roof_json **out, char *text, size_t length,
                                    const char *source, struct roof_error *error)
{
    *out = NULL;
    struct roof_json *const json = calloc(1, sizeof *json);
    char *const name = strdup(source);
    if (json == NULL || name == NULL) {
        free(json);
        free(name);
        free(text);
        return roof_no_memory(error);
    }
    static const char mark[] = "\xef\xbb\xbf"; /* some editors begin UTF-8 with it */
    if (length >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0) {
        length -= strlen(mark);
        memmove(text, text + strlen(mark), length + 1);
    }
    *json = (struct roof_json){.text = text, .length = length, .source = name};
    struct scan s = {.text = text,
                     .p = text,
                     .end = text + length,
                     .source = name,
                     .error = error,
                     .wanted = SIZE_MAX};
    enum roof_status status = value(&s);
    if (status == ROOF_OK) {
        status = no_more(&s);
    }
    if (status == ROOF_OK) {
        json->root = parse_tree(text, length);
        status = json->root != NULL
                     ? check_tree(json, json->root, error)
                     : roof_error_set(error, ROOF_MEMORY, "out of memory reading %s", name);
    }
    if (status != ROOF_OK) {
        roof_json_free(json);
        return status;
    }
    *out = json;
    return ROOF_OK;
}

enum roof_status roof_json_parse(struct roof_json **out, const char *text, size_t length,
                                 const char *source, struct roof_error *error)
{
    *out = NULL;
    char *const copy = malloc(length + 1);
    if (copy == NULL) {
        return roof_no_memory(error);
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return parse_owned(out, copy, length, source, error);
}

enum roof_status roof_json_members(struct roof_json_member *members, size_t *count, size_t room,
                                   const char *text, size_t length, const char *source, int line,
                                   struct roof_error *error)
{
    struct scan s = {.text = text,
                     .p = text,
                     .end = text + length,
                     .source = source,
                     .error = error,
                     .wanted = SIZE_MAX,
                     .line = line,
                     .members = members,
                     .room = room};
    blanks(&s);
    if (s.p == s.end || *s.p != '{') {
        return fail(&s, s.p, "expected an object");
    }
    enum roof_status status = value(&s);
    if (status == ROOF_OK) {
        status = no_more(&s);
    }
    *count = s.count;
    return status;
}

/* Whether a text is a number as JSON has them. */
static bool number_text(const char *text)
{
    struct scan s = {.text = text, .p = text, .end = text + strlen(text), .source = ""};
    return (*text == '-' || digit(&s)) && number(&s) == ROOF_OK && s.p == s.end;
}

/* Reads up to room bytes of an open file; a file that became shorter gives fewer. */
static enum roof_status read_bytes(int file, char *text, size_t room, size_t *length,
                                   const char *path, struct roof_error *error)
{
    *length = 0;
    while (*length < room) {
        const ssize_t got = read(file, text + *length, room - *length);
        if (got > 0) {
            *length += (size_t)got;
        } else if (got == 0) {
            break;
        } else if (errno != EINTR) {
            return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot read: %s", strerror(errno));
        }
    }
    return ROOF_OK;
}

/* Parses an open file. */
static enum roof_status parse_file(struct roof_json **out, int file, const char *path,
                                   struct roof_error *error)
{
    struct stat info;
    if (fstat(file, &info) != 0) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot read: %s", strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "not a regular file");
    }
    if (info.st_size > (off_t)ROOF_JSON_SIZE_MAX) {
        return roof_error_at(error, ROOF_INVALID, path, 1, 1,
                             "the file has %lld bytes; at most %u are read",
                             (long long)info.st_size, ROOF_JSON_SIZE_MAX);
    }
    const size_t room = (size_t)info.st_size;
    size_t length = 0;
    char *const text = malloc(room + 1);
    if (text == NULL) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory reading %s", path);
    }
    const enum roof_status status = read_bytes(file, text, room, &length, path, error);
    if (status != ROOF_OK) {
        free(text);
        return status;
    }
    text[length] = '\0';
    return parse_owned(out, text, length, path, error);
}

enum roof_status roof_json_read(struct roof_json **out, const char *path, struct roof_error *error)
{
    *out = NULL;
    /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot open: %s", strerror(errno));
    }
    const enum roof_status status = parse_file(out, file, path, error);
    close(file);
    return status;
}

/* Reads to the end of what has no size. */
static enum roof_status parse_stream(struct roof_json **out, int file, const char *name,
                                     struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status status = ROOF_OK;
    for (size_t got = 1; got > 0 && status == ROOF_OK;) {
        const size_t step = 65536;
        char *const room = roof_text_room(&text, step);
        if (room == NULL) {
            status = roof_error_set(error, ROOF_MEMORY, "out of memory reading %s", name);
            break;
        }
        status = read_bytes(file, room, step, &got, name, error);
        text.length += got;
        if (status == ROOF_OK && text.length > (size_t)ROOF_JSON_SIZE_MAX) {
            status = roof_error_at(error, ROOF_INVALID, name, 1, 1,
                                   "more than the %u bytes that are read", ROOF_JSON_SIZE_MAX);
        }
    }
    if (status == ROOF_OK) {
        status = roof_json_parse(out, text.data, text.length, name, error);
    }
    roof_text_free(&text);
    return status;
}

enum roof_status roof_json_read_stream(struct roof_json **out, const char *path,
                                       struct roof_error *error)
{
    *out = NULL;
    if (strcmp(path, "-") == 0) {
        return parse_stream(out, STDIN_FILENO, "standard input", error);
    }
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot open: %s", strerror(errno));
    }
    const enum roof_status status = parse_stream(out, file, path, error);
    close(file);
    return status;
}

void roof_json_free(struct roof_json *json)
{
    if (json != NULL) {
        cJSON_Delete(json->root);
        free(json->text);
        free(json->source);
        free(json->span);
        free(json->line);
        free(json);
    }
}

const roof_json_value *roof_json_root(const struct roof_json *json)
{
    return json->root;
}

const char *roof_json_source(const struct roof_json *json)
{
    return json->source;
}

bool roof_json_is_object(const roof_json_value *node)
{
    return cJSON_IsObject(node);
}

bool roof_json_is_array(const roof_json_value *node)
{
    return cJSON_IsArray(node);
}

const char *roof_json_string(const roof_json_value *node)
{
    return cJSON_GetStringValue(node);
}

bool roof_json_number(double *out, const roof_json_value *node)
{
    if (!cJSON_IsNumber(node)) {
        return false;
    }
    *out = node->valuedouble;
    return true;
}

bool roof_json_boolean(bool *out, const roof_json_value *node)
{
    if (!cJSON_IsBool(node)) {
        return false;
    }
    *out = cJSON_IsTrue(node) != 0;
    return true;
}

bool roof_json_is_null(const roof_json_value *node)
{
    return cJSON_IsNull(node) != 0;
}

const char *roof_json_line(const roof_json_value *node)
{
    const char *const text = roof_json_string(node);
    for (const char *p = text; p != NULL && *p != '\0'; p++) {
        if (roof_control(p) != 0) {
            return NULL;
        }
    }
    return text;
}

enum roof_status roof_json_lines(const char ***out, const struct roof_json *json,
                                 const roof_json_value *node, struct roof_error *error)
{
    bool lines = cJSON_IsArray(node) != 0;
    for (const roof_json_value *item = roof_json_first(node); item != NULL && lines;
         item = roof_json_next(item)) {
        lines = roof_json_line(item) != NULL;
    }
    if (!lines) {
        return roof_json_error(json, node, error, "%s must be an array of strings of one line",
                               roof_json_key(node));
    }
    *out = calloc(roof_json_count(node) + 1, sizeof **out);
    if (*out == NULL) {
        return roof_no_memory(error);
    }
    size_t count = 0;
    for (const roof_json_value *item = roof_json_first(node); item != NULL;
         item = roof_json_next(item)) {
        (*out)[count++] = roof_json_line(item);
    }
    return ROOF_OK;
}

const roof_json_value *roof_json_get(const roof_json_value *object, const char *key)
{
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
}

const roof_json_value *roof_json_first(const roof_json_value *parent)
{
    return parent == NULL ? NULL : parent->child;
}

const roof_json_value *roof_json_next(const roof_json_value *node)
{
    return node->next;
}

size_t roof_json_count(const roof_json_value *parent)
{
    size_t count = 0;
    for (const cJSON *child = roof_json_first(parent); child != NULL; child = child->next) {
        count++;
    }
    return count;
}

const char *roof_json_key(const roof_json_value *node)
{
    return node->string;
}

void roof_json_cell(struct roof_text *out, const char *text)
{
    if (number_text(text)) {
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
        } else if (c < 0x80) { /* and all that are as plain */
            const char *end = p + 1;
            while (plain(*end)) {
                end++;
            }
            roof_text_add(out, p, (size_t)(end - p));
            p = end - 1;
        } else { /* a file name may be anything; JSON is UTF-8 */
            const size_t length = roof_utf8(p, 4);
            roof_text_add(out, length > 0 ? p : "\\ufffd", length > 0 ? length : 6);
            p += length > 0 ? length - 1 : 0;
        }
    }
    roof_text_put(out, "\"");
}
