// SPDX-License-Identifier: MIT
#include "simulate/trace.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"

/* --- the first time ------------------------------------------------------------------------ */

/* Results of the first pass over a file. */
struct scan {
    int unordered; /* the first line whose time is before that of the line above; 0: there is none
                    */
    bool measured; /* at least one request has measured times */
};

static enum roof_status refuse_order(const struct roof_request_trace *t, int line,
                                     struct roof_error *error)
{
    return roof_error_at(error, ROOF_INVALID, roof_trace_reader_name(t->reader), line, 0,
                         "the time is before that of the line above: sort the file (only files of "
                         "up to %d requests are sorted when they are read)",
                         ROOF_TRACE_SORTED_MAX);
}

static enum roof_status refuse_none(const struct roof_request_trace *t, struct roof_error *error)
{
    const char *const file = roof_trace_reader_name(t->reader);
    return t->empty == 0
               ? roof_error_at(error, ROOF_INVALID, file, 0, 0, "the file has no requests")
               : roof_error_at(error, ROOF_INVALID, file, 0, 0,
                               "the file has no requests with tokens: %zu %s left out, because the "
                               "prompt or the output has 0",
                               t->empty, t->empty == 1 ? "was" : "were");
}

/* Reads all requests, and sums their lengths. */
static enum roof_status scan(struct scan *out, struct roof_request_trace *t, uint64_t most,
                             struct roof_error *error)
{
    bool more = true;
    double latest_s = 0;
    struct roof_traced request;
    *out = (struct scan){.unordered = 0};
    while (t->count < most) {
        TRY(roof_trace_reader_next(&request, &more, t->reader, error));
        if (!more) {
            break;
        }
        if (t->count > 0 && request.time_s < t->last_s && out->unordered == 0) {
            out->unordered = request.line;
        }
        if (out->unordered > 0 && t->count >= ROOF_TRACE_SORTED_MAX) {
            return refuse_order(t, out->unordered, error);
        }
        t->first_s = t->count == 0 || request.time_s < t->first_s ? request.time_s : t->first_s;
        t->last_s = request.time_s;
        latest_s = t->count == 0 || request.time_s > latest_s ? request.time_s : latest_s;
        t->mean_prompt += (double)request.prompt;
        t->mean_generate += (double)request.generate;
        t->id_count += request.id_count;
        out->measured = out->measured || !isnan(request.measured[ROOF_LATENCY_E2E]);
        t->count++;
    }
    t->span_s = latest_s - t->first_s;
    t->empty = roof_trace_reader_empty(t->reader);
    t->users = roof_trace_reader_users(t->reader);
    t->mean_prompt /= (double)t->count;
    t->mean_generate /= (double)t->count;
    return t->count > 0 ? ROOF_OK : refuse_none(t, error);
}

/* Reports that the file has changed since the first pass. */
static enum roof_status refuse_change(const struct roof_request_trace *t, struct roof_error *error)
{
    return roof_error_at(error, ROOF_IO, roof_trace_reader_name(t->reader), 0, 0,
                         "the file changed while it was read");
}

/* --- requests in memory -------------------------------------------------------------------- */

/* A request with its measured times, for sorting. */
struct pair {
    struct roof_arrival arrival;
    double measured[ROOF_LATENCY_COUNT];
    uint64_t line;
};

static int by_time(const void *left, const void *right)
{
    const struct pair *const a = left;
    const struct pair *const b = right;
    const int time =
        (a->arrival.time_s > b->arrival.time_s) - (a->arrival.time_s < b->arrival.time_s);
    return time != 0 ? time : (a->line > b->line) - (a->line < b->line);
}

/* Sorts the requests by their times; requests with equal times keep their order. */
static enum roof_status sort(struct roof_request_trace *t, struct roof_error *error)
{
    struct pair *const pairs = malloc(t->count * sizeof *pairs);
    if (pairs == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < t->count; i++) {
        pairs[i] = (struct pair){.arrival = t->arrival[i], .line = i};
        memcpy(pairs[i].measured, t->measured[i], sizeof pairs[i].measured);
    }
    qsort(pairs, t->count, sizeof *pairs, by_time);
    for (size_t i = 0; i < t->count; i++) {
        t->arrival[i] = pairs[i].arrival;
        memcpy(t->measured[i], pairs[i].measured, sizeof pairs[i].measured);
    }
    free(pairs);
    return ROOF_OK;
}

