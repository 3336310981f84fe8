// SPDX-License-Identifier: MIT
/** Documents about a model: a prediction with its operators, and the facts about the model. Reports
 * compute nothing. */
#ifndef ROOF_REPORT_MODEL_REPORT_H
#define ROOF_REPORT_MODEL_REPORT_H

#include "decide/survey.h"
#include "predict/model_prediction.h"
#include "report/report.h"

/** Follows the format of a checkpoint whose routed experts have a format of their own. */
#define ROOF_REPORT_FP4_EXPERTS ", experts mxfp4"

/** Sorts the operators of a prediction by their share of the time in descending order; ties keep
 * the order of the model. `order` has space for ROOF_GRAPH_MAX numbers; returns how many there
 * are. */
size_t roof_model_report_order(size_t *order, const struct roof_model_prediction *model_prediction);

/** Writes the format of a model's weights, or the layout that sets them: "weights as in q4_k_m". */
void roof_model_report_weights(struct roof_text *out, const struct roof_model *model,
                               const struct roof_formats *formats);
/** Tells whether a prediction with these formats leaves out the quantisation of the checkpoint. */
bool roof_model_report_unquantized(const struct roof_model *model,
                                   const struct roof_formats *formats);
/** Writes a paragraph on that, with the options that give the formats of the checkpoint. */
void roof_model_report_note_unquantized(struct roof_text *out, const struct roof_model *model);
/* Tells whether the formats in the quantisation of a model can be read. A lack of memory makes the
 * text fail. */
bool roof_model_report_readable(struct roof_text *out, const struct roof_model *model);
/** Writes the formats: "weights fp8_e4m3, activations fp8_e4m3, out bf16, kv bf16". */
void roof_model_report_formats(struct roof_text *out,
                               const struct roof_model_prediction *model_prediction);

/** Notes that drafts without a draft model take no time. */
#define ROOF_FREE_DRAFTS "drafting takes no time here (--draft-model adds it)"

/** Writes tokens per second, with a prefix from a million up: "95.31", "2.5 M". Returns out. */
const char *roof_model_report_rate(char out[ROOF_QUANTITY_SIZE], double value);
/** Adds the changes with which more sequences would fit: "; 31 would with --kv fp8, 45 with --tp 4
 * (2 -> 4 devices)"; nothing if none is known. */
void roof_model_report_levers(struct roof_text *out,
                              const struct roof_model_prediction *model_prediction,
                              const struct roof_limits *limits);
/** Returns the longest context that the model supports and that fits; INFINITY if it is unknown. */
double roof_model_report_longest(const struct roof_model_prediction *model_prediction,
                                 const struct roof_limits *limits);
/** Tells whether a decode step reaches the context at which the KV cache takes as many reads as the
 * weights: the model supports it, and it fits. */
bool roof_model_report_crosses(const struct roof_model_prediction *model_prediction,
                               const struct roof_limits *limits);
/** Formats a known roof_decode_compute_bound: "from batch 613 on" or "never". */
const char *roof_model_report_bound(char out[ROOF_QUANTITY_SIZE], double batch);
/** Names the formats of products without a unit on the device (a user's file may merely lack the
 * figure), and what it uses instead. */
void roof_model_report_fallback(struct roof_text *out, const struct roof_model_prediction *r);
/** The width of labels. */
#define ROOF_MODEL_REPORT_LABEL 20

/* For GGUF weights, names llama.cpp, whose kernels the time assumes, or what was not measured. */
void roof_model_report_gguf(struct roof_text *out, const struct roof_model_prediction *r);

/** Tells whether the device multiplies GGUF weights in INT8, to which kernels convert activations.
 */
bool roof_model_report_int8(const struct roof_model_prediction *r);

/** Marks a cache that has more bits than the weights because the question leaves its format open.
 */
void roof_model_report_open_cache(struct roof_text *out, const struct roof_model_prediction *r,
                                  const struct roof_limits *limits);
/** Writes the bytes of the KV cache per token, and the number of layers that keep only the last
 * tokens. */
void roof_model_report_cache(struct roof_text *out, const struct roof_model_prediction *r);

/** Writes changes with which a model would fit that does not, as a line or as members. */
void roof_model_report_room(struct roof_text *out, bool json,
                            const struct roof_model_prediction *prediction,
                            const struct roof_limits *limits);
/** Write the work of the host, which the times include as its bound, the work of the engine there,
 * the energy of a token, and the content of the host's memory; nothing without offloading. */
void roof_model_report_below(struct roof_text *out, const struct roof_model_prediction *r);
void roof_model_report_host_memory(struct roof_text *out, const struct roof_model_prediction *r);

#define ROOF_MODEL_REPORT_NAME 64
/** Formats the name of an operator and its place: "experts (host)". Returns out. */
const char *roof_model_report_operator(char out[ROOF_MODEL_REPORT_NAME],
                                       const struct roof_node *node);

/** Says why there is no expected time: "rope: no kernel like this was measured". */
void roof_model_report_unexpected(struct roof_text *out,
                                  const struct roof_model_prediction *model_prediction);

/** Writes a summary for people, then the largest operators (roof_report_operators), with their
 * shapes if the table may be wide. `product` is as in roof_report_text. */
void roof_model_report_text(struct roof_text *out,
                            const struct roof_model_prediction *model_prediction,
                            const struct roof_limits *limits, size_t top, bool wide,
                            const struct roof_hardware *product);

/** Writes the prediction as a JSON object with "limits" and "operators", in the order of the model,
 * and with advice unless that is NULL. */
void roof_model_report_json(struct roof_text *out,
                            const struct roof_model_prediction *model_prediction,
                            const struct roof_limits *limits, const struct roof_hardware *product,
                            const struct roof_survey *advice);

/** Writes all facts about a model, for people or as a JSON object. */
void roof_model_report_about(struct roof_text *out, bool json,
                             const struct roof_model_entry *entry);
/** Writes all facts about a layout, for people or as a JSON object. */
void roof_model_report_layout(struct roof_text *out, bool json,
                              const struct roof_layout_about *about);

#endif
