// SPDX-License-Identifier: MIT
#include "files.h"

#include <math.h>

#include "catalog/data.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define P(id) ROOF_PRECISION_##id

/* As support.h's parse_device, for devices of the registry. */
static struct roof_hardware *load(const char *name, const char *const *directories)
{
    struct roof_hardware *hardware = NULL;
    struct roof_error error = {0};
    if (roof_hardware_load(&hardware, name, directories, &error) != ROOF_OK) {
        fail_msg("%s: %s:%d:%d: %s", name, error.source, error.line, error.column, error.message);
    }
    return hardware;
}

static double in_tflops(const struct roof_hardware *hardware, enum roof_peak_table table,
                        enum roof_precision precision)
{
    return roof_to_unit(hardware->peak[table][precision].value, ROOF_UNIT_TFLOPS);
}

/* --- the registry -------------------------------------------------------------------------- */

static struct roof_text all_ids(size_t *count, const char *const *directories)
{
    struct roof_text ids = ROOF_TEXT_INIT;
    struct roof_error error = {0};
    if (roof_hardware_ids(&ids, count, directories, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return ids;
}

static bool has_id(const struct roof_text *ids, size_t count, const char *id)
{
    const char *known = ids->data;
    for (size_t i = 0; i < count; i++, known += strlen(known) + 1) {
        if (strcmp(known, id) == 0) {
            return true;
        }
    }
    return false;
}

static void test_ids(void **state)
{
    (void)state;
    size_t count = 0;
    struct roof_text ids = all_ids(&count, NULL);
    size_t files = 0;
    for (size_t i = 0; i < roof_data_file_count; i++) {
        files += strncmp(roof_data_files[i].path, "hardware/", 9) == 0;
    }
    assert_int_equal(count, files);
    const char *id = ids.data;
    const char *before = "";
    for (size_t i = 0; i < count; i++) { /* sorted, each once */
        assert_true(strcmp(before, id) < 0);
        before = id;
        id += strlen(id) + 1;
    }
    assert_ptr_equal(id, ids.data + ids.length);
    static const char *const demanded[] = {
        "gb10",           "b200",      "h100",          "a100",          "gb200",
        "h200",           "dgx-spark", "hgx-b200",      "gb200-nvl72",   "b300",
        "gb300",          "h100-sxm",  "h100-pcie",     "h100-nvl",      "h200-sxm",
        "gh200",          "gh200-144", "a100-sxm-40gb", "a100-sxm-80gb", "a100-pcie-40gb",
        "a100-pcie-80gb", "l4",        "l40s",          "a10",           "t4",
        "v100",           "rtx-4090",  "rtx-5090",      "rtx-pro-6000",  "jetson-thor",
        "jetson-orin",    "mi210",     "mi250x",        "mi300x",        "mi325x",
        "mi355x",         "tpu-v5e",   "tpu-v5p",       "tpu-v6e",       "gaudi2",
        "gaudi3",         "m3-ultra",  "m4-max",        "strix-halo"};
    for (size_t i = 0; i < COUNT(demanded); i++) {
        if (!has_id(&ids, count, demanded[i])) {
            fail_msg("there is no %s", demanded[i]);
        }
    }
    roof_text_free(&ids);
}

/* Calls check for each embedded device. */
static void for_each_device(void (*check)(const struct roof_hardware *hardware))
{
    size_t count = 0;
    struct roof_text ids = all_ids(&count, NULL);
    const char *id = ids.data;
    for (size_t i = 0; i < count; i++, id += strlen(id) + 1) {
        struct roof_hardware *const hardware = load(id, NULL);
        assert_string_equal(hardware->id, id); /* the id in the file is the name of the file */
        check(hardware);
        roof_hardware_free(hardware);
    }
    roof_text_free(&ids);
}

static void check_identity(const struct roof_hardware *hardware)
{
    assert_true(strlen(hardware->name) > 0);
    assert_true(strlen(hardware->vendor) > 0);
    assert_int_not_equal(hardware->basis, ROOF_BASIS_USER);
    if ((hardware->basis == ROOF_BASIS_DOCUMENTS) != (hardware->product != NULL)) {
        fail_msg("%s: a device of the documents has a product, and no other has", hardware->id);
    }
    if (hardware->product != NULL) {
        struct roof_hardware *const product = load(hardware->product, NULL);
        assert_int_equal(product->basis, ROOF_BASIS_PUBLISHED);
        assert_string_equal(product->id, hardware->product);
        roof_hardware_free(product);
    }
    for (const char *const *note = hardware->notes; *note != NULL; note++) {
        assert_true(strlen(*note) > 0);
    }
    for (const char *const *alias = hardware->aliases; *alias != NULL; alias++) {
        struct roof_hardware *const same = load(*alias, NULL);
        if (strcmp(same->id, hardware->id) != 0) { /* an id, or the alias of two */
            fail_msg("%s, an alias of %s, loads %s", *alias, hardware->id, same->id);
        }
        assert_false(roof_hardware_differs(same, hardware));
        roof_hardware_free(same);
    }
}

static void test_every_device_loads_by_each_name(void **state)
{
    (void)state;
    for_each_device(check_identity);
    static const struct {
        const char *alias;
        const char *id;
    } cases[] = {{"b10", "gb10"}, {"gh200-96", "gh200"}, {"gx10", "dgx-spark"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const hardware = load(cases[i].alias, NULL);
        assert_string_equal(hardware->id, cases[i].id);
        roof_hardware_free(hardware);
    }
}

static void check_figure(const struct roof_hardware *hardware, const char *key,
                         const struct roof_figure *figure)
{
    if (isnan(figure->value)) {
        assert_null(figure->source);
        assert_null(figure->note);
        return;
    }
    if (figure->source == NULL || *figure->source == '\0' ||
        figure->confidence == ROOF_CONFIDENCE_UNKNOWN) {
        fail_msg("%s: %s has no source or no confidence", hardware->id, key);
    }
    assert_true(isfinite(figure->value) && figure->value > 0);
}

static void check_figures(const struct roof_hardware *hardware)
{
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        check_figure(hardware, roof_figure_key((enum roof_figure_id)i)->key, &hardware->figure[i]);
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            check_figure(hardware, roof_format((enum roof_precision)p)->name,
                         &hardware->peak[t][p]);
        }
    }
}

static void test_every_figure_has_a_source(void **state)
{
    (void)state;
    for_each_device(check_figures);
}

/* Each "source" below value is a key of the file's table of citations. */
static void check_citations(const struct roof_json *json, const roof_json_value *value,
                            struct roof_text *used)
{
    const roof_json_value *const known = roof_json_get(roof_json_root(json), "sources");
    for (const roof_json_value *item = roof_json_first(value); item != NULL;
         item = roof_json_next(item)) {
        if (item == known) {
            continue;
        }
        const char *const key = roof_json_key(item);
        const bool source = key != NULL && strcmp(key, "source") == 0;
        for (const roof_json_value *one = roof_json_is_array(item) ? roof_json_first(item) : item;
             source && one != NULL; one = roof_json_is_array(item) ? roof_json_next(one) : NULL) {
            const char *const name = roof_json_string(one);
            if (name == NULL || roof_json_string(roof_json_get(known, name)) == NULL) {
                fail_msg("%s: '%s' is not in sources", roof_json_source(json), name);
            }
            roof_text_printf(used, "<%s>", name);
        }
        check_citations(json, item, used);
    }
}

static void test_citations_are_known_and_used(void **state)
{
    (void)state;
    for (size_t i = 0; i < roof_data_file_count; i++) {
        if (strncmp(roof_data_files[i].path, "hardware/", 9) != 0) {
            continue;
        }
        struct roof_json *json = NULL;
        assert_int_equal(roof_data_json(&json, roof_data_files[i].path, NULL), ROOF_OK);
        struct roof_text used = ROOF_TEXT_INIT;
        check_citations(json, roof_json_root(json), &used);
        for (const roof_json_value *item =
                 roof_json_first(roof_json_get(roof_json_root(json), "sources"));
             item != NULL; item = roof_json_next(item)) {
            char name[128];
            snprintf(name, sizeof name, "<%s>", roof_json_key(item));
            if (used.data == NULL || strstr(used.data, name) == NULL) {
                fail_msg("%s: nothing cites %s", roof_data_files[i].path, name);
            }
        }
        roof_text_free(&used);
        roof_json_free(json);
    }
}

static void test_unknown_devices(void **state)
{
    (void)state;
    static const char *const cases[] = {"gb11", "",          "nothing", "\"",       "gb10 ",
                                        "json", "../gb10\\", "NVIDIA",  "documents"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *hardware = (struct roof_hardware *)(void *)&hardware;
        struct roof_error error = {0};
        if (strchr(cases[i], '/') != NULL) {
            assert_int_equal(roof_hardware_load(&hardware, cases[i], NULL, &error), ROOF_IO);
        } else {
            assert_int_equal(roof_hardware_load(&hardware, cases[i], NULL, &error), ROOF_USAGE);
            assert_non_null(strstr(error.message, " (all: roofline list hardware"));
        }
        assert_null(hardware);
    }
    struct roof_hardware *hardware = NULL;
    struct roof_error error = {0};
    roof_hardware_load(&hardware, "dgx-sparc", NULL, &error);
    assert_non_null(strstr(error.message, "did you mean dgx-spark"));
    assert_int_equal(roof_hardware_load(&hardware, "gb11", NULL, NULL), ROOF_USAGE);
}

/* --- figures of the devices ---------------------------------------------------------------- */

static void test_figures_as_specified(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        enum roof_figure_id figure;
        double value; /* in the key's unit */
    } cases[] = {
        {"gb10", ROOF_FIGURE_BANDWIDTH, 287},
        {"gb10", ROOF_FIGURE_TDP, 140},
        {"gb10", ROOF_FIGURE_MEMORY_NOMINAL, 128},
        {"gb10", ROOF_FIGURE_MEMORY_CAPACITY, 130567005798.0}, /* 121.6 * 2^30, cut */
        {"dgx-spark", ROOF_FIGURE_BANDWIDTH, 273},
        {"dgx-spark", ROOF_FIGURE_MEMORY_CAPACITY, 130567005798.0},
        {"b200", ROOF_FIGURE_BANDWIDTH, 8000},
        {"gb200", ROOF_FIGURE_BANDWIDTH, 8000},
        {"h100", ROOF_FIGURE_BANDWIDTH, 3350},
        {"h200", ROOF_FIGURE_BANDWIDTH, 4800},
        {"a100", ROOF_FIGURE_BANDWIDTH, 2039},
        /* the whole chip, not one die of it (mi250x: two, half of this each) */
        {"mi250x", ROOF_FIGURE_BANDWIDTH, 3276.8},
        {"mi300x", ROOF_FIGURE_BANDWIDTH, 5300},
        /* per direction and in bytes: 400 Gb/s are 50 GB/s, NVLink 4 is 900 for both directions */
        {"h100", ROOF_FIGURE_NETWORK, 50},
        {"h100", ROOF_FIGURE_LINK, 450},
        {"h100-sxm", ROOF_FIGURE_NETWORK, 50},
        {"h100-sxm", ROOF_FIGURE_LINK, 450},
        {"a100-sxm-80gb", ROOF_FIGURE_NETWORK, 25},
        {"a100-sxm-80gb", ROOF_FIGURE_LINK, 300},
        {"b300", ROOF_FIGURE_NETWORK, 100},
        {"b200", ROOF_FIGURE_LINK, 900},
        {"a100", ROOF_FIGURE_LINK, 300},
        {"h100", ROOF_FIGURE_DEVICES_PER_NODE, 8},
        {"gb200", ROOF_FIGURE_DEVICES_PER_NODE, 72},
        /* cut for export: NVLink of 400 instead of 900 for both directions */
        {"h800", ROOF_FIGURE_BANDWIDTH, 3350},
        {"h800", ROOF_FIGURE_LINK, 200},
        {"h800", ROOF_FIGURE_SM_COUNT, 132},
        {"h20", ROOF_FIGURE_BANDWIDTH, 4000},
        {"h20", ROOF_FIGURE_LINK, 450},
        {"h20", ROOF_FIGURE_SM_COUNT, 78},
        {"h20-141gb", ROOF_FIGURE_MEMORY_NOMINAL, 141},
        /* GA100 with 56 of its SMs; GA102 with 84 or 82 and an L2 of 6 MiB */
        {"a30", ROOF_FIGURE_BANDWIDTH, 933},
        {"a30", ROOF_FIGURE_SM_COUNT, 56},
        {"a30", ROOF_FIGURE_L2, 24 * 1048576.0},
        {"a40", ROOF_FIGURE_BANDWIDTH, 696},
        {"a40", ROOF_FIGURE_L2, 6 * 1048576.0},
        {"rtx-a6000", ROOF_FIGURE_BANDWIDTH, 768},
        {"rtx-a6000", ROOF_FIGURE_SM_COUNT, 84},
        {"rtx-3090", ROOF_FIGURE_BANDWIDTH, 936},
        {"rtx-3090", ROOF_FIGURE_SM_COUNT, 82},
        {"rtx-3090", ROOF_FIGURE_BOOST_CLOCK, 1695},
        {"rtx-6000-ada", ROOF_FIGURE_BANDWIDTH, 960},
        {"rtx-6000-ada", ROOF_FIGURE_MEMORY_NOMINAL, 48},
        {"rtx-5080", ROOF_FIGURE_BANDWIDTH, 960},
        {"rtx-5080", ROOF_FIGURE_L2, 64 * 1048576.0},
        {"orin-agx-32", ROOF_FIGURE_BANDWIDTH, 204.8},
        {"orin-agx-32", ROOF_FIGURE_SM_COUNT, 14},
        {"orin-nx-16", ROOF_FIGURE_BANDWIDTH, 102.4},
        {"orin-nano-8", ROOF_FIGURE_BANDWIDTH, 102.4},
        /* 6 dies of 38 CUs; 8 dies of 32 */
        {"mi300a", ROOF_FIGURE_SM_COUNT, 228},
        {"mi300a", ROOF_FIGURE_MEMORY_NOMINAL, 128},
        {"mi300a", ROOF_FIGURE_L2, 24 * 1048576.0},
        {"mi350x", ROOF_FIGURE_BANDWIDTH, 8000},
        {"mi350x", ROOF_FIGURE_BOOST_CLOCK, 2200},
        {"mi350x", ROOF_FIGURE_TDP, 1000},
        {"r9700", ROOF_FIGURE_BANDWIDTH, 640},
        {"r9700", ROOF_FIGURE_LLC, 64 * 1048576.0},
        {"rx-7900-xtx", ROOF_FIGURE_BANDWIDTH, 960},
        {"rx-7900-xtx", ROOF_FIGURE_LLC, 96 * 1048576.0},
        {"arc-b580", ROOF_FIGURE_BANDWIDTH, 456},
        {"arc-b580", ROOF_FIGURE_LINK, 15.75}, /* 8 lanes of PCIe 4 */
        {"arc-pro-b60", ROOF_FIGURE_MEMORY_NOMINAL, 24},
        {"arc-pro-b60", ROOF_FIGURE_LINK, 31.5}, /* 8 lanes of PCIe 5 */
        {"arc-pro-b70", ROOF_FIGURE_BANDWIDTH, 608},
        {"m1", ROOF_FIGURE_BANDWIDTH, 68.3},
        {"m1-pro", ROOF_FIGURE_BANDWIDTH, 200},
        {"m1-max", ROOF_FIGURE_BANDWIDTH, 400},
        {"m1-ultra", ROOF_FIGURE_BANDWIDTH, 800},
        {"m2", ROOF_FIGURE_BANDWIDTH, 100},
        {"m2-pro", ROOF_FIGURE_SM_COUNT, 19},
        {"m2-max", ROOF_FIGURE_BANDWIDTH, 400},
        {"m2-ultra", ROOF_FIGURE_MEMORY_NOMINAL, 192},
        {"m3", ROOF_FIGURE_BANDWIDTH, 100},
        {"m3-pro", ROOF_FIGURE_BANDWIDTH, 150}, /* less than M2 Pro */
        {"m3-max", ROOF_FIGURE_BANDWIDTH, 400},
        {"m4", ROOF_FIGURE_BANDWIDTH, 120},
        {"m4-pro", ROOF_FIGURE_BANDWIDTH, 273},
        {"m5", ROOF_FIGURE_BANDWIDTH, 153},
        {"m5-pro", ROOF_FIGURE_BANDWIDTH, 307},
        {"m5-max", ROOF_FIGURE_BANDWIDTH, 614},
        {"tpu-v7x", ROOF_FIGURE_BANDWIDTH, 7380},
        {"tpu-v7x", ROOF_FIGURE_MEMORY_CAPACITY, 192 * 1073741824.0},
        {"tpu-v7x", ROOF_FIGURE_LINK, 600}, /* 1200 for both directions */
        {"tpu-v7x", ROOF_FIGURE_NETWORK, 12.5},
        {"trainium2", ROOF_FIGURE_BANDWIDTH, 2900},
        {"trainium2", ROOF_FIGURE_LINK, 640},
        {"trainium3", ROOF_FIGURE_BANDWIDTH, 4900},
        {"trainium3", ROOF_FIGURE_MEMORY_CAPACITY, 144 * 1073741824.0},
        {"inferentia2", ROOF_FIGURE_BANDWIDTH, 820},
        {"gaudi3-pcie", ROOF_FIGURE_TDP, 600},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const hardware = load(cases[i].id, NULL);
        const struct roof_figure_key *const key = roof_figure_key(cases[i].figure);
        const double value = roof_to_unit(hardware->figure[cases[i].figure].value, key->unit);
        if (value != cases[i].value) {
            fail_msg("%s: %s is %.17g, expected %.17g", cases[i].id, key->key, value,
                     cases[i].value);
        }
        roof_hardware_free(hardware);
    }
    struct roof_hardware *const gb10 = load("gb10", NULL);
    char text[ROOF_QUANTITY_SIZE];
    assert_string_equal(roof_format_quantity(text, gb10->figure[ROOF_FIGURE_MEMORY_CAPACITY].value,
                                             ROOF_UNIT_CAPACITY),
                        "121.6 GiB");
    assert_true(gb10->figure[ROOF_FIGURE_BANDWIDTH].value == 287e9); /* bytes per second */
    assert_true(gb10->peak[ROOF_PEAK_MATRIX][P(FP16)].value == 62e12);
    assert_true(gb10->vector_flops_per_s == 31e12);
    roof_hardware_free(gb10);
}

