// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>

#include "base/json_tree.h"
#include "catalog/data.h"
#include "support.h"

/* The bits of two doubles, so that zeros of different signs differ. */
static void expect_double(const char *text, double is, double wanted)
{
    uint64_t bits[2] = {0, 0};
    memcpy(&bits[0], &is, sizeof is);
    memcpy(&bits[1], &wanted, sizeof wanted);
    if (bits[0] != bits[1]) {
        fail_msg("%s: %.17g instead of %.17g", text, is, wanted);
    }
}

/* Draws a number from 0 to below `count` (the generator of Knuth's MMIX). */
static int draw(uint64_t *random, uint64_t count)
{
    *random = *random * 6364136223846793005U + 1442695040888963407U;
    return (int)((*random >> 33) % count);
}

/* Compares two values and those in them. */
static void expect_same(const char *where, const roof_json_value *is, const roof_json_value *wanted)
{
    double number[2] = {0, 0};
    bool truth[2] = {false, false};
    const char *const text = roof_json_string(wanted);
    if (text != NULL) {
        assert_string_equal(roof_json_string(is), text);
    }
    if (roof_json_number(&number[1], wanted)) {
        assert_true(roof_json_number(&number[0], is));
        expect_double(where, number[0], number[1]);
    }
    assert_int_equal(roof_json_boolean(&truth[0], is), roof_json_boolean(&truth[1], wanted));
    assert_int_equal(truth[0], truth[1]);
    assert_int_equal(roof_json_is_null(is), roof_json_is_null(wanted));
    assert_int_equal(roof_json_is_object(is), roof_json_is_object(wanted));
    assert_int_equal(roof_json_is_array(is), roof_json_is_array(wanted));
    assert_int_equal(roof_json_count(is), roof_json_count(wanted));
    const roof_json_value *item = roof_json_first(is);
    for (const roof_json_value *other = roof_json_first(wanted); other != NULL;
         other = roof_json_next(other), item = roof_json_next(item)) {
        if (roof_json_is_object(wanted)) {
            assert_string_equal(roof_json_key(item), roof_json_key(other));
            assert_ptr_equal(roof_json_get(is, roof_json_key(other)), item);
        }
        expect_same(where, item, other);
    }
}

/* The paths of documents with which most answers begin: none of them is read the slow way. */
static bool begins_answers(const char *path)
{
    return strcmp(path, "borrowing.json") == 0 || strncmp(path, "calibration/", 12) == 0 ||
           strcmp(path, "hardware/h100-sxm.json") == 0;
}

/* Every document of the program has the tree that strict reading gives it, and most are read the
 * fast way. */
static void test_own_documents(void **state)
{
    (void)state;
    size_t documents = 0;
    size_t fast = 0;
    for (size_t i = 0; i < roof_data_file_count; i++) {
        const char *const path = roof_data_files[i].path;
        const char *const text = roof_data_files[i].text;
        const size_t length = roof_data_files[i].length;
        struct roof_json *strict = NULL;
        struct roof_json *own = NULL;
        struct roof_json_tree tree;
        if (strstr(path, ".json") == NULL) {
            continue;
        }
        assert_int_equal(roof_json_parse(&strict, text, length, path, NULL), ROOF_OK);
        assert_int_equal(roof_json_parse_own(&own, text, length, path, NULL), ROOF_OK);
        expect_same(path, roof_json_root(own), roof_json_root(strict));
        const bool is_fast = roof_json_tree_build(&tree, text, length, NULL) == ROOF_OK;
        assert_true(is_fast || !begins_answers(path));
        fast += is_fast;
        documents++;
        roof_json_tree_free(&tree);
        roof_json_free(own);
        roof_json_free(strict);
    }
    assert_true(documents > 200 && fast > documents * 9 / 10);
}

