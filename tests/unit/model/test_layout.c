// SPDX-License-Identifier: MIT
/*
 * Layouts: which format each weight has in kinds of checkpoints, and the sizes that follow, against
 * published sizes and bits per weight.
 */
#include "files.h"
#include "models.h"

#include "model/config.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define P(id) ROOF_PRECISION_##id
#define W(id) ROOF_WEIGHT_##id

static void apply(struct roof_model *model, const char *layout, const char *const *directories)
{
    struct roof_error error = {0};
    if (roof_layout_apply(model, layout, directories, &error) != ROOF_OK) {
        fail_msg("%s on %s: %s:%d:%d: %s", layout, model->id, error.source, error.line,
                 error.column, error.message);
    }
    assert_string_equal(model->layout, layout);
    assert_false(model->stored);
    assert_true(model->file_bytes != model->file_bytes);
}

/* An embedded model in a layout. */
static struct roof_model *in_layout(const char *model, const char *layout)
{
    struct roof_model *const m = load(model);
    apply(m, layout, NULL);
    return m;
}

static enum roof_precision in_layer(const struct roof_model *m, int64_t i, enum roof_weight weight)
{
    return (enum roof_precision)m->layer[m->layer_class[i]].format[weight];
}

static const char *name_of(enum roof_precision p)
{
    return p == P(AUTO) ? "auto" : roof_format(p)->name;
}

static void has_format(const struct roof_model *m, int64_t i, enum roof_weight weight,
                       enum roof_precision expected)
{
    const enum roof_precision got = in_layer(m, i, weight);
    if (got != expected) {
        fail_msg("%s, layer %lld: %s is %s, expected %s", m->id, (long long)i,
                 roof_weight_name(weight), name_of(got), name_of(expected));
    }
}

/* In every layer. */
static void all_have(const struct roof_model *m, enum roof_weight weight,
                     enum roof_precision expected)
{
    for (int64_t i = 0; i < m->layers; i++) {
        has_format(m, i, weight, expected);
    }
}

/* Resident weights of a model on one device, over the operators of a decode step. */
static double resident(const struct roof_model *m)
{
    static struct roof_graph graph;
    struct roof_scenario s;
    struct roof_error error = {0};
    double bytes = 0;
    roof_scenario_init(&s);
    if (roof_scenario_resolve(&s, m, &error) != ROOF_OK ||
        roof_graph_build(&graph, m, &s, 0, (struct roof_places){0}, &error) != ROOF_OK) {
        fail_msg("%s: %s", m->id, error.message);
    }
    for (size_t i = 0; i < graph.count; i++) {
        bytes += roof_node_bytes(&graph.node[i]);
    }
    return bytes;
}

/* --- GGUF ---------------------------------------------------------------------------------- */

/*
 * Published bits per weight of Llama-3.1-8B (8,030,261,248 parameters), to four decimals:
 * ggml-org/llama.cpp@311c2c9 tools/quantize/README.md.
 */
static void test_bits_per_weight(void **state)
{
    (void)state;
    static const struct {
        const char *layout;
        double bits;
    } rows[] = {{"q2_k", 3.1593},   {"q3_k_s", 3.6429}, {"q3_k_m", 3.9960}, {"q3_k_l", 4.2979},
                {"q4_k_s", 4.6672}, {"q4_k_m", 4.8944}, {"q5_k_s", 5.5704}, {"q5_k_m", 5.7036},
                {"q6_k", 6.5633},   {"q8_0", 8.5008}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *const m = in_layout("llama-3.1-8b", rows[i].layout);
        const double bits = resident(m) * 8 / 8030261248.;
        if (!(bits > rows[i].bits - 0.00005 && bits < rows[i].bits + 0.00005)) {
            fail_msg("%s: %.6f bits per weight, published %.4f", rows[i].layout, bits,
                     rows[i].bits);
        }
        assert_near(roof_model_bytes(m), resident(m), 0);
        roof_model_free(m);
    }
}

/*
 * The blocks of q4_k_m give its bytes, too: Q4_K 144 bytes per 256 weights, Q6_K 210, norms in
 * FP32. Q6_K: the head, and V (1024 x 4096) and down (14336 x 4096) of 16 of the 32 layers.
 */
static void test_q4_k_m_bytes(void **state)
{
    (void)state;
    const double v = 1024. * 4096;
    const double down = 14336. * 4096;
    const double table = 128256. * 4096;
    const double norms = 65. * 4096;
    const double all = 8030261248.;
    const double q6 = table + 16 * (v + down);
    const double q4 = all - norms - q6;
    struct roof_model *const m = in_layout("llama-3.1-8b", "q4_k_m");
    assert_near(resident(m), q4 / 256 * 144 + q6 / 256 * 210 + norms * 4, 0);
    roof_model_free(m);
}

/*
 * Mixtral-8x7B: K and V in Q8_0 (34 bytes per 32), O in Q5_K (176 per 256), the down matrices of
 * the experts of 16 of the 32 layers in Q6_K; norms and router in FP32.
 */
static void test_mixtral_bytes(void **state)
{
    (void)state;
    const double q4 = 144. / 256;
    const double q6 = 210. / 256;
    const double experts = 8. * 4096 * 14336;
    const double layer = 4096. * 4096 * (q4 + 176. / 256) + 2 * 1024. * 4096 * 34 / 32 +
                         2 * experts * q4 + 4 * (8. * 4096 + 2 * 4096);
    struct roof_model *const m = in_layout("mixtral-8x7b", "q4_k_m");
    assert_near(resident(m),
                32000. * 4096 * (q4 + q6) + 32 * layer + 16 * experts * (q4 + q6) + 4 * 4096, 0);
    roof_model_free(m);
}

/* use_more_bits of llama.cpp: the first and the last eighth, and every third layer between. */
static bool more_bits(int64_t i, int64_t layers)
{
    const int64_t eighth = layers / 8;
    const bool first = i < eighth;
    const bool last = i >= layers * 7 / 8;
    return first || last || (i - eighth) % 3 == 2;
}

static void test_q4_k_m_layers(void **state)
{
    (void)state;
    /* Layers 0-3 and 28-31, and from 4 on every third: 6, 9, ..., 27. */
    static const char by_hand[] = "xxxx..x..x..x..x..x..x..x..xxxxx";
    static const enum roof_weight plain[] = {W(Q), W(K), W(O), W(GATE), W(UP)};
    struct roof_model *m = in_layout("llama-3-8b", "q4_k_m");
    for (int64_t i = 0; i < 32; i++) {
        const bool more = by_hand[i] == 'x';
        assert_int_equal(more, more_bits(i, 32));
        for (size_t k = 0; k < COUNT(plain); k++) {
            has_format(m, i, plain[k], P(Q4_K));
        }
        has_format(m, i, W(V), more ? P(Q6_K) : P(Q4_K));
        has_format(m, i, W(DOWN), more ? P(Q6_K) : P(Q4_K));
    }
    assert_int_equal(m->format[W(EMBEDDING)], P(Q4_K));
    assert_int_equal(m->format[W(LM_HEAD)], P(Q6_K));
    assert_int_equal(m->format[W(NORM)], P(FP32));
    assert_int_equal(m->layer_classes, 2);
    roof_model_free(m);
    /* Counts of layers that 8 does not divide. */
    static const char *const others[] = {"qwen2.5-7b",  "tinyllama-1.1b", "gemma-2-9b",
                                         "gemma-3-27b", "deepseek-v3",    "gpt-oss-20b"};
    for (size_t k = 0; k < COUNT(others); k++) {
        m = in_layout(others[k], "q4_k_m");
        for (int64_t i = 0; i < m->layers; i++) {
            const enum roof_precision down = more_bits(i, m->layers) ? P(Q6_K) : P(Q4_K);
            has_format(m, i, W(DOWN), down);
            has_format(m, i, W(EXPERT_DOWN), down);
            has_format(m, i, W(SHARED_DOWN), down);
            has_format(m, i, W(V), down);
            has_format(m, i, W(EXPERT_UP), P(Q4_K));
            has_format(m, i, W(KV_B), P(Q4_K));
            has_format(m, i, W(ROUTER), P(FP32));
        }
        /* A tied embedding has the type of the output. */
        assert_int_equal(m->format[W(EMBEDDING)], m->tied ? P(Q6_K) : P(Q4_K));
        roof_model_free(m);
    }
}

/* Special cases of llama.cpp: eight experts, and 80 layers with 8 heads per KV head. */
static void test_special_cases(void **state)
{
    (void)state;
    struct roof_model *m = in_layout("mixtral-8x7b", "q4_k_m");
    all_have(m, W(K), P(Q8_0));
    all_have(m, W(V), P(Q8_0));
    all_have(m, W(O), P(Q5_K));
    all_have(m, W(Q), P(Q4_K));
    roof_model_free(m);
    m = in_layout("llama-3-70b", "q4_k_m");
    for (int64_t i = 0; i < 80; i++) {
        has_format(m, i, W(V), more_bits(i, 80) ? P(Q6_K) : P(Q5_K));
        has_format(m, i, W(DOWN), more_bits(i, 80) ? P(Q6_K) : P(Q4_K));
    }
    roof_model_free(m);
    /* Not 80 layers, though 8 heads per KV head. */
    m = in_layout("qwen3-32b", "q4_k_s");
    for (int64_t i = 0; i < 64; i++) {
        has_format(m, i, W(V), i < 4 ? P(Q5_K) : P(Q4_K));
        has_format(m, i, W(DOWN), i < 8 ? P(Q5_K) : P(Q4_K));
    }
    roof_model_free(m);
    /* Q2_K: V is wider with four heads or more per KV head. */
    m = in_layout("llama-2-7b", "q2_k");
    all_have(m, W(V), P(Q3_K));
    roof_model_free(m);
    m = in_layout("gemma-2-9b", "q2_k");
    all_have(m, W(V), P(Q3_K)); /* two */
    all_have(m, W(GATE), P(Q2_K));
    assert_int_equal(m->format[W(EMBEDDING)], P(Q6_K));
    roof_model_free(m);
    m = in_layout("llama-3-8b", "q2_k");
    all_have(m, W(V), P(Q4_K));
    assert_int_equal(m->format[W(EMBEDDING)], P(Q2_K));
    roof_model_free(m);
}

/* --- other checkpoints --------------------------------------------------------------------- */

/*
 * The main model of DeepSeek-R1-0528-NVFP4-v2, by hand: NVFP4 has 9 bytes per 16 weights; all else
 * is BF16. Per layer: q_a 7168 x 1536, q_b 1536 x 128 x 192, kv_a 7168 x 576, kv_b 512 x 128 x 256
 * and o 128 x 128 x 7168; three dense layers; 256 routed experts and a shared one in the others.
 */
