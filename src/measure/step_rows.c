// SPDX-License-Identifier: MIT
#include "measure/step_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/csv.h"
#include "base/quantity.h"
#include "measure/rows.h"

/* The row of the whole step has this name, which no operator has. */
#define WHOLE "step"
/* The measured columns. */
#define MEASURED "layers,samples,measured_us,noise,noisy"

/* Writes what a step asks of a model into the columns of operators with the same names; nothing
 * into the others. The formats of a layout or a file are not repeated. */
static void put_asked(struct roof_text *out, const struct roof_model_prediction *p)
{
    const struct roof_formats *const f = &p->scenario.common.formats;
    const struct {
        const char *column;
        enum roof_precision format;
    } formats[] = {
        {"weights", p->model->layout == NULL ? f->weights : ROOF_PRECISION_AUTO},
        {"activations", f->activations},
        {"kv", f->kv},
        {"out", f->out},
    };
    struct roof_text columns = ROOF_TEXT_INIT;
    roof_rows_operator_columns(&columns);
    for (const char *at = columns.failed ? "" : columns.data; *at != '\0';
         at = strchr(at, ',') + 1) {
        const size_t length = strcspn(at, ",");
        if (strncmp(at, "batch,", length + 1) == 0) {
            roof_text_printf(out, "%" PRId64, p->scenario.common.shape.batch);
        }
        for (size_t i = 0; i < COUNT(formats); i++) {
            if (formats[i].format != ROOF_PRECISION_AUTO && strlen(formats[i].column) == length &&
                strncmp(at, formats[i].column, length) == 0) {
                roof_text_put(out, roof_precision_name(formats[i].format));
            }
        }
        roof_text_put(out, ",");
    }
    out->failed |= columns.failed;
    roof_text_free(&columns);
}

/* Writes what a row is about: the columns before those that were measured. row is NULL for the
 * step, whose row has the inputs of its prediction; those of operators are their own. */
static void put_subject(struct roof_text *out, const struct roof_measured_step *step,
                        const struct roof_measured_node *row)
{
    const struct roof_model_prediction *const p = step->prediction;
    const bool named = p->model->layout != NULL && strcmp(p->model->layout, "file") != 0;
    roof_csv_cell(out, p->model->id);
    roof_text_printf(out, ",%s,", p->phase);
    if (row == NULL) {
        roof_text_printf(out, "%s,%" PRId64 ",", p->phase, p->scenario.context);
        roof_csv_cell(out, named ? p->model->layout : "");
    } else {
        roof_text_put(out, ",,");
    }
    roof_text_printf(out, ",%" PRId64 ",", step->layers);
    if (row == NULL) {
        roof_text_put(out, WHOLE ",,");
        put_asked(out, p);
    } else {
        roof_csv_cell(out, row->node->node.name);
        roof_text_printf(out, ",%" PRId64 ",", row->node->node.count);
        roof_rows_operator(out, &row->task.workload);
    }
}

/* Writes a time and its noise, in as many digits as reading them back needs. */
static void put_times(struct roof_text *out, const struct roof_measured_step *step, double time_s,
                      double noise, bool noisy)
{
    roof_text_printf(out, "%" PRId64 ",%zu,", step->measured, step->samples);
    roof_text_number(out, roof_to_unit(time_s, ROOF_UNIT_MICROSECONDS));
    roof_text_put(out, ",");
    roof_text_number(out, noise);
    roof_text_printf(out, ",%d\n", noisy ? 1 : 0);
}

/* --- reading -------------------------------------------------------------------------------- */

/* The measured columns of a row. */
struct times {
    double layers;
    double samples;
    double time_s;
    double noise;
    bool noisy;
};

