// SPDX-License-Identifier: MIT
#include "predict/calibration_parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "catalog/registry.h"
#include "roofline/predict.h"

#define SCHEMA "roofline/calibration/1"
#define FITS_MAX 4096

/* --- parameters ---------------------------------------------------------------------------- */

#define NEEDED ROOF_UNKNOWN
#define PARAMETER(id, key, least, most, start, neutral, meaning)                                   \
    {key, least, most, start, neutral, meaning},
static const struct roof_parameter gemm_parameters[] = {
#define ROOF_GEMM_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};
static const struct roof_parameter decode_parameters[] = {
#define ROOF_DECODE_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};
static const struct roof_parameter prefill_parameters[] = {
#define ROOF_PREFILL_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};
static const struct roof_parameter mla_decode_parameters[] = {
#define ROOF_MLA_DECODE_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};
static const struct roof_parameter mla_prefill_parameters[] = {
#define ROOF_MLA_PREFILL_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};
static const struct roof_parameter moe_parameters[] = {
#define ROOF_MOE_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};
static const struct roof_parameter collective_parameters[] = {
#define ROOF_COLLECTIVE_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};
static const struct roof_parameter one_shot_parameters[] = {
#define ROOF_ONE_SHOT_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};
static const struct roof_parameter vector_parameters[] = {
#define ROOF_VECTOR_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};
static const struct roof_parameter scan_parameters[] = {
#define ROOF_SCAN_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};

static const struct roof_parameter index_parameters[] = {
#define ROOF_INDEX_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};
static const struct roof_parameter top_k_parameters[] = {
#define ROOF_TOP_K_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};
static const struct roof_parameter sparse_parameters[] = {
#define ROOF_SPARSE_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};

static const struct roof_parameter compressed_parameters[] = {
#define ROOF_COMPRESSED_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};

static const struct roof_parameter groups_parameters[] = {
#define ROOF_GROUPS_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};

static const struct roof_parameter plain_parameters[] = {
#define ROOF_PLAIN_PARAMETER PARAMETER
#include "predict/kernel_parameters.h"
};

static const struct {
    const char *name;
    const struct roof_parameter *parameter;
    size_t count;
} kernels[ROOF_KERNEL_COUNT] = {
    [ROOF_KERNEL_GEMM] = {"gemm", gemm_parameters, COUNT(gemm_parameters)},
    [ROOF_KERNEL_BMM] = {"bmm", gemm_parameters, COUNT(gemm_parameters)},
    [ROOF_KERNEL_DECODE] = {"decode", decode_parameters, COUNT(decode_parameters)},
    [ROOF_KERNEL_PREFILL] = {"prefill", prefill_parameters, COUNT(prefill_parameters)},
    [ROOF_KERNEL_MLA_DECODE] = {"mla_decode", mla_decode_parameters, COUNT(mla_decode_parameters)},
    [ROOF_KERNEL_MLA_PREFILL] = {"mla_prefill", mla_prefill_parameters,
                                 COUNT(mla_prefill_parameters)},
    [ROOF_KERNEL_MOE] = {"moe", moe_parameters, COUNT(moe_parameters)},
    [ROOF_KERNEL_NORM] = {"norm", vector_parameters, COUNT(vector_parameters)},
    [ROOF_KERNEL_ADD] = {"add", vector_parameters, COUNT(vector_parameters)},
    [ROOF_KERNEL_ACTIVATION] = {"activation", vector_parameters, COUNT(vector_parameters)},
    [ROOF_KERNEL_ROPE] = {"rope", vector_parameters, COUNT(vector_parameters)},
    [ROOF_KERNEL_QUANTIZE] = {"quantize", vector_parameters, COUNT(vector_parameters)},
    [ROOF_KERNEL_ALL_REDUCE] = {"all_reduce", collective_parameters, COUNT(collective_parameters)},
    [ROOF_KERNEL_ONE_SHOT] = {"one_shot", one_shot_parameters, COUNT(one_shot_parameters)},
    [ROOF_KERNEL_ALL_GATHER] = {"all_gather", collective_parameters, COUNT(collective_parameters)},
    [ROOF_KERNEL_REDUCE_SCATTER] = {"reduce_scatter", collective_parameters,
                                    COUNT(collective_parameters)},
    [ROOF_KERNEL_ALL_TO_ALL] = {"all_to_all", collective_parameters, COUNT(collective_parameters)},
    [ROOF_KERNEL_STATE] = {"state", vector_parameters, COUNT(vector_parameters)},
    [ROOF_KERNEL_CONV] = {"conv", vector_parameters, COUNT(vector_parameters)},
    [ROOF_KERNEL_CONV_PREFILL] = {"conv_prefill", vector_parameters, COUNT(vector_parameters)},
    [ROOF_KERNEL_ENCODER] = {"encoder", prefill_parameters, COUNT(prefill_parameters)},
    [ROOF_KERNEL_STATE_PREFILL] = {"state_prefill", scan_parameters, COUNT(scan_parameters)},
    [ROOF_KERNEL_KIMI_PREFILL] = {"kimi_prefill", scan_parameters, COUNT(scan_parameters)},
    [ROOF_KERNEL_SSD_PREFILL] = {"ssd_prefill", scan_parameters, COUNT(scan_parameters)},
    [ROOF_KERNEL_INDEX_SCORES] = {"index_scores", index_parameters, COUNT(index_parameters)},
    [ROOF_KERNEL_TOP_K] = {"top_k", top_k_parameters, COUNT(top_k_parameters)},
    [ROOF_KERNEL_SPARSE_MLA] = {"sparse_mla", sparse_parameters, COUNT(sparse_parameters)},
    [ROOF_KERNEL_COMPRESSED] = {"compressed", compressed_parameters, COUNT(compressed_parameters)},
    [ROOF_KERNEL_COMPRESSED_PREFILL] = {"compressed_prefill", groups_parameters,
                                        COUNT(groups_parameters)},
    [ROOF_KERNEL_HYPER_COLLAPSE] = {"hyper_collapse", vector_parameters, COUNT(vector_parameters)},
    [ROOF_KERNEL_HYPER_EXPAND] = {"hyper_expand", vector_parameters, COUNT(vector_parameters)},
};

const struct roof_parameter *roof_kernel_parameters(enum roof_kernel kernel, size_t *count)
{
    *count = kernels[kernel].count;
    return kernels[kernel].parameter;
}

const struct roof_parameter *roof_plain_parameters(size_t *count)
{
    *count = COUNT(plain_parameters);
    return plain_parameters;
}

const struct roof_parameter *roof_fit_parameters(const struct roof_kernel_fit *fit, size_t *count)
{
    return fit->plain ? roof_plain_parameters(count) : roof_kernel_parameters(fit->kernel, count);
}

void roof_fit_put_moved(struct roof_text *out, const struct roof_kernel_fit *fit, const char *quote)
{
    size_t count = 0;
    const struct roof_parameter *const parameter = roof_fit_parameters(fit, &count);
    const char *before = "";
    for (size_t i = 0; i < count; i++) {
        if ((fit->moved >> i & 1) != 0) {
            roof_text_printf(out, "%s%s%s%s", before, quote, parameter[i].key, quote);
            before = ", ";
        }
    }
}

const char *roof_kernel_name(enum roof_kernel kernel)
{
    return kernels[kernel].name;
}

/* --- numerics ------------------------------------------------------------------------------ */

static const char *const numerics_names[ROOF_NUMERICS_COUNT] = {
    [ROOF_NUMERICS_16BIT] = "16bit",  [ROOF_NUMERICS_FP8] = "fp8",
    [ROOF_NUMERICS_INT8] = "int8",    [ROOF_NUMERICS_FP4] = "fp4",
    [ROOF_NUMERICS_W8A16] = "w8a16",  [ROOF_NUMERICS_W4A16] = "w4a16",
    [ROOF_NUMERICS_W4A8] = "w4a8",    [ROOF_NUMERICS_32BIT] = "32bit",
    [ROOF_NUMERICS_MX4A16] = "mx4a16"};
const char *const roof_stack_names[ROOF_STACK_COUNT + 1] = {"best",   "trtllm", "vllm",
                                                            "sglang", "aiter",  "llama.cpp"};
const char *const roof_quantize_names[ROOF_QUANTIZE_COUNT + 1] = {"none", "static", "dynamic",
                                                                  "block"};

const char *roof_numerics_name(enum roof_numerics numerics)
{
    return numerics_names[numerics];
}

const char *roof_stack_name(enum roof_stack stack)
{
    return roof_stack_names[stack];
}

const char *roof_quantize_name(enum roof_quantize quantize)
{
    return roof_quantize_names[quantize];
}

enum roof_numerics roof_numerics_of(enum roof_precision weights, enum roof_precision activations)
{
    const double w = roof_precision_bits(weights);
    const double a = roof_precision_bits(activations);
    const bool integer = roof_format(activations)->family == ROOF_FAMILY_INTEGER;
    if (w > 16 || a > 16) {
        return ROOF_NUMERICS_32BIT;
    }
    if (w == 16) { /* narrower activations are widened */
        return ROOF_NUMERICS_16BIT;
    }
    if (a == 16) {
        return w >= 9                            ? ROOF_NUMERICS_COUNT
               : w >= 8                          ? ROOF_NUMERICS_W8A16
               : weights == ROOF_PRECISION_MXFP4 ? ROOF_NUMERICS_MX4A16
                                                 : ROOF_NUMERICS_W4A16;
    }
    if (a >= 8 && a < 9 && w < 9) {
        return w < 8 ? ROOF_NUMERICS_W4A8 : integer ? ROOF_NUMERICS_INT8 : ROOF_NUMERICS_FP8;
    }
    return a < 5 && w < 5 && !integer ? ROOF_NUMERICS_FP4 : ROOF_NUMERICS_COUNT;
}

/* --- reading ------------------------------------------------------------------------------- */

struct owned {
    struct roof_calibration *joined; /* the calibration that owns these fits, or NULL */
    struct roof_json *json;
    struct roof_kernel_fit *fit; /* grouped by kernel and numerics */
    /* where the fits of each kernel for each numerics begin */
    size_t first[(int)ROOF_KERNEL_COUNT * (int)ROOF_NUMERICS_COUNT + 1];
    /* The stacks with which all fits are found, a bit for each. */
    unsigned stacks[(int)ROOF_KERNEL_COUNT * (int)ROOF_NUMERICS_COUNT];
    const char **attributions;
    char *reason;
    char *collectives;
};

static enum roof_status read_name(int *out, const struct roof_json *json,
                                  const roof_json_value *object, const char *key,
                                  const char *const *names, size_t count, struct roof_error *error)
{
    const roof_json_value *const value = roof_json_get(object, key);
    const char *const text = roof_json_string(value);
    for (size_t i = 0; text != NULL && i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (int)i;
            return ROOF_OK;
        }
    }
    return roof_json_error(json, value == NULL ? object : value, error,
                           "%s is missing, or not a name that is known", key);
}

/* Reads the number of a key; value is the node, or NULL if there is none. */
static enum roof_status read_value(double *out, const struct roof_json *json,
                                   const roof_json_value *object, const roof_json_value *value,
                                   const char *key, double min, double max,
                                   struct roof_error *error)
{
    if (roof_json_number(out, value) && *out >= min && *out <= max) {
        return ROOF_OK;
    }
    char low[ROOF_QUANTITY_SIZE];
    char high[ROOF_QUANTITY_SIZE];
    return roof_json_error(json, value == NULL ? object : value, error,
                           "%s must be a number from %s to %s", key, roof_format_short(low, min),
                           roof_format_short(high, max));
}

static enum roof_status read_number(double *out, const struct roof_json *json,
                                    const roof_json_value *object, const char *key, double min,
                                    double max, struct roof_error *error)
{
    return read_value(out, json, object, roof_json_get(object, key), key, min, max, error);
}

static enum roof_status read_flag(bool *out, const struct roof_json *json,
                                  const roof_json_value *object, const char *key,
                                  struct roof_error *error)
{
    const roof_json_value *const value = roof_json_get(object, key);
    return value == NULL || roof_json_boolean(out, value)
               ? ROOF_OK
               : roof_json_error(json, value, error, "%s must be true or false", key);
}

/* Reads the formula of the parameters: that of the kernel unless the fit names another. */
static enum roof_status read_form(struct roof_kernel_fit *out, const struct roof_json *json,
                                  const roof_json_value *object, struct roof_error *error)
{
    const roof_json_value *const value = roof_json_get(object, "form");
    const char *const text = roof_json_string(value);
    out->plain = text != NULL && strcmp(text, "plain") == 0;
    return value == NULL || out->plain
               ? ROOF_OK
               : roof_json_error(json, value, error, "form must be \"plain\", or be left out");
}

/* Reads the format of weights of a fit for a single format. */
static enum roof_status read_weights(struct roof_kernel_fit *out, const struct roof_json *json,
                                     const roof_json_value *object, struct roof_error *error)
{
    const roof_json_value *const value = roof_json_get(object, "weights");
    const char *const text = roof_json_string(value);
    out->one_format = value != NULL;
    return value == NULL ||
                   (text != NULL && roof_precision_find(&out->weights, text, NULL) == ROOF_OK)
               ? ROOF_OK
               : roof_json_error(json, value, error, "weights must be the name of a precision");
}

static enum roof_status read_parameters(struct roof_kernel_fit *out, const struct roof_json *json,
                                        const roof_json_value *object, struct roof_error *error)
{
    const roof_json_value *const values = roof_json_get(object, "parameters");
    size_t count = 0;
    const struct roof_parameter *const parameter = roof_fit_parameters(out, &count);
    for (size_t i = 0; i < count; i++) {
        const struct roof_parameter *const p = &parameter[i];
        const roof_json_value *const value = roof_json_get(values, p->key);
        out->parameter[i] = p->neutral;
        if (isnan(out->parameter[i]) || value != NULL) {
            TRY(read_value(&out->parameter[i], json, values == NULL ? object : values, value,
                           p->key, p->min, p->max, error));
        }
    }
    return ROOF_OK;
}

static enum roof_status read_fit(struct roof_kernel_fit *out, const struct roof_json *json,
                                 const roof_json_value *object, struct roof_error *error)
{
    const char *kernel_names[ROOF_KERNEL_COUNT];
    for (int i = 0; i < ROOF_KERNEL_COUNT; i++) {
        kernel_names[i] = kernels[i].name;
    }
    int kernel = 0;
    int stack = 0;
    int numerics = 0;
    int quantize = 0;
    double rows = 0;
    double heads = 0;
    const struct {
        int *out;
        const char *key;
        const char *const *names;
        size_t count;
    } words[] = {{&kernel, "kernel", kernel_names, ROOF_KERNEL_COUNT},
                 {&stack, "stack", roof_stack_names, ROOF_STACK_COUNT},
                 {&numerics, "numerics", numerics_names, ROOF_NUMERICS_COUNT},
                 {&quantize, "quantize_input", roof_quantize_names, ROOF_QUANTIZE_COUNT}};
    const struct {
        double *out;
        const char *key;
        double min;
        double max;
    } numbers[] = {{&rows, "rows", 1, 1e9},
                   {&out->mape, "mape", 0, 100},
                   {&out->low, "low", 1e-3, 1},
                   {&out->high, "high", 1, 1e3}};
    for (size_t i = 0; i < COUNT(words); i++) {
        TRY(read_name(words[i].out, json, object, words[i].key, words[i].names, words[i].count,
                      error));
    }
    for (size_t i = 0; i < COUNT(numbers); i++) {
        TRY(read_number(numbers[i].out, json, object, numbers[i].key, numbers[i].min,
                        numbers[i].max, error));
    }
    const roof_json_value *const lent = roof_json_get(object, "lent");
    out->lent = roof_json_line(lent);
    if (lent != NULL && out->lent == NULL) {
        return roof_json_error(json, lent, error, "lent must be the id of a device");
    }
    out->kernel = (enum roof_kernel)kernel;
    out->stack = (enum roof_stack)stack;
    out->numerics = (enum roof_numerics)numerics;
    out->quantize = (enum roof_quantize)quantize;
    out->rows = (int64_t)rows;
    if (roof_json_get(object, "least_heads") != NULL) {
        TRY(read_number(&heads, json, object, "least_heads", 1, 1e6, error));
    }
    out->least_heads = (int64_t)heads;
    TRY(read_flag(&out->own_kv_heads, json, object, "own_kv_heads", error));
    TRY(read_weights(out, json, object, error));
    TRY(read_form(out, json, object, error));
    return read_parameters(out, json, object, error);
}

void roof_calibration_free(struct roof_calibration *calibration)
{
    if (calibration != NULL) {
        struct owned *const owned = calibration->private_data;
        roof_calibration_free(owned->joined);
        roof_json_free(owned->json);
        free(owned->fit);
        free(owned->attributions);
        free(owned->reason);
        free(owned->collectives);
        free(owned);
        free(calibration);
    }
}

/* Returns true if two fits are for the same kernels. */
static bool same_kernel(const struct roof_kernel_fit *a, const struct roof_kernel_fit *b)
{
    return a->kernel == b->kernel && a->stack == b->stack && a->numerics == b->numerics &&
           a->quantize == b->quantize && a->least_heads == b->least_heads &&
           a->own_kv_heads == b->own_kv_heads && a->one_format == b->one_format &&
           (!a->one_format || a->weights == b->weights);
}

/* Returns the group of the fits of a kernel for a pair of formats. */
static size_t group_of(enum roof_kernel kernel, enum roof_numerics numerics)
{
    return (size_t)kernel * ROOF_NUMERICS_COUNT + numerics;
}

/* Returns the first stack, as a bit, that is not among these; with it the fits common to all stacks
 * are found. */
static unsigned first_without(unsigned stacks)
{
    unsigned stack = 1U << (ROOF_STACK_BEST + 1);
    while ((stacks & stack) != 0) {
        stack <<= 1;
    }
    return stack;
}

/* Groups the fits of a kernel for a pair of formats, because each operator of a sweep looks for
 * one. */
static enum roof_status group_fits(struct owned *owned, size_t count, struct roof_error *error)
{
    struct roof_kernel_fit *const grouped = calloc(count + 1, sizeof *grouped);
    size_t next[(int)ROOF_KERNEL_COUNT * (int)ROOF_NUMERICS_COUNT];
    if (grouped == NULL) {
        return roof_no_memory(error);
    }
    for (size_t n = 0; n < count; n++) {
        owned->first[group_of(owned->fit[n].kernel, owned->fit[n].numerics) + 1]++;
    }
    for (size_t g = 0; g < COUNT(next); g++) {
        owned->first[g + 1] += owned->first[g];
        next[g] = owned->first[g];
    }
    for (size_t n = 0; n < count; n++) {
        const struct roof_kernel_fit *const fit = &owned->fit[n];
        const size_t group = group_of(fit->kernel, fit->numerics);
        grouped[next[group]++] = *fit;
        owned->stacks[group] |= 1U << fit->stack;
    }
    for (size_t g = 0; g < COUNT(next); g++) {
        const unsigned own = owned->stacks[g] & ~(1U << ROOF_STACK_BEST);
        const bool common = owned->stacks[g] != own;
        owned->stacks[g] = own | (common ? first_without(own) : 0);
    }
    free(owned->fit);
    owned->fit = grouped;
    return ROOF_OK;
}

/* Reads the fits of a calibration, each of other kernels than those before it. */
static enum roof_status read_fits(struct roof_calibration *c, const struct roof_json *json,
                                  const roof_json_value *fits, struct roof_error *error)
{
    struct owned *const owned = c->private_data;
    struct roof_kernel_fit *const fit = calloc(roof_json_count(fits) + 1, sizeof *fit);
    if (fit == NULL) {
        return roof_no_memory(error);
    }
    owned->fit = fit;
    for (const roof_json_value *item = roof_json_first(fits); item != NULL;
         item = roof_json_next(item)) {
        TRY(read_fit(&fit[c->count], json, item, error));
        for (size_t n = 0; n < c->count; n++) {
            if (same_kernel(&fit[n], &fit[c->count])) {
                return roof_json_error(json, item, error, "these kernels have a fit already");
            }
        }
        c->count++;
    }
    return group_fits(owned, c->count, error);
}

const char *roof_calibration_libraries(const struct roof_calibration *c, enum roof_stack stack)
{
    const char *const name = roof_stack_name(stack);
    const size_t size = strlen(name);
    for (size_t i = 0; c->attributions[i] != NULL; i++) {
        const char *const line = c->attributions[i];
        if (strncmp(line, name, size) == 0 && strncmp(line + size, ": ", 2) == 0) {
            return line + size + 2;
        }
    }
    return NULL;
}

/* Gives each fit the device that was measured, the versions of its libraries, and the note of the
 * document, if it has one. */
static enum roof_status describe_fits(struct roof_calibration *c, const struct roof_json *json,
                                      struct roof_error *error)
{
    struct owned *const owned = c->private_data;
    const roof_json_value *const value = roof_json_get(roof_json_root(json), "note");
    const char *const note = roof_json_line(value);
    for (size_t n = 0; n < c->count; n++) {
        struct roof_kernel_fit *const fit = &owned->fit[n];
        fit->device = fit->lent != NULL ? fit->lent : c->id;
        fit->note = note;
        fit->libraries = fit->lent != NULL ? NULL : roof_calibration_libraries(c, fit->stack);
    }
    return value != NULL && note == NULL
               ? roof_json_error(json, value, error, "note must be a line of text")
               : ROOF_OK;
}

/* Fills in a calibration that has its json already. */
static enum roof_status read_calibration(struct roof_calibration *c, struct roof_error *error)
{
    static const char *const none[] = {NULL};
    struct owned *const owned = c->private_data;
    const struct roof_json *const json = owned->json;
    const roof_json_value *const root = roof_json_root(json);
    const roof_json_value *const schema = roof_json_get(root, "schema");
    const roof_json_value *const fits = roof_json_get(root, "fits");
    const roof_json_value *const attributions = roof_json_get(root, "attributions");
    if (roof_json_string(schema) == NULL || strcmp(roof_json_string(schema), SCHEMA) != 0) {
        return roof_json_error(json, schema == NULL ? root : schema, error,
                               "a calibration has \"schema\": \"" SCHEMA "\"");
    }
    if (!roof_json_is_array(fits) || roof_json_count(fits) > FITS_MAX) {
        return roof_json_error(json, fits == NULL ? root : fits, error,
                               "fits must be an array of at most %d", FITS_MAX);
    }
    if (attributions != NULL) {
        TRY(roof_json_lines(&owned->attributions, json, attributions, error));
    }
    TRY(read_fits(c, json, fits, error));
    const char *const id = roof_json_line(roof_json_get(root, "hardware"));
    c->id = id == NULL ? roof_json_source(json) : id;
    c->attributions = owned->attributions == NULL ? none : owned->attributions;
    c->fit = owned->fit;
    return describe_fits(c, json, error);
}

/* Makes a calibration of json, which it takes over. */
static enum roof_status from_json(struct roof_calibration **out, struct roof_json *json,
                                  struct roof_error *error)
{
    struct roof_calibration *const c = calloc(1, sizeof *c);
    struct owned *const owned = calloc(1, sizeof *owned);
    if (c == NULL || owned == NULL) {
        free(c);
        free(owned);
        roof_json_free(json);
        return roof_no_memory(error);
    }
    owned->json = json;
    c->private_data = owned;
    const enum roof_status status = read_calibration(c, error);
    if (status != ROOF_OK) {
        roof_calibration_free(c);
        return status;
    }
    *out = c;
    return ROOF_OK;
}

const struct roof_registry roof_calibration_registry = {.folder = "calibration",
                                                        .noun = "calibration"};

/* Tells whether the kernel of a fit is wanted. Its name is the first string after the first colon,
 * as roof_calibration_write writes it. */
static bool wants_fit(const char *item, unsigned wanted)
{
    const char *const colon = strchr(item, ':');
    const char *const name = colon == NULL ? NULL : strchr(colon, '"');
    const size_t size = name == NULL ? 0 : strcspn(name + 1, "\"");
    int kernel = 0;
    while (kernel < ROOF_KERNEL_COUNT && (name == NULL || strlen(kernels[kernel].name) != size ||
                                          memcmp(kernels[kernel].name, name + 1, size) != 0)) {
        kernel++;
    }
    return kernel == ROOF_KERNEL_COUNT || (wanted >> kernel & 1) != 0;
}

enum roof_status roof_calibration_read(struct roof_calibration **out, const char *id,
                                       const struct roof_calibration_source *source,
                                       struct roof_error *error)
{
    const struct roof_json_filter filter = {
        .array = "fits", .wants = wants_fit, .wanted = source->wanted};
    struct roof_registry some = roof_calibration_registry;
    some.filter = source->wanted == ROOF_KERNELS_ALL ? NULL : &filter;
    struct roof_json *json = NULL;
    bool user = false;
    TRY(roof_registry_open(&json, &user, &some, id, source->directories, error));
    return from_json(out, json, error);
}

enum roof_status roof_calibration_join(struct roof_calibration *c, struct roof_calibration *other,
                                       const char *id, struct roof_error *error)
{
    struct owned *const owned = c->private_data;
    const bool own = strcmp(other->id, id) == 0;
    struct roof_kernel_fit *const all = calloc(c->count + other->count + 1, sizeof *all);
    owned->joined = other;
    if (all == NULL) {
        return roof_no_memory(error);
    }
    memcpy(all, owned->fit, c->count * sizeof *all);
    for (size_t n = 0; n < other->count; n++) {
        struct roof_kernel_fit *const fit = &all[c->count++];
        *fit = other->fit[n];
        fit->own = own;
        fit->lent = own ? NULL : other->id;
    }
    free(owned->fit);
    owned->fit = all;
    memset(owned->first, 0, sizeof owned->first);
    memset(owned->stacks, 0, sizeof owned->stacks);
    const enum roof_status status = group_fits(owned, c->count, error);
    c->fit = owned->fit;
    return status;
}

enum roof_status roof_calibration_explain(struct roof_calibration *c, const char *reason,
                                          struct roof_error *error)
{
    struct owned *const owned = c->private_data;
    owned->reason = strdup(reason);
    c->reason = owned->reason;
    return owned->reason == NULL ? roof_no_memory(error) : ROOF_OK;
}

enum roof_status roof_calibration_warn(struct roof_calibration *c, const char *reason,
                                       int64_t devices, struct roof_error *error)
{
    struct owned *const owned = c->private_data;
    owned->collectives = strdup(reason);
    c->collectives = owned->collectives;
    c->collectives_to = devices;
    return owned->collectives == NULL ? roof_no_memory(error) : ROOF_OK;
}

double *roof_fit_parameter(struct roof_kernel_fit *fit, const char *key)
{
    size_t count = 0;
    const struct roof_parameter *const parameter = roof_fit_parameters(fit, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(parameter[i].key, key) == 0) {
            return &fit->parameter[i];
        }
    }
    return NULL;
}

struct roof_kernel_fit *roof_calibration_fits(const struct roof_calibration *calibration)
{
    struct owned *const owned = calibration->private_data;
    return owned->fit;
}

/* Ranks the weights of a fit for a format: 2 for that format, 1 for all. */
static int nearness(const struct roof_kernel_fit *fit, enum roof_precision weights)
{
    return !fit->one_format ? 1 : fit->weights == weights ? 2 : 0;
}

/* Returns true if a kernel is for only some numbers of heads. */
static bool is_special(const struct roof_kernel_fit *fit)
{
    return fit->least_heads > 0 || fit->own_kv_heads;
}

/* Returns true if a kernel is for the heads of a shape; NULL: any. */
static bool takes_heads(const struct roof_kernel_fit *fit, const struct roof_shape *shape)
{
    return !is_special(fit) || (shape != NULL && shape->heads >= fit->least_heads &&
                                (!fit->own_kv_heads || shape->heads == shape->kv_heads));
}

/* Returns true if a is preferred to b: a fit for the stack itself, else for only some heads, else
 * for the format of the weights, else with the simplest quantisation. */
static bool better(const struct roof_kernel_fit *a, const struct roof_kernel_fit *b,
                   enum roof_stack stack, enum roof_precision weights)
{
    if (b == NULL || (a->stack == stack) != (b->stack == stack)) {
        return b == NULL || a->stack == stack;
    }
    if (is_special(a) != is_special(b)) {
        return is_special(a);
    }
    if (nearness(a, weights) != nearness(b, weights)) {
        return nearness(a, weights) > nearness(b, weights);
    }
    return a->quantize < b->quantize;
}

const struct roof_kernel_fit *roof_calibration_of(const struct roof_calibration *calibration,
                                                  enum roof_stack stack)
{
    size_t i = 0;
    while (i < calibration->count && calibration->fit[i].stack != stack) {
        i++;
    }
    return i < calibration->count ? &calibration->fit[i] : NULL;
}

unsigned roof_calibration_stacks(const struct roof_calibration *calibration,
                                 enum roof_kernel kernel, enum roof_numerics numerics)
{
    const struct owned *const owned = calibration->private_data;
    return owned == NULL ? ~0U : owned->stacks[group_of(kernel, numerics)];
}

bool roof_calibration_measures(const struct roof_calibration *calibration, enum roof_kernel kernel)
{
    const struct owned *const owned = calibration->private_data;
    if (owned != NULL && kernel < ROOF_KERNEL_COUNT) {
        const size_t *const first = &owned->first[group_of(kernel, (enum roof_numerics)0)];
        return first[0] < first[ROOF_NUMERICS_COUNT];
    }
    size_t i = 0;
    while (i < calibration->count && calibration->fit[i].kernel != kernel) {
        i++;
    }
    return i < calibration->count;
}

const struct roof_kernel_fit *
roof_calibration_find_for(const struct roof_calibration *calibration, enum roof_kernel kernel,
                          enum roof_stack stack, enum roof_numerics numerics,
                          enum roof_quantize quantize, enum roof_precision weights,
                          const struct roof_shape *shape)
{
    const struct roof_kernel_fit *found = NULL;
    const struct owned *const owned = calibration->private_data; /* NULL: made by hand */
    const size_t group = group_of(kernel, numerics);
    const size_t end = owned == NULL ? calibration->count : owned->first[group + 1];
    for (size_t i = owned == NULL ? 0 : owned->first[group]; i < end; i++) {
        const struct roof_kernel_fit *const fit = &calibration->fit[i];
        if (fit->stack != stack && fit->stack != ROOF_STACK_BEST) {
            continue; /* first, because it leaves out most fits of a group */
        }
        /* The kernel without its quantisation is the same in all fits. */
        const bool able = (quantize == ROOF_QUANTIZE_NONE || fit->quantize == quantize) &&
                          takes_heads(fit, shape);
        if (fit->kernel == kernel && fit->numerics == numerics && able &&
            better(fit, found, stack, weights)) {
            found = fit;
        }
    }
    return found;
}

const struct roof_kernel_fit *roof_calibration_find(const struct roof_calibration *calibration,
                                                    enum roof_kernel kernel, enum roof_stack stack,
                                                    enum roof_numerics numerics,
                                                    enum roof_quantize quantize)
{
    return roof_calibration_find_for(calibration, kernel, stack, numerics, quantize,
                                     ROOF_PRECISION_AUTO, NULL);
}
