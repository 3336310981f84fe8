// SPDX-License-Identifier: MIT
/*
 * Checkpoints: what a config.json says, key by key and family by family; the parameters of every
 * embedded model against published counts; how models are found by id, alias, path and folder.
 */
#include "files.h"
#include "models.h"

#include <stdio.h>

#include "base/json.h"
#include "catalog/data.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- configs ------------------------------------------------------------------------------- */

#define SIZES                                                                                      \
    "\"hidden_size\": 64, \"num_hidden_layers\": 6, \"num_attention_heads\": 8, "                  \
    "\"vocab_size\": 100, \"intermediate_size\": 96"
#define LLAMA SIZES ", \"model_type\": \"llama\""

/* Six layers of a llama, and more members. */
static struct roof_model *llama(const char *members)
{
    char text[2048];
    snprintf(text, sizeof text, "{" LLAMA "%s%s}", *members == '\0' ? "" : ", ", members);
    return parse(text);
}

/* Builds a config of another family. */
static struct roof_model *family(const char *type, const char *members)
{
    char text[2048];
    snprintf(text, sizeof text, "{\"model_type\": \"%s\", " SIZES "%s%s}", type,
             *members == '\0' ? "" : ", ", members);
    return parse(text);
}

static void refused(const char *text, int line, int column, const char *message)
{
    struct roof_model *model = (struct roof_model *)&model;
    struct roof_error error = {0};
    const enum roof_status status =
        roof_model_parse(&model, text, strlen(text), "bad.json", &error);
    if (status != ROOF_INVALID || error.status != ROOF_INVALID || error.line != line ||
        error.column != column || strcmp(error.message, message) != 0) {
        fail_msg("%s\nstatus %d at %d:%d: %s\nexpected %d:%d: %s", text, (int)status, error.line,
                 error.column, error.message, line, column, message);
    }
    assert_string_equal(error.source, "bad.json");
    assert_null(model);
    assert_int_equal(roof_model_parse(&model, text, strlen(text), "bad.json", NULL), ROOF_INVALID);
}

/* 'w' for each windowed layer, 'm' for each with experts, 'b' for both, '.' for neither. */
static const char *kinds(const struct roof_model *model)
{
    static char out[ROOF_LAYERS_MAX + 1];
    for (int64_t i = 0; i < model->layers; i++) {
        const struct roof_layer *const layer = &model->layer[model->layer_class[i]];
        out[i] = (char)(layer->windowed && layer->moe ? 'b'
                        : layer->windowed             ? 'w'
                        : layer->moe                  ? 'm'
                                                      : '.');
    }
    out[model->layers] = '\0';
    return out;
}

static void has_layers(struct roof_model *model, const char *expected)
{
    assert_string_equal(kinds(model), expected);
    roof_model_free(model);
}

#define FIELD(name) offsetof(struct roof_model, name)
#define MOE_SIZES "\"moe_intermediate_size\": 24"

/* Every spelling of every size. `without` is the plain key that it stands for, left out. */
static const struct {
    size_t field;
    const char *without;
    const char *key;
    const char *with;
    int64_t value;
    int64_t expected;
} spellings[] = {
    {FIELD(hidden), "hidden_size", "hidden_size", "", 32, 32},
    {FIELD(hidden), "hidden_size", "n_embd", "", 32, 32},
    {FIELD(hidden), "hidden_size", "d_model", "", 32, 32},
    {FIELD(hidden), "hidden_size", "n_embed", "", 32, 32},
    {FIELD(layers), "num_hidden_layers", "num_hidden_layers", "", 3, 3},
    {FIELD(layers), "num_hidden_layers", "n_layer", "", 3, 3},
    {FIELD(layers), "num_hidden_layers", "n_layers", "", 3, 3},
    {FIELD(layers), "num_hidden_layers", "num_layers", "", 512, 512},
    {FIELD(heads), "num_attention_heads", "num_attention_heads", "", 4, 4},
    {FIELD(heads), "num_attention_heads", "n_head", "", 4, 4},
    {FIELD(heads), "num_attention_heads", "n_heads", "", 4, 4},
    {FIELD(vocab), "vocab_size", "vocab_size", "", 77, 77},
    {FIELD(vocab), "vocab_size", "padded_vocab_size", "", 77, 77},
    {FIELD(intermediate), "intermediate_size", "intermediate_size", "", 50, 50},
    {FIELD(intermediate), "intermediate_size", "n_inner", "", 50, 50},
    {FIELD(intermediate), "intermediate_size", "ffn_dim", "", 50, 50},
    {FIELD(intermediate), "intermediate_size", "ffn_hidden_size", "", 50, 50},
    {FIELD(kv_heads), "", "num_key_value_heads", "", 2, 2},
    {FIELD(kv_heads), "", "num_kv_heads", "", 2, 2},
    {FIELD(kv_heads), "", "n_head_kv", "", 2, 2},
    {FIELD(head_dim), "", "head_dim", "", 20, 20},
    {FIELD(positions), "", "max_position_embeddings", "", 512, 512},
    {FIELD(positions), "", "n_positions", "", 512, 512},
    {FIELD(positions), "", "n_ctx", "", 512, 512},
    {FIELD(positions), "", "max_seq_len", "", 512, 512},
    {FIELD(positions), "", "seq_length", "", 1000000000, 1000000000},
    {FIELD(window), "", "sliding_window", "", 7, 7},
    {FIELD(experts), "", "num_local_experts", ", \"num_experts_per_tok\": 2", 8, 8},
    {FIELD(experts), "", "n_routed_experts", ", \"num_experts_per_tok\": 2", 8, 8},
    {FIELD(experts), "", "num_experts", ", \"num_experts_per_tok\": 2", 8, 8},
    {FIELD(experts), "", "moe_num_experts", ", \"num_experts_per_tok\": 2", 8, 8},
    {FIELD(top_k), "", "num_experts_per_tok", ", \"num_experts\": 8", 3, 3},
    {FIELD(top_k), "", "experts_per_token", ", \"num_experts\": 8", 3, 3},
    {FIELD(top_k), "", "num_experts_per_token", ", \"num_experts\": 8", 3, 3},
    {FIELD(top_k), "", "moe_topk", ", \"num_experts\": 8", 3, 3},
    {FIELD(top_k), "", "moe_top_k", ", \"num_experts\": 8", 3, 3},
    {FIELD(top_k), "", "moe_k", ", \"num_experts\": 8", 8, 8},
    {FIELD(expert_intermediate), "", "moe_intermediate_size", ", \"num_experts\": 8, \"moe_k\": 2",
     24, 24},
    {FIELD(expert_intermediate), "", "expert_ffn_hidden_size", ", \"num_experts\": 8, \"moe_k\": 2",
     24, 24},
    /* The experts are as wide as the dense MLP when nothing else is said. */
    {FIELD(expert_intermediate), "", "num_experts", ", \"moe_k\": 2", 8, 96},
    {FIELD(shared_intermediate), "", "shared_expert_intermediate_size",
     ", \"num_experts\": 8, \"moe_k\": 2, " MOE_SIZES, 40, 40},
    /* Shared experts by number are each as wide as a routed one. */
    {FIELD(shared_intermediate), "", "n_shared_experts",
     ", \"num_experts\": 8, \"moe_k\": 2, " MOE_SIZES, 2, 48},
    {FIELD(shared_intermediate), "", "num_shared_experts",
     ", \"num_experts\": 8, \"moe_k\": 2, " MOE_SIZES, 2, 48},
    {FIELD(shared_intermediate), "", "n_shared_experts", ", \"num_experts\": 8, \"moe_k\": 2", 1,
     96},
    {FIELD(shared_intermediate), "", "num_experts", ", \"moe_k\": 2", 8, 0},
};

static void test_spellings(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        int value;
    } plain[] = {{"hidden_size", 64},
                 {"num_hidden_layers", 6},
                 {"num_attention_heads", 8},
                 {"vocab_size", 100},
                 {"intermediate_size", 96}};
    for (size_t i = 0; i < COUNT(spellings); i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        roof_text_printf(&text, "{\"model_type\": \"llama\", \"%s\": %lld%s", spellings[i].key,
                         (long long)spellings[i].value, spellings[i].with);
        for (size_t k = 0; k < COUNT(plain); k++) {
            if (strcmp(plain[k].key, spellings[i].without) != 0) {
                roof_text_printf(&text, ", \"%s\": %d", plain[k].key, plain[k].value);
            }
        }
        roof_text_put(&text, "}");
        struct roof_model *const model = parse(text.data);
        int64_t value = 0;
        memcpy(&value, (const char *)model + spellings[i].field, sizeof value);
        if (value != spellings[i].expected) {
            fail_msg("%s gives %lld", text.data, (long long)value);
        }
        roof_model_free(model);
        roof_text_free(&text);
    }
}

/* Absent and null are the same; what follows from other sizes is filled in. */
static void test_defaults(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "\"num_key_value_heads\": null, \"head_dim\": null, \"sliding_window\": null, "
        "\"q_lora_rank\": null, \"kv_lora_rank\": null, \"max_position_embeddings\": null, "
        "\"n_routed_experts\": null, \"moe_layer_freq\": null, \"tie_word_embeddings\": null, "
        "\"attention_bias\": null, \"layer_types\": null, \"rope_scaling\": null, "
        "\"quantization_config\": null, \"mlp_only_layers\": null, \"text_config\": null",
        /* Dense models of some families give no or one expert. */
        "\"num_experts\": 0, \"num_experts_per_tok\": 0",
        "\"num_local_experts\": 1, \"num_experts_per_tok\": 1, \"n_shared_experts\": 1",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct roof_model *const m = llama(texts[i]);
        assert_int_equal(m->kv_heads, 8);
        assert_int_equal(m->head_dim, 8); /* 64 / 8 */
        assert_int_equal(m->rotary_dim, 8);
        assert_int_equal(m->positions, 0);
        assert_int_equal(m->position_rows, 0);
        assert_int_equal(m->window, 0);
        assert_int_equal(m->q_lora_rank, 0);
        assert_int_equal(m->kv_lora_rank, 0);
        assert_int_equal(m->experts, 0);
        assert_int_equal(m->top_k, 0);
        assert_int_equal(m->expert_intermediate, 0);
        assert_int_equal(m->shared_intermediate, 0);
        assert_false(m->tied || m->layernorm || m->qkv_bias || m->o_bias || m->mlp_bias ||
                     m->expert_bias || m->router_bias || m->qk_norm || m->post_norms ||
                     m->parallel || m->sinks || m->shared_gate);
        assert_true(m->gated && m->norm_gain);
        assert_string_equal(m->id, "tiny");
        assert_string_equal(m->name, "tiny");
        assert_string_equal(m->confidence, "");
        assert_null(*m->remarks);
        assert_null(*m->notes);
        assert_null(*m->sources);
        assert_null(m->layout);
        assert_false(m->stored);
        assert_true(m->file_bytes != m->file_bytes);
        assert_int_equal(m->layer_classes, 1);
        has_layers(m, "......");
    }
    /* The head size need not be hidden / heads, and then nothing must divide. */
    struct roof_model *const m = parse("{\"hidden_size\": 65, \"num_hidden_layers\": 1, "
                                       "\"num_attention_heads\": 8, \"vocab_size\": 9, "
                                       "\"intermediate_size\": 5, \"head_dim\": 16}");
    assert_int_equal(m->head_dim, 16);
    roof_model_free(m);
}

/* The language model's object first, then the root; the root's null does not hide anything. */
static void test_nested(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        const char *after;
    } wrappers[] = {{"\"text_config\": ", ""},
                    {"\"llm_config\": ", ""},
                    {"\"language_config\": ", ""},
                    {"\"thinker_config\": {\"text_config\": ", "}"}};
    for (size_t i = 0; i < COUNT(wrappers); i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "{%s{\"model_type\": \"gemma3_text\", \"hidden_size\": 64, "
                 "\"num_hidden_layers\": 7, \"num_attention_heads\": 8, \"head_dim\": null, "
                 "\"intermediate_size\": 96, \"tie_word_embeddings\": false}%s, "
                 "\"vision_config\": {\"hidden_size\": 9}, "
                 "\"model_type\": \"llama\", \"hidden_size\": 1, \"num_hidden_layers\": 1, "
                 "\"vocab_size\": 100, \"head_dim\": 12, \"tie_word_embeddings\": true, "
                 "\"sliding_window\": 5, \"num_key_value_heads\": 2}",
                 wrappers[i].before, wrappers[i].after);
        struct roof_model *const m = parse(text);
        assert_int_equal(m->hidden, 64);
        assert_int_equal(m->layers, 7);
        assert_int_equal(m->heads, 8);
        assert_int_equal(m->vocab, 100);
        assert_int_equal(m->head_dim, 12);
        assert_int_equal(m->kv_heads, 2);
        assert_false(m->tied);
        assert_true(m->qk_norm && m->post_norms); /* the family is that of the inner object */
        assert_string_equal(m->remarks[0],
                            "only the language model is counted, not its vision encoder");
        assert_null(m->remarks[1]);
        has_layers(m, "wwwww.w");
    }
    /* The family of the root where the inner object names none. */
    struct roof_model *const m =
        parse("{\"model_type\": \"gemma2\", \"text_config\": {" SIZES "}}");
    assert_true(m->tied && m->post_norms && !m->qk_norm);
    roof_model_free(m);
    refused("{\"model_type\": \"gemma2\",\n \"text_config\": {\"hidden_size\": 64, "
            "\"num_attention_heads\": 4}}",
            2, 17,
            "not the config.json of a transformer; missing or 0: num_hidden_layers, vocab_size, "
            "intermediate_size");
}

/* All that is missing is named at once. */
static void test_missing(void **state)
{
    (void)state;
    refused("{}", 1, 1,
            "not the config.json of a transformer; missing or 0: hidden_size, num_hidden_layers, "
            "num_attention_heads, vocab_size, intermediate_size");
    refused("\n {\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 0}", 2, 2,
            "not the config.json of a transformer; missing or 0: num_hidden_layers, "
            "num_attention_heads, vocab_size, intermediate_size");
    /* These have no MLP of this width, or a default for it. */
    refused("{\"model_type\": \"gpt2\"}", 1, 1,
            "not the config.json of a transformer; missing or 0: hidden_size, num_hidden_layers, "
            "num_attention_heads, vocab_size");
    refused("{\"hidden_size\": 64, \"moe_intermediate_size\": 8}", 1, 1,
            "not the config.json of a transformer; missing or 0: num_hidden_layers, "
            "num_attention_heads, vocab_size");
    /* With one token there is nothing to choose. */
    refused("{\"model_type\": \"llama\", \"vocab_size\": 1}", 1, 39,
            "vocab_size must be an integer from 2 to 1000000000");
    refused("{\"model_type\": \"llama\", \"vocab_size\": 0}", 1, 39,
            "vocab_size must be an integer from 2 to 1000000000");
    refused("{\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
            "\"vocab_size\": null, \"intermediate_size\": 8}",
            1, 1, "not the config.json of a transformer; missing or 0: vocab_size");
    refused("{\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
            "\"vocab_size\": 9}",
            1, 1, "intermediate_size is missing");
    refused("{\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
            "\"vocab_size\": 9, \"num_experts\": 4, \"moe_k\": 1}",
            1, 1, "moe_intermediate_size is missing");
    /* One dense layer among those with experts needs a width too. */
    refused("{\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
            "\"vocab_size\": 9, \"num_experts\": 4, \"moe_k\": 1, \"moe_intermediate_size\": 8, "
            "\"mlp_only_layers\": [1]}",
            1, 1, "intermediate_size is missing");
    refused("[]", 1, 1, "a config.json is an object");
    refused("\n3", 2, 1, "a config.json is an object");
}

