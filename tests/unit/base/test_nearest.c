// SPDX-License-Identifier: MIT
#include <string.h>

#include "base/nearest.h"
#include "support.h"

/* Names are told whole where they are at most eight. */
static void test_unknown_name_of_few(void **state)
{
    (void)state;
    static const char *const names[] = {"c", "b", "a", "f", "e", "d", "h", "g"};
    struct roof_error error = {0};
    assert_int_equal(roof_unknown_name(&error, ROOF_USAGE, "thing", "x", names, 8), ROOF_USAGE);
    assert_int_equal(error.status, ROOF_USAGE);
    assert_string_equal(error.message, "unknown thing 'x'; known: c, b, a, f, e, d, h, g");
    roof_unknown_name(&error, ROOF_INVALID, "thing", "x", names, 1);
    assert_string_equal(error.message, "unknown thing 'x'; known: c");
    roof_unknown_name(&error, ROOF_INVALID, "thing", "x", names, 0);
    assert_string_equal(error.message, "unknown thing 'x'; none exists");
}

/* At most three of many names are suggested, the nearest first; equally near ones in their order.
 */
static void test_unknown_name_of_many(void **state)
{
    (void)state;
    static const char *const names[] = {"gemm",
                                        "gemv",
                                        "memory_capacity_bytes",
                                        "memory_nominal_gb",
                                        "h100",
                                        "h100-sxm",
                                        "h100-pcie",
                                        "h100-nvl",
                                        "bandwidth_gb_s",
                                        "--columns",
                                        "--max-columns-x"};
    static const struct {
        const char *wanted;
        const char *said;
    } cases[] = {
        {"gemmm", "did you mean gemm?"},       /* one letter; gemv has two wrong ones */
        {"gem", "did you mean gemm or gemv?"}, /* both begin with it */
        {"h10", "did you mean h100, h100-sxm or h100-nvl?"}, /* and the shorter names first */
        {"nvl", "did you mean h100-nvl?"},                   /* in the middle */
        {"memory_gb", "did you mean memory_nominal_gb or memory_capacity_bytes?"},
        {"memory_bandwidth",
         "did you mean memory_nominal_gb, bandwidth_gb_s or memory_capacity_bytes?"},
        {"BANDWITH_GB_S", "did you mean bandwidth_gb_s?"},        /* one letter is missing */
        {"h100-smx", "did you mean h100-sxm, h100 or h100-nvl?"}, /* two letters are swapped */
        {"--colmuns", "did you mean --columns?"},
        {"columns", "did you mean --columns?"}, /* the same but for marks: no other is meant */
        {"H100 SXM", "did you mean h100-sxm?"},
        {"qqq", "known: gemm, gemv, memory_capacity_bytes and 8 more"},
        {"", "known: gemm, gemv, memory_capacity_bytes and 8 more"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_error error = {0};
        char expected[256];
        roof_unknown_name(&error, ROOF_USAGE, "thing", cases[i].wanted, names,
                          sizeof names / sizeof *names);
        snprintf(expected, sizeof expected, "unknown thing '%s'; %s", cases[i].wanted,
                 cases[i].said);
        assert_string_equal(error.message, expected);
    }
}

static void test_unknown_name_takes_any_text(void **state)
{
    (void)state;
    static const char *const names[] = {"one", "two"};
    struct roof_error error = {0};
    static char wanted[5001];
    memset(wanted, 'w', sizeof wanted - 1);
    assert_int_equal(roof_unknown_name(&error, ROOF_INVALID, "thing", wanted, names, 2),
                     ROOF_INVALID);
    assert_int_equal(error.status, ROOF_INVALID);
    /* the name is cut, so that the known ones still fit */
    assert_non_null(strstr(error.message, "one"));
    assert_non_null(strstr(error.message, "two"));
    roof_unknown_name(&error, ROOF_USAGE, "thing", "a\nb%s", names, 2);
    assert_non_null(strstr(error.message, "'a?b%s'"));
    assert_int_equal(roof_unknown_name(NULL, ROOF_USAGE, "thing", "x", names, 2), ROOF_USAGE);
}

/* Likeness counts for more than the number of letters that differ. */
static void test_nearness(void **state)
{
    (void)state;
    assert_true(roof_nearness("memory_gb", "memory_nominal_gb") <
                roof_nearness("memory_gb", "memory_capacity_bytes"));
    assert_true(roof_nearness("fp", "fp16") < roof_nearness("fp", "bfp"));
    assert_int_equal(roof_nearness("h100-smx", "h100-sxm"), roof_nearness("h100-sxx", "h100-sxm"));
    assert_true(roof_nearness("tp_size", "tp") < roof_nearness("tp_size", "state_size"));
    assert_int_equal(roof_nearness("tpsize", "tp"), ROOF_FAR);
    assert_true(roof_nearness("llama3", "llama-3-8b") < roof_nearness("llama3", "llama-2-7b"));
    assert_true(roof_nearness("llama3", "llama3-8b") < roof_nearness("llama3", "llama-3-8b"));
    assert_true(roof_nearness("q4km", "q4_k_m") < roof_nearness("q4km", "q4_k"));
    assert_int_equal(roof_nearness("RTX 5090", "rtx-5090"), 0);
    assert_true(roof_nearness("rtx-50", "rtx-5090") > 0 && roof_nearness("rtx-5090", "rtx-50") > 0);
    assert_true(roof_nearness("q4km", "q4_k") < ROOF_FAR);
    assert_int_equal(roof_nearness("q4km", "q5_k"), ROOF_FAR);
    assert_int_equal(roof_nearness("ab", "xy"), ROOF_FAR);
    assert_int_equal(roof_nearness("", "xy"), ROOF_FAR);
}

static void test_near_name(void **unused)
{
    (void)unused;
    static const char *const names[] = {"m", "weights", "weight", "model", "hardware"};
    static const struct {
        const char *wanted;
        const char *near;
    } cases[] = {{"weigths", "weights"}, /* two letters are swapped */
                 {"weightss", "weights"},  {"Weights", "weights"}, {"wight", "weight"},
                 {"hardwrae", "hardware"}, {"modek", "model"},     {"mo", NULL},
                 {"modle", "model"},       {"run", NULL},          {"", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const near = roof_near_name(cases[i].wanted, names, 5);
        if (cases[i].near == NULL) {
            assert_null(near);
        } else {
            assert_non_null(near);
            assert_string_equal(near, cases[i].near);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_name), cmocka_unit_test(test_unknown_name_of_few),
        cmocka_unit_test(test_unknown_name_of_many),
        cmocka_unit_test(test_unknown_name_takes_any_text), cmocka_unit_test(test_nearness)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
