// SPDX-License-Identifier: MIT
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char path[] = "/tmp/roofline-check-XXXXXX";

/* The last question, as "predict gemm m=1 n=2", and its answer. */
struct asked {
    char line[512];
    int times;
    const char *document; /* NULL: refused */
    enum roof_status status;
    const char *message;
};

static enum roof_status answer(void *context, struct roof_text *out,
                               const struct roof_check_asked *check, struct roof_error *error)
{
    struct asked *const log = context;
    int used = snprintf(log->line, sizeof log->line, "%s %s%s%s",
                        check->command == ROOF_COMMAND_PREDICT     ? "predict"
                        : check->command == ROOF_COMMAND_RECOMMEND ? "recommend"
                                                                   : "simulate",
                        check->workload, check->named == NULL ? "" : " ",
                        check->named == NULL ? "" : check->named);
    for (size_t i = 0; i < check->count; i++) {
        used += snprintf(log->line + used, sizeof log->line - (size_t)used, " %s=%s",
                         roof_input(check->input[i].input)->option, check->input[i].text);
    }
    log->times++;
    if (log->document == NULL) {
        return roof_error_set(error, log->status, "%s", log->message);
    }
    roof_text_put(out, log->document);
    return ROOF_OK;
}

/* Asks every request with the answers at hand. */
static enum roof_status run_all(struct roof_checks *checks, struct asked *asked,
                                struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < checks->count && status == ROOF_OK; i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_check_answer given = {.text = NULL};
        given.status = answer(asked, &text, &checks->check[i].asked, &given.refusal);
        given.text = text.data;
        given.length = text.length;
        status = roof_check_take(checks, i, &given, error);
        roof_text_free(&text);
    }
    return status;
}

static void write_file(const char *text)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Reads a file of one check: its members behind the name. */
static enum roof_status read_members(struct roof_checks *out, const char *members,
                                     struct roof_error *error)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"schema\": \"roofline/check/1\", \"checks\": [\n{\"name\": \"a\", %s}]}\n",
             members);
    write_file(text);
    return roof_checks_read(out, path, error);
}

static void read_file(struct roof_checks *out, const char *text)
{
    struct roof_error error = {0};
    write_file(text);
    if (roof_checks_read(out, path, &error) != ROOF_OK) {
        fail_msg("%d:%d: %s", error.line, error.column, error.message);
    }
}

static void run(struct roof_checks *checks, struct asked *asked)
{
    struct roof_error error = {0};
    if (run_all(checks, asked, &error) != ROOF_OK) {
        fail_msg("%d:%d: %s", error.line, error.column, error.message);
    }
}

/* --- requests ------------------------------------------------------------------------------ */

