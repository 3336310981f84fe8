// SPDX-License-Identifier: MIT
/* Answers `measure model`: runs the operators of a model's steps on this machine, and compares them
 * with the expected times of a measured device. */
#include <stdlib.h>

#include "ask/measuring.h"
#include "base/base.h"
#include "measure/judge.h"
#include "measure/step_rows.h"
#include "measure/timing.h"
#include "report/step_report.h"

#define SECONDS 20
/* The file for the steps in a folder. */
#define STEPS "steps.csv"
/* The file that names their device. */
#define DEVICE "steps-device.txt"
/* Decode and prefill. */
#define STEPS_MAX 2

/* The question, and its results. */
struct stepping {
    struct roof_asking *asking;
    const struct roof_meter *meter; /* NULL: the first backend that finds a device */
    struct roof_meter_options options;
    double seconds;
    double began_s;           /* by roof_seconds */
    bool compared;            /* the exit code tells whether the times agree */
    bool one;                 /* the question has a phase */
    const char *folder;       /* NULL: no file is written */
    struct roof_text earlier; /* steps of an earlier run */
    struct roof_scenario scenario;
    const struct roof_hardware *hardware;
    const struct roof_model *model;
    struct roof_model_prediction *prediction[STEPS_MAX]; /* owned, like the steps */
    struct roof_measured_step *step[STEPS_MAX];
    size_t count;
};

/* Reads the folder of the steps, and those from an earlier run. */
static enum roof_status read_folder(struct stepping *s, struct roof_error *error)
{
    const struct roof_asking *const a = s->asking;
    s->folder = a->question->value[ROOF_INPUT_FOLDER];
    if (s->folder == NULL) {
        return roof_asking_has(a, ROOF_INPUT_RESUME_FOLDER)
                   ? roof_error_set(error, ROOF_USAGE,
                                    ROOF_KEY("resume_folder") " needs " ROOF_KEY(
                                        "folder") ", the folder with the steps measured before")
                   : ROOF_OK;
    }
    if (a->listener->replace == NULL) {
        return roof_error_set(error, ROOF_USAGE, "the caller allows no files to be written");
    }
    return roof_asking_has(a, ROOF_INPUT_RESUME_FOLDER)
               ? roof_measuring_read(&s->earlier, s->folder, STEPS, roof_steps_columns, error)
               : ROOF_OK;
}

static enum roof_status read_input(struct stepping *s, struct roof_error *error)
{
    struct roof_asking *const a = s->asking;
    const struct roof_question *const q = a->question;
    static const size_t others[] = {ROOF_INPUT_SAVE, ROOF_INPUT_LIKE, ROOF_INPUT_FORMATS};
    if (q->model_name == NULL) {
        return roof_which_model(error);
    }
    TRY(roof_asking_refuse(a, others, COUNT(others), "a model", error));
    if (!roof_asking_has(a, ROOF_INPUT_HARDWARE)) {
        return roof_error_set(error, ROOF_USAGE,
                              "measure model compares with an estimate: run 'roofline measure -o "
                              "FOLDER' first, then give " ROOF_KEY("hardware") " FOLDER");
    }
    TRY(roof_measuring_device(&s->meter, &s->options, a, error));
    TRY(roof_measuring_seconds(&s->seconds, a, SECONDS, error));
    s->compared = roof_asking_has(a, ROOF_INPUT_AGAINST);
    s->one = roof_asking_has(a, ROOF_INPUT_PHASE);
    TRY(read_folder(s, error));
    TRY(roof_read_scenario(&s->scenario, q, error));
    TRY(roof_asking_hardware(&s->hardware, a, NULL, error));
    TRY(roof_asking_model(&s->model, a, q, q->model_name, error));
    return s->scenario.phase == ROOF_PHASE_MIXED
               ? roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("phase") " of a measured model must be decode or prefill")
               : ROOF_OK;
}

/* Predicts a phase, and allocates its step. */
static enum roof_status add_phase(struct stepping *s, enum roof_phase phase,
                                  struct roof_error *error)
{
    const size_t i = s->count++;
    s->prediction[i] = calloc(1, sizeof *s->prediction[i]);
    s->step[i] = calloc(1, sizeof *s->step[i]);
    if (s->prediction[i] == NULL || s->step[i] == NULL) {
        return roof_no_memory(error);
    }
    s->scenario.phase = phase;
    return roof_predict_model(s->prediction[i], s->model, &s->scenario, s->hardware, error);
}

/* Writes the first `count` steps to the folder. */
static enum roof_status keep(const struct stepping *s, size_t count, struct roof_error *error)
{
    const struct roof_measured_step *const steps[STEPS_MAX] = {s->step[0], s->step[1]};
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status status = ROOF_OK;
    if (s->folder != NULL) {
        roof_steps_write(&text, steps, count, s->earlier.data);
        status = roof_measuring_write(s->asking, s->folder, STEPS, &text, error);
        roof_text_free(&text);
    }
    return status;
}

