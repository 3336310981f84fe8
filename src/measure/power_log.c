// SPDX-License-Identifier: MIT
/* The names are those of `nvidia-smi --help-query-gpu`, with their older spellings. */
#include "measure/power_log.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/date.h"

#define NAMES_MAX 6

/* The columns that have a value, the best first, and the unit behind its numbers. */
static const struct {
    const char *name[NAMES_MAX];
    const char *unit;
    enum roof_unit key_unit;
    double factor; /* from the unit of the column to that of key_unit */
} columns[ROOF_LOG_COUNT] = {
    [ROOF_LOG_DATE] = {.name = {"timestamp"}},
    [ROOF_LOG_SECONDS] = {.name = {"time_s"}, .unit = "s", .factor = 1},
    [ROOF_LOG_INDEX] = {.name = {"index", "device"}, .unit = "", .factor = 1},
    [ROOF_LOG_IDENTITY] = {.name = {"uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "serial",
                                    "gpu_serial"}},
    [ROOF_LOG_NAME] = {.name = {"name", "gpu_name"}},
    [ROOF_LOG_POWER] = {.name = {"power.draw.instant", "power.draw", "power.draw.average",
                                 "power_w"},
                        .unit = "W",
                        .key_unit = ROOF_UNIT_WATTS,
                        .factor = 1},
    [ROOF_LOG_SM] = {.name = {"clocks.current.sm", "clocks.sm", "clocks.current.graphics",
                              "clocks.gr", "sm_mhz"},
                     .unit = "MHz",
                     .key_unit = ROOF_UNIT_MEGAHERTZ,
                     .factor = 1},
    [ROOF_LOG_MEMORY_CLOCK] = {.name = {"clocks.current.memory", "clocks.mem", "memory_mhz"},
                               .unit = "MHz",
                               .key_unit = ROOF_UNIT_MEGAHERTZ,
                               .factor = 1},
    [ROOF_LOG_TEMPERATURE] = {.name = {"temperature.gpu", "temperature_c"},
                              .unit = "C",
                              .factor = 1},
    [ROOF_LOG_PERCENT] = {.name = {"utilization.gpu"},
                          .unit = "%",
                          .key_unit = ROOF_UNIT_FRACTION,
                          .factor = 1},
    [ROOF_LOG_SHARE] = {.name = {"utilization"}, .unit = "", .factor = 1},
    [ROOF_LOG_MEBIBYTES] = {.name = {"memory.used"}, .unit = "MiB", .factor = 1048576},
    [ROOF_LOG_BYTES] = {.name = {"memory_used_bytes"}, .unit = "", .factor = 1},
    [ROOF_LOG_REASONS] = {.name = {"clocks_event_reasons.active",
                                   "clocks_throttle_reasons.active"}},
    [ROOF_LOG_THROTTLE] = {.name = {"throttle"}},
};

/* --- cells --------------------------------------------------------------------------------- */

/* Copies a cell without the blanks around it; false when it is too long. */
static bool trimmed(char out[ROOF_GPU_NAME_SIZE], const char *cell)
{
    const char *const begin = cell + strspn(cell, " \t");
    size_t length = strlen(begin);
    while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t')) {
        length--;
    }
    out[0] = '\0';
    if (length >= ROOF_GPU_NAME_SIZE) {
        return false;
    }
    memcpy(out, begin, length);
    out[length] = '\0';
    return true;
}

static enum roof_status bad(const struct roof_power_log *log, enum roof_log_value value,
                            const char *what, const char *cell, struct roof_error *error)
{
    return roof_error_at(error, ROOF_INVALID, log->csv.name, log->csv.line, 0,
                         "cell %d: %s must be %s, not '%s'", log->column[value] + 1,
                         columns[value].name[log->named[value]], what, cell);
}

/* Reads the cell of a value; *there is false where the log has no such column, or the driver had
 * nothing to say: "", "N/A", "[N/A]", "[Not Supported]", "[GPU is lost]". */
