// SPDX-License-Identifier: MIT
/* The embedded table of serving engines: what it says, and that nothing in it goes unused. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "catalog/data.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define P(id) ROOF_PRECISION_##id

static struct roof_engines *engines;

static int load_engines(void **unused)
{
    (void)unused;
    return roof_engines_load(&engines, NULL) == ROOF_OK ? 0 : -1;
}

static int free_engines(void **unused)
{
    (void)unused;
    roof_engines_free(engines);
    roof_engines_free(NULL);
    return 0;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static struct roof_model *model(const char *id)
{
    struct roof_model *loaded = NULL;
    assert_int_equal(roof_model_load(&loaded, id, NULL, NULL), ROOF_OK);
    return loaded;
}

static unsigned bit_of(const char *engine)
{
    for (size_t i = 0; i < engines->count; i++) {
        if (strcmp(engines->engine[i].id, engine) == 0) {
            return 1U << i;
        }
    }
    fail_msg("no engine %s", engine);
    return 0;
}

static bool same(const char *a, const char *b)
{
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

/* The number of a combination; the count of all when there is none. */
static size_t find_serving(const struct roof_serving *wanted)
{
    size_t i = 0;
    while (i < engines->servings &&
           !(engines->serving[i].weights == wanted->weights &&
             engines->serving[i].activations == wanted->activations &&
             engines->serving[i].kv == wanted->kv &&
             same(engines->serving[i].layout, wanted->layout) &&
             same(engines->serving[i].quantization, wanted->quantization))) {
        i++;
    }
    return i;
}

static size_t serving_of(enum roof_precision weights, enum roof_precision activations,
                         enum roof_precision kv)
{
    const struct roof_serving wanted = {.weights = weights, .activations = activations, .kv = kv};
    return find_serving(&wanted);
}

