// SPDX-License-Identifier: MIT
#include "measure/judge.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/quantity.h"
#include "measure/timing.h"
#include "predict/kernel.h"
#include "roofline/predict.h"

/* The sums over rows from which means are made. */
struct sums {
    double error;
    int64_t count; /* rows with an expected time */
};

/* Judges the rows of one kernel; share has room for all of them. */
static void judge_kernel(struct roof_judged *out, struct sums *sums, double *share,
                         const struct roof_measured *m, const struct roof_hardware *hardware)
{
    struct sums own = {.count = 0};
    size_t bounded = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct roof_meter_row *const row = &m->row[i];
        const struct roof_workload *const w = &row->task.workload;
        struct roof_prediction prediction;
        if (row->task.probe != ROOF_PROBE_OPERATOR || roof_kernel_of(w) != out->kernel ||
            roof_workload_numerics(w) != out->numerics ||
            roof_predict(&prediction, w, hardware, NULL) != ROOF_OK) {
            continue;
        }
        const double error = fabs(prediction.expected_s / row->time_s - 1);
        out->rows++;
        out->noisy += row->noisy ? 1 : 0;
        own.error += isnan(error) ? 0 : error;
        own.count += isnan(error) ? 0 : 1;
        share[bounded++] = prediction.time_s / row->time_s;
    }
    out->of_bound = bounded == 0 ? ROOF_UNKNOWN : roof_median(share, bounded);
    out->error = own.count == 0 ? ROOF_UNKNOWN : own.error / (double)own.count;
    sums->error += own.error;
    sums->count += own.count;
}

enum roof_status roof_judge(struct roof_judgement *out, const struct roof_measured *measured,
                            const struct roof_hardware *hardware, struct roof_error *error)
{
    struct sums sums = {.count = 0};
    double *const share = calloc(measured->count + 1, sizeof *share);
    *out = (struct roof_judgement){.count = 0};
    if (share == NULL) {
        return roof_no_memory(error);
    }
    for (int kernel = 0; kernel < ROOF_KERNEL_COUNT; kernel++) {
        for (int n = 0; n < ROOF_NUMERICS_COUNT && out->count < ROOF_JUDGED_MAX; n++) {
            struct roof_judged *const next = &out->kernel[out->count];
            *next = (struct roof_judged){.kernel = (enum roof_kernel)kernel,
                                         .numerics = (enum roof_numerics)n};
            judge_kernel(next, &sums, share, measured, hardware);
            out->count += next->rows > 0 ? 1 : 0;
        }
    }
    free(share);
    out->error = sums.count == 0 ? ROOF_UNKNOWN : sums.error / (double)sums.count;
    return ROOF_OK;
}

bool roof_agrees(const struct roof_judgement *judgement)
{
    for (size_t i = 0; i < judgement->count; i++) {
        if (!(judgement->kernel[i].error <= ROOF_AGREES)) {
            return false;
        }
    }
    return judgement->error <= ROOF_AGREES;
}
