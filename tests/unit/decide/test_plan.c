// SPDX-License-Identifier: MIT
/*
 * The search of plans against the same grid walked a second time: which plans there are, what they
 * take, how they rank, what is left out and how near it came.
 */
#include "models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TIGHT 1e-14
#define NONE ((double)NAN)

/* Four devices per node. A launch takes 1 us and all else what it takes at best. */
#define DEVICE(id, architecture, bandwidth, memory, more)                                          \
    "{\"id\": \"" id "\", \"architecture\": \"" architecture "\", \"bandwidth_gb_s\": " bandwidth  \
    ", \"sm_count\": 10, \"boost_clock_mhz\": 1000, \"l2_bytes\": 1000000, "                       \
    "\"memory_capacity_bytes\": " memory ", \"vector_tflops\": {\"fp32\": 0.5}, "                  \
    "\"devices_per_node\": 4, \"link_gb_s\": 20, \"network_gb_s\": 5, " more "}"
#define PEAKS "\"peak_tflops\": {\"fp16\": 1, \"bf16\": 1, \"fp8\": 2, \"int8\": 2, \"nvfp4\": 4}"

enum { HOPPER, BLACKWELL, NO_FP8, NO_TDP, UNMEASURED, NO_ENGINE, NO_MEMORY, DEVICES };
static const char *const device_text[DEVICES] = {
    [HOPPER] = DEVICE("hopper", "Hopper", "100", "6e6", PEAKS ", \"tdp_w\": 700"),
    [BLACKWELL] = DEVICE("blackwell", "Blackwell (X)", "230", "9e6", PEAKS ", \"tdp_w\": 1000"),
    [NO_FP8] = DEVICE("no-fp8", "Hopper", "60", "7e6",
                      "\"tdp_w\": 300, \"peak_tflops\": {\"fp16\": 1, \"bf16\": 1}"),
    [NO_TDP] = DEVICE("no-tdp", "Ada Lovelace", "80", "5e6", PEAKS),
    [UNMEASURED] = DEVICE("unmeasured", "Hopper", "50", "5e6", PEAKS ", \"tdp_w\": 500"),
    [NO_ENGINE] = DEVICE("no-engine", "Gaudi 3", "50", "5e6", PEAKS ", \"tdp_w\": 500"),
    [NO_MEMORY] = "{\"id\": \"no-memory\", \"architecture\": \"Hopper\", \"bandwidth_gb_s\": 100, "
                  "\"sm_count\": 10, \"boost_clock_mhz\": 1000, \"l2_bytes\": 1000000, "
                  "\"vector_tflops\": {\"fp32\": 0.5}, " PEAKS "}",
};
static const double prices[DEVICES] = {
    [HOPPER] = 2.5,   [BLACKWELL] = 5.75, [NO_FP8] = NONE, [NO_TDP] = 0.8,
    [UNMEASURED] = 1, [NO_ENGINE] = 1,    [NO_MEMORY] = 1};

#define SIZES                                                                                      \
    "\"hidden_size\": 128, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, "                 \
    "\"num_key_value_heads\": 2, \"head_dim\": 16, \"intermediate_size\": 160, "                   \
    "\"vocab_size\": 1000"
static const char *const model_text[] = {
    "{\"model_type\": \"llama\", " SIZES "}",
    "{\"model_type\": \"mixtral\", \"num_local_experts\": 8, \"num_experts_per_tok\": 2, " SIZES
    "}",
    "{\"model_type\": \"gpt_oss\", \"num_local_experts\": 8, \"num_experts_per_tok\": 2, " SIZES
    ", \"quantization_config\": {\"quant_method\": \"mxfp4\", "
    "\"modules_to_not_convert\": [\"model.layers.*.self_attn\", \"lm_head\"]}}"};
enum { DENSE, EXPERTS, PUBLISHED, MODELS };

static const int64_t batches[] = {1, 3, 8, 30, 100};
static const int64_t counts[] = {1, 2, 3, 4, 8};
static const int64_t few_batches[] = {1, 8, 100};
static const int64_t few_counts[] = {1, 4};

#define LAYOUTS_MAX 16
static struct {
    struct roof_hardware *device[DEVICES];
    struct roof_kernel_fit fit[ROOF_KERNEL_COUNT];
    struct roof_calibration calibration;
    struct roof_model *model[MODELS];
    struct roof_engines *engines;
    struct roof_accuracy accuracy;
    struct roof_model *with[LAYOUTS_MAX]; /* models with layouts, as they were asked for */
    const struct roof_model *of[LAYOUTS_MAX];
    size_t withs;
} world;

static int make_world(void **unused)
{
    (void)unused;
    static const char *const no_attributions[] = {NULL};
    for (int i = 0; i < ROOF_KERNEL_COUNT; i++) {
        world.fit[i] = launch_only((enum roof_kernel)i, 1);
    }
    world.calibration = (struct roof_calibration){.id = "synthetic",
                                                  .attributions = no_attributions,
                                                  .fit = world.fit,
                                                  .count = ROOF_KERNEL_COUNT};
    for (size_t i = 0; i < DEVICES; i++) {
        world.device[i] = parse_device(device_text[i]);
        world.device[i]->calibration = i == UNMEASURED ? NULL : &world.calibration;
    }
    for (size_t i = 0; i < MODELS; i++) {
        if (roof_model_parse(&world.model[i], model_text[i], strlen(model_text[i]),
                             i == DENSE ? "dense" : "experts", NULL) != ROOF_OK) {
            return -1;
        }
    }
    return roof_engines_load(&world.engines, NULL) == ROOF_OK &&
                   roof_accuracy_load(&world.accuracy, NULL) == ROOF_OK
               ? 0
               : -1;
}

static int free_world(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < DEVICES; i++) {
        roof_hardware_free(world.device[i]);
    }
    for (size_t i = 0; i < world.withs; i++) {
        roof_model_free(world.with[i]);
    }
    for (size_t i = 0; i < MODELS; i++) {
        roof_model_free(world.model[i]);
    }
    roof_engines_free(world.engines);
    roof_accuracy_free(&world.accuracy);
    return 0;
}

/* All devices, all splits, all batches, no limits. */
static struct roof_plan_problem ask(int model, int64_t prompt, int64_t generate)
{
    struct roof_plan_problem q = {
        .model = world.model[model],
        .hardware = (const struct roof_hardware *const *)world.device,
        .hardware_count = DEVICES,
        .price = prices,
        .engines = world.engines,
        .accuracy = &world.accuracy,
        .batch = batches,
        .batches = COUNT(batches),
        .devices = counts,
        .device_counts = COUNT(counts),
        .objective = ROOF_PLAN_THROUGHPUT,
        .kind = ROOF_PLAN_AGGREGATED, /* the others are tested apart */
        .max_loss = ROOF_ACCURACY_SEVERE,
    };
    roof_scenario_init(&q.base);
    if (generate > 0) {
        q.base.prompt = prompt;
        q.base.generate = generate;
    } else {
        q.base.context = prompt;
    }
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        q.limit[i] = NONE;
    }
    return q;
}

/* A smaller grid, where many questions are asked. */
static struct roof_plan_problem ask_less(int model)
{
    struct roof_plan_problem q = ask(model, 100, 40);
    q.hardware_count = UNMEASURED; /* those before it */
    q.batch = few_batches;
    q.batches = COUNT(few_batches);
    q.devices = few_counts;
    q.device_counts = COUNT(few_counts);
    return q;
}

static struct roof_plans search(const struct roof_plan_problem *q)
{
    struct roof_plans plans;
    struct roof_error error = {0};
    const enum roof_status status = roof_plan_search(&plans, q, &error);
    assert_int_equal(status, plans.count > 0 ? ROOF_OK : ROOF_UNSATISFIED);
    if (status != ROOF_OK) {
        assert_string_equal(error.message, "nothing satisfies the constraints");
    }
    return plans;
}

