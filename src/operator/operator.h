// SPDX-License-Identifier: MIT
/**
 * Operators: from a shape and formats to work, that is FLOPs, and bytes by tensor role.
 *
 * One table row and one commented formula per operator (src/operator.c); docs/formulas.md has the
 * derivations. All tables are const; all functions may run in any number of threads and allocate
 * nothing.
 */
#ifndef ROOF_OPERATOR_OPERATOR_H
#define ROOF_OPERATOR_OPERATOR_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "catalog/hardware.h"
#include "catalog/precision.h"
#include "roofline/workload.h"

/** The values that an input takes. */
enum roof_input_kind {
    ROOF_INPUT_INTEGER,   /**< int64_t in min..max; sweep takes lists and ranges */
    ROOF_INPUT_FLAG,      /**< int64_t 0 or 1; an option without a value */
    ROOF_INPUT_CHOICE,    /**< int64_t index into choices */
    ROOF_INPUT_PRECISION, /**< enum roof_precision by name */
    ROOF_INPUT_NUMBER,    /**< double in min..max; one value only */
    ROOF_INPUT_SIZES,     /**< int64_t with several sizes of min..max, as roof_sizes_pack packs */
    ROOF_INPUT_OFFLOAD,   /**< int64_t as roof_offload_pack packs it */
    ROOF_INPUT_TEXT       /**< anything else; its command reads it */
};

#define ROOF_SIZES_MAX 3
/** Sizes with x between them, as in a tile; missing ones are 0. */
struct roof_sizes {
    int64_t size[ROOF_SIZES_MAX];
};
/** Packs sizes below 2^20 into one number, so that a sweep can go over them, and unpacks it. */
int64_t roof_sizes_pack(const struct roof_sizes *sizes);
struct roof_sizes roof_sizes_unpack(int64_t packed);
/** The value of a ROOF_INPUT_SIZES for every candidate: "all". */
#define ROOF_SIZES_ALL (-1)

/** The tile of a product that is asked for: docs/formulas.md, "Tiles". */
struct roof_tile_choice {
    int64_t tile;    /**< m x n x k, packed; 0: none; ROOF_SIZES_ALL: every usual one */
    int64_t stages;  /**< k steps in shared memory; 0: as many as fit, at most 4 */
    int64_t cluster; /**< m x n thread blocks that share loads, packed; 0: 1 x 1 */
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
    ROOF_GROUP_TILE,
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
    double least; /**< of a ROOF_INPUT_NUMBER, if it is no whole number; else min is */
    double most;  /**< of a ROOF_INPUT_NUMBER, if it is no whole number; else max is */
    int64_t zero; /**< value of the field for a given 0, because its own 0 means not given */
    int sizes;    /**< number of sizes of a ROOF_INPUT_SIZES: "2x1" has two */
    double unit;  /**< for a ROOF_INPUT_NUMBER that is a time: the seconds in a unit of its key */
    const char *const *choices; /**< NULL-terminated, for ROOF_INPUT_CHOICE and fixed texts */
    const char *value;          /**< placeholder in help ("N") */
    const char *help;
    size_t offset;      /**< into struct roof_scenario, which begins with struct roof_workload */
    bool field;         /**< the value is a field of the scenario, at offset */
    enum roof_taker of; /**< the workloads that take it */
    unsigned commands;  /**< the commands that take it (input.h); 0 for dimensions */
    bool many;          /**< may be given several times */
    bool own;           /**< an option of the program and not a key of questions: how an answer is
                             written, or what the service does */
    enum roof_group group;
};

/** Largest value of a dimension. */
#define ROOF_DIMENSION_MAX 1000000000000

/** The dimensions; each is the index of its row in roof_dimensions. */
enum roof_dimension {
#define ROOF_DIMENSION_CONSTANT(name, field) ROOF_DIM_##name,
    ROOF_DIMENSIONS(ROOF_DIMENSION_CONSTANT)
#undef ROOF_DIMENSION_CONSTANT
        ROOF_DIM_COUNT
};
extern const struct roof_input roof_dimensions[ROOF_DIM_COUNT];
/** Returns the help of a dimension of an operator, which may differ from that in its row. */
const char *roof_dimension_help(enum roof_operator op, enum roof_dimension dimension);

#define ROOF_INPUT_NAME_SIZE 40
/** Writes the option as it is typed, "-m" or "--kv-len". Returns out. */
const char *roof_input_name(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input);

