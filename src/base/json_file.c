// SPDX-License-Identifier: MIT
/* Reads documents of JSON from files, pipes and standard input. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"

/* Reads up to room bytes of an open file; a file that became shorter gives fewer. */
static enum roof_status read_bytes(int file, char *text, size_t room, size_t *length,
                                   const char *path, struct roof_error *error)
{
    *length = 0;
    while (*length < room) {
        const ssize_t got = read(file, text + *length, room - *length);
        if (got > 0) {
            *length += (size_t)got;
        } else if (got == 0) {
            break;
        } else if (errno != EINTR) {
            return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot read: %s", strerror(errno));
        }
    }
    return ROOF_OK;
}

/* Parses a regular file that is open. */
static enum roof_status parse_file(struct roof_json **out, int file, const char *path, bool python,
                                   struct roof_error *error)
{
    struct stat info;
    if (fstat(file, &info) != 0) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot read: %s", strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "not a regular file");
    }
    if (info.st_size > (off_t)ROOF_JSON_SIZE_MAX) {
        return roof_error_at(error, ROOF_INVALID, path, 1, 1,
                             "the file has %lld bytes; the limit is %u", (long long)info.st_size,
                             ROOF_JSON_SIZE_MAX);
    }
    const size_t room = (size_t)info.st_size;
    size_t length = 0;
    char *const text = malloc(room + 1);
    if (text == NULL) {
        return roof_error_set(error, ROOF_MEMORY, "out of memory reading %s", path);
    }
    const enum roof_status status = read_bytes(file, text, room, &length, path, error);
    if (status != ROOF_OK) {
        free(text);
        return status;
    }
    text[length] = '\0';
    return python ? roof_json_take_python(out, text, length, path, error)
                  : roof_json_take(out, text, length, path, error);
}

static enum roof_status read_file(struct roof_json **out, const char *path, bool python,
                                  struct roof_error *error)
{
    *out = NULL;
    /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot open: %s", strerror(errno));
    }
    const enum roof_status status = parse_file(out, file, path, python, error);
    close(file);
    return status;
}

enum roof_status roof_json_read(struct roof_json **out, const char *path, struct roof_error *error)
{
    return read_file(out, path, false, error);
}

enum roof_status roof_json_read_python(struct roof_json **out, const char *path,
                                       struct roof_error *error)
{
    return read_file(out, path, true, error);
}

/* Parses what an open file gives up to its end: a pipe or a device has no size. */
static enum roof_status parse_stream(struct roof_json **out, int file, const char *name,
                                     struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status status = ROOF_OK;
    for (size_t got = 1; got > 0 && status == ROOF_OK;) {
        const size_t step = 65536;
        char *const room = roof_text_room(&text, step);
        if (room == NULL) {
            status = roof_error_set(error, ROOF_MEMORY, "out of memory reading %s", name);
            break;
        }
        status = read_bytes(file, room, step, &got, name, error);
        text.length += got;
        if (status == ROOF_OK && text.length > (size_t)ROOF_JSON_SIZE_MAX) {
            status = roof_error_at(error, ROOF_INVALID, name, 1, 1,
                                   "it is longer than the limit of %u bytes", ROOF_JSON_SIZE_MAX);
        }
    }
    if (status == ROOF_OK) {
        status = roof_json_parse(out, text.data, text.length, name, error);
    }
    roof_text_free(&text);
    return status;
}

enum roof_status roof_json_read_stream(struct roof_json **out, const char *path,
                                       struct roof_error *error)
{
    *out = NULL;
    if (strcmp(path, "-") == 0) {
        return parse_stream(out, STDIN_FILENO, "standard input", error);
    }
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot open: %s", strerror(errno));
    }
    const enum roof_status status = parse_stream(out, file, path, error);
    close(file);
    return status;
}
