// SPDX-License-Identifier: MIT
#include "model/gguf_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

/* This is far above real headers; one that claims more is refused. */
#define HEADER_MAX (UINT64_C(256) * 1024 * 1024)

#define BAD ROOF_GGUF_BAD

enum roof_status roof_gguf_open(struct roof_gguf_stream *out, const char *path,
                                const char *description, struct roof_error *error)
{
    out->path = path;
    out->error = error;
    out->at = out->base = out->held = 0;
    /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
    out->file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    if (out->file < 0 || fstat(out->file, &info) != 0) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot open%s: %s", description,
                             strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "not a regular file");
    }
    out->size = (uint64_t)info.st_size;
    out->limit = out->size < HEADER_MAX ? out->size : HEADER_MAX;
    return ROOF_OK;
}

void roof_gguf_close(struct roof_gguf_stream *in)
{
    if (in->file >= 0) {
        close(in->file);
    }
}

static enum roof_status refuse_end(struct roof_gguf_stream *in)
{
    return in->limit < in->size
               ? BAD(in, "the header is larger than the %" PRIu64 " bytes that are read", in->limit)
               : BAD(in, "the file ends inside its header, after %" PRIu64 " bytes", in->size);
}

static enum roof_status fill(struct roof_gguf_stream *in)
{
    ssize_t got = 0;
    do {
        got = pread(in->file, in->buffer, sizeof in->buffer, (off_t)in->at);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
        return roof_error_at(in->error, ROOF_IO, in->path, 0, 0, "cannot read: %s",
                             got < 0 ? strerror(errno) : "the file became shorter");
    }
    in->base = in->at;
    in->held = (size_t)got;
    return ROOF_OK;
}

enum roof_status roof_gguf_take(struct roof_gguf_stream *in, void *out, size_t count)
{
    unsigned char *to = out;
    if (count > in->limit - in->at) {
        return refuse_end(in);
    }
    while (count > 0) {
        if (in->at < in->base || in->at - in->base >= in->held) {
            TRY(fill(in));
        }
        const size_t from = (size_t)(in->at - in->base);
        const size_t part = in->held - from < count ? in->held - from : count;
        memcpy(to, in->buffer + from, part);
        to += part;
        count -= part;
        in->at += part;
    }
    return ROOF_OK;
}

enum roof_status roof_gguf_skip(struct roof_gguf_stream *in, uint64_t count)
{
    if (count > in->limit - in->at) {
        return refuse_end(in);
    }
    in->at += count;
    return ROOF_OK;
}

enum roof_status roof_gguf_take_number(struct roof_gguf_stream *in, uint64_t *out, size_t bytes)
{
    unsigned char raw[8] = {0};
    *out = 0;
    TRY(roof_gguf_take(in, raw, bytes));
    for (size_t i = 0; i < bytes; i++) {
        *out |= (uint64_t)raw[i] << (8 * i);
    }
    return ROOF_OK;
}

enum roof_status roof_gguf_take_string(struct roof_gguf_stream *in, char *out, size_t size,
                                       uint64_t *length)
{
    out[0] = '\0';
    TRY(roof_gguf_take_number(in, length, 8));
    if (*length >= size) {
        return roof_gguf_skip(in, *length);
    }
    const enum roof_status status = roof_gguf_take(in, out, (size_t)*length);
    out[status == ROOF_OK ? *length : 0] = '\0';
    for (uint64_t i = 0; i < *length && status == ROOF_OK; i++) {
        if ((unsigned char)out[i] < 0x20 || out[i] == 0x7f) {
            out[0] = '\0';
            break;
        }
    }
    return status;
}

bool roof_gguf_ascii(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text >= 0x80) {
            return false;
        }
    }
    return true;
}
