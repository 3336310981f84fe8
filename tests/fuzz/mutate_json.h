// SPDX-License-Identifier: MIT
/*
 * For targets that read JSON: every other mutation changes a value of a document for one of another
 * kind, which bytes alone rarely become, since both ends of an object would have to change at once.
 */
#ifndef ROOF_FUZZ_MUTATE_JSON_H
#define ROOF_FUZZ_MUTATE_JSON_H

#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#define FUZZ_VALUES_MAX 1024

/* Values in a document, in their order, without the root. */
static inline size_t fuzz_values(const roof_json_value *out[FUZZ_VALUES_MAX], size_t count,
                                 const roof_json_value *of)
{
    for (const roof_json_value *item = roof_json_first(of); item != NULL && count < FUZZ_VALUES_MAX;
         item = roof_json_next(item)) {
        out[count] = item;
        count = fuzz_values(out, count + 1, item);
    }
    return count;
}

static inline void fuzz_span(struct roof_text *out, const struct roof_json *json,
                             const roof_json_value *value)
{
    size_t length = 0;
    const char *const text = roof_json_span(json, value, &length);
    roof_text_add(out, text, length);
}

/* Writes something else in place of a value. */
static inline void fuzz_instead(struct roof_text *out, const struct roof_json *json,
                                const roof_json_value *value, const roof_json_value *other,
                                unsigned choice)
{
    static const char *const fixed[] = {"null", "true", "false", "[]",  "{}",      "\"\"",
                                        "0",    "-1",   "1.5",   "1e9", "\"fp8\"", "[[]]"};
    const size_t count = sizeof fixed / sizeof *fixed;
    choice %= (unsigned)count + 4;
    if (choice < count) {
        roof_text_put(out, fixed[choice]);
    } else if (choice == count) { /* what an object has, without its keys */
        roof_text_put(out, "[");
        for (const roof_json_value *item = roof_json_first(value); item != NULL;
             item = roof_json_next(item)) {
            fuzz_span(out, json, item);
            roof_text_put(out, roof_json_next(item) == NULL ? "" : ",");
        }
        roof_text_put(out, "]");
    } else if (choice == count + 1) {
        roof_text_put(out, "[");
        fuzz_span(out, json, value);
        roof_text_put(out, "]");
    } else if (choice == count + 2) {
        roof_text_put(out, "{\"a\":");
        fuzz_span(out, json, value);
        roof_text_put(out, "}");
    } else {
        fuzz_span(out, json, other);
    }
}

/* The document that an input is, or what follows the bytes that some targets have before it. */
static inline struct roof_json *fuzz_document(size_t *before, const uint8_t *data, size_t size)
{
    struct roof_json *json = NULL;
    const uint8_t *const brace = memchr(data, '{', size);
    const size_t starts[] = {0, brace == NULL ? 0 : (size_t)(brace - data)};
    for (size_t i = 0; i < sizeof starts / sizeof *starts && json == NULL; i++) {
        *before = starts[i];
        (void)roof_json_parse(&json, (const char *)data + *before, size - *before, "input", NULL);
    }
    CHECK(json == NULL || roof_json_index(json, NULL) == ROOF_OK);
    return json;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    const roof_json_value *values[FUZZ_VALUES_MAX];
    struct roof_text changed = ROOF_TEXT_INIT;
    size_t before = 0;
    struct roof_json *const json = seed % 2 == 0 ? fuzz_document(&before, data, size) : NULL;
    const size_t count = json == NULL ? 0 : fuzz_values(values, 0, roof_json_root(json));
    if (count > 0) {
        size_t all = 0;
        size_t length = 0;
        const char *const begin = roof_json_text(json, &all);
        const roof_json_value *const value = values[seed / 2 % count];
        const char *const text = roof_json_span(json, value, &length);
        roof_text_add(&changed, (const char *)data, before);
        roof_text_add(&changed, begin, (size_t)(text - begin));
        fuzz_instead(&changed, json, value, values[seed / 64 % count], seed / 4096);
        roof_text_add(&changed, text + length, all - (size_t)(text + length - begin));
        CHECK(!changed.failed);
    }
    roof_json_free(json);
    const bool fits = changed.length > 0 && changed.length <= max_size;
    if (fits) {
        memcpy(data, changed.data, changed.length);
        size = changed.length;
    }
    roof_text_free(&changed);
    return fits ? size : LLVMFuzzerMutate(data, size, max_size);
}

#endif
