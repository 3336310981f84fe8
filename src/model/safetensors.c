// SPDX-License-Identifier: MIT
/*
 * The headers of safetensors files (README of huggingface/safetensors): 8 bytes with the length of
 * a JSON object, then that object, which gives each tensor its dtype, shape and place. A weight may
 * consist of several tensors (values, scales, zero points): they are gathered first, from all
 * files, and then say together what the weight is stored in.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "model/model_make.h"
#include "model/safetensors.h"

#define HEADER_MAX 100000000 /* of the format itself; ours is ROOF_JSON_SIZE_MAX */
#define FILES_MAX 4096
#define TENSORS_MAX 2000000
#define FILE_NAME_MAX 255
#define RANK_MAX 8
#define INTEGER_MAX 9007199254740992.0 /* 2^53: all integers up to it are doubles */

/* --- tables -------------------------------------------------------------------------------- */

static const struct dtype {
    const char *name;
    int bits;
    int precision; /* of a weight that is only that, or -1 */
    bool real;     /* can be a scale */
} dtypes[] = {
    {"F64", 64, ROOF_PRECISION_FP64, true},
    {"F32", 32, ROOF_PRECISION_FP32, true},
    {"F16", 16, ROOF_PRECISION_FP16, true},
    {"BF16", 16, ROOF_PRECISION_BF16, true},
    {"F8_E4M3", 8, ROOF_PRECISION_FP8_E4M3, false},
    {"F8_E5M2", 8, ROOF_PRECISION_FP8_E5M2, false},
    {"I8", 8, ROOF_PRECISION_INT8, false},
    {"U8", 8, -1, false},
    {"BOOL", 8, -1, false},
    {"F8_E8M0", 8, -1, false},
    {"I16", 16, -1, false},
    {"U16", 16, -1, false},
    {"I32", 32, -1, false},
    {"U32", 32, -1, false},
    {"I64", 64, -1, false},
    {"U64", 64, -1, false},
    {"C64", 64, -1, false},
    {"F4", 4, -1, false},
    {"F6_E2M3", 6, -1, false},
    {"F6_E3M2", 6, -1, false},
};
enum { F64, F32, F16, BF16, F8_E4M3, F8_E5M2, I8, U8, BOOL, F8_E8M0, I16, U16, I32 };

/* What a tensor is to its module. */
enum part_kind {
    WEIGHT,
    BIAS,
    QWEIGHT,
    PACKED,
    BLOCKS,
    SCALE,
    SCALE_INV,
    SCALES,
    BLOCK_SCALES,
    ZEROS,
    ZERO_POINT,
    ABSMAX,
    NESTED_ABSMAX,
    STATE_NF4,
    STATE_FP4,
    SCB,
    /* these add bytes and say nothing */
    SCALE_2,
    GLOBAL_SCALE,
    INPUT_SCALE,
    INPUT_GLOBAL_SCALE,
    OUTPUT_SCALE,
    SHAPE,
    G_IDX,
    WEIGHT_G_IDX,
    QUANT_MAP,
    NESTED_QUANT_MAP,
    WEIGHT_FORMAT,
    PART_KINDS
};

static const struct {
    const char *suffix;
    enum part_kind kind;
} suffixes[] = {
    {".weight", WEIGHT},
    {"", WEIGHT},
    {".bias", BIAS},
    {"_bias", BIAS},
    {".e_score_correction_bias", BIAS},
    {".qweight", QWEIGHT},
    {".weight_packed", PACKED},
    {"_blocks", BLOCKS},
    {".weight_scale", SCALE},
    {".weight_scale_inv", SCALE_INV},
    {".scales", SCALES},
    {"_scales", BLOCK_SCALES},
    {".qzeros", ZEROS},
    {".weight_zero_point", ZERO_POINT},
    {".weight.absmax", ABSMAX},
    {".weight.nested_absmax", NESTED_ABSMAX},
    {".weight.quant_state.bitsandbytes__nf4", STATE_NF4},
    {".weight.quant_state.bitsandbytes__fp4", STATE_FP4},
    {".SCB", SCB},
    {".weight_scale_2", SCALE_2},
    {".weight_global_scale", GLOBAL_SCALE},
    {".input_scale", INPUT_SCALE},
    {".input_global_scale", INPUT_GLOBAL_SCALE},
    {".output_scale", OUTPUT_SCALE},
    {".weight_shape", SHAPE},
    {".g_idx", G_IDX},
    {".weight_g_idx", WEIGHT_G_IDX},
    {".weight.quant_map", QUANT_MAP},
    {".weight.nested_quant_map", NESTED_QUANT_MAP},
    {".weight_format", WEIGHT_FORMAT},
};

#define BIT(name) (1U << ROOF_WEIGHT_##name)
#define QKV (BIT(Q) | BIT(K) | BIT(V))
#define GATE_UP (BIT(GATE) | BIT(UP))
#define EXPERTS (BIT(EXPERT_GATE) | BIT(EXPERT_UP) | BIT(EXPERT_DOWN))

/* Modules of a layer beyond those of roof_weight_module; an expert's number is written 0. */
static const struct extra {
    const char *name;
    unsigned weights;
    bool stacked;    /* all experts in one tensor */
    bool transposed; /* Conv1D: columns first */
} extras[] = {
    {"self_attn.qkv_proj", QKV, false, false},
    {"self_attn.out_proj", BIT(O), false, false},
    {"self_attn.dense", BIT(O), false, false},
    {"attn.c_attn", QKV, false, true},
    {"attn.c_proj", BIT(O), false, true},
    {"attention.query_key_value", QKV, false, false},
    {"attention.dense", BIT(O), false, false},
    {"attention.wqkv", QKV, false, false},
    {"attention.wo", BIT(O), false, false},
    {"mlp.gate_up_proj", GATE_UP, false, false},
    {"mlp.c_fc", BIT(UP), false, true},
    {"mlp.c_proj", BIT(DOWN), false, true},
    {"mlp.fc1", BIT(UP), false, false},
    {"mlp.fc2", BIT(DOWN), false, false},
    {"fc1", BIT(UP), false, false},
    {"fc2", BIT(DOWN), false, false},
    {"mlp.dense_h_to_4h", BIT(UP), false, false},
    {"mlp.dense_4h_to_h", BIT(DOWN), false, false},
    {"feed_forward.w1", BIT(GATE), false, false},
    {"feed_forward.w3", BIT(UP), false, false},
    {"feed_forward.w2", BIT(DOWN), false, false},
    {"mlp.router", BIT(ROUTER), false, false},
    {"block_sparse_moe.gate", BIT(ROUTER), false, false},
    {"block_sparse_moe.experts.0.w1", BIT(EXPERT_GATE), false, false},
    {"block_sparse_moe.experts.0.w3", BIT(EXPERT_UP), false, false},
    {"block_sparse_moe.experts.0.w2", BIT(EXPERT_DOWN), false, false},
    {"mlp.experts.gate_up_proj", BIT(EXPERT_GATE) | BIT(EXPERT_UP), true, false},
    {"mlp.experts.down_proj", BIT(EXPERT_DOWN), true, false},
    {"mlp.shared_expert.gate_proj", BIT(SHARED_GATE), false, false},
    {"mlp.shared_expert.up_proj", BIT(SHARED_UP), false, false},
    {"mlp.shared_expert.down_proj", BIT(SHARED_DOWN), false, false},
    {"mlp.shared_expert_gate", BIT(NORM), false, false},
};

