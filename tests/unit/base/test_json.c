// SPDX-License-Identifier: MIT
#include "files.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/crew.h"
#include "base/json.h"
#include "catalog/data.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Text with its length, so that it may hold NUL bytes. */
#define TEXT(literal) (literal), sizeof(literal) - 1

static struct roof_json *parse(const char *text)
{
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    if (roof_json_parse(&json, text, strlen(text), "t.json", &error) != ROOF_OK) {
        fail_msg("%s: %d:%d: %s", text, error.line, error.column, error.message);
    }
    return json;
}

static void expect_invalid(const char *text, size_t length, int line, int column,
                           const char *reason)
{
    /* The copy ends where the text ends: reading behind it is seen by the sanitizers. */
    char *const copy = malloc(length + (length == 0));
    assert_non_null(copy);
    memcpy(copy, text, length);
    struct roof_error error = {0};
    struct roof_json *json = (struct roof_json *)(void *)copy;
    const enum roof_status status = roof_json_parse(&json, copy, length, "t.json", &error);
    free(copy);
    if (status != ROOF_INVALID || error.status != ROOF_INVALID || error.line != line ||
        error.column != column || strstr(error.message, reason) == NULL) {
        fail_msg("%.200s: status %d at %d:%d '%s', expected %d:%d '%s'", text, (int)status,
                 error.line, error.column, error.message, line, column, reason);
    }
    assert_null(json);
    assert_string_equal(error.source, "t.json");
    assert_null(strchr(error.message, '\n'));
}

struct invalid {
    const char *text;
    size_t length;
    int line;
    int column;
    const char *reason;
};

static void expect_all_invalid(const struct invalid *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        expect_invalid(cases[i].text, cases[i].length, cases[i].line, cases[i].column,
                       cases[i].reason);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"7", 7},
        {"-12", -12},
        {"10", 10},
        {"0.5", 0.5},
        {"-0.25", -0.25},
        {"1e3", 1000},
        {"1E3", 1000},
        {"1e+3", 1000},
        {"25e-2", 0.25},
        {"0e5", 0},
        {"0.0", 0},
        {"1e308", 1e308},
        {"1e-400", 0},
        {"1e05", 100000},
        {"0.1", 0.1},
        {" \t\r\n1\n ", 1},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"116.97149128919861", 116.97149128919861},
        {"9007199254740993", 9007199254740992.0}, /* 2^53 + 1 is a tie: to even */
        {"130567005798", 130567005798.0},
        /* 60 characters, the most that a number may have */
        {"100000000000000000000000000000000000000000000000000000000000", 1e59},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_json *const json = parse(cases[i].text);
        double value = 42;
        assert_true(roof_json_number(&value, roof_json_root(json)));
        if (value != cases[i].value) {
            fail_msg("'%s' is %.17g, expected %.17g", cases[i].text, value, cases[i].value);
        }
        roof_json_free(json);
    }
}

static void test_wrong_numbers(void **state)
{
    (void)state;
    static const struct invalid cases[] = {
        {TEXT("01"), 1, 1, "begin with 0"},
        {TEXT("-01"), 1, 1, "begin with 0"},
        {TEXT("00"), 1, 1, "begin with 0"},
        {TEXT("[1, 007]"), 1, 5, "begin with 0"},
        {TEXT("1."), 1, 3, "decimal point"},
        {TEXT("[1.]"), 1, 4, "decimal point"},
        {TEXT("1.e5"), 1, 3, "decimal point"},
        {TEXT("-.5"), 1, 2, "'-'"},
        {TEXT(".5"), 1, 1, "value"},
        {TEXT("+1"), 1, 1, "value"},
        {TEXT("-"), 1, 2, "'-'"},
        {TEXT("--1"), 1, 2, "'-'"},
        {TEXT("- 1"), 1, 2, "'-'"},
        {TEXT("1e"), 1, 3, "exponent"},
        {TEXT("1e+"), 1, 4, "exponent"},
        {TEXT("1E-x"), 1, 4, "exponent"},
        {TEXT("[1e]"), 1, 4, "exponent"},
        {TEXT("0x10"), 1, 2, "after the value"},
        {TEXT("1_000"), 1, 2, "after the value"},
        {TEXT("1,5"), 1, 2, "after the value"},
        {TEXT("1.2.3"), 1, 4, "after the value"},
        {TEXT("1e5e5"), 1, 4, "after the value"},
        {TEXT("1e400"), 1, 1, "too large"},
        {TEXT("-1e400"), 1, 1, "too large"},
        {TEXT("1e309"), 1, 1, "too large"},
        {TEXT("{\"a\": [0,\n 1e999]}"), 2, 2, "too large"},
        {TEXT("NaN"), 1, 1, "value"},
        {TEXT("nan"), 1, 1, "value"},
        {TEXT("[NaN]"), 1, 2, "value"},
        {TEXT("Infinity"), 1, 1, "value"},
        {TEXT("inf"), 1, 1, "value"},
        {TEXT("-Infinity"), 1, 2, "'-'"},
        {TEXT("[-NaN]"), 1, 3, "'-'"},
        /* 61 characters */
        {TEXT("1000000000000000000000000000000000000000000000000000000000000"), 1, 1, "60"},
        {TEXT("[0.00000000000000000000000000000000000000000000000000000000001]"), 1, 2, "60"},
    };
    expect_all_invalid(cases, COUNT(cases));
}

