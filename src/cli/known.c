// SPDX-License-Identifier: MIT
/* Devices and models that a file names, loaded once; those that are not known are remembered. And
 * what is told of records. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The object of a name; *fresh says that it is new and must be loaded. */
static enum roof_status look_up(void ***out, bool *fresh, struct cli_names *names, const char *name,
                                struct roof_error *error)
{
    *fresh = false;
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->name[i], name) == 0) {
            *out = &names->object[i];
            return ROOF_OK;
        }
    }
    if (names->count == CLI_NAMES_MAX) {
        return roof_error_set(error, ROOF_USAGE, "the file names more than %d devices or models",
                              CLI_NAMES_MAX);
    }
    names->name[names->count] = strdup(name);
    if (names->name[names->count] == NULL) {
        return roof_no_memory(error);
    }
    *fresh = true;
    *out = &names->object[names->count++];
    return ROOF_OK;
}

/* Unknown names, the last of which has just been added, do not take the room of known ones. */
static void forget_unknown(struct cli_names *names)
{
    if (names->count > CLI_NAMES_MAX / 2) {
        free(names->name[--names->count]);
    }
}

enum roof_status cli_known_hardware(struct cli_known *known, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error)
{
    void *unknown = NULL;
    void **object = &unknown;
    bool fresh = false;
    if (known->own != NULL && strcmp(known->own->id, name) == 0) {
        *out = known->own;
        return ROOF_OK;
    }
    enum roof_status status = look_up(&object, &fresh, &known->devices, name, error);
    if (status == ROOF_OK && fresh) {
        /* Only a name that nothing knows is not known: without --set and --calibration it fails
         * too. */
        struct cli_options bare = *known->options;
        struct roof_hardware *loaded = NULL;
        bare.set.count = 0;
        bare.value[ROOF_INPUT_CALIBRATION] = NULL;
        status = cli_hardware(&loaded, name, &bare, error);
        if (status == ROOF_OK) {
            cli_hardware_free(loaded);
            status = cli_hardware(&loaded, name, known->options, error);
        } else if (status == ROOF_USAGE) {
            status = ROOF_UNSATISFIED;
        }
        *object = loaded;
        if (loaded == NULL) {
            forget_unknown(&known->devices);
            object = &unknown;
        }
    } else if (status == ROOF_OK && *object == NULL) {
        status = roof_error_set(error, ROOF_UNSATISFIED,
                                "unknown hardware '%s' (roofline list hardware)", name);
    }
    *out = status == ROOF_OK ? *object : NULL;
    return status;
}

enum roof_status cli_known_own(struct cli_known *known, struct roof_error *error)
{
    const char *const name = known->options->value[ROOF_INPUT_HARDWARE];
    return cli_known_hardware(known, &known->own, name == NULL ? ROOF_DEFAULT_HARDWARE : name,
                              error);
}

enum roof_status cli_known_model(struct cli_known *known, const struct roof_model **out,
                                 const char *name, const char *layout, struct roof_error *error)
{
    const char *const *const given = known->options->value;
    if (*layout != '\0' &&
        (given[ROOF_INPUT_WEIGHTS] != NULL || given[ROOF_INPUT_PRECISION_BOTH] != NULL)) {
        return roof_error_set(error, ROOF_USAGE,
                              "layout %s gives the formats of the weights: --%s of the command "
                              "line does not go with it",
                              layout,
                              roof_input(given[ROOF_INPUT_WEIGHTS] != NULL
                                             ? ROOF_INPUT_WEIGHTS
                                             : ROOF_INPUT_PRECISION_BOTH)
                                  ->option);
    }
    struct roof_text key = ROOF_TEXT_INIT;
    void *unknown = NULL;
    void **object = &unknown;
    bool fresh = false;
    roof_text_printf(&key, *layout == '\0' ? "%s" : "%s as %s", name, layout);
    enum roof_status status = key.failed
                                  ? roof_no_memory(error)
                                  : look_up(&object, &fresh, &known->models, key.data, error);
    if (status == ROOF_OK && fresh) {
        struct cli_options options = *known->options;
        struct roof_model *loaded = NULL;
        if (*layout != '\0') {
            options.value[ROOF_INPUT_LAYOUT] = layout;
        }
        status = cli_model(&loaded, name, &options, error);
        *object = loaded;
        if (loaded == NULL) {
            forget_unknown(&known->models);
            object = &unknown;
        }
    } else if (status == ROOF_OK && *object == NULL) {
        status = roof_error_set(error, ROOF_USAGE, "unknown model '%s'", key.data);
    }
    *out = status == ROOF_OK ? *object : NULL;
    roof_text_free(&key);
    return status;
}

void cli_known_free(struct cli_known *known)
{
    for (size_t i = 0; i < known->devices.count; i++) {
        free(known->devices.name[i]);
        cli_hardware_free(known->devices.object[i]);
    }
    for (size_t i = 0; i < known->models.count; i++) {
        free(known->models.name[i]);
        roof_model_free(known->models.object[i]);
    }
}

/* --- records ------------------------------------------------------------------------------- */

/* More bad lines, or columns that nobody reads, than these are only counted. */
#define BAD_SHOWN 20
#define CARRIED_SHOWN 10

void cli_bad_record(const char *command, const struct roof_records *records,
                    const struct roof_error *error)
{
    if (records->bad <= BAD_SHOWN) {
        cli_complain(command, error);
    }
}

void cli_bad_records(const char *command, const struct roof_records *records)
{
    if (records->bad > 0) {
        fprintf(stderr, "roofline %s: %" PRIu64 " of %" PRIu64 " lines are bad and left out\n",
                command, records->bad, records->count);
    }
}

/* A name from a file, in a line of stderr. */
static void say(const char *name)
{
    for (const char *p = name; *p != '\0';) {
        const size_t control = roof_control(p);
        (void)fputc(control > 0 ? ' ' : *p, stderr);
        p += control > 0 ? control : 1;
    }
}

void cli_tell_carried(const char *what, const struct roof_records *records, const char *const *used)
{
    size_t told = 0;
    size_t more = 0;
    for (size_t i = 0; i < records->carried_count; i++) {
        const char *const name = records->carried[i].name;
        const char *const *known = used;
        while (*known != NULL && strcmp(*known, name) != 0) {
            known++;
        }
        if (*known != NULL) {
            continue;
        }
        more += told == CARRIED_SHOWN;
        if (told < CARRIED_SHOWN) {
            fprintf(stderr, "%s%s", told == 0 ? "roofline " : "", told == 0 ? what : ", ");
            say(*name == '\0' ? "''" : name);
            told++;
        }
    }
    if (more > 0) {
        fprintf(stderr, ", and %zu more", more);
    }
    fputs(told > 0 ? "\n" : "", stderr);
}
