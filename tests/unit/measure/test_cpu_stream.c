// SPDX-License-Identifier: MIT
/* Tests what the kernels of bandwidth move, for each set of instructions of this CPU. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "measure/cpu_job.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_streams_move_their_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
