// SPDX-License-Identifier: MIT
/** A roofline chart as data: the roofs of devices (a memory slope, a ceiling per format), lines of
 * attainable rates, and dots: predictions at their arithmetic intensity. chart_text.h draws it.
 *
 * A chart only computes the position of a dot: x is the arithmetic intensity of its prediction in
 * FLOP/byte, y its FLOPs over its bound (a dot), or over its measured or expected time (a tick
 * below it). */
#ifndef ROOF_CHART_CHART_H
#define ROOF_CHART_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "predict/model_prediction.h"

#define ROOF_CHART_ROOFS_MAX 6
#define ROOF_CHART_LINES_MAX 64
#define ROOF_CHART_GROUPS_MAX 24
#define ROOF_CHART_DOTS_MAX 20000
#define ROOF_CHART_CEILINGS_MAX (2 * ROOF_PRECISION_COUNT) /* each format in each unit */
#define ROOF_CHART_NAME_SIZE 96
#define ROOF_CHART_NOTE_SIZE 256

/** A ceiling: the formats of a unit with the same peak. */
struct roof_chart_ceiling {
    enum roof_compute_unit unit;
    enum roof_precision format[ROOF_PRECISION_COUNT]; /**< in the order of the catalog */
    bool used[ROOF_PRECISION_COUNT];                  /**< by format: a drawn dot runs at it */
    size_t formats;
    bool in_use; /**< one of the formats is used */
    double flops_per_s;
    double ridge; /**< FLOP/byte */
};

/** The rates of a device; its ceilings are sorted by peak, the highest first. */
struct roof_chart_roof {
    const struct roof_hardware *hardware; /**< borrowed */
    double bytes_per_s;
    struct roof_chart_ceiling ceiling[ROOF_CHART_CEILINGS_MAX];
    size_t ceilings;
    bool in_use; /**< one of the ceilings is in use */
};

/** An attainable rate: a horizontal line, a slope for a bandwidth, or a roof with a rounded corner.
 */
struct roof_chart_line {
    char name[ROOF_CHART_NAME_SIZE];
    bool slope;
    double rate; /**< FLOP/s, or byte/s for a slope */
    double bend; /**< byte/s: the line bends from this slope to the rate; 0: it is straight */
    size_t roof; /**< its device; ROOF_CHART_ROOFS_MAX: none */
};

/** A dot: the rate that a prediction attains. */
struct roof_chart_dot {
    struct roof_node_prediction node; /**< its name, how often it runs, and its prediction */
    char *name;                       /**< the name, owned */
    size_t roof;
    size_t group;
    double share;          /**< of the time of its pass; NAN: it does not belong to one */
    double expected_share; /**< of the expected time of its pass; NAN: unknown */
    bool folded;           /**< it takes too little time to be drawn (fold_below) */
};

/** A chart. Start with roof_chart_init; only one thread at a time may change it. */
struct roof_chart {
    char title[ROOF_CHART_NAME_SIZE];
    bool expected; /**< dots without a measured time are joined to their expected one */
    bool chosen;   /**< the ceilings were selected */
    bool joined;   /**< the reached rates of a group are joined: a sweep of sizes */
    /** Operators of a model with a smaller share of its bound, and of its expected time if the
     * chart shows that, are not drawn, but counted in a note; 0: all are drawn. */
    double fold_below;
    const char *about; /**< scenario and formats of the model, for a note; NULL: none */
    char unfit[ROOF_CHART_NOTE_SIZE]; /**< the first scenario that does not fit its device */
    size_t unfits;                    /**< number of such scenarios */
    struct roof_chart_roof roof[ROOF_CHART_ROOFS_MAX];
    size_t roofs;
    struct roof_chart_line line[ROOF_CHART_LINES_MAX];
    size_t lines;
    char group[ROOF_CHART_GROUPS_MAX][ROOF_CHART_NAME_SIZE]; /**< "decode, batch 16" */
    size_t groups;
    struct roof_chart_dot *dot; /**< owned */
    size_t dots;
    size_t room;
    size_t
        left_out; /**< predictions without FLOPs, bytes or a known peak, which have no position */
    double left_out_share; /**< their largest share of the time of a pass; 0: unknown */
};

void roof_chart_init(struct roof_chart *chart);
void roof_chart_free(struct roof_chart *chart);

