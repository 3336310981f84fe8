// SPDX-License-Identifier: MIT
/* Named documents: embedded ones by id and alias, a user's by path or from search directories. */
#include "files.h"

#include <stdio.h>

#include "catalog/data.h"
#include "catalog/registry.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct roof_registry models = {.folder = "models", .noun = "model"};
static const struct roof_registry devices = {.folder = "hardware", .noun = "device"};
static const struct roof_registry layouts = {.folder = "layouts", .noun = "layout"};

static void test_paths(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool path;
    } cases[] = {{"gb10", false},      {"qwen2.5-7b", false}, {"a/b", true},   {"/a", true},
                 {"./gb10", true},     {"a/", true},          {"/", true},     {"x.json", true},
                 {".json", false},     {"x.JSON", false},     {"json", false}, {"", false},
                 {"x.json.gz", false}, {"x.jsonl", false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (roof_registry_path(cases[i].name) != cases[i].path) {
            fail_msg("'%s' taken wrongly", cases[i].name);
        }
    }
}

/* The program takes its own files as they are. */
static void test_own_files(void **state)
{
    (void)state;
    size_t parsed = 0;
    for (size_t i = 0; i < roof_data_file_count; i++) {
        const struct roof_data_file *const file = &roof_data_files[i];
        struct roof_json *json = NULL;
        struct roof_error error = {0};
        if (strncmp(file->path, "kernels/", 8) == 0) { /* PTX */
            continue;
        }
        if (roof_json_parse(&json, file->text, file->length, file->path, &error) != ROOF_OK) {
            fail_msg("%s:%d: %s", file->path, error.line, error.message);
        }
        roof_json_free(json);
        parsed++;
    }
    assert_true(parsed > 150);
}

static void test_ids_of_sources(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        const char *id; /* NULL: of no embedded file */
    } cases[] = {{"hardware/gb10.json", "gb10"},
                 {"models/qwen2.5-7b.json", "qwen2.5-7b"},
                 {"layouts/q4_k_m.json", "q4_k_m"},
                 {"gb10.json", NULL},
                 {"a/b/gb10.json", NULL},
                 {"/models/gb10.json", NULL},
                 {"models/gb10", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t length = 0;
        const char *const id = roof_registry_id(cases[i].source, &length);
        if ((id == NULL) != (cases[i].id == NULL)) {
            fail_msg("%s", cases[i].source);
        }
        if (id != NULL && cases[i].id != NULL) {
            assert_int_equal(length, strlen(cases[i].id));
            assert_memory_equal(id, cases[i].id, length);
        }
    }
}

/* Opens a document; the id of its file, or NULL when it is refused. */
static const char *opened(const struct roof_registry *registry, const char *name,
                          const char *const *directories, bool *user)
{
    static char source[512];
    struct roof_json *json = (struct roof_json *)&json;
    struct roof_error error = {0};
    if (roof_registry_open(&json, user, registry, name, directories, &error) != ROOF_OK) {
        assert_null(json);
        assert_int_not_equal(error.status, ROOF_OK);
        return NULL;
    }
    snprintf(source, sizeof source, "%s", roof_json_source(json));
    roof_json_free(json);
    return source;
}

