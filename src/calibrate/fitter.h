// SPDX-License-Identifier: MIT
/* roofline-calibrate fits the parameters of the expected-time model to measured rows.
 *
 * Rows are those of roofline compare. Each combination of stack, formats and quantisation in them
 * (and of the format of weights, if products have several without quantisation, and a kernel for
 * only some numbers of heads) has separate parameters, found by a subplex search (NLopt) that
 * minimises the mean relative error. Errors and prediction intervals come from held-out rows: sizes
 * are dealt into folds, and a fold's fit leaves out every row with one of its sizes.
 *
 * Kernels without measurements on the device are lent by other devices (--lend): their parameters
 * are in clocks and in shares of a device's own figures. With only a few rows, just the shares of
 * bandwidth and peak are fitted to them and the rest is lent; and no lent share of the bandwidth
 * exceeds that of the device's own 16-bit products.
 *
 * The files, in the order of the work: options, rows, objective, search, fit, few, write, main. */
#ifndef ROOF_CALIBRATE_FITTER_H
#define ROOF_CALIBRATE_FITTER_H

#include "base/base.h"
#include "base/quantity.h"
#include "base/text.h"
#include "catalog/hardware.h"
#include "decide/compare.h"
#include "predict/calibration.h"
#include "predict/kernel.h"

#define FOLDS 5
#define GROUPS_MAX 256
#define SIZES_MAX 4096
#define LEAST_ROWS 5 /* kernels with fewer rows are left out */
/* A kernel with fewer rows than this, and fewer than two for each parameter, has only two
 * parameters of its own; the others are lent. */
#define FEW_ROWS 20
#define LENDERS_MAX 8
#define DEVICES_MAX 16
#define ATTRIBUTIONS_MAX 16

/* The command line. */
struct options {
    const char *input;
    const char *hardware; /* an id or a file */
    const char *output;
    const char *kept; /* a calibration whose own fits are kept; NULL: rows are fitted */
    const char *pool; /* --from: device ids; NULL: the device itself */
    const char *lender[LENDERS_MAX];
    int lenders;
    const char *folder; /* folder of the lenders in data/borrowing.json; NULL: they do not lend */
    const char *attribution[ATTRIBUTIONS_MAX + 1]; /* ends with NULL */
    int attributions;
    int evaluations; /* most evaluations in a round of a search */
    int few; /* --few: number of rows per group; 0: all rows are fitted, and the result is written
              */
};

/* A measured row. */
struct row {
    int device;
    struct roof_workload workload; /* resolved */
    double measured_s;
    struct roof_work work;
    double rate; /* FLOP/s, or bytes/s of a link */
    double bound_s;
    int group;
    unsigned folds; /* a bit for each fold that holds the row out */
};

/* Rows that are fitted together. */
struct group {
    enum roof_kernel kernel;
    enum roof_stack stack;
    enum roof_numerics numerics;
    enum roof_quantize quantize;
    enum roof_precision weights; /* AUTO: the only format of weights, or all of them */
    int64_t least_heads;         /* of a kernel for only so many heads or more; 0: any number */
    bool own_kv_heads;           /* of a kernel for query heads with a KV head each */
    size_t first;                /* index of its first row; the others follow */
    size_t rows;
};

/* The sizes of a kernel in the rows, sorted. */
struct sizes {
    int64_t size[SIZES_MAX];
    int count;
};

/* The inputs of fits, and the finished fits. */
struct fitter {
    const struct options *options;
    struct roof_hardware *hardware; /* the device to calibrate */
    struct roof_hardware *measured[DEVICES_MAX];
    int devices;
    struct row *row;
    size_t rows;
    size_t capacity;
    struct group group[GROUPS_MAX];
    int groups;
    struct sizes sizes[ROOF_KERNEL_COUNT];
    struct roof_kernel_fit done[GROUPS_MAX];
    int dones;
    struct roof_calibration *kept; /* owned; NULL: none */
    struct roof_calibration *lender[LENDERS_MAX];
    enum roof_kernel lends[LENDERS_MAX]; /* the only kernel of a lender; COUNT: all */
    int lenders;
    bool bad_rows;
};

/* options.c: reads the command line; false, after printing the usage, if it is wrong. */
bool read_options(struct options *out, int argc, char **argv);

/* rows.c: loads the device, the devices with rows and the lenders, then reads the rows and deals
 * them into folds. The caller frees with close_fitter, even after a failure. */
enum roof_status open_fitter(struct fitter *out, const struct options *options,
                             struct roof_error *error);
void close_fitter(struct fitter *f);

/* fit.c: fits every group, then borrows missing kernels. */
enum roof_status fit_groups(struct fitter *f, struct roof_error *error);

/* Keeps the own fits of a calibration file, then borrows missing kernels. */
enum roof_status keep_fits(struct fitter *f, struct roof_error *error);

/* few.c: fits some rows of each group like `roofline measure`, and prints the errors on the others
 * beside those of the lender. */
enum roof_status judge_few(struct fitter *f, struct roof_error *error);

/* write.c: writes the fits as a calibration file. */
enum roof_status write_fits(const struct fitter *f, struct roof_error *error);

/* main.c: prints an error. */
void print_error(const struct roof_error *error);

#endif
