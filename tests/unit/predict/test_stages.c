// SPDX-License-Identifier: MIT
/* Passes that do less: of stages that are equal, and of memory alone. */
#include "models.h"

#include "model/stage.h"
#include "predict/pass.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const models[] = {"llama-3.3-70b",  "gemma-3-27b",        "deepseek-v3",
                                     "gemma-4-e2b",    "minimax-m3",         "deepseek-v3.2",
                                     "gpt-oss-120b",   "qwen3-next-80b-a3b", "minimax-m1",
                                     "jamba-1.5-mini", "opt-125m",           "deepseek-v4-flash"};

/* A scenario over tp x groups devices in each of pp stages; false where the model has none. */
static bool split(struct roof_scenario *out, const struct roof_model *m,
                  const struct roof_scenario *from, int64_t tp, int64_t groups, int64_t pp)
{
    *out = *from;
    out->tp = tp;
    out->common.shape.ep = groups;
    out->pp = pp;
    return roof_scenario_resolve(out, m, NULL) == ROOF_OK;
}

/* 80 layers. */
static void test_repeats_by_hand(void **state)
{
    static const struct {
        int64_t tp, pp, node_size;
        const char *repeats; /* one character for each stage: y or n */
    } cases[] = {
        {1, 1, 8, "n"},
        {1, 2, 8, "nn"},
        {1, 3, 8, "nnn"},
        /* Ten layers in each; the first and the last stage have more. */
        {1, 8, 8, "nnyyyyyn"},
        {8, 8, 8, "nnyyyyyn"},
        /* 14 layers in the first two, 13 in the others. */
        {1, 6, 8, "nnnyyn"},
        /* Stage 3 sends from devices 6 and 7 to the next node. */
        {2, 8, 8, "nnynnyyn"},
        {2, 8, 0, "nnyyyyyn"},
    };
    struct roof_model *const m = load("llama-3.3-70b");
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        const struct roof_scenario from = asked(ROOF_PHASE_DECODE, 64, 100);
        struct roof_scenario s;
        assert_true(split(&s, m, &from, cases[c].tp, 1, cases[c].pp));
        for (int64_t i = 0; i < cases[c].pp; i++) {
            if (roof_stage_repeats(m, &s, i, (struct roof_places){.node = cases[c].node_size}) !=
                (cases[c].repeats[i] == 'y')) {
                fail_msg("case %zu, stage %d", c, (int)i);
            }
        }
    }
    roof_model_free(m);
}

static void are_equal(const struct roof_graph *a, const struct roof_graph *b)
{
    assert_int_equal(a->count, b->count);
    assert_true(a->kv_bytes == b->kv_bytes && a->residual_bytes == b->residual_bytes);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->node[i].name, b->node[i].name);
        assert_int_equal(a->node[i].count, b->node[i].count);
        assert_true(roof_same_workload(&a->node[i].workload, &b->node[i].workload));
        assert_true(roof_node_bytes(&a->node[i]) == roof_node_bytes(&b->node[i]));
    }
}

/* A stage that repeats has the graph of the one before. */
static void test_repeated_graphs(void **state)
{
    static const struct roof_places node = {.node = 8};
    static struct roof_graph graph[2];
    int repeated = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(models) * 3 * 2 * 12; i++) {
        struct roof_model *const m = load(models[i % COUNT(models)]);
        const int64_t n = (int64_t)(i / COUNT(models)); /* the split */
        const struct roof_scenario from = asked(ROOF_PHASE_DECODE, 64, 100);
        struct roof_scenario s;
        const bool valid = split(&s, m, &from, (int64_t)1 << n % 3, 1 + n / 3 % 2, 1 + n / 6);
        for (int64_t stage = 1; valid && stage < s.pp; stage++) {
            if (roof_stage_repeats(m, &s, stage, node)) {
                repeated++;
                assert_int_equal(roof_graph_build(&graph[0], m, &s, stage - 1, node, NULL),
                                 ROOF_OK);
                assert_int_equal(roof_graph_build(&graph[1], m, &s, stage, node, NULL), ROOF_OK);
                are_equal(&graph[0], &graph[1]);
            }
        }
        roof_model_free(m);
    }
    assert_true(repeated > 100);
}

/* Memory is the same without the times. */
static void test_memory_alone(void **state)
{
    static const enum roof_phase phases[] = {ROOF_PHASE_DECODE, ROOF_PHASE_PREFILL,
                                             ROOF_PHASE_MIXED};
    struct roof_hardware *const h = load_device("h100-sxm");
    int compared = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(models) * COUNT(phases) * 24; i++) {
        struct roof_model *const m = load(models[i % COUNT(models)]);
        const int64_t n = (int64_t)(i / COUNT(models)); /* the split and the phase */
        struct roof_scenario from = asked(phases[n % 3], 1 + (int64_t)i, 300);
        struct roof_scenario s;
        struct roof_pass whole;
        struct roof_pass memory;
        from.unfused_attention = n / 6 % 2;
        if (split(&s, m, &from, 1 + n / 3 % 2, 1, 1 + n / 6)) {
            assert_int_equal(roof_pass_run(&whole, m, &s, h, NULL, NULL), ROOF_OK);
            assert_int_equal(roof_pass_memory(&memory, m, &s, h, NULL), ROOF_OK);
            assert_true(whole.weights_bytes == memory.weights_bytes);
            assert_true(whole.kv_bytes == memory.kv_bytes);
            assert_true(whole.activation_bytes == memory.activation_bytes);
            compared++;
        }
        roof_model_free(m);
    }
    assert_true(compared > 100);
    roof_hardware_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeats_by_hand),
        cmocka_unit_test(test_repeated_graphs),
        cmocka_unit_test(test_memory_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
