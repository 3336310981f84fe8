// SPDX-License-Identifier: MIT
/**
 * Devices: their figures with sources, the registry that finds them, and which unit and peak a
 * format runs at.
 *
 * A device is one JSON file (docs/formats.md has the keys). All of data/hardware is embedded in the
 * library; a user's file is named by its path, or lies in a search directory, and wins.
 *
 * A loaded device is read only: any number of threads may use it. Loading is independent per call.
 */
#ifndef ROOF_CATALOG_HARDWARE_H
#define ROOF_CATALOG_HARDWARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/quantity.h"
#include "base/text.h"
#include "catalog/precision.h"
#include "roofline/device.h"

/** The sources of the figures of a device. */
enum roof_basis {
    ROOF_BASIS_DOCUMENTS, /**< as the source documents specify it */
    ROOF_BASIS_PUBLISHED, /**< checked against published figures */
    ROOF_BASIS_USER       /**< a user's file, or changed by roof_hardware_set */
};

enum roof_confidence {
    ROOF_CONFIDENCE_UNKNOWN,
    ROOF_CONFIDENCE_LOW,
    ROOF_CONFIDENCE_MEDIUM,
    ROOF_CONFIDENCE_HIGH
};

/** One number from outside. Strings belong to the device; NULL where there is none. */
struct roof_figure {
    double value; /**< SI base units; NAN when unknown */
    const char *source;
    const char *note;
    enum roof_confidence confidence;
};

/** The single figures of a device; the keys, units and ranges are in roof_figure_keys. */
enum roof_figure_id {
    ROOF_FIGURE_BANDWIDTH,       /**< byte/s of device memory */
    ROOF_FIGURE_MEMORY_CAPACITY, /**< bytes that software can use */
    ROOF_FIGURE_MEMORY_NOMINAL,  /**< bytes printed on the box */
    ROOF_FIGURE_SM_COUNT,
    ROOF_FIGURE_BOOST_CLOCK,    /**< Hz */
    ROOF_FIGURE_L2,             /**< bytes */
    ROOF_FIGURE_L2_BANDWIDTH,   /**< byte/s that the SMs read from the L2 */
    ROOF_FIGURE_SM_SHARED,      /**< bytes of shared memory of an SM */
    ROOF_FIGURE_BLOCK_SHARED,   /**< bytes of it that a thread block may have */
    ROOF_FIGURE_SM_REGISTERS,   /**< of 32 bits */
    ROOF_FIGURE_SM_THREADS,     /**< threads that an SM holds */
    ROOF_FIGURE_SM_BLOCKS,      /**< thread blocks that an SM holds */
    ROOF_FIGURE_CLUSTER,        /**< thread blocks of a cluster, which share loads; 1: no clusters
                                 */
    ROOF_FIGURE_TENSOR_MEMORY,  /**< bytes per SM for accumulators; NAN: they lie in registers */
    ROOF_FIGURE_LLC,            /**< bytes of a cache behind the L2 */
    ROOF_FIGURE_TDP,            /**< W */
    ROOF_FIGURE_POWER_CAP,      /**< W that the device may draw; NAN: no cap */
    ROOF_FIGURE_CONSTANT_POWER, /**< W that it always draws */
    ROOF_FIGURE_BYTE_ENERGY,    /**< J per byte of device memory, beyond that */
    ROOF_FIGURE_DEVICES_PER_NODE,
    ROOF_FIGURE_LINK,            /**< byte/s per device and direction inside a node */
    ROOF_FIGURE_NETWORK,         /**< byte/s per device and direction between nodes */
    ROOF_FIGURE_LINK_LATENCY,    /**< s per step of a collective inside a node */
    ROOF_FIGURE_NETWORK_LATENCY, /**< s per step between nodes */
    ROOF_FIGURE_PEER_LINK,       /**< byte/s between two devices of a node without a switch; NAN:
                                      two of them have the whole link */
    ROOF_FIGURE_BRIDGE,          /**< byte/s per device and direction over a bridge between cards;
                                      NAN: there is none */
    ROOF_FIGURE_BRIDGE_DEVICES,  /**< devices that a bridge joins */
    ROOF_FIGURE_HOST_LINK,       /**< byte/s per device and direction between host and device */
    ROOF_FIGURE_COUNT
};