static void test_peaks_as_specified(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        enum roof_peak_table table;
        enum roof_precision precision;
        double tflops;
    } cases[] = {
        {"gb10", ROOF_PEAK_VECTOR, P(FP32), 31},
        {"gb10", ROOF_PEAK_MATRIX, P(FP16), 62},
        {"gb10", ROOF_PEAK_MATRIX, P(BF16), 62},
        {"gb10", ROOF_PEAK_MATRIX, P(FP8_E4M3), 124},
        {"gb10", ROOF_PEAK_MATRIX, P(FP8_E5M2), 124},
        {"gb10", ROOF_PEAK_MATRIX, P(INT8), 124},
        {"gb10", ROOF_PEAK_MATRIX, P(INT4), 248},
        {"gb10", ROOF_PEAK_MATRIX, P(NVFP4), 1000},
        {"gb10", ROOF_PEAK_MATRIX, P(MXFP4), 1000},
        {"gb10", ROOF_PEAK_MATRIX, P(FP32), ROOF_UNKNOWN},
        {"gb200", ROOF_PEAK_MATRIX, P(NVFP4), 9000},
        {"gb200", ROOF_PEAK_MATRIX, P(FP8_E4M3), 4500},
        {"gb200", ROOF_PEAK_MATRIX, P(FP16), 2250},
        {"dgx-spark", ROOF_PEAK_MATRIX, P(FP16), 124},
        {"dgx-spark", ROOF_PEAK_MATRIX, P(BF16), 124},
        /* units that do not exist */
        {"dgx-spark", ROOF_PEAK_MATRIX, P(INT4), ROOF_UNKNOWN},
        {"a100", ROOF_PEAK_MATRIX, P(FP8_E4M3), ROOF_UNKNOWN},
        {"a100", ROOF_PEAK_MATRIX, P(FP8_E5M2), ROOF_UNKNOWN},
        {"a100", ROOF_PEAK_MATRIX, P(NVFP4), ROOF_UNKNOWN},
        {"a100-sxm-80gb", ROOF_PEAK_MATRIX, P(FP8_E4M3), ROOF_UNKNOWN},
        {"h100", ROOF_PEAK_MATRIX, P(INT4), ROOF_UNKNOWN},
        {"h100-sxm", ROOF_PEAK_MATRIX, P(INT4), ROOF_UNKNOWN},
        {"h100", ROOF_PEAK_MATRIX, P(NVFP4), ROOF_UNKNOWN},
        {"h200", ROOF_PEAK_MATRIX, P(INT4), ROOF_UNKNOWN},
        {"b200", ROOF_PEAK_MATRIX, P(INT4), ROOF_UNKNOWN},
        {"v100", ROOF_PEAK_MATRIX, P(BF16), ROOF_UNKNOWN},
        {"t4", ROOF_PEAK_MATRIX, P(BF16), ROOF_UNKNOWN},
        {"a100", ROOF_PEAK_MATRIX, P(INT4), 1248},
        {"a100", ROOF_PEAK_MATRIX, P(FP16), 312},
        /* dense, where the sheets print the figure with sparsity: twice as much */
        {"l40s", ROOF_PEAK_MATRIX, P(FP8_E4M3), 733},
        {"l40s", ROOF_PEAK_SPARSE, P(FP8_E4M3), 1466},
        {"h100", ROOF_PEAK_MATRIX, P(BF16), 989},
        {"h100", ROOF_PEAK_MATRIX, P(FP16), 989},
        {"h100", ROOF_PEAK_SPARSE, P(BF16), 1979},
        {"h100-sxm", ROOF_PEAK_MATRIX, P(BF16), 989.4},
        {"h200-sxm", ROOF_PEAK_MATRIX, P(BF16), 989.4},
        {"gh200", ROOF_PEAK_MATRIX, P(BF16), 989.4},
        {"gh200", ROOF_PEAK_MATRIX, P(FP16), 989.4},
        {"gb200", ROOF_PEAK_MATRIX, P(BF16), 2250},
        {"h100-sxm", ROOF_PEAK_MATRIX, P(FP8_E4M3), 1978.9},
        {"b200", ROOF_PEAK_MATRIX, P(BF16), 2250},
        {"b200", ROOF_PEAK_SPARSE, P(BF16), 4500},
        {"hgx-b200", ROOF_PEAK_MATRIX, P(BF16), 2250},
        {"gb200-nvl72", ROOF_PEAK_MATRIX, P(BF16), 2500},
        {"dgx-spark", ROOF_PEAK_SPARSE, P(NVFP4), 1000},
        {"h800", ROOF_PEAK_MATRIX, P(BF16), 989.4},
        {"h800", ROOF_PEAK_VECTOR, P(FP64), 1},
        {"h20", ROOF_PEAK_MATRIX, P(BF16), 148},
        {"h20", ROOF_PEAK_MATRIX, P(FP8_E4M3), 296},
        {"h20-141gb", ROOF_PEAK_MATRIX, P(FP8_E4M3), 296},
        {"a30", ROOF_PEAK_MATRIX, P(FP16), 165},
        {"a30", ROOF_PEAK_MATRIX, P(FP8_E4M3), ROOF_UNKNOWN},
        {"a40", ROOF_PEAK_MATRIX, P(FP16), 149.7},
        {"a40", ROOF_PEAK_MATRIX, P(INT8), 299.3},
        /* GeForce: half rate with FP32 accumulate, so that INT8 is four times FP16; the
         * professional cards of the same GPUs run at full rate */
        {"rtx-3090", ROOF_PEAK_MATRIX, P(FP16), 71.2},
        {"rtx-3090", ROOF_PEAK_MATRIX, P(INT8), 284.7},
        {"rtx-a6000", ROOF_PEAK_MATRIX, P(FP16), 154.8},
        {"rtx-a6000", ROOF_PEAK_SPARSE, P(INT8), 619.3},
        {"rtx-6000-ada", ROOF_PEAK_MATRIX, P(FP8_E4M3), 728.5}, /* 1457 with sparsity */
        {"rtx-6000-ada", ROOF_PEAK_SPARSE, P(FP8_E4M3), 1457},
        {"rtx-5080", ROOF_PEAK_MATRIX, P(FP16), 112.6},
        {"rtx-5080", ROOF_PEAK_MATRIX, P(FP8_E4M3), 225.1},
        {"rtx-5080", ROOF_PEAK_MATRIX, P(MXFP8_E4M3), 450.2}, /* full rate */
        {"rtx-5080", ROOF_PEAK_MATRIX, P(NVFP4), 900.4},      /* 1801 with sparsity */
        /* the GPU, without the separate engines that the printed TOPS add */
        {"orin-agx-32", ROOF_PEAK_MATRIX, P(INT8), 53.3},
        {"orin-nx-16", ROOF_PEAK_MATRIX, P(INT8), 30.1},
        {"orin-nano-8", ROOF_PEAK_SPARSE, P(INT8), 66.8}, /* printed as 67 */
        {"mi300a", ROOF_PEAK_MATRIX, P(FP16), 980.6},
        {"mi300a", ROOF_PEAK_MATRIX, P(FP8_E4M3), 1961.2},
        {"mi350x", ROOF_PEAK_MATRIX, P(FP16), 2306.9},
        {"mi350x", ROOF_PEAK_MATRIX, P(MXFP4), 9227.5}, /* 18.45 PFLOPS with sparsity */
        {"r9700", ROOF_PEAK_MATRIX, P(FP16), 191.4},
        {"r9700", ROOF_PEAK_MATRIX, P(FP8_E4M3), 382.7},
        {"rx-7900-xtx", ROOF_PEAK_MATRIX, P(FP16), 122.8},
        {"rx-7900-xtx", ROOF_PEAK_MATRIX, P(INT8), 122.8}, /* no faster than FP16 */
        {"rx-7900-xtx", ROOF_PEAK_MATRIX, P(FP8_E4M3), ROOF_UNKNOWN},
        {"arc-b580", ROOF_PEAK_MATRIX, P(INT8), 233},
        {"arc-pro-b60", ROOF_PEAK_MATRIX, P(BF16), 98.3}, /* 24.6 in print are the vector units */
        {"arc-pro-b70", ROOF_PEAK_MATRIX, P(INT8), 367},
        {"m1", ROOF_PEAK_VECTOR, P(FP32), 2.62},
        {"m1-max", ROOF_PEAK_VECTOR, P(FP16), 10.6}, /* no faster than FP32 before M5 */
        {"m1-pro", ROOF_PEAK_VECTOR, P(FP32), 5.31},
        {"m1-ultra", ROOF_PEAK_VECTOR, P(FP32), 21.2},
        {"m2", ROOF_PEAK_VECTOR, P(FP32), 3.58},
        {"m2-pro", ROOF_PEAK_VECTOR, P(FP32), 6.8},
        {"m2-max", ROOF_PEAK_VECTOR, P(FP32), 13.6},
        {"m2-ultra", ROOF_PEAK_VECTOR, P(FP32), 27.2},
        {"m3", ROOF_PEAK_VECTOR, P(FP32), 3.58},
        {"m3-pro", ROOF_PEAK_VECTOR, P(FP32), 6.44},
        {"m4", ROOF_PEAK_VECTOR, P(FP32), 4.6},
        {"m3-max", ROOF_PEAK_MATRIX, P(FP16), ROOF_UNKNOWN},
        {"m4-pro", ROOF_PEAK_VECTOR, P(FP32), 9.2},
        {"m5", ROOF_PEAK_MATRIX, P(FP16), 16.2},
        {"m5-pro", ROOF_PEAK_MATRIX, P(FP16), 35},
        {"m5-max", ROOF_PEAK_MATRIX, P(FP16), 70},
        {"tpu-v7x", ROOF_PEAK_MATRIX, P(BF16), 2307},
        {"tpu-v7x", ROOF_PEAK_MATRIX, P(FP8_E4M3), 4614},
        {"trainium2", ROOF_PEAK_MATRIX, P(BF16), 667},
        {"trainium2", ROOF_PEAK_SPARSE, P(BF16), ROOF_UNKNOWN}, /* no 2:4 pattern */
        {"trainium3", ROOF_PEAK_MATRIX, P(MXFP4), 2517},
        {"inferentia2", ROOF_PEAK_MATRIX, P(INT8), 380},
        {"gaudi3-pcie", ROOF_PEAK_MATRIX, P(BF16), 1835},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const hardware = load(cases[i].id, NULL);
        const double tflops = in_tflops(hardware, cases[i].table, cases[i].precision);
        if (isnan(cases[i].tflops) ? !isnan(tflops) : tflops != cases[i].tflops) {
            fail_msg("%s: %s of %s is %.17g, expected %.17g", cases[i].id,
                     roof_peak_table_key(cases[i].table), roof_format(cases[i].precision)->name,
                     tflops, cases[i].tflops);
        }
        roof_hardware_free(hardware);
    }
}

