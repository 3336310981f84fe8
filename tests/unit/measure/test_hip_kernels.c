// SPDX-License-Identifier: MIT
/* The kernels for AMD GPUs (data/kernels/hip_kernels.hip) on the processor, beside plain formulas:
 * each thread of a block is a thread here. */
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "measure/cpu_half.h"

/* --- what a GPU has ------------------------------------------------------------------------- */

#define BLOCKS 3
#define ROOF_ON_HOST
#define KERNEL static void
#define DEVICE static inline
#define SHARED static
typedef float f16; /* processors may lack one of 16 bits; the probe that has them is not of rows */
typedef f16 f16x2 __attribute__((vector_size(8)));

static _Thread_local unsigned thread_number;
static _Thread_local unsigned block_number;
static pthread_barrier_t barrier;

static unsigned thread(void)
{
    return thread_number;
}

static unsigned block(void)
{
    return block_number;
}

static unsigned blocks(void)
{
    return BLOCKS;
}

static void meet(void)
{
    (void)pthread_barrier_wait(&barrier);
}

static float half_to_float(unsigned short bits)
{
    return roof_half_to_float(bits);
}

static unsigned short float_to_half(float x)
{
    return roof_float_to_half(x);
}

static float root(float x)
{
    return sqrtf(x);
}

static float power_of_two(float x)
{
    return exp2f(x);
}

