// SPDX-License-Identifier: MIT
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char path[] = "/tmp/roofline-records-XXXXXX";
static struct roof_hardware *synthetic;
static struct roof_model *small;
static struct roof_scenario plain;
static struct roof_records records;
static struct roof_text bad; /* "LINE message\n" */

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    (void)context;
    *out = small;
    return strcmp(name, "small") == 0 && *layout == '\0'
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE, "no model %s as %s", name, layout);
}

static void on_bad(void *context, const struct roof_error *error)
{
    assert_ptr_equal(context, &records);
    assert_string_equal(error->source, path);
    assert_int_equal(error->status, ROOF_INVALID);
    roof_text_printf(&bad, "%d %s\n", error->line, error->message);
}

static enum roof_status open_text(const char *text, enum roof_records_kind kind,
                                  enum roof_operator op, struct roof_error *error)
{
    const struct roof_records_options options = {.base = &plain,
                                                 .kind = kind,
                                                 .op = op,
                                                 .hardware = "synthetic",
                                                 .model = "small",
                                                 .context = &records,
                                                 .load_model = on_model,
                                                 .bad = on_bad};
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    roof_text_clear(&bad);
    roof_text_put(&bad, "");
    return roof_records_open(&records, path, &options, error);
}

/* The next good record; NULL at the end. */
static const struct roof_prediction *next(void)
{
    for (;;) {
        const struct roof_prediction *prediction = NULL;
        struct roof_error error = {0};
        bool more = false;
        assert_int_equal(roof_records_next(&records, &more, &error), ROOF_OK);
        if (!more) {
            return NULL;
        }
        if (roof_records_predict(&prediction, &records, synthetic, &error) == ROOF_OK) {
            return prediction;
        }
        roof_records_refuse(&records, &error);
    }
}

/* Checks the records of a file, which name operators: "LINE:op time;" and the carried columns. */
static void check_rows(const char *text, const char *rows, const char *refused)
{
    struct roof_text seen = ROOF_TEXT_INIT;
    struct roof_error error = {0};
    roof_text_put(&seen, "");
    assert_int_equal(open_text(text, ROOF_RECORDS_OPERATORS, ROOF_OPERATOR_COUNT, &error), ROOF_OK);
    for (const struct roof_prediction *p = next(); p != NULL; p = next()) {
        roof_text_printf(&seen, "%d:%s %.6g", records.line, roof_operator_row(p->workload.op)->name,
                         p->time_s * 1e9);
        for (size_t i = 0; i < records.carried_count; i++) {
            const struct roof_carried *const c = &records.carried[i];
            roof_text_printf(&seen, " %s=%s/%s%s", c->name, c->text, c->quoted ? "'" : "",
                             c->json == NULL ? "" : c->json);
        }
        roof_text_put(&seen, ";");
    }
    assert_string_equal(seen.data, rows);
    assert_string_equal(bad.data, refused);
    roof_text_free(&seen);
    roof_records_close(&records);
}

