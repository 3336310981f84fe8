// SPDX-License-Identifier: MIT
/* Answers `plot`: the roofs of devices, and dots for the operators of a grid or file. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/about.h"
#include "ask/asking.h"
#include "ask/curves.h"
#include "ask/draw.h"
#include "base/base.h"
#include "base/quantity.h"
#include "chart/chart.h"
#include "chart/chart_text.h"
#include "chart/svg.h"
#include "decide/grid.h"
#include "predict/prediction_fields.h"
#include "report/model_report.h"
#include "report/report.h"
#include "report/scenario_report.h"

/* The question. */
struct plot_input {
    struct roof_drawing_size size;
    double measured_s; /* 0: not given */
    size_t top;
    bool sparse;
    bool own_ceilings; /* draw all ceilings of a device */
    bool grid;         /* the question has dots of an operator or a model */
    bool devices;      /* the question names devices */
    bool l2;
    bool attainable;
    bool model;             /* the subject is a model, or records are about models */
    bool op;                /* the subject is an operator, or records are about that one */
    const char *from;       /* a file with dots; NULL: none */
    const char *model_name; /* NULL: none */
    const struct roof_texts *lines;
    struct roof_chart_ceilings ceilings;
};

/* The state of a chart in progress; large. */
struct plotting {
    struct roof_asking *asking;
    struct plot_input in;
    struct roof_grid grid;
    struct roof_known known;
    struct roof_scenario base; /* defaults for records */
    struct roof_records records;
    struct roof_chart chart;
    struct roof_text name;
    struct roof_text group;
    bool named; /* a record about an operator has a name */
    struct roof_about about;
    struct roof_text note; /* what the chart is about */
};

/* --- the question -------------------------------------------------------------------------- */

/* Returns true for inputs about operators or models, as opposed to devices. */
static bool is_of_dots(size_t number, bool attainable)
{
    const struct roof_input *const input = roof_input(number);
    return (input->field && number != ROOF_INPUT_SPARSE) || input->of != ROOF_OF_ALL ||
           number == ROOF_INPUT_EXPECTED || (number == ROOF_INPUT_CALIBRATION && !attainable);
}

/* Refuses sizes without an operator, whose name was probably forgotten, and a measured time for
 * several dots. */
static enum roof_status check_workload(const struct roof_asking *a, struct roof_error *error)
{
    const struct roof_question *const q = a->question;
    const bool from = roof_asking_has(a, ROOF_INPUT_FROM);
    const bool attainable = roof_asking_has(a, ROOF_INPUT_ATTAINABLE);
    char name[ROOF_INPUT_NAME_SIZE];
    if (from && roof_asking_has(a, ROOF_INPUT_MEASURED)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("measured_us") " cannot be combined with " ROOF_KEY("from"));
    }
    for (size_t i = 0; i < ROOF_INPUT_COUNT && !from && q->op == NULL && !q->model; i++) {
        if (roof_asking_has(a, i) && is_of_dots(i, attainable)) {
            return roof_error_set(error, ROOF_USAGE,
                                  "%s needs at least one dot: name an operator or a model (plot "
                                  "gemm, plot model NAME), or give " ROOF_KEY("from") " FILE",
                                  roof_input_marked(name, roof_input(i)));
        }
    }
    return ROOF_OK;
}

