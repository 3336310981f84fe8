// SPDX-License-Identifier: MIT
/* The measured values of a record, and the request behind the result of a serving benchmark. */
#include "decide/record_measured.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

/* --- measured values ----------------------------------------------------------------------- */

static const struct metric {
    const char *key;
    enum roof_column_role role;
    enum roof_unit unit;
    bool rate;   /* tokens per second, whose inverse is stored */
    double most; /* largest value, in the unit of the key */
} metrics[ROOF_METRIC_COUNT] = {
    [ROOF_METRIC_TIME] = {"measured_us", ROOF_COLUMN_MEASURED, ROOF_UNIT_MICROSECONDS, false, 1e15},
    [ROOF_METRIC_TTFT] = {"ttft_ms", ROOF_COLUMN_TTFT, ROOF_UNIT_MILLISECONDS, false, 1e12},
    [ROOF_METRIC_TPOT] = {"tpot_ms", ROOF_COLUMN_TPOT, ROOF_UNIT_MILLISECONDS, false, 1e12},
    [ROOF_METRIC_E2E] = {"e2e_ms", ROOF_COLUMN_E2E, ROOF_UNIT_MILLISECONDS, false, 1e12},
    [ROOF_METRIC_RATE] = {"tokens_per_s", ROOF_COLUMN_RATE, ROOF_UNIT_NONE, true, 1e12},
};

const char *roof_metric_key(enum roof_metric metric)
{
    return metrics[metric].key;
}

bool roof_records_measure(const struct roof_records *records, enum roof_metric metric)
{
    return records->private_data->of_role[metrics[metric].role] != ROOF_NO_COLUMN;
}

const char *roof_records_measured_text(const struct roof_records *records, enum roof_metric metric)
{
    return roof_column_text(records, metrics[metric].role);
}

/* Returns the name of a metric's column in the file. */
static const char *name_of(const struct roof_records *r, const struct metric *metric)
{
    const size_t column = r->private_data->of_role[metric->role];
    return column == ROOF_NO_COLUMN ? metric->key : r->column[column];
}

static enum roof_status read_metric(double *out, const struct roof_records *r,
                                    const struct metric *metric, bool model,
                                    struct roof_error *error)
{
    const char *const text = roof_column_text(r, metric->role);
    const char *const name = name_of(r, metric);
    double value = 0;
    *out = ROOF_UNKNOWN;
    if (*text == '\0') {
        return ROOF_OK;
    }
    if (!model && metric->role != ROOF_COLUMN_MEASURED) {
        return roof_error_set(error, ROOF_INVALID,
                              "%s is for models; the measured time of an operator is measured_us",
                              name);
    }
    TRY(roof_parse_number(&value, text, name, 1e-6, metric->most, error));
    *out = metric->rate ? 1 / value : roof_from_unit(value, metric->unit);
    return ROOF_OK;
}

/* Refuses a record without measured values. */
static enum roof_status check_measured(const struct roof_records *r, struct roof_error *error)
{
    bool others = false;
    for (size_t i = 0; i < ROOF_METRIC_COUNT; i++) {
        if (!isnan(r->measured_s[i])) {
            return ROOF_OK;
        }
        others = others || (i != ROOF_METRIC_TIME && roof_records_measure(r, (enum roof_metric)i));
    }
    return others ? roof_error_set(error, ROOF_INVALID,
                                   "no measured value: measured_us, ttft_ms, tpot_ms, e2e_ms and "
                                   "tokens_per_s are empty")
                  : roof_error_set(error, ROOF_INVALID, "measured_us must be a number, not ''");
}

enum roof_status roof_record_measured(struct roof_records *r, bool model, struct roof_error *error)
{
    for (size_t i = 0; i < ROOF_METRIC_COUNT; i++) {
        TRY(read_metric(&r->measured_s[i], r, &metrics[i], model, error));
    }
    return r->private_data->options.measured ? check_measured(r, error) : ROOF_OK;
}

/* --- results of serving benchmarks --------------------------------------------------------- */

/* Reads a count in the result of a benchmark; NAN if it is missing. */
static enum roof_status read_count(double *out, const struct roof_records *r,
                                   enum roof_column_role role, double least,
                                   struct roof_error *error)
{
    const char *const text = roof_column_text(r, role);
    *out = ROOF_UNKNOWN;
    return *text == '\0' ? ROOF_OK
                         : roof_parse_number(out, text, r->column[r->private_data->of_role[role]],
                                             least, 1e15, error);
}

/* Sets the mean lengths of the completed requests, and their number. */
static enum roof_status take_lengths(struct roof_scenario *asked, struct roof_records *r,
                                     struct roof_error *error)
{
    double requests = 0;
    double prompts = 0;
    double generated = 0;
    TRY(read_count(&requests, r, ROOF_COLUMN_COMPLETED, 1, error));
    TRY(read_count(&prompts, r, ROOF_COLUMN_PROMPT_TOKENS, 1, error));
    TRY(read_count(&generated, r, ROOF_COLUMN_GENERATED_TOKENS, 1, error));
    r->requests = requests;
    if (!isnan(prompts / requests) && !roof_record_says(r, ROOF_INPUT_PROMPT)) {
        asked->prompt = (int64_t)fmax(1, round(prompts / requests));
    }
    if (!isnan(generated / requests) && !roof_record_says(r, ROOF_INPUT_GENERATE)) {
        asked->generate = (int64_t)fmax(1, round(generated / requests));
    }
    return ROOF_OK;
}