/* What lies outside the layers. */
static const struct {
    const char *name;
    enum roof_weight weight;
    bool positions;
} outside[] = {
    {"embed_tokens", ROOF_WEIGHT_EMBEDDING, false},
    {"wte", ROOF_WEIGHT_EMBEDDING, false},
    {"tok_embeddings", ROOF_WEIGHT_EMBEDDING, false},
    {"embed_in", ROOF_WEIGHT_EMBEDDING, false},
    {"embed_positions", ROOF_WEIGHT_EMBEDDING, true},
    {"wpe", ROOF_WEIGHT_EMBEDDING, true},
    {"norm", ROOF_WEIGHT_NORM, false},
    {"ln_f", ROOF_WEIGHT_NORM, false},
    {"final_layernorm", ROOF_WEIGHT_NORM, false},
    {"final_layer_norm", ROOF_WEIGHT_NORM, false},
    {"lm_head", ROOF_WEIGHT_LM_HEAD, false},
    {"embed_out", ROOF_WEIGHT_LM_HEAD, false},
    {"output", ROOF_WEIGHT_LM_HEAD, false},
};

/* Modules: weights, then extras, then what lies outside. */
#define FIRST_EXTRA ROOF_WEIGHT_COUNT
#define FIRST_OUTSIDE (ROOF_WEIGHT_COUNT + (int)COUNT(extras))

/* Before "layers.N."; the longer ones first. */
static const char *const prefixes[] = {"model.language_model.",
                                       "language_model.model.",
                                       "model.decoder.",
                                       "thinker.model.",
                                       "language_model.",
                                       "transformer.",
                                       "gpt_neox.",
                                       "decoder.",
                                       "thinker.",
                                       "model."};
static const char *const stacks[] = {"layers.", "h.", "blocks."};
/* Not of the language model, or not of its forward pass. */
static const char *const towers[] = {"vision_",      "visual.",   "vit.",       "audio_",
                                     "multi_modal",  "mm_",       "image_",     "embed_vision.",
                                     "embed_audio.", "connector", "projector.", "aligner.",
                                     "talker.",      "code2wav.", "token2wav.", "mtp."};
/* Tables that old checkpoints carry along. */
static const char *const buffers[] = {"self_attn.rotary_emb.inv_freq",
                                      "attention.rotary_emb.inv_freq",
                                      "attn.bias",
                                      "attn.masked_bias",
                                      "attention.bias",
                                      "attention.masked_bias",
                                      "self_attn.bias"};

/* --- state --------------------------------------------------------------------------------- */

struct tensor {
    const char *name;
    int dtype;
    int rank;
    int64_t size[RANK_MAX];
    int64_t elements;
    uint64_t bytes;
};

struct part {
    int32_t layer;  /* -1: outside */
    int32_t expert; /* -1: none */
    int16_t module;
    int8_t kind;
    int8_t dtype;
    int rank;
    int64_t size[4];
    int64_t elements;
    uint64_t bytes;
};

struct shape {
    int64_t rows;
    int64_t columns;
};

/* A line of an index's weight_map. */
struct entry {
    const char *tensor;
    const char *file;
    bool seen;
};

struct reading {
    struct roof_model *model;
    const char *path; /* of the file being read, for messages */
    struct roof_error *error;
    struct part *part;
    size_t parts;
    size_t capacity;
    struct entry *entry; /* by name; NULL without an index */
    size_t entries;
    bool unknown;
    int64_t extra_layers; /* behind the last, for multi-token prediction: as many may be there */
    bool unsaid;          /* and config.json does not say so */
    bool passed;          /* one of them is there */
    bool zeroless;        /* INT4 in groups that are only known with zero points */
    uint64_t bytes;
    struct shape shape[ROOF_WEIGHT_COUNT];
    struct roof_layer layer[ROOF_LAYERS_MAX];
    unsigned found[ROOF_LAYERS_MAX];      /* weights, as bits */
    int32_t experts[ROOF_LAYERS_MAX][3];  /* gates, ups and downs */
    int64_t largest[ROOF_LAYERS_MAX + 1]; /* vector of each layer, and outside: elements */
    unsigned outside;
};

#define BAD(reading, ...)                                                                          \
    roof_error_at((reading)->error, ROOF_INVALID, (reading)->path, 0, 0, __VA_ARGS__)

static enum roof_status no_memory(struct reading *r)
{
    return roof_no_memory(r->error);
}

