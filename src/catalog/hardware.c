// SPDX-License-Identifier: MIT
#include "catalog/hardware.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "catalog/hardware_check.h"
#include "catalog/hardware_parts.h"
#include "catalog/registry.h"

/* The document that the strings of a device point into, and the strings that were allocated while
 * loading it. */
struct owned {
    struct roof_json *json;
    void **memory;
    size_t count;
};

static const struct roof_figure_key figure_keys[ROOF_FIGURE_COUNT] = {
    [ROOF_FIGURE_BANDWIDTH] = {"bandwidth_gb_s", "memory bandwidth", ROOF_UNIT_GB_PER_S, 1e-3, 1e7},
    [ROOF_FIGURE_MEMORY_CAPACITY] = {"memory_capacity_bytes", "memory, usable", ROOF_UNIT_CAPACITY,
                                     1, 1e16},
    [ROOF_FIGURE_MEMORY_NOMINAL] = {"memory_nominal_gb", "memory, printed", ROOF_UNIT_GIGABYTES,
                                    1e-3, 1e7},
    [ROOF_FIGURE_SM_COUNT] = {"sm_count", "SMs or compute units", ROOF_UNIT_NONE, 1, 1e6},
    [ROOF_FIGURE_BOOST_CLOCK] = {"boost_clock_mhz", "boost clock", ROOF_UNIT_MEGAHERTZ, 1, 1e5},
    [ROOF_FIGURE_L2] = {"l2_bytes", "L2 cache", ROOF_UNIT_CAPACITY, 1, 1e13},
    [ROOF_FIGURE_L2_BANDWIDTH] = {"l2_bandwidth_gb_s", "L2 bandwidth", ROOF_UNIT_GB_PER_S, 1e-3,
                                  1e7},
    [ROOF_FIGURE_SM_SHARED] = {"sm_shared_bytes", "shared memory per SM", ROOF_UNIT_CAPACITY, 1,
                               1e9},
    [ROOF_FIGURE_BLOCK_SHARED] = {"block_shared_bytes", "shared memory per block",
                                  ROOF_UNIT_CAPACITY, 1, 1e9},
    [ROOF_FIGURE_SM_REGISTERS] = {"sm_registers", "registers per SM", ROOF_UNIT_NONE, 1, 1e9},
    [ROOF_FIGURE_SM_THREADS] = {"sm_threads", "threads per SM", ROOF_UNIT_NONE, 1, 1e6},
    [ROOF_FIGURE_SM_BLOCKS] = {"sm_blocks", "thread blocks per SM", ROOF_UNIT_NONE, 1, 1e6},
    [ROOF_FIGURE_CLUSTER] = {"cluster_blocks", "thread blocks per cluster", ROOF_UNIT_NONE, 1, 64},
    [ROOF_FIGURE_TENSOR_MEMORY] = {"sm_tmem_bytes", "tensor memory per SM", ROOF_UNIT_CAPACITY, 1,
                                   1e9},
    [ROOF_FIGURE_LLC] = {"llc_bytes", "last-level cache", ROOF_UNIT_CAPACITY, 1, 1e13},
    [ROOF_FIGURE_TDP] = {"tdp_w", "TDP", ROOF_UNIT_WATTS, 1e-3, 1e6},
    [ROOF_FIGURE_POWER_CAP] = {"power_cap_w", "power cap", ROOF_UNIT_WATTS, 1e-3, 1e6},
    [ROOF_FIGURE_CONSTANT_POWER] = {"constant_w", "constant power", ROOF_UNIT_WATTS, 1e-6, 1e6},
    [ROOF_FIGURE_BYTE_ENERGY] = {"byte_pj", "energy per byte", ROOF_UNIT_PICOJOULES, 1e-6, 1e9},
    [ROOF_FIGURE_DEVICES_PER_NODE] = {"devices_per_node", "devices per node", ROOF_UNIT_NONE, 1,
                                      16384},
    [ROOF_FIGURE_LINK] = {"link_gb_s", "link, per direction", ROOF_UNIT_GB_PER_S, 1e-6, 1e7},
    [ROOF_FIGURE_NETWORK] = {"network_gb_s", "network, per direction", ROOF_UNIT_GB_PER_S, 1e-6,
                             1e7},
    [ROOF_FIGURE_LINK_LATENCY] = {"link_latency_us", "link latency", ROOF_UNIT_MICROSECONDS, 1e-6,
                                  1e6},
    [ROOF_FIGURE_NETWORK_LATENCY] = {"network_latency_us", "network latency",
                                     ROOF_UNIT_MICROSECONDS, 1e-6, 1e6},
    [ROOF_FIGURE_PEER_LINK] = {"peer_link_gb_s", "link of two devices", ROOF_UNIT_GB_PER_S, 1e-6,
                               1e7},
    [ROOF_FIGURE_BRIDGE] = {"bridge_gb_s", "bridge, per direction", ROOF_UNIT_GB_PER_S, 1e-6, 1e7},
    [ROOF_FIGURE_BRIDGE_DEVICES] = {"bridge_devices", "devices on a bridge", ROOF_UNIT_NONE, 1,
                                    16384},
    [ROOF_FIGURE_HOST_LINK] = {"host_link_gb_s", "link to the host, per direction",
                               ROOF_UNIT_GB_PER_S, 1e-6, 1e7},
};

