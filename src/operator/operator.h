// SPDX-License-Identifier: MIT
/**
 * Operators: from a shape and formats to work, that is FLOPs, and bytes by tensor role.
 *
 * One table row and one commented formula per operator (src/operator.c); docs/formulas.md has the
 * derivations. All tables are const; all functions may run in any number of threads and allocate
 * nothing.
 */
#ifndef ROOFLINE_OPERATOR_H
#define ROOFLINE_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/hardware.h"
#include "catalog/precision.h"
#include "roofline/error.h"

/** Append only. */
enum roof_operator {
    ROOF_OPERATOR_GEMM,
    ROOF_OPERATOR_GEMV,
    ROOF_OPERATOR_BMM,
    ROOF_OPERATOR_ATTENTION_SCORES,
    ROOF_OPERATOR_ATTENTION_VALUES,
    ROOF_OPERATOR_SOFTMAX,
    ROOF_OPERATOR_ATTENTION,
    ROOF_OPERATOR_FLASH_ATTENTION,
    ROOF_OPERATOR_MLA_DECODE,
    ROOF_OPERATOR_MLA_PREFILL,
    ROOF_OPERATOR_RMSNORM,
    ROOF_OPERATOR_LAYERNORM,
    ROOF_OPERATOR_ADD,
    ROOF_OPERATOR_SILU_MUL,
    ROOF_OPERATOR_GELU,
    ROOF_OPERATOR_QUANTIZE,
    ROOF_OPERATOR_ROPE,
    ROOF_OPERATOR_KV_APPEND,
    ROOF_OPERATOR_EMBEDDING,
    ROOF_OPERATOR_MOE,
    ROOF_OPERATOR_ROUTER,
    ROOF_OPERATOR_ALL_REDUCE,
    ROOF_OPERATOR_ALL_GATHER,
    ROOF_OPERATOR_REDUCE_SCATTER,
    ROOF_OPERATOR_ALL_TO_ALL,
    ROOF_OPERATOR_SEND,
    ROOF_OPERATOR_MOE_GATE_UP,
    ROOF_OPERATOR_MOE_DOWN,
    ROOF_OPERATOR_COUNT
};

/**
 * The dimensions of all operators, which stand here alone: X(constant, field and key, option,
 * letter or 0, values, workloads that take it (enum roof_taker), help). The fields of struct
 * roof_shape, enum roof_dimension and the rows of roof_dimensions are made from this list, in its
 * order.
 */