static int64_t times(int64_t a, int64_t b)
{
    return a != 0 && b > INT64_MAX / a ? INT64_MAX : a * b;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static void put_shapes(struct shape out[ROOF_WEIGHT_COUNT], const struct roof_model *m)
{
    const int64_t h = m->hidden;
    const int64_t q = times(m->heads, m->head_dim);
    const int64_t kv = times(m->kv_heads, m->head_dim);
    const int64_t o = m->kv_lora_rank > 0 ? times(m->heads, m->v_head_dim) : q;
    const struct shape table[ROOF_WEIGHT_COUNT] = {
        [ROOF_WEIGHT_EMBEDDING] = {m->vocab, h},
        [ROOF_WEIGHT_NORM] = {1, h},
        [ROOF_WEIGHT_Q] = {q, h},
        [ROOF_WEIGHT_K] = {kv, h},
        [ROOF_WEIGHT_V] = {kv, h},
        [ROOF_WEIGHT_O] = {h, o},
        [ROOF_WEIGHT_Q_A] = {m->q_lora_rank, h},
        [ROOF_WEIGHT_Q_B] = {q, m->q_lora_rank},
        [ROOF_WEIGHT_KV_A] = {m->kv_lora_rank + m->qk_rope_head_dim, h},
        [ROOF_WEIGHT_KV_B] = {times(m->heads, m->qk_nope_head_dim + m->v_head_dim),
                              m->kv_lora_rank},
        [ROOF_WEIGHT_GATE] = {m->intermediate, h},
        [ROOF_WEIGHT_UP] = {m->intermediate, h},
        [ROOF_WEIGHT_DOWN] = {h, m->intermediate},
        [ROOF_WEIGHT_ROUTER] = {m->experts, h},
        [ROOF_WEIGHT_EXPERT_GATE] = {m->expert_intermediate, h},
        [ROOF_WEIGHT_EXPERT_UP] = {m->expert_intermediate, h},
        [ROOF_WEIGHT_EXPERT_DOWN] = {h, m->expert_intermediate},
        [ROOF_WEIGHT_SHARED_GATE] = {m->shared_intermediate, h},
        [ROOF_WEIGHT_SHARED_UP] = {m->shared_intermediate, h},
        [ROOF_WEIGHT_SHARED_DOWN] = {h, m->shared_intermediate},
        [ROOF_WEIGHT_LM_HEAD] = {m->vocab, h},
    };
    memcpy(out, table, sizeof table);
}

/* --- names --------------------------------------------------------------------------------- */

static const char *after(const char *text, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static bool among(const char *name, const char *const *list, size_t count, bool whole)
{
    for (size_t i = 0; i < count; i++) {
        const char *const rest = after(name, list[i]);
        if (rest != NULL && (!whole || *rest == '\0')) {
            return true;
        }
    }
    return false;
}

/* Digits and a dot: the number, and what follows; -1 when it is something else. */
static int32_t number(const char *text, const char **rest)
{
    int32_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value < 1000000; at++) {
        value = 10 * value + (*at - '0');
    }
    *rest = at + 1;
    return at > text && *at == '.' ? value : -1;
}

/* "layers.N.REST": N and REST; -1 for what lies outside the layers. */
static int32_t layer_of(const char *name, const char **rest)
{
    for (size_t i = 0; i < COUNT(stacks); i++) {
        const char *const behind = after(name, stacks[i]);
        const int32_t layer = behind == NULL ? -1 : number(behind, rest);
        if (layer >= 0) {
            return layer;
        }
    }
    return -1;
}

static const char *without_prefix(const char *name)
{
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        const char *const rest = after(name, prefixes[i]);
        if (rest != NULL) {
            return rest;
        }
    }
    return name;
}

static const char *module_name(int module)
{
    return module < FIRST_EXTRA     ? roof_weight_module((enum roof_weight)module)
           : module < FIRST_OUTSIDE ? extras[module - FIRST_EXTRA].name
                                    : outside[module - FIRST_OUTSIDE].name;
}

static unsigned module_weights(int module)
{
    return module < FIRST_EXTRA     ? 1U << module
           : module < FIRST_OUTSIDE ? extras[module - FIRST_EXTRA].weights
                                    : 1U << outside[module - FIRST_OUTSIDE].weight;
}

static bool is_stacked(int module)
{
    return module >= FIRST_EXTRA && module < FIRST_OUTSIDE && extras[module - FIRST_EXTRA].stacked;
}

static int find_suffix(const char *suffix)
{
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        if (strcmp(suffix, suffixes[i].suffix) == 0) {
            return (int)suffixes[i].kind;
        }
    }
    return -1;
}

/* The module of a name, and what the tensor is to it; false when either is not known. */
static bool find_module(struct part *out, const char *name, int first, int end)
{
    for (int module = first; module < end; module++) {
        if (module == ROOF_WEIGHT_EMBEDDING || module == ROOF_WEIGHT_NORM ||
            module == ROOF_WEIGHT_LM_HEAD) {
            continue; /* no layer has these */
        }
        const char *const rest = after(name, module_name(module));
        const int kind = rest == NULL ? -1 : find_suffix(rest);
        if (kind >= 0) {
            out->module = (int16_t)module;
            out->kind = (int8_t)kind;
            return true;
        }
    }
    return false;
}

/* The same below a layer: an expert's number is taken out of the name. */
static bool find_in_layer(struct part *out, const char *name)
{
    char plain[128];
    const char *const experts = strstr(name, "experts.");
    const char *rest = NULL;
    out->expert = experts == NULL ? -1 : number(experts + 8, &rest);
    if (out->expert >= 0) {
        const int length =
            snprintf(plain, sizeof plain, "%.*s0.%s", (int)(experts + 8 - name), name, rest);
        if (length < 0 || (size_t)length >= sizeof plain) {
            return false;
        }
        name = plain;
    }
    return find_module(out, name, 0, FIRST_OUTSIDE);
}

/* --- tensors ------------------------------------------------------------------------------- */

static enum roof_status add_part(struct reading *r, const struct part *part)
{
    if (r->parts == r->capacity) {
        if (r->parts >= TENSORS_MAX) {
            return BAD(r, "the files have more than %d tensors", TENSORS_MAX);
        }
        const size_t capacity = r->capacity == 0 ? 1024 : 2 * r->capacity;
        struct part *const grown = realloc(r->part, capacity * sizeof *grown);
        if (grown == NULL) {
            return no_memory(r);
        }
        r->part = grown;
        r->capacity = capacity;
    }
    r->part[r->parts++] = *part;
    return ROOF_OK;
}

static void widen(int8_t *format, int precision)
{
    if (*format == ROOF_PRECISION_AUTO || roof_precision_bits((enum roof_precision) * format) <
                                              roof_precision_bits((enum roof_precision)precision)) {
        *format = (int8_t)precision;
    }
}

/* Norms, biases, sinks: what the largest of them is stored in stands for all. Small ones, such as
 * the correction bias of a router, are often wider. */
static void add_vector(struct reading *r, int32_t layer, int dtype, int64_t elements)
{
    int8_t *const format =
        &(layer < 0 ? r->model->format : r->layer[layer].format)[ROOF_WEIGHT_NORM];
    int64_t *const largest = &r->largest[layer < 0 ? ROOF_LAYERS_MAX : layer];
    const int precision = dtypes[dtype].precision;
    if (precision >= 0 && elements >= *largest) {
        if (elements > *largest) {
            *format = ROOF_PRECISION_AUTO;
        }
        widen(format, precision);
        *largest = elements;
    }
}

/* A tensor behind the last layer, which is not read. */
static enum roof_status pass_over(struct reading *r, int64_t layer, const char *name)
{
    const int64_t layers = r->model->layers;
    r->passed = true;
    if (layer - layers < r->extra_layers) {
        return ROOF_OK;
    }
    return r->extra_layers == 0
               ? BAD(r, "%.200s: config.json says %" PRId64 " layers", name, layers)
               : BAD(r,
                     "%.200s: config.json says %" PRId64 " layers, and %" PRId64
                     " for multi-token prediction",
                     name, layers, r->extra_layers);
}

