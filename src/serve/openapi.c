// SPDX-License-Identifier: MIT
/* Describes the endpoints as OpenAPI 3.1, from the tables of routes and inputs. */
#include "serve/openapi.h"

#include <inttypes.h>
#include <string.h>

#include "ask/input_json.h"
#include "base/base.h"
#include "base/json.h"
#include "decide/input.h"
#include "roofline/version.h"
#include "serve/routes.h"

/* Writes "key":"text" after a comma. */
static void put_member(struct roof_text *out, const char *key, const char *text)
{
    roof_text_printf(out, ",\"%s\":", key);
    roof_json_quote(out, text);
}

static void put_choices(struct roof_text *out, const char *const *choices)
{
    roof_text_put(out, ",\"enum\":[");
    for (size_t i = 0; choices[i] != NULL; i++) {
        roof_text_put(out, i == 0 ? "" : ",");
        roof_json_quote(out, choices[i]);
    }
    roof_text_put(out, "]");
}

/* Tells if the values of an input may be lists and ranges. */
static bool is_list(const struct roof_input *input, enum roof_command command)
{
    const bool axis = input->kind == ROOF_INPUT_INTEGER || input->kind == ROOF_INPUT_PRECISION ||
                      input->kind == ROOF_INPUT_CHOICE || input->kind == ROOF_INPUT_SIZES ||
                      input->kind == ROOF_INPUT_OFFLOAD;
    return axis && (command == ROOF_COMMAND_SWEEP || command == ROOF_COMMAND_PLOT ||
                    command == ROOF_COMMAND_RECOMMEND);
}

/* Returns the JSON types for the values of an input. */
static const char *types_of(size_t id, bool list)
{
    const struct roof_input *const input = roof_input(id);
    const bool document = input->many || roof_input_is_document(id);
    const bool word =
        !list && (input->kind == ROOF_INPUT_CHOICE || input->kind == ROOF_INPUT_PRECISION ||
                  input->kind == ROOF_INPUT_SIZES || input->kind == ROOF_INPUT_OFFLOAD);
    return input->kind == ROOF_INPUT_FLAG               ? "\"boolean\""
           : document                                   ? "[\"string\",\"array\",\"object\"]"
           : word                                       ? "\"string\""
           : !list && input->kind == ROOF_INPUT_INTEGER ? "[\"integer\",\"string\"]"
                                                        : "[\"string\",\"number\",\"array\"]";
}

/* Writes the type of an input's values. */
static void put_type(struct roof_text *out, size_t id, enum roof_command command)
{
    const struct roof_input *const input = roof_input(id);
    const bool list = is_list(input, command);
    roof_text_printf(out, "\"type\":%s", types_of(id, list));
    if (input->kind == ROOF_INPUT_CHOICE && !list) {
        put_choices(out, input->choices);
    } else if (input->kind == ROOF_INPUT_INTEGER && !list) {
        roof_text_printf(out, ",\"minimum\":%" PRId64 ",\"maximum\":%" PRId64, input->min,
                         input->max);
    }
}

/* Writes the inputs of a command as properties. */
static void put_inputs(struct roof_text *out, enum roof_command command)
{
    char key[ROOF_INPUT_NAME_SIZE];
    roof_text_put(out, "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                       "\"operator\":{\"type\":\"string\"},"
                       "\"model\":{\"type\":[\"string\",\"object\"],\"description\":"
                       "\"name of a model, or its config.json\"}");
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const struct roof_input *const input = roof_input(i);
        if (!roof_input_remote(i, command)) {
            continue;
        }
        roof_text_put(out, ",\n");
        roof_json_quote(out, roof_input_key(key, input));
        roof_text_put(out, ":{");
        put_type(out, i, command);
        if (input->help != NULL) {
            put_member(out, "description", input->help);
        }
        roof_text_put(out, "}");
    }
    roof_text_put(out, "}}");
}