/* The other key that files may have for a figure. */
static const struct {
    const char *key;
    enum roof_figure_id figure;
} synonym = {"memory_gb", ROOF_FIGURE_MEMORY_NOMINAL};

static const struct {
    const char *key;
    const char *label;
    enum roof_unit unit;
} peak_tables[ROOF_PEAK_TABLE_COUNT] = {
    [ROOF_PEAK_MATRIX] = {"peak_tflops", "matrix", ROOF_UNIT_TFLOPS},
    [ROOF_PEAK_SPARSE] = {"sparse_tflops", "matrix, 2:4 sparse", ROOF_UNIT_TFLOPS},
    [ROOF_PEAK_VECTOR] = {"vector_tflops", "vector", ROOF_UNIT_TFLOPS},
    [ROOF_FLOP_ENERGY] = {"flop_pj", "energy per FLOP", ROOF_UNIT_PICOJOULES},
};

/* The most citations of a figure and of a file, because each look-up searches those of the file. */
#define CITATIONS_MAX 16
#define SOURCES_MAX 256

/* A key of a peak table may name a unit that serves several formats. */
static const struct {
    const char *name;
    enum roof_precision format[2];
} unit_groups[] = {
    {"fp8", {ROOF_PRECISION_FP8_E4M3, ROOF_PRECISION_FP8_E5M2}},
    {"mxfp8", {ROOF_PRECISION_MXFP8_E4M3, ROOF_PRECISION_MXFP8_E5M2}},
    {"mxfp6", {ROOF_PRECISION_MXFP6_E3M2, ROOF_PRECISION_MXFP6_E2M3}},
};

static const char *const basis_names[] = {
    [ROOF_BASIS_DOCUMENTS] = "documents",
    [ROOF_BASIS_PUBLISHED] = "published",
    [ROOF_BASIS_USER] = "user",
};

static const char *const confidence_names[] = {
    [ROOF_CONFIDENCE_UNKNOWN] = "unknown",
    [ROOF_CONFIDENCE_LOW] = "low",
    [ROOF_CONFIDENCE_MEDIUM] = "medium",
    [ROOF_CONFIDENCE_HIGH] = "high",
};

const struct roof_figure_key *roof_figure_key(enum roof_figure_id id)
{
    return &figure_keys[id];
}

const char *roof_peak_table_key(enum roof_peak_table table)
{
    return peak_tables[table].key;
}

const char *roof_peak_table_label(enum roof_peak_table table)
{
    return peak_tables[table].label;
}

enum roof_unit roof_peak_table_unit(enum roof_peak_table table)
{
    return peak_tables[table].unit;
}

