// SPDX-License-Identifier: MIT
/*
 * Tiles of a product: what a thread block of a given tile needs, how many run at once, which bytes
 * pass between the levels of memory, and which of them bounds the time. docs/formulas.md ("Tiles")
 * derives the formulas.
 */
#ifndef ROOF_PREDICT_TILE_H
#define ROOF_PREDICT_TILE_H

#include <stdint.h>

#include "operator/operator.h"
#include "roofline/predict.h"

/* Returns a tile that is tried where all are asked for, as roof_sizes_pack packs it; 0: there are
 * no more. */
int64_t roof_tile_candidate(size_t number);

/* The resources that limit how many thread blocks an SM holds. */
enum roof_tile_resource {
    ROOF_TILE_SHARED,
    ROOF_TILE_REGISTERS,
    ROOF_TILE_TENSOR_MEMORY,
    ROOF_TILE_THREADS,
    ROOF_TILE_BLOCKS,
    ROOF_TILE_RESOURCE_COUNT
};
const char *roof_tile_resource_name(enum roof_tile_resource resource);

/* The orders in which thread blocks walk over the tiles of the output. */
enum roof_tile_order {
    ROOF_TILE_ALONG_N, /* a row of tiles after the other */
    ROOF_TILE_ALONG_M, /* a column of tiles after the other */
    ROOF_TILE_GROUPED, /* bands of some rows, column by column */
    ROOF_TILE_ORDER_COUNT
};
const char *roof_tile_order_name(enum roof_tile_order order);

/* The levels that may bound the time of a tile. */
enum roof_tile_level {
    ROOF_TILE_COMPUTE,
    ROOF_TILE_MEMORY,
    ROOF_TILE_L2,
    ROOF_TILE_SHARED_MEMORY,
    ROOF_TILE_LEVEL_COUNT
};
const char *roof_tile_level_name(enum roof_tile_level level);

/* Everything about a tile. NAN where a value is unknown or has no meaning. */
struct roof_tile {
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t stages;
    int64_t cluster_m;
    int64_t cluster_n;
    char name[32];                    /* "128x256x64" */
    char cluster_name[16];            /* "2x1" */
    double shared_bytes;              /* of a thread block */
    double threads;                   /* of a thread block */
    double registers;                 /* per thread, at least */
    double blocks_per_sm;             /* at most */
    enum roof_tile_resource resource; /* what limits them */
    double grid;                      /* thread blocks, those that fill up clusters included */
    double waves;
    double wave_efficiency; /* the part of the last wave's slots counted in */
    double busy;            /* the part of the SMs' time that computes results */
    double group;           /* rows of tiles of a band; NAN: no order has bands */
    double order_bytes[ROOF_TILE_ORDER_COUNT]; /* from and to DRAM; NAN: there is no such order */
    enum roof_tile_order order;                /* the one with the fewest */
    double bytes[ROOF_TILE_LEVEL_COUNT];       /* through each level; NAN for ROOF_TILE_COMPUTE */
    double intensity[ROOF_TILE_LEVEL_COUNT];   /* FLOP/byte */
    double time_s[ROOF_TILE_LEVEL_COUNT];      /* NAN: a figure is unknown */
    double bytes_in_flight;                    /* of all SMs, at most */
    double hidden_s;     /* the latency that they hide at the bandwidth of the memory */
    double k_alignment;  /* bytes that the rows of both operands are aligned to, 16 at most */
    double n_alignment;  /* the same for the rows of the output */
    double sector_bytes; /* of those through the L2, what only misaligned or short rows add */
    double total_s;
    enum roof_tile_level limit;
};

/* Compares two tiles of one product, for qsort: the shorter time comes first, then fewer bytes
 * through the L2, then through the shared memories, then shorter steps. */
int roof_tile_compare(const void *a, const void *b);

/* Analyses every candidate; *out becomes the first of them by roof_tile_compare. False where none
 * can be analysed. */
bool roof_tile_best(struct roof_tile *out, const struct roof_prediction *prediction);

/* The bytes of the widest load of a thread; TMA and cp.async ask of rows to begin at multiples. */
#define ROOF_ALIGNED_BYTES 16

/* The cost of misaligned rows of a product, which its estimate does not count. */
struct roof_misaligned {
    double k_bytes;        /* the rows of both operands begin at multiples of these: 16 at most */
    double n_bytes;        /* the same for the rows of the output, if it has several */
    bool bounded;          /* the bound is known */
    bool own;              /* it is that of the estimate's tile; else that of the best usual one */
    bool cut;              /* the estimate cuts K into parts, which the bound does not */
    struct roof_tile tile; /* with the bound, total_s */
};
/* Finds it; false where there is no estimate of a GEMM, GEMV or BMM, or all rows begin at multiples
 * of 16 bytes. */
bool roof_tile_misaligned(struct roof_misaligned *out, const struct roof_prediction *prediction);
/* Tells if it would be found, without the bound, which takes longer. */
bool roof_tile_is_misaligned(const struct roof_prediction *prediction);
/* Raises K, and N if the output has several rows, to the next sizes with aligned rows. The formats
 * must be resolved. */
void roof_tile_pad(struct roof_workload *workload);

/**
 * Analyses a tile, one of its own, of the product that was predicted. ROOF_USAGE where the operator
 * is no product, the device lacks a figure or a unit, or the tile does not fit.
 */
enum roof_status roof_tile_predict(struct roof_tile *out, const struct roof_prediction *prediction,
                                   const struct roof_tile_choice *choice, struct roof_error *error);

#endif
