// SPDX-License-Identifier: MIT
/* The rows of the dimensions as input keys, and how any input is spelled, read and written. */
#include "operator/operator.h"

#include <assert.h>
#include <stdio.h>

static_assert(sizeof(struct roof_shape) == (ROOF_DIM_COUNT + 1) * sizeof(int64_t),
              "struct roof_shape has the dimensions, then bias, and nothing between them");

static const char *const routings[] = {
    [ROOF_ROUTING_UNIFORM] = "uniform", [ROOF_ROUTING_BALANCED] = "balanced", NULL};
static const char *const algorithms[] = {
    [ROOF_ALGORITHM_RING] = "ring", [ROOF_ALGORITHM_ONE_SHOT] = "one-shot", NULL};

/* The values that a dimension takes, by the fourth column of ROOF_DIMENSIONS. */
#define TAKES_SIZE .kind = ROOF_INPUT_INTEGER, .min = 1, .max = ROOF_DIMENSION_MAX, .value = "N"
#define TAKES_SIZE_OR_0 .kind = ROOF_INPUT_INTEGER, .max = ROOF_DIMENSION_MAX, .value = "N"
#define TAKES_FLAG .kind = ROOF_INPUT_FLAG, .max = 1
#define TAKES_ROUTING                                                                              \
    .kind = ROOF_INPUT_CHOICE, .max = 1, .choices = routings, .value = "uniform|balanced"
#define TAKES_ALGORITHM                                                                            \
    .kind = ROOF_INPUT_CHOICE, .max = 1, .choices = algorithms, .value = "ring|one-shot"

const struct roof_input roof_dimensions[ROOF_DIM_COUNT] = {
#define ROW(name, field_, option_, letter_, values, taker, help_)                                  \
    [ROOF_DIM_##name] = {.key = #field_,                                                           \
                         .option = (option_),                                                      \
                         .letter = (letter_),                                                      \
                         TAKES_##values,                                                           \
                         .help = (help_),                                                          \
                         .offset = offsetof(struct roof_workload, shape.field_),                   \
                         .field = true,                                                            \
                         .of = ROOF_OF_##taker,                                                    \
                         .group = ROOF_GROUP_WORKLOAD},
    ROOF_DIMENSIONS(ROW)
#undef ROW
};

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
