// SPDX-License-Identifier: MIT
#include "decide/records.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/csv.h"
#include "base/json.h"
#include "predict/prediction_fields.h"

/* A row has as many cells as a file has columns. */
_Static_assert(ROOF_RECORD_COLUMNS_MAX == ROOF_CSV_CELLS_MAX, "one limit for both");

/* What a column is to a record. */
enum role {
    CARRIED,
    IGNORED, /* predictions have the key, and it is no input */
    INPUT,
    OPERATOR,
    HARDWARE,
    MODEL,
    LAYOUT,
    DRAFT,
    MEASURED,
    ROLES
};

#define NO_COLUMN ROOF_RECORD_COLUMNS_MAX
#define LAST_SIZE 32
/* Longer texts are no name of an input, and no value of one. */
#define WORD_SIZE 128
/* Integers up to here are doubles. */
#define EXACT_MAX 9007199254740992.0

/* A column, and what its last text was: most cells have that of the row before. */
struct column {
    enum role role;
    const struct roof_input *input; /* of an INPUT */
    size_t carried;                 /* of a CARRIED: its place among them */
    size_t name_length;
    bool known; /* last and value hold, for a record of a model or of an operator */
    bool model;
    char last[LAST_SIZE];
    int64_t value;
};

struct roof_records_private {
    struct roof_records_options options;
    struct roof_csv csv;
    struct column column[ROOF_RECORD_COLUMNS_MAX];
    const char *name[ROOF_RECORD_COLUMNS_MAX]; /* owned */
    size_t input[ROOF_RECORD_COLUMNS_MAX];     /* columns that are inputs */
    size_t inputs;
    size_t of_role[ROLES];           /* the column of each other role; NO_COLUMN: none */
    struct roof_text trimmed[ROLES]; /* its text, where blanks stand behind it */
    bool failed;                     /* no memory for one of them */
    struct roof_carried carried[ROOF_RECORD_COLUMNS_MAX];
    struct roof_scenario asked;
    bool request; /* the phase of the record */
    struct roof_prediction prediction;
    struct roof_model_prediction *inference; /* NULL until a record asks for a model */
    /* Of NDJSON: */
    bool pending; /* the record was read to see its keys */
    const char *cell[ROOF_RECORD_COLUMNS_MAX];
    uint64_t seen[ROOF_RECORD_COLUMNS_MAX]; /* the record that had the key last */
    struct roof_json_member member[ROOF_RECORD_COLUMNS_MAX];
    size_t at[ROOF_RECORD_COLUMNS_MAX]; /* the column of each member of the record before */
    struct roof_text decoded;
};

/* --- words ------------------------------------------------------------------------------------ */

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Where the text begins behind its blanks, and its length without those at its end. */
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

/* The text without blanks around it; false when it is too long to mean anything. */
static bool trim(char out[WORD_SIZE], const char *text)
{
    size_t length = 0;
    text = inner(text, &length);
    if (length >= WORD_SIZE) {
        return false;
    }
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* In small letters, whatever the locale is. */
static void lower(char *text)
{
    for (; *text != '\0'; text++) {
        *text = (char)(*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text);
    }
}

/* A whole number as integers are written: 4096 for 4.096e3 or 4096.0. */
static void plain_integer(char text[WORD_SIZE])
{
    double value = 0;
    if (text[strcspn(text, ".eE")] != '\0' &&
        roof_parse_number(&value, text, "", -EXACT_MAX, EXACT_MAX, NULL) == ROOF_OK &&
        value == floor(value)) {
        snprintf(text, WORD_SIZE, "%.0f", value);
    }
}

/* What the programs that write files make of a flag. */
static void plain_flag(char text[WORD_SIZE])
{
    if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0) {
        snprintf(text, WORD_SIZE, "%d", *text == 't' || *text == 'T');
    }
}

/* --- columns ------------------------------------------------------------------------------- */