/* Sizes are integers in their ranges; the place is that of the value. */
static void test_wrong_values(void **state)
{
    (void)state;
    static const char *const wrong[] = {"-1",  "2.5",        "1e30", "\"4\"", "true",
                                        "[4]", "{\"a\": 4}", "513",  "-1e-3"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"hidden_size\": 64,\n  \"num_hidden_layers\": %s}",
                 wrong[i]);
        refused(text, 2, 24, "num_hidden_layers must be an integer from 0 to 512");
        /* The name is the one that the file has. */
        snprintf(text, sizeof text, "{\"hidden_size\": 64, \"n_layer\": %s}", wrong[i]);
        refused(text, 1, 32, "n_layer must be an integer from 0 to 512");
    }
    static const struct {
        const char *member; /* its value begins at column */
        int column;
        const char *message;
    } cases[] = {
        {"\"n_embd\": 1000000001", 11, "n_embd must be an integer from 0 to 1000000000"},
        {"\"num_key_value_heads\": 1.5", 24,
         "num_key_value_heads must be an integer from 1 to 1000000000"},
        {"\"num_key_value_heads\": 0", 24,
         "num_key_value_heads must be an integer from 1 to 1000000000"},
        {"\"head_dim\": \"128\"", 13, "head_dim must be an integer from 0 to 1000000000"},
        {"\"sliding_window\": -4096", 19, "sliding_window must be an integer from 0 to 1000000000"},
        {"\"num_experts\": []", 16, "num_experts must be an integer from 0 to 1000000000"},
        {"\"n_shared_experts\": 1001", 21, "n_shared_experts must be an integer from 0 to 1000"},
        {"\"first_k_dense_replace\": 513", 26,
         "first_k_dense_replace must be an integer from 0 to 512"},
        {"\"decoder_sparse_step\": -2", 24, "decoder_sparse_step must be an integer from 1 to 512"},
        {"\"decoder_sparse_step\": 0", 24, "decoder_sparse_step must be an integer from 1 to 512"},
        {"\"num_nextn_predict_layers\": \"1\"", 29,
         "num_nextn_predict_layers must be an integer from 0 to 512"},
        {"\"interleave_moe_layer_step\": 0.5", 30,
         "interleave_moe_layer_step must be an integer from 0 to 512"},
        {"\"sliding_window_pattern\": \"LLG\"", 27,
         "sliding_window_pattern must be an integer from 0 to 512"},
        {"\"max_position_embeddings\": 1e10", 28,
         "max_position_embeddings must be an integer from 0 to 1000000000"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        const bool hidden = strstr(cases[i].member, "n_embd") != NULL;
        snprintf(text, sizeof text, "{%s\n%s}",
                 hidden ? ""
                        : "\"hidden_size\": 64, \"num_hidden_layers\": 6, "
                          "\"num_attention_heads\": 8, \"vocab_size\": 100,",
                 cases[i].member);
        refused(text, 2, cases[i].column, cases[i].message);
    }
    /* Integers may be written as 4.0 or 4e0. */
    struct roof_model *const m = llama("\"num_key_value_heads\": 4.0, \"head_dim\": 1.6e1");
    assert_int_equal(m->kv_heads, 4);
    assert_int_equal(m->head_dim, 16);
    roof_model_free(m);
}

/* Sizes that do not fit together. */
static void test_contradictions(void **state)
{
    (void)state;
    refused("{\"hidden_size\": 65, \"num_hidden_layers\": 1, \"num_attention_heads\": 8, "
            "\"vocab_size\": 9, \"intermediate_size\": 5}",
            1, 1,
            "head_dim is missing, and hidden_size 65 is not a multiple of "
            "num_attention_heads 8");
    refused("{" LLAMA ", \"num_key_value_heads\": 3}", 1, 1,
            "num_attention_heads 8 must be a multiple of num_key_value_heads 3");
    refused("{" LLAMA ", \"num_key_value_heads\": 16}", 1, 1,
            "num_attention_heads 8 must be a multiple of num_key_value_heads 16");
    refused("{" LLAMA ", \"num_experts\": 8, \"num_experts_per_tok\": 9}", 1, 1,
            "experts per token must be 1 to 8, not 9");
    refused("{" LLAMA ", \"num_experts\": 8}", 1, 1, "experts per token must be 1 to 8, not 0");
    refused("{" LLAMA ", \"kv_lora_rank\": 32, \"qk_nope_head_dim\": 16, \"v_head_dim\": 16}", 1, 1,
            "a model with kv_lora_rank needs qk_nope_head_dim, qk_rope_head_dim and v_head_dim");
    refused("{" LLAMA ", \"kv_lora_rank\": 31, \"qk_nope_head_dim\": 16, \"v_head_dim\": 16, "
            "\"qk_rope_head_dim\": 8}",
            1, 1, "kv_lora_rank + qk_rope_head_dim must be even");
    refused("{" LLAMA ",\n\"word_embed_proj_dim\": 32}", 2, 24,
            "word_embed_proj_dim other than hidden_size is not known");
    roof_model_free(llama("\"word_embed_proj_dim\": 64"));
    /* Contradictions that must not be ignored. */
    refused("{" LLAMA ",\n\"n_embd\": 65}", 2, 11, "n_embd is not the hidden_size of 64");
    refused("{" LLAMA ",\n\"n_layer\": 3}", 2, 12, "n_layer is not the num_hidden_layers of 6");
    roof_model_free(llama("\"n_layers\": 6, \"d_model\": 64, \"n_heads\": null"));
    refused("{" LLAMA ", \"num_kv_heads\": 4,\n\"n_head_kv\": 8}", 2, 14,
            "n_head_kv is not the num_kv_heads of 4");
    refused("{" LLAMA
            ", \"num_experts_per_tok\": 2, \"num_local_experts\": 4,\n\"num_experts\": 8}",
            2, 16, "num_experts is not the num_local_experts of 4");
    roof_model_free(llama("\"padded_vocab_size\": 128, \"n_positions\": 9, \"n_ctx\": 8"));
    refused("{" SIZES ",\n\"model_type\": [\"llama\"]}", 2, 15, "model_type must be a string");
    refused("{" SIZES ",\n\"model_type\": \"mamba\"}", 2, 15,
            "the architecture of model_type mamba is not supported: its layers are Mamba-1");
    refused("{" SIZES ",\n\"model_type\": \"phi4flash\"}", 2, 15,
            "the architecture of model_type phi4flash is not supported: Mamba-1 layers and one "
            "cache share their memory with later layers");
    refused("{" SIZES ",\n\"model_type\": \"ernie4_5_moe_vl\"}", 2, 15,
            "the architecture of model_type ernie4_5_moe_vl is not supported: it has two sets of "
            "experts, for text and for images");
    refused(
        "{\"text_config\": {" LLAMA "},\n\"model_type\": \"gemma4_unified\"}", 2, 15,
        "the architecture of model_type gemma4_unified is not supported: layers differ in the size "
        "of their heads, "
        "and share keys and values");
    refused("{" LLAMA ", \"num_experts_per_tok\": 2}", 1, 1,
            "each token chooses 2 experts, and how many there are is missing (num_local_experts)");
    roof_model_free(llama("\"num_experts_per_tok\": 2, \"n_routed_experts\": null"));
    roof_model_free(llama("\"num_experts_per_tok\": 1, \"num_experts\": 1"));
    refused("{" LLAMA ", \"q_lora_rank\": 16, \"qk_nope_head_dim\": 16, \"v_head_dim\": 16}", 1, 1,
            "latent attention without kv_lora_rank is not known");
    refused("{" LLAMA ", \"qk_nope_head_dim\": 16, \"kv_lora_rank\": 0}", 1, 1,
            "latent attention without kv_lora_rank is not known");
    roof_model_free(llama("\"kv_lora_rank\": null, \"q_lora_rank\": null, "
                          "\"qk_nope_head_dim\": 0"));
    static const char *const wrong_parts[] = {"0", "2", "-1", "\"x\"", "1.001"};
    for (size_t i = 0; i < COUNT(wrong_parts); i++) {
        char text[512];
        snprintf(text, sizeof text, "{" LLAMA ",\n\"rotary_pct\": %s}", wrong_parts[i]);
        refused(text, 2, 15, "rotary_pct must be a number above 0, up to 1");
    }
    refused("{\"hidden_size\": 64, \"num_hidden_layers\": 6, \"num_attention_heads\": 1000000000, "
            "\"vocab_size\": 100, \"head_dim\": 101, \"intermediate_size\": 96}",
            1, 1, "1000000000 attention heads of 101 are wider than the 1e+11 that are possible");
    refused("{\"model_type\": \"gpt2\", " SIZES "}", 1, 1,
            "max_position_embeddings missing, or 0: it has a table of positions");
}

/* The head sizes of MLA are its own; a query projection without a latent is null. */
static void test_latent_attention(void **state)
{
    (void)state;
    for (int direct = 0; direct < 2; direct++) {
        char members[512];
        snprintf(members, sizeof members,
                 "\"q_lora_rank\": %s, \"kv_lora_rank\": 32, \"qk_nope_head_dim\": 16, "
                 "\"qk_rope_head_dim\": 8, \"v_head_dim\": 12, \"num_key_value_heads\": 8",
                 direct > 0 ? "null" : "24");
        struct roof_model *const m = family("deepseek_v2", members);
        assert_int_equal(m->q_lora_rank, direct > 0 ? 0 : 24);
        assert_int_equal(m->kv_lora_rank, 32);
        assert_int_equal(m->head_dim, 24); /* 16 + 8 */
        assert_int_equal(m->rotary_dim, 8);
        assert_int_equal(m->v_head_dim, 12);
        assert_string_equal(roof_attention_name(m), "MLA");
        roof_model_free(m);
    }
}

/* --- windows ------------------------------------------------------------------------------- */

