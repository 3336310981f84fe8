// SPDX-License-Identifier: MIT
/*
 * Planted GPUs: the fake drivers beside this file play them by these variables.
 *
 *   FAKE_GPUS=N            how many there are (default 1)
 *   FAKE_POWER=W,W,...     power at the first, second, ... sample; the last one stays (default 250)
 *   FAKE_COUNTER=J,J,...   the energy counter in the same way; without it there is none
 *   FAKE_CLOCK=MHZ,...     the clock of the SMs in the same way (default 1500)
 *   FAKE_THROTTLE=BITS,... the reasons in the same way (default 0)
 *   FAKE_FAIL=CALL:STATUS:K[:DEVICE]  the call fails with the status from the K-th sample on (from
 *                          0), of one device or of all
 *   FAKE_TURN=K            the K-th call of all libraries together fails, from 1: then this is 0,
 * and FAKE_TURN_CALL names the call
 */
#ifndef ROOF_TESTS_FAKE_H
#define ROOF_TESTS_FAKE_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_GPUS_MAX 32

/* Calls of one function, for each device. */
struct fake_count {
    long calls[FAKE_GPUS_MAX];
};

/* Returns an item of the list in a variable: that of the index, or the last one. */
static inline double fake_item(const char *variable, long index, double otherwise)
{
    const char *text = getenv(variable);
    double value = otherwise;
    for (long i = 0; text != NULL && *text != '\0' && i <= index; i++) {
        char *end = NULL;
        value = strtod(text, &end);
        text = *end == ',' ? end + 1 : NULL;
    }
    return value;
}

static inline int fake_gpus(void)
{
    return (int)fake_item("FAKE_GPUS", 0, 1);
}

/* Declares a function of the interface and starts its definition. */
#define CALL(name, ...)                                                                            \
    int name(__VA_ARGS__);                                                                         \
    int name(__VA_ARGS__)

/* Tells on standard error, at the end of the process, that a count is not 0. */
#define FAKE_TELL_LEFT(count_, format_)                                                            \
    __attribute__((destructor)) static void tell_left(void)                                        \
    {                                                                                              \
        if ((count_) != 0) {                                                                       \
            (void)fprintf(stderr, format_ "\n", (long)(count_));                                   \
        }                                                                                          \
    }

/* The name of a call of the interface that is played. */
#define TEXT(name_) #name_
#define NAME(name_) TEXT(name_)

/* No library has a name for this status. */
#define FAKE_TURN_STATUS 99

static inline int fake_turn(const char *call)
{
    const char *const text = getenv("FAKE_TURN");
    const long turn = text == NULL ? 0 : strtol(text, NULL, 10);
    char digits[24];
    if (turn <= 0) {
        return 0;
    }
    (void)snprintf(digits, sizeof digits, "%ld", turn - 1);
    (void)setenv("FAKE_TURN", digits, 1);
    if (turn > 1) {
        return 0;
    }
    (void)setenv("FAKE_TURN_CALL", call, 1);
    return FAKE_TURN_STATUS;
}

/* Returns the status that a call, or a part of one, is asked to fail with; 0: none. */
static inline int fake_asked(const char *call, long index, int device)
{
    const char *const text = getenv("FAKE_FAIL");
    const size_t length = strlen(call);
    if (text == NULL || strncmp(text, call, length) != 0 || text[length] != ':') {
        return 0;
    }
    char *end = NULL;
    const long status = strtol(text + length + 1, &end, 10);
    const long from = *end == ':' ? strtol(end + 1, &end, 10) : 0;
    const long only = *end == ':' ? strtol(end + 1, &end, 10) : -1;
    return index >= from && (only < 0 || only == device) ? (int)status : 0;
}

/* Returns the status that a call of a device is to fail with; 0: none. */
static inline int fake_failure(const char *call, long index, int device)
{
    const int asked = fake_asked(call, index, device);
    return asked != 0 ? asked : fake_turn(call);
}

/* Returns from a function that is to fail. */
#define FAKE_MAY_FAIL(call_)                                                                       \
    do {                                                                                           \
        static long calls_;                                                                        \
        const int failed_ = fake_failure(call_, calls_++, 0);                                      \
        if (failed_ != 0) {                                                                        \
            return failed_;                                                                        \
        }                                                                                          \
    } while (0)

/* Finds a function of a fake driver and puts its pointer where `function` points to; NULL if the
 * driver is not open. */
static inline void fake_find(void *function, const char *driver, const char *name)
{
    void *const library = dlopen(driver, RTLD_NOW | RTLD_NOLOAD);
    void *const found = library == NULL ? NULL : dlsym(library, name);
    memcpy(function, &found, sizeof found);
    if (library != NULL) {
        (void)dlclose(library);
    }
}

#endif
