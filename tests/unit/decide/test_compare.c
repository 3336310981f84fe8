// SPDX-License-Identifier: MIT
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, neutral, meaning) P_##id,
#include "predict/kernel_parameters.h"
    P_COUNT
};

static char path[] = "/tmp/roofline-compare-XXXXXX";

/* A gemv of 1000 x 1000 at fp16 takes 20.04 us at best (2,004,000 bytes at 100 GB/s) and is
 * expected to take twice as long, 40.08 us: 30.06 to 48.096 us. */
#define DEVICE                                                                                     \
    "{\"id\": \"ten\", \"bandwidth_gb_s\": 100, \"sm_count\": 10, \"boost_clock_mhz\": 1000,"      \
    " \"l2_bytes\": 1000000, \"peak_tflops\": {\"fp16\": 100000, \"fp8\": 100000}}"

/* A device for whole models. */
#define WHOLE                                                                                      \
    "{\"id\": \"whole\", \"bandwidth_gb_s\": 100, \"sm_count\": 10, \"boost_clock_mhz\": 1000,"    \
    " \"l2_bytes\": 1000000, \"link_gb_s\": 100, \"peak_tflops\": {\"fp16\": 1}, "                 \
    "\"vector_tflops\": {\"fp32\": 0.1}}"

static struct roof_hardware *ten;
static struct roof_hardware *plain; /* without a calibration */
static struct roof_hardware *whole; /* with one for every operator of the model */
static struct roof_model *small;
static struct roof_kernel_fit fit[] = {{.kernel = ROOF_KERNEL_GEMM,
                                        .stack = ROOF_STACK_VLLM,
                                        .numerics = ROOF_NUMERICS_16BIT,
                                        .low = 0.75,
                                        .high = 1.2},
                                       {.kernel = ROOF_KERNEL_BMM,
                                        .stack = ROOF_STACK_VLLM,
                                        .numerics = ROOF_NUMERICS_16BIT,
                                        .low = 0.75,
                                        .high = 1.2}};
static struct roof_calibration calibration = {.id = "ten", .fit = fit, .count = COUNT(fit)};
static struct roof_kernel_fit all_fits[] = {
    {.kernel = ROOF_KERNEL_GEMM, .low = 0.9, .high = 1.1},
    {.kernel = ROOF_KERNEL_DECODE, .low = 0.8, .high = 1.3},
    {.kernel = ROOF_KERNEL_PREFILL, .low = 0.7, .high = 1.4},
    {.kernel = ROOF_KERNEL_NORM, .low = 0.9, .high = 1.2},
    {.kernel = ROOF_KERNEL_ADD, .low = 0.9, .high = 1.2},
    {.kernel = ROOF_KERNEL_ACTIVATION, .low = 0.9, .high = 1.2},
    {.kernel = ROOF_KERNEL_ROPE, .low = 0.9, .high = 1.2},
    {.kernel = ROOF_KERNEL_ALL_TO_ALL, .low = 0.9, .high = 1.2}};
static struct roof_calibration all = {.id = "whole", .fit = all_fits, .count = COUNT(all_fits)};

/* The messages of a comparison. */
struct heard {
    struct roof_text header;
    struct roof_text rows;   /* "LINE:time/expected us;" */
    struct roof_text bad;    /* "LINE message\n" */
    struct roof_text models; /* "NAME as LAYOUT;" */
    enum roof_status fail;   /* of the row callback */
    size_t columns;
    bool metrics;
    struct roof_compared last;
    int64_t batch; /* of the last row */
    int derived_line;
    double derived;
};

static enum roof_status on_hardware(void *context, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error)
{
    (void)context;
    *out = strcmp(name, "ten") == 0         ? ten
           : strcmp(name, "whole") == 0     ? whole
           : strcmp(name, "synthetic") == 0 ? plain
                                            : NULL;
    return *out != NULL ? ROOF_OK : roof_error_set(error, ROOF_UNSATISFIED, "no such device");
}

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    struct heard *const heard = context;
    roof_text_printf(&heard->models, "%s as %s;", name, layout);
    *out = small;
    return strcmp(name, "small") == 0 ? ROOF_OK
                                      : roof_error_set(error, ROOF_USAGE, "no such model");
}

static enum roof_status on_header(void *context, const char *const *column, size_t columns,
                                  bool metrics, struct roof_error *error)
{
    struct heard *const heard = context;
    (void)error;
    heard->metrics = metrics;
    heard->columns = columns;
    for (size_t i = 0; i < columns; i++) {
        roof_text_printf(&heard->header, "%s;", column[i]);
    }
    return ROOF_OK;
}

static enum roof_status on_end(void *context, const struct roof_records *records,
                               struct roof_error *error)
{
    struct heard *const heard = context;
    (void)error;
    heard->derived_line = records->derived_line;
    heard->derived = records->derived;
    return ROOF_OK;
}

static enum roof_status on_row(void *context, const struct roof_compared *row,
                               struct roof_error *error)
{
    struct heard *const heard = context;
    if (heard->fail != ROOF_OK) {
        return roof_error_set(error, heard->fail, "stop");
    }
    assert_int_equal(row->cells, heard->columns);
    assert_true(row->prediction != NULL && row->hardware != NULL);
    assert_true(row->metrics == heard->metrics);
    heard->last = *row;
    heard->batch =
        row->model_prediction == NULL ? 0 : row->model_prediction->scenario.common.shape.batch;
    if (row->metrics) {
        roof_text_printf(&heard->rows, "%s=%.6g ", row->metric, row->measured_s * 1e6);
    }
    roof_text_printf(&heard->rows, "%d:%.6g/", row->line, row->time_s * 1e6);
    if (isnan(row->expected_s)) {
        assert_int_equal(isnan(row->low_s) && isnan(row->high_s), 1);
        roof_text_put(&heard->rows, "-;");
    } else {
        assert_true(row->low_s <= row->expected_s && row->expected_s <= row->high_s);
        roof_text_printf(&heard->rows, "%.6g;", row->expected_s * 1e6);
    }
    return ROOF_OK;
}