static void test_wrong_structure(void **state)
{
    (void)state;
    static const struct invalid cases[] = {
        /* nothing */
        {TEXT(""), 1, 1, "end of the text"},
        {TEXT("   "), 1, 4, "end of the text"},
        {TEXT(" \n \n"), 3, 1, "end of the text"},
        /* text after the value */
        {TEXT("{} x"), 1, 4, "after the value"},
        {TEXT("1 2"), 1, 3, "after the value"},
        {TEXT("[]]"), 1, 3, "after the value"},
        {TEXT("{}{}"), 1, 3, "after the value"},
        {TEXT("1,"), 1, 2, "after the value"},
        {TEXT("null\nnull"), 2, 1, "after the value"},
        {TEXT("\"a\" \"b\""), 1, 5, "after the value"},
        {TEXT("truefalse"), 1, 5, "after the value"},
        {TEXT("{} // c"), 1, 4, "after the value"},
        {TEXT("/* c */ 1"), 1, 1, "value"},
        /* words */
        {TEXT("True"), 1, 1, "value"},
        {TEXT("tru"), 1, 1, "value"},
        {TEXT("NULL"), 1, 1, "value"},
        {TEXT("nul"), 1, 1, "value"},
        {TEXT("a"), 1, 1, "value"},
        {TEXT("'a'"), 1, 1, "value"},
        /* commas */
        {TEXT("[1,]"), 1, 4, "value"},
        {TEXT("[,1]"), 1, 2, "value"},
        {TEXT("[1,,2]"), 1, 4, "value"},
        {TEXT("[1 2]"), 1, 4, "',' or ']'"},
        {TEXT("{\"a\":1,}"), 1, 8, "key"},
        {TEXT("{,}"), 1, 2, "key"},
        {TEXT("{\"a\":1 \"b\":2}"), 1, 8, "',' or '}'"},
        {TEXT("{\"a\":1,,\"b\":2}"), 1, 8, "key"},
        /* keys and colons */
        {TEXT("{a:1}"), 1, 2, "key"},
        {TEXT("{'a':1}"), 1, 2, "key"},
        {TEXT("{1:2}"), 1, 2, "key"},
        {TEXT("{null:2}"), 1, 2, "key"},
        {TEXT("{\"a\" 1}"), 1, 6, "':'"},
        {TEXT("{\"a\"}"), 1, 5, "':'"},
        {TEXT("{\"a\"=1}"), 1, 5, "':'"},
        {TEXT("{\"a\":}"), 1, 6, "value"},
        {TEXT("{\"a\"::1}"), 1, 6, "value"},
        {TEXT("[\"a\":1]"), 1, 5, "',' or ']'"},
        /* brackets */
        {TEXT("{\"a\":1]"), 1, 7, "',' or '}'"},
        {TEXT("[1}"), 1, 3, "',' or ']'"},
        {TEXT("]"), 1, 1, "value"},
        {TEXT("}"), 1, 1, "value"},
        /* each place where the text can end */
        {TEXT("["), 1, 2, "end of the text"},
        {TEXT("[1"), 1, 3, "',' or ']'"},
        {TEXT("[1,"), 1, 4, "end of the text"},
        {TEXT("{"), 1, 2, "key"},
        {TEXT("{\"a\""), 1, 5, "':'"},
        {TEXT("{\"a\":"), 1, 6, "end of the text"},
        {TEXT("{\"a\":1"), 1, 7, "',' or '}'"},
        {TEXT("{\"a\":1,"), 1, 8, "key"},
        {TEXT("[[[1]\n]"), 2, 2, "',' or ']'"},
        /* blanks are space, tab, line feed and carriage return only */
        {TEXT("\f1"), 1, 1, "value"},
        {TEXT("\v1"), 1, 1, "value"},
        {TEXT("1\f"), 1, 2, "after the value"},
        {TEXT("\xC2\xA0"
              "1"),
         1, 1, "value"},                                     /* no-break space */
        {TEXT("\xEF\xBB\xBF\xEF\xBB\xBF{}"), 1, 1, "value"}, /* a second byte order mark */
        {TEXT("\xEF\xBB\xBF[1, x]"), 1, 5, "value"},         /* one counts in no place */
        {TEXT("\xEF\xBB"), 1, 1, "value"},
        /* NUL bytes are text as any other */
        {TEXT("\0"), 1, 1, "value"},
        {TEXT("1\0"), 1, 2, "after the value"},
        {TEXT("{}\0{}"), 1, 3, "after the value"},
        {TEXT("[1, \0 2]"), 1, 5, "value"},
        {TEXT("[1\0]"), 1, 3, "',' or ']'"},
        {TEXT("{\0}"), 1, 2, "key"},
        {TEXT("\"a\0b\""), 1, 3, "control character"},
        /* lines end with a line feed; columns are bytes */
        {TEXT("{\n  \"a\": 1,\n  \"b\": x\n}"), 3, 8, "value"},
        {TEXT("{\r\n  \"a\": x}"), 2, 8, "value"},
        {TEXT("[\"\xE2\x82\xAC\", x]"), 1, 9, "value"}, /* three bytes at 3..5 */
        {TEXT("[\n\n\n\n\t\t]]"), 5, 4, "after the value"},
    };
    expect_all_invalid(cases, COUNT(cases));
}