/* A gemv of 10 x 10 at fp16 moves 240 bytes: 2.4 ns at 100 GB/s; of 10 x 20 (n) 460, 4.6 ns. */
static void test_rows(void **unused)
{
    (void)unused;
    check_rows("operator,n,k\ngemv,10,10\ngemv,20,10\n", "2:gemv 2.4;3:gemv 4.6;", "");
    check_rows("{\"operator\":\"gemv\",\"n\":10,\"k\":10}\n\n{\"k\":1e1,\"n\":\"20\",\"operator\":"
               "\"gemv\"}",
               "1:gemv 2.4;3:gemv 4.6;", "");
    /* Inputs and columns that predictions print are not carried; all others are. */
    check_rows("operator,a,n,k,time_us,\"b, c\",measured_us,stack,model,\n"
               "gemv,x,10,10,5,\"y \"\"z\"\"\",,,m,\n",
               "2:gemv 2.4 a=x/ b, c=y \"z\"/ model=m/ =/;", "");
    check_rows(
        "{\"operator\":\"gemv\",\"n\":10,\"k\":10,\"a\":1.50,\"time_us\":[],\"b\":null}\n"
        "{\"c\\u0061\":\"x\\ty\",\"operator\":\"gemv\",\"n\":10,\"k\":10,\"a\":\"q\",\"d\":{}}\n",
        "1:gemv 2.4 a=1.50/1.50 b=/null;"
        "2:gemv 2.4 a=q/'q b=/ ca=x\ty/'x\\ty;",
        "");
    /* A cell is not taken for that of another row, nor an empty one for the last. */
    check_rows("operator,n,k,weights,causal\n"
               "gemv,10,10,fp16,\ngemv,20,10,fp16,\ngemv,10,10,,\ngemv,,10,,\ngemv,10,10,fp8,0\n",
               "2:gemv 2.4;3:gemv 4.6;4:gemv 2.4;6:gemv 1.4;",
               "5 gemv needs n (see: roofline list operators gemv)\n");
    check_rows("{\"operator\":\"gemv\",\"n\":10,\"k\":10}\n{\"operator\":\"gemv\",\"k\":10}\n",
               "1:gemv 2.4;", "2 gemv needs n (see: roofline list operators gemv)\n");
}

/* Names of inputs in any case, with - for _ and blanks around them; those of others as they are. */
static void test_names(void **unused)
{
    (void)unused;
    check_rows("Operator, N ,K,Name,Kv-Len,Time_us\ngemv,10,10,x,,1\n",
               "2:gemv 2.4 Name=x/ Time_us=1/;", "");
    check_rows("{\"OPERATOR\":\"gemv\",\"N\":10,\"k\":10,\"x-y\":1}\n"
               "{\"operator\":\"gemv\",\"n\":20,\"K\":10}\n"
               "{\"operator\":\"gemv\",\"n\":20,\"N\":20,\"K\":10}\n"
               "{\"operator\":\"gemv\",\"n\":10,\"K\":10}\n",
               "1:gemv 2.4 x-y=1/1;2:gemv 4.6 x-y=/;4:gemv 2.4 x-y=/;",
               "3 the key 'N' appears twice in its object\n");
    static const struct {
        const char *text;
        const char *reason;
    } twice[] = {{"n,N\n", "the column n appears twice, also as N"},
                 {"Kv-Heads,k,kv_heads\n", "the column Kv-Heads appears twice, also as kv_heads"},
                 {"Operator,operator\n", "the column Operator appears twice, also as operator"},
                 {"a,a\n", "the column a appears twice"}};
    for (size_t i = 0; i < COUNT(twice); i++) {
        struct roof_error error = {0};
        assert_int_equal(
            open_text(twice[i].text, ROOF_RECORDS_OPERATORS, ROOF_OPERATOR_GEMV, &error),
            ROOF_INVALID);
        assert_string_equal(error.message, twice[i].reason);
        roof_records_close(&records);
    }
    /* A precision is of all, at fp32 480 bytes; weights of their own are 200 of 280 then. */
    check_rows("operator,n,k,Precision,weights\ngemv,10,10,fp32,\ngemv,10,10,fp16,\n"
               "gemv,10,10,,\ngemv,10,10,fp32,fp16\n",
               "2:gemv 4.8;3:gemv 2.4;4:gemv 2.4;5:gemv 2.8;", "");
}

