// SPDX-License-Identifier: MIT
#include "decide/synonym.h"

#include <math.h>
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

/* Tells if a key is an option with '_' for each '-'. */
static bool is_key_of(const char *key, const char *option)
{
    for (; *key == (*option == '-' ? '_' : *option); key++, option++) {
        if (*key == '\0') {
            return true;
        }
    }
    return false;
}

const struct roof_synonym *roof_synonym_of_key(const char *key)
{
    for (size_t i = 0; i < COUNT(synonyms); i++) {
        if (synonyms[i].commands == ANY && is_key_of(key, synonyms[i].option)) {
            return &synonyms[i];
        }
    }
    return NULL;
}

enum roof_status roof_synonym_value(struct roof_text *out, const struct roof_synonym *synonym,
                                    const char *value, struct roof_error *error)
{
    double fraction = 0;
    if (!synonym->complement) {
        roof_text_put(out, value);
        return out->failed ? roof_no_memory(error) : ROOF_OK;
    }
    TRY(roof_parse_number(&fraction, value, synonym->option, 0, 1, error));
    /* 1 - 0.9 is not the double 0.1; twelve digits are more than anybody gives. */
    roof_text_number(out, round((1 - fraction) * 1e12) / 1e12);
    return out->failed ? roof_no_memory(error) : ROOF_OK;
}
