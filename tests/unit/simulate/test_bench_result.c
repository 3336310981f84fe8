// SPDX-License-Identifier: MIT
/* Results of `bench serve`: what they say of each request, when requests come, and what is missing.
 */
#include "files.h"

#include <math.h>

#include "simulate/trace.h"

#define NAME "result.json"
#define LISTS                                                                                      \
    "\"input_lens\": [100, 200, 250, 300], \"output_lens\": [3, 0, 4, 1], "                        \
    "\"ttfts\": [0.5, 0.3, 0.0, 0.25],\n \"itls\": [[0.125, 0.25], [], [], []]"

static enum roof_status read_text(struct roof_request_trace *out, void **state, const char *text,
                                  struct roof_error *error)
{
    char path[PATH_SIZE];
    write_in(state, NAME, text);
    return roof_request_trace_read(out, path_in(path, state, NAME), 1000, 0, error);
}

static int remove_result(void **state)
{
    static const char *const names[] = {NAME};
    return remove_files(state, names, 1) | remove_folder(state);
}

/* Failed requests are left out. The time from the first token to the last is the sum of the gaps.
 */
static void test_requests(void **state)
{
    static const struct {
        const char *load;
        int64_t users;
        double second_s; /* when the second request comes that did not fail */
    } cases[] = {
        {"\"request_rate\": \"inf\", \"max_concurrency\": 2", 2, 0},  /* vLLM */
        {"\"request_rate\": Infinity, \"max_concurrency\": 7", 7, 0}, /* SGLang */
        {"\"request_rate\": \"inf\", \"max_concurrency\": null", 0, 0},
        {"\"request_rate\": null, \"max_concurrency\": 1", 1, 0},
        {"\"request_rate\": 4.0, \"start_times\": [70.5, 71, 72, 72.75]", 0, 2.25},
        {"\"request_rate\": 4.0, \"max_concurrency\": 2, \"start_times\": [70, 71, 71, 71]", 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_request_trace t;
        roof_text_printf(&text, "{\"backend\": \"x\", %s, " LISTS ", \"errors\": [\"]\", \"\"]}\n",
                         cases[i].load);
        assert_int_equal(read_text(&t, state, text.data, NULL), ROOF_OK);
        assert_int_equal(t.count, 2);
        assert_int_equal(t.empty, 2);
        assert_int_equal(t.users, cases[i].users);
        assert_int_equal(t.arrival[0].prompt, 100);
        assert_int_equal(t.arrival[0].generate, 3);
        assert_int_equal(t.arrival[1].prompt, 300);
        assert_near(t.arrival[0].time_s, 0, 1e-12);
        assert_near(t.arrival[1].time_s, cases[i].second_s, 1e-12);
        assert_near(t.measured[0][ROOF_LATENCY_TTFT], 0.5, 1e-12);
        assert_near(t.measured[0][ROOF_LATENCY_TPOT], 0.1875, 1e-12);
        assert_near(t.measured[0][ROOF_LATENCY_E2E], 0.875, 1e-12);
        assert_near(t.measured[1][ROOF_LATENCY_E2E], 0.25, 1e-12);
        assert_true(isnan(t.measured[1][ROOF_LATENCY_TPOT]));
        roof_request_trace_free(&t);
        roof_text_free(&text);
    }
}

/* The shortest requests: one token of a prompt, and one or two that are generated. */
static void test_short(void **state)
{
    struct roof_request_trace t;
    assert_int_equal(read_text(&t, state,
                               "{\"input_lens\": [1, 1], \"output_lens\": [1, 2], "
                               "\"ttfts\": [0.5, 0.5], \"itls\": [[], [0.25]]}",
                               NULL),
                     ROOF_OK);
    assert_int_equal(t.count, 2);
    assert_true(isnan(t.measured[0][ROOF_LATENCY_TPOT]));
    assert_near(t.measured[1][ROOF_LATENCY_TPOT], 0.25, 1e-12);
    assert_near(t.measured[1][ROOF_LATENCY_E2E], 0.75, 1e-12);
    roof_request_trace_free(&t);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"{\"prompt\": 5}", "a request needs a time"}, /* an object of something else */
        {"{\"mean_ttft_ms\": 5}", "has no input_lens"},
        {"{\"request_throughput\": 5}", "has no input_lens"},
        {"{\"request_throughput\": 5}\n{\"request_throughput\": 6}\n", "several results"},
        {"{\"mean_ttft_ms\": 5, \"input_lens\": [], \"ttfts\": [1]}", "has no input_lens"},
        {"{\"input_lens\": [5], \"output_lens\": [5], \"ttfts\": [1]}", "has no itls"},
        {"{\"request_rate\": 4, " LISTS "}", "no start_times"},
        {"{" LISTS ", \"start_times\": [1]}", "start_times has 1 requests, and input_lens has 4"},
        {"{\"input_lens\": [5, 6], \"output_lens\": [5], \"ttfts\": [1], \"itls\": [[]]}",
         "output_lens has 1"},
        {"{\"input_lens\": [\"5\"]}", "input_lens must be an array of numbers"},
        {"{\"input_lens\": [[5]]}", "input_lens must be an array of numbers"},
        {"{\"input_lens\": 5}", "input_lens must be an array of numbers"},
        {"{\"input_lens\": [5], \"itls\": [1]}", "itls must be an array of arrays"},
        {"{\"input_lens\": [5], \"itls\": [[[1]]]}", "itls must be an array of arrays"},
        {"{\"input_lens\": [5], \"itls\": [[1e300]]}", "itls must be an array of arrays"},
        {"{\"input_lens\": [5]} {}", "after"},
        {"{\"input_lens\": [0], \"output_lens\": [5], \"ttfts\": [1], \"itls\": [[1]]}",
         "the file has no requests"},
        {"{\"input_lens\": [1e12], \"output_lens\": [5], \"ttfts\": [1], \"itls\": [[1]]}",
         "the file has no requests"},
        {"{\"input_lens\": [5], \"output_lens\": [1e12], \"ttfts\": [1], \"itls\": [[1]]}",
         "the file has no requests"},
        {"{\"input_lens\": [5], \"output_lens\": [5], \"ttfts\": [1], \"itls\": [[-1]]}",
         "itls of request 1: a time must not be negative, and this is -1 s"},
        {"{\"input_lens\": [5, 5], \"output_lens\": [5, 5], \"ttfts\": [1, -2], "
         "\"itls\": [[1], [1]]}",
         "ttfts of request 2: a time must not be negative, and this is -2 s"},
        {"{\"input_lens\": [5], \"output_lens\": [5], \"ttfts\": [1, 2], \"itls\": [[1]]}",
         "ttfts has 2"},
        {"{\"input_lens\": "
         "[1000000000000000000000000000000000000000000000000000000000000000000000]}",
         "a number may have at most 60 characters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_request_trace t;
        struct roof_error error = {0};
        assert_int_equal(read_text(&t, state, cases[i].text, &error), ROOF_INVALID);
        if (strstr(error.message, cases[i].message) == NULL) {
            fail_msg("case %zu: %s", i, error.message);
        }
        roof_request_trace_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_requests, make_folder, remove_result),
        cmocka_unit_test_setup_teardown(test_short, make_folder, remove_result),
        cmocka_unit_test_setup_teardown(test_refused, make_folder, remove_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