/* Reads one number in an array; false: it is left to cJSON. */
static bool read_one(double *out, const char *number)
{
    char text[80];
    struct roof_json_tree tree;
    (void)snprintf(text, sizeof text, " [%s]\n", number);
    const enum roof_status status = roof_json_tree_build(&tree, text, strlen(text), NULL);
    const bool is_read = status == ROOF_OK;
    assert_true(is_read || status == ROOF_INVALID);
    if (is_read) {
        assert_true(roof_json_number(out, roof_json_first(tree.root)));
    }
    roof_json_tree_free(&tree);
    return is_read;
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const read[] = {"0",
                                       "-0",
                                       "0.0",
                                       "7",
                                       "-12.5",
                                       "0.1",
                                       "1e22",
                                       "1E+22",
                                       "1e-22",
                                       "3e0",
                                       "1.50",
                                       "1e007",
                                       "9007199254740992",
                                       "9007199254740.992e-9",
                                       "0.000000000000000000001",
                                       "-9.99999999999999e-3"};
    static const char *const left[] = {"9007199254740993",
                                       "1e23",
                                       "1e-23",
                                       "0.1e-22",
                                       "1e400",
                                       "1e99999999999999999999",
                                       "123456789012345678901234567890"};
    double value = 0;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
        assert_true(read_one(&value, read[i]));
        expect_double(read[i], value, strtod(read[i], NULL));
    }
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        assert_false(read_one(&value, left[i]));
    }
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        char text[40];
        (void)snprintf(text, sizeof text, "%d.%0*de%d", draw(&random, 100000), 1 + draw(&random, 9),
                       draw(&random, 10), draw(&random, 25) - 12);
        assert_true(read_one(&value, text));
        expect_double(text, value, strtod(text, NULL));
    }
}

static void test_strings(void **state)
{
    (void)state;
    static const char text[] = "{\"a\" : [ \"\", \"\xc3\xa9, {[\" ] ,\"\":{}, \"t\":true,"
                               "\"f\":false,\"n\":null}";
    static const char *const escaped[] = {"[\"a\\\"b\"]", "{\"\\u0041\": 1}", "[\"\\\\\"]"};
    struct roof_json *strict = NULL;
    struct roof_json_tree tree;
    assert_int_equal(roof_json_parse(&strict, text, strlen(text), "t.json", NULL), ROOF_OK);
    assert_int_equal(roof_json_tree_build(&tree, text, strlen(text), NULL), ROOF_OK);
    expect_same("t.json", tree.root, roof_json_root(strict));
    roof_json_tree_free(&tree);
    roof_json_free(strict);
    for (size_t i = 0; i < sizeof escaped / sizeof *escaped; i++) {
        assert_int_equal(roof_json_tree_build(&tree, escaped[i], strlen(escaped[i]), NULL),
                         ROOF_INVALID);
        roof_json_tree_free(&tree);
    }
}

/* Wants the items whose first key is a letter; '*' stands for any. */
static bool wants_letter(const char *item, unsigned wanted)
{
    return wanted == '*' || (unsigned)item[2] == wanted;
}

/* A filter leaves items out of one array: braces in strings, and objects in objects, do not end an
 * item. An escape in an item that is left out is seen, too. */
static void test_filter(void **state)
{
    (void)state;
    static const char text[] = "{\"x\": [{\"q\": 1}],\n \"items\": [\n{\"a\": \"}]\"}, {\"b\": "
                               "{\"a\": {}}},\n\t{\"c\": \"{{\"}\n ], \"y\": [2, {}]}";
    static const char escape[] = "{\"items\": [{\"a\": \"\\\"}\"}, {\"b\": 1}]}";
    static const struct {
        char letter;
        size_t items;
        const char *first; /* the key of the first one */
    } cases[] = {{'a', 1, "a"}, {'b', 1, "b"}, {'c', 1, "c"}, {'*', 3, "a"}, {'z', 0, NULL}};
    struct roof_json *json = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct roof_json_filter filter = {
            .array = "items", .wants = wants_letter, .wanted = (unsigned)cases[i].letter};
        assert_int_equal(roof_json_parse_some(&json, text, strlen(text), "t.json", &filter, NULL),
                         ROOF_OK);
        const roof_json_value *const root = roof_json_root(json);
        const roof_json_value *const items = roof_json_get(root, "items");
        assert_int_equal(roof_json_count(items), cases[i].items);
        if (cases[i].first != NULL) {
            assert_string_equal(roof_json_key(roof_json_first(roof_json_first(items))),
                                cases[i].first);
        }
        assert_int_equal(roof_json_count(roof_json_get(root, "x")), 1);
        assert_int_equal(roof_json_count(roof_json_get(root, "y")), 2);
        roof_json_free(json);
    }
    const struct roof_json_filter absent = {.array = "none", .wants = wants_letter, .wanted = 'z'};
    assert_int_equal(roof_json_parse_some(&json, text, strlen(text), "t.json", &absent, NULL),
                     ROOF_OK);
    assert_int_equal(roof_json_count(roof_json_get(roof_json_root(json), "items")), 3);
    roof_json_free(json);
    const struct roof_json_filter b = {.array = "items", .wants = wants_letter, .wanted = 'b'};
    assert_int_equal(roof_json_parse_some(&json, escape, strlen(escape), "t.json", &b, NULL),
                     ROOF_OK);
    assert_int_equal(roof_json_count(roof_json_get(roof_json_root(json), "items")), 2);
    roof_json_free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_documents),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