static enum roof_precision precision(const roof_json_value *value)
{
    enum roof_precision found = ROOF_PRECISION_AUTO;
    struct roof_error error = {0};
    assert_non_null(roof_json_string(value));
    if (roof_precision_find(&found, roof_json_string(value), &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return found;
}

/* The formats of a row, without the KV cache. */
static struct roof_serving row_of(const roof_json_value *row)
{
    return (struct roof_serving){.id = roof_json_string(roof_json_get(row, "id")),
                                 .layout = roof_json_string(roof_json_get(row, "layout")),
                                 .quantization =
                                     roof_json_string(roof_json_get(row, "quantization")),
                                 .weights = precision(roof_json_get(row, "weights")),
                                 .activations = precision(roof_json_get(row, "activations"))};
}

static void test_unique(void **state)
{
    (void)state;
    assert_true(engines->count >= 3 && engines->servings > 5);
    for (size_t i = 0; i < engines->servings; i++) {
        const struct roof_serving *const s = &engines->serving[i];
        assert_int_equal(find_serving(s), i);
        assert_true(s->id[0] != '\0');
        assert_true(s->layout != NULL || s->quantization == NULL);
    }
    for (size_t i = 0; i < engines->count; i++) {
        assert_true(engines->engine[i].name[0] != '\0');
        assert_int_equal(bit_of(engines->engine[i].id), 1U << i);
    }
}

/* Every file, format by format, against what was loaded; engines[] counts its rows that run. */
static void test_files(void **state)
{
    (void)state;
    size_t files = 0;
    size_t servings = 0;
    for (size_t f = 0; f < roof_data_file_count; f++) {
        const char *const path = roof_data_files[f].path;
        if (!begins(path, "engines/")) {
            continue;
        }
        struct roof_json *json = NULL;
        assert_int_equal(roof_data_json(&json, path, NULL), ROOF_OK);
        const roof_json_value *const root = roof_json_root(json);
        const char *const id = roof_json_string(roof_json_get(root, "id"));
        char expected[64];
        snprintf(expected, sizeof expected, "engines/%s.json", id);
        assert_string_equal(path, expected);
        assert_true(roof_json_count(roof_json_get(root, "source")) > 0);
        for (const roof_json_value *row = roof_json_first(roof_json_get(root, "formats"));
             row != NULL; row = roof_json_next(row)) {
            struct roof_serving serving = row_of(row);
            for (const roof_json_value *kv = roof_json_first(roof_json_get(row, "kv")); kv != NULL;
                 kv = roof_json_next(kv)) {
                serving.kv = precision(kv);
                const size_t number = find_serving(&serving);
                assert_true(number < engines->servings && number <= servings);
                if (number == servings) { /* the first that has it gives the name */
                    assert_string_equal(engines->serving[number].id, serving.id);
                    servings++;
                }
            }
        }
        (void)bit_of(id);
        files++;
        roof_json_free(json);
    }
    assert_int_equal(files, engines->count);
    assert_int_equal(servings, engines->servings);
}

/* The engines that a file says run a combination on an architecture. */
static unsigned by_hand(size_t serving, const char *architecture)
{
    unsigned set = 0;
    for (size_t e = 0; e < engines->count; e++) {
        char path[64];
        struct roof_json *json = NULL;
        snprintf(path, sizeof path, "engines/%s.json", engines->engine[e].id);
        assert_int_equal(roof_data_json(&json, path, NULL), ROOF_OK);
        const roof_json_value *const formats = roof_json_get(roof_json_root(json), "formats");
        for (const roof_json_value *row = roof_json_first(formats); row != NULL;
             row = roof_json_next(row)) {
            const struct roof_serving *const s = &engines->serving[serving];
            const struct roof_serving r = row_of(row);
            const bool equal = r.weights == s->weights && r.activations == s->activations &&
                               same(r.layout, s->layout) && same(r.quantization, s->quantization);
            bool kv = false;
            for (const roof_json_value *item = roof_json_first(roof_json_get(row, "kv"));
                 item != NULL; item = roof_json_next(item)) {
                kv = kv || precision(item) == s->kv;
            }
            bool on = false;
            for (const roof_json_value *item = roof_json_first(roof_json_get(row, "on"));
                 item != NULL; item = roof_json_next(item)) {
                on = on || begins(architecture, roof_json_string(item));
            }
            set |= equal && kv && on ? 1U << e : 0;
        }
        roof_json_free(json);
    }
    return set;
}

/* All devices: what runs is what the files say. */
static void test_devices(void **state)
{
    (void)state;
    size_t some = 0;
    size_t none = 0;
    for (size_t f = 0; f < roof_data_file_count; f++) {
        char id[64];
        if (sscanf(roof_data_files[f].path, "hardware/%63[^.].json", id) != 1) {
            continue;
        }
        struct roof_hardware *const hardware = load_device(id);
        unsigned any = 0;
        for (size_t s = 0; s < engines->servings; s++) {
            const unsigned run = roof_engines_run(engines, s, hardware);
            assert_int_equal(run, by_hand(s, hardware->architecture));
            any |= run;
        }
        some += any != 0;
        none += any == 0;
        roof_hardware_free(hardware);
    }
    assert_true(some > 20 && none > 3);
}

/* A name that no device's architecture begins with is a typing error, unless it is one of these. */
static void test_architectures(void **state)
{
    (void)state;
    for (size_t f = 0; f < roof_data_file_count; f++) {
        if (!begins(roof_data_files[f].path, "engines/")) {
            continue;
        }
        struct roof_json *json = NULL;
        assert_int_equal(roof_data_json(&json, roof_data_files[f].path, NULL), ROOF_OK);
        for (const roof_json_value *row =
                 roof_json_first(roof_json_get(roof_json_root(json), "formats"));
             row != NULL; row = roof_json_next(row)) {
            for (const roof_json_value *on = roof_json_first(roof_json_get(row, "on")); on != NULL;
                 on = roof_json_next(on)) {
                bool met = false;
                for (size_t h = 0; h < roof_data_file_count && !met; h++) {
                    char id[64];
                    if (sscanf(roof_data_files[h].path, "hardware/%63[^.].json", id) == 1) {
                        struct roof_hardware *const hardware = load_device(id);
                        met = begins(hardware->architecture, roof_json_string(on));
                        roof_hardware_free(hardware);
                    }
                }
                if (!met) {
                    fail_msg("%s: no device is %s", roof_data_files[f].path, roof_json_string(on));
                }
            }
        }
        roof_json_free(json);
    }
}

/* The formats that the sources give for well-known devices. */
static void test_known(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        enum roof_precision weights;
        enum roof_precision activations;
        enum roof_precision kv;
        const char *engine[5];
    } cases[] = {
        {"h100-sxm", P(BF16), P(BF16), P(BF16), {"sglang", "trtllm", "vllm"}},
        {"h100-sxm", P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3), {"sglang", "trtllm", "vllm"}},
        {"h100-sxm", P(FP8_E4M3), P(FP8_E4M3), P(BF16), {"sglang", "torchao", "trtllm", "vllm"}},
        {"h100-sxm", P(NVFP4), P(NVFP4), P(BF16), {NULL}},
        {"h100-sxm", P(NVFP4), P(NVFP4), P(FP8_E4M3), {NULL}},
        {"h100-sxm", P(INT4_G128), P(FP8_E4M3), P(BF16), {"trtllm"}},
        {"hgx-b200", P(NVFP4), P(NVFP4), P(FP8_E4M3), {"sglang", "trtllm", "vllm"}},
        {"hgx-b200", P(FP8_E4M3), P(FP8_E4M3), P(BF16), {"sglang", "torchao", "trtllm", "vllm"}},
        {"hgx-b200", P(INT4_G128), P(BF16), P(BF16), {NULL}},
        {"hgx-b200", P(INT8_CHANNEL), P(INT8), P(BF16), {NULL}},
        {"hgx-b200", P(INT8_CHANNEL), P(BF16), P(BF16), {"torchao"}},
        {"gb10", P(INT4_G128), P(BF16), P(BF16), {"torchao"}},
        {"dgx-spark", P(INT8_CHANNEL), P(INT8), P(BF16), {"torchao"}},
        {"dgx-spark", P(NVFP4), P(NVFP4), P(BF16), {"sglang", "torchao", "trtllm", "vllm"}},
        {"dgx-spark", P(MXFP4), P(MXFP4), P(BF16), {NULL}},
        {"a100-sxm-80gb", P(INT4_G128), P(BF16), P(BF16), {"sglang", "torchao", "trtllm", "vllm"}},
        {"a100-sxm-80gb", P(INT8_CHANNEL), P(INT8), P(BF16), {"sglang", "torchao", "vllm"}},
        {"a100-sxm-80gb", P(FP8_E4M3), P(BF16), P(BF16), {"vllm"}},
        {"a100-sxm-80gb", P(NVFP4), P(NVFP4), P(BF16), {NULL}},
        {"mi300x", P(FP8_E4M3), P(FP8_E4M3), P(BF16), {"sglang", "vllm"}},
        {"mi300x", P(BF16), P(BF16), P(BF16), {"sglang", "vllm"}},
        {"mi210", P(FP8_E4M3), P(FP8_E4M3), P(BF16), {NULL}},
        {"v100", P(FP16), P(FP16), P(FP16), {"llama.cpp", "vllm"}},
        {"m4-max", P(FP16), P(FP16), P(Q8_0), {"llama.cpp"}},
        {"v100", P(BF16), P(BF16), P(BF16), {NULL}},
        {"tpu-v5e", P(BF16), P(BF16), P(BF16), {NULL}},
        {"m4-max", P(BF16), P(BF16), P(BF16), {NULL}},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_hardware *const hardware = load_device(cases[c].device);
        const size_t number = serving_of(cases[c].weights, cases[c].activations, cases[c].kv);
        unsigned expected = 0;
        for (size_t i = 0; i < COUNT(cases[c].engine) && cases[c].engine[i] != NULL; i++) {
            expected |= bit_of(cases[c].engine[i]);
        }
        assert_true(number < engines->servings);
        if (roof_engines_run(engines, number, hardware) != expected) {
            fail_msg("case %zu, %s: %#x instead of %#x", c, cases[c].device,
                     roof_engines_run(engines, number, hardware), expected);
        }
        roof_hardware_free(hardware);
    }
}

