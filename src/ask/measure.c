// SPDX-License-Identifier: MIT
/* Answers `measure`: runs kernels on this machine, and writes the resulting device. */
#include <math.h>
#include <string.h>

#include "ask/measuring.h"
#include "base/base.h"
#include "base/list.h"
#include "measure/device.h"
#include "measure/fit.h"
#include "measure/judge.h"
#include "measure/power.h"
#include "measure/rows.h"
#include "measure/timing.h"
#include "report/measure_report.h"
#include "roofline/predict.h"

#define SECONDS 60
#define ID_MAX 64
/* The file that names the device of the rows in a folder. */
#define DEVICE "device.txt"
/* The interval in seconds at which rows are written to the folder. */
#define KEEP_S 2.0

/* The question, and its results. */
struct measuring {
    struct roof_asking *asking;
    const struct roof_meter *meter; /* NULL: the first backend that finds a device */
    struct roof_meter_options options;
    struct roof_suite_formats formats;
    double seconds;
    const char *folder;  /* NULL: no files are written */
    const char *save;    /* NULL: the device is not kept */
    const char *like;    /* the device whose kernels are the start of fits; NULL: the family's */
    const char *against; /* the device for comparing the rows; NULL: the measured one */
    bool compared;
    bool resume;
    struct roof_text earlier[2]; /* rows and probes of an earlier run */
    struct roof_measured measured;
    double began_s; /* when the run began, by roof_seconds */
    double kept_s;  /* when rows were last written, since then */
    struct roof_fits fits;
    struct roof_hardware *hardware; /* owned; NULL if too little was measured */
    struct roof_text device;
    struct roof_text calibration;
};

/* --- the question -------------------------------------------------------------------------- */

/* Reads the formats of weights to measure. */
static enum roof_status read_formats(struct measuring *m, const char *list,
                                     struct roof_error *error)
{
    struct roof_list_item item;
    for (const char *rest = list; roof_list_next(&item, &rest);) {
        char name[32];
        if (m->formats.count == ROOF_SUITE_FORMATS_MAX ||
            !roof_list_item_copy(name, sizeof name, &item)) {
            return roof_error_set(error, ROOF_USAGE,
                                  ROOF_KEY("formats") " may list at most %d precisions",
                                  ROOF_SUITE_FORMATS_MAX);
        }
        TRY(roof_precision_find(&m->formats.format[m->formats.count++], name, error));
    }
    return ROOF_OK;
}

/* Checks the name for keeping the device, because it becomes a file name and must not hide a
 * built-in device. */
static enum roof_status check_save(const struct measuring *m, struct roof_error *error)
{
    struct roof_hardware *taken = NULL;
    if (m->save == NULL) {
        return ROOF_OK;
    }
    if (*m->save == '\0' || *m->save == '.' || strlen(m->save) > ID_MAX ||
        strspn(m->save, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != strlen(m->save)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY(
                "save") " needs an id of lower-case letters, digits, '-', '_' and '.', not '%s'",
            m->save);
    }
    if (roof_hardware_load(&taken, m->save, NULL, NULL) == ROOF_OK) {
        roof_hardware_free(taken);
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("save") " %s: a built-in device already has that name",
                              m->save);
    }
    return *roof_store_folders(m->asking->loans.store) != NULL
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("save") " needs a folder for your data: set HOME, "
                                                 "XDG_DATA_HOME or ROOFLINE_DATA");
}

/* Refuses an unknown device before the measurement begins. */
static enum roof_status check_like(const struct measuring *m, struct roof_error *error)
{
    struct roof_hardware *lender = NULL;
    if (m->like != NULL) {
        TRY(roof_hardware_load(&lender, m->like, roof_store_folders(m->asking->loans.store),
                               error));
        roof_hardware_free(lender);
    }
    return ROOF_OK;
}

/* Refuses inputs of a model without a model. */
static enum roof_status check_no_model(const struct roof_asking *a, struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        if (roof_asking_has(a, i) && (roof_input(i)->field || i == ROOF_INPUT_LAYOUT)) {
            return roof_error_set(error, ROOF_USAGE, "%s works with measure model NAME only",
                                  roof_input_marked(name, roof_input(i)));
        }
    }
    return a->question->classes.count == 0
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("class") " works with measure model NAME only");
}