static void on_bad(void *context, const struct roof_error *error)
{
    struct heard *const heard = context;
    assert_string_equal(error->source, path);
    assert_int_equal(error->status, ROOF_INVALID);
    roof_text_printf(&heard->bad, "%d %s\n", error->line, error->message);
}

static const char *model_of_all; /* that the caller names */
static struct heard heard;
static struct roof_comparison result;

static void forget(void)
{
    roof_text_free(&heard.header);
    roof_text_free(&heard.rows);
    roof_text_free(&heard.bad);
    roof_text_free(&heard.models);
    heard = (struct heard){.fail = ROOF_OK};
    roof_text_put(&heard.header, "");
    roof_text_put(&heard.rows, "");
    roof_text_put(&heard.bad, "");
    roof_text_put(&heard.models, "");
}

static enum roof_status compare(const char *text, const struct roof_scenario *base,
                                const char *group_by, struct roof_error *error)
{
    static const struct roof_compare_calls calls = {.context = &heard,
                                                    .hardware = on_hardware,
                                                    .model = on_model,
                                                    .header = on_header,
                                                    .row = on_row,
                                                    .end = on_end,
                                                    .bad = on_bad};
    struct roof_scenario scenario;
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    if (base == NULL) {
        roof_scenario_init(&scenario);
        base = &scenario;
    }
    return roof_compare(&result, path, base, "ten", model_of_all, group_by, &calls, error);
}

