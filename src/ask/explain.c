// SPDX-License-Identifier: MIT
/* Answers `explain` A,B: why one device or format is faster than another. */
#include "ask/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/recommend.h"
#include "base/base.h"
#include "roofline/model_report.h"
#include "roofline/report.h"
#include "roofline/speedup_report.h"

/* One of the two: a device, a format, or DEVICE:FORMAT. */
struct side {
    char text[ROOF_SIDE_SIZE];
    const char *device; /* in text; NULL: that of the question */
    enum roof_precision format;
    char name[ROOF_SIDE_SIZE];
    const struct roof_hardware *hardware;
    const struct roof_model *model;
    const struct roof_model *draft;
    struct roof_scenario scenario;
    struct roof_prediction prediction;
    struct roof_model_prediction of_model;
};

/* Both sides and what comes of them; large. */
struct comparison {
    struct side side[2];
    struct roof_speedup speedup;
    struct roof_recommendation recommendation;
    bool recommended; /* an operator runs in the format that would be recommended */
    int64_t top;
};

enum roof_status roof_read_pair(char side[2][ROOF_SIDE_SIZE], const struct roof_asking *a,
                                struct roof_error *error)
{
    const char *const text = a->question->value[ROOF_INPUT_EXPLAIN];
    const char *const comma = strchr(text, ',');
    if (comma == NULL || comma == text || comma[1] == '\0' || strchr(comma + 1, ',') != NULL ||
        strlen(text) >= ROOF_SIDE_SIZE) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("explain") " takes two devices or two formats, as A,B: not '%s'", text);
    }
    if (roof_asking_has(a, ROOF_INPUT_TOP) && a->format != ROOF_TEXT) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("top") " with " ROOF_KEY("explain") " goes with " ROOF_KEY("format") " text");
    }
    (void)snprintf(side[0], ROOF_SIDE_SIZE, "%.*s", (int)(comma - text), text);
    (void)snprintf(side[1], ROOF_SIDE_SIZE, "%s", comma + 1);
    return ROOF_OK;
}

/* Reads DEVICE, FORMAT or DEVICE:FORMAT; cuts the text. */
static void read_side(struct side *out)
{
    char *const colon = strrchr(out->text, ':');
    out->format = ROOF_PRECISION_AUTO;
    if (roof_precision_find(&out->format, out->text, NULL) == ROOF_OK) {
        return;
    }
    if (colon != NULL && roof_precision_find(&out->format, colon + 1, NULL) == ROOF_OK) {
        *colon = '\0';
    }
    out->device = out->text;
}

/* Refuses what a side names and the question names, too. */
static enum roof_status check_sides(const struct comparison *c, const struct roof_asking *a,
                                    struct roof_error *error)
{
    const char *const text = a->question->value[ROOF_INPUT_EXPLAIN];
    const struct side *const first = &c->side[0];
    const struct side *const second = &c->side[1];
    const bool devices = first->device != NULL;
    const bool formats = first->format != ROOF_PRECISION_AUTO;
    if (devices != (second->device != NULL) || formats != (second->format != ROOF_PRECISION_AUTO)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("explain") " %s: both are devices, both formats, or both "
                                "DEVICE:FORMAT; see roofline list hardware and list precisions",
            text);
    }
    if (devices && roof_asking_has(a, ROOF_INPUT_HARDWARE)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("explain") " %s names the devices: leave out " ROOF_KEY("hardware"), text);
    }
    if (formats &&
        (roof_asking_has(a, ROOF_INPUT_PRECISION_BOTH) || roof_asking_has(a, ROOF_INPUT_WEIGHTS) ||
         roof_asking_has(a, ROOF_INPUT_LAYOUT))) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("explain") " %s names the formats: leave out " ROOF_KEY(
                                  "precision") ", " ROOF_KEY("weights") " and " ROOF_KEY("layout"),
                              text);
    }
    return ROOF_OK;
}

static enum roof_status read_sides(struct comparison *c, const struct roof_asking *a,
                                   struct roof_error *error)
{
    char side[2][ROOF_SIDE_SIZE];
    TRY(roof_read_pair(side, a, error));
    for (int i = 0; i < 2; i++) {
        memcpy(c->side[i].text, side[i], ROOF_SIDE_SIZE);
        read_side(&c->side[i]);
    }
    return check_sides(c, a, error);
}

