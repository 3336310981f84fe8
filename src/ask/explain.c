// SPDX-License-Identifier: MIT
/* Answers `explain` A,B: why one device or format is faster than another. */
#include "ask/explain.h"

#include <math.h>

#include "ask/recommend_read.h"
#include "base/base.h"
#include "decide/pair.h"
#include "report/model_report.h"
#include "report/report.h"
#include "report/scenario_report.h"
#include "report/speedup_report.h"

/* The question about two sides. */
struct explain_input {
    struct roof_pair_names names;
    struct roof_pair_request request;
    struct roof_subject subject;
    struct roof_recommend_options recommend;
    enum roof_precision formats[ROOF_PRECISION_COUNT]; /* the list that `recommend` points to */
    int64_t top;
};

enum roof_status roof_check_explain_top(const struct roof_asking *a, struct roof_error *error)
{
    return roof_asking_has(a, ROOF_INPUT_TOP) && a->form.format != ROOF_TEXT
               ? roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("top") " with " ROOF_KEY("explain") " needs " ROOF_KEY(
                                    "format") " text")
               : ROOF_OK;
}

/* Reads the two sides; the question must not name again what they name. */
static enum roof_status read_sides(struct roof_pair_names *out, const struct roof_asking *a,
                                   struct roof_error *error)
{
    const char *const text = a->question->value[ROOF_INPUT_EXPLAIN];
    TRY(roof_pair_read(out, text, error));
    TRY(roof_check_explain_top(a, error));
    if (out->devices) {
        TRY(roof_pair_check_devices(out->device, a->question->value[ROOF_INPUT_HARDWARE], text,
                                    error));
    } else if (roof_check_sides(a)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("explain") " %s compares formats on one device: name it with " ROOF_KEY(
                "hardware") ", or write both sides as DEVICE:FORMAT",
            text);
    }
    if (out->formats &&
        (roof_asking_has(a, ROOF_INPUT_PRECISION_BOTH) || roof_asking_has(a, ROOF_INPUT_WEIGHTS) ||
         roof_asking_has(a, ROOF_INPUT_LAYOUT))) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("explain") " %s names the formats: leave out " ROOF_KEY(
                                  "precision") ", " ROOF_KEY("weights") " and " ROOF_KEY("layout"),
                              text);
    }
    return ROOF_OK;
}

