// SPDX-License-Identifier: MIT
#include "support.h"

#include <stdio.h>

#include "catalog/data.h"
#include "catalog/schema.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The type of a path; "": there is no such key. */
static const char *type_of(const struct roof_schema *schema, const char *path)
{
    struct roof_schema_node node = roof_schema_root(schema);
    char part[64];
    while (*path != '\0') {
        const size_t length = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        path += path[length] == '\0' ? length : length + 1;
        node = strcmp(part, "*") == 0 ? roof_schema_items(schema, node)
                                      : roof_schema_member(schema, node, part);
    }
    return roof_schema_type(schema, node);
}

static void test_paths(void **state)
{
    (void)state;
    static const struct {
        const char *schema;
        const char *path;
        const char *type;
    } cases[] = {
        {"prediction", "", "object"},
        {"prediction", "schema", "string"},
        {"prediction", "time_us", "number"}, /* by a reference in the file */
        {"prediction", "native", "boolean"},
        {"prediction", "parts", "array"},
        {"prediction", "parts.*", "object"},
        {"prediction", "parts.*.flops", "number"},
        {"prediction", "tiling.waves", "number"},
        {"prediction", "tiling.wave", ""},
        {"prediction", "time_us.x", ""},
        {"prediction", "time_us.*", ""},
        {"prediction", "properties", ""},
        {"model-prediction", "operators.*.time_us", "number"}, /* and of another file */
        {"model-prediction", "operators.*.count", "number"},
        {"model-prediction", "operators.*.hardware", ""},
        {"recommendation", "candidates.*.rank", "integer"},
        {"recommendation", "why.speedup", "number"},
        {"plans", "closest.rank", "integer"},
        {"plans", "why.prefill.operators.*.count", "number"}, /* a whole file */
        {"plan-speedup", "decode.name", "string"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_schema *schema = NULL;
        assert_int_equal(roof_schema_open(&schema, cases[i].schema, NULL), ROOF_OK);
        if (strcmp(type_of(schema, cases[i].path), cases[i].type) != 0) {
            fail_msg("%s, %s: %s", cases[i].schema, cases[i].path, type_of(schema, cases[i].path));
        }
        roof_schema_free(schema);
    }
}

static void test_keys(void **state)
{
    (void)state;
    struct roof_schema *schema = NULL;
    const char *keys[200];
    assert_int_equal(roof_schema_open(&schema, "model-prediction", NULL), ROOF_OK);
    const struct roof_schema_node operators =
        roof_schema_member(schema, roof_schema_root(schema), "operators");
    const struct roof_schema_node node = roof_schema_items(schema, operators);
    const size_t count = roof_schema_keys(schema, node, keys, COUNT(keys));
    assert_true(count > 40 && count < COUNT(keys));
    assert_string_equal(keys[0], "name"); /* its own first, then those it refers to */
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found = found || strcmp(keys[i], "time_us") == 0;
    }
    assert_true(found);
    assert_int_equal(roof_schema_keys(schema, node, keys, 3), 3);
    assert_int_equal(roof_schema_keys(schema, operators, keys, COUNT(keys)), 0);
    roof_schema_free(schema);
    roof_schema_free(NULL);
}

/* Every schema, and all that it refers to, can be opened. */
static void test_all_open(void **state)
{
    (void)state;
    size_t count = 0;
    for (size_t f = 0; f < roof_data_file_count; f++) {
        char name[64];
        struct roof_schema *schema = NULL;
        struct roof_error error = {0};
        if (sscanf(roof_data_files[f].path, "schema/%63[^.].json", name) != 1) {
            continue;
        }
        if (roof_schema_open(&schema, name, &error) != ROOF_OK) {
            fail_msg("%s: %s", name, error.message);
        }
        assert_string_equal(type_of(schema, ""), "object");
        roof_schema_free(schema);
        count++;
    }
    assert_true(count > 20);
    struct roof_schema *schema = NULL;
    assert_int_equal(roof_schema_open(&schema, "nothing", NULL), ROOF_INVALID);
    assert_null(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_all_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
