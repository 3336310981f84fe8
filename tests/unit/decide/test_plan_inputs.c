// SPDX-License-Identifier: MIT
/* Requests for plans: defaults, choices and refusals; and the pairs and recommendations beside. */
#include "models.h"

#include <stdio.h>

#include "base/shell.h"
#include "decide/pair.h"
#include "decide/plan_inputs.h"
#include "decide/recommend_answer.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const ids[] = {"h100-sxm", "hgx-b200"};

static struct {
    struct roof_hardware *hardware[COUNT(ids)];
    struct roof_model *model;
    struct roof_engines *engines;
    struct roof_plan_inputs inputs;
    struct roof_error error;
} world;

static int set_up(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(ids); i++) {
        world.hardware[i] = load_calibrated(ids[i]);
    }
    world.model = load("llama-3.1-8b");
    return roof_engines_load(&world.engines, NULL) == ROOF_OK ? 0 : -1;
}

static int tear_down(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(ids); i++) {
        free_calibrated(world.hardware[i]);
    }
    roof_model_free(world.model);
    roof_engines_free(world.engines);
    return 0;
}

/* Every test starts from a small question about one device. */
static int begin(void **unused)
{
    (void)unused;
    static const int64_t one[] = {1};
    roof_plan_inputs_init(&world.inputs);
    world.inputs.model = world.model;
    world.inputs.hardware = (const struct roof_hardware *const *)world.hardware;
    world.inputs.hardware_count = 1;
    world.inputs.engines = world.engines;
    world.inputs.base.context = 2048;
    world.inputs.batch = one;
    world.inputs.batches = 1;
    world.inputs.devices = one;
    world.inputs.device_counts = 1;
    return 0;
}

static struct roof_plan_answer *answer(void)
{
    struct roof_plan_answer *out = NULL;
    if (roof_plan_answer_open(&out, &world.inputs, &world.error) != ROOF_OK) {
        fail_msg("%s", world.error.message);
    }
    return out;
}

static void refuse(enum roof_status status, const char *message)
{
    struct roof_plan_answer *out = NULL;
    assert_int_equal(roof_plan_answer_open(&out, &world.inputs, &world.error), status);
    assert_null(out);
    assert_string_equal(world.error.message, message);
}

static void assert_values(const int64_t *value, size_t count, const int64_t *expected, size_t many)
{
    assert_int_equal(count, many);
    for (size_t i = 0; i < many; i++) {
        assert_int_equal(value[i], expected[i]);
    }
}

static void test_lists(void **unused)
{
    (void)unused;
    static const int64_t given[] = {4, 1, 4};
    static const int64_t ascending[] = {1, 4};
    static const int64_t usual[] = {1, 2, 4, 8};
    static const int64_t usual_batches[] = {1, 2, 4, 8, 16, 32, 64, 96, 128, 256, 512, 1024, 2048};
    world.inputs.batch = given;
    world.inputs.batches = COUNT(given);
    world.inputs.devices = NULL;
    struct roof_plan_answer *a = answer();
    assert_values(a->problem.batch, a->problem.batches, ascending, COUNT(ascending));
    assert_values(a->problem.devices, a->problem.device_counts, usual, COUNT(usual));
    roof_plan_answer_free(a);
    (void)begin(NULL);
    world.inputs.batch = NULL;
    assert_int_equal(roof_plan_read_limit(&world.inputs.limit[ROOF_PLAN_LIMIT_CONCURRENCY],
                                          ROOF_PLAN_LIMIT_CONCURRENCY, "96", NULL),
                     ROOF_OK);
    a = answer();
    assert_values(a->problem.batch, a->problem.batches, usual_batches, COUNT(usual_batches));
    assert_true(a->plans.count > 0);
    for (size_t i = 0; i < a->plans.count; i++) {
        assert_true(a->plans.plan[i].batch >= 96);
    }
    roof_plan_answer_free(a);
}

