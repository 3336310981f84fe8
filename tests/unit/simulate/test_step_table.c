// SPDX-License-Identifier: MIT
/* The table of steps: exact where steps are planes, and close to predicted ones between them. */
#include "models.h"

#include <math.h>
#include <stdlib.h>

#include "simulate/deployment.h"

/* A step takes 10 s, 2 s per sequence and 1/8 s per token of its context, 3 s per token of a prompt
 * and 1/4 s for each token that it looks at. */
static enum roof_status plane(double *out_s, void *context, const struct roof_step_load *load,
                              struct roof_error *error)
{
    int *const calls = context;
    (void)error;
    ++*calls;
    *out_s = 10 + load->decoding * (2 + load->context / 8) +
             load->tokens * (3 + load->prompt_context / 4);
    return ROOF_OK;
}

static enum roof_status fails(double *out_s, void *context, const struct roof_step_load *load,
                              struct roof_error *error)
{
    (void)out_s;
    (void)context;
    (void)load;
    return roof_error_set(error, ROOF_USAGE, "no step");
}

static void test_planes(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    int calls = 0;
    assert_int_equal(roof_step_table_open(&table, plane, &calls, NULL), ROOF_OK);
    random_state = 11;
    for (int i = 0; i < 20000; i++) {
        const struct roof_step_load load = {.decoding = (double)pick(0, 300),
                                            .context = 1 + (double)pick(0, 1 << 20) / 7,
                                            .tokens = (double)pick(0, 1 << pick(0, 20)),
                                            .prompt_context = 1 + (double)pick(0, 1 << 20) / 3};
        double time = 0;
        double right = 0;
        if (load.decoding + load.tokens == 0) {
            continue;
        }
        int other = 0;
        assert_int_equal(plane(&right, &other, &load, NULL), ROOF_OK);
        assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
        assert_near(time, right, 1e-9);
    }
    assert_true(roof_step_table_cells(table) < 12000);
    roof_step_table_free(table);
}

/* Beside prompts each token of the contexts takes 1/16 s more. */
static enum roof_status beside(double *out_s, void *context, const struct roof_step_load *load,
                               struct roof_error *error)
{
    const enum roof_status status = plane(out_s, context, load, error);
    *out_s += load->tokens > 0 ? load->decoding * load->context / 16 : 0;
    return status;
}

static void test_beside_prompts(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    int calls = 0;
    double time = 0;
    double right = 0;
    struct roof_step_load load = {
        .decoding = 64, .context = 4096, .tokens = 100, .prompt_context = 50};
    assert_int_equal(roof_step_table_open(&table, beside, &calls, NULL), ROOF_OK);
    assert_int_equal(roof_step_table_beside(table, NULL), ROOF_OK);
    for (int i = 0; i < 4; i++) {
        load.context = i < 2 ? 4096 : 1500;
        load.tokens = i % 2 == 0 ? 100 : 0;
        assert_int_equal(beside(&right, &calls, &load, NULL), ROOF_OK);
        assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
        assert_near(time, right, 1e-9);
    }
    roof_step_table_free(table);
    /* Without it, the context of a step of both counts as in one without prompts. */
    load = (struct roof_step_load){
        .decoding = 64, .context = 4096, .tokens = 100, .prompt_context = 50};
    assert_int_equal(beside(&right, &calls, &load, NULL), ROOF_OK);
    assert_int_equal(roof_step_table_open(&table, beside, &calls, NULL), ROOF_OK);
    assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
    assert_near(time, right - 64.0 * (4096 - 1024) / 16, 1e-9);
    roof_step_table_free(table);
}

/* A cell is predicted once, and not at all where it has no weight. */
/* The longest context adds 1/32 s for each token beyond the mean, twice that beside prompts, with 8
 * sequences and more. */
static enum roof_status longest(double *out_s, void *context, const struct roof_step_load *load,
                                struct roof_error *error)
{
    const enum roof_status status = plane(out_s, context, load, error);
    *out_s += load->longest > 0 && load->decoding >= 8
                  ? (load->longest - load->context) / (load->tokens > 0 ? 16 : 32)
                  : 0;
    return status;
}