static enum roof_status read_input(struct plotting *p, struct roof_error *error)
{
    const struct roof_question *const q = p->asking->question;
    const char *const ceilings = q->value[ROOF_INPUT_CEILINGS];
    const char *const measured = q->value[ROOF_INPUT_MEASURED];
    struct plot_input *const in = &p->in;
    int64_t top = ROOF_GRAPH_MAX;
    TRY(check_workload(p->asking, error));
    TRY(roof_read_drawing_size(&in->size, p->asking, error));
    TRY(roof_read_integer(&top, q, ROOF_INPUT_TOP, error));
    if (measured != NULL) {
        TRY(roof_parse_time(&in->measured_s, measured, ROOF_KEY("measured_us"), error));
    }
    if (ceilings != NULL) {
        TRY(roof_chart_parse_ceilings(&in->ceilings, ceilings, error));
    }
    in->own_ceilings = ceilings == NULL;
    in->grid = q->op != NULL || q->model;
    in->model = q->model;
    in->op = q->op != NULL;
    in->devices = roof_asking_has(p->asking, ROOF_INPUT_HARDWARE);
    in->l2 = roof_asking_has(p->asking, ROOF_INPUT_L2);
    in->attainable = roof_asking_has(p->asking, ROOF_INPUT_ATTAINABLE);
    in->from = q->value[ROOF_INPUT_FROM];
    in->model_name = q->model_name;
    in->lines = &q->lines;
    in->top = (size_t)top;
    in->sparse = roof_asking_has(p->asking, ROOF_INPUT_SPARSE);
    p->chart.expected = roof_asking_has(p->asking, ROOF_INPUT_EXPECTED);
    p->chart.fold_below = roof_asking_has(p->asking, ROOF_INPUT_TOP) ? 0 : ROOF_SMALL_SHARE;
    if (p->asking->form.title != NULL) {
        roof_chart_name(p->chart.title, p->asking->form.title);
    }
    return ROOF_OK;
}

/* Reads the grid: devices, and dots if there are any. */
static enum roof_status read_grid(struct plotting *p, struct roof_error *error)
{
    const struct roof_question *const q = p->asking->question;
    struct roof_loans *const loans = &p->asking->loans;
    return p->in.grid && p->in.from == NULL ? roof_grid_open(&p->grid, loans, q, false, error)
                                            : roof_grid_devices(&p->grid, loans, q, false, error);
}

/* Reads the defaults for records. */
static enum roof_status read_records(struct plotting *p, struct roof_error *error)
{
    struct roof_question rest;
    roof_read_known(&p->known, &p->asking->loans, &rest, p->asking->question);
    TRY(roof_read_scenario(&p->base, &rest, error));
    p->base.formats_said = p->known.named;
    TRY(read_grid(p, error));
    return p->in.model ? roof_asking_draft(&p->grid.draft, &p->base, p->asking, error) : ROOF_OK;
}

static enum roof_status add_roof(struct plotting *p, const struct roof_hardware *hardware,
                                 struct roof_error *error)
{
    return roof_chart_add_roof(&p->chart, hardware, p->in.own_ceilings ? NULL : &p->in.ceilings,
                               p->in.sparse, error);
}

/* Adds the roofs of the named devices. */
static enum roof_status add_roofs(struct plotting *p, struct roof_error *error)
{
    for (size_t i = 0; i < p->grid.devices; i++) {
        TRY(add_roof(p, p->grid.device[i], error));
    }
    return ROOF_OK;
}

/* --- dots of a grid ------------------------------------------------------------------------ */

/* Names the axes with several values. Sizes of an operator name its dots, "m=16 n=64"; all others
 * name groups, ", batch 16", except the phase, which precedes them. */
static void put_axes(struct roof_text *out, const struct plotting *p, const void *asked, bool name)
{
    const bool model = p->grid.sweep.model != NULL;
    for (size_t i = 0; i < p->grid.sweep.axis_count; i++) {
        const struct roof_axis *const axis = &p->grid.sweep.axis[i];
        const struct roof_input *const input = axis->input;
        const bool size = !model && input->kind == ROOF_INPUT_INTEGER;
        if (axis->values.count == 1 || size != name || input == roof_input(ROOF_INPUT_PHASE)) {
            continue;
        }
        if (name) {
            roof_text_printf(out, "%s%s=", out->length == 0 ? "" : " ", input->option);
        } else {
            roof_text_printf(out, ", %s ", input->option);
        }
        if (model) {
            roof_axis_show(out, axis, asked);
        } else {
            roof_input_show(out, input, roof_input_get(asked, input));
        }
    }
}

