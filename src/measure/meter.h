// SPDX-License-Identifier: MIT
/*
 * The table of backends that measure a device, and what they exchange with the rest of this floor.
 *
 * A backend only knows how to run a kernel. The rules of measuring (warm runs, medians, noise,
 * repeats) are those of measure/timing.h, the choice of what is measured is that of
 * measure/suite.h, and what comes of it is written by measure/rows.h; they are common to all
 * backends.
 *
 * A backend must
 *   - be one `const struct roof_meter` in its own file, declared below and listed in meter.c;
 *   - need nothing of a vendor's to build: it loads libraries when it is opened, and reports what
 * is missing as ROOF_IO in one line;
 *   - fill the buffers of a task with random data in [-1, 1], or random bits of a block format
 * whose scales are finite;
 *   - touch more than three times the last-level cache between two uses of the same data where the
 *     task is cold (task.workload.cache, or the probe's level);
 *   - queue a sample behind a blocked stream, or run it between two barriers: no synchronisation
 *     per call;
 *   - leave nothing behind when a call fails: after an error of begin the task is not begun.
 */
#ifndef ROOF_MEASURE_METER_H
#define ROOF_MEASURE_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "operator/operator.h"

/* The kinds of tasks: operators, which compare reads, and probes, from which the figures of a
 * device come. */
enum roof_probe {
    ROOF_PROBE_OPERATOR,    /* the workload of the task: a row that compare reads */
    ROOF_PROBE_READ,        /* sums up `bytes` bytes */
    ROOF_PROBE_COPY,        /* reads half of `bytes` and writes the other half */
    ROOF_PROBE_TRIAD,       /* a = b + s c: reads two thirds of `bytes` and writes one */
    ROOF_PROBE_MULTIPLY,    /* multiplications and additions of `format` in registers */
    ROOF_PROBE_LAUNCH,      /* a kernel, or a fork and join of the threads, that does nothing */
    ROOF_PROBE_TO_DEVICE,   /* copies `bytes` bytes from the host to the device */
    ROOF_PROBE_FROM_DEVICE, /* copies them back */
    ROOF_PROBE_COUNT
};

/* One thing to time. A member that the probe does not use is zero. */
struct roof_meter_task {
    enum roof_probe probe;
    int64_t bytes;               /* of all but multiply and launch: how many are touched per call */
    enum roof_precision format;  /* multiply */
    enum roof_compute_unit unit; /* multiply: the matrix or the vector unit */
    struct roof_workload workload; /* operator: resolved (roof_workload_resolve) */
};

/* An operator of a step of a model: a task that runs several times, each time on weights, or on a
 * cache of keys and values, of its own. */
struct roof_meter_part {
    struct roof_meter_task task;
    int64_t runs;
};

/* A step: its operators, and the order in which they run one after another. */
struct roof_meter_step {
    const struct roof_meter_part *part;
    size_t count;
    const size_t *order; /* the part of each run */
    size_t runs;
};

/* The state of a device at one moment. Unknown figures are NAN. */
struct roof_meter_clocks {
    double sm_hz;         /* the clock of the units that compute */
    double power_w;       /* drawn now */
    double temperature_c; /* of the chip */
    bool throttled;       /* slowed down for heat or power */
};

/* One measured task: a row of rows.csv or of probes.csv. */
struct roof_meter_row {
    struct roof_meter_task task;
    double time_s; /* median time of a call */
    double noise;  /* median absolute deviation over the median */
    bool noisy; /* noise stayed above ROOF_NOISE_MAX after all repeats, or others had the processors
                   for a part of the time, or two looks at the task differ */
    bool earlier;                    /* an earlier run measured it */
    double amount;                   /* bytes or FLOPs of a call of a probe; 0 for operators */
    struct roof_meter_clocks clocks; /* means of before and after the samples */
};

/* The levels of the memory of a device, nearest first; the last is the memory itself. */
#define ROOF_LEVELS_MAX 6
struct roof_meter_level {
    char name[8];  /* "L1", "L2", "L3", "memory" */
    int64_t bytes; /* of all units that measure, together; 0: unknown */
};

