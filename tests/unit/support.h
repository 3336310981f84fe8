// SPDX-License-Identifier: MIT
/* The unit tests share this: cmocka, devices, among them one whose figures make mental arithmetic,
 * and random numbers. */
#ifndef ROOF_TESTS_SUPPORT_H
#define ROOF_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../library.h"

/*
 * 100 GB/s; matrix units: fp16 1 TFLOP/s (ridge point 10), fp8 2, int8 2, nvfp4 4; vector units:
 * fp32 0.1 TFLOP/s (ridge point 1). Two devices per node, 10 GB/s inside, 1 GB/s between nodes.
 */
#define SYNTHETIC                                                                                  \
    "{\"id\": \"synthetic\", \"bandwidth_gb_s\": 100,"                                             \
    " \"peak_tflops\": {\"fp16\": 1, \"fp8\": 2, \"int8\": 2, \"nvfp4\": 4},"                      \
    " \"sparse_tflops\": {\"fp16\": 2},"                                                           \
    " \"vector_tflops\": {\"fp32\": 0.1},"                                                         \
    " \"devices_per_node\": 2, \"link_gb_s\": 10, \"network_gb_s\": 1}"

/* Checks what refused case number i of a test, and in which line. */
static inline void check_refusal(size_t i, const struct roof_error *error, const char *message,
                                 int line)
{
    if (strstr(error->message, message) == NULL || error->line != line) {
        fail_msg("case %zu: line %d: %s", i, error->line, error->message);
    }
}

static inline struct roof_hardware *parse_device(const char *json)
{
    struct roof_hardware *hardware = NULL;
    struct roof_error error = {0};
    const enum roof_status status =
        roof_hardware_parse(&hardware, json, strlen(json), "test.json", &error);
    if (status != ROOF_OK) {
        fail_msg("%d:%d: %s", error.line, error.column, error.message);
    }
    return hardware;
}

static inline struct roof_hardware *load_device(const char *id)
{
    struct roof_hardware *hardware = NULL;
    struct roof_error error = {0};
    if (roof_hardware_load(&hardware, id, NULL, &error) != ROOF_OK) {
        fail_msg("%s: %s", id, error.message);
    }
    return hardware;
}

/* A built-in device with its own parameters; free_calibrated releases both. */
static inline struct roof_hardware *load_calibrated(const char *id)
{
    struct roof_hardware *const hardware = load_device(id);
    struct roof_error error = {0};
    if (roof_hardware_calibrate(hardware, NULL, NULL, &error) != ROOF_OK) {
        fail_msg("%s: %s", id, error.message);
    }
    assert_non_null(hardware->calibration);
    return hardware;
}

static inline void free_calibrated(struct roof_hardware *hardware)
{
    roof_hardware_free(hardware);
}

static inline struct roof_workload workload(enum roof_operator op, struct roof_shape shape)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = op;
    w.shape = shape;
    return w;
}

/* A test that draws sets it first. */
static uint64_t random_state;

/* xorshift64 */
static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* low..high */
static inline int64_t pick(int64_t low, int64_t high)
{
    const uint64_t bits = random_bits();
    return high <= low ? low : low + (int64_t)(bits % (uint64_t)(high - low + 1));
}

/* |got - expected| <= relative * |expected| */
#define assert_near(got, expected, relative)                                                       \
    do {                                                                                           \
        const double got_ = (got);                                                                 \
        const double expected_ = (expected);                                                       \
        const double off_ = got_ > expected_ ? got_ - expected_ : expected_ - got_;                \
        const double size_ = expected_ < 0 ? -expected_ : expected_;                               \
        if (!(off_ <= (relative)*size_)) {                                                         \
            fail_msg("%s is %.17g, expected %.17g", #got, got_, expected_);                        \
        }                                                                                          \
    } while (0)

/* |got - expected| <= difference */
#define assert_around(got, expected, difference)                                                   \
    do {                                                                                           \
        const double got_ = (double)(got);                                                         \
        const double expected_ = (double)(expected);                                               \
        const double off_ = got_ > expected_ ? got_ - expected_ : expected_ - got_;                \
        if (!(off_ <= (double)(difference))) {                                                     \
            fail_msg("%s is %.17g, expected %.17g", #got, got_, expected_);                        \
        }                                                                                          \
    } while (0)

#endif