const char *roof_compute_unit_name(enum roof_compute_unit unit)
{
    return unit == ROOF_COMPUTE_MATRIX ? "matrix" : "vector";
}

const char *roof_basis_name(enum roof_basis basis)
{
    return basis_names[basis];
}

const char *roof_confidence_name(enum roof_confidence confidence)
{
    return confidence_names[confidence];
}

double roof_hardware_last_cache(const struct roof_hardware *hardware)
{
    const double llc = hardware->figure[ROOF_FIGURE_LLC].value;
    const double l2 = hardware->figure[ROOF_FIGURE_L2].value;
    return !isnan(llc) ? llc : isnan(l2) ? 0 : l2;
}

void roof_hardware_derive(struct roof_hardware *hardware)
{
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const struct roof_format *const format = roof_format((enum roof_precision)p);
        enum roof_precision tried = format->unit;
        struct roof_compute *const compute = &hardware->compute[p];
        *compute =
            (struct roof_compute){tried, ROOF_COMPUTE_MATRIX, false, ROOF_UNKNOWN, ROOF_UNKNOWN};
        for (int next = 0; tried != ROOF_PRECISION_AUTO; next++) {
            const double matrix = hardware->peak[ROOF_PEAK_MATRIX][tried].value;
            const double vector = hardware->peak[ROOF_PEAK_VECTOR][tried].value;
            if (!isnan(matrix) || !isnan(vector)) {
                const double sparse = hardware->peak[ROOF_PEAK_SPARSE][tried].value;
                compute->precision = tried;
                compute->unit = isnan(matrix) ? ROOF_COMPUTE_VECTOR : ROOF_COMPUTE_MATRIX;
                compute->native = tried == format->unit;
                compute->peak_flops_per_s = isnan(matrix) ? vector : matrix;
                compute->sparse_flops_per_s = isnan(matrix) ? ROOF_UNKNOWN : sparse;
                break;
            }
            tried = format->fallback[next]; /* the list ends with AUTO */
        }
    }
    hardware->vector_flops_per_s = hardware->peak[ROOF_PEAK_VECTOR][ROOF_PRECISION_FP32].value;
}

/* Gives memory to a device, which frees it at its own end; false, and freed, when memory is out. */
bool roof_hardware_adopt(struct roof_hardware *hardware, void *memory)
{
    struct owned *const owned = hardware->private_data;
    void **const grown = realloc(owned->memory, (owned->count + 1) * sizeof *grown);
    if (grown == NULL) {
        free(memory);
        return false;
    }
    owned->memory = grown;
    owned->memory[owned->count++] = memory;
    return true;
}

/* --- reading ------------------------------------------------------------------------------- */

struct reader {
    struct roof_hardware *hardware;
    const struct roof_json *json;
    const roof_json_value *sources; /* the file's table of citations, or NULL */
    struct roof_error *error;
};

/* Returns a source: a citation, or the one that "sources" has under this key. */
static const char *citation(const struct reader *r, const roof_json_value *value)
{
    const char *const text = roof_json_line(value);
    const char *const resolved =
        text == NULL ? NULL : roof_json_line(roof_json_get(r->sources, text));
    return resolved == NULL ? text : resolved;
}

/* Joins the citations of an array by semicolons. */
static enum roof_status join_sources(struct roof_text *out, const struct reader *r,
                                     const roof_json_value *array)
{
    for (const roof_json_value *item = roof_json_first(array); item != NULL;
         item = roof_json_next(item)) {
        const char *const text = citation(r, item);
        if (text == NULL) {
            return roof_json_error(r->json, item, r->error,
                                   "a source must be a string of one line");
        }
        roof_text_put(out, out->length == 0 ? "" : "; ");
        roof_text_put(out, text);
    }
    return out->failed ? roof_no_memory(r->error) : ROOF_OK;
}

