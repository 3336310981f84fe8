// SPDX-License-Identifier: MIT
#include "simulate/rate_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/csv.h"
#include "base/date.h"
#include "base/grow.h"
#include "base/quantity.h"
#include "simulate/arrivals.h"

#define INTERVALS_MAX 10000
#define SECONDS_MAX 1e12
#define HOURS_MAX 1000000

struct reader {
    struct roof_csv csv;
    size_t time; /* places of the cells in a row */
    size_t rate;
    size_t room;
};

static enum roof_status bad(const struct reader *r, struct roof_error *error, const char *what,
                            const char *text)
{
    return roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0, "%s '%s'", what, text);
}

/* Reads "18:30" or "18:30:15". */
static bool read_clock(double *out, const char *text)
{
    int hours = 0;
    int minutes = 0;
    int seconds = 0;
    int used = 0;
    int all = 0;
    const int count = sscanf(text, "%7d:%2d%n:%2d%n", &hours, &minutes, &used, &seconds, &all);
    if (count < 2 || text[count == 3 ? all : used] != '\0' || hours < 0 || hours > HOURS_MAX ||
        minutes < 0 || minutes > 59 || seconds < 0 || seconds > 60) {
        return false;
    }
    *out = 3600. * hours + 60. * minutes + seconds;
    return true;
}

static bool read_time(double *out, const char *text)
{
    return roof_parse_number(out, text, "", -SECONDS_MAX, SECONDS_MAX, NULL) == ROOF_OK ||
           roof_date_read(out, text) || read_clock(out, text);
}

/* Finds the columns. */
static enum roof_status read_header(struct reader *r, struct roof_error *error)
{
    bool more = false;
    r->time = r->rate = ROOF_CSV_CELLS_MAX;
    TRY(roof_csv_read(&r->csv, &more, error));
    for (size_t i = 0; more && i < r->csv.count; i++) {
        r->time = strcasecmp(r->csv.cell[i], "time") == 0 ? i : r->time;
        r->rate = strcasecmp(r->csv.cell[i], "rate") == 0 ? i : r->rate;
    }
    return r->time < ROOF_CSV_CELLS_MAX && r->rate < ROOF_CSV_CELLS_MAX
               ? ROOF_OK
               : roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0,
                               "a file of rates must be CSV with the columns time and rate");
}

static enum roof_status read_rate(double *out, const struct reader *r, const char *text,
                                  struct roof_error *error)
{
    return roof_parse_number(out, text, "", 0, 0, NULL) == ROOF_OK ||
                   roof_rate_read(out, text, NULL) == ROOF_OK
               ? ROOF_OK
               : bad(r, error, "a rate must be 0 or from 1e-06 to 1e+09 requests per second, not",
                     text);
}

/* Adds the interval of a row. */
static enum roof_status add(struct roof_rate_trace *t, struct reader *r, struct roof_error *error)
{
    const char *const time = r->time < r->csv.count ? r->csv.cell[r->time] : "";
    const char *const rate = r->rate < r->csv.count ? r->csv.cell[r->rate] : "";
    if (t->count == r->room) {
        struct roof_rate_interval *const more =
            roof_grow(t->interval, &r->room, 64, sizeof *t->interval);
        if (more == NULL) {
            return roof_no_memory(error);
        }
        t->interval = more;
    }
    struct roof_rate_interval *const i = &t->interval[t->count];
    if (!read_time(&i->begin_s, time)) {
        return bad(r, error, "a time must be a number of seconds, 18:30, or 2023-11-16 18:30, not",
                   time);
    }
    if (t->count > 0 && i->begin_s <= i[-1].begin_s) {
        return bad(
            r, error,
            "times must rise from row to row; this one is not later than the one before:", time);
    }
    if (t->count == INTERVALS_MAX) {
        return roof_error_at(error, ROOF_INVALID, r->csv.name, r->csv.line, 0,
                             "a file of rates may have at most %d rows", INTERVALS_MAX);
    }
    TRY(read_rate(&i->rate, r, rate, error));
    (void)snprintf(i->time, sizeof i->time, "%.*s", ROOF_RATE_TIME_SIZE - 1, time);
    t->count++;
    return ROOF_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* Computes the lengths of the intervals and the distinct rates. */
static enum roof_status finish(struct roof_rate_trace *t, const struct reader *r,
                               struct roof_error *error)
{
    if (t->count < 2) {
        return roof_error_at(error, ROOF_INVALID, r->csv.name, 0, 0,
                             "a file of rates needs at least two rows");
    }
    t->rate = calloc(t->count, sizeof *t->rate);
    t->weight = calloc(t->count, sizeof *t->weight);
    if (t->rate == NULL || t->weight == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < t->count; i++) {
        struct roof_rate_interval *const at = &t->interval[i];
        at->duration_s = i + 1 < t->count ? at[1].begin_s - at->begin_s : at[-1].duration_s;
        t->rate[i] = at->rate;
    }
    qsort(t->rate, t->count, sizeof *t->rate, by_value);
    for (size_t i = 0; i < t->count; i++) {
        if (t->rate[i] > 0 && (t->rates == 0 || t->rate[i] > t->rate[t->rates - 1])) {
            t->rate[t->rates++] = t->rate[i];
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        const double *const found =
            bsearch(&t->interval[i].rate, t->rate, t->rates, sizeof *t->rate, by_value);
        t->interval[i].place = found == NULL ? t->rates : (size_t)(found - t->rate);
        if (found != NULL) {
            t->weight[found - t->rate] += t->interval[i].duration_s;
        }
    }
    return t->rates > 0 ? ROOF_OK
                        : roof_error_at(error, ROOF_INVALID, r->csv.name, 0, 0, "all rates are 0");
}

enum roof_status roof_rate_trace_read(struct roof_rate_trace *out, const char *path,
                                      struct roof_error *error)
{
    struct reader r = {.room = 0};
    bool more = true;
    *out = (struct roof_rate_trace){0};
    enum roof_status status = roof_csv_open(&r.csv, path, error);
    if (status == ROOF_OK) {
        status = read_header(&r, error);
    }
    while (status == ROOF_OK && more) {
        status = roof_csv_read(&r.csv, &more, error);
        if (status == ROOF_OK && more) {
            status = add(out, &r, error);
        }
    }
    if (status == ROOF_OK) {
        status = finish(out, &r, error);
    }
    roof_csv_close(&r.csv);
    return status;
}

void roof_rate_trace_free(struct roof_rate_trace *trace)
{
    free(trace->interval);
    free(trace->rate);
    free(trace->weight);
    trace->interval = NULL;
    trace->weight = NULL;
    trace->rate = NULL;
}
