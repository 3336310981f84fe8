// SPDX-License-Identifier: MIT
/**
 * Inputs: one row per key, and values from text. Options, sweep axes, completion and manual are
 * made from these rows; synonym.h has other words for them.
 */
#ifndef ROOF_DECIDE_INPUT_H
#define ROOF_DECIDE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/quantity.h"
#include "base/text.h"
#include "base/values.h"
#include "model/graph.h"
#include "operator/operator.h"
#include "roofline/question.h"

/** Commands of the program alone, which answer no questions; enum roof_command leaves their bits.
 */
#define ROOF_COMMAND_COMPLETION ((enum roof_command)128)
#define ROOF_COMMAND_SERVE ((enum roof_command)4096)

/** All inputs: the dimensions (same numbers as enum roof_dimension), then the others. */
enum roof_input_id {
    ROOF_INPUT_HARDWARE = ROOF_DIM_COUNT,
    ROOF_INPUT_PRECISION_BOTH,
    ROOF_INPUT_WEIGHTS,
    ROOF_INPUT_ACTIVATIONS,
    ROOF_INPUT_KV,
    ROOF_INPUT_OUT,
    ROOF_INPUT_COMPUTE,
    ROOF_INPUT_SPARSE,
    ROOF_INPUT_SET,
    ROOF_INPUT_POWER_CAP,
    ROOF_INPUT_STACK,
    ROOF_INPUT_CACHE,
    ROOF_INPUT_QUANTIZE_INPUT,
    ROOF_INPUT_WORKING_SET,
    ROOF_INPUT_NO_LAUNCH_OVERHEAD,
    ROOF_INPUT_SPLIT_K,
    ROOF_INPUT_CALIBRATION,
    ROOF_INPUT_PHASE,
    ROOF_INPUT_CONTEXT,
    ROOF_INPUT_CHUNK,
    ROOF_INPUT_PROMPT,
    ROOF_INPUT_GENERATE,
    ROOF_INPUT_STATIC,
    ROOF_INPUT_PREFIX_HIT,
    ROOF_INPUT_IMAGES,
    ROOF_INPUT_IMAGE_SIZE,
    ROOF_INPUT_AUDIO,
    ROOF_INPUT_AUDIO_LENGTH,
    ROOF_INPUT_PREFILL_BATCH,
    ROOF_INPUT_PREFILL_CONTEXT,
    ROOF_INPUT_DRAFT_TOKENS,
    ROOF_INPUT_ACCEPTANCE,
    ROOF_INPUT_DRAFT_MODEL,
    ROOF_INPUT_OFFLOADED,
    ROOF_INPUT_HOST,
    ROOF_INPUT_HOST_BANDWIDTH,
    ROOF_INPUT_HOST_MEMORY,
    ROOF_INPUT_TP,
    ROOF_INPUT_PP,
    ROOF_INPUT_DP,
    ROOF_INPUT_ATTENTION_DP,
    ROOF_INPUT_MOE_TP,
    ROOF_INPUT_MOE_EP,
    ROOF_INPUT_LAYOUT,
    ROOF_INPUT_CLASS,
    ROOF_INPUT_SPLIT_PROJECTIONS,
    ROOF_INPUT_UNFUSED_ATTENTION,
    ROOF_INPUT_FUSE,
    ROOF_INPUT_RESERVE,
    ROOF_INPUT_HOST_GAP,
    ROOF_INPUT_LAUNCHES,
    ROOF_INPUT_SERIAL,
    ROOF_INPUT_HOST_TIME,
    ROOF_INPUT_BLOCKS,
    ROOF_INPUT_TOP,
    ROOF_INPUT_FROM,
    ROOF_INPUT_MEASURED,
    ROOF_INPUT_WHY,
    ROOF_INPUT_TILING,
    ROOF_INPUT_ADVISE,
    ROOF_INPUT_TILE,
    ROOF_INPUT_STAGES,
    ROOF_INPUT_CLUSTER,
    ROOF_INPUT_EXPLAIN,
    ROOF_INPUT_FORMATS,
    ROOF_INPUT_OBJECTIVE,
    ROOF_INPUT_BY,
    ROOF_INPUT_KIND,
    ROOF_INPUT_MAX_ACCURACY_LOSS,
    ROOF_INPUT_NATIVE_ONLY,
    ROOF_INPUT_MAX_TTFT,
    ROOF_INPUT_MAX_TPOT,
    ROOF_INPUT_MIN_TOKENS_PER_S,
    ROOF_INPUT_CONCURRENCY,
    ROOF_INPUT_MAX_COST,
    ROOF_INPUT_MAX_POWER,
    ROOF_INPUT_PRICE,
    ROOF_INPUT_ENGINE,
    ROOF_INPUT_EMIT,
    ROOF_INPUT_RATE,
    ROOF_INPUT_RATE_TRACE,
    ROOF_INPUT_ARRIVALS,
    ROOF_INPUT_TRACE,
    ROOF_INPUT_FIT,
    ROOF_INPUT_PREFIX_CACHE,
    ROOF_INPUT_HASH_TOKENS,
    ROOF_INPUT_REQUESTS,
    ROOF_INPUT_MAX_NUM_SEQS,
    ROOF_INPUT_RECV_INTERVAL,
    ROOF_INPUT_SEED,
    ROOF_INPUT_WARM_UP,
    ROOF_INPUT_ROUTER,
    ROOF_INPUT_PREFILL_COPIES,
    ROOF_INPUT_PREFILL_SPLIT,
    ROOF_INPUT_STEP_SCALE,
    ROOF_INPUT_REQUEST_OVERHEAD,
    ROOF_INPUT_ROWS,
    ROOF_INPUT_MAX_E2E,
    ROOF_INPUT_SHARD,
    ROOF_INPUT_RESUME,
    ROOF_INPUT_INTERVAL,
    ROOF_INPUT_SECONDS,
    ROOF_INPUT_DEVICE,
    ROOF_INPUT_COUNT_TOKENS,
    ROOF_INPUT_LIVE,
    ROOF_INPUT_THREADS,
    ROOF_INPUT_LISTEN,
    ROOF_INPUT_TOKEN,
    ROOF_INPUT_ALLOW_HOST,
    ROOF_INPUT_MAX_ROWS,
    ROOF_INPUT_MAX_TIME,
    ROOF_INPUT_MAX_CONNECTIONS,
    ROOF_INPUT_SUMMARY,
    ROOF_INPUT_GROUP_BY,
    ROOF_INPUT_BELOW,
    ROOF_INPUT_COMPARE_FIT, /**< the same option as FIT */
    ROOF_INPUT_CHART,
    ROOF_INPUT_CEILINGS,
    ROOF_INPUT_LINE,
    ROOF_INPUT_ATTAINABLE,
    ROOF_INPUT_L2,
    ROOF_INPUT_BY_PHASE,
    ROOF_INPUT_EXPECTED,
    ROOF_INPUT_TITLE,
    ROOF_INPUT_SIZE,
    ROOF_INPUT_CHARSET,
    ROOF_INPUT_COLOR,
    ROOF_INPUT_UPDATE,
    ROOF_INPUT_LIKE,
    ROOF_INPUT_SAVE,
    ROOF_INPUT_RESUME_FOLDER,
    ROOF_INPUT_AGAINST,
    ROOF_INPUT_SHARED,
    ROOF_INPUT_FORMAT,
    ROOF_INPUT_COLUMNS,
    ROOF_INPUT_WIDE,
    ROOF_INPUT_OUTPUT,
    ROOF_INPUT_FOLDER, /**< the same option of measure */
    ROOF_INPUT_COUNT
};

