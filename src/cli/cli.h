// SPDX-License-Identifier: MIT
/* What the commands of the program share. */
#ifndef ROOF_CLI_H
#define ROOF_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "roofline/roofline.h"

/* The exit code of a status; the only place where the two meet. */
int cli_exit_code(enum roof_status status);
/* Prints "roofline COMMAND: message" to stderr, and returns the exit code: that of a signal that
 * came (cli_interrupt_watch), whatever else went wrong by it. */
int cli_fail(const char *command, const struct roof_error *error);
/* The same of something that is not the end of the work. */
void cli_complain(const char *command, const struct roof_error *error);
/* Spells a key of a message as the option that it is; a roof_speller. */
void cli_spell(char *out, size_t size, const char *key);
/* What was assumed when a model was read is told on stderr at the end, unless the work fails. */
void cli_remark(const struct roof_model *model);

/* One command: its table row is in main.c. */
struct cli_command {
    const char *name;
    enum roof_command id;
    int (*run)(const struct cli_command *command, int argc, char **argv);
    const char *operands; /* for the usage line */
    const char *summary;
    const char *examples; /* one per line */
};

int cli_predict(const struct cli_command *command, int argc, char **argv);
int cli_sweep(const struct cli_command *command, int argc, char **argv);
int cli_recommend(const struct cli_command *command, int argc, char **argv);
int cli_compare(const struct cli_command *command, int argc, char **argv);
int cli_plot(const struct cli_command *command, int argc, char **argv);
int cli_list(const struct cli_command *command, int argc, char **argv);
int cli_check(const struct cli_command *command, int argc, char **argv);
int cli_completion(const struct cli_command *command, int argc, char **argv);

/* All commands. */
const struct cli_command *cli_commands(size_t *count);

/* What an option says in help, by the workload that is named ("gemm", "model"; NULL: none); NULL:
 * it is not taken. */
const char *cli_help_of(const struct cli_command *command, const char *workload, size_t input);
/* Prints the help of a command. */
void cli_help(const struct cli_command *command, const char *workload);

/* --- options ------------------------------------------------------------------------------- */

#define CLI_MANY_MAX 32
/* Of check, files; others take two. */
#define CLI_OPERANDS_MAX 64

/* An option that was given several times. */
struct cli_many {
    const char *value[CLI_MANY_MAX];
    int count;
};

/* The command line as texts, one slot per input. Strings belong to argv. */
struct cli_options {
    const char *value[ROOF_INPUT_COUNT]; /* NULL: not given; "" for a flag that was */
    struct cli_many set;                 /* --set, in order */
    struct cli_many classes;             /* --class */
    struct cli_many prices;              /* --price-per-hour */
    struct cli_many lines;               /* --line */
    const char *operand[CLI_OPERANDS_MAX];
    int operand_count;
    enum roof_command command;
    enum roof_output output; /* --format */
    bool html;               /* --format html of predict, or an output named .html */
    bool help;               /* --help was asked for and printed */
};

/* Reads argv by the table of inputs. Prints the help when it is asked for: the command is done. */
enum roof_status cli_options(struct cli_options *out, const struct cli_command *command, int argc,
                             char **argv, struct roof_error *error);

/* One more option; a flag has the text "". ROOF_USAGE when it is given too often, or of KEY=VALUE
 * the key was. */
enum roof_status cli_options_add(struct cli_options *options, size_t input, const char *text,
                                 struct roof_error *error);

/* --formats P,P or "all"; *count of them. */
enum roof_status cli_formats(enum roof_precision out[ROOF_PRECISION_COUNT], size_t *count,
                             const char *text, struct roof_error *error);
/* What recommend prints; *answer is ROOF_UNSATISFIED when that says that nothing is left. */
enum roof_status cli_recommend_answer(struct roof_text *out, const struct cli_options *options,
                                      enum roof_status *answer, struct roof_error *error);
/* Of recommend model NAME. */
enum roof_status cli_recommend_model(struct roof_text *out, const struct cli_options *options,
                                     enum roof_status *answer, struct roof_error *error);

/* What the options of recommend say of an operator; formats holds a list that is given. */
enum roof_status cli_recommend_options(struct roof_recommend_options *out,
                                       enum roof_precision formats[ROOF_PRECISION_COUNT],
                                       const struct cli_options *options, struct roof_error *error);

#define CLI_SIDE_SIZE 128
/* The two sides of --explain A,B as they were typed; --top with it is of text alone. */
enum roof_status cli_explain_pair(char side[2][CLI_SIDE_SIZE], const struct cli_options *options,
                                  struct roof_error *error);