static void test_windows(void **state)
{
    (void)state;
#define LIST(a, b, c, d, e, f)                                                                     \
    "\"layer_types\": [\"" a "_attention\", \"" b "_attention\", \"" c "_attention\", \"" d        \
    "_attention\", \"" e "_attention\", \"" f "_attention\"]"
#define S "sliding"
#define F "full"
    static const struct {
        const char *family;
        const char *members;
        const char *layers;
    } cases[] = {
        {"mistral", "\"sliding_window\": 9", "wwwwww"},
        {"mistral", "\"sliding_window\": null", "......"},
        {"mistral", "\"sliding_window\": 0", "......"},
        /* The list decides, where there is one and a window. */
        {"llama", "\"sliding_window\": 9, " LIST(S, F, F, S, S, F), "w..ww."},
        {"gemma3_text", "\"sliding_window\": 9, " LIST(F, F, F, F, S, S), "....ww"},
        {"llama", "\"sliding_window\": null, " LIST(S, F, F, S, S, F), "......"},
        {"qwen3", "\"sliding_window\": 9, \"use_sliding_window\": true, " LIST(F, S, F, S, F, S),
         ".w.w.w"},
        {"qwen3", "\"sliding_window\": 9, \"use_sliding_window\": false, " LIST(F, F, F, F, F, F),
         "......"},
        /* Every n-th layer is global. */
        {"gemma2", "\"sliding_window\": 9", "w.w.w."},
        {"gemma3_text", "\"sliding_window\": 9", "wwwww."},
        {"gemma3_text", "\"sliding_window\": 9, \"sliding_window_pattern\": 3", "ww.ww."},
        {"gemma3_text", "\"sliding_window\": 9, \"_sliding_window_pattern\": 3", "ww.ww."},
        {"cohere2", "\"sliding_window\": 9, \"_sliding_window_pattern\": 3", "ww.ww."},
        {"gemma3_text",
         "\"sliding_window\": 9, \"_sliding_window_pattern\": 6, " LIST(F, F, F, F, S, S),
         "....ww"},
        {"cohere2",
         "\"sliding_window\": 9, \"_sliding_window_pattern\": 4, " LIST(S, F, F, S, S, F),
         "w..ww."},
        {"llama", "\"sliding_window\": 9, \"sliding_window_pattern\": 4", "www.ww"},
        {"llama", "\"sliding_window\": 9, \"sliding_window_pattern\": 1", "......"},
        {"gpt_oss", "\"sliding_window\": 9", "w.w.w."},
        {"gemma2", "", "......"},
        /* Qwen names a window that it does not use, unless asked; the first layers see all. */
        {"qwen2", "\"sliding_window\": 9", "......"},
        {"qwen2", "\"sliding_window\": 9, \"use_sliding_window\": false", "......"},
        {"qwen2", "\"sliding_window\": 9, \"use_sliding_window\": false, \"max_window_layers\": 2",
         "......"},
        {"qwen2", "\"sliding_window\": 9, \"use_sliding_window\": true, \"max_window_layers\": 2",
         "..wwww"},
        {"qwen2", "\"sliding_window\": 9, \"use_sliding_window\": true, \"max_window_layers\": 6",
         "......"},
        {"qwen2", "\"sliding_window\": 9, \"use_sliding_window\": true, \"max_window_layers\": 28",
         "......"},
        {"qwen3", "\"sliding_window\": 9, \"use_sliding_window\": true, \"max_window_layers\": 0",
         "wwwwww"},
        {"qwen2_moe", "\"sliding_window\": 9, \"use_sliding_window\": false", "......"},
        {"qwen3_moe", "\"sliding_window\": 9", "......"},
        /* Others may switch it off. */
        {"mistral", "\"sliding_window\": 9, \"use_sliding_window\": false", "......"},
        /* max_window_layers is Qwen's alone. */
        {"mistral", "\"sliding_window\": 9, \"max_window_layers\": 2", "wwwwww"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const m = family(cases[i].family, cases[i].members);
        if (strcmp(kinds(m), cases[i].layers) != 0) {
            fail_msg("%s %s: %s, expected %s", cases[i].family, cases[i].members, kinds(m),
                     cases[i].layers);
        }
        roof_model_free(m);
    }
    refused("{" LLAMA ",\n\"layer_types\": [\"full_attention\"]}", 2, 16,
            "layer_types must be an array with a name for each of the 6 layers");
    refused("{" LLAMA ",\n\"layer_types\": \"full_attention\"}", 2, 16,
            "layer_types must be an array with a name for each of the 6 layers");
    refused("{" LLAMA ",\n\"layer_types\": [\"full_attention\", \"full_attention\", "
            "\"full_attention\", \"full_attention\", \"linear_attention\", \"full_attention\"]}",
            2, 89, "layer_types: only full_attention and sliding_attention are known");
    refused("{" LLAMA ",\n" LIST(F, S, F, F, F, F) "}", 2, 35,
            "layer_types has sliding_attention, and sliding_window is missing");
    refused("{" LLAMA
            ", \"sliding_window\": 9, \"use_sliding_window\": false,\n" LIST(S, F, F, F, F, F) "}",
            2, 17, "layer_types has sliding_attention, and use_sliding_window is not true");
    refused("{" LLAMA ",\n\"layer_types\": [1, 2, 3, 4, 5, 6]}", 2, 17,
            "layer_types: only full_attention and sliding_attention are known");
}

/* --- states -------------------------------------------------------------------------------- */

/* 's' for each layer with a state, 'a' with attention, 'h' with both, '-' with neither; a capital
 * letter (or '=') where it has no MLP. */
static const char *mixers(const struct roof_model *model)
{
    static char out[ROOF_LAYERS_MAX + 1];
    for (int64_t i = 0; i < model->layers; i++) {
        const struct roof_layer *const layer = &model->layer[model->layer_class[i]];
        const int kind = (layer->stateful ? 1 : 0) + (layer->no_attention ? 0 : 2);
        out[i] = (layer->no_mlp ? "=SAH" : "-sah")[kind];
    }
    out[model->layers] = '\0';
    return out;
}

#define DELTA                                                                                      \
    "\"linear_num_value_heads\": 4, \"linear_num_key_heads\": 2, \"linear_key_head_dim\": 6, "     \
    "\"linear_value_head_dim\": 10, \"linear_conv_kernel_dim\": 4"
#define SSM                                                                                        \
    "\"mamba_num_heads\": 4, \"n_groups\": 2, \"ssm_state_size\": 6, \"mamba_head_dim\": 10, "     \
    "\"conv_kernel\": 4"
#define KDA(list)                                                                                  \
    "\"linear_attn_config\": {\"kda_layers\": [" list "], \"full_attn_layers\": [], "              \
    "\"head_dim\": 6, \"num_heads\": 4, \"short_conv_kernel_size\": 4}"

static void test_states(void **state)
{
    (void)state;
    static const struct {
        const char *family;
        const char *members;
        const char *layers;
    } cases[] = {
        {"llama", "", "aaaaaa"},
        {"qwen3_next", DELTA, "sssass"},
        {"qwen3_next", DELTA ", \"full_attention_interval\": 3", "ssassa"},
        {"qwen3_5_moe_text",
         DELTA ", \"layer_types\": [\"full_attention\", \"linear_attention\", "
               "\"linear_attention\", \"full_attention\", \"full_attention\", "
               "\"linear_attention\"]",
         "assaas"},
        {"kimi_linear", KDA("1, 2, 5"), "ssaasa"},
        {"nemotron_h", SSM ", \"hybrid_override_pattern\": \"M-M*-M\"", "S-SA-S"},
        {"nemotron_h",
         SSM ", \"layers_block_type\": [\"mamba\", \"mlp\", \"attention\", \"mamba\", \"mamba\", "
             "\"mlp\"]",
         "S-ASS-"},
        {"falcon_h1", SSM, "hhhhhh"},
        {"granitemoehybrid",
         SSM ", \"layer_types\": [\"mamba\", \"mamba\", \"attention\", \"mamba\", \"mamba\", "
             "\"mamba\"]",
         "ssasss"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const m = family(cases[i].family, cases[i].members);
        if (strcmp(mixers(m), cases[i].layers) != 0) {
            fail_msg("%s %s: %s, expected %s", cases[i].family, cases[i].members, mixers(m),
                     cases[i].layers);
        }
        assert_int_equal(m->mixer.heads, i == 0 ? 0 : 4);
        assert_int_equal(m->mixer.state, ROOF_PRECISION_FP32);
        roof_model_free(m);
    }
    struct roof_model *m = family("nemotron_h", SSM ", \"hybrid_override_pattern\": \"M-M*-M\", "
                                                    "\"mamba_ssm_cache_dtype\": \"bfloat16\"");
    assert_int_equal(m->mixer.state, ROOF_PRECISION_BF16);
    assert_int_equal(m->rotary_dim, 0);
    assert_true(m->mixer.conv_bias && !m->mixer.plain);
    roof_model_free(m);
    /* The size of a head may follow from the width of all. */
    m = family("falcon_h1", "\"mamba_n_heads\": 4, \"mamba_n_groups\": 1, \"mamba_d_state\": 6, "
                            "\"mamba_d_head\": \"auto\", \"mamba_d_ssm\": 48, \"mamba_d_conv\": 4, "
                            "\"mamba_rms_norm\": false");
    assert_int_equal(m->mixer.value_dim, 12);
    assert_true(m->mixer.plain);
    roof_model_free(m);
    refused("{\"model_type\": \"nemotron_h\", " SIZES ", " SSM
            ",\n\"hybrid_override_pattern\": \"M-MX-M\"}",
            2, 28, "hybrid_override_pattern: only M, E, * and - are known");
    refused("{\"model_type\": \"nemotron_h\", " SIZES ", " SSM
            ",\n\"hybrid_override_pattern\": \"M-M\"}",
            2, 28, "hybrid_override_pattern must have a letter for each of the 6 layers");
    refused("{" LLAMA ",\n" DELTA "}", 2, 27,
            "the key linear_num_value_heads is not known and may change the layers; remove it if "
            "it does not");
    refused("{\"model_type\": \"gemma3n_text\", " SIZES ",\n\"num_kv_shared_layers\": 6}", 1, 1,
            "num_kv_shared_layers must be less than the 6 layers, and head_dim, sliding_window and "
            "intermediate_size above 0");
    static const char *const zero[] = {"head_dim", "sliding_window", "intermediate_size"};
    for (size_t i = 0; i < COUNT(zero); i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"model_type\": \"gemma3n_text\", \"%s\": 0}", zero[i]);
        refused(text, 1, 1,
                "num_kv_shared_layers must be less than the 35 layers, and head_dim, "
                "sliding_window and intermediate_size above 0");
    }
    refused("{\"model_type\": \"gemma3n_text\", " SIZES ",\n\"altup_num_inputs\": 1}", 2, 21,
            "altup_num_inputs must be an integer from 2 to 1000000000");
    static const char *const sparse[] = {"block_size", "block_counts", "window_size",
                                         "hidden_ratio"};
    for (size_t i = 0; i < COUNT(sparse); i++) {
        char text[512];
        char message[128];
        snprintf(text, sizeof text, "{\"model_type\": \"nsa\", " SIZES ",\n\"%s\": 0}", sparse[i]);
        snprintf(message, sizeof message, "%s must be an integer from 1 to 1000000000", sparse[i]);
        refused(text, 2, (int)strlen(sparse[i]) + 5, message);
    }
    refused("{\"model_type\": \"nsa\", " SIZES
            ",\n\"block_size\": 1000000000, \"block_counts\": 1001}",
            2, 43, "block_size times block_counts must be at most 1000000000000");
    refused("{\"model_type\": \"mllama\", " SIZES "}", 1, 1,
            "cross_attention_layers must be an array with the numbers of layers");
    refused("{\"model_type\": \"mllama\", " SIZES ",\n\"cross_attention_layers\": []}", 2, 27,
            "cross_attention_layers must be an array with the numbers of layers");
    refused("{\"model_type\": \"mllama\", " SIZES ",\n\"cross_attention_layers\": [1, 6]}", 2, 31,
            "cross_attention_layers must be an integer from 0 to 5");
    refused("{" LLAMA ",\n\"cross_attention_layers\": [1]}", 2, 27,
            "the key cross_attention_layers is not supported: some layers attend to images");
    refused("{\"model_type\": \"kimi_linear\", " SIZES ",\n\"linear_attn_config\": 4}", 2, 23,
            "linear_attn_config must be an object");
    refused("{\"model_type\": \"kimi_k3\", " SIZES ", " KDA("1") ",\n\"attn_res_block_size\": 0}",
            2, 24, "attn_res_block_size must be an integer from 1 to 512");
    refused("{\"model_type\": \"qwen3_next\", " SIZES "}", 1, 1,
            "layers with a state need heads (a multiple of their key heads or groups), the sizes "
            "of keys and values, and a convolution");
}

/* Mistakes: a list read the wrong way round, offsets counted from 1, a state of every head as wide
 * as the model. */
static void test_lightning_and_scans(void **state)
{
    (void)state;
    static const struct {
        const char *family;
        const char *members;
        const char *layers;
        const char *experts;
    } cases[] = {
        {"minimax_m1", "\"attn_type_list\": [0, 1, 0, 0, 0, 1]", "sasssa", "......"},
        {"minimax",
         "\"layer_types\": [\"linear_attention\", \"full_attention\", \"linear_attention\", "
         "\"linear_attention\", \"full_attention\", \"full_attention\"]",
         "sassaa", "......"},
        /* The class has 16 experts in every other layer, and attention in each eighth. */
        {"jamba", "\"num_key_value_heads\": 8", "ssssas", ".m.m.m"},
        {"jamba",
         "\"attn_layer_period\": 3, \"attn_layer_offset\": 2, \"expert_layer_period\": 4, "
         "\"expert_layer_offset\": 0, \"num_experts\": 4",
         "ssassa", "m...m."},
        {"jamba", "\"num_experts\": 1", "ssssas", "......"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const m = family(cases[i].family, cases[i].members);
        if (strcmp(mixers(m), cases[i].layers) != 0 || strcmp(kinds(m), cases[i].experts) != 0) {
            fail_msg("%s %s: %s", cases[i].family, cases[i].members, mixers(m));
        }
        assert_int_equal(m->mixer.state, ROOF_PRECISION_BF16);
        roof_model_free(m);
    }
    struct roof_model *m = family("minimax_m1", "\"attn_type_list\": [0, 1, 0, 0, 0, 1], "
                                                "\"head_dim\": 12, \"postnorm\": true");
    assert_int_equal(m->mixer.heads, 8);
    assert_int_equal(m->mixer.key_dim, 12);
    assert_int_equal(m->mixer.value_dim, 12);
    assert_int_equal(m->mixer.chunk, 256);
    assert_int_equal(*m->remarks == NULL, 1);
    roof_model_free(m);
    m = family("jamba", "\"mamba_expand\": 3, \"mamba_dt_rank\": \"auto\"");
    assert_int_equal(m->mixer.heads, 3 * 64);
    assert_int_equal(m->experts, 16);
    assert_int_equal(m->top_k, 2);
    assert_int_equal(m->kv_heads, 8);
    assert_int_equal(m->mixer.taps, 4);
    assert_int_equal(m->mixer.rank, 4);
    assert_int_equal(m->mixer.key_dim, 16);
    assert_int_equal(m->rotary_dim, 0);
    roof_model_free(m);
    m = family("jamba", "");
    assert_int_equal(m->mixer.heads, 2 * 64);
    roof_model_free(m);
    refused("{\"model_type\": \"minimax_m1\", " SIZES "}", 1, 1,
            "attn_type_list must be an array with a number for each of the 6 layers");
    refused("{\"model_type\": \"minimax_m1\", " SIZES ",\n\"attn_type_list\": [0, 1]}", 2, 19,
            "attn_type_list must be an array with a number for each of the 6 layers");
    /* Layers for prediction have two parts, the others one; a latent is that of Nemotron alone. */
    m = family("nemotron_h", SSM ", \"hybrid_override_pattern\": \"MEM*EM\", "
                                 "\"n_routed_experts\": 4, \"num_experts_per_tok\": 2, "
                                 "\"moe_intermediate_size\": 8, \"moe_latent_size\": 16, "
                                 "\"num_nextn_predict_layers\": 1");
    assert_int_equal(m->expert_latent, 16);
    assert_int_equal(m->predict_layers, 0);
    assert_false(m->gated);
    assert_string_equal(mixers(m), "S-SA-S");
    assert_string_equal(kinds(m), ".m..m.");
    roof_model_free(m);
    /* The number of layers follows from their list. */
#define BARE                                                                                       \
    "{\"model_type\": \"nemotron_h\", \"hidden_size\": 64, \"num_attention_heads\": 8, "           \
    "\"vocab_size\": 100, \"intermediate_size\": 96, " SSM
    m = parse(BARE ", \"layers_block_type\": [\"mamba\", \"mlp\", \"attention\"]}");
    assert_string_equal(mixers(m), "S-A");
    roof_model_free(m);
    m = parse(BARE ", \"hybrid_override_pattern\": \"M-*M\", \"num_hidden_layers\": null}");
    assert_string_equal(mixers(m), "S-AS");
    roof_model_free(m);
    refused(BARE "}", 1, 1,
            "not the config.json of a transformer; missing or 0: num_hidden_layers");
    refused("{\"model_type\": \"granitemoehybrid\", " SIZES ", " SSM ",\n\"moe_latent_size\": 8}",
            2, 20, "moe_latent_size is not known with this model_type");
    refused("{" LLAMA ",\n\"moe_latent_size\": 8}", 2, 20,
            "the key moe_latent_size is not supported: routed experts work on a narrower latent");
    refused("{" LLAMA ",\n\"attn_layer_period\": 8}", 2, 22,
            "the key attn_layer_period is not supported: some layers are state-space layers");
    refused("{\"model_type\": \"jamba\", " SIZES ",\n\"block_size\": 8}", 2, 15,
            "the key block_size is not known and may change the layers; remove it if it does not");
}

/* --- experts ------------------------------------------------------------------------------- */

static void test_expert_layers(void **state)
{
    (void)state;
#define MOE "\"num_experts\": 8, \"num_experts_per_tok\": 2, " MOE_SIZES
    static const struct {
        const char *members;
        const char *layers;
    } cases[] = {
        {MOE, "mmmmmm"},
        {MOE ", \"first_k_dense_replace\": 2", "..mmmm"},
        {MOE ", \"first_k_dense_replace\": 6", "......"},
        {MOE ", \"first_k_dense_replace\": 0, \"moe_layer_freq\": 1", "mmmmmm"},
        {MOE ", \"moe_layer_freq\": 2", "m.m.m."},
        {MOE ", \"first_k_dense_replace\": 1, \"moe_layer_freq\": 2", "..m.m."},
        {MOE ", \"moe_layer_freq\": [0, 1, 1, 0, 1, 0]", ".mm.m."},
        {MOE ", \"moe_layer_freq\": [1, 1, 1, 0, 1, 0], \"first_k_dense_replace\": 2", "..m.m."},
        {MOE ", \"mlp_only_layers\": []", "mmmmmm"},
        {MOE ", \"mlp_only_layers\": [0, 3, 5]", ".mm.m."},
        {MOE ", \"decoder_sparse_step\": 1", "mmmmmm"},
        {MOE ", \"decoder_sparse_step\": 2", ".m.m.m"},
        {MOE ", \"decoder_sparse_step\": 3, \"mlp_only_layers\": [2]", ".....m"},
        {MOE ", \"interleave_moe_layer_step\": 1", "mmmmmm"},
        {MOE ", \"interleave_moe_layer_step\": 2", ".m.m.m"},
        {MOE ", \"sliding_window\": 9, \"sliding_window_pattern\": 2, \"first_k_dense_replace\": 1",
         "wmbmbm"},
        /* Dense models may carry such keys. */
        {"\"first_k_dense_replace\": 2, \"num_experts\": 1, \"moe_layer_freq\": 2", "......"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const m = llama(cases[i].members);
        if (strcmp(kinds(m), cases[i].layers) != 0) {
            fail_msg("%s: %s, expected %s", cases[i].members, kinds(m), cases[i].layers);
        }
        roof_model_free(m);
    }
    struct roof_model *m = llama(MOE ", \"sliding_window\": 9, \"sliding_window_pattern\": 2, "
                                     "\"first_k_dense_replace\": 1");
    assert_int_equal(m->layer_classes, 3);
    static const int classes[] = {0, 1, 2, 1, 2, 1};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(m->layer_class[i], classes[i]);
    }
    roof_model_free(m);
    refused("{" LLAMA ", " MOE ",\n\"moe_layer_freq\": [1, 1]}", 2, 19,
            "moe_layer_freq must have a number for each of the 6 layers");
    refused("{" LLAMA ", " MOE ",\n\"moe_layer_freq\": [1, 1, 1, 1, 2, 1]}", 2, 32,
            "moe_layer_freq must be an integer from 0 to 1");
    refused("{" LLAMA ", " MOE ",\n\"moe_layer_freq\": \"all\"}", 2, 19,
            "moe_layer_freq must be an integer from 0 to 512");
    refused("{" LLAMA ", " MOE ",\n\"mlp_only_layers\": [2, 6]}", 2, 24,
            "mlp_only_layers must be an integer from 0 to 5");
    refused("{" LLAMA ", " MOE ",\n\"mlp_only_layers\": [-1]}", 2, 21,
            "mlp_only_layers must be an integer from 0 to 5");
}

/* --- families ------------------------------------------------------------------------------ */

/* Letters: T tied, q o m biases of QKV, O and MLP, e r of experts and router, L layer norm, U no
 * gate, K a norm over each head, P norms behind too, S sinks, G a gate on the shared expert, X
 * parallel, O each with a norm of its own, N a table of positions, h bias of lm_head. */
static const char *traits(const struct roof_model *m)
{
    static char out[32];
    snprintf(out, sizeof out, "%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s", m->tied ? "T" : "",
             m->qkv_bias ? "q" : "", m->o_bias ? "o" : "", m->mlp_bias ? "m" : "",
             m->expert_bias ? "e" : "", m->router_bias ? "r" : "", m->layernorm ? "L" : "",
             m->gated ? "" : "U", m->qk_norm ? "K" : "", m->post_norms ? "P" : "",
             m->sinks ? "S" : "", m->shared_gate ? "G" : "", m->parallel ? "X" : "",
             m->own_norms ? "O" : "", m->position_rows > 0 ? "N" : "", m->head_bias ? "h" : "");
    return out;
}

/* The defaults of the model classes of the transformers library, and the keys that change them. */
static void test_families(void **state)
{
    (void)state;
    static const struct {
        const char *family;
        const char *members;
        const char *traits;
    } cases[] = {
        {"llama", "", ""},
        {"mistral", "", ""},
        {"mixtral", "", ""},
        {"internlm2", "", ""},
        {"granite", "", ""},
        {"phi3", "", ""},
        {"deepseek_v2", "", ""},
        {"deepseek_v3", "", "r"},
        {"kimi_k2", "", "r"},
        {"qwen2", "", "q"},
        {"qwen2_moe", "", "qG"},
        {"qwen3", "", "K"},
        {"qwen3_moe", "", "K"},
        {"gemma", "", "T"},
        {"gemma2", "", "TP"},
        {"gemma3", "", "TKP"},
        {"gemma3_text", "", "TKP"},
        {"smollm3", "", "T"},
        {"gpt_oss", "", "qoerS"},
        {"glm4_moe", "", "r"},
        {"phi", "", "qomLUXh"},
        {"phi", "\"lm_head_bias\": false", "qomLUX"},
        {"phimoe", "", "L"},
        {"phimoe", "\"attention_bias\": true, \"lm_head_bias\": true", "qoLh"},
        {"gpt_neox", "", "qomLUXO"},
        {"starcoder2", "", "TqomLU"},
        {"olmoe", "", "K"},
        {"olmo2", "", "KP"},
        {"minimax_m2", "\"attn_type_list\": [1, 1, 1, 1, 1, 1]", "rK"},
        {"minimax_m2", "\"use_qk_norm\": false", "r"},
        {"cohere2", "", "TX"},
        {"ernie4_5", "", "T"},
        {"ernie4_5_moe", "", "Tr"},
        {"glm4", "", "P"},
        {"qwen2_5_vl_text", "", "q"},
        {"qwen3_vl_moe_text", "", "K"},
        {"gpt2", "\"n_positions\": 128", "TqomLUN"},
        {"opt", "\"max_position_embeddings\": 128", "TqomLUN"},
        /* A value of the config replaces the default of the class. */
        {"llama", "\"tie_word_embeddings\": true", "T"},
        {"gemma", "\"tie_word_embeddings\": false", ""},
        {"llama", "\"attention_bias\": true", "qo"},
        {"llama", "\"mlp_bias\": true", "m"},
        {"qwen2", "\"attention_bias\": false", ""},
        {"qwen3", "\"attention_bias\": true", "qoK"},
        {"glm4_moe", "\"attention_bias\": true, \"use_qk_norm\": true", "qrK"},
        {"glm4_moe", "\"attention_bias\": false", "r"},
        {"gpt_oss", "\"attention_bias\": false", "erS"},
        {"qwen3", "\"use_qk_norm\": false", ""},
        {"starcoder2", "\"use_bias\": false", "TLU"},
        {"opt", "\"max_position_embeddings\": 128, \"enable_bias\": false", "TLUN"},
        {"llama", "\"use_bias\": true", "qom"},
        {"gpt_neox", "\"use_parallel_residual\": false", "qomLU"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const m = family(cases[i].family, cases[i].members);
        if (strcmp(traits(m), cases[i].traits) != 0) {
            fail_msg("%s %s: '%s', expected '%s'", cases[i].family, cases[i].members, traits(m),
                     cases[i].traits);
        }
        assert_null(*m->remarks);
        roof_model_free(m);
    }
}

static void test_families_in_detail(void **state)
{
    (void)state;
    struct roof_model *m = family("gpt2", "\"n_positions\": 128");
    assert_int_equal(m->position_rows, 128);
    assert_int_equal(m->rotary_dim, 0);
    roof_model_free(m);
    m = family("opt", "\"max_position_embeddings\": 128, \"layer_norm_elementwise_affine\": false");
    assert_int_equal(m->position_rows, 130); /* two rows before the first position */
    assert_false(m->norm_gain);
    roof_model_free(m);
    /* Without n_inner, or with null, the MLP of GPT-2 is four times as wide as the rest. */
    m = parse("{\"model_type\": \"gpt2\", \"n_embd\": 48, \"n_layer\": 1, \"n_head\": 4, "
              "\"n_positions\": 64, \"vocab_size\": 10, \"n_inner\": null}");
    assert_int_equal(m->intermediate, 192);
    roof_model_free(m);
    m = llama("\"multi_query\": true");
    assert_int_equal(m->kv_heads, 1);
    assert_string_equal(roof_attention_name(m), "MQA");
    roof_model_free(m);
    m = llama("\"multi_query\": false, \"n_head_kv\": 2");
    assert_int_equal(m->kv_heads, 2);
    roof_model_free(m);
    /* Part of each head is rotated. */
    m = family("phi", "\"head_dim\": 80, \"partial_rotary_factor\": 0.4");
    assert_int_equal(m->rotary_dim, 32);
    roof_model_free(m);
    m = family("gpt_neox", "\"head_dim\": 96, \"rotary_pct\": 0.25");
    assert_int_equal(m->rotary_dim, 24);
    roof_model_free(m);
}

/* Ids name a model in other formats, and open no files. */
static void test_checkpoints(void **state)
{
    (void)state;
    static const char *const files[] = {".json",  "a.json",        ".gguf",
                                        "a.gguf", "a.safetensors", "folder/a"};
    for (size_t i = 0; i < COUNT(files); i++) {
        char config[512];
        (void)snprintf(config, sizeof config,
                       "{" LLAMA ",\n\"roofline\": {\"checkpoints\": [\"b\", \"%s\"]}}", files[i]);
        refused(config, 2, 29, "checkpoints are ids of models");
    }
    struct roof_model *const m =
        llama("\"roofline\": {\"checkpoints\": [\"json\", \"gguf-a\", \"a.json-b\"]}");
    assert_string_equal(m->checkpoints[1], "gguf-a");
    assert_null(m->checkpoints[3]);
    roof_model_free(m);
}

/* These are the defaults of Gemma3TextConfig for members that a config leaves out:
 * huggingface/transformers, configuration_gemma3.py. The layers stand in every config. */
static void test_gemma3_defaults(void **state)
{
    (void)state;
    static const char *const types[] = {"gemma3", "gemma3_text"};
    for (size_t i = 0; i < COUNT(types); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"%s\", "
                 "\"hidden_size\": 2560, \"num_hidden_layers\": 7, \"intermediate_size\": 10240, "
                 "\"sliding_window\": 9}}",
                 types[i]);
        struct roof_model *const m = parse(text);
        assert_int_equal(m->vocab, 262208);
        assert_int_equal(m->heads, 8);
        assert_int_equal(m->kv_heads, 4);
        assert_int_equal(m->head_dim, 256);
        assert_int_equal(m->positions, 0);
        has_layers(m, "wwwww.w");
    }
    struct roof_model *const m = family("gemma3_text", "\"num_key_value_heads\": 2");
    assert_int_equal(m->vocab, 100);
    assert_int_equal(m->heads, 8);
    assert_int_equal(m->kv_heads, 2);
    roof_model_free(m);
}

static void test_remarks(void **state)
{
    (void)state;
    struct roof_model *m = parse("{" SIZES "}");
    assert_string_equal(m->remarks[0],
                        "no model_type: read as a decoder like Llama (pre-norm, gated MLP, no "
                        "biases unless the config says so); check the parameters");
    assert_null(m->remarks[1]);
    roof_model_free(m);
    m = family("deepseek_v3", "\"num_nextn_predict_layers\": 0");
    assert_null(*m->remarks);
    roof_model_free(m);
    m = family("deepseek_v3", "\"num_nextn_predict_layers\": 1");
    assert_string_equal(
        m->remarks[0],
        "the layers for multi-token prediction (MTP) count only when they draft tokens");
    assert_null(m->remarks[1]);
    roof_model_free(m);
    /* A value of the registry replaces it. */
    m = family("deepseek_v3", "\"num_nextn_predict_layers\": 1, \"roofline\": {\"name\": \"Deep\", "
                              "\"confidence\": \"high\", \"notes\": [\"a\", \"b\"], "
                              "\"sources\": [\"c\"]}");
    assert_null(*m->remarks);
    assert_string_equal(m->name, "Deep");
    assert_string_equal(m->confidence, "high");
    assert_string_equal(m->notes[0], "a");
    assert_string_equal(m->notes[1], "b");
    assert_null(m->notes[2]);
    assert_string_equal(m->sources[0], "c");
    assert_null(m->sources[1]);
    roof_model_free(m);
}

#define PLAIN "\"hidden_act\": \"silu\", \"rms_norm_eps\": 1e-6"

/* A config of an unknown type is read like Llama's if it has the keys of a plain decoder alone. */
static void test_strangers(void **state)
{
    (void)state;
    static const char *const members[] = {
        PLAIN,
        PLAIN ", \"attention_bias\": true, \"rope_theta\": 1e6, \"bos_token_id\": 1",
        PLAIN ", \"num_experts\": null, \"wonder_layers\": 0, \"scale_emb\": false",
        PLAIN ", \"sliding_window\": null",
        PLAIN ", \"sliding_window\": 16, \"use_sliding_window\": false",
        PLAIN ", \"sliding_window\": 16, \"layer_types\": [\"sliding_attention\", "
              "\"full_attention\", \"full_attention\", \"full_attention\", \"full_attention\", "
              "\"full_attention\"]"};
    static const char *const layers[] = {"......", "......", "......", "......", NULL, "w....."};
    for (size_t i = 0; i < COUNT(members); i++) {
        struct roof_model *const m = family("brandnew", members[i]);
        assert_string_equal(
            m->remarks[0], "unknown model_type brandnew: read like llama, since it has the keys of "
                           "a plain decoder; biases and norms that llama lacks are not counted");
        assert_null(m->remarks[1]);
        assert_string_equal(traits(m), i == 1 ? "qo" : "");
        if (layers[i] != NULL) {
            assert_string_equal(kinds(m), layers[i]);
        }
        roof_model_free(m);
    }
    /* The type inside counts before the one around it. */
    struct roof_model *m = parse("{\"model_type\": \"brandnew_vl\", \"text_config\": "
                                 "{\"model_type\": \"qwen2\", " SIZES "}}");
    assert_null(*m->remarks);
    assert_string_equal(traits(m), "q");
    roof_model_free(m);
}

#define NO_TYPES "sliding_window needs layer_types: give layer_types, or set sliding_window to null"
#define QWEN4 "unknown model_type 'qwen4'; did you mean qwen2 or qwen3?"

#define LLAMA4 "\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"intermediate_size_mlp\": 40"

/* Llama 4: layers with a chunk rotate their heads, and the others do not. */
static void test_chunks(void **state)
{
    (void)state;
    static const struct {
        const char *members;
        const char *layers;
        int64_t chunk;
    } cases[] = {{LLAMA4, "bbbmbb", 8192},
                 {LLAMA4 ", \"no_rope_layers\": [], \"attention_chunk_size\": 64", "bbbmbb", 64},
                 {LLAMA4 ", \"no_rope_layer_interval\": 2, \"interleave_moe_layer_step\": 3",
                  "w.b.wm", 8192},
                 {LLAMA4 ", \"no_rope_layers\": [0, 1, 1, 0, 0, 1], \"moe_layers\": [0, 1, 5]",
                  "mbw..b", 8192}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const m = family("llama4_text", cases[i].members);
        assert_string_equal(kinds(m), cases[i].layers);
        assert_int_equal(m->window, cases[i].chunk);
        assert_int_equal(m->expert_intermediate, 96);
        assert_int_equal(m->shared_intermediate, 96);
        assert_int_equal(m->intermediate, 40);
        assert_true(m->chunked && m->qk_norm && m->bare_qk_norm);
        for (int64_t l = 0; l < m->layers; l++) {
            const struct roof_layer *const layer = &m->layer[m->layer_class[l]];
            assert_int_equal(layer->no_rope, !layer->windowed);
        }
        assert_null(*m->remarks);
        roof_model_free(m);
    }
    /* The class has a width where the config has none. */
    struct roof_model *const m =
        family("llama4", "\"num_local_experts\": 8, \"num_experts_per_tok\": 1, "
                         "\"use_qk_norm\": false");
    assert_int_equal(m->intermediate, 16384);
    assert_false(m->qk_norm);
    roof_model_free(m);
}

#define LONGCAT(more)                                                                              \
    "{\"model_type\": \"longcat_flash\", \"hidden_size\": 64, \"num_attention_heads\": 4, "        \
    "\"vocab_size\": 100, \"ffn_hidden_size\": 96, \"expert_ffn_hidden_size\": 32, "               \
    "\"kv_lora_rank\": 16, \"q_lora_rank\": 16, \"qk_nope_head_dim\": 8, "                         \
    "\"qk_rope_head_dim\": 4, \"v_head_dim\": 8, \"n_routed_experts\": 16, "                       \
    "\"mla_scale_q_lora\": true, \"attention_method\": \"MLA\"" more "}"

/* A layer of LongCat-Flash is two, the first with experts, of which some compute nothing. */
static void test_zero_experts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        LONGCAT(", \"num_layers\": 3, \"moe_topk\": 6, \"zero_expert_num\": 8"),
        LONGCAT(", \"num_hidden_layers\": 6, \"num_layers\": 3, \"moe_topk\": 6, "
                "\"zero_expert_num\": 8, \"zero_expert_type\": \"identity\""),
        LONGCAT(", \"num_hidden_layers\": 6, \"moe_topk\": 6, \"zero_expert_num\": 8")};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct roof_model *const m = parse(texts[i]);
        assert_int_equal(m->layers, 6);
        for (int64_t n = 0; n < m->layers; n++) {
            assert_int_equal(m->layer[m->layer_class[n]].moe, n % 2 == 0);
        }
        assert_int_equal(m->zero_experts, 8);
        assert_int_equal(m->top_k, 4); /* 6 of 24, of which 16 compute */
        assert_int_equal(m->shared_intermediate, 96);
        assert_int_equal(m->expert_intermediate, 32);
        roof_model_free(m);
    }
    refused(LONGCAT(", \"num_layers\": 3, \"moe_topk\": 5, \"zero_expert_num\": 8"), 1, 1,
            "moe_topk x n_routed_experts / (n_routed_experts + zero_expert_num), the experts that "
            "compute for a token, must be a whole number");
    refused(LONGCAT(", \"num_layers\": 3, \"moe_topk\": 6, \"zero_expert_num\": 8,\n"
                    "\"zero_expert_type\": \"drop\""),
            2, 21, "zero_expert_type: only identity is known");
    refused(LONGCAT(", \"num_layers\": 3, \"moe_topk\": 6, \"zero_expert_num\": 8,\n"
                    "\"num_hidden_layers\": 5"),
            2, 22, "num_hidden_layers must be twice num_layers");
    /* In other families these keys are not understood. */
    refused("{" LLAMA ",\n\"zero_expert_num\": 64}", 2, 20,
            "the key zero_expert_num is not supported: some experts compute nothing");
}

