// SPDX-License-Identifier: MIT
#include "simulate/trace_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/csv.h"
#include "base/date.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/quantity.h"
#include "simulate/bench_result.h"

/* The relative error of measured times that are rounded. */
#define ROUNDING 1e-3
#define MEMBERS_MAX 64
#define NUMBER_SIZE 64
#define SECONDS_MAX 1e12

/* --- columns ------------------------------------------------------------------------------- */

/* The meaning of a column. */
enum role { TIME, PROMPT, GENERATE, QUEUED, FIRST, LAST, TTFT, TPOT, E2E, ROLES };

/* Names of columns. A name only counts if no earlier name of its role is present. */
static const struct {
    const char *name;
    enum role role;
    double unit; /* factor from the value to seconds or tokens */
} columns[] = {
    {"arrival_s", TIME, 1},    /* the columns that simulate writes */
    {"prompt", PROMPT, 1},     /* */
    {"generate", GENERATE, 1}, /* */
    {"arrived_at", TIME, 1},   /* Vidur */
    {"num_prefill_tokens", PROMPT, 1},
    {"num_decode_tokens", GENERATE, 1},
    {"arrival_time_ns", TIME, 1e-9}, /* LLMServingSim */
    {"arrival_time", TIME, 1},
    {"input_toks", PROMPT, 1},
    {"output_toks", GENERATE, 1},
    {"queued_ts", QUEUED, 1},
    {"first_token_ts", FIRST, 1},
    {"last_token_ts", LAST, 1},
    {"ttft_ms", TTFT, 1e-3}, /* durations, as simulate writes them */
    {"tpot_ms", TPOT, 1e-3},
    {"e2e_ms", E2E, 1e-3},
    {"input_length", PROMPT, 1}, /* Mooncake, whose timestamps are milliseconds */
    {"output_length", GENERATE, 1},
    {"ContextTokens", PROMPT, 1}, /* Azure */
    {"GeneratedTokens", GENERATE, 1},
    {"Request tokens", PROMPT, 1}, /* BurstGPT */
    {"Response tokens", GENERATE, 1},
    {"timestamp", TIME, 1},
    {"time", TIME, 1}, /* other words for them */
    {"input_tokens", PROMPT, 1},
    {"output_tokens", GENERATE, 1},
    {"prompt_tokens", PROMPT, 1},
    {"completion_tokens", GENERATE, 1},
    {"prompt_len", PROMPT, 1},
    {"output_len", GENERATE, 1},
    {"input_len", PROMPT, 1},
};

/* The file and the current line. */
struct roof_trace_reader {
    struct roof_csv csv;
    bool json;
    size_t place[ROLES]; /* CSV: the cell of each role */
    double unit[ROLES];
    bool known[ROLES];
    double value[ROLES]; /* values of the line; NAN: missing */
    size_t empty;        /* number of lines without tokens so far */
    int64_t part_tokens; /* tokens per id in the line; 0: ids are ignored */
    uint64_t *id;        /* ids of the line */
    size_t ids;
    size_t ids_room;
    struct roof_bench_result bench; /* the content of a result of `bench serve` */
    size_t bench_next;              /* index of its next request */
};

/* Finds the row of a column name; COUNT(columns) for unknown names. */
static size_t column_of(const char *name, size_t length)
{
    size_t i = 0;
    while (i < COUNT(columns) &&
           (strlen(columns[i].name) != length || strncasecmp(columns[i].name, name, length) != 0)) {
        i++;
    }
    return i;
}

/* --- values -------------------------------------------------------------------------------- */

static enum roof_status bad_line(const struct roof_trace_reader *r, struct roof_error *error,
                                 const char *what, const char *text)
{
    return roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0, "%s '%s'", what, text);
}

static enum roof_status bad_time(const struct roof_trace_reader *r, struct roof_error *error,
                                 double most, const char *text)
{
    return roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0,
                         "a time must be a number from %g to %g or a date such as 2023-11-16 "
                         "18:17:03.5, not '%s'",
                         -most, most, text);
}

