// SPDX-License-Identifier: MIT
#include "configs.h"
#include "models.h"

/* The model and the device of tests/cli/model.case: mental arithmetic. */
#define CHIP                                                                                       \
    "{\"id\": \"chip\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 1, \"fp8\": 2},"      \
    " \"vector_tflops\": {\"fp32\": 0.1}, \"memory_capacity_bytes\": 1000000"                      \
    ", \"devices_per_node\": 2"
#define LINKED ", \"link_gb_s\": 10"

static struct roof_hardware *chip(bool linked)
{
    return parse_device(linked ? CHIP LINKED "}" : CHIP "}");
}

static struct roof_survey *study(const struct roof_model *m, const struct roof_scenario *s,
                                 bool both, const struct roof_hardware *hardware)
{
    struct roof_survey *out = NULL;
    struct roof_error error = {0};
    if (roof_survey_run(&out, m, s, both, hardware, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return out;
}

static const struct roof_survey_change *change_of(const struct roof_survey_phase *phase,
                                                  enum roof_survey_change_kind kind)
{
    for (size_t i = 0; i < phase->changes; i++) {
        if (phase->change[i].kind == kind) {
            return &phase->change[i];
        }
    }
    return NULL;
}

/* A step over 50 keys moves 416000 bytes of weights, 4 x 50 x 128 of K and V and 4 x 128 new ones,
 * and 21200 of inputs and outputs, all in memory-bound operators; attention reads 6400 bytes per
 * layer beside its 256 of Q and of the output. */
static void test_shares(void **state)
{
    (void)state;
    struct roof_hardware *const h = chip(true);
    struct roof_model *const m = parse(DENSE);
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 50);
    struct roof_survey *const t = study(m, &s, false, h);
    const struct roof_survey_point *const p = &t->decode.point[0];
    const double bytes = 416000 + 26112 + 21200;
    assert_null(t->prefill.base);
    assert_null(t->request);
    assert_int_equal(p->size, 1);
    assert_ptr_equal(p->model_prediction, t->decode.base);
    assert_near(p->share.cause[ROOF_SURVEY_WEIGHTS], 416000 / bytes, 1e-9);
    assert_near(p->share.cause[ROOF_SURVEY_KV], 26112 / bytes, 1e-9);
    assert_near(p->share.cause[ROOF_SURVEY_ACTIVATIONS], 21200 / bytes, 1e-9);
    assert_true(p->share.cause[ROOF_SURVEY_COMPUTE] == 0);
    assert_near(p->share.attention, 4 * 6912 / bytes, 1e-9);
    assert_near(p->share.bottleneck[ROOF_BOTTLENECK_MEMORY], 1, 1e-9);
    roof_survey_free(t);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* On two devices, where the network has a share, the sums are 1, too. */
static void test_shares_sum(void **state)
{
    (void)state;
    struct roof_hardware *const h = chip(true);
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 16, 300);
    s.tp = 2;
    struct roof_survey *const t = study(m, &s, true, h);
    const struct roof_survey_phase *const phases[] = {&t->decode, &t->prefill};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < phases[k]->points; i++) {
            const struct roof_survey_shares *const share = &phases[k]->point[i].share;
            double causes = 0;
            double bottlenecks = 0;
            for (int c = 0; c < ROOF_SURVEY_CAUSE_COUNT; c++) {
                causes += share->cause[c];
            }
            for (int b = 0; b < ROOF_BOTTLENECK_COUNT; b++) {
                bottlenecks += share->bottleneck[b];
            }
            assert_near(causes, 1, 1e-9);
            assert_near(bottlenecks, 1, 1e-9);
            assert_near(share->cause[ROOF_SURVEY_NETWORK],
                        share->bottleneck[ROOF_BOTTLENECK_NETWORK], 1e-9);
            assert_true(share->cause[ROOF_SURVEY_NETWORK] > 0);
        }
    }
    roof_survey_free(t);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* Twelve sequences of 50 fit (model.case): doubled up to there, and those that are always named. */