/* The use that engines make of a kind of format, on the architectures of their tables. */
static void test_use(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        enum roof_precision format;
        bool cache;
        enum roof_engine_use use;
    } cases[] = {
        {"h100-sxm", P(FP8_E4M3), false, ROOF_ENGINE_USE_COMPUTED},
        {"a100-sxm-80gb", P(FP8_E4M3), false, ROOF_ENGINE_USE_STORED},
        {"h100-sxm", P(INT4), false, ROOF_ENGINE_USE_STORED}, /* as int4_g128 */
        {"a100-sxm-80gb", P(INT4), false, ROOF_ENGINE_USE_STORED},
        {"b200", P(INT4), false, ROOF_ENGINE_USE_PUBLISHED},
        {"h100-sxm", P(INT8), false, ROOF_ENGINE_USE_COMPUTED}, /* as int8_channel */
        {"mi300x", P(INT8), false, ROOF_ENGINE_USE_NONE},
        {"b200", P(NVFP4), false, ROOF_ENGINE_USE_COMPUTED},
        {"h100-sxm", P(NVFP4), false, ROOF_ENGINE_USE_NONE},
        {"mi300x", P(NVFP4), false, ROOF_ENGINE_USE_NONE},
        {"mi300x", P(MXFP4), false, ROOF_ENGINE_USE_PUBLISHED},
        {"h100-sxm", P(FP8_E4M3), true, ROOF_ENGINE_USE_COMPUTED},
        {"a100-sxm-80gb", P(FP8_E4M3), true, ROOF_ENGINE_USE_NONE},
        {"h100-sxm", P(NVFP4), true, ROOF_ENGINE_USE_NONE},
        {"tpu-v6e", P(INT8), false, ROOF_ENGINE_USE_NONE},
        {"tpu-v6e", P(FP16), false, ROOF_ENGINE_USE_COMPUTED},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_hardware *const hardware = load_device(cases[c].device);
        if (roof_engines_use(engines, NULL, cases[c].format, cases[c].cache, hardware) !=
            cases[c].use) {
            fail_msg("case %zu, %s", c, cases[c].device);
        }
        roof_hardware_free(hardware);
    }
    struct roof_hardware *const mine =
        parse_device("{\"id\": \"mine\", \"bandwidth_gb_s\": 1, \"peak_tflops\": {\"fp16\": 1}}");
    assert_int_equal(roof_engines_use(engines, NULL, P(NVFP4), false, mine),
                     ROOF_ENGINE_USE_UNKNOWN);
    for (size_t i = 0; i < engines->servings; i++) { /* it may run what it has a unit for */
        const struct roof_serving *const s = &engines->serving[i];
        const bool runs = roof_engines_run(engines, i, mine) != 0;
        assert_true(runs || s->weights != P(FP16) || s->activations != P(FP16));
        assert_true(!runs || s->activations == P(FP16));
        assert_true(!runs || roof_format(s->weights)->unit == P(FP16));
    }
    roof_hardware_free(mine);
}

