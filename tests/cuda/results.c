// SPDX-License-Identifier: MIT
/* Runs each kind of kernel of the CUDA backend once on the first GPU, with small sizes, and
 * compares its results with sums in double precision on the processor: `make gpu-check`. Prints the
 * largest difference of each beside what its format allows. */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "measure/cpu_half.h"
#include "measure/cpu_job.h"
#include "measure/gpu_attention.h"
#include "measure/gpu_backend.h"
#include "measure/gpu_transfer.h"

static struct roof_gpu gpu;
static struct roof_gpu_kernels kernels;
static struct roof_gpu_vectors vectors;
static struct roof_gpu_products products;
static struct roof_cudnn cudnn;
static int (*copy_out)(void *to, uint64_t from, size_t bytes);
static uint64_t memory; /* of the device */
#define MEMORY_BYTES ((int64_t)64 << 20)
static int wrong;

static void need(enum roof_status status, const char *what, const struct roof_error *error)
{
    if (status != ROOF_OK) {
        (void)fprintf(stderr, "gpu-check: %s: %s\n", what, error->message);
        exit(2);
    }
}

/* --- numbers ------------------------------------------------------------------------------- */

static double number_of(const void *data, int64_t i, enum roof_precision format)
{
    const unsigned char *const bytes = data;
    uint16_t half = 0;
    uint32_t bits = 0;
    float value = 0;
    int32_t whole = 0;
    switch (format) {
    case ROOF_PRECISION_FP16:
        memcpy(&half, bytes + 2 * i, 2);
        return roof_half_to_float(half);
    case ROOF_PRECISION_BF16:
        memcpy(&half, bytes + 2 * i, 2);
        bits = (uint32_t)half << 16;
        memcpy(&value, &bits, 4);
        return value;
    case ROOF_PRECISION_FP8_E4M3: {
        const int exponent = bytes[i] >> 3 & 15;
        const double fraction = (bytes[i] & 7) / 8.0;
        const double size = exponent == 0 ? ldexp(fraction, -6) : ldexp(1 + fraction, exponent - 7);
        return (bytes[i] & 0x80) != 0 ? -size : size;
    }
    case ROOF_PRECISION_INT8:
        return (signed char)bytes[i];
    case ROOF_PRECISION_INT4: /* stands for the 32-bit sums of int8 */
        memcpy(&whole, bytes + 4 * i, 4);
        return whole;
    default:
        memcpy(&value, bytes + 4 * i, 4);
        return value;
    }
}

/* Writes random numbers in [-1, 1] of a format, and returns their bytes. */
static size_t fill(void *out, int64_t count, enum roof_precision format, uint64_t seed)
{
    unsigned char *const bytes = out;
    float *const values = malloc((size_t)count * sizeof *values);
    uint64_t state = seed;
    size_t width = 4;
    roof_cpu_random(values, count, &state);
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = 0;
        memcpy(&bits, &values[i], 4);
        uint16_t half = (uint16_t)(bits >> 16);
        switch (format) {
        case ROOF_PRECISION_FP16:
            half = roof_float_to_half(values[i]);
            memcpy(bytes + 2 * i, &half, 2);
            width = 2;
            break;
        case ROOF_PRECISION_BF16:
            memcpy(bytes + 2 * i, &half, 2);
            width = 2;
            break;
        case ROOF_PRECISION_FP8_E4M3:
        case ROOF_PRECISION_INT8:
            bytes[i] = (unsigned char)(bits >> 8 & 0xb7); /* below 1 in fp8 */
            width = 1;
            break;
        default:
            memcpy(bytes + 4 * i, &values[i], 4);
        }
    }
    free(values);
    return width * (size_t)count;
}

/* Compares results with what they should be. */
static void compare(const char *what, const double *wanted, const void *got, int64_t count,
                    enum roof_precision format, double allowed)
{
    double largest = 0;
    double size = 0;
    for (int64_t i = 0; i < count; i++) {
        const double difference = fabs(number_of(got, i, format) - wanted[i]);
        largest = difference > largest || isnan(difference) ? difference : largest;
        size = fmax(size, fabs(wanted[i]));
    }
    const bool right = largest <= allowed * size;
    printf("%-5s %-46s %9.2g of %.3g\n", right ? "ok" : "WRONG", what, largest, size);
    wrong += right ? 0 : 1;
}