static void compare_ok(const char *text, const struct roof_scenario *base, const char *group_by)
{
    struct roof_error error = {0};
    if (compare(text, base, group_by, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
}

static void done(void)
{
    roof_comparison_free(&result);
    assert_null(result.private_data);
    forget();
}

/* --- header -------------------------------------------------------------------------------- */

static void test_header(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        const char *group_by;
        enum roof_status status;
        int line;
        const char *reason;
    } cases[] = {
        {"", NULL, ROOF_INVALID, 1,
         "the file has no column of measured values: measured_us, or for models ttft_ms, tpot_ms, "
         "e2e_ms or tokens_per_s"},
        {"# only this\n", NULL, ROOF_INVALID, 2, "the file has no column of measured values"},
        {"operator,n,k\ngemv,1,1\n", NULL, ROOF_INVALID, 1,
         "the file has no column of measured values"},
        {"model,run,ttft\n", NULL, ROOF_INVALID, 1, "or tokens_per_s; rename ttft: ttft_ms"},
        {"model,tokens_pre_s\n", NULL, ROOF_INVALID, 1, "; rename tokens_pre_s: tokens_per_s"},
        {"\n#\nmeasured_us,n\n", NULL, ROOF_INVALID, 3, "the file has no column operator or model"},
        {"Operators,measured_us\n", NULL, ROOF_INVALID, 1,
         "the file has no column operator or model"},
        {"ttft_ms,mean_ttft_ms\n", NULL, ROOF_INVALID, 1, "also as mean_ttft_ms"},
        {"operator,measured_us,n,k,n\n", NULL, ROOF_INVALID, 1, "the column n appears twice"},
        {"operator,measured_us,operator\n", NULL, ROOF_INVALID, 1, "operator appears twice"},
        {"operator,measured_us,Measured-us\n", NULL, ROOF_INVALID, 1, "also as Measured-us"},
        {"operator,measured_us,x,x\n", NULL, ROOF_INVALID, 1, "x appears twice"},
        {"operator,mea\"sured_us\n", NULL, ROOF_INVALID, 1, "quotes"},
        {"operator,measured_us,tag\n", "tg", ROOF_USAGE, 0, "unknown column 'tg'"},
        {"operator,measured_us,tag\n", "tag,", ROOF_USAGE, 0, "unknown column ''"},
        {"operator,measured_us,tag\n", "", ROOF_USAGE, 0, "unknown column ''"},
        {"operator,measured_us,tag\n", "tag,operator,tag", ROOF_USAGE, 0, "names 'tag' twice"},
        {"operator,measured_us,a,b,c,d,e,f,g,h,i,j,l,o,p,q,r\n",
         "operator,measured_us,a,b,c,d,e,f,g,h,i,j,l,o,p,q,r", ROOF_USAGE, 0, "at most 16"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        assert_int_equal(compare(cases[i].text, NULL, cases[i].group_by, &error), cases[i].status);
        if (strstr(error.message, cases[i].reason) == NULL) {
            fail_msg("%s", error.message);
        }
        assert_int_equal(error.line, cases[i].line);
        assert_null(result.private_data);
        assert_string_equal(heard.header.data, "");
        assert_int_equal(compare(cases[i].text, NULL, cases[i].group_by, NULL), cases[i].status);
    }
    /* A header without rows is fine, and what has no rows has no statistics. */
    compare_ok("tag,measured_us,\"a,b\",operator\r\n", NULL, "tag");
    assert_string_equal(heard.header.data, "tag;measured_us;a,b;operator;");
    assert_int_equal(result.groups, 0);
    assert_int_equal(result.bad, 0);
    assert_int_equal(result.columns, 1);
    assert_string_equal(result.column[0], "tag");
    assert_int_equal(result.overall.rows, 0);
    const double none[] = {result.overall.ideal_mape,         result.overall.expected_mape,
                           result.overall.below_ideal,        result.overall.expected_p90_ape,
                           result.overall.expected_bias,      result.overall.band_coverage,
                           result.overall.expected_median_ape};
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_true(none[i] != none[i]);
    }
    done();
    struct roof_scenario base;
    struct roof_error error = {0};
    roof_scenario_init(&base);
    static const struct roof_compare_calls calls = {
        .hardware = on_hardware, .model = on_model, .bad = on_bad};
    assert_int_equal(roof_compare(&result, "/tmp", &base, "ten", NULL, NULL, &calls, &error),
                     ROOF_IO);
    assert_int_equal(
        roof_compare(&result, "/no/such.csv", &base, "ten", NULL, NULL, &calls, &error), ROOF_IO);
    assert_string_equal(error.source, "/no/such.csv");
}

/* --- rows ---------------------------------------------------------------------------------- */

static void test_bad_rows(void **unused)
{
    (void)unused;
    compare_ok("operator,measured_us,hardware,m,n,k,weights,cache,x\n" /* 1 */
               "gemv,40.08,,,1000,1000,,,\n"
               "gemm,40.08,,1,1000,1000,,\n"     /* 3: a cell is missing */
               "gemm,40.08,,1,1000,1000,,,1,2\n" /* one too many */
               "germ,40.08,,1,1000,1000,,,\n"    /* 5 */
               ",40.08,,1,1000,1000,,,\n"
               "gemm,0,,1,1000,1000,,,\n" /* 7 */
               "gemm,-5,,1,1000,1000,,,\n"
               "gemm,,,1,1000,1000,,,\n" /* 9 */
               "gemm,nan,,1,1000,1000,,,\n"
               "gemm,12x,,1,1000,1000,,,\n"   /* 11 */
               "gemm,40.08,,1,1000,,,,\n"     /* no k */
               "gemm,40.08,,0,1000,1000,,,\n" /* 13 */
               "gemm,40.08,,1.5,1000,1000,,,\n"
               "gemm,40.08,,1,1000,1000,fp17,,\n" /* 15 */
               "gemm,40.08,,1,1000,1000,,hot,\n"
               "gemv,40.08,,1,1000,1000,,,\n" /* 17: takes no m */
               "gemv,40\"8,,,1000,1000,,,\n"
               "model,40.08,,,,,,,\n" /* 19: which? */
               "gemv,40.08,nobody,,1000,1000,,,\n"
               "gemv,40.08,nobody,1,1000,x,,,\"\n\"\n" /* 21: skipped before it is read */
               "gemv,40.08,,,1000,1000,,,\n",
               NULL, NULL);
    assert_string_equal(heard.rows.data, "2:20.04/40.08;23:20.04/40.08;");
    assert_int_equal(result.overall.rows, 2);
    assert_int_equal(result.overall.skipped, 2 + 17);
    assert_int_equal(result.bad, 17);
    assert_near(result.overall.expected_mape + 1, 1, 1e-9);
    const char *at = heard.bad.data;
    static const struct {
        int line;
        const char *reason;
    } expected[] = {{3, "the row has 8 cells, the header 9"},
                    {4, "the row has 10 cells, the header 9"},
                    {5, "unknown operator 'germ'"},
                    {6, "unknown operator ''"},
                    {7, "measured_us"},
                    {8, "measured_us"},
                    {9, "measured_us"},
                    {10, "measured_us"},
                    {11, "measured_us"},
                    {12, "needs k ("},
                    {13, "cell 4: "},
                    {14, "cell 4: "},
                    {15, "cell 7: "},
                    {16, "cell 8: "},
                    {17, "gemv does not take m"},
                    {18, "quotes"},
                    {19, "needs a model"}};
    for (size_t i = 0; i < COUNT(expected); i++) {
        const char *const next = strchr(at, '\n');
        assert_non_null(next);
        char line[400];
        snprintf(line, sizeof line, "%.*s", (int)(next - at), at);
        if (strtol(line, NULL, 10) != expected[i].line ||
            strstr(line, expected[i].reason) == NULL) {
            fail_msg("line %d: %s", expected[i].line, line);
        }
        at = next + 1;
    }
    assert_string_equal(at, "");
    done();
}

/* An empty cell and a missing column say what the options say. */
static void test_options(void **unused)
{
    (void)unused;
    struct roof_scenario base;
    roof_scenario_init(&base);
    base.common.shape.k = 500;
    base.common.formats.weights = ROOF_PRECISION_FP8_E4M3; /* by 16-bit kernels */
    compare_ok("operator,measured_us,n,k,weights,stack\n"
               "gemv,1,1000,,fp16,\n"
               "gemv,1,1000,1000,fp16,\n"
               "gemv,1,1000,1000,fp16,vllm\n"
               "gemv,1,1000,1000,fp16,trtllm\n"
               "gemv,1,1000,1000,,\n",
               &base, NULL);
    assert_string_equal(heard.bad.data, "");
    /* 500,000 weights, 500 inputs, 1000 results; with 8-bit weights 1,000,000 + 4000 bytes. A stack
     * that was not measured is expected to be as the others are. */
    assert_string_equal(heard.rows.data,
                        "2:10.03/20.06;3:20.04/40.08;4:20.04/40.08;5:20.04/40.08;6:10.04/20.08;");
    done();
    /* Its band is wider: 40.08 x 0.75 / 1.25 to 40.08 x 1.2 x 1.25. */
    compare_ok("operator,measured_us,n,k,stack\n"
               "gemv,30.1,1000,1000,vllm\n"
               "gemv,30.0,1000,1000,vllm\n"
               "gemv,48.0,1000,1000,vllm\n"
               "gemv,48.2,1000,1000,vllm\n"
               "gemv,24.1,1000,1000,trtllm\n"
               "gemv,24.0,1000,1000,trtllm\n"
               "gemv,60.1,1000,1000,trtllm\n"
               "gemv,60.2,1000,1000,trtllm\n",
               NULL, "measured_us");
    for (size_t i = 0; i < result.groups; i++) {
        assert_near(result.group[i].band_coverage + 1, i == 0 || i == 2 || i == 4 || i == 6 ? 2 : 1,
                    0);
    }
    assert_int_equal(result.groups, 8);
    done();
    /* The device of a row, else the option's. */
    compare_ok("hardware,operator,measured_us,n,k\n"
               "synthetic,gemv,1,1000,1000\n"
               ",gemv,1,1000,1000\n"
               "ten,gemv,1,1000,1000\n",
               NULL, NULL);
    assert_string_equal(heard.rows.data, "2:20.04/-;3:20.04/40.08;4:20.04/40.08;");
    done();
}

/* --- statistics ---------------------------------------------------------------------------- */

static void test_statistics(void **unused)
{
    (void)unused;
    /* expected / measured - 1: 0, -0.2, 0.25, 0.6, 3. */
    compare_ok("operator,n,k,measured_us,hardware\n"
               "gemv,1000,1000,40.08,\n"
               "gemv,1000,1000,50.1,\n"
               "gemv,1000,1000,32.064,\n"
               "gemv,1000,1000,25.05,\n"
               "gemv,1000,1000,10.02,\n"
               "gemv,1000,1000,10.02,nobody\n",
               NULL, NULL);
    const struct roof_compare_group *const g = &result.overall;
    assert_int_equal(g->rows, 5);
    assert_int_equal(g->skipped, 1);
    assert_near(g->expected_mape, 4.05 / 5, 1e-9);
    assert_near(g->expected_median_ape, 0.25, 1e-9);
    assert_near(g->expected_p90_ape, 0.6 + 0.6 * 2.4, 1e-9); /* at 3.6 of 0..4 */
    assert_near(g->expected_bias, 3.65 / 5, 1e-9);
    assert_near(g->band_coverage, 0.4, 1e-9); /* 40.08 and 32.064 */
    assert_near(g->ideal_mape, (0.5 + 0.6 + 0.375 + 0.2 + 1) / 5, 1e-9);
    assert_near(g->below_ideal, 0.2, 1e-9);
    /* Without --group-by, one group of all. */
    assert_int_equal(result.columns, 0);
    assert_int_equal(result.groups, 1);
    assert_int_equal(result.group[0].rows, 5);
    done();
    /* An even number: the median lies between two. */
    compare_ok("operator,n,k,measured_us\n"
               "gemv,1000,1000,20.04\n" /* 1 */
               "gemv,1000,1000,40.08\n" /* 0 */,
               NULL, NULL);
    assert_near(result.overall.expected_median_ape, 0.5, 1e-9);
    assert_near(result.overall.expected_p90_ape, 0.9, 1e-9);
    done();
    /* One row: all are its own. */
    compare_ok("operator,n,k,measured_us\ngemv,1000,1000,45\n", NULL, NULL);
    const double error = 1 - 40.08 / 45;
    assert_near(result.overall.expected_median_ape, error, 1e-9);
    assert_near(result.overall.expected_p90_ape, error, 1e-9);
    assert_near(result.overall.expected_mape, error, 1e-9);
    assert_near(result.overall.expected_bias, -error, 1e-9);
    assert_near(result.overall.band_coverage, 1, 0);
    assert_true(result.overall.below_ideal == 0);
    done();
}

/* Rows that have a bound but nothing to expect count for the bound only. */
static void test_nothing_expected(void **unused)
{
    (void)unused;
    compare_ok("operator,n,k,measured_us,hardware\n"
               "gemv,1000,1000,40.08,synthetic\n"
               "gemv,1000,1000,20.04,synthetic\n"
               "gemv,1000,1000,32.064,ten\n",
               NULL, "hardware");
    assert_int_equal(result.overall.rows, 3);
    assert_near(result.overall.expected_mape, 0.25, 1e-9);
    assert_near(result.overall.band_coverage, 1, 0);
    assert_near(result.overall.ideal_mape, (0.5 + 0 + 0.375) / 3, 1e-9);
    assert_int_equal(result.groups, 2);
    assert_int_equal(result.group[0].rows, 2);
    assert_true(result.group[0].expected_mape != result.group[0].expected_mape);
    assert_true(result.group[0].band_coverage != result.group[0].band_coverage);
    assert_near(result.group[0].ideal_mape, 0.25, 1e-9);
    assert_near(result.group[1].expected_mape, 0.25, 1e-9);
    done();
}

/* Groups stand in the order of their first rows; columns that mean nothing here are good for it. */
static void test_groups(void **unused)
{
    (void)unused;
    static const char text[] = "operator,n,k,measured_us,tag,who,hardware\n"
                               "gemv,1000,1000,40.08,z,me,\n"
                               "gemv,1000,1000,20.04,a,me,\n"
                               "gemv,1000,1000,20.04,z,you,\n"
                               "gemv,1000,1000,20.04,z,me,\n"
                               "gemv,1000,1000,20.04,\"a,b\",,\n"
                               "gemv,1000,1000,20.04,ab,,nobody\n"
                               "gemv,1000,1000,20.04,a,b,\n";
    static const struct {
        const char *tag;
        const char *who;
        size_t rows;
        size_t skipped;
    } expected[] = {{"z", "me", 2, 0}, {"a", "me", 1, 0}, {"z", "you", 1, 0},
                    {"a,b", "", 1, 0}, {"ab", "", 0, 1},  {"a", "b", 1, 0}};
    compare_ok(text, NULL, "tag,who");
    assert_int_equal(result.columns, 2);
    assert_string_equal(result.column[0], "tag");
    assert_string_equal(result.column[1], "who");
    assert_int_equal(result.groups, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_string_equal(result.group[i].value[0], expected[i].tag);
        assert_string_equal(result.group[i].value[1], expected[i].who);
        assert_int_equal(result.group[i].rows, expected[i].rows);
        assert_int_equal(result.group[i].skipped, expected[i].skipped);
    }
    assert_near(result.group[0].expected_mape, 0.5, 1e-9);
    assert_near(result.group[1].expected_mape, 1, 1e-9);
    assert_int_equal(result.overall.rows, 6);
    assert_near(result.overall.expected_mape, 5.0 / 6, 1e-9);
    done();
    compare_ok(text, NULL, "who,tag");
    assert_string_equal(result.group[0].value[0], "me");
    assert_string_equal(result.group[0].value[1], "z");
    done();
    /* Many groups, each found again. */
    struct roof_text many = ROOF_TEXT_INIT;
    roof_text_put(&many, "operator,n,k,measured_us,id\n");
    for (int i = 0; i < 2000; i++) {
        roof_text_printf(&many, "gemv,1000,1000,40.08,%d\n", i * 7 % 500);
    }
    compare_ok(many.data, NULL, "id");
    assert_int_equal(result.groups, 500);
    for (size_t i = 0; i < result.groups; i++) {
        assert_int_equal(result.group[i].rows, 4);
        assert_int_equal(strtoul(result.group[i].value[0], NULL, 10), i * 7 % 500);
    }
    roof_text_free(&many);
    done();
}

/* --- models -------------------------------------------------------------------------------- */

static void test_models(void **unused)
{
    (void)unused;
    struct roof_scenario asked;
    struct roof_model_prediction *const model_prediction = malloc(sizeof *model_prediction);
    assert_non_null(model_prediction);
    roof_scenario_init(&asked);
    asked.context = 128;
    asked.common.shape.batch = 3;
    assert_int_equal(roof_predict_model(model_prediction, small, &asked, plain, NULL), ROOF_OK);
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_printf(&text,
                     "operator,measured_us,hardware,model,batch,context,n\n"
                     "model,%.17g,synthetic,small,3,128,\n"
                     "model,1,synthetic,big,3,128,\n"
                     "model,1,synthetic,small,3,128,5\n"
                     "gemv,1,synthetic,small,,128,5\n"
                     "model,1,synthetic,small,0,,\n",
                     model_prediction->step_s * 2e6);
    compare_ok(text.data, NULL, NULL);
    assert_int_equal(result.bad, 4);
    assert_int_equal(result.overall.rows, 1);
    assert_near(result.overall.ideal_mape, 0.5, 1e-9);
    assert_non_null(strstr(heard.bad.data, "3 no such model\n"));
    assert_non_null(strstr(heard.bad.data, "4 cell 7: "));
    assert_non_null(strstr(heard.bad.data, "5 cell 6: "));
    assert_non_null(strstr(heard.bad.data, "6 cell 5: "));
    done();
    roof_text_free(&text);
    free(model_prediction);
}

/* A model has a lower bound and an estimate with its range; it has no estimate when one of its
 * operators has no parameters. */
static void test_expected_of_models(void **unused)
{
    (void)unused;
    struct roof_model_prediction *const model_prediction = malloc(sizeof *model_prediction);
    assert_non_null(model_prediction);
    struct roof_scenario cases[4];
    for (size_t i = 0; i < COUNT(cases); i++) {
        roof_scenario_init(&cases[i]);
        cases[i].common.shape.batch = 3;
    }
    cases[0].context = 128;
    cases[1].context = 128;
    cases[1].phase = ROOF_PHASE_PREFILL;
    cases[2].prompt = 100;
    cases[2].generate = 20;
    cases[3] = cases[1];
    cases[3].pp = 2;
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_text rows = ROOF_TEXT_INIT;
    roof_text_put(
        &text, "operator,measured_us,hardware,model,phase,batch,context,prompt,generate,pp,tag\n");
    double mape = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(roof_predict_model(model_prediction, small, &cases[i], whole, NULL),
                         ROOF_OK);
        const struct roof_prediction *const total = &model_prediction->total;
        const bool request = model_prediction->scenario.phase == ROOF_PHASE_REQUEST;
        const double bound = request ? model_prediction->e2e_s : model_prediction->step_s;
        const double step =
            request ? model_prediction->expected_e2e_s : model_prediction->expected_step_s;
        /* Stages that work at the same time are off by as much as those that do not. */
        const double low = total->expected_low_s * step / total->expected_s;
        const double high = total->expected_high_s * step / total->expected_s;
        assert_true(step > bound);
        assert_true(low < 0.95 * step && high > 1.05 * step);
        assert_true((step > 1.2 * total->expected_s) == (i == 3));
        const struct {
            double s;
            const char *tag;
        } measured[] = {{step, "in"},
                        {low * 1.001, "in"},
                        {low / 1.001, "out"},
                        {high / 1.001, "in"},
                        {high * 1.001, "out"}};
        for (size_t k = 0; k < COUNT(measured); k++) {
            const char *const lengths = i == 2 ? ",100,20," : i == 3 ? "128,,,2" : "128,,,";
            roof_text_printf(&text, "model,%.17g,whole,small,%s,3,%s,%s\n", measured[k].s * 1e6,
                             i % 2 == 1 ? "prefill" : "", lengths, measured[k].tag);
            roof_text_printf(&rows, "%zu:%.6g/%.6g;", 2 + i * COUNT(measured) + k, bound * 1e6,
                             step * 1e6);
            mape += fabs(step / measured[k].s - 1);
        }
    }
    compare_ok(text.data, NULL, "tag");
    assert_string_equal(heard.bad.data, "");
    assert_string_equal(heard.rows.data, rows.data);
    assert_int_equal(result.groups, 2);
    assert_near(result.group[0].band_coverage, 1, 0);
    assert_true(result.group[1].band_coverage == 0);
    assert_near(result.overall.expected_mape, mape / 20, 1e-12);
    done();
    /* Without parameters for one kernel, after a row that had all. */
    compare_ok("operator,measured_us,hardware,model,batch,context\n"
               "model,1,whole,small,1,128\n"
               "model,1,ten,small,1,128\n"
               "model,1,synthetic,small,1,128\n"
               "model,1,whole,big,1,128\n",
               NULL, "hardware");
    assert_int_equal(result.groups, 3);
    assert_int_equal(isnan(result.group[0].expected_mape) != 0, 0);
    for (size_t i = 1; i < result.groups; i++) {
        assert_int_equal(result.group[i].rows, 1);
        assert_true(isnan(result.group[i].expected_mape));
        assert_true(isnan(result.group[i].band_coverage));
        assert_int_equal(isnan(result.group[i].ideal_mape) != 0, 0);
    }
    assert_string_equal(heard.bad.data, "5 no such model\n");
    done();
    roof_text_free(&rows);
    roof_text_free(&text);
    free(model_prediction);
}

