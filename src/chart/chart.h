// SPDX-License-Identifier: MIT
/**
 * A roofline chart as data: the roofs of devices (a memory slope, a ceiling per format), lines of
 * attainable rates, and dots: predictions at their arithmetic intensity. chart_text.h draws it.
 *
 * A chart computes only the place of a dot: x is the arithmetic intensity of its prediction in
 * FLOP/byte, y its FLOPs over its bound (a dot), or over its measured or expected time (a tick
 * below it).
 */
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

/** A ceiling: formats of one unit with the same peak. */
struct roof_chart_ceiling {
    enum roof_compute_unit unit;
    enum roof_precision format[ROOF_PRECISION_COUNT]; /**< in the order of the catalog */
    bool used[ROOF_PRECISION_COUNT]; /**< by format: a dot that is drawn runs at it */
    size_t formats;
    bool in_use; /**< one of the formats is used */
    double flops_per_s;
    double ridge; /**< FLOP/byte */
};

/** The rates of a device; its ceilings are sorted by their peak, the highest first. */
struct roof_chart_roof {
    const struct roof_hardware *hardware; /**< borrowed */
    double bytes_per_s;
    struct roof_chart_ceiling ceiling[ROOF_CHART_CEILINGS_MAX];
    size_t ceilings;
    bool in_use; /**< one of the ceilings is */
};

/** An attainable rate: a horizontal line, for a bandwidth a slope, or a roof without a corner. */
struct roof_chart_line {
    char name[ROOF_CHART_NAME_SIZE];
    bool slope;
    double rate; /**< FLOP/s, or byte/s for a slope */
    double bend; /**< byte/s: the line bends from this slope to the rate; 0: it is straight */
    size_t roof; /**< the device that it belongs to; ROOF_CHART_ROOFS_MAX: to none */
};

/** A dot: the rate that a prediction attains. */
struct roof_chart_dot {
    struct roof_node_prediction node; /**< its name, how often it runs, and its prediction */
    char *name;                       /**< the name, owned */
    size_t roof;
    size_t group;
    double share; /**< of the time of the pass that it is part of; NAN: it is part of none */
    double expected_share; /**< of the expected time of that pass; NAN: unknown */
    bool folded;           /**< it takes too little time to be drawn (fold_below) */
};

/** A chart. Start with roof_chart_init; one thread at a time may change it. */
struct roof_chart {
    char title[ROOF_CHART_NAME_SIZE];
    bool expected; /**< dots are joined to their expected time where none is measured */
    bool chosen;   /**< ceilings were asked for */
    bool joined;   /**< what the dots of a group reached is joined: a sweep of sizes */
    /** Operators of a model that take a smaller share of its time (of the bound) are not drawn, but
     * counted in a note; 0: all are drawn. */
    double fold_below;
    char unfit[ROOF_CHART_NOTE_SIZE]; /**< the first scenario that does not fit its device */
    size_t unfits;                    /**< how many do not */
    struct roof_chart_roof roof[ROOF_CHART_ROOFS_MAX];
    size_t roofs;
    struct roof_chart_line line[ROOF_CHART_LINES_MAX];
    size_t lines;
    char group[ROOF_CHART_GROUPS_MAX][ROOF_CHART_NAME_SIZE]; /**< "decode, batch 16" */
    size_t groups;
    struct roof_chart_dot *dot; /**< owned */
    size_t dots;
    size_t room;
    size_t left_out; /**< predictions without FLOPs, bytes or a known peak, which have no place */
    double left_out_share; /**< their largest share of the time of a pass; 0: unknown */
};

void roof_chart_init(struct roof_chart *chart);
void roof_chart_free(struct roof_chart *chart);

/** The formats that have a ceiling. */
struct roof_chart_ceilings {
    bool product[ROOF_PRECISION_COUNT]; /**< the peak that products in a format run at */
    bool unit[2][ROOF_PRECISION_COUNT]; /**< by enum roof_compute_unit: the peak of that unit */
};
/** Reads a list "FORMAT,FORMAT:vector,FORMAT:matrix". */
enum roof_status roof_chart_parse_ceilings(struct roof_chart_ceilings *out, const char *text,
                                           struct roof_error *error);

/** Makes a title, or a name of a dot, line or group, of a text: without control characters, cut
 * between characters at ROOF_CHART_NAME_SIZE - 1 bytes. */
void roof_chart_name(char out[ROOF_CHART_NAME_SIZE], const char *text);

/**
 * Adds the roof of a device, which must outlive the chart. wanted (NULL: all there are) says
 * which formats have a ceiling; with sparse, peaks with 2:4 sparsity stand for dense ones where
 * there are any. ROOF_USAGE for too many devices, for one twice, for a device without bandwidth,
 * and when none of the formats has a unit.
 */
enum roof_status roof_chart_add_roof(struct roof_chart *chart, const struct roof_hardware *hardware,
                                     const struct roof_chart_ceilings *wanted, bool sparse,
                                     struct roof_error *error);

/** Finds the roof of a device by its id; chart->roofs when there is none. */
size_t roof_chart_find_roof(const struct roof_chart *chart, const char *id);

/** Adds a line "NAME=RATE", such as "cuBLAS=271TFLOPS" or "STREAM=1.8TB/s" (roof_parse_rate). */
enum roof_status roof_chart_add_line(struct roof_chart *chart, const char *text,
                                     struct roof_error *error);

/** Adds the rates that kernels are expected to attain on each device with a calibration: the FLOP/s
 * of a square GEMM of 8192 at each ceiling of a matrix unit, the byte/s of a 16-bit GEMV of 16384.
 * Names end with (nearest) where other kernels stand in (expected_near). */
enum roof_status roof_chart_add_attainable(struct roof_chart *chart, struct roof_error *error);

/**
 * Adds the L2 caches whose bandwidth is known as slopes, and each product that is a dot once more,
 * at its FLOPs over the bytes that pass through the L2, in a group of its own: there it attains no
 * more than the slope of the L2 lets it. The tile is the one of the shortest time. ROOF_USAGE where
 * no device has an L2 of known bandwidth.
 */
enum roof_status roof_chart_add_l2(struct roof_chart *chart, struct roof_error *error);
/** Adds the roof of a power cap to devices that have one, for each energy of a FLOP: it bends
 * between the rates at which bytes alone, and FLOPs alone, take all that the constant power leaves.
 * ROOF_USAGE for a device with a cap that lacks these figures. */
enum roof_status roof_chart_add_power(struct roof_chart *chart, struct roof_error *error);

/** Adds a prediction on one of the devices. name and group are copied; count and share are those of
 * the dot. A prediction without FLOPs, bytes or a known peak is counted as left out. */
enum roof_status roof_chart_add(struct roof_chart *chart, const struct roof_prediction *prediction,
                                const char *name, const char *group, int64_t count, double share,
                                struct roof_error *error);

/** Adds the `top` operators of a model that take most of its time, and notes if it does not fit. */
enum roof_status roof_chart_add_model(struct roof_chart *chart,
                                      const struct roof_model_prediction *model_prediction,
                                      const char *group, size_t top, struct roof_error *error);

/** Tells if a ceiling is drawn in full: one that a dot runs at, or that was asked for, and each of
 * a device without dots. */
bool roof_chart_in_use(const struct roof_chart *chart, size_t roof, size_t ceiling);

/** Returns the rate in FLOP/s that a dot reaches below its bound: the measured one, or the expected
 * one if the chart asks for it; NAN when neither is known. */
double roof_chart_reached(const struct roof_chart *chart, const struct roof_chart_dot *dot);

#endif