/* The input of a key; ROOF_INPUT_COUNT: none. */
static size_t field_of(const char *name)
{
    size_t id = 0;
    while (id < ROOF_INPUT_COUNT) {
        const struct roof_input *const input = roof_input(id);
        const char *const key = id == ROOF_INPUT_PRECISION_BOTH ? "precision" : input->key;
        if (input->field && key != NULL && strcmp(key, name) == 0) {
            break;
        }
        id++;
    }
    return id;
}

/* *input is set for an INPUT. */
static enum role exact_role(const char *name, enum roof_records_kind kind, size_t *input)
{
    static const struct {
        const char *name;
        enum role role;
        bool in[ROOF_RECORDS_BOTH + 1];
    } special[] = {{"operator", OPERATOR, {true, true, true}},
                   {"hardware", HARDWARE, {true, true, true}},
                   {"model", MODEL, {false, true, true}},
                   {"layout", LAYOUT, {false, true, true}},
                   {"draft_model", DRAFT, {false, true, false}},
                   {"measured_us", MEASURED, {true, false, true}}};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (special[i].in[kind] && strcmp(name, special[i].name) == 0) {
            return special[i].role;
        }
    }
    const bool models = kind == ROOF_RECORDS_MODELS;
    const bool printed =
        models ? roof_model_prediction_has_key(name) : roof_prediction_has_key(name);
    *input = field_of(name);
    /* Models print "devices", which is an input of operators only. */
    if (*input < ROOF_INPUT_COUNT &&
        (!printed || kind == ROOF_RECORDS_BOTH ||
         roof_input_taken(roof_input(*input), models, NULL) == ROOF_OK)) {
        return INPUT;
    }
    return printed ? IGNORED : CARRIED;
}

/* Likewise; what is read may have another case, - for _, and blanks around it. */
static enum role role_of(const char *name, enum roof_records_kind kind, size_t *input)
{
    char key[WORD_SIZE];
    enum role role = exact_role(name, kind, input);
    if (role != CARRIED || !trim(key, name)) {
        return role;
    }
    lower(key);
    for (char *dash = strchr(key, '-'); dash != NULL; dash = strchr(dash, '-')) {
        *dash = '_';
    }
    role = exact_role(key, kind, input);
    return role == IGNORED ? CARRIED : role;
}

/* Columns with a carried text are numbered in their order. */
static enum roof_status add_column(struct roof_records *r, const char *name, size_t length,
                                   struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    if (r->columns == ROOF_RECORD_COLUMNS_MAX) {
        return roof_error_set(error, ROOF_INVALID, "the records have more than %d different keys",
                              ROOF_RECORD_COLUMNS_MAX);
    }
    const size_t i = r->columns;
    struct column *const column = &p->column[i];
    char *const copy = strndup(name, length);
    if (copy == NULL) {
        return roof_no_memory(error);
    }
    p->name[i] = copy;
    p->cell[i] = "";
    r->columns++;
    column->name_length = length;
    size_t input = ROOF_INPUT_COUNT;
    column->role = role_of(copy, p->options.kind, &input);
    if (column->role == INPUT) {
        column->input = roof_input(input);
        p->input[p->inputs++] = i;
        r->dimensions |= input < ROOF_DIM_COUNT ? UINT32_C(1) << input : 0;
    } else if (column->role == CARRIED) {
        column->carried = r->carried_count;
        p->carried[r->carried_count++] = (struct roof_carried){.name = copy, .text = ""};
    } else {
        p->of_role[column->role] = i;
    }
    return ROOF_OK;
}

/* The column of that very name. */
static size_t named_column(const struct roof_records *r, const char *name, size_t length)
{
    const struct roof_records_private *const p = r->private_data;
    size_t i = 0;
    while (i < r->columns &&
           (p->column[i].name_length != length || memcmp(p->name[i], name, length) != 0)) {
        i++;
    }
    return i < r->columns ? i : NO_COLUMN;
}