/* The model of a question as a combination of formats stores it. */
static const struct roof_model *stored(const struct roof_plan_problem *q, size_t serving)
{
    const char *const layout = q->engines->serving[serving].layout;
    if (layout == NULL) {
        return q->model;
    }
    for (size_t i = 0; i < world.withs; i++) {
        if (world.of[i] == q->model && strcmp(world.with[i]->layout, layout) == 0) {
            return world.with[i];
        }
    }
    assert_true(world.withs < LAYOUTS_MAX);
    struct roof_model *const copy = roof_model_copy(q->model);
    assert_non_null(copy);
    assert_int_equal(roof_layout_apply(copy, layout, NULL, NULL), ROOF_OK);
    world.of[world.withs] = q->model;
    world.with[world.withs++] = copy;
    return copy;
}

/* Tells whether the last prediction was refused because a link is unknown. */
static bool unlinked;

static struct roof_model_prediction *infer_plan(const struct roof_plan_problem *q,
                                                const struct roof_plan *p, bool prefill,
                                                enum roof_status *status)
{
    static struct roof_model_prediction model_prediction;
    struct roof_scenario s[2];
    struct roof_error error = {0};
    roof_plan_scenarios(&s[0], &s[1], p, q);
    *status = roof_predict_model(&model_prediction, stored(q, p->serving), &s[prefill ? 0 : 1],
                                 q->hardware[p->hardware], &error);
    if (*status != ROOF_OK && *status != ROOF_USAGE) {
        fail_msg("%s", error.message);
    }
    unlinked = strstr(error.message, "_gb_s") != NULL;
    return &model_prediction;
}

/* The prediction of a whole request, which is what roofline predict prints for the plan. */
static struct roof_model_prediction *infer_request(const struct roof_plan_problem *q,
                                                   const struct roof_plan *p,
                                                   enum roof_status *status)
{
    static struct roof_model_prediction model_prediction;
    struct roof_scenario s;
    struct roof_error error = {0};
    roof_plan_scenario(&s, p, q);
    *status = roof_predict_model(&model_prediction, stored(q, p->serving), &s,
                                 q->hardware[p->hardware], &error);
    if (*status != ROOF_OK && *status != ROOF_USAGE) {
        fail_msg("%s", error.message);
    }
    unlinked = strstr(error.message, "_gb_s") != NULL;
    return &model_prediction;
}

/* --- the grid a second time ---------------------------------------------------------------- */

static enum roof_accuracy_class worst_of(const struct roof_plan_problem *q,
                                         const struct roof_serving *s)
{
    const enum roof_accuracy_class w = q->accuracy->of[s->weights].loss;
    const enum roof_accuracy_class a = q->accuracy->of[s->activations].loss;
    const enum roof_accuracy_class kv = q->accuracy->of[s->kv].loss;
    if (s->layout != NULL && strcmp(s->layout, "checkpoint") == 0) {
        return kv; /* it is published so */
    }
    return w >= a && w >= kv ? w : a >= kv ? a : kv;
}

/* A published format that runs on the device, and is no wider. */
static bool needless(const struct roof_plan_problem *q, const struct roof_plan *p)
{
    const struct roof_serving *const own = &q->engines->serving[p->serving];
    bool found = false;
    for (size_t i = 0; i < q->engines->servings; i++) {
        const struct roof_serving *const s = &q->engines->serving[i];
        if (s->quantization != NULL && roof_serving_suits(s, q->model) &&
            roof_engines_run(q->engines, i, q->hardware[p->hardware]) != 0) {
            found = found || roof_format(own->weights)->element_bits >=
                                 roof_format(s->weights)->element_bits;
        }
    }
    return found && own->quantization == NULL;
}

/* Sets the rates of a plan from the times of one copy. */
static void set_rates(struct roof_plan *p, const struct roof_plan_problem *q)
{
    const double batch = (double)p->batch;
    const double generate = (double)q->base.generate;
    const double rate = generate > 0 ? batch * generate / p->e2e_s : batch / p->step_s;
    if (generate == 0) {
        p->tpot_s = p->step_s;
        p->bound_tpot_s = p->bound_step_s;
    }
    const double group = (double)(p->split.tp * p->split.pp * p->split.attention_dp);
    const double least = generate > 0 ? p->bound_e2e_s : p->bound_step_s;
    p->bound_tokens_per_s = (double)p->dp * (batch * (generate > 0 ? generate : 1) / least);
    p->bound_tokens_per_s_per_user = (generate > 0 ? generate : 1) / least;
    p->tokens_per_s = (double)p->dp * rate;
    p->tokens_per_s_per_device = rate / group;
    p->cost = q->price == NULL ? NONE : q->price[p->hardware] * group / 3600 / rate * 1e6;
    const double tdp = q->hardware[p->hardware]->figure[ROOF_FIGURE_TDP].value;
    p->watt = tdp * (double)p->devices;
    p->joule = group * tdp / rate;
}

/* Each product at the format of its weights or of its KV cache. */
static bool native(const struct roof_model_prediction *i)
{
    for (size_t n = 0; n < i->count; n++) {
        const struct roof_prediction *const p = &i->node[n].prediction;
        const struct roof_operator_row *const row = roof_operator_row(p->workload.op);
        const enum roof_precision stored =
            row->other == ROOF_ROLE_KV ? p->workload.formats.kv : p->workload.formats.weights;
        if (row->kind == ROOF_KIND_MATRIX &&
            (!p->native || roof_format(stored)->unit != p->compute)) {
            return false;
        }
    }
    return true;
}

/* Weights of GGUF have the kernels of llama.cpp, whatever was measured of them. */
static bool is_lent(const struct roof_plan *p, const struct roof_plan_problem *q)
{
    size_t measured = 0;
    for (size_t e = 0; e < q->engines->count; e++) {
        measured += (p->engines >> e & 1) != 0 && q->engines->engine[e].beware == NULL;
    }
    return measured == 0 && !roof_precision_gguf(q->engines->serving[p->serving].weights);
}

/* A device without calibration has plans of bounds: nothing is expected there. */
static void take_basis(struct roof_plan *p, const struct roof_plan_problem *q)
{
    if (q->hardware[p->hardware]->calibration == NULL) {
        p->basis = ROOF_PLAN_BOUND;
        p->ttft_s = p->bound_ttft_s;
        p->step_s = p->bound_step_s;
        p->tpot_s = p->bound_tpot_s;
        p->e2e_s = p->bound_e2e_s;
        p->near = p->ttft_near = NONE;
    } else {
        p->basis = ROOF_PLAN_EXPECTED;
    }
}

/* Fills in what requests take. */
static enum roof_plan_rejection predict_request(struct roof_plan *p,
                                                const struct roof_plan_problem *q)
{
    enum roof_status status = ROOF_OK;
    const struct roof_model_prediction *i = infer_request(q, p, &status);
    if (status != ROOF_OK) {
        return unlinked ? ROOF_REJECTED_FIGURE : ROOF_REJECTED_SPLIT;
    }
    for (int prefill = 0; prefill < 2 && q->native_only; prefill++) {
        if (!native(infer_plan(q, p, prefill == 1, &status))) {
            return ROOF_REJECTED_NATIVE;
        }
    }
    if (i->fits != ROOF_FIT_YES) {
        return ROOF_REJECTED_MEMORY;
    }
    p->memory_bytes = i->weights_memory_bytes + i->kv_cache_bytes + i->activation_memory_bytes;
    p->ttft_s = i->expected_ttft_s;
    p->bound_ttft_s = i->ttft_s;
    p->tpot_s = i->expected_tpot_s;
    p->bound_tpot_s = i->tpot_s;
    p->step_s = i->expected_step_s;
    p->bound_step_s = i->step_s;
    p->e2e_s = i->expected_e2e_s;
    p->bound_e2e_s = i->e2e_s;
    p->ttft_low_s = p->ttft_high_s = p->ttft_near = NONE; /* of steps that have no name here */
    struct roof_scenario s[2];
    static struct roof_model_prediction step;
    roof_plan_scenarios(&s[0], &s[1], p, q);
    s[1].context = q->base.prompt + q->base.generate / 2;
    assert_int_equal(
        roof_predict_model(&step, stored(q, p->serving), &s[1], q->hardware[p->hardware], NULL),
        ROOF_OK);
    p->step_low_s = step.expected_step_s * (step.total.expected_low_s / step.total.expected_s);
    p->step_high_s = step.expected_step_s * (step.total.expected_high_s / step.total.expected_s);
    p->near = is_lent(p, q) ? 1 : step.expected_near;
    take_basis(p, q);
    if (isnan(p->step_s) || isnan(p->ttft_s)) {
        return ROOF_REJECTED_UNKNOWN;
    }
    set_rates(p, q);
    return ROOF_REJECTED_COUNT;
}