/* Cells as other programs write them. */
static void test_words(void **unused)
{
    (void)unused;
    check_rows("operator,n,k,weights,measured_us\nGEMV,10.0,1e1,,\n Gemv ,\t10, 1E+1 , fp16 , 5 \n"
               "gemv,10,10, ,  \n",
               "2:gemv 2.4;3:gemv 2.4;4:gemv 2.4;", "");
    check_rows("{\"operator\":\" Gemv\",\"n\":\"10.0\",\"k\":\" 10 \",\"sparse\":\"False\"}",
               "1:gemv 2.4;", "");
    check_rows("operator,n,k\ngemv,10.5,10\ngemv,1e99,10\ngemv,-1.0,10\n", "",
               "2 cell 2: n must be an integer from 1 to 1000000000000 (suffixes: k, M, G, "
               "Ki, Mi, Gi), not '10.5'\n"
               "3 cell 2: n must be an integer from 1 to 1000000000000 (suffixes: k, M, G, "
               "Ki, Mi, Gi), not '1e99'\n"
               "4 cell 2: n must be an integer from 1 to 1000000000000 (suffixes: k, M, G, "
               "Ki, Mi, Gi), not '-1'\n");
    static const struct {
        const char *text;
        int value;
    } flags[] = {{"true", 1},  {"True", 1},  {"TRUE", 1},  {"1.0", 1}, {"1", 1}, {" true ", 1},
                 {"false", 0}, {"False", 0}, {"FALSE", 0}, {"0.0", 0}, {"0", 0}, {"\"False\"", 0}};
    for (size_t i = 0; i < COUNT(flags); i++) {
        struct roof_error error = {0};
        struct roof_text text = ROOF_TEXT_INIT;
        roof_text_printf(&text, "heads,head_dim,kv_len,query_len,Causal\n1,8,8,8,%s\n",
                         flags[i].text);
        assert_int_equal(
            open_text(text.data, ROOF_RECORDS_OPERATORS, ROOF_OPERATOR_FLASH_ATTENTION, &error),
            ROOF_OK);
        const struct roof_prediction *const p = next();
        assert_non_null(p);
        assert_int_equal(p->workload.shape.causal, flags[i].value);
        roof_records_close(&records);
        roof_text_free(&text);
    }
}

static void test_arrays(void **unused)
{
    (void)unused;
    static const char *const array[] = {"[{\"n\":1}]", "\n [\n{\"n\":1}\n]\n"};
    for (int i = 0; i < 2; i++) {
        struct roof_error error = {0};
        assert_int_equal(open_text(array[i], ROOF_RECORDS_OPERATORS, ROOF_OPERATOR_GEMV, &error),
                         ROOF_INVALID);
        assert_int_equal(error.line, i + 1);
        assert_string_equal(error.source, path);
        assert_string_equal(error.message, "the file is a JSON array, but must have one object per "
                                           "line (jq -c '.[]' converts it)");
        roof_records_close(&records);
    }
}

static void test_bad_records(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        const char *reason;
    } cases[] = {
        {"operator,n,k\ngemv,1\ngemv,10,10\n", "2 the row has 2 cells, the header 3"},
        {"operator,n,k\ngemv,1,1,1\ngemv,10,10\n", "2 the row has 4 cells"},
        {"operator,n,k\ngemm,1,1\ngemv,10,10\n", "2 gemm needs m ("},
        {"operator,n,k\n,1,1\ngemv,10,10\n", "2 unknown operator ''"},
        {"operator,n,k\nmodel,1,1\ngemv,10,10\n", "2 operator model: "},
        {"operator,n,k\ngemv,1,1k1\ngemv,10,10\n", "2 cell 3: k must be"},
        {"operator,n,k,tp\ngemv,1,1,1\ngemv,10,10,\n",
         "2 cell 4: tp is for models, not for operators"},
        {"operator,n,k,weights\ngemv,1,1,f\ngemv,10,10,\n", "2 cell 4: unknown precision 'f'"},
        {"operator,n,k,measured_us\ngemv,1,1,0\ngemv,10,10,\n", "2 measured_us must be"},
        {"operator,n,k\ngemv,\"1\"1,1\ngemv,10,10\n", "2 quotes must enclose"},
        {"operator,n,k\n\"gemv,1,1\ngemv,10,10\n", "2 the quoted cell does not end"},
        {"{\"operator\":\"gemv\",\n{\"operator\":\"gemv\",\"n\":10,\"k\":10}", "1 expected a key"},
        {"{}\n{\"operator\":\"gemv\",\"n\":10,\"k\":10}", "1 unknown operator ''"},
        {"{\"operator\":\"gemv\",\"n\":10,\"k\":10}\n{\"n\":1,\"n\":1}\n",
         "2 the key 'n' appears twice"},
        {"{\"operator\":\"gemv\",\"n\":10,\"k\":10}\n{\"a\":1,\"\\u0061\":1}\n",
         "2 the key 'a' appears twice"},
        {"{\"operator\":\"gemv\",\"n\":10,\"k\":10}\n{\"n\":[]}\n",
         "2 n must be a string, a number"},
        {"{\"operator\":\"gemv\",\"n\":10,\"k\":10}\n{\"weights\":{}}\n",
         "2 weights must be a string"},
        {"{\"operator\":\"gemv\",\"n\":10,\"k\":10}\n[]\n", "2 expected an object"},
        {"{\"operator\":\"gemv\",\"n\":10,\"k\":10}\n{} 1\n", "2 unexpected text"},
        {"{\"operator\":\"gemv\",\"n\":10,\"k\":10}\n{\"n\":01}\n",
         "2 a number may not begin with 0"},
        {"{\"operator\":\"gemv\",\"n\":10,\"k\":10}\n{\"operator\":\"gemv\",\"n\":1.5,\"k\":1}\n",
         "2 n: n must be"},
        {"{\"operator\":\"gemv\",\"n\":10,\"k\":10}\n{\"operator\":\"gemv\",\"n\":1e300,\"k\":1}\n",
         "2 n: n must be"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        assert_int_equal(
            open_text(cases[i].text, ROOF_RECORDS_OPERATORS, ROOF_OPERATOR_COUNT, &error), ROOF_OK);
        const struct roof_prediction *const p = next();
        assert_non_null(p);
        assert_int_equal(p->workload.shape.n, 10);
        assert_null(next());
        assert_int_equal(records.count, 2);
        assert_int_equal(records.bad, 1);
        if (strncmp(bad.data, cases[i].reason, strlen(cases[i].reason)) != 0) {
            fail_msg("%s: %s", cases[i].text, bad.data);
        }
        roof_records_close(&records);
    }
}

