// SPDX-License-Identifier: MIT
#include "base/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/decimal.h"
#include "base/list.h"

/* A unit as keys store it and as people read it: SI value = key value * multiple / divisor. */
struct unit {
    const char *name;
    double multiple;
    double divisor;
    const char *base; /* the unit behind an engineering prefix; NULL: the key's unit is shown */
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
    [ROOF_UNIT_JOULES] = {"J", 1, 1, "J"},
    [ROOF_UNIT_PICOJOULES] = {"pJ", 1, 1e12, NULL},
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
/* Limits of times and rates that can be drawn and computed with; real devices are far from them.
 */
#define TIME_MIN 1e-12
#define TIME_MAX 1e9
#define RATE_MIN 1
#define RATE_MAX 1e24
/* From this share of a prefix on four digits show one of it: 999.95 k is shown as 1 M. */
#define ROUNDED_UP 0.99995

double roof_to_unit(double si, enum roof_unit unit)
{
    /* One of the two factors is 1, so only one rounding happens. */
    return si * units[unit].divisor / units[unit].multiple;
}

double roof_from_unit(double value, enum roof_unit unit)
{
    return value * units[unit].multiple / units[unit].divisor;
}

/* Two numbers of so many digits differ by at least 1e-15 of their size, more than four steps. */
#define DIGITS_APART 15

/* Returns the length of a number's text if it is read as `si`, else SIZE_MAX. */
static size_t length_as(double number, double si, enum roof_unit unit)
{
    char digits[ROOF_NUMBER_SIZE];
    return roof_from_unit(number, unit) == si ? roof_format_number(digits, number) : SIZE_MAX;
}

/* Returns the double that is so many steps above a number that is not 0. This is faster than
 * nextafter. */
static double stepped(double number, int steps)
{
    int64_t bits = 0;
    memcpy(&bits, &number, sizeof bits);
    bits += number < 0 ? -steps : steps;
    memcpy(&number, &bits, sizeof bits);
    return number;
}

double roof_given(double si, enum roof_unit unit)
{
    /* The value was rounded twice, here and when it was read, so the number that was given is at
     * most two steps away. */
    const double value = roof_to_unit(si, unit);
    double best = value;
    size_t fewest = length_as(value, si, unit);
    if (fewest <= DIGITS_APART) { /* all others are longer */
        return value;
    }
    for (int step = -2; step <= 2; step++) {
        const double candidate = stepped(value, step);
        const size_t length = step == 0 ? SIZE_MAX : length_as(candidate, si, unit);
        if (length < fewest) {
            fewest = length;
            best = candidate;
        }
    }
    return best;
}

const char *roof_unit_name(enum roof_unit unit)
{
    return units[unit].name;
}

/* Writes the digits of a significand with a point behind `whole` of them. Returns the end. */
static char *put_with_point(char *p, uint64_t significand, int count, int whole)
{
    roof_decimal_digits(p + 1, significand, count);
    for (int i = 0; i < whole; i++) {
        p[i] = p[i + 1];
    }
    p[whole] = '.';
    return p + count + 1;
}

/* Writes the digits of a number without a point. Returns the end. */
static char *put_whole(char *p, uint64_t value, int count)
{
    roof_decimal_digits(p, value, count);
    return p + count;
}

/* Writes a number whose first digit has this power of ten as "d.ddde-7". Returns the end. */
static char *put_scientific(char *p, uint64_t significand, int count, int exponent)
{
    const uint64_t power = (uint64_t)abs(exponent);
    p = count > 1 ? put_with_point(p, significand, count, 1) : put_whole(p, significand, count);
    *p++ = 'e';
    *p = '-';
    p += exponent < 0;
    return put_whole(p, power, roof_decimal_count(power));
}

/* Writes such a number as "0.000ddd", "ddd.ddd" or "ddd000". Returns the end. */
static char *put_decimal(char *p, uint64_t significand, int count, int exponent)
{
    static const char zeros[] = {'0', '.', '0', '0', '0', '0'};
    const int whole = exponent + 1;
    if (whole <= 0) {
        memcpy(p, zeros, sizeof zeros);
        return put_whole(p + 2 - whole, significand, count);
    }
    if (count > whole) {
        return put_with_point(p, significand, count, whole);
    }
    p = put_whole(p, significand, count);
    memset(p, '0', (size_t)(whole - count));
    return p + (whole - count);
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
    if (value < 9007199254740992.0 && value == floor(value)) { /* 2^53: whole and exact */
        p = put_whole(p, (uint64_t)value, roof_decimal_count((uint64_t)value));
    } else {
        uint64_t significand = 0;
        int exponent = 0;
        roof_decimal_shortest(&significand, &exponent, value);
        const int count = roof_decimal_count(significand);
        exponent += count - 1; /* it is now the power of ten of the first digit */
        p = exponent < -5 || exponent > 20 ? put_scientific(p, significand, count, exponent)
                                           : put_decimal(p, significand, count, exponent);
    }
    *p = '\0';
    return (size_t)(p - out);
}

/* Writes four significant digits without trailing zeros, and with '.' in every locale. */
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

const char *roof_format_percentile(char out[ROOF_QUANTITY_SIZE], double percent)
{
    char number[ROOF_QUANTITY_SIZE];
    (void)snprintf(out, ROOF_QUANTITY_SIZE, "%s%s", percent > 0 ? "p" : "mean",
                   percent > 0 ? roof_format_short(number, percent) : "");
    return out;
}

const char *roof_format_in(char out[ROOF_QUANTITY_SIZE], double si, enum roof_unit unit)
{
    char number[ROOF_QUANTITY_SIZE];
    roof_format_short(number, roof_to_unit(si, unit));
    (void)snprintf(out, ROOF_QUANTITY_SIZE, isfinite(si) ? "%.30s %s" : "%.30s%.0s", number,
                   roof_unit_name(unit));
    return out;
}

/* Writes a number with the prefix that leaves it at least one before the unit: "1.5 GiB". */
static void put_binary(char *out, double value, const char *base)
{
    char number[32];
    size_t i = 0;
    while (i < COUNT(binary_prefixes) - 1 && value < binary_prefixes[i].factor * ROUNDED_UP) {
        i++;
    }
    four_digits(number, sizeof number, value / binary_prefixes[i].factor);
    (void)snprintf(out, ROOF_QUANTITY_SIZE, "%s %s%s", number, binary_prefixes[i].name, base);
}

/* Writes a number with an SI prefix. Counts have no prefix below one, and times none above. */
static void put_prefixed(char *out, double value, bool time, const char *base)
{
    const size_t one = 7; /* the row without a prefix */
    const size_t last = time ? COUNT(prefixes) - 1 : one;
    char number[32];
    size_t i = time || value == 0 ? one : 0;
    while (i < last && fabs(value) < prefixes[i].factor * ROUNDED_UP && value != 0) {
        i++;
    }
    four_digits(number, sizeof number, value / prefixes[i].factor);
    (void)snprintf(out, ROOF_QUANTITY_SIZE, "%s %s%s", number, prefixes[i].name, base);
}

const char *roof_format_quantity(char out[ROOF_QUANTITY_SIZE], double si, enum roof_unit unit)
{
    const struct unit *const row = &units[unit];
    const double value = row->base == NULL ? roof_to_unit(si, unit) : si;
    if (!isfinite(si) || !isfinite(value)) {
        memcpy(out, "-", 2);
    } else if (row->base == NULL) {
        char number[32];
        const bool joined = unit == ROOF_UNIT_FRACTION || row->name[0] == '\0';
        four_digits(number, sizeof number, value);
        (void)snprintf(out, ROOF_QUANTITY_SIZE, "%s%s%s", number, joined ? "" : " ", row->name);
    } else if (unit == ROOF_UNIT_CAPACITY) {
        put_binary(out, si, row->base);
    } else {
        put_prefixed(out, si, unit == ROOF_UNIT_MICROSECONDS || unit == ROOF_UNIT_MILLISECONDS,
                     row->base);
    }
    return out;
}

/* Rounds to three significant digits. */
static double three_digits(double value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.2e", value);
    return isfinite(value) ? strtod(text, NULL) : value;
}

const char *roof_format_range(char out[ROOF_RANGE_SIZE], double low, double high,
                              enum roof_unit unit)
{
    return roof_format_range_above(out, ROOF_UNKNOWN, low, high, unit);
}

const char *roof_format_range_above(char out[ROOF_RANGE_SIZE], double bound, double low,
                                    double high, enum roof_unit unit)
{
    char first[ROOF_QUANTITY_SIZE];
    char last[ROOF_QUANTITY_SIZE];
    const bool below = low >= bound && three_digits(low) < bound; /* false if it is unknown */
    roof_format_quantity(first, below ? low : three_digits(low), unit);
    roof_format_quantity(last, three_digits(high), unit);
    char *const of_first = strchr(first, ' ');
    const char *const of_last = strchr(last, ' ');
    if (of_first != NULL && of_last != NULL && strcmp(of_first, of_last) == 0) {
        *of_first = '\0';
    }
    (void)snprintf(out, ROOF_RANGE_SIZE, "%s to %s", first, last);
    return out;
}

/* Reads a number as strtod does, but with '.' in every locale; *end is where the number stopped.
 * Refuses what is not a plain decimal number: inf, nan, hexadecimal, leading blanks. */
static bool plain_number(double *out, const char *text, const char **end)
{
    const char *p = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*p) && !(*p == '.' && isdigit((unsigned char)p[1]))) {
        return false;
    }
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        return false;
    }
    *end = text;
    if (roof_decimal_read(out, end)) {
        return true;
    }
    const size_t length = strspn(text, "0123456789+-.eE");
    char copy[128];
    const char *const point = nl_langinfo(RADIXCHAR);
    const char *const dot = memchr(text, '.', length);
    const size_t before = dot == NULL ? length : (size_t)(dot - text);
    const size_t behind = length - before - (dot == NULL ? 0 : 1);
    const size_t size = dot == NULL ? 0 : strlen(point);
    if (length + size >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, before);
    memcpy(copy + before, point, size);
    memcpy(copy + before + size, text + length - behind, behind);
    copy[before + size + behind] = '\0';
    char *stop = NULL;
    *out = strtod(copy, &stop);
    /* Only the decimal point can differ in length, and there is at most one before stop. */
    size_t consumed = (size_t)(stop - copy);
    if (dot != NULL && consumed > before) {
        consumed -= size - 1;
    }
    *end = text + consumed;
    return true;
}

