// SPDX-License-Identifier: MIT
/* Asks the library and writes its answer to the output, for every command that answers a question.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask/watch.h"
#include "base/base.h"
#include "chart/chart_text.h"
#include "cli.h"

/* The state of the listener of an answer. */
struct listening {
    const struct cli_options *options;
    const char *command;
    struct cli_output output;
    bool open;
    bool written; /* part of the answer is in the output */
    bool resumed; /* the output was reopened, and its rows belong to this sweep */
    bool waits;   /* records come from a pipe or a terminal, so that the next may take long */
    bool records; /* the answer is written record by record */
    enum roof_status opened;
    enum roof_status flushed;     /* result of the flush before a wait for records */
    struct roof_error open_error; /* the error of opening or flushing */
    struct cli_progress progress;
    const char *doing;     /* the work whose progress is shown; NULL: none */
    struct roof_error sum; /* summary of a sweep, printed at the end */
    struct cli_run *run;   /* the command that monitor watches */
};

/* Opens the output for the first bytes of the answer, so that a refused question leaves no file. */
static enum roof_status open_output(struct listening *l, struct roof_error *error)
{
    if (!l->open) {
        l->open = true;
        if (l->records) {
            cli_interrupt_watch();
        }
        if (l->options->run != NULL && l->options->output == NULL) {
            /* Standard output belongs to the command. */
            l->output = (struct cli_output){.file = stderr, .name = "standard error"};
        } else {
            l->opened = cli_output_open(&l->output, l->options->output, &l->open_error);
        }
    }
    if (l->opened != ROOF_OK && error != NULL) {
        *error = l->open_error;
    }
    return l->opened;
}

static enum roof_status check_flush(const struct listening *l, struct roof_error *error)
{
    if (l->flushed != ROOF_OK) {
        *error = l->open_error;
    }
    return l->flushed;
}

/* Tells if the command writes rows during its work. Others write their answer at the end. */
static bool streams(const struct listening *l)
{
    return l->options->command->id == ROOF_COMMAND_SWEEP || l->records;
}

static enum roof_status on_write(void *context, const char *bytes, size_t length,
                                 struct roof_error *error)
{
    struct listening *const l = context;
    TRY(open_output(l, error));
    TRY(check_flush(l, error));
    if (!streams(l)) {
        cli_progress_end(&l->progress);
    }
    l->written = l->written || length > 0;
    TRY(cli_output_bytes(&l->output, bytes, length, error));
    return l->options->command->id == ROOF_COMMAND_MONITOR ? cli_output_flush(&l->output, error)
                                                           : ROOF_OK;
}

static void on_remark(void *context, const struct roof_error *remark)
{
    (void)context;
    cli_remark(remark);
}

static void on_complaint(void *context, const struct roof_error *complaint)
{
    struct listening *const l = context;
    if (l->options->command->id == ROOF_COMMAND_SWEEP) {
        l->sum = *complaint;
    } else {
        cli_complain(l->command, complaint);
    }
}

static void on_progress(void *context, const char *what, const char *unit, uint64_t done,
                        uint64_t of)
{
    struct listening *const l = context;
    if (open_output(l, NULL) != ROOF_OK) {
        return; /* the next write reports the error */
    }
    if (l->doing == NULL || strcmp(l->doing, what) != 0) {
        cli_progress_end(&l->progress);
        cli_progress_begin(&l->progress, what, unit, done, of, streams(l) ? l->output.file : NULL);
        l->doing = what;
    } else {
        cli_progress_step(&l->progress, done);
    }
}

static bool on_stop(void *context)
{
    (void)context;
    return cli_interrupted() != 0;
}

/* Flushes the output before the answer waits for records, and lets a signal end the program at once
 * during the wait, because no row is half written then. */
static void on_wait(void *context, bool begins)
{
    struct listening *const l = context;
    if (!begins) {
        cli_interrupt_watch();
        return;
    }
    if (l->open && l->opened == ROOF_OK) {
        l->flushed = cli_output_flush(&l->output, &l->open_error);
    }
    if (l->waits) {
        cli_interrupt_rest();
    }
}

