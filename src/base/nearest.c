// SPDX-License-Identifier: MIT
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* The base distance of each kind of similarity; smaller additions order the names of one kind. */
enum {
    SAME = 0, /* but for case and marks */
    BEGINS = 10,
    SQUEEZED = 80, /* begins, but for marks between letters */
    CONTAINS = 100,
    ALL_WORDS = 200,
    LETTERS = 300, /* plus LETTER for each wrong letter, at most ADDED_MOST */
    BEGUN = 370,   /* the wanted text begins with the name and a mark */
    CONTAINED = 400,
    ONE_WORD = 500,
    ADDED_MOST = 63,
    SQUEEZED_MOST = 19,
    BEGUN_MOST = 29,
    LETTER = 15
};

/* The most wrong letters for a word that may be right as it is. */
enum { SURE_MOST = 2 };

/* Shorter texts occur in too many names by chance. */
enum { CONTAINED_LEAST = 3, WORD_LEAST = 4 };

/* The most names that are suggested, and the most for which all are listed. */
enum { SUGGESTED = 3 };

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns how many letters are replaced, missing, too many or swapped with their neighbour in the
 * first 63 bytes of two words. */
static unsigned distance(const char *a, const char *b)
{
    enum { LIMIT = 63 };
    const size_t rows = strnlen(a, LIMIT);
    const size_t columns = strnlen(b, LIMIT);
    unsigned row[3][LIMIT + 1] = {{0}}; /* row i is at i % 3 */
    for (size_t j = 0; j <= columns; j++) {
        row[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= rows; i++) {
        unsigned *const now = row[i % 3];
        const unsigned *const last = row[(i + 2) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= columns; j++) {
            now[j] = least(last[j - 1] + !same_letter(a[i - 1], b[j - 1]),
                           least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1])) {
                now[j] = least(now[j], row[(i + 1) % 3][j - 2] + 1);
            }
        }
    }
    return row[rows % 3][columns];
}

