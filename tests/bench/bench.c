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

#include "roofline/roofline.h"

#define RUNS 9
#define RUN_S 0.15
#define SHAPES 1024

struct subject {
    const char *name;
    struct roof_hardware *hardware;
    struct roof_workload shape[SHAPES];
    const struct roof_model *model;
    struct roof_scenario scenario;
    struct roof_inference *inference;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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

/* One prediction; its time, so that nothing is left out. */
static double predict(struct subject *s, size_t i)
{
    struct roof_error error = {0};
    if (s->model != NULL) {
        s->scenario.context = 1024 + (int64_t)(i % SHAPES);
        check(roof_infer(s->inference, s->model, &s->scenario, s->hardware, &error), &error);
        return s->inference->step_s;
    }
    struct roof_prediction p;
    check(roof_predict(&p, &s->shape[i % SHAPES], s->hardware, &error), &error);
    return p.time_s;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(struct subject *s)
{
    double rate[RUNS];
    double sum = 0;
    for (int run = 0; run < RUNS; run++) {
        const double start = now();
        double end = start;
        size_t done = 0;
        while (end - start < RUN_S) {
            for (int i = 0; i < 64; i++) {
                sum += predict(s, done++);
            }
            end = now();
        }
        rate[run] = (double)done / (end - start);
    }
    qsort(rate, RUNS, sizeof rate[0], by_value);
    printf(
        "{\"name\":\"%s\",\"unit\":\"predictions/s\",\"median\":%.0f,\"least\":%.0f,\"most\":%.0f,"
        "\"runs\":%d,\"sum_s\":%.6g}\n",
        s->name, rate[RUNS / 2], rate[0], rate[RUNS - 1], RUNS, sum);
    fflush(stdout);
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
    struct roof_calibration *calibration = NULL;
    struct roof_model *model = NULL;
    check(roof_hardware_load(&s.hardware, "h100-sxm", NULL, &error), &error);
    check(roof_calibration_load(&calibration, s.hardware, NULL, NULL, &error), &error);
    check(roof_model_load(&model, "llama-3-70b", NULL, &error), &error);
    s.inference = calloc(1, sizeof *s.inference);
    if (s.inference == NULL) {
        return 4;
    }
    const struct roof_calibration *const with[] = {NULL, calibration};
    static const char *const names[][4] = {
        {"gemm ideal", "", "attention ideal", "model step ideal"},
        {"gemm expected, one stack", "gemm expected, best", "attention expected, best",
         "model step expected, best"}};
    for (int i = 0; i < 2; i++) {
        s.hardware->calibration = with[i];
        s.model = NULL;
        for (int best = 0; best <= i; best++) {
            s.name = names[i][best];
            gemms(&s, best > 0 ? ROOF_STACK_BEST : ROOF_STACK_VLLM);
            measure(&s);
        }
        s.name = names[i][2];
        attentions(&s);
        measure(&s);
        s.name = names[i][3];
        s.model = model;
        roof_scenario_init(&s.scenario);
        s.scenario.tp = 8;
        s.scenario.common.shape.batch = 32;
        measure(&s);
    }
    free(s.inference);
    roof_model_free(model);
    roof_calibration_free(calibration);
    roof_hardware_free(s.hardware);
    return 0;
}
