// SPDX-License-Identifier: MIT
/* Reads the typed inputs that all kinds of questions share: scenarios, devices and models. */
#ifndef ROOF_DECIDE_READ_H
#define ROOF_DECIDE_READ_H

#include "decide/question.h"
#include "decide/store.h"
#include "predict/model_prediction.h"

struct roof_engines;
/* Finds the engines whose stacks a question lists, or else those that it names, as bits by number.
 * All of them apply if it names none. */
unsigned roof_read_engines(const struct roof_engines *engines,
                           const struct roof_question *question);

/* The operators or plans in a report if the question does not have a number. */
#define ROOF_TOP_DEFAULT 12

/* Finds the operator that a question names. */
enum roof_status roof_read_operator(enum roof_operator *out, const struct roof_question *question,
                                    struct roof_error *error);

/* Refuses "ep" beside the splits that it abbreviates. */
enum roof_status roof_read_split(const struct roof_question *question, struct roof_error *error);

/* Refuses the stages and the cluster of a tile if there is no tile. */
enum roof_status roof_read_tile(const struct roof_question *question, struct roof_error *error);

/* Reads every input that is a field of a scenario, for any subject. */
enum roof_status roof_read_fields(struct roof_scenario *out, const struct roof_question *question,
                                  struct roof_error *error);

/* Reads the formats by class of a model, and refuses a layout beside formats of the weights. */
enum roof_status roof_read_classes(struct roof_scenario *out, const struct roof_question *question,
                                   struct roof_error *error);

/* Reads the scenario of a question with single values, for an operator (in `common`) or a model.
 * With records (`from`) the operator may be missing. */
enum roof_status roof_read_scenario(struct roof_scenario *out, const struct roof_question *question,
                                    struct roof_error *error);

/* Reads an input with choices; the first choice is the default. */
enum roof_status roof_read_choice(int64_t *out, const struct roof_question *question, size_t input,
                                  struct roof_error *error);

/* Reads an integer; *out is unchanged if it is not given. */
enum roof_status roof_read_integer(int64_t *out, const struct roof_question *question, size_t input,
                                   struct roof_error *error);

/* Reads the device of a question, with its changes; it borrows the texts. */
struct roof_device_wish roof_read_device_wish(const struct roof_question *question,
                                              bool bounds_only);
/* Reads the settings of a question for all models: their layout, and formats that replace those of
 * files. */
struct roof_model_wish roof_read_model_wish(const struct roof_question *question);

/* Borrows the device of a wish, and refuses a list. */
enum roof_status roof_borrow_hardware(const struct roof_hardware **out, struct roof_loans *loans,
                                      const struct roof_device_wish *wish,
                                      struct roof_error *error);

/* Borrows the device with a name (NULL: the default device) and the changes in the question.
 * bounds_only means that the answer has no expected times. */
enum roof_status roof_read_hardware(const struct roof_hardware **out, struct roof_loans *loans,
                                    const struct roof_question *question, const char *name,
                                    bool bounds_only, struct roof_error *error);

/* Borrows the shipping product of a device that has the figures of the source documents; NULL if it
 * has none. */
enum roof_status roof_read_product(const struct roof_hardware **out, struct roof_loans *loans,
                                   const struct roof_hardware *hardware, struct roof_error *error);

/* Borrows a model with the layout of the question. */
enum roof_status roof_read_model(const struct roof_model **out, struct roof_loans *loans,
                                 const struct roof_question *question, const char *name,
                                 struct roof_error *error);

/* Borrows the draft model and puts it into the scenario; NULL if there is none. drafts_elsewhere:
 * records may have the number of draft tokens. */
enum roof_status roof_read_draft(const struct roof_model **out, struct roof_scenario *scenario,
                                 struct roof_loans *loans, const struct roof_question *question,
                                 bool drafts_elsewhere, struct roof_error *error);

/* Reads the host times of engines. engines_elsewhere: records or plans may name engines. */
enum roof_status roof_read_host_time(struct roof_scenario *scenario, const struct roof_loans *loans,
                                     const struct roof_question *question, bool engines_elsewhere,
                                     struct roof_error *error);
/* Writes host times as a list that --host-time reads; those of 0 are left out. */
void roof_host_time_put(struct roof_text *out, const struct roof_host_time *host);
bool roof_host_time_equal(const struct roof_host_time *a, const struct roof_host_time *b);
/* Writes a time as options read it, "489.9us". */
#define ROOF_TIME_OPTION_SIZE ROOF_QUANTITY_SIZE
const char *roof_time_option(char out[ROOF_TIME_OPTION_SIZE], double seconds);

/* Borrows the host processor, and puts it into the scenario; without one, `offload` is refused
 * later. offloads_elsewhere: records may have what is offloaded. */
enum roof_status roof_read_host(struct roof_scenario *scenario, struct roof_loans *loans,
                                const struct roof_question *question, bool offloads_elsewhere,
                                struct roof_error *error);

/* The columns that stay in a table for people, whatever its width. */
struct roof_kept_columns {
    bool all;
    bool input[ROOF_INPUT_COUNT]; /* inputs with several values */
};

void roof_read_kept_columns(struct roof_kept_columns *out, const struct roof_question *question);

/* The subject of a question, with the borrowed models. */
struct roof_subject {
    struct roof_scenario scenario;
    const struct roof_model *model; /* NULL: the subject is an operator */
    const struct roof_model *draft;
};

/* Reads the scenario of a question, `count` devices (with these names; NULL: those of the question)
 * and the models. After a failure *out keeps what was borrowed before. */
enum roof_status roof_read_subject(struct roof_subject *out, const struct roof_hardware **hardware,
                                   const char *const *name, size_t count, struct roof_loans *loans,
                                   const struct roof_question *question, bool bounds_only,
                                   struct roof_error *error);

/* Refuses a question about a model without a name. */
enum roof_status roof_which_model(struct roof_error *error);

#endif
