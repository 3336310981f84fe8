// SPDX-License-Identifier: MIT
/* The columns of an open file of records: their roles, and the words in their cells. Only the files
 * that read and predict records use this. */
#ifndef ROOF_DECIDE_RECORD_COLUMNS_H
#define ROOF_DECIDE_RECORD_COLUMNS_H

#include "base/csv.h"
#include "base/json.h"
#include "decide/records.h"

/* A row has as many cells as a file has columns. */
_Static_assert(ROOF_RECORD_COLUMNS_MAX == ROOF_CSV_CELLS_MAX, "one limit for both");

/* The roles of columns. */
enum roof_column_role {
    ROOF_COLUMN_CARRIED,
    ROOF_COLUMN_IGNORED, /* a key of predictions that is not an input */
    ROOF_COLUMN_INPUT,
    ROOF_COLUMN_OPERATOR,
    ROOF_COLUMN_HARDWARE,
    ROOF_COLUMN_MODEL,
    ROOF_COLUMN_LAYOUT,
    ROOF_COLUMN_DRAFT,
    ROOF_COLUMN_MEASURED,
    ROOF_COLUMN_TTFT,
    ROOF_COLUMN_TPOT,
    ROOF_COLUMN_E2E,
    ROOF_COLUMN_RATE,
    ROOF_COLUMN_CONCURRENCY,
    /* The following roles belong to results of serving benchmarks. */
    ROOF_COLUMN_MAX_CONCURRENCY,
    ROOF_COLUMN_REQUEST_RATE,
    ROOF_COLUMN_REQUEST_THROUGHPUT,
    ROOF_COLUMN_COMPLETED,
    ROOF_COLUMN_PROMPT_TOKENS,
    ROOF_COLUMN_GENERATED_TOKENS,
    ROOF_COLUMN_ROLES
};

#define ROOF_NO_COLUMN ROOF_RECORD_COLUMNS_MAX
#define ROOF_LAST_CELL_SIZE 32
/* Texts of at least this size are neither names nor values of inputs. */
#define ROOF_WORD_SIZE 128

/* A column with its last text and value, because most cells repeat those of the previous row. */
struct roof_record_column {
    enum roof_column_role role;
    const struct roof_input *input; /* the input of a ROOF_COLUMN_INPUT */
    size_t carried;                 /* the index of a ROOF_COLUMN_CARRIED among these */
    size_t name_length;
    bool known; /* last and value are valid, for a record of a model or of an operator */
    bool model;
    char last[ROOF_LAST_CELL_SIZE];
    int64_t value;
};

struct roof_records_private {
    struct roof_records_options options;
    struct roof_csv csv;
    struct roof_record_column column[ROOF_RECORD_COLUMNS_MAX];
    const char *name[ROOF_RECORD_COLUMNS_MAX];
    char *owned[ROOF_RECORD_COLUMNS_MAX];  /* the same names, owned */
    size_t input[ROOF_RECORD_COLUMNS_MAX]; /* columns that are inputs */
    size_t inputs;
    size_t of_role[ROOF_COLUMN_ROLES]; /* the column of each other role; ROOF_NO_COLUMN: none */
    struct roof_text trimmed[ROOF_COLUMN_ROLES]; /* its text, if it had trailing blanks */
    bool failed;                                 /* one of them could not be allocated */
    struct roof_carried carried[ROOF_RECORD_COLUMNS_MAX];
    struct roof_scenario asked;
    bool request;               /* the phase of the record is a whole request */
    char named[ROOF_WORD_SIZE]; /* its precision, if that is a name of formats, or "" */
    size_t named_column;
    int64_t devices; /* devices in a record of a model, for which this is not an input; 0: none */
    struct roof_prediction prediction;
    struct roof_model_prediction *model_prediction; /* NULL until the first record about a model */
    /* The following members are only used for NDJSON. */
    bool pending; /* the current record was already read to find its keys */
    bool unfit;   /* the line that was read last must be converted before it can be read */
    const char *cell[ROOF_RECORD_COLUMNS_MAX];
    uint64_t seen[ROOF_RECORD_COLUMNS_MAX]; /* the last record with each key */
    struct roof_json_member member[ROOF_RECORD_COLUMNS_MAX];
    size_t at[ROOF_RECORD_COLUMNS_MAX]; /* the column of each member in the previous record */
    struct roof_text decoded;
};

/* Copies a text without the surrounding blanks; false if it is too long for any word. */
bool roof_word_trim(char out[ROOF_WORD_SIZE], const char *text);

/* Changes a text to lower case in any locale. */
void roof_word_lower(char *text);

/* Returns the role of a column by its name, in any case, with - for _ and with surrounding blanks;
 * *input is set for a ROOF_COLUMN_INPUT. */
enum roof_column_role roof_column_role(const char *name, enum roof_records_kind kind,
                                       size_t *input);

/* Adds a column; ROOF_INVALID if there are too many. */
enum roof_status roof_column_add(struct roof_records *r, const char *name, size_t length,
                                 struct roof_error *error);

/* Finds the column with a name, or that of the same input; ROOF_NO_COLUMN: none. */
size_t roof_column_find(const struct roof_records *r, const char *name, size_t length);

/* Returns the text of the record in the column of a role, without surrounding blanks; "" if it has
 * none. It sets `failed` of the records without memory. */
const char *roof_column_text(const struct roof_records *r, enum roof_column_role role);

/* Tells whether the record has an input. */
bool roof_record_says(const struct roof_records *r, size_t input);

/* Replaces a status by ROOF_MEMORY if a text of the record could not be allocated. */
enum roof_status roof_records_with_memory(const struct roof_records *r, enum roof_status status,
                                          struct roof_error *error);

#endif