/* The layout of a row's checkpoint goes to who knows models; none is an empty one. */
static void test_layouts(void **unused)
{
    (void)unused;
    compare_ok("layout,operator,measured_us,model,context,n,k\n"
               "q8_0,model,1,small,128,,\n"
               ",model,1,small,128,,\n"
               "q8_0,gemv,1,small,,10,10\n"
               "\"a, b\",model,1,big,128,,\n"
               "q8_0,model,1,,128,,\n",
               NULL, "layout");
    assert_string_equal(heard.models.data, "small as q8_0;small as ;big as a, b;");
    assert_non_null(strstr(heard.bad.data, "5 no such model\n"));
    assert_non_null(strstr(heard.bad.data, "6 a row with operator model needs a model\n"));
    assert_int_equal(result.groups, 3);
    assert_string_equal(result.group[0].value[0], "q8_0");
    assert_int_equal(result.group[0].rows, 2);
    assert_int_equal(result.group[0].skipped, 1);
    assert_string_equal(result.group[1].value[0], "");
    assert_string_equal(result.group[2].value[0], "a, b");
    assert_int_equal(result.group[2].rows, 0);
    assert_int_equal(result.group[2].skipped, 1);
    done();
    compare_ok("operator,measured_us,model,context\nmodel,1,small,128\n", NULL, NULL);
    assert_string_equal(heard.models.data, "small as ;");
    done();
    struct roof_error error = {0};
    assert_int_equal(compare("operator,measured_us,layout,model,layout\n", NULL, NULL, &error),
                     ROOF_INVALID);
    assert_non_null(strstr(error.message, "layout appears twice"));
}

