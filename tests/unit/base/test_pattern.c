// SPDX-License-Identifier: MIT
#include "base/pattern.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define MODULE "model.layers.12.self_attn.q_proj"

static bool match(const char *expression, const char *name)
{
    static struct roof_pattern pattern;
    int64_t work = 0;
    const char *const problem = roof_pattern_read(&pattern, expression);
    if (problem != NULL) {
        fail_msg("'%s': %s", expression, problem);
    }
    return roof_pattern_matches(&pattern, name, &work);
}

/* Each by the definition of its operators, on names that differ in what it is about. */
static void test_operators(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        const char *names[4];
        const char *others[4];
    } cases[] = {
        {"", {"", "a"}, {NULL}},
        {"ab", {"ab", "abc"}, {"a", "b", "xab", ""}}, /* from the first byte to any last one */
        {"a$", {"a"}, {"ab", ""}},
        {"$", {""}, {"a"}},
        {"^a", {"a"}, {"ba"}},
        {"b^a", {NULL}, {"ba", "a"}},
        {"(^|b)a$", {"a", "ba"}, {"bba", "ca"}},
        {"a.c$",
         {"abc", "a.c",
          "a\xc3"
          "c"},
         {"ac", "a\nc", "abbc"}},
        {"a*$", {"", "a", "aaaa"}, {"b", "aab"}},
        {"ba+$", {"ba", "baaa"}, {"b", "bab"}},
        {"ba?$", {"b", "ba"}, {"baa"}},
        {"a+?b??$", {"a", "aaa", "ab"}, {"", "abb"}}, /* how much they take is no matter */
        {"(ab)*c$", {"c", "ababc"}, {"abac", "ab"}},
        {"(ab|c)+$", {"ab", "c", "abcab"}, {"", "a", "acb"}},
        {"a|b|cd$", {"a", "bx", "cd"}, {"c", "d", "cdx"}},
        {"(?:a|b|)c$", {"ac", "bc", "c"}, {"abc", "cc"}},
        {"a(|b)$", {"a", "ab"}, {"abb"}},
        {"(a*)*b$", {"b", "aab"}, {"a", ""}},
        {"(a*|b)+$", {"", "aba"}, {"c"}},
        {"((a|b)(c|d)?)+e$", {"ae", "acbe", "abde"}, {"ce", "acce"}},
        {"[a-c]$", {"a", "b", "c"}, {"d", "`", "-"}},
        {"[^a-c]$", {"d", "-", "\xff"}, {"a", "c", ""}},
        {"[]x]$", {"]", "x"}, {"["}},
        {"[^]x]$", {"["}, {"]", "x"}},
        {"[a-]$", {"a", "-"}, {"b"}},
        {"[-a]$", {"a", "-"}, {"b"}},
        {"[a^]$", {"a", "^"}, {"b"}},
        {"[\\d.x-z]+$", {"12.4", "xyz", "."}, {"a", "\\d"}},
        {"\\d\\D\\w\\W\\s\\S$", {"1a_- z", "9.Z/\tq"}, {"aa_- z", "11_- z", "1a-- z", "1a__ z"}},
        {"\\d$", {"0", "9"}, {"/", ":", "d"}},
        {"\\w$", {"_", "A", "z", "5"}, {"@", "[", "-"}},
        {"\\s$", {" ", "\t", "\r"}, {"s", "\x0e"}},
        {"[^\\W\\d]$", {"a", "_"}, {"1", "."}},
        {"a\\.b\\\\\\[\\]\\*$", {"a.b\\[]*"}, {"axb\\[]*"}},
        {"a}]$", {"a}]"}, {"a}"}},
        {".*self_attn.*", {MODULE}, {"model.layers.12.mlp.up_proj"}},
        {"model\\.layers\\.\\d+\\.self_attn\\.(q|k|v)_proj$",
         {MODULE},
         {MODULE "s", "model_layers.1.self_attn.q_proj"}},
        {".*layers\\.([0-9]|1[0-3])\\..*", {MODULE, "layers.9.x"}, {"layers.14.x", "layers.120.x"}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t k = 0; k < COUNT(cases[i].names); k++) {
            const char *const yes = cases[i].names[k];
            const char *const no = cases[i].others[k];
            if (yes != NULL && !match(cases[i].expression, yes)) {
                fail_msg("'%s' does not match '%s'", cases[i].expression, yes);
            }
            if (no != NULL && match(cases[i].expression, no)) {
                fail_msg("'%s' matches '%s'", cases[i].expression, no);
            }
        }
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        const char *problem;
    } cases[] = {
        {"(", "'(' without ')'"},
        {"(a", "'(' without ')'"},
        {"(a|(b)", "'(' without ')'"},
        {")", "')' without '('"},
        {"a)b", "')' without '('"},
        {"*", "there is nothing to repeat"},
        {"a|+", "there is nothing to repeat"},
        {"(?)", "only the group '(?:' may begin with '?'"},
        {"(?!a)", "only the group '(?:' may begin with '?'"},
        {"a**", "a repetition cannot be repeated"},
        {"a+?*", "a repetition cannot be repeated"},
        {"a{2}", "counts in braces are not supported"},
        {"[a", "'[' without ']'"},
        {"[]", "'[' without ']'"},
        {"[^", "'[' without ']'"},
        {"[b-a]", "the range is not valid"},
        {"[\\d-x]", "the range is not valid"},
        {"[a-\\d]", "the range is not valid"},
        {"\\1", "only the escapes \\d \\D \\w \\W \\s \\S and those of punctuation are allowed"},
        {"[\\b]", "only the escapes \\d \\D \\w \\W \\s \\S and those of punctuation are allowed"},
        {"a\\", "only the escapes \\d \\D \\w \\W \\s \\S and those of punctuation are allowed"},
    };
    static struct roof_pattern pattern;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const problem = roof_pattern_read(&pattern, cases[i].expression);
        if (problem == NULL || strcmp(problem, cases[i].problem) != 0) {
            fail_msg("'%s': %s", cases[i].expression, problem == NULL ? "is read" : problem);
        }
    }
}