/** The formats with a ceiling. */
struct roof_chart_ceilings {
    bool product[ROOF_PRECISION_COUNT]; /**< the peak for products in a format */
    bool unit[2][ROOF_PRECISION_COUNT]; /**< by enum roof_compute_unit: the peak of that unit */
};
/** Reads a list "FORMAT,FORMAT:vector,FORMAT:matrix". */
enum roof_status roof_chart_parse_ceilings(struct roof_chart_ceilings *out, const char *text,
                                           struct roof_error *error);

/** Makes a title, or a name of a dot, line or group, from a text: without control characters,
 * truncated to ROOF_CHART_NAME_SIZE - 1 bytes between characters. */
void roof_chart_name(char out[ROOF_CHART_NAME_SIZE], const char *text);

/** Adds the roof of a device, which must outlive the chart. `wanted` (NULL: all) selects the
 * formats with a ceiling; with `sparse`, peaks with 2:4 sparsity replace dense ones if there are
 * any. ROOF_USAGE for too many or repeated devices, for a device without bandwidth, and if none of
 * the formats has a unit. */
enum roof_status roof_chart_add_roof(struct roof_chart *chart, const struct roof_hardware *hardware,
                                     const struct roof_chart_ceilings *wanted, bool sparse,
                                     struct roof_error *error);

/** Finds the roof of a device by its id; chart->roofs if there is none. */
size_t roof_chart_find_roof(const struct roof_chart *chart, const char *id);

/** Adds a line "NAME=RATE", such as "cuBLAS=271TFLOPS" or "STREAM=1.8TB/s" (roof_parse_rate). */
enum roof_status roof_chart_add_line(struct roof_chart *chart, const char *text,
                                     struct roof_error *error);

/** Adds the expected attainable rates of kernels on each device with a calibration: the FLOP/s of a
 * square GEMM of 8192 at each ceiling of a matrix unit, and the byte/s of a 16-bit GEMV of 16384.
 * Names end with (nearest) if other kernels were substituted (expected_near). */
enum roof_status roof_chart_add_attainable(struct roof_chart *chart, struct roof_error *error);

/** Adds the L2 caches with known bandwidths as slopes, and each product dot once more in a separate
 * group, at its FLOPs over the bytes through the L2: there the slope of the L2 limits it. The tile
 * is the one with the shortest time. ROOF_USAGE if no device has an L2 of known bandwidth. */
enum roof_status roof_chart_add_l2(struct roof_chart *chart, struct roof_error *error);
/** Adds the roof of a power cap to devices that have one, for each energy per FLOP: it bends
 * between the rates at which only bytes, or only FLOPs, use all power beyond the constant part.
 * ROOF_USAGE for a device with a cap but without these figures. */
enum roof_status roof_chart_add_power(struct roof_chart *chart, struct roof_error *error);

/** Finds the group of dots with a name; chart->groups if there is none. */
size_t roof_chart_find_group(const struct roof_chart *chart, const char *text);

/** Renames a dot; the name is copied. */
enum roof_status roof_chart_rename(struct roof_chart_dot *dot, const char *name,
                                   struct roof_error *error);

/** Adds a prediction on one of the devices. `name` and `group` are copied; `count` and `share`
 * belong to the dot. A prediction without FLOPs, bytes or a known peak is counted as left out. */
enum roof_status roof_chart_add(struct roof_chart *chart, const struct roof_prediction *prediction,
                                const char *name, const char *group, int64_t count, double share,
                                struct roof_error *error);

/** Adds the `top` slowest operators of a model, and notes if the model does not fit. */
enum roof_status roof_chart_add_model(struct roof_chart *chart,
                                      const struct roof_model_prediction *model_prediction,
                                      const char *group, size_t top, struct roof_error *error);

/** Tells whether a device without dots stands beside others, and only its highest ceiling and its
 * highest one of 16 bits are drawn. */
bool roof_chart_abridged(const struct roof_chart *chart, size_t roof);
/** Tells whether a ceiling is drawn in full: one that a dot runs at, or that was selected; of a
 * device without dots each, unless it is abridged. */
bool roof_chart_in_use(const struct roof_chart *chart, size_t roof, size_t ceiling);

/** Returns the rate in FLOP/s that a dot reaches below its bound: the measured one, or the expected
 * one if the chart shows it; NAN if neither is known. */
double roof_chart_reached(const struct roof_chart *chart, const struct roof_chart_dot *dot);

#endif