/* Beside a plan that serves more requests than asked for stands the same plan with those. */
static void test_asked(void **unused)
{
    (void)unused;
    world.inputs.batch = NULL;
    world.inputs.engine = "vllm";
    world.inputs.formats = "fp8";
    world.inputs.base.common.formats.kv = ROOF_PRECISION_FP8_E4M3;
    world.inputs.limit[ROOF_PLAN_LIMIT_CONCURRENCY] = 10;
    struct roof_plan_answer *const a = answer();
    const struct roof_plan *const best = &a->plans.plan[0];
    assert_true(best->batch > 10);
    assert_int_equal(a->asked.batch, 10);
    assert_int_equal(a->asked.serving, best->serving);
    assert_int_equal(a->asked.stack, best->stack);
    assert_true(a->asked.step_s > 0 && a->asked.step_s < best->step_s);
    roof_plan_answer_free(a);
}

static void test_engines(void **unused)
{
    (void)unused;
    size_t vllm = 0;
    assert_int_equal(roof_engine_find(&vllm, world.engines, "vllm", NULL), ROOF_OK);
    struct roof_plan_answer *a = answer();
    assert_int_equal(a->problem.by, roof_engines_measured(world.engines));
    assert_true(a->problem.own_stacks);
    assert_int_equal(a->others.count, 0);
    roof_plan_answer_free(a);
    world.inputs.engine = "vllm";
    a = answer();
    assert_int_equal(a->problem.by, 1U << vllm);
    assert_int_equal(a->plans.plan[0].stack, ROOF_STACK_VLLM);
    roof_plan_answer_free(a);
    world.inputs.engine = "all";
    a = answer();
    assert_int_equal(a->problem.by, 0);
    roof_plan_answer_free(a);
    world.inputs.engine = NULL;
    world.inputs.emit = "vllm";
    world.inputs.explain = true;
    a = answer();
    assert_int_equal(a->engine, vllm);
    assert_int_equal(a->problem.by, 1U << vllm);
    assert_true(a->others.count >= a->plans.count);
    assert_false(a->explained);
    roof_plan_answer_free(a);
    world.inputs.engine = "trtllm";
    refuse(ROOF_USAGE, "emit vllm: this engine is not among those of engine");
    world.inputs.emit = NULL;
    world.inputs.stack_given = true;
    world.inputs.base.common.stack = ROOF_STACK_VLLM;
    refuse(ROOF_USAGE,
           "stack vllm with engine trtllm: the engine does not use these kernels; leave out stack");
}

/* The checkpoints of a model are the same model in other formats, and plans beside those of its
 * own: they lose what their formats do. */
static void test_checkpoints(void **unused)
{
    (void)unused;
    static const int64_t eight[] = {8};
    struct roof_model *const base = load("deepseek-r1");
    world.inputs.model = base;
    world.inputs.hardware = (const struct roof_hardware *const *)&world.hardware[1]; /* hgx-b200 */
    world.inputs.devices = eight;
    struct roof_plan_answer *const a = answer();
    const struct roof_plan_problem *const q = &a->problem;
    assert_int_equal(q->checkpoints, 1);
    const struct roof_model *const other = q->checkpoint[0];
    assert_string_equal(other->id, "deepseek-r1-0528-nvfp4-v2");
    assert_true(other->hidden == base->hidden && other->layers == base->layers &&
                other->vocab == base->vocab && other->heads == base->heads &&
                other->experts == base->experts && other->intermediate == base->intermediate &&
                other->expert_intermediate == base->expert_intermediate);
    size_t own = 0;
    size_t others = 0;
    for (size_t i = 0; i < a->plans.count; i++) {
        struct roof_plan_row row;
        const struct roof_plan *const p = &a->plans.plan[i];
        const struct roof_serving *const s = &world.engines->serving[p->serving];
        roof_plan_name(&row, p, 1, q);
        if (roof_plan_model(q, p->serving) == other) {
            assert_string_equal(s->id, "nvfp4-published");
            assert_string_equal(row.model, other->id);
            assert_int_equal(p->loss, ROOF_ACCURACY_1_TO_2);
            assert_ptr_not_equal(a->plans.model[p->serving], q->model);
            others++;
        } else {
            assert_string_equal(row.model, "deepseek-r1");
            own += roof_serving_published(s);
        }
    }
    assert_true(own > 0 && others > 0);
    roof_plan_answer_free(a);
    roof_model_free(base);
}

