// SPDX-License-Identifier: MIT
#include "decide/record_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/nearest.h"
#include "decide/synonym.h"
#include "predict/prediction_fields.h"

/* --- words ------------------------------------------------------------------------------------ */

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Returns the start of a text after leading blanks; *length excludes trailing ones. */
static inline const char *inner(const char *text, size_t *length)
{
    while (is_blank(*text)) {
        text++;
    }
    *length = strlen(text);
    while (*length > 0 && is_blank(text[*length - 1])) {
        --*length;
    }
    return text;
}

bool roof_word_trim(char out[ROOF_WORD_SIZE], const char *text)
{
    size_t length = 0;
    text = inner(text, &length);
    if (length >= ROOF_WORD_SIZE) {
        return false;
    }
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

void roof_word_lower(char *text)
{
    for (; *text != '\0'; text++) {
        *text = (char)(*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text);
    }
}

/* --- columns ------------------------------------------------------------------------------- */

/* Returns the column name of an input; NULL if it has none. */
static const char *field_name(size_t id)
{
    const struct roof_input *const input = roof_input(id);
    return !input->field ? NULL : id == ROOF_INPUT_PRECISION_BOTH ? "precision" : input->key;
}

/* Finds the input of a key or synonym; ROOF_INPUT_COUNT if there is none. */
static size_t field_of(const char *name)
{
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
        const char *const field = field_name(id);
        if (field != NULL && strcmp(field, name) == 0) {
            return id;
        }
    }
    const struct roof_synonym *const synonym = roof_synonym_of_key(name);
    return synonym != NULL && !synonym->complement && field_name(synonym->input) != NULL
               ? synonym->input
               : ROOF_INPUT_COUNT;
}

/* Columns that are not inputs, and the kinds of records with them. */
static const struct {
    const char *name;
    enum roof_column_role role;
    bool in[ROOF_RECORDS_BOTH + 1];
} special[] = {{"operator", ROOF_COLUMN_OPERATOR, {true, true, true}},
               {"hardware", ROOF_COLUMN_HARDWARE, {true, true, true}},
               {"model", ROOF_COLUMN_MODEL, {false, true, true}},
               {"layout", ROOF_COLUMN_LAYOUT, {false, true, true}},
               {"draft_model", ROOF_COLUMN_DRAFT, {false, true, false}},
               {"measured_us", ROOF_COLUMN_MEASURED, {true, false, true}},
               {"ttft_ms", ROOF_COLUMN_TTFT, {false, false, true}},
               {"tpot_ms", ROOF_COLUMN_TPOT, {false, false, true}},
               {"e2e_ms", ROOF_COLUMN_E2E, {false, false, true}},
               {"tokens_per_s", ROOF_COLUMN_RATE, {false, false, true}},
               {"concurrency", ROOF_COLUMN_CONCURRENCY, {false, true, true}}};

/* The keys of the results of serving benchmarks; docs/formats.md has their sources. */
static const struct {
    const char *name;
    enum roof_column_role role;
} result_keys[] = {{"model_id", ROOF_COLUMN_MODEL},
                   {"mean_ttft_ms", ROOF_COLUMN_TTFT},
                   {"mean_tpot_ms", ROOF_COLUMN_TPOT},
                   {"mean_e2el_ms", ROOF_COLUMN_E2E},
                   {"mean_e2e_latency_ms", ROOF_COLUMN_E2E},
                   {"output_throughput", ROOF_COLUMN_RATE},
                   {"max_concurrency", ROOF_COLUMN_MAX_CONCURRENCY},
                   {"request_rate", ROOF_COLUMN_REQUEST_RATE},
                   {"request_throughput", ROOF_COLUMN_REQUEST_THROUGHPUT},
                   {"completed", ROOF_COLUMN_COMPLETED},
                   {"total_input_tokens", ROOF_COLUMN_PROMPT_TOKENS},
                   {"total_output_tokens", ROOF_COLUMN_GENERATED_TOKENS}};

/* Returns the role of a column by its exact name. */
static enum roof_column_role exact_role(const char *name, enum roof_records_kind kind,
                                        size_t *input)
{
    for (size_t i = 0; i < COUNT(special); i++) {
        if (special[i].in[kind] && strcmp(name, special[i].name) == 0) {
            return special[i].role;
        }
    }
    for (size_t i = 0; i < COUNT(result_keys) && kind == ROOF_RECORDS_BOTH; i++) {
        if (strcmp(name, result_keys[i].name) == 0) {
            return result_keys[i].role;
        }
    }
    const bool models = kind == ROOF_RECORDS_MODELS;
    const bool printed =
        models ? roof_model_prediction_has_key(name) : roof_prediction_has_key(name);
    *input = field_of(name);
    /* Models print "devices", which is only an input of operators. */
    if (*input < ROOF_INPUT_COUNT &&
        (!printed || kind == ROOF_RECORDS_BOTH ||
         roof_input_taken(roof_input(*input), models, NULL) == ROOF_OK)) {
        return ROOF_COLUMN_INPUT;
    }
    return printed ? ROOF_COLUMN_IGNORED : ROOF_COLUMN_CARRIED;
}

