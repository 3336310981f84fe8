// SPDX-License-Identifier: MIT
/* The kernels that the expected time of a model in GGUF formats assumes. */
#include <stdio.h>

#include "predict/calibration.h"
#include "predict/conversion.h"
#include "report/model_report.h"
#include "report/render.h"

static void put_line(struct roof_text *out, const char *detail)
{
    roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "", "", detail);
}

/* Returns the GGUF format of an operator's weights, or with `kv` of its KV cache, if its kernels
 * come from another device, stack or format; otherwise ROOF_PRECISION_AUTO. */
static enum roof_precision lacking_gguf(const struct roof_prediction *p, bool kv)
{
    const enum roof_role role = kv ? ROOF_ROLE_KV : ROOF_ROLE_WEIGHTS;
    const struct roof_formats *const f = &p->workload.formats;
    const enum roof_precision format = kv ? f->kv : f->weights;
    return p->expected_near && p->role_bytes[role] > 0 && roof_precision_gguf(format)
               ? format
               : ROOF_PRECISION_AUTO;
}

/* Says which kernels for GGUF formats were not measured on such a device: those for weights, or
 * else those for a KV cache. */
static void put_lacking_gguf(struct roof_text *out, const struct roof_model_prediction *r)
{
    enum roof_precision cache = ROOF_PRECISION_AUTO;
    bool weights = false;
    char line[96];
    for (size_t i = 0; i < r->count; i++) {
        const struct roof_prediction *const p = &r->node[i].prediction;
        const enum roof_precision kv = lacking_gguf(p, true);
        weights = weights || lacking_gguf(p, false) != ROOF_PRECISION_AUTO;
        cache = kv == ROOF_PRECISION_AUTO ? cache : kv;
    }
    if (weights) {
        put_line(out, "no kernels for GGUF weights were measured on such a device");
    } else if (cache != ROOF_PRECISION_AUTO) {
        snprintf(line, sizeof line, "no kernels for a %s KV cache were measured on such a device",
                 roof_format(cache)->name);
        put_line(out, line);
    }
}

void roof_model_report_gguf(struct roof_text *out, const struct roof_model_prediction *r)
{
    const struct roof_scenario *const s = &r->scenario;
    if (s->common.stack != ROOF_STACK_LLAMA_CPP || !roof_scenario_gguf(s, r->model)) {
        return;
    }
    if (roof_calibration_of(r->total.hardware->calibration, ROOF_STACK_LLAMA_CPP) != NULL) {
        put_line(out, "kernels of llama.cpp, the engine for GGUF weights");
    } else if (r->expected_near > ROOF_NEAR_SHOWN) {
        put_lacking_gguf(out, r);
    }
}

bool roof_model_report_int8(const struct roof_model_prediction *r)
{
    struct roof_formats f = r->scenario.common.formats;
    const struct roof_hardware *const device = r->total.hardware;
    for (int w = 0; w < ROOF_WEIGHT_COUNT && !roof_precision_gguf(f.weights); w++) {
        f.weights = (enum roof_precision)r->model->format[w];
    }
    return roof_precision_gguf(f.weights) && f.activations != ROOF_PRECISION_INT8 &&
           device->compute[roof_product_format(device, &f, ROOF_ROLE_WEIGHTS)].precision ==
               ROOF_PRECISION_INT8;
}