static void test_points(void **state)
{
    (void)state;
    static const struct {
        int64_t size;
        bool scaling;
        bool detail;
    } expected[] = {{1, true, true}, {2, true, false},  {3, true, true},   {4, true, false},
                    {8, true, true}, {12, true, false}, {32, false, true}, {128, false, true}};
    struct roof_hardware *const h = chip(true);
    struct roof_model *const m = parse(DENSE);
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    struct roof_survey *const t = study(m, &s, true, h);
    assert_int_equal(t->decode.points, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < t->decode.points; i++) {
        const struct roof_survey_point *const p = &t->decode.point[i];
        assert_int_equal(p->size, expected[i].size);
        assert_int_equal(p->scaling, expected[i].scaling);
        assert_int_equal(p->detail, expected[i].detail);
        assert_int_equal(p->model_prediction->scenario.common.shape.batch, p->size);
        assert_int_equal(p->model_prediction->scenario.context, 50);
        assert_int_equal(p->model_prediction->fits, p->size <= 12 ? ROOF_FIT_YES : ROOF_FIT_NO);
    }
    /* Beside decode, the prefill of one prompt. */
    assert_int_equal(t->prefill.base->scenario.common.shape.batch, 1);
    assert_int_equal(t->prefill.points, 2);
    assert_int_equal(t->prefill.point[0].size, 50);
    assert_int_equal(t->prefill.point[1].size, 1024);
    assert_int_equal(t->prefill.point[1].model_prediction->scenario.chunk, 1024);
    roof_survey_free(t);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* With an FP8 cache 13056 bytes fewer of 463312 move. */
static void test_changes(void **state)
{
    (void)state;
    struct roof_hardware *const h = chip(true);
    struct roof_model *const m = parse(DENSE);
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 50);
    struct roof_survey *const t = study(m, &s, false, h);
    const struct roof_survey_phase *const d = &t->decode;
    const struct roof_survey_change *const kv = change_of(d, ROOF_SURVEY_KV_FORMAT);
    assert_non_null(kv);
    assert_near(kv->time_s, 4.50256e-6, 1e-9);
    assert_near(kv->gain, 463312.0 / 450256, 1e-9);
    assert_true(isnan(kv->expected_gain));
    const struct roof_survey_change *const batch = change_of(d, ROOF_SURVEY_BATCH_MEMORY);
    assert_non_null(batch);
    assert_int_equal(batch->size, 12);
    const double step = infer(m, asked(ROOF_PHASE_DECODE, 12, 50), h)->step_s;
    assert_true(batch->time_s == step);
    assert_near(batch->gain, 12 * 4.63312e-6 / step, 1e-9);
    /* The head is the largest product, compute-bound from 12 rows on. */
    const struct roof_survey_change *const compute = change_of(d, ROOF_SURVEY_BATCH_COMPUTE);
    assert_non_null(compute);
    assert_int_equal(compute->size, 12);
    assert_string_equal(d->base->node[compute->node].node.name, "lm_head");
    const struct roof_survey_change *const tp = change_of(d, ROOF_SURVEY_TP);
    assert_non_null(tp);
    assert_int_equal(tp->size, 2);
    struct roof_scenario two = s;
    two.tp = 2;
    assert_true(tp->time_s == infer(m, two, h)->step_s);
    /* The device multiplies FP8, neither INT8 nor FP4; INT4 is stored only. */
    size_t formats = 0;
    for (size_t i = 0; i < d->changes; i++) {
        if (d->change[i].kind == ROOF_SURVEY_FORMATS) {
            const enum roof_precision w =
                d->change[i].model_prediction->scenario.common.formats.weights;
            assert_true(w == ROOF_PRECISION_FP8_E4M3 || w == ROOF_PRECISION_INT4_G128);
            formats++;
        }
    }
    assert_int_equal(formats, 2);
    /* No kernels were measured. */
    assert_null(change_of(d, ROOF_SURVEY_LAUNCH));
    assert_null(change_of(d, ROOF_SURVEY_KERNEL));
    roof_survey_free(t);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* Collectives over a slow link take longest, but the batch is that of the largest product. */
static void test_largest_product(void **state)
{
    (void)state;
    struct roof_hardware *const h = chip(true);
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 50);
    s.tp = 2;
    assert_int_equal(roof_hardware_set(h, "link_gb_s=0.01", NULL), ROOF_OK);
    assert_int_equal(roof_hardware_set(h, "memory_capacity_bytes=1000000000", NULL), ROOF_OK);
    struct roof_survey *const t = study(m, &s, false, h);
    const struct roof_survey_change *const compute =
        change_of(&t->decode, ROOF_SURVEY_BATCH_COMPUTE);
    assert_non_null(compute);
    assert_string_equal(t->decode.base->node[compute->node].node.name, "lm_head");
    roof_survey_free(t);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* The largest gain comes first; changes that are not possible come last. */
static void test_order(void **state)
{
    (void)state;
    struct roof_hardware *const h = chip(false);
    struct roof_model *const m = parse(DENSE);
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 50);
    struct roof_survey *const t = study(m, &s, true, h);
    const struct roof_survey_phase *const phases[] = {&t->decode, &t->prefill};
    for (size_t k = 0; k < 2; k++) {
        const struct roof_survey_phase *const p = phases[k];
        const struct roof_survey_change *const last = &p->change[p->changes - 1];
        for (size_t i = 1; i + 1 < p->changes; i++) {
            assert_true(p->change[i - 1].gain >= p->change[i].gain);
        }
        assert_int_equal(last->kind, ROOF_SURVEY_TP);
        assert_int_equal(last->refused.status, ROOF_USAGE);
        assert_null(last->model_prediction);
        assert_non_null(strstr(last->refused.message, "link_gb_s"));
    }
    roof_survey_free(t);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* With measured kernels, one change sets the operator furthest above its bound to the bound. */
static void test_kernels(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_calibrated("a100-sxm-80gb");
    struct roof_model *const m = load("llama-3-8b");
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 4096);
    struct roof_survey *const t = study(m, &s, false, h);
    const struct roof_model_prediction *const base = t->decode.base;
    const struct roof_survey_change *const kernel = change_of(&t->decode, ROOF_SURVEY_KERNEL);
    assert_non_null(kernel);
    const struct roof_node_prediction *const n = &base->node[kernel->node];
    const double lost = (double)n->node.count * (n->prediction.expected_s - n->prediction.time_s);
    for (size_t i = 0; i < base->count; i++) {
        const struct roof_prediction *const p = &base->node[i].prediction;
        assert_true((double)base->node[i].node.count * (p->expected_s - p->time_s) <= lost);
    }
    assert_near(kernel->expected_s, base->expected_tpot_s - lost, 1e-9);
    assert_near(kernel->expected_gain, base->expected_tpot_s / kernel->expected_s, 1e-9);
    const struct roof_survey_change *const launch = change_of(&t->decode, ROOF_SURVEY_LAUNCH);
    assert_non_null(launch);
    assert_near(launch->gain, 1, 1e-12);
    assert_true(launch->expected_gain > 1);
    roof_survey_free(t);
    roof_model_free(m);
    free_calibrated(h);
}

