// SPDX-License-Identifier: MIT
/* Finds changes of a question without a plan, with which there would be one. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "decide/input.h"
#include "decide/plan_inputs.h"
#include "decide/plan_verdict.h"
#include "predict/pass.h"

/* Additional devices are tried up to this number, and up to this multiple of them all. */
#define MORE_DEVICES 8

/* The devices of a problem that come in a number, and their indices in that problem. */
struct coming {
    const struct roof_hardware *hardware[ROOF_PLAN_HARDWARE_MAX];
    const struct roof_hardware *product[ROOF_PLAN_HARDWARE_MAX];
    double price[ROOF_PLAN_HARDWARE_MAX];
    size_t index[ROOF_PLAN_HARDWARE_MAX];
    size_t count;
};

/* Finds the devices that come in the number n. */
static void find_coming(struct coming *out, const struct roof_plan_problem *problem, int64_t n)
{
    const int64_t most = roof_plan_most_devices(problem);
    out->count = 0;
    for (size_t h = 0; h < problem->hardware_count; h++) {
        if (roof_hardware_comes_in(problem->hardware[h], n, most)) {
            out->hardware[out->count] = problem->hardware[h];
            out->product[out->count] = problem->product == NULL ? NULL : problem->product[h];
            out->price[out->count] = problem->price == NULL ? ROOF_UNKNOWN : problem->price[h];
            out->index[out->count++] = h;
        }
    }
}

/* Finds the next number of devices to try after n, and the devices that come in it; 0: there is
 * none. */
static int64_t more_devices(struct coming *out, const struct roof_plan_problem *problem, int64_t n)
{
    const int64_t most = roof_plan_most_devices(problem);
    const int64_t last = MORE_DEVICES * (most + MORE_DEVICES);
    for (int64_t next = n + 1; next <= last && next <= ROOF_PLAN_DEVICES_MAX; next++) {
        find_coming(out, problem, next);
        if (out->count > 0) {
            return next;
        }
    }
    return 0;
}

/* Searches a changed problem, and keeps the change and its best plan if there is one. */
static enum roof_status try_change(struct roof_plan_answer *answer,
                                   const struct roof_plan_problem *problem, const char *key,
                                   const char *value, struct roof_error *error)
{
    struct roof_plans plans = {0};
    struct roof_plan_problem alone = *problem;
    alone.beyond = ROOF_ACCURACY_NONE;
    const enum roof_status status = roof_plan_search(&plans, &alone, error);
    if (status == ROOF_OK) {
        struct roof_plan_shortage *const shortage = &answer->shortage;
        struct roof_plan_change *const change = &shortage->change[shortage->changes++];
        (void)snprintf(change->option, sizeof change->option, "%s %s", key, value);
        change->limit = ROOF_PLAN_LIMIT_COUNT;
        change->plan = plans.plan[0];
    }
    roof_plans_free(&plans);
    return status == ROOF_UNSATISFIED ? ROOF_OK : status;
}

/* The least fraction of the memory that engines leave free. */
#define RESERVE_LEAST 0.05

/* Tries the smallest reserve, with `before` its key, and names the largest one with which the plan
 * that was found still fits. */
static enum roof_status try_reserve(struct roof_plan_answer *answer,
                                    const struct roof_plan_problem *problem, const char *before,
                                    struct roof_error *error)
{
    struct roof_plan_problem free = *problem;
    struct roof_plan_shortage *const shortage = &answer->shortage;
    const size_t changes = shortage->changes;
    free.base.reserve = RESERVE_LEAST;
    TRY(try_change(answer, &free, before, "", error));
    if (shortage->changes > changes) {
        struct roof_plan_change *const change = &shortage->change[changes];
        const struct roof_hardware *const hardware = problem->hardware[change->plan.hardware];
        const double spare =
            roof_memory_spare(change->plan.memory_bytes, roof_memory_capacity(hardware));
        char value[ROOF_NUMBER_SIZE];
        (void)roof_format_number(value, fmax(spare, RESERVE_LEAST));
        (void)snprintf(change->option, sizeof change->option, "%s %s", before, value);
    }
    return ROOF_OK;
}

/* Tries fewer bits in the cache, a smaller memory reserve, and both if neither suffices. */
static enum roof_status try_memory(struct roof_plan_answer *answer, struct roof_error *error)
{
    struct roof_plan_problem narrow = answer->problem;
    enum roof_precision *const kv = &narrow.base.common.formats.kv;
    const bool bits = *kv != ROOF_PRECISION_AUTO && *kv != ROOF_PRECISION_FP8_E4M3;
    const bool reserve = narrow.base.reserve > RESERVE_LEAST;
    *kv = bits ? ROOF_PRECISION_FP8_E4M3 : *kv;
    if (bits) {
        TRY(try_change(answer, &narrow, "kv", "fp8", error));
    }
    if (reserve) {
        TRY(try_reserve(answer, &answer->problem, "reserve", error));
    }
    if (answer->shortage.changes > 0 || !bits || !reserve) {
        return ROOF_OK;
    }
    return try_reserve(answer, &narrow, "kv fp8 --reserve", error);
}

