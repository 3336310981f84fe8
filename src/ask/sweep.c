// SPDX-License-Identifier: MIT
/* Answers `sweep`: a row per point of a grid. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask/asking.h"
#include "ask/chunks.h"
#include "ask/curves.h"
#include "ask/draw.h"
#include "ask/resume.h"
#include "base/base.h"
#include "base/quantity.h"
#include "decide/grid.h"
#include "report/model_report.h"

#define SHARDS_MAX 1000000000
#define THREADS_MAX 64

/* The columns to show for a given input, and for results that depend on it. */
static const struct {
    size_t input;
    const char *keys[2];
} dependent[] = {{ROOF_INPUT_CHUNK, {"chunk", "step_ms"}},
                 {ROOF_INPUT_PROMPT, {"prompt", "e2e_ms"}},
                 {ROOF_INPUT_GENERATE, {"generate", NULL}},
                 {ROOF_INPUT_DRAFT_TOKENS, {"draft_tokens", "tokens_per_step"}},
                 {ROOF_INPUT_PREFILL_BATCH, {"prefill_batch", NULL}},
                 {ROOF_INPUT_PREFILL_CONTEXT, {"prefill_context", NULL}},
                 {ROOF_INPUT_PREFIX_HIT, {"prefix_hit", NULL}},
                 {ROOF_INPUT_DP, {"dp", NULL}},
                 {ROOF_INPUT_ATTENTION_DP, {"attention_dp", NULL}},
                 {ROOF_INPUT_MOE_TP, {"moe_tp", NULL}},
                 {ROOF_INPUT_MOE_EP, {"moe_ep", NULL}},
                 {ROOF_INPUT_LAYOUT, {"layout", NULL}}};

/* The most devices in the note below a table. */
#define NEAR_MAX 8

/* The devices of a grid whose expected times are estimated from other devices, and the largest
 * fraction of a time. */
struct near {
    const struct roof_hardware *device[NEAR_MAX];
    size_t count;
    bool more; /* there are more devices */
    double most;
};

/* The question. */
struct sweep_input {
    struct roof_grid grid;
    bool given[ROOF_INPUT_COUNT]; /* inputs in the question */
    struct roof_kept_columns kept;
    uint64_t first; /* the points of `shard`: a contiguous slice */
    uint64_t count;
    bool sharded;
    bool last; /* the slice has the last point of the grid */
    int64_t threads;
    struct roof_variety variety;          /* of sample points over the whole grid */
    struct near near;                     /* of the sample points */
    uint64_t misaligned;                  /* sample points that are products with misaligned rows */
    const struct roof_model *unquantized; /* the model, if a sample point leaves out the
                                             quantisation of its checkpoint; NULL: none does */
};

/* The rows so far. */
struct sink {
    struct roof_asking *asking;
    const struct sweep_input *in;
    struct roof_table table;
    struct roof_text text;
    uint64_t points;         /* points of the slice so far */
    uint64_t refused;        /* number of skipped points */
    struct roof_error first; /* the error of the first one */
};

/* --- the question -------------------------------------------------------------------------- */

/* Reads the number of threads: as many as the machine has, if there is enough work. */
static enum roof_status read_threads(struct sweep_input *in, const struct roof_question *question,
                                     struct roof_error *error)
{
    const uint64_t worth = question->model ? 200 : 20000;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    in->threads = in->count < worth || online < 1 ? 1 : online < THREADS_MAX ? online : THREADS_MAX;
    return roof_read_integer(&in->threads, question, ROOF_INPUT_THREADS, error);
}

static enum roof_status read_shard(struct sweep_input *in, const struct roof_asking *a,
                                   struct roof_error *error)
{
    const char *const text = a->question->value[ROOF_INPUT_SHARD];
    const char *const slash = text == NULL ? NULL : strchr(text, '/');
    int64_t index = 0;
    int64_t shards = 0;
    char number[24] = "";
    const uint64_t points = in->count;
    in->sharded = text != NULL;
    in->last = true;
    if (text == NULL) {
        return ROOF_OK;
    }
    if (slash != NULL && (size_t)(slash - text) < sizeof number) {
        memcpy(number, text, (size_t)(slash - text));
    }
    if (slash == NULL ||
        roof_parse_integer(&shards, slash + 1, "", 1, SHARDS_MAX, NULL) != ROOF_OK ||
        roof_parse_integer(&index, number, "", 1, shards, NULL) != ROOF_OK) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("shard") " must be I/N with 1 <= I <= N <= %d, not '%s'",
                              SHARDS_MAX, text);
    }
    if (a->form.format == ROOF_JSON) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("shard") " cannot be combined with " ROOF_KEY(
                                  "format") " json, whose arrays cannot be joined: use ndjson");
    }
    roof_sweep_shard(&in->first, &in->count, points, (uint64_t)index, (uint64_t)shards);
    in->last = in->first + in->count == points && in->count > 0;
    return ROOF_OK;
}

