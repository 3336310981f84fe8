// SPDX-License-Identifier: MIT
/* Steps of models on a planted device, whose operators take planted times. */
#include "models.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>

#include "measure/step.h"
#include "measure/step_rows.h"

#define PRODUCT_S 3e-3
#define OTHER_S 1e-5
#define LONG_S 1000    /* long enough for all samples */
#define BETWEEN_S 1e-6 /* that the whole step takes beside its operators, for each run */

/* A device that runs what its table says, and keeps what it was asked for. */
struct roof_bench {
    double room;
    bool attends;
    int fails_at;  /* the sample that fails; 0: none */
    double waited; /* share of each sample */
    bool quick;    /* other operators than products take less than the clock shows */
    int samples;
    int begun;
    struct roof_meter_part part[ROOF_GRAPH_MAX];
    size_t count;
    size_t order[4096];
    size_t runs;
};

static void describe(struct roof_meter_device *out, const struct roof_bench *bench)
{
    (void)bench;
    *out = (struct roof_meter_device){.name = "planted", .units = 1};
}

static bool able(const struct roof_bench *bench, const struct roof_meter_task *task)
{
    const struct roof_workload *const w = &task->workload;
    return w->op == ROOF_OPERATOR_FLASH_ATTENTION
               ? bench->attends && w->shape.kv_len % 32 == 0 && w->shape.window == 0
               : w->op != ROOF_OPERATOR_EMBEDDING;
}

static double room(const struct roof_bench *bench)
{
    return bench->room;
}

static enum roof_status step_begin(struct roof_bench *bench, const struct roof_meter_step *step,
                                   struct roof_error *error)
{
    (void)error;
    bench->begun++;
    bench->count = step->count;
    bench->runs = step->runs;
    memcpy(bench->part, step->part, step->count * sizeof *step->part);
    assert_true(step->runs <= COUNT(bench->order));
    memcpy(bench->order, step->order, step->runs * sizeof *step->order);
    return ROOF_OK;
}

static double planted_s(const struct roof_meter_task *task)
{
    return roof_is_product(task->workload.op) ? PRODUCT_S : OTHER_S;
}

/* The times vary by a part of them that medians leave out. */
static enum roof_status step_sample(double *seconds, double *each, struct roof_bench *bench,
                                    struct roof_error *error)
{
    const double factor = bench->samples++ % 3 == 1 ? 2 : 1;
    *seconds = 0;
    for (size_t i = 0; i < bench->count; i++) {
        each[i] = factor * planted_s(&bench->part[i].task);
        if (bench->quick && each[i] < PRODUCT_S) {
            each[i] = 0;
        }
        *seconds += (double)bench->part[i].runs * (each[i] + BETWEEN_S);
    }
    return bench->samples == bench->fails_at ? roof_error_set(error, ROOF_IO, "the device was lost")
                                             : ROOF_OK;
}

static double waited(const struct roof_bench *bench)
{
    return bench->waited;
}

static void step_end(struct roof_bench *bench)
{
    bench->begun--;
}

static const struct roof_meter planted = {.name = "planted",
                                          .describe = describe,
                                          .able = able,
                                          .waited = waited,
                                          .room = room,
                                          .step_begin = step_begin,
                                          .step_sample = step_sample,
                                          .step_end = step_end};

/* The objects of a test are large. */
struct fixture {
    struct roof_model *model;
    struct roof_hardware *hardware;
    struct roof_model_prediction prediction;
    struct roof_measured_step step;
    struct roof_bench bench;
};

static struct fixture *make_fixture(const char *model, enum roof_phase phase, int64_t context)
{
    struct fixture *const f = calloc(1, sizeof *f);
    struct roof_scenario scenario;
    assert_non_null(f);
    f->model = load(model);
    assert_int_equal(roof_hardware_load(&f->hardware, "h100-sxm", NULL, NULL), ROOF_OK);
    assert_int_equal(roof_hardware_calibrate(f->hardware, NULL, NULL, NULL), ROOF_OK);
    roof_scenario_init(&scenario);
    scenario.phase = phase;
    scenario.context = context;
    assert_int_equal(roof_predict_model(&f->prediction, f->model, &scenario, f->hardware, NULL),
                     ROOF_OK);
    f->bench = (struct roof_bench){.room = 1e15, .attends = true};
    return f;
}

static void free_fixture(struct fixture *f)
{
    roof_model_free(f->model);
    roof_hardware_free(f->hardware);
    free(f);
}

static const struct roof_halt never;

static enum roof_status measure(struct fixture *f, double seconds, struct roof_error *error)
{
    roof_step_list(&f->step, &planted, &f->bench, &f->prediction);
    const enum roof_status status =
        roof_step_measure(&f->step, &planted, &f->bench, seconds, &never, error);
    assert_int_equal(f->bench.begun, 0);
    return status;
}

