// SPDX-License-Identifier: MIT
/* predict --from FILE: a prediction of each record of a file, in its order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* The table of all rows; those before are of one operator each. */
#define ALL_ROWS ROOF_OPERATOR_COUNT

struct work {
    const struct cli_options *options;
    struct cli_known known;
    struct roof_scenario base;
    struct roof_model *draft;
    struct roof_records records;
    bool model;
    enum roof_operator op; /* ROOF_OPERATOR_COUNT: each record names its own */
    bool mixed;            /* rows may be of other operators */
    bool objects;          /* a row has its own keys */
    struct roof_table table[ALL_ROWS + 1];
    bool open[ALL_ROWS + 1];
    struct roof_text text;
    struct cli_output output;
    bool waits;               /* for records that may be a while in coming: it is no file */
    enum roof_status written; /* while they are read */
    struct roof_error write_error;
};

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    struct work *const w = context;
    return cli_known_model(&w->known, out, name, layout, error);
}

/* Before the next records come, which may take long, those before are written: a program that asks
 * and answers through pipes gets its answer, and a signal finds whole rows. */
static void on_wait(void *context, bool begins)
{
    struct work *const w = context;
    if (w->output.file == NULL) { /* the header is read */
        return;
    }
    if (!begins) {
        cli_interrupt_watch();
        return;
    }
    const bool rows = w->table[ALL_ROWS].rows > 0; /* a header alone may be too early */
    if (w->written == ROOF_OK && rows) {
        w->written = cli_output_write(&w->output, &w->text, &w->write_error);
    }
    if (w->written == ROOF_OK) {
        w->written = cli_output_flush(&w->output, &w->write_error);
    }
    if (w->waits) {
        cli_interrupt_rest();
    }
}

static void on_bad(void *context, const struct roof_error *error)
{
    const struct work *const w = context;
    cli_bad_record("predict", &w->records, error);
}

/* --- what is asked ------------------------------------------------------------------------- */

/* Options that are of one prediction. */
static enum roof_status check_options(const struct cli_options *options, struct roof_error *error)
{
    static const size_t single[] = {ROOF_INPUT_WHY, ROOF_INPUT_TILING, ROOF_INPUT_MEASURED,
                                    ROOF_INPUT_EXPLAIN, ROOF_INPUT_TOP};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        if (options->value[single[i]] != NULL) {
            return roof_error_set(error, ROOF_USAGE, "--%s does not go with --from",
                                  roof_input(single[i])->option);
        }
    }
    return ROOF_OK;
}

/* The scenario of the command line; devices and models that it names must be known. */
static enum roof_status load(struct work *w, struct roof_error *error)
{
    const struct cli_options *const options = w->options;
    const struct roof_model *model = NULL;
    enum roof_status status = cli_scenario(&w->base, options, error);
    w->op = options->operand_count == 0 ? ROOF_OPERATOR_COUNT : w->base.common.op;
    if (status == ROOF_OK) {
        status = cli_known_own(&w->known, error);
        status = status == ROOF_UNSATISFIED ? ROOF_USAGE : status;
    }
    if (status == ROOF_OK && options->operand_count > 1) {
        status = cli_known_model(&w->known, &model, options->operand[1], "", error);
    }
    if (status == ROOF_OK && w->model) {
        status = cli_draft(&w->draft, &w->base, options, error);
    }
    return status;
}

/* Whether the columns of the file and the operands say what is to be predicted. */
static enum roof_status check_columns(const struct work *w, struct roof_error *error)
{
    const struct roof_records *const records = &w->records;
    if (records->columns == 0) {
        return ROOF_OK; /* there is nothing to read */
    }
    if (w->model) {
        return w->options->operand_count > 1 || roof_records_has(records, "model")
                   ? ROOF_OK
                   : cli_which_model(error);
    }
    return w->op != ROOF_OPERATOR_COUNT || roof_records_has(records, "operator")
               ? ROOF_OK
               : roof_error_at(error, ROOF_INVALID, records->name, records->line, 0,
                               "no column is named operator, and no operator is given (predict "
                               "%s --from FILE)",
                               roof_records_has(records, "model") ? "model" : "gemm");
}