/* Each kind has names of its own; aliases stand at the top or in "roofline". */
static void test_embedded(void **state)
{
    (void)state;
    static const struct {
        const struct roof_registry *registry;
        const char *name;
        const char *source;
    } cases[] = {
        {&models, "llama-3-8b", "models/llama-3-8b.json"},
        {&models, "Llama-3-8B", "models/llama-3-8b.json"},
        {&models, "gpt2", "models/gpt-2.json"}, /* an alias */
        {&models, "GPT2", "models/gpt-2.json"},
        {&models, "mistral-7b", "models/mistral-7b-v0.3.json"},
        {&devices, "gb10", "hardware/gb10.json"},
        {&devices, "GB10", "hardware/gb10.json"},
        {&layouts, "q4_k_m", "layouts/q4_k_m.json"},
        {&layouts, "Q4_K_M", "layouts/q4_k_m.json"},
        /* Names of other kinds, other strings of the files, and parts of names. */
        {&models, "gb10", NULL},
        {&devices, "llama-3-8b", NULL},
        {&layouts, "gb10", NULL},
        {&models, "llama-3-8", NULL},
        {&models, "llama-3-8b ", NULL},
        {&models, "LlamaForCausalLM", NULL},
        {&models, "high", NULL},
        {&models, "aliases", NULL},
        {&models, "", NULL},
        {&models, "\"", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool user = true;
        const char *const source = opened(cases[i].registry, cases[i].name, NULL, &user);
        if (cases[i].source == NULL) {
            assert_null(source);
        } else {
            assert_non_null(source);
            assert_string_equal(source, cases[i].source);
        }
        assert_false(user);
    }
}

static void test_unknown(void **state)
{
    (void)state;
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    bool user = true;
    assert_int_equal(roof_registry_open(&json, &user, &layouts, "q4_k_x", NULL, &error),
                     ROOF_USAGE);
    static const char begins[] = "unknown layout 'q4_k_x'; did you mean ";
    assert_memory_equal(error.message, begins, strlen(begins));
    assert_int_equal(roof_registry_open(&json, &user, &layouts, "q4_k_x", NULL, NULL), ROOF_USAGE);
    assert_null(json);
}

/* Every embedded file has an id of its kind, and only those. */
static void test_embedded_ids(void **state)
{
    (void)state;
    static const struct roof_registry calibrations = {.folder = "calibration",
                                                      .noun = "calibration"};
    static const struct roof_registry *const kinds[] = {&models, &devices, &layouts, &calibrations};
    size_t all = 0;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct roof_text ids = ROOF_TEXT_INIT;
        size_t count = 0;
        assert_int_equal(roof_registry_ids(&ids, &count, kinds[k], NULL, NULL), ROOF_OK);
        const char *id = ids.data;
        const char *before = "";
        for (size_t i = 0; i < count; i++) {
            char path[256];
            bool found = false;
            assert_true(strcmp(before, id) < 0);
            snprintf(path, sizeof path, "%s/%s.json", kinds[k]->folder, id);
            for (size_t f = 0; f < roof_data_file_count; f++) {
                found = found || strcmp(roof_data_files[f].path, path) == 0;
            }
            assert_true(found);
            before = id;
            id += strlen(id) + 1;
        }
        all += count;
        roof_text_free(&ids);
    }
    size_t files = 0;
    for (size_t f = 0; f < roof_data_file_count; f++) {
        /* The table of engines is read as a whole; schemas and kernels are no registry. */
        const char *const path = roof_data_files[f].path;
        files += strchr(path, '/') != NULL && strncmp(path, "engines/", 8) != 0 &&
                 strncmp(path, "schema/", 7) != 0 && strncmp(path, "kernels/", 8) != 0;
    }
    assert_int_equal(all, files);
    /* A kind without any file. */
    static const struct roof_registry none = {.folder = "model", .noun = "thing"};
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 7;
    assert_int_equal(roof_registry_ids(&ids, &count, &none, NULL, NULL), ROOF_OK);
    assert_int_equal(count, 0);
    roof_text_free(&ids);
    struct roof_json *json = NULL;
    bool user = false;
    assert_int_equal(roof_registry_open(&json, &user, &none, "gb10", NULL, NULL), ROOF_USAGE);
}

/* --- files --------------------------------------------------------------------------------- */

static const char *const files[] = {
    "one/models/a.json",  "one/models/B.json", "one/models/gpt-2.json", "one/models/note.txt",
    "one/models/.c.json", "two/models/a.json", "two/models/bad.json",   "plain.json"};
static const char *const folders[] = {"one", "one/models", "two", "two/models", "three"};

