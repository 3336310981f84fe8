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
static double sm_rate(const struct roof_hardware *h, enum roof_numerics numerics)
{
    return h->peak[ROOF_PEAK_MATRIX][multiplied[numerics]].value /
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
        const double ratio = sm_rate(hardware, fit[n].numerics) / sm_rate(full, fit[n].numerics);
        double *const peak = roof_fit_parameter(&fit[n], "peak");
        if (peak != NULL && ratio < SAME_RATE) {
            *peak /= ratio;
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
