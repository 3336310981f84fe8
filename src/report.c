// SPDX-License-Identifier: MIT
#include "roofline/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "roofline/request.h"

/* --- fields -------------------------------------------------------------------------------- */

/* What a field of a result is, and how it is found: most lie at an offset. */
enum source {
    AT_NUMBER,    /* double, in SI base */
    AT_BOOLEAN,   /* bool */
    AT_TEXT,      /* const char * */
    AT_CHARS,     /* char[] */
    AT_INTEGER,   /* int */
    AT_PRECISION, /* enum roof_precision */
    AT_FAMILY,    /* enum roof_family */
    DIMENSION,    /* of the workload, by its input row */
    CONSTANT,     /* the text in the field itself */
    OF_HARDWARE,  /* const char * of the prediction's device, at an offset there */
    BASIS,
    OPERATOR,
    BOTTLENECK,
    LOSS, /* accuracy class of a candidate */
    RANK, /* absent for a rejected candidate */
    HARDWARE_BASIS,
    HARDWARE_FIGURE, /* offset is the figure; its key and unit are in its own table */
    HARDWARE_PEAK,   /* what a format runs at on a device; offset is the format */
    FORMAT_TEXT,     /* of a precision entry: offset into struct roof_format */
    FORMAT_INT,
    FORMAT_INT64,
    FORMAT_NUMBER,
    FORMAT_FAMILY,
    FORMAT_BITS,
    FORMAT_BYTES,
    FORMAT_FALLBACKS,
    FORMAT_CODE_BOOK,
    ENTRY_LOSS,
    ENTRY_FIGURE,
    ENTRY_SOURCE,
    DIMENSION_LIST
};

struct roof_field {
    const char *key;
    enum source source;
    enum roof_unit unit;
    size_t offset;
    int width; /* in text tables; negative: left-aligned; 0: not among the readable columns */
    const char *label; /* heading in text tables; NULL: the key */
    const char *text;  /* of a CONSTANT */
};

#define P(member) offsetof(struct roof_prediction, member)
#define C(member) offsetof(struct roof_candidate, member)
#define NUMBER(key_, member, unit_) SHOWN(key_, member, unit_, 0, NULL)
#define SHOWN(key_, member, unit_, width_, label_)                                                 \
    {                                                                                              \
        .key = (key_), .source = AT_NUMBER, .unit = ROOF_UNIT_##unit_, .offset = P(member),        \
        .width = (width_), .label = (label_)                                                       \
    }
#define PRECISION(key_, member, width_, label_)                                                    \
    {                                                                                              \
        .key = (key_), .source = AT_PRECISION, .offset = P(member), .width = (width_),             \
        .label = (label_)                                                                          \
    }

/* The dimensions stand between the two halves: each operator has its own. */
static const struct roof_field prediction_head[] = {
    {.key = "schema", .source = CONSTANT, .text = "roofline/prediction/1"},
    {.key = "hardware",
     .source = OF_HARDWARE,
     .offset = offsetof(struct roof_hardware, id),
     .width = -12},
    {.key = "hardware_basis", .source = BASIS},
    {.key = "operator", .source = OPERATOR},
};

static const struct roof_field prediction_tail[] = {
    PRECISION("weights", workload.formats.weights, -8, NULL),
    PRECISION("activations", workload.formats.activations, -8, "acts"),
    PRECISION("out", workload.formats.out, 0, NULL),
    PRECISION("kv", workload.formats.kv, 0, NULL),
    PRECISION("compute_precision", compute, -8, "computes"),
    {.key = "native", .source = AT_BOOLEAN, .offset = P(native)},
    NUMBER("flops", flops, FLOPS),
    NUMBER("bytes", bytes, BYTES),
    NUMBER("weights_bytes", role_bytes[ROOF_ROLE_WEIGHTS], BYTES),
    NUMBER("activations_bytes", role_bytes[ROOF_ROLE_ACTIVATIONS], BYTES),
    NUMBER("out_bytes", role_bytes[ROOF_ROLE_OUT], BYTES),
    NUMBER("kv_bytes", role_bytes[ROOF_ROLE_KV], BYTES),
    NUMBER("network_bytes", network_bytes, BYTES),
    SHOWN("arithmetic_intensity", intensity, FLOP_PER_BYTE, 9, "FLOP/byte"),
    NUMBER("ridge_point", ridge, FLOP_PER_BYTE),
    NUMBER("memory_time_us", memory_time_s, MICROSECONDS),
    NUMBER("compute_time_us", compute_time_s, MICROSECONDS),
    NUMBER("network_time_us", network_time_s, MICROSECONDS),
    SHOWN("time_us", time_s, MICROSECONDS, 9, NULL),
    {.key = "bottleneck", .source = BOTTLENECK, .width = -7, .label = "bound"},
    SHOWN("attainable_tflops", attainable_flops_per_s, TFLOPS, 8, "TFLOPS"),
    NUMBER("peak_tflops", peak_flops_per_s, TFLOPS),
    NUMBER("bandwidth_gb_s", bandwidth_bytes_per_s, GB_PER_S),
    NUMBER("fraction_of_peak", fraction_of_peak, NONE),
    NUMBER("measured_us", measured_s, MICROSECONDS),
    NUMBER("achieved_tflops", achieved_flops_per_s, TFLOPS),
    NUMBER("achieved_gb_s", achieved_bytes_per_s, GB_PER_S),
    NUMBER("fraction_of_bound", fraction_of_bound, NONE),
};

static const struct roof_field candidate_fields[] = {
    {.key = "rank", .source = RANK, .offset = C(rank), .width = 4},
    {.key = "precision", .source = AT_PRECISION, .offset = C(format), .width = -12},
    {.key = "method", .source = AT_TEXT, .offset = C(method), .width = -20},
    {.key = "speedup",
     .source = AT_NUMBER,
     .unit = ROOF_UNIT_NONE,
     .offset = C(speedup),
     .width = 8},
    {.key = "accuracy_loss", .source = LOSS, .offset = C(loss), .width = -13},
    {.key = "reason", .source = AT_CHARS, .offset = C(reason), .width = -40},
};

#define H(member) offsetof(struct roof_hardware, member)
#define FIGURE(id, width_, label_)                                                                 \
    {                                                                                              \
        .source = HARDWARE_FIGURE, .offset = ROOF_FIGURE_##id, .width = (width_),                  \
        .label = (label_)                                                                          \
    }
#define PEAK(key_, id, label_)                                                                     \
    {                                                                                              \
        .key = (key_), .source = HARDWARE_PEAK, .unit = ROOF_UNIT_TFLOPS,                          \
        .offset = ROOF_PRECISION_##id, .width = 6, .label = (label_)                               \
    }