static enum roof_status read_input(struct measuring *m, struct roof_error *error)
{
    const struct roof_asking *const a = m->asking;
    const struct roof_question *const q = a->question;
    m->folder = q->value[ROOF_INPUT_FOLDER];
    m->save = q->value[ROOF_INPUT_SAVE];
    m->like = q->value[ROOF_INPUT_LIKE];
    m->against = q->value[ROOF_INPUT_HARDWARE];
    m->compared = roof_asking_has(a, ROOF_INPUT_AGAINST);
    m->resume = roof_asking_has(a, ROOF_INPUT_RESUME_FOLDER);
    TRY(check_no_model(a, error));
    TRY(roof_measuring_device(&m->meter, &m->options, a, error));
    TRY(roof_measuring_seconds(&m->seconds, a, SECONDS, error));
    if (roof_asking_has(a, ROOF_INPUT_FORMATS)) {
        TRY(read_formats(m, q->value[ROOF_INPUT_FORMATS], error));
    }
    TRY(check_save(m, error));
    TRY(check_like(m, error));
    if (m->folder == NULL && m->resume) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("resume_folder") " needs " ROOF_KEY(
                                  "folder") ", the folder with the rows measured before");
    }
    if (m->against != NULL && !m->compared) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("hardware") " needs " ROOF_KEY(
                "compare") "; the device to measure is chosen by " ROOF_KEY("device"));
    }
    return (m->folder == NULL && m->save == NULL) || a->listener->replace != NULL
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE, "the caller allows no files to be written");
}

/* --- files --------------------------------------------------------------------------------- */

/* Writes the current rows to the folder. */
static enum roof_status keep_rows(struct measuring *m, const struct roof_measured *measured,
                                  struct roof_error *error)
{
    static const struct {
        const char *name;
        void (*write)(struct roof_text *out, const struct roof_measured *measured);
    } files[] = {{"rows.csv", roof_rows_write}, {"probes.csv", roof_probes_write}};
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < COUNT(files) && status == ROOF_OK && m->folder != NULL; i++) {
        struct roof_text text = ROOF_TEXT_INIT;
        files[i].write(&text, measured);
        status = roof_measuring_write(m->asking, m->folder, files[i].name, &text, error);
        roof_text_free(&text);
    }
    return status;
}

/* Keeps the device in the user's data folder, which is the last of the search folders. */
static enum roof_status save(const struct measuring *m, struct roof_error *error)
{
    const char *const *folder = roof_store_folders(m->asking->loans.store);
    char name[sizeof "calibration/" + ID_MAX + sizeof ".json"];
    while (folder[1] != NULL) {
        folder++;
    }
    snprintf(name, sizeof name, "hardware/%s.json", m->save);
    TRY(roof_measuring_write(m->asking, *folder, name, &m->device, error));
    snprintf(name, sizeof name, "calibration/%s.json", m->save);
    return roof_measuring_write(m->asking, *folder, name, &m->calibration, error);
}

/* --- measuring ----------------------------------------------------------------------------- */

static enum roof_status on_measured(void *context, const struct roof_measured *measured,
                                    struct roof_error *error)
{
    struct measuring *const m = context;
    if (measured->took_s - m->kept_s < KEEP_S) {
        return ROOF_OK;
    }
    m->kept_s = measured->took_s;
    return keep_rows(m, measured, error);
}

static bool on_stop(void *context)
{
    const struct measuring *const m = context;
    return roof_measuring_stopped(m->asking, m->began_s, m->seconds);
}

static bool on_known(void *context, struct roof_meter_row *row, const struct roof_meter_task *task)
{
    const struct measuring *const m = context;
    const struct roof_text *const text = &m->earlier[task->probe == ROOF_PROBE_OPERATOR ? 0 : 1];
    return text->data != NULL && roof_rows_find(row, task, text->data);
}

