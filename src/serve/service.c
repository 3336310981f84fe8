// SPDX-License-Identifier: MIT
#include "serve/service.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "ask/input_json.h"
#include "base/base.h"
#include "base/json.h"
#include "decide/question.h"
#include "serve/access.h"
#include "serve/openapi.h"

#define TARGET_SIZE (ROOF_HTTP_TARGET_MAX + 1)

static const char *type_of(enum roof_answer_format format)
{
    size_t count = 0;
    const struct roof_media *const media = roof_media(&count);
    for (size_t i = 0; i < count; i++) {
        if (media[i].format == format) {
            return media[i].type;
        }
    }
    return "text/plain";
}

/* --- errors -------------------------------------------------------------------------------- */

/* Spells a key as in a body. */
static void spell(char *out, size_t size, const char *key)
{
    (void)snprintf(out, size, "%s", key);
}

/* Ends an exchange with an error in its body. */
static void fail(struct roof_exchange *x, int status, const struct roof_error *error)
{
    char line[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE + 32];
    roof_text_clear(&x->body);
    x->status = status;
    x->type = type_of(ROOF_JSON);
    roof_text_printf(&x->body, "{\"error\":{\"status\":%d,\"message\":", status);
    roof_json_quote(&x->body, roof_error_spelled(line, sizeof line, error, spell));
    if (error->key_count > 0) {
        char key[ROOF_INPUT_NAME_SIZE];
        (void)snprintf(key, sizeof key, "%.*s", (int)error->key[0].length,
                       error->message + error->key[0].at);
        roof_text_put(&x->body, ",\"key\":");
        roof_json_quote(&x->body, key);
    }
    roof_text_put(&x->body, "}}\n");
}

void roof_exchange_refuse(struct roof_exchange *x, int status, const char *message)
{
    struct roof_error error = {.status = ROOF_USAGE};
    (void)roof_error_set(&error, ROOF_USAGE, "%s", message);
    fail(x, status, &error);
}

/* Returns the HTTP status for the status of an answer. A missing explorer is "not found", because
 * asking again does not help. */
static int status_of(const struct roof_exchange *x, enum roof_status status)
{
    switch (status) {
    case ROOF_OK:
        return 200;
    case ROOF_UNSATISFIED:
        return 422;
    case ROOF_USAGE:
    case ROOF_INVALID:
        return 400;
    case ROOF_IO:
        return x->route->command == ROOF_COMMAND_PAGE ? 404 : 503;
    case ROOF_MEMORY:
        break;
    }
    return 503;
}

/* --- which endpoint ------------------------------------------------------------------------ */

/* Tells whether a path matches a route; *rest is the part after the path of the route. */
static bool has_path(const struct roof_route *route, const char *path, const char **rest)
{
    const size_t length = strlen(route->path);
    const bool open = length > 1 && route->path[length - 1] == '/';
    *rest = path + strlen(path);
    if (open && strncmp(path, route->path, length) == 0) {
        *rest = path + length;
        return true;
    }
    return strcmp(path, route->path) == 0;
}

/* Finds the route of a request; otherwise it refuses the request. */
static bool find_route(struct roof_exchange *x, const struct roof_http_request *request,
                       const char *path, const char **rest)
{
    const bool head = roof_span_is(request->method, "HEAD");
    size_t count = 0;
    const struct roof_route *const routes = roof_routes(&count);
    for (size_t i = 0; i < count; i++) {
        if (!has_path(&routes[i], path, rest)) {
            continue;
        }
        const bool get = strcmp(routes[i].method, "GET") == 0;
        if (roof_span_is(request->method, routes[i].method) ||
            (head && get && !routes[i].endless)) {
            x->route = &routes[i];
            return true;
        }
        x->allow = get && !routes[i].endless ? "GET, HEAD" : routes[i].method;
        roof_exchange_refuse(x, 405, get ? "this address needs GET" : "this address needs POST");
        return false;
    }
    roof_exchange_refuse(x, 404,
                         "there is nothing at this address; /api/openapi.json lists the "
                         "endpoints");
    return false;
}

