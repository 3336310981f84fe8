// SPDX-License-Identifier: MIT
/* The state of an answer that is being made, which all kinds of questions share. */
#ifndef ROOF_ASK_ASKING_H
#define ROOF_ASK_ASKING_H

#include "ask/watch.h"
#include "base/halt.h"
#include "base/text.h"
#include "decide/grid.h"
#include "decide/known.h"
#include "decide/read.h"
#include "decide/records.h"
#include "report/rows.h"

/* The form in which an answer is written. */
struct roof_form {
    enum roof_answer_format format;
    const char *columns;   /* NULL: those that the kind of row has */
    const char *title;     /* of a chart; NULL: it names itself */
    bool report;           /* a report for people, not a table with requested columns */
    bool document;         /* a whole document, text or JSON, and not rows */
    enum roof_output rows; /* only where the command writes rows in this format */
};

/* Tells whether the answer is a report in Markdown, and not a table with requested columns. */
bool roof_form_is_markdown(const struct roof_form *form);

struct roof_asking {
    struct roof_loans loans;
    const struct roof_question *question; /* for the functions that read it (tests/shape.sh) */
    enum roof_command command;
    struct roof_form form;
    const struct roof_listener *listener;
    const struct roof_watcher *watcher; /* NULL: no watcher */
    struct roof_text *collected;        /* receives the output; NULL: the listener does */
    /* Answers a question (roof_answer). check uses this pointer, so that it does not depend on
     * answer.c. */
    enum roof_status (*answer)(struct roof_store *store, const struct roof_question *question,
                               enum roof_command command, enum roof_answer_format format,
                               char **text, size_t *length, struct roof_error *error);
};

/* Each function answers one kind of question. */
enum roof_status roof_ask_predict(struct roof_asking *a, struct roof_error *error);
enum roof_status roof_ask_sweep(struct roof_asking *a, struct roof_error *error);
enum roof_status roof_ask_recommend(struct roof_asking *a, struct roof_error *error);
enum roof_status roof_ask_list(struct roof_asking *a, struct roof_error *error);
enum roof_status roof_ask_compare(struct roof_asking *a, struct roof_error *error);
enum roof_status roof_ask_plot(struct roof_asking *a, struct roof_error *error);
enum roof_status roof_ask_check(struct roof_asking *a, struct roof_error *error);
enum roof_status roof_ask_measure(struct roof_asking *a, struct roof_error *error);
enum roof_status roof_ask_simulate(struct roof_asking *a, struct roof_error *error);
enum roof_status roof_ask_monitor(struct roof_asking *a, struct roof_error *error);
/* Answers any question that has the output format html with the page that begins at it. */
enum roof_status roof_ask_page(struct roof_asking *a, struct roof_error *error);

/* Parts of predict and recommend. */
enum roof_status roof_ask_predict_model(struct roof_text *out, struct roof_asking *a,
                                        struct roof_error *error);
enum roof_status roof_ask_predict_graph(struct roof_text *out, struct roof_asking *a,
                                        struct roof_error *error);
/* Tells whether a question names several devices; and answers `predict` for each of them. */
bool roof_check_sides(const struct roof_asking *a);
enum roof_status roof_ask_sides(struct roof_text *out, struct roof_asking *a,
                                struct roof_error *error);
/* Answers `predict` with a tile: about one, or with a ranking of all. */
enum roof_status roof_ask_tiles(struct roof_text *out, struct roof_asking *a,
                                struct roof_error *error);
enum roof_status roof_ask_records(struct roof_asking *a, struct roof_error *error);
enum roof_status roof_ask_explain(struct roof_text *out, struct roof_asking *a, bool recommended,
                                  struct roof_error *error);
/* *found becomes ROOF_UNSATISFIED if the document has no result. */
enum roof_status roof_ask_plans(struct roof_text *out, struct roof_asking *a,
                                enum roof_status *found, struct roof_error *error);

/* Writes the command line of a question to a command, without the format of its answer. */
void roof_asking_command(struct roof_text *out, const char *command,
                         const struct roof_question *question);

/* Writes the command that finds the greatest rate within the limits of a question to `simulate`, or
 * within an example of a limit if it has none. */
void roof_asking_greatest(struct roof_text *out, bool *limited, const struct roof_asking *a);

/* True for an input that the question gives. */
bool roof_asking_has(const struct roof_asking *a, size_t input);
/* Reads the form of the answer to a question. */
struct roof_form roof_read_form(const struct roof_question *question,
                                enum roof_answer_format format);