/* The column of a name, or the one that comes to the same input. */
static size_t find_column(const struct roof_records *r, const char *name, size_t length)
{
    const struct roof_records_private *const p = r->private_data;
    const size_t named = named_column(r, name, length);
    size_t input = ROOF_INPUT_COUNT;
    if (named != NO_COLUMN) {
        return named;
    }
    const enum role role = role_of(name, p->options.kind, &input);
    if (role != INPUT) {
        return role == CARRIED || role == IGNORED ? NO_COLUMN : p->of_role[role];
    }
    size_t k = 0;
    while (k < p->inputs && p->column[p->input[k]].input != roof_input(input)) {
        k++;
    }
    return k < p->inputs ? p->input[k] : NO_COLUMN;
}

bool roof_records_has(const struct roof_records *records, const char *column)
{
    return find_column(records, column, strlen(column)) != NO_COLUMN;
}

/* The text of the record in the column of a role, without blanks around it; "": it has none. */
static const char *text_of(const struct roof_records *r, enum role role)
{
    struct roof_records_private *const p = r->private_data;
    const size_t column = p->of_role[role];
    if (column == NO_COLUMN) {
        return "";
    }
    size_t length = 0;
    const char *const text = inner(r->cell[column], &length);
    if (text[length] == '\0') {
        return text;
    }
    roof_text_clear(&p->trimmed[role]);
    roof_text_add(&p->trimmed[role], text, length);
    p->failed = p->failed || p->trimmed[role].failed;
    return p->failed ? text : p->trimmed[role].data;
}

/* A record is not what it says where there was no memory for a text of it. */
static enum roof_status with_memory(const struct roof_records *r, enum roof_status status,
                                    struct roof_error *error)
{
    return r->private_data->failed ? roof_no_memory(error) : status;
}

/* --- CSV ----------------------------------------------------------------------------------- */

static enum roof_status read_header(struct roof_records *r, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    struct roof_csv *const csv = &p->csv;
    bool more = false;
    enum roof_status status = roof_csv_read(csv, &more, error);
    for (size_t i = 0; more && i < csv->count && status == ROOF_OK; i++) {
        const char *const name = csv->cell[i];
        const size_t found = find_column(r, name, strlen(name));
        const bool same = found != NO_COLUMN && strcmp(p->name[found], name) == 0;
        status = found == NO_COLUMN
                     ? add_column(r, name, strlen(name), error)
                     : roof_error_at(error, ROOF_INVALID, csv->name, csv->line, 0,
                                     "the column %s stands twice%s%s", p->name[found],
                                     same ? "" : ", also as ", same ? "" : name);
    }
    r->line = csv->line;
    r->cell = csv->cell;
    return status;
}

static enum roof_status next_row(struct roof_records *r, bool *more, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const struct roof_csv *const csv = &p->csv;
    const enum roof_status status = roof_csv_read(&p->csv, more, error);
    if (status != ROOF_OK || !*more) {
        return status;
    }
    if (csv->count != r->columns) {
        return roof_error_at(error, ROOF_INVALID, csv->name, csv->line, 0,
                             "%zu cells where the header has %zu", csv->count, r->columns);
    }
    for (size_t i = 0; r->carried_count > 0 && i < r->columns; i++) {
        if (p->column[i].role == CARRIED) {
            p->carried[p->column[i].carried].text = csv->cell[i];
        }
    }
    return ROOF_OK;
}

/* --- NDJSON -------------------------------------------------------------------------------- */

/* The text of a string with escapes, of length bytes with its quotes; `decoded` has room for it. */
static enum roof_status decode(const char **out, struct roof_records_private *p, const char *string,
                               size_t length, struct roof_error *error)
{
    struct roof_json *json = NULL;
    const enum roof_status status = roof_json_parse(&json, string, length, p->csv.name, error);
    if (status == ROOF_OK) {
        const char *const text = roof_json_string(roof_json_root(json));
        *out = p->decoded.data + p->decoded.length;
        roof_text_add(&p->decoded, text, strlen(text) + 1);
    }
    roof_json_free(json);
    return status;
}

static bool is_nested(const char *value)
{
    return *value == '{' || *value == '[';
}

