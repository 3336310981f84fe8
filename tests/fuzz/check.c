// SPDX-License-Identifier: MIT
/* A file of checks, against answers that are always the same; what `check --update` would write is
 * read again.
 * Keys: src/ask/check_read.c src/ask/check_key.c src/decide/input.c src/operator/operator.c
 * Keys: src/operator/operator.h src/report/table.c */
#include "mutate_json.h"

static const char config[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 4, "
    "\"num_attention_heads\": 8, \"num_key_value_heads\": 2, \"intermediate_size\": 80, "
    "\"vocab_size\": 1000}";

/* Documents: of an operator, of a model. */
static struct roof_text documents[2];

static void end(void)
{
    roof_text_free(&documents[0]);
    roof_text_free(&documents[1]);
}

static void begin(void)
{
    static struct roof_model_prediction model_prediction;
    const struct roof_hardware *const device = fuzz_device();
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    struct roof_prediction prediction;
    const struct roof_model *const model = fuzz_model(config);
    struct roof_scenario scenario;
    struct roof_limits limits;
    w.op = ROOF_OPERATOR_GEMM;
    w.shape.m = w.shape.n = w.shape.k = 64;
    roof_scenario_init(&scenario);
    CHECK(roof_predict(&prediction, &w, device, NULL) == ROOF_OK);
    roof_report_json(&documents[0], &prediction, NULL);
    CHECK(roof_predict_model(&model_prediction, model, &scenario, device, NULL) == ROOF_OK);
    CHECK(roof_model_limits(&limits, &model_prediction, &scenario, NULL) == ROOF_OK);
    roof_model_report_json(&documents[1], &model_prediction, &limits, NULL, NULL);
    CHECK(!documents[0].failed && !documents[1].failed);
    CHECK(atexit(end) == 0);
}

static enum roof_status answer(void *context, struct roof_text *out,
                               const struct roof_check_asked *asked, struct roof_error *error)
{
    (void)context;
    CHECK(asked->workload != NULL);
    const bool model = strcmp(asked->workload, "model") == 0;
    CHECK((model || strcmp(asked->workload, "graph") == 0) == (asked->named != NULL));
    for (size_t i = 0; i < asked->count; i++) {
        CHECK(asked->input[i].input < ROOF_INPUT_COUNT && asked->input[i].text != NULL);
    }
    if (asked->count > 3) {
        return roof_error_set(error, ROOF_USAGE, "more than three inputs");
    }
    const struct roof_text *const document = &documents[model];
    roof_text_add(out, document->data, document->length);
    return ROOF_OK;
}

/* Asks every check with the documents at hand. */
static enum roof_status run_all(struct roof_checks *checks, struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < checks->count && status == ROOF_OK; i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_check_answer given = {.text = NULL};
        given.status = answer(NULL, &text, &checks->check[i].asked, &given.refusal);
        given.text = text.data;
        given.length = text.length;
        status = roof_check_take(checks, i, &given, error);
        roof_text_free(&text);
    }
    return status;
}

/* Counts the deviations that no update can mend. */
static size_t lasting(const struct roof_checks *checks)
{
    size_t count = 0;
    for (size_t i = 0; i < checks->count; i++) {
        const struct roof_check *const check = &checks->check[i];
        for (size_t k = 0; k < check->count; k++) {
            const struct roof_expectation *const e = &check->expectation[k];
            count += !e->passed && !roof_expectation_updates(e);
        }
    }
    return count;
}

static void report(const struct roof_checks *checks)
{
    for (int output = ROOF_CHECK_TEXT; output <= ROOF_CHECK_JUNIT; output++) {
        struct roof_text text = ROOF_TEXT_INIT;
        roof_check_report(&text, (enum roof_check_output)output, checks, 1, false);
        CHECK(!text.failed);
        if (output == ROOF_CHECK_JSON) {
            fuzz_json(&text);
        }
        roof_text_free(&text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    static struct fuzz_file updated;
    struct roof_checks checks;
    struct roof_error error = {0};
    if (documents[0].data == NULL) {
        fuzz_open(&file, "checks.json");
        fuzz_open(&updated, "updated.json");
        begin();
    }
    fuzz_fill(&file, data, size, 0);
    enum roof_status status = roof_checks_read(&checks, file.path, &error);
    if (status == ROOF_OK) {
        status = run_all(&checks, &error);
    }
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    } else {
        struct roof_text text = ROOF_TEXT_INIT;
        CHECK(checks.deviations <= checks.values && checks.failed <= checks.count);
        report(&checks);
        const size_t replaced = roof_checks_updated(&text, &checks);
        CHECK(!text.failed && replaced + lasting(&checks) == checks.deviations);
        if (replaced > 0) {
            struct roof_checks again;
            fuzz_fill(&updated, text.data, text.length, 0);
            if (roof_checks_read(&again, updated.path, &error) != ROOF_OK ||
                run_all(&again, &error) != ROOF_OK) {
                fuzz_fail(__FILE__, __LINE__, text.data, error.message);
            }
            CHECK(again.values == checks.values && again.deviations == lasting(&checks));
            roof_checks_free(&again);
        }
        roof_text_free(&text);
    }
    roof_checks_free(&checks);
    return 0;
}