/* Returns the name that an engine gives to weights and activations on a device; "": none. */
static const char *stored_as(const char *engine, const char *device, enum roof_precision weights,
                             enum roof_precision activations)
{
    size_t number = 0;
    assert_int_equal(roof_engine_find(&number, engines, engine, NULL), ROOF_OK);
    struct roof_hardware *const hardware = load_device(device);
    const struct roof_formats formats = {.weights = weights, .activations = activations};
    const struct roof_engine_format *const f =
        roof_engine_stores(&engines->engine[number], &formats, false, hardware);
    roof_hardware_free(hardware);
    return f == NULL ? "" : f->id;
}

/* One engine uses less than all of them, and has a name for each way of storing. */
static void test_stored(void **state)
{
    (void)state;
    assert_string_equal(stored_as("torchao", "h100-sxm", P(INT8), P(INT8)), "int8dq");
    assert_string_equal(stored_as("torchao", "h100-sxm", P(INT8), P(FP16)), "int8wo");
    assert_string_equal(stored_as("torchao", "h100-sxm", P(INT4), P(FP16)), "int4wo-128");
    assert_string_equal(stored_as("torchao", "h100-sxm", P(FP8_E4M3), P(FP8_E4M3)), "float8dq");
    assert_string_equal(stored_as("torchao", "a100-sxm-80gb", P(FP8_E4M3), P(FP8_E4M3)), "");
    assert_string_equal(stored_as("torchao", "h100-sxm", P(FP16), P(FP16)), "");
    assert_string_equal(stored_as("vllm", "h100-sxm", P(FP16), P(FP16)), "bf16");
    assert_string_equal(stored_as("vllm", "v100", P(FP16), P(FP16)), "fp16");
    assert_string_equal(stored_as("vllm", "a100-sxm-80gb", P(FP8_E4M3), P(FP16)), "fp8-weights");
    /* Models published in mxfp4 are no way of storing any. */
    assert_string_equal(stored_as("vllm", "h100-sxm", P(MXFP4), P(FP16)), "");
    struct roof_hardware *const hopper = load_device("h100-sxm");
    size_t vllm = 0;
    size_t torchao = 0;
    assert_int_equal(roof_engine_find(&vllm, engines, "vllm", NULL), ROOF_OK);
    assert_int_equal(roof_engine_find(&torchao, engines, "torchao", NULL), ROOF_OK);
    const struct roof_engine *const e = engines->engine;
    assert_int_equal(roof_engines_use(engines, &e[vllm], P(FP8_E4M3), true, hopper),
                     ROOF_ENGINE_USE_COMPUTED);
    assert_int_equal(roof_engines_use(engines, &e[torchao], P(FP8_E4M3), true, hopper),
                     ROOF_ENGINE_USE_NONE);
    const struct roof_formats cache = {.kv = P(FP8_E4M3)};
    assert_string_equal(roof_engine_stores(&e[vllm], &cache, true, hopper)->id, "bf16-kv8");
    assert_null(roof_engine_stores(&e[torchao], &cache, true, hopper));
    roof_hardware_free(hopper);
}

/* Before Ada nothing multiplies 8-bit floats, and nowhere but on Blackwell nvfp4. */
static void test_generations(void **state)
{
    (void)state;
    struct roof_hardware *const ampere = load_device("a100-sxm-80gb");
    struct roof_hardware *const hopper = load_device("h100-sxm");
    struct roof_hardware *const cdna = load_device("mi300x");
    size_t eight = 0;
    for (size_t i = 0; i < engines->servings; i++) {
        const struct roof_serving *const s = &engines->serving[i];
        if (s->activations == P(FP8_E4M3) || s->kv == P(FP8_E4M3)) {
            assert_int_equal(roof_engines_run(engines, i, ampere), 0);
            eight++;
        }
        if (s->weights == P(NVFP4)) {
            assert_int_equal(roof_engines_run(engines, i, hopper), 0);
            assert_int_equal(roof_engines_run(engines, i, cdna), 0);
        }
        assert_int_equal(roof_engines_run(engines, i, cdna) & bit_of("trtllm"), 0);
    }
    assert_true(eight > 3);
    roof_hardware_free(ampere);
    roof_hardware_free(hopper);
    roof_hardware_free(cdna);
}

