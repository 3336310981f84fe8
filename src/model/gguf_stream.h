// SPDX-License-Identifier: MIT
/* The bytes of a GGUF header, read once from front to back through one small buffer. Parts that are
 * not needed, such as the vocabulary, are skipped. */
#ifndef ROOF_MODEL_GGUF_STREAM_H
#define ROOF_MODEL_GGUF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ROOF_GGUF_NAME_MAX 256 /* bytes */

struct roof_gguf_stream {
    int file;
    const char *path;
    struct roof_error *error;
    uint64_t size;
    uint64_t limit; /* where the header must end: the size of the file, or the limit if that is less
                     */
    uint64_t at;
    uint64_t base; /* where in the file the buffer begins */
    size_t held;
    unsigned char buffer[32768];
};

/* Refuses the file. */
#define ROOF_GGUF_BAD(stream, ...)                                                                 \
    roof_error_at((stream)->error, ROOF_INVALID, (stream)->path, 0, 0, __VA_ARGS__)

/* Opens a regular file. `description` follows "cannot open" in messages. The caller closes the
 * stream, also after a failure. */
enum roof_status roof_gguf_open(struct roof_gguf_stream *out, const char *path,
                                const char *description, struct roof_error *error);
void roof_gguf_close(struct roof_gguf_stream *in);

enum roof_status roof_gguf_take(struct roof_gguf_stream *in, void *out, size_t count);
enum roof_status roof_gguf_skip(struct roof_gguf_stream *in, uint64_t count);
/* Reads a little-endian number of 1 to 8 bytes. */
enum roof_status roof_gguf_take_number(struct roof_gguf_stream *in, uint64_t *out, size_t bytes);
/* Reads a string of at most size - 1 bytes; a longer one is skipped and leaves "". NUL bytes and
 * control characters do not occur in names: a string with them leaves "" as well. */
enum roof_status roof_gguf_take_string(struct roof_gguf_stream *in, char *out, size_t size,
                                       uint64_t *length);

bool roof_gguf_ascii(const char *text);

#endif
