// SPDX-License-Identifier: MIT
#include "support.h"

#include <stdio.h>

static void test_starts_empty(void **state)
{
    (void)state;
    struct roof_text text = ROOF_TEXT_INIT;
    assert_null(text.data);
    assert_int_equal(text.length, 0);
    assert_false(text.failed);
    roof_text_clear(&text); /* nothing to clear */
    assert_null(text.data);
    roof_text_free(&text);
    roof_text_free(&text);
    roof_text_free(NULL);
}

static void test_adds_in_order_and_terminates(void **state)
{
    (void)state;
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_put(&text, "");
    assert_non_null(text.data); /* terminated once anything was added, be it nothing */
    assert_string_equal(text.data, "");
    roof_text_put(&text, "ab");
    roof_text_add(&text, "cde", 2);
    roof_text_fill(&text, '-', 3);
    roof_text_fill(&text, '!', 0);
    roof_text_printf(&text, "%d%%", 7);
    roof_text_number(&text, 0.1);
    assert_string_equal(text.data, "abcd---7%0.1");
    assert_int_equal(text.length, strlen("abcd---7%0.1"));
    roof_text_free(&text);
    assert_null(text.data);
    assert_int_equal(text.length, 0);
}

static void test_keeps_nul_bytes(void **state)
{
    (void)state;
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_add(&text, "a\0b", 4); /* with the terminator: two strings in a row */
    assert_int_equal(text.length, 4);
    assert_memory_equal(text.data, "a\0b\0", 5);
    roof_text_free(&text);
}

static void test_number_of_unknown_is_nothing(void **state)
{
    (void)state;
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_put(&text, "[");
    roof_text_number(&text, 0);
    roof_text_put(&text, "][");
    roof_text_number(&text, ROOF_UNKNOWN);
    roof_text_put(&text, "]");
    assert_string_equal(text.data, "[0][]");
    roof_text_free(&text);
}

static void test_printf_of_every_length(void **state)
{
    (void)state;
    /* Around the buffer on the stack (256) and around the sizes at which the text grows. */
    static const int lengths[] = {0, 1, 254, 255, 256, 257, 511, 512, 513, 100000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        roof_text_put(&text, "<");
        roof_text_printf(&text, "%*s", lengths[i], "");
        roof_text_put(&text, ">");
        assert_false(text.failed);
        assert_int_equal(text.length, (size_t)lengths[i] + 2);
        assert_int_equal(strlen(text.data), text.length);
        assert_int_equal(strspn(text.data + 1, " "), lengths[i]);
        assert_int_equal(text.data[lengths[i] + 1], '>');
        roof_text_free(&text);
    }
}

static void test_grows_byte_by_byte(void **state)
{
    (void)state;
    enum { BYTES = 100000 };
    struct roof_text text = ROOF_TEXT_INIT;
    for (int i = 0; i < BYTES; i++) {
        const char byte = (char)('a' + i % 26);
        roof_text_add(&text, &byte, 1);
        assert_int_equal(text.data[text.length], '\0');
        assert_true(text.capacity > text.length);
    }
    assert_int_equal(text.length, BYTES);
    for (int i = 0; i < BYTES; i++) {
        assert_int_equal(text.data[i], 'a' + i % 26);
    }
    roof_text_free(&text);
}

static void test_clear_keeps_the_memory(void **state)
{
    (void)state;
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_fill(&text, 'x', 5000);
    const size_t capacity = text.capacity;
    const char *const data = text.data;
    roof_text_clear(&text);
    assert_int_equal(text.length, 0);
    assert_string_equal(text.data, "");
    assert_int_equal(text.capacity, capacity);
    roof_text_fill(&text, 'y', 5000);
    assert_ptr_equal(text.data, data);
    assert_int_equal(strspn(text.data, "y"), 5000);
    roof_text_free(&text);
}

static void test_failure_is_remembered(void **state)
{
    (void)state;
    /* A size that no buffer has: refused without asking for memory, and nothing is added after. */
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_put(&text, "kept");
    roof_text_fill(&text, 'x', SIZE_MAX / 2);
    assert_true(text.failed);
    roof_text_put(&text, "lost");
    roof_text_printf(&text, "%s", "lost");
    roof_text_printf(&text, "%300s", "lost");
    roof_text_number(&text, 1);
    roof_text_fill(&text, 'x', 1);
    assert_true(text.failed);
    assert_string_equal(text.data, "kept");
    assert_int_equal(text.length, 4);
    roof_text_free(&text);
    assert_false(text.failed);

    roof_text_fill(&text, 'x', SIZE_MAX); /* length + SIZE_MAX would overflow */
    assert_true(text.failed);
    assert_null(text.data);
    roof_text_free(&text);
}

static void test_width_counts_code_points(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t width;
    } cases[] = {
        {"", 0},
        {"roof", 4},
        {"\xC2\xB5s", 2},                /* U+00B5 s */
        {"a\xE2\x82\xAC", 2},            /* U+20AC */
        {"\xF0\x9F\x98\x80!", 2},        /* U+1F600 */
        {"\xC3\xA4\xC3\xB6\xC3\xBC", 3}, /* U+00E4 U+00F6 U+00FC */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(roof_text_width(cases[i].text), cases[i].width);
    }
}