static const struct roof_field hardware_fields[] = {
    {.key = "id", .source = AT_TEXT, .offset = H(id), .width = -14},
    {.key = "name", .source = AT_TEXT, .offset = H(name)},
    {.key = "vendor", .source = AT_TEXT, .offset = H(vendor)},
    {.key = "architecture", .source = AT_TEXT, .offset = H(architecture), .width = -18},
    {.key = "basis", .source = HARDWARE_BASIS, .width = -9},
    FIGURE(BANDWIDTH, 6, "GB/s"),
    FIGURE(MEMORY_NOMINAL, 4, "GB"),
    FIGURE(MEMORY_CAPACITY, 0, NULL),
    PEAK("fp16_tflops", FP16, "fp16"),
    PEAK("fp8_e4m3_tflops", FP8_E4M3, "fp8"),
    PEAK("int8_tflops", INT8, "int8"),
    PEAK("int4_tflops", INT4, "int4"),
    PEAK("nvfp4_tflops", NVFP4, "nvfp4"),
    FIGURE(TDP, 5, "W"),
};

#define F(member) offsetof(struct roof_format, member)
static const struct roof_field precision_fields[] = {
    {.key = "name", .source = FORMAT_TEXT, .offset = F(name), .width = -13},
    {.key = "alias", .source = FORMAT_TEXT, .offset = F(alias)},
    {.key = "label", .source = FORMAT_TEXT, .offset = F(label)},
    {.key = "family", .source = FORMAT_FAMILY, .width = -11},
    {.key = "element_bits", .source = FORMAT_INT, .offset = F(element_bits)},
    {.key = "exponent_bits", .source = FORMAT_INT, .offset = F(exponent_bits)},
    {.key = "mantissa_bits", .source = FORMAT_INT, .offset = F(mantissa_bits)},
    {.key = "significant_bits", .source = FORMAT_INT, .offset = F(significant_bits)},
    {.key = "block_elements", .source = FORMAT_INT64, .offset = F(block_elements), .width = 14},
    {.key = "block_bytes", .source = FORMAT_INT64, .offset = F(block_bytes), .width = 11},
    {.key = "bits_per_element", .source = FORMAT_BITS, .width = 16},
    {.key = "bytes_per_element", .source = FORMAT_BYTES},
    {.key = "tensor_bytes", .source = FORMAT_INT, .offset = F(tensor_bytes)},
    {.key = "channel_bytes", .source = FORMAT_INT, .offset = F(channel_bytes)},
    {.key = "scale", .source = FORMAT_TEXT, .offset = F(scale)},
    {.key = "lowest", .source = FORMAT_NUMBER, .offset = F(lowest)},
    {.key = "highest", .source = FORMAT_NUMBER, .offset = F(highest), .width = 10},
    {.key = "accuracy_loss", .source = ENTRY_LOSS, .width = -13},
    {.key = "use", .source = FORMAT_TEXT, .offset = F(use), .width = -30},
    {.key = "remark", .source = FORMAT_TEXT, .offset = F(remark)},
    {.key = "fallbacks", .source = FORMAT_FALLBACKS},
    {.key = "code_book", .source = FORMAT_CODE_BOOK},
    {.key = "accuracy_figure", .source = ENTRY_FIGURE},
    {.key = "accuracy_source", .source = ENTRY_SOURCE},
};

