// SPDX-License-Identifier: MIT
/* The largest batch of a plan: one more does not fit, wherever the search begins. */
#include "models.h"

#include <math.h>

#include "decide/plan_largest.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The searches of these tests share it: llama-3.1-8b in fp8 on one h100-sxm, contexts of 1024. */
struct question {
    struct roof_hardware *hardware;
    struct roof_model *model;
    struct roof_engines *engines;
    struct roof_accuracy accuracy;
    struct roof_plan_problem problem;
};

static const enum roof_precision fp8[] = {ROOF_PRECISION_FP8_E4M3};
static const int64_t one_device[] = {1};

static void open_question(struct question *out)
{
    out->hardware = load_calibrated("h100-sxm");
    out->model = load("llama-3.1-8b");
    roof_model_forget_formats(out->model);
    assert_int_equal(roof_engines_load(&out->engines, NULL), ROOF_OK);
    assert_int_equal(roof_accuracy_load(&out->accuracy, NULL), ROOF_OK);
    out->problem =
        (struct roof_plan_problem){.model = out->model,
                                   .hardware = (const struct roof_hardware *const *)&out->hardware,
                                   .hardware_count = 1,
                                   .engines = out->engines,
                                   .accuracy = &out->accuracy,
                                   .formats = fp8,
                                   .format_count = 1,
                                   .devices = one_device,
                                   .device_counts = 1,
                                   .max_loss = ROOF_ACCURACY_1_TO_2};
    roof_scenario_init(&out->problem.base);
    out->problem.base.context = 1024;
    out->problem.base.reserve = 0.1;
    out->problem.base.common.formats.kv = ROOF_PRECISION_FP8_E4M3;
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        out->problem.limit[i] = ROOF_UNKNOWN;
    }
}

static void close_question(struct question *q)
{
    roof_accuracy_free(&q->accuracy);
    roof_engines_free(q->engines);
    roof_model_free(q->model);
    roof_hardware_free(q->hardware);
}

/* Searches with the batches 1 and `last`; returns the plans' batches, in ascending order. */
static size_t batches_of(int64_t out[8], struct question *q, enum roof_plan_batches largest,
                         int64_t last)
{
    const int64_t batch[] = {1, last};
    struct roof_plans plans;
    q->problem.batch = batch;
    q->problem.batches = largest == ROOF_BATCHES_LARGEST ? 1 : COUNT(batch);
    q->problem.largest = largest;
    assert_int_equal(roof_plan_search(&plans, &q->problem, NULL), ROOF_OK);
    const size_t count = plans.count;
    q->problem.batch = NULL;
    assert_true(count < 8);
    for (size_t i = 0; i < count; i++) {
        size_t k = i;
        for (; k > 0 && out[k - 1] > plans.plan[i].batch; k--) {
            out[k] = out[k - 1];
        }
        out[k] = plans.plan[i].batch;
        assert_true(plans.plan[i].memory_bytes <= 0.9 * 80 * 1073741824);
    }
    roof_plans_free(&plans);
    return count;
}

/* A sequence takes 2 x 32 layers x 8 heads x 128 x 1024 bytes of cache, 64 MiB, so at most 1152 of
 * them lie in 72 GiB, and with less than 9 GiB of weights and activations at least 1008. */
static void test_search(void **unused)
{
    (void)unused;
    struct question q;
    int64_t batch[8] = {0};
    open_question(&q);
    assert_int_equal(batches_of(batch, &q, ROOF_BATCHES_LARGEST, 1), 1);
    const int64_t largest = batch[0];
    assert_true(largest >= 1008 && largest < 1152);
    assert_int_equal(batches_of(batch, &q, ROOF_BATCHES_BEYOND, 16), 3);
    assert_int_equal(batch[2], largest);
    assert_int_equal(batches_of(batch, &q, ROOF_BATCHES_BEYOND, 4096), 2);
    assert_int_equal(batch[1], largest);
    assert_int_equal(batches_of(batch, &q, ROOF_BATCHES_WITHIN, 4096), 2);
    assert_int_equal(batch[1], largest);
    /* It is no candidate where the given ones end below it, nor a second one beside itself. */
    assert_int_equal(batches_of(batch, &q, ROOF_BATCHES_WITHIN, 16), 2);
    assert_int_equal(batch[1], 16);
    assert_int_equal(batches_of(batch, &q, ROOF_BATCHES_BEYOND, largest), 2);
    assert_int_equal(batches_of(batch, &q, ROOF_BATCHES_GIVEN, largest + 1), 1);
    assert_int_equal(batches_of(batch, &q, ROOF_BATCHES_WITHIN, largest + 1), 2);
    assert_int_equal(batch[1], largest);
    close_question(&q);
}