/* The column of a key, which is added when it is new, but for a nested value that nobody reads:
 * NO_COLUMN. Of the record before, the member at the same place has likely the same. */
static enum roof_status member_column(size_t *out, struct roof_records *r, size_t member,
                                      char *line, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    size_t length = p->member[member].key_length;
    char *const raw = line + p->member[member].key;
    const char *key = raw;
    const bool escaped = memchr(raw, '\\', length) != NULL;
    *out = p->at[member];
    if (!escaped && *out < r->columns && p->column[*out].name_length == length &&
        memcmp(p->name[*out], raw, length) == 0) {
        return ROOF_OK;
    }
    if (escaped) {
        const enum roof_status status = decode(&key, p, raw - 1, length + 2, error);
        if (status != ROOF_OK) {
            return status;
        }
        length = strlen(key);
    } else {
        raw[length] = '\0'; /* the quote */
    }
    *out = find_column(r, key, length);
    if (*out == NO_COLUMN && is_nested(line + p->member[member].value)) {
        size_t input = ROOF_INPUT_COUNT;
        const enum role role = role_of(key, p->options.kind, &input);
        if (role == CARRIED || role == IGNORED) {
            return ROOF_OK;
        }
    }
    enum roof_status status = ROOF_OK;
    if (*out == NO_COLUMN) {
        *out = r->columns;
        status = add_column(r, key, length, error);
    }
    p->at[member] = *out;
    return status;
}

/* The text of a member's value, and what is carried of it. Terminates it in the line. */
static enum roof_status read_member(struct roof_records *r, size_t i, char *line,
                                    const struct roof_json_member *member, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const struct column *const column = &p->column[i];
    char *text = line + member->value;
    const char *cell = text;
    const bool quoted = *text == '"';
    const bool null = *text == 'n';
    if (is_nested(text)) {
        return column->role == CARRIED || column->role == IGNORED
                   ? ROOF_OK
                   : roof_error_set(error, ROOF_INVALID,
                                    "%s must be a string, a number, true, false or null",
                                    p->name[i]);
    }
    if (quoted && memchr(text, '\\', member->length) != NULL) {
        const enum roof_status status = decode(&cell, p, text, member->length, error);
        if (status != ROOF_OK) {
            return status;
        }
        text++;
    } else if (quoted) {
        cell = ++text;
    }
    line[member->value + member->length - quoted] = '\0';
    if (column->role == CARRIED) {
        struct roof_carried *const carried = &p->carried[column->carried];
        carried->text = null ? "" : cell;
        carried->json = text;
        carried->quoted = quoted;
    } else if (column->role == INPUT && !quoted) {
        const enum roof_input_kind kind = column->input->kind;
        cell = kind == ROOF_INPUT_FLAG && *cell == 't'   ? "1"
               : kind == ROOF_INPUT_FLAG && *cell == 'f' ? "0"
                                                         : cell;
    }
    p->cell[i] = null ? "" : cell;
    return ROOF_OK;
}

/* The cells of a record; keys that it does not have are empty. */
static enum roof_status read_members(struct roof_records *r, char *line, size_t count,
                                     struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    for (size_t i = 0; i < r->columns; i++) {
        p->cell[i] = "";
    }
    for (size_t i = 0; i < r->carried_count; i++) {
        p->carried[i].text = "";
        p->carried[i].json = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        size_t column = NO_COLUMN;
        enum roof_status status = member_column(&column, r, i, line, error);
        if (status == ROOF_OK && column == NO_COLUMN) {
            continue;
        }
        if (status == ROOF_OK && p->seen[column] == r->count) {
            status = roof_error_set(error, ROOF_INVALID, "the key '%s' stands twice in its object",
                                    p->name[column]);
        }
        if (status == ROOF_OK) {
            p->seen[column] = r->count;
            status = read_member(r, column, line, &p->member[i], error);
        }
        if (status != ROOF_OK) {
            return status;
        }
    }
    return ROOF_OK;
}