static const struct roof_field operator_fields[] = {
    {.key = "name",
     .source = AT_TEXT,
     .offset = offsetof(struct roof_operator_row, name),
     .width = -17},
    {.key = "summary",
     .source = AT_TEXT,
     .offset = offsetof(struct roof_operator_row, summary),
     .width = -55},
    {.key = "dimensions", .source = DIMENSION_LIST, .width = -20},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* One field per dimension, made from the input table so that the key stands there alone. */
static const struct roof_field dimension_fields[ROOF_DIM_COUNT] = {
#define DIMENSION_FIELD(id)                                                                        \
    [ROOF_DIM_##id] = {.source = DIMENSION, .offset = ROOF_DIM_##id, .width = 6}
    DIMENSION_FIELD(M),
    DIMENSION_FIELD(N),
    DIMENSION_FIELD(K),
    DIMENSION_FIELD(BATCH),
    DIMENSION_FIELD(HEADS),
    DIMENSION_FIELD(KV_HEADS),
    DIMENSION_FIELD(HEAD_DIM),
    DIMENSION_FIELD(QUERY_LEN),
    DIMENSION_FIELD(KV_LEN),
    DIMENSION_FIELD(CAUSAL),
    DIMENSION_FIELD(WINDOW),
    DIMENSION_FIELD(KV_LORA_RANK),
    DIMENSION_FIELD(QK_NOPE_HEAD_DIM),
    DIMENSION_FIELD(QK_ROPE_HEAD_DIM),
    DIMENSION_FIELD(V_HEAD_DIM),
    DIMENSION_FIELD(TOKENS),
    DIMENSION_FIELD(HIDDEN),
    DIMENSION_FIELD(GAIN),
    DIMENSION_FIELD(INTERMEDIATE),
    DIMENSION_FIELD(EXPERTS),
    DIMENSION_FIELD(TOP_K),
    DIMENSION_FIELD(ROUTING),
    DIMENSION_FIELD(ELEMENTS),
    DIMENSION_FIELD(DEVICES),
    DIMENSION_FIELD(ALGORITHM),
};

static const char *field_key(const struct roof_field *field)
{
    switch ((int)field->source) {
    case DIMENSION:
        return roof_dimensions[field->offset].key;
    case HARDWARE_FIGURE:
        return roof_figure_key((enum roof_figure_id)field->offset)->key;
    default:
        return field->key;
    }
}

/* --- cells --------------------------------------------------------------------------------- */

enum cell_kind { ABSENT, TEXT, NUMERIC, BOOLEAN, WORDS, NUMBERS }; /* the last two: by blanks */

/* The value of a field in the unit of its key. */
struct cell {
    enum cell_kind kind;
    const char *text;
    double number;
    char buffer[400];
};

static void text_cell(struct cell *cell, const char *text)
{
    cell->kind = text == NULL ? ABSENT : TEXT;
    cell->text = text;
}

static void number_cell(struct cell *cell, double value)
{
    cell->kind = isfinite(value) ? NUMERIC : ABSENT;
    cell->number = value;
}

static void dimension_cell(struct cell *cell, const struct roof_workload *workload,
                           size_t dimension)
{
    const struct roof_input *const input = &roof_dimensions[dimension];
    const int64_t value = roof_input_get(workload, input);
    switch (input->kind) {
    case ROOF_INPUT_CHOICE:
        text_cell(cell, input->choices[value]);
        break;
    case ROOF_INPUT_FLAG:
        cell->kind = BOOLEAN;
        cell->number = (double)value;
        break;
    case ROOF_INPUT_INTEGER:
    case ROOF_INPUT_PRECISION:
    case ROOF_INPUT_TEXT:
        number_cell(cell, value == 0 && input->min > 0 ? ROOF_UNKNOWN : (double)value);
        break;
    }
}

static void dimension_list(struct cell *cell, const struct roof_operator_row *row)
{
    size_t used = 0;
    for (int i = 0; i < row->dim_count; i++) {
        const bool required = (row->required & (1U << row->dims[i])) != 0;
        char name[ROOF_INPUT_NAME_SIZE];
        used += (size_t)snprintf(cell->buffer + used, sizeof cell->buffer - used, "%s%s%s%s",
                                 i == 0 ? "" : " ", required ? "" : "[",
                                 roof_input_name(name, &roof_dimensions[row->dims[i]]),
                                 required ? "" : "]");
    }
    text_cell(cell, cell->buffer);
}

static void fallback_list(struct cell *cell, const struct roof_format *format)
{
    size_t used = 0;
    for (int i = 0; i < ROOF_FALLBACKS_MAX && format->fallback[i] != ROOF_PRECISION_AUTO; i++) {
        used += (size_t)snprintf(cell->buffer + used, sizeof cell->buffer - used, "%s%s",
                                 i == 0 ? "" : " ", roof_format(format->fallback[i])->name);
    }
    text_cell(cell, used == 0 ? NULL : cell->buffer);
    cell->kind = used == 0 ? ABSENT : WORDS;
}

static void code_book_list(struct cell *cell, const struct roof_format *format)
{
    size_t used = 0;
    for (int i = 0; i < format->code_count; i++) {
        cell->buffer[used] = ' ';
        used += used > 0;
        used += roof_format_number(cell->buffer + used, format->code_book[i]);
    }
    text_cell(cell, cell->buffer);
    cell->kind = used == 0 ? ABSENT : NUMBERS;
}

static void fill_cell(struct cell *cell, const struct roof_field *field, const void *result)
{
    const char *const at = (const char *)result + field->offset;
    const struct roof_prediction *const p = result;
    const struct roof_hardware *const hardware = result;
    const struct roof_precision_entry *const entry = result;
    const char *const format_at = field->source >= FORMAT_TEXT && field->source <= ENTRY_SOURCE
                                      ? (const char *)roof_format(entry->precision) + field->offset
                                      : NULL;
    switch (field->source) {
    case AT_NUMBER:
        number_cell(cell, roof_to_unit(*(const double *)(const void *)at, field->unit));
        break;
    case AT_BOOLEAN:
        cell->kind = BOOLEAN;
        cell->number = *(const bool *)at ? 1 : 0;
        break;
    case AT_TEXT:
        text_cell(cell, *(const char *const *)(const void *)at);
        break;
    case AT_CHARS:
        text_cell(cell, at);
        break;
    case AT_INTEGER:
        number_cell(cell, *(const int *)(const void *)at);
        break;
    case RANK: {
        const int rank = *(const int *)(const void *)at;
        number_cell(cell, rank == 0 ? ROOF_UNKNOWN : (double)rank);
        break;
    }
    case AT_PRECISION:
        text_cell(cell, roof_format(*(const enum roof_precision *)(const void *)at)->name);
        break;
    case AT_FAMILY:
        text_cell(cell, roof_family_name(*(const enum roof_family *)(const void *)at));
        break;
    case DIMENSION:
        dimension_cell(cell, &p->workload, field->offset);
        break;
    case CONSTANT:
        text_cell(cell, field->text);
        break;
    case OF_HARDWARE:
        text_cell(cell,
                  *(const char *const *)(const void *)((const char *)p->hardware + field->offset));
        break;
    case BASIS:
        text_cell(cell, roof_basis_name(p->hardware->basis));
        break;
    case OPERATOR:
        text_cell(cell, roof_operator_row(p->workload.op)->name);
        break;
    case BOTTLENECK:
        text_cell(cell, roof_bottleneck_name(p->bottleneck));
        break;
    case LOSS:
        text_cell(cell, roof_accuracy_name(*(const enum roof_accuracy_class *)(const void *)at));
        break;
    case HARDWARE_BASIS:
        text_cell(cell, roof_basis_name(hardware->basis));
        break;
    case HARDWARE_FIGURE:
        number_cell(cell, roof_to_unit(hardware->figure[field->offset].value,
                                       roof_figure_key((enum roof_figure_id)field->offset)->unit));
        break;
    case HARDWARE_PEAK: {
        const struct roof_compute *const compute = &hardware->compute[field->offset];
        number_cell(cell, compute->native ? roof_to_unit(compute->peak_flops_per_s, field->unit)
                                          : ROOF_UNKNOWN);
        break;
    }
    case FORMAT_TEXT:
        text_cell(cell, *(const char *const *)(const void *)format_at);
        break;
    case FORMAT_INT:
        number_cell(cell, *(const int *)(const void *)format_at);
        break;
    case FORMAT_INT64:
        number_cell(cell, (double)*(const int64_t *)(const void *)format_at);
        break;
    case FORMAT_NUMBER:
        number_cell(cell, *(const double *)(const void *)format_at);
        break;
    case FORMAT_FAMILY:
        text_cell(cell, roof_family_name(roof_format(entry->precision)->family));
        break;
    case FORMAT_BITS:
        number_cell(cell, roof_precision_bits(entry->precision));
        break;
    case FORMAT_BYTES:
        number_cell(cell, roof_tensor_bytes(entry->precision, 1, 0, 0));
        break;
    case FORMAT_FALLBACKS:
        fallback_list(cell, roof_format(entry->precision));
        break;
    case FORMAT_CODE_BOOK:
        code_book_list(cell, roof_format(entry->precision));
        break;
    case ENTRY_LOSS:
        text_cell(cell, roof_accuracy_name(entry->accuracy->of[entry->precision].loss));
        break;
    case ENTRY_FIGURE:
        text_cell(cell, entry->accuracy->of[entry->precision].figure);
        break;
    case ENTRY_SOURCE:
        text_cell(cell, entry->accuracy->of[entry->precision].source);
        break;
    case DIMENSION_LIST:
        dimension_list(cell, result);
        break;
    }
}

/* --- tables -------------------------------------------------------------------------------- */

static bool machine(enum roof_output output)
{
    return output == ROOF_OUTPUT_JSON || output == ROOF_OUTPUT_NDJSON || output == ROOF_OUTPUT_CSV;
}

static void add_fields(struct roof_table *table, const struct roof_field *fields, size_t count,
                       bool all)
{
    for (size_t i = 0; i < count && table->count < ROOF_COLUMNS_MAX; i++) {
        if (all || fields[i].width != 0) {
            table->field[table->count++] = &fields[i];
        }
    }
}

static void add_prediction(struct roof_table *table, enum roof_operator op, bool all)
{
    add_fields(table, prediction_head, COUNT(prediction_head), all);
    const struct roof_operator_row *const row = roof_operator_row(op);
    for (int i = 0; i < row->dim_count; i++) {
        table->field[table->count++] = &dimension_fields[row->dims[i]];
    }
    add_fields(table, prediction_tail, COUNT(prediction_tail), all);
}

/* Keeps the fields that columns names, in its order. */
static enum roof_status choose(struct roof_table *table, const char *columns,
                               struct roof_error *error)
{
    const struct roof_table all = *table;
    const char *known[ROOF_COLUMNS_MAX];
    for (size_t i = 0; i < all.count; i++) {
        known[i] = field_key(all.field[i]);
    }
    table->count = 0;
    const char *item = columns;
    while (item != NULL) {
        const char *const comma = strchr(item, ',');
        const size_t length = comma == NULL ? strlen(item) : (size_t)(comma - item);
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), item);
        size_t found = 0;
        while (found < all.count && strcmp(name, known[found]) != 0) {
            found++;
        }
        if (found == all.count) {
            return roof_unknown_name(error, ROOF_USAGE, "column", name, known, all.count);
        }
        for (size_t i = 0; i < table->count; i++) {
            if (table->field[i] == all.field[found]) {
                return roof_error_set(error, ROOF_USAGE, "--columns names '%s' twice", name);
            }
        }
        table->field[table->count++] = all.field[found];
        item = comma == NULL ? NULL : comma + 1;
    }
    return ROOF_OK;
}

