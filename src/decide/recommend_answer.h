// SPDX-License-Identifier: MIT
/** The recommended formats for an operator, with the reasons for a document. */
#ifndef ROOF_DECIDE_RECOMMEND_ANSWER_H
#define ROOF_DECIDE_RECOMMEND_ANSWER_H

#include "decide/crossover.h"
#include "decide/recommend.h"
#include "decide/speedup.h"

struct roof_recommend_answer {
    struct roof_recommendation recommendation; /**< no format is ranked if all are rejected */
    bool crosses;                              /**< `crossovers` is set: the operator has rows */
    struct roof_crossovers crossovers;
    bool gains; /**< `speedup` is set: the first format is not fp16 */
    struct roof_speedup speedup;
};

/** Ranks the formats (roof_recommend) and, if it is to explain, finds why the first one beats fp16
 * and where the recommendation changes. ROOF_OK even if every format is rejected. The hardware
 * must outlive *out. On success the caller owns *out: roof_recommend_answer_free. It is large. */
enum roof_status roof_recommend_answer_open(struct roof_recommend_answer **out,
                                            const struct roof_workload *workload,
                                            const struct roof_hardware *hardware,
                                            const struct roof_recommend_options *options,
                                            bool explain, struct roof_error *error);
void roof_recommend_answer_free(struct roof_recommend_answer *answer);

#endif