static void test_wrong_strings(void **state)
{
    (void)state;
    static const struct invalid cases[] = {
        /* the place is where the string begins */
        {TEXT("\""), 1, 1, "does not end"},
        {TEXT("\"abc"), 1, 1, "does not end"},
        {TEXT("[\"a\", \"b]"), 1, 7, "does not end"},
        {TEXT("\"a\\\""), 1, 1, "does not end"},
        {TEXT("{\"a"), 1, 2, "does not end"},
        {TEXT("{\"a\":\n \"b"), 2, 2, "does not end"},
        /* escapes: the place is the backslash */
        {TEXT("\"a\\"), 1, 3, "escape"},
        {TEXT("\"\\x41\""), 1, 2, "escape"},
        {TEXT("\"ab\\'\""), 1, 4, "escape"},
        {TEXT("\"\\U0041\""), 1, 2, "escape"},
        {TEXT("\"\\\0\""), 1, 2, "escape"},
        {TEXT("\"\\\n\""), 1, 2, "escape"},
        {TEXT("{\"\\q\":1}"), 1, 3, "escape"},
        {TEXT("\"\\u"), 1, 2, "four hexadecimal"},
        {TEXT("\"\\u\""), 1, 2, "four hexadecimal"},
        {TEXT("\"\\u12\""), 1, 2, "four hexadecimal"},
        {TEXT("\"\\u123"), 1, 2, "four hexadecimal"},
        {TEXT("\"\\u12G4\""), 1, 2, "four hexadecimal"},
        {TEXT("\"\\u +12\""), 1, 2, "four hexadecimal"},
        {TEXT("\"\\u-123\""), 1, 2, "four hexadecimal"},
        {TEXT("\"\\u0x1F\""), 1, 2, "four hexadecimal"},
        {TEXT("\"\\u0000\""), 1, 2, "\\u0000"},
        {TEXT("\"ab\\u0000c\""), 1, 4, "\\u0000"},
        {TEXT("{\"\\u0000\":1}"), 1, 3, "\\u0000"},
        /* surrogates come in pairs, the high one first */
        {TEXT("\"\\uD800\""), 1, 2, "high surrogate"},
        {TEXT("\"\\uDBFF"), 1, 2, "high surrogate"},
        {TEXT("\"\\uD800xxxxxx\""), 1, 2, "high surrogate"},
        {TEXT("\"\\uD800\\n\""), 1, 2, "high surrogate"},
        {TEXT("\"\\uD800\\n1234\""), 1, 2, "high surrogate"},
        {TEXT("\"\\uD800\\u0041\""), 1, 2, "high surrogate"},
        {TEXT("\"\\uD800\\uD800\""), 1, 2, "high surrogate"},
        {TEXT("\"\\uD800\\uE000\""), 1, 2, "high surrogate"},
        {TEXT("\"\\ud83d\\ude0\""), 1, 2, "high surrogate"},
        {TEXT("\"\\uDC00\""), 1, 2, "low surrogate"},
        {TEXT("\"\\uDFFF\\uD800\""), 1, 2, "low surrogate"},
        /* six characters each: the third escape begins at 14 */
        {TEXT("\"\\uD83D\\uDE00\\uDE00\""), 1, 14, "low surrogate"},
        /* control characters */
        {TEXT("\"a\nb\""), 1, 3, "control character"},
        {TEXT("\"\t\""), 1, 2, "control character"},
        {TEXT("\"\x01\""), 1, 2, "control character"},
        {TEXT("\"\x1F\""), 1, 2, "control character"},
        {TEXT("{\"a\rb\":1}"), 1, 4, "control character"},
    };
    expect_all_invalid(cases, COUNT(cases));
}

static void test_wrong_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
    } cases[] = {
        {"\x80"},
        {"\xBF"}, /* continuation without a beginning */
        {"\xC0\x80"},
        {"\xC0\xAF"},
        {"\xC1\xBF"}, /* overlong: two bytes for one */
        {"\xE0\x80\x80"},
        {"\xE0\x9F\xBF"}, /* three for two */
        {"\xF0\x80\x80\x80"},
        {"\xF0\x8F\xBF\xBF"}, /* four for three */
        {"\xED\xA0\x80"},
        {"\xED\xBF\xBF"}, /* surrogates U+D800 and U+DFFF */
        {"\xF4\x90\x80\x80"},
        {"\xF5\x80\x80\x80"}, /* above U+10FFFF */
        {"\xF8\x88\x80\x80\x80"},
        {"\xFC\x84\x80\x80\x80\x80"},
        {"\xFE"},
        {"\xFF"},
        {"\xC2"},
        {"\xE2\x82"},
        {"\xF0\x9F\x98"}, /* too short */
        {"\xC2"
         "A"},
        {"\xE2"
         "A\x80"},
        {"\xE2\x82"
         "A"},
        {"\xF0"
         "A\x80\x80"},
        {"\xF0\x9F"
         "A\x80"},
        {"\xF0\x9F\x98"
         "A"},
        {"\xC2\xC2"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[32];
        snprintf(text, sizeof text, "\"%s\"", cases[i].bytes);
        expect_invalid(text, strlen(text), 1, 2, "UTF-8");
        expect_invalid(text, strlen(text) - 1, 1, 2, "UTF-8"); /* and where the text ends there */
        snprintf(text, sizeof text, "[\"ok\",\n {\"%s\":1}]", cases[i].bytes);
        expect_invalid(text, strlen(text), 2, 4, "UTF-8");
    }
}

static void test_strings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *value;
    } cases[] = {
        {"\"\"", ""},
        {"\"abc\"", "abc"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\"", "A\xC3\xA9\xE2\x82\xAC"},
        {"\"\\u0001\"", "\x01"},
        {"\"\\uD83D\\uDE00\"", "\xF0\x9F\x98\x80"},
        {"\"\\uD800\\uDC00\"", "\xF0\x90\x80\x80"},         /* U+10000, the first pair */
        {"\"\\uDBFF\\uDFFF\"", "\xF4\x8F\xBF\xBF"},         /* U+10FFFF, the last */
        {"\"\\uD7FF\\uE000\"", "\xED\x9F\xBF\xEE\x80\x80"}, /* the neighbours of surrogates */
        {"\"\x7F\"", "\x7F"},
        /* the first and the last of each length */
        {"\"\xC2\x80\xDF\xBF\"", "\xC2\x80\xDF\xBF"},
        {"\"\xE0\xA0\x80\xEF\xBF\xBF\"", "\xE0\xA0\x80\xEF\xBF\xBF"},
        {"\"\xED\x9F\xBF\xEE\x80\x80\"", "\xED\x9F\xBF\xEE\x80\x80"},
        {"\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_json *const json = parse(cases[i].text);
        assert_string_equal(roof_json_string(roof_json_root(json)), cases[i].value);
        roof_json_free(json);
    }
}

