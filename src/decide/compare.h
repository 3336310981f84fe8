// SPDX-License-Identifier: MIT
/**
 * Measured times against predictions: a file of CSV or NDJSON row by row (records.h), and error
 * statistics by group. docs/formats.md ("Measured rows") has the columns.
 */
#ifndef ROOF_DECIDE_COMPARE_H
#define ROOF_DECIDE_COMPARE_H

#include <stddef.h>

#include "decide/input.h"
#include "decide/records.h"
#include "predict/model_prediction.h"

/** One row of the file, predicted. */
struct roof_compared {
    const char *const *column; /**< names in the header */
    const char *const *cell;   /**< as in the file; borrowed until the callback returns */
    size_t cells;
    int line;
    int64_t count; /**< number of runs: the column `count` if that is read, else 1 */
    const struct roof_hardware *hardware;
    const struct roof_prediction *prediction;             /**< of a model: its total */
    const struct roof_model_prediction *model_prediction; /**< NULL: an operator */
    const struct roof_scenario *asked; /**< the inputs of a model, without later defaults */
    double requests;                   /**< completed in the benchmark of the row; NAN: unknown */
    double request_rate; /**< at which they came; INFINITY: at once; NAN: a limit held them back */
    bool shared;         /**< the first token or the end of one among several requests, for whose
                              prompts it may have waited */
    bool repeated;       /**< a rate of a row that also has the time per token */
    bool metrics;        /**< the file has measured values other than measured_us */
    enum roof_metric which; /**< was measured */
    const char *metric;     /**< its key: "ttft_ms" */
    double measured_s;      /**< for a rate the time of a token, like the times below */
    double time_s;          /**< the roofline bound */
    double expected_s;      /**< NAN: no estimate; so is the band */
    double low_s;
    double high_s;
};

/** The functions that a comparison calls. */
struct roof_compare_calls {
    void *context;
    bool counts; /**< the column `count` is read; else it is like any that nothing reads */
    /** Finds a device by the name in the file; it is borrowed, and must outlive the comparison. For
     * ROOF_UNSATISFIED the row is skipped and counted; another error ends the comparison. */
    enum roof_status (*hardware)(void *context, const struct roof_hardware **out, const char *name,
                                 struct roof_error *error);
    /** Finds a model in the same way, in the layout of its checkpoint that the row names (empty:
     * none); a row with an error is a bad one. */
    enum roof_status (*model)(void *context, const struct roof_model **out, const char *name,
                              const char *layout, struct roof_error *error);
    /** Finds what a name of formats stands for, as struct roof_records_options has it. */
    enum roof_status (*formats)(void *context, const struct roof_named **out, const char *name,
                                const char *model, struct roof_error *error);
    /** Takes the header, once, before the rows, and if metrics are told apart. May be NULL. */
    enum roof_status (*header)(void *context, const char *const *column, size_t columns,
                               bool metrics, struct roof_error *error);
    /** Receives each row of a file with metrics before it is predicted, when the base of the
     * comparison may still change. May be NULL. */
    void (*begin)(void *context, const struct roof_records *records);
    /** Takes a measured value of a row that was predicted. May be NULL. */
    enum roof_status (*row)(void *context, const struct roof_compared *row,
                            struct roof_error *error);
    /** Receives the columns when all rows are read. May be NULL. */
    enum roof_status (*end)(void *context, const struct roof_records *records,
                            struct roof_error *error);
    /** Receives an invalid row, which is counted and left out. */
    void (*bad)(void *context, const struct roof_error *error);
};

/** Returns the expected time of a model that is compared with a metric: of a step or a request. */
double roof_compared_expected(const struct roof_model_prediction *model_prediction,
                              enum roof_metric metric);

/** Statistics of a group of rows. Errors are fractions of the measured time; NAN if no row has the
 * values that they need. */
struct roof_compare_group {
    const char *const *value; /**< of the columns that form the group; owned by the comparison */
    size_t rows;
    size_t skipped;             /**< rows without a prediction: bad, or on an unknown device */
    double ideal_mape;          /**< mean of |time / measured - 1| */
    double expected_mape;       /**< mean of |expected / measured - 1| */
    double expected_median_ape; /**< half of the rows are nearer */
    double expected_p90_ape;    /**< nine tenths are */
    double expected_bias;       /**< mean of expected / measured - 1: above 0 too long */
    double band_coverage;       /**< fraction of rows between expected_low and expected_high */
    double below_ideal;         /**< fraction of rows measured faster than the bound */
};

struct roof_comparison {
    bool metrics;              /**< metrics are told apart: the last column of the groups */
    const char *const *column; /**< that form the groups; owned */
    size_t columns;
    struct roof_compare_group overall;
    struct roof_compare_group *group; /**< in order of appearance; owned */
    size_t groups;
    uint64_t bad;         /**< rows left out as invalid */
    int fastest_line;     /**< line of the row furthest below its bound; 0: none is below */
    double fastest;       /**< its bound divided by its measured time */
    double fastest_bound; /**< its bound, in seconds */
    void *private_data;
};

/**
 * Reads path row by row ("-": standard input). The keys of the first record are the columns of
 * NDJSON. base, hardware and model (which may be NULL) supply values that the columns lack;
 * group_by is "column,column" or NULL. ROOF_INVALID when the header has no operator and no model,
 * or no measured value; bad rows only count. On success the caller owns *out: roof_comparison_free.
 */
enum roof_status roof_compare(struct roof_comparison *out, const char *path,
                              const struct roof_scenario *base, const char *hardware,
                              const char *model, const char *group_by,
                              const struct roof_compare_calls *calls, struct roof_error *error);
void roof_comparison_free(struct roof_comparison *comparison);

/** Tells whether a name has the extension of a file of rows, which no model has. */
bool roof_compare_is_file(const char *name);
/** Tells whether a name has an extension of rows or of JSON, as results of benchmarks have. */
bool roof_compare_is_result(const char *name);
/** Refuses a second file, with the way to join it with the first one (ROOF_USAGE). */
enum roof_status roof_compare_refuse_second(const char *file, const char *second,
                                            struct roof_error *error);

#endif
