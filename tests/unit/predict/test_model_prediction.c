// SPDX-License-Identifier: MIT
/*
 * Models on devices: figures that must come out, sums over the operators, requests against a plain
 * loop over their steps, memory and the limits that follow, splits, drafts, and laws that hold for
 * random models on random devices.
 */
#include "configs.h"
#include "models.h"
#include "predict/prediction_fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define P(id) ROOF_PRECISION_##id
#define W(id) ROOF_WEIGHT_##id
#define OP(id) ROOF_OPERATOR_##id

/* 100 GB/s; fp16 1 TFLOP/s, fp8 2; vector 0.1; more figures behind. */
#define DEVICE(more)                                                                               \
    "{\"id\": \"device\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 1, \"fp8\": 2}, "   \
    "\"vector_tflops\": {\"fp32\": 0.1}" more "}"
#define LINKS ", \"devices_per_node\": 2, \"link_gb_s\": 10, \"network_gb_s\": 1"

#define STATES                                                                                     \
    "{\"model_type\": \"jamba\", \"attn_layer_period\": 8, \"attn_layer_offset\": 7, " SIZES "}"
#define ALL_WINDOWED "{\"model_type\": \"mistral\", \"sliding_window\": 20, " SIZES "}"

static void set(struct roof_hardware *hardware, const char *key, double value)
{
    char text[128];
    struct roof_error error = {0};
    snprintf(text, sizeof text, "%s=%.17g", key, value);
    if (roof_hardware_set(hardware, text, &error) != ROOF_OK) {
        fail_msg("%s: %s", text, error.message);
    }
}

static struct roof_limits limits_of(const struct roof_model *m, struct roof_scenario s,
                                    const struct roof_hardware *hardware)
{
    static struct roof_limits limits;
    struct roof_error error = {0};
    const struct roof_model_prediction *const i = infer(m, s, hardware);
    if (roof_model_limits(&limits, i, &s, &error) != ROOF_OK) {
        fail_msg("%s on %s: %s", m->id, hardware->id, error.message);
    }
    return limits;
}

static const struct roof_node_prediction *find(const struct roof_model_prediction *i,
                                               const char *name)
{
    for (size_t k = 0; k < i->count; k++) {
        if (strcmp(i->node[k].node.name, name) == 0) {
            return &i->node[k];
        }
    }
    fail_msg("no operator %s", name);
    return NULL;
}

/* --- figures that must come out ------------------------------------------------------------ */

/*
 * Llama-3-8B at FP16: 8,030,261,248 parameters of 2 bytes are resident; a decode step reads all but
 * the embedding (128256 x 4096), of which it reads a row. K and V: 2 x 32 layers x 8 heads x 128
 * elements of 2 bytes per token.
 */
static void test_llama_3_8b(void **state)
{
    (void)state;
    struct roof_model *const m = load("llama-3-8b");
    struct roof_hardware *const h = load_device("h100-sxm");
    const struct roof_model_prediction *const i = infer(m, asked(ROOF_PHASE_DECODE, 1, 4096), h);
    assert_near(i->weights_memory_bytes, 16060522496., 0);
    assert_near(i->total.role_bytes[ROOF_ROLE_WEIGHTS], 15009857536., 0);
    assert_near(15009857536., 16060522496. - 2. * 128256 * 4096 + 2 * 4096, 0);
    assert_near(i->kv_bytes_per_token, 131072, 0);
    assert_near(i->kv_cache_bytes, 131072. * 4096, 0);
    /* The matrices alone, from the operators. */
    double matrices = 0;
    double kv = 0;
    for (size_t k = 0; k < i->count; k++) {
        const struct roof_node_prediction *const n = &i->node[k];
        if (n->prediction.workload.op == OP(GEMM)) {
            matrices += (double)n->node.count * n->prediction.role_bytes[ROOF_ROLE_WEIGHTS];
        }
        kv += n->prediction.workload.op == OP(FLASH_ATTENTION)
                  ? (double)n->node.count * n->prediction.role_bytes[ROOF_ROLE_KV]
                  : 0;
    }
    assert_near(matrices, 15009316864., 0);
    assert_near(matrices / 131072, 114512, 0);
    assert_near(kv, 131072. * 4096, 0);
    assert_string_equal(i->phase, "decode");
    const struct roof_limits limits = limits_of(m, asked(ROOF_PHASE_DECODE, 1, 4096), h);
    assert_near(limits.kv_crossover_context, 114516.125, 0);
    assert_near(limits.parameters, 8030261248., 0);
    assert_near(limits.active_parameters, 8030261248., 0);
    /* Two sequences read twice the cache and one embedding row more. */
    assert_near(limits_of(m, asked(ROOF_PHASE_DECODE, 2, 4096), h).kv_crossover_context,
                (15009857536. + 2 * 4096) / (2 * 131072), 0);
    /* Half of the cache's bytes. */
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 4096);
    s.common.formats.kv = P(FP8_E4M3);
    assert_near(limits_of(m, s, h).kv_crossover_context, 2 * 114516.125, 0);
    /* Not of a prefill, nor of a step with drafts. */
    assert_true(unknown(limits_of(m, asked(ROOF_PHASE_PREFILL, 1, 64), h).kv_crossover_context));
    s = asked(ROOF_PHASE_DECODE, 1, 64);
    s.draft_tokens = 2;
    assert_true(unknown(limits_of(m, s, h).kv_crossover_context));
    roof_model_free(m);
    roof_hardware_free(h);
}

/* 2 x 32 layers x 32 heads x 128 elements x 4096 tokens x 2 bytes = 2 GiB. */
static void test_llama_2_7b_cache(void **state)
{
    (void)state;
    struct roof_model *const m = load("llama-2-7b");
    struct roof_hardware *const h = load_device("gb10");
    assert_near(infer(m, asked(ROOF_PHASE_DECODE, 1, 4096), h)->kv_cache_bytes, 2147483648., 0);
    assert_near(infer(m, asked(ROOF_PHASE_DECODE, 3, 4096), h)->kv_cache_bytes, 3 * 2147483648., 0);
    roof_model_free(m);
    roof_hardware_free(h);
}

static void test_deepseek_v3(void **state)
{
    (void)state;
    struct roof_model *const m = load("deepseek-v3");
    struct roof_hardware *const h = load_device("b200");
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 4096);
    const struct roof_limits limits = limits_of(m, s, h);
    assert_near(limits.parameters, 671026419200., 0);
    assert_near(limits.active_parameters, 37552297472., 0);
    /* One token reads the active parameters but for the embedding's other rows; 61 x 576 elements
     * per token are cached. All is in FP16. */
    const struct roof_model_prediction *const i = infer(m, s, h);
    const double unread = 129280. * 7168 - 7168;
    assert_near(i->total.role_bytes[ROOF_ROLE_WEIGHTS], 2 * (37552297472. - unread), 1e-12);
    assert_near(i->weights_memory_bytes, 2 * 671026419200., 0);
    assert_near(i->kv_bytes_per_token, 61 * 576 * 2, 0);
    roof_model_free(m);
    roof_hardware_free(h);
}

/*
 * Prefill of T tokens: query i sees i keys, so 1 + 2 + ... + T pairs of the T x T without a mask;
 * four FLOPs per pair and element of a head.
 */
static void test_causal_prefill(void **state)
{
    (void)state;
    struct roof_model *const m = load("llama-3-8b");
    struct roof_hardware *const h = load_device("h100-sxm");
    static const int64_t lengths[] = {1, 2, 100, 4096, 8192};
    for (size_t k = 0; k < COUNT(lengths); k++) {
        const double t = (double)lengths[k];
        const struct roof_model_prediction *const i =
            infer(m, asked(ROOF_PHASE_PREFILL, 3, lengths[k]), h);
        const double unmasked = 4. * 3 * 32 * 128 * t * t;
        assert_near(find(i, "attention")->prediction.flops, unmasked * (t + 1) / (2 * t), 1e-15);
        /* Products of layers see every token, the head the last of each sequence. */
        assert_near(find(i, "down_proj")->prediction.flops, 2. * 3 * t * 4096 * 14336, 0);
        assert_near(find(i, "lm_head")->prediction.flops, 2. * 3 * 4096 * 128256, 0);
    }
    roof_model_free(m);
    roof_hardware_free(h);
}

/* E (1 - (1 - k/E)^T) experts are touched by T tokens that choose at random. */
static void test_touched_experts(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        double experts, top_k, matrices, layers;
    } cases[] = {{"mixtral-8x7b", 8, 2, 3. * 4096 * 14336, 32},
                 {"qwen3-30b-a3b", 128, 8, 3. * 2048 * 768, 48},
                 {"deepseek-v3", 256, 8, 3. * 7168 * 2048, 58}};
    struct roof_hardware *const h = load_device("h100-sxm");
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_model *const m = load(cases[c].id);
        const double all = cases[c].experts * cases[c].matrices * 2;
        double before = 0;
        for (int64_t batch = 1; batch <= 65536; batch *= 2) {
            struct roof_scenario s = asked(ROOF_PHASE_DECODE, batch, 128);
            const struct roof_model_prediction *i = infer(m, s, h);
            const double untouched = pow(1 - cases[c].top_k / cases[c].experts, (double)batch);
            const double bytes = find(i, "experts")->prediction.role_bytes[ROOF_ROLE_WEIGHTS];
            assert_near(bytes, all * (1 - untouched), 1e-12);
            assert_true(bytes >= before && bytes <= all);
            assert_near((double)find(i, "experts")->node.count, cases[c].layers, 0);
            before = bytes;
            s.common.shape.routing = ROOF_ROUTING_BALANCED;
            i = infer(m, s, h);
            assert_near(find(i, "experts")->prediction.role_bytes[ROOF_ROLE_WEIGHTS],
                        all * fmin(1, (double)batch * cases[c].top_k / cases[c].experts), 1e-12);
        }
        assert_near(before, all, 1e-12);
        roof_model_free(m);
    }
    roof_hardware_free(h);
}

/* --- sums ---------------------------------------------------------------------------------- */

/* Returns a number as documents have it. */
static double printed(const struct roof_model_prediction *p, const char *key)
{
    struct roof_fields fields = {.count = 0};
    struct roof_value value[ROOF_FIELDS_MAX];
    roof_model_prediction_fields(&fields);
    roof_model_prediction_values(value, &fields, p);
    const struct roof_field *const field = roof_fields_find(&fields, key);
    assert_non_null(field);
    return value[field - fields.field].number;
}

/* Totals are the operators', count times each, in order: to the last bit. */
static void sums_up(const struct roof_model_prediction *i)
{
    double flops = 0;
    double bytes = 0;
    double role[ROOF_ROLE_COUNT] = {0};
    double memory = 0;
    double compute = 0;
    double time = 0;
    double network = 0;
    double network_bytes = 0;
    double us[4] = {0};
    double share[ROOF_BOTTLENECK_COUNT] = {0};
    bool native = true;
    bool networked = false;
    for (size_t k = 0; k < i->count; k++) {
        const struct roof_prediction *const p = &i->node[k].prediction;
        const double device = (double)i->node[k].device_count;
        const double count = (double)i->node[k].node.count;
        assert_true(i->node[k].device_count <= i->node[k].node.count);
        assert_true(i->scenario.pp > 1 || i->node[k].device_count == i->node[k].node.count);
        flops += device * p->flops;
        bytes += device * p->bytes;
        for (int r = 0; r < ROOF_ROLE_COUNT; r++) {
            role[r] += device * p->role_bytes[r];
        }
        memory += count * p->memory_time_s;
        compute += count * p->compute_time_s;
        time += count * p->time_s;
        share[p->bottleneck] += count * p->time_s;
        native = native && p->native;
        us[0] += count * roof_to_unit(p->time_s, ROOF_UNIT_MICROSECONDS);
        us[1] += count * roof_to_unit(p->memory_time_s, ROOF_UNIT_MICROSECONDS);
        us[2] += count * roof_to_unit(p->compute_time_s, ROOF_UNIT_MICROSECONDS);
        if (!unknown(p->network_bytes)) {
            us[3] += count * roof_to_unit(p->network_time_s, ROOF_UNIT_MICROSECONDS);
            networked = true;
            network += count * p->network_time_s;
            network_bytes += device * p->network_bytes;
        }
    }
    const struct roof_prediction *const total = &i->total;
    assert_true(total->flops == flops);
    assert_true(total->bytes == bytes);
    for (int r = 0; r < ROOF_ROLE_COUNT; r++) {
        assert_true(total->role_bytes[r] == role[r]);
    }
    assert_true(total->memory_time_s == memory);
    assert_true(total->compute_time_s == compute);
    assert_true(total->time_s == time);
    assert_true(networked ? total->network_time_s == network : unknown(total->network_time_s));
    assert_true(networked ? total->network_bytes == network_bytes : unknown(total->network_bytes));
    /* The sums in microseconds equal those of printed operators. */
    assert_true(printed(i, "time_us") == us[0] && printed(i, "memory_time_us") == us[1] &&
                printed(i, "compute_time_us") == us[2]);
    const double network_us = printed(i, "network_time_us");
    assert_true(networked ? network_us == us[3] : unknown(network_us));
    assert_int_equal(total->native, native);
    assert_true(total->intensity == flops / bytes);
    for (int b = 0; b < ROOF_BOTTLENECK_COUNT; b++) {
        assert_true(share[total->bottleneck] >= share[b]);
    }
    if (i->scenario.pp == 1) {
        assert_true(total->attainable_flops_per_s == flops / time);
    } else {
        assert_true(unknown(total->attainable_flops_per_s));
    }
}

