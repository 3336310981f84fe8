// SPDX-License-Identifier: MIT
/* Adapts borrowed kernels to a product whose SMs are those of the measured device, but limited: by
 * a lower rate of their matrix units, or by less power. docs/accuracy.md ("Limits of a product")
 * has the formulas, and the measured times that they were compared with. */
#include "base/base.h"
#include "base/exponential.h"
#include "predict/calibration_parts.h"

/* The format whose matrix rate the products of a kernel have. */
static const enum roof_precision multiplied[ROOF_NUMERICS_COUNT] = {
    [ROOF_NUMERICS_16BIT] = ROOF_PRECISION_BF16,    [ROOF_NUMERICS_FP8] = ROOF_PRECISION_FP8_E4M3,
    [ROOF_NUMERICS_INT8] = ROOF_PRECISION_INT8,     [ROOF_NUMERICS_FP4] = ROOF_PRECISION_NVFP4,
    [ROOF_NUMERICS_W8A16] = ROOF_PRECISION_BF16,    [ROOF_NUMERICS_W4A16] = ROOF_PRECISION_BF16,
    [ROOF_NUMERICS_W4A8] = ROOF_PRECISION_FP8_E4M3, [ROOF_NUMERICS_32BIT] = ROOF_PRECISION_TF32,
    [ROOF_NUMERICS_MX4A16] = ROOF_PRECISION_BF16};

/* Rates of an SM that differ by less have been rounded by the vendor. */
#define SAME_RATE 0.95

/* A long product of a device with less power per SM is slower by this power of the ratio. */
#define POWER_EXPONENT 0.8

/* The time of a long product, in the unit of `power` (kernel_product.c): 10 ms. */
#define LONG_PRODUCT 100

/* Returns the FLOPs of an SM in a clock; NAN: unknown. */
static double sm_rate(const struct roof_hardware *h, enum roof_precision format)
{
    return h->peak[ROOF_PEAK_MATRIX][format].value /
           (h->figure[ROOF_FIGURE_SM_COUNT].value * h->figure[ROOF_FIGURE_BOOST_CLOCK].value);
}

/* Returns the power of an SM; NAN: unknown. */
static double sm_power(const struct roof_hardware *h)
{
    return h->figure[ROOF_FIGURE_TDP].value / h->figure[ROOF_FIGURE_SM_COUNT].value;
}

/* The other parts of a kernel keep their speed, so the share of the peak grows by as much as the
 * peak is lower. A share above 1 says how far they are from being the limit. */
void roof_calibration_limit_rate(struct roof_calibration *c, const struct roof_hardware *hardware,
                                 const struct roof_hardware *full)
{
    struct roof_kernel_fit *const fit = roof_calibration_fits(c);
    for (size_t n = 0; n < c->count; n++) {
        const enum roof_precision format = multiplied[fit[n].numerics];
        const double ratio = sm_rate(hardware, format) / sm_rate(full, format);
        double *const peak = roof_fit_parameter(&fit[n], "peak");
        if (peak != NULL && ratio < SAME_RATE) {
            *peak /= ratio;
        }
    }
}

/* Returns the share of the full FP16 rate of its SMs that the matrix units of a product have. */
static double limit_of(const struct roof_hardware *hardware, const struct roof_hardware *full)
{
    const double ratio =
        full == NULL ? 1
                     : sm_rate(hardware, ROOF_PRECISION_FP16) / sm_rate(full, ROOF_PRECISION_FP16);
    return ratio < SAME_RATE ? ratio : 1;
}

/* llama.cpp multiplies GGUF weights in INT8, and FP16 with sums in FP16, which GeForce does at the
 * full rate. On H20 these are limited, too; there, the other parts of a kernel keep their speed, as
 * in roof_calibration_limit_rate. */
void roof_calibration_move_rate(struct roof_calibration *c, const struct roof_hardware *hardware,
                                const struct roof_hardware *full,
                                const struct roof_hardware *lender,
                                const struct roof_hardware *full_lender)
{
    struct roof_kernel_fit *const fit = roof_calibration_fits(c);
    const double move = limit_of(lender, full_lender) / limit_of(hardware, full);
    for (size_t n = 0; n < c->count; n++) {
        const bool product = fit[n].kernel == ROOF_KERNEL_GEMM || fit[n].kernel == ROOF_KERNEL_MOE;
        double *const peak = roof_fit_parameter(&fit[n], "peak");
        if (product && peak != NULL) {
            *peak *= move;
        }
    }
}

/* `power` is the growth of a time for each e-fold of the product's length. */
void roof_calibration_limit_power(struct roof_calibration *c, const struct roof_hardware *hardware,
                                  const struct roof_hardware *measured)
{
    struct roof_kernel_fit *const fit = roof_calibration_fits(c);
    const double ratio = sm_power(hardware) / sm_power(measured);
    const double folds = roof_log1p(LONG_PRODUCT);
    const double growth = roof_expm1(-POWER_EXPONENT * roof_log1p(ratio - 1));
    for (size_t n = 0; n < c->count; n++) {
        double *const power = roof_fit_parameter(&fit[n], "power");
        if (power != NULL && ratio < 1) {
            *power += (1 / folds + *power) * growth;
        }
    }
}
