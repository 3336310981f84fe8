// SPDX-License-Identifier: MIT
/* The time that serving engines take on the host. */
#include <string.h>

#include "base/base.h"
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

enum roof_status roof_read_host_time(struct roof_scenario *scenario,
                                     const struct roof_question *question, bool engines_elsewhere,
                                     struct roof_error *error)
{
    const char *const said = question->value[ROOF_INPUT_HOST_TIME];
    const bool engines = engines_elsewhere || roof_asked(question, ROOF_INPUT_STACK) ||
                         roof_asked(question, ROOF_INPUT_ENGINE);
    const char *version = NULL;
    double time_s = 0;
    scenario->host_time_said = said;
    if (said != NULL && !names_engine(&version, said)) {
        if (strcmp(said, "none") == 0) {
            return ROOF_OK;
        }
        if (roof_parse_time(&time_s, said, "", NULL) != ROOF_OK) {
            return roof_error_set(error, ROOF_USAGE,
                                  ROOF_KEY("host_time") " must be engine, engine:VERSION, none or "
                                                        "a time such as 2ms, not '%s'",
                                  said);
        }
        for (int stack = 0; stack < ROOF_STACK_COUNT; stack++) {
            scenario->host_time[stack].step_s = time_s;
        }
        return ROOF_OK;
    }
    if (said != NULL && !engines) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("host_time") " engine needs " ROOF_KEY("stack"));
    }
    return engines ? take_engines(scenario, version, error) : ROOF_OK;
}
