// SPDX-License-Identifier: MIT
/* Answers `recommend` for an operator, and forwards other subjects. */
#include "ask/recommend_read.h"

#include <string.h>

#include "ask/asking.h"
#include "ask/draw.h"
#include "base/base.h"
#include "decide/recommend_answer.h"
#include "report/report.h"

/* The question about an operator. */
struct operator_input {
    struct roof_scenario scenario;
    const struct roof_hardware *hardware;
    const struct roof_hardware *product; /* for a device that follows the source documents */
    struct roof_recommend_options how;
    enum roof_precision formats[ROOF_PRECISION_COUNT];
};

static enum roof_status read_input(struct operator_input *out, struct roof_asking *a,
                                   struct roof_error *error)
{
    TRY(roof_read_recommend(&out->how, out->formats, a->question, error));
    TRY(roof_read_scenario(&out->scenario, a->question, error));
    TRY(roof_asking_hardware(&out->hardware, a, NULL, error));
    return a->form.document || roof_form_is_markdown(&a->form)
               ? roof_read_product(&out->product, &a->loans, out->hardware, error)
               : ROOF_OK;
}

static void write_recommendation(struct roof_text *out, struct roof_table *table,
                                 const struct roof_recommend_answer *answer,
                                 const struct operator_input *in, const struct roof_form *form)
{
    const struct roof_workload *const workload = &in->scenario.common;
    const struct roof_recommendation *const found = &answer->recommendation;
    const struct roof_reasons reasons = {.why = answer->gains ? &answer->speedup.total : NULL,
                                         .crossovers =
                                             answer->crosses ? &answer->crossovers : NULL};
    if (form->report) {
        roof_report_recommendation_text(out, found, &reasons, workload, in->product,
                                        in->how.ranking);
    } else if (roof_form_is_markdown(form)) {
        roof_report_recommendation_markdown(out, found, &reasons, workload, in->product,
                                            in->how.ranking);
    } else if (form->format == ROOF_JSON) {
        roof_report_recommendation_json(out, found, &reasons, in->product, workload->op);
    } else {
        roof_table_begin(table, out);
        for (size_t i = 0; i < found->count + found->rejected; i++) {
            roof_table_candidate(table, out, &found->candidate[i]);
        }
        roof_table_end(table, out);
    }
}

/* Writes the recommendation, even without accepted formats; *found tells whether there are any. */
static enum roof_status recommend_operator(struct roof_text *out, struct roof_asking *a,
                                           enum roof_status *found, struct roof_error *error)
{
    struct operator_input in = {.product = NULL};
    struct roof_recommend_answer *answer = NULL;
    struct roof_table table;
    TRY(read_input(&in, a, error));
    TRY(roof_table_open(&table, a->form.rows, ROOF_TABLE_RECOMMENDATIONS, in.scenario.common.op,
                        a->form.columns, error));
    TRY(roof_recommend_answer_open(&answer, &in.scenario.common, in.hardware, &in.how,
                                   a->form.document || roof_form_is_markdown(&a->form), error));
    *found = answer->recommendation.count == 0 ? ROOF_UNSATISFIED : ROOF_OK;
    write_recommendation(out, &table, answer, &in, &a->form);
    roof_recommend_answer_free(answer);
    return ROOF_OK;
}

enum roof_status roof_ask_recommend(struct roof_asking *a, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status answer = ROOF_OK;
    if (roof_asking_drawn(a) && !a->question->model) {
        return roof_refuse_operator(a, error);
    }
    if (roof_asking_has(a, ROOF_INPUT_THREADS) && !a->question->model) {
        return roof_error_set(error, ROOF_USAGE, ROOF_KEY("threads") " of recommend needs a model");
    }
    enum roof_status status = a->question->model ? roof_ask_plans(&text, a, &answer, error)
                              : roof_asking_has(a, ROOF_INPUT_EXPLAIN)
                                  ? roof_ask_explain(&text, a, true, error)
                                  : recommend_operator(&text, a, &answer, error);
    if (status == ROOF_OK) {
        status = roof_asking_write(a, &text, error);
    }
    roof_text_free(&text);
    if (status == ROOF_OK && answer == ROOF_UNSATISFIED) {
        *error = (struct roof_error){.status = answer}; /* the document has the message */
        return answer;
    }
    return status;
}