/* Only the beginning of the architecture counts; without one nothing runs. */
static void test_prefix(void **state)
{
    (void)state;
    static const struct {
        const char *architecture;
        bool runs;
    } cases[] = {{"Hopper", true},
                 {"Hopper (SM90)", true},
                 {"Hoppe", false},
                 {"a Hopper", false},
                 {"hopper", false}};
    const size_t bf16 = serving_of(P(BF16), P(BF16), P(BF16));
    for (size_t c = 0; c < COUNT(cases); c++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"id\": \"x\", \"architecture\": \"%s\", \"bandwidth_gb_s\": 1, "
                 "\"peak_tflops\": {\"fp16\": 1}}",
                 cases[c].architecture);
        struct roof_hardware *const hardware = parse_device(text);
        assert_int_equal(roof_engines_run(engines, bf16, hardware) != 0, cases[c].runs);
        roof_hardware_free(hardware);
    }
    struct roof_hardware *const bare = parse_device(SYNTHETIC);
    assert_int_equal(roof_engines_run(engines, bf16, bare), 0);
    assert_int_equal(roof_engines_run(engines, engines->servings, bare), 0);
    roof_hardware_free(bare);
}

/* A config as NVIDIA ModelOpt publishes it in FP8. */
static const char *const modelopt_fp8 =
    "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
    "\"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, "
    "\"vocab_size\": 128256, \"quantization_config\": {\"quant_method\": \"modelopt\", "
    "\"quant_algo\": \"FP8\"}}";

/* Every list of words that a row may name is there, ids are unique but for rows of one format that
 * follow each other, checkpoints are made by something, and layouts and their nominal formats are
 * those of data/layouts. */
static void test_words(void **state)
{
    (void)state;
    const char *const published[] = {"gpt-oss-20b", "deepseek-v3", "deepseek-r1-0528-nvfp4-v2",
                                     "kimi-k2-thinking", modelopt_fp8};
    struct roof_model *const dense = model("llama-3.1-8b");
    for (size_t i = 0; i < engines->count; i++) {
        const struct roof_engine *const e = &engines->engine[i];
        assert_true(e->sources[0] != NULL && e->splits > 0 && e->steps > 0);
        for (size_t f = 0; f < e->formats; f++) {
            const struct roof_engine_format *const format = &e->format[f];
            for (size_t other = 0; other < f; other++) {
                const struct roof_engine_format *const before = &e->format[other];
                if (strcmp(format->id, before->id) == 0) { /* in other words */
                    assert_true(other + 1 == f && format->weights == before->weights &&
                                format->activations == before->activations);
                }
            }
            assert_true(format->kvs > 0 && format->on[0] != NULL);
            for (size_t k = 0; k < format->kvs; k++) {
                assert_non_null(roof_engine_kv(e, dense, format->kv[k]));
            }
            assert_true(format->checkpoint != NULL || format->make[0] == NULL);
            /* A published checkpoint is read as it is, or one step converts it. */
            assert_true(format->checkpoint == NULL || format->layout == NULL ||
                        format->quantization == NULL ||
                        (format->make[0] != NULL && format->make[1] == NULL));
            const bool file = same(format->quantization, "gguf"); /* in any formats */
            size_t met = format->layout == NULL || file;
            for (size_t m = 0; format->layout != NULL && m <= COUNT(published); m++) {
                struct roof_model *const of =
                    m < COUNT(published) ? model(published[m]) : roof_model_copy(dense);
                if (roof_serving_suits(&(struct roof_serving){.quantization = format->quantization},
                                       of)) {
                    const enum roof_weight weight =
                        of->experts > 0 ? ROOF_WEIGHT_EXPERT_UP : ROOF_WEIGHT_UP;
                    assert_int_equal(roof_layout_apply(of, format->layout, NULL, NULL), ROOF_OK);
                    assert_int_equal(of->layer[of->layer_class[of->layers - 1]].format[weight],
                                     format->weights);
                    const double bits = roof_precision_bits(format->activations);
                    const bool kept = of->activations == P(AUTO) && bits == 16;
                    const bool narrowed = of->activations != P(AUTO) &&
                                          bits < roof_precision_bits(of->activations) &&
                                          bits > roof_precision_bits(format->weights);
                    assert_true(of->activations == format->activations || narrowed || kept);
                    met++;
                }
                roof_model_free(of);
            }
            assert_true(met > 0);
        }
        const struct roof_split one = {.tp = 1, .pp = 1, .attention_dp = 1};
        assert_non_null(roof_engine_split(e, &one, 1));
    }
    roof_model_free(dense);
}

