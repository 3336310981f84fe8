// SPDX-License-Identifier: MIT
#include "decide/speedup.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "predict/pass.h"

const char *roof_cause_name(enum roof_cause cause)
{
    static const char *const names[ROOF_CAUSE_COUNT] = {[ROOF_CAUSE_MEMORY] = "memory",
                                                        [ROOF_CAUSE_COMPUTE] = "compute",
                                                        [ROOF_CAUSE_NETWORK] = "network",
                                                        [ROOF_CAUSE_LAUNCH] = "launch",
                                                        [ROOF_CAUSE_KERNELS] = "kernels"};
    return names[cause];
}

/* The bit of a cause in a set of changed causes. */
#define BIT(cause) (1U << ROOF_CAUSE_##cause)
enum { SETS = 1 << ROOF_CAUSE_COUNT };

/* The n causes can change one after the other in n! orders, and what a cause saves depends on those
 * before it. Sets the saving of each cause to its mean over the orders. A set S of causes is before
 * another cause in |S|! (n - |S| - 1)! of them. time[S] is the time after the changes in S. A cause
 * that never matters gets nothing in any order. */
static void share_out(struct roof_gain *out, const double time[SETS])
{
    static const double factorial[] = {1, 1, 2, 6, 24, 120};
    for (unsigned cause = 0; cause < ROOF_CAUSE_COUNT; cause++) {
        out->saved_s[cause] = 0;
        out->alone_s[cause] = time[1U << cause];
        for (unsigned set = 0; set < SETS; set++) {
            int before = 0;
            for (unsigned i = 0; i < ROOF_CAUSE_COUNT; i++) {
                before += (set >> i & 1U) != 0;
            }
            if ((set >> cause & 1U) == 0) {
                const double orders = factorial[before] * factorial[ROOF_CAUSE_COUNT - 1 - before];
                out->saved_s[cause] +=
                    orders / factorial[ROOF_CAUSE_COUNT] * (time[set] - time[set | 1U << cause]);
            }
        }
    }
}

/* --- one operator -------------------------------------------------------------------------- */

struct sides {
    const struct roof_prediction *from;
    const struct roof_prediction *to;
    const struct roof_node *from_node; /* NULL: the operators do not belong to a model */
    const struct roof_node *to_node;
};

/* Computes the roofline bound for each set of changed times. */
static void bound_times(double time[SETS], const struct roof_part *from, const struct roof_part *to)
{
    for (unsigned set = 0; set < SETS; set++) {
        const struct roof_part *const compute = set & BIT(COMPUTE) ? to : from;
        /* A power cap slows compute. */
        const double of[] = {(set & BIT(MEMORY) ? to : from)->memory_time_s,
                             compute->bottleneck == ROOF_BOTTLENECK_POWER ? compute->time_s
                                                                          : compute->compute_time_s,
                             (set & BIT(NETWORK) ? to : from)->network_time_s};
        time[set] = fmax(of[0], fmax(of[1], of[2])); /* fmax ignores unknown times */
    }
}

/* Returns the speedup from one time to another; 1: there is no change. */
static double factor(double time, double wanted)
{
    return time > 0 && wanted > 0 ? time / wanted : 1;
}

/* Gives a device the memory, compute or network time of a part on the other side. */
static void change(struct roof_hardware *device, const struct roof_part *own,
                   const struct roof_part *other, unsigned causes)
{
    struct roof_figure *const figure = device->figure;
    if (causes & BIT(MEMORY)) {
        figure[ROOF_FIGURE_BANDWIDTH].value *= factor(own->memory_time_s, other->memory_time_s);
    }
    if (causes & BIT(COMPUTE)) {
        const double faster = factor(own->compute_time_s, other->compute_time_s);
        for (size_t p = 0; p < ROOF_PRECISION_COUNT; p++) {
            device->compute[p].peak_flops_per_s *= faster;
            device->compute[p].sparse_flops_per_s *= faster;
        }
        device->vector_flops_per_s *= faster;
    }
    if (causes & BIT(NETWORK)) {
        const double faster = factor(own->network_time_s, other->network_time_s);
        figure[ROOF_FIGURE_LINK].value *= faster;
        figure[ROOF_FIGURE_NETWORK].value *= faster;
        figure[ROOF_FIGURE_PEER_LINK].value *= faster;
        figure[ROOF_FIGURE_BRIDGE].value *= faster;
        figure[ROOF_FIGURE_LINK_LATENCY].value /= faster;
        figure[ROOF_FIGURE_NETWORK_LATENCY].value /= faster;
    }
}

