// SPDX-License-Identifier: MIT
#include "base/values.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/list.h"
#include "base/quantity.h"

enum roof_status roof_values_append(struct roof_values *values, struct roof_run run,
                                    struct roof_error *error)
{
    /* The room doubles at powers of two, so the count shows when it is used up. */
    if ((values->run_count & (values->run_count - 1)) == 0) {
        const size_t room = values->run_count == 0 ? 1 : 2 * values->run_count;
        struct roof_run *const grown = realloc(values->run, room * sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(error);
        }
        values->run = grown;
    }
    values->run[values->run_count++] = run;
    values->count += run.count;
    return ROOF_OK;
}

/* An element of a list, and what it may be. */
struct range {
    const char *what; /* names the quantity in messages */
    int64_t min, max;
    const char *item; /* the element as it was written, for messages */
    int64_t start, stop;
};

/* A geometric range is kept as a list of its values, so it may not have more than these. */
#define GEOMETRIC_STEPS_MAX 100000

static enum roof_status too_many(struct roof_error *error, const char *what, const char *text)
{
    return roof_error_set(error, ROOF_USAGE, "%s: '%s' has more than %lld values", what, text,
                          (long long)ROOF_VALUES_MAX);
}

/* Reads the factor of a geometric range, and refuses ranges of too many steps. */
static enum roof_status read_factor(double *factor, const struct range *range, const char *text,
                                    struct roof_error *error)
{
    if (roof_parse_number(factor, text, range->what, 1, DBL_MAX, NULL) != ROOF_OK ||
        !(*factor > 1)) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: the factor of '%s' must be a number above 1, as in 1:64:x2",
                              range->what, range->item);
    }
    if (range->start < 1) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: the geometric range '%s' must start at 1 or above", range->what,
                              range->item);
    }
    if (log((double)range->stop / (double)range->start) > GEOMETRIC_STEPS_MAX * log(*factor)) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: the factor of '%s' is too near 1: more than %d steps",
                              range->what, range->item, GEOMETRIC_STEPS_MAX);
    }
    return ROOF_OK;
}

/* Adds the values of START:STOP:xFACTOR. */
static enum roof_status geometric(struct roof_values *out, const struct range *range,
                                  const char *factor_text, struct roof_error *error)
{
    double factor = 0;
    TRY(read_factor(&factor, range, factor_text, error));
    int64_t previous = 0;
    double value = (double)range->start;
    while (value < (double)range->stop + 0.5) {
        const int64_t rounded = (int64_t)floor(value + 0.5);
        if (rounded != previous) {
            TRY(roof_values_append(out, (struct roof_run){rounded, 0, 1}, error));
            previous = rounded;
        }
        value *= factor;
    }
    return ROOF_OK;
}

/* Adds the values of START:STOP:STEP; step_text is NULL when the step was left out. */
static enum roof_status arithmetic(struct roof_values *out, const struct range *range,
                                   const char *step_text, struct roof_error *error)
{
    int64_t step = 1;
    if (step_text != NULL &&
        roof_parse_integer(&step, step_text, range->what, 1, INT64_MAX, NULL) != ROOF_OK) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: the step of '%s' must be an integer from 1, or xFACTOR",
                              range->what, range->item);
    }
    /* In unsigned numbers the difference of any two fits. */
    const uint64_t steps = ((uint64_t)range->stop - (uint64_t)range->start) / (uint64_t)step;
    return steps >= ROOF_VALUES_MAX
               ? too_many(error, range->what, range->item)
               : roof_values_append(out, (struct roof_run){range->start, step, (int64_t)steps + 1},
                                    error);
}

/* Adds the value of an element that is not a range. */
static enum roof_status single(struct roof_values *out, const struct range *range,
                               struct roof_error *error)
{
    const char *const text = range->item;
    const size_t number = strspn(text, "0123456789kMGi");
    int64_t value = 0;
    if (number > 0 && (text[number] == '-' || strncmp(text + number, "..", 2) == 0)) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: a range is written START:STOP or START:STOP:STEP, not '%.127s'",
                              range->what, text);
    }
    TRY(roof_parse_integer(&value, text, range->what, range->min, range->max, error));
    return roof_values_append(out, (struct roof_run){value, 0, 1}, error);
}

/* Reads START:STOP or START:STOP:STEP, which it cuts into its parts; range->item is another copy.
 */
static enum roof_status parse_range(struct roof_values *out, char *text, struct range *range,
                                    struct roof_error *error)
{
    char *const stop_text = strchr(text, ':') + 1;
    stop_text[-1] = '\0';
    char *step_text = strchr(stop_text, ':');
    if (step_text != NULL) {
        *step_text++ = '\0';
    }
    TRY(roof_parse_integer(&range->start, text, range->what, range->min, range->max, error));
    TRY(roof_parse_integer(&range->stop, stop_text, range->what, range->min, range->max, error));
    if (range->start > range->stop) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: the range '%s' is reversed; write START:STOP with START <= STOP",
                              range->what, range->item);
    }
    return step_text != NULL && *step_text == 'x' ? geometric(out, range, step_text + 1, error)
                                                  : arithmetic(out, range, step_text, error);
}

/* Reads an element of a list; item is a private, writable copy of it. */
static enum roof_status parse_item(struct roof_values *out, char *item, const struct range *limits,
                                   struct roof_error *error)
{
    struct range range = *limits;
    if (strchr(item, ':') == NULL) {
        range.item = item;
        return single(out, &range, error);
    }
    char shown[128];
    (void)snprintf(shown, sizeof shown, "%s", item);
    range.item = shown;
    return parse_range(out, item, &range, error);
}

/* Reads the elements of a list; copy has as many bytes as text, and is written to. */
static enum roof_status parse_list(struct roof_values *out, const char *text, char *copy,
                                   const struct range *limits, struct roof_error *error)
{
    struct roof_list_item item;
    for (const char *rest = text; roof_list_next(&item, &rest);) {
        (void)roof_list_item_copy(copy, item.length + 1, &item);
        if (item.length == 0) {
            return roof_error_set(error, ROOF_USAGE, "%s: the list '%s' has an empty element",
                                  limits->what, text);
        }
        TRY(parse_item(out, copy, limits, error));
        if (out->count > ROOF_VALUES_MAX) {
            return too_many(error, limits->what, text);
        }
    }
    return ROOF_OK;
}

enum roof_status roof_parse_values(struct roof_values *out, const char *text, const char *what,
                                   int64_t min, int64_t max, struct roof_error *error)
{
    *out = (struct roof_values){0};
    const struct range limits = {.what = what, .min = min, .max = max};
    char *const copy = strdup(text);
    if (copy == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = parse_list(out, text, copy, &limits, error);
    free(copy);
    if (status != ROOF_OK) {
        roof_values_free(out);
    }
    return status;
}

int64_t roof_values_at(const struct roof_values *values, int64_t index)
{
    size_t r = 0;
    while (index >= values->run[r].count) {
        index -= values->run[r++].count;
    }
    return values->run[r].first + index * values->run[r].step;
}

void roof_values_free(struct roof_values *values)
{
    if (values != NULL) {
        free(values->run);
        *values = (struct roof_values){0};
    }
}