/* The splits that the sources give; a node of the first device has eight devices. */
static void test_splits(void **state)
{
    (void)state;
    static const struct {
        struct roof_split split;
        int64_t batch;
        const char *engine[6];
    } cases[] = {
        /* Dense models: tp, pp, attention dp. */
        {{1, 1, 1, 0, 0}, 1, {"llama.cpp", "sglang", "torchao", "trtllm", "vllm"}},
        {{1, 1, 1, 0, 0}, 256, {"llama.cpp", "sglang", "torchao", "trtllm", "vllm"}},
        {{1, 1, 1, 0, 0}, 257, {"sglang", "torchao", "trtllm", "vllm"}},
        {{2, 1, 1, 0, 0}, 1, {"sglang", "trtllm", "vllm"}},
        {{1, 2, 1, 0, 0}, 1, {"llama.cpp", "sglang", "trtllm", "vllm"}},
        {{1, 2, 1, 0, 0}, 2, {"sglang", "trtllm", "vllm"}},
        {{1, 16, 1, 0, 0}, 1, {"sglang", "trtllm", "vllm"}},
        /* With experts also moe tp and moe ep. */
        {{4, 2, 1, 4, 1}, 9, {"sglang", "trtllm", "vllm"}},
        {{1, 1, 8, 1, 8}, 64, {"sglang", "trtllm", "vllm"}},
        {{1, 1, 8, 8, 1}, 64, {"sglang", "trtllm", "vllm"}},
        {{1, 1, 8, 2, 4}, 64, {"sglang", "trtllm"}},
        {{8, 1, 1, 1, 8}, 64, {"sglang", "trtllm", "vllm"}},
        {{8, 1, 1, 2, 4}, 64, {"sglang", "trtllm"}},
        {{2, 1, 4, 1, 8}, 64, {"sglang", "vllm"}},
        {{2, 1, 4, 8, 1}, 64, {"sglang", "vllm"}},
        {{2, 1, 4, 2, 4}, 64, {"sglang"}},
        {{1, 2, 4, 1, 4}, 64, {NULL}},
        {{4, 2, 1, 1, 4}, 64, {NULL}},
    };
    struct roof_hardware *const hardware = load_device("h100-sxm");
    for (size_t c = 0; c < COUNT(cases); c++) {
        unsigned expected = 0;
        for (size_t i = 0; cases[c].engine[i] != NULL; i++) {
            expected |= bit_of(cases[c].engine[i]);
        }
        assert_int_equal(roof_engines_split(engines, hardware, &cases[c].split, cases[c].batch),
                         expected);
    }
    assert_false(roof_several_nodes(hardware, 8));
    assert_true(roof_several_nodes(hardware, 9));
    roof_hardware_free(hardware);
    struct roof_hardware *const bare =
        parse_device("{\"id\": \"x\", \"bandwidth_gb_s\": 1, \"peak_tflops\": {\"fp16\": 1}}");
    assert_false(roof_several_nodes(bare, 1000000)); /* unknown: large enough */
    roof_hardware_free(bare);
}

static void test_find(void **state)
{
    (void)state;
    struct roof_error error = {0};
    size_t number = 0;
    for (size_t i = 0; i < engines->count; i++) {
        assert_int_equal(roof_engine_find(&number, engines, engines->engine[i].id, &error),
                         ROOF_OK);
        assert_int_equal(number, i);
    }
    assert_int_equal(roof_engine_find(&number, engines, "vLLM", &error), ROOF_OK);
    assert_string_equal(engines->engine[number].id, "vllm");
    assert_int_equal(roof_engine_find(&number, engines, "TensorRT-LLM", &error), ROOF_OK);
    assert_string_equal(engines->engine[number].id, "trtllm");
    assert_int_equal(roof_engine_find(&number, engines, "llamacpp", &error), ROOF_OK);
    assert_string_equal(engines->engine[number].id, "llama.cpp");
    assert_int_equal(roof_engine_find(&number, engines, "vllm2", &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "known: llama.cpp, sglang, torchao, trtllm, vllm"));
}

static unsigned runs(const char *architecture)
{
    struct roof_model *const m = model("llama-3-8b");
    m->architecture = architecture;
    const unsigned set = roof_engines_model(engines, m);
    roof_model_free(m);
    return set;
}

/* Each engine's list in order and without repetition. An engine without a list, torchao, may run
 * all models; so may all engines if no list has the class, or none is named. */
