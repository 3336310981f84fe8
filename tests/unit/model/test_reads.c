// SPDX-License-Identifier: MIT
/*
 * An operator names those that it reads: each kind of layer by hand, and rules for any graph.
 */
#include "models.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define SIZES                                                                                      \
    "\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, "                  \
    "\"num_key_value_heads\": 2, \"head_dim\": 16, \"intermediate_size\": 80, "                    \
    "\"vocab_size\": 1000, \"max_position_embeddings\": 2048"

/* Names with blanks between them, those of the layer before in front of a '<'. */
struct row {
    const char *name;
    const char *reads;
};

/* The operators of a stage, valid until the next call; NULL: the scenario is not for the model. */
static const struct roof_graph *build(const struct roof_model *m, struct roof_scenario s,
                                      int64_t stage)
{
    static struct roof_graph graph;
    struct roof_error error = {0};
    return roof_scenario_resolve(&s, m, &error) == ROOF_OK &&
                   roof_graph_build(&graph, m, &s, stage, (struct roof_places){0}, &error) ==
                       ROOF_OK
               ? &graph
               : NULL;
}

static const struct roof_node *find(const struct roof_graph *g, const char *name)
{
    for (size_t i = 0; i < g->count; i++) {
        if (strcmp(g->node[i].name, name) == 0) {
            return &g->node[i];
        }
    }
    return NULL;
}

/* Tells if a node reads the word of this length, of the layer before. */
static bool does_read(const struct roof_node *node, const char *word, size_t length, bool before)
{
    for (size_t i = 0; i < node->reads.count; i++) {
        if (node->reads.before[i] == before && strlen(node->reads.name[i]) == length &&
            strncmp(node->reads.name[i], word, length) == 0) {
            return true;
        }
    }
    return false;
}

static void has_reads(const struct roof_graph *g, const struct row *rows, size_t count)
{
    assert_non_null(g);
    for (size_t i = 0; i < count; i++) {
        const struct roof_node *const node = find(g, rows[i].name);
        size_t words = 0;
        if (node == NULL) {
            fail_msg("no operator %s", rows[i].name);
            return;
        }
        for (const char *word = rows[i].reads; *word != '\0'; words++) {
            const size_t length = strcspn(word, " <");
            const bool before = word[length] == '<';
            if (!does_read(node, word, length, before)) {
                fail_msg("%s does not read %.*s", node->name, (int)length, word);
            }
            word += length + before;
            word += strspn(word, " ");
        }
        if (node->reads.count != words) {
            fail_msg("%s reads %zu operators, the last one %s", node->name, node->reads.count,
                     node->reads.count == 0 ? "" : node->reads.name[node->reads.count - 1]);
        }
    }
}
#define READS(graph, rows) has_reads((graph), (rows), COUNT(rows))

/* --- by hand ------------------------------------------------------------------------------- */

static void test_dense(void **state)
{
    (void)state;
    struct roof_model *const m = parse("{\"model_type\": \"llama\", " SIZES "}");
    const struct row plain[] = {{"embedding", ""},
                                {"attn_norm", "embedding mlp_add<"},
                                {"qkv_proj", "attn_norm"},
                                {"rope", "qkv_proj"},
                                {"kv_append", "rope qkv_proj"},
                                {"attention", "rope kv_append"},
                                {"o_proj", "attention"},
                                {"attn_add", "o_proj embedding mlp_add<"},
                                {"mlp_norm", "attn_add"},
                                {"gate_up_proj", "mlp_norm"},
                                {"mlp_act", "gate_up_proj"},
                                {"down_proj", "mlp_act"},
                                {"mlp_add", "down_proj attn_add"},
                                {"final_norm", "mlp_add"},
                                {"lm_head", "final_norm"}};
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    READS(build(m, s, 0), plain);
    assert_int_equal(build(m, s, 0)->count, COUNT(plain));
    const struct row split[] = {{"embedding_all_reduce", "embedding"},
                                {"attn_norm", "embedding_all_reduce mlp_add<"},
                                {"q_proj", "attn_norm"},
                                {"k_proj", "attn_norm"},
                                {"v_proj", "attn_norm"},
                                {"rope", "q_proj k_proj"},
                                {"kv_append", "rope v_proj"},
                                {"attention", "rope kv_append"},
                                {"attn_all_reduce", "o_proj"},
                                {"attn_add", "attn_all_reduce embedding_all_reduce mlp_add<"},
                                {"gate_proj", "mlp_norm"},
                                {"up_proj", "mlp_norm"},
                                {"mlp_act", "gate_proj up_proj"},
                                {"mlp_all_reduce", "down_proj"},
                                {"mlp_add", "mlp_all_reduce attn_add"},
                                {"logits_all_gather", "lm_head"}};
    s.tp = 2;
    s.split_projections = 1;
    READS(build(m, s, 0), split);
    roof_model_free(m);
}

