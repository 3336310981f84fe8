// SPDX-License-Identifier: MIT
/**
 * Documents about one result: a prediction, a recommendation, a device, a format, an operator.
 * Reports compute nothing.
 */
#ifndef ROOFLINE_REPORT_H
#define ROOFLINE_REPORT_H

#include <stdbool.h>

#include "base/text.h"
#include "decide/compare.h"
#include "decide/crossover.h"
#include "decide/recommend.h"
#include "predict/kernel.h"
#include "predict/trace.h"
#include "report/table.h"

/** Writes a prediction as a JSON object, with its parts, with the explanation when it is not NULL,
 * and with the tiling of the expected kernel when that is wanted and known. apart has the operators
 * that do the work of a fused one each by itself (roof_predict_apart), else it is NULL. */
void roof_report_json(struct roof_text *out, const struct roof_prediction *prediction,
                      const struct roof_hardware *product, const struct roof_trace *explanation,
                      bool tiling, const struct roof_prediction *apart);
/**
 * Writes a prediction for people. product is the device with the published figures, for a device
 * that is as the documents specify it, else NULL; explanation may be NULL, and apart is as above.
 */
void roof_report_text(struct roof_text *out, const struct roof_prediction *prediction,
                      const struct roof_hardware *product, const struct roof_trace *explanation,
                      bool tiling, const struct roof_prediction *apart);

/** Writes the shape of a workload for people: "gemm m=1 n=4096 k=4096". */
void roof_report_workload(struct roof_text *out, const struct roof_workload *workload);
/** Writes the formats of the roles that an operator has: "weights fp16, activations fp16". */
void roof_report_formats(struct roof_text *out, const struct roof_prediction *prediction);
/** Writes the steps of an explanation for people. */
void roof_report_why(struct roof_text *out, const struct roof_trace *explanation);
/** Writes a line of a report: a label of so many columns, a value and what is said of it, which may
 * be "". A long one is folded. */
void roof_report_line(struct roof_text *out, int width, const char *label, const char *value,
                      const char *detail);
/** Writes the id of a device, and "(default)" behind it where none was asked for. */
void roof_report_device(struct roof_text *out, const struct roof_hardware *hardware);
/** Says that the device is as the documents specify it, and what the published figures are; writes
 * nothing when product is NULL or has the same figures. */
void roof_report_basis(struct roof_text *out, const struct roof_prediction *prediction,
                       const struct roof_hardware *product);

/** Writes a member "published" of an object, after a comma and the indent: the figures of the
 * product that differ, if any does. */
void roof_report_published(struct roof_text *out, const char *indent,
                           const struct roof_prediction *prediction,
                           const struct roof_hardware *product);

/** The reasons that are printed beside a recommendation: why the first candidate beats fp16, and
 * along which sizes the best one changes. NULL: not known. */
struct roof_reasons {
    const struct roof_speedup_row *why;
    const struct roof_crossovers *crossovers;
};
/** Each writes a recommendation: as {"candidates": [...], "rejected": [...]}, or for people. There
 * is at least one candidate; product is as above. */
void roof_report_recommendation_json(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     const struct roof_reasons *reasons,
                                     const struct roof_hardware *product, enum roof_operator op);
void roof_report_recommendation_text(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     const struct roof_reasons *reasons,
                                     const struct roof_workload *workload,
                                     const struct roof_hardware *product,
                                     enum roof_ranking ranking);

/** Each writes a row of a comparison: the cells of the file, then time_us, expected_time_us, ratio
 * (prediction over measurement: the expected time, or the bound where there is none) and error
 * (ratio - 1). Columns of the file with these names are left out. */
void roof_report_compared_header(struct roof_text *out, const char *const *column, size_t columns,
                                 bool metrics);
void roof_report_compared(struct roof_text *out, bool csv, const struct roof_compared *row);

/** Writes a comparison by groups: for people, or as {"schema", "overall": G, "groups": [G, ...]}.
 */
void roof_report_comparison(struct roof_text *out, bool json,
                            const struct roof_comparison *comparison);
/** True for the keys that G has beside its columns, which no column may have. */
bool roof_report_is_statistic(const char *key, size_t length);

/** Each writes everything that is known of one device (its JSON is a hardware file), format or
 * operator, for people or as a JSON object. product is as above. */
void roof_report_hardware(struct roof_text *out, bool json, const struct roof_hardware *hardware,
                          const struct roof_hardware *product);
void roof_report_precision(struct roof_text *out, bool json, enum roof_precision precision,
                           const struct roof_accuracy *accuracy);
void roof_report_operator(struct roof_text *out, bool json, enum roof_operator op);

#endif