static void test_open(void **unused)
{
    (void)unused;
    struct roof_error error = {0};
    assert_int_equal(open_text("n,m,n\n", ROOF_RECORDS_OPERATORS, ROOF_OPERATOR_GEMV, &error),
                     ROOF_INVALID);
    assert_int_equal(error.line, 1);
    assert_non_null(strstr(error.message, "the column n appears twice"));
    roof_records_close(&records);
    roof_records_close(&records);
    static const char *const empty[] = {"", "\n", "# none\n\n", " \n"};
    for (size_t i = 0; i < COUNT(empty); i++) {
        assert_int_equal(open_text(empty[i], ROOF_RECORDS_OPERATORS, ROOF_OPERATOR_GEMV, &error),
                         ROOF_OK);
        assert_int_equal(records.columns, i == 3 ? 1 : 0);
        assert_false(roof_records_has(&records, "operator"));
        assert_null(next());
        assert_null(next());
        assert_int_equal(records.count, 0);
        roof_records_close(&records);
    }
    /* Columns are known before the first record is asked for. */
    assert_int_equal(open_text("{\n{\"m\":4,\"operator\":\"x\",\"window\":0,\"name\":1}\n",
                               ROOF_RECORDS_OPERATORS, ROOF_OPERATOR_GEMV, &error),
                     ROOF_OK);
    assert_true(records.json && roof_records_has(&records, "operator"));
    assert_int_equal(records.columns, 4);
    assert_int_equal(records.carried_count, 1);
    assert_int_equal(records.dimensions, 1U << ROOF_DIM_M | 1U << ROOF_DIM_WINDOW);
    assert_int_equal(records.bad, 1);
    roof_records_close(&records);
}