/* Adds the dot of an operator. Its sizes make up its name, and the other axes its group. */
static enum roof_status add_operator(struct plotting *p, const struct roof_prediction *prediction,
                                     struct roof_error *error)
{
    struct roof_prediction with_time;
    if (p->in.measured_s > 0) {
        with_time = *prediction;
        roof_predict_measured(&with_time, p->in.measured_s);
        prediction = &with_time;
    }
    roof_text_put(&p->group, roof_operator_row(prediction->workload.op)->name);
    put_axes(&p->group, p, &prediction->workload, false);
    put_axes(&p->name, p, &prediction->workload, true);
    if (p->name.length == 0) {
        roof_report_workload(&p->name, &prediction->workload);
    }
    return p->name.failed || p->group.failed
               ? roof_no_memory(error)
               : roof_chart_add(&p->chart, prediction, p->name.data, p->group.data, 1, ROOF_UNKNOWN,
                                error);
}

/* Adds the dots for a phase of a request, in a group whose name ends with the phase. */
static enum roof_status add_phase(struct plotting *p, const struct roof_model_prediction *request,
                                  const struct roof_scenario *phase, const char *group,
                                  struct roof_error *error)
{
    struct roof_text name = ROOF_TEXT_INIT;
    struct roof_model_prediction *const one = malloc(sizeof *one);
    if (one == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status =
        roof_predict_model(one, request->model, phase, request->total.hardware, error);
    if (status == ROOF_OK) {
        roof_text_printf(&name, "%s: %s", group, one->phase);
        status = name.failed ? roof_no_memory(error)
                             : roof_chart_add_model(&p->chart, one, name.data, p->in.top, error);
    }
    roof_text_free(&name);
    free(one);
    return status;
}

/* Adds the dots of a model, which are its operators, grouped by the scenario. A request has those
 * of both phases: the prefill of its prompts, and a decode step at its end. */
static enum roof_status add_model(struct plotting *p, const struct roof_model_prediction *model,
                                  const char *group, struct roof_error *error)
{
    roof_about_add(&p->about, model, NULL);
    if (model->count == 0) {
        struct roof_scenario prefill;
        struct roof_scenario decode;
        roof_scenario_phases(&prefill, &decode, &model->scenario);
        TRY(add_phase(p, model, &decode, group, error));
        return add_phase(p, model, &prefill, group, error);
    }
    return roof_chart_add_model(&p->chart, model, group, p->in.top, error);
}

static enum roof_status on_point(void *context, const struct roof_prediction *prediction,
                                 const struct roof_model_prediction *model,
                                 struct roof_error *error)
{
    struct plotting *const p = context;
    roof_text_clear(&p->name);
    roof_text_clear(&p->group);
    if (model == NULL) {
        return add_operator(p, prediction, error);
    }
    if (p->grid.models > 1) {
        roof_text_printf(&p->group, "%s ", model->model->id);
    }
    roof_text_put(&p->group, model->phase);
    put_axes(&p->group, p, &model->scenario, false);
    return p->group.failed ? roof_no_memory(error) : add_model(p, model, p->group.data, error);
}

static enum roof_status add_grid(struct plotting *p, struct roof_error *error)
{
    uint64_t count = 0;
    TRY(read_grid(p, error));
    roof_asking_remark_grid(p->asking, &p->grid);
    TRY(add_roofs(p, error));
    TRY(roof_sweep_count(&count, &p->grid.sweep, error));
    if (count > ROOF_CHART_DOTS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "a chart has at most %d dots",
                              ROOF_CHART_DOTS_MAX);
    }
    if (p->in.measured_s > 0 && count > 1) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("measured_us") " is the time of one dot, and there are %" PRIu64
                                    ": " ROOF_KEY("from") " FILE has a time for each",
            count);
    }
    for (size_t i = 0; i < p->grid.sweep.axis_count && p->grid.sweep.model == NULL; i++) {
        const struct roof_axis *const axis = &p->grid.sweep.axis[i];
        p->chart.joined =
            p->chart.joined || (axis->values.count > 1 && axis->input->kind == ROOF_INPUT_INTEGER);
    }
    return roof_sweep_run(&p->grid.sweep, 0, count, on_point, p, error);
}

