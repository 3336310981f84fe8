// SPDX-License-Identifier: MIT
/* Scripts for all engines: every row of data/engines once, names of models, and what none runs. */
#include "support.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A config as NVIDIA ModelOpt publishes it in FP8. */
static const char *const modelopt_fp8 =
    "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
    "\"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, "
    "\"vocab_size\": 128256, \"quantization_config\": {\"quant_method\": \"modelopt\", "
    "\"quant_algo\": \"FP8\"}}";

static struct {
    struct roof_engines *engines;
    struct roof_model *model;
    struct roof_model *published;
    struct roof_model *int4; /* published in it */
    struct roof_model *checkpoint[4];
    struct roof_text out;
    struct roof_error error;
} world;

/* Makes a model that is as if it came from a GGUF file. */
static bool as_file(struct roof_model **out)
{
    const bool loaded = roof_model_load(out, "llama-3-8b", NULL, NULL) == ROOF_OK;
    if (loaded) {
        (*out)->quantization = "gguf";
    }
    return loaded;
}

static int make_world(void **unused)
{
    (void)unused;
    return roof_engines_load(&world.engines, NULL) == ROOF_OK &&
                   roof_model_load(&world.model, "mixtral-8x7b", NULL, NULL) == ROOF_OK &&
                   roof_model_load(&world.published, "gpt-oss-20b", NULL, NULL) == ROOF_OK &&
                   roof_model_load(&world.int4, "kimi-k2-thinking", NULL, NULL) == ROOF_OK &&
                   roof_model_load(&world.checkpoint[0], "deepseek-v3", NULL, NULL) == ROOF_OK &&
                   roof_model_load(&world.checkpoint[1], "deepseek-r1-0528-nvfp4-v2", NULL, NULL) ==
                       ROOF_OK &&
                   roof_model_load(&world.checkpoint[2], modelopt_fp8, NULL, NULL) == ROOF_OK &&
                   as_file(&world.checkpoint[3])
               ? 0
               : -1;
}

static int free_world(void **unused)
{
    (void)unused;
    roof_engines_free(world.engines);
    roof_model_free(world.model);
    roof_model_free(world.published);
    roof_model_free(world.int4);
    for (size_t i = 0; i < COUNT(world.checkpoint); i++) {
        roof_model_free(world.checkpoint[i]);
    }
    roof_text_free(&world.out);
    return 0;
}

/* A device of an architecture, eight per node. */
static struct roof_hardware *device(const char *architecture)
{
    char text[256];
    snprintf(text, sizeof text,
             "{\"id\": \"x\", \"architecture\": \"%s\", \"bandwidth_gb_s\": 1, "
             "\"devices_per_node\": 8, \"peak_tflops\": {\"fp16\": 1}}",
             architecture);
    return parse_device(text);
}

static struct roof_plan_problem ask(const struct roof_hardware *const *hardware,
                                    const struct roof_model *model)
{
    struct roof_plan_problem q = {
        .model = model, .hardware = hardware, .hardware_count = 1, .engines = world.engines};
    roof_scenario_init(&q.base);
    q.base.prompt = 1000;
    q.base.generate = 200;
    return q;
}

static const char *form; /* that is asked for; NULL: the engine itself */

static enum roof_status emit(size_t engine, struct roof_plan *plan, size_t count,
                             const struct roof_plan_problem *q, const char *model)
{
    const struct roof_plans plans = {.plan = plan, .count = count};
    for (size_t i = 0; i < count; i++) {
        plan[i].dp = plan[i].dp > 0 ? plan[i].dp : 1;
    }
    roof_text_clear(&world.out);
    return roof_emit(&world.out, form == NULL ? world.engines->engine[engine].id : form, engine,
                     &plans, NULL, q, model, &world.error);
}

/* A split that "tp", "pp" and "ep" say, of experts where there are several groups. */
static struct roof_split split_of(int64_t tp, int64_t pp, int64_t ep)
{
    return (struct roof_split){.tp = tp,
                               .pp = pp,
                               .attention_dp = ep,
                               .moe_tp = ep > 1 ? tp : 0,
                               .moe_ep = ep > 1 ? ep : 0};
}