static void test_longest(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    int calls = 0;
    double time = 0;
    double right = 0;
    assert_int_equal(roof_step_table_open(&table, longest, &calls, NULL), ROOF_OK);
    assert_false(roof_step_table_waits(table));
    random_state = 3;
    for (int i = 0; i < 2000; i++) {
        struct roof_step_load load = {.decoding = (double)pick(0, 200),
                                      .context = 1 + (double)pick(0, 1 << 16) / 7};
        if (i == 1000) { /* from now on steps wait */
            assert_int_equal(roof_step_table_longest(table, NULL), ROOF_OK);
            assert_true(roof_step_table_waits(table));
        }
        load.longest = pick(0, 3) > 0 ? load.context + (double)pick(0, 1 << 16) : 0;
        load.tokens = load.decoding > 0 ? (double)pick(0, 1) * 100 : 100;
        load.prompt_context = 50;
        int other = 0;
        struct roof_step_load alike = load;
        alike.longest = i < 1000 ? 0 : load.longest;
        assert_int_equal(longest(&right, &other, &alike, NULL), ROOF_OK);
        assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
        assert_near(time, right, 1e-9);
    }
    roof_step_table_free(table);
}

static void test_cells(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    int calls = 0;
    double time = 0;
    const struct roof_step_load even = {.decoding = 64, .context = 1024};
    const struct roof_step_load odd = {.decoding = 65, .context = 1500};
    assert_int_equal(roof_step_table_open(&table, plane, &calls, NULL), ROOF_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(roof_step_time(&time, table, &even, NULL), ROOF_OK);
        assert_int_equal(calls, 1);
    }
    assert_int_equal(roof_step_time(&time, table, &odd, NULL), ROOF_OK);
    assert_int_equal(calls, 4); /* 64 and 72 sequences at 1024 and 1536 */
    roof_step_table_free(table);
}

/* Returns a random context between two points of the axis of contexts, and these points. */
static double between_points(double *low, double *high)
{
    *low = ldexp(pick(0, 1) == 1 ? 3 : 2, (int)pick(0, 15));
    *high = *low == ldexp(1, ilogb(*low)) ? *low * 1.5 : *low / 3 * 4;
    return *low + (*high - *low) * (double)pick(0, 999999) / 1e6;
}

/* Asks for enough steps between points that all their cells are known. */
static void ask_between(struct roof_step_table *table, double decoding, double context,
                        double longest_one)
{
    const struct roof_step_load load = {
        .decoding = decoding, .context = context, .longest = longest_one};
    double time = 0;
    assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
}

/* Lines have the times of their contexts to the last bit, where they were asked for. */
static void check_lines(roof_step_source *source, bool waits)
{
    struct roof_step_table *table = NULL;
    struct roof_step_lines lines;
    int calls = 0;
    assert_int_equal(roof_step_table_open(&table, source, &calls, NULL), ROOF_OK);
    assert_int_equal(waits ? roof_step_table_longest(table, NULL) : ROOF_OK, ROOF_OK);
    const struct roof_step_load unknown = {.decoding = 5, .context = 3000, .longest = 4000};
    assert_false(roof_step_lines_find(&lines, table, &unknown));
    random_state = 5;
    for (int i = 0; i < 2000; i++) {
        double low;
        double high;
        double far_low;
        double far_high;
        struct roof_step_load load = {.decoding = (double)pick(1, 300)};
        load.context = between_points(&low, &high);
        load.longest = between_points(&far_low, &far_high);
        for (int third = 0; third < 3; third++) {
            ask_between(table, load.decoding, low + third * (high - low) / 3,
                        far_low + third * (far_high - far_low) / 3);
        }
        assert_true(roof_step_lines_find(&lines, table, &load));
        assert_true(lines.waits == waits);
        assert_true(lines.decode.low == low && lines.decode.high == high);
        assert_true(roof_step_lines_have(&lines, load.context, load.longest));
        assert_false(roof_step_lines_have(&lines, high, load.longest));
        assert_true(roof_step_lines_have(&lines, load.context, far_high) == !waits);
        for (int k = 0; k < 20; k++) {
            double time = 0;
            load.context = low + (high - low) * (double)pick(0, 999999) / 1e6;
            load.longest = far_low + (far_high - far_low) * (double)pick(0, 999999) / 1e6;
            assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
            assert_true(roof_step_lines_time(&lines, load.context, load.longest) == time);
        }
    }
    const struct roof_step_load shortest = {.decoding = 5, .context = 1.5, .longest = 2};
    assert_false(roof_step_lines_find(&lines, table, &shortest));
    roof_step_table_free(table);
}