static void test_missing_units_fall_back(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        enum roof_precision asked;
        enum roof_precision computed;
        double tflops;
    } cases[] = {
        {"dgx-spark", P(INT4), P(INT8), 248}, {"h100", P(INT4), P(INT8), 1978.9},
        {"a100", P(FP8_E4M3), P(BF16), 312},  {"h100", P(NVFP4), P(BF16), 989},
        {"v100", P(BF16), P(FP32), 15.7}, /* its vector units */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const hardware = load(cases[i].id, NULL);
        const struct roof_compute *const compute = &hardware->compute[cases[i].asked];
        assert_int_equal(compute->precision, cases[i].computed);
        assert_false(compute->native);
        assert_true(compute->peak_flops_per_s == cases[i].tflops * 1e12);
        roof_hardware_free(hardware);
    }
}

/* a >= b where both are known */
static void expect_at_least(const struct roof_hardware *hardware, const char *what, double a,
                            double b)
{
    if (!isnan(a) && !isnan(b) && a < b) {
        fail_msg("%s: %s: %g is less than %g", hardware->id, what, a, b);
    }
}

static void check_plausible(const struct roof_hardware *hardware)
{
    const struct roof_figure *const matrix = hardware->peak[ROOF_PEAK_MATRIX];
    const struct roof_figure *const vector = hardware->peak[ROOF_PEAK_VECTOR];
    /* narrower formats are never slower */
    expect_at_least(hardware, "fp16 / tf32", matrix[P(FP16)].value, matrix[P(TF32)].value);
    expect_at_least(hardware, "bf16 / tf32", matrix[P(BF16)].value, matrix[P(TF32)].value);
    expect_at_least(hardware, "fp8 / fp16", matrix[P(FP8_E4M3)].value, matrix[P(FP16)].value);
    expect_at_least(hardware, "fp8 / bf16", matrix[P(FP8_E4M3)].value, matrix[P(BF16)].value);
    expect_at_least(hardware, "nvfp4 / fp8", matrix[P(NVFP4)].value, matrix[P(FP8_E4M3)].value);
    expect_at_least(hardware, "mxfp4 / mxfp8", matrix[P(MXFP4)].value, matrix[P(MXFP8_E4M3)].value);
    expect_at_least(hardware, "int4 / int8", matrix[P(INT4)].value, matrix[P(INT8)].value);
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const char *const name = roof_format((enum roof_precision)p)->name;
        const double dense = matrix[p].value;
        const double sparse = hardware->peak[ROOF_PEAK_SPARSE][p].value;
        expect_at_least(hardware, name, dense, vector[p].value);
        /* 2:4 sparsity doubles the rate at most; 2.25 allows for rounded and mixed sheets. An
         * equal pair is a figure with sparsity that was taken for the dense one. */
        if (!isnan(sparse) && !(sparse > dense && sparse <= 2.25 * dense)) {
            fail_msg("%s: %s is %g dense and %g sparse", hardware->id, name, dense, sparse);
        }
        const struct roof_compute *const compute = &hardware->compute[p];
        assert_true(isnan(compute->sparse_flops_per_s) ||
                    compute->sparse_flops_per_s > compute->peak_flops_per_s);
    }
    assert_true(matrix[P(FP8_E4M3)].value == matrix[P(FP8_E5M2)].value ||
                isnan(matrix[P(FP8_E4M3)].value));
    /* every device of the list moves 60 GB/s (Apple M1) to 10 TB/s and multiplies 16-bit numbers */
    const double bandwidth = hardware->figure[ROOF_FIGURE_BANDWIDTH].value;
    if (!(bandwidth > 60e9 && bandwidth < 10e12)) {
        fail_msg("%s: %g bytes/s", hardware->id, bandwidth);
    }
    const double peak = hardware->compute[P(BF16)].peak_flops_per_s;
    if (!(peak / bandwidth > 10 && peak / bandwidth < 1000)) { /* the ridge point, FLOP/byte */
        fail_msg("%s: the ridge point of bf16 is %g", hardware->id, peak / bandwidth);
    }
    /* what software sees is about what is printed, GB or GiB (7% more), but macOS keeps up to a
     * quarter of it; processors are sold without memory */
    const double visible = hardware->figure[ROOF_FIGURE_MEMORY_CAPACITY].value /
                           hardware->figure[ROOF_FIGURE_MEMORY_NOMINAL].value;
    const bool processor = strncmp(hardware->architecture, "CPU", 3) == 0;
    const bool mac = strncmp(hardware->architecture, "Apple", 5) == 0;
    if (processor ? !isnan(visible)
                  : !(visible > (mac ? 0.78 : 0.9) && visible < (mac ? 0.92 : 1.08))) {
        fail_msg("%s: usable / printed memory is %g", hardware->id, visible);
    }
    /* a node is whole devices; its network is not faster than its links */
    const double node = hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
    assert_true(isnan(node) || node == floor(node));
    const double network = hardware->figure[ROOF_FIGURE_NETWORK].value;
    expect_at_least(hardware, "link / network", hardware->figure[ROOF_FIGURE_LINK].value, network);
    /* the fastest port has 800 Gb/s: more are bits that were taken for bytes */
    expect_at_least(hardware, "800 Gb/s / network", 100e9, network);
}

static void test_every_device_is_plausible(void **state)
{
    (void)state;
    for_each_device(check_plausible);
}

/* A matrix unit does a power of two of operations per clock: peaks, units and clock of a sheet that
 * do not go together are those of different products. Not on Blackwell of data centres, whose
 * printed peaks are rounded, nor on the Arc B580, whose printed peak is at another clock. */
static void check_rate_per_clock(const struct roof_hardware *hardware)
{
    const struct roof_figure *const matrix = hardware->peak[ROOF_PEAK_MATRIX];
    const double peak = isnan(matrix[P(FP16)].value) ? matrix[P(BF16)].value //
                                                     : matrix[P(FP16)].value;
    const double per_clock = peak / (hardware->figure[ROOF_FIGURE_SM_COUNT].value *
                                     hardware->figure[ROOF_FIGURE_BOOST_CLOCK].value);
    const bool rounded = strncmp(hardware->architecture, "Blackwell (SM100)", 17) == 0 ||
                         strncmp(hardware->architecture, "Blackwell Ultra", 15) == 0 ||
                         strcmp(hardware->id, "arc-b580") == 0;
    const double steps = log2(per_clock);
    if (!isnan(per_clock) && !rounded && fabs(exp2(steps - round(steps)) - 1) > 0.02) {
        fail_msg("%s: %g FLOP of 16 bits per clock and SM", hardware->id, per_clock);
    }
}

static void test_rates_per_clock(void **state)
{
    (void)state;
    for_each_device(check_rate_per_clock);
}

/* --- a user's device ----------------------------------------------------------------------- */

#define BANDWIDTH "\"bandwidth_gb_s\": 100"
#define PEAK "\"peak_tflops\": {\"fp16\": 1}"

