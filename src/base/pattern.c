// SPDX-License-Identifier: MIT
#include "base/pattern.h"

#include <string.h>

#include "base/base.h"

#define DEPTH_MAX 32

/* An expression becomes a program. All steps at which a match may be are followed at once, byte by
 * byte (K. Thompson, Regular expression search algorithm, CACM 11(6), 1968). A FORK with one target
 * is a jump. */
enum kind { TAKE, FORK, BEGIN, END, DONE };

struct reader {
    struct roof_pattern *out;
    const char *at;
    const char *problem; /* the first one */
    int depth;
    struct roof_pattern_step spare; /* for steps that have no room */
};

static void fail(struct reader *r, const char *problem)
{
    if (r->problem == NULL) {
        r->problem = problem;
    }
}

/* Inserts a step before the one at `place`. Later steps move with their targets, because these are
 * relative. */
static struct roof_pattern_step *insert(struct reader *r, size_t place, enum kind kind)
{
    struct roof_pattern *const out = r->out;
    struct roof_pattern_step *step = &r->spare;
    if (out->count == ROOF_PATTERN_STEPS_MAX) {
        fail(r, "it is too long");
    } else {
        step = &out->step[place];
        memmove(step + 1, step, (out->count - place) * sizeof *step);
        out->count++;
    }
    *step = (struct roof_pattern_step){.kind = (int16_t)kind, .to = {1, 1}};
    return step;
}

static struct roof_pattern_step *append(struct reader *r, enum kind kind)
{
    return insert(r, r->out->count, kind);
}

/* --- sets of bytes ------------------------------------------------------------------------- */

static void add_bytes(struct roof_pattern_step *step, unsigned first, unsigned last)
{
    for (unsigned c = first; c <= last; c++) {
        step->bytes[c / 8] = (unsigned char)(step->bytes[c / 8] | 1U << c % 8);
    }
}

static bool takes(const struct roof_pattern_step *step, unsigned char c)
{
    return ((unsigned)step->bytes[c / 8] >> c % 8 & 1U) != 0;
}

static void turn_round(struct roof_pattern_step *step)
{
    for (size_t i = 0; i < sizeof step->bytes; i++) {
        step->bytes[i] = (unsigned char)~step->bytes[i];
    }
}

static bool is_punctuation(char c)
{
    return c > ' ' && c < 0x7f && (c < '0' || c > '9') && (c < 'A' || c > 'Z') &&
           (c < 'a' || c > 'z');
}

/* Reads an escape after its backslash. Returns the byte that it stands for, or -1 if it stands for
 * several. */
static int read_escape(struct reader *r, struct roof_pattern_step *step)
{
    static const struct {
        char name;
        const char *ranges;
    } classes[] = {{'d', "09"}, {'w', "09AZaz__"}, {'s', "\t\r  "}};
    struct roof_pattern_step several = {.bytes = {0}};
    const char c = *r->at;
    for (size_t i = 0; i < COUNT(classes); i++) {
        const bool opposite = c == classes[i].name - 'a' + 'A';
        if (c != classes[i].name && !opposite) {
            continue;
        }
        for (const char *range = classes[i].ranges; *range != '\0'; range += 2) {
            add_bytes(&several, (unsigned char)range[0], (unsigned char)range[1]);
        }
        if (opposite) {
            turn_round(&several);
        }
        for (size_t byte = 0; byte < sizeof several.bytes; byte++) {
            step->bytes[byte] = (unsigned char)(step->bytes[byte] | several.bytes[byte]);
        }
        r->at++;
        return -1;
    }
    if (!is_punctuation(c)) {
        fail(r, "only the escapes \\d \\D \\w \\W \\s \\S and those of punctuation are allowed");
        return -1;
    }
    r->at++;
    add_bytes(step, (unsigned char)c, (unsigned char)c);
    return (unsigned char)c;
}

/* Reads a member of a class, or an end of a range. Returns the byte, or -1 when it is several. */
static int read_member(struct reader *r, struct roof_pattern_step *step)
{
    if (*r->at == '\\') {
        r->at++;
        return read_escape(r, step);
    }
    const unsigned char c = (unsigned char)*r->at++;
    add_bytes(step, c, c);
    return c;
}

static void read_class(struct reader *r, struct roof_pattern_step *step)
{
    const bool opposite = *r->at == '^';
    r->at += opposite;
    do {
        if (*r->at == '\0') {
            fail(r, "'[' without ']'");
            return;
        }
        const int first = read_member(r, step);
        if (*r->at == '-' && r->at[1] != ']' && r->at[1] != '\0' && r->problem == NULL) {
            r->at++;
            const int last = read_member(r, step);
            if (first < 0 || last < first) {
                fail(r, "the range is not valid");
                return;
            }
            add_bytes(step, (unsigned)first, (unsigned)last);
        }
    } while (*r->at != ']' && r->problem == NULL);
    r->at += *r->at == ']';
    if (opposite) {
        turn_round(step);
    }
}

/* --- the expression ------------------------------------------------------------------------ */

static void read_choice(struct reader *r);