static void test_lines(void **state)
{
    (void)state;
    check_lines(plane, false);
    check_lines(longest, true);
}

/* A product of all tokens takes 1 s each, and attention 2 s for each token of the largest group. */
static enum roof_status grouped(double *out_s, void *context, const struct roof_step_load *load,
                                struct roof_error *error)
{
    (void)context;
    (void)error;
    *out_s = load->tokens + 2 * load->tokens / (load->parts > 0 ? load->parts : 1);
    return ROOF_OK;
}

/* 4 groups with 100 tokens: all in one take 300 s, equal parts 150 s, and with 40 in one 180 s. */
static void test_groups(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    double time = 0;
    assert_int_equal(roof_step_table_open(&table, grouped, NULL, NULL), ROOF_OK);
    assert_int_equal(roof_step_table_groups(table, 4, NULL), ROOF_OK);
    const struct {
        double widest;
        double time_s;
    } cases[] = {{0, 300}, {100, 300}, {40, 180}, {25, 150}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_step_load load = {
            .tokens = 100, .prompt_context = 50, .widest = cases[i].widest};
        assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
        assert_near(time, cases[i].time_s, 1e-9);
    }
    roof_step_table_free(table);
}

/* Steps with a number of tokens that was named are predicted themselves. */
static enum roof_status hill(double *out_s, void *context, const struct roof_step_load *load,
                             struct roof_error *error)
{
    (void)context;
    (void)error;
    *out_s = 1 + load->decoding + (load->tokens == 1000 ? 50 : 0);
    return ROOF_OK;
}

static void test_pins(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    double time = 0;
    struct roof_step_load load = {
        .decoding = 3, .context = 9, .tokens = 1000, .prompt_context = 40};
    assert_int_equal(roof_step_table_open(&table, hill, NULL, NULL), ROOF_OK);
    assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
    assert_near(time, 4, 1e-12); /* between 960 and 1024 */
    roof_step_table_pin(table, 1000);
    roof_step_table_pin(table, 0);
    assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
    assert_near(time, 54, 1e-12);
    load.decoding = 0;
    assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
    assert_near(time, 51, 1e-12);
    roof_step_table_free(table);
}

/* The images of a prompt take 7 s and those of more another 5 s each, beside all else. */
static enum roof_status images(double *out_s, void *context, const struct roof_step_load *load,
                               struct roof_error *error)
{
    if (load->encoded > 0) {
        assert_true(load->decoding + load->tokens == 0);
        *out_s = 2 + 5 * load->encoded;
        return ROOF_OK;
    }
    return plane(out_s, context, load, error);
}

static void test_images(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    int calls = 0;
    double time = 0;
    double without = 0;
    struct roof_step_load load = {.decoding = 3, .context = 9, .tokens = 40, .prompt_context = 40};
    assert_int_equal(roof_step_table_open(&table, images, &calls, NULL), ROOF_OK);
    assert_int_equal(roof_step_time(&without, table, &load, NULL), ROOF_OK);
    load.encoded = 2;
    assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
    assert_near(time, without, 1e-12); /* nobody asked for them */
    assert_int_equal(roof_step_table_encode(table, NULL), ROOF_OK);
    for (int prompts = 0; prompts < 40; prompts++) {
        load.encoded = prompts;
        assert_int_equal(roof_step_time(&time, table, &load, NULL), ROOF_OK);
        assert_near(time, without + (prompts > 0 ? 2 + 5 * prompts : 0), 1e-12);
    }
    roof_step_table_free(table);
}

static void test_failure(void **state)
{
    (void)state;
    struct roof_step_table *table = NULL;
    struct roof_error error = {0};
    double time = 0;
    const struct roof_step_load load = {.decoding = 1, .context = 1};
    assert_int_equal(roof_step_table_open(&table, fails, NULL, NULL), ROOF_OK);
    assert_int_equal(roof_step_time(&time, table, &load, &error), ROOF_USAGE);
    assert_string_equal(error.message, "no step");
    roof_step_table_free(table);
}