static void test_refused_chunks(void **state)
{
    (void)state;
    static const struct {
        const char *members;
        int line, column;
        const char *message;
    } cases[] = {
        {"\"num_local_experts\": 1", 1, 1, "num_local_experts missing, or less than 2"},
        {"\"intermediate_size_mlp\": 40", 1, 1, "num_local_experts missing, or less than 2"},
        {LLAMA4 ", \"sliding_window\": 5", 1, 1,
         "sliding_window is not known with this model_type"},
        {LLAMA4 ",\n\"attention_chunk_size\": 1.5", 2, 25,
         "attention_chunk_size must be an integer from 1 to 1000000000"},
        {LLAMA4 ",\n\"no_rope_layers\": [1, 0]", 2, 19,
         "no_rope_layers must be an array, empty or with a number for each of the 6 layers"},
        {LLAMA4 ",\n\"no_rope_layers\": {}", 2, 19,
         "no_rope_layers must be an array, empty or with a number for each of the 6 layers"},
        {LLAMA4 ",\n\"no_rope_layers\": [1, 1, 1, 0, 1, 2]", 2, 35,
         "no_rope_layers must be an integer from 0 to 1"},
        {LLAMA4 ",\n\"moe_layers\": 3", 2, 15, "moe_layers must be an array of layer numbers"},
        {LLAMA4 ",\n\"moe_layers\": [6]", 2, 16, "moe_layers must be an integer from 0 to 5"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, "{\"model_type\": \"llama4_text\", " SIZES ", %s}",
                 cases[i].members);
        refused(text, cases[i].line, cases[i].column, cases[i].message);
    }
    /* In other families these keys are not understood. */
    refused("{" LLAMA ",\n\"attention_chunk_size\": 64}", 2, 25,
            "the key attention_chunk_size is not supported: some layers attend within chunks");
}