/* Normalizes a name like those of columns: lower case, and _ for -. */
static bool plain_name(char out[ROOF_WORD_SIZE], const char *name)
{
    if (!roof_word_trim(out, name)) {
        return false;
    }
    roof_word_lower(out);
    for (char *dash = strchr(out, '-'); dash != NULL; dash = strchr(dash, '-')) {
        *dash = '_';
    }
    return true;
}

/* Finds a key that consists of the name and a unit: "ttft" gives "ttft_ms". */
static const char *with_unit(const char *name, const char *const *keys, size_t count)
{
    static const char *const units[] = {"_us", "_ms", "_per_s", "_bytes"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < COUNT(units) && strncmp(keys[i], name, length) == 0; k++) {
            if (strcmp(keys[i] + length, units[k]) == 0) {
                return keys[i];
            }
        }
    }
    return NULL;
}

enum roof_column_role roof_column_role(const char *name, enum roof_records_kind kind, size_t *input)
{
    char key[ROOF_WORD_SIZE];
    enum roof_column_role role = exact_role(name, kind, input);
    if (role != ROOF_COLUMN_CARRIED || !plain_name(key, name)) {
        return role;
    }
    role = exact_role(key, kind, input);
    return role == ROOF_COLUMN_IGNORED ? ROOF_COLUMN_CARRIED : role;
}

enum roof_status roof_column_add(struct roof_records *r, const char *name, size_t length,
                                 struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    if (r->columns == ROOF_RECORD_COLUMNS_MAX) {
        return roof_error_set(error, ROOF_INVALID, "the records have more than %d different keys",
                              ROOF_RECORD_COLUMNS_MAX);
    }
    const size_t i = r->columns;
    struct roof_record_column *const column = &p->column[i];
    char *const copy = strndup(name, length);
    if (copy == NULL) {
        return roof_no_memory(error);
    }
    p->name[i] = p->owned[i] = copy;
    p->cell[i] = "";
    r->columns++;
    column->name_length = length;
    size_t input = ROOF_INPUT_COUNT;
    column->role = roof_column_role(copy, p->options.kind, &input);
    if (column->role == ROOF_COLUMN_INPUT) {
        column->input = roof_input(input);
        p->input[p->inputs++] = i;
        r->dimensions |= input < ROOF_DIM_COUNT ? UINT64_C(1) << input : 0;
    } else if (column->role == ROOF_COLUMN_CARRIED) {
        column->carried = r->carried_count;
        p->carried[r->carried_count++] = (struct roof_carried){.name = copy, .text = ""};
    } else {
        p->of_role[column->role] = i;
    }
    return ROOF_OK;
}

/* Finds the column with exactly this name. */
static size_t named_column(const struct roof_records *r, const char *name, size_t length)
{
    const struct roof_records_private *const p = r->private_data;
    size_t i = 0;
    while (i < r->columns &&
           (p->column[i].name_length != length || memcmp(p->name[i], name, length) != 0)) {
        i++;
    }
    return i < r->columns ? i : ROOF_NO_COLUMN;
}

size_t roof_column_find(const struct roof_records *r, const char *name, size_t length)
{
    const struct roof_records_private *const p = r->private_data;
    const size_t named = named_column(r, name, length);
    size_t input = ROOF_INPUT_COUNT;
    if (named != ROOF_NO_COLUMN) {
        return named;
    }
    const enum roof_column_role role = roof_column_role(name, p->options.kind, &input);
    if (role != ROOF_COLUMN_INPUT) {
        return role == ROOF_COLUMN_CARRIED || role == ROOF_COLUMN_IGNORED ? ROOF_NO_COLUMN
                                                                          : p->of_role[role];
    }
    size_t k = 0;
    while (k < p->inputs && p->column[p->input[k]].input != roof_input(input)) {
        k++;
    }
    return k < p->inputs ? p->input[k] : ROOF_NO_COLUMN;
}

bool roof_records_has(const struct roof_records *records, const char *column)
{
    return roof_column_find(records, column, strlen(column)) != ROOF_NO_COLUMN;
}

/* Tells whether two names are equal without '-' and '_': "batchsize" and "batch-size". */
static bool same_letters(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "-_");
        b += strspn(b, "-_");
        if (*a != *b || *a == '\0') {
            return *a == *b;
        }
    }
}