static void test_stages(void **state)
{
    (void)state;
    struct roof_model *const m = parse("{\"model_type\": \"llama\", " SIZES "}");
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 4, 50);
    s.pp = 2;
    const struct row first[] = {{"attn_norm", "embedding mlp_add<"}, {"send", "mlp_add"}};
    const struct row second[] = {{"attn_norm", "send< mlp_add<"}, {"final_norm", "mlp_add"}};
    READS(build(m, s, 0), first);
    READS(build(m, s, 1), second);
    roof_model_free(m);
}

/* Attention and MLP side by side, with a norm each or one for both; norms behind them. */
static void test_families(void **state)
{
    (void)state;
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 3, 50);
    struct roof_model *m = parse("{\"model_type\": \"gpt_neox\", " SIZES "}");
    s.tp = 2;
    const struct row parallel[] = {{"mlp_norm", "embedding_all_reduce mlp_all_reduce<"},
                                   {"up_proj", "mlp_norm"},
                                   {"attn_add", "o_proj embedding_all_reduce mlp_all_reduce<"},
                                   {"mlp_add", "down_proj attn_add"},
                                   {"mlp_all_reduce", "mlp_add"},
                                   {"final_norm", "mlp_all_reduce"}};
    READS(build(m, s, 0), parallel);
    roof_model_free(m);
    m = parse("{\"model_type\": \"phi\", " SIZES "}");
    const struct row one[] = {{"up_proj", "attn_norm"}, {"mlp_act", "up_proj"}};
    READS(build(m, s, 0), one);
    roof_model_free(m);
    m = parse("{\"model_type\": \"gemma3_text\", " SIZES "}");
    const struct row post[] = {{"q_norm", "qkv_proj"},
                               {"k_norm", "qkv_proj"},
                               {"rope", "q_norm k_norm"},
                               {"kv_append", "rope qkv_proj"},
                               {"attn_post_norm", "attn_all_reduce"},
                               {"attn_add", "attn_post_norm embedding_all_reduce mlp_add<"},
                               {"mlp_add", "mlp_post_norm attn_add"}};
    READS(build(m, s, 0), post);
    roof_model_free(m);
    m = load("gpt-2");
    const struct row learned[] = {{"position", ""},
                                  {"position_add", "position embedding"},
                                  {"attn_norm", "position_add mlp_add<"},
                                  {"attention", "qkv_proj kv_append"}};
    s.tp = 1;
    READS(build(m, s, 0), learned);
    roof_model_free(m);
    m = load("qwen3-next-80b-a3b");
    const struct row gated[] = {{"attn_gate", "attention qkv_proj"}, {"o_proj", "attn_gate"}};
    READS(build(m, s, 0), gated);
    roof_model_free(m);
}

/* Layers of two kinds share what they have in common. */
static void test_experts(void **state)
{
    (void)state;
    struct roof_scenario s = asked(ROOF_PHASE_DECODE, 4, 50);
    struct roof_model *m = parse("{\"model_type\": \"qwen2_moe\", " SIZES
                                 ", \"num_experts\": 8, \"num_experts_per_tok\": 2, "
                                 "\"moe_intermediate_size\": 24, "
                                 "\"shared_expert_intermediate_size\": 40, \"mlp_only_layers\": "
                                 "[0]}");
    const struct row rows[] = {{"gate_up_proj", "mlp_norm"},
                               {"router", "mlp_norm"},
                               {"top_k", "router"},
                               {"experts", "top_k mlp_norm"},
                               {"shared_gate_up_proj", "mlp_norm"},
                               {"shared_down_proj", "shared_act"},
                               {"shared_add", "shared_down_proj experts"},
                               {"mlp_add", "down_proj shared_add attn_add"}};
    READS(build(m, s, 0), rows);
    const struct row sent[] = {{"dispatch", "top_k mlp_norm"},
                               {"experts", "dispatch"},
                               {"combine", "experts"},
                               {"shared_add", "shared_down_proj combine"}};
    s.attention_dp = 2;
    s.moe_ep = 2;
    READS(build(m, s, 0), sent);
    roof_model_free(m);
    m = load("gemma-2-9b");
    const struct row windows[] = {{"attention", "rope kv_append"},
                                  {"attention_window", "rope kv_append"},
                                  {"o_proj", "attention attention_window"}};
    READS(build(m, asked(ROOF_PHASE_DECODE, 1, 8000), 0), windows);
    roof_model_free(m);
}

