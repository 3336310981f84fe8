// SPDX-License-Identifier: MIT
/* The time that serving engines take on the host. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/list.h"
#include "base/quantity.h"
#include "decide/engine.h"
#include "decide/read.h"

#define ENGINE "engine"
/* A version that is longer is none of those that are known. */
#define VERSION_SIZE 64
/* A name that is longer is of no engine. */
#define NAME_SIZE 64

/* Tells whether a list has a name, in any case. */
static bool lists(const char *list, const char *name)
{
    struct roof_list_item item;
    const size_t length = strlen(name);
    for (const char *rest = list; roof_list_next(&item, &rest);) {
        if (item.length == length && strncasecmp(item.text, name, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Finds the engines of a list, by any of their names, as bits by number. */
static unsigned find_named(const struct roof_engines *engines, const char *list)
{
    struct roof_list_item item;
    unsigned named = 0;
    for (const char *rest = list; roof_list_next(&item, &rest);) {
        char name[NAME_SIZE];
        size_t engine = 0;
        if (roof_list_item_copy(name, sizeof name, &item) &&
            roof_engine_find(&engine, engines, name, NULL) == ROOF_OK) {
            named |= 1U << engine;
        }
    }
    return named;
}

unsigned roof_read_engines(const struct roof_engines *engines, const struct roof_question *question)
{
    const char *const stacks = question->value[ROOF_INPUT_STACK];
    const unsigned by_name = find_named(engines, question->value[ROOF_INPUT_ENGINE]);
    unsigned by_stack = 0;
    for (size_t i = 0; i < engines->count; i++) {
        const struct roof_engine *const e = &engines->engine[i];
        if (e->stack != ROOF_STACK_BEST && lists(stacks, roof_stack_name(e->stack))) {
            by_stack |= 1U << i;
        }
    }
    return by_stack != 0 ? by_stack : by_name != 0 ? by_name : ~0U;
}

static bool has_version(const struct roof_engine *engine, const char *version)
{
    size_t i = 0;
    while (i < engine->hosts && strcmp(engine->host[i].version, version) != 0) {
        i++;
    }
    return i < engine->hosts;
}

/* Appends the versions of an engine to an error. */
static void list_versions(struct roof_error *error, const struct roof_engine *engine)
{
    for (size_t i = 0; i < engine->hosts; i++) {
        roof_error_append(error, "%s%s", i == 0 ? "" : ", ", engine->host[i].version);
    }
}

/* Refuses a version that none of the engines has. */
static enum roof_status find_version(const struct roof_engines *engines, unsigned named,
                                     const char *version, struct roof_error *error)
{
    const struct roof_engine *known[ROOF_ENGINES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < engines->count; i++) {
        const struct roof_engine *const e = &engines->engine[i];
        if ((named >> i & 1U) != 0 && has_version(e, version)) {
            return ROOF_OK;
        }
        if ((named >> i & 1U) != 0 && (e->hosts > 0 || named == 1U << i)) {
            known[count++] = e;
        }
    }
    if (count == 1) {
        (void)roof_error_set(error, ROOF_USAGE, ROOF_KEY("host_time") ": %s has no version %s%s",
                             known[0]->id, version,
                             known[0]->hosts > 0 ? "; known: " : ", and no known host time");
        list_versions(error, known[0]);
        return ROOF_USAGE;
    }
    (void)roof_error_set(error, ROOF_USAGE, ROOF_KEY("host_time") ": no engine has version %s",
                         version);
    for (size_t i = 0; i < count; i++) {
        roof_error_append(error, "%s %s: ", i == 0 ? "; known:" : ";", known[i]->id);
        list_versions(error, known[i]);
    }
    return ROOF_USAGE;
}

/* The times of a list. */
enum { TIMES = 8 };
static const char *const names[TIMES] = {"step",   "sequence", "request", "front",
                                         "launch", "latent",   "overlap", "compile"};
static const size_t offset[TIMES] = {
    offsetof(struct roof_host_time, step_s),    offsetof(struct roof_host_time, sequence_s),
    offsetof(struct roof_host_time, request_s), offsetof(struct roof_host_time, front_s),
    offsetof(struct roof_host_time, launch_s),  offsetof(struct roof_host_time, latent_s),
    offsetof(struct roof_host_time, overlap_s), offsetof(struct roof_host_time, compile_s)};

static double time_at(const struct roof_host_time *host, size_t i)
{
    return *(const double *)(const void *)((const char *)host + offset[i]);
}

bool roof_host_time_equal(const struct roof_host_time *a, const struct roof_host_time *b)
{
    size_t i = 0;
    while (i < TIMES && time_at(a, i) == time_at(b, i)) {
        i++;
    }
    return i == TIMES;
}

const char *roof_time_option(char out[ROOF_TIME_OPTION_SIZE], double seconds)
{
    char text[ROOF_QUANTITY_SIZE];
    size_t length = 0;
    roof_format_quantity(text, seconds, ROOF_UNIT_MILLISECONDS);
    for (const char *c = text; *c != '\0'; c++) {
        out[length] = *c;
        length += *c == ' ' ? 0 : 1;
    }
    out[length] = '\0';
    return out;
}

void roof_host_time_put(struct roof_text *out, const struct roof_host_time *host)
{
    const char *before = "";
    for (size_t i = 0; i < TIMES; i++) {
        if (time_at(host, i) > 0) {
            char time[ROOF_TIME_OPTION_SIZE];
            roof_text_printf(out, "%s%s=%s", before, names[i],
                             roof_time_option(time, time_at(host, i)));
            before = ",";
        }
    }
}

/* Reads a time of a list into its place. */
static enum roof_status take_time(void *context, size_t name, const char *value,
                                  struct roof_error *error)
{
    double *const *const times = context;
    return roof_parse_time_or_none(times[name], value, ROOF_KEY("host_time"), error);
}

/* Refuses a front end that takes longer than all of a request before its first step. */
static enum roof_status check_front(const struct roof_host_time *host, struct roof_error *error)
{
    return host->front_s <= host->request_s
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("host_time") ": front is a part of request, so it must "
                                                      "not be longer");
}

/* Reads a list of named times, "request=26ms,launch=80us". */
static enum roof_status read_list(struct roof_host_time *out, const char *text,
                                  struct roof_error *error)
{
    double *times[TIMES];
    for (size_t i = 0; i < TIMES; i++) {
        times[i] = (double *)(void *)((char *)out + offset[i]);
    }
    return roof_list_pairs(text, ROOF_KEY("host_time"), names, TIMES, take_time, times, error);
}

/* If a list names an overlap, the fastest stack has no early starts of its own. */
static void forget_early(struct roof_scenario *scenario, const struct roof_host_time *named)
{
    if (!isnan(named->overlap_s)) {
        memset(scenario->early_s, 0, sizeof scenario->early_s);
    }
}

/* The words of a question about engines. */
struct said {
    char text[VERSION_SIZE];
    const char *version; /* in the text; NULL: none */
    const char *list;    /* times that differ from the engine's; NULL: none */
};

/* Tells whether a text names engines: "engine", "engine:VERSION", and either with ",LIST". */
static bool names_engine(struct said *out, const char *text)
{
    struct roof_list_item first = {.length = 0};
    const size_t length = strlen(ENGINE);
    out->list = text;
    (void)roof_list_next(&first, &out->list);
    const bool colon = first.length > length && text[length] == ':';
    if (strncmp(text, ENGINE, length) != 0 || (first.length != length && !colon)) {
        return false;
    }
    (void)snprintf(out->text, sizeof out->text, "%.*s", (int)(first.length - length),
                   text + length);
    out->version = colon ? out->text + 1 : NULL;
    return true;
}

/* Gives each stack the host times of the engine whose kernels it has, and the times of the list.
 * Those that are checked belong to the engines of the question. */
static enum roof_status set_times(struct roof_scenario *out, const struct roof_engines *engines,
                                  const struct roof_question *question, const struct said *said,
                                  struct roof_error *error)
{
    const unsigned named = roof_read_engines(engines, question);
    TRY(said->version == NULL ? ROOF_OK : find_version(engines, named, said->version, error));
    for (size_t i = 0; i < engines->count; i++) {
        const struct roof_engine *const e = &engines->engine[i];
        const struct roof_engine_host *const host = roof_engine_host(e, said->version);
        if (host != NULL && e->stack != ROOF_STACK_BEST) {
            out->host_time[e->stack] = host->time;
            out->early_s[e->stack] = host->time.overlap_s;
        }
    }
    struct roof_host_time listed = {.overlap_s = ROOF_UNKNOWN};
    TRY(said->list == NULL ? ROOF_OK : read_list(&listed, said->list, error));
    forget_early(out, &listed);
    for (int stack = 0; stack < ROOF_STACK_COUNT && said->list != NULL; stack++) {
        TRY(read_list(&out->host_time[stack], said->list, error));
    }
    for (size_t i = 0; i < engines->count; i++) {
        const struct roof_engine *const e = &engines->engine[i];
        const bool meant = named != ~0U || e->hosts > 0; /* else the question names none */
        TRY((named >> i & 1U) == 0 || !meant ? ROOF_OK
                                             : check_front(&out->host_time[e->stack], error));
    }
    return ROOF_OK;
}

static enum roof_status take_engines(struct roof_scenario *out, const struct roof_loans *loans,
                                     const struct roof_question *question, const struct said *said,
                                     struct roof_error *error)
{
    const struct roof_engines *engines = NULL;
    TRY(roof_loan_engines(&engines, loans, error));
    return set_times(out, engines, question, said, error);
}

/* Reads the times of a host, which all stacks then have. */
static enum roof_status read_times(struct roof_scenario *scenario, const char *said,
                                   struct roof_error *error)
{
    struct roof_host_time time = {.overlap_s = ROOF_UNKNOWN};
    if (strchr(said, '=') != NULL) {
        TRY(read_list(&time, said, error));
        TRY(check_front(&time, error));
    } else if (roof_parse_time_or_none(&time.step_s, said, "", NULL) != ROOF_OK) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("host_time") " must be engine, engine:VERSION, none, a time such "
                                  "as 2ms or a list such as "
                                  "step=1ms,request=26ms, not '%s'",
            said);
    }
    forget_early(scenario, &time);
    time.overlap_s = isnan(time.overlap_s) ? 0 : time.overlap_s;
    for (int stack = 0; stack < ROOF_STACK_COUNT; stack++) {
        scenario->host_time[stack] = time;
    }
    return ROOF_OK;
}

enum roof_status roof_read_host_time(struct roof_scenario *scenario, const struct roof_loans *loans,
                                     const struct roof_question *question, bool engines_elsewhere,
                                     struct roof_error *error)
{
    const char *const text = question->value[ROOF_INPUT_HOST_TIME];
    const bool engines = engines_elsewhere || roof_asked(question, ROOF_INPUT_STACK) ||
                         roof_asked(question, ROOF_INPUT_ENGINE);
    struct said said = {.version = NULL};
    scenario->host_time_said = text;
    if (text != NULL && strcmp(text, "none") == 0) {
        return ROOF_OK;
    }
    TRY(roof_loan_overlaps(scenario->early_s, loans, error));
    if (text != NULL && !names_engine(&said, text)) {
        return read_times(scenario, text, error);
    }
    if (text != NULL && !engines) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("host_time") " engine needs " ROOF_KEY("stack"));
    }
    return engines ? take_engines(scenario, loans, question, &said, error) : ROOF_OK;
}
