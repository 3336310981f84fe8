// SPDX-License-Identifier: MIT
/*
 * The header of a GGUF file (ggml-org/ggml docs/gguf.md): metadata, then the name, shape, type and
 * place of each tensor. It is read once from front to back through one small buffer; what is not
 * needed, such as the vocabulary, is passed over.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "model/gguf.h"
#include "model/model_make.h"

/* Far above what real files have; a header that claims more is refused. */
#define HEADER_MAX (UINT64_C(256) * 1024 * 1024)
#define ENTRIES_MAX 100000
#define TENSORS_MAX 200000
#define PARTS_MAX 4096
#define DEPTH_MAX 4
#define LIST_MAX 65536
#define NAME_MAX_BYTES 256
#define VALUE_MAX 1000000000
#define ALIGNMENT_MAX (1 << 30)
#define DIMENSIONS_MAX 4

/* --- reading ------------------------------------------------------------------------------- */

struct reader {
    int file;
    const char *path;
    struct roof_error *error;
    uint64_t size;
    uint64_t limit; /* of the header: the size, but no more than HEADER_MAX */
    uint64_t at;
    uint64_t base; /* where in the file the buffer begins */
    size_t held;
    unsigned char buffer[32768];
};

#define BAD(reader, ...)                                                                           \
    roof_error_at((reader)->error, ROOF_INVALID, (reader)->path, 0, 0, __VA_ARGS__)

static enum roof_status open_reader(struct reader *r, const char *path, const char *what,
                                    struct roof_error *error)
{
    r->path = path;
    r->error = error;
    r->at = r->base = r->held = 0;
    /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
    r->file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    if (r->file < 0 || fstat(r->file, &info) != 0) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "cannot open%s: %s", what,
                             strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return roof_error_at(error, ROOF_IO, path, 0, 0, "not a regular file");
    }
    r->size = (uint64_t)info.st_size;
    r->limit = r->size < HEADER_MAX ? r->size : HEADER_MAX;
    return ROOF_OK;
}

static enum roof_status past_end(struct reader *r)
{
    return r->limit < r->size
               ? BAD(r, "the header is larger than the %" PRIu64 " bytes that are read", r->limit)
               : BAD(r, "the file ends inside its header, after %" PRIu64 " bytes", r->size);
}

static enum roof_status fill(struct reader *r)
{
    ssize_t got = 0;
    do {
        got = pread(r->file, r->buffer, sizeof r->buffer, (off_t)r->at);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
        return roof_error_at(r->error, ROOF_IO, r->path, 0, 0, "cannot read: %s",
                             got < 0 ? strerror(errno) : "the file became shorter");
    }
    r->base = r->at;
    r->held = (size_t)got;
    return ROOF_OK;
}

static enum roof_status take(struct reader *r, void *out, size_t count)
{
    unsigned char *to = out;
    if (count > r->limit - r->at) {
        return past_end(r);
    }
    while (count > 0) {
        if (r->at < r->base || r->at - r->base >= r->held) {
            const enum roof_status status = fill(r);
            if (status != ROOF_OK) {
                return status;
            }
        }
        const size_t from = (size_t)(r->at - r->base);
        const size_t part = r->held - from < count ? r->held - from : count;
        memcpy(to, r->buffer + from, part);
        to += part;
        count -= part;
        r->at += part;
    }
    return ROOF_OK;
}

static enum roof_status skip(struct reader *r, uint64_t count)
{
    if (count > r->limit - r->at) {
        return past_end(r);
    }
    r->at += count;
    return ROOF_OK;
}

/* A little-endian number of 1 to 8 bytes. */
static enum roof_status take_number(struct reader *r, uint64_t *out, size_t bytes)
{
    unsigned char raw[8] = {0};
    const enum roof_status status = take(r, raw, bytes);
    *out = 0;
    for (size_t i = 0; i < bytes; i++) {
        *out |= (uint64_t)raw[i] << (8 * i);
    }
    return status;
}

/* A string of at most size - 1 bytes; a longer one is passed over and leaves "". NUL bytes and
 * control characters do not occur in names: such a string counts as too long. */
static enum roof_status take_string(struct reader *r, char *out, size_t size, uint64_t *length)
{
    out[0] = '\0';
    enum roof_status status = take_number(r, length, 8);
    if (status != ROOF_OK || *length >= size) {
        return status == ROOF_OK ? skip(r, *length) : status;
    }
    status = take(r, out, (size_t)*length);
    out[status == ROOF_OK ? *length : 0] = '\0';
    for (uint64_t i = 0; i < *length && status == ROOF_OK; i++) {
        if ((unsigned char)out[i] < 0x20 || out[i] == 0x7f) {
            out[0] = '\0';
            break;
        }
    }
    return status;
}

static bool ascii(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text >= 0x80) {
            return false;
        }
    }
    return true;
}

/* --- metadata ------------------------------------------------------------------------------ */

/* enum gguf_metadata_value_type */
enum { TYPE_FLOAT32 = 6, TYPE_BOOL = 7, TYPE_STRING = 8, TYPE_ARRAY = 9, TYPE_FLOAT64 = 12 };

static const struct {
    size_t bytes;
    bool whole; /* an integer, or a truth value */
    bool sign;
} value_types[] = {
    {1, true, false}, {1, true, true},  {2, true, false}, {2, true, true},   {4, true, false},
    {4, true, true},  {4, false, true}, {1, true, false}, {0, false, false}, {0, false, false},
    {8, true, false}, {8, true, true},  {8, false, true},
};

/* What the metadata says, before it is a model; 0 where nothing was said. */
struct meta {
    char architecture[64];
    char name[NAME_MAX_BYTES];
    int64_t alignment;
    int64_t part; /* of a model in several files, from 0 */
    int64_t parts;
    int64_t part_tensors; /* in all of them */
    int64_t layers;
    int64_t extra_layers; /* of these, the last: for multi-token prediction */
    int64_t hidden;
    int64_t intermediate;
    int64_t heads;
    int64_t kv_heads;
    int64_t key_length;
    int64_t value_length;
    int64_t key_length_mla;
    int64_t value_length_mla;
    int64_t q_lora_rank;
    int64_t kv_lora_rank;
    int64_t rotary_dim;
    int64_t positions;
    int64_t window;
    int64_t window_pattern;
    int64_t windows; /* entries of a pattern that is a list */
    bool windowed[ROOF_LAYERS_MAX];
    int64_t experts;
    int64_t top_k;
    int64_t expert_intermediate;
    int64_t vocab;
    int64_t parallel;
    int64_t alibi;
    int64_t layer_norm;
};

enum form {
    ONE,     /* an integer */
    EQUAL,   /* or one for each layer, all the same */
    SPARSE,  /* or one for each layer, all the same but for zeros */
    PATTERN, /* or a truth value for each layer */
    GIVEN    /* whatever it is, that it is there */
};

#define M(field) offsetof(struct meta, field)