/* Fills in what a candidate takes; ROOF_REJECTED_COUNT: it may be a plan. */
static enum roof_plan_rejection predict(struct roof_plan *p, const struct roof_plan_problem *q)
{
    enum roof_status status = ROOF_OK;
    if (q->base.generate > 0) {
        return predict_request(p, q);
    }
    const struct roof_model_prediction *i = infer_plan(q, p, false, &status);
    if (status != ROOF_OK) {
        return unlinked ? ROOF_REJECTED_FIGURE : ROOF_REJECTED_SPLIT;
    }
    if (q->native_only && !native(i)) {
        return ROOF_REJECTED_NATIVE;
    }
    const bool fits = i->fits == ROOF_FIT_YES;
    p->step_s = i->expected_tpot_s;
    p->bound_step_s = i->tpot_s;
    p->step_low_s = i->expected_tpot_s * (i->total.expected_low_s / i->total.expected_s);
    p->step_high_s = i->expected_tpot_s * (i->total.expected_high_s / i->total.expected_s);
    p->near = i->expected_near;
    const bool lent = is_lent(p, q);
    p->near = lent ? 1 : p->near;
    p->memory_bytes = i->weights_memory_bytes + i->kv_cache_bytes + i->activation_memory_bytes;
    i = infer_plan(q, p, true, &status);
    assert_int_equal(status, ROOF_OK);
    if (!fits) {
        return ROOF_REJECTED_MEMORY;
    }
    p->ttft_s = i->expected_ttft_s;
    p->bound_ttft_s = i->ttft_s;
    p->ttft_low_s = i->expected_ttft_s * (i->total.expected_low_s / i->total.expected_s);
    p->ttft_high_s = i->expected_ttft_s * (i->total.expected_high_s / i->total.expected_s);
    p->ttft_near = lent ? 1 : i->expected_near;
    take_basis(p, q);
    if (isnan(p->step_s) || isnan(p->ttft_s)) {
        return ROOF_REJECTED_UNKNOWN;
    }
    set_rates(p, q);
    return ROOF_REJECTED_COUNT;
}

static bool at_least(int limit)
{
    return limit == ROOF_PLAN_LIMIT_TOKENS_PER_S || limit == ROOF_PLAN_LIMIT_CONCURRENCY;
}

static double limited(const struct roof_plan *p, int limit)
{
    switch ((enum roof_plan_limit)limit) {
    case ROOF_PLAN_LIMIT_TTFT:
        return p->ttft_s;
    case ROOF_PLAN_LIMIT_TPOT:
        return isnan(p->tpot_s) ? 0 : p->tpot_s; /* there is no second token */
    case ROOF_PLAN_LIMIT_TOKENS_PER_S:
        return -p->tokens_per_s;
    case ROOF_PLAN_LIMIT_CONCURRENCY:
        return -(double)(p->batch * p->dp);
    case ROOF_PLAN_LIMIT_COST:
        return p->cost;
    case ROOF_PLAN_LIMIT_POWER:
        return p->watt;
    case ROOF_PLAN_LIMIT_COUNT:
        break;
    }
    return 0;
}

/* Least is best, and unknown, which is last, misses every limit. */
static double known(double value)
{
    return isnan(value) ? (double)INFINITY : value;
}

static double goal(const struct roof_plan *p, enum roof_plan_objective objective)
{
    switch (objective) {
    case ROOF_PLAN_THROUGHPUT:
        return known(-p->tokens_per_s_per_device);
    case ROOF_PLAN_LATENCY:
        return known(p->tpot_s);
    case ROOF_PLAN_COST:
        return known(p->cost);
    case ROOF_PLAN_ENERGY:
        return known(p->joule);
    }
    return 0;
}

#define GRID_MAX 20000
struct grid {
    struct roof_plan plan[GRID_MAX]; /* what satisfies all, in the order of the search */
    size_t count;
    size_t candidates;
    size_t rejected[ROOF_REJECTED_COUNT];
    size_t missed[ROOF_PLAN_LIMIT_COUNT];
    /* The nearest misses are among the candidates with expected times; without any of these, among
     * those with bounds. */
    enum roof_plan_basis nearest_basis[ROOF_PLAN_LIMIT_COUNT];
    double nearest[ROOF_PLAN_LIMIT_COUNT];
    enum roof_plan_basis closest_basis;
    double closest; /* least of the largest excesses over the limits; 1: none */
};

/* Keeps the least value: of expected times if there is one, else of bounds. */
static void keep_least(double *least, enum roof_plan_basis *basis, double value,
                       const struct roof_plan *p, bool first)
{
    if (first || p->basis < *basis || (p->basis == *basis && value < *least)) {
        *least = value;
        *basis = p->basis;
    }
}

static void judge(struct grid *g, const struct roof_plan *p, const struct roof_plan_problem *q)
{
    int misses = 0;
    int last = 0;
    double most = 1;
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        const double limit = at_least(i) ? -q->limit[i] : q->limit[i];
        if (!isnan(limit) && known(limited(p, i)) > limit) {
            misses++;
            last = i;
            const double ratio = limited(p, i) / limit; /* of negative ones where more is better */
            most = fmax(most, known(at_least(i) ? 1 / ratio : ratio));
        }
    }
    if (isfinite(most)) {
        keep_least(&g->closest, &g->closest_basis, most, p, isinf(g->closest));
    }
    if (misses == 0) {
        assert_true(g->count < GRID_MAX);
        g->plan[g->count++] = *p;
    } else {
        g->rejected[ROOF_REJECTED_LIMIT]++;
    }
    if (misses == 1) {
        keep_least(&g->nearest[last], &g->nearest_basis[last], known(limited(p, last)), p,
                   g->missed[last]++ == 0);
    }
}

/* The answers of predict for the candidates of a walk, in its order. A walk reuses those of the
 * last one when its question differs from that one's in nothing but limits and objective, of which
 * predict knows nothing. */
static struct {
    struct roof_plan_problem question;
    struct {
        struct roof_plan plan;
        enum roof_plan_rejection why;
    } said[GRID_MAX];
    size_t count;
    size_t next;
} memory;

static void remember(const struct roof_plan_problem *q)
{
    struct roof_plan_problem question;
    memcpy(&question, q, sizeof question);
    memset(question.limit, 0, sizeof question.limit);
    question.objective = ROOF_PLAN_THROUGHPUT;
    /* Both are copies of whole structs, so that bytes between members are equal, too. */
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
    if (memcmp(&question, &memory.question, sizeof question) != 0) {
        memory.count = 0;
        memcpy(&memory.question, &question, sizeof question);
    }
    memory.next = 0;
}

static enum roof_plan_rejection predict_once(struct roof_plan *p, const struct roof_plan_problem *q)
{
    assert_true(memory.next < GRID_MAX);
    if (memory.next == memory.count) {
        memory.said[memory.count].why = predict(p, q);
        memory.said[memory.count++].plan = *p;
    }
    *p = memory.said[memory.next].plan;
    return memory.said[memory.next++].why;
}

