// SPDX-License-Identifier: MIT
/** Records of a file: rows of CSV or lines of NDJSON, each of which is a question for one
 * prediction. docs/formats.md ("Records") has the columns. Bad records are reported and counted,
 * and reading continues. Memory does not grow with the number of records. */
#ifndef ROOF_DECIDE_RECORDS_H
#define ROOF_DECIDE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/field.h"
#include "decide/input.h"
#include "decide/named.h"
#include "predict/model_prediction.h"

/** The most bad records that are reported; all are counted. */
#define ROOF_RECORDS_BAD_SHOWN 20

/** The most columns in a file; in NDJSON, the most different keys. */
#define ROOF_RECORD_COLUMNS_MAX 256

/** The subjects that records may have. */
enum roof_records_kind {
    ROOF_RECORDS_OPERATORS,
    ROOF_RECORDS_MODELS,
    ROOF_RECORDS_BOTH /**< those with operator `model` are about models */
};

/** The measured values of a record. A model may have any of them, an operator only the first. */
enum roof_metric {
    ROOF_METRIC_TIME, /**< measured_us, for a step or a whole request */
    ROOF_METRIC_TTFT,
    ROOF_METRIC_TPOT,
    ROOF_METRIC_E2E,
    ROOF_METRIC_RATE, /**< tokens_per_s, stored as seconds per token */
    ROOF_METRIC_COUNT
};

/** The defaults for inputs that a record leaves out, and the callbacks of reading. */
struct roof_records_options {
    /** Borrowed while the records are open, like all pointers here; its `formats_said` are looked
     * up for the model of each record. */
    const struct roof_scenario *base;
    enum roof_records_kind kind;
    enum roof_operator op; /**< ROOF_OPERATOR_COUNT: each record names its own */
    const char *hardware;
    const char *model; /**< NULL: each record names its own */
    bool measured;     /**< a record without measured values is bad */
    void *context;     /**< context of the callbacks */
    /** Loads a model by its name, in the layout of its checkpoint (empty: none); *out is borrowed.
     * Every failure except ROOF_MEMORY is an error of the record. */
    enum roof_status (*load_model)(void *context, const struct roof_model **out, const char *name,
                                   const char *layout, struct roof_error *error);
    /** Finds the meaning of a name of formats for a model, if it is not a precision; *out is
     * borrowed until the next call. A name that is NULL means the formats of the checkpoint that
     * the name of the model means. The callback is NULL: records only have precisions. */
    enum roof_status (*formats)(void *context, const struct roof_named **out, const char *name,
                                const char *model, struct roof_error *error);
    /** Receives the error of a bad record, with its place; the record is counted and skipped. */
    void (*bad)(void *context, const struct roof_error *error);
    /** Called before and after more of the file is read, which may take long. Results so far may be
     * sent meanwhile. May be NULL. */
    void (*wait)(void *context, bool begins);
};

/** An open file, and its current record. The fields are read-only. */
struct roof_records {
    const char *name;          /**< of the input, for messages */
    int line;                  /**< of the record; before the first one, of the header */
    bool json;                 /**< NDJSON, whose columns may increase */
    uint64_t count;            /**< records so far, including bad ones */
    uint64_t bad;              /**< bad ones among them */
    const char *const *column; /**< names of the columns */
    const char *const *cell;   /**< texts of the record, valid until the next one is read */
    size_t columns;
    const struct roof_carried *carried; /**< columns that are neither inputs nor predictions */
    size_t carried_count;
    uint64_t dimensions;  /**< dimensions among the columns; bits (1 << dimension) */
    const char *hardware; /**< the device of the record */
    double measured_s[ROOF_METRIC_COUNT]; /**< set by roof_records_predict; NAN: none */
    /** The prediction for a model record (roof_records_predict); NULL for an operator. */
    const struct roof_model_prediction *model_prediction;
    const struct roof_scenario *asked; /**< the inputs of that record, without later defaults */
    double requests;     /**< completed in the benchmark behind that record; NAN: unknown */
    double request_rate; /**< at which they came; INFINITY: at once; NAN: a limit held them back */
    int derived_line;    /**< of the first record whose number of requests in flight comes from
                              Little's law; 0: none */
    double derived;      /**< that number */
    struct roof_records_private *private_data;
};

/** Opens a file, FIFO or device, or for "-" standard input, and reads up to its columns: a CSV
 * header, or the first good record of NDJSON, which begins with '{'. Names of inputs may have
 * another case, and - for _. ROOF_INVALID for a repeated input, and for a JSON array. An empty
 * file has no columns. Release with roof_records_close, even after a failure. */
enum roof_status roof_records_open(struct roof_records *out, const char *path,
                                   const struct roof_records_options *options,
                                   struct roof_error *error);
/** Tells whether there is a column with a name, or for the same input. */
bool roof_records_has(const struct roof_records *records, const char *column);
/** Returns the name of the column of a metric, "ttft_ms". */
const char *roof_metric_key(enum roof_metric metric);
/** Tells whether there is a column for a metric. */
bool roof_records_measure(const struct roof_records *records, enum roof_metric metric);
/** Returns the text of the record for a metric; empty if there is none. */
const char *roof_records_measured_text(const struct roof_records *records, enum roof_metric metric);
/** Reads the next record that can be split into cells; *more is false at the end. */
enum roof_status roof_records_next(struct roof_records *records, bool *more,
                                   struct roof_error *error);
/** Predicts the record on a device, with the achieved rates if it has a measured time; *out is in
 * `records` until the next call, and in its model_prediction for a model. Every failure except
 * ROOF_MEMORY is an error of the record, which the caller passes to roof_records_refuse. */
enum roof_status roof_records_predict(const struct roof_prediction **out,
                                      struct roof_records *records,
                                      const struct roof_hardware *hardware,
                                      struct roof_error *error);
/** Counts the record as bad and reports it, with its place unless the error has one. */
void roof_records_refuse(struct roof_records *records, const struct roof_error *why);
/** Returns the likely intended name of a carried column; NULL if no name is similar. */
const char *roof_records_meant(const struct roof_records *records, const char *carried);
/** Returns the unit of time of the intended column ("microseconds") if the name ends in another
 * one; NULL: nothing must be converted. */
const char *roof_records_unit(const char *carried, const char *meant);
/** Tells whether a name is a word for a time, with or without a unit: "latency", "time_ms". */
bool roof_records_is_time(const char *carried);
void roof_records_close(struct roof_records *records);

#endif