static const struct key {
    const char *name; /* below the architecture's name unless whole */
    size_t offset;
    bool whole;
    enum form form;
    int64_t max;
} keys[] = {
    {"general.alignment", M(alignment), true, ONE, ALIGNMENT_MAX},
    {"split.no", M(part), true, ONE, UINT16_MAX},
    {"split.count", M(parts), true, ONE, UINT16_MAX},
    {"split.tensors.count", M(part_tensors), true, ONE, TENSORS_MAX},
    {"block_count", M(layers), false, ONE, ROOF_LAYERS_MAX},
    {"nextn_predict_layers", M(extra_layers), false, ONE, ROOF_LAYERS_MAX},
    {"embedding_length", M(hidden), false, ONE, VALUE_MAX},
    {"feed_forward_length", M(intermediate), false, SPARSE, VALUE_MAX},
    {"attention.head_count", M(heads), false, EQUAL, VALUE_MAX},
    {"attention.head_count_kv", M(kv_heads), false, EQUAL, VALUE_MAX},
    {"attention.key_length", M(key_length), false, ONE, VALUE_MAX},
    {"attention.value_length", M(value_length), false, ONE, VALUE_MAX},
    {"attention.key_length_mla", M(key_length_mla), false, ONE, VALUE_MAX},
    {"attention.value_length_mla", M(value_length_mla), false, ONE, VALUE_MAX},
    {"attention.q_lora_rank", M(q_lora_rank), false, ONE, VALUE_MAX},
    {"attention.kv_lora_rank", M(kv_lora_rank), false, ONE, VALUE_MAX},
    {"rope.dimension_count", M(rotary_dim), false, ONE, VALUE_MAX},
    {"context_length", M(positions), false, ONE, VALUE_MAX},
    {"attention.sliding_window", M(window), false, ONE, VALUE_MAX},
    {"attention.sliding_window_pattern", M(window_pattern), false, PATTERN, ROOF_LAYERS_MAX},
    {"expert_count", M(experts), false, ONE, VALUE_MAX},
    {"expert_used_count", M(top_k), false, ONE, VALUE_MAX},
    {"expert_feed_forward_length", M(expert_intermediate), false, ONE, VALUE_MAX},
    {"vocab_size", M(vocab), false, ONE, VALUE_MAX},
    {"use_parallel_residual", M(parallel), false, ONE, 1},
    {"attention.max_alibi_bias", M(alibi), false, GIVEN, 0},
    {"attention.layer_norm_epsilon", M(layer_norm), false, GIVEN, 0},
};

static enum roof_status take_type(struct reader *r, uint64_t *out)
{
    const enum roof_status status = take_number(r, out, 4);
    if (status == ROOF_OK && *out >= COUNT(value_types)) {
        return BAD(r, "a metadata value has type %" PRIu64 "; known are 0 to 12", *out);
    }
    return status;
}

static enum roof_status skip_value(struct reader *r, uint64_t type, int depth);

static enum roof_status skip_array(struct reader *r, int depth)
{
    uint64_t type = 0;
    uint64_t count = 0;
    if (depth == DEPTH_MAX) {
        return BAD(r, "arrays in the metadata are nested deeper than %d", DEPTH_MAX);
    }
    enum roof_status status = take_type(r, &type);
    if (status == ROOF_OK) {
        status = take_number(r, &count, 8);
    }
    if (status != ROOF_OK) {
        return status;
    }
    /* Strings begin with 8 bytes, arrays with 12. */
    const uint64_t least = type == TYPE_STRING  ? 8
                           : type == TYPE_ARRAY ? 12
                                                : value_types[type].bytes;
    if (count > (r->limit - r->at) / least) {
        return BAD(r, "an array of %" PRIu64 " values in the metadata does not fit into the %s",
                   count, r->limit < r->size ? "header" : "file");
    }
    if (type != TYPE_STRING && type != TYPE_ARRAY) {
        return skip(r, count * least);
    }
    for (uint64_t i = 0; i < count && status == ROOF_OK; i++) {
        status = skip_value(r, type, depth + 1);
    }
    return status;
}

static enum roof_status skip_value(struct reader *r, uint64_t type, int depth)
{
    if (type == TYPE_ARRAY) {
        return skip_array(r, depth);
    }
    uint64_t length = value_types[type].bytes;
    if (type == TYPE_STRING) {
        const enum roof_status status = take_number(r, &length, 8);
        if (status != ROOF_OK) {
            return status;
        }
    }
    return skip(r, length);
}

static enum roof_status take_integer(struct reader *r, int64_t *out, uint64_t type, const char *key,
                                     int64_t max)
{
    uint64_t raw = 0;
    const size_t bytes = value_types[type].bytes;
    const enum roof_status status = take_number(r, &raw, bytes);
    if (status != ROOF_OK) {
        return status;
    }
    const bool negative = value_types[type].sign && (raw >> (8 * bytes - 1)) != 0;
    if (negative || raw > (uint64_t)max) {
        return BAD(r, "%s must be an integer from 0 to %" PRId64, key, max);
    }
    *out = (int64_t)raw;
    return ROOF_OK;
}

static enum roof_status take_list(struct reader *r, struct meta *m, const struct key *row,
                                  int64_t *out, const char *key)
{
    uint64_t type = 0;
    uint64_t count = 0;
    enum roof_status status = take_type(r, &type);
    if (status == ROOF_OK) {
        status = take_number(r, &count, 8);
    }
    if (status != ROOF_OK) {
        return status;
    }
    if (!value_types[type].whole || count == 0 || count > LIST_MAX) {
        return BAD(r, "%s must be an integer, or an array of 1 to %d integers", key, LIST_MAX);
    }
    for (uint64_t i = 0; i < count; i++) {
        int64_t value = 0;
        status = take_integer(r, &value, type, key, row->max);
        if (status != ROOF_OK) {
            return status;
        }
        if (row->form == PATTERN) {
            m->windows = (int64_t)count;
            m->windowed[i < ROOF_LAYERS_MAX ? i : ROOF_LAYERS_MAX - 1] = value != 0;
        } else if (value == 0 && row->form == SPARSE) {
            continue;
        } else if (value == 0 || (*out != 0 && *out != value)) {
            return BAD(r,
                       "%s differs between layers; only models whose layers have the same are "
                       "known",
                       key);
        } else {
            *out = value;
        }
    }
    return ROOF_OK;
}

static enum roof_status take_value(struct reader *r, struct meta *m, const struct key *row,
                                   uint64_t type, const char *key)
{
    int64_t *const out = (int64_t *)(void *)((char *)m + row->offset);
    if (row->form == GIVEN) {
        *out = 1;
        return skip_value(r, type, 0);
    }
    if (type == TYPE_ARRAY && row->form != ONE) {
        return take_list(r, m, row, out, key);
    }
    if (!value_types[type].whole) {
        return BAD(r, "%s must be an integer%s", key,
                   row->form == ONE ? "" : ", or an array of integers");
    }
    return take_integer(r, out, type, key, row->max);
}