static enum roof_status on_draw(void *context, char **image, size_t *length, const char *script,
                                struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    (void)context;
    const enum roof_status status = cli_gnuplot(&text, script, error);
    if (status != ROOF_OK) {
        roof_text_free(&text);
        return status;
    }
    *image = text.data;
    *length = text.length;
    return ROOF_OK;
}

static enum roof_status on_replace(void *context, const char *name, const char *text, size_t length,
                                   struct roof_error *error)
{
    (void)context;
    TRY(cli_output_folders(name, error));
    return cli_output_all(name, text, length, error);
}

static enum roof_status on_keep(void *context, uint64_t length, struct roof_error *error)
{
    struct listening *const l = context;
    l->resumed = true;
    l->written = length > 0;
    return cli_output_cut(&l->output, length, error);
}

static enum roof_status on_clock(void *context, double *now_s, bool *more, double due_s,
                                 struct roof_error *error)
{
    struct listening *const l = context;
    return cli_run_clock(l->run, now_s, more, due_s, error);
}

static int64_t on_tokens(void *context)
{
    struct listening *const l = context;
    return cli_run_tokens(l->run);
}

/* --- what the program adds to a question --------------------------------------------------- */

/* Adapts a text chart to the locale, and to the colours and the width of the terminal. */
static enum roof_status fit_terminal(struct roof_question *q, const struct cli_options *options,
                                     struct roof_error *error)
{
    struct winsize size = {0};
    char columns[16];
    if (q->value[ROOF_INPUT_CHARSET] == NULL) {
        TRY(roof_question_put(q, "charset", cli_is_unicode() ? "unicode" : "ascii", error));
    }
    if (q->value[ROOF_INPUT_COLOR] == NULL && options->output == NULL &&
        isatty(STDOUT_FILENO) != 0 && cli_has_colour()) {
        TRY(roof_question_put(q, "color", "always", error));
    }
    if (q->value[ROOF_INPUT_SIZE] != NULL || options->output != NULL ||
        isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
        size.ws_col == 0) {
        return ROOF_OK;
    }
    const int width = size.ws_col < ROOF_CHART_COLUMNS_MIN   ? ROOF_CHART_COLUMNS_MIN
                      : size.ws_col > ROOF_CHART_COLUMNS_MAX ? ROOF_CHART_COLUMNS_MAX
                                                             : size.ws_col;
    (void)snprintf(columns, sizeof columns, "%d", width);
    return roof_question_put(q, "size", columns, error);
}

/* Refuses to print an image in a terminal. */
static enum roof_status check_image(const struct cli_options *options, struct roof_error *error)
{
    const bool printed = options->output == NULL || strcmp(options->output, "-") == 0;
    const bool image = options->format == ROOF_PNG || options->format == ROOF_PDF;
    if (image && printed && isatty(STDOUT_FILENO) != 0) {
        return roof_error_set(
            error, ROOF_USAGE,
            "an image cannot be shown in a terminal: give -o FILE, or use a pipe");
    }
    return ROOF_OK;
}

static enum roof_status prepare_page(const struct cli_options *options, struct roof_error *error)
{
    const bool printed = options->output == NULL || strcmp(options->output, "-") == 0;
    return printed && isatty(STDOUT_FILENO) != 0
               ? roof_error_set(
                     error, ROOF_USAGE,
                     "the page cannot be shown in a terminal: give -o FILE.html, or use a pipe")
               : ROOF_OK;
}

/* Tells whether monitor measures until a signal ends it. It watches for signals before it writes
 * the header, so that a signal after the header does not remove the output. */
static bool samples_alone(const struct cli_options *options)
{
    return options->command->id == ROOF_COMMAND_MONITOR && options->run == NULL &&
           options->question->value[ROOF_INPUT_FROM] == NULL;
}

/* Refuses inputs that do not fit a watched command. The table for people is rewritten in place in a
 * terminal, and left out beside the output of a command. */
