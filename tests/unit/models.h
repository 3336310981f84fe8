// SPDX-License-Identifier: MIT
/* Models, questions about them, and kernels of which only the launch takes time. */
#ifndef ROOF_TESTS_MODELS_H
#define ROOF_TESTS_MODELS_H

#include "support.h"

#include <math.h>
#include <stdbool.h>

/* The text of a config.json. */
static inline struct roof_model *parse(const char *text)
{
    struct roof_model *model = NULL;
    struct roof_error error = {0};
    if (roof_model_parse(&model, text, strlen(text), "tiny", &error) != ROOF_OK) {
        fail_msg("%d:%d: %s\n%s", error.line, error.column, error.message, text);
    }
    assert_non_null(model);
    return model;
}

static inline struct roof_model *load(const char *id)
{
    struct roof_model *model = NULL;
    struct roof_error error = {0};
    if (roof_model_load(&model, id, NULL, &error) != ROOF_OK) {
        fail_msg("%s: %s", id, error.message);
    }
    return model;
}

/* Batch and context of a phase; everything else as by default. */
static inline struct roof_scenario asked(enum roof_phase phase, int64_t batch, int64_t context)
{
    struct roof_scenario s;
    roof_scenario_init(&s);
    s.phase = phase;
    s.common.shape.batch = batch;
    s.context = context;
    return s;
}

/* Into a result of its own: several are compared. */
static inline void infer_into(struct roof_model_prediction *out, const struct roof_model *m,
                              const struct roof_scenario *s, const struct roof_hardware *hardware)
{
    struct roof_error error = {0};
    if (roof_predict_model(out, m, s, hardware, &error) != ROOF_OK) {
        fail_msg("%s on %s: %s", m->id, hardware->id, error.message);
    }
}

/* Valid until the next call. */
static inline const struct roof_model_prediction *
infer(const struct roof_model *m, struct roof_scenario s, const struct roof_hardware *hardware)
{
    static struct roof_model_prediction model_prediction;
    infer_into(&model_prediction, m, &s, hardware);
    return &model_prediction;
}

static inline bool unknown(double value)
{
    return isnan(value);
}

/* Gives a parameter a value, whatever its range; nothing where the kernel has none of it. */
static inline void put_parameter(struct roof_kernel_fit *fit, const char *key, double value)
{
    size_t count = 0;
    const struct roof_parameter *const row = roof_kernel_parameters(fit->kernel, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(row[i].key, key) == 0) {
            fit->parameter[i] = value;
        }
    }
}

/* No term shows but the launch of 1000 clocks per us: rates are endless, all else is nothing. */
static inline struct roof_kernel_fit launch_only(enum roof_kernel kernel, double launch_us)
{
    static const char *const endless[] = {"dram",
                                          "peak",
                                          "l2_capacity",
                                          "l2_rate",
                                          "feed_bytes_per_clock",
                                          "l2_bytes_per_clock",
                                          "stream",
                                          "reduce",
                                          "epilogue",
                                          "quantize_rate",
                                          "chunk_tokens",
                                          "lone_flop_per_clock",
                                          "link",
                                          "short"};
    struct roof_kernel_fit fit = {.kernel = kernel, .low = 0.5, .high = 2, .rows = 1};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        put_parameter(&fit, endless[i], 1e12);
    }
    if (kernel == ROOF_KERNEL_MLA_DECODE) {
        put_parameter(&fit, "tile_rows", 1);
    }
    size_t count = 0;
    const struct roof_parameter *const parameter = roof_kernel_parameters(kernel, &count);
    for (size_t i = 0; i < count; i++) {
        if (!isnan(parameter[i].neutral)) {
            put_parameter(&fit, parameter[i].key, parameter[i].neutral);
        }
    }
    put_parameter(&fit, "launch_clocks", launch_us * 1000);
    return fit;
}

#endif