/* Finds the column for an ambiguous word by its likely meaning in `predict`; NULL: none. */
static const char *likely_meant(const char *key)
{
    char word[ROOF_WORD_SIZE];
    (void)snprintf(word, sizeof word, "%s", key);
    for (char *low = strchr(word, '_'); low != NULL; low = strchr(low, '_')) {
        *low = '-';
    }
    const struct roof_word *const meant =
        strlen(word) > 1 ? roof_word_meant(word, ROOF_COMMAND_PREDICT) : NULL;
    return meant == NULL || meant->value != NULL ? NULL
           : meant->input == ROOF_INPUT_HARDWARE ? "hardware"
                                                 : field_name(meant->input);
}

/* Finds the column for a synonym; NULL: none. */
static const char *word_meant(const char *key, enum roof_records_kind kind)
{
    size_t count = 0;
    const struct roof_synonym *const synonym = roof_synonyms(&count);
    for (size_t i = 0; i < count; i++) {
        const bool always = synonym[i].commands == ~0U; /* it has one meaning in all commands */
        const char *const name =
            synonym[i].input == ROOF_INPUT_HARDWARE ? "hardware" : field_name(synonym[i].input);
        if (always && name != NULL && same_letters(key, synonym[i].option)) {
            return name;
        }
    }
    for (size_t i = 0; i < COUNT(result_keys) && kind == ROOF_RECORDS_BOTH; i++) {
        if (same_letters(key, result_keys[i].name)) {
            return result_keys[i].name;
        }
    }
    return likely_meant(key);
}

const char *roof_records_meant(const struct roof_records *records, const char *carried)
{
    const enum roof_records_kind kind = records->private_data->options.kind;
    const char *known[ROOF_INPUT_COUNT + COUNT(special)];
    char key[ROOF_WORD_SIZE];
    size_t count = 0;
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
        if (field_name(id) != NULL) {
            known[count++] = field_name(id);
        }
    }
    for (size_t i = 0; i < COUNT(special); i++) {
        if (special[i].in[kind]) {
            known[count++] = special[i].name;
        }
    }
    if (!plain_name(key, carried)) {
        return NULL;
    }
    const char *const unit = with_unit(key, known, count);
    const char *const word = unit != NULL ? unit : word_meant(key, kind);
    return word != NULL ? word : roof_near_name(key, known, count);
}

/* Returns the name of the unit at the end of a column's name; NULL: there is none. */
static const char *time_unit(const char *name)
{
    static const struct {
        const char *end;
        const char *unit;
    } units[] = {{"_ns", "nanoseconds"},  {"_us", "microseconds"},   {"_usec", "microseconds"},
                 {"_ms", "milliseconds"}, {"_msec", "milliseconds"}, {"_s", "seconds"},
                 {"_sec", "seconds"},     {"_seconds", "seconds"}};
    const char *const last = strrchr(name, '_');
    for (size_t i = 0; i < COUNT(units) && last != NULL; i++) {
        if (strcasecmp(last, units[i].end) == 0) {
            return units[i].unit;
        }
    }
    return NULL;
}

const char *roof_records_unit(const char *carried, const char *meant)
{
    const char *const own = time_unit(carried);
    const char *const unit = time_unit(meant);
    const bool time = unit != NULL && strstr(meant, "_per_") == NULL;
    return time && own != NULL && strcmp(own, unit) != 0 ? unit : NULL;
}

bool roof_records_is_time(const char *name)
{
    static const char *const words[] = {"time",    "measured", "latency",
                                        "elapsed", "duration", "runtime"};
    const size_t length =
        time_unit(name) == NULL ? strlen(name) : (size_t)(strrchr(name, '_') - name);
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strlen(words[i]) == length && strncasecmp(name, words[i], length) == 0) {
            return true;
        }
    }
    return false;
}

bool roof_record_says(const struct roof_records *r, size_t input)
{
    const struct roof_records_private *const p = r->private_data;
    for (size_t k = 0; k < p->inputs; k++) {
        if (p->column[p->input[k]].input == roof_input(input)) {
            return *r->cell[p->input[k]] != '\0';
        }
    }
    return false;
}

const char *roof_column_text(const struct roof_records *r, enum roof_column_role role)
{
    struct roof_records_private *const p = r->private_data;
    const size_t column = p->of_role[role];
    if (column == ROOF_NO_COLUMN) {
        return "";
    }
    size_t length = 0;
    const char *const text = inner(r->cell[column], &length);
    if (text[length] == '\0') {
        return text;
    }
    roof_text_clear(&p->trimmed[role]);
    roof_text_add(&p->trimmed[role], text, length);
    p->failed |= p->trimmed[role].failed;
    return p->failed ? text : p->trimmed[role].data;
}

enum roof_status roof_records_with_memory(const struct roof_records *r, enum roof_status status,
                                          struct roof_error *error)
{
    return r->private_data->failed ? roof_no_memory(error) : status;
}