#define ROOF_METER_TEXT 96
#define ROOF_METER_LACKS 256
/* The figures that a backend knows of the device without timing anything. */
struct roof_meter_device {
    char name[ROOF_METER_TEXT];         /* "AMD EPYC 9654, 2 threads" */
    char vendor[ROOF_METER_TEXT];       /* "" if unknown, like architecture and software */
    char architecture[ROOF_METER_TEXT]; /* the key of families in data/calibration: "CPU (AVX-512)"
                                         */
    char software[ROOF_METER_TEXT];     /* libraries that run kernels, with versions */
    char lacks[ROOF_METER_LACKS];       /* why products are left out; "": they are not */
    double units;                       /* threads that measure, or SMs */
    double clock_hz;                    /* the highest; NAN if unknown */
    double memory_bytes;                /* that software can use; NAN if unknown */
    double tdp_w;                       /* NAN if unknown */
    int devices;                        /* that collectives can run on; less than 2: none run */
    char alone[ROOF_METER_LACKS];       /* why none run though there are several; "": else */
    char no_sensors[ROOF_METER_LACKS]; /* why clock, power and temperature of a GPU are unknown; "":
                                          they are known */
    char no_prefill[ROOF_METER_LACKS]; /* why a GPU has no attention of a prefill; "": else */
    char no_amx[ROOF_METER_LACKS]; /* why a CPU's tiles are not used though it has them; "": else */
    struct roof_meter_level level[ROOF_LEVELS_MAX];
    size_t level_count;
    bool host; /* a CPU: kernels convert the inputs of block formats to 8-bit integers */
};

struct roof_meter_options {
    int64_t index;   /* which device of its kind, from 0 */
    int64_t threads; /* CPU: how many threads measure; 0: one per core */
    bool shared;     /* a device that others use is measured, too */
};

/* An opened device; each backend has its own struct of this name. */
struct roof_bench;

/* A backend. Calls come from one thread. */
struct roof_meter {
    const char *name;    /* as in the key `device`: "cpu", "cuda", "hip" */
    const char *formats; /* of weights, which are measured where none are asked for */
    /* Finds the device and its libraries. ROOF_IO if there is none, with the name of what is
     * missing. On success the caller closes *out. */
    enum roof_status (*open)(struct roof_bench **out, const struct roof_meter_options *options,
                             struct roof_error *error);
    /* Refuses, with ROOF_IO, an opened device on which others compute or that is a part of one,
     * because they would change its times. NULL: the backend times only its own work. */
    enum roof_status (*check)(const struct roof_bench *bench, struct roof_error *error);
    /* Describes the device; never fails, because open has found it. */
    void (*describe)(struct roof_meter_device *out, const struct roof_bench *bench);
    /* Tells if begin can run the task: formats and operators that the device or its libraries lack
     * are left out of the suite. */
    bool (*able)(const struct roof_bench *bench, const struct roof_meter_task *task);
    /* Prepares one task: buffers, data, the choice of the fastest algorithm; *amount becomes the
     * bytes or FLOPs of one call of a probe. One task is begun at a time. */
    enum roof_status (*begin)(double *amount, struct roof_bench *bench,
                              const struct roof_meter_task *task, struct roof_error *error);
    /* Runs the task for 1 ms to 20 ms, or once if that takes longer; *seconds becomes the time of
     * one call. */
    enum roof_status (*sample)(double *seconds, struct roof_bench *bench, struct roof_error *error);
    /* Returns the share of the last sample in which it waited, because others used the processors;
     * 0 if the time of the sample does not include that. NULL: no others run there. */
    double (*waited)(const struct roof_bench *bench);
    /* Releases what begin made. */
    void (*end)(struct roof_bench *bench);
    /* Returns the bytes that data of a step may take. */
    double (*room)(const struct roof_bench *bench);
    /* Prepares a step; no task is begun meanwhile. After an error the step is not begun. */
    enum roof_status (*step_begin)(struct roof_bench *bench, const struct roof_meter_step *step,
                                   struct roof_error *error);
    /* Runs the step once; *seconds becomes its time, and each[i] that of one run of part i. */
    enum roof_status (*step_sample)(double *seconds, double *each, struct roof_bench *bench,
                                    struct roof_error *error);
    /* Releases what step_begin made. */
    void (*step_end)(struct roof_bench *bench);
    /* Reads clocks, power and temperature; what cannot be read is NAN. */
    void (*clocks)(struct roof_meter_clocks *out, struct roof_bench *bench);
    /* Returns the seconds that the device worked for the last sample. NULL: energy is never known.
     */
    double (*busy)(const struct roof_bench *bench);
    /* Returns the joules that the device has used since a fixed moment; NAN if it has no counter.
     */
    double (*energy)(struct roof_bench *bench);
    /* Releases all. Accepts NULL. */
    void (*close)(struct roof_bench *bench);
};

extern const struct roof_meter roof_meter_cuda;
extern const struct roof_meter roof_meter_hip;
extern const struct roof_meter roof_meter_cpu;

/* Returns the backends in the order in which they are tried: GPUs before the CPU. */
const struct roof_meter *const *roof_meters(size_t *count);

/* Finds the backend of "cpu", "cuda" or "cuda:1", and the index behind the colon; ROOF_USAGE names
 * the backends that there are. NULL as text: the first backend that opens is to be taken, and *out
 * becomes NULL. */
enum roof_status roof_meter_find(const struct roof_meter **out, int64_t *index, const char *text,
                                 struct roof_error *error);

#endif