static void test_deepseek_r1_nvfp4(void **state)
{
    (void)state;
    const double expert = 3. * 7168 * 2048;
    const double nvfp4 = 61. * 128 * 128 * 7168 + 3 * 3. * 7168 * 18432 + 58 * 257 * expert;
    const double bf16 = 2. * 129280 * 7168 +
                        61 * (7168. * 1536 + 1536. * 128 * 192 + 7168. * 576 + 512. * 128 * 256) +
                        61 * (2. * 7168 + 1536 + 512) + 7168 + 58 * (256. * 7168 + 256);
    const double bytes = nvfp4 * 9 / 16 + bf16 * 2;
    assert_near(nvfp4 + bf16, 671026419200., 0);
    assert_near(bytes, 386379754496., 0); /* with the scales per tensor 0.00005 % more */
    static const char *const layouts[] = {"deepseek-r1-nvfp4-v2", "checkpoint"};
    for (size_t i = 0; i < COUNT(layouts); i++) {
        struct roof_model *const m = load("deepseek-r1-0528-nvfp4-v2");
        apply(m, layouts[i], NULL);
        const double got = resident(m);
        /* A scale of 4 bytes per NVFP4 tensor, fused ones counted once or each. */
        assert_true(got >= bytes && got <= bytes + 4. * (61 + 9 + 58 * 257 * 3));
        assert_int_equal(m->activations, P(NVFP4));
        assert_int_equal(m->kv, P(FP8_E4M3));
        all_have(m, W(O), P(NVFP4));
        all_have(m, W(Q_A), P(BF16));
        all_have(m, W(Q_B), P(BF16));
        all_have(m, W(KV_A), P(BF16));
        all_have(m, W(KV_B), P(BF16));
        all_have(m, W(DOWN), P(NVFP4));
        all_have(m, W(EXPERT_UP), P(NVFP4));
        all_have(m, W(SHARED_GATE), P(NVFP4));
        all_have(m, W(ROUTER), P(BF16));
        assert_int_equal(m->format[W(LM_HEAD)], P(BF16));
        assert_int_equal(m->format[W(EMBEDDING)], P(BF16));
        roof_model_free(m);
    }
}

/* gpt-oss-20b: 19,110,297,600 weights of experts at 17 bytes per 32, the rest BF16. */
static void test_gpt_oss(void **state)
{
    (void)state;
    const double experts = 24 * 32 * 3. * 2880 * 2880;
    assert_near(experts * 17 / 32 + (20914757184. - experts) * 2, 13761264768., 0);
    static const char *const layouts[] = {"gpt-oss-mxfp4", "checkpoint"};
    for (size_t i = 0; i < COUNT(layouts); i++) {
        struct roof_model *const m = load("gpt-oss-20b");
        apply(m, layouts[i], NULL);
        assert_near(resident(m), 13761264768., 0);
        all_have(m, W(EXPERT_GATE), P(MXFP4));
        all_have(m, W(EXPERT_UP), P(MXFP4));
        all_have(m, W(EXPERT_DOWN), P(MXFP4));
        all_have(m, W(Q), P(BF16));
        all_have(m, W(O), P(BF16));
        all_have(m, W(ROUTER), P(BF16));
        all_have(m, W(NORM), P(BF16));
        assert_int_equal(m->format[W(LM_HEAD)], P(BF16));
        assert_int_equal(m->kv, P(AUTO));
        /* W4A16: the activations are 16 bits, whether the layout or the request says it. */
        assert_true(m->activations == P(AUTO) || m->activations == P(BF16));
        roof_model_free(m);
    }
}

/* The published GGUF of gpt-oss-20b: experts as above, attention, embedding and head in Q8_0, 34
 * bytes per 32, and the rest in FP32. Its file has 12,109,566,560 bytes, 13 MB of them for the
 * tokenizer. */
static void test_gpt_oss_gguf(void **state)
{
    (void)state;
    const double experts = 24 * 32 * 3. * 2880 * 2880;
    const double blocks = 24 * 2880. * (2 * 4096 + 2 * 512) + 2 * 201088. * 2880;
    const double bytes =
        experts * 17 / 32 + blocks * 34 / 32 + (20914757184. - experts - blocks) * 4;
    struct roof_model *const m = load("gpt-oss-20b");
    apply(m, "gpt-oss-gguf", NULL);
    assert_near(resident(m), bytes, 0);
    assert_near(resident(m), 12109566560., 0.0011);
    all_have(m, W(EXPERT_UP), P(MXFP4));
    all_have(m, W(Q), P(Q8_0));
    all_have(m, W(O), P(Q8_0));
    all_have(m, W(ROUTER), P(FP32));
    assert_int_equal(m->format[W(LM_HEAD)], P(Q8_0));
    roof_model_free(m);
}

/*
 * DeepSeek-V3 FP8: a float per 128 x 128 weights: 16,388 bytes per 16,384. All linear layers, the
 * router, embedding, head and norms not.
 */
static void test_deepseek_fp8(void **state)
{
    (void)state;
    const double bf16 =
        2. * 129280 * 7168 + 61 * (2. * 7168 + 1536 + 512) + 7168 + 58 * (256. * 7168 + 256);
    const double bytes = (671026419200. - bf16) / 16384 * 16388 + bf16 * 2;
    static const char *const layouts[] = {"deepseek-fp8", "checkpoint"};
    for (size_t i = 0; i < COUNT(layouts); i++) {
        struct roof_model *const m = load("deepseek-v3");
        apply(m, layouts[i], NULL);
        assert_near(resident(m), bytes, 1e-12);
        assert_int_equal(m->activations, P(FP8_E4M3));
        assert_int_equal(m->kv, P(AUTO));
        all_have(m, W(KV_B), P(FP8_BLOCK128));
        all_have(m, W(EXPERT_DOWN), P(FP8_BLOCK128));
        all_have(m, W(ROUTER), P(BF16));
        assert_int_equal(m->format[W(LM_HEAD)], P(BF16));
        roof_model_free(m);
    }
}

/* Every layout can be read, applies to every model, and makes it smaller than FP16 does. */
static void test_every_layout_on_every_model(void **state)
{
    (void)state;
    struct roof_text layouts = ROOF_TEXT_INIT;
    struct roof_text models = ROOF_TEXT_INIT;
    size_t layout_count = 0;
    size_t model_count = 0;
    assert_int_equal(roof_layout_ids(&layouts, &layout_count, NULL, NULL), ROOF_OK);
    assert_int_equal(roof_model_ids(&models, &model_count, NULL, NULL), ROOF_OK);
    assert_true(layout_count >= 17);
    const char *layout = layouts.data;
    for (size_t i = 0; i < layout_count; i++) {
        const char *model = models.data;
        for (size_t k = 0; k < model_count; k++) {
            struct roof_model *const m = load(model);
            const double before = roof_model_bytes(m);
            apply(m, layout, NULL);
            const double bytes = resident(m);
            if (!(bytes > before / 8 && bytes < 0.99 * before) &&
                strcmp(layout, "gpt-oss-mxfp4") != 0) { /* which is about experts */
                fail_msg("%s in %s: %.0f bytes, %.0f in fp16", model, layout, bytes, before);
            }
            /* The layout names all weights outside the layers, and every linear weight except
             * experts. */
            assert_int_not_equal(m->format[W(EMBEDDING)], P(AUTO));
            assert_int_not_equal(m->format[W(LM_HEAD)], P(AUTO));
            assert_int_not_equal(m->format[W(NORM)], P(AUTO));
            /* A second time changes nothing. */
            apply(m, layout, NULL);
            assert_near(resident(m), bytes, 0);
            roof_model_free(m);
            model += strlen(model) + 1;
        }
        layout += strlen(layout) + 1;
    }
    roof_text_free(&layouts);
    roof_text_free(&models);
}

/* --- what a config says of itself ---------------------------------------------------------- */

#define SIZES                                                                                      \
    "\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, "                  \
    "\"vocab_size\": 100, \"intermediate_size\": 96"
#define EXPERTS "\"num_experts\": 8, \"num_experts_per_tok\": 2"
#define CONFIG(method) "{\"model_type\": \"mixtral\", " SIZES ", " EXPERTS ",\n " method "}"

static void test_methods(void **state)
{
    (void)state;
    static const struct {
        const char *quantization;
        enum roof_precision linear; /* in layer 2 */
        enum roof_precision experts;
        enum roof_precision activations;
        enum roof_precision kv;
    } cases[] = {
        {"\"quant_method\": \"mxfp4\"", P(BF16), P(MXFP4), P(BF16), P(AUTO)},
        {"\"quant_method\": \"fp8\"", P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3), P(AUTO)},
        {"\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]", P(FP8_BLOCK128),
         P(FP8_BLOCK128), P(FP8_E4M3), P(AUTO)},
        {"\"quant_method\": \"fbgemm_fp8\"", P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3), P(AUTO)},
        {"\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"", P(NVFP4), P(NVFP4), P(NVFP4),
         P(AUTO)},
        {"\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\", "
         "\"kv_cache_quant_algo\": \"FP8\"",
         P(NVFP4), P(NVFP4), P(NVFP4), P(FP8_E4M3)},
        {"\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\"", P(FP8_E4M3), P(FP8_E4M3),
         P(FP8_E4M3), P(AUTO)},
        {"\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128", P(INT4_G128_ZP),
         P(INT4_G128_ZP), P(AUTO), P(AUTO)},
        {"\"quant_method\": \"awq\", \"w_bit\": 4, \"q_group_size\": 64", P(INT4_G64_ZP),
         P(INT4_G64_ZP), P(AUTO), P(AUTO)},
        {"\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 32", P(INT4_G32_ZP),
         P(INT4_G32_ZP), P(AUTO), P(AUTO)},
        {"\"quant_method\": \"gptq\", \"bits\": 8", P(INT8_CHANNEL), P(INT8_CHANNEL), P(AUTO),
         P(AUTO)},
        {"\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true", P(FP4_BNB), P(FP4_BNB),
         P(AUTO), P(AUTO)},
        {"\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, \"bnb_4bit_quant_type\": "
         "\"nf4\"",
         P(NF4_FP32), P(NF4_FP32), P(AUTO), P(AUTO)},
        /* as published files have them, with all that is not read */
        {"\"quant_method\": \"bitsandbytes\", \"_load_in_4bit\": true, \"_load_in_8bit\": false, "
         "\"bnb_4bit_compute_dtype\": \"bfloat16\", \"bnb_4bit_quant_storage\": \"uint8\", "
         "\"bnb_4bit_quant_type\": \"nf4\", \"bnb_4bit_use_double_quant\": true, "
         "\"llm_int8_skip_modules\": null, \"llm_int8_threshold\": 6.0, \"load_in_4bit\": true, "
         "\"load_in_8bit\": false",
         P(NF4_DQ), P(NF4_DQ), P(AUTO), P(AUTO)},
        {"\"quant_method\": \"bitsandbytes\", \"_load_in_8bit\": true", P(INT8_CHANNEL),
         P(INT8_CHANNEL), P(AUTO), P(AUTO)},
        {"\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, \"load_in_8bit\": null, "
         "\"bnb_4bit_quant_type\": \"fp4\", \"bnb_4bit_use_double_quant\": false",
         P(FP4_BNB), P(FP4_BNB), P(AUTO), P(AUTO)},
        {"\"quant_method\": \"fp8\", \"fmt\": \"e4m3\", \"activation_scheme\": \"dynamic\", "
         "\"weight_block_size\": null, \"ignored_layers\": null, \"kv_cache_scheme\": null",
         P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3), P(AUTO)},
        {"\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128, \"version\": \"gemm\", "
         "\"zero_point\": true, \"modules_to_not_convert\": null, \"exllama_config\": null",
         P(INT4_G128_ZP), P(INT4_G128_ZP), P(AUTO), P(AUTO)},
        {"\"quant_method\": \"gptq\", \"bits\": null, \"group_size\": null, \"sym\": true, "
         "\"desc_act\": false, \"damp_percent\": 0.1",
         P(INT4_G128_ZP), P(INT4_G128_ZP), P(AUTO), P(AUTO)},
        {"\"quant_method\": \"gptq\", \"bits\": 8, \"group_size\": -1, \"dynamic\": {}, "
         "\"lm_head\": false, \"modules_in_block_to_quantize\": null",
         P(INT8_CHANNEL), P(INT8_CHANNEL), P(AUTO), P(AUTO)},
        {"\"quant_method\": \"fp8\", \"activation_scheme\": \"static\", \"kv_cache_scheme\": "
         "\"static\", \"fmt\": \"float8_e4m3fn\"",
         P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3)},
        {"\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\", \"kv_cache_scheme\": "
         "{\"dynamic\": false, \"num_bits\": 8, \"type\": \"float\"}, \"producer\": {}",
         P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3)},
        /* the words of ModelOpt, which may leave its name out */
        {"\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4_AWQ\", \"group_size\": 16",
         P(NVFP4), P(NVFP4), P(NVFP4), P(AUTO)},
        {"\"quant_algo\": \"W4A16_NVFP4\"", P(NVFP4), P(NVFP4), P(AUTO), P(AUTO)},
        {"\"quant_algo\": \"W4A8_MXFP4_FP8\"", P(MXFP4), P(MXFP4), P(FP8_E4M3), P(AUTO)},
        {"\"quant_algo\": \"MXFP8\"", P(MXFP8_E4M3), P(MXFP8_E4M3), P(MXFP8_E4M3), P(AUTO)},
        {"\"quant_algo\": \"FP8_PER_CHANNEL_PER_TOKEN\"", P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3),
         P(AUTO)},
        {"\"quant_algo\": \"FP8_PB_WO\"", P(FP8_BLOCK128), P(FP8_BLOCK128), P(AUTO), P(AUTO)},
        {"\"quant_algo\": \"fp8_pb_wo\"", P(FP8_BLOCK128), P(FP8_BLOCK128), P(AUTO), P(AUTO)},
        {"\"quant_algo\": \"W8A8_SQ_PER_CHANNEL\"", P(INT8_CHANNEL), P(INT8_CHANNEL), P(INT8),
         P(AUTO)},
        {"\"quant_algo\": \"W4A16_AWQ\", \"group_size\": 128, \"has_zero_point\": false, "
         "\"pre_quant_scale\": true",
         P(INT4_G128), P(INT4_G128), P(AUTO), P(AUTO)},
        {"\"quant_algo\": \"W4A8_AWQ\", \"group_size\": 128, \"pre_quant_scale\": true",
         P(INT4_G128), P(INT4_G128), P(FP8_E4M3), P(AUTO)},
        {"\"quant_algo\": \"W4A16_MXFP4\"", P(MXFP4), P(MXFP4), P(AUTO), P(AUTO)},
        {"\"quant_algo\": \"W8A16\"", P(INT8_CHANNEL), P(INT8_CHANNEL), P(AUTO), P(AUTO)},
        {"\"quant_method\": \"fp8\", \"kv_cache_quant_algo\": \"INT8\"", P(FP8_E4M3), P(FP8_E4M3),
         P(FP8_E4M3), P(INT8)},
        {"\"quant_method\": \"fp8\", \"kv_cache_quant_algo\": null, \"kv_cache_scheme\": "
         "{\"num_bits\": 4, \"type\": \"float\", \"group_size\": 16}",
         P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3), P(NVFP4)},
        {"\"quant_method\": \"fp8\", \"kv_cache_quant_algo\": \"FP8\", \"kv_cache_scheme\": "
         "{\"num_bits\": 8, \"type\": \"float\"}",
         P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, CONFIG("\"quantization_config\": {%s}"), cases[i].quantization);
        struct roof_model *const m = parse(text);
        apply(m, "checkpoint", NULL);
        has_format(m, 2, W(Q), cases[i].linear);
        has_format(m, 2, W(DOWN), cases[i].linear);
        has_format(m, 2, W(EXPERT_UP), cases[i].experts);
        has_format(m, 2, W(ROUTER), P(BF16));
        has_format(m, 2, W(NORM), P(BF16));
        assert_int_equal(m->format[W(EMBEDDING)], P(BF16));
        assert_int_equal(m->format[W(LM_HEAD)], P(BF16));
        assert_int_equal(m->activations, cases[i].activations);
        assert_int_equal(m->kv, cases[i].kv);
        roof_model_free(m);
    }
}