enum roof_status roof_table_open(struct roof_table *out, enum roof_output output,
                                 enum roof_table_kind kind, enum roof_operator op,
                                 const char *columns, struct roof_error *error)
{
    *out = (struct roof_table){.output = output};
    if (columns != NULL && (output == ROOF_OUTPUT_TEXT || output == ROOF_OUTPUT_JSON)) {
        return roof_error_set(error, ROOF_USAGE, "--columns goes with --format csv, ndjson or md");
    }
    const bool all = machine(output) || columns != NULL;
    switch (kind) {
    case ROOF_TABLE_PREDICTIONS:
        add_prediction(out, op, all);
        break;
    case ROOF_TABLE_RECOMMENDATIONS:
        if (all) {
            add_fields(out, candidate_fields, 1, true); /* the rank opens the row */
            add_prediction(out, op, true);
            add_fields(out, candidate_fields + 1, COUNT(candidate_fields) - 1, true);
        } else {
            add_fields(out, candidate_fields, COUNT(candidate_fields) - 1, false);
            for (size_t i = 0; i < COUNT(prediction_tail); i++) {
                if (prediction_tail[i].offset == P(time_s)) {
                    add_fields(out, &prediction_tail[i], 1, true);
                }
            }
            add_fields(out, &candidate_fields[COUNT(candidate_fields) - 1], 1, true);
        }
        break;
    case ROOF_TABLE_HARDWARE:
        add_fields(out, hardware_fields, COUNT(hardware_fields), all);
        break;
    case ROOF_TABLE_PRECISIONS:
        add_fields(out, precision_fields, COUNT(precision_fields), all);
        break;
    case ROOF_TABLE_OPERATORS:
        add_fields(out, operator_fields, COUNT(operator_fields), all);
        break;
    }
    return columns == NULL ? ROOF_OK : choose(out, columns, error);
}

static void csv_text(struct roof_text *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        roof_text_put(out, text);
        return;
    }
    roof_text_put(out, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        roof_text_put(out, *p == '"' ? "\"" : "");
        roof_text_add(out, p, 1);
    }
    roof_text_put(out, "\"");
}

static void markdown_text(struct roof_text *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        roof_text_put(out, *p == '|' || *p == '\\' ? "\\" : "");
        roof_text_add(out, *p == '\n' ? " " : p, 1);
    }
}

/* A cell for people: short numbers, yes and no. */
static const char *readable(struct cell *cell)
{
    switch (cell->kind) {
    case ABSENT:
        return "-";
    case TEXT:
    case WORDS:
    case NUMBERS:
        return cell->text;
    case BOOLEAN:
        return cell->number > 0 ? "yes" : "no";
    case NUMERIC:
        if (fabs(cell->number) < 1e9 && cell->number == floor(cell->number)) {
            roof_format_number(cell->buffer, cell->number);
        } else {
            roof_format_short(cell->buffer, cell->number);
        }
        break;
    }
    return cell->buffer;
}

/* Pads to width, to the left when it is negative; the last column of a row is not padded. */
static void padded(struct roof_text *out, const char *text, int width, bool last)
{
    const size_t wanted = (size_t)(width < 0 ? -width : width);
    const size_t used = roof_text_width(text);
    const size_t blanks = used < wanted ? wanted - used : 0;
    if (width > 0) {
        roof_text_fill(out, ' ', blanks);
    }
    roof_text_put(out, text);
    if (width < 0 && !last) {
        roof_text_fill(out, ' ', blanks);
    }
}

static const char *field_label(const struct roof_field *field)
{
    return field->label == NULL ? field_key(field) : field->label;
}

/* At least as wide as its heading, so that headings need no room of their own. */
static int field_width(const struct roof_field *field)
{
    const int width = field->width == 0 ? 12 : field->width;
    const int key = (int)strlen(field_label(field));
    return width < 0 ? (key > -width ? -key : width) : (key > width ? key : width);
}

void roof_table_begin(struct roof_table *table, struct roof_text *out)
{
    switch (table->output) {
    case ROOF_OUTPUT_TEXT:
        for (size_t i = 0; i < table->count; i++) {
            roof_text_put(out, i == 0 ? "" : "  ");
            padded(out, field_label(table->field[i]), field_width(table->field[i]),
                   i + 1 == table->count);
        }
        roof_text_put(out, "\n");
        break;
    case ROOF_OUTPUT_JSON:
        roof_text_put(out, "[");
        break;
    case ROOF_OUTPUT_NDJSON:
        break;
    case ROOF_OUTPUT_CSV:
        for (size_t i = 0; i < table->count; i++) {
            roof_text_put(out, i == 0 ? "" : ",");
            roof_text_put(out, field_key(table->field[i]));
        }
        roof_text_put(out, "\n");
        break;
    case ROOF_OUTPUT_MARKDOWN:
        roof_text_put(out, "|");
        for (size_t i = 0; i < table->count; i++) {
            roof_text_printf(out, " %s |", field_key(table->field[i]));
        }
        roof_text_put(out, "\n|");
        for (size_t i = 0; i < table->count; i++) {
            roof_text_put(out, field_width(table->field[i]) < 0 ? " --- |" : " ---: |");
        }
        roof_text_put(out, "\n");
        break;
    }
}

/* The blank-separated items of a cell as an array. */
static void json_list(struct roof_text *out, const struct cell *cell)
{
    const char *const quote = cell->kind == WORDS ? "\"" : "";
    roof_text_put(out, "[");
    for (const char *item = cell->text; item != NULL;) {
        const size_t length = strcspn(item, " ");
        roof_text_put(out, item == cell->text ? "" : ", ");
        roof_text_put(out, quote);
        roof_text_add(out, item, length);
        roof_text_put(out, quote);
        item = item[length] == '\0' ? NULL : item + length + 1;
    }
    roof_text_put(out, "]");
}

/* "key": value, for the fields that have one; begun tells whether a comma is due. */
static void json_members(struct roof_text *out, const struct roof_field *const *field, size_t count,
                         const void *result, const char *separator, bool begun)
{
    for (size_t i = 0; i < count; i++) {
        struct cell cell = {.kind = ABSENT};
        fill_cell(&cell, field[i], result);
        if (cell.kind == ABSENT) {
            continue;
        }
        roof_text_put(out, begun ? "," : "");
        roof_text_put(out, separator);
        roof_text_printf(out, "\"%s\":%s", field_key(field[i]), *separator == '\0' ? "" : " ");
        begun = true;
        if (cell.kind == TEXT) {
            roof_json_quote(out, cell.text);
        } else if (cell.kind == WORDS || cell.kind == NUMBERS) {
            json_list(out, &cell);
        } else if (cell.kind == BOOLEAN) {
            roof_text_put(out, cell.number > 0 ? "true" : "false");
        } else {
            roof_text_number(out, cell.number);
        }
    }
}