/* Refuses inputs without an effect in a comparison. */
static enum roof_status check_inputs(bool named, const struct roof_asking *a,
                                     struct roof_error *error)
{
    static const size_t alone[] = {ROOF_INPUT_WHY,      ROOF_INPUT_TILING, ROOF_INPUT_TILE,
                                   ROOF_INPUT_MEASURED, ROOF_INPUT_ADVISE, ROOF_INPUT_BLOCKS};
    /* Nothing is chosen if the sides name the formats. */
    static const size_t choosing[] = {ROOF_INPUT_FORMATS, ROOF_INPUT_OBJECTIVE, ROOF_INPUT_BY,
                                      ROOF_INPUT_MAX_ACCURACY_LOSS};
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

static enum roof_status read_input(struct explain_input *in, struct roof_asking *a,
                                   bool recommended, struct roof_error *error)
{
    const struct roof_pair_names *const names = &in->names;
    struct roof_pair_request *const request = &in->request;
    const char *device[2];
    TRY(read_sides(&in->names, a, error));
    TRY(check_inputs(names->formats, a, error));
    for (int i = 0; i < 2; i++) {
        device[i] = names->devices ? names->device[i] : NULL;
        request->format[i] = names->format[i];
    }
    TRY(roof_asking_subject(&in->subject, request->hardware, device, COUNT(device), a, error));
    request->model = in->subject.model;
    if (recommended) {
        TRY(roof_read_recommend(&in->recommend, in->formats, a->question, error));
        request->recommend = &in->recommend;
    }
    request->shared = &in->subject.scenario;
    request->devices = names->devices;
    in->top = ROOF_TOP_DEFAULT;
    return roof_read_integer(&in->top, a->question, ROOF_INPUT_TOP, error);
}

/* --- documents ----------------------------------------------------------------------------- */

/* Times that differ by less, as a fraction, are printed with the same digits. */
#define PREDICTED_LEAST 5e-4

/* Puts "gemm m=1 n=4096 k=4096, ", and the device if it is the default. */
static void put_workload(struct roof_text *out, const struct roof_pair_side *side)
{
    if (side->model == NULL) {
        roof_report_workload(out, &side->prediction.workload);
    } else {
        roof_text_printf(out, "%s: ", side->model->id);
        roof_report_scenario(out, &side->model_prediction);
    }
    if (side->hardware->by_default) {
        roof_text_put(out, ", on ");
        roof_report_device(out, side->hardware);
    }
    roof_text_put(out, ", ");
}

/* Says what predict prints for a side if that is not the sum of its kernels. A pass of a pipeline
 * stage, of drafts or of a host has further differences. */
static void put_predicted(struct roof_text *out, const struct roof_model_prediction *p,
                          double kernels_s)
{
    const struct roof_scenario *const s = &p->scenario;
    const bool best = s->common.stack == ROOF_STACK_BEST;
    const double step_s = p->expected_step_s;
    char time[ROOF_QUANTITY_SIZE];
    if (s->pp > 1 || s->draft_tokens > 0 || s->offload != ROOF_OFFLOAD_NONE || isnan(step_s) ||
        !(fabs(step_s - kernels_s) > PREDICTED_LEAST * step_s)) {
        return;
    }
    roof_text_printf(out, "\n  predict prints %s: %s",
                     roof_format_quantity(time, step_s, ROOF_UNIT_MILLISECONDS),
                     best && step_s < kernels_s
                         ? "there, kernels start before the previous one ends"
                         : "with the host time of the engine and overlapping kernels");
}

/* Puts "a: weights fp16, ... on h100-sxm; 132 GiB do not fit". */
static void put_side(struct roof_text *out, const struct roof_pair_side *side, double kernels_s)
{
    const struct roof_model_prediction *const p = &side->model_prediction;
    const size_t from = out->length + 1;
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
    roof_text_fold(out, from, 2);
    if (p->expected_near > ROOF_NEAR_SHOWN) {
        roof_text_printf(out,
                         "\n  %.0f%% of its expected time is estimated from other devices, "
                         "libraries or formats",
                         100 * p->expected_near);
    }
    put_predicted(out, p, kernels_s);
}

static void write_text(struct roof_text *out, const struct roof_pair *pair, size_t top)
{
    put_workload(out, &pair->side[0]);
    roof_speedup_report_text(out, &pair->speedup, top);
    if (pair->side[0].model != NULL) {
        put_side(out, &pair->side[0], pair->speedup.total.expected.from_s);
        put_side(out, &pair->side[1], pair->speedup.total.expected.to_s);
        roof_text_put(out, "\n");
    }
}

static void write_pair(struct roof_text *out, struct roof_table *table,
                       const struct roof_pair *pair, size_t top, const struct roof_form *form)
{
    const struct roof_speedup *const speedup = &pair->speedup;
    if (form->report) {
        write_text(out, pair, top);
    } else if (form->format == ROOF_JSON) {
        roof_speedup_report_json(out, speedup);
        roof_text_put(out, "\n");
    } else {
        roof_table_begin(table, out);
        roof_table_speedup(table, out, &speedup->total);
        for (size_t i = 0; i < speedup->count; i++) {
            roof_table_speedup(table, out, &speedup->row[i]);
        }
        roof_table_end(table, out);
    }
}

enum roof_status roof_ask_explain(struct roof_text *out, struct roof_asking *a, bool recommended,
                                  struct roof_error *error)
{
    struct explain_input in = {.top = 0};
    struct roof_pair *pair = NULL;
    struct roof_table table;
    struct roof_kept_columns kept;
    TRY(read_input(&in, a, recommended, error));
    TRY(roof_table_open(&table, a->form.rows, ROOF_TABLE_SPEEDUPS, ROOF_OPERATOR_GEMM,
                        a->form.columns, error));
    roof_read_kept_columns(&kept, a->question);
    roof_table_narrow(&table, &kept, NULL);
    TRY(roof_pair_open(&pair, &in.request, error));
    write_pair(out, &table, pair, (size_t)in.top, &a->form);
    roof_pair_free(pair);
    return ROOF_OK;
}