static void test_smallest_device(void **state)
{
    (void)state;
    struct roof_hardware *hardware = parse_device("{" BANDWIDTH ", " PEAK "}");
    assert_string_equal(hardware->id, "test"); /* its file, where it has no id */
    assert_string_equal(hardware->name, "test");
    assert_string_equal(hardware->vendor, "");
    assert_string_equal(hardware->architecture, "");
    assert_null(hardware->product);
    assert_null(hardware->like);
    assert_null(hardware->aliases[0]);
    assert_null(hardware->notes[0]);
    assert_int_equal(hardware->basis, ROOF_BASIS_USER);
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        const struct roof_figure *const figure = &hardware->figure[i];
        assert_int_equal(isnan(figure->value), i != ROOF_FIGURE_BANDWIDTH);
        assert_null(figure->source);
        assert_null(figure->note);
        assert_int_equal(figure->confidence, ROOF_CONFIDENCE_UNKNOWN);
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            assert_int_equal(isnan(hardware->peak[t][p].value),
                             !(t == ROOF_PEAK_MATRIX && p == P(FP16)));
        }
    }
    assert_true(hardware->figure[ROOF_FIGURE_BANDWIDTH].value == 100e9);
    assert_true(hardware->peak[ROOF_PEAK_MATRIX][P(FP16)].value == 1e12);
    assert_true(isnan(hardware->vector_flops_per_s));
    roof_hardware_free(hardware);

    /* a peak of the vector units is enough too; the name follows the id */
    hardware = parse_device("{\"id\": \"x\", " BANDWIDTH ", \"vector_tflops\": {\"fp32\": 2}}");
    assert_string_equal(hardware->name, "x");
    assert_true(hardware->vector_flops_per_s == 2e12);
    roof_hardware_free(hardware);
    roof_hardware_free(NULL);
}

static void test_all_keys(void **state)
{
    (void)state;
    struct roof_hardware *const hardware = parse_device(
        "{\"schema\": \"roofline/hardware/1\", \"id\": \"i\", \"name\": \"N\", \"vendor\": \"V\","
        " \"architecture\": \"A\", \"product\": \"gb10\", \"like\": \"l4\", \"basis\": "
        "\"published\","
        " \"aliases\": [\"one\", \"two\"], \"notes\": [\"a note\"],"
        " \"sources\": {\"s\": \"a sheet\", \"t\": \"a talk\"},"
        " \"bandwidth_gb_s\": {\"value\": 3, \"source\": \"s\", \"confidence\": \"high\","
        "   \"note\": \"n\", \"published\": 5},"
        " \"sm_count\": {\"value\": 4, \"source\": [\"s\", \"t\", \"own\"],"
        "   \"confidence\": \"medium\"},"
        " \"tdp_w\": {\"source\": \"own\", \"confidence\": \"low\", \"value\": 5},"
        " \"peak_tflops\": {\"fp16\": {\"value\": 6, \"source\": [\"t\"]}},"
        " \"sparse_tflops\": {\"fp16\": 7}, \"vector_tflops\": {\"fp32\": 8, \"fp64\": 9}}");
    assert_string_equal(hardware->id, "i");
    assert_string_equal(hardware->name, "N");
    assert_string_equal(hardware->vendor, "V");
    assert_string_equal(hardware->architecture, "A");
    assert_string_equal(hardware->product, "gb10");
    assert_string_equal(hardware->like, "l4");
    assert_int_equal(hardware->basis, ROOF_BASIS_PUBLISHED);
    assert_string_equal(hardware->aliases[0], "one");
    assert_string_equal(hardware->aliases[1], "two");
    assert_null(hardware->aliases[2]);
    assert_string_equal(hardware->notes[0], "a note");
    assert_null(hardware->notes[1]);
    const struct roof_figure *const bandwidth = &hardware->figure[ROOF_FIGURE_BANDWIDTH];
    assert_true(bandwidth->value == 3e9);
    assert_string_equal(bandwidth->source, "a sheet");
    assert_string_equal(bandwidth->note, "n");
    assert_int_equal(bandwidth->confidence, ROOF_CONFIDENCE_HIGH);
    const struct roof_figure *const sms = &hardware->figure[ROOF_FIGURE_SM_COUNT];
    assert_true(sms->value == 4);
    assert_string_equal(sms->source, "a sheet; a talk; own"); /* what is no key is a citation */
    assert_int_equal(sms->confidence, ROOF_CONFIDENCE_MEDIUM);
    assert_null(sms->note);
    const struct roof_figure *const tdp = &hardware->figure[ROOF_FIGURE_TDP];
    assert_true(tdp->value == 5);
    assert_string_equal(tdp->source, "own");
    assert_int_equal(tdp->confidence, ROOF_CONFIDENCE_LOW);
    assert_true(in_tflops(hardware, ROOF_PEAK_MATRIX, P(FP16)) == 6);
    assert_string_equal(hardware->peak[ROOF_PEAK_MATRIX][P(FP16)].source, "a talk");
    assert_true(in_tflops(hardware, ROOF_PEAK_SPARSE, P(FP16)) == 7);
    assert_true(in_tflops(hardware, ROOF_PEAK_VECTOR, P(FP32)) == 8);
    assert_true(in_tflops(hardware, ROOF_PEAK_VECTOR, P(FP64)) == 9);
    roof_hardware_free(hardware);
}

static const struct {
    const char *key;
    enum roof_figure_id figure;
    double si; /* of 3 in the key's unit */
    double least, most;
} figure_rows[] = {
    {"bandwidth_gb_s", ROOF_FIGURE_BANDWIDTH, 3e9, 1e-3, 1e7},
    {"memory_capacity_bytes", ROOF_FIGURE_MEMORY_CAPACITY, 3, 1, 1e16},
    {"memory_nominal_gb", ROOF_FIGURE_MEMORY_NOMINAL, 3e9, 1e-3, 1e7},
    {"sm_count", ROOF_FIGURE_SM_COUNT, 3, 1, 1e6},
    {"boost_clock_mhz", ROOF_FIGURE_BOOST_CLOCK, 3e6, 1, 1e5},
    {"l2_bytes", ROOF_FIGURE_L2, 3, 1, 1e13},
    {"l2_bandwidth_gb_s", ROOF_FIGURE_L2_BANDWIDTH, 3e9, 1e-3, 1e7},
    {"sm_shared_bytes", ROOF_FIGURE_SM_SHARED, 3, 1, 1e9},
    {"block_shared_bytes", ROOF_FIGURE_BLOCK_SHARED, 3, 1, 1e9},
    {"sm_registers", ROOF_FIGURE_SM_REGISTERS, 3, 1, 1e9},
    {"sm_threads", ROOF_FIGURE_SM_THREADS, 3, 1, 1e6},
    {"sm_blocks", ROOF_FIGURE_SM_BLOCKS, 3, 1, 1e6},
    {"cluster_blocks", ROOF_FIGURE_CLUSTER, 3, 1, 64},
    {"sm_tmem_bytes", ROOF_FIGURE_TENSOR_MEMORY, 3, 1, 1e9},
    {"llc_bytes", ROOF_FIGURE_LLC, 3, 1, 1e13},
    {"tdp_w", ROOF_FIGURE_TDP, 3, 1e-3, 1e6},
    {"power_cap_w", ROOF_FIGURE_POWER_CAP, 3, 1e-3, 1e6},
    {"constant_w", ROOF_FIGURE_CONSTANT_POWER, 3, 1e-6, 1e6},
    {"byte_pj", ROOF_FIGURE_BYTE_ENERGY, 3e-12, 1e-6, 1e9},
    {"devices_per_node", ROOF_FIGURE_DEVICES_PER_NODE, 3, 1, 16384},
    {"link_gb_s", ROOF_FIGURE_LINK, 3e9, 1e-6, 1e7},
    {"network_gb_s", ROOF_FIGURE_NETWORK, 3e9, 1e-6, 1e7},
    {"link_latency_us", ROOF_FIGURE_LINK_LATENCY, 3e-6, 1e-6, 1e6},
    {"network_latency_us", ROOF_FIGURE_NETWORK_LATENCY, 3e-6, 1e-6, 1e6},
    {"peer_link_gb_s", ROOF_FIGURE_PEER_LINK, 3e9, 1e-6, 1e7},
    {"bridge_gb_s", ROOF_FIGURE_BRIDGE, 3e9, 1e-6, 1e7},
    {"bridge_devices", ROOF_FIGURE_BRIDGE_DEVICES, 3, 1, 16384},
    {"host_link_gb_s", ROOF_FIGURE_HOST_LINK, 3e9, 1e-6, 1e7},
};

/* Sets a figure in the unit of its key. */
static enum roof_status set_figure(struct roof_hardware *hardware, const char *key, double value)
{
    char text[256];
    snprintf(text, sizeof text, "%s=%.17g", key, value);
    return roof_hardware_set(hardware, text, NULL);
}

static void test_units_of_keys(void **state)
{
    (void)state;
    assert_int_equal(COUNT(figure_rows), ROOF_FIGURE_COUNT);
    for (size_t i = 0; i < COUNT(figure_rows); i++) {
        const struct roof_figure_key *const key = roof_figure_key(figure_rows[i].figure);
        assert_string_equal(key->key, figure_rows[i].key);
        assert_true(strlen(key->label) > 0);
        assert_true(key->min > 0 && key->min < key->max);
        char text[256];
        snprintf(text, sizeof text, "{\"%s\": 3, %s" PEAK "}", figure_rows[i].key,
                 figure_rows[i].figure == ROOF_FIGURE_BANDWIDTH ? "" : BANDWIDTH ", ");
        struct roof_hardware *hardware = parse_device(text);
        assert_true(hardware->figure[figure_rows[i].figure].value == figure_rows[i].si);
        roof_hardware_free(hardware);
        /* the same with --set */
        hardware = parse_device(SYNTHETIC);
        assert_int_equal(set_figure(hardware, figure_rows[i].key, 3), ROOF_OK);
        assert_true(hardware->figure[figure_rows[i].figure].value == figure_rows[i].si);
        const double least = figure_rows[i].least;
        const double most = figure_rows[i].most;
        assert_int_equal(set_figure(hardware, figure_rows[i].key, least), ROOF_OK);
        assert_int_equal(set_figure(hardware, figure_rows[i].key, most), ROOF_OK);
        assert_int_equal(set_figure(hardware, figure_rows[i].key, 0.9 * least), ROOF_USAGE);
        assert_int_equal(set_figure(hardware, figure_rows[i].key, ceil(1.01 * most)), ROOF_USAGE);
        roof_hardware_free(hardware);
    }
    static const struct {
        enum roof_peak_table table;
        const char *key;
    } tables[] = {{ROOF_PEAK_MATRIX, "peak_tflops"},
                  {ROOF_PEAK_SPARSE, "sparse_tflops"},
                  {ROOF_PEAK_VECTOR, "vector_tflops"}};
    for (size_t i = 0; i < COUNT(tables); i++) {
        assert_string_equal(roof_peak_table_key(tables[i].table), tables[i].key);
        assert_true(strlen(roof_peak_table_label(tables[i].table)) > 0);
    }
}

/* A device without an id is called like its file, and never has an empty id. */
static void test_name_by_file(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"x.json", "x"},    {"a/b.json", "b"},
                                           {"a.b/c", "c"},     {"d.jsonl", "d.jsonl"},
                                           {".json", ".json"}, {"a/.json", ".json"}};
    static const char text[] = "{" BANDWIDTH ", " PEAK "}";
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *hardware = NULL;
        assert_int_equal(roof_hardware_parse(&hardware, text, strlen(text), cases[i][0], NULL),
                         ROOF_OK);
        assert_string_equal(hardware->id, cases[i][1]);
        roof_hardware_free(hardware);
    }
}

static void test_names_of_enums(void **state)
{
    (void)state;
    assert_string_equal(roof_basis_name(ROOF_BASIS_DOCUMENTS), "documents");
    assert_string_equal(roof_basis_name(ROOF_BASIS_PUBLISHED), "published");
    assert_string_equal(roof_basis_name(ROOF_BASIS_USER), "user");
    assert_string_equal(roof_confidence_name(ROOF_CONFIDENCE_UNKNOWN), "unknown");
    assert_string_equal(roof_confidence_name(ROOF_CONFIDENCE_LOW), "low");
    assert_string_equal(roof_confidence_name(ROOF_CONFIDENCE_MEDIUM), "medium");
    assert_string_equal(roof_confidence_name(ROOF_CONFIDENCE_HIGH), "high");
    assert_string_equal(roof_compute_unit_name(ROOF_COMPUTE_MATRIX), "matrix");
    assert_string_equal(roof_compute_unit_name(ROOF_COMPUTE_VECTOR), "vector");
}

