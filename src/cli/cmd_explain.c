// SPDX-License-Identifier: MIT
/* Answers --explain A,B: why one device or format is faster than another. */
#include "base/base.h"
#include "cli.h"
#include "decide/pair.h"

#define TOP_DEFAULT 12

/* A request for a pair, with all that was loaded for it. */
struct asked {
    struct roof_pair_names names;
    struct roof_pair_request request;
    struct roof_scenario scenario;
    struct roof_hardware *hardware[2];
    struct roof_model *model;
    struct roof_model *draft;
    struct roof_recommend_options recommend;
    enum roof_precision formats[ROOF_PRECISION_COUNT]; /* the list that `recommend` points to */
};

static enum roof_status check_top(const struct cli_options *options, struct roof_error *error)
{
    return options->value[ROOF_INPUT_TOP] != NULL && options->output != ROOF_OUTPUT_TEXT
               ? roof_error_set(error, ROOF_USAGE, "--top with --explain goes with --format text")
               : ROOF_OK;
}

enum roof_status cli_explain_pair(char side[2][CLI_SIDE_SIZE], const struct cli_options *options,
                                  struct roof_error *error)
{
    TRY(roof_pair_split(side, options->value[ROOF_INPUT_EXPLAIN], error));
    return check_top(options, error);
}

/* Reads the two sides; the options must not name again what they name. */
static enum roof_status read_sides(struct roof_pair_names *out, const struct cli_options *options,
                                   struct roof_error *error)
{
    const char *const text = options->value[ROOF_INPUT_EXPLAIN];
    TRY(roof_pair_read(out, text, error));
    TRY(check_top(options, error));
    if (out->devices && options->value[ROOF_INPUT_HARDWARE] != NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "--explain %s names the devices: leave out --hardware", text);
    }
    if (out->formats &&
        (options->value[ROOF_INPUT_PRECISION_BOTH] != NULL ||
         options->value[ROOF_INPUT_WEIGHTS] != NULL || options->value[ROOF_INPUT_LAYOUT] != NULL)) {
        return roof_error_set(
            error, ROOF_USAGE,
            "--explain %s names the formats: leave out --precision, --weights and --layout", text);
    }
    return ROOF_OK;
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
        roof_table_row(&table, out, &speedup->total);
        for (size_t i = 0; i < speedup->count; i++) {
            roof_table_row(&table, out, &speedup->row[i]);
        }
        roof_table_end(&table, out);
        break;
    }
    return status;
}

/* "gemm m=1 n=4096 k=4096, " */
static void put_question(struct roof_text *out, const struct roof_pair_side *side)
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
static void put_side(struct roof_text *out, const struct roof_pair_side *side)
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

/* Refuses options that have nothing to do with --explain. */
static enum roof_status check_options(bool named, const struct cli_options *options,
                                      struct roof_error *error)
{
    static const size_t alone[] = {ROOF_INPUT_WHY, ROOF_INPUT_TILING, ROOF_INPUT_MEASURED};
    /* Recommend has nothing to choose if the sides name the formats. */
    static const size_t choosing[] = {ROOF_INPUT_FORMATS, ROOF_INPUT_OBJECTIVE, ROOF_INPUT_BY,
                                      ROOF_INPUT_MAX_ACCURACY_LOSS};
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

static enum roof_status read_request(struct asked *asked, const struct cli_options *options,
                                     bool recommended, struct roof_error *error)
{
    const struct roof_pair_names *const names = &asked->names;
    struct roof_pair_request *const request = &asked->request;
    TRY(read_sides(&asked->names, options, error));
    TRY(check_options(names->formats, options, error));
    TRY(cli_scenario(&asked->scenario, options, error));
    for (int i = 0; i < 2; i++) {
        TRY(cli_hardware(&asked->hardware[i],
                         names->devices ? names->device[i] : options->value[ROOF_INPUT_HARDWARE],
                         options, error));
        request->hardware[i] = asked->hardware[i];
        request->format[i] = names->format[i];
    }
    if (cli_is_model(options)) {
        TRY(cli_model(&asked->model, options->operand[1], options, error));
        TRY(cli_draft(&asked->draft, &asked->scenario, options, error));
    }
    if (recommended) {
        TRY(cli_recommend_options(&asked->recommend, asked->formats, options, error));
        request->recommend = &asked->recommend;
    }
    request->model = asked->model;
    request->shared = &asked->scenario;
    request->devices = names->devices;
    return ROOF_OK;
}

static enum roof_status write_pair(struct roof_text *out, const struct roof_pair *pair,
                                   const struct cli_options *options, struct roof_error *error)
{
    const bool text = options->output == ROOF_OUTPUT_TEXT;
    if (text) {
        put_question(out, &pair->side[0]);
    }
    TRY(write_speedup(out, &pair->speedup, options, error));
    for (int i = 0; i < 2 && text && pair->side[i].model != NULL; i++) {
        put_side(out, &pair->side[i]);
        roof_text_put(out, i == 1 ? "\n" : "");
    }
    return ROOF_OK;
}

enum roof_status cli_explain(struct roof_text *out, const struct cli_options *options,
                             bool recommended, struct roof_error *error)
{
    struct asked asked = {.model = NULL};
    struct roof_pair *pair = NULL;
    enum roof_status status = read_request(&asked, options, recommended, error);
    if (status == ROOF_OK) {
        status = roof_pair_open(&pair, &asked.request, error);
    }
    if (status == ROOF_OK) {
        status = write_pair(out, pair, options, error);
    }
    roof_pair_free(pair);
    roof_model_free(asked.model);
    roof_model_free(asked.draft);
    cli_hardware_free(asked.hardware[0]);
    cli_hardware_free(asked.hardware[1]);
    return status;
}
