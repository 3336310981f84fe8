// SPDX-License-Identifier: MIT
/* Answers `plot`: the roofs of devices, and dots for what a grid or a file asks for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "base/quantity.h"
#include "chart/chart.h"
#include "chart/chart_text.h"
#include "chart/svg.h"
#include "decide/grid.h"
#include "report/report.h"

#define COLUMNS_DEFAULT 100
#define WIDTH_DEFAULT 1200
#define HEIGHT_DEFAULT 800
/* Operators of a smaller share of the time share one line, unless --top chooses. */
#define FOLD_BELOW 0.01

/* The choices of `charset`; a text chart has characters of Unicode unless ascii is asked for. */
enum charset { AUTO, UNICODE, ASCII };

/* The question. */
struct plot_input {
    int64_t width; /* 0: not given */
    int64_t height;
    int64_t charset;
    double measured_s; /* 0: not given */
    size_t top;
    bool sparse;
    bool own_ceilings; /* all that a device has */
    struct roof_chart_ceilings ceilings;
};

/* The state while the chart is made; large. */
struct plotting {
    struct roof_asking *asking;
    struct plot_input in;
    struct roof_grid grid;
    struct roof_known known;
    struct roof_scenario base; /* what a record does not say */
    struct roof_records records;
    struct roof_chart chart;
    struct roof_text name;
    struct roof_text group;
};

/* --- what is asked ------------------------------------------------------------------------- */

/* True for inputs that are about operators or models, and not about devices. */
static bool is_of_dots(const struct roof_asking *a, size_t number)
{
    const struct roof_input *const input = roof_input(number);
    return (input->field && number != ROOF_INPUT_SPARSE) || input->of != ROOF_OF_ALL ||
           number == ROOF_INPUT_EXPECTED ||
           (number == ROOF_INPUT_CALIBRATION && !roof_asking_has(a, ROOF_INPUT_ATTAINABLE));
}

/* Refuses sizes without an operator, which would be those of a forgotten word, and a measured time
 * for several dots. */
static enum roof_status check_workload(const struct roof_asking *a, struct roof_error *error)
{
    const struct roof_question *const q = a->question;
    const bool from = roof_asking_has(a, ROOF_INPUT_FROM);
    char name[ROOF_INPUT_NAME_SIZE];
    if (from && roof_asking_has(a, ROOF_INPUT_MEASURED)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("measured_us") " does not go with " ROOF_KEY("from"));
    }
    for (size_t i = 0; i < ROOF_INPUT_COUNT && !from && q->op == NULL && !q->model; i++) {
        if (roof_asking_has(a, i) && is_of_dots(a, i)) {
            return roof_error_set(error, ROOF_USAGE,
                                  "%s is of dots, and there are none: name an operator or a model "
                                  "(plot gemm, plot model NAME), or give " ROOF_KEY("from") " FILE",
                                  roof_input_marked(name, roof_input(i)));
        }
    }
    return ROOF_OK;
}

/* Reads WIDTH[xHEIGHT]; a text chart has a width alone. */
static enum roof_status read_size(struct plot_input *in, const struct roof_asking *a,
                                  struct roof_error *error)
{
    const char *const text = a->question->value[ROOF_INPUT_SIZE];
    const bool columns = a->format == ROOF_TEXT;
    const int64_t least = columns ? ROOF_CHART_COLUMNS_MIN : ROOF_CHART_WIDTH_MIN;
    const int64_t most = columns ? ROOF_CHART_COLUMNS_MAX : ROOF_CHART_PIXELS_MAX;
    char width[24];
    if (text == NULL) {
        return ROOF_OK;
    }
    const size_t length = strcspn(text, "x");
    const char *const times = text[length] == '\0' ? NULL : text + length;
    if (length >= sizeof width) {
        return roof_error_set(error, ROOF_USAGE, ROOF_KEY("size") " is WIDTHxHEIGHT, not '%s'",
                              text);
    }
    snprintf(width, sizeof width, "%.*s", (int)length, text);
    TRY(roof_parse_integer(&in->width, width,
                           columns ? ROOF_KEY("size") " of a text chart"
                                   : "the width of " ROOF_KEY("size"),
                           least, most, error));
    if (times != NULL && columns) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("size") " of a text chart is its columns alone");
    }
    return times == NULL
               ? ROOF_OK
               : roof_parse_integer(&in->height, times + 1, "the height of " ROOF_KEY("size"),
                                    ROOF_CHART_HEIGHT_MIN, most, error);
}

