// SPDX-License-Identifier: MIT
#include "ask/curves.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/about.h"
#include "base/base.h"
#include "decide/grid.h"

/* --- output -------------------------------------------------------------------------------- */

void roof_title_curves(struct roof_curves *curves, const struct roof_asking *a, const char *text)
{
    roof_chart_name(curves->title, a->form.title != NULL ? a->form.title : text);
}

static enum roof_status draw_image(struct roof_text *out, const struct roof_asking *a,
                                   const struct roof_curves *curves,
                                   const struct roof_drawing_size *size, struct roof_error *error)
{
    struct roof_text script = ROOF_TEXT_INIT;
    struct roof_text summary = ROOF_TEXT_INIT;
    enum roof_status status = roof_curves_gnuplot(&script, curves, roof_asking_image(a),
                                                  (int)size->width, (int)size->height, error);
    if (status == ROOF_OK) {
        roof_curves_summary(&summary, curves);
        status = roof_asking_draw(out, a, &script, curves->title, &summary, error);
    }
    roof_text_free(&script);
    roof_text_free(&summary);
    return status;
}

enum roof_status roof_write_curves(struct roof_text *out, const struct roof_asking *a,
                                   struct roof_curves *curves, const struct roof_drawing_size *size,
                                   struct roof_error *error)
{
    TRY(roof_curves_finish(curves, error));
    if (a->form.format == ROOF_TEXT) {
        const struct roof_chart_look look = roof_drawing_look(size);
        return roof_curves_text(out, curves, &look, error);
    }
    if (a->form.format == ROOF_JSON) {
        roof_curves_json(out, curves);
        return ROOF_OK;
    }
    return draw_image(out, a, curves, size, error);
}

static void set_axis(struct roof_curve_axis *axis, enum roof_curve_scale scale, const char *name)
{
    roof_chart_name(axis->name, name);
    axis->scale = scale;
}

static double milliseconds(double seconds)
{
    return roof_to_unit(seconds, ROOF_UNIT_MILLISECONDS);
}

/* --- the grid of a question ---------------------------------------------------------------- */

/* The most curves for which a note lists the points that do not fit. */
#define UNFIT_MOST 3

/* The points of a curve that do not fit its device. */
struct unfit {
    char name[ROOF_CHART_NAME_SIZE];
    char values[64]; /* "128, 256" */
    bool more;       /* there are others */
};

struct charting {
    struct roof_asking *asking;
    enum roof_chart_kind kind;
    struct roof_drawing_size size;
    struct roof_grid grid;
    const struct roof_axis *along; /* the inputs that points of a curve differ by */
    bool both;                     /* the chart has times of both phases */
    struct roof_curves curves;
    struct roof_text name;
    bool seen;                  /* a possible point has told what the chart has */
    bool known;                 /* this point has an expected time */
    struct roof_scenario first; /* of this point */
    struct roof_about about;
    struct roof_text note;          /* what the chart is about */
    struct unfit unfit[UNFIT_MOST]; /* curves with points that do not fit */
    size_t unfits;                  /* number of these, at most one more */
    uint64_t refused;
    struct roof_error first_refused;
};

/* Finds the input along which curves go: the batch if it has several values, else the first of the
 * others that is a number. */
static enum roof_status find_axis(struct charting *c, struct roof_error *error)
{
    const struct roof_sweep *const sweep = &c->grid.sweep;
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct roof_axis *const axis = &sweep->axis[i];
        const bool batch = axis->input == roof_input(ROOF_DIM_BATCH);
        if (axis->values.count > 1 && axis->input->kind == ROOF_INPUT_INTEGER &&
            (c->along == NULL || batch)) {
            c->along = axis;
        }
    }
    return c->along != NULL
               ? ROOF_OK
               : roof_error_set(
                     error, ROOF_USAGE,
                     "a chart of curves needs several values of " ROOF_KEY(
                         "batch") " or of a length, such as " ROOF_KEY("batch") " 1:256:x2");
}

/* Names the curve of a point by all that differs between curves. */
static void put_name(struct charting *c, const struct roof_model_prediction *model,
                     const char *what)
{
    const struct roof_sweep *const sweep = &c->grid.sweep;
    roof_text_clear(&c->name);
    if (c->grid.models > 1) {
        roof_text_printf(&c->name, "%s on ", model->model->id);
    }
    roof_text_put(&c->name, model->total.hardware->id);
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct roof_axis *const axis = &sweep->axis[i];
        if (axis->values.count > 1 && axis != c->along) {
            roof_text_printf(&c->name, ", %s ", axis->input->option);
            roof_axis_show(&c->name, axis, &model->scenario);
        }
    }
    roof_text_put(&c->name, what);
}

