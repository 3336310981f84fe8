// SPDX-License-Identifier: MIT
/* Threads for a module that has none: locks do nothing, and no thread can be created, so that
 * callers do the work themselves. */
#ifndef ROOF_PAGE_WASI_PTHREAD_H
#define ROOF_PAGE_WASI_PTHREAD_H

#include <stddef.h>

typedef int pthread_t;
typedef int pthread_attr_t;
typedef int pthread_mutex_t;
typedef int pthread_cond_t;

#define PTHREAD_MUTEX_INITIALIZER 0
#define pthread_mutex_init(mutex, attributes) ((void)(mutex), 0)
#define pthread_mutex_destroy(mutex) ((void)(mutex), 0)
#define pthread_mutex_lock(mutex) ((void)(mutex), 0)
#define pthread_mutex_unlock(mutex) ((void)(mutex), 0)
#define pthread_cond_init(condition, attributes) ((void)(condition), 0)
#define pthread_cond_destroy(condition) ((void)(condition), 0)
#define pthread_cond_wait(condition, mutex) ((void)(condition), (void)(mutex), 0)
#define pthread_cond_signal(condition) ((void)(condition), 0)
#define pthread_cond_broadcast(condition) ((void)(condition), 0)
#define pthread_self() ((pthread_t)0)
#define pthread_equal(one, other) ((one) == (other))
#define pthread_attr_init(attributes) (*(attributes) = 0)
#define pthread_attr_destroy(attributes) ((void)(attributes), 0)
#define pthread_attr_setstacksize(attributes, size) ((void)(attributes), (void)(size), 0)

static inline int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                 void *(*work)(void *), void *context)
{
    (void)thread;
    (void)attributes;
    (void)work;
    (void)context;
    return -1;
}

static inline int pthread_join(pthread_t thread, void **result)
{
    (void)thread;
    (void)result;
    return 0;
}

#endif