/* Refuses inputs that a comparison leaves nothing to do for. */
static enum roof_status check_inputs(const struct comparison *c, const struct roof_asking *a,
                                     struct roof_error *error)
{
    static const size_t alone[] = {ROOF_INPUT_WHY, ROOF_INPUT_TILING, ROOF_INPUT_MEASURED};
    /* Where the sides name the formats, nothing is chosen. */
    static const size_t choosing[] = {ROOF_INPUT_FORMATS, ROOF_INPUT_OBJECTIVE, ROOF_INPUT_BY,
                                      ROOF_INPUT_MAX_ACCURACY_LOSS};
    const bool named = c->side[0].format != ROOF_PRECISION_AUTO;
    char name[ROOF_INPUT_NAME_SIZE];
    TRY(roof_asking_refuse(a, alone, COUNT(alone), ROOF_KEY("explain"), error));
    for (size_t i = 0; i < COUNT(choosing) && named; i++) {
        if (roof_asking_has(a, choosing[i])) {
            return roof_error_set(error, ROOF_USAGE,
                                  ROOF_KEY("explain") " %s names the formats: leave out %s",
                                  a->question->value[ROOF_INPUT_EXPLAIN],
                                  roof_input_marked(name, roof_input(choosing[i])));
        }
    }
    return ROOF_OK;
}

/* --- predictions --------------------------------------------------------------------------- */

/* Finds what would be recommended on the device, or how one format would run there. */
static enum roof_status recommend_side(struct comparison *c, struct side *side,
                                       const struct roof_accuracy *accuracy,
                                       const struct roof_recommend_options *how,
                                       struct roof_error *error)
{
    struct roof_recommendation *const r = &c->recommendation;
    const enum roof_status status =
        roof_recommend(r, &side->scenario.common, side->hardware, accuracy, how, error);
    if (status != ROOF_OK) {
        return status == ROOF_UNSATISFIED
                   ? roof_error_set(error, status, "%s", r->candidate[0].reason)
                   : status;
    }
    side->prediction = r->candidate[0].prediction;
    side->format = r->candidate[0].format;
    return ROOF_OK;
}

static enum roof_status choose_side(struct comparison *c, struct side *side,
                                    const struct roof_asking *a, struct roof_error *error)
{
    struct roof_recommend_options how;
    enum roof_precision formats[ROOF_PRECISION_COUNT];
    struct roof_accuracy accuracy = {0};
    TRY(roof_read_recommend(&how, formats, a->question, error));
    if (side->format != ROOF_PRECISION_AUTO) {
        how.formats = &side->format;
        how.format_count = 1;
        how.max_loss = ROOF_ACCURACY_SEVERE;
    }
    TRY(roof_accuracy_load(&accuracy, error));
    const enum roof_status status = recommend_side(c, side, &accuracy, &how, error);
    roof_accuracy_free(&accuracy);
    return status;
}

static enum roof_status predict_model(struct side *side, struct roof_asking *a,
                                      const struct roof_question *question,
                                      struct roof_error *error)
{
    if (question->model_name == NULL) {
        return roof_which_model(error);
    }
    TRY(roof_asking_model(&side->model, a, question, question->model_name, error));
    TRY(roof_asking_draft(&side->draft, &side->scenario, a, error));
    return roof_predict_model(&side->of_model, side->model, &side->scenario, side->hardware, error);
}

/* Reads and predicts one side: the question with its device and its format. */
static enum roof_status predict_side(struct comparison *c, struct side *side, struct roof_asking *a,
                                     struct roof_error *error)
{
    struct roof_question question;
    roof_question_borrow(&question, a->question);
    if (side->format != ROOF_PRECISION_AUTO && !c->recommended) {
        question.value[ROOF_INPUT_PRECISION_BOTH] = roof_format(side->format)->name;
    }
    TRY(roof_read_scenario(&side->scenario, &question, error));
    TRY(roof_asking_hardware(&side->hardware, a, side->device, error));
    TRY(question.model ? predict_model(side, a, &question, error)
        : c->recommended
            ? choose_side(c, side, a, error)
            : roof_predict(&side->prediction, &side->scenario.common, side->hardware, error));
    const bool format = side->format != ROOF_PRECISION_AUTO;
    const bool device = side->device != NULL || !format;
    (void)snprintf(side->name, sizeof side->name, "%s%s%s", device ? side->hardware->id : "",
                   device && format ? ":" : "", format ? roof_format(side->format)->name : "");
    return ROOF_OK;
}

