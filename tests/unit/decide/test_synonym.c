// SPDX-License-Identifier: MIT
#include <string.h>

#include "base/base.h"
#include "decide/question.h"
#include "decide/synonym.h"
#include "support.h"

/* A synonym is a word that no option of its commands has, and stands for one option in each. */
static void test_rows(void **state)
{
    (void)state;
    size_t count = 0;
    const struct roof_synonym *const all = roof_synonyms(&count);
    assert_int_equal(count, 23);
    for (size_t i = 0; i < count; i++) {
        /* The program keeps the text of such an input, and a synonym's is freed. */
        assert_false(roof_input(all[i].input)->own);
        for (size_t k = 0; k < ROOF_INPUT_COUNT; k++) {
            assert_true(strcmp(all[i].option, roof_input(k)->option) != 0 ||
                        (all[i].commands & roof_input(k)->commands) == 0);
        }
        for (size_t k = 0; k < i; k++) {
            assert_true(strcmp(all[i].option, all[k].option) != 0 ||
                        (all[i].commands & all[k].commands) == 0);
        }
    }
}

static void test_of_commands(void **state)
{
    (void)state;
    assert_int_equal(roof_synonym_of("isl", ROOF_COMMAND_PREDICT)->input, ROOF_INPUT_PROMPT);
    assert_int_equal(roof_synonym_of("backend", ROOF_COMMAND_PREDICT)->input, ROOF_INPUT_STACK);
    assert_int_equal(roof_synonym_of("backend", ROOF_COMMAND_RECOMMEND)->input, ROOF_INPUT_ENGINE);
    assert_int_equal(roof_synonym_of("p", ROOF_COMMAND_RECOMMEND)->input, ROOF_INPUT_FORMATS);
    assert_null(roof_synonym_of("p", ROOF_COMMAND_PREDICT));    /* it has -p itself */
    assert_null(roof_synonym_of("ttft", ROOF_COMMAND_PREDICT)); /* it has no --max-ttft */
    assert_null(roof_synonym_of("isl", ROOF_COMMAND_LIST));
    assert_null(roof_synonym_of("prompt", ROOF_COMMAND_PREDICT));
}

static void test_of_keys(void **state)
{
    (void)state;
    assert_int_equal(roof_synonym_of_key("input_len")->input, ROOF_INPUT_PROMPT);
    assert_int_equal(roof_synonym_of_key("gpu_memory_utilization")->input, ROOF_INPUT_RESERVE);
    assert_null(roof_synonym_of_key("input-len"));
    assert_null(roof_synonym_of_key("input"));
    assert_null(roof_synonym_of_key("input_length"));
    assert_null(roof_synonym_of_key("backend")); /* two options */
    assert_null(roof_synonym_of_key(""));
}

/* A share of the memory that is used is 1 minus the share that is kept free, in decimal digits. */
static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *used, *reserve;
    } cases[] = {{"0.9", "0.1"},   {"0.95", "0.05"},   {"1", "0"},
                 {"0.01", "0.99"}, {"0.875", "0.125"}, {"90%", "0.1"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_question *question = NULL;
        struct roof_error error = {0};
        assert_int_equal(roof_question_new(&question, &error), ROOF_OK);
        assert_int_equal(
            roof_question_put(question, "gpu_memory_utilization", cases[i].used, &error), ROOF_OK);
        assert_string_equal(question->value[ROOF_INPUT_RESERVE], cases[i].reserve);
        assert_int_equal(roof_question_put(question, "reserve", "0.1", &error), ROOF_USAGE);
        assert_int_equal(roof_question_put(question, "isl", "8k", &error), ROOF_OK);
        assert_string_equal(question->value[ROOF_INPUT_PROMPT], "8k");
        roof_question_free(question);
    }
}

static void test_values_out_of_range(void **state)
{
    (void)state;
    static const char *const cases[] = {"1.01", "-0.1", "0", "0.009", "101%", "90 %%", "", "nan"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_error error = {0};
        assert_int_equal(roof_synonym_value(&text, roof_synonym_of_key("gpu_memory_utilization"),
                                            cases[i], &error),
                         ROOF_USAGE);
        roof_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows), cmocka_unit_test(test_of_commands),
        cmocka_unit_test(test_of_keys), cmocka_unit_test(test_values),
        cmocka_unit_test(test_values_out_of_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
