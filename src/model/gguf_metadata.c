// SPDX-License-Identifier: MIT
#include "model/gguf_metadata.h"

#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "model/gguf_family.h"

#define DEPTH_MAX 4
#define LIST_MAX 65536
#define ALIGNMENT_MAX (1 << 30)

#define BAD ROOF_GGUF_BAD

/* --- types --------------------------------------------------------------------------------- */

/* These are values of enum gguf_metadata_value_type (ggml-org/ggml, include/gguf.h). */
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

static enum roof_status take_type(struct roof_gguf_stream *in, uint64_t *out)
{
    TRY(roof_gguf_take_number(in, out, 4));
    return *out < COUNT(value_types)
               ? ROOF_OK
               : BAD(in, "a metadata value has type %" PRIu64 "; known are 0 to 12", *out);
}

static enum roof_status skip_value(struct roof_gguf_stream *in, uint64_t type, int depth);

static enum roof_status skip_array(struct roof_gguf_stream *in, int depth)
{
    uint64_t type = 0;
    uint64_t count = 0;
    if (depth == DEPTH_MAX) {
        return BAD(in, "arrays in the metadata are nested deeper than %d", DEPTH_MAX);
    }
    TRY(take_type(in, &type));
    TRY(roof_gguf_take_number(in, &count, 8));
    /* Strings begin with 8 bytes, arrays with 12. */
    const uint64_t least = type == TYPE_STRING  ? 8
                           : type == TYPE_ARRAY ? 12
                                                : value_types[type].bytes;
    if (count > (in->limit - in->at) / least) {
        return BAD(in, "an array of %" PRIu64 " values in the metadata does not fit into the %s",
                   count, in->limit < in->size ? "header" : "file");
    }
    if (type != TYPE_STRING && type != TYPE_ARRAY) {
        return roof_gguf_skip(in, count * least);
    }
    for (uint64_t i = 0; i < count; i++) {
        TRY(skip_value(in, type, depth + 1));
    }
    return ROOF_OK;
}

static enum roof_status skip_value(struct roof_gguf_stream *in, uint64_t type, int depth)
{
    if (type == TYPE_ARRAY) {
        return skip_array(in, depth);
    }
    uint64_t length = value_types[type].bytes;
    if (type == TYPE_STRING) {
        TRY(roof_gguf_take_number(in, &length, 8));
    }
    return roof_gguf_skip(in, length);
}

/* --- keys ---------------------------------------------------------------------------------- */

enum form {
    ONE,     /* an integer */
    EQUAL,   /* an integer, or a list of one for each layer, which are all equal */
    SPARSE,  /* an integer, or a list of one for each layer; all that are not 0 are equal */
    PATTERN, /* an integer, or a list of a truth value for each layer */
    FALSE,   /* a truth value, of which the opposite is kept */
    RATIOS,  /* a list of a small integer for each layer */
    LACKING, /* a list of truth values, of which it counts those that are false */
    GIVEN    /* any value: only its presence counts */
};

#define M(field) offsetof(struct roof_gguf_metadata, field)