#define ROOF_DIMENSIONS(X)                                                                         \
    X(M, m, "m", 'm', SIZE, OPERATORS, "rows of the output (tokens)")                              \
    X(N, n, "n", 'n', SIZE, OPERATORS, "columns of the output (output features)")                  \
    X(K, k, "k", 'k', SIZE, OPERATORS, "summed dimension (input features)")                        \
    X(BATCH, batch, "batch", 0, SIZE, ALL, "independent products or sequences (default 1)")        \
    X(HEADS, heads, "heads", 0, SIZE, OPERATORS, "query heads")                                    \
    X(KV_HEADS, kv_heads, "kv-heads", 0, SIZE, OPERATORS,                                          \
      "key and value heads (default: --heads)")                                                    \
    X(HEAD_DIM, head_dim, "head-dim", 0, SIZE, OPERATORS, "elements per head")                     \
    X(QUERY_LEN, query_len, "query-len", 0, SIZE, OPERATORS,                                       \
      "tokens that ask (default 1: decode)")                                                       \
    X(KV_LEN, kv_len, "kv-len", 0, SIZE, OPERATORS, "tokens attended to, the new ones included")   \
    X(CAUSAL, causal, "causal", 0, FLAG, OPERATORS,                                                \
      "a query sees only the keys up to its own position")                                         \
    X(WINDOW, window, "window", 0, SIZE_OR_0, OPERATORS,                                           \
      "keys a query sees at most (default 0: all)")                                                \
    X(KV_LORA_RANK, kv_lora_rank, "kv-lora-rank", 0, SIZE, OPERATORS,                              \
      "elements of the MLA latent (default 512)")                                                  \
    X(QK_NOPE_HEAD_DIM, qk_nope_head_dim, "qk-nope-head-dim", 0, SIZE, OPERATORS,                  \
      "elements of Q and K without position (default 128)")                                        \
    X(QK_ROPE_HEAD_DIM, qk_rope_head_dim, "qk-rope-head-dim", 0, SIZE, OPERATORS,                  \
      "elements of Q and K with position (default 64)")                                            \
    X(V_HEAD_DIM, v_head_dim, "v-head-dim", 0, SIZE, OPERATORS, "elements of V (default 128)")     \
    X(TOKENS, tokens, "tokens", 0, SIZE, OPERATORS, "tokens (rows)")                               \
    X(HIDDEN, hidden, "hidden", 0, SIZE, OPERATORS, "elements per token (of the output)")          \
    X(GAIN, gain, "gain", 0, FLAG, OPERATORS,                                                      \
      "count the read of the norm's gain (and bias) vector as weights")                            \
    X(INTERMEDIATE, intermediate, "intermediate", 0, SIZE, OPERATORS,                              \
      "elements between the two products of an expert")                                            \
    X(EXPERTS, experts, "experts", 0, SIZE, OPERATORS, "routed experts")                           \
    X(TOP_K, top_k, "top-k", 0, SIZE, OPERATORS, "experts per token")                              \
    X(ROUTING, routing, "routing", 0, ROUTING, ALL,                                                \
      "how tokens meet experts (default uniform, at random)")                                      \
    X(EP, ep, "ep", 0, SIZE, ALL,                                                                  \
      "devices the experts are spread over; a model runs on tp x pp x ep (default 1)")             \
    X(ELEMENTS, elements, "elements", 0, SIZE, OPERATORS,                                          \
      "elements of the whole tensor (all-to-all: per device)")                                     \
    X(DEVICES, devices, "devices", 0, SIZE, OPERATORS, "devices in the group")                     \
    X(WITHIN, within, "within", 0, SIZE, OPERATORS,                                                \
      "consecutive devices that the group lies within (default: the group)")                       \
    X(ALGORITHM, algorithm, "algorithm", 0, ALGORITHM, OPERATORS,                                  \
      "how the collective sends (default ring)")

/** All dimensions of all operators; one struct, so that a sweep can address each by its offset. 0
 * means not given, and for flags and choices the default. */
struct roof_shape {
#define ROOF_SHAPE_FIELD(name, field, ...) int64_t field;
    ROOF_DIMENSIONS(ROOF_SHAPE_FIELD)
#undef ROOF_SHAPE_FIELD
    int64_t bias; /**< flag: bias vectors are added; set by models, not an input */
};

/** How tokens meet experts. */
enum roof_routing { ROOF_ROUTING_UNIFORM, ROOF_ROUTING_BALANCED };
/** How a collective sends. */
enum roof_algorithm { ROOF_ALGORITHM_RING, ROOF_ALGORITHM_ONE_SHOT };

/** Formats as given; ROOF_PRECISION_AUTO where the default rule is to decide. */
struct roof_formats {
    enum roof_precision precision; /**< weights and activations at once */
    enum roof_precision weights;
    enum roof_precision activations;
    enum roof_precision kv;
    enum roof_precision out;
    enum roof_precision compute;
};
#define ROOF_FORMATS_AUTO                                                                          \
    {                                                                                              \
        ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO,        \
            ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO                                               \
    }

/** The serving stack whose kernels run; the best: the fastest of them for the shape. */
enum roof_stack {
    ROOF_STACK_BEST,
    ROOF_STACK_TRTLLM,
    ROOF_STACK_VLLM,
    ROOF_STACK_SGLANG,
    ROOF_STACK_COUNT
};
/** The state of the cache when a kernel begins: without or with its data. */
enum roof_cache { ROOF_CACHE_COLD, ROOF_CACHE_WARM };
/** The way in which the input of a quantised product is quantised inside its expected time. */
enum roof_quantize {
    ROOF_QUANTIZE_NONE,
    ROOF_QUANTIZE_STATIC,
    ROOF_QUANTIZE_DYNAMIC,
    ROOF_QUANTIZE_BLOCK,
    ROOF_QUANTIZE_COUNT
};