static void test_latent(void **state)
{
    (void)state;
    struct roof_model *m = load("deepseek-v3");
    const struct row decode[] = {
        {"qkv_a_proj", "attn_norm"},     {"q_a_norm", "qkv_a_proj"},
        {"q_b_proj", "q_a_norm"},        {"kv_a_norm", "qkv_a_proj"},
        {"rope", "q_b_proj qkv_a_proj"}, {"kv_append", "kv_a_norm rope"},
        {"q_absorb", "q_b_proj"},        {"attention", "q_absorb rope kv_append"},
        {"v_absorb", "attention"},       {"o_proj", "v_absorb"}};
    READS(build(m, asked(ROOF_PHASE_DECODE, 1, 4096), 0), decode);
    const struct row prefill[] = {
        {"kv_b_proj", "kv_append"}, {"attention", "kv_b_proj rope"}, {"o_proj", "attention"}};
    READS(build(m, asked(ROOF_PHASE_PREFILL, 1, 4096), 0), prefill);
    struct roof_scenario mixed = asked(ROOF_PHASE_MIXED, 4, 4096);
    mixed.chunk = mixed.prefill_context = 512;
    mixed.prefill_batch = 1;
    const struct row both[] = {{"attention_decode", "q_absorb rope kv_append"},
                               {"attention_prefill", "kv_b_proj rope"},
                               {"o_proj", "v_absorb attention_prefill"}};
    READS(build(m, mixed, 0), both);
    roof_model_free(m);
    m = load("deepseek-v3.2");
    const struct row chosen[] = {
        {"index_q_proj", "q_a_norm"},     {"index_k_proj", "attn_norm"},
        {"index_k_norm", "index_k_proj"}, {"index_rope", "index_k_norm index_q_proj"},
        {"index_append", "index_rope"},   {"index_scores", "index_rope index_k_proj index_append"},
        {"index_top_k", "index_scores"},  {"attention", "q_absorb rope index_top_k kv_append"}};
    READS(build(m, asked(ROOF_PHASE_DECODE, 1, 8192), 0), chosen);
    roof_model_free(m);
}

/* Layers that attend to images read what the encoder has made; without images others follow those
 * before them. */
static void test_crossed(void **state)
{
    (void)state;
    struct roof_model *m = load("llama-3.2-11b-vision");
    struct roof_scenario s = asked(ROOF_PHASE_PREFILL, 1, 512);
    s.media.images = 1;
    const struct row images[] = {{"image_kv_proj", "image_project_0"},
                                 {"image_k_norm", "image_kv_proj"},
                                 {"image_kv_append", "image_k_norm image_kv_proj"},
                                 {"q_proj", "attn_norm"},
                                 {"attention_cross", "q_norm image_kv_append"},
                                 {"o_proj", "attention attention_cross"}};
    READS(build(m, s, 0), images);
    s.split_projections = 1;
    s.pp = 4; /* layers 10 to 19 */
    const struct row second[] = {{"image_k_proj", "image_send<"},
                                 {"image_v_proj", "image_send<"},
                                 {"image_kv_append", "image_k_norm image_v_proj"},
                                 {"image_send", "image_send<"},
                                 {"attn_norm", "send< mlp_add<"}};
    READS(build(m, s, 1), second);
    s = asked(ROOF_PHASE_DECODE, 1, 512);
    s.media.images = 1;
    const struct row decode[] = {{"attention_cross", "q_norm"}};
    READS(build(m, s, 0), decode);
    s = asked(ROOF_PHASE_DECODE, 1, 512);
    s.pp = 40; /* layer 3 is all of a stage */
    const struct row skipped[] = {{"send", "send<"}};
    READS(build(m, s, 3), skipped);
    assert_int_equal(build(m, s, 3)->count, 1);
    roof_model_free(m);
}