/* Adds what to give fewer of to the message that there are too many curves. */
static enum roof_status too_many(const struct charting *c, struct roof_error *error)
{
    const struct roof_sweep *const sweep = &c->grid.sweep;
    struct roof_text fewer = ROOF_TEXT_INIT;
    roof_text_put(&fewer, c->grid.models > 1 ? ", models" : "");
    roof_text_put(&fewer, c->grid.devices > 1 ? ", " ROOF_KEY("hardware") : "");
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct roof_axis *const axis = &sweep->axis[i];
        char name[ROOF_INPUT_NAME_SIZE];
        if (axis->values.count > 1 && axis != c->along) {
            roof_text_printf(&fewer, ", %s", roof_input_marked(name, axis->input));
        }
    }
    const enum roof_status status =
        fewer.failed ? roof_no_memory(error)
        : fewer.length == 0
            ? ROOF_USAGE
            : roof_error_set(error, ROOF_USAGE,
                             "a chart has at most %d curves, lower bounds included: give fewer "
                             "values of %s",
                             ROOF_CURVES_MAX, fewer.data + strlen(", "));
    roof_text_free(&fewer);
    return status;
}

/* Finds the curve with the name of the point, or adds it. */
static enum roof_status find_curve(size_t *out, struct charting *c, bool bound,
                                   struct roof_error *error)
{
    const enum roof_status status = roof_curves_find(out, &c->curves, c->name.data, bound, error);
    return status == ROOF_USAGE ? too_many(c, error) : status;
}

/* Adds a time and its lower bound; where none is expected the bound is all there is. */
static enum roof_status add_time(struct charting *c, const struct roof_model_prediction *model,
                                 double x, const char *what, double expected_s, double bound_s,
                                 struct roof_error *error)
{
    size_t curve = 0;
    const bool known = !isnan(expected_s);
    if (isnan(bound_s)) {
        return ROOF_OK;
    }
    put_name(c, model, what);
    roof_text_put(&c->name, known ? "" : ", lower bound");
    if (c->name.failed) {
        return roof_no_memory(error);
    }
    TRY(find_curve(&curve, c, false, error));
    TRY(roof_curves_add(&c->curves, curve, x, milliseconds(known ? expected_s : bound_s), "",
                        error));
    if (!known) {
        return ROOF_OK;
    }
    TRY(find_curve(&curve, c, true, error));
    return roof_curves_add(&c->curves, curve, x, milliseconds(bound_s), "", error);
}

static enum roof_status add_latency(struct charting *c, const struct roof_model_prediction *model,
                                    struct roof_error *error)
{
    const double x = (double)roof_input_get(&model->scenario, c->along->input);
    TRY(add_time(c, model, x, c->both ? ": first token" : "", model->expected_ttft_s, model->ttft_s,
                 error));
    return add_time(c, model, x, c->both ? ": each further token" : "", model->expected_tpot_s,
                    model->tpot_s, error);
}

static enum roof_status add_rates(struct charting *c, const struct roof_model_prediction *model,
                                  struct roof_error *error)
{
    char label[ROOF_CURVE_LABEL_SIZE];
    size_t curve = 0;
    const bool known = !isnan(model->expected_tokens_per_s);
    const double user =
        known ? model->expected_tokens_per_s_per_user : model->tokens_per_s_per_user;
    const double all = known ? model->expected_tokens_per_s : model->tokens_per_s;
    if (isnan(model->tpot_s) || isnan(all) || isnan(user)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("chart") " pareto needs decode steps or requests, not prefill alone");
    }
    put_name(c, model, known ? "" : ", at its lower bounds");
    if (c->name.failed) {
        return roof_no_memory(error);
    }
    (void)snprintf(label, sizeof label, "%s %" PRId64, c->along->input->option,
                   roof_input_get(&model->scenario, c->along->input));
    TRY(find_curve(&curve, c, false, error));
    return roof_curves_add(&c->curves, curve, user, all / model->devices, label, error);
}