static void test_totals(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        const char *device;
        enum roof_phase phase;
        int64_t batch, context, chunk, tp, pp, ep;
    } cases[] = {
        {"llama-3-8b", "gb10", ROOF_PHASE_DECODE, 1, 4096, 0, 1, 1, 1},
        {"llama-3-8b", "h100-sxm", ROOF_PHASE_PREFILL, 3, 1000, 0, 1, 1, 1},
        {"llama-3-70b", "h100-sxm", ROOF_PHASE_DECODE, 16, 8192, 0, 8, 1, 1},
        {"llama-3-70b", "h100-sxm", ROOF_PHASE_DECODE, 16, 8192, 0, 2, 4, 1},
        {"llama-3-70b", "h100-sxm", ROOF_PHASE_PREFILL, 5, 333, 0, 2, 3, 1},
        {"gemma-3-27b", "h100-sxm", ROOF_PHASE_MIXED, 8, 8192, 256, 2, 1, 1},
        {"mixtral-8x7b", "h100-sxm", ROOF_PHASE_DECODE, 8, 100, 0, 1, 1, 1},
        {"qwen3-235b-a22b", "h100-sxm", ROOF_PHASE_DECODE, 64, 4096, 0, 2, 2, 4},
        {"deepseek-v3", "h100-sxm", ROOF_PHASE_PREFILL, 4, 4096, 512, 8, 1, 1},
        {"deepseek-v3", "gb200", ROOF_PHASE_DECODE, 64, 4096, 0, 1, 1, 1},
        {"gpt-oss-120b", "h100-sxm", ROOF_PHASE_DECODE, 7, 4096, 0, 1, 1, 8},
        {"gpt-2", "gb10", ROOF_PHASE_DECODE, 1, 100, 0, 1, 1, 1},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_model *const m = load(cases[c].model);
        struct roof_hardware *const h = load_device(cases[c].device);
        struct roof_scenario s = asked(cases[c].phase, cases[c].batch, cases[c].context);
        if (unknown(h->figure[ROOF_FIGURE_LINK].value)) {
            set(h, "link_gb_s", 100);
        }
        s.chunk = cases[c].chunk;
        s.tp = cases[c].tp;
        s.pp = cases[c].pp;
        s.common.shape.ep = cases[c].ep;
        sums_up(infer(m, s, h));
        s.unfused_attention = 1;
        s.split_projections = 1;
        sums_up(infer(m, s, h));
        roof_model_free(m);
        roof_hardware_free(h);
    }
}

/* Waits and a serial part lengthen each stage by their share, and nothing else. */
static void test_host(void **state)
{
    (void)state;
    struct roof_model *const m = load("llama-3-8b");
    struct roof_hardware *const h = load_device("h100-sxm");
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 1000);
    const struct roof_model_prediction *i = infer(m, s, h);
    const double bound_s = i->step_s;
    const double time_us = printed(i, "time_us");
    assert_true(unknown(i->host_s) && unknown(i->launches));
    s.host_gap_s = 5e-6;
    s.serial_s = 1e-3;
    i = infer(m, s, h);
    assert_near(i->launches, 32 * 12 + 3, 0);
    assert_near(i->host_s, 387 * 5e-6 + 1e-3, 1e-12);
    assert_near(i->step_s, bound_s + 2.935e-3, 1e-12);
    assert_near(i->tpot_s, bound_s + 2.935e-3, 1e-12);
    assert_near(printed(i, "time_us"), time_us, 0);
    assert_int_equal(i->total.bottleneck, ROOF_BOTTLENECK_MEMORY);
    s.launches = 1400;
    i = infer(m, s, h);
    assert_near(i->step_s, bound_s + 8e-3, 1e-12);
    assert_int_equal(i->total.bottleneck, ROOF_BOTTLENECK_OVERHEAD);
    /* Two stages have half of it each, and a batch in two parts waits twice. */
    s.pp = 2;
    i = infer(m, s, h);
    struct roof_scenario without = s;
    without.host_gap_s = without.serial_s = 0;
    without.launches = 0;
    const double step_s = i->step_s;
    const double slowest_s = i->slowest_stage_s;
    i = infer(m, without, h);
    assert_near(slowest_s, i->slowest_stage_s + 4e-3, 1e-12);
    assert_near(step_s, 2 * slowest_s, 1e-12);
    struct roof_error error = {0};
    without.launches = 3;
    assert_int_equal(roof_scenario_resolve(&without, m, &error), ROOF_USAGE);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* The range widens what kernels and their launches take, and not the other time of the host. */
static void test_host_range(void **state)
{
    (void)state;
    struct roof_model *const m = load("llama-3-8b");
    struct roof_hardware *const h = load_calibrated("h100-sxm");
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 1000);
    double kernels[2];
    double both[2];
    const struct roof_model_prediction *i = infer(m, s, h);
    const double expected_s = i->expected_step_s;
    roof_model_band(&kernels[0], &kernels[1], i, expected_s);
    assert_near(kernels[0], i->total.expected_low_s, 1e-12);
    assert_near(kernels[1], i->total.expected_high_s, 1e-12);
    assert_true(kernels[0] < expected_s && expected_s < kernels[1]);
    /* 3 ms of each step and 1 ms of each of two sequences, and 2 ms beside the model. */
    s.host_time[s.common.stack] = (struct roof_host_time){.step_s = 3e-3, .sequence_s = 1e-3};
    s.serial_s = 2e-3;
    i = infer(m, s, h);
    assert_near(i->expected_step_s, expected_s + 7e-3, 1e-12);
    roof_model_band(&both[0], &both[1], i, i->expected_step_s);
    assert_near(both[0], kernels[0] + 7e-3, 1e-12);
    assert_near(both[1], kernels[1] + 7e-3, 1e-12);
    /* Half a token is half of the step. */
    roof_model_band(&both[0], &both[1], i, i->expected_step_s / 2);
    assert_near(both[0], (kernels[0] + 7e-3) / 2, 1e-12);
    /* A host that launches for longer than any kernels take has the range of launches. */
    s = asked(ROOF_PHASE_PREFILL, 1, 1000);
    s.host_time[s.common.stack].launch_s = 1e-3;
    i = infer(m, s, h);
    assert_near(i->expected_step_s, 387e-3, 1e-12);
    roof_model_band(&both[0], &both[1], i, i->expected_step_s);
    assert_near(both[0], 0.88 * 387e-3, 1e-12);
    assert_near(both[1], 1.46 * 387e-3, 1e-12);
    roof_model_free(m);
    free_calibrated(h);
}