static const struct key *find_key(const struct meta *m, const char *key)
{
    const size_t length = strlen(m->architecture);
    const bool ours =
        length > 0 && strncmp(key, m->architecture, length) == 0 && key[length] == '.';
    for (size_t i = 0; i < COUNT(keys); i++) {
        const char *const name = keys[i].whole ? key : key + length + 1;
        if ((keys[i].whole || ours) && strcmp(name, keys[i].name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

/* A string of the metadata: NULL when key is not that of one. */
static char *find_text(struct meta *m, const char *key, size_t *size)
{
    if (strcmp(key, "general.name") == 0) {
        *size = sizeof m->name;
        return m->name;
    }
    return NULL;
}

static enum roof_status take_entry(struct reader *r, struct meta *m, bool seen[COUNT(keys)])
{
    char key[NAME_MAX_BYTES];
    uint64_t length = 0;
    uint64_t type = 0;
    size_t size = 0;
    enum roof_status status = take_string(r, key, sizeof key, &length);
    if (status == ROOF_OK) {
        status = take_type(r, &type);
    }
    if (status != ROOF_OK) {
        return status;
    }
    char *const text = find_text(m, key, &size);
    if (text != NULL && type == TYPE_STRING) {
        return take_string(r, text, size, &length);
    }
    const struct key *const row = find_key(m, key);
    if (row == NULL) {
        return skip_value(r, type, 0);
    }
    if (seen[row - keys]) {
        return BAD(r, "%s stands twice in the metadata", key);
    }
    seen[row - keys] = true;
    return take_value(r, m, row, type, key);
}

/* general.architecture, which may stand anywhere although it is nearly always first. */
static enum roof_status find_architecture(struct reader *r, struct meta *m, uint64_t entries)
{
    const uint64_t begin = r->at;
    enum roof_status status = ROOF_OK;
    for (uint64_t i = 0; i < entries && status == ROOF_OK && m->architecture[0] == '\0'; i++) {
        char key[NAME_MAX_BYTES];
        uint64_t length = 0;
        uint64_t type = 0;
        status = take_string(r, key, sizeof key, &length);
        if (status == ROOF_OK) {
            status = take_type(r, &type);
        }
        if (status == ROOF_OK) {
            const bool found = strcmp(key, "general.architecture") == 0 && type == TYPE_STRING;
            status = found ? take_string(r, m->architecture, sizeof m->architecture, &length)
                           : skip_value(r, type, 0);
        }
    }
    r->at = begin;
    return status;
}

/* --- tensors ------------------------------------------------------------------------------- */

#define TYPE(id, precision) [id] = ROOF_PRECISION_##precision + 1

/* enum ggml_type (ggml.h); 0 stands for none. */
static const int8_t tensor_types[] = {
    TYPE(0, FP32),    TYPE(1, FP16),     TYPE(2, Q4_0),   TYPE(3, Q4_1),    TYPE(6, Q5_0),
    TYPE(7, Q5_1),    TYPE(8, Q8_0),     TYPE(9, Q8_1),   TYPE(10, Q2_K),   TYPE(11, Q3_K),
    TYPE(12, Q4_K),   TYPE(13, Q5_K),    TYPE(14, Q6_K),  TYPE(15, Q8_K),   TYPE(16, IQ2_XXS),
    TYPE(17, IQ2_XS), TYPE(18, IQ3_XXS), TYPE(19, IQ1_S), TYPE(20, IQ4_NL), TYPE(21, IQ3_S),
    TYPE(22, IQ2_S),  TYPE(23, IQ4_XS),  TYPE(24, INT8),  TYPE(28, FP64),   TYPE(29, IQ1_M),
    TYPE(30, BF16),   TYPE(34, TQ1_0),   TYPE(35, TQ2_0), TYPE(39, MXFP4),  TYPE(40, NVFP4),
    TYPE(41, Q1_0),   TYPE(42, Q2_0),
};
#define TENSOR_TYPES "0 to 3, 6 to 24, 28 to 30, 34, 35 and 39 to 42"

struct tensor {
    char name[NAME_MAX_BYTES + 1];
    int rank;
    int64_t size[DIMENSIONS_MAX]; /* the first varies fastest: columns, rows, experts */
    int64_t elements;
    enum roof_precision format;
    uint64_t bytes;
    uint64_t offset;
};

/* What the shape of a tensor is checked against. */
enum kind {
    VECTOR, /* norms, biases: nothing */
    MATRIX, /* rows and columns of its weights together */
    STACK,  /* the same for each expert */
    KEYS,   /* the half of kv_b that makes keys */
    VALUES,
    POSITIONS
};

#define F(field) offsetof(struct roof_model, field)
#define BIT(name) (1U << ROOF_WEIGHT_##name)

struct slot {
    const char *name;
    unsigned weights; /* bits; fused projections have several */
    enum kind kind;
    size_t flag; /* what its presence says of the model, or 0 */
};

/* The tensors of a block that later code asks for by name. */
enum { ATTN_NORM, FFN_NORM, POST_ATTENTION_NORM, POST_FFW_NORM, KV_B, K_B, V_B };

static const struct slot block_slots[] = {
    [ATTN_NORM] = {"attn_norm.weight", BIT(NORM), VECTOR, 0},
    [FFN_NORM] = {"ffn_norm.weight", BIT(NORM), VECTOR, 0},
    [POST_ATTENTION_NORM] = {"post_attention_norm.weight", BIT(NORM), VECTOR, 0},
    [POST_FFW_NORM] = {"post_ffw_norm.weight", BIT(NORM), VECTOR, 0},
    [KV_B] = {"attn_kv_b.weight", BIT(KV_B), MATRIX, 0},
    [K_B] = {"attn_k_b.weight", BIT(KV_B), KEYS, 0},
    [V_B] = {"attn_v_b.weight", BIT(KV_B), VALUES, 0},
    {"attn_norm.bias", BIT(NORM), VECTOR, F(layernorm)},
    {"attn_norm_2.weight", BIT(NORM), VECTOR, 0},
    {"attn_norm_2.bias", BIT(NORM), VECTOR, 0},
    {"ffn_norm.bias", BIT(NORM), VECTOR, 0},
    {"attn_q.weight", BIT(Q), MATRIX, 0},
    {"attn_k.weight", BIT(K), MATRIX, 0},
    {"attn_v.weight", BIT(V), MATRIX, 0},
    {"attn_qkv.weight", BIT(Q) | BIT(K) | BIT(V), MATRIX, 0},
    {"attn_output.weight", BIT(O), MATRIX, 0},
    {"attn_q.bias", BIT(NORM), VECTOR, F(qkv_bias)},
    {"attn_k.bias", BIT(NORM), VECTOR, 0},
    {"attn_v.bias", BIT(NORM), VECTOR, 0},
    {"attn_qkv.bias", BIT(NORM), VECTOR, F(qkv_bias)},
    {"attn_output.bias", BIT(NORM), VECTOR, F(o_bias)},
    {"attn_q_norm.weight", BIT(NORM), VECTOR, F(qk_norm)},
    {"attn_k_norm.weight", BIT(NORM), VECTOR, 0},
    {"attn_q_norm.bias", BIT(NORM), VECTOR, 0},
    {"attn_k_norm.bias", BIT(NORM), VECTOR, 0},
    {"attn_sinks.weight", BIT(NORM), VECTOR, F(sinks)},
    {"attn_q_a.weight", BIT(Q_A), MATRIX, 0},
    {"attn_q_a_norm.weight", BIT(NORM), VECTOR, 0},
    {"attn_q_b.weight", BIT(Q_B), MATRIX, 0},
    {"attn_kv_a_mqa.weight", BIT(KV_A), MATRIX, 0},
    {"attn_kv_a_norm.weight", BIT(NORM), VECTOR, 0},
    {"ffn_gate.weight", BIT(GATE), MATRIX, F(gated)},
    {"ffn_up.weight", BIT(UP), MATRIX, 0},
    {"ffn_down.weight", BIT(DOWN), MATRIX, 0},
    {"ffn_gate.bias", BIT(NORM), VECTOR, 0},
    {"ffn_up.bias", BIT(NORM), VECTOR, F(mlp_bias)},
    {"ffn_down.bias", BIT(NORM), VECTOR, 0},
    {"ffn_gate_inp.weight", BIT(ROUTER), MATRIX, 0},
    {"ffn_gate_inp.bias", BIT(NORM), VECTOR, F(router_bias)},
    {"exp_probs_b.bias", BIT(NORM), VECTOR, F(router_bias)},
    {"ffn_gate_exps.weight", BIT(EXPERT_GATE), STACK, F(gated)},
    {"ffn_up_exps.weight", BIT(EXPERT_UP), STACK, 0},
    {"ffn_down_exps.weight", BIT(EXPERT_DOWN), STACK, 0},
    {"ffn_gate_up_exps.weight", BIT(EXPERT_GATE) | BIT(EXPERT_UP), STACK, F(gated)},
    {"ffn_gate_exps.bias", BIT(NORM), VECTOR, F(expert_bias)},
    {"ffn_up_exps.bias", BIT(NORM), VECTOR, F(expert_bias)},
    {"ffn_down_exps.bias", BIT(NORM), VECTOR, F(expert_bias)},
    {"ffn_gate_up_exps.bias", BIT(NORM), VECTOR, F(expert_bias)},
    {"ffn_gate_shexp.weight", BIT(SHARED_GATE), MATRIX, F(gated)},
    {"ffn_up_shexp.weight", BIT(SHARED_UP), MATRIX, 0},
    {"ffn_down_shexp.weight", BIT(SHARED_DOWN), MATRIX, 0},
    {"ffn_gate_inp_shexp.weight", BIT(NORM), VECTOR, F(shared_gate)},
    {"post_attention_norm.bias", BIT(NORM), VECTOR, 0},
};

static const struct slot model_slots[] = {
    {"token_embd.weight", BIT(EMBEDDING), MATRIX, 0},
    {"output.weight", BIT(LM_HEAD), MATRIX, 0},
    {"output.bias", BIT(NORM), VECTOR, F(head_bias)},
    {"output_norm.weight", BIT(NORM), VECTOR, 0},
    {"output_norm.bias", BIT(NORM), VECTOR, 0},
    {"position_embd.weight", BIT(EMBEDDING), POSITIONS, 0},
};

/* Names that begin so are no weights of the language model; the first two are tables of angles. */
static const char *const ignored[] = {"rope_freqs", "rope_factors_", "attn_rot_embd", "v.", "mm.",
                                      "a.",         "mtp.",          "nextn."};
/* And these are of models that are not made of attention and MLP alone. */
static const char *const refused[] = {"ssm_",        "time_mix_", "channel_mix_", "shortconv.",
                                      "cross_attn_", "enc.",      "dec."};

struct block {
    bool seen[COUNT(block_slots)];
    bool predicts; /* a block for multi-token prediction */
    unsigned weights;
    uint64_t bytes;
    uint64_t kv_b_bytes;
};

struct gguf {
    struct reader reader;
    struct roof_model *model;
    struct meta meta;
    bool seen[COUNT(model_slots)];
    uint64_t bytes; /* outside the blocks */
    uint64_t tensors;
    bool unknown;
    struct block block[ROOF_LAYERS_MAX];
    struct roof_layer layer[ROOF_LAYERS_MAX];
};

struct shape {
    int64_t rows;
    int64_t columns;
};

static int64_t times(int64_t a, int64_t b)
{
    return a != 0 && b > INT64_MAX / a ? INT64_MAX : a * b;
}

/* Rows and columns of each weight; 0 where the metadata leaves them open. */
static void shapes(struct shape out[ROOF_WEIGHT_COUNT], const struct roof_model *m)
{
    const int64_t h = m->hidden;
    const int64_t q = m->heads * m->head_dim;
    const int64_t kv = m->kv_heads * m->head_dim;
    const int64_t o = m->kv_lora_rank > 0 ? m->heads * m->v_head_dim : q;
    const struct shape table[ROOF_WEIGHT_COUNT] = {
        [ROOF_WEIGHT_EMBEDDING] = {m->vocab, h},
        [ROOF_WEIGHT_Q] = {q, h},
        [ROOF_WEIGHT_K] = {kv, h},
        [ROOF_WEIGHT_V] = {kv, h},
        [ROOF_WEIGHT_O] = {h, o},
        [ROOF_WEIGHT_Q_A] = {m->q_lora_rank, h},
        [ROOF_WEIGHT_Q_B] = {q, m->q_lora_rank},
        [ROOF_WEIGHT_KV_A] = {m->kv_lora_rank + m->qk_rope_head_dim, h},
        [ROOF_WEIGHT_KV_B] = {m->heads * (m->qk_nope_head_dim + m->v_head_dim), m->kv_lora_rank},
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

/* Sizes that only the tensors tell. */
static void learn(struct roof_model *m, unsigned weights, const struct tensor *t)
{
    const struct {
        unsigned weights;
        int64_t *size;
        int dimension;
    } rows[] = {
        {BIT(EMBEDDING), &m->vocab, 1},
        {BIT(LM_HEAD), &m->vocab, 1},
        {BIT(UP), &m->intermediate, 1},
        {BIT(DOWN), &m->intermediate, 0},
        {BIT(EXPERT_GATE), &m->expert_intermediate, 1},
        {BIT(EXPERT_UP), &m->expert_intermediate, 1},
        {BIT(EXPERT_DOWN), &m->expert_intermediate, 0},
        {BIT(SHARED_GATE), &m->shared_intermediate, 1},
        {BIT(SHARED_UP), &m->shared_intermediate, 1},
        {BIT(SHARED_DOWN), &m->shared_intermediate, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (weights == rows[i].weights && *rows[i].size == 0 &&
            t->size[rows[i].dimension] <= VALUE_MAX) {
            *rows[i].size = t->size[rows[i].dimension];
        }
    }
    if (weights == (BIT(EXPERT_GATE) | BIT(EXPERT_UP)) && m->expert_intermediate == 0 &&
        t->size[1] <= VALUE_MAX) {
        m->expert_intermediate = t->size[1] / 2;
    }
}

static enum roof_status bad_shape(struct reader *r, const struct tensor *t, int64_t columns,
                                  int64_t rows, int64_t stack)
{
    return BAD(r,
               "%s is %" PRId64 " x %" PRId64 " x %" PRId64 ", but the metadata says %" PRId64
               " x %" PRId64 " x %" PRId64,
               t->name, t->size[0], t->size[1], times(t->size[2], t->size[3]), columns, rows,
               stack);
}

/* Whether one matrix holds gate and up together (phi3, glm4). */
static bool is_fused_up(const struct gguf *g, const struct slot *slot, const struct tensor *t)
{
    return slot->weights == BIT(UP) && g->model->intermediate > 0 &&
           t->size[1] == 2 * g->model->intermediate;
}

static enum roof_status check_shape(struct gguf *g, const struct slot *slot, const struct tensor *t)
{
    struct roof_model *const m = g->model;
    if (slot->kind == VECTOR) {
        return ROOF_OK;
    }
    if (slot->kind == POSITIONS) {
        m->position_rows = t->size[1] <= VALUE_MAX ? t->size[1] : 0;
        return t->size[0] == m->hidden && t->rank == 2 && m->position_rows > 0
                   ? ROOF_OK
                   : bad_shape(&g->reader, t, m->hidden, m->positions, 1);
    }
    if (slot->kind == KEYS || slot->kind == VALUES) {
        /* Files differ in how they lay these out, not in what they hold. */
        const int64_t head = slot->kind == KEYS ? m->qk_nope_head_dim : m->v_head_dim;
        const int64_t elements = times(times(head, m->kv_lora_rank), m->heads);
        return t->elements == elements && elements > 0
                   ? ROOF_OK
                   : bad_shape(&g->reader, t, m->kv_lora_rank, head, m->heads);
    }
    learn(m, slot->weights, t);
    struct shape all[ROOF_WEIGHT_COUNT];
    shapes(all, m);
    int64_t rows = 0;
    int64_t columns = 0;
    for (size_t w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((slot->weights & (1U << w)) != 0) {
            rows += all[w].rows;
            columns = all[w].columns;
        }
    }
    const int64_t stack = slot->kind == STACK ? m->experts : 1;
    const bool fits = t->size[0] == columns && t->size[2] == stack && t->size[3] == 1 &&
                      (t->size[1] == rows || is_fused_up(g, slot, t));
    return fits ? ROOF_OK : bad_shape(&g->reader, t, columns, rows, stack);
}

static void put_format(int8_t format[ROOF_WEIGHT_COUNT], unsigned weights, enum roof_precision f)
{
    for (size_t w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((weights & (1U << w)) != 0) {
            const bool wider =
                format[w] == ROOF_PRECISION_AUTO ||
                roof_precision_bits((enum roof_precision)format[w]) < roof_precision_bits(f);
            if (wider) {
                format[w] = (int8_t)f;
            }
        }
    }
}

static const struct slot *find_slot(const struct slot *slots, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(slots[i].name, name) == 0) {
            return &slots[i];
        }
    }
    return NULL;
}

static bool begins_with_one(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(name, list[i], strlen(list[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* NVFP4 keeps the scale of a tensor, and that of its inputs, in tensors of their own. */
static bool is_scale(const struct tensor *t, const char *name)
{
    const char *const dot = strrchr(name, '.');
    return dot != NULL && t->rank == 1 &&
           (strcmp(dot, ".scale") == 0 || strcmp(dot, ".input_scale") == 0);
}

static enum roof_status no_slot(struct gguf *g, struct block *block, const struct tensor *t,
                                const char *name)
{
    if (begins_with_one(name, refused, COUNT(refused))) {
        return BAD(&g->reader,
                   "only decoders of attention and MLP layers are known; this model has %s",
                   t->name);
    }
    if (block != NULL && strncmp(name, "nextn.", 6) == 0) {
        block->predicts = true;
    } else if (is_scale(t, name)) {
        *(block == NULL ? &g->bytes : &block->bytes) += t->bytes;
    } else if (!begins_with_one(name, ignored, COUNT(ignored))) {
        g->unknown = true;
    }
    return ROOF_OK;
}

static enum roof_status twice(struct gguf *g, const struct tensor *t)
{
    return BAD(&g->reader, "%s stands twice among the tensors", t->name);
}

static void raise_flag(struct roof_model *m, const struct slot *slot, const struct tensor *t)
{
    bool *const flag = (bool *)(void *)((char *)m + slot->flag);
    if (slot->flag == F(qk_norm)) {
        *flag = *flag || t->elements == m->head_dim; /* else over all heads at once */
    } else if (slot->flag != 0) {
        *flag = true;
    }
}

static enum roof_status add_to_block(struct gguf *g, int64_t number, const struct tensor *t,
                                     const char *name)
{
    struct block *const block = &g->block[number];
    const struct slot *const slot = find_slot(block_slots, COUNT(block_slots), name);
    if (slot == NULL) {
        return no_slot(g, block, t, name);
    }
    if (block->seen[slot - block_slots]) {
        return twice(g, t);
    }
    block->seen[slot - block_slots] = true;
    const enum roof_status status = check_shape(g, slot, t);
    if (status != ROOF_OK) {
        return status;
    }
    unsigned weights = slot->weights;
    if (is_fused_up(g, slot, t)) {
        weights |= BIT(GATE);
        g->model->gated = true;
    }
    raise_flag(g->model, slot, t);
    put_format(g->layer[number].format, weights, t->format);
    block->weights |= weights;
    *(slot - block_slots == KV_B ? &block->kv_b_bytes : &block->bytes) += t->bytes;
    return ROOF_OK;
}

static enum roof_status add_to_model(struct gguf *g, const struct tensor *t)
{
    const struct slot *const slot = find_slot(model_slots, COUNT(model_slots), t->name);
    if (slot == NULL) {
        return no_slot(g, NULL, t, t->name);
    }
    if (g->seen[slot - model_slots]) {
        return twice(g, t);
    }
    g->seen[slot - model_slots] = true;
    const enum roof_status status = check_shape(g, slot, t);
    if (status != ROOF_OK) {
        return status;
    }
    raise_flag(g->model, slot, t);
    if (slot->kind != POSITIONS) {
        put_format(g->model->format, slot->weights, t->format);
    }
    g->bytes += t->bytes;
    return ROOF_OK;
}

/* blk.N.NAME: N, and the name after it; -1 for all others. */
static int64_t block_number(const char *name, const char **rest)
{
    if (strncmp(name, "blk.", 4) != 0) {
        return -1;
    }
    int64_t number = 0;
    const char *at = name + 4;
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number > ROOF_LAYERS_MAX ? number : 10 * number + (*at - '0');
    }
    *rest = at + 1;
    return at > name + 4 && *at == '.' ? number : -1;
}

static enum roof_status add_tensor(struct gguf *g, const struct tensor *t)
{
    const char *rest = NULL;
    const int64_t number = block_number(t->name, &rest);
    if (number < 0) {
        return add_to_model(g, t);
    }
    return number < g->meta.layers ? add_to_block(g, number, t, rest)
                                   : BAD(&g->reader, "%s: %s.block_count is %" PRId64, t->name,
                                         g->meta.architecture, g->meta.layers);
}

static enum roof_status take_sizes(struct reader *r, struct tensor *t)
{
    uint64_t rank = 0;
    enum roof_status status = take_number(r, &rank, 4);
    if (status != ROOF_OK) {
        return status;
    }
    if (rank == 0 || rank > DIMENSIONS_MAX) {
        return BAD(r, "%s has %" PRIu64 " dimensions; 1 to %d are allowed", t->name, rank,
                   DIMENSIONS_MAX);
    }
    t->rank = (int)rank;
    t->elements = 1;
    for (int i = 0; i < DIMENSIONS_MAX; i++) {
        uint64_t size = 1;
        status = i < t->rank ? take_number(r, &size, 8) : ROOF_OK;
        if (status != ROOF_OK) {
            return status;
        }
        if (size == 0 || size > (uint64_t)(INT64_MAX / t->elements)) {
            return BAD(r,
                       "%s: dimension %d is %" PRIu64 "; it must be 1 or more, and all "
                       "together below 2^63",
                       t->name, i + 1, size);
        }
        t->size[i] = (int64_t)size;
        t->elements *= (int64_t)size;
    }
    return ROOF_OK;
}

static enum roof_status take_tensor(struct reader *r, struct tensor *t, int64_t alignment)
{
    uint64_t length = 0;
    uint64_t type = 0;
    enum roof_status status = take_string(r, t->name, sizeof t->name, &length);
    if (status == ROOF_OK && (t->name[0] == '\0' || !ascii(t->name))) {
        return BAD(r, "the name of a tensor (%" PRIu64 " bytes) must be 1 to %d ASCII characters",
                   length, NAME_MAX_BYTES);
    }
    if (status == ROOF_OK) {
        status = take_sizes(r, t);
    }
    if (status == ROOF_OK) {
        status = take_number(r, &type, 4);
    }
    if (status == ROOF_OK) {
        status = take_number(r, &t->offset, 8);
    }
    if (status != ROOF_OK) {
        return status;
    }
    if (type >= COUNT(tensor_types) || tensor_types[type] == 0) {
        return BAD(r, "%s has ggml type %" PRIu64 "; known are " TENSOR_TYPES, t->name, type);
    }
    t->format = (enum roof_precision)(tensor_types[type] - 1);
    const struct roof_format *const format = roof_format(t->format);
    if (t->size[0] % format->block_elements != 0) {
        return BAD(r,
                   "%s: its rows of %" PRId64 " elements are no multiple of the %" PRId64
                   " of a %s block",
                   t->name, t->size[0], format->block_elements, format->name);
    }
    const uint64_t blocks = (uint64_t)(t->elements / format->block_elements);
    if (blocks > r->size / (uint64_t)format->block_bytes || t->offset > r->size) {
        return BAD(r, "%s does not fit into the file of %" PRIu64 " bytes", t->name, r->size);
    }
    t->bytes = blocks * (uint64_t)format->block_bytes;
    if (t->offset % (uint64_t)alignment != 0) {
        return BAD(r, "%s: its offset %" PRIu64 " is no multiple of the alignment %" PRId64,
                   t->name, t->offset, alignment);
    }
    return ROOF_OK;
}

static enum roof_status take_tensors(struct gguf *g, uint64_t count, int64_t alignment)
{
    struct reader *const r = &g->reader;
    struct tensor last = {.name = ""}; /* the one that ends last */
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct tensor t = {.name = ""};
        enum roof_status status = take_tensor(r, &t, alignment);
        if (status == ROOF_OK) {
            status = add_tensor(g, &t);
        }
        if (status != ROOF_OK) {
            return status;
        }
        sum += t.bytes; /* no overflow: neither is larger than the file */
        if (sum > r->size) {
            return BAD(r, "the tensors up to %s have more bytes than the file", t.name);
        }
        if (t.offset + t.bytes >= last.offset + last.bytes) {
            last = t;
        }
    }
    const uint64_t step = (uint64_t)alignment;
    const uint64_t begin = (r->at + step - 1) / step * step;
    if (count > 0 && (begin > r->size || last.offset + last.bytes > r->size - begin)) {
        return BAD(r,
                   "%s ends behind the end of the file (%" PRIu64 " bytes): the file is cut "
                   "off, or not a model",
                   last.name, r->size);
    }
    return ROOF_OK;
}

/* --- files --------------------------------------------------------------------------------- */

static enum roof_status take_preamble(struct reader *r, uint64_t *tensors, uint64_t *entries)
{
    unsigned char magic[4] = {0};
    uint64_t version = 0;
    enum roof_status status = r->size < sizeof magic ? ROOF_OK : take(r, magic, sizeof magic);
    if (status == ROOF_OK && memcmp(magic, "FUGG", 4) == 0) {
        return BAD(r, "a big-endian GGUF file; only little-endian ones are read");
    }
    if (status == ROOF_OK && memcmp(magic, "GGUF", 4) != 0) {
        return BAD(r, "not a GGUF file: it does not begin with GGUF");
    }
    if (status == ROOF_OK) {
        status = take_number(r, &version, 4);
    }
    if (status == ROOF_OK && version != 0 && (version & 0xffffff) == 0) {
        return BAD(r, "a big-endian GGUF file; only little-endian ones are read");
    }
    if (status == ROOF_OK && version != 2 && version != 3) {
        return BAD(r, "GGUF version %" PRIu64 "; versions 2 and 3 are read", version);
    }
    if (status == ROOF_OK) {
        status = take_number(r, tensors, 8);
    }
    if (status == ROOF_OK) {
        status = take_number(r, entries, 8);
    }
    if (status == ROOF_OK && (*tensors > TENSORS_MAX || *entries > ENTRIES_MAX)) {
        return BAD(r,
                   "the header claims %" PRIu64 " tensors and %" PRIu64
                   " metadata entries; at most %d and %d are read",
                   *tensors, *entries, TENSORS_MAX, ENTRIES_MAX);
    }
    return status;
}

static enum roof_status take_metadata(struct reader *r, struct meta *m, uint64_t entries)
{
    bool seen[COUNT(keys)] = {false};
    enum roof_status status = find_architecture(r, m, entries);
    for (uint64_t i = 0; i < entries && status == ROOF_OK; i++) {
        status = take_entry(r, m, seen);
    }
    if (status != ROOF_OK) {
        return status;
    }
    if (m->alignment == 0) {
        m->alignment = 32;
    }
    if ((m->alignment & (m->alignment - 1)) != 0) {
        return BAD(r, "general.alignment is %" PRId64 "; it must be a power of two", m->alignment);
    }
    return ROOF_OK;
}

static enum roof_status begin_model(struct gguf *g);

/* The file that has the metadata: in a model of several files the first. */
static enum roof_status take_first(struct gguf *g)
{
    struct reader *const r = &g->reader;
    uint64_t entries = 0;
    enum roof_status status = take_preamble(r, &g->tensors, &entries);
    if (status == ROOF_OK) {
        status = take_metadata(r, &g->meta, entries);
    }
    if (status == ROOF_OK && g->meta.part > 0) {
        return BAD(r,
                   "part %" PRId64 " of a model in %" PRId64
                   " files; name the first, which has the metadata",
                   g->meta.part + 1, g->meta.parts);
    }
    if (status == ROOF_OK) {
        status = begin_model(g);
    }
    return status == ROOF_OK ? take_tensors(g, g->tensors, g->meta.alignment) : status;
}

static enum roof_status take_sibling(struct gguf *g, int64_t part)
{
    struct reader *const r = &g->reader;
    struct meta meta;
    memset(&meta, 0, sizeof meta);
    uint64_t tensors = 0;
    uint64_t entries = 0;
    enum roof_status status = take_preamble(r, &tensors, &entries);
    if (status == ROOF_OK) {
        status = take_metadata(r, &meta, entries);
    }
    if (status != ROOF_OK) {
        return status;
    }
    g->tensors += tensors;
    if (g->tensors > TENSORS_MAX) {
        return BAD(r, "the files have more than %d tensors together", TENSORS_MAX);
    }
    if (meta.part != part || meta.parts != g->meta.parts) {
        return BAD(
            r, "it says to be part %" PRId64 " of %" PRId64 ", not part %" PRId64 " of %" PRId64,
            meta.part + 1, meta.parts, part + 1, g->meta.parts);
    }
    return take_tensors(g, tensors, meta.alignment);
}

static enum roof_status read_sibling(struct gguf *g, const char *path, int64_t part,
                                     struct roof_error *error)
{
    char what[64];
    snprintf(what, sizeof what, " part %" PRId64 " of the model's %" PRId64 " files", part + 1,
             g->meta.parts);
    enum roof_status status = open_reader(&g->reader, path, what, error);
    if (status == ROOF_OK) {
        status = take_sibling(g, part);
    }
    if (g->reader.file >= 0) {
        close(g->reader.file);
    }
    return status;
}

/* NAME-00001-of-0000N.gguf and its siblings. */
static enum roof_status read_siblings(struct gguf *g, const char *path, struct roof_error *error)
{
    const int64_t parts = g->meta.parts;
    if (parts < 2) {
        return ROOF_OK;
    }
    char ending[64];
    const int tail = snprintf(ending, sizeof ending, "-00001-of-%05" PRId64 ".gguf", parts);
    const size_t length = strlen(path);
    const size_t stem = length > (size_t)tail ? length - (size_t)tail : 0;
    if (parts > PARTS_MAX) {
        return roof_error_at(error, ROOF_INVALID, path, 0, 0,
                             "a model in %" PRId64 " files; at most %d are read", parts, PARTS_MAX);
    }
    if (stem == 0 || strcmp(path + stem, ending) != 0) {
        return roof_error_at(error, ROOF_INVALID, path, 0, 0,
                             "the first of %" PRId64
                             " files of a model; its name must end with %s, so that the others "
                             "are found",
                             parts, ending);
    }
    char *const sibling = malloc(length + sizeof ending);
    if (sibling == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = ROOF_OK;
    for (int64_t part = 1; part < parts && status == ROOF_OK; part++) {
        snprintf(sibling, length + sizeof ending, "%.*s-%05" PRId64 "-of-%05" PRId64 ".gguf",
                 (int)stem, path, part + 1, parts);
        status = read_sibling(g, sibling, part, error);
    }
    g->reader.path = path;
    free(sibling);
    if (status == ROOF_OK && g->meta.part_tensors > 0 &&
        (uint64_t)g->meta.part_tensors != g->tensors) {
        return BAD(&g->reader,
                   "the files have %" PRIu64 " tensors together, not the %" PRId64
                   " of the metadata",
                   g->tensors, g->meta.part_tensors);
    }
    return status;
}

/* --- the model ----------------------------------------------------------------------------- */

static enum roof_status require(struct gguf *g)
{
    const struct meta *const m = &g->meta;
    if (m->architecture[0] == '\0' || !ascii(m->architecture)) {
        return BAD(&g->reader, "not the GGUF of a model: general.architecture is missing");
    }
    const struct {
        const char *name;
        int64_t value;
    } required[] = {{"block_count", m->layers},
                    {"embedding_length", m->hidden},
                    {"attention.head_count", m->heads}};
    for (size_t i = 0; i < COUNT(required); i++) {
        if (required[i].value == 0) {
            return BAD(&g->reader, "not the GGUF of a decoder: %s.%s is missing, or 0",
                       m->architecture, required[i].name);
        }
    }
    if (m->extra_layers >= m->layers) {
        return BAD(&g->reader,
                   "nextn_predict_layers must be below the %" PRId64
                   " of block_count, which has them in it, not %" PRId64,
                   m->layers, m->extra_layers);
    }
    if (m->key_length == 0 && m->hidden % m->heads != 0) {
        return BAD(&g->reader,
                   "attention.key_length is missing, and embedding_length %" PRId64
                   " is no multiple of attention.head_count %" PRId64,
                   m->hidden, m->heads);
    }
    return ROOF_OK;
}

static enum roof_status begin_mla(struct gguf *g)
{
    const struct meta *const m = &g->meta;
    struct roof_model *const to = g->model;
    const int64_t even = m->hidden / m->heads;
    const int64_t key = m->key_length_mla > 0 ? m->key_length_mla
                        : m->key_length > 0   ? m->key_length
                                              : even;
    const int64_t value = m->value_length_mla > 0 ? m->value_length_mla
                          : m->value_length > 0   ? m->value_length
                                                  : even;
    if (m->rotary_dim == 0 || m->rotary_dim >= key) {
        return BAD(&g->reader,
                   "rope.dimension_count must be 1 to %" PRId64 " in a model with "
                   "attention.kv_lora_rank, not %" PRId64,
                   key - 1, m->rotary_dim);
    }
    to->head_dim = key;
    to->kv_heads = m->heads;
    to->qk_rope_head_dim = m->rotary_dim;
    to->qk_nope_head_dim = key - m->rotary_dim;
    to->v_head_dim = value;
    return ROOF_OK;
}

static enum roof_status begin_heads(struct gguf *g)
{
    const struct meta *const m = &g->meta;
    struct roof_model *const to = g->model;
    to->kv_heads = m->kv_heads > 0 ? m->kv_heads : m->heads;
    to->head_dim = m->key_length > 0 ? m->key_length : m->hidden / m->heads;
    to->rotary_dim = m->rotary_dim > 0 ? m->rotary_dim : to->head_dim;
    if (m->value_length > 0 && m->value_length != to->head_dim) {
        return BAD(&g->reader,
                   "attention.value_length is %" PRId64 " and attention.key_length %" PRId64
                   "; only equal ones are known",
                   m->value_length, to->head_dim);
    }
    if (to->rotary_dim > to->head_dim) {
        return BAD(&g->reader,
                   "rope.dimension_count must be at most the head's %" PRId64 ", not %" PRId64,
                   to->head_dim, to->rotary_dim);
    }
    return ROOF_OK;
}

static enum roof_status begin_model(struct gguf *g)
{
    const struct meta *const m = &g->meta;
    struct roof_model *const to = g->model;
    enum roof_status status = require(g);
    if (status != ROOF_OK) {
        return status;
    }
    to->hidden = m->hidden;
    to->vocab = m->vocab;
    to->layers = m->layers;
    to->heads = m->heads;
    to->intermediate = m->intermediate;
    to->positions = m->positions;
    to->window = m->window;
    to->q_lora_rank = m->q_lora_rank;
    to->kv_lora_rank = m->kv_lora_rank;
    to->experts = m->experts;
    to->top_k = m->top_k;
    to->expert_intermediate = m->expert_intermediate;
    for (size_t i = 0; i < ROOF_LAYERS_MAX; i++) {
        memset(g->layer[i].format, ROOF_PRECISION_AUTO, sizeof g->layer[i].format);
    }
    return m->kv_lora_rank > 0 ? begin_mla(g) : begin_heads(g);
}

static const char *slot_name(enum roof_weight weight)
{
    for (size_t i = 0; i < COUNT(block_slots); i++) {
        if (block_slots[i].weights == 1U << weight) {
            return block_slots[i].name;
        }
    }
    return roof_weight_name(weight);
}

/* A layer without one of its matrices is of a model that is not described here. */
static enum roof_status check_block(struct gguf *g, int64_t number)
{
    const struct roof_model *const m = g->model;
    const struct block *const block = &g->block[number];
    const bool moe = (block->weights & BIT(ROUTER)) != 0;
    unsigned need = BIT(O);
    need |= m->kv_lora_rank == 0 ? BIT(Q) | BIT(K) | BIT(V) : BIT(KV_A) | BIT(KV_B);
    if (m->kv_lora_rank > 0) {
        need |= m->q_lora_rank > 0 ? BIT(Q_A) | BIT(Q_B) : BIT(Q);
    }
    need |= moe ? BIT(EXPERT_UP) | BIT(EXPERT_DOWN) : BIT(UP) | BIT(DOWN);
    if (m->gated) {
        need |= moe ? BIT(EXPERT_GATE) : BIT(GATE);
    }
    if (moe && m->shared_intermediate > 0) {
        need |= BIT(SHARED_UP) | BIT(SHARED_DOWN) | (m->gated ? BIT(SHARED_GATE) : 0);
    }
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if ((need & ~block->weights & (1U << w)) != 0) {
            return BAD(&g->reader,
                       "blk.%" PRId64 ".%s is missing: the file is not complete, or its layers "
                       "are not of attention and MLP alone",
                       number, slot_name((enum roof_weight)w));
        }
    }
    if (m->kv_lora_rank > 0 && !block->seen[KV_B] && block->seen[K_B] != block->seen[V_B]) {
        return BAD(&g->reader, "blk.%" PRId64 " has only one of attn_k_b and attn_v_b", number);
    }
    return ROOF_OK;
}

/* Every n-th layer sees all keys, the others the last `window`; 0: every layer is windowed. What
 * llama.cpp takes for each architecture where the file has no pattern of its own. */
static const struct {
    const char *architecture;
    int64_t pattern;
} patterns[] = {
    {"gemma2", 2},  {"gemma3", 6},   {"gemma3n", 5}, {"gpt-oss", 2},
    {"cohere2", 4}, {"exaone4", 4},  {"olmo2", 4},   {"llama", 0},
    {"mistral", 0}, {"mistral3", 0}, {"phi3", 0},    {"starcoder2", 0},
};

static enum roof_status put_windows(struct gguf *g)
{
    const struct meta *const m = &g->meta;
    if (m->window == 0) {
        return ROOF_OK;
    }
    if (m->windows > 0 && m->windows != m->layers) {
        return BAD(&g->reader,
                   "attention.sliding_window_pattern has %" PRId64 " entries for %" PRId64
                   " layers",
                   m->windows, m->layers);
    }
    int64_t pattern = m->window_pattern;
    bool known = pattern > 0 || m->windows > 0;
    for (size_t i = 0; i < COUNT(patterns) && !known; i++) {
        if (strcmp(patterns[i].architecture, m->architecture) == 0) {
            pattern = patterns[i].pattern;
            known = true;
        }
    }
    if (!known) {
        roof_model_note(g->model, "which layers have the sliding window is not known: taken for "
                                  "all of them");
    }
    for (int64_t i = 0; i < g->model->layers; i++) {
        g->layer[i].windowed =
            m->windows > 0 ? m->windowed[i] : pattern == 0 || (i + 1) % pattern != 0;
    }
    return ROOF_OK;
}

static void put_norms(struct gguf *g)
{
    const struct block *const first = &g->block[0];
    struct roof_model *const m = g->model;
    const bool before_mlp = first->seen[FFN_NORM];
    m->norm_gain = first->seen[ATTN_NORM] || before_mlp || first->seen[POST_FFW_NORM];
    m->layernorm = m->layernorm || (!m->norm_gain && g->meta.layer_norm != 0);
    /* Some architectures call the norm before the MLP post_attention_norm. */
    m->post_norms = before_mlp && first->seen[POST_ATTENTION_NORM] && first->seen[POST_FFW_NORM];
    m->parallel = g->meta.parallel != 0 ||
                  (first->seen[ATTN_NORM] && !before_mlp && !first->seen[POST_ATTENTION_NORM]);
    m->own_norms = m->parallel && before_mlp;
}

static enum roof_status put_layers(struct gguf *g)
{
    struct roof_model *const m = g->model;
    m->layers -= g->meta.extra_layers;
    while (m->layers > 1 && g->block[m->layers - 1].predicts) {
        m->layers--; /* where the metadata does not say so */
    }
    if (m->layers < g->meta.layers) {
        roof_model_note(m, "the layers for multi-token prediction are not counted");
    }
    uint64_t bytes = g->bytes;
    bool moe = false;
    for (int64_t i = 0; i < m->layers; i++) {
        const struct block *const block = &g->block[i];
        const enum roof_status status = check_block(g, i);
        if (status != ROOF_OK) {
            return status;
        }
        const bool split = block->seen[K_B] && block->seen[V_B]; /* kv_b is then a copy */
        bytes += block->bytes + (split ? 0 : block->kv_b_bytes);
        g->layer[i].moe = (block->weights & BIT(ROUTER)) != 0;
        moe = moe || g->layer[i].moe;
    }
    if (!moe && m->experts > 0) {
        return BAD(&g->reader,
                   "expert_count is %" PRId64 ", but no block has experts (ffn_gate_inp.weight)",
                   m->experts);
    }
    if (!moe) {
        m->top_k = m->expert_intermediate = 0;
    }
    m->file_bytes = (double)bytes;
    return put_windows(g);
}

static enum roof_status put_ends(struct gguf *g)
{
    struct roof_model *const m = g->model;
    if (m->format[ROOF_WEIGHT_EMBEDDING] == ROOF_PRECISION_AUTO) {
        return BAD(&g->reader, "token_embd.weight is missing: not the GGUF of a whole model");
    }
    m->tied = m->format[ROOF_WEIGHT_LM_HEAD] == ROOF_PRECISION_AUTO;
    if (m->tied) {
        m->format[ROOF_WEIGHT_LM_HEAD] = m->format[ROOF_WEIGHT_EMBEDDING];
    }
    if (m->position_rows > 0 || g->meta.alibi != 0) {
        m->rotary_dim = 0;
    }
    if (g->unknown) {
        roof_model_note(m, "some tensors of the file are not known and are not counted");
    }
    m->stored = true;
    return ROOF_OK;
}

/* Valid UTF-8 is printed; other bytes and control characters become question marks. */
static void clean(char *text)
{
    for (size_t length = 0; *text != '\0'; text += length) {
        length = roof_control(text) > 0 ? 0 : roof_utf8(text, 4);
        if (length == 0) {
            *text = '?';
            length = 1;
        }
    }
}

static enum roof_status put_names(struct gguf *g, const char *path, struct roof_error *error)
{
    struct roof_model *const m = g->model;
    m->id = roof_model_own(m, strdup(path));
    clean(g->meta.name);
    m->name = g->meta.name[0] == '\0' ? m->id : roof_model_own(m, strdup(g->meta.name));
    return m->id == NULL || m->name == NULL ? roof_no_memory(error) : ROOF_OK;
}

static enum roof_status finish(struct gguf *g, const char *path, struct roof_error *error)
{
    put_norms(g);
    enum roof_status status = put_ends(g);
    if (status == ROOF_OK) {
        status = put_layers(g);
    }
    if (status == ROOF_OK) {
        status = put_names(g, path, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    roof_model_classes(g->model, g->layer);
    struct roof_error why = {.message = ""};
    status = roof_model_check(g->model, &why);
    return status == ROOF_OK ? ROOF_OK
                             : roof_error_at(error, status, path, 0, 0, "%s", why.message);
}

enum roof_status roof_gguf_read(struct roof_model *out, const char *path, struct roof_error *error)
{
    struct gguf *const g = calloc(1, sizeof *g);
    if (g == NULL) {
        return roof_no_memory(error);
    }
    g->model = out;
    enum roof_status status = open_reader(&g->reader, path, "", error);
    if (status == ROOF_OK) {
        status = take_first(g);
    }
    if (g->reader.file >= 0) {
        close(g->reader.file);
    }
    if (status == ROOF_OK) {
        status = read_siblings(g, path, error);
    }
    if (status == ROOF_OK) {
        status = finish(g, path, error);
    }
    free(g);
    return status;
}