#define TENSORS(groups) "\"quant_method\": \"compressed-tensors\", \"config_groups\": " groups
#define ONE(weights, inputs)                                                                       \
    TENSORS("{\"group_0\": {\"targets\": [\"Linear\"], \"weights\": " weights                      \
            ", \"input_activations\": " inputs ", \"output_activations\": null}}")
#define KIND(bits, type, group)                                                                    \
    "{\"num_bits\": " bits ", \"type\": \"" type "\", \"group_size\": " group                      \
    ", \"actorder\": null, \"block_structure\": null, \"strategy\": \"x\"}"
#define FP8_WEIGHTS "\"weights\": {\"num_bits\": 8, \"type\": \"float\"}"
#define FP8_INPUTS "\"input_activations\": {\"num_bits\": 8, \"type\": \"float\"}"
#define BLOCK(structure)                                                                           \
    "{\"num_bits\": 8, \"type\": \"float\", \"strategy\": \"block\", "                             \
    "\"block_structure\": " structure "}"

/* compressed-tensors: bits, kinds and sizes of groups. */
static void test_compressed_tensors(void **state)
{
    (void)state;
    static const struct {
        const char *quantization;
        enum roof_precision weights;
        enum roof_precision activations;
    } cases[] = {
        {ONE(KIND("8", "float", "null"), KIND("8", "float", "null")), P(FP8_E4M3), P(FP8_E4M3)},
        {ONE(KIND("8", "float", "-1"), "null"), P(FP8_E4M3), P(AUTO)},
        {ONE(KIND("8", "float", "32"), KIND("8", "float", "32")), P(MXFP8_E4M3), P(MXFP8_E4M3)},
        {ONE(BLOCK("[128, 128]"), KIND("8", "float", "128")), P(FP8_BLOCK128), P(FP8_E4M3)},
        {ONE(BLOCK("\"128x128\""), "null"), P(FP8_BLOCK128), P(AUTO)},
        {ONE(KIND("8", "int", "null"), KIND("8", "int", "null")), P(INT8_CHANNEL), P(INT8)},
        {ONE(KIND("8", "int", "128"), "null"), P(INT8_CHANNEL), P(AUTO)},
        {ONE(KIND("4", "float", "16"), KIND("4", "float", "16")), P(NVFP4), P(NVFP4)},
        {ONE(KIND("4", "float", "32"), "null"), P(MXFP4), P(AUTO)},
        {ONE(KIND("4", "int", "128"), "null"), P(INT4_G128), P(AUTO)},
        {ONE("{\"num_bits\": 4, \"type\": \"int\", \"group_size\": 128, \"symmetric\": false}",
             "null"),
         P(INT4_G128_ZP), P(AUTO)},
        {ONE("{\"num_bits\": 4, \"type\": \"int\", \"group_size\": 32, \"symmetric\": false}",
             "null"),
         P(INT4_G32_ZP), P(AUTO)},
        {ONE(KIND("4", "int", "64"), "null"), P(INT4_G64), P(AUTO)},
        {ONE(KIND("4", "int", "32"), KIND("8", "int", "null")), P(INT4_G32), P(INT8)},
        {ONE(KIND("4", "int", "128"), KIND("8", "float", "null")), P(INT4_G128), P(FP8_E4M3)},
        {ONE(KIND("4", "int", "128"), KIND("4", "int", "null")), P(INT4_G128), P(INT4)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, CONFIG("\"quantization_config\": {%s}"), cases[i].quantization);
        struct roof_model *const m = parse(text);
        apply(m, "checkpoint", NULL);
        all_have(m, W(Q), cases[i].weights);
        all_have(m, W(EXPERT_UP), cases[i].weights);
        all_have(m, W(ROUTER), P(BF16));
        assert_int_equal(m->format[W(LM_HEAD)], P(BF16));
        assert_int_equal(m->activations, cases[i].activations);
        roof_model_free(m);
    }
}

/* The algorithm of compressed-tensors, by which engines know a checkpoint: groups without weights
 * do not count, and one with weights must be there. */
static void test_compressed_algorithm(void **state)
{
#define INT4_GROUP "\"a\": {\"targets\": [\"Linear\"], \"weights\": " KIND("4", "int", "128") "}"
#define INPUTS_GROUP "\"b\": {\"targets\": [\"LlamaAttention\"], \"weights\": null, " FP8_INPUTS "}"
    (void)state;
    static const struct {
        const char *groups;
        const char *algorithm;
    } cases[] = {
        {"{" INT4_GROUP "}", "W4A16"},
        {"{" INT4_GROUP ", " INPUTS_GROUP "}", "W4A16"},
        {"{" INPUTS_GROUP ", " INT4_GROUP "}", "W4A16"},
        {"{" INPUTS_GROUP "}", NULL},
        {"{" INT4_GROUP ", \"b\": {\"targets\": [\"re:.*mlp.*\"], " FP8_WEIGHTS "}}", NULL},
        {"{\"a\": {\"targets\": [\"Linear\"], \"weights\": " KIND("4", "int", "128") ", " FP8_INPUTS
                                                                                     "}}",
         NULL},
        {"{\"a\": {\"targets\": [\"Linear\"], \"weights\": " KIND("4", "float", "16") "}}", NULL},
        {"{\"a\": {\"targets\": [\"Linear\"], \"weights\": " KIND("8", "int", "128") "}}", NULL},
        {"{}", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, CONFIG("\"quantization_config\": {" TENSORS("%s") "}"),
                 cases[i].groups);
        struct roof_model *const m = parse(text);
        if (cases[i].algorithm == NULL) {
            assert_null(m->algorithm);
        } else {
            assert_non_null(m->algorithm);
            assert_string_equal(m->algorithm, cases[i].algorithm);
        }
        roof_model_free(m);
    }
}

/* Several groups: names before classes, the first of two, and 16 bits for what is in none. */
static void test_groups(void **state)
{
    (void)state;
    static const char text[] = CONFIG(
        "\"quantization_config\": {\"ignore\": [\"model.layers.3.self_attn.o_proj\"], " TENSORS(
            "{\"a\": {\"targets\": [\"Linear\"], " FP8_WEIGHTS "}, "
            "\"b\": {\"targets\": [\"re:.*self_attn.*\", \"model.layers.0.mlp.down_proj\"], "
            "\"weights\": {\"num_bits\": 4, \"type\": \"int\", \"group_size\": 128}}, "
            "\"c\": {\"targets\": [\"re:.*self_attn.v_proj\", \"re:.*mlp.gate$\"], "
            "\"weights\": {\"num_bits\": 8, \"type\": \"int\"}}}") "}");
    struct roof_model *m = parse(text);
    apply(m, "checkpoint", NULL);
    all_have(m, W(Q), P(INT4_G128));
    all_have(m, W(V), P(INT4_G128));
    has_format(m, 2, W(O), P(INT4_G128));
    has_format(m, 3, W(O), P(BF16));
    has_format(m, 0, W(DOWN), P(INT4_G128));
    has_format(m, 1, W(DOWN), P(FP8_E4M3));
    all_have(m, W(EXPERT_DOWN), P(FP8_E4M3));
    all_have(m, W(ROUTER), P(BF16));
    roof_model_free(m);
    m = parse(CONFIG("\"quantization_config\": {" TENSORS(
        "{\"a\": {\"targets\": [\"re:.*down_proj\"], " FP8_WEIGHTS "}}") "}"));
    apply(m, "checkpoint", NULL);
    all_have(m, W(EXPERT_DOWN), P(FP8_E4M3));
    all_have(m, W(EXPERT_UP), P(BF16));
    all_have(m, W(Q), P(BF16));
    roof_model_free(m);
    /* These schemes quantise the cache or attention alone. */
    static const char *const alone[] = {
        "{}", "{\"a\": {\"targets\": [\"LlamaAttention\"], \"weights\": null, " FP8_INPUTS "}}"};
    for (size_t i = 0; i < COUNT(alone); i++) {
        char config[1024];
        snprintf(config, sizeof config,
                 CONFIG("\"quantization_config\": {\"kv_cache_scheme\": {\"num_bits\": 8, "
                        "\"type\": \"float\"}, " TENSORS("%s") "}"),
                 alone[i]);
        m = parse(config);
        apply(m, "checkpoint", NULL);
        all_have(m, W(Q), P(BF16));
        assert_int_equal(m->activations, P(AUTO));
        assert_int_equal(m->kv, P(FP8_E4M3));
        roof_model_free(m);
    }
}