static void test_audio(void **state)
{
    (void)state;
    struct roof_model *const m = load("gemma-4-e2b");
    struct roof_scenario s = asked(ROOF_PHASE_PREFILL, 1, 1024);
    s.media.audio = 1;
    const struct row rows[] = {{"audio_position_scores", "audio_position_proj audio_qkv_proj"},
                               {"audio_attention", "audio_qkv_proj audio_position_scores"},
                               {"audio_attn_add", "audio_attn_post_norm audio_mlp_add_0"}};
    READS(build(m, s, 0), rows);
    roof_model_free(m);
}

static void test_states(void **state)
{
    (void)state;
    const struct roof_scenario s = asked(ROOF_PHASE_DECODE, 1, 4096);
    struct roof_model *m = load("falcon-h1-0.5b");
    const struct row beside[] = {
        {"mixer_in_proj", "attn_norm"},         {"short_conv", "mixer_in_proj"},
        {"state", "short_conv mixer_in_proj"},  {"mixer_out_proj", "mixer_gate"},
        {"mixer_add", "mixer_out_proj o_proj"}, {"attn_add", "mixer_add embedding mlp_add<"}};
    READS(build(m, s, 0), beside);
    roof_model_free(m);
    m = load("kimi-linear-48b-a3b");
    const struct row kimi[] = {{"mixer_decay_proj", "mixer_in_proj"},
                               {"mixer_gate_proj", "mixer_in_proj"},
                               {"state", "short_conv mixer_in_proj mixer_decay_proj"},
                               {"mixer_norm", "state"},
                               {"mixer_gate", "mixer_norm mixer_gate_proj"}};
    READS(build(m, s, 0), kimi);
    roof_model_free(m);
    /* A layer works on one stream of the residual: all are predicted before and corrected behind.
     */
    m = load("gemma-3n-e4b");
    const struct row streams[] = {{"altup_predict", "altup_router altup_scale embedding_out_add<"},
                                  {"laurel_left_proj", "attn_norm"},
                                  {"laurel_add", "laurel_norm attn_norm"},
                                  {"attn_laurel_add", "laurel_add attn_add"},
                                  {"altup_correct", "mlp_add altup_correct_router altup_predict"},
                                  {"embedding_out_add", "embedding_out_norm altup_correct"},
                                  {"altup_join_proj", "embedding_out_add"}};
    READS(build(m, s, 0), streams);
    roof_model_free(m);
    /* Each layer mixes the sums of the blocks before it; the sum begins again in the first. */
    m = load("kimi-k3");
    const struct row depth[] = {{"mlp_mix", "attn_add mixer_out_proj"},
                                {"mlp_norm", "mlp_mix"},
                                {"attn_mix", "mlp_add<"},
                                {"latent_norm", "experts"},
                                {"latent_out_proj", "latent_norm"},
                                {"attn_gate_proj", "attn_norm"},
                                {"attn_gate", "attn_gate_proj v_absorb"},
                                {"mixer_gate", "mixer_norm mixer_in_proj"},
                                {"final_mix", "mlp_add"}};
    READS(build(m, s, 0), depth);
    roof_model_free(m);
    m = load("nemotron-3-super-120b-a12b");
    const struct row latent[] = {{"latent_in_proj", "mlp_norm"},
                                 {"experts", "top_k latent_in_proj"},
                                 {"latent_out_proj", "experts"},
                                 {"shared_up_proj", "mlp_norm"},
                                 {"shared_add", "shared_down_proj latent_out_proj"}};
    READS(build(m, s, 0), latent);
    roof_model_free(m);
    m = load("jamba-1.5-mini");
    const struct row scan[] = {{"mixer_x_proj", "short_conv"},
                               {"mixer_step_proj", "mixer_x_norm"},
                               {"state", "short_conv mixer_x_norm mixer_step_proj"},
                               {"mixer_gate", "state mixer_in_proj"}};
    READS(build(m, s, 0), scan);
    roof_model_free(m);
    /* Layers of a state, of attention or of an MLP alone. */
    m = load("nemotron-nano-9b-v2");
    const struct row alone[] = {{"attn_norm", "embedding mlp_add< attn_add<"},
                                {"mlp_norm", "attn_add<"},
                                {"mlp_add", "down_proj attn_add<"}};
    READS(build(m, s, 0), alone);
    roof_model_free(m);
}

