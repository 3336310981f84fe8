// SPDX-License-Identifier: MIT
/**
 * Devices and number formats: their figures, and how a program adds its own devices.
 *
 *     struct roof_hardware *device = NULL;
 *     struct roof_error error;
 *     if (roof_hardware_load(&device, "h100-sxm", NULL, &error) == ROOF_OK) {
 *         printf("%s: %g GB/s, %g TFLOPS at bf16\n", roof_hardware_name(device),
 *                roof_hardware_number(device, "bandwidth_gb_s"),
 *                roof_hardware_peak(device, ROOF_PRECISION_BF16) / 1e12);
 *     }
 *     roof_hardware_free(device);
 *
 * A device is one JSON file (docs/formats.md has the keys); those of data/hardware are built in. A
 * device that is not changed may be read by any number of threads; roof_hardware_set and
 * roof_hardware_calibrate (predict.h) change it, and then it belongs to one thread. Formats are
 * constant data. Loading is independent per call.
 */
#ifndef ROOFLINE_DEVICE_H
#define ROOFLINE_DEVICE_H

#include <stddef.h>

#include "roofline/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- number formats ------------------------------------------------------------------------ */

/** Formats in the order of the catalog, which also breaks ties. Append only. */
enum roof_precision {
    ROOF_PRECISION_AUTO = -1, /**< not given: the default rule decides */
    ROOF_PRECISION_FP64 = 0,
    ROOF_PRECISION_FP32,
    ROOF_PRECISION_TF32,
    ROOF_PRECISION_BF16,
    ROOF_PRECISION_FP16,
    ROOF_PRECISION_FP8_E4M3,
    ROOF_PRECISION_FP8_E5M2,
    ROOF_PRECISION_INT8,
    ROOF_PRECISION_INT4,
    ROOF_PRECISION_INT2,
    ROOF_PRECISION_MXFP8_E4M3,
    ROOF_PRECISION_MXFP8_E5M2,
    ROOF_PRECISION_MXFP6_E3M2,
    ROOF_PRECISION_MXFP6_E2M3,
    ROOF_PRECISION_MXFP4,
    ROOF_PRECISION_MXINT8,
    ROOF_PRECISION_NVFP4,
    ROOF_PRECISION_NF4,
    ROOF_PRECISION_NF4_FP32,
    ROOF_PRECISION_NF4_DQ,
    ROOF_PRECISION_FP4_BNB,
    ROOF_PRECISION_INT4_G128,
    ROOF_PRECISION_INT4_G128_ZP,
    ROOF_PRECISION_INT4_G64_ZP,
    ROOF_PRECISION_INT4_G32_ZP,
    ROOF_PRECISION_INT8_CHANNEL,
    ROOF_PRECISION_FP8_BLOCK128,
    ROOF_PRECISION_Q1_0,
    ROOF_PRECISION_Q2_0,
    ROOF_PRECISION_Q4_0,
    ROOF_PRECISION_Q4_1,
    ROOF_PRECISION_Q5_0,
    ROOF_PRECISION_Q5_1,
    ROOF_PRECISION_Q8_0,
    ROOF_PRECISION_Q8_1,
    ROOF_PRECISION_Q2_K,
    ROOF_PRECISION_Q3_K,
    ROOF_PRECISION_Q4_K,
    ROOF_PRECISION_Q5_K,
    ROOF_PRECISION_Q6_K,
    ROOF_PRECISION_Q8_K,
    ROOF_PRECISION_IQ1_S,
    ROOF_PRECISION_IQ1_M,
    ROOF_PRECISION_IQ2_XXS,
    ROOF_PRECISION_IQ2_XS,
    ROOF_PRECISION_IQ2_S,
    ROOF_PRECISION_IQ3_XXS,
    ROOF_PRECISION_IQ3_S,
    ROOF_PRECISION_IQ4_NL,
    ROOF_PRECISION_IQ4_XS,
    ROOF_PRECISION_TQ1_0,
    ROOF_PRECISION_TQ2_0,
    ROOF_PRECISION_INT4_G64,
    ROOF_PRECISION_INT4_G32,
    ROOF_PRECISION_COUNT
};

/** Finds a format by its name or alias, in upper or lower case. An unknown name is ROOF_USAGE, and
 * the message lists the names. */
enum roof_status roof_precision_find(enum roof_precision *out, const char *name,
                                     struct roof_error *error);

/** Names a format as in keys, in lower case: "fp8_e4m3". NULL for a number that is not a format. */
const char *roof_precision_name(enum roof_precision precision);

/** Returns the bits per element in memory, with block scales but without tensor and channel scales:
 * 4.5 for nvfp4. */
double roof_precision_bits(enum roof_precision precision);

/** The units of a device that multiply. */
enum roof_compute_unit { ROOF_COMPUTE_MATRIX, ROOF_COMPUTE_VECTOR };

/* --- devices ------------------------------------------------------------------------------- */

/** A device; opaque. */
struct roof_hardware;
/** A figure with its source; opaque. */
struct roof_figure;

/**
 * Loads a device by id or alias, from a file when name contains '/' or ends with ".json", or from
 * name itself when that begins with '{'.
 * directories (NULL-terminated, may be NULL) are searched for hardware/<id>.json first.
 * Unknown name: ROOF_USAGE, the message suggests at most three ids. On success the caller owns
 * *out: roof_hardware_free.
 */
enum roof_status roof_hardware_load(struct roof_hardware **out, const char *name,
                                    const char *const *directories, struct roof_error *error);
/** Reads a device from JSON text (docs/formats.md); source names it in messages. Its basis is
 * "user" unless the text says otherwise. On success the caller owns *out: roof_hardware_free. */
enum roof_status roof_hardware_parse(struct roof_hardware **out, const char *text, size_t length,
                                     const char *source, struct roof_error *error);
/** Releases a device and what roof_hardware_calibrate attached to it. Accepts NULL. */
void roof_hardware_free(struct roof_hardware *hardware);

/**
 * Changes a figure: "bandwidth_gb_s=500", "peak_tflops.fp16=100". The value is in the key's unit;
 * the device's basis becomes "user".
 */
enum roof_status roof_hardware_set(struct roof_hardware *hardware, const char *assignment,
                                   struct roof_error *error);

/** Calls each with the id of every device that roof_hardware_load knows, sorted, each once: those
 * in directories (NULL-terminated, may be NULL) and the built-in ones. The id is borrowed until
 * each returns. */
enum roof_status roof_hardware_each(void (*each)(void *context, const char *id), void *context,
                                    const char *const *directories, struct roof_error *error);

/** Return the id ("h100-sxm") and the name for people, borrowed from the device; never NULL. */
const char *roof_hardware_id(const struct roof_hardware *hardware);
const char *roof_hardware_name(const struct roof_hardware *hardware);

/** Returns a figure by its key ("bandwidth_gb_s", "memory_gb", "tdp_w"; docs/formats.md) in the
 * unit of the key; NAN if the figure or the key is unknown. */
double roof_hardware_number(const struct roof_hardware *hardware, const char *key);

/** Returns the dense peak at which products in a format run on the device, in FLOP/s; NAN if there
 * is none. docs/formulas.md has the rules for formats without a unit of their own. */
double roof_hardware_peak(const struct roof_hardware *hardware, enum roof_precision precision);

/** The link over which a group of devices communicates. */
struct roof_link {
    double bytes_per_s; /**< per device and direction */
    double latency_s;   /**< per step; 0 if the device file lacks it */
    const struct roof_figure
        *figure; /**< the figure that bytes_per_s comes from, with its source */
};

#ifdef __cplusplus
}
#endif

#endif
