// SPDX-License-Identifier: MIT
/* Runs the tests of one file, as in: build/tests/unit/run test_text. Without a name it lists them.
 */
#include "run.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    for (const struct unit_test *test = unit_tests; test->name != NULL; test++) {
        if (argc < 2) {
            puts(test->name);
        } else if (strcmp(test->name, argv[1]) == 0) {
            return test->run();
        }
    }
    if (argc >= 2) {
        fprintf(stderr, "%s: no such unit test\n", argv[1]);
    }
    return argc < 2 ? 0 : 2;
}
