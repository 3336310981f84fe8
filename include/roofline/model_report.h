// SPDX-License-Identifier: MIT
/**
 * Documents about a model: a prediction with its operators, and what is known of the model.
 * Reports compute nothing.
 */
#ifndef ROOFLINE_MODEL_REPORT_H
#define ROOFLINE_MODEL_REPORT_H

#include "roofline/model_prediction.h"
#include "roofline/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The operators of an inference by their share of the time, the largest first; equal ones in the
 * order of the model. order has room for ROOF_GRAPH_MAX; returns how many. */
size_t roof_model_report_order(size_t *order, const struct roof_model_prediction *inference);

/** "decode, batch 8, context 8192, tp 2, devices 2". */
void roof_model_report_scenario(struct roof_text *out,
                                const struct roof_model_prediction *inference);

/** "weights fp8_e4m3, activations fp8_e4m3, out bf16, kv bf16". */
void roof_model_report_formats(struct roof_text *out,
                               const struct roof_model_prediction *inference);

/** Tokens per second, with a prefix from a million on: "95.31", "2.5 M". Returns out. */
const char *roof_model_report_rate(char out[ROOF_QUANTITY_SIZE], double value);
/** Why an inference has no expected time: "no kernel like that of rope was measured". */
void roof_model_report_unexpected(struct roof_text *out,
                                  const struct roof_model_prediction *inference);

/** For people: a summary, then the `top` largest operators. product as in roof_report_text. */
void roof_model_report_text(struct roof_text *out, const struct roof_model_prediction *inference,
                            const struct roof_limits *limits, size_t top,
                            const struct roof_hardware *product);

/** The prediction as a JSON object with "limits" and "operators", in the order of the model. */
void roof_model_report_json(struct roof_text *out, const struct roof_model_prediction *inference,
                            const struct roof_limits *limits);

/** What is known of a model. */
void roof_model_report_about(struct roof_text *out, bool json,
                             const struct roof_model_entry *entry);
/** What is known of a layout. */
void roof_model_report_layout(struct roof_text *out, bool json,
                              const struct roof_layout_about *about);

#ifdef __cplusplus
}
#endif

#endif