static enum roof_status read_source(struct reader *r, struct roof_figure *figure,
                                    const roof_json_value *value)
{
    if (!roof_json_is_array(value)) {
        figure->source = citation(r, value);
        return figure->source != NULL
                   ? ROOF_OK
                   : roof_json_error(r->json, value, r->error,
                                     "source must be a string of one line or an array of them");
    }
    const size_t count = roof_json_count(value);
    if (count == 0 || count > CITATIONS_MAX) {
        return roof_json_error(r->json, value, r->error, "source must have 1 to %d citations",
                               CITATIONS_MAX);
    }
    struct roof_text joined = ROOF_TEXT_INIT;
    const enum roof_status status = join_sources(&joined, r, value);
    if (status != ROOF_OK) {
        roof_text_free(&joined);
        return status;
    }
    figure->source = joined.data;
    return roof_hardware_adopt(r->hardware, joined.data) ? ROOF_OK : roof_no_memory(r->error);
}

/* A figure without a unit is a count. */
bool roof_figure_is_count(enum roof_unit unit)
{
    return unit == ROOF_UNIT_NONE;
}

static enum roof_status read_confidence(struct reader *r, struct roof_figure *figure,
                                        const roof_json_value *value)
{
    const char *const text = roof_json_line(value);
    for (size_t i = 0; i < COUNT(confidence_names); i++) {
        if (text != NULL && strcmp(text, confidence_names[i]) == 0) {
            figure->confidence = (enum roof_confidence)i;
        }
    }
    return figure->confidence != ROOF_CONFIDENCE_UNKNOWN
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error,
                                 "confidence must be high, medium or low");
}

/* Reads a member of {value, source, confidence, note}; the value was read before. */
static enum roof_status read_attribute(struct reader *r, struct roof_figure *figure,
                                       const roof_json_value *item, const char *what)
{
    const char *const key = roof_json_key(item);
    const char *const text = roof_json_line(item);
    if (strcmp(key, "source") == 0) {
        return read_source(r, figure, item);
    }
    if (strcmp(key, "confidence") == 0) {
        return read_confidence(r, figure, item);
    }
    if (strcmp(key, "note") == 0 && text != NULL) {
        figure->note = text;
        return ROOF_OK;
    }
    /* "published" is shown by list beside a figure of the documents; it is not an input. */
    return strcmp(key, "value") == 0 || strcmp(key, "published") == 0
               ? ROOF_OK
               : roof_json_error(
                     r->json, item, r->error,
                     "%s: unknown or wrong '%s'; allowed are value, source, confidence and note",
                     what, key);
}

/* Reads a number in the key's unit, or {value, source, confidence, note}. */
static enum roof_status read_figure(struct reader *r, struct roof_figure *figure,
                                    const roof_json_value *value, const char *what,
                                    enum roof_unit unit, double min, double max)
{
    const bool object = roof_json_is_object(value);
    const roof_json_value *const number = object ? roof_json_get(value, "value") : value;
    double read = 0;
    if (!roof_json_number(&read, number) || !(read >= min && read <= max) ||
        (roof_figure_is_count(unit) && read != floor(read))) {
        char low[ROOF_QUANTITY_SIZE];
        char high[ROOF_QUANTITY_SIZE];
        return roof_json_error(r->json, number == NULL ? value : number, r->error,
                               "%s must be %s from %s to %s%s%s", what,
                               roof_figure_is_count(unit) ? "an integer" : "a number",
                               roof_format_short(low, min), roof_format_short(high, max),
                               roof_figure_is_count(unit) ? "" : " ", roof_unit_name(unit));
    }
    *figure = (struct roof_figure){.value = roof_from_unit(read, unit)};
    for (const roof_json_value *item = object ? roof_json_first(value) : NULL; item != NULL;
         item = roof_json_next(item)) {
        TRY(read_attribute(r, figure, item, what));
    }
    return ROOF_OK;
}

