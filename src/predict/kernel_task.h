// SPDX-License-Identifier: MIT
/* The shared pieces of the formulas of kernels: their input, and the arithmetic of caches and of
 * overlapping times. Each family of kernels has its own file. */
#ifndef ROOF_PREDICT_KERNEL_TASK_H
#define ROOF_PREDICT_KERNEL_TASK_H

#include <math.h>

#include "predict/kernel.h"

/* Infinity as a double: INFINITY is a float. */
#define ROOF_UNBOUNDED ((double)INFINITY)

/* The elements of a row of a norm that takes `row_clocks`; longer rows take longer, and shorter
 * ones less. */
#define ROOF_ROW_ELEMENTS 1024

/* The fewest new tokens of a sequence in a prompt; decode steps have fewer, also with drafts. */
#define ROOF_PROMPT_QUERIES 16

/* The tiles that kernels of products have. */
enum { ROOF_TILES = 12 };

/* The rows of a product that a kernel computes, and the thread blocks that tiles of each size cut
 * it into. */
struct roof_spread {
    double rows;              /* 0: not filled in */
    double load[ROOF_TILES];  /* blocks for each SM, with K in one part */
    double full[ROOF_TILES];  /* with K in the requested parts, or one; at least 1 */
    double idle[ROOF_TILES];  /* what these lack of whole waves */
    double steps[ROOF_TILES]; /* elements of K that an SM goes through at least, with K in many
                                 parts; infinite if K is not cut, as there is more than one block */
};

/* The data of a product that do not depend on parameters: sizes, bytes of the whole batch, and
 * values that follow from these and from figures of the device. */
struct roof_product {
    bool known; /* all of it is filled in */
    double m, n, k, batch;
    double vector_rows; /* m, or infinite for products for which a kernel without tiles is not
                           considered */
    double x, w, y;
    double x_element, w_element, y_element;
    double working_set; /* bytes; infinite when the data is cold */
    double split_k;     /* the parts of K; 0: any number */
    double folds;       /* e-folds of the compute time, for the clock that power takes */
    double k_block;     /* elements of K in a step */
    double depth;       /* elements of K of a block, with K in the requested parts or in one */
    double column[ROOF_TILES]; /* bytes of operands of a tile for an element of K */
    struct roof_spread own;    /* with the rows of the product */
    struct roof_spread padded; /* with those that the last kernel adds */
};

/* A kernel whose time is asked for, and the figures of the device that the formulas use. */
struct roof_kernel_task {
    enum roof_kernel own;    /* of the workload */
    bool stands_in;          /* own was measured with other operators alone */
    enum roof_kernel kernel; /* own, or where it was not measured another */
    const struct roof_workload *workload;
    const struct roof_work *work;
    double peak;       /* FLOP/s; of a collective, bytes/s of a link inside the node */
    double plain_peak; /* to which shares are relative (conversion.h) */
    double bound;      /* s: the roofline bound */
    double bandwidth;
    double sms;
    double clock;
    double l2;         /* bytes */
    double last_cache; /* bytes of the cache before the memory */
    double nodes;      /* that a collective spans */
    double hop;        /* s: how long a collective waits for another node */
    bool mesh;         /* the devices of a node have links to each other, and no switch */
    const struct roof_calibration *calibration;
    bool cold; /* no kernel takes less than the bound */
    enum roof_numerics numerics;
    enum roof_quantize quantize;  /* none for inputs of 16 bits, and where there is no product */
    struct roof_product *product; /* filled in by the first kernel of a product, for the others */
};

static inline double roof_larger(double a, double b)
{
    return a > b ? a : b;
}

/* Returns the rate in FLOP/s of a kernel that multiplies at a share of the plain peak. A share
 * above 1 can exceed it if the inputs are converted to a faster format. Else it says that the
 * matrix units are the limit, which run at the peak (product_limits.c). */
static inline double roof_share_of_peak(const struct roof_kernel_task *t, double share)
{
    const double rate = share * t->plain_peak;
    return rate < t->peak ? rate : t->peak;
}

/* Adds two overlapping times: the longer, and the share of the shorter that is not hidden. */
static inline double roof_overlap(double a, double b, double shown)
{
    return roof_larger(a, b) + shown * (a > b ? b : a);
}

/* Returns the share of a repeatedly read set that a cache of a given size holds. The eighth power
 * is as steep as the measured cliff of a 96 MiB L2; set x (1 - hit) grows with the set. */
static inline double roof_l2_hit(double set, double room)
{
    const double x = set / room;
    const double x4 = x * x * x * x;
    return 1 / (1 + x4 * x4);
}

/* Returns the bytes that are touched between two uses of the same data, of which a kernel itself
 * touches data_bytes: infinite when the data is cold. */
static inline double roof_working_set(const struct roof_workload *w, double data_bytes)
{
    return w->working_set > 0            ? roof_larger(data_bytes, (double)w->working_set)
           : w->cache == ROOF_CACHE_WARM ? data_bytes
                                         : ROOF_UNBOUNDED;
}

/* The share of the memory time that a kernel of attention or of an indexer saves for data in the
 * L2: it reads them four times as fast as from the DRAM. */
#define ROOF_L2_SAVES 0.75