/* --- metrics of serving -------------------------------------------------------------------- */

/* Predicts three requests in flight, of 100 tokens and 20 generated, on the device `whole`. */
static struct roof_model_prediction *predict_requests(void)
{
    struct roof_scenario asked;
    struct roof_model_prediction *const p = malloc(sizeof *p);
    assert_non_null(p);
    roof_scenario_init(&asked);
    asked.prompt = 100;
    asked.generate = 20;
    asked.common.shape.batch = 3;
    assert_int_equal(roof_predict_model(p, small, &asked, whole, NULL), ROOF_OK);
    return p;
}

/* Writes the rows of on_row for a record in which all metrics were measured at twice the bound. */
static void put_metrics(struct roof_text *out, int line, const struct roof_model_prediction *p)
{
    const struct {
        const char *key;
        double bound, expected;
    } metrics[] = {{"ttft_ms", p->ttft_s, p->expected_ttft_s},
                   {"tpot_ms", p->tpot_s, p->expected_tpot_s},
                   {"e2e_ms", p->e2e_s, p->expected_e2e_s},
                   {"tokens_per_s", 1 / p->tokens_per_s, 1 / p->expected_tokens_per_s}};
    for (size_t i = 0; i < COUNT(metrics); i++) {
        roof_text_printf(out, "%s=%.6g %d:%.6g/%.6g;", metrics[i].key, 2e6 * metrics[i].bound, line,
                         1e6 * metrics[i].bound, 1e6 * metrics[i].expected);
    }
}