/** Writes the key of an input: its own, or its option with "_" for "-". Returns out. */
const char *roof_input_key(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input);
/** Tells if a key belongs to an option: the option with "_" for "-". */
bool roof_key_is(const char *key, const char *option);
/** Tells if a key belongs to an input. */
bool roof_input_has_key(const struct roof_input *input, const char *key);
/** Writes the key with the marks of ROOF_KEY, for a message. Returns out. */
const char *roof_input_marked(char out[ROOF_INPUT_NAME_SIZE], const struct roof_input *input);

const char *roof_role_name(enum roof_role role);

/** Returns the format of a role. */
enum roof_precision roof_role_format(const struct roof_formats *formats, enum roof_role role);

/** The kinds of operators, by their limits or their parts. */
enum roof_operator_kind {
    ROOF_KIND_MATRIX,     /**< products: matrix unit where there is one for the format */
    ROOF_KIND_VECTOR,     /**< runs at the fp32 vector peak */
    ROOF_KIND_COLLECTIVE, /**< also moves bytes between devices */
    ROOF_KIND_COMPOSITE   /**< a sequence of others */
};

/** The most dimensions that an operator has. */
#define ROOF_OPERATOR_DIMS_MAX 9

struct roof_formula;

/** One row of the operator table. */
struct roof_operator_row {
    const char *name;
    const char *summary;
    enum roof_operator_kind kind;
    enum roof_dimension dims[ROOF_OPERATOR_DIMS_MAX]; /**< in the order of sweep axes and columns */
    int dim_count;
    uint64_t takes;       /**< bits (1 << dimension) of dims */
    uint64_t required;    /**< bits of the dimensions without a default */
    enum roof_role other; /**< role that meets the activations in the product */
    bool stateful;        /**< the KV role is a state that is read and written */
    enum roof_operator parts[ROOF_OPERATOR_PARTS_MAX]; /**< of a composite */
    int part_count;
    enum roof_operator fuses[ROOF_OPERATOR_PARTS_MAX]; /**< the operators that do the same without
                                                            fusion */
    int fuse_count;
    bool quantizes; /**< the output is quantised: to fp8_e4m3 where no format is given */
    void (*formula)(const struct roof_formula *formula); /**< NULL: a composite */
};
extern const struct roof_operator_row roof_operator_rows[ROOF_OPERATOR_COUNT];

static inline const struct roof_operator_row *roof_operator_row(enum roof_operator op)
{
    assert((unsigned)op < ROOF_OPERATOR_COUNT);
    return &roof_operator_rows[op];
}

/** Tells whether an operator takes a dimension. */
static inline bool roof_operator_has(enum roof_operator op, enum roof_dimension dimension)
{
    return (roof_operator_row(op)->takes >> dimension & 1U) != 0;
}

/** Returns true if an operator multiplies matrices, alone or in its parts. */
bool roof_is_product(enum roof_operator op);
/** Returns true if an operator multiplies with static weights, which can be pruned 2:4. */
bool roof_has_weights(enum roof_operator op);
/** Refuses dimensions that an operator does not have: ROOF_USAGE, "OPERATOR does not take KEY". */
enum roof_status roof_operator_takes(enum roof_operator op, enum roof_dimension dimension,
                                     struct roof_error *error);

/** Receives each step of a formula when a prediction is taken apart. */
struct roof_steps {
    /** Receives name = expression = value: a helper quantity, the FLOPs, or the elements of a
     * tensor. For a tensor, role is its role and bytes the bytes that it moves, else role is
     * ROOF_ROLE_COUNT. */
    void (*step)(void *context, const char *name, const char *expression, double value,
                 enum roof_role role, double bytes);
    void *context;
};

/** Works out the work of a resolved workload that is not a composite; trace may be NULL. */
void roof_operator_work(struct roof_work *out, const struct roof_workload *workload,
                        const struct roof_steps *trace);

/** Returns the bytes of all roles. */
static inline double roof_work_bytes(const struct roof_work *work)
{
    double bytes = 0;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        bytes += work->bytes[role];
    }
    return bytes;
}

/** Makes the parts of a workload in order: itself unless it is a composite. Returns their number.
 */
int roof_workload_parts(struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX],
                        const struct roof_workload *workload);

/** Makes the operators that do the work of a fused one as separate kernels, in order; the workload
 * is resolved, and so are they. Returns their number: 0 for an operator that is not fused. */
int roof_workload_apart(struct roof_workload parts[ROOF_OPERATOR_PARTS_MAX],
                        const struct roof_workload *workload);

/** Read and write an input's value in a struct roof_workload, or in a struct roof_scenario, which
 * begins with one. The input must be a field, and no number. */
int64_t roof_input_get(const void *asked, const struct roof_input *input);
void roof_input_put(void *asked, const struct roof_input *input, int64_t value);

#endif