/* Tells whether a list of media types contains one; parameters are ignored. */
static bool accepts(struct roof_span accept, const char *type)
{
    const size_t length = strlen(type);
    for (size_t i = 0; i + length <= accept.length; i++) {
        const int after = i + length == accept.length ? ',' : accept.text[i + length];
        const int before = i == 0 ? ',' : accept.text[i - 1];
        if (strncasecmp(accept.text + i, type, length) == 0 && strchr(",; \t", after) != NULL &&
            strchr(", \t", before) != NULL) {
            return true;
        }
    }
    return false;
}

/* Chooses the format: the first in the table that Accept names and the command writes. */
static void choose_format(struct roof_exchange *x, struct roof_span accept)
{
    const struct roof_route *const route = x->route;
    size_t count = 0;
    const struct roof_media *const media = roof_media(&count);
    x->events = route->endless || (route->events && accepts(accept, ROOF_EVENTS));
    x->format = x->events ? ROOF_NDJSON : route->format;
    for (size_t i = 0; i < count && !x->events; i++) {
        if (roof_route_writes(route, &media[i]) && accepts(accept, media[i].type)) {
            x->format = media[i].format;
            break;
        }
    }
    x->type = x->events ? ROOF_EVENTS : type_of(x->format);
    x->streams = route->streams || x->events;
    x->slow = route->slow;
    x->endless = route->endless;
}

/* --- the question -------------------------------------------------------------------------- */

/* Refuses inputs that remote clients may not set, from the body or the query. */
static enum roof_status check_remote(const struct roof_exchange *x, struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        if (roof_asked(x->question, i) && !roof_input_remote(i, x->route->command)) {
            return roof_error_set(error, ROOF_USAGE, "%s is not an input of a request",
                                  roof_input_marked(name, roof_input(i)));
        }
    }
    return ROOF_OK;
}

static enum roof_status read_body(struct roof_exchange *x, const char *body, size_t length,
                                  struct roof_error *error)
{
    struct roof_json *json = NULL;
    TRY(roof_json_parse(&json, body, length, "request", error));
    const enum roof_status status = roof_question_from_json(x->question, json, roof_json_root(json),
                                                            x->route->command, NULL, error);
    roof_json_free(json);
    return status;
}

/* Reads "key=value&key=value" as inputs. */
static enum roof_status read_query(struct roof_exchange *x, struct roof_span query,
                                   struct roof_error *error)
{
    while (query.length > 0) {
        const char *const end = memchr(query.text, '&', query.length);
        const size_t length = end == NULL ? query.length : (size_t)(end - query.text);
        const char *const equals = memchr(query.text, '=', length);
        const size_t named = equals == NULL ? length : (size_t)(equals - query.text);
        char key[ROOF_INPUT_NAME_SIZE];
        char value[TARGET_SIZE];
        if (!roof_http_decode(key, sizeof key, (struct roof_span){query.text, named}) ||
            !roof_http_decode(value, sizeof value,
                              equals == NULL
                                  ? (struct roof_span){NULL, 0}
                                  : (struct roof_span){equals + 1, length - named - 1})) {
            return roof_error_set(error, ROOF_USAGE, "the query of the address is not well-formed");
        }
        TRY(roof_question_put(x->question, key, value, error));
        query.text += length + (end != NULL);
        query.length -= length + (end != NULL);
    }
    return ROOF_OK;
}

/* Reads "hardware/h100-sxm": a kind of list, and an entry of it. */
static enum roof_status read_listed(struct roof_exchange *x, const char *rest,
                                    struct roof_error *error)
{
    const char *const slash = strchr(rest, '/');
    char list[32];
    (void)snprintf(list, sizeof list, "%.*s",
                   (int)(slash == NULL ? strlen(rest) : (size_t)(slash - rest)), rest);
    TRY(roof_question_put(x->question, "list", list, error));
    return slash == NULL || slash[1] == '\0'
               ? ROOF_OK
               : roof_question_put(x->question, "id", slash + 1, error);
}