static void test_duplicate_keys(void **state)
{
    (void)state;
    /* The place is the value of the second of them. */
    static const struct invalid cases[] = {
        {TEXT("{\"a\":1,\"a\":2}"), 1, 12, "'a'"},
        {TEXT("{\"\":1,\"\":2}"), 1, 10, "''"},
        {TEXT("{\"a\":1,\"b\":0,\"a\":2,\"a\":3}"), 1, 18, "'a'"},
        {TEXT("[{\"a\":1},{\"b\":{\"c\":1,\"c\":2}}]"), 1, 26, "'c'"},
        {TEXT("{\"x\":{\"y\":[1,2]},\"x\":{}}"), 1, 22, "'x'"},
        {TEXT("{\"a\":1,\"\\u0061\":2}"), 1, 17, "'a'"}, /* the same when read */
        {TEXT("{\"a\":[{\"k\":\n1,\n\"k\":\n2}]}"), 4, 1, "'k'"},
        {TEXT("{\"b\":1,\"a\":2,\"c\":3,\"b\":null}"), 1, 24, "'b'"},
    };
    expect_all_invalid(cases, COUNT(cases));
    static const char *const fine[] = {"{\"a\":1,\"A\":2}", "{\"a\":1,\"ab\":2,\"\":3}",
                                       "{\"a\":{\"a\":{\"a\":1}}}", "[{\"a\":1},{\"a\":1}]",
                                       "{\"a\":\"a\",\"b\":\"a\"}"};
    for (size_t i = 0; i < COUNT(fine); i++) {
        roof_json_free(parse(fine[i]));
    }
}

/* {"k00000":0,\n"k00001":1,\n ... } with last as its last key. */
static struct roof_text large_object(int keys, int last)
{
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_put(&text, "{");
    for (int i = 0; i < keys; i++) {
        roof_text_printf(&text, "\"k%05d\":%d,\n", i, i);
    }
    roof_text_printf(&text, "\"k%05d\":-1}", last);
    assert_false(text.failed);
    return text;
}

static void test_large_objects_are_fast(void **state)
{
    (void)state;
    enum { KEYS = 50000 };
    const clock_t start = clock();
    struct roof_error error = {0};
    struct roof_json *json = NULL;
    struct roof_text text = large_object(KEYS, KEYS);
    assert_int_equal(roof_json_parse(&json, text.data, text.length, "t.json", &error), ROOF_OK);
    size_t members = 0;
    for (const roof_json_value *item = roof_json_first(roof_json_root(json)); item != NULL;
         item = roof_json_next(item)) {
        members++;
    }
    assert_int_equal(members, KEYS + 1);
    roof_json_free(json);
    roof_text_free(&text);
    /* One key per line, from line 1 on: the last stands on line 50001, after "k00017": */
    text = large_object(KEYS, 17);
    expect_invalid(text.data, text.length, KEYS + 1, 10, "'k00017'");
    roof_text_free(&text);
    text = large_object(KEYS, KEYS - 1);
    expect_invalid(text.data, text.length, KEYS + 1, 10, "'k49999'");
    roof_text_free(&text);
    /* Comparing every two of them would take 4e9 comparisons. */
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
}

/* count times open, then middle, then count times close. */
static struct roof_text nested(int count, const char *open, const char *middle, const char *close)
{
    struct roof_text text = ROOF_TEXT_INIT;
    for (int i = 0; i < count; i++) {
        roof_text_put(&text, open);
    }
    roof_text_put(&text, middle);
    for (int i = 0; i < count; i++) {
        roof_text_put(&text, close);
    }
    assert_false(text.failed);
    return text;
}

static void test_depth(void **state)
{
    (void)state;
    assert_int_equal(ROOF_JSON_DEPTH_MAX, 64);
    struct roof_text text = nested(64, "[", "", "]");
    roof_json_free(parse(text.data));
    roof_text_free(&text);
    text = nested(64, "{\"a\":", "1", "}");
    roof_json_free(parse(text.data));
    roof_text_free(&text);
    /* the place is the bracket that is too much: number 65 */
    text = nested(65, "[", "", "]");
    expect_invalid(text.data, text.length, 1, 65, "64");
    roof_text_free(&text);
    text = nested(65, "{\"a\":", "1", "}"); /* five characters per level before it */
    expect_invalid(text.data, text.length, 1, 64 * 5 + 1, "64");
    roof_text_free(&text);
    text = nested(64, "[", "{}", "]");
    expect_invalid(text.data, text.length, 1, 65, "64");
    roof_text_free(&text);
    text = nested(1000000, "[", "", ""); /* no recursion that deep */
    expect_invalid(text.data, text.length, 1, 65, "64");
    roof_text_free(&text);
    /* siblings do not add up: 100 times 63 levels in one array */
    struct roof_text wide = ROOF_TEXT_INIT;
    text = nested(63, "[", "", "]");
    roof_text_put(&wide, "[[]");
    for (int i = 0; i < 100; i++) {
        roof_text_printf(&wide, ",%s,{\"a\":{}}", text.data);
    }
    roof_text_put(&wide, "]");
    roof_json_free(parse(wide.data));
    roof_text_free(&wide);
    roof_text_free(&text);
}

static void test_length_counts(void **state)
{
    (void)state;
    struct roof_json *json = NULL;
    double value = 0;
    assert_int_equal(roof_json_parse(&json, "12345", 2, "t.json", NULL), ROOF_OK);
    assert_true(roof_json_number(&value, roof_json_root(json)));
    assert_true(value == 12);
    roof_json_free(json);
    json = NULL;
    assert_int_equal(roof_json_parse(&json, "[1]", 2, "t.json", NULL), ROOF_INVALID);
    assert_null(json);
}