/* All splits of a group, all batches, and all devices that are copies of it. */
static void walk_group(struct grid *g, struct roof_plan p, unsigned formats, int64_t group,
                       const struct roof_plan_problem *q)
{
    const bool experts = q->model->experts > 0;
    for (int64_t split = 0; split < group * group * group; split++) {
        const int64_t tp = 1 + split / (group * group);
        const int64_t pp = 1 + split / group % group;
        const int64_t ways = 1 + split % group; /* into which the experts are dealt */
        const int64_t dp = group / (tp * pp);
        const bool whole = tp * pp * dp == group && (tp * dp) % ways == 0;
        const bool usual = experts ? ways == 1 || ways == dp || ways == tp * dp : dp * ways == 1;
        p.split = (struct roof_split){.tp = tp,
                                      .pp = pp,
                                      .attention_dp = dp,
                                      .moe_tp = experts ? tp * dp / ways : 0,
                                      .moe_ep = experts ? ways : 0};
        for (size_t b = 0; whole && usual && b < q->batches; b++) {
            enum roof_plan_rejection why = ROOF_REJECTED_COUNT;
            bool predicted = false; /* which is the same for all numbers of copies */
            for (size_t n = 0; n < q->device_counts; n++) {
                p.batch = q->batch[b];
                p.devices = q->devices[n];
                p.dp = p.devices / group;
                if (p.dp * group != p.devices) {
                    continue;
                }
                g->candidates++;
                p.engines = formats & roof_engines_split(q->engines, q->hardware[p.hardware],
                                                         &p.split, p.batch);
                if (!predicted) {
                    why = formats == 0           ? ROOF_REJECTED_FORMATS
                          : needless(q, &p)      ? ROOF_REJECTED_WIDER
                          : p.loss > q->max_loss ? ROOF_REJECTED_LOSS
                          : p.engines == 0       ? ROOF_REJECTED_ENGINE
                                                 : predict_once(&p, q);
                    predicted = true;
                }
                if (why == ROOF_REJECTED_COUNT) {
                    set_rates(&p, q);
                    judge(g, &p, q);
                } else {
                    g->rejected[why]++;
                }
            }
        }
    }
}

static const struct grid *walk(const struct roof_plan_problem *q)
{
    static struct grid g;
    memset(&g, 0, sizeof g);
    g.closest = (double)INFINITY;
    remember(q);
    struct roof_plan p = {0};
    for (p.hardware = 0; p.hardware < q->hardware_count; p.hardware++) {
        for (p.serving = 0; p.serving < q->engines->servings; p.serving++) {
            const struct roof_hardware *const hardware = q->hardware[p.hardware];
            const unsigned formats = roof_engines_run(q->engines, p.serving, hardware);
            if (!roof_serving_suits(&q->engines->serving[p.serving], q->model)) {
                continue;
            }
            p.loss = worst_of(q, &q->engines->serving[p.serving]);
            for (int64_t group = 1; group <= roof_plan_most_devices(q); group++) {
                walk_group(&g, p, formats, group, q);
            }
        }
    }
    return &g;
}

static bool same_place(const struct roof_plan *a, const struct roof_plan *b)
{
    return a->hardware == b->hardware && a->serving == b->serving &&
           memcmp(&a->split, &b->split, sizeof a->split) == 0 && a->devices == b->devices &&
           a->batch == b->batch && a->dp == b->dp;
}

static size_t place_of(const struct roof_plan *plan, const struct roof_plan *of, size_t count)
{
    size_t i = 0;
    while (i < count && !same_place(plan, &of[i])) {
        i++;
    }
    return i;
}

static void assert_same(double got, double expected)
{
    if (got != expected && !(isnan(got) && isnan(expected))) {
        fail_msg("%.17g, expected %.17g", got, expected);
    }
}

static void assert_close(double got, double expected)
{
    if (isnan(expected) || isinf(expected)) {
        assert_same(got, expected);
    } else {
        assert_near(got, expected, TIGHT);
    }
}

/* All numbers of a plan: those of the inferences to the last bit. */
static void check_plan(const struct roof_plan *p, const struct roof_plan *expected)
{
    assert_int_equal(p->engines, expected->engines);
    assert_int_equal(p->loss, expected->loss);
    assert_int_equal(p->dp * p->split.tp * p->split.pp * p->split.attention_dp, p->devices);
    assert_same(p->ttft_s, expected->ttft_s);
    assert_same(p->step_s, expected->step_s);
    assert_same(p->bound_ttft_s, expected->bound_ttft_s);
    assert_same(p->bound_step_s, expected->bound_step_s);
    assert_same(p->tpot_s, expected->tpot_s);
    assert_same(p->bound_tpot_s, expected->bound_tpot_s);
    if (!isnan(expected->ttft_near)) {
        assert_close(p->ttft_low_s, expected->ttft_low_s);
        assert_close(p->ttft_high_s, expected->ttft_high_s);
        assert_close(p->step_low_s, expected->step_low_s);
        assert_close(p->step_high_s, expected->step_high_s);
        assert_close(p->ttft_near, expected->ttft_near);
    }
    assert_close(p->near, expected->near);
    assert_int_equal(p->basis, expected->basis);
    assert_close(p->bound_tokens_per_s, expected->bound_tokens_per_s);
    assert_close(p->bound_tokens_per_s_per_user, expected->bound_tokens_per_s_per_user);
    assert_close(p->bound_tokens_per_s_per_device,
                 expected->bound_tokens_per_s / (double)expected->devices);
    assert_same(p->memory_bytes, expected->memory_bytes);
    if (p->basis == ROOF_PLAN_EXPECTED) {
        assert_true(p->ttft_s > p->bound_ttft_s);
        assert_true(isnan(p->tpot_s) || p->tpot_s > p->bound_tpot_s);
    }
    assert_close(p->tokens_per_s, expected->tokens_per_s);
    assert_close(p->tokens_per_s_per_user,
                 expected->tokens_per_s / (double)(expected->batch * expected->dp));
    assert_close(p->tokens_per_s_per_device, expected->tokens_per_s / (double)expected->devices);
    assert_same(p->tokens_per_s_per_device, expected->tokens_per_s_per_device);
    assert_close(p->cost, expected->cost);
    assert_close(p->joule, expected->joule);
    assert_close(p->watt, expected->watt);
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        assert_same(p->value[i], at_least(i) ? -limited(p, i) : limited(p, i));
    }
}

/* Returns what a plan gives for its devices: tokens for money where all plans have a price. */
static double worth(const struct roof_plans *plans, const struct roof_plan *p)
{
    return plans->priced ? 1 / p->cost : p->tokens_per_s_per_device;
}

/* Nothing is at least as good for a user and for its devices, and better in one; of equals one
 * stands for all. */
static void check_pareto(const struct roof_plans *plans)
{
    bool priced = true;
    for (size_t i = 0; i < plans->count; i++) {
        priced = priced && !isnan(plans->plan[i].cost);
    }
    assert_int_equal(plans->priced, priced);
    for (size_t i = 0; i < plans->count; i++) {
        const struct roof_plan *const p = &plans->plan[i];
        bool beaten = false;
        size_t marked = p->pareto;
        for (size_t k = 0; k < plans->count; k++) {
            const struct roof_plan *const other = &plans->plan[k];
            const double user = other->tokens_per_s_per_user - p->tokens_per_s_per_user;
            const double device = worth(plans, other) - worth(plans, p);
            if (other->basis != p->basis) {
                continue;
            }
            beaten = beaten || (user >= 0 && device >= 0 && user + device > 0);
            marked += k != i && user == 0 && device == 0 && other->pareto;
        }
        assert_int_equal(marked, beaten ? 0 : 1);
    }
}

/* Returns the goal of a plan as it is ranked: one that is stored as it is published counts as 5%
 * better. Of the models here those without a quantisation are published in bf16. */