static void test_metrics(void **unused)
{
    (void)unused;
    struct roof_model_prediction *const p = predict_requests();
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_text rows = ROOF_TEXT_INIT;
    roof_text_printf(&text,
                     "model,hardware,concurrency,isl,osl,ttft_ms,tpot_ms,e2e_ms,tokens_per_s\n"
                     "small,whole,3,100,20,%.17g,%.17g,%.17g,%.17g\n"
                     "small,whole,3,100,20,,%.17g,,\n"
                     "small,whole,3,,,1,,,\n"
                     "small,whole,3,100,20,,,,\n"
                     "small,whole,3,100,20,0,,,\n"
                     "small,nobody,3,100,20,1,,,\n",
                     2e3 * p->ttft_s, 2e3 * p->tpot_s, 2e3 * p->e2e_s, p->tokens_per_s / 2,
                     2e3 * p->tpot_s);
    put_metrics(&rows, 2, p);
    roof_text_printf(&rows, "tpot_ms=%.6g 3:%.6g/%.6g;", 2e6 * p->tpot_s, 1e6 * p->tpot_s,
                     1e6 * p->expected_tpot_s);
    compare_ok(text.data, NULL, "isl");
    assert_true(heard.metrics);
    assert_string_equal(heard.rows.data, rows.data);
    assert_string_equal(
        heard.bad.data,
        "4 phase decode has no ttft_ms; a whole request has one: give prompt and generate\n5 no "
        "measured value: measured_us, ttft_ms, tpot_ms, e2e_ms and tokens_per_s are empty\n6 "
        "ttft_ms must be a number from 0.000001 to 1e+12, not '0'\n");
    assert_int_equal(result.overall.rows, 5);
    assert_int_equal(result.overall.skipped, 4);
    assert_near(result.overall.ideal_mape, 0.5, 1e-12);
    assert_int_equal(result.columns, 2);
    assert_string_equal(result.column[1], "metric");
    assert_int_equal(result.groups, 5); /* of 100 tokens four, and one without a prompt */
    assert_string_equal(result.group[1].value[1], "tpot_ms");
    assert_int_equal(result.group[1].rows, 2);
    assert_string_equal(result.group[4].value[0], ""); /* the row without isl */
    assert_string_equal(result.group[4].value[1], "ttft_ms");
    assert_int_equal(result.group[4].skipped, 1);
    assert_string_equal(result.group[0].value[1], "ttft_ms");
    assert_int_equal(result.group[0].skipped, 2); /* 0, and a device that is not known */
    assert_int_equal(result.group[1].skipped, 0); /* no value: only in all */
    done();
    /* An operator has a time, and nothing else. */
    compare_ok("operator,n,k,ttft_ms,measured_us\ngemv,1000,1000,1,\ngemv,1000,1000,,20.04\n", NULL,
               NULL);
    assert_string_equal(
        heard.bad.data,
        "2 ttft_ms is for models; the measured time of an operator is measured_us\n");
    assert_int_equal(result.overall.rows, 1);
    done();
    roof_text_free(&text);
    roof_text_free(&rows);
    free(p);
}

/* The requests of a benchmark have the mean lengths of those that were completed: 401 / 4 tokens
 * are 100, 78 / 4 are 20. The lines are those that the benchmarks write. */