/** One operator to predict. Start with ROOF_WORKLOAD_INIT. */
struct roof_workload {
    enum roof_operator op;
    struct roof_shape shape;
    struct roof_formats formats;
    int64_t sparse; /**< flag: peaks with 2:4 structured sparsity */
    /* The members below matter to the expected time only. */
    int64_t stack;              /**< enum roof_stack */
    int64_t cache;              /**< enum roof_cache */
    int64_t quantize_input;     /**< enum roof_quantize */
    int64_t working_set;        /**< bytes touched between two uses of the same data; 0: by cache */
    int64_t no_launch_overhead; /**< flag */
};
#define ROOF_WORKLOAD_INIT                                                                         \
    {                                                                                              \
        .formats = ROOF_FORMATS_AUTO                                                               \
    }

/** The values that an input takes. */
enum roof_input_kind {
    ROOF_INPUT_INTEGER,   /**< int64_t in min..max; sweep takes lists and ranges */
    ROOF_INPUT_FLAG,      /**< int64_t 0 or 1; an option without a value */
    ROOF_INPUT_CHOICE,    /**< int64_t index into choices */
    ROOF_INPUT_PRECISION, /**< enum roof_precision by name */
    ROOF_INPUT_NUMBER,    /**< double in min..max; one value only */
    ROOF_INPUT_TEXT       /**< anything else; its command reads it */
};

/** The workloads that take an input. */
enum roof_taker { ROOF_OF_ALL, ROOF_OF_OPERATORS, ROOF_OF_MODELS };

/** The heading of an input in help and manual. */
enum roof_group {
    ROOF_GROUP_COMMAND, /**< inputs of one command or two */
    ROOF_GROUP_WORKLOAD,
    ROOF_GROUP_MODEL,
    ROOF_GROUP_FORMATS,
    ROOF_GROUP_DEVICE,
    ROOF_GROUP_EXPECTED,
    ROOF_GROUP_LIMITS,
    ROOF_GROUP_OUTPUT,
    ROOF_GROUP_COUNT
};

/** One input key: the only place where its name, option, range and help stand. */
struct roof_input {
    const char *key;    /**< in JSON, CSV and check files; NULL when it is no key */
    const char *option; /**< long option without "--" */
    char letter;        /**< short option, or 0 */
    enum roof_input_kind kind;
    int64_t min;
    int64_t max;
    const char *const *choices; /**< NULL-terminated, for ROOF_INPUT_CHOICE and fixed texts */
    const char *value;          /**< placeholder in help ("N") */
    const char *help;
    size_t offset;      /**< into struct roof_scenario, which begins with struct roof_workload */
    bool field;         /**< the value is a field of what is asked, at offset */
    enum roof_taker of; /**< the workloads that take it */
    unsigned commands;  /**< the commands that take it (input.h); 0 for dimensions */
    bool many;          /**< may be given several times */
    enum roof_group group;
};

/** Largest value of a dimension. */
#define ROOF_DIMENSION_MAX 1000000000000

/** The dimensions; each is the index of its row in roof_dimensions. */
enum roof_dimension {
#define ROOF_DIMENSION_CONSTANT(name, ...) ROOF_DIM_##name,
    ROOF_DIMENSIONS(ROOF_DIMENSION_CONSTANT)
#undef ROOF_DIMENSION_CONSTANT
        ROOF_DIM_COUNT
};
extern const struct roof_input roof_dimensions[ROOF_DIM_COUNT];

#define ROOF_INPUT_NAME_SIZE 40
/** Writes the option as it is typed, "-m" or "--kv-len". Returns out. */
const char *roof_input_name(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input);

/** Writes the key of an input: its own, or its option with "_" for "-". Returns out. */
const char *roof_input_key(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input);
/** Writes the key with the marks of ROOF_KEY, for a message. Returns out. */
const char *roof_input_marked(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input);

