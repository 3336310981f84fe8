// SPDX-License-Identifier: MIT
/*
 * Predictions per second of the library on one core, as JSON lines: the median of several runs.
 * make bench
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../library.h"

#define RUNS 9
#define RUN_S 0.15
#define SHAPES 1024

struct subject {
    struct roof_hardware *hardware;
    struct roof_workload shape[SHAPES];
    double number[SHAPES];
    const struct roof_model *model;
    struct roof_scenario scenario;
    struct roof_model_prediction *prediction;
};

/* The time that this process ran, not others. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t draw(void)
{
    static uint64_t state = 88172645463325252U;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Sizes of real layers: log-uniform. */
static int64_t between(double low, double high)
{
    return (int64_t)(low * pow(high / low, (double)(draw() >> 11) * 0x1p-53));
}

static void check(enum roof_status status, const struct roof_error *error)
{
    if (status != ROOF_OK) {
        fprintf(stderr, "bench: %s\n", error->message);
        exit(1);
    }
}

/* Each returns a sum of what it did, so that nothing is left out. */
static double predict(struct subject *s, size_t i)
{
    struct roof_error error = {0};
    struct roof_prediction p;
    check(roof_predict(&p, &s->shape[i % SHAPES], s->hardware, &error), &error);
    return p.time_s;
}

static double predict_model(struct subject *s, size_t i)
{
    struct roof_error error = {0};
    s->scenario.context = 1024 + (int64_t)(i % SHAPES);
    check(roof_predict_model(s->prediction, s->model, &s->scenario, s->hardware, &error), &error);
    return s->prediction->step_s;
}

static double format(struct subject *s, size_t i)
{
    char text[ROOF_NUMBER_SIZE];
    return (double)roof_format_number(text, s->number[i % SHAPES]);
}

static double format_printf(struct subject *s, size_t i)
{
    char text[ROOF_NUMBER_SIZE];
    return snprintf(text, sizeof text, "%.17g", s->number[i % SHAPES]);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(struct subject *s, const char *name, double (*work)(struct subject *, size_t),
                    size_t each, const char *unit)
{
    double rate[RUNS];
    double sum = 0;
    for (int run = 0; run < RUNS; run++) {
        const double start = now();
        double end = start;
        size_t done = 0;
        while (end - start < RUN_S) {
            for (int i = 0; i < SHAPES; i++) { /* the clock is a call of the system */
                sum += work(s, done++);
            }
            end = now();
        }
        rate[run] = (double)(done * each) / (end - start);
    }
    qsort(rate, RUNS, sizeof rate[0], by_value);
    printf("{\"name\":\"%s\",\"unit\":\"%s/s\",\"median\":%.0f,\"least\":%.0f,\"most\":%.0f,"
           "\"runs\":%d,\"sum\":%.6g}\n",
           name, unit, rate[RUNS / 2], rate[0], rate[RUNS - 1], RUNS, sum);
    fflush(stdout);
}

/* --- recommendations: candidates, ranked or rejected ---------------------------------------- */

enum { DEVICES = 6, DEVICES_MOST = 16, BATCHES = 12 };

struct advice {
    struct roof_hardware *device[DEVICES];
    int64_t batch[BATCHES];
    int64_t devices[DEVICES_MOST];
    struct roof_accuracy accuracy;
    struct roof_engines *engines;
    struct roof_recommendation recommendation;
    struct roof_plan_problem problem;
};

static void recommend_gemm(const struct subject *s, struct advice *a)
{
    struct roof_error error = {0};
    const struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    double rate[RUNS];
    for (int run = 0; run < RUNS; run++) {
        size_t done = 0;
        const double start = now();
        for (int i = 0; i < SHAPES; i++) {
            check(roof_recommend(&a->recommendation, &s->shape[i], a->device[0], &a->accuracy,
                                 &options, &error),
                  &error);
            done += a->recommendation.count + a->recommendation.rejected;
        }
        rate[run] = (double)done / (now() - start);
    }
    qsort(rate, RUNS, sizeof rate[0], by_value);
    printf("{\"name\":\"recommend gemm, expected\",\"unit\":\"candidates/s\",\"median\":%.0f,"
           "\"least\":%.0f,\"most\":%.0f,\"runs\":%d}\n",
           rate[RUNS / 2], rate[0], rate[RUNS - 1], RUNS);
}

static void recommend_model(struct advice *a)
{
    double rate[3];
    size_t done = 0;
    for (int run = 0; run < 3; run++) {
        struct roof_error error = {0};
        struct roof_plans plans;
        const double start = now();
        check(roof_plan_search(&plans, &a->problem, &error), &error);
        done = plans.count;
        for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
            done += plans.rejected[i];
        }
        rate[run] = (double)done / (now() - start);
        roof_plans_free(&plans);
    }
    qsort(rate, 3, sizeof rate[0], by_value);
    printf("{\"name\":\"recommend model, 6 devices, 1 to 16 of each, 12 batches\","
           "\"unit\":\"candidates/s\",\"median\":%.0f,\"least\":%.0f,\"most\":%.0f,\"runs\":3,"
           "\"candidates\":%zu}\n",
           rate[1], rate[0], rate[2], done);
}