/* A dense step on a device for mental arithmetic, one operator after another. */
static void test_step_by_hand(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    struct roof_hardware *const h = parse_device(DEVICE(""));
    const struct roof_model_prediction *const i = infer(m, asked(ROOF_PHASE_DECODE, 1, 50), h);
    /* Elements that one step moves; all of 2 bytes, all bound by the memory. */
    const double gemms = 4 * ((192 * 64 + 64 + 192) + (64 * 128 + 128 + 64) +
                              (160 * 64 + 64 + 160) + (64 * 80 + 80 + 64)) +
                         (1000 * 64 + 64 + 1000);
    const double norms = 9 * (3 * 64);
    const double adds = 8 * (3 * 64);
    const double act = 4 * (3 * 80);
    const double rope = 4 * 2 * (10 * 16);
    const double append = 4 * 2 * (2 * 2 * 16);
    const double attention = 4 * (2 * 128 + 2 * 50 * 2 * 16);
    const double embedding = 2 * 64;
    const double bytes = 2 * (gemms + norms + adds + act + rope + append + attention + embedding);
    assert_near(i->total.bytes, bytes, 0);
    assert_near(i->total.time_s, bytes / 100e9, 1e-14);
    assert_near(i->step_s, bytes / 100e9, 1e-14);
    assert_near(i->tpot_s, bytes / 100e9, 1e-14);
    assert_near(i->tokens_per_s, 100e9 / bytes, 1e-14);
    assert_near(i->tokens_per_step, 1, 0);
    assert_true(unknown(i->ttft_s) && unknown(i->e2e_s));
    assert_int_equal(i->total.bottleneck, ROOF_BOTTLENECK_MEMORY);
    const double flops = 2. * 4 * (192 * 64 + 64 * 128 + 160 * 64 + 64 * 80) + 2. * 64000 +
                         5. * 9 * 64 + 8 * 64 + 4. * 4 * 80 + 4. * 3 * 160 + 4. * 4 * 8 * 16 * 50;
    assert_near(i->total.flops, flops, 0);
    /* The residual, and the head's input and output as the largest beside it. */
    assert_near(i->activation_memory_bytes, 2 * (64 + 64 + 1000), 0);
    assert_near(i->kv_cache_bytes, 4 * 50 * 64 * 2, 0);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* Which figures each phase has. */
static void test_phases(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    struct roof_hardware *const h = parse_device(DEVICE(", \"memory_capacity_bytes\": 1000000000"));
    const struct roof_model_prediction *i = infer(m, asked(ROOF_PHASE_DECODE, 5, 50), h);
    assert_near(i->tpot_s, i->step_s, 0);
    assert_near(i->tokens_per_s, 5 / i->step_s, 0);
    assert_near(i->tokens_per_s_per_user, 1 / i->step_s, 1e-15);
    assert_true(unknown(i->ttft_s) && unknown(i->e2e_s));
    i = infer(m, asked(ROOF_PHASE_PREFILL, 5, 50), h);
    assert_string_equal(i->phase, "prefill");
    assert_near(i->ttft_s, i->step_s, 0);
    assert_near(i->step_s, i->total.time_s, 0);
    assert_near(i->tokens_per_s, 5 * 50 / i->step_s, 0);
    assert_near(i->tokens_per_s_per_user, 50 / i->step_s, 1e-15);
    assert_true(unknown(i->tpot_s) && unknown(i->e2e_s));
    /* A chunk is not the whole wait for the first token. */
    struct roof_scenario s = asked(ROOF_PHASE_PREFILL, 5, 50);
    s.chunk = 10;
    i = infer(m, s, h);
    assert_true(unknown(i->ttft_s));
    assert_near(i->tokens_per_s, 5 * 10 / i->step_s, 0);
    const double chunk_s = i->step_s;
    /* With 40 of the 50 tokens cached it is. */
    s = asked(ROOF_PHASE_PREFILL, 5, 50);
    s.prefix_hit = 0.8;
    i = infer(m, s, h);
    assert_near(i->ttft_s, chunk_s, 0);
    assert_near(i->tokens_per_s, 5 * 10 / chunk_s, 0);
    /* Mixed: the sequences in decode go on by a token each. */
    s = asked(ROOF_PHASE_MIXED, 5, 50);
    s.chunk = 10;
    i = infer(m, s, h);
    assert_string_equal(i->phase, "mixed");
    assert_near(i->tpot_s, i->step_s, 0);
    assert_near(i->tokens_per_s, 5 / i->step_s, 0);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* --- requests ------------------------------------------------------------------------------ */

/* The first token comes from the prefill, each further one from a step over the prompt and all
 * tokens before it, itself included: one by one. */
static void request_is_the_sum(const struct roof_model *m, struct roof_scenario s, int64_t prompt,
                               int64_t generate, const struct roof_hardware *h)
{
    static struct roof_model_prediction step;
    static struct roof_model_prediction whole;
    struct roof_scenario prefill = s;
    prefill.phase = ROOF_PHASE_PREFILL;
    prefill.context = prompt;
    prefill.draft_tokens = 0;
    prefill.draft = NULL;
    infer_into(&step, m, &prefill, h);
    const double ttft = step.step_s;
    double decode = 0;
    struct roof_scenario one = s;
    one.phase = ROOF_PHASE_DECODE;
    one.prefix_hit = 0;
    for (int64_t i = 1; i < generate; i++) {
        one.context = prompt + i;
        infer_into(&step, m, &one, h);
        decode += step.tpot_s;
    }
    s.prompt = prompt;
    s.generate = generate;
    s.static_batch = 1;
    infer_into(&whole, m, &s, h);
    assert_string_equal(whole.phase, "request");
    assert_near(whole.ttft_s, ttft, 0);
    assert_near(whole.e2e_s, ttft + decode, 1e-12);
    assert_near(whole.total.time_s, whole.e2e_s, 0);
    if (generate > 1) {
        assert_near(whole.tpot_s, decode / (double)(generate - 1), 1e-12);
    } else {
        assert_true(unknown(whole.tpot_s));
    }
    const double batch = (double)(s.common.shape.batch > 0 ? s.common.shape.batch : 1);
    if (whole.fits != ROOF_FIT_NO) {
        assert_near(whole.tokens_per_s, batch * (double)generate / whole.e2e_s, 1e-15);
        assert_near(whole.tokens_per_s_per_user, (double)generate / whole.e2e_s, 1e-15);
    }
    assert_int_equal(whole.count, 0);
    assert_true(unknown(whole.total.flops) && unknown(whole.total.bytes));
    /* A decode step alone, at the mean context. */
    one.context = prompt + generate / 2;
    infer_into(&step, m, &one, h);
    assert_near(whole.step_s, step.step_s, 0);
    assert_near(whole.tokens_per_step, step.tokens_per_step, 0);
    /* The cache at its end. */
    one.context = prompt + generate;
    infer_into(&step, m, &one, h);
    assert_near(whole.kv_cache_bytes, step.kv_cache_bytes, 0);
    assert_near(whole.weights_memory_bytes, step.weights_memory_bytes, 0);
    infer_into(&step, m, &prefill, h);
    assert_true(whole.activation_memory_bytes >= step.activation_memory_bytes);
}

static void test_requests(void **state)
{
    (void)state;
    static const char *const configs[] = {DENSE, WINDOWED, ALL_WINDOWED, MOE, MLA};
    static const struct {
        int64_t batch, prompt, generate;
    } sizes[] = {{1, 1, 1},    {1, 1, 2},    {1, 10, 3},   {1, 10, 4},  {1, 10, 5},  {1, 10, 6},
                 {1, 10, 7},   {1, 15, 100}, {3, 19, 2},   {3, 20, 2},  {2, 100, 9}, {64, 2, 300},
                 {500, 5, 77}, {7, 18, 5},   {1, 17, 129}, {1, 3, 1000}};
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    for (size_t c = 0; c < COUNT(configs); c++) {
        struct roof_model *const m = parse(configs[c]);
        for (size_t k = 0; k < COUNT(sizes); k++) {
            struct roof_scenario s = asked(ROOF_PHASE_DECODE, sizes[k].batch, 0);
            request_is_the_sum(m, s, sizes[k].prompt, sizes[k].generate, h);
        }
        struct roof_scenario s = asked(ROOF_PHASE_DECODE, 6, 0);
        s.prefix_hit = 0.5;
        request_is_the_sum(m, s, 33, 60, h);
        s.tp = 2;
        request_is_the_sum(m, s, 33, 60, h);
        s.tp = 1;
        s.pp = 2;
        request_is_the_sum(m, s, 33, 60, h);
        s.pp = 1;
        s.prefix_hit = 0;
        s.draft_tokens = 3;
        request_is_the_sum(m, s, 33, 60, h);
        struct roof_model *const draft = parse(DENSE);
        s.draft = draft;
        request_is_the_sum(m, s, 33, 60, h);
        roof_model_free(draft);
        roof_model_free(m);
    }
    roof_hardware_free(h);
}

/* Attention with many heads per KV head turns compute-bound on the way, in the middle of a request;
 * windows fill on the way. */
static void test_long_requests(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        const char *device;
        int64_t batch, prompt, generate;
    } cases[] = {
        {"llama-3-8b", "h100-sxm", 8, 1000, 700},     {"mistral-7b-v0.1", "gb10", 2, 3900, 500},
        {"gemma-2-9b", "h100-sxm", 4, 4000, 300},     {"gemma-3-4b", "gb10", 1, 1000, 400},
        {"gpt-oss-20b", "h100-sxm", 3, 100, 300},     {"phi-3-mini-4k", "gb10", 1, 1900, 301},
        {"qwen3-30b-a3b", "h100-sxm", 16, 2000, 200}, {"deepseek-v3", "b200", 2, 500, 100},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_model *const m = load(cases[c].model);
        struct roof_hardware *const h = load_device(cases[c].device);
        request_is_the_sum(m, asked(ROOF_PHASE_DECODE, cases[c].batch, 0), cases[c].prompt,
                           cases[c].generate, h);
        roof_model_free(m);
        roof_hardware_free(h);
    }
}

/* --- requests in a closed loop ------------------------------------------------------------------
 */

/* A step of n sequences that decode at a context, beside a number of chunks (0: none) of some
 * tokens, each of which ends at a context of its own. */
static const struct roof_model_prediction *one_step(const struct roof_model *m,
                                                    struct roof_scenario s,
                                                    const struct roof_hardware *h, int64_t n,
                                                    int64_t chunks, int64_t tokens, int64_t end)
{
    s.prefix_hit = 0;
    s.common.shape.batch = n;
    if (chunks > 0 && n > 0) {
        s.phase = ROOF_PHASE_MIXED;
        s.prefill_batch = chunks;
        s.chunk = tokens;
        s.prefill_context = end;
    } else if (chunks > 0) {
        s.phase = ROOF_PHASE_PREFILL;
        s.common.shape.batch = chunks;
        s.chunk = tokens;
        s.context = end;
    }
    return infer(m, s, h);
}

/* The time of such a step. */
static double step_of(const struct roof_model *m, struct roof_scenario s,
                      const struct roof_hardware *h, int64_t n, int64_t chunks, int64_t tokens,
                      int64_t end)
{
    return one_step(m, s, h, n, chunks, tokens, end)->step_s;
}

/* The mean of such steps over the three chunks of a prompt of 30 tokens. */
static double chunked(const struct roof_model *m, struct roof_scenario s,
                      const struct roof_hardware *h, int64_t n, int64_t chunks)
{
    return (step_of(m, s, h, n, chunks, 10, 10) + step_of(m, s, h, n, chunks, 10, 20) +
            step_of(m, s, h, n, chunks, 10, 30)) /
           3;
}

static struct roof_scenario in_flight(int64_t batch, int64_t prompt, int64_t generate,
                                      int64_t chunk)
{
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, batch, 0);
    s.prompt = prompt;
    s.generate = generate;
    s.chunk = chunk;
    return s;
}

/* The time to the first token and that per token in one schedule. */
struct schedule {
    double ttft;
    double tpot;
};

/* Checks the bounds of a request, each of which is the lowest one of some schedules. */
static void check_schedules(const struct roof_model *m, struct roof_scenario s,
                            const struct roof_hardware *h, const struct schedule *schedule,
                            size_t count, double step)
{
    const struct roof_model_prediction *const i = infer(m, s, h);
    const double later = (double)(s.generate - 1);
    struct schedule least = {(double)INFINITY, (double)INFINITY};
    double e2e = (double)INFINITY;
    for (size_t n = 0; n < count; n++) {
        least.ttft = fmin(least.ttft, schedule[n].ttft);
        least.tpot = fmin(least.tpot, schedule[n].tpot);
        e2e = fmin(e2e, schedule[n].ttft + later * schedule[n].tpot);
    }
    assert_near(i->ttft_s, least.ttft, 1e-12);
    assert_near(i->tpot_s, least.tpot, 1e-12);
    assert_near(i->step_s, step, 1e-12);
    assert_near(i->e2e_s, e2e, 1e-12);
    assert_near(i->total.time_s, i->e2e_s, 0);
    if (i->fits != ROOF_FIT_NO) {
        assert_near(i->tokens_per_s_per_user, (later + 1) / i->e2e_s, 1e-12);
        assert_near(i->tokens_per_s, (double)s.common.shape.batch * (later + 1) / i->e2e_s, 1e-12);
    }
}

/* Checks a request whose schedules are all the same. */
static void check_loop(const struct roof_model *m, struct roof_scenario s,
                       const struct roof_hardware *h, double ttft, double tpot, double step)
{
    check_schedules(m, s, h, &(struct schedule){ttft, tpot}, 1, step);
}

/* Prompts of 30 tokens in three chunks of 10, 10 tokens each: 9 decode steps at 30 + 5 tokens. */
static void test_closed_loop(void **state)
{
    (void)state;
    static const char *const configs[] = {DENSE, WINDOWED, MOE, MLA};
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    for (size_t c = 0; c < COUNT(configs); c++) {
        struct roof_model *const m = parse(configs[c]);
        const struct roof_scenario at = asked(ROOF_PHASE_DECODE, 1, 35);
        double decode[5];
        double mixed[5];
        for (int64_t n = 0; n < 5; n++) {
            decode[n] = n > 0 ? step_of(m, at, h, n, 0, 0, 0) : 0;
            mixed[n] = chunked(m, at, h, n, 1);
        }
        /* One alone: its chunks, then its steps. */
        check_loop(m, in_flight(1, 30, 10, 10), h, 3 * mixed[0], decode[1], decode[1]);
        /* Two: 1.5 decode in each of 12 steps, and 3 of 9 steps have a chunk of the other; or one
         * decodes beside a chunk, and two in the other 6. */
        const struct schedule two[] = {
            {3 * (mixed[1] + mixed[2]) / 2,
             (decode[1] + decode[2]) / 3 + (mixed[1] + mixed[2]) / 6},
            {3 * mixed[1], 2 * decode[2] / 3 + mixed[1] / 3},
        };
        check_schedules(m, in_flight(2, 30, 10, 10), h, two, COUNT(two), decode[2]);
        /* Room for both prompts: nobody decodes beside them. */
        const double alone = step_of(m, at, h, 0, 2, 30, 30);
        const double beside = step_of(m, at, h, 1, 1, 30, 30);
        const double spread = (decode[1] * 0.2 + decode[2] * 0.8) * 8 / 9 +
                              (beside * 0.2 + step_of(m, at, h, 2, 1, 30, 30) * 0.8) / 9;
        const struct schedule both[] = {
            {beside * 0.2 + step_of(m, at, h, 2, 1, 30, 30) * 0.8, spread},
            {beside, (8 * decode[2] + beside) / 9},
            {alone, decode[2]},
        };
        check_schedules(m, in_flight(2, 30, 10, 60), h, both, COUNT(both), decode[2]);
        /* Four: three decode, and each of 9 steps has one of the 9 chunks of the others. */
        check_loop(m, in_flight(4, 30, 10, 10), h, 3 * mixed[3], mixed[3], decode[4]);
        /* Eight: 24 steps with a chunk; three decode; 15 of the 24 pass before the first token. */
        check_loop(m, in_flight(8, 30, 10, 10), h, 15 * mixed[3], mixed[3],
                   step_of(m, at, h, 8, 0, 0, 0));
        /* Whole prompts: 10 steps, of which each has 0.8 of a chunk. */
        struct roof_scenario s = in_flight(10, 30, 10, ROOF_CHUNK_WHOLE);
        double whole = step_of(m, at, h, 9, 1, 30, 30);
        check_loop(m, s, h, whole, whole, step_of(m, at, h, 10, 0, 0, 0));
        /* Room for two prompts in a step: 20 x 9 / 10 decode beside them. */
        s = in_flight(20, 30, 10, 60);
        whole = step_of(m, at, h, 18, 2, 30, 30);
        check_loop(m, s, h, whole, whole, step_of(m, at, h, 20, 0, 0, 0));
        /* Half of the room for a third one: half of the steps have two prompts, half have three. */
        s = in_flight(25, 30, 10, 75);
        whole = (step_of(m, at, h, 22, 2, 30, 30) + step_of(m, at, h, 23, 2, 30, 30) +
                 step_of(m, at, h, 22, 3, 30, 30) + step_of(m, at, h, 23, 3, 30, 30)) /
                4;
        check_loop(m, s, h, whole, whole, step_of(m, at, h, 25, 0, 0, 0));
        roof_model_free(m);
    }
    roof_hardware_free(h);
}

/* A prefix cache leaves the end of the prompt; a chunk that does not divide it makes nearly equal
 * chunks; one token needs no decode step. */