/* --- rows ---------------------------------------------------------------------------------- */

/* The table of an operator, or of all rows. */
static enum roof_status open_table(struct work *w, enum roof_operator of, struct roof_error *error)
{
    struct roof_table *const table = &w->table[of];
    const struct roof_records *const records = &w->records;
    const char *const columns = w->options->value[ROOF_INPUT_COLUMNS];
    const enum roof_output output = w->options->output;
    const enum roof_status status = roof_table_open(
        table, output, w->model ? ROOF_TABLE_MODEL_PREDICTIONS : ROOF_TABLE_PREDICTIONS,
        of == ALL_ROWS && !w->mixed ? w->op : of, columns, error);
    const bool readable = output == ROOF_OUTPUT_TEXT || output == ROOF_OUTPUT_MARKDOWN;
    if (status == ROOF_OK && readable && columns == NULL) {
        /* A reader wants to see what was asked, and nothing else. */
        roof_table_keep_dimensions(table, records->dimensions);
        for (size_t id = 0; w->model && id < ROOF_INPUT_COUNT; id++) {
            const char *const key = roof_input(id)->key;
            if (key != NULL && roof_records_has(records, key)) {
                roof_table_show(table, key);
            }
        }
    }
    roof_table_carry(table, records->carried, records->carried_count);
    w->open[of] = status == ROOF_OK;
    return status;
}

static enum roof_status put_row(struct work *w, const struct roof_prediction *prediction,
                                struct roof_error *error)
{
    const bool own = w->objects && !w->model && w->options->value[ROOF_INPUT_COLUMNS] == NULL;
    const enum roof_operator of = own ? prediction->workload.op : ALL_ROWS;
    struct roof_table *const all = &w->table[ALL_ROWS];
    struct roof_table *const table = &w->table[of];
    if (!w->open[of]) {
        const enum roof_status status = open_table(w, of, error);
        if (status != ROOF_OK) {
            return status;
        }
    }
    if (w->objects) { /* their keys may have become more */
        roof_table_carry(table, w->records.carried, w->records.carried_count);
        table->rows = all->rows;
    }
    cli_table_row(table, &w->text, prediction);
    all->rows = table->rows;
    return cli_output_put(&w->output, &w->text, error);
}

/* What is wrong with a record is told, and is no failure. */
static enum roof_status do_record(struct work *w, struct roof_error *error)
{
    struct roof_records *const records = &w->records;
    const struct roof_hardware *hardware = NULL;
    const struct roof_prediction *prediction = NULL;
    enum roof_status status = cli_known_hardware(&w->known, &hardware, records->hardware, error);
    if (status == ROOF_OK) {
        status = roof_records_predict(&prediction, records, hardware, error);
    }
    if (status == ROOF_OK && !w->model && !w->mixed && prediction->workload.op != w->op) {
        status = roof_error_set(error, ROOF_INVALID,
                                "the first record names no operator, so the columns are those of "
                                "%s",
                                roof_operator_row(w->op)->name);
    }
    if (status == ROOF_OK) {
        return put_row(w, prediction, error);
    }
    if (status == ROOF_MEMORY) {
        return status;
    }
    roof_records_refuse(records, error);
    return ROOF_OK;
}

/* Ends with the rows so far; of a file none are kept. */
static enum roof_status interrupted(struct work *w, struct roof_error *error)
{
    if (w->output.part != NULL) {
        return roof_error_set(error, ROOF_IO, "interrupted; %s is not written", w->output.name);
    }
    const enum roof_status status = cli_output_write(&w->output, &w->text, error);
    return status != ROOF_OK
               ? status
               : roof_error_set(error, ROOF_IO,
                                "interrupted: the predictions of %" PRIu64 " records are written",
                                w->table[ALL_ROWS].rows);
}

