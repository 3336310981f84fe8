// SPDX-License-Identifier: MIT
/* A program on the library, taken apart in docs/library.md:
 *
 *     cc -std=c11 -o example example.c $(pkg-config --cflags --libs roofline) -pthread
 */
#include <pthread.h>
#include <roofline/roofline.h>
#include <stdio.h>
#include <stdlib.h>

/* One prediction: bound and expected time. */
static enum roof_status one(const struct roof_hardware *device, struct roof_error *error)
{
    struct roof_workload work = ROOF_WORKLOAD_INIT;
    struct roof_prediction prediction;
    work.op = ROOF_OPERATOR_GEMM;
    work.shape.m = 64;
    work.shape.n = work.shape.k = 4096;
    work.formats.precision = ROOF_PRECISION_BF16;
    const enum roof_status status = roof_predict(&prediction, &work, device, error);
    if (status == ROOF_OK) {
        printf("gemm 64 x 4096 x 4096: %.2f us at best, %s-bound; %.2f us expected\n",
               prediction.time_s * 1e6, roof_bottleneck_name(prediction.bottleneck),
               prediction.expected_s * 1e6);
    }
    return status;
}

/* A model: tokens per second, and whether it fits. */
static enum roof_status whole(const struct roof_hardware *device, struct roof_error *error)
{
    struct roof_model *model = NULL;
    struct roof_model_prediction *prediction =
        malloc(sizeof *prediction); /* large: not on the stack */
    struct roof_scenario scenario;
    if (prediction == NULL) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    roof_scenario_init(&scenario);
    scenario.common.shape.batch = 8;
    scenario.context = 8192;
    scenario.common.formats.weights = ROOF_PRECISION_FP8_E4M3;
    enum roof_status status = roof_model_load(&model, "llama-3-8b", NULL, error);
    if (status == ROOF_OK) {
        status = roof_predict_model(prediction, model, &scenario, device, error);
    }
    if (status == ROOF_OK) {
        printf("llama-3-8b, 8 users: %.0f tokens/s at best, %.0f expected, %s\n",
               prediction->tokens_per_s, prediction->expected_tokens_per_s,
               prediction->fits == ROOF_FIT_YES ? "fits" : "does not fit");
    }
    roof_model_free(model);
    free(prediction);
    return status;
}

/* Several threads read the same device and predict some points each. */
enum { POINTS = 1000, THREADS = 2 };
struct part {
    const struct roof_hardware *device;
    int64_t m[POINTS];
    double time_s[POINTS];
    enum roof_status status;
    struct roof_error error; /* one for each thread */
};

static void *predict_part(void *context)
{
    struct part *const part = context;
    struct roof_workload work = ROOF_WORKLOAD_INIT;
    struct roof_prediction prediction;
    work.op = ROOF_OPERATOR_GEMM;
    work.shape.n = work.shape.k = 4096;
    for (int i = 0; i < POINTS && part->status == ROOF_OK; i++) {
        work.shape.m = part->m[i];
        part->status = roof_predict(&prediction, &work, part->device, &part->error);
        part->time_s[i] = prediction.time_s;
    }
    return NULL;
}

static enum roof_status many(const struct roof_hardware *device, struct roof_error *error)
{
    static struct part parts[THREADS];
    pthread_t thread[THREADS];
    enum roof_status status = ROOF_OK;
    double slowest_s = 0;
    int started = 0;
    for (; started < THREADS; started++) {
        struct part *const part = &parts[started];
        part->device = device;
        for (int i = 0; i < POINTS; i++) {
            part->m[i] = started * POINTS + i + 1;
        }
        if (pthread_create(&thread[started], NULL, predict_part, part) != 0) {
            status = roof_error_set(error, ROOF_MEMORY, "no thread");
            break;
        }
    }
    for (int t = 0; t < started; t++) {
        (void)pthread_join(thread[t], NULL);
        if (parts[t].status != ROOF_OK) {
            status = parts[t].status;
            *error = parts[t].error;
        }
        for (int i = 0; i < POINTS; i++) {
            slowest_s = parts[t].time_s[i] > slowest_s ? parts[t].time_s[i] : slowest_s;
        }
    }
    if (status == ROOF_OK) {
        printf("%d sizes: %.1f us at most\n", THREADS * POINTS, slowest_s * 1e6);
    }
    return status;
}

/* What is printed is made in a text; this program says where it goes. */
static enum roof_status document(const struct roof_hardware *device, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_workload work = ROOF_WORKLOAD_INIT;
    struct roof_prediction prediction;
    struct roof_table table;
    work.op = ROOF_OPERATOR_GEMV;
    work.shape.n = work.shape.k = 4096;
    enum roof_status status = roof_predict(&prediction, &work, device, error);
    if (status == ROOF_OK) {
        status = roof_table_open(&table, ROOF_OUTPUT_CSV, ROOF_TABLE_PREDICTIONS, work.op,
                                 "hardware,n,k,time_us", error);
    }
    if (status == ROOF_OK) {
        roof_table_begin(&table, &text);
        roof_table_prediction(&table, &text, &prediction);
        roof_table_end(&table, &text);
        fputs(text.data, stdout);
    }
    roof_text_free(&text);
    return status;
}

int main(void)
{
    struct roof_error error = {0};
    struct roof_hardware *device = NULL;
    char line[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE + 32];

    /* A failure fills the error and leaves device NULL. */
    if (roof_hardware_load(&device, "h100-smx.json", NULL, &error) != ROOF_OK) {
        printf("%s: %s\n", roof_status_text(error.status),
               roof_error_line(line, sizeof line, &error));
    }
    enum roof_status status = roof_hardware_load(&device, "h100-sxm", NULL, &error);
    if (status == ROOF_OK) { /* a device without a calibration has bounds, and no expected times */
        status = roof_device_calibrate(device, NULL, NULL, &error);
    }
    if (status == ROOF_OK) {
        status = one(device, &error);
    }
    if (status == ROOF_OK) {
        status = whole(device, &error);
    }
    if (status == ROOF_OK) {
        status = many(device, &error);
    }
    if (status == ROOF_OK) {
        status = document(device, &error);
    }
    if (status != ROOF_OK) {
        fprintf(stderr, "%s\n", roof_error_line(line, sizeof line, &error));
    }
    roof_device_free(device);
    return status == ROOF_OK ? 0 : 1;
}