static void csv_row(const struct roof_table *table, struct roof_text *out, const void *result)
{
    for (size_t i = 0; i < table->count; i++) {
        struct cell cell = {.kind = ABSENT};
        fill_cell(&cell, table->field[i], result);
        roof_text_put(out, i == 0 ? "" : ",");
        if (cell.kind == NUMERIC || cell.kind == BOOLEAN) {
            roof_text_number(out, cell.number);
        } else if (cell.kind != ABSENT) {
            csv_text(out, cell.text);
        }
    }
    roof_text_put(out, "\n");
}

static void readable_row(const struct roof_table *table, struct roof_text *out, const void *result)
{
    const bool markdown = table->output == ROOF_OUTPUT_MARKDOWN;
    roof_text_put(out, markdown ? "|" : "");
    for (size_t i = 0; i < table->count; i++) {
        struct cell cell = {.kind = ABSENT};
        fill_cell(&cell, table->field[i], result);
        const char *const text = readable(&cell);
        if (markdown) {
            roof_text_put(out, " ");
            markdown_text(out, text);
            roof_text_put(out, " |");
        } else {
            roof_text_put(out, i == 0 ? "" : "  ");
            padded(out, text, field_width(table->field[i]), i + 1 == table->count);
        }
    }
    roof_text_put(out, "\n");
}

void roof_table_row(struct roof_table *table, struct roof_text *out, const void *result)
{
    switch (table->output) {
    case ROOF_OUTPUT_TEXT:
    case ROOF_OUTPUT_MARKDOWN:
        readable_row(table, out, result);
        break;
    case ROOF_OUTPUT_JSON:
        roof_text_put(out, table->rows == 0 ? "\n{" : ",\n{");
        json_members(out, table->field, table->count, result, "", false);
        roof_text_put(out, "}");
        break;
    case ROOF_OUTPUT_NDJSON:
        roof_text_put(out, "{");
        json_members(out, table->field, table->count, result, "", false);
        roof_text_put(out, "}\n");
        break;
    case ROOF_OUTPUT_CSV:
        csv_row(table, out, result);
        break;
    }
    table->rows++;
}

void roof_table_end(struct roof_table *table, struct roof_text *out)
{
    if (table->output == ROOF_OUTPUT_JSON) {
        roof_text_put(out, table->rows == 0 ? "]\n" : "\n]\n");
    }
}

/* --- one prediction ------------------------------------------------------------------------ */

static void json_parts(struct roof_text *out, const struct roof_prediction *p)
{
    roof_text_put(out, ",\n  \"parts\": [");
    for (int i = 0; i < p->part_count; i++) {
        const struct roof_part *const part = &p->part[i];
        const struct {
            const char *key;
            double value;
            enum roof_unit unit;
        } numbers[] = {
            {"flops", part->work.flops, ROOF_UNIT_FLOPS},
            {"bytes", part->bytes, ROOF_UNIT_BYTES},
            {"memory_time_us", part->memory_time_s, ROOF_UNIT_MICROSECONDS},
            {"compute_time_us", part->compute_time_s, ROOF_UNIT_MICROSECONDS},
            {"time_us", part->time_s, ROOF_UNIT_MICROSECONDS},
        };
        roof_text_printf(out, "%s\n    {\"operator\": \"%s\"", i == 0 ? "" : ",",
                         roof_operator_row(part->op)->name);
        for (size_t n = 0; n < COUNT(numbers); n++) {
            if (isfinite(numbers[n].value)) {
                roof_text_printf(out, ", \"%s\": ", numbers[n].key);
                roof_text_number(out, roof_to_unit(numbers[n].value, numbers[n].unit));
            }
        }
        roof_text_printf(out, ", \"bottleneck\": \"%s\"}", roof_bottleneck_name(part->bottleneck));
    }
    roof_text_put(out, "\n  ]");
}

static void json_steps(struct roof_text *out, const struct roof_explanation *explanation)
{
    roof_text_put(out, ",\n  \"why\": [");
    for (size_t i = 0; i < explanation->count; i++) {
        const struct roof_step *const s = &explanation->step[i];
        const struct {
            const char *key;
            const char *value;
        } members[] = {{"part", s->part},       {"name", s->name},     {"formula", s->formula},
                       {"numbers", s->numbers}, {"result", s->result}, {"source", s->source}};
        roof_text_put(out, i == 0 ? "\n    {" : ",\n    {");
        bool begun = false;
        for (size_t m = 0; m < COUNT(members); m++) {
            if (*members[m].value != '\0') {
                roof_text_printf(out, "%s\"%s\": ", begun ? ", " : "", members[m].key);
                roof_json_quote(out, members[m].value);
                begun = true;
            }
        }
        roof_text_put(out, "}");
    }
    roof_text_put(out, "\n  ]");
}

void roof_report_json(struct roof_text *out, const struct roof_prediction *prediction,
                      const struct roof_explanation *explanation)
{
    struct roof_table table = {.output = ROOF_OUTPUT_JSON};
    add_prediction(&table, prediction->workload.op, true);
    roof_text_put(out, "{");
    json_members(out, table.field, table.count, prediction, "\n  ", false);
    if (prediction->part_count > 1) {
        json_parts(out, prediction);
    }
    if (explanation != NULL) {
        json_steps(out, explanation);
    }
    roof_text_put(out, "\n}\n");
}

/* "gemv n=4096 k=4096" */
static void put_workload(struct roof_text *out, const struct roof_workload *w)
{
    const struct roof_operator_row *const row = roof_operator_row(w->op);
    roof_text_put(out, row->name);
    for (int i = 0; i < row->dim_count; i++) {
        const struct roof_input *const input = &roof_dimensions[row->dims[i]];
        const int64_t value = roof_input_get(w, input);
        const bool plain = value == 0 || (row->dims[i] == ROOF_DIM_BATCH && value == 1);
        if (input->kind == ROOF_INPUT_FLAG && value > 0) {
            roof_text_printf(out, " %s", input->option);
        } else if (input->kind == ROOF_INPUT_CHOICE && value > 0) {
            roof_text_printf(out, " %s=%s", input->option, input->choices[value]);
        } else if (input->kind == ROOF_INPUT_INTEGER && !plain) {
            roof_text_printf(out, " %s=%" PRId64, input->option, value);
        }
    }
}

/* "fp16 weights and activations, bf16 out": the formats of the roles that the operator has. */
static void put_formats(struct roof_text *out, const struct roof_prediction *p)
{
    const struct roof_formats *const f = &p->workload.formats;
    const enum roof_precision of_role[ROOF_ROLE_COUNT] = {
        [ROOF_ROLE_WEIGHTS] = f->weights,
        [ROOF_ROLE_ACTIVATIONS] = f->activations,
        [ROOF_ROLE_OUT] = f->out,
        [ROOF_ROLE_KV] = f->kv,
    };
    bool begun = false;
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        if (p->role_bytes[role] > 0) {
            roof_text_printf(out, "%s%s %s", begun ? ", " : "",
                             roof_role_name((enum roof_role)role),
                             roof_format(of_role[role])->name);
            begun = true;
        }
    }
}

