// SPDX-License-Identifier: MIT
#include "simulate/bench_result.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/quantity.h"

#define MEMBERS_MAX 512
#define NUMBER_SIZE 64
#define SECONDS_MAX 1e12
#define BYTES_MAX ((size_t)1 << 30)
/* The bytes at the start of a file by which its format is recognised. */
#define BEGINNING ((size_t)1 << 16)

/* The arrays with one number per request; ITL arrays are summed to one number. */
enum list { PROMPTS, OUTPUTS, FIRSTS, GAPS, STARTS, LISTS };

static const char *const names[LISTS] = {[PROMPTS] = "input_lens",
                                         [OUTPUTS] = "output_lens",
                                         [FIRSTS] = "ttfts",
                                         [GAPS] = "itls",
                                         [STARTS] = "start_times"};

/* A result that is being read. */
struct reader {
    const char *name;
    const char *text;
    struct roof_json_member member[MEMBERS_MAX];
    size_t members;
    double *list[LISTS];
    size_t count[LISTS];
    double rate; /* requests per second; HUGE_VAL: all arrive at once */
    double users;
};

bool roof_bench_result_is(struct roof_csv *csv)
{
    return roof_csv_first(csv) == '{' && (roof_csv_ahead(csv, "\"input_lens\"", BEGINNING) ||
                                          roof_csv_ahead(csv, "\"mean_ttft_ms\"", BEGINNING) ||
                                          roof_csv_ahead(csv, "\"request_throughput\"", BEGINNING));
}

static const struct roof_json_member *find(const struct reader *r, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < r->members; i++) {
        if (r->member[i].key_length == length &&
            memcmp(r->text + r->member[i].key, name, length) == 0) {
            return &r->member[i];
        }
    }
    return NULL;
}

/* Reads a number at the beginning of a text. Returns its length, or 0 if there is none. */
static size_t read_number(double *out, const char *text)
{
    char number[NUMBER_SIZE];
    const size_t length = strspn(text, "+-.0123456789eE");
    if (length == 0 || length >= sizeof number) {
        return 0;
    }
    (void)snprintf(number, sizeof number, "%.*s", (int)length, text);
    return roof_parse_number(out, number, "", -SECONDS_MAX, SECONDS_MAX, NULL) == ROOF_OK ? length
                                                                                          : 0;
}

static enum roof_status add(struct reader *r, enum list list, size_t *room, double value,
                            struct roof_error *error)
{
    if (r->count[list] == *room) {
        double *const more = roof_grow(r->list[list], room, 256, sizeof *more);
        if (more == NULL) {
            return roof_no_memory(error);
        }
        r->list[list] = more;
    }
    r->list[list][r->count[list]++] = value;
    return ROOF_OK;
}

/* Reads an array of numbers, or of arrays of numbers, which are summed up. */
static enum roof_status read_list(struct reader *r, enum list list, struct roof_error *error)
{
    const struct roof_json_member *const m = find(r, names[list]);
    const char *at = m == NULL ? "" : r->text + m->value;
    const char *const end = m == NULL ? at : at + m->length;
    const bool nested = list == GAPS;
    size_t room = 0;
    int depth = 0;
    double sum = 0;
    while (at < end) {
        double value = 0;
        const size_t length = read_number(&value, at);
        if (length > 0 && depth == 1 + nested) {
            sum += value;
            at += length;
        } else if (strchr("[], \t\r\n", *at) == NULL) {
            return roof_error_at(error, ROOF_INVALID, r->name, 0, 0, "%s must be an array of %s",
                                 names[list], nested ? "arrays of numbers" : "numbers");
        } else {
            depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
            sum = *at == '[' ? 0 : sum;
            at++;
        }
        if (nested ? at[-1] == ']' && depth == 1 : length > 0) {
            TRY(add(r, list, &room, sum, error));
            sum = 0;
        }
    }
    return ROOF_OK;
}

/* Reads a number that may be infinite ("inf", Infinity or null), in which case *out is unchanged.
 */
static void read_scalar(double *out, const struct reader *r, const char *name)
{
    const struct roof_json_member *const m = find(r, name);
    double value = 0;
    if (m != NULL && read_number(&value, r->text + m->value) > 0) {
        *out = value;
    }
}

