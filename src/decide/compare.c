// SPDX-License-Identifier: MIT
#include "decide/compare.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/grow.h"
#include "base/list.h"
#include "base/shell.h"
#include "decide/records.h"

#define GROUP_COLUMNS_MAX 16

/* --- groups -------------------------------------------------------------------------------- */

/* A group while it is summed. The key has its values one after another, each terminated. */
struct tally {
    char *key;
    size_t key_length;
    const char *value[GROUP_COLUMNS_MAX + 1];
    size_t rows;
    size_t skipped;
    size_t expected;
    size_t inside;
    size_t below;
    double bound_sum;
    double bias_sum;
    double *error; /* |expected / measured - 1| of each row */
    size_t capacity;
};

/* The place of the metric among the columns that form a group. */
#define METRIC_COLUMN SIZE_MAX

struct run {
    const struct roof_compare_calls *calls;
    struct roof_records records;
    struct roof_comparison *out;
    size_t columns; /* those of the header; lines of NDJSON may have more */
    size_t group_column[GROUP_COLUMNS_MAX + 1];
    struct tally overall;
    struct tally **tally;
    size_t tallies;
    size_t tally_capacity;
    void *tree;
    struct roof_text key;
    bool model; /* the caller names one for rows that name none */
};

struct owned {
    struct run run;
    char *columns; /* names of the group columns, each terminated */
    const char *column[GROUP_COLUMNS_MAX + 1];
};

static int by_key(const void *a, const void *b)
{
    const struct tally *const x = a;
    const struct tally *const y = b;
    const size_t length = x->key_length < y->key_length ? x->key_length : y->key_length;
    const int order = memcmp(x->key, y->key, length);
    return order != 0 ? order : (x->key_length > y->key_length) - (x->key_length < y->key_length);
}

static void free_tally(struct tally *tally)
{
    free(tally->key);
    free(tally->error);
}

/* Joins the values that name the group of a row. */
static void make_key(struct run *r, const char *metric)
{
    roof_text_clear(&r->key);
    roof_text_add(&r->key, "", 1); /* never empty */
    for (size_t i = 0; i < r->out->columns; i++) {
        const size_t column = r->group_column[i];
        const char *const cell = column == METRIC_COLUMN ? metric : r->records.cell[column];
        roof_text_add(&r->key, cell, strlen(cell) + 1);
    }
}

