// SPDX-License-Identifier: MIT
/* Writes the document of a calibration. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "predict/calibration.h"

/* Rounds a number to six digits, so that a file does not depend on the last bit of a C library. */
static double rounded(double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.5e", value);
    return strtod(digits, NULL);
}

static void put_rounded(struct roof_text *out, double value)
{
    roof_text_number(out, rounded(value));
}

/* Writes which parameters few rows moved, and what that gained. */
static void put_gain(struct roof_text *out, const struct roof_kernel_fit *fit)
{
    roof_text_put(out, "\"moved\": [");
    roof_fit_put_moved(out, fit, "\"");
    roof_text_put(out, "], \"error_before\": ");
    put_rounded(out, fit->error_before);
    roof_text_put(out, ", \"error_after\": ");
    put_rounded(out, fit->error_after);
    roof_text_put(out, ",\n     ");
}

static void put_fit(struct roof_text *out, const struct roof_kernel_fit *fit)
{
    size_t count = 0;
    const struct roof_parameter *const parameter = roof_fit_parameters(fit, &count);
    roof_text_printf(out,
                     "    {\"kernel\": \"%s\", %s\"stack\": \"%s\", \"numerics\": \"%s\", "
                     "\"quantize_input\": \"%s\", \"rows\": %" PRId64 ",\n     ",
                     roof_kernel_name(fit->kernel), fit->plain ? "\"form\": \"plain\", " : "",
                     roof_stack_name(fit->stack), roof_numerics_name(fit->numerics),
                     roof_quantize_name(fit->quantize), fit->rows);
    if (fit->one_format) {
        roof_text_printf(out, "\"weights\": \"%s\", ", roof_precision_name(fit->weights));
    }
    if (fit->least_heads > 0) {
        roof_text_printf(out, "\"least_heads\": %" PRId64 ", ", fit->least_heads);
    }
    if (fit->own_kv_heads) {
        roof_text_put(out, "\"own_kv_heads\": true, ");
    }
    if (fit->lent != NULL) {
        roof_text_put(out, "\"lent\": ");
        roof_json_quote(out, fit->lent);
        roof_text_put(out, ", ");
    }
    if (fit->error_before > 0) {
        put_gain(out, fit);
    }
    roof_text_put(out, "\"mape\": ");
    put_rounded(out, fit->mape);
    roof_text_put(out, ", \"low\": ");
    put_rounded(out, fit->low);
    roof_text_put(out, ", \"high\": ");
    put_rounded(out, fit->high);
    roof_text_put(out, ",\n     \"parameters\": {");
    for (size_t i = 0; i < count; i++) {
        if (rounded(fit->parameter[i]) != parameter[i].neutral) {
            roof_text_printf(out, "%s\"%s\": ", i == 0 ? "" : ", ", parameter[i].key);
            put_rounded(out, fit->parameter[i]);
        }
    }
    roof_text_put(out, "}}");
}

void roof_calibration_write(struct roof_text *out, const struct roof_calibration *calibration)
{
    roof_text_put(out, "{\n  \"schema\": \"roofline/calibration/1\",\n  \"hardware\": ");
    roof_json_quote(out, calibration->id);
    roof_text_put(out, ",\n  \"attributions\": [");
    for (size_t i = 0; calibration->attributions[i] != NULL; i++) {
        roof_text_put(out, i == 0 ? "" : ", ");
        roof_json_quote(out, calibration->attributions[i]);
    }
    roof_text_put(out, "],\n  \"fits\": [\n");
    for (size_t i = 0; i < calibration->count; i++) {
        roof_text_put(out, i == 0 ? "" : ",\n");
        put_fit(out, &calibration->fit[i]);
    }
    roof_text_put(out, "\n  ]\n}\n");
}