/* Checks that all arrays have the same length, and that the arrival times are known. */
static enum roof_status check(const struct reader *r, struct roof_error *error)
{
    for (int i = PROMPTS; i <= GAPS; i++) {
        if (r->count[i] == 0) {
            (void)roof_error_at(error, ROOF_INVALID, r->name, 0, 0,
                                "this result of bench serve has no %s: run vLLM with ", names[i]);
            roof_error_append(error, "--save-detailed, or SGLang with --output-details");
            return ROOF_INVALID;
        }
    }
    for (int i = OUTPUTS; i < LISTS; i++) {
        if (r->count[i] != r->count[PROMPTS] && (i != STARTS || r->count[i] > 0)) {
            return roof_error_at(error, ROOF_INVALID, r->name, 0, 0,
                                 "%s has %zu requests, and %s has %zu", names[i], r->count[i],
                                 names[PROMPTS], r->count[PROMPTS]);
        }
    }
    if (isfinite(r->rate) && r->count[STARTS] == 0) {
        (void)roof_error_at(error, ROOF_INVALID, r->name, 0, 0,
                            "requests came at random (request_rate %g), and there are no ",
                            r->rate);
        roof_error_append(error, "start_times: newer releases of vLLM write them, or run it with "
                                 "--max-concurrency and no --request-rate");
        return ROOF_INVALID;
    }
    return ROOF_OK;
}

/* Refuses a negative time. */
static enum roof_status check_time(const struct reader *r, enum list list, size_t i,
                                   struct roof_error *error)
{
    return r->list[list][i] >= 0
               ? ROOF_OK
               : roof_error_at(error, ROOF_INVALID, r->name, 0, 0,
                               "%s of request %zu: a time must not be negative, and this is %g s",
                               names[list], i + 1, r->list[list][i]);
}

/* Makes the requests. A failed request has no output tokens, or no first one. */
static enum roof_status make(struct roof_bench_result *out, const struct reader *r,
                             struct roof_error *error)
{
    const bool at_once = !isfinite(r->rate);
    out->users = at_once && r->users >= 1 ? (int64_t)r->users : 0;
    out->request = calloc(r->count[PROMPTS], sizeof *out->request);
    if (out->request == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < r->count[PROMPTS]; i++) {
        const double prompt = r->list[PROMPTS][i];
        const double generate = r->list[OUTPUTS][i];
        const double first = r->list[FIRSTS][i];
        const double gaps = r->list[GAPS][i];
        TRY(check_time(r, FIRSTS, i, error));
        TRY(check_time(r, GAPS, i, error));
        if (!(prompt >= 1 && prompt <= ROOF_LENGTH_MAX && generate >= 1 &&
              generate <= ROOF_LENGTH_MAX && first > 0)) {
            out->failed++;
            continue;
        }
        struct roof_traced *const t = &out->request[out->count++];
        *t = (struct roof_traced){.time_s = at_once ? 0 : r->list[STARTS][i],
                                  .prompt = (int64_t)prompt,
                                  .generate = (int64_t)generate};
        t->measured[ROOF_LATENCY_TTFT] = first;
        t->measured[ROOF_LATENCY_E2E] = first + gaps;
        t->measured[ROOF_LATENCY_TPOT] = generate > 1 ? gaps / (generate - 1) : ROOF_UNKNOWN;
    }
    return ROOF_OK;
}

static enum roof_status read_text(struct roof_bench_result *out, struct reader *r, size_t length,
                                  struct roof_error *error)
{
    const enum roof_status status =
        roof_json_members(r->member, &r->members, MEMBERS_MAX, r->text, length, r->name, 1, error);
    if (status == ROOF_INVALID && *r->text == '{' && strstr(r->text, "}\n{") != NULL) {
        return roof_error_at(error, ROOF_INVALID, r->name, 0, 0,
                             "this file has several results of bench serve: give a file with one");
    }
    TRY(status);
    for (int i = 0; i < LISTS; i++) {
        TRY(read_list(r, (enum list)i, error));
    }
    read_scalar(&r->rate, r, "request_rate");
    read_scalar(&r->users, r, "max_concurrency");
    TRY(check(r, error));
    return make(out, r, error);
}

enum roof_status roof_bench_result_read(struct roof_bench_result *out, struct roof_csv *csv,
                                        struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct reader *const r = calloc(1, sizeof *r);
    *out = (struct roof_bench_result){.count = 0};
    if (r == NULL) {
        return roof_no_memory(error);
    }
    r->name = csv->name;
    r->rate = HUGE_VAL;
    enum roof_status status = roof_csv_rest(&text, csv, BYTES_MAX, error);
    if (status == ROOF_OK) {
        r->text = text.data;
        status = read_text(out, r, text.length, error);
    }
    for (int i = 0; i < LISTS; i++) {
        free(r->list[i]);
    }
    free(r);
    roof_text_free(&text);
    return status;
}

void roof_bench_result_free(struct roof_bench_result *result)
{
    free(result->request);
    *result = (struct roof_bench_result){.count = 0};
}
