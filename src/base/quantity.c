// SPDX-License-Identifier: MIT
#include "roofline/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/decimal.h"

/* How a unit is stored in a key, and how it is shown: SI value = key value * multiple / divisor. */
struct unit {
    const char *name;
    double multiple;
    double divisor;
    const char
        *base; /* the unit that takes engineering prefixes; NULL: shown as the plain key unit */
};

static const struct unit units[ROOF_UNIT_COUNT] = {
    [ROOF_UNIT_NONE] = {"", 1, 1, NULL},
    [ROOF_UNIT_BYTES] = {"bytes", 1, 1, "B"},
    [ROOF_UNIT_CAPACITY] = {"bytes", 1, 1, "iB"},
    [ROOF_UNIT_FLOPS] = {"FLOP", 1, 1, "FLOP"},
    [ROOF_UNIT_COUNTS] = {"", 1, 1, ""},
    [ROOF_UNIT_MICROSECONDS] = {"us", 1, 1e6, "s"},
    [ROOF_UNIT_MILLISECONDS] = {"ms", 1, 1e3, "s"},
    [ROOF_UNIT_GB_PER_S] = {"GB/s", 1e9, 1, NULL},
    [ROOF_UNIT_TFLOPS] = {"TFLOPS", 1e12, 1, NULL},
    [ROOF_UNIT_GIGABYTES] = {"GB", 1e9, 1, NULL},
    [ROOF_UNIT_MEGAHERTZ] = {"MHz", 1e6, 1, NULL},
    [ROOF_UNIT_WATTS] = {"W", 1, 1, NULL},
    [ROOF_UNIT_FLOP_PER_BYTE] = {"FLOP/byte", 1, 1, NULL},
    [ROOF_UNIT_FRACTION] = {"%", 1, 1e2, NULL},
};

/* SI prefixes for people, and the suffixes that integers may carry. */
static const struct {
    const char *name;
    double factor;
} prefixes[] = {{"Z", 1e21}, {"E", 1e18}, {"P", 1e15}, {"T", 1e12}, {"G", 1e9}, {"M", 1e6},
                {"k", 1e3},  {"", 1},     {"m", 1e-3}, {"u", 1e-6}, {"n", 1e-9}};

static const struct {
    const char *name;
    double factor;
} binary_prefixes[] = {
    {"T", 1099511627776.0}, {"G", 1073741824.0}, {"M", 1048576.0}, {"K", 1024.0}};

static const struct {
    const char *name;
    int64_t factor;
} multiples[] = {
    {"", 1},
    {"k", 1000},
    {"M", 1000000},
    {"G", 1000000000},
    {"Ki", 1024},
    {"Mi", INT64_C(1) << 20},
    {"Gi", INT64_C(1) << 30},
};

static const struct {
    const char *name;
    double divisor;
} times[] = {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}};

static const struct {
    const char *name;
    enum roof_unit unit;
} rates[] = {{"FLOPS", ROOF_UNIT_TFLOPS},
             {"FLOP/s", ROOF_UNIT_TFLOPS},
             {"OPS", ROOF_UNIT_TFLOPS},
             {"B/s", ROOF_UNIT_GB_PER_S}};
/* What can be drawn, and computed with: no device is near them. */
#define TIME_MIN 1e-12
#define TIME_MAX 1e9
#define RATE_MIN 1
#define RATE_MAX 1e24

double roof_to_unit(double si, enum roof_unit unit)
{
    /* One of the two factors is 1, so only one rounding happens. */
    return si * units[unit].divisor / units[unit].multiple;
}

double roof_from_unit(double value, enum roof_unit unit)
{
    return value * units[unit].multiple / units[unit].divisor;
}