/* The errors of the table against steps that are predicted, at random loads. */
struct errors {
    double sum;
    double most;
    int count;
};

static void add_error(struct errors *out, struct roof_deployment *d, struct roof_request_steps *s,
                      const struct roof_step_load *load)
{
    double time = 0;
    double right = 0;
    assert_int_equal(roof_step_time(&time, d->table, load, NULL), ROOF_OK);
    assert_int_equal(roof_request_steps(&right, s, load, NULL), ROOF_OK);
    const double off = fabs(time / right - 1);
    out->sum += off;
    out->most = fmax(out->most, off);
    out->count++;
}

static void check_errors(const char *model_id, const char *hardware_id, int64_t tp, bool bound,
                         enum roof_stack stack, double mean, double most)
{
    struct roof_model *const model = load(model_id);
    struct roof_hardware *const hardware = load_calibrated(hardware_id);
    struct roof_scenario s;
    struct roof_deployment d;
    struct roof_request request;
    struct roof_remembered *const cost = calloc(509, sizeof *cost);
    struct roof_pass_memo memo = {.entry = cost, .size = 509};
    struct errors errors = {0};
    roof_scenario_init(&s);
    s.prompt = 1000;
    s.generate = 200;
    s.tp = tp;
    s.common.stack = stack;
    s.common.shape.batch = 256;
    assert_non_null(cost);
    assert_int_equal(roof_deployment_open(&d, model, &s, hardware, bound, NULL), ROOF_OK);
    const struct roof_stacks stacks = roof_one_stack(&d.scenario);
    assert_int_equal(
        roof_request_open(&request, model, &d.scenario, hardware, &memo, &stacks, NULL), ROOF_OK);
    struct roof_request_steps steps = {&request, bound ? ROOF_STEP_BOUND : ROOF_STEP_EXPECTED};
    random_state = 5;
    for (int i = 0; i < 1000; i++) {
        struct roof_step_load load = {.decoding = (double)pick(0, 1 << pick(0, 8)),
                                      .context = (double)pick(1, 1 << pick(0, 15))};
        if (pick(0, 2) > 0 || load.decoding == 0) {
            load.tokens = (double)pick(1, 1 << pick(0, 13));
            load.prompt_context = (load.tokens + 1) / 2 + (double)pick(0, 1 << pick(0, 14));
        }
        load.longest = load.decoding > 0 && roof_step_table_waits(d.table)
                           ? load.context * (double)pick(1, 4)
                           : 0;
        add_error(&errors, &d, &steps, &load);
    }
    const double got = errors.sum / errors.count;
    if (got > mean || errors.most > most) {
        fail_msg("%s on %s: the error is %.4f, at most %.4f", model_id, hardware_id, got,
                 errors.most);
    }
    roof_deployment_close(&d);
    free(cost);
    free_calibrated(hardware);
    roof_model_free(model);
}

static void test_interpolation(void **state)
{
    (void)state;
    check_errors("llama-3-8b", "h100-sxm", 1, false, ROOF_STACK_BEST, 0.006, 0.12);
    check_errors("llama-3-8b", "h100-sxm", 1, true, ROOF_STACK_BEST, 0.006, 0.12);
    check_errors("llama-3-70b", "hgx-b200", 4, false, ROOF_STACK_BEST, 0.006, 0.12);
    check_errors("gpt-oss-20b", "h100-sxm", 1, false, ROOF_STACK_BEST, 0.006, 0.12);
    check_errors("deepseek-v3", "hgx-b200", 8, false, ROOF_STACK_BEST, 0.006, 0.12);
    check_errors("llama-3.1-8b", "rtx-pro-6000", 1, false, ROOF_STACK_VLLM, 0.006, 0.12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planes),  cmocka_unit_test(test_beside_prompts),
        cmocka_unit_test(test_longest), cmocka_unit_test(test_cells),
        cmocka_unit_test(test_lines),   cmocka_unit_test(test_groups),
        cmocka_unit_test(test_pins),    cmocka_unit_test(test_images),
        cmocka_unit_test(test_failure), cmocka_unit_test(test_interpolation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