/* Reads the value for a role. */
static enum roof_status read_value(struct roof_trace_reader *r, enum role role, double unit,
                                   const char *text, struct roof_error *error)
{
    const bool tokens = role == PROMPT || role == GENERATE;
    double value = 0;
    if (*text == '\0') {
        return ROOF_OK;
    }
    if (roof_parse_number(&value, text, "", -SECONDS_MAX / unit, SECONDS_MAX / unit, NULL) !=
            ROOF_OK &&
        !(role == TIME && roof_date_read(&value, text))) {
        return tokens ? bad_line(r, error, "a number of tokens is expected, not", text)
                      : bad_time(r, error, SECONDS_MAX / unit, text);
    }
    if (tokens && (value < 0 || value > ROOF_LENGTH_MAX || value != floor(value))) {
        return bad_line(r, error, "a number of tokens from 0 to 100000000 is expected, not", text);
    }
    r->value[role] = value * unit;
    return ROOF_OK;
}

/* --- lines --------------------------------------------------------------------------------- */

/* Finds the roles of the cells in a header. */
static void read_header(struct roof_trace_reader *r)
{
    size_t best[ROLES] = {0};
    for (size_t i = 0; i < r->csv.count; i++) {
        const size_t column = column_of(r->csv.cell[i], strlen(r->csv.cell[i]));
        if (column == COUNT(columns)) {
            continue;
        }
        const enum role role = columns[column].role;
        if (!r->known[role] || column < best[role]) {
            best[role] = column;
            r->place[role] = i;
            r->unit[role] = columns[column].unit;
            r->known[role] = true;
        }
    }
}

static enum roof_status read_row(struct roof_trace_reader *r, bool *more, struct roof_error *error)
{
    TRY(roof_csv_read(&r->csv, more, error));
    for (int i = 0; *more && i < ROLES; i++) {
        if (r->known[i] && r->place[i] < r->csv.count) {
            TRY(read_value(r, (enum role)i, r->unit[i], r->csv.cell[r->place[i]], error));
        }
    }
    return ROOF_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '[' || c == ']';
}

/* Reads the ids of the parts of a prompt: an array of whole numbers. */
static enum roof_status read_ids(struct roof_trace_reader *r, const char *text, size_t length,
                                 struct roof_error *error)
{
    size_t i = 0;
    r->ids = 0;
    while (i < length) {
        if (is_blank(text[i])) {
            i++;
            continue;
        }
        uint64_t id = 0;
        const size_t begin = i;
        for (; i < length && text[i] >= '0' && text[i] <= '9' && id < UINT64_MAX / 10 - 1; i++) {
            id = 10 * id + (uint64_t)(text[i] - '0');
        }
        if (i == begin || (i < length && !is_blank(text[i]))) {
            return roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0,
                                 "hash_ids must be an array of whole numbers below 10^18");
        }
        if (r->ids == r->ids_room) {
            uint64_t *const more = roof_grow(r->id, &r->ids_room, 64, sizeof *more);
            if (more == NULL) {
                return roof_no_memory(error);
            }
            r->id = more;
        }
        r->id[r->ids++] = id;
    }
    return ROOF_OK;
}

static bool names_ids(const char *key, size_t length)
{
    static const char name[] = "hash_ids";
    return length == sizeof name - 1 && strncasecmp(key, name, length) == 0;
}