/* Notes and returns the share of the data of a kernel that a cache of some room still holds. */
static inline double roof_held(struct roof_expected *out, const struct roof_workload *w,
                               double data_bytes, double room)
{
    out->tiling.l2_hit = roof_l2_hit(roof_working_set(w, data_bytes), room);
    return out->tiling.l2_hit;
}

/* Returns the time to stream bytes from a cache of a given size or from memory; both rates are
 * shares of the bandwidth. */
static inline double roof_stream_s(struct roof_expected *out, const struct roof_kernel_task *t,
                                   double bytes, double room, double memory_rate, double cache_rate)
{
    const double hit = roof_held(out, t->workload, bytes, room);
    return bytes * ((1 - hit) / memory_rate + hit / cache_rate) / t->bandwidth;
}

/* Each fills in the launch, the time without it and the limit of a kernel from its parameters,
 * which are in the order of kernel_parameters.h. */
void roof_expect_gemm(struct roof_expected *out, const struct roof_kernel_task *task,
                      const double *parameter);
void roof_expect_moe(struct roof_expected *out, const struct roof_kernel_task *task,
                     const double *parameter);
void roof_expect_decode(struct roof_expected *out, const struct roof_kernel_task *task,
                        const double *parameter);
void roof_expect_prefill(struct roof_expected *out, const struct roof_kernel_task *task,
                         const double *parameter);
/* Does this for sequences that decode in the kernel for prompts. */
void roof_expect_decode_in_tiles(struct roof_expected *out, const struct roof_kernel_task *task,
                                 const double *decode, const double *prefill);
/* Return how much later these kernels end than with equal contexts if one sequence has the longest
 * context. */
double roof_wait_in_decode(const struct roof_kernel_task *task, const double *decode,
                           double longest);
double roof_wait_in_tiles(const struct roof_kernel_task *task, const double *prefill,
                          double longest);
void roof_expect_mla_decode(struct roof_expected *out, const struct roof_kernel_task *task,
                            const double *parameter);
void roof_expect_mla_prefill(struct roof_expected *out, const struct roof_kernel_task *task,
                             const double *parameter);
void roof_expect_vector(struct roof_expected *out, const struct roof_kernel_task *task,
                        const double *parameter);
void roof_expect_scan(struct roof_expected *out, const struct roof_kernel_task *task,
                      const double *parameter);
void roof_expect_index_scores(struct roof_expected *out, const struct roof_kernel_task *task,
                              const double *parameter);
void roof_expect_top_k(struct roof_expected *out, const struct roof_kernel_task *task,
                       const double *parameter);
void roof_expect_sparse_mla(struct roof_expected *out, const struct roof_kernel_task *task,
                            const double *parameter);
void roof_expect_compressed(struct roof_expected *out, const struct roof_kernel_task *task,
                            const double *parameter);
void roof_expect_compressed_prefill(struct roof_expected *out, const struct roof_kernel_task *task,
                                    const double *parameter);
void roof_expect_collective(struct roof_expected *out, const struct roof_kernel_task *task,
                            const double *parameter);
void roof_expect_plain(struct roof_expected *out, const struct roof_kernel_task *task,
                       const double *parameter);
void roof_expect_one_shot(struct roof_expected *out, const struct roof_kernel_task *task,
                          const double *parameter);

/* Tells whether a fit is of another device. */
bool roof_fit_is_lent(const struct roof_calibration *calibration,
                      const struct roof_kernel_fit *fit);
/* Returns the devices that exchange data. */
double roof_kernel_members(const struct roof_workload *workload);
/* Returns the nodes that a collective spans: at most as many as members. With an unknown node size
 * the group counts as inside one. */
double roof_kernel_nodes(const struct roof_workload *workload,
                         const struct roof_hardware *hardware);
/* The reasons that may widen the band of a kernel. */
struct roof_doubts {
    bool otherwise; /* it stands in for another, or belongs to another stack */
    bool lent;      /* it was measured on another device */
    bool uneven;    /* experts may have uneven loads, and were measured with even ones */
    enum roof_numerics numerics; /* of the workload */
    double nodes;
};
/* Returns how much wider the band of a kernel is: the widest of its reasons. */
struct roof_widening roof_fit_widening(const struct roof_kernel_fit *fit,
                                       const struct roof_doubts *doubts);
/* Tells whether a fit is to experts with even loads, as those of the stacks are (but not those of
 * aiter, `measure` and llama.cpp), and the workload may have others. */
bool roof_fit_is_uneven(const struct roof_kernel_fit *fit, const struct roof_workload *workload);
/* Fills in the band of a kernel for the requested stack; a kernel of another stack is less certain.
 * second_s is the time of the next fastest kernel, or 0. */
void roof_kernel_set_band(struct roof_expected *out, const struct roof_kernel_task *task,
                          enum roof_stack asked, double second_s);

/* Returns the matrices of a layer of experts that an operator has: gate, up and down, or some of
 * them. Any other operator counts as a whole layer. */
static inline double roof_expert_matrices(enum roof_operator op)
{
    switch (op) {
    case ROOF_OPERATOR_MOE_GATE_UP:
    case ROOF_OPERATOR_MOE_UNGATED:
        return 2;
    case ROOF_OPERATOR_MOE_UP:
    case ROOF_OPERATOR_MOE_DOWN:
        return 1;
    default:
        return 3;
    }
}

#endif
