// SPDX-License-Identifier: MIT
/* Which layers of a config.json reuse the keys that an earlier layer chose. */
#include "models.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define BEGIN                                                                                      \
    "{\"model_type\": \"glm_moe_dsa\", \"hidden_size\": 64, \"num_hidden_layers\": 8, "            \
    "\"num_attention_heads\": 4, \"q_lora_rank\": 24, \"kv_lora_rank\": 32, "                      \
    "\"qk_nope_head_dim\": 16, \"qk_rope_head_dim\": 8, \"v_head_dim\": 12, "                      \
    "\"intermediate_size\": 80, \"vocab_size\": 100, \"index_n_heads\": 2, \"index_head_dim\": 6"
#define WORDS "\"full\", \"full\", \"full\", \"shared\", \"shared\", \"shared\", \"full\""

static struct roof_model *with(const char *members, struct roof_error *error)
{
    struct roof_model *model = NULL;
    char text[2048];
    snprintf(text, sizeof text, BEGIN ", \"index_topk\": 20, %s}", members);
    *error = (struct roof_error){0};
    const enum roof_status status = roof_model_parse(&model, text, strlen(text), "x.json", error);
    assert_int_equal(status, model == NULL ? ROOF_INVALID : ROOF_OK);
    return model;
}

/* A list decides, then a pattern, then a period of 4 whose first three layers choose. */
static void test_layers(void **state)
{
    (void)state;
    static const struct {
        const char *members;
        const char *reuses; /* a 1 for each layer that does */
    } cases[] = {
        {"\"indexer_types\": [" WORDS ", \"shared\"]", "00011101"},
        {"\"indexer_types\": [" WORDS ", \"shared\"], \"index_topk_freq\": 4, "
         "\"index_skip_topk_offset\": 3",
         "00011101"},
        {"\"index_topk_pattern\": \"FSSFFSSS\", \"indexer_types\": null", "01100111"},
        {"\"index_topk_pattern\": [\"F\", \"S\", \"F\", \"F\", \"F\", \"F\", \"F\", \"S\"]",
         "01000001"},
        {"\"index_topk_freq\": 4, \"index_skip_topk_offset\": 3", "00011101"},
        {"\"index_topk_freq\": 4", "00111011"},
        {"\"index_topk_freq\": 1, \"index_share_for_mtp_iteration\": true", "00000000"},
        {"\"tie_word_embeddings\": false", "00000000"},
        {"\"indexer_types\": [" WORDS "], \"index_topk_freq\": 4, \"index_skip_topk_offset\": 3",
         "00011101"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error;
        struct roof_model *const m = with(cases[i].members, &error);
        if (m == NULL) {
            fail_msg("%s", error.message);
            return;
        }
        for (int64_t k = 0; k < m->layers; k++) {
            const struct roof_layer *const layer = &m->layer[m->layer_class[k]];
            assert_int_equal(layer->reuses_choice, cases[i].reuses[k] == '1');
            assert_int_equal(roof_chooses_keys(m, layer), cases[i].reuses[k] == '0');
        }
        /* A list that is too short is completed, and a note says so. */
        const bool completed = m->remarks[0] != NULL && strstr(m->remarks[0], "7 of 8 layers");
        assert_int_equal(completed, i + 1 == COUNT(cases));
        roof_model_free(m);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char lengths[] = "must have full (F) or shared (S) for each of the 8 layers";
    static const struct {
        const char *members;
        const char *message;
    } cases[] = {
        {"\"indexer_types\": [" WORDS "]", lengths},
        {"\"indexer_types\": [" WORDS ", \"shared\", \"full\"]", lengths},
        {"\"indexer_types\": [" WORDS ", \"half\"]", lengths},
        {"\"indexer_types\": [" WORDS ", 1]", lengths},
        {"\"indexer_types\": 3", lengths},
        {"\"index_topk_pattern\": \"FSSFFSSX\"", lengths},
        {"\"index_topk_pattern\": \"FSS\"", lengths},
        {"\"index_topk_pattern\": \"SFFFFFFF\"", "the first layer must choose its own keys"},
        {"\"index_topk_freq\": 4, \"index_skip_topk_offset\": 0",
         "the first layer must choose its own keys"},
        {"\"index_topk_freq\": 0.5", "index_topk_freq must be an integer from 1 to 512"},
        {"\"index_topk_freq\": 4, \"index_skip_topk_offset\": -1",
         "index_skip_topk_offset must be an integer from 0 to 512"},
        {"\"indexer_types\": [" WORDS ", \"full\"], \"index_topk_freq\": 4, "
         "\"index_skip_topk_offset\": 3",
         "indexer_types and index_topk_freq disagree on layer 7; remove the one that is wrong"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error;
        assert_null(with(cases[i].members, &error));
        if (strstr(error.message, cases[i].message) == NULL) {
            fail_msg("%s: %s", cases[i].members, error.message);
        }
    }
}

/* Without chosen keys there is nothing to reuse. */
static void test_without_choice(void **state)
{
    (void)state;
    struct roof_model *m = NULL;
    static const char text[] = BEGIN ", \"index_topk\": 0, \"index_topk_pattern\": \"FSSFFSSS\"}";
    assert_int_equal(roof_model_parse(&m, text, strlen(text), "x.json", NULL), ROOF_OK);
    assert_int_equal(m->layer_classes, 1);
    assert_false(roof_chooses_keys(m, &m->layer[0]));
    roof_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_without_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