static void test_keys_for_groups_of_formats(void **state)
{
    (void)state;
    static const struct {
        const char *peaks;
        enum roof_precision precision;
        double tflops; /* ROOF_UNKNOWN: not given */
    } cases[] = {
        {"\"fp8\": 2", P(FP8_E4M3), 2},
        {"\"fp8\": 2", P(FP8_E5M2), 2},
        {"\"fp8\": 2", P(MXFP8_E4M3), ROOF_UNKNOWN},
        {"\"mxfp8\": 3", P(MXFP8_E4M3), 3},
        {"\"mxfp8\": 3", P(MXFP8_E5M2), 3},
        {"\"mxfp8\": 3", P(FP8_E4M3), ROOF_UNKNOWN},
        {"\"mxfp6\": 4", P(MXFP6_E3M2), 4},
        {"\"mxfp6\": 4", P(MXFP6_E2M3), 4},
        /* one of them alone, and both apart */
        {"\"fp8_e4m3\": 5", P(FP8_E4M3), 5},
        {"\"fp8_e4m3\": 5", P(FP8_E5M2), ROOF_UNKNOWN},
        {"\"fp8_e4m3\": 5, \"fp8_e5m2\": 6", P(FP8_E5M2), 6},
        {"\"mxfp6_e2m3\": 7", P(MXFP6_E3M2), ROOF_UNKNOWN},
        {"\"FP16\": 8", P(FP16), 8},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, "{" BANDWIDTH ", \"peak_tflops\": {%s}}", cases[i].peaks);
        struct roof_hardware *const hardware = parse_device(text);
        const double tflops = in_tflops(hardware, ROOF_PEAK_MATRIX, cases[i].precision);
        if (isnan(cases[i].tflops) ? !isnan(tflops) : tflops != cases[i].tflops) {
            fail_msg("{%s}: %s is %g", cases[i].peaks, roof_format(cases[i].precision)->name,
                     tflops);
        }
        roof_hardware_free(hardware);
    }
}

static void test_upper_case_keys_for_groups(void **state)
{
    (void)state;
    /* Names of formats are read in either case; FP8 is fp8 and stands for both. */
    struct roof_hardware *const hardware =
        parse_device("{" BANDWIDTH ", \"peak_tflops\": {\"FP8\": 2, \"MXFP6\": 3}}");
    assert_true(in_tflops(hardware, ROOF_PEAK_MATRIX, P(FP8_E4M3)) == 2);
    assert_true(in_tflops(hardware, ROOF_PEAK_MATRIX, P(MXFP6_E3M2)) == 3);
    const bool both = in_tflops(hardware, ROOF_PEAK_MATRIX, P(FP8_E5M2)) == 2 &&
                      in_tflops(hardware, ROOF_PEAK_MATRIX, P(MXFP6_E2M3)) == 3;
    roof_hardware_free(hardware);
    assert_true(both);
}

static void test_basis_in_the_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum roof_basis basis;
    } cases[] = {
        {"{" BANDWIDTH ", " PEAK "}", ROOF_BASIS_USER},
        {"{\"basis\": \"user\", " BANDWIDTH ", " PEAK "}", ROOF_BASIS_USER},
        {"{\"basis\": \"published\", " BANDWIDTH ", " PEAK "}", ROOF_BASIS_PUBLISHED},
        {"{\"basis\": \"documents\", " BANDWIDTH ", " PEAK "}", ROOF_BASIS_DOCUMENTS},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_hardware *const hardware = parse_device(cases[i].text);
        assert_int_equal(hardware->basis, cases[i].basis);
        roof_hardware_free(hardware);
    }
}

static void expect_invalid(const char *text, size_t length, int line, int column,
                           const char *reason, const char *allowed)
{
    struct roof_hardware *hardware = (struct roof_hardware *)(void *)&hardware;
    struct roof_error error = {0};
    const enum roof_status status = roof_hardware_parse(&hardware, text, length, "d.json", &error);
    if (status != ROOF_INVALID || error.line != line || error.column != column ||
        strstr(error.message, reason) == NULL || strstr(error.message, allowed) == NULL) {
        fail_msg("%s: status %d at %d:%d '%s', expected %d:%d '%s' '%s'", text, (int)status,
                 error.line, error.column, error.message, line, column, reason, allowed);
    }
    assert_null(hardware);
    assert_int_equal(error.status, ROOF_INVALID);
    assert_string_equal(error.source, "d.json");
    assert_int_equal(roof_hardware_parse(&hardware, text, length, "d.json", NULL), ROOF_INVALID);
}

/* A member on line 2 behind a device that is fine: its value stands at column + key's length. */
#define FINE "{" BANDWIDTH ", " PEAK ",\n"

static void test_invalid_devices(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        int column;
        const char *reason;
        const char *allowed;
    } cases[] = {
        /* keys */
        {FINE "\"color\": 1}", 2, 10, "'color'", "known: bandwidth_gb_s, "},
        {FINE "\"color\": 1}", 2, 10, "'color'", " more"},
        {FINE "\"bandwidth\": 1}", 2, 14, "'bandwidth'", "did you mean bandwidth_gb_s?"},
        {FINE "\"memory\": 96}", 2, 11, "'memory'", "did you mean memory_gb?"},
        {FINE "\"VRAM\": 96}", 2, 9, "'VRAM'", "did you mean memory_gb?"},
        {FINE "\"peaks\": {}}", 2, 10, "'peaks'", "did you mean peak_tflops?"},
        {FINE "\"Name\": \"x\"}", 2, 9, "'Name'", "name"},
        {FINE "\"\": 1}", 2, 5, "''", "bandwidth_gb_s"},
        /* types: {"bandwidth_gb_s": has 19 bytes with the blank behind it */
        {"{\"bandwidth_gb_s\": \"100\", " PEAK "}", 1, 20, "bandwidth_gb_s", "0.001 to 1e+07 GB/s"},
        {"{\"bandwidth_gb_s\": null, " PEAK "}", 1, 20, "bandwidth_gb_s", "0.001 to 1e+07 GB/s"},
        {"{\"bandwidth_gb_s\": true, " PEAK "}", 1, 20, "bandwidth_gb_s", "number"},
        {"{\"bandwidth_gb_s\": [100], " PEAK "}", 1, 20, "bandwidth_gb_s", "number"},
        {"{\"bandwidth_gb_s\": {}, " PEAK "}", 1, 20, "bandwidth_gb_s", "number"},
        {"{\"bandwidth_gb_s\": {\"value\": \"1\"}, " PEAK "}", 1, 30, "bandwidth_gb_s", "number"},
        {"{\"bandwidth_gb_s\": {\"value\": null}, " PEAK "}", 1, 30, "bandwidth_gb_s", "number"},
        {"{\"bandwidth_gb_s\": {\"source\": \"s\"}, " PEAK "}", 1, 20, "bandwidth_gb_s", "number"},
        /* ranges */
        {"{\"bandwidth_gb_s\": -100, " PEAK "}", 1, 20, "bandwidth_gb_s", "0.001 to 1e+07 GB/s"},
        {"{\"bandwidth_gb_s\": 0, " PEAK "}", 1, 20, "bandwidth_gb_s", "0.001 to 1e+07 GB/s"},
        {"{\"bandwidth_gb_s\": 1e-4, " PEAK "}", 1, 20, "bandwidth_gb_s", "0.001 to 1e+07 GB/s"},
        {"{\"bandwidth_gb_s\": 1.1e7, " PEAK "}", 1, 20, "bandwidth_gb_s", "0.001 to 1e+07 GB/s"},
        {"{\"bandwidth_gb_s\": {\"value\": -0}, " PEAK "}", 1, 30, "bandwidth_gb_s", "0.001"},
        {"{\"bandwidth_gb_s\": 1e400, " PEAK "}", 1, 20, "too large", ""},
        {FINE "\"tdp_w\": 0}", 2, 10, "tdp_w", " W"},
        {FINE "\"devices_per_node\": 0}", 2, 21, "devices_per_node", "an integer from 1"},
        {FINE "\"devices_per_node\": 1.5}", 2, 21, "devices_per_node", "an integer from 1"},
        {FINE "\"sm_count\": {\"value\": 131.999}}", 2, 23, "sm_count", "an integer from 1"},
        {FINE "\"memory_capacity_bytes\": -1}", 2, 26, "memory_capacity_bytes", "from 1"},
        {FINE "\"link_gb_s\": 0}", 2, 14, "link_gb_s", "GB/s"},
        /* members of a figure */
        {FINE "\"tdp_w\": {\"value\": 1,\n\"unit\": 1}}", 3, 9, "'unit'",
         "value, source, confidence and note"},
        {FINE "\"tdp_w\": {\"value\": 1,\n\"note\": 1}}", 3, 9, "'note'", "note"},
        {FINE "\"tdp_w\": {\"value\": 1,\n\"confidence\": \"sure\"}}", 3, 15, "confidence",
         "high, medium or low"},
        {FINE "\"tdp_w\": {\"value\": 1,\n\"confidence\": \"unknown\"}}", 3, 15, "confidence",
         "high, medium or low"},
        {FINE "\"tdp_w\": {\"value\": 1,\n\"confidence\": 1}}", 3, 15, "confidence",
         "high, medium or low"},
        {FINE "\"tdp_w\": {\"value\": 1,\n\"source\": 1}}", 3, 11, "source", "string"},
        {FINE "\"tdp_w\": {\"value\": 1,\n\"source\": null}}", 3, 11, "source", "string"},
        {FINE "\"tdp_w\": {\"value\": 1,\n\"source\": {}}}", 3, 11, "source", "string"},
        {FINE "\"tdp_w\": {\"value\": 1,\n\"source\": [\"s\",\n 1]}}", 4, 2, "source", "string"},
        {FINE "\"tdp_w\": {\"value\": 1,\n\"source\": []}}", 3, 11, "source", "citations"},
        /* peaks */
        {FINE "\"vector_tflops\": 1}", 2, 18, "vector_tflops", "object"},
        {FINE "\"vector_tflops\": null}", 2, 18, "vector_tflops", "object"},
        {FINE "\"vector_tflops\": [1]}", 2, 18, "vector_tflops", "object"},
        {FINE "\"vector_tflops\": {\"fp15\": 1}}", 2, 27, "'fp15'", "did you mean fp16"},
        {FINE "\"vector_tflops\": {\"fp32\": \"1\"}}", 2, 27, "fp32", "TFLOPS"},
        {FINE "\"vector_tflops\": {\"fp32\": null}}", 2, 27, "fp32", "TFLOPS"},
        {FINE "\"vector_tflops\": {\"fp32\": 0}}", 2, 27, "fp32", "0.000001 to 1e+09 TFLOPS"},
        {FINE "\"vector_tflops\": {\"fp32\": -1}}", 2, 27, "fp32", "0.000001 to 1e+09 TFLOPS"},
        {FINE "\"vector_tflops\": {\"fp32\": 2e9}}", 2, 27, "fp32", "0.000001 to 1e+09 TFLOPS"},
        {FINE "\"vector_tflops\": {\"fp32\": {\"value\": 0}}}", 2, 37, "fp32", "TFLOPS"},
        /* one format twice */
        {"{" BANDWIDTH ",\n\"peak_tflops\": {\"fp8\": 1,\n\"fp8_e4m3\": 2}}", 3, 13, "fp8_e4m3",
         "twice"},
        {"{" BANDWIDTH ",\n\"peak_tflops\": {\"fp8_e5m2\": 1,\n\"fp8\": 2}}", 3, 8, "fp8_e5m2",
         "twice"},
        {"{" BANDWIDTH ",\n\"peak_tflops\": {\"mxfp8\": 1,\n\"mxfp8_e5m2\": 2}}", 3, 15,
         "mxfp8_e5m2", "twice"},
        {"{" BANDWIDTH ",\n\"peak_tflops\": {\"mxfp6_e2m3\": 1,\n\"mxfp6\": 2}}", 3, 10,
         "mxfp6_e2m3", "twice"},
        {"{" BANDWIDTH ",\n\"peak_tflops\": {\"fp16\": 1,\n\"FP16\": 2}}", 3, 9, "fp16", "twice"},
        {"{" BANDWIDTH ",\n\"peak_tflops\": {\"fp16\": 1,\n\"fp16\": 1}}", 3, 9, "'fp16'", "twice"},
        /* texts */
        {FINE "\"schema\": \"roofline/hardware/2\"}", 2, 11, "schema", "\"roofline/hardware/1\""},
        {FINE "\"schema\": 1}", 2, 11, "schema", "\"roofline/hardware/1\""},
        {FINE "\"basis\": \"guess\"}", 2, 10, "basis", "documents, published or user"},
        {FINE "\"basis\": null}", 2, 10, "basis", "documents, published or user"},
        {FINE "\"id\": \"\"}", 2, 7, "id", "string"},
        {FINE "\"id\": 5}", 2, 7, "id", "string"},
        {FINE "\"name\": null}", 2, 9, "name", "string"},
        {FINE "\"name\": \"a\\nb\"}", 2, 9, "name", "one line"}, /* printed as they are */
        {FINE "\"notes\": [\"a\\u001bb\"]}", 2, 10, "notes", "one line"},
        {FINE "\"tdp_w\": {\"value\": 1,\n\"source\": \"a\\u007f\"}}", 3, 11, "source", "one line"},
        {FINE "\"vendor\": []}", 2, 11, "vendor", "string"},
        {FINE "\"product\": {}}", 2, 12, "product", "string"},
        {FINE "\"like\": 5}", 2, 9, "like", "string"},
        {FINE "\"aliases\": \"x\"}", 2, 12, "aliases", "array of strings"},
        {FINE "\"aliases\": {\"a\": \"b\"}}", 2, 12, "aliases", "array of strings"},
        {FINE "\"notes\": [\"a\", 1]}", 2, 10, "notes", "array of strings"},
        {FINE "\"notes\": null}", 2, 10, "notes", "array of strings"},
        {FINE "\"sources\": []}", 2, 12, "sources", "object"},
        {FINE "\"sources\": \"s\"}", 2, 12, "sources", "object"},
        /* the whole */
        {"\n  []", 2, 3, "object", "bandwidth_gb_s"},
        {"\"gb10\"", 1, 1, "object", "peak_tflops"},
        {"null", 1, 1, "object", "peak_tflops"},
        {"{}", 1, 1, "needs bandwidth_gb_s", "peak_tflops or vector_tflops"},
        {"\n {" PEAK "}", 2, 2, "needs bandwidth_gb_s", "peak_tflops or vector_tflops"},
        {"{" BANDWIDTH "}", 1, 1, "at least one peak", "peak_tflops or vector_tflops"},
        {"{" BANDWIDTH ", \"peak_tflops\": {}}", 1, 1, "at least one peak", "vector_tflops"},
        {"{" BANDWIDTH ", \"sparse_tflops\": {\"fp16\": 1}}", 1, 1, "at least one peak",
         "vector_tflops"},
        /* no JSON */
        {"", 1, 1, "end of the text", ""},
        {"{" BANDWIDTH ", " PEAK ",}", 1, 52, "key", ""},
        {FINE "\"tdp_w\": 01}", 2, 10, "begin with 0", ""},
        {FINE "\"tdp_w\": 1,\n\"tdp_w\": 1}", 3, 10, "'tdp_w'", "twice"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_invalid(cases[i].text, strlen(cases[i].text), cases[i].line, cases[i].column,
                       cases[i].reason, cases[i].allowed);
    }
}

