// SPDX-License-Identifier: MIT
#include "report/fit_report.h"

#include <string.h>

#include "base/base.h"
#include "base/shell.h"
#include "decide/read.h"

void roof_report_fit_json(struct roof_text *out, const struct roof_scale_fit *fit)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"step_scale", fit->scale},
                   {"serial_ms", roof_to_unit(fit->host_s, ROOF_UNIT_MILLISECONDS)},
                   {"expected_mape", fit->mape},
                   {"fitted_mape", fit->fitted_mape},
                   {"applied_mape", fit->applied_mape}};
    roof_text_printf(out, ",\n\"fit\":{\"rows\":%zu", fit->rows);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        roof_text_printf(out, ",\"%s\":", numbers[i].key);
        roof_text_number(out, numbers[i].value);
    }
    if (fit->host_s > 0 && fit->one_engine) {
        roof_text_put(out, ",\"host_time\":\"");
        roof_host_time_put(out, &fit->engine);
        roof_text_put(out, "\"");
    }
    roof_text_put(out, "}");
}

/* Writes the options of the question without which a factor gives other times. */
static void text_same(struct roof_text *out, const struct roof_reported_fit *f)
{
    if (f->fit.one_stack && f->fit.stack != ROOF_STACK_BEST) {
        roof_text_printf(out, " --stack %s", roof_stack_name(f->fit.stack));
    }
    if (f->host_time != NULL && f->fit.models > 0) {
        roof_text_put(out, " --host-time ");
        roof_text_shell_word(out, f->host_time);
    }
}

/* Says which of the printed host times a fit leaves as they are. */
static void put_not_fitted(struct roof_text *out, const struct roof_host_time *engine)
{
    const struct roof_host_time fitted = {.step_s = engine->step_s};
    if (!roof_host_time_equal(engine, &fitted)) {
        roof_text_put(out, "\n    (of these host times, only step= is fitted; the others are "
                           "those of the rows)");
    }
}

/* Writes the options that apply a fit in commands without --serial. */
static void text_served(struct roof_text *out, const struct roof_reported_fit *f)
{
    const struct roof_scale_fit *const fit = &f->fit;
    char scale[ROOF_QUANTITY_SIZE];
    char host[ROOF_TIME_OPTION_SIZE];
    struct roof_reported_fit same = *f;
    roof_text_printf(out, "simulate and recommend --rate: --step-scale %s",
                     roof_format_short(scale, fit->scale));
    if (f->engine != NULL) {
        roof_text_printf(out, " --engine %s", f->engine);
        same.fit.one_stack = false; /* the engine has it */
    }
    if (fit->host_s > 0) {
        same.host_time = NULL; /* the list below includes it */
    }
    text_same(out, &same);
    if (fit->host_s > 0 && fit->one_engine) {
        const bool late = f->host_time != NULL && strcmp(f->host_time, "none") == 0;
        roof_text_put(out, " --host-time ");
        roof_text_put(out, late && fit->stack == ROOF_STACK_BEST ? "overlap=0us," : "");
        roof_host_time_put(out, &fit->engine);
        put_not_fitted(out, &fit->engine);
    } else if (fit->host_s > 0) {
        roof_text_printf(out, ", and %s more for step= of each --host-time",
                         roof_time_option(host, fit->host_s));
    }
    roof_text_put(out, "\n");
}

/* Writes the options that apply a fit, by command. */
static void text_options(struct roof_text *out, const struct roof_reported_fit *f)
{
    const struct roof_scale_fit *const fit = &f->fit;
    char scale[ROOF_QUANTITY_SIZE];
    char host[ROOF_TIME_OPTION_SIZE];
    const bool alike = fit->models > 0 && f->engine == NULL && !(fit->host_s > 0);
    roof_text_printf(out, "%s: --step-scale %s",
                     alike             ? "predict, sweep, compare, simulate and recommend --rate"
                     : fit->models > 0 ? "predict, sweep and compare"
                                       : "compare",
                     roof_format_short(scale, fit->scale));
    if (fit->host_s > 0) {
        roof_text_printf(out, " --serial %s", roof_time_option(host, fit->host_s));
    }
    text_same(out, f);
    roof_text_put(out, "\n");
    if (fit->models > 0 && !alike) {
        text_served(out, f);
    }
    if (!fit->one_stack) {
        roof_text_put(out, "The rows have several stacks: add the --stack of each.\n");
    }
    if (fit->models < fit->rows) {
        roof_text_put(out, "Operators are scaled by compare only; roofline-calibrate fits their "
                           "estimates.\n");
    }
}

/* Writes which values a fit used: " (10 tpot_ms, 1 ttft_ms)". */
static void text_values(struct roof_text *out, const struct roof_scale_fit *fit)
{
    const char *before = " (";
    for (int metric = 0; metric < ROOF_METRIC_COUNT; metric++) {
        if (fit->of[metric] > 0) {
            roof_text_printf(out, "%s%zu %s", before, fit->of[metric],
                             roof_metric_key((enum roof_metric)metric));
            before = ", ";
        }
    }
    roof_text_put(out, ")");
}

void roof_report_fit(struct roof_text *out, const struct roof_reported_fit *f)
{
    const struct roof_scale_fit *const fit = &f->fit;
    char scale[ROOF_QUANTITY_SIZE];
    char host[ROOF_QUANTITY_SIZE];
    char before[ROOF_QUANTITY_SIZE];
    char after[ROOF_QUANTITY_SIZE];
    roof_format_short(scale, fit->scale);
    roof_format_quantity(host, fit->host_s, ROOF_UNIT_MILLISECONDS);
    roof_format_quantity(before, fit->mape, ROOF_UNIT_FRACTION);
    if (fit->fitted_mape >= fit->mape) {
        roof_text_printf(out,
                         "\nNo factor and no host time that are fitted to these %zu values lower "
                         "the mean error (%s)\nof values left out of the fit.\n",
                         fit->rows, before);
        return;
    }
    const bool early = fit->hosted && fit->stack == ROOF_STACK_BEST && fit->one_stack;
    const char *const kept = early ? "early starts" : "host time";
    roof_text_printf(out, "\nnew estimate = %s x %s%s", scale,
                     fit->hosted ? "kernels + " : "expected", fit->hosted ? kept : "");
    if (fit->host_s > 0) {
        roof_text_printf(out, " + %s for each pass", host);
    }
    if (fit->hosted) {
        roof_text_printf(out, "\nkernels: the expected time without %s",
                         early ? "early starts, which shorten it" : "the engine's host time");
    }
    roof_text_put(out, "\n");
    const size_t from = out->length;
    roof_text_printf(out, "With these options the mean error of the %zu values used", fit->rows);
    text_values(out, fit);
    roof_text_printf(out, " falls from %s to %s; ", before,
                     roof_format_quantity(after, fit->applied_mape, ROOF_UNIT_FRACTION));
    if (fit->fitted_mape > fit->applied_mape) {
        roof_text_printf(out, "for values left out of the fit (leave-one-out) it is %s:",
                         roof_format_quantity(after, fit->fitted_mape, ROOF_UNIT_FRACTION));
    } else {
        roof_text_put(out, "for values left out of the fit (leave-one-out) it is not larger:");
    }
    roof_text_fold(out, from, 0);
    roof_text_put(out, "\n");
    text_options(out, f);
}