/** The tables of a device, each indexed by format: peaks in FLOP/s, and energies in J. */
enum roof_peak_table {
    ROOF_PEAK_MATRIX, /**< key peak_tflops: matrix units (tensor cores), dense */
    ROOF_PEAK_SPARSE, /**< key sparse_tflops: matrix units, 2:4 structured sparsity */
    ROOF_PEAK_VECTOR, /**< key vector_tflops: vector units (CUDA cores, SIMD) */
    ROOF_FLOP_ENERGY, /**< key flop_pj: J per FLOP on the unit that the format runs at, dense,
                         beyond the constant power */
    ROOF_PEAK_TABLE_COUNT
};

const char *roof_compute_unit_name(enum roof_compute_unit unit);

/** How products in a format are computed on a device. */
struct roof_compute {
    enum roof_precision
        precision; /**< the format computed in; the asked one when there is no unit */
    enum roof_compute_unit unit;
    bool native;               /**< false: a fallback, or no unit at all */
    double peak_flops_per_s;   /**< dense; NAN when the device has no unit for it */
    double sparse_flops_per_s; /**< with 2:4 sparsity; NAN: no such peak */
};

struct roof_calibration;

/** A device. Read the fields; change figures with roof_hardware_set only. */
struct roof_hardware {
    const char *id;
    const char *reference; /**< the name that loads it again: its id, or the user's name or file */
    const char *name;
    const char *vendor; /**< "" when unknown, like architecture */
    const char *architecture;
    const char *product; /**< the id with the published figures, or NULL */
    const char *like;    /**< the device whose calibration is used instead of an own one, or NULL */
    /** The format to which kernels convert both operands if the weights have a weight-only format;
     * AUTO: they compute at the activations'. */
    enum roof_precision weight_only_compute;
    enum roof_basis basis;
    bool by_default;  /**< no device was asked for, and this is the default */
    bool by_path;     /**< the user's own file was asked for by its path */
    bool bounds_only; /**< no expected time was asked for: no calibration was loaded */
    /** An operator of the model of the question without measured kernels, so that its plans have
     * only bounds; NULL: there is none, or no plans are asked for. */
    const char *unmeasured;
    struct roof_figure figure[ROOF_FIGURE_COUNT];
    struct roof_figure peak[ROOF_PEAK_TABLE_COUNT][ROOF_PRECISION_COUNT];
    struct roof_compute compute[ROOF_PRECISION_COUNT]; /**< derived: by format asked for */
    /** For messages, the built-in devices with energy figures, each with the formats of its
     * flop_pj; NULL: roof_hardware_cap set no power cap. */
    const char *energy_known;
    double vector_flops_per_s;  /**< derived: what vector operators run at (fp32); NAN: unknown */
    const char *const *aliases; /**< NULL-terminated */
    const char *const *notes;   /**< NULL-terminated */
    /** For expected times (calibration.h); NULL: none. A calibration that is set by hand belongs to
     * its setter. */
    struct roof_calibration *calibration;
    /** Releases the calibration with the device, which owns what roof_hardware_calibrate attached;
     * NULL: the device owns none. */
    void (*free_calibration)(struct roof_calibration *calibration);
    void *private_data;
};

/** Key, unit, range and label of a figure. */
struct roof_figure_key {
    const char *key;
    const char *label;
    enum roof_unit unit;
    double min; /**< in the key's unit */
    double max;
};
const struct roof_figure_key *roof_figure_key(enum roof_figure_id id);
/** Key of a peak table ("peak_tflops") and its label. */
const char *roof_peak_table_key(enum roof_peak_table table);
const char *roof_peak_table_label(enum roof_peak_table table);
enum roof_unit roof_peak_table_unit(enum roof_peak_table table);

