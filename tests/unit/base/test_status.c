// SPDX-License-Identifier: MIT
#include <stdio.h>

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
        {"\xC2\xA0\xC3\x9B\xC2", "\xC2\xA0\xC3\x9B?"},
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
    for (size_t i = 99; i < sizeof text - 1; i += 100) {
        text[i] = ' ';
    }
    struct roof_error error;
    roof_error_at(&error, ROOF_INVALID, text, 1, 1, "%s", text);
    assert_int_equal(strlen(error.message), ROOF_ERROR_MESSAGE_SIZE - 1);
    assert_int_equal(strlen(error.source), ROOF_ERROR_SOURCE_SIZE - 1);
}

/* A message is valid UTF-8, even after it is cut. */
static void test_other_bytes_are_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *kept;
    } cases[] = {{"a\x80z", "a?z"},
                 {"\xc0\xafz", "??z"},
                 {"\xffz", "?z"},
                 {"\xed\xa0\x80", "???"},
                 {"z\xe2\x82", "z??"},
                 {"\xe2\x82\xac", "\xe2\x82\xac"},
                 {"\xf0\x9f\x98\x80z", "\xf0\x9f\x98\x80z"},
                 {"\xc2\x9bz", "??z"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_error error;
        roof_error_at(&error, ROOF_INVALID, cases[i].text, 1, 1, "%s", cases[i].text);
        assert_string_equal(error.message, cases[i].kept);
        assert_string_equal(error.source, cases[i].kept);
    }
}

/* A name of 200 bytes stands as it is; a longer one is cut to 120. */
static void test_long_words_are_cut(void **state)
{
    (void)state;
    struct roof_error error;
    char name[300];
    char expected[400];
    memset(name, 'n', sizeof name);
    snprintf(expected, sizeof expected, "unknown %.200s; known: a, b", name);
    roof_error_set(&error, ROOF_USAGE, "unknown %.199s; known: a, b", name);
    assert_int_equal(strlen(error.message), strlen(expected) - 1);
    roof_error_set(&error, ROOF_USAGE, "unknown %.200s; known: " ROOF_KEY("a") ", b", name);
    snprintf(expected, sizeof expected, "unknown %.120s... known: a, b", name);
    assert_string_equal(error.message, expected);
    assert_int_equal(error.key_count, 1);
    assert_int_equal(error.key[0].at, strlen(expected) - strlen("a, b"));
    /* A text in quotes is one word, blanks included. */
    for (size_t i = 9; i < sizeof name; i += 10) {
        name[i] = ' ';
    }
    roof_error_set(&error, ROOF_USAGE, "unknown '%.250s'; known: a, b", name);
    snprintf(expected, sizeof expected, "unknown '%.119s... known: a, b", name);
    assert_string_equal(error.message, expected);
    roof_error_set(&error, ROOF_USAGE, "unknown %.250s; known: a, b", name);
    assert_int_equal(strlen(error.message), strlen("unknown ") + 250 + strlen("; known: a, b"));
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

/* The keys of an error, joined by commas: "heads,kv_heads". */
static const char *keys_of(const struct roof_error *error)
{
    static char out[1024];
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < error->key_count; i++) {
        const struct roof_error_key *const key = &error->key[i];
        assert_true((size_t)key->at + key->length <= strlen(error->message));
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%.*s", i == 0 ? "" : ",",
                                 (int)key->length, error->message + key->at);
    }
    return out;
}

/* "kv_heads" as "--kv-heads". */
static void spell_option(char *out, size_t size, const char *key)
{
    (void)snprintf(out, size, "--%s", key);
    for (char *p = out; *p != '\0'; p++) {
        if (*p == '_') {
            *p = '-';
        }
    }
}

static const char *spelled(const struct roof_error *error)
{
    static char out[2 * ROOF_ERROR_MESSAGE_SIZE];
    assert_ptr_equal(roof_error_spelled(out, sizeof out, error, spell_option), out);
    return out;
}

static void test_keys_are_found_where_they_are_marked(void **state)
{
    (void)state;
    struct roof_error error;
    memset(&error, 'x', sizeof error);
    roof_error_set(&error, ROOF_USAGE,
                   ROOF_KEY("heads") " %d must be a multiple of " ROOF_KEY("%s"), 7, "kv_heads");
    assert_string_equal(error.message, "heads 7 must be a multiple of kv_heads");
    assert_string_equal(keys_of(&error), "heads,kv_heads");
    assert_int_equal(error.key[0].at, 0);
    assert_int_equal(error.key[1].at, 30);
    assert_string_equal(spelled(&error), "--heads 7 must be a multiple of --kv-heads");
    roof_error_at(&error, ROOF_INVALID, "a.json", 3, 4, "no " ROOF_KEY("top_k"));
    assert_string_equal(keys_of(&error), "top_k");
    assert_string_equal(spelled(&error), "a.json:3:4: no --top-k");
    roof_error_set(&error, ROOF_IO, "gone"); /* the keys of the error before are forgotten */
    assert_int_equal(error.key_count, 0);
    assert_string_equal(spelled(&error), "gone");
}

