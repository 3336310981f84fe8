// SPDX-License-Identifier: MIT
/*
 * Layers and experts in the memory of the host, worked out by hand: how they are written, their
 * bytes on both sides, the time of both parts, the fewest that fit, and what is refused.
 */
#include "configs.h"
#include "models.h"

static bool near(double got, double expected)
{
    return fabs(got - expected) <= 1e-12 * fabs(expected);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* 100 GB/s, and memory for 4 MiB. */
#define DEVICE                                                                                     \
    "{\"id\": \"device\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 1000}, "            \
    "\"vector_tflops\": {\"fp32\": 1000}, \"memory_capacity_bytes\": 4194304}"

/* An expert has 3 x 64 x 80 fp16 elements, and a layer has 8 of them. */
#define EXPERT (3 * 64 * 80 * 2.)
/* The cache of a layer: K and V of 2 heads of 16 fp16 elements for 100 tokens. */
#define CACHE (2 * 2 * 16 * 2. * 100)

static struct roof_hardware *host_of(const char *memory)
{
    struct roof_hardware *host = NULL;
    struct roof_error error = {0};
    assert_int_equal(roof_hardware_blank(&host, "host", &error), ROOF_OK);
    assert_int_equal(roof_hardware_set(host, "bandwidth_gb_s=50", &error), ROOF_OK);
    if (memory != NULL) {
        assert_int_equal(roof_hardware_set(host, memory, &error), ROOF_OK);
    }
    return host;
}

static struct roof_scenario offloading(const char *offload, const struct roof_hardware *host)
{
    struct roof_error error = {0};
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 100);
    s.reserve = 0;
    s.host = host;
    assert_int_equal(roof_offload_read(&s.offload, offload, &error), ROOF_OK);
    return s;
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"none",     "experts",    "experts:1",
                                        "layers:7", "layers:fit", "experts:fit"};
    static const char *const wrong[] = {"",           "layers",     "layers:",   "layers:x",
                                        "experts:-1", "layers:513", "layersfit", "experts 3"};
    struct roof_error error = {0};
    char name[ROOF_OFFLOAD_NAME_SIZE];
    int64_t value = 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(roof_offload_read(&value, names[i], &error), ROOF_OK);
        assert_string_equal(roof_offload_name(name, value), names[i]);
    }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(roof_offload_read(&value, wrong[i], &error), ROOF_USAGE);
    }
    assert_int_equal(roof_offload_read(&value, "layers:0", &error), ROOF_OK);
    assert_int_equal(value, 0);
}

/* A token reads 2 experts of each layer, its input and its output of 64 fp16 elements, and writes
 * and reads 80 elements within each of the 2. */
static void test_experts(void **state)
{
    (void)state;
    struct roof_hardware *const device = parse_device(DEVICE);
    struct roof_hardware *const host = host_of("memory_nominal_gb=1");
    struct roof_model *const model = parse(MOE);
    struct roof_model_prediction whole = *infer(model, offloading("none", host), device);
    const struct roof_model_prediction *const i =
        infer(model, offloading("experts:3", host), device);
    const double live = 64 * 2 + 2 * (2 * 80 * 2) + 64 * 2;
    const double bytes = 2 * EXPERT + live;
    assert_true(near(i->offloaded_s, 3 * bytes / 50e9));
    assert_true(near(i->step_s, whole.step_s + 3 * bytes * (1 / 50e9 - 1 / 100e9)));
    assert_true(near(whole.weights_memory_bytes - i->weights_memory_bytes, 3 * 8 * EXPERT));
    assert_true(near(i->host_memory_bytes, 3 * 8 * EXPERT + live));
    assert_true(i->kv_cache_bytes == whole.kv_cache_bytes);
    assert_true(i->host_capacity_bytes == 1024. * 1024 * 1024);
    assert_string_equal(i->offload, "experts:3");
    assert_true(unknown(i->expected_step_s) && unknown(whole.offloaded_s));
    const struct roof_model_prediction *const all =
        infer(model, offloading("experts", host), device);
    assert_string_equal(all->offload, "experts:4");
    roof_model_free(model);
    roof_hardware_free(host);
    roof_hardware_free(device);
}

/* Layers take their cache with them, and all layers are alike: half of them halve what both have.
 */
