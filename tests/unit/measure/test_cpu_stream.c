// SPDX-License-Identifier: MIT
/* Tests what the kernels of bandwidth move, for each set of instructions of this CPU. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "measure/cpu_job.h"
#include "measure/timing.h"

#define BYTES 300000
#define THREADS 3

/* Prepares a stream of so many arrays, whose first is set to zero, and makes one call of it. */
static void call(struct roof_cpu_job *job, enum roof_probe probe, int arrays, int isa)
{
    *job = (struct roof_cpu_job){.task = {.probe = probe, .bytes = BYTES},
                                 .features = {.isa = (enum roof_cpu_isa)isa}};
    assert_int_equal(roof_cpu_stream_begin(job, THREADS, NULL), ROOF_OK);
    /* The arrays have nearly all the bytes, and each is read or written once in a round. */
    assert_true(job->stride * arrays <= BYTES && job->stride * arrays > BYTES - 3 * 512);
    assert_true(job->repeats > 0);
    assert_near(job->amount, (double)(job->stride * arrays * job->repeats), 0);
    if (arrays > 1) {
        memset(job->data, 0, (size_t)job->stride);
    }
    for (size_t thread = 0; thread < THREADS; thread++) {
        job->share(job, thread, THREADS, 0);
    }
}

static void test_streams_move_their_bytes(void **state)
{
    struct roof_cpu_job job;
    (void)state;
    for (int isa = 0; isa <= (int)roof_cpu_features().isa; isa++) {
        call(&job, ROOF_PROBE_READ, 1, isa);
        free(job.data);
        call(&job, ROOF_PROBE_COPY, 2, isa);
        assert_memory_equal(job.data, job.data + job.stride, (size_t)job.stride);
        free(job.data);
        call(&job, ROOF_PROBE_TRIAD, 3, isa);
        const float *const a = (const float *)(const void *)job.data;
        const int64_t length = job.stride / (int64_t)sizeof(float);
        for (int64_t i = 0; i < length; i++) {
            assert_true(a[i] == a[i + length] + 0.5F * a[i + 2 * length]);
        }
        free(job.data);
    }
}

/* A level that is near every processor, and how often its rates are looked at. */
#define NEAR_BYTES ((int64_t)16 << 10)
#define LOOKS 15

/* Returns the bytes per second of one call of a job by one thread. */
static double rate_of(struct roof_cpu_job *job)
{
    const double start = roof_seconds();
    job->share(job, 0, 1, 0);
    return job->amount / (roof_seconds() - start);
}

/* A copy does more than a read, so a read that is far slower has more to do than reading. Both run
 * in turns, so that others disturb both, and the median of the ratios counts. */
static void test_a_read_is_not_slower_than_a_copy(void **state)
{
    struct roof_cpu_job job[2];
    (void)state;
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* other instructions than those of the kernels take the time */
#endif
    for (int isa = 0; isa <= (int)roof_cpu_features().isa; isa++) {
        double ratio[LOOKS];
        for (size_t i = 0; i < COUNT(job); i++) {
            job[i] = (struct roof_cpu_job){
                .task = {.probe = i == 0 ? ROOF_PROBE_READ : ROOF_PROBE_COPY, .bytes = NEAR_BYTES},
                .features = {.isa = (enum roof_cpu_isa)isa}};
            assert_int_equal(roof_cpu_stream_begin(&job[i], 1, NULL), ROOF_OK);
            (void)rate_of(&job[i]);
        }
        for (size_t look = 0; look < LOOKS; look++) {
            const double read = rate_of(&job[0]);
            ratio[look] = read / rate_of(&job[1]);
        }
        assert_true(roof_median(ratio, LOOKS) >= 0.5);
        free(job[0].data);
        free(job[1].data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_streams_move_their_bytes),
                                       cmocka_unit_test(test_a_read_is_not_slower_than_a_copy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
