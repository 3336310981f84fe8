// SPDX-License-Identifier: MIT
/* A program on the library, taken apart in docs/library.md:
 *
 *     cc -std=c11 -o example example.c $(pkg-config --cflags --libs roofline) -pthread
 */
#include <pthread.h>
#include <roofline/roofline.h>
#include <stdio.h>
#include <string.h>

/* Writes a key as this program's users know it. */
static void spell(char *out, size_t size, const char *key)
{
    (void)snprintf(out, size, "\"%s\"", key);
}

static void complain(const struct roof_error *error)
{
    char line[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE + 32];
    printf("%s: %s\n", roof_status_text(error->status),
           roof_error_spelled(line, sizeof line, error, spell));
}

/* Puts keys and values, which end with NULL, into a new question. */
static enum roof_status make(struct roof_question **out, const char *const *inputs,
                             struct roof_error *error)
{
    enum roof_status status = roof_question_new(out, error);
    for (; status == ROOF_OK && *inputs != NULL; inputs += 2) {
        status = roof_question_put(*out, inputs[0], inputs[1], error);
    }
    return status;
}

/* A question and its answer as a document. */
static enum roof_status document(struct roof_store *store, struct roof_error *error)
{
    static const char *const inputs[] = {
        "operator", "gemv",     "n",        "4096",    "k",
        "4096",     "hardware", "h100-sxm", "columns", "hardware,n,k,time_us",
        NULL};
    struct roof_question *question = NULL;
    char *text = NULL;
    enum roof_status status = make(&question, inputs, error);
    if (status == ROOF_OK) {
        status = roof_answer(store, question, ROOF_COMMAND_PREDICT, ROOF_CSV, &text, NULL, error);
    }
    if (status == ROOF_OK) {
        fputs(text, stdout);
    }
    roof_answer_free(text);
    roof_question_free(question);
    return status;
}

/* The prediction of a model as numbers. */
static enum roof_status whole(struct roof_store *store, struct roof_error *error)
{
    static const char *const inputs[] = {"model",   "llama-3-8b", "hardware", "h100-sxm",
                                         "batch",   "8",          "context",  "8192",
                                         "weights", "fp8_e4m3",   NULL};
    struct roof_question *question = NULL;
    struct roof_model_result *result = NULL;
    enum roof_status status = make(&question, inputs, error);
    if (status == ROOF_OK) {
        status = roof_model_predict(&result, store, question, error);
    }
    if (status == ROOF_OK) {
        size_t slowest = 0;
        for (size_t i = 1; i < roof_model_operators(result); i++) {
            if (roof_model_operator(result, i)->time_s >
                roof_model_operator(result, slowest)->time_s) {
                slowest = i;
            }
        }
        printf("llama-3-8b, 8 users: %.0f tokens/s at best, %.0f expected, %s; slowest: %s\n",
               roof_model_number(result, "tokens_per_s"),
               roof_model_number(result, "expected_tokens_per_s"),
               roof_model_number(result, "fits") == 1 ? "fits" : "does not fit",
               roof_model_operator_name(result, slowest));
    }
    roof_model_result_free(result);
    roof_question_free(question);
    return status;
}

/* Takes a piece of a document, which may end within a row, and counts the rows that end in it. */
static enum roof_status count_rows(void *context, const char *bytes, size_t length,
                                   struct roof_error *error)
{
    size_t *const rows = context;
    (void)error;
    for (size_t i = 0; i < length; i++) {
        *rows += bytes[i] == '\n';
    }
    return ROOF_OK;
}

