// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "base/list.h"
#include "support.h"

static void test_items_come_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        const char *item[4];
        size_t count;
    } cases[] = {
        {"a", {"a"}, 1},
        {"a,bc,d", {"a", "bc", "d"}, 3},
        {"", {""}, 1},
        {",", {"", ""}, 2},
        {"a,", {"a", ""}, 2},
        {",a", {"", "a"}, 2},
        {"a,,b", {"a", "", "b"}, 3},
        {" a b ,c", {" a b ", "c"}, 2}, /* blanks belong to items */
        {"{\"a\": [1,2], \"b\": {}},c", {"{\"a\": [1,2], \"b\": {}}", "c"}, 2},
        {"{\"}\": \"\\\",\"},c", {"{\"}\": \"\\\",\"}", "c"}, 2}, /* its strings hide braces */
        {"{a,b", {"{a,b"}, 1},
        {NULL, {NULL}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_list_item item;
        size_t count = 0;
        for (const char *rest = cases[i].list; roof_list_next(&item, &rest); count++) {
            assert_true(count < cases[i].count);
            const char *const want = cases[i].item[count];
            if (want == NULL) {
                fail();
                continue;
            }
            assert_int_equal(item.length, strlen(want));
            assert_memory_equal(item.text, want, item.length);
        }
        assert_int_equal(count, cases[i].count);
    }
}

static void test_item_is_copied_when_it_fits(void **state)
{
    (void)state;
    const struct roof_list_item item = {.text = "abc,d", .length = 3};
    char out[8];
    memset(out, 'x', sizeof out);
    assert_true(roof_list_item_copy(out, 4, &item));
    assert_string_equal(out, "abc");
    assert_int_equal(out[4], 'x');
    assert_false(roof_list_item_copy(out, 3, &item)); /* no room for the end */
    assert_string_equal(out, "");
    assert_int_equal(out[1], 'b');
}

/* Appends "NUMBER:VALUE;" to a text; "bad" fails. */
static enum roof_status take(void *context, size_t name, const char *value,
                             struct roof_error *error)
{
    char *const text = context;
    const size_t used = strlen(text);
    if (strcmp(value, "bad") == 0) {
        return roof_error_set(error, ROOF_USAGE, "bad value");
    }
    snprintf(text + used, 64 - used, "%zu:%s;", name, value);
    return ROOF_OK;
}

static void test_pairs(void **state)
{
    (void)state;
    static const char *const names[] = {"tp", "pp", "moe-ep"};
    static const struct {
        const char *list;
        const char *got;
        const char *message; /* NULL: none */
    } cases[] = {
        {"tp=4", "0:4;", NULL},
        {"pp=,moe-ep=a=b,tp=1", "1:;2:a=b;0:1;", NULL},
        {"tp=1,tp=2", "0:1;", "the key has tp= twice"},
        {"tp=1,pp", "0:1;", "the key has no 'pp'; known: tp=, pp= and moe-ep="},
        {"t=1", "", "the key has no 't'; known: tp=, pp= and moe-ep="},
        {"tpp=1,pp=2", "", "the key has no 'tpp'; known: tp=, pp= and moe-ep="},
        {"tp=1,", "0:1;", "the key has no ''; known: tp=, pp= and moe-ep="},
        {"pp=bad,tp=1", "", "bad value"},
        {"tp=0123456789012345678901234567890123456789012345678901234567890", "",
         "the key has an item that is too long"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[64] = "";
        struct roof_error error = {0};
        const enum roof_status status =
            roof_list_pairs(cases[i].list, "the key", names, 3, take, got, &error);
        assert_int_equal(status, cases[i].message == NULL ? ROOF_OK : ROOF_USAGE);
        assert_string_equal(error.message, cases[i].message == NULL ? "" : cases[i].message);
        assert_string_equal(got, cases[i].got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_come_in_order),
        cmocka_unit_test(test_item_is_copied_when_it_fits),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