static enum roof_status add_tensor(struct reading *r, const struct tensor *t)
{
    struct part part = {.layer = -1, .expert = -1, .dtype = (int8_t)t->dtype, .rank = t->rank};
    part.elements = t->elements;
    part.bytes = t->bytes;
    for (int i = 0; i < 4; i++) {
        part.size[i] = i < t->rank ? t->size[i] : 1;
    }
    const char *const name = without_prefix(t->name);
    const char *rest = NULL;
    part.layer = layer_of(name, &rest);
    if (among(name, towers, COUNT(towers), false) || among(t->name, towers, COUNT(towers), false)) {
        return ROOF_OK;
    }
    if (part.layer >= r->model->layers) {
        return pass_over(r, part.layer, t->name);
    }
    if (part.layer < 0) {
        if (find_module(&part, name, FIRST_OUTSIDE, FIRST_OUTSIDE + (int)COUNT(outside))) {
            return add_part(r, &part);
        }
        r->unknown = true;
        return ROOF_OK;
    }
    if (among(rest, buffers, COUNT(buffers), true)) {
        return ROOF_OK;
    }
    if (find_in_layer(&part, rest)) {
        return add_part(r, &part);
    }
    if (t->rank <= 1 && dtypes[t->dtype].precision >= 0) {
        add_vector(r, part.layer, t->dtype, t->elements);
        r->bytes += t->bytes;
    } else {
        r->unknown = true;
    }
    return ROOF_OK;
}

/* An integer of the header. */
static bool read_integer(int64_t *out, const roof_json_value *value)
{
    double real = 0;
    if (!roof_json_number(&real, value) || real < 0 || real > INTEGER_MAX || real != floor(real)) {
        return false;
    }
    *out = (int64_t)real;
    return true;
}

static enum roof_status read_shape(struct reading *r, struct tensor *t,
                                   const roof_json_value *shape)
{
    bool good = roof_json_is_array(shape) && roof_json_count(shape) <= RANK_MAX;
    t->elements = 1;
    for (const roof_json_value *item = good ? roof_json_first(shape) : NULL; item != NULL && good;
         item = roof_json_next(item)) {
        int64_t *const size = &t->size[t->rank++];
        good = read_integer(size, item);
        t->elements = good ? times(t->elements, *size) : 0;
    }
    return good ? ROOF_OK
                : BAD(r, "%.200s: shape must be an array of at most %d integers from 0 to 2^53",
                      t->name, RANK_MAX);
}

static enum roof_status read_place(struct reading *r, struct tensor *t,
                                   const roof_json_value *offsets, uint64_t data)
{
    int64_t begin = 0;
    int64_t end = 0;
    const roof_json_value *const first = roof_json_first(offsets);
    if (!roof_json_is_array(offsets) || roof_json_count(offsets) != 2 ||
        !read_integer(&begin, first) || !read_integer(&end, roof_json_next(first)) || begin > end) {
        return BAD(r, "%.200s: data_offsets must be two integers, the first not above the second",
                   t->name);
    }
    if ((uint64_t)end > data) {
        return BAD(
            r, "%.200s ends at byte %" PRId64 " of the data, but the file has %" PRIu64 " of them",
            t->name, end, data);
    }
    t->bytes = (uint64_t)(end - begin);
    const int64_t bits = times(t->elements, dtypes[t->dtype].bits);
    if (bits != times(end - begin, 8) || bits == INT64_MAX) {
        return BAD(r,
                   "%.200s: its shape of %s makes %" PRId64 " bytes, but data_offsets say %" PRIu64,
                   t->name, dtypes[t->dtype].name, divide_up(bits, 8), t->bytes);
    }
    return ROOF_OK;
}

static enum roof_status read_tensor(struct reading *r, struct tensor *t,
                                    const roof_json_value *node, uint64_t data)
{
    t->name = roof_json_key(node);
    const char *const dtype = roof_json_string(roof_json_get(node, "dtype"));
    if (!roof_json_is_object(node) || dtype == NULL) {
        return BAD(r, "%.200s must be an object with dtype, shape and data_offsets", t->name);
    }
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        if (strcmp(dtype, dtypes[i].name) == 0) {
            t->dtype = (int)i;
        }
    }
    if (t->dtype < 0) {
        return BAD(r, "%.200s has the dtype %.40s, which is not known", t->name, dtype);
    }
    const enum roof_status status = read_shape(r, t, roof_json_get(node, "shape"));
    return status == ROOF_OK ? read_place(r, t, roof_json_get(node, "data_offsets"), data) : status;
}

/* Whether the index wants this tensor, and from this file. */
static enum roof_status look_up(struct reading *r, const char *name, const char *file, bool *wanted)
{
    size_t low = 0;
    size_t high = r->entries;
    *wanted = r->entry == NULL;
    while (r->entry != NULL && low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(r->entry[middle].tensor, name);
        if (order < 0) {
            low = middle + 1;
        } else if (order > 0) {
            high = middle;
        } else if (strcmp(r->entry[middle].file, file) != 0) {
            return BAD(r, "%.200s is stored here, but the index says in %.255s", name,
                       r->entry[middle].file);
        } else {
            r->entry[middle].seen = true;
            *wanted = true;
            break;
        }
    }
    r->unknown = r->unknown || !*wanted;
    return ROOF_OK;
}

static enum roof_status read_tensors(struct reading *r, const struct roof_json *json,
                                     const char *file, uint64_t data)
{
    const roof_json_value *const root = roof_json_root(json);
    uint64_t sum = 0;
    if (!roof_json_is_object(root)) {
        return BAD(r, "the header must be a JSON object");
    }
    enum roof_status status = ROOF_OK;
    for (const roof_json_value *node = roof_json_first(root); node != NULL && status == ROOF_OK;
         node = roof_json_next(node)) {
        struct tensor t = {.dtype = -1};
        bool wanted = false;
        if (strcmp(roof_json_key(node), "__metadata__") == 0) {
            continue;
        }
        status = read_tensor(r, &t, node, data);
        sum += t.bytes; /* no overflow: neither is larger than the data */
        if (status == ROOF_OK && sum > data) {
            return BAD(r, "the tensors up to %.200s have more bytes than the file: they overlap",
                       t.name);
        }
        if (status == ROOF_OK) {
            status = look_up(r, t.name, file, &wanted);
        }
        if (status == ROOF_OK && wanted) {
            status = add_tensor(r, &t);
        }
    }
    return status;
}

/* --- files --------------------------------------------------------------------------------- */

