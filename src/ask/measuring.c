// SPDX-License-Identifier: MIT
#include "ask/measuring.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/csv.h"
#include "measure/timing.h"

#define SECONDS_MAX 86400
#define HOST "cpu"

/* Tells whether a backend measures the device that runs the program. */
static bool is_host(const struct roof_meter *meter)
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
    if (*meter != NULL && !is_host(*meter)) {
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
               ? roof_parse_seconds(out, a->question->value[ROOF_INPUT_SECONDS],
                                    ROOF_KEY("seconds"), 1, SECONDS_MAX, error)
               : ROOF_OK;
}

bool roof_measuring_stopped(const struct roof_asking *a, double began_s, double seconds)
{
    const double done = fmin(roof_seconds() - began_s, seconds);
    roof_asking_progress(a, "measure", "s", (uint64_t)done, (uint64_t)seconds);
    return roof_asking_stopped(a);
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
    if (status == ROOF_OK && is_host(*meter) && a->listener->remark != NULL) {
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
    if (*meter == NULL) {
        return open_first(out, meter, options, a, error);
    }
    const enum roof_status status = (*meter)->open(out, options, error);
    if (status == ROOF_IO && !is_host(*meter)) {
        roof_error_append(error, "; " ROOF_KEY("device") " " HOST " measures the processor");
    }
    return status;
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

/* Reads the lines of a file; a missing file has none. */
static enum roof_status read_lines(struct roof_text *out, const char *folder, const char *name,
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
    return status == ROOF_OK && out->failed ? roof_no_memory(error) : status;
}

enum roof_status roof_measuring_read(struct roof_text *out, const char *folder, const char *name,
                                     void (*columns)(struct roof_text *out),
                                     struct roof_error *error)
{
    TRY(read_lines(out, folder, name, error));
    return check_columns(out, folder, name, columns, error);
}

bool roof_measuring_has_rows(const struct roof_text *lines)
{
    const char *const end = lines->data == NULL ? NULL : strchr(lines->data, '\n');
    return end != NULL && end[1] != '\0';
}

/* Refuses rows that another device has measured. */
static enum roof_status check_claim(const char *folder, const char *name, const char *device,
                                    struct roof_error *error)
{
    struct roof_text earlier = ROOF_TEXT_INIT;
    enum roof_status status = read_lines(&earlier, folder, name, error);
    if (status == ROOF_OK && earlier.data == NULL) {
        status = roof_error_set(error, ROOF_USAGE,
                                "%s has rows, but no %s that names their device: measure into "
                                "another folder",
                                folder, name);
    } else if (status == ROOF_OK && strcmp(earlier.data, device) != 0) {
        status = roof_error_set(error, ROOF_USAGE,
                                "%s has rows of %.*s, and this is %.*s: measure into another "
                                "folder",
                                folder, (int)strcspn(earlier.data, "\n"), earlier.data,
                                (int)strcspn(device, "\n"), device);
    }
    roof_text_free(&earlier);
    return status;
}

enum roof_status roof_measuring_claim(const struct roof_asking *a, const char *folder,
                                      const char *name, const struct roof_meter_device *device,
                                      bool has_rows, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_printf(&text, "%s: %s\n", device->name, device->architecture);
    enum roof_status status = text.failed ? roof_no_memory(error) : ROOF_OK;
    if (status == ROOF_OK && has_rows) {
        status = check_claim(folder, name, text.data, error);
    }
    status = status == ROOF_OK ? roof_measuring_write(a, folder, name, &text, error) : status;
    roof_text_free(&text);
    return status;
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
