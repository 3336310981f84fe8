// SPDX-License-Identifier: MIT
/* Answers `monitor`: samples of GPUs over time, from their drivers or from a log. */
#include <math.h>
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "base/list.h"
#include "measure/energy.h"
#include "measure/gpus.h"
#include "measure/power_log.h"
#include "report/monitor_report.h"

#define INTERVAL_S 1.0
/* The least interval. Drivers update their values ten to fifty times a second. */
#define INTERVAL_MIN_S 0.001
#define INTERVAL_MAX_S 3600.0
#define SECONDS_MAX 1e9

/* The inputs, and the state while sampling. */
struct monitoring {
    struct roof_asking *asking;
    const char *log; /* NULL: samples come from drivers */
    double interval_s;
    double seconds; /* HUGE_VAL: until the caller ends it */
    double tokens;  /* NAN: not given */
    bool counts;    /* the output of the command is read for tokens */
    bool chosen[ROOF_GPUS_MAX];
    bool any;     /* all devices are selected */
    bool rows;    /* samples are written, not only the summary */
    bool live;    /* rows replace the previous ones on the terminal */
    size_t above; /* number of the previous rows to replace */
    struct roof_table table;
    struct roof_text text;
    bool seen[ROOF_GPUS_MAX];
    char name[ROOF_GPUS_MAX][ROOF_GPU_NAME_SIZE];
    struct roof_energy energy[ROOF_GPUS_MAX];
    struct roof_energy_sum sums[ROOF_GPUS_MAX];
    int64_t bad; /* number of bad rows in a log */
    size_t lost; /* number of failed devices */
};

/* --- the question -------------------------------------------------------------------------- */

/* Reads the list of devices: "0,2". */
static enum roof_status read_devices(struct monitoring *m, const char *text,
                                     struct roof_error *error)
{
    struct roof_list_item item;
    m->any = text == NULL;
    for (const char *rest = text; roof_list_next(&item, &rest);) {
        char number[16];
        int64_t device = 0;
        if (!roof_list_item_copy(number, sizeof number, &item) ||
            roof_parse_integer(&device, number, "", 0, ROOF_GPUS_MAX - 1, NULL) != ROOF_OK) {
            return roof_error_set(error, ROOF_USAGE,
                                  ROOF_KEY("device") " must be numbers from 0 to %d with commas "
                                                     "between them, not '%s'",
                                  ROOF_GPUS_MAX - 1, text);
        }
        m->chosen[device] = true;
    }
    return ROOF_OK;
}

static enum roof_status read_times(struct monitoring *m, const struct roof_question *q,
                                   struct roof_error *error)
{
    const char *const interval = q->value[ROOF_INPUT_INTERVAL];
    const char *const seconds = q->value[ROOF_INPUT_SECONDS];
    m->interval_s = INTERVAL_S;
    m->seconds = HUGE_VAL;
    if (interval != NULL &&
        (roof_parse_time(&m->interval_s, interval, ROOF_KEY("interval"), NULL) != ROOF_OK ||
         m->interval_s < INTERVAL_MIN_S || m->interval_s > INTERVAL_MAX_S)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("interval") " must be a time from 1ms to 3600s with its "
                                                   "unit, such as 500ms, not '%s'",
                              interval);
    }
    return seconds == NULL ? ROOF_OK
                           : roof_parse_seconds(&m->seconds, seconds, ROOF_KEY("seconds"),
                                                INTERVAL_MIN_S, SECONDS_MAX, error);
}

static enum roof_status read_input(struct monitoring *m, struct roof_error *error)
{
    static const size_t live[] = {ROOF_INPUT_INTERVAL, ROOF_INPUT_SECONDS, ROOF_INPUT_LIVE,
                                  ROOF_INPUT_COUNT_TOKENS};
    struct roof_asking *const a = m->asking;
    const struct roof_question *const q = a->question;
    int64_t tokens = 0;
    m->log = q->value[ROOF_INPUT_FROM];
    if (m->log != NULL) {
        TRY(roof_asking_refuse(a, live, COUNT(live), ROOF_KEY("from"), error));
    }
    TRY(read_times(m, q, error));
    TRY(read_devices(m, q->value[ROOF_INPUT_DEVICE], error));
    TRY(roof_read_integer(&tokens, q, ROOF_DIM_TOKENS, error));
    m->tokens = tokens > 0 ? (double)tokens : ROOF_UNKNOWN;
    m->counts = roof_asking_has(a, ROOF_INPUT_COUNT_TOKENS);
    m->rows = !roof_asking_has(a, ROOF_INPUT_SUMMARY);
    m->live = roof_asking_has(a, ROOF_INPUT_LIVE) && a->form.format == ROOF_TEXT && m->rows;
    return roof_table_open(&m->table, a->form.rows, ROOF_TABLE_SAMPLES, ROOF_OPERATOR_GEMM,
                           a->form.columns, error);
}

/* --- samples ------------------------------------------------------------------------------- */

