// SPDX-License-Identifier: MIT
/*
 * A file of records, CSV or NDJSON. The first byte says what they may ask for: o operators, m
 * models, b both, g of one operator, c for compare.
 * Words: src/decide/record_columns.c src/decide/record_predict.c src/operator/operator.c
 * Words: src/operator/operator.h src/decide/input.c src/catalog/precision.c
 */
#include "fuzz.h"

static const char config[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 4, "
    "\"num_attention_heads\": 8, \"num_key_value_heads\": 2, \"intermediate_size\": 80, "
    "\"vocab_size\": 1000}";

struct run {
    const struct roof_model *model;
    uint64_t bad;
};

static enum roof_status load_model(void *context, const struct roof_model **out, const char *name,
                                   const char *layout, struct roof_error *error)
{
    const struct run *const run = context;
    if (strcmp(name, "none") == 0 || strcmp(layout, "none") == 0) {
        return roof_error_set(error, ROOF_USAGE, "unknown model '%s'", name);
    }
    *out = run->model;
    return ROOF_OK;
}

static void on_bad(void *context, const struct roof_error *error)
{
    struct run *const run = context;
    run->bad++;
    fuzz_refused(error->status, error);
    CHECK(error->source[0] != '\0' && error->line > 0);
}

static void read_records(const char *path, char kind, struct run *run,
                         const struct roof_hardware *device)
{
    struct roof_scenario base;
    struct roof_records records;
    struct roof_error error = {0};
    roof_scenario_init(&base);
    const struct roof_records_options options = {
        .base = &base,
        .kind = kind == 'm'                  ? ROOF_RECORDS_MODELS
                : kind == 'b' || kind == 'c' ? ROOF_RECORDS_BOTH
                                             : ROOF_RECORDS_OPERATORS,
        .op = kind == 'g' ? ROOF_OPERATOR_GEMM : ROOF_OPERATOR_COUNT,
        .hardware = "gb10",
        .measured = kind == 'c',
        .context = run,
        .load_model = load_model,
        .bad = on_bad};
    base.common.op = options.op;
    enum roof_status status = roof_records_open(&records, path, &options, &error);
    bool more = status == ROOF_OK;
    while (more) {
        const struct roof_prediction *prediction = NULL;
        status = roof_records_next(&records, &more, &error);
        if (status != ROOF_OK || !more) {
            break;
        }
        for (size_t i = 0; i < records.columns; i++) {
            CHECK(records.column[i] != NULL && records.cell[i] != NULL);
            (void)roof_records_has(&records, records.column[i]);
        }
        CHECK(records.hardware != NULL && records.line > 0);
        const enum roof_status predicted =
            roof_records_predict(&prediction, &records, device, &error);
        if (predicted != ROOF_OK) {
            fuzz_refused(predicted, &error);
            roof_records_refuse(&records, &error);
        } else {
            CHECK(prediction->time_s >= 0);
            CHECK(!(records.measured_s[ROOF_METRIC_TIME] <= 0)); /* NAN: none */
        }
        CHECK(records.bad == run->bad && records.bad <= records.count);
    }
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    }
    roof_records_close(&records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    static struct roof_hardware *device;
    static struct run run;
    if (device == NULL) {
        fuzz_open(&file, "records");
        device = fuzz_device();
        run.model = fuzz_model(config);
    }
    if (size > 0 && strchr("ombgc", data[0]) != NULL && data[0] != '\0') {
        run.bad = 0;
        fuzz_fill(&file, data + 1, size - 1, 0);
        read_records(file.path, (char)data[0], &run, device);
    }
    return 0;
}