static void test_prices(void **unused)
{
    (void)unused;
    double price[] = {ROOF_UNKNOWN, ROOF_UNKNOWN};
    const struct roof_hardware *const *const hardware = world.inputs.hardware;
    world.inputs.hardware_count = 2;
    world.inputs.price = price;
    world.inputs.objective = ROOF_PLAN_COST;
    refuse(ROOF_USAGE, "a cost needs the price of h100-sxm: price_per_hour h100-sxm=PRICE");
    assert_int_equal(
        roof_plan_read_prices(price, hardware, COUNT(ids), "hgx-b200=4,h100-sxm=2.5", &world.error),
        ROOF_OK);
    assert_true(price[0] > 2.4 && price[0] < 2.6 && price[1] > 3.9 && price[1] < 4.1);
    struct roof_plan_answer *const a = answer();
    assert_true(a->plans.plan[0].cost > 0);
    roof_plan_answer_free(a);
    assert_int_equal(roof_plan_read_prices(price, hardware, COUNT(ids), "h100-sxm=3", &world.error),
                     ROOF_USAGE);
    assert_string_equal(world.error.message,
                        "price_per_hour h100-sxm=3: h100-sxm already has a price");
    assert_int_equal(world.error.key_count, 1);
    assert_int_equal(roof_plan_read_prices(price, hardware, COUNT(ids), "l4=3", &world.error),
                     ROOF_USAGE);
    assert_string_equal(world.error.message, "price_per_hour l4=3: the device is not among "
                                             "hardware");
}

/* Bounds rank all plans if that is asked for; the devices keep their calibrations. */
static void test_by_ideal(void **unused)
{
    (void)unused;
    world.inputs.hardware_count = 2;
    struct roof_plan_answer *expected = answer();
    world.inputs.ranking = ROOF_RANKING_IDEAL;
    struct roof_plan_answer *ideal = answer();
    assert_true(ideal->plans.count > 0);
    for (size_t i = 0; i < ideal->plans.count; i++) {
        const struct roof_plan *const p = &ideal->plans.plan[i];
        assert_int_equal(p->basis, ROOF_PLAN_BOUND);
        assert_true(p->tpot_s == p->bound_tpot_s && isnan(p->near));
    }
    for (size_t i = 0; i < expected->plans.count; i++) {
        assert_int_equal(expected->plans.plan[i].basis, ROOF_PLAN_EXPECTED);
    }
    assert_ptr_equal(expected->problem.hardware[0], world.hardware[0]);
    assert_non_null(world.hardware[0]->calibration);
    roof_plan_answer_free(expected);
    roof_plan_answer_free(ideal);
}

/* A device without calibration has the engines that run on it; others those that were measured. */
static void test_default_engines(void **unused)
{
    (void)unused;
    struct roof_hardware *const bare = load_device("m4-max");
    const struct roof_hardware *const devices[] = {world.hardware[0], bare};
    size_t llama = 0;
    assert_int_equal(roof_engine_find(&llama, world.engines, "llama.cpp", NULL), ROOF_OK);
    world.inputs.hardware = devices;
    world.inputs.hardware_count = COUNT(devices);
    struct roof_plan_answer *const a = answer();
    size_t on[COUNT(devices)] = {0};
    for (size_t i = 0; i < a->plans.count; i++) {
        const struct roof_plan *const p = &a->plans.plan[i];
        on[p->hardware]++;
        assert_int_equal(p->engines >> llama & 1U, p->hardware);
    }
    assert_true(on[0] > 0 && on[1] > 0);
    roof_plan_answer_free(a);
    roof_hardware_free(bare);
}

static void test_refusals(void **unused)
{
    (void)unused;
    static const int64_t many[] = {ROOF_PLAN_DEVICES_MAX + 1};
    const struct roof_hardware *const twice[] = {world.hardware[0], world.hardware[0]};
    enum roof_plan_objective objective = ROOF_PLAN_THROUGHPUT;
    world.inputs.base.prompt = 1;
    refuse(ROOF_USAGE, "prompt and generate need each other: give both");
    world.inputs.base.generate = 1;
    refuse(ROOF_USAGE, "context, or prompt and generate, not both");
    (void)begin(NULL);
    world.inputs.devices = many;
    refuse(ROOF_USAGE, "devices must be at most 4096 here");
    (void)begin(NULL);
    world.inputs.hardware = twice;
    world.inputs.hardware_count = 2;
    refuse(ROOF_USAGE, "'h100-sxm' twice");
    world.inputs.hardware_count = 0;
    refuse(ROOF_USAGE, "hardware may list 1 to 64 names");
    assert_int_equal(roof_plan_read_objective(&objective, 1, NULL), ROOF_USAGE);
    assert_int_equal(roof_plan_read_objective(&objective, 4, NULL), ROOF_OK);
    assert_int_equal(objective, ROOF_PLAN_COST);
}

