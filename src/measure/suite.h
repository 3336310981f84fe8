// SPDX-License-Identifier: MIT
/* The suite: what is measured of a device, in which order, and within which time. */
#ifndef ROOF_MEASURE_SUITE_H
#define ROOF_MEASURE_SUITE_H

#include "measure/meter.h"

/* The formats of weights that products are measured in. */
#define ROOF_SUITE_FORMATS_MAX 8
struct roof_suite_formats {
    enum roof_precision format[ROOF_SUITE_FORMATS_MAX];
    size_t count;
};

/* The energy of work (docs/formulas.md, "Power") is known where constant_w is; a format that did
 * not run has NAN. */
struct roof_power_term {
    double idle_w;     /* drawn before the first kernel */
    double constant_w; /* drawn whatever the device does */
    double byte_j;     /* per byte of device memory */
    double flop_j[ROOF_PRECISION_COUNT];
    size_t rows;  /* kernels that ran for it; 0: none did */
    double error; /* mean of |fitted / measured - 1| of them; known without the figures where it is
                     too large for them */
};

/* Everything that was measured of a device. */
struct roof_measured {
    struct roof_meter_device device;
    struct roof_power_term power;
    struct roof_meter_row *row; /* owned, in the order of the suite */
    size_t count;
    size_t planned; /* tasks of the suite that the device can run */
    double took_s;
};

/* The calls that a run makes to its caller; each may be NULL. */
struct roof_suite_calls {
    void *context;
    /* Is called after each task, with the rows so far. A status other than ROOF_OK ends the run. */
    enum roof_status (*measured)(void *context, const struct roof_measured *measured,
                                 struct roof_error *error);
    /* Is called between tasks; true ends the run with ROOF_OK, and what was measured stays. */
    bool (*stop)(void *context);
    /* Finds a row that an earlier run has measured; false: there is none. */
    bool (*known)(void *context, struct roof_meter_row *row, const struct roof_meter_task *task);
};

/* A product of the formats that kernels of the device have: on a CPU all convert the inputs of
 * weights up to 16 bits, on a GPU both operands have one format. */
struct roof_meter_task roof_suite_product(const struct roof_meter_device *device,
                                          enum roof_precision weights, int64_t m, int64_t n,
                                          int64_t k);
/* Tells if products with weights of a format are measured on an opened device. */
bool roof_suite_able(const struct roof_meter *meter, const struct roof_bench *bench,
                     enum roof_precision format);

/* A row is noisy where its samples waited for processors for more than this share of their time. */
#define ROOF_WAITED_MAX 0.1
/* Two looks at a rate that differ by more than this share make it noisy. */
#define ROOF_LOOKS_MAX 0.05

/* Measures an opened device for about so many seconds: the probes first, then operators, the most
 * telling ones first. The rates that bounds are made of are looked at again at the end, and the
 * faster look counts: others only slow a rate down. The energy of work stays unknown
 * (measure/power.h finds it). The caller owns the content of *out: roof_measured_free, also after a
 * failure. */
enum roof_status roof_suite_run(struct roof_measured *out, const struct roof_meter *meter,
                                struct roof_bench *bench, const struct roof_suite_formats *formats,
                                double seconds, const struct roof_suite_calls *calls,
                                struct roof_error *error);
void roof_measured_free(struct roof_measured *measured);

/* Returns the rate of the fastest probe of a kind over at least so many bytes, in bytes/s or
 * FLOP/s; NAN if none was measured. format matters to ROOF_PROBE_MULTIPLY alone. */
double roof_measured_rate(const struct roof_measured *measured, enum roof_probe probe,
                          int64_t bytes, enum roof_precision format);

/* The bytes of a probe of a level: half of a cache, or much more than all caches. */
int64_t roof_level_bytes(const struct roof_meter_device *device, size_t level);

#endif
