// SPDX-License-Identifier: MIT
#include "roofline/compare.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

#define GROUP_COLUMNS_MAX 16

/* --- groups -------------------------------------------------------------------------------- */

/* A group while it is summed. The key is its values, each terminated, one behind the other. */
struct tally {
    char *key;
    size_t key_length;
    const char *value[GROUP_COLUMNS_MAX];
    size_t rows;
    size_t skipped;
    size_t expected;
    size_t inside;
    size_t below;
    double ideal_sum;
    double bias_sum;
    double *error; /* |expected / measured - 1| of each row */
    size_t capacity;
};

struct run {
    const struct roof_compare_calls *calls;
    struct roof_csv csv;
    struct roof_comparison *out;
    const struct roof_input *input[ROOF_CSV_CELLS_MAX]; /* of each column; NULL: not a field */
    size_t operator_column;
    size_t measured_column;
    size_t hardware_column; /* ROOF_CSV_CELLS_MAX: there is none, like the next */
    size_t model_column;
    size_t layout_column;
    size_t columns;
    const char *column[ROOF_CSV_CELLS_MAX]; /* names in the header */
    size_t group_column[GROUP_COLUMNS_MAX];
    const char *hardware_name;
    struct roof_scenario base;
    struct roof_inference *inference;
    struct roof_prediction prediction;
    struct tally overall;
    struct tally **tally;
    size_t tallies;
    size_t tally_capacity;
    void *tree;
    struct roof_text key;
};