static void test_explanations(void **unused)
{
    (void)unused;
    struct roof_plan_answer *a = answer();
    assert_false(a->explained);
    roof_plan_answer_free(a);
    world.inputs.explain = true;
    a = answer();
    assert_true(a->explained);
    assert_int_equal(a->speedup.to.serving, a->plans.plan[0].serving);
    roof_plan_answer_free(a);
    world.inputs.side[0] = "bf16";
    world.inputs.side[1] = "fp8";
    a = answer();
    assert_true(a->explained);
    assert_string_equal(world.engines->serving[a->speedup.from.serving].id, "bf16");
    assert_string_equal(world.engines->serving[a->speedup.to.serving].id, "fp8");
    for (size_t i = 0; i < a->plans.count; i++) { /* the sides are the only formats */
        const char *const id = world.engines->serving[a->plans.plan[i].serving].id;
        assert_true(strcmp(id, "bf16") == 0 || strcmp(id, "fp8") == 0);
    }
    roof_plan_answer_free(a);
    world.inputs.side[0] = ids[0];
    refuse(ROOF_USAGE, "explain h100-sxm,fp8: give two devices, or two formats that engines run");
    world.inputs.side[1] = ids[1];
    world.inputs.hardware_count = 2;
    a = answer();
    assert_int_equal(a->speedup.from.hardware, 0);
    assert_int_equal(a->speedup.to.hardware, 1);
    roof_plan_answer_free(a);
    world.inputs.formats = "fp8"; /* both devices in this format */
    a = answer();
    assert_string_equal(world.engines->serving[a->speedup.from.serving].id, "fp8");
    assert_string_equal(world.engines->serving[a->speedup.to.serving].id, "fp8");
    roof_plan_answer_free(a);
    world.inputs.side[0] = "bf16";
    world.inputs.side[1] = "fp8";
    refuse(ROOF_USAGE, "explain bf16,fp8 cannot be combined with formats");
    world.inputs.side[0] = ids[0];
    world.inputs.side[1] = ids[1];
    world.inputs.emit = "vllm";
    refuse(ROOF_USAGE, "explain h100-sxm,hgx-b200 cannot be combined with emit");
}

static void test_no_plan(void **unused)
{
    (void)unused;
    world.inputs.limit[ROOF_PLAN_LIMIT_TTFT] = 1e-9;
    world.inputs.explain = true;
    struct roof_plan_answer *const a = answer();
    assert_int_equal(a->plans.count, 0);
    assert_true(a->plans.rejected[ROOF_REJECTED_LIMIT] > 0);
    assert_false(a->explained);
    roof_plan_answer_free(a);
}

/* A rate that no plan has: the change is the best plan's, less than the error of its four digits.
 */
static void test_lower_rate(void **unused)
{
    (void)unused;
    world.inputs.limit[ROOF_PLAN_LIMIT_TOKENS_PER_S] = 1e12;
    struct roof_plan_answer *const a = answer();
    assert_int_equal(a->plans.count, 0);
    assert_true(a->shortage.changes > 0);
    const struct roof_plan_change *const change = &a->shortage.change[0];
    const double best = change->plan.value[ROOF_PLAN_LIMIT_TOKENS_PER_S];
    double rate = 0;
    assert_int_equal(sscanf(change->option, "min-tokens-per-s %lf", &rate), 1);
    assert_true(rate < best && rate > 0.999 * best);
    roof_plan_answer_free(a);
}