/* All others are refused, with what speaks against a plain decoder, and families of like names. */
static void test_refused_strangers(void **state)
{
    (void)state;
    static const struct {
        const char *members;
        int line, column;
        const char *message;
    } cases[] = {
        {PLAIN ",\n\"num_experts\": 8", 2, 16,
         QWEN4 " (not read like llama: num_experts is not a key of plain decoders)"},
        {PLAIN ",\n\"scale_emb\": 12", 2, 14,
         QWEN4 " (not read like llama: scale_emb is not a key of plain decoders)"},
        {PLAIN ",\n\"mystery\": \"x\"", 2, 12,
         QWEN4 " (not read like llama: mystery is not a key of plain decoders)"},
        {PLAIN ",\n\"sliding_window\": 16", 2, 19, QWEN4 " (not read like llama: " NO_TYPES ")"},
        {"\"rms_norm_eps\": 1e-6,\n\"hidden_act\": \"relu2\"", 2, 15,
         QWEN4 " (not read like llama: hidden_act is not silu)"},
        {"\"rms_norm_eps\": 1e-6", 1, 1, QWEN4 " (not read like llama: hidden_act is missing)"},
        {"\"sliding_window\": 16", 1, 1,
         QWEN4 " (not read like llama: hidden_act is missing, rms_norm_eps is missing, " NO_TYPES
               ")"},
        {"\"hidden_act\": \"silu\"", 1, 1,
         QWEN4 " (not read like llama: rms_norm_eps is missing)"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, "{\"model_type\": \"qwen4\", " SIZES ", %s}", cases[i].members);
        refused(text, cases[i].line, cases[i].column, cases[i].message);
    }
    refused("{\"model_type\": \"qwen4\", \"hidden_size\": 64, \"num_hidden_layers\": 6, "
            "\"num_attention_heads\": 8, \"vocab_size\": 100, " PLAIN "}",
            1, 1, QWEN4 " (not read like llama: intermediate_size is missing)");
}

/* Models whose type has other layers are refused, not guessed. */
static void test_other_models(void **state)
{
    (void)state;
    /* Types whose layers are known to differ in ways that no key says. */
    static const char *const types[] = {"falcon", "bloom", "mpt",     "gptj",
                                        "qwen",   "dbrx",  "baichuan"};
    for (size_t i = 0; i < COUNT(types); i++) {
        char text[512];
        char message[256];
        snprintf(text, sizeof text, "{\n\"model_type\": \"%s\", " SIZES "}", types[i]);
        snprintf(message, sizeof message, "the architecture of model_type %s is not supported",
                 types[i]);
        refused(text, 2, 15, message);
        snprintf(text, sizeof text, "{\"text_config\": {\n\"model_type\": \"%s\", " SIZES "}}",
                 types[i]);
        refused(text, 2, 15, message);
    }
    refused("{" LLAMA ",\n\"is_encoder_decoder\": true}", 2, 23,
            "only decoders are supported, not encoder-decoder models");
    roof_model_free(llama("\"is_encoder_decoder\": false"));
}

/* Errors of the JSON reader come out unchanged. */
static void test_not_json(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "{",
                                        "{\"hidden_size\": 64,}",
                                        "{\"hidden_size\": 1, \"hidden_size\": 2}",
                                        "{} {}",
                                        "{\"hidden_size\": 1e999}"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct roof_model *model = NULL;
        struct roof_error error = {0};
        assert_int_equal(roof_model_parse(&model, texts[i], strlen(texts[i]), "bad.json", &error),
                         ROOF_INVALID);
        assert_null(model);
        assert_true(error.line >= 1 && error.column >= 1);
    }
    /* Every beginning of a config is refused and leaks nothing. */
    static const char whole[] = "{" LLAMA ", " MOE ", \"layer_types\": null, \"roofline\": "
                                "{\"notes\": [\"x\"]}}";
    for (size_t length = 0; length < strlen(whole); length++) {
        struct roof_model *model = NULL;
        assert_int_equal(roof_model_parse(&model, whole, length, "bad.json", NULL), ROOF_INVALID);
    }
    roof_model_free(parse(whole));
}

/* --- parameters ---------------------------------------------------------------------------- */

#define KERAS "keras-team/keras-hub@71453d0, *_presets.py, \"params\""
#define NAME "the name of the model"

/*
 * total and active count every tensor once: embedding, head (unless tied), biases, norms; active
 * has top-k of the experts. published is what a source prints, within what its digits leave open
 * and 0.5%, by a convention that counts `more` parameters beside ours (negative: fewer).
 */
static const struct published {
    const char *id;
    double total;
    double active;
    double published;
    double within;
    double more;
    const char *source;
} published[] = {
    {"llama-2-7b", 6738415616, 6738415616, 6738415616, 0, 0, KERAS},
    {"llama-2-13b", 13015864320, 13015864320, 13e9, 5e8, 0, NAME},
    /* With 64 frequencies of positions in each of 80 layers. */
    {"llama-2-70b", 68976648192, 68976648192, 68976653312, 0, 80 * 64,
     "meta-llama/Llama-2-70b-hf, parameters of its safetensors"},
    {"llama-3-8b", 8030261248, 8030261248, 8030261248, 0, 0, KERAS},
    {"llama-3-70b", 70553706496, 70553706496, 70.6e9, 5e7, 0, "meta-llama/Meta-Llama-3-70B page"},
    {"llama-3.1-8b", 8030261248, 8030261248, 8030261248, 0, 0, "dimensions of Llama-3-8B"},
    {"llama-3.1-70b", 70553706496, 70553706496, 70.6e9, 5e7, 0, "dimensions of Llama-3-70B"},
    {"llama-3.3-70b", 70553706496, 70553706496, 70.6e9, 5e7, 0, "dimensions of Llama-3-70B"},
    {"llama-3.2-11b-vision", 10670220835, 8030294016, 10670220835, 0, 0,
     "meta-llama/Llama-3.2-11B-Vision, parameters of its safetensors"},
    {"llama-3.2-90b-vision", 88593355323, 70553772032, 88.8e9, 25e7, 0,
     "meta-llama/Llama-3.2-90B-Vision page"},
    {"llama-3.1-405b", 405853388800, 405853388800, 405e9, 1e9, 0, "model card"},
    /* The presets count the tied head a second time: 128256 x 2048 and 128256 x 3072. */
    {"llama-3.2-1b", 1235814400, 1235814400, 1498482688, 0, 262668288, KERAS},
    {"llama-3.2-3b", 3212749824, 3212749824, 3606752256, 0, 394002432, KERAS},
    {"mistral-7b-v0.1", 7241732096, 7241732096, 7241732096, 0, 0, KERAS},
    {"mistral-7b-v0.3", 7248023552, 7248023552, 7248023552, 0, 0, KERAS},
    {"mixtral-8x7b", 46702792704, 12879925248, 46702792704, 0, 0, KERAS},
    {"mixtral-8x22b", 140620634112, 39152031744, 141e9, 5e8, 0, "model card"},
    {"qwen2.5-7b", 7615616512, 7615616512, 7615616512, 0, 0, KERAS " of qwen2.5_math_7b"},
    {"qwen2.5-coder-7b", 7615616512, 7615616512, 7615616512, 0, 0, KERAS " of qwen2.5_math_7b"},
    {"qwen2.5-32b", 32763876352, 32763876352, 32763876352, 0, 0, KERAS},
    {"qwen2.5-72b", 72706203648, 72706203648, 72706203648, 0, 0, KERAS},
    {"qwen3-8b", 8190735360, 8190735360, 8190735360, 0, 0, KERAS},
    {"qwen3-32b", 32762123264, 32762123264, 32762123264, 0, 0, KERAS},
    {"qwen3-30b-a3b", 30532122624, 3353032704, 30532122624, 0, 0, KERAS},
    {"qwen3-235b-a22b", 235093634560, 22190763520, 235093634560, 0, 0, KERAS},
    {"gemma-2-9b", 9241705984, 9241705984, 9241705984, 0, 0, KERAS},
    {"gemma-2-27b", 27227128320, 27227128320, 27227128320, 0, 0, KERAS},
    /* With the vision encoder (416,866,032) and the projector (6,194,304), which no token of
     * text uses. */
    {"gemma-3-27b", 27009346304 + 416866032 + 6194304, 27009346304, 27432406640, 0, 0,
     KERAS " of medgemma_27b"},
    /* The text model without the 64 rows that pad the vocabulary, 2560 wide. */
    {"gemma-3-4b", 4300079472, 3880263168, 3880099328, 0, -416866032 - 2950272 - 64 * 2560,
     "keras-team/keras-hub@00d9f10, gemma3_presets.py, \"params\""},
    {"deepseek-v4-flash", 284332241238, 13799633238, 284e9, 5e8, 0,
     "openrouter.ai page of deepseek-v4-flash"},
    /* The size of the weights has a factor for each layer, too, and a factor and a summand for each
     * of the 1152 elements behind the vision encoder. */
    {"gemma-4-31b", 31273086512, 30697345280, 31273088876, 0, 60 + 2 * 1152,
     "google/gemma-4-31B-it, parameters of its safetensors"},
    {"gemma-4-26b-a4b", 25805933872, 3822530560, 25805936206, 0, 30 + 2 * 1152,
     "google/gemma-4-26B-A4B-it, parameters of its safetensors"},
    /* With K and V of the last 15 and 10 layers, which use those of others: 2 * 2048 * 512 and a
     * norm of 256 each. The audio encoder has 684,694,048 (test_tower.c, and 1536 * 2048 behind
     * it), and the vision encoder 294,126,912 + 2048 * (128 + 2 + 2048). */
    {"gemma-3n-e4b", 6835235568 + 684694048. + 298587456, 6835235568, 7849978192, 0,
     15 * (2097152. + 256), "google/gemma-3n-E4B-it, parameters of its safetensors"},
    {"gemma-3n-e2b", 4435182688 + 684694048. + 298587456, 4435182688, 5439438272, 0,
     10 * (2097152. + 256), "google/gemma-3n-E2B-it, parameters of its safetensors"},
    /* With a factor for each layer, and K and V of layers that use those of others (16 with heads
     * of 256, 4 of 512, and their norms). The audio encoder has 307,183,904. */
    {"gemma-4-e2b", 4797113600. + 307183904, 4628569344, 5123178051, 0,
     35 + (16 * 256 + 4 * 512) * (2. * 1536 + 1),
     "google/gemma-4-E2B-it, parameters of its safetensors"},
    {"laguna-xs.2", 33442617088, 3017135872, 33442617088, 0, 0,
     "poolside/Laguna-XS.2, parameters of its safetensors"},
    {"phi-3-mini-4k", 3821079552, 3821079552, 3821079552, 0, 0, KERAS},
    {"phi-4", 14659507200, 14659507200, 14.7e9, 5e7, 0, "microsoft/phi-4 page"},
    {"tinyllama-1.1b", 1100048384, 1100048384, 1.1e9, 5e7, 0, NAME},
    /* Without the two rows before the first position, 768 wide. */
    {"opt-125m", 125239296, 125239296, 125237760, 0, -2 * 768, KERAS},
    {"gpt-2", 124439808, 124439808, 124439808, 0, 0, KERAS},
    {"gpt-oss-20b", 20914757184, 4187440704, 20914757184, 0, 0, KERAS},
    {"gpt-oss-120b", 116829156672, 5711982912, 116829156672, 0, 0, KERAS},
    {"deepseek-v3", 671026419200, 37552297472, 671e9, 5e8, 0,
     "deepseek-ai/DeepSeek-V3 README_WEIGHTS.md"},
    /* With the layer for prediction: DeepSeek-V3's 11,610,068,224, an indexer of its own, and
     * copies of embedding and head. */
    {"deepseek-v3.2", 671877944064, 38403822336, 685e9, 5e8,
     11610068224. + 13959424 + 2. * 129280 * 7168, "deepseek-ai/DeepSeek-V3.2 page"},
    {"glm-5", 743911218432, 41784728832, 744e9, 5e8, 0, "zai-org/GLM-5 page"},
    /* With the layer for prediction: experts and their router 256 (3 * 6144 * 2048 + 6144 + 1), a
     * shared one, attention 165,022,208, an indexer 9,371,904, four norms, and the product that
     * joins the embedding with the hidden states, 2 * 6144 * 6144. */
    {"glm-5.2", 743377019904, 41250530304, 753e9, 5e8, 9952920576.,
     "zai-org/GLM-5.2 page, size of its safetensors"},
    {"llava-1.5-7b", 7063427072, 6738939904, 7063427072, 0, 0,
     "llava-hf/llava-1.5-7b-hf, parameters of its class"},
    {"internvl3-8b", 7944373760, 7612820992, 7.94e9, 5e6, 0, "OpenGVLab/InternVL3-8B page"},
    {"glm-4.5v", 107710933120, 13424129664, 108e9, 5e8, 0,
     "zai-org/GLM-4.5V page, size of the weights"},
    /* The vision encoder has 471,143,920, by the shapes of its tensors. The pages of both say 1T.
     */
    {"kimi-k2.5", 1026408232448. + 471143920, 32861500928, 1026879376368, 0, 0,
     "moonshotai/Kimi-K2.5, shapes of its safetensors"},
    {"longcat-flash", 560664980480, 27954818048, 560e9, 1e9, 0, "LongCat-Flash, arXiv 2509.01322"},
    {"kimi-k2", 1026408232448, 32861500928, 1026408232448, 0, 0,
     "moonshotai/Kimi-K2-Instruct, shapes of its safetensors"},
    {"kimi-k3", 2779931820640, 105364003424, 2.78e12, 5e9, 0, "Kimi K3, arXiv 2607.24653, table 1"},
    {"kimi-k2-thinking", 1026408232448, 32861500928, 1026408232448, 0, 0,
     "moonshotai/Kimi-K2-Instruct, shapes of its safetensors"},
    {"kimi-linear-48b-a3b", 49122681728, 3484459904, 49e9, 5e8, 0,
     "moonshotai/Kimi-Linear-48B-A3B-Instruct page, size of the weights"},
    {"qwen3-next-80b-a3b", 79674391296, 3874929408, 80e9, 5e8, 0,
     "Qwen/Qwen3-Next-80B-A3B-Instruct page"},
    /* With the layer for multi-token prediction. */
    {"qwen3.5-397b-a17b", 396346350336 + 456010480, 17349040896, 403397928944, 0, 6595568128,
     "Qwen/Qwen3.5-397B-A17B, parameters of its safetensors"},
    {"nemotron-nano-9b-v2", 8888227328, 8888227328, 8.89e9, 5e6, 0,
     "nvidia/NVIDIA-Nemotron-Nano-9B-v2 page"},
    {"nemotron-3-nano-30b-a3b", 31577940288, 3580076352, 31.6e9, 5e7, 0,
     "Nemotron 3 Nano, arXiv 2512.20848"},
    {"nemotron-3-super-120b-a12b", 120668707840, 12770237440, 120.6e9, 1e8, 0,
     "Nemotron 3 Super report, digits cut off"},
    {"olmo-3-7b", 7298011136, 7298011136, 7.3e9, 3e7, 0, "allenai/Olmo-3-1025-7B page"},
    {"minimax-m2", 228689764864, 11030553088, 229e9, 5e8, 0,
     "MiniMaxAI/MiniMax-M2 page, size of the weights"},
    {"minimax-m3", 427040140160, 25962473856, 427040140160, 0, 0,
     "MiniMaxAI/MiniMax-M3, parameters of its safetensors"},
    {"mimo-v2-flash", 308778780864, 15445936320, 309e9, 5e8, 0, "XiaomiMiMo/MiMo-V2-Flash page"},
    /* With the vision encoder, its adapter and the projector: 34 layers of 23,803,648 and what
     * stands around them, 62,608,384. */
    {"llama-4-scout", 107769861120 + 871932416, 17172894720, 108641793536, 0, 0,
     "meta-llama/Llama-4-Scout-17B-16E-Instruct, parameters of its safetensors"},
    {"llama-4-maverick", 400711848960 + 871932416, 17184691200, 401583781376, 0, 0,
     "meta-llama/Llama-4-Maverick-17B-128E-Instruct, parameters of its safetensors"},
    {"command-a", 111057580032, 111057580032, 111e9, 5e8, 0,
     "CohereLabs/c4ai-command-a-03-2025 page"},
    {"ernie-4.5-21b-a3b", 21825437888, 3352150208, 21.8e9, 1e8, 0,
     "baidu/ERNIE-4.5-21B-A3B-PT page, size of the weights"},
    {"glm-4-9b-0414", 9400279040, 9400279040, 9.4e9, 5e7, 0,
     "zai-org/GLM-4-9B-0414 page, size of the weights"},
    {"glm-4.7-flash", 29943393920, 3896766080, 30e9, 15e7, 0, "zai-org/GLM-4.7-Flash page"},
    {"hunyuan-a13b", 80393183232, 12747448320, 80e9, 4e8, 0, "tencent/Hunyuan-A13B-Instruct page"},
    {"granite-4.0-h-small", 32207337984, 8803121664, 32207337984, 0, 0,
     "unsloth/granite-4.0-h-small-GGUF, parameters that llama.cpp counts"},
    /* The checkpoint has 103,140,646,656 bytes, two for each. */
    {"jamba-1.5-mini", 51570323328, 12110311296, 51570323328, 0, 0,
     "ai21labs/Jamba-v0.1 model.safetensors.index.json, \"total_size\""},
    {"minimax-m1", 456089655296, 48403306496, 456e9, 5e8, 0, "MiniMax-M1, arXiv 2506.13585"},
    {"falcon-h1-0.5b", 521411104, 521411104, 521411104, 0, 0,
     "tiiuae/Falcon-H1-0.5B-Base, parameters of its safetensors"},
    {"deepseek-r1", 671026419200, 37552297472, 671e9, 5e8, 0, "the dimensions of DeepSeek-V3"},
    {"deepseek-r1-0528-nvfp4-v2", 671026419200, 37552297472, 671e9, 5e8, 0,
     "the dimensions of DeepSeek-V3"},
};