static enum roof_status range_error(struct roof_error *error, const char *what, int64_t min,
                                    int64_t max, const char *text)
{
    const char *const suffix = text + strspn(text, "0123456789");
    (void)roof_error_set(error, ROOF_USAGE,
                         "%s must be an integer from %" PRId64 " to %" PRId64
                         " (suffixes: k, M, G, Ki, Mi, Gi), not '%s'",
                         what, min, max, text);
    for (size_t m = 0; m < COUNT(multiples) && suffix > text; m++) {
        if (strcasecmp(suffix, multiples[m].name) == 0 && strcmp(suffix, multiples[m].name) != 0) {
            roof_error_append(error, "; did you mean %.*s%s?", (int)(suffix - text), text,
                              multiples[m].name);
        }
    }
    return ROOF_USAGE;
}

/* Reads an integer of length bytes; false when it is none, or does not fit. */
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
    size_t m = 0;
    while (m < COUNT(multiples) && (strlen(multiples[m].name) != length - i ||
                                    memcmp(multiples[m].name, text + i, length - i) != 0)) {
        m++;
    }
    if (m == COUNT(multiples) || value > INT64_MAX / multiples[m].factor) {
        return false;
    }
    value *= multiples[m].factor;
    *out = negative ? -value : value;
    return true;
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

