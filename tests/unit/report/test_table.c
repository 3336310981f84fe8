// SPDX-License-Identifier: MIT
/* The table of fields itself; what the rows of each kind hold is in test_report.c. */
#include "support.h"

#include "predict/prediction_fields.h"

#include <stdlib.h>

static const enum roof_output outputs[] = {ROOF_OUTPUT_TEXT, ROOF_OUTPUT_JSON, ROOF_OUTPUT_NDJSON,
                                           ROOF_OUTPUT_CSV, ROOF_OUTPUT_MARKDOWN};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A failed roof_table_open leaves no columns behind. */
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
        {ROOF_OUTPUT_JSON, "time_us", "columns needs format"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_table table;
        struct roof_error error = {0};
        assert_int_equal(roof_table_open(&table, cases[i].output, ROOF_TABLE_PREDICTIONS,
                                         ROOF_OPERATOR_GEMM, cases[i].columns, &error),
                         ROOF_USAGE);
        assert_non_null(strstr(error.message, cases[i].reason));
        assert_int_equal(table.columns.count, 0);
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
        assert_true(all.columns.count < ROOF_FIELDS_MAX);
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
        ",tokens_per_s,tokens_per_s_per_user,energy_j,power_w,joule_per_token,expected_time_us,"
        "expected_low_us,expected_high_us,"
        "expected_bottleneck,expected_basis,expected_near_fraction,expected_step_ms,expected_ttft_"
        "ms,expected_tpot_ms,"
        "expected_e2e_ms,"
        "expected_tokens_per_s,expected_tokens_per_s_per_user,least_time_us,state_bytes\n";
    for (size_t i = 0; i < COUNT(outputs); i++) {
        struct roof_table table;
        struct roof_text text = ROOF_TEXT_INIT;
        assert_int_equal(roof_table_open(&table, outputs[i], ROOF_TABLE_MODEL_PREDICTIONS,
                                         ROOF_OPERATOR_GEMM, NULL, NULL),
                         ROOF_OK);
        assert_true(table.columns.count < ROOF_FIELDS_MAX);
        roof_table_begin(&table, &text);
        const size_t length = strlen(end);
        if (outputs[i] == ROOF_OUTPUT_CSV) {
            assert_true(text.length > length);
            assert_string_equal(text.data + text.length - length, end);
        } else {
            assert_true(text.data == NULL || strstr(text.data, "expected_low") == NULL);
        }
        /* Each can be asked for. */
        roof_table_show(&table, "expected_e2e_ms");
        roof_text_clear(&text);
        roof_table_begin(&table, &text);
        assert_int_equal(text.data != NULL && strstr(text.data, "expected_e2e_ms") != NULL,
                         outputs[i] != ROOF_OUTPUT_JSON && outputs[i] != ROOF_OUTPUT_NDJSON);
        roof_text_free(&text);
    }
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        struct roof_table table;
        assert_int_equal(roof_table_open(&table, ROOF_OUTPUT_CSV, ROOF_TABLE_NODES,
                                         (enum roof_operator)op, "name,count,expected_time_us",
                                         NULL),
                         ROOF_OK);
        assert_int_equal(table.columns.count, 3);
    }
}

/* A table of any operator has all dimensions, and each row those of its own. */
static void test_any_operator(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_prediction product;
    struct roof_prediction norm;
    const struct roof_workload asked[] = {
        workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = 2, .n = 3, .k = 4}),
        workload(ROOF_OPERATOR_RMSNORM, (struct roof_shape){.tokens = 5, .hidden = 6})};
    assert_int_equal(roof_predict(&product, &asked[0], device, NULL), ROOF_OK);
    assert_int_equal(roof_predict(&norm, &asked[1], device, NULL), ROOF_OK);
    static const char *const expected[COUNT(outputs)] = {
        NULL, NULL,
        "{\"a\":1.0,\"m\":2,\"batch\":1,\"operator\":\"gemm\"}\n"
        "{\"b\":\"x\\ny\",\"tokens\":5,\"operator\":\"rmsnorm\"}\n",
        "a,\"b,c\",m,causal,tokens,batch,operator\n1.0,,2,,,1,gemm\n,\"x\ny\",,,5,,rmsnorm\n",
        "| a | b,c | m | causal | tokens | batch | operator |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| 1.0 | - | 2 | - | - | 1 | gemm |\n| - | x y | - | - | 5 | - | rmsnorm |\n"};
    for (size_t i = 2; i < COUNT(outputs); i++) {
        const bool json = outputs[i] == ROOF_OUTPUT_NDJSON;
        struct roof_carried carried[] = {{.name = "a", .text = "1.0"},
                                         {.name = json ? "b" : "b,c", .text = ""}};
        struct roof_table table;
        struct roof_text text = ROOF_TEXT_INIT;
        assert_int_equal(roof_table_open(&table, outputs[i], ROOF_TABLE_PREDICTIONS,
                                         ROOF_OPERATOR_COUNT, "m,causal,tokens,batch,operator",
                                         NULL),
                         ROOF_OK);
        roof_table_carry(&table, carried, COUNT(carried));
        roof_table_begin(&table, &text);
        roof_table_prediction(&table, &text, &product);
        carried[0].text = "";
        carried[1] = (struct roof_carried){
            .name = carried[1].name, .text = "x\ny", .json = "x\\ny", .quoted = true};
        roof_table_prediction(&table, &text, &norm);
        roof_table_end(&table, &text);
        assert_string_equal(text.data, expected[i]);
        roof_text_free(&text);
    }
    struct roof_table table;
    assert_int_equal(roof_table_open(&table, ROOF_OUTPUT_CSV, ROOF_TABLE_PREDICTIONS,
                                     ROOF_OPERATOR_COUNT, NULL, NULL),
                     ROOF_OK);
    assert_true(table.columns.count < ROOF_FIELDS_MAX);
    const size_t all = table.columns.count;
    roof_table_keep_dimensions(&table, 1U << ROOF_DIM_K | 1U << ROOF_DIM_TOKENS);
    assert_int_equal(table.columns.count, all - ROOF_DIM_COUNT + 2);
    roof_hardware_free(device);
}

static void test_keys(void **unused)
{
    (void)unused;
    static const struct {
        const char *key;
        bool of_operators;
        bool of_models;
    } cases[] = {{"time_us", true, true},
                 {"schema", true, true},
                 {"m", true, false},
                 {"devices", true, true},
                 {"compute_precision", true, false},
                 {"tokens_per_s", false, true},
                 {"measured_us", true, false},
                 {"model", false, true},
                 {"name", false, false},
                 {"", false, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(roof_prediction_has_key(cases[i].key), cases[i].of_operators);
        assert_int_equal(roof_model_prediction_has_key(cases[i].key), cases[i].of_models);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_columns),
        cmocka_unit_test(test_columns_of_operators),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_readable_columns),
        cmocka_unit_test(test_columns_of_models),
        cmocka_unit_test(test_any_operator),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