static enum roof_status read_input(struct plotting *p, struct roof_error *error)
{
    const struct roof_question *const q = p->asking->question;
    const char *const ceilings = q->value[ROOF_INPUT_CEILINGS];
    const char *const measured = q->value[ROOF_INPUT_MEASURED];
    struct plot_input *const in = &p->in;
    int64_t top = ROOF_GRAPH_MAX;
    TRY(check_workload(p->asking, error));
    TRY(read_size(in, p->asking, error));
    TRY(roof_read_choice(&in->charset, q, ROOF_INPUT_CHARSET, error));
    TRY(roof_read_integer(&top, q, ROOF_INPUT_TOP, error));
    if (measured != NULL) {
        TRY(roof_parse_time(&in->measured_s, measured, ROOF_KEY("measured_us"), error));
    }
    if (ceilings != NULL) {
        TRY(roof_chart_parse_ceilings(&in->ceilings, ceilings, error));
    }
    in->own_ceilings = ceilings == NULL;
    in->top = (size_t)top;
    in->sparse = roof_asking_has(p->asking, ROOF_INPUT_SPARSE);
    p->chart.expected = roof_asking_has(p->asking, ROOF_INPUT_EXPECTED);
    p->chart.fold_below = roof_asking_has(p->asking, ROOF_INPUT_TOP) ? 0 : FOLD_BELOW;
    if (q->value[ROOF_INPUT_TITLE] != NULL) {
        roof_chart_name(p->chart.title, q->value[ROOF_INPUT_TITLE]);
    }
    return ROOF_OK;
}

static enum roof_status add_roof(struct plotting *p, const struct roof_hardware *hardware,
                                 struct roof_error *error)
{
    return roof_chart_add_roof(&p->chart, hardware, p->in.own_ceilings ? NULL : &p->in.ceilings,
                               p->in.sparse, error);
}

/* Adds the roofs of the devices that the question names. */
static enum roof_status add_roofs(struct plotting *p, struct roof_error *error)
{
    for (size_t i = 0; i < p->grid.devices; i++) {
        TRY(add_roof(p, p->grid.device[i], error));
    }
    return ROOF_OK;
}

/* --- dots of a grid ------------------------------------------------------------------------ */

/* Names the axes with several values: the sizes of an operator name its dots, "m=16 n=64"; all
 * others but the phase, which they follow, name groups: ", batch 16". */
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
        roof_input_show(out, input, roof_input_get(asked, input));
    }
}

/* Adds the dot of an operator. Dots of an operator are named by their sizes and grouped by the
 * rest. */
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