static double ranked(const struct roof_plan *p, const struct roof_plan_problem *q)
{
    const struct roof_serving *const s = &q->engines->serving[p->serving];
    const bool published =
        roof_serving_published(s) ||
        (q->model->quantization == NULL && s->layout == NULL && s->weights == ROOF_PRECISION_BF16);
    const double plain = goal(p, q->objective);
    return published ? plain * (plain < 0 ? 1.05 : 1 / 1.05) : plain;
}

/* The bits of weights, activations and cache, as one number whose order is theirs. */
static double bits_of(const struct roof_plan *p, const struct roof_plan_problem *q)
{
    const struct roof_serving *const s = &q->engines->serving[p->serving];
    return 1e6 * roof_precision_bits(s->weights) + 1e3 * roof_precision_bits(s->activations) +
           roof_precision_bits(s->kv);
}

/* The first of two plans that are worth the same loses less accuracy, or has more bits, or serves a
 * user faster, or comes first in the search. */
static void assert_tie(const struct grid *g, const struct roof_plan_problem *q,
                       const struct roof_plan *a, const struct roof_plan *b)
{
    const double finer = bits_of(a, q) - bits_of(b, q);
    const double faster = a->tokens_per_s_per_user - b->tokens_per_s_per_user;
    if (a->loss == b->loss && finer == 0 && faster == 0) {
        assert_true(place_of(a, g->plan, g->count) < place_of(b, g->plan, g->count));
    } else {
        assert_true(a->loss < b->loss ||
                    (a->loss == b->loss && (finer > 0 || (finer == 0 && faster > 0))));
    }
}

/* By the basis, then by the objective, then by accuracy loss and bits, then as searched. */
static void check_ranks(const struct roof_plans *plans, const struct roof_plan_problem *q,
                        const struct grid *g)
{
    for (size_t i = 1; i < plans->count; i++) {
        const struct roof_plan *const a = &plans->plan[i - 1];
        const struct roof_plan *const b = &plans->plan[i];
        const double x = ranked(a, q);
        const double y = ranked(b, q);
        assert_true(a->basis <= b->basis);
        if (a->basis != b->basis) {
            continue;
        }
        assert_true(x <= y || x <= y + fabs(y) * 1e-14); /* times or over 1.05 rounds */
        if (x == y && !isinf(x)) {
            assert_true(a->loss <= b->loss);
            assert_tie(g, q, a, b);
        }
    }
}

/* The search of one question, and its answer by hand; how many plans there are. */
static size_t check(const struct roof_plan_problem *q)
{
    const struct grid *const g = walk(q);
    struct roof_plans plans = search(q);
    assert_int_equal(plans.count, g->count);
    size_t all = plans.count;
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        if (i != ROOF_REJECTED_MEMORY && i != ROOF_REJECTED_UNKNOWN) {
            assert_int_equal(plans.rejected[i], g->rejected[i]);
        }
        all += plans.rejected[i];
    }
    /* Larger batches of what has no time need not be known to fit. */
    assert_true(plans.rejected[ROOF_REJECTED_UNKNOWN] >= g->rejected[ROOF_REJECTED_UNKNOWN]);
    assert_int_equal(all, g->candidates);
    for (size_t i = 0; i < g->count; i++) { /* all are found, so each once */
        const size_t at = place_of(&g->plan[i], plans.plan, plans.count);
        assert_true(at < plans.count);
        check_plan(&plans.plan[at], &g->plan[i]);
        const double best = ranked(&plans.plan[0], q);
        const double other = ranked(&g->plan[i], q);
        assert_true(plans.plan[0].basis <= g->plan[i].basis);
        assert_true(plans.plan[0].basis < g->plan[i].basis || best <= other ||
                    best - other <= TIGHT * fabs(other));
    }
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        assert_int_equal(plans.missed[i], g->missed[i]);
        if (g->missed[i] > 0) {
            struct roof_plan near = plans.nearest[i];
            assert_int_equal(near.basis, g->nearest_basis[i]);
            assert_close(known(limited(&near, i)), g->nearest[i]);
            assert_int_equal(predict(&near, q), ROOF_REJECTED_COUNT);
            check_plan(&plans.nearest[i], &near);
            for (int k = 0; k < ROOF_PLAN_LIMIT_COUNT; k++) {
                const double limit = at_least(k) ? -q->limit[k] : q->limit[k];
                assert_int_equal(!isnan(limit) && known(limited(&near, k)) > limit, k == i);
            }
        }
    }
    if (isinf(g->closest)) {
        assert_true(isinf(plans.closest_excess));
    } else {
        assert_near(plans.closest_excess, g->closest, TIGHT);
        assert_int_equal(plans.closest.basis, g->closest_basis);
    }
    check_ranks(&plans, q, g);
    check_pareto(&plans);
    const size_t count = plans.count;
    roof_plans_free(&plans);
    assert_null(plans.plan);
    assert_int_equal(plans.count, 0);
    return count;
}

/* --- what is asked ------------------------------------------------------------------------- */

static const enum roof_plan_objective objectives[] = {ROOF_PLAN_THROUGHPUT, ROOF_PLAN_LATENCY,
                                                      ROOF_PLAN_COST, ROOF_PLAN_ENERGY};

static void test_grid(void **state)
{
    (void)state;
    size_t rejected[ROOF_REJECTED_COUNT] = {0};
    for (size_t o = 0; o < COUNT(objectives); o++) {
        struct roof_plan_problem q = ask((int)o / 2, 100, o % 2 == 0 ? 40 : 0);
        q.objective = objectives[o];
        assert_true(check(&q) > 300);
        q.max_loss = ROOF_ACCURACY_1_TO_2;
        q.native_only = true;
        q.base.reserve = 0.25;
        q.price = o == 3 ? NULL : prices;
        assert_true(check(&q) > 50);
        struct roof_plans plans = search(&q);
        for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
            rejected[i] += plans.rejected[i];
        }
        roof_plans_free(&plans);
    }
    struct roof_plan_problem q = ask_less(PUBLISHED);
    assert_true(check(&q) > 50);
    struct roof_plans plans = search(&q);
    rejected[ROOF_REJECTED_WIDER] = plans.rejected[ROOF_REJECTED_WIDER];
    roof_plans_free(&plans);
    q = ask_less(EXPERTS);
    q.base.generate = 1; /* all of it from the prefill */
    assert_true(check(&q) > 50);
    for (int i = 0; i < ROOF_REJECTED_LIMIT; i++) { /* each reason was met */
        /* Other tests have these: test_one_unknown, test_dense and tests/cli/plan.case. */
        assert_true(rejected[i] > 0 || i == ROOF_REJECTED_UNKNOWN || i == ROOF_REJECTED_DENSE ||
                    i == ROOF_REJECTED_COPIES);
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which a part of the plans is, between two of them. */
static double part_of(const struct roof_plans *plans, int limit, double part)
{
    static double value[GRID_MAX];
    size_t count = 0;
    for (size_t i = 0; i < plans->count && count < GRID_MAX; i++) {
        if (!isnan(plans->plan[i].value[limit])) {
            value[count++] = plans->plan[i].value[limit];
        }
    }
    qsort(value, count, sizeof *value, by_value);
    const double at = value[(size_t)(part * (double)(count - 1))];
    return at * (limit == ROOF_PLAN_LIMIT_CONCURRENCY ? 1 : 1 + 1e-9); /* batches are few */
}

static void test_limits(void **state)
{
    (void)state;
    static const double parts[] = {0.2, 0.7};
    for (int model = 0; model < MODELS; model++) {
        struct roof_plan_problem q = ask_less(model);
        struct roof_plans all = search(&q);
        for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
            for (size_t k = 0; k < COUNT(parts); k++) {
                q = ask_less(model);
                q.objective = objectives[((size_t)i + k) % COUNT(objectives)];
                q.limit[i] = part_of(&all, i, parts[k]);
                const size_t one = check(&q);
                assert_true(one > 0 && one <= all.count);
                assert_true(one < all.count || i == ROOF_PLAN_LIMIT_CONCURRENCY);
                const int other = (i + 1 + (int)k) % ROOF_PLAN_LIMIT_COUNT;
                q.limit[other] = part_of(&all, other, 0.5);
                assert_true(check(&q) <= one);
            }
        }
        roof_plans_free(&all);
    }
}