static void recommendations(const struct subject *s, const struct roof_model *model)
{
    static const char *const ids[DEVICES] = {"h100-sxm", "hgx-b200", "a100-sxm-80gb",
                                             "l40s",     "h200-sxm", "dgx-spark"};
    static struct advice a;
    struct roof_error error = {0};
    for (int i = 0; i < DEVICES; i++) {
        check(roof_hardware_load(&a.device[i], ids[i], NULL, &error), &error);
        check(roof_hardware_calibrate(a.device[i], NULL, NULL, &error), &error);
    }
    for (int i = 0; i < BATCHES; i++) {
        a.batch[i] = (int64_t)1 << i;
    }
    for (int i = 0; i < DEVICES_MOST; i++) {
        a.devices[i] = i + 1;
    }
    check(roof_accuracy_load(&a.accuracy, &error), &error);
    check(roof_engines_load(&a.engines, &error), &error);
    a.problem =
        (struct roof_plan_problem){.model = model,
                                   .hardware = (const struct roof_hardware *const *)a.device,
                                   .hardware_count = DEVICES,
                                   .engines = a.engines,
                                   .accuracy = &a.accuracy,
                                   .batch = a.batch,
                                   .batches = BATCHES,
                                   .devices = a.devices,
                                   .device_counts = DEVICES_MOST,
                                   .objective = ROOF_PLAN_THROUGHPUT,
                                   .max_loss = ROOF_ACCURACY_SEVERE};
    roof_scenario_init(&a.problem.base);
    a.problem.base.context = 4096;
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        a.problem.limit[i] = ROOF_UNKNOWN;
    }
    recommend_gemm(s, &a);
    recommend_model(&a);
    for (int i = 0; i < DEVICES; i++) {
        roof_hardware_free(a.device[i]);
    }
    roof_engines_free(a.engines);
    roof_accuracy_free(&a.accuracy);
}

/* --- simulations: steps of a scheduler, and searches for the greatest rate ------------------- */

/* Steps per second of a closed loop, with drafts or without. */
static void simulate(struct subject *s, const struct roof_model *model, int64_t users,
                     int64_t drafts)
{
    struct roof_error error = {0};
    struct roof_scenario scenario;
    struct roof_deployment d;
    double rate[RUNS];
    roof_scenario_init(&scenario);
    scenario.tp = 8;
    scenario.prompt = 1000;
    scenario.generate = 500;
    scenario.common.shape.batch = users;
    scenario.draft_tokens = drafts;
    scenario.acceptance = 0.8;
    check(roof_deployment_open(&d, model, &scenario, s->hardware, false, &error), &error);
    const struct roof_arrivals arrivals = {.prompt = {.low = 1000}, .generate = {.low = 500}};
    const struct roof_simulation_inputs inputs = {
        .table = d.table,
        .limits = {.budget = 8192,
                   .sequences = users,
                   .blocks = d.blocks,
                   .drafts = {.tokens = drafts, .acceptance = 0.8, .seed = 1}},
        .arrivals = &arrivals,
        .requests = 20 * (uint64_t)users,
        .concurrency = (uint64_t)users,
        .limit = {{NAN, 0}, {NAN, 0}, {NAN, 0}}};
    for (int run = 0; run < RUNS; run++) {
        struct roof_simulation out;
        uint64_t steps = 0;
        const double start = now();
        while (now() - start < RUN_S) {
            check(roof_simulate(&out, &inputs, &error), &error);
            steps += out.steps;
        }
        rate[run] = (double)steps / (now() - start);
    }
    qsort(rate, RUNS, sizeof rate[0], by_value);
    printf("{\"name\":\"simulation, %d running, %d drafts\",\"unit\":\"steps/s\",\"median\":%.0f,"
           "\"least\":%.0f,\"most\":%.0f,\"runs\":%d}\n",
           (int)users, (int)drafts, rate[RUNS / 2], rate[0], rate[RUNS - 1], RUNS);
    roof_deployment_close(&d);
}

static void simulations(struct subject *s, const struct roof_model *model)
{
    static const int64_t users[] = {32, 512};
    for (size_t u = 0; u < sizeof users / sizeof *users; u++) {
        simulate(s, model, users[u], 0);
        simulate(s, model, users[u], 3);
    }
}

