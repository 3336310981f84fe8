// SPDX-License-Identifier: MIT
/* The sizes of the public structs, which docs/library.md ("What stays") promises for all versions
 * of one MAJOR: programs have these structs in their own memory. */
#include "roofline/roofline.h"
#include "support.h"

/* The MAJOR that the sizes below belong to. Where a struct changes its size, ROOF_VERSION_MAJOR
 * becomes the next number, and both are written here. */
#define MAJOR 1

#define SIZE(name, bytes)                                                                          \
    {                                                                                              \
#name, sizeof(struct name), bytes                                                          \
    }

static void test_public_structs_keep_their_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t size;
        size_t promised;
    } structs[] = {
        SIZE(roof_error_key, 4),  SIZE(roof_error, 2624), SIZE(roof_listener, 96),
        SIZE(roof_link, 24),      SIZE(roof_shape, 280),  SIZE(roof_formats, 24),
        SIZE(roof_workload, 376), SIZE(roof_work, 56),    SIZE(roof_tiling, 56),
        SIZE(roof_expected, 120), SIZE(roof_part, 272),   SIZE(roof_prediction, 1456),
    };
    if (sizeof(void *) != 8 || _Alignof(double) != 8) {
        skip(); /* the sizes are those of 64-bit machines */
    }
    assert_int_equal(ROOF_VERSION_MAJOR, MAJOR);
    for (size_t i = 0; i < COUNT(structs); i++) {
        if (structs[i].size != structs[i].promised) {
            fail_msg("struct %s has %zu bytes and had %zu: this needs a new ROOF_VERSION_MAJOR",
                     structs[i].name, structs[i].size, structs[i].promised);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_public_structs_keep_their_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