/* One copy with no stages. */
static struct roof_plan plan_of(size_t serving, int64_t tp, int64_t ep, int64_t batch,
                                unsigned engines)
{
    return (struct roof_plan){.serving = serving,
                              .split = split_of(tp, 1, ep),
                              .dp = 1,
                              .devices = tp * ep,
                              .batch = batch,
                              .engines = engines};
}

static bool says(const char *text)
{
    return world.out.data != NULL && strstr(world.out.data, text) != NULL;
}

static size_t engine_of(const char *id)
{
    size_t number = 0;
    assert_int_equal(roof_engine_find(&number, world.engines, id, NULL), ROOF_OK);
    return number;
}

/* The number of a combination by its name and the format of its KV cache. */
static size_t serving_of(const char *id, enum roof_precision kv)
{
    size_t i = 0;
    while (i < world.engines->servings &&
           (strcmp(world.engines->serving[i].id, id) != 0 || world.engines->serving[i].kv != kv)) {
        i++;
    }
    assert_true(i < world.engines->servings);
    return i;
}

/* All engines, formats and splits: no placeholder is left, no line continues into nothing. */
static void test_all(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{1, 1, 1}, {4, 1, 1}, {1, 2, 1}, {4, 2, 1},
                                       {1, 1, 8}, {2, 1, 4}, {8, 2, 1}};
    size_t scripts = 0;
    for (size_t e = 0; e < world.engines->count; e++) {
        const struct roof_engine *const engine = &world.engines->engine[e];
        for (size_t f = 0; f < engine->formats; f++) {
            struct roof_hardware *const hardware = device(engine->format[f].on[0]);
            const struct roof_hardware *const only = hardware;
            const char *const method = engine->format[f].quantization;
            struct roof_plan_problem q =
                ask(&only, method == NULL                                    ? world.model
                           : strcmp(method, "compressed-tensors/W4A16") == 0 ? world.int4
                                                                             : world.published);
            q.checkpoint = world.checkpoint;
            q.checkpoints = COUNT(world.checkpoint);
            for (size_t s = 0; s < world.engines->servings; s++) {
                for (size_t k = 0; k < COUNT(sizes); k++) {
                    struct roof_plan plan = {.serving = s,
                                             .split =
                                                 split_of(sizes[k][0], sizes[k][1], sizes[k][2]),
                                             .batch = sizes[k][1] > 1 ? 1 : 20,
                                             .engines = 1U << e};
                    plan.devices = roof_split_devices(&plan.split);
                    if (roof_engine_format(engine, &world.engines->serving[s], hardware) !=
                            &engine->format[f] ||
                        (roof_engines_split(world.engines, hardware, &plan.split, plan.batch) &
                         1U << e) == 0) {
                        continue;
                    }
                    if (emit(e, &plan, 1, &q, q.model->id) != ROOF_OK) {
                        fail_msg("%s: %s", engine->id, world.error.message);
                    }
                    assert_false(says("{") || says("}") || says("\\\n\n") || says("  \\\n"));
                    assert_memory_equal(world.out.data, "command -v setopt ", 18);
                    assert_int_equal(world.out.data[world.out.length - 1], '\n');
                    assert_true(world.out.data[world.out.length - 2] != '\\');
                    /* The context with some room, or exactly, or that of all sequences. */
                    const bool room = plan.batch > plan.split.attention_dp;
                    assert_true(says(room ? "2048" : "1200") || says("24000"));
                    assert_true(says("accepts requests up to 2048 tokens") ==
                                (room && !says("24000")));
                    assert_int_equal(says("several nodes"), plan.devices > 8);
                    scripts++;
                }
            }
            roof_hardware_free(hardware);
        }
    }
    assert_true(scripts > 150);
}

