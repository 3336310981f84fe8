// SPDX-License-Identifier: MIT
#include "report/published_report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/shell.h"
#include "measure/fit.h"
#include "predict/calibration.h"

/* The published figures that differ from those of a device; NAN: equal, or unknown. */
struct published {
    double bandwidth;
    double peak[ROOF_PRECISION_COUNT]; /* of matrix units, by multiplication format */
    size_t peaks;
};

static struct published published_of(const struct roof_hardware *hardware,
                                     const struct roof_hardware *product)
{
    struct published out = {.bandwidth = product->figure[ROOF_FIGURE_BANDWIDTH].value};
    if (out.bandwidth == hardware->figure[ROOF_FIGURE_BANDWIDTH].value) {
        out.bandwidth = ROOF_UNKNOWN;
    }
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        out.peak[p] = ROOF_UNKNOWN;
    }
    return out;
}

/* Adds the peak of a format if the GPU that is sold differs. */
static void add_peak(struct published *out, const struct roof_hardware *hardware,
                     const struct roof_hardware *product, enum roof_precision wanted)
{
    const struct roof_compute *const theirs = &product->compute[wanted];
    const bool known = theirs->unit == ROOF_COMPUTE_MATRIX && !isnan(theirs->peak_flops_per_s);
    if (known && theirs->peak_flops_per_s != hardware->compute[wanted].peak_flops_per_s &&
        isnan(out->peak[theirs->precision])) {
        out->peak[theirs->precision] = theirs->peak_flops_per_s;
        out->peaks++;
    }
}

/* Adds the peak of the format in which a product operator with one part multiplies. */
static void add_product(struct published *out, const struct roof_prediction *p,
                        const struct roof_hardware *product)
{
    if (p->part_count == 1 && p->unit == ROOF_COMPUTE_MATRIX) {
        add_peak(out, p->hardware, product, p->wanted);
    }
}

static struct published of_prediction(const struct roof_prediction *p,
                                      const struct roof_hardware *product)
{
    struct published out = published_of(p->hardware, product);
    add_product(&out, p, product);
    return out;
}

static struct published of_model(const struct roof_model_prediction *model,
                                 const struct roof_hardware *product)
{
    struct published out = published_of(model->total.hardware, product);
    for (size_t i = 0; i < model->count; i++) {
        add_product(&out, &model->node[i].prediction, product);
    }
    return out;
}

static struct published of_device(const struct roof_hardware *hardware,
                                  const struct roof_hardware *product)
{
    struct published out = published_of(hardware, product);
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        if (!isnan(product->peak[ROOF_PEAK_MATRIX][p].value)) {
            add_peak(&out, hardware, product, (enum roof_precision)p);
        }
    }
    return out;
}

/* Returns the bandwidth and the peak of fp16, for texts with room for one peak. */
static struct published of_device_fp16(const struct roof_hardware *hardware,
                                       const struct roof_hardware *product)
{
    struct published out = published_of(hardware, product);
    add_peak(&out, hardware, product, ROOF_PRECISION_FP16);
    return out;
}

static bool is_none(const struct published *published)
{
    return isnan(published->bandwidth) && published->peaks == 0;
}

/* --- for people ---------------------------------------------------------------------------- */

/* Writes "273 GB/s and 124 TFLOPS FP16". */
static void put_words(struct roof_text *out, const struct published *published)
{
    char value[ROOF_QUANTITY_SIZE];
    const char *separator = "";
    size_t left = published->peaks;
    if (!isnan(published->bandwidth)) {
        roof_text_put(out, roof_format_quantity(value, published->bandwidth, ROOF_UNIT_GB_PER_S));
        separator = left > 1 ? ", " : " and ";
    }
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        if (isnan(published->peak[p])) {
            continue;
        }
        const char *const label = roof_format((enum roof_precision)p)->label;
        roof_text_printf(out, "%s%s %.*s", separator,
                         roof_format_quantity(value, published->peak[p], ROOF_UNIT_TFLOPS),
                         (int)strcspn(label, " "), label); /* "FP8", from "FP8 E4M3" */
        separator = --left > 1 ? ", " : " and ";
    }
}

