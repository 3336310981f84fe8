// SPDX-License-Identifier: MIT
#include "catalog/catalog_fields.h"

#include <math.h>
#include <stdio.h>

#include "base/base.h"

/* --- devices ------------------------------------------------------------------------------- */

/* The values of a device that are not fields of its struct with the same name. */
enum hardware_value {
    HARDWARE_BASIS = 1,
    HARDWARE_FP4,
    HARDWARE_FIGURE, /* this and the following numbers: the figure with that index */
    HARDWARE_PEAK = HARDWARE_FIGURE + (int)ROOF_FIGURE_COUNT /* this and the following numbers: the
                                                           peak of a format */
};

#define AT(member) .offset = offsetof(struct roof_hardware, member)
#define TEXT(member) .type = ROOF_TYPE_TEXT, AT(member)
/* A figure has its key and unit in its own table (roof_figure_key). */
#define FIGURE(id) .type = ROOF_TYPE_GIVEN, .derived = HARDWARE_FIGURE + (int)ROOF_FIGURE_##id
#define PEAK(id)                                                                                   \
    .type = ROOF_TYPE_GIVEN, .unit = ROOF_UNIT_TFLOPS,                                             \
    .derived = HARDWARE_PEAK + (int)ROOF_PRECISION_##id

static const struct roof_field hardware_fields[] = {
    {.key = "id", TEXT(id), .width = -14},
    {.key = "name", TEXT(name)},
    {.key = "vendor", TEXT(vendor)},
    {.key = "architecture", TEXT(architecture), .width = -23},
    {.key = "basis", .type = ROOF_TYPE_TEXT, .derived = HARDWARE_BASIS, .width = -9},
    {FIGURE(BANDWIDTH), .width = 6, .label = "GB/s"},
    {FIGURE(MEMORY_NOMINAL), .width = 4, .label = "GB"},
    {FIGURE(MEMORY_CAPACITY)},
    {.key = "bf16_tflops", PEAK(BF16), .width = 6, .label = "bf16"},
    {.key = "fp16_tflops", PEAK(FP16), .width = 6, .label = "fp16"},
    {.key = "fp8_e4m3_tflops", PEAK(FP8_E4M3), .width = 6, .label = "fp8"},
    {.key = "int8_tflops", PEAK(INT8), .width = 6, .label = "int8"},
    {.key = "int4_tflops", PEAK(INT4), .width = 6, .label = "int4"},
    {.key = "nvfp4_tflops", PEAK(NVFP4)},
    {.key = "fp4_tflops",
     .type = ROOF_TYPE_GIVEN,
     .unit = ROOF_UNIT_TFLOPS,
     .derived = HARDWARE_FP4,
     .width = 6,
     .label = "fp4"},
    {FIGURE(TDP), .width = 5, .label = "W"},
    {FIGURE(LINK)},
    {FIGURE(NETWORK)},
    {FIGURE(DEVICES_PER_NODE)},
};

void roof_hardware_fields(struct roof_fields *out)
{
    roof_fields_add(out, hardware_fields, COUNT(hardware_fields), 0);
    for (size_t i = 0; i < out->count; i++) {
        struct roof_field *const field = &out->field[i];
        if (field->derived >= HARDWARE_FIGURE && field->derived < HARDWARE_PEAK) {
            const struct roof_figure_key *const figure =
                roof_figure_key((enum roof_figure_id)(field->derived - HARDWARE_FIGURE));
            field->key = figure->key;
            field->unit = figure->unit;
        }
    }
}

/* Returns the peak of a format; NAN if the device does not multiply it. */
static double peak_of(const struct roof_hardware *hardware, enum roof_precision format)
{
    const struct roof_compute *const compute = &hardware->compute[format];
    return compute->native ? compute->peak_flops_per_s : ROOF_UNKNOWN;
}

void roof_hardware_values(struct roof_value *out, const struct roof_fields *fields,
                          const struct roof_hardware *hardware)
{
    roof_fields_read(out, fields, 0, (const char *)hardware);
    for (size_t i = 0; i < fields->count; i++) {
        const int derived = fields->field[i].derived;
        if (derived >= HARDWARE_PEAK) {
            out[i].number = peak_of(hardware, (enum roof_precision)(derived - HARDWARE_PEAK));
        } else if (derived >= HARDWARE_FIGURE) {
            out[i].number = hardware->figure[derived - HARDWARE_FIGURE].value;
        } else if (derived == HARDWARE_FP4) {
            const double nvfp4 = peak_of(hardware, ROOF_PRECISION_NVFP4);
            out[i].number = isnan(nvfp4) ? peak_of(hardware, ROOF_PRECISION_MXFP4) : nvfp4;
        } else if (derived == HARDWARE_BASIS) {
            out[i].text = roof_basis_name(hardware->basis);
        }
    }
}

#undef AT
#undef TEXT

/* --- formats ------------------------------------------------------------------------------- */

/* The values of a format that are computed or come from the table of accuracies. */
enum precision_value {
    PRECISION_FAMILY = 1,
    PRECISION_BITS,
    PRECISION_BYTES,
    PRECISION_OVERHEAD,
    PRECISION_FALLBACKS,
    PRECISION_CODE_BOOK,
    PRECISION_LOSS,
    PRECISION_FIGURE,
    PRECISION_SOURCE
};