/* Engines differ in what the sizes and batches of spread experts count: a rank, or all of them. */
static void test_experts(void **state)
{
    (void)state;
    static const struct {
        const char *engine;
        int64_t tp;
        const char *words[4];
    } cases[] = {
        {"vllm",
         1,
         {"--data-parallel-size 8 \\", "--enable-expert-parallel", "--max-num-seqs 13 "}},
        {"trtllm",
         1,
         {"--tp_size 8 \\", "--ep_size 8 \\", "--max_batch_size 13 ",
          "\nenable_attention_dp: true\n"}},
        {"sglang",
         2,
         {"--tp-size 16 \\", "--dp-size 8 \\", "--ep-size 8 \\", "--max-running-requests 104 "}},
    };
    struct roof_hardware *const hardware = device("Hopper");
    const struct roof_hardware *const only = hardware;
    const struct roof_plan_problem q = ask(&only, world.model);
    for (size_t c = 0; c < COUNT(cases); c++) {
        const size_t engine = engine_of(cases[c].engine);
        struct roof_plan plan =
            plan_of(serving_of("bf16", ROOF_PRECISION_BF16), cases[c].tp, 8, 100, 1U << engine);
        assert_int_equal(emit(engine, &plan, 1, &q, q.model->id), ROOF_OK);
        for (size_t i = 0; i < COUNT(cases[c].words) && cases[c].words[i] != NULL; i++) {
            if (!says(cases[c].words[i])) {
                fail_msg("no %s in %s", cases[c].words[i], world.out.data);
            }
        }
    }
    roof_hardware_free(hardware);
}

/* Names go into a shell: what could end a word or a line does not. */
static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *given;
        const char *command; /* of vLLM */
        const char *made;    /* what a checkpoint to be made is called */
    } cases[] = {
        {"m", "vllm serve m \\", "./m-awq"},
        {"org/m-1.5", "vllm serve org/m-1.5 \\", "./m-1.5-awq"},
        {"config.json", "vllm serve . \\", "./model-awq"},
        {"/a/b/config.json", "vllm serve /a/b \\", "./b-awq"},
        {"/a/b/x.safetensors", "vllm serve /a/b \\", "./b-awq"},
        {"/a/b//", "vllm serve /a/b \\", "./b-awq"},
        {"a b", "vllm serve 'a b' \\", "./a-b-awq"},
        {"a'b;$(c)", "vllm serve 'a'\\''b;$(c)' \\", "./a-b---c--awq"},
        {"a\nreboot", "vllm serve 'a\nreboot' \\", "./a-reboot-awq"},
        {"-d", "vllm serve ./-d \\", "./-d-awq"},
        {"/a/my.json", "vllm serve /a \\", "./a-awq"},
        {"/a/m.gguf", "vllm serve ./m-unquantised \\", "./m-awq"},
    };
    struct roof_hardware *const hardware = device("Hopper");
    const struct roof_hardware *const only = hardware;
    struct roof_model nameless = *world.model;
    nameless.repository = NULL;
    nameless.id = "x\ny";
    const struct roof_plan_problem q = ask(&only, &nameless);
    const size_t vllm = engine_of("vllm");
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct roof_plan plan =
            plan_of(serving_of("fp8", ROOF_PRECISION_BF16), 1, 1, 8, 1U << vllm);
        assert_int_equal(emit(vllm, &plan, 1, &q, cases[c].given), ROOF_OK);
        if (!says(cases[c].command)) {
            fail_msg("%s: %s", cases[c].given, world.out.data);
        }
        assert_true(says("# x?y with vLLM"));
        plan.serving = serving_of("awq", ROOF_PRECISION_BF16);
        assert_int_equal(emit(vllm, &plan, 1, &q, cases[c].given), ROOF_OK);
        if (!says(cases[c].made)) {
            fail_msg("%s: %s", cases[c].given, world.out.data);
        }
        assert_false(says("\nreboot"));
    }
    roof_hardware_free(hardware);
}

/* The registry knows the repository; another name for the model may mean another checkpoint. */
static void test_repository(void **state)
{
    (void)state;
    struct roof_hardware *const hardware = device("Hopper");
    const struct roof_hardware *const only = hardware;
    const struct roof_plan_problem q = ask(&only, world.model);
    const size_t vllm = engine_of("vllm");
    struct roof_plan plan = plan_of(serving_of("bf16", ROOF_PRECISION_BF16), 2, 1, 8, 1U << vllm);
    assert_int_equal(emit(vllm, &plan, 1, &q, "mixtral-8x7b"), ROOF_OK);
    assert_true(says("vllm serve mistralai/Mixtral-8x7B-v0.1 \\"));
    assert_false(says("in place of"));
    assert_int_equal(emit(vllm, &plan, 1, &q, "an-alias"), ROOF_OK);
    assert_true(says("# an-alias: replace mistralai/Mixtral-8x7B-v0.1 by its repository"));
    roof_hardware_free(hardware);
}