static enum roof_status next_object(struct roof_records *r, bool *more, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    char *line = NULL;
    size_t length = 0;
    size_t count = 0;
    enum roof_status status = roof_csv_line(&p->csv, &line, &length, more, error);
    if (status != ROOF_OK || !*more) {
        return status;
    }
    status = roof_json_members(p->member, &count, ROOF_RECORD_COLUMNS_MAX, line, length,
                               p->csv.name, p->csv.line, error);
    if (status != ROOF_OK) {
        return status;
    }
    /* Texts point into it, so it may not grow on the way. */
    roof_text_clear(&p->decoded);
    if (roof_text_room(&p->decoded, length) == NULL) {
        return roof_no_memory(error);
    }
    return read_members(r, line, count, error);
}

/* --- records ------------------------------------------------------------------------------- */

void roof_records_refuse(struct roof_records *records, const struct roof_error *why)
{
    const struct roof_records_options *const options = &records->private_data->options;
    struct roof_error placed = *why;
    records->bad++;
    if (strcmp(why->source, records->name) != 0) { /* none, or that of a file the record names */
        (void)roof_error_move(&placed, ROOF_INVALID, records->name, records->line, 0);
    }
    options->bad(options->context, &placed);
}

enum roof_status roof_records_next(struct roof_records *records, bool *more,
                                   struct roof_error *error)
{
    struct roof_records_private *const p = records->private_data;
    if (p->pending) {
        p->pending = false;
        *more = true;
        return ROOF_OK;
    }
    for (;;) {
        struct roof_error why;
        records->count++;
        const enum roof_status status =
            records->json ? next_object(records, more, &why) : next_row(records, more, &why);
        records->line = p->csv.line;
        if (status == ROOF_OK) {
            records->count -= *more ? 0 : 1;
            records->hardware = text_of(records, HARDWARE);
            records->hardware =
                *records->hardware == '\0' ? p->options.hardware : records->hardware;
            return with_memory(records, ROOF_OK, error);
        }
        if (status != ROOF_INVALID) {
            if (error != NULL) {
                *error = why;
            }
            return status;
        }
        roof_records_refuse(records, &why);
    }
}

static enum roof_status refuse_array(struct roof_records_private *p, struct roof_error *error)
{
    char *line = NULL;
    size_t length = 0;
    bool more = false;
    (void)roof_csv_line(&p->csv, &line, &length, &more, NULL); /* its number */
    return roof_error_at(error, ROOF_INVALID, p->csv.name, p->csv.line, 0,
                         "a JSON array; give one object per line (jq -c '.[]')");
}

enum roof_status roof_records_open(struct roof_records *out, const char *path,
                                   const struct roof_records_options *options,
                                   struct roof_error *error)
{
    *out = (struct roof_records){.measured_s = ROOF_UNKNOWN};
    struct roof_records_private *const p = calloc(1, sizeof *p);
    if (p == NULL) {
        return roof_no_memory(error);
    }
    out->private_data = p;
    out->column = p->name;
    out->cell = p->cell;
    out->carried = p->carried;
    p->options = *options;
    for (size_t i = 0; i < ROLES; i++) {
        p->of_role[i] = NO_COLUMN;
    }
    enum roof_status status = roof_csv_open(&p->csv, path, error);
    out->name = p->csv.name;
    p->csv.wait = options->wait;
    p->csv.wait_context = options->context;
    if (status != ROOF_OK) {
        return status;
    }
    const int first = roof_csv_first(&p->csv);
    if (first == '[') {
        return refuse_array(p, error);
    }
    out->json = first == '{';
    return out->json ? roof_records_next(out, &p->pending, error) : read_header(out, error);
}

void roof_records_close(struct roof_records *records)
{
    struct roof_records_private *const p = records->private_data;
    if (p == NULL) {
        return;
    }
    roof_csv_close(&p->csv);
    for (size_t i = 0; i < records->columns; i++) {
        free((char *)p->name[i]);
    }
    for (size_t i = 0; i < ROLES; i++) {
        roof_text_free(&p->trimmed[i]);
    }
    roof_text_free(&p->decoded);
    free(p->inference);
    free(p);
    *records = (struct roof_records){.private_data = NULL};
}

