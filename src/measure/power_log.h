// SPDX-License-Identifier: MIT
/* Reads samples of GPUs from a log: what nvidia-smi prints with --query-gpu and --format=csv, or
 * the rows of our own monitor. */
#ifndef ROOF_MEASURE_POWER_LOG_H
#define ROOF_MEASURE_POWER_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/csv.h"
#include "measure/sample.h"

/* The values of a row that the log may have a column for. */
enum roof_log_value {
    ROOF_LOG_DATE,
    ROOF_LOG_SECONDS,
    ROOF_LOG_INDEX,
    ROOF_LOG_IDENTITY,
    ROOF_LOG_NAME,
    ROOF_LOG_POWER,
    ROOF_LOG_SM,
    ROOF_LOG_MEMORY_CLOCK,
    ROOF_LOG_TEMPERATURE,
    ROOF_LOG_PERCENT,
    ROOF_LOG_SHARE,
    ROOF_LOG_MEBIBYTES,
    ROOF_LOG_BYTES,
    ROOF_LOG_REASONS,
    ROOF_LOG_THROTTLE,
    ROOF_LOG_COUNT
};

/* A log that is read; its rows are of at most ROOF_GPUS_MAX devices. */
struct roof_power_log {
    struct roof_csv csv;
    size_t named[ROOF_LOG_COUNT];   /* which of its names the column of a value has */
    int column[ROOF_LOG_COUNT];     /* -1: there is none */
    char first[ROOF_GPU_NAME_SIZE]; /* the first name in the header, which may stand there again */
    int64_t rows;
    double begin_s; /* of the first row, since 1970 or since what the log counts from */
    double until_s[ROOF_GPUS_MAX]; /* the last row of each device, since begin_s; NAN: none */
    char name[ROOF_GPUS_MAX][ROOF_GPU_NAME_SIZE];
    char identity[ROOF_GPUS_MAX][ROOF_GPU_NAME_SIZE];
    int identities;
};

/* Opens a log and reads its header. The caller closes it with roof_power_log_close, also after a
 * failure. */
enum roof_status roof_power_log_open(struct roof_power_log *out, const char *path,
                                     struct roof_error *error);
/* Reads the next row; *more is false at the end. ROOF_INVALID for a row that is bad; the next call
 * goes on behind it. */
enum roof_status roof_power_log_read(struct roof_power_log *log, struct roof_sample *out,
                                     bool *more, struct roof_error *error);
void roof_power_log_close(struct roof_power_log *log);

#endif