double roof_given(double si, enum roof_unit unit)
{
    /* Two roundings, here and when it was read: no more than two steps off. */
    const double value = roof_to_unit(si, unit);
    double near = nextafter(nextafter(value, -HUGE_VAL), -HUGE_VAL);
    double best = value;
    size_t fewest = SIZE_MAX;
    for (int step = -2; step <= 2; step++) {
        char digits[ROOF_NUMBER_SIZE];
        const bool same = roof_from_unit(near, unit) == si;
        const size_t length = same ? roof_format_number(digits, near) : SIZE_MAX;
        if (length < fewest || (length == fewest && near == value)) {
            fewest = length;
            best = near;
        }
        near = nextafter(near, HUGE_VAL);
    }
    return best;
}

const char *roof_unit_name(enum roof_unit unit)
{
    return units[unit].name;
}

size_t roof_format_number(char out[ROOF_NUMBER_SIZE], double value)
{
    char *p = out;
    *p = '\0';
    if (!isfinite(value)) {
        return 0;
    }
    if (value == 0) { /* also -0: a sign carries no meaning in any of our figures */
        memcpy(out, "0", 2);
        return 1;
    }
    if (value < 0) {
        *p++ = '-';
        value = -value;
    }
    char digits[20];
    if (value < 9007199254740992.0 && value == floor(value)) { /* 2^53: whole and exact */
        p += roof_decimal_digits(p, (uint64_t)value);
        *p = '\0';
        return (size_t)(p - out);
    }
    uint64_t significand = 0;
    int exponent = 0;
    roof_decimal_shortest(&significand, &exponent, value);
    const int count = roof_decimal_digits(digits, significand);
    exponent += count - 1;                /* now that of the first digit */
    if (exponent < -5 || exponent > 20) { /* d.ddde-7 */
        *p++ = digits[0];
        if (count > 1) {
            *p++ = '.';
            memcpy(p, digits + 1, (size_t)count - 1);
            p += count - 1;
        }
        *p++ = 'e';
        *p = '-';
        p += exponent < 0;
        p += roof_decimal_digits(p, (uint64_t)abs(exponent));
    } else if (exponent < 0) { /* 0.000ddd */
        *p++ = '0';
        *p++ = '.';
        for (int zeros = -1; zeros > exponent; zeros--) {
            *p++ = '0';
        }
        memcpy(p, digits, (size_t)count);
        p += count;
    } else { /* ddd.ddd or ddd000 */
        const int whole = exponent + 1;
        const int from_digits = count < whole ? count : whole;
        memcpy(p, digits, (size_t)from_digits);
        memset(p + from_digits, '0', (size_t)(whole - from_digits));
        p += whole;
        if (count > whole) {
            *p++ = '.';
            memcpy(p, digits + whole, (size_t)(count - whole));
            p += count - whole;
        }
    }
    *p = '\0';
    return (size_t)(p - out);
}

/* Four significant digits, no trailing zeros, '.' in every locale. */
static void four_digits(char *out, size_t size, double value)
{
    const double magnitude = fabs(value);
    int decimals = 3;
    if (magnitude > 0) {
        decimals = 3 - (int)floor(log10(magnitude));
    }
    if (decimals < -2 || decimals > 9) {
        snprintf(out, size, "%.3e", value);
    } else {
        snprintf(out, size, "%.*f", decimals < 0 ? 0 : decimals, value);
    }
    /* The decimal point of the locale, of any length, becomes '.'; zeros after it are cut. */
    char *const point = out + (*out == '-') + strspn(out + (*out == '-'), "0123456789");
    if (*point == '\0' || *point == 'e') {
        return;
    }
    const char *const after = point + strcspn(point, "0123456789");
    *point = '.';
    memmove(point + 1, after, strlen(after) + 1);
    char *const tail = point + 1 + strspn(point + 1, "0123456789");
    char *last = tail;
    while (last[-1] == '0') {
        last--;
    }
    last -= last[-1] == '.';
    memmove(last, tail, strlen(tail) + 1);
}

const char *roof_format_short(char out[ROOF_QUANTITY_SIZE], double value)
{
    if (isfinite(value)) {
        four_digits(out, ROOF_QUANTITY_SIZE, value);
    } else {
        memcpy(out, "-", 2);
    }
    return out;
}

