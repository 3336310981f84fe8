// SPDX-License-Identifier: MIT
/* Rates over time: the intervals of a file, and what is refused. */
#include "files.h"

#include "simulate/rate_trace.h"

#define NAME "day.csv"

static enum roof_status read_text(struct roof_rate_trace *out, void **state, const char *text,
                                  struct roof_error *error)
{
    char path[PATH_SIZE];
    static const char *const names[] = {NAME};
    write_in(state, NAME, text);
    const enum roof_status status = roof_rate_trace_read(out, path_in(path, state, NAME), error);
    assert_int_equal(remove_files(state, names, 1), 0);
    return status;
}

/* Each interval lasts until the next one, the last one as long as the one before it. A rate that
 * comes twice is one, with the time of both, and 0 is none. */
static void test_intervals(void **state)
{
    struct roof_rate_trace t;
    assert_int_equal(read_text(&t, state,
                               "kind,RATE,Time\nnight,2,00:00\nnoon,5/s,06:30\nnoon,0,12:00:30\n"
                               "noon,2,13:00\n",
                               NULL),
                     ROOF_OK);
    static const double begins[] = {0, 6.5 * 3600, 12 * 3600 + 30, 13 * 3600};
    static const double durations[] = {6.5 * 3600, 5.5 * 3600 + 30, 3570, 3570};
    static const double rates[] = {2, 5, 0, 2};
    static const size_t places[] = {0, 1, 2, 0};
    assert_int_equal(t.count, 4);
    assert_int_equal(t.rates, 2);
    for (size_t i = 0; i < 4; i++) {
        assert_true(t.interval[i].begin_s == begins[i]);
        assert_true(t.interval[i].duration_s == durations[i]);
        assert_true(t.interval[i].rate == rates[i]);
        assert_int_equal(t.interval[i].place, places[i]);
    }
    assert_string_equal(t.interval[1].time, "06:30");
    assert_true(t.rate[0] == 2);
    assert_true(t.rate[1] == 5);
    assert_true(t.weight[0] == durations[0] + durations[3]);
    assert_true(t.weight[1] == durations[1]);
    roof_rate_trace_free(&t);
}

/* Seconds and dates are times, too. */
static void test_times(void **state)
{
    struct roof_rate_trace t;
    assert_int_equal(read_text(&t, state, "time,rate\n-30.5,1\n1e3,2\n", NULL), ROOF_OK);
    assert_true(t.interval[1].begin_s - t.interval[0].begin_s == 1030.5);
    roof_rate_trace_free(&t);
    assert_int_equal(
        read_text(&t, state, "time,rate\n2024-02-28 23:00:00,1\n2024-02-29T01:00:00,2\n", NULL),
        ROOF_OK);
    assert_true(t.interval[0].duration_s == 7200);
    roof_rate_trace_free(&t);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        const char *message;
        int line;
    } cases[] = {
        {"", "columns time and rate", 1},
        {"hour,rate\n1,2\n", "columns time and rate", 1},
        {"time,rate\n", "two rows or more", 2},
        {"time,rate\n1,2\n", "two rows or more", 3},
        {"time,rate\n1,0\n2,0\n", "all rates are 0", 4},
        {"time,rate\n2,1\n2,1\n", "times must rise", 3},
        {"time,rate\n23:00,1\n00:00,1\n", "times must rise", 3},
        {"time,rate\n1,1\n2\n", "a rate is 0 or", 3},
        {"time,rate\n1,-1\n", "a rate is 0 or", 2},
        {"time,rate\n1,1e10\n", "a rate is 0 or", 2},
        {"time,rate\n1,many\n", "a rate is 0 or", 2},
        {"time,rate\n18:60,1\n", "a time is", 2},
        {"time,rate\n18:,1\n", "a time is", 2},
        {"time,rate\n18:30:,1\n", "a time is", 2},
        {"time,rate\n18:30x,1\n", "a time is", 2},
        {"time,rate\n,1\n", "a time is", 2},
        {"time,rate\nnan,1\n", "a time is", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_rate_trace t;
        struct roof_error error = {0};
        assert_int_equal(read_text(&t, state, cases[i].text, &error), ROOF_INVALID);
        if (strstr(error.message, cases[i].message) == NULL || error.line != cases[i].line) {
            fail_msg("case %zu: line %d: %s", i, error.line, error.message);
        }
        roof_rate_trace_free(&t);
    }
    struct roof_rate_trace none;
    char path[PATH_SIZE];
    assert_int_equal(roof_rate_trace_read(&none, path_in(path, state, "none"), NULL), ROOF_IO);
    roof_rate_trace_free(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_intervals, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_times, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_refused, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
