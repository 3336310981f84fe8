// SPDX-License-Identifier: MIT
/*
 * The headers of safetensors files. The first two bytes are not of the file: f a whole file, h the
 * JSON of a header, before which its length is written, i an index of a file with one tensor each
 * of two shards; then d, m, l or q: beside which config.json. That of q has layers with a state.
 * Words: src/model/safetensors.c src/model/safetensors_names.c src/model/safetensors_formats.c
 * Words: src/model/safetensors_weights.c src/model/module_names.c src/model/weights.c
 */
#include "model/safetensors.h"
#include "mutate_json.h"

#define SIZES                                                                                      \
    "\"hidden_size\": 64, \"num_hidden_layers\": 1, \"num_attention_heads\": 8, "                  \
    "\"num_key_value_heads\": 2, \"head_dim\": 16, \"intermediate_size\": 80, "                    \
    "\"vocab_size\": 100}"
static const char *const configs[] = {
    "d{\"model_type\": \"llama\", " SIZES,
    "m{\"model_type\": \"mixtral\", \"num_local_experts\": 2, \"num_experts_per_tok\": 1, " SIZES,
    "l{\"model_type\": \"deepseek_v2\", \"kv_lora_rank\": 32, \"q_lora_rank\": 24, "
    "\"qk_nope_head_dim\": 16, \"qk_rope_head_dim\": 8, \"v_head_dim\": 12, " SIZES,
    "q{\"model_type\": \"falcon_h1\", \"mamba_n_heads\": 4, \"mamba_d_head\": 16, "
    "\"mamba_n_groups\": 1, \"mamba_d_state\": 8, \"mamba_d_ssm\": 64, \"mamba_d_conv\": "
    "4, " SIZES};
enum { CONFIGS = sizeof configs / sizeof *configs };

#define WEIGHTS (UINT64_C(1) << 40)
#define SHARD(name, offsets)                                                                       \
    "{\"" name "\": {\"dtype\": \"BF16\", \"shape\": [64], \"data_offsets\": " offsets "}}"

static struct fuzz_file file;
static struct fuzz_file index_file;

/* A file with this header and weights behind it. */
static void fill(const struct fuzz_file *out, const void *header, size_t size, uint64_t weights)
{
    uint8_t *const bytes = malloc(size + 8);
    CHECK(bytes != NULL);
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)((uint64_t)size >> (8 * i));
    }
    memcpy(bytes + 8, header, size);
    fuzz_fill(out, bytes, size + 8, weights);
    free(bytes);
}

static void begin(void)
{
    static const char *const shards[] = {
        SHARD("model.norm.weight", "[0, 128]"),
        SHARD("model.layers.0.input_layernorm.weight", "[0, 128]")};
    static const char *const names[] = {"a.safetensors", "b.safetensors"};
    for (size_t i = 0; i < 2; i++) {
        struct fuzz_file shard;
        fuzz_open(&shard, names[i]);
        fill(&shard, shards[i], strlen(shards[i]), 128);
        (void)close(shard.file);
    }
    fuzz_open(&file, "model.safetensors");
    fuzz_open(&index_file, "model.safetensors.index.json");
}

/* The bytes of weights that a header in JSON promises, so that the file has as many. */
static uint64_t promised(const char *header, size_t size)
{
    struct roof_json *json = NULL;
    double most = 0;
    if (roof_json_parse(&json, header, size, "header", NULL) == ROOF_OK &&
        roof_json_is_object(roof_json_root(json))) {
        for (const roof_json_value *item = roof_json_first(roof_json_root(json)); item != NULL;
             item = roof_json_next(item)) {
            const roof_json_value *const offsets = roof_json_get(item, "data_offsets");
            const roof_json_value *const from =
                roof_json_is_array(offsets) ? roof_json_first(offsets) : NULL;
            double end = 0;
            if (from != NULL && roof_json_number(&end, roof_json_next(from)) && end > most) {
                most = end;
            }
        }
    }
    roof_json_free(json);
    return most < (double)WEIGHTS ? (uint64_t)most : WEIGHTS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct roof_model *models[CONFIGS];
    struct roof_error error = {0};
    if (models[0] == NULL) {
        begin();
        for (size_t i = 0; i < CONFIGS; i++) {
            models[i] = fuzz_model(configs[i] + 1);
        }
    }
    size_t of = 0;
    while (size >= 2 && of < CONFIGS && data[1] != (uint8_t)configs[of][0]) {
        of++;
    }
    if (size < 2 || of == CONFIGS || strchr("fhi", data[0]) == NULL || data[0] == '\0') {
        return 0;
    }
    const char kind = (char)data[0];
    data += 2;
    size -= 2;
    if (kind == 'h') {
        char *const text = fuzz_text(data, size);
        fill(&file, text, size, promised(text, size));
        free(text);
    } else {
        fuzz_fill(kind == 'i' ? &index_file : &file, data, size, 0);
    }
    struct roof_model *const model = roof_model_copy(models[of]);
    CHECK(model != NULL);
    const enum roof_status status =
        roof_safetensors_read(model, kind == 'i' ? index_file.path : file.path, &error);
    if (status == ROOF_OK) {
        CHECK(model->stored ? model->file_bytes >= 0 : configs[of][0] == 'q');
        CHECK(model->layer_classes > 0 && model->layer_classes <= model->layers);
    } else {
        fuzz_refused(status, &error);
    }
    roof_model_free(model);
    return 0;
}