static void test_layers(void **state)
{
    (void)state;
    struct roof_hardware *const device = parse_device(DEVICE);
    struct roof_hardware *const host = host_of(NULL);
    struct roof_model *const model = parse(DENSE);
    struct roof_model_prediction whole = *infer(model, offloading("none", host), device);
    struct roof_model_prediction all = *infer(model, offloading("layers:4", host), device);
    const struct roof_model_prediction *const i =
        infer(model, offloading("layers:2", host), device);
    assert_true(near(whole.kv_cache_bytes, 4 * CACHE));
    assert_true(near(i->kv_cache_bytes, 2 * CACHE));
    assert_true(all.kv_cache_bytes == 0);
    const double layers = whole.weights_memory_bytes - all.weights_memory_bytes;
    assert_true(near(i->weights_memory_bytes, whole.weights_memory_bytes - layers / 2));
    assert_true(near(all.host_memory_bytes - i->host_memory_bytes, layers / 2 + 2 * CACHE));
    assert_true(near(i->offloaded_s, all.offloaded_s / 2));
    assert_true(near(all.step_s - whole.step_s, all.offloaded_s / 2)); /* half the bandwidth */
    assert_int_equal(i->fits, ROOF_FIT_UNKNOWN); /* the memory of the host is not known */
    roof_model_free(model);
    roof_hardware_free(host);
    roof_hardware_free(device);
}

/* A pass of 32 tokens copies weights to the device, and one of 31 does not. Attention stays with
 * its cache. The host has no kernels in a pass that copies, except for attention. */
static void test_upload(void **state)
{
    (void)state;
    struct roof_hardware *const device = parse_device(DEVICE);
    struct roof_hardware *const host = host_of(NULL);
    struct roof_model *const model = parse(DENSE);
    for (int64_t tokens = 31; tokens <= 32; tokens++) {
        struct roof_scenario s = offloading("layers:2", host);
        size_t stays = 0;
        size_t copied = 0;
        s.phase = ROOF_PHASE_PREFILL;
        s.context = tokens;
        s.upload = (struct roof_upload){.share = 0.5, .low = 0.5, .high = 2};
        s.host_kernels = host;
        const struct roof_model_prediction *const i = infer(model, s, device);
        for (size_t k = 0; k < i->count; k++) {
            const struct roof_node *const node = &i->node[k].node;
            assert_true(node->host == host
                            ? (node->upload.share > 0) != (node->host_kernels == host)
                            : node->upload.share == 0 && node->host_kernels == NULL);
            copied += node->upload.share > 0 ? 1 : 0;
            stays += node->host_kernels != NULL ? 1 : 0;
            if (strcmp(node->name, "attention") == 0 || strcmp(node->name, "kv_append") == 0) {
                assert_true(node->upload.share == 0);
            }
        }
        assert_true(stays > 0);
        assert_true((copied > 0) == (tokens == 32));
    }
    roof_model_free(model);
    roof_hardware_free(host);
    roof_hardware_free(device);
}

/* Returns the bound of an operator of the first layer, which is on the host. */
static double bound_of(const struct roof_model_prediction *p, const char *name)
{
    for (size_t k = 0; k < p->count; k++) {
        if (p->node[k].node.host != NULL && strcmp(p->node[k].node.name, name) == 0) {
            return p->node[k].prediction.time_s;
        }
    }
    fail_msg("no %s on the host", name);
    return 0;
}

/* If the device may compute an operator, activations need not go through the memory of the host.
 * Weights still take the time of the link. */
static void test_both_ways(void **state)
{
    (void)state;
    struct roof_hardware *const device = parse_device(DEVICE);
    struct roof_hardware *const host = host_of(NULL);
    struct roof_model *const model = parse(DENSE);
    struct roof_scenario s = offloading("layers:2", host);
    s.phase = ROOF_PHASE_PREFILL;
    s.context = 4096;
    const struct roof_model_prediction *i = infer(model, s, device);
    const double act_s = bound_of(i, "mlp_act");
    const double norm_s = bound_of(i, "mlp_norm");
    const double ratio =
        device->figure[ROOF_FIGURE_BANDWIDTH].value / host->figure[ROOF_FIGURE_BANDWIDTH].value;
    s.upload = (struct roof_upload){.share = 0.5, .low = 0.5, .high = 2};
    i = infer(model, s, device);
    assert_near(bound_of(i, "mlp_act"), act_s / ratio, 1e-12);
    assert_near(bound_of(i, "mlp_norm"), norm_s / ratio, 1e-12);
    const double append_s = bound_of(i, "kv_append"); /* stays with its cache */
    s.upload = (struct roof_upload){.share = 0};
    assert_near(bound_of(infer(model, s, device), "kv_append"), append_s, 1e-12);
    /* 32 tokens: the weights are most of the bytes. */
    s.context = 32;
    const double down_s = bound_of(infer(model, s, device), "down_proj");
    s.upload = (struct roof_upload){.share = 0.5, .low = 0.5, .high = 2};
    device->figure[ROOF_FIGURE_HOST_LINK].value = 0.1 * host->figure[ROOF_FIGURE_BANDWIDTH].value;
    assert_near(bound_of(infer(model, s, device), "down_proj"), down_s, 1e-12);
    roof_model_free(model);
    roof_hardware_free(host);
    roof_hardware_free(device);
}

/* 4 MiB hold 64 caches of 51,200 bytes and what is not an expert (0.36 MB), but not the experts of
 * all layers (0.98 MB). The fewest is found by trying one after the other. */
