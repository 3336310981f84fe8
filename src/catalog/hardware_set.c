// SPDX-License-Identifier: MIT
/* Changes figures of a device: KEY=VALUE. */
#include <string.h>

#include "base/base.h"
#include "catalog/hardware_parts.h"

static const char set_source[] = "given with --set";

/* Sets a figure, which messages call what. */
static enum roof_status set_figure(struct roof_hardware *hardware, enum roof_figure_id id,
                                   const char *text, const char *what, struct roof_error *error)
{
    const struct roof_figure_key *const row = roof_figure_key(id);
    int64_t count = 0;
    double value = 0;
    if (roof_figure_is_count(row->unit)) {
        TRY(roof_parse_integer(&count, text, what, (int64_t)row->min, (int64_t)row->max, error));
        value = (double)count;
    } else {
        TRY(roof_parse_quantity(&value, text, what, row->unit, row->min, row->max, error));
        value = roof_from_unit(value, row->unit);
    }
    hardware->figure[id] = (struct roof_figure){.value = value, .source = set_source};
    if (id == ROOF_FIGURE_MEMORY_NOMINAL) { /* what could be used of another size does not hold */
        hardware->figure[ROOF_FIGURE_MEMORY_CAPACITY] =
            (struct roof_figure){.value = ROOF_UNKNOWN, .source = set_source};
    }
    hardware->basis = ROOF_BASIS_USER;
    return ROOF_OK;
}

/* Sets the peak of a format: key is "peak_tflops.fp16", and name is its "fp16". */
static enum roof_status set_peak(struct roof_hardware *hardware, enum roof_peak_table table,
                                 const char *key, const char *name, const char *text,
                                 struct roof_error *error)
{
    enum roof_precision format[2] = {ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO};
    const int count = roof_peak_formats(format, name, error);
    double value = 0;
    if (count == 0) {
        return ROOF_USAGE;
    }
    TRY(roof_parse_quantity(&value, text, key, roof_peak_table_unit(table), ROOF_PEAK_MIN,
                            ROOF_PEAK_MAX, error));
    for (int i = 0; i < count; i++) {
        hardware->peak[table][format[i]] = (struct roof_figure){
            .value = roof_from_unit(value, roof_peak_table_unit(table)), .source = set_source};
    }
    hardware->basis = ROOF_BASIS_USER;
    roof_hardware_derive(hardware);
    return ROOF_OK;
}

static enum roof_status unknown_figure(const char *key, struct roof_error *error)
{
    static const char *const peaks[ROOF_PEAK_TABLE_COUNT] = {
        "peak_tflops.FORMAT", "sparse_tflops.FORMAT", "vector_tflops.FORMAT", "flop_pj.FORMAT"};
    const char *known[ROOF_FIGURE_COUNT + ROOF_PEAK_TABLE_COUNT];
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        known[i] = roof_figure_key((enum roof_figure_id)i)->key;
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        known[ROOF_FIGURE_COUNT + t] = peaks[t];
    }
    return roof_unknown_name(error, ROOF_USAGE, "figure", key, known, COUNT(known));
}

enum roof_status roof_hardware_cap(struct roof_hardware *hardware, const char *watts,
                                   struct roof_error *error)
{
    return watts == NULL
               ? ROOF_OK
               : set_figure(hardware, ROOF_FIGURE_POWER_CAP, watts, ROOF_KEY("power_cap"), error);
}

enum roof_status roof_hardware_set(struct roof_hardware *hardware, const char *assignment,
                                   struct roof_error *error)
{
    const char *const equals = strchr(assignment, '=');
    char key[64];
    if (equals == NULL || (size_t)(equals - assignment) >= sizeof key) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("set") " takes KEY=VALUE such as bandwidth_gb_s=500 or "
                                              "peak_tflops.fp16=100, not '%s'",
                              assignment);
    }
    memcpy(key, assignment, (size_t)(equals - assignment));
    key[equals - assignment] = '\0';
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        if (roof_figure_named((enum roof_figure_id)i, key)) {
            return set_figure(hardware, (enum roof_figure_id)i, equals + 1, key, error);
        }
    }
    const char *const dot = strchr(key, '.');
    for (int t = 0; dot != NULL && t < ROOF_PEAK_TABLE_COUNT; t++) {
        const size_t length = strlen(roof_peak_table_key((enum roof_peak_table)t));
        if ((size_t)(dot - key) == length &&
            memcmp(key, roof_peak_table_key((enum roof_peak_table)t), length) == 0) {
            return set_peak(hardware, (enum roof_peak_table)t, key, dot + 1, equals + 1, error);
        }
    }
    return unknown_figure(key, error);
}