/* `unit`, so many times. */
static const char *repeat(const char *unit, size_t count)
{
    static char text[8192];
    const size_t length = strlen(unit);
    assert_true(count * length < sizeof text);
    for (size_t i = 0; i < count * length; i++) {
        text[i] = unit[i % length];
    }
    text[count * length] = '\0';
    return text;
}

/* A step for each byte, and one for the end: 1023 of them is the most. */
static void test_limits(void **state)
{
    (void)state;
    static struct roof_pattern pattern;
    assert_null(roof_pattern_read(&pattern, repeat("a", ROOF_PATTERN_STEPS_MAX - 1)));
    assert_int_equal(pattern.count, ROOF_PATTERN_STEPS_MAX);
    assert_string_equal(roof_pattern_read(&pattern, repeat("a", ROOF_PATTERN_STEPS_MAX)),
                        "it is too long");
    assert_string_equal(roof_pattern_read(&pattern, repeat("a|b?", 1000)), "it is too long");
    assert_string_equal(roof_pattern_read(&pattern, repeat("(", 32)), "'(' without ')'");
    assert_string_equal(roof_pattern_read(&pattern, repeat("(", 33)),
                        "groups are nested too deeply");
    assert_null(roof_pattern_read(&pattern, repeat("(a)", 300))); /* beside each other */
}

/* Patterns with exponential time in other matchers take at most steps times bytes. */
static void test_work(void **state)
{
    (void)state;
    static const char *const units[] = {"(a+)+", "(a|a)*", "(.*)", "(a*)*", "a?"};
    static struct roof_pattern pattern;
    char name[128];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t i = 0; i < COUNT(units); i++) {
        char expression[1024];
        int64_t work = 0;
        snprintf(expression, sizeof expression, "%sZ", repeat(units[i], 60));
        assert_null(roof_pattern_read(&pattern, expression));
        assert_false(roof_pattern_matches(&pattern, name, &work));
        assert_true(work > 127 && work <= (int64_t)(pattern.count * sizeof name));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