static void test_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < engines->count; i++) {
        const char *const *m = engines->engine[i].models;
        assert_true((*m == NULL) == (strcmp(engines->engine[i].id, "torchao") == 0));
        for (; *m != NULL && m[1] != NULL; m++) {
            assert_true(strcasecmp(m[0], m[1]) < 0);
        }
    }
    const unsigned torchao = bit_of("torchao");
    assert_int_equal(runs("JambaForCausalLM"), bit_of("vllm") | bit_of("llama.cpp") | torchao);
    assert_int_equal(runs("MllamaForConditionalGeneration"),
                     bit_of("sglang") | bit_of("trtllm") | torchao);
    assert_int_equal(runs("MiniMaxM1ForCausalLM"), bit_of("llama.cpp") | torchao);
    assert_int_equal(runs("LlamaForCausalLM"), (1U << engines->count) - 1);
    assert_int_equal(runs("OwnForCausalLM"), ~0U);
    assert_int_equal(runs(NULL), ~0U);
}

/* An error names the engines asked for, and those whose lists have the class. */
static void test_check_model(void **state)
{
    (void)state;
    struct roof_error error = {0};
    struct roof_model *const m = model("jamba-1.5-mini");
    const unsigned both = bit_of("trtllm") | bit_of("sglang");
    assert_string_equal(m->architecture, "JambaForCausalLM");
    assert_int_equal(roof_engines_check_model(engines, both, m, "emit", &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "sglang, trtllm cannot run JambaForCausalLM; engines "
                                          "that list it: llama.cpp, vllm"));
    assert_int_equal(roof_engines_check_model(engines, both, m, "emit", NULL), ROOF_USAGE);
    assert_int_equal(roof_engines_check_model(engines, both | bit_of("vllm"), m, "engine", &error),
                     ROOF_OK);
    assert_int_equal(roof_engines_check_model(engines, bit_of("torchao"), m, "engine", &error),
                     ROOF_OK);
    roof_model_free(m);
}

/* Some engine runs each built-in model. */
static void test_built_in_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < roof_data_file_count; i++) {
        const char *const path = roof_data_files[i].path;
        if (!begins(path, "models/")) {
            continue;
        }
        char id[64];
        snprintf(id, sizeof id, "%.*s", (int)(strlen(path) - strlen("models/.json")),
                 path + strlen("models/"));
        struct roof_model *const m = model(id);
        if (roof_engines_model(engines, m) == ~0U) {
            fail_msg("no engine has %s of %s", m->architecture, id);
        }
        roof_model_free(m);
    }
}

/* vLLM and SGLang keep the cache of DeepSeek-V4 in FP8 alone, and TensorRT-LLM runs it on Blackwell
 * only, whatever holds for other models. */
static void test_classes(void **state)
{
    (void)state;
    struct roof_model *const v4 = model("deepseek-v4-flash");
    struct roof_model *const v3 = model("deepseek-v3");
    struct roof_hardware hardware = {.architecture = "Hopper (SM90)"};
    const struct roof_serving block = {.layout = "checkpoint",
                                       .quantization = "fp8",
                                       .weights = P(FP8_BLOCK128),
                                       .activations = P(FP8_E4M3),
                                       .kv = P(BF16)};
    struct roof_serving narrow = block;
    narrow.kv = P(FP8_E4M3);
    const size_t wide_number = find_serving(&block);
    const size_t narrow_number = find_serving(&narrow);
    const unsigned only_fp8 = bit_of("vllm") | bit_of("sglang");
    assert_int_equal(roof_engines_serve(engines, wide_number, v4, &hardware), 0);
    assert_int_equal(roof_engines_serve(engines, narrow_number, v4, &hardware), only_fp8);
    assert_int_equal(roof_engines_serve(engines, wide_number, v3, &hardware) & only_fp8, only_fp8);
    hardware.architecture = "Blackwell (SM100)";
    assert_int_equal(roof_engines_serve(engines, wide_number, v4, &hardware), bit_of("trtllm"));
    for (size_t i = 0; i < engines->count; i++) {
        const struct roof_engine *const e = &engines->engine[i];
        for (size_t c = 0; c < e->classes; c++) {
            const char *const *listed = e->models;
            while (*listed != NULL && strcmp(*listed, e->class[c].id) != 0) {
                listed++;
            }
            assert_non_null(*listed);
            for (size_t k = 0; k < e->class[c].kvs; k++) { /* the engine keeps this cache at all */
                assert_non_null(roof_engine_kv(e, v3, e->class[c].kv[k].format));
            }
        }
    }
    roof_model_free(v3);
    roof_model_free(v4);
}

/* vLLM has larger defaults from 70 GiB on, but not on A100; SGLang has more with more memory. Only
 * vLLM computes the first token of a prefill copy again. */