static enum roof_status read_bytes(struct reading *r, int file, void *out, size_t count,
                                   size_t from)
{
    char *const to = out;
    size_t done = 0;
    while (done < count) {
        const ssize_t got = pread(file, to + done, count - done, (off_t)(from + done));
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            return roof_error_at(r->error, ROOF_IO, r->path, 0, 0, "cannot read: %s",
                                 got < 0 ? strerror(errno) : "the file became shorter");
        }
    }
    return ROOF_OK;
}

static enum roof_status header_length(struct reading *r, int file, uint64_t size, uint64_t *out)
{
    unsigned char raw[8] = {0};
    if (size < sizeof raw) {
        return BAD(r, "not a safetensors file: %" PRIu64 " bytes are too few", size);
    }
    const enum roof_status status = read_bytes(r, file, raw, sizeof raw, 0);
    *out = 0;
    for (size_t i = 0; i < sizeof raw; i++) {
        *out |= (uint64_t)raw[i] << (8 * i);
    }
    if (status != ROOF_OK) {
        return status;
    }
    if (*out < 2 || *out > HEADER_MAX) {
        return BAD(r,
                   "not a safetensors file: its header would have %" PRIu64
                   " bytes; 2 to %d are allowed",
                   *out, HEADER_MAX);
    }
    if (*out > size - sizeof raw) {
        return BAD(r,
                   "the header has %" PRIu64 " bytes, but the file ends after %" PRIu64
                   ": it is cut off",
                   *out, size);
    }
    if (*out > (uint64_t)ROOF_JSON_SIZE_MAX) {
        return BAD(r, "the header has %" PRIu64 " bytes; at most %u are read", *out,
                   ROOF_JSON_SIZE_MAX);
    }
    return ROOF_OK;
}

static enum roof_status read_header(struct reading *r, int file, const char *name, uint64_t size)
{
    uint64_t length = 0;
    enum roof_status status = header_length(r, file, size, &length);
    if (status != ROOF_OK) {
        return status;
    }
    char *const text = malloc((size_t)length + 1);
    if (text == NULL) {
        return no_memory(r);
    }
    struct roof_json *json = NULL;
    status = read_bytes(r, file, text, (size_t)length, 8);
    if (status == ROOF_OK) {
        status = roof_json_parse(&json, text, (size_t)length, r->path, r->error);
    }
    free(text);
    if (status == ROOF_OK) {
        status = read_tensors(r, json, name, size - 8 - length);
    }
    roof_json_free(json);
    return status;
}

/* path is name in its folder; what says what it is, for a file that cannot be opened. */
static enum roof_status read_file(struct reading *r, const char *path, const char *name,
                                  const char *what)
{
    r->path = path;
    /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return roof_error_at(r->error, ROOF_IO, path, 0, 0, "cannot open%s: %s", what,
                             strerror(errno));
    }
    struct stat info;
    const bool regular = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
    const enum roof_status status =
        regular ? read_header(r, file, name, (uint64_t)info.st_size)
                : roof_error_at(r->error, ROOF_IO, path, 0, 0, "not a regular file");
    close(file);
    return status;
}

/* --- an index ------------------------------------------------------------------------------ */

static int by_tensor(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->tensor, ((const struct entry *)b)->tensor);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum roof_status read_map(struct reading *r, const roof_json_value *map)
{
    const size_t count = roof_json_count(map);
    if (!roof_json_is_object(map) || count == 0) {
        return BAD(r, "an index must have a weight_map that names the file of each tensor");
    }
    r->entry = calloc(count, sizeof *r->entry);
    if (r->entry == NULL) {
        return no_memory(r);
    }
    for (const roof_json_value *item = roof_json_first(map); item != NULL;
         item = roof_json_next(item)) {
        struct entry *const entry = &r->entry[r->entries++];
        entry->tensor = roof_json_key(item);
        entry->file = roof_json_line(item);
        const char *const file = entry->file;
        if (file == NULL || *file == '\0' || strchr(file, '/') != NULL ||
            strlen(file) > FILE_NAME_MAX || strcmp(file, ".") == 0 || strcmp(file, "..") == 0) {
            return BAD(r,
                       "weight_map: %.200s must name a file in the folder of the index, without "
                       "'/', of 1 to %d bytes",
                       entry->tensor, FILE_NAME_MAX);
        }
    }
    qsort(r->entry, r->entries, sizeof *r->entry, by_tensor);
    return ROOF_OK;
}

/* Each file of the index once, sorted; *out is for the caller to free. */
static enum roof_status list_files(struct reading *r, const char ***out, size_t *count)
{
    const char **const files = malloc(r->entries * sizeof *files);
    *out = files;
    *count = 0;
    if (files == NULL) {
        return no_memory(r);
    }
    for (size_t i = 0; i < r->entries; i++) {
        files[i] = r->entry[i].file;
    }
    qsort(files, r->entries, sizeof *files, by_text);
    for (size_t i = 0; i < r->entries; i++) {
        if (*count == 0 || strcmp(files[*count - 1], files[i]) != 0) {
            files[(*count)++] = files[i];
        }
    }
    return *count <= FILES_MAX
               ? ROOF_OK
               : BAD(r, "the index names %zu files; at most %d are read", *count, FILES_MAX);
}

static enum roof_status read_files(struct reading *r, const char *path, const char *const *files,
                                   size_t count)
{
    const char *const slash = strrchr(path, '/');
    const size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *const file = malloc(folder + FILE_NAME_MAX + 1);
    if (file == NULL) {
        return no_memory(r);
    }
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < count && status == ROOF_OK; i++) {
        memcpy(file, path, folder);
        snprintf(file + folder, FILE_NAME_MAX + 1, "%s", files[i]);
        status = read_file(r, file, files[i], " a file that the index names");
    }
    free(file);
    r->path = path;
    for (size_t i = 0; i < r->entries && status == ROOF_OK; i++) {
        if (!r->entry[i].seen) {
            status = BAD(r, "%.200s is not in %.255s, where the index says that it is",
                         r->entry[i].tensor, r->entry[i].file);
        }
    }
    return status;
}

static enum roof_status read_index(struct reading *r, const char *path)
{
    struct roof_json *json = NULL;
    const char **files = NULL;
    size_t count = 0;
    r->path = path;
    enum roof_status status = roof_json_read(&json, path, r->error);
    if (status == ROOF_OK) {
        status = read_map(r, roof_json_get(roof_json_root(json), "weight_map"));
    }
    if (status == ROOF_OK) {
        status = list_files(r, &files, &count);
    }
    if (status == ROOF_OK) {
        status = read_files(r, path, files, count);
    }
    free(files);
    free(r->entry);
    r->entry = NULL;
    roof_json_free(json);
    return status;
}

/* --- weights ------------------------------------------------------------------------------- */

