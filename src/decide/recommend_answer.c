// SPDX-License-Identifier: MIT
#include "decide/recommend_answer.h"

#include <stdlib.h>

#include "base/base.h"

static enum roof_status find_reasons(struct roof_recommend_answer *answer,
                                     const struct roof_workload *workload,
                                     const struct roof_accuracy *accuracy,
                                     const struct roof_recommend_options *options,
                                     struct roof_error *error)
{
    const struct roof_recommendation *const recommendation = &answer->recommendation;
    const struct roof_candidate *const best = &recommendation->candidate[0];
    const struct roof_prediction *const fp16 = &recommendation->baseline;
    TRY(roof_crossovers(&answer->crossovers, workload, fp16->hardware, accuracy, options, error));
    answer->crosses = answer->crossovers.along != ROOF_DIM_COUNT;
    if (recommendation->count == 0 || best->format == ROOF_PRECISION_FP16) {
        return ROOF_OK;
    }
    const struct roof_speedup_side from = {roof_format(ROOF_PRECISION_FP16)->name, fp16, NULL};
    const struct roof_speedup_side to = {roof_format(best->format)->name, &best->prediction, NULL};
    TRY(roof_speedup(&answer->speedup, &from, &to, error));
    answer->gains = true;
    return ROOF_OK;
}

static enum roof_status
find_answer(struct roof_recommend_answer *out, const struct roof_workload *workload,
            const struct roof_hardware *hardware, const struct roof_accuracy *accuracy,
            const struct roof_recommend_options *options, bool explain, struct roof_error *error)
{
    const enum roof_status status =
        roof_recommend(&out->recommendation, workload, hardware, accuracy, options, error);
    if (status != ROOF_OK && status != ROOF_UNSATISFIED) {
        return status;
    }
    return explain ? find_reasons(out, workload, accuracy, options, error) : ROOF_OK;
}

enum roof_status roof_recommend_answer_open(struct roof_recommend_answer **out,
                                            const struct roof_workload *workload,
                                            const struct roof_hardware *hardware,
                                            const struct roof_recommend_options *options,
                                            bool explain, struct roof_error *error)
{
    struct roof_recommend_tables tables;
    struct roof_recommend_options own = *options;
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = roof_recommend_tables_load(&tables, &own, error);
    if (status == ROOF_OK) {
        status = find_answer(*out, workload, hardware, &tables.accuracy, &own, explain, error);
    }
    roof_recommend_tables_free(&tables);
    if (status != ROOF_OK) {
        roof_recommend_answer_free(*out);
        *out = NULL;
    }
    return status;
}

void roof_recommend_answer_free(struct roof_recommend_answer *answer)
{
    free(answer);
}
