// SPDX-License-Identifier: MIT
#include "decide/synonym.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"

/* Every command. */
#define ANY (~0U)

/* Words with two meanings have two rows. */
static const struct roof_synonym synonyms[] = {
    {"isl", ROOF_INPUT_PROMPT, ANY, false},
    {"input-len", ROOF_INPUT_PROMPT, ANY, false},
    {"osl", ROOF_INPUT_GENERATE, ANY, false},
    {"output-len", ROOF_INPUT_GENERATE, ANY, false},
    {"batch-size", ROOF_DIM_BATCH, ANY, false},
    {"max-num-seqs", ROOF_DIM_BATCH, ~(unsigned)ROOF_COMMAND_SIMULATE, false},
    {"max-num-batched-tokens", ROOF_INPUT_CHUNK, ANY, false},
    {"ttft", ROOF_INPUT_MAX_TTFT, ANY, false},
    {"tpot", ROOF_INPUT_MAX_TPOT, ANY, false},
    {"gpus", ROOF_DIM_DEVICES, ANY, false},
    {"num-gpus", ROOF_DIM_DEVICES, ANY, false},
    {"system", ROOF_INPUT_HARDWARE, ANY, false},
    {"gpu", ROOF_INPUT_HARDWARE, ANY, false},
    {"backend", ROOF_INPUT_ENGINE, ROOF_COMMAND_RECOMMEND, false},
    {"backend", ROOF_INPUT_STACK, ~(unsigned)ROOF_COMMAND_RECOMMEND, false},
    {"tensor-parallel-size", ROOF_INPUT_TP, ANY, false},
    {"pipeline-parallel-size", ROOF_INPUT_PP, ANY, false},
    {"kv-cache-dtype", ROOF_INPUT_KV, ANY, false},
    {"max-model-len", ROOF_INPUT_CONTEXT, ANY, false},
    {"gpu-memory-utilization", ROOF_INPUT_RESERVE, ANY, true},
    {"num-speculative-tokens", ROOF_INPUT_DRAFT_TOKENS, ANY, false},
    {"precision", ROOF_INPUT_FORMATS, ROOF_COMMAND_RECOMMEND, false},
    {"p", ROOF_INPUT_FORMATS, ROOF_COMMAND_RECOMMEND, false},
};

_Static_assert(COUNT(synonyms) <= ROOF_SYNONYMS_MAX, "callers have room for all of them");

/* Ambiguous words, which are refused, and their most likely meaning. The first row whose option the
 * command accepts counts. */
