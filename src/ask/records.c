// SPDX-License-Identifier: MIT
/* Answers `predict` for the records of a file: a prediction for each, in order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "ask/chunks.h"
#include "ask/record_batch.h"
#include "base/base.h"

/* The index of the table for all rows; earlier tables are each for one operator. */
#define ALL_ROWS ROOF_OPERATOR_COUNT

/* The question about all records. */
struct records_input {
    const char *from;          /* the file */
    struct roof_scenario base; /* defaults for records */
    bool model;                /* the records are about models */
    const char *model_name;    /* NULL: each record names its own */
    enum roof_operator op;     /* ROOF_OPERATOR_COUNT: each record names its own */
    const struct roof_model *draft;
    struct roof_kept_columns kept;
};

/* The question, and the state while records are answered; large. */
struct recording {
    struct roof_asking *asking;
    struct records_input in;
    struct roof_known known;
    struct roof_records records;
    bool mixed;   /* rows may be about different operators */
    bool objects; /* each row has its own keys */
    struct roof_table table[ALL_ROWS + 1];
    bool open[ALL_ROWS + 1];
    struct roof_record_batch batch; /* records that threads answer */
    struct roof_text text;
    enum roof_status written; /* result of writing before a wait for records */
    struct roof_error write_error;
};

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    struct recording *const r = context;
    return roof_asking_known_model(r->asking, &r->known, out, name, layout, error);
}

static enum roof_status on_formats(void *context, const struct roof_named **out, const char *name,
                                   const char *model, struct roof_error *error)
{
    struct recording *const r = context;
    return roof_asking_known_formats(r->asking, &r->known, out, name, model, error);
}

/* Writes the current rows before a possibly long wait for records: a program that asks and reads
 * through pipes gets its answer, and a signal does not cut a row. */
static void on_wait(void *context, bool begins)
{
    struct recording *const r = context;
    const struct roof_listener *const listener = r->asking->listener;
    if (!r->open[ALL_ROWS] || listener->wait == NULL) { /* the header has been read */
        return;
    }
    if (begins && r->written == ROOF_OK && r->table[ALL_ROWS].rows > 0) {
        r->written = roof_asking_write(r->asking, &r->text, &r->write_error);
    }
    listener->wait(listener->context, begins);
}

static void on_bad(void *context, const struct roof_error *error)
{
    const struct recording *const r = context;
    roof_asking_bad_record(r->asking, &r->records, error);
}

/* --- the question -------------------------------------------------------------------------- */

/* Reads the question. */
static enum roof_status read_input(struct records_input *in, struct roof_known *known,
                                   struct roof_asking *a, struct roof_error *error)
{
    static const size_t single[] = {ROOF_INPUT_WHY,      ROOF_INPUT_TILING,  ROOF_INPUT_TILE,
                                    ROOF_INPUT_MEASURED, ROOF_INPUT_EXPLAIN, ROOF_INPUT_TOP,
                                    ROOF_INPUT_ADVISE,   ROOF_INPUT_BLOCKS};
    const struct roof_question *const q = a->question;
    TRY(roof_asking_refuse(a, single, COUNT(single), ROOF_KEY("from"), error));
    struct roof_question rest;
    roof_read_known(known, &a->loans, &rest, q);
    TRY(roof_read_scenario(&in->base, &rest, error));
    in->base.formats_said = known->named;
    in->from = q->value[ROOF_INPUT_FROM];
    in->model = q->model;
    in->model_name = q->model_name;
    in->op = q->op == NULL && !q->model ? ROOF_OPERATOR_COUNT : in->base.common.op;
    roof_read_kept_columns(&in->kept, q);
    return ROOF_OK;
}

/* Borrows the named devices and models, which must exist. */
static enum roof_status read_loans(struct recording *r, struct roof_error *error)
{
    struct records_input *const in = &r->in;
    const struct roof_model *model = NULL;
    const enum roof_status status = roof_known_own(&r->known, error);
    if (status != ROOF_OK) {
        return status == ROOF_UNSATISFIED ? ROOF_USAGE : status;
    }
    if (in->model_name != NULL) {
        TRY(on_model(r, &model, in->model_name, "", error));
    }
    return in->model ? roof_asking_draft(&in->draft, &in->base, r->asking, error) : ROOF_OK;
}

