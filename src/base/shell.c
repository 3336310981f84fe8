// SPDX-License-Identifier: MIT
#include "base/shell.h"

#include <string.h>

#define HARMLESS                                                                                   \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"                                         \
    "0123456789_./:@%+=,-"

void roof_text_shell_word(struct roof_text *out, const char *text)
{
    /* zsh replaces =NAME by the path of a command. */
    if (*text != '\0' && *text != '=' && text[strspn(text, HARMLESS)] == '\0') {
        roof_text_put(out, text);
        return;
    }
    roof_text_put(out, "'");
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\'') {
            roof_text_put(out, "'\\''");
        } else {
            roof_text_add(out, p, 1);
        }
    }
    roof_text_put(out, "'");
}
