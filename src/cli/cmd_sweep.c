// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define SHARDS_MAX 1000000000
#define THREADS_MAX 64

/* The points that --shard I/N leaves: a contiguous slice, in all formats that can be joined. */
struct slice {
    uint64_t first;
    uint64_t count;
    bool sharded;
};

struct sink {
    struct roof_table table;
    struct roof_text text;
    struct cli_output output;
    struct slice slice;
    uint64_t points;         /* of the slice, so far */
    uint64_t refused;        /* of those, left out */
    struct roof_error first; /* what was wrong with the first of them */
    bool interrupted;
    struct cli_progress progress;
};

/* Elements of a JSON array are joined by commas, of which each chunk lacks its first. */
static enum roof_status add_rows(struct sink *sink, struct cli_chunk *chunk,
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
    if (chunk->text.length < CLI_OUTPUT_ENOUGH) {
        roof_text_add(&sink->text, chunk->text.data, chunk->text.length);
        return cli_output_put(&sink->output, &sink->text, error);
    }
    const enum roof_status status = cli_output_write(&sink->output, &sink->text, error);
    return status == ROOF_OK ? cli_output_write(&sink->output, &chunk->text, error) : status;
}

static enum roof_status on_chunk(void *context, struct cli_chunk *chunk, struct roof_error *error)
{
    struct sink *const sink = context;
    if (sink->refused == 0) {
        sink->first = chunk->first_refused;
    }
    sink->refused += chunk->refused;
    sink->points += chunk->rows + chunk->refused;
    const enum roof_status status = add_rows(sink, chunk, error);
    cli_progress_step(&sink->progress, sink->points);
    if (status == ROOF_OK && sink->points < sink->slice.count && cli_interrupted() != 0) {
        sink->interrupted = true;
        return roof_error_set(error, ROOF_IO,
                              "interrupted: %" PRIu64 " rows of %" PRIu64 " points are written",
                              sink->table.rows, sink->slice.count);
    }
    return status;
}

/* As many as the machine has, where there is work for them. */
static enum roof_status read_threads(int64_t *out, const struct roof_sweep *sweep, uint64_t count,
                                     const struct cli_options *options, struct roof_error *error)
{
    const char *const text = options->value[ROOF_INPUT_THREADS];
    const uint64_t worth = sweep->model == NULL ? 20000 : 200;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    *out = count < worth || online < 1 ? 1 : online < THREADS_MAX ? online : THREADS_MAX;
    return text == NULL ? ROOF_OK
                        : roof_input_parse(out, roof_input(ROOF_INPUT_THREADS), text, error);
}

/* A reader wants to see what was asked beside what came out. */
static void show_asked(struct roof_table *table, const struct cli_options *options)
{
    static const struct {
        size_t input;
        const char *keys[2];
    } shown[] = {{ROOF_INPUT_CHUNK, {"chunk", "step_ms"}},
                 {ROOF_INPUT_PROMPT, {"prompt", "e2e_ms"}},
                 {ROOF_INPUT_GENERATE, {"generate", NULL}},
                 {ROOF_INPUT_DRAFT_TOKENS, {"draft_tokens", "tokens_per_step"}},
                 {ROOF_INPUT_PREFILL_BATCH, {"prefill_batch", NULL}},
                 {ROOF_INPUT_PREFILL_CONTEXT, {"prefill_context", NULL}},
                 {ROOF_INPUT_PREFIX_HIT, {"prefix_hit", NULL}},
                 {ROOF_INPUT_LAYOUT, {"layout", NULL}}};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        for (size_t k = 0; k < 2 && options->value[shown[i].input] != NULL; k++) {
            if (shown[i].keys[k] != NULL) {
                roof_table_show(table, shown[i].keys[k]);
            }
        }
    }
}

static enum roof_status read_slice(struct slice *out, uint64_t count,
                                   const struct cli_options *options, struct roof_error *error)
{
    const char *const text = options->value[ROOF_INPUT_SHARD];
    const char *const slash = text == NULL ? NULL : strchr(text, '/');
    int64_t index = 0;
    int64_t shards = 0;
    *out = (struct slice){.first = 0, .count = count, .sharded = text != NULL};
    if (text == NULL) {
        return ROOF_OK;
    }
    char number[24] = "";
    if (slash != NULL && (size_t)(slash - text) < sizeof number) {
        memcpy(number, text, (size_t)(slash - text));
    }
    if (slash == NULL ||
        roof_parse_integer(&shards, slash + 1, "--shard", 1, SHARDS_MAX, NULL) != ROOF_OK ||
        roof_parse_integer(&index, number, "--shard", 1, shards, NULL) != ROOF_OK) {
        return roof_error_set(error, ROOF_USAGE, "--shard is I/N with 1 <= I <= N <= %d, not '%s'",
                              SHARDS_MAX, text);
    }
    if (options->output == ROOF_OUTPUT_JSON) {
        return roof_error_set(error, ROOF_USAGE,
                              "--shard does not go with --format json: arrays cannot be joined; "
                              "ndjson can");
    }
    roof_sweep_shard(&out->first, &out->count, count, (uint64_t)index, (uint64_t)shards);
    return ROOF_OK;
}