/* Reads a line of JSON. A numeric "timestamp" is in milliseconds. */
static enum roof_status read_object(struct roof_trace_reader *r, bool *more,
                                    struct roof_error *error)
{
    struct roof_json_member member[MEMBERS_MAX];
    size_t count = 0;
    char *line = NULL;
    size_t length = 0;
    size_t best[ROLES] = {0};
    TRY(roof_csv_line(&r->csv, &line, &length, more, error));
    if (!*more) {
        return ROOF_OK;
    }
    TRY(roof_json_members(member, &count, MEMBERS_MAX, line, length, r->csv.name, r->csv.line,
                          error));
    for (size_t i = 0; i < count; i++) {
        const size_t column = column_of(line + member[i].key, member[i].key_length);
        const bool quoted = line[member[i].value] == '"';
        char text[NUMBER_SIZE];
        if (r->part_tokens > 0 && names_ids(line + member[i].key, member[i].key_length)) {
            TRY(read_ids(r, line + member[i].value, member[i].length, error));
        }
        if (column == COUNT(columns) || best[columns[column].role] > COUNT(columns) - column) {
            continue;
        }
        best[columns[column].role] = COUNT(columns) - column;
        const size_t used = member[i].length - (quoted ? 2 : 0);
        (void)snprintf(text, sizeof text, "%.*s",
                       (int)(used < NUMBER_SIZE ? used : NUMBER_SIZE - 1),
                       line + member[i].value + (quoted ? 1 : 0));
        if (!quoted && strcmp(text, "null") == 0) {
            text[0] = '\0'; /* no value */
        }
        const bool milliseconds = !quoted && strcmp(columns[column].name, "timestamp") == 0;
        TRY(read_value(r, columns[column].role, milliseconds ? 1e-3 : columns[column].unit, text,
                       error));
    }
    return ROOF_OK;
}

/* --- requests ------------------------------------------------------------------------------ */

/* Checks that a line has an id for each part of its prompt. */
static enum roof_status check_ids(const struct roof_trace_reader *r, int64_t prompt,
                                  struct roof_error *error)
{
    const int64_t parts = (prompt + r->part_tokens - 1) / r->part_tokens;
    if (r->ids == 0) {
        return roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0,
                             ROOF_PREFIX_CACHE_NEEDS);
    }
    if (r->ids != (size_t)parts) {
        (void)roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0,
                            "a prompt of %" PRId64 " tokens has %" PRId64 " hash_ids, one for each "
                            "%" PRId64 " tokens",
                            prompt, parts, r->part_tokens);
        roof_error_append(error, " (" ROOF_KEY("hash_tokens") "); here are %zu", r->ids);
        return ROOF_INVALID;
    }
    return ROOF_OK;
}

/* Says what a request lacks, with three of the columns that may have it. */
static enum roof_status missing(const struct roof_trace_reader *r, enum role role,
                                struct roof_error *error)
{
    static const char *const what[] = {[TIME] = "time",
                                       [PROMPT] = "number of prompt tokens",
                                       [GENERATE] = "number of generated tokens"};
    static const char *const before[] = {", in a column such as ", ", ", " or "};
    size_t named = 0;
    (void)roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0, "a request needs a %s",
                        what[role]);
    for (size_t i = 0; i < COUNT(columns) && named < COUNT(before); i++) {
        if (columns[i].role == role) {
            roof_error_append(error, "%s%s", before[named++], columns[i].name);
        }
    }
    return ROOF_INVALID;
}

/* Finds the measured times of a request, which the file has as durations or as times of its clock.
 * The time of the whole request may follow from that of a token. */
static void put_measured(struct roof_traced *out, const double v[ROLES])
{
    const double tokens = v[GENERATE] - 1; /* after the first */
    const double first = isnan(v[TTFT]) ? v[FIRST] - out->time_s : v[TTFT];
    const double summed = tokens > 0 ? first + tokens * v[TPOT] : first;
    const double clocked = isnan(v[LAST]) ? summed : v[LAST] - out->time_s;
    const double whole = isnan(v[E2E]) ? clocked : v[E2E];
    out->measured[ROOF_LATENCY_TTFT] = first;
    out->measured[ROOF_LATENCY_E2E] = whole;
    out->measured[ROOF_LATENCY_TPOT] = tokens > 0 ? (whole - first) / tokens : ROOF_UNKNOWN;
}

/* Checks that measured times are possible. Rounding may put the end before the first token. */
static enum roof_status check_measured(const struct roof_trace_reader *r,
                                       const struct roof_traced *request, struct roof_error *error)
{
    const double first = request->measured[ROOF_LATENCY_TTFT];
    const double last = request->measured[ROOF_LATENCY_E2E];
    if (first <= 0 || last < first * (1 - ROUNDING)) {
        (void)roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0,
                            "the first token comes %g ms after the request, and the last one %g ms",
                            1e3 * first, 1e3 * last);
        roof_error_append(error, "; the first must come after it, and the last not before the "
                                 "first");
        return ROOF_INVALID;
    }
    return ROOF_OK;
}