static const struct roof_measured_node *row_of(const struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->step.count; i++) {
        if (strcmp(f->step.row[i].node->node.name, name) == 0) {
            return &f->step.row[i];
        }
    }
    fail_msg("there is no %s", name);
    return NULL;
}

/* Sums over the graph, by hand: the count of each operator times what was planted of it. */
static double planted_step_s(const struct fixture *f, bool between)
{
    double sum = 0;
    for (size_t i = 0; i < f->step.count; i++) {
        const struct roof_measured_node *const row = &f->step.row[i];
        const double count = (double)row->node->node.count;
        sum += row->runs == 0 ? 0 : count * planted_s(&row->task);
        sum += between ? (double)row->runs * BETWEEN_S : 0;
    }
    return sum;
}

static void test_times_come_back(void **state)
{
    (void)state;
    struct fixture *const f = make_fixture("llama-3-8b", ROOF_PHASE_DECODE, 1024);
    assert_int_equal(measure(f, LONG_S, NULL), ROOF_OK);
    assert_int_equal(f->step.layers, 32);
    assert_int_equal(f->step.measured, 32);
    assert_int_equal(row_of(f, "qkv_proj")->runs, 32);
    assert_int_equal(row_of(f, "lm_head")->runs, 1);
    assert_int_equal(row_of(f, "embedding")->runs, 0);
    assert_true(isnan(row_of(f, "embedding")->time_s));
    assert_around(row_of(f, "qkv_proj")->time_s, PRODUCT_S, 0);
    assert_around(row_of(f, "attn_norm")->time_s, OTHER_S, 0);
    assert_around(f->step.time_s, planted_step_s(f, true), 1e-12);
    /* The embedding is left out of the prediction, too. */
    const struct roof_node_prediction *const e = row_of(f, "embedding")->node;
    assert_around(f->step.expected_s, f->prediction.total.expected_s - e->prediction.expected_s,
                  1e-9);
    assert_around(f->step.bound_s, f->prediction.total.time_s - e->prediction.time_s, 1e-9);
    assert_around(f->step.covered, f->step.expected_s / f->prediction.total.expected_s, 1e-9);
    assert_around(roof_step_error(&f->step), f->step.expected_s / f->step.time_s - 1, 1e-12);
    assert_false(f->step.noisy);
    free_fixture(f);
}

/* Writes a step as text, in which the measured columns of the step itself are others; NULL: its
 * own. The caller frees it. */
static struct roof_text written(const struct fixture *f, const char *columns)
{
    const struct roof_measured_step *const step = &f->step;
    struct roof_text text = ROOF_TEXT_INIT;
    roof_steps_write(&text, &step, 1, NULL);
    assert_false(text.failed);
    for (int cell = 0; columns != NULL && cell < 5; cell++) {
        text.length = (size_t)(strrchr(text.data, ',') - text.data);
        text.data[text.length] = '\0';
    }
    if (columns != NULL) {
        roof_text_printf(&text, ",%s\n", columns);
    }
    return text;
}

/* A step that is written is read back; rows that no run writes are those of no step. */
static void test_rows_are_read_back(void **state)
{
    static const char *const wrong[] = {
        "0,4,5,0.5,0",    "33,4,5,0.5,0", "-1,4,5,0.5,0",  "32,0,5,0.5,0",  "32,-1,5,0.5,0",
        "32,3e9,5,0.5,0", "32,4,0,0.5,0", "32,4,-5,0.5,0", "32,4,5,-0.5,0", "32,4,5,0.5",
        "32,4,5,0.5,0,1", "32,x,5,0.5,0", "32,4,nan,0.5,0"};
    (void)state;
    struct fixture *const f = make_fixture("llama-3-8b", ROOF_PHASE_DECODE, 1024);
    struct fixture *const again = make_fixture("llama-3-8b", ROOF_PHASE_DECODE, 1024);
    assert_int_equal(measure(f, LONG_S, NULL), ROOF_OK);
    roof_step_list(&again->step, &planted, &again->bench, &again->prediction);
    struct roof_text text = written(f, NULL);
    assert_true(roof_steps_find(&again->step, text.data));
    roof_text_free(&text);
    assert_int_equal(again->step.measured, f->step.measured);
    assert_int_equal(again->step.samples, f->step.samples);
    assert_true(again->step.time_s == f->step.time_s && again->step.noise == f->step.noise);
    assert_int_equal(again->step.noisy, f->step.noisy);
    assert_true(row_of(again, "qkv_proj")->time_s == row_of(f, "qkv_proj")->time_s);
    text = written(f, "31,7,2.5,0.25,1");
    assert_true(roof_steps_find(&again->step, text.data));
    roof_text_free(&text);
    assert_int_equal(again->step.measured, 31);
    assert_int_equal(again->step.samples, 7);
    assert_around(again->step.time_s, 2.5e-6, 1e-15);
    assert_true(again->step.noise == 0.25 && again->step.noisy);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        text = written(f, wrong[i]);
        if (roof_steps_find(&again->step, text.data)) {
            fail_msg("a step with %s was found", wrong[i]);
        }
        roof_text_free(&text);
    }
    free_fixture(again);
    free_fixture(f);
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