/** The id of a host that is known by its memory only. */
#define ROOF_HOST_ID "host"
/** Makes a device of which only the id (borrowed from the caller) is known; roof_hardware_set gives
 * it figures. On success the caller owns *out: roof_hardware_free. */
enum roof_status roof_hardware_blank(struct roof_hardware **out, const char *id,
                                     struct roof_error *error);

/** Removes the peaks of a device, so that only its memory counts. */
void roof_hardware_forget_peaks(struct roof_hardware *hardware);

/** Ids of all devices: those in directories, then the embedded ones, each once, sorted. Adds
 * NULL-terminated strings to out, count of them in *count. */
enum roof_status roof_hardware_ids(struct roof_text *out, size_t *count,
                                   const char *const *directories, struct roof_error *error);

/** Tells whether a device is a CPU, by its architecture: "CPU (Zen 4)". */
bool roof_hardware_is_cpu(const struct roof_hardware *hardware);

/** Tells whether texts may call a device a GPU: a product of NVIDIA or AMD, and not a CPU. A file
 * of the user has a name of its own, after which the word would not read well. */
bool roof_hardware_is_gpu(const struct roof_hardware *hardware);

/** Tells whether machines come with a number of devices: a power of two, the present number doubled
 * repeatedly, or whole nodes. A CPU is a machine of its own. */
bool roof_hardware_comes_in(const struct roof_hardware *hardware, int64_t devices, int64_t present);

/** Returns the figure that is unknown and that a group of `within` devices needs for its link;
 * ROOF_FIGURE_COUNT: none. */
enum roof_figure_id roof_hardware_unlinked(const struct roof_hardware *hardware, double within);
/**
 * Finds the link of a group of `members` that lie within a number of consecutive devices: the
 * bridge if it joins all of these and is faster than the link, the link inside a node, or the
 * slower of link and network if they cross nodes. Without a switch each member has a link to each
 * of the others. If the bandwidth is unknown, the error is ROOF_USAGE and names the missing figure.
 */
enum roof_status roof_hardware_link(struct roof_link *out, const struct roof_hardware *hardware,
                                    double within, double members, struct roof_error *error);

/** Tells whether a link of a device is the bridge between its cards. */
bool roof_link_is_bridge(const struct roof_link *link, const struct roof_hardware *hardware);
/** Returns true if a link is as fast as that to the host: both are PCIe. */
bool roof_link_is_host(const struct roof_link *link, const struct roof_hardware *hardware);

/** The groups of figures that can be scaled. */
enum roof_raised { ROOF_RAISED_BANDWIDTH, ROOF_RAISED_PEAKS, ROOF_RAISED_LINKS, ROOF_RAISED_COUNT };
/** Makes *out a copy of the device with all figures of a group multiplied. It borrows everything
 * else from `hardware`, which must outlive it, and is not freed. */
void roof_hardware_raise(struct roof_hardware *out, const struct roof_hardware *hardware,
                         enum roof_raised raised, double factor);

/** Sets the power cap from a text with a number of watts; NULL changes nothing. A device with a cap
 * then lists the devices with energy figures. */
enum roof_status roof_hardware_cap(struct roof_hardware *hardware, const char *watts,
                                   struct roof_error *error);

/** Tells if any figure or peak differs between two devices. */
bool roof_hardware_differs(const struct roof_hardware *a, const struct roof_hardware *b);
/** Tells whether a user's file has the id of a built-in device. */
bool roof_hardware_hides(const struct roof_hardware *hardware);

const char *roof_basis_name(enum roof_basis basis);
const char *roof_confidence_name(enum roof_confidence confidence);

/** Returns the bytes of the cache before the memory; 0: it is unknown. */
double roof_hardware_last_cache(const struct roof_hardware *hardware);

#endif
