// SPDX-License-Identifier: MIT
#include "decide/emit_reason.h"

#include <inttypes.h>
#include <math.h>

#include "base/list.h"
#include "decide/emit_name.h"
#include "decide/plan_verdict.h"

/* Names the engines that run the model on a device in some format. */
static void put_others(struct roof_text *out, const struct roof_hardware *hardware,
                       const struct roof_plan_problem *q)
{
    unsigned serve = 0;
    const char *separator = "; engines that run the model there: ";
    for (size_t i = 0; i < q->engines->servings; i++) {
        if (roof_plan_model(q, i) != NULL) {
            serve |= roof_engines_serve(q->engines, i, q->model, hardware);
        }
    }
    for (size_t e = 0; e < q->engines->count; e++) {
        if ((serve >> e & 1U) != 0) {
            roof_text_printf(out, "%s%s", separator, q->engines->engine[e].id);
            separator = ", ";
        }
    }
}

/* Lists the formats that the engine runs on a device: "float8dq (KV cache bf16), ..." Returns
 * whether there are any. */
static bool put_formats(struct roof_text *out, const struct roof_engine *engine,
                        const struct roof_hardware *hardware, const struct roof_plan_problem *q)
{
    const char *separator = "";
    const size_t number = (size_t)(engine - q->engines->engine);
    for (size_t i = 0; i < q->engines->servings; i++) {
        const struct roof_serving *const s = &q->engines->serving[i];
        const struct roof_engine_format *const f = roof_engine_format(engine, s, hardware);
        const unsigned serve = roof_engines_serve(q->engines, i, q->model, hardware);
        if (f != NULL && roof_plan_model(q, i) != NULL && (serve >> number & 1U) != 0) {
            roof_text_printf(out, "%s%s (KV cache %s)", separator, f->id, roof_format(s->kv)->name);
            separator = ", ";
        }
    }
    const bool any = *separator != '\0';
    if (!any) {
        roof_text_put(out, "none");
        put_others(out, hardware, q);
    }
    roof_text_put(out, "\n");
    return any;
}

/* Says on which devices the engine runs the class of the model only. */
static void put_class_devices(struct roof_text *out, const struct roof_engine *engine,
                              const struct roof_engine_class *class)
{
    size_t count = 0;
    while (class->on[count] != NULL) {
        count++;
    }
    roof_text_printf(out, "%s runs %s on ", engine->name, class->id);
    for (size_t i = 0; i < count; i++) {
        roof_text_printf(out, "%s%s", roof_list_separator(i, count), class->on[i]);
    }
    roof_text_put(out, " only\n");
}

/* Says in which formats alone the engine keeps the KV cache of the class of the model. */
static void put_class_kv(struct roof_text *out, const struct roof_engine *engine,
                         const struct roof_engine_class *class)
{
    roof_text_printf(out, "%s keeps the KV cache of %s in ", engine->name, class->id);
    for (size_t i = 0; i < class->kvs; i++) {
        roof_text_printf(out, "%s%s", roof_list_separator(i, class->kvs),
                         roof_format(class->kv[i].format)->name);
    }
    roof_text_put(out, " only\n");
}

/* Names the rules for the class of the model that the question breaks. */
static void put_class(struct roof_text *out, const struct roof_engine *engine,
                      const struct roof_plan_problem *q)
{
    const struct roof_engine_class *const class = roof_engine_class(engine, q->model);
    const enum roof_precision kv = q->base.common.formats.kv;
    bool off = false;
    for (size_t h = 0; h < q->hardware_count && class != NULL; h++) {
        off = off || !roof_engine_class_on(class, q->hardware[h]);
    }
    if (off) {
        put_class_devices(out, engine, class);
    }
    if (class != NULL && class->kvs > 0 && kv != ROOF_PRECISION_AUTO &&
        roof_engine_kv(engine, q->model, kv) == NULL) {
        put_class_kv(out, engine, class);
    }
}

/* Lists the limits of a split: "tp 1, ep 1, batch up to 1" */
static void put_limits(struct roof_text *out, const struct roof_engine_split *s,
                       const char *separator)
{
    for (int k = 0; k < ROOF_SPLIT_LIMITS; k++) {
        if (s->most[k] != INT64_MAX) {
            roof_text_printf(out, "%s%s %" PRId64, separator,
                             k == ROOF_SPLIT_BATCH ? "batch up to" : roof_split_limits[k],
                             s->most[k]);
            separator = ", ";
        }
    }
}

/* Says over which splits the engine has the drafts of the question. */
static void put_drafts(struct roof_text *out, const struct roof_engine *engine,
                       enum roof_drafting by)
{
    const struct roof_engine_drafts *const d = &engine->drafts[by];
    roof_text_printf(out, "Drafts (%s): ", roof_engine_drafting[by]);
    if (d->make == NULL) {
        roof_text_put(out, "no options of this engine are known");
    } else {
        put_limits(out, &d->over, "");
    }
    roof_text_put(out, "\n");
}

/* Names the limits that the nearest plan misses, and what it reaches. */
static void put_missed(struct roof_text *out, const struct roof_plan_problem *q,
                       const struct roof_plan *nearest)
{
    const char *separator = "The nearest plan misses";
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        const enum roof_plan_limit limit = (enum roof_plan_limit)i;
        if (!isnan(q->limit[i]) && roof_plan_excess(limit, nearest->value[i], q->limit[i]) > 1) {
            roof_text_printf(out, "%s the limit on %s (", separator, roof_plan_limit_name(limit));
            roof_plan_put_asked(out, limit, q);
            roof_text_put(out, ") with ");
            roof_plan_put_value(out, limit, nearest->value[i]);
            separator = ", and";
        }
    }
    roof_text_put(out, ": ");
    roof_plan_describe(out, nearest, q);
    roof_text_put(out, "\n");
}

void roof_emit_reasons(struct roof_text *out, const struct roof_engine *engine,
                       const struct roof_plan_problem *q, const struct roof_plans *plans)
{
    const bool missed = plans->count == 0 && plans->rejected[ROOF_REJECTED_LIMIT] > 0 &&
                        isfinite(plans->closest_excess);
    if (plans->count == 0) {
        roof_text_printf(out,
                         "%s runs no plan that satisfies the constraints; --engine %s in place of "
                         "--emit shows what was left out, and why.\n",
                         engine->name, engine->id);
    } else {
        roof_text_printf(out, "%s runs none of the %zu plans that satisfy the constraints.\n",
                         engine->name, plans->count);
    }
    if (missed) {
        put_missed(out, q, &plans->closest);
        return;
    }
    put_class(out, engine, q);
    bool any = false;
    for (size_t h = 0; h < q->hardware_count; h++) {
        roof_text_put(out, "Formats on ");
        roof_emit_name(out, q->hardware[h]->id, ROOF_EMIT_COMMENT);
        roof_text_put(out, ": ");
        any = put_formats(out, engine, q->hardware[h], q) || any;
    }
    if (!any) {
        return;
    }
    if (q->base.draft_tokens > 0) {
        put_drafts(out, engine, roof_drafting_of(&q->base, q->model));
    }
    roof_text_put(out, "Splits: ");
    for (size_t i = 0; i < engine->splits; i++) {
        put_limits(out, &engine->split[i], i == 0 ? "" : "; or ");
    }
    roof_text_put(out, engine->nodes == NULL ? "; in one node\n" : "\n");
}