/* A run that is to end takes no second sample, not even to warm up. */
static void test_ends_when_asked(void **state)
{
    const struct roof_halt halt = {.asked = at_once};
    struct roof_error error = {0};
    (void)state;
    struct fixture *const f = make_fixture("llama-3-8b", ROOF_PHASE_DECODE, 1024);
    roof_step_list(&f->step, &planted, &f->bench, &f->prediction);
    assert_int_equal(roof_step_measure(&f->step, &planted, &f->bench, LONG_S, &halt, &error),
                     ROOF_IO);
    assert_string_equal(error.message, "interrupted");
    assert_int_equal(f->bench.samples, 1);
    free_fixture(f);
}

/* Every time that is told is above 0, so that errors, which are quotients, are numbers. */
static void test_no_time_is_zero(void **state)
{
    (void)state;
    struct fixture *const f = make_fixture("llama-3-8b", ROOF_PHASE_DECODE, 1024);
    f->bench.quick = true;
    assert_int_equal(measure(f, LONG_S, NULL), ROOF_OK);
    assert_true(row_of(f, "attn_norm")->time_s > 0);
    assert_true(isfinite(roof_step_row_error(row_of(f, "attn_norm"))));
    assert_around(row_of(f, "qkv_proj")->time_s, PRODUCT_S, 0);
    free_fixture(f);
}

/* Embedding first, then layer after layer, and the head last. */
static void test_operators_run_in_order(void **state)
{
    (void)state;
    struct fixture *const f = make_fixture("llama-3-8b", ROOF_PHASE_DECODE, 1024);
    size_t layer = 0;
    assert_int_equal(measure(f, LONG_S, NULL), ROOF_OK);
    while (f->bench.part[layer].runs == 32) {
        layer++;
    }
    assert_int_equal(f->bench.runs, 32 * layer + f->bench.count - layer);
    for (size_t i = 0; i < f->bench.runs; i++) {
        assert_int_equal(f->bench.order[i], i < 32 * layer ? i % layer : i - 31 * layer);
    }
    free_fixture(f);
}

/* Fewer layers run where memory is short, and all are counted. */
static void test_layers_that_do_not_fit_count(void **state)
{
    (void)state;
    struct fixture *const f = make_fixture("llama-3-8b", ROOF_PHASE_DECODE, 1024);
    f->bench.room = 5e9; /* of 16 GB; a layer has 0.44 GB, and the head 1.05 */
    assert_int_equal(measure(f, LONG_S, NULL), ROOF_OK);
    assert_int_equal(f->step.measured, 6);
    assert_int_equal(row_of(f, "qkv_proj")->runs, 6);
    assert_int_equal(row_of(f, "lm_head")->runs, 1);
    assert_around(f->step.time_s, planted_step_s(f, true), 1e-12);
    free_fixture(f);
}

static void test_layers_without_time_count(void **state)
{
    (void)state;
    struct fixture *const f = make_fixture("llama-3-8b", ROOF_PHASE_PREFILL, 8192);
    const double whole_s = f->prediction.total.expected_s;
    assert_int_equal(measure(f, whole_s, NULL), ROOF_OK); /* four samples: a quarter each */
    assert_true(f->step.measured >= 6 && f->step.measured <= 8);
    free_fixture(f);
}

static void test_too_little_memory_is_an_error(void **state)
{
    struct roof_error error = {0};
    (void)state;
    struct fixture *const f = make_fixture("llama-3-8b", ROOF_PHASE_DECODE, 1024);
    f->bench.room = 1e9;
    assert_int_equal(measure(f, LONG_S, &error), ROOF_IO);
    assert_string_equal(error.message,
                        "one layer of llama-3-8b needs 1.39 GiB, and 953.7 MiB of memory are free");
    free_fixture(f);
}