int roof_peak_formats(enum roof_precision format[2], const char *key, struct roof_error *error)
{
    for (size_t i = 0; i < COUNT(unit_groups); i++) {
        if (strcasecmp(key, unit_groups[i].name) == 0) {
            format[0] = unit_groups[i].format[0];
            format[1] = unit_groups[i].format[1];
            return 2;
        }
    }
    if (roof_precision_find(&format[0], key, error) != ROOF_OK) {
        return 0;
    }
    if (roof_format(format[0])->unit != format[0]) {
        roof_error_set(
            error, ROOF_USAGE,
            "no unit multiplies %s; give the peak of %s instead, to which it is converted", key,
            roof_format(roof_format(format[0])->unit)->name);
        return 0;
    }
    return 1;
}

/* Reads the peak of the formats that a key of a peak table stands for. */
static enum roof_status read_peak(struct reader *r, enum roof_peak_table table,
                                  const roof_json_value *item)
{
    enum roof_precision format[2] = {ROOF_PRECISION_AUTO, ROOF_PRECISION_AUTO};
    struct roof_error unknown; /* not cleared: it is read after a failure alone */
    const char *const key = roof_json_key(item);
    const int count = roof_peak_formats(format, key, &unknown);
    if (count == 0) {
        return roof_json_error(r->json, item, r->error, "%s: %s", peak_tables[table].key,
                               unknown.message);
    }
    for (int i = 0; i < count; i++) {
        struct roof_figure *const figure = &r->hardware->peak[table][format[i]];
        if (!isnan(figure->value)) {
            return roof_json_error(
                r->json, item, r->error,
                "%s has the figure of %s twice (fp8, mxfp8 and mxfp6 each stand for two formats)",
                peak_tables[table].key, roof_format(format[i])->name);
        }
        TRY(read_figure(r, figure, item, key, peak_tables[table].unit, ROOF_PEAK_MIN,
                        ROOF_PEAK_MAX));
    }
    return ROOF_OK;
}

static enum roof_status read_peaks(struct reader *r, enum roof_peak_table table,
                                   const roof_json_value *value)
{
    if (!roof_json_is_object(value)) {
        return roof_json_error(r->json, value, r->error,
                               "%s must be an object with a number per format, such as "
                               "{\"fp16\": 100}",
                               peak_tables[table].key);
    }
    for (const roof_json_value *item = roof_json_first(value); item != NULL;
         item = roof_json_next(item)) {
        TRY(read_peak(r, table, item));
    }
    return ROOF_OK;
}

/* --- members of the file ------------------------------------------------------------------- */

static enum roof_status read_strings(struct reader *r, const char *const **out,
                                     const roof_json_value *value)
{
    const char **list = NULL;
    TRY(roof_json_lines(&list, r->json, value, r->error));
    *out = list;
    return roof_hardware_adopt(r->hardware, list) ? ROOF_OK : roof_no_memory(r->error);
}

static enum roof_status read_aliases(struct reader *r, const roof_json_value *value)
{
    return read_strings(r, &r->hardware->aliases, value);
}

static enum roof_status read_notes(struct reader *r, const roof_json_value *value)
{
    return read_strings(r, &r->hardware->notes, value);
}

static enum roof_status read_basis(struct reader *r, const roof_json_value *value)
{
    const char *const text = roof_json_line(value);
    for (size_t i = 0; i < COUNT(basis_names); i++) {
        if (text != NULL && strcmp(text, basis_names[i]) == 0) {
            r->hardware->basis = (enum roof_basis)i;
            return ROOF_OK;
        }
    }
    return roof_json_error(r->json, value, r->error, "basis must be documents, published or user");
}

static enum roof_status read_weight_only(struct reader *r, const roof_json_value *value)
{
    const char *const text = roof_json_line(value);
    return text != NULL &&
                   roof_precision_find(&r->hardware->weight_only_compute, text, NULL) == ROOF_OK
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error, "weight_only_compute must be a format");
}

#define SCHEMA "roofline/hardware/1"

static enum roof_status check_schema(struct reader *r, const roof_json_value *value)
{
    const char *const text = roof_json_line(value);
    return text != NULL && strcmp(text, SCHEMA) == 0
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error, "schema must be \"%s\"", SCHEMA);
}