/* A target may name the head; a class does not. The first group that names it and the list of
 * exclusions count. */
static void test_head_target(void **state)
{
    (void)state;
    static const struct {
        const char *targets;
        const char *ignore;
        enum roof_precision head;
    } cases[] = {
        {"\"Linear\"", "", P(BF16)},
        {"\"Linear\", \"lm_head\"", "", P(FP8_E4M3)},
        {"\"re:.*lm_head\"", "", P(FP8_E4M3)},
        {"\"re:.*mlp.*\"", "", P(INT8_CHANNEL)},
        {"\"lm_head\"", "\"lm_head\"", P(BF16)},
        {"\"lm_head\"", "\"re:.*head\"", P(BF16)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 CONFIG("\"quantization_config\": {\"ignore\": [%s], " TENSORS(
                     "{\"a\": {\"targets\": [%s], " FP8_WEIGHTS "}, \"b\": {\"targets\": [\"%s\"], "
                     "\"weights\": {\"num_bits\": 8, \"type\": \"int\"}}}") "}"),
                 cases[i].ignore, cases[i].targets, i == 0 ? "re:.*mlp.*" : "lm_head");
        struct roof_model *const m = parse(text);
        apply(m, "checkpoint", NULL);
        assert_int_equal(m->format[W(LM_HEAD)], cases[i].head);
        roof_model_free(m);
    }
}

#define TARGET(name, target, weights, inputs)                                                      \
    "\"" name "\": {\"targets\": [\"" target "\"], \"weights\": " weights                          \
    ", \"input_activations\": " inputs "}"

/* Groups whose inputs differ: each weight gets the wider of the narrowest inputs and of those that
 * belong to its format, which must be what it asks for. */
static void test_mixed_groups(void **state)
{
    (void)state;
    static const struct {
        const char *groups;
        enum roof_precision q;
        enum roof_precision experts;
        enum roof_precision activations;
    } cases[] = {
        {TARGET("a", "re:.*self_attn.*", BLOCK("[128, 128]"),
                KIND("8", "float", "128")) ", " TARGET("b", "re:.*experts.*",
                                                       KIND("4", "float", "16"),
                                                       KIND("4", "float", "16")),
         P(FP8_BLOCK128), P(NVFP4), P(NVFP4)},
        {TARGET("a", "re:.*self_attn.*", KIND("8", "float", "null"),
                KIND("8", "float", "null")) ", " TARGET("b", "re:.*experts.*",
                                                        KIND("4", "int", "128"), "null"),
         P(FP8_E4M3), P(INT4_G128), P(FP8_E4M3)},
        {TARGET("a", "re:.*experts.*", KIND("4", "int", "128"), "null") ", " TARGET(
             "b", "Linear", KIND("8", "float", "null"), KIND("8", "float", "null")),
         P(FP8_E4M3), P(INT4_G128), P(FP8_E4M3)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[2048];
        snprintf(text, sizeof text, CONFIG("\"quantization_config\": {" TENSORS("{%s}") "}"),
                 cases[i].groups);
        struct roof_model *const m = parse(text);
        apply(m, "checkpoint", NULL);
        all_have(m, W(Q), cases[i].q);
        all_have(m, W(EXPERT_UP), cases[i].experts);
        assert_int_equal(m->activations, cases[i].activations);
        roof_model_free(m);
    }
}

#define MIXED(layers) "\"quant_algo\": \"MIXED_PRECISION\", \"quantized_layers\": {" layers "}"
#define MODULE(name, algorithm) "\"" name "\": {\"quant_algo\": \"" algorithm "\"}"

/* A format for each module that is named, which wins over no other layer's; 16 bits elsewhere. */
static void test_mixed(void **state)
{
    (void)state;
    struct roof_model *const m = parse(CONFIG("\"quantization_config\": {" MIXED(
        MODULE("model.layers.1.self_attn.o_proj", "FP8") ", " MODULE(
            "model.layers.1.mlp.experts.0.up_proj",
            "NVFP4") ", " MODULE("model.layers.1.mlp.experts.1.up_proj",
                                 "NVFP4") ", " MODULE("model.layers.11.mlp.experts.0.up_proj",
                                                      "NVFP4") ", " MODULE("model.layers.2.mlp."
                                                                           "experts.0.down_proj",
                                                                           "W4A16_AWQ") ", " MODULE("lm_head",
                                                                                                    "FP8")) "}"));
    apply(m, "checkpoint", NULL);
    has_format(m, 1, W(O), P(FP8_E4M3));
    has_format(m, 0, W(O), P(BF16));
    has_format(m, 1, W(Q), P(BF16));
    has_format(m, 1, W(EXPERT_UP), P(NVFP4));
    has_format(m, 2, W(EXPERT_UP), P(BF16));
    has_format(m, 2, W(EXPERT_DOWN), P(INT4_G128));
    has_format(m, 1, W(EXPERT_DOWN), P(BF16));
    assert_int_equal(m->format[W(LM_HEAD)], P(FP8_E4M3));
    assert_int_equal(m->activations, P(NVFP4)); /* FP8 weights are met by FP8 */
    roof_model_free(m);
}

/* Modules that all ask for the same inputs have these, int4 weights (W4A8_AWQ) included; beside
 * modules that ask for others they are refused. */
static void test_mixed_inputs(void **state)
{
    (void)state;
    struct roof_model *m = parse(CONFIG("\"quantization_config\": {" MIXED(
        MODULE("model.layers.1.self_attn.o_proj", "FP8") ", " MODULE("model.layers.1.mlp.experts",
                                                                     "W4A8_AWQ")) "}"));
    apply(m, "checkpoint", NULL);
    has_format(m, 1, W(O), P(FP8_E4M3));
    has_format(m, 1, W(EXPERT_UP), P(INT4_G128));
    assert_int_equal(m->activations, P(FP8_E4M3));
    assert_true(m->narrow_inputs);
    roof_model_free(m);
    m = parse(CONFIG("\"quantization_config\": {" MIXED(
        MODULE("model.layers.1.self_attn.o_proj", "NVFP4") ", " MODULE("model.layers.1.mlp.experts",
                                                                       "W4A8_AWQ")) "}"));
    struct roof_error error;
    assert_int_equal(roof_layout_apply(m, "checkpoint", NULL, &error), ROOF_INVALID);
    assert_non_null(strstr(error.message, "such different formats of inputs"));
    roof_model_free(m);
}

/* The names that weights have in classes with fused ones, with other experts, and beside a vision
 * tower. */
static void test_other_names(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        unsigned weights; /* at 16 bits in layer 2; all others are not */
    } cases[] = {
#define BIT(name) (1U << W(name))
        {"model.layers.2.self_attn.qkv_proj", BIT(Q) | BIT(K) | BIT(V)},
        {"re:.*layers.2.mlp.gate_up_proj", BIT(GATE) | BIT(UP)},
        {"model.layers.*.block_sparse_moe", BIT(EXPERT_GATE) | BIT(EXPERT_UP) | BIT(EXPERT_DOWN) |
                                                BIT(SHARED_GATE) | BIT(SHARED_UP) |
                                                BIT(SHARED_DOWN)},
        {"re:.*experts\\\\..*w1", BIT(EXPERT_GATE)},
        {"re:.*experts\\\\..*w2", BIT(EXPERT_DOWN)},
        {"re:.*experts\\\\..*w3", BIT(EXPERT_UP)},
        {"shared_expert", BIT(SHARED_GATE) | BIT(SHARED_UP) | BIT(SHARED_DOWN)},
        {"re:.*shared_expert.up_proj", BIT(SHARED_UP)},
        {"language_model.model.layers.2.self_attn.o_proj", BIT(O)},
        {"model.language_model.layers.?.mlp.down_proj", BIT(DOWN)},
        {"vision_tower.layers.2.self_attn.o_proj", 0},
        {"re:.*mlp\\\\.gate.*", BIT(GATE)},
        {"*self_attn.q*", BIT(Q) | BIT(Q_A) | BIT(Q_B)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            CONFIG("\"quantization_config\": {\"quant_method\": \"fp8\", \"ignore\": [\"%s\"]}"),
            cases[i].entry);
        struct roof_model *const m = parse(text);
        apply(m, "checkpoint", NULL);
        for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
            const bool wide =
                !roof_weight_linear((enum roof_weight)w) || (cases[i].weights >> w & 1U) != 0;
            has_format(m, 2, (enum roof_weight)w, wide ? P(BF16) : P(FP8_E4M3));
        }
        roof_model_free(m);
    }
}

/* A model of the registry in FP8 but for one entry. */
static struct roof_model *quantised_as(const char *id, const char *entry)
{
    char text[512];
    struct roof_error error = {0};
    struct roof_json *json = NULL;
    struct roof_model *const m = load(id);
    snprintf(text, sizeof text,
             "{\"quantization\": {\"quant_algo\": \"FP8\", \"exclude_modules\": [\"%s\"]}}", entry);
    assert_int_equal(roof_json_parse(&json, text, strlen(text), "beside", &error), ROOF_OK);
    assert_int_equal(roof_config_read_beside(m, json, &error), ROOF_OK);
    return m;
}

/* Families call modules by names of their own; an entry for one sets the format of its weights, and
 * of no others, in a layer that has it. Where a matrix is a part of a product whose larger matrix
 * sets the format, and where a model has no such module, a remark says so. */
