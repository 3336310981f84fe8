// SPDX-License-Identifier: MIT
/*
 * Requests of HTTP, as they come through a connection: one, and what follows it is its body.
 * Bytes: 4096
 * Words: src/serve/http.c src/serve/service.c src/serve/access.c src/serve/routes.c
 * Arguments: src/decide/input.c
 */
#include "fuzz.h"

#define ROWS_MAX 50
#define TIME_MAX_S 0.02

/* Replies are JSON where they say so, and errors have one line. */
static void check_reply(const struct roof_exchange *x)
{
    struct roof_json *json = NULL;
    CHECK(x->status == 200 || x->status == 400 || x->status == 401 || x->status == 403 ||
          x->status == 404 || x->status == 405 || x->status == 422 || x->status == 429 ||
          x->status == 503);
    CHECK(strcmp(roof_http_reason(x->status), "Unknown") != 0);
    CHECK(x->type != NULL && !x->begun);
    CHECK((x->allow != NULL) == (x->status == 405));
    if (strcmp(x->type, "application/json") == 0) {
        CHECK(roof_json_parse(&json, x->body.data == NULL ? "" : x->body.data, x->body.length,
                              "reply", NULL) == ROOF_OK);
        const roof_json_value *const error = roof_json_get(roof_json_root(json), "error");
        const char *const message = roof_json_string(roof_json_get(error, "message"));
        CHECK(error != NULL || x->status == 200 || x->status == 422);
        if (error != NULL) {
            CHECK(message != NULL && *message != '\0');
            fuzz_one_line(message);
        }
        roof_json_free(json);
    }
}

static void answer(const struct roof_service *service, const struct roof_http_request *request,
                   const char *body)
{
    struct roof_exchange x;
    roof_exchange_begin(&x, service, request, body);
    if (x.status == 0 && x.route->command != ROOF_COMMAND_MONITOR) { /* drivers are no input */
        roof_exchange_run(&x, NULL);
    }
    if (x.status != 0) {
        check_reply(&x);
    }
    roof_exchange_end(&x);
}

static struct roof_service service = {
    .hosts = "name.test", .max_rows = ROWS_MAX, .max_time_s = TIME_MAX_S};

static void end(void)
{
    roof_store_free(service.store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct roof_http_request request;
    char *const text = fuzz_text(data, size);
    if (service.store == NULL) {
        CHECK(roof_store_new(&service.store, NULL) == ROOF_OK);
        CHECK(roof_store_seal(service.store, NULL) == ROOF_OK);
        CHECK(atexit(end) == 0);
    }
    const int status = roof_http_read(&request, text, size);
    CHECK(status == 0 || status == 100 || status == 400 || status == 411 || status == 413 ||
          status == 414 || status == 431 || status == 505);
    if (status == 0) {
        CHECK(request.head_length <= size && request.body_length <= ROOF_HTTP_BODY_MAX);
        CHECK(request.host.text != NULL && request.path.text[0] == '/');
        if (request.body_length <= size - request.head_length) {
            answer(&service, &request, text + request.head_length);
        }
    }
    free(text);
    return 0;
}