/* The columns, the points and the threads. */
static enum roof_status prepare(struct sink *sink, int64_t *threads, const struct roof_sweep *sweep,
                                const struct cli_options *options, struct roof_error *error)
{
    uint64_t count = 0;
    enum roof_status status = roof_table_open(
        &sink->table, options->output,
        sweep->model == NULL ? ROOF_TABLE_PREDICTIONS : ROOF_TABLE_MODEL_PREDICTIONS,
        sweep->base.common.op, options->value[ROOF_INPUT_COLUMNS], error);
    const bool readable =
        options->output == ROOF_OUTPUT_TEXT || options->output == ROOF_OUTPUT_MARKDOWN;
    if (status == ROOF_OK && readable && options->value[ROOF_INPUT_COLUMNS] == NULL) {
        show_asked(&sink->table, options);
    }
    if (status == ROOF_OK) {
        status = roof_sweep_count(&count, sweep, error);
    }
    if (status == ROOF_OK) {
        status = read_slice(&sink->slice, count, options, error);
    }
    return status == ROOF_OK ? read_threads(threads, sweep, sink->slice.count, options, error)
                             : status;
}

/* Opens the output, and with --resume finds where it goes on. */
static enum roof_status open_output(struct sink *sink, const struct roof_sweep *sweep,
                                    int64_t threads, const struct cli_options *options,
                                    struct roof_error *error)
{
    const char *const path = options->value[ROOF_INPUT_OUTPUT];
    struct cli_resumed resumed = {0};
    bool found = false;
    enum roof_status status = options->value[ROOF_INPUT_RESUME] == NULL
                                  ? cli_output_open(&sink->output, path, error)
                                  : cli_output_reopen(&sink->output, &found, path, error);
    cli_interrupt_remove(NULL); /* --resume goes on with it */
    if (status == ROOF_OK && found) {
        status = cli_resume(&resumed, &sink->output, sweep, &sink->table, sink->slice.first,
                            sink->slice.count, threads, error);
        sink->table.rows = resumed.rows;
        sink->points = resumed.points;
        sink->refused = resumed.refused;
        sink->first = resumed.first_refused;
    }
    /* The header leaves with the first rows: a sweep whose first point is refused prints nothing.
     * Of shards the first has it. */
    if (status == ROOF_OK && resumed.rows == 0 && sink->slice.first == 0) {
        roof_table_begin(&sink->table, &sink->text);
    }
    return status == ROOF_OK ? status : cli_output_close(&sink->output, status, error);
}

/* The rows that are left, and what ends them. */
static enum roof_status write_rows(struct sink *sink, const struct roof_sweep *sweep,
                                   int64_t threads, struct roof_error *error)
{
    const struct slice *const slice = &sink->slice;
    cli_progress_begin(&sink->progress, "sweep", "points", sink->points, slice->count,
                       sink->output.file);
    enum roof_status status =
        cli_sweep_chunks(sweep, &sink->table, false, slice->first + sink->points,
                         slice->count - sink->points, threads, on_chunk, sink, error);
    cli_progress_end(&sink->progress);
    if (status == ROOF_OK && sink->table.rows == 0 && !slice->sharded) { /* none is valid */
        *error = sink->first;
        status = sink->first.status;
    }
    if (status == ROOF_OK) {
        roof_table_end(&sink->table, &sink->text);
    }
    if (sink->table.rows > 0 || (status == ROOF_OK && slice->sharded)) {
        struct roof_error write_error = {0};
        enum roof_status written = cli_output_write(&sink->output, &sink->text, &write_error);
        if (written == ROOF_OK) {
            written = cli_output_flush(&sink->output, &write_error);
        }
        if (written != ROOF_OK && (status == ROOF_OK || sink->interrupted)) {
            *error = write_error; /* so fewer rows are written than an interruption says */
            status = written;
        }
    }
    return status;
}

static enum roof_status run(const struct roof_sweep *sweep, const struct cli_options *options,
                            struct roof_error *error)
{
    struct sink sink = {.text = ROOF_TEXT_INIT};
    int64_t threads = 1;
    enum roof_status status = prepare(&sink, &threads, sweep, options, error);
    if (status == ROOF_OK) {
        cli_interrupt_watch();
        status = open_output(&sink, sweep, threads, options, error);
    }
    if (status == ROOF_OK) {
        status = write_rows(&sink, sweep, threads, error);
        sink.output.keep = sink.table.rows > 0 ? " is kept, and --resume continues it" : NULL;
        status = cli_output_close(&sink.output, status, error);
        if (status == ROOF_OK && sink.refused > 0) {
            char line[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE];
            fprintf(stderr,
                    "roofline sweep: %" PRIu64 " of %" PRIu64
                    " points are not possible and left out; the first: %s\n",
                    sink.refused, sink.slice.count,
                    roof_error_spelled(line, sizeof line, &sink.first, cli_spell));
        }
    }
    roof_text_free(&sink.text);
    return status;
}

int cli_sweep(const struct cli_command *command, int argc, char **argv)
{
    struct roof_error error = {0};
    struct cli_options options;
    struct cli_grid grid = {.devices = 0};

    enum roof_status status = cli_options(&options, command, argc, argv, &error);
    if (status == ROOF_OK && options.help) {
        return 0;
    }
    if (status == ROOF_OK) {
        status = cli_grid_open(&grid, &options, &error);
    }
    if (status == ROOF_OK) {
        status = run(&grid.sweep, &options, &error);
    }
    cli_grid_close(&grid);
    return status == ROOF_OK ? 0 : cli_fail(command->name, &error);
}
