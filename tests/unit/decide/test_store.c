// SPDX-License-Identifier: MIT
#include "files.h"
#include "support.h"

#include <pthread.h>

#define DEVICE(id, bandwidth)                                                                      \
    "{\"id\": \"" id "\", \"bandwidth_gb_s\": " bandwidth ", \"peak_tflops\": {\"fp16\": 1}}"

static const char *const folders[] = {"a", "a/hardware", "b", "b/hardware"};

static int open_folders(void **state)
{
    return make_folders(state, folders, COUNT(folders));
}

static int close_folders(void **state)
{
    return remove_folders(state, folders, COUNT(folders));
}

static struct roof_store *open_store(void **state, const char *const *names, size_t count)
{
    struct roof_store *store = NULL;
    char path[PATH_SIZE];
    assert_int_equal(roof_store_new(&store, NULL), ROOF_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(roof_store_folder(store, path_in(path, state, names[i]), NULL), ROOF_OK);
    }
    return store;
}

static const struct roof_hardware *loan(struct roof_loans *loans,
                                        const struct roof_device_wish *wish)
{
    const struct roof_hardware *hardware = NULL;
    struct roof_error error = {0};
    if (roof_loan_hardware(&hardware, loans, wish, &error) != ROOF_OK) {
        fail_msg("%s: %s", wish->name, error.message);
    }
    return hardware;
}

/* The bandwidth of a device in GB/s, by a loan that is returned at once. */
static double bandwidth(struct roof_store *store, const struct roof_device_wish *wish)
{
    struct roof_loans loans = {.store = store};
    const double found = loan(&loans, wish)->figure[ROOF_FIGURE_BANDWIDTH].value / 1e9;
    roof_loans_return(&loans);
    return found;
}

/* --- tests --------------------------------------------------------------------------------- */

/* Folders are searched in their order, and before the built-in files. */
static void test_folders(void **state)
{
    static const char *const both[] = {"a", "b"};
    static const char *const turned[] = {"b", "a"};
    static const char *const files[] = {"a/hardware/mine.json", "b/hardware/mine.json",
                                        "b/hardware/t4.json"};
    const struct roof_device_wish mine = {.name = "mine", .bounds_only = true};
    const struct roof_device_wish t4 = {.name = "t4", .bounds_only = true};
    const struct roof_device_wish none = {.bounds_only = true};
    write_in(state, files[0], DEVICE("mine", "100"));
    write_in(state, files[1], DEVICE("mine", "200"));
    write_in(state, files[2], DEVICE("t4", "300"));
    struct roof_store *store = open_store(state, both, 2);
    assert_float_equal(bandwidth(store, &mine), 100, 1e-9);
    assert_float_equal(bandwidth(store, &t4), 300, 1e-9);
    assert_float_equal(bandwidth(store, &none), 273, 1e-9); /* dgx-spark, the default */
    roof_store_free(store);
    store = open_store(state, turned, 2);
    assert_float_equal(bandwidth(store, &mine), 200, 1e-9);
    roof_store_free(store);
    store = open_store(state, NULL, 0);
    assert_float_equal(bandwidth(store, &t4), 320, 1e-9);
    roof_store_free(store);
    assert_int_equal(remove_files(state, files, COUNT(files)), 0);
}

static void test_most_folders(void **state)
{
    static const char *const four[] = {"a", "b", "a", "b"};
    struct roof_error error = {0};
    struct roof_store *const store = open_store(state, four, 4);
    assert_int_equal(roof_store_folder(store, "c", &error), ROOF_USAGE);
    assert_string_equal(error.message, "a store has at most 4 folders");
    assert_null(roof_store_folders(store)[4]);
    roof_store_free(store);
    roof_store_free(NULL);
}

