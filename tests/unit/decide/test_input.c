// SPDX-License-Identifier: MIT
/* Inputs: the table that options, axes and columns come from, and values from text. */
#include "support.h"

#include <ctype.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The input of a long option. */
static const struct roof_input *option(const char *name)
{
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
        if (strcmp(roof_input(id)->option, name) == 0) {
            return roof_input(id);
        }
    }
    fail_msg("no option --%s", name);
    return NULL;
}

/* --- the table ----------------------------------------------------------------------------- */

static bool is_name(const char *text, char joint)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != joint) {
            return false;
        }
    }
    return islower((unsigned char)*text) != 0;
}

static void test_rows(void **unused)
{
    (void)unused;
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
        const struct roof_input *const input = roof_input(id);
        assert_non_null(input);
        assert_non_null(input->option);
        assert_non_null(input->help);
        assert_true(is_name(input->option, '-'));
        assert_true(strlen(input->help) >= 8);
        assert_null(strchr(input->help, '\n'));
        assert_true(strlen(input->help) < 100);
        assert_true(input->key == NULL || is_name(input->key, '_'));
        assert_true(input->letter == 0 || isalpha((unsigned char)input->letter));
        assert_true(input->min <= input->max);
        /* A flag has no value; all others show one in help. */
        assert_int_equal(input->kind == ROOF_INPUT_FLAG, input->value == NULL);
        if (input->kind == ROOF_INPUT_FLAG) {
            assert_true(input->min == 0 && input->max == 1);
        }
        if (input->kind == ROOF_INPUT_CHOICE) {
            int64_t count = 0;
            while (input->choices[count] != NULL) {
                count++;
            }
            assert_true(input->min == 0 && input->max == count - 1);
        }
        if (input->kind == ROOF_INPUT_INTEGER) {
            assert_true(input->max > 1);
        }
        for (size_t other = 0; other < id; other++) {
            const struct roof_input *const earlier = roof_input(other);
            /* An option may have two rows, for different commands. */
            for (unsigned command = 1; command <= ROOF_COMMAND_SERVE; command *= 2) {
                if (roof_input_allowed(id, (enum roof_command)command) &&
                    roof_input_allowed(other, (enum roof_command)command)) {
                    assert_string_not_equal(input->option, earlier->option);
                    assert_true(input->letter == 0 || input->letter != earlier->letter);
                }
            }
            assert_true(input->key == NULL || earlier->key == NULL ||
                        strcmp(input->key, earlier->key) != 0);
        }
    }
}

/* Dimensions stand first, under their own numbers; the key is the option with '_' for '-'. */
static void test_dimensions(void **unused)
{
    (void)unused;
    for (size_t id = 0; id < ROOF_DIM_COUNT; id++) {
        const struct roof_input *const input = roof_input(id);
        assert_ptr_equal(input, &roof_dimensions[id]);
        char key[40];
        snprintf(key, sizeof key, "%s", input->option);
        for (char *p = strchr(key, '-'); p != NULL; p = strchr(p, '-')) {
            *p = '_';
        }
        assert_non_null(input->key);
        assert_string_equal(input->key, key);
        assert_false(input->many);
    }
    assert_ptr_equal(roof_input(ROOF_DIM_KV_LEN), option("kv-len"));
    assert_ptr_equal(roof_input(ROOF_INPUT_WEIGHTS), option("weights"));
    assert_ptr_equal(roof_input(ROOF_INPUT_OUTPUT), option("output"));
}