static const struct key {
    const char *name; /* below the architecture's name unless whole */
    size_t offset;
    bool whole;
    enum form form;
    int64_t max;
    bool part; /* of layers that only some architectures have */
} keys[] = {
    {"general.alignment", M(alignment), true, ONE, ALIGNMENT_MAX, false},
    {"split.no", M(part), true, ONE, UINT16_MAX, false},
    {"split.count", M(parts), true, ONE, UINT16_MAX, false},
    {"split.tensors.count", M(part_tensors), true, ONE, ROOF_GGUF_TENSORS_MAX, false},
    {"block_count", M(layers), false, ONE, ROOF_LAYERS_MAX, false},
    {"nextn_predict_layers", M(extra_layers), false, ONE, ROOF_LAYERS_MAX, false},
    {"embedding_length", M(hidden), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"feed_forward_length", M(intermediate), false, SPARSE, ROOF_GGUF_SIZE_MAX, false},
    {"attention.head_count", M(heads), false, EQUAL, ROOF_GGUF_SIZE_MAX, false},
    {"attention.head_count_kv", M(kv_heads), false, EQUAL, ROOF_GGUF_SIZE_MAX, false},
    {"attention.key_length", M(key_length), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"attention.value_length", M(value_length), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"attention.key_length_mla", M(key_length_mla), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"attention.value_length_mla", M(value_length_mla), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"attention.q_lora_rank", M(q_lora_rank), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"attention.kv_lora_rank", M(kv_lora_rank), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"rope.dimension_count", M(rotary_dim), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"context_length", M(positions), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"attention.sliding_window", M(window), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"attention.sliding_window_pattern", M(window_pattern), false, PATTERN, ROOF_LAYERS_MAX, false},
    {"expert_count", M(experts), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"expert_used_count", M(top_k), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"expert_feed_forward_length", M(expert_intermediate), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"vocab_size", M(vocab), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"use_parallel_residual", M(parallel), false, ONE, 1, false},
    {"attention.max_alibi_bias", M(alibi), false, GIVEN, 0, false},
    {"attention.layer_norm_epsilon", M(layer_norm), false, GIVEN, 0, false},
    {"attention.causal", M(not_causal), false, FALSE, 1, false},
    {"expert_group_count", M(expert_groups), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"expert_group_used_count", M(group_topk), false, ONE, ROOF_GGUF_SIZE_MAX, false},
    {"moe_latent_size", M(expert_latent), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"ssm.conv_kernel", M(conv_taps), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"ssm.inner_size", M(state_inner), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"ssm.state_size", M(state_size), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"ssm.time_step_rank", M(state_rank), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"ssm.group_count", M(state_groups), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"kda.head_dim", M(delta_head), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"attention.indexer.head_count", M(index_heads), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"attention.indexer.key_length", M(index_head_dim), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"attention.indexer.top_k", M(index_topk), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"attention.indexer.block_size", M(index_block), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"attention.indexer.local_blocks", M(ignored), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"attention.indexer.types", M(index_types), false, LACKING, ROOF_GGUF_SIZE_MAX, true},
    {"attention.compress_ratios", M(ratios), false, RATIOS, UINT8_MAX, true},
    {"attention.output_group_count", M(out_groups), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"attention.output_lora_rank", M(out_rank), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"hyper_connection.count", M(streams), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"hyper_connection.sinkhorn_iterations", M(ignored), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"altup.num_inputs", M(altup_streams), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"embedding_length_per_layer_input", M(layer_embedding), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"attention.shared_kv_layers", M(keyless), false, ONE, ROOF_LAYERS_MAX, true},
    {"attention.key_length_swa", M(window_key_length), false, ONE, ROOF_GGUF_SIZE_MAX, true},
    {"full_attention_interval", M(ignored), false, ONE, ROOF_LAYERS_MAX, true},
    {"altup.active_idx", M(ignored), false, ONE, ROOF_GGUF_SIZE_MAX, true},
};

/* Keys below that of the architecture that begin like this belong to such layers, too. */
static const char *const parts[] = {"altup.",
                                    "attn_res_block_size",
                                    "attention.compress_",
                                    "attention.indexer.",
                                    "attention.key_length_swa",
                                    "attention.recurrent_layers",
                                    "attention.shared_kv_layers",
                                    "embedding_length_per_layer_input",
                                    "expert_chunk_feed_forward_length",
                                    "full_attention_interval",
                                    "hyper_connection.",
                                    "kda.",
                                    "moe_latent_size",
                                    "shortconv.",
                                    "ssm.",
                                    "wkv."};

static enum roof_status take_integer(struct roof_gguf_stream *in, int64_t *out, uint64_t type,
                                     const char *key, int64_t max)
{
    uint64_t raw = 0;
    const size_t bytes = value_types[type].bytes;
    TRY(roof_gguf_take_number(in, &raw, bytes));
    const bool negative = value_types[type].sign && (raw >> (8 * bytes - 1)) != 0;
    if (negative || raw > (uint64_t)max) {
        return BAD(in, "%s must be an integer from 0 to %" PRId64, key, max);
    }
    *out = (int64_t)raw;
    return ROOF_OK;
}

static enum roof_status take_list(struct roof_gguf_stream *in, struct roof_gguf_metadata *m,
                                  const struct key *row, int64_t *out, const char *key)
{
    uint64_t type = 0;
    uint64_t count = 0;
    TRY(take_type(in, &type));
    TRY(roof_gguf_take_number(in, &count, 8));
    if (!value_types[type].whole || count == 0 || count > LIST_MAX) {
        return BAD(in, "%s must be an integer, or an array of 1 to %d integers", key, LIST_MAX);
    }
    for (uint64_t i = 0; i < count; i++) {
        int64_t value = 0;
        TRY(take_integer(in, &value, type, key, row->max));
        if (row->form == LACKING) {
            *out += value == 0;
        } else if (row->form == RATIOS) {
            *out = (int64_t)count;
            m->ratio[i < ROOF_LAYERS_MAX ? i : ROOF_LAYERS_MAX - 1] = (uint8_t)value;
        } else if (row->form == PATTERN) {
            m->windows = (int64_t)count;
            m->windowed[i < ROOF_LAYERS_MAX ? i : ROOF_LAYERS_MAX - 1] = value != 0;
        } else if (m->mixed) {
            *out = value > *out ? value : *out;
        } else if (value == 0 && row->form == SPARSE) {
            continue;
        } else if (value == 0 || (*out != 0 && *out != value)) {
            return BAD(in,
                       "%s differs between layers; only models whose layers have the same are "
                       "known",
                       key);
        } else {
            *out = value;
        }
    }
    return ROOF_OK;
}

