// SPDX-License-Identifier: MIT
/* Words of a command line for sh. */
#ifndef ROOF_BASE_SHELL_H
#define ROOF_BASE_SHELL_H

#include "base/text.h"

/* Writes text as one word: unchanged if every character is harmless, else in single quotes. */
void roof_text_shell_word(struct roof_text *out, const char *text);

#endif
