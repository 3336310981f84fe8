// SPDX-License-Identifier: MIT
/* --explain A,B: why one device or format is faster than another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define TOP_DEFAULT 12

/* One of the two: a device, a format, or DEVICE:FORMAT. */
struct side {
    char text[CLI_SIDE_SIZE];
    const char *device; /* in text; NULL: that of --hardware */
    enum roof_precision format;
    char name[CLI_SIDE_SIZE];
    struct roof_hardware *hardware;
    struct roof_model *model;
    struct roof_model *draft;
    struct roof_scenario scenario;
    struct roof_prediction prediction;
    struct roof_model_prediction inference;
};

struct work {
    struct side side[2];
    struct roof_speedup speedup;
    struct roof_recommendation recommendation;
};

enum roof_status cli_explain_pair(char side[2][CLI_SIDE_SIZE], const struct cli_options *options,
                                  struct roof_error *error)
{
    const char *const text = options->value[ROOF_INPUT_EXPLAIN];
    const char *const comma = strchr(text, ',');
    if (comma == NULL || comma == text || comma[1] == '\0' || strchr(comma + 1, ',') != NULL ||
        strlen(text) >= CLI_SIDE_SIZE) {
        return roof_error_set(error, ROOF_USAGE,
                              "--explain takes two devices or two formats, as A,B: not '%s'", text);
    }
    if (options->value[ROOF_INPUT_TOP] != NULL && options->output != ROOF_OUTPUT_TEXT) {
        return roof_error_set(error, ROOF_USAGE, "--top with --explain goes with --format text");
    }
    (void)snprintf(side[0], CLI_SIDE_SIZE, "%.*s", (int)(comma - text), text);
    (void)snprintf(side[1], CLI_SIDE_SIZE, "%s", comma + 1);
    return ROOF_OK;
}

/* DEVICE, FORMAT or DEVICE:FORMAT; cuts the text. */
static void read_side(struct side *out)
{
    char *const colon = strrchr(out->text, ':');
    out->format = ROOF_PRECISION_AUTO;
    if (roof_precision_find(&out->format, out->text, NULL) == ROOF_OK) {
        return;
    }
    if (colon != NULL && roof_precision_find(&out->format, colon + 1, NULL) == ROOF_OK) {
        *colon = '\0';
    }
    out->device = out->text;
}

static enum roof_status read_sides(struct work *w, const struct cli_options *options,
                                   struct roof_error *error)
{
    const char *const text = options->value[ROOF_INPUT_EXPLAIN];
    struct side *const a = &w->side[0];
    struct side *const b = &w->side[1];
    char side[2][CLI_SIDE_SIZE];
    const enum roof_status status = cli_explain_pair(side, options, error);
    if (status != ROOF_OK) {
        return status;
    }
    for (int i = 0; i < 2; i++) {
        memcpy(w->side[i].text, side[i], CLI_SIDE_SIZE);
        read_side(&w->side[i]);
    }
    const bool devices = a->device != NULL;
    const bool formats = a->format != ROOF_PRECISION_AUTO;
    if (status == ROOF_OK &&
        (devices != (b->device != NULL) || formats != (b->format != ROOF_PRECISION_AUTO))) {
        return roof_error_set(error, ROOF_USAGE,
                              "--explain %s: both are devices, both formats, or both "
                              "DEVICE:FORMAT; see roofline list hardware and list precisions",
                              text);
    }
    if (devices && options->value[ROOF_INPUT_HARDWARE] != NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "--explain %s names the devices: leave out --hardware", text);
    }
    if (formats &&
        (options->value[ROOF_INPUT_PRECISION_BOTH] != NULL ||
         options->value[ROOF_INPUT_WEIGHTS] != NULL || options->value[ROOF_INPUT_LAYOUT] != NULL)) {
        return roof_error_set(
            error, ROOF_USAGE,
            "--explain %s names the formats: leave out --precision, --weights and --layout", text);
    }
    return status;
}