const char *roof_format_quantity(char out[ROOF_QUANTITY_SIZE], double si, enum roof_unit unit)
{
    const struct unit *const row = &units[unit];
    char number[32];
    if (!isfinite(si)) {
        memcpy(out, "-", 2);
        return out;
    }
    if (row->base == NULL) {
        const double value = roof_to_unit(si, unit);
        if (!isfinite(value)) {
            return memcpy(out, "-", 2);
        }
        four_digits(number, sizeof number, value);
        snprintf(out, ROOF_QUANTITY_SIZE, "%s%s%s", number,
                 unit == ROOF_UNIT_FRACTION || row->name[0] == '\0' ? "" : " ", row->name);
        return out;
    }
    size_t i = 0;
    if (unit == ROOF_UNIT_CAPACITY) {
        while (i < COUNT(binary_prefixes) - 1 && si < binary_prefixes[i].factor * 0.99995) {
            i++;
        }
        four_digits(number, sizeof number, si / binary_prefixes[i].factor);
        snprintf(out, ROOF_QUANTITY_SIZE, "%s %s%s", number, binary_prefixes[i].name, row->base);
        return out;
    }
    /* 0.99995 rounds up to the next prefix: 999.95 k is shown as 1 M. Counts have no prefix below
     * one, and times none above. */
    const bool time = unit == ROOF_UNIT_MICROSECONDS || unit == ROOF_UNIT_MILLISECONDS;
    const size_t one = 7;
    const size_t last = time ? COUNT(prefixes) - 1 : one;
    i = time || si == 0 ? one : 0;
    while (i < last && fabs(si) < prefixes[i].factor * 0.99995 && si != 0) {
        i++;
    }
    four_digits(number, sizeof number, si / prefixes[i].factor);
    snprintf(out, ROOF_QUANTITY_SIZE, "%s %s%s", number, prefixes[i].name, row->base);
    return out;
}

/* strtod for '.' in every locale; *end is where the number stopped. Refuses what is not a plain
 * decimal number: inf, nan, hexadecimal, leading blanks. */
static bool plain_number(double *out, const char *text, const char **end)
{
    const char *p = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*p) && !(*p == '.' && isdigit((unsigned char)p[1]))) {
        return false;
    }
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        return false;
    }
    const size_t length = strspn(text, "0123456789+-.eE");
    char copy[128];
    const char *const point = localeconv()->decimal_point;
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        const char *const piece = text[i] == '.' ? point : &text[i];
        const size_t size = text[i] == '.' ? strlen(point) : 1;
        if (used + size >= sizeof copy) {
            return false;
        }
        memcpy(copy + used, piece, size);
        used += size;
    }
    copy[used] = '\0';
    char *stop = NULL;
    *out = strtod(copy, &stop);
    /* Only the decimal point can have changed its length, and there is at most one before stop. */
    size_t consumed = (size_t)(stop - copy);
    const char *const dot = memchr(text, '.', length);
    if (dot != NULL && consumed > (size_t)(dot - text)) {
        consumed -= strlen(point) - 1;
    }
    *end = text + consumed;
    return true;
}

static enum roof_status range_error(struct roof_error *error, const char *what, int64_t min,
                                    int64_t max, const char *text)
{
    return roof_error_set(error, ROOF_USAGE,
                          "%s must be an integer from %" PRId64 " to %" PRId64
                          " (k, M, G or Ki, Mi, Gi may follow), not '%s'",
                          what, min, max, text);
}