/* Shows the columns of given inputs, and of results that depend on them. */
static void show_given(struct roof_table *table, const struct sweep_input *in)
{
    for (size_t i = 0; i < COUNT(dependent); i++) {
        for (size_t k = 0; k < 2 && in->given[dependent[i].input]; k++) {
            if (dependent[i].keys[k] != NULL) {
                roof_table_show(table, dependent[i].keys[k]);
            }
        }
    }
}

static enum roof_status ignore_point(void *context, const struct roof_prediction *prediction,
                                     const struct roof_model_prediction *model,
                                     struct roof_error *error)
{
    (void)context;
    (void)prediction;
    (void)model;
    (void)error;
    return ROOF_OK;
}

static void ignore_refused(void *context, const struct roof_error *error)
{
    (void)context;
    (void)error;
}

/* Tells whether an error names an input of the workload that the question lacks. */
static bool names_missing(const struct roof_error *error, const struct sweep_input *in)
{
    for (int i = 0; i < error->key_count; i++) {
        char key[ROOF_INPUT_NAME_SIZE] = "";
        const struct roof_error_key *const named = &error->key[i];
        if (named->length < sizeof key) {
            memcpy(key, error->message + named->at, named->length);
            const size_t input = roof_input_number(key);
            if (input < ROOF_INPUT_COUNT && roof_input(input)->field && !in->given[input]) {
                return true;
            }
        }
    }
    return false;
}

/* Refuses a sweep without an input that every point needs, before it begins: the first and the last
 * point are then both refused for it. An input that only some points lack is reported at the end.
 */
static enum roof_status check_ends(const struct sweep_input *in, struct roof_error *error)
{
    struct roof_error last = {.status = ROOF_OK};
    const struct roof_sweep *const sweep = &in->grid.sweep;
    if (in->count == 0 ||
        roof_sweep_run(sweep, in->count - 1, 1, ignore_point, NULL, &last) != ROOF_USAGE ||
        !names_missing(&last, in) ||
        roof_sweep_run(sweep, 0, 1, ignore_point, NULL, error) != ROOF_USAGE ||
        !names_missing(error, in)) {
        return ROOF_OK;
    }
    return error->status;
}

/* The number of sample points that determine the columns of a table. */
#define LOOKED_AT 256

/* The state while sampling a grid. */
struct look {
    struct roof_variety *variety;
    struct near *near;
    uint64_t *misaligned;
    const struct roof_model **unquantized;
    const struct roof_table *table;
    struct roof_tile tile; /* of the point */
};

/* The least fraction of a time estimated from other devices that a table mentions. */
#define NEAR_TOLD 0.1

static void add_near(struct near *near, const struct roof_prediction *prediction,
                     const struct roof_model_prediction *model)
{
    const double part = model != NULL ? model->expected_near : prediction->expected_near ? 1 : 0;
    size_t i = 0;
    if (!(part > NEAR_TOLD)) {
        return;
    }
    near->most = fmax(near->most, part);
    while (i < near->count && near->device[i] != prediction->hardware) {
        i++;
    }
    near->more = near->more || i == NEAR_MAX;
    if (i == near->count && i < NEAR_MAX) {
        near->device[near->count++] = prediction->hardware;
    }
}

static enum roof_status on_look(void *context, const struct roof_prediction *prediction,
                                const struct roof_model_prediction *model, struct roof_error *error)
{
    const struct look *const look = context;
    (void)error;
    roof_variety_add(look->variety, look->table, prediction, model, &look->tile);
    add_near(look->near, prediction, model);
    *look->misaligned += model == NULL && roof_tile_is_misaligned(prediction) ? 1 : 0;
    if (model != NULL &&
        roof_model_report_unquantized(model->model, &model->scenario.common.formats)) {
        *look->unquantized = model->model;
    }
    return ROOF_OK;
}

