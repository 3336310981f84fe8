// SPDX-License-Identifier: MIT
#include "base/json.h"
#include "base/character.h"

#include <cjson/cJSON.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json_scan.h"
#include "base/json_tree.h"

struct roof_json {
    const char *text;
    char *owned; /* the text, if it is the document's own */
    size_t length;
    char *source;
    bool python; /* NaN and infinities are values */
    cJSON *root;
    struct roof_json_tree tree;  /* which root is of; or all NULL */
    struct roof_json_span *span; /* of all values, sorted by node; NULL without roof_json_index */
    size_t spans;
    size_t *line; /* the offset where each line begins; NULL without roof_json_index */
    size_t lines;
};

/* --- places -------------------------------------------------------------------------------- */

/* Finds a node in the tree below another and adds the number of values before it in preorder to
 * *index; without the node, the number of all values. */
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
    const uintptr_t x = (uintptr_t)((const struct roof_json_span *)a)->node;
    const uintptr_t y = (uintptr_t)((const struct roof_json_span *)b)->node;
    return (x > y) - (x < y);
}

/* Adds a node and those below it, in preorder. */
static void put_nodes(struct roof_json_span *spans, size_t *count, const cJSON *node)
{
    spans[(*count)++].node = node;
    for (const cJSON *child = node->child; child != NULL; child = child->next) {
        put_nodes(spans, count, child);
    }
}

static struct roof_json_scan scan_of(const struct roof_json *json)
{
    struct roof_json_scan s = roof_json_scan_of(json->text, json->length, json->source, NULL);
    s.python = json->python;
    return s;
}

enum roof_status roof_json_index(struct roof_json *json, struct roof_error *error)
{
    size_t lines = 1;
    for (size_t i = 0; i < json->length; i++) {
        lines += json->text[i] == '\n';
    }
    (void)count_to(json->root, NULL, &json->spans); /* no node is NULL: it counts all */
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
    struct roof_json_scan s = scan_of(json);
    s.spans = json->span;
    (void)roof_json_scan_value(&s); /* the text was checked before */
    size_t count = 0;
    put_nodes(json->span, &count, json->root);
    qsort(json->span, json->spans, sizeof *json->span, by_node);
    return ROOF_OK;
}

const char *roof_json_span(const struct roof_json *json, const roof_json_value *node,
                           size_t *length)
{
    if (json->span != NULL) {
        const struct roof_json_span wanted = {.node = node};
        const struct roof_json_span *const known =
            bsearch(&wanted, json->span, json->spans, sizeof wanted, by_node);
        *length = known == NULL ? 0 : known->length;
        return json->text + (known == NULL ? 0 : known->begin);
    }
    struct roof_json_scan s = scan_of(json);
    s.wanted = 0;
    count_to(json->root, node, &s.wanted);
    (void)roof_json_scan_value(&s); /* the text was checked before */
    const char *const begin = s.found == NULL ? json->text : s.found;
    s = roof_json_scan_of(begin, (size_t)(s.end - begin), json->source, NULL);
    s.python = json->python;
    (void)roof_json_scan_value(&s);
    *length = (size_t)(s.p - begin);
    return begin;
}

void roof_json_place(const struct roof_json *json, const roof_json_value *node, int *line,
                     int *column)
{
    size_t length = 0;
    const char *const at = roof_json_span(json, node, &length);
    if (json->line == NULL) {
        roof_json_locate(json->text, at, line, column);
        return;
    }
    const size_t offset = (size_t)(at - json->text);
    size_t first = 0; /* the value stands in this line, or in one between it and `last` */
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

/* --- messages ------------------------------------------------------------------------------ */

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
        error->source[0] = '\0'; /* the place of the node replaces it */
    }
    (void)roof_error_prefix(error, ROOF_INVALID, "%s%s", prefix, *prefix == '\0' ? "" : ": ");
    return roof_error_move(error, ROOF_INVALID, json->source, line, column);
}

enum roof_status roof_json_only(const struct roof_json *json, const roof_json_value *object,
                                const char *const *known, size_t count, struct roof_error *error)
{
    for (const roof_json_value *member = roof_json_first(object); member != NULL;
         member = roof_json_next(member)) {
        const char *const key = roof_json_key(member);
        size_t i = 0;
        while (i < count && strcmp(key, known[i]) != 0) {
            i++;
        }
        if (i == count) {
            return roof_json_place_error(
                json, member, "", error,
                roof_unknown_name(error, ROOF_INVALID, "key", key, known, count));
        }
    }
    return ROOF_OK;
}

