// SPDX-License-Identifier: MIT
#include "serve/routes.h"

#include <string.h>

#include "base/base.h"
#include "decide/input.h"

static const struct roof_route routes[] = {
    {"POST", "/api/predict", "Predicts an operator, or a model with its operators and memory",
     ROOF_COMMAND_PREDICT, ROOF_JSON, false, false, false, false},
    {"POST", "/api/analyze", "Predicts like /api/predict: bounds, bottleneck and expected time",
     ROOF_COMMAND_PREDICT, ROOF_JSON, false, false, false, false},
    {"POST", "/api/sweep", "Predicts a grid, a row for each of its points", ROOF_COMMAND_SWEEP,
     ROOF_NDJSON, true, true, true, false},
    {"POST", "/api/recommend", "Ranks number formats for an operator, or ways to serve a model",
     ROOF_COMMAND_RECOMMEND, ROOF_JSON, true, false, false, false},
    {"POST", "/api/simulate", "Simulates requests that arrive over time at a model",
     ROOF_COMMAND_SIMULATE, ROOF_JSON, true, false, true, false},
    {"POST", "/api/plot", "Computes the roofline chart of devices and workloads", ROOF_COMMAND_PLOT,
     ROOF_JSON, true, false, false, false},
    {"GET", "/api/list/", "Lists hardware, precisions, operators, models, layouts or engines",
     ROOF_COMMAND_LIST, ROOF_JSON, false, false, false, false},
    {"GET", "/api/nvml/status", "Reads power, clocks, temperature and use of the GPUs once",
     ROOF_COMMAND_MONITOR, ROOF_JSON, true, false, false, false},
    {"GET", "/api/nvml/stream", "Reads the GPUs at an interval, as server-sent events",
     ROOF_COMMAND_MONITOR, ROOF_NDJSON, true, true, true, true},
    {"GET", "/api/openapi.json", "Describes the endpoints", 0, ROOF_JSON, false, false, false,
     false},
    {"GET", "/api/schema", "Describes the endpoints", 0, ROOF_JSON, false, false, false, false},
    {"GET", "/", "Sends the explorer, a page for a browser", ROOF_COMMAND_PAGE, ROOF_HTML, false,
     false, false, false}};

static const struct roof_media media[] = {{ROOF_JSON, "json", "application/json"},
                                          {ROOF_NDJSON, "ndjson", "application/x-ndjson"},
                                          {ROOF_CSV, "csv", "text/csv"},
                                          {ROOF_MARKDOWN, "md", "text/markdown"},
                                          {ROOF_HTML, "html", "text/html"}};

const struct roof_route *roof_routes(size_t *count)
{
    *count = COUNT(routes);
    return routes;
}

const struct roof_media *roof_media(size_t *count)
{
    *count = COUNT(media);
    return media;
}

bool roof_route_writes(const struct roof_route *route, const struct roof_media *type)
{
    enum roof_answer_format found = ROOF_TEXT;
    if (route->endless || route->command == 0 || route->command == ROOF_COMMAND_PAGE) {
        return type->format == route->format && !route->endless;
    }
    return type->format != ROOF_HTML &&
           roof_answer_format_find(&found, route->command, type->name, NULL) == ROOF_OK;
}

bool roof_input_remote(size_t input, enum roof_command command)
{
    static const size_t own[] = {ROOF_INPUT_THREADS, ROOF_INPUT_LIVE};
    const struct roof_input *const row = roof_input(input);
    for (size_t i = 0; i < COUNT(own); i++) {
        if (own[i] == input) {
            return false;
        }
    }
    const bool file = row->value != NULL && strcmp(row->value, "FILE") == 0;
    return !file && !row->own && roof_input_allowed(input, command);
}