/* --- predictions --------------------------------------------------------------------------- */

/* Whether a text is the one that a column had last. Models and operators take different inputs. */
static inline bool as_before(const struct column *column, const char *text, bool model)
{
    return column->known && column->model == model && strcmp(column->last, text) == 0;
}

static void remember(struct column *column, const char *text, bool model, int64_t value)
{
    const size_t length = strlen(text);
    column->model = model;
    column->known = length < LAST_SIZE;
    if (column->known) {
        memcpy(column->last, text, length + 1);
        column->value = value;
    }
}

/* Says which cell is wrong. */
static enum roof_status bad_cell(const struct roof_records *r, size_t column,
                                 struct roof_error *error)
{
    return r->json ? roof_error_prefix(error, ROOF_INVALID, "%s: ", r->column[column])
                   : roof_error_prefix(error, ROOF_INVALID, "cell %zu: ", column + 1);
}

static bool is_request(const char *phase)
{
    return strcmp(phase, roof_phase_name(ROOF_PHASE_REQUEST)) == 0;
}

/* The value of a word, which is what a cell says; it goes into what is asked. */
static enum roof_status read_word(int64_t *value, struct roof_scenario *asked,
                                  const struct roof_input *input, const char *word,
                                  struct roof_error *error)
{
    if (input->kind == ROOF_INPUT_NUMBER) {
        return roof_input_parse_number(asked, input, word, error);
    }
    const enum roof_status status = roof_input_parse(value, input, word, error);
    if (status == ROOF_OK) {
        roof_input_put(asked, input, *value);
    }
    return status;
}

/* A cell whose text the column did not have before. */
static enum roof_status read_cell(struct roof_records_private *p, struct column *column,
                                  const char *text, bool model, struct roof_error *error)
{
    const struct roof_input *const input = column->input;
    char word[WORD_SIZE];
    const bool trimmed = trim(word, text);
    if (trimmed && *word == '\0') {
        return ROOF_OK;
    }
    enum roof_status status = roof_input_taken(input, model, error);
    if (status != ROOF_OK) {
        return status;
    }
    if (model && input == roof_input(ROOF_INPUT_PHASE) && trimmed && is_request(word)) {
        p->request = true; /* prompt and generate say so */
        return ROOF_OK;
    }
    if (trimmed && input->kind == ROOF_INPUT_FLAG) {
        plain_flag(word);
    }
    if (trimmed && (input->kind == ROOF_INPUT_FLAG || input->kind == ROOF_INPUT_INTEGER)) {
        plain_integer(word);
    }
    int64_t value = 0;
    status = read_word(&value, &p->asked, input, trimmed ? word : text, error);
    if (status == ROOF_OK && input->kind != ROOF_INPUT_NUMBER) {
        remember(column, text, model, value);
    }
    return status;
}

/* The inputs of a record; an empty cell says nothing. */
static enum roof_status read_cells(struct roof_records *r, bool model, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    for (size_t k = 0; k < p->inputs; k++) {
        struct column *const column = &p->column[p->input[k]];
        const char *const text = r->cell[p->input[k]];
        if (*text == '\0') {
            continue;
        }
        if (as_before(column, text, model)) {
            roof_input_put(&p->asked, column->input, column->value);
        } else if (read_cell(p, column, text, model, error) != ROOF_OK) {
            return bad_cell(r, p->input[k], error);
        }
    }
    return ROOF_OK;
}

/* An operator by its name in any case. */
static enum roof_status find_operator(enum roof_operator *out, const char *name,
                                      struct roof_error *error)
{
    char word[WORD_SIZE];
    if (trim(word, name)) {
        lower(word);
        if (roof_operator_find(out, word, NULL) == ROOF_OK) {
            return ROOF_OK;
        }
    }
    return roof_operator_find(out, name, error);
}