static enum roof_status prepare_monitor(const struct cli_options *options, struct roof_error *error)
{
    struct roof_question *const q = options->question;
    const bool summary = q->value[ROOF_INPUT_SUMMARY] != NULL;
    const bool from = q->value[ROOF_INPUT_FROM] != NULL;
    if (options->run != NULL && from) {
        return roof_error_set(error, ROOF_USAGE,
                              "--from reads a log: leave out the command after --");
    }
    if (options->run == NULL && q->value[ROOF_INPUT_COUNT_TOKENS] != NULL) {
        return roof_error_set(error, ROOF_USAGE, "--count-tokens needs a command after --");
    }
    if (options->format != ROOF_TEXT || summary) {
        return ROOF_OK;
    }
    if (options->run != NULL) {
        return roof_question_put(q, "summary", "", error);
    }
    return options->output == NULL && !from && isatty(STDOUT_FILENO) != 0 &&
                   q->value[ROOF_INPUT_LIVE] == NULL
               ? roof_question_put(q, "live", "", error)
               : ROOF_OK;
}

/* --- answers ------------------------------------------------------------------------------- */

/* Opens the output that an earlier sweep left. */
static enum roof_status open_part(struct listening *l, struct roof_listener *listener,
                                  struct roof_error *error)
{
    bool found = false;
    l->open = true;
    l->opened = cli_output_reopen(&l->output, &found, l->options->output, &l->open_error);
    cli_interrupt_remove(NULL); /* --resume continues from it */
    if (l->opened != ROOF_OK) {
        *error = l->open_error;
        return l->opened;
    }
    if (found) {
        listener->part = l->output.file;
        listener->part_name = l->output.part;
    }
    return ROOF_OK;
}

/* Chooses the note on an unfinished output for the error message. */
static void choose_kept_note(struct listening *l, struct roof_error *error)
{
    const enum roof_command command = l->options->command->id;
    if (command == ROOF_COMMAND_SWEEP && l->written) {
        l->output.kept_note = " is kept, and --resume continues it";
    } else if (command == ROOF_COMMAND_SWEEP && l->resumed) {
        l->output.kept_note = NULL;
    }
    if (l->records && cli_interrupted() != 0 && l->output.part != NULL) {
        (void)roof_error_set(error, ROOF_IO, "interrupted; %s is not written", l->output.name);
    }
}

/* Ends the output: a file gets its name when the answer is complete. */
static enum roof_status close_output(struct listening *l, enum roof_status status,
                                     struct roof_error *error)
{
    const bool whole = error->message[0] == '\0';
    cli_progress_end(&l->progress);
    if (whole) {
        TRY(open_output(l, error)); /* an empty answer is a file, too */
    }
    if (!l->open || l->opened != ROOF_OK) {
        return status;
    }
    if (whole && check_flush(l, error) != ROOF_OK) {
        return cli_output_close(&l->output, l->flushed, error);
    }
    choose_kept_note(l, error);
    const enum roof_status closed = cli_output_close(&l->output, whole ? ROOF_OK : status, error);
    return closed == ROOF_OK ? status : closed;
}

static enum roof_status answer(struct listening *l, struct roof_store *store,
                               struct roof_error *error)
{
    const struct cli_options *const options = l->options;
    struct roof_listener listener = {.context = l,
                                     .write = on_write,
                                     .remark = on_remark,
                                     .complain = on_complaint,
                                     .progress = on_progress,
                                     .stop = on_stop,
                                     .wait = on_wait,
                                     .draw = on_draw,
                                     .replace = on_replace,
                                     .keep = on_keep};
    TRY(check_image(options, error));
    if (options->command->id == ROOF_COMMAND_PLOT && options->format == ROOF_TEXT) {
        TRY(fit_terminal(options->question, options, error));
    }
    if (options->command->id == ROOF_COMMAND_PAGE) {
        TRY(prepare_page(options, error));
    }
    if (options->command->id == ROOF_COMMAND_MONITOR) {
        TRY(prepare_monitor(options, error));
    }
    if (options->command->id == ROOF_COMMAND_SWEEP ||
        options->command->id == ROOF_COMMAND_MEASURE || samples_alone(options)) {
        cli_interrupt_watch();
    }
    if (options->own[ROOF_INPUT_RESUME] != NULL) {
        TRY(open_part(l, &listener, error));
    }
    const struct roof_watcher watcher = {.context = l, .clock = on_clock, .tokens = on_tokens};
    const enum roof_status status =
        roof_answer_watched(store, options->question, options->command->id, options->format,
                            &listener, &watcher, error);
    return close_output(l, status, error);
}