static void test_benchmarks(void **unused)
{
    (void)unused;
    static const char vllm[] =
        "{\"model_id\": \"small\", \"hardware\": \"whole\", \"label\": null, "
        "\"request_rate\": \"inf\", \"max_concurrency\": 3";
    static const char sglang[] = "{\"backend\": \"sglang\", \"hardware\": \"whole\", "
                                 "\"request_rate\": Infinity, \"max_concurrency\": 3, "
                                 "\"concurrency\": 2.1, \"accept_length\": null";
    static const char at_rate[] = "{\"backend\": \"sglang\", \"hardware\": \"whole\", "
                                  "\"request_rate\": 4.0, \"max_concurrency\": 9, "
                                  "\"concurrency\": 2.9, \"accept_length\": NaN";
    const struct {
        const char *text, *e2e;
    } cases[] = {{vllm, "mean_e2el_ms"}, {sglang, "mean_e2e_latency_ms"}, {at_rate, "e2e_ms"}};
    struct roof_model_prediction *const p = predict_requests();
    struct roof_scenario base;
    roof_scenario_init(&base);
    model_of_all = "small";
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_text rows = ROOF_TEXT_INIT;
        roof_text_printf(&text,
                         "%s, \"completed\": 4, \"total_input_tokens\": 401, "
                         "\"total_output_tokens\": 78, \"mean_ttft_ms\": %.17g, "
                         "\"mean_tpot_ms\": %.17g, \"%s\": %.17g, \"output_throughput\": %.17g, "
                         "\"itls\": [[0.1]]}\n",
                         cases[i].text, 2e3 * p->ttft_s, 2e3 * p->tpot_s, cases[i].e2e,
                         2e3 * p->e2e_s, p->tokens_per_s / 2);
        put_metrics(&rows, 1, p);
        base.common.shape.batch = 7; /* the record's own number wins */
        compare_ok(text.data, &base, NULL);
        assert_string_equal(heard.bad.data, "");
        assert_string_equal(heard.rows.data, rows.data);
        done();
        roof_text_free(&text);
        roof_text_free(&rows);
    }
    model_of_all = NULL;
    free(p);
}

/* A benchmark without a limit has no known number of requests in flight. */
static void test_unknown_concurrency(void **unused)
{
    (void)unused;
    static const char header[] = "model,hardware,request_rate,max_concurrency,concurrency,batch,"
                                 "completed,total_input_tokens,"
                                 "total_output_tokens,tpot_ms\n";
    static const struct {
        const char *row, *bad;
    } cases[] = {
        {"small,whole,inf,,,,4,400,80,1\n",
         "2 the mean number of requests in flight is unknown, since the benchmark ran without "
         "max_concurrency: give it with batch\n"},
        {"small,whole,2,8,,,4,400,80,1\n",
         "2 the mean number of requests in flight is unknown, since the benchmark ran at a request "
         "rate: give it with batch\n"},
        {"small,whole,2,8,,3,4,400,80,1\n", ""},
        {"small,whole,inf,3,,3,4,400,80,1\n", ""},
        {"small,whole,,,3,4,,,,1\n", "2 the requests in flight are the batch: 3 and 4 differ\n"},
        {"small,whole,inf,3,,,0,400,80,1\n",
         "2 completed must be a number from 1 to 1e+15, not '0'\n"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", header, cases[i].row);
        compare_ok(text, NULL, NULL);
        assert_string_equal(heard.bad.data, cases[i].bad);
        assert_int_equal(result.overall.rows, *cases[i].bad == '\0');
        done();
    }
}

/* Little's law gives the mean number of requests in flight: 0.75 requests/s for 2 s + 20 x 0.1 s
 * are 3, and 1.5 requests/s for 2.5 s are 3.75. What the result or the question has wins. */
static void test_derived_concurrency(void **unused)
{
    (void)unused;
    static const char header[] =
        "model,hardware,request_rate,max_concurrency,concurrency,completed,total_input_tokens,"
        "total_output_tokens,request_throughput,mean_ttft_ms,mean_tpot_ms,mean_e2el_ms\n";
    static const struct {
        const char *row;
        int64_t asked, batch;
        double derived, rate;
    } cases[] = {
        {"small,whole,0.8,,,4,400,84,0.75,2000,100,\n", 0, 3, 3, 0.8},
        {"small,whole,1.6,7,,4,400,84,1.5,2000,100,2500\n", 0, 4, 3.75, 0},   /* it is held back */
        {"small,whole,1.6,9,,4,400,84,1.5,2000,100,2500\n", 0, 4, 3.75, 1.6}, /* it is not */
        {"small,whole,inf,,,4,400,84,0.75,2000,100,\n", 0, 3, 3, (double)INFINITY}, /* at once */
        {"small,whole,1.6,,,4,400,4,1.5,2000,,\n", 0, 3, 3, 1.6}, /* one token: no TPOT */
        {"small,whole,0.8,,2.1,4,400,84,0.75,2000,100,\n", 0, 2, 0, 0.8},
        {"small,whole,0.8,,,4,400,84,0.75,2000,100,\n", 5, 5, 0, 0.8},
        {"small,whole,0.8,,,4,400,84,0.001,2000,100,\n", 0, 1, 0.004, 0.8},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[512];
        struct roof_scenario base;
        roof_scenario_init(&base);
        base.common.shape.batch = cases[i].asked;
        snprintf(text, sizeof text, "%s%s", header, cases[i].row);
        compare_ok(text, &base, NULL);
        assert_string_equal(heard.bad.data, "");
        assert_int_equal(heard.batch, cases[i].batch);
        assert_int_equal(heard.derived_line, cases[i].derived > 0 ? 2 : 0);
        assert_true(fabs(heard.derived - cases[i].derived) < 1e-12);
        assert_true(cases[i].rate > 0 ? heard.last.request_rate == cases[i].rate
                                      : isnan(heard.last.request_rate));
        assert_true(heard.last.requests == 4);
        done();
    }
}

/* A rate beside a time per token is the same measurement, and the first token and the end of one
 * among several requests have their waits. */
static void test_twice(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        bool shared, repeated;
    } cases[] = {
        {"concurrency,ttft_ms\nsmall,whole,100,20,3,1\n", true, false},
        {"concurrency,ttft_ms\nsmall,whole,100,20,1,1\n", false, false},
        {"concurrency,e2e_ms\nsmall,whole,100,20,3,1\n", true, false},
        {"concurrency,e2e_ms\nsmall,whole,100,20,1,1\n", false, false},
        {"tpot_ms,tokens_per_s\nsmall,whole,100,20,1,9\n", false, true},
        {"ttft_ms,tokens_per_s\nsmall,whole,100,20,1,9\n", false, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, "model,hardware,prompt,generate,%s", cases[i].text);
        compare_ok(text, NULL, NULL);
        assert_string_equal(heard.bad.data, "");
        assert_int_equal(heard.last.shared, cases[i].shared);
        assert_int_equal(heard.last.repeated, cases[i].repeated);
        done();
    }
}

