// SPDX-License-Identifier: MIT
/* Rates over time: the intervals of a file, and what is refused. */
#include "files.h"

#include "base/text.h"
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
    assert_int_equal(read_text(&t, state, "rate,time\n0.5,00:59:60\n0.25,1000000:00:00\n", NULL),
                     ROOF_OK);
    assert_true(t.interval[0].begin_s == 3600);
    assert_true(t.interval[1].begin_s == 3.6e9);
    assert_true(t.rates == 2 && t.rate[0] == 0.25 && t.rate[1] == 0.5);
    roof_rate_trace_free(&t);
}

/* Each rate is there once, the least first, also where it is the only one. A time is kept as it
 * stands, as far as there is room. */
static void test_rates(void **state)
{
    struct roof_rate_trace t;
    assert_int_equal(read_text(&t, state, "time,rate\n0,3\n1,0\n2,3\n3,3\n4,3\n", NULL), ROOF_OK);
    assert_true(t.rates == 1 && t.rate[0] == 3 && t.weight[0] == 4);
    roof_rate_trace_free(&t);
    assert_int_equal(
        read_text(&t, state, "time,rate\n0,7\n1,5\n2,7\n4,1\n5,5\n6,7\n7,9\n8,1\n", NULL), ROOF_OK);
    static const double rates[] = {1, 5, 7, 9};
    static const double weights[] = {2, 2, 4, 1};
    assert_int_equal(t.rates, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(t.rate[i] == rates[i] && t.weight[i] == weights[i]);
    }
    roof_rate_trace_free(&t);
    assert_int_equal(read_text(&t, state,
                               "time,rate\n1.0000000000000000000000000000000001,1\n"
                               "2.00000000000000000000000000000,1\n",
                               NULL),
                     ROOF_OK);
    assert_string_equal(t.interval[0].time, "1.00000000000000000000000000000");
    assert_int_equal(strlen(t.interval[0].time), ROOF_RATE_TIME_SIZE - 1);
    assert_string_equal(t.interval[1].time, "2.00000000000000000000000000000");
    roof_rate_trace_free(&t);
}

/* A file has up to 10,000 rows. */
static void test_many(void **state)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_rate_trace t;
    struct roof_error error = {0};
    roof_text_put(&text, "time,rate\n");
    for (int i = 0; i < 10000; i++) {
        roof_text_printf(&text, "%d,%d\n", i, 1 + i);
    }
    assert_int_equal(read_text(&t, state, text.data, NULL), ROOF_OK);
    assert_int_equal(t.rates, 10000);
    assert_true(t.rate[9999] == 10000);
    roof_rate_trace_free(&t);
    roof_text_put(&text, "10000,1\n");
    assert_int_equal(read_text(&t, state, text.data, &error), ROOF_INVALID);
    assert_int_equal(error.line, 10002);
    assert_int_equal(error.column, 0);
    roof_rate_trace_free(&t);
    roof_text_free(&text);
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
        {"time,rate\n", "at least two rows", 0},
        {"time,rate\n1,2\n", "at least two rows", 0},
        {"time,rate\n1,0\n2,0\n", "all rates are 0", 0},
        {"time,rate\n2,1\n2,1\n", "times must rise", 3},
        {"time,rate\n23:00,1\n00:00,1\n", "times must rise", 3},
        {"time,rate\n1,1\n2\n", "a rate must be 0 or", 3},
        {"time,rate\n1,-1\n", "a rate must be 0 or", 2},
        {"time,rate\n1,1e10\n", "a rate must be 0 or", 2},
        {"time,rate\n1,many\n", "a rate must be 0 or", 2},
        {"time,rate\n1,1e-7\n", "a rate must be 0 or", 2},
        {"rate,time\n1,1\n2\n", "a time must be", 3},
        {"time,rat\n1,1\n", "columns time and rate", 1},
        {"time,rate\n18:60,1\n", "a time must be", 2},
        {"time,rate\n18:30:61,1\n", "a time must be", 2},
        {"time,rate\n18:30:-1,1\n", "a time must be", 2},
        {"time,rate\n-1:30,1\n", "a time must be", 2},
        {"time,rate\n1000001:00,1\n", "a time must be", 2},
        {"time,rate\n18:,1\n", "a time must be", 2},
        {"time,rate\n18:30:,1\n", "a time must be", 2},
        {"time,rate\n18:30x,1\n", "a time must be", 2},
        {"time,rate\n,1\n", "a time must be", 2},
        {"time,rate\nnan,1\n", "a time must be", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_rate_trace t;
        struct roof_error error = {0};
        assert_int_equal(read_text(&t, state, cases[i].text, &error), ROOF_INVALID);
        check_refusal(i, &error, cases[i].message, cases[i].line);
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
        cmocka_unit_test_setup_teardown(test_rates, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_many, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_refused, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