static bool on_halt(void *context)
{
    const struct stepping *const s = context;
    return roof_measuring_stopped(s->asking, s->began_s, s->seconds);
}

/* Measures a phase, or takes it from an earlier run. */
static enum roof_status measure_phase(struct stepping *s, size_t i, struct roof_bench *bench,
                                      struct roof_error *error)
{
    const struct roof_halt halt = {on_halt, s};
    roof_step_list(s->step[i], s->meter, bench, s->prediction[i]);
    if (s->earlier.data != NULL && roof_steps_find(s->step[i], s->earlier.data)) {
        return ROOF_OK;
    }
    return roof_step_measure(s->step[i], s->meter, bench, s->seconds / (double)s->count, &halt,
                             error);
}

/* Refuses a folder with steps of another device, and writes which one it is. */
static enum roof_status claim(const struct stepping *s, const struct roof_bench *bench,
                              struct roof_error *error)
{
    struct roof_meter_device device;
    s->meter->describe(&device, bench);
    return s->folder == NULL ? ROOF_OK
                             : roof_measuring_claim(s->asking, s->folder, DEVICE, &device,
                                                    roof_measuring_has_rows(&s->earlier), error);
}

/* Measures all phases on an opened device. */
static enum roof_status measure(struct stepping *s, struct roof_bench *bench,
                                struct roof_error *error)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an opened device has a meter */
    if (s->meter->check != NULL && !s->options.shared) {
        TRY(s->meter->check(bench, error));
    }
    if (s->meter->step_begin == NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "steps of models cannot be measured on " ROOF_KEY("device") " %s",
                              s->meter->name);
    }
    TRY(claim(s, bench, error));
    s->began_s = roof_seconds();
    for (size_t i = 0; i < s->count; i++) {
        enum roof_status status = measure_phase(s, i, bench, error);
        status = status == ROOF_OK ? keep(s, i + 1, error) : status;
        if (roof_asking_stopped(s->asking)) {
            const size_t done = i + (status == ROOF_OK ? 1 : 0);
            return roof_error_set(
                error, ROOF_IO, "interrupted after %zu of %zu steps%s", done, s->count,
                s->folder == NULL || done == 0 ? ""
                                               : "; they are kept for " ROOF_KEY("resume_folder"));
        }
        TRY(status);
    }
    return ROOF_OK;
}

static enum roof_status write_all(struct stepping *s, struct roof_error *error)
{
    struct roof_asking *const a = s->asking;
    struct roof_text text = ROOF_TEXT_INIT;
    const struct roof_measured_step *const steps[STEPS_MAX] = {s->step[0], s->step[1]};
    bool agree = true;
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < s->count; i++) {
        agree = agree && roof_step_agrees(s->step[i]);
        if (a->form.format == ROOF_TEXT || a->form.format == ROOF_MARKDOWN) {
            roof_text_put(&text, i == 0 ? "" : "\n");
            (a->form.format == ROOF_TEXT ? roof_report_step_text : roof_report_step_markdown)(
                &text, s->step[i], s->compared);
        }
    }
    if (a->form.format == ROOF_JSON) {
        roof_report_steps_json(&text, steps, s->count);
    } else if (a->form.format == ROOF_CSV) {
        status = roof_report_steps_csv(&text, steps, s->count, error);
    }
    status = status == ROOF_OK ? roof_asking_write(a, &text, error) : status;
    roof_text_free(&text);
    return status == ROOF_OK && s->compared && !agree ? ROOF_UNSATISFIED : status;
}

static enum roof_status answer(struct stepping *s, struct roof_error *error)
{
    struct roof_bench *bench = NULL;
    TRY(read_input(s, error));
    if (s->scenario.phase == ROOF_PHASE_ENCODE) {
        return roof_error_set(
            error, ROOF_USAGE,
            "measure model runs decode and prefill; for " ROOF_KEY("phase") " encode use predict");
    }
    TRY(add_phase(s, s->one ? (enum roof_phase)s->scenario.phase : ROOF_PHASE_DECODE, error));
    TRY(s->one ? ROOF_OK : add_phase(s, ROOF_PHASE_PREFILL, error));
    TRY(roof_measuring_open(&bench, &s->meter, &s->options, s->asking, error));
    enum roof_status status = measure(s, bench, error);
    s->meter->close(bench);
    return status == ROOF_OK ? write_all(s, error) : status;
}

enum roof_status roof_ask_measure_model(struct roof_asking *a, struct roof_error *error)
{
    struct stepping s = {.asking = a};
    const enum roof_status status = answer(&s, error);
    for (size_t i = 0; i < COUNT(s.prediction); i++) {
        free(s.prediction[i]);
        free(s.step[i]);
    }
    roof_text_free(&s.earlier);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the loop has freed the results of each phase */
    return status;
}
