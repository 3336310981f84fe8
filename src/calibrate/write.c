// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>

#include "calibrate/fitter.h"

/* Writes a number of six digits, so that a file does not change with the last bit of a library. */
static void put_rounded(struct roof_text *out, double value)
{
    char digits[32];
    double rounded = value;
    snprintf(digits, sizeof digits, "%.5e", value);
    (void)sscanf(digits, "%lf", &rounded);
    roof_text_number(out, rounded);
}

static void put_fit(struct roof_text *out, const struct roof_kernel_fit *fit)
{
    size_t count = 0;
    const struct roof_parameter *const parameter = roof_kernel_parameters(fit->kernel, &count);
    roof_text_printf(out,
                     "    {\"kernel\": \"%s\", \"stack\": \"%s\", \"numerics\": \"%s\", "
                     "\"quantize_input\": \"%s\", \"rows\": %" PRId64 ",\n     ",
                     roof_kernel_name(fit->kernel), roof_stack_name(fit->stack),
                     roof_numerics_name(fit->numerics), quantize_name(fit->quantize), fit->rows);
    if (fit->lent != NULL) {
        roof_text_printf(out, "\"lent\": \"%s\", ", fit->lent);
    }
    roof_text_put(out, "\"mape\": ");
    put_rounded(out, fit->mape);
    roof_text_put(out, ", \"low\": ");
    put_rounded(out, fit->low);
    roof_text_put(out, ", \"high\": ");
    put_rounded(out, fit->high);
    roof_text_put(out, ",\n     \"parameters\": {");
    for (size_t i = 0; i < count; i++) {
        roof_text_printf(out, "%s\"%s\": ", i == 0 ? "" : ", ", parameter[i].key);
        put_rounded(out, fit->parameter[i]);
    }
    roof_text_put(out, "}}");
}

static void put_document(struct roof_text *out, const struct fitter *f)
{
    roof_text_printf(out,
                     "{\n  \"schema\": \"roofline/calibration/1\",\n  \"hardware\": \"%s\",\n"
                     "  \"attributions\": [",
                     f->hardware->id);
    for (int i = 0; i < f->options->attributions; i++) {
        roof_text_printf(out, "%s\"%s\"", i == 0 ? "" : ", ", f->options->attribution[i]);
    }
    roof_text_put(out, "],\n  \"fits\": [\n");
    for (int i = 0; i < f->dones; i++) {
        roof_text_put(out, i == 0 ? "" : ",\n");
        put_fit(out, &f->done[i]);
    }
    roof_text_put(out, "\n  ]\n}\n");
}

static bool write_file(const char *path, const struct roof_text *text)
{
    FILE *const file = fopen(path, "w");
    if (file == NULL) {
        return false;
    }
    const bool written = fwrite(text->data, 1, text->length, file) == text->length;
    return fclose(file) == 0 && written;
}

enum roof_status write_fits(const struct fitter *f, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status status = ROOF_OK;
    put_document(&text, f);
    if (text.failed) {
        status = roof_no_memory(error);
    } else if (!write_file(f->options->output, &text)) {
        status = roof_error_at(error, ROOF_IO, f->options->output, 0, 0, "cannot write");
    }
    roof_text_free(&text);
    return status;
}
