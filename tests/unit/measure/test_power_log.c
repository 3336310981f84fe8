// SPDX-License-Identifier: MIT
/* Logs of nvidia-smi: what a row means, which GPU it is of, and which rows are refused. */
#include "files.h"

#include <math.h>

#include "measure/power_log.h"

#define NAME "log.csv"
#define HEAD "timestamp, index, power.draw [W]\n"

static int remove_log(void **state)
{
    static const char *const names[] = {NAME};
    return remove_files(state, names, 1) | remove_folder(state);
}

/* Opens a log with this text. */
static void open_text(struct roof_power_log *log, void **state, const char *text)
{
    static char path[PATH_SIZE]; /* the log borrows it */
    write_in(state, NAME, text);
    assert_int_equal(roof_power_log_open(log, path_in(path, state, NAME), NULL), ROOF_OK);
}

/* Reads the next row, which is there. */
static struct roof_sample next(struct roof_power_log *log)
{
    struct roof_sample sample;
    bool more = false;
    assert_int_equal(roof_power_log_read(log, &sample, &more, NULL), ROOF_OK);
    assert_true(more);
    return sample;
}

/* A day is 86400 s, whatever separates the parts of the date; 2024 is a leap year. */
static void test_times(void **state)
{
    static const struct {
        const char *from;
        const char *to;
        double apart_s;
    } cases[] = {
        {"2024/01/31 12:34:56.789", "2024/01/31 12:34:57.039", 0.25},
        {"2024/02/28 00:00:00", "2024/03/01 00:00:00", 2 * 86400.0},
        {"2023-02-28T23:59:59.5", "2023-03-01T00:00:00.25", 0.75},
        {"2024/12/31 23:59:59", "2024/12/31 23:59:60", 1}, /* a leap second */
        {" 2024/12/31 23:00:00\t", "2024/12/31 23:59:60", 3600},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_power_log log;
        roof_text_printf(&text, HEAD "%s, 3, 100.00 W\n%s, 3, 100.00 W\n", cases[i].from,
                         cases[i].to);
        open_text(&log, state, text.data);
        const struct roof_sample first = next(&log);
        const struct roof_sample second = next(&log);
        assert_int_equal(first.device, 3);
        assert_true(first.time_s == 0);
        assert_true(fabs(second.time_s - cases[i].apart_s) < 1e-9);
        roof_power_log_close(&log);
        roof_text_free(&text);
    }
}

static void test_dates_refused(void **state)
{
    static const char *const dates[] = {
        "2024/13/01 00:00:00",  "2024/00/01 00:00:00",   "2024/01/00 00:00:00",
        "2024/01/32 00:00:00",  "2024/01/01 24:00:00",   "2024/01/01 00:60:00",
        "2024/01/01 00:00:61",  "2024.01/01 00:00:00",   "2024/01.01 00:00:00",
        "2024/01/01-00:00:00",  "2024/01/01 00.00:00",   "2024/01/01 00:00.00",
        "2024/01/01 00:00:00,", "24/01/01 00:00:00",     "2024/1/01 00:00:00",
        "2024/01/01 00:00:0",   "2024/01/01 00:00:00.5x"};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_power_log log;
        struct roof_sample sample;
        struct roof_error error = {0};
        bool more = false;
        roof_text_printf(&text, HEAD "\"%s\", 0, 100.00 W\n", dates[i]);
        open_text(&log, state, text.data);
        assert_int_equal(roof_power_log_read(&log, &sample, &more, &error), ROOF_INVALID);
        assert_non_null(strstr(error.message, "a time such as 2024/01/31 12:34:56.789"));
        roof_power_log_close(&log);
        roof_text_free(&text);
    }
}