static void test_names_of_families(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        const char *entry;
        int64_t layer;
        unsigned weights;   /* at 16 bits there; other linear weights are not */
        const char *remark; /* NULL: there is none */
    } cases[] = {
        {"nemotron-3-super-120b-a12b", "backbone.layers.*.mixer.in_proj", 0, BIT(MIXER_IN), NULL},
        {"nemotron-3-super-120b-a12b", "language_model.backbone.layers.0.mixer.out_proj", 0,
         BIT(MIXER_OUT), NULL},
        {"nemotron-3-super-120b-a12b", "backbone.layers.7.mixer.q_proj", 7, BIT(Q), NULL},
        {"nemotron-3-super-120b-a12b", "backbone.layers.7.mixer.o_proj", 7, BIT(O), NULL},
        {"nemotron-3-super-120b-a12b", "backbone.layers.1.mixer.experts", 1,
         BIT(EXPERT_UP) | BIT(EXPERT_DOWN), NULL},
        {"nemotron-3-super-120b-a12b", "re:backbone.*shared_experts", 1,
         BIT(SHARED_GATE) | BIT(SHARED_UP) | BIT(SHARED_DOWN), NULL},
        {"nemotron-3-super-120b-a12b", "backbone.layers.1.mixer.fc1_latent_proj", 1, BIT(LATENT_IN),
         NULL},
        {"nemotron-3-super-120b-a12b", "*fc1_latent_proj*\", \"*fc2_latent_proj*", 1,
         BIT(LATENT_IN) | BIT(LATENT_OUT), NULL},
        {"nemotron-3-nano-30b-a3b", "*fc2_latent_proj*", 1, 0,
         "its quantisation lists modules that this model does not have: *fc2_latent_proj*"},
        {"nemotron-3-super-120b-a12b", "decoder.layers.0.mixer.in_proj", 0, 0,
         "its quantisation lists modules that this model does not have: "
         "decoder.layers.0.mixer.in_proj"},
        {"granite-4.0-h-small", "model.layers.0.mamba.in_proj", 0, BIT(MIXER_IN), NULL},
        {"granite-4.0-h-small", "shared_mlp.input_linear", 0, BIT(SHARED_GATE) | BIT(SHARED_UP),
         NULL},
        {"granite-4.0-h-small", "model.layers.*.block_sparse_moe.input_linear", 0,
         BIT(EXPERT_GATE) | BIT(EXPERT_UP), NULL},
        {"falcon-h1-0.5b", "mamba.in_proj", 3, BIT(MIXER_IN), NULL},
        {"falcon-h1-0.5b", "feed_forward.down_proj", 3, BIT(DOWN), NULL},
        {"jamba-1.5-mini", "model.layers.0.mamba.in_proj", 0, BIT(MIXER_IN), NULL},
        {"jamba-1.5-mini", "model.layers.0.mamba.dt_proj", 0, BIT(MIXER_LOW), NULL},
        {"jamba-1.5-mini", "re:.*x_proj", 0, BIT(MIXER_LOW), NULL},
        {"kimi-linear-48b-a3b", "*.self_attn.f_b_proj", 0, BIT(MIXER_LOW), NULL},
        {"kimi-linear-48b-a3b", "*.self_attn.f_a_proj", 0, 0,
         "*.self_attn.f_a_proj has the format of a larger product here, not its own"},
        {"hunyuan-a13b", "model.layers.*.mlp.shared_mlp.up_proj", 5, BIT(SHARED_UP), NULL},
        {"minimax-m1", "model.layers.0.self_attn.qkv_proj", 0,
         BIT(Q) | BIT(K) | BIT(V) | BIT(MIXER_IN), NULL},
        {"minimax-m1", "self_attn.out_proj", 0, BIT(O) | BIT(MIXER_OUT), NULL},
        {"minimax-m1", "self_attn.output_gate", 0, 0,
         "self_attn.output_gate has the format of a larger product here, not its own"},
        {"minimax-m3", "*.self_attn.index_q_proj", 9, BIT(INDEX), NULL},
        {"minimax-m3", "*.block_sparse_moe.shared_experts*", 9,
         BIT(SHARED_GATE) | BIT(SHARED_UP) | BIT(SHARED_DOWN), NULL},
        {"gemma-4-e2b", "model.language_model.layers.*.per_layer_input_gate", 0, BIT(PER_LAYER_IN),
         NULL},
        {"gemma-4-e2b", "per_layer_projection", 9, BIT(PER_LAYER_OUT), NULL},
        {"gemma-4-26b-a4b", "model.language_model.layers.0.experts.gate_up_proj", 0,
         BIT(EXPERT_GATE) | BIT(EXPERT_UP), NULL},
        {"kimi-linear-48b-a3b", "re:.*mlp\\\\.(gate|up|gate_up|down)_proj.*", 0,
         BIT(GATE) | BIT(UP) | BIT(DOWN), NULL},
        {"qwen3-next-80b-a3b", "re:.*[.]out_proj", 0, BIT(MIXER_OUT), NULL},
        {"qwen3-next-80b-a3b", "model.layers.0.linear_attn.conv1d", 0, 0, NULL},
        {"qwen3-next-80b-a3b", "mtp.layers.0.mlp.gate", 0, 0, NULL},
        {"llama-3-8b", "model.layers.0.mixer.in_proj\", \"a.b\", \"c\", \"d", 0, 0,
         "its quantisation lists modules that this model does not have: "
         "model.layers.0.mixer.in_proj, a.b, c and more"},
        {"llama-3-8b", "model.layers.0.input_layernorm\", \"lm_head\", \"model.embed_tokens", 0, 0,
         NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const m = quantised_as(cases[i].model, cases[i].entry);
        const char *const *remark = m->remarks;
        while (*remark != NULL && strstr(*remark, "its quantisation lists") == NULL &&
               strstr(*remark, "a larger product") == NULL) {
            remark++;
        }
        assert_string_equal(*remark == NULL ? "" : *remark,
                            cases[i].remark == NULL ? "" : cases[i].remark);
        apply(m, "checkpoint", NULL);
        for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
            const bool wide =
                !roof_weight_linear((enum roof_weight)w) || (cases[i].weights >> w & 1U) != 0;
            has_format(m, cases[i].layer, (enum roof_weight)w, wide ? P(BF16) : P(FP8_E4M3));
        }
        roof_model_free(m);
    }
}

/* Lists of modules that stay: patterns, or names that stand for all modules below them. */
static void test_exclusions(void **state)
{
    (void)state;
    static const char *const keys[] = {"exclude_modules", "modules_to_not_convert", "ignore",
                                       "ignored_layers", "llm_int8_skip_modules"};
    for (size_t i = 0; i < COUNT(keys); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 CONFIG("\"quantization_config\": {\"quant_method\": \"fp8\", \"%s\": "
                        "[\"lm_head\", \"model.layers.*.self_attn.o_proj\", \"\", "
                        "\"model.layers.2.self_attn\", \"model.layers.3*\"]}"),
                 keys[i]);
        struct roof_model *const m = parse(text);
        apply(m, "checkpoint", NULL);
        all_have(m, W(O), P(BF16));
        has_format(m, 1, W(Q), P(FP8_E4M3));
        has_format(m, 2, W(Q), P(BF16));
        has_format(m, 2, W(V), P(BF16));
        has_format(m, 2, W(EXPERT_UP), P(FP8_E4M3));
        has_format(m, 3, W(EXPERT_UP), P(BF16));
        has_format(m, 3, W(K), P(BF16));
        assert_int_equal(m->layer_classes, 3); /* 0 and 1, 2, 3 */
        roof_model_free(m);
    }
    /* A dot behind a name ends its last component. */
    struct roof_model *const m = parse(
        CONFIG("\"quantization_config\": {\"quant_method\": \"awq\", \"modules_to_not_convert\": "
               "[\"model.layers.0.\", \"self_attn.\", \".\"]}"));
    apply(m, "checkpoint", NULL);
    has_format(m, 0, W(EXPERT_UP), P(BF16));
    has_format(m, 1, W(EXPERT_UP), P(INT4_G128_ZP));
    all_have(m, W(Q), P(BF16));
    roof_model_free(m);
}

#define V4                                                                                         \
    "{\"model_type\": \"deepseek_v4\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "            \
    "\"num_attention_heads\": 8, \"num_key_value_heads\": 1, \"head_dim\": 16, "                   \
    "\"intermediate_size\": 96, \"vocab_size\": 100, \"q_lora_rank\": 24, "                        \
    "\"sliding_window\": 5, \"qk_rope_head_dim\": 8, \"index_topk\": 4, \"index_n_heads\": 2, "    \
    "\"index_head_dim\": 6, \"o_groups\": 4, \"o_lora_rank\": 10, \"n_shared_experts\": 1, "       \
    "\"n_routed_experts\": 8, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 24, "         \
    "\"compress_ratios\": [0, 4], "

/* DeepSeek-V4 names its modules in its own way, and has experts in MXFP4 beside FP8. */
static void test_own_names(void **state)
{
    (void)state;
    struct roof_model *m = parse(
        V4 "\"quantization_config\": {" MIXED(MODULE("layers.0.ffn.experts", "NVFP4") ", " MODULE(
            "layers.1.ffn.shared_experts", "FP8") ", " MODULE("layers.1.attn.wq_b", "FP8")) "}}");
    apply(m, "checkpoint", NULL);
    has_format(m, 0, W(EXPERT_GATE), P(NVFP4));
    has_format(m, 0, W(EXPERT_DOWN), P(NVFP4));
    /* Weights that the list does not name keep the FP8 of the original checkpoint. */
    has_format(m, 1, W(EXPERT_UP), P(FP8_BLOCK128));
    has_format(m, 1, W(SHARED_UP), P(FP8_E4M3));
    has_format(m, 1, W(Q_B), P(FP8_E4M3));
    has_format(m, 0, W(Q_B), P(FP8_BLOCK128));
    all_have(m, W(Q_A), P(FP8_BLOCK128));
    all_have(m, W(ROUTER), P(BF16));
    roof_model_free(m);
    m = parse(
        V4 "\"quantization_config\": {" MIXED(MODULE("layers.0.ffn.experts", "NVFP4") ", " MODULE(
            "layers.1.ffn.experts", "NVFP4")) ", \"exclude_modules\": [\"*.attn.*\", \"head\"]}}");
    apply(m, "checkpoint", NULL);
    all_have(m, W(EXPERT_UP), P(NVFP4));
    all_have(m, W(Q_B), P(FP8_BLOCK128));
    roof_model_free(m);
    m = parse(V4 "\"expert_dtype\": \"fp4\", \"quantization_config\": {\"quant_method\": \"fp8\", "
                 "\"weight_block_size\": [128, 128], \"moe_quant_algo\": \"NVFP4\"}}");
    apply(m, "checkpoint", NULL);
    all_have(m, W(EXPERT_UP), P(NVFP4));
    all_have(m, W(SHARED_DOWN), P(FP8_BLOCK128));
    roof_model_free(m);
    m = parse(V4 "\"expert_dtype\": \"fp4\", \"quantization_config\": {\"quant_method\": \"fp8\", "
                 "\"weight_block_size\": [128, 128], \"ignore\": [\"layers.1.ffn.experts\", "
                 "\"re:.*attn.fused_wqa_wkv$\", \"re:.*attn.*(wo_a|wo_b)$\"]}}");
    apply(m, "checkpoint", NULL);
    has_format(m, 0, W(EXPERT_UP), P(MXFP4));
    has_format(m, 1, W(EXPERT_UP), P(BF16));
    all_have(m, W(SHARED_DOWN), P(FP8_BLOCK128));
    all_have(m, W(Q_B), P(FP8_BLOCK128));
    all_have(m, W(Q_A), P(BF16));
    all_have(m, W(KV_A), P(BF16));
    all_have(m, W(O), P(BF16));
    all_have(m, W(INDEX), P(FP8_BLOCK128));
    all_have(m, W(COMPRESS), P(BF16));
    assert_int_equal(m->activations, P(FP8_E4M3));
    roof_model_free(m);
    m = parse(V4
              "\"expert_dtype\": \"fp8\", \"quantization_config\": {\"quant_method\": \"fp8\"}}");
    apply(m, "checkpoint", NULL);
    all_have(m, W(EXPERT_UP), P(FP8_E4M3));
    roof_model_free(m);
    m = parse(V4 "\"quantization_config\": {" TENSORS(
        "{\"g\": {\"targets\": [\"re:.*attn.*(fused_wqa_wkv|wq_b|wo_a|wo_b)$\"], \"weights\": "
        "{\"num_bits\": 8, \"type\": \"float\"}}}") "}}");
    apply(m, "checkpoint", NULL);
    all_have(m, W(INDEX), P(FP8_E4M3));
    all_have(m, W(COMPRESS), P(BF16));
    roof_model_free(m);
}

/* llm-compressor names modules of DeepSeek-V4 as transformers does. Source: the config_groups of
 * vllm-project/llm-compressor@02da449 examples/quantizing_moe/deepseek_v4_example.py. */