static void test_loop_chunks(void **state)
{
    (void)state;
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    struct roof_model *const m = parse(DENSE);
    const struct roof_scenario at = asked(ROOF_PHASE_DECODE, 1, 35);
    struct roof_scenario s = in_flight(1, 30, 10, 8);
    s.prefix_hit = 0.35; /* 10 of 30 tokens */
    check_loop(m, s, h,
               step_of(m, at, h, 0, 1, 6, 16) + step_of(m, at, h, 0, 1, 7, 23) +
                   step_of(m, at, h, 0, 1, 7, 30),
               step_of(m, at, h, 1, 0, 0, 0), step_of(m, at, h, 1, 0, 0, 0));
    s = in_flight(1, 30, 1, 0);
    assert_near(infer(m, s, h)->ttft_s, step_of(m, at, h, 0, 1, 30, 30), 1e-12);
    assert_true(unknown(infer(m, s, h)->tpot_s));
    assert_int_equal(infer(m, s, h)->scenario.chunk, 8192);
    /* Many chunks are summed in groups: of times on a line that is exact. */
    s = in_flight(1, 100, 2, 1);
    double sum = 0;
    for (int64_t end = 1; end <= 100; end++) {
        sum += step_of(m, at, h, 0, 1, 1, end);
    }
    assert_near(infer(m, s, h)->ttft_s, sum, 1e-2);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* Two stages have two lanes of two users each: 1.5 of each decode, and each has its own chunk. A
 * step is two turns of the slower stage. The first chunk of a prompt goes through both stages, and
 * the second and third follow it a turn later each. Or one of each decodes beside a chunk, and two
 * in the steps without. */
static void test_loop_stages(void **state)
{
    (void)state;
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario at = asked(ROOF_PHASE_DECODE, 1, 35);
    at.pp = 2;
    struct roof_scenario s = in_flight(4, 30, 10, 10);
    s.pp = 2;
    struct schedule schedule[2];
    for (int n = 0; n < 2; n++) {
        const int64_t decoding = n == 0 ? 3 : 2;
        const double mixed = chunked(m, at, h, decoding, 2);
        double path = 0;
        for (int64_t end = 10; end <= 30; end += 10) {
            path += one_step(m, at, h, decoding, 2, 10, end)->total.time_s / 3;
        }
        assert_true(path < mixed);
        schedule[n].ttft = path + 2 * mixed / 2;
        schedule[n].tpot = 2 * step_of(m, at, h, n == 0 ? 3 : 4, 0, 0, 0) / 3 + mixed / 3;
    }
    check_schedules(m, s, h, schedule, COUNT(schedule), step_of(m, at, h, 4, 0, 0, 0));
    roof_model_free(m);
    roof_hardware_free(h);
}

/* Two groups of the attention have a budget each: a step has room for a prompt in each of them. */
static void test_loop_groups(void **state)
{
    (void)state;
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    struct roof_model *const m = parse(MOE);
    struct roof_scenario at = asked(ROOF_PHASE_DECODE, 1, 35);
    at.common.shape.ep = 2;
    /* 10 prompts in 10 steps, one in each; or two in each of 5, 4 of them among the 9 in which a
     * user decodes. */
    struct roof_scenario s = in_flight(10, 30, 10, 30);
    s.common.shape.ep = 2;
    double none = step_of(m, at, h, 10, 0, 0, 0);
    double one = step_of(m, at, h, 9, 1, 30, 30);
    double two = step_of(m, at, h, 8, 2, 30, 30);
    assert_true((5 * none + 4 * two) / 9 < one);
    const struct schedule ten[] = {{one, one}, {two, (5 * none + 4 * two) / 9}};
    check_schedules(m, s, h, ten, COUNT(ten), none);
    /* 15 in 10: half of the steps have one prompt, half have one in each group; or 7.5 have two,
     * 6.5 of them among the 9. */
    s.common.shape.batch = 15;
    none = step_of(m, at, h, 15, 0, 0, 0);
    one = (step_of(m, at, h, 13, 1, 30, 30) + step_of(m, at, h, 14, 1, 30, 30) +
           step_of(m, at, h, 13, 2, 30, 30) + step_of(m, at, h, 14, 2, 30, 30)) /
          4;
    two = step_of(m, at, h, 13, 2, 30, 30);
    assert_true((2.5 * none + 6.5 * two) / 9 < one);
    const struct schedule fifteen[] = {{one, one}, {two, (2.5 * none + 6.5 * two) / 9}};
    check_schedules(m, s, h, fifteen, COUNT(fifteen), none);
    /* 20 in 10 fill both groups; 40 take 20 steps, 11 of them before the first token. */
    s.common.shape.batch = 20;
    one = step_of(m, at, h, 18, 2, 30, 30);
    check_loop(m, s, h, one, one, step_of(m, at, h, 20, 0, 0, 0));
    s.common.shape.batch = 40;
    check_loop(m, s, h, 11 * one, one, step_of(m, at, h, 40, 0, 0, 0));
    /* Room for one and a half in each: half of the steps have one in each group, half have two. */
    s = in_flight(30, 30, 10, 45);
    s.common.shape.ep = 2;
    one = (step_of(m, at, h, 27, 2, 30, 30) + step_of(m, at, h, 27, 4, 30, 30)) / 2;
    check_loop(m, s, h, one, one, step_of(m, at, h, 30, 0, 0, 0));
    /* The widest step has a chunk in each group, and two sequences that decode. */
    s = in_flight(4, 30, 10, 10);
    s.common.shape.ep = 2;
    const double activations = infer(m, s, h)->activation_memory_bytes;
    s = asked(ROOF_PHASE_MIXED, 2, 40);
    s.common.shape.ep = 2;
    s.prefill_batch = 2;
    s.chunk = 10;
    s.prefill_context = 30;
    assert_near(activations, infer(m, s, h)->activation_memory_bytes, 0);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* Drafts: a step yields 1.5 tokens, so that 9 tokens take 6 steps. */
static void test_loop_drafts(void **state)
{
    (void)state;
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario at = asked(ROOF_PHASE_DECODE, 1, 35);
    at.draft_tokens = 1;
    at.acceptance = 0.5;
    at.draft = m;
    struct roof_scenario s = in_flight(1, 30, 10, 10);
    s.draft_tokens = 1;
    s.acceptance = 0.5;
    s.draft = m;
    const double step = step_of(m, at, h, 1, 0, 0, 0);
    at.draft_tokens = 0;
    at.draft = NULL;
    check_loop(m, s, h, 3 * chunked(m, at, h, 0, 1), step / 1.5, step);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* The cache holds all requests at their ends; the activations are those of the widest step. */
static void test_loop_memory(void **state)
{
    (void)state;
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    struct roof_model *const m = parse(DENSE);
    const struct roof_model_prediction *i = infer(m, in_flight(4, 30, 10, 10), h);
    const double kv = i->kv_cache_bytes;
    const double activations = i->activation_memory_bytes;
    i = infer(m, asked(ROOF_PHASE_DECODE, 4, 40), h);
    assert_near(kv, i->kv_cache_bytes, 0);
    struct roof_scenario s = asked(ROOF_PHASE_MIXED, 3, 40);
    s.chunk = 10;
    s.prefill_context = 30;
    assert_near(activations, infer(m, s, h)->activation_memory_bytes, 0);
    /* No batch and no longer prompt ever needs less. */
    double before = 0;
    for (int64_t prompt = 1; prompt < 50; prompt++) {
        i = infer(m, in_flight(4, prompt, 10, 10), h);
        const double memory = i->kv_cache_bytes + i->activation_memory_bytes;
        assert_true(memory >= before);
        before = memory;
    }
    roof_model_free(m);
    roof_hardware_free(h);
}

/* A request has the bottleneck of most of its time, and is native if all of it is. */
static void test_request_as_a_whole(void **state)
{
    (void)state;
    struct roof_model *const m = load("llama-3-8b");
    struct roof_hardware *h = load_device("h100-sxm");
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 0);
    s.prompt = 8000;
    s.generate = 1; /* the prefill alone */
    assert_int_equal(infer(m, s, h)->total.bottleneck, ROOF_BOTTLENECK_COMPUTE);
    assert_true(infer(m, s, h)->total.native);
    s.prompt = 10;
    s.generate = 1000;
    assert_int_equal(infer(m, s, h)->total.bottleneck, ROOF_BOTTLENECK_MEMORY);
    s.prompt = 2000; /* a compute-bound prefill of some 2000 x 16 GFLOP, and 15 TB of weights */
    assert_int_equal(infer(m, s, h)->total.bottleneck, ROOF_BOTTLENECK_MEMORY);
    s.tp = 16; /* two nodes: the sums over both take longer than anything else */
    set(h, "network_gb_s", 0.001);
    assert_int_equal(infer(m, s, h)->total.bottleneck, ROOF_BOTTLENECK_NETWORK);
    roof_hardware_free(h);
    h = load_device("a100-sxm-80gb"); /* has no unit for FP8 */
    s.tp = 1;
    s.common.formats.precision = P(FP8_E4M3);
    assert_false(infer(m, s, h)->total.native);
    s.common.formats.precision = P(BF16);
    assert_true(infer(m, s, h)->total.native);
    roof_hardware_free(h);
    roof_model_free(m);
}

/* --- drafts -------------------------------------------------------------------------------- */

/* 1 + a + a^2 + ... + a^k tokens are expected of a step with k drafts. */
static void test_drafts(void **state)
{
    (void)state;
    static const struct {
        int64_t drafts;
        double acceptance, tokens;
    } cases[] = {{0, 0.7, 1}, {1, 0.7, 1.7}, {3, 0.7, 1 + 0.7 + 0.49 + 0.343},
                 {3, 0, 1},   {3, 1, 4},     {2, 0.5, 1.75},
                 {10, 1, 11}};
    struct roof_model *const m = parse(MOE);
    struct roof_model *const draft = parse(DENSE);
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    static struct roof_model_prediction plain;
    static struct roof_model_prediction proposing;
    static struct roof_model_prediction own;
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 50);
        s.draft_tokens = cases[c].drafts;
        s.acceptance = cases[c].acceptance;
        infer_into(&plain, m, &s, h);
        assert_near(plain.tokens_per_step, cases[c].tokens, 1e-15);
        assert_near(plain.tpot_s, plain.step_s / cases[c].tokens, 1e-15);
        assert_near(plain.tokens_per_s, 2 * cases[c].tokens / plain.step_s, 1e-15);
        assert_near(plain.step_s, plain.total.time_s, 0);
        /* The model that proposes takes a step of its own per draft, and memory. */
        s.draft = draft;
        infer_into(&proposing, m, &s, h);
        const struct roof_scenario of_draft = asked(ROOF_PHASE_DECODE, 2, 50);
        infer_into(&own, draft, &of_draft, h);
        assert_near(proposing.step_s, plain.step_s + (double)cases[c].drafts * own.step_s, 1e-15);
        if (cases[c].drafts > 0) {
            assert_near(proposing.draft_s, (double)cases[c].drafts * own.step_s, 1e-15);
            assert_near(plain.draft_s, 0, 0);
        } else {
            assert_true(isnan(proposing.draft_s) && isnan(plain.draft_s));
        }
        const double there = cases[c].drafts > 0 ? 1 : 0;
        assert_near(proposing.weights_memory_bytes,
                    plain.weights_memory_bytes + there * own.weights_memory_bytes, 0);
        assert_near(proposing.kv_cache_bytes, plain.kv_cache_bytes + there * own.kv_cache_bytes, 0);
        assert_near(proposing.total.time_s, plain.total.time_s, 0);
    }
    /* Over expert-parallel devices the draft is split like a dense model. */
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 50);
    s.draft_tokens = 2;
    s.common.shape.ep = 2;
    infer_into(&plain, m, &s, h);
    s.draft = draft;
    infer_into(&proposing, m, &s, h);
    struct roof_scenario of_draft = asked(ROOF_PHASE_DECODE, 2, 50);
    of_draft.tp = 2;
    infer_into(&own, draft, &of_draft, h);
    assert_near(proposing.step_s, plain.step_s + 2 * own.step_s, 1e-15);
    /* A draft that cannot be split so is refused. */
    struct roof_error error = {0};
    struct roof_model *const odd = parse("{\"hidden_size\": 60, \"num_hidden_layers\": 1, "
                                         "\"num_attention_heads\": 3, \"intermediate_size\": 8, "
                                         "\"vocab_size\": 1000}");
    s.draft = odd;
    assert_int_equal(roof_predict_model(&own, m, &s, h, &error), ROOF_USAGE);
    assert_string_equal(error.message,
                        "tiny has 3 attention heads, which tp 2 does not divide; 1 does");
    /* Formats of the model's own weights and experts are not those of the draft. */
    s = asked(ROOF_PHASE_DECODE, 2, 50);
    s.draft_tokens = 1;
    s.common.shape.routing = ROOF_ROUTING_BALANCED;
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        s.weight[w] = P(FP32);
    }
    infer_into(&plain, m, &s, h);
    s.draft = draft;
    infer_into(&proposing, m, &s, h);
    of_draft = asked(ROOF_PHASE_DECODE, 2, 50);
    infer_into(&own, draft, &of_draft, h);
    assert_near(proposing.weights_memory_bytes,
                plain.weights_memory_bytes + own.weights_memory_bytes, 0);
    roof_model_free(odd);
    roof_model_free(m);
    roof_model_free(draft);
    roof_hardware_free(h);
}