/* Returns the tally of a row's group; NULL when out of memory. */
static struct tally *find_tally(struct run *r, const char *metric)
{
    make_key(r, metric);
    if (r->key.failed) {
        return NULL;
    }
    const struct tally wanted = {.key = r->key.data, .key_length = r->key.length};
    struct tally *const *const found = tfind(&wanted, &r->tree, by_key);
    if (found != NULL) {
        return *found;
    }
    if (r->tallies == r->tally_capacity) {
        struct tally **const grown = roof_grow(r->tally, &r->tally_capacity, 64, sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        r->tally = grown;
    }
    struct tally *const tally = calloc(1, sizeof *tally);
    if (tally == NULL) {
        return NULL;
    }
    tally->key = malloc(r->key.length);
    if (tally->key == NULL) {
        free(tally);
        return NULL;
    }
    memcpy(tally->key, r->key.data, r->key.length);
    tally->key_length = r->key.length;
    const char *value = tally->key + 1;
    for (size_t i = 0; i < r->out->columns; i++) {
        tally->value[i] = value;
        value += strlen(value) + 1;
    }
    if (tsearch(tally, &r->tree, by_key) == NULL) {
        free_tally(tally);
        free(tally);
        return NULL;
    }
    r->tally[r->tallies++] = tally;
    return tally;
}

/* False when out of memory. */
static bool add_row(struct tally *tally, const struct roof_compared *row)
{
    tally->rows++;
    tally->bound_sum += fabs(row->time_s / row->measured_s - 1);
    tally->below += row->measured_s < row->time_s;
    if (isnan(row->expected_s)) {
        return true;
    }
    if (tally->expected == tally->capacity) {
        double *const grown = roof_grow(tally->error, &tally->capacity, 16, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        tally->error = grown;
    }
    const double error = row->expected_s / row->measured_s - 1;
    tally->error[tally->expected++] = fabs(error);
    tally->bias_sum += error;
    tally->inside += row->low_s <= row->measured_s && row->measured_s <= row->high_s;
    return true;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the value that a fraction of the sorted ones do not exceed, interpolated between
 * neighbours. */
static double quantile(const double *sorted, size_t count, double fraction)
{
    const double at = fraction * (double)(count - 1);
    const size_t below = (size_t)at;
    const size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

static void finish(struct roof_compare_group *out, struct tally *tally)
{
    const double rows = (double)tally->rows;
    const double expected = (double)tally->expected;
    double sum = 0;
    for (size_t i = 0; i < tally->expected; i++) {
        sum += tally->error[i];
    }
    if (tally->expected > 0) {
        qsort(tally->error, tally->expected, sizeof *tally->error, by_value);
    }
    *out = (struct roof_compare_group){
        .value = tally->value,
        .rows = tally->rows,
        .skipped = tally->skipped,
        .ideal_mape = tally->rows > 0 ? tally->bound_sum / rows : ROOF_UNKNOWN,
        .below_ideal = tally->rows > 0 ? (double)tally->below / rows : ROOF_UNKNOWN,
        .expected_mape = tally->expected > 0 ? sum / expected : ROOF_UNKNOWN,
        .expected_bias = tally->expected > 0 ? tally->bias_sum / expected : ROOF_UNKNOWN,
        .band_coverage = tally->expected > 0 ? (double)tally->inside / expected : ROOF_UNKNOWN,
        .expected_median_ape =
            tally->expected > 0 ? quantile(tally->error, tally->expected, 0.5) : ROOF_UNKNOWN,
        .expected_p90_ape =
            tally->expected > 0 ? quantile(tally->error, tally->expected, 0.9) : ROOF_UNKNOWN,
    };
}

/* --- names of files ------------------------------------------------------------------------ */

static bool has_extension(const char *name, const char *extension)
{
    const char *const dot = strrchr(name, '.');
    return dot != NULL && strcmp(dot + 1, extension) == 0;
}

bool roof_compare_is_file(const char *name)
{
    return has_extension(name, "csv") || has_extension(name, "ndjson") ||
           has_extension(name, "jsonl");
}

bool roof_compare_is_result(const char *name)
{
    return roof_compare_is_file(name) || has_extension(name, "json");
}

enum roof_status roof_compare_refuse_second(const char *file, const char *second,
                                            struct roof_error *error)
{
    enum roof_operator op = ROOF_OPERATOR_COUNT;
    if (strcmp(file, "model") == 0 || roof_operator_find(&op, file, NULL) == ROOF_OK) {
        return roof_error_set(error, ROOF_USAGE,
                              "'%s' is no file: leave it out; the column operator of %s names the "
                              "operator of each row",
                              file, second);
    }
    (void)roof_error_set(error, ROOF_USAGE, "compare takes one FILE, and '%s' is a second one",
                         second);
    if (has_extension(file, "csv") || has_extension(second, "csv")) {
        roof_error_append(error, "; only the name of a model may follow FILE");
    } else {
        struct roof_text words = ROOF_TEXT_INIT;
        roof_text_shell_word(&words, file);
        roof_text_put(&words, " ");
        roof_text_shell_word(&words, second);
        roof_error_append(error, "; join results with: jq -c . %s > all.ndjson",
                          words.failed ? "FILES" : words.data);
        roof_text_free(&words);
    }
    return ROOF_USAGE;
}

/* --- columns ------------------------------------------------------------------------------- */

/* Tells whether a name (NULL: none) is that of a column of measured values, also in the result of a
 * benchmark. */
static bool is_measured(const char *name)
{
    bool found = name != NULL && strncmp(name, "mean_", strlen("mean_")) == 0;
    for (size_t i = 0; i < ROOF_METRIC_COUNT && name != NULL; i++) {
        found = found || strcmp(name, roof_metric_key((enum roof_metric)i)) == 0;
    }
    return found;
}

/* Names a column that may be meant for a measured value, and its unit. */
static void hint_measured(const struct roof_records *records, struct roof_error *error)
{
    const char *name = NULL;
    const char *meant = NULL;
    /* Predictions have these columns, too, and a file of them was not measured. */
    const bool predicted = roof_records_has(records, "expected_time_us");
    for (size_t i = 0; i < records->columns && !predicted; i++) {
        name = records->column[i];
        if (roof_records_is_time(name)) {
            roof_error_append(error,
                              "; rename %.60s: measured_us (microseconds), or for a model tpot_ms "
                              "or ttft_ms (milliseconds)",
                              name);
            return;
        }
    }
    for (size_t i = 0; i < records->carried_count && !is_measured(meant); i++) {
        name = records->carried[i].name;
        meant = roof_records_meant(records, name);
    }
    if (is_measured(meant)) {
        const char *const unit = roof_records_unit(name, meant);
        roof_error_append(error, "; rename %.60s: %s%s%s%s", name, meant, unit == NULL ? "" : " (",
                          unit == NULL ? "" : unit, unit == NULL ? "" : ")");
    }
}

/* Refuses a header without a measured value. */
static enum roof_status refuse_unmeasured(const struct roof_records *records,
                                          struct roof_error *error)
{
    (void)roof_error_at(error, ROOF_INVALID, records->name, records->line, 0,
                        "the file has no column of measured values: measured_us, or for models "
                        "ttft_ms, tpot_ms, e2e_ms or tokens_per_s");
    hint_measured(records, error);
    return ROOF_INVALID;
}

static enum roof_status check_header(struct run *r, struct roof_error *error)
{
    const struct roof_records *const records = &r->records;
    bool measured = false;
    for (size_t i = 0; i < ROOF_METRIC_COUNT; i++) {
        const bool here = roof_records_measure(records, (enum roof_metric)i);
        measured = measured || here;
        r->out->metrics = r->out->metrics || (here && i != ROOF_METRIC_TIME);
    }
    if (!measured) {
        return refuse_unmeasured(records, error);
    }
    return roof_records_has(records, "operator") || roof_records_has(records, "model") || r->model
               ? ROOF_OK
               : roof_error_at(
                     error, ROOF_INVALID, records->name, records->line, 0,
                     "the file has no column operator or model, which names what was measured: "
                     "add one, or name one model for all rows with: roofline compare FILE MODEL");
}

/* Finds a column that forms groups, by its name. */
static enum roof_status add_group(struct run *r, struct owned *owned, const char *name,
                                  struct roof_error *error)
{
    size_t found = 0;
    while (found < r->columns && strcmp(r->records.column[found], name) != 0) {
        found++;
    }
    if (found == r->columns) {
        return roof_unknown_name(error, ROOF_USAGE, "column", name, r->records.column, r->columns);
    }
    if (r->out->columns == GROUP_COLUMNS_MAX) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("group_by") " may list at most %d columns",
                              GROUP_COLUMNS_MAX);
    }
    for (size_t i = 0; i < r->out->columns; i++) {
        if (r->group_column[i] == found) {
            return roof_error_set(error, ROOF_USAGE, ROOF_KEY("group_by") " names '%s' twice",
                                  name);
        }
    }
    r->group_column[r->out->columns] = found;
    owned->column[r->out->columns++] = name;
    return ROOF_OK;
}

static enum roof_status read_groups(struct run *r, struct owned *owned, const char *group_by,
                                    struct roof_error *error)
{
    const char *rest = group_by;
    struct roof_list_item item;
    r->out->column = owned->column;
    if (group_by != NULL) {
        owned->columns = strdup(group_by);
        if (owned->columns == NULL) {
            return roof_no_memory(error);
        }
        while (roof_list_next(&item, &rest)) {
            char *const name = owned->columns + (item.text - group_by);
            name[item.length] = '\0';
            TRY(add_group(r, owned, name, error));
        }
    }
    if (r->out->metrics) { /* errors of different metrics must not be averaged silently */
        r->group_column[r->out->columns] = METRIC_COLUMN;
        owned->column[r->out->columns++] = "metric";
    }
    return ROOF_OK;
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Finds the times of a model that are compared with a metric: bound and expected. */
static void model_times(double out[2], const struct roof_model_prediction *m,
                        enum roof_metric metric)
{
    const bool request = m->scenario.phase == ROOF_PHASE_REQUEST;
    const double times[ROOF_METRIC_COUNT][2] = {
        [ROOF_METRIC_TIME] = {request ? m->e2e_s : m->step_s,
                              request ? m->expected_e2e_s : m->expected_step_s},
        [ROOF_METRIC_TTFT] = {m->ttft_s, m->expected_ttft_s},
        [ROOF_METRIC_TPOT] = {m->tpot_s, m->expected_tpot_s},
        [ROOF_METRIC_E2E] = {m->e2e_s, m->expected_e2e_s},
        [ROOF_METRIC_RATE] = {1 / m->tokens_per_s, 1 / m->expected_tokens_per_s}};
    out[0] = times[metric][0];
    out[1] = times[metric][1];
}

double roof_compared_expected(const struct roof_model_prediction *model_prediction,
                              enum roof_metric metric)
{
    double times[2];
    model_times(times, model_prediction, metric);
    return times[1];
}

static void set_model_times(struct roof_compared *row, const struct roof_model_prediction *m,
                            enum roof_metric metric)
{
    double times[2];
    model_times(times, m, metric);
    row->time_s = times[0];
    row->expected_s = times[1];
    roof_model_band(&row->low_s, &row->high_s, m, row->expected_s);
}

/* Finds the times that are compared with a metric; refuses one that the prediction does not have.
 */
static enum roof_status set_times(struct roof_compared *row, const struct roof_records *records,
                                  enum roof_metric metric, struct roof_error *error)
{
    const struct roof_prediction *const p = row->prediction;
    row->which = metric;
    row->metric = roof_metric_key(metric);
    row->measured_s = records->measured_s[metric];
    row->time_s = p->time_s;
    row->expected_s = p->expected_s;
    row->low_s = p->expected_low_s;
    row->high_s = p->expected_high_s;
    if (records->model_prediction == NULL) {
        return ROOF_OK;
    }
    set_model_times(row, records->model_prediction, metric);
    if (!isnan(row->time_s)) {
        return ROOF_OK;
    }
    return metric == ROOF_METRIC_RATE && records->model_prediction->fits == ROOF_FIT_NO
               ? roof_error_set(
                     error, ROOF_INVALID,
                     "the model does not fit in memory, so tokens_per_s is not predicted")
               : roof_error_set(
                     error, ROOF_INVALID,
                     "phase %s has no %s; a whole request has one: give prompt and generate",
                     records->model_prediction->phase, row->metric);
}

static enum roof_status skip_metric(struct run *r, const char *metric, struct roof_error *error)
{
    struct tally *const tally = find_tally(r, metric);
    if (tally == NULL) {
        return roof_no_memory(error);
    }
    tally->skipped++;
    return ROOF_OK;
}

/* Counts a row without a prediction in its group. If metrics are told apart, it counts in the group
 * of each metric that it has. */
static enum roof_status skip_row(struct run *r, struct roof_error *error)
{
    if (!r->out->metrics) {
        return skip_metric(r, "", error);
    }
    for (size_t i = 0; i < ROOF_METRIC_COUNT; i++) {
        const enum roof_metric metric = (enum roof_metric)i;
        if (*roof_records_measured_text(&r->records, metric) != '\0') {
            TRY(skip_metric(r, roof_metric_key(metric), error));
        }
    }
    return ROOF_OK;
}

/* Reports and counts a bad row. */
static enum roof_status refuse_row(struct run *r, const struct roof_error *why,
                                   struct roof_error *error)
{
    roof_records_refuse(&r->records, why);
    return skip_row(r, error);
}

/* Keeps the row that is furthest below its bound. */
static void keep_fastest(struct roof_comparison *out, const struct roof_compared *row)
{
    const double times = row->time_s / row->measured_s;
    if (times > fmax(out->fastest, 1)) {
        out->fastest = times;
        out->fastest_bound = row->time_s;
        out->fastest_line = row->line;
    }
}

/* Tells whether a row has a time of a request in which it may wait for others. */
static bool is_shared(const struct roof_compared *row)
{
    const struct roof_model_prediction *const m = row->model_prediction;
    return (row->which == ROOF_METRIC_TTFT || row->which == ROOF_METRIC_E2E) && m != NULL &&
           m->scenario.common.shape.batch > 1 && m->scenario.static_batch == 0;
}

/* Compares each measured value of a row that was predicted. */
static enum roof_status compare_row(struct run *r, struct roof_compared *row,
                                    struct roof_error *error)
{
    struct roof_compared compared[ROOF_METRIC_COUNT];
    struct roof_error why;
    size_t count = 0;
    for (size_t i = 0; i < ROOF_METRIC_COUNT; i++) {
        if (isnan(r->records.measured_s[i])) {
            continue;
        }
        compared[count] = *row;
        if (set_times(&compared[count], &r->records, (enum roof_metric)i, &why) != ROOF_OK) {
            return refuse_row(r, &why, error);
        }
        compared[count].shared = is_shared(&compared[count]);
        compared[count].repeated =
            i == ROOF_METRIC_RATE && !isnan(r->records.measured_s[ROOF_METRIC_TPOT]);
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        struct tally *const tally = find_tally(r, compared[i].metric);
        if (tally == NULL || !add_row(tally, &compared[i]) || !add_row(&r->overall, &compared[i])) {
            return roof_no_memory(error);
        }
        keep_fastest(r->out, &compared[i]);
        if (r->calls->row != NULL) {
            TRY(r->calls->row(r->calls->context, &compared[i], error));
        }
    }
    return ROOF_OK;
}

/* Reads the number of runs of a row, if the file has a column for it. */
static enum roof_status read_count(int64_t *out, const struct run *r, struct roof_error *error)
{
    *out = 1;
    for (size_t i = 0; i < r->columns && r->calls->counts; i++) {
        if (strcmp(r->records.column[i], "count") == 0 && *r->records.cell[i] != '\0') {
            return roof_parse_integer(out, r->records.cell[i], "count", 1, ROOF_DIMENSION_MAX,
                                      error);
        }
    }
    return ROOF_OK;
}

/* Handles a row: it is predicted, skipped (its device is unknown), or bad. */
static enum roof_status do_row(struct run *r, struct roof_error *error)
{
    struct roof_records *const records = &r->records;
    const struct roof_hardware *hardware = NULL;
    struct roof_error why;
    enum roof_status status =
        r->calls->hardware(r->calls->context, &hardware, records->hardware, error);
    if (status == ROOF_UNSATISFIED) {
        r->overall.skipped++;
        return skip_row(r, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    struct roof_compared row = {.column = records->column,
                                .cell = records->cell,
                                .cells = r->columns,
                                .metrics = r->out->metrics,
                                .line = records->line,
                                .hardware = hardware};
    status = roof_records_predict(&row.prediction, records, hardware, &why);
    if (status == ROOF_MEMORY) {
        return roof_no_memory(error);
    }
    if (status != ROOF_OK) {
        return refuse_row(r, &why, error);
    }
    row.model_prediction = records->model_prediction;
    row.asked = records->asked;
    row.requests = records->requests;
    row.request_rate = records->request_rate;
    if (read_count(&row.count, r, &why) != ROOF_OK) {
        return refuse_row(r, &why, error);
    }
    return compare_row(r, &row, error);
}

static enum roof_status do_rows(struct run *r, struct roof_error *error)
{
    for (;;) {
        bool more = false;
        enum roof_status status = roof_records_next(&r->records, &more, error);
        if (status == ROOF_OK && !more) { /* also lines without cells, which have no group */
            r->overall.skipped += (size_t)r->records.bad;
        }
        if (status != ROOF_OK || !more) {
            return status;
        }
        if (r->calls->begin != NULL && r->out->metrics) {
            r->calls->begin(r->calls->context, &r->records);
        }
        status = do_row(r, error);
        if (status != ROOF_OK) {
            return status;
        }
    }
}

/* Opens the rows of a file. */
static enum roof_status open_rows(struct run *r, const char *path,
                                  const struct roof_records_options *options,
                                  struct roof_error *error)
{
    const enum roof_status status = roof_records_open(&r->records, path, options, error);
    if (status == ROOF_IO && !roof_compare_is_result(path)) { /* perhaps the name of a model */
        roof_error_append(error, "; compare needs a file of measured times");
    }
    r->columns = r->records.columns;
    return status;
}

enum roof_status roof_compare(struct roof_comparison *out, const char *path,
                              const struct roof_scenario *base, const char *hardware,
                              const char *model, const char *group_by,
                              const struct roof_compare_calls *calls, struct roof_error *error)
{
    *out = (struct roof_comparison){.bad = 0};
    struct owned *const owned = calloc(1, sizeof *owned);
    if (owned == NULL) {
        return roof_no_memory(error);
    }
    out->private_data = owned;
    struct run *const r = &owned->run;
    r->calls = calls;
    r->out = out;
    r->model = model != NULL;
    const struct roof_records_options options = {.base = base,
                                                 .kind = ROOF_RECORDS_BOTH,
                                                 .op = ROOF_OPERATOR_COUNT,
                                                 .hardware = hardware,
                                                 .model = model,
                                                 .measured = true,
                                                 .context = calls->context,
                                                 .load_model = calls->model,
                                                 .formats = calls->formats,
                                                 .bad = calls->bad};
    enum roof_status status = open_rows(r, path, &options, error);
    if (status == ROOF_OK) {
        status = check_header(r, error);
    }
    if (status == ROOF_OK) {
        status = read_groups(r, owned, group_by, error);
    }
    if (status == ROOF_OK && calls->header != NULL) {
        status = calls->header(calls->context, r->records.column, r->columns, out->metrics, error);
    }
    if (status == ROOF_OK) {
        status = do_rows(r, error);
    }
    if (status == ROOF_OK && calls->end != NULL) {
        status = calls->end(calls->context, &r->records, error);
    }
    out->bad = r->records.bad;
    roof_records_close(&r->records);
    if (status == ROOF_OK) {
        finish(&out->overall, &r->overall);
        out->group = calloc(r->tallies + 1, sizeof *out->group);
        if (out->group == NULL) {
            status = roof_no_memory(error);
        }
    }
    if (status != ROOF_OK) {
        roof_comparison_free(out);
        return status;
    }
    for (size_t i = 0; i < r->tallies; i++) {
        finish(&out->group[out->groups++], r->tally[i]);
    }
    return ROOF_OK;
}

void roof_comparison_free(struct roof_comparison *comparison)
{
    struct owned *const owned = comparison->private_data;
    if (owned == NULL) {
        return;
    }
    struct run *const r = &owned->run;
    for (size_t i = 0; i < r->tallies; i++) {
        (void)tdelete(r->tally[i], &r->tree, by_key);
        free_tally(r->tally[i]);
        free(r->tally[i]);
    }
    free_tally(&r->overall);
    free(r->tally);
    roof_text_free(&r->key);
    free(comparison->group);
    free(owned->columns);
    free(owned);
    *comparison = (struct roof_comparison){.bad = 0};
}