/* The options that scripts rely on, and their letters. */
static void test_promised_options(void **unused)
{
    (void)unused;
    static const struct {
        const char *option;
        char letter;
    } cases[] = {{"hardware", 'H'}, {"precision", 'p'}, {"weights", 'w'}, {"activations", 'a'},
                 {"kv", 0},         {"out", 0},         {"compute", 0},   {"format", 'f'},
                 {"output", 'o'},   {"columns", 0},     {"why", 0},       {"set", 0},
                 {"sparse", 0},     {"m", 'm'},         {"n", 'n'},       {"k", 'k'},
                 {"batch", 0},      {"formats", 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(option(cases[i].option)->letter, cases[i].letter);
    }
    assert_true(option("set")->many);
}

static void test_names(void **unused)
{
    (void)unused;
    char name[ROOF_INPUT_NAME_SIZE];
    assert_string_equal(roof_input_name(name, option("m")), "-m");
    assert_string_equal(roof_input_name(name, option("kv-len")), "--kv-len");
    assert_string_equal(roof_input_name(name, option("hardware")), "-H");
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
        const struct roof_input *const input = roof_input(id);
        roof_input_name(name, input);
        assert_true(strlen(name) < sizeof name);
        if (input->letter == 0) { /* in full */
            assert_string_equal(name + 2, input->option);
        }
    }
}

static void test_commands(void **unused)
{
    (void)unused;
    static const struct {
        const char *option;
        unsigned commands;
    } cases[] = {
#define PREDICT ROOF_COMMAND_PREDICT
#define SWEEP ROOF_COMMAND_SWEEP
#define RECOMMEND ROOF_COMMAND_RECOMMEND
#define LIST ROOF_COMMAND_LIST
#define COMPARE ROOF_COMMAND_COMPARE
#define PLOT ROOF_COMMAND_PLOT
#define CHECK ROOF_COMMAND_CHECK
#define SIMULATE ROOF_COMMAND_SIMULATE
        {"m", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT},
        {"kv-len", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT},
        {"hardware", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT | SIMULATE},
        {"precision",
         PREDICT | SWEEP | COMPARE | PLOT | SIMULATE}, /* what recommend is asked for */
        {"weights", PREDICT | SWEEP | COMPARE | PLOT | SIMULATE},
        {"activations", PREDICT | SWEEP | COMPARE | PLOT | SIMULATE},
        {"compute", PREDICT | SWEEP | COMPARE | PLOT | SIMULATE},
        {"kv", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT | SIMULATE},
        {"out", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT | SIMULATE},
        {"sparse", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT | SIMULATE},
        {"stack", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT | SIMULATE},
        {"cache", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT},
        {"quantize-input", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT},
        {"working-set", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT},
        {"no-launch-overhead", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT},
        {"calibration", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT | SIMULATE},
        {"tiling", PREDICT},
        {"by", RECOMMEND | SIMULATE},
        {"summary", COMPARE},
        {"group-by", COMPARE},
        {"measured", PREDICT | PLOT},
        {"why", PREDICT},
        {"formats", RECOMMEND},
        {"objective", RECOMMEND},
        {"max-accuracy-loss", RECOMMEND},
        {"native-only", RECOMMEND},
        {"format", PREDICT | SWEEP | RECOMMEND | LIST | COMPARE | PLOT | CHECK | SIMULATE},
        {"columns", PREDICT | SWEEP | RECOMMEND | LIST | COMPARE | SIMULATE},
        {"ceilings", PLOT},
        {"attainable", PLOT},
        {"size", SWEEP | RECOMMEND | PLOT | SIMULATE},
        {"chart", PLOT | SIMULATE},
        {"output", PREDICT | SWEEP | RECOMMEND | LIST | COMPARE | PLOT | CHECK | SIMULATE},
        {"ep", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT | SIMULATE},
        {"tp", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT | SIMULATE},
        {"draft-tokens", PREDICT | SWEEP | RECOMMEND | COMPARE | PLOT | SIMULATE},
        {"rate", RECOMMEND | SIMULATE},
        {"max-ttft", RECOMMEND | SIMULATE},
        {"max-cost", RECOMMEND},
        {"update", CHECK},
    };
    static const enum roof_command commands[] = {PREDICT, SWEEP, RECOMMEND, LIST,
                                                 COMPARE, PLOT,  CHECK,     SIMULATE};
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
            if (roof_input(id) != option(cases[i].option)) {
                continue;
            }
            for (size_t c = 0; c < COUNT(commands); c++) {
                if (roof_input_allowed(id, commands[c]) !=
                    ((cases[i].commands & (unsigned)commands[c]) != 0)) {
                    fail_msg("--%s and command %u", cases[i].option, (unsigned)commands[c]);
                }
            }
        }
    }
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) { /* some command takes each input */
        assert_true(roof_input_allowed(id, PREDICT) || roof_input_allowed(id, SWEEP) ||
                    roof_input_allowed(id, RECOMMEND) || roof_input_allowed(id, LIST) ||
                    roof_input_allowed(id, COMPARE) || roof_input_allowed(id, PLOT) ||
                    roof_input_allowed(id, CHECK) || roof_input_allowed(id, SIMULATE) ||
                    roof_input_allowed(id, ROOF_COMMAND_MEASURE) ||
                    roof_input_allowed(id, ROOF_COMMAND_MONITOR) ||
                    roof_input_allowed(id, ROOF_COMMAND_PAGE) ||
                    roof_input_allowed(id, ROOF_COMMAND_SERVE));
        assert_true(id >= ROOF_DIM_COUNT || !roof_input_allowed(id, LIST));
    }
}

