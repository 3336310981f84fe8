// SPDX-License-Identifier: MIT
#include <string.h>

#include "base/base.h"
#include "decide/hint.h"
#include "decide/named.h"
#include "decide/resolve.h"
#include "support.h"

/* A question becomes these inputs; NULL means that an input is not given. */
struct expected {
    const char *precision, *layout, *weights, *activations, *kv;
};

static void same(const char *got, const char *wanted)
{
    if (wanted == NULL) {
        assert_null(got);
    } else {
        assert_non_null(got);
        assert_string_equal(got, wanted);
    }
}

static void check(const char *model, const char *precision, const struct expected *e,
                  const char *note_with)
{
    struct roof_store *store = NULL;
    struct roof_question *question = NULL;
    struct roof_question out;
    struct roof_error error = {0};
    struct roof_error note = {0};
    assert_int_equal(roof_store_new(&store, &error), ROOF_OK);
    assert_int_equal(roof_question_new(&question, &error), ROOF_OK);
    assert_int_equal(roof_question_put(question, "model", model, &error), ROOF_OK);
    assert_int_equal(roof_question_put(question, "precision", precision, &error), ROOF_OK);
    struct roof_loans loans = {.store = store};
    assert_int_equal(
        roof_question_resolve(&out, &note, question, &loans, ROOF_COMMAND_PREDICT, &error),
        ROOF_OK);
    same(out.value[ROOF_INPUT_PRECISION_BOTH], e->precision);
    same(out.value[ROOF_INPUT_LAYOUT], e->layout);
    same(out.value[ROOF_INPUT_WEIGHTS], e->weights);
    same(out.value[ROOF_INPUT_ACTIVATIONS], e->activations);
    same(out.value[ROOF_INPUT_KV], e->kv);
    if (note_with == NULL) {
        assert_string_equal(note.message, "");
    } else {
        assert_non_null(strstr(note.message, note_with));
    }
    roof_loans_return(&loans);
    roof_question_free(question);
    roof_store_free(store);
}