static const struct roof_word meant[] = {
    {"b", ROOF_DIM_BATCH, NULL},
    {"b", ROOF_INPUT_CONCURRENCY, NULL},
    {"batch", ROOF_INPUT_CONCURRENCY, " (users), or with --rate --max-num-seqs"},
    {"devices", ROOF_INPUT_TP, NULL},
    {"tp-size", ROOF_INPUT_TP, NULL},
    {"pp-size", ROOF_INPUT_PP, NULL},
    {"dp-size", ROOF_INPUT_DP, NULL},
    {"ep-size", ROOF_DIM_EP, NULL},
    {"gpus", ROOF_INPUT_TP, NULL},
    {"users", ROOF_INPUT_CONCURRENCY, NULL},
    {"users", ROOF_DIM_BATCH, NULL},
    {"num-users", ROOF_INPUT_CONCURRENCY, NULL},
    {"num-users", ROOF_DIM_BATCH, NULL},
    {"concurrency", ROOF_DIM_BATCH, NULL},
    {"max-concurrency", ROOF_INPUT_CONCURRENCY, NULL},
    {"max-concurrency", ROOF_DIM_BATCH, NULL},
    {"context-length", ROOF_INPUT_CONTEXT, NULL},
    {"seq-len", ROOF_INPUT_CONTEXT, NULL},
    {"ctx-size", ROOF_INPUT_CONTEXT, NULL},
    {"ctx", ROOF_INPUT_CONTEXT, NULL},
    {"max-tokens", ROOF_INPUT_GENERATE, NULL},
    {"n-predict", ROOF_INPUT_GENERATE, NULL},
    {"weights", ROOF_INPUT_FORMATS, NULL},
    {"w", ROOF_INPUT_FORMATS, NULL},
    {"dtype", ROOF_INPUT_PRECISION_BOTH, NULL},
    {"dtype", ROOF_INPUT_FORMATS, NULL},
    {"quantization", ROOF_INPUT_PRECISION_BOTH, NULL},
    {"quantization", ROOF_INPUT_FORMATS, NULL},
    {"quant", ROOF_INPUT_PRECISION_BOTH, NULL},
    {"quant", ROOF_INPUT_FORMATS, NULL},
    {"formats", ROOF_INPUT_PRECISION_BOTH, NULL},
    {"device", ROOF_INPUT_HARDWARE, NULL},
    {"nodes", ROOF_DIM_DEVICES, NULL},
    {"num-devices", ROOF_DIM_DEVICES, NULL},
    {"total-gpus", ROOF_DIM_DEVICES, NULL},
    {"engine", ROOF_INPUT_STACK, NULL},
    {"stack", ROOF_INPUT_ENGINE, NULL},
    {"qps", ROOF_INPUT_RATE, NULL},
    {"rps", ROOF_INPUT_RATE, NULL},
    {"price", ROOF_INPUT_PRICE, NULL},
    {"prefix-cache", ROOF_INPUT_PREFIX_HIT, NULL},
    {"prefill-copies", ROOF_INPUT_KIND, " disaggregated, which tries their numbers"},
    {"pareto", ROOF_INPUT_CHART, " pareto"},
    {"latency", ROOF_INPUT_CHART, " latency"},
    {"port", ROOF_INPUT_LISTEN, " 127.0.0.1:PORT"},
    {"host", ROOF_INPUT_LISTEN, " ADDRESS:PORT"},
    {"baseline", ROOF_INPUT_EXPLAIN, " A,B"},
    {"baseline", ROOF_INPUT_AGAINST, NULL},
    {"versus", ROOF_INPUT_EXPLAIN, " A,B"},
    {"request-overhead", ROOF_INPUT_HOST_TIME, " request=TIME"},
    {"disaggregated", ROOF_INPUT_KIND, " disaggregated"},
    {"disaggregated", ROOF_INPUT_PREFILL_COPIES, NULL},
    {"disaggregation", ROOF_INPUT_KIND, " disaggregated"},
    {"disaggregation", ROOF_INPUT_PREFILL_COPIES, NULL},
    {"disagg", ROOF_INPUT_KIND, " disaggregated"},
    {"disagg", ROOF_INPUT_PREFILL_COPIES, NULL},
};

const struct roof_synonym *roof_synonyms(size_t *count)
{
    *count = COUNT(synonyms);
    return synonyms;
}

const struct roof_synonym *roof_synonym_of(const char *option, enum roof_command command)
{
    for (size_t i = 0; i < COUNT(synonyms); i++) {
        if (strcmp(synonyms[i].option, option) == 0 &&
            (synonyms[i].commands & (unsigned)command) != 0 &&
            roof_input_allowed(synonyms[i].input, command)) {
            return &synonyms[i];
        }
    }
    return NULL;
}

const struct roof_word *roof_word_meant(const char *word, enum roof_command command)
{
    for (size_t i = 0; i < COUNT(meant); i++) {
        if (strcmp(meant[i].word, word) == 0 && roof_input_allowed(meant[i].input, command)) {
            return &meant[i];
        }
    }
    return NULL;
}

const struct roof_synonym *roof_synonym_of_key(const char *key)
{
    for (size_t i = 0; i < COUNT(synonyms); i++) {
        if (synonyms[i].commands == ANY && roof_key_is(key, synonyms[i].option)) {
            return &synonyms[i];
        }
    }
    return NULL;
}

/* Returns 1 - f. 1 - 0.9 differs from the double 0.1; twelve digits suffice for any input. */
static double complement(double fraction)
{
    return round((1 - fraction) * 1e12) / 1e12;
}

enum roof_status roof_synonym_value(struct roof_text *out, const struct roof_synonym *synonym,
                                    const char *value, struct roof_error *error)
{
    double fraction = 0;
    char name[ROOF_INPUT_NAME_SIZE];
    if (!synonym->complement) {
        roof_text_put(out, value);
        return out->failed ? roof_no_memory(error) : ROOF_OK;
    }
    (void)snprintf(name, sizeof name, ROOF_KEY("%s"), synonym->option);
    for (char *dash = strchr(name, '-'); dash != NULL; dash = strchr(dash, '-')) {
        *dash = '_';
    }
    const struct roof_input *const input = roof_input(synonym->input);
    const double most = input->most > 0 ? input->most : (double)input->max;
    TRY(roof_parse_number(&fraction, value, name, complement(most), complement((double)input->min),
                          error));
    roof_text_number(out, complement(fraction));
    return out->failed ? roof_no_memory(error) : ROOF_OK;
}
