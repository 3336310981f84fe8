// SPDX-License-Identifier: MIT
/* The table of fields itself; what the rows of each kind hold is in test_report.c. */
#include "support.h"

#include <stdlib.h>

static const enum roof_output outputs[] = {ROOF_OUTPUT_TEXT, ROOF_OUTPUT_JSON, ROOF_OUTPUT_NDJSON,
                                           ROOF_OUTPUT_CSV, ROOF_OUTPUT_MARKDOWN};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What fails leaves no columns behind. */
static void test_refused_columns(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_output output;
        const char *columns;
        const char *reason;
    } cases[] = {
        {ROOF_OUTPUT_CSV, "time_us,nope", "unknown column 'nope'"},
        {ROOF_OUTPUT_CSV, "time_us,flops,time_us", "'time_us' twice"},
        {ROOF_OUTPUT_CSV, "time_us,", "unknown column ''"},
        {ROOF_OUTPUT_JSON, "time_us", "--columns goes with"},
        {ROOF_OUTPUT_TEXT, "time_us", "--columns goes with"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_table table;
        struct roof_error error = {0};
        assert_int_equal(roof_table_open(&table, cases[i].output, ROOF_TABLE_PREDICTIONS,
                                         ROOF_OPERATOR_GEMM, cases[i].columns, &error),
                         ROOF_USAGE);
        assert_non_null(strstr(error.message, cases[i].reason));
        assert_int_equal(table.count, 0);
    }
}

/* Only an operator's own dimensions are columns, and every operator fits. */
static void test_columns_of_operators(void **unused)
{
    (void)unused;
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        for (int d = 0; d < ROOF_DIM_COUNT; d++) {
            struct roof_table table;
            const enum roof_status status =
                roof_table_open(&table, ROOF_OUTPUT_CSV, ROOF_TABLE_RECOMMENDATIONS,
                                (enum roof_operator)op, roof_dimensions[d].key, NULL);
            assert_int_equal(status == ROOF_OK,
                             roof_operator_has((enum roof_operator)op, (enum roof_dimension)d));
        }
        struct roof_table all;
        assert_int_equal(roof_table_open(&all, ROOF_OUTPUT_CSV, ROOF_TABLE_RECOMMENDATIONS,
                                         (enum roof_operator)op, NULL, NULL),
                         ROOF_OK);
        assert_true(all.count < ROOF_COLUMNS_MAX);
    }
}

/* Tables without rows: an empty array, a header alone, or nothing. */
static void test_no_rows(void **unused)
{
    (void)unused;
    static const char *const expected[COUNT(outputs)] = {
        NULL, "[]\n", "", "name,summary,dimensions\n",
        "| name | summary | dimensions |\n| --- | --- | --- |\n"};
    for (size_t i = 0; i < COUNT(outputs); i++) {
        struct roof_table table;
        struct roof_text text = ROOF_TEXT_INIT;
        assert_int_equal(roof_table_open(&table, outputs[i], ROOF_TABLE_OPERATORS,
                                         ROOF_OPERATOR_GEMM, NULL, NULL),
                         ROOF_OK);
        roof_table_begin(&table, &text);
        roof_table_end(&table, &text);
        if (expected[i] != NULL) {
            assert_string_equal(text.data == NULL ? "" : text.data, expected[i]);
        }
        roof_text_free(&text);
    }
}

/* The columns that people see of a prediction are those of the roles the time hangs on. */
static void test_readable_columns(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_operator op;
        const char *there;
        const char *not_there;
    } cases[] = {
        {ROOF_OPERATOR_GEMM, " weights ", " kv "},
        {ROOF_OPERATOR_FLASH_ATTENTION, " kv ", " weights "},
        {ROOF_OPERATOR_RMSNORM, " out ", " weights "},
        {ROOF_OPERATOR_EMBEDDING, " weights ", " activations "},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_table table;
        struct roof_text text = ROOF_TEXT_INIT;
        assert_int_equal(roof_table_open(&table, ROOF_OUTPUT_MARKDOWN, ROOF_TABLE_PREDICTIONS,
                                         cases[i].op, NULL, NULL),
                         ROOF_OK);
        roof_table_begin(&table, &text);
        assert_non_null(strstr(text.data, cases[i].there));
        assert_null(strstr(text.data, cases[i].not_there));
        roof_text_free(&text);
    }
}

/* Model predictions: what kernels are expected to take closes the row, for programs only. */
static void test_columns_of_models(void **unused)
{
    (void)unused;
    static const char end[] =
        ",tokens_per_s,tokens_per_s_per_user,expected_time_us,expected_low_us,expected_high_us,"
        "expected_bottleneck,expected_basis,expected_near_fraction,expected_step_ms,expected_ttft_"
        "ms,expected_tpot_ms,"
        "expected_e2e_ms,"
        "expected_tokens_per_s,expected_tokens_per_s_per_user\n";
    for (size_t i = 0; i < COUNT(outputs); i++) {
        struct roof_table table;
        struct roof_text text = ROOF_TEXT_INIT;
        assert_int_equal(roof_table_open(&table, outputs[i], ROOF_TABLE_INFERENCES,
                                         ROOF_OPERATOR_GEMM, NULL, NULL),
                         ROOF_OK);
        assert_true(table.count < ROOF_COLUMNS_MAX);
        roof_table_begin(&table, &text);
        const size_t length = strlen(end);
        if (outputs[i] == ROOF_OUTPUT_CSV) {
            assert_true(text.length > length);
            assert_string_equal(text.data + text.length - length, end);
        } else {
            assert_true(text.data == NULL || strstr(text.data, "expected_low") == NULL);
        }
        /* Each can be asked for. */
        roof_table_show(&table, "expected_tpot_ms");
        roof_text_clear(&text);
        roof_table_begin(&table, &text);
        assert_int_equal(text.data != NULL && strstr(text.data, "expected_tpot_ms") != NULL,
                         outputs[i] != ROOF_OUTPUT_JSON && outputs[i] != ROOF_OUTPUT_NDJSON);
        roof_text_free(&text);
    }
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        struct roof_table table;
        assert_int_equal(roof_table_open(&table, ROOF_OUTPUT_CSV, ROOF_TABLE_NODES,
                                         (enum roof_operator)op, "name,count,expected_time_us",
                                         NULL),
                         ROOF_OK);
        assert_int_equal(table.count, 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_columns),   cmocka_unit_test(test_columns_of_operators),
        cmocka_unit_test(test_no_rows),           cmocka_unit_test(test_readable_columns),
        cmocka_unit_test(test_columns_of_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