/* The tensors of one weight: one of each kind at most. */
struct group {
    const struct part *first;
    const struct part *of[PART_KINDS];
    struct shape shape;
    int64_t stack;
    int64_t elements;
};

static int by_place(const void *a, const void *b)
{
    const struct part *const x = a;
    const struct part *const y = b;
    const int32_t order[][2] = {
        {x->layer, y->layer}, {x->module, y->module}, {x->expert, y->expert}, {x->kind, y->kind}};
    for (size_t i = 0; i < COUNT(order); i++) {
        if (order[i][0] != order[i][1]) {
            return order[i][0] < order[i][1] ? -1 : 1;
        }
    }
    return 0;
}

#define WHERE_SIZE 160

/* "layers.3.mlp.experts.7.up_proj" */
static const char *where(char out[WHERE_SIZE], const struct part *part)
{
    const char *const module = module_name(part->module);
    const char *const experts = strstr(module, "experts.0.");
    if (part->layer < 0) {
        snprintf(out, WHERE_SIZE, "%s", module);
    } else if (experts == NULL) {
        snprintf(out, WHERE_SIZE, "layers.%" PRId32 ".%s", part->layer, module);
    } else {
        snprintf(out, WHERE_SIZE, "layers.%" PRId32 ".%.*s%" PRId32 ".%s", part->layer,
                 (int)(experts + 8 - module), module, part->expert, experts + 10);
    }
    return out;
}

static enum roof_status bad_group(struct reading *r, const struct group *g, const char *what)
{
    char name[WHERE_SIZE];
    const struct part *p = g->first;
    for (int kind = BLOCKS; kind >= WEIGHT; kind--) {
        p = g->of[kind] != NULL && kind != BIAS ? g->of[kind] : p;
    }
    return BAD(r,
               "%s (%s of %" PRId64 " x %" PRId64 " x %" PRId64 ") %s: config.json says %" PRId64
               " x %" PRId64 "%s",
               where(name, g->first), dtypes[p->dtype].name, p->size[0], p->size[1], p->size[2],
               what, g->shape.rows, g->shape.columns, g->stack > 1 ? " for each expert" : "");
}

static bool has_size(const struct part *p, int64_t rows, int64_t columns)
{
    return p->rank == 2 && p->size[0] == rows && p->size[1] == columns;
}

/* Values that are stored one by one. */
static bool plain_fits(const struct group *g)
{
    const struct part *const p = g->of[WEIGHT];
    const int module = p->module;
    if (is_stacked(module)) {
        return p->rank == 3 && p->size[0] == g->stack && p->elements == g->elements;
    }
    const bool conv =
        module >= FIRST_EXTRA && module < FIRST_OUTSIDE && extras[module - FIRST_EXTRA].transposed;
    return has_size(p, g->shape.rows, g->shape.columns) ||
           (conv && has_size(p, g->shape.columns, g->shape.rows));
}

/* Scales that are powers of two, each for 32 values (OCP MX); bits: of a value as it is stored. */
static bool is_mx(const struct group *g, const struct part *values, const struct part *scale,
                  int64_t bits)
{
    return scale != NULL && (scale->dtype == U8 || scale->dtype == F8_E8M0) &&
           (scale->rank == 2 || scale->rank == 3) &&
           times((int64_t)values->bytes, 8) == times(g->elements, bits) &&
           times(scale->elements, 32) == g->elements &&
           times(scale->size[scale->rank - 1], 32) == g->shape.columns;
}

/* Each of these gives the format of a group, or -1. */

static int fp8_format(const struct group *g)
{
    const struct part *const p = g->of[WEIGHT];
    const struct part *const scale = g->of[SCALE_INV] != NULL ? g->of[SCALE_INV] : g->of[SCALE];
    if (scale == NULL) {
        return dtypes[p->dtype].precision;
    }
    if (is_mx(g, p, scale, 8)) {
        return p->dtype == F8_E4M3 ? ROOF_PRECISION_MXFP8_E4M3 : ROOF_PRECISION_MXFP8_E5M2;
    }
    if (!dtypes[scale->dtype].real) {
        return -1;
    }
    if (p->dtype == F8_E4M3 && p->rank == 2 && (g->of[SCALE_INV] != NULL || scale->elements > 1) &&
        has_size(scale, divide_up(p->size[0], 128), divide_up(p->size[1], 128))) {
        return ROOF_PRECISION_FP8_BLOCK128;
    }
    /* one scale for the tensor, or for each of its rows */
    return scale->elements == 1 || scale->elements == g->shape.rows ? dtypes[p->dtype].precision
                                                                    : -1;
}

/* Two values of 4 bits in a byte, and E4M3 scales for 16. */
static bool is_nvfp4(const struct group *g, const struct part *values)
{
    const struct part *const scale = g->of[SCALE];
    return scale != NULL && scale->dtype == F8_E4M3 && times(values->elements, 2) == g->elements &&
           times(scale->elements, 16) == g->elements;
}

/* Bytes that hold two values. */
static int fp4_format(const struct group *g, const struct part *values)
{
    return is_nvfp4(g, values)                 ? ROOF_PRECISION_NVFP4
           : is_mx(g, values, g->of[SCALE], 4) ? ROOF_PRECISION_MXFP4
                                               : -1;
}

static int byte_format(const struct group *g)
{
    const struct part *const p = g->of[WEIGHT];
    const int fp4 = fp4_format(g, p);
    if (fp4 >= 0) {
        return fp4;
    }
    if (p->dtype == I8 && plain_fits(g)) {
        const struct part *const scale = g->of[SCALE] != NULL ? g->of[SCALE] : g->of[SCB];
        return scale == NULL                      ? ROOF_PRECISION_INT8
               : !dtypes[scale->dtype].real       ? -1
               : scale->elements == 1             ? ROOF_PRECISION_INT8
               : scale->elements == g->shape.rows ? ROOF_PRECISION_INT8_CHANNEL
                                                  : -1;
    }
    if (g->of[ABSMAX] != NULL && times(p->elements, 2) == g->elements) {
        const bool nested = g->of[NESTED_ABSMAX] != NULL;
        return g->of[STATE_FP4] != NULL ? (nested ? -1 : ROOF_PRECISION_FP4_BNB)
               : nested                 ? ROOF_PRECISION_NF4_DQ
                                        : ROOF_PRECISION_NF4_FP32;
    }
    return -1;
}