/* Writes a limit that a plan with `value` meets even after rounding to four digits. */
static void write_limit(char *out, size_t size, enum roof_plan_limit limit, double value)
{
    const bool least = limit == ROOF_PLAN_LIMIT_TOKENS_PER_S;
    const bool time = limit == ROOF_PLAN_LIMIT_TTFT || limit == ROOF_PLAN_LIMIT_TPOT;
    char number[ROOF_QUANTITY_SIZE];
    const double kept =
        value * (least ? 1 - 5e-4 : 1 + 5e-4); /* the error of four digits is smaller */
    roof_format_short(number, time ? roof_to_unit(kept, ROOF_UNIT_MILLISECONDS) : kept);
    (void)snprintf(out, size, "%s%s", number, time ? "ms" : "");
}

/* Writes an option that sets a limit to a value, for the percentile of the question if it has one:
 * "max-ttft p99:1201ms". */
static void write_limit_option(struct roof_plan_change *change, double value,
                               const struct roof_plan_problem *problem)
{
    const double percent = problem->percent[change->limit];
    char number[ROOF_NUMBER_SIZE];
    char limit[ROOF_QUANTITY_SIZE + 2];
    write_limit(limit, sizeof limit, change->limit, value);
    (void)roof_format_number(number, percent);
    (void)snprintf(change->option, sizeof change->option, "%s %s%s%s%s",
                   roof_input(roof_plan_limit_input(change->limit))->option, percent > 0 ? "p" : "",
                   percent > 0 ? number : "", percent > 0 ? ":" : "", limit);
}

/* Adds a relaxed limit: the one with the least excess, among candidates that miss a single limit.
 */
static void relax_limit(struct roof_plan_answer *answer)
{
    const struct roof_plans *const plans = &answer->plans;
    struct roof_plan_shortage *const shortage = &answer->shortage;
    enum roof_plan_limit nearest = ROOF_PLAN_LIMIT_COUNT;
    double least = (double)INFINITY;
    for (int i = 0; i < ROOF_PLAN_LIMIT_COUNT; i++) {
        if (i != ROOF_PLAN_LIMIT_CONCURRENCY && plans->missed[i] > 0) {
            const double excess = roof_plan_excess(
                (enum roof_plan_limit)i, plans->nearest[i].value[i], answer->problem.limit[i]);
            nearest = excess < least ? (enum roof_plan_limit)i : nearest;
            least = fmin(least, excess);
        }
    }
    if (nearest < ROOF_PLAN_LIMIT_COUNT && shortage->changes < ROOF_PLAN_CHANGES) {
        struct roof_plan_change *const change = &shortage->change[shortage->changes++];
        change->limit = nearest;
        change->plan = plans->nearest[nearest];
        write_limit_option(change, change->plan.value[nearest], &answer->problem);
    }
}

/* Tries more devices, each kind in its usual numbers, until a number suffices. */
static enum roof_status try_devices(struct roof_plan_answer *answer, struct roof_error *error)
{
    struct roof_plan_problem changed = answer->problem;
    struct roof_plan_shortage *const shortage = &answer->shortage;
    const size_t before = shortage->changes;
    struct coming coming;
    char value[ROOF_NUMBER_SIZE];
    int64_t n = roof_plan_most_devices(&answer->problem);
    changed.devices = &n;
    changed.device_counts = 1;
    changed.hardware = coming.hardware;
    changed.product = coming.product;
    changed.price = answer->problem.price == NULL ? NULL : coming.price;
    while (shortage->changes == before && before < ROOF_PLAN_CHANGES &&
           (n = more_devices(&coming, &answer->problem, n)) > 0) {
        changed.hardware_count = coming.count;
        (void)snprintf(value, sizeof value, "%" PRId64, n);
        TRY(try_change(answer, &changed, "devices", value, error));
    }
    if (shortage->changes > before) {
        struct roof_plan *const plan = &shortage->change[before].plan;
        plan->hardware = coming.index[plan->hardware];
    }
    return ROOF_OK;
}

enum roof_status roof_plan_find_changes(struct roof_plan_answer *answer, struct roof_error *error)
{
    if (answer->shortage.wanted > 0) {
        TRY(try_memory(answer, error));
    }
    relax_limit(answer);
    if (answer->shortage.wanted > 0 || answer->plans.rejected[ROOF_REJECTED_LIMIT] > 0) {
        TRY(try_devices(answer, error));
    }
    struct roof_plan_problem changed = answer->problem;
    const size_t others = answer->shortage.changes;
    while (changed.max_loss < ROOF_ACCURACY_2_TO_5 && answer->shortage.changes == others &&
           others < ROOF_PLAN_CHANGES) {
        changed.max_loss++;
        TRY(try_change(answer, &changed, "max-accuracy-loss", roof_accuracy_name(changed.max_loss),
                       error));
    }
    return ROOF_OK;
}
