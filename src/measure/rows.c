// SPDX-License-Identifier: MIT
#include "measure/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"

/* --- what a task is ------------------------------------------------------------------------ */

/* The dimensions of the operators that are measured. */
static const enum roof_dimension dims[] = {
    ROOF_DIM_M,        ROOF_DIM_N,         ROOF_DIM_K,
    ROOF_DIM_BATCH,    ROOF_DIM_HEADS,     ROOF_DIM_KV_HEADS,
    ROOF_DIM_HEAD_DIM, ROOF_DIM_QUERY_LEN, ROOF_DIM_KV_LEN,
    ROOF_DIM_CAUSAL,   ROOF_DIM_TOKENS,    ROOF_DIM_HIDDEN,
    ROOF_DIM_ELEMENTS, ROOF_DIM_DEVICES,   ROOF_DIM_INTERMEDIATE,
    ROOF_DIM_EXPERTS,  ROOF_DIM_TOP_K};

static const char *const probe_names[ROOF_PROBE_COUNT] = {
    [ROOF_PROBE_READ] = "read",           [ROOF_PROBE_COPY] = "copy",
    [ROOF_PROBE_TRIAD] = "triad",         [ROOF_PROBE_LAUNCH] = "launch",
    [ROOF_PROBE_TO_DEVICE] = "to_device", [ROOF_PROBE_FROM_DEVICE] = "from_device",
    [ROOF_PROBE_MULTIPLY] = "multiply"};

const char *roof_probe_name(enum roof_probe probe)
{
    return probe_names[probe];
}

void roof_rows_operator(struct roof_text *out, const struct roof_workload *w)
{
    const struct roof_operator_row *const row = roof_operator_row(w->op);
    roof_text_printf(out, "%s,", row->name);
    for (size_t i = 0; i < COUNT(dims); i++) {
        if (roof_operator_has(w->op, dims[i])) {
            roof_text_printf(out, "%" PRId64, roof_input_get(w, &roof_dimensions[dims[i]]));
        }
        roof_text_put(out, ",");
    }
    const bool product = roof_is_product(w->op);
    const bool cached = product && row->other == ROOF_ROLE_KV;
    roof_text_printf(
        out, "%s,%s,%s,%s,%s,", product && !cached ? roof_precision_name(w->formats.weights) : "",
        roof_precision_name(w->formats.activations),
        cached ? roof_precision_name(w->formats.kv) : "", roof_precision_name(w->formats.out),
        w->cache == ROOF_CACHE_WARM ? "warm" : "cold");
}

static void put_probe(struct roof_text *out, const struct roof_meter_task *task)
{
    const bool multiply = task->probe == ROOF_PROBE_MULTIPLY;
    roof_text_printf(out, "%s,%s,%s,", probe_names[task->probe],
                     multiply ? roof_compute_unit_name(task->unit) : "",
                     multiply ? roof_precision_name(task->format) : "");
    if (task->bytes > 0) {
        roof_text_printf(out, "%" PRId64, task->bytes);
    }
    roof_text_put(out, ",");
}

/* --- what was measured --------------------------------------------------------------------- */

/* Rounds a number to six digits: no measured time has more. */
static double rounded(double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.5e", value);
    return strtod(digits, NULL);
}

/* Writes such a number. An unknown one is an empty cell. */
static void put_number(struct roof_text *out, double value)
{
    if (!isnan(value)) {
        roof_text_number(out, rounded(value));
    }
}

static const char measured_columns[] =
    "measured_us,noise,noisy,sm_mhz,power_w,temperature_c,throttled";

static void put_measured(struct roof_text *out, const struct roof_meter_row *row)
{
    const double numbers[] = {roof_to_unit(row->time_s, ROOF_UNIT_MICROSECONDS),
                              row->noise,
                              row->noisy ? 1 : 0,
                              roof_to_unit(row->clocks.sm_hz, ROOF_UNIT_MEGAHERTZ),
                              row->clocks.power_w,
                              row->clocks.temperature_c,
                              row->clocks.throttled ? 1 : 0};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        roof_text_put(out, i == 0 ? "" : ",");
        put_number(out, numbers[i]);
    }
    roof_text_put(out, "\n");
}