static enum roof_status read_question(struct roof_exchange *x,
                                      const struct roof_http_request *request, const char *rest,
                                      const char *body, struct roof_error *error)
{
    TRY(roof_question_new(&x->question, error));
    if (strcmp(x->route->method, "POST") == 0) {
        if (request->query.length > 0) {
            return roof_error_set(error, ROOF_USAGE,
                                  "this address takes its inputs in the body, as a JSON object");
        }
        TRY(read_body(x, body, request->body_length, error));
    } else if (x->route->command !=
               ROOF_COMMAND_PAGE) { /* the query of the page belongs to its script */
        TRY(read_query(x, request->query, error));
    }
    if (x->route->command == ROOF_COMMAND_LIST) {
        TRY(read_listed(x, rest, error));
    }
    TRY(check_remote(x, error));
    return roof_question_check(x->question, x->route->command, error);
}

void roof_exchange_begin(struct roof_exchange *x, const struct roof_service *service,
                         const struct roof_http_request *request, const char *body)
{
    char path[TARGET_SIZE];
    const char *rest = NULL;
    const char *refused = NULL;
    struct roof_error error = {.status = ROOF_OK};
    *x = (struct roof_exchange){.service = service};
    const int status = roof_access(service->hosts, service->token, request, &refused);
    if (status != 0) {
        roof_exchange_refuse(x, status, refused);
        return;
    }
    if (!roof_http_decode(path, sizeof path, request->path)) {
        roof_exchange_refuse(x, 400, "the path of the address is not well-formed");
        return;
    }
    if (!find_route(x, request, path, &rest)) {
        return;
    }
    choose_format(x, request->accept);
    const enum roof_status read =
        x->route->command == 0 ? ROOF_OK : read_question(x, request, rest, body, &error);
    if (read != ROOF_OK) {
        fail(x, status_of(x, read), &error);
    }
}

/* --- the answer ---------------------------------------------------------------------------- */