/* Checks that an opened device supports the requested measurement. */
static enum roof_status check_device(struct measuring *m, const struct roof_bench *bench,
                                     struct roof_error *error)
{
    struct roof_meter_device device;
    if (m->meter->check != NULL && !m->options.shared) {
        TRY(m->meter->check(bench, error));
    }
    m->meter->describe(&device, bench);
    if (m->formats.count > 0 && *device.lacks != '\0') {
        return roof_error_set(error, ROOF_IO, "products cannot be measured: %s", device.lacks);
    }
    for (size_t i = 0; i < m->formats.count; i++) {
        const enum roof_precision format = m->formats.format[i];
        if (!roof_suite_able(m->meter, bench, format)) {
            return roof_error_set(
                error, ROOF_USAGE,
                ROOF_KEY("formats") ": products in %s cannot be measured on this device (" ROOF_KEY(
                    "device") " %s)",
                roof_precision_name(format), m->meter->name);
        }
    }
    if (m->formats.count == 0) {
        TRY(read_formats(m, m->meter->formats, error));
    }
    /* This reports an unwritable folder before the work begins. */
    TRY(m->resume ? ROOF_OK : keep_rows(m, &m->measured, error));
    const bool has_rows =
        roof_measuring_has_rows(&m->earlier[0]) || roof_measuring_has_rows(&m->earlier[1]);
    return m->folder == NULL
               ? ROOF_OK
               : roof_measuring_claim(m->asking, m->folder, DEVICE, &device, has_rows, error);
}

/* Measures a checked device. */
static enum roof_status run(struct measuring *m, struct roof_bench *bench, struct roof_error *error)
{
    const struct roof_suite_calls calls = {
        .context = m, .measured = on_measured, .stop = on_stop, .known = on_known};
    const double power_s = roof_power_share(m->meter, bench, m->seconds);
    m->began_s = roof_seconds();
    TRY(roof_suite_run(&m->measured, m->meter, bench, &m->formats, m->seconds - power_s, &calls,
                       error));
    TRY(roof_power_run(&m->measured.power, m->meter, bench, &m->formats, power_s, &calls, error));
    m->measured.took_s = roof_seconds() - m->began_s;
    return ROOF_OK;
}

static enum roof_status measure(struct measuring *m, struct roof_error *error)
{
    struct roof_bench *bench = NULL;
    if (m->resume) {
        TRY(roof_measuring_read(&m->earlier[0], m->folder, "rows.csv", roof_rows_columns, error));
        TRY(roof_measuring_read(&m->earlier[1], m->folder, "probes.csv", roof_probes_columns,
                                error));
    }
    TRY(roof_measuring_open(&bench, &m->meter, &m->options, m->asking, error));
    enum roof_status status = check_device(m, bench, error);
    if (status == ROOF_OK) {
        status = run(m, bench, error);
    }
    m->meter->close(bench);
    return status;
}

/* --- the results --------------------------------------------------------------------------- */

/* Returns the id of the device: the name for keeping it, or that of the folder, or the backend's.
 */
static void name_device(char out[ID_MAX + 1], const struct measuring *m)
{
    const char *name = m->save != NULL ? m->save : m->folder != NULL ? m->folder : m->meter->name;
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/') {
        length--;
    }
    size_t first = length;
    while (first > 0 && name[first - 1] != '/') {
        first--;
    }
    length = length - first > ID_MAX ? ID_MAX : length - first;
    memcpy(out, name + first, length);
    out[length] = '\0';
}

/* Loads the device whose kernels are the start of fits: --like, or the family of the architecture.
 */
static enum roof_status load_lender(struct roof_hardware **out, const struct measuring *m,
                                    struct roof_error *error)
{
    const char *const *const folders = roof_store_folders(m->asking->loans.store);
    if (m->like != NULL) {
        TRY(roof_hardware_load(out, m->like, folders, error));
        return roof_hardware_calibrate(*out, NULL, folders, error);
    }
    TRY(roof_hardware_parse(out, m->device.data, m->device.length, "hardware.json", error));
    return roof_hardware_calibrate(*out, NULL, folders, error);
}

