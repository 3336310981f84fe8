// SPDX-License-Identifier: MIT
/* The header of a GGUF file. Behind it a hole stands for the weights, unless the first byte, which
 * is not of the file, is an x: then the file ends where the input does. The weights begin with
 * bytes that are no lengths, else a header without an end would go on through all of the hole.
 * Words: src/model/gguf.c src/model/gguf_stream.c src/model/gguf_metadata.c
 * Words: src/model/gguf_tensors.c src/model/gguf_model.c */
#include "model/gguf.h"
#include "fuzz.h"
#include "model/model_make.h"

#define WEIGHTS (UINT64_C(1) << 22)
#define FIRST_WEIGHTS 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    static struct roof_hardware *device;
    static struct roof_model_prediction model_prediction;
    struct roof_error error = {0};
    if (device == NULL) {
        fuzz_open(&file, "model.gguf");
        device = fuzz_device();
    }
    if (size == 0) {
        return 0;
    }
    const bool whole = data[0] != 'x';
    uint8_t *const bytes = malloc(size + FIRST_WEIGHTS);
    CHECK(bytes != NULL);
    memcpy(bytes, data + 1, size - 1);
    memset(bytes + size - 1, 0xff, FIRST_WEIGHTS);
    fuzz_fill(&file, bytes, size - 1 + (whole ? FIRST_WEIGHTS : 0), whole ? WEIGHTS : 0);
    free(bytes);
    struct roof_model *const model = roof_model_new();
    CHECK(model != NULL);
    enum roof_status status = roof_gguf_read(model, file.path, &error);
    if (status == ROOF_OK) {
        struct roof_scenario scenario;
        CHECK(model->stored && model->file_bytes >= 0);
        CHECK(model->layers > 0 && model->layers <= ROOF_LAYERS_MAX);
        CHECK(model->layer_classes > 0 && model->layer_classes <= model->layers);
        fuzz_one_line(model->name);
        roof_scenario_init(&scenario);
        scenario.context = 64;
        status = roof_predict_model(&model_prediction, model, &scenario, device, &error);
        CHECK(status != ROOF_OK || model_prediction.total.time_s > 0);
    }
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    }
    roof_model_free(model);
    return 0;
}