/* Says which figures a device has, and which ones the GPU that is sold has (the device itself: the
 * same): those that the work uses, or else all figures of memory and matrix units. */
static void put_documents(struct roof_text *out, const struct roof_hardware *hardware,
                          const struct roof_hardware *product, const struct published *used)
{
    const struct published all = of_device(hardware, product);
    const struct published *const published = is_none(used) ? &all : used;
    roof_text_printf(out, "%s has " ROOF_REPORT_DOCUMENTS "; for the GPU that is sold",
                     hardware->id);
    if (is_none(published)) {
        roof_text_put(out, " (" ROOF_REPORT_SAME ")");
    } else {
        roof_text_put(out, ", with ");
        put_words(out, published);
        roof_text_put(out, ",");
    }
    roof_text_put(out, " use -H ");
    roof_text_shell_word(out, product == hardware ? hardware->product : product->reference);
}

/* Writes the note on a device with other published figures. */
static void put_note(struct roof_text *out, const struct roof_hardware *hardware,
                     const struct roof_hardware *product, const struct published *used)
{
    roof_text_put(out, "\n");
    const size_t from = out->length;
    roof_text_put(out, "Note: ");
    put_documents(out, hardware, product, used);
    roof_text_put(out, ".\n");
    roof_text_fold(out, from, 0);
}

/* Writes the note on a user's file that has the id of a built-in device. */
static void note_own(struct roof_text *out, const struct roof_hardware *hardware)
{
    if (roof_hardware_hides(hardware)) {
        roof_text_put(out, "\n");
        const size_t from = out->length;
        roof_text_printf(out, "Note: the figures of %s are those of ", hardware->id);
        roof_text_shell_word(out, hardware->reference);
        roof_text_put(out, ", not of the built-in device.\n");
        roof_text_fold(out, from, 0);
    }
}

void roof_report_basis(struct roof_text *out, const struct roof_prediction *p,
                       const struct roof_hardware *product)
{
    struct roof_used used;
    roof_used_by(&used, p);
    note_own(out, p->hardware);
    roof_report_caveats(out, &used);
    if (product != NULL && roof_hardware_differs(p->hardware, product)) {
        const struct published published = of_prediction(p, product);
        put_note(out, p->hardware, product, &published);
    }
}

void roof_report_model_basis(struct roof_text *out, const struct roof_model_prediction *model,
                             const struct roof_hardware *product)
{
    struct roof_used used;
    roof_used_by_model(&used, model);
    note_own(out, model->total.hardware);
    roof_report_caveats(out, &used);
    if (product != NULL && roof_hardware_differs(model->total.hardware, product)) {
        const struct published published = of_model(model, product);
        put_note(out, model->total.hardware, product, &published);
    }
}

/* Returns the stacks of engines whose kernels a device has, a bit for each. */
static unsigned stacks_of(const struct roof_hardware *hardware)
{
    const struct roof_calibration *const c = hardware->calibration;
    unsigned stacks = 0;
    for (size_t i = 0; c != NULL && i < c->count; i++) {
        stacks |= 1U << c->fit[i].stack;
    }
    return stacks & ~(1U << ROOF_STACK_BEST | 1U << ROOF_STACK_LLAMA_CPP);
}

bool roof_report_is_fastest(const struct roof_model_prediction *model)
{
    const double expected_s = fmax(model->expected_step_s, model->expected_e2e_s);
    return model->scenario.common.stack == ROOF_STACK_BEST && !isnan(expected_s) &&
           stacks_of(model->total.hardware) != 0;
}

void roof_report_fastest(struct roof_text *out, const struct roof_model_prediction *model)
{
    const struct roof_scenario *const s = &model->scenario;
    unsigned stacks = stacks_of(model->total.hardware);
    if (!roof_report_is_fastest(model)) {
        return;
    }
    roof_text_put(out, "\n");
    const size_t from = out->length;
    roof_text_printf(
        out,
        "Note: the expected time adds up the fastest measured kernels of all engines%s. "
        "One engine takes as long or longer:",
        s->host_time_said == NULL ? ", without host time" : "");
    const char *before = " --stack ";
    for (int stack = 0; stacks != 0; stacks &= ~(1U << stack++)) {
        if ((stacks >> stack & 1U) != 0) {
            roof_text_printf(out, "%s%s", before, roof_stack_name((enum roof_stack)stack));
            before = "|";
        }
    }
    roof_text_put(out, ".\n");
    roof_text_fold(out, from, 0);
}