/* Samples points over the whole grid, so that the tables of all shards have the same header. */
static enum roof_status look_over(struct sweep_input *in, const struct roof_table *table,
                                  struct roof_error *error)
{
    struct roof_sweep sweep = in->grid.sweep; /* its lists belong to the grid */
    struct look look = {.variety = &in->variety,
                        .near = &in->near,
                        .misaligned = &in->misaligned,
                        .unquantized = &in->unquantized,
                        .table = table};
    sweep.refused = ignore_refused;
    sweep.tile = &look.tile;
    if (in->count <= LOOKED_AT) {
        return roof_sweep_run(&sweep, 0, in->count, on_look, &look, error);
    }
    for (uint64_t i = 0; i < LOOKED_AT; i++) {
        const uint64_t point = in->count / LOOKED_AT * i + in->count % LOOKED_AT * i / LOOKED_AT;
        TRY(roof_sweep_run(&sweep, point, 1, on_look, &look, error));
    }
    return ROOF_OK;
}

static enum roof_status read_input(struct sweep_input *in, struct roof_table *table,
                                   struct roof_asking *a, struct roof_error *error)
{
    const struct roof_question *const q = a->question;
    const struct roof_sweep *const sweep = &in->grid.sweep;
    TRY(roof_grid_open(&in->grid, &a->loans, q, roof_asking_bounds_only(a), error));
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        in->given[i] = roof_asked(q, i);
    }
    in->given[ROOF_INPUT_LAYOUT] = in->given[ROOF_INPUT_LAYOUT] || in->grid.sweep.variants > 0;
    roof_read_kept_columns(&in->kept, q);
    roof_asking_remark_grid(a, &in->grid);
    TRY(roof_table_open(table, a->form.rows,
                        q->model                     ? ROOF_TABLE_MODEL_PREDICTIONS
                        : in->given[ROOF_INPUT_TILE] ? ROOF_TABLE_TILES
                                                     : ROOF_TABLE_PREDICTIONS,
                        sweep->base.common.op, a->form.columns, error));
    const bool readable = a->form.format == ROOF_TEXT || a->form.format == ROOF_MARKDOWN;
    if (readable && a->form.columns == NULL) {
        show_given(table, in);
    }
    TRY(roof_sweep_count(&in->count, sweep, error));
    TRY(check_ends(in, error));
    if (readable) {
        TRY(look_over(in, table, error));
        roof_table_narrow(table, &in->kept, &in->variety);
    }
    TRY(read_shard(in, a, error));
    return read_threads(in, q, error);
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Adds the rows of a chunk. Elements of a JSON array are joined by commas; the first one of each
 * chunk lacks it. */
static enum roof_status add_rows(struct sink *sink, struct roof_chunk *chunk,
                                 struct roof_error *error)
{
    const bool joined = sink->table.output == ROOF_OUTPUT_JSON && sink->table.rows > 0;
    if (chunk->text.failed) {
        return roof_no_memory(error);
    }
    if (chunk->rows == 0) {
        return ROOF_OK;
    }
    roof_text_put(&sink->text, joined ? "," : "");
    sink->table.rows += chunk->rows;
    if (chunk->text.length < ROOF_ASKING_ENOUGH) {
        roof_text_add(&sink->text, chunk->text.data, chunk->text.length);
        return roof_asking_put(sink->asking, &sink->text, error);
    }
    TRY(roof_asking_write(sink->asking, &sink->text, error));
    return roof_asking_write(sink->asking, &chunk->text, error);
}

static enum roof_status on_chunk(void *context, struct roof_chunk *chunk, struct roof_error *error)
{
    struct sink *const sink = context;
    const uint64_t count = sink->in->count;
    if (sink->refused == 0) {
        sink->first = chunk->first_refused;
    }
    sink->refused += chunk->refused;
    sink->points += chunk->rows + chunk->refused;
    TRY(add_rows(sink, chunk, error));
    roof_asking_progress(sink->asking, "sweep", "points", sink->points, count);
    if (sink->points < count && roof_asking_stopped(sink->asking)) {
        /* Earlier rows are written first, because writing may fail. */
        TRY(roof_asking_write(sink->asking, &sink->text, error));
        return roof_error_set(error, ROOF_IO,
                              "interrupted: %" PRIu64 " rows of %" PRIu64 " points are written",
                              sink->table.rows, count);
    }
    return ROOF_OK;
}

/* Finds where an earlier answer ended, and begins the table if there is nothing yet. */
static enum roof_status begin(struct sink *sink, struct roof_error *error)
{
    const struct sweep_input *const in = sink->in;
    struct roof_resumed resumed = {0};
    if (sink->asking->listener->part != NULL) {
        TRY(roof_resume(&resumed, sink->asking, &in->grid.sweep, &sink->table, in->first, in->count,
                        in->threads, error));
        sink->table.rows = resumed.rows;
        sink->points = resumed.points;
        sink->refused = resumed.refused;
        sink->first = resumed.first_refused;
    }
    /* The header is written with the first rows, so that a sweep whose first point is refused
     * prints nothing. Only the first shard has it. */
    if (resumed.rows == 0 && in->first == 0) {
        roof_table_begin(&sink->table, &sink->text);
    }
    return ROOF_OK;
}