/* Adds the dots of a model, which are its operators, grouped by the scenario. */
static enum roof_status add_model(struct plotting *p, const struct roof_model_prediction *model,
                                  const char *group, struct roof_error *error)
{
    if (model->count == 0) {
        return roof_error_set(error, ROOF_USAGE,
                              "a request has no operators of one pass: plot it with " ROOF_KEY(
                                  "phase") " decode,prefill and " ROOF_KEY("context"));
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
    TRY(roof_grid_open(&p->grid, &p->asking->loans, p->asking->question, false, error));
    for (size_t i = 0; i < p->grid.models; i++) {
        roof_asking_remark(p->asking, p->grid.model[i]);
    }
    if (p->grid.draft != NULL) {
        roof_asking_remark(p->asking, p->grid.draft);
    }
    TRY(add_roofs(p, error));
    TRY(roof_sweep_count(&count, &p->grid.sweep, error));
    if (count > ROOF_CHART_DOTS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "a chart has at most %d dots",
                              ROOF_CHART_DOTS_MAX);
    }
    if (p->in.measured_s > 0 && count > 1) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("measured_us") " is the time of one dot, not of %" PRIu64
                                    ": " ROOF_KEY("from") " FILE takes a time for "
                                                          "each",
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

static void on_bad(void *context, const struct roof_error *error)
{
    const struct plotting *const p = context;
    roof_asking_bad_record(p->asking, &p->records, error);
}

/* Finds the cell of a column that is carried through; "" without it. */
static const char *carried(const struct roof_records *records, const char *name)
{
    for (size_t i = 0; i < records->carried_count; i++) {
        if (strcmp(records->carried[i].name, name) == 0) {
            return records->carried[i].text;
        }
    }
    return "";
}

/* Finds a device: one that the question names, which may be a file, or one known by name. */
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

/* Adds the dots of a prediction, named as the record says. */
static enum roof_status add_dots(struct plotting *p, const struct roof_prediction *prediction,
                                 struct roof_error *error)
{
    const struct roof_records *const records = &p->records;
    const char *const name = carried(records, "name");
    const char *const group = carried(records, "group");
    const char *const what = records->model_prediction != NULL
                                 ? records->model_prediction->phase
                                 : roof_operator_row(prediction->workload.op)->name;
    if (records->model_prediction != NULL) {
        return add_model(p, records->model_prediction,
                         *group != '\0'  ? group
                         : *name != '\0' ? name
                                         : what,
                         error);
    }
    return roof_chart_add(&p->chart, prediction, *name == '\0' ? what : name,
                          *group == '\0' ? what : group, 1, ROOF_UNKNOWN, error);
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

/* Adds the dots of one record. A bad record is reported to the listener and is no failure. */
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
    const struct roof_question *const q = p->asking->question;
    TRY(roof_read_scenario(&p->base, q, error));
    TRY(roof_grid_devices(&p->grid, &p->asking->loans, q, false, error));
    if (q->model) {
        TRY(roof_asking_draft(&p->grid.draft, &p->base, p->asking, error));
    }
    if (roof_asking_has(p->asking, ROOF_INPUT_HARDWARE)) {
        TRY(add_roofs(p, error));
    }
    const struct roof_records_options how = {
        .base = &p->base,
        .kind = q->model ? ROOF_RECORDS_MODELS : ROOF_RECORDS_BOTH,
        .op = q->op == NULL ? ROOF_OPERATOR_COUNT : p->base.common.op,
        .hardware = p->grid.device[0]->id,
        .model = q->model_name,
        .context = p,
        .load_model = on_model,
        .bad = on_bad};
    return roof_records_open(&p->records, q->value[ROOF_INPUT_FROM], &how, error);
}

static enum roof_status add_file(struct plotting *p, struct roof_error *error)
{
    static const char *const used[] = {"name", "group", NULL};
    bool more = true;
    TRY(open_records(p, error));
    for (;;) {
        TRY(roof_records_next(&p->records, &more, error));
        if (!more) {
            break;
        }
        TRY(add_record(p, error));
    }
    TRY(roof_asking_carried(p->asking, "not read: ", &p->records, used, error));
    roof_asking_bad_records(p->asking, &p->records);
    if (p->records.count == 0) {
        return roof_error_at(error, ROOF_INVALID, p->records.name, 0, 0, "no records");
    }
    return p->chart.roofs == 0 ? add_roofs(p, error) : ROOF_OK; /* all records are bad */
}

/* --- output -------------------------------------------------------------------------------- */

static enum roof_status draw_image(struct roof_text *out, const struct plotting *p,
                                   const struct roof_text *script, struct roof_error *error)
{
    const struct roof_asking *const a = p->asking;
    char *image = NULL;
    size_t length = 0;
    if (script->failed) {
        return roof_no_memory(error);
    }
    TRY(a->listener->draw(a->listener->context, &image, &length, script->data, error));
    if (a->format == ROOF_SVG) {
        roof_chart_entitle(out, image, length, &p->chart);
    } else {
        roof_text_add(out, image, length);
    }
    free(image);
    return ROOF_OK;
}

/* Writes the script of gnuplot, or the image that it draws. */
static enum roof_status write_image(struct roof_text *out, const struct plotting *p,
                                    struct roof_error *error)
{
    const struct roof_asking *const a = p->asking;
    const int width = p->in.width == 0 ? WIDTH_DEFAULT : (int)p->in.width;
    const int height =
        p->in.height == 0 ? width * HEIGHT_DEFAULT / WIDTH_DEFAULT : (int)p->in.height;
    const enum roof_chart_image image = a->format == ROOF_PNG   ? ROOF_CHART_PNG
                                        : a->format == ROOF_PDF ? ROOF_CHART_PDF
                                                                : ROOF_CHART_SVG;
    if (a->format == ROOF_GNUPLOT) {
        return roof_chart_gnuplot(out, &p->chart, image, width, height, error);
    }
    if (a->listener->draw == NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "nothing here draws images: ask for gnuplot, json or text");
    }
    struct roof_text script = ROOF_TEXT_INIT;
    enum roof_status status = roof_chart_gnuplot(&script, &p->chart, image, width, height, error);
    if (status == ROOF_OK) {
        status = draw_image(out, p, &script, error);
    }
    roof_text_free(&script);
    return status;
}