/* All serving formats predict the one model. */
static struct roof_plan_predictor predictor_of(const struct question *q)
{
    static const struct roof_model *models[64];
    assert_true(q->engines->servings <= COUNT(models));
    for (size_t i = 0; i < COUNT(models); i++) {
        models[i] = q->model;
    }
    struct roof_plan_predictor p = {
        .problem = &q->problem, .model = models, .unmeasured = *q->hardware};
    p.unmeasured.calibration = NULL;
    return p;
}

/* One device, with weights and a cache in fp8. */
static struct roof_plan plan_in_fp8(const struct question *q)
{
    struct roof_plan plan = {
        .split = {.tp = 1, .pp = 1, .attention_dp = 1, .moe_tp = 1, .moe_ep = 1},
        .dp = 1,
        .batch = 1,
        .engines = ~0U};
    while (plan.serving < q->engines->servings &&
           !(roof_serving_called(q->engines, plan.serving, "fp8") &&
             q->engines->serving[plan.serving].kv == ROOF_PRECISION_FP8_E4M3)) {
        plan.serving++;
    }
    return plan;
}

/* Every start leads to the same end, where the room is that of less than one sequence. */
static void test_starts(void **unused)
{
    (void)unused;
    static const struct {
        int64_t context;
        int64_t from;
        int64_t more;
    } starts[] = {{1, 1, 0},       {1, 1, 1000000000}, {1, 2048, 0},      {1, 999, 100000000},
                  {1024, 1, 0},    {1024, 1, 1000000}, {1024, 1000, 0},   {1024, 1000, 1153},
                  {131072, 1, 0},  {131072, 1, 9},     {131072, 2, 1000}, {131072, 7, 0},
                  {1024, 1007, 0}, {1024, 1, 1153},    {1024, 3, 2048}};
    struct question q;
    open_question(&q);
    struct roof_plan_predictor p = predictor_of(&q);
    struct roof_plan plan = plan_in_fp8(&q);
    for (size_t i = 0; i < COUNT(starts); i++) {
        struct roof_sized fits = {starts[i].from, 0};
        struct roof_sized more = {starts[i].more, 0};
        int64_t batch = 0;
        double room = 0;
        q.problem.base.context = starts[i].context;
        plan.batch = fits.batch;
        assert_int_equal(roof_plan_room(&fits.room, &p, &plan), ROOF_OK);
        plan.batch = more.batch;
        if (more.batch > 0 && roof_plan_room(&more.room, &p, &plan) != ROOF_OK) {
            more.room = ROOF_UNKNOWN; /* more than can be counted */
        }
        assert_int_equal(roof_plan_largest(&batch, &p, &plan, fits, more), ROOF_OK);
        plan.batch = batch;
        assert_int_equal(roof_plan_room(&room, &p, &plan), ROOF_OK);
        assert_true(room >= 0);
        plan.batch = batch + 1;
        assert_int_equal(roof_plan_room(&room, &p, &plan), ROOF_OK);
        assert_true(room < 0);
        fits = (struct roof_sized){batch - 1, ROOF_UNKNOWN};
        more = (struct roof_sized){batch + 1, room};
        assert_int_equal(roof_plan_largest(&plan.batch, &p, &plan, fits, more), ROOF_OK);
        assert_int_equal(plan.batch, batch);
    }
    close_question(&q);
}

/* Requests leave the room that a prediction of them does: their prompts need it too, also if they
 * end with their first token. */
static void test_room(void **unused)
{
    (void)unused;
    struct question q;
    open_question(&q);
    q.problem.base.context = 0;
    q.problem.base.prompt = 100000;
    const struct roof_plan plan = plan_in_fp8(&q);
    for (int64_t generate = 1; generate <= 3; generate++) {
        struct roof_scenario asked;
        struct roof_model_prediction got;
        struct roof_plan_predictor p = predictor_of(&q);
        double room = 0;
        q.problem.base.generate = generate;
        roof_plan_scenario(&asked, &plan, &q.problem);
        assert_int_equal(roof_predict_model(&got, q.model, &asked, q.hardware, NULL), ROOF_OK);
        assert_int_equal(roof_plan_room(&room, &p, &plan), ROOF_OK);
        assert_true(room > 0);
        assert_near(got.memory_capacity_bytes - got.memory_reserve_bytes -
                        got.weights_memory_bytes - got.kv_cache_bytes - got.activation_memory_bytes,
                    room, 1e-12);
    }
    close_question(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_search), cmocka_unit_test(test_starts),
                                       cmocka_unit_test(test_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
