// SPDX-License-Identifier: MIT
/**
 * Parameters of the expected-time model: fitted to measured kernels, one file per device
 * (data/calibration). docs/accuracy.md has their meaning and the errors on rows that no fit saw.
 *
 * A loaded calibration is read only: any number of threads may use it.
 */
#ifndef ROOF_PREDICT_CALIBRATION_H
#define ROOF_PREDICT_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "catalog/hardware.h"
#include "operator/operator.h"

/** The DRAM rate that one thread block reaches while the others do nothing, in fair shares (the
 * bandwidth by the number of SMs). */
#define ROOF_LONE_BLOCK 5.5

/** The kinds of kernels that have fits. Append only. */
enum roof_kernel {
    ROOF_KERNEL_GEMM,
    ROOF_KERNEL_BMM,
    ROOF_KERNEL_DECODE,  /**< attention of one query per sequence */
    ROOF_KERNEL_PREFILL, /**< attention of several */
    ROOF_KERNEL_MLA_DECODE,
    ROOF_KERNEL_MLA_PREFILL,
    ROOF_KERNEL_MOE,
    ROOF_KERNEL_NORM, /**< vector operators, by what they do with a row */
    ROOF_KERNEL_ADD,
    ROOF_KERNEL_ACTIVATION,
    ROOF_KERNEL_ROPE,
    ROOF_KERNEL_QUANTIZE,
    ROOF_KERNEL_ALL_REDUCE, /**< collectives inside a node */
    ROOF_KERNEL_ONE_SHOT,   /**< an all-reduce in which each device reads all others */
    ROOF_KERNEL_ALL_GATHER,
    ROOF_KERNEL_REDUCE_SCATTER,
    ROOF_KERNEL_ALL_TO_ALL,
    ROOF_KERNEL_STATE, /**< one token through the states of a layer: vector kernels, too */
    ROOF_KERNEL_CONV,  /**< a convolution of each channel over the last tokens, of one token */
    ROOF_KERNEL_CONV_PREFILL,  /**< such a convolution of several */
    ROOF_KERNEL_ENCODER,       /**< attention of several queries to all keys, in 16 bits */
    ROOF_KERNEL_STATE_PREFILL, /**< several tokens through the states of a layer, in chunks */
    ROOF_KERNEL_KIMI_PREFILL,  /**< states with a gate for each element of a key */
    ROOF_KERNEL_SSD_PREFILL,   /**< states of Mamba-2 */
    ROOF_KERNEL_INDEX_SCORES,  /**< scores of an indexer for all keys */
    ROOF_KERNEL_TOP_K,         /**< the choice of keys by these scores */
    ROOF_KERNEL_SPARSE_MLA,    /**< latent attention of each query to the keys chosen for it */
    ROOF_KERNEL_COMPRESSED,    /**< attention to compressed keys and a window, of a decode step */
    ROOF_KERNEL_COMPRESSED_PREFILL, /**< such attention of a prompt */
    ROOF_KERNEL_HYPER_COLLAPSE,     /**< streams of a residual to one vector */
    ROOF_KERNEL_HYPER_EXPAND,       /**< a result to all streams */
    ROOF_KERNEL_COUNT
};

/** The pairs of formats in a product, whose kernels have different parameters. */
enum roof_numerics {
    ROOF_NUMERICS_16BIT,  /**< bf16 or fp16, both operands */
    ROOF_NUMERICS_FP8,    /**< W8A8, FP8 */
    ROOF_NUMERICS_INT8,   /**< W8A8, INT8 */
    ROOF_NUMERICS_FP4,    /**< W4A4, nvfp4 or mxfp4 */
    ROOF_NUMERICS_W8A16,  /**< 8-bit weights, 16-bit activations */
    ROOF_NUMERICS_W4A16,  /**< weights below 8 bits except mxfp4, 16-bit activations */
    ROOF_NUMERICS_W4A8,   /**< weights below 8 bits, 8-bit activations */
    ROOF_NUMERICS_32BIT,  /**< an operand above 16 bits */
    ROOF_NUMERICS_MX4A16, /**< mxfp4 weights, 16-bit activations */
    ROOF_NUMERICS_COUNT
};
const char *roof_numerics_name(enum roof_numerics numerics);
/* The names by number, and NULL after the last. */
extern const char *const roof_stack_names[ROOF_STACK_COUNT + 1];
extern const char *const roof_quantize_names[ROOF_QUANTIZE_COUNT + 1];
const char *roof_stack_name(enum roof_stack stack);
const char *roof_quantize_name(enum roof_quantize quantize);
/** Returns the numerics of a product; COUNT when no kernel is known for the pair. */
enum roof_numerics roof_numerics_of(enum roof_precision weights, enum roof_precision activations);