static const char *base;

static const char *below(const char *name)
{
    static char path[64][512]; /* more than a test asks for */
    static int next;
    next = (next + 1) % 64;
    snprintf(path[next], sizeof path[next], "%s/%s", base, name);
    return path[next];
}

static int set_up(void **state)
{
    const int status = make_folders(state, folders, COUNT(folders));
    base = *state;
    for (size_t i = 0; i < COUNT(files) && status == 0; i++) {
        const bool bad = strstr(files[i], "bad") != NULL;
        write_in(state, files[i], bad ? "{\n x}" : "{\"aliases\": [\"second\"]}");
    }
    return status;
}

static int tear_down(void **state)
{
    return remove_files(state, files, COUNT(files)) |
           remove_folders(state, folders, COUNT(folders));
}

static void test_directories(void **state)
{
    (void)state;
    const char *const none[] = {NULL};
    const char *const both[] = {below("one"), below("two"), NULL};
    const char *const other[] = {below("two"), below("one"), NULL};
    const char *const empty[] = {below("three"), below("missing"), NULL};
    bool user = false;
    assert_string_equal(opened(&models, "a", both, &user), below("one/models/a.json"));
    assert_true(user);
    assert_string_equal(opened(&models, "a", other, &user), below("two/models/a.json"));
    assert_true(user);
    assert_string_equal(opened(&models, "gpt-2", both, &user), below("one/models/gpt-2.json"));
    assert_true(user);
    assert_string_equal(opened(&models, "gpt-2", empty, &user), "models/gpt-2.json");
    assert_false(user);
    assert_string_equal(opened(&models, "gpt-2", none, &user), "models/gpt-2.json");
    /* A user's files are found as they are called, and not by alias; the folder is the kind's. */
    assert_string_equal(opened(&models, "B", both, &user), below("one/models/B.json"));
    assert_null(opened(&models, "b", both, &user));
    assert_null(opened(&models, "second", both, &user));
    assert_null(opened(&layouts, "a", both, &user));
    assert_null(opened(&models, "a", none, &user));
    /* Found and not good is an error, not a reason to look on. */
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    assert_int_equal(roof_registry_open(&json, &user, &models, "bad", both, &error), ROOF_INVALID);
    assert_null(json);
    assert_string_equal(error.source, below("two/models/bad.json"));
    assert_int_equal(error.line, 2);
    assert_string_equal(opened(&models, below("plain.json"), NULL, &user), below("plain.json"));
    assert_true(user);
    assert_int_equal(roof_registry_open(&json, &user, &models, below("none.json"), NULL, &error),
                     ROOF_IO);
    assert_null(json);
    /* In the list they stand among the others, each once. */
    struct roof_text plain = ROOF_TEXT_INIT;
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t before = 0;
    size_t count = 0;
    assert_int_equal(roof_registry_ids(&plain, &before, &models, NULL, NULL), ROOF_OK);
    assert_int_equal(roof_registry_ids(&ids, &count, &models, both, NULL), ROOF_OK);
    assert_int_equal(count, before + 3); /* B, a, bad */
    assert_string_equal(ids.data, "B");
    assert_string_equal(ids.data + 2, "a");
    assert_string_equal(ids.data + 4, "bad");
    roof_text_free(&ids);
    assert_int_equal(roof_registry_ids(&ids, &count, &models, empty, NULL), ROOF_OK);
    assert_int_equal(count, before);
    roof_text_free(&ids);
    roof_text_free(&plain);
    /* Names of users' files are known names. */
    assert_int_equal(roof_registry_open(&json, &user, &models, "baad", both, &error), ROOF_USAGE);
    static const char begins[] = "unknown model 'baad'; did you mean bad";
    assert_memory_equal(error.message, begins, strlen(begins));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_own_files),
        cmocka_unit_test(test_ids_of_sources),
        cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_embedded_ids),
        cmocka_unit_test_setup_teardown(test_directories, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