/* 359.8 GiB of weights: four devices of 185 GiB hold them, two do not. */
static void test_until_it_fits(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_device("gb200");
    struct roof_model *const m = load("deepseek-r1");
    struct roof_error error = {0};
    assert_int_equal(roof_layout_apply(m, "deepseek-r1-nvfp4-v2", NULL, &error), ROOF_OK);
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 4096);
    struct roof_survey *const t = study(m, &s, false, h);
    bool seen[2] = {false, false};
    for (size_t i = 0; i < t->decode.changes; i++) {
        const struct roof_survey_change *const c = &t->decode.change[i];
        if (c->kind == ROOF_SURVEY_TP) {
            assert_true(c->size == 2 || c->size == 4);
            assert_int_equal(c->model_prediction->fits, c->size == 4 ? ROOF_FIT_YES : ROOF_FIT_NO);
            seen[c->size == 4] = true;
        }
    }
    assert_true(seen[0] && seen[1]);
    /* Latent attention is fused in any case. */
    assert_null(change_of(&t->decode, ROOF_SURVEY_ATTENTION));
    /* The layout stays as it was: the formats of changes are those of a copy. */
    assert_string_equal(m->layout, "deepseek-r1-nvfp4-v2");
    assert_string_equal(t->decode.base->model->layout, "deepseek-r1-nvfp4-v2");
    roof_survey_free(t);
    roof_model_free(m);
    roof_hardware_free(h);
}

static void test_request(void **state)
{
    (void)state;
    struct roof_hardware *const h = chip(true);
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 0);
    s.prompt = 40;
    s.generate = 10;
    struct roof_survey *const t = study(m, &s, true, h);
    assert_non_null(t->request);
    assert_int_equal(t->request->scenario.phase, ROOF_PHASE_REQUEST);
    assert_int_equal(t->prefill.base->scenario.context, 40);
    assert_int_equal(t->prefill.base->scenario.common.shape.batch, 1);
    assert_true(t->prefill.base->ttft_s < t->request->ttft_s); /* which others decode beside */
    assert_int_equal(t->decode.base->scenario.context, 50);
    assert_int_equal(t->decode.base->scenario.common.shape.batch, 2);
    roof_survey_free(t);
    s.static_batch = 1;
    struct roof_survey *const u = study(m, &s, true, h);
    assert_int_equal(u->prefill.base->scenario.common.shape.batch, 2);
    assert_true(u->prefill.base->ttft_s == u->request->ttft_s);
    assert_int_equal(u->decode.base->scenario.context, 50);
    roof_survey_free(u);
    roof_model_free(m);
    roof_hardware_free(h);
}

