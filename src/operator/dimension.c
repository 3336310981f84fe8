// SPDX-License-Identifier: MIT
/* The dimensions as rows of input keys, and functions that spell, read and write any input. */
#include "operator/operator.h"

#include <assert.h>
#include <stdio.h>

static_assert(sizeof(struct roof_shape) == (ROOF_DIM_COUNT + 1) * sizeof(int64_t),
              "struct roof_shape has the dimensions, then bias, and nothing between them");

static const char *const routings[] = {[ROOF_ROUTING_UNIFORM] = "uniform",
                                       [ROOF_ROUTING_BALANCED] = "balanced",
                                       [ROOF_ROUTING_FEWEST] = "fewest",
                                       NULL};
static const char *const algorithms[] = {
    [ROOF_ALGORITHM_RING] = "ring", [ROOF_ALGORITHM_ONE_SHOT] = "one-shot", NULL};

/* The values that a dimension takes, by the third column of ROW. */
#define TAKES_SIZE .kind = ROOF_INPUT_INTEGER, .min = 1, .max = ROOF_DIMENSION_MAX, .value = "N"
#define TAKES_SIZE_OR_0 .kind = ROOF_INPUT_INTEGER, .max = ROOF_DIMENSION_MAX, .value = "N"
#define TAKES_FLAG .kind = ROOF_INPUT_FLAG, .max = 1
#define TAKES_ROUTING                                                                              \
    .kind = ROOF_INPUT_CHOICE, .max = ROOF_ROUTING_FEWEST, .choices = routings,                    \
    .value = "uniform|balanced|fewest"
#define TAKES_ALGORITHM                                                                            \
    .kind = ROOF_INPUT_CHOICE, .max = 1, .choices = algorithms, .value = "ring|one-shot"

#define ROW(name, option_, letter_, values, taker, help_)                                          \
    [ROOF_DIM_##name] = {.key = key_##name,                                                        \
                         .option = (option_),                                                      \
                         .letter = (letter_),                                                      \
                         TAKES_##values,                                                           \
                         .help = (help_),                                                          \
                         .offset = offset_##name,                                                  \
                         .field = true,                                                            \
                         .of = ROOF_OF_##taker,                                                    \
                         .group = ROOF_GROUP_WORKLOAD}

/* Each row has the key and the place of its field. */
enum {
#define OFFSET(name, field) offset_##name = offsetof(struct roof_workload, shape.field),
    ROOF_DIMENSIONS(OFFSET)
#undef OFFSET
};
#define KEY(name, field) static const char key_##name[] = #field;
ROOF_DIMENSIONS(KEY)
#undef KEY

/* The columns are the constant, option, letter or 0, values, workloads that take it (enum
 * roof_taker), and help. */