/* Each engine has words for its ways of drafting, over the splits that it drafts over. */
static void test_drafts(void **state)
{
    (void)state;
    static const struct {
        const char *engine;
        enum roof_drafting by;
        int64_t tp;
        int64_t dp;
        const char *words; /* NULL: it does not draft so */
    } cases[] = {
        {"vllm", ROOF_DRAFTING_MODEL, 2, 1,
         "--speculative-config '{\"method\": \"draft_model\", \"model\": \"a\\\"b'\\''$(c)\", "
         "\"num_speculative_tokens\": 3}' \\\n"},
        {"vllm", ROOF_DRAFTING_OWN, 2, 1, "'{\"method\": \"mtp\", \"num_speculative_tokens\": 3}'"},
        {"vllm", ROOF_DRAFTING_FREE, 2, 1, "\"ngram\""},
        {"sglang", ROOF_DRAFTING_MODEL, 2, 1,
         "--speculative-draft-model-path 'a\"b'\\''$(c)' \\\n    --speculative-num-steps 3 \\\n"
         "    --speculative-eagle-topk 1 \\\n    --speculative-num-draft-tokens 4 \\\n"},
        {"sglang", ROOF_DRAFTING_MODEL, 1, 2, NULL},
        {"sglang", ROOF_DRAFTING_OWN, 1, 2, "--speculative-algorithm EAGLE"},
        {"trtllm", ROOF_DRAFTING_MODEL, 2, 1,
         "speculative_config:\n  decoding_type: DraftTarget\n  max_draft_len: 3\n"
         "  speculative_model: \"a\\\"b'$(c)\"\nEND\n"},
        {"llama.cpp", ROOF_DRAFTING_MODEL, 1, 1, "--spec-draft-model ./a-b---c-.gguf \\\n"},
        {"llama.cpp", ROOF_DRAFTING_FREE, 1, 1, "--spec-ngram-simple-size-m 3"},
        {"torchao", ROOF_DRAFTING_FREE, 1, 1, NULL},
    };
    struct roof_hardware *const hardware = device("Hopper");
    const struct roof_hardware *const only = hardware;
    struct roof_model drafter = *world.model;
    drafter.repository = NULL;
    drafter.reference = "a\"b'$(c)";
    for (size_t c = 0; c < COUNT(cases); c++) {
        const size_t e = engine_of(cases[c].engine);
        const bool file = strcmp(cases[c].engine, "llama.cpp") == 0;
        const bool ao = strcmp(cases[c].engine, "torchao") == 0;
        const char *const format = file ? "q8_0" : ao ? "fp8" : "bf16";
        struct roof_plan_problem q = ask(&only, world.model);
        struct roof_plan plan =
            plan_of(serving_of(format, file ? ROOF_PRECISION_Q8_0 : ROOF_PRECISION_BF16),
                    cases[c].tp, cases[c].dp, 8, 1U << e);
        q.base.draft_tokens = 3;
        q.base.drafting = cases[c].by == ROOF_DRAFTING_MODEL ? ROOF_DRAFTING_DEFAULT : cases[c].by;
        q.base.draft = cases[c].by == ROOF_DRAFTING_MODEL ? &drafter : NULL;
        const enum roof_status want = cases[c].words == NULL ? ROOF_UNSATISFIED : ROOF_OK;
        assert_int_equal(emit(e, &plan, 1, &q, "m"), want);
        if (!says(cases[c].words == NULL ? "# Drafts (" : cases[c].words)) {
            fail_msg("case %zu: %s", c, world.out.data);
        }
        q.base.draft_tokens = 0;
        assert_int_equal(emit(e, &plan, 1, &q, "m"), ROOF_OK);
        assert_false(says("spec"));
    }
    roof_hardware_free(hardware);
}