static void test_every_beginning_of_a_file(void **state)
{
    (void)state;
    const struct roof_data_file *file = NULL;
    for (size_t i = 0; i < roof_data_file_count; i++) {
        if (strcmp(roof_data_files[i].path, "hardware/gb10.json") == 0) {
            file = &roof_data_files[i];
        }
    }
    if (file == NULL) {
        fail_msg("%s", "gb10 is not embedded");
        return;
    }
    size_t whole = file->length;
    while (file->text[whole - 1] == '\n') {
        whole--;
    }
    for (size_t length = 0; length <= file->length; length++) {
        struct roof_hardware *hardware = NULL;
        struct roof_error error = {0};
        const enum roof_status status =
            roof_hardware_parse(&hardware, file->text, length, "part.json", &error);
        assert_int_equal(status, length < whole ? ROOF_INVALID : ROOF_OK);
        assert_true(length >= whole || (error.line > 0 && error.column > 0));
        roof_hardware_free(hardware);
    }
}

/* --- which unit a format runs at ----------------------------------------------------------- */

static void test_computes_with_which_unit(void **state)
{
    (void)state;
    static const struct {
        const char *peaks;
        enum roof_precision asked;
        enum roof_precision computed;
        enum roof_compute_unit unit;
        bool native;
        double tflops; /* ROOF_UNKNOWN: no unit at all */
    } cases[] = {
        /* the unit of the format itself, matrix before vector */
        {"\"peak_tflops\": {\"fp16\": 4}", P(FP16), P(FP16), ROOF_COMPUTE_MATRIX, true, 4},
        {"\"vector_tflops\": {\"fp16\": 1}, \"peak_tflops\": {\"fp16\": 4}", P(FP16), P(FP16),
         ROOF_COMPUTE_MATRIX, true, 4},
        {"\"vector_tflops\": {\"fp16\": 5}, \"peak_tflops\": {\"fp16\": 4}", P(FP16), P(FP16),
         ROOF_COMPUTE_MATRIX, true, 4},
        {"\"vector_tflops\": {\"fp16\": 1}", P(FP16), P(FP16), ROOF_COMPUTE_VECTOR, true, 1},
        /* its own vector unit before another format's matrix unit */
        {"\"vector_tflops\": {\"bf16\": 1}, \"peak_tflops\": {\"fp32\": 4}", P(BF16), P(BF16),
         ROOF_COMPUTE_VECTOR, true, 1},
        /* fallbacks in their order */
        {"\"peak_tflops\": {\"fp16\": 2, \"bf16\": 3}", P(FP8_E4M3), P(BF16), ROOF_COMPUTE_MATRIX,
         false, 3},
        {"\"peak_tflops\": {\"fp16\": 2}", P(FP8_E5M2), P(FP16), ROOF_COMPUTE_MATRIX, false, 2},
        {"\"peak_tflops\": {\"fp8_e4m3\": 4, \"bf16\": 2}", P(FP8_E5M2), P(BF16),
         ROOF_COMPUTE_MATRIX, false, 2},
        {"\"peak_tflops\": {\"int8\": 8, \"fp16\": 4}", P(INT4), P(INT8), ROOF_COMPUTE_MATRIX,
         false, 8},
        {"\"peak_tflops\": {\"fp16\": 4, \"bf16\": 5}", P(INT4), P(FP16), ROOF_COMPUTE_MATRIX,
         false, 4},
        {"\"peak_tflops\": {\"bf16\": 5}", P(INT4), P(BF16), ROOF_COMPUTE_MATRIX, false, 5},
        {"\"peak_tflops\": {\"int4\": 9, \"int8\": 8}", P(INT2), P(INT4), ROOF_COMPUTE_MATRIX,
         false, 9},
        {"\"vector_tflops\": {\"fp32\": 1}", P(INT2), P(FP32), ROOF_COMPUTE_VECTOR, false, 1},
        {"\"peak_tflops\": {\"fp16\": 4, \"bf16\": 5}", P(INT8), P(FP16), ROOF_COMPUTE_MATRIX,
         false, 4},
        {"\"peak_tflops\": {\"fp8\": 4, \"bf16\": 2}", P(NVFP4), P(BF16), ROOF_COMPUTE_MATRIX,
         false, 2},
        {"\"peak_tflops\": {\"mxfp4\": 4, \"bf16\": 2}", P(NVFP4), P(BF16), ROOF_COMPUTE_MATRIX,
         false, 2},
        {"\"peak_tflops\": {\"fp16\": 2}", P(MXFP6_E2M3), P(FP16), ROOF_COMPUTE_MATRIX, false, 2},
        {"\"vector_tflops\": {\"fp32\": 1}", P(FP16), P(FP32), ROOF_COMPUTE_VECTOR, false, 1},
        {"\"vector_tflops\": {\"fp32\": 1}", P(BF16), P(FP32), ROOF_COMPUTE_VECTOR, false, 1},
        {"\"vector_tflops\": {\"fp32\": 1}, \"peak_tflops\": {\"fp32\": 2}", P(TF32), P(FP32),
         ROOF_COMPUTE_MATRIX, false, 2},
        {"\"peak_tflops\": {\"bf16\": 5}", P(FP16), P(BF16), ROOF_COMPUTE_MATRIX, false, 5},
        {"\"vector_tflops\": {\"fp64\": 1}", P(FP32), P(FP64), ROOF_COMPUTE_VECTOR, false, 1},
        /* stored weights run at 16 bits, and that is native; DeepSeek's run at FP8 */
        {"\"peak_tflops\": {\"fp16\": 4, \"bf16\": 5}", P(Q4_K), P(FP16), ROOF_COMPUTE_MATRIX, true,
         4},
        {"\"peak_tflops\": {\"bf16\": 5}", P(NF4), P(BF16), ROOF_COMPUTE_MATRIX, false, 5},
        {"\"peak_tflops\": {\"fp8\": 8, \"bf16\": 5}", P(FP8_BLOCK128), P(FP8_E4M3),
         ROOF_COMPUTE_MATRIX, true, 8},
        {"\"peak_tflops\": {\"fp16\": 4, \"bf16\": 5}", P(FP8_BLOCK128), P(BF16),
         ROOF_COMPUTE_MATRIX, false, 5},
        {"\"peak_tflops\": {\"int8\": 8, \"fp16\": 4}", P(INT8_CHANNEL), P(INT8),
         ROOF_COMPUTE_MATRIX, true, 8},
        {"\"peak_tflops\": {\"fp16\": 4}", P(INT8_CHANNEL), P(FP16), ROOF_COMPUTE_MATRIX, false, 4},
        /* no unit at all: nothing narrower takes over, and nothing is guessed */
        {"\"peak_tflops\": {\"fp16\": 4}", P(FP32), P(FP32), ROOF_COMPUTE_MATRIX, false,
         ROOF_UNKNOWN},
        {"\"peak_tflops\": {\"fp16\": 4}", P(BF16), P(FP16), ROOF_COMPUTE_MATRIX, false,
         4}, /* the other format of 16 bits, when there is nothing wider */
        {"\"vector_tflops\": {\"fp32\": 4}", P(FP64), P(FP64), ROOF_COMPUTE_MATRIX, false,
         ROOF_UNKNOWN},
        {"\"peak_tflops\": {\"int8\": 4}", P(FP8_E4M3), P(FP8_E4M3), ROOF_COMPUTE_MATRIX, false,
         ROOF_UNKNOWN},
        {"\"peak_tflops\": {\"int8\": 4}", P(Q4_0), P(FP16), ROOF_COMPUTE_MATRIX, false,
         ROOF_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, "{" BANDWIDTH ", %s}", cases[i].peaks);
        struct roof_hardware *const hardware = parse_device(text);
        const struct roof_compute *const got = &hardware->compute[cases[i].asked];
        const double tflops = roof_to_unit(got->peak_flops_per_s, ROOF_UNIT_TFLOPS);
        const bool peak_right = isnan(cases[i].tflops)
                                    ? isnan(tflops)
                                    : got->unit == cases[i].unit && tflops == cases[i].tflops;
        if (!peak_right || got->precision != cases[i].computed || got->native != cases[i].native) {
            fail_msg("%s at {%s}: %s, %s, native %d, %g", roof_format(cases[i].asked)->name,
                     cases[i].peaks, roof_format(got->precision)->name,
                     roof_compute_unit_name(got->unit), got->native, tflops);
        }
        roof_hardware_free(hardware);
    }
}