#define ROOF_FIT_PARAMETERS_MAX 24

/** One parameter of the formula of a kernel. */
struct roof_parameter {
    const char *key; /**< in files, with its unit: "launch_us" */
    double min;
    double max;     /**< equal to min: the value is common to all fits */
    double start;   /**< where a fit begins, and the value towards which it is pulled */
    double neutral; /**< the value without an effect, at which calibrations may leave it out; NAN:
                         they must have it */
    const char *meaning;
};
/** Returns the parameters of the formula of a kernel, *count of them, in the order of struct
 * roof_kernel_fit. */
const struct roof_parameter *roof_kernel_parameters(enum roof_kernel kernel, size_t *count);
/** Returns the parameters of the plain formula, which any kernel can have instead. */
const struct roof_parameter *roof_plain_parameters(size_t *count);
const char *roof_kernel_name(enum roof_kernel kernel);

/** Parameters of one kernel, stack, pair of formats and way to quantise the input. */
struct roof_kernel_fit {
    enum roof_kernel kernel;
    enum roof_stack stack; /**< BEST: the same in all */
    enum roof_numerics numerics;
    enum roof_quantize quantize; /**< what the measured times include */
    bool one_format;             /**< only the format `weights` of the numerics was measured */
    enum roof_precision weights;
    int64_t least_heads; /**< the kernel takes at least so many query heads; 0: any number */
    bool own_kv_heads;   /**< each query head has a KV head of its own; false: any number has */
    unsigned moved;      /**< parameters that few rows moved (measure/fit.h), a bit for each */
    double error_before; /**< with them at their start: mean |ln(expected / measured)| of rows that
                            were left out */
    double error_after;  /**< and moved; both 0 if the fit was not chosen so */
    bool plain;          /**< the formula is that of kernel_plain.c, not that of the kernel */
    double parameter[ROOF_FIT_PARAMETERS_MAX]; /**< in the units of their keys */
    double low;  /**< the band: measured / expected, tenth percentile of rows no fit saw */
    double high; /**< ninetieth percentile */
    int64_t rows;
    double mape;        /**< on rows no fit saw */
    const char *device; /**< the device that was measured; NULL in a calibration made by hand */
    const char *lent;   /**< the same if it is not that of the calibration, else NULL */
    const char *note;   /**< what the rows and their error are, if they are not rows of kernels of
                             this device and of sizes that no fit saw; NULL: they are */
    const char *libraries; /**< the versions of the libraries whose kernels were measured; NULL: not
                                known, or in the calibration of the device that lends it */
    bool own;              /**< measured on the device itself, whose calibration may be another's */
    bool same_sm;          /**< the measured device, if it is another, has the same SM */
};
/** Returns the parameters of the formula of a fit. */
const struct roof_parameter *roof_fit_parameters(const struct roof_kernel_fit *fit, size_t *count);
/** Puts the keys of the parameters that few rows moved, each in `quote`: "a, b"; nothing if none
 * moved. */
void roof_fit_put_moved(struct roof_text *out, const struct roof_kernel_fit *fit,
                        const char *quote);

struct roof_calibration {
    const char *id;          /**< the device that was measured */
    bool inherited;          /**< the device is another of its architecture */
    bool local;              /**< it has kernels of llama.cpp alone */
    const char *reason;      /**< the reason why a device of this family borrows it; NULL: it is not
                                  borrowed by family */
    const char *collectives; /**< why its times of collectives may be far off on other machines, of
                                  groups of more than collectives_to devices; NULL: no reason */
    int64_t collectives_to;
    /** NULL-terminated: what the licences of the data ask for, and for a stack, after its name and
     * a colon, the versions of its libraries */
    const char *const *attributions;
    const struct roof_kernel_fit *fit; /**< grouped by kernel in a loaded one: not to be changed */
    size_t count;
    void *private_data; /**< NULL if a caller makes it of its own fits */
};