static void test_names_of_transformers(void **state)
{
    (void)state;
    struct roof_model *const m = parse(V4 "\"quantization_config\": {" TENSORS(
        "{\"attention\": {\"targets\": "
        "[\"re:.*attn\\\\.(q_a_proj|q_b_proj|kv_proj|o_a_proj|o_b_proj)$\", "
        "\"re:.*attn\\\\.compressor\\\\.indexer\\\\.q_b_proj$\"], "
        "\"weights\": " BLOCK("[128, 128]") ", \"input_activations\": " KIND(
            "8", "float",
            "128") "}, "
                   "\"experts\": {\"targets\": "
                   "[\"re:.*mlp\\\\.experts.*(gate|up|down)_proj$\", "
                   "\"re:.*mlp\\\\.shared_experts.*(gate|up|down)_proj$\"], "
                   "\"weights\": " KIND("4", "float", "16") ", \"input_activations\": " KIND(
                       "4", "float", "16") "}}") "}}");
    static const enum roof_weight blocks[] = {W(Q_A), W(Q_B), W(KV_A), W(O), W(INDEX)};
    static const enum roof_weight nvfp4[] = {W(EXPERT_UP), W(EXPERT_DOWN), W(SHARED_GATE)};
    apply(m, "checkpoint", NULL);
    for (size_t i = 0; i < COUNT(blocks); i++) {
        all_have(m, blocks[i], P(FP8_BLOCK128));
    }
    for (size_t i = 0; i < COUNT(nvfp4); i++) {
        all_have(m, nvfp4[i], P(NVFP4));
    }
    all_have(m, W(COMPRESS), P(BF16));
    all_have(m, W(ROUTER), P(BF16));
    roof_model_free(m);
}

/* Regular expressions begin at the first byte of the name, and need not reach its last. */
static void test_expressions(void **state)
{
    (void)state;
    struct roof_model *const m =
        parse(CONFIG("\"quantization_config\": {\"quant_method\": \"fp8\", \"ignore\": "
                     "[\"re:.*self_attn\\\\.[ov]_proj$\", \"re:self_attn\", "
                     "\"re:model\\\\.layers\\\\.(2|\\\\d\\\\d)\\\\.self_attn\"]}"));
    apply(m, "checkpoint", NULL);
    all_have(m, W(O), P(BF16));
    all_have(m, W(V), P(BF16));
    has_format(m, 1, W(Q), P(FP8_E4M3));
    has_format(m, 2, W(Q), P(BF16));
    has_format(m, 2, W(EXPERT_UP), P(FP8_E4M3));
    roof_model_free(m);
}

/* The quantisation of a nested config, and of the root above it. */
static void test_nested_quantization(void **state)
{
    (void)state;
    static const char *const texts[] = {"{\"text_config\": {\"model_type\": \"llama\", " SIZES
                                        ", \"quantization_config\": {\"quant_method\": \"fp8\"}}}",
                                        "{\"text_config\": {\"model_type\": \"llama\", " SIZES
                                        "}, \"quantization_config\": {\"quant_method\": \"fp8\"}}"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct roof_model *const m = parse(texts[i]);
        apply(m, "checkpoint", NULL);
        all_have(m, W(DOWN), P(FP8_E4M3));
        roof_model_free(m);
    }
}

/* All models that their publisher gives in few bits only have these formats in the registry. The
 * sizes of files are those of pages on them: 160 GB, 1.03 TB and 594 GB; that of DeepSeek-V4 counts
 * a prediction layer, and roofline counts zero points in INT4. */
static void test_published(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        enum roof_precision experts;
        enum roof_precision o;
        double bytes; /* NAN: not known */
    } rows[] = {{"deepseek-v3", P(FP8_BLOCK128), P(FP8_BLOCK128), ROOF_UNKNOWN},
                {"deepseek-r1", P(FP8_BLOCK128), P(FP8_BLOCK128), ROOF_UNKNOWN},
                {"deepseek-r1-0528-nvfp4-v2", P(NVFP4), P(NVFP4), ROOF_UNKNOWN},
                {"deepseek-v3.2", P(FP8_BLOCK128), P(FP8_BLOCK128), ROOF_UNKNOWN},
                {"deepseek-v4-flash", P(MXFP4), P(FP8_BLOCK128), 160e9},
                {"gpt-oss-20b", P(MXFP4), P(BF16), ROOF_UNKNOWN},
                {"gpt-oss-120b", P(MXFP4), P(BF16), ROOF_UNKNOWN},
                {"kimi-k2", P(FP8_BLOCK128), P(FP8_BLOCK128), 1.03e12},
                {"kimi-k2-thinking", P(INT4_G32), P(BF16), 594e9},
                {"kimi-k2.5", P(INT4_G32), P(BF16), ROOF_UNKNOWN},
                {"kimi-k3", P(MXFP4), P(BF16), ROOF_UNKNOWN},
                {"mimo-v2-flash", P(FP8_BLOCK128), P(BF16), ROOF_UNKNOWN},
                {"minimax-m2", P(FP8_BLOCK128), P(FP8_BLOCK128), ROOF_UNKNOWN}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct roof_model *const m = in_layout(rows[i].model, "checkpoint");
        const int64_t last = m->layers - 1;
        has_format(m, last, W(EXPERT_UP), rows[i].experts);
        has_format(m, last, W(O), rows[i].o);
        has_format(m, last, W(ROUTER), P(BF16));
        has_format(m, last, W(COMPRESS), P(BF16));
        if (m->expert_latent > 0) { /* Kimi-K3: only the experts are quantised */
            has_format(m, last, W(LATENT_IN), P(BF16));
            has_format(m, last, W(LATENT_OUT), P(BF16));
        }
        assert_int_equal(m->format[W(LM_HEAD)], P(BF16));
        if (!isnan(rows[i].bytes)) {
            assert_near(resident(m), rows[i].bytes, rows[i].experts == P(INT4_G32) ? 0.001 : 0.035);
        }
        roof_model_free(m);
    }
}

static void not_applied(struct roof_model *m, const char *name, enum roof_status expected, int line,
                        int column, const char *message)
{
    struct roof_error error = {0};
    const enum roof_status status = roof_layout_apply(m, name, NULL, &error);
    if (status != expected || error.status != expected || error.line != line ||
        error.column != column || strncmp(error.message, message, strlen(message)) != 0) {
        fail_msg("%s: status %d at %d:%d: %s\nexpected %d:%d: %s", name, (int)status, error.line,
                 error.column, error.message, line, column, message);
    }
    assert_null(m->layout);
    assert_int_equal(roof_layout_apply(m, name, NULL, NULL), expected);
}

static void test_mixed_refused(void **state)
{
    (void)state;
    static const struct {
        const char *quantization;
        int column;
        const char *message;
    } cases[] = {{"\"quant_algo\": \"NVFP4\", \"group_size\": 32", 63,
                  "quantization_config: group_size must be 16 with this method; give the formats "
                  "with layout or class"},
                 {"\"quant_algo\": \"MIXED_PRECISION\"", 25,
                  "quantization_config: MIXED_PRECISION needs an object quantized_layers"},
                 {MIXED(MODULE("model.layers.9999.self_attn.o_proj", "FP8")), 79,
                  "quantization_config: quantized_layers name no weight of this model"},
                 {MIXED(MODULE("model.layers.1.self_attn.o_proj",
                               "FP8_PB_WO") ", " MODULE("model.layers.2.self_attn.o_proj", "FP8")),
                  115,
                  "quantization_config: quantized_layers with such different formats of inputs"},
                 {MIXED(MODULE("model.layers.1.self_attn.o_proj", "W9")), 115,
                  "quantization_config: method 'modelopt' W9 is not supported"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, CONFIG("\"quantization_config\": {%s}"), cases[i].quantization);
        struct roof_model *const m = parse(text);
        not_applied(m, "checkpoint", ROOF_INVALID, 2, cases[i].column, cases[i].message);
        roof_model_free(m);
    }
}

static void test_checkpoint_refused(void **state)
{
    (void)state;
    struct roof_model *m = load("llama-3-8b");
    not_applied(m, "checkpoint", ROOF_USAGE, 0, 0, "the config of llama-3-8b has no quantisation");
    not_applied(m, "q4_k", ROOF_USAGE, 0, 0, "unknown layout 'q4_k'; did you mean q4_k_m");
    not_applied(m, "", ROOF_USAGE, 0, 0, "unknown layout ''; known: ");
    not_applied(m, "/none/such.json", ROOF_IO, 0, 0, "");
    roof_model_free(m);
    static const struct {
        const char *quantization;
        const char *message;
    } cases[] = {
        {"{\"quant_method\": \"new\"}",
         "quantization_config: method 'new' is not supported; give the "
         "formats with layout or class"},
        {"{\"quant_method\": \"modelopt\", \"quant_algo\": \"W5\"}",
         "quantization_config: method 'modelopt' W5 is not supported; give the formats with layout "
         "or class"},
        {"{\"quant_method\": \"modelopt\"}",
         "quantization_config: method 'modelopt' is not supported"},
        {"{\"quant_method\": \"gptq\", \"bits\": 3}",
         "quantization_config: method 'gptq' is not supported"},
        {"{\"quant_method\": \"awq\", \"w_bit\": 8}",
         "quantization_config: method 'awq' is not supported"},
        {"{}", "quantization_config: method '' is not supported"},
        {"3", "quantization_config: method '' is not supported"},
        {"{\"quant_method\": \"bitsandbytes\"}",
         "quantization_config: exactly one of load_in_8bit and load_in_4bit must be true"},
        {"{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": false, \"load_in_8bit\": false}",
         "quantization_config: exactly one of load_in_8bit and load_in_4bit"},
        {"{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, \"load_in_8bit\": true}",
         "quantization_config: exactly one of load_in_8bit and load_in_4bit"},
        {"{\"quant_method\": \"compressed-tensors\"}",
         "quantization_config: method 'compressed-tensors' needs config_groups"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, CONFIG("\"quantization_config\": %s"), cases[i].quantization);
        m = parse(text);
        not_applied(m, "checkpoint", ROOF_INVALID, 2, 25, cases[i].message);
        roof_model_free(m);
    }
}