/* A value that is the limit satisfies it; the next one does not. */
static void test_limit_itself(void **state)
{
    (void)state;
    struct roof_plan_problem q = ask_less(DENSE);
    struct roof_plans all = search(&q);
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        size_t at = 0;
        while (isnan(all.plan[at].value[i])) {
            at++;
        }
        const double value = all.plan[at].value[i];
        const double limit[] = {value, value * (at_least(i) ? 1 + 1e-9 : 1 - 1e-9)};
        for (size_t k = 0; k < 2; k++) {
            q = ask_less(DENSE);
            q.limit[i] = limit[k];
            struct roof_plans plans = search(&q);
            const bool found = place_of(&all.plan[at], plans.plan, plans.count) < plans.count;
            assert_int_equal(found, k == 0);
            roof_plans_free(&plans);
        }
    }
    roof_plans_free(&all);
}

/* Every plan of one answer is in another. */
static void assert_within(const struct roof_plans *fewer, const struct roof_plans *more)
{
    assert_true(fewer->count <= more->count);
    for (size_t i = 0; i < fewer->count; i++) {
        assert_true(place_of(&fewer->plan[i], more->plan, more->count) < more->count);
    }
}

static void test_tighter(void **state)
{
    (void)state;
    for (size_t o = 0; o < COUNT(objectives); o++) {
        struct roof_plan_problem q = ask_less((int)o % MODELS);
        q.objective = objectives[o];
        struct roof_plans all = search(&q);
        for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
            struct roof_plans before = search(&q);
            for (int step = 0; step < 3; step++) {
                const double part = at_least(i) ? 0.4 * step : 0.8 - 0.4 * step;
                struct roof_plan_problem narrow = q;
                narrow.limit[i] = part_of(&all, i, part);
                struct roof_plans after = search(&narrow);
                assert_within(&after, &before);
                if (after.count > 0) {
                    assert_true(goal(&after.plan[0], q.objective) >=
                                goal(&before.plan[0], q.objective));
                }
                roof_plans_free(&before);
                before = after;
            }
            roof_plans_free(&before);
        }
        struct roof_plan_problem narrow = q;
        for (int loss = ROOF_ACCURACY_SEVERE; loss >= ROOF_ACCURACY_NONE; loss--) {
            struct roof_plans before = search(&narrow);
            narrow.max_loss = (enum roof_accuracy_class)loss;
            struct roof_plans after = search(&narrow);
            assert_within(&after, &before);
            roof_plans_free(&before);
            for (size_t i = 0; i < after.count; i++) {
                assert_true(after.plan[i].loss <= narrow.max_loss);
            }
            roof_plans_free(&after);
        }
        narrow = q;
        narrow.native_only = true;
        struct roof_plans native = search(&narrow);
        assert_within(&native, &all);
        if (q.model != world.model[PUBLISHED]) { /* of which all that is left may be native */
            assert_true(native.count < all.count);
            assert_true(native.rejected[ROOF_REJECTED_NATIVE] > 0);
        }
        roof_plans_free(&native);
        roof_plans_free(&all);
    }
}

/* More memory, more batches and more device counts keep every plan. */
static void test_wider(void **state)
{
    (void)state;
    static const int64_t more_batches[] = {1, 2, 3, 8, 9, 30, 64, 100, 1000};
    static const int64_t more_counts[] = {8, 6, 4, 3, 2, 1, 16};
    struct roof_hardware *const larger =
        parse_device(DEVICE("hopper", "Hopper", "100", "12e6", PEAKS ", \"tdp_w\": 700"));
    larger->calibration = &world.calibration;
    for (int model = 0; model < MODELS; model++) {
        struct roof_plan_problem q = ask(model, 100, 40);
        q.hardware_count = 1; /* the first */
        q.devices = few_counts;
        q.device_counts = COUNT(few_counts);
        struct roof_plans before = search(&q);
        const struct roof_hardware *const device = larger;
        q.hardware = &device;
        struct roof_plans after = search(&q);
        assert_within(&before, &after);
        assert_true(after.count > before.count);
        roof_plans_free(&before);
        before = after;
        q.batch = more_batches;
        q.batches = COUNT(more_batches);
        after = search(&q);
        assert_within(&before, &after);
        assert_true(after.count > before.count);
        roof_plans_free(&before);
        before = after;
        q.devices = more_counts;
        q.device_counts = COUNT(more_counts);
        after = search(&q);
        assert_within(&before, &after);
        assert_true(after.count > before.count);
        (void)check(&q);
        roof_plans_free(&before);
        roof_plans_free(&after);
    }
    roof_hardware_free(larger);
}

/* Warm kernels beat their bounds, which then prune nothing. */
static void test_warm(void **state)
{
    (void)state;
    struct roof_plan_problem q = ask(DENSE, 1000, 0);
    struct roof_model *const model = load("tinyllama-1.1b");
    struct roof_hardware *const hardware = load_calibrated("l40s"); /* with a large L2 */
    const struct roof_hardware *const only = hardware;
    q.model = model;
    q.hardware = &only;
    q.hardware_count = 1;
    q.price = NULL;
    q.base.common.cache = ROOF_CACHE_WARM;
    struct roof_plans all = search(&q);
    int beaten = 0;
    for (int i = 1; i < 10; i++) {
        const double limit = part_of(&all, ROOF_PLAN_LIMIT_TPOT, 0.1 * i);
        size_t within = 0;
        for (size_t k = 0; k < all.count; k++) {
            within += all.plan[k].tpot_s <= limit;
            beaten += all.plan[k].tpot_s <= limit && all.plan[k].bound_tpot_s > limit;
        }
        q.limit[ROOF_PLAN_LIMIT_TPOT] = limit;
        struct roof_plans plans = search(&q);
        assert_int_equal(plans.count, within);
        roof_plans_free(&plans);
    }
    assert_true(beaten > 0);
    roof_plans_free(&all);
    roof_model_free(model);
    free_calibrated(hardware);
}

static void test_nearest(void **state)
{
    (void)state;
    static const double out_of_reach[ROOF_PLAN_LIMIT_COUNT] = {
        [ROOF_PLAN_LIMIT_TTFT] = 1e-9,         [ROOF_PLAN_LIMIT_TPOT] = 1e-9,
        [ROOF_PLAN_LIMIT_TOKENS_PER_S] = 1e12, [ROOF_PLAN_LIMIT_CONCURRENCY] = 1e9,
        [ROOF_PLAN_LIMIT_COST] = 1e-9,         [ROOF_PLAN_LIMIT_POWER] = 1};
    for (int model = 0; model < MODELS; model++) {
        struct roof_plan_problem q = ask_less(model);
        struct roof_plans all = search(&q);
        for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
            q = ask_less(model);
            q.limit[i] = out_of_reach[i];
            assert_int_equal(check(&q), 0);
            struct roof_plans none = search(&q);
            assert_int_equal(none.missed[i], all.count);
            assert_int_equal(none.rejected[ROOF_REJECTED_LIMIT], all.count);
            roof_plans_free(&none);
            const int other = (i + 1) % ROOF_PLAN_LIMIT_COUNT;
            q.limit[other] = part_of(&all, other, 0.5);
            assert_int_equal(check(&q), 0);
            none = search(&q);
            assert_true(none.missed[i] > 0 && none.missed[i] < all.count);
            assert_int_equal(none.missed[other], 0);
            q.limit[other] = out_of_reach[other];
            assert_int_equal(check(&q), 0);
            roof_plans_free(&none);
        }
        roof_plans_free(&all);
    }
    /* No engine at all: nothing is near. */
    struct roof_plan_problem q = ask(DENSE, 100, 40);
    q.hardware += NO_ENGINE;
    q.hardware_count = 1;
    q.price = NULL;
    assert_int_equal(check(&q), 0);
}