static void test_values_by_kind(void **state)
{
    (void)state;
    struct roof_json *const json =
        parse("{\"object\": {\"x\": 1}, \"array\": [1, 2], \"string\": \"s\", \"number\": 3,"
              " \"true\": true, \"false\": false, \"null\": null, \"empty\": {}, \"none\": []}");
    static const struct {
        const char *key;
        bool object;
        bool array;
        bool string;
        bool number;
        size_t children;
    } cases[] = {
        {"object", true, false, false, false, 1}, {"array", false, true, false, false, 2},
        {"string", false, false, true, false, 0}, {"number", false, false, false, true, 0},
        {"true", false, false, false, false, 0},  {"false", false, false, false, false, 0},
        {"null", false, false, false, false, 0},  {"empty", true, false, false, false, 0},
        {"none", false, true, false, false, 0},   {"absent", false, false, false, false, 0},
    };
    const roof_json_value *const root = roof_json_root(json);
    assert_string_equal(roof_json_source(json), "t.json");
    const roof_json_value *member = roof_json_first(root);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const roof_json_value *const value = roof_json_get(root, cases[i].key);
        double number = 42;
        assert_int_equal(roof_json_is_object(value), cases[i].object);
        assert_int_equal(roof_json_is_array(value), cases[i].array);
        assert_int_equal(roof_json_string(value) != NULL, cases[i].string);
        assert_int_equal(roof_json_number(&number, value), cases[i].number);
        assert_true(number == (cases[i].number ? 3 : 42));
        size_t children = 0;
        for (const roof_json_value *child = roof_json_first(value); child != NULL;
             child = roof_json_next(child)) {
            children++;
        }
        assert_int_equal(children, cases[i].children);
        /* in the order written; the last row is a key that is not there, and so NULL */
        assert_ptr_equal(member, value);
        if (member != NULL) {
            assert_string_equal(roof_json_key(member), cases[i].key);
            member = roof_json_next(member);
        }
    }
    assert_null(roof_json_get(root, "Object")); /* exact names */
    assert_null(roof_json_get(root, ""));
    assert_null(roof_json_get(root, "x"));
    assert_null(roof_json_get(roof_json_get(root, "array"), "x"));
    assert_null(roof_json_get(roof_json_get(root, "string"), "x"));
    assert_null(roof_json_get(NULL, "x"));
    roof_json_free(json);
    roof_json_free(NULL);
}

/* Every number of the tree says where it stands: line * 1000 + column. Returns how many there are.
 */
static int check_places(const struct roof_json *json, const roof_json_value *value)
{
    double number = 0;
    int found = 0;
    if (roof_json_number(&number, value)) {
        struct roof_error error = {0};
        assert_int_equal(roof_json_error(json, value, &error, "is %d", (int)number), ROOF_INVALID);
        assert_int_equal(error.line * 1000 + error.column, (int)number);
        assert_int_equal(error.status, ROOF_INVALID);
        assert_string_equal(error.source, "t.json");
        found = 1;
    }
    for (const roof_json_value *child = roof_json_first(value); child != NULL;
         child = roof_json_next(child)) {
        found += check_places(json, child);
    }
    return found;
}

static void test_places_of_values(void **state)
{
    (void)state;
    static const char text[] = "\n"
                               "{\"a\": 2007, \"b\":2017,\n"
                               "\t\"[{,:\\\"]}\": [3015 , [[ 3025]],\n"
                               "4001, {\"c\": [], \"d\": {}, \"e\" : \n"
                               " 5002}, \"]}\\\\\", true, 5023, null, \"1\", 5040],\r\n"
                               "  \"\xE2\x82\xAC\": [[[[{\"x\": {\"y\": [[6028]]}},6037 ]]]],\n"
                               "  \"\\u20AC \\uD83D\\uDE00\": 7026\n"
                               "\n"
                               ", \"end\"\n"
                               ":\n"
                               "11001}\n";
    struct roof_json *const json = parse(text);
    assert_int_equal(check_places(json, roof_json_root(json)), 12);
    /* and values that are no numbers */
    const roof_json_value *const root = roof_json_root(json);
    struct roof_error error = {0};
    roof_json_error(json, root, &error, "%s", "root");
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 1);
    assert_string_equal(error.message, "root");
    const roof_json_value *const list = roof_json_get(root, "[{,:\"]}");
    roof_json_error(json, list, &error, "list");
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 14);
    const roof_json_value *item = roof_json_first(list); /* 3015, [[3025]], 4001, {...}, "]}\\" */
    for (int i = 0; i < 4; i++) {
        item = roof_json_next(item);
    }
    assert_string_equal(roof_json_string(item), "]}\\");
    roof_json_error(json, item, &error, "string");
    assert_int_equal(error.line, 5);
    assert_int_equal(error.column, 9);
    assert_int_equal(roof_json_error(json, root, NULL, "nobody looks"), ROOF_INVALID);
    roof_json_free(json);
}

static void test_places_in_deep_nesting(void **state)
{
    (void)state;
    /* 63 levels, on each a number before and behind the next level, each on a line of its own */
    struct roof_text text = ROOF_TEXT_INIT;
    enum { LEVELS = 63 };
    int line = 1;
    for (int i = 0; i < LEVELS; i++) {
        line++;
        roof_text_printf(&text, i % 2 == 0 ? "[\n%*s%d, " : "{\"p\":\n%*s%d, \"q\": ", i, "",
                         line * 1000 + i + 1);
    }
    roof_text_put(&text, "\"]}\"");
    for (int i = LEVELS; i-- > 0;) {
        line++;
        roof_text_printf(&text, i % 2 == 0 ? ",\n%*s%d]" : ", \"r\":\n%*s%d}", i, "",
                         line * 1000 + i + 1);
    }
    assert_false(text.failed);
    struct roof_json *const json = parse(text.data);
    assert_int_equal(check_places(json, roof_json_root(json)), 2 * LEVELS);
    roof_json_free(json);
    roof_text_free(&text);
}