/* A model published in 4 bits is no 16-bit checkpoint, but one of its own formats. */
static void test_published(void **state)
{
    (void)state;
    struct roof_hardware *const hardware = device("Hopper");
    const struct roof_hardware *const only = hardware;
    const struct roof_plan_problem q = ask(&only, world.published);
    const size_t vllm = engine_of("vllm");
    struct roof_plan plan = plan_of(serving_of("mxfp4", ROOF_PRECISION_BF16), 1, 1, 8, 1U << vllm);
    assert_int_equal(emit(vllm, &plan, 1, &q, "gpt-oss-20b"), ROOF_OK);
    assert_true(says("vllm serve openai/gpt-oss-20b \\") && !says("published"));
    plan.serving = serving_of("bf16", ROOF_PRECISION_BF16);
    assert_int_equal(emit(vllm, &plan, 1, &q, "gpt-oss-20b"), ROOF_OK);
    assert_true(says("quantised (mxfp4)") && says("vllm serve ./gpt-oss-20b-unquantised \\"));
    roof_hardware_free(hardware);
}

/* The best plan of the engine, and why not the best of all. */
static void test_ranks(void **state)
{
    (void)state;
    struct roof_hardware *const hardware = device("Hopper");
    const struct roof_hardware *const only = hardware;
    const struct roof_plan_problem q = ask(&only, world.model);
    const size_t vllm = engine_of("vllm");
    const size_t trtllm = engine_of("trtllm");
    const size_t bf16 = serving_of("bf16", ROOF_PRECISION_BF16);
    const unsigned both = 1U << vllm | 1U << trtllm;
    struct roof_plan plan[] = {
        plan_of(serving_of("w4a8-awq", ROOF_PRECISION_BF16), 1, 1, 1, 1U << trtllm),
        plan_of(bf16, 2, 1, 2, both), plan_of(bf16, 1, 1, 3, both)};
    assert_int_equal(emit(trtllm, plan, COUNT(plan), &q, "m"), ROOF_OK);
    assert_true(says("rank 1 of 3") && !says("better with "));
    assert_int_equal(emit(vllm, plan, COUNT(plan), &q, "m"), ROOF_OK);
    assert_true(says("rank 2 of 3") && says("# better with ") &&
                says("these formats on this device"));
    plan[1].engines = 1U << engine_of("sglang");
    assert_int_equal(emit(vllm, plan + 1, 2, &q, "m"), ROOF_OK);
    assert_true(says("rank 2 of 2") && says("vLLM has slower kernels for it"));
    plan[1].split = split_of(2, 1, 2);
    assert_int_equal(emit(vllm, plan + 1, 2, &q, "m"), ROOF_OK);
    assert_true(says("rank 2 of 2") && says("vLLM does not run this split"));
    plan[1].split = split_of(2, 1, 1);
    /* Copies are started one by one. */
    plan[1].engines = both;
    plan[1].devices = 6;
    plan[1].dp = 3;
    assert_int_equal(emit(vllm, plan + 1, 1, &q, "m"), ROOF_OK);
    assert_true(
        says("3 copies of 2 devices, behind a load balancer; the port is 8000 + the first device"));
    assert_true(says("\nfor devices in 0,1 2,3 4,5; do\nCUDA_VISIBLE_DEVICES=\"$devices\" vllm"));
    assert_true(says(" --port $((8000 + ${devices%%,*})) &\ndone\nwait\n"));
    /* A node has eight devices: two copies of three, and none of nine. */
    plan[1].devices = 9;
    assert_int_equal(emit(vllm, plan + 1, 1, &q, "m"), ROOF_OK);
    assert_true(says("2 on a node: run this on each of 2 nodes, on the last with only the first "
                     "entry after \"in\";\n#     the port is 8000 + the first device\n"));
    assert_true(says("\nfor devices in 0,1,2 3,4,5; do\n"));
    plan[1].devices = 27;
    assert_int_equal(emit(vllm, plan + 1, 1, &q, "m"), ROOF_OK);
    assert_true(
        says("3 copies of 9 devices, behind a load balancer: run this once for each copy\n"));
    assert_false(says("for devices"));
    /* AMD's variable. */
    hardware->vendor = "AMD";
    plan[1].devices = 6;
    assert_int_equal(emit(vllm, plan + 1, 1, &q, "m"), ROOF_OK);
    assert_true(says("\nHIP_VISIBLE_DEVICES=\"$devices\" vllm"));
    assert_true(says("--tensor-parallel-size 2") && says("6 x x (dp 3, tp 2)"));
    /* None of them. */
    assert_int_equal(emit(engine_of("torchao"), plan, COUNT(plan), &q, "m"), ROOF_UNSATISFIED);
    assert_true(says("none of the 3 plans") && says("float8dq (KV cache bf16)"));
    assert_true(says("# Splits: tp 1, pp 1, attention_dp 1; in one node\n"));
    assert_int_equal(emit(vllm, plan, 0, &q, "m"), ROOF_UNSATISFIED);
    assert_true(says("vLLM runs no plan that satisfies the constraints"));
    for (const char *line = world.out.data; line != NULL && line[1] != '\0';
         line = strchr(line + 1, '\n')) {
        assert_memory_equal(line + (*line == '\n'), "# ", 2);
    }
    roof_hardware_free(hardware);
}