static void test_pairs(void **unused)
{
    (void)unused;
    struct roof_pair_names names;
    struct roof_pair *pair = NULL;
    const struct roof_scenario shared = asked(ROOF_PHASE_DECODE, 1, 2048);
    assert_int_equal(roof_pair_read(&names, "h100-sxm:fp8,hgx-b200:nvfp4", NULL), ROOF_OK);
    assert_true(names.devices && names.formats);
    assert_string_equal(names.device[1], "hgx-b200");
    const struct roof_pair_request inputs = {.model = world.model,
                                             .shared = &shared,
                                             .hardware = {world.hardware[0], world.hardware[1]},
                                             .devices = true,
                                             .format = {names.format[0], names.format[1]}};
    assert_int_equal(roof_pair_open(&pair, &inputs, NULL), ROOF_OK);
    assert_string_equal(pair->speedup.total.from, "h100-sxm:fp8_e4m3");
    assert_string_equal(pair->speedup.total.to, "hgx-b200:nvfp4");
    assert_true(pair->speedup.total.bound.speedup > 1);
    roof_pair_free(pair);
    assert_int_equal(roof_pair_read(&names, "fp16,fp8", NULL), ROOF_OK);
    assert_true(names.formats && !names.devices);
    assert_int_equal(roof_pair_read(&names, "h100-sxm,hgx-b200", NULL), ROOF_OK);
    assert_true(names.devices && !names.formats);
    assert_int_equal(roof_pair_read(&names, "h100-sxm,fp8", NULL), ROOF_USAGE);
    assert_int_equal(roof_pair_read(&names, "h100-sxm", NULL), ROOF_USAGE);
    assert_int_equal(roof_pair_read(&names, "a,b,c", NULL), ROOF_USAGE);
}

static void test_recommendations(void **unused)
{
    (void)unused;
    struct roof_recommend_answer *a = NULL;
    struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    struct roof_scenario s;
    roof_scenario_init(&s);
    s.common.op = ROOF_OPERATOR_GEMM;
    s.common.shape.m = s.common.shape.n = s.common.shape.k = 4096;
    assert_int_equal(
        roof_recommend_answer_open(&a, &s.common, world.hardware[0], &options, true, &world.error),
        ROOF_OK);
    assert_true(a->crosses && a->gains && a->recommendation.count > 0);
    assert_int_equal(a->crossovers.along, ROOF_DIM_M);
    assert_true(a->speedup.total.bound.speedup > 1);
    roof_recommend_answer_free(a);
    const enum roof_precision nothing[] = {ROOF_PRECISION_NVFP4};
    options.formats = nothing;
    options.format_count = 1;
    options.native_only = true;
    assert_int_equal(
        roof_recommend_answer_open(&a, &s.common, world.hardware[0], &options, false, &world.error),
        ROOF_OK);
    assert_int_equal(a->recommendation.count, 0);
    assert_false(a->crosses || a->gains);
    roof_recommend_answer_free(a);
}

static void test_shell_words(void **unused)
{
    (void)unused;
    static const char *const words[][2] = {{"a-Z_0./:@%+=,", "a-Z_0./:@%+=,"},
                                           {"", "''"},
                                           {"two words", "'two words'"},
                                           {"it's", "'it'\\''s'"},
                                           {"~", "'~'"},
                                           {"=ls", "'=ls'"},
                                           {"$x", "'$x'"}};
    struct roof_text text = ROOF_TEXT_INIT;
    for (size_t i = 0; i < COUNT(words); i++) {
        roof_text_clear(&text);
        roof_text_shell_word(&text, words[i][0]);
        assert_string_equal(text.data, words[i][1]);
    }
    roof_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_lists, begin),
        cmocka_unit_test_setup(test_engines, begin),
        cmocka_unit_test_setup(test_asked, begin),
        cmocka_unit_test_setup(test_checkpoints, begin),
        cmocka_unit_test_setup(test_prices, begin),
        cmocka_unit_test_setup(test_refusals, begin),
        cmocka_unit_test_setup(test_explanations, begin),
        cmocka_unit_test_setup(test_no_plan, begin),
        cmocka_unit_test_setup(test_lower_rate, begin),
        cmocka_unit_test_setup(test_by_ideal, begin),
        cmocka_unit_test_setup(test_default_engines, begin),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_recommendations),
        cmocka_unit_test(test_shell_words),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