static enum roof_status read_cell(char out[ROOF_GPU_NAME_SIZE], bool *there,
                                  const struct roof_power_log *log, enum roof_log_value value,
                                  struct roof_error *error)
{
    const int column = log->column[value];
    out[0] = '\0';
    *there = false;
    if (column < 0) {
        return ROOF_OK;
    }
    if (!trimmed(out, log->csv.cell[column])) {
        return bad(log, value, "shorter than 96 bytes", "...", error);
    }
    *there = out[0] != '\0' && out[0] != '[' && strcmp(out, "N/A") != 0;
    return ROOF_OK;
}

/* Reads a number with or without its unit, in SI; NAN where it is not there. */
static enum roof_status read_number(double *out, const struct roof_power_log *log,
                                    enum roof_log_value value, struct roof_error *error)
{
    char cell[ROOF_GPU_NAME_SIZE];
    char number[ROOF_GPU_NAME_SIZE];
    bool there = false;
    double parsed = 0;
    TRY(read_cell(cell, &there, log, value, error));
    if (!there) {
        return ROOF_OK;
    }
    const size_t length = strspn(cell, "0123456789+-.eE");
    const char *const unit = cell + length + strspn(cell + length, " ");
    memcpy(number, cell, length);
    number[length] = '\0';
    if ((*unit != '\0' && strcmp(unit, columns[value].unit) != 0) ||
        roof_parse_number(&parsed, number, "", -1e18, 1e18, NULL) != ROOF_OK) {
        return bad(log, value, "a number in the unit that nvidia-smi prints", cell, error);
    }
    *out = roof_from_unit(parsed * columns[value].factor, columns[value].key_unit);
    return ROOF_OK;
}

/* --- times --------------------------------------------------------------------------------- */

/* Reads so many digits, which end with one of `ends`; false when they do not. */
static bool read_digits(int *out, const char **at, int count, const char *ends)
{
    *out = 0;
    for (int i = 0; i < count; i++, ++*at) {
        if (!isdigit((unsigned char)**at)) {
            return false;
        }
        *out = 10 * *out + (**at - '0');
    }
    if (strchr(ends, **at) == NULL) { /* finds the terminator, too */
        return false;
    }
    *at += **at != '\0';
    return true;
}

/* Reads "2024/01/31 12:34:56.789". */
static bool read_date(double *out_s, const char *text)
{
    int year = 0;
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    double fraction = 0;
    double place = 0.1;
    const char *at = text;
    if (!read_digits(&year, &at, 4, "/-") || !read_digits(&month, &at, 2, "/-") ||
        !read_digits(&day, &at, 2, " T") || !read_digits(&hour, &at, 2, ":") ||
        !read_digits(&minute, &at, 2, ":") || !read_digits(&second, &at, 2, ".") || month < 1 ||
        month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) {
        return false;
    }
    for (; isdigit((unsigned char)*at); at++) {
        fraction += (*at - '0') * place;
        place /= 10;
    }
    *out_s = 86400.0 * roof_days(year, month, day) + 3600 * hour + 60 * minute + second + fraction;
    return *at == '\0';
}

/* Reads the time since the first row, in whole microseconds. */
static enum roof_status read_time(double *out_s, struct roof_power_log *log,
                                  struct roof_error *error)
{
    char cell[ROOF_GPU_NAME_SIZE];
    bool there = false;
    double time_s = ROOF_UNKNOWN;
    TRY(read_number(&time_s, log, ROOF_LOG_SECONDS, error));
    TRY(read_cell(cell, &there, log, ROOF_LOG_DATE, error));
    if (there && !read_date(&time_s, cell)) {
        return bad(log, ROOF_LOG_DATE, "a time such as 2024/01/31 12:34:56.789", cell, error);
    }
    if (isnan(time_s)) {
        return roof_error_at(error, ROOF_INVALID, log->csv.name, log->csv.line, 0,
                             "the row has no time");
    }
    if (isnan(log->begin_s)) {
        log->begin_s = time_s;
    }
    *out_s = round((time_s - log->begin_s) * 1e6) / 1e6;
    return ROOF_OK;
}

/* --- devices ------------------------------------------------------------------------------- */