/* Checks the citations, which are looked up when a figure is read. */
static enum roof_status check_sources(struct reader *r, const roof_json_value *value)
{
    return roof_json_is_object(value) && roof_json_count(value) <= SOURCES_MAX
               ? ROOF_OK
               : roof_json_error(r->json, value, r->error,
                                 "sources must be an object of at most %d citations", SOURCES_MAX);
}

/* Keys whose values are texts. */
static const char *const word_keys[] = {"id", "name", "vendor", "architecture", "product", "like"};

/* Returns the field of a text key; key is an index of word_keys. */
static const char **word_of(struct roof_hardware *hardware, size_t key)
{
    const char **const words[] = {&hardware->id,           &hardware->name,    &hardware->vendor,
                                  &hardware->architecture, &hardware->product, &hardware->like};
    static_assert(COUNT(words) == COUNT(word_keys), "each key has a word");
    return words[key];
}

/* Keys that are not figures, peak tables or texts. */
static const struct {
    const char *key;
    enum roof_status (*read)(struct reader *r, const roof_json_value *value);
} others[] = {{"schema", check_schema},   {"basis", read_basis},
              {"aliases", read_aliases},  {"notes", read_notes},
              {"sources", check_sources}, {"weight_only_compute", read_weight_only}};

static enum roof_status read_word(struct reader *r, const char **word, const roof_json_value *value)
{
    const char *const text = roof_json_line(value);
    if (text == NULL || *text == '\0') {
        return roof_json_error(r->json, value, r->error, "%s must be a string of one line",
                               roof_json_key(value));
    }
    *word = text;
    return ROOF_OK;
}

static enum roof_status unknown_key(struct reader *r, const roof_json_value *item)
{
    const char *known[(int)ROOF_FIGURE_COUNT + (int)ROOF_PEAK_TABLE_COUNT + COUNT(word_keys) +
                      COUNT(others)];
    size_t count = 0;
    const char *const meant = roof_figure_meant(roof_json_key(item));
    if (meant != NULL) {
        return roof_json_error(r->json, item, r->error, "unknown key '%s'; did you mean %s?",
                               roof_json_key(item), meant);
    }
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        known[count++] = figure_keys[i].key;
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        known[count++] = peak_tables[t].key;
    }
    for (size_t i = 0; i < COUNT(word_keys); i++) {
        known[count++] = word_keys[i];
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        known[count++] = others[i].key;
    }
    return roof_json_place_error(
        r->json, item, "", r->error,
        roof_unknown_name(r->error, ROOF_INVALID, "key", roof_json_key(item), known, count));
}

bool roof_figure_named(enum roof_figure_id id, const char *key)
{
    return strcmp(key, figure_keys[id].key) == 0 ||
           (id == synonym.figure && strcmp(key, synonym.key) == 0);
}

static enum roof_status read_member(struct reader *r, const roof_json_value *item)
{
    const char *const key = roof_json_key(item);
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        const struct roof_figure_key *const row = &figure_keys[i];
        if (roof_figure_named((enum roof_figure_id)i, key)) {
            if (!isnan(r->hardware->figure[i].value)) {
                return roof_json_error(r->json, item, r->error,
                                       "%s and %s are the same figure: give one of them", row->key,
                                       synonym.key);
            }
            return read_figure(r, &r->hardware->figure[i], item, key, row->unit, row->min,
                               row->max);
        }
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        if (strcmp(key, peak_tables[t].key) == 0) {
            return read_peaks(r, (enum roof_peak_table)t, item);
        }
    }
    for (size_t i = 0; i < COUNT(word_keys); i++) {
        if (strcmp(key, word_keys[i]) == 0) {
            return read_word(r, word_of(r->hardware, i), item);
        }
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        if (strcmp(key, others[i].key) == 0) {
            return others[i].read(r, item);
        }
    }
    return unknown_key(r, item);
}

/* --- loading ------------------------------------------------------------------------------- */

static const char *const no_strings[] = {NULL};

static void clear_peaks(struct roof_hardware *hardware)
{
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            hardware->peak[t][p].value = ROOF_UNKNOWN;
        }
    }
}