static double now_s(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool too_many(const struct roof_exchange *x)
{
    return x->points > (uint64_t)x->service->max_rows;
}

static bool too_late(const struct roof_exchange *x)
{
    return now_s() > x->ends_s;
}

static bool on_stop(void *context)
{
    const struct roof_exchange *const x = context;
    return too_many(x) || too_late(x) || (x->outlet != NULL && x->outlet->stop(x->outlet->context));
}

static void on_progress(void *context, const char *what, const char *unit, uint64_t done,
                        uint64_t of)
{
    struct roof_exchange *const x = context;
    (void)unit;
    (void)done;
    x->points = strcmp(what, "sweep") == 0 ? of : x->points;
}

/* Sends bytes through the outlet. */
static enum roof_status send_out(struct roof_exchange *x, const char *bytes, size_t length,
                                 struct roof_error *error)
{
    x->begun = x->begun || length > 0;
    return length == 0 || x->outlet->put(x->outlet->context, bytes, length)
               ? ROOF_OK
               : roof_error_set(error, ROOF_IO, "the client closed the connection");
}

/* Makes an event of each line; an incomplete line is kept until its end arrives. */
static enum roof_status send_events(struct roof_exchange *x, const char *bytes, size_t length,
                                    struct roof_error *error)
{
    while (length > 0) {
        const char *const end = memchr(bytes, '\n', length);
        const size_t used = end == NULL ? length : (size_t)(end - bytes);
        roof_text_put(&x->row, x->row.length == 0 ? "data: " : "");
        roof_text_add(&x->row, bytes, used);
        if (end == NULL) {
            return ROOF_OK;
        }
        roof_text_put(&x->row, "\n\n");
        if (x->row.failed) {
            return roof_no_memory(error);
        }
        TRY(send_out(x, x->row.data, x->row.length, error));
        roof_text_clear(&x->row);
        bytes += used + 1;
        length -= used + 1;
    }
    return ROOF_OK;
}

static enum roof_status on_write(void *context, const char *bytes, size_t length,
                                 struct roof_error *error)
{
    struct roof_exchange *const x = context;
    if (too_many(x) || too_late(x)) { /* explain_cost sets the message */
        return roof_error_set(error, ROOF_IO, "the answer costs too much");
    }
    if (x->streams && x->outlet != NULL) {
        return x->events ? send_events(x, bytes, length, error) : send_out(x, bytes, length, error);
    }
    roof_text_add(&x->body, bytes, length);
    return x->body.failed ? roof_no_memory(error) : ROOF_OK;
}

/* Waits for the time of the next sample. */
static enum roof_status on_clock(void *context, double *now, bool *more, double due_s,
                                 struct roof_error *error)
{
    struct roof_exchange *const x = context;
    (void)error;
    const double left_s = due_s - (now_s() - x->began_s);
    if (left_s > 0 && x->outlet != NULL) {
        x->outlet->wait(x->outlet->context, left_s);
    }
    *now = now_s() - x->began_s;
    *more = x->outlet != NULL && !x->outlet->stop(x->outlet->context);
    return ROOF_OK;
}

static int64_t on_tokens(void *context)
{
    (void)context;
    return 0;
}

/* Fails if an answer costs too much; otherwise it returns false. */
static bool fail_costly(struct roof_exchange *x)
{
    struct roof_error error = {.status = ROOF_OK};
    if (too_many(x)) {
        (void)roof_error_set(&error, ROOF_USAGE,
                             "the sweep has %" PRIu64 " points, and the limit of this service is "
                             "%" PRId64 " (max-rows)",
                             x->points, x->service->max_rows);
    } else if (too_late(x)) {
        (void)roof_error_set(
            &error, ROOF_USAGE,
            "the answer takes longer than the limit of this service, %g s (max-time); ask for less",
            x->service->max_time_s);
    } else {
        return false;
    }
    fail(x, 429, &error);
    return true;
}

/* Ends a stream of events with the result. Rows are complete even if the answer is not. */
static void end_events(struct roof_exchange *x)
{
    struct roof_error ignored;
    struct roof_text text = ROOF_TEXT_INIT;
    if (x->status == 200) {
        roof_text_put(&text, "event: end\ndata: {}\n\n");
    } else if (x->body.length == 0) {
        roof_text_printf(&text, "event: end\ndata: {\"status\":%d}\n\n", x->status);
    } else {
        roof_text_put(&text, "event: error\ndata: ");
        roof_text_add(&text, x->body.data, x->body.length);
        roof_text_put(&text, "\n");
    }
    if (!text.failed) {
        (void)send_out(x, text.data, text.length, &ignored);
    }
    roof_text_free(&text);
}

static void answer(struct roof_exchange *x)
{
    struct roof_error error = {.status = ROOF_OK};
    const struct roof_listener listener = {
        .context = x, .write = on_write, .progress = on_progress, .stop = on_stop};
    const struct roof_watcher watcher = {.context = x, .clock = on_clock, .tokens = on_tokens};
    const enum roof_status status =
        roof_answer_watched(x->service->store, x->question, x->route->command, x->format, &listener,
                            x->endless ? &watcher : NULL, &error);
    if (status != ROOF_OK && fail_costly(x)) {
        return;
    }
    if (status != ROOF_OK && error.message[0] != '\0') {
        fail(x, status_of(x, status), &error);
    } else {
        x->status = status_of(x, status);
    }
}

void roof_exchange_run(struct roof_exchange *x, const struct roof_outlet *outlet)
{
    x->outlet = outlet;
    x->began_s = now_s();
    x->ends_s = x->endless ? HUGE_VAL : x->began_s + x->service->max_time_s;
    if (x->route->command == 0) {
        roof_openapi(&x->body);
        x->status = 200;
    } else {
        answer(x);
    }
    if (x->begun && x->events) {
        end_events(x);
    }
    if (x->body.failed) {
        roof_text_free(&x->body);
        x->body = (struct roof_text)ROOF_TEXT_INIT;
        x->status = 503;
    }
}

void roof_exchange_end(struct roof_exchange *x)
{
    roof_question_free(x->question);
    roof_text_free(&x->body);
    roof_text_free(&x->row);
    x->question = NULL;
}
