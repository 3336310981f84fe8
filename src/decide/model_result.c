// SPDX-License-Identifier: MIT
/* Answers a question about a model as numbers that a caller reads one by one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "decide/read.h"
#include "decide/resolve.h"
#include "predict/prediction_fields.h"
#include "roofline/model.h"

struct roof_model_result {
    struct roof_loans loans; /* the device and the models that the prediction points to */
    struct roof_model_prediction prediction;
    struct roof_fields fields;
    struct roof_value value[ROOF_FIELDS_MAX];
};

/* Reads the scenario of a question, and predicts it. */
static enum roof_status read_and_predict(struct roof_model_result *r,
                                         const struct roof_question *question,
                                         struct roof_error *error)
{
    static const char *const own[] = {NULL};
    struct roof_subject subject;
    const struct roof_hardware *hardware = NULL;
    struct roof_question resolved;
    struct roof_error note;
    TRY(roof_question_check(question, ROOF_COMMAND_PREDICT, error));
    TRY(roof_question_resolve(&resolved, &note, question, &r->loans, ROOF_COMMAND_PREDICT, error));
    question = &resolved;
    if (question->model_name == NULL) {
        return roof_which_model(error);
    }
    if (roof_asked(question, ROOF_INPUT_FROM)) {
        return roof_error_set(error, ROOF_USAGE,
                              "records (" ROOF_KEY("from") ") are predicted as a document only");
    }
    TRY(roof_read_subject(&subject, &hardware, own, 1, &r->loans, question, false, error));
    return roof_predict_model(&r->prediction, subject.model, &subject.scenario, hardware, error);
}

enum roof_status roof_model_predict(struct roof_model_result **out, struct roof_store *store,
                                    const struct roof_question *question, struct roof_error *error)
{
    *out = NULL;
    struct roof_model_result *const r = calloc(1, sizeof *r);
    if (r == NULL) {
        return roof_no_memory(error);
    }
    r->loans.store = store;
    const enum roof_status status = read_and_predict(r, question, error);
    if (status != ROOF_OK) {
        roof_model_result_free(r);
        return status;
    }
    roof_model_prediction_fields(&r->fields);
    roof_model_prediction_values(r->value, &r->fields, &r->prediction);
    *out = r;
    return ROOF_OK;
}

void roof_model_result_free(struct roof_model_result *result)
{
    if (result != NULL) {
        roof_loans_return(&result->loans);
        free(result);
    }
}

double roof_model_number(const struct roof_model_result *result, const char *key)
{
    const struct roof_field *const field = roof_fields_find(&result->fields, key);
    if (field == NULL || roof_type_is_text(field->type)) {
        return ROOF_UNKNOWN;
    }
    const double number = result->value[field - result->fields.field].number;
    return field->type == ROOF_TYPE_GIVEN ? roof_given(number, field->unit)
                                          : roof_to_unit(number, field->unit);
}

const char *roof_model_text(const struct roof_model_result *result, const char *key)
{
    const struct roof_field *const field = roof_fields_find(&result->fields, key);
    return field == NULL || !roof_type_is_text(field->type)
               ? NULL
               : result->value[field - result->fields.field].text;
}

const struct roof_prediction *roof_model_total(const struct roof_model_result *result)
{
    return &result->prediction.total;
}

size_t roof_model_operators(const struct roof_model_result *result)
{
    return result->prediction.count;
}

/* Returns an operator; NULL beyond the last. */
static const struct roof_node_prediction *node(const struct roof_model_result *result, size_t i)
{
    return i < result->prediction.count ? &result->prediction.node[i] : NULL;
}

const char *roof_model_operator_name(const struct roof_model_result *result, size_t i)
{
    const struct roof_node_prediction *const n = node(result, i);
    return n == NULL ? NULL : n->node.name;
}

int64_t roof_model_operator_runs(const struct roof_model_result *result, size_t i)
{
    const struct roof_node_prediction *const n = node(result, i);
    return n == NULL ? 0 : n->node.count;
}

const struct roof_prediction *roof_model_operator(const struct roof_model_result *result, size_t i)
{
    const struct roof_node_prediction *const n = node(result, i);
    return n == NULL ? NULL : &n->prediction;
}