static void test_quote(void **state)
{
    (void)state;
    static const struct {
        const char *string;
        const char *quoted;
    } cases[] = {
        {"", "\"\""},
        {"gb10", "\"gb10\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\n", "\"\\u000a\""},
        {"\x01\x1f", "\"\\u0001\\u001f\""},
        {"/\x7f", "\"/\x7f\""},
        {"\xC2\xB5s", "\"\xC2\xB5s\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        roof_json_quote(&text, cases[i].string);
        assert_string_equal(text.data, cases[i].quoted);
        roof_text_free(&text);
    }
}

static void test_quoted_text_reads_back(void **state)
{
    (void)state;
    char all[128 + 8]; /* every byte but NUL that is a character, then one of each length */
    for (int c = 1; c < 128; c++) {
        all[c - 1] = (char)c;
    }
    memcpy(all + 127, "\xDF\xBF\xE2\x82\xAC", 6);
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_put(&text, "{");
    roof_json_quote(&text, all);
    roof_text_put(&text, ":");
    roof_json_quote(&text, all);
    roof_text_put(&text, "}");
    struct roof_json *const json = parse(text.data);
    const roof_json_value *const value = roof_json_get(roof_json_root(json), all);
    assert_non_null(value);
    assert_string_equal(roof_json_string(value), all);
    assert_string_equal(roof_json_key(value), all);
    roof_json_free(json);
    roof_text_free(&text);
}

/* --- files --------------------------------------------------------------------------------- */

static void test_read_a_file(void **state)
{
    char path[PATH_SIZE];
    path_in(path, state, "good.json");
    write_text(path, "{\n \"a\": [1.5]\n}\n");
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    const enum roof_status status = roof_json_read(&json, path, &error);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(status, ROOF_OK);
    assert_string_equal(roof_json_source(json), path);
    const roof_json_value *const list = roof_json_get(roof_json_root(json), "a");
    double value = 0;
    assert_true(roof_json_number(&value, roof_json_first(list)));
    assert_true(value == 1.5);
    roof_json_error(json, roof_json_first(list), &error, "here");
    assert_string_equal(error.source, path);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 8);
    roof_json_free(json);
}