/* Which operator, or a model. */
static enum roof_status read_operator(bool *model, struct roof_records *r, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const enum roof_records_kind kind = p->options.kind;
    const char *const name = text_of(r, OPERATOR);
    *model = *name == '\0' ? kind == ROOF_RECORDS_MODELS : strcasecmp(name, "model") == 0;
    if (*model && kind == ROOF_RECORDS_OPERATORS) {
        return roof_error_set(
            error, ROOF_INVALID,
            "operator model: these go with predict model NAME " ROOF_KEY("from") " FILE");
    }
    if (!*model && kind == ROOF_RECORDS_MODELS) {
        return roof_error_set(error, ROOF_INVALID,
                              "operator %s: operators go with predict " ROOF_KEY("from") " FILE",
                              name);
    }
    if (*model) {
        return ROOF_OK;
    }
    if (*name == '\0' && p->options.op != ROOF_OPERATOR_COUNT) {
        p->asked.common.op = p->options.op;
        return ROOF_OK;
    }
    const size_t at = p->of_role[OPERATOR];
    struct column *const column = at == NO_COLUMN ? NULL : &p->column[at];
    if (column != NULL && as_before(column, name, false)) {
        p->asked.common.op = (enum roof_operator)column->value;
        return ROOF_OK;
    }
    const enum roof_status status = find_operator(&p->asked.common.op, name, error);
    if (status == ROOF_OK && column != NULL) {
        remember(column, name, false, p->asked.common.op);
    }
    return status;
}

/* Whether a cell of the record says something of an input. */
static bool says(const struct roof_records *r, size_t input)
{
    const struct roof_records_private *const p = r->private_data;
    for (size_t k = 0; k < p->inputs; k++) {
        if (p->column[p->input[k]].input == roof_input(input)) {
            return *r->cell[p->input[k]] != '\0';
        }
    }
    return false;
}

/* Predictions print lengths that follow from others. As records they name both, which inputs do
 * not: those that follow are left out, and checked where they can be. */
static enum roof_status infer_record(const struct roof_records *r, const struct roof_model *model,
                                     const struct roof_hardware *hardware, struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const struct roof_scenario *const base = p->options.base;
    struct roof_scenario *const asked = &p->asked;
    const int64_t chunk = asked->prefix_hit > 0 ? asked->chunk : 0;
    const int64_t context = asked->context == base->context ? 0 : asked->context;
    if (p->request && asked->prompt == 0 && asked->generate == 0) {
        return roof_error_set(error, ROOF_USAGE, "phase request needs prompt and generate");
    }
    if (!p->request && says(r, ROOF_INPUT_PHASE)) {
        if (says(r, ROOF_INPUT_PROMPT) || says(r, ROOF_INPUT_GENERATE)) {
            return roof_error_set(error, ROOF_USAGE, "prompt and generate are of phase request");
        }
        asked->prompt = asked->generate = 0; /* those of the command line are for others */
    }
    if (asked->draft_tokens == 0 && says(r, ROOF_INPUT_ACCEPTANCE)) {
        return roof_error_set(error, ROOF_USAGE, "acceptance needs draft_tokens");
    }
    if (p->request) { /* its lengths are prompt and generate */
        asked->context = base->context;
        asked->chunk = base->chunk;
    } else if (chunk > 0) { /* what the prefix cache leaves */
        asked->chunk = 0;
    }
    const enum roof_status status = roof_predict_model(p->inference, model, asked, hardware, error);
    if (status == ROOF_OK && !p->request && chunk > 0 && p->inference->scenario.chunk != chunk) {
        return roof_error_set(error, ROOF_USAGE,
                              "prefix_hit leaves a chunk of %" PRId64 ", not %" PRId64,
                              p->inference->scenario.chunk, chunk);
    }
    if (status == ROOF_OK && p->request && context > 0 &&
        p->inference->scenario.context != context) {
        return roof_error_set(error, ROOF_USAGE,
                              "prompt and generate give a context of %" PRId64 ", not %" PRId64,
                              p->inference->scenario.context, context);
    }
    return status;
}