/*
 * A module of the model itself, at batch 1 over 50 keys. It reads 2 x (64 x 128 + 35840 + 5 x 64 +
 * 64000 + 64) bytes of weights: the product that joins, a layer, five norms, the head and a row of
 * the table. K and V are 50 x 128 bytes and 128 more. Beside them it moves 3232 + 4848 bytes: a
 * layer takes in 2464 and writes 2208, the row is 128, the three norms take in and write 128 each,
 * the product takes in 256 and writes 128, the head takes in 128 and writes 2000. Everything is
 * bound by 100 GB/s.
 */
static void test_own_drafts(void **state)
{
    (void)state;
    struct roof_model *const m =
        parse("{\"model_type\": \"llama\", \"num_nextn_predict_layers\": 2, " SIZES "}");
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 50);
    s.draft_tokens = 3;
    s.drafting = ROOF_DRAFTING_FREE;
    static struct roof_model_prediction free;
    static struct roof_model_prediction own;
    infer_into(&free, m, &s, h);
    s.drafting = ROOF_DRAFTING_DEFAULT;
    infer_into(&own, m, &s, h);
    assert_near(free.draft_s, 0, 0);
    assert_near(own.draft_s, 3 * (216832. + 6528 + 3232 + 4848) / 100e9, 1e-14);
    assert_near(own.step_s, free.step_s + own.draft_s, 1e-15);
    /* Both modules are resident, each with a cache; table and head are the model's. */
    assert_near(own.weights_memory_bytes - free.weights_memory_bytes,
                2 * 2 * (64 * 128 + 35840 + 5 * 64), 0);
    assert_near(own.kv_cache_bytes - free.kv_cache_bytes, 2 * 50 * 128, 0);
    /* In two stages two microbatches of one sequence wait for the last one, which has a copy of the
     * table: 2 x 64000 bytes, once. */
    s.common.shape.batch = 2;
    s.pp = 2;
    infer_into(&own, m, &s, h);
    s.drafting = ROOF_DRAFTING_FREE;
    infer_into(&free, m, &s, h);
    assert_near(own.draft_s, 2 * 3 * (216832. + 6528 + 3232 + 4848) / 100e9, 1e-14);
    assert_near(own.weights_memory_bytes - free.weights_memory_bytes,
                2 * 2 * (64 * 128 + 35840 + 5 * 64) + 2 * 64000, 0);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* --- memory -------------------------------------------------------------------------------- */

static double needed(const struct roof_model_prediction *i)
{
    return i->weights_memory_bytes + i->kv_cache_bytes + i->activation_memory_bytes;
}

static void test_fits(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    struct roof_hardware *const h = parse_device(DEVICE(""));
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 4, 100);
    const struct roof_model_prediction *i = infer(m, s, h);
    /* All fp16: matrices, norms; cache; the residual and the head's rows. */
    const double weights =
        2. * (4 * (192 * 64 + 64 * 128 + 160 * 64 + 64 * 80 + 128) + 2 * 64000 + 64);
    assert_near(i->weights_memory_bytes, weights, 0);
    assert_near(i->kv_cache_bytes, 4. * 4 * 100 * 64 * 2, 0);
    assert_near(i->activation_memory_bytes, 4. * 2 * (64 + 64 + 1000), 0);
    assert_int_equal(i->fits, ROOF_FIT_UNKNOWN);
    assert_true(unknown(i->memory_capacity_bytes) && unknown(i->memory_reserve_bytes));
    assert_false(unknown(i->tokens_per_s) || unknown(i->tokens_per_s_per_user));
    const double bytes = needed(i);
    /* To the byte, and not one less. */
    s.reserve = 0;
    set(h, "memory_capacity_bytes", bytes);
    i = infer(m, s, h);
    assert_int_equal(i->fits, ROOF_FIT_YES);
    assert_near(i->memory_capacity_bytes, bytes, 0);
    assert_near(i->memory_reserve_bytes, 0, 0);
    assert_false(unknown(i->tokens_per_s));
    set(h, "memory_capacity_bytes", bytes - 1);
    i = infer(m, s, h);
    assert_int_equal(i->fits, ROOF_FIT_NO);
    assert_true(unknown(i->tokens_per_s) && unknown(i->tokens_per_s_per_user));
    assert_false(unknown(i->step_s) || unknown(i->tpot_s));
    /* A tenth is kept free unless something else is said. */
    s.reserve = 0.5;
    set(h, "memory_capacity_bytes", 2 * bytes);
    i = infer(m, s, h);
    assert_int_equal(i->fits, ROOF_FIT_YES);
    assert_near(i->memory_reserve_bytes, bytes, 0);
    set(h, "memory_capacity_bytes", 2 * bytes - 2);
    assert_int_equal(infer(m, s, h)->fits, ROOF_FIT_NO);
    s = asked(ROOF_PHASE_DECODE, 4, 100);
    set(h, "memory_capacity_bytes", bytes * 1.12);
    assert_int_equal(infer(m, s, h)->fits, ROOF_FIT_YES);
    set(h, "memory_capacity_bytes", bytes * 1.11);
    assert_int_equal(infer(m, s, h)->fits, ROOF_FIT_NO);
    roof_hardware_free(h);
    /* The capacity that is printed on the box, in GiB, counts if no other is known. */
    struct roof_hardware *box = parse_device(DEVICE(", \"memory_nominal_gb\": 5"));
    assert_near(infer(m, s, box)->memory_capacity_bytes, 5. * 1024 * 1024 * 1024, 0);
    roof_hardware_free(box);
    box = parse_device(DEVICE(", \"memory_nominal_gb\": 5, \"memory_capacity_bytes\": 4e9"));
    assert_near(infer(m, s, box)->memory_capacity_bytes, 4e9, 0);
    roof_hardware_free(box);
    roof_model_free(m);
}

/* Prefill of MLA: K and V of all heads stand in memory while they are used. */
static void test_activation_memory(void **state)
{
    (void)state;
    struct roof_model *const m = parse(MLA);
    struct roof_hardware *const h = parse_device(DEVICE(""));
    struct roof_scenario s = asked(ROOF_PHASE_PREFILL, 1, 1000);
    s.chunk = 100;
    const struct roof_model_prediction *const i = infer(m, s, h);
    /* Q 100 x 4 x 24, out 100 x 4 x 12, K and V 1000 x 4 x (24 + 12); making them reads latents of
     * 1000 x 32 and writes 1000 x 4 x 28, which is less. */
    assert_near(i->activation_memory_bytes, 2. * (100 * 64 + 9600 + 4800 + 1000 * 4 * 36), 0);
    /* Scales are held too: of the residual, and of what the head writes beside its fp16 input. */
    s = asked(ROOF_PHASE_DECODE, 3, 100);
    s.common.formats.out = ROOF_PRECISION_INT8_CHANNEL;
    assert_near(infer(m, s, h)->activation_memory_bytes, 3. * ((64 + 4) + 2 * 64 + (1000 + 4)), 0);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* The bytes of a file take the place of what the formats alone give; a split shares them. */
static void test_file_bytes(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 50);
    const double formula = roof_model_bytes(m);
    assert_near(infer(m, s, h)->weights_memory_bytes, formula, 0);
    m->file_bytes = 1.25 * formula;
    const struct roof_model_prediction *const i = infer(m, s, h);
    assert_near(i->weights_memory_bytes, 1.25 * formula, 1e-15);
    const double read = i->total.role_bytes[ROOF_ROLE_WEIGHTS];
    s.tp = 2;
    const double half = infer(m, s, h)->weights_memory_bytes;
    m->file_bytes = ROOF_UNKNOWN;
    assert_near(half, 1.25 * infer(m, s, h)->weights_memory_bytes, 1e-15);
    /* Reads are as the formats say. */
    s.tp = 1;
    assert_near(infer(m, s, h)->total.role_bytes[ROOF_ROLE_WEIGHTS], read, 0);
    roof_model_free(m);
    roof_hardware_free(h);
}

/* --- limits -------------------------------------------------------------------------------- */

static enum roof_fit fit(const struct roof_model *m, struct roof_scenario s,
                         const struct roof_hardware *h)
{
    return infer(m, s, h)->fits;
}

/* The largest batch and context fit, and one more of either does not. */
static void test_limits(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        const char *device;
        enum roof_phase phase;
        int64_t batch, context, tp, pp;
        enum roof_precision precision;
    } cases[] = {
        {"llama-3-8b", "gb10", ROOF_PHASE_DECODE, 1, 4096, 1, 1, P(FP16)},
        {"llama-3-8b", "h100-sxm", ROOF_PHASE_DECODE, 7, 1000, 2, 1, P(FP8_E4M3)},
        {"llama-3-8b", "h100-sxm", ROOF_PHASE_PREFILL, 2, 512, 1, 1, P(FP16)},
        {"llama-3-70b", "h100-sxm", ROOF_PHASE_DECODE, 4, 8192, 4, 2, P(FP16)},
        {"gemma-3-27b", "h100-sxm", ROOF_PHASE_DECODE, 1, 32768, 1, 1, P(FP16)},
        {"mixtral-8x7b", "h200-sxm", ROOF_PHASE_MIXED, 8, 2048, 1, 1, P(FP16)},
        {"qwen2.5-7b", "l4", ROOF_PHASE_DECODE, 1, 128, 1, 1, P(FP16)},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_model *const m = load(cases[c].model);
        struct roof_hardware *const h = load_device(cases[c].device);
        struct roof_scenario s = asked(cases[c].phase, cases[c].batch, cases[c].context);
        s.tp = cases[c].tp;
        s.pp = cases[c].pp;
        s.common.formats.precision = cases[c].precision;
        const struct roof_limits limits = limits_of(m, s, h);
        assert_true(limits.max_batch >= 1 && limits.max_context >= 1);
        s.common.shape.batch = (int64_t)limits.max_batch;
        assert_int_equal(fit(m, s, h), ROOF_FIT_YES);
        s.common.shape.batch++;
        assert_int_equal(fit(m, s, h), ROOF_FIT_NO);
        s.common.shape.batch = cases[c].batch;
        s.context = (int64_t)limits.max_context;
        assert_int_equal(fit(m, s, h), ROOF_FIT_YES);
        s.context++;
        assert_int_equal(fit(m, s, h), ROOF_FIT_NO);
        roof_model_free(m);
        roof_hardware_free(h);
    }
    /* A request: the prompt. */
    struct roof_model *m = load("llama-3-8b");
    struct roof_hardware *h = load_device("h100-sxm");
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 0);
    s.prompt = 1000;
    s.generate = 100;
    const struct roof_limits limits = limits_of(m, s, h);
    s.prompt = (int64_t)limits.max_context;
    assert_int_equal(fit(m, s, h), ROOF_FIT_YES);
    s.prompt++;
    assert_int_equal(fit(m, s, h), ROOF_FIT_NO);
    s.prompt = 1000;
    s.common.shape.batch = (int64_t)limits.max_batch;
    assert_int_equal(fit(m, s, h), ROOF_FIT_YES);
    s.common.shape.batch++;
    assert_int_equal(fit(m, s, h), ROOF_FIT_NO);
    /* The context when none is given: 4096. */
    assert_near(limits_of(m, asked(ROOF_PHASE_DECODE, 1, 0), h).max_batch,
                limits_of(m, asked(ROOF_PHASE_DECODE, 1, 4096), h).max_batch, 0);
    /* A chunk: contexts from its length on. */
    s = asked(ROOF_PHASE_PREFILL, 1, 3000);
    s.chunk = 1000;
    struct roof_limits of_chunk = limits_of(m, s, h);
    s.context = (int64_t)of_chunk.max_context;
    assert_int_equal(fit(m, s, h), ROOF_FIT_YES);
    s.context++;
    assert_int_equal(fit(m, s, h), ROOF_FIT_NO);
    roof_hardware_free(h);
    roof_model_free(m);
    /* Not even one. */
    m = load("llama-3-70b");
    h = load_device("gb10");
    of_chunk = limits_of(m, asked(ROOF_PHASE_DECODE, 1, 100), h);
    assert_near(of_chunk.max_batch, 0, 0);
    assert_near(of_chunk.max_context, 0, 0);
    roof_hardware_free(h);
    roof_model_free(m);
    /* Unknown capacity: no limit is known. */
    m = parse(ALL_WINDOWED);
    h = parse_device(DEVICE(""));
    of_chunk = limits_of(m, asked(ROOF_PHASE_DECODE, 1, 100), h);
    assert_true(unknown(of_chunk.max_batch) && unknown(of_chunk.max_context));
    /* A cache of windows does not grow: no context is too long. */
    set(h, "memory_capacity_bytes", 1e9);
    of_chunk = limits_of(m, asked(ROOF_PHASE_DECODE, 1, 100), h);
    assert_true(unknown(of_chunk.max_context));
    s = asked(ROOF_PHASE_DECODE, (int64_t)of_chunk.max_batch, 100);
    assert_int_equal(fit(m, s, h), ROOF_FIT_YES);
    s.common.shape.batch++;
    assert_int_equal(fit(m, s, h), ROOF_FIT_NO);
    roof_hardware_free(h);
    roof_model_free(m);
}