static void test_read_an_invalid_file(void **state)
{
    static const struct {
        const char *text;
        int line;
        int column;
    } cases[] = {{"", 1, 1}, {"\n", 2, 1}, {"{\n \"a\": 01\n}\n", 2, 7}, {"[1]\n[2]\n", 2, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[PATH_SIZE];
        path_in(path, state, "bad.json");
        write_text(path, cases[i].text);
        struct roof_json *json = (struct roof_json *)(void *)path;
        struct roof_error error = {0};
        const enum roof_status status = roof_json_read(&json, path, &error);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(status, ROOF_INVALID);
        assert_null(json);
        assert_string_equal(error.source, path);
        assert_int_equal(error.line, cases[i].line);
        assert_int_equal(error.column, cases[i].column);
    }
}

static void expect_unreadable(const char *path, const char *reason)
{
    struct roof_json *json = (struct roof_json *)(void *)&json;
    struct roof_error error = {0};
    assert_int_equal(roof_json_read(&json, path, &error), ROOF_IO);
    assert_null(json);
    assert_int_equal(error.status, ROOF_IO);
    assert_string_equal(error.source, path);
    assert_int_equal(error.line, 0);
    assert_non_null(strstr(error.message, reason));
}

static void test_read_what_is_no_file(void **state)
{
    const char *const folder = *state;
    char path[PATH_SIZE];
    expect_unreadable(path_in(path, state, "missing.json"), "cannot open");
    expect_unreadable(path_in(path, state, "no/such/folder.json"), "cannot open");
    expect_unreadable("", "cannot open");
    expect_unreadable(folder, "not a regular file");
    expect_unreadable("/dev/null", "not a regular file");
    /* The reader must not wait for a pipe without a writer; the alarm ends this program if it does.
     */
    path_in(path, state, "pipe.json");
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(60);
    expect_unreadable(path, "not a regular file");
    alarm(0);
    assert_int_equal(unlink(path), 0);
}

static void test_read_a_large_file(void **state)
{
    assert_int_equal(ROOF_JSON_SIZE_MAX, 16 * 1024 * 1024);
    char path[PATH_SIZE];
    path_in(path, state, "large.json");
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_put(&text, "7");
    roof_text_fill(&text, ' ', ROOF_JSON_SIZE_MAX - 1);
    assert_false(text.failed);
    write_text(path, text.data);
    roof_text_free(&text);
    /* as many bytes as are allowed */
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    const enum roof_status most = roof_json_read(&json, path, &error);
    double value = 0;
    const bool number = most == ROOF_OK && roof_json_number(&value, roof_json_root(json));
    roof_json_free(json);
    /* one more, and a hole of 1 TiB: refused by the size, nothing is read */
    json = NULL;
    const int more = truncate(path, (off_t)ROOF_JSON_SIZE_MAX + 1);
    const enum roof_status one = roof_json_read(&json, path, &error);
    const bool has_size = strstr(error.message, "16777217") != NULL;
    const bool has_limit = strstr(error.message, "16777216") != NULL;
    const int hole = truncate(path, (off_t)1 << 40);
    const enum roof_status huge = hole == 0 ? roof_json_read(&json, path, &error) : ROOF_INVALID;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(most, ROOF_OK);
    assert_true(number);
    assert_true(value == 7);
    assert_int_equal(more, 0);
    assert_int_equal(one, ROOF_INVALID);
    assert_int_equal(huge, ROOF_INVALID);
    assert_null(json);
    assert_string_equal(error.source, path);
    assert_true(has_size); /* the message says how large it is and may be */
    assert_true(has_limit);
}

static void test_embedded_files(void **state)
{
    (void)state;
    assert_true(roof_data_file_count > 1);
    for (size_t i = 0; i < roof_data_file_count; i++) {
        const struct roof_data_file *const file = &roof_data_files[i];
        assert_int_equal(strlen(file->text), file->length);
        assert_true(i == 0 || strcmp(roof_data_files[i - 1].path, file->path) < 0);
        struct roof_json *json = NULL;
        struct roof_error error = {0};
        if (strncmp(file->path, "kernels/", 8) == 0) { /* PTX */
            continue;
        }
        if (roof_data_json(&json, file->path, &error) != ROOF_OK) {
            fail_msg("%s:%d:%d: %s", file->path, error.line, error.column, error.message);
        }
        assert_string_equal(roof_json_source(json), file->path);
        assert_true(roof_json_is_object(roof_json_root(json)));
        roof_json_free(json);
    }
    struct roof_json *json = (struct roof_json *)(void *)&json;
    struct roof_error error = {0};
    assert_int_equal(roof_data_json(&json, "absent.json", &error), ROOF_INVALID);
    assert_null(json);
    assert_non_null(strstr(error.message, "absent.json"));
}

/* --- locales ------------------------------------------------------------------------------- */

static void check_in_locale(const char *name)
{
    if (setlocale(LC_NUMERIC, name) == NULL) {
        print_message("skipped: the locale %s is not installed\n", name);
        return;
    }
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    const enum roof_status status =
        roof_json_parse(&json, TEXT("[1.5, -12.25e1, 1e3]"), "t.json", &error);
    struct roof_json *comma = NULL;
    const enum roof_status refused = roof_json_parse(&comma, TEXT("1,5"), "t.json", NULL);
    setlocale(LC_NUMERIC, "C"); /* before anything can fail */
    assert_int_equal(status, ROOF_OK);
    assert_int_equal(refused, ROOF_INVALID);
    static const double expected[] = {1.5, -122.5, 1000};
    const roof_json_value *item = roof_json_first(roof_json_root(json));
    for (size_t i = 0; i < COUNT(expected); i++) {
        double value = 0;
        assert_true(roof_json_number(&value, item));
        assert_true(value == expected[i]);
        item = roof_json_next(item);
    }
    roof_json_free(json);
}

static void test_locale_with_a_comma(void **state)
{
    (void)state;
    check_in_locale("de_DE.UTF-8");
}

static void test_locale_with_a_point_of_two_bytes(void **state)
{
    (void)state;
    check_in_locale("ps_AF.UTF-8"); /* U+066B */
}

/* The members of an object as "key(length)value;", or the place and text of what is wrong. */
static void check_members(const char *text, const char *expected)
{
    struct roof_json_member member[4];
    struct roof_error error = {0};
    struct roof_text seen = ROOF_TEXT_INIT;
    size_t count = 0;
    roof_text_put(&seen, "");
    if (roof_json_members(member, &count, 4, text, strlen(text), "lines", 7, &error) != ROOF_OK) {
        assert_int_equal(error.status, ROOF_INVALID);
        assert_string_equal(error.source, "lines");
        roof_text_printf(&seen, "%d:%d %s", error.line, error.column, error.message);
    }
    for (size_t i = 0; i < count && error.status == ROOF_OK; i++) {
        roof_text_printf(&seen, "%.*s=%.*s;", (int)member[i].key_length, text + member[i].key,
                         (int)member[i].length, text + member[i].value);
    }
    assert_string_equal(seen.data, expected);
    roof_text_free(&seen);
}

static void test_members(void **unused)
{
    (void)unused;
    check_members("{}", "");
    check_members(" { } ", "");
    check_members("{\"a\":1,\"b\" : \"x\" , \"\":null}", "a=1;b=\"x\";=null;");
    check_members("{\"a\":{\"b\":[1,{\"c\":2}]},\"d\": [ ] }", "a={\"b\":[1,{\"c\":2}]};d=[ ];");
    check_members("{\"\\u0061\\\"\":\"\\n\"}", "\\u0061\\\"=\"\\n\";");
    check_members("{\"a\":1,\"a\":-2.50e+3}", "a=1;a=-2.50e+3;"); /* the caller looks */
    check_members("{\"a\":1,\"b\":2,\"c\":3,\"d\":4}", "a=1;b=2;c=3;d=4;");
    check_members("{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5}",
                  "7:26 the object has too many members");
    check_members("[1]", "7:1 expected an object");
    check_members("", "7:1 expected an object");
    check_members("{\"a\":1} 2", "7:9 unexpected text after the value");
    check_members("{\"a\":01}", "7:6 a number may not begin with 0");
    check_members("{\"a\":}", "7:6 expected a JSON value");
    check_members("{\"a\"", "7:5 expected ':' after the key");
    check_members("{\"a\":1,}", "7:8 expected a key in double quotes");
}

/* A cell of a file is a number where JSON has it, as it stands, and else a string. */
static void test_cells(void **unused)
{
    (void)unused;
    static const struct {
        const char *cell;
        const char *json;
    } cases[] = {{"", "\"\""},           {"12", "12"},
                 {"-1.50e3", "-1.50e3"}, {"123456789012345678901", "123456789012345678901"},
                 {"007", "\"007\""},     {"+1", "\"+1\""},
                 {" 1", "\" 1\""},       {"1 ", "\"1 \""},
                 {"1.", "\"1.\""},       {"-", "\"-\""},
                 {"nan", "\"nan\""},     {"true", "\"true\""},
                 {"a\"b", "\"a\\\"b\""}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_text out = ROOF_TEXT_INIT;
        roof_json_cell(&out, cases[i].cell);
        assert_string_equal(out.data, cases[i].json);
        roof_text_free(&out);
    }
}

/* The text of a value, and where it stands. */
static void expect_span(const struct roof_json *json, const char *key, const char *text, int line,
                        int column)
{
    size_t length = 0;
    int at_line = 0;
    int at_column = 0;
    const roof_json_value *const node = roof_json_get(roof_json_root(json), key);
    const char *const span = roof_json_span(json, node, &length);
    roof_json_place(json, node, &at_line, &at_column);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(span, text, length);
    assert_int_equal(at_line, line);
    assert_int_equal(at_column, column);
}

static void expect_spans(const struct roof_json *json, const char *text)
{
    size_t length = 0;
    expect_span(json, "a", "1.50e2", 1, 9);
    expect_span(json, "b", "\"x\\\"y\"", 1, 22);
    expect_span(json, "c", "[1, {\"d\": 2} ]", 2, 5);
    expect_span(json, "e", "{ }", 2, 25);
    expect_span(json, "f", "null", 2, 33);
    assert_string_equal(roof_json_text(json, &length), text);
    assert_int_equal(length, strlen(text));
}

static void test_spans(void **state)
{
    (void)state;
    static const char text[] = " {\"a\" : 1.50e2 , \"b\":\"x\\\"y\" ,\n\"c\":[1, {\"d\": 2} ] ,"
                               "\"e\":{ },\"f\":null }\n";
    struct roof_json *const json = parse(text);
    for (int indexed = 0; indexed < 2; indexed++) { /* with an index, the same */
        expect_spans(json, text);
        if (indexed == 0) {
            assert_int_equal(roof_json_index(json, NULL), ROOF_OK);
        }
    }
    roof_json_free(json);
}
/* The document comes through a pipe in several writes. */
static void test_read_a_stream(void **state)
{
    (void)state;
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    char name[64];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "{\"a\":", 5), 5);
    assert_int_equal(write(ends[1], " 1}", 3), 3);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    if (roof_json_read_stream(&json, name, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(roof_json_count(roof_json_root(json)), 1);
    assert_string_equal(roof_json_source(json), name);
    roof_json_free(json);
    close(ends[0]);
    assert_int_equal(roof_json_read_stream(&json, "/nowhere/at/all", &error), ROOF_IO);
    assert_null(json);
    assert_int_equal(roof_json_read_stream(&json, "/dev/null", &error), ROOF_INVALID);
    assert_int_equal(roof_json_read_stream(&json, "/dev/zero", &error), ROOF_INVALID);
    assert_non_null(strstr(error.message, "longer than the limit"));
}

/* Python writes NaN and infinities; where they are taken they are null, and places stay right. */
static void test_python(void **state)
{
    (void)state;
    static const char text[] =
        "{\"NaN\": NaN, \"a\": [Infinity,\n -Infinity, 3], \"b\": \"NaN \\\" "
        "Infinity\", \"n\\\"\": null, \"c\": [false, -1, null, NaN, true, null]}";
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    assert_int_equal(roof_json_parse(&json, TEXT(text), "t.json", &error), ROOF_INVALID);
    assert_int_equal(error.column, 9);
    assert_int_equal(roof_json_parse_python(&json, TEXT(text), "t.json", &error), ROOF_OK);
    const roof_json_value *const root = roof_json_root(json);
    const roof_json_value *const first = roof_json_first(roof_json_get(root, "a"));
    const roof_json_value *const second = roof_json_next(first);
    assert_true(roof_json_is_null(roof_json_get(root, "NaN")));
    assert_true(roof_json_is_null(first) && roof_json_is_null(second));
    assert_string_equal(roof_json_string(roof_json_get(root, "b")), "NaN \" Infinity");
    assert_true(roof_json_is_python_word(roof_json_get(root, "NaN")));
    assert_true(roof_json_is_python_word(first) && roof_json_is_python_word(second));
    assert_false(roof_json_is_python_word(roof_json_next(second)));
    assert_false(roof_json_is_python_word(roof_json_get(root, "n\"")));
    char marks[8] = "";
    for (const roof_json_value *item = roof_json_first(roof_json_get(root, "c")); item != NULL;
         item = roof_json_next(item)) {
        (void)strcat(marks, roof_json_is_python_word(item) ? "1" : "0");
    }
    assert_string_equal(marks, "000100");
    assert_int_equal(roof_json_error(json, roof_json_next(second), &error, "three"), ROOF_INVALID);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 13);
    roof_json_free(json);
    static const char *const wrong[] = {"NaNs",      "-NaN",      "infinity",
                                        "+Infinity", "[Infinit]", "Inf"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(
            roof_json_parse_python(&json, wrong[i], strlen(wrong[i]), "t.json", &error),
            ROOF_INVALID);
        assert_null(json);
    }
}