/* Computes the expected time of a part for each set of changed causes: the kernels of one side run
 * on a device with some figures changed to give the times of the other side. */
static enum roof_status expected_times(double time[SETS], const struct sides *s, int part,
                                       struct roof_error *error)
{
    const unsigned scaled = BIT(MEMORY) | BIT(COMPUTE) | BIT(NETWORK);
    const double from_launch_s = s->from->part[part].expected.launch_s;
    const double to_launch_s = s->to->part[part].expected.launch_s;
    for (unsigned set = 0; set < SETS; set++) {
        if (set & BIT(LAUNCH)) { /* the set without it gives both times */
            continue;
        }
        const bool kernels = (set & BIT(KERNELS)) != 0;
        const struct roof_prediction *const own = kernels ? s->to : s->from;
        const struct roof_prediction *const other = kernels ? s->from : s->to;
        const struct roof_node *const node = kernels ? s->to_node : s->from_node;
        struct roof_hardware device = *own->hardware;
        struct roof_prediction p;
        change(&device, &own->part[part], &other->part[part], scaled & (kernels ? ~set : set));
        TRY(node == NULL ? roof_predict(&p, &own->workload, &device, error)
                         : roof_predict_node(&p, node, &device, error));
        const struct roof_expected *const e = &p.part[part].expected;
        time[set] = e->time_s - e->launch_s + from_launch_s;
        time[set | BIT(LAUNCH)] = e->time_s - e->launch_s + to_launch_s;
    }
    return ROOF_OK;
}

static void add_gain(struct roof_gain *sum, const struct roof_gain *one, double count)
{
    sum->from_s += count * one->from_s;
    sum->to_s += count * one->to_s;
    sum->speedup = sum->from_s / sum->to_s;
    for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
        sum->saved_s[i] += count * one->saved_s[i];
        sum->alone_s[i] += count * one->alone_s[i];
    }
}

static void make_unknown(struct roof_gain *gain)
{
    gain->from_s = gain->to_s = gain->speedup = ROOF_UNKNOWN;
    for (int i = 0; i < ROOF_CAUSE_COUNT; i++) {
        gain->saved_s[i] = gain->alone_s[i] = ROOF_UNKNOWN;
    }
}

/* Explains an operator. Its parts run in sequence, so that their shares add up. */
static enum roof_status take_apart(struct roof_speedup_row *row, const struct sides *s,
                                   struct roof_error *error)
{
    double time[SETS];
    struct roof_gain gain;
    const bool expected = !isnan(s->from->expected_s) && !isnan(s->to->expected_s);
    for (int i = 0; i < s->from->part_count; i++) {
        const struct roof_part *const from = &s->from->part[i];
        const struct roof_part *const to = &s->to->part[i];
        bound_times(time, from, to);
        share_out(&gain, time);
        gain.from_s = from->time_s;
        gain.to_s = to->time_s;
        add_gain(&row->bound, &gain, row->count);
        if (expected) {
            TRY(expected_times(time, s, i, error));
            share_out(&gain, time);
            gain.from_s = from->expected.time_s;
            gain.to_s = to->expected.time_s;
            add_gain(&row->expected, &gain, row->count);
        }
    }
    if (!expected) {
        make_unknown(&row->expected);
    }
    row->from_bottleneck = s->from->bottleneck;
    row->to_bottleneck = s->to->bottleneck;
    row->expected_from_bottleneck = s->from->expected_bottleneck;
    row->expected_to_bottleneck = s->to->expected_bottleneck;
    return ROOF_OK;
}

/* --- both sides
 * ----------------------------------------------------------------------------------- */

static enum roof_status differ(struct roof_error *error)
{
    return roof_error_set(error, ROOF_USAGE,
                          "both sides of a comparison must have the same workload");
}