/* Tensor parallelism keeps the latent cache on every device, so that the same devices hold more
 * sequences if they share these and the experts. */
static void test_ep_lever(void **state)
{
    (void)state;
    struct roof_model *const m = load("deepseek-v3.2");
    struct roof_model *const dense = load("llama-3.3-70b");
    struct roof_hardware *const h = load_device("h200-sxm");
    struct roof_scenario s;
    roof_scenario_init(&s);
    s.context = 64000;
    s.common.formats.precision = P(FP8_E4M3);
    s.tp = 8;
    const struct roof_limits by_tp = limits_of(m, s, h);
    assert_true(unknown(limits_of(dense, s, h).max_batch_ep));
    s.tp = 0;
    s.common.shape.ep = 8;
    const struct roof_limits by_ep = limits_of(m, s, h);
    assert_true(by_ep.max_batch > 2 * by_tp.max_batch);
    assert_near(by_tp.max_batch_ep, by_ep.max_batch, 0);
    assert_true(unknown(by_ep.max_batch_ep));
    roof_hardware_free(h);
    roof_model_free(dense);
    roof_model_free(m);
}

static void test_levers(void **state)
{
    (void)state;
    struct roof_model *const m = load("llama-3.3-70b");
    struct roof_hardware *const h = load_device("h100-sxm");
    struct roof_scenario s = in_flight(1, 32000, 500, 0);
    s.common.formats.precision = P(FP8_E4M3);
    s.tp = 2;
    const struct roof_limits here = limits_of(m, s, h);
    s.common.formats.kv = P(FP8_E4M3);
    const struct roof_limits narrow = limits_of(m, s, h);
    assert_true(here.max_batch >= 1 && narrow.max_batch > here.max_batch);
    assert_near(here.max_batch_kv_fp8, narrow.max_batch, 0);
    assert_true(unknown(narrow.max_batch_kv_fp8)); /* it has no more than 8 bits */
    assert_true(unknown(here.max_batch_kv_q8_0));
    /* llama.cpp has no caches in fp8. */
    const struct roof_formats given = s.common.formats;
    s.common.formats.weights = P(Q8_0);
    s.common.formats.kv = P(FP16);
    const struct roof_limits local = limits_of(m, s, h);
    s.common.formats.kv = P(Q8_0);
    const struct roof_limits eight = limits_of(m, s, h);
    assert_true(local.max_batch >= 1 && eight.max_batch > local.max_batch);
    assert_near(local.max_batch_kv_q8_0, eight.max_batch, 0);
    assert_true(unknown(local.max_batch_kv_fp8));
    assert_true(unknown(eight.max_batch_kv_fp8) && unknown(eight.max_batch_kv_q8_0));
    s.common.formats = given;
    /* 64 heads are not split over three devices. */
    s.common.formats.kv = P(AUTO);
    s.tp = 4;
    assert_near(here.next_tp, 4, 0);
    assert_near(here.max_batch_next_tp, limits_of(m, s, h).max_batch, 0);
    /* Three stages fit more, too, but machines do not come with three devices. */
    assert_true(unknown(here.max_batch_nearest));
    s.tp = 1;
    s.pp = 3;
    assert_true(limits_of(m, s, h).max_batch > here.max_batch);
    /* 64 heads are not split further: nine nodes of eight are the next in number. */
    s.tp = 64;
    s.pp = 1;
    const struct roof_limits wide = limits_of(m, s, h);
    assert_true(unknown(wide.next_tp) && wide.nearest_tp * wide.nearest_pp == 72);
    s.tp = (int64_t)wide.nearest_tp;
    s.pp = (int64_t)wide.nearest_pp;
    assert_near(wide.max_batch_nearest, limits_of(m, s, h).max_batch, 0);
    assert_true(wide.max_batch_nearest > wide.max_batch);
    /* Three devices become six. */
    s.tp = 1;
    s.pp = 3;
    assert_near(limits_of(m, s, h).next_tp, 2, 0);
    s.pp = 1;
    /* Weights alone fill one device: only another one helps. */
    s.tp = 1;
    const struct roof_limits none = limits_of(m, s, h);
    s.tp = 2;
    assert_near(none.max_batch, 0, 0);
    assert_true(unknown(none.max_batch_kv_fp8));
    assert_near(none.next_tp, 2, 0);
    assert_true(unknown(none.max_batch_nearest)); /* no split has fewer than two devices */
    assert_near(none.max_batch_next_tp, here.max_batch, 0);
    /* Less that is kept free makes room there, and so does a host; what fits needs neither. */
    s.tp = 1;
    s.reserve = none.fit_reserve;
    assert_near(limits_of(m, s, h).max_batch, 1, 0);
    s.reserve = none.fit_reserve + 0.01;
    assert_near(limits_of(m, s, h).max_batch, 0, 0);
    assert_true(s.reserve < 0.1 && roof_offload_layers(none.fit_offload) > 0);
    assert_true(unknown(here.fit_reserve) && here.fit_offload == ROOF_OFFLOAD_NONE);
    /* Each layer there is 2 x 8192 x 8192 (q, o) and 2 x 1024 x 8192 (k, v), three matrices of
     * 28672 x 8192 and two norms, of a byte and two; the host also has a cache for its layers, and
     * gate, up and their product for the 8192 tokens of a chunk. */
    const double layer = 2.0 * 8192 * 8192 + 2.0 * 1024 * 8192 + 3.0 * 28672 * 8192 + 4.0 * 8192;
    const double layers = (double)roof_offload_layers(none.fit_offload);
    assert_true(none.fit_offload_host_bytes > layers * layer);
    assert_true(none.fit_offload_host_bytes < layers * layer * 1.2 + 8192. * 3 * 28672 * 2);
    assert_true(unknown(here.fit_offload_host_bytes));
    /* The batch of a prefill is not one of users. */
    const struct roof_limits prefill = limits_of(m, asked(ROOF_PHASE_PREFILL, 1, 100), h);
    assert_true(unknown(prefill.max_batch_kv_fp8) && unknown(prefill.next_tp));
    roof_hardware_free(h);
    roof_model_free(m);
}

/*
 * The crossover is the context at which the cache is as many bytes as the weights. Weights of a
 * decode step of one token, fp16: 4 layers, the head, norms, a row of the embedding. K and V: 128
 * bytes per token and layer.
 */
static void test_crossover(void **state)
{
    (void)state;
    const double weights =
        2. * (4 * (192 * 64 + 64 * 128 + 160 * 64 + 64 * 80 + 128) + 64000 + 64 + 64);
    struct roof_hardware *const h = parse_device(DEVICE(""));
    struct roof_model *m = parse(DENSE);
    assert_near(limits_of(m, asked(ROOF_PHASE_DECODE, 1, 50), h).kv_crossover_context,
                weights / (4 * 128), 1e-15);
    roof_model_free(m);
    /* Two of four layers stop at 20 tokens. */
    m = parse(WINDOWED);
    assert_near(limits_of(m, asked(ROOF_PHASE_DECODE, 1, 50), h).kv_crossover_context,
                (weights - 2 * 128 * 20) / (2 * 128), 1e-15);
    /* So many sequences that it is before that: (weights + a row each) / each one's 512. */
    const double first = (weights + 19999 * 128.) / (20000 * 512.);
    assert_true(first < 20);
    assert_near(limits_of(m, asked(ROOF_PHASE_DECODE, 20000, 50), h).kv_crossover_context, first,
                1e-15);
    roof_model_free(m);
    /* If all layers are windowed, the cache never overtakes the weights. */
    m = parse(ALL_WINDOWED);
    assert_true(unknown(limits_of(m, asked(ROOF_PHASE_DECODE, 1, 50), h).kv_crossover_context));
    roof_model_free(m);
    /* Nor does it if no layer has attention: four of Jamba's before its first. */
    m = parse(STATES);
    assert_true(unknown(limits_of(m, asked(ROOF_PHASE_DECODE, 1, 50), h).kv_crossover_context));
    roof_model_free(m);
    roof_hardware_free(h);
}

/*
 * A product of m x n x k in fp16 is compute-bound from 2 m n k / 1e12 >= 2 (m n + n k + m k) /
 * 1e11, that is m (n k - 10 n - 10 k) >= 10 n k. n x k = 192 x 64: m >= 12.6; 64 x 128: m >= 13.06;
 * 160 x 64: 12.8; 64 x 80: 13.91; the head 1000 x 64: 11.99.
 */
static void test_compute_bound_batch(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double batch;
    } rows[] = {{"qkv_proj", 12.63},
                {"o_proj", 13.06},
                {"gate_up_proj", 12.8},
                {"down_proj", 13.91},
                {"lm_head", 11.99}};
    struct roof_hardware *h = parse_device(DEVICE(""));
    struct roof_model *m = parse(DENSE);
    struct roof_limits limits = limits_of(m, asked(ROOF_PHASE_DECODE, 1, 50), h);
    const struct roof_model_prediction *i = infer(m, asked(ROOF_PHASE_DECODE, 1, 50), h);
    for (size_t r = 0; r < COUNT(rows); r++) {
        const size_t at = (size_t)(find(i, rows[r].name) - i->node);
        assert_near(limits.compute_bound_batch[at], ceil(rows[r].batch), 0);
    }
    /* Vector operators have no such batch; attention of one query has none. */
    for (size_t k = 0; k < i->count; k++) {
        const enum roof_operator op = i->node[k].node.workload.op;
        assert_int_equal(unknown(limits.compute_bound_batch[k]), op != OP(GEMM));
    }
    /* Prompts of 100 are so at once. */
    limits = limits_of(m, asked(ROOF_PHASE_PREFILL, 1, 100), h);
    i = infer(m, asked(ROOF_PHASE_PREFILL, 1, 100), h);
    assert_near(limits.compute_bound_batch[find(i, "down_proj") - i->node], 1, 0);
    assert_near(limits.compute_bound_batch[find(i, "lm_head") - i->node], 12, 0);
    /* One of two chunks of 5 in prefill passes a stage at a time: 8 others make 13 rows, and the
     * first batch of which 8 are together is 7 x 2 + 1. */
    struct roof_scenario chunks = asked(ROOF_PHASE_MIXED, 1, 50);
    chunks.chunk = 5;
    chunks.prefill_batch = 2;
    chunks.pp = 2;
    set(h, "link_gb_s", 1);
    limits = limits_of(m, chunks, h);
    i = infer(m, chunks, h);
    assert_near(limits.compute_bound_batch[find(i, "qkv_proj") - i->node], 15, 0);
    assert_near(limits.compute_bound_batch[find(i, "lm_head") - i->node], 21, 0);
    roof_model_free(m);
    roof_hardware_free(h);
    /* At the batch it is bound by compute, at one less it is not. */
    static const char *const models[] = {"llama-3-8b", "mixtral-8x7b", "deepseek-v3",
                                         "gpt-oss-20b"};
    h = load_device("h100-sxm");
    size_t checked = 0;
    for (size_t c = 0; c < COUNT(models); c++) {
        m = load(models[c]);
        struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 1024);
        limits = limits_of(m, s, h);
        static struct roof_model_prediction one;
        infer_into(&one, m, &s, h);
        for (size_t k = 0; k < one.count; k++) {
            const double batch = limits.compute_bound_batch[k];
            if (unknown(batch)) {
                continue;
            }
            s.common.shape.batch = (int64_t)batch;
            assert_int_equal(find(infer(m, s, h), one.node[k].node.name)->prediction.bottleneck,
                             ROOF_BOTTLENECK_COMPUTE);
            if (batch > 1) {
                s.common.shape.batch--;
                assert_int_not_equal(
                    find(infer(m, s, h), one.node[k].node.name)->prediction.bottleneck,
                    ROOF_BOTTLENECK_COMPUTE);
            }
            checked++;
        }
        roof_model_free(m);
    }
    assert_true(checked > 15);
    roof_hardware_free(h);
}