static void test_sparse_peaks(void **state)
{
    (void)state;
    static const struct {
        const char *peaks;
        enum roof_precision asked;
        double tflops; /* ROOF_UNKNOWN: no such peak, and the dense one is not put in its place */
    } cases[] = {
        {"\"peak_tflops\": {\"fp16\": 4}, \"sparse_tflops\": {\"fp16\": 8}", P(FP16), 8},
        {"\"peak_tflops\": {\"fp16\": 4}, \"sparse_tflops\": {\"fp16\": 8}", P(Q4_K), 8},
        {"\"peak_tflops\": {\"bf16\": 4}, \"sparse_tflops\": {\"bf16\": 8}", P(FP8_E4M3), 8},
        {"\"peak_tflops\": {\"fp16\": 4, \"int8\": 5}, \"sparse_tflops\": {\"fp16\": 8}", P(INT8),
         ROOF_UNKNOWN},
        {"\"peak_tflops\": {\"fp16\": 4}", P(FP16), ROOF_UNKNOWN},
        /* the sparsity is the matrix units' */
        {"\"vector_tflops\": {\"fp16\": 4}, \"sparse_tflops\": {\"fp16\": 8}", P(FP16),
         ROOF_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, "{" BANDWIDTH ", %s}", cases[i].peaks);
        struct roof_hardware *const hardware = parse_device(text);
        const double tflops =
            roof_to_unit(hardware->compute[cases[i].asked].sparse_flops_per_s, ROOF_UNIT_TFLOPS);
        if (isnan(cases[i].tflops) ? !isnan(tflops) : tflops != cases[i].tflops) {
            fail_msg("%s at {%s}: %g", roof_format(cases[i].asked)->name, cases[i].peaks, tflops);
        }
        roof_hardware_free(hardware);
    }
}

static void test_vector_peak(void **state)
{
    (void)state;
    /* Vector operators run at the fp32 peak of the vector units, never at the matrix units'. */
    struct roof_hardware *hardware = parse_device(SYNTHETIC);
    assert_true(hardware->vector_flops_per_s == 0.1e12);
    roof_hardware_free(hardware);
    hardware = parse_device("{" BANDWIDTH ", \"peak_tflops\": {\"fp32\": 9, \"fp16\": 9},"
                            " \"vector_tflops\": {\"fp16\": 9}}");
    assert_true(isnan(hardware->vector_flops_per_s));
    roof_hardware_free(hardware);
}

/* --- changing figures ---------------------------------------------------------------------- */

static void test_set_a_figure(void **state)
{
    (void)state;
    struct roof_hardware *const hardware = load("gb10", NULL);
    struct roof_hardware *const original = load("gb10", NULL);
    assert_int_equal(hardware->basis, ROOF_BASIS_DOCUMENTS);
    assert_false(roof_hardware_differs(hardware, original));
    assert_int_equal(roof_hardware_set(hardware, "bandwidth_gb_s=287", NULL), ROOF_OK);
    assert_int_equal(hardware->basis, ROOF_BASIS_USER); /* even to the same value */
    assert_false(roof_hardware_differs(hardware, original));
    assert_int_equal(roof_hardware_set(hardware, "bandwidth_gb_s=500.5", NULL), ROOF_OK);
    const struct roof_figure *const bandwidth = &hardware->figure[ROOF_FIGURE_BANDWIDTH];
    assert_true(bandwidth->value == 500.5e9);
    assert_non_null(strstr(bandwidth->source, "--set")); /* no longer the sheet's */
    assert_null(bandwidth->note);
    assert_int_equal(bandwidth->confidence, ROOF_CONFIDENCE_UNKNOWN);
    assert_true(roof_hardware_differs(hardware, original));
    assert_true(roof_hardware_differs(original, hardware));
    assert_int_equal(roof_hardware_set(hardware, "bandwidth_gb_s=287", NULL), ROOF_OK);
    assert_false(roof_hardware_differs(hardware, original));
    /* unknown before, known now */
    assert_true(isnan(hardware->figure[ROOF_FIGURE_LINK].value));
    assert_int_equal(roof_hardware_set(hardware, "link_gb_s=1e1", NULL), ROOF_OK);
    assert_true(hardware->figure[ROOF_FIGURE_LINK].value == 10e9);
    assert_true(roof_hardware_differs(hardware, original));
    assert_true(roof_hardware_differs(original, hardware));
    roof_hardware_free(original);
    roof_hardware_free(hardware);
}

static void test_set_a_peak(void **state)
{
    (void)state;
    struct roof_hardware *const hardware = parse_device(SYNTHETIC);
    struct roof_hardware *const original = parse_device(SYNTHETIC);
    hardware->basis = ROOF_BASIS_PUBLISHED;
    /* the derived table follows: the format itself, and what runs at its unit */
    assert_int_equal(roof_hardware_set(hardware, "peak_tflops.fp16=100", NULL), ROOF_OK);
    assert_int_equal(hardware->basis, ROOF_BASIS_USER);
    assert_true(hardware->peak[ROOF_PEAK_MATRIX][P(FP16)].value == 100e12);
    assert_true(hardware->compute[P(FP16)].peak_flops_per_s == 100e12);
    assert_true(hardware->compute[P(Q4_K)].peak_flops_per_s == 100e12);
    assert_true(hardware->compute[P(FP8_E4M3)].peak_flops_per_s == 2e12);
    assert_true(roof_hardware_differs(hardware, original));
    /* a unit that was not there ends the fallback */
    assert_int_equal(hardware->compute[P(INT4)].precision, P(INT8));
    assert_false(hardware->compute[P(INT4)].native);
    assert_int_equal(roof_hardware_set(hardware, "peak_tflops.int4=7", NULL), ROOF_OK);
    assert_int_equal(hardware->compute[P(INT4)].precision, P(INT4));
    assert_true(hardware->compute[P(INT4)].native);
    assert_true(hardware->compute[P(INT4)].peak_flops_per_s == 7e12);
    /* a key for two formats, and the other tables */
    assert_int_equal(roof_hardware_set(hardware, "peak_tflops.fp8=3", NULL), ROOF_OK);
    assert_true(hardware->compute[P(FP8_E4M3)].peak_flops_per_s == 3e12);
    assert_true(hardware->compute[P(FP8_E5M2)].peak_flops_per_s == 3e12);
    assert_int_equal(roof_hardware_set(hardware, "peak_tflops.fp8_e5m2=4", NULL), ROOF_OK);
    assert_true(hardware->compute[P(FP8_E4M3)].peak_flops_per_s == 3e12);
    assert_true(hardware->compute[P(FP8_E5M2)].peak_flops_per_s == 4e12);
    assert_int_equal(roof_hardware_set(hardware, "sparse_tflops.fp8=6", NULL), ROOF_OK);
    assert_true(hardware->compute[P(FP8_E4M3)].sparse_flops_per_s == 6e12);
    assert_true(hardware->compute[P(FP8_E4M3)].peak_flops_per_s == 3e12);
    assert_int_equal(roof_hardware_set(hardware, "vector_tflops.fp32=5", NULL), ROOF_OK);
    assert_true(hardware->vector_flops_per_s == 5e12);
    assert_int_equal(roof_hardware_set(hardware, "peak_tflops.mxfp6=8", NULL), ROOF_OK);
    assert_true(hardware->compute[P(MXFP6_E3M2)].peak_flops_per_s == 8e12);
    assert_true(hardware->compute[P(MXFP6_E2M3)].peak_flops_per_s == 8e12);
    assert_non_null(strstr(hardware->peak[ROOF_PEAK_MATRIX][P(FP16)].source, "--set"));
    roof_hardware_free(original);
    roof_hardware_free(hardware);
}

static void test_set_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *assignment;
        const char *reason;
        const char *allowed;
    } cases[] = {
        /* form */
        {"", "KEY=VALUE", "bandwidth_gb_s=500"},
        {"bandwidth_gb_s", "KEY=VALUE", "peak_tflops.fp16=100"},
        {"bandwidth_gb_s 500", "KEY=VALUE", "bandwidth_gb_s 500"},
        {"a_key_that_is_longer_than_any_key_of_a_device_can_be_and_then_some_more=1", "KEY=VALUE",
         "bandwidth_gb_s=500"},
        /* keys */
        {"=5", "''", "bandwidth_gb_s"},
        {"bandwidth=5", "'bandwidth'", "did you mean bandwidth_gb_s?"},
        {"Peak=5", "'Peak'", "did you mean peak_tflops.FORMAT?"},
        {"peak_tflops=5", "'peak_tflops'", "peak_tflops.FORMAT"},
        {"peak.fp16=5", "'peak.fp16'", "peak_tflops.FORMAT"},
        {".fp16=5", "'.fp16'", "known: bandwidth_gb_s, "},
        {"id=x", "'id'", "known: bandwidth_gb_s, "},
        {" tdp_w=1", "' tdp_w'", "did you mean tdp_w"},
        /* formats */
        {"peak_tflops.fp15=5", "'fp15'", "did you mean fp16"},
        {"vector_tflops.=5", "''", "fp32"},
        {"peak_tflops.fp16.x=5", "'fp16.x'", "did you mean fp16?"},
        /* values */
        {"bandwidth_gb_s=", "bandwidth_gb_s", "0.001 to 1e+07"},
        {"bandwidth_gb_s=abc", "bandwidth_gb_s", "0.001 to 1e+07"},
        {"bandwidth_gb_s=0", "bandwidth_gb_s", "0.001 to 1e+07"},
        {"bandwidth_gb_s=-1", "bandwidth_gb_s", "0.001 to 1e+07"},
        {"bandwidth_gb_s=1.1e7", "bandwidth_gb_s", "0.001 to 1e+07"},
        {"bandwidth_gb_s=nan", "bandwidth_gb_s", "'nan'"},
        {"bandwidth_gb_s=inf", "bandwidth_gb_s", "'inf'"},
        {"bandwidth_gb_s=1e400", "bandwidth_gb_s", "'1e400'"},
        {"bandwidth_gb_s=0x10", "bandwidth_gb_s", "'0x10'"},
        {"bandwidth_gb_s=5 ", "bandwidth_gb_s", "'5 '"},
        {"bandwidth_gb_s= 5", "bandwidth_gb_s", "' 5'"},
        {"bandwidth_gb_s=500MB/s", "bandwidth_gb_s", "1e+07 GB/s, not '500MB/s'"},
        {"bandwidth_gb_s==5", "bandwidth_gb_s", "'=5'"},
        {"peak_tflops.fp16=0", "peak_tflops.fp16", "0.000001 to 1e+09"},
        {"peak_tflops.fp16=2e9", "peak_tflops.fp16", "0.000001 to 1e+09"},
        {"peak_tflops.fp8=x", "peak_tflops.fp8", "0.000001 to 1e+09"},
        {"devices_per_node=0", "devices_per_node", "from 1 to 16384"},
        {"devices_per_node=1.5", "devices_per_node", "integer"},
        {"sm_count=1e2", "sm_count", "integer"},
        {"sm_count=1000001", "sm_count", "from 1 to 1000000"},
    };
    struct roof_hardware *const hardware = load("gb10", NULL);
    struct roof_hardware *const original = load("gb10", NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        const enum roof_status status = roof_hardware_set(hardware, cases[i].assignment, &error);
        if (status != ROOF_USAGE || error.status != ROOF_USAGE ||
            strstr(error.message, cases[i].reason) == NULL ||
            strstr(error.message, cases[i].allowed) == NULL) {
            fail_msg("'%s': status %d '%s', expected '%s' '%s'", cases[i].assignment, (int)status,
                     error.message, cases[i].reason, cases[i].allowed);
        }
        assert_false(roof_hardware_differs(hardware, original)); /* nothing was changed */
        assert_int_equal(hardware->basis, ROOF_BASIS_DOCUMENTS);
        assert_int_equal(roof_hardware_set(hardware, cases[i].assignment, NULL), ROOF_USAGE);
    }
    roof_hardware_free(original);
    roof_hardware_free(hardware);
}

/* --- groups of devices --------------------------------------------------------------------- */

