// SPDX-License-Identifier: MIT
/* Declarations that the commands of the program share. */
#ifndef ROOF_CLI_CLI_H
#define ROOF_CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"
#include "decide/store.h"
#include "measure/token_count.h"
#include "roofline/roofline.h"

/* Returns the exit code of a status; only this function maps one to the other. */
int cli_exit_code(enum roof_status status);
/* Prints "roofline COMMAND: message" to stderr and returns the exit code. After a signal
 * (cli_interrupt_watch) it returns that of the signal without a message, because the error may be a
 * consequence. */
int cli_fail(const char *command, const struct roof_error *error);
/* Prints an error; the command continues. */
void cli_complain(const char *command, const struct roof_error *error);
/* Stores a remark. It is printed on stderr at the end unless the command fails. */
void cli_remark(const struct roof_error *remark);
/* Prints the stored remarks, and removes them. */
void cli_remarks_print(void);
/* Makes messages call an input by another word for its option, because the user typed that one; the
 * text must stay valid. NULL: by its option. */
void cli_call_input(size_t input, const char *word);
/* Forgets these words. */
void cli_forget_words(void);

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
/* Answers HTTP requests until a signal ends the service. */
int cli_serve(const struct cli_command *command, int argc, char **argv);
/* Prints the completion script of a shell, or the candidates for the last word of a line. */
int cli_completion(const struct cli_command *command, int argc, char **argv);
/* Finds the completion script of a shell. */
enum roof_status cli_completion_script(const char **out, const char *shell,
                                       struct roof_error *error);

/* Returns the table of all commands. */
const struct cli_command *cli_commands(size_t *count);
/* The capacity of arrays with an entry per command. */
#define CLI_COMMANDS_MAX 16

/* Returns the help of an option for a workload ("gemm", "model"; NULL: none is named); NULL if the
 * command or the workload does not take it. */
const char *cli_help_of(const struct cli_command *command, const char *workload, size_t input);
/* Prints the help of a command. It is a first screen if there are many options. A workload of
 * predict, sweep, recommend, plot or measure asks for the options of that workload; "all" asks for
 * every option of any command. */
void cli_help(const struct cli_command *command, const char *workload);
/* Returns the operand with which the help of a command lists all options, after a blank; "" if it
 * does so without one. */
const char *cli_help_all(const struct cli_command *command);

/* --- options ------------------------------------------------------------------------------- */

/* The most files of the command check; other commands take two operands. */
#define CLI_OPERANDS_MAX 64

/* A command line: the question, and the destination of its answer. The texts point into argv. */
struct cli_options {
    const struct cli_command *command;
    struct roof_question *question;
    const char *operand[CLI_OPERANDS_MAX];
    int operand_count;
    enum roof_answer_format format;
    const char *output;                /* NULL: standard output */
    const char *own[ROOF_INPUT_COUNT]; /* inputs that are not part of a question; NULL: not given */
    char **run; /* the command after "--", which ends with NULL; NULL: none */
    bool help;  /* --help was asked for and printed */
};

/* Reads argv by the table of inputs. For --help it prints the help, and the command is done.
 * Release with cli_options_free, even after a failure. */
enum roof_status cli_options_read(struct cli_options *out, const struct cli_command *command,
                                  int argc, char **argv, struct roof_error *error);
void cli_options_free(struct cli_options *options);

/* Refuses the operand `index` of `count`, which the command does not take: the first wrong one.
 * argv has the operands and the options between them. */
enum roof_status cli_refuse_operand(const struct cli_options *options, const char *const *operand,
                                    int count, int index, char **argv, struct roof_error *error);

/* Refuses an output that would overwrite an input file of the command. */
enum roof_status cli_check_output(const struct cli_options *options, struct roof_error *error);

/* --- environment --------------------------------------------------------------------------- */

/* Creates a store that searches the folders of the environment. Release *out with roof_store_free,
 * even after a failure. */
enum roof_status cli_store(struct roof_store **out, struct roof_error *error);
/* Tells whether the locale of the environment uses Unicode. */
bool cli_is_unicode(void);
/* Returns true if the environment asks for colours in the terminal. */
bool cli_has_colour(void);

/* Runs gnuplot on a script and returns its output. ROOF_IO if it is not installed, or fails. */
enum roof_status cli_gnuplot(struct roof_text *image, const char *script, struct roof_error *error);

/* --- long work ----------------------------------------------------------------------------- */

/* Makes SIGINT and SIGTERM only set a flag from now on, unless they are ignored already; a second
 * one, half a second later, ends the program. */