#define AT(member) .offset = offsetof(struct roof_format, member)
#define TEXT(member) .type = ROOF_TYPE_TEXT, AT(member)
#define INT(member) .type = ROOF_TYPE_INT, AT(member)

static const struct roof_field precision_fields[] = {
    {.key = "name", TEXT(name), .width = -13},
    {.key = "alias", TEXT(alias), .width = -6},
    {.key = "label", TEXT(label)},
    {.key = "family", .type = ROOF_TYPE_TEXT, .derived = PRECISION_FAMILY, .width = -11},
    {.key = "element_bits", INT(element_bits)},
    {.key = "exponent_bits", INT(exponent_bits)},
    {.key = "mantissa_bits", INT(mantissa_bits)},
    {.key = "significant_bits", INT(significant_bits)},
    {.key = "block_elements", .type = ROOF_TYPE_INTEGER, AT(block_elements), .width = 14},
    {.key = "block_bytes", .type = ROOF_TYPE_INTEGER, AT(block_bytes), .width = 11},
    {.key = "bits_per_element", .derived = PRECISION_BITS, .width = 16},
    {.key = "bytes_per_element", .derived = PRECISION_BYTES},
    {.key = "overhead_fraction", .derived = PRECISION_OVERHEAD},
    {.key = "tensor_bytes", INT(tensor_bytes)},
    {.key = "channel_bytes", INT(channel_bytes)},
    {.key = "scale", TEXT(scale)},
    {.key = "lowest", AT(lowest)},
    {.key = "highest", AT(highest), .width = 10},
    {.key = "accuracy_loss", .type = ROOF_TYPE_TEXT, .derived = PRECISION_LOSS, .width = -13},
    {.key = "use", TEXT(use), .width = -38},
    {.key = "remark", TEXT(remark)},
    {.key = "fallbacks", .type = ROOF_TYPE_WORDS, .derived = PRECISION_FALLBACKS},
    {.key = "code_book", .type = ROOF_TYPE_NUMBERS, .derived = PRECISION_CODE_BOOK},
    {.key = "accuracy_figure", .type = ROOF_TYPE_TEXT, .derived = PRECISION_FIGURE},
    {.key = "accuracy_source", .type = ROOF_TYPE_TEXT, .derived = PRECISION_SOURCE},
};

void roof_precision_fields(struct roof_fields *out)
{
    roof_fields_add(out, precision_fields, COUNT(precision_fields), 0);
}

/* Writes the names of the fallback formats for devices without a unit. */
static const char *put_fallbacks(struct roof_precision_lists *lists,
                                 const struct roof_format *format)
{
    size_t used = 0;
    lists->fallbacks[0] = '\0';
    for (int i = 0; format->fallback[i] != ROOF_PRECISION_AUTO; i++) {
        used += (size_t)snprintf(lists->fallbacks + used, sizeof lists->fallbacks - used, "%s%s",
                                 i == 0 ? "" : " ", roof_format(format->fallback[i])->name);
    }
    return lists->fallbacks;
}

/* Writes the values that an element can take. */
static const char *put_code_book(struct roof_precision_lists *lists,
                                 const struct roof_format *format)
{
    size_t used = 0;
    lists->code_book[0] = '\0';
    for (int i = 0; i < format->code_count; i++) {
        lists->code_book[used] = ' ';
        used += used > 0;
        used += roof_format_number(lists->code_book + used, format->code_book[i]);
    }
    return lists->code_book;
}

static void derive_precision(struct roof_value *out, enum precision_value wanted,
                             struct roof_precision_lists *lists,
                             const struct roof_precision_entry *entry)
{
    const struct roof_format *const format = roof_format(entry->precision);
    switch (wanted) {
    case PRECISION_FAMILY:
        out->text = roof_family_name(format->family);
        break;
    case PRECISION_BITS:
        out->number = roof_precision_bits(entry->precision);
        break;
    case PRECISION_BYTES:
        out->number = roof_tensor_bytes(entry->precision, 1, 0, 0);
        break;
    case PRECISION_OVERHEAD: {
        const double bits = roof_precision_bits(entry->precision);
        out->number =
            bits < format->element_bits ? ROOF_UNKNOWN : (bits - format->element_bits) / bits;
        break;
    }
    case PRECISION_FALLBACKS:
        out->text = put_fallbacks(lists, format);
        break;
    case PRECISION_CODE_BOOK:
        out->text = put_code_book(lists, format);
        break;
    case PRECISION_LOSS:
        out->text = roof_accuracy_name(entry->accuracy->of[entry->precision].loss);
        break;
    case PRECISION_FIGURE:
        out->text = entry->accuracy->of[entry->precision].figure;
        break;
    case PRECISION_SOURCE:
        out->text = entry->accuracy->of[entry->precision].source;
        break;
    }
}

void roof_precision_values(struct roof_value *out, struct roof_precision_lists *lists,
                           const struct roof_fields *fields,
                           const struct roof_precision_entry *entry)
{
    roof_fields_read(out, fields, 0, (const char *)roof_format(entry->precision));
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].derived != 0) {
            derive_precision(&out[i], (enum precision_value)fields->field[i].derived, lists, entry);
        }
    }
}
