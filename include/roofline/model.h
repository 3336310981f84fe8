// SPDX-License-Identifier: MIT
/**
 * Predictions of models, as numbers: what `predict model` answers as a document.
 *
 *     struct roof_store *store = NULL;
 *     struct roof_question *question = NULL;
 *     struct roof_model_result *result = NULL;
 *     struct roof_error error;
 *     roof_store_new(&store, &error);
 *     roof_question_new(&question, &error);
 *     roof_question_put(question, "model", "llama-3-8b", &error);
 *     roof_question_put(question, "hardware", "h100-sxm", &error);
 *     roof_question_put(question, "batch", "8", &error);
 *     if (roof_model_predict(&result, store, question, &error) == ROOF_OK) {
 *         printf("%g tokens/s\n", roof_model_number(result, "tokens_per_s"));
 *     }
 *     roof_model_result_free(result);
 *     roof_question_free(question);
 *     roof_store_free(store);
 *
 * A result is a handle, which may grow in any version. It is read only: any number of threads may
 * read it. Texts and predictions that it returns are borrowed from it.
 */
#ifndef ROOFLINE_MODEL_H
#define ROOFLINE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "roofline/error.h"
#include "roofline/predict.h"
#include "roofline/question.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A prediction of a model on a device. */
struct roof_model_result;

/**
 * Predicts one pass of the model of a question, or a whole request (keys prompt and generate), with
 * the keys that `predict model` takes and that change its numbers. Only roof_answer reads keys of
 * documents (why, top, columns). The question may be freed before the result; the store
 * must outlive it. On success the caller owns *out: roof_model_result_free; after a failure it is
 * NULL.
 *
 * ROOF_USAGE when an input is unknown, missing or out of range, ROOF_INVALID and ROOF_IO when a
 * file cannot be read. Any number of threads may ask with one store.
 */
enum roof_status roof_model_predict(struct roof_model_result **out, struct roof_store *store,
                                    const struct roof_question *question, struct roof_error *error);

/** Releases a result. Accepts NULL. */
void roof_model_result_free(struct roof_model_result *result);

/** Returns a number by its key ("tokens_per_s", "ttft_ms", "weights_memory_bytes"; docs/formats.md)
 * in the unit of the key, a flag as 0 or 1; NAN if it is unknown or has no meaning, or if the key
 * is not a number of a model's prediction. */
double roof_model_number(const struct roof_model_result *result, const char *key);

/** Returns a text by its key ("model", "phase", "bottleneck", "weights"); NULL when there is none.
 */
const char *roof_model_text(const struct roof_model_result *result, const char *key);

/** Returns the totals over the operators of one pass of a microbatch, on the device with the most
 * work. They have no parts, and their time_s is the sum over all pipeline stages. */
const struct roof_prediction *roof_model_total(const struct roof_model_result *result);

/** Returns the number of operators of a pass; 0 for a request. */
size_t roof_model_operators(const struct roof_model_result *result);

/** Describe operator number i, 0 <= i < roof_model_operators: its name ("q", "attention"), how
 * often a pass runs it over all pipeline stages, and the prediction of one run. Beyond: NULL, 0,
 * NULL. */
const char *roof_model_operator_name(const struct roof_model_result *result, size_t i);
int64_t roof_model_operator_runs(const struct roof_model_result *result, size_t i);
const struct roof_prediction *roof_model_operator(const struct roof_model_result *result, size_t i);

#ifdef __cplusplus
}
#endif

#endif
