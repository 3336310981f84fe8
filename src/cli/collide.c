// SPDX-License-Identifier: MIT
/* Refuses outputs that would spoil an input file. */
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/list.h"
#include "cli.h"

/* A size above the longest path of the system. */
#define PATH_SIZE 4100

/* Refuses an output that would replace an input file, or whose temporary file is that input. */
static enum roof_status check_replaced(const char *output, const char *input,
                                       struct roof_error *error)
{
    return cli_output_replaces(output, input)
               ? roof_error_set(error, ROOF_USAGE,
                                "-o %s would replace %s, which this command reads", output, input)
           : cli_output_spoils(output, input)
               ? roof_error_set(error, ROOF_USAGE,
                                "%s would be overwritten while -o %s is written; rename it", input,
                                output)
               : ROOF_OK;
}

/* Checks a name that may be a path, or a known name that is also that of a file. */
static enum roof_status check_path(const char *output, const char *path, struct roof_error *error)
{
    static const char *const ends[] = {".json", ".gguf", ".safetensors"};
    bool file = strchr(path, '/') != NULL;
    for (size_t i = 0; i < COUNT(ends) && !file; i++) {
        const size_t length = strlen(path);
        file = length > strlen(ends[i]) && strcmp(path + length - strlen(ends[i]), ends[i]) == 0;
    }
    return file ? check_replaced(output, path, error) : ROOF_OK;
}

/* Checks a list of names. */
static enum roof_status check_named(const char *output, const char *names, struct roof_error *error)
{
    struct stat info;
    if (names == NULL || stat(names, &info) == 0) { /* a file whose name may contain commas */
        return names == NULL ? ROOF_OK : check_path(output, names, error);
    }
    struct roof_list_item item;
    for (const char *rest = names; roof_list_next(&item, &rest);) {
        char path[PATH_SIZE];
        if (roof_list_item_copy(path, sizeof path, &item)) { /* longer items are not paths */
            TRY(check_path(output, path, error));
        }
    }
    return ROOF_OK;
}

/* Checks a model, whose config.json is in its folder or beside its weights. */
static enum roof_status check_model(const char *output, const char *name, struct roof_error *error)
{
    char path[PATH_SIZE];
    struct stat info;
    const bool folder = stat(name, &info) == 0 && S_ISDIR(info.st_mode);
    const char *const slash = strrchr(name, '/');
    const size_t length = folder ? strlen(name) : slash == NULL ? 0 : (size_t)(slash - name);
    const bool weights = strstr(name, ".safetensors") != NULL;
    TRY(check_named(output, name, error));
    if ((folder || weights) && length < PATH_SIZE / 2) {
        snprintf(path, sizeof path, "%.*s%sconfig.json", (int)length, name, length == 0 ? "" : "/");
        TRY(check_replaced(output, path, error));
    }
    return ROOF_OK;
}

/* Refuses --update for standard input, and if FILE.part of one file is another input file. */
static enum roof_status check_update(const struct roof_question *q, struct roof_error *error)
{
    for (int i = 0; i < q->files; i++) {
        if (strcmp(q->file[i], "-") == 0) {
            return roof_error_set(
                error, ROOF_USAGE,
                "--update changes the files of checks: give a file, not standard input");
        }
        for (int k = 0; k < q->files; k++) {
            if (cli_output_spoils(q->file[k], q->file[i])) {
                return roof_error_set(error, ROOF_USAGE,
                                      "%s would be overwritten while %s is written; rename it",
                                      q->file[i], q->file[k]);
            }
        }
    }
    return ROOF_OK;
}

enum roof_status cli_check_output(const struct cli_options *options, struct roof_error *error)
{
    static const size_t named[] = {ROOF_INPUT_HARDWARE, ROOF_INPUT_CALIBRATION, ROOF_INPUT_LAYOUT,
                                   ROOF_INPUT_DRAFT_MODEL, ROOF_INPUT_HOST};
    const struct roof_question *const q = options->question;
    const char *const output = options->output;
    const char *const from = q->value[ROOF_INPUT_FROM];
    if (q->value[ROOF_INPUT_UPDATE] != NULL) {
        TRY(check_update(q, error));
    }
    if (output == NULL) {
        return ROOF_OK;
    }
    if (from != NULL) {
        TRY(check_replaced(output, from, error));
    }
    for (int i = 0; i < q->files; i++) {
        TRY(check_replaced(output, q->file[i], error));
    }
    for (int i = 0; i < options->operand_count && q->files == 0; i++) {
        TRY(check_model(output, options->operand[i], error));
    }
    for (size_t i = 0; i < COUNT(named); i++) {
        TRY(check_named(output, q->value[named[i]], error));
    }
    return ROOF_OK;
}