/* Plans whose objective is unknown come last, those of least loss first among them. */
static void test_unknown_last(void **state)
{
    (void)state;
    const struct {
        enum roof_plan_objective objective;
        size_t hardware;
    } cases[] = {{ROOF_PLAN_COST, NO_FP8}, {ROOF_PLAN_ENERGY, NO_TDP}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_plan_problem q = ask(DENSE, 100, 40);
        q.objective = cases[c].objective;
        const struct grid *const g = walk(&q);
        struct roof_plans plans = search(&q);
        size_t last = 0; /* unknown ones of this basis */
        size_t count = 0;
        for (size_t i = 0; i < plans.count; i++) {
            const struct roof_plan *const p = &plans.plan[i];
            const bool unknown = isinf(goal(p, q.objective));
            assert_int_equal(unknown, p->hardware == cases[c].hardware);
            const struct roof_plan *const before = &plans.plan[i == 0 ? 0 : i - 1];
            last = before->basis == p->basis ? last : 0;
            assert_true(last == 0 || unknown);
            if (last > 0) {
                assert_true(before->loss <= p->loss);
                assert_tie(g, &q, before, p);
            }
            last += unknown;
            count += unknown;
        }
        assert_true(count > 10);
        roof_plans_free(&plans);
    }
}

/* Devices with and without expected times, in both orders: what is expected comes first in any
 * case, also as the nearest miss, and a bound is no better for being lower. */
static void test_bases(void **state)
{
    (void)state;
    const struct roof_hardware *const device[] = {world.device[UNMEASURED], world.device[HOPPER],
                                                  world.device[UNMEASURED]};
    for (int model = 0; model < MODELS; model++) {
        for (int order = 0; order < 2; order++) {
            struct roof_plan_problem q = ask_less(model);
            q.hardware = &device[order];
            q.hardware_count = 2;
            q.price = NULL;
            struct roof_plans all = search(&q);
            assert_int_equal(all.plan[0].basis, ROOF_PLAN_EXPECTED);
            assert_int_equal(all.plan[all.count - 1].basis, ROOF_PLAN_BOUND);
            for (size_t k = 0; k < 3; k++) {
                q.objective = objectives[k % COUNT(objectives)];
                q.limit[ROOF_PLAN_LIMIT_TPOT] =
                    part_of(&all, ROOF_PLAN_LIMIT_TPOT, 0.1 * (double)k);
                q.limit[ROOF_PLAN_LIMIT_TTFT] = part_of(&all, ROOF_PLAN_LIMIT_TTFT, 0.3);
                (void)check(&q);
                q.limit[ROOF_PLAN_LIMIT_TPOT] = 1e-9; /* no plan is left */
                assert_int_equal(check(&q), 0);
                q.limit[ROOF_PLAN_LIMIT_TTFT] = NONE;
                assert_int_equal(check(&q), 0);
            }
            roof_plans_free(&all);
        }
    }
}

/* Plans of bounds: rates and energies follow from the bound of the step. */
static void test_bound_rates(void **state)
{
    (void)state;
    struct roof_plan_problem q = ask_less(DENSE);
    q.base.prompt = q.base.generate = 0;
    q.base.context = 100;
    q.hardware = (const struct roof_hardware *const *)&world.device[UNMEASURED];
    q.hardware_count = 1;
    struct roof_plans plans = search(&q);
    assert_true(plans.count > 0);
    assert_int_equal(plans.rejected[ROOF_REJECTED_UNKNOWN], 0);
    for (size_t i = 0; i < plans.count; i++) {
        const struct roof_plan *const p = &plans.plan[i];
        const double batch = (double)p->batch;
        assert_int_equal(p->basis, ROOF_PLAN_BOUND);
        assert_same(p->step_s, p->bound_step_s);
        assert_same(p->tpot_s, p->bound_step_s);
        assert_close(p->tokens_per_s * p->step_s, batch * (double)p->dp);
        assert_close(p->bound_tokens_per_s, p->tokens_per_s);
        assert_close(p->tokens_per_s_per_user * p->step_s, 1);
        assert_close(p->joule * p->tokens_per_s, 500 * (double)p->devices);
        assert_true(isnan(p->near) && isnan(p->step_low_s) && isnan(p->ttft_high_s));
    }
    roof_plans_free(&plans);
}

/* One kernel without parameters, and one of the two predictions is unknown. */
static void test_one_unknown(void **state)
{
    (void)state;
    static const enum roof_kernel without[] = {ROOF_KERNEL_DECODE, ROOF_KERNEL_PREFILL};
    for (size_t k = 0; k < COUNT(without); k++) {
        struct roof_kernel_fit fit[ROOF_KERNEL_COUNT];
        struct roof_calibration less = world.calibration;
        less.fit = fit;
        less.count = 0;
        for (size_t i = 0; i < world.calibration.count; i++) {
            if (world.fit[i].kernel != without[k]) {
                fit[less.count++] = world.fit[i];
            }
        }
        struct roof_hardware *const device = parse_device(device_text[HOPPER]);
        const struct roof_hardware *const only = device;
        struct roof_plan_problem q = ask_less(DENSE);
        device->calibration = &less;
        q.hardware = &only;
        q.hardware_count = 1;
        assert_int_equal(check(&q), 0);
        struct roof_plans plans = search(&q);
        roof_hardware_free(device);
        assert_true(plans.rejected[ROOF_REJECTED_UNKNOWN] > 0);
        roof_plans_free(&plans);
    }
}

/* Pruned weights: plans are of the formats that are stored so, and of bounds alone. */
static void test_dense(void **state)
{
    (void)state;
    struct roof_plan_problem q = ask_less(DENSE);
    q.base.common.sparse = 1;
    struct roof_plans plans = search(&q);
    assert_true(plans.rejected[ROOF_REJECTED_DENSE] > 0);
    assert_true(plans.rejected[ROOF_REJECTED_UNKNOWN] > 0);
    for (size_t i = 0; i < plans.count; i++) {
        const size_t serving = plans.plan[i].serving;
        assert_int_equal(plans.plan[i].basis, ROOF_PLAN_BOUND);
        assert_true(roof_precision_prunable(q.engines->serving[serving].weights));
    }
    roof_plans_free(&plans);
}

/* A device with equal steps and a longer prefill adds no plan that stands out. */
static void test_same_step(void **state)
{
    (void)state;
    struct roof_kernel_fit fit[ROOF_KERNEL_COUNT];
    struct roof_calibration slow = world.calibration;
    struct roof_hardware *const other = parse_device(device_text[HOPPER]);
    slow.fit = fit;
    for (size_t i = 0; i < slow.count; i++) {
        fit[i] = world.fit[i];
        for (size_t k = 0; fit[i].kernel == ROOF_KERNEL_PREFILL && k < COUNT(fit[i].parameter);
             k++) {
            fit[i].parameter[k] *= fit[i].parameter[k] < 1e6 ? 1000 : 1; /* the launch */
        }
    }
    other->calibration = &slow;
    const struct roof_hardware *const orders[][2] = {{world.device[HOPPER], other},
                                                     {other, world.device[HOPPER]}};
    for (size_t o = 0; o < COUNT(orders); o++) {
        struct roof_plan_problem q = ask_less(DENSE);
        q.hardware = orders[o];
        q.hardware_count = 2;
        assert_true(check(&q) > 0);
        struct roof_plans plans = search(&q);
        for (size_t i = 0; i < plans.count; i++) {
            assert_true(!plans.plan[i].pareto || plans.plan[i].hardware == o);
        }
        roof_plans_free(&plans);
    }
    roof_hardware_free(other);
}