/* --explain A,B, of what is predicted or of what would be recommended. */
enum roof_status cli_explain(struct roof_text *out, const struct cli_options *options,
                             bool recommended, struct roof_error *error);

/* --- sweeps -------------------------------------------------------------------------------- */

#define CLI_LIST_MAX 256

/* The points that a command line with lists and ranges asks for, and what it loads for them: lists
 * "a,b,c" of devices and of models. */
struct cli_grid {
    struct roof_sweep sweep;
    struct roof_hardware *device[CLI_LIST_MAX];
    size_t devices;
    struct roof_model *model[CLI_LIST_MAX];
    size_t models;
    struct roof_model *draft;
};
/* Release with cli_grid_close, also after a failure. */
enum roof_status cli_grid_open(struct cli_grid *out, const struct cli_options *options,
                               struct roof_error *error);
/* Only the devices of -H, the default one if there is none. */
enum roof_status cli_grid_devices(struct cli_grid *out, const struct cli_options *options,
                                  struct roof_error *error);
void cli_grid_close(struct cli_grid *grid);

/* Writes a row of a table of predictions, of operators or of models; for those of models, the
 * prediction is the total with which a struct roof_model_prediction begins. */
void cli_table_row(struct roof_table *table, struct roof_text *out,
                   const struct roof_prediction *prediction);

/* Some rows of a sweep, as they are written. */
struct cli_chunk {
    struct roof_table table;
    struct roof_text text;
    uint64_t number;  /* from 0 */
    uint64_t rows;    /* points that are possible */
    uint64_t refused; /* points left out */
    struct roof_error first_refused;
    enum roof_status status; /* other than ROOF_OK: text has the rows before */
    struct roof_error error;
    bool done; /* between threads */
};
/* Takes one chunk after the other, in order, in the calling thread. */
typedef enum roof_status (*cli_chunk_taker)(void *context, struct cli_chunk *chunk,
                                            struct roof_error *error);
/* Which rows of a chunk are written where only samples are: of the first chunk all, then one of
 * some, each time others, so that none of the values that an inner axis runs through is left out.
 */
bool cli_chunk_sampled(uint64_t number, uint64_t row);
/* Runs count points from `first` on in threads (1: in this one), rows as table has them, of JSON
 * each as the first of an array where only samples are written. Ends with the first status other
 * than ROOF_OK of the taker or, after its chunk was taken, of a point. */
enum roof_status cli_sweep_chunks(const struct roof_sweep *sweep, const struct roof_table *table,
                                  bool sampled, uint64_t first, uint64_t count, int64_t threads,
                                  cli_chunk_taker taker, void *context, struct roof_error *error);

/* Whether the workload is "model NAME". */
bool cli_is_model(const struct cli_options *options);
/* The operator that the first operand names. */
enum roof_status cli_operator(enum roof_operator *out, const struct cli_options *options,
                              struct roof_error *error);
/* What a command line with single values asks, of an operator (in `common`) or of a model; with
 * --from no operator need be named. */
enum roof_status cli_scenario(struct roof_scenario *out, const struct cli_options *options,
                              struct roof_error *error);
/* All inputs that are fields, into a scenario, whatever it is of. */
enum roof_status cli_fields(struct roof_scenario *out, const struct cli_options *options,
                            struct roof_error *error);
/* --class into a scenario; the inputs of a model that are no lists. */
enum roof_status cli_model_options(struct roof_scenario *out, const struct cli_options *options,
                                   struct roof_error *error);
/* A model by name or file with its --layout; the caller owns *out. */
enum roof_status cli_model(struct roof_model **out, const char *name,
                           const struct cli_options *options, struct roof_error *error);
/* --draft-model, or NULL; the caller owns *out, and scenario->draft points to it. */
enum roof_status cli_draft(struct roof_model **out, struct roof_scenario *scenario,
                           const struct cli_options *options, struct roof_error *error);
/* The chosen value of an input of kind ROOF_INPUT_CHOICE; its first choice when not given. */
enum roof_status cli_choice(int64_t *out, const struct cli_options *options, size_t input,
                            struct roof_error *error);

/* Folders that are searched for data before the embedded files. */
struct cli_directories {
    const char *path[3];
    char *owned;
};
enum roof_status cli_directories(struct cli_directories *out, struct roof_error *error);

/* A device by id or file (NULL: the default one), with every --set applied; the caller owns *out.
 */
enum roof_status cli_hardware(struct roof_hardware **out, const char *name,
                              const struct cli_options *options, struct roof_error *error);