/* Precisions come before the formats of engines, and those before layouts. */
static void test_formats(void **state)
{
    (void)state;
    static const struct {
        const char *model, *precision;
        struct expected expected;
        const char *note;
    } cases[] = {
        {"llama-3-8b", "fp8", {"fp8", NULL, NULL, NULL, NULL}, NULL},
        {"llama-3-8b", "w4a8-awq", {NULL, NULL, "int4_g128", "fp8_e4m3", "bf16"}, NULL},
        {"llama-3-8b", "bf16-kv8", {NULL, NULL, "bf16", "bf16", "fp8_e4m3"}, NULL},
        {"llama-3-8b",
         "fp8-block",
         {NULL, NULL, "fp8_block128", "fp8_e4m3", "bf16"},
         "means a published checkpoint"},
        {"deepseek-r1", "fp8-block", {NULL, "checkpoint", NULL, NULL, "bf16"}, NULL},
        {"llama-3-8b", "q4_k_m", {NULL, "q4_k_m", NULL, NULL, "fp16"}, NULL}, /* llama.cpp has it */
        {"llama-3-8b", "q6_k", {"q6_k", NULL, NULL, NULL, NULL}, "layout q6_k"},
        {"llama-3-8b", "q5_k_m", {NULL, "q5_k_m", NULL, NULL, NULL}, NULL},
        {"llama-3-8b", "awq", {"awq", NULL, NULL, NULL, NULL}, "weights int4_g128"},
        /* Lists are looked up item by item, and model by model. */
        {"llama-3-8b", "fp8,q4_k_m", {"fp8,q4_k_m", NULL, NULL, NULL, NULL}, NULL},
        {"llama-3-8b,gpt-2", "fp8-block", {"fp8-block", NULL, NULL, NULL, NULL}, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check(cases[i].model, cases[i].precision, &cases[i].expected, cases[i].note);
    }
}

static void resolve_operator(struct roof_question *out, const char *name, enum roof_status wanted,
                             struct roof_error *error)
{
    struct roof_store *store = NULL;
    struct roof_question *question = NULL;
    struct roof_error note = {0};
    assert_int_equal(roof_store_new(&store, error), ROOF_OK);
    assert_int_equal(roof_question_new(&question, error), ROOF_OK);
    assert_int_equal(roof_question_put(question, "operator", name, error), ROOF_OK);
    struct roof_loans loans = {.store = store};
    assert_int_equal(
        roof_question_resolve(out, &note, question, &loans, ROOF_COMMAND_PREDICT, error), wanted);
    out->model_name = NULL; /* a text of the question */
    out->op = NULL;
    roof_loans_return(&loans);
    roof_question_free(question);
    roof_store_free(store);
}

static void test_workloads(void **state)
{
    (void)state;
    struct roof_question out;
    struct roof_error error = {0};
    resolve_operator(&out, "gemm", ROOF_OK, &error);
    assert_false(out.model);
    resolve_operator(&out, "llama-3-8b", ROOF_OK, &error);
    assert_true(out.model);
    resolve_operator(&out, "llama-3-8b,gpt2", ROOF_OK, &error); /* the list of a sweep */
    assert_true(out.model);
    resolve_operator(&out, "Qwen/Qwen3-8B", ROOF_OK, &error);
    assert_true(out.model);
    resolve_operator(&out, "./config.json", ROOF_OK, &error);
    assert_true(out.model);
    resolve_operator(&out, "gemmm", ROOF_USAGE, &error);
    assert_non_null(strstr(error.message, "unknown operator or model 'gemmm'; did you mean gemm?"));
    resolve_operator(&out, "gpt-5", ROOF_USAGE, &error);
    assert_non_null(strstr(error.message, "did you mean gpt-2"));
}

/* A name that is none is refused, and others have their formats. */
static void test_named(void **state)
{
    (void)state;
    struct roof_store *store = NULL;
    struct roof_named named;
    struct roof_error error = {0};
    struct roof_error note = {0};
    assert_int_equal(roof_store_new(&store, &error), ROOF_OK);
    struct roof_loans loans = {.store = store};
    assert_int_equal(roof_named_find(&named, &note, "nothing", NULL, &loans, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "unknown precision 'nothing'"));
    assert_int_equal(roof_named_find(&named, &note, "fp8-blok", NULL, &loans, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "did you mean fp8-block"));
    assert_int_equal(roof_named_find(&named, &note, "fp8", NULL, &loans, &error), ROOF_OK);
    assert_int_equal(named.precision, ROOF_PRECISION_FP8_E4M3);
    assert_int_equal(roof_named_find(&named, &note, "fp8-block", NULL, &loans, &error), ROOF_OK);
    assert_int_equal(named.precision, ROOF_PRECISION_AUTO);
    assert_int_equal(named.weights, ROOF_PRECISION_FP8_BLOCK128);
    assert_string_equal(note.message, "");
    assert_true(roof_named_plain("fp8,bf16"));
    assert_false(roof_named_plain("fp8,q4_k_m"));
    roof_loans_return(&loans);
    roof_store_free(store);
}

static void hint(const char *name, bool given, const char *message)
{
    struct roof_error error = {.status = ROOF_USAGE, .message = "unknown"};
    roof_hint_format(&error, name, given, NULL);
    assert_string_equal(error.message, message);
    assert_int_equal(error.status, ROOF_USAGE);
}

static void test_hints(void **state)
{
    (void)state;
    hint("fp8", false, "fp8 is a precision: precision fp8");
    hint("q4_k_m", true,
         "q4_k_m is a layout of checkpoints, for models: layout q4_k_m; "
         "operators have q4_k");
    hint("awq-kv8", false, "awq-kv8 is a format of engines, for models: precision awq-kv8");
    hint("fp8-block", true,
         "fp8-block is a format of engines, for models only; here give weights fp8_block128 "
         "activations fp8_e4m3");
    hint("nothing", true, "unknown");
    roof_hint_format(NULL, "fp8", false, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formats), cmocka_unit_test(test_named),
                                       cmocka_unit_test(test_workloads),
                                       cmocka_unit_test(test_hints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