/* Notes a point that does not fit. */
static enum roof_status note_unfit(struct charting *c, const struct roof_model_prediction *model,
                                   struct roof_error *error)
{
    size_t at = 0;
    c->curves.unfit++;
    put_name(c, model, "");
    if (c->name.failed) {
        return roof_no_memory(error);
    }
    while (at < c->unfits && at < UNFIT_MOST &&
           strncmp(c->unfit[at].name, c->name.data, sizeof c->unfit[at].name - 1) != 0) {
        at++;
    }
    if (at == UNFIT_MOST) {
        c->unfits = UNFIT_MOST + 1;
        return ROOF_OK;
    }
    struct unfit *const unfit = &c->unfit[at];
    const size_t length = strlen(unfit->values);
    if (at == c->unfits) {
        c->unfits++;
        roof_chart_name(unfit->name, c->name.data);
    }
    unfit->more = length + 24 >= sizeof unfit->values;
    if (!unfit->more) {
        (void)snprintf(unfit->values + length, sizeof unfit->values - length, "%s%" PRId64,
                       length == 0 ? "" : ", ", roof_input_get(&model->scenario, c->along->input));
    }
    return ROOF_OK;
}

/* Sets the notes: what the chart is about, and the points that do not fit. */
static enum roof_status tell_about(struct charting *c, struct roof_error *error)
{
    struct roof_text names = ROOF_TEXT_INIT;
    for (size_t i = 0; i < c->unfits && i < UNFIT_MOST; i++) {
        roof_text_printf(&names, "%s%s %s %s%s", i == 0 ? "" : "; ", c->unfit[i].name,
                         c->along->input->option, c->unfit[i].values,
                         c->unfit[i].more ? " (and more)" : "");
    }
    roof_text_put(&names, c->unfits > UNFIT_MOST ? "; and others" : "");
    if (names.length < sizeof c->curves.unfit_names) { /* otherwise their number is told */
        (void)snprintf(c->curves.unfit_names, sizeof c->curves.unfit_names, "%s",
                       names.length == 0 ? "" : names.data);
    }
    roof_about_put(&c->note, &c->about);
    c->curves.about = c->note.length == 0 ? NULL : c->note.data;
    const bool failed = names.failed || c->note.failed;
    roof_text_free(&names);
    return failed ? roof_no_memory(error) : ROOF_OK;
}

static enum roof_status on_point(void *context, const struct roof_prediction *prediction,
                                 const struct roof_model_prediction *model,
                                 struct roof_error *error)
{
    struct charting *const c = context;
    (void)prediction;
    if (model->fits == ROOF_FIT_NO) {
        return note_unfit(c, model, error);
    }
    roof_about_add(&c->about, model, &c->grid.sweep);
    return c->kind == ROOF_CHART_PARETO ? add_rates(c, model, error) : add_latency(c, model, error);
}

static void on_refused(void *context, const struct roof_error *error)
{
    struct charting *const c = context;
    if (c->refused++ == 0) {
        c->first_refused = *error;
    }
}

static void on_ignored(void *context, const struct roof_error *error)
{
    (void)context;
    (void)error;
}

/* Looks at the first possible point to see which times the chart has. */
static enum roof_status on_first(void *context, const struct roof_prediction *prediction,
                                 const struct roof_model_prediction *model,
                                 struct roof_error *error)
{
    struct charting *const c = context;
    (void)prediction;
    (void)error;
    c->seen = true;
    c->both = !isnan(model->ttft_s) && !isnan(model->tpot_s);
    c->known = !isnan(model->expected_ttft_s) || !isnan(model->expected_tpot_s);
    if (c->kind == ROOF_CHART_LATENCY) {
        set_axis(&c->curves.y, ROOF_SCALE_TEN,
                 c->both                ? "time (ms)"
                 : isnan(model->tpot_s) ? "time to first token (ms)"
                                        : "time per token (ms)");
    }
    c->first = model->scenario;
    return ROOF_OK;
}

/* Finds the first of a number of points that is not refused, and looks at it. */
static enum roof_status look_at_first(struct charting *c, uint64_t count, struct roof_error *error)
{
    struct roof_sweep first = c->grid.sweep; /* its lists stay those of the grid */
    first.refused = on_ignored;
    for (uint64_t i = 0; i < count && !c->seen; i++) {
        TRY(roof_sweep_run(&first, i, i + 1, on_first, c, error));
    }
    return ROOF_OK;
}

/* Adds the first of the inputs that all points share and the note does not tell to a title, as many
 * as it has room for. */
static void put_shared(struct roof_text *title, const struct charting *c)
{
    const struct roof_sweep *const sweep = &c->grid.sweep;
    struct roof_text shared = ROOF_TEXT_INIT;
    size_t length = 0;
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct roof_axis *const axis = &sweep->axis[i];
        if (axis->values.count == 1 && !roof_about_tells(&c->about, axis->input)) {
            roof_text_printf(&shared, "%s%s ", shared.length == 0 ? "" : ", ", axis->input->option);
            roof_axis_show(&shared, axis, &c->first);
            if (title->length + shared.length + strlen(" ()") >= ROOF_CHART_NAME_SIZE) {
                break;
            }
            length = shared.length;
        }
    }
    if (length > 0 && !shared.failed) {
        roof_text_printf(title, " (%.*s)", (int)length, shared.data);
    }
    title->failed |= shared.failed;
    roof_text_free(&shared);
}