/* One integer of length bytes. */
static bool integer_text(int64_t *out, const char *text, size_t length)
{
    const bool negative = length > 0 && text[0] == '-';
    size_t i = negative ? 1 : 0;
    const size_t first = i;
    int64_t value = 0;
    for (; i < length && isdigit((unsigned char)text[i]); i++) {
        const int digit = text[i] - '0';
        if (value > (INT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    if (i == first) {
        return false;
    }
    for (size_t m = 0; m < COUNT(multiples); m++) {
        if (strlen(multiples[m].name) == length - i &&
            memcmp(multiples[m].name, text + i, length - i) == 0) {
            if (value > INT64_MAX / multiples[m].factor) {
                return false;
            }
            value *= multiples[m].factor;
            *out = negative ? -value : value;
            return true;
        }
    }
    return false;
}

enum roof_status roof_parse_integer(int64_t *out, const char *text, const char *what, int64_t min,
                                    int64_t max, struct roof_error *error)
{
    int64_t value = 0;
    if (!integer_text(&value, text, strlen(text)) || value < min || value > max) {
        return range_error(error, what, min, max, text);
    }
    *out = value;
    return ROOF_OK;
}

enum roof_status roof_parse_number(double *out, const char *text, const char *what, double min,
                                   double max, struct roof_error *error)
{
    double value = 0;
    const char *end = text;
    if (!plain_number(&value, text, &end) || *end != '\0' || !isfinite(value) ||
        !(value >= min && value <= max)) {
        char low[ROOF_QUANTITY_SIZE];
        char high[ROOF_QUANTITY_SIZE];
        return roof_error_set(error, ROOF_USAGE, "%s must be a number from %s to %s, not '%s'",
                              what, roof_format_short(low, min), roof_format_short(high, max),
                              text);
    }
    *out = value;
    return ROOF_OK;
}

enum roof_status roof_parse_time(double *out_s, const char *text, const char *what,
                                 struct roof_error *error)
{
    double value = 0;
    const char *end = text;
    if (plain_number(&value, text, &end)) {
        for (size_t i = 0; i < COUNT(times); i++) {
            const double seconds = value / times[i].divisor;
            if (strcmp(end, times[i].name) == 0 && seconds >= TIME_MIN && seconds <= TIME_MAX) {
                *out_s = seconds;
                return ROOF_OK;
            }
        }
    }
    return roof_error_set(error, ROOF_USAGE,
                          "%s must be a time from 1e-12 to 1e9 s with its unit (ns, us, ms or s) "
                          "such as 83us, not '%s'",
                          what, text);
}

enum roof_status roof_parse_rate(double *out, enum roof_unit *unit, const char *text,
                                 const char *what, struct roof_error *error)
{
    double value = 0;
    const char *end = text;
    const bool number = plain_number(&value, text, &end);
    end += number ? strspn(end, " ") : 0;
    for (size_t p = 0; p < COUNT(prefixes) && number; p++) {
        const size_t length = strlen(prefixes[p].name);
        const double rate = value * prefixes[p].factor;
        if (prefixes[p].factor < 1 || strncmp(end, prefixes[p].name, length) != 0) {
            continue;
        }
        for (size_t i = 0; i < COUNT(rates); i++) {
            if (strcmp(end + length, rates[i].name) == 0 && rate >= RATE_MIN && rate <= RATE_MAX) {
                *out = rate;
                *unit = rates[i].unit;
                return ROOF_OK;
            }
        }
    }
    return roof_error_set(error, ROOF_USAGE,
                          "%s must be a rate from 1 to 1e24 per second with its unit, such as "
                          "271TFLOPS or 1.8TB/s, not '%s'",
                          what, text);
}

enum roof_status roof_values_append(struct roof_values *values, struct roof_run run,
                                    struct roof_error *error)
{
    /* Grow at powers of two: the count itself says when. */
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

struct range {
    const char *what;
    int64_t min, max;
    const char *item; /* for messages */
    int64_t start, stop;
};

/* A geometric range is kept as a list of its values. */
#define GEOMETRIC_STEPS_MAX 100000

static enum roof_status geometric(struct roof_values *out, const struct range *range,
                                  const char *factor_text, struct roof_error *error)
{
    double factor = 0;
    const char *end = factor_text;
    if (!plain_number(&factor, factor_text, &end) || *end != '\0' || !(factor > 1) ||
        !isfinite(factor)) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: the factor of '%s' must be a number above 1, as in 1:64:x2",
                              range->what, range->item);
    }
    if (range->start < 1) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: the geometric range '%s' must start at 1 or above", range->what,
                              range->item);
    }
    if (log((double)range->stop / (double)range->start) > GEOMETRIC_STEPS_MAX * log(factor)) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: the factor of '%s' is too near 1: more than %d steps",
                              range->what, range->item, GEOMETRIC_STEPS_MAX);
    }
    int64_t previous = 0;
    double value = (double)range->start;
    while (value < (double)range->stop + 0.5) {
        const int64_t rounded = (int64_t)floor(value + 0.5);
        if (rounded != previous) {
            const struct roof_run run = {.first = rounded, .step = 0, .count = 1};
            const enum roof_status status = roof_values_append(out, run, error);
            if (status != ROOF_OK) {
                return status;
            }
            previous = rounded;
        }
        value *= factor;
    }
    return ROOF_OK;
}

