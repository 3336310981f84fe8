// SPDX-License-Identifier: MIT
#include "support.h"

#include <stdio.h>

static struct roof_question *question;

static int open_question(void **state)
{
    (void)state;
    return roof_question_new(&question, NULL) != ROOF_OK;
}

static int close_question(void **state)
{
    (void)state;
    roof_question_free(question);
    question = NULL;
    return 0;
}

static void open_another(void)
{
    roof_question_free(question);
    assert_int_equal(roof_question_new(&question, NULL), ROOF_OK);
}

static void put(const char *key, const char *value)
{
    struct roof_error error = {0};
    if (roof_question_put(question, key, value, &error) != ROOF_OK) {
        fail_msg("%s=%s: %s", key, value, error.message);
    }
}

/* Writes a key as <KEY>, so that a message shows which of its words are keys. */
static void spell(char *out, size_t size, const char *key)
{
    (void)snprintf(out, size, "<%s>", key);
}

static void refuse(const char *key, const char *value, const char *message)
{
    char line[2 * ROOF_ERROR_MESSAGE_SIZE];
    struct roof_error error = {0};
    assert_int_equal(roof_question_put(question, key, value, &error), ROOF_USAGE);
    assert_int_equal(error.status, ROOF_USAGE);
    assert_string_equal(roof_error_spelled(line, sizeof line, &error, spell), message);
    assert_int_equal(roof_question_put(question, key, value, NULL), ROOF_USAGE);
}

static void refuse_unknown(const char *key, const char *begin)
{
    struct roof_error error = {0};
    assert_int_equal(roof_question_put(question, key, "1", &error), ROOF_USAGE);
    if (strncmp(error.message, begin, strlen(begin)) != 0) {
        fail_msg("'%s' does not begin with '%s'", error.message, begin);
    }
    assert_null(strstr(error.message, ", format,"));
    assert_null(strstr(error.message, ", output,"));
    assert_null(strstr(error.message, ", resume"));
}

/* --- tests --------------------------------------------------------------------------------- */

static bool is_output(const char *key)
{
    return strcmp(key, "format") == 0 || strcmp(key, "output") == 0 || strcmp(key, "resume") == 0 ||
           strcmp(key, "by_phase") == 0;
}

static bool is_of_service(const char *key)
{
    static const char *const keys[] = {"listen",   "token",    "allow_host",
                                       "max_rows", "max_time", "max_connections"};
    for (size_t i = 0; i < COUNT(keys); i++) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Every input is a key, but those that say where an answer goes, and what the service does. */
static void test_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        char key[ROOF_INPUT_NAME_SIZE];
        roof_input_key(key, roof_input(i));
        if (is_output(key) || is_of_service(key)) {
            char message[200];
            (void)snprintf(message, sizeof message,
                           "<%s> is not an input of a question: it sets how the %s, which the "
                           "calling program decides",
                           key, is_output(key) ? "answer is written" : "service runs");
            refuse(key, "1", message);
            continue;
        }
        char value[] = "1";
        open_another();
        assert_false(roof_asked(question, i));
        put(key, value);
        value[0] = 'x'; /* the question has a copy */
        assert_true(roof_asked(question, i));
        assert_string_equal(question->value[i], roof_input(i)->kind == ROOF_INPUT_FLAG ? "" : "1");
    }
}

static void test_unknown_keys(void **state)
{
    (void)state;
    refuse_unknown("kv_headz", "unknown key 'kv_headz'; did you mean kv_heads");
    refuse_unknown("kv-heads", "unknown key 'kv-heads'; did you mean kv_heads");
    refuse_unknown("Model", "unknown key 'Model'; did you mean model");
    refuse_unknown("operators", "unknown key 'operators'; did you mean operator");
    refuse_unknown("measured", "unknown key 'measured'; did you mean measured_us");
    refuse_unknown("price", "unknown key 'price'; did you mean price_per_hour?");
    refuse_unknown("", "unknown key ''; known: operator, model, ");
    refuse_unknown("line\n2", "unknown key 'line?2'; did you mean line");
}

static void test_flags(void **state)
{
    static const char *const yes[] = {"", "1", "true"};
    static const char *const no[] = {"0", "false"};
    static const char *const neither[] = {"2", "yes", "True", " 1", "no", "00"};
    (void)state;
    for (size_t i = 0; i < COUNT(yes); i++) {
        open_another();
        put("causal", yes[i]);
        put("sparse", yes[i]);
        assert_string_equal(question->value[ROOF_DIM_CAUSAL], "");
        assert_string_equal(question->value[ROOF_INPUT_SPARSE], "");
        refuse("causal", "1", "<causal> is given more than once");
        refuse("causal", "0", "<causal> is given more than once");
    }
    for (size_t i = 0; i < COUNT(no); i++) {
        open_another();
        put("causal", no[i]);
        assert_false(roof_asked(question, ROOF_DIM_CAUSAL));
    }
    open_another();
    for (size_t i = 0; i < COUNT(neither); i++) {
        char message[100];
        (void)snprintf(message, sizeof message, "<why> is a flag: true or false, not '%s'",
                       neither[i]);
        refuse("why", neither[i], message);
        assert_false(roof_asked(question, ROOF_INPUT_WHY));
    }
}

static void test_once(void **state)
{
    static const char *const keys[] = {"m",    "hardware", "precision", "measured_us",
                                       "list", "id",       "from",      "layout"};
    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++) {
        char message[100];
        put(keys[i], "1");
        (void)snprintf(message, sizeof message, "<%s> is given more than once", keys[i]);
        refuse(keys[i], "2", message);
        refuse(keys[i], "1", message);
    }
    /* The first values stay. */
    assert_string_equal(question->value[ROOF_DIM_M], "1");
    assert_string_equal(question->list, "1");
    assert_string_equal(question->id, "1");
    assert_int_equal(question->files, 0);
}