/* --- documents ----------------------------------------------------------------------------- */

/* Puts "gemm m=1 n=4096 k=4096, ". */
static void put_workload(struct roof_text *out, const struct side *side)
{
    if (side->model == NULL) {
        roof_report_workload(out, &side->prediction.workload);
    } else {
        roof_text_printf(out, "%s: ", side->model->id);
        roof_model_report_scenario(out, &side->of_model);
    }
    roof_text_put(out, ", ");
}

/* Puts "a: weights fp16, ... on h100-sxm; 132 GiB do not fit". */
static void put_side(struct roof_text *out, const struct side *side)
{
    const struct roof_model_prediction *const p = &side->of_model;
    char memory[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "\n%s: ", side->name);
    roof_model_report_formats(out, p);
    roof_text_printf(out, ", on %s", side->hardware->id);
    if (p->fits == ROOF_FIT_NO) {
        roof_text_printf(out, "; does not fit: %s",
                         roof_format_quantity(memory,
                                              p->weights_memory_bytes + p->kv_cache_bytes +
                                                  p->activation_memory_bytes,
                                              ROOF_UNIT_CAPACITY));
    }
}

static void write_text(struct roof_text *out, const struct comparison *c)
{
    put_workload(out, &c->side[0]);
    roof_speedup_report_text(out, &c->speedup, (size_t)c->top);
    if (c->side[0].model != NULL) {
        put_side(out, &c->side[0]);
        put_side(out, &c->side[1]);
        roof_text_put(out, "\n");
    }
}

static enum roof_status write_comparison(struct roof_text *out, const struct comparison *c,
                                         const struct roof_asking *a, struct roof_error *error)
{
    const struct roof_speedup *const speedup = &c->speedup;
    struct roof_table table;
    TRY(roof_table_open(&table, roof_asking_rows(a), ROOF_TABLE_SPEEDUPS, ROOF_OPERATOR_GEMM,
                        a->question->value[ROOF_INPUT_COLUMNS], error));
    if (a->format == ROOF_TEXT) {
        write_text(out, c);
    } else if (a->format == ROOF_JSON) {
        roof_speedup_report_json(out, speedup);
        roof_text_put(out, "\n");
    } else {
        roof_table_begin(&table, out);
        roof_table_row(&table, out, &speedup->total);
        for (size_t i = 0; i < speedup->count; i++) {
            roof_table_row(&table, out, &speedup->row[i]);
        }
        roof_table_end(&table, out);
    }
    return ROOF_OK;
}

static enum roof_status answer(struct roof_text *out, struct comparison *c, struct roof_asking *a,
                               struct roof_error *error)
{
    struct roof_speedup_side pair[2];
    TRY(read_sides(c, a, error));
    TRY(check_inputs(c, a, error));
    for (int i = 0; i < 2; i++) {
        struct side *const s = &c->side[i];
        TRY(predict_side(c, s, a, error));
        pair[i] = (struct roof_speedup_side){s->name, &s->prediction,
                                             s->model == NULL ? NULL : &s->of_model};
    }
    TRY(roof_speedup(&c->speedup, &pair[0], &pair[1], error));
    TRY(roof_read_integer(&c->top, a->question, ROOF_INPUT_TOP, error));
    return write_comparison(out, c, a, error);
}

enum roof_status roof_ask_explain(struct roof_text *out, struct roof_asking *a, bool recommended,
                                  struct roof_error *error)
{
    struct comparison *const c = calloc(1, sizeof *c);
    if (c == NULL) {
        return roof_no_memory(error);
    }
    c->recommended = recommended;
    c->top = ROOF_TOP_DEFAULT;
    const enum roof_status status = answer(out, c, a, error);
    free(c);
    return status;
}