void roof_rows_operator_columns(struct roof_text *out)
{
    char key[ROOF_INPUT_NAME_SIZE];
    roof_text_put(out, "operator,");
    for (size_t i = 0; i < COUNT(dims); i++) {
        roof_text_printf(out, "%s,", roof_input_key(key, &roof_dimensions[dims[i]]));
    }
    roof_text_put(out, "weights,activations,kv,out,cache,");
}

void roof_rows_columns(struct roof_text *out)
{
    roof_rows_operator_columns(out);
    roof_text_printf(out, "%s\n", measured_columns);
}

void roof_probes_columns(struct roof_text *out)
{
    roof_text_printf(out, "probe,unit,format,bytes,%s,gb_s,tflops,amount\n", measured_columns);
}

void roof_rows_write(struct roof_text *out, const struct roof_measured *measured)
{
    roof_rows_columns(out);
    for (size_t i = 0; i < measured->count; i++) {
        const struct roof_meter_row *const row = &measured->row[i];
        if (row->task.probe == ROOF_PROBE_OPERATOR) {
            roof_rows_operator(out, &row->task.workload);
            put_measured(out, row);
        }
    }
}

void roof_probes_write(struct roof_text *out, const struct roof_measured *measured)
{
    roof_probes_columns(out);
    for (size_t i = 0; i < measured->count; i++) {
        const struct roof_meter_row *const row = &measured->row[i];
        /* The rate is that of the written time: a run that resumes knows no other. */
        const double time_s = roof_from_unit(
            rounded(roof_to_unit(row->time_s, ROOF_UNIT_MICROSECONDS)), ROOF_UNIT_MICROSECONDS);
        const double rate = row->amount > 0 ? row->amount / time_s : ROOF_UNKNOWN;
        const bool multiply = row->task.probe == ROOF_PROBE_MULTIPLY;
        if (row->task.probe != ROOF_PROBE_OPERATOR) {
            put_probe(out, &row->task);
            put_measured(out, row);
            out->length -= out->length > 0 ? 1 : 0; /* the line goes on */
            roof_text_put(out, ",");
            put_number(out, multiply ? ROOF_UNKNOWN : roof_to_unit(rate, ROOF_UNIT_GB_PER_S));
            roof_text_put(out, ",");
            put_number(out, multiply ? roof_to_unit(rate, ROOF_UNIT_TFLOPS) : ROOF_UNKNOWN);
            roof_text_put(out, ",");
            roof_text_number(out, row->amount);
            roof_text_put(out, "\n");
        }
    }
}

/* --- reading ------------------------------------------------------------------------------- */

/* Reads the next cell of a line as a number; NAN where it is empty. */
static double next_number(const char **at)
{
    char *end = NULL;
    const bool empty = strchr(",\n", **at) != NULL;
    const double value = empty ? ROOF_UNKNOWN : strtod(*at, &end);
    *at = empty ? *at : end;
    *at += **at == ',' ? 1 : 0;
    return value;
}

const char *roof_rows_line(const char *text, const char *begin)
{
    const size_t length = strlen(begin);
    while (text != NULL && strncmp(text, begin, length) != 0) {
        text = strchr(text, '\n');
        text = text == NULL ? NULL : text + 1;
    }
    return text == NULL || strchr(text, '\n') == NULL ? NULL : text + length;
}

bool roof_rows_find(struct roof_meter_row *out, const struct roof_meter_task *task,
                    const char *text)
{
    struct roof_text begin = ROOF_TEXT_INIT;
    if (task->probe == ROOF_PROBE_OPERATOR) {
        roof_rows_operator(&begin, &task->workload);
    } else {
        put_probe(&begin, task);
    }
    const char *at = begin.failed ? NULL : roof_rows_line(text, begin.data);
    roof_text_free(&begin);
    if (at == NULL) {
        return false;
    }
    *out = (struct roof_meter_row){.task = *task};
    out->time_s = roof_from_unit(next_number(&at), ROOF_UNIT_MICROSECONDS);
    out->noise = next_number(&at);
    out->noisy = next_number(&at) > 0;
    out->clocks.sm_hz = roof_from_unit(next_number(&at), ROOF_UNIT_MEGAHERTZ);
    out->clocks.power_w = next_number(&at);
    out->clocks.temperature_c = next_number(&at);
    out->clocks.throttled = next_number(&at) > 0;
    if (task->probe != ROOF_PROBE_OPERATOR) {
        (void)next_number(&at);
        (void)next_number(&at);
        out->amount = next_number(&at);
    }
    return out->time_s > 0;
}