static enum roof_status write_chart(struct roof_text *out, const struct plotting *p,
                                    struct roof_error *error)
{
    const enum roof_answer_format format = p->asking->format;
    if (format == ROOF_TEXT) {
        const size_t columns = p->in.width > 0 ? (size_t)p->in.width : COLUMNS_DEFAULT;
        return roof_chart_text(out, &p->chart, columns, p->in.charset != ASCII, error);
    }
    if (format == ROOF_JSON) {
        roof_chart_json(out, &p->chart);
        return ROOF_OK;
    }
    return write_image(out, p, error);
}

/* Gives an image a title, even if the question has none. */
static enum roof_status name_chart(struct plotting *p, struct roof_error *error)
{
    const struct roof_question *const q = p->asking->question;
    struct roof_text text = ROOF_TEXT_INIT;
    if (p->chart.title[0] != '\0') {
        return ROOF_OK;
    }
    if (q->model_name != NULL) {
        roof_text_printf(&text, "%s on ", q->model_name);
    }
    for (size_t i = 0; i < p->chart.roofs; i++) {
        roof_text_printf(&text, "%s%s", i == 0 ? "" : ", ", p->chart.roof[i].hardware->name);
    }
    const enum roof_status status = text.failed ? roof_no_memory(error) : ROOF_OK;
    roof_chart_name(p->chart.title, text.failed || text.length == 0 ? "" : text.data);
    roof_text_free(&text);
    return status;
}

/* Adds roofs and dots, then lines. */
static enum roof_status make_chart(struct plotting *p, struct roof_error *error)
{
    const struct roof_question *const q = p->asking->question;
    TRY(read_input(p, error));
    if (roof_asking_has(p->asking, ROOF_INPUT_FROM)) {
        TRY(add_file(p, error));
    } else if (q->op != NULL || q->model) {
        TRY(add_grid(p, error));
    } else {
        TRY(roof_grid_devices(&p->grid, &p->asking->loans, q, false, error));
        TRY(add_roofs(p, error));
    }
    for (int i = 0; i < q->lines.count; i++) {
        TRY(roof_chart_add_line(&p->chart, q->lines.value[i], error));
    }
    if (roof_asking_has(p->asking, ROOF_INPUT_L2)) {
        TRY(roof_chart_add_l2(&p->chart, error));
    }
    if (roof_asking_has(p->asking, ROOF_INPUT_ATTAINABLE)) {
        TRY(roof_chart_add_attainable(&p->chart, error));
    }
    return name_chart(p, error);
}

static enum roof_status answer(struct roof_text *out, struct plotting *p, struct roof_error *error)
{
    TRY(make_chart(p, error));
    TRY(write_chart(out, p, error));
    TRY(roof_asking_write(p->asking, out, error));
    *error = (struct roof_error){.status = p->records.bad > 0 ? ROOF_INVALID : ROOF_OK};
    return error->status;
}

enum roof_status roof_ask_plot(struct roof_asking *a, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct plotting *const p = calloc(1, sizeof *p);
    if (p == NULL) {
        return roof_no_memory(error);
    }
    p->asking = a;
    p->known.loans = &a->loans;
    p->known.question = a->question;
    roof_chart_init(&p->chart);
    const enum roof_status status = answer(&text, p, error);
    roof_records_close(&p->records);
    roof_chart_free(&p->chart);
    roof_text_free(&p->name);
    roof_text_free(&p->group);
    roof_text_free(&text);
    roof_grid_close(&p->grid);
    roof_known_free(&p->known);
    free(p);
    return status;
}