/* Finds the number of a device by what names it; the next one where it is new. */
static enum roof_status number_of(int *out, struct roof_power_log *log, const char *identity,
                                  struct roof_error *error)
{
    int i = 0;
    while (i < log->identities && strcmp(log->identity[i], identity) != 0) {
        i++;
    }
    if (i == ROOF_GPUS_MAX) {
        return roof_error_at(error, ROOF_INVALID, log->csv.name, log->csv.line, 0,
                             "the log has more than %d GPUs", ROOF_GPUS_MAX);
    }
    if (i == log->identities) {
        memcpy(log->identity[i], identity, strlen(identity) + 1);
        log->identities++;
    }
    *out = i;
    return ROOF_OK;
}

/* Finds the device of a row: by its index, else by what names it; a log without either has one. */
static enum roof_status read_device(int *out, struct roof_power_log *log, struct roof_error *error)
{
    char identity[ROOF_GPU_NAME_SIZE];
    bool there = false;
    double index = ROOF_UNKNOWN;
    *out = 0;
    TRY(read_number(&index, log, ROOF_LOG_INDEX, error));
    if (!isnan(index)) {
        if (!(index >= 0 && index < ROOF_GPUS_MAX && index == floor(index))) {
            return bad(log, ROOF_LOG_INDEX, "an integer from 0 to 63",
                       log->csv.cell[log->column[ROOF_LOG_INDEX]], error);
        }
        *out = (int)index;
        return ROOF_OK;
    }
    TRY(read_cell(identity, &there, log, ROOF_LOG_IDENTITY, error));
    return there ? number_of(out, log, identity, error) : ROOF_OK;
}

/* Refuses a row that is not later than the one before of its device. */
static enum roof_status check_order(struct roof_power_log *log, const struct roof_sample *sample,
                                    struct roof_error *error)
{
    double *const until_s = &log->until_s[sample->device];
    if (!isnan(*until_s) && sample->time_s <= *until_s) {
        return roof_error_at(error, ROOF_INVALID, log->csv.name, log->csv.line, 0,
                             "the time does not advance%s",
                             log->column[ROOF_LOG_INDEX] < 0 && log->column[ROOF_LOG_IDENTITY] < 0
                                 ? ": a log of several GPUs needs the column index"
                                 : "");
    }
    *until_s = sample->time_s;
    return ROOF_OK;
}

/* --- rows ---------------------------------------------------------------------------------- */

static enum roof_status read_reasons(struct roof_power_log *log, struct roof_sample *out,
                                     struct roof_error *error)
{
    char cell[ROOF_GPU_NAME_SIZE];
    bool there = false;
    unsigned long long bits = 0;
    char end = '\0';
    TRY(read_cell(cell, &there, log, ROOF_LOG_REASONS, error));
    if (there) {
        if (strncmp(cell, "0x", 2) != 0 || sscanf(cell + 2, "%16llx%c", &bits, &end) != 1) {
            return bad(log, ROOF_LOG_REASONS, "a set of bits such as 0x0000000000000004", cell,
                       error);
        }
        roof_throttle_reasons(out->throttle, bits);
    }
    if (log->column[ROOF_LOG_THROTTLE] >= 0) {
        (void)snprintf(out->throttle, sizeof out->throttle, "%s",
                       log->csv.cell[log->column[ROOF_LOG_THROTTLE]]);
    }
    return ROOF_OK;
}

static enum roof_status read_row(struct roof_power_log *log, struct roof_sample *out,
                                 struct roof_error *error)
{
    const struct {
        enum roof_log_value value;
        double *at;
    } numbers[] = {{ROOF_LOG_POWER, &out->power_w},
                   {ROOF_LOG_SM, &out->sm_hz},
                   {ROOF_LOG_MEMORY_CLOCK, &out->memory_hz},
                   {ROOF_LOG_TEMPERATURE, &out->temperature_c},
                   {ROOF_LOG_PERCENT, &out->utilization},
                   {ROOF_LOG_SHARE, &out->utilization},
                   {ROOF_LOG_MEBIBYTES, &out->memory_used_bytes},
                   {ROOF_LOG_BYTES, &out->memory_used_bytes}};
    bool there = false;
    TRY(read_time(&out->time_s, log, error));
    TRY(read_device(&out->device, log, error));
    for (size_t i = 0; i < COUNT(numbers); i++) {
        TRY(read_number(numbers[i].at, log, numbers[i].value, error));
    }
    if (out->power_w < 0) {
        return bad(log, ROOF_LOG_POWER, "0 W or more", log->csv.cell[log->column[ROOF_LOG_POWER]],
                   error);
    }
    TRY(read_reasons(log, out, error));
    TRY(check_order(log, out, error));
    return read_cell(log->name[out->device], &there, log, ROOF_LOG_NAME, error);
}