/* --- the tree ------------------------------------------------------------------------------ */

static int by_key(const void *a, const void *b)
{
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

/* Refuses a duplicate key. The keys are sorted, because a hostile object may have a million of
 * them. */
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
    return roof_json_error(json, second, error, "the key '%s' appears twice in its object", twice);
}

/* Refuses what the text alone does not show: duplicate keys, and numbers that are not finite. */
static enum roof_status check_tree(const struct roof_json *json, const cJSON *node,
                                   struct roof_error *error)
{
    if (cJSON_IsNumber(node) && !isfinite(node->valuedouble)) {
        return roof_json_error(json, node, error, "the number is too large (at most 1.8e308)");
    }
    if (cJSON_IsObject(node)) {
        TRY(check_keys(json, node, error));
    }
    for (const cJSON *child = node->child; child != NULL; child = child->next) {
        TRY(check_tree(json, child, error));
    }
    return ROOF_OK;
}

/* Parses in the C locale, because cJSON expects the decimal point of the locale, and only its first
 * byte; and one text at a time, because each parse writes to a variable that all threads share (the
 * place of an error, which nothing here reads). */
static cJSON *parse_tree(const char *text, size_t length)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return NULL;
    }
    const locale_t before = uselocale(plain);
    (void)pthread_mutex_lock(&lock);
    cJSON *const root = cJSON_ParseWithLengthOpts(text, length + 1, NULL, 1);
    (void)pthread_mutex_unlock(&lock);
    (void)uselocale(before);
    freelocale(plain);
    return root;
}

/* A walk through a checked text that finds NaN and infinities outside of strings. */
struct words {
    const char *p;
    const char *end;
    bool quoted;
};

/* Returns the length of what stands here: a word of Python, for which *word is set, else an escape
 * or one byte. It moves past it. */
static size_t next_piece(struct words *w, bool *word)
{
    const size_t length = w->quoted ? 0 : roof_json_python_word(w->p, w->end);
    const size_t step = length > 0 ? length : w->quoted && *w->p == '\\' ? 2 : 1;
    w->quoted = *w->p == '"' ? !w->quoted : w->quoted;
    w->p += step;
    *word = length > 0;
    return step;
}

/* Marks the nulls of a tree that are NaN or an infinity in its text. */
static void mark_words(cJSON *node, struct words *w)
{
    if (cJSON_IsNull(node)) {
        bool word = false;
        bool null = false;
        while (!word && !null) {
            null = !w->quoted && *w->p == 'n'; /* true and false have none, nor have numbers */
            (void)next_piece(w, &word);
        }
        node->valuedouble = word ? (double)NAN : 0;
    }
    for (cJSON *child = node->child; child != NULL; child = child->next) {
        mark_words(child, w);
    }
}

/* Parses a checked text with null in place of NaN and infinities, which cJSON does not read. */
static cJSON *parse_python(const char *text, size_t length)
{
    struct roof_text plain = ROOF_TEXT_INIT;
    struct words w = {.p = text, .end = text + length};
    bool any = false;
    while (w.p < w.end) {
        bool word = false;
        const char *const begin = w.p;
        const size_t step = next_piece(&w, &word);
        roof_text_add(&plain, word ? "null" : begin, word ? strlen("null") : step);
        any = any || word;
    }
    cJSON *const root = plain.failed ? NULL : parse_tree(plain.data, plain.length);
    roof_text_free(&plain);
    if (root != NULL && any) {
        w = (struct words){.p = text, .end = text + length};
        mark_words(root, &w);
    }
    return root;
}

static enum roof_status no_memory_for(const struct roof_json *json, struct roof_error *error)
{
    return roof_error_set(error, ROOF_MEMORY, "out of memory reading %s", json->source);
}

/* Builds the tree of a file of data/. */
static enum roof_status parse_own(struct roof_json *json, const struct roof_json_filter *filter,
                                  struct roof_error *error)
{
    const enum roof_status status =
        roof_json_tree_build(&json->tree, json->text, json->length, filter);
    json->root = json->tree.root;
    if (status == ROOF_INVALID) {
        roof_json_tree_free(&json->tree);
        json->root = parse_tree(json->text, json->length);
    }
    return status == ROOF_MEMORY || json->root == NULL ? no_memory_for(json, error) : ROOF_OK;
}