static void read_group(struct reader *r)
{
    if (*r->at == '?' && r->at[1] != ':') {
        fail(r, "only the group '(?:' may begin with '?'");
        return;
    }
    r->at += *r->at == '?' ? 2 : 0;
    if (++r->depth > DEPTH_MAX) {
        fail(r, "groups are nested too deeply");
        return;
    }
    read_choice(r);
    r->depth--;
    if (*r->at != ')') {
        fail(r, "'(' without ')'");
        return;
    }
    r->at++;
}

static void read_one(struct reader *r)
{
    const char c = *r->at++;
    switch (c) {
    case '(':
        read_group(r);
        break;
    case '[':
        read_class(r, append(r, TAKE));
        break;
    case '\\':
        (void)read_escape(r, append(r, TAKE));
        break;
    case '^':
        append(r, BEGIN);
        break;
    case '$':
        append(r, END);
        break;
    case '*':
    case '+':
    case '?':
        fail(r, "there is nothing to repeat");
        break;
    case '{':
        fail(r, "counts in braces are not supported");
        break;
    case '.': {
        struct roof_pattern_step *const step = append(r, TAKE);
        add_bytes(step, '\n', '\n');
        turn_round(step);
        break;
    }
    default:
        add_bytes(append(r, TAKE), (unsigned char)c, (unsigned char)c);
        break;
    }
}

/* Sets the two targets of a step, relative to it. */
static void set_ways(struct roof_pattern_step *step, ptrdiff_t one, ptrdiff_t other)
{
    step->to[0] = (int16_t)one;
    step->to[1] = (int16_t)other;
}

static void read_repeated(struct reader *r)
{
    const size_t start = r->out->count;
    read_one(r);
    const ptrdiff_t length = (ptrdiff_t)(r->out->count - start);
    const char c = *r->at;
    if (r->problem != NULL) {
        return;
    }
    if (c == '*') {
        set_ways(insert(r, start, FORK), 1, length + 2);
        set_ways(append(r, FORK), -length - 1, -length - 1);
    } else if (c == '+') {
        set_ways(append(r, FORK), -length, 1);
    } else if (c == '?') {
        set_ways(insert(r, start, FORK), 1, length + 1);
    } else {
        return;
    }
    r->at++;
    r->at += *r->at == '?'; /* as few repetitions as possible match the same names */
    if (*r->at == '*' || *r->at == '+' || *r->at == '?') {
        fail(r, "a repetition cannot be repeated");
    }
}

static void read_branch(struct reader *r)
{
    while (r->problem == NULL && *r->at != '\0' && *r->at != '|' && *r->at != ')') {
        read_repeated(r);
    }
}

static void read_choice(struct reader *r)
{
    const size_t start = r->out->count;
    read_branch(r);
    while (r->problem == NULL && *r->at == '|') {
        const ptrdiff_t length = (ptrdiff_t)(r->out->count - start);
        r->at++;
        set_ways(insert(r, start, FORK), 1, length + 2);
        struct roof_pattern_step *const jump = append(r, FORK);
        const size_t from = r->out->count - 1;
        read_branch(r);
        const ptrdiff_t behind = (ptrdiff_t)(r->out->count - from);
        set_ways(jump, behind, behind);
    }
}

const char *roof_pattern_read(struct roof_pattern *out, const char *text)
{
    struct reader r = {.out = out, .at = text};
    out->count = 0;
    read_choice(&r);
    if (*r.at == ')') {
        fail(&r, "')' without '('");
    }
    append(&r, DONE);
    return r.problem;
}

/* --- matching ------------------------------------------------------------------------------ */

/* The steps at which a match may be. */
struct places {
    size_t count;
    uint16_t place[ROOF_PATTERN_STEPS_MAX];
    bool there[ROOF_PATTERN_STEPS_MAX];
};

/* Empties a set of places. It clears only those of the program, because to clear all would take
 * longer than most matches. */
static void clear_places(struct places *places, const struct roof_pattern *pattern)
{
    places->count = 0;
    memset(places->there, 0, pattern->count);
}

static void add_place(struct places *places, ptrdiff_t place)
{
    if (!places->there[place]) {
        places->there[place] = true;
        places->place[places->count++] = (uint16_t)place;
    }
}

bool roof_pattern_matches(const struct roof_pattern *pattern, const char *name, int64_t *steps)
{
    struct places places[2];
    clear_places(&places[0], pattern);
    add_place(&places[0], 0);
    for (size_t i = 0;; i++) {
        struct places *const now = &places[i % 2];
        struct places *const next = &places[1 - i % 2];
        clear_places(next, pattern);
        /* Steps that are reached without a byte are appended, so that this loop visits them as
         * well. */
        for (size_t k = 0; k < now->count; k++) {
            const ptrdiff_t place = now->place[k];
            const struct roof_pattern_step *const step = &pattern->step[place];
            const enum kind kind = (enum kind)step->kind;
            if (kind == DONE) {
                return true;
            }
            if (kind == FORK || (kind == BEGIN && i == 0) || (kind == END && name[i] == '\0')) {
                add_place(now, place + step->to[0]);
                add_place(now, place + step->to[1]);
            } else if (kind == TAKE && name[i] != '\0' && takes(step, (unsigned char)name[i])) {
                add_place(next, place + 1);
            }
        }
        *steps += (int64_t)now->count;
        if (name[i] == '\0' || next->count == 0) {
            return false;
        }
    }
}
