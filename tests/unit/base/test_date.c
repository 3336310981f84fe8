// SPDX-License-Identifier: MIT
#include "support.h"

#include "base/date.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_days(void **state)
{
    (void)state;
    static const struct {
        int year, month, day;
        double days;
    } cases[] = {
        {1970, 1, 1, 0},      {1969, 12, 31, -1},
        {1970, 3, 1, 59},     {2000, 2, 29, 11016}, /* 30 years with 7 leap days, then 31 + 28 */
        {2000, 3, 1, 11017},  {2024, 2, 29, 19782},
        {2100, 2, 28, 47540}, {2100, 3, 1, 47541}, /* no leap year */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_float_equal(roof_days(cases[i].year, cases[i].month, cases[i].day), cases[i].days,
                           0);
    }
}

static void test_read(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "2023-11-16",
                                      "2023-13-01 00:00:00",
                                      "2023-11-16 18:17:",
                                      "2023-11-16 18:17:62",
                                      "2023-11-16 18:177",
                                      "0-1-1 0:0:0"};
    double seconds = 0;
    assert_true(roof_date_read(&seconds, "1970-01-02 01:02:03.5"));
    assert_true(seconds == 86400 + 3723.5);
    assert_true(roof_date_read(&seconds, "1970-01-01T00:00:01Z")); /* the zone is passed over */
    assert_true(seconds == 1);
    assert_true(roof_date_read(&seconds, "1970-01-01 18:30")); /* no seconds */
    assert_true(seconds == 18.5 * 3600);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_false(roof_date_read(&seconds, bad[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_days), cmocka_unit_test(test_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