/* --- splits -------------------------------------------------------------------------------- */

/* Two devices: half of every matrix exactly, norms whole on each. */
static enum roof_bottleneck bottleneck_at(const struct roof_model *m, struct roof_scenario s,
                                          const struct roof_hardware *h, int64_t batch)
{
    s.common.shape.batch = batch;
    return infer(m, s, h)->total.bottleneck;
}

/*
 * A sequence more takes 2 x 7.505 G / 989.4 TFLOP/s = 15.17 us of products, 131072 bytes x context
 * / 3350 GB/s = 39.13 ns x context of cache, and a little for vectors: beyond 388 tokens the cache
 * always takes longer.
 */
static void test_decode_compute_bound(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_device("h100-sxm");
    struct roof_model *const m = load("llama-3-8b");
    static const int64_t contexts[] = {10, 100, 300};
    for (size_t i = 0; i < COUNT(contexts); i++) {
        for (int64_t pp = 1; pp <= 4; pp *= 2) {
            struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, contexts[i]);
            s.pp = pp;
            const double batch = limits_of(m, s, h).decode_compute_bound;
            assert_true(batch > 1 && batch < 1 << 20);
            assert_int_equal(bottleneck_at(m, s, h, (int64_t)batch), ROOF_BOTTLENECK_COMPUTE);
            assert_int_equal(bottleneck_at(m, s, h, (int64_t)batch - 1), ROOF_BOTTLENECK_MEMORY);
        }
    }
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 389);
    assert_true(isinf(limits_of(m, s, h).decode_compute_bound));
    /* A request is asked for its last step. */
    s = asked(ROOF_PHASE_DECODE, 1, 300);
    assert_near(limits_of(m, in_flight(7, 200, 100, 0), h).decode_compute_bound,
                limits_of(m, s, h).decode_compute_bound, 0);
    s.phase = ROOF_PHASE_PREFILL;
    assert_true(unknown(limits_of(m, s, h).decode_compute_bound));
    roof_hardware_free(h);
    struct roof_hardware *const bare = parse_device(
        "{\"id\": \"bare\", \"bandwidth_gb_s\": 3350, \"peak_tflops\": {\"int8\": 1}}");
    s.phase = ROOF_PHASE_DECODE;
    assert_true(unknown(limits_of(m, s, bare).decode_compute_bound));
    roof_hardware_free(bare);
    roof_model_free(m);
}

/* Three copies serve three times the sequences in the same time, each from its own memory. */
static void test_copies(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_device("h100-sxm");
    struct roof_model *const m = load("llama-3-8b");
    struct roof_scenario together = in_flight(4, 1000, 100, 0);
    together.static_batch = 1;
    const struct roof_scenario cases[] = {
        asked(ROOF_PHASE_DECODE, 4, 1024), asked(ROOF_PHASE_PREFILL, 2, 1000),
        asked(ROOF_PHASE_MIXED, 4, 1024), in_flight(4, 1000, 100, 0), together};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_scenario s = cases[i];
        static struct roof_model_prediction one;
        s.tp = 2;
        infer_into(&one, m, &s, h);
        s.dp = 3;
        const struct roof_model_prediction *const all = infer(m, s, h);
        assert_near(one.devices, 2, 0);
        assert_near(all->devices, 6, 0);
        assert_near(all->tokens_per_s, 3 * one.tokens_per_s, 0);
        assert_near(all->tokens_per_s_per_user, one.tokens_per_s_per_user, 0);
        assert_near(all->total.time_s, one.total.time_s, 0);
        assert_near(all->step_s, one.step_s, 0);
        assert_near(all->weights_memory_bytes, one.weights_memory_bytes, 0);
        assert_near(all->kv_cache_bytes, one.kv_cache_bytes, 0);
        assert_near(all->activation_memory_bytes, one.activation_memory_bytes, 0);
        s.dp = 1;
        const double most = limits_of(m, s, h).max_batch;
        s.dp = 3;
        assert_near(limits_of(m, s, h).max_batch, most, 0); /* of each copy */
    }
    roof_model_free(m);
    roof_hardware_free(h);
}

static void test_tensor_parallel(void **state)
{
    (void)state;
    struct roof_hardware *const h = load_device("h100-sxm");
    static const struct {
        const char *id;
        double norms;
    } cases[] = {{"llama-3-8b", 65. * 4096},
                 {"llama-3-70b", 161. * 8192},
                 {"gemma-2-9b", (42. * 4 + 1) * 3584},
                 {"qwen3-32b", 129. * 5120 + 64. * 256}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_model *const m = load(cases[c].id);
        struct roof_scenario s = asked(ROOF_PHASE_DECODE, 4, 1024);
        static struct roof_model_prediction one;
        infer_into(&one, m, &s, h);
        s.tp = 2;
        const struct roof_model_prediction *const two = infer(m, s, h);
        const double norms = 2 * cases[c].norms;
        assert_near(two->weights_memory_bytes - norms, (one.weights_memory_bytes - norms) / 2, 0);
        assert_near(two->kv_cache_bytes, one.kv_cache_bytes / 2, 0);
        assert_near(two->kv_bytes_per_token, one.kv_bytes_per_token, 0);
        for (size_t k = 0; k < one.count; k++) {
            const struct roof_prediction *const a = &one.node[k].prediction;
            const struct roof_prediction *const b = &find(two, one.node[k].node.name)->prediction;
            if (a->workload.op == OP(GEMM) || a->workload.op == OP(FLASH_ATTENTION)) {
                assert_near(b->flops, a->flops / 2, 0);
                assert_near(b->role_bytes[ROOF_ROLE_WEIGHTS], a->role_bytes[ROOF_ROLE_WEIGHTS] / 2,
                            0);
                assert_near(b->role_bytes[ROOF_ROLE_KV], a->role_bytes[ROOF_ROLE_KV] / 2, 0);
            }
        }
        roof_model_free(m);
    }
    roof_hardware_free(h);
}

/*
 * 10 GB/s inside a node of two, 1 GB/s between nodes. An all-reduce of n bytes over p devices sends
 * 2 (p - 1) / p n in 2 (p - 1) steps around a ring, or (p - 1) n in one step; the faster counts
 * when steps cost time.
 */
static void test_links(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    struct roof_scenario s = asked(ROOF_PHASE_PREFILL, 1, 100);
    const double bytes = 100 * 64 * 2;
    s.tp = 2;
    struct roof_hardware *h = parse_device(DEVICE(LINKS));
    assert_near(find(infer(m, s, h), "mlp_all_reduce")->prediction.time_s, bytes / 10e9, 1e-15);
    s.tp = 4; /* two nodes */
    const struct roof_model_prediction *i = infer(m, s, h);
    assert_near(find(i, "mlp_all_reduce")->prediction.time_s, 2 * 0.75 * bytes / 1e9, 1e-15);
    assert_int_equal(find(i, "mlp_all_reduce")->prediction.workload.shape.algorithm,
                     ROOF_ALGORITHM_RING);
    assert_int_equal(i->total.bottleneck, ROOF_BOTTLENECK_NETWORK);
    /* Steps of 1 us: at once is faster up to 3 n - 1.5 n = 1.5 n <= 5 us, that is 3333 bytes. */
    set(h, "network_latency_us", 1);
    static const struct {
        int64_t tokens; /* of 128 bytes */
        bool at_once;
    } cases[] = {{1, true}, {26, true}, {27, false}, {100, false}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        s.context = cases[c].tokens;
        i = infer(m, s, h);
        const double n = 128. * (double)cases[c].tokens;
        const struct roof_prediction *const p = &find(i, "mlp_all_reduce")->prediction;
        assert_near(p->time_s, cases[c].at_once ? 3 * n / 1e9 + 1e-6 : 1.5 * n / 1e9 + 6e-6, 1e-14);
        assert_int_equal(p->workload.shape.algorithm,
                         cases[c].at_once ? ROOF_ALGORITHM_ONE_SHOT : ROOF_ALGORITHM_RING);
        /* p - 1 shares are gathered in as many steps. */
        assert_near(find(i, "logits_all_gather")->prediction.time_s, 0.75 * 2000 / 1e9 + 3e-6,
                    1e-14);
    }
    roof_hardware_free(h);
    roof_model_free(m);
}

static void not_inferred(const struct roof_model *m, struct roof_scenario s,
                         const struct roof_hardware *h, const char *message)
{
    static struct roof_model_prediction out;
    struct roof_error error = {0};
    assert_int_equal(roof_predict_model(&out, m, &s, h, &error), ROOF_USAGE);
    if (strcmp(error.message, message) != 0) {
        fail_msg("%s\nexpected %s", error.message, message);
    }
    assert_int_equal(roof_predict_model(&out, m, &s, h, NULL), ROOF_USAGE);
}

static void test_unknown_links(void **state)
{
    (void)state;
    struct roof_model *const m = parse(DENSE);
    struct roof_model *const moe = parse(MOE);
    struct roof_hardware *h = parse_device(DEVICE(""));
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 4, 100);
    s.tp = 2;
    not_inferred(m, s, h,
                 "device: link_gb_s is unknown, and 2 devices need it; give it with set "
                 "link_gb_s=VALUE");
    s.tp = 1;
    s.pp = 2;
    not_inferred(m, s, h,
                 "device: link_gb_s is unknown, and 2 devices need it; give it with set "
                 "link_gb_s=VALUE");
    s.pp = 1;
    s.common.shape.ep = 4;
    not_inferred(moe, s, h,
                 "device: link_gb_s is unknown, and 4 devices need it; give it with set "
                 "link_gb_s=VALUE");
    roof_hardware_free(h);
    h = parse_device(DEVICE(", \"devices_per_node\": 2, \"link_gb_s\": 10"));
    s = asked(ROOF_PHASE_DECODE, 4, 100);
    s.tp = 2;
    (void)infer(m, s, h);
    s.tp = 4;
    not_inferred(m, s, h,
                 "device: network_gb_s is unknown, and 4 devices need it; give it with set "
                 "network_gb_s=VALUE");
    s.tp = 1;
    s.pp = 2; /* within the node */
    (void)infer(m, s, h);
    s.pp = 4; /* the third stage lies in the next */
    not_inferred(m, s, h,
                 "device: network_gb_s is unknown, and 3 devices need it; give it with set "
                 "network_gb_s=VALUE");
    s.tp = 3;
    not_inferred(m, s, h,
                 "tiny has 8 attention heads, which tp 3 does not divide; 1, 2, 4 and 8 do");
    roof_hardware_free(h);
    roof_model_free(m);
    roof_model_free(moe);
}

/* The time of the slowest stage of a resolved scenario with some batch. */
static double slowest_of(const struct roof_model *m, struct roof_scenario s, int64_t batch,
                         const struct roof_hardware *h)
{
    static struct roof_graph graph;
    double slowest = 0;
    s.common.shape.batch = batch;
    for (int64_t stage = 0; stage < s.pp; stage++) {
        double time = 0;
        assert_int_equal(
            roof_graph_build(&graph, m, &s, stage, (struct roof_places){.node = 2}, NULL), ROOF_OK);
        for (size_t k = 0; k < graph.count; k++) {
            struct roof_prediction p;
            assert_int_equal(roof_predict(&p, &graph.node[k].workload, h, NULL), ROOF_OK);
            time += (double)graph.node[k].count * p.time_s;
        }
        slowest = fmax(slowest, time);
    }
    return slowest;
}

/*
 * Pipelines: parts of the batch run one behind the other. In decode a part comes round when it has
 * passed all stages, and not before the slowest stage has served all parts; in prefill the slowest
 * stage serves the other parts behind the first, of which B mod m - 1 are as large as it, and the
 * rest has one sequence less.
 */
