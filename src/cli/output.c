// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define PART_SUFFIX ".part"

enum roof_status cli_output_open(struct cli_output *out, const char *path, struct roof_error *error)
{
    *out = (struct cli_output){.file = stdout, .name = "standard output"};
    if (path == NULL || strcmp(path, "-") == 0) {
        return ROOF_OK;
    }
    if (*path == '\0') {
        return roof_error_set(error, ROOF_USAGE, "--output needs a file name");
    }
    struct stat info;
    const bool special = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    const char *opened = path;
    if (!special) {
        const size_t size = strlen(path) + sizeof PART_SUFFIX;
        out->part = malloc(size);
        if (out->part == NULL) {
            return roof_error_set(error, ROOF_MEMORY, "out of memory");
        }
        snprintf(out->part, size, "%s" PART_SUFFIX, path);
        opened = out->part;
    }
    out->name = path;
    out->file = fopen(opened, "w");
    if (out->file == NULL) {
        roof_error_at(error, ROOF_IO, opened, 0, 0, "cannot write: %s", strerror(errno));
        free(out->part);
        out->part = NULL;
        return ROOF_IO;
    }
    return ROOF_OK;
}

enum roof_status cli_output_write(struct cli_output *out, struct roof_text *text,
                                  struct roof_error *error)
{
    if (text->failed) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory");
    }
    const bool written =
        text->length == 0 || fwrite(text->data, 1, text->length, out->file) == text->length;
    const int reason = errno;
    roof_text_clear(text); /* also after a failure: nothing is written twice */
    return written ? ROOF_OK
                   : roof_error_at(error, ROOF_IO, out->name, 0, 0, "cannot write: %s",
                                   strerror(reason));
}

enum roof_status cli_output_close(struct cli_output *out, enum roof_status status,
                                  struct roof_error *error)
{
    if (out->file == NULL) {
        return status;
    }
    /* A full disk may show only when the last bytes are flushed. */
    const bool flushed = fflush(out->file) == 0 && ferror(out->file) == 0;
    const int reason = errno;
    const bool closed = out->file == stdout || fclose(out->file) == 0; /* main closes stdout */
    out->file = NULL;
    if ((status == ROOF_OK || status == ROOF_UNSATISFIED) && (!flushed || !closed)) {
        status = roof_error_at(error, ROOF_IO, out->name, 0, 0, "cannot write: %s",
                               strerror(flushed ? errno : reason));
    }
    if (out->part != NULL) {
        if (status != ROOF_OK && status != ROOF_UNSATISFIED) {
            (void)unlink(out->part);
        } else if (rename(out->part, out->name) != 0) {
            status = roof_error_at(error, ROOF_IO, out->name, 0, 0, "cannot rename %s: %s",
                                   out->part, strerror(errno));
        }
        free(out->part);
        out->part = NULL;
    }
    return status;
}

enum roof_status cli_output_all(const char *path, struct roof_text *text, struct roof_error *error)
{
    struct cli_output output;
    enum roof_status status = cli_output_open(&output, path, error);
    if (status != ROOF_OK) {
        return status;
    }
    status = cli_output_write(&output, text, error);
    return cli_output_close(&output, status, error);
}