/* The defaults that the help names are those of the library. */
static void test_help_is_true(void **unused)
{
    (void)unused;
    struct roof_hardware *hardware = NULL;
    assert_int_equal(roof_hardware_load(&hardware, ROOF_DEFAULT_HARDWARE, NULL, NULL), ROOF_OK);
    assert_non_null(strstr(option("hardware")->help, hardware->id));
    roof_hardware_free(hardware);

    char list[200] = "";
    size_t used = 0;
    size_t count = 0;
    const enum roof_precision *const defaults = roof_recommend_defaults(&count);
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ",",
                                 roof_format(defaults[i])->name);
        assert_true(used < sizeof list);
    }
    assert_non_null(strstr(option("formats")->help, list));

    for (int i = 0; i < ROOF_ACCURACY_CLASS_COUNT; i++) {
        assert_non_null(strstr(option("max-accuracy-loss")->help,
                               roof_accuracy_name((enum roof_accuracy_class)i)));
    }
    assert_true(roof_input(ROOF_INPUT_FORMAT) == option("format"));
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) { /* only these are no keys of questions */
        const bool own = i == ROOF_INPUT_FORMAT || i == ROOF_INPUT_OUTPUT ||
                         i == ROOF_INPUT_RESUME || i == ROOF_INPUT_BY_PHASE ||
                         (i >= ROOF_INPUT_LISTEN && i <= ROOF_INPUT_MAX_CONNECTIONS);
        assert_int_equal(roof_input(i)->own, own);
    }
}

/* --- one value ----------------------------------------------------------------------------- */

static void test_parse(void **unused)
{
    (void)unused;
    static const struct {
        const char *option;
        const char *text;
        int64_t value;
    } cases[] = {
        {"m", "1", 1},
        {"m", "4096", 4096},
        {"m", "4Ki", 4096},
        {"m", "1k", 1000},
        {"m", "2Mi", 2097152},
        {"m", "1000000000000", 1000000000000},
        {"kv-len", "128Ki", 131072},
        {"window", "0", 0}, /* 0 is all keys */
        {"causal", "0", 0},
        {"causal", "1", 1},
        {"sparse", "1", 1},
        {"routing", "uniform", ROOF_ROUTING_UNIFORM},
        {"routing", "balanced", ROOF_ROUTING_BALANCED},
        {"algorithm", "ring", ROOF_ALGORITHM_RING},
        {"algorithm", "one-shot", ROOF_ALGORITHM_ONE_SHOT},
        {"objective", "balanced", ROOF_OBJECTIVE_BALANCED},
        {"objective", "time", ROOF_OBJECTIVE_TIME},
        {"weights", "fp16", ROOF_PRECISION_FP16},
        {"weights", "fp8", ROOF_PRECISION_FP8_E4M3},
        {"activations", "NVFP4", ROOF_PRECISION_NVFP4},
        {"kv", "mxfp8", ROOF_PRECISION_MXFP8_E4M3},
        {"precision", "awq", ROOF_PRECISION_INT4_G128_ZP},
        {"compute", "tf32", ROOF_PRECISION_TF32},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t value = -7;
        struct roof_error error = {0};
        const enum roof_status status =
            roof_input_parse(&value, option(cases[i].option), cases[i].text, &error);
        if (status != ROOF_OK || value != cases[i].value) {
            fail_msg("--%s %s: %s", cases[i].option, cases[i].text, error.message);
        }
    }
}

