// SPDX-License-Identifier: MIT
#include "support.h"

static int64_t tokens_in(const char *text)
{
    struct roof_token_count count = {.tokens = 0};
    roof_token_count_add(&count, text, strlen(text));
    roof_token_count_end(&count);
    return count.tokens;
}

static void test_counts_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t tokens;
    } cases[] = {
        {"", 0},
        {"128 tokens", 128},
        {"generated 128 tokens in 2 s\n", 128},
        {"1,024 generated tokens", 1024},
        {"1_000 output tokens", 1000},
        {"Total generated tokens:   4096  \n", 4096},
        {"tokens = 7", 7},
        {"tokens=7", 7},
        {"n_tokens: 7", 7},
        {"1 token", 1},
        {"(77 tokens)", 77},
        /* the last one */
        {"5 tokens\n6 tokens\nbye\n", 6},
        {"5 tokens\r6 tokens", 6},
        /* rates */
        {"5 tokens\n12 tokens/s\n", 5},
        {"5 tokens\n12 tokens per second", 5},
        {"12.5 tokens", 0},
        {"12.5 tokens per second", 0},
        {"tokens/s: 12", 0},
        {"Output token throughput (tok/s): 1234", 0},
        /* what is read, not made */
        {"Total input tokens: 100", 0},
        {"prompt tokens: 100", 0},
        {"100 prompt tokens", 0},
        /* llama.cpp */
        {"prompt eval time =  10.00 ms /    5 tokens (  2.00 ms per token,   500.00 tokens per "
         "second)\n       eval time = 1000.00 ms /   127 runs   (  7.87 ms per token,   127.00 "
         "tokens per second)\n      total time = 1010.00 ms /   132 tokens\n",
         127},
        /* other words */
        {"12 tokenizers", 0},
        {"tokens", 0},
        {"tokens: many", 0},
        {"a few tokens", 0},
        {"9 or more tokens", 0},
        {"99999999999999999999 tokens", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (tokens_in(cases[i].text) != cases[i].tokens) {
            fail_msg("'%s': %d", cases[i].text, (int)tokens_in(cases[i].text));
        }
    }
}

static void test_text_comes_in_pieces(void **state)
{
    (void)state;
    struct roof_token_count count = {.tokens = 0};
    static const char text[] = "3 tokens\n12";
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        roof_token_count_add(&count, text + i, 1);
    }
    assert_int_equal(count.tokens, 3);
    roof_token_count_add(&count, "8 tokens", 8);
    assert_int_equal(count.tokens, 3); /* the line may go on: "/s" */
    roof_token_count_end(&count);
    assert_int_equal(count.tokens, 128);
}

static void test_long_lines_are_cut(void **state)
{
    (void)state;
    struct roof_token_count count = {.tokens = 0};
    for (int i = 0; i < 3 * ROOF_TOKEN_LINE_SIZE; i++) {
        roof_token_count_add(&count, "x", 1);
    }
    roof_token_count_add(&count, " 9 tokens\n8 tokens\n", 19);
    assert_int_equal(count.tokens, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_found),
        cmocka_unit_test(test_text_comes_in_pieces),
        cmocka_unit_test(test_long_lines_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