static enum roof_status ask(const struct cli_options *options, struct cli_run *run,
                            struct roof_error *error)
{
    const char *const from = options->question->value[ROOF_INPUT_FROM];
    struct stat info;
    struct listening l = {.options = options, .command = options->command->name, .run = run};
    struct roof_store *store = NULL;
    l.records = from != NULL && options->command->id == ROOF_COMMAND_PREDICT;
    l.waits =
        l.records && (strcmp(from, "-") == 0 || stat(from, &info) != 0 || !S_ISREG(info.st_mode));
    enum roof_status status = cli_store(&store, error);
    if (status == ROOF_OK) {
        status = answer(&l, store, error);
    }
    if (status == ROOF_OK && l.sum.message[0] != '\0') {
        cli_complain(l.command, &l.sum);
    }
    roof_store_free(store);
    return status;
}

/* Refuses inputs that do not fit a pair of charts, one per phase. */
static enum roof_status check_by_phase(const struct cli_options *options, struct roof_error *error)
{
    if (!options->question->model) {
        return roof_error_set(error, ROOF_USAGE, "--by-phase needs a model");
    }
    if (options->question->value[ROOF_INPUT_PHASE] != NULL) {
        return roof_error_set(error, ROOF_USAGE, "--by-phase draws both phases: leave out --phase");
    }
    const bool files = options->output != NULL && strcmp(options->output, "-") != 0;
    return files || options->format == ROOF_TEXT
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE, "--by-phase writes two files: give -o NAME");
}

/* Asks for a chart per phase; their file names have the phase before the extension. */
static enum roof_status ask_by_phase(struct cli_options *options, struct cli_run *run,
                                     struct roof_error *error)
{
    static const char *const phases[] = {"decode", "prefill"};
    const char *const name = options->output;
    const char *const base = name == NULL ? NULL : strrchr(name, '/');
    const char *const dot = name == NULL ? NULL : strrchr(base == NULL ? name : base, '.');
    enum roof_status status = check_by_phase(options, error);
    for (size_t i = 0; i < COUNT(phases) && status == ROOF_OK; i++) {
        struct roof_text file = ROOF_TEXT_INIT;
        if (name != NULL && strcmp(name, "-") != 0) {
            const size_t stem = dot == NULL ? strlen(name) : (size_t)(dot - name);
            roof_text_add(&file, name, stem);
            roof_text_printf(&file, "-%s%s", phases[i], dot == NULL ? "" : dot);
            options->output = file.data;
        }
        options->question->value[ROOF_INPUT_PHASE] = phases[i];
        status = file.failed ? roof_no_memory(error) : ask(options, run, error);
        roof_text_free(&file);
    }
    options->output = name;
    return status;
}

int cli_ask(const struct cli_command *command, int argc, char **argv)
{
    struct roof_error error = {.status = ROOF_OK};
    struct cli_options options;
    struct roof_token_count tokens[2] = {{.tokens = 0}, {.tokens = 0}};
    struct cli_run run = {.argv = NULL};
    enum roof_status status = cli_options_read(&options, command, argc, argv, &error);
    if (status == ROOF_OK && !options.help) {
        run.argv = options.run;
        run.tokens = options.question->value[ROOF_INPUT_COUNT_TOKENS] == NULL ? NULL : tokens;
        status = options.own[ROOF_INPUT_BY_PHASE] != NULL ? ask_by_phase(&options, &run, &error)
                                                          : ask(&options, &run, &error);
    }
    if (status != ROOF_OK && status != ROOF_USAGE && run.argv != NULL && run.begun_s == 0) {
        roof_error_append(&error, "; '%s' was not run", run.argv[0]);
    }
    cli_run_end(&run);
    cli_options_free(&options);
    if (run.pid != 0 && error.message[0] == '\0') {
        return run.code;
    }
    if (status == ROOF_OK && command->id == ROOF_COMMAND_MONITOR) {
        return cli_interrupted(); /* a signal is a normal end */
    }
    /* The document explains a failure without a message. */
    return status == ROOF_OK || error.message[0] == '\0' ? cli_exit_code(status)
                                                         : cli_fail(command->name, &error);
}