struct owned {
    struct run run;
    char *header;  /* names of all columns, each terminated */
    char *columns; /* names of the group columns, each terminated */
    const char *column[GROUP_COLUMNS_MAX];
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

/* The tally of a row's group; NULL when out of memory. */
static struct tally *find_tally(struct run *r)
{
    roof_text_clear(&r->key);
    roof_text_add(&r->key, "", 1); /* never empty */
    for (size_t i = 0; i < r->out->columns; i++) {
        const char *const cell = r->csv.cell[r->group_column[i]];
        roof_text_add(&r->key, cell, strlen(cell) + 1);
    }
    if (r->key.failed) {
        return NULL;
    }
    const struct tally wanted = {.key = r->key.data, .key_length = r->key.length};
    struct tally *const *const found = tfind(&wanted, &r->tree, by_key);
    if (found != NULL) {
        return *found;
    }
    if (r->tallies == r->tally_capacity) {
        const size_t capacity = r->tally_capacity == 0 ? 64 : 2 * r->tally_capacity;
        struct tally **const grown = realloc(r->tally, capacity * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        r->tally = grown;
        r->tally_capacity = capacity;
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
    tally->ideal_sum += fabs(row->time_s / row->measured_s - 1);
    tally->below += row->measured_s < row->time_s;
    if (isnan(row->expected_s)) {
        return true;
    }
    if (tally->expected == tally->capacity) {
        const size_t capacity = tally->capacity == 0 ? 16 : 2 * tally->capacity;
        double *const grown = realloc(tally->error, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        tally->error = grown;
        tally->capacity = capacity;
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

/* The value that a fraction of the sorted ones do not exceed, between neighbours by their share. */
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
        .ideal_mape = tally->rows > 0 ? tally->ideal_sum / rows : ROOF_UNKNOWN,
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

/* --- columns ------------------------------------------------------------------------------- */

static const struct roof_input *field_of(const char *name)
{
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
        const struct roof_input *const input = roof_input(id);
        if (input->field && input->key != NULL && strcmp(input->key, name) == 0) {
            return input;
        }
    }
    return NULL;
}

static enum roof_status read_header(struct run *r, struct roof_error *error)
{
    bool more = false;
    enum roof_status status = roof_csv_read(&r->csv, &more, error);
    if (status != ROOF_OK) {
        return status;
    }
    r->columns = more ? r->csv.count : 0;
    const struct {
        const char *name;
        size_t *column;
        bool required;
    } special[] = {{"operator", &r->operator_column, true},
                   {"measured_us", &r->measured_column, true},
                   {"hardware", &r->hardware_column, false},
                   {"model", &r->model_column, false},
                   {"layout", &r->layout_column, false}};
    for (size_t s = 0; s < sizeof special / sizeof *special; s++) {
        *special[s].column = ROOF_CSV_CELLS_MAX;
        for (size_t i = 0; i < r->columns; i++) {
            if (strcmp(r->csv.cell[i], special[s].name) == 0) {
                *special[s].column = i;
            }
        }
        if (special[s].required && *special[s].column == ROOF_CSV_CELLS_MAX) {
            return roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0,
                                 "the header needs the columns operator and measured_us");
        }
    }
    for (size_t i = 0; i < r->columns; i++) {
        r->input[i] = field_of(r->csv.cell[i]);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(r->csv.cell[i], r->csv.cell[k]) == 0) {
                return roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0,
                                     "the column %s stands twice", r->csv.cell[i]);
            }
        }
    }
    return ROOF_OK;
}

/* The header's cells are gone when the first row is read. */
static enum roof_status keep_header(struct run *r, struct owned *owned, struct roof_error *error)
{
    struct roof_text names = ROOF_TEXT_INIT;
    for (size_t i = 0; i < r->columns; i++) {
        roof_text_add(&names, r->csv.cell[i], strlen(r->csv.cell[i]) + 1);
    }
    if (names.failed) {
        roof_text_free(&names);
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    owned->header = names.data;
    const char *name = names.data;
    for (size_t i = 0; i < r->columns; i++) {
        r->column[i] = name;
        name += strlen(name) + 1;
    }
    return ROOF_OK;
}

static enum roof_status read_groups(struct run *r, struct owned *owned, const char *group_by,
                                    struct roof_error *error)
{
    const char *item = group_by;
    owned->columns = group_by == NULL ? NULL : strdup(group_by);
    if (group_by != NULL && owned->columns == NULL) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    r->out->column = owned->column;
    while (item != NULL) {
        char *const name = owned->columns + (item - group_by);
        const size_t length = strcspn(item, ",");
        item = item[length] == '\0' ? NULL : item + length + 1;
        name[length] = '\0';
        size_t found = 0;
        while (found < r->columns && strcmp(r->column[found], name) != 0) {
            found++;
        }
        if (found == r->columns) {
            return roof_unknown_name(error, ROOF_USAGE, "column", name, r->column, r->columns);
        }
        if (r->out->columns == GROUP_COLUMNS_MAX) {
            return roof_error_set(error, ROOF_USAGE, "--group-by takes at most %d columns",
                                  GROUP_COLUMNS_MAX);
        }
        r->group_column[r->out->columns] = found;
        owned->column[r->out->columns++] = name;
    }
    return ROOF_OK;
}

/* --- rows ---------------------------------------------------------------------------------- */

static enum roof_status bad_cell(const struct run *r, size_t column, struct roof_error *error)
{
    char why[ROOF_ERROR_MESSAGE_SIZE];
    snprintf(why, sizeof why, "%s", error->message);
    return roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0, "cell %zu: %s",
                         column + 1, why);
}

/* The scenario of a row; an empty cell says nothing. */
static enum roof_status read_cells(struct roof_scenario *out, const struct run *r, bool model,
                                   struct roof_error *error)
{
    for (size_t i = 0; i < r->columns; i++) {
        const struct roof_input *const input = r->input[i];
        const char *const cell = r->csv.cell[i];
        if (input == NULL || *cell == '\0') {
            continue;
        }
        int64_t value = 0;
        enum roof_status status = roof_input_taken(input, model, error);
        if (status == ROOF_OK && input->kind == ROOF_INPUT_NUMBER) {
            status = roof_input_parse_number(out, input, cell, error);
        } else if (status == ROOF_OK) {
            status = roof_input_parse(&value, input, cell, error);
            if (status == ROOF_OK) {
                roof_input_put(out, input, value);
            }
        }
        if (status != ROOF_OK) {
            return bad_cell(r, i, error);
        }
    }
    return ROOF_OK;
}

static enum roof_status predict_row(struct roof_compared *row, struct run *r,
                                    const struct roof_hardware *hardware, struct roof_error *error)
{
    struct roof_scenario asked = r->base;
    const char *const name = r->csv.cell[r->operator_column];
    const bool model = strcmp(name, "model") == 0;
    enum roof_status status = model ? ROOF_OK : roof_operator_find(&asked.common.op, name, error);
    if (status == ROOF_OK) {
        status = read_cells(&asked, r, model, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    row->expected_s = row->low_s = row->high_s = ROOF_UNKNOWN;
    row->hardware = hardware;
    row->prediction = &r->inference->total;
    if (!model) {
        struct roof_prediction *const prediction = &r->prediction;
        status = roof_predict(prediction, &asked.common, hardware, error);
        if (status == ROOF_OK) {
            row->prediction = prediction;
            row->time_s = prediction->time_s;
            row->expected_s = prediction->expected_s;
            row->low_s = prediction->expected_low_s;
            row->high_s = prediction->expected_high_s;
        }
        return status;
    }
    const struct roof_model *found = NULL;
    if (r->model_column == ROOF_CSV_CELLS_MAX || *r->csv.cell[r->model_column] == '\0') {
        return roof_error_set(error, ROOF_USAGE, "a row with operator model needs a model");
    }
    const char *const layout =
        r->layout_column == ROOF_CSV_CELLS_MAX ? "" : r->csv.cell[r->layout_column];
    status =
        r->calls->model(r->calls->context, &found, r->csv.cell[r->model_column], layout, error);
    if (status == ROOF_OK) {
        status = roof_infer(r->inference, found, &asked, hardware, error);
    }
    if (status == ROOF_OK) {
        const struct roof_prediction *const total = &r->inference->total;
        row->time_s = r->inference->step_s;
        row->expected_s = r->inference->expected_step_s;
        /* The band is of one pass: a step of a pipeline or with drafts is off alike. */
        row->low_s = row->expected_s * total->expected_low_s / total->expected_s;
        row->high_s = row->expected_s * total->expected_high_s / total->expected_s;
    }
    return status;
}

/* A row: predicted, skipped (its device is unknown), or bad. */
static enum roof_status do_row(struct run *r, struct roof_error *error)
{
    struct roof_error why = {0};
    if (r->csv.count != r->columns) {
        roof_error_at(&why, ROOF_INVALID, r->csv.name, r->csv.line, 0,
                      "%zu cells where the header has %zu", r->csv.count, r->columns);
        r->calls->bad(r->calls->context, &why);
        r->out->bad++;
        return ROOF_OK;
    }
    const struct roof_hardware *hardware = NULL;
    const char *name =
        r->hardware_column == ROOF_CSV_CELLS_MAX ? "" : r->csv.cell[r->hardware_column];
    name = *name == '\0' ? r->hardware_name : name;
    enum roof_status status = r->calls->hardware(r->calls->context, &hardware, name, error);
    if (status != ROOF_OK && status != ROOF_UNSATISFIED) {
        return status;
    }
    if (status == ROOF_UNSATISFIED) {
        struct tally *const tally = find_tally(r);
        if (tally == NULL) {
            return roof_error_set(error, ROOF_MEMORY, "out of memory");
        }
        tally->skipped++;
        r->overall.skipped++;
        return ROOF_OK;
    }
    struct roof_compared row = {
        .column = r->column, .cell = r->csv.cell, .cells = r->columns, .line = r->csv.line};
    status = roof_parse_number(&row.measured_s, r->csv.cell[r->measured_column], "measured_us",
                               1e-6, 1e15, &why);
    row.measured_s = roof_from_unit(row.measured_s, ROOF_UNIT_MICROSECONDS);
    if (status == ROOF_OK) {
        status = predict_row(&row, r, hardware, &why);
    }
    if (status == ROOF_MEMORY) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    if (status != ROOF_OK) {
        if (why.source[0] == '\0') {
            char message[ROOF_ERROR_MESSAGE_SIZE];
            snprintf(message, sizeof message, "%s", why.message);
            roof_error_at(&why, ROOF_INVALID, r->csv.name, r->csv.line, 0, "%s", message);
        }
        r->calls->bad(r->calls->context, &why);
        r->out->bad++;
        return ROOF_OK;
    }
    struct tally *const tally = find_tally(r);
    if (tally == NULL || !add_row(tally, &row) || !add_row(&r->overall, &row)) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    return r->calls->row == NULL ? ROOF_OK : r->calls->row(r->calls->context, &row, error);
}

static enum roof_status do_rows(struct run *r, struct roof_error *error)
{
    for (;;) {
        bool more = false;
        struct roof_error why = {0};
        enum roof_status status = roof_csv_read(&r->csv, &more, &why);
        if (status == ROOF_INVALID) {
            r->calls->bad(r->calls->context, &why);
            r->out->bad++;
            continue;
        }
        if (status != ROOF_OK) {
            if (error != NULL) {
                *error = why;
            }
            return status;
        }
        if (!more) {
            return ROOF_OK;
        }
        status = do_row(r, error);
        if (status != ROOF_OK) {
            return status;
        }
    }
}

enum roof_status roof_compare(struct roof_comparison *out, const char *path,
                              const struct roof_scenario *base, const char *hardware,
                              const char *group_by, const struct roof_compare_calls *calls,
                              struct roof_error *error)
{
    *out = (struct roof_comparison){.bad = 0};
    struct owned *const owned = calloc(1, sizeof *owned);
    if (owned == NULL) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    out->private_data = owned;
    struct run *const r = &owned->run;
    r->calls = calls;
    r->out = out;
    r->base = *base;
    r->hardware_name = hardware;
    r->inference = malloc(sizeof *r->inference);
    enum roof_status status = r->inference == NULL
                                  ? roof_error_set(error, ROOF_MEMORY, "out of memory")
                                  : roof_csv_open(&r->csv, path, error);
    if (status == ROOF_OK) {
        status = read_header(r, error);
    }
    if (status == ROOF_OK) {
        status = keep_header(r, owned, error);
    }
    if (status == ROOF_OK) {
        status = read_groups(r, owned, group_by, error);
    }
    if (status == ROOF_OK && calls->header != NULL) {
        status = calls->header(calls->context, r->column, r->columns, error);
    }
    if (status == ROOF_OK) {
        status = do_rows(r, error);
    }
    roof_csv_close(&r->csv);
    if (status == ROOF_OK) {
        finish(&out->overall, &r->overall);
        out->group = calloc(r->tallies + 1, sizeof *out->group);
        if (out->group == NULL) {
            status = roof_error_set(error, ROOF_MEMORY, "out of memory");
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
    free(r->inference);
    roof_text_free(&r->key);
    free(comparison->group);
    free(owned->columns);
    free(owned->header);
    free(owned);
    *comparison = (struct roof_comparison){.bad = 0};
}