static void put(uint64_t at, const void *data, size_t bytes)
{
    if (gpu.call.copy_in(at, data, bytes) != 0) {
        exit(2);
    }
}

static void *get(uint64_t at, size_t bytes)
{
    void *const data = malloc(bytes);
    if (gpu.call.stream_synchronize(gpu.stream) != 0 || copy_out(data, at, bytes) != 0) {
        (void)fprintf(stderr, "gpu-check: the kernel failed\n");
        exit(2);
    }
    return data;
}

/* --- products ------------------------------------------------------------------------------ */

static void check_product(enum roof_precision format, int64_t batch)
{
    struct roof_error error = {0};
    const struct roof_gpu_shape shape = {format, batch, 48, 64, 128};
    const struct roof_gpu_product_type *const type =
        roof_gpu_product_type(products.api, &gpu, format);
    char what[64];
    (void)snprintf(what, sizeof what, "product of %s, batch %" PRId64, roof_precision_name(format),
                   batch);
    if (type == NULL || type->block > 0 || !roof_gpu_product_able(products.api, &gpu, &shape)) {
        printf("-     %s: not on this GPU, or with scales\n", what);
        return;
    }
    const int64_t outs = batch * shape.m * shape.n;
    void *const weights = malloc((size_t)(4 * batch * shape.n * shape.k));
    void *const inputs = malloc((size_t)(4 * batch * shape.m * shape.k));
    double *const wanted = calloc((size_t)outs, sizeof *wanted);
    struct roof_gpu_product product = {
        .weights_at = memory, .inputs_at = memory + (8 << 20), .out_at = memory + (16 << 20)};
    put(product.weights_at, weights, fill(weights, batch * shape.n * shape.k, format, 1));
    put(product.inputs_at, inputs, fill(inputs, batch * shape.m * shape.k, format, 2));
    need(roof_gpu_product_begin(&product, &products, &gpu, &shape, &error), what, &error);
    need(roof_gpu_product_run(&product, &error), what, &error);
    void *const got = get(product.out_at, (size_t)(type->out_bytes * outs));
    for (int64_t i = 0; i < outs; i++) {
        const int64_t b = i / (shape.m * shape.n);
        const int64_t row = b * shape.m + i / shape.n % shape.m;
        const int64_t column = b * shape.n + i % shape.n;
        for (int64_t k = 0; k < shape.k; k++) {
            wanted[i] += number_of(inputs, row * shape.k + k, format) *
                         number_of(weights, column * shape.k + k, format);
        }
    }
    const bool half = type->out_bytes == 2;
    compare(what, wanted, got, outs,
            format == ROOF_PRECISION_INT8   ? ROOF_PRECISION_INT4
            : !half                         ? ROOF_PRECISION_FP32
            : format == ROOF_PRECISION_FP16 ? ROOF_PRECISION_FP16
                                            : ROOF_PRECISION_BF16,
            format == ROOF_PRECISION_INT8 ? 0
            : half                        ? 4e-3
                                          : 2e-3);
    roof_gpu_product_end(&product);
    free(weights);
    free(inputs);
    free(wanted);
    free(got);
}

/* --- rows ---------------------------------------------------------------------------------- */

