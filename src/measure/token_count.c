// SPDX-License-Identifier: MIT
#include "measure/token_count.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

/* A count of more tokens than these is none. */
#define TOKENS_MAX INT64_C(1000000000000)

/* Tells if a text begins with a word, whatever the case. */
static bool begins(const char *text, const char *word)
{
    return strncasecmp(text, word, strlen(word)) == 0;
}

static bool has(const char *line, const char *word)
{
    while (*line != '\0' && !begins(line, word)) {
        line++;
    }
    return *line != '\0';
}

/* Reads an integer, which may have commas or underscores between its digits; 0: there is none. A
 * fraction is a rate, and no count. */
static int64_t integer(const char *text)
{
    int64_t value = 0;
    for (; isdigit((unsigned char)*text) ||
           ((*text == ',' || *text == '_') && isdigit((unsigned char)text[1]));
         text++) {
        if (isdigit((unsigned char)*text)) {
            value = 10 * value + (*text - '0');
        }
        if (value > TOKENS_MAX) {
            return 0;
        }
    }
    return *text == '.' && isdigit((unsigned char)text[1]) ? 0 : value;
}

/* Moves back over the characters of a number, or of a word. */
static const char *word_begin(const char *line, const char *end)
{
    while (end > line && !isspace((unsigned char)end[-1]) && end[-1] != '(' && end[-1] != '=') {
        end--;
    }
    return end;
}

/* Returns the integer that stands before a word, with at most one other word between; 0: none. */
static int64_t before(const char *line, const char *word)
{
    const char *at = word;
    for (int words = 0; words < 2; words++) {
        while (at > line && at[-1] == ' ') {
            at--;
        }
        at = word_begin(line, at);
        if (isdigit((unsigned char)*at)) {
            return integer(at);
        }
    }
    return 0;
}

/* Returns the count that the word "token" or "tokens" at `word` belongs to; 0: none. */
static int64_t count_at(const char *line, const char *word)
{
    const char *after = word + strlen("token");
    after += *after == 's';
    if (isalnum((unsigned char)*after) || *after == '/' || *after == '_') {
        return 0;
    }
    after += strspn(after, " ");
    if (begins(after, "per ") || begins(after, "/")) {
        return 0;
    }
    if (*after == ':' || *after == '=') {
        return integer(after + 1 + strspn(after + 1, " \t"));
    }
    return before(line, word);
}

static void read_line(struct roof_token_count *count)
{
    static const char *const others[] = {"prompt", "input", "total time"};
    const char *const line = count->line;
    count->line[count->length] = '\0';
    count->length = 0;
    for (size_t i = 0; i < COUNT(others); i++) {
        if (has(line, others[i])) {
            return;
        }
    }
    const bool runs = has(line, "eval time");
    for (const char *at = line; *at != '\0'; at++) {
        const bool starts = at == line || !isalnum((unsigned char)at[-1]);
        const int64_t found = !starts                      ? 0
                              : begins(at, "token")        ? count_at(line, at)
                              : runs && begins(at, "runs") ? before(line, at)
                                                           : 0;
        count->tokens = found > 0 ? found : count->tokens;
    }
}

void roof_token_count_add(struct roof_token_count *count, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r') {
            read_line(count);
        } else if (count->length + 1 < ROOF_TOKEN_LINE_SIZE) {
            count->line[count->length++] = bytes[i];
        }
    }
}

void roof_token_count_end(struct roof_token_count *count)
{
    read_line(count);
}