/* Answers that ask for the same share it; whatever differs is another object. */
static void test_shared(void **state)
{
    struct roof_store *const store = open_store(state, NULL, 0);
    struct roof_loans loans[2] = {{.store = store}, {.store = store}};
    const struct roof_texts fast = {.value = {"bandwidth_gb_s=1000"}, .count = 1};
    const struct roof_texts slow = {.value = {"bandwidth_gb_s=10"}, .count = 1};
    const struct roof_device_wish plain = {.name = "t4"};
    const struct roof_device_wish bounds = {.name = "t4", .bounds_only = true};
    const struct roof_device_wish faster = {.name = "t4", .set = &fast};
    const struct roof_device_wish slower = {.name = "t4", .set = &slow};
    const struct roof_device_wish *const wishes[] = {&plain, &bounds, &faster, &slower};
    const struct roof_hardware *first[COUNT(wishes)];
    for (size_t i = 0; i < COUNT(wishes); i++) {
        first[i] = loan(&loans[0], wishes[i]);
        assert_ptr_equal(first[i], loan(&loans[1], wishes[i]));
        for (size_t k = 0; k < i; k++) {
            assert_ptr_not_equal(first[i], first[k]);
        }
    }
    assert_float_equal(first[2]->figure[ROOF_FIGURE_BANDWIDTH].value, 1e12, 1);
    assert_float_equal(first[3]->figure[ROOF_FIGURE_BANDWIDTH].value, 1e10, 1);
    assert_float_equal(first[0]->figure[ROOF_FIGURE_BANDWIDTH].value, 3.2e11, 1);
    roof_loans_return(&loans[0]);
    assert_null(loans[0].first);
    assert_float_equal(first[2]->figure[ROOF_FIGURE_BANDWIDTH].value, 1e12,
                       1); /* the other answer has it still */
    roof_loans_return(&loans[1]);
    roof_loans_return(&loans[1]); /* of nothing */
    roof_store_free(store);
}

/* All answers of a store share one table of engines, which stays when the loans are returned. */
static void test_engines(void **state)
{
    struct roof_store *const store = open_store(state, NULL, 0);
    struct roof_loans loans[2] = {{.store = store}, {.store = store}};
    const struct roof_engines *first = NULL;
    const struct roof_engines *second = NULL;
    assert_int_equal(roof_loan_engines(&first, &loans[0], NULL), ROOF_OK);
    assert_true(first->count > 0);
    roof_loans_return(&loans[0]);
    assert_int_equal(roof_loan_engines(&second, &loans[1], NULL), ROOF_OK);
    assert_ptr_equal(first, second);
    roof_loans_return(&loans[1]);
    roof_store_free(store);
}

/* The first answer of a store reads the kernels that it needs. Later ones, which show that more
 * will come, share a device with all of them; what the first one had is gone. */
static void test_few_kernels(void **state)
{
    (void)state;
    struct roof_store *const store = open_store(state, NULL, 0);
    struct roof_loans loans = {.store = store};
    const struct roof_device_wish few = {.name = "h100-sxm", .kernels = 1U << ROOF_KERNEL_BMM};
    const struct roof_device_wish other = {.name = "h100-sxm", .kernels = 1U << ROOF_KERNEL_GEMM};
    const struct roof_device_wish all = {.name = "h100-sxm"};
    const struct roof_calibration *c = loan(&loans, &few)->calibration;
    assert_true(c->count > 0);
    for (size_t i = 0; i < c->count; i++) {
        assert_int_equal(c->fit[i].kernel, ROOF_KERNEL_BMM);
    }
    assert_ptr_not_equal(loan(&loans, &other), loan(&loans, &few));
    roof_loans_return(&loans);
    const struct roof_hardware *const whole = loan(&loans, &few);
    assert_non_null(roof_calibration_find(whole->calibration, ROOF_KERNEL_MOE, ROOF_STACK_VLLM,
                                          ROOF_NUMERICS_16BIT, ROOF_QUANTIZE_NONE));
    assert_ptr_equal(loan(&loans, &all), whole);
    assert_ptr_equal(loan(&loans, &other), whole);
    roof_loans_return(&loans);
    assert_ptr_equal(loan(&loans, &few), whole);
    roof_loans_return(&loans);
    roof_store_free(store);
}

/* A model of the program stays, also one whose name has a dot: the next loan finds it where it was,
 * although another one was loaded in between. */