static void test_inputs(void **state)
{
    (void)state;
    static const struct {
        const char *members;
        const char *asked;
    } cases[] = {
        {"\"inputs\": {\"operator\": \"gemm\", \"m\": 1, \"n\": \"4Ki\", \"k\": 1e3}, "
         "\"expect\": {\"time_us\": 1}",
         "predict gemm m=1 n=4Ki k=1000"},
        {"\"inputs\": {\"operator\": \"flash-attention\", \"kv_heads\": 8, \"causal\": true, "
         "\"sparse\": false, \"window\": null}, \"expect\": {\"flops\": 1}",
         "predict flash-attention kv-heads=8 causal="},
        {"\"inputs\": {\"operator\": \"gemv\", \"precision\": \"fp8\", \"measured_us\": 2.5, "
         "\"working_set_bytes\": 10}, \"expect\": {\"measured_us\": 1}",
         "predict gemv precision=fp8 measured=2.5us working-set=10"},
        {"\"inputs\": {\"operator\": \"gemv\", \"set\": {\"bandwidth_gb_s\": 5, "
         "\"peak_tflops.fp16\": \"6\"}}, \"expect\": {\"bytes\": 1}",
         "predict gemv set=bandwidth_gb_s=5 set=peak_tflops.fp16=6"},
        {"\"inputs\": {\"model\": \"./x.json\", \"class\": [\"lm_head=fp8\", \"mlp=int4\"], "
         "\"acceptance\": 0.5}, \"expect\": {\"tpot_ms\": 1}",
         "predict model ./x.json class=lm_head=fp8 class=mlp=int4 acceptance=0.5"},
        {"\"command\": \"recommend\", \"inputs\": {\"operator\": \"gemv\", \"formats\": "
         "[\"fp8\", \"int4\"], \"native_only\": true}, \"expect\": {\"candidates.0.rank\": 1}",
         "recommend gemv formats=fp8,int4 native-only="},
        {"\"command\": \"recommend\", \"inputs\": {\"model\": \"m\", \"devices\": [1, 8], "
         "\"max_ttft\": \"1s\", \"price_per_hour\": {\"l4\": 1}}, \"expect\": {\"count\": 1}",
         "recommend model m devices=1,8 max-ttft=1s price-per-hour=l4=1"},
        {"\"command\": \"recommend\", \"inputs\": {\"model\": \"m\", \"rate\": 5}, "
         "\"expect\": {\"candidates.0.max_rate_per_s\": 9}",
         "recommend model m rate=5"},
        {"\"command\": \"simulate\", \"inputs\": {\"model\": \"m\", \"rate\": 2, \"seed\": 7}, "
         "\"expect\": {\"ttft_ms_p99\": {\"value\": 1, \"relative\": 0.1}}",
         "simulate model m rate=2 seed=7"},
        {"\"command\": \"simulate\", \"inputs\": {\"model\": \"m\"}, "
         "\"expect\": {\"raises.0.value\": \"fp8\"}", /* or a number */
         "simulate model m"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_checks checks;
        struct roof_error error = {0};
        struct asked asked = {.document = "{}"};
        if (read_members(&checks, cases[i].members, &error) != ROOF_OK) {
            fail_msg("%s: %d:%d: %s", cases[i].members, error.line, error.column, error.message);
        }
        run(&checks, &asked);
        assert_string_equal(asked.line, cases[i].asked);
        assert_int_equal(checks.deviations, 1); /* an empty document has no key */
        roof_checks_free(&checks);
    }
}

/* Defaults stand where a check says nothing, and only where they are taken. */
static void test_defaults(void **state)
{
    (void)state;
    static const char *const asked_of[] = {
        "predict gemm k=5 hardware=h100 precision=fp8 m=7",
        "predict gemv hardware=l4 precision=fp8",
        "predict rmsnorm hardware=h100",
        "predict model llama hardware=h100 precision=fp8 context=9",
        "recommend gemm hardware=h100 m=7",
        "recommend model llama hardware=h100 context=9",
    };
    char text[2048];
    for (size_t i = 0; i < COUNT(asked_of); i++) {
        static const char *const checks_of[] = {
            "\"inputs\": {\"operator\": \"gemm\", \"k\": 5}",
            "\"inputs\": {\"operator\": \"gemv\", \"hardware\": \"l4\"}",
            "\"inputs\": {\"operator\": \"rmsnorm\", \"precision\": null}",
            "\"inputs\": {\"model\": \"llama\"}",
            "\"command\": \"recommend\"",
            "\"command\": \"recommend\", \"inputs\": {\"model\": \"llama\"}",
        };
        struct roof_checks checks;
        struct asked asked = {.document = "{}"};
        snprintf(text, sizeof text,
                 "{\"schema\": \"roofline/check/1\", \"defaults\": {\"operator\": \"gemm\", "
                 "\"hardware\": \"h100\", \"precision\": \"fp8\", \"context\": 9, \"m\": 7}, "
                 "\"checks\": [{\"name\": \"a\", %s, \"expect_error\": \"x\"}]}",
                 checks_of[i]);
        read_file(&checks, text);
        run(&checks, &asked);
        assert_string_equal(asked.line, asked_of[i]);
        roof_checks_free(&checks);
    }
}

/* --- comparing ----------------------------------------------------------------------------- */

#define DOCUMENT                                                                                   \
    "{\"time_us\": 100.5, \"bottleneck\": \"memory\", \"native\": true, \"flops\": 0, "            \
    "\"parts\": [{\"operator\": \"x\", \"flops\": 1}, {\"operator\": \"softmax\", \"flops\": 2}, " \
    "{\"operator\": \"softmax\", \"flops\": 3}]}"

static void test_comparing(void **state)
{
    (void)state;
    static const struct {
        const char *expect;
        bool passed;
        const char *got;
        double difference;
    } cases[] = {
        {"\"time_us\": 100.5", true, "100.5", 0},
        {"\"time_us\": 100.50000001", true, "100.5", -1e-8}, /* within 1e-9 of it */
        {"\"time_us\": 100.501", false, "100.5", -0.001},
        {"\"time_us\": {\"value\": 100, \"relative\": 0.005}", true, "100.5", 0.5},
        {"\"time_us\": {\"value\": 100, \"relative\": 0.0049}", false, "100.5", 0.5},
        {"\"time_us\": {\"value\": 100, \"absolute\": 0.5}", true, "100.5", 0.5},
        {"\"time_us\": {\"value\": 100, \"absolute\": 0.4}", false, "100.5", 0.5},
        {"\"time_us\": {\"value\": 100, \"absolute\": 0.4, \"relative\": 0.01}", true, "100.5",
         0.5}, /* one of the two is enough */
        {"\"time_us\": {\"value\": 100.5, \"absolute\": 0}", true, "100.5", 0},
        {"\"flops\": 0", true, "0", 0},
        {"\"flops\": 1", false, "0", -1},
        {"\"bottleneck\": \"memory\"", true, "\"memory\"", (double)NAN},
        {"\"bottleneck\": {\"value\": \"memor\"}", false, "\"memory\"", (double)NAN},
        {"\"native\": true", true, "true", (double)NAN},
        {"\"native\": false", false, "true", (double)NAN},
        {"\"native\": null", false, "true", (double)NAN},
        {"\"network_time_us\": null", true, "null", (double)NAN},
        {"\"network_time_us\": 0", false, "null", (double)NAN},
        {"\"parts.1.flops\": 2", true, "2", 0},
        {"\"parts.softmax.flops\": 2", true, "2", 0}, /* the first of that name */
        {"\"parts.3.flops\": null", true, "null", (double)NAN},
        {"\"parts.nothing.flops\": 2", false, "null", (double)NAN},
        {"\"tiling.waves\": 1", false, "null", (double)NAN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char members[512];
        struct roof_checks checks;
        struct roof_error error = {0};
        struct asked asked = {.document = DOCUMENT};
        snprintf(members, sizeof members,
                 "\"inputs\": {\"operator\": \"attention\"}, \"expect\": {%s}", cases[i].expect);
        if (read_members(&checks, members, &error) != ROOF_OK) {
            fail_msg("%s: %s", cases[i].expect, error.message);
        }
        run(&checks, &asked);
        const struct roof_expectation *const e = &checks.check[0].expectation[0];
        if (e->passed != cases[i].passed || strcmp(e->got, cases[i].got) != 0) {
            fail_msg("%s: %d, got %s", cases[i].expect, e->passed, e->got);
        }
        assert_int_equal(isnan(e->difference), isnan(cases[i].difference));
        assert_true(isnan(e->difference) ||
                    fabs(e->difference - cases[i].difference) <= 1e-6 * fabs(e->difference));
        assert_int_equal(checks.deviations, !cases[i].passed);
        assert_int_equal(checks.failed, !cases[i].passed);
        roof_checks_free(&checks);
    }
}

/* The narrower tolerance replaces the wider one whole. */
static void test_tolerances(void **state)
{
    (void)state;
    struct roof_checks checks;
    struct asked asked = {.document = DOCUMENT};
    read_file(&checks, "{\"schema\": \"roofline/check/1\", \"tolerance\": {\"absolute\": 3},\n"
                       "\"checks\": [\n"
                       "{\"name\": \"file\", \"inputs\": {\"operator\": \"gemm\"},\n"
                       " \"expect\": {\"time_us\": 103}},\n"
                       "{\"name\": \"check\", \"inputs\": {\"operator\": \"gemm\"},\n"
                       " \"tolerance\": {\"relative\": 0.001}, \"expect\": {\"time_us\": 103}},\n"
                       "{\"name\": \"value\", \"inputs\": {\"operator\": \"gemm\"},\n"
                       " \"tolerance\": {\"relative\": 0.001},\n"
                       " \"expect\": {\"time_us\": {\"value\": 103, \"relative\": 0.1}}}]}\n");
    run(&checks, &asked);
    assert_int_equal(asked.times, 3);
    assert_int_equal(checks.count, 3);
    assert_int_equal(checks.values, 3);
    assert_true(checks.check[0].expectation[0].passed);
    assert_false(checks.check[1].expectation[0].passed);
    assert_true(checks.check[2].expectation[0].passed);
    assert_true(checks.check[1].expectation[0].tolerance.absolute == 0);
    assert_int_equal(checks.check[1].line, 5);
    assert_int_equal(checks.check[1].expectation[0].line, 6);
    assert_int_equal(checks.check[1].expectation[0].column, 58);
    roof_checks_free(&checks);
}

static void test_refusals(void **state)
{
    (void)state;
    struct roof_checks checks;
    struct roof_error error = {0};
    struct asked asked = {.status = ROOF_USAGE, .message = "no \"k\" here"};
    const char *const refusal =
        "\"inputs\": {\"operator\": \"gemm\"}, \"expect_error\": \"no \\\"k\"";
    assert_int_equal(read_members(&checks, refusal, &error), ROOF_OK);
    run(&checks, &asked);
    assert_int_equal(checks.deviations, 0);
    assert_string_equal(checks.check[0].expectation[0].got, "\"no \\\"k\\\" here\"");
    roof_checks_free(&checks);

    asked.message = "something else";
    assert_int_equal(read_members(&checks, refusal, &error), ROOF_OK);
    run(&checks, &asked);
    assert_int_equal(checks.deviations, 1);
    assert_true(roof_expectation_updates(&checks.check[0].expectation[0]));
    roof_checks_free(&checks);

    asked.document = DOCUMENT; /* it is not refused */
    assert_int_equal(read_members(&checks, refusal, &error), ROOF_OK);
    run(&checks, &asked);
    assert_int_equal(checks.deviations, 1);
    assert_false(roof_expectation_updates(&checks.check[0].expectation[0]));
    roof_checks_free(&checks);

    /* A check that expects values must be answered. */
    asked = (struct asked){.status = ROOF_USAGE, .message = "needs -k"};
    assert_int_equal(read_members(&checks,
                                  "\"inputs\": {\"operator\": \"gemm\"}, "
                                  "\"expect\": {\"flops\": 1}",
                                  &error),
                     ROOF_OK);
    assert_int_equal(run_all(&checks, &asked, &error), ROOF_INVALID);
    assert_string_equal(error.message, "a: needs -k");
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 25);
    asked.status = ROOF_IO;
    assert_int_equal(run_all(&checks, &asked, &error), ROOF_IO);
    assert_int_equal(error.status, ROOF_IO);
    roof_checks_free(&checks);
}

/* --- files that are wrong ------------------------------------------------------------------ */

/* Finds the last occurrence of a text. */
static const char *last_of(const char *line, const char *text)
{
    const char *found = line;
    for (const char *p = strstr(line, text); p != NULL; p = strstr(p + 1, text)) {
        found = p;
    }
    return found;
}

static void test_wrong_members(void **state)
{
    (void)state;
#define GEMM "\"inputs\": {\"operator\": \"gemm\"}, "
#define EXPECT "\"expect\": {\"flops\": 1}"
    static const struct {
        const char *members;
        const char *at; /* last in line 2, with what is behind it */
        const char *message;
    } cases[] = {
        {GEMM EXPECT ", \"nmae\": 1", "1}]", "unknown key 'nmae'; known: name, "},
        {GEMM "\"note\": 1", "{\"name\"", "a check needs either expect or expect_error"},
        {GEMM EXPECT ", \"expect_error\": \"x\"", "{\"name\"",
         "needs either expect or expect_error"},
        {GEMM "\"expect\": {}", "{}}]", "expect must be an object with at least one key"},
        {GEMM "\"expect_error\": 1", "1}]", "expect_error must be a string of one line"},
        {GEMM "\"expect_error\": \"\"", "\"\"}]", "expect_error must be a string of one line"},
        {"\"inputs\": {\"opertor\": \"gemm\"}, " EXPECT, "\"gemm\"",
         "unknown input 'opertor'; did you mean operator?"},
        {"\"inputs\": {\"operator\": \"gemm\", \"columns\": \"m\"}, " EXPECT, "\"m\"}",
         "unknown input 'columns'"},
        {"\"inputs\": {\"operator\": \"gemm\", \"format\": \"html\"}, " EXPECT, "\"html\"",
         "unknown input 'format'"},
        {"\"inputs\": {\"m\": 1}, " EXPECT, "{\"m\"",
         "the inputs need an operator, a model or a graph"},
        {EXPECT, "{\"name\"", "the inputs need an operator, a model or a graph"},
        {"\"inputs\": {\"operator\": \"gemm\", \"model\": \"x\"}, " EXPECT, "\"x\"",
         "operator, model and graph exclude each other: give one"},
        {"\"inputs\": [1], " EXPECT, "[1]", "inputs must be an object of inputs"},
        {"\"inputs\": {\"operator\": \"gemm\", \"m\": true}, " EXPECT, "true",
         "m must be a string or a number"},
        {"\"inputs\": {\"operator\": \"gemm\", \"m\": {\"a\": 1}}, " EXPECT, "{\"a\"",
         "m must be a string or a number"},
        {"\"inputs\": {\"operator\": \"gemm\", \"sparse\": 1}, " EXPECT, "1}, ",
         "sparse must be true or false"},
        {"\"inputs\": {\"operator\": \"gemm\", \"m\": []}, " EXPECT, "[]", "an empty list"},
        {"\"inputs\": {\"operator\": \"gemm\", \"set\": [true]}, " EXPECT, "true",
         "set must be a string or a number"},
        {"\"inputs\": {\"operator\": \"gemm\", \"formats\": \"fp8\"}, " EXPECT, "\"fp8\"",
         "predict does not take formats; recommend does: \"command\": \"recommend\""},
        {"\"command\": \"sweep\", " GEMM EXPECT, "\"sweep\"",
         "command must be predict, recommend or simulate"},
        {"\"command\": \"simulate\", \"inputs\": {\"model\": \"m\", \"rows\": \"time\"}, " EXPECT,
         "\"time\"", "unknown input 'rows'"},
        {"\"command\": \"simulate\", \"inputs\": {\"model\": \"m\", \"rate\": 1}, "
         "\"expect\": {\"max_rate\": 1}",
         "1}}]", "unknown key 'max_rate'; did you mean max_rate_per_s"},
        {"\"command\": \"simulate\", \"inputs\": {\"model\": \"m\"}, "
         "\"expect\": {\"raises.0.value\": true}",
         "true}", "raises.0.value must be a number or a string"},
        {"\"inputs\": {\"model\": \"m\", \"rate\": 1}, \"expect\": {\"tpot_ms\": 1}", "1}, ",
         "predict does not take rate; recommend does: \"command\": \"recommend\""},
        {GEMM "\"expect\": {\"tmie_us\": 1}", "1}", "unknown key 'tmie_us'; did you mean time_us?"},
        {GEMM "\"expect\": {\"time_us\": \"1\"}", "\"1\"",
         "time_us must be a number (null: the key must be absent)"},
        {GEMM "\"expect\": {\"native\": 1}", "1}", "native must be true or false (null"},
        {GEMM "\"expect\": {\"bottleneck\": true}", "true", "bottleneck must be a string"},
        {GEMM "\"expect\": {\"time_us\": [1]}", "[1]", "time_us must be a number"},
        {GEMM "\"expect\": {\"parts\": 1}", "1}", "parts is an array; name what is in it: parts.0"},
        {GEMM "\"expect\": {\"tiling\": 1}", "1}", "tiling is an object; name what is in it"},
        {GEMM "\"expect\": {\"parts.0.tmie_us\": 1}", "1}", "unknown key 'tmie_us'"},
        {GEMM "\"expect\": {\"time_us.x\": 1}", "1}", "unknown key 'x'"},
        {GEMM "\"expect\": {\"time_us\": {\"relative\": 1}}", "{\"rel", "needs a value"},
        {GEMM "\"expect\": {\"time_us\": {\"min\": 2, \"max\": 1}}", "{\"min",
         "min must not be above max"},
        {GEMM "\"expect\": {\"time_us\": {\"min\": \"2\"}}", "\"2\"", "min must be a number"},
        {GEMM "\"expect\": {\"time_us\": {\"min\": 2, \"value\": 1}}", "1}", "unknown"},
        {GEMM "\"expect\": {\"bottleneck\": {\"max\": 2}}", "{\"max", "need a number"},
        {GEMM "\"expect\": {\"time_us\": {\"value\": 1, \"relativ\": 1}}", "1}", "unknown key"},
        {GEMM "\"expect\": {\"time_us\": {\"least\": 1}}", "1}",
         "unknown key 'least'; known: value, relative, absolute, min, max"},
        {GEMM "\"expect\": {\"time_us\": {\"value\": 1, \"relative\": -1}}", "-1",
         "relative must be a number from 0 to 1"},
        {GEMM "\"expect\": {\"native\": {\"value\": true, \"absolute\": 1}}", "{\"val",
         "a tolerance is for numbers only"},
        {GEMM "\"tolerance\": 1, " EXPECT, "1,", "tolerance must be {"},
        {GEMM "\"tolerance\": {\"absolut\": 1}, " EXPECT, "1}, ", "unknown key 'absolut'"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_checks checks;
        struct roof_error error = {0};
        assert_int_equal(read_members(&checks, cases[i].members, &error), ROOF_INVALID);
        char line[2048];
        snprintf(line, sizeof line, "{\"name\": \"a\", %s}]}", cases[i].members);
        const char *const at = last_of(line, cases[i].at);
        if (strstr(error.message, cases[i].message) == NULL || error.line != 2 ||
            error.column != (int)(at - line) + 1) {
            fail_msg("%s: %d:%d: %s", cases[i].members, error.line, error.column, error.message);
        }
        roof_checks_free(&checks);
    }
}

static void test_wrong_files(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "expected a JSON value"},
        {"[]", "a check file must be an object: {\"checks\": [...]}"},
        {"{\"checks\": []}", "checks must be an array"},
        {"{\"schema\": \"roofline/check/2\", \"checks\": []}", "schema must be"},
        {"{\"schema\": \"roofline/check/1\"}", "checks must be an array with at least one check"},
        {"{\"schema\": \"roofline/check/1\", \"checks\": []}", "checks must be an array"},
        {"{\"schema\": \"roofline/check/1\", \"checks\": [1]}", "a check must be an object"},
        {"{\"schema\": \"roofline/check/1\", \"checks\": [{}]}", "a check needs a name"},
        {"{\"schema\": \"roofline/check/1\", \"schema\": 1}", "the key 'schema' appears twice"},
        {"{\"schema\": \"roofline/check/1\", \"default\": {}}", "unknown key 'default'"},
        {"{\"schema\": \"roofline/check/1\", \"defaults\": {\"harware\": 1}, \"checks\": [1]}",
         "unknown input 'harware'"},
        {"{\"schema\": \"roofline/check/1\", \"checks\": [\n"
         "{\"name\": \"a\", \"inputs\": {\"operator\": \"add\"}, \"expect\": {\"flops\": 1}},\n"
         "{\"name\": \"a\", \"inputs\": {\"operator\": \"add\"}, \"expect\": {\"flops\": 1}}]}",
         "the check in line 2 already has this name"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_checks checks;
        struct roof_error error = {0};
        write_file(cases[i].text);
        assert_int_equal(roof_checks_read(&checks, path, &error), ROOF_INVALID);
        if (strstr(error.message, cases[i].message) == NULL || error.line == 0) {
            fail_msg("%s: %d:%d: %s", cases[i].text, error.line, error.column, error.message);
        }
        roof_checks_free(&checks);
        roof_checks_free(&checks); /* twice does no harm */
    }
    struct roof_checks checks;
    assert_int_equal(roof_checks_read(&checks, "/nowhere/at/all", NULL), ROOF_IO);
    roof_checks_free(&checks);
}

/* --- updating ------------------------------------------------------------------------------ */

/* Blanks, order, tolerances and numbers that pass stay as they were written. */
static void test_update(void **state)
{
    (void)state;
    struct roof_checks checks;
    struct asked asked = {.document = DOCUMENT};
    struct roof_text text = ROOF_TEXT_INIT;
    read_file(&checks,
              "{ \"schema\":\"roofline/check/1\",\"checks\" :[{\"name\":\"x\",\n"
              "\t\"expect\": {\"time_us\":{ \"relative\":1e-3,\"value\": 9.9e1 },\r\n"
              "  \"bottleneck\" :\"compute\"  , \"flops\": 0.0e5, \"native\": null,\n"
              "  \"network_time_us\": {\"value\": 7, \"absolute\": 1}, \"parts.0.flops\":1.00},\n"
              "  \"inputs\": {\"operator\": \"attention\"} }] }\n\n");
    run(&checks, &asked);
    assert_int_equal(checks.deviations, 4);
    assert_int_equal(roof_checks_updated(&text, &checks), 4);
    assert_string_equal(text.data,
                        "{ \"schema\":\"roofline/check/1\",\"checks\" :[{\"name\":\"x\",\n"
                        "\t\"expect\": {\"time_us\":{ \"relative\":1e-3,\"value\": 100.5 },\r\n"
                        "  \"bottleneck\" :\"memory\"  , \"flops\": 0.0e5, \"native\": true,\n"
                        "  \"network_time_us\": {\"value\": null, \"absolute\": 1}, "
                        "\"parts.0.flops\":1.00},\n"
                        "  \"inputs\": {\"operator\": \"attention\"} }] }\n\n");
    roof_checks_free(&checks);
    read_file(&checks, text.data); /* and then all is as expected */
    run(&checks, &asked);
    assert_int_equal(checks.deviations, 0);
    roof_text_clear(&text);
    assert_int_equal(roof_checks_updated(&text, &checks), 0);
    roof_checks_free(&checks);
    /* A key below an element that does not exist is probably mistyped. */
    read_file(&checks, "{\"schema\": \"roofline/check/1\", \"checks\": [{\"name\": \"x\", "
                       "\"expect\": {\"parts.nothing.flops\": 2}, "
                       "\"inputs\": {\"operator\": \"attention\"}}]}");
    run(&checks, &asked);
    assert_int_equal(checks.deviations, 1);
    assert_true(checks.check[0].expectation[0].nowhere);
    roof_text_clear(&text);
    assert_int_equal(roof_checks_updated(&text, &checks), 0);
    roof_checks_free(&checks);
    roof_text_free(&text);
}

/* --- reports ------------------------------------------------------------------------------- */

static void test_reports(void **state)
{
    (void)state;
    static const char *const expected[] = {
        [ROOF_CHECK_TEXT] = "FAIL: b <&> \"#\\\n"
                            "  checks.json:3:63: time_us: expected 100, got 100.5: off by 0.5 "
                            "(0.005 relative), allowed 1e-9 relative\n"
                            "2 checks, 3 values: 1 deviates in 1 check\n",
        [ROOF_CHECK_JSON] = "{\"schema\": \"roofline/check-results/1\", \"checks\": 2, \"failed\": "
                            "1, \"values\": 3, \"deviations\": 1,\n"
                            "  \"results\": [\n"
                            "    {\"file\": \"checks.json\", \"line\": 2, \"name\": \"a\", "
                            "\"passed\": true, \"values\": [\n"
                            "      {\"key\": \"native\", \"line\": 2, \"column\": 36, \"passed\": "
                            "true, \"expected\": true, \"got\": true}]},\n"
                            "    {\"file\": \"checks.json\", \"line\": 3, \"name\": \"b <&> "
                            "\\\"#\\\\\", \"passed\": false, \"values\": [\n"
                            "      {\"key\": \"native\", \"line\": 3, \"column\": 46, \"passed\": "
                            "true, \"expected\": true, \"got\": true},\n"
                            "      {\"key\": \"time_us\", \"line\": 3, \"column\": 63, \"passed\": "
                            "false, \"expected\": 100, \"got\": 100.5, \"difference\": 0.5, "
                            "\"relative\": 1e-9, \"absolute\": 0}]}\n"
                            "  ]\n"
                            "}\n",
        [ROOF_CHECK_TAP] =
            "TAP version 14\n1..2\nok 1 - a\nnot ok 2 - b <&> \"\\#\\\\\n  ---\n"
            "  file: \"checks.json\"\n  line: 3\n  deviations:\n"
            "    - \"time_us: expected 100, got 100.5: off by 0.5 (0.005 relative), allowed 1e-9 "
            "relative\"\n  ...\n",
        [ROOF_CHECK_JUNIT] =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"roofline check\" tests=\"2\" failures=\"1\" errors=\"0\">\n"
            "  <testsuite name=\"checks.json\" tests=\"2\" failures=\"1\" "
            "errors=\"0\" skipped=\"0\">\n"
            "    <testcase classname=\"checks.json\" name=\"a\" "
            "file=\"checks.json\" line=\"2\" assertions=\"1\"/>\n"
            "    <testcase classname=\"checks.json\" "
            "name=\"b &lt;&amp;&gt; &quot;#\\\" file=\"checks.json\" line=\"3\" "
            "assertions=\"2\">\n"
            "      <failure type=\"deviation\" message=\"1 of 2 values\">time_us: expected 100, "
            "got 100.5: off by 0.5 (0.005 relative), allowed 1e-9 relative</failure>\n"
            "    </testcase>\n  </testsuite>\n</testsuites>\n",
    };
    struct roof_checks checks;
    struct asked asked = {.document = DOCUMENT};
    read_file(
        &checks,
        "{\"schema\": \"roofline/check/1\", \"defaults\": {\"operator\": \"add\"}, "
        "\"checks\": [\n"
        "{\"name\": \"a\", \"expect\": {\"native\": true}},\n"
        "{\"name\": \"b <&> \\\"#\\\\\", \"expect\": {\"native\": true, \"time_us\": 100}}]}");
    run(&checks, &asked);
    checks.name = "checks.json"; /* whatever it was read from */
    for (size_t i = 0; i < COUNT(expected); i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        roof_check_report(&text, (enum roof_check_output)i, &checks, 1, false);
        assert_string_equal(text.data, expected[i]);
        roof_text_free(&text);
    }
    roof_checks_free(&checks);
}

int main(void)
{
    const int file = mkstemp(path);
    if (file < 0) {
        return 1;
    }
    close(file);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs),      cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_comparing),   cmocka_unit_test(test_tolerances),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_wrong_members),
        cmocka_unit_test(test_wrong_files), cmocka_unit_test(test_update),
        cmocka_unit_test(test_reports),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