static void check_rows(enum roof_operator op, const char *what)
{
    enum { ROWS = 5, SIZE = 4224, HEAD = 128 };
    struct roof_error error = {0};
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    const bool rope = op == ROOF_OPERATOR_ROPE;
    const int64_t size = rope ? HEAD : SIZE;
    const int64_t count = rope ? (int64_t)ROWS * 3 : ROWS;
    const int64_t array = roof_gpu_aligned(2 * count * size);
    const enum roof_precision fp16 = ROOF_PRECISION_FP16;
    w.op = op;
    w.formats.activations = fp16;
    w.formats.out = op == ROOF_OPERATOR_QUANTIZE ? ROOF_PRECISION_INT8 : fp16;
    w.shape.tokens = ROWS;
    w.shape.heads = 2;
    w.shape.kv_heads = 1;
    w.shape.head_dim = HEAD;
    w.shape.hidden = SIZE;
    unsigned char *const in = calloc(1, (size_t)(2 * array));
    double *const wanted = calloc((size_t)(count * size), sizeof *wanted);
    (void)fill(in, count * size, fp16, 3);
    (void)fill(in + array, count * size, fp16, 4);
    put(memory, in, (size_t)(2 * array));
    need(roof_gpu_vector_run(&gpu, &vectors, &w, memory, &error), what, &error);
    void *const got = get(memory + 2 * (uint64_t)array, (size_t)array);
    for (int64_t row = 0; row < count; row++) {
        const int64_t from = row * size;
        double squares = 0;
        double most = 0;
        for (int64_t i = 0; i < size; i++) {
            const double x = number_of(in, from + i, fp16);
            squares += x * x;
            most = fmax(most, fabs(x));
        }
        for (int64_t i = 0; i < size; i++) {
            const double x = number_of(in, from + i, fp16);
            const double y = number_of(in + array, from + i, fp16);
            const int64_t low = i % (size / 2);
            const double first = number_of(in, from + low, fp16);
            const double second = number_of(in, from + low + size / 2, fp16);
            const double cosine = number_of(in + array, low, fp16);
            const double sine = number_of(in + array, low + size / 2, fp16);
            wanted[from + i] =
                op == ROOF_OPERATOR_ADD        ? x + y
                : op == ROOF_OPERATOR_SILU_MUL ? x / (1 + exp(-x)) * y
                : op == ROOF_OPERATOR_RMSNORM
                    ? x * number_of(in + array, i, fp16) / sqrt(squares / (double)size + 1e-6)
                : op == ROOF_OPERATOR_QUANTIZE ? rint(x * 127 / most)
                : i < size / 2                 ? first * cosine - second * sine
                                               : second * cosine + first * sine;
        }
    }
    const bool bytes = op == ROOF_OPERATOR_QUANTIZE;
    compare(what, wanted, got, count * size, w.formats.out, bytes ? 1.001 / 127 : 1e-3);
    free(in);
    free(wanted);
    free(got);
}

/* --- attention ----------------------------------------------------------------------------- */

/* Queries, keys or values, and how many elements lie between neighbours. */
struct placed {
    const unsigned char *data;
    int64_t sequence;
    int64_t token;
    int64_t head;
};

static double at(const struct placed *p, int64_t sequence, int64_t head, int64_t token, int64_t i,
                 enum roof_precision format)
{
    return number_of(p->data, sequence * p->sequence + head * p->head + token * p->token + i,
                     format);
}

/* softmax(queries keys^T / sqrt(dim)) values of one query, added to out. */
static void attend(double *out, const struct roof_shape *s, enum roof_precision format,
                   const struct placed *queries, const struct placed *keys,
                   const struct placed *values, int64_t sequence, int64_t head, int64_t query)
{
    const int64_t kv_head = head / (s->heads / s->kv_heads);
    const int64_t seen = s->causal ? s->kv_len - s->query_len + query + 1 : s->kv_len;
    double sum = 0;
    for (int64_t key = 0; key < seen; key++) {
        double score = 0;
        for (int64_t i = 0; i < s->head_dim; i++) {
            score += at(queries, sequence, head, query, i, format) *
                     at(keys, sequence, kv_head, key, i, format);
        }
        const double power = exp(score / sqrt((double)s->head_dim));
        sum += power;
        for (int64_t i = 0; i < s->head_dim; i++) {
            out[i] += power * at(values, sequence, kv_head, key, i, format);
        }
    }
    for (int64_t i = 0; i < s->head_dim; i++) {
        out[i] /= sum;
    }
}