/**
 * Loads the calibration of a device: from a file when path is not NULL, else the embedded one of
 * its id, of its product, of the device that it is `like` (inherited), or of its architecture's
 * family (inherited). *out is NULL when there is none. The caller owns it: roof_calibration_free.
 * Most callers want roof_hardware_calibrate.
 */
enum roof_status roof_calibration_load(struct roof_calibration **out,
                                       const struct roof_hardware *hardware, const char *path,
                                       const char *const *directories, struct roof_error *error);

/** All kernels, as a bit for each. */
#define ROOF_KERNELS_ALL ((1U << ROOF_KERNEL_COUNT) - 1)
/** Like roof_calibration_load, but reads only the wanted kernels (a bit for each) of embedded
 * files, because an answer needs few of them and reading all takes most of its time. */
enum roof_status roof_calibration_load_some(struct roof_calibration **out,
                                            const struct roof_hardware *hardware, const char *path,
                                            const char *const *directories, unsigned wanted,
                                            struct roof_error *error);
/** Same as roof_hardware_calibrate for the wanted kernels alone. */
enum roof_status roof_hardware_calibrate_some(struct roof_hardware *hardware, const char *path,
                                              const char *const *directories, unsigned wanted,
                                              struct roof_error *error);
/** Puts the reason why the calibration of a device has a fit of another device; nothing if it has
 * none, or if no reason is known. */
enum roof_status roof_calibration_reason(struct roof_text *out,
                                         const struct roof_hardware *hardware,
                                         const struct roof_kernel_fit *fit,
                                         struct roof_error *error);
/** Puts the versions of the libraries whose kernels were measured, after "; libraries: "; nothing
 * if they are not known. */
enum roof_status roof_calibration_put_libraries(struct roof_text *out,
                                                const struct roof_kernel_fit *fit,
                                                struct roof_error *error);
void roof_calibration_free(struct roof_calibration *calibration);
/** Writes the document of a calibration, which roof_calibration_load reads. */
void roof_calibration_write(struct roof_text *out, const struct roof_calibration *calibration);

/** Returns the rows that query heads of MLA fill: those of the architecture's matrix instruction,
 * or of the smallest tile of a stack if that is larger. This is the parameter tile_rows of any
 * loaded calibration, also a borrowed one. */
double roof_matrix_rows(const char *architecture, enum roof_stack stack);
/** Tells whether the query heads of a kernel fill tiles of a number of rows. */
bool roof_kernel_has_tiles(enum roof_kernel kernel);

/** Returns the first fit of a kernel of a stack, measured on this device or another; NULL: there is
 * none. */
const struct roof_kernel_fit *roof_calibration_of(const struct roof_calibration *calibration,
                                                  enum roof_stack stack);

/** Tells whether there are fits for a kernel, in any formats. */
bool roof_calibration_measures(const struct roof_calibration *calibration, enum roof_kernel kernel);

/** Returns the stacks, a bit for each, with which roof_calibration_find finds all fits for a
 * kernel: those with own fits, and if a fit is common to all, the first of the others. */
unsigned roof_calibration_stacks(const struct roof_calibration *calibration,
                                 enum roof_kernel kernel, enum roof_numerics numerics);

/** Finds the fit for a kernel: that of the stack, else the one common to all; with the wanted way
 * to quantise, or for ROOF_QUANTIZE_NONE with the simplest, whose kernel is the same. Returns NULL
 * when there is none. */
const struct roof_kernel_fit *roof_calibration_find(const struct roof_calibration *calibration,
                                                    enum roof_kernel kernel, enum roof_stack stack,
                                                    enum roof_numerics numerics,
                                                    enum roof_quantize quantize);

/**
 * Finds the fit for the heads of a shape (NULL: any) and a format of weights. Kernels for such
 * heads are preferred to kernels for any heads. Fits for this format are preferred to fits for all
 * formats, and these to fits for another format with the same numerics.
 */
const struct roof_kernel_fit *
roof_calibration_find_for(const struct roof_calibration *calibration, enum roof_kernel kernel,
                          enum roof_stack stack, enum roof_numerics numerics,
                          enum roof_quantize quantize, enum roof_precision weights,
                          const struct roof_shape *shape);

#endif