/* The chunks of long prompts need memory of their own. */
static void test_prefill_fits(void **state)
{
    (void)state;
    struct roof_plan_problem q = ask(DENSE, 4000, 40);
    struct roof_plans plans = search(&q);
    for (size_t i = 0; i < plans.count; i++) {
        enum roof_status status = ROOF_OK;
        const struct roof_plan *const p = &plans.plan[i];
        const struct roof_model_prediction *const got = infer_request(&q, p, &status);
        if (got->fits != ROOF_FIT_YES) {
            fail_msg("%s does not fit: %s, tp %d, pp %d, batch %d", got->phase,
                     q.hardware[p->hardware]->id, (int)p->split.tp, (int)p->split.pp,
                     (int)p->batch);
        }
    }
    roof_plans_free(&plans);
}

/* A split that does not divide the model is counted, whatever else is asked. */
static void test_splits(void **state)
{
    (void)state;
    static const int64_t three[] = {3};
    static const int64_t sixteen[] = {16};
    struct roof_plan_problem q = ask(DENSE, 100, 40);
    q.hardware_count = 1;
    q.devices = three;
    q.device_counts = 1;
    struct roof_plans plans = search(&q);
    const struct grid *g = walk(&q);
    assert_true(g->rejected[ROOF_REJECTED_SPLIT] > 0); /* tp 3; pp 3 divides */
    assert_int_equal(plans.rejected[ROOF_REJECTED_SPLIT], g->rejected[ROOF_REJECTED_SPLIT]);
    for (size_t i = 0; i < plans.count; i++) {
        assert_int_equal(plans.plan[i].split.pp * plans.plan[i].dp, 3); /* or three copies */
    }
    roof_plans_free(&plans);
    q.devices = sixteen; /* tp 16 and pp 8, 16 do not; tp 4, pp 4 and tp 8, pp 2 do */
    (void)check(&q);
    q = ask(EXPERTS, 100, 40); /* ep 8 does, 16 does not */
    q.devices = sixteen;
    q.device_counts = 1;
    (void)check(&q);
}

/* Both predictions get the other inputs of the question, and its lengths. */
static void test_scenarios(void **state)
{
    (void)state;
    struct roof_plan_problem q = ask(EXPERTS, 100, 40);
    q.base.reserve = 0.3;
    const struct roof_plan plan = {
        .serving = 3,
        .stack = ROOF_STACK_VLLM,
        .split = {.tp = 2, .pp = 3, .attention_dp = 4, .moe_tp = 2, .moe_ep = 4},
        .batch = 50};
    struct roof_scenario s[2];
    for (int lengths = 0; lengths < 2; lengths++) {
        roof_plan_scenarios(&s[0], &s[1], &plan, &q);
        const struct roof_serving *const formats = &world.engines->serving[3];
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(s[i].phase, i == 0 ? ROOF_PHASE_PREFILL : ROOF_PHASE_DECODE);
            assert_int_equal(s[i].common.shape.batch, i == 0 ? 1 : 50);
            assert_int_equal(s[i].common.shape.ep, 4);
            assert_int_equal(s[i].tp, 2);
            assert_int_equal(s[i].pp, 3);
            assert_int_equal(s[i].prompt, 0);
            assert_int_equal(s[i].generate, 0);
            /* With a layout the model says the formats, but for the KV cache. */
            const bool layout = formats->layout != NULL;
            assert_int_equal(s[i].common.formats.weights,
                             layout ? ROOF_PRECISION_AUTO : formats->weights);
            assert_int_equal(s[i].common.formats.activations,
                             layout ? ROOF_PRECISION_AUTO : formats->activations);
            assert_int_equal(s[i].common.formats.kv, formats->kv);
            assert_int_equal(s[i].common.stack, ROOF_STACK_VLLM);
            assert_near(s[i].reserve, 0.3, 0);
            assert_int_equal(s[i].context, lengths == 1 ? 77 : i == 0 ? 100 : 120);
        }
        q.base.prompt = q.base.generate = 0;
        q.base.context = 77;
    }
}

static void test_names(void **state)
{
    (void)state;
    struct roof_plan_problem q = ask(DENSE, 100, 40);
    struct roof_plans plans = search(&q);
    for (size_t i = 0; i < plans.count; i++) {
        const struct roof_plan *const p = &plans.plan[i];
        struct roof_plan_row row;
        char engines[128] = "";
        roof_plan_name(&row, p, (int)i + 1, &q);
        for (size_t e = 0; e < world.engines->count; e++) {
            if ((p->engines >> e & 1) != 0) {
                const size_t used = strlen(engines);
                snprintf(engines + used, sizeof engines - used, "%s%s", used == 0 ? "" : " ",
                         world.engines->engine[e].id);
            }
        }
        assert_string_equal(row.engines, engines);
        assert_true(engines[0] != '\0');
        assert_int_equal(row.rank, i + 1);
        assert_true(same_place(&row.plan, p));
        assert_string_equal(row.model, "dense");
        assert_string_equal(row.hardware, world.device[p->hardware]->id);
        assert_string_equal(row.formats, world.engines->serving[p->serving].id);
        assert_ptr_equal(row.layout, world.engines->serving[p->serving].layout);
        assert_int_equal(row.weights, world.engines->serving[p->serving].weights);
        assert_int_equal(row.activations, world.engines->serving[p->serving].activations);
        assert_int_equal(row.kv, world.engines->serving[p->serving].kv);
    }
    roof_plans_free(&plans);
    roof_plans_free(NULL);
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(roof_plan_limit_name((enum roof_plan_limit)i),
                                    roof_plan_limit_name((enum roof_plan_limit)k));
        }
    }
    for (int i = 0; i < ROOF_REJECTED_COUNT; i++) {
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(roof_plan_rejection_name((enum roof_plan_rejection)i),
                                    roof_plan_rejection_name((enum roof_plan_rejection)k));
        }
    }
}

/* Built-in devices and models with what was measured on them. */
static void test_built_in(void **state)
{
    (void)state;
    static const char *const ids[] = {"h100-sxm", "hgx-b200"};
    static const int64_t few[] = {1, 64, 4096};
    static const int64_t pair[] = {1, 4};
    struct roof_hardware *device[COUNT(ids)];
    struct roof_model *const model = load("llama-3.1-8b");
    for (size_t i = 0; i < COUNT(ids); i++) {
        device[i] = load_calibrated(ids[i]);
    }
    struct roof_plan_problem q = ask(DENSE, 1000, 200);
    q.model = model;
    q.hardware = (const struct roof_hardware *const *)device;
    q.hardware_count = COUNT(ids);
    q.batch = few;
    q.batches = COUNT(few);
    q.devices = pair;
    q.device_counts = COUNT(pair);
    for (size_t o = 0; o < COUNT(objectives); o++) {
        q.objective = objectives[o];
        assert_true(check(&q) > 50);
    }
    q.limit[ROOF_PLAN_LIMIT_TPOT] = 5e-3;
    q.limit[ROOF_PLAN_LIMIT_TTFT] = 0.02;
    assert_true(check(&q) > 0);
    roof_model_free(model);
    for (size_t i = 0; i < COUNT(ids); i++) {
        free_calibrated(device[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),         cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limit_itself), cmocka_unit_test(test_tighter),
        cmocka_unit_test(test_wider),        cmocka_unit_test(test_warm),
        cmocka_unit_test(test_nearest),      cmocka_unit_test(test_unknown_last),
        cmocka_unit_test(test_prefill_fits), cmocka_unit_test(test_one_unknown),
        cmocka_unit_test(test_dense),        cmocka_unit_test(test_bases),
        cmocka_unit_test(test_bound_rates),  cmocka_unit_test(test_same_step),
        cmocka_unit_test(test_splits),       cmocka_unit_test(test_scenarios),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_built_in),
    };
    return cmocka_run_group_tests(tests, make_world, free_world);
}