/* Finds the row of an operator, or of the step (NULL). */
static bool find_row(struct times *out, const struct roof_measured_step *step,
                     const struct roof_measured_node *row, const char *text)
{
    struct roof_text subject = ROOF_TEXT_INIT;
    double cell[5] = {0};
    put_subject(&subject, step, row);
    const char *at = subject.failed ? NULL : roof_rows_line(text, subject.data);
    roof_text_free(&subject);
    for (size_t i = 0; i < COUNT(cell) && at != NULL; i++) {
        char *end = NULL;
        cell[i] = strtod(at, &end);
        at = end == at || *end != (i + 1 < COUNT(cell) ? ',' : '\n') ? NULL : end + 1;
    }
    *out = (struct times){.layers = cell[0],
                          .samples = cell[1],
                          .time_s = roof_from_unit(cell[2], ROOF_UNIT_MICROSECONDS),
                          .noise = cell[3],
                          .noisy = cell[4] > 0};
    return at != NULL && out->time_s > 0 && out->noise >= 0 && out->layers >= 1 &&
           out->layers <= (double)step->layers && out->samples >= 1 && out->samples <= INT32_MAX;
}

/* The rows of a step, in text. */
struct block {
    const char *begin;
    size_t length;
};

/* Finds the step that begins at *at, which moves behind it; false: there is no whole one. */
static bool next_block(struct block *out, const char **at)
{
    bool last = false;
    out->begin = *at;
    while (!last) {
        const char *const end = strchr(*at, '\n');
        const char *const whole = strstr(*at, "," WHOLE ",");
        if (end == NULL) {
            return false;
        }
        last = whole != NULL && whole < end;
        *at = end + 1;
    }
    out->length = (size_t)(*at - out->begin);
    return true;
}

/* The times of a step and of its operators. */
struct step_times {
    struct times whole;
    struct times each[ROOF_GRAPH_MAX];
};

/* Reads the times of a step from a block; false: the block is of another one. */
static bool read_block(struct step_times *out, const struct roof_measured_step *step,
                       const struct block *block)
{
    struct roof_text text = ROOF_TEXT_INIT;
    roof_text_printf(&text, "%.*s", (int)block->length, block->begin);
    bool found = !text.failed && find_row(&out->whole, step, NULL, text.data);
    for (size_t i = 0; i < step->count && found; i++) {
        found = step->row[i].runs == 0 || find_row(&out->each[i], step, &step->row[i], text.data);
    }
    roof_text_free(&text);
    return found;
}

bool roof_steps_find(struct roof_measured_step *step, const char *text)
{
    struct step_times times;
    struct block block;
    bool found = false;
    while (!found && next_block(&block, &text)) {
        found = read_block(&times, step, &block);
    }
    if (!found) {
        return false;
    }
    roof_step_run_layers(step, (int64_t)times.whole.layers);
    for (size_t i = 0; i < step->count; i++) {
        if (step->row[i].runs > 0) {
            step->row[i].time_s = times.each[i].time_s;
            step->row[i].noise = times.each[i].noise;
        }
    }
    step->samples = (size_t)times.whole.samples;
    step->time_s = times.whole.time_s;
    step->noise = times.whole.noise;
    step->noisy = times.whole.noisy;
    return true;
}

/* --- writing -------------------------------------------------------------------------------- */

/* Writes the steps of an earlier run that are none of these. */
static void keep_others(struct roof_text *out, const char *earlier,
                        const struct roof_measured_step *const *step, size_t count)
{
    struct step_times times;
    struct block block;
    earlier = strchr(earlier, '\n');
    earlier = earlier == NULL ? "" : earlier + 1; /* behind the header */
    while (next_block(&block, &earlier)) {
        bool other = true;
        for (size_t i = 0; i < count && other; i++) {
            other = !read_block(&times, step[i], &block);
        }
        if (other) {
            roof_text_printf(out, "%.*s", (int)block.length, block.begin);
        }
    }
}

void roof_steps_columns(struct roof_text *out)
{
    roof_text_put(out, "model,pass,phase,context,layout,step_layers,name,count,");
    roof_rows_operator_columns(out);
    roof_text_put(out, MEASURED "\n");
}

void roof_steps_write(struct roof_text *out, const struct roof_measured_step *const *step,
                      size_t count, const char *earlier)
{
    roof_steps_columns(out);
    if (earlier != NULL) {
        keep_others(out, earlier, step, count);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < step[i]->count; k++) {
            const struct roof_measured_node *const row = &step[i]->row[k];
            if (row->runs > 0) {
                put_subject(out, step[i], row);
                put_times(out, step[i], row->time_s, row->noise, false);
            }
        }
        put_subject(out, step[i], NULL);
        put_times(out, step[i], step[i]->time_s, step[i]->noise, step[i]->noisy);
    }
}