/* Makes the device and its calibration from the rows. */
static enum roof_status make_device(struct measuring *m, struct roof_error *error)
{
    static const char *const none[] = {NULL};
    char id[ID_MAX + 1];
    struct roof_hardware *lender = NULL;
    name_device(id, m);
    roof_device_write(&m->device, &m->measured, id, m->like);
    if (m->device.failed) {
        return roof_no_memory(error);
    }
    TRY(roof_hardware_parse(&m->hardware, m->device.data, m->device.length, "hardware.json",
                            error));
    enum roof_status status = load_lender(&lender, m, error);
    if (status == ROOF_OK) {
        status = roof_fit_measured(&m->fits, &m->measured, m->hardware, lender->calibration, error);
    }
    if (status == ROOF_OK) {
        const struct roof_calibration own = {
            .id = id, .attributions = none, .fit = m->fits.fit, .count = m->fits.count};
        roof_calibration_write(&m->calibration, &own);
    }
    roof_hardware_free(lender);
    return status;
}

/* Judges the rows by the device's own calibration, or by the requested device. */
static enum roof_status judge(struct roof_judgement *out, struct measuring *m,
                              struct roof_error *error)
{
    struct roof_calibration own = {
        .id = m->hardware->id, .fit = m->fits.fit, .count = m->fits.count};
    const struct roof_hardware *device = m->hardware;
    if (m->against != NULL) {
        TRY(roof_asking_hardware(&device, m->asking, m->against, error));
    }
    m->hardware->calibration = &own; /* it stays ours, because the device does not free it */
    const enum roof_status status = roof_judge(out, &m->measured, device, error);
    m->hardware->calibration = NULL;
    return status;
}

/* Writes the document about the measurement, and the requested files. */
static enum roof_status write_all(struct measuring *m, struct roof_error *error)
{
    struct roof_asking *const a = m->asking;
    struct roof_judgement judgement;
    struct roof_text text = ROOF_TEXT_INIT;
    const struct roof_measure_report report = {.measured = &m->measured,
                                               .judgement = &judgement,
                                               .fits = &m->fits,
                                               .against = m->against,
                                               .compared = m->compared};
    if (m->folder != NULL) {
        TRY(roof_measuring_write(m->asking, m->folder, "hardware.json", &m->device, error));
        TRY(roof_measuring_write(m->asking, m->folder, "calibration.json", &m->calibration, error));
    }
    if (m->save != NULL) {
        TRY(save(m, error));
    }
    TRY(judge(&judgement, m, error));
    if (a->form.format == ROOF_CSV) {
        roof_rows_write(&text, &m->measured);
    } else if (a->form.format == ROOF_JSON) {
        roof_report_measured_json(&text, &report);
    } else if (a->form.format == ROOF_MARKDOWN) {
        roof_report_measured_markdown(&text, &report);
    } else {
        roof_report_measured_text(&text, &report);
    }
    const enum roof_status status = roof_asking_write(a, &text, error);
    roof_text_free(&text);
    return status != ROOF_OK || !m->compared || roof_agrees(&judgement) ? status : ROOF_UNSATISFIED;
}

static enum roof_status answer(struct measuring *m, struct roof_error *error)
{
    struct roof_error other;
    TRY(read_input(m, error));
    const enum roof_status status = measure(m, error);
    if (status != ROOF_OK && m->measured.count > 0) { /* rows are kept if the device fails */
        (void)keep_rows(m, &m->measured, &other);
    }
    TRY(status);
    TRY(keep_rows(m, &m->measured, error));
    if (roof_asking_stopped(m->asking)) {
        return roof_error_set(
            error, ROOF_IO, "interrupted after %zu of %zu measurements%s", m->measured.count,
            m->measured.planned,
            m->folder == NULL ? "" : "; the rows are kept for " ROOF_KEY("resume_folder"));
    }
    TRY(make_device(m, error));
    return write_all(m, error);
}

enum roof_status roof_ask_measure(struct roof_asking *a, struct roof_error *error)
{
    if (a->question->model) {
        return roof_ask_measure_model(a, error);
    }
    struct measuring m = {.asking = a};
    const enum roof_status status = answer(&m, error);
    roof_measured_free(&m.measured);
    roof_hardware_free(m.hardware);
    roof_text_free(&m.earlier[0]);
    roof_text_free(&m.earlier[1]);
    roof_text_free(&m.device);
    roof_text_free(&m.calibration);
    return status;
}