/* --- any graph ----------------------------------------------------------------------------- */

static bool one_of(const char *name, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (strcmp(name, *list) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_read(const struct roof_graph *g, const char *name)
{
    for (size_t i = 0; i < g->count; i++) {
        if (does_read(&g->node[i], name, strlen(name), false) ||
            does_read(&g->node[i], name, strlen(name), true)) {
            return true;
        }
    }
    return false;
}

/* Returns how many operators a result goes through, at most; it must not come back in a layer. */
static int depth(const struct roof_graph *g, const struct roof_node *node, int left)
{
    int most = 0;
    if (left == 0) {
        fail_msg("%s reads its own result", node->name);
    }
    for (size_t i = 0; i < node->reads.count; i++) {
        const struct roof_node *const from = find(g, node->reads.name[i]);
        if (!node->reads.before[i] && from != NULL) {
            const int here = depth(g, from, left - 1);
            most = here > most ? here : most;
        }
    }
    return most + 1;
}

/* Each operator reads operators that are there, and is read, but for the ends. */
static void holds(const struct roof_graph *g, const char *id)
{
    static const char *const begins[] = {"embedding", "layer_embedding", "position", NULL};
    static const char *const ends[] = {"lm_head", "logits_all_gather", "send", "index_append",
                                       NULL};
    for (size_t i = 0; i < g->count; i++) {
        const struct roof_node *const node = &g->node[i];
        if ((node->reads.count == 0) != one_of(node->name, begins)) {
            fail_msg("%s: %s reads %zu operators", id, node->name, node->reads.count);
        }
        assert_true(node->reads.count < ROOF_READS_MAX); /* none was left out */
        for (size_t k = 0; k < node->reads.count; k++) {
            const char *const name = node->reads.name[k];
            const bool sent = node->reads.before[k] && strcmp(name, "send") == 0;
            if (find(g, name) == NULL && !sent) {
                fail_msg("%s: %s reads %s, which is not there", id, node->name, name);
            }
        }
        if (!is_read(g, node->name) && !one_of(node->name, ends)) {
            fail_msg("%s: nothing reads %s", id, node->name);
        }
        (void)depth(g, node, (int)g->count + 1);
    }
}

static void test_every_model(void **state)
{
    (void)state;
    static const enum roof_phase phases[] = {ROOF_PHASE_DECODE, ROOF_PHASE_PREFILL,
                                             ROOF_PHASE_MIXED};
    struct roof_text models = ROOF_TEXT_INIT;
    size_t count = 0;
    size_t graphs = 0;
    assert_int_equal(roof_model_ids(&models, &count, NULL, NULL), ROOF_OK);
    const char *id = models.data;
    for (size_t i = 0; i < count; i++, id += strlen(id) + 1) {
        struct roof_model *const m = load(id);
        for (size_t k = 0; k < 3 * 2 * 2; k++) {
            struct roof_scenario s = asked(phases[k % 3], 4, 4096);
            s.tp = k / 3 % 2 == 0 ? 1 : 4;
            s.pp = k / 6 == 0 ? 1 : 2;
            s.prefill_batch = s.phase == ROOF_PHASE_MIXED ? 1 : 0;
            s.chunk = s.prefill_context = s.phase == ROOF_PHASE_MIXED ? 512 : 0;
            for (int64_t stage = 0; stage < s.pp; stage++) {
                const struct roof_graph *const g = build(m, s, stage);
                if (g != NULL) {
                    holds(g, id);
                    graphs++;
                }
            }
        }
        roof_model_free(m);
    }
    assert_true(graphs > 10 * count);
    roof_text_free(&models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),    cmocka_unit_test(test_stages),
        cmocka_unit_test(test_families), cmocka_unit_test(test_experts),
        cmocka_unit_test(test_latent),   cmocka_unit_test(test_audio),
        cmocka_unit_test(test_states),   cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_crossed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