/* --- dots of a file ------------------------------------------------------------------------ */

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    struct plotting *const p = context;
    return roof_asking_known_model(p->asking, &p->known, out, name, layout, error);
}

static enum roof_status on_formats(void *context, const struct roof_named **out, const char *name,
                                   const char *model, struct roof_error *error)
{
    struct plotting *const p = context;
    return roof_asking_known_formats(p->asking, &p->known, out, name, model, error);
}

static void on_bad(void *context, const struct roof_error *error)
{
    const struct plotting *const p = context;
    roof_asking_bad_record(p->asking, &p->records, error);
}

/* Finds the cell of a carried column; "" if there is none. */
static const char *carried(const struct roof_records *records, const char *name)
{
    for (size_t i = 0; i < records->carried_count; i++) {
        if (strcmp(records->carried[i].name, name) == 0) {
            return records->carried[i].text;
        }
    }
    return "";
}

/* Finds a device: one from the question, which may be a file, or a known name. */
static enum roof_status find_device(struct plotting *p, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error)
{
    for (size_t i = 0; i < p->grid.devices; i++) {
        if (strcmp(p->grid.device[i]->id, name) == 0) {
            *out = p->grid.device[i];
            return ROOF_OK;
        }
    }
    return roof_known_hardware(&p->known, out, name, error);
}

/* Adds the dots of a model, in a group that the record names, or else its model, scenario and
 * weights. */
static enum roof_status add_model_record(struct plotting *p, const char *group,
                                         struct roof_error *error)
{
    const struct roof_model_prediction *const model = p->records.model_prediction;
    if (*group != '\0') {
        return add_model(p, model, group, error);
    }
    roof_text_clear(&p->group);
    if (p->in.model_name == NULL) {
        roof_text_printf(&p->group, "%s ", model->model->id);
    }
    roof_report_scenario(&p->group, model);
    roof_text_printf(&p->group, ", %s",
                     model->model->layout != NULL
                         ? model->model->layout
                         : roof_format(model->scenario.common.formats.weights)->name);
    return p->group.failed ? roof_no_memory(error) : add_model(p, model, p->group.data, error);
}

/* Writes the group of an operator whose record names none: "gemm, fp8_e4m3". */
static void put_group(struct roof_text *out, const struct roof_workload *w)
{
    roof_text_printf(out, "%s, %s", roof_operator_row(w->op)->name,
                     roof_format(w->formats.weights)->name);
}

/* Adds the dots of a prediction with the name of its record; name_dots names those without one. */
static enum roof_status add_dots(struct plotting *p, const struct roof_prediction *prediction,
                                 struct roof_error *error)
{
    const struct roof_records *const records = &p->records;
    const char *const name = carried(records, "name");
    const char *const group = carried(records, "group");
    if (records->model_prediction != NULL) {
        return add_model_record(p, *group != '\0' ? group : name, error);
    }
    const char *const what = roof_operator_row(prediction->workload.op)->name;
    p->named = p->named || *name != '\0';
    roof_text_clear(&p->group);
    put_group(&p->group, &prediction->workload);
    return p->group.failed
               ? roof_no_memory(error)
               : roof_chart_add(&p->chart, prediction, *name == '\0' ? what : name,
                                *group == '\0' ? p->group.data : group, 1, ROOF_UNKNOWN, error);
}

/* The dimensions in which the dots of each operator differ, and whether they differ in the format
 * of weights, which is part of the name of their group. */
struct differences {
    const struct roof_workload *first[ROOF_OPERATOR_COUNT];
    bool dimension[ROOF_OPERATOR_COUNT][ROOF_DIM_COUNT];
    bool weights[ROOF_OPERATOR_COUNT];
};

