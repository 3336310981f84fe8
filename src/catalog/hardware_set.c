// SPDX-License-Identifier: MIT
/* Changes figures of a device: KEY=VALUE. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "catalog/data.h"
#include "catalog/hardware_parts.h"

static const char set_source[] = "given with --set";

/* Sets a figure; what is its name in messages. */
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
    if (id == ROOF_FIGURE_MEMORY_NOMINAL) { /* the usable part of another size is not known */
        hardware->figure[ROOF_FIGURE_MEMORY_CAPACITY] =
            (struct roof_figure){.value = ROOF_UNKNOWN, .source = set_source};
    }
    hardware->basis = ROOF_BASIS_USER;
    return ROOF_OK;
}

/* Forgets the sparse peak of the device if the dense peak that was given exceeds it: no matrix unit
 * is slower with sparse operands. */
static void forget_sparse(struct roof_hardware *hardware, enum roof_precision format)
{
    struct roof_figure *const sparse = &hardware->peak[ROOF_PEAK_SPARSE][format];
    if (sparse->source != set_source &&
        sparse->value < hardware->peak[ROOF_PEAK_MATRIX][format].value) {
        *sparse = (struct roof_figure){.value = ROOF_UNKNOWN};
    }
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
        forget_sparse(hardware, format[i]);
    }
    hardware->basis = ROOF_BASIS_USER;
    roof_hardware_derive(hardware);
    return ROOF_OK;
}

static enum roof_status unknown_figure(const char *key, struct roof_error *error)
{
    static const char *const peaks[ROOF_PEAK_TABLE_COUNT] = {
        "peak_tflops.FORMAT", "sparse_tflops.FORMAT", "vector_tflops.FORMAT", "flop_pj.FORMAT"};
    const char *known[(int)ROOF_FIGURE_COUNT + (int)ROOF_PEAK_TABLE_COUNT];
    const char *const meant = roof_figure_meant(key);
    if (meant != NULL) {
        const bool peak = strcmp(meant, roof_peak_table_key(ROOF_PEAK_MATRIX)) == 0;
        return roof_error_set(error, ROOF_USAGE, "unknown figure '%s'; did you mean %s%s?", key,
                              meant, peak ? ".FORMAT" : "");
    }
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        known[i] = roof_figure_key((enum roof_figure_id)i)->key;
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        known[ROOF_FIGURE_COUNT + t] = peaks[t];
    }
    return roof_unknown_name(error, ROOF_USAGE, "figure", key, known, COUNT(known));
}

/* Adds a device with energy figures to a list: "h200 (fp32)"; other devices add nothing. */
static void put_energy(struct roof_text *out, const struct roof_hardware *hardware)
{
    const struct roof_figure *const energy = hardware->peak[ROOF_FLOP_ENERGY];
    size_t formats = 0;
    if (isnan(hardware->figure[ROOF_FIGURE_CONSTANT_POWER].value) ||
        isnan(hardware->figure[ROOF_FIGURE_BYTE_ENERGY].value)) {
        return;
    }
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        if (!isnan(energy[p].value)) {
            roof_text_printf(out, "%s%s",
                             formats > 0       ? ", "
                             : out->length > 0 ? "), "
                                               : "",
                             formats > 0 ? "" : hardware->id);
            roof_text_printf(out, "%s%s", formats > 0 ? "" : " (",
                             roof_format((enum roof_precision)p)->name);
            formats++;
        }
    }
}

/* Finds the built-in devices with energy figures; only documents that name one are parsed. */
static enum roof_status find_energy(struct roof_hardware *hardware, struct roof_error *error)
{
    struct roof_text list = ROOF_TEXT_INIT;
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < roof_data_file_count && status == ROOF_OK; i++) {
        const struct roof_data_file *const file = &roof_data_files[i];
        struct roof_hardware *one = NULL;
        if (strncmp(file->path, "hardware/", strlen("hardware/")) == 0 &&
            strstr(file->text, roof_figure_key(ROOF_FIGURE_CONSTANT_POWER)->key) != NULL) {
            status = roof_hardware_parse(&one, file->text, file->length, file->path, error);
        }
        if (one != NULL) {
            put_energy(&list, one);
            roof_hardware_free(one);
        }
    }
    roof_text_put(&list, ")");
    if (status != ROOF_OK || list.failed) {
        roof_text_free(&list);
        return status != ROOF_OK ? status : roof_no_memory(error);
    }
    hardware->energy_known = list.data;
    return roof_hardware_adopt(hardware, list.data) ? ROOF_OK : roof_no_memory(error);
}

enum roof_status roof_hardware_cap(struct roof_hardware *hardware, const char *watts,
                                   struct roof_error *error)
{
    if (watts != NULL) {
        TRY(set_figure(hardware, ROOF_FIGURE_POWER_CAP, watts, ROOF_KEY("power_cap"), error));
    }
    return isnan(hardware->figure[ROOF_FIGURE_POWER_CAP].value) ? ROOF_OK
                                                                : find_energy(hardware, error);
}

enum roof_status roof_hardware_set(struct roof_hardware *hardware, const char *assignment,
                                   struct roof_error *error)
{
    const char *const equals = strchr(assignment, '=');
    char key[64];
    if (equals == NULL || (size_t)(equals - assignment) >= sizeof key) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("set") " must be KEY=VALUE, such as bandwidth_gb_s=500 or "
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