static void name_axes(struct charting *c)
{
    if (c->kind == ROOF_CHART_PARETO) {
        c->curves.front = true;
        set_axis(&c->curves.x, ROOF_SCALE_LINEAR, "tokens/s per user");
        set_axis(&c->curves.y, ROOF_SCALE_LINEAR, "tokens/s per device");
    } else {
        set_axis(&c->curves.x, ROOF_SCALE_TWO, c->along->input->option);
        set_axis(&c->curves.y, ROOF_SCALE_TEN, "time (ms)");
    }
}

static enum roof_status name_chart(struct charting *c, struct roof_error *error)
{
    struct roof_text title = ROOF_TEXT_INIT;
    for (size_t i = 0; i < c->grid.models && i < 3; i++) {
        roof_text_printf(&title, "%s%s", i == 0 ? "" : ", ", c->grid.model[i]->id);
    }
    roof_text_printf(&title, ": %s%s", c->known ? "expected " : "",
                     c->kind == ROOF_CHART_PARETO ? "throughput and speed per user" : "latency");
    put_shared(&title, c);
    const enum roof_status status = title.failed ? roof_no_memory(error) : ROOF_OK;
    if (status == ROOF_OK) {
        roof_title_curves(&c->curves, c->asking, title.data);
    }
    roof_text_free(&title);
    return status;
}

/* Refuses what only a roofline has. */
static enum roof_status check_inputs(const struct roof_asking *a, struct roof_error *error)
{
    static const size_t others[] = {ROOF_INPUT_CEILINGS, ROOF_INPUT_LINE,     ROOF_INPUT_ATTAINABLE,
                                    ROOF_INPUT_L2,       ROOF_INPUT_EXPECTED, ROOF_INPUT_FROM,
                                    ROOF_INPUT_MEASURED, ROOF_INPUT_TOP};
    static const size_t rows[] = {ROOF_INPUT_COLUMNS, ROOF_INPUT_SHARD, ROOF_INPUT_RESUME};
    TRY(roof_asking_refuse(a, others, COUNT(others), "a chart of curves", error));
    return roof_asking_refuse(a, rows, COUNT(rows), "a chart", error);
}

/* Reads the grid, and how large the chart is. */
static enum roof_status read_input(struct charting *c, struct roof_error *error)
{
    struct roof_asking *const a = c->asking;
    TRY(check_inputs(a, error));
    TRY(roof_read_drawing_size(&c->size, a, error));
    return roof_grid_open(&c->grid, &a->loans, a->question, false, error);
}

static enum roof_status add_grid(struct charting *c, struct roof_error *error)
{
    uint64_t count = 0;
    struct roof_sweep *const sweep = &c->grid.sweep;
    roof_asking_remark_grid(c->asking, &c->grid);
    if (sweep->model == NULL) {
        return roof_refuse_operator(c->asking, error);
    }
    TRY(find_axis(c, error));
    TRY(roof_sweep_count(&count, sweep, error));
    if (count > ROOF_CURVE_POINTS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "a chart has at most %d points",
                              ROOF_CURVE_POINTS_MAX);
    }
    name_axes(c);
    TRY(look_at_first(c, count, error));
    sweep->refused = on_refused;
    TRY(roof_sweep_run(sweep, 0, count, on_point, c, error));
    TRY(tell_about(c, error));
    TRY(name_chart(c, error));
    if (c->refused > 0 && c->asking->listener->complain != NULL) {
        (void)roof_error_prefix(&c->first_refused, c->first_refused.status,
                                "skipped points that are not possible: %" PRIu64 " of %" PRIu64
                                "; the first: ",
                                c->refused, count);
        c->asking->listener->complain(c->asking->listener->context, &c->first_refused);
    }
    return ROOF_OK;
}

enum roof_status roof_ask_curves(struct roof_asking *a, enum roof_chart_kind kind,
                                 struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct charting *const c = calloc(1, sizeof *c);
    if (c == NULL) {
        return roof_no_memory(error);
    }
    c->asking = a;
    c->kind = kind;
    roof_curves_init(&c->curves);
    enum roof_status status = read_input(c, error);
    if (status == ROOF_OK) {
        status = add_grid(c, error);
    }
    if (status == ROOF_OK) {
        status = roof_write_curves(&text, a, &c->curves, &c->size, error);
    }
    if (status == ROOF_OK) {
        status = roof_asking_write(a, &text, error);
    }
    roof_text_free(&text);
    roof_text_free(&c->name);
    roof_text_free(&c->note);
    roof_about_free(&c->about);
    roof_curves_free(&c->curves);
    roof_grid_close(&c->grid);
    free(c);
    return status;
}

