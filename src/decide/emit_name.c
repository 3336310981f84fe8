// SPDX-License-Identifier: MIT
#include "decide/emit_name.h"

#include <ctype.h>
#include <string.h>

#include "base/json.h"
#include "base/shell.h"

/* Writes one word of the shell; a file whose name begins with "-" must not look like an option. */
static void put_word(struct roof_text *out, const char *text)
{
    if (*text == '-') {
        roof_text_put(out, "./");
    }
    roof_text_shell_word(out, text);
}

static void put_comment(struct roof_text *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        roof_text_add(out, iscntrl((unsigned char)*p) ? "?" : p, 1);
    }
}

/* Writes a string of JSON where the shell has opened a single quote. */
static void put_json(struct roof_text *out, const char *text)
{
    struct roof_text string = ROOF_TEXT_INIT;
    roof_json_quote(&string, text);
    for (size_t i = 0; i < string.length; i++) {
        const bool quote = string.data[i] == '\'';
        roof_text_add(out, quote ? "'\\''" : string.data + i, quote ? strlen("'\\''") : 1);
    }
    out->failed |= string.failed;
    roof_text_free(&string);
}

void roof_emit_name(struct roof_text *out, const char *text, enum roof_emit_place place)
{
    switch (place) {
    case ROOF_EMIT_COMMAND:
        put_word(out, text);
        return;
    case ROOF_EMIT_JSON:
        put_json(out, text);
        return;
    case ROOF_EMIT_FILE:
        roof_json_quote(out, text);
        return;
    case ROOF_EMIT_COMMENT:
        put_comment(out, text);
        return;
    }
}

bool roof_emit_ends_with(const char *text, const char *with)
{
    const size_t length = strlen(text);
    return length >= strlen(with) && strcmp(text + length - strlen(with), with) == 0;
}

/* Writes the last part of a name, with the characters of a file name. */
static void put_last(struct roof_text *out, const char *name)
{
    const char *const slash = strrchr(name, '/');
    const char *const last = slash == NULL ? name : slash + 1;
    const size_t suffix = roof_emit_ends_with(last, ".gguf") ? strlen(".gguf") : 0;
    for (const char *p = last; p != last + strlen(last) - suffix; p++) {
        roof_text_add(out, isalnum((unsigned char)*p) || *p == '.' || *p == '_' ? p : "-", 1);
    }
    if (strspn(last, ".") == strlen(last)) { /* "." and ".." are no names */
        roof_text_clear(out);
        roof_text_put(out, "model");
    }
}

void roof_emit_names(struct roof_text *model, struct roof_text *last, const char *name)
{
    size_t length = strlen(name);
    if (roof_emit_ends_with(name, ".json") || roof_emit_ends_with(name, ".safetensors")) {
        const char *const slash = strrchr(name, '/');
        length = slash == NULL ? 0 : (size_t)(slash - name);
    }
    while (length > 1 && name[length - 1] == '/') {
        length--;
    }
    roof_text_put(model, "");
    if (length == 0) {
        roof_text_put(model, ".");
    } else {
        roof_text_add(model, name, length);
    }
    if (!model->failed) {
        put_last(last, model->data);
    }
}