/* Reads all requests into memory. */
static enum roof_status load(struct roof_request_trace *t, struct roof_error *error)
{
    struct roof_traced request;
    size_t ids = 0;
    bool more = true;
    t->arrival = malloc(t->count * sizeof *t->arrival);
    t->measured = malloc(t->count * sizeof *t->measured);
    t->ids = malloc((t->id_count + 1) * sizeof *t->ids);
    if (t->arrival == NULL || t->measured == NULL || t->ids == NULL) {
        return roof_no_memory(error);
    }
    TRY(roof_trace_reader_rewind(t->reader, error));
    for (size_t i = 0; i < t->count; i++) {
        TRY(roof_trace_reader_next(&request, &more, t->reader, error));
        if (!more || request.id_count > t->id_count - ids || request.time_s < t->first_s) {
            return refuse_change(t, error);
        }
        t->arrival[i] = (struct roof_arrival){.time_s = request.time_s - t->first_s,
                                              .prompt = request.prompt,
                                              .generate = request.generate,
                                              .ids = request.ids == NULL ? NULL : t->ids + ids};
        if (request.ids != NULL) {
            memcpy(t->ids + ids, request.ids, request.id_count * sizeof *t->ids);
        }
        ids += request.id_count;
        memcpy(t->measured[i], request.measured, sizeof t->measured[i]);
    }
    return ROOF_OK;
}

/* --- requests of the file ------------------------------------------------------------------ */

/* The ids of a request, in a list. */
struct roof_trace_ids {
    struct roof_trace_ids *self; /* the way from `ids` back to this struct */
    struct roof_trace_ids *before;
    struct roof_trace_ids *after;
    uint64_t id[];
};

static void free_list(struct roof_trace_ids **list)
{
    while (*list != NULL) {
        struct roof_trace_ids *const first = *list;
        *list = first->after;
        free(first);
    }
}

/* Keeps the ids of a request until it has ended. */
static enum roof_status give_ids(struct roof_arrival *out, struct roof_request_trace *t,
                                 const struct roof_traced *request, struct roof_error *error)
{
    const size_t size = request->id_count * sizeof *request->ids;
    struct roof_trace_ids *const given = malloc(sizeof *given + size);
    if (given == NULL) {
        return roof_no_memory(error);
    }
    memcpy(given->id, request->ids, size);
    *given = (struct roof_trace_ids){.self = given, .after = t->given};
    if (t->given != NULL) {
        t->given->before = given;
    }
    t->given = given;
    out->ids = given->id;
    return ROOF_OK;
}

static void end_ids(void *context, const uint64_t *ids)
{
    struct roof_request_trace *const t = context;
    const char *const start = (const char *)ids - offsetof(struct roof_trace_ids, id);
    struct roof_trace_ids *const given = ((const struct roof_trace_ids *)(const void *)start)->self;
    *(given->before == NULL ? &t->given : &given->before->after) = given->after;
    if (given->after != NULL) {
        given->after->before = given->before;
    }
    given->after = t->ended;
    t->ended = given;
}

static enum roof_status next(struct roof_arrival *out, uint64_t number, void *context,
                             struct roof_error *error)
{
    struct roof_request_trace *const t = context;
    struct roof_traced request;
    bool more = true;
    free_list(&t->ended);
    if (number == 0) {
        free_list(&t->given);
        TRY(roof_trace_reader_rewind(t->reader, error));
        t->last_s = t->first_s;
    }
    TRY(roof_trace_reader_next(&request, &more, t->reader, error));
    if (!more || request.time_s < t->last_s) {
        return refuse_change(t, error);
    }
    t->last_s = request.time_s;
    *out = (struct roof_arrival){.time_s = request.time_s - t->first_s,
                                 .prompt = request.prompt,
                                 .generate = request.generate};
    return request.ids == NULL ? ROOF_OK : give_ids(out, t, &request, error);
}

/* --- life ---------------------------------------------------------------------------------- */

enum roof_status roof_request_trace_read(struct roof_request_trace *out, const char *path,
                                         uint64_t most, int64_t part_tokens,
                                         struct roof_error *error)
{
    struct scan found;
    *out =
        (struct roof_request_trace){.source = {.next = next, .end_ids = end_ids, .context = out}};
    TRY(roof_trace_reader_open(&out->reader, path, part_tokens, error));
    TRY(scan(&found, out, most, error));
    if (found.unordered == 0 && !found.measured) {
        return ROOF_OK;
    }
    TRY(load(out, error));
    roof_trace_reader_close(out->reader); /* the reader's copy of a pipe is not needed any more */
    out->reader = NULL;
    out->unordered = found.unordered;
    if (found.unordered > 0) {
        TRY(sort(out, error));
    }
    if (!found.measured) {
        free(out->measured);
        out->measured = NULL;
    }
    return ROOF_OK;
}

void roof_request_trace_free(struct roof_request_trace *trace)
{
    roof_trace_reader_close(trace->reader);
    free_list(&trace->given);
    free_list(&trace->ended);
    free(trace->arrival);
    free(trace->ids);
    free(trace->measured);
    *trace = (struct roof_request_trace){.count = 0};
}
