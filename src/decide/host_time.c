// SPDX-License-Identifier: MIT
/* The time that serving engines take on the host. */
#include <string.h>

#include "base/base.h"
#include "base/list.h"
#include "base/nearest.h"
#include "decide/engine.h"
#include "decide/read.h"

#define ENGINE "engine"
#define VERSIONS_MAX 64

/* Refuses a version that no engine has. */
static enum roof_status find_version(const struct roof_engines *engines, const char *version,
                                     struct roof_error *error)
{
    const char *names[VERSIONS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < engines->count; i++) {
        const struct roof_engine *const e = &engines->engine[i];
        for (size_t k = 0; k < e->hosts && count < VERSIONS_MAX; k++) {
            if (strcmp(e->host[k].version, version) == 0) {
                return ROOF_OK;
            }
            names[count++] = e->host[k].version;
        }
    }
    return roof_unknown_name(error, ROOF_USAGE, "version of an engine", version, names, count);
}

/* Gives each stack the host times of the engine whose kernels it has. */
static enum roof_status take_engines(struct roof_scenario *out, const char *version,
                                     struct roof_error *error)
{
    struct roof_engines *engines = NULL;
    TRY(roof_engines_load(&engines, error));
    const enum roof_status status =
        version == NULL ? ROOF_OK : find_version(engines, version, error);
    for (size_t i = 0; i < engines->count && status == ROOF_OK; i++) {
        const struct roof_engine *const e = &engines->engine[i];
        const struct roof_engine_host *const host = roof_engine_host(e, version);
        if (host != NULL && e->stack != ROOF_STACK_BEST) {
            out->host_time[e->stack] = host->time;
        }
    }
    roof_engines_free(engines);
    return status;
}

/* Tells whether a text names engines; *version is behind its colon, if it has one. */
static bool names_engine(const char **version, const char *text)
{
    const size_t length = strlen(ENGINE);
    if (strncmp(text, ENGINE, length) != 0 || (text[length] != '\0' && text[length] != ':')) {
        return false;
    }
    *version = text[length] == ':' ? text + length + 1 : NULL;
    return true;
}

/* Reads a time of a list into its place. */
static enum roof_status take_time(void *context, size_t name, const char *value,
                                  struct roof_error *error)
{
    double *const *const times = context;
    return roof_parse_time(times[name], value, ROOF_KEY("host_time"), error);
}

/* Reads a list of named times, "request=26ms,launch=80us". */
static enum roof_status read_list(struct roof_host_time *out, const char *text,
                                  struct roof_error *error)
{
    static const char *const names[] = {"step",   "sequence", "request", "front",
                                        "launch", "latent",   "overlap"};
    double *times[] = {&out->step_s,   &out->sequence_s, &out->request_s, &out->front_s,
                       &out->launch_s, &out->latent_s,   &out->overlap_s};
    TRY(roof_list_pairs(text, ROOF_KEY("host_time"), names, COUNT(names), take_time, times, error));
    return out->front_s <= out->request_s
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("host_time") ": front is a part of request, so it must "
                                                      "not be longer");
}

/* Reads the times of a host, which all stacks then have. */
static enum roof_status read_times(struct roof_scenario *scenario, const char *said,
                                   struct roof_error *error)
{
    struct roof_host_time time = {.step_s = 0};
    if (strchr(said, '=') != NULL) {
        TRY(read_list(&time, said, error));
    } else if (roof_parse_time(&time.step_s, said, "", NULL) != ROOF_OK) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("host_time") " must be engine, engine:VERSION, none, a time such "
                                  "as 2ms or a list such as "
                                  "step=1ms,request=26ms, not '%s'",
            said);
    }
    for (int stack = 0; stack < ROOF_STACK_COUNT; stack++) {
        scenario->host_time[stack] = time;
    }
    return ROOF_OK;
}

enum roof_status roof_read_host_time(struct roof_scenario *scenario,
                                     const struct roof_question *question, bool engines_elsewhere,
                                     struct roof_error *error)
{
    const char *const said = question->value[ROOF_INPUT_HOST_TIME];
    const bool engines = engines_elsewhere || roof_asked(question, ROOF_INPUT_STACK) ||
                         roof_asked(question, ROOF_INPUT_ENGINE);
    const char *version = NULL;
    scenario->host_time_said = said;
    if (said != NULL && !names_engine(&version, said)) {
        return strcmp(said, "none") == 0 ? ROOF_OK : read_times(scenario, said, error);
    }
    if (said != NULL && !engines) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("host_time") " engine needs " ROOF_KEY("stack"));
    }
    return engines ? take_engines(scenario, version, error) : ROOF_OK;
}