/* What would be recommended on the device, or of one format how it would run there. */
static enum roof_status choose(struct work *w, struct side *side, const struct cli_options *options,
                               struct roof_error *error)
{
    struct roof_recommend_options how;
    enum roof_precision formats[ROOF_PRECISION_COUNT];
    struct roof_accuracy accuracy = {0};
    struct roof_recommendation *const r = &w->recommendation;
    enum roof_status status = cli_recommend_options(&how, formats, options, error);
    if (side->format != ROOF_PRECISION_AUTO) {
        how.formats = &side->format;
        how.format_count = 1;
        how.max_loss = ROOF_ACCURACY_SEVERE;
    }
    if (status == ROOF_OK) {
        status = roof_accuracy_load(&accuracy, error);
    }
    if (status == ROOF_OK) {
        status = roof_recommend(r, &side->scenario.common, side->hardware, &accuracy, &how, error);
    }
    if (status == ROOF_OK) {
        side->prediction = r->candidate[0].prediction;
        side->format = r->candidate[0].format;
    } else if (status == ROOF_UNSATISFIED) {
        status = roof_error_set(error, status, "%s", r->candidate[0].reason);
    }
    roof_accuracy_free(&accuracy);
    return status;
}

static enum roof_status predict_side(struct work *w, struct side *side,
                                     const struct cli_options *options, bool recommended,
                                     struct roof_error *error)
{
    const bool model = cli_is_model(options);
    struct cli_options own = *options;
    if (side->format != ROOF_PRECISION_AUTO && !recommended) {
        own.value[ROOF_INPUT_PRECISION_BOTH] = roof_format(side->format)->name;
    }
    enum roof_status status = cli_scenario(&side->scenario, &own, error);
    if (status == ROOF_OK) {
        status =
            cli_hardware(&side->hardware,
                         side->device == NULL ? options->value[ROOF_INPUT_HARDWARE] : side->device,
                         options, error);
    }
    if (status == ROOF_OK && model) {
        status = cli_model(&side->model, options->operand[1], &own, error);
        if (status == ROOF_OK) {
            status = cli_draft(&side->draft, &side->scenario, options, error);
        }
        if (status == ROOF_OK) {
            status = roof_predict_model(&side->inference, side->model, &side->scenario,
                                        side->hardware, error);
        }
    } else if (status == ROOF_OK) {
        status = recommended ? choose(w, side, options, error)
                             : roof_predict(&side->prediction, &side->scenario.common,
                                            side->hardware, error);
    }
    if (status == ROOF_OK) {
        const bool format = side->format != ROOF_PRECISION_AUTO;
        const bool device = side->device != NULL || !format;
        (void)snprintf(side->name, sizeof side->name, "%s%s%s", device ? side->hardware->id : "",
                       device && format ? ":" : "", format ? roof_format(side->format)->name : "");
    }
    return status;
}

