// SPDX-License-Identifier: MIT
/* Reads the selection of an operator's formats: for `recommend` and for comparisons. */
#include "ask/recommend_read.h"

#include <string.h>

#include "base/base.h"

static enum roof_status read_formats(enum roof_precision out[ROOF_PRECISION_COUNT], size_t *count,
                                     const char *text, struct roof_error *error)
{
    *count = 0;
    if (strcmp(text, "all") == 0) {
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            out[(*count)++] = (enum roof_precision)p;
        }
        return ROOF_OK;
    }
    struct roof_values values;
    struct roof_input input = *roof_input(ROOF_INPUT_FORMATS);
    input.kind = ROOF_INPUT_PRECISION; /* a list of precisions, under the key of formats */
    TRY(roof_input_parse_list(&values, &input, text, error));
    const bool fits = values.count <= ROOF_PRECISION_COUNT;
    for (int64_t i = 0; fits && i < values.count; i++) {
        out[(*count)++] = (enum roof_precision)roof_values_at(&values, i);
    }
    roof_values_free(&values);
    return fits ? ROOF_OK
                : roof_error_set(error, ROOF_USAGE, ROOF_KEY("formats") " lists a format twice");
}

enum roof_status roof_read_recommend(struct roof_recommend_options *out,
                                     enum roof_precision formats[ROOF_PRECISION_COUNT],
                                     const struct roof_question *question, struct roof_error *error)
{
    const char *const loss = question->value[ROOF_INPUT_MAX_ACCURACY_LOSS];
    const char *const list = question->value[ROOF_INPUT_FORMATS];
    int64_t objective = ROOF_OBJECTIVE_BALANCED;
    int64_t ranking = ROOF_RANKING_IDEAL;
    *out = (struct roof_recommend_options)ROOF_RECOMMEND_INIT;
    if (roof_read_choice(&objective, question, ROOF_INPUT_OBJECTIVE, NULL) != ROOF_OK ||
        objective > ROOF_OBJECTIVE_TIME) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("objective") " of an operator must be balanced or time");
    }
    TRY(roof_read_choice(&ranking, question, ROOF_INPUT_BY, error));
    out->engine_id = question->value[ROOF_INPUT_ENGINE];
    if (out->engine_id != NULL &&
        (strchr(out->engine_id, ',') != NULL || strcmp(out->engine_id, "all") == 0)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("engine") " of an operator must be one id of roofline list engines");
    }
    if (loss != NULL) {
        TRY(roof_accuracy_find(&out->max_loss, loss, error));
    }
    if (list != NULL) {
        TRY(read_formats(formats, &out->format_count, list, error));
        out->formats = formats;
    }
    out->objective = (enum roof_objective)objective;
    out->ranking = (enum roof_ranking)ranking;
    out->native_only = roof_asked(question, ROOF_INPUT_NATIVE_ONLY);
    return ROOF_OK;
}