/* --- the plumbing -------------------------------------------------------------------------- */

/* Times that the model itself gives have no error, whatever the columns. */
static void test_own_times(void **unused)
{
    (void)unused;
    struct roof_text text = ROOF_TEXT_INIT;
    int rows = 0;
    for (size_t i = 0; i < COUNT(fit); i++) { /* a product alone, and many of them */
        fit[i].parameter[P_LAUNCH] = 3000 + 1000 * (double)i;
        fit[i].parameter[P_K_STEP] = 50;
    }
    roof_text_put(&text, "k,n,m,batch,operator,cache,working_set_bytes,measured_us,"
                         "no_launch_overhead,note\n");
    for (int64_t m = 1; m <= 4096; m *= 8) {
        for (int64_t k = 64; k <= 8192; k *= 4) {
            struct roof_workload w = ROOF_WORKLOAD_INIT;
            struct roof_prediction prediction;
            w.op = rows % 3 == 0 ? ROOF_OPERATOR_BMM : ROOF_OPERATOR_GEMM;
            w.shape = (struct roof_shape){.m = m, .n = 100 + k, .k = k, .batch = 1 + rows % 2};
            w.cache = rows % 4 == 1 ? ROOF_CACHE_WARM : ROOF_CACHE_COLD;
            w.working_set = rows % 4 == 2 ? 1500000 : 0;
            assert_int_equal(roof_predict(&prediction, &w, ten, NULL), ROOF_OK);
            roof_text_printf(&text, "%lld,%lld,%lld,%lld,%s,%s,", (long long)k,
                             (long long)w.shape.n, (long long)m, (long long)w.shape.batch,
                             roof_operator_row(w.op)->name,
                             w.cache == ROOF_CACHE_WARM ? "warm" : "");
            if (w.working_set > 0) {
                roof_text_printf(&text, "%lld", (long long)w.working_set);
            }
            roof_text_put(&text, ",");
            roof_text_number(&text, prediction.expected_s * 1e6);
            roof_text_put(&text, ",,a note\n");
            rows++;
        }
    }
    compare_ok(text.data, NULL, "operator");
    assert_string_equal(heard.bad.data, "");
    assert_int_equal(result.overall.rows, rows);
    assert_true(rows >= 20);
    assert_true(result.overall.expected_mape < 1e-12);
    assert_true(result.overall.expected_p90_ape < 1e-12);
    assert_near(result.overall.band_coverage, 1, 0);
    assert_true(result.overall.ideal_mape > 0.1);
    assert_int_equal(result.groups, 2);
    for (size_t i = 0; i < COUNT(fit); i++) {
        fit[i].parameter[P_LAUNCH] = fit[i].parameter[P_K_STEP] = 0;
    }
    done();
    roof_text_free(&text);
}

/* The caller's failure ends it. */
static void test_callers_failure(void **unused)
{
    (void)unused;
    struct roof_error error = {0};
    heard.fail = ROOF_IO;
    assert_int_equal(
        compare("operator,n,k,measured_us\ngemv,1000,1000,40.08\n", NULL, NULL, &error), ROOF_IO);
    assert_string_equal(error.message, "stop");
    assert_null(result.private_data);
    forget();
    roof_comparison_free(&result); /* nothing is fine */
}

static int set_up(void **unused)
{
    (void)unused;
    static const char model[] =
        "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\","
        " \"hidden_size\": 64, \"intermediate_size\": 128, \"num_hidden_layers\": 2,"
        " \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"vocab_size\": 100,"
        " \"max_position_embeddings\": 1024}";
    for (size_t i = 0; i < COUNT(fit); i++) {
        double *const p = fit[i].parameter;
        p[P_DRAM] = 0.5;
        p[P_PEAK] = p[P_L2_CAPACITY] = p[P_WAVE] = 1;
        p[P_FEED] = p[P_L2_RATE] = p[P_STREAM] = p[P_REDUCE] = p[P_EPILOGUE] = p[P_Q_RATE] = 1e12;
        p[P_SPLIT] = 1e15;
    }
    for (size_t i = 0; i < COUNT(all_fits); i++) { /* where a fit begins is a fair kernel */
        size_t count = 0;
        const struct roof_parameter *const row = roof_kernel_parameters(all_fits[i].kernel, &count);
        for (size_t k = 0; k < count; k++) {
            all_fits[i].parameter[k] = row[k].start;
        }
    }
    ten = parse_device(DEVICE);
    plain = parse_device(SYNTHETIC);
    whole = parse_device(WHOLE);
    ten->calibration = &calibration;
    whole->calibration = &all;
    forget();
    const int file = mkstemp(path);
    if (file < 0 || close(file) != 0) {
        return -1;
    }
    struct roof_error error = {0};
    if (roof_model_parse(&small, model, strlen(model), "small.json", &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    roof_hardware_free(ten);
    roof_hardware_free(plain);
    roof_hardware_free(whole);
    roof_model_free(small);
    roof_text_free(&heard.header);
    roof_text_free(&heard.rows);
    roof_text_free(&heard.bad);
    roof_text_free(&heard.models);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_bad_rows),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_nothing_expected),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_expected_of_models),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_benchmarks),
        cmocka_unit_test(test_unknown_concurrency),
        cmocka_unit_test(test_derived_concurrency),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_own_times),
        cmocka_unit_test(test_callers_failure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