static void test_refused(void **state)
{
    (void)state;
    struct roof_hardware *const h = chip(true);
    struct roof_model *const m = parse(DENSE);
    struct roof_survey *t = NULL;
    struct roof_error error = {0};
    struct roof_scenario s = asked(ROOF_PHASE_MIXED, 2, 50);
    assert_int_equal(roof_survey_run(&t, m, &s, false, h, &error), ROOF_USAGE);
    assert_null(t);
    assert_non_null(strstr(error.message, "for phase mixed choose"));
    s = asked(ROOF_PHASE_DECODE, 2, 50);
    s.tp = 3;
    assert_int_equal(roof_survey_run(&t, m, &s, false, h, &error), ROOF_USAGE);
    assert_null(t);
    roof_survey_free(NULL);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* One per kind of operator, as its largest instance; the example is a linear layer. */
static void test_formulas(void **state)
{
    (void)state;
    struct roof_hardware *const h = chip(true);
    struct roof_model *const m = parse(DENSE);
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 50);
    struct roof_survey *const t = study(m, &s, true, h);
    bool seen[ROOF_OPERATOR_COUNT] = {false};
    for (size_t i = 0; i < t->formulas; i++) {
        const enum roof_operator op = t->formula[i].node->prediction.workload.op;
        assert_false(seen[op]);
        seen[op] = true;
        assert_true(t->formula[i].explanation.count > 0);
    }
    for (size_t i = 0; i < t->decode.base->count; i++) {
        assert_true(seen[t->decode.base->node[i].prediction.workload.op]);
    }
    assert_string_equal(t->formula[t->example].node->node.name, "lm_head");
    roof_survey_free(t);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* The levers alone are the changes of a survey. All of this step is memory-bound, but for layers
 * whose vector work is longer than their bytes. */
static void test_levers(void **state)
{
    (void)state;
    struct roof_hardware *const h = chip(true);
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 50);
    struct roof_survey *levers = NULL;
    s.host_gap_s = 1e-6;
    struct roof_survey *const t = study(m, &s, false, h);
    assert_int_equal(roof_survey_levers(&levers, m, &s, h, NULL), ROOF_OK);
    assert_int_equal(levers->decode.points, 0);
    assert_int_equal(levers->formulas, 0);
    assert_int_equal(levers->decode.changes, t->decode.changes);
    for (size_t i = 0; i < t->decode.changes; i++) {
        assert_int_equal(levers->decode.change[i].kind, t->decode.change[i].kind);
        assert_true(levers->decode.change[i].time_s == t->decode.change[i].time_s ||
                    isnan(t->decode.change[i].time_s));
    }
    const struct roof_survey_change *const host = change_of(&t->decode, ROOF_SURVEY_HOST);
    const struct roof_survey_change *const faster = change_of(&t->decode, ROOF_SURVEY_BANDWIDTH);
    const struct roof_survey_change *const peaks = change_of(&t->decode, ROOF_SURVEY_PEAKS);
    assert_near(host->time_s, 4.63312e-6, 1e-9);
    /* The waits stay, and the bytes take half as long: whatever else there is makes it no shorter.
     */
    assert_true(faster->time_s < t->decode.base->tpot_s - 0.4 * 4.63312e-6);
    assert_true(faster->time_s >= t->decode.base->tpot_s - 0.5 * 4.63312e-6 - 1e-12);
    assert_true(peaks->time_s <= t->decode.base->tpot_s && peaks->gain < 1.01);
    assert_null(change_of(&t->decode, ROOF_SURVEY_LINKS)); /* one device has none */
    assert_non_null(change_of(&t->decode, ROOF_SURVEY_FUSE));
    roof_survey_free(levers);
    roof_survey_free(t);
    roof_model_free(m);
    roof_hardware_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),          cmocka_unit_test(test_shares_sum),
        cmocka_unit_test(test_points),          cmocka_unit_test(test_changes),
        cmocka_unit_test(test_largest_product), cmocka_unit_test(test_order),
        cmocka_unit_test(test_kernels),         cmocka_unit_test(test_request),
        cmocka_unit_test(test_until_it_fits),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_formulas),        cmocka_unit_test(test_levers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