/* ROOF_USAGE, and a message that says what is wrong and what is allowed. */
static void test_parse_errors(void **unused)
{
    (void)unused;
    static const struct {
        const char *option;
        const char *text;
        const char *first, *second;
    } cases[] = {
        {"m", "0", "m must be", "from 1 to 1000000000000"},
        {"m", "-1", "m must be", "'-1'"},
        {"m", "1000000000001", "m must be", "1000000000000"},
        {"m", "", "m must be", "integer"},
        {"m", "1.5", "m must be", "'1.5'"},
        {"m", "4096x", "m must be", "'4096x'"},
        {"m", "4 096", "m must be", "Ki"},
        {"m", "99999999999999999999", "m must be", "integer"},
        {"kv-len", "0", "kv_len must be", "from 1"},
        {"window", "-1", "window must be", "from 0"},
        {"causal", "2", "causal must be", "from 0 to 1"},
        {"causal", "yes", "causal must be", "\'yes'"},
        {"routing", "unifrom", "unknown routing 'unifrom'", "known: uniform, balanced"},
        {"algorithm", "", "unknown algorithm ''", "ring"},
        {"weights", "fp15", "unknown precision 'fp15'", "did you mean fp16"},
        {"weights", "", "unknown precision ''", "known: fp64"},
        {"hardware", "gb10", "hardware has", "no single value"},
        {"set", "a=1", "set has", "no single value"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t value = 0;
        struct roof_error error = {0};
        const enum roof_status status =
            roof_input_parse(&value, option(cases[i].option), cases[i].text, &error);
        if (status != ROOF_USAGE || error.status != ROOF_USAGE ||
            strstr(error.message, cases[i].first) == NULL ||
            strstr(error.message, cases[i].second) == NULL) {
            fail_msg("--%s '%s': status %d, '%s'", cases[i].option, cases[i].text, (int)status,
                     error.message);
        }
        assert_int_equal(roof_input_parse(&value, option(cases[i].option), cases[i].text, NULL),
                         ROOF_USAGE);
    }
}

/* --- lists --------------------------------------------------------------------------------- */

static void test_lists(void **unused)
{
    (void)unused;
    static const struct {
        const char *option;
        const char *text;
        int64_t values[8];
        int64_t count;
    } cases[] = {
        {"m", "7", {7}, 1},
        {"m", "1,8,64", {1, 8, 64}, 3},
        {"m", "8,1,8", {8, 1, 8}, 3}, /* as written */
        {"m", "1:16:x2", {1, 2, 4, 8, 16}, 5},
        {"m", "1:10:3", {1, 4, 7, 10}, 4},
        {"m", "2:4", {2, 3, 4}, 3},
        {"m", "1,2:8:x2,1Ki", {1, 2, 4, 8, 1024}, 5},
        {"window", "0,128", {0, 128}, 2},
        {"causal", "0,1", {0, 1}, 2},
        {"routing", "balanced,uniform", {1, 0}, 2},
        {"weights", "fp16", {ROOF_PRECISION_FP16}, 1},
        {"weights",
         "fp8,nvfp4,FP16",
         {ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_NVFP4, ROOF_PRECISION_FP16},
         3},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_values values = {0};
        struct roof_error error = {0};
        if (roof_input_parse_list(&values, option(cases[i].option), cases[i].text, &error) !=
                ROOF_OK ||
            values.count != cases[i].count) {
            fail_msg("--%s %s: %d values, %s", cases[i].option, cases[i].text, (int)values.count,
                     error.message);
        }
        for (int64_t v = 0; v < values.count; v++) {
            assert_int_equal(roof_values_at(&values, v), cases[i].values[v]);
        }
        roof_values_free(&values);
    }
}

static void test_list_errors(void **unused)
{
    (void)unused;
    static const struct {
        const char *option;
        const char *text;
        const char *first, *second;
    } cases[] = {
        {"m", "", "m: ", "empty element"},
        {"m", "1,,2", "m: ", "empty element"},
        {"m", "1,2,", "m: ", "empty element"},
        {"m", "1,0", "m must be", "from 1"},
        {"m", "8:1", "m: ", "reversed"},
        {"m", "1:8:x1", "m: ", "factor"},
        {"m", "1:8:0", "m: ", "step"},
        {"kv-len", "1:x", "kv_len", "'x'"},
        {"weights", "", "weights: ", "empty element"},
        {"weights", "fp16,", "weights: ", "empty element"},
        {"weights", ",fp16", "weights: ", "empty element"},
        {"kv", "fp16,,fp8", "kv: ", "empty element"},
        {"weights", "fp16,fp7", "unknown precision 'fp7'", "fp8"},
        {"weights", "1:8:x2", "unknown precision", "known: fp64"}, /* only numbers have ranges */
        {"routing", "uniform,odd", "unknown routing 'odd'", "balanced"},
        {"hardware", "gb10", "hardware has", "no single value"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_values values = {.count = 5};
        struct roof_error error = {0};
        const enum roof_status status =
            roof_input_parse_list(&values, option(cases[i].option), cases[i].text, &error);
        if (status != ROOF_USAGE || strstr(error.message, cases[i].first) == NULL ||
            strstr(error.message, cases[i].second) == NULL) {
            fail_msg("--%s '%s': status %d, '%s'", cases[i].option, cases[i].text, (int)status,
                     error.message);
        }
        assert_true(values.run == NULL && values.count == 0); /* nothing to free */
    }
}

/* --- values in a workload ------------------------------------------------------------------ */

/* Tells if a row has the offset of its value in a workload. */
static bool has_place(size_t id)
{
    return id < ROOF_DIM_COUNT || roof_input(id)->kind == ROOF_INPUT_PRECISION ||
           id == ROOF_INPUT_SPARSE;
}

/* Each input has a place of its own: writing one changes no other. */
static void test_places(void **unused)
{
    (void)unused;
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
        if (!has_place(id)) {
            continue;
        }
        struct roof_workload w = ROOF_WORKLOAD_INIT;
        w.op = ROOF_OPERATOR_MOE;
        roof_input_put(&w, roof_input(id), 17);
        for (size_t other = 0; other < ROOF_INPUT_COUNT; other++) {
            if (has_place(other)) {
                const int64_t empty =
                    roof_input(other)->kind == ROOF_INPUT_PRECISION ? ROOF_PRECISION_AUTO : 0;
                assert_int_equal(roof_input_get(&w, roof_input(other)), other == id ? 17 : empty);
            }
        }
        assert_int_equal(w.op, ROOF_OPERATOR_MOE);
    }
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    roof_input_put(&w, option("kv-len"), 1000000000000);
    roof_input_put(&w, option("weights"), ROOF_PRECISION_INT4);
    roof_input_put(&w, option("precision"), ROOF_PRECISION_BF16);
    assert_int_equal(w.shape.kv_len, 1000000000000);
    assert_int_equal(w.formats.weights, ROOF_PRECISION_INT4);
    assert_int_equal(w.formats.precision, ROOF_PRECISION_BF16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_promised_options),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_help_is_true),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_errors),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_list_errors),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