/** The roles of the tensors that an operator touches. */
enum roof_role {
    ROOF_ROLE_WEIGHTS,
    ROOF_ROLE_ACTIVATIONS,
    ROOF_ROLE_OUT,
    ROOF_ROLE_KV,
    ROOF_ROLE_COUNT
};
const char *roof_role_name(enum roof_role role);

/** Returns the format of a role. */
enum roof_precision roof_role_format(const struct roof_formats *formats, enum roof_role role);

/** The kinds of operators, by what limits them or what they are made of. */
enum roof_operator_kind {
    ROOF_KIND_MATRIX,     /**< products: matrix unit where there is one for the format */
    ROOF_KIND_VECTOR,     /**< runs at the fp32 vector peak */
    ROOF_KIND_COLLECTIVE, /**< also moves bytes between devices */
    ROOF_KIND_COMPOSITE   /**< a sequence of others */
};

/** The most dimensions and the most parts that an operator has. */
#define ROOF_OPERATOR_DIMS_MAX 9
#define ROOF_OPERATOR_PARTS_MAX 3

/** One row of the operator table. */
struct roof_operator_row {
    const char *name;
    const char *summary;
    enum roof_operator_kind kind;
    enum roof_dimension dims[ROOF_OPERATOR_DIMS_MAX]; /**< in the order of sweep axes and columns */
    int dim_count;
    unsigned required;    /**< bits (1 << dimension) that have no default */
    enum roof_role other; /**< role that meets the activations in the product */
    enum roof_operator parts[ROOF_OPERATOR_PARTS_MAX]; /**< of a composite */
    int part_count;
};
const struct roof_operator_row *roof_operator_row(enum roof_operator op);
enum roof_status roof_operator_find(enum roof_operator *out, const char *name,
                                    struct roof_error *error);
/** Returns true if an operator multiplies matrices, alone or in its parts. */
bool roof_is_product(enum roof_operator op);
bool roof_operator_has(enum roof_operator op, enum roof_dimension dimension);
/** Refuses dimensions that an operator does not have: ROOF_USAGE, "OPERATOR does not take KEY". */
enum roof_status roof_operator_takes(enum roof_operator op, enum roof_dimension dimension,
                                     struct roof_error *error);

/**
 * Fills in every default of a workload in place and checks it: dimensions in range and consistent,
 * formats by the rules of docs/formulas.md ("Formats"). The workload is unchanged on failure.
 */
enum roof_status roof_workload_resolve(struct roof_workload *workload, struct roof_error *error);

/** The work of one operator that is not a composite. */
struct roof_work {
    double flops;                  /**< 2 per multiply-add */
    double bytes[ROOF_ROLE_COUNT]; /**< between the device's memory and its caches */
    double network_bytes;          /**< sent per device and direction; NAN: not a collective */
    double network_steps;          /**< messages one after another; 0: not a collective */
};

/** Receives each step of a formula when a prediction is taken apart. */
struct roof_steps {
    /** Is told that name = expression = value: a helper quantity, the FLOPs, or the elements of a
     * tensor. For a tensor, role is its role and bytes what it moves, else role is
     * ROOF_ROLE_COUNT. */
    void (*step)(void *context, const char *name, const char *expression, double value,
                 enum roof_role role, double bytes);
    void *context;
};

/** Works out the work of a resolved workload that is not a composite; trace may be NULL. */
void roof_operator_work(struct roof_work *out, const struct roof_workload *workload,
                        const struct roof_steps *trace);

/** Makes the parts of a workload in order: itself unless it is a composite. Returns how many. */
int roof_workload_parts(struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX],
                        const struct roof_workload *workload);

/** Read and write an input's value in a struct roof_workload, or in a struct roof_scenario, which
 * begins with one. The input must be a field, and no number. */
int64_t roof_input_get(const void *asked, const struct roof_input *input);
void roof_input_put(void *asked, const struct roof_input *input, int64_t value);

#endif
