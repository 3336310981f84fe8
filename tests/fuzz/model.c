// SPDX-License-Identifier: MIT
/* A config.json, with its quantization_config, and a prediction of what it describes.
 * Keys: src/model/config_sizes.c src/model/config_family.c src/model/config_layers.c
 * src/model/config_keys.c src/model/quantization.c src/model/weights.c */
#include "mutate_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct roof_hardware *device;
    static struct roof_model_prediction model_prediction;
    struct roof_model *model = NULL;
    struct roof_error error = {0};
    if (device == NULL) {
        device = fuzz_device();
    }
    char *const text = fuzz_text(data, size);
    enum roof_status status = roof_model_parse(&model, text, size, "config.json", &error);
    FUZZ_EMPTY(status, &error, model);
    free(text);
    if (status != ROOF_OK) {
        return 0;
    }
    CHECK(model->layers > 0 && model->layers <= ROOF_LAYERS_MAX);
    CHECK(model->layer_classes > 0 && model->layer_classes <= model->layers);
    CHECK(model->hidden > 0 && model->vocab > 0 && model->heads > 0 && model->kv_heads > 0);
    for (const char *const *remark = model->remarks; *remark != NULL; remark++) {
        fuzz_one_line(*remark);
    }
    struct roof_scenario scenario;
    roof_scenario_init(&scenario);
    scenario.context = 64;
    status = roof_layout_apply(model, "checkpoint", NULL, &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    }
    status = roof_predict_model(&model_prediction, model, &scenario, device, &error);
    if (status == ROOF_OK) {
        struct roof_text report = ROOF_TEXT_INIT;
        CHECK(model_prediction.total.time_s > 0);
        roof_model_report_about(&report, true, &(struct roof_model_entry){.model = model});
        fuzz_json(&report);
    } else {
        fuzz_refused(status, &error);
    }
    roof_model_free(model);
    return 0;
}