/* Active counts as published. They leave the input embedding out where `out` is its size. */
static const struct {
    const char *id;
    double out;
    double counted;
    double published;
    double within;
    const char *source;
} published_active[] = {
    {"mixtral-8x7b", 0, 12879925248, 12.9e9, 5e7, "Mixtral of experts, arXiv 2401.04088"},
    {"mixtral-8x22b", 0, 39152031744, 39e9, 5e8, "model card"},
    {"qwen3-30b-a3b", 0, 3353032704, 3.3e9, 1e8, "model card, digits cut off"},
    {"qwen3-235b-a22b", 0, 22190763520, 22e9, 5e8, "model card"},
    {"gpt-oss-20b", 201088. * 2880, 3608307264, 3.6e9, 5e7, "openai/gpt-oss README.md"},
    {"gpt-oss-120b", 201088. * 2880, 5132849472, 5.1e9, 5e7, "openai/gpt-oss README.md"},
    {"deepseek-v3", 129280. * 7168, 36625618432, 36.6e9, 5e7,
     "deepseek-ai/DeepSeek-V3-Base README_WEIGHTS.md: with the head only"},
    {"deepseek-v3", 0, 37552297472, 37e9, 1e9, "deepseek-ai/DeepSeek-V3 README.md: with both"},
    {"deepseek-v4-flash", 129280. * 4096, 13270102358, 13e9, 5e8,
     "openrouter.ai page of deepseek-v4-flash, with the head only"},
    {"gemma-4-26b-a4b", 0, 3822530560, 3.8e9, 5e7, "google/gemma-4-26B-A4B-it page"},
    {"laguna-xs.2", 0, 3017135872, 3e9, 5e8, "poolside/Laguna-XS.2 page"},
    {"glm-5", 154880. * 6144, 40833146112, 40e9, 1e9, "zai-org/GLM-5 page"},
    {"glm-5.2", 2 * 154880. * 6144, 39347364864, 39e9, 5e8,
     "recipes.vllm.ai page of zai-org/GLM-5.2, without both ends"},
    {"longcat-flash", 2 * 131072. * 6144, 26344205312, 27e9, 1e9,
     "LongCat-Flash, arXiv 2509.01322, on average, without both ends"},
    {"kimi-k3", 163840. * 7168, 104189598304, 104.2e9, 5e7,
     "Kimi K3, arXiv 2607.24653, table 1: with the head only"},
    {"kimi-k2", 0, 32861500928, 32e9, 1e9, "moonshotai/Kimi-K2-Instruct page"},
    {"kimi-k2.5", 0, 32861500928, 32e9, 1e9, "moonshotai/Kimi-K2.5 page"},
    {"kimi-linear-48b-a3b", 0, 3484459904, 3e9, 5e8, NAME},
    {"minimax-m2", 2 * 200064. * 3072, 9801359872, 10e9, 5e8,
     "MiniMaxAI/MiniMax-M2 page, without both ends"},
    {"ernie-4.5-21b-a3b", 0, 3352150208, 3e9, 5e8, "baidu/ERNIE-4.5-21B-A3B-PT page"},
    {"glm-4.7-flash", 2 * 154880. * 2048, 3262377600, 3e9, 5e8,
     "zai-org/GLM-4.7-Flash page, without both ends"},
    {"glm-4.5v", 2 * 151552. * 4096, 12182615680, 12e9, 5e8,
     "zai-org/GLM-4.5V page (GLM-4.5-Air, 106B with 12B active), without both ends"},
    {"qwen3.5-397b-a17b", 0, 17349040896, 17e9, 5e8, NAME},
    {"hunyuan-a13b", 0, 12747448320, 13e9, 5e8, "tencent/Hunyuan-A13B-Instruct page"},
    {"mimo-v2-flash", 0, 15445936320, 15e9, 5e8, "XiaomiMiMo/MiMo-V2-Flash page"},
    {"minimax-m3", 2 * 200064. * 6144, 23504087424, 23e9, 6e8,
     "MiniMaxAI/MiniMax-M3 page, without both ends"},
    {"llama-4-scout", 0, 17172894720, 17e9, 5e8, NAME},
    {"llama-4-maverick", 0, 17184691200, 17e9, 5e8, NAME},
    {"nemotron-3-nano-30b-a3b", 0, 3580076352, 3.6e9, 5e7,
     "Nemotron 3 Nano, arXiv 2512.20848, with both ends"},
    {"nemotron-3-super-120b-a12b", 0, 12770237440, 12.7e9, 1e8,
     "Nemotron 3 Super report, digits cut off"},
    {"jamba-1.5-mini", 0, 12110311296, 12e9, 5e8, "Jamba, arXiv 2403.19887"},
    {"minimax-m1", 2 * 200064. * 6144, 45944920064, 45.9e9, 5e7,
     "MiniMax-M1, arXiv 2506.13585, without both ends"},
    {"granite-4.0-h-small", 0, 8803121664, 9e9, 5e8, "ibm-granite/granite-4.0-h-small page"},
    {"qwen3-next-80b-a3b", 2 * 151936. * 2048, 3252599552, 3e9, 5e8, NAME ", without both ends"},
    {"deepseek-r1", 129280. * 7168, 36625618432, 36.6e9, 5e7, "as DeepSeek-V3"},
};

static void counts(double *total, double *active, const struct roof_model *model)
{
    struct roof_error error = {0};
    if (roof_model_parameters(total, active, model, &error) != ROOF_OK) {
        fail_msg("%s: %s", model->id, error.message);
    }
}

static void test_parameters(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(published); i++) {
        const struct published *const row = &published[i];
        struct roof_model *const model = load(row->id);
        double total = 0;
        double active = 0;
        counts(&total, &active, model);
        assert_near(total, row->total, 0);
        assert_near(active, row->active, 0);
        const double off = total + row->more - row->published;
        const double most = 0.005 * row->published;
        const double within = row->within < most ? row->within : most;
        if (!(off <= within && -off <= within)) {
            fail_msg("%s: %.17g, published %.17g (%s)", row->id, total + row->more, row->published,
                     row->source);
        }
        assert_string_equal(model->id, row->id);
        roof_model_free(model);
    }
}

static void test_active_parameters(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(published_active); i++) {
        struct roof_model *const model = load(published_active[i].id);
        double total = 0;
        double active = 0;
        counts(&total, &active, model);
        const double counted = active - published_active[i].out;
        assert_near(counted, published_active[i].counted, 0);
        const double off = counted - published_active[i].published;
        if (!(off <= published_active[i].within && -off <= published_active[i].within)) {
            fail_msg("%s: %.17g, published %.17g (%s)", model->id, counted,
                     published_active[i].published, published_active[i].source);
        }
        roof_model_free(model);
    }
}

/* No embedded model is without a published count. */
static void test_every_model_is_checked(void **state)
{
    (void)state;
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 0;
    assert_int_equal(roof_model_ids(&ids, &count, NULL, NULL), ROOF_OK);
    assert_int_equal(count, COUNT(published));
    const char *id = ids.data;
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t k = 0; k < COUNT(published); k++) {
            found = found || strcmp(published[k].id, id) == 0;
        }
        if (!found) {
            fail_msg("%s has no row in the table of published counts", id);
        }
        const char *const next = id + strlen(id) + 1;
        assert_true(i + 1 == count || strcmp(id, next) < 0);
        id = next;
    }
    roof_text_free(&ids);
}

/*
 * Counts of small models, each part by hand: embedding 100 x 64 = 6400, as much for a head that is
 * not tied; per layer (six of them) Q and O 64 x 64 each, K and V 64 x 64 each, two norms of 64,
 * and an MLP of three matrices 64 x 96; a last norm of 64.
 */
#define HUNYUAN                                                                                    \
    "\"num_experts\": 8, \"moe_topk\": [2, 2, 2, 2, 2, 2], \"moe_intermediate_size\": [24, 24, "   \
    "24, 24, 24, 24]"
#define LAGUNA                                                                                     \
    "\"num_key_value_heads\": 4, \"gating\": true, \"shared_expert_intermediate_size\": 40, "      \
    "\"num_attention_heads_per_layer\": [8, 12, 8, 8, 8, 8], \"mlp_layer_types\": [\"dense\", "    \
    "\"sparse\", \"sparse\", \"sparse\", \"sparse\", \"sparse\"]"
#define GEMMA4                                                                                     \
    "\"head_dim\": 8, \"num_key_value_heads\": 2, \"global_head_dim\": 16, \"sliding_window\": "   \
    "5, "
#define V4                                                                                         \
    "\"num_key_value_heads\": 1, \"head_dim\": 16, \"q_lora_rank\": 24, \"sliding_window\": 5, "   \
    "\"qk_rope_head_dim\": 8, \"index_topk\": 4, \"index_n_heads\": 2, \"index_head_dim\": 6, "    \
    "\"hc_mult\": 2, \"o_groups\": 4, \"o_lora_rank\": 10, \"n_shared_experts\": 1, "              \
    "\"compress_ratios\": [0, 4, 128, 4, 0, 128, 0]"
#define MIMO                                                                                       \
    "\"head_dim\": 12, \"v_head_dim\": 4, \"num_key_value_heads\": 2, "                            \
    "\"swa_num_key_value_heads\": 4, \"sliding_window\": 5, \"hybrid_layer_pattern\": [0, 1, 1, "  \
    "0, 1, 1], \"add_swa_attention_sink_bias\": true"