/* Tells if a row is the header again: a log that was appended to has it several times. */
static bool is_header(const struct roof_power_log *log)
{
    char cell[ROOF_GPU_NAME_SIZE];
    return trimmed(cell, log->csv.cell[0]) && strcmp(cell, log->first) == 0;
}

enum roof_status roof_power_log_read(struct roof_power_log *log, struct roof_sample *out,
                                     bool *more, struct roof_error *error)
{
    int last = -1;
    for (int i = 0; i < ROOF_LOG_COUNT; i++) {
        last = log->column[i] > last ? log->column[i] : last;
    }
    roof_sample_clear(out);
    do {
        TRY(roof_csv_read(&log->csv, more, error));
        if (!*more) {
            return ROOF_OK;
        }
    } while (is_header(log));
    log->rows++;
    if (log->csv.count <= (size_t)last) {
        return roof_error_at(error, ROOF_INVALID, log->csv.name, log->csv.line, 0,
                             "the row has %zu cells, too few for the %d columns that are needed",
                             log->csv.count, last + 1);
    }
    return read_row(log, out, error);
}

/* --- the header ---------------------------------------------------------------------------- */

/* Finds the column of a value: that of its best name. */
static int column_of(size_t *named, const struct roof_csv *csv, enum roof_log_value value)
{
    char name[ROOF_GPU_NAME_SIZE];
    for (size_t k = 0; k < NAMES_MAX && columns[value].name[k] != NULL; k++) {
        for (size_t i = 0; i < csv->count; i++) {
            const bool fits = trimmed(name, csv->cell[i]);
            char *const unit = strstr(name, " ["); /* power.draw [W] */
            if (unit != NULL) {
                *unit = '\0';
            }
            if (fits && strcmp(name, columns[value].name[k]) == 0) {
                *named = k;
                return (int)i;
            }
        }
    }
    return -1;
}

static enum roof_status read_header(struct roof_power_log *log, struct roof_error *error)
{
    bool more = false;
    TRY(roof_csv_read(&log->csv, &more, error));
    if (!more) {
        return roof_error_at(error, ROOF_INVALID, log->csv.name, 0, 0, "the log is empty");
    }
    (void)trimmed(log->first, log->csv.cell[0]);
    for (int i = 0; i < ROOF_LOG_COUNT; i++) {
        log->column[i] = column_of(&log->named[i], &log->csv, (enum roof_log_value)i);
    }
    if (log->column[ROOF_LOG_DATE] < 0 && log->column[ROOF_LOG_SECONDS] < 0) {
        return roof_error_at(error, ROOF_INVALID, log->csv.name, log->csv.line, 0,
                             "the header has no column timestamp: nvidia-smi "
                             "--query-gpu=timestamp,index,power.draw --format=csv writes such a "
                             "log");
    }
    return ROOF_OK;
}

enum roof_status roof_power_log_open(struct roof_power_log *out, const char *path,
                                     struct roof_error *error)
{
    *out = (struct roof_power_log){.begin_s = ROOF_UNKNOWN};
    for (int i = 0; i < ROOF_GPUS_MAX; i++) {
        out->until_s[i] = ROOF_UNKNOWN;
    }
    TRY(roof_csv_open(&out->csv, path, error));
    return read_header(out, error);
}

void roof_power_log_close(struct roof_power_log *log)
{
    roof_csv_close(&log->csv);
}
