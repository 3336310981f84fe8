// SPDX-License-Identifier: MIT
#include "support.h"

static void test_codes_are_pinned(void **state)
{
    (void)state;
    /* The program's exit codes are derived from these numbers. */
    static const struct {
        enum roof_status status;
        int number;
    } cases[] = {{ROOF_OK, 0},      {ROOF_UNSATISFIED, 1}, {ROOF_USAGE, 2},
                 {ROOF_INVALID, 3}, {ROOF_IO, 4},          {ROOF_MEMORY, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(cases[i].status, cases[i].number);
    }
}

static void test_every_status_has_its_own_text(void **state)
{
    (void)state;
    for (int i = ROOF_OK; i <= ROOF_MEMORY; i++) {
        const char *const text = roof_status_text((enum roof_status)i);
        assert_non_null(text);
        assert_true(strlen(text) > 0);
        assert_null(strchr(text, '\n'));
        for (int j = ROOF_OK; j < i; j++) {
            assert_string_not_equal(text, roof_status_text((enum roof_status)j));
        }
    }
    assert_string_equal(roof_status_text(ROOF_OK), "ok");
    assert_non_null(roof_status_text((enum roof_status)99)); /* never NULL */
}

static void test_set_fills_all_and_returns_the_status(void **state)
{
    (void)state;
    struct roof_error error;
    memset(&error, 'x', sizeof error);
    assert_int_equal(roof_error_set(&error, ROOF_USAGE, "%s is %d", "m", -3), ROOF_USAGE);
    assert_int_equal(error.status, ROOF_USAGE);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_string_equal(error.source, "");
    assert_string_equal(error.message, "m is -3");
}

static void test_at_fills_the_place(void **state)
{
    (void)state;
    struct roof_error error;
    memset(&error, 'x', sizeof error);
    assert_int_equal(roof_error_at(&error, ROOF_INVALID, "a.json", 12, 7, "no '%c'", '}'),
                     ROOF_INVALID);
    assert_int_equal(error.status, ROOF_INVALID);
    assert_int_equal(error.line, 12);
    assert_int_equal(error.column, 7);
    assert_string_equal(error.source, "a.json");
    assert_string_equal(error.message, "no '}'");
    /* The next error without a place leaves nothing of the old one. */
    roof_error_set(&error, ROOF_IO, "gone");
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_string_equal(error.source, "");
    assert_string_equal(error.message, "gone");
}

static void test_error_may_be_null(void **state)
{
    (void)state;
    static const enum roof_status all[] = {ROOF_OK,      ROOF_UNSATISFIED, ROOF_USAGE,
                                           ROOF_INVALID, ROOF_IO,          ROOF_MEMORY};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_int_equal(roof_error_set(NULL, all[i], "%s", "lost"), all[i]);
        assert_int_equal(roof_error_at(NULL, all[i], "a", 1, 2, "%s", "lost"), all[i]);
    }
}

static void test_message_stays_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *kept;
    } cases[] = {
        {"a\nb", "a?b"},
        {"a\r\nb\t", "a??b?"},
        {"\x1b[31mred", "?[31mred"},
        {"\x01\x1f\x7f", "???"},
        {" ~", " ~"}, /* 0x20 and 0x7e are the first and last that stay */
        {"\xC2\x80\xC2\x9B"
         "1m\xC2\x9F|",
         "????"
         "1m??|"}, /* U+009B is ESC [ */
        {"\xC2\xA0\xC3\x9B\xC2", "\xC2\xA0\xC3\x9B\xC2"},
        {"\xC2\xB5s \xE2\x82\xAC", "\xC2\xB5s \xE2\x82\xAC"}, /* UTF-8 stays */
        {"100%s%n", "100%s%n"},                               /* user text is not a format */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_error error;
        roof_error_set(&error, ROOF_USAGE, "%s", cases[i].text);
        assert_string_equal(error.message, cases[i].kept);
        roof_error_at(&error, ROOF_INVALID, cases[i].text, 1, 1, "%s", cases[i].text);
        assert_string_equal(error.message, cases[i].kept);
        assert_string_equal(error.source, cases[i].kept);
    }
}

static void test_long_text_is_cut_and_terminated(void **state)
{
    (void)state;
    static char text[3001];
    memset(text, 'y', sizeof text - 1);
    struct roof_error error;
    roof_error_at(&error, ROOF_INVALID, text, 1, 1, "%s", text);
    assert_int_equal(strlen(error.message), ROOF_ERROR_MESSAGE_SIZE - 1);
    assert_int_equal(strlen(error.source), ROOF_ERROR_SOURCE_SIZE - 1);
}

static void test_line_leaves_out_what_is_unknown(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        int line;
        int column;
        const char *written;
    } cases[] = {
        {"", 0, 0, "wrong"},
        {"a.csv", 0, 0, "a.csv: wrong"},
        {"a.csv", 5, 9, "a.csv:5:9: wrong"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_error error;
        char line[64];
        roof_error_at(&error, ROOF_INVALID, cases[i].source, cases[i].line, cases[i].column,
                      "wrong");
        assert_ptr_equal(roof_error_line(line, sizeof line, &error), line);
        assert_string_equal(line, cases[i].written);
    }
}

static void test_line_without_a_column(void **state)
{
    (void)state;
    /* "column: 0 when unknown", and parts that are unknown are left out. */
    struct roof_error error;
    char line[64];
    roof_error_at(&error, ROOF_INVALID, "a.csv", 5, 0, "wrong");
    assert_string_equal(roof_error_line(line, sizeof line, &error), "a.csv:5: wrong");
}

static void test_line_is_cut_to_its_size(void **state)
{
    (void)state;
    struct roof_error error;
    char line[16];
    roof_error_at(&error, ROOF_INVALID, "a.csv", 5, 9, "wrong");
    memset(line, 'x', sizeof line);
    assert_string_equal(roof_error_line(line, 8, &error), "a.csv:5"); /* 7 bytes and the end */
    assert_int_equal(line[8], 'x');
    assert_string_equal(roof_error_line(line, 1, &error), "");
    assert_int_equal(line[1], '.'); /* of the call before */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_are_pinned),
        cmocka_unit_test(test_every_status_has_its_own_text),
        cmocka_unit_test(test_set_fills_all_and_returns_the_status),
        cmocka_unit_test(test_at_fills_the_place),
        cmocka_unit_test(test_error_may_be_null),
        cmocka_unit_test(test_message_stays_one_line),
        cmocka_unit_test(test_long_text_is_cut_and_terminated),
        cmocka_unit_test(test_line_leaves_out_what_is_unknown),
        cmocka_unit_test(test_line_without_a_column),
        cmocka_unit_test(test_line_is_cut_to_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
