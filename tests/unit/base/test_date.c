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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_days)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