/* Sets the fields that a file may leave out. */
static void set_defaults(struct roof_hardware *hardware)
{
    hardware->basis = ROOF_BASIS_USER;
    hardware->weight_only_compute = ROOF_PRECISION_AUTO;
    hardware->vendor = "";
    hardware->architecture = "";
    hardware->aliases = no_strings;
    hardware->notes = no_strings;
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        hardware->figure[i].value = ROOF_UNKNOWN;
    }
    clear_peaks(hardware);
}

void roof_hardware_forget_peaks(struct roof_hardware *hardware)
{
    clear_peaks(hardware);
    roof_hardware_derive(hardware);
}

static bool has_peak(const struct roof_hardware *hardware)
{
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        if (!isnan(hardware->peak[ROOF_PEAK_MATRIX][p].value) ||
            !isnan(hardware->peak[ROOF_PEAK_VECTOR][p].value)) {
            return true;
        }
    }
    return false;
}

/* Gives a device without an id the name of its file, without folder and ending. */
static enum roof_status name_by_file(struct roof_hardware *hardware, const struct roof_json *json,
                                     struct roof_error *error)
{
    const char *const source = roof_json_source(json);
    const char *const slash = strrchr(source, '/');
    const char *const name = slash == NULL ? source : slash + 1;
    const size_t length = strlen(name);
    const bool ends = length > 5 && strcmp(name + length - 5, ".json") == 0;
    if (hardware->id == NULL) {
        char *const id = strndup(name, length - (ends ? 5 : 0));
        if (id == NULL || !roof_hardware_adopt(hardware, id)) {
            return roof_no_memory(error);
        }
        hardware->id = id;
    }
    return ROOF_OK;
}

/* Refuses a device for which nothing can be computed. */
static enum roof_status check_needed(const struct roof_hardware *hardware,
                                     const struct roof_json *json, struct roof_error *error)
{
    if (!isnan(hardware->figure[ROOF_FIGURE_BANDWIDTH].value) && has_peak(hardware)) {
        return ROOF_OK;
    }
    const enum roof_status status = roof_json_error(
        json, roof_json_root(json), error, "a device needs %s and at least one peak in %s or %s",
        figure_keys[ROOF_FIGURE_BANDWIDTH].key, peak_tables[ROOF_PEAK_MATRIX].key,
        peak_tables[ROOF_PEAK_VECTOR].key);
    if (hardware->like != NULL) {
        roof_error_append(error,
                          "; like lends kernels, not figures: start from the output of "
                          "roofline list hardware %s -f json",
                          hardware->like);
    }
    return status;
}

/* Reads a device from its document, and refuses one for which nothing can be computed. */
static enum roof_status read_device(struct roof_hardware *hardware, const struct roof_json *json,
                                    struct roof_error *error)
{
    const roof_json_value *const root = roof_json_root(json);
    struct reader r = {.hardware = hardware,
                       .json = json,
                       .sources = roof_json_get(root, "sources"),
                       .error = error};
    if (!roof_json_is_object(root)) {
        return roof_json_error(json, root, error,
                               "a device must be an object: {\"bandwidth_gb_s\": "
                               "..., \"peak_tflops\": {...}}");
    }
    for (const roof_json_value *item = roof_json_first(root); item != NULL;
         item = roof_json_next(item)) {
        TRY(read_member(&r, item));
    }
    TRY(check_needed(hardware, json, error));
    TRY(name_by_file(hardware, json, error));
    hardware->name = hardware->name == NULL ? hardware->id : hardware->name;
    hardware->reference = hardware->id;
    roof_hardware_derive(hardware);
    return ROOF_OK;
}

/* Makes a device without figures. */
static enum roof_status make_device(struct roof_hardware **out, struct roof_error *error)
{
    struct roof_hardware *const hardware = calloc(1, sizeof *hardware);
    struct owned *const owned = calloc(1, sizeof *owned);
    if (hardware == NULL || owned == NULL) {
        free(hardware);
        free(owned);
        return roof_no_memory(error);
    }
    hardware->private_data = owned;
    set_defaults(hardware);
    *out = hardware;
    return ROOF_OK;
}