/* Checks that the columns of the file and the question define the subject of the predictions. */
static enum roof_status check_columns(const struct recording *r, struct roof_error *error)
{
    const struct roof_records *const records = &r->records;
    if (records->columns == 0) {
        return ROOF_OK; /* the file is empty */
    }
    if (r->in.model) {
        return r->in.model_name != NULL || roof_records_has(records, "model")
                   ? ROOF_OK
                   : roof_which_model(error);
    }
    return r->in.op != ROOF_OPERATOR_COUNT || roof_records_has(records, "operator")
               ? ROOF_OK
               : roof_error_at(error, ROOF_INVALID, records->name, records->line, 0,
                               "the file has no column operator: add it, or name the operator "
                               "(predict %s " ROOF_KEY("from") " FILE)",
                               roof_records_has(records, "model") ? "model" : "gemm");
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Opens the table of an operator, or of all rows. */
static enum roof_status open_table(struct recording *r, enum roof_operator of,
                                   struct roof_error *error)
{
    struct roof_table *const table = &r->table[of];
    const struct roof_records *const records = &r->records;
    const struct roof_form *const form = &r->asking->form;
    TRY(roof_table_open(table, form->rows,
                        r->in.model ? ROOF_TABLE_MODEL_PREDICTIONS : ROOF_TABLE_PREDICTIONS,
                        of == ALL_ROWS && !r->mixed ? r->in.op : of, form->columns, error));
    const bool readable = form->rows == ROOF_OUTPUT_TEXT || form->rows == ROOF_OUTPUT_MARKDOWN;
    if (readable && form->columns == NULL) {
        /* A reader wants to see only the inputs of the records. */
        roof_table_keep_dimensions(table, records->dimensions);
        roof_table_narrow(table, &r->in.kept, NULL); /* before columns from the records are added */
        for (size_t id = 0; r->in.model && id < ROOF_INPUT_COUNT; id++) {
            const char *const key = roof_input(id)->key;
            if (key != NULL && roof_records_has(records, key)) {
                roof_table_show(table, key);
            }
        }
    }
    roof_table_carry(table, records->carried, records->carried_count);
    r->open[of] = true;
    return ROOF_OK;
}

static enum roof_status put_row(struct recording *r, const struct roof_prediction *prediction,
                                struct roof_error *error)
{
    const bool own = r->objects && !r->in.model && r->asking->form.columns == NULL;
    const enum roof_operator of = own ? prediction->workload.op : ALL_ROWS;
    struct roof_table *const all = &r->table[ALL_ROWS];
    struct roof_table *const table = &r->table[of];
    if (!r->open[of]) {
        TRY(open_table(r, of, error));
    }
    if (r->objects) { /* new keys may have been added */
        roof_table_carry(table, r->records.carried, r->records.carried_count);
        table->rows = all->rows;
    }
    roof_table_point(table, &r->text, prediction, r->records.model_prediction, NULL);
    all->rows = table->rows;
    return roof_asking_put(r->asking, &r->text, error);
}

/* Predicts the current record of the file, or of a part. */
static enum roof_status predict_record(const struct roof_prediction **out,
                                       const struct recording *r, struct roof_records *records,
                                       const struct roof_hardware *hardware,
                                       struct roof_error *error)
{
    TRY(roof_records_predict(out, records, hardware, error));
    return r->in.model || r->mixed || (*out)->workload.op == r->in.op
               ? ROOF_OK
               : roof_error_set(error, ROOF_INVALID,
                                "the first record names no operator, so the columns are those of "
                                "%s",
                                roof_operator_row(r->in.op)->name);
}

/* Predicts a record of a part if its device is already loaded, because threads must not change the
 * store. */
static enum roof_status on_part(void *context, const struct roof_prediction **out,
                                struct roof_record_part *part, struct roof_error *error)
{
    const struct recording *const r = context;
    const struct roof_hardware *const hardware =
        roof_known_before(&r->known, part->records.hardware);
    part->stopped = hardware == NULL;
    return part->stopped ? ROOF_OK : predict_record(out, r, &part->records, hardware, error);
}

/* Finds the device of the current record and predicts it. */
static enum roof_status predict_next(const struct roof_prediction **out, struct recording *r,
                                     struct roof_error *error)
{
    const struct roof_hardware *hardware = NULL;
    TRY(roof_known_hardware(&r->known, &hardware, r->records.hardware, error));
    return predict_record(out, r, &r->records, hardware, error);
}

/* Answers a record. A bad record is reported to the listener and does not fail the answer. */
static enum roof_status do_record(struct recording *r, struct roof_error *error)
{
    const struct roof_prediction *prediction = NULL;
    const enum roof_status status = predict_next(&prediction, r, error);
    if (status == ROOF_OK) {
        return put_row(r, prediction, error);
    }
    if (status == ROOF_MEMORY) {
        return status;
    }
    roof_records_refuse(&r->records, error);
    return ROOF_OK;
}

/* Ends with the current rows. */
static enum roof_status interrupted(struct recording *r, struct roof_error *error)
{
    TRY(roof_asking_write(r->asking, &r->text, error));
    return roof_error_set(error, ROOF_IO,
                          "interrupted: the predictions of %" PRIu64 " records are written",
                          r->table[ALL_ROWS].rows);
}

/* Answers records in threads if possible: not those of models, which are loaded into the store, nor
 * objects, which are written to tables of their operators. *some is false if the next record must
 * be answered singly. */
static enum roof_status do_batch(bool *some, struct recording *r, struct roof_error *error)
{
    *some = false;
    if (r->in.model || r->objects) {
        return ROOF_OK;
    }
    return roof_record_batch_answer(&r->batch, some, error);
}

/* Answers the next record, or all that can be read without waiting; *more is false at the end. */
static enum roof_status do_next(bool *more, struct recording *r, struct roof_error *error)
{
    *more = true;
    TRY(do_batch(more, r, error));
    if (*more && r->written == ROOF_OK) {
        return ROOF_OK;
    }
    if (r->written == ROOF_OK) {
        TRY(roof_records_next(&r->records, more, error));
    }
    if (r->written != ROOF_OK) {
        *error = r->write_error;
        return r->written;
    }
    return *more ? do_record(r, error) : ROOF_OK;
}

static enum roof_status do_records(struct recording *r, struct roof_error *error)
{
    bool more = true;
    roof_table_begin(&r->table[ALL_ROWS], &r->text);
    do {
        TRY(do_next(&more, r, error));
        if (more && roof_asking_stopped(r->asking)) {
            return interrupted(r, error);
        }
    } while (more);
    if (r->records.count == 0) {
        return roof_error_at(error, ROOF_INVALID, r->records.name, 0, 0, "no records");
    }
    roof_table_end(&r->table[ALL_ROWS], &r->text);
    return roof_asking_write(r->asking, &r->text, error);
}

static enum roof_status answer(struct recording *r, struct roof_error *error)
{
    const struct records_input *const in = &r->in;
    TRY(read_input(&r->in, &r->known, r->asking, error));
    TRY(read_loans(r, error));
    const struct roof_records_options how = {.base = &in->base,
                                             .kind = in->model ? ROOF_RECORDS_MODELS
                                                               : ROOF_RECORDS_OPERATORS,
                                             .op = in->op,
                                             .hardware = roof_known_own_name(&r->known),
                                             .model = in->model_name,
                                             .context = r,
                                             .load_model = on_model,
                                             .formats = on_formats,
                                             .bad = on_bad,
                                             .wait = on_wait};
    TRY(roof_records_open(&r->records, in->from, &how, error));
    TRY(check_columns(r, error));
    r->objects = r->asking->form.format == ROOF_JSON || r->asking->form.format == ROOF_NDJSON;
    r->mixed = !in->model && (in->op == ROOF_OPERATOR_COUNT || (r->objects && r->records.json) ||
                              roof_records_has(&r->records, "operator"));
    TRY(open_table(r, ALL_ROWS, error));
    r->batch = (struct roof_record_batch){.asking = r->asking,
                                          .records = &r->records,
                                          .table = &r->table[ALL_ROWS],
                                          .text = &r->text,
                                          .predict = on_part,
                                          .context = r};
    return do_records(r, error);
}

enum roof_status roof_ask_records(struct roof_asking *a, struct roof_error *error)
{
    static const char *const none[] = {NULL};
    struct recording *const r = calloc(1, sizeof *r);
    if (r == NULL) {
        return roof_no_memory(error);
    }
    r->asking = a;
    enum roof_status status = answer(r, error);
    if (status == ROOF_OK) {
        status = roof_asking_carried(a, "columns copied but not used: ", &r->records, none, error);
    }
    if (status == ROOF_OK) {
        roof_asking_bad_records(a, &r->records);
        status = r->records.bad > 0 ? ROOF_INVALID : ROOF_OK;
        *error = (struct roof_error){.status = status};
    }
    roof_records_close(&r->records);
    roof_known_free(&r->known);
    roof_record_batch_free(&r->batch);
    roof_text_free(&r->text);
    free(r);
    return status;
}