void roof_report_device_basis(struct roof_text *out, const struct roof_used *used,
                              const struct roof_hardware *product)
{
    const struct roof_hardware *const hardware = used->hardware;
    note_own(out, hardware);
    roof_report_caveats(out, used);
    if (product != NULL && roof_hardware_differs(hardware, product)) {
        const struct published published = of_device_fp16(hardware, product);
        put_note(out, hardware, product, &published);
    }
}

void roof_report_documents(struct roof_text *out, const struct roof_hardware *hardware,
                           const struct roof_hardware *product)
{
    const struct roof_hardware *const sold = product == NULL ? hardware : product;
    const struct published published = of_device_fp16(hardware, sold);
    put_documents(out, hardware, sold, &published);
}

/* --- for programs -------------------------------------------------------------------------- */

/* Writes the members: the id of the product, its bandwidth, and its peak or an object of peaks. */
static void put_members(struct roof_text *out, const struct roof_hardware *product,
                        const struct published *published, bool one)
{
    const char *separator = "";
    roof_text_put(out, "\"hardware\": ");
    roof_json_quote(out, product->id);
    if (!isnan(published->bandwidth)) {
        roof_text_put(out, ", \"bandwidth_gb_s\": ");
        roof_text_number(out, roof_given(published->bandwidth, ROOF_UNIT_GB_PER_S));
    }
    if (published->peaks > 0) {
        roof_text_put(out, one ? ", \"peak_tflops\": " : ", \"peak_tflops\": {");
    }
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        if (!isnan(published->peak[p])) {
            if (!one) {
                roof_text_printf(out, "%s\"%s\": ", separator,
                                 roof_format((enum roof_precision)p)->name);
            }
            roof_text_number(out, roof_given(published->peak[p], ROOF_UNIT_TFLOPS));
            separator = ", ";
        }
    }
    roof_text_put(out, one || published->peaks == 0 ? "" : "}");
}

static void put_published(struct roof_text *out, const char *indent,
                          const struct roof_hardware *product, const struct published *published,
                          bool one)
{
    if (!is_none(published)) {
        roof_text_printf(out, ",%s\"published\": {", indent);
        put_members(out, product, published, one);
        roof_text_put(out, "}");
    }
}

void roof_report_published(struct roof_text *out, const char *indent,
                           const struct roof_prediction *p, const struct roof_hardware *product)
{
    if (product != NULL) {
        const struct published published = of_prediction(p, product);
        put_published(out, indent, product, &published, true);
    }
}

void roof_report_model_published(struct roof_text *out, const char *indent,
                                 const struct roof_model_prediction *model,
                                 const struct roof_hardware *product)
{
    if (product != NULL) {
        const struct published published = of_model(model, product);
        put_published(out, indent, product, &published, false);
    }
}

bool roof_report_is_other(const struct roof_hardware *hardware, const struct roof_hardware *product)
{
    if (product == NULL) {
        return false;
    }
    const struct published published = of_device(hardware, product);
    return !is_none(&published);
}

void roof_report_published_device(struct roof_text *out, const struct roof_hardware *hardware,
                                  const struct roof_hardware *product)
{
    const struct published published = of_device(hardware, product);
    roof_text_put(out, "{\"of\": ");
    roof_json_quote(out, hardware->id);
    roof_text_put(out, ", ");
    put_members(out, product, &published, false);
    roof_text_put(out, "}");
}

void roof_report_published_devices(struct roof_text *out,
                                   const struct roof_hardware *const *hardware,
                                   const struct roof_hardware *const *products, size_t count)
{
    size_t others = 0;
    for (size_t h = 0; h < count && products != NULL; h++) {
        if (roof_report_is_other(hardware[h], products[h])) {
            roof_text_put(out, others++ == 0 ? ",\n  \"published\": [" : ", ");
            roof_report_published_device(out, hardware[h], products[h]);
        }
    }
    roof_text_put(out, others > 0 ? "]" : "");
}