/* GPTQ, AWQ, compressed-tensors: integers packed into words, scales for groups of inputs. */
static int packed_format(const struct group *g, const struct part *values,
                         const struct part *scales, bool zeros)
{
    static const struct {
        int64_t group;
        int zeros;
        int none;
    } formats[] = {{128, ROOF_PRECISION_INT4_G128_ZP, ROOF_PRECISION_INT4_G128},
                   /* without zero points these have no format: a few percent too many */
                   {64, ROOF_PRECISION_INT4_G64_ZP, ROOF_PRECISION_INT4_G64_ZP},
                   {32, ROOF_PRECISION_INT4_G32_ZP, ROOF_PRECISION_INT4_G32_ZP}};
    const int64_t bits = times((int64_t)values->bytes, 8);
    if (scales == NULL || !dtypes[scales->dtype].real || values->dtype != I32) {
        return -1;
    }
    if (bits == times(g->elements, 8)) {
        return ROOF_PRECISION_INT8_CHANNEL;
    }
    for (size_t i = 0; i < COUNT(formats) && bits == times(g->elements, 4); i++) {
        const int64_t groups = divide_up(g->shape.columns, formats[i].group);
        if (scales->elements == times(groups, g->shape.rows)) {
            return zeros ? formats[i].zeros : formats[i].none;
        }
    }
    return -1;
}

static int blocks_format(const struct group *g)
{
    const struct part *const scales = g->of[BLOCK_SCALES];
    const struct part *const blocks = g->of[BLOCKS];
    return scales != NULL && blocks->dtype == U8 && scales->dtype == U8 &&
                   times(blocks->elements, 2) == g->elements &&
                   times(scales->elements, 32) == g->elements
               ? ROOF_PRECISION_MXFP4
               : -1;
}

static int packed_words_format(const struct group *g, bool zeros)
{
    const struct part *const p = g->of[PACKED];
    return p->dtype == U8 ? fp4_format(g, p) : packed_format(g, p, g->of[SCALE], zeros);
}

static enum roof_status weight_format(struct reading *r, const struct group *g, int *out)
{
    const struct part *const p = g->of[WEIGHT];
    const bool zeros = g->of[ZEROS] != NULL || g->of[ZERO_POINT] != NULL;
    *out = -1;
    if (g->of[QWEIGHT] != NULL) {
        *out = packed_format(g, g->of[QWEIGHT], g->of[SCALES], zeros);
    } else if (g->of[PACKED] != NULL) {
        *out = packed_words_format(g, zeros);
    } else if (g->of[BLOCKS] != NULL) {
        *out = blocks_format(g);
    } else if (p == NULL) {
        return bad_group(r, g, "has scales or a bias, but no weight");
    } else if (p->dtype == U8 || p->dtype == I8) {
        *out = byte_format(g);
    } else if (!plain_fits(g)) {
        return bad_group(r, g, "does not have the shape of the model");
    } else if (p->dtype == F8_E4M3 || p->dtype == F8_E5M2) {
        *out = fp8_format(g);
    } else {
        *out = dtypes[p->dtype].precision;
    }
    if (!zeros && (*out == ROOF_PRECISION_INT4_G64_ZP || *out == ROOF_PRECISION_INT4_G32_ZP)) {
        r->zeroless = true;
    }
    return *out >= 0 ? ROOF_OK
                     : bad_group(r, g,
                                 "is in a format that is not known, or does not have the "
                                 "shape of the model");
}

static bool is_positions(const struct part *part)
{
    return part->module >= FIRST_OUTSIDE && outside[part->module - FIRST_OUTSIDE].positions;
}

static void put_group_shape(struct reading *r, struct group *g)
{
    const int module = g->first->module;
    const unsigned weights = module_weights(module);
    for (size_t w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((weights & (1U << w)) != 0) {
            g->shape.rows = g->shape.rows > INT64_MAX - r->shape[w].rows
                                ? INT64_MAX
                                : g->shape.rows + r->shape[w].rows;
            g->shape.columns = r->shape[w].columns;
        }
    }
    if (is_positions(g->first)) {
        g->shape.rows = r->model->position_rows;
    }
    g->stack = is_stacked(module) ? r->model->experts : 1;
    g->elements = times(g->stack, times(g->shape.rows, g->shape.columns));
}

/* How many experts a layer has of each of the three matrices. */
static enum roof_status count_experts(struct reading *r, const struct group *g, unsigned weights)
{
    const struct part *const p = g->first;
    if (p->expert >= r->model->experts) {
        char name[WHERE_SIZE];
        return BAD(r, "%s: config.json says %" PRId64 " experts", where(name, p),
                   r->model->experts);
    }
    for (unsigned i = 0; i < 3; i++) {
        if ((weights & (1U << (ROOF_WEIGHT_EXPERT_GATE + i))) != 0) {
            r->experts[p->layer][i] += (int32_t)g->stack;
        }
    }
    return ROOF_OK;
}

static enum roof_status note_weights(struct reading *r, const struct group *g, unsigned weights)
{
    const struct part *const p = g->first;
    unsigned *const found = p->layer < 0 ? &r->outside : &r->found[p->layer];
    const bool positions = is_positions(p);
    if ((weights & EXPERTS) != 0) {
        const enum roof_status status = count_experts(r, g, weights);
        if (status != ROOF_OK) {
            return status;
        }
    } else if ((*found & weights & ~BIT(NORM)) != 0 && !positions) {
        char name[WHERE_SIZE];
        return BAD(r, "%s: the weight is stored twice, under two names", where(name, p));
    }
    *found |= positions ? 0 : weights;
    return ROOF_OK;
}

static enum roof_status put_group(struct reading *r, struct group *g)
{
    const struct part *const p = g->first;
    const unsigned weights = module_weights(p->module);
    /* A copy of the embedding is not read; a bias is no copy. */
    const bool copy = weights == BIT(LM_HEAD) && r->model->tied;
    for (int kind = 0; kind < PART_KINDS; kind++) {
        const struct part *const part = copy && kind != BIAS ? NULL : g->of[kind];
        r->bytes += part == NULL ? 0 : part->bytes;
        if (part != NULL && (kind == BIAS || (kind == WEIGHT && weights == BIT(NORM)))) {
            add_vector(r, p->layer, part->dtype, part->elements);
        }
    }
    if (copy || weights == BIT(NORM)) {
        return ROOF_OK;
    }
    put_group_shape(r, g);
    int format = -1;
    enum roof_status status = weight_format(r, g, &format);
    if (status == ROOF_OK) {
        status = note_weights(r, g, weights);
    }
    if (status != ROOF_OK) {
        return status;
    }
    int8_t *const formats = p->layer < 0 ? r->model->format : r->layer[p->layer].format;
    for (size_t w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((weights & (1U << w)) != 0 && !is_positions(p)) {
            widen(&formats[w], format);
        }
    }
    return ROOF_OK;
}