static enum roof_status predict_model(struct roof_records *r, const struct roof_hardware *hardware,
                                      struct roof_error *error)
{
    struct roof_records_private *const p = r->private_data;
    const struct roof_records_options *const options = &p->options;
    const char *const named = text_of(r, MODEL);
    const char *const name = *named == '\0' ? options->model : named;
    const char *layout = text_of(r, LAYOUT);
    const struct roof_model *model = NULL;
    if (name == NULL) {
        return roof_error_set(error, ROOF_USAGE, "a row with operator model needs a model");
    }
    if (*text_of(r, DRAFT) != '\0' && p->asked.draft == NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "draft_model is no input: " ROOF_KEY("draft_model") " gives it");
    }
    if (*text_of(r, DRAFT) != '\0' && strcmp(text_of(r, DRAFT), p->asked.draft->id) != 0) {
        return roof_error_set(error, ROOF_USAGE,
                              "draft_model is %s, " ROOF_KEY("draft_model") " gives %s",
                              text_of(r, DRAFT), p->asked.draft->id);
    }
    if (p->asked.draft != NULL && p->asked.draft_tokens == 0) {
        return roof_error_set(error, ROOF_USAGE, ROOF_KEY("draft_model") " needs draft_tokens");
    }
    if (p->inference == NULL) {
        p->inference = malloc(sizeof *p->inference);
    }
    if (p->inference == NULL) {
        return roof_no_memory(error);
    }
    if (strcmp(layout, "file") == 0) { /* printed where the formats are those of the model's file */
        layout = "";
    }
    const enum roof_status status =
        options->load_model(options->context, &model, name, layout, error);
    if (status != ROOF_OK) {
        return status;
    }
    const struct roof_formats *const formats = &p->asked.common.formats;
    const bool precision = formats->precision != options->base->common.formats.precision;
    if (model->layout != NULL && (precision || formats->weights != ROOF_PRECISION_AUTO)) {
        return roof_error_set(error, ROOF_USAGE, "%s not go with the formats of a layout or a file",
                              precision ? "a precision does" : "weights do");
    }
    return infer_record(r, model, hardware, error);
}

static enum roof_status read_measured(struct roof_records *r, struct roof_error *error)
{
    static const char *const key = "measured_us";
    const char *const text = text_of(r, MEASURED);
    r->measured_s = ROOF_UNKNOWN;
    if (*text == '\0' && !r->private_data->options.measured) {
        return ROOF_OK;
    }
    const enum roof_status status = roof_parse_number(&r->measured_s, text, key, 1e-6, 1e15, error);
    r->measured_s = roof_from_unit(r->measured_s, ROOF_UNIT_MICROSECONDS);
    return status;
}

static enum roof_status predict_record(const struct roof_prediction **out,
                                       struct roof_records *records,
                                       const struct roof_hardware *hardware,
                                       struct roof_error *error)
{
    struct roof_records_private *const p = records->private_data;
    bool model = false;
    p->asked = *p->options.base;
    p->request = false;
    records->inference = NULL;
    enum roof_status status = read_measured(records, error);
    if (status == ROOF_OK) {
        status = read_operator(&model, records, error);
    }
    if (status == ROOF_OK) {
        status = read_cells(records, model, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    if (model) {
        status = predict_model(records, hardware, error);
        if (status == ROOF_OK) {
            records->inference = p->inference;
            *out = &p->inference->total;
        }
        return status;
    }
    *out = &p->prediction;
    status = roof_predict(&p->prediction, &p->asked.common, hardware, error);
    if (status == ROOF_OK && !isnan(records->measured_s)) {
        roof_predict_measured(&p->prediction, records->measured_s);
    }
    return status;
}

enum roof_status roof_records_predict(const struct roof_prediction **out,
                                      struct roof_records *records,
                                      const struct roof_hardware *hardware,
                                      struct roof_error *error)
{
    return with_memory(records, predict_record(out, records, hardware, error), error);
}