/* Makes the request of a line; *full is false for one without tokens. A request that an engine
 * measured arrives when it was queued there. */
static enum roof_status make_request(struct roof_traced *out, bool *full,
                                     const struct roof_trace_reader *r, struct roof_error *error)
{
    const double *const v = r->value;
    const double time = isnan(v[QUEUED]) ? v[TIME] : v[QUEUED];
    if (isnan(time) || isnan(v[PROMPT]) || isnan(v[GENERATE])) {
        return missing(r, isnan(time) ? TIME : isnan(v[PROMPT]) ? PROMPT : GENERATE, error);
    }
    *full = v[PROMPT] >= 1 && v[GENERATE] >= 1;
    if (!*full) {
        return ROOF_OK;
    }
    *out = (struct roof_traced){.time_s = time,
                                .prompt = (int64_t)v[PROMPT],
                                .generate = (int64_t)v[GENERATE],
                                .ids = r->part_tokens > 0 ? r->id : NULL,
                                .id_count = r->ids,
                                .line = r->csv.line};
    put_measured(out, v);
    TRY(check_measured(r, out, error));
    return r->part_tokens > 0 ? check_ids(r, out->prompt, error) : ROOF_OK;
}

enum roof_status roof_trace_reader_next(struct roof_traced *out, bool *more,
                                        struct roof_trace_reader *r, struct roof_error *error)
{
    bool full = false;
    *more = true;
    if (r->bench.request != NULL) {
        *more = r->bench_next < r->bench.count;
        if (*more) {
            *out = r->bench.request[r->bench_next++];
        }
        return ROOF_OK;
    }
    while (!full) {
        for (int i = 0; i < ROLES; i++) {
            r->value[i] = ROOF_UNKNOWN;
        }
        r->ids = 0;
        TRY(r->json ? read_object(r, more, error) : read_row(r, more, error));
        if (!*more) {
            return ROOF_OK;
        }
        TRY(make_request(out, &full, r, error));
        r->empty += full ? 0 : 1;
    }
    return ROOF_OK;
}

/* --- life ---------------------------------------------------------------------------------- */

/* Recognises the format, and reads the header if there is one. */
static enum roof_status begin(struct roof_trace_reader *r, struct roof_error *error)
{
    bool more = false;
    r->empty = 0;
    r->json = roof_csv_first(&r->csv) == '{';
    if (!r->json) {
        TRY(roof_csv_read(&r->csv, &more, error));
        read_header(r);
    }
    return ROOF_OK;
}

enum roof_status roof_trace_reader_open(struct roof_trace_reader **out, const char *path,
                                        int64_t part_tokens, struct roof_error *error)
{
    struct roof_trace_reader *const r = calloc(1, sizeof *r);
    *out = r;
    if (r == NULL) {
        return roof_no_memory(error);
    }
    r->part_tokens = part_tokens;
    TRY(roof_csv_open_twice(&r->csv, path, error));
    if (part_tokens == 0 && roof_bench_result_is(&r->csv)) {
        TRY(roof_bench_result_read(&r->bench, &r->csv, error));
        r->empty = r->bench.failed;
        return ROOF_OK;
    }
    return begin(r, error);
}

void roof_trace_reader_close(struct roof_trace_reader *r)
{
    if (r != NULL) {
        roof_csv_close(&r->csv);
        roof_bench_result_free(&r->bench);
        free(r->id);
        free(r);
    }
}

enum roof_status roof_trace_reader_rewind(struct roof_trace_reader *r, struct roof_error *error)
{
    if (r->bench.request != NULL) {
        r->bench_next = 0;
        return ROOF_OK;
    }
    TRY(roof_csv_rewind(&r->csv, error));
    return begin(r, error);
}

int64_t roof_trace_reader_users(const struct roof_trace_reader *r)
{
    return r->bench.users;
}

size_t roof_trace_reader_empty(const struct roof_trace_reader *r)
{
    return r->empty;
}

const char *roof_trace_reader_name(const struct roof_trace_reader *r)
{
    return r->csv.name;
}