/* Returns the workload of a dot; NULL for one that belongs to a model. */
static const struct roof_workload *workload_of(const struct roof_chart_dot *dot)
{
    return isnan(dot->share) ? &dot->node.prediction.workload : NULL;
}

static void find_differences(struct differences *out, const struct roof_chart *chart)
{
    for (size_t i = 0; i < chart->dots; i++) {
        const struct roof_workload *const w = workload_of(&chart->dot[i]);
        if (w == NULL) {
            continue;
        }
        const struct roof_operator_row *const row = roof_operator_row(w->op);
        const struct roof_workload **const first = &out->first[w->op];
        *first = *first == NULL ? w : *first;
        out->weights[w->op] |= w->formats.weights != (*first)->formats.weights;
        for (int d = 0; d < row->dim_count; d++) {
            const struct roof_input *const input = &roof_dimensions[row->dims[d]];
            out->dimension[w->op][row->dims[d]] |=
                roof_input_get(w, input) != roof_input_get(*first, input);
        }
    }
}

/* Writes the dimensions in which a dot differs from others of its operator. */
static void put_differences(struct roof_text *out, const struct differences *differences,
                            const struct roof_workload *w)
{
    const struct roof_operator_row *const row = roof_operator_row(w->op);
    for (int d = 0; d < row->dim_count; d++) {
        if (differences->dimension[w->op][row->dims[d]]) {
            const struct roof_input *const input = &roof_dimensions[row->dims[d]];
            roof_text_printf(out, "%s%s=", out->length == 0 ? "" : " ", input->option);
            roof_input_show(out, input, roof_input_get(w, input));
        }
    }
}

/* Leaves the format out of the groups of operators that have one format only. */
static void name_groups(struct plotting *p, const struct differences *differences)
{
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const struct roof_workload *const w = differences->first[op];
        if (w == NULL || differences->weights[op]) {
            continue;
        }
        const size_t plain = roof_chart_find_group(&p->chart, roof_operator_row(w->op)->name);
        roof_text_clear(&p->group);
        put_group(&p->group, w);
        const size_t group =
            p->group.failed ? p->chart.groups : roof_chart_find_group(&p->chart, p->group.data);
        if (group < p->chart.groups && plain == p->chart.groups) {
            roof_chart_name(p->chart.group[group], roof_operator_row(w->op)->name);
        }
    }
}

/* Names groups, and, if no record has a name, the dots of operators by what differs between them.
 */
static enum roof_status name_dots(struct plotting *p, struct roof_error *error)
{
    struct differences differences = {.first = {NULL}};
    find_differences(&differences, &p->chart);
    name_groups(p, &differences);
    for (size_t i = 0; i < p->chart.dots && !p->named; i++) {
        struct roof_chart_dot *const dot = &p->chart.dot[i];
        const struct roof_workload *const w = workload_of(dot);
        roof_text_clear(&p->name);
        if (w != NULL) {
            put_differences(&p->name, &differences, w);
        }
        if (p->name.failed) {
            return roof_no_memory(error);
        }
        if (p->name.length > 0) {
            TRY(roof_chart_rename(dot, p->name.data, error));
        }
    }
    return p->group.failed ? roof_no_memory(error) : ROOF_OK;
}

static enum roof_status predict_record(const struct roof_prediction **out, struct plotting *p,
                                       struct roof_error *error)
{
    const struct roof_hardware *hardware = NULL;
    TRY(find_device(p, &hardware, p->records.hardware, error));
    if (roof_chart_find_roof(&p->chart, hardware->id) == p->chart.roofs) {
        TRY(add_roof(p, hardware, error));
    }
    return roof_records_predict(out, &p->records, hardware, error);
}

/* Adds the dots of a record. A bad record is reported to the listener and does not fail the answer.
 */
static enum roof_status add_record(struct plotting *p, struct roof_error *error)
{
    const struct roof_prediction *prediction = NULL;
    const enum roof_status status = predict_record(&prediction, p, error);
    if (status == ROOF_OK) {
        return add_dots(p, prediction, error);
    }
    if (status == ROOF_MEMORY) {
        return status;
    }
    roof_records_refuse(&p->records, error);
    return ROOF_OK;
}