/* Tells if a text contains another; case does not matter. */
static bool contains(const char *text, const char *part, size_t length)
{
    for (; *text != '\0'; text++) {
        if (strncasecmp(text, part, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Tells if a text begins with another when only letters and digits count: "q4km" is in "q4_k_m". */
static bool begins_squeezed(const char *text, const char *part)
{
    for (;; text++, part++) {
        while (*part != '\0' && isalnum((unsigned char)*part) == 0) {
            part++;
        }
        while (*text != '\0' && isalnum((unsigned char)*text) == 0) {
            text++;
        }
        if (*part == '\0' || !same_letter(*part, *text)) {
            return *part == '\0';
        }
    }
}

/* Finds the next word of a text, which is letters and digits; *length is 0 behind the last. */
static const char *next_word(const char *text, size_t *length)
{
    while (*text != '\0' && isalnum((unsigned char)*text) == 0) {
        text++;
    }
    *length = 0;
    while (isalnum((unsigned char)text[*length]) != 0) {
        ++*length;
    }
    return text;
}

/* Tells if a text has a word that begins with this one. */
static bool has_word(const char *text, const char *word, size_t length)
{
    size_t own = 0;
    for (text = next_word(text, &own); own > 0; text = next_word(text + own, &own)) {
        if (own >= length && strncasecmp(text, word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Counts the words of `wanted`, those that the name also has, and the long ones among these. */
static void count_words(const char *wanted, const char *name, unsigned *words, unsigned *shared,
                        unsigned *long_shared)
{
    size_t length = 0;
    *words = *shared = *long_shared = 0;
    for (const char *word = next_word(wanted, &length); length > 0;
         word = next_word(word + length, &length)) {
        const bool has = has_word(name, word, length);
        ++*words;
        *shared += has;
        *long_shared += has && length >= WORD_LEAST;
    }
}

/* Returns how many letters may be wrong in a word of this length that is known to be wrong. */
static unsigned wrong_most(size_t length)
{
    return length / 3 > 1 ? (unsigned)(length / 3) : 1;
}

const char *roof_near_name(const char *wanted, const char *const *names, size_t count)
{
    const size_t length = strlen(wanted);
    const char *found = NULL;
    unsigned allowed = length < WORD_LEAST ? 0 : least(wrong_most(length), SURE_MOST);
    for (size_t i = 0; i < count; i++) {
        const unsigned wrong = distance(wanted, names[i]);
        if (wrong < allowed + (found == NULL)) {
            allowed = wrong;
            found = names[i];
        }
    }
    return found;
}

unsigned roof_nearness(const char *wanted, const char *name)
{
    wanted += strspn(wanted, "-");
    name += strspn(name, "-");
    const size_t length = strlen(wanted);
    const size_t own = strlen(name);
    const size_t difference = own > length ? own - length : length - own;
    const unsigned added = difference < ADDED_MOST ? (unsigned)difference : ADDED_MOST;
    unsigned words = 0;
    unsigned shared = 0;
    unsigned long_shared = 0;
    if (length == 0) {
        return ROOF_FAR;
    }
    if (isalnum((unsigned char)*wanted) != 0 && begins_squeezed(name, wanted) &&
        begins_squeezed(wanted, name)) {
        return SAME;
    }
    if (strncasecmp(name, wanted, length) == 0) {
        return BEGINS + added;
    }
    if (length >= WORD_LEAST && isalnum((unsigned char)*wanted) != 0 &&
        begins_squeezed(name, wanted)) {
        return SQUEEZED + (added < SQUEEZED_MOST ? added : SQUEEZED_MOST);
    }
    if (length >= CONTAINED_LEAST && contains(name, wanted, length)) {
        return CONTAINS + added;
    }
    count_words(wanted, name, &words, &shared, &long_shared);
    if (words > 1 && shared == words) {
        return ALL_WORDS + added;
    }
    const unsigned wrong = distance(wanted, name);
    if (wrong <= wrong_most(length) && wrong < own) {
        return LETTERS + (wrong * LETTER < ADDED_MOST ? wrong * LETTER : ADDED_MOST);
    }
    if (own > 0 && own < length && strncasecmp(wanted, name, own) == 0 &&
        isalnum((unsigned char)wanted[own]) == 0) {
        return BEGUN + (added < BEGUN_MOST ? added : BEGUN_MOST);
    }
    if (own >= CONTAINED_LEAST && (contains(wanted, name, own) || begins_squeezed(wanted, name))) {
        return CONTAINED + added;
    }
    return long_shared > 0 && 2 * shared >= words ? ONE_WORD + added : ROOF_FAR;
}

/* Puts the names one after the other: "a, b or c". */
static void put_names(struct roof_text *out, const char *const *names, size_t count,
                      const char *last)
{
    for (size_t i = 0; i < count; i++) {
        roof_text_put(out, i == 0 ? "" : i + 1 == count ? last : ", ");
        roof_text_put(out, names[i]);
    }
}

/* Chooses the nearest names, in the order of their distance and then of the list. If one differs
 * only in case and marks, it is the only one. */
static size_t choose(const char **out, const char *const *names, const unsigned *nearness,
                     size_t count)
{
    unsigned best[SUGGESTED];
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = chosen;
        while (at > 0 && best[at - 1] > nearness[i]) {
            at--;
        }
        if (nearness[i] >= ROOF_FAR || at == SUGGESTED) {
            continue;
        }
        chosen += chosen < SUGGESTED;
        for (size_t k = chosen - 1; k > at; k--) {
            best[k] = best[k - 1];
            out[k] = out[k - 1];
        }
        best[at] = nearness[i];
        out[at] = names[i];
    }
    while (chosen > 1 && best[0] == SAME && best[chosen - 1] != SAME) {
        chosen--;
    }
    return chosen;
}

enum roof_status roof_unknown_near(struct roof_error *error, enum roof_status status,
                                   const char *kind, const char *wanted, const char *const *names,
                                   const unsigned *nearness, size_t count)
{
    const char *near[SUGGESTED];
    struct roof_text list = ROOF_TEXT_INIT;
    const size_t chosen = choose(near, names, nearness, count);
    if (count <= ROOF_TOLD_WHOLE) {
        roof_text_put(&list, count == 0 ? "none exists" : "known: ");
        put_names(&list, names, count, ", ");
    } else if (chosen > 0) {
        roof_text_put(&list, "did you mean ");
        put_names(&list, near, chosen, " or ");
        roof_text_put(&list, "?");
    } else {
        roof_text_put(&list, "known: ");
        put_names(&list, names, SUGGESTED, ", ");
        roof_text_printf(&list, " and %zu more", count - SUGGESTED);
    }
    const enum roof_status result =
        list.failed
            ? roof_no_memory(error)
            : roof_error_set(error, status, "unknown %s '%.60s'; %s", kind, wanted, list.data);
    roof_text_free(&list);
    return result;
}

enum roof_status roof_unknown_name(struct roof_error *error, enum roof_status status,
                                   const char *kind, const char *wanted, const char *const *names,
                                   size_t count)
{
    unsigned *const nearness = calloc(count + 1, sizeof *nearness);
    if (nearness == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        nearness[i] = roof_nearness(wanted, names[i]);
    }
    const enum roof_status result =
        roof_unknown_near(error, status, kind, wanted, names, nearness, count);
    free(nearness);
    return result;
}