/* A message made elsewhere may carry its marks through "%s". */
static void test_marks_may_come_through_an_argument(void **state)
{
    (void)state;
    struct roof_error error;
    roof_error_set(&error, ROOF_USAGE, "no %s here", ROOF_KEY("batch"));
    assert_string_equal(error.message, "no batch here");
    assert_string_equal(keys_of(&error), "batch");
}

static void test_keys_beyond_the_most_are_plain_text(void **state)
{
    (void)state;
    struct roof_error error;
    roof_error_set(&error, ROOF_USAGE, "%s%s%s%s%s%s%s%s%s%s%s%s%s%s", ROOF_KEY("a"), ROOF_KEY("b"),
                   ROOF_KEY("c"), ROOF_KEY("d"), ROOF_KEY("e"), ROOF_KEY("f"), ROOF_KEY("g"),
                   ROOF_KEY("h"), ROOF_KEY("i"), ROOF_KEY("j"), ROOF_KEY("k"), ROOF_KEY("l"),
                   ROOF_KEY("m"), ROOF_KEY("n"));
    assert_int_equal(error.key_count, ROOF_ERROR_KEYS_MAX);
    assert_string_equal(error.message, "abcdefghijklmn");
    assert_string_equal(keys_of(&error), "a,b,c,d,e,f,g,h,i,j,k,l");
    roof_error_append(&error, " " ROOF_KEY("o"));
    assert_int_equal(error.key_count, ROOF_ERROR_KEYS_MAX);
    assert_string_equal(error.message, "abcdefghijklmn o");
}

/* Bytes of user text that happen to be marks are control characters like others. */
static void test_marks_in_user_text_are_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *kept;
        const char *keys;
    } cases[] = {
        {"\016", "?", ""},
        {"\017", "?", ""},
        {"a\016b", "a?b", ""},
        {"\017a\016", "?a?", ""},
        {"\016\017", "??", ""},
        {"\016two words\017", "?two words?", ""},
        {"\016\016key\017\017", "?key?", "key"},
        {"key\017" ROOF_KEY("m"), "key?m", "m"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_error error;
        roof_error_set(&error, ROOF_USAGE, "%s", cases[i].text);
        assert_string_equal(error.message, cases[i].kept);
        assert_string_equal(keys_of(&error), cases[i].keys);
        roof_error_set(&error, ROOF_USAGE, "%s and " ROOF_KEY("k"), cases[i].text);
        assert_int_equal(error.key[error.key_count - 1].at, strlen(cases[i].kept) + 5);
    }
}

static void test_cut_keys_leave_no_marks(void **state)
{
    (void)state;
    static char text[ROOF_ERROR_MESSAGE_SIZE];
    struct roof_error error;
    for (size_t room = 0; room < 12; room++) {
        const size_t length = ROOF_ERROR_MESSAGE_SIZE - 1 - room;
        memset(text, ' ', length);
        text[length] = '\0';
        roof_error_set(&error, ROOF_USAGE, "%s" ROOF_KEY("heads"), text);
        const bool whole = room >= strlen(ROOF_KEY("heads"));
        assert_int_equal(error.key_count, whole);
        assert_null(strchr(error.message, '?'));
        assert_null(strpbrk(error.message, "\016\017"));
        assert_int_equal(strncmp(error.message + length, "heads", strlen(error.message) - length),
                         0);
    }
}

static void test_prefix_moves_the_keys(void **state)
{
    (void)state;
    struct roof_error error;
    roof_error_at(&error, ROOF_USAGE, "a.csv", 5, 9, "no " ROOF_KEY("n"));
    assert_int_equal(roof_error_prefix(&error, ROOF_INVALID, "cell %d: ", 3), ROOF_INVALID);
    assert_int_equal(error.status, ROOF_INVALID);
    assert_string_equal(error.message, "cell 3: no n");
    assert_string_equal(keys_of(&error), "n");
    assert_string_equal(spelled(&error), "a.csv:5:9: cell 3: no --n"); /* the place stays */
    roof_error_prefix(&error, ROOF_INVALID, "with " ROOF_KEY("m") "\n: ");
    assert_string_equal(error.message, "with m?: cell 3: no n");
    assert_string_equal(keys_of(&error), "m,n");
    assert_int_equal(roof_error_prefix(NULL, ROOF_USAGE, "lost"), ROOF_USAGE);
    roof_no_memory(&error);
    assert_int_equal(roof_error_prefix(&error, ROOF_USAGE, "lost"), ROOF_MEMORY);
    assert_string_equal(error.message, "out of memory");
}