/* Writes the remaining rows. */
static enum roof_status write_rows(struct sink *sink, struct roof_error *error)
{
    const struct sweep_input *const in = sink->in;
    roof_asking_progress(sink->asking, "sweep", "points", sink->points, in->count);
    return roof_sweep_chunks(&in->grid.sweep, &sink->table, false, in->first + sink->points,
                             in->count - sink->points, in->threads, on_chunk, sink, error);
}

/* The most series that are summarized below a table. */
#define SERIES_MAX 8

/* The lines below a table. */
struct summary {
    struct roof_text *out;
    const struct roof_sweep *series; /* the sweep without its batches */
    int turning;                     /* number of series that become compute-bound */
    int never;                       /* number of series that do not */
};

/* Names the batch at which decode in a series becomes compute-bound, if it does. */
static enum roof_status on_series(void *context, const struct roof_prediction *prediction,
                                  const struct roof_model_prediction *model,
                                  struct roof_error *error)
{
    struct summary *const s = context;
    const double batch = roof_decode_compute_bound(model);
    char from[ROOF_QUANTITY_SIZE];
    (void)error;
    if (!isfinite(batch)) {
        s->never += isinf(batch) != 0;
        return ROOF_OK;
    }
    roof_text_put(s->out, s->turning > 0 ? "" : "\nDecode as a whole is compute-bound:\n");
    s->turning++;
    roof_text_printf(s->out, "  %s on %s", model->model->id, prediction->hardware->id);
    for (size_t i = 0; i < s->series->axis_count; i++) {
        const struct roof_axis *const axis = &s->series->axis[i];
        if (axis->values.count > 1) {
            roof_text_printf(s->out, ", %s ", axis->input->option);
            roof_axis_show(s->out, axis, &model->scenario);
        }
    }
    roof_text_printf(s->out, ": %s\n", roof_model_report_bound(from, batch));
    return ROOF_OK;
}

/* Counts the series that never become compute-bound. */
static void put_never(const struct summary *s, bool more)
{
    if (s->never > 0 && s->turning > 0) {
        roof_text_put(s->out, "  the other series: never\n");
    } else if (s->never > 0) {
        roof_text_put(s->out, "\nDecode as a whole is never compute-bound");
        roof_text_printf(s->out, more ? " in the first %d series.\n" : ".\n", s->never);
    }
}

/* Summarizes a table for readers that goes over batches of models. */
static enum roof_status put_summary(const struct sink *sink, struct roof_text *out,
                                    struct roof_error *error)
{
    struct roof_sweep series = sink->in->grid.sweep; /* its lists belong to the grid */
    struct summary summary = {.out = out, .series = &series};
    const struct roof_input *const batch = roof_input(ROOF_DIM_BATCH);
    uint64_t count = 0;
    bool several = false;
    series.axis_count = 0;
    series.refused = ignore_refused;
    for (size_t i = 0; i < sink->in->grid.sweep.axis_count; i++) {
        const struct roof_axis *const axis = &sink->in->grid.sweep.axis[i];
        if (axis->input != batch) {
            series.axis[series.axis_count++] = *axis;
        } else {
            several = axis->values.count > 1;
        }
    }
    if (sink->asking->form.format != ROOF_TEXT || series.model == NULL || !several ||
        sink->in->sharded) {
        return ROOF_OK;
    }
    TRY(roof_sweep_count(&count, &series, error));
    const uint64_t shown = count < SERIES_MAX ? count : SERIES_MAX;
    TRY(roof_sweep_run(&series, 0, shown, on_series, &summary, error));
    put_never(&summary, shown < count);
    if (summary.turning > 0 && shown < count) {
        roof_text_printf(out, "  (and %" PRIu64 " more series)\n", count - shown);
    }
    return ROOF_OK;
}

/* Names the expected times that are only estimates from other devices. */
static void put_near(struct roof_text *out, const struct near *near)
{
    const size_t from = out->length + 1;
    if (near->count == 0) {
        return;
    }
    roof_text_printf(
        out,
        "\nUp to %.0f%% of an expected time is estimated from other devices, libraries "
        "or formats: ",
        100 * near->most);
    for (size_t i = 0; i < near->count; i++) {
        roof_text_printf(out, "%s%s", i == 0 ? "" : ", ", near->device[i]->id);
    }
    roof_text_put(out, near->more ? ", ...\n" : "\n");
    roof_text_fold(out, from, 2);
}