/* Unknown keys and wrong types are refused with their place. */
static void test_parts_refused(void **state)
{
    (void)state;
#define BITS(text) "\"quant_method\": \"gptq\", \"bits\":\n" text
#define GROUP(text) "\"quant_method\": \"awq\", \"bits\": 4, \"group_size\":\n" text
#define FP8(key, text) "\"quant_method\": \"fp8\", \"" key "\":\n" text
#define BNB(key, text) "\"quant_method\": \"bitsandbytes\", \"" key "\":\n" text
#define GROUPS "quantization_config: config_groups: "
    static const struct {
        const char *quantization; /* what is wrong begins in line 3, column 1 */
        const char *message;
    } cases[] = {
        {BITS("\"8\""), "quantization_config: bits must be a number"},
        {BITS("true"), "quantization_config: bits must be a number"},
        {GROUP("16"), "quantization_config: groups must have 128, 64 or 32 elements, not 16; give "
                      "the formats with layout or class"},
        {GROUP("-1"), "quantization_config: groups must have 128, 64 or 32 elements, not -1"},
        {GROUP("\"32\""), "quantization_config: group_size must be a number"},
        {FP8("weight_block_size", "[64, 64]"),
         "quantization_config: weight_block_size must be [128, 128]; give the formats "
         "with layout or class"},
        {FP8("weight_block_size", "[128, 64]"), "quantization_config: weight_block_size must be"},
        {FP8("weight_block_size", "[64, 128]"), "quantization_config: weight_block_size must be"},
        {FP8("weight_block_size", "[128]"), "quantization_config: weight_block_size must be"},
        {FP8("weight_block_size", "[128, 128, 128]"),
         "quantization_config: weight_block_size must be"},
        {FP8("weight_block_size", "false"), "quantization_config: weight_block_size must be"},
        {FP8("kv_cache_quant_algo", "\"FP6\""),
         "quantization_config: kv_cache_quant_algo is none of FP8, INT8 and NVFP4; give the "
         "formats with layout or class"},
        {FP8("kv_cache_quant_algo", "8"), "quantization_config: kv_cache_quant_algo is none of"},
        {FP8("kv_cache_scheme", "{\"num_bits\": 2, \"type\": \"int\"}"),
         "quantization_config: kv_cache_scheme is none of FP8, INT8 and NVFP4"},
        {FP8("kv_cache_scheme", "{\"num_bits\": \"8\", \"type\": \"float\"}"),
         "quantization_config: kv_cache_scheme is none of"},
        {FP8("kv_cache_scheme", "true"), "quantization_config: kv_cache_scheme is none of"},
        {"\"kv_cache_quant_algo\": \"FP8\", " FP8("kv_cache_scheme",
                                                  "{\"num_bits\": 8, \"type\": \"int\"}"),
         "quantization_config: kv_cache_scheme contradicts kv_cache_quant_algo"},
        {FP8("ignore", "\"lm_head\""),
         "quantization_config: ignore must be an array of names of modules"},
        {FP8("ignored_layers", "{}"), "quantization_config: ignored_layers must be an array"},
        {FP8("modules_to_not_convert", "false"), "quantization_config: modules_to_not_convert"},
        {"\"quant_method\": \"fp8\", \"ignore\": [\"a\",\n3]",
         "quantization_config: a list of modules must be of strings"},
        {BNB("load_in_4bit", "\"true\""),
         "quantization_config: load_in_4bit must be true or false"},
        {BNB("load_in_8bit", "1"), "quantization_config: load_in_8bit must be true or false"},
        {"\"load_in_4bit\": true, " BNB("bnb_4bit_quant_type", "\"nf3\""),
         "quantization_config: bnb_4bit_quant_type must be nf4, or fp4 without"},
        {"\"load_in_4bit\": true, \"bnb_4bit_use_double_quant\": true, " BNB("bnb_4bit_quant_type",
                                                                             "\"fp4\""),
         "quantization_config: bnb_4bit_quant_type must be nf4, or fp4 without"},
        {"\"load_in_4bit\": true, " BNB("bnb_4bit_use_double_quant", "\"no\""),
         "quantization_config: bnb_4bit_use_double_quant must be true or false"},
        {TENSORS("\n[]"), "quantization_config: method 'compressed-tensors' needs config_groups"},
        {TENSORS("{\"a\":\n3}"),
         GROUPS "weights with this num_bits, type and group_size are not supported"},
        {FP8("dynamic", "{\"-:.*mlp.*\": {}}"), "quantization_config: this value of dynamic is not "
                                                "supported; give the formats with layout"},
        {FP8("lm_head", "true"), "quantization_config: this value of lm_head is not supported"},
        {FP8("modules_in_block_to_quantize", "[[\"a\"]]"),
         "quantization_config: this value of modules_in_block_to_quantize is not supported"},
        {FP8("fmt", "\"e5m2\""), "quantization_config: this value of fmt is not supported"},
        {"\"format\":\n\"marlin-24\", " TENSORS("{}"),
         "quantization_config: this value of format is not supported"},
        {"\"sparsity_config\": {\"format\":\n\"sparse-24-bitmask\"}, " FP8("bits", "8"),
         "quantization_config: this value of format is not supported"},
        {ONE("\n" KIND("3", "int", "128"), "null"), GROUPS "weights with this"},
        {ONE("\n" KIND("4", "int", "16"), "null"), GROUPS "weights with this"},
        {ONE("\n" KIND("4", "int", "-1"), "null"), GROUPS "weights with this"},
        {ONE("\n" KIND("4", "int", "\"128\""), "null"), GROUPS "weights with this"},
        {ONE("\n" KIND("8", "complex", "null"), "null"), GROUPS "weights with this"},
        {ONE("\n" KIND("\"8\"", "float", "null"), "null"), GROUPS "weights with this"},
        {ONE(BLOCK("\n[64, 64]"), "null"),
         "quantization_config: block_structure must be [128, 128]"},
        {ONE(KIND("8", "int", "null"), "\n" KIND("6", "float", "null")),
         GROUPS "inputs with this num_bits and type are not supported"},
        {ONE(KIND("8", "int", "null"), "\n" KIND("4", "float", "16")), GROUPS "inputs with this"},
        {ONE(KIND("8", "int", "null"), "\ntrue"), GROUPS "inputs with this"},
        {TENSORS("{\"a\": {\"targets\": [\"Linear\",\n\"Embedding\"], " FP8_WEIGHTS "}}"),
         GROUPS "the only supported class is Linear"},
        {TENSORS("\n{\"a\": {\"targets\": [\"re:.*w9\", \"\"], " FP8_WEIGHTS "}}"),
         GROUPS "the targets name no weight of this model; give the formats with layout"},
        {TENSORS("{\"a\": {\"targets\":\n\"Linear\", " FP8_WEIGHTS "}}"),
         GROUPS "targets must be an array"},
        {TENSORS("{\"a\": {\"targets\": [\n7], " FP8_WEIGHTS "}}"),
         "quantization_config: a list of modules must be of strings"},
        {TENSORS("{\"a\":\n{\"targets\": [\"Linear\"], " FP8_WEIGHTS
                 "}, \"b\": {\"targets\": [\"Linear\"], " FP8_WEIGHTS ", " FP8_INPUTS "}}"),
         "quantization_config: config_groups with such different input_activations are not"},
        /* INT8 and FP8 inputs are as wide, but no kernel multiplies one by the other. */
        {TENSORS("{\"a\": {\"targets\": [\"re:.*self_attn.*\"], \"weights\": " KIND(
             "8", "float",
             "null") ", \"input_activations\": " KIND("8", "float",
                                                      "null") "}, "
                                                              "\"b\":\n{\"targets\": "
                                                              "[\"re:.*mlp.*\"], "
                                                              "\"weights\": " KIND(
                                                                  "8", "int",
                                                                  "null") ", "
                                                                          "\"input_activations\":"
                                                                          " " KIND("8", "int",
                                                                                   "null") "}}"),
         "quantization_config: config_groups with such different input_activations are not"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, CONFIG("\"quantization_config\": {%s}"), cases[i].quantization);
        struct roof_model *const m = parse(text);
        not_applied(m, "checkpoint", ROOF_INVALID, 3, 1, cases[i].message);
        roof_model_free(m);
    }
}

/* Lists that cannot be followed say so: to leave an entry out would be a wrong answer. */
static void test_exclusions_refused(void **state)
{
    (void)state;
    struct roof_model *m =
        parse(CONFIG("\"quantization_config\": {\"quant_method\": \"fp8\", \"ignore\":\n"
                     "[\"lm_head\", \"re:((a{1,200}){1,200}){1,200}\"]}"));
    not_applied(m, "checkpoint", ROOF_INVALID, 3, 13,
                "quantization_config: regular expression '((a{1,200}){1,200}){1,200}': counts in "
                "braces are not supported; give the formats with layout or class");
    roof_model_free(m);

    /* 512 layers x 20 weights x a megabyte; and as many short entries as take as long. */
    static const struct {
        int entries;
        int bytes;
        int column; /* of the entry that is too much */
    } lists[] = {{1, 1000000, 13}, {110, 1000, 13 + 91 * 1004}};
    for (size_t i = 0; i < COUNT(lists); i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        roof_text_put(&text, "{\"model_type\": \"llama\", \"hidden_size\": 64, "
                             "\"num_hidden_layers\": 512, \"num_attention_heads\": 8, "
                             "\"vocab_size\": 100, \"intermediate_size\": 96, "
                             "\"quantization_config\": {\"quant_method\": \"fp8\", \"ignore\":\n"
                             "[\"lm_head\"");
        for (int k = 0; k < lists[i].entries; k++) {
            roof_text_printf(&text, ", \"%0*d\"", lists[i].bytes, k);
        }
        roof_text_put(&text, "]}}");
        assert_false(text.failed);
        m = parse(text.data);
        roof_text_free(&text);
        not_applied(
            m, "checkpoint", ROOF_INVALID, 2, lists[i].column,
            "quantization_config: matching these lists of modules takes too long; give the formats "
            "with layout or class");
        roof_model_free(m);
    }
}

/* --- a user's own -------------------------------------------------------------------------- */

static const char *const folders[] = {"layouts"};
static char own[PATH_SIZE];

static int set_up(void **state)
{
    const int status = make_folders(state, folders, COUNT(folders));
    path_in(own, state, "layouts/own.json");
    return status;
}

static int tear_down(void **state)
{
    (void)unlink(own);
    return remove_folders(state, folders, COUNT(folders));
}

#define SCHEMA "\"schema\": \"roofline/layout/1\""
#define FOUR "{\"model_type\": \"mixtral\", " SIZES ", " EXPERTS "}"

/* Narrow names win over wide ones, wherever they stand; of rules the first that holds. */
static void test_own_layout(void **state)
{
    const char *const directories[] = {*state, NULL};
    write_text(own, "{" SCHEMA ", \"activations\": \"bf16\", \"kv\": \"fp8\", \"classes\": {"
                    "\"q\": \"fp32\", \"down\": {\"first 1\": \"q6_k\", \"more_bits\": "
                    "\"q5_k\", \"else\": \"q4_k\"}, \"up\": {\"first 1/2\": \"fp8\", "
                    "\"first 3\": \"int8\", \"else\": \"int4\"}, \"attention\": \"bf16\", "
                    "\"linear\": \"nvfp4\", \"norm\": {\"first 1\": \"bf16\", \"else\": "
                    "\"fp32\"}}, \"id\": \"own\", \"name\": \"Own\", \"source\": \"hand\", "
                    "\"notes\": []}");
    struct roof_model *m = parse(FOUR);
    apply(m, own, NULL);
    assert_int_equal(m->activations, P(BF16));
    assert_int_equal(m->kv, P(FP8_E4M3));
    all_have(m, W(Q), P(FP32));
    all_have(m, W(K), P(BF16));
    all_have(m, W(O), P(BF16));
    all_have(m, W(GATE), P(NVFP4));
    all_have(m, W(EXPERT_DOWN), P(NVFP4));
    all_have(m, W(ROUTER), P(AUTO));
    assert_int_equal(m->format[W(EMBEDDING)], P(AUTO));
    /* The norm behind the layers is in none of them. */
    has_format(m, 0, W(NORM), P(BF16));
    has_format(m, 1, W(NORM), P(FP32));
    assert_int_equal(m->format[W(NORM)], P(FP32));
    /* Four layers: an eighth is none, so that layers 2 and (7 x 4 / 8 = 3) 3 have more bits. */
    static const enum roof_precision down[] = {P(Q6_K), P(Q4_K), P(Q5_K), P(Q5_K)};
    static const enum roof_precision up[] = {P(FP8_E4M3), P(FP8_E4M3), P(INT8), P(INT4)};
    for (int64_t i = 0; i < 4; i++) {
        has_format(m, i, W(DOWN), down[i]);
        has_format(m, i, W(UP), up[i]);
    }
    assert_int_equal(m->layer_classes, 4);
    roof_model_free(m);
    /* By its id, from a directory; and what it does not say is as it was. */
    m = parse(FOUR);
    apply(m, "own", directories);
    has_format(m, 3, W(UP), P(INT4));
    assert_int_equal(m->kv, P(FP8_E4M3));
    roof_model_free(m);
    m = parse(FOUR);
    not_applied(m, "own", ROOF_USAGE, 0, 0, "unknown layout 'own'");
    roof_model_free(m);
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 0;
    size_t found = 0;
    assert_int_equal(roof_layout_ids(&ids, &count, directories, NULL), ROOF_OK);
    const char *id = ids.data;
    for (size_t i = 0; i < count; i++) {
        found += strcmp(id, "own") == 0;
        id += strlen(id) + 1;
    }
    assert_int_equal(found, 1);
    roof_text_free(&ids);
}