static void line(struct roof_text *out, const char *label, const char *value, const char *detail)
{
    roof_text_printf(out, "  %-13s %-13s %s", label, value, detail);
    while (out->length > 0 && out->data[out->length - 1] == ' ') {
        out->length--;
    }
    roof_text_put(out, "\n");
}

static const char *peak_name(char out[64], const struct roof_prediction *p)
{
    snprintf(out, 64, "%s, %s unit%s", roof_format(p->compute)->name,
             roof_compute_unit_name(p->unit),
             p->workload.sparse > 0 && p->unit == ROOF_COMPUTE_MATRIX ? ", 2:4 sparse" : "");
    return out;
}

static void put_compute(struct roof_text *out, const struct roof_prediction *p)
{
    char value[ROOF_QUANTITY_SIZE];
    char work[ROOF_QUANTITY_SIZE];
    char rate[ROOF_QUANTITY_SIZE];
    char unit[64];
    char detail[300];
    roof_format_quantity(value, p->compute_time_s, ROOF_UNIT_MICROSECONDS);
    roof_format_quantity(work, p->flops, ROOF_UNIT_FLOPS);
    if (p->part_count > 1) {
        snprintf(detail, sizeof detail, "%s, each part at its own peak", work);
    } else if (isnan(p->peak_flops_per_s)) {
        snprintf(detail, sizeof detail, "%s, but %s has no known peak for %s", work,
                 p->hardware->id, roof_format(p->compute)->name);
    } else {
        snprintf(detail, sizeof detail, "%s at %s (%s)", work,
                 roof_format_quantity(rate, p->peak_flops_per_s, ROOF_UNIT_TFLOPS),
                 peak_name(unit, p));
    }
    line(out, "compute time", value, detail);
}

static void put_parts(struct roof_text *out, const struct roof_prediction *p)
{
    roof_text_put(out, "\n");
    for (int i = 0; i < p->part_count; i++) {
        const struct roof_part *const part = &p->part[i];
        char time[ROOF_QUANTITY_SIZE];
        char bytes[ROOF_QUANTITY_SIZE];
        char flops[ROOF_QUANTITY_SIZE];
        roof_text_printf(out, "  %-17s %-10s %-8s %s, %s\n", roof_operator_row(part->op)->name,
                         roof_format_quantity(time, part->time_s, ROOF_UNIT_MICROSECONDS),
                         roof_bottleneck_name(part->bottleneck),
                         roof_format_quantity(bytes, part->bytes, ROOF_UNIT_BYTES),
                         roof_format_quantity(flops, part->work.flops, ROOF_UNIT_FLOPS));
    }
}

static void put_why(struct roof_text *out, const struct roof_explanation *explanation)
{
    const char *part = "";
    roof_text_put(out, "\nWhy\n");
    for (size_t i = 0; i < explanation->count; i++) {
        const struct roof_step *const s = &explanation->step[i];
        if (strcmp(part, s->part) != 0) {
            part = s->part;
            roof_text_printf(out, "%s%s%s\n", *part == '\0' ? "" : " [",
                             *part == '\0' ? " [sum" : part, "]");
        }
        if (*s->formula == '\0') {
            roof_text_printf(out, "  %s = %s\n", s->name, s->result);
            roof_text_printf(out, "      from %s\n", s->source);
            continue;
        }
        roof_text_printf(out, "  %s = %s\n", s->name, s->formula);
        if (*s->numbers != '\0' && strcmp(s->numbers, s->result) != 0) {
            roof_text_printf(out, "      = %s\n", s->numbers);
        }
        roof_text_printf(out, "      = %s\n", s->result);
    }
}

/* Says that the device is as the documents have it, and what the published figures are. */
static void put_basis(struct roof_text *out, const struct roof_hardware *hardware,
                      const struct roof_hardware *product, const struct roof_prediction *p)
{
    if (product == NULL || !roof_hardware_differs(hardware, product)) {
        return;
    }
    char value[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "\n%s is as the source documents specify it; published figures differ",
                     hardware->id);
    const char *separator = " (";
    const double bandwidth = product->figure[ROOF_FIGURE_BANDWIDTH].value;
    if (bandwidth != hardware->figure[ROOF_FIGURE_BANDWIDTH].value) {
        roof_text_printf(out, "%s%s", separator,
                         roof_format_quantity(value, bandwidth, ROOF_UNIT_GB_PER_S));
        separator = ", ";
    }
    if (p->part_count == 1 && p->unit == ROOF_COMPUTE_MATRIX) {
        const struct roof_compute *const theirs = &product->compute[p->wanted];
        if (theirs->peak_flops_per_s != hardware->compute[p->wanted].peak_flops_per_s &&
            !isnan(theirs->peak_flops_per_s)) {
            roof_text_printf(
                out, "%s%s %s", separator, roof_format(theirs->precision)->name,
                roof_format_quantity(value, theirs->peak_flops_per_s, ROOF_UNIT_TFLOPS));
            separator = ", ";
        }
    }
    roof_text_printf(out, "%s: -H %s\n", *separator == ',' ? ")" : "", product->id);
}

void roof_report_text(struct roof_text *out, const struct roof_prediction *p,
                      const struct roof_hardware *product,
                      const struct roof_explanation *explanation)
{
    char value[ROOF_QUANTITY_SIZE];
    char other[ROOF_QUANTITY_SIZE];
    char rate[ROOF_QUANTITY_SIZE];
    char detail[300];
    put_workload(out, &p->workload);
    roof_text_printf(out, " on %s: ", p->hardware->id);
    put_formats(out, p);
    roof_text_put(out, "\n\n");

    snprintf(detail, sizeof detail, "%s-bound", roof_bottleneck_name(p->bottleneck));
    line(out, "time", roof_format_quantity(value, p->time_s, ROOF_UNIT_MICROSECONDS), detail);
    snprintf(detail, sizeof detail, "%s at %s",
             roof_format_quantity(other, p->bytes, ROOF_UNIT_BYTES),
             roof_format_quantity(rate, p->bandwidth_bytes_per_s, ROOF_UNIT_GB_PER_S));
    line(out, "memory time", roof_format_quantity(value, p->memory_time_s, ROOF_UNIT_MICROSECONDS),
         detail);
    put_compute(out, p);
    if (!isnan(p->network_time_s)) {
        snprintf(detail, sizeof detail, "%s sent at %s per direction",
                 roof_format_quantity(other, p->network_bytes, ROOF_UNIT_BYTES),
                 roof_format_quantity(rate, p->link_bytes_per_s, ROOF_UNIT_GB_PER_S));
        line(out, "network time",
             roof_format_quantity(value, p->network_time_s, ROOF_UNIT_MICROSECONDS), detail);
    }
    roof_format_short(value, p->intensity);
    if (isnan(p->ridge)) {
        snprintf(detail, sizeof detail, "FLOP/byte");
    } else {
        snprintf(detail, sizeof detail, "FLOP/byte; ridge point %s",
                 roof_format_short(other, p->ridge));
    }
    line(out, "intensity", value, detail);
    roof_format_quantity(value, p->attainable_flops_per_s, ROOF_UNIT_TFLOPS);
    if (isnan(p->fraction_of_peak)) {
        detail[0] = '\0';
    } else {
        snprintf(detail, sizeof detail, "%s of peak",
                 roof_format_quantity(other, p->fraction_of_peak, ROOF_UNIT_FRACTION));
    }
    line(out, "attainable", value, detail);
    if (!isnan(p->measured_s)) {
        snprintf(detail, sizeof detail, "%s of the bound: %s, %s",
                 roof_format_quantity(other, p->fraction_of_bound, ROOF_UNIT_FRACTION),
                 roof_format_quantity(rate, p->achieved_flops_per_s, ROOF_UNIT_TFLOPS),
                 roof_format_quantity(value, p->achieved_bytes_per_s, ROOF_UNIT_GB_PER_S));
        line(out, "measured", roof_format_quantity(other, p->measured_s, ROOF_UNIT_MICROSECONDS),
             detail);
    }
    if (p->part_count > 1) {
        put_parts(out, p);
    }
    if (!p->native && !isnan(p->compute_time_s)) {
        roof_text_printf(out, "\n%s has no %s unit: computed at %s\n", p->hardware->id,
                         roof_format(p->wanted)->name, roof_format(p->compute)->name);
    }
    if (!isnan(p->fraction_of_bound) && p->fraction_of_bound > 1) {
        roof_text_put(out, "\nThe measured time is below the bound: data that stayed in a cache, "
                           "or a figure of the hardware that is too low.\n");
    }
    if (explanation != NULL) {
        put_why(out, explanation);
    }
    put_basis(out, p->hardware, product, p);
}