/* Checks the text of another document and builds its tree. */
static enum roof_status parse_other(struct roof_json *json, struct roof_error *error)
{
    struct roof_json_scan s = scan_of(json);
    s.error = error;
    TRY(roof_json_scan_all(&s));
    json->root = json->python ? parse_python(json->text, json->length)
                              : parse_tree(json->text, json->length);
    return json->root == NULL ? no_memory_for(json, error) : check_tree(json, json->root, error);
}

/* Makes a document without a tree; NULL: out of memory. `owned` is freed with it, or here. */
static struct roof_json *new_document(const char *text, char *owned, size_t length,
                                      const char *source)
{
    struct roof_json *const json = calloc(1, sizeof *json);
    char *const name = strdup(source);
    if (json == NULL || name == NULL) {
        free(json);
        free(name);
        free(owned);
        return NULL;
    }
    *json = (struct roof_json){.text = text, .owned = owned, .length = length, .source = name};
    return json;
}

/* Returns a document through *out if it was read, else frees it. */
static enum roof_status hand_out(struct roof_json **out, struct roof_json *json,
                                 enum roof_status status)
{
    if (status != ROOF_OK) {
        roof_json_free(json);
        return status;
    }
    *out = json;
    return ROOF_OK;
}

static enum roof_status take(struct roof_json **out, char *text, size_t length, const char *source,
                             bool python, struct roof_error *error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* some editors begin UTF-8 with it */
    const size_t skipped =
        length >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
    struct roof_json *const json = new_document(text + skipped, text, length - skipped, source);
    *out = NULL;
    if (json == NULL) {
        return roof_no_memory(error);
    }
    json->python = python;
    return hand_out(out, json, parse_other(json, error));
}

enum roof_status roof_json_take(struct roof_json **out, char *text, size_t length,
                                const char *source, struct roof_error *error)
{
    return take(out, text, length, source, false, error);
}

enum roof_status roof_json_take_python(struct roof_json **out, char *text, size_t length,
                                       const char *source, struct roof_error *error)
{
    return take(out, text, length, source, true, error);
}

static enum roof_status parse(struct roof_json **out, const char *text, size_t length,
                              const char *source, bool python, struct roof_error *error)
{
    *out = NULL;
    char *const copy = malloc(length + 1);
    if (copy == NULL) {
        return roof_no_memory(error);
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return take(out, copy, length, source, python, error);
}

enum roof_status roof_json_parse(struct roof_json **out, const char *text, size_t length,
                                 const char *source, struct roof_error *error)
{
    return parse(out, text, length, source, false, error);
}

enum roof_status roof_json_parse_python(struct roof_json **out, const char *text, size_t length,
                                        const char *source, struct roof_error *error)
{
    return parse(out, text, length, source, true, error);
}

enum roof_status roof_json_parse_own(struct roof_json **out, const char *text, size_t length,
                                     const char *source, struct roof_error *error)
{
    return roof_json_parse_some(out, text, length, source, NULL, error);
}

enum roof_status roof_json_parse_some(struct roof_json **out, const char *text, size_t length,
                                      const char *source, const struct roof_json_filter *filter,
                                      struct roof_error *error)
{
    struct roof_json *const json = new_document(text, NULL, length, source);
    *out = NULL;
    return json == NULL ? roof_no_memory(error)
                        : hand_out(out, json, parse_own(json, filter, error));
}

void roof_json_free(struct roof_json *json)
{
    if (json != NULL) {
        if (json->tree.root == NULL) {
            cJSON_Delete(json->root);
        }
        roof_json_tree_free(&json->tree);
        free(json->owned);
        free(json->source);
        free(json->span);
        free(json->line);
        free(json);
    }
}

/* --- values -------------------------------------------------------------------------------- */

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

bool roof_json_is_python_word(const roof_json_value *node)
{
    return roof_json_is_null(node) && isnan(node->valuedouble);
}

const char *roof_json_line(const roof_json_value *node)
{
    const char *const text = roof_json_string(node);
    for (const char *p = text; p != NULL && *p != '\0'; p++) {
        if ((*p < ' ' || *p > '~') && roof_control(p) != 0) {
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
