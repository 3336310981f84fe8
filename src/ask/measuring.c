// SPDX-License-Identifier: MIT
#include "ask/measuring.h"

#include <string.h>

#include "base/base.h"
#include "base/csv.h"

#define SECONDS_MAX 86400
#define HOST "cpu"

bool roof_measuring_host(const struct roof_meter *meter)
{
    return strcmp(meter->name, HOST) == 0;
}

/* Reads the number of threads, which only the CPU backend has, so that it selects the CPU. */
static enum roof_status read_threads(const struct roof_meter **meter,
                                     struct roof_meter_options *options,
                                     const struct roof_asking *a, struct roof_error *error)
{
    int64_t index = 0;
    if (!roof_asking_has(a, ROOF_INPUT_THREADS)) {
        return ROOF_OK;
    }
    if (*meter != NULL && !roof_measuring_host(*meter)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("threads") " counts threads of the CPU: leave it out with " ROOF_KEY(
                "device") " %s",
            (*meter)->name);
    }
    TRY(*meter == NULL ? roof_meter_find(meter, &index, HOST, error) : ROOF_OK);
    return roof_input_parse(&options->threads, roof_input(ROOF_INPUT_THREADS),
                            a->question->value[ROOF_INPUT_THREADS], error);
}

enum roof_status roof_measuring_device(const struct roof_meter **meter,
                                       struct roof_meter_options *options,
                                       const struct roof_asking *a, struct roof_error *error)
{
    options->shared = roof_asking_has(a, ROOF_INPUT_SHARED);
    TRY(roof_meter_find(meter, &options->index, a->question->value[ROOF_INPUT_DEVICE], error));
    return read_threads(meter, options, a, error);
}

enum roof_status roof_measuring_seconds(double *out, const struct roof_asking *a, double otherwise,
                                        struct roof_error *error)
{
    *out = otherwise;
    return roof_asking_has(a, ROOF_INPUT_SECONDS)
               ? roof_parse_number(out, a->question->value[ROOF_INPUT_SECONDS], ROOF_KEY("seconds"),
                                   1, SECONDS_MAX, error)
               : ROOF_OK;
}

/* Opens the first device that is found. */
static enum roof_status open_first(struct roof_bench **out, const struct roof_meter **meter,
                                   const struct roof_meter_options *options,
                                   const struct roof_asking *a, struct roof_error *error)
{
    size_t count = 0;
    const struct roof_meter *const *const meters = roof_meters(&count);
    enum roof_status status = ROOF_IO;
    struct roof_error lacks;
    struct roof_error failure = {.status =
                                     ROOF_OK}; /* not an error of the run if another one opens */
    (void)roof_error_set(&lacks, ROOF_OK, "note: no usable GPU, measuring the CPU");
    for (size_t i = 0; i < count && status == ROOF_IO; i++) {
        *meter = meters[i];
        status = (*meter)->open(out, options, &failure);
        if (status == ROOF_IO) {
            roof_error_append(&lacks, "%s %s", i == 0 ? ":" : ";", failure.message);
        }
    }
    if (status == ROOF_OK && roof_measuring_host(*meter) && a->listener->remark != NULL) {
        a->listener->remark(a->listener->context, &lacks);
    }
    if (status != ROOF_OK && error != NULL) {
        *error = failure;
    }
    return status;
}

enum roof_status roof_measuring_open(struct roof_bench **out, const struct roof_meter **meter,
                                     const struct roof_meter_options *options,
                                     const struct roof_asking *a, struct roof_error *error)
{
    return *meter == NULL ? open_first(out, meter, options, a, error)
                          : (*meter)->open(out, options, error);
}

/* Checks that the lines of a file are none, or begin with these columns. */
static enum roof_status check_columns(const struct roof_text *lines, const char *folder,
                                      const char *name, void (*columns)(struct roof_text *out),
                                      struct roof_error *error)
{
    struct roof_text first = ROOF_TEXT_INIT;
    columns(&first);
    const bool failed = lines->failed || first.failed;
    const bool known =
        failed || lines->data == NULL || strncmp(lines->data, first.data, first.length) == 0;
    roof_text_free(&first);
    return failed  ? roof_no_memory(error)
           : known ? ROOF_OK
                   : roof_error_set(error, ROOF_USAGE,
                                    "%s/%s has other columns than this version writes: measure "
                                    "into another folder",
                                    folder, name);
}

enum roof_status roof_measuring_read(struct roof_text *out, const char *folder, const char *name,
                                     void (*columns)(struct roof_text *out),
                                     struct roof_error *error)
{
    struct roof_text path = ROOF_TEXT_INIT;
    struct roof_csv csv;
    roof_text_printf(&path, "%s/%s", folder, name);
    enum roof_status status = path.failed ? roof_no_memory(error) : ROOF_OK;
    bool more = status == ROOF_OK && roof_csv_open(&csv, path.data, NULL) == ROOF_OK;
    const bool opened = more;
    while (more && status == ROOF_OK) {
        char *line = NULL;
        size_t length = 0;
        status = roof_csv_line(&csv, &line, &length, &more, error);
        if (status == ROOF_OK && more) {
            roof_text_add(out, line, length);
            roof_text_put(out, "\n");
        }
    }
    if (opened) {
        roof_csv_close(&csv);
    }
    roof_text_free(&path);
    return status == ROOF_OK ? check_columns(out, folder, name, columns, error) : status;
}

enum roof_status roof_measuring_write(const struct roof_asking *a, const char *folder,
                                      const char *name, const struct roof_text *text,
                                      struct roof_error *error)
{
    struct roof_text path = ROOF_TEXT_INIT;
    roof_text_printf(&path, "%s/%s", folder, name);
    const enum roof_status status = path.failed || text->failed
                                        ? roof_no_memory(error)
                                        : a->listener->replace(a->listener->context, path.data,
                                                               text->data, text->length, error);
    roof_text_free(&path);
    return status;
}
