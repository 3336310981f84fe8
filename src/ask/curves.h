// SPDX-License-Identifier: MIT
/* Answers with curves: latencies and Pareto fronts of models, plans and rates of requests. */
#ifndef ROOF_ASK_CURVES_H
#define ROOF_ASK_CURVES_H

#include "ask/asking.h"
#include "ask/simulate_read.h"
#include "chart/curves.h"
#include "decide/plan_inputs.h"

/* The kinds of charts, which have the numbers of the choices of the input "chart". */
enum roof_chart_kind { ROOF_CHART_ROOFLINE, ROOF_CHART_LATENCY, ROOF_CHART_PARETO };

/* Draws the grid of a question about models. */
enum roof_status roof_ask_curves(struct roof_asking *a, enum roof_chart_kind kind,
                                 struct roof_error *error);
/* Draws the plans of an answer: tokens/s per device over tokens/s per user. */
enum roof_status roof_ask_plan_curves(struct roof_text *out, struct roof_asking *a,
                                      const struct roof_plan_answer *answer,
                                      const struct roof_drawing_size *size,
                                      struct roof_error *error);
/* Draws the times of requests over their rate, up to that of a simulation. */
enum roof_status roof_ask_rate_curves(struct roof_text *out, struct roof_asking *a,
                                      const struct simulate_input *in, struct roof_error *error);

#endif