/* --- threads ------------------------------------------------------------------------------- */

/* Threads that cJSON allocates in, now and at most. */
static atomic_int inside;
static atomic_int most;

static void *slow_malloc(size_t size)
{
    static const struct timespec millisecond = {.tv_nsec = 1000000};
    const int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > atomic_load(&most)) {
        atomic_store(&most, now);
    }
    (void)nanosleep(&millisecond, NULL);
    void *const memory = malloc(size);
    atomic_fetch_sub(&inside, 1);
    return memory;
}

static enum roof_status parse_part(void *context, size_t number, struct roof_error *error)
{
    static const char text[] = "{\"a\": [1, 2]}";
    struct roof_json *json = NULL;
    (void)context;
    (void)number;
    TRY(roof_json_parse(&json, text, strlen(text), "t.json", error));
    roof_json_free(json);
    return ROOF_OK;
}

/* Each parse of cJSON writes to a variable of the whole process, so only one may be under way. */
static void test_threads_parse_in_turn(void **state)
{
    struct roof_error error = {0};
    (void)state;
    cJSON_InitHooks(&(cJSON_Hooks){slow_malloc, free});
    const enum roof_status status = roof_crew_run(8, 4, parse_part, NULL, &error);
    cJSON_InitHooks(NULL);
    assert_int_equal(status, ROOF_OK);
    assert_int_equal(atomic_load(&most), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_parse_in_turn),
        cmocka_unit_test(test_python),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_read_a_stream),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_wrong_numbers),
        cmocka_unit_test(test_wrong_structure),
        cmocka_unit_test(test_wrong_strings),
        cmocka_unit_test(test_wrong_utf8),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_duplicate_keys),
        cmocka_unit_test(test_large_objects_are_fast),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_length_counts),
        cmocka_unit_test(test_values_by_kind),
        cmocka_unit_test(test_places_of_values),
        cmocka_unit_test(test_places_in_deep_nesting),
        cmocka_unit_test(test_quote),
        cmocka_unit_test(test_quoted_text_reads_back),
        cmocka_unit_test_setup_teardown(test_read_a_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_read_an_invalid_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_read_what_is_no_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_read_a_large_file, make_folder, remove_folder),
        cmocka_unit_test(test_embedded_files),
        cmocka_unit_test(test_locale_with_a_comma),
        cmocka_unit_test(test_locale_with_a_point_of_two_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
