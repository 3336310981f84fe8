// SPDX-License-Identifier: MIT
/* Finds in the output of a program how many tokens it made. */
#ifndef ROOF_MEASURE_TOKEN_COUNT_H
#define ROOF_MEASURE_TOKEN_COUNT_H

#include <stddef.h>
#include <stdint.h>

/* Longer lines are cut: a count stands near the beginning of its line. */
#define ROOF_TOKEN_LINE_SIZE 1024

/* Bytes that were read of a line, and the last count so far. Zeroed, nothing was read. */
struct roof_token_count {
    int64_t tokens; /* 0: none was found */
    size_t length;
    char line[ROOF_TOKEN_LINE_SIZE];
};

/*
 * Reads more of the output. A count is an integer before the word tokens ("128 tokens", "1,024
 * generated tokens") or behind it ("Total generated tokens: 128"), or the runs of the line "eval
 * time" of llama.cpp; the last one counts. Rates ("12 tokens/s", "12 tokens per second") are no
 * counts, nor are lines about a prompt, an input or a "total time".
 */
void roof_token_count_add(struct roof_token_count *count, const char *bytes, size_t length);
/* Takes the last line, which need not end with a newline. */
void roof_token_count_end(struct roof_token_count *count);

#endif