static void test_models_stay(void **state)
{
    (void)state;
    static const char *const names[] = {"llama-3-8b", "llama-3.1-8b", "qwen2.5-7b"};
    struct roof_store *const store = open_store(state, NULL, 0);
    struct roof_loans kept = {.store = store};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct roof_loans once = {.store = store};
        const struct roof_model_wish wish = {.name = names[i]};
        const struct roof_model_wish between = {.name = "llama-2-7b", .once = true};
        const struct roof_model *first = NULL;
        const struct roof_model *other = NULL;
        const struct roof_model *again = NULL;
        assert_int_equal(roof_loan_model(&first, &once, &wish, NULL), ROOF_OK);
        roof_loans_return(&once);
        assert_int_equal(roof_loan_model(&other, &kept, &between, NULL), ROOF_OK);
        assert_int_equal(roof_loan_model(&again, &kept, &wish, NULL), ROOF_OK);
        assert_ptr_equal(again, first);
    }
    roof_loans_return(&kept);
    roof_store_free(store);
}

/* A device of the store stays with it; with `set`, or asked for once, it leaves with the last loan,
 * which shows by a file that has changed since. */
static void test_leaves(void **state)
{
    static const char *const one[] = {"a"};
    static const char *const file = "a/hardware/mine.json";
    const struct roof_texts set = {.value = {"tdp_w=1"}, .count = 1};
    const struct roof_device_wish plain = {.name = "mine"};
    const struct roof_device_wish changed = {.name = "mine", .set = &set};
    const struct roof_device_wish once = {.name = "mine", .bounds_only = true, .once = true};
    struct roof_store *const store = open_store(state, one, 1);
    struct roof_loans kept[2] = {{.store = store}, {.store = store}};
    write_in(state, file, DEVICE("mine", "100"));
    assert_float_equal(bandwidth(store, &plain), 100, 1e-9);
    (void)loan(&kept[0], &changed);
    (void)loan(&kept[1], &changed);
    assert_float_equal(bandwidth(store, &once), 100, 1e-9);
    write_in(state, file, DEVICE("mine", "200"));
    assert_float_equal(bandwidth(store, &plain), 100, 1e-9);
    assert_float_equal(bandwidth(store, &once), 200, 1e-9);
    assert_float_equal(bandwidth(store, &changed), 100, 1e-9);
    roof_loans_return(&kept[0]);
    assert_float_equal(bandwidth(store, &changed), 100, 1e-9);
    roof_loans_return(&kept[1]);
    assert_float_equal(bandwidth(store, &changed), 200, 1e-9);
    assert_float_equal(bandwidth(store, &plain), 100, 1e-9);
    roof_store_free(store);
    assert_int_equal(remove_files(state, &file, 1), 0);
}

/* A file is read again: it may have another text by then. */
static void test_files(void **state)
{
    static const char *const file = "mine.json";
    char path[PATH_SIZE];
    const struct roof_device_wish wish = {.name = path_in(path, state, file)};
    struct roof_store *const store = open_store(state, NULL, 0);
    struct roof_loans loans = {.store = store};
    write_in(state, file, DEVICE("mine", "100"));
    (void)loan(&loans, &wish);
    write_in(state, file, DEVICE("mine", "200"));
    assert_float_equal(bandwidth(store, &wish), 100, 1e-9); /* an answer is of one text */
    roof_loans_return(&loans);
    assert_float_equal(bandwidth(store, &wish), 200, 1e-9);
    assert_int_equal(remove_files(state, &file, 1), 0);
    const struct roof_hardware *hardware = NULL;
    assert_int_equal(roof_loan_hardware(&hardware, &loans, &wish, NULL), ROOF_IO);
    assert_null(hardware);
    assert_null(loans.first);
    roof_store_free(store);
}

