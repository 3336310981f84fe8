// SPDX-License-Identifier: MIT
/* Reads the typed inputs that all kinds of questions share: scenarios, devices and models. */
#ifndef ROOF_DECIDE_READ_H
#define ROOF_DECIDE_READ_H

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

/* Borrows the device with a name (NULL: the default device) as the question changes it. bounds_only
 * says that the answer has no expected times. */
enum roof_status roof_read_hardware(const struct roof_hardware **out, struct roof_loans *loans,
                                    const struct roof_question *question, const char *name,
                                    bool bounds_only, struct roof_error *error);

/* Borrows the device with the published figures of one that is as the source documents specify it;
 * NULL for any other. */
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

/* Refuses a question about a model that names none. */
enum roof_status roof_which_model(struct roof_error *error);

#endif