enum roof_status roof_hardware_blank(struct roof_hardware **out, const char *id,
                                     struct roof_error *error)
{
    *out = NULL;
    TRY(make_device(out, error));
    (*out)->id = (*out)->reference = (*out)->name = id;
    roof_hardware_derive(*out);
    return ROOF_OK;
}

/* Makes a device of a document, which it takes over, even if it fails. */
static enum roof_status from_json(struct roof_hardware **out, struct roof_json *json,
                                  struct roof_error *error)
{
    struct roof_hardware *hardware = NULL;
    *out = NULL;
    if (make_device(&hardware, error) != ROOF_OK) {
        roof_json_free(json);
        return ROOF_MEMORY;
    }
    ((struct owned *)hardware->private_data)->json = json;
    const enum roof_status status = read_device(hardware, json, error);
    if (status != ROOF_OK) {
        roof_hardware_free(hardware);
        return status;
    }
    *out = hardware;
    return ROOF_OK;
}

enum roof_status roof_hardware_parse(struct roof_hardware **out, const char *text, size_t length,
                                     const char *source, struct roof_error *error)
{
    *out = NULL;
    struct roof_json *json = NULL;
    TRY(roof_json_parse(&json, text, length, source, error));
    return from_json(out, json, error);
}

void roof_hardware_free(struct roof_hardware *hardware)
{
    if (hardware != NULL) {
        struct owned *const owned = hardware->private_data;
        if (hardware->free_calibration != NULL) {
            hardware->free_calibration(hardware->calibration);
        }
        for (size_t i = 0; i < owned->count; i++) {
            free(owned->memory[i]);
        }
        free(owned->memory);
        roof_json_free(owned->json);
        free(owned);
        free(hardware);
    }
}

/* --- the registry -------------------------------------------------------------------------- */

static const struct roof_registry registry = {
    .folder = "hardware",
    .noun = "hardware",
    .own = "or a file with memory_gb, bandwidth_gb_s and peak_tflops"};

bool roof_hardware_hides(const struct roof_hardware *hardware)
{
    return hardware->basis == ROOF_BASIS_USER && roof_registry_path(hardware->reference) &&
           !roof_registry_document(hardware->reference) &&
           roof_registry_has(&registry, hardware->id, NULL);
}

/* Checks a device of the user, and notes the name by which it was loaded. */
static enum roof_status take_user(struct roof_hardware *hardware, const char *name,
                                  struct roof_error *error)
{
    /* The name of a folder becomes a path, so that it is not taken for an id when it is loaded
     * again. */
    const bool folder = !roof_registry_path(name) && roof_registry_folder(&registry, name);
    struct roof_text reference = ROOF_TEXT_INIT;
    roof_text_printf(&reference, "%s%s", name, folder ? "/" : "");
    if (reference.failed) {
        roof_text_free(&reference);
        return roof_no_memory(error);
    }
    hardware->reference = reference.data;
    if (!roof_hardware_adopt(hardware, reference.data)) {
        return roof_no_memory(error);
    }
    hardware->basis = ROOF_BASIS_USER;
    return roof_hardware_check(
        hardware, roof_json_source(((struct owned *)hardware->private_data)->json), error);
}

enum roof_status roof_hardware_load(struct roof_hardware **out, const char *name,
                                    const char *const *directories, struct roof_error *error)
{
    *out = NULL;
    struct roof_json *json = NULL;
    bool user = false;
    TRY(roof_registry_open(&json, &user, &registry, name, directories, error));
    TRY(from_json(out, json, error));
    const enum roof_status status = user ? take_user(*out, name, error) : ROOF_OK;
    if (status != ROOF_OK) {
        roof_hardware_free(*out);
        *out = NULL;
    }
    return status;
}

enum roof_status roof_hardware_ids(struct roof_text *out, size_t *count,
                                   const char *const *directories, struct roof_error *error)
{
    return roof_registry_ids(out, count, &registry, directories, error);
}