static void test_refused(void **state)
{
    struct roof_store *const store = open_store(state, NULL, 0);
    struct roof_loans loans = {.store = store};
    const struct roof_texts wrong = {.value = {"tdp_w=1", "speed=1"}, .count = 2};
    const struct roof_device_wish devices[] = {{.name = "t5"}, {.name = "t4", .set = &wrong}};
    const struct roof_model_wish models[] = {{.name = "llama-9"},
                                             {.name = "llama-3-8b", .layout = "q9"}};
    for (size_t i = 0; i < 2; i++) {
        const struct roof_hardware *hardware = NULL;
        const struct roof_model *model = NULL;
        struct roof_error error = {0};
        assert_int_equal(roof_loan_hardware(&hardware, &loans, &devices[i], &error), ROOF_USAGE);
        assert_string_not_equal(error.message, "");
        assert_int_equal(roof_loan_model(&model, &loans, &models[i], &error), ROOF_USAGE);
        assert_null(hardware);
        assert_null(model);
        assert_null(loans.first);
    }
    roof_store_free(store);
}

static void test_models(void **state)
{
    struct roof_store *const store = open_store(state, NULL, 0);
    struct roof_loans loans = {.store = store};
    const struct roof_model_wish wishes[] = {{.name = "gpt-oss-20b"},
                                             {.name = "gpt-oss-20b", .layout = "checkpoint"},
                                             {.name = "gpt-oss-20b", .layout = "fp8-dynamic"},
                                             {.name = "gpt-oss-20b", .forget_formats = true},
                                             {.name = "gpt-oss-120b", .once = true}};
    const struct roof_model *first[COUNT(wishes)];
    for (size_t i = 0; i < COUNT(wishes); i++) {
        const struct roof_model *again = NULL;
        assert_int_equal(roof_loan_model(&first[i], &loans, &wishes[i], NULL), ROOF_OK);
        assert_int_equal(roof_loan_model(&again, &loans, &wishes[i], NULL), ROOF_OK);
        assert_ptr_equal(again, first[i]);
        for (size_t k = 0; k < i; k++) {
            assert_ptr_not_equal(first[i], first[k]);
        }
    }
    roof_loans_return(&loans);
    roof_store_free(store);
}

/* Borrows and returns again and again, and fails where a figure is not that of the device. */
static void *borrow(void *context)
{
    const struct roof_texts set = {.value = {"bandwidth_gb_s=1000"}, .count = 1};
    const struct roof_device_wish plain = {.name = "t4", .bounds_only = true};
    const struct roof_device_wish changed = {.name = "t4", .set = &set, .bounds_only = true};
    int wrong = 0;
    for (int i = 0; i < 200; i++) {
        struct roof_loans loans = {.store = context};
        const struct roof_hardware *a = NULL;
        const struct roof_hardware *b = NULL;
        const struct roof_engines *engines = NULL;
        if (roof_loan_engines(&engines, &loans, NULL) != ROOF_OK || engines->count == 0 ||
            roof_loan_hardware(&a, &loans, &plain, NULL) != ROOF_OK ||
            roof_loan_hardware(&b, &loans, &changed, NULL) != ROOF_OK ||
            a->figure[ROOF_FIGURE_BANDWIDTH].value != 3.2e11 ||
            b->figure[ROOF_FIGURE_BANDWIDTH].value != 1e12) {
            wrong++;
        }
        roof_loans_return(&loans);
    }
    return wrong == 0 ? NULL : context;
}

static void test_threads(void **state)
{
    pthread_t thread[4];
    struct roof_store *const store = open_store(state, NULL, 0);
    for (size_t i = 0; i < COUNT(thread); i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, borrow, store), 0);
    }
    for (size_t i = 0; i < COUNT(thread); i++) {
        void *wrong = NULL;
        assert_int_equal(pthread_join(thread[i], &wrong), 0);
        assert_null(wrong);
    }
    roof_store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_folders, open_folders, close_folders),
        cmocka_unit_test_setup_teardown(test_most_folders, open_folders, close_folders),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_engines),
        cmocka_unit_test(test_few_kernels),
        cmocka_unit_test_setup_teardown(test_leaves, open_folders, close_folders),
        cmocka_unit_test_setup_teardown(test_files, make_folder, remove_folder),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_models_stay),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
