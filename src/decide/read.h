// SPDX-License-Identifier: MIT
/* Reads the typed inputs that all kinds of questions share: scenarios, devices and models. */
#ifndef ROOF_DECIDE_READ_H
#define ROOF_DECIDE_READ_H

#include "decide/question.h"
#include "decide/store.h"
#include "predict/model_prediction.h"

/* Operators, or plans, that a report shows when the question does not say how many. */
#define ROOF_TOP_DEFAULT 12

/* Finds the operator that a question names. */
enum roof_status roof_read_operator(enum roof_operator *out, const struct roof_question *question,
                                    struct roof_error *error);

/* Refuses "ep" beside the splits that it is short for. */
enum roof_status roof_read_split(const struct roof_question *question, struct roof_error *error);

/* Refuses the stages and the cluster of a tile without a tile. */
enum roof_status roof_read_tile(const struct roof_question *question, struct roof_error *error);

/* Reads every input that is a field of a scenario, whatever the scenario is about. */
enum roof_status roof_read_fields(struct roof_scenario *out, const struct roof_question *question,
                                  struct roof_error *error);

/* Reads the formats by class of a model, and refuses a layout beside formats of the weights. */
enum roof_status roof_read_classes(struct roof_scenario *out, const struct roof_question *question,
                                   struct roof_error *error);

/* Reads what a question with single values asks, of an operator (in `common`) or of a model. With
 * records (`from`) no operator need be named. */
enum roof_status roof_read_scenario(struct roof_scenario *out, const struct roof_question *question,
                                    struct roof_error *error);

/* Reads an input with choices; the first choice when it is not given. */
enum roof_status roof_read_choice(int64_t *out, const struct roof_question *question, size_t input,
                                  struct roof_error *error);

/* Reads an integer; *out stays as it is when it is not given. */
enum roof_status roof_read_integer(int64_t *out, const struct roof_question *question, size_t input,
                                   struct roof_error *error);

/* Reads how a question changes devices, and which it names; it borrows the texts. */
struct roof_device_wish roof_read_device_wish(const struct roof_question *question,
                                              bool bounds_only);
/* Reads what a question says of all models: their layout, and formats beside those of files. */
struct roof_model_wish roof_read_model_wish(const struct roof_question *question);

/* Borrows a device that is wished for, and refuses a list. */
enum roof_status roof_borrow_hardware(const struct roof_hardware **out, struct roof_loans *loans,
                                      const struct roof_device_wish *wish,
                                      struct roof_error *error);

/* Borrows the device with a name (NULL: the default device) as the question changes it. bounds_only
 * says that the answer has no expected times. */
enum roof_status roof_read_hardware(const struct roof_hardware **out, struct roof_loans *loans,
                                    const struct roof_question *question, const char *name,
                                    bool bounds_only, struct roof_error *error);

/* Borrows the shipping product of a device whose figures are those of the source documents; NULL
 * if it has none. */
enum roof_status roof_read_product(const struct roof_hardware **out, struct roof_loans *loans,
                                   const struct roof_hardware *hardware, struct roof_error *error);

/* Borrows a model with the layout of the question. */
enum roof_status roof_read_model(const struct roof_model **out, struct roof_loans *loans,
                                 const struct roof_question *question, const char *name,
                                 struct roof_error *error);

/* Borrows the model that drafts tokens and puts it into the scenario; NULL without one.
 * drafts_elsewhere: records may say how many tokens are drafted. */
enum roof_status roof_read_draft(const struct roof_model **out, struct roof_scenario *scenario,
                                 struct roof_loans *loans, const struct roof_question *question,
                                 bool drafts_elsewhere, struct roof_error *error);

/* Borrows what computes on the host, and puts it into the scenario; without one there, `offload` is
 * refused later. offloads_elsewhere: records may say what is offloaded. */
enum roof_status roof_read_host_time(struct roof_scenario *scenario,
                                     const struct roof_question *question, bool engines_elsewhere,
                                     struct roof_error *error);
enum roof_status roof_read_host(struct roof_scenario *scenario, struct roof_loans *loans,
                                const struct roof_question *question, bool offloads_elsewhere,
                                struct roof_error *error);

/* The columns that stay in a table for people, however wide it is. */
struct roof_kept_columns {
    bool all;
    bool input[ROOF_INPUT_COUNT]; /* of inputs that have several values */
};

void roof_read_kept_columns(struct roof_kept_columns *out, const struct roof_question *question);

/* A subject is what a question asks about, with the models that are borrowed for it. */
struct roof_subject {
    struct roof_scenario scenario;
    const struct roof_model *model; /* NULL: an operator */
    const struct roof_model *draft;
};

/* Reads the scenario of a question, `count` devices (with these names; NULL: the question's own)
 * and the models. A failure leaves what was borrowed before it in *out. */
enum roof_status roof_read_subject(struct roof_subject *out, const struct roof_hardware **hardware,
                                   const char *const *name, size_t count, struct roof_loans *loans,
                                   const struct roof_question *question, bool bounds_only,
                                   struct roof_error *error);

/* Refuses a question about a model that names none. */
enum roof_status roof_which_model(struct roof_error *error);

#endif