static float to_whole(float x)
{
    return rintf(x);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include "../../../data/kernels/hip_kernels.hip"
#pragma GCC diagnostic pop

/* A launch: one of the kernels with its parameters. */
struct launch {
    void (*probe)(u32x4 *to, unsigned long vectors, unsigned passes, const u32x4 *b,
                  const u32x4 *c);
    void (*rows)(const u32x4 *a, const u32x4 *b, u32x4 *out, unsigned count, unsigned size);
    u32x4 *a;
    u32x4 *b;
    u32x4 *out;
    unsigned long vectors;
    unsigned count;
    unsigned size;
};

struct place {
    const struct launch *launch;
    unsigned number;
};

/* Runs a thread of all blocks, one block after another: what is shared is that of one. */
static void *run_thread(void *context)
{
    const struct place *const place = context;
    const struct launch *const l = place->launch;
    thread_number = place->number;
    for (unsigned i = 0; i < BLOCKS; i++) {
        block_number = i;
        if (l->probe != NULL) {
            l->probe(l->out, l->vectors, 2, l->a, l->b);
        } else {
            l->rows(l->a, l->b, l->out, l->count, l->size);
        }
        meet();
    }
    return NULL;
}

static void run_kernel(const struct launch *launch)
{
    static struct place places[THREADS];
    static pthread_t threads[THREADS];
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        places[i] = (struct place){launch, i};
        assert_int_equal(pthread_create(&threads[i], NULL, run_thread, &places[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(pthread_barrier_destroy(&barrier), 0);
}

/* --- data ----------------------------------------------------------------------------------- */

/* 1032 vectors: more than the threads of all blocks have in one turn, and no multiple of it. A row
 * is longer than a block has threads. */
#define VECTORS 1032
#define ROWS BLOCKS
enum { SIZE = VECTORS / ROWS * HALVES };

static u32x4 a[VECTORS];
static u32x4 b[VECTORS];
static u32x4 out[VECTORS + 1];

static double half_of(const u32x4 *vectors, size_t i)
{
    unsigned short bits = 0;
    memcpy(&bits, (const char *)vectors + 2 * i, sizeof bits);
    return (double)roof_half_to_float(bits);
}

static void fill(u32x4 *vectors, unsigned seed)
{
    for (size_t i = 0; i < (size_t)VECTORS * HALVES; i++) {
        seed = seed * 1664525 + 1013904223;
        const uint16_t half = roof_float_to_half((float)(seed >> 8) / (float)(1 << 23) - 1);
        memcpy((char *)vectors + 2 * i, &half, sizeof half);
    }
}

static int prepare(void **state)
{
    (void)state;
    fill(a, 1);
    fill(b, 2);
    memset(out, 0, sizeof out);
    return 0;
}

/* Halves have 11 bits; a result is rounded once. */
static void same(size_t i, double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-3 * fabs(wanted) + 1e-6)) {
        fail_msg("element %zu: %g, not %g", i, got, wanted);
    }
}

/* --- probes --------------------------------------------------------------------------------- */

static void copy(u32x4 *to, unsigned long vectors, unsigned passes, const u32x4 *from,
                 const u32x4 *unused)
{
    (void)unused;
    roof_copy(from, vectors, passes, to);
}

static void test_copy_copies_all(void **state)
{
    (void)state;
    run_kernel(&(struct launch){.probe = copy, .a = a, .out = out, .vectors = VECTORS});
    assert_memory_equal(out, a, sizeof a);
    assert_true(out[VECTORS][0] == 0);
}

static void test_triad_adds_all(void **state)
{
    float x[2][4];
    float y[4];
    (void)state;
    run_kernel(
        &(struct launch){.probe = roof_triad, .a = a, .b = b, .out = out, .vectors = VECTORS});
    for (size_t i = 0; i < VECTORS; i++) {
        memcpy(x[0], &a[i], sizeof x[0]);
        memcpy(x[1], &b[i], sizeof x[1]);
        memcpy(y, &out[i], sizeof y);
        for (size_t k = 0; k < 4; k++) {
            const float wanted = x[0][k] + 0.5F * x[1][k];
            assert_true(y[k] == wanted || (isnan(y[k]) && isnan(wanted)));
        }
    }
}

static void read_once(u32x4 *to, unsigned long vectors, unsigned passes, const u32x4 *from,
                      const u32x4 *unused)
{
    (void)to;
    (void)unused;
    (void)passes;
    /* One pass, since two of them add up to nothing; the parameter is written only for one sum. */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): drivers tell addresses as numbers */
    roof_read((u32x4 *)(uintptr_t)from, vectors, 1);
}

/* The sum is written where it is a number that data hardly ever has: a thread that reads one vector
 * of that number writes it to the front, and so shows that it has read the vector. */
static void test_read_reads_each_vector(void **state)
{
    static const size_t places[] = {1, 767, 768, 1031};
    (void)state;
    for (size_t i = 0; i < COUNT(places); i++) {
        memset(a, 0, sizeof a);
        a[places[i]][0] = 2596069104U;
        run_kernel(&(struct launch){.probe = read_once, .a = a, .out = out, .vectors = VECTORS});
        assert_true(a[0][0] == 2596069104U);
    }
}

static void test_multiplications_stay_small(void **state)
{
    f32x2 single[1] = {{7, 7}};
    f64x2 twice[1] = {{7, 7}};
    f16x2 half[1] = {{7, 7}};
    (void)state;
    for (thread_number = 0; thread_number < THREADS; thread_number++) {
        roof_multiply_fp32(single, 3);
        roof_multiply_fp64(twice, 3);
        roof_multiply_fp16(half, 3);
    }
    thread_number = 0;
    roof_nothing(a);
    assert_true(single[0][0] == 7 && twice[0][0] == 7 && half[0][0] == 7);
}

/* --- operators ------------------------------------------------------------------------------ */

static void run_rows(void (*kernel)(const u32x4 *x, const u32x4 *y, u32x4 *to, unsigned count,
                                    unsigned size),
                     unsigned count, unsigned size)
{
    run_kernel(
        &(struct launch){.rows = kernel, .a = a, .b = b, .out = out, .count = count, .size = size});
}

static void test_norm(void **state)
{
    (void)state;
    run_rows(roof_norm, ROWS, SIZE);
    for (size_t row = 0; row < ROWS; row++) {
        double sum = 0;
        for (size_t i = 0; i < SIZE; i++) {
            sum += half_of(a, row * SIZE + i) * half_of(a, row * SIZE + i);
        }
        for (size_t i = 0; i < SIZE; i++) {
            same(i, half_of(out, row * SIZE + i),
                 half_of(a, row * SIZE + i) / sqrt(sum / SIZE + 1e-6) * half_of(b, i));
        }
    }
}

static void test_sum_and_gate(void **state)
{
    (void)state;
    run_rows(roof_add, ROWS, SIZE);
    for (size_t i = 0; i < (size_t)ROWS * SIZE; i++) {
        same(i, half_of(out, i), half_of(a, i) + half_of(b, i));
    }
    run_rows(roof_gate, ROWS, SIZE);
    for (size_t i = 0; i < (size_t)ROWS * SIZE; i++) {
        const double x = half_of(a, i);
        same(i, half_of(out, i), x / (1 + exp(-x)) * half_of(b, i));
    }
}

static void test_rotation(void **state)
{
    enum { DIM = 64 };
    const unsigned heads = VECTORS * HALVES / DIM;
    (void)state;
    run_rows(roof_rotate, heads, DIM);
    for (size_t head = 0; head < heads; head++) {
        for (size_t i = 0; i < DIM / 2; i++) {
            const double x = half_of(a, head * DIM + i);
            const double y = half_of(a, head * DIM + DIM / 2 + i);
            const double c = half_of(b, i);
            const double s = half_of(b, DIM / 2 + i);
            const double low = half_of(out, head * DIM + i);
            const double high = half_of(out, head * DIM + DIM / 2 + i);
            assert_true(fabs(low - (x * c - y * s)) < 1e-3);
            assert_true(fabs(high - (y * c + x * s)) < 1e-3);
        }
    }
}

static void quantize(const u32x4 *x, const u32x4 *y, u32x4 *to, unsigned count, unsigned size)
{
    roof_quantize(x, y, (unsigned *)(void *)to, count, size);
}

static void test_quantisation(void **state)
{
    const signed char *const bytes = (const signed char *)out;
    (void)state;
    run_rows(quantize, ROWS, SIZE);
    for (size_t row = 0; row < ROWS; row++) {
        double most = 0;
        float scale = 0;
        memcpy(&scale, bytes + (size_t)ROWS * SIZE + sizeof scale * row, sizeof scale);
        for (size_t i = 0; i < SIZE; i++) {
            most = fmax(most, fabs(half_of(a, row * SIZE + i)));
        }
        assert_true(fabs((double)scale * 127 / most - 1) < 1e-5);
        for (size_t i = 0; i < SIZE; i++) {
            const double x = half_of(a, row * SIZE + i);
            assert_true(fabs(bytes[row * SIZE + i] - x / (double)scale) <= 0.5001);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_copy_copies_all, prepare),
        cmocka_unit_test_setup(test_triad_adds_all, prepare),
        cmocka_unit_test_setup(test_read_reads_each_vector, prepare),
        cmocka_unit_test_setup(test_multiplications_stay_small, prepare),
        cmocka_unit_test_setup(test_norm, prepare),
        cmocka_unit_test_setup(test_sum_and_gate, prepare),
        cmocka_unit_test_setup(test_rotation, prepare),
        cmocka_unit_test_setup(test_quantisation, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