/* A cache that no kernel takes is measured with whole blocks, and a window is a shorter cache. */
static void test_caches_are_made_to_fit(void **state)
{
    (void)state;
    struct fixture *f = make_fixture("llama-3-8b", ROOF_PHASE_DECODE, 1000);
    assert_int_equal(measure(f, LONG_S, NULL), ROOF_OK);
    assert_int_equal(row_of(f, "attention")->task.workload.shape.kv_len, 1024);
    free_fixture(f);
    f = make_fixture("gpt-oss-20b", ROOF_PHASE_DECODE, 4096);
    assert_int_equal(measure(f, LONG_S, NULL), ROOF_OK);
    int64_t shortest = 4096;
    for (size_t i = 0; i < f->step.count; i++) {
        const struct roof_measured_node *const row = &f->step.row[i];
        const struct roof_shape *const s = &row->task.workload.shape;
        if (row->task.workload.op == ROOF_OPERATOR_FLASH_ATTENTION) {
            shortest = s->kv_len < shortest ? s->kv_len : shortest;
            assert_int_equal(s->window, 0);
            assert_int_equal(row->runs, 12);
        }
    }
    assert_int_equal(shortest, 128);
    free_fixture(f);
}

/* A step of which too little ran is not judged, nor one that others disturbed without a mark. */
static void test_judgement(void **state)
{
    (void)state;
    struct fixture *const f = make_fixture("llama-3-8b", ROOF_PHASE_DECODE, 131072);
    assert_int_equal(measure(f, LONG_S, NULL), ROOF_OK);
    f->step.time_s = f->step.expected_s / 1.14;
    assert_true(roof_step_agrees(&f->step));
    f->step.time_s = f->step.expected_s / 1.16;
    assert_false(roof_step_agrees(&f->step));
    f->step.time_s = f->step.expected_s / 0.86;
    assert_true(roof_step_agrees(&f->step));
    f->bench.attends = false;
    f->bench.waited = 0.11;
    assert_int_equal(measure(f, LONG_S, NULL), ROOF_OK);
    assert_true(f->step.covered < ROOF_STEP_COVERED);
    assert_true(f->step.noisy);
    f->step.time_s = f->step.expected_s;
    assert_false(roof_step_agrees(&f->step));
    free_fixture(f);
}

static bool ask_halt(void *context)
{
    (void)context;
    return true;
}

static void test_faults_are_told(void **state)
{
    const struct roof_halt halt = {.asked = ask_halt};
    (void)state;
    struct fixture *const f = make_fixture("llama-3-8b", ROOF_PHASE_DECODE, 1024);
    for (int at = 1; at <= 3; at++) {
        struct roof_error error = {0};
        f->bench.samples = 0;
        f->bench.fails_at = at;
        assert_int_equal(measure(f, LONG_S, &error), ROOF_IO);
        assert_string_equal(error.message, "the device was lost");
    }
    struct roof_error error = {0};
    f->bench.fails_at = 0;
    roof_step_list(&f->step, &planted, &f->bench, &f->prediction);
    assert_int_equal(roof_step_measure(&f->step, &planted, &f->bench, 1, &halt, &error), ROOF_IO);
    assert_string_equal(error.message, "interrupted");
    assert_int_equal(f->bench.begun, 0);
    free_fixture(f);
}

/* The backend of the processor runs a small model as it is asked for. */
static void test_processor_runs_steps(void **state)
{
    const struct roof_meter_options options = {.threads = 1};
    struct roof_bench *bench = NULL;
    struct roof_error error = {0};
    (void)state;
    struct fixture *const f = make_fixture("tinyllama-1.1b", ROOF_PHASE_DECODE, 64);
    if (roof_meter_cpu.open(&bench, &options, &error) != ROOF_OK) {
        free_fixture(f);
        skip(); /* the system tells no processors */
    }
    roof_step_list(&f->step, &roof_meter_cpu, bench, &f->prediction);
    if (roof_step_measure(&f->step, &roof_meter_cpu, bench, 1e-9, &never, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    roof_meter_cpu.close(bench);
    assert_int_equal(f->step.layers, 22);
    assert_int_equal(f->step.measured, 1); /* the time is too short for more */
    const double product_s = row_of(f, "gate_up_proj")->time_s;
    assert_true(product_s > row_of(f, "o_proj")->time_s);
    assert_true(f->step.time_s > 22 * product_s / 2);
    assert_true(row_of(f, "attention")->time_s > 0);
    free_fixture(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_come_back),
        cmocka_unit_test(test_rows_are_read_back),
        cmocka_unit_test(test_ends_when_asked),
        cmocka_unit_test(test_no_time_is_zero),
        cmocka_unit_test(test_operators_run_in_order),
        cmocka_unit_test(test_layers_that_do_not_fit_count),
        cmocka_unit_test(test_layers_without_time_count),
        cmocka_unit_test(test_too_little_memory_is_an_error),
        cmocka_unit_test(test_caches_are_made_to_fit),
        cmocka_unit_test(test_judgement),
        cmocka_unit_test(test_faults_are_told),
        cmocka_unit_test(test_processor_runs_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