static enum roof_status add_row(struct roof_speedup *out, const char *name, double count,
                                const struct sides *s, struct roof_error *error)
{
    struct roof_speedup_row *const row = &out->row[out->count++];
    if (s->from->workload.op != s->to->workload.op || s->from->part_count != s->to->part_count) {
        return differ(error);
    }
    *row = (struct roof_speedup_row){
        .from = out->total.from, .to = out->total.to, .name = name, .count = count};
    TRY(take_apart(row, s, error));
    add_gain(&out->total.bound, &row->bound, 1);
    add_gain(&out->total.expected, &row->expected, 1);
    return ROOF_OK;
}

/* Pairs operators by name, in order: the sides may group layers differently, but the number of
 * operators per name must be equal. */
static enum roof_status add_rows(struct roof_speedup *out, const struct roof_model_prediction *a,
                                 const struct roof_model_prediction *b, struct roof_error *error)
{
    int64_t left[ROOF_GRAPH_MAX] = {0};
    int64_t unpaired = 0;
    for (size_t k = 0; k < b->count; k++) {
        left[k] = b->node[k].node.count;
    }
    for (size_t i = 0; i < a->count && unpaired == 0; i++) {
        const struct roof_node_prediction *const x = &a->node[i];
        int64_t count = x->node.count;
        for (size_t k = 0; k < b->count && count > 0; k++) {
            const struct roof_node_prediction *const y = &b->node[k];
            if (left[k] == 0 || strcmp(x->node.name, y->node.name) != 0) {
                continue;
            }
            if (out->count == ROOF_GRAPH_MAX) {
                return differ(error);
            }
            const int64_t both = count < left[k] ? count : left[k];
            const struct sides sides = {&x->prediction, &y->prediction, &x->node, &y->node};
            TRY(add_row(out, x->node.name, (double)both, &sides, error));
            out->row[out->count - 1].to_node = k;
            count -= both;
            left[k] -= both;
        }
        unpaired += count;
    }
    for (size_t k = 0; k < b->count; k++) {
        unpaired += left[k];
    }
    return unpaired == 0 ? ROOF_OK : differ(error);
}

/* Refuses a whole request. The mean context of its decode steps has half of what it generates. */
static enum roof_status refuse_request(const struct roof_scenario *s, struct roof_error *error)
{
    (void)roof_error_set(error, ROOF_USAGE,
                         ROOF_KEY("explain") " compares one phase: replace " ROOF_KEY(
                             "prompt") " and " ROOF_KEY("generate") " by");
    roof_error_append(error, " " ROOF_KEY("phase") " prefill " ROOF_KEY("context") " %" PRId64 ",",
                      s->prompt);
    roof_error_append(error, " or by " ROOF_KEY("phase") " decode " ROOF_KEY("context") " %" PRId64,
                      s->prompt + s->generate / 2);
    return ROOF_USAGE;
}

enum roof_status roof_speedup(struct roof_speedup *out, const struct roof_speedup_side *from,
                              const struct roof_speedup_side *to, struct roof_error *error)
{
    const struct roof_model_prediction *const a = from->model_prediction;
    const struct roof_model_prediction *const b = to->model_prediction;
    out->count = 0;
    out->total =
        (struct roof_speedup_row){.from = from->name, .to = to->name, .name = "all", .count = 1};
    const struct roof_prediction *const before = a == NULL ? from->prediction : &a->total;
    const struct roof_prediction *const after = b == NULL ? to->prediction : &b->total;
    out->total.from_bottleneck = before->bottleneck;
    out->total.to_bottleneck = after->bottleneck;
    out->total.expected_from_bottleneck = before->expected_bottleneck;
    out->total.expected_to_bottleneck = after->expected_bottleneck;
    if ((a == NULL) != (b == NULL)) {
        return differ(error);
    }
    if (a != NULL && (a->count == 0 || b->count == 0)) {
        return refuse_request(a->count == 0 ? &a->scenario : &b->scenario, error);
    }
    if (a == NULL) {
        const struct sides sides = {.from = before, .to = after};
        return add_row(out, roof_operator_row(before->workload.op)->name, 1, &sides, error);
    }
    return add_rows(out, a, b, error);
}