static enum roof_status take_value(struct roof_gguf_stream *in, struct roof_gguf_metadata *m,
                                   const struct key *row, uint64_t type, const char *key)
{
    int64_t *const out = (int64_t *)(void *)((char *)m + row->offset);
    if (row->form == GIVEN) {
        *out = 1;
        return skip_value(in, type, 0);
    }
    if (type == TYPE_ARRAY && row->form != ONE) {
        return take_list(in, m, row, out, key);
    }
    if (!value_types[type].whole) {
        return BAD(in, "%s must be an integer%s", key,
                   row->form == ONE ? "" : ", or an array of integers");
    }
    TRY(take_integer(in, out, type, key, row->max));
    *out = row->form == FALSE ? *out == 0 : *out;
    return ROOF_OK;
}

static const struct key *find_key(const struct roof_gguf_metadata *m, const char *key)
{
    const size_t length = strlen(m->architecture);
    const bool below_architecture =
        length > 0 && strncmp(key, m->architecture, length) == 0 && key[length] == '.';
    for (size_t i = 0; i < COUNT(keys); i++) {
        const char *const name = keys[i].whole ? key : key + length + 1;
        if ((keys[i].whole || below_architecture) && strcmp(name, keys[i].name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

/* --- entries ------------------------------------------------------------------------------- */

/* Passes over an entry, and keeps its key if it says that the model has a part that other decoders
 * do not have. */
static enum roof_status pass_over(struct roof_gguf_stream *in, struct roof_gguf_metadata *m,
                                  const char *key, uint64_t type)
{
    const size_t length = strlen(m->architecture);
    bool part = false;
    for (size_t i = 0; i < COUNT(parts) && strncmp(key, m->architecture, length) == 0; i++) {
        part =
            part || strncmp(key + length + (key[length] == '.'), parts[i], strlen(parts[i])) == 0;
    }
    if (!part || !value_types[type].whole) {
        return skip_value(in, type, 0);
    }
    uint64_t value = 0;
    TRY(roof_gguf_take_number(in, &value, value_types[type].bytes));
    if (value != 0 && m->other_part[0] == '\0') {
        memcpy(m->other_part, key, strlen(key) + 1);
    }
    return ROOF_OK;
}

/* Reads the key of an entry and the type of its value. */
static enum roof_status take_key(struct roof_gguf_stream *in, char key[ROOF_GGUF_NAME_MAX],
                                 uint64_t *type)
{
    uint64_t length = 0;
    TRY(roof_gguf_take_string(in, key, ROOF_GGUF_NAME_MAX, &length));
    return take_type(in, type);
}

static enum roof_status take_entry(struct roof_gguf_stream *in, struct roof_gguf_metadata *m,
                                   bool seen[COUNT(keys)])
{
    char key[ROOF_GGUF_NAME_MAX];
    uint64_t length = 0;
    uint64_t type = 0;
    TRY(take_key(in, key, &type));
    if (strcmp(key, "general.name") == 0 && type == TYPE_STRING) {
        return roof_gguf_take_string(in, m->name, sizeof m->name, &length);
    }
    const struct key *const row = find_key(m, key);
    if (row == NULL || (row->part && !m->mixed)) {
        return pass_over(in, m, key, type);
    }
    if (seen[row - keys]) {
        return BAD(in, "%s appears twice in the metadata", key);
    }
    seen[row - keys] = true;
    return take_value(in, m, row, type, key);
}

/* Finds general.architecture, which may stand anywhere although it is nearly always first. The
 * stream stays where it is. */
static enum roof_status find_architecture(struct roof_gguf_stream *in, struct roof_gguf_metadata *m,
                                          uint64_t entries)
{
    const uint64_t begin = in->at;
    for (uint64_t i = 0; i < entries && m->architecture[0] == '\0'; i++) {
        char key[ROOF_GGUF_NAME_MAX];
        uint64_t length = 0;
        uint64_t type = 0;
        TRY(take_key(in, key, &type));
        if (strcmp(key, "general.architecture") == 0 && type == TYPE_STRING) {
            TRY(roof_gguf_take_string(in, m->architecture, sizeof m->architecture, &length));
        } else {
            TRY(skip_value(in, type, 0));
        }
    }
    in->at = begin;
    return ROOF_OK;
}

enum roof_status roof_gguf_take_metadata(struct roof_gguf_stream *in,
                                         struct roof_gguf_metadata *out, uint64_t entries)
{
    bool seen[COUNT(keys)] = {false};
    TRY(find_architecture(in, out, entries));
    out->mixed = roof_gguf_is_mixed(out->architecture);
    for (uint64_t i = 0; i < entries; i++) {
        TRY(take_entry(in, out, seen));
    }
    if (out->alignment == 0) {
        out->alignment = 32;
    }
    if ((out->alignment & (out->alignment - 1)) != 0) {
        return BAD(in, "general.alignment is %" PRId64 "; it must be a power of two",
                   out->alignment);
    }
    return ROOF_OK;
}