static void check_decode(int64_t dim, int64_t keys)
{
    struct roof_error error = {0};
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    struct roof_shape *const s = &w.shape;
    const enum roof_precision fp16 = ROOF_PRECISION_FP16;
    char what[64];
    w.op = ROOF_OPERATOR_FLASH_ATTENTION;
    w.formats.kv = fp16;
    *s = (struct roof_shape){
        .batch = 2, .heads = 12, .kv_heads = 2, .head_dim = dim, .query_len = 1, .kv_len = keys};
    (void)snprintf(what, sizeof what, "decode, %" PRId64 " keys of %" PRId64, keys, dim);
    const int64_t cache = s->batch * s->kv_heads * keys * dim;
    const int64_t outs = s->batch * s->heads * dim;
    const int64_t queries_at = roof_gpu_aligned(4 * cache);
    const int64_t out_at = roof_gpu_vector_bytes(&gpu, &w) - roof_gpu_aligned(2 * outs);
    unsigned char *const in = calloc(1, (size_t)(queries_at + 2 * outs));
    double *const wanted = calloc((size_t)outs, sizeof *wanted);
    (void)fill(in, 2 * cache, fp16, 5);
    (void)fill(in + queries_at, outs, fp16, 6);
    put(memory, in, (size_t)(queries_at + 2 * outs));
    need(roof_gpu_vector_run(&gpu, &vectors, &w, memory, &error), what, &error);
    void *const got = get(memory + (uint64_t)out_at, (size_t)(2 * outs));
    const struct placed k = {in, s->kv_heads * keys * dim, dim, keys * dim};
    const struct placed v = {in + 2 * cache, k.sequence, k.token, k.head};
    const struct placed q = {in + queries_at, s->heads * dim, dim, dim};
    for (int64_t i = 0; i < s->batch * s->heads; i++) {
        attend(wanted + i * dim, s, fp16, &q, &k, &v, i / s->heads, i % s->heads, 0);
    }
    compare(what, wanted, got, outs, fp16, 5e-3);
    free(in);
    free(wanted);
    free(got);
}

static void check_prefill(int64_t queries, int64_t keys, bool causal, enum roof_precision format,
                          int64_t dim)
{
    struct roof_error error = {0};
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    struct roof_shape *const s = &w.shape;
    struct roof_gpu_attention attention;
    char what[64];
    w.op = ROOF_OPERATOR_FLASH_ATTENTION;
    w.formats.kv = format;
    *s = (struct roof_shape){.batch = 2,
                             .heads = 6,
                             .kv_heads = 2,
                             .head_dim = dim,
                             .query_len = queries,
                             .kv_len = keys,
                             .causal = causal};
    (void)snprintf(what, sizeof what, "prefill %s, %" PRId64 " x %" PRId64 " of %" PRId64 "%s",
                   roof_precision_name(format), queries, keys, dim, causal ? ", causal" : "");
    if (!roof_gpu_attention_able(&cudnn, &gpu, &w)) {
        printf("-     %s: not measured here\n", what);
        return;
    }
    const int64_t outs = s->batch * s->heads * queries * dim;
    const int64_t cache = s->batch * s->kv_heads * keys * dim;
    const int64_t keys_at = roof_gpu_aligned(2 * outs);
    const int64_t values_at = keys_at + roof_gpu_aligned(2 * cache);
    const int64_t out_at = values_at + roof_gpu_aligned(2 * cache);
    unsigned char *const in = calloc(1, (size_t)out_at);
    double *const wanted = calloc((size_t)outs, sizeof *wanted);
    (void)fill(in, outs, format, 7);
    (void)fill(in + keys_at, cache, format, 8);
    (void)fill(in + values_at, cache, format, 9);
    put(memory, in, (size_t)out_at);
    if (roof_gpu_attention_begin(&attention, &cudnn, &gpu, &w, &error) != ROOF_OK) {
        printf("WRONG %s: %s\n", what, error.message);
        wrong++;
        roof_gpu_attention_end(&attention);
        free(in);
        free(wanted);
        return;
    }
    need(roof_gpu_attention_run(&attention, memory, &error), what, &error);
    void *const got = get(memory + (uint64_t)out_at, (size_t)(2 * outs));
    const struct placed q = {in, queries * s->heads * dim, s->heads * dim, dim};
    const struct placed k = {in + keys_at, keys * s->kv_heads * dim, s->kv_heads * dim, dim};
    const struct placed v = {in + values_at, k.sequence, k.token, k.head};
    for (int64_t i = 0; i < s->batch * s->heads * queries; i++) {
        const int64_t sequence = i / (s->heads * queries);
        const int64_t query = i / s->heads % queries;
        attend(wanted + i * dim, s, format, &q, &k, &v, sequence, i % s->heads, query);
    }
    compare(what, wanted, got, outs, format, format == ROOF_PRECISION_FP16 ? 5e-3 : 2e-2);
    roof_gpu_attention_end(&attention);
    free(in);
    free(wanted);
    free(got);
}

/* --- the link to the host ------------------------------------------------------------------ */