static enum roof_status write_speedup(struct roof_text *out, const struct roof_speedup *speedup,
                                      const struct cli_options *options, struct roof_error *error)
{
    struct roof_table table;
    int64_t top = TOP_DEFAULT;
    enum roof_status status =
        roof_table_open(&table, options->output, ROOF_TABLE_SPEEDUPS, ROOF_OPERATOR_GEMM,
                        options->value[ROOF_INPUT_COLUMNS], error);
    if (status == ROOF_OK && options->value[ROOF_INPUT_TOP] != NULL) {
        status = roof_input_parse(&top, roof_input(ROOF_INPUT_TOP), options->value[ROOF_INPUT_TOP],
                                  error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    switch (options->output) {
    case ROOF_OUTPUT_TEXT:
        roof_speedup_report_text(out, speedup, (size_t)top);
        break;
    case ROOF_OUTPUT_JSON:
        roof_speedup_report_json(out, speedup);
        roof_text_put(out, "\n");
        break;
    case ROOF_OUTPUT_NDJSON:
    case ROOF_OUTPUT_CSV:
    case ROOF_OUTPUT_MARKDOWN:
        roof_table_begin(&table, out);
        roof_table_speedup(&table, out, &speedup->total);
        for (size_t i = 0; i < speedup->count; i++) {
            roof_table_speedup(&table, out, &speedup->row[i]);
        }
        roof_table_end(&table, out);
        break;
    }
    return status;
}

/* "gemm m=1 n=4096 k=4096, " */
static void put_question(struct roof_text *out, const struct side *side)
{
    if (side->model == NULL) {
        roof_report_workload(out, &side->prediction.workload);
    } else {
        roof_text_printf(out, "%s: ", side->model->id);
        roof_model_report_scenario(out, &side->inference);
    }
    roof_text_put(out, ", ");
}

/* "a: weights fp16, ... on h100-sxm; 132 GiB do not fit" */
static void put_side(struct roof_text *out, const struct side *side)
{
    const struct roof_model_prediction *const i = &side->inference;
    char memory[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "\n%s: ", side->name);
    roof_model_report_formats(out, i);
    roof_text_printf(out, ", on %s", side->hardware->id);
    if (i->fits == ROOF_FIT_NO) {
        roof_text_printf(out, "; does not fit: %s",
                         roof_format_quantity(memory,
                                              i->weights_memory_bytes + i->kv_cache_bytes +
                                                  i->activation_memory_bytes,
                                              ROOF_UNIT_CAPACITY));
    }
}

/* Options that --explain leaves nothing to do for. */
static enum roof_status check_options(const struct work *w, const struct cli_options *options,
                                      struct roof_error *error)
{
    static const size_t alone[] = {ROOF_INPUT_WHY, ROOF_INPUT_TILING, ROOF_INPUT_MEASURED};
    /* Of recommend, where the sides name the formats: nothing is chosen. */
    static const size_t choosing[] = {ROOF_INPUT_FORMATS, ROOF_INPUT_OBJECTIVE, ROOF_INPUT_BY,
                                      ROOF_INPUT_MAX_ACCURACY_LOSS};
    const bool named = w->side[0].format != ROOF_PRECISION_AUTO;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        if (options->value[alone[i]] != NULL) {
            return roof_error_set(error, ROOF_USAGE, "--%s does not go with --explain",
                                  roof_input(alone[i])->option);
        }
    }
    for (size_t i = 0; i < sizeof choosing / sizeof *choosing && named; i++) {
        if (options->value[choosing[i]] != NULL) {
            return roof_error_set(
                error, ROOF_USAGE, "--explain %s names the formats: leave out --%s",
                options->value[ROOF_INPUT_EXPLAIN], roof_input(choosing[i])->option);
        }
    }
    return ROOF_OK;
}

enum roof_status cli_explain(struct roof_text *out, const struct cli_options *options,
                             bool recommended, struct roof_error *error)
{
    struct roof_speedup_side side[2];
    struct work *const w = calloc(1, sizeof *w);
    if (w == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = read_sides(w, options, error);
    if (status == ROOF_OK) {
        status = check_options(w, options, error);
    }
    for (int i = 0; i < 2 && status == ROOF_OK; i++) {
        struct side *const s = &w->side[i];
        status = predict_side(w, s, options, recommended, error);
        side[i] = (struct roof_speedup_side){s->name, &s->prediction,
                                             s->model == NULL ? NULL : &s->inference};
    }
    if (status == ROOF_OK) {
        status = roof_speedup(&w->speedup, &side[0], &side[1], error);
    }
    if (status == ROOF_OK && options->output == ROOF_OUTPUT_TEXT) {
        put_question(out, &w->side[0]);
    }
    if (status == ROOF_OK) {
        status = write_speedup(out, &w->speedup, options, error);
    }
    for (int i = 0; i < 2 && status == ROOF_OK && options->output == ROOF_OUTPUT_TEXT; i++) {
        if (w->side[i].model != NULL) {
            put_side(out, &w->side[i]);
            roof_text_put(out, i == 1 ? "\n" : "");
        }
    }
    for (int i = 0; i < 2; i++) {
        struct side *const s = &w->side[i];
        roof_model_free(s->model);
        roof_model_free(s->draft);
        cli_hardware_free(s->hardware);
    }
    free(w);
    return status;
}
