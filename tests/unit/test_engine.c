// SPDX-License-Identifier: MIT
/* The embedded table of serving engines: what it says, and that nothing in it goes unused. */
#include "support.h"

#include <stdio.h>

#include "data.h"

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

static unsigned bit_of(const char *engine)
{
    for (size_t i = 0; i < engines->count; i++) {
        if (strcmp(engines->id[i], engine) == 0) {
            return 1U << i;
        }
    }
    fail_msg("no engine %s", engine);
    return 0;
}

/* The number of a combination; the count of all when there is none. */
static size_t serving_of(enum roof_precision weights, enum roof_precision activations,
                         enum roof_precision kv)
{
    size_t i = 0;
    while (i < engines->servings &&
           !(engines->serving[i].weights == weights &&
             engines->serving[i].activations == activations && engines->serving[i].kv == kv)) {
        i++;
    }
    return i;
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

static void test_unique(void **state)
{
    (void)state;
    assert_true(engines->count >= 3 && engines->servings > 5);
    for (size_t i = 0; i < engines->servings; i++) {
        const struct roof_serving *const s = &engines->serving[i];
        assert_int_equal(serving_of(s->weights, s->activations, s->kv), i);
        assert_true(s->id[0] != '\0');
    }
    for (size_t i = 0; i < engines->count; i++) {
        assert_true(engines->name[i][0] != '\0');
        assert_int_equal(bit_of(engines->id[i]), 1U << i);
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
            const enum roof_precision weights = precision(roof_json_get(row, "weights"));
            const enum roof_precision activations = precision(roof_json_get(row, "activations"));
            for (const roof_json_value *kv = roof_json_first(roof_json_get(row, "kv")); kv != NULL;
                 kv = roof_json_next(kv)) {
                const size_t number = serving_of(weights, activations, precision(kv));
                assert_true(number < engines->servings);
                servings = number + 1 > servings ? number + 1 : servings;
                assert_string_equal(engines->serving[number].id,
                                    roof_json_string(roof_json_get(row, "id")));
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
        snprintf(path, sizeof path, "engines/%s.json", engines->id[e]);
        assert_int_equal(roof_data_json(&json, path, NULL), ROOF_OK);
        const roof_json_value *const formats = roof_json_get(roof_json_root(json), "formats");
        for (const roof_json_value *row = roof_json_first(formats); row != NULL;
             row = roof_json_next(row)) {
            const struct roof_serving *const s = &engines->serving[serving];
            bool same = precision(roof_json_get(row, "weights")) == s->weights &&
                        precision(roof_json_get(row, "activations")) == s->activations;
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
            set |= same && kv && on ? 1U << e : 0;
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

/* What the sources say of well-known devices. */
static void test_known(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        enum roof_precision weights;
        enum roof_precision activations;
        enum roof_precision kv;
        const char *engine[4];
    } cases[] = {
        {"h100-sxm", P(BF16), P(BF16), P(BF16), {"sglang", "trtllm", "vllm"}},
        {"h100-sxm", P(FP8_E4M3), P(FP8_E4M3), P(FP8_E4M3), {"sglang", "trtllm", "vllm"}},
        {"h100-sxm", P(FP8_E4M3), P(FP8_E4M3), P(BF16), {"sglang", "trtllm", "vllm"}},
        {"h100-sxm", P(NVFP4), P(NVFP4), P(BF16), {NULL}},
        {"h100-sxm", P(NVFP4), P(NVFP4), P(FP8_E4M3), {NULL}},
        {"h100-sxm", P(INT4_G128), P(FP8_E4M3), P(BF16), {"trtllm"}},
        {"hgx-b200", P(NVFP4), P(NVFP4), P(FP8_E4M3), {"sglang", "trtllm", "vllm"}},
        {"hgx-b200", P(FP8_E4M3), P(FP8_E4M3), P(BF16), {"sglang", "trtllm", "vllm"}},
        {"hgx-b200", P(INT8_CHANNEL), P(INT8), P(BF16), {NULL}},
        {"a100-sxm-80gb", P(INT4_G128), P(BF16), P(BF16), {"sglang", "trtllm", "vllm"}},
        {"a100-sxm-80gb", P(INT8_CHANNEL), P(INT8), P(BF16), {"sglang", "trtllm", "vllm"}},
        {"a100-sxm-80gb", P(FP8_E4M3), P(BF16), P(BF16), {"vllm"}},
        {"a100-sxm-80gb", P(NVFP4), P(NVFP4), P(BF16), {NULL}},
        {"mi300x", P(FP8_E4M3), P(FP8_E4M3), P(BF16), {"sglang", "vllm"}},
        {"mi300x", P(BF16), P(BF16), P(BF16), {"sglang", "vllm"}},
        {"mi210", P(FP8_E4M3), P(FP8_E4M3), P(BF16), {NULL}},
        {"v100", P(FP16), P(FP16), P(FP16), {"vllm"}},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unique),  cmocka_unit_test(test_files),
        cmocka_unit_test(test_devices), cmocka_unit_test(test_architectures),
        cmocka_unit_test(test_known),   cmocka_unit_test(test_generations),
        cmocka_unit_test(test_prefix),
    };
    return cmocka_run_group_tests(tests, load_engines, free_engines);
}