/* Says that rows of products are misaligned, which their times ignore. */
static void put_misaligned(struct roof_text *out, const struct sweep_input *in)
{
    const size_t from = out->length + 1;
    if (in->misaligned == 0 || in->given[ROOF_INPUT_TILE]) {
        return;
    }
    if (in->count <= LOOKED_AT && !in->sharded) {
        roof_text_printf(out, "\n%" PRIu64 " of %" PRIu64, in->misaligned, in->count);
    } else {
        roof_text_put(out, "\nSome");
    }
    roof_text_put(out, " points have misaligned rows of K or N. Expected times leave out this "
                       "cost: --tile includes it, and predict --advise pads the product.\n");
    roof_text_fold(out, from, 2);
}

/* Says which columns are bounds, and which estimates, if there are both. */
static void put_meaning(struct roof_text *out, const struct roof_table *table)
{
    bool expected = false;
    bool bound = false;
    for (size_t i = 0; i < table->columns.count; i++) {
        const struct roof_field *const field = &table->columns.field[i];
        const bool one = strncmp(field->key, "expected_", 9) == 0;
        const bool measure = field->unit == ROOF_UNIT_MILLISECONDS ||
                             field->unit == ROOF_UNIT_MICROSECONDS ||
                             strstr(field->key, "_per_s") != NULL;
        expected = expected || (one && measure);
        bound = bound || (!one && measure);
    }
    roof_text_put(out, expected && bound ? "\nColumns with exp in their names are estimates; the "
                                           "other times and rates are bounds.\n"
                                         : "");
}

/* Ends the table. Rows before a failure are kept, and thus written whole. */
static enum roof_status end(struct sink *sink, enum roof_status status, struct roof_error *error)
{
    if (status == ROOF_OK && sink->table.rows == 0 && !sink->in->sharded) { /* no point is valid */
        *error = sink->first;
        return sink->first.status;
    }
    if (status == ROOF_OK) {
        roof_table_end(&sink->table, &sink->text);
        const bool text = sink->asking->form.format == ROOF_TEXT;
        if ((text || sink->asking->form.format == ROOF_MARKDOWN) && sink->in->last) {
            put_meaning(&sink->text, &sink->table);
            roof_table_left_out(&sink->table, &sink->in->variety, &sink->text);
        }
        if (text && sink->in->last) {
            put_near(&sink->text, &sink->in->near);
            put_misaligned(&sink->text, sink->in);
            if (sink->in->unquantized != NULL) {
                roof_model_report_note_unquantized(&sink->text, sink->in->unquantized);
            }
        }
        status = put_summary(sink, &sink->text, error);
    }
    if (sink->table.rows > 0 || status == ROOF_OK) {
        const enum roof_status written =
            roof_asking_write(sink->asking, &sink->text, status == ROOF_OK ? error : NULL);
        return status == ROOF_OK ? written : status;
    }
    return status;
}

/* Reports skipped points. */
static void tell_refused(const struct sink *sink)
{
    const struct roof_listener *const listener = sink->asking->listener;
    if (sink->refused > 0 && listener->complain != NULL) {
        struct roof_error told = sink->first;
        (void)roof_error_prefix(&told, told.status,
                                "skipped points that are not possible: %" PRIu64 " of %" PRIu64
                                "; the first: ",
                                sink->refused, sink->in->count);
        listener->complain(listener->context, &told);
    }
}

enum roof_status roof_ask_sweep(struct roof_asking *a, struct roof_error *error)
{
    if (roof_asking_drawn(a)) {
        return roof_ask_curves(a, ROOF_CHART_LATENCY, error);
    }
    struct sweep_input *const in = calloc(1, sizeof *in);
    if (in == NULL) {
        return roof_no_memory(error);
    }
    struct sink sink = {.asking = a, .in = in, .text = ROOF_TEXT_INIT};
    enum roof_status status = read_input(in, &sink.table, a, error);
    if (status == ROOF_OK) {
        status = begin(&sink, error);
        if (status == ROOF_OK) {
            status = end(&sink, write_rows(&sink, error), error);
        }
    }
    if (status == ROOF_OK) {
        tell_refused(&sink);
    }
    roof_text_free(&sink.text);
    roof_grid_close(&in->grid);
    free(in);
    return status;
}