static void begin_device(struct monitoring *m, int device)
{
    if (!m->seen[device]) {
        m->seen[device] = true;
        roof_energy_begin(&m->energy[device]);
    }
}

static void take(struct monitoring *m, const struct roof_sample *sample)
{
    begin_device(m, sample->device);
    roof_energy_add(&m->energy[sample->device], sample);
    if (m->rows) {
        roof_table_sample(&m->table, &m->text, sample);
    }
}

static void complain(const struct monitoring *m, const struct roof_error *complaint)
{
    const struct roof_listener *const listener = m->asking->listener;
    if (listener->complain != NULL) {
        listener->complain(listener->context, complaint);
    }
}

/* Reads every remaining device. A device that fails is reported once, and not read again. */
static enum roof_status sample_all(struct monitoring *m, struct roof_gpus *gpus, double now_s,
                                   struct roof_error *error)
{
    size_t rows = 0;
    if (m->live && m->above > 0) { /* moves the cursor up, and clears the screen below it */
        roof_text_printf(&m->text, "\033[%zuA\033[J", m->above);
    }
    for (int i = 0; i < gpus->count; i++) {
        struct roof_sample sample;
        struct roof_error failed;
        if (!m->chosen[i]) {
            continue;
        }
        if (roof_gpus_read(gpus, &sample, i, &failed) == ROOF_OK) {
            sample.time_s = round(now_s * 1e6) / 1e6;
            take(m, &sample);
            rows++;
        } else {
            begin_device(m, i);
            m->chosen[i] = false;
            m->lost++;
            (void)roof_error_prefix(&failed, ROOF_IO, "device %d: ", i);
            complain(m, &failed);
        }
    }
    m->above = rows;
    return roof_asking_write(m->asking, &m->text, error);
}

/* Writes the header of the rows. */
static enum roof_status begin_rows(struct monitoring *m, const char *source,
                                   struct roof_error *error)
{
    if (m->asking->form.format == ROOF_JSON) {
        roof_text_printf(&m->text, "{\"schema\":\"roofline/monitor/1\",\n\"source\":\"%s\"",
                         source);
        roof_text_put(&m->text, m->rows ? ",\n\"samples\":" : "");
    }
    if (m->rows) {
        roof_table_begin(&m->table, &m->text);
    }
    return m->text.length == 0
               ? m->asking->listener->write(m->asking->listener->context, "", 0, error)
               : roof_asking_write(m->asking, &m->text, error);
}

/* Sums the energy of every device. */
static size_t sum_devices(struct monitoring *m)
{
    size_t count = 0;
    for (int i = 0; i < ROOF_GPUS_MAX; i++) {
        if (m->seen[i]) {
            struct roof_energy_sum *const sum = &m->sums[count++];
            roof_energy_sum(sum, &m->energy[i]);
            sum->device = i;
            memcpy(sum->name, m->name[i], sizeof sum->name);
        }
    }
    return count;
}

/* Reports the summary of rows for programs as a remark, because these have no place for it. */
static enum roof_status tell_end(struct monitoring *m, const struct roof_monitor_report *report,
                                 struct roof_error *error)
{
    struct roof_text line = ROOF_TEXT_INIT;
    struct roof_error told;
    roof_report_monitor_line(&line, report);
    const bool failed = line.failed;
    if (!failed) {
        (void)roof_error_set(&told, ROOF_OK, "%s", line.data);
        complain(m, &told);
    }
    roof_text_free(&line);
    return failed ? roof_no_memory(error) : ROOF_OK;
}

/* Says that the output of the command named no number of tokens, if it was to be read. */
static void tell_no_count(const struct monitoring *m)
{
    const struct roof_listener *const l = m->asking->listener;
    struct roof_error told;
    if (m->counts && l->remark != NULL) {
        (void)roof_error_set(&told, ROOF_OK,
                             "note: the output of the command has no number of tokens "
                             "(" ROOF_KEY("count_tokens") ")");
        l->remark(l->context, &told);
    }
}

static enum roof_status end_rows(struct monitoring *m, const char *source, struct roof_error *error)
{
    const struct roof_watcher *const watcher = m->asking->watcher;
    const enum roof_answer_format format = m->asking->form.format;
    const int64_t counted = watcher == NULL ? 0 : watcher->tokens(watcher->context);
    const struct roof_monitor_report report = {
        .source = source,
        .sums = m->sums,
        .count = sum_devices(m),
        .tokens = counted > 0 && isnan(m->tokens) ? (double)counted : m->tokens};
    if (isnan(report.tokens)) {
        tell_no_count(m);
    }
    if (format == ROOF_JSON) {
        if (m->rows) {
            roof_table_end(&m->table, &m->text);
            m->text.length -= m->text.length > 0 ? 1U : 0U; /* removes the newline */
        }
        roof_report_monitor_json(&m->text, &report);
        roof_text_put(&m->text, "\n}\n");
    } else if (format == ROOF_TEXT) {
        roof_text_put(&m->text, m->rows ? "\n" : "");
        roof_report_monitor_text(&m->text, &report);
    } else {
        TRY(tell_end(m, &report, error));
    }
    return roof_asking_write(m->asking, &m->text, error);
}