/* Releases such a device, with its calibration. */
void cli_hardware_free(struct roof_hardware *hardware);
/* The device with the published figures of a device that is as the documents have it, else NULL. */
enum roof_status cli_product(struct roof_hardware **out, const struct roof_hardware *hardware,
                             struct roof_error *error);

/* Names in a file, and what was loaded for them; NULL: not known. */
#define CLI_NAMES_MAX 256
struct cli_names {
    char *name[CLI_NAMES_MAX];
    void *object[CLI_NAMES_MAX];
    size_t count;
};
/* Devices and models that a file names, loaded once. Start with options set and the rest 0. */
struct cli_known {
    const struct cli_options *options;
    struct cli_names devices;
    struct cli_names models;
    const struct roof_hardware *own; /* of -H; NULL: not loaded */
};
/* The device of -H, or the default: from then on it is known by its id as well, which a file may
 * say. ROOF_UNSATISFIED when nothing knows it. */
enum roof_status cli_known_own(struct cli_known *known, struct roof_error *error);
/* A device, borrowed; ROOF_UNSATISFIED when nothing knows the name. */
enum roof_status cli_known_hardware(struct cli_known *known, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error);
/* A model, borrowed, in a layout (empty: that of the options). */
enum roof_status cli_known_model(struct cli_known *known, const struct roof_model **out,
                                 const char *name, const char *layout, struct roof_error *error);
void cli_known_free(struct cli_known *known);

/* Tells what is wrong with a record of a file; of many the first ones alone. */
void cli_bad_record(const char *command, const struct roof_records *records,
                    const struct roof_error *error);
/* A column that nobody reads may be an input with another name: they are named on stderr after what
 * is said of them, but for those that are used. */
void cli_tell_carried(const char *what, const struct roof_records *records,
                      const char *const *used);
/* Tells how many were bad, if any. */
void cli_bad_records(const char *command, const struct roof_records *records);

/* ROOF_USAGE: no model is named. */
enum roof_status cli_which_model(struct roof_error *error);
/* predict --from FILE: a prediction of each record. */
enum roof_status cli_predict_from(const struct cli_options *options, bool *bad,
                                  struct roof_error *error);
/* What predict prints, but for --from. */
enum roof_status cli_predict_answer(struct roof_text *out, const struct cli_options *options,
                                    struct roof_error *error);
/* Of predict model NAME. */
enum roof_status cli_predict_model(struct roof_text *out, const struct cli_options *options,
                                   struct roof_error *error);

/* predict model NAME --format html. */
enum roof_status cli_page_model(struct roof_text *out, const struct cli_options *options,
                                struct roof_error *error);
/* Whether a file is named as a page is. */
bool cli_page_name(const char *path);
/* What the sliders of a page move, of a grid of one model whose phase alone takes several values;
 * false: it is another. */
bool cli_page_grid(struct roof_page_sizes *out, const struct cli_grid *grid,
                   const struct cli_options *options);

/* Runs gnuplot on a script and takes what it writes. ROOF_IO when it is not installed, or fails. */
enum roof_status cli_gnuplot(struct roof_text *image, const struct roof_text *script,
                             struct roof_error *error);

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
/* Writes and clears text; text that failed for lack of memory is reported here. */
enum roof_status cli_output_write(struct cli_output *out, struct roof_text *text,
                                  struct roof_error *error);
/* The same when there is enough to be worth it. */
enum roof_status cli_output_put(struct cli_output *out, struct roof_text *text,
                                struct roof_error *error);
#define CLI_OUTPUT_ENOUGH 65536
/* What is written has left the program. */
enum roof_status cli_output_flush(struct cli_output *out, struct roof_error *error);
/* Ends the output; status is what the work before came to, and a file of failed work is removed but
 * for `keep`. */
enum roof_status cli_output_close(struct cli_output *out, enum roof_status status,
                                  struct roof_error *error);
/* Open, write, close. */
enum roof_status cli_output_all(const char *path, struct roof_text *text, struct roof_error *error);

/* What FILE.part of an interrupted sweep has. */
struct cli_resumed {
    uint64_t rows;
    uint64_t points;  /* that have been asked for them */
    uint64_t refused; /* of those, left out */
    struct roof_error first_refused;
};
/* Finds where the rows in output, which was reopened, end among count points from `first` on, and
 * makes it ready for those that follow; without whole rows it becomes empty. ROOF_INVALID, and
 * nothing is changed, when it is not of this sweep. */
enum roof_status cli_resume(struct cli_resumed *out, struct cli_output *output,
                            const struct roof_sweep *sweep, const struct roof_table *table,
                            uint64_t first, uint64_t count, int64_t threads,
                            struct roof_error *error);

#endif
