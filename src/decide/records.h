// SPDX-License-Identifier: MIT
/**
 * Records of a file: rows of CSV or lines of NDJSON, each of which asks for one prediction.
 * docs/formats.md ("Records") has the columns. A record is bad or good by itself: bad ones are told
 * and counted, and the next is read. Memory does not grow with the number of records.
 */
#ifndef ROOF_DECIDE_RECORDS_H
#define ROOF_DECIDE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/field.h"
#include "decide/input.h"
#include "decide/named.h"
#include "predict/model_prediction.h"

/** So many bad records are told of; all are counted. */
#define ROOF_RECORDS_BAD_SHOWN 20

/** Most columns of a file; of NDJSON, most different keys. */
#define ROOF_RECORD_COLUMNS_MAX 256

/** Says what the records may ask for. */
enum roof_records_kind {
    ROOF_RECORDS_OPERATORS,
    ROOF_RECORDS_MODELS,
    ROOF_RECORDS_BOTH /**< those with operator `model` ask for models */
};

/** The measured values that a record may have; a model has any of them, an operator the first. */
enum roof_metric {
    ROOF_METRIC_TIME, /**< measured_us, of a step or a whole request */
    ROOF_METRIC_TTFT,
    ROOF_METRIC_TPOT,
    ROOF_METRIC_E2E,
    ROOF_METRIC_RATE, /**< tokens_per_s, kept as the seconds of a token */
    ROOF_METRIC_COUNT
};

/** The inputs for all that a record leaves out, and the calls that reading makes. */
struct roof_records_options {
    /** Borrowed while the records are open, like all here; its `formats_said` are looked up for the
     * model of each record. */
    const struct roof_scenario *base;
    enum roof_records_kind kind;
    enum roof_operator op; /**< ROOF_OPERATOR_COUNT: each record names its own */
    const char *hardware;
    const char *model; /**< NULL: each record names its own */
    bool measured;     /**< a record without a measured value is bad */
    void *context;     /**< of the calls */
    /** Loads a model by its name, in the layout of its checkpoint (empty: none); *out is
     * borrowed. Every failure except ROOF_MEMORY is a fault of the record. */
    enum roof_status (*load_model)(void *context, const struct roof_model **out, const char *name,
                                   const char *layout, struct roof_error *error);
    /** Finds what a name of formats that is no precision stands for with a model; *out is borrowed
     * until the next call. NULL: records have precisions alone. */
    enum roof_status (*formats)(void *context, const struct roof_named **out, const char *name,
                                const char *model, struct roof_error *error);
    /** Is told of a record that is not what it should be, with its place; the record is counted
     * and left out. */
    void (*bad)(void *context, const struct roof_error *error);
    /** Is told when more of the file is read, which may take long, and when that has ended. Results
     * of the records so far may be sent on meanwhile. May be NULL. */
    void (*wait)(void *context, bool begins);
};

/** An open file, and the record that was read last. Only read its fields. */
struct roof_records {
    const char *name;          /**< of the input, for messages */
    int line;                  /**< of the record, at first of the header */
    bool json;                 /**< NDJSON; its columns may become more */
    uint64_t count;            /**< records so far, bad ones included */
    uint64_t bad;              /**< of these */
    const char *const *column; /**< names */
    const char *const *cell;   /**< texts of the record; until the next one is read */
    size_t columns;
    const struct roof_carried *carried; /**< columns that are no input and not predicted */
    size_t carried_count;
    uint64_t dimensions;                  /**< among the columns; bits (1 << dimension) */
    const char *hardware;                 /**< the device of the record */
    double measured_s[ROOF_METRIC_COUNT]; /**< with roof_records_predict; NAN: none */
    /** The prediction of a record of a model (roof_records_predict); NULL for an operator. */
    const struct roof_model_prediction *model_prediction;
    struct roof_records_private *private_data;
};

/**
 * Opens a file, FIFO or device, or for "-" standard input, and reads what says its columns: a CSV
 * header, or up to the first good record of NDJSON, which is what begins with '{'. Names of inputs
 * may have another case, and - for _. ROOF_INVALID for an input that stands twice, and for a JSON
 * array. An empty file has no columns. Release with roof_records_close, also
 * after a failure.
 */
enum roof_status roof_records_open(struct roof_records *out, const char *path,
                                   const struct roof_records_options *options,
                                   struct roof_error *error);
/** Tells if there is a column of that name, or one that comes to the same input. */
bool roof_records_has(const struct roof_records *records, const char *column);
/** Returns the name of the column of a metric, "ttft_ms". */
const char *roof_metric_key(enum roof_metric metric);
/** Tells if there is a column of a metric. */
bool roof_records_measure(const struct roof_records *records, enum roof_metric metric);
/** Reads the next record that can be told apart into cells; *more is false at the end. */
enum roof_status roof_records_next(struct roof_records *records, bool *more,
                                   struct roof_error *error);
/**
 * Predicts the record on a device, with what it achieved in a measured time; *out lies in records
 * until the next call, and in its model_prediction for a model. Every failure except ROOF_MEMORY is
 * a fault of the record, which roof_records_refuse then counts.
 */
enum roof_status roof_records_predict(const struct roof_prediction **out,
                                      struct roof_records *records,
                                      const struct roof_hardware *hardware,
                                      struct roof_error *error);
/** Counts the record as a bad one and tells so, with its place unless the error has one. */
void roof_records_refuse(struct roof_records *records, const struct roof_error *why);
/** Returns the column that a carried one may be meant for; NULL when no name is like its own. */
const char *roof_records_meant(const struct roof_records *records, const char *carried);
void roof_records_close(struct roof_records *records);

#endif
