// SPDX-License-Identifier: MIT
/* Answers `predict` on several devices, side by side. */
#include <stdlib.h>

#include "ask/asking.h"
#include "base/base.h"
#include "decide/grid.h"
#include "predict/predict_sizes.h"
#include "report/model_report.h"
#include "report/report.h"
#include "report/sides_report.h"

/* The question, and its answers. */
struct sides {
    struct roof_grid devices; /* without axes, for its list of devices */
    struct roof_subject subject;
    struct roof_side side[ROOF_SIDES_MAX];
    struct roof_prediction prediction[ROOF_SIDES_MAX]; /* of an operator */
    struct roof_prediction apart[ROOF_SIDES_MAX];      /* without fusion, for a fused operator */
    bool fused;
    struct model_side {
        struct roof_model_prediction prediction;
        struct roof_limits limits;
    } * of_model; /* an array, because it is large */
};

static enum roof_status read_input(struct sides *s, struct roof_asking *a, struct roof_error *error)
{
    TRY(roof_grid_devices(&s->devices, &a->loans, a->question, roof_asking_bounds_only(a), error));
    if (s->devices.devices > ROOF_SIDES_MAX) {
        return roof_error_set(error, ROOF_USAGE,
                              "at most %d devices can be shown side by side, not %zu; roofline "
                              "sweep prints a row for each",
                              ROOF_SIDES_MAX, s->devices.devices);
    }
    return roof_asking_subject(&s->subject, NULL, NULL, 0, a, error);
}

static enum roof_status predict_side(struct sides *s, size_t i, struct roof_asking *a,
                                     struct roof_error *error)
{
    const struct roof_hardware *const device = s->devices.device[i];
    struct roof_side *const side = &s->side[i];
    if (s->subject.model == NULL) {
        side->prediction = &s->prediction[i];
        TRY(roof_predict(&s->prediction[i], &s->subject.scenario.common, device, error));
        s->fused = roof_operator_row(s->subject.scenario.common.op)->fuse_count > 0;
        if (s->fused) {
            TRY(roof_predict_apart(&s->apart[i], &s->prediction[i], error));
        }
    } else {
        struct model_side *const m = &s->of_model[i];
        side->of_model = &m->prediction;
        side->prediction = &m->prediction.total;
        side->limits = &m->limits;
        TRY(roof_predict_model(&m->prediction, s->subject.model, &s->subject.scenario, device,
                               error));
        TRY(roof_model_limits(&m->limits, &m->prediction, &s->subject.scenario, error));
        TRY(roof_model_time_room(&m->limits, &m->prediction, &s->subject.scenario, error));
    }
    return a->form.document ? roof_read_product(&side->product, &a->loans, device, error) : ROOF_OK;
}

static void put_json(struct roof_text *out, const struct sides *s)
{
    for (size_t i = 0; i < s->devices.devices; i++) {
        const struct roof_side *const side = &s->side[i];
        roof_text_put(out, i == 0 ? "[" : ",");
        if (side->of_model != NULL) {
            roof_model_report_json(out, side->of_model, side->limits, side->product, NULL);
        } else {
            const struct roof_report_beside beside = {.product = side->product,
                                                      .apart = s->fused ? &s->apart[i] : NULL};
            roof_report_json(out, side->prediction, &beside);
        }
    }
    roof_text_put(out, "]\n");
}

/* Opens the table, which checks the columns. */
static enum roof_status check_output(struct roof_table *table, const struct sides *s,
                                     const struct roof_form *form, struct roof_error *error)
{
    return roof_table_open(table, form->rows,
                           s->subject.model == NULL ? ROOF_TABLE_PREDICTIONS
                                                    : ROOF_TABLE_MODEL_PREDICTIONS,
                           s->subject.scenario.common.op, form->columns, error);
}

static void write_sides(struct roof_text *out, struct roof_table *table, const struct sides *s,
                        const struct roof_form *form)
{
    if (form->report) {
        roof_report_sides(out, s->side, s->devices.devices);
        return;
    }
    if (form->format == ROOF_JSON) {
        put_json(out, s);
        return;
    }
    roof_table_begin(table, out);
    for (size_t i = 0; i < s->devices.devices; i++) {
        if (s->subject.model == NULL) {
            roof_table_prediction(table, out, s->side[i].prediction);
        } else {
            roof_table_model_prediction(table, out, s->side[i].of_model);
        }
    }
    roof_table_end(table, out);
}

static enum roof_status answer(struct roof_text *out, struct sides *s, struct roof_asking *a,
                               struct roof_error *error)
{
    struct roof_table table;
    TRY(read_input(s, a, error));
    TRY(check_output(&table, s, &a->form, error));
    if (s->subject.model != NULL) {
        s->of_model = calloc(ROOF_SIDES_MAX, sizeof *s->of_model);
        if (s->of_model == NULL) {
            return roof_no_memory(error);
        }
    }
    for (size_t i = 0; i < s->devices.devices; i++) {
        TRY(predict_side(s, i, a, error));
    }
    write_sides(out, &table, s, &a->form);
    return ROOF_OK;
}

enum roof_status roof_ask_sides(struct roof_text *out, struct roof_asking *a,
                                struct roof_error *error)
{
    struct sides *const s = calloc(1, sizeof *s);
    if (s == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = answer(out, s, a, error);
    free(s->of_model);
    free(s);
    return status;
}