/* Reads a number that may be followed by its unit: "300W", "89.6 GB/s". */
static bool number_text(double *out, const char *text, const char *unit)
{
    const char *end = text;
    if (!plain_number(out, text, &end) || !isfinite(*out)) {
        return false;
    }
    return *end == '\0' || (*unit != '\0' && strcmp(end + (*end == ' '), unit) == 0);
}

/* Reads a size that may have a unit prefix, with a B or without: "48M", "1.5 GiB". */
static bool bytes_text(double *out, const char *text)
{
    const char *end = text;
    if (!plain_number(out, text, &end) || !isfinite(*out)) {
        return false;
    }
    end += *end == ' ';
    for (size_t m = 1; m < COUNT(multiples); m++) {
        const size_t length = strlen(multiples[m].name);
        if (strncmp(end, multiples[m].name, length) == 0 &&
            (end[length] == '\0' || strcmp(end + length, "B") == 0)) {
            *out *= (double)multiples[m].factor;
            return true;
        }
    }
    return false;
}

enum roof_status roof_parse_number(double *out, const char *text, const char *what, double min,
                                   double max, struct roof_error *error)
{
    return roof_parse_quantity(out, text, what, ROOF_UNIT_NONE, min, max, error);
}

/* The least number that is taken for a percentage without its sign: 50 in place of 0.5. */
#define PERCENT_LEAST 2