/* 256 different keys are read, and lines with more are bad; so is a line with 257 members. */
static void test_many_keys(void **unused)
{
    (void)unused;
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_error error = {0};
    for (int i = 0; i < 254; i++) {
        roof_text_printf(&text, "{\"n\":10,\"k\":10,\"x%d\":%d}\n", i, i);
    }
    roof_text_put(&text, "{\"n\":10,\"k\":10,\"y\":1}\n{\"n\":1");
    for (int i = 0; i < 256; i++) {
        roof_text_printf(&text, ",\"x%d\":{}", i);
    }
    roof_text_put(&text, "}\n{\"n\":10,\"k\":10,\"x3\":1}\n");
    assert_int_equal(open_text(text.data, ROOF_RECORDS_OPERATORS, ROOF_OPERATOR_GEMV, &error),
                     ROOF_OK);
    size_t rows = 0;
    while (next() != NULL) {
        rows++;
    }
    assert_int_equal(rows, 255);
    assert_int_equal(records.columns, ROOF_RECORD_COLUMNS_MAX);
    assert_string_equal(records.carried[3].text, "1");
    assert_string_equal(bad.data, "255 the records have more than 256 different keys\n"
                                  "256 the object has too many members\n");
    roof_records_close(&records);
    roof_text_free(&text);
}

/* Models and operators in one file take different inputs, also where a text is that of the row
 * before. */
static void test_both(void **unused)
{
    (void)unused;
    struct roof_error error = {0};
    assert_int_equal(
        open_text("operator,batch,context,n,k,measured_us,devices\n"
                  "model,2,64,,,5,\ngemv,,64,10,10,,\ngemv,,,10,10,7,\nmodel,2,64,10,,,\n"
                  "gemv,,64,10,10,,\nmodel,2,64,,,,\nmodel,2,64,,,,2\nmodel,2,64,,,,1\n",
                  ROOF_RECORDS_BOTH, ROOF_OPERATOR_COUNT, &error),
        ROOF_OK);
    const struct roof_prediction *p = next();
    assert_ptr_equal(p, &records.model_prediction->total);
    assert_int_equal(records.model_prediction->scenario.context, 64);
    assert_near(records.measured_s[ROOF_METRIC_TIME], 5e-6, 1e-15);
    p = next();
    assert_null(records.model_prediction);
    assert_near(p->measured_s, 7e-6, 1e-15);
    assert_near(p->fraction_of_bound, 2.4e-9 / 7e-6, 1e-12);
    p = next();
    assert_int_equal(records.line, 7);
    assert_ptr_equal(p, &records.model_prediction->total);
    assert_true(isnan(records.measured_s[ROOF_METRIC_TIME]));
    assert_non_null(next());
    assert_null(next());
    assert_string_equal(bad.data, "3 cell 3: context is for models, not for operators\n"
                                  "5 cell 4: n is for operators, not for models\n"
                                  "6 cell 3: context is for models, not for operators\n"
                                  "8 the split has 1 device, not 2: give tp, pp, dp, "
                                  "attention_dp or moe_ep\n");
    roof_records_close(&records);
}

/* Records of models have what predictions of them print. */
static void test_models(void **unused)
{
    (void)unused;
    struct roof_error error = {0};
    assert_int_equal(open_text("operator,model,layout,phase,context,chunk,prefix_hit,prompt,"
                               "generate,devices,draft_model,ridge_point\n"
                               ",small,file,prefill,100,50,0.5,,,1,,x\n"
                               "model,,,request,110,,,100,10,1,,\n"
                               ",,,prefill,100,49,0.5,,,,,\n"
                               ",,,,,,,,,,small,\n"
                               ",,fp8,,,,,,,,,\n"
                               "gemv,,,,,,,,,,,\n",
                               ROOF_RECORDS_MODELS, ROOF_OPERATOR_COUNT, &error),
                     ROOF_OK);
    assert_int_equal(records.carried_count, 1);
    assert_non_null(next());
    assert_int_equal(records.model_prediction->scenario.chunk, 50);
    assert_string_equal(records.carried[0].text, "x");
    assert_non_null(next());
    assert_int_equal(records.model_prediction->scenario.generate, 10);
    assert_null(next());
    assert_string_equal(bad.data, "4 prefix_hit leaves a chunk of 50, not 49\n5 a row cannot set "
                                  "draft_model: give draft_model\n6 no model small as fp8\n7 "
                                  "operator gemv: use predict from FILE for operators\n");
    roof_records_close(&records);
}