/* Text that others wrote moves no cursor and makes no markup. */
static void test_text_of_others(void **state)
{
    (void)state;
    static const struct {
        const char *given;
        const char *plain;
        const char *markdown;
    } cases[] = {
        {"", "", ""},
        {"fp8_e4m3 x", "fp8_e4m3 x", "fp8_e4m3 x"},
        {"a\nb\t", "a b ", "a b "},
        {"\x1b[1m\x7f", " [1m ", " \\[1m "},
        {"\xC2\x9B"
         "1m \xC2\xB5s",
         " 1m \xC2\xB5s", " 1m \xC2\xB5s"},
        {"a|<b>_&", "a|<b>_&", "a\\|\\<b\\>\\_\\&"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        roof_text_put(&text, "=");
        roof_text_plain(&text, cases[i].given);
        assert_string_equal(text.data + 1, cases[i].plain);
        roof_text_clear(&text);
        roof_text_put(&text, "=");
        roof_text_markdown(&text, cases[i].given);
        assert_string_equal(text.data + 1, cases[i].markdown);
        roof_text_free(&text);
    }
}

/* Folds what a text ends with, from a byte on, and compares it. */
static void assert_folds(const char *given, size_t from, size_t indent, const char *expected)
{
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_put(&text, given);
    roof_text_fold(&text, from, indent);
    assert_string_equal(text.data, expected);
    assert_int_equal(text.length, strlen(expected));
    roof_text_free(&text);
}

static void test_folds_at_blanks(void **state)
{
    (void)state;
    char page[ROOF_PAGE_WIDTH + 1];
    char given[4 * sizeof page];
    char expected[4 * sizeof page];
    memset(page, 'x', sizeof page - 1);
    page[ROOF_PAGE_WIDTH] = '\0';
    assert_folds(page, 0, 2, page);
    snprintf(given, sizeof given, "%s\n", page); /* as wide as the page */
    assert_folds(given, 0, 2, given);
    snprintf(given, sizeof given, "ab %.98s\n", page); /* one column more */
    snprintf(expected, sizeof expected, "ab\n  %.98s\n", page);
    assert_folds(given, 0, 2, expected);
    snprintf(given, sizeof given, "ab %.97s cd ef\n",
             page); /* the blank behind the page is one, too */
    snprintf(expected, sizeof expected, "ab %.97s\ncd ef\n", page);
    assert_folds(given, 0, 0, expected);
    snprintf(given, sizeof given, "title\nab %.50s %.50s %.50s end\n", page, page, page);
    snprintf(expected, sizeof expected, "title\nab %.50s\n   %.50s\n   %.50s end\n", page, page,
             page);
    assert_folds(given, strlen("title\n"), 3, expected);
    snprintf(given, sizeof given, "%.99s\xc3\xa4 b", page); /* 100 columns, 101 bytes, before b */
    snprintf(expected, sizeof expected, "%.99s\xc3\xa4\nb", page);
    assert_folds(given, 0, 0, expected);
    snprintf(given, sizeof given, "a   %sy b", page); /* no blank before the indent is of use */
    snprintf(expected, sizeof expected, "a   %sy\n    b", page);
    assert_folds(given, 0, 4, expected);
    snprintf(given, sizeof given, "a; b %.60s %.60s\n", page, page); /* at the clause */
    snprintf(expected, sizeof expected, "a;\n b %.60s\n %.60s\n", page, page);
    assert_folds(given, 0, 1, expected);
    snprintf(given, sizeof given, "a, %.86s, devices 2 b\n", page); /* before a short item */
    snprintf(expected, sizeof expected, "a, %.86s,\n devices 2 b\n", page);
    assert_folds(given, 0, 1, expected);
    snprintf(given, sizeof given, "a, b %.86s devices 2\n", page); /* not before a long one */
    snprintf(expected, sizeof expected, "a, b %.86s devices\n 2\n", page);
    assert_folds(given, 0, 1, expected);
    snprintf(given, sizeof given, "a %.93s --tp 16 b\n", page); /* not within an option */
    snprintf(expected, sizeof expected, "a %.93s\n --tp 16 b\n", page);
    assert_folds(given, 0, 1, expected);
    snprintf(given, sizeof given, "a %.92s --tp --pp 2\n", page);
    snprintf(expected, sizeof expected, "a %.92s --tp\n --pp 2\n", page);
    assert_folds(given, 0, 1, expected);
    snprintf(given, sizeof given, "a %.92s (tp 2, b\n", page); /* nor within a split */
    snprintf(expected, sizeof expected, "a %.92s\n (tp 2, b\n", page);
    assert_folds(given, 0, 1, expected);
    snprintf(given, sizeof given, "a %.93s tip 2 b\n", page);
    snprintf(expected, sizeof expected, "a %.93s tip\n 2 b\n", page);
    assert_folds(given, 0, 1, expected);
    assert_folds("", 0, 4, "");
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_put(&text, "one two three four\n"); /* to a width of its own */
    roof_text_fold_at(&text, 0, 2, 9);
    assert_string_equal(text.data, "one two\n  three\n  four\n");
    roof_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_empty),
        cmocka_unit_test(test_adds_in_order_and_terminates),
        cmocka_unit_test(test_keeps_nul_bytes),
        cmocka_unit_test(test_number_of_unknown_is_nothing),
        cmocka_unit_test(test_printf_of_every_length),
        cmocka_unit_test(test_grows_byte_by_byte),
        cmocka_unit_test(test_clear_keeps_the_memory),
        cmocka_unit_test(test_failure_is_remembered),
        cmocka_unit_test(test_width_counts_code_points),
        cmocka_unit_test(test_text_of_others),
        cmocka_unit_test(test_folds_at_blanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