/* --- recommendations ----------------------------------------------------------------------- */

void roof_report_recommendation_json(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     enum roof_operator op)
{
    struct roof_table table = {.output = ROOF_OUTPUT_JSON};
    add_fields(&table, candidate_fields, 1, true);
    add_prediction(&table, op, true);
    add_fields(&table, candidate_fields + 1, COUNT(candidate_fields) - 1, true);
    const size_t total = recommendation->count + recommendation->rejected;
    roof_text_put(out, "{\n\"schema\": \"roofline/recommendation/1\",\n\"candidates\": [");
    for (size_t i = 0; i < total; i++) {
        if (i == recommendation->count) {
            roof_text_put(out, "\n],\n\"rejected\": [");
        }
        roof_text_put(out, i == 0 || i == recommendation->count ? "\n{" : ",\n{");
        json_members(out, table.field, table.count, &recommendation->candidate[i], "", false);
        roof_text_put(out, "}");
    }
    if (recommendation->rejected == 0) {
        roof_text_put(out, "\n],\n\"rejected\": [");
    }
    roof_text_put(out, "\n]\n}\n");
}

void roof_report_recommendation_text(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     const struct roof_workload *workload,
                                     const struct roof_hardware *hardware,
                                     const struct roof_hardware *product)
{
    put_workload(out, workload);
    roof_text_printf(out, " on %s\n\n", hardware->id);
    if (recommendation->count > 0) {
        const struct roof_candidate *const best = &recommendation->candidate[0];
        char time[ROOF_QUANTITY_SIZE];
        roof_text_printf(
            out, "Use %s (%s): %s, %.2fx over fp16, accuracy loss %s.\n\n",
            roof_format(best->format)->name, best->method,
            roof_format_quantity(time, best->prediction.time_s, ROOF_UNIT_MICROSECONDS),
            best->speedup, roof_accuracy_name(best->loss));
        roof_text_printf(out, "  %4s  %-10s  %-22s  %10s  %7s  %-8s  %s\n", "rank", "precision",
                         "method", "time", "speedup", "accuracy", "reason");
        for (size_t i = 0; i < recommendation->count; i++) {
            const struct roof_candidate *const c = &recommendation->candidate[i];
            roof_text_printf(
                out, "  %4d  %-10s  %-22s  %10s  %6.2fx  %-8s  %s\n", c->rank,
                roof_format(c->format)->name, c->method,
                roof_format_quantity(time, c->prediction.time_s, ROOF_UNIT_MICROSECONDS),
                c->speedup, roof_accuracy_name(c->loss), c->reason);
        }
    } else {
        roof_text_put(out, "No format satisfies the constraints.\n");
    }
    for (size_t i = 0; i < recommendation->rejected; i++) {
        const struct roof_candidate *const c =
            &recommendation->candidate[recommendation->count + i];
        roof_text_printf(out, "%s  %-10s  %6.2fx  %s\n", i == 0 ? "\nRejected\n" : "",
                         roof_format(c->format)->name, c->speedup, c->reason);
    }
    roof_text_put(out,
                  "\nAccuracy classes are typical losses, not a promise for the model at hand: "
                  "roofline list precisions ID\n");
    put_basis(out, hardware, product, &recommendation->candidate[0].prediction);
}

/* --- lists --------------------------------------------------------------------------------- */

/* A figure with the published one beside it when they differ. */
static void put_figure(struct roof_text *out, const char *label, const struct roof_figure *figure,
                       const struct roof_figure *published, const char *product,
                       enum roof_unit unit)
{
    const bool differs =
        published != NULL && !isnan(published->value) && published->value != figure->value;
    if (isnan(figure->value) && !differs) {
        return;
    }
    char value[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "  %-26s %s\n", label, roof_format_quantity(value, figure->value, unit));
    if (!isnan(figure->value)) {
        if (figure->note != NULL) {
            roof_text_printf(out, "  %-26s   %s\n", "", figure->note);
        }
        roof_text_printf(out, "  %-26s   source%s%s: %s\n", "",
                         figure->confidence == ROOF_CONFIDENCE_UNKNOWN ? "" : ", confidence ",
                         figure->confidence == ROOF_CONFIDENCE_UNKNOWN
                             ? ""
                             : roof_confidence_name(figure->confidence),
                         figure->source == NULL ? "none given" : figure->source);
    }
    if (differs) {
        roof_text_printf(out, "  %-26s   published (%s): %s\n", "", product,
                         roof_format_quantity(value, published->value, unit));
    }
}