static void test_pipeline(void **state)
{
    (void)state;
    static const char *const configs[] = {DENSE, WINDOWED, MOE, MLA};
    static struct roof_graph graph;
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    for (size_t c = 0; c < COUNT(configs); c++) {
        struct roof_model *const m = parse(configs[c]);
        for (int64_t pp = 2; pp <= (m->layers < 3 ? 2 : 3); pp++) {
            for (int64_t batch = 1; batch <= 7; batch += 2) {
                for (int phase = ROOF_PHASE_DECODE; phase <= ROOF_PHASE_MIXED; phase++) {
                    struct roof_scenario s = asked((enum roof_phase)phase, batch, 64);
                    struct roof_scenario done = s;
                    s.pp = pp;
                    done = s;
                    assert_int_equal(roof_scenario_resolve(&done, m, NULL), ROOF_OK);
                    double path = 0;
                    double slowest = 0;
                    double most = 0;
                    double resident = 0;
                    for (int64_t stage = 0; stage < pp; stage++) {
                        assert_int_equal(roof_graph_build(&graph, m, &done, stage,
                                                          (struct roof_places){.node = 2}, NULL),
                                         ROOF_OK);
                        double time = 0;
                        double weights = 0;
                        double live = 0;
                        for (size_t k = 0; k < graph.count; k++) {
                            const struct roof_node *const node = &graph.node[k];
                            struct roof_prediction p;
                            assert_int_equal(roof_predict(&p, &node->workload, h, NULL), ROOF_OK);
                            time += (double)node->count * p.time_s;
                            weights += roof_node_bytes(node);
                            const double held =
                                p.role_bytes[ROOF_ROLE_ACTIVATIONS] + p.role_bytes[ROOF_ROLE_OUT] +
                                (node->workload.op == OP(MLA_PREFILL) ? p.role_bytes[ROOF_ROLE_KV]
                                                                      : 0);
                            live = fmax(live, held);
                        }
                        path += time;
                        slowest = fmax(slowest, time);
                        most = fmax(most, weights + graph.kv_bytes + graph.residual_bytes + live);
                        resident += weights;
                    }
                    const double parts = (double)(batch < pp ? batch : pp);
                    const int64_t larger = batch % (int64_t)parts;
                    const double behind =
                        larger == 0
                            ? (parts - 1) * slowest
                            : (double)(larger - 1) * slowest +
                                  (parts - (double)larger) * slowest_of(m, done, batch - larger, h);
                    const double step =
                        phase == ROOF_PHASE_PREFILL ? path + behind : fmax(path, parts * slowest);
                    const struct roof_model_prediction *const i = infer(m, s, h);
                    sums_up(i);
                    assert_near(i->step_s, step, 1e-14);
                    assert_near(i->slowest_stage_s, slowest, 1e-14);
                    assert_near(i->devices, (double)pp, 0);
                    assert_near(i->total.time_s, path, 1e-14);
                    assert_near(needed(i), most, 1e-15);
                    /* All stages together hold the model. */
                    assert_near(resident, roof_model_bytes(m), 1e-15);
                    /* The operators of the slowest stage. */
                    double device = 0;
                    for (size_t k = 0; k < i->count; k++) {
                        device += (double)i->node[k].device_count * i->node[k].prediction.time_s;
                    }
                    assert_near(device, slowest, 1e-14);
                }
            }
        }
        roof_model_free(m);
    }
    roof_hardware_free(h);
}

/* --- laws ---------------------------------------------------------------------------------- */

/* A model of any kind. */
static struct roof_model *random_model(void)
{
    char text[1024];
    char more[512] = "";
    const int64_t kv = (int64_t)1 << pick(0, 3);
    const int64_t heads = kv << pick(0, 3);
    const int64_t layers = pick(1, 9);
    const int kind = (int)pick(0, 3);
    if (kind == 1) {
        snprintf(more, sizeof more,
                 ", \"num_experts\": %d, \"num_experts_per_tok\": %d, "
                 "\"moe_intermediate_size\": %d, \"n_shared_experts\": %d",
                 8 << pick(0, 3), (int)pick(1, 8), 16 << pick(0, 3), (int)pick(0, 2));
    } else if (kind == 2) {
        snprintf(more, sizeof more, ", \"sliding_window\": %d, \"sliding_window_pattern\": %d",
                 (int)pick(1, 600), (int)pick(0, 5));
    } else if (kind == 3) {
        snprintf(more, sizeof more,
                 ", \"kv_lora_rank\": %d, \"q_lora_rank\": %d, \"qk_nope_head_dim\": 16, "
                 "\"qk_rope_head_dim\": 8, \"v_head_dim\": %d",
                 2 * (int)pick(1, 99), (int)pick(0, 50), (int)pick(1, 50));
    }
    static const char *const families[] = {"llama", "qwen3", "gpt_neox", "gemma2", "opt"};
    snprintf(text, sizeof text,
             "{\"model_type\": \"%s\", \"hidden_size\": %d, \"num_hidden_layers\": %d, "
             "\"num_attention_heads\": %d, \"num_key_value_heads\": %d, \"head_dim\": %d, "
             "\"intermediate_size\": %d, \"vocab_size\": %d, \"max_position_embeddings\": 4096%s}",
             families[pick(0, 4)], (int)pick(1, 40) * 8, (int)layers, (int)heads, (int)kv,
             8 * (int)pick(1, 16), 16 << pick(0, 5), (int)pick(10, 5000), more);
    return parse(text);
}

static struct roof_hardware *random_device(void)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "{\"id\": \"random\", \"bandwidth_gb_s\": %d, \"peak_tflops\": {\"fp16\": %d, \"fp8\": "
        "%d}, \"vector_tflops\": {\"fp32\": %d}, \"devices_per_node\": %d, \"link_gb_s\": %d, "
        "\"network_gb_s\": %d, \"memory_capacity_bytes\": %d, \"link_latency_us\": %d}",
        1 << pick(0, 12), 1 << pick(0, 11), 1 << pick(0, 12), (int)pick(1, 50), 1 << pick(0, 3),
        1 << pick(0, 9), 1 << pick(0, 7), (int)pick(1000, 1000000000), (int)pick(1, 9));
    return parse_device(text);
}

static struct roof_scenario random_scenario(const struct roof_model *m)
{
    struct roof_scenario s =
        asked((enum roof_phase)pick(0, 2), (int64_t)1 << pick(0, 10), pick(1, 1000));
    if (s.phase == ROOF_PHASE_MIXED) {
        s.chunk = pick(1, 300);
        s.prefill_batch = pick(1, 4);
    }
    s.draft_tokens = s.phase == ROOF_PHASE_DECODE ? pick(-3, 4) : 0;
    s.draft_tokens = s.draft_tokens < 0 ? 0 : s.draft_tokens;
    s.tp = (int64_t)1 << pick(0, 3);
    s.tp = m->heads % s.tp == 0 ? s.tp : 1;
    s.pp = s.phase == ROOF_PHASE_MIXED ? 1 : pick(1, m->layers < 4 ? m->layers : 4);
    s.common.shape.ep = m->experts > 0 ? (int64_t)1 << pick(0, 3) : 1;
    s.common.formats.precision = pick(0, 1) == 0 ? P(FP16) : P(FP8_E4M3);
    return s;
}

/* More sequences and longer contexts never take less time or memory. */
static void test_monotone(void **state)
{
    (void)state;
    random_state = 20240607;
    static struct roof_model_prediction less;
    static struct roof_model_prediction more;
    for (int round = 0; round < 300; round++) {
        struct roof_model *const m = random_model();
        struct roof_hardware *const h = random_device();
        struct roof_scenario s = random_scenario(m);
        infer_into(&less, m, &s, h);
        sums_up(&less);
        assert_true(less.step_s > 0 && isfinite(less.step_s));
        struct roof_scenario larger = s;
        larger.common.shape.batch += pick(1, 3);
        infer_into(&more, m, &larger, h);
        assert_true(more.step_s >= less.step_s * (1 - 1e-14));
        assert_true(more.kv_cache_bytes >= less.kv_cache_bytes);
        assert_true(more.weights_memory_bytes == less.weights_memory_bytes || s.pp > 1);
        larger = s;
        larger.context += pick(1, 500);
        infer_into(&more, m, &larger, h);
        assert_true(more.step_s >= less.step_s * (1 - 1e-14));
        assert_true(needed(&more) >= needed(&less));
        assert_true(less.fits == ROOF_FIT_YES || more.fits == ROOF_FIT_NO);
        roof_model_free(m);
        roof_hardware_free(h);
    }
}

/* Equal questions have equal answers; a request is the sum of its steps, whatever the model. */
static void test_random_requests(void **state)
{
    (void)state;
    random_state = 977;
    for (int round = 0; round < 60; round++) {
        struct roof_model *const m = random_model();
        struct roof_hardware *const h = random_device();
        struct roof_scenario s = random_scenario(m);
        s.phase = ROOF_PHASE_DECODE;
        s.context = s.chunk = s.prefill_batch = 0;
        request_is_the_sum(m, s, pick(1, 700), pick(1, 150), h);
        roof_model_free(m);
        roof_hardware_free(h);
    }
}

/* Blocks sum up to the pass, whatever is fused, split or scattered over experts. Of two layers of
 * the MLA model, attention has the products of the latents and o_proj; each name is in one block.
 */
static void test_blocks(void **state)
{
    (void)state;
    static const char *const configs[] = {DENSE, WINDOWED, MOE, MLA};
    static const struct {
        const char *name;
        enum roof_block block;
    } known[] = {{"embedding", ROOF_BLOCK_ENDS},      {"lm_head", ROOF_BLOCK_ENDS},
                 {"attn_norm", ROOF_BLOCK_ATTENTION}, {"o_proj", ROOF_BLOCK_ATTENTION},
                 {"attn_add", ROOF_BLOCK_ATTENTION},  {"down_proj", ROOF_BLOCK_MLP},
                 {"mlp_norm", ROOF_BLOCK_MLP},        {"mlp_add", ROOF_BLOCK_MLP},
                 {"experts", ROOF_BLOCK_MLP},         {"attn_all_reduce", ROOF_BLOCK_ATTENTION},
                 {"mlp_all_reduce", ROOF_BLOCK_MLP}};
    struct roof_hardware *const h = parse_device(DEVICE(LINKS));
    for (size_t c = 0; c < COUNT(configs); c++) {
        struct roof_model *const m = parse(configs[c]);
        for (int variant = 0; variant < 4; variant++) {
            struct roof_scenario s = asked(ROOF_PHASE_DECODE, 2, 50);
            struct roof_blocks blocks;
            double flops = 0;
            double time_s = 0;
            double share = 0;
            double part = 0;
            s.fuse = variant % 2 == 1 ? ROOF_FUSE_ALL : ROOF_FUSE_DEFAULT;
            s.tp = variant / 2 + 1;
            const struct roof_model_prediction *const r = infer(m, s, h);
            roof_model_blocks(&blocks, r);
            assert_true(blocks.known);
            for (int i = 0; i < ROOF_BLOCK_COUNT; i++) {
                flops += blocks.of[i].flops;
                time_s += blocks.of[i].time_s;
                share += blocks.of[i].share_of_time;
                part += blocks.of[i].share_of_flops;
                assert_int_equal(blocks.of[i].layers, i == ROOF_BLOCK_ENDS      ? 1
                                                      : i == ROOF_BLOCK_ENCODER ? 0
                                                                                : m->layers);
            }
            assert_near(flops, r->total.flops, 1e-12);
            assert_near(time_s, r->total.time_s, 1e-12);
            assert_near(share, 1, 1e-12);
            assert_near(part, 1, 1e-12);
            for (size_t i = 0; i < r->count; i++) {
                for (size_t k = 0; k < COUNT(known); k++) {
                    if (strcmp(r->node[i].node.name, known[k].name) == 0) {
                        assert_int_equal(r->node[i].node.block, known[k].block);
                    }
                }
            }
        }
        roof_model_free(m);
    }
    roof_hardware_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llama_3_8b),
        cmocka_unit_test(test_llama_2_7b_cache),
        cmocka_unit_test(test_deepseek_v3),
        cmocka_unit_test(test_causal_prefill),
        cmocka_unit_test(test_touched_experts),
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_host_range),
        cmocka_unit_test(test_step_by_hand),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_long_requests),
        cmocka_unit_test(test_request_as_a_whole),
        cmocka_unit_test(test_closed_loop),
        cmocka_unit_test(test_loop_chunks),
        cmocka_unit_test(test_loop_stages),
        cmocka_unit_test(test_loop_groups),
        cmocka_unit_test(test_loop_drafts),
        cmocka_unit_test(test_loop_memory),
        cmocka_unit_test(test_drafts),
        cmocka_unit_test(test_own_drafts),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_activation_memory),
        cmocka_unit_test(test_file_bytes),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_ep_lever),
        cmocka_unit_test(test_levers),
        cmocka_unit_test(test_crossover),
        cmocka_unit_test(test_compute_bound_batch),
        cmocka_unit_test(test_decode_compute_bound),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_tensor_parallel),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_unknown_links),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_monotone),
        cmocka_unit_test(test_random_requests),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
