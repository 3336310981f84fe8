// SPDX-License-Identifier: MIT
/* The command serve: turns options into the settings of the service. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cli.h"
#include "decide/read.h"
#include "server.h"

#define DEFAULT_LISTEN "127.0.0.1:8080"
#define DEFAULT_MAX_ROWS 100000
#define DEFAULT_MAX_TIME_S 10.0
#define DEFAULT_MAX_CONNECTIONS 16384
#define TOKEN_MIN 16
#define TOKEN_SIZE 1024

/* Reads the token: the first line of a file. */
static enum roof_status read_token(char *out, const char *path, struct roof_error *error)
{
    FILE *const file = fopen(path, "re");
    if (file == NULL) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot open the token");
    }
    const size_t length = fread(out, 1, TOKEN_SIZE - 1, file);
    const bool failed = ferror(file) != 0;
    (void)fclose(file);
    out[length] = '\0';
    out[strcspn(out, "\r\n")] = '\0';
    if (failed) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot read the token");
    }
    size_t used = 0;
    while (out[used] > ' ' && out[used] < 0x7f) {
        used++;
    }
    return out[used] == '\0' && used >= TOKEN_MIN
               ? ROOF_OK
               : roof_error_at(
                     error, ROOF_INVALID, path, 1, 0,
                     "a token must be one line of %d to %d visible characters without spaces",
                     TOKEN_MIN, TOKEN_SIZE - 2);
}

/* Reads a number; *out is unchanged if the option is not given. */
static enum roof_status read_number(int64_t *out, const struct cli_options *options, size_t input,
                                    struct roof_error *error)
{
    const char *const text = options->own[input];
    return text == NULL ? ROOF_OK : roof_input_parse(out, roof_input(input), text, error);
}

static enum roof_status read_settings(struct cli_server *server, char *token,
                                      const struct cli_options *options, struct roof_error *error)
{
    const char *const listen = options->own[ROOF_INPUT_LISTEN];
    const char *const path = options->own[ROOF_INPUT_TOKEN];
    const char *const time = options->own[ROOF_INPUT_MAX_TIME];
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    struct roof_service *const service = &server->service;
    server->listen = listen == NULL ? DEFAULT_LISTEN : listen;
    server->loops = online < 1 ? 1 : online;
    server->max_connections = DEFAULT_MAX_CONNECTIONS;
    service->max_rows = DEFAULT_MAX_ROWS;
    service->max_time_s = DEFAULT_MAX_TIME_S;
    service->hosts = options->own[ROOF_INPUT_ALLOW_HOST];
    TRY(roof_read_integer(&server->loops, options->question, ROOF_INPUT_THREADS, error));
    TRY(read_number(&server->max_connections, options, ROOF_INPUT_MAX_CONNECTIONS, error));
    TRY(read_number(&service->max_rows, options, ROOF_INPUT_MAX_ROWS, error));
    if (time != NULL) {
        TRY(roof_parse_time(&service->max_time_s, time, ROOF_KEY("max_time"), error));
    }
    if (path != NULL) {
        TRY(read_token(token, path, error));
        service->token = token;
    }
    return ROOF_OK;
}

static enum roof_status serve(const struct cli_options *options, struct roof_error *error)
{
    struct cli_server server = {.listen = NULL};
    char token[TOKEN_SIZE];
    TRY(read_settings(&server, token, options, error));
    enum roof_status status = cli_store(&server.service.store, error);
    if (status == ROOF_OK) {
        status = roof_store_seal(server.service.store, error);
    }
    if (status == ROOF_OK) {
        status = cli_server_run(&server, error);
    }
    roof_store_free(server.service.store);
    return status;
}

int cli_serve(const struct cli_command *command, int argc, char **argv)
{
    struct roof_error error = {.status = ROOF_OK};
    struct cli_options options;
    enum roof_status status = cli_options_read(&options, command, argc, argv, &error);
    if (status == ROOF_OK && !options.help) {
        status = serve(&options, &error);
    }
    cli_options_free(&options);
    return status == ROOF_OK ? 0 : cli_fail(command->name, &error);
}