static enum roof_status put_groups(struct reading *r)
{
    if (r->parts > 0) {
        qsort(r->part, r->parts, sizeof *r->part, by_place);
    }
    size_t end = 0;
    for (size_t begin = 0; begin < r->parts; begin = end) {
        struct group g = {.first = &r->part[begin]};
        for (; end < r->parts && r->part[end].layer == g.first->layer &&
               r->part[end].module == g.first->module && r->part[end].expert == g.first->expert;
             end++) {
            const struct part **const of = &g.of[r->part[end].kind];
            if (*of != NULL) {
                char name[WHERE_SIZE];
                return BAD(r, "%s is stored twice", where(name, g.first));
            }
            *of = &r->part[end];
        }
        const enum roof_status status = put_group(r, &g);
        if (status != ROOF_OK) {
            return status;
        }
    }
    return ROOF_OK;
}

/* --- the model ----------------------------------------------------------------------------- */

static unsigned needed(const struct roof_model *m, bool moe)
{
    unsigned need = BIT(O);
    need |= m->kv_lora_rank == 0 ? QKV : BIT(KV_A) | BIT(KV_B);
    if (m->kv_lora_rank > 0) {
        need |= m->q_lora_rank > 0 ? BIT(Q_A) | BIT(Q_B) : BIT(Q);
    }
    need |= moe ? BIT(ROUTER) | BIT(EXPERT_UP) | BIT(EXPERT_DOWN) : BIT(UP) | BIT(DOWN);
    need |= !m->gated ? 0 : moe ? BIT(EXPERT_GATE) : BIT(GATE);
    if (moe && m->shared_intermediate > 0) {
        need |= BIT(SHARED_UP) | BIT(SHARED_DOWN) | (m->gated ? BIT(SHARED_GATE) : 0);
    }
    return need;
}

static enum roof_status check_layer(struct reading *r, int64_t number)
{
    const struct roof_model *const m = r->model;
    const unsigned missing = needed(m, r->layer[number].moe) & ~r->found[number];
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((missing & (1U << w)) != 0) {
            return BAD(r,
                       "layers.%" PRId64 ".%s is missing: a file of several is read by their "
                       "index (model.safetensors.index.json)",
                       number, roof_weight_module((enum roof_weight)w));
        }
    }
    for (int i = 0; i < 3; i++) {
        const int32_t count = r->experts[number][i];
        if (count > 0 && count != m->experts) {
            return BAD(r, "layers.%" PRId64 ".%s: %" PRId32 " of %" PRId64 " experts are there",
                       number, roof_weight_module((enum roof_weight)(ROOF_WEIGHT_EXPERT_GATE + i)),
                       count, m->experts);
        }
    }
    return ROOF_OK;
}

static enum roof_status check_outside(struct reading *r)
{
    struct roof_model *const m = r->model;
    if ((r->outside & BIT(EMBEDDING)) == 0) {
        return BAD(r, "embed_tokens.weight is missing: a file of several is read by their index "
                      "(model.safetensors.index.json)");
    }
    if ((r->outside & BIT(LM_HEAD)) == 0) {
        if (!m->tied) {
            roof_model_note(m, "lm_head is not in the file: taken for the table of the embedding");
        }
        m->tied = true;
        m->format[ROOF_WEIGHT_LM_HEAD] = m->format[ROOF_WEIGHT_EMBEDDING];
    }
    return ROOF_OK;
}

static enum roof_status finish(struct reading *r, const char *path)
{
    struct roof_model *const m = r->model;
    r->path = path;
    enum roof_status status = put_groups(r);
    for (int64_t i = 0; i < m->layers && status == ROOF_OK; i++) {
        status = check_layer(r, i);
    }
    if (status == ROOF_OK) {
        status = check_outside(r);
    }
    if (status != ROOF_OK) {
        return status;
    }
    if (r->unknown) {
        roof_model_note(m, "some tensors of the file are not known and are not counted");
    }
    if (r->zeroless) {
        roof_model_note(m, "4-bit groups without zero points are counted with them");
    }
    if (r->passed && r->unsaid) {
        roof_model_note(m, "the layers for multi-token prediction are not counted");
    }
    m->stored = true;
    m->file_bytes = (double)r->bytes;
    roof_model_classes(m, r->layer);
    struct roof_error why = {.message = ""};
    status = roof_model_check(m, &why);
    return status == ROOF_OK ? ROOF_OK
                             : roof_error_at(r->error, status, path, 0, 0, "%s", why.message);
}

/* Layers for multi-token prediction: as many as config.json says, in itself or in the object of its
 * language model; of model types that have one and need not say so, one. */
static void expect_extra_layers(struct reading *r)
{
    static const char *const types[] = {"deepseek_v3", "deepseek_v32", "glm4_moe"};
    const roof_json_value *const root = roof_json_root(roof_model_json(r->model));
    const roof_json_value *said = NULL;
    r->unsaid = true;
    for (const roof_json_value *of = root; of != NULL;
         of = of == root ? roof_json_first(root) : roof_json_next(of)) {
        const roof_json_value *const count = roof_json_get(of, "num_nextn_predict_layers");
        const char *const type = roof_json_string(roof_json_get(of, "model_type"));
        said = said == NULL && !roof_json_is_null(count) ? count : said;
        for (size_t i = 0; i < COUNT(types); i++) {
            if (type != NULL && strcmp(type, types[i]) == 0) {
                r->extra_layers = 1;
            }
        }
    }
    if (said != NULL) {
        r->unsaid = false;
        r->extra_layers = 0;
        (void)read_integer(&r->extra_layers, said);
    }
}

static void begin(struct reading *r)
{
    expect_extra_layers(r);
    roof_model_spread(r->layer, r->model);
    memset(r->model->format, ROOF_PRECISION_AUTO, sizeof r->model->format);
    for (size_t i = 0; i < ROOF_LAYERS_MAX; i++) {
        memset(r->layer[i].format, ROOF_PRECISION_AUTO, sizeof r->layer[i].format);
    }
    put_shapes(r->shape, r->model);
}

enum roof_status roof_safetensors_read(struct roof_model *model, const char *path,
                                       struct roof_error *error)
{
    struct reading *const r = calloc(1, sizeof *r);
    if (r == NULL) {
        return roof_no_memory(error);
    }
    r->model = model;
    r->error = error;
    begin(r);
    const size_t length = strlen(path);
    const bool index = length >= 5 && strcmp(path + length - 5, ".json") == 0;
    enum roof_status status = index ? read_index(r, path) : read_file(r, path, path, "");
    if (status == ROOF_OK) {
        status = finish(r, path);
    }
    free(r->part);
    free(r);
    return status;
}