enum roof_status roof_parse_quantity(double *out, const char *text, const char *what,
                                     enum roof_unit unit, double min, double max,
                                     struct roof_error *error)
{
    const bool fraction = min >= 0 && max > 0 && max <= 1;
    const char *const name = fraction ? "%" : units[unit].name;
    double value = 0;
    const bool size = unit == ROOF_UNIT_BYTES || unit == ROOF_UNIT_CAPACITY;
    const bool number = number_text(&value, text, name) || (size && bytes_text(&value, text));
    value /= fraction && strchr(text, '%') != NULL ? 100 : 1;
    if (!number || !(value >= min && value <= max)) {
        char low[ROOF_QUANTITY_SIZE];
        char high[ROOF_QUANTITY_SIZE];
        char percent[64] = "";
        if (fraction && number && strchr(text, '%') == NULL && value >= PERCENT_LEAST &&
            value / 100 <= max) {
            char share[ROOF_QUANTITY_SIZE];
            char whole[ROOF_QUANTITY_SIZE];
            (void)snprintf(percent, sizeof percent, "; write %s%% or %s",
                           roof_format_short(whole, value), roof_format_short(share, value / 100));
        }
        return roof_error_set(error, ROOF_USAGE,
                              "%s must be a number from %s to %s%s%s%s, not '%s'%s", what,
                              roof_format_short(low, min), roof_format_short(high, max),
                              fraction || *name == '\0' ? "" : " ", fraction ? "" : name,
                              size ? ", or one with k, M, G, Ki, Mi or Gi" : "", text, percent);
    }
    *out = value;
    return ROOF_OK;
}

enum roof_status roof_parse_share(double *out, const char *text, const char *what,
                                  struct roof_error *error)
{
    double value = 0;
    const char *end = text;
    if (plain_number(&value, text, &end)) {
        const bool percent = strcmp(end, "%") == 0;
        value = percent ? value / 100 : value;
        if ((percent || *end == '\0') && value > 0 && value <= 1) {
            *out = value;
            return ROOF_OK;
        }
    }
    return roof_error_set(error, ROOF_USAGE,
                          "%s must be a share above 0 and up to 1, or up to 100%%, not '%s'", what,
                          text);
}

bool roof_is_time_unit(const char *text)
{
    size_t i = 0;
    while (i < COUNT(times) && strcmp(text, times[i].name) != 0) {
        i++;
    }
    return i < COUNT(times);
}

/* Reads a time; `none` allows 0. */
static enum roof_status parse_time(double *out_s, const char *text, const char *what, bool none,
                                   struct roof_error *error)
{
    double value = 0;
    const char *end = text;
    if (plain_number(&value, text, &end)) {
        for (size_t i = 0; i < COUNT(times); i++) {
            const double seconds = value / times[i].divisor;
            const bool valid = (seconds >= TIME_MIN && seconds <= TIME_MAX) ||
                               (none && value == 0 && !signbit(value));
            if (strcmp(end, times[i].name) == 0 && valid) {
                *out_s = seconds;
                return ROOF_OK;
            }
        }
        if (*end == '\0' && value > 0 && value < TIME_MAX) {
            return roof_error_set(error, ROOF_USAGE,
                                  "%s must have a unit (ns, us, ms or s), such as %sms, not '%s'",
                                  what, text, text);
        }
    }
    return roof_error_set(error, ROOF_USAGE,
                          "%s must be %sa time from 1e-12 to 1e9 s with its unit (ns, us, ms or s) "
                          "such as 83us, not '%s'",
                          what, none ? "0s or " : "", text);
}

enum roof_status roof_parse_time(double *out_s, const char *text, const char *what,
                                 struct roof_error *error)
{
    return parse_time(out_s, text, what, false, error);
}

enum roof_status roof_parse_seconds(double *out_s, const char *text, const char *what, double min,
                                    double max, struct roof_error *error)
{
    double value = 0;
    if (roof_parse_time(&value, text, what, NULL) == ROOF_OK && value >= min && value <= max) {
        *out_s = value;
        return ROOF_OK;
    }
    return roof_parse_number(out_s, text, what, min, max, error);
}

enum roof_status roof_parse_time_or_none(double *out_s, const char *text, const char *what,
                                         struct roof_error *error)
{
    return parse_time(out_s, text, what, true, error);
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