/* True if the answer has no expected times. Then no calibration is loaded, which saves most of the
 * time. */
bool roof_asking_bounds_only(const struct roof_asking *a);

/* Borrow what the question names; models are remarked on. name NULL: the question's own. */
enum roof_status roof_asking_hardware(const struct roof_hardware **out, struct roof_asking *a,
                                      const char *name, struct roof_error *error);
enum roof_status roof_asking_model(const struct roof_model **out, struct roof_asking *a,
                                   const struct roof_question *question, const char *name,
                                   struct roof_error *error);
enum roof_status roof_asking_draft(const struct roof_model **out, struct roof_scenario *scenario,
                                   struct roof_asking *a, struct roof_error *error);
/* Reads the scenario, the devices with these names (NULL: the question's own) and the models. */
enum roof_status roof_asking_subject(struct roof_subject *out,
                                     const struct roof_hardware **hardware, const char *const *name,
                                     size_t count, struct roof_asking *a, struct roof_error *error);
/* Tells the listener the assumptions about a model, or about all models of a grid. */
void roof_asking_remark(const struct roof_asking *a, const struct roof_model *model);
void roof_asking_remark_grid(const struct roof_asking *a, const struct roof_grid *grid);

/* Finds the meaning of a name of formats for a model, for records, and remarks once that the name
 * may also mean something else. */
enum roof_status roof_asking_known_formats(const struct roof_asking *a, struct roof_known *known,
                                           const struct roof_named **out, const char *name,
                                           const char *model, struct roof_error *error);

/* Finds the model of a record, and remarks what was assumed of it when it is loaded. */
enum roof_status roof_asking_known_model(const struct roof_asking *a, struct roof_known *known,
                                         const struct roof_model **out, const char *name,
                                         const char *layout, struct roof_error *error);

/* Refuses inputs that do not go with something: "KEY does not go with WITH". */
enum roof_status roof_asking_refuse(const struct roof_asking *a, const size_t *inputs, size_t count,
                                    const char *with, struct roof_error *error);

/* --- output -------------------------------------------------------------------------------- */

#define ROOF_ASKING_ENOUGH 65536
/* Writes a text and clears it; a text that failed for lack of memory is reported here. */
enum roof_status roof_asking_write(struct roof_asking *a, struct roof_text *text,
                                   struct roof_error *error);
/* Writes and clears a text that has ROOF_ASKING_ENOUGH bytes or more; a shorter one stays. */
enum roof_status roof_asking_put(struct roof_asking *a, struct roof_text *text,
                                 struct roof_error *error);
/* True where the caller wants the work to end. */
bool roof_asking_stopped(const struct roof_asking *a);
/* Returns what lets the caller end work of earlier floors. */
struct roof_halt roof_asking_halt(const struct roof_asking *a);
/* Reads the number of threads that search, by default one per processor. The answer does not depend
 * on it. */
enum roof_status roof_asking_threads(int64_t *out, const struct roof_asking *a,
                                     struct roof_error *error);
void roof_asking_progress(const struct roof_asking *a, const char *what, const char *unit,
                          uint64_t done, uint64_t of);

/* --- records ------------------------------------------------------------------------------- */

/* Tells the listener why a record is bad; only the first of many are told. */
void roof_asking_bad_record(const struct roof_asking *a, const struct roof_records *records,
                            const struct roof_error *error);
/* Names the unread columns, which may be inputs with another name, except those in `used`, which
 * ends with NULL. */
enum roof_status roof_asking_carried(const struct roof_asking *a, const char *what,
                                     const struct roof_records *records, const char *const *used,
                                     struct roof_error *error);
/* Names only those of these columns whose names are like that of an input. */
enum roof_status roof_asking_misspelt(const struct roof_asking *a,
                                      const struct roof_records *records, const char *const *used,
                                      struct roof_error *error);
/* Tells how many records were bad, if any. */
void roof_asking_bad_records(const struct roof_asking *a, const struct roof_records *records);

/* Writes the names of the formats that a command writes. Returns how many there are. */
size_t roof_answer_format_names(const char *out[ROOF_ANSWER_FORMAT_COUNT],
                                enum roof_command command);
/* Adds the names of the formats that a command writes: "text, json and csv". */
void roof_answer_formats(struct roof_text *out, enum roof_command command);

#endif