/** Returns a row; never NULL for 0 <= id < ROOF_INPUT_COUNT. Dimensions are taken by the commands
 * that have workloads; those of models by simulate, too, and the number of tokens by monitor. */
const struct roof_input *roof_input(size_t id);
/** Returns the number of the first row with a key; ROOF_INPUT_COUNT: none has it. */
size_t roof_input_number(const char *key);
/** Returns the first row with a key; NULL: none has it. */
const struct roof_input *roof_input_find(const char *key);
/** Tells if a command takes an input. */
bool roof_input_allowed(size_t id, enum roof_command command);

/** The device when none is given. */
#define ROOF_DEFAULT_HARDWARE "dgx-spark"

/** Fails with ROOF_USAGE and "a model does not take KEY" when models (or operators) do not. */
enum roof_status roof_input_taken(const struct roof_input *input, bool model,
                                  struct roof_error *error);

/** Reads the value of a ROOF_INPUT_NUMBER from text into a struct roof_scenario. */
enum roof_status roof_input_parse_number(struct roof_scenario *scenario,
                                         const struct roof_input *input, const char *text,
                                         struct roof_error *error);

/** Reads one value of an input from text; not for ROOF_INPUT_TEXT and ROOF_INPUT_NUMBER. */
enum roof_status roof_input_parse(int64_t *out, const struct roof_input *input, const char *text,
                                  struct roof_error *error);

/** Writes one value as it stands on a command line; for the kinds that roof_input_parse reads. */
void roof_input_show(struct roof_text *out, const struct roof_input *input, int64_t value);

/** Reads all values of an input: a list, and for integers ranges too (roof_parse_values). The
 * caller owns *out: roof_values_free. */
enum roof_status roof_input_parse_list(struct roof_values *out, const struct roof_input *input,
                                       const char *text, struct roof_error *error);

#endif
