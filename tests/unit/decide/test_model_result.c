// SPDX-License-Identifier: MIT
/* The prediction of a model as numbers is that of roof_predict_model. */
#include <math.h>
#include <stdlib.h>

#include "support.h"

static struct roof_question *ask(const char *const *inputs)
{
    struct roof_question *question = NULL;
    struct roof_error error = {0};
    assert_int_equal(roof_question_new(&question, &error), ROOF_OK);
    for (; *inputs != NULL; inputs += 2) {
        if (roof_question_put(question, inputs[0], inputs[1], &error) != ROOF_OK) {
            fail_msg("%s: %s", inputs[0], error.message);
        }
    }
    return question;
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const inputs[] = {"model", "llama-3-8b", "hardware", "h100-sxm",
                                         "batch", "8",          NULL};
    struct roof_store *store = NULL;
    struct roof_model_result *result = NULL;
    struct roof_error error = {0};
    struct roof_question *const question = ask(inputs);
    assert_int_equal(roof_store_new(&store, &error), ROOF_OK);
    assert_int_equal(roof_model_predict(&result, store, question, &error), ROOF_OK);
    roof_question_free(question);

    struct roof_hardware *const hardware = load_calibrated("h100-sxm");
    struct roof_model *model = NULL;
    struct roof_scenario scenario;
    struct roof_model_prediction *const p = malloc(sizeof *p);
    assert_non_null(p);
    roof_scenario_init(&scenario);
    scenario.common.shape.batch = 8;
    scenario.early_s[ROOF_STACK_TRTLLM] = 1e-6; /* as data/engines states it */
    assert_int_equal(roof_model_load(&model, "llama-3-8b", NULL, &error), ROOF_OK);
    assert_int_equal(roof_predict_model(p, model, &scenario, hardware, &error), ROOF_OK);

    assert_true(roof_model_number(result, "tokens_per_s") == p->tokens_per_s);
    assert_true(roof_model_number(result, "tpot_ms") == p->tpot_s * 1e3);
    assert_true(roof_model_number(result, "batch") == 8);
    assert_true(roof_model_number(result, "fits") == 1);
    assert_true(roof_model_number(result, "bandwidth_gb_s") == 3350);
    assert_true(isnan(roof_model_number(result, "ttft_ms")));
    assert_true(isnan(roof_model_number(result, "model")));
    assert_true(isnan(roof_model_number(result, "no_such_key")));
    assert_string_equal(roof_model_text(result, "model"), "llama-3-8b");
    assert_string_equal(roof_model_text(result, "phase"), "decode");
    assert_string_equal(roof_model_text(result, "weights"), "fp16");
    assert_null(roof_model_text(result, "layout"));
    assert_null(roof_model_text(result, "batch"));
    assert_null(roof_model_text(result, "no_such_key"));

    assert_true(roof_model_total(result)->time_s == p->total.time_s);
    assert_int_equal(roof_model_operators(result), p->count);
    for (size_t i = 0; i < p->count; i++) {
        assert_string_equal(roof_model_operator_name(result, i), p->node[i].node.name);
        assert_int_equal(roof_model_operator_runs(result, i), p->node[i].node.count);
        assert_true(roof_model_operator(result, i)->time_s == p->node[i].prediction.time_s);
        assert_true(roof_model_operator(result, i)->expected_s == p->node[i].prediction.expected_s);
    }
    assert_null(roof_model_operator_name(result, p->count));
    assert_int_equal(roof_model_operator_runs(result, p->count), 0);
    assert_null(roof_model_operator(result, p->count));
    roof_model_result_free(result);
    roof_model_result_free(NULL);
    roof_store_free(store);
    roof_model_free(model);
    free_calibrated(hardware);
    free(p);
}

static void test_request(void **state)
{
    (void)state;
    static const char *const inputs[] = {
        "model", "llama-3-8b",  "hardware",   "h100-sxm",     "prompt", "1000", "generate",
        "100",   "draft_model", "llama-3-8b", "draft_tokens", "2",      NULL};
    struct roof_store *store = NULL;
    struct roof_model_result *result = NULL;
    struct roof_error error = {0};
    struct roof_question *const question = ask(inputs);
    assert_int_equal(roof_store_new(&store, &error), ROOF_OK);
    assert_int_equal(roof_model_predict(&result, store, question, &error), ROOF_OK);
    assert_int_equal(roof_model_operators(result), 0);
    assert_true(roof_model_number(result, "e2e_ms") > roof_model_number(result, "ttft_ms"));
    assert_true(roof_model_number(result, "generate") == 100);
    assert_string_equal(roof_model_text(result, "draft_model"), "llama-3-8b");
    roof_model_result_free(result);
    roof_question_free(question);
    roof_store_free(store);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *const inputs[7];
        const char *says;
    } wrong[] = {
        {{"hardware", "h100-sxm", NULL}, "no model is given"},
        {{"operator", "gemm", "m", "8", NULL}, "no model is given"},
        {{"model", "", NULL}, "no model is given"},
        {{"model", "no-such-model", NULL}, "unknown model"},
        {{"model", "llama-3-8b", "hardware", "no-such-device", NULL}, "unknown hardware"},
        {{"model", "llama-3-8b", "batch", "0", NULL}, "batch"},
        {{"model", "llama-3-8b", "m", "8", NULL}, "is for operators"},
        {{"model", "llama-3-8b", "objective", "cost", NULL}, "not an input of this command"},
        {{"model", "llama-3-8b", "draft_model", "llama-3-8b", NULL}, "needs draft_tokens"},
        {{"model", "llama-3-8b", "from", "records.csv", NULL}, "as a document only"},
    };
    struct roof_store *store = NULL;
    struct roof_error error = {0};
    assert_int_equal(roof_store_new(&store, &error), ROOF_OK);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct roof_model_result *result = NULL;
        struct roof_question *const question = ask(wrong[i].inputs);
        assert_int_equal(roof_model_predict(&result, store, question, &error), ROOF_USAGE);
        assert_null(result);
        if (strstr(error.message, wrong[i].says) == NULL) {
            fail_msg("%s: not '%s'", error.message, wrong[i].says);
        }
        roof_question_free(question);
    }
    roof_store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