/* A manifest has the words of vLLM, a replica for each copy, and comments for the reader. */
static void test_manifest(void **state)
{
    (void)state;
    const size_t vllm = engine_of("vllm");
    struct roof_hardware *const hardware =
        parse_device("{\"id\": \"x\", \"vendor\": \"NVIDIA\", \"architecture\": \"Hopper\", "
                     "\"bandwidth_gb_s\": 1, "
                     "\"devices_per_node\": 8, \"peak_tflops\": {\"fp16\": 1}}");
    struct roof_hardware *const other = device("Hopper"); /* without a vendor */
    const struct roof_hardware *only = hardware;
    const struct roof_plan_problem q = ask(&only, world.model);
    struct roof_plan plan = plan_of(serving_of("bf16", ROOF_PRECISION_BF16), 2, 1, 8, 1U << vllm);
    plan.dp = 3;
    plan.devices = 6;
    form = "dynamo";
    assert_string_equal(roof_emit_engine(form), "vllm");
    assert_string_equal(roof_emit_engine("sglang"), "sglang");
    assert_int_equal(emit(vllm, &plan, 1, &q, "mixtral-8x7b"), ROOF_OK);
    assert_true(strncmp(world.out.data, "# ", 2) == 0);
    assert_true(says("\napiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\n"));
    assert_true(says("  name: serve-mixtral-8x7b-v0-1\n"));
    assert_true(says("  - name: Frontend\n    type: frontend\n    replicas: 1\n"));
    assert_true(says("  - name: worker\n    type: worker\n    replicas: 3\n"));
    assert_true(
        says("            exec python3 -m dynamo.vllm --model mistralai/Mixtral-8x7B-v0.1 \\\n"));
    assert_true(says(" \\\n                --tensor-parallel-size 2 \\\n"));
    assert_true(says("              nvidia.com/gpu: \"2\"\n"));
    assert_false(says("vllm serve") || says("setopt") || says("--port"));
    /* Four copies of 16 devices are four times two nodes. */
    plan.split = split_of(16, 1, 1);
    plan.dp = 4;
    plan.devices = 64;
    assert_int_equal(emit(vllm, &plan, 1, &q, "mixtral-8x7b"), ROOF_UNSATISFIED);
    assert_true(says("# a copy spans several nodes, which this manifest cannot describe\n"));
    assert_false(says("apiVersion"));
    only = other;
    plan.split = split_of(2, 1, 1);
    plan.dp = 1;
    plan.devices = 2;
    assert_int_equal(emit(vllm, &plan, 1, &q, "mixtral-8x7b"), ROOF_UNSATISFIED);
    assert_true(says("# the manifest needs nvidia.com/gpu, and this is not an NVIDIA GPU\n"));
    form = NULL;
    roof_hardware_free(hardware);
    roof_hardware_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),       cmocka_unit_test(test_experts),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_repository),
        cmocka_unit_test(test_published), cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_manifest),  cmocka_unit_test(test_drafts),
    };
    return cmocka_run_group_tests(tests, make_world, free_world);
}
