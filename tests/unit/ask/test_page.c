// SPDX-License-Identifier: MIT
#include "catalog/data.h"
#include "support.h"

/* A small explorer in place of that of the program, in all unit tests. */
const char *roof_data_explorer(void)
{
    return "<b>{{version}}</b><script>{{question}}</script>";
}

static struct roof_store *store;

static int open_store(void **state)
{
    (void)state;
    return roof_store_new(&store, NULL) != ROOF_OK;
}

static int close_store(void **state)
{
    (void)state;
    roof_store_free(store);
    return 0;
}

/* Asks for the page of a question, whose keys and values end with a NULL. */
static enum roof_status ask(char **page, enum roof_command command, const char *const *pairs,
                            struct roof_error *error)
{
    struct roof_question *question = NULL;
    assert_int_equal(roof_question_new(&question, NULL), ROOF_OK);
    for (; *pairs != NULL; pairs += 2) {
        if (roof_question_put(question, pairs[0], pairs[1], error) != ROOF_OK) {
            fail_msg("%s: %s", pairs[0], error->message);
        }
    }
    const enum roof_status status =
        roof_answer(store, question, command, ROOF_HTML, page, NULL, error);
    roof_question_free(question);
    return status;
}

/* Checks the question that a page begins at. */
static void check(enum roof_command command, const char *const *pairs, const char *expected)
{
    char *page = NULL;
    char whole[1000];
    struct roof_error error = {0};
    assert_int_equal(ask(&page, command, pairs, &error), ROOF_OK);
    (void)snprintf(whole, sizeof whole, "<b>%s</b><script>%s</script>", roof_version(), expected);
    assert_string_equal(page, whole);
    roof_answer_free(page);
}

static void test_question(void **state)
{
    (void)state;
    static const char *const gemm[] = {"operator", "gemm",     "m",        "8",   "n", "8", "k",
                                       "8",        "hardware", "h100-sxm", "why", "",  NULL};
    check(ROOF_COMMAND_PREDICT, gemm,
          "{\"command\":\"predict\",\"inputs\":{\"operator\":\"gemm\",\"m\":\"8\",\"n\":\"8\","
          "\"k\":\"8\",\"hardware\":\"h100-sxm\",\"why\":\"1\"}}");
    static const char *const lists[] = {"model",   "llama-3-8b",   "set",
                                        "tdp_w=1", "set",          "bandwidth_gb_s=2",
                                        "class",   "lm_head=bf16", NULL};
    check(ROOF_COMMAND_SWEEP, lists,
          "{\"command\":\"sweep\",\"inputs\":{\"model\":\"llama-3-8b\","
          "\"hardware\":\"dgx-spark\",\"set\":"
          "[\"tdp_w=1\",\"bandwidth_gb_s=2\"],\"class\":[\"lm_head=bf16\"]}}");
    static const char *const none[] = {NULL};
    check(ROOF_COMMAND_PLOT, none,
          "{\"command\":\"plot\",\"inputs\":{\"hardware\":\"dgx-spark\"}}");
    check(ROOF_COMMAND_PAGE, none, "{\"command\":\"predict\",\"inputs\":{}}");
}

/* Devices that are compared are named by their pair. */
static void test_explained(void **state)
{
    (void)state;
    static const char *const pairs[] = {"model", "llama-3-8b", "explain", "h100-sxm,h200-sxm",
                                        NULL};
    check(ROOF_COMMAND_RECOMMEND, pairs,
          "{\"command\":\"recommend\",\"inputs\":{\"model\":\"llama-3-8b\","
          "\"explain\":\"h100-sxm,h200-sxm\"}}");
}

/* A text ends no script, and quotes are escaped. */
static void test_hostile(void **state)
{
    (void)state;
    static const char *const pairs[] = {"model", "</script>\"", NULL};
    check(ROOF_COMMAND_RECOMMEND, pairs,
          "{\"command\":\"recommend\",\"inputs\":{\"model\":\"\\u003c/script>\\\"\","
          "\"hardware\":\"dgx-spark\"}}");
}

/* A page has no place for what names a file or writes something else. */
static void test_refused(void **state)
{
    (void)state;
    static const char *const pairs[] = {"operator", "gemm", "m",       "8", "n", "8",
                                        "k",        "8",    "columns", "m", NULL};
    char *page = NULL;
    struct roof_error error = {0};
    assert_int_equal(ask(&page, ROOF_COMMAND_SWEEP, pairs, &error), ROOF_USAGE);
    assert_null(page);
    assert_non_null(strstr(error.message, "html"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_question),
        cmocka_unit_test(test_explained),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, open_store, close_store);
}