const struct roof_input roof_dimensions[ROOF_DIM_COUNT] = {
    ROW(M, "m", 'm', SIZE, OPERATORS, "rows of the output (tokens)"),
    ROW(N, "n", 'n', SIZE, OPERATORS, "columns of the output (output features)"),
    ROW(K, "k", 'k', SIZE, OPERATORS, "inner dimension that is summed over (input features)"),
    ROW(BATCH, "batch", 0, SIZE, ALL, "independent products, or sequences (default 1)"),
    ROW(HEADS, "heads", 0, SIZE, OPERATORS, "query heads"),
    ROW(KV_HEADS, "kv-heads", 0, SIZE, OPERATORS, "key and value heads (default: --heads)"),
    ROW(HEAD_DIM, "head-dim", 0, SIZE, OPERATORS, "elements per head"),
    ROW(QUERY_LEN, "query-len", 0, SIZE, OPERATORS, "query tokens (default 1: decode)"),
    ROW(KV_LEN, "kv-len", 0, SIZE, OPERATORS, "key and value tokens, including the new ones"),
    ROW(CAUSAL, "causal", 0, FLAG, OPERATORS,
        "causal mask: each query ignores the keys after its position"),
    ROW(WINDOW, "window", 0, SIZE_OR_0, OPERATORS,
        "sliding window: maximum keys per query (default 0: all)"),
    ROW(KV_LORA_RANK, "kv-lora-rank", 0, SIZE, OPERATORS,
        "elements of the MLA latent (default 512)"),
    ROW(QK_NOPE_HEAD_DIM, "qk-nope-head-dim", 0, SIZE, OPERATORS,
        "elements of Q and K without RoPE (default 128)"),
    ROW(QK_ROPE_HEAD_DIM, "qk-rope-head-dim", 0, SIZE, OPERATORS,
        "elements of Q and K with RoPE (default 64; of rope-append: --head-dim)"),
    ROW(V_HEAD_DIM, "v-head-dim", 0, SIZE, OPERATORS, "elements of V (default 128)"),
    ROW(TOKENS, "tokens", 0, SIZE, OPERATORS, "tokens (rows)"),
    ROW(HIDDEN, "hidden", 0, SIZE, OPERATORS, "elements per token (of the output)"),
    ROW(GAIN, "gain", 0, FLAG, OPERATORS,
        "count the gain (and bias) vector of the norm as weights"),
    ROW(INTERMEDIATE, "intermediate", 0, SIZE, OPERATORS, "intermediate size of an expert"),
    ROW(EXPERTS, "experts", 0, SIZE, OPERATORS, "routed experts"),
    ROW(TOP_K, "top-k", 0, SIZE, OPERATORS, "experts per token"),
    ROW(ROUTING, "routing", 0, ROUTING, ALL,
        "how tokens choose experts (default uniform: at random; fewest: all the same)"),
    ROW(EP, "ep", 0, SIZE, ALL,
        "expert-parallel size: devices that the experts are spread over (default 1)"),
    ROW(ELEMENTS, "elements", 0, SIZE, OPERATORS,
        "elements of the whole tensor (all-to-all: per device)"),
    ROW(DEVICES, "devices", 0, SIZE, OPERATORS, "devices that communicate"),
    ROW(WITHIN, "within", 0, SIZE, OPERATORS,
        "consecutive devices that contain the group (default: its size)"),
    ROW(ALGORITHM, "algorithm", 0, ALGORITHM, OPERATORS,
        "algorithm of the collective (default ring)"),
    ROW(SELECTED, "selected", 0, SIZE, OPERATORS,
        "maximum number of keys that each query attends to (default 2048)"),
    ROW(TAPS, "taps", 0, SIZE, OPERATORS,
        "positions that a convolution spans (default 4 tokens; conv2d 9, conv3d 27)"),
    ROW(STATE_SIZE, "state-size", 0, SIZE, OPERATORS,
        "elements of the state per element of a head (default 128; selective-scan 16)"),
    ROW(SCAN_CHUNK, "scan-chunk", 0, SIZE, OPERATORS, "tokens per chunk of the scan (default 64)"),
    ROW(SUBSAMPLE, "subsample", 0, SIZE, OPERATORS,
        "input positions per output position (default 1; stride 2: 4, in 3D 8)"),
    ROW(COMPRESSION, "compression", 0, SIZE, OPERATORS,
        "tokens per compressed key (0: none), or per block of keys (default 128)"),
    ROW(STREAMS, "streams", 0, SIZE, OPERATORS, "streams of the residual (default 4)"),
};
#undef ROW

/* The help of dimensions with another meaning in one operator. */
static const struct {
    enum roof_operator op;
    enum roof_dimension dimension;
    const char *help;
} own_help[] = {
    {ROOF_OPERATOR_GATED_DELTA, ROOF_DIM_HEADS, "heads of the values, each with a state"},
    {ROOF_OPERATOR_GATED_DELTA, ROOF_DIM_KV_HEADS, "heads of queries and keys (default: --heads)"},
    {ROOF_OPERATOR_GATED_DELTA, ROOF_DIM_HEAD_DIM, "elements of a head of queries and keys"},
    {ROOF_OPERATOR_GATED_DELTA, ROOF_DIM_V_HEAD_DIM, "elements of a head of values (default 128)"},
    {ROOF_OPERATOR_GATED_DELTA, ROOF_DIM_QUERY_LEN, "tokens (default 1: decode)"},
    {ROOF_OPERATOR_KIMI_DELTA, ROOF_DIM_HEADS, "heads, each with a state"},
    {ROOF_OPERATOR_KIMI_DELTA, ROOF_DIM_HEAD_DIM, "elements of a head of queries and keys"},
    {ROOF_OPERATOR_KIMI_DELTA, ROOF_DIM_V_HEAD_DIM, "elements of a head of values (default 128)"},
    {ROOF_OPERATOR_KIMI_DELTA, ROOF_DIM_QUERY_LEN, "tokens (default 1: decode)"},
    {ROOF_OPERATOR_SSD, ROOF_DIM_HEADS, "heads, each with a state"},
    {ROOF_OPERATOR_SSD, ROOF_DIM_KV_HEADS, "groups of heads that share B and C (default: --heads)"},
    {ROOF_OPERATOR_SSD, ROOF_DIM_STATE_SIZE,
     "elements of the state per element of a head (default 128)"},
    {ROOF_OPERATOR_SSD, ROOF_DIM_QUERY_LEN, "tokens (default 1: decode)"},
    {ROOF_OPERATOR_LIGHTNING, ROOF_DIM_HEADS, "heads, each with a state"},
    {ROOF_OPERATOR_LIGHTNING, ROOF_DIM_HEAD_DIM, "elements of a head of queries and keys"},
    {ROOF_OPERATOR_LIGHTNING, ROOF_DIM_V_HEAD_DIM, "elements of a head of values (default 128)"},
    {ROOF_OPERATOR_LIGHTNING, ROOF_DIM_QUERY_LEN, "tokens (default 1: decode)"},
    {ROOF_OPERATOR_SELECTIVE_SCAN, ROOF_DIM_HIDDEN, "channels, each with a state"},
    {ROOF_OPERATOR_SELECTIVE_SCAN, ROOF_DIM_STATE_SIZE, "elements of a state (default 16)"},
    {ROOF_OPERATOR_SELECTIVE_SCAN, ROOF_DIM_QUERY_LEN, "tokens (default 1: decode)"},
    {ROOF_OPERATOR_SHORT_CONV, ROOF_DIM_HIDDEN, "channels, each with its own taps"},
    {ROOF_OPERATOR_SHORT_CONV, ROOF_DIM_TAPS, "tokens that the convolution spans (default 4)"},
    {ROOF_OPERATOR_SHORT_CONV, ROOF_DIM_QUERY_LEN, "tokens (default 1: decode)"},
};