/* Tells whether requests had an arrival rate, so that fewer than the limit may have been in flight.
 */
static bool has_rate(const struct roof_records *r)
{
    const char *const rate = roof_column_text(r, ROOF_COLUMN_REQUEST_RATE);
    return *rate != '\0' && strcasecmp(rate, "inf") != 0;
}

/* Tells whether a record is the result of a serving benchmark. */
static bool is_result(const struct roof_records *r)
{
    return *roof_column_text(r, ROOF_COLUMN_COMPLETED) != '\0';
}

/* Computes the mean number of requests in flight by Little's law: requests that are completed per
 * second, times the mean time of a request; NAN if the result lacks one of them. */
static enum roof_status derive(double *out, const struct roof_scenario *asked,
                               const struct roof_records *r, struct roof_error *error)
{
    const double *const measured_s = r->measured_s;
    double throughput = 0;
    double time_s = measured_s[ROOF_METRIC_E2E];
    TRY(read_count(&throughput, r, ROOF_COLUMN_REQUEST_THROUGHPUT, 1e-6, error));
    if (isnan(time_s) && asked->generate > 0) {
        time_s =
            measured_s[ROOF_METRIC_TTFT] +
            (asked->generate == 1 ? 0
                                  : (double)(asked->generate - 1) * measured_s[ROOF_METRIC_TPOT]);
    }
    *out = throughput * time_s;
    return ROOF_OK;
}

/* Sets a number of requests in flight that no input gives. */
static enum roof_status take_derived(struct roof_scenario *asked, struct roof_records *r,
                                     struct roof_error *error)
{
    double derived = 0;
    TRY(derive(&derived, asked, r, error));
    if (isnan(derived)) {
        return roof_error_set(error, ROOF_INVALID,
                              "the mean number of requests in flight is unknown, since the "
                              "benchmark ran %s: give it with " ROOF_KEY("batch"),
                              has_rate(r) ? "at a request rate" : "without max_concurrency");
    }
    if (derived > (double)ROOF_DIMENSION_MAX) {
        return roof_error_set(error, ROOF_INVALID,
                              "request_throughput x the time of a request is %.4g requests in "
                              "flight, which are too many",
                              derived);
    }
    asked->common.shape.batch = (int64_t)fmax(1, round(derived));
    if (r->derived_line == 0) {
        r->derived_line = r->line;
        r->derived = derived;
    }
    return ROOF_OK;
}

/* A limit of this many times the mean number of requests in flight hardly holds requests back. */
#define LOOSE_LIMIT 2

/* Finds the rate at which the requests of a benchmark came, from their mean number in flight and
 * the limit on it (NAN: none). */
static enum roof_status take_rate(struct roof_records *r, double in_flight, double most,
                                  struct roof_error *error)
{
    if (has_rate(r) && !(most < LOOSE_LIMIT * in_flight)) {
        return read_count(&r->request_rate, r, ROOF_COLUMN_REQUEST_RATE, 1e-6, error);
    }
    r->request_rate = is_result(r) && isnan(most) ? (double)INFINITY : ROOF_UNKNOWN;
    return ROOF_OK;
}

/* Sets the number of requests in flight: the limit if nothing else restricts it, or else the mean.
 */
static enum roof_status take_concurrency(struct roof_scenario *asked, struct roof_records *r,
                                         struct roof_error *error)
{
    int64_t *const batch = &asked->common.shape.batch;
    double most = 0;
    double mean = 0;
    TRY(read_count(&most, r, ROOF_COLUMN_MAX_CONCURRENCY, 1, error));
    TRY(read_count(&mean, r, ROOF_COLUMN_CONCURRENCY, 1e-6, error));
    const double in_flight = isnan(most) || has_rate(r) ? mean : most;
    if (!isnan(in_flight) && !roof_record_says(r, ROOF_DIM_BATCH)) {
        *batch = (int64_t)fmax(1, round(in_flight));
    } else if (!isnan(in_flight) && (double)*batch != in_flight) {
        return roof_error_set(error, ROOF_INVALID,
                              "the requests in flight are the batch: %.6g and %.0f differ",
                              in_flight, (double)*batch);
    }
    TRY(*batch > 0 || !is_result(r) ? ROOF_OK : take_derived(asked, r, error));
    return take_rate(r, (double)*batch, most, error);
}

enum roof_status roof_record_request(struct roof_scenario *asked, struct roof_records *r,
                                     struct roof_error *error)
{
    TRY(take_lengths(asked, r, error));
    return take_concurrency(asked, r, error);
}