/* Writes the inputs of a command that are query parameters. */
static void put_parameters(struct roof_text *out, const struct roof_route *route)
{
    char key[ROOF_INPUT_NAME_SIZE];
    bool begun = false;
    roof_text_put(out, ",\"parameters\":[");
    if (route->command == ROOF_COMMAND_LIST) {
        roof_text_put(out, "{\"name\":\"list\",\"in\":\"path\",\"required\":true,"
                           "\"schema\":{\"type\":\"string\",\"enum\":[\"hardware\",\"precisions\","
                           "\"operators\",\"models\",\"layouts\",\"engines\"]}}");
        begun = true;
    }
    for (size_t i = 0; i < ROOF_INPUT_COUNT && route->command != 0; i++) {
        if (route->command != ROOF_COMMAND_PAGE && roof_input_remote(i, route->command)) {
            roof_text_put(out, begun ? ",\n" : "");
            begun = true;
            roof_text_put(out, "{\"in\":\"query\",\"schema\":{\"type\":\"string\"}");
            put_member(out, "name", roof_input_key(key, roof_input(i)));
            put_member(out, "description", roof_input(i)->help);
            roof_text_put(out, "}");
        }
    }
    roof_text_put(out, "]");
}

static void put_responses(struct roof_text *out, const struct roof_route *route)
{
    static const char error[] = "{\"$ref\":\"#/components/responses/error\"}";
    roof_text_put(out, ",\"responses\":{\"200\":{\"description\":\"the document that the command "
                       "line prints\",\"content\":{");
    size_t count = 0;
    bool begun = false;
    const struct roof_media *const media = roof_media(&count);
    for (size_t i = 0; i < count; i++) {
        if (roof_route_writes(route, &media[i])) {
            roof_text_printf(out, "%s\"%s\":{}", begun ? "," : "", media[i].type);
            begun = true;
        }
    }
    if (route->events) {
        roof_text_printf(out, "%s\"" ROOF_EVENTS "\":{}", begun ? "," : "");
    }
    roof_text_printf(out, "}},\"default\":%s}", error);
}

/* Writes a path; the rest of an open path is a parameter. */
static void put_path(struct roof_text *out, const struct roof_route *route)
{
    const bool open = route->command == ROOF_COMMAND_LIST;
    roof_text_printf(out, "\"%s%s\":{\"%s\":{", route->path, open ? "{list}" : "",
                     strcmp(route->method, "GET") == 0 ? "get" : "post");
    roof_text_put(out, "\"summary\":");
    roof_json_quote(out, route->summary);
}

void roof_openapi(struct roof_text *out)
{
    size_t count = 0;
    const struct roof_route *const routes = roof_routes(&count);
    roof_text_printf(out,
                     "{\"openapi\":\"3.1.0\",\n\"info\":{\"title\":\"roofline\",\"version\":\"%s\","
                     "\"license\":{\"name\":\"MIT\",\"identifier\":\"MIT\"}},\n\"paths\":{\n",
                     roof_version());
    for (size_t i = 0; i < count; i++) {
        roof_text_put(out, i == 0 ? "" : ",\n");
        put_path(out, &routes[i]);
        if (strcmp(routes[i].method, "POST") == 0) {
            roof_text_put(out, ",\"requestBody\":{\"required\":true,\"content\":{"
                               "\"application/json\":{\"schema\":\n");
            put_inputs(out, routes[i].command);
            roof_text_put(out, "}}}");
        } else {
            put_parameters(out, &routes[i]);
        }
        put_responses(out, &routes[i]);
        roof_text_put(out, "}}");
    }
    roof_text_put(out,
                  "},\n\"components\":{\"responses\":{\"error\":{\"description\":\"why there is no "
                  "answer\",\"content\":{\"application/json\":{\"schema\":{\"type\":\"object\","
                  "\"required\":[\"error\"],\"properties\":{\"error\":{\"type\":\"object\","
                  "\"required\":[\"status\",\"message\"],\"properties\":{"
                  "\"status\":{\"type\":\"integer\"},\"message\":{\"type\":\"string\"},"
                  "\"key\":{\"type\":\"string\"}}}}}}}}}}}\n");
}
