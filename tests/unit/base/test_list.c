// SPDX-License-Identifier: MIT
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_come_in_order),
        cmocka_unit_test(test_item_is_copied_when_it_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