/* Classes of transformers set these sizes when a config.json leaves them out. */
static void test_class_defaults(void **state)
{
    (void)state;
#define INNER(type) "{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"" type "\"}}"
#define INDEXED(type)                                                                              \
    "{\"model_type\": \"" type "\", " SIZES ", " MOE ", \"kv_lora_rank\": 32, "                    \
    "\"q_lora_rank\": 24, \"qk_nope_head_dim\": 16, \"qk_rope_head_dim\": 8, \"v_head_dim\": 16}"
    static const struct {
        const char *text;
        struct {
            size_t offset;
            int64_t value;
        } field[8];
    } cases[] = {
        {INNER("llama"),
         {{FIELD(hidden), 4096},
          {FIELD(layers), 32},
          {FIELD(heads), 32},
          {FIELD(kv_heads), 32},
          {FIELD(intermediate), 11008},
          {FIELD(vocab), 32000}}},
        {INNER("mistral"),
         {{FIELD(hidden), 4096},
          {FIELD(layers), 32},
          {FIELD(heads), 32},
          {FIELD(kv_heads), 8},
          {FIELD(intermediate), 14336},
          {FIELD(vocab), 32000}}},
        {INNER("qwen2"),
         {{FIELD(hidden), 4096},
          {FIELD(layers), 32},
          {FIELD(heads), 32},
          {FIELD(kv_heads), 32},
          {FIELD(intermediate), 22016},
          {FIELD(vocab), 151936}}},
        {INDEXED("glm_moe_dsa"),
         {{FIELD(index_topk), 2048}, {FIELD(index_heads), 32}, {FIELD(index_head_dim), 128}}},
        {INDEXED("deepseek_v32"),
         {{FIELD(index_topk), 2048}, {FIELD(index_heads), 64}, {FIELD(index_head_dim), 128}}},
        {"{\"model_type\": \"jamba\", " SIZES "}",
         {{FIELD(kv_heads), 8},
          {FIELD(experts), 16},
          {FIELD(top_k), 2},
          {FIELD(mixer.key_dim), 16},
          {FIELD(mixer.taps), 4}}},
        {"{\"model_type\": \"gemma3n_text\"}",
         {{FIELD(vocab), 262400},
          {FIELD(hidden), 2048},
          {FIELD(layers), 35},
          {FIELD(heads), 8},
          {FIELD(kv_heads), 2},
          {FIELD(head_dim), 256},
          {FIELD(intermediate), 16384},
          {FIELD(window), 512}}},
        {"{\"model_type\": \"gemma3_text\", \"hidden_size\": 2560, \"num_hidden_layers\": 34, "
         "\"intermediate_size\": 10240}",
         {{FIELD(vocab), 262208}, {FIELD(heads), 8}, {FIELD(kv_heads), 4}, {FIELD(head_dim), 256}}},
        {"{\"model_type\": \"gemma3\", \"text_config\": {\"hidden_size\": 2560, "
         "\"num_hidden_layers\": 34, \"intermediate_size\": 10240}}",
         {{FIELD(vocab), 262208}, {FIELD(heads), 8}, {FIELD(kv_heads), 4}, {FIELD(head_dim), 256}}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const m = parse(cases[i].text);
        for (size_t k = 0; k < COUNT(cases[i].field) && cases[i].field[k].value > 0; k++) {
            int64_t value = 0;
            memcpy(&value, (const char *)m + cases[i].field[k].offset, sizeof value);
            if (value != cases[i].field[k].value) {
                fail_msg("%s: %zu is %d", cases[i].text, k, (int)value);
            }
        }
        roof_model_free(m);
    }
#undef INNER
#undef INDEXED
}

static void test_parameters_by_hand(void **state)
{
    (void)state;
    static const double attention = 4 * 64 * 64;
    static const double mlp = 3 * 64 * 96;
    const double plain = 2 * 6400 + 6 * (attention + mlp + 2 * 64) + 64;
    const double experts = 8 * 3 * 64 * 24;
    const struct {
        const char *family;
        const char *members;
        double total;
        double inactive; /* of the experts */
    } cases[] = {
        {"llama", "", plain, 0},
        {"llama", "\"tie_word_embeddings\": true", plain - 6400, 0},
        {"llama", "\"attention_bias\": true", plain + 6 * 4 * 64, 0},
        {"llama", "\"mlp_bias\": true", plain + 6 * (2 * 96 + 64), 0},
        {"qwen2", "", plain + 6 * 3 * 64, 0},
        /* K and V have two heads of 8 of the eight. */
        {"llama", "\"num_key_value_heads\": 2", plain - 6 * 2 * 64 * 48, 0},
        /* A norm over a head of 8 for Q and one for K. */
        {"qwen3", "", plain + 6 * 2 * 8, 0},
        {"gemma2", "", plain - 6400 + 6 * 2 * 64, 0},
        /* Two matrices, layer norms with a bias, biases everywhere; in parallel with one norm per
         * layer, or with two. */
        {"phi", "",
         2 * 6400 + 100 + 6 * (attention + 4 * 64 + 2 * 64 * 96 + 96 + 64 + 2 * 64) + 2 * 64, 0},
        /* The bias of the head is its own where the matrix is the table of the embedding. */
        {"phi", "\"tie_word_embeddings\": true",
         6400 + 100 + 6 * (attention + 4 * 64 + 2 * 64 * 96 + 96 + 64 + 2 * 64) + 2 * 64, 0},
        {"gpt_neox", "",
         2 * 6400 + 6 * (attention + 4 * 64 + 2 * 64 * 96 + 96 + 64 + 4 * 64) + 2 * 64, 0},
        {"gpt2", "\"n_positions\": 32",
         6400 + 32 * 64 + 6 * (attention + 4 * 64 + 2 * 64 * 96 + 96 + 64 + 4 * 64) + 2 * 64, 0},
        {"opt", "\"max_position_embeddings\": 32, \"layer_norm_elementwise_affine\": false",
         6400 + 34 * 64 + 6 * (attention + 4 * 64 + 2 * 64 * 96 + 96 + 64), 0},
        {"mixtral", MOE, plain - 6 * mlp + 6 * (experts + 64 * 8), 6 * experts * 6 / 8},
        {"deepseek_v3", MOE ", \"first_k_dense_replace\": 2, \"n_shared_experts\": 1",
         plain - 4 * mlp + 4 * (experts + 64 * 8 + 8 + 3 * 64 * 24), 4 * experts * 6 / 8},
        /* The gate of the shared expert is a vector of 64. */
        {"qwen2_moe", MOE ", \"shared_expert_intermediate_size\": 40, \"decoder_sparse_step\": 3",
         plain + 6 * 3 * 64 - 2 * mlp + 2 * (experts + 64 * 8 + 3 * 64 * 40 + 64),
         2 * experts * 6 / 8},
        /* Biases of experts: two of 24 and one of 64 each; a sink per head; biases of Q, K, V, O.
         */
        {"gpt_oss", MOE,
         plain - 6 * mlp + 6 * (experts + 64 * 8 + 8 + 8 * (2 * 24 + 64) + 8 + 4 * 64),
         6 * (experts + 8 * (2 * 24 + 64)) * 6 / 8},
        /* MLA: Q 64 -> 24 -> 8 (16 + 8), a norm of 24; 64 -> 32 + 8, a norm of 32, 32 -> 8 (16 +
         * 12); O 8 x 12 -> 64. */
        {"deepseek_v2",
         "\"q_lora_rank\": 24, \"kv_lora_rank\": 32, \"qk_nope_head_dim\": 16, "
         "\"qk_rope_head_dim\": 8, \"v_head_dim\": 12",
         plain + 6 * (-attention + 64 * 24 + 24 + 24 * 192 + 64 * 40 + 32 + 32 * 224 + 96 * 64), 0},
        {"deepseek_v2",
         "\"q_lora_rank\": null, \"kv_lora_rank\": 32, \"qk_nope_head_dim\": 16, "
         "\"qk_rope_head_dim\": 8, \"v_head_dim\": 12",
         plain + 6 * (-attention + 64 * 192 + 64 * 40 + 32 + 32 * 224 + 96 * 64), 0},
        /* A list with a number for each layer; a norm over a head of 8 for Q and one for K; the
         * shared expert is there unless the config says otherwise. */
        {"hunyuan_v1_moe", HUNYUAN ", \"num_shared_expert\": [1, 1, 1, 1, 1, 1]",
         plain + 6 * 16 - 6 * mlp + 6 * (experts + 64 * 8 + 3 * 64 * 24), 6 * experts * 6 / 8},
        {"hunyuan_v1_moe",
         HUNYUAN ", \"num_shared_expert\": [1, 1, 1, 1, 1, 1], \"use_mixed_mlp_moe\": false",
         plain + 6 * 16 - 6 * mlp + 6 * (experts + 64 * 8), 6 * experts * 6 / 8},
        /* Q 64 -> 8 x 12, O 8 x 4 -> 64; K 12 and V 4 wide, of two heads in two layers, and of four
         * in the four with a window, which have a sink per head. */
        {"mimo_v2_flash", MIMO,
         plain + 6 * (-attention + 64 * 96 + 32 * 64) + 2 * (2 * 64 * 16) + 4 * (4 * 64 * 16 + 8),
         0},
        /* K and V have four heads; norms of Q and K; a gate per head, 64 -> 8. The second layer has
         * four heads more; the first one has no experts. */
        {"laguna", MOE ", " LAGUNA,
         plain - 6 * 2 * 64 * 32 + 6 * (2 * 8 + 64 * 8) + 4 * (2 * 64 * 8 + 64) - 5 * mlp +
             5 * (experts + 64 * 8 + 8 + 3 * 64 * 40),
         5 * experts * 6 / 8},
        /* Q 64 -> 24 -> 8 x 16, one key of 16, a norm each; a sink per head; O of four groups of
         * 32 -> 10, then 40 -> 64. Two streams make 8 weights, twice in a layer, and 2 at the end.
         * With a ratio of 4 a vector and a gate, two of each, of 16 and of 6 for the index, with
         * positions and a norm, and two index heads of 6; with 128 one of each, of 16. */
        {"deepseek_v4", MOE ", " V4,
         2 * 6400 + 64 + 2 * 128 + 2 +
             6 * (2 * 64 + 64 * 24 + 24 + 24 * 128 + 64 * 16 + 16 + 8 + 4 * 32 * 10 + 40 * 64 +
                  experts + 64 * 8 + 8 + 3 * 64 * 24 + 2 * (8 * 128 + 8 + 3)) +
             2 * (64 * 64 + 4 * 32 + 16 + 64 * 24 + 4 * 12 + 6 + 64 * 2 + 24 * 12) +
             2 * (64 * 32 + 128 * 16 + 16),
         6 * experts * 6 / 8},
        /* Tied; four norms of 64 in a layer; K and V of two heads. The last two layers have neither
         * K nor V, and MLPs twice as wide; the last one has no window, and heads of 16. Each layer
         * has an embedding of 4: 64 -> 4 -> 64 and a norm; a table of 50 x 24, 64 -> 24, a norm of
         * 4. */
        {"gemma4_text",
         GEMMA4 "\"num_kv_shared_layers\": 2, \"use_double_wide_mlp\": true, "
                "\"hidden_size_per_layer_input\": 4, \"vocab_size_per_layer_input\": 50",
         6400 + 64 + 4 * (2 * 4096 + 2 * 1024 + 2 * 8) + (2 * 4096 + 8) + (2 * 8192 + 16) +
             8 * mlp + 6 * (4 * 64 + 2 * 64 * 4 + 64) + 50 * 24 + 64 * 24 + 4,
         0},
        /* V of the last layer is K, of one head of 16. The dense MLP and the experts have three
         * norms more together, and the router one and its biases. */
        {"gemma4_text",
         GEMMA4
         "\"hidden_size_per_layer_input\": 0, \"attention_k_eq_v\": true, "
         "\"num_global_key_value_heads\": 1, \"enable_moe_block\": true, \"num_experts\": 8, "
         "\"top_k_experts\": 2, \"moe_intermediate_size\": 24",
         6400 + 64 + 5 * (2 * 4096 + 2 * 1024 + 2 * 8) + (2 * 8192 + 1024 + 2 * 16) +
             6 * (mlp + 8 * 64 + experts + 64 * 8 + 8),
         6 * experts * 6 / 8},
        /* Experts in layers 1, 3 and 5, as wide as the shared one, 96; the other MLPs are 40 wide.
         * Norms of Q and K have no gain. */
        {"llama4_text", LLAMA4 ", \"interleave_moe_layer_step\": 2",
         plain - 6 * mlp + 3 * (3 * 64 * 40) + 3 * (9 * mlp + 64 * 8), 3 * 6 * mlp},
        {"llama4_text", LLAMA4 ", \"moe_layers\": [4]",
         plain - 6 * mlp + 5 * (3 * 64 * 40) + 9 * mlp + 64 * 8, 6 * mlp},
        /* A window changes no weight. */
        {"mistral", "\"sliding_window\": 5, \"sliding_window_pattern\": 2", plain, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const m = family(cases[i].family, cases[i].members);
        double total = 0;
        double active = 0;
        counts(&total, &active, m);
        if (total != cases[i].total || active != cases[i].total - cases[i].inactive) {
            fail_msg("%s %s: %.17g and %.17g, expected %.17g and %.17g", cases[i].family,
                     cases[i].members, total, active, cases[i].total,
                     cases[i].total - cases[i].inactive);
        }
        roof_model_free(m);
    }
}

#define REF(class, more)                                                                           \
    "{\"model_type\": \"deepseek_ref\", \"architectures\": [\"" class "\"], " SIZES ", " MOE       \
                                                                      ", " V4 more "}"

/* SGLang's type of DeepSeek-V4 is that class if `architectures` names it; all keys are checked. */
static void test_renamed(void **state)
{
    (void)state;
    struct roof_model *const same = family("deepseek_v4", MOE ", " V4);
    struct roof_model *const m = parse(REF("DeepseekV4ForCausalLM", ""));
    double total[2];
    double active[2];
    counts(&total[0], &active[0], same);
    counts(&total[1], &active[1], m);
    assert_near(total[1], total[0], 0);
    assert_near(active[1], active[0], 0);
    assert_null(*m->remarks);
    roof_model_free(m);
    roof_model_free(same);
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {REF("DeepseekV4ForCausalLM", ", \"num_wonder_layers\": 3"),
         "the key num_wonder_layers is not known"},
        {REF("DeepseekV3ForCausalLM", ""), "unknown model_type 'deepseek_ref'"},
        {"{\"model_type\": \"deepseek_ref\", " SIZES ", " MOE ", " V4 "}",
         "unknown model_type 'deepseek_ref'"},
        {"{\"model_type\": \"qwen4\", \"architectures\": [\"DeepseekV4ForCausalLM\"], " SIZES
         ", " MOE ", " V4 "}",
         "unknown model_type 'qwen4'"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *model = NULL;
        struct roof_error error = {0};
        assert_int_equal(
            roof_model_parse(&model, cases[i].text, strlen(cases[i].text), "ref.json", &error),
            ROOF_INVALID);
        if (strstr(error.message, cases[i].part) == NULL) {
            fail_msg("%s: %s", cases[i].text, error.message);
        }
    }
}

/* Configs that are taken are refused when one member has another value. */
static void test_own_refused(void **state)
{
    (void)state;
    static const struct {
        const char *family;
        const char *all;  /* a config that is taken, with one member in which ... */
        const char *good; /* ... this text is replaced */
        const char *bad;
        const char *message; /* its begin */
    } cases[] = {
#define COMPRESSED(good, bad) {"deepseek_v4", MOE ", " V4, good, bad, "compressed attention needs"}
#define LATENT(good, bad)                                                                          \
    {                                                                                              \
        "deepseek_v4", MOE ", " V4, good, bad, "index_topk needs latent attention"                 \
    }
        COMPRESSED("\"head_dim\": 16", "\"head_dim\": 15"),
        COMPRESSED("\"sliding_window\": 5", "\"sliding_window\": null"),
        LATENT("\"q_lora_rank\": 24", "\"q_lora_rank\": null"),
        COMPRESSED("\"num_key_value_heads\": 1", "\"num_key_value_heads\": 2"),
        COMPRESSED("\"qk_rope_head_dim\": 8, ", ""),
        LATENT("\"index_n_heads\": 2, ", ""),
        LATENT("\"index_head_dim\": 6, ", ""),
        COMPRESSED("\"index_topk\": 4, ", ""),
        COMPRESSED("\"o_groups\": 4", "\"o_groups\": 3"),
#undef COMPRESSED
#undef LATENT
#define RATIOS(bad)                                                                                \
    {"deepseek_v4", MOE ", " V4, "[0, 4, 128, 4, 0, 128, 0]", bad, "compress_ratios must be"}
        RATIOS("4"),
        RATIOS("[0, 4, 128, 4, 0]"),
        RATIOS("[0, 4, 128, 4, 0, 5]"),
        RATIOS("[0, 4, 128, 4, 0, 128, 0, 4]"),
        RATIOS("[0, 4, 128, 4, 0, 128, 5]"),
#undef RATIOS
#define GLOBAL(good, bad)                                                                          \
    {"gemma4_text", GEMMA4 "\"hidden_size_per_layer_input\": 0", good, bad,                        \
     "head_dim, sliding_window or intermediate_size missing, or 0"}
        GLOBAL("\"sliding_window\": 5, ", ""),
#undef GLOBAL
#define SCALED(bad)                                                                                \
    {"llama", "\"rope_scaling\": {\"factor\": 2}", "2", bad,                                       \
     "factor of rope_scaling must be a number above 0, up to 1e6"}
        SCALED("0"),
        SCALED("1e7"),
        SCALED("\"x\""),
#undef SCALED
        {"llama", "\"rope_scaling\": {\"factor\": 2}", "{\"factor\": 2}", "3",
         "rope_scaling must be an object"},
        {"llama", "\"hidden_act\": \"silu\"", "\"silu\"", "3", "hidden_act must be a string"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *model = NULL;
        struct roof_error error = {0};
        char members[1024];
        char text[2048];
        const char *const at = strstr(cases[i].all, cases[i].good);
        assert_non_null(at);
        roof_model_free(family(cases[i].family, cases[i].all));
        (void)snprintf(members, sizeof members, "%.*s%s%s", (int)(at - cases[i].all), cases[i].all,
                       cases[i].bad, at + strlen(cases[i].good));
        (void)snprintf(text, sizeof text, "{\"model_type\": \"%s\", " SIZES ", %s}",
                       cases[i].family, members);
        assert_int_equal(roof_model_parse(&model, text, strlen(text), "x", &error), ROOF_INVALID);
        if (strncmp(error.message, cases[i].message, strlen(cases[i].message)) != 0) {
            fail_msg("case %zu: %s", i, error.message);
        }
        assert_null(model);
    }
}

/* --- the embedded models ------------------------------------------------------------------- */

/* Layers by kind, context and cache elements per token (K and V of all layers, or the latent). */
static void test_embedded_details(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        const char *attention;
        int64_t positions;
        int64_t windowed;
        int64_t moe;
        int64_t window;
        double kv_elements;
        const char *begins; /* kinds of the first layers */
    } cases[] = {
        {"llama-2-7b", "MHA", 4096, 0, 0, 0, 2. * 32 * 32 * 128, "..."},
        {"llama-3-8b", "GQA", 8192, 0, 0, 0, 2. * 32 * 8 * 128, "..."},
        {"llama-3.1-405b", "GQA", 131072, 0, 0, 0, 2. * 126 * 8 * 128, "..."},
        {"mistral-7b-v0.1", "GQA", 32768, 32, 0, 4096, 2. * 32 * 8 * 128, "www"},
        {"mistral-7b-v0.3", "GQA", 32768, 0, 0, 0, 2. * 32 * 8 * 128, "..."},
        {"gemma-2-9b", "GQA", 8192, 21, 0, 4096, 2. * 42 * 8 * 256, "w.w.w."},
        {"gemma-2-27b", "GQA", 8192, 23, 0, 4096, 2. * 46 * 16 * 128, "w.w.w."},
        {"gemma-3-27b", "GQA", 131072, 52, 0, 1024, 2. * 62 * 16 * 128, "wwwww.wwwww."},
        {"gemma-3-4b", "GQA", 131072, 29, 0, 1024, 2. * 34 * 4 * 256, "wwwww.wwwww."},
        {"phi-3-mini-4k", "MHA", 4096, 32, 0, 2047, 2. * 32 * 32 * 96, "www"},
        {"qwen2.5-7b", "GQA", 131072, 0, 0, 0, 2. * 28 * 4 * 128, "..."},
        {"qwen3-32b", "GQA", 40960, 0, 0, 0, 2. * 64 * 8 * 128, "..."},
        {"qwen3-30b-a3b", "GQA", 40960, 0, 48, 0, 2. * 48 * 4 * 128, "mmm"},
        {"mixtral-8x7b", "GQA", 32768, 0, 32, 0, 2. * 32 * 8 * 128, "mmm"},
        {"gpt-oss-20b", "GQA", 131072, 12, 24, 128, 2. * 24 * 8 * 64, "bmbmbm"},
        {"gpt-oss-120b", "GQA", 131072, 18, 36, 128, 2. * 36 * 8 * 64, "bmbmbm"},
        {"mimo-v2-flash", "GQA", 262144, 39, 47, 128, 320. * (9 * 4 + 39 * 8), ".bbbbmbbbbbm"},
        {"llama-4-scout", "GQA", 10485760, 36, 48, 8192, 2. * 48 * 8 * 128, "bbbmbbbm"},
        {"llama-4-maverick", "GQA", 1048576, 36, 24, 8192, 2. * 48 * 8 * 128, "wbwmwbwm"},
        {"deepseek-v3", "MLA", 163840, 0, 58, 0, 61. * (512 + 64), "...mmm"},
        {"gpt-2", "MHA", 1024, 0, 0, 0, 2. * 12 * 768, "..."},
        {"opt-125m", "MHA", 2048, 0, 0, 0, 2. * 12 * 768, "..."},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const m = load(cases[i].id);
        struct roof_scenario s;
        struct roof_error error = {0};
        int64_t windowed = 0;
        int64_t moe = 0;
        for (int64_t l = 0; l < m->layers; l++) {
            windowed += m->layer[m->layer_class[l]].windowed;
            moe += m->layer[m->layer_class[l]].moe;
        }
        assert_string_equal(roof_attention_name(m), cases[i].attention);
        if (m->positions != cases[i].positions || windowed != cases[i].windowed ||
            moe != cases[i].moe || (windowed > 0 && m->window != cases[i].window) ||
            strncmp(kinds(m), cases[i].begins, strlen(cases[i].begins)) != 0) {
            fail_msg("%s: positions %lld, %lld windowed, %lld with experts, window %lld, %s", m->id,
                     (long long)m->positions, (long long)windowed, (long long)moe,
                     (long long)m->window, kinds(m));
        }
        roof_scenario_init(&s);
        assert_int_equal(roof_scenario_resolve(&s, m, &error), ROOF_OK);
        assert_near(roof_kv_bytes_per_token(m, &s), 2 * cases[i].kv_elements, 0);
        roof_model_free(m);
    }
}

/* By id, by each alias, in any case; nothing is assumed of an embedded model. */
static void test_ids_and_aliases(void **state)
{
    (void)state;
    size_t models = 0;
    size_t aliases = 0;
    for (size_t i = 0; i < roof_data_file_count; i++) {
        const char *const path = roof_data_files[i].path;
        if (strncmp(path, "models/", 7) != 0) {
            continue;
        }
        struct roof_json *json = NULL;
        assert_int_equal(roof_data_json(&json, path, NULL), ROOF_OK);
        const roof_json_value *const about = roof_json_get(roof_json_root(json), "roofline");
        char id[128];
        snprintf(id, sizeof id, "%.*s", (int)(strlen(path) - 7 - 5), path + 7);
        struct roof_model *const model = load(id);
        assert_string_equal(model->id, id);
        assert_string_equal(model->name, roof_json_string(roof_json_get(about, "name")));
        assert_string_not_equal(model->confidence, "");
        assert_non_null(*model->sources);
        assert_null(*model->remarks);
        assert_null(model->layout);
        for (const roof_json_value *item = roof_json_first(roof_json_get(about, "aliases"));
             item != NULL; item = roof_json_next(item)) {
            const char *const alias = roof_json_string(item);
            char upper[128];
            size_t length = 0;
            for (; alias[length] != '\0'; length++) {
                upper[length] = alias[length];
                if (alias[length] >= 'a' && alias[length] <= 'z') {
                    upper[length] = (char)(alias[length] - 'a' + 'A');
                }
            }
            upper[length] = '\0';
            const char *const names[] = {alias, upper};
            for (size_t k = 0; k < COUNT(names); k++) {
                struct roof_model *const other = load(names[k]);
                assert_string_equal(other->id, id);
                roof_model_free(other);
            }
            aliases++;
        }
        roof_model_free(model);
        roof_json_free(json);
        models++;
    }
    assert_int_equal(models, COUNT(published));
    assert_true(aliases > 40);
    struct roof_model *const model = load("LLAMA-3-8b");
    assert_string_equal(model->id, "llama-3-8b");
    roof_model_free(model);
}

static void test_unknown_model(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *begins;
    } cases[] = {
        {"llama-3-8", "unknown model 'llama-3-8'; did you mean llama-3-8b"},
        {"", "unknown model ''; known: "},
        {"models", "unknown model 'models'; known: "},
        {"hidden_size", "unknown model 'hidden_size'; known: "},
        {"gb10", "unknown model 'gb10'; known: "},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *model = (struct roof_model *)&model;
        struct roof_error error = {0};
        assert_int_equal(roof_model_load(&model, cases[i].name, NULL, &error), ROOF_USAGE);
        assert_null(model);
        assert_memory_equal(error.message, cases[i].begins, strlen(cases[i].begins));
        assert_int_equal(roof_model_load(&model, cases[i].name, NULL, NULL), ROOF_USAGE);
    }
}

/* --- files --------------------------------------------------------------------------------- */

static const char *const made[] = {
    "a/config.json",    "b/models/llama-3-8b.json", "b/models/own.json", "b/models/.hidden.json",
    "b/models/own.txt", "c/models/own.json",        "c/models/bad.json", "named.json"};
static const char *const made_folders[] = {"a", "b", "b/models", "c", "c/models", "empty"};

static int set_up(void **state)
{
    return make_folders(state, made_folders, COUNT(made_folders));
}

static int tear_down(void **state)
{
    (void)remove_files(state, made, COUNT(made)); /* no test makes all of them */
    return remove_folders(state, made_folders, COUNT(made_folders));
}

static struct roof_model *load_path(const char *path, const char *const *directories)
{
    struct roof_model *model = NULL;
    struct roof_error error = {0};
    if (roof_model_load(&model, path, directories, &error) != ROOF_OK) {
        fail_msg("%s: %s", path, error.message);
    }
    return model;
}

static void test_paths(void **state)
{
    const char *const folder = *state;
    static const char *const names[] = {"a/config.json", "a", "a/", "a//", "named.json"};
    char path[PATH_SIZE];
    write_in(state, "a/config.json", "{" LLAMA "}");
    write_in(state, "named.json", "{" LLAMA "}");
    for (size_t i = 0; i < COUNT(names); i++) {
        path_in(path, state, names[i]);
        struct roof_model *const model = load_path(path, NULL);
        assert_int_equal(model->hidden, 64);
        assert_null(model->layout);
        assert_false(model->stored);
        roof_model_free(model);
    }
    path_in(path, state, "a");
    struct roof_model *const model = load_path(path, NULL);
    path_in(path, state, "a/config.json");
    assert_string_equal(model->id, path);
    roof_model_free(model);
    /* Nothing there, a folder without a config, and a file that is not one. */
    static const char *const missing[] = {
        "none.json", "none/config.json", "none/",       "empty",
        "empty/",    "none.gguf",        "a/none.json", "none/model.safetensors"};
    for (size_t i = 0; i < COUNT(missing); i++) {
        struct roof_model *none = (struct roof_model *)&none;
        struct roof_error error = {0};
        path_in(path, state, missing[i]);
        assert_int_equal(roof_model_load(&none, path, NULL, &error), ROOF_IO);
        assert_null(none);
        assert_memory_equal(error.source, folder, strlen(folder));
        assert_int_equal(roof_model_load(&none, path, NULL, NULL), ROOF_IO);
    }
    write_in(state, "a/config.json", "{\n\"hidden_size\": -1}");
    struct roof_model *bad = (struct roof_model *)&bad;
    struct roof_error error = {0};
    path_in(path, state, "a");
    assert_int_equal(roof_model_load(&bad, path, NULL, &error), ROOF_INVALID);
    assert_null(bad);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 16);
    path_in(path, state, "a/config.json");
    assert_string_equal(error.source, path);
}