/* Sixty times the same character. */
#define SIXTY "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_cells_refused(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"time_s,index,power_w\n1,64,5\n", "an integer from 0 to 63"},
        {"time_s,index,power_w\n1,-1,5\n", "an integer from 0 to 63"},
        {"time_s,index,power_w\n1,0.5,5\n", "an integer from 0 to 63"},
        {"time_s,index,power_w\n1,0,5 mW\n", "a number in the unit that nvidia-smi prints"},
        {"time_s,index,power_w\n1,0,x\n", "a number in the unit that nvidia-smi prints"},
        {"time_s,index,power_w\n1,0,-1\n", "0 W or more"},
        {"time_s,index,power_w\n,0,1\n", "the row has no time"},
        {"time_s,index,power_w\n[N/A],0,1\n", "the row has no time"},
        {"time_s,index,power_w\nN/A,0,1\n", "the row has no time"},
        {"time_s,index,power_w\n1,0\n", "the row has 2 cells, too few for the 3 columns"},
        {"time_s,power_w,clocks_event_reasons.active\n1,1,4\n", "a set of bits such as"},
        {"time_s,power_w,clocks_event_reasons.active\n1,1,0x\n", "a set of bits such as"},
        {"time_s,power_w,clocks_event_reasons.active\n1,1,0x4z\n", "a set of bits such as"},
        {"time_s,power_w,name\n1,1," SIXTY SIXTY "\n", "shorter than 96 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_power_log log;
        struct roof_sample sample;
        struct roof_error error = {0};
        bool more = false;
        open_text(&log, state, cases[i].text);
        assert_int_equal(roof_power_log_read(&log, &sample, &more, &error), ROOF_INVALID);
        if (strstr(error.message, cases[i].message) == NULL) {
            fail_msg("case %zu: %s", i, error.message);
        }
        roof_power_log_close(&log);
    }
}

/* Without an index the GPUs are numbered as they come, by what names them; the header may come
 * again. Only a log without both says that it lacks the index. */
static void test_devices(void **state)
{
    struct roof_power_log log;
    struct roof_sample sample;
    struct roof_error error = {0};
    bool more = false;
    open_text(&log, state,
              "time_s,uuid,power_w\n1,b,5\n1,a,6\ntime_s,uuid,power_w\n2,b,7\n2,a,8\n2,a,9\n");
    static const int device[] = {0, 1, 0, 1};
    static const double power[] = {5, 6, 7, 8};
    for (size_t i = 0; i < 4; i++) {
        const struct roof_sample s = next(&log);
        assert_int_equal(s.device, device[i]);
        assert_true(s.power_w == power[i]);
    }
    assert_int_equal(roof_power_log_read(&log, &sample, &more, &error), ROOF_INVALID);
    assert_non_null(strstr(error.message, "the time does not advance"));
    assert_null(strstr(error.message, "index"));
    assert_int_equal(roof_power_log_read(&log, &sample, &more, NULL), ROOF_OK);
    assert_false(more);
    roof_power_log_close(&log);

    open_text(&log, state, "index,time_s,power_w\n0,1,5\n0,1,6\n");
    assert_int_equal(next(&log).device, 0);
    assert_int_equal(roof_power_log_read(&log, &sample, &more, &error), ROOF_INVALID);
    assert_null(strstr(error.message, "index"));
    roof_power_log_close(&log);

    open_text(&log, state, "time_s,power_w\n1,5\n1,6\n");
    assert_int_equal(next(&log).device, 0);
    assert_int_equal(roof_power_log_read(&log, &sample, &more, &error), ROOF_INVALID);
    assert_non_null(strstr(error.message, "needs the column index"));
    roof_power_log_close(&log);
}

/* There is room for 64 of them. */
static void test_too_many_devices(void **state)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_power_log log;
    struct roof_sample sample;
    struct roof_error error = {0};
    bool more = false;
    roof_text_put(&text, "time_s,serial,power_w\n");
    for (int i = 0; i < 65; i++) {
        roof_text_printf(&text, "1,s%d,5\n", i);
    }
    open_text(&log, state, text.data);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(next(&log).device, i);
    }
    assert_int_equal(roof_power_log_read(&log, &sample, &more, &error), ROOF_INVALID);
    assert_non_null(strstr(error.message, "the log has more than 64 GPUs"));
    roof_power_log_close(&log);
    roof_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_times, make_folder, remove_log),
        cmocka_unit_test_setup_teardown(test_dates_refused, make_folder, remove_log),
        cmocka_unit_test_setup_teardown(test_cells_refused, make_folder, remove_log),
        cmocka_unit_test_setup_teardown(test_devices, make_folder, remove_log),
        cmocka_unit_test_setup_teardown(test_too_many_devices, make_folder, remove_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
