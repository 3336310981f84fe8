// SPDX-License-Identifier: MIT
/* An object as a layout file, and as the quantization_config of a model.
 * Keys: src/model/layout.c src/model/quantization.c src/model/quantization_method.c
 * Keys: src/model/quantization_names.c src/model/module_names.c
 * Keys: src/model/weights.c src/catalog/precision.c */
#include "mutate_json.h"

#define CONFIG                                                                                     \
    "{\"model_type\": \"mixtral\", \"hidden_size\": 64, \"num_hidden_layers\": 4, "                \
    "\"num_attention_heads\": 8, \"num_key_value_heads\": 2, \"intermediate_size\": 80, "          \
    "\"vocab_size\": 1000, \"num_local_experts\": 8, \"num_experts_per_tok\": 2"

static void check_formats(const struct roof_model *model)
{
    CHECK(model->layer_classes > 0 && model->layer_classes <= model->layers);
    for (int64_t i = 0; i < model->layer_classes; i++) {
        for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
            CHECK(model->layer[i].format[w] >= ROOF_PRECISION_AUTO &&
                  model->layer[i].format[w] < ROOF_PRECISION_COUNT);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    static const struct roof_model *model;
    struct roof_error error = {0};
    if (model == NULL) {
        fuzz_open(&file, "layout.json");
        model = fuzz_model(CONFIG "}");
    }
    fuzz_fill(&file, data, size, 0);
    struct roof_model *const copy = roof_model_copy(model);
    CHECK(copy != NULL);
    enum roof_status status = roof_layout_apply(copy, file.path, NULL, &error);
    if (status == ROOF_OK) {
        struct roof_layout_about about;
        check_formats(copy);
        status = roof_layout_load(&about, file.path, NULL, &error);
        if (status == ROOF_OK) {
            fuzz_one_line(about.id);
            fuzz_one_line(about.name);
            roof_layout_about_free(&about);
        }
    }
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    }
    roof_model_free(copy);

    static const char member[] = ", \"quantization_config\": ";
    struct roof_text config = ROOF_TEXT_INIT;
    struct roof_model *quantised = NULL;
    roof_text_put(&config, CONFIG);
    roof_text_put(&config, member);
    roof_text_add(&config, (const char *)data, size);
    roof_text_put(&config, "}");
    status = roof_model_parse(&quantised, config.data, config.length, "config.json", &error);
    roof_text_free(&config);
    FUZZ_EMPTY(status, &error, quantised);
    if (status == ROOF_OK) {
        status = roof_layout_apply(quantised, "checkpoint", NULL, &error);
        if (status != ROOF_OK) {
            fuzz_refused(status, &error);
        }
        check_formats(quantised);
    }
    roof_model_free(quantised);
    return 0;
}