static void test_fewest(void **state)
{
    (void)state;
    struct roof_hardware *const device = parse_device(DEVICE);
    struct roof_hardware *const host = host_of("memory_nominal_gb=1");
    struct roof_model *const model = parse(MOE);
    int64_t fewest = 0;
    for (; fewest <= 4; fewest++) {
        struct roof_scenario s = offloading("experts:fit", host);
        s.common.shape.batch = 64;
        s.offload = roof_offload_pack(ROOF_OFFLOAD_EXPERTS, fewest);
        if (infer(model, s, device)->fits == ROOF_FIT_YES) {
            break;
        }
    }
    struct roof_scenario s = offloading("experts:fit", host);
    s.common.shape.batch = 64;
    const struct roof_model_prediction *const i = infer(model, s, device);
    assert_int_equal(i->fits, ROOF_FIT_YES);
    assert_true(fewest > 0 && fewest < 5);
    assert_int_equal(roof_offload_layers(i->scenario.offload), fewest);
    assert_true(roof_hardware_set(host, "memory_capacity_bytes=100000", NULL) == ROOF_OK);
    assert_int_equal(infer(model, s, device)->fits, ROOF_FIT_NO);
    roof_model_free(model);
    roof_hardware_free(host);
    roof_hardware_free(device);
}

/* Returns the layers or experts on a host that make room on a device with so much memory. */
static int64_t offload_with(const struct roof_model *model, struct roof_hardware *device,
                            double bytes)
{
    char text[64];
    struct roof_limits limits;
    struct roof_error error = {0};
    struct roof_scenario s = offloading("none", NULL);
    (void)snprintf(text, sizeof text, "memory_capacity_bytes=%.17g", bytes);
    assert_int_equal(roof_hardware_set(device, text, &error), ROOF_OK);
    const struct roof_model_prediction *const i = infer(model, s, device);
    assert_int_equal(i->fits, ROOF_FIT_NO);
    assert_int_equal(roof_model_limits(&limits, i, &s, &error), ROOF_OK);
    return limits.fit_offload;
}

/* The layers that stay on the device may fill it to the last byte. With one byte less, one layer
 * more is on the host. */
static void test_fills_the_device(void **state)
{
    (void)state;
    struct roof_hardware *const device = parse_device(DEVICE);
    struct roof_hardware *const host = host_of(NULL);
    struct roof_model *const model = parse(DENSE);
    const int64_t two = roof_offload_pack(ROOF_OFFLOAD_LAYERS, 2);
    struct roof_scenario s = offloading("layers:2", host);
    const struct roof_model_prediction *const i = infer(model, s, device);
    const double bytes = i->weights_memory_bytes + i->kv_cache_bytes + i->activation_memory_bytes;
    assert_int_equal(offload_with(model, device, bytes), two);
    assert_int_equal(offload_with(model, device, bytes - 1),
                     roof_offload_pack(ROOF_OFFLOAD_LAYERS, 3));
    roof_model_free(model);
    roof_hardware_free(host);
    roof_hardware_free(device);
}

/* The room is that of the device or of the host, whichever is smaller. */
static void test_room(void **state)
{
    (void)state;
    struct roof_memory m = {.capacity = 100,
                            .reserve = 10,
                            .weights = 40,
                            .kv = 20,
                            .activations = 5,
                            .host_capacity = 50,
                            .host_weights = 20,
                            .host_kv = 7,
                            .host_activations = 3};
    assert_true(roof_memory_room(&m) == 20);
    m.weights = 50;
    assert_true(roof_memory_room(&m) == 15);
    m.weights = 40;
    m.host_weights = m.host_kv = m.host_activations = 0; /* without a part on the host */
    assert_true(roof_memory_room(&m) == 25);
}

static void test_refused(void **state)
{
    (void)state;
    struct roof_hardware *const device = parse_device(DEVICE);
    struct roof_hardware *const host = host_of(NULL);
    struct roof_model *const model = parse(DENSE);
    static struct roof_model_prediction p;
    static const struct {
        const char *offload;
        bool host;
        int64_t dp;
        const char *message;
    } cases[] = {
        {"experts", true, 1, "tiny has no experts"},
        {"layers:5", true, 1, "tiny has 4 layers, too few"},
        {"layers:2", false, 1, "needs the memory bandwidth of the host"},
        {"layers:2", true, 2, "needs one device, not 2"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        struct roof_scenario s = offloading(cases[i].offload, cases[i].host ? host : NULL);
        s.dp = cases[i].dp;
        assert_int_equal(roof_predict_model(&p, model, &s, device, &error), ROOF_USAGE);
        assert_non_null(strstr(error.message, cases[i].message));
    }
    roof_model_free(model);
    roof_hardware_free(host);
    roof_hardware_free(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_experts),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_upload),
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_fewest),
        cmocka_unit_test(test_fills_the_device),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
