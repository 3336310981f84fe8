// SPDX-License-Identifier: MIT
/* The commands of the program share these. */
#ifndef ROOF_CLI_CLI_H
#define ROOF_CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"
#include "decide/store.h"
#include "measure/token_count.h"
#include "roofline/roofline.h"

/* Returns the exit code of a status; no other function relates the two. */
int cli_exit_code(enum roof_status status);
/* Prints "roofline COMMAND: message" to stderr and returns the exit code. After a signal
 * (cli_interrupt_watch) that is its own, since the error may be a consequence of the signal. */
int cli_fail(const char *command, const struct roof_error *error);
/* Prints an error; the command continues. */
void cli_complain(const char *command, const struct roof_error *error);
/* Stores a remark, which is printed on stderr at the end unless the command fails. */
void cli_remark(const struct roof_error *remark);
/* Prints the remarks that were stored, and forgets them. */
void cli_remarks_print(void);

/* The operands that a command takes. */
enum cli_takes {
    CLI_WORKLOAD,
    CLI_MODEL,
    CLI_FILES,
    CLI_MEASURED,
    CLI_LIST,
    CLI_WORD,
    CLI_COMMAND,
    CLI_STEP, /* model NAME, or nothing */
    CLI_NOTHING
};

/* One command: its table row is in commands.c. */
struct cli_command {
    const char *name;
    enum roof_command id;
    enum cli_takes takes;
    const char *operands; /* for the usage line */
    const char *summary;
    const char *examples; /* one per line */
};

/* Runs a command that answers a question. */
int cli_ask(const struct cli_command *command, int argc, char **argv);
/* Answers requests over HTTP until a signal ends it. */
int cli_serve(const struct cli_command *command, int argc, char **argv);
/* Prints the completion script of a shell, or the words that complete a line. */
int cli_completion(const struct cli_command *command, int argc, char **argv);
/* Finds the completion script of a shell. */
enum roof_status cli_completion_script(const char **out, const char *shell,
                                       struct roof_error *error);

/* Returns the table of all commands. */
const struct cli_command *cli_commands(size_t *count);
/* There are at most as many. */
#define CLI_COMMANDS_MAX 16

/* Returns the help of an option for a workload ("gemm", "model"; NULL: none is named); NULL when
 * the command or the workload does not take it. */
const char *cli_help_of(const struct cli_command *command, const char *workload, size_t input);
/* Prints the help of a command: without a workload a first screen where it has many options, with
 * "all" every option. */
void cli_help(const struct cli_command *command, const char *workload);

/* --- options ------------------------------------------------------------------------------- */

/* The command check takes so many files; other commands take two operands. */
#define CLI_OPERANDS_MAX 64

/* A command line: the question, and where its answer goes. The texts point into argv. */
struct cli_options {
    const struct cli_command *command;
    struct roof_question *question;
    const char *operand[CLI_OPERANDS_MAX];
    int operand_count;
    enum roof_answer_format format;
    const char *output; /* NULL: standard output */
    const char
        *own[ROOF_INPUT_COUNT]; /* the inputs that are no keys of questions; NULL: not given */
    char **run;                 /* the command behind "--", which ends with NULL; NULL: none */
    bool help;                  /* --help was asked for and printed */
};

/* Reads argv by the table of inputs. Prints the help when it is asked for: the command is done.
 * Release with cli_options_free, also after a failure. */
enum roof_status cli_options_read(struct cli_options *out, const struct cli_command *command,
                                  int argc, char **argv, struct roof_error *error);
void cli_options_free(struct cli_options *options);

/* Refuses an output that would overwrite a file that the command reads. */
enum roof_status cli_check_output(const struct cli_options *options, struct roof_error *error);

/* --- environment --------------------------------------------------------------------------- */

/* Creates a store that searches the folders of the environment. Release *out with roof_store_free,
 * also after a failure. */
enum roof_status cli_store(struct roof_store **out, struct roof_error *error);
/* Tells if the locale of the environment has the characters of Unicode. */
bool cli_is_unicode(void);
/* True where the environment says that the terminal shows colours. */
bool cli_has_colour(void);

/* Runs gnuplot on a script and takes what it writes. ROOF_IO when it is not installed, or fails. */
enum roof_status cli_gnuplot(struct roof_text *image, const char *script, struct roof_error *error);

/* --- long work ----------------------------------------------------------------------------- */

/* From now on SIGINT and SIGTERM are only noted, unless they are ignored already; a second one half
 * a second later ends the program. */