/* The special cases count when all that they ask for is so; later ones win. */
static void test_conditions(void **state)
{
    (void)state;
    static const struct {
        const char *condition;
        bool holds;
    } cases[] = {
        {"{\"experts\": 8}", true},
        {"{\"experts\": 4}", false},
        {"{\"layers\": 4}", true},
        {"{\"layers\": 8}", false},
        {"{\"gqa\": 4}", true}, /* 8 heads over 2 */
        {"{\"gqa\": 2}", false},
        {"{\"tied\": false}", true},
        {"{\"tied\": true}", false},
        {"{\"layers\": 4, \"gqa\": 4, \"experts\": 8, \"tied\": false}", true},
        {"{\"layers\": 4, \"gqa\": 1}", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{" SCHEMA ", \"classes\": {\"linear\": \"fp8\", \"q\": \"bf16\"}, \"when\": "
                 "[{\"if\": {\"layers\": 4}, \"classes\": {\"v\": \"int8\", \"o\": \"int8\"}}, "
                 "{\"if\": %s, \"classes\": {\"attention\": \"int4\", \"v\": \"q6_k\"}}]}",
                 cases[i].condition);
        write_text(own, text);
        struct roof_model *const m = parse(
            "{\"model_type\": \"mixtral\", \"num_key_value_heads\": 2, " SIZES ", " EXPERTS "}");
        apply(m, own, NULL);
        all_have(m, W(V), cases[i].holds ? P(Q6_K) : P(INT8));
        all_have(m, W(O), cases[i].holds ? P(INT4) : P(INT8));
        all_have(m, W(Q), cases[i].holds ? P(INT4) : P(BF16));
        all_have(m, W(DOWN), P(FP8_E4M3));
        roof_model_free(m);
    }
}

static void test_bad_layouts(void **state)
{
    (void)state;
#define WHEN "{" SCHEMA ", \"classes\": {},\n\"when\": "
#define RULES "a rule is \"first N\", \"first 1/N\", \"more_bits\" or \"else\""
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } cases[] = {
        {"{}", 1, 1, "a layout has \"schema\": \"roofline/layout/1\""},
        {"{\n\"schema\": \"roofline/layout/2\"}", 2, 11, "a layout has \"schema\""},
        {"{\n\"schema\": 1}", 2, 11, "a layout has \"schema\""},
        {"{" SCHEMA "}", 1, 1, "classes must be an object: {\"linear\": \"fp8\"}"},
        {"{" SCHEMA ",\n\"classes\": [\"fp8\"]}", 2, 12, "classes must be an object"},
        {"{" SCHEMA ",\n\"classes\": null}", 2, 12, "classes must be an object"},
        {"{" SCHEMA ", \"classes\": {\n \"linaer\": \"fp8\"}}", 2, 12,
         "unknown class 'linaer'; did you mean linear"},
        {"{" SCHEMA ", \"classes\": {\n \"linear\": \"fp9\"}}", 2, 12,
         "linear: unknown precision 'fp9'"},
        {"{" SCHEMA ", \"classes\": {\n \"q\": 4}}", 2, 7, "q must be the name of a format"},
        {"{" SCHEMA ", \"classes\": {\n \"q\": null}}", 2, 7, "q must be the name of a format"},
        {"{" SCHEMA ", \"classes\": {\n \"q\": {\"first\": \"fp8\"}}}", 2, 17, RULES},
        {"{" SCHEMA ", \"classes\": {\n \"q\": {\"first x\": \"fp8\"}}}", 2, 19, RULES},
        {"{" SCHEMA ", \"classes\": {\n \"q\": {\"first 1/0\": \"fp8\"}}}", 2, 21, RULES},
        {"{" SCHEMA ", \"classes\": {\n \"q\": {\"first 1/8x\": \"fp8\"}}}", 2, 22, RULES},
        {"{" SCHEMA ", \"classes\": {\n \"q\": {\"first 2 \": \"fp8\"}}}", 2, 20, RULES},
        {"{" SCHEMA ", \"classes\": {\n \"q\": {\"last 2\": \"fp8\"}}}", 2, 18, RULES},
        {"{" SCHEMA ", \"classes\": {\n \"q\": {\"else\": 8}}}", 2, 16,
         "q must be the name of a format"},
        {"{" SCHEMA ", \"classes\": {\n \"q\": {\"first 2\": \"fp8\", \"else\": \"none\"}}}", 2, 34,
         "q: unknown precision 'none'"},
        {"{" SCHEMA ", \"classes\": {\n \"q\": {\"first 2\": \"fp8\"}}}", 2, 7,
         "q needs an \"else\""},
        {"{" SCHEMA ", \"classes\": {\n \"q\": {}}}", 2, 7, "q needs an \"else\""},
        {"{" SCHEMA ", \"classes\": {},\n\"when\": [{\"if\": {\"heads\": 4}, \"classes\": {}}]}", 2,
         27, "a case may ask for experts, layers, gqa and tied"},
        {"{" SCHEMA ", \"classes\": {},\n\"when\": [{\"if\": {\"tied\": true}}]}", 2, 10,
         "a case needs classes"},
        {"{" SCHEMA ", \"classes\": {},\n\"when\": [{\"if\": {\"gqa\": 1}, \"classes\": {\"x\": "
         "\"fp8\"}}]}",
         2, 46, "unknown class 'x'"},
        {"{" SCHEMA ", \"classes\": {},\n\"activations\": \"fp9\"}", 2, 16,
         "activations: unknown precision 'fp9'"},
        {"{" SCHEMA ", \"classes\": {},\n\"activations\": 8}", 2, 16,
         "activations must be the name of a format"},
        {"{" SCHEMA ", \"classes\": {},\n\"kv\": \"x\"}", 2, 7, "kv: unknown precision 'x'"},
        {"{" SCHEMA ", \"classes\": {},\n\"activations\": \"q4_k\"}", 2, 16,
         "activations: q4_k stores weights only; allowed are fp64, fp32, tf32, bf16, fp16, the "
         "fp8, int and mx formats, and nvfp4"},
        {"{" SCHEMA ", \"classes\": {},\n\"activation\": \"fp8\"}", 2, 15,
         "unknown key 'activation'; did you mean activations"},
        {"{" SCHEMA ",\n\"class\": {\"linear\": \"fp8\"}}", 2, 10,
         "unknown key 'class'; did you mean classes"},
        /* Rules and cases are read whether they hold or not. */
        {"{" SCHEMA ", \"classes\": {\n \"q\": {\"first 1/9\": \"fp9\", \"else\": \"fp8\"}}}", 2,
         21, "q: unknown precision 'fp9'"},
        {"{" SCHEMA ", \"classes\": {\n \"q\": {\"else\": \"fp8\", \"last\": \"fp8\"}}}", 2, 31,
         RULES},
        {"{" SCHEMA ", \"classes\": {\n \"lm_head\": {\"first 2\": \"bf16\", \"else\": "
         "\"fp8\"}}}",
         2, 13, "lm_head is in no layer: it must be the name of a format, without rules"},
        {"{" SCHEMA ", \"classes\": {\n \"embedding\": {\"else\": \"fp8\"}}}", 2, 15,
         "embedding is in no layer"},
        {WHEN "{\"if\": {\"tied\": true}, \"classes\": {}}}", 2, 9,
         "when must be an array of cases: [{\"if\": ..., \"classes\": ...}]"},
        {WHEN "null}", 2, 9, "when must be an array"},
        {WHEN "[3]}", 2, 10, "a case must be an object: {\"if\": {\"tied\": true}"},
        {WHEN "[[\"if\"]]}", 2, 10, "a case must be an object"},
        {WHEN "[{\"classes\": {}}]}", 2, 10, "a case needs if"},
        {WHEN "[{\"if\": {\"tied\": true}, \"clases\": {}}]}", 2, 43,
         "unknown key 'clases'; known: if, classes"},
        {WHEN "[{\"if\": [\"tied\"], \"classes\": {}}]}", 2, 17,
         "if must be an object with a condition or more: {\"tied\": true}"},
        {WHEN "[{\"if\": {}, \"classes\": {}}]}", 2, 17, "if must be an object"},
        {WHEN "[{\"if\": true, \"classes\": {}}]}", 2, 17, "if must be an object"},
        {WHEN "[{\"if\": null, \"classes\": {}}]}", 2, 17, "if must be an object"},
        {WHEN "[{\"if\": {\"tied\": 1}, \"classes\": {}}]}", 2, 26, "tied must be true or false"},
        {WHEN "[{\"if\": {\"gqa\": \"8\"}, \"classes\": {}}]}", 2, 25, "gqa must be a number"},
        {WHEN "[{\"if\": {\"layers\": true}, \"classes\": {}}]}", 2, 28, "layers must be a number"},
        {WHEN "[{\"if\": {\"experts\": null}, \"classes\": {}}]}", 2, 29,
         "experts must be a number"},
        {WHEN "[{\"if\": {\"gqa\": 99}, \"classes\": {\"q\": \"fp9\"}}]}", 2, 47,
         "q: unknown precision 'fp9'"},
        {WHEN "[{\"if\": {\"gqa\": 99}, \"classes\": [\"q\"]}]}", 2, 41,
         "classes must be an object"},
        {"{" SCHEMA ",\n", 2, 1, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const m = parse(FOUR);
        write_text(own, cases[i].text);
        not_applied(m, own, ROOF_INVALID, cases[i].line, cases[i].column, cases[i].message);
        for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
            assert_int_equal(m->layer[0].format[w], P(AUTO));
        }
        roof_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_per_weight),
        cmocka_unit_test(test_q4_k_m_bytes),
        cmocka_unit_test(test_mixtral_bytes),
        cmocka_unit_test(test_q4_k_m_layers),
        cmocka_unit_test(test_special_cases),
        cmocka_unit_test(test_deepseek_r1_nvfp4),
        cmocka_unit_test(test_gpt_oss),
        cmocka_unit_test(test_gpt_oss_gguf),
        cmocka_unit_test(test_deepseek_fp8),
        cmocka_unit_test(test_every_layout_on_every_model),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_compressed_tensors),
        cmocka_unit_test(test_compressed_algorithm),
        cmocka_unit_test(test_head_target),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_mixed_groups),
        cmocka_unit_test(test_own_names),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_mixed_inputs),
        cmocka_unit_test(test_names_of_transformers),
        cmocka_unit_test(test_mixed_refused),
        cmocka_unit_test(test_exclusions),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_names_of_families),
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_exclusions_refused),
        cmocka_unit_test(test_nested_quantization),
        cmocka_unit_test(test_checkpoint_refused),
        cmocka_unit_test(test_parts_refused),
        cmocka_unit_test_setup_teardown(test_own_layout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_conditions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_layouts, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