static enum roof_status do_records(struct work *w, struct roof_error *error)
{
    struct roof_records *const records = &w->records;
    bool more = true;
    enum roof_status status = ROOF_OK;
    roof_table_begin(&w->table[ALL_ROWS], &w->text);
    while (status == ROOF_OK && more) {
        status = roof_records_next(records, &more, error);
        if (w->written != ROOF_OK) {
            *error = w->write_error;
            status = w->written;
        }
        if (status == ROOF_OK && more) {
            status = do_record(w, error);
        }
        if (status == ROOF_OK && more && cli_interrupted() != 0) {
            status = interrupted(w, error);
        }
    }
    if (status == ROOF_OK && records->count == 0) {
        return roof_error_at(error, ROOF_INVALID, records->name, 0, 0, "no records");
    }
    if (status == ROOF_OK) {
        roof_table_end(&w->table[ALL_ROWS], &w->text);
        status = cli_output_write(&w->output, &w->text, error);
    }
    return status;
}

static enum roof_status run(struct work *w, struct roof_error *error)
{
    const struct cli_options *const options = w->options;
    const char *const device = options->value[ROOF_INPUT_HARDWARE];
    const struct roof_records_options how = {
        .base = &w->base,
        .kind = w->model ? ROOF_RECORDS_MODELS : ROOF_RECORDS_OPERATORS,
        .op = w->op,
        .hardware = device == NULL ? ROOF_DEFAULT_HARDWARE : device,
        .model = options->operand_count > 1 ? options->operand[1] : NULL,
        .context = w,
        .load_model = on_model,
        .bad = on_bad,
        .wait = on_wait};
    enum roof_status status =
        roof_records_open(&w->records, options->value[ROOF_INPUT_FROM], &how, error);
    if (status == ROOF_OK) {
        status = check_columns(w, error);
    }
    if (status == ROOF_OK) {
        w->objects = options->output == ROOF_OUTPUT_JSON || options->output == ROOF_OUTPUT_NDJSON;
        w->mixed = !w->model && (w->op == ROOF_OPERATOR_COUNT || (w->objects && w->records.json) ||
                                 roof_records_has(&w->records, "operator"));
        status = open_table(w, ALL_ROWS, error);
    }
    if (status == ROOF_OK) {
        struct stat info;
        const char *const from = options->value[ROOF_INPUT_FROM];
        w->waits = strcmp(from, "-") == 0 || stat(from, &info) != 0 || !S_ISREG(info.st_mode);
        cli_interrupt_watch();
        status = cli_output_open(&w->output, options->value[ROOF_INPUT_OUTPUT], error);
    }
    if (status == ROOF_OK) {
        status = cli_output_close(&w->output, do_records(w, error), error);
    }
    return status;
}

enum roof_status cli_predict_from(const struct cli_options *options, bool *bad,
                                  struct roof_error *error)
{
    struct work *const w = calloc(1, sizeof *w); /* large */
    if (w == NULL) {
        return roof_no_memory(error);
    }
    w->options = options;
    w->known.options = options;
    w->model = cli_is_model(options);
    enum roof_status status = check_options(options, error);
    if (status == ROOF_OK) {
        status = load(w, error);
    }
    if (status == ROOF_OK) {
        status = run(w, error);
    }
    *bad = w->records.bad > 0;
    if (status == ROOF_OK) {
        static const char *const none[] = {NULL};
        cli_tell_carried("predict: carried through, not read: ", &w->records, none);
    }
    if (status == ROOF_OK) {
        cli_bad_records("predict", &w->records);
    }
    roof_records_close(&w->records);
    roof_model_free(w->draft);
    cli_known_free(&w->known);
    roof_text_free(&w->text);
    free(w);
    return status;
}