static enum roof_status open_records(struct plotting *p, struct roof_error *error)
{
    TRY(read_records(p, error));
    if (p->in.devices) {
        TRY(add_roofs(p, error));
    }
    const struct roof_records_options how = {
        .base = &p->base,
        .kind = p->in.model ? ROOF_RECORDS_MODELS : ROOF_RECORDS_BOTH,
        .op = p->in.op ? p->base.common.op : ROOF_OPERATOR_COUNT,
        .hardware = p->grid.device[0]->id,
        .model = p->in.model_name,
        .context = p,
        .load_model = on_model,
        .formats = on_formats,
        .bad = on_bad};
    return roof_records_open(&p->records, p->in.from, &how, error);
}

/* Names the unread columns. The columns that sweeps of models print follow from the others, except
 * for a model with drafts. */
static enum roof_status tell_unread(const struct plotting *p, struct roof_error *error)
{
    const char *used[ROOF_FIELDS_MAX + 3] = {"name", "group", NULL};
    const struct roof_records *const r = &p->records;
    size_t count = 2;
    for (size_t i = 0; i < r->carried_count && count < ROOF_FIELDS_MAX + 2; i++) {
        const char *const name = r->carried[i].name;
        const bool drafts = strcmp(name, "draft_model") == 0 && *r->carried[i].text != '\0';
        if (!drafts && roof_model_prediction_has_key(name)) {
            used[count++] = name;
        }
    }
    used[count] = NULL;
    return roof_asking_carried(p->asking, "columns not used: ", r, used, error);
}

static enum roof_status add_file(struct plotting *p, struct roof_error *error)
{
    bool more = true;
    TRY(open_records(p, error));
    for (;;) {
        TRY(roof_records_next(&p->records, &more, error));
        if (!more) {
            break;
        }
        TRY(add_record(p, error));
    }
    TRY(name_dots(p, error));
    TRY(tell_unread(p, error));
    roof_asking_bad_records(p->asking, &p->records);
    if (p->records.count == 0) {
        return roof_error_at(error, ROOF_INVALID, p->records.name, 0, 0, "no records");
    }
    return p->records.bad < p->records.count
               ? ROOF_OK
               : roof_error_at(error, ROOF_INVALID, p->records.name, 0, 0,
                               "none of the records can be drawn");
}

/* --- output -------------------------------------------------------------------------------- */

/* Writes the gnuplot script, or the image. */
static enum roof_status write_image(struct roof_text *out, const struct plotting *p,
                                    struct roof_error *error)
{
    struct roof_text script = ROOF_TEXT_INIT;
    struct roof_text summary = ROOF_TEXT_INIT;
    const struct roof_drawing_size *const size = &p->in.size;
    enum roof_status status = roof_chart_gnuplot(&script, &p->chart, roof_asking_image(p->asking),
                                                 (int)size->width, (int)size->height, error);
    if (status == ROOF_OK) {
        roof_chart_summary(&summary, &p->chart);
        status = roof_asking_draw(out, p->asking, &script, p->chart.title, &summary, error);
    }
    roof_text_free(&script);
    roof_text_free(&summary);
    return status;
}

static enum roof_status write_chart(struct roof_text *out, const struct plotting *p,
                                    struct roof_error *error)
{
    const enum roof_answer_format format = p->asking->form.format;
    if (format == ROOF_TEXT) {
        const struct roof_chart_look look = roof_drawing_look(&p->in.size);
        return roof_chart_text(out, &p->chart, &look, error);
    }
    if (format == ROOF_JSON) {
        roof_chart_json(out, &p->chart);
        return ROOF_OK;
    }
    return write_image(out, p, error);
}

/* Writes the names of the devices, their ids or their number: the first that a title has room for.
 */