static void test_many(void **state)
{
    static const struct {
        const char *key;
        const char *message;
    } many[] = {{"set", "<set> is given more than 32 times"},
                {"class", "<class> is given more than 32 times"},
                {"price_per_hour", "<price_per_hour> is given more than 32 times"},
                {"line", "<line> is given more than 32 times"}};
    (void)state;
    for (size_t i = 0; i < COUNT(many); i++) {
        for (int k = 0; k < ROOF_TEXTS_MAX; k++) {
            char value[20];
            (void)snprintf(value, sizeof value, "a%d=1", k);
            put(many[i].key, value);
        }
        refuse(many[i].key, "b=1", many[i].message);
    }
    for (int k = 0; k < ROOF_FILES_MAX; k++) {
        put("file", k == 0 ? "first" : "same");
    }
    refuse("file", "same", "more than 64 files are given");
    assert_int_equal(question->files, ROOF_FILES_MAX);
    assert_string_equal(question->file[0], "first");
    assert_string_equal(question->file[1], "same");
    assert_int_equal(question->set.count, ROOF_TEXTS_MAX);
    assert_string_equal(question->set.value[0], "a0=1");
    assert_string_equal(question->set.value[31], "a31=1");
    assert_string_equal(question->value[ROOF_INPUT_SET], "a0=1");
}

/* The last of two values of a figure, or of a class, would win without a word. */
static void test_assignments(void **state)
{
    (void)state;
    put("set", "tdp_w=1");
    put("set", "tdp=1");
    refuse("set", "tdp_w=2", "<set> tdp_w=2: tdp_w is already given");
    refuse("set", "tdp_w", "<set> tdp_w: tdp_w is already given");
    put("class", "linear=fp8");
    put("class", "q=fp16");
    refuse("class", "q=fp16", "<class> q=fp16: q is already given");
    put("price_per_hour", "h100-sxm=1");
    put("price_per_hour", "h100-sxm=2");
    put("line", "a=1TFLOPS");
    put("line", "a=1TFLOPS");
    assert_int_equal(question->set.count, 2);
    assert_int_equal(question->classes.count, 2);
    assert_int_equal(question->prices.count, 2);
    assert_int_equal(question->lines.count, 2);
}

static void test_workload(void **state)
{
    static const char *const keys[] = {"operator", "model"};
    (void)state;
    for (int first = 0; first < 2; first++) {
        for (int second = 0; second < 2; second++) {
            open_another();
            put(keys[first], "gemm");
            refuse(keys[second], "llama",
                   "a question has one operator or one model: leave out llama");
        }
        assert_int_equal(question->model, first == 1);
        assert_string_equal(first == 1 ? question->model_name : question->op, "gemm");
    }
    open_another();
    put("model", ""); /* each record names its own */
    assert_true(question->model);
    assert_null(question->model_name);
    assert_null(question->op);
    refuse("model", "a", "a question has one operator or one model: leave out a");
}

static void check(enum roof_command command, const char *message)
{
    char line[2 * ROOF_ERROR_MESSAGE_SIZE];
    struct roof_error error = {0};
    assert_int_equal(roof_question_check(question, command, &error),
                     *message == '\0' ? ROOF_OK : ROOF_USAGE);
    assert_string_equal(roof_error_spelled(line, sizeof line, &error, spell), message);
}

static void test_commands(void **state)
{
    (void)state;
    put("operator", "gemm");
    put("m", "1");
    check(ROOF_COMMAND_PREDICT, "");
    check(ROOF_COMMAND_SWEEP, "");
    check(ROOF_COMMAND_LIST, "<m> is not an input of this command");
    check(ROOF_COMMAND_CHECK, "<m> is not an input of this command");
    put("shard", "1/2");
    check(ROOF_COMMAND_PREDICT, "<shard> is not an input of this command");
    check(ROOF_COMMAND_SWEEP, "");
    open_another();
    put("phase", "decode");
    check(ROOF_COMMAND_PREDICT, "");
    put("generate", "1");
    check(ROOF_COMMAND_PREDICT,
          "<prompt> and <generate> ask for a whole request: leave out <phase>");
    put("from", "records.csv");
    check(ROOF_COMMAND_PREDICT, "");
    open_another();
    put("phase", "decode");
    put("prompt", "1");
    check(ROOF_COMMAND_SWEEP, "<prompt> and <generate> ask for a whole request: leave out <phase>");
}

static void test_borrow(void **state)
{
    struct roof_question copy;
    (void)state;
    put("m", "12");
    roof_question_borrow(&copy, question);
    copy.value[ROOF_DIM_M] = NULL;
    assert_null(copy.kept);
    assert_string_equal(question->value[ROOF_DIM_M], "12");
    roof_question_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_keys, open_question, close_question),
        cmocka_unit_test_setup_teardown(test_unknown_keys, open_question, close_question),
        cmocka_unit_test_setup_teardown(test_flags, open_question, close_question),
        cmocka_unit_test_setup_teardown(test_once, open_question, close_question),
        cmocka_unit_test_setup_teardown(test_many, open_question, close_question),
        cmocka_unit_test_setup_teardown(test_assignments, open_question, close_question),
        cmocka_unit_test_setup_teardown(test_workload, open_question, close_question),
        cmocka_unit_test_setup_teardown(test_commands, open_question, close_question),
        cmocka_unit_test_setup_teardown(test_borrow, open_question, close_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