static void test_link(void **state)
{
    (void)state;
    static const struct {
        const char *figures;
        double devices;
        double gb_per_s;            /* ROOF_UNKNOWN: unknown */
        enum roof_figure_id figure; /* used, or missing */
    } cases[] = {
        /* inside a node, and across */
        {"\"devices_per_node\": 2, \"link_gb_s\": 10, \"network_gb_s\": 1", 1, 10,
         ROOF_FIGURE_LINK},
        {"\"devices_per_node\": 2, \"link_gb_s\": 10, \"network_gb_s\": 1", 2, 10,
         ROOF_FIGURE_LINK},
        {"\"devices_per_node\": 2, \"link_gb_s\": 10, \"network_gb_s\": 1", 3, 1,
         ROOF_FIGURE_NETWORK},
        {"\"devices_per_node\": 8, \"link_gb_s\": 450, \"network_gb_s\": 50", 8, 450,
         ROOF_FIGURE_LINK},
        {"\"devices_per_node\": 8, \"link_gb_s\": 450, \"network_gb_s\": 50", 1024, 50,
         ROOF_FIGURE_NETWORK},
        /* across nodes the slower one counts */
        {"\"devices_per_node\": 2, \"link_gb_s\": 10, \"network_gb_s\": 50", 4, 10,
         ROOF_FIGURE_LINK},
        /* nodes of one device: there is no link, all goes over the network */
        {"\"devices_per_node\": 1, \"network_gb_s\": 25", 2, 25, ROOF_FIGURE_NETWORK},
        /* the size of a node is unknown: inside */
        {"\"link_gb_s\": 10, \"network_gb_s\": 1", 64, 10, ROOF_FIGURE_LINK},
        {"\"link_gb_s\": 10", 64, 10, ROOF_FIGURE_LINK},
        /* without a switch: as many links as there are others */
        {"\"link_gb_s\": 448, \"peer_link_gb_s\": 64", 2, 64, ROOF_FIGURE_LINK},
        {"\"link_gb_s\": 448, \"peer_link_gb_s\": 64", 4, 192, ROOF_FIGURE_LINK},
        {"\"link_gb_s\": 448, \"peer_link_gb_s\": 64", 9, 448, ROOF_FIGURE_LINK},
        {"\"devices_per_node\": 8, \"link_gb_s\": 448, \"peer_link_gb_s\": 64, "
         "\"network_gb_s\": 50",
         16, 50, ROOF_FIGURE_NETWORK},
        /* a bridge joins two cards, the link all of them; the faster one counts */
        {"\"link_gb_s\": 63, \"bridge_gb_s\": 300, \"bridge_devices\": 2", 2, 300,
         ROOF_FIGURE_BRIDGE},
        {"\"link_gb_s\": 63, \"bridge_gb_s\": 300, \"bridge_devices\": 2", 3, 63, ROOF_FIGURE_LINK},
        {"\"link_gb_s\": 63, \"bridge_gb_s\": 300, \"bridge_devices\": 1", 2, 63, ROOF_FIGURE_LINK},
        {"\"link_gb_s\": 63, \"bridge_gb_s\": 20, \"bridge_devices\": 2", 2, 63, ROOF_FIGURE_LINK},
        {"\"bridge_gb_s\": 300, \"bridge_devices\": 2", 2, 300, ROOF_FIGURE_BRIDGE},
        {"\"devices_per_node\": 1, \"network_gb_s\": 25, \"bridge_gb_s\": 300, "
         "\"bridge_devices\": 2",
         2, 25, ROOF_FIGURE_NETWORK},
        /* unknown */
        {"\"bridge_gb_s\": 300, \"bridge_devices\": 2", 3, ROOF_UNKNOWN, ROOF_FIGURE_LINK},
        {"\"bridge_gb_s\": 300", 2, ROOF_UNKNOWN, ROOF_FIGURE_LINK},
        {"\"sm_count\": 1", 2, ROOF_UNKNOWN, ROOF_FIGURE_LINK},
        {"\"network_gb_s\": 1", 2, ROOF_UNKNOWN, ROOF_FIGURE_LINK},
        {"\"devices_per_node\": 2, \"network_gb_s\": 1", 2, ROOF_UNKNOWN, ROOF_FIGURE_LINK},
        {"\"devices_per_node\": 2, \"link_gb_s\": 10", 3, ROOF_UNKNOWN, ROOF_FIGURE_NETWORK},
        {"\"devices_per_node\": 1", 2, ROOF_UNKNOWN, ROOF_FIGURE_NETWORK},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, "{" BANDWIDTH ", " PEAK ", %s}", cases[i].figures);
        struct roof_hardware *const hardware = parse_device(text);
        struct roof_error error = {0};
        struct roof_link link = {.bytes_per_s = 42};
        const enum roof_status status =
            roof_hardware_link(&link, hardware, cases[i].devices, cases[i].devices, &error);
        if (isnan(cases[i].gb_per_s)) {
            const char *const key = roof_figure_key(cases[i].figure)->key;
            if (status != ROOF_USAGE || strstr(error.message, key) == NULL ||
                strstr(error.message, "with set ") == NULL) {
                fail_msg("{%s}: status %d '%s'", cases[i].figures, (int)status, error.message);
            }
            assert_true(link.bytes_per_s == 42);
            assert_int_equal(
                roof_hardware_link(&link, hardware, cases[i].devices, cases[i].devices, NULL),
                ROOF_USAGE);
        } else {
            if (status != ROOF_OK || link.bytes_per_s != cases[i].gb_per_s * 1e9) {
                fail_msg("{%s}: %g %s", cases[i].figures, link.bytes_per_s, error.message);
            }
            assert_ptr_equal(link.figure, &hardware->figure[cases[i].figure]);
        }
        roof_hardware_free(hardware);
    }
}

/* --- files and directories ----------------------------------------------------------------- */

/* Two search directories, one below the other, each with a folder for hardware. */
static const char *const folders[] = {"hardware", "second", "second/hardware"};

static int set_up(void **state)
{
    return make_folders(state, folders, COUNT(folders));
}

static int tear_down(void **state)
{
    static const char *const files[] = {"hardware/x.json",        "hardware/gb10.json",
                                        "hardware/.hidden.json",  "hardware/readme.txt",
                                        "second/hardware/x.json", "second/hardware/bad.json"};
    (void)remove_files(state, files, COUNT(files)); /* no test makes all of them */
    return remove_folders(state, folders, COUNT(folders));
}

static double bandwidth_of(const char *name, const char *const *directories)
{
    struct roof_hardware *const hardware = load(name, directories);
    const double bandwidth = hardware->figure[ROOF_FIGURE_BANDWIDTH].value;
    roof_hardware_free(hardware);
    return bandwidth / 1e9;
}

static void test_search_directories(void **state)
{
    const char *const base = *state;
    char second[PATH_SIZE];
    char missing[PATH_SIZE];
    path_in(second, state, "second");
    path_in(missing, state, "missing");
    write_in(state, "hardware/x.json", "{\"bandwidth_gb_s\": 11, " PEAK "}");
    write_in(state, "hardware/gb10.json",
             "{\"id\": \"gb10\", \"basis\": \"documents\", \"bandwidth_gb_s\": 12, " PEAK "}");
    write_in(state, "hardware/.hidden.json", "{\"bandwidth_gb_s\": 13, " PEAK "}");
    write_in(state, "hardware/readme.txt", "not a device");
    write_in(state, "second/hardware/x.json", "{\"bandwidth_gb_s\": 14, " PEAK "}");
    write_in(state, "second/hardware/bad.json", "{\n\"bandwidth_gb_s\": 0, " PEAK "}");
    const char *const one[] = {base, NULL};
    const char *const both[] = {second, missing, base, NULL};
    const char *const none[] = {NULL};
    assert_true(bandwidth_of("x", one) == 11);
    assert_true(bandwidth_of("x", both) == 14);   /* the first directory wins */
    assert_true(bandwidth_of("gb10", one) == 12); /* and wins over the embedded ones */
    assert_true(bandwidth_of("gb10", both) == 12);
    assert_true(bandwidth_of("gb10", none) == 287);
    assert_true(bandwidth_of("gb10", NULL) == 287);
    assert_true(bandwidth_of("b10", one) == 287); /* the alias is the embedded device's */
    assert_true(bandwidth_of("h100", both) == 3350);
    /* a file is a user's, whatever it says */
    struct roof_hardware *const hardware = load("gb10", one);
    assert_int_equal(hardware->basis, ROOF_BASIS_USER);
    assert_string_equal(hardware->id, "gb10");
    roof_hardware_free(hardware);
    /* the ids: x once, gb10 once, no hidden file, nothing but .json */
    size_t embedded = 0;
    size_t count = 0;
    struct roof_text ids = all_ids(&embedded, none);
    assert_false(has_id(&ids, embedded, "x"));
    roof_text_free(&ids);
    ids = all_ids(&count, both);
    assert_int_equal(count, embedded + 2); /* bad and x */
    assert_true(has_id(&ids, count, "x"));
    assert_true(has_id(&ids, count, "bad"));
    assert_true(has_id(&ids, count, "gb10"));
    roof_text_free(&ids);
    /* a broken file is named with the place of the mistake; nothing else is tried */
    char path[PATH_SIZE];
    struct roof_hardware *broken = NULL;
    struct roof_error error = {0};
    path_in(path, state, "second/hardware/bad.json");
    assert_int_equal(roof_hardware_load(&broken, "bad", both, &error), ROOF_INVALID);
    assert_string_equal(error.source, path);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 19);
    assert_null(broken);
}

static void test_unknown_names_list_the_directories(void **state)
{
    const char *const base = *state;
    write_in(state, "hardware/x.json", "{" BANDWIDTH ", " PEAK "}");
    const char *const one[] = {base, NULL};
    struct roof_hardware *unknown = NULL;
    struct roof_error error = {0};
    assert_int_equal(roof_hardware_load(&unknown, "y", one, &error), ROOF_USAGE);
    assert_null(unknown);
    assert_non_null(strstr(error.message, "known: a10, a100, "));
    assert_int_equal(roof_hardware_load(&unknown, "y", one, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, " and 86 more")); /* 88 are built in */
}

static void test_load_a_path(void **state)
{
    char path[PATH_SIZE];
    write_in(state, "hardware/x.json",
             "{\"basis\": \"published\", \"bandwidth_gb_s\": 11, " PEAK "}");
    path_in(path, state, "hardware/x.json");
    struct roof_hardware *hardware = load(path, NULL);
    assert_string_equal(hardware->id, "x");
    assert_int_equal(hardware->basis, ROOF_BASIS_USER);
    assert_true(hardware->figure[ROOF_FIGURE_BANDWIDTH].value == 11e9);
    roof_hardware_free(hardware);
    /* names that hold '/' or end with .json are paths, and never ids */
    static const char *const paths[] = {"gb10.json", "./gb10", "hardware/gb10", "/", "no/x.json"};
    for (size_t i = 0; i < COUNT(paths); i++) {
        struct roof_error error = {0};
        hardware = (struct roof_hardware *)(void *)&hardware;
        assert_int_equal(roof_hardware_load(&hardware, paths[i], NULL, &error), ROOF_IO);
        assert_null(hardware);
        assert_string_equal(error.source, paths[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_every_device_loads_by_each_name),
        cmocka_unit_test(test_every_figure_has_a_source),
        cmocka_unit_test(test_citations_are_known_and_used),
        cmocka_unit_test(test_unknown_devices),
        cmocka_unit_test(test_figures_as_specified),
        cmocka_unit_test(test_peaks_as_specified),
        cmocka_unit_test(test_missing_units_fall_back),
        cmocka_unit_test(test_every_device_is_plausible),
        cmocka_unit_test(test_rates_per_clock),
        cmocka_unit_test(test_smallest_device),
        cmocka_unit_test(test_all_keys),
        cmocka_unit_test(test_units_of_keys),
        cmocka_unit_test(test_name_by_file),
        cmocka_unit_test(test_names_of_enums),
        cmocka_unit_test(test_keys_for_groups_of_formats),
        cmocka_unit_test(test_upper_case_keys_for_groups),
        cmocka_unit_test(test_basis_in_the_text),
        cmocka_unit_test(test_invalid_devices),
        cmocka_unit_test(test_every_beginning_of_a_file),
        cmocka_unit_test(test_computes_with_which_unit),
        cmocka_unit_test(test_sparse_peaks),
        cmocka_unit_test(test_vector_peak),
        cmocka_unit_test(test_set_a_figure),
        cmocka_unit_test(test_set_a_peak),
        cmocka_unit_test(test_set_refuses),
        cmocka_unit_test(test_link),
        cmocka_unit_test_setup_teardown(test_search_directories, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_names_list_the_directories, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_load_a_path, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