static void hardware_text(struct roof_text *out, const struct roof_hardware *h,
                          const struct roof_hardware *product)
{
    roof_text_printf(out, "%s: %s\n", h->id, h->name);
    roof_text_printf(out, "  %-26s %s\n", "vendor", *h->vendor == '\0' ? "-" : h->vendor);
    roof_text_printf(out, "  %-26s %s\n", "architecture",
                     *h->architecture == '\0' ? "-" : h->architecture);
    roof_text_printf(out, "  %-26s %s\n", "basis",
                     h->basis == ROOF_BASIS_DOCUMENTS   ? "as the source documents specify it"
                     : h->basis == ROOF_BASIS_PUBLISHED ? "published figures"
                                                        : "a user's file");
    for (const char *const *alias = h->aliases; *alias != NULL; alias++) {
        roof_text_printf(out, "  %-26s %s\n", "alias", *alias);
    }
    roof_text_put(out, "\n");
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        const struct roof_figure_key *const key = roof_figure_key((enum roof_figure_id)i);
        put_figure(out, key->label, &h->figure[i], product == NULL ? NULL : &product->figure[i],
                   product == NULL ? "" : product->id, key->unit);
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            char label[80];
            snprintf(label, sizeof label, "%s, %s", roof_format((enum roof_precision)p)->name,
                     roof_peak_table_label((enum roof_peak_table)t));
            put_figure(out, label, &h->peak[t][p], product == NULL ? NULL : &product->peak[t][p],
                       product == NULL ? "" : product->id, ROOF_UNIT_TFLOPS);
        }
    }
    roof_text_put(out, "\nRidge points (FLOP/byte)\n");
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const struct roof_compute *const c = &h->compute[p];
        const struct roof_format *const format = roof_format((enum roof_precision)p);
        if (c->native && format->unit == (enum roof_precision)p) {
            char value[ROOF_QUANTITY_SIZE];
            roof_text_printf(out, "  %-26s %-10s %s unit\n", format->name,
                             roof_format_short(value, c->peak_flops_per_s /
                                                          h->figure[ROOF_FIGURE_BANDWIDTH].value),
                             roof_compute_unit_name(c->unit));
        }
    }
    for (const char *const *note = h->notes; *note != NULL; note++) {
        roof_text_printf(out, "%s%s\n", note == h->notes ? "\n" : "", *note);
    }
}

static void json_figure(struct roof_text *out, const char *key, const struct roof_figure *figure,
                        const struct roof_figure *published, enum roof_unit unit)
{
    roof_text_printf(out, "\"%s\": {\"value\": ", key);
    roof_text_number(out, roof_to_unit(figure->value, unit));
    const struct {
        const char *key;
        const char *value;
    } members[] = {{"source", figure->source},
                   {"confidence", figure->confidence == ROOF_CONFIDENCE_UNKNOWN
                                      ? NULL
                                      : roof_confidence_name(figure->confidence)},
                   {"note", figure->note}};
    for (size_t i = 0; i < COUNT(members); i++) {
        if (members[i].value != NULL) {
            roof_text_printf(out, ", \"%s\": ", members[i].key);
            roof_json_quote(out, members[i].value);
        }
    }
    if (published != NULL && !isnan(published->value) && published->value != figure->value) {
        roof_text_put(out, ", \"published\": ");
        roof_text_number(out, roof_to_unit(published->value, unit));
    }
    roof_text_put(out, "}");
}

static void json_strings(struct roof_text *out, const char *key, const char *const *strings)
{
    roof_text_printf(out, ",\n%s: [", key);
    for (const char *const *s = strings; *s != NULL; s++) {
        roof_text_put(out, s == strings ? "" : ", ");
        roof_json_quote(out, *s);
    }
    roof_text_put(out, "]");
}

/* The shape of a hardware file, so that the output can be edited and read again. */
static void hardware_json(struct roof_text *out, const struct roof_hardware *h,
                          const struct roof_hardware *product)
{
    const struct {
        const char *key;
        const char *value;
    } strings[] = {{"id", h->id},
                   {"name", h->name},
                   {"vendor", *h->vendor == '\0' ? NULL : h->vendor},
                   {"architecture", *h->architecture == '\0' ? NULL : h->architecture},
                   {"basis", roof_basis_name(h->basis)},
                   {"product", product == NULL ? NULL : product->id}};
    roof_text_put(out, "{\n\"schema\": \"roofline/hardware/1\"");
    for (size_t i = 0; i < COUNT(strings); i++) {
        if (strings[i].value != NULL) {
            roof_text_printf(out, ",\n\"%s\": ", strings[i].key);
            roof_json_quote(out, strings[i].value);
        }
    }
    json_strings(out, "\"aliases\"", h->aliases);
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        const struct roof_figure_key *const key = roof_figure_key((enum roof_figure_id)i);
        if (!isnan(h->figure[i].value)) {
            roof_text_put(out, ",\n");
            json_figure(out, key->key, &h->figure[i], product == NULL ? NULL : &product->figure[i],
                        key->unit);
        }
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        bool begun = false;
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            if (!isnan(h->peak[t][p].value)) {
                if (!begun) {
                    roof_text_printf(out, ",\n\"%s\": {",
                                     roof_peak_table_key((enum roof_peak_table)t));
                }
                roof_text_put(out, begun ? ",\n  " : "\n  ");
                json_figure(out, roof_format((enum roof_precision)p)->name, &h->peak[t][p],
                            product == NULL ? NULL : &product->peak[t][p], ROOF_UNIT_TFLOPS);
                begun = true;
            }
        }
        roof_text_put(out, begun ? "\n}" : "");
    }
    json_strings(out, "\"notes\"", h->notes);
    roof_text_put(out, "\n}\n");
}

/* One row of a list as a table, in any format; JSON as one object instead of an array. */
static void one_row(struct roof_text *out, enum roof_output output, const struct roof_field *fields,
                    size_t count, const void *result)
{
    struct roof_table table = {.output = output};
    add_fields(&table, fields, count, true);
    if (output == ROOF_OUTPUT_JSON) {
        roof_text_put(out, "{");
        json_members(out, table.field, table.count, result, "\n  ", false);
        roof_text_put(out, "\n}\n");
        return;
    }
    if (output != ROOF_OUTPUT_TEXT) {
        roof_table_begin(&table, out);
        roof_table_row(&table, out, result);
        return;
    }
    for (size_t i = 0; i < table.count; i++) {
        struct cell cell = {.kind = ABSENT};
        fill_cell(&cell, table.field[i], result);
        if (cell.kind != ABSENT) {
            roof_text_printf(out, "  %-18s %s\n", field_key(table.field[i]), readable(&cell));
        }
    }
}

void roof_report_hardware(struct roof_text *out, enum roof_output output,
                          const struct roof_hardware *hardware, const struct roof_hardware *product)
{
    switch (output) {
    case ROOF_OUTPUT_TEXT:
        hardware_text(out, hardware, product);
        break;
    case ROOF_OUTPUT_JSON:
        hardware_json(out, hardware, product);
        break;
    case ROOF_OUTPUT_NDJSON:
    case ROOF_OUTPUT_CSV:
    case ROOF_OUTPUT_MARKDOWN:
        one_row(out, output, hardware_fields, COUNT(hardware_fields), hardware);
        break;
    }
}

void roof_report_precision(struct roof_text *out, enum roof_output output,
                           enum roof_precision precision, const struct roof_accuracy *accuracy)
{
    const struct roof_precision_entry entry = {precision, accuracy};
    one_row(out, output, precision_fields, COUNT(precision_fields), &entry);
}

void roof_report_operator(struct roof_text *out, enum roof_output output, enum roof_operator op)
{
    const struct roof_operator_row *const row = roof_operator_row(op);
    one_row(out, output, operator_fields, COUNT(operator_fields), row);
    if (output != ROOF_OUTPUT_TEXT) {
        return;
    }
    roof_text_put(out, "\n");
    for (int i = 0; i < row->dim_count; i++) {
        const struct roof_input *const input = &roof_dimensions[row->dims[i]];
        char name[ROOF_INPUT_NAME_SIZE];
        roof_text_printf(out, "  %-20s %s\n", roof_input_name(name, input), input->help);
    }
}