/* The greatest rate of one plan, its table included. */
static double find_capacity(struct subject *s, size_t i)
{
    struct roof_error error = {0};
    struct roof_scenario scenario;
    struct roof_deployment d;
    struct roof_capacity found;
    roof_scenario_init(&scenario);
    scenario.tp = 4;
    scenario.prompt = 8000;
    scenario.generate = 500;
    scenario.common.shape.batch = 256;
    scenario.common.formats.precision = ROOF_PRECISION_FP8_E4M3;
    check(roof_deployment_open(&d, s->model, &scenario, s->hardware, false, &error), &error);
    const struct roof_arrivals arrivals = {.prompt = {.low = 8000}, .generate = {.low = 500}};
    const struct roof_simulation_inputs inputs = {
        .table = d.table,
        .limits = {.budget = 8192, .sequences = 256, .blocks = d.blocks},
        .arrivals = &arrivals,
        .requests = 4000,
        .seed = 1 + i,
        .warm_up = 0.2,
        .limit = {{1, 99}, {0.03, 99}, {NAN, 99}}};
    check(roof_capacity_find(&found, &inputs, &error), &error);
    roof_deployment_close(&d);
    return found.rate;
}

static void capacities(struct subject *s)
{
    double rate[RUNS];
    double sum = 0;
    for (int run = 0; run < RUNS; run++) {
        const double start = now();
        sum += find_capacity(s, (size_t)run);
        rate[run] = 1 / (now() - start);
    }
    qsort(rate, RUNS, sizeof rate[0], by_value);
    printf("{\"name\":\"greatest rate of a plan\",\"unit\":\"searches/s\",\"median\":%.1f,"
           "\"least\":%.1f,\"most\":%.1f,\"runs\":%d,\"sum\":%.6g}\n",
           rate[RUNS / 2], rate[0], rate[RUNS - 1], RUNS, sum);
}

static void gemms(struct subject *s, enum roof_stack stack)
{
    for (int i = 0; i < SHAPES; i++) {
        struct roof_workload *const w = &s->shape[i];
        *w = (struct roof_workload)ROOF_WORKLOAD_INIT;
        w->op = ROOF_OPERATOR_GEMM;
        w->stack = (int)stack;
        w->shape.m = between(1, 8192);
        w->shape.n = between(256, 65536);
        w->shape.k = between(256, 32768);
    }
}

static void attentions(struct subject *s)
{
    for (int i = 0; i < SHAPES; i++) {
        struct roof_workload *const w = &s->shape[i];
        *w = (struct roof_workload)ROOF_WORKLOAD_INIT;
        w->op = ROOF_OPERATOR_FLASH_ATTENTION;
        w->shape.batch = between(1, 256);
        w->shape.heads = 64;
        w->shape.kv_heads = 8;
        w->shape.head_dim = 128;
        w->shape.query_len = 1;
        w->shape.kv_len = between(16, 131072);
    }
}

int main(void)
{
    static struct subject s;
    struct roof_error error = {0};
    struct roof_model *model = NULL;
    check(roof_hardware_load(&s.hardware, "h100-sxm", NULL, &error), &error);
    check(roof_model_load(&model, "llama-3-70b", NULL, &error), &error);
    s.prediction = calloc(1, sizeof *s.prediction);
    if (s.prediction == NULL) {
        return 4;
    }
    gemms(&s, ROOF_STACK_VLLM);
    measure(&s, "gemm ideal", predict, 1, "predictions");
    attentions(&s);
    measure(&s, "attention ideal", predict, 1, "predictions");
    roof_scenario_init(&s.scenario);
    s.model = model;
    s.scenario.tp = 8;
    s.scenario.common.shape.batch = 32;
    measure(&s, "model step ideal", predict_model, 1, "predictions");

    check(roof_hardware_calibrate(s.hardware, NULL, NULL, &error), &error);
    measure(&s, "model step expected, best", predict_model, 1, "predictions");
    measure(&s, "attention expected, best", predict, 1, "predictions");
    gemms(&s, ROOF_STACK_VLLM);
    measure(&s, "gemm expected, one stack", predict, 1, "predictions");
    gemms(&s, ROOF_STACK_BEST);
    measure(&s, "gemm expected, best", predict, 1, "predictions");

    recommendations(&s, model);
    simulations(&s, model);
    capacities(&s);

    for (int i = 0; i < SHAPES; i++) { /* as times in microseconds are */
        s.number[i] = (double)(draw() >> 11) * 0x1p-53 * 1000;
    }
    measure(&s, "a number formatted", format, 1, "numbers");
    measure(&s, "a number formatted by printf %.17g", format_printf, 1, "numbers");
    free(s.prediction);
    roof_model_free(model);
    roof_hardware_free(s.hardware);
    return 0;
}