static void test_schedulers(void **state)
{
    (void)state;
    static const struct {
        const char *engine;
        const char *device;
        int64_t chunk;
        int64_t max_num_seqs;
    } rows[] = {{"vllm", "h100-sxm", 8192, 1024},   {"vllm", "a100-sxm-80gb", 2048, 256},
                {"vllm", "l40s", 2048, 256},        {"sglang", "l40s", 4096, 2048},
                {"sglang", "h100-sxm", 8192, 2048}, {"trtllm", "h100-sxm", 8192, 2048}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t number = 0;
        struct roof_hardware *const hardware = load_device(rows[i].device);
        assert_int_equal(roof_engine_find(&number, engines, rows[i].engine, NULL), ROOF_OK);
        const struct roof_engine_defaults *const d =
            roof_engine_defaults(&engines->engine[number], hardware);
        assert_int_equal(d->chunk, rows[i].chunk);
        assert_int_equal(d->max_num_seqs, rows[i].max_num_seqs);
        assert_true(engines->engine[number].scheduler.passes_first_token ==
                    (strcmp(rows[i].engine, "vllm") != 0));
        roof_hardware_free(hardware);
    }
    assert_int_equal(engines->passing, 1U << ROOF_STACK_TRTLLM | 1U << ROOF_STACK_SGLANG);
}

/* A version that an engine has is taken, and the newest one otherwise; llama.cpp has none. */
static void test_hosts(void **state)
{
    (void)state;
    static const struct {
        const char *engine;
        const char *version;
        double step_s;
        double sequence_s;
        double request_s;
        double front_s;
        double latent_s;
        double overlap_s;
    } rows[] = {{"vllm", NULL, 0, 0, 0.025, 0, 0, 0},
                {"vllm", "2024", 772e-6, 53e-6, 0, 0, 0, 0},
                {"vllm", "0.9", 0, 0, 0.025, 0, 0, 0},
                {"trtllm", NULL, 0, 0, 0.027, 0, 90e-6, 1e-6},
                {"trtllm", "1.0", 0, 0, 0.027, 0.027, 90e-6, 0},
                {"trtllm", "2024", 0, 0, 0.027, 0, 90e-6, 1e-6}};
    size_t number = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(roof_engine_find(&number, engines, rows[i].engine, NULL), ROOF_OK);
        const struct roof_engine_host *const host =
            roof_engine_host(&engines->engine[number], rows[i].version);
        assert_non_null(host->source);
        assert_true(fabs(host->time.step_s - rows[i].step_s) < 1e-12);
        assert_true(fabs(host->time.sequence_s - rows[i].sequence_s) < 1e-12);
        assert_true(fabs(host->time.request_s - rows[i].request_s) < 1e-12);
        assert_true(fabs(host->time.front_s - rows[i].front_s) < 1e-12);
        assert_true(fabs(host->time.latent_s - rows[i].latent_s) < 1e-12);
        assert_true(fabs(host->time.overlap_s - rows[i].overlap_s) < 1e-12);
    }
    assert_int_equal(roof_engine_find(&number, engines, "llama.cpp", NULL), ROOF_OK);
    assert_null(roof_engine_host(&engines->engine[number], NULL));
}

/* The engine of the question has its own speed of copies; without one that offloads, any that was
 * measured has it. */
static void test_upload(void **state)
{
    (void)state;
    const struct roof_engine engine[] = {{.upload = {.share = 0}},
                                         {.upload = {.share = 0.25}},
                                         {.upload = {.share = 0}},
                                         {.upload = {.share = 0.5}}};
    const struct roof_engines table = {.count = COUNT(engine), .engine = engine, .offload = 14};
    assert_true(roof_engines_upload(&table, ~0U).share == 0.25);
    assert_true(roof_engines_upload(&table, 1U).share == 0.25);
    assert_true(roof_engines_upload(&table, 4U).share == 0);
    assert_true(roof_engines_upload(&table, 8U).share == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upload),        cmocka_unit_test(test_unique),
        cmocka_unit_test(test_files),         cmocka_unit_test(test_devices),
        cmocka_unit_test(test_architectures), cmocka_unit_test(test_known),
        cmocka_unit_test(test_generations),   cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_use),           cmocka_unit_test(test_stored),
        cmocka_unit_test(test_words),         cmocka_unit_test(test_splits),
        cmocka_unit_test(test_find),          cmocka_unit_test(test_models),
        cmocka_unit_test(test_check_model),   cmocka_unit_test(test_built_in_models),
        cmocka_unit_test(test_classes),       cmocka_unit_test(test_schedulers),
        cmocka_unit_test(test_hosts),
    };
    return cmocka_run_group_tests(tests, load_engines, free_engines);
}