static void check_transfer(enum roof_probe probe, const char *what)
{
    enum { COUNT_OF_FLOATS = 1 << 20 };
    const struct roof_meter_task task = {.probe = probe, .bytes = 4 * (int64_t)COUNT_OF_FLOATS};
    struct roof_error error = {0};
    struct roof_gpu_transfer transfer;
    float *const sent = malloc((size_t)task.bytes);
    double *const wanted = calloc(COUNT_OF_FLOATS, sizeof *wanted);
    put(memory, sent, fill(sent, COUNT_OF_FLOATS, ROOF_PRECISION_FP32, 7));
    need(roof_gpu_transfer_begin(&transfer, &gpu, &task, &error), what, &error);
    if (probe == ROOF_PROBE_TO_DEVICE) {
        memcpy(sent, transfer.host, (size_t)task.bytes);
    }
    need(roof_gpu_transfer_run(&transfer, &gpu, memory, &error), what, &error);
    void *const got = get(memory, (size_t)task.bytes);
    for (int64_t i = 0; i < COUNT_OF_FLOATS; i++) {
        wanted[i] = sent[i];
    }
    compare(what, wanted, probe == ROOF_PROBE_TO_DEVICE ? got : transfer.host, COUNT_OF_FLOATS,
            ROOF_PRECISION_FP32, 0);
    roof_gpu_transfer_end(&transfer, &gpu);
    free(sent);
    free(wanted);
    free(got);
}

int main(void)
{
    static const enum roof_precision formats[] = {
        ROOF_PRECISION_FP32,     ROOF_PRECISION_TF32, ROOF_PRECISION_FP16,      ROOF_PRECISION_BF16,
        ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_INT8, ROOF_PRECISION_MXFP8_E4M3};
    struct roof_error error = {0};
    void *const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *const found = driver == NULL ? NULL : dlsym(driver, "cuMemcpyDtoH_v2");
    if (found == NULL) {
        puts("skip  there is no CUDA driver");
        return 77;
    }
    memcpy(&copy_out, &found, sizeof found);
    need(roof_gpu_find(&gpu, roof_cuda_backend.driver, 0, &error), "device", &error);
    need(roof_gpu_start(&gpu, &error), "device", &error);
    need(roof_cuda_backend.load(&kernels, &vectors, &gpu, &error), "kernels", &error);
    need(roof_gpu_allocate(&memory, &gpu, MEMORY_BYTES, &error), "memory", &error);
    printf("%s\n", gpu.name);
    if (roof_gpu_products_open(&products, roof_cuda_backend.products, &error) == ROOF_OK) {
        for (size_t i = 0; i < COUNT(formats); i++) {
            check_product(formats[i], 1);
            check_product(formats[i], 3);
        }
    } else {
        printf("-     products: %s\n", error.message);
    }
    check_rows(ROOF_OPERATOR_RMSNORM, "RMS norm");
    check_rows(ROOF_OPERATOR_ADD, "addition");
    check_rows(ROOF_OPERATOR_SILU_MUL, "SiLU gate");
    check_rows(ROOF_OPERATOR_ROPE, "RoPE");
    check_rows(ROOF_OPERATOR_QUANTIZE, "quantisation to bytes");
    check_transfer(ROOF_PROBE_TO_DEVICE, "copy to the device");
    check_transfer(ROOF_PROBE_FROM_DEVICE, "copy from the device");
    check_decode(64, 1);
    check_decode(64, 5000);
    check_decode(128, 37);
    check_decode(128, 5000);
    if (roof_cudnn_open(&cudnn, &gpu, &error) == ROOF_OK) {
        check_prefill(200, 200, true, ROOF_PRECISION_FP16, 128);
        check_prefill(200, 200, true, ROOF_PRECISION_BF16, 64);
        check_prefill(72, 200, true, ROOF_PRECISION_FP16, 128);
        check_prefill(2, 333, true, ROOF_PRECISION_BF16, 128);
        check_prefill(130, 257, false, ROOF_PRECISION_FP16, 80);
    } else {
        printf("-     attention of a prefill: %s\n", error.message);
    }
    roof_cudnn_close(&cudnn);
    roof_gpu_products_close(&products);
    roof_gpu_vectors_close(&vectors, &gpu);
    roof_gpu_kernels_close(&kernels, &gpu);
    (void)gpu.call.release(memory);
    roof_gpu_close(&gpu);
    (void)dlclose(driver);
    printf(wrong == 0 ? "ok    all results are right\n" : "%d results are wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}