/* A sweep in pieces: 1000 batches on two devices. */
static enum roof_status stream(struct roof_store *store, struct roof_error *error)
{
    static const char *const inputs[] = {
        "operator", "gemm", "m",    "1:1000",   "n",
        "4096",     "k",    "4096", "hardware", "h100-sxm,a100-sxm-80gb",
        NULL};
    struct roof_question *question = NULL;
    size_t rows = 0;
    const struct roof_listener listener = {.context = &rows, .write = count_rows};
    enum roof_status status = make(&question, inputs, error);
    if (status == ROOF_OK) {
        status = roof_answer_to(store, question, ROOF_COMMAND_SWEEP, ROOF_NDJSON, &listener, error);
    }
    if (status == ROOF_OK) {
        printf("sweep: %zu rows\n", rows);
    }
    roof_question_free(question);
    return status;
}

/* The best plan within a limit. That there is none is an answer, and no failure. */
static enum roof_status plan(struct roof_store *store, const char *hardware, const char *limit,
                             struct roof_error *error)
{
    const char *const inputs[] = {"model",    "llama-3.3-70b",
                                  "hardware", hardware,
                                  "devices",  "4",
                                  "prompt",   "4k",
                                  "generate", "500",
                                  "columns",  "formats,tp,batch",
                                  "max_tpot", limit,
                                  "top",      "1",
                                  NULL};
    struct roof_question *question = NULL;
    char *text = NULL;
    enum roof_status status = make(&question, inputs, error);
    if (status == ROOF_OK) {
        status = roof_answer(store, question, ROOF_COMMAND_RECOMMEND, ROOF_CSV, &text, NULL, error);
    }
    if (status == ROOF_OK) {
        printf("within %s: %s", limit, strchr(text, '\n') + 1);
    } else if (status == ROOF_UNSATISFIED) {
        printf("within %s: no plan\n", limit);
        status = ROOF_OK;
    }
    roof_answer_free(text);
    roof_question_free(question);
    return status;
}

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

/* Asks all questions: of the store, and of a device of the program's own. */
static enum roof_status all(struct roof_store *store, struct roof_hardware **device,
                            struct roof_error *error)
{
    static const char own[] = "{\"id\": \"mine\", \"memory_gb\": 96, \"bandwidth_gb_s\": 4000, "
                              "\"peak_tflops\": {\"bf16\": 1000}, \"link_gb_s\": 450}";
    enum roof_status status = document(store, error);
    if (status == ROOF_OK) {
        status = stream(store, error);
    }
    if (status == ROOF_OK) {
        status = plan(store, "h100-sxm", "20ms", error);
    }
    if (status == ROOF_OK) {
        status = plan(store, "h100-sxm", "2ms", error);
    }
    if (status == ROOF_OK) {
        status = plan(store, own, "30ms", error);
    }
    if (status == ROOF_OK) {
        status = whole(store, error);
    }
    if (status == ROOF_OK) {
        status = roof_hardware_load(device, "h100-sxm", NULL, error);
    }
    if (status == ROOF_OK) { /* a device without a calibration has bounds, and no expected times */
        status = roof_hardware_calibrate(*device, NULL, NULL, error);
    }
    if (status == ROOF_OK) {
        status = one(*device, error);
    }
    return status == ROOF_OK ? many(*device, error) : status;
}

int main(void)
{
    static const char *const wrong[] = {"operator", "gemm", "m", "64", "n", "4096", NULL};
    struct roof_error error = {0};
    struct roof_store *store = NULL;
    struct roof_question *question = NULL;
    struct roof_hardware *device = NULL;
    char *text = NULL;
    enum roof_status status = roof_store_new(&store, &error);
    if (status == ROOF_OK) {
        status = make(&question, wrong, &error);
    }
    /* A failure fills the error and leaves the text NULL. */
    if (status == ROOF_OK && roof_answer(store, question, ROOF_COMMAND_PREDICT, ROOF_TEXT, &text,
                                         NULL, &error) != ROOF_OK) {
        complain(&error);
    }
    roof_answer_free(text);
    roof_question_free(question);
    if (status == ROOF_OK) {
        status = all(store, &device, &error);
    }
    if (status != ROOF_OK) {
        complain(&error);
    }
    roof_hardware_free(device);
    roof_store_free(store);
    return status == ROOF_OK ? 0 : 1;
}