/* Random shapes of every operator, in CSV and in NDJSON, against predictions of their own. */
static void test_random(void **unused)
{
    (void)unused;
    enum { ROWS = 400 };
    static struct roof_workload asked[ROWS];
    random_state = 88172645463325252U;
    struct roof_text text[2] = {ROOF_TEXT_INIT, ROOF_TEXT_INIT};
    roof_text_put(&text[0], "operator,weights");
    for (int d = 0; d < ROOF_DIM_COUNT; d++) {
        roof_text_printf(&text[0], ",%s", roof_dimensions[d].key);
    }
    roof_text_put(&text[0], "\n");
    for (int i = 0; i < ROWS; i++) {
        asked[i] = (struct roof_workload)ROOF_WORKLOAD_INIT;
        struct roof_workload *const w = &asked[i];
        w->op = (enum roof_operator)pick(0, ROOF_OPERATOR_COUNT - 1);
        w->formats.weights = pick(0, 1) == 0 ? ROOF_PRECISION_FP8_E4M3 : ROOF_PRECISION_NVFP4;
        const struct roof_operator_row *const row = roof_operator_row(w->op);
        const char *const format = roof_format(w->formats.weights)->name;
        roof_text_printf(&text[0], "%s,%s", row->name, format);
        roof_text_printf(&text[1], "{\"operator\":\"%s\",\"weights\":\"%s\"", row->name, format);
        for (int d = 0; d < ROOF_DIM_COUNT; d++) {
            roof_text_put(&text[0], ",");
            if ((row->required & (UINT64_C(1) << d)) != 0) {
                const int64_t value = pick(1, 4);
                roof_input_put(w, &roof_dimensions[d], value);
                roof_text_printf(&text[0], "%d", (int)value);
                roof_text_printf(&text[1], ",\"%s\":%d", roof_dimensions[d].key, (int)value);
            }
        }
        roof_text_put(&text[0], "\n");
        roof_text_put(&text[1], "}\n");
    }
    for (int format = 0; format < 2; format++) {
        struct roof_error error = {0};
        int rows = 0;
        assert_int_equal(
            open_text(text[format].data, ROOF_RECORDS_OPERATORS, ROOF_OPERATOR_COUNT, &error),
            ROOF_OK);
        for (int i = 0; i < ROWS; i++) {
            struct roof_prediction wanted;
            if (roof_predict(&wanted, &asked[i], synthetic, NULL) != ROOF_OK) {
                continue; /* more experts per token than there are */
            }
            const struct roof_prediction *const got = next();
            assert_non_null(got);
            assert_memory_equal(&got->workload, &wanted.workload, sizeof wanted.workload);
            assert_true(got->time_s == wanted.time_s);
            rows++;
        }
        assert_null(next());
        assert_int_equal(records.count, ROWS);
        assert_int_equal(records.bad, ROWS - rows);
        assert_true(rows > ROWS / 2);
        roof_records_close(&records);
        roof_text_free(&text[format]);
    }
}

static int set_up(void **unused)
{
    (void)unused;
    static const char config[] =
        "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
        "\"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100}";
    struct roof_error error = {0};
    const int file = mkstemp(path);
    synthetic = parse_device(SYNTHETIC);
    roof_scenario_init(&plain);
    if (file < 0 || write(file, config, strlen(config)) != (ssize_t)strlen(config) ||
        close(file) != 0) {
        return -1;
    }
    char json[sizeof path + 8];
    snprintf(json, sizeof json, "%s.json", path);
    if (rename(path, json) != 0 || roof_model_load(&small, json, NULL, &error) != ROOF_OK) {
        return -1;
    }
    return unlink(json);
}

static int tear_down(void **unused)
{
    (void)unused;
    roof_hardware_free(synthetic);
    roof_model_free(small);
    roof_text_free(&bad);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),   cmocka_unit_test(test_bad_records),
        cmocka_unit_test(test_open),   cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_both),   cmocka_unit_test(test_models),
        cmocka_unit_test(test_random), cmocka_unit_test(test_names),
        cmocka_unit_test(test_words),  cmocka_unit_test(test_arrays),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