const char *roof_dimension_help(enum roof_operator op, enum roof_dimension dimension)
{
    for (size_t i = 0; i < sizeof own_help / sizeof *own_help; i++) {
        if (own_help[i].op == op && own_help[i].dimension == dimension) {
            return own_help[i].help;
        }
    }
    return roof_dimensions[dimension].help;
}

/* The bits of a size. */
#define SIZE_BITS 20

int64_t roof_sizes_pack(const struct roof_sizes *sizes)
{
    int64_t packed = 0;
    for (int i = 0; i < ROOF_SIZES_MAX; i++) {
        packed = packed << SIZE_BITS | sizes->size[i];
    }
    return packed;
}

struct roof_sizes roof_sizes_unpack(int64_t packed)
{
    struct roof_sizes sizes;
    for (int i = ROOF_SIZES_MAX; i-- > 0;) {
        sizes.size[i] = packed & ((INT64_C(1) << SIZE_BITS) - 1);
        packed >>= SIZE_BITS;
    }
    return sizes;
}

int64_t roof_input_get(const void *asked, const struct roof_input *input)
{
    const void *const at = (const char *)asked + input->offset;
    return input->kind == ROOF_INPUT_PRECISION ? *(const enum roof_precision *)at
                                               : *(const int64_t *)at;
}

void roof_input_put(void *asked, const struct roof_input *input, int64_t value)
{
    void *const at = (char *)asked + input->offset;
    if (input->kind == ROOF_INPUT_PRECISION) {
        *(enum roof_precision *)at = (enum roof_precision)value;
    } else {
        *(int64_t *)at = value == 0 ? input->zero : value;
    }
}

const char *roof_input_name(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input)
{
    const char letter[2] = {input->letter, '\0'};
    snprintf(out, ROOF_INPUT_NAME_SIZE, "%s%s", input->letter != 0 ? "-" : "--",
             input->letter != 0 ? letter : input->option);
    return out;
}

const char *roof_input_key(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input)
{
    (void)snprintf(out, ROOF_INPUT_NAME_SIZE, "%s",
                   input->key == NULL ? input->option : input->key);
    for (char *p = out; *p != '\0'; p++) {
        if (*p == '-') {
            *p = '_';
        }
    }
    return out;
}

bool roof_key_is(const char *key, const char *option)
{
    for (; *key == (*option == '-' ? '_' : *option); key++, option++) {
        if (*key == '\0') {
            return true;
        }
    }
    return false;
}

bool roof_input_has_key(const struct roof_input *input, const char *key)
{
    return roof_key_is(key, input->key == NULL ? input->option : input->key);
}

const char *roof_input_marked(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input)
{
    char key[ROOF_INPUT_NAME_SIZE];
    (void)snprintf(out, ROOF_INPUT_NAME_SIZE, ROOF_KEY("%.36s"), roof_input_key(key, input));
    return out;
}