static enum roof_status too_many(struct roof_error *error, const char *what, const char *text)
{
    return roof_error_set(error, ROOF_USAGE, "%s: '%s' has more than %lld values", what, text,
                          (long long)ROOF_VALUES_MAX);
}

/* One element of the list: an integer or a range. item is a private, writable copy. */
static enum roof_status parse_item(struct roof_values *out, char *item, const struct range *limits,
                                   struct roof_error *error)
{
    struct range range = *limits;
    char *const whole = item;
    char shown[128];
    snprintf(shown, sizeof shown, "%s", whole);
    range.item = shown;
    char *const stop_text = strchr(whole, ':');
    if (stop_text == NULL) {
        const size_t number = strspn(whole, "0123456789kMGi");
        if (number > 0 && (whole[number] == '-' || strncmp(whole + number, "..", 2) == 0)) {
            return roof_error_set(error, ROOF_USAGE,
                                  "%s: a range is written START:STOP or START:STOP:STEP, not '%s'",
                                  range.what, shown);
        }
        enum roof_status status =
            roof_parse_integer(&range.start, whole, range.what, range.min, range.max, error);
        if (status == ROOF_OK) {
            status = roof_values_append(out, (struct roof_run){range.start, 0, 1}, error);
        }
        return status;
    }
    *stop_text = '\0';
    char *const step_text = strchr(stop_text + 1, ':');
    if (step_text != NULL) {
        *step_text = '\0';
    }
    enum roof_status status =
        roof_parse_integer(&range.start, whole, range.what, range.min, range.max, error);
    if (status == ROOF_OK) {
        status =
            roof_parse_integer(&range.stop, stop_text + 1, range.what, range.min, range.max, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    if (range.start > range.stop) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: the range '%s' is reversed; write START:STOP with START <= STOP",
                              range.what, shown);
    }
    if (step_text != NULL && step_text[1] == 'x') {
        return geometric(out, &range, step_text + 2, error);
    }
    int64_t step = 1;
    if (step_text != NULL &&
        (!integer_text(&step, step_text + 1, strlen(step_text + 1)) || step < 1)) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: the step of '%s' must be an integer from 1, or xFACTOR",
                              range.what, shown);
    }
    /* In unsigned numbers the difference of any two fits. */
    const uint64_t steps = ((uint64_t)range.stop - (uint64_t)range.start) / (uint64_t)step;
    if (steps >= ROOF_VALUES_MAX) {
        return too_many(error, range.what, shown);
    }
    return roof_values_append(out, (struct roof_run){range.start, step, (int64_t)steps + 1}, error);
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
    enum roof_status status = ROOF_OK;
    char *item = copy;
    while (status == ROOF_OK && item != NULL) {
        char *const comma = strchr(item, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        if (*item == '\0') {
            status = roof_error_set(error, ROOF_USAGE, "%s: the list '%s' has an empty element",
                                    what, text);
        } else {
            status = parse_item(out, item, &limits, error);
        }
        if (status == ROOF_OK && out->count > ROOF_VALUES_MAX) {
            status = too_many(error, what, text);
        }
        item = comma == NULL ? NULL : comma + 1;
    }
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