/* A search directory replaces embedded files, and the first one those of the second. */
static void test_directories(void **state)
{
    char b[PATH_SIZE];
    char c[PATH_SIZE];
    path_in(b, state, "b");
    path_in(c, state, "c");
    const char *const directories[] = {b, c, NULL};
    const char *const reversed[] = {c, b, NULL};
    write_in(state, "b/models/llama-3-8b.json", "{" LLAMA "}");
    write_in(state, "b/models/own.json", "{" LLAMA "}");
    write_in(state, "b/models/.hidden.json", "{" LLAMA "}");
    write_in(state, "b/models/own.txt", "text");
    write_in(state, "c/models/own.json", "{" LLAMA ", \"num_key_value_heads\": 2}");
    write_in(state, "c/models/bad.json", "{\n \"hidden_size\": true}");
    struct roof_model *model = load_path("llama-3-8b", directories);
    assert_int_equal(model->hidden, 64);
    roof_model_free(model);
    model = load_path("llama-3-8b", NULL);
    assert_int_equal(model->hidden, 4096);
    roof_model_free(model);
    model = load_path("llama-3-70b", directories);
    assert_int_equal(model->hidden, 8192);
    roof_model_free(model);
    model = load_path("own", directories);
    assert_int_equal(model->kv_heads, 8);
    roof_model_free(model);
    model = load_path("own", reversed);
    assert_int_equal(model->kv_heads, 2);
    roof_model_free(model);
    /* Names of files are taken as they are; aliases of the embedded ones still count. */
    model = load_path("LLAMA-3-8B", directories);
    assert_int_equal(model->hidden, 4096);
    roof_model_free(model);
    struct roof_error error = {0};
    assert_int_equal(roof_model_load(&model, "OWN", directories, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "own"));
    assert_int_equal(roof_model_load(&model, "bad", directories, &error), ROOF_INVALID);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 17);
    /* Each id once, sorted; hidden files and other names are none. */
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 0;
    assert_int_equal(roof_model_ids(&ids, &count, directories, NULL), ROOF_OK);
    assert_int_equal(count, COUNT(published) + 2);
    size_t own = 0;
    size_t bad = 0;
    const char *id = ids.data;
    for (size_t i = 0; i < count; i++) {
        own += strcmp(id, "own") == 0;
        bad += strcmp(id, "bad") == 0;
        assert_string_not_equal(id, ".hidden");
        id += strlen(id) + 1;
    }
    assert_int_equal(own, 1);
    assert_int_equal(bad, 1);
    roof_text_free(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_latent_attention),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_expert_layers),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_lightning_and_scans),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_families_in_detail),
        cmocka_unit_test(test_checkpoints),
        cmocka_unit_test(test_gemma3_defaults),
        cmocka_unit_test(test_remarks),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_refused_strangers),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_zero_experts),
        cmocka_unit_test(test_refused_chunks),
        cmocka_unit_test(test_other_models),
        cmocka_unit_test(test_not_json),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_active_parameters),
        cmocka_unit_test(test_every_model_is_checked),
        cmocka_unit_test(test_class_defaults),
        cmocka_unit_test(test_parameters_by_hand),
        cmocka_unit_test(test_renamed),
        cmocka_unit_test(test_own_refused),
        cmocka_unit_test(test_embedded_details),
        cmocka_unit_test(test_ids_and_aliases),
        cmocka_unit_test(test_unknown_model),
        cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_directories, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
