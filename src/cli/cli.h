// SPDX-License-Identifier: MIT
/* What the commands of the program share. */
#ifndef ROOF_CLI_H
#define ROOF_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"
#include "decide/store.h"
#include "roofline/roofline.h"

/* The exit code of a status; the only place where the two meet. */
int cli_exit_code(enum roof_status status);
/* Prints "roofline COMMAND: message" to stderr, and returns the exit code: that of a signal that
 * came (cli_interrupt_watch), whatever else went wrong by it. */
int cli_fail(const char *command, const struct roof_error *error);
/* Prints an error and lets the command go on. */
void cli_complain(const char *command, const struct roof_error *error);
/* Spells a key of a message as the option that it is; a roof_speller. */
void cli_spell(char *out, size_t size, const char *key);
/* Keeps a remark, which is printed on stderr at the end unless the work fails. */
void cli_remark(const struct roof_error *remark);

/* What the operands of a command are. */
enum cli_takes { CLI_WORKLOAD, CLI_FILES, CLI_LIST, CLI_WORD };

/* One command: its table row is in main.c. */
struct cli_command {
    const char *name;
    enum roof_command id;
    enum cli_takes takes;
    int (*run)(const struct cli_command *command, int argc, char **argv);
    const char *operands; /* for the usage line */
    const char *summary;
    const char *examples; /* one per line */
};

/* Answers a question. */
int cli_ask(const struct cli_command *command, int argc, char **argv);
/* Prints the completion script of a shell, or the words that complete a line. */
int cli_completion(const struct cli_command *command, int argc, char **argv);
/* Finds the completion script of a shell. */
enum roof_status cli_completion_script(const char **out, const char *shell,
                                       struct roof_error *error);

/* All commands. */
const struct cli_command *cli_commands(size_t *count);

/* What an option says in help, by the workload that is named ("gemm", "model"; NULL: none); NULL:
 * it is not taken. */
const char *cli_help_of(const struct cli_command *command, const char *workload, size_t input);
/* Prints the help of a command. */
void cli_help(const struct cli_command *command, const char *workload);

/* --- options ------------------------------------------------------------------------------- */

/* check takes so many files; others take two operands. */
#define CLI_OPERANDS_MAX 64

/* A command line: the question, and where its answer goes. Other texts belong to argv. */
struct cli_options {
    const struct cli_command *command;
    struct roof_question *question;
    const char *operand[CLI_OPERANDS_MAX];
    int operand_count;
    const char *format_name; /* NULL: not given */
    enum roof_answer_format format;
    const char *output; /* NULL: standard output */
    bool resume;
    bool help; /* --help was asked for and printed */
};

/* Reads argv by the table of inputs. Prints the help when it is asked for: the command is done.
 * Release with cli_options_free, also after a failure. */
enum roof_status cli_options_read(struct cli_options *out, const struct cli_command *command,
                                  int argc, char **argv, struct roof_error *error);
void cli_options_free(struct cli_options *options);

/* Refuses an output that would spoil what is read. */
enum roof_status cli_check_output(const struct cli_options *options, struct roof_error *error);

/* A store that searches the folders of the environment; also *out of a failure is to be freed. */
enum roof_status cli_store(struct roof_store **out, struct roof_error *error);

/* Runs gnuplot on a script and takes what it writes. ROOF_IO when it is not installed, or fails. */
enum roof_status cli_gnuplot(struct roof_text *image, const char *script, struct roof_error *error);

/* --- long work ----------------------------------------------------------------------------- */

/* From now on SIGINT and SIGTERM are only noted, unless they are ignored already; a second one half
 * a second later ends the program. */
void cli_interrupt_watch(void);
/* Until the next watch they end the program at once, as where it waits with nothing in hand. */
void cli_interrupt_rest(void);
/* The file that SIGINT and SIGTERM take away where they end the program at once; NULL: none. It
 * must stay where it is until the next call. */
void cli_interrupt_remove(const char *path);
/* Until it is off again they wait. */
void cli_interrupt_hold(bool on);
/* The exit code of the signal that came; 0: none. */
int cli_interrupted(void);

/* A line on stderr, where that is a terminal, of how far work is. */
struct cli_progress {
    const char *what; /* the command, and what it does */
    const char *unit; /* of `of` */
    uint64_t from;    /* what was done before */
    uint64_t of;      /* how much there is, with that */
    bool on;
    double begun;
    double due; /* when the next line is */
    int width;  /* of what is on the terminal */
};
/* out is where rows go: where they are seen, no line is. */
void cli_progress_begin(struct cli_progress *p, const char *what, const char *unit, uint64_t from,
                        uint64_t of, FILE *out);
void cli_progress_step(struct cli_progress *p, uint64_t done);
/* Takes the line away; also for one that is zeroed and never began. */
void cli_progress_end(struct cli_progress *p);

/* --- output -------------------------------------------------------------------------------- */

/* Where results go: standard output, or a file that appears under its name when it is complete. */
struct cli_output {
    FILE *file;
    char *part; /* the name while it is written; NULL for stdout, pipes and devices */
    const char *name;
    unsigned mode;    /* of the file that it replaces; 0: of none */
    const char *keep; /* NULL: of failed work nothing stays; else what is under `part` does, and
                         the message ends with its name and this, if it is not "" */
};
enum roof_status cli_output_open(struct cli_output *out, const char *path,
                                 struct roof_error *error);
/* Whether that would put a file in place of one that is read. */
bool cli_output_replaces(const char *path, const char *input);
/* Whether that would write into a file that is read, under `part`. */
bool cli_output_spoils(const char *path, const char *input);
/* The same, and what was written under `part` before can be read from its beginning, is kept, and
 * goes on after cli_output_cut; *found says whether there is any. Only for a file. */
enum roof_status cli_output_reopen(struct cli_output *out, bool *found, const char *path,
                                   struct roof_error *error);
/* Forgets what is after the first `length` bytes; the next write follows them. */
enum roof_status cli_output_cut(struct cli_output *out, uint64_t length, struct roof_error *error);
/* Writes bytes. */
enum roof_status cli_output_bytes(struct cli_output *out, const char *bytes, size_t length,
                                  struct roof_error *error);
/* What is written has left the program. */
enum roof_status cli_output_flush(struct cli_output *out, struct roof_error *error);
/* Ends the output; status is what the work before came to, and a file of failed work is removed but
 * for `keep`. */
enum roof_status cli_output_close(struct cli_output *out, enum roof_status status,
                                  struct roof_error *error);
/* Opens, writes and closes. */
enum roof_status cli_output_all(const char *path, const char *bytes, size_t length,
                                struct roof_error *error);

#endif