void cli_interrupt_watch(void);
/* Lets SIGINT and SIGTERM end the program at once until the next watch: while it only waits. */
void cli_interrupt_rest(void);
/* Sets the file that is removed when SIGINT or SIGTERM ends the program at once; NULL: none. The
 * text must stay valid until the next call. */
void cli_interrupt_remove(const char *path);
/* Delays SIGINT and SIGTERM while it is on. */
void cli_interrupt_hold(bool on);
/* Notes that the reader of the output has gone: the program ends by SIGPIPE, without a message. */
void cli_interrupt_reader_left(void);
/* Returns the exit code of the signal that came, or of SIGPIPE; 0: none. */
int cli_interrupted(void);
/* Ends the program by SIGPIPE, as it ends other programs, if the reader of the output has left. */
void cli_interrupt_end(void);

/* A line on stderr, if that is a terminal, that shows the progress of long work. */
struct cli_progress {
    const char *label; /* the command, and what it does */
    const char *unit;  /* of `total` */
    uint64_t start;    /* done before this work */
    uint64_t total;    /* includes `start` */
    bool on;
    double begun;
    double due; /* when the next line is */
    int width;  /* of the line on the terminal */
};
/* Begins to show progress; not when the rows, which go to `out`, scroll over the same terminal. */
void cli_progress_begin(struct cli_progress *p, const char *label, const char *unit, uint64_t start,
                        uint64_t total, FILE *out);
void cli_progress_step(struct cli_progress *p, uint64_t done);
/* Removes the line; does nothing to a progress that is zeroed and never began. */
void cli_progress_end(struct cli_progress *p);

/* --- a command that is watched --------------------------------------------------------------- */

/* A command that runs while something is measured. Zeroed but for argv and tokens, it is not begun.
 */
struct cli_run {
    char **argv;                     /* NULL: there is none, and signals end the waiting */
    struct roof_token_count *tokens; /* of its two outputs; NULL: they are not read */
    int pid;                         /* 0: not begun */
    bool ended;
    int code;       /* the exit code, or 128 and the signal */
    int output[2];  /* from where its standard output and error are read; -1: closed */
    double begun_s; /* 0: it was not even tried */
};
/* Does the work of roof_watcher.clock; the first call that waits begins the command. */
enum roof_status cli_run_clock(struct cli_run *run, double *now, bool *more, double due_s,
                               struct roof_error *error);
/* Returns how many tokens the command said it made; 0: it did not say. */
int64_t cli_run_tokens(struct cli_run *run);
/* Waits until a command that was begun has ended, and releases what it had. */
void cli_run_end(struct cli_run *run);

/* --- output -------------------------------------------------------------------------------- */

/* An output: standard output, or a file that appears under its name when it is complete. */
struct cli_output {
    FILE *file;
    char *part; /* the name while it is written; NULL for stdout, pipes and devices */
    const char *name;
    unsigned mode;         /* of the file that it replaces; 0: of none */
    const char *kept_note; /* NULL: failed work leaves no file; else `part` stays, and the message
                              ends with its name and this, if it is not "" */
};
enum roof_status cli_output_open(struct cli_output *out, const char *path,
                                 struct roof_error *error);
/* Tells if an output would replace an input file. */
bool cli_output_replaces(const char *path, const char *input);
/* Tells if an output would write into an input file on the way, since that is named like its
 * `part`. */
bool cli_output_spoils(const char *path, const char *input);
/* Opens a file whose `part` an earlier program may have left; *found says whether it did. The part
 * can be read from its beginning, is kept, and is continued after cli_output_cut. */
enum roof_status cli_output_reopen(struct cli_output *out, bool *found, const char *path,
                                   struct roof_error *error);
/* Cuts the output to its first `length` bytes; the next write follows them. */
enum roof_status cli_output_cut(struct cli_output *out, uint64_t length, struct roof_error *error);
/* Writes bytes. */
enum roof_status cli_output_bytes(struct cli_output *out, const char *bytes, size_t length,
                                  struct roof_error *error);
/* Flushes the output: all bytes have left the program then. */
enum roof_status cli_output_flush(struct cli_output *out, struct roof_error *error);
/* Closes the output; status is that of the work before. A file of failed work is removed unless
 * `kept_note` is set. */
enum roof_status cli_output_close(struct cli_output *out, enum roof_status status,
                                  struct roof_error *error);
/* Makes the folders of a path that do not exist. */
enum roof_status cli_output_folders(const char *path, struct roof_error *error);
/* Opens an output, writes its bytes and closes it. */
enum roof_status cli_output_all(const char *path, const char *bytes, size_t length,
                                struct roof_error *error);

#endif