void cli_interrupt_watch(void);
/* Lets SIGINT and SIGTERM end the program at once until the next watch, while it only waits. */
void cli_interrupt_rest(void);
/* Sets the file that is removed when SIGINT or SIGTERM ends the program at once; NULL: none. The
 * text must stay valid until the next call. */
void cli_interrupt_remove(const char *path);
/* Delays SIGINT and SIGTERM while it is on. */
void cli_interrupt_hold(bool on);
/* Records that the reader of the output has closed it: the program ends by SIGPIPE, without a
 * message. */
void cli_interrupt_reader_left(void);
/* Returns the exit code of the caught signal, or of SIGPIPE; 0: none. */
int cli_interrupted(void);
/* Ends the program by SIGPIPE, as by default, if the reader of the output has closed it. */
void cli_interrupt_end(void);

/* A line on stderr, if that is a terminal, that shows the progress of long work. */
struct cli_progress {
    const char *label; /* the command, and its activity */
    const char *unit;  /* unit of `total` */
    uint64_t start;    /* units done before this work */
    uint64_t total;    /* includes `start` */
    bool on;
    double begun;
    double due; /* when the next line is due */
    int width;  /* width of the line on the terminal */
};
/* Begins to show progress, except if rows of the answer scroll over the same terminal: `rows` is
 * where they go during the work, NULL if the whole answer comes after it. */
void cli_progress_begin(struct cli_progress *p, const char *label, const char *unit, uint64_t start,
                        uint64_t total, FILE *rows);
void cli_progress_step(struct cli_progress *p, uint64_t done);
/* Removes the line; does nothing if the zeroed progress never began. */
void cli_progress_end(struct cli_progress *p);

/* --- a command that is watched --------------------------------------------------------------- */

/* A command that runs during a measurement. It has not begun while all fields but argv and tokens
 * are zero. */
struct cli_run {
    char **argv;                     /* NULL: there is no command, and signals end the wait */
    struct roof_token_count *tokens; /* one per output; NULL: the outputs are not read */
    int pid;                         /* 0: it has not begun */
    bool ended;
    int code;       /* the exit code, or 128 + the signal */
    int output[2];  /* the pipes from its standard output and error; -1: closed */
    double begun_s; /* 0: its start was not attempted */
};
/* Implements roof_watcher.clock; the first call that waits starts the command. */
enum roof_status cli_run_clock(struct cli_run *run, double *now, bool *more, double due_s,
                               struct roof_error *error);
/* Returns the number of tokens that the command reported; 0: it did not report any. */
int64_t cli_run_tokens(struct cli_run *run);
/* Waits until a started command has ended, and releases its resources. */
void cli_run_end(struct cli_run *run);

/* --- output -------------------------------------------------------------------------------- */

/* An output: standard output, or a file that gets its name when it is complete. */
struct cli_output {
    FILE *file;
    char *part; /* temporary name of the file; NULL for stdout, pipes and devices */
    const char *name;
    unsigned mode;         /* mode of the file that it replaces; 0: there is none */
    const char *kept_note; /* NULL: failed work leaves no file; otherwise `part` stays, and the
                              message ends with its name and this note, unless it is "" */
};
enum roof_status cli_output_open(struct cli_output *out, const char *path,
                                 struct roof_error *error);
/* Tells if an output would replace an input file. */
bool cli_output_replaces(const char *path, const char *input);
/* Tells if an output would write into an input file that has the name of its `part`. */
bool cli_output_spoils(const char *path, const char *input);
/* Opens a file whose `part` an earlier program may have left; *found tells whether it did. The part
 * can be read from its start, is kept, and is continued after cli_output_cut. */
enum roof_status cli_output_reopen(struct cli_output *out, bool *found, const char *path,
                                   struct roof_error *error);
/* Cuts the output to its first `length` bytes; the next write follows them. */
enum roof_status cli_output_cut(struct cli_output *out, uint64_t length, struct roof_error *error);
/* Writes bytes. */
enum roof_status cli_output_bytes(struct cli_output *out, const char *bytes, size_t length,
                                  struct roof_error *error);
/* Flushes the output, so that all bytes have left the program. */
enum roof_status cli_output_flush(struct cli_output *out, struct roof_error *error);
/* Closes the output; `status` is the result of the work before. A file of failed work is removed
 * unless `kept_note` is set. */
enum roof_status cli_output_close(struct cli_output *out, enum roof_status status,
                                  struct roof_error *error);
/* Makes the missing folders of a path. */
enum roof_status cli_output_folders(const char *path, struct roof_error *error);
/* Opens an output, writes its bytes and closes it. */
enum roof_status cli_output_all(const char *path, const char *bytes, size_t length,
                                struct roof_error *error);

#endif
