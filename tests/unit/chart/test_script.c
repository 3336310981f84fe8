// SPDX-License-Identifier: MIT
/* Colours of text in scripts for gnuplot. */
#include "support.h"

#include "chart/script.h"

/* The lightest grey that is legible on white is 767676: its contrast is 4.54, and that of 777777 is
 * 4.48. A pure red has 0.2126 of the light of white, and 0.1833 is allowed: 0.8624 of its channel,
 * which is 238.8 of 255. */
static void test_ink(void **unused)
{
    static const struct {
        const char *colour;
        const char *ink;
    } cases[] = {{"FFFFFF", "767676"}, {"777777", "767676"}, {"767676", "767676"},
                 {"FF0000", "EE0000"}, {"0072B2", "0072B2"}, {"000000", "000000"}};
    char ink[ROOF_INK_SIZE];
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(roof_script_ink(ink, cases[i].colour), cases[i].ink);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ink)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
