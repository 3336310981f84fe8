// SPDX-License-Identifier: MIT
/* Answers with curves: latencies and Pareto fronts of models, plans and rates of requests. */
#ifndef ROOF_ASK_CURVES_H
#define ROOF_ASK_CURVES_H

#include "ask/asking.h"
#include "ask/draw.h"
#include "ask/simulate_read.h"
#include "chart/curves.h"
#include "decide/plan_inputs.h"

/* Draws the grid of a question about models. */
enum roof_status roof_ask_curves(struct roof_asking *a, enum roof_chart_kind kind,
                                 struct roof_error *error);
/* Draws the plans of an answer: tokens/s per device over tokens/s per user. */
enum roof_status roof_ask_plan_curves(struct roof_text *out, struct roof_asking *a,
                                      const struct roof_plan_answer *answer,
                                      const struct roof_drawing_size *size,
                                      struct roof_error *error);
/* Draws the chart of a question about requests that arrive over time: the times of requests over
 * their rate, up to that of the simulation, or the queue or the times of the simulation itself. */
enum roof_status roof_ask_load_curves(struct roof_text *out, struct roof_asking *a,
                                      const struct simulate_input *in, struct roof_error *error);

/* Gives curves the title of the question, or another. */
void roof_title_curves(struct roof_curves *curves, const struct roof_asking *a, const char *text);
/* Finishes a chart and writes it in the format of the question. */
enum roof_status roof_write_curves(struct roof_text *out, const struct roof_asking *a,
                                   struct roof_curves *curves, const struct roof_drawing_size *size,
                                   struct roof_error *error);

#endif