static void put_devices(struct roof_text *out, const struct roof_chart *chart)
{
    struct roof_text list = ROOF_TEXT_INIT;
    bool fits = chart->roofs == 0;
    for (int ids = 0; ids < 2 && !fits; ids++) {
        roof_text_clear(&list);
        for (size_t i = 0; i < chart->roofs; i++) {
            const struct roof_hardware *const h = chart->roof[i].hardware;
            roof_text_printf(&list, "%s%s", i == 0 ? "" : ", ", ids == 0 ? h->name : h->id);
        }
        fits = out->length + list.length < ROOF_CHART_NAME_SIZE || chart->roofs == 1;
    }
    if (!fits) {
        roof_text_clear(&list);
        roof_text_printf(&list, "%zu devices", chart->roofs);
    }
    roof_text_put(out, list.data == NULL ? "" : list.data);
    out->failed |= list.failed;
    roof_text_free(&list);
}

/* Gives an image a title, even if the question has none. */
static enum roof_status name_chart(struct plotting *p, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    if (p->chart.title[0] != '\0') {
        return ROOF_OK;
    }
    if (p->in.model_name != NULL) {
        roof_text_printf(&text, "%s on ", p->in.model_name);
    }
    put_devices(&text, &p->chart);
    const enum roof_status status = text.failed ? roof_no_memory(error) : ROOF_OK;
    roof_chart_name(p->chart.title, text.failed || text.length == 0 ? "" : text.data);
    roof_text_free(&text);
    return status;
}

/* Adds roofs and dots, then lines. */
static enum roof_status make_chart(struct plotting *p, struct roof_error *error)
{
    TRY(read_input(p, error));
    if (p->in.from != NULL) {
        TRY(add_file(p, error));
    } else if (p->in.grid) {
        TRY(add_grid(p, error));
    } else {
        TRY(read_grid(p, error));
        TRY(add_roofs(p, error));
    }
    for (int i = 0; i < p->in.lines->count; i++) {
        TRY(roof_chart_add_line(&p->chart, p->in.lines->value[i], error));
    }
    TRY(roof_chart_add_power(&p->chart, error));
    if (p->in.l2) {
        TRY(roof_chart_add_l2(&p->chart, error));
    }
    if (p->in.attainable) {
        TRY(roof_chart_add_attainable(&p->chart, error));
    }
    return name_chart(p, error);
}

/* Sets the note on scenarios and formats. */
static enum roof_status tell_about(struct plotting *p, struct roof_error *error)
{
    roof_about_put(&p->note, &p->about);
    p->chart.about = p->note.length == 0 ? NULL : p->note.data;
    return p->note.failed ? roof_no_memory(error) : ROOF_OK;
}

static enum roof_status answer(struct roof_text *out, struct plotting *p, struct roof_error *error)
{
    TRY(make_chart(p, error));
    TRY(tell_about(p, error));
    TRY(write_chart(out, p, error));
    TRY(roof_asking_write(p->asking, out, error));
    *error = (struct roof_error){.status = p->records.bad > 0 ? ROOF_INVALID : ROOF_OK};
    return error->status;
}

enum roof_status roof_ask_plot(struct roof_asking *a, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    int64_t kind;
    TRY(roof_read_chart(&kind, a->question, false, error));
    if (kind != ROOF_CHART_ROOFLINE) {
        return roof_ask_curves(a, (enum roof_chart_kind)kind, error);
    }
    struct plotting *const p = calloc(1, sizeof *p);
    if (p == NULL) {
        return roof_no_memory(error);
    }
    p->asking = a;
    roof_chart_init(&p->chart);
    const enum roof_status status = answer(&text, p, error);
    roof_records_close(&p->records);
    roof_chart_free(&p->chart);
    roof_text_free(&p->name);
    roof_text_free(&p->group);
    roof_about_free(&p->about);
    roof_text_free(&p->note);
    roof_text_free(&text);
    roof_grid_close(&p->grid);
    roof_known_free(&p->known);
    free(p);
    return status;
}