static void test_prefix_forgets_keys_that_it_cuts_off(void **state)
{
    (void)state;
    static char text[ROOF_ERROR_MESSAGE_SIZE];
    struct roof_error error;
    memset(text, ' ', sizeof text - 1);
    roof_error_set(&error, ROOF_USAGE, ROOF_KEY("m") " or " ROOF_KEY("kv_len"));
    text[sizeof text - 1 - strlen("m or kv")] = '\0';
    roof_error_prefix(&error, ROOF_USAGE, "%s", text);
    assert_int_equal(strlen(error.message), ROOF_ERROR_MESSAGE_SIZE - 1);
    assert_string_equal(error.message + strlen(text), "m or kv");
    assert_string_equal(keys_of(&error), "m");
    text[strlen(text)] = 'y';
    roof_error_prefix(&error, ROOF_USAGE, "%s", text); /* nothing of the message is left */
    assert_string_equal(error.message, text);
    assert_int_equal(error.key_count, 0);
}

static void test_append_adds_text_and_keys(void **state)
{
    (void)state;
    struct roof_error error;
    roof_error_at(&error, ROOF_USAGE, "a.csv", 5, 9, "no " ROOF_KEY("n"));
    roof_error_append(&error, " (at " ROOF_KEY("hardware") " %s)\x1b\016", "gb10");
    assert_string_equal(error.message, "no n (at hardware gb10)??");
    assert_string_equal(keys_of(&error), "n,hardware");
    assert_string_equal(spelled(&error), "a.csv:5:9: no --n (at --hardware gb10)??");
    assert_int_equal(error.status, ROOF_USAGE);
    roof_error_append(NULL, "lost");
    static char text[2 * ROOF_ERROR_MESSAGE_SIZE];
    memset(text, ' ', sizeof text - 1);
    roof_error_append(&error, "%s", text);
    assert_int_equal(strlen(error.message), ROOF_ERROR_MESSAGE_SIZE - 1);
    roof_error_append(&error, " " ROOF_KEY("m")); /* no room for any of it */
    assert_int_equal(strlen(error.message), ROOF_ERROR_MESSAGE_SIZE - 1);
    assert_string_equal(keys_of(&error), "n,hardware");
}

static void test_move_makes_the_old_place_part_of_the_message(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        int line;
        int column;
        const char *moved;
    } cases[] = {
        {"", 0, 0, "b.json:7: no --n"},
        {"a.csv", 0, 0, "b.json:7: a.csv: no --n"},
        {"a.csv", 5, 0, "b.json:7: a.csv:5: no --n"},
        {"a.csv", 5, 9, "b.json:7: a.csv:5:9: no --n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_error error;
        roof_error_at(&error, ROOF_USAGE, cases[i].source, cases[i].line, cases[i].column,
                      "no " ROOF_KEY("n"));
        assert_int_equal(roof_error_move(&error, ROOF_INVALID, "b.json", 7, 0), ROOF_INVALID);
        assert_int_equal(error.status, ROOF_INVALID);
        assert_string_equal(error.source, "b.json");
        assert_int_equal(error.line, 7);
        assert_string_equal(keys_of(&error), "n");
        assert_string_equal(spelled(&error), cases[i].moved);
    }
    assert_int_equal(roof_error_move(NULL, ROOF_INVALID, "b.json", 7, 0), ROOF_INVALID);
}

static void test_spelling_is_cut_to_its_size(void **state)
{
    (void)state;
    static char text[ROOF_ERROR_MESSAGE_SIZE];
    struct roof_error error;
    char line[8];
    roof_error_set(&error, ROOF_USAGE, ROOF_KEY("n") " is wrong");
    assert_string_equal(roof_error_spelled(line, sizeof line, &error, spell_option), "--n is ");
    /* Spelled keys that are longer than the message may be. */
    memset(text, ' ', sizeof text - 1);
    text[sizeof text - 1 - strlen(ROOF_KEY("n") ROOF_KEY("m"))] = '\0';
    roof_error_set(&error, ROOF_USAGE, "%s" ROOF_KEY("n") ROOF_KEY("m"), text);
    assert_int_equal(error.key_count, 2);
    const char *const all = spelled(&error);
    assert_int_equal(strlen(all), ROOF_ERROR_MESSAGE_SIZE - 1);
    assert_string_equal(all + strlen(text), "--n--m");
    roof_error_prefix(&error, ROOF_USAGE, "yyyy");
    assert_string_equal(spelled(&error) + strlen(text) + 4, "--");
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
        cmocka_unit_test(test_other_bytes_are_replaced),
        cmocka_unit_test(test_long_words_are_cut),
        cmocka_unit_test(test_line_leaves_out_what_is_unknown),
        cmocka_unit_test(test_line_without_a_column),
        cmocka_unit_test(test_line_is_cut_to_its_size),
        cmocka_unit_test(test_keys_are_found_where_they_are_marked),
        cmocka_unit_test(test_marks_may_come_through_an_argument),
        cmocka_unit_test(test_keys_beyond_the_most_are_plain_text),
        cmocka_unit_test(test_marks_in_user_text_are_replaced),
        cmocka_unit_test(test_cut_keys_leave_no_marks),
        cmocka_unit_test(test_prefix_moves_the_keys),
        cmocka_unit_test(test_prefix_forgets_keys_that_it_cuts_off),
        cmocka_unit_test(test_append_adds_text_and_keys),
        cmocka_unit_test(test_move_makes_the_old_place_part_of_the_message),
        cmocka_unit_test(test_spelling_is_cut_to_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
