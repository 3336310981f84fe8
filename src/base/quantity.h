// SPDX-License-Identifier: MIT
/**
 * Numbers with units: parsing, ranges and lists, and formatting. The only place where a power of
 * ten or of two, or the name of a unit, is written. No function depends on the locale.
 */
#ifndef ROOF_BASE_QUANTITY_H
#define ROOF_BASE_QUANTITY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** "Not known", for any double of this library; ask with isnan. Called NAN in comments. */
#define ROOF_UNKNOWN ((double)NAN)

/** Units of the values that go in and out. Inside, all values are in SI base: byte, FLOP, second,
 * byte/s... */
enum roof_unit {
    ROOF_UNIT_NONE,          /**< a plain number */
    ROOF_UNIT_BYTES,         /**< key suffix _bytes */
    ROOF_UNIT_CAPACITY,      /**< _bytes of a memory or cache, shown to people in MiB and GiB */
    ROOF_UNIT_FLOPS,         /**< a count of floating-point (or integer) operations */
    ROOF_UNIT_COUNTS,        /**< a count shown to people with a prefix: "8.03 G" */
    ROOF_UNIT_MICROSECONDS,  /**< _us */
    ROOF_UNIT_MILLISECONDS,  /**< _ms */
    ROOF_UNIT_GB_PER_S,      /**< _gb_s: 10^9 bytes per second */
    ROOF_UNIT_TFLOPS,        /**< _tflops: 10^12 FLOP per second */
    ROOF_UNIT_GIGABYTES,     /**< _gb: the number printed on the box */
    ROOF_UNIT_MEGAHERTZ,     /**< _mhz */
    ROOF_UNIT_WATTS,         /**< _w */
    ROOF_UNIT_JOULES,        /**< _j, shown to people with a prefix: "8.25 kJ" */
    ROOF_UNIT_PICOJOULES,    /**< _pj */
    ROOF_UNIT_FLOP_PER_BYTE, /**< arithmetic intensity */
    ROOF_UNIT_FRACTION,      /**< 0..1, shown to people as a percentage */
    ROOF_UNIT_COUNT
};

/** Convert SI base to the unit of a key and back, by one multiplication or division by an exact
 * power. */
double roof_to_unit(double si, enum roof_unit unit);
double roof_from_unit(double value, enum roof_unit unit);
/** Converts a given figure back to the unit of its key. Of all numbers that convert to si it
 * chooses the one with the fewest digits, so that a number with up to 15 digits is unchanged. */
double roof_given(double si, enum roof_unit unit);
/** Returns the unit's name as people read it ("GB/s"); "" for a plain number. */
const char *roof_unit_name(enum roof_unit unit);

/** Large enough for any number that roof_format_number writes. */
#define ROOF_NUMBER_SIZE 32

/**
 * Writes the shortest decimal text that reads back to exactly the same double, terminated, and
 * returns its length: "33570816", "116.97149128919861", "1.5e-7". Not finite: writes nothing.
 */
size_t roof_format_number(char out[ROOF_NUMBER_SIZE], double value);

#define ROOF_QUANTITY_SIZE 48
/**
 * Writes an SI value for people, in engineering units with four significant digits: "117 us",
 * "33.57 MB", "287 GB/s", "0.46%". Not finite: "-". Returns out.
 */
const char *roof_format_quantity(char out[ROOF_QUANTITY_SIZE], double si, enum roof_unit unit);
/** Writes an SI value in its unit without a prefix, so that the cells of a table share it: "0.1356
 * us", "43440 ms". Not finite: "-". Returns out. */
const char *roof_format_in(char out[ROOF_QUANTITY_SIZE], double si, enum roof_unit unit);
/** Room for a range as text. */
#define ROOF_RANGE_SIZE (2 * ROOF_QUANTITY_SIZE + 4)

/** Writes both ends of a range in three significant digits, with one unit if they share it:
 * "32.9 to 57.4 us", "850 us to 1.2 ms". Returns out. */
const char *roof_format_range(char out[ROOF_RANGE_SIZE], double low, double high,
                              enum roof_unit unit);
/** Like roof_format_range, for a range that begins at a bound or above it: the low end has a fourth
 * digit if three would put it below the bound. */
const char *roof_format_range_above(char out[ROOF_RANGE_SIZE], double bound, double low,
                                    double high, enum roof_unit unit);
/** Writes four significant digits without a unit: "0.9995", "1.234e+10" beyond a million. Returns
 * out. */
const char *roof_format_short(char out[ROOF_QUANTITY_SIZE], double value);
/** Names a statistic: "p99", or "mean" for 0. Returns out. */
const char *roof_format_percentile(char out[ROOF_QUANTITY_SIZE], double percent);

/**
 * Reads an integer, optionally with k, M, G (powers of 1000) or Ki, Mi, Gi (of 1024): "4096",
 * "4Ki". ROOF_USAGE, with the range in the message, when it is outside min..max; what names the
 * quantity there.
 */
enum roof_status roof_parse_integer(int64_t *out, const char *text, const char *what, int64_t min,
                                    int64_t max, struct roof_error *error);
/** Reads a finite decimal number, min <= value <= max. A fraction, which is a number from 0 or more
 * to 1, may be a percentage: "0.7" or "70%". */
enum roof_status roof_parse_number(double *out, const char *text, const char *what, double min,
                                   double max, struct roof_error *error);
/** Reads such a number, which may be followed by its unit: "300" or "300W" for watts. */
enum roof_status roof_parse_quantity(double *out, const char *text, const char *what,
                                     enum roof_unit unit, double min, double max,
                                     struct roof_error *error);
/** Reads a share above 0 and up to 1, or a percentage: "0.7" or "70%". */
enum roof_status roof_parse_share(double *out, const char *text, const char *what,
                                  struct roof_error *error);
/** Tells whether a text is only a unit of time: "ms". */
bool roof_is_time_unit(const char *text);
/** Reads a time with its unit (ns, us, ms, s), 1e-12 to 1e9 s; the result is in seconds. */
enum roof_status roof_parse_time(double *out_s, const char *text, const char *what,
                                 struct roof_error *error);
/** Reads a number of seconds, which may have a unit of time: "10", "10s" or "500ms". */
enum roof_status roof_parse_seconds(double *out_s, const char *text, const char *what, double min,
                                    double max, struct roof_error *error);
/** Reads a time that may also be 0, as "0s". */
enum roof_status roof_parse_time_or_none(double *out_s, const char *text, const char *what,
                                         struct roof_error *error);
/** Reads a rate from 1 to 1e24 with its unit: FLOPS, FLOP/s, OPS or B/s with a prefix k to P; the
 * result is in FLOP/s or byte/s, and *unit is ROOF_UNIT_TFLOPS or ROOF_UNIT_GB_PER_S. */
enum roof_status roof_parse_rate(double *out, enum roof_unit *unit, const char *text,
                                 const char *what, struct roof_error *error);

#endif