/* --- plans --------------------------------------------------------------------------------- */

/* Names a plan: "fp8, 2 x tp 4, batch 64", "fp8, 1x1+1x1, batch 256". */
static void name_plan(char out[ROOF_CURVE_LABEL_SIZE], const struct roof_plan_row *row)
{
    const struct roof_plan *const plan = &row->plan;
    char split[sizeof row->copies + 8] = "";
    char stages[24] = "";
    if (plan->prefill.copies > 0) {
        (void)snprintf(split, sizeof split, ", %s", row->copies);
    } else if (plan->devices > 1) {
        const int64_t each = plan->devices / plan->dp / (plan->split.pp > 0 ? plan->split.pp : 1);
        char copies[24] = "";
        if (plan->dp > 1) {
            (void)snprintf(copies, sizeof copies, "%" PRId64 " x ", plan->dp);
        }
        (void)snprintf(split, sizeof split, ", %stp %" PRId64, copies, each);
    }
    if (plan->prefill.copies == 0 && plan->split.pp > 1) {
        (void)snprintf(stages, sizeof stages, " pp %" PRId64, plan->split.pp);
    }
    (void)snprintf(out, ROOF_CURVE_LABEL_SIZE, "%.20s%.24s%s, batch %" PRId64, row->formats, split,
                   stages, plan->batch);
}

static enum roof_status add_plans(struct roof_curves *curves, const struct roof_plan_answer *answer,
                                  struct roof_error *error)
{
    bool split = false;
    bool copied = false;
    for (size_t i = 0; i < answer->plans.count && i < ROOF_CURVE_POINTS_MAX; i++) {
        const struct roof_plan *const plan = &answer->plans.plan[i];
        struct roof_plan_row row;
        char label[ROOF_CURVE_LABEL_SIZE];
        char name[ROOF_CHART_NAME_SIZE];
        size_t curve = 0;
        roof_plan_name(&row, plan, (int)i + 1, &answer->problem);
        name_plan(label, &row);
        (void)snprintf(name, sizeof name, "%.60s%s", row.hardware,
                       plan->basis == ROOF_PLAN_BOUND ? ", at its lower bounds" : "");
        split |= plan->prefill.copies > 0;
        copied |= plan->dp > 1;
        TRY(roof_curves_find(&curve, curves, name, false, error));
        TRY(roof_curves_add(curves, curve, plan->tokens_per_s_per_user,
                            plan->tokens_per_s_per_device, label, error));
    }
    (void)snprintf(curves->key, sizeof curves->key, "%s%s%s",
                   split ? "3x1+2x4: 3 copies of 1 device prefill, 2 copies of 4 decode" : "",
                   split && copied ? "; " : "", copied ? "batch: of each copy that decodes" : "");
    return ROOF_OK;
}

enum roof_status roof_ask_plan_curves(struct roof_text *out, struct roof_asking *a,
                                      const struct roof_plan_answer *answer,
                                      const struct roof_drawing_size *size,
                                      struct roof_error *error)
{
    struct roof_curves *const curves = calloc(1, sizeof *curves);
    char title[ROOF_CHART_NAME_SIZE];
    if (curves == NULL) {
        return roof_no_memory(error);
    }
    const struct roof_scenario *const s = &answer->problem.base;
    const int length =
        snprintf(title, sizeof title, "%.40s: ways to serve it ", answer->problem.model->id);
    if (s->generate > 0) {
        (void)snprintf(title + length, sizeof title - (size_t)length,
                       "(prompt %" PRId64 ", generate %" PRId64 ")", s->prompt, s->generate);
    } else {
        (void)snprintf(title + length, sizeof title - (size_t)length, "(context %" PRId64 ")",
                       s->context);
    }
    roof_title_curves(curves, a, title);
    curves->front = true;
    set_axis(&curves->x, ROOF_SCALE_LINEAR, "tokens/s per user");
    set_axis(&curves->y, ROOF_SCALE_LINEAR, "tokens/s per device");
    enum roof_status status = add_plans(curves, answer, error);
    if (status == ROOF_OK) {
        status = roof_write_curves(out, a, curves, size, error);
    }
    roof_curves_free(curves);
    free(curves);
    return status;
}