/* --- drivers ------------------------------------------------------------------------------- */

/* Checks that the selected devices exist, and stores their names. */
static enum roof_status choose_devices(struct monitoring *m, struct roof_gpus *gpus,
                                       struct roof_error *error)
{
    for (int i = 0; i < ROOF_GPUS_MAX; i++) {
        if (m->chosen[i] && i >= gpus->count) {
            return roof_error_set(
                error, ROOF_USAGE,
                ROOF_KEY(
                    "device") " %d does not exist: the driver (%s) has %d GPU%s, numbered from 0",
                i, gpus->driver->source, gpus->count, gpus->count == 1 ? "" : "s");
        }
        m->chosen[i] = m->chosen[i] || (m->any && i < gpus->count);
        if (m->chosen[i]) {
            gpus->driver->name(gpus, m->name[i], i);
        }
    }
    return ROOF_OK;
}

static bool all_lost(const struct monitoring *m, const struct roof_gpus *gpus)
{
    int i = 0;
    while (i < gpus->count && !m->chosen[i]) {
        i++;
    }
    return i == gpus->count;
}

/* Samples until the watcher or the duration ends it; without a watcher once. */
static enum roof_status watch(struct monitoring *m, struct roof_gpus *gpus,
                              struct roof_error *error)
{
    const struct roof_watcher *const watcher = m->asking->watcher;
    double now_s = 0;
    bool more = watcher != NULL;
    if (more) {
        TRY(watcher->clock(watcher->context, &now_s, &more, 0, error));
    }
    TRY(sample_all(m, gpus, now_s, error));
    while (more && now_s < m->seconds) {
        /* Sample times that were missed because reading took long are skipped. */
        const double next_s = (floor(now_s / m->interval_s * (1 + 1e-9)) + 1) * m->interval_s;
        const double due_s = all_lost(m, gpus) ? m->seconds : fmin(next_s, m->seconds);
        TRY(watcher->clock(watcher->context, &now_s, &more, due_s, error));
        TRY(sample_all(m, gpus, now_s, error));
    }
    return ROOF_OK;
}

static enum roof_status watch_drivers(struct monitoring *m, struct roof_gpus *gpus,
                                      struct roof_error *error)
{
    TRY(choose_devices(m, gpus, error));
    TRY(begin_rows(m, gpus->driver->source, error));
    TRY(watch(m, gpus, error));
    TRY(end_rows(m, gpus->driver->source, error));
    return m->lost == 0 ? ROOF_OK : ROOF_IO;
}

static enum roof_status from_drivers(struct monitoring *m, struct roof_error *error)
{
    struct roof_gpus *gpus = NULL;
    TRY(roof_gpus_open(&gpus, error));
    const enum roof_status status = watch_drivers(m, gpus, error);
    roof_gpus_close(gpus);
    return status;
}

/* --- logs ---------------------------------------------------------------------------------- */

/* The most bad rows that are reported; more are only counted. */
#define BAD_SHOWN 20

static enum roof_status read_rows(struct monitoring *m, struct roof_power_log *log,
                                  struct roof_error *error)
{
    bool more = true;
    while (more) {
        struct roof_sample sample;
        const enum roof_status status = roof_power_log_read(log, &sample, &more, error);
        if (status == ROOF_INVALID) {
            m->bad++;
            if (m->bad <= BAD_SHOWN) {
                complain(m, error);
            }
            continue;
        }
        TRY(status);
        if (more && (m->any || m->chosen[sample.device])) {
            take(m, &sample);
            TRY(roof_asking_put(m->asking, &m->text, error));
        }
    }
    return ROOF_OK;
}

static enum roof_status read_log(struct monitoring *m, struct roof_power_log *log, const char *path,
                                 struct roof_error *error)
{
    TRY(roof_power_log_open(log, path, error));
    TRY(begin_rows(m, "log", error));
    TRY(read_rows(m, log, error));
    if (log->rows == 0) {
        return roof_error_at(error, ROOF_INVALID, log->csv.name, 0, 0, "the log has no rows");
    }
    memcpy(m->name, log->name, sizeof m->name);
    TRY(end_rows(m, "log", error));
    *error = (struct roof_error){.status = m->bad == 0 ? ROOF_OK : ROOF_INVALID};
    return error->status;
}

static enum roof_status from_log(struct monitoring *m, const char *path, struct roof_error *error)
{
    struct roof_power_log log;
    const enum roof_status status = read_log(m, &log, path, error);
    roof_power_log_close(&log);
    return status;
}

enum roof_status roof_ask_monitor(struct roof_asking *a, struct roof_error *error)
{
    struct monitoring m = {.asking = a, .text = ROOF_TEXT_INIT};
    enum roof_status status = read_input(&m, error);
    if (status == ROOF_OK) {
        status = m.log == NULL ? from_drivers(&m, error) : from_log(&m, m.log, error);
    }
    roof_text_free(&m.text);
    return status;
}
